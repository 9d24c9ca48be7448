# SPDX-License-Identifier: Apache-2.0
"""Evaluation weights fitted to results with a normal prior around their initial values.

Without the prior, a few thousand games would drive rare or correlated terms to extreme weights, and
a search would then play for them. Positions of one game share one result, so they are not
independent: the spread between games scales down their likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import logistic
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.learning.examples import PositionSelection, chosen_terms
from hyoka.learning.sigmoid import Array, fit_sigmoid, interval_reach, log_losses
from hyoka.learning.weights import FittedWeight
from hyoka.records.bulk import UNFINISHED
from hyoka.search import LinearEvaluation
from hyoka.study import Study

_PHASES: Final = ("opening", "ending")
_STEPS: Final = 300
_KEPT_STEPS: Final = 15
"""Corrections that L-BFGS keeps to approximate the Hessian."""


@dataclass(frozen=True, eq=False)
class TermLeaves:
    """Terms of an evaluation at quiescent positions, with the games' results."""

    evaluation: LinearEvaluation
    """The evaluation of the quiescence searches."""
    matrix: Any = field(repr=False)
    """SciPy sparse matrix: one row per position, one column per term."""
    progress: Array = field(repr=False)
    """Progress of the game, 0 to 1; it blends opening and ending weights."""
    games: NDArray[np.int64] = field(repr=False)
    plies: NDArray[np.int32] = field(repr=False)
    results: Array = field(repr=False)
    """1 win, 0.5 draw, 0 loss; exact results take precedence over the record's."""

    def __len__(self) -> int:
        return len(self.results)

    @classmethod
    def of_study(
        cls,
        study: Study,
        evaluation: LinearEvaluation,
        selection: PositionSelection,
        progress: OnProgress | None = None,
    ) -> "TermLeaves":
        """Positions of a study, except mates and finished games, which have no quiescent end."""
        from scipy.sparse import csr_array, vstack  # noqa: PLC0415 - it takes a while to import

        table, _ = selection.rows(study)
        games, plies = (table[name].to_numpy() for name in ("game_id", "ply"))
        quiescence = game_facts(study.game).search.quiescence
        what = "positions at rest" if quiescence else "positions"
        tally = Tally(progress, what, len(table), "positions")
        masks, blocks, stages = [], [csr_array((0, len(evaluation)))], [np.zeros(0)]
        for chunk in study.game_table_of(games, plies).chunks():
            if quiescence:
                quiet = chunk.quiet_terms(evaluation.flat)
                terms, keep = quiet.terms, quiet.rests
            else:
                terms, keep = chunk.terms(), chunk.outcomes() == UNFINISHED
            masks.append(keep)
            blocks.append(terms.matrix()[keep])
            stages.append(terms.progress[keep].astype(np.float64))
            tally.add(len(chunk))
        rows = np.concatenate(masks)
        return cls(
            evaluation,
            vstack(blocks, "csr").astype(np.float64),
            np.concatenate(stages),
            games[rows].astype(np.int64),
            plies[rows].astype(np.int32),
            table["result"].to_numpy()[rows].astype(np.float64),
        )

    def some(self, rows: NDArray[np.bool_]) -> "TermLeaves":
        """Select positions."""
        return replace(
            self,
            matrix=self.matrix[rows],
            progress=self.progress[rows],
            games=self.games[rows],
            plies=self.plies[rows],
            results=self.results[rows],
        )

    def scores(self, evaluation: LinearEvaluation | None = None) -> Array:
        """Scores of an evaluation with the same terms, for the first player."""
        opening, ending = (evaluation or self.evaluation).weights.astype(np.float64).T
        return np.asarray(
            (self.matrix @ opening) * (1 - self.progress) + (self.matrix @ ending) * self.progress
        )


