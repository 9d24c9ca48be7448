# SPDX-License-Identifier: Apache-2.0
"""WDL model: win, draw and loss probabilities as a function of the score and the game stage."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.polynomial.polynomial import polyval
from numpy.typing import NDArray

from hyoka._core import resampled_sums
from hyoka.analysis.sample import VALUE, Reals, Resampling, Sample, interval
from hyoka.analysis.wdl_likelihood import Maximum, Outcomes, constants, greatest_likelihood, slopes
from hyoka.foundation.errors import ParameterError, StudyError, named
from hyoka.foundation.figure import Figure
from hyoka.foundation.math import Estimate, logistic
from hyoka.storage.files import write_text
from hyoka.storage.outputs import GENERATOR
from hyoka.storage.result import FORMATS, MIN_GAMES, TOO_FEW, Coverage, Result, too_few_note

DEGREE: Final = 3
NO_MODEL: Final[dict[str, str]] = {
    "no scores": "these positions have no finite scores",
    "no draws": "no game is drawn; without draws, use hyoka analyze calibrate",
    "all drawn": "all games are drawn",
    "backwards": "higher scores do not mean more wins",
    "parted": "perfect separation of wins, draws and losses",
    "few stages": "too few stages of the game for polynomials of this degree",
    "few games": "fewer games than coefficients",
    "diverged": "the fit did not converge; try a lower degree or fewer stages",
}
"""Reasons why there is no fit, by verdict."""
_BEYOND: Final = 4.0
"""Default limit of scores, as a multiple of the score that wins half of the games."""
_ROWS_AT_ONCE: Final = 200_000
_GRID: Final = (24, 20)
"""Number of cells of the data in charts, by score and by stage."""
_GREATEST: Final = float(np.finfo(np.float32).max)
"""Largest possible score of a sample."""


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The stage of the game in a model, and its fitted range."""

    name: str
    """`move`, or an SQL expression."""
    reference: float
    """Stage at which scores are normalized: 100 wins half of the games."""
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ParameterError("between", f"is a range, not {self.low:g} to {self.high:g}")
        if not self.reference > 0:
            raise ParameterError("at", f"is a stage above 0, not {self.reference:g}")

    @classmethod
    def of(
        cls,
        name: str,
        stages: NDArray[Any],
        reference: float | None = None,
        between: tuple[float, float] | None = None,
    ) -> "Stages":
        """Stages from the 0.5% to the 99.5% quantile, with the median as reference."""
        present = stages.astype(np.float64)
        present = present[np.isfinite(present)]
        if not len(present):
            raise StudyError(f"'{name}' is not a number at any of the positions")
        low, middle, high = np.quantile(present, [0.005, 0.5, 0.995], method="nearest").tolist()
        if between is not None:
            low, high = map(float, between)
        if reference is None:
            reference = min(max(middle, low), high)
            if not reference > 0:
                raise ParameterError("at", f"is a stage above 0: the median of {name} is not")
        if low == high:
            raise StudyError(
                f"'{name}' is {low:g} at nearly all positions, so it defines no stages"
            )
        return cls(name=name, reference=reference, low=low, high=high)


class Grid(NamedTuple):
    """Counts of results in cells of scores and stages, for charts."""

    scores: Reals
    stages: Reals
    """Edges of the cells."""
    won: Reals
    drawn: Reals
    positions: Reals
    """Counts by score and stage."""


