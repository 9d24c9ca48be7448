# SPDX-License-Identifier: Apache-2.0
"""The generalised model of Bradley and Terry: strengths of features whose teams compete.

A team is as strong as the product of its features' strengths (γ), and wins with the probability of
its share in the sum of all teams' strengths (Coulom 2007; Sato 2010, 3.1). Each feature also meets
an opponent of strength 1 that it beats and loses to `prior` times: so no strength runs away, and
a feature that was never met has strength 1. The log-posterior is concave; there is one optimum.
"""

import os
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import ParameterError, StudyError
from hyoka.progress import OnProgress, Tally

Optimiser = Literal["lbfgs", "mm"]
OPTIMISERS: Final[tuple[Optimiser, ...]] = ("lbfgs", "mm")
TOLERANCE: Final = 0.01
"""How far a strength may be from its best when the work ends, in standard errors or so."""
_ROUNDS: Final[dict[Optimiser, int]] = {"lbfgs": 500, "mm": 2000}
_ROUNDS_AT_ONCE: Final = 20
_MATRIX: Final = 3_000
"""Up to so many features are looked at together for their errors."""
_FOR_ERRORS: Final = 20_000
"""Competitions from which the information is estimated where there are more."""

_LEAST_BEND: Final = 0.1
"""Where hardly anything holds a strength, a step goes no further than this allows."""
_FARTHEST: Final = 20.0
"""No logarithm of a strength gets further from 0."""
_LEAST: Final = 1e-9
"""Less information than this is none."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Strengths that fit competitions best."""

    strengths: Floats
    """By feature."""
    errors: Floats
    """By feature: the standard error of the strength's logarithm, by games; NaN if never met."""
    wins: NDArray[np.int64]
    """By feature: teams with it that won."""
    teams: NDArray[np.int64]
    """By feature: teams with it."""
    log_likelihood: float
    posterior: tuple[float, ...]
    """What was maximised, after each round: the log-likelihood with the prior's part."""
    converged: bool

    @property
    def rounds(self) -> int:
        """Of the optimiser."""
        return len(self.posterior)


def fit_bradley_terry(  # noqa: PLR0913 - a keyword for each choice
    competitions: _core.Competitions,
    *,
    optimiser: Optimiser = "lbfgs",
    prior: float = 1.0,
    rounds: int | None = None,
    matrix: int = _MATRIX,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> BradleyTerry:
    """The strengths that explain best which teams won.

    `mm` is minorization-maximization: features that no team has two of are changed at once, and
    the posterior never falls. `lbfgs` climbs to the same optimum with fewer rounds. Errors come
    from how games differ (a sandwich), for the first `matrix` features with all of those taken
    together, for the others with all strengths but their own held fixed.
    """
    if optimiser not in OPTIMISERS:
        raise ParameterError("optimiser", f"is one of {', '.join(OPTIMISERS)}, not {optimiser}")
    if not 0 < prior < np.inf:
        raise ParameterError("prior", f"is a positive number, not {prior:g}")
    if not len(competitions):
        raise ParameterError("competitions", "are none: there is nothing to choose from")
    work = _Work(competitions, prior, threads or os.cpu_count() or 1, progress)
    most = _ROUNDS[optimiser] if rounds is None else rounds
    climb = _climb if optimiser == "lbfgs" else _minorize
    logs, converged = climb(work, most)
    strengths = np.exp(logs)
    likelihood, _ = competitions.expect(strengths, work.threads)
    if not np.isfinite(likelihood):
        raise StudyError("the strengths could not be fitted: they ran away; take a larger prior")
    errors = _errors(work, strengths, min(matrix, competitions.features))
    return BradleyTerry(
        strengths, errors, work.wins, work.teams, likelihood, tuple(work.posterior), converged
    )


class _Work:
    """The posterior of strengths, and what is told of the way to its top."""

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
        won = strengths / (1 + strengths)  # by the prior's games, each time
        return value, self.wins - expected + self.prior * (1 - 2 * won)

    def bend(self, logs: Floats) -> Floats:
        """How sharply it bends by each feature alone."""
        strengths = np.exp(logs)
        won = strengths / (1 + strengths)
        spread = self.competitions.spread(strengths, self.threads)
        return np.asarray(spread + 2 * self.prior * won * (1 - won))

    def is_top(self, logs: Floats) -> bool:
        """Whether no strength alone would get further than the tolerance."""
        _, gradient = self.at(logs)
        return bool((np.abs(gradient) <= 2 * TOLERANCE * np.sqrt(self.bend(logs))).all())

    def note(self, posterior: float) -> None:
        """One round more."""
        self.posterior.append(posterior)
        self._tally.add(note=f"log-posterior {posterior:.6g}")


def _climb(work: _Work, rounds: int) -> tuple[Floats, bool]:
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    logs = np.zeros(work.competitions.features)

    def note(intermediate_result: Any) -> None:  # SciPy asks for this very name
        work.note(-float(intermediate_result.fun))

    while len(work.posterior) < rounds:
        # In units of their standard errors all features are alike, and the gradient says how far
        # off a strength is. The errors change on the way, so that it begins anew now and then.
        unit = 1 / np.sqrt(np.maximum(work.bend(logs), _LEAST_BEND))

        def descend(scaled: Floats, unit: Floats = unit) -> tuple[float, Floats]:
            value, gradient = work.at(scaled * unit)
            return -value, -gradient * unit

        left = min(rounds - len(work.posterior), _ROUNDS_AT_ONCE)
        found = minimize(
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
                "gtol": TOLERANCE,
            },
        )
        logs = found.x * unit
        if work.is_top(logs):
            return logs, True
        if found.nit == 0:  # it can't get any higher in these numbers
            break
    return logs, False


