# SPDX-License-Identifier: Apache-2.0
"""The likelihood of WDL models and its maximum."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.math import logistic

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
    win, loss = logistic((v - a) / b), logistic((-v - a) / b)
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
    """Minimize the loss per position by Newton's method, damped where it is not convex.

    Unlike `damped_newton`, it adds to the Hessian, as in a trust region.
    """
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
