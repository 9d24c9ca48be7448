# SPDX-License-Identifier: Apache-2.0
"""WDL model: win, draw and loss probabilities as a function of the score and the game stage."""

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
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import Estimate, logistic

Array = NDArray[np.float64]

_STEPS: Final = 200
_SETTLED: Final = 1e-14
"""Convergence tolerance: expected gain of the next step per position."""
_WITHIN: Final = 0.9
"""Maximum step, as a share of the distance to the boundary where a or b is 0."""
_LEAST: Final = 1e-4
"""Lower bound of a and b at any stage, as a share of their means."""
_CHECKED: Final = 200
"""Number of extra stages at which a and b must be positive."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Counts of wins, draws and losses by score and stage."""

    stages: Array
    """The distinct stages, ascending."""
    at: NDArray[np.int64]
    """Index of each row's stage."""
    scores: Array
    won: Array
    drawn: Array
    lost: Array

    @classmethod
    def counted(
        cls, scores: Array, stages: Array, results: NDArray[Any], weights: Array
    ) -> "Outcomes":
        """Count positions with equal score and stage."""
        distinct, at = np.unique(stages, return_inverse=True)
        order = np.lexsort((scores, at))
        at, scores = at[order], scores[order]
        new = np.ones(len(at), dtype=bool)
        new[1:] = (np.diff(at) != 0) | (np.diff(scores) != 0)
        first, counts = np.flatnonzero(new), weights[order]
        won, lost = results[order] == 1, results[order] == 0
        sums = [
            np.add.reduceat(np.where(which, counts, 0.0), first)
            for which in (won, ~(won | lost), lost)
        ]
        return cls(distinct, at[first].astype(np.int64), scores[first], *sums)

    @property
    def total(self) -> float:
        """Total weight of the positions."""
        return float(self.won.sum() + self.drawn.sum() + self.lost.sum())


class Slopes(NamedTuple):
    """First and second derivatives of log-likelihoods with respect to a and b."""

    a: Array
    b: Array
    aa: Array
    ab: Array
    bb: Array


class Maximum(NamedTuple):
    """Maximum-likelihood coefficients of 1, x, x² … with x = stage / reference."""

    a: Array
    b: Array
    loss: float
    """Negative log-likelihood per position."""
    steps: int
    converged: bool


def log_likelihoods(a: Array, b: Array, outcomes: Outcomes) -> Array:
    """Compute the log-likelihood of each row, with a and b per row."""
    ahead, behind = (outcomes.scores - a) / b, (-outcomes.scores - a) / b
    win, loss = -np.logaddexp(0, -ahead), -np.logaddexp(0, -behind)
    twice = 2 * a / b
    # 1 - win - loss = (exp(2κ) - 1) · win · loss avoids cancellation.
    draw = twice + np.log(-np.expm1(-twice)) + win + loss
    return np.asarray(outcomes.won * win + outcomes.drawn * draw + outcomes.lost * loss)


def slopes(a: Array, b: Array, outcomes: Outcomes) -> Slopes:
    """Compute the derivatives of each row's log-likelihood."""
    v, kappa = outcomes.scores, a / b
    win, loss = _logistic((v - a) / b), _logistic((-v - a) / b)
    up, down = outcomes.won + outcomes.drawn, outcomes.lost + outcomes.drawn
    gone = np.exp(-2 * kappa)
    rest = -np.expm1(-2 * kappa)
    # Derivatives with respect to κ and β, in which the log-likelihood is concave.
    k = outcomes.drawn * 2 / rest - up * (1 - win) - down * (1 - loss)
    s = v * (up * (1 - win) - down * (1 - loss))
    bent_win, bent_loss = up * win * (1 - win), down * loss * (1 - loss)
    kk = -bent_win - bent_loss - outcomes.drawn * 4 * gone / rest**2
    ks = v * (bent_win - bent_loss)
    ss = -(v**2) * (bent_win + bent_loss)
    # Chain rule to a and b: κ = a / b, β = 1 / b.
    return Slopes(
        k / b,
        -(k * kappa + s / b) / b,
        kk / b**2,
        -(kk * kappa + ks / b + k) / b**2,
        (kk * kappa**2 + 2 * kappa * ks / b + ss / b**2 + 2 * kappa * k + 2 * s / b) / b**2,
    )


