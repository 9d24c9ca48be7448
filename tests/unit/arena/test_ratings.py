# SPDX-License-Identifier: Apache-2.0
"""Rating lists: against choix and a general optimizer, components, one-sided results, intervals."""

import itertools
import math
from typing import Any

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from hyoka.arena.elo import elo
from hyoka.arena.ratings import RatingList, rate_players
from hyoka.arena.score import Score
from hyoka.foundation.errors import Error

ELO = 400 / math.log(10)
Games = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def chances(d: NDArray[np.float64], nu: float) -> NDArray[np.float64]:
    """Of a loss, a draw and a win at a difference in odds, by Davidson."""
    weights = np.stack([np.exp(-d / 2), np.full_like(d, nu), np.exp(d / 2)], axis=-1)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def tournament(
    players: int, games: int, *, draws: float = 0.0, advantage: float = 0.0, seed: int = 1
) -> tuple[Games, NDArray[np.float64]]:
    """Random meetings of players of random strength, and their true ratings."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 120, players)
    first = rng.integers(0, players, games)
    second = (first + rng.integers(1, players, games)) % players
    d = (truth[first] - truth[second] + advantage) / ELO / (1 - draws)
    below = chances(d, 2 * draws / (1 - draws)).cumsum(axis=1)
    result = (rng.random(games)[:, None] > below).sum(axis=1) / 2
    return (first, second, result), truth - truth.mean()


def names(count: int) -> list[str]:
    return [f"p{i:02}" for i in range(count)]


def elos(ratings: RatingList) -> NDArray[np.float64]:
    """In the order of the names."""
    return np.array([player.elo for player in sorted(ratings.players, key=lambda p: p.name)])


def optimized(games: Games, players: int) -> tuple[NDArray[np.float64], float, float]:
    """Ratings in Elo, advantage and draw rate by a general optimizer on the whole likelihood."""
    first, second, result = games

    def loss(parameters: NDArray[np.float64]) -> float:
        ratings, advantage, log_nu = parameters[:-2], parameters[-2], parameters[-1]
        d = ratings[first] - ratings[second] + advantage
        p = chances(d, math.exp(log_nu))
        likelihood = np.log(p[np.arange(len(d)), (2 * result).astype(int)]).sum()
        return float(-likelihood + ratings.mean() ** 2)

    found = minimize(loss, np.zeros(players + 2), method="BFGS", options={"gtol": 1e-5})
    nu = math.exp(found.x[-1])
    scale = ELO * 2 / (2 + nu)
    ratings = found.x[:-2] - found.x[:-2].mean()
    return ratings * scale, found.x[-2] * scale, nu / (2 + nu)


@pytest.mark.parametrize("seed", range(3))
def test_without_draws_and_advantage_it_is_bradley_and_terrys_as_choix_has_it(seed: int) -> None:
    (first, second, result), _ = tournament(8, 400, seed=seed)
    won = [(a, b) if r else (b, a) for a, b, r in zip(first, second, result, strict=True)]
    found = elos(rate_players(first, second, result, names(8), advantage=0))
    for method in (choix.opt_pairwise, choix.ilsr_pairwise, choix.mm_pairwise):
        expected = np.asarray(method(8, won)) * ELO
        assert found == pytest.approx(expected - expected.mean(), abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_with_draws_and_advantage_it_is_the_greatest_likelihood(seed: int) -> None:
    games, _ = tournament(6, 500, draws=0.35, advantage=50, seed=seed)
    ratings = rate_players(*games, names(6))
    expected, advantage, draw_rate = optimized(games, 6)
    assert elos(ratings) == pytest.approx(expected, abs=0.02)
    assert ratings.advantage.value == pytest.approx(advantage, abs=0.02)
    assert ratings.draw_rate == pytest.approx(draw_rate, abs=1e-4)
    given = rate_players(*games, names(6), advantage=ratings.advantage.value)
    assert elos(given) == pytest.approx(elos(ratings), abs=0.01)
    assert given.advantage.low == given.advantage.high == pytest.approx(advantage, abs=0.02)


@given(st.integers(1, 80), st.integers(1, 80))
def test_two_players_are_as_far_apart_as_in_their_match(wins: int, losses: int) -> None:
    first = [0] * (wins + losses)
    result = [1.0] * wins + [0.0] * losses
    ratings = rate_players(first, [1] * len(first), result, ["a", "b"], advantage=0)
    in_match = elo(Score(wins, 0, losses))
    gap = ratings.difference("a", "b")
    assert gap.value == pytest.approx(in_match.value, abs=1e-6)


def test_near_equality_draws_don_t_stretch_the_scale() -> None:
    score = Score(wins=210, draws=600, losses=190)
    result = [1.0] * score.wins + [0.5] * score.draws + [0.0] * score.losses
    ratings = rate_players([0] * 1000, [1] * 1000, result, ["a", "b"], advantage=0)
    gap, in_match = ratings.difference("a", "b"), elo(score)
    assert gap.value == pytest.approx(in_match.value, rel=0.01)
    assert (gap.low, gap.high) == pytest.approx((in_match.low, in_match.high), abs=0.3)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_order_of_games_and_of_names_does_not_matter(seed: int) -> None:
    (first, second, result), _ = tournament(5, 120, draws=0.3, seed=seed)
    rng = np.random.default_rng(seed)
    order, renamed = rng.permutation(120), rng.permutation(5)
    here = rate_players(first, second, result, names(5))
    new_names = [names(5)[old] for old in np.argsort(renamed)]
    there = rate_players(renamed[first][order], renamed[second][order], result[order], new_names)
    for player in here.players:
        same = there[player.name]
        assert (same.elo, same.low, same.high) == pytest.approx(
            (player.elo, player.low, player.high), abs=1e-5
        )


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_other_side_of_every_game_turns_the_advantage_round(seed: int) -> None:
    (first, second, result), _ = tournament(5, 120, draws=0.3, advantage=60, seed=seed)
    here, there = (
        rate_players(first, second, result, names(5)),
        rate_players(second, first, 1 - result, names(5)),
    )
    assert elos(here) == pytest.approx(elos(there), abs=1e-5)
    assert here.advantage.value == pytest.approx(-there.advantage.value, abs=1e-5)


def test_the_mean_or_the_anchor_is_the_zero() -> None:
    games, _ = tournament(6, 300, draws=0.2)
    free = rate_players(*games, names(6))
    assert np.mean([player.elo for player in free.players]) == pytest.approx(0, abs=1e-6)
    fixed = rate_players(*games, names(6), anchor=("p03", 1500))
    anchor = fixed["p03"]
    assert (anchor.elo, anchor.low, anchor.high) == pytest.approx((1500, 1500, 1500))
    for player in free.players:
        gap, same = free.difference(player.name, "p03"), fixed[player.name]
        assert (same.elo, same.low, same.high) == pytest.approx(
            (1500 + gap.value, 1500 + gap.low, 1500 + gap.high), abs=1e-6
        )
        assert fixed.difference(player.name, "p00").low == pytest.approx(
            free.difference(player.name, "p00").low, abs=1e-6
        )


def test_players_that_no_games_connect_are_not_compared() -> None:
    meetings = [(0, 1, 1), (1, 0, 0.5), (0, 1, 0), (2, 3, 1), (3, 2, 1), (2, 3, 0.5), (3, 2, 0)]
    first, second, result = zip(*meetings, strict=True)
    ratings = rate_players(first, second, result, ["a", "b", "c", "d", "alone"], anchor=("a", 100))
    assert ratings.components == 3
    assert [{p.name for p in ratings.players if p.component == i} for i in range(3)] == [
        {"c", "d"},
        {"a", "b"},
        {"alone"},
    ]
    assert ratings["a"].elo == 100
    assert ratings["c"].elo + ratings["d"].elo == pytest.approx(0)
    assert ratings["alone"].games == 0
    with pytest.raises(Error, match="can't be compared"):
        ratings.difference("a", "c")
    with pytest.raises(Error, match="did you mean alone"):
        ratings.difference("a", "alnoe")


def test_a_component_is_rated_as_if_it_were_alone() -> None:
    one, _ = tournament(5, 200, seed=1)
    other, _ = tournament(4, 200, seed=2)
    first, second = np.append(one[0], other[0] + 5), np.append(one[1], other[1] + 5)
    ratings = rate_players(first, second, np.append(one[2], other[2]), names(9), advantage=0)
    expected = rate_players(*one, names(5), advantage=0)
    for player in expected.players:
        same = ratings[player.name]
        assert (same.elo, same.low, same.high) == pytest.approx(
            (player.elo, player.low, player.high), abs=1e-5
        )


def test_who_won_everything_is_open_above_and_who_lost_everything_below() -> None:
    meetings = [(0, 1, 1), (2, 0, 0), (1, 2, 1), (2, 1, 1), (1, 2, 0.5), (3, 1, 0), (2, 3, 1)] * 3
    first, second, result = zip(*meetings, strict=True)
    ratings = rate_players(first, second, result, ["best", "b", "c", "worst"])
    assert ratings.virtual == (0,)
    best, worst = ratings["best"], ratings["worst"]
    assert [player.name for player in ratings.players][0::3] == ["best", "worst"]
    assert math.isinf(best.high)
    assert math.isfinite(best.low)
    assert math.isinf(worst.low)
    assert math.isfinite(worst.high)
    assert ratings["b"].bounded
    assert ratings["c"].bounded
    assert not best.bounded
    gap = ratings.difference("best", "worst")
    assert math.isfinite(gap.low)
    assert gap.high == math.inf
    middle = ratings.difference("b", "c")
    assert math.isfinite(middle.low)
    assert math.isfinite(middle.high)


def test_more_wins_raise_the_lower_end_of_who_won_everything() -> None:
    lows = []
    for count in (1, 5, 25, 125):
        ratings = rate_players([0] * count, [1] * count, [1] * count, ["a", "b"], advantage=0)
        gap = ratings.difference("a", "b")
        assert gap.high == math.inf
        assert math.isfinite(gap.value)
        lows.append(gap.low)
    assert lows == sorted(lows)
    assert lows[-1] > 300


def test_only_draws_are_equal_and_uncertain() -> None:
    ratings = rate_players([0, 1] * 10, [1, 0] * 10, [0.5] * 20, ["a", "b"])
    gap, in_match = ratings.difference("a", "b"), elo(Score(draws=20))
    assert gap.value == pytest.approx(0)
    assert (gap.low, gap.high) == pytest.approx((in_match.low, in_match.high), rel=0.1)
    assert ratings.draw_rate > 0.9
    assert ratings.superiority("a", "b") == pytest.approx(0.5)


def test_one_drawn_game_does_not_make_a_newcomer_as_sure_as_his_opponent() -> None:
    (first, second, result), _ = tournament(4, 400, draws=0.3)
    ratings = rate_players([*first, 4], [*second, 0], [*result, 0.5], names(5))
    new, old = ratings.difference("p04", "p00"), ratings.difference("p01", "p00")
    assert new.high - new.low > 4 * (old.high - old.low)


@pytest.mark.parametrize("winner", [1.0, 0.0])
def test_an_advantage_that_decides_everything_is_open_on_its_side(winner: float) -> None:
    pairs = list(itertools.permutations(range(3), 2)) * 4
    first, second = zip(*pairs, strict=True)
    ratings = rate_players(first, second, [winner] * len(pairs), ["a", "b", "c"])
    sign = 1 if winner else -1
    assert sign * ratings.advantage.value > 100
    assert (ratings.advantage.high == math.inf) == (winner == 1)
    assert (ratings.advantage.low == -math.inf) == (winner == 0)
    assert [player.elo for player in ratings.players] == pytest.approx([0, 0, 0], abs=1e-6)


def test_an_advantage_that_equals_a_player_s_strength_is_not_estimated() -> None:
    # One always moves first: that he is stronger or that he moves first is all the same.
    ratings = rate_players([0] * 9, [1, 2, 1] * 3, [1, 0.5, 0] * 3, ["a", "b", "c"])
    assert ratings.advantage.value == 0
    assert (ratings.advantage.low, ratings.advantage.high) == (-math.inf, math.inf)


def test_nothing_played_is_no_rating() -> None:
    ratings = rate_players([], [], [], ["a", "b"])
    assert ratings.components == 2
    assert [player.elo for player in ratings.players] == [0, 0]
    assert ratings.games == 0
    assert not ratings["a"].bounded
    assert rate_players([], [], [], []).players == ()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0], [1, 1], [1], ["a", "b"]), "each game"),
        (([0], [2], [1], ["a", "b"]), "numbered from 0 to 1"),
        (([-1], [0], [1], ["a", "b"]), "numbered"),
        (([0], [0], [1], ["a", "b"]), "against himself"),
        (([0], [1], [0.7], ["a", "b"]), "0, 0.5 or 1"),
        (([0], [1], [math.nan], ["a", "b"]), "0, 0.5 or 1"),
        (([0], [1], [1], ["a", "a"]), "same name"),
    ],
)
def test_games_that_are_none_are_refused(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rate_players(*arguments)


def test_wishes_that_make_no_sense_are_refused() -> None:
    game: Any = ([0], [1], [1], ["Takemiya", "Otake"])
    with pytest.raises(Error, match="did you mean Takemiya"):
        rate_players(*game, anchor=("Takemia", 0))
    with pytest.raises(ValueError, match="'fit' or a number"):
        rate_players(*game, advantage="some")
    with pytest.raises(ValueError, match="above 0"):
        rate_players(*game, prior=0)
    with pytest.raises(Error, match="too many for intervals"):
        rate_players([0], [1], [1], names(5000))


def test_without_intervals_the_ratings_are_the_same_and_the_ends_unknown() -> None:
    games, _ = tournament(6, 200, draws=0.2)
    full, plain = rate_players(*games, names(6)), rate_players(*games, names(6), intervals=False)
    assert elos(plain) == pytest.approx(elos(full))
    assert not plain["p00"].bounded
    assert plain.superiority("p00", "p01") == 0.5
    assert plain.difference("p00", "p01").high == math.inf


def test_many_players_are_rated_step_by_step_as_few_are_in_one_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games, _ = tournament(40, 3000, draws=0.3, advantage=30)
    dense = rate_players(*games, names(40))
    monkeypatch.setattr("hyoka.arena.davidson._MOST_DENSE", 10)
    sparse = rate_players(*games, names(40))
    assert elos(sparse) == pytest.approx(elos(dense), abs=1e-4)


def test_games_of_a_pair_that_cancel_out_make_the_interval_narrower() -> None:
    # The opening decides who wins, nearly always: such a pair tells only that the two are equal.
    first, second = [0, 1] * 50, [1, 0] * 50
    result = [1, 1] * 23 + [0, 0] * 22 + [1, 0] * 5
    pairs = np.arange(100) // 2
    alone = rate_players(first, second, result, ["a", "b"])
    paired = rate_players(first, second, result, ["a", "b"], clusters=pairs)
    assert paired["a"].elo == alone["a"].elo
    assert paired["a"].high - paired["a"].low < (alone["a"].high - alone["a"].low) / 2


def test_the_intervals_cover_the_truth_as_often_as_they_say() -> None:
    covered = []
    of_differences = []
    of_advantages = []
    for seed in range(150):
        games, truth = tournament(8, 320, draws=0.3, advantage=40, seed=seed)
        ratings = rate_players(*games, names(8))
        for i in range(8):
            player = ratings[names(8)[i]]
            covered.append(player.low <= truth[i] <= player.high)
        gap = ratings.difference("p00", "p01")
        of_differences.append(gap.low <= truth[0] - truth[1] <= gap.high)
        of_advantages.append(ratings.advantage.low <= 40 <= ratings.advantage.high)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert 0.89 <= np.mean(of_differences) <= 0.99
    assert 0.89 <= np.mean(of_advantages) <= 0.99


def test_every_tiny_match_has_ratings() -> None:
    kinds = list(itertools.product((0, 1), (0.0, 0.5, 1.0)))
    for count in range(1, 4):
        for games in itertools.combinations_with_replacement(kinds, count):
            first, points = zip(*games, strict=True)
            ratings = rate_players(first, [1 - each for each in first], points, ["a", "b"])
            assert all(math.isfinite(player.elo) for player in ratings.players)


def test_wins_and_draws_without_a_loss_are_not_taken_for_equality() -> None:
    first = [0, 1] * 5
    points = [1, 0] * 4 + [0.5] * 2
    gap = rate_players(first, [1 - each for each in first], points, ["a", "b"]).difference("a", "b")
    assert gap.value == pytest.approx(elo(Score(8, 2, 0)).value, abs=60)
    assert gap.low > 100


# Fits that have no maximum, or one far away


def drawn_games(count: int) -> tuple[list[int], list[int], list[float]]:
    return [0, 1] * count, [1, 0] * count, [0.5] * (2 * count)


def test_a_known_advantage_that_contradicts_many_draws_is_refused() -> None:
    """Of 80 games none was decided: nobody is 200 Elo ahead by moving first."""
    with pytest.raises(Error, match="200 Elo does not fit the share of draws"):
        rate_players(*drawn_games(40), ["a", "b"], advantage=200.0)


@pytest.mark.parametrize("elo", [-150.0, -20.0, 0.0, 35.0, 300.0, 4000.0])
def test_a_known_advantage_is_kept_to_and_the_rest_is_most_likely(elo: float) -> None:
    chance = np.random.default_rng(5)
    first, second = [0, 1, 2, 1, 2, 0] * 20, [1, 0, 1, 2, 0, 2] * 20
    shares = [0.35, 0.1, 0.55] if elo < 1000 else [0.4, 0.0, 0.6]
    result = chance.choice([0, 0.5, 1], 120, p=shares)
    found = rate_players(first, second, result, ["a", "b", "c"], advantage=elo)
    assert found.advantage.value == pytest.approx(elo, abs=1e-5)
    draws = found.draw_rate
    scale = 400 / math.log(10) * (1 - draws)
    nu = 2 * draws / (1 - draws)

    def loss(ratings: Any, nu: float) -> float:
        d = (ratings[first] - ratings[second] + elo) / scale
        weights = np.stack([-d / 2, np.full(len(d), math.log(nu) if nu else -math.inf), d / 2])
        top = np.logaddexp(np.logaddexp(weights[0], weights[1]), weights[2])
        return float((top - weights[(2 * result).astype(int), np.arange(len(d))]).sum())

    ratings = np.array([found[name].elo for name in "abc"])
    at = loss(ratings, nu)
    for step in itertools.product((-0.5, 0, 0.5), repeat=3):
        assert at <= loss(ratings + step, nu) + 1e-9
    for factor in (0.99, 1.01):
        assert at <= loss(ratings, nu * factor) + 1e-9


@pytest.mark.parametrize("prior", [1.0, 1e-3, 1e-9])
def test_all_won_by_the_first_is_bounded_by_the_prior_however_small(prior: float) -> None:
    """Without draws the advantage a balances: games · (1 - σ(a)) = prior · (σ(a) - 1/2)."""
    first, second = [0, 1] * 50, [1, 0] * 50
    found = rate_players(first, second, [1.0] * 100, ["a", "b"], prior=prior)

    def balance(a: float) -> float:
        lost = 1 / (1 + math.exp(a))
        return 100 * lost - prior * (0.5 - lost)

    expected = brentq(balance, 0, 60, xtol=1e-12) * 400 / math.log(10)
    assert found.advantage.value == pytest.approx(expected, rel=1e-6)
    assert found.advantage.high == math.inf
