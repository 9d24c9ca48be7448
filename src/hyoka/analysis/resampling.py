# SPDX-License-Identifier: Apache-2.0
"""Intervals by cluster bootstrap over games: positions of one game are not independent."""

import math
import os
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyoka._core import resampled_sums
from hyoka.analysis.sample import Reals
from hyoka.foundation.errors import ParameterError
from hyoka.foundation.math import Estimate


@dataclass(frozen=True, slots=True)
class Resampling:
    """Options of the cluster bootstrap: resamples, seed, confidence.

    Samples over the same games draw the same games with the same seed, so differences are paired.
    With 0 resamples there are no intervals.
    """

    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise ParameterError("resamples", f"are 0 or more, not {self.resamples}")
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence", f"lies between 0 and 1, not at {self.confidence:g}")


NO_INTERVALS = Resampling(resamples=0)


def interval(value: float, drawn: NDArray[Any], games: int, confidence: float = 0.95) -> Estimate:
    """Compute the interval of a value from its resamples.

    Uses bias-corrected percentiles (Efron), widened by Student's t for the number of games
    (Hesterberg). NaN resamples are excluded. If more than half are NaN, or there are fewer than
    two games, there is no interval.
    """
    finite = np.sort(drawn[np.isfinite(drawn)])
    if len(finite) < max(2, len(drawn) / 2) or games < 2 or not math.isfinite(value):
        return Estimate(value, math.nan, math.nan)
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    normal = NormalDist()
    below = (np.searchsorted(finite, value, "left") + np.searchsorted(finite, value, "right")) / 2
    share = min(max(below / len(finite), 0.5 / len(finite)), 1 - 0.5 / len(finite))
    bias = normal.inv_cdf(share)
    reach = float(stdtrit(games - 1, (1 + confidence) / 2)) * math.sqrt(games / (games - 1))
    low, high = (normal.cdf(2 * bias + sign * reach) for sign in (-1, 1))
    ends = np.quantile(finite, [low, high])
    return Estimate(value, min(float(ends[0]), value), max(float(ends[1]), value))


def mean_by_games(values: NDArray[Any], games: NDArray[Any], resampling: Resampling) -> Estimate:
    """Compute a mean over positions, with an interval by cluster bootstrap over games.

    >>> mean_by_games(np.array([1.0, 0.0, 1.0]), np.array([4, 4, 9]), NO_INTERVALS).value
    0.6666666666666666
    """
    _, numbers = np.unique(games, return_inverse=True)
    by_game = np.stack([np.bincount(numbers, weights=values), np.bincount(numbers)], axis=1)
    total, positions = by_game.sum(axis=0)
    drawn = resampled_sums(
        np.ascontiguousarray(by_game, np.float64), resampling.resamples, resampling.seed
    )
    mean = float(total / positions)
    return interval(mean, drawn[:, 0] / drawn[:, 1], len(by_game), resampling.confidence)


def share_interval(
    share: float, drawn: NDArray[Any], games: int, confidence: float = 0.95
) -> Estimate:
    """Compute the interval of a share between 0 and 1.

    If the share is 0 or 1 in every resample, this is Wilson's interval with the number of games as
    trials.

    >>> share_interval(1.0, np.ones(100), 2).low < 0.2
    True
    """
    by_resamples = interval(share, drawn, games, confidence)
    if math.isnan(by_resamples.low) or by_resamples.low < by_resamples.high or share not in (0, 1):
        return by_resamples
    low, high = wilson(np.array([share]), np.array([games]), np.array([games]), confidence)
    return Estimate(share, float(low[0]), float(high[0]))


def two_sided_p(value: float, drawn: NDArray[Any], games: int) -> float:
    """Compute the p-value of a difference from the spread of its resamples.

    Uses Student's t for the number of games, as `interval` does.
    """
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 2 or games < 2 or not math.isfinite(value):
        return math.nan
    spread = float(np.std(finite)) * math.sqrt(games / (games - 1))
    if spread == 0:
        return 1.0 if value == 0 else math.nan
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    return 2 * float(stdtr(games - 1, -abs(value) / spread))


def probability_text(p: float) -> str:
    """Format a small probability.

    >>> probability_text(0.0312), probability_text(0), probability_text(math.nan)
    ('0.031', '< 1e-15', '–')
    """
    if math.isnan(p):
        return "–"
    return f"{p:.2g}" if p >= 1e-15 else "< 1e-15"


def wilson(
    share: Reals, effective: Reals, games: NDArray[Any], confidence: float
) -> tuple[Reals, Reals]:
    """Compute Wilson's interval of shares by effective trials, with Student's t for few games."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    reach = stdtrit(np.maximum(games - 1, 1), (1 + confidence) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = reach**2 / effective
        middle = (share + squared / 2) / (1 + squared)
        half = np.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    valid = (games >= 2) & (effective > 0)
    # Rounding must not exclude the share.
    low = np.where(valid, np.clip(np.minimum(middle - half, share), 0, 1), np.nan)
    high = np.where(valid, np.clip(np.maximum(middle + half, share), 0, 1), np.nan)
    return low, high
