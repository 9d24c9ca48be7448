# SPDX-License-Identifier: Apache-2.0
"""Results add up, and look the same from the other side; p values against slow twins."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from hyoka.arena.elo import binomial_p_value, permutation_p_value
from hyoka.arena.score import MatchScore, PairScores, Score, match_score

counts = st.integers(0, 300)
scores = st.builds(Score, counts, counts, counts)
pairs = st.builds(PairScores, st.tuples(counts, counts, counts, counts, counts))
games = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 10)), st.booleans(), st.sampled_from([0.0, 0.5, 1.0])
    ),
    max_size=40,
)
matches = st.builds(match_score, games)
RESULTS: list[st.SearchStrategy[Score | PairScores | MatchScore]] = [scores, pairs, matches]


@pytest.mark.parametrize("results", RESULTS)
def test_results_form_an_algebra(
    results: st.SearchStrategy[Score | PairScores | MatchScore],
) -> None:
    @given(results, results, results)
    def laws(a: Score, b: Score, c: Score) -> None:
        nothing = type(a)()
        assert a + b == b + a
        assert (a + b) + c == a + (b + c)
        assert a + nothing == a
        assert ~~a == a
        assert ~(a + b) == ~a + ~b
        assert (a + b).points == a.points + b.points
        assert a.points + (~a).points == a.games == (~a).games
        assert math.isclose(a.rate, 1 - (~a).rate)

    laws()


@given(games)
def test_a_match_is_the_sum_of_its_parts(
    played: list[tuple[int | None, bool, float]],
) -> None:
    match = match_score(played)
    assert match.games == len(played) == match.pairs.games + match.unpaired.games
    assert match.points == sum(points for _, _, points in played)
    assert match.as_first.points == sum(points for _, first, points in played if first)
    whole = match_score([*played, (99, True, 1.0), (99, False, 0.5)])
    assert whole == match + match_score([(99, True, 1.0), (99, False, 0.5)])


@given(games)
def test_the_other_player_sees_the_other_side(
    played: list[tuple[int | None, bool, float]],
) -> None:
    seen = [(pair, not first, 1 - points) for pair, first, points in played]
    assert match_score(seen) == ~match_score(played)


def test_games_of_a_pair_find_each_other_and_others_stay_alone() -> None:
    match = match_score([(7, True, 1), (3, True, 0), (7, False, 1), (None, True, 1), (7, True, 0)])
    assert match.pairs == PairScores((0, 0, 0, 0, 1))
    assert match.unpaired == Score(wins=1, losses=2)
    assert (match.as_first, match.as_second) == (Score(wins=2, losses=2), Score(wins=1))


def test_nothing_played_is_even() -> None:
    assert Score().rate == PairScores().rate == MatchScore().rate == match_score([]).rate == 0.5
    assert Score().draw_rate == 0


@pytest.mark.parametrize("points", [0.25, -1, 2, math.nan])
def test_points_that_no_game_brings_are_refused(points: float) -> None:
    with pytest.raises(ValueError, match="brings"):
        Score.of_points(points)
    with pytest.raises(ValueError, match="brings"):
        match_score([(0, True, points)])
    with pytest.raises(ValueError, match="brings"):
        PairScores.of_points(points + 0.1)


def test_counts_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="counted from 0"):
        Score(-1)
    with pytest.raises(ValueError, match="counted from 0"):
        PairScores((0, 0, 0, 0, -1))
    with pytest.raises(ValueError, match="five results"):
        PairScores((1, 2, 3))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not the games"):
        MatchScore(as_first=Score(wins=1))


def test_one_result_at_a_time_makes_the_whole() -> None:
    assert sum(map(Score.of_points, (1, 0.5, 0, 1)), Score()) == Score(2, 1, 1)
    pair_points = (0, 0.5, 1, 1.5, 2, 2)
    assert sum(map(PairScores.of_points, pair_points), PairScores()) == PairScores((1, 1, 1, 1, 2))


# How often chance alone would do as well


@given(scores)
def test_the_binomial_p_value_is_scipys(score: Score) -> None:
    decided = score.wins + score.losses
    expected = binomtest(score.wins, decided).pvalue if decided else 1.0
    assert binomial_p_value(score) == pytest.approx(expected, rel=1e-9)
    half = score.draws // 2
    expected = (
        binomtest(score.wins + half, decided + 2 * half).pvalue if decided + 2 * half else 1.0
    )
    assert binomial_p_value(score, draws="split") == pytest.approx(expected, rel=1e-9)


few = st.integers(0, 2)


@given(st.tuples(few, few, few, few, few), st.builds(Score, few, few, few))
def test_the_permutation_p_value_is_that_of_all_sign_flips(
    five: tuple[int, int, int, int, int], alone: Score
) -> None:
    leads = [2 * (points - 1) for which, n in enumerate(five) for points in [which / 2] * n]
    leads += [1.0] * alone.wins + [-1.0] * alone.losses
    lead = abs(sum(leads))
    flips = list(itertools.product((-1, 1), repeat=len(leads)))
    as_great = sum(
        abs(sum(a * b for a, b in zip(flip, leads, strict=True))) >= lead for flip in flips
    )
    pairs = PairScores(five)
    win, draw, lose = Score(wins=1), Score(draws=1), Score(losses=1)
    halves = [(lose, lose), (lose, draw), (draw, draw), (win, draw), (win, win)]
    first = sum((halves[i][0] for i, n in enumerate(five) for _ in range(n)), Score())
    second = sum((halves[i][1] for i, n in enumerate(five) for _ in range(n)), Score())
    match = MatchScore(first + alone, second, pairs, alone)
    assert permutation_p_value(match) == pytest.approx(as_great / len(flips), rel=1e-9)


@given(pairs)
def test_a_p_value_is_the_same_from_both_sides(result: PairScores) -> None:
    assert 0 <= permutation_p_value(result) <= 1
    assert permutation_p_value(result) == permutation_p_value(~result)


def test_p_values_of_nothing_and_of_a_great_deal() -> None:
    assert permutation_p_value(PairScores()) == binomial_p_value(Score()) == 1
    assert permutation_p_value(PairScores((0, 0, 50, 0, 0))) == 1
    assert binomial_p_value(Score(draws=7), draws="split") == 1
    assert permutation_p_value(PairScores((0, 0, 0, 0, 20))) == pytest.approx(2 / 2**20)
    assert 0 <= permutation_p_value(PairScores((0, 0, 0, 0, 100_000))) < 1e-300
    with pytest.raises(ValueError, match="left out"):
        binomial_p_value(Score(), draws="half")
