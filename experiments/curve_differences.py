# SPDX-License-Identifier: Apache-2.0
"""Curves bin by bin against others, against y = x, and against themselves further left.

Intervals are for all bins together: in 95 of 100 studies none of them fails. Whole games are drawn
again, the same ones for both curves if they are of the same games.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import FixedBins, Resampling, Sample
from hyoka.arena import FEW
from hyoka.foundation.math import Estimate

Reals = NDArray[np.float64]
LEAST: Final = 100
"""Positions that a bin must have of either, as in the paper."""
ENDS: Final = 0.05
"""The paper looks away from values nearer to 0 or 1."""


def simultaneous(
    values: Reals, drawn: Reals, games: int, confidence: float = 0.95
) -> list[Estimate]:
    """Values with intervals that hold together, from what each resample of games gave.

    All have the same reach in standard errors: the share `confidence` of the resamples lies within
    it everywhere. Fewer than `FEW` games have none, so that no verdict comes of them.
    """
    if not len(values) or games < FEW:
        return []
    drawn = np.where(np.isfinite(drawn), drawn, values)
    spread = np.maximum(drawn.std(axis=0), 1e-9)
    farthest = np.abs((drawn - drawn.mean(axis=0)) / spread).max(axis=1)
    reach = float(np.quantile(farthest, confidence)) * math.sqrt(games / (games - 1)) * spread
    ends = zip(values.tolist(), (values - reach).tolist(), (values + reach).tolist(), strict=True)
    return [Estimate(*each) for each in ends]


class BinnedCurve:
    """An evaluator's curve over given bins, and the same of each resample."""

    def __init__(self, sample: Sample, edges: Reals, resampling: Resampling) -> None:
        bins = sample.ranking.bins(edges)
        drawn = sample.ranking.resampled_bins(
            edges, resampling.resamples, resampling.seed, resampling.threads
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            self.shares = bins[:, 1] / bins[:, 0]
            self.means = bins[:, 2] / bins[:, 3]
            self.drawn_shares = drawn[:, :, 0] / drawn[:, :, 1]
            self.drawn_means = drawn[:, :, 2] / drawn[:, :, 3]
        self.counts = bins[:, 5]
        self.games = sample.game_count


def apart(one: Sample, other: Sample, *, width: float, resampling: Resampling) -> list[Estimate]:
    """By how much the first curve lies above the second, in each bin that both have.

    Samples of the same games are drawn together; those of other games must have another seed, or
    chance would be shared that is not.
    """
    edges = common_edges(one, other, width)
    same_games = np.array_equal(one.games, other.games)
    second = resampling if same_games else _reseeded(resampling)
    a, b = BinnedCurve(one, edges, resampling), BinnedCurve(other, edges, second)
    both = (a.counts >= LEAST) & (b.counts >= LEAST)
    values = (a.shares - b.shares)[both]
    drawn = (a.drawn_shares - b.drawn_shares)[:, both]
    return simultaneous(values, drawn, min(a.games, b.games), resampling.confidence)


def from_diagonal(sample: Sample, *, width: float, resampling: Resampling) -> list[Estimate]:
    """By how much a curve of expected results lies above y = x, in each bin but the outermost."""
    edges = common_edges(sample, sample, width)
    curve = BinnedCurve(sample, edges, resampling)
    inner = (curve.means > ENDS) & (curve.means < 1 - ENDS) & (curve.counts >= LEAST)
    values = (curve.shares - curve.means)[inner]
    drawn = (curve.drawn_shares - curve.drawn_means)[:, inner]
    return simultaneous(values, drawn, curve.games, resampling.confidence)


def falls(sample: Sample, *, width: float, resampling: Resampling) -> list[Estimate]:
    """By how much a curve lies lower in each bin than in each one before it."""
    edges = common_edges(sample, sample, width)
    curve = BinnedCurve(sample, edges, resampling)
    kept = np.flatnonzero(
        (curve.counts >= LEAST) & np.isfinite(edges[:-1]) & np.isfinite(edges[1:])
    )
    before, after = np.triu_indices(len(kept), 1)
    before, after = kept[before], kept[after]
    values = curve.shares[before] - curve.shares[after]
    drawn = curve.drawn_shares[:, before] - curve.drawn_shares[:, after]
    return simultaneous(values, drawn, curve.games, resampling.confidence)


def common_edges(one: Sample, other: Sample, width: float) -> Reals:
    """Edges of bins of a width that cover the values of both."""
    edges = [FixedBins(width, LEAST).cuts(sample).edges for sample in (one, other)]
    return np.union1d(*edges)


def _reseeded(resampling: Resampling) -> Resampling:
    return Resampling(
        resampling.resamples, resampling.seed + 1_000_003, resampling.confidence, resampling.threads
    )