def greatest_likelihood(outcomes: Outcomes, reference: float, degree: int) -> Maximum:
    """Fit the polynomials by maximum likelihood, one degree after the other.

    Each degree starts from the optimum of the degree below: from the constants, the first step
    may lead to a or b near 0.

    Pre: there are wins or losses, draws, and more stages than the degree.
    """
    powers = (outcomes.stages / reference)[:, None] ** np.arange(degree + 1)
    counts = np.bincount(
        outcomes.at, outcomes.won + outcomes.drawn + outcomes.lost, len(outcomes.stages)
    )
    # An orthogonal basis decorrelates the coefficients.
    triangle = np.linalg.qr(powers * np.sqrt(counts / counts.sum())[:, None])[1]
    basis = np.linalg.solve(triangle.T, powers.T).T
    first, last = outcomes.stages[0] / reference, outcomes.stages[-1] / reference
    between = np.linspace(first, last, _CHECKED)[:, None] ** np.arange(degree + 1)
    checked = np.concatenate([basis, np.linalg.solve(triangle.T, between.T).T])
    start = constants(outcomes)
    # The basis starts with a constant; each lower degree uses a prefix of it.
    at = np.array([start.a[0], start.b[0]]) * triangle[0, 0]
    loss, steps, converged = start.loss, start.steps, start.converged
    for width in range(2, degree + 2) if converged else ():
        longer = np.pad(at.reshape(2, -1), ((0, 0), (0, 1))).ravel()
        optimum, loss, more, converged = _climbed(
            outcomes, basis[:, :width], checked[:, :width], longer
        )
        steps += more
        at = optimum if converged else longer
    a, b = np.linalg.solve(triangle[: at.size // 2, : at.size // 2], at.reshape(2, -1).T).T
    return Maximum(a, b, loss, steps, converged)


def constants(outcomes: Outcomes) -> Maximum:
    """Fit constant a and b by maximum likelihood."""
    spread = float(np.sqrt(np.average(outcomes.scores**2, weights=_counts(outcomes)))) or 1.0
    share = float(outcomes.drawn.sum()) / outcomes.total
    # At a score of 0 the draw probability is tanh(κ / 2).
    kappa = 2 * np.arctanh(min(max(share, 0.01), 0.99))
    one = np.ones((len(outcomes.stages), 1))
    at = np.array([kappa * spread, spread])
    optimum, loss, steps, converged = _climbed(outcomes, one, one, at)
    return Maximum(optimum[:1], optimum[1:], loss, steps, converged)


def _climbed(
    outcomes: Outcomes, basis: Array, checked: Array, at: Array
) -> tuple[Array, float, int, bool]:
    """Minimize the loss per position by Newton's method, damped where it is not convex."""
    total, width = outcomes.total, basis.shape[1]
    floor = _LEAST * (checked @ at.reshape(2, -1).T).mean(axis=0)

    def loss_at(theta: Array) -> float:
        a, b = (basis @ half for half in theta.reshape(2, -1))
        if (checked @ theta.reshape(2, -1).T < floor).any():
            return np.inf
        likelihoods = log_likelihoods(a[outcomes.at], b[outcomes.at], outcomes)
        return -float(likelihoods.sum()) / total

    loss, damping = loss_at(at), 0.0
    for step_number in range(_STEPS):
        gradient, curvature = _downhill(outcomes, basis, at)
        gradient, curvature = gradient / total, curvature / total
        # Scale by the magnitudes of a's and b's coefficients.
        unit = np.repeat([1 / max(np.abs(half).max(), 1e-300) for half in at.reshape(2, -1)], width)
        scaled = curvature / np.outer(unit, unit)
        least = float(np.linalg.eigvalsh(scaled)[0])
        top = max(float(np.abs(scaled).max()), 1e-300)
        is_bowl = least > 1e-13 * top
        if is_bowl:
            gain = float(gradient @ np.linalg.solve(curvature, gradient))
            if gain < _SETTLED:
                return at, loss, step_number, True
        while True:
            lift = max(0.0, 1e-6 * top - least) + damping * top
            step = -np.linalg.solve(scaled + lift * np.eye(len(at)), gradient / unit) / unit
            beyond = at + _inside(checked, at, step) * step
            beyond_loss = loss_at(beyond)
            if beyond_loss < loss:
                damping = damping / 10 if damping > 1e-9 else 0.0
                break
            if damping > 1e9:
                # Any gain is below rounding error.
                return at, loss, step_number, is_bowl and gain < 1e-10
            damping = max(damping * 10, 1e-6)
        at, loss = beyond, beyond_loss
    return at, loss, _STEPS, False


def _downhill(outcomes: Outcomes, basis: Array, at: Array) -> tuple[Array, Array]:
    """Compute the gradient and Hessian of the negative log-likelihood."""
    a, b = (basis @ half for half in at.reshape(2, -1))
    by_stage = [
        np.bincount(outcomes.at, each, len(outcomes.stages))
        for each in slopes(a[outcomes.at], b[outcomes.at], outcomes)
    ]
    gradient = -np.concatenate([basis.T @ each for each in by_stage[:2]])
    aa, ab, bb = (-(basis * each[:, None]).T @ basis for each in by_stage[2:])
    return gradient, np.block([[aa, ab], [ab.T, bb]])


def _inside(checked: Array, at: Array, step: Array) -> float:
    """Largest share of a step, at most 1, that keeps a and b positive at all stages."""
    now, change = checked @ at.reshape(2, -1).T, checked @ step.reshape(2, -1).T
    falls = change < 0
    if not falls.any():
        return 1.0
    return min(1.0, _WITHIN * float((now[falls] / -change[falls]).min()))


def _counts(outcomes: Outcomes) -> Array:
    return outcomes.won + outcomes.drawn + outcomes.lost


def _logistic(x: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


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
            raise StudyError(f"'{name}' is a number at none of the positions")
        low, middle, high = np.quantile(present, [0.005, 0.5, 0.995], method="nearest").tolist()
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

    def normalised(self, scores: NDArray[Any] | float) -> Reals:
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
    """Fit the model by maximum likelihood, with intervals by cluster bootstrap over games.

    `stages` has one number per position. Positions outside of `along`, mates, and scores beyond
    `most` (default: four times the score that wins half of the games) are excluded. Each resample
    takes one Newton step from the full fit, with its own gradient and the full Hessian. The default
    `degree` is 3, or the highest lower degree whose fit converges.
    """
    if sample.unit == VALUE:
        raise StudyError(f"{sample.name} tells values, not scores: see calibrate")
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
