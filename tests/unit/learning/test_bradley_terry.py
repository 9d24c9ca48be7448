# SPDX-License-Identifier: Apache-2.0
"""Strengths of teams of features: against SciPy, choix, and strengths that are known."""

import math
from collections.abc import Sequence

import choix
import numpy as np
import pytest
from scipy.optimize import minimize

from hyoka import _core
from hyoka.foundation.errors import ParameterError
from hyoka.games import FACTS
from hyoka.games.feature_descriptions import meaning_of, move_features
from hyoka.learning.bradley_terry import Optimizer, fit_bradley_terry
from hyoka.learning.strengths import StrengthSettings, competitions_for
from hyoka.records import read_records
from hyoka.records.bulk import GameTable
from hyoka.records.samples import sample_path

Choice = tuple[list[list[int]], int, int]
"""Teams of features, the one that won, and the game."""


def competitions_of(choices: list[Choice], features: int) -> _core.Competitions:
    """Competitions from (teams, winner, game), teams being lists of features."""
    listed = [f for teams, _, _ in choices for team in teams for f in team]
    ends = np.cumsum([len(team) for teams, _, _ in choices for team in teams])
    return _core.Competitions.of_lists(
        features,
        np.array(listed, np.uint16),
        ends.astype(np.int64),
        np.array([len(teams) for teams, _, _ in choices], np.int64),
        np.array([winner for _, winner, _ in choices], np.int64),
        np.array([game for _, _, game in choices], np.int64),
    )


def drawn(
    strengths: Sequence[float], *, games: int = 40, each: int = 10, seed: int = 0
) -> list[Choice]:
    """Choices among teams of one of each sort of features, won as the strengths say."""
    chance = np.random.default_rng(seed)
    half = len(strengths) // 2
    choices = []
    for game in range(games):
        for _ in range(each):
            teams = []
            for _ in range(chance.integers(2, 8)):
                team = [int(chance.integers(half))]
                if chance.random() < 0.7:
                    team.append(int(half + chance.integers(len(strengths) - half)))
                teams.append(team)
            weights = np.array([np.prod([strengths[f] for f in team]) for team in teams])
            winner = int(chance.choice(len(teams), p=weights / weights.sum()))
            choices.append((teams, winner, game))
    return choices


def slow_posterior(logs: Sequence[float], choices: list[Choice], prior: float) -> float:
    """The same in plain Python."""
    total = prior * sum(x - 2 * math.log1p(math.exp(x)) for x in logs)
    for teams, winner, _ in choices:
        scores = [sum(logs[f] for f in team) for team in teams]
        total += scores[winner] - math.log(sum(map(math.exp, scores)))
    return total


@pytest.mark.parametrize("optimizer", ["lbfgs", "mm"])
def test_optimum_is_scipys(optimizer: Optimizer) -> None:
    strengths = [0.3, 1, 4, 0.5, 2, 1]
    choices = drawn(strengths)
    fit = fit_bradley_terry(competitions_of(choices, 6), optimizer=optimizer, prior=0.7)
    assert fit.converged
    best = minimize(
        lambda logs: -slow_posterior(logs, choices, 0.7), np.zeros(6), method="BFGS", tol=1e-8
    )
    # Every team has one feature of the first sort, so only the prior sets that sort's level.
    assert fit.strengths == pytest.approx(np.exp(best.x), rel=1e-3)
    assert fit.posterior[-1] == pytest.approx(-best.fun, abs=1e-6)


def optimum(competitions: _core.Competitions, prior: float) -> np.ndarray:
    """The strengths by SciPy's trust region method with the whole Hessian, at tight tolerance."""
    size = competitions.features
    wins, _ = competitions.counts()

    def won(logs: np.ndarray) -> np.ndarray:
        return np.asarray(1 / (1 + np.exp(-logs)))

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        likelihood, expected = competitions.expect(np.exp(logs), 1)
        value = likelihood + prior * float((logs - 2 * np.log1p(np.exp(logs))).sum())
        return -value, expected - wins - prior * (1 - 2 * won(logs))

    def hessian(logs: np.ndarray) -> np.ndarray:
        bend = np.diag(2 * prior * won(logs) * (1 - won(logs)))
        return np.asarray(competitions.information(np.exp(logs), size, 1, 1) + bend)

    found = minimize(
        loss,
        np.zeros(size),
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-7},
    )
    assert np.abs(found.jac).max() < 1e-4 * prior
    return np.asarray(np.exp(found.x))