@dataclass(frozen=True, eq=False)
class WdlModel:
    """WDL model of one evaluator, for all positions or those of a condition.

    Coefficients belong to 1, x, x² and x³ with x = stage / reference, so their sum is the value at
    the reference stage.
    """

    name: str
    unit: str
    condition: str
    stages: Stages
    most: float
    """Limit of absolute scores in the fit."""
    a: tuple[Estimate, ...]
    b: tuple[Estimate, ...]
    half: Estimate
    """Score that wins half of the games at the reference stage, or the nearest fitted stage."""
    spread: Estimate
    """The value of b at that stage."""
    draws: Estimate
    """Share of draws at a score of 0 at that stage."""
    loss: float
    """Negative log-likelihood per position."""
    positions: int
    games: int
    verdict: str
    """`fits`, or a key of `NO_MODEL`."""
    grid: Grid = field(repr=False)
    drawn: Reals = field(repr=False)
    """Coefficients of a, then of b; one row per resample."""

    @property
    def converged(self) -> bool:
        """Whether the fit converged."""
        return self.verdict == "fits"

    @property
    def missing_reason(self) -> str:
        """Why there is no fit; empty if there is one."""
        return NO_MODEL.get(self.verdict, "")

    def polynomials(self, stages: NDArray[Any] | float) -> tuple[Reals, Reals]:
        """Evaluate a and b at stages, clipped to the fitted range."""
        within = np.clip(np.asarray(stages, np.float64), self.stages.low, self.stages.high)
        x = within / self.stages.reference
        a, b = ([each.value for each in side] for side in (self.a, self.b))
        return np.asarray(polyval(x, a), np.float64), np.asarray(polyval(x, b), np.float64)

    def probabilities(
        self, scores: NDArray[Any] | float, stages: NDArray[Any] | float
    ) -> tuple[Reals, Reals, Reals]:
        """Compute the probabilities of a win, a draw and a loss."""
        a, b = self.polynomials(stages)
        v = np.asarray(scores, np.float64)
        win, loss = logistic((v - a) / b), logistic((-v - a) / b)
        return win, 1 - win - loss, loss

    def normalized(self, scores: NDArray[Any] | float) -> Reals:
        """Scale scores so that 100 wins half of the games at the reference stage."""
        return np.asarray(100 * np.asarray(scores, np.float64) / self.half.value)

    def contour(self, outcome: str, share: float, stages: Sequence[float]) -> Reals:
        """Scores at which an outcome has a given probability, by stage.

        Of the two scores for draws, the positive one. NaN where draws never reach the probability.
        """
        a, b = self.polynomials(np.asarray(stages))
        if outcome == "win":
            return np.asarray(a + b * math.log(share / (1 - share)))
        with np.errstate(invalid="ignore", over="ignore"):
            # 1 - win - loss = sinh κ / (cosh κ + cosh(v / b))
            return np.asarray(b * np.arccosh(np.sinh(a / b) / share - np.cosh(a / b)))

    def code(self, language: str) -> str:
        """The model as source text in `c++`, `python` or `json`."""
        if not self.converged:
            raise StudyError(f"no model fits: {self.missing_reason}")
        return model_code(language, self)


