# SPDX-License-Identifier: Apache-2.0
"""Calibration of scores: logistic curves of the result, or of wins and losses.

The transformation of scores (`link`) is chosen on held-out games. The curve still has two
parameters, and its likelihood has one maximum. Each evaluator has its own link, so the scales of
two curves are not comparable. The scores for a probability (`Logistic.score_for`) are comparable,
and so are the constants K of one-parameter curves (`fit_plain`).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.sample import VALUE, DrawnGames, Link, Reals, Sample
from hyoka.foundation.errors import ParameterError
from hyoka.foundation.math import Estimate, damped_newton, logistic
from hyoka.storage.result import MIN_GAMES, TOO_FEW, Coverage, Result, too_few_note

SURE = 1e-4
"""Probabilities are clipped to [SURE, 1 - SURE], so a wrong mate has a log-loss of 9.2."""
WIN_PROBABILITIES: Final = (0.5, 0.75, 0.9)
"""Calibration tables give the score for each of these."""
_MOST_STEPS: Final = 100
"""Maximum number of Newton steps of a one-parameter fit."""


NO_CURVE: Final[dict[str, str]] = {
    "no values": "all scores are mates",
    "one result": "all results are equal",
    "one value": "all values are equal",
    "parted": "perfect separation of wins and losses",
    "diverged": "the fit did not converge",
}
"""Reasons why there is no fit, by verdict."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """Probability = 1 / (1 + exp(-(intercept + slope · x))), with intervals by games.

    x is the value transformed by the curve's link. `even` is the value with a probability of one
    half. `scale` is the change of x that multiplies the odds by e. All are NaN without a fit.
    """

    intercept: Estimate
    slope: Estimate
    even: Estimate
    scale: Estimate
    link: Link
    verdict: str
    """`fits`, or a key of `NO_CURVE`."""
    covariance: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """Variance of the intercept, covariance, variance of the slope."""
    confidence: float = 0.95

    @property
    def converged(self) -> bool:
        """Whether the fit converged."""
        return self.verdict == "fits"

    def score_for(self, probability: float) -> Estimate:
        """The score at which the curve reaches a probability, with its interval (delta method).

        Infinite if the curve never reaches it, because it is flat beyond the limit of its link.
        NaN without a fit.
        """
        if not 0 < probability < 1:
            raise ParameterError("probability", f"is between 0 and 1, not {probability:g}")
        if not self.converged:
            return Estimate(math.nan)
        a, b = self.intercept.value, self.slope.value
        x = (math.log(probability / (1 - probability)) - a) / b
        var_a, cov, var_b = self.covariance
        variance = (var_a + 2 * x * cov + x**2 * var_b) / b**2
        half = _reach(self.confidence) * math.sqrt(variance) if variance >= 0 else math.nan
        return Estimate(*(self._score_at(each) for each in (x, x - half, x + half)))

    def _score_at(self, x: float) -> float:
        """Invert the link; infinite beyond its limit."""
        limit = float(self.link(np.array([self.link.limit]))[0])
        return math.copysign(math.inf, x) if abs(x) > limit else self.link.score(x)

    @property
    def missing_reason(self) -> str:
        """Why there is no fit; empty if there is one."""
        return NO_CURVE.get(self.verdict, "")

    def probability(self, values: NDArray[Any]) -> Reals:
        """Map values to win probabilities; a mate is 0 or 1. NaN without a fit."""
        numbers = values.astype(np.float64)
        if not self.converged:
            return np.full(numbers.shape, math.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            x = self.slope.value * self.link(numbers)
            fitted = logistic(self.intercept.value + x)
        # A mate is certain under any fit. Curves of losses fall.
        best = 0.0 if self.slope.value < 0 else 1.0
        return np.select([numbers == np.inf, numbers == -np.inf], [best, 1 - best], fitted)


def fit_logistic(sample: Sample, confidence: float = 0.95) -> Logistic:
    """Fit a logistic curve by maximum likelihood; standard errors are clustered by game (sandwich).

    >>> sample = Sample.of("sure", [0.9, 0.8, 0.3, 0.1], results=[1, 1, 0, 0], games=[1, 2, 3, 4])
    >>> fit_logistic(sample).missing_reason
    'perfect separation of wins and losses'
    """
    fit, link = sample.fitted
    reach = _reach(confidence)
    a, b = fit.intercept, fit.slope
    var_a, cov, var_b = fit.covariance

    def around(value: float, variance: float) -> Estimate:
        half = reach * math.sqrt(variance) if variance >= 0 else math.nan
        return Estimate(value, value - half, value + half)

    if fit.verdict != "fits" or b == 0:
        nothing = Estimate(math.nan)
        verdict = "one value" if fit.verdict == "fits" else fit.verdict
        return Logistic(nothing, nothing, nothing, nothing, link, verdict)
    # By the delta method: even = -a / b, scale = 1 / b.
    var_even = (var_a - 2 * (a / b) * cov + (a / b) ** 2 * var_b) / b**2
    even = around(0.0 - a / b, var_even)
    return Logistic(
        around(a, var_a),
        around(b, var_b),
        Estimate(*(link.score(x) for x in (even.value, even.low, even.high))),
        around(1 / b, var_b / b**4),
        link,
        fit.verdict,
        (var_a, cov, var_b),
        confidence,
    )


def _reach(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


@dataclass(frozen=True, slots=True)
class PlainLogistic:
    """Probability = 1 / (1 + exp(-(score - even) / K)), the one-parameter curve.

    It has no link and is one half at a score of 0 or a value of 0.5. So K has the unit of the score
    and is comparable between evaluators.
    """

    k: Estimate
    """Scale; its upper end is infinite if the slope may be zero. NaN without a fit."""
    verdict: str
    """`fits`, or a key of `NO_CURVE`."""


def fit_plain(sample: Sample, confidence: float = 0.95) -> PlainLogistic:
    """Fit the one-parameter curve by maximum likelihood; standard errors are clustered by game.

    The interval of K is the reciprocal of the interval of the slope 1 / K.

    >>> values, results = [40, -10, -30, 20], [1, 1, 0, 0]
    >>> sample = Sample.of("x", values, results=results, games=[1, 2, 3, 4], unit="points")
    >>> round(fit_plain(sample).k.value, 1)
    34.8
    """
    nothing = Estimate(math.nan)
    finite = np.isfinite(sample.values)
    x = sample.values[finite].astype(np.float64) - sample.threshold
    results, weight = sample.results[finite].astype(np.float64), sample.weight[finite]
    if not len(x):
        return PlainLogistic(nothing, "no values")
    spread = float(np.abs(x).max())
    wins, losses = weight * results, weight * (1 - results)
    if not (wins.sum() > 0 and losses.sum() > 0):
        return PlainLogistic(nothing, "one result")
    if not spread > 0:
        return PlainLogistic(nothing, "one value")
    x /= spread
    for right, wrong in ((wins, losses), (losses, wins)):
        # Perfect separation by the sign: the likelihood has no maximum.
        if not ((right[x < 0] > 0).any() or (wrong[x > 0] > 0).any()):
            return PlainLogistic(nothing, "parted")
    slope, curvature = _fit_slope(x, wins, losses)
    if not math.isfinite(slope) or slope == 0:
        return PlainLogistic(nothing, "diverged")
    residuals = wins - (wins + losses) * logistic(slope * x)
    by_game = np.bincount(sample.games[finite], residuals * x)
    clusters = int((by_game != 0).sum())
    half = math.nan
    if clusters > 1:
        variance = float((by_game**2).sum()) / curvature**2 * clusters / (clusters - 1)
        half = _reach(confidence) * math.sqrt(variance)
    return PlainLogistic(_inverted(slope / spread, half / spread), "fits")


def _fit_slope(x: Reals, wins: Reals, losses: Reals) -> tuple[float, float]:
    """Find the maximum-likelihood slope and its curvature; NaN if Newton's method diverges."""
    weight = wins + losses

    def loss(slope: Reals) -> tuple[float, Reals]:
        each = wins * np.logaddexp(0, -slope * x) + losses * np.logaddexp(0, slope * x)
        return float(each.sum()), logistic(slope * x)

    def curvature(chance: Reals) -> float:
        return float((weight * chance * (1 - chance) * x**2).sum())

    def newton_step(slope: Reals, chance: Reals) -> tuple[Reals, bool]:
        if not curvature(chance) > 0:
            raise np.linalg.LinAlgError("all chances are certain")
        step = ((wins - weight * chance) * x).sum(keepdims=True) / curvature(chance)
        return step, bool(abs(step[0]) <= 1e-10 * (1 + abs(slope[0])))

    slope, converged = damped_newton(np.zeros(1), loss, newton_step, steps=_MOST_STEPS)
    if not converged:
        return math.nan, math.nan
    return float(slope[0]), curvature(logistic(slope * x))


