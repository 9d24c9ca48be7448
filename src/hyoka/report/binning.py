# SPDX-License-Identifier: Apache-2.0
"""Bins for curves that are to be looked at: where the game is open, and narrow enough."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hyoka.analysis import VALUE, FixedBins, Sample, fit_logistic
from hyoka.analysis.binning import Cuts, nice_number
from hyoka.analysis.curves import LEAST_POSITIONS

_REACH: Final = 5.0
"""So many scales from even the logistic curve says 99.3%: beyond, all is decided."""
_BINS_A_SCALE: Final = 4
_MOST_BINS: Final = 2000


@dataclass(frozen=True, slots=True)
class OpenBins:
    """Bins of one width between two values; what lies beyond has none, but mates have theirs."""

    width: float
    low: float
    high: float
    at_least: int = LEAST_POSITIONS
    """Bins that hold fewer positions are not made."""

    def cuts(self, sample: Sample) -> Cuts:
        """The bins of a sample."""
        cuts = FixedBins(self.width, self.at_least).cuts(sample)
        lower, upper = cuts.edges[:-1], cuts.edges[1:]
        between = (upper > self.low) & (lower < self.high)
        return replace(cuts, wanted=cuts.wanted & (between | np.isinf(lower) | np.isinf(upper)))


def open_bins(sample: Sample) -> OpenBins:
    """The bins that suit a sample: the usual ones, but of scores at most a quarter scale wide."""
    fit, usual = fit_logistic(sample), FixedBins().width_for(sample)
    if sample.unit == VALUE or not (fit.converged and fit.scale.value > 0):
        return OpenBins(usual, -np.inf, np.inf)
    finite = sample.values[np.isfinite(sample.values)]
    least = float(finite.max() - finite.min()) / _MOST_BINS
    width = nice_number(max(min(fit.scale.value / _BINS_A_SCALE, usual), least))
    middle, reach = fit.even.value, _REACH * fit.scale.value
    return OpenBins(width, middle - reach, middle + reach)


def least_positions(positions: int) -> int:
    """How many positions a bin must hold: 100, or a fortieth of few, but 10.

    >>> least_positions(1_000_000), least_positions(2_000), least_positions(50)
    (100, 50, 10)
    """
    return max(10, min(LEAST_POSITIONS, positions // 40))
