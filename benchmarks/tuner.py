# SPDX-License-Identifier: Apache-2.0
"""Times the tuner beside a Texel-style gradient tuner in NumPy and SciPy, on the same data.

    python benchmarks/tuner.py [--positions N] [--features N] [--each N] [--threads N] [--no-peer]

The peer is what engine authors write themselves: a sparse matrix of SciPy, the logistic loss, and
L-BFGS over its gradient. Both run in one go, each in a process of its own so that neither has the
other's memory; both make the same positions from the same seed. Prints a Markdown table with wall
and processor time, the largest memory, and the loss that was reached; ours makes errors by games,
too.
The features are like those of evaluations: a few that every position has much of and that go with
each other, as material and mobility do, and many that few positions have, some of them seldom.
With --even they are independent, and each as frequent as any other: what gradients like best.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

PER_GAME = 100
AT_ONCE = 250_000
EVERYWHERE = 6
"""Features that every position has."""


def planted(
    positions: int, features: int, each: int, even: bool
) -> tuple[NDArray[np.uint16], NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Features and amounts, a row a position; results by planted weights; and the weights."""
    rng = np.random.default_rng(1)
    weights = rng.normal(0, 0.2, features)
    everywhere = 0 if even else EVERYWHERE
    weights[:everywhere] = 0.1 / np.arange(1, everywhere + 1)
    which = np.empty((positions, each), np.uint16)
    much = np.empty((positions, each), np.float32)
    results = np.empty(positions, np.float32)
    # Each of a row's other features is one of its own share of all: they rise, none comes twice.
    starts = np.linspace(everywhere, features, each - everywhere + 1).astype(int)
    for begin in range(0, positions, AT_ONCE):
        rows = slice(begin, min(begin + AT_ONCE, positions))
        count = rows.stop - begin
        which[rows, :everywhere] = np.arange(everywhere)
        drawn = rng.random((count, each - everywhere))
        if not even:
            drawn **= 3  # the first of a share come most often
        which[rows, everywhere:] = starts[:-1] + (drawn * np.diff(starts)).astype(int)
        shared = rng.normal(0, 2, (count, 1)) * np.arange(1, everywhere + 1)
        much[rows, :everywhere] = np.round(shared + rng.normal(0, 1, (count, everywhere)))
        much[rows, everywhere:] = rng.choice([-1, 1], (count, each - everywhere))
        chances = 1 / (1 + np.exp(-(weights[which[rows]] * much[rows]).sum(axis=1)))
        results[rows] = rng.random(count) < chances
    return which, much, results, weights


def ours(positions: int, features: int, each: int, even: bool, threads: int) -> dict[str, float]:
    """Our tuner, errors by games with it."""
    from hyoka.learning import FeatureTable, TuningPlan, tune_weights  # noqa: PLC0415

    which, much, results, weights = planted(positions, features, each, even)
    table = FeatureTable(
        tuple(f"f{i}" for i in range(features)),
        np.arange(positions + 1, dtype=np.int64) * each,
        which.reshape(-1),
        much.reshape(-1),
        results,
        (np.arange(positions) // PER_GAME).astype(np.uint32),
    )
    start, busy = time.perf_counter(), time.process_time()
    found = tune_weights(table, TuningPlan(scale=1.0, hold_out=0.0, threads=threads))
    return _result_line(start, busy, found.loss, [w.weight for w in found.weights()], weights)


def peer(positions: int, features: int, each: int, even: bool, threads: int) -> dict[str, float]:
    """A tuner by gradients over a sparse matrix; it has one thread whatever is asked for."""
    from scipy.optimize import minimize  # noqa: PLC0415
    from scipy.sparse import csr_array  # noqa: PLC0415

    del threads
    which, much, results, weights = planted(positions, features, each, even)
    start, busy = time.perf_counter(), time.process_time()
    columns = which.reshape(-1).astype(np.int32)
    del which
    ends = np.arange(positions + 1, dtype=np.int32) * each
    matrix = csr_array((much.reshape(-1), columns, ends), shape=(positions, features))

    def loss(beta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = matrix @ beta.astype(np.float32)
        value = float((np.logaddexp(0, scores) - results * scores).mean(dtype=np.float64))
        pull = (1 / (1 + np.exp(-scores)) - results) / np.float32(positions)
        return value, (matrix.T @ pull).astype(np.float64)

    options = {"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8}
    found = minimize(loss, np.zeros(features), jac=True, method="L-BFGS-B", options=options)
    return _result_line(start, busy, float(found.fun), found.x, weights)


def _result_line(
    start: float, busy: float, loss: float, found: object, weights: NDArray[np.float64]
) -> dict[str, float]:
    return {
        "wall": time.perf_counter() - start,
        "processor": time.process_time() - busy,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "loss": loss,
        "off": float(np.abs(np.asarray(found) - weights).max()),
    }


def main() -> None:
    """Run both, and print what they took."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    asked.add_argument("--positions", type=int, default=1_000_000)
    asked.add_argument("--features", type=int, default=500)
    asked.add_argument("--each", type=int, default=30, help="features that a position has")
    asked.add_argument("--even", action="store_true", help="features that are all alike")
    asked.add_argument("--threads", type=int, default=2)
    asked.add_argument("--no-peer", action="store_true")
    asked.add_argument("--only", choices=["ours", "peer"], help=argparse.SUPPRESS)
    chosen = asked.parse_args()
    data = (chosen.positions, chosen.features, chosen.each, chosen.even, chosen.threads)
    if chosen.only is not None:
        print(json.dumps({"ours": ours, "peer": peer}[chosen.only](*data)))
        return
    print(
        f"{chosen.positions:,} positions × {chosen.features} features, {chosen.each} each\n\n"
        "| | wall s | processor s | memory GiB | log loss | furthest from the planted weight |\n"
        "|---|---|---|---|---|---|"
    )
    for name in ("ours",) if chosen.no_peer else ("ours", "peer"):
        words = [sys.executable, __file__, *sys.argv[1:], "--only", name]
        run = subprocess.run(words, capture_output=True, text=True, check=True)
        result = json.loads(run.stdout)
        print(
            f"| {name} | {result['wall']:.1f} | {result['processor']:.1f} | {result['memory']:.2f} "
            f"| {result['loss']:.9f} | {result['off']:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
