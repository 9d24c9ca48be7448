# SPDX-License-Identifier: Apache-2.0
"""How players' own evaluations fared in a match: what they thought, and what came of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hyoka.analysis import (
    VALUE,
    Confidence,
    CurvePoint,
    Resampling,
    Sample,
    confidence,
    curve,
    open_bins,
)
from hyoka.arena.report.facts import Thoughts
from hyoka.arena.significance import FEW

RESAMPLES: Final = 200
LEAST_POSITIONS: Final = 30
LEAST_GAMES: Final = 5
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
    """No score that is shown lies further from 0; 1 for values."""


def evaluation_curve(thoughts: Thoughts, player: int, seed: int) -> EvaluationCurve | None:
    """The curve of one player's own moves; None if no bin has enough positions."""
    mine = thoughts.of(player)
    has_value, has_score = np.isfinite(mine.value), np.isfinite(mine.score)
    is_value = bool(2 * has_value.sum() >= has_score.sum())
    mine = mine.where(has_value if is_value else has_score)
    if not len(mine.game):
        return None
    sample = Sample.of(
        "",
        mine.value if is_value else mine.score,
        results=mine.result,
        games=mine.game,
        unit=VALUE if is_value else "",
    )
    drawn = curve(
        sample,
        binning=open_bins(sample, LEAST_POSITIONS),
        at_least=LEAST_POSITIONS,
        resampling=Resampling(RESAMPLES, seed),
    )
    points = tuple(p for p in drawn.points if p.games >= LEAST_GAMES and not p.is_mate)
    if not points:
        return None
    sure = _confidence(mine, seed) if is_value else None
    widest = 1.0 if is_value else max(abs(end) for p in points for end in (p.lower, p.upper))
    return EvaluationCurve(player, is_value, points, sure, len(mine.game), widest)


def _confidence(mine: Thoughts, seed: int) -> Confidence | None:
    sample = Sample.of("", mine.value, results=mine.result, games=mine.game)
    clear = confidence(sample, sure=_SURE, resampling=Resampling(RESAMPLES, seed))
    if clear is None or clear.positions < LEAST_POSITIONS or clear.games < FEW:
        return None
    return clear


def verdict(clear: Confidence) -> str:
    """`over-confident`, `too modest`, or `honest`: within the interval, or all but."""
    if clear.got.high < clear.claimed - _SLACK:
        return "over-confident"
    return "too modest" if clear.got.low > clear.claimed + _SLACK else "honest"
