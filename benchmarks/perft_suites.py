# SPDX-License-Identifier: Apache-2.0
"""All of the chess perft suites in ../shared/data, and the long shogi and Othello counts: `make bench`."""

import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import hyoka as hk

SUITES = Path(__file__).parents[2] / "shared/data/chess/epd_suites.zip"
HARD_SHOGI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
LONG_COUNTS: list[tuple[hk.Game, int, int]] = [
    (hk.Chess(), 6, 119_060_324),
    (hk.Chess.from_text(KIWIPETE), 5, 193_690_690),
    (hk.Shogi(), 5, 19_861_490),
    (hk.Shogi.from_text(HARD_SHOGI), 4, 516_925_165),
    (hk.Othello(), 10, 24_571_284),
]


def suite_counts() -> Iterator[tuple[hk.Game, int, int]]:
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


def main() -> int:
    start = time.perf_counter()
    total = wrong = checked = 0
    if not SUITES.exists():
        print(f"{SUITES.name} is not there: only the long counts are checked")
    for game, depth, expected in [*LONG_COUNTS, *(suite_counts() if SUITES.exists() else ())]:
        lines = game.perft(depth)
        total += lines
        checked += 1
        if lines != expected:
            wrong += 1
            print(f"WRONG: {game} at depth {depth}: {lines}, not {expected}")
    seconds = time.perf_counter() - start
    print(f"perft: {checked} counts, {wrong} wrong, {total:,} lines in {seconds:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
