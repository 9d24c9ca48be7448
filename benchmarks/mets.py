# SPDX-License-Identifier: Apache-2.0
"""METS on a whole collection: how long growing and scoring take, how much memory, how well it does.

benchmarks/mets.py RECORDS [--threshold N] [--symmetric] [--tactics] [--smoothing K]
"""

import argparse
import resource
import time

from hyoka.learning.mets import Mets, learn_mets
from hyoka.learning.prediction import is_kept_apart, predict, table_of
from hyoka.records import read_records
from hyoka.records.bulk import GameTable

HOLD_OUT = 0.1


def main() -> None:
    """Read, grow and score, predict, and rank positions one by one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records")
    parser.add_argument("--threshold", type=int, default=50)
    parser.add_argument("--symmetric", action="store_true")
    parser.add_argument("--tactics", action="store_true")
    parser.add_argument("--smoothing", type=float, default=0)
    parser.add_argument("--every", type=int, default=1, help="learn from every so manieth game")
    given = parser.parse_args()
    began = time.perf_counter()
    records = list(read_records(given.records))
    apart = [is_kept_apart(record, HOLD_OUT) for record in records]
    learned = [r for r, kept in zip(records, apart, strict=True) if not kept][:: given.every]
    unseen = [r for r, kept in zip(records, apart, strict=True) if kept]
    print(f"read {len(records):,} games in {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    games = table_of(learned)
    tree = learn_mets(
        games,
        threshold=given.threshold,
        symmetric=given.symmetric,
        tactics=given.tactics,
        smoothing=given.smoothing,
    )
    seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"grown and scored in {seconds:.1f} s, {most:.2f} GiB at most: {len(games):,} positions of "
        f"{len(learned):,} games, {tree.leaves:,} leaves at a mean depth of {tree.mean_depth:.1f}, "
        f"{tree.size:,} bytes"
    )
    judged = predict(table_of(unseen), tree.model())[""]
    first, ten = judged.within[0], judged.within[4]
    print(
        f"of {judged.moves:,} moves of {judged.games:,} other games {first.value:.2%} first "
        f"(± {50 * (first.high - first.low):.2f}), {ten.value:.2%} within 10, log-loss "
        f"{judged.loss.value:.3f}"
    )
    for name, time_us in ranking_times(
        table_of(unseen[:: max(1, len(unseen) // 40)]), tree
    ).items():
        print(f"all points of a position {name}, on one thread: {time_us:.1f} µs")


def ranking_times(games: GameTable, tree: Mets) -> dict[str, float]:
    """Microseconds a position, with playing the move that leads there."""
    began = time.perf_counter()
    games.predictions(tree.model(), threads=1)
    ranked = time.perf_counter()
    games.counted_tree(tree.tree, threads=1)
    counted = time.perf_counter()
    games.outcomes(threads=1)
    played = time.perf_counter() - counted
    return {
        "ranked from scratch": 1e6 * (ranked - began) / len(games),
        "kept up move by move": 1e6 * (counted - ranked) / len(games),
        "played alone": 1e6 * played / len(games),
    }


if __name__ == "__main__":
    main()