def collinear(seed: int = 0) -> list[Choice]:
    """Each team has one feature of two groups, and features 6 and 7 together or not at all."""
    chance = np.random.default_rng(seed)
    logs = chance.normal(size=8)
    choices = []
    for game in range(4000):
        teams = [
            [int(chance.integers(3)), int(3 + chance.integers(3)), *([6, 7][: 2 * int(both)])]
            for both in chance.random(int(chance.integers(2, 7))) < 0.3
        ]
        weights = np.exp([logs[team].sum() for team in teams])
        winner = int(chance.choice(len(teams), p=weights / weights.sum()))
        choices.append((teams, winner, game))
    return choices


@pytest.mark.parametrize("prior", [0.01, 1.0])
@pytest.mark.parametrize("optimizer", ["lbfgs", "mm"])
def test_the_prior_decides_where_features_are_collinear(optimizer: Optimizer, prior: float) -> None:
    competitions = competitions_of(collinear(), 8)
    fit = fit_bradley_terry(competitions, optimizer=optimizer, prior=prior)
    assert fit.converged
    assert fit.strengths == pytest.approx(optimum(competitions, prior), rel=1e-3)
    assert fit.strengths[6] == pytest.approx(fit.strengths[7], rel=1e-3)
    without_pairs = fit_bradley_terry(competitions, optimizer=optimizer, prior=prior, matrix=0)
    assert without_pairs.strengths == pytest.approx(fit.strengths, rel=1e-3)


@pytest.mark.parametrize(("game", "positions"), [("othello", 5000), ("go9", 600)])
@pytest.mark.parametrize("optimizer", ["lbfgs", "mm"])
def test_optimum_of_real_games_is_scipys(optimizer: Optimizer, game: str, positions: int) -> None:
    games = GameTable.from_records(read_records(sample_path(game)))
    competitions = competitions_for(games, [], StrengthSettings(positions=positions))
    fit = fit_bradley_terry(competitions, optimizer=optimizer, matrix=200)
    assert fit.converged
    assert fit.strengths == pytest.approx(optimum(competitions, 1.0), rel=1e-3)


def test_a_fit_that_runs_out_of_rounds_says_so() -> None:
    fit = fit_bradley_terry(competitions_of(collinear(), 8), optimizer="mm", rounds=3)
    assert not fit.converged
    assert fit.rounds == 3


def test_mm_never_falls() -> None:
    fit = fit_bradley_terry(competitions_of(drawn([0.1, 1, 9, 0.5, 2, 1]), 6), optimizer="mm")
    assert all(b >= a - 1e-9 for a, b in zip(fit.posterior, fit.posterior[1:], strict=False))
    assert fit.rounds > 3


def test_teams_of_one_are_choix() -> None:
    chance = np.random.default_rng(3)
    choices = []
    for i in range(300):
        one, two = map(int, chance.choice(5, 2, replace=False))
        choices.append(([[one], [two]], int(chance.random() < (two + 1) / (one + two + 2)), i))
    fit = fit_bradley_terry(competitions_of(choices, 5), prior=1e-4)
    pairs = [(teams[w][0], teams[1 - w][0]) for teams, w, _ in choices]
    ours = np.log(fit.strengths)
    assert ours - ours.mean() == pytest.approx(choix.ilsr_pairwise(5, pairs), abs=1e-3)


