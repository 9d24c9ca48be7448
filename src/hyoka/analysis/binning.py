# SPDX-License-Identifier: Apache-2.0
"""Bins of values, with a fixed width or adaptive to the number of positions.

The default is `open_bins`: a fixed width chosen from the data, over the undecided range.
"""

import math
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.calibration import fit_logistic
from hyoka.analysis.sample import VALUE, Reals, Sample
from hyoka.foundation.errors import StudyError

MOST_BINS: Final = 4000
_COUNTED: Final = 1_000_000
"""Maximum range of numbers that are counted in a table, which is faster than sorting."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Adjacent bins; some only fill the space between requested bins."""

    edges: Reals
    """Edges, ascending; the outermost are infinite if there are mates."""
    wanted: NDArray[np.bool_]
    """Whether each bin was requested."""


class Binning(Protocol):
    """A way to cut values into bins."""

    def cuts(self, sample: Sample) -> Cuts:
        """Compute the bins of a sample; mates have separate bins."""


LEAST_POSITIONS: Final = 100
"""Minimum number of positions per bin, as in the paper, except in small samples."""
_REACH: Final = 5.0
"""Range of open bins, in scales of the logistic curve: 5 scales from even is 99.3%."""
_BINS_A_SCALE: Final = 4


@dataclass(frozen=True, slots=True)
class FixedBins:
    """Bins [v - width/2, v + width/2) around the multiples v of a width (the paper's δ).

    Values outside of `low` and `high` have no bin, except mates.
    """

    width: float
    at_least: int = LEAST_POSITIONS
    """Minimum number of positions per bin."""
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not 0 < self.width < math.inf:
            raise StudyError(f"a bin's width is a positive number, not {self.width:g}")

    def cuts(self, sample: Sample) -> Cuts:
        """Compute the bins of a sample; mates have separate bins."""
        width = self.width
        finite = sample.values[np.isfinite(sample.values)].astype(np.float64)
        numbers = np.floor(finite / width + 0.5)
        # Edges are rounded, so a value next to one may belong to the adjacent bin.
        numbers += finite >= _as_values_are((numbers + 0.5) * width)
        numbers -= finite < _as_values_are((numbers - 0.5) * width)
        inside = ((numbers + 0.5) * width > self.low) & ((numbers - 0.5) * width < self.high)
        enough = _frequent(numbers[inside], max(self.at_least, 1))
        if len(enough) > MOST_BINS:
            raise StudyError(
                f"bins of width {width:g} would be {len(enough):,}; a wider one is wanted"
            )
        lower, upper = (_as_values_are((enough + side) * width) for side in (-0.5, 0.5))
        return _with_mates(np.union1d(lower, upper), sample, set(lower.tolist()))


def open_bins(sample: Sample, at_least: int | None = None) -> FixedBins:
    """Choose bins from the data.

    Bins of values are 0.05 wide. Bins of scores are about a quarter of the scale of their logistic
    curve wide and reach five scales from even; without a fit, they are 1/40 of the range wide.
    """
    least = least_positions(len(sample)) if at_least is None else at_least
    if sample.unit == VALUE:
        return FixedBins(0.05, least)
    finite = sample.values[np.isfinite(sample.values)]
    if not len(finite):
        return FixedBins(1.0, least)
    low, high = np.quantile(finite, [0.01, 0.99])
    usual = nice_number(float(high - low) / 40)
    fit = fit_logistic(sample)
    if not (fit.converged and fit.scale.value > 0):
        return FixedBins(usual, least)
    width = nice_number(min(fit.scale.value / _BINS_A_SCALE, usual))
    middle, reach = -fit.intercept.value / fit.slope.value, _REACH * fit.scale.value
    unlimited = replace(fit.link, limit=math.inf)  # the limit of a link does not end the open range
    ends = (unlimited.score(middle + side * reach) for side in (-1, 1))
    return FixedBins(width, least, *ends)


def least_positions(positions: int) -> int:
    """Minimum number of positions per bin: 100, or 1/40 of a small sample, at least 10.

    >>> least_positions(1_000_000), least_positions(2_000), least_positions(50)
    (100, 50, 10)
    """
    return max(10, min(LEAST_POSITIONS, positions // 40))


@dataclass(frozen=True, slots=True)
class AdaptiveBins:
    """Bins that grow until they have enough positions and games and a small enough error.

    The error is the standard error of the win probability, clustered by game.
    """

    positions: int = 100
    games: int = 2
    error: float = 0.02

    def cuts(self, sample: Sample) -> Cuts:
        """Compute the bins of a sample; mates have separate bins."""
        edges = sample.ranking.adaptive_edges(self.positions, self.games, self.error)
        if len(edges):
            edges[-1] = np.nextafter(np.float32(edges[-1]), np.float32(np.inf))
        return _with_mates(edges, sample, set(edges[:-1].tolist()))


def _frequent(numbers: Reals, least: int) -> Reals:
    """The integers that occur at least `least` times, in order."""
    if not len(numbers):
        return numbers
    first = numbers.min()
    if numbers.max() - first < _COUNTED:
        counts = np.bincount((numbers - first).astype(np.int64))
        return np.asarray(np.flatnonzero(counts >= least) + first, dtype=np.float64)
    distinct, counts = np.unique(numbers, return_counts=True)
    return np.asarray(distinct[counts >= least])


def _as_values_are(edges: Reals) -> Reals:
    """Round edges as values are rounded, so that a value of 0.175 is not below 0.175."""
    return edges.astype(np.float32).astype(np.float64)


def _with_mates(edges: Reals, sample: Sample, wanted: set[float]) -> Cuts:
    """Add bins of mates beyond all finite values."""
    infinite = sample.values[np.isinf(sample.values)]
    finite = sample.values[np.isfinite(sample.values)]
    least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    beyond = float(np.nextafter(np.float32(most), np.float32(np.inf)))
    lows = [-math.inf, min([least, *edges[:1]])] if (infinite < 0).any() else []
    highs = [max([beyond, *edges[-1:]]), math.inf] if (infinite > 0).any() else []
    all_edges = np.unique(np.array([*lows, *edges, *highs]))
    if len(all_edges) < 2:
        all_edges = np.array([least, beyond])
    is_mate = [not math.isfinite(v) for v in all_edges]
    return Cuts(
        all_edges,
        np.array(
            [
                low in wanted or is_mate[i] or is_mate[i + 1]
                for i, low in enumerate(all_edges[:-1].tolist())
            ]
        ),
    )


def nice_number(x: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten; 1 for 0.

    >>> nice_number(34), nice_number(0.003), nice_number(0)
    (50.0, 0.005, 1.0)
    """
    if not x > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    nearest = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= x * (1 - 1e-9))
    return float(f"{nearest:.6g}")
