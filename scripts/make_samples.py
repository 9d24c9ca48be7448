# SPDX-License-Identifier: Apache-2.0
"""Plays the sample games in src/hyoka/records/samples anew: the same games every time.

    python scripts/make_samples.py [--jobs N] [--to FOLDER] [GAME ...]

Takes about six minutes on two cores that do nothing else. Players are named after their search and
its playouts or nodes; their ratings are fitted to these games, with the weakest at 1000.
"""

import argparse
import lzma
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import hyoka as hk
from hyoka.arena import MatchPlan, Opening, PlayedGame, RatingList, rate_players
from hyoka.records import Record, Remark, record_text
from hyoka.records.samples import SAMPLES, sample_path

WEAKEST_ELO = 1000.0


@dataclass(frozen=True)
class Part:
    """A match that gives some of a game's samples."""

    plan: MatchPlan
    games: int
    """For each two players."""


@dataclass(frozen=True)
class Sample:
    """The samples of one game."""

    parts: Sequence[Part]
    format: str
    said: Callable[[Remark], Remark]
    """What the file keeps of a player's word."""
    rules: str = ""


def only_value(remark: Remark) -> Remark:
    """A value with two digits."""
    value = None if remark.value is None else round(remark.value, 2)
    return Remark(remark.ply, value=value)


def only_score(remark: Remark) -> Remark:
    """A score or a mate, and the depth."""
    return Remark(remark.ply, score=remark.score, mate=remark.mate, depth=remark.depth)


def go9() -> Sample:
    """PUCT with light playouts, after one random stone each; some never resign."""
    players = [
        f"uct-{playouts}=uct:preset=paper,playouts={playouts},formula=puct,policy=light"
        for playouts in (250, 500, 1000, 2000)
    ]

    def plan(seed: int, adjudicate: Sequence[str]) -> MatchPlan:
        return hk.plan_match(
            *players,
            game="go9",
            komi=6.5,
            openings="random:2",
            adjudicate=adjudicate,
            max_plies=300,
            seed=seed,
        )

    resigning, counting = plan(1, ["resign=0.95,3"]), plan(2, [])
    return Sample([Part(resigning, 70), Part(counting, 30)], "sgf", only_value, "Chinese")


def othello() -> Sample:
    """Alpha-beta and UCT, after six random moves."""
    plan = hk.plan_match(
        "ab-300=ab:nodes=300",
        "ab-3000=ab:nodes=3000",
        "uct-100=uct:preset=paper,playouts=100",
        "uct-1000=uct:preset=paper,playouts=1000",
        game="othello",
        openings="random:6",
        seed=1,
    )
    return Sample([Part(plan, 50)], "sgf", only_value)


def chess() -> Sample:
    """Alpha-beta from well-known openings; who has been a queen behind for a while resigns."""
    plan = hk.plan_match(
        *(f"ab-{nodes}=ab:nodes={nodes}" for nodes in (500, 2000, 6000, 18000)),
        game="chess",
        openings=[Opening(name, "", tuple(moves.split())) for name, moves in CHESS_OPENINGS],
        adjudicate=["resign=900,3"],
        max_plies=300,
        seed=1,
    )
    return Sample([Part(plan, 2 * len(CHESS_OPENINGS))], "pgn", only_score)


