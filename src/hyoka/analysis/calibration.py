# SPDX-License-Identifier: Apache-2.0
"""From a score to a probability: a logistic curve, and one each for wins and losses.

What a curve makes of a score (`link`) is chosen by games it was not fitted to; it stays a curve of
two constants, whose likelihood has one optimum.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.link import Link
from hyoka.analysis.result import Result
from hyoka.analysis.sample import VALUE, DrawnGames, Reals, Sample
from hyoka.estimate import Estimate

if TYPE_CHECKING:
    import altair

SURE = 1e-4
"""A probability is never taken to be nearer to 0 or 1 than this: a lost mate costs 9.2, not all."""


NO_CURVE: Final[dict[str, str]] = {
    "no values": "nothing but mates is said",
    "one result": "all of them have one result",
    "one value": "all values are alike",
    "parted": "the values part wins from losses without an overlap",
    "diverged": "the fit did not come to an end",
}
"""Why no logistic curve fits best, in words."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """Probability = 1 / (1 + exp(-(intercept + slope · x))), with intervals by games.

    x is what the curve's link makes of the value. `even` is the value at which the probability is a
    half, `scale` how much x turns odds by e. All are NaN where no curve fits best.
    """

    intercept: Estimate
    slope: Estimate
    even: Estimate
    scale: Estimate
    link: Link
    verdict: str
    """`fits`, or a key of `NO_CURVE`."""

    @property
    def converged(self) -> bool:
        """Whether there is a curve that fits best, and it was found."""
        return self.verdict == "fits"

    @property
    def why_none(self) -> str:
        """Why no curve fits, in words; empty where one does."""
        return NO_CURVE.get(self.verdict, "")

    def probability(self, values: NDArray[Any]) -> Reals:
        """What values are worth; a mate is worth 0 or 1. NaN where no curve fits."""
        numbers = values.astype(np.float64)
        if not self.converged:
            return np.full(numbers.shape, math.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            x = self.slope.value * self.link(numbers)
            fitted = 1 / (1 + np.exp(-(self.intercept.value + x)))
        # A mate is certain whatever was fitted; of losses the curve falls.
        best = 0.0 if self.slope.value < 0 else 1.0
        return np.select([numbers == np.inf, numbers == -np.inf], [best, 1 - best], fitted)


def fit_logistic(sample: Sample, confidence: float = 0.95) -> Logistic:
    """The logistic curve of greatest likelihood; standard errors are those of games (sandwich).

    >>> sample = Sample.of("sure", [0.9, 0.8, 0.3, 0.1], results=[1, 1, 0, 0], games=[1, 2, 3, 4])
    >>> fit_logistic(sample).why_none
    'the values part wins from losses without an overlap'
    """
    fit, link = sample.fitted
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    a, b = fit.intercept, fit.slope
    var_a, cov, var_b = fit.covariance

    def around(value: float, variance: float) -> Estimate:
        half = reach * math.sqrt(variance) if variance >= 0 else math.nan
        return Estimate(value, value - half, value + half)

    if fit.verdict != "fits" or b == 0:
        nothing = Estimate(math.nan, math.nan, math.nan)
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
    )


def probabilities(sample: Sample) -> Reals | None:
    """What the evaluator's values say as probabilities, kept a little from 0 and 1.

    Values are probabilities already. Scores become some by the logistic curve of this very sample:
    two constants from all positions, and its link. None where no curve fits.
    """
    if sample.unit == VALUE:
        claims = np.clip(sample.values.astype(np.float64), 0, 1)
    elif np.isinf(sample.values).all():
        claims = (sample.values > 0).astype(np.float64)  # mates are certain without a curve
    else:
        fit = fit_logistic(sample)
        if not fit.converged:
            return None
        claims = fit.probability(sample.values)
    return np.clip(claims, SURE, 1 - SURE)


@dataclass(frozen=True)
class WinDrawLoss:
    """Win and loss as logistic curves of the value; what is left is drawn."""

    win: Logistic
    loss: Logistic

    @property
    def converged(self) -> bool:
        """Whether both curves fit."""
        return self.win.converged and self.loss.converged

    def probabilities(self, values: NDArray[Any]) -> tuple[Reals, Reals, Reals]:
        """Of a win, a draw and a loss; where the two curves overlap, both give way."""
        win, loss = self.win.probability(values), self.loss.probability(values)
        total = np.maximum(win + loss, 1.0)
        win, loss = win / total, loss / total
        return win, 1 - win - loss, loss


def fit_win_draw_loss(sample: Sample, confidence: float = 0.95) -> WinDrawLoss:
    """Curves of wins against the rest and of losses against the rest, draws kept."""
    won, lost = (sample.with_results(sample.results == result) for result in (1, 0))
    return WinDrawLoss(fit_logistic(won, confidence), fit_logistic(lost, confidence))


@dataclass(frozen=True)
class CalibrationRow:
    """One curve of one evaluator, over all positions or those of a condition."""

    name: str
    unit: str
    condition: str
    of: str
    """What is fitted: `result`, `result, draws half`, `win` or `loss`."""
    positions: int
    games: int
    """Those that the curve was fitted to: mates have no place on it."""
    least: float
    most: float
    """The values among them."""
    logistic: Logistic


def calibrate(
    sample: Sample,
    *,
    draws: DrawnGames = "discard",
    wdl: bool = False,
    condition: str = "",
    confidence: float = 0.95,
) -> list[CalibrationRow]:
    """The curve of a sample's results, or with `wdl` those of win and loss against the rest.

    None where no position is left.
    """
    if wdl:
        curves = [
            ("win", sample.with_results(sample.results == 1)),
            ("loss", sample.with_results(sample.results == 0)),
        ]
    elif draws == "half":
        curves = [("result, draws half", sample)]
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
        len(values),
        len(np.unique(fitted.games[used])),
        least,
        most,
        fit_logistic(fitted, confidence),
    )


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """The constants that turn scores into probabilities."""

    parts: tuple[CalibrationRow, ...]

    @property
    def title(self) -> str:
        """What it is, in a line."""
        bent = not all(part.logistic.link.is_straight for part in self.parts)
        x, even = ("x(value)", "x(even)") if bent else ("value", "even")
        return f"Probability = 1 / (1 + exp(-({x} - {even}) / scale))"

    def table(self) -> pa.Table:
        """A row a curve, with constants and intervals."""
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
            for name in ("even", "scale", "intercept", "slope"):
                estimate: Estimate = getattr(curve, name)
                row |= {
                    name: estimate.value,
                    f"{name}_low": estimate.low,
                    f"{name}_high": estimate.high,
                }
            rows.append(row)
        return pa.Table.from_pylist(rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows that people read."""
        heading = (
            "evaluator", "condition", "of", "even", "scale", "link", "values", "positions", "games",
        )  # fmt: skip
        return (heading, *(_cells(part) for part in self.parts))

    def notes(self) -> tuple[str, ...]:
        """What bends, and why some curves are missing."""
        notes = [
            f"{', '.join(word for word in (part.name, part.condition, part.of) if word)}: no curve "
            f"fits, {part.logistic.why_none}."
            for part in self.parts
            if not part.logistic.converged
        ]
        if not all(part.logistic.link.is_straight for part in self.parts):
            notes.append(
                "x(value) = bend · asinh(value / bend), values beyond the limit counting as the "
                "limit: a few badly wrong scores rule no curve. Bend and limit are those by which "
                "games held out surprise least, unless they were set."
            )
        return tuple(notes)

    def chart(self) -> "altair.TopLevelMixin":
        """The fitted curves over four scales either side of even."""
        from hyoka.analysis.charts import fitted_curves  # noqa: PLC0415 - slow to import

        return fitted_curves(self.parts)


def _cells(part: CalibrationRow) -> tuple[str, ...]:
    spec = ".3f" if part.unit == VALUE else ",.0f"
    values = f"{part.least:{spec}} to {part.most:{spec}}" if part.positions else "none"
    who = (part.name, part.condition or "all", part.of)
    return (*who, *calibration_texts(part), values, f"{part.positions:,}", f"{part.games:,}")


def calibration_texts(part: CalibrationRow) -> tuple[str, str, str]:
    """Even, scale and link for people."""
    curve, spec = part.logistic, ".3f" if part.unit == VALUE else ".1f"
    if not curve.converged:
        return "no curve fits", "", ""
    return curve.even.text(spec), curve.scale.text(spec), str(curve.link)
