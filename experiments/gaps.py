# SPDX-License-Identifier: Apache-2.0
"""Gaps between two conditional curves, and comparisons of these gaps between evaluators.

The *split* of a condition is its curve's gap from the overall curve, minus that of its opposite:
stones of White or of Black can be captured, for example. A good evaluation has split zero.
Intervals come from a cluster bootstrap over games, with the same resamples for all evaluators.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from experiments.claims import differ
from experiments.outcome import Verdict
from hyoka.analysis import AdaptiveBins, Sample, condition_gap, interval
from hyoka.analysis.gaps import KINDS
from hyoka.foundation.math import Estimate

Holds = NDArray[np.bool_]
_RESAMPLES: Final = 300
_BINS: Final = AdaptiveBins(positions=200, games=20, error=0.03)


class SliceSizes:
    """Splits of evaluators over the same positions."""

    def __init__(self, above: Holds, below: Holds, *, seed: int = 0) -> None:
        self._above, self._below = above, below
        self._seed = seed

    def drawn(self, sample: Sample) -> tuple[float, NDArray[np.float64]]:
        """The split of an evaluator's curve, and those of its bootstrap replicates."""
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
        """Reduction in the absolute split from one evaluator to another.

        The interval contains 95% of the replicates. If the second split is near zero, noise can
        only increase its absolute value, so the interval is conservative.
        """
        (size, sizes), (then, thens) = self.drawn(before), self.drawn(after)
        value = abs(size) - abs(then)
        low, high = np.quantile(np.abs(sizes) - np.abs(thens), [0.025, 0.975])
        return Estimate(value, min(float(low), value), max(float(high), value))

    def _size(self, sample: Sample, edges: NDArray[Any]) -> float:
        # Each replicate is ranked again, since its weights differ.
        ranking = sample.ranking
        above, below = (ranking.gap(each, edges).level for each in (self._above, self._below))
        return float(above.effect - below.effect)


def picture_bins(sample: Sample) -> AdaptiveBins:
    """Bins for figures with few positions: at most thirty, each with at least 200 positions."""
    return AdaptiveBins(positions=max(200, len(sample) // 30), error=np.inf)


def departs(claim: str, sample: Sample, holds: Holds) -> Verdict:
    """Whether a condition's curve departs from the overall curve in either direction.

    Both directions are tested, so each has an interval of 97.5%.
    """
    gap = condition_gap(sample, holds, confidence=1 - 0.05 / len(KINDS))
    return differ(claim, [gap.level.effect, gap.lean.effect])
