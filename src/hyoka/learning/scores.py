# SPDX-License-Identifier: Apache-2.0
"""Evaluations fitted to a stronger evaluator's scores of a study's positions.

Maximizes the likelihood of the expected results that the scores imply, with a normal prior around
the initial weights. The evaluation's own scale is fitted first, with the initial weights, so that
scores keep the magnitude that searches expect.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import logistic
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.learning.prediction import numbers_held_out
from hyoka.learning.sigmoid import fit_sigmoid, log_losses
from hyoka.models.sparse import FeatureSet, SparseEvaluation, feature_set
from hyoka.models.training_games import LearnedGames
from hyoka.records.bulk import GameTable
from hyoka.search import linear_evaluation
from hyoka.storage.model_file import Origin
from hyoka.study import Study
from hyoka.study.sampling import chosen_evaluators

Array = NDArray[np.float64]
_KEPT_STEPS: Final = 15
"""Corrections that L-BFGS keeps to approximate the Hessian."""


@dataclass(frozen=True)
class ScoreSettings:
    """Options of a fit to scores."""

    teacher_scale: float = option(
        400.0, "Score scale of the evaluator: s predicts 1 / (1 + exp(-s / SCALE)).", min=1e-6
    )
    freedom: float = option(
        60.0,
        "Prior standard deviation of weights that start at 0, in the score's unit.",
        name="prior_sd",
        min=1e-6,
    )
    known_freedom: float = option(
        20.0,
        "Prior standard deviation of weights that start at other values, in the score's unit.",
        name="known_prior_sd",
        min=1e-6,
    )
    steps: int = option(120, "Number of optimization steps (L-BFGS), at most.", min=1)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class ScoredLeaves:
    """Features at quiescent positions, with an evaluator's scores of the original positions."""

    features: FeatureSet
    matrix: Any = field(repr=False)
    """SciPy sparse matrix, one row per position; its product with the weights is our score."""
    scores: Array = field(repr=False)
    """The evaluator's scores for the first player; infinite for mates."""
    held_out: NDArray[np.bool_] = field(repr=False)
    games: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def of_study(
        cls,
        study: Study,
        evaluator: str | None = None,
        *,
        features: str | None = None,
        where: str | None = None,
        hold_out: float = 0.1,
        start: LearnedGames | None = None,
        progress: OnProgress | None = None,
    ) -> "ScoredLeaves":
        """Positions scored by an evaluator, without those that have no quiescent position.

        Games that the `start` evaluation was fitted to are never held out.
        """
        from scipy.sparse import vstack  # noqa: PLC0415 - it takes a while to import

        chosen = feature_set(study.game, features)
        places, scores = _scored(study, evaluator, where)
        tally = Tally(progress, "positions at rest", len(places), "positions")
        parts, masks = [], []
        blank = SparseEvaluation.starting(study.game, chosen.name)
        for chunk in places.chunks():
            ends = list(_ends(chunk))
            masks.append(np.array([end is not None for end in ends]))
            parts.append(blank.terms([end for end in ends if end is not None]))
            tally.add(len(chunk))
        keep = np.concatenate(masks)
        apart = numbers_held_out(study, hold_out, start)
        games = places.game_ids[keep]
        return cls(chosen, vstack(parts, "csr"), scores[keep], np.isin(games, apart), games)


def _scored(
    study: Study, evaluator: str | None, where: str | None
) -> tuple[GameTable, NDArray[np.float64]]:
    """Positions with an evaluator's scores; mates are infinite."""
    names = chosen_evaluators(study, evaluator)
    if len(names) > 1:
        raise StudyError(f"{study.path}: say which evaluator's scores: {', '.join(names)}")
    quoted = names[0].replace("'", "''")
    scored = study.sql(
        f"select game_id, ply, case when mate is null then score when mate > 0 then 'inf'::double "
        f"else '-inf'::double end as score from evaluations where engine = '{quoted}' "
        "and failed is null and (score is not null or mate is not null) order by game_id, ply"
    )
    selected = study.select(where, "game_id, ply")
    rows = np.isin(_keys(scored), _keys(selected))
    if not rows.any():
        raise StudyError(f"{study.path}: {names[0]} has scored none of these positions")
    games, plies, scores = (scored[name].to_numpy()[rows] for name in scored.column_names)
    return study.game_table_of(games, plies), scores.astype(np.float64)


def _keys(rows: pa.Table) -> NDArray[np.int64]:
    games, plies = (rows[name].to_numpy().astype(np.int64) for name in ("game_id", "ply"))
    return np.asarray(games << 20 | plies)


