# SPDX-License-Identifier: Apache-2.0
"""Sigmoids fitted to results: maximum likelihood and least squares, with errors clustered by game.

The model is Takeuchi 2010's, win probability = 1 / (1 + exp(-w0 · (e + Σ w_k f_k))), with β_0 = w0
and β_k = w0 · w_k. In this form the exponent is linear, so the likelihood has one maximum, which
Newton's method finds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import damped_newton, logistic

Method = Literal["mlm", "ls"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)

_STEPS: Final = 200
_SETTLED: Final = 1e-15
"""Convergence tolerance: the expected gain of the next step, per position."""
_DEPENDENT: Final = 1e-8
"""Minimum share of a column's length that is orthogonal to the other columns."""
_FLAT: Final = 1e-12
"""Curvature per position below which a weight is not identified."""
_ROUNDING: Final = 1e-12
"""Gain per position below the rounding error."""
_CERTAIN: Final = 10.0
"""Log odds above which perfect separation is tested."""
_ROWS_AT_ONCE: Final = 2000
_ON_THE_LINE: Final = 1e-7
"""Tolerance of the linear program."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SigmoidFit:
    """The coefficients of a sigmoid and their covariance."""

    coefficients: Array
    covariance: Array
    """Cluster-robust sandwich estimate over games, with the factor G / (G - 1)."""


def fit_sigmoid(
    design: Array,
    results: Array,
    games: NDArray[np.int64],
    *,
    names: Sequence[str],
    method: Method = "mlm",
) -> SigmoidFit:
    """Fit results, 0 to 1, by the sigmoid of a weighted sum of the design's columns.

    `mlm` maximizes the logistic likelihood; `ls` minimizes the squared error, starting there.
    `games` numbers the game of each row. Raises StudyError, naming the column if there is one, for
    non-finite numbers, constant or collinear columns, equal results, and perfect separation.

    >>> column = np.array([[-1.0], [1.0], [1.0], [-1.0]])
    >>> fit = fit_sigmoid(column, np.array([0.0, 1, 0, 0]), np.arange(4), names=["x"])
    >>> round(float(np.exp(fit.coefficients[0])), 9)
    3.0
    """
    _check(design, results, names)
    whitening = _whitening(design, names)
    columns = design @ whitening
    coefficients = _newton(columns, results)
    if method == "ls":
        coefficients = _levenberg_marquardt(columns, results, coefficients)
    covariance = _sandwich(columns, results, games, coefficients, method)
    return SigmoidFit(whitening @ coefficients, whitening @ covariance @ whitening.T)


def log_losses(logits: Array, results: Array) -> Array:
    """Compute the negative log-likelihood of each result."""
    return np.asarray(np.logaddexp(0, logits) - results * logits)


def interval_reach(games: int, confidence: float) -> float:
    """Compute the half-width of an interval in standard errors estimated from `games`.

    >>> round(interval_reach(10, 0.95), 3)  # Student's t with 9 degrees of freedom
    2.262
    """
    from scipy.stats import t  # noqa: PLC0415 - it takes a second to import

    return float(t.ppf((1 + confidence) / 2, max(games - 1, 1)))


def by_game(rows: Array, games: NDArray[np.int64]) -> Array:
    """Sum the rows of each game, in the order of game numbers."""
    dense = np.unique(games, return_inverse=True)[1]
    return np.stack([np.bincount(dense, column) for column in rows.T], axis=1)


def _check(design: Array, results: Array, names: Sequence[str]) -> None:
    if len(design) == 0:
        raise StudyError("there are no positions to fit")
    for name, column in zip(names, design.T, strict=True):
        unknown = int((~np.isfinite(column)).sum())
        if unknown:
            raise StudyError(f"'{name}' is not finite at {unknown:,} positions")
    if not ((results >= 0) & (results <= 1)).all():
        raise StudyError("results must be numbers from 0 to 1")
    if (results == results[0]).all():
        what = {1.0: "won by the first player", 0.0: "lost by the first player"}
        raise StudyError(
            f"all positions are from games {what.get(float(results[0]), 'with the same result')}: "
            "there is nothing to fit"
        )


def _whitening(design: Array, names: Sequence[str]) -> Array:
    """Compute the matrix that whitens the columns to length √n; refuse collinear ones."""
    from scipy.linalg import qr, solve_triangular  # noqa: PLC0415 - it takes a second to import

    for name, column in zip(names, design.T, strict=True):
        if len(design) > 1 and (column == column[0]).all():
            raise StudyError(f"'{name}' is {column[0]:g} at all positions: there is nothing to fit")
    lengths = np.linalg.norm(design, axis=0)
    triangle = np.linalg.qr(design / lengths, mode="r")
    pivoted, order = qr(triangle, mode="r", pivoting=True)
    own = np.zeros(len(names))  # the part of each column that is orthogonal to those before it
    own[: min(pivoted.shape)] = np.abs(np.diag(pivoted))
    redundant = np.flatnonzero(own < _DEPENDENT)
    if len(redundant):
        rank = int(redundant[0])
        shares = solve_triangular(pivoted[:rank, :rank], pivoted[:rank, rank])
        others = [f"'{names[order[i]]}'" for i in np.flatnonzero(np.abs(shares) > 1e-6)]
        raise StudyError(
            f"'{names[order[rank]]}' is a combination of {', '.join(others)} at these positions: "
            "leave one of them out"
        )
    inverse = solve_triangular(triangle, np.eye(len(names))) * np.sqrt(len(design))
    return np.asarray(inverse / lengths[:, None])


def _newton(columns: Array, results: Array) -> Array:
    """Maximize the likelihood by Newton steps. Pre: columns are orthogonal, with length √n.

    Step halving guarantees progress, so the maximum is found if it exists. Where some results look
    certain, a test for perfect separation decides whether it exists.
    """
    count, width = columns.shape

    def evaluate(at: Array) -> tuple[float, Array]:
        logits = columns @ at
        return float(log_losses(logits, results).mean()), logits

    def newton_step(_at: Array, logits: Array) -> tuple[Array, bool]:
        expected = logistic(logits)
        gradient = columns.T @ (results - expected) / count
        curvature = (columns * (expected * (1 - expected))[:, None]).T @ columns / count
        step = np.linalg.solve(curvature, gradient)
        return step, bool(gradient @ step < _SETTLED)

    at, converged = damped_newton(np.zeros(width), evaluate, newton_step, steps=_STEPS)
    certain = np.abs(columns @ at) > _CERTAIN
    if not converged:
        certain[:] = True
    if certain.any() and _is_separated(columns, results, certain):
        raise StudyError(
            "perfect separation: the likelihood has no maximum; add more games, or remove terms"
        )
    if not converged:
        raise StudyError("the likelihood's maximum was not found: add more games, or remove terms")
    return at


def _solved(matrix: Array, right: Array) -> Array | None:
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return None


def _is_separated(columns: Array, results: Array, certain: NDArray[np.bool_]) -> bool:
    """Whether a direction separates the results, so that the likelihood has no maximum.

    Such a direction b has x·b >= 0 at wins, <= 0 at losses and 0 at draws, not all of them 0. A
    linear program searches for it on a subset of the positions and adds violated ones until b
    satisfies all positions or does not exist.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - it takes a second to import

    drawn = (results > 0) & (results < 1)
    signed = np.concatenate(
        [np.where(results[:, None] > 0, columns, -columns), -columns[drawn]], axis=0
    )
    lengths = np.linalg.norm(signed, axis=1, keepdims=True)
    signed /= np.where(lengths > 0, lengths, 1)  # only the sign matters
    goal = -signed[: len(columns)][certain & ~drawn].sum(axis=0)
    chosen = np.zeros(len(signed), dtype=bool)
    chosen[:: max(1, len(signed) // _ROWS_AT_ONCE)] = True
    while True:
        program = linprog(goal, A_ub=-signed[chosen], b_ub=np.zeros(chosen.sum()), bounds=(-1, 1))
        if program.status != 0 or -program.fun < _ON_THE_LINE or np.abs(program.x).max() < 0.5:
            return False
        sides = signed @ program.x
        wrong = np.flatnonzero((sides < -_ON_THE_LINE) & ~chosen)
        if not len(wrong):
            return True
        chosen[wrong[np.argsort(sides[wrong])[:_ROWS_AT_ONCE]]] = True


def _levenberg_marquardt(columns: Array, results: Array, start: Array) -> Array:
    """Minimize the squared error near `start`.

    Raises StudyError if there is no minimum: when a few results contradict all others, the error
    may decrease forever as the sigmoid approaches a step.
    """
    count, width = columns.shape
    at, damping = start, 1e-3
    error = float(np.square(results - logistic(columns @ at)).mean())
    for _ in range(_STEPS):
        expected = logistic(columns @ at)
        slope = expected * (1 - expected)
        surprise = results - expected
        gradient = columns.T @ (slope * surprise) / count
        bend = slope * slope - surprise * slope * (1 - 2 * expected)
        curvature = (columns * bend[:, None]).T @ columns / count
        least = float(np.linalg.eigvalsh(curvature)[0])
        step = _solved(curvature, gradient) if least > _FLAT else None
        gain = np.inf if step is None else float(gradient @ step)
        if gain < _SETTLED:
            return at
        while True:
            damped = curvature + (damping + max(0.0, -least)) * np.eye(width)
            step = np.linalg.solve(damped, gradient)
            beyond = float(np.square(results - logistic(columns @ (at + step))).mean())
            if beyond < error:
                damping /= 10
                break
            if np.abs(step).max() < 1e-10:
                if gain < _ROUNDING:
                    return at
                raise _no_minimum_error()
            damping *= 10
        at, error = at + step, beyond
    raise _no_minimum_error()


def _no_minimum_error() -> StudyError:
    return StudyError(
        "the squared error has no minimum near the maximum-likelihood weights: "
        "fit by mlm, add more games, or remove terms"
    )


def _sandwich(
    columns: Array, results: Array, games: NDArray[np.int64], at: Array, method: Method
) -> Array:
    """Compute the cluster-robust covariance of the coefficients."""
    expected = logistic(columns @ at)
    surprise = results - expected
    slope = expected * (1 - expected)
    if method == "mlm":
        pull, bend = surprise, slope
    else:
        pull = surprise * slope
        bend = slope * slope - surprise * slope * (1 - 2 * expected)
    curvature = (columns * bend[:, None]).T @ columns
    pulls = by_game(columns * pull[:, None], games)
    count = len(pulls)
    if count <= columns.shape[1]:
        raise StudyError(
            f"{columns.shape[1]} coefficients cannot be fitted to {count} games: add more games"
        )
    bread = np.linalg.inv(curvature)
    return np.asarray(bread @ (pulls.T @ pulls) @ bread * (count / (count - 1)))
