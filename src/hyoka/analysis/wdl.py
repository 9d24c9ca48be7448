# SPDX-License-Identifier: Apache-2.0
"""Win, draw and loss as a function of the score and of how far the game has come.

The model that Stockfish made common: a win has the probability 1 / (1 + exp((a - v) / b)) at score
v, a loss the same at -v, and a draw what is left; a, the score that wins half of the games, and b
are cubic polynomials of the stage m, a move number or an amount of material.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import NDArray

from hyoka._core import resampled_sums
from hyoka.analysis.resampling import Resampling, interval
from hyoka.analysis.sample import VALUE, Reals, Sample
from hyoka.analysis.wdl_code import model_code
from hyoka.analysis.wdl_likelihood import Maximum, Outcomes, constants, greatest_likelihood, slopes
from hyoka.errors import ParameterError, StudyError
from hyoka.estimate import Estimate

DEGREE: Final = 3
NO_MODEL: Final[dict[str, str]] = {
    "no scores": "it tells no scores of these positions",
    "no draws": "none of the games is drawn, and the model is about draws too: see calibrate",
    "all drawn": "all of the games are drawn",
    "backwards": "greater scores do not go with more wins",
    "parted": "the scores part wins, draws and losses without an overlap",
    "few stages": "there are too few stages of the game for polynomials of this degree",
    "few games": "there are fewer games than coefficients",
    "diverged": "the fit did not come to an end; try fewer degrees, or fewer stages",
}
"""Why no model fits best, in words."""
_BEYOND: Final = 4.0
"""Times the score that wins half of the games: beyond it scores are left out unless said."""
_ROWS_AT_ONCE: Final = 200_000
_GRID: Final = (24, 20)
"""Cells of what the pictures show of the data: by score and by stage."""
_GREATEST: Final = float(np.finfo(np.float32).max)
"""No score of a sample is greater."""


@dataclass(frozen=True, kw_only=True)
class Stages:
    """What a model follows the game by, and the stages that it is fitted to."""

    name: str
    """`move`, or an SQL expression."""
    reference: float
    """At this stage scores are normalised: 100 wins half of the games."""
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
        """Those between the outermost half percent of positions, about their median."""
        known = stages.astype(np.float64)
        known = known[np.isfinite(known)]
        if not len(known):
            raise StudyError(f"'{name}' is a number at none of the positions")
        low, middle, high = np.quantile(known, [0.005, 0.5, 0.995], method="nearest").tolist()
        if between is not None:
            low, high = map(float, between)
        if reference is None:
            reference = min(max(middle, low), high)
            if not reference > 0:
                raise ParameterError("at", f"is a stage above 0: the median of {name} is not")
        if low == high:
            raise StudyError(f"'{name}' is {low:g} at nearly all positions: it tells no stages")
        return cls(name=name, reference=reference, low=low, high=high)


class Grid(NamedTuple):
    """How often what happened, in cells of scores and stages, as pictures show it."""

    scores: Reals
    stages: Reals
    """The cells' edges."""
    won: Reals
    drawn: Reals
    positions: Reals
    """By score and stage."""


