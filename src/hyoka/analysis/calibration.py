# SPDX-License-Identifier: Apache-2.0
"""From a score to a probability: a logistic curve, and one each for wins and losses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.result import Result
from hyoka.analysis.sample import VALUE, Reals, Sample
from hyoka.estimate import Estimate

if TYPE_CHECKING:
    import altair

SURE = 1e-4
"""A probability is never taken to be nearer to 0 or 1 than this: a lost mate costs 9.2, not all."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """Probability = 1 / (1 + exp(-(intercept + slope · value))), with intervals by games.

    `even` is the value at which it is a half, `scale` how much value turns odds by e.
    """

    intercept: Estimate
    slope: Estimate
    even: Estimate
    scale: Estimate
    converged: bool
    """False where no curve fits best: no overlap of wins and losses, or nothing to fit."""

    def probability(self, values: NDArray[Any]) -> Reals:
        """What values are worth; a mate is worth 0 or 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            exponent = self.intercept.value + self.slope.value * values.astype(np.float64)
            found = 1 / (1 + np.exp(-exponent))
        found = np.where(np.isnan(exponent), 0.5, found)
        # A mate is certain whatever was fitted; of losses the curve falls.
        best = 0.0 if self.slope.value < 0 else 1.0
        return np.select([values == np.inf, values == -np.inf], [best, 1 - best], found)


def fit_logistic(sample: Sample, confidence: float = 0.95) -> Logistic:
    """The logistic curve of greatest likelihood; standard errors are those of games (sandwich)."""
    fit = sample.ranking.logistic()
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    a, b = fit.intercept, fit.slope
    var_a, cov, var_b = fit.covariance

    def around(value: float, variance: float) -> Estimate:
        known = fit.converged and variance >= 0
        half = reach * math.sqrt(variance) if known else math.nan
        return Estimate(value, value - half, value + half)

    if not (fit.converged and b):
        nothing = Estimate(math.nan, math.nan, math.nan)
        return Logistic(around(a, var_a), around(b, var_b), nothing, nothing, False)
    # By the delta method: even = -a / b, scale = 1 / b.
    var_even = (var_a - 2 * (a / b) * cov + (a / b) ** 2 * var_b) / b**2
    return Logistic(
        around(a, var_a),
        around(b, var_b),
        around(0.0 - a / b, var_even),
        around(1 / b, var_b / b**4),
        True,
    )


def probabilities(sample: Sample) -> Reals:
    """What the evaluator's values say as probabilities, kept a little from 0 and 1.

    Values are probabilities already. Scores become some by the logistic curve of this very sample:
    two constants from all positions.
    """
    if sample.unit == VALUE:
        said = np.clip(sample.values.astype(np.float64), 0, 1)
    else:
        said = fit_logistic(sample).probability(sample.values)
    return np.clip(said, SURE, 1 - SURE)


@dataclass(frozen=True)
class WinDrawLoss:
    """Win and loss as logistic curves of the value; what is left is drawn."""

    win: Logistic
    loss: Logistic
    positions: int
    games: int

    def probabilities(self, values: NDArray[Any]) -> tuple[Reals, Reals, Reals]:
        """Of a win, a draw and a loss; where the two curves overlap, both give way."""
        win, loss = self.win.probability(values), self.loss.probability(values)
        total = np.maximum(win + loss, 1.0)
        win, loss = win / total, loss / total
        return win, 1 - win - loss, loss


def fit_win_draw_loss(sample: Sample, confidence: float = 0.95) -> WinDrawLoss:
    """Curves of wins against the rest and of losses against the rest, draws kept."""
    won = sample.with_results(sample.results == 1)
    lost = sample.with_results(sample.results == 0)
    return WinDrawLoss(
        fit_logistic(won, confidence),
        fit_logistic(lost, confidence),
        len(sample),
        len(np.unique(sample.games)),
    )


@dataclass(frozen=True)
class CalibrationRow:
    """One evaluator's curves, over all positions or those of a condition."""

    name: str
    unit: str
    condition: str
    positions: int
    games: int
    """Without draws."""
    logistic: Logistic
    """Of the result without draws."""
    wdl: WinDrawLoss | None
    """None where there are no draws."""


@dataclass(frozen=True)
class Calibration(Result):
    """The constants that turn scores into probabilities."""

    parts: tuple[CalibrationRow, ...]

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return "Win probability = 1 / (1 + exp(-(value - even) / scale))"

    def _curves(self) -> Sequence[tuple[CalibrationRow, str, Logistic]]:
        found: list[tuple[CalibrationRow, str, Logistic]] = []
        for part in self.parts:
            found.append((part, "result", part.logistic))
            if part.wdl is not None:
                found += [(part, "win", part.wdl.win), (part, "loss", part.wdl.loss)]
        return found

    def table(self) -> pa.Table:
        """A row a curve, with constants and intervals."""
        rows = []
        for part, of, curve in self._curves():
            counted = part if of == "result" or part.wdl is None else part.wdl
            row: dict[str, Any] = {
                "evaluator": part.name,
                "condition": part.condition,
                "of": of,
                "unit": part.unit,
                "positions": counted.positions,
                "games": counted.games,
                "converged": curve.converged,
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
        heading = ("evaluator", "condition", "of", "even", "scale", "positions", "games")
        rows = []
        for part, of, curve in self._curves():
            spec = ".3f" if part.unit == VALUE else ".1f"
            fitted = (
                (curve.even.text(spec), curve.scale.text(spec))
                if curve.converged
                else ("no curve fits", "")
            )
            counted = part if of == "result" or part.wdl is None else part.wdl
            counts = (f"{counted.positions:,}", f"{counted.games:,}")
            rows.append((part.name, part.condition or "all", of, *fitted, *counts))
        return (heading, *rows)

    def chart(self) -> "altair.TopLevelMixin":
        """The fitted curves over two scales either side of even."""
        from hyoka.analysis.charts import fitted_curves  # noqa: PLC0415 - slow to import

        return fitted_curves(self._curves())
