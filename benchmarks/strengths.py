# SPDX-License-Identifier: Apache-2.0
"""How long strengths take to fit, and how well they predict moves.

python benchmarks/strengths.py                     # 20,000 competitions of 80 teams, 1,000 features
python benchmarks/strengths.py RECORDS --shapes N  # records: looking at moves, fitting, predicting
"""

import argparse
import time

import numpy as np

import hyoka as hk
from hyoka import _core
from hyoka.learning.bradley_terry import fit_bradley_terry
from hyoka.learning.prediction import is_kept_apart, predict, table_of
from hyoka.learning.strengths import StrengthSettings, learn_strengths

COMPETITIONS, TEAMS, SORTS, OF_A_SORT = 20_000, 80, 5, 200


def synthetic() -> _core.Competitions:
    """Teams of one feature of each of five sorts, won as strengths drawn at random say."""
    chance = np.random.default_rng(0)
    logs = chance.normal(size=(SORTS, OF_A_SORT))
    chosen = chance.integers(OF_A_SORT, size=(COMPETITIONS, TEAMS, SORTS))
    scores = sum(logs[sort][chosen[:, :, sort]] for sort in range(SORTS))
    winners = np.argmax(scores + chance.gumbel(size=scores.shape), axis=1)
    features = chosen + OF_A_SORT * np.arange(SORTS)
    return _core.Competitions.of_lists(
        SORTS * OF_A_SORT,
        features.reshape(-1).astype(np.uint16),
        SORTS * np.arange(1, COMPETITIONS * TEAMS + 1, dtype=np.int64),
        np.full(COMPETITIONS, TEAMS, np.int64),
        winners.astype(np.int64),
        np.arange(COMPETITIONS, dtype=np.int64) // 20,
    )


def main() -> None:
    """Fit, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*")
    parser.add_argument("--shapes", type=int, default=0)
    parser.add_argument("--positions", type=int, default=500_000)
    options = parser.parse_args()
    if options.records:
        games = [record for name in options.records for record in hk.read_records(name)]
        learned = table_of(record for record in games if not is_kept_apart(record, 0.1))
        began = time.perf_counter()
        found = learn_strengths(
            learned, StrengthSettings(positions=options.positions, shapes=options.shapes)
        )
        print(
            f"{found.positions:,} positions: {time.perf_counter() - began:.1f} s", found.converged
        )
        unseen = table_of(record for record in games if is_kept_apart(record, 0.1))
        print(predict(unseen, found.model(), name="strengths"))
        return
    competitions = synthetic()
    for optimizer in ("lbfgs", "mm"):
        for threads in (1, 2):
            began = time.perf_counter()
            # How well strengths are known is not what others tell in this time, and not looked at.
            fit = fit_bradley_terry(competitions, optimizer=optimizer, matrix=0, threads=threads)
            took = time.perf_counter() - began
            print(
                f"{optimizer}, {threads} threads: {took:.2f} s, {fit.rounds} rounds", fit.converged
            )


if __name__ == "__main__":
    main()
