# SPDX-License-Identifier: Apache-2.0
"""Strengths of teams of features: against SciPy, choix, and strengths that are known."""

import math
from collections.abc import Sequence

import choix
import numpy as np
import pytest
from scipy.optimize import minimize

from hyoka import _core
from hyoka.errors import ParameterError
from hyoka.games import FACTS
from hyoka.games.move_features import meaning_of, move_features
from hyoka.learning.bradley_terry import Optimiser, fit_bradley_terry

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


@pytest.mark.parametrize("optimiser", ["lbfgs", "mm"])
def test_optimum_is_scipys(optimiser: Optimiser) -> None:
    strengths = [0.3, 1, 4, 0.5, 2, 1]
    choices = drawn(strengths)
    fit = fit_bradley_terry(competitions_of(choices, 6), optimiser=optimiser, prior=0.7)
    assert fit.converged
    best = minimize(
        lambda logs: -slow_posterior(logs, choices, 0.7), np.zeros(6), method="BFGS", tol=1e-8
    )
    # The level of the first sort, of which every team has one, is the prior's alone: the last thing
    # that settles.
    assert np.log(fit.strengths)[3:] == pytest.approx(best.x[3:], abs=0.005)
    assert np.diff(np.log(fit.strengths)[:3]) == pytest.approx(np.diff(best.x[:3]), abs=0.005)
    assert fit.posterior[-1] == pytest.approx(-best.fun, abs=0.1)


def test_mm_never_falls() -> None:
    fit = fit_bradley_terry(competitions_of(drawn([0.1, 1, 9, 0.5, 2, 1]), 6), optimiser="mm")
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
    assert ours - ours.mean() == pytest.approx(choix.ilsr_pairwise(5, pairs), abs=0.02)


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
    with pytest.raises(ParameterError, match="positive"):
        fit_bradley_terry(competitions_of([([[0], [1]], 0, 0)], 4), prior=-1)


@pytest.mark.parametrize("game", FACTS)
def test_every_feature_has_a_meaning(game: str) -> None:
    for feature in move_features(game):
        assert meaning_of(feature)
