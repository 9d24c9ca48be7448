# SPDX-License-Identifier: Apache-2.0
"""How players' own evaluations fared in a match: what they thought, and what came of it."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
class CurvePoint:
    """One bin: what the player thought there on average, and what it got."""

    thought: float
    mean: float
    low: float
    high: float
    positions: int
    games: int


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
        thought, widest = mine.value, 1.0
        bins = np.clip((thought * _BINS).astype(np.int64), 0, _BINS - 1)
    else:
        step = _nice(2 * float(np.quantile(np.abs(mine.score), 0.97)) / _BINS)
        widest = step * _BINS / 2
        thought = np.clip(mine.score, -widest, widest)
        bins = np.clip(((thought + widest) / step).astype(np.int64), 0, _BINS - 1)
    cells = _by_game(mine.game, bins, mine.result, _BINS)
    low, high = _band(cells, seed)
    sums = np.bincount(bins, weights=thought, minlength=_BINS)
    positions, games = cells.positions.sum(axis=0), (cells.positions > 0).sum(axis=0)
    enough = (positions >= LEAST_POSITIONS) & (games >= LEAST_GAMES)
    points = tuple(
        CurvePoint(
            thought=float(sums[b] / positions[b]),
            mean=float(cells.results[:, b].sum() / positions[b]),
            low=float(low[b]),
            high=float(high[b]),
            positions=int(positions[b]),
            games=int(games[b]),
        )
        for b in np.flatnonzero(enough).tolist()
    )
    if not points:
        return None
    confidence = _confidence(mine, seed) if is_value else None
    return EvaluationCurve(player, is_value, points, confidence, len(mine.game), widest)


def _confidence(mine: Thoughts, seed: int) -> Confidence | None:
    sure = mine.where(np.abs(mine.value - 0.5) >= _SURE)
    right = np.where(sure.value > 0.5, sure.result, 1 - sure.result)
    cells = _by_game(sure.game, np.zeros(len(right), dtype=np.int64), right, 1)
    positions, games = len(right), len(cells.positions)
    if positions < LEAST_POSITIONS or games < LEAST_GAMES:
        return None
    low, high = _band(cells, seed)
    claimed = float(np.maximum(sure.value, 1 - sure.value).mean())
    mean = float(right.mean())
    return Confidence(claimed, mean, float(low[0]), float(high[0]), positions, games)


@dataclass(frozen=True)
class _Cells:
    """By game and bin: how many positions, and the sum of their results."""

    positions: Reals
    results: Reals


def _by_game(games: NDArray[np.int64], bins: NDArray[np.int64], results: Reals, n: int) -> _Cells:
    _, rows = np.unique(games, return_inverse=True)
    shape = (int(rows.max()) + 1 if len(rows) else 0, n)
    cells = rows * n + bins
    size = shape[0] * n
    positions = np.bincount(cells, minlength=size).reshape(shape)
    sums = np.bincount(cells, weights=results, minlength=size).reshape(shape)
    return _Cells(positions.astype(np.float64), sums.astype(np.float64))


def _band(cells: _Cells, seed: int) -> tuple[Reals, Reals]:
    """The 95% interval of each bin's mean, by drawing whole games again, with replacement.

    The positions of one game share its result, so the game is what was drawn by chance. Where all
    games say the same, drawing them again teaches nothing; the rule of three stands in.
    """
    games = len(cells.positions)
    chance = np.random.default_rng(seed)
    times = chance.multinomial(games, np.full(games, 1 / games), size=RESAMPLES).astype(np.float64)
    positions = times @ cells.positions
    with np.errstate(invalid="ignore"):
        means = np.where(positions > 0, (times @ cells.results) / positions, np.nan)
    drawn = ~np.isnan(means).all(axis=0)
    low, high = np.full((2, means.shape[1]), np.nan)
    low[drawn], high[drawn] = np.nanquantile(means[:, drawn], [0.025, 0.975], axis=0)
    three = 3 / np.maximum((cells.positions > 0).sum(axis=0), 1)
    same = np.isclose(low, high)
    low[same], high[same] = low[same] - three[same], high[same] + three[same]
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _nice(step: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten that is no less; 1 for nothing."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(nice * power for nice in (1, 2, 5, 10) if nice * power >= step * (1 - 1e-9))