@dataclass(frozen=True, slots=True)
class Steepness:
    """Slope of the sigmoid, log odds per point, at the start and the end of the game.

    Results become more certain late in a game. Without this slope, ending weights would grow just
    to express that.
    """

    opening: float
    ending: float

    @classmethod
    def of(cls, leaves: TermLeaves, evaluation: LinearEvaluation | None = None) -> "Steepness":
        """Fit the steepness by maximum likelihood; raises StudyError if it isn't positive.

        If one of the two is negative, for lack of games, use one value for the whole game.
        """
        scores, late = leaves.scores(evaluation), leaves.progress
        stages = np.stack([scores * (1 - late), scores * late], axis=1)
        names = ["the score in the opening", "the score in the ending"]
        fit = fit_sigmoid(stages, leaves.results, leaves.games, names=names)
        steepness = cls(*map(float, fit.coefficients))
        if min(steepness.at(late)) > 0:
            return steepness
        return cls(*[1 / _scale(leaves, evaluation or leaves.evaluation)] * 2)

    def at(self, progress: Array) -> Array:
        """Log odds per point at each progress."""
        return np.asarray(self.opening * (1 - progress) + self.ending * progress)

    def win_probability(
        self, leaves: TermLeaves, evaluation: LinearEvaluation | None = None
    ) -> Array:
        """Win probability from an evaluation's scores."""
        return logistic(self.at(leaves.progress) * leaves.scores(evaluation))


@dataclass(frozen=True, eq=False)
class ProximalFit:
    """An evaluation with weights fitted near their initial values."""

    evaluation: LinearEvaluation
    weights: tuple[FittedWeight, ...]
    """The fitted weights, with intervals over games for a fixed prior."""
    before: Steepness
    after: Steepness
    games: int
    positions: int
    worth: float
    """Weight of a position in the likelihood: 1 if positions were independent."""


def fit_proximal(
    leaves: TermLeaves,
    terms: Sequence[str] = ("*",),
    *,
    freedom: float = 0.01,
    known_freedom: float = 0.3,
    confidence: float = 0.95,
) -> ProximalFit:
    """Fit the weights of terms (names or patterns) to results, near their initial values.

    The prior's standard deviation of a weight is `known_freedom` of its size plus an amount that
    moves a typical score by `freedom` of the evaluation's scale.
    """
    if not (freedom > 0 and known_freedom >= 0):
        raise ParameterError("freedom", f"is a positive number, not {freedom:g}")
    start = leaves.evaluation
    free = np.isin(start.names, chosen_terms(start, terms))
    before = Steepness.of(leaves)
    design = _design(leaves, before, free)
    former = start.weights.astype(np.float64)[free].T.ravel()
    spread = (
        known_freedom * np.abs(former)
        + np.repeat([freedom * start.scale / _typical(leaves.matrix[:, free])], 2, axis=0).ravel()
    )
    offset = before.at(leaves.progress) * leaves.scores()
    worth = _worth(design, offset, leaves)
    moved = _most_likely(design, offset, leaves.results, spread, worth)
    errors = _errors(design, offset + design @ moved, leaves, spread, worth)
    changed = start.weights.astype(np.float64)
    changed[free] = (former + moved).reshape(2, -1).T
    raw = start.with_weights(changed)
    evaluation = start.with_weights(changed, scale=_scale(leaves, raw))
    games = len(np.unique(leaves.games))
    names = [name for name, is_free in zip(start.names, free, strict=True) if is_free]
    labels = [f"{name} ({phase})" for phase in _PHASES for name in names]
    reach = interval_reach(games, confidence)
    weights = tuple(
        FittedWeight(label, new, error, new - reach * error, new + reach * error, old)
        for label, new, error, old in zip(
            labels, (former + moved).tolist(), errors.tolist(), former.tolist(), strict=True
        )
    )
    after = Steepness.of(leaves, evaluation)
    return ProximalFit(evaluation, weights, before, after, games, len(leaves), worth)


