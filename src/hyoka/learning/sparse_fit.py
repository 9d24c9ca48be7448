# SPDX-License-Identifier: Apache-2.0
"""Weights of many sparse features fitted to results: Newton's method, with L1, L2 and bounds.

The objective is the sum of the losses plus l1 · Σ|β - π| + l2 / 2 · Σ(β - π)² for the initial β, π.
Each step minimizes the quadratic model under the bounds and L1, and must decrease the objective. On
many positions, the first steps use the Hessian of a sample; the last ones use the full Hessian,
which the errors need too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import StudyError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hyoka._core import FeatureRows

Array = NDArray[np.float64]

MOST_WEIGHTS: Final = 6000
"""The Hessian of that many weights takes 288 MB."""
_STEPS: Final = 100
_SETTLED: Final = 1e-14
"""Convergence tolerance: the expected gain of the next step, per position."""
_ROUNDING: Final = 1e-11
"""Gain per position below the rounding error of the loss."""
_SAMPLED_ROWS: Final = 400_000
"""Sample size for the Hessian of the first steps."""
_SAMPLED_STEPS: Final = 15
_NEAR: Final = 1e-8
"""Gain per position below which the Hessian is reused."""
_SELDOM: Final = 100
"""Minimum occurrences of a feature in the sample to estimate its curvature."""
_DEPENDENT: Final = 1e-10
"""Eigenvalue of the scaled Hessian below which features are collinear."""
_CERTAIN: Final = 1e-5
"""Curvature, relative to even chances, below which a feature separates perfectly."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SparseProblem:
    """The fitting problem: rows, the coefficients β of their weights, bounds and penalties."""

    rows: "FeatureRows" = field(repr=False)
    names: Sequence[str] = field(repr=False)
    places: "csr_array" = field(repr=False)
    """The rows' weights are `fixed + places @ β`."""
    fixed: Array = field(repr=False)
    start: Array = field(repr=False)
    """The initial β, toward which L1 and L2 shrink."""
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    penalised: NDArray[np.bool_] = field(repr=False)
    l1: float = 0.0
    l2: float = 0.0
    squared: bool = False
    threads: int = 1

    def weights(self, beta: Array) -> Array:
        """Compute the weights of the rows."""
        return np.asarray(self.fixed + self.places @ beta, np.float64)

    def penalty(self, beta: Array) -> float:
        """Compute the L1 and L2 penalty."""
        away = (beta - self.start)[self.penalised]
        return float(self.l1 * np.abs(away).sum() + self.l2 / 2 * (away @ away))

    def loss_slope(self, beta: Array) -> tuple[float, Array, int]:
        """Compute the penalized loss, its gradient without L1, and the number of rows."""
        loss, gradient, rows = self.rows.loss_slope(self.weights(beta), self.squared, self.threads)
        own = np.asarray(self.places.T @ gradient, np.float64)
        own += np.where(self.penalised, self.l2 * (beta - self.start), 0.0)
        return loss + self.penalty(beta), own, rows

    def curvature(self, beta: Array, *, exact: bool = False, step: int = 1) -> Array:
        """Compute the Hessian of the losses and L2."""
        full = self.rows.curvature(self.weights(beta), self.squared, exact, step, self.threads)
        own = np.asarray(self.places.T @ (self.places.T @ full).T, np.float64)
        own[np.diag_indices_from(own)] += np.where(self.penalised, self.l2, 0.0)
        return own


@dataclass(frozen=True, eq=False)
class SparseFit:
    """Fitted coefficients with their Hessian and loss."""

    beta: Array
    free: NDArray[np.bool_]
    """Coefficients that occur and are neither at a bound nor held by L1."""
    seen: NDArray[np.bool_]
    """Coefficients whose features occur."""
    curvature: Array = field(repr=False)
    loss: float
    """Mean loss per position, without the penalty."""
    rows: int
    steps: int