def _inverted(slope: float, half: float) -> Estimate:
    """Compute 1 / slope with its interval."""
    k = 1 / slope
    if math.isnan(half):
        return Estimate(k)
    near, far = abs(slope) + half, abs(slope) - half
    ends = Estimate(abs(k), 1 / near, 1 / far if far > 0 else math.inf)
    return ends if slope > 0 else -ends


def probabilities(sample: Sample) -> Reals | None:
    """Map the evaluator's values to probabilities, clipped away from 0 and 1.

    Values are already probabilities. Scores use the logistic curve of this sample. None without
    a fit.
    """
    if sample.unit == VALUE:
        claims = np.clip(sample.values.astype(np.float64), 0, 1)
    elif np.isinf(sample.values).all():
        claims = (sample.values > 0).astype(np.float64)  # mates need no curve
    else:
        fit = fit_logistic(sample)
        if not fit.converged:
            return None
        claims = fit.probability(sample.values)
    return np.clip(claims, SURE, 1 - SURE)


@dataclass(frozen=True)
class WinDrawLoss:
    """Logistic curves of win and loss; the rest is the draw probability."""

    win: Logistic
    loss: Logistic

    @property
    def converged(self) -> bool:
        """Whether both curves fit."""
        return self.win.converged and self.loss.converged

    def probabilities(self, values: NDArray[Any]) -> tuple[Reals, Reals, Reals]:
        """Compute the probabilities of win, draw and loss, normalized where the curves overlap."""
        win, loss = self.win.probability(values), self.loss.probability(values)
        total = np.maximum(win + loss, 1.0)
        win, loss = win / total, loss / total
        return win, 1 - win - loss, loss