CHESS_OPENINGS = [
    ("Ruy Lopez", "e4 e5 Nf3 Nc6 Bb5 a6"),
    ("Italian Game", "e4 e5 Nf3 Nc6 Bc4 Bc5"),
    ("Petrov Defence", "e4 e5 Nf3 Nf6"),
    ("Scotch Game", "e4 e5 Nf3 Nc6 d4 exd4 Nxd4"),
    ("Vienna Game", "e4 e5 Nc3 Nf6"),
    ("King's Gambit", "e4 e5 f4 exf4"),
    ("Philidor Defence", "e4 e5 Nf3 d6 d4"),
    ("Sicilian, Najdorf", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"),
    ("Sicilian, Taimanov", "e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6"),
    ("Sicilian, closed", "e4 c5 Nc3 Nc6 g3"),
    ("French Defence", "e4 e6 d4 d5 Nc3 Nf6"),
    ("French, advance", "e4 e6 d4 d5 e5 c5"),
    ("Caro-Kann Defence", "e4 c6 d4 d5 Nc3 dxe4 Nxe4"),
    ("Scandinavian Defence", "e4 d5 exd5 Qxd5 Nc3"),
    ("Pirc Defence", "e4 d6 d4 Nf6 Nc3 g6"),
    ("Alekhine Defence", "e4 Nf6 e5 Nd5 d4 d6"),
    ("Queen's Gambit declined", "d4 d5 c4 e6 Nc3 Nf6"),
    ("Queen's Gambit accepted", "d4 d5 c4 dxc4 Nf3 Nf6"),
    ("Slav Defence", "d4 d5 c4 c6 Nf3 Nf6"),
    ("King's Indian Defence", "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6"),
    ("Grünfeld Defence", "d4 Nf6 c4 g6 Nc3 d5"),
    ("Nimzo-Indian Defence", "d4 Nf6 c4 e6 Nc3 Bb4"),
    ("Queen's Indian Defence", "d4 Nf6 c4 e6 Nf3 b6"),
    ("Dutch Defence", "d4 f5 g3 Nf6"),
    ("English Opening", "c4 e5 Nc3 Nf6"),
    ("Réti Opening", "Nf3 d5 g3 Nf6 Bg2"),
]

MAKERS = {"go9": go9, "othello": othello, "chess": chess}


def played(sample: Sample, jobs: int) -> list[PlayedGame]:
    """All games of a sample, in the order of their numbers; pairs are numbered through."""
    found: list[PlayedGame] = []
    for part in sample.parts:
        with tempfile.TemporaryDirectory() as folder:
            result = hk.play_match(part.plan, folder, games=part.games, jobs=jobs)
            games = sorted(result.games, key=lambda game: game.pairing.number)
        before = len(found) // 2
        found += [
            replace(game, pairing=replace(game.pairing, pair_id=before + game.pairing.pair_id))
            for game in games
        ]
    return found


def ratings_of(games: Sequence[PlayedGame], names: Sequence[str]) -> RatingList:
    return rate_players(
        [game.pairing.first for game in games],
        [game.pairing.second for game in games],
        [game.result for game in games],
        names,
        clusters=[game.pairing.pair_id for game in games],
    )


def records_of(sample: Sample, games: Sequence[PlayedGame], elo: dict[str, int]) -> list[Record]:
    """The games as the file has them: nothing of this machine, no times, no dates."""
    return [
        replace(
            game.record,
            event="Hyoka sample",
            round=f"{game.pairing.pair_id + 1}.{game.pairing.number % 2 + 1}",
            date="",
            rules=sample.rules,
            opening=game.record.opening if game.record.game == "chess" else "",
            first_rating=str(elo[game.record.first]),
            second_rating=str(elo[game.record.second]),
            remarks=tuple(sample.said(remark) for remark in game.record.remarks if not remark.book),
        )
        for game in games
    ]


def make(name: str, folder: Path, jobs: int) -> None:
    began = time.monotonic()
    sample = MAKERS[name]()
    games = played(sample, jobs)
    names = [player.title for player in sample.parts[0].plan.players]
    rated = ratings_of(games, names)
    lift = WEAKEST_ELO - min(player.elo for player in rated.players)
    elo = {player.name: round(player.elo + lift) for player in rated.players}
    records = records_of(sample, games, elo)
    text = "".join(record_text(record, sample.format) for record in records)
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    file = folder / SAMPLES[name]
    file.write_bytes(packed)
    seconds = time.monotonic() - began
    print(f"{file.name}: {len(games)} games, {len(packed):,} bytes, {seconds:.0f} s")
    print("  " + ", ".join(f"{player} {number}" for player, number in elo.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description="Plays the sample games anew.")
    parser.add_argument("games", nargs="*", metavar="GAME", help=", ".join(SAMPLES))
    parser.add_argument("--to", type=Path, default=sample_path("go9").parent, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    asked = parser.parse_args()
    if unknown := set(asked.games) - set(SAMPLES):
        parser.error(f"no samples of {', '.join(sorted(unknown))}")
    for name in asked.games or SAMPLES:
        make(name, asked.to, asked.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