def _ends(places: GameTable) -> Iterator[Any]:
    """End points of quiescence searches, or the positions themselves; None if a game is over."""
    facts = game_facts(places.game)
    if not facts.search.quiescence:
        for position in places.positions():
            yield position if position.outcome is None else None
        return
    quiet = places.quiet_terms(linear_evaluation(places.game).flat, threads=1)
    for row, position in enumerate(places.positions()):
        end = position
        for code in quiet.moves[row].tolist():
            end = end.play(facts.move(code))
        yield end if quiet.rests[row] and end.outcome is None else None


@dataclass(frozen=True, eq=False)
class ScoreFit:
    """An evaluation fitted to scores, with its loss on held-out games."""

    evaluation: SparseEvaluation
    positions: int
    games: int
    held_out: int
    """Number of held-out positions."""
    scale: float
    """Scale that maps our scores to the evaluator's expected results."""
    loss_before: float
    """Cross-entropy with the expected results on held-out games; NaN without any."""
    loss: float
    least_loss: float
    """Cross-entropy of the evaluator's own values: the lower bound."""

    def origin(self, command: str, choices: dict[str, str]) -> Origin:
        """Origin of the evaluation."""
        return Origin(
            command,
            counts={"games": self.games, "positions": self.positions},
            choices={"features": self.evaluation.features.name} | choices,
        )


def fit_scores(
    leaves: ScoredLeaves,
    settings: ScoreSettings | None = None,
    *,
    start: SparseEvaluation | None = None,
    progress: OnProgress | None = None,
) -> ScoreFit:
    """Fit all weights of an evaluation to an evaluator's scores."""
    chosen = settings or ScoreSettings()
    features = leaves.features
    begun = start or SparseEvaluation.starting(features.game, features.name)
    if begun.features != features:
        raise ParameterError("start", f"is over {begun.features.name}")
    if leaves.held_out.all():
        raise StudyError("no games are left to learn from")
    first = begun.weights.astype(np.float64)
    expected = logistic(leaves.scores / chosen.teacher_scale)
    fitted = ~leaves.held_out
    matrix, targets = leaves.matrix[fitted], expected[fitted]
    scale = _scale(matrix @ begun.weights, targets, leaves.games[fitted], features.scale)
    spread = np.where(first == 0, chosen.freedom, chosen.known_freedom)
    weights = _most_likely(
        matrix, targets, scale, start=first, spread=spread, steps=chosen.steps, progress=progress
    )
    apart, prediction_accuracy = leaves.matrix[leaves.held_out], expected[leaves.held_out]

    def loss(by: NDArray[np.float32]) -> float:
        if not len(prediction_accuracy):
            return math.nan
        return float(
            log_losses((apart @ by).astype(np.float64) / scale, prediction_accuracy).mean()
        )

    sure = np.clip(prediction_accuracy, 1e-9, 1 - 1e-9)
    least = log_losses(np.log(sure / (1 - sure)), sure)
    return ScoreFit(
        SparseEvaluation(features, weights, begun.scale),
        int(fitted.sum()),
        len(np.unique(leaves.games[fitted])),
        len(prediction_accuracy),
        scale,
        loss(begun.weights),
        loss(weights),
        float(least.mean()) if len(least) else math.nan,
    )


def _scale(scores: NDArray[Any], expected: Array, games: NDArray[np.int64], usual: float) -> float:
    if not scores.any():
        return usual
    fit = fit_sigmoid(scores[:, None].astype(np.float64), expected, games, names=["the score"])
    if not fit.coefficients[0] > 0:
        raise StudyError("greater scores of ours go with lower ones of the evaluator")
    return 1 / float(fit.coefficients[0])


def _most_likely(
    matrix: Any,
    expected: Array,
    scale: float,
    *,
    start: Array,
    spread: Array,
    steps: int,
    progress: OnProgress | None,
) -> NDArray[np.float32]:
    """Maximum a posteriori weights."""
    from scipy.optimize import minimize  # noqa: PLC0415 - it takes a second to import

    count = len(expected)
    turned = matrix.T.tocsr()
    base = (matrix @ start.astype(np.float32)).astype(np.float64)
    tally = Tally(progress, "fitting", steps, "steps")

    def loss(moved: Array) -> tuple[float, Array]:
        logits = (base + matrix @ (moved * spread).astype(np.float32)) / scale
        pull = ((logistic(logits) - expected) / scale).astype(np.float32)
        slope = (turned @ pull).astype(np.float64) * spread + moved
        total = float(log_losses(logits, expected).sum()) + float(moved @ moved) / 2
        return total / count, slope / count

    result = minimize(
        loss,
        np.zeros(len(start)),
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: tally.add(),
        options={"maxiter": steps, "maxcor": _KEPT_STEPS, "ftol": 1e-12, "gtol": 1e-12},
    )
    tally.reach(steps)
    return np.asarray(start + result.x * spread, np.float32)
