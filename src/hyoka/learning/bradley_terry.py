# SPDX-License-Identifier: Apache-2.0
"""The generalized Bradley-Terry model: strengths of features in competing teams.

A team's strength is the product of its features' strengths (γ), and its probability of winning is
its share in the sum of all teams' strengths (Coulom 2007; Sato 2010, 3.1). As a prior, each feature
has `prior` wins and `prior` losses against an opponent of strength 1. So strengths stay finite, and
a feature that does not occur has strength 1. The log-posterior is strictly concave: there is
one optimum.

The likelihood alone does not identify every strength. Where each team has exactly one feature of
some group, multiplying the whole group by a factor changes no team's probability; where two
features always occur together, only their product matters. In these flat directions the prior
decides. Its curvature is a million times smaller than that of the games, so first-order optimizers
stall there long before the optimum. Both optimizers therefore end with Newton steps, which handle
flat and steep directions alike, and converge when a Newton step changes no log-strength by more
than `TOLERANCE`.
"""

import os
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import damped_newton, logistic
from hyoka.foundation.progress import OnProgress, Tally

Optimizer = Literal["lbfgs", "mm"]
OPTIMIZERS: Final[tuple[Optimizer, ...]] = ("lbfgs", "mm")
TOLERANCE: Final = 1e-4
"""Convergence tolerance: the largest change of a log-strength in the last Newton step."""
_NEAR_OPTIMUM: Final = 0.1
"""The optimizer hands over to Newton's method when the gradient is this small, in units of the
standard errors of single strengths."""
_CG_STEPS: Final = 500
"""Conjugate-gradient steps for one Newton step."""
_SELDOM: Final = 10
"""Information in a sample below which a feature's curvature estimate is unreliable."""
_CG_ACCURACY: Final = 0.1
"""Error allowed in a Newton step, as a share of `TOLERANCE`."""
_ROUNDS: Final[dict[Optimizer, int]] = {"lbfgs": 500, "mm": 2000}
_ROUNDS_AT_ONCE: Final = 20
_MATRIX: Final = 3_000
"""Number of features whose errors use the joint information matrix."""
_FOR_ERRORS: Final = 20_000
"""Maximum number of competitions in the sample that estimates the information."""

_GREATEST_PRIOR: Final = 1e100
"""Above it, sums over the prior's games overflow."""
_LEAST_BEND: Final = 0.1
"""Minimum curvature assumed for a step."""
_FARTHEST: Final = 20.0
"""Bound of log-strengths, in absolute value."""
_LEAST: Final = 1e-9
"""Information below which a feature counts as having none."""
_ROUNDING: Final = 1e-13
"""Relative rounding error of a log-posterior."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Fitted strengths."""

    strengths: Floats
    """Strengths by feature."""
    errors: Floats
    """Standard error of the log-strength, clustered by game; NaN if the feature never occurs."""
    wins: NDArray[np.int64]
    """Winning teams with the feature."""
    teams: NDArray[np.int64]
    """Teams with the feature."""
    log_likelihood: float
    posterior: tuple[float, ...]
    """Log-posterior after each round."""
    converged: bool

    @property
    def rounds(self) -> int:
        """Number of optimizer rounds."""
        return len(self.posterior)


