# SPDX-License-Identifier: Apache-2.0
"""How far the curve of some positions lies from the curve of all.

Two departures are measured, both in win probability, at equal values:

- *level*: how much more often the first player won than the total curve says. Above zero the
  evaluation underestimates the first player there.
- *lean*: how much more often the side that the total curve favours won than it says. Below zero the
  evaluation is too sure of itself there, above zero too cautious.

Each is a mean over the condition's positions, tested by the variance between games (sandwich), with
Student's t for as many games as carry information. Within a bin the condition counts less its
share there, which takes into account that the total curve was drawn from the same games.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.binning import AdaptiveBins, Binning
from hyoka.analysis.resampling import Resampling
from hyoka.analysis.sample import Reals, Sample
from hyoka.estimate import Estimate

Kind = Literal["level", "lean"]
LEAST_POSITIONS: Final = 100
_GAMES_A_BIN: Final = 10
"""The total curve may not learn more from the games than they can tell: a bin for every so many."""
_MOST_BINS: Final = 200
_NOTHING: Final = 1e-9
"""An error below this is rounding: the condition holds for the same share of every game."""


@dataclass(frozen=True, slots=True)
class Departure:
    """How far one condition's curve lies from the total curve, one way or the other."""

    kind: Kind
    effect: Estimate
    """In win probability, at equal values."""
    error: float
    """Its standard error, the games being what chance drew."""
    p_value: float
    clusters: float


@dataclass(frozen=True, slots=True)
class ConditionGap:
    """A condition's curve against the curve of all."""

    positions: int
    games: int
    level: Departure
    lean: Departure

    def departure(self, kind: Kind) -> Departure:
        """One of the two."""
        return self.level if kind == "level" else self.lean


def condition_gap(
    sample: Sample,
    holds: NDArray[np.bool_],
    *,
    binning: Binning | None = None,
    confidence: float = 0.95,
    edges: Reals | None = None,
) -> ConditionGap:
    """How far the curve of some positions lies from the curve of all.

    >>> rng = np.random.default_rng(1)
    >>> value, odd = rng.random(4000), rng.random(4000) < 0.3
    >>> won = rng.random(4000) < np.clip(value + 0.2 * odd, 0, 1)
    >>> said = Sample.of("engine", value, results=won, games=np.arange(4000))
    >>> condition_gap(said, odd).level.p_value < 0.001
    True
    """
    if edges is None:
        edges = (binning or matching_bins(sample)).cuts(sample).edges
    found = sample.ranking.gap(np.ascontiguousarray(holds), edges)
    level = _departure("level", found.level, found.level_error, found.level_clusters, confidence)
    lean = _departure("lean", found.lean, found.lean_error, found.lean_clusters, confidence)
    return ConditionGap(int(holds.sum()), found.games, level, lean)


def matching_bins(sample: Sample) -> AdaptiveBins:
    """Bins in which values count as equal: as many positions each, few enough for the games."""
    games = len(np.unique(sample.games))
    number = min(max(games // _GAMES_A_BIN, 5), _MOST_BINS)
    return AdaptiveBins(positions=max(len(sample) // number, 1), games=1, error=math.inf)


def _departure(
    kind: Kind, value: float, error: float, clusters: float, confidence: float
) -> Departure:
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415 - slow to import

    if not (error > _NOTHING and clusters > 1):
        return Departure(kind, Estimate(value, math.nan, math.nan), math.nan, 1.0, clusters)
    freedom = clusters - 1
    p_value = 2 * float(stdtr(freedom, -abs(value) / error))
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    return Departure(kind, Estimate(value, value - half, value + half), error, p_value, clusters)


@dataclass(frozen=True, slots=True)
class Distance:
    """Two curves over the range that both have: what lies between them."""

    signed_area: float
    """Mean gap over the shared range, every value counting alike."""
    largest_gap: float
    at: float
    """The value where the gap is largest."""
    p_value: float
    """Of the largest gap, all bins considered, games drawn again; NaN without resamples."""
    shared: tuple[float, float]


def curve_distance(
    sample: Sample,
    holds: NDArray[np.bool_],
    *,
    edges: Reals,
    least_positions: int = LEAST_POSITIONS,
    resampling: Resampling | None = None,
) -> Distance | None:
    """The distance of a conditioned curve from the total curve; None if they share no bin."""
    how = resampling or Resampling()
    part = sample.where(holds)
    whole, some = sample.ranking.bins(edges), part.ranking.bins(edges)
    shared = np.flatnonzero((some[:, 5] >= least_positions) & (whole[:, 5] >= least_positions))
    shared = shared[np.isfinite(edges[shared]) & np.isfinite(edges[shared + 1])]
    if not len(shared):
        return None
    gaps = some[shared, 1] / some[shared, 0] - whole[shared, 1] / whole[shared, 0]
    widths = np.diff(edges)[shared]
    worst = int(np.argmax(np.abs(gaps)))
    p_value = math.nan
    if how.resamples:
        drawn = [
            each.ranking.resampled_bins(edges, how.resamples, how.seed, how.threads)[:, shared]
            for each in (part, sample)
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = drawn[0][:, :, 0] / drawn[0][:, :, 1] - drawn[1][:, :, 0] / drawn[1][:, :, 1]
        moved = np.where(np.isfinite(moved), moved, gaps)
        spread = np.maximum(moved.std(axis=0), 1e-9)
        seen = float(np.max(np.abs(gaps) / spread))
        chance = np.max(np.abs(moved - gaps) / spread, axis=1)
        p_value = float((np.sum(chance >= seen) + 1) / (len(chance) + 1))
    middle = whole[shared[worst], 2] / max(whole[shared[worst], 3], 1e-9)
    return Distance(
        float((gaps * widths).sum() / widths.sum()),
        float(gaps[worst]),
        float(middle),
        p_value,
        (float(edges[shared[0]]), float(edges[shared[-1] + 1])),
    )