def fit_sparse(
    problem: SparseProblem, on_step: Callable[[int, float], None] | None = None
) -> SparseFit:
    """Minimize the loss; call `on_step` with each step's number and expected gain per position.

    Raises StudyError, with names, if features are collinear or separate the results perfectly, and
    if the minimum was not found.
    """
    seen = np.asarray(abs(problem.places).T @ _per_weight(problem, problem.rows.occurrences(1)) > 0)
    held = ~seen & ~(problem.penalised & (problem.l2 > 0))
    every = max(1, len(problem.rows) // _SAMPLED_ROWS)
    even = problem.curvature(np.zeros_like(problem.start), step=every)
    if problem.l1 == 0:  # else L1 may choose between them
        _refuse_dependent(problem, even + np.diag(_seldom(problem, every)), ~held)
    descent = _Descent(problem, held, on_step)
    beta = np.clip(problem.start, problem.low, problem.high)
    if every > 1:
        beta, _ = descent.down(beta, every, _SAMPLED_STEPS, _NEAR)
    beta, converged = descent.down(beta, 1, _STEPS, _SETTLED)
    free = _free(problem, beta, held)
    exact = problem.squared or descent.curvature is None
    curvature = problem.curvature(beta, exact=True) if exact else descent.curvature
    assert curvature is not None
    _refuse_certain(problem, curvature, even, free)
    if not converged:
        raise _no_minimum()
    if problem.l1 > 0:
        _refuse_dependent(problem, curvature, free)
    loss, _, rows = problem.loss_slope(beta)
    loss -= problem.penalty(beta)
    return SparseFit(beta, free, seen, curvature, loss / rows, rows, descent.steps)


class _Descent:
    """Newton descent that may reuse a nearby Hessian."""

    def __init__(
        self,
        problem: SparseProblem,
        held: NDArray[np.bool_],
        on_step: Callable[[int, float], None] | None,
    ) -> None:
        self._problem, self._held, self._on_step = problem, held, on_step
        self.steps = 0
        self.curvature: Array | None = None
        """The last full Hessian."""

    def down(self, beta: Array, every: int, most: int, settled: float) -> tuple[Array, bool]:
        """Descend by at most `most` steps until the gain falls below `settled`."""
        problem = self._problem
        large = len(problem.rows) > _SAMPLED_ROWS
        loss, gradient, rows = problem.loss_slope(beta)
        if rows == 0:
            raise StudyError("no position is left to fit")
        seldom = _seldom(problem, every)
        curvature, near, taken_here = None, False, False
        for _ in range(most):
            if curvature is None or not near:
                curvature = problem.curvature(beta, step=every)
                curvature[np.diag_indices_from(curvature)] += seldom
                taken_here = True
                if every == 1:
                    self.curvature = curvature
            step = _quadratic_step(problem, beta, gradient, curvature, self._held)
            expected = _expected_gain(problem, beta, gradient, curvature, step) / rows
            self.steps += 1
            if self._on_step is not None:
                self._on_step(self.steps, expected)
            if expected < settled:
                return (beta + step if every == 1 else beta), True
            # Unlike `damped_newton`: an old Hessian may serve again, and Armijo's rule decides.
            share, gained = 1.0, False
            while share > 1e-6 and not gained:
                beyond = beta + share * step
                new_loss, new_gradient, _ = problem.loss_slope(beyond)
                gained = new_loss <= loss - 1e-4 * share * expected * rows
                share /= 2
            if gained:
                # With many rows, a Hessian costs more than extra steps with an old one.
                near = large and every == 1 and expected < _NEAR and share == 0.5
                taken_here = False
                beta, loss, gradient = beyond, new_loss, new_gradient
            elif taken_here:
                return beta, expected < _ROUNDING
            else:
                near = False
        return beta, False


def _no_minimum() -> StudyError:
    return StudyError(
        "the minimum loss was not found: add games, remove features, or add L2 (l2=1)"
    )


def _per_weight(problem: SparseProblem, counts: NDArray[np.int64]) -> Array:
    """Count the rows that have each weight; the remaining weights are in all rows."""
    width = problem.rows.width
    phases = max(width // max(len(counts), 1), 1) if len(counts) else 1
    of_features = np.repeat(counts, phases)[:width]
    return np.append(of_features, np.full(width - len(of_features), len(problem.rows))).astype(
        np.float64
    )


def _seldom(problem: SparseProblem, every: int) -> Array:
    """Approximate the curvature of features that are rare in a sample, at even chances."""
    if every == 1:
        return np.zeros(len(problem.start))
    all_rows, some = problem.rows.occurrences(1), problem.rows.occurrences(every)
    counts = _per_weight(problem, np.where(some < _SELDOM, all_rows, 0))
    counts[len(some) * (len(counts) // max(len(some), 1)) :] = 0  # the rest is in every row
    return 0.25 * np.asarray(abs(problem.places).T @ counts)


def _quadratic_step(
    problem: SparseProblem,
    beta: Array,
    gradient: Array,
    curvature: Array,
    held: NDArray[np.bool_],
) -> Array:
    """Minimize the quadratic model under the bounds and L1."""
    bounded = np.isfinite(problem.low).any() or np.isfinite(problem.high).any()
    if not bounded and problem.l1 == 0:
        return _solved(curvature, gradient, ~held)
    away = problem.start - beta
    pull = np.where(problem.penalised, problem.l1, 0.0)
    low, high = problem.low - beta, problem.high - beta
    step, slope = np.zeros_like(beta), gradient.copy()
    diagonal = np.maximum(np.diag(curvature), 1e-300)
    loose = np.flatnonzero(~held)
    for _ in range(60):
        for _ in range(3):
            for k in loose:
                goal = step[k] - slope[k] / diagonal[k]
                if pull[k]:
                    beyond = goal - away[k]
                    goal = away[k] + np.sign(beyond) * max(abs(beyond) - pull[k] / diagonal[k], 0.0)
                goal = min(max(goal, low[k]), high[k])
                if goal != step[k]:
                    slope += (goal - step[k]) * curvature[:, k]
                    step[k] = goal
        exact = _on_active_set(gradient, curvature, step, (low, high, away, pull), held)
        if exact is not None:
            return exact
    return step


def _on_active_set(
    gradient: Array,
    curvature: Array,
    step: Array,
    limits: tuple[Array, Array, Array, Array],
    held: NDArray[np.bool_],
) -> Array | None:
    """Compute the exact step for the current active set; None if the set is wrong."""
    low, high, away, pull = limits
    at_low, at_high = step <= low, step >= high
    at_start = (pull > 0) & (step == away)
    free = ~(held | at_low | at_high | at_start)
    sign = np.where(pull > 0, np.sign(step - away), 0.0)
    exact = np.where(held, 0.0, step)
    fixed = exact.copy()
    fixed[free] = 0
    right = gradient + pull * sign + curvature @ fixed
    exact = fixed + _solved(curvature, right, free)
    if ((exact < low) | (exact > high))[free].any():
        return None
    if ((pull > 0) & free & (np.sign(exact - away) != sign)).any():
        return None
    slope = gradient + curvature @ exact
    tolerance = 1e-9 * (np.abs(gradient).max() + 1e-300)
    wrong = at_low & ~at_start & (slope + pull * np.sign(low - away) < -tolerance) & (low < high)
    wrong |= at_high & ~at_start & (slope + pull * np.sign(high - away) > tolerance) & (low < high)
    wrong |= at_start & ~(at_low | at_high) & (np.abs(slope) > pull + tolerance)
    return None if (wrong & ~held).any() else exact


def _solved(curvature: Array, right: Array, free: NDArray[np.bool_]) -> Array:
    """Solve for -curvature⁻¹ · right in the free coefficients, scaled to unit diagonal."""
    step = np.zeros_like(right)
    if not free.any():
        return step
    block = curvature[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(block), 1e-300))
    scaled = block / np.outer(scale, scale)
    try:
        solution = np.linalg.solve(scaled, -right[free] / scale)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(scaled, -right[free] / scale, rcond=1e-12)[0]
    step[free] = solution / scale
    return step


def _expected_gain(
    problem: SparseProblem, beta: Array, gradient: Array, curvature: Array, step: Array
) -> float:
    """Compute the gain of a step in the quadratic model."""
    away = (beta - problem.start)[problem.penalised]
    l1 = problem.l1 * float(np.abs(away).sum() - np.abs(away + step[problem.penalised]).sum())
    return float(-gradient @ step - 0.5 * step @ curvature @ step) + l1


def _free(problem: SparseProblem, beta: Array, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    at_start = (problem.l1 > 0) & problem.penalised & (beta == problem.start)
    return np.asarray(~(held | at_start | (beta <= problem.low) | (beta >= problem.high)))


def _refuse_dependent(problem: SparseProblem, curvature: Array, free: NDArray[np.bool_]) -> None:
    """Raise StudyError if unpenalized features are collinear."""
    loose = free & ~(problem.penalised & (problem.l2 > 0))
    if not loose.any():
        return
    block = curvature[np.ix_(loose, loose)]
    scale = np.sqrt(np.maximum(np.diag(block), 1e-300))
    values, vectors = np.linalg.eigh(block / np.outer(scale, scale))
    if values[0] > _DEPENDENT:
        return
    parts = np.abs(vectors[:, 0])
    names = np.asarray(problem.names, object)[loose]
    worst = [str(names[i]) for i in np.argsort(-parts)[:4] if parts[i] > 0.1 * parts.max()]
    raise StudyError(
        f"{', '.join(worst)}: features are collinear or constant; remove one, freeze one, "
        "or add L2 (l2=1)"
    )


def _refuse_certain(
    problem: SparseProblem, curvature: Array, even: Array, free: NDArray[np.bool_]
) -> None:
    """Raise StudyError if unpenalized features separate the results perfectly."""
    loose = free & ~(problem.penalised & (problem.l2 > 0))
    if problem.l1 > 0 or not loose.any():
        return
    now, then = np.diag(curvature)[loose], np.diag(even)[loose]
    certain = (then > 0) & (now < _CERTAIN * then)
    if certain.any():
        names = np.asarray(problem.names, object)[loose][certain]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise StudyError(
            f"{', '.join(map(str, names[:3]))}{more}: perfect separation: the likelihood has "
            "no maximum; add games, bounds, or L2 (l2=1)"
        )