def fit_win_draw_loss(sample: Sample, confidence: float = 0.95) -> WinDrawLoss:
    """Fit the curve of wins against the rest and the curve of losses against the rest."""
    won, lost = (sample.with_results(sample.results == result) for result in (1, 0))
    return WinDrawLoss(fit_logistic(won, confidence), fit_logistic(lost, confidence))


@dataclass(frozen=True)
class CalibrationRow:
    """A curve of an evaluator, over all positions or those of a condition."""

    name: str
    unit: str
    condition: str
    of: str
    """The target: `result`, `result, draws half`, `win` or `loss`."""
    positions: int
    games: int
    """Number of games in the fit, without mates."""
    least: float
    most: float
    """Range of the values in the fit."""
    logistic: Logistic
    plain: PlainLogistic | None = None
    """The one-parameter curve; None for win or loss against the rest."""

    def score_for(self, probability: float) -> Estimate:
        """The score at which the curve reaches a probability; infinite if it never does.

        Values are limited to 0 and 1.
        """
        estimated = self.logistic.score_for(probability)
        if self.unit != VALUE:
            return estimated
        ends = (estimated.value, estimated.low, estimated.high)
        return Estimate(*(math.copysign(math.inf, x) if x < 0 or x > 1 else x for x in ends))

    @property
    def k(self) -> Estimate:
        """The scale of the one-parameter curve; NaN without one."""
        return Estimate(math.nan) if self.plain is None else self.plain.k


def calibrate(
    sample: Sample,
    *,
    draws: DrawnGames = "drop",
    wdl: bool = False,
    condition: str = "",
    confidence: float = 0.95,
) -> list[CalibrationRow]:
    """Fit the curve of a sample's results or, with `wdl`, those of win and loss against the rest.

    Returns no curves if no position is left.
    """
    if wdl:
        curves = [
            ("win", sample.with_results(sample.results == 1)),
            ("loss", sample.with_results(sample.results == 0)),
        ]
    elif draws == "half":
        curves = [("result, draws as half a win", sample)]
    else:
        curves = [("result", sample.without_draws())]
    return [_row(of, fitted, condition, confidence) for of, fitted in curves if len(fitted.values)]


