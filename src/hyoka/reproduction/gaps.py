# SPDX-License-Identifier: Apache-2.0
"""How far two conditioned curves lie apart, and whether one evaluator's do so more than another's.

A *split* is the gap of the curve of one condition to the curve of all, less that of its opposite:
where stones of White can be captured and where stones of Black can, say. Zero is what a good
evaluation has; intervals draw whole games again, the same ones for all evaluators.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import AdaptiveBins, ConditionGap, Sample, interval
from hyoka.estimate import Estimate
from hyoka.reproduction.outcome import Answer, Verdict, verdict

Holds = NDArray[np.bool_]
LITTLE: Final = 0.05
"""A difference of win probabilities that is called little."""
_RESAMPLES: Final = 300
_BINS: Final = AdaptiveBins(positions=200, games=20, error=0.03)


class SplitSizes:
    """Splits of evaluators over the same positions."""

    def __init__(self, above: Holds, below: Holds, *, seed: int = 0) -> None:
        self._above, self._below = above, below
        self._seed = seed

    def drawn(self, sample: Sample) -> tuple[float, NDArray[np.float64]]:
        """The split of an evaluator's curve, and the same of each resample of games."""
        edges = _BINS.cuts(sample).edges
        chance = np.random.default_rng(self._seed)
        games = sample.game_count
        sizes = [
            self._size(
                replace(
                    sample,
                    weights=np.bincount(chance.integers(games, size=games), minlength=games)[
                        sample.games
                    ].astype(np.float32),
                ),
                edges,
            )
            for _ in range(_RESAMPLES)
        ]
        return self._size(sample, edges), np.array(sizes)

    def estimate(self, sample: Sample) -> Estimate:
        """The split of an evaluator's curve with its interval."""
        value, drawn = self.drawn(sample)
        return interval(value, drawn, sample.game_count)

    def shrinks(self, before: Sample, after: Sample) -> Estimate:
        """By how much the split of one evaluator is smaller than that of another, signs aside.

        The interval holds 95 % of the resamples. Where the second split is near zero chance can
        only make it look larger, so that the interval lies too low rather than too high.
        """
        (size, sizes), (then, thens) = self.drawn(before), self.drawn(after)
        value = abs(size) - abs(then)
        low, high = np.quantile(np.abs(sizes) - np.abs(thens), [0.025, 0.975])
        return Estimate(value, min(float(low), value), max(float(high), value))

    def _size(self, sample: Sample, edges: NDArray[Any]) -> float:
        # Each drawn sample is sorted anew: what was weighed differently ranks differently.
        ranking = sample.ranking
        above, below = (ranking.gap(each, edges).level for each in (self._above, self._below))
        return float(above.effect - below.effect)


def picture_bins(sample: Sample) -> AdaptiveBins:
    """Bins for a picture of few positions: at most thirty, of 200 positions at least."""
    return AdaptiveBins(positions=max(200, len(sample) // 30), error=np.inf)


def departs(claim: str, gap: ConditionGap) -> Verdict:
    """Whether a condition's curve departs from the curve of all, one way or the other.

    What is told is the surer of the two departures; its p value counts double for the choice.
    """
    surer = min((gap.level, gap.lean), key=lambda each: each.p_value)
    p_value = min(1.0, 2 * surer.p_value)
    answer: Answer = "yes" if p_value < 0.05 else "not shown"
    return Verdict(claim, surer.effect, answer, f"{surer.kind}, p = {p_value:.2g}")


def hardly(claim: str, *effects: Estimate) -> Verdict:
    """Whether effects are surely small: none of their intervals reaches beyond `LITTLE`.

    >>> hardly("one curve", Estimate(0.01, -0.01, 0.03)).answer
    'yes'
    >>> hardly("one curve", Estimate(0.10, 0.06, 0.14)).answer
    'reversed'
    """
    worst = max(effects, key=lambda each: max(abs(each.low), abs(each.high)))
    ends = sorted((abs(worst.low), abs(worst.high)))
    least = 0.0 if worst.low <= 0 <= worst.high else ends[0]
    room = Estimate(LITTLE - abs(worst.value), LITTLE - ends[1], LITTLE - least)
    return verdict(f"{claim} (less than {LITTLE})", room)
