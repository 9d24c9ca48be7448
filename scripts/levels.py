# SPDX-License-Identifier: Apache-2.0
"""Measure the playing levels of the studio's board in Elo, by matches between neighbors.

    python scripts/levels.py FOLDER [--game GAME ...] [--seconds S] [--games N] [--write]

The levels of a game are limits of its default search (`LEVELS`). Each plays the next one and, where
they lie far apart, a level between them, so that most duels have wins of both sides. Games start
from four random moves, each start with both colors, and their number is limited by processor time.
`hyoka match ratings FOLDER/GAME/*` rates the same games. With --write, the studio's table is
replaced: Elo above Beginner with 95 % intervals, and the number of games.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

import hyoka as hk
from hyoka.agents import agent_of
from hyoka.apps.studio.rooms.board import board_agents
from hyoka.apps.studio.rooms.board.board_agents import COUNTED, LEVELS, LEVELS_FILE
from hyoka.arena import PlayedGame
from hyoka.arena.ratings import RatingList, rate_players
from hyoka.foundation.errors import Error
from hyoka.games import game_facts
from hyoka.search import SearchSpec

GAMES: Final = ("othello", "chess", "shogi", "blokus_duo", "go9")
BETWEEN: Final = {
    "playouts": (45, 95, 440, 950),
    "nodes": (35, 60, 110, 350, 600, 1_100, 4_000, 8_000, 20_000, 50_000),
}
"""Limits of further players, which connect levels that lie far apart."""
SHARE: Final = {"go9": 0.42, "blokus_duo": 0.18, "shogi": 0.15, "chess": 0.15, "othello": 0.1}
"""Share of the processor time."""
BLOCK: Final = 4
"""Games of a duel between two looks at the clock."""
OPENING: Final = "random:4"
LONGEST: Final = 300


def rungs(game: str) -> dict[str, str]:
    """The specs of a game's levels, and of the players between them, from the weakest."""
    kind = SearchSpec.from_text(game_facts(game).search.spec).kind
    limits = {name: LEVELS[name].limit(agent_of(kind)) for name in COUNTED}
    [limit] = {limit for limit, _ in limits.values()}
    numbers = {number: name for name, (_, number) in limits.items()}
    numbers |= {number: f"{limit} {number}" for number in BETWEEN[limit] if number not in numbers}
    return {numbers[number]: f"{kind}:{limit}={number}" for number in sorted(numbers)}


def play(game: str, folder: Path, most_games: int, seconds: float) -> list[PlayedGame]:
    """Play duels of neighbors, cheap ones first, each for its share of the time that is left."""
    players = rungs(game)
    duels = list(pairwise(players))
    played = []
    for place, (weak, strong) in enumerate(duels):
        began, result = time.process_time(), None
        share = (seconds / 2) if place < len(duels) - 1 else seconds
        plan = hk.plan_match(
            *(f"{name}={players[name]}" for name in (weak, strong)),
            game=game,
            openings=OPENING,
            max_plies=LONGEST,
        )
        place_of_duel = folder / game / f"{weak}-{strong}"
        stored = len(hk.open_match(place_of_duel).games) if place_of_duel.is_dir() else 0
        for games in range(max(stored, BLOCK), max(stored, most_games) + 1, BLOCK):
            result = hk.play_match(plan, place_of_duel, games=games)
            used = time.process_time() - began
            if used + used * BLOCK / max(games - stored, BLOCK) > share:
                break
        seconds -= time.process_time() - began
        assert result is not None
        games_of_duel = hk.open_match(result.folder).games
        played += games_of_duel
        points = sum(
            each.result if each.pairing.first == 1 else 1 - each.result for each in games_of_duel
        )
        print(
            f"{game}: {strong} scores {points:g} of {len(games_of_duel)} against {weak}", flush=True
        )
    return played


def rate(game: str, games: Sequence[PlayedGame]) -> RatingList:
    """Rate the players; the two games of a start are a cluster."""
    names = list(rungs(game))
    clusters: dict[tuple[str, ...], int] = {}

    def columns() -> Iterator[tuple[int, int, float, int]]:
        for each in games:
            record = each.record
            duel = (*sorted((record.first, record.second)), str(each.pairing.pair_id))
            cluster = clusters.setdefault(duel, len(clusters))
            yield names.index(record.first), names.index(record.second), each.result, cluster

    first, second, result, cluster = map(np.array, zip(*columns(), strict=True))
    return rate_players(first, second, result, names, clusters=cluster)


def table(ratings: RatingList) -> dict[str, Any]:
    """Elo of each level above the first, with intervals; null where games do not bound them."""
    base = COUNTED[0]
    rows = {}
    for name in COUNTED:
        gap = ratings.difference(name, base)
        low, high = (round(end) if np.isfinite(end) else None for end in (gap.low, gap.high))
        rows[name] = {"elo": round(gap.value), "low": low, "high": high}
    return {"games": ratings.games, "levels": rows}


def main() -> None:
    """Play, rate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--game", action="append", choices=GAMES)
    parser.add_argument("--seconds", type=float, default=1200.0, help="processor time in all")
    parser.add_argument("--games", type=int, default=96, help="maximum number of games per duel")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    file = Path(board_agents.__file__).with_name(LEVELS_FILE)
    stored = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for game in given.game or GAMES:
        played = play(game, given.folder, given.games, given.seconds * SHARE[game])
        stored[game] = {
            "search": SearchSpec.from_text(game_facts(game).search.spec).kind,
            **table(rate(game, played)),
        }
        print(game, json.dumps(stored[game]), flush=True)
        if given.write:
            file.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Error as error:
        sys.exit(str(error))