def fit_wdl_model(
    sample: Sample,
    stages: NDArray[Any],
    along: Stages,
    *,
    most: float | None = None,
    degree: int | None = None,
    condition: str = "",
    resampling: Resampling | None = None,
) -> WdlModel:
    """Fit the model by maximum likelihood, with intervals by cluster bootstrap over games.

    `stages` has one number per position. Positions outside of `along`, mates, and scores beyond
    `most` (default: four times the score that wins half of the games) are excluded. Each resample
    takes one Newton step from the full fit, with its own gradient and the full Hessian. The default
    `degree` is 3, or the highest lower degree whose fit converges.
    """
    if sample.unit == VALUE:
        raise StudyError(f"{sample.name} has values and no scores; use hyoka analyze calibrate")
    if degree is not None and degree < 0:
        raise ParameterError("degree", f"is 0 or more, not {degree}")
    resampling = resampling or Resampling()
    at = stages.astype(np.float64)
    used = np.isfinite(sample.values) & (at >= along.low) & (at <= along.high)
    if most is None:
        most = default_max_score(sample.where(used))
    most = min(most, _GREATEST)
    used &= np.abs(sample.values) <= most
    part, at = sample.where(used), at[used]
    outcomes = Outcomes.counted(
        part.values.astype(np.float64), at, part.results, part.weight.astype(np.float64)
    )
    games = len(np.unique(part.games))
    verdict, best = _best(outcomes, games, along.reference, degree)
    within = along
    if best is not None and at.min() < at.max():
        within = replace(along, low=float(at.min()), high=float(at.max()))
    here = min(max(along.reference, within.low), within.high) / along.reference
    width = len(best.a) if best is not None else (DEGREE if degree is None else degree) + 1
    theta, drawn = np.full(2 * width, math.nan), np.zeros((0, 2 * width))
    if best is not None:
        theta = np.concatenate([best.a, best.b])
        drawn = _resampled(part, at / along.reference, theta, here, resampling)
    powers = here ** np.arange(width)

    def estimated(value: float, values: Reals) -> Estimate:
        return interval(value, values, games, resampling.confidence)

    (half, halves), (spread, spreads) = (
        (float(theta[side] @ powers), drawn[:, side] @ powers)
        for side in (slice(None, width), slice(width, None))
    )
    coefficients = [estimated(float(theta[i]), drawn[:, i]) for i in range(2 * width)]
    return WdlModel(
        sample.name,
        sample.unit,
        condition,
        within,
        most,
        tuple(coefficients[:width]),
        tuple(coefficients[width:]),
        estimated(half, halves),
        estimated(spread, spreads),
        estimated(math.tanh(half / spread / 2), np.tanh(halves / spreads / 2)),
        math.nan if best is None else best.loss,
        len(part),
        games,
        verdict,
        _grid(part, at, within, most),
        drawn,
    )


def _best(
    outcomes: Outcomes, games: int, reference: float, degree: int | None
) -> tuple[str, Maximum | None]:
    """Fit a given degree, or the highest one that converges; return verdict and fit."""
    degrees = range(DEGREE, -1, -1) if degree is None else [degree]
    verdicts = []
    for each in degrees:
        verdict = _verdict(outcomes, games, each)
        if not verdict:
            best = greatest_likelihood(outcomes, reference, each)
            if best.converged:
                return "fits", best
        verdicts.append(verdict or "diverged")
    return verdicts[-1], None


def default_max_score(sample: Sample) -> float:
    """Four times the score that wins half of the games at any stage; infinite if there is none.

    Only the smallest 90% of absolute scores count, so outliers have no influence.
    """
    finite = sample.where(np.isfinite(sample.values))
    if not len(finite):
        return math.inf
    sizes = np.abs(finite.values)
    middle = finite.where(sizes <= np.quantile(sizes, 0.9))
    outcomes = Outcomes.counted(
        middle.values.astype(np.float64),
        np.zeros(len(middle)),
        middle.results,
        middle.weight.astype(np.float64),
    )
    if _verdict(outcomes, len(np.unique(middle.games)), 0):
        return math.inf
    fit = constants(outcomes)
    return _BEYOND * float(fit.a[0]) if fit.converged else math.inf


def _verdict(outcomes: Outcomes, games: int, degree: int) -> str:
    """Check the data; return a key of `NO_MODEL`, or an empty text if a fit may exist."""
    won, drawn, lost = (counts > 0 for counts in (outcomes.won, outcomes.drawn, outcomes.lost))
    scores, wins_less_losses = outcomes.scores, outcomes.won - outcomes.lost
    sides = np.concatenate([scores[won], -scores[lost]])
    reasons = {
        "no scores": not len(scores),
        "all drawn": not len(sides),
        "no draws": not drawn.any(),
        "few stages": len(outcomes.stages) <= degree,
        "few games": games <= 2 * (degree + 1),
        "backwards": float((scores * wins_less_losses).sum()) <= 0,
        "parted": bool(np.abs(scores[drawn]).max(initial=0) <= sides.min(initial=np.inf)),
    }
    return next((verdict for verdict, holds in reasons.items() if holds), "")