def _design(leaves: TermLeaves, steepness: Steepness, free: NDArray[np.bool_]) -> Any:
    """Design matrix of the log odds: opening weights, then ending weights."""
    from scipy.sparse import diags_array, hstack  # noqa: PLC0415 - it takes a while to import

    amounts = leaves.matrix[:, free]
    odds, late = steepness.at(leaves.progress), leaves.progress
    shares = (odds * (1 - late), odds * late)
    return hstack([diags_array(share) @ amounts for share in shares], "csr")


def _typical(matrix: Any) -> Array:
    """Typical size of each term where it is nonzero; 1 for terms that are always 0."""
    counts = np.diff(matrix.tocsc().indptr)
    squares = np.asarray(matrix.power(2).sum(axis=0)).ravel()
    return np.where(counts > 0, np.sqrt(squares / np.maximum(counts, 1)), 1.0)


def pulls_by_game(design: Any, surprise: Array, games: NDArray[np.int64]) -> Any:
    """Score vectors (gradients) by game: one sparse row per game."""
    from scipy.sparse import csr_array, diags_array  # noqa: PLC0415

    numbers = np.unique(games, return_inverse=True)[1]
    rows = np.arange(len(games))
    same = csr_array((np.ones(len(games)), (numbers, rows)), shape=(numbers.max() + 1, len(games)))
    return same @ (diags_array(surprise) @ design)


def _worth(design: Any, offset: Array, leaves: TermLeaves) -> float:
    """Ratio of the gradients' variance under independence to their variance between games."""
    surprise = leaves.results - logistic(offset)
    pulls = pulls_by_game(design, surprise, leaves.games)
    between = np.asarray(pulls.power(2).sum(axis=0)).ravel()
    alone = np.asarray(design.power(2).T @ surprise**2).ravel()
    defined = between > 0
    return float(min(1.0, np.median(alone[defined] / between[defined]))) if defined.any() else 1.0


def _most_likely(design: Any, offset: Array, results: Array, spread: Array, worth: float) -> Array:
    """Maximum a posteriori change of the weights."""
    from scipy.optimize import minimize  # noqa: PLC0415 - it takes a second to import

    turned = design.T.tocsr()

    def loss(steps: Array) -> tuple[float, Array]:
        logits = offset + design @ (steps * spread)
        surprise = logistic(logits) - results
        total = worth * float(log_losses(logits, results).sum()) + float(steps @ steps) / 2
        return total, worth * np.asarray(turned @ surprise) * spread + steps

    result = minimize(
        loss,
        np.zeros(len(spread)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _STEPS, "maxcor": _KEPT_STEPS, "ftol": 1e-13, "gtol": 1e-7},
    )
    return np.asarray(result.x * spread)


def _errors(design: Any, logits: Array, leaves: TermLeaves, spread: Array, worth: float) -> Array:
    """Standard errors clustered by game, with the prior held fixed."""
    from scipy.linalg import solve  # noqa: PLC0415 - it takes a second to import
    from scipy.sparse import diags_array  # noqa: PLC0415

    expected = logistic(logits)
    bent = (design.T @ (diags_array(expected * (1 - expected)) @ design)).toarray()
    curvature = worth * bent + np.diag(spread**-2.0)
    pulls = pulls_by_game(design, leaves.results - expected, leaves.games)
    count = pulls.shape[0]
    between = worth**2 * (pulls.T @ pulls).toarray() * count / max(count - 1, 1)
    half = solve(curvature, between, assume_a="pos")
    return np.sqrt(np.maximum(np.diag(solve(curvature, half.T, assume_a="pos")), 0))


def _scale(leaves: TermLeaves, evaluation: LinearEvaluation) -> float:
    """Overall scale of scores, for values that ignore progress."""
    fit = fit_sigmoid(
        leaves.scores(evaluation)[:, None], leaves.results, leaves.games, names=["the evaluation"]
    )
    if not fit.coefficients[0] > 0:
        raise StudyError(
            "greater scores go with worse results: this evaluation says nothing of them"
        )
    return 1 / float(fit.coefficients[0])
