# SPDX-License-Identifier: Apache-2.0
"""Evaluations fitted to scores: a known one comes back, the prior holds, errors are reported."""

import numpy as np
import pytest

from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.learning.scores import ScoredLeaves, ScoreSettings, fit_scores
from hyoka.models.sparse import SparseEvaluation, feature_set
from hyoka.records import read_records
from hyoka.records.samples import sample_path


def leaves_of(game: str, *, seed: int = 0, size: float = 12.0) -> tuple[ScoredLeaves, np.ndarray]:
    """Positions of the samples, scored by weights that are known."""
    records = list(read_records(sample_path(game)))[:60]
    positions = [
        position
        for record in records
        for position in list(record.positions())[6:-6]
        if position.outcome is None
    ]
    games = [number for number, record in enumerate(records) for _ in range(6, len(record) - 5)]
    start = SparseEvaluation.starting(game)
    matrix = start.terms(positions)
    rng = np.random.default_rng(seed)
    met = np.asarray(abs(matrix).sum(axis=0)).ravel() > 0
    truth = start.weights + np.where(met, rng.normal(0, size, len(met)), 0)
    numbers = np.array(games[: len(positions)])
    scores = matrix @ truth
    return ScoredLeaves(start.features, matrix, scores, numbers % 5 == 0, numbers), truth


@pytest.mark.parametrize("game", ["chess", "othello"])
def test_what_gave_the_scores_comes_back(game: str) -> None:
    leaves, _ = leaves_of(game)
    settings = ScoreSettings(teacher_scale=feature_set(game).scale, steps=60)
    fit = fit_scores(leaves, settings)
    assert fit.positions + fit.held_out == len(leaves)
    assert fit.least_loss < fit.loss < fit.loss_before
    ours = leaves.matrix @ fit.evaluation.weights
    learned = ~leaves.held_out
    assert np.corrcoef(ours[learned], leaves.scores[learned])[0, 1] > 0.7


def test_weights_stay_where_they_are_dear_to_move_and_where_nothing_is_met() -> None:
    leaves, _ = leaves_of("chess")
    start = SparseEvaluation.starting("chess").weights
    held = fit_scores(leaves, ScoreSettings(freedom=1e-4, known_freedom=1e-4, steps=5))
    assert np.abs(held.evaluation.weights - start).max() < 0.01
    free = fit_scores(leaves, ScoreSettings(steps=20)).evaluation.weights
    met = np.asarray(abs(leaves.matrix).sum(axis=0)).ravel() > 0
    assert (free[~met] == start[~met]).all()
    assert np.abs(free - start)[met].mean() > 0.1


def test_a_mate_is_as_sure_as_can_be() -> None:
    leaves, _ = leaves_of("chess")
    leaves.scores[:50] = np.inf
    leaves.scores[50:100] = -np.inf
    assert np.isfinite(fit_scores(leaves, ScoreSettings(steps=5)).evaluation.weights).all()


def test_invalid_input_is_refused() -> None:
    for wrong in ({"teacher_scale": 0.0}, {"freedom": -1.0}, {"steps": 0}):
        with pytest.raises(ParameterError):
            ScoreSettings(**wrong)
    leaves, _ = leaves_of("othello")
    with pytest.raises(ParameterError, match="start"):
        fit_scores(leaves, start=SparseEvaluation.starting("chess"))
    leaves.held_out[:] = True
    with pytest.raises(StudyError, match="no games"):
        fit_scores(leaves)