def _resampled(
    sample: Sample, x: Reals, theta: Reals, here: float, resampling: Resampling
) -> Reals:
    """Coefficients in resamples of games; NaN where a or b is not positive at `here`."""
    a, b = np.split(theta, 2)
    width = len(a)
    pulls = np.zeros((sample.game_count, 2 * width))
    curvature = np.zeros((2 * width, 2 * width))
    for start in range(0, len(sample), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        powers = x[rows, None] ** np.arange(width)
        weight, results = sample.weight[rows].astype(np.float64), sample.results[rows]
        won, lost = results == 1, results == 0
        each = Outcomes(
            x[rows],
            np.arange(len(powers)),
            sample.values[rows].astype(np.float64),
            *(np.where(which, weight, 0.0) for which in (won, ~(won | lost), lost)),
        )
        slope = slopes(powers @ a, powers @ b, each)
        aa, ab, bb = (-(powers * s[:, None]).T @ powers for s in slope[2:])
        curvature += np.block([[aa, ab], [ab.T, bb]])
        numbers = np.concatenate([powers * s[:, None] for s in slope[:2]], axis=1)
        order = np.argsort(sample.games[rows], kind="stable")
        games = sample.games[rows][order]
        first = np.flatnonzero(np.concatenate([[True], np.diff(games) != 0]))
        np.add.at(pulls, games[first], np.add.reduceat(numbers[order], first, axis=0))
    drawn = np.asarray(resampled_sums(pulls, resampling.resamples, resampling.seed), np.float64)
    # Use the full Hessian: that of a resample may be nearly singular.
    size = np.sqrt(np.maximum(np.diag(curvature), 1e-300))
    optimum = theta + np.linalg.solve(curvature / np.outer(size, size), (drawn / size).T).T / size
    at_here = here ** np.arange(width)
    sane = (optimum[:, :width] @ at_here > 0) & (optimum[:, width:] @ at_here > 0)
    optimum[~sane] = math.nan
    return optimum


def _grid(sample: Sample, stages: Reals, along: Stages, most: float) -> Grid:
    reach = most if math.isfinite(most) else float(np.abs(sample.values).max(initial=1.0))
    across = np.linspace(-reach, reach, _GRID[0] + 1)
    up = np.linspace(along.low, along.high, min(_GRID[1], int(along.high - along.low) or 1) + 1)

    def counted(weights: Reals) -> Reals:
        counts = np.histogram2d(sample.values, stages, bins=(across, up), weights=weights)[0]
        return np.asarray(counts)

    weight = sample.weight.astype(np.float64)
    won, lost = sample.results == 1, sample.results == 0
    return Grid(
        across,
        up,
        counted(np.where(won, weight, 0.0)),
        counted(np.where(won | lost, 0.0, weight)),
        counted(weight),
    )


@dataclass(frozen=True, repr=False)
class WdlModels(Result):
    """WDL models of evaluators and conditions."""

    drawn_by = "wdl_contours"

    parts: tuple[WdlModel, ...]
    caveats: tuple[str, ...] = ()
    coverage: Coverage | None = None
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `parts` has all figures."""

    def has_enough_games(self, part: WdlModel) -> bool:
        """Whether a part has enough games for figures."""
        return part.games >= self.min_games

    @property
    def title(self) -> str:
        """One-line title."""
        return "Win = 1 / (1 + exp((a - score) / b)); loss = the same at -score; draw = the rest"

    def table(self) -> pa.Table:
        """One row per model, with coefficients and intervals."""
        rows = []
        for part in self.parts:
            row: dict[str, object] = {
                "evaluator": part.name,
                "condition": part.condition,
                "unit": part.unit,
                "along": part.stages.name,
                "reference": part.stages.reference,
                "low": part.stages.low,
                "high": part.stages.high,
                "most": part.most,
                "positions": part.positions,
                "games": part.games,
                "log_loss": part.loss,
                "verdict": part.verdict,
            }
            figures = {"half": part.half, "spread": part.spread, "draws": part.draws}
            for side, estimates in (("a", part.a), ("b", part.b)):
                figures |= {f"{side}{power}": each for power, each in enumerate(estimates)}
            if not self.has_enough_games(part):
                figures = dict.fromkeys(figures, Estimate(math.nan))
                row |= {"log_loss": math.nan, "verdict": "too few games"}
            for name, each in figures.items():
                row |= each.columns(name)
            rows.append(row)
        return pa.Table.from_pylist(rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        heading = (
            "evaluator", "condition", "50% wins at", "spread", "draws at 0", "log-loss",
            "positions", "games",
        )  # fmt: skip
        return (heading, *(_cells(part, self.has_enough_games(part)) for part in self.parts))

    def notes(self) -> tuple[str, ...]:
        """The fitted range, the coefficients, and reasons for missing models."""
        notes = [*self.caveats]
        enough = [part for part in self.parts if self.has_enough_games(part)]
        if few := len(self.parts) - len(enough):
            notes.append(too_few_note(few, self.min_games))
        if not enough:
            return tuple(notes)
        for part in enough:
            who = ", ".join(word for word in (part.name, part.condition) if word)
            if not part.converged:
                notes.append(f"{who}: no model fits: {part.missing_reason}.")
                continue
            for side, estimates in (("a", part.a), ("b", part.b)):
                numbers = ", ".join(f"{each.value:.6g}" for each in reversed(estimates))
                notes.append(f"{who}: {side} = {numbers}")
            if len(part.a) <= DEGREE:
                notes.append(f"{who}: polynomials of degree {len(part.a) - 1}.")
        stages = enough[0].stages
        beyond = sorted({part.most for part in enough if math.isfinite(part.most)})
        low = min(part.stages.low for part in enough)
        high = max(part.stages.high for part in enough)
        notes.append(
            f"Coefficients: of powers of x = stage / {stages.reference:g}, highest first. The "
            f"stage is {stages.name}, from {low:g} to {high:g}; fitted scores are up to "
            f"±{' or ±'.join(f'{most:,.0f}' for most in beyond)}."
        )
        notes.append(
            f"The table is for stage {stages.reference:g}, or the nearest; -o FILE.h, .py or .json "
            "saves the coefficients."
        )
        return tuple(notes)

    def save(self, path: str | Path, figure: Figure | None = None) -> None:
        """Write a result file, or code for the suffixes `.h`, `.hpp` and `.py`."""
        file = Path(path)
        language = LANGUAGES.get(file.suffix.lower())
        if language is None:
            if file.suffix.lower() not in FORMATS:
                suffixes = ", ".join([*FORMATS, *LANGUAGES])
                raise StudyError(f"'{file.name}' must end in one of {suffixes}")
            super().save(file, figure)
            return
        if len(self.parts) != 1:
            raise StudyError(f"'{file.name}' holds one model: choose one evaluator, and no slices")
        [model] = self.parts
        if not self.has_enough_games(model):
            raise StudyError(
                f"'{file.name}': the model is of fewer than {self.min_games} games; evaluate more "
                f"games, or allow it with {named('min_games', model.games)}"
            )
        write_text(file, model.code(language))


def _cells(part: WdlModel, has_enough: bool) -> tuple[str, ...]:
    who = (part.name, part.condition or "all")
    counts = (f"{part.positions:,}", f"{part.games:,}")
    if not has_enough:
        return (*who, *[TOO_FEW] * 4, *counts)
    if not part.converged:
        return (*who, "no model fits", "", "", "", *counts)
    texts = (part.half.text(".1f"), part.spread.text(".1f"), part.draws.text(".3f"))
    return (*who, *texts, f"{part.loss:.4f}", *counts)


LANGUAGES: Final = {".h": "c++", ".hpp": "c++", ".py": "python"}
"""Languages by file suffix."""


def model_code(language: str, model: WdlModel) -> str:
    """Export the model as `c++`, `python` or `json`."""
    if language not in _WRITERS:
        raise ParameterError("language", f"is {', '.join(_WRITERS)}, not '{language}'")
    return _WRITERS[language](model)


def _about(model: WdlModel) -> str:
    """One line about the model, without user text, so that it is safe in a comment."""
    return (
        f"{GENERATOR}: fitted by hyoka analyze wdl to {model.positions:,} positions of "
        f"{model.games:,} games; scores in {model.unit}."
    )


def _numbers(model: WdlModel) -> tuple[list[str], list[str]]:
    """Coefficients of a and b from the highest power down, for Horner's method."""
    a, b = ([repr(each.value) for each in reversed(side)] for side in (model.a, model.b))
    return a, b


def _stages(model: WdlModel) -> tuple[str, str, str]:
    """The lowest, highest and reference stages as floating-point literals."""
    stages = model.stages
    return repr(float(stages.low)), repr(float(stages.high)), repr(float(stages.reference))


def _cpp(model: WdlModel) -> str:
    a, b = (", ".join(numbers) for numbers in _numbers(model))
    low, high, reference = _stages(model)
    return f"""// {_about(model)}
// The stage is what the model was fitted along, such as the move number.
#pragma once

#include <algorithm>
#include <cmath>

namespace wdl {{

inline constexpr double as[] = {{{a}}};
inline constexpr double bs[] = {{{b}}};

struct Params {{
    double a, b;
}};

struct Probabilities {{
    double win, draw, loss;
}};

inline Params params(double stage) {{
    const double x = std::clamp(stage, {low}, {high}) / {reference};
    Params p{{0, 0}};
    for (const double c : as) p.a = p.a * x + c;
    for (const double c : bs) p.b = p.b * x + c;
    return p;
}}

inline Probabilities probabilities(double score, double stage) {{
    const auto [a, b] = params(stage);
    const double win = 1 / (1 + std::exp((a - score) / b));
    const double loss = 1 / (1 + std::exp((a + score) / b));
    return {{win, 1 - win - loss, loss}};
}}

/// 100 wins half of the games at the reference stage.
inline double normalized(double score) {{
    return 100 * score / {model.half.value!r};
}}

}}  // namespace wdl
"""


def _python(model: WdlModel) -> str:
    a, b = (", ".join(numbers) for numbers in _numbers(model))
    low, high, reference = _stages(model)
    return f'''# {_about(model)}
"""Win, draw and loss by score and stage of the game, such as the move number."""

import math

AS = [{a}]
BS = [{b}]


def params(stage):
    """The score that wins half of the games, and the spread."""
    x = min(max(stage, {low}), {high}) / {reference}
    a = b = 0.0
    for c, d in zip(AS, BS):
        a, b = a * x + c, b * x + d
    return a, b


def probabilities(score, stage):
    """Of a win, a draw and a loss."""
    a, b = params(stage)
    win, loss = _logistic((score - a) / b), _logistic((-score - a) / b)
    return win, 1 - win - loss, loss


def normalized(score):
    """100 wins half of the games at the reference stage."""
    return 100 * score / {model.half.value!r}


def _logistic(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))
'''


def _json(model: WdlModel) -> str:
    stages = model.stages
    content = {
        "along": stages.name,
        "reference": stages.reference,
        "low": stages.low,
        "high": stages.high,
        "unit": model.unit,
        "half": model.half.value,
        "as": [each.value for each in reversed(model.a)],
        "bs": [each.value for each in reversed(model.b)],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


_WRITERS: Final[dict[str, Callable[[WdlModel], str]]] = {
    "c++": _cpp,
    "python": _python,
    "json": _json,
}
