# SPDX-License-Identifier: Apache-2.0
"""The tuner: weights of one's own features fitted to results, or to what another evaluator says.

The win probability is 1 / (1 + exp(-score / scale)), the score what the features weigh together. No
weight need be known beforehand: the scale is found with them where something has its weight (a
frozen feature, a score that the features are added to), and chosen where nothing has.
"""

import itertools
import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.resampling import Resampling, mean_by_games
from hyoka.artefact import Origin
from hyoka.errors import ParameterError, StudyError, named
from hyoka.learning.feature_tables import FeatureTable
from hyoka.learning.sigmoid import (
    Array,
    fit_sigmoid,
    interval_reach,
    log_losses,
    win_probability,
)
from hyoka.learning.sparse_fit import SparseFit, SparseProblem, fit_sparse
from hyoka.learning.tuned import Change, TunedWeights
from hyoka.learning.tuning_numbers import Numbers, Scale
from hyoka.learning.tuning_plan import TuningPlan
from hyoka.learning.weights import is_held_out
from hyoka.progress import OnProgress, Tally

_GAMES_AT_ONCE: Final = 2000


def tune_weights(
    table: FeatureTable, plan: TuningPlan | None = None, *, progress: OnProgress | None = None
) -> TunedWeights:
    """Fit the weights of a table's features, with errors by games, and measure on games held out.

    Raises StudyError where the features don't tell the weights.
    """
    plan = plan or TuningPlan()
    numbers = Numbers.of(table, plan)
    apart = is_held_out(table.games.astype(np.int64), plan.hold_out, plan.seed)
    if apart.all():
        raise StudyError("no game is left to fit on: hold out fewer, or take more games")
    before = numbers.scores_before()
    scale_before = _scale_alone(table, before, ~apart) if before is not None else math.nan
    scale = Scale.of(plan, numbers, scale_before)
    problem = numbers.problem(_targets(table, plan, ~apart), ~apart, scale)
    tally = Tally(progress, "fitting", None, "steps")
    fit = fit_sparse(problem, lambda number, gain: tally.add(note=f"gains {gain:.1e}"))
    covariance, games = _covariance(problem, fit, table.games, ~apart)
    reach = interval_reach(games, plan.confidence)
    weights, found_scale, scale_error = numbers.as_weights(fit, covariance, scale, reach)
    after = numbers.scores_after(weights)
    changes: tuple[Change, ...] = ()
    if apart.any():
        resampling = Resampling(plan.resamples, plan.seed, plan.confidence)
        earlier = None if before is None else (before, scale_before)
        changes = _changes(table, apart, earlier, (after, found_scale), resampling)
    return TunedWeights(
        plan.method,
        numbers.features(weights),
        found_scale,
        scale_error,
        scale_before,
        table.unit,
        table.source,
        table.game,
        games,
        fit.rows,
        int(apart.sum()),
        len(np.unique(table.games[apart])),
        fit.loss,
        fit.steps,
        plan.confidence,
        changes,
        Origin(
            "hyoka.tune_weights",
            plan.seed,
            {"games": games, "positions": fit.rows},
            {
                "features": table.source,
                "method": plan.method,
                "l1": f"{plan.l1:g}",
                "l2": f"{plan.l2:g}",
                "results": f"{plan.mix:g} of the target",
                "held out": f"{plan.hold_out:g} of the games",
            },
        ),
    )


def _targets(table: FeatureTable, plan: TuningPlan, used: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Results, mixed with what another evaluator says if that is asked for."""
    if plan.mix == 1:
        return table.results
    if table.told is None:
        raise ParameterError(
            "mix", f"needs what another evaluator says: name it with {named('toward')}"
        )
    values = table.told
    if table.told_scores:
        values = win_probability(values / _scale_alone(table, values, used))
    mixed = plan.mix * table.results + (1 - plan.mix) * values
    return np.asarray(np.clip(mixed, 0, 1), np.float32)


def _scale_alone(table: FeatureTable, scores: Array, used: NDArray[np.bool_]) -> float:
    """The scale of scores, fitted to the results alone."""
    fit = fit_sigmoid(
        scores[used, None],
        table.results[used].astype(np.float64),
        table.games[used].astype(np.int64),
        names=["the score"],
    )
    steepness = float(fit.coefficients[0])
    if not steepness > 0:
        raise StudyError(
            "greater scores go with worse results: these scores are not the first player's, "
            "or say nothing of the results"
        )
    return 1 / steepness


def _covariance(
    problem: SparseProblem, fit: SparseFit, games: NDArray[np.uint32], used: NDArray[np.bool_]
) -> tuple[Array, int]:
    """Of the free numbers, the games being what chance drew (sandwich); and how many games."""
    counted = np.unique(games[used])
    count, free = len(counted), np.flatnonzero(fit.free)
    if count <= len(free) and problem.l2 == 0:
        raise StudyError(
            f"{len(free)} numbers can't be fitted to {count} games: take more games, or some L2"
        )
    weights = problem.weights(fit.beta)
    meat = np.zeros((len(free), len(free)))
    last = int(games[-1]) + 1
    firsts = np.searchsorted(games, np.arange(0, last + _GAMES_AT_ONCE, _GAMES_AT_ONCE))
    for number, (begin, end) in enumerate(itertools.pairwise(firsts)):
        if begin == end:
            continue
        first = number * _GAMES_AT_ONCE
        full = problem.rows.pulls(
            weights, problem.squared, games, int(begin), int(end), first, _GAMES_AT_ONCE
        )
        pulls = np.asarray((problem.places.T @ full.T)[free])
        meat += pulls @ pulls.T
    block = fit.curvature[np.ix_(free, free)]
    size = np.sqrt(np.maximum(np.diag(block), 1e-300))
    bread = np.linalg.inv(block / np.outer(size, size)) / np.outer(size, size)
    covariance = np.zeros((len(fit.beta), len(fit.beta)))
    covariance[np.ix_(free, free)] = bread @ meat @ bread * (count / max(count - 1, 1))
    return covariance, count


def _changes(
    table: FeatureTable,
    rows: NDArray[np.bool_],
    before: tuple[Array, float] | None,
    after: tuple[Array, float],
    resampling: Resampling,
) -> tuple[Change, ...]:
    """What the weights changed on games that they were not fitted to, by the results."""
    results, games = table.results[rows].astype(np.float64), table.games[rows]
    then = after[0][rows] / after[1]
    earlier = np.zeros_like(then) if before is None else before[0][rows] / before[1]
    decided = np.where(results == 0.5, np.nan, results)

    def right(logits: Array) -> Array:
        return np.where(logits == 0, 0.5, (logits > 0) == (decided == 1)).astype(np.float64)

    def squares(logits: Array) -> Array:
        return np.square(results - win_probability(logits))

    changes: list[Change] = []
    measures: list[tuple[str, Any, NDArray[np.bool_]]] = [
        ("log loss", lambda logits: log_losses(logits, results), np.ones(len(results), bool)),
        ("Brier", squares, np.ones(len(results), bool)),
        ("ACC", right, ~np.isnan(decided)),
    ]
    for name, measure, counts in measures:
        if not counts.any():
            continue
        one, other = measure(earlier)[counts], measure(then)[counts]
        difference = mean_by_games(other - one, games[counts], resampling)
        changes.append(Change(name, float(one.mean()), float(other.mean()), difference))
    return tuple(changes)
