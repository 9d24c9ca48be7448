# SPDX-License-Identifier: Apache-2.0
"""How fast passes over the positions of recorded games are, on one core.

    .venv/bin/python benchmarks/passes.py [--games N]

Needs the records in ../shared/data. Rates are by CPU time, which other work on the machine disturbs
less, and by the clock; the best of some rounds.
"""

import argparse
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from hyoka import _core
from hyoka.records import Record, read_records
from hyoka.records.bulk import GameTable
from hyoka.search import linear_evaluation

DATA: Final = Path(__file__).parents[2] / "shared" / "data"
FILES: Final = {"chess": "chess/twic_human.pgn.xz", "shogi": "shogi/floodgate2016.csa.xz"}
ROUNDS: Final = 5


def best_times(work: Callable[[], object]) -> tuple[float, float]:
    """The least CPU time and the least wall time of some rounds."""
    cpu = wall = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time(), time.perf_counter()
        work()
        cpu = min(cpu, time.process_time() - began[0])
        wall = min(wall, time.perf_counter() - began[1])
    return cpu, wall


def measure(table: GameTable, shown: Table) -> None:
    """A row a pass over all positions."""
    columns = [column.name for column in _core.columns(table.game) if not column.costly]
    weights = linear_evaluation(table.game).flat
    passes: dict[str, Callable[[], object]] = {
        "cheap columns": lambda: table.describe(columns, threads=1),
        "outcomes": lambda: table.outcomes(threads=1),
        "terms": lambda: table.terms(threads=1),
        "quiescence leaves with terms": lambda: table.quiet_terms(weights, threads=1),
        "move features": lambda: table.move_features(threads=1),
        "planes": lambda: table.planes(threads=1),
    }
    for name, work in passes.items():
        cpu, wall = best_times(work)
        rates = (f"{len(table) / seconds:,.0f}" for seconds in (cpu, wall))
        shown.add_row(table.game, name, f"{len(table):,}", *rates)


def lengthened(record: Record, times: int) -> Record:
    """A game several times as long: knights go out and home again, then the record follows."""
    game, codes = record.position(0), list[int]()
    for text in ("g1f3", "g8f6", "f3g1", "f6g8"):
        codes.append(game.parse(text).code)
        game = game.play(text)
    before = codes * ((times - 1) * len(record) // len(codes))
    return replace(record, moves=np.array([*before, *record.moves.tolist()], np.uint16))


def measure_lengths(records: list[Record], shown: Table) -> None:
    """Rates in games of several lengths: they don't fall if nothing is quadratic."""
    works: tuple[Callable[[GameTable], object], ...] = (
        lambda table: table.terms(threads=1),
        lambda table: deque(table.positions(), maxlen=0),
    )
    for times in (1, 4, 16):
        table = GameTable.from_records(lengthened(record, times) for record in records)
        seconds = [best_times(partial(work, table))[0] for work in works]
        rates = (f"{len(table) / each:,.0f}" for each in seconds)
        shown.add_row(f"{len(table) / len(records) - 1:,.0f}", *rates)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    given = parser.parse_args()
    shown = Table("game", "pass", "positions", "a second of CPU time", "a second of the clock")
    records: dict[str, list[Record]] = {}
    for game, file in FILES.items():
        stream = read_records(DATA / file)
        records[game] = list(itertools.islice(stream, given.games))
        measure(GameTable.from_records(records[game]), shown)
    Console().print(shown)
    lengths = Table("moves a game", "terms", "positions in Python")
    lengths.title = "Chess positions a second of CPU time, by the length of a game"
    measure_lengths([each for each in records["chess"] if not each.start][:100], lengths)
    Console().print(lengths)


if __name__ == "__main__":
    main()