def fit_bradley_terry(
    competitions: _core.Competitions,
    *,
    optimizer: Optimizer = "lbfgs",
    prior: float = 1.0,
    rounds: int | None = None,
    matrix: int = _MATRIX,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> BradleyTerry:
    """Fit the strengths that maximize the posterior of the results.

    `mm` is minorization-maximization: features of which no team has two are updated together, and
    the posterior never decreases. `lbfgs` needs fewer rounds. Both end with Newton steps at the
    same optimum; `converged` says whether they reached it (see `TOLERANCE`). Errors are sandwich
    estimates clustered by game: joint for the first `matrix` features, and for the others with all
    other strengths fixed.
    """
    if optimizer not in OPTIMIZERS:
        raise ParameterError("optimizer", f"is one of {', '.join(OPTIMIZERS)}, not {optimizer}")
    if not 0 < prior <= _GREATEST_PRIOR:
        raise ParameterError(
            "prior", f"is a positive number up to {_GREATEST_PRIOR:g}, not {prior:g}"
        )
    if not len(competitions):
        raise ParameterError("competitions", "are none: there is nothing to choose from")
    work = _Work(competitions, prior, threads or os.cpu_count() or 1, progress)
    most = _ROUNDS[optimizer] if rounds is None else rounds
    climb = _climb if optimizer == "lbfgs" else _minorize
    logs, converged = climb(work, most), False
    if len(work.posterior) < most:
        preconditioner = _Preconditioner(work, logs, min(matrix, competitions.features))
        logs, converged = _newton(work, logs, preconditioner, most)
    strengths = np.exp(logs)
    likelihood, _ = competitions.expect(strengths, work.threads)
    if not np.isfinite(likelihood):
        raise StudyError("the strengths could not be fitted: they ran away; take a larger prior")
    errors = _errors(work, strengths, min(matrix, competitions.features))
    return BradleyTerry(
        strengths, errors, work.wins, work.teams, likelihood, tuple(work.posterior), converged
    )


class _Work:
    """The posterior of strengths, with the progress of the optimizer."""

    def __init__(
        self,
        competitions: _core.Competitions,
        prior: float,
        threads: int,
        progress: OnProgress | None,
    ) -> None:
        self.competitions = competitions
        self.prior = prior
        self.threads = threads
        self.wins, self.teams = competitions.counts()
        self.posterior: list[float] = []
        self._tally = Tally(progress, "fitting", None, "rounds")

    def at(self, logs: Floats) -> tuple[float, Floats]:
        """Log-posterior and its gradient."""
        strengths = np.exp(logs)
        likelihood, expected = self.competitions.expect(strengths, self.threads)
        value = likelihood + self.prior * float((logs - 2 * np.log1p(strengths)).sum())
        won = strengths / (1 + strengths)  # probability of winning each of the prior's games
        return value, self.wins - expected + self.prior * (1 - 2 * won)

    def bend(self, logs: Floats) -> Floats:
        """Diagonal of the Hessian of the negative log-posterior."""
        spread = self.competitions.spread(np.exp(logs), self.threads)
        return np.asarray(spread + self.prior_bend(logs))

    def prior_bend(self, logs: Floats) -> Floats:
        """Diagonal of the prior's Hessian, a lower bound of the posterior's."""
        won = logistic(logs)
        return 2 * self.prior * won * (1 - won)

    def hessian_times(self, logs: Floats, direction: Floats) -> Floats:
        """Product of the negative log-posterior's Hessian with a direction."""
        product = self.competitions.information_times(np.exp(logs), direction, self.threads)
        return np.asarray(product + self.prior_bend(logs) * direction)

    def is_near_optimum(self, logs: Floats) -> bool:
        """Whether no change of a single strength would gain much."""
        _, gradient = self.at(logs)
        return bool((np.abs(gradient) <= 2 * _NEAR_OPTIMUM * np.sqrt(self.bend(logs))).all())

    def note(self, posterior: float) -> None:
        """Record a round."""
        self.posterior.append(posterior)
        self._tally.add(note=f"log-posterior {posterior:.6g}")


def _climb(work: _Work, rounds: int) -> Floats:
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    logs = np.zeros(work.competitions.features)

    def note(intermediate_result: Any) -> None:  # SciPy requires this name
        work.note(-float(intermediate_result.fun))

    while len(work.posterior) < rounds:
        # In units of standard errors, features have equal scales, and the gradient measures the
        # distance to the optimum. Errors change on the way, so restart now and then.
        unit = 1 / np.sqrt(np.maximum(work.bend(logs), _LEAST_BEND))

        def descend(scaled: Floats, unit: Floats = unit) -> tuple[float, Floats]:
            value, gradient = work.at(scaled * unit)
            return -value, -gradient * unit

        left = min(rounds - len(work.posterior), _ROUNDS_AT_ONCE)
        result = minimize(
            descend,
            logs / unit,
            jac=True,
            method="L-BFGS-B",
            callback=note,
            bounds=np.stack([-_FARTHEST / unit, _FARTHEST / unit], axis=1),
            options={
                "maxiter": left,
                "maxfun": 3 * left,
                "maxcor": 20,
                "ftol": 0,
                "gtol": _NEAR_OPTIMUM,
            },
        )
        logs = np.asarray(result.x * unit)
        if work.is_near_optimum(logs):
            return logs
        if result.nit == 0:  # no further gain at this precision
            break
    return logs


def _minorize(work: _Work, rounds: int) -> Floats:
    groups = work.competitions.groups()
    logs = np.zeros(work.competitions.features)
    met = work.teams > 0
    for _ in range(rounds):
        value = 0.0
        for group in range(int(groups.max(initial=0)) + 1):
            chosen = met & (groups == group)
            if not chosen.any():
                continue
            value, gradient = work.at(logs)
            strengths = np.exp(logs[chosen])
            won = work.wins[chosen] + work.prior
            lost = won - gradient[chosen]  # expected wins at the current strengths
            logs[chosen] = np.clip(np.log(strengths * won / lost), -_FARTHEST, _FARTHEST)
        if work.posterior and work.is_near_optimum(logs):
            work.note(work.at(logs)[0])
            break
        work.note(value)
    return logs


class _Preconditioner:
    """An approximate inverse of the Hessian, for conjugate gradients.

    The first `together` features use their joint matrix, from a sample of the competitions; the
    others use only their own curvature.
    """

    def __init__(self, work: _Work, logs: Floats, together: int) -> None:
        from scipy.linalg import cho_factor, cho_solve  # noqa: PLC0415 - slow to import

        competitions = work.competitions
        every = max(len(competitions) // _FOR_ERRORS, 1)
        self._together = together
        self._diagonal = work.bend(logs)
        self._factor: Any = None
        self._solve = cho_solve
        if together:
            information = competitions.information(np.exp(logs), together, every, work.threads)
            # A feature that is rare in the sample would look flat.
            seldom = (every > 1) & (np.diag(information) < _SELDOM * every)
            information[np.diag_indices(together)] += np.where(
                seldom, self._diagonal[:together], work.prior_bend(logs)[:together]
            )
            self._factor = cho_factor(information)

    def __call__(self, vector: Floats) -> Floats:
        solution = vector / self._diagonal
        if self._factor is not None:
            solution[: self._together] = self._solve(self._factor, vector[: self._together])
        return np.asarray(solution)


def _newton(
    work: _Work, logs: Floats, preconditioner: _Preconditioner, rounds: int
) -> tuple[Floats, bool]:
    """Run Newton's method from near the optimum; return also whether it converged."""

    def evaluate(logs: Floats) -> tuple[float, Floats]:
        value, gradient = work.at(logs)
        return -value, gradient

    def newton_step(logs: Floats, gradient: Floats) -> tuple[Floats, bool]:
        at_bound = (np.abs(logs) >= _FARTHEST) & (np.sign(gradient) == np.sign(logs))
        step, accurate = _newton_step(work, logs, gradient, ~at_bound, preconditioner)
        step = np.clip(step, -_FARTHEST - logs, _FARTHEST - logs)
        return step, accurate and float(np.abs(step).max(initial=0.0)) <= TOLERANCE

    return damped_newton(
        logs,
        evaluate,
        newton_step,
        steps=rounds - len(work.posterior),
        rounding=_ROUNDING,
        least=_LEAST,
        on_step=lambda loss: work.note(-loss),
    )


def _newton_step(
    work: _Work,
    logs: Floats,
    gradient: Floats,
    free: NDArray[np.bool_],
    preconditioner: _Preconditioner,
) -> tuple[Floats, bool]:
    """Compute Hessian⁻¹ · gradient by conjugate gradients, and whether it is accurate.

    The Hessian is at least the prior's, which is diagonal. So the residual bounds the error of each
    coordinate, even in directions that only the prior curves.
    """
    step = np.zeros_like(logs)
    residual = np.where(free, gradient, 0.0)
    weakest = float(work.prior_bend(logs)[free].min(initial=np.inf))
    tolerance = (_CG_ACCURACY * TOLERANCE) ** 2 * weakest
    direction = np.zeros_like(logs)
    size = 0.0
    for _ in range(_CG_STEPS):
        scaled = np.where(free, preconditioner(residual), 0.0)
        former, size = size, float(residual @ scaled)
        if size <= tolerance:
            return step, True
        direction = scaled + (size / former if former else 0.0) * direction
        product = np.where(free, work.hessian_times(logs, direction), 0.0)
        length = size / float(direction @ product)
        step += length * direction
        residual -= length * product
    return step, False


def _errors(work: _Work, strengths: Floats, together: int) -> Floats:
    competitions = work.competitions
    bend = work.bend(np.log(strengths))
    with np.errstate(divide="ignore", invalid="ignore"):
        by_games = np.sqrt(competitions.squared_scores(strengths)) / bend
    errors = np.maximum(by_games, 1 / np.sqrt(bend))
    every = max(len(competitions) // _FOR_ERRORS, 1)
    information = competitions.information(strengths, together, every, work.threads)
    chosen = np.flatnonzero(np.diag(information) > _LEAST)
    if len(chosen):
        information = information[np.ix_(chosen, chosen)]
        won = strengths[chosen] / (1 + strengths[chosen])
        bend_of_prior = np.diag(2 * work.prior * won * (1 - won))
        inverse: Floats = np.asarray(np.linalg.inv(information + bend_of_prior), np.float64)
        scores = competitions.scores_by_game(strengths, together)[:, chosen].astype(np.float64)
        games = len(scores) / max(len(scores) - 1, 1)
        by_games = games * ((scores @ inverse) ** 2).sum(0)
        # Clustering underestimates the error of a feature that occurs in few games, so take the
        # larger of the two errors.
        errors[chosen] = np.sqrt(np.maximum(by_games, _variances(information, inverse)))
    errors[work.teams == 0] = np.nan
    return errors


def _variances(information: Floats, inverse: Floats) -> Floats:
    """Variances from the information, without directions that are not identified.

    Where every move has one feature of some group (a distance to the last move, say), scaling the
    whole group changes nothing: only their ratios have errors.
    """
    root = np.sqrt(np.diag(information))
    bends, directions = np.linalg.eigh(information / np.outer(root, root))
    free = directions[:, bends < _LEAST]
    along = (free / root[:, None]) @ (free * root[:, None]).T
    projection = np.eye(len(information)) - along
    return np.asarray(np.einsum("ij,jk,ik->i", projection, inverse, projection, optimize=True))
