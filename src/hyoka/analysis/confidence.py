# SPDX-License-Identifier: Apache-2.0
"""Whether an evaluator is as right as it is sure."""

from dataclasses import dataclass

import numpy as np

from hyoka._core import resampled_sums
from hyoka.analysis.curves import share_of
from hyoka.analysis.resampling import Resampling, interval
from hyoka.analysis.sample import Sample
from hyoka.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Confidence:
    """What an evaluator claimed where it saw one side clearly ahead, and what that side got."""

    claimed: float
    """Its mean value for the side it saw ahead."""
    got: Estimate
    """What that side got, on average."""
    gap: Estimate
    """What was got less what was claimed."""
    positions: int
    games: int


def confidence(sample: Sample, *, sure: float, resampling: Resampling) -> Confidence | None:
    """What values at least `sure` away from one half were worth; None if there are none.

    >>> sample = Sample.of("sure", [0.9, 0.1, 0.5], results=[1, 0, 1], games=[1, 2, 3])
    >>> clear = confidence(sample, sure=0.2, resampling=Resampling(50))
    >>> round(clear.claimed, 3), clear.got.value, clear.positions
    (0.9, 1.0, 2)
    """
    clear = np.abs(sample.values - 0.5) >= sure
    if not clear.any():
        return None
    values, results = sample.values[clear].astype(np.float64), sample.results[clear]
    games = sample.games[clear]
    claims = np.maximum(values, 1 - values)
    right = np.where(values >= 0.5, results, 1 - results)
    point = share_of(right, games, resampling)
    beyond = right - claims
    sums = np.stack(
        [np.bincount(games, column, sample.game_count) for column in (beyond, np.ones(len(games)))],
        axis=1,
    )
    drawn = resampled_sums(np.ascontiguousarray(sums), resampling.resamples, resampling.seed)
    with np.errstate(invalid="ignore"):
        gaps = drawn[:, 0] / drawn[:, 1]
    return Confidence(
        float(claims.mean()),
        Estimate(point.share, point.low, point.high),
        interval(float(beyond.mean()), gaps, point.games, resampling.confidence),
        point.positions,
        point.games,
    )
