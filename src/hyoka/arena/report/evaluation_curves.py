# SPDX-License-Identifier: Apache-2.0
"""How players' own evaluations fared in a match: what they thought, and what came of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hyoka.analysis import VALUE, CurvePoint, FixedBins, Resampling, Sample, curve
from hyoka.analysis.binning import nice_number
from hyoka.arena.report.facts import Reals, Thoughts

RESAMPLES: Final = 200
LEAST_POSITIONS: Final = 30
LEAST_GAMES: Final = 5
_BINS: Final = 20
_SURE: Final = 0.15
"""A value this far from one half, either way, is a claim that somebody is ahead."""

_SLACK: Final = 0.01
"""A claim so little beside the interval is honest: with many games the interval is narrow."""


@dataclass(frozen=True)
class Confidence:
    """How sure a player was when it saw somebody ahead, and how often it was right."""

    claimed: float
    """Its mean value for the one it saw ahead."""
    mean: float
    """What the one it saw ahead got."""
    low: float
    high: float
    positions: int
    games: int

    @property
    def verdict(self) -> str:
        """`over-confident`, `too modest`, or `honest`: within the interval, or all but."""
        if self.high < self.claimed - _SLACK:
            return "over-confident"
        return "too modest" if self.low > self.claimed + _SLACK else "honest"


@dataclass(frozen=True)
class EvaluationCurve:
    """The mean result of a player by its own value, or by its own score if it tells no values."""

    player: int
    is_value: bool
    points: tuple[CurvePoint, ...]
    confidence: Confidence | None
    """None where the player tells scores only, or too little."""
    positions: int
    widest: float
    """Scores beyond this, either way, count as this; 1 for values."""


def evaluation_curve(thoughts: Thoughts, player: int, seed: int) -> EvaluationCurve | None:
    """The curve of one player's own moves; None if no bin has enough positions."""
    mine = thoughts.of(player)
    has_value, has_score = np.isfinite(mine.value), np.isfinite(mine.score)
    is_value = bool(2 * has_value.sum() >= has_score.sum())
    mine = mine.where(has_value if is_value else has_score)
    if not len(mine.game):
        return None
    if is_value:
        thought, width, widest = mine.value, 1 / _BINS, 1.0
    else:
        width = nice_number(2 * float(np.quantile(np.abs(mine.score), 0.97)) / _BINS)
        widest = width * _BINS / 2
        thought = np.clip(mine.score, -widest, widest)
    points = _points(thought, mine, VALUE if is_value else "", width, seed)
    if not points:
        return None
    confidence = _confidence(mine, seed) if is_value else None
    return EvaluationCurve(player, is_value, points, confidence, len(mine.game), widest)


def _points(
    thought: Reals, mine: Thoughts, unit: str, width: float, seed: int
) -> tuple[CurvePoint, ...]:
    found = curve(
        Sample.of("", thought, results=mine.result, games=mine.game, unit=unit),
        binning=FixedBins(width, LEAST_POSITIONS),
        least_positions=LEAST_POSITIONS,
        resampling=Resampling(RESAMPLES, seed),
    )
    return tuple(point for point in found.points if point.games >= LEAST_GAMES)


def _confidence(mine: Thoughts, seed: int) -> Confidence | None:
    sure = mine.where(np.abs(mine.value - 0.5) >= _SURE)
    right = np.where(sure.value > 0.5, sure.result, 1 - sure.result)
    claimed = np.maximum(sure.value, 1 - sure.value)
    if len(right) < LEAST_POSITIONS:
        return None
    # All claims are one bin of one curve: how often what was claimed came true.
    found = curve(
        Sample.of("", np.ones(len(right)), results=right, games=sure.game),
        binning=FixedBins(1, 1),
        least_positions=LEAST_POSITIONS,
        resampling=Resampling(RESAMPLES, seed),
    )
    point = found.points[0]
    if point.games < LEAST_GAMES:
        return None
    mean = float(claimed.mean())
    return Confidence(mean, point.share, point.low, point.high, point.positions, point.games)
