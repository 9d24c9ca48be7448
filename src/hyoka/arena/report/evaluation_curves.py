# SPDX-License-Identifier: Apache-2.0
"""How players' own evaluations fared in a match: what they thought, and what came of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hyoka.analysis import (
    VALUE,
    Confidence,
    CurvePoint,
    FixedBins,
    Resampling,
    Sample,
    confidence,
    curve,
)
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
    sure = _confidence(mine, seed) if is_value else None
    return EvaluationCurve(player, is_value, points, sure, len(mine.game), widest)


def _points(
    thought: Reals, mine: Thoughts, unit: str, width: float, seed: int
) -> tuple[CurvePoint, ...]:
    drawn = curve(
        Sample.of("", thought, results=mine.result, games=mine.game, unit=unit),
        binning=FixedBins(width, LEAST_POSITIONS),
        at_least=LEAST_POSITIONS,
        resampling=Resampling(RESAMPLES, seed),
    )
    return tuple(point for point in drawn.points if point.games >= LEAST_GAMES)


def _confidence(mine: Thoughts, seed: int) -> Confidence | None:
    sample = Sample.of("", mine.value, results=mine.result, games=mine.game)
    clear = confidence(sample, sure=_SURE, resampling=Resampling(RESAMPLES, seed))
    if clear is None or clear.positions < LEAST_POSITIONS or clear.games < LEAST_GAMES:
        return None
    return clear


def verdict(clear: Confidence) -> str:
    """`over-confident`, `too modest`, or `honest`: within the interval, or all but."""
    if clear.got.high < clear.claimed - _SLACK:
        return "over-confident"
    return "too modest" if clear.got.low > clear.claimed + _SLACK else "honest"
