# SPDX-License-Identifier: Apache-2.0
"""Bins of values: of one width, or adaptive to the number of positions.

Unless told otherwise a curve has `open_bins`: of one width, from the data, where the game is open.
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
"""Numbers within such a range are counted in a table; sorting them takes longer."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Bins side by side; between those that were wanted may lie others, which only fill."""

    edges: Reals
    """They rise; where there are mates, the outermost are infinite."""
    wanted: NDArray[np.bool_]
    """Of the bins."""


class Binning(Protocol):
    """A way to cut values into bins."""

    def cuts(self, sample: Sample) -> Cuts:
        """The bins of a sample; mates have bins of their own."""


LEAST_POSITIONS: Final = 100
"""A bin with fewer is left out, as in the paper, unless positions are few."""
_REACH: Final = 5.0
"""So many scales from even the logistic curve says 99.3%: beyond, all is decided."""
_BINS_A_SCALE: Final = 4


@dataclass(frozen=True, slots=True)
class FixedBins:
    """Bins [v - width/2, v + width/2) around the multiples v of a width (the paper's δ).

    Between `low` and `high` only, if they are given: what lies beyond has none, but mates have
    theirs.
    """

    width: float
    at_least: int = LEAST_POSITIONS
    """Bins that hold fewer positions are not made."""
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not 0 < self.width < math.inf:
            raise StudyError(f"a bin's width is a positive number, not {self.width:g}")

    def cuts(self, sample: Sample) -> Cuts:
        """The bins of a sample; mates have bins of their own."""
        width = self.width
        finite = sample.values[np.isfinite(sample.values)].astype(np.float64)
        numbers = np.floor(finite / width + 0.5)
        # Edges are rounded: a value next to one may belong to the neighbour.
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
    """Choose bins from the data: around even values, and narrow enough.

    Of values 0.05 wide. Of scores about a quarter of the scale of their logistic curve, five
    scales either side of even; where no curve fits, a fortieth of their range.
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
    unlimited = replace(fit.link, limit=math.inf)  # a limit is no end of what is open
    ends = (unlimited.score(middle + side * reach) for side in (-1, 1))
    return FixedBins(width, least, *ends)


def least_positions(positions: int) -> int:
    """Minimum number of positions per bin: 100, or a fortieth of a small sample, at least 10.

    >>> least_positions(1_000_000), least_positions(2_000), least_positions(50)
    (100, 50, 10)
    """
    return max(10, min(LEAST_POSITIONS, positions // 40))


@dataclass(frozen=True, slots=True)
class AdaptiveBins:
    """Bins that grow until they hold enough positions and games, and the error is small enough.

    The error is the standard error of the win probability, by games.
    """

    positions: int = 100
    games: int = 2
    error: float = 0.02

    def cuts(self, sample: Sample) -> Cuts:
        """The bins of a sample; mates have bins of their own."""
        edges = sample.ranking.adaptive_edges(self.positions, self.games, self.error)
        if len(edges):
            edges[-1] = np.nextafter(np.float32(edges[-1]), np.float32(np.inf))
        return _with_mates(edges, sample, set(edges[:-1].tolist()))


def _frequent(numbers: Reals, least: int) -> Reals:
    """The whole numbers that come at least so often, in order."""
    if not len(numbers):
        return numbers
    first = numbers.min()
    if numbers.max() - first < _COUNTED:
        counts = np.bincount((numbers - first).astype(np.int64))
        return np.asarray(np.flatnonzero(counts >= least) + first, dtype=np.float64)
    distinct, counts = np.unique(numbers, return_counts=True)
    return np.asarray(distinct[counts >= least])


def _as_values_are(edges: Reals) -> Reals:
    """Edges rounded as values are, so that a value that says 0.175 is not below 0.175."""
    return edges.astype(np.float32).astype(np.float64)


def _with_mates(edges: Reals, sample: Sample, wanted: set[float]) -> Cuts:
    """Bins of their own for mates, beyond every finite value."""
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
    """The least of 1, 2, 5 times a power of ten that is no less; 1 for nothing.

    >>> nice_number(34), nice_number(0.003), nice_number(0)
    (50.0, 0.005, 1.0)
    """
    if not x > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    nearest = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= x * (1 - 1e-9))
    return float(f"{nearest:.6g}")