def _minorize(work: _Work, rounds: int) -> tuple[Floats, bool]:
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
            lost = won - gradient[chosen]  # what strengths as they are would win
            logs[chosen] = np.clip(np.log(strengths * won / lost), -_FARTHEST, _FARTHEST)
        if work.posterior and work.is_top(logs):
            work.note(work.at(logs)[0])
            return logs, True
        work.note(value)
    return logs, False


def _errors(work: _Work, strengths: Floats, together: int) -> Floats:
    competitions = work.competitions
    bend = work.bend(np.log(strengths))
    with np.errstate(divide="ignore", invalid="ignore"):
        by_games = np.sqrt(competitions.squared_scores(strengths)) / bend
    errors = np.maximum(by_games, 1 / np.sqrt(bend))
    every = max(len(competitions) // _FOR_ERRORS, 1)
    known = competitions.information(strengths, together, every, work.threads)
    chosen = np.flatnonzero(np.diag(known) > _LEAST)
    if len(chosen):
        known = known[np.ix_(chosen, chosen)]
        won = strengths[chosen] / (1 + strengths[chosen])
        bend_of_prior = np.diag(2 * work.prior * won * (1 - won))
        inverse: Floats = np.asarray(np.linalg.inv(known + bend_of_prior), np.float64)
        scores = competitions.scores_by_game(strengths, together)[:, chosen].astype(np.float64)
        games = len(scores) / max(len(scores) - 1, 1)
        by_games = games * ((scores @ inverse) ** 2).sum(0)
        # A feature that few games have differs little between them and yet is hardly known: the
        # larger of the two errors counts.
        errors[chosen] = np.sqrt(np.maximum(by_games, _known_variances(known, inverse)))
    errors[work.teams == 0] = np.nan
    return errors


def _known_variances(known: Floats, inverse: Floats) -> Floats:
    """Variances by what is known, without what nobody can know.

    Where every move has one feature of some sort (a distance to the last move, say) all of that
    sort might be twice as strong, and nothing would change: only their ratios have errors.
    """
    root = np.sqrt(np.diag(known))
    bends, directions = np.linalg.eigh(known / np.outer(root, root))
    free = directions[:, bends < _LEAST]
    along = (free / root[:, None]) @ (free * root[:, None]).T
    kept = np.eye(len(known)) - along
    return np.asarray(np.einsum("ij,jk,ik->i", kept, inverse, kept, optimize=True))
