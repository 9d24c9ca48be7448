# SPDX-License-Identifier: Apache-2.0
"""Differences of curves by bin: between two curves, from y = x, and from lower bins.

Intervals are simultaneous over all bins at 95%. They come from a cluster bootstrap over games, with
the same resamples for both curves if they are of the same games.
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
"""Minimum number of positions per bin and curve, as in the paper."""
ENDS: Final = 0.05
"""The paper ignores values nearer than this to 0 or 1."""


def simultaneous(
    values: Reals, drawn: Reals, games: int, confidence: float = 0.95
) -> list[Estimate]:
    """Simultaneous intervals for values, from the values of bootstrap replicates.

    All intervals have the same half-width in standard errors, so that they contain the share
    `confidence` of the replicates everywhere. With fewer than `FEW` games, there are no intervals,
    and so no verdicts.
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
    """An evaluator's curve over given bins, with its bootstrap replicates."""

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
    """First curve minus second curve, in each bin that both have.

    Samples of the same games share resamples; those of different games need different seeds, so
    that their errors are independent.
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
    """Difference of a curve of expected results from y = x, in each bin but the outermost."""
    edges = common_edges(sample, sample, width)
    curve = BinnedCurve(sample, edges, resampling)
    inner = (curve.means > ENDS) & (curve.means < 1 - ENDS) & (curve.counts >= LEAST)
    values = (curve.shares - curve.means)[inner]
    drawn = (curve.drawn_shares - curve.drawn_means)[:, inner]
    return simultaneous(values, drawn, curve.games, resampling.confidence)


def falls(
    sample: Sample, *, width: float, resampling: Resampling, merge_below: int = 0
) -> list[Estimate]:
    """Decrease of a curve in each bin from each bin before it.

    With `merge_below`, bins with fewer positions merge, from both ends inward.
    """
    edges = common_edges(sample, sample, width)
    if merge_below:
        edges = merged_edges(sample, width, merge_below)
    curve = BinnedCurve(sample, edges, resampling)
    kept = np.flatnonzero(
        (curve.counts >= LEAST) & np.isfinite(edges[:-1]) & np.isfinite(edges[1:])
    )
    before, after = np.triu_indices(len(kept), 1)
    before, after = kept[before], kept[after]
    values = curve.shares[before] - curve.shares[after]
    drawn = curve.drawn_shares[:, before] - curve.drawn_shares[:, after]
    return simultaneous(values, drawn, curve.games, resampling.confidence)


def merged_edges(sample: Sample, width: float, least: int) -> Reals:
    """Bin edges of the given width; bins merge inward from both ends to hold enough positions.

    >>> values = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [1, 4, 9, 3, 1, 1])
    >>> sample = Sample.of("engine", values, results=values > 0, games=np.arange(len(values)))
    >>> merged_edges(sample, 1.0, 5)
    array([-2.5, -0.5,  0.5,  3.5])
    """
    finite = sample.values[np.isfinite(sample.values)].astype(np.float64)
    if not len(finite):
        return np.empty(0)
    numbers = np.floor(finite / width + 0.5)
    edges = (np.arange(numbers.min(), numbers.max() + 2) - 0.5) * width
    counts = np.histogram(finite, edges)[0]
    fullest = int(counts.argmax())
    left = _full_groups(counts[:fullest], least)
    right = len(counts) - _full_groups(counts[fullest + 1 :][::-1], least)
    kept = {0, *left.tolist(), fullest, fullest + 1, *right.tolist(), len(counts)}
    return edges[sorted(kept)]


def _full_groups(counts: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Number of bins, counted from the end, after each group of bins with enough positions.

    Bins left over join the last group.
    """
    ends, total = [], 0
    for number, count in enumerate(counts.tolist(), start=1):
        total += count
        if total >= least:
            ends.append(number)
            total = 0
    if total and ends:
        ends[-1] = len(counts)
    return np.array(ends, np.int64)


def common_edges(one: Sample, other: Sample, width: float) -> Reals:
    """Bin edges of the given width that cover the values of both samples."""
    edges = [FixedBins(width, LEAST).cuts(sample).edges for sample in (one, other)]
    return np.union1d(*edges)


def _reseeded(resampling: Resampling) -> Resampling:
    return Resampling(
        resampling.resamples, resampling.seed + 1_000_003, resampling.confidence, resampling.threads
    )