def test_planted_strengths_lie_within_their_intervals() -> None:
    strengths = [0.2, 1, 5, 0.4, 1, 2.5]
    inside, runs = 0, 20
    for seed in range(runs):
        fit = fit_bradley_terry(competitions_of(drawn(strengths, seed=seed), 6), prior=0.1)
        # The second sort is not in every team, so that its level is known; the first's is not.
        truth = np.log(strengths)
        off = np.log(fit.strengths) - truth
        off[:3] -= off[:3].mean()
        inside += int((np.abs(off) <= 1.96 * fit.errors).sum())
    assert inside >= 0.9 * runs * 6


def test_groups_keep_features_of_one_team_apart() -> None:
    choices = [([[0, 3], [1, 4], [2]], 0, 0), ([[0, 4], [3, 2]], 1, 1)]
    groups = competitions_of(choices, 5).groups()
    for teams, _, _ in choices:
        for team in teams:
            assert len({groups[f] for f in team}) == len(team)


def test_results_do_not_depend_on_threads() -> None:
    competitions = competitions_of(drawn([0.3, 1, 4, 0.5, 2, 1]), 6)
    strengths = np.array([0.3, 1, 4, 0.5, 2, 1])
    one, many = competitions.expect(strengths, 1), competitions.expect(strengths, 3)
    assert one[0] == many[0]
    assert (one[1] == many[1]).all()


def test_scores_by_game_sum_to_the_gradient() -> None:
    choices = drawn([0.3, 1, 4, 0.5, 2, 1])
    competitions = competitions_of(choices, 6)
    strengths = np.array([0.5, 1, 3, 0.5, 2, 1])
    _, expected = competitions.expect(strengths, 1)
    scores = competitions.scores_by_game(strengths, 6)
    assert scores.shape == (40, 6)
    assert scores.sum(0) == pytest.approx(competitions.counts()[0] - expected, abs=1e-3)
    squares = competitions.squared_scores(strengths)
    assert (scores.astype(float) ** 2).sum(0) == pytest.approx(squares, rel=1e-4)


def test_information_is_the_bend_of_the_likelihood() -> None:
    choices = drawn([0.3, 1, 4, 0.5, 2, 1], games=5)
    competitions = competitions_of(choices, 6)
    logs = np.log([0.5, 1, 3, 0.5, 2, 1])
    known = competitions.information(np.exp(logs), 6, 1, 1)
    step = 1e-3
    for i in range(6):
        up, down = logs.copy(), logs.copy()
        up[i] += step
        down[i] -= step
        bend = competitions.expect(np.exp(up), 1)[1] - competitions.expect(np.exp(down), 1)[1]
        assert bend / (2 * step) == pytest.approx(known[i], rel=1e-4, abs=1e-6)


def test_information_times_a_direction_is_that_of_the_matrix() -> None:
    competitions = competitions_of(collinear(), 8)
    chance = np.random.default_rng(1)
    strengths, direction = np.exp(chance.normal(size=8)), chance.normal(size=8)
    product = competitions.information_times(strengths, direction, 2)
    assert product == pytest.approx(competitions.information(strengths, 8, 1, 1) @ direction)
    assert competitions.information_times(
        strengths, np.array([1.0, 1, 1, 0, 0, 0, 0, 0]), 1
    ) == pytest.approx(np.zeros(8), abs=1e-9)


def test_what_was_never_met_is_even_and_unknown() -> None:
    fit = fit_bradley_terry(competitions_of([([[0], [1]], 0, 0)] * 3, 4))
    assert fit.strengths[2:] == pytest.approx([1, 1], abs=1e-3)
    assert np.isnan(fit.errors[2:]).all()
    assert fit.strengths[0] > 1 > fit.strengths[1]


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="fit together"):
        competitions_of([([[7], [1]], 0, 0)], 4)
    with pytest.raises(ParameterError, match="nothing to choose"):
        fit_bradley_terry(competitions_of([], 4))
    for prior in (-1, 0, math.nan, math.inf, 1e308):
        with pytest.raises(ParameterError, match="positive"):
            fit_bradley_terry(competitions_of([([[0], [1]], 0, 0)], 4), prior=prior)


@pytest.mark.parametrize("game", FACTS)
def test_every_feature_has_a_meaning(game: str) -> None:
    for feature in move_features(game):
        assert meaning_of(feature)
