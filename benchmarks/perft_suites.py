# SPDX-License-Identifier: Apache-2.0
"""All of the chess perft suites of ../shared/data, and long counts of shogi and Othello."""

import argparse
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.progress import track

import hyoka as hk
from hyoka.games import Game

SUITES = Path(__file__).parents[2] / "shared/data/chess/epd_suites.zip"
HARD_SHOGI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
LONG_COUNTS: list[tuple[Game, int, int]] = [
    (hk.Chess(), 6, 119_060_324),
    (hk.Chess.from_text(KIWIPETE), 5, 193_690_690),
    (hk.Shogi(), 5, 19_861_490),
    (hk.Shogi.from_text(HARD_SHOGI), 4, 516_925_165),
    (hk.Othello(), 10, 24_571_284),
]


def suite_counts() -> Iterator[tuple[Game, int, int]]:
    with zipfile.ZipFile(SUITES) as archive:
        for name in archive.namelist():
            if "perft" not in name:
                continue
            for line in archive.read(name).decode().splitlines():
                fen, *counts = line.split(";")
                if not counts:
                    continue
                game = hk.Chess.from_text(fen.strip())
                for count in counts:
                    depth, lines = count.split()
                    yield game, int(depth.strip("D")), int(lines)


def is_right(task: tuple[Game, int, int]) -> bool:
    game, depth, expected = task
    lines = game.perft(depth)
    if lines != expected:
        print(f"WRONG: {game} at depth {depth}: {lines}, not {expected}")
    return lines == expected


def main() -> int:
    """Count everything up to --limit lines a count, on all cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=sys.maxsize, help="leave out larger counts")
    options = parser.parse_args()
    if not SUITES.exists():
        print(f"{SUITES.name} is not there: only the long counts are checked")
    tasks = [*LONG_COUNTS, *(suite_counts() if SUITES.exists() else ())]
    tasks = [task for task in tasks if task[2] <= options.limit]
    start = time.perf_counter()
    # perft gives the interpreter free: threads are enough.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(is_right, tasks)
        wrong = sum(not right for right in track(answers, "perft", len(tasks), transient=True))
    seconds = time.perf_counter() - start
    total = sum(lines for _, _, lines in tasks)
    print(f"perft: {len(tasks)} counts, {wrong} wrong, {total:,} lines in {seconds:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
