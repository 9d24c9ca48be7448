# SPDX-License-Identifier: Apache-2.0
"""Sigmoids fitted to results: maximum likelihood and least squares, with errors by game.

The model is Takeuchi 2010's, win probability = 1 / (1 + exp(-w0 · (e + Σ w_k f_k))), written with
β_0 = w0 and β_k = w0 · w_k: so written it is linear inside, its likelihood has one maximum, and
Newton's method finds it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import logistic

Method = Literal["mlm", "ls"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)

_STEPS: Final = 200
_SETTLED: Final = 1e-15
"""What the next step would still gain, a position: no digit of a coefficient that counts."""
_DEPENDENT: Final = 1e-8
"""Of a column's length, what must be its own."""
_FLAT: Final = 1e-12
"""Curvature a position below which nothing holds a weight where it is."""
_ROUNDING: Final = 1e-12
"""A gain a position that the error's own rounding hides."""
_CERTAIN: Final = 10.0
"""Log odds from which on a result may be one that the columns tell without fail."""
_ROWS_AT_ONCE: Final = 2000
_ON_THE_LINE: Final = 1e-7
"""What a linear program can't tell from 0."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SigmoidFit:
    """The coefficients of a sigmoid and how sure they are."""

    coefficients: Array
    covariance: Array
    """Sandwich over games with G / (G - 1): positions of one game share its result."""


def fit_sigmoid(
    design: Array,
    results: Array,
    games: NDArray[np.int64],
    *,
    names: Sequence[str],
    method: Method = "mlm",
) -> SigmoidFit:
    """Fit results, 0 to 1, by the sigmoid of a weighted sum of the design's columns.

    `mlm` maximises the logistic likelihood; `ls` minimises the squared error, from there on.
    `games` tells which rows share a result. Raises StudyError, with a column's name where one is to
    blame, for numbers that are none, a column that never changes or is a combination of others,
    results that are all the same, and results that the columns tell without fail.

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
    """Minus the log-likelihood of each result."""
    return np.asarray(np.logaddexp(0, logits) - results * logits)


def interval_reach(games: int, confidence: float) -> float:
    """How many standard errors an interval reaches, these being estimated from so many games.

    >>> round(interval_reach(10, 0.95), 3)  # Student's t with 9 degrees of freedom
    2.262
    """
    from scipy.stats import t  # noqa: PLC0415 - it takes a second to import

    return float(t.ppf((1 + confidence) / 2, max(games - 1, 1)))


def by_game(rows: Array, games: NDArray[np.int64]) -> Array:
    """The sums of rows of the same game, games in the order of their numbers."""
    dense = np.unique(games, return_inverse=True)[1]
    return np.stack([np.bincount(dense, column) for column in rows.T], axis=1)


def _check(design: Array, results: Array, names: Sequence[str]) -> None:
    if len(design) == 0:
        raise StudyError("there are no positions to fit on")
    for name, column in zip(names, design.T, strict=True):
        unknown = int((~np.isfinite(column)).sum())
        if unknown:
            raise StudyError(f"'{name}' is no finite number at {unknown:,} positions")
    if not ((results >= 0) & (results <= 1)).all():
        raise StudyError("results are numbers from 0 to 1")
    if (results == results[0]).all():
        what = {1.0: "won by the first player", 0.0: "lost by the first player"}
        raise StudyError(
            f"all positions are from games {what.get(float(results[0]), 'with the same result')}: "
            "there is nothing to fit"
        )


def _whitening(design: Array, names: Sequence[str]) -> Array:
    """What makes the design's columns orthogonal and of the same length; none may be redundant."""
    from scipy.linalg import qr, solve_triangular  # noqa: PLC0415 - it takes a second to import

    for name, column in zip(names, design.T, strict=True):
        if len(design) > 1 and (column == column[0]).all():
            raise StudyError(f"'{name}' is {column[0]:g} at all positions: there is nothing to fit")
    lengths = np.linalg.norm(design, axis=0)
    triangle = np.linalg.qr(design / lengths, mode="r")
    pivoted, order = qr(triangle, mode="r", pivoting=True)
    own = np.zeros(len(names))  # of each column, what the ones before it in this order don't have
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
    """The coefficients of greatest likelihood. Pre: columns are orthogonal, of length √n.

    Steps that go uphill each find the maximum if there is one. Where some results look certain
    there may be none: then it is found out whether the columns tell them without fail.
    """
    count, width = columns.shape
    at = np.zeros(width)
    loss = float(log_losses(columns @ at, results).mean())
    settled = False
    for _ in range(_STEPS):
        expected = logistic(columns @ at)
        gradient = columns.T @ (results - expected) / count
        curvature = (columns * (expected * (1 - expected))[:, None]).T @ columns / count
        step = _solved(curvature, gradient)
        if step is None:
            break
        settled = bool(gradient @ step < _SETTLED)
        if settled:
            at = at + step
            break
        while True:
            beyond = float(log_losses(columns @ (at + step), results).mean())
            if beyond <= loss or np.abs(step).max() < 1e-12:
                break
            step /= 2
        at, loss = at + step, beyond
    certain = np.abs(columns @ at) > _CERTAIN
    if not settled:
        certain[:] = True
    if certain.any() and _told_without_fail(columns, results, certain):
        raise StudyError(
            "the columns tell some results without fail, so that a weight grows without end: "
            "take more games, or fewer terms"
        )
    if not settled:
        raise StudyError("the likelihood's maximum was not found: take more games, or fewer terms")
    return at


def _solved(matrix: Array, right: Array) -> Array | None:
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return None


def _told_without_fail(columns: Array, results: Array, certain: NDArray[np.bool_]) -> bool:
    """Whether some direction never lowers the likelihood of any result and raises a certain one's.

    Then the likelihood has no maximum. Such a direction b has x·b >= 0 where the game was won,
    <= 0 where it was lost and 0 where it was drawn; a linear program looks for it among some of the
    positions, and takes more until it holds at all of them or there is none.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - it takes a second to import

    drawn = (results > 0) & (results < 1)
    signed = np.concatenate(
        [np.where(results[:, None] > 0, columns, -columns), -columns[drawn]], axis=0
    )
    lengths = np.linalg.norm(signed, axis=1, keepdims=True)
    signed /= np.where(lengths > 0, lengths, 1)  # only on which side counts
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
    """The coefficients of least squared error near `start`.

    The error may have no least value: where a few results contradict all others it may fall for
    ever as the sigmoid becomes a step. Raises StudyError then.
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
                raise _no_least_error()
            damping *= 10
        at, error = at + step, beyond
    raise _no_least_error()


def _no_least_error() -> StudyError:
    return StudyError(
        "the squared error has no least value near the most likely weights: "
        "fit by mlm, or take more games, or fewer terms"
    )


def _sandwich(
    columns: Array, results: Array, games: NDArray[np.int64], at: Array, method: Method
) -> Array:
    """The covariance of the coefficients, the games being what chance drew."""
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
            f"{columns.shape[1]} numbers can't be fitted to {count} games: take more games"
        )
    bread = np.linalg.inv(curvature)
    return np.asarray(bread @ (pulls.T @ pulls) @ bread * (count / (count - 1)))
