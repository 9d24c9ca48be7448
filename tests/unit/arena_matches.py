# SPDX-License-Identifier: Apache-2.0
"""Small matches of fake engines, for the tests of the arena."""

from pathlib import Path
from typing import Any

from engines import fake
from hyoka.arena import MatchResult, Opening, plan_match, play_match

KNIGHTS = "moves=g1f3,g8f6,f3g1,f6g8"
"""Both sides' knights go out and come back: a draw by repetition."""
GOLDS = "moves=4i5h,4a5b,5h4i,5b4a"
START = Opening("start")
QUIET = f"quiet={fake('uci', KNIGHTS)}"


def match(folder: Path, *players: str, games: int = 2, jobs: int = 1, **plan: Any) -> MatchResult:
    plan.setdefault("openings", "start")
    return play_match(plan_match(*players, **plan), folder / "match", games=games, jobs=jobs)


def endings(result: MatchResult) -> list[tuple[float, str, str]]:
    """Of each game: the first player's result, its ending, and the reason."""
    games = sorted(result.games, key=lambda game: game.pairing.number)
    return [(game.result, game.record.ending, game.reason) for game in games]