def _row(of: str, fitted: Sample, condition: str, confidence: float) -> CalibrationRow:
    used = np.isfinite(fitted.values)
    values = fitted.values[used]
    least, most = (float(values.min()), float(values.max())) if len(values) else (math.nan,) * 2
    return CalibrationRow(
        fitted.name,
        fitted.unit,
        condition,
        of,
        fitted.where(used).position_count,
        fitted.count_games(used),
        least,
        most,
        fit_logistic(fitted, confidence),
        None if of in ("win", "loss") else fit_plain(fitted, confidence),
    )


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """Constants of the curves from scores to probabilities."""

    drawn_by = "fitted_curves"

    parts: tuple[CalibrationRow, ...]
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `parts` has all figures."""
    coverage: Coverage | None = None

    def has_enough_games(self, part: CalibrationRow) -> bool:
        """Whether a part has enough games for figures."""
        return part.games >= self.min_games

    @property
    def title(self) -> str:
        """One-line title."""
        bent = not all(part.logistic.link.is_straight for part in self.parts)
        x, even = ("x(value)", "x(even)") if bent else ("value", "even")
        return f"Probability = 1 / (1 + exp(-({x} - {even}) / scale))"

    def table(self) -> pa.Table:
        """One row per curve, with constants and intervals."""
        rows = []
        for part in self.parts:
            curve = part.logistic
            row: dict[str, object] = {
                "evaluator": part.name,
                "condition": part.condition,
                "of": part.of,
                "unit": part.unit,
                "positions": part.positions,
                "games": part.games,
                "least": part.least,
                "most": part.most,
                "verdict": curve.verdict,
                "bend": curve.link.bend,
                "limit": curve.link.limit,
            }
            if not self.has_enough_games(part):
                row |= {"verdict": "too few games", "bend": math.nan, "limit": math.nan}
            nothing = Estimate(math.nan)
            estimates = {f"score_{p:.0%}".rstrip("%"): part.score_for(p) for p in WIN_PROBABILITIES}
            estimates["k"] = part.k
            for name in ("even", "scale", "intercept", "slope"):
                estimates[name] = getattr(curve, name)
            for name, estimated in estimates.items():
                row |= (estimated if self.has_enough_games(part) else nothing).columns(name)
            rows.append(row)
        return pa.Table.from_pylist(rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        heading = (
            "evaluator", "condition", "of", *CALIBRATION_HEADINGS, "values", "positions", "games",
        )  # fmt: skip
        return (heading, *(self._cells(part) for part in self.parts))

    def _cells(self, part: CalibrationRow) -> tuple[str, ...]:
        spec = ".3f" if part.unit == VALUE else ",.0f"
        values = f"{part.least:{spec}} to {part.most:{spec}}" if part.positions else "none"
        texts = calibration_texts(part, self.min_games)
        counts = (f"{part.positions:,}", f"{part.games:,}")
        return (part.name, part.condition or "all", part.of, *texts, values, *counts)

    def notes(self) -> tuple[str, ...]:
        """The columns, the link, and missing curves."""
        enough = [part for part in self.parts if self.has_enough_games(part)]
        notes = [
            f"{', '.join(word for word in (part.name, part.condition, part.of) if word)}: no curve "
            f"fits: {part.logistic.missing_reason}."
            for part in enough
            if not part.logistic.converged
        ]
        if few := len(self.parts) - len(enough):
            notes.append(too_few_note(few, self.min_games))
        if any(part.logistic.converged for part in enough):
            notes.append(SCORES_NOTE)
        if not all(part.logistic.link.is_straight for part in self.parts):
            notes.append(
                "Link: x(value) = bend · asinh(value / bend). Scales of different links are not "
                "comparable; the scores for 50%, 75% and 90%, and K, are."
            )
        return tuple(notes)


CALIBRATION_HEADINGS: Final = (
    *(f"{probability:.0%} at" for probability in WIN_PROBABILITIES), "K", "scale", "link",
)  # fmt: skip
"""Titles of the columns of `calibration_texts`."""
SCORES_NOTE: Final = (
    "50% at: the score at which the curve reaches this probability. K: the scale of the "
    "one-parameter curve 1 / (1 + exp(-score / K)), which is 50% at 0."
)


def calibration_texts(part: CalibrationRow, min_games: int = MIN_GAMES) -> tuple[str, ...]:
    """Format the scores for the probabilities, K, scale and link; dashes for too few games."""
    curve, spec = part.logistic, ".3f" if part.unit == VALUE else ".1f"
    if part.games < min_games:
        return (*[TOO_FEW] * (len(CALIBRATION_HEADINGS) - 1), "")
    if not curve.converged:
        return ("no curve fits", *[""] * (len(CALIBRATION_HEADINGS) - 1))
    scores = [_reached(part.score_for(probability), spec) for probability in WIN_PROBABILITIES]
    return (*scores, part.k.text(spec), curve.scale.text(spec), str(curve.link))


def _reached(score: Estimate, spec: str) -> str:
    return "not reached" if math.isinf(score.value) else score.text(spec)