@dataclass(frozen=True, eq=False)
class WdlModel:
    """A model of one evaluator, of all positions or those of a condition.

    Coefficients are of 1, x, x² and x³ with x = stage / reference: their sum is the value there.
    """

    name: str
    unit: str
    condition: str
    stages: Stages
    most: float
    """Scores beyond it, either side, were left out."""
    a: tuple[Estimate, ...]
    b: tuple[Estimate, ...]
    half: Estimate
    """The score that wins half of the games at the reference stage, or the nearest fitted to."""
    spread: Estimate
    """b there."""
    draws: Estimate
    """The share of draws at a score of 0 there."""
    loss: float
    """Minus the log-likelihood, a position."""
    positions: int
    games: int
    verdict: str
    """`fits`, or a key of `NO_MODEL`."""
    grid: Grid = field(repr=False)
    drawn: Reals = field(repr=False)
    """Coefficients of a, then of b, in resamples of games: a row each."""

    @property
    def converged(self) -> bool:
        """Whether there is a model that fits best, and it was found."""
        return self.verdict == "fits"

    @property
    def why_none(self) -> str:
        """Why no model fits, in words; empty where one does."""
        return NO_MODEL.get(self.verdict, "")

    def polynomials(self, stages: NDArray[Any] | float) -> tuple[Reals, Reals]:
        """A and b at stages; beyond those it was fitted to, as at the nearest."""
        within = np.clip(np.asarray(stages, np.float64), self.stages.low, self.stages.high)
        x = within / self.stages.reference
        a, b = ([each.value for each in side] for side in (self.a, self.b))
        return np.asarray(polyval(x, a), np.float64), np.asarray(polyval(x, b), np.float64)

    def probabilities(
        self, scores: NDArray[Any] | float, stages: NDArray[Any] | float
    ) -> tuple[Reals, Reals, Reals]:
        """Of a win, a draw and a loss."""
        a, b = self.polynomials(stages)
        v = np.asarray(scores, np.float64)
        with np.errstate(over="ignore"):
            win, loss = 1 / (1 + np.exp((a - v) / b)), 1 / (1 + np.exp((a + v) / b))
        return win, 1 - win - loss, loss

    def normalised(self, scores: NDArray[Any] | float) -> Reals:
        """Scores of which 100 wins half of the games at the reference stage."""
        return np.asarray(100 * np.asarray(scores, np.float64) / self.half.value)

    def contour(self, outcome: str, share: float, stages: Sequence[float]) -> Reals:
        """The scores at which wins (or draws: the one above 0) have a probability, by stage.

        NaN where draws never have it.
        """
        a, b = self.polynomials(np.asarray(stages))
        if outcome == "win":
            return np.asarray(a + b * math.log(share / (1 - share)))
        with np.errstate(invalid="ignore", over="ignore"):
            # 1 - win - loss = sinh κ / (cosh κ + cosh(v / b))
            return np.asarray(b * np.arccosh(np.sinh(a / b) / share - np.cosh(a / b)))

    def code(self, language: str) -> str:
        """The model as C++, Python or JSON text: `c++`, `python`, `json`."""
        if not self.converged:
            raise StudyError(f"no model fits: {self.why_none}")
        return model_code(language, self)


def fit_wdl_model(  # noqa: PLR0913 - a keyword for each choice
    sample: Sample,
    stages: NDArray[Any],
    along: Stages,
    *,
    most: float | None = None,
    degree: int | None = None,
    condition: str = "",
    resampling: Resampling | None = None,
) -> WdlModel:
    """The model of greatest likelihood, with intervals that draw whole games again.

    `stages` is a number a position; those outside of `along` are left out, and so are mates and
    scores beyond `most` (four times the score that wins half of the games). Each resample is one
    step of Newton's method from the model of all games, by its own gradient. Without a `degree`
    the polynomials are cubic, or of the highest degree whose fit comes to an end.
    """
    if sample.unit == VALUE:
        raise StudyError(f"{sample.name} tells values, not scores: see calibrate")
    if degree is not None and degree < 0:
        raise ParameterError("degree", f"is 0 or more, not {degree}")
    resampling = resampling or Resampling()
    at = stages.astype(np.float64)
    used = np.isfinite(sample.values) & (at >= along.low) & (at <= along.high)
    if most is None:
        most = usual_most(sample.where(used))
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
    """The best model and a verdict; if no degree is asked for, of the highest that has one."""
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


def usual_most(sample: Sample) -> float:
    """Four times the score that wins half of the games, whenever; all scores where none does.

    By the middle nine tenths of the scores, so that a few wild ones have no say.
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
    """Why there can be no model; empty where there may be one."""
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
    """Coefficients in resamples of games; NaN where one has no model with a and b above 0 here."""
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
    # A resample's own curvature may be nearly flat, and its step then leads anywhere.
    size = np.sqrt(np.maximum(np.diag(curvature), 1e-300))
    found = theta + np.linalg.solve(curvature / np.outer(size, size), (drawn / size).T).T / size
    at_here = here ** np.arange(width)
    sane = (found[:, :width] @ at_here > 0) & (found[:, width:] @ at_here > 0)
    found[~sane] = math.nan
    return found


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
