# SPDX-License-Identifier: Apache-2.0
"""How fast curves, metrics, resamples and splits are; scikit-learn is the peer, in the same run.

    .venv/bin/python benchmarks/analysis.py [--floodgate FILE]

With the floodgate file (shogi/floodgate2016.csa.xz) also the way from the raw file to the curve.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from hyoka.analysis import NO_INTERVALS, Resampling, Sample, find_slices, measure, measure_curve
from hyoka.study import Study


def study(positions: int, games: int) -> Sample:
    rng = np.random.default_rng(1)
    numbers = np.repeat(np.arange(games), positions // games)
    lead = rng.normal(0, 1, games)
    won = rng.random(games) < 1 / (1 + np.exp(-lead))
    seen = lead[numbers] + rng.normal(0, 1, len(numbers))
    return Sample.of("made up", 1 / (1 + np.exp(-seen)), results=won[numbers], games=numbers)


def timed(what: str, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    print(f"{what:70} {seconds:7.2f} s", flush=True)
    return seconds


def without_intervals(positions: int) -> None:
    sample = study(positions, positions // 50)

    def ours() -> None:
        measure(sample)
        measure_curve(sample, resampling=NO_INTERVALS)

    def peer() -> None:
        roc_auc_score(sample.results, sample.values)
        average_precision_score(sample.results, sample.values)

    mine = timed(f"all metrics, curve and fit of {positions:,} positions", ours)
    theirs = timed("scikit-learn: ROC and average precision of the same", peer)
    print(f"{'':70} {theirs / mine:7.1f} ×")


def with_intervals(positions: int, games: int, resamples: int) -> None:
    sample = study(positions, games)
    timed(
        f"{resamples:,} resamples of {positions:,} positions in {games:,} games, all metrics",
        lambda: measure(sample, resampling=Resampling(resamples)),
    )
    timed("the same for the curve", lambda: measure_curve(sample, resampling=Resampling(resamples)))


def slices(positions: int, games: int) -> None:
    sample = study(positions, games)
    rng = np.random.default_rng(2)
    columns: dict[str, NDArray[np.generic]] = {
        f"c{i}": rng.integers(-50, 50, positions) + rng.normal(0, 20, games)[sample.games]
        for i in range(40)
    }
    found = []
    timed(
        f"the search for slices in {positions:,} positions with 40 columns",
        lambda: found.append(find_slices(sample, columns)),
    )
    print(f"{'':70} {found[0].tried:7} conditions")


def from_the_raw_file(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:

        def whole() -> None:
            made = Study.create(Path(folder) / "study", records=file, columns="cheap")
            made.evaluate("comments")
            print(made.curve(delta=100, resampling=Resampling(200)).notes()[0])

        timed(f"{file.name}: read, store, take the values, draw the curve", whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floodgate", type=Path)
    given = parser.parse_args()
    without_intervals(10_000_000)
    with_intervals(1_000_000, 20_000, 1000)
    slices(1_000_000, 20_000)
    if given.floodgate is not None:
        from_the_raw_file(given.floodgate)


if __name__ == "__main__":
    main()
