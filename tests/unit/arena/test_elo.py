# SPDX-License-Identifier: Apache-2.0
"""Elo and its interval: closed forms, symmetry, degenerate matches, and whether it covers."""

import functools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest

from hyoka.arena.elo import (
    NORMALIZED_ELO,
    elo,
    elo_of_rate,
    likelihood_of_superiority,
    normalized_elo,
    rate,
    rate_of_elo,
)
from hyoka.arena.score import MatchScore, PairScores, Score, match_score
from hyoka.foundation.math import Estimate

counts = st.integers(0, 200)
scores = st.builds(Score, counts, counts, counts)
pairs = st.builds(PairScores, st.tuples(counts, counts, counts, counts, counts))
games = st.lists(
    st.tuples(st.integers(0, 8), st.booleans(), st.sampled_from([0.0, 0.5, 1.0])), max_size=30
)
results = st.one_of(scores, pairs, st.builds(match_score, games))
PAIR_RATES = np.array([0, 0.25, 0.5, 0.75, 1])


def same(a: Estimate, b: Estimate) -> bool:
    ends = zip((a.value, a.low, a.high), (b.value, b.low, b.high), strict=True)
    return all(math.isclose(x, y, rel_tol=1e-7, abs_tol=1e-7) for x, y in ends)


def pair_distribution(
    elo_: float, draws: float, bias: float = 0, correlation: float = 0
) -> NDArray[np.float64]:
    """A pair's results: openings that favor one side by -bias, 0 or bias Elo; Davidson's draws."""

    def game(difference: float) -> NDArray[np.float64]:
        weights = 10 ** (np.array([-difference, 0, difference]) / 800)
        weights[1] = 2 * draws / (1 - draws)
        return np.asarray(weights / weights.sum())

    openings = [np.convolve(game(elo_ + b), game(elo_ - b)) for b in (-bias, 0, bias)]
    repeated = np.zeros(5)
    repeated[::2] = game(elo_)
    return np.asarray((1 - correlation) * sum(openings) / 3 + correlation * repeated)


@given(st.floats(-2000, 2000))
def test_elo_and_rate_are_inverse(difference: float) -> None:
    assert elo_of_rate(rate_of_elo(difference)) == pytest.approx(difference, abs=1e-6)
    assert rate_of_elo(-difference) == pytest.approx(1 - rate_of_elo(difference))


def test_elo_has_its_closed_form_and_honest_ends() -> None:
    assert elo_of_rate(0.75) == pytest.approx(400 * math.log10(3))
    assert (elo_of_rate(0), elo_of_rate(0.5), elo_of_rate(1)) == (-math.inf, 0, math.inf)
    assert (rate_of_elo(-math.inf), rate_of_elo(math.inf), rate_of_elo(1e9)) == (0, 1, 1)
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            elo_of_rate(bad)


@given(results)
def test_the_other_player_has_minus_the_elo(result: Score | PairScores | MatchScore) -> None:
    assert same(elo(~result), -elo(result))
    assert likelihood_of_superiority(~result) == pytest.approx(
        1 - likelihood_of_superiority(result), abs=1e-12
    )
    if not isinstance(result, MatchScore):
        assert same(normalized_elo(~result), -normalized_elo(result))


@given(results, st.floats(0.5, 0.999))
def test_an_interval_holds_its_value_and_grows_with_confidence(
    result: Score | PairScores | MatchScore, confidence: float
) -> None:
    narrow, wide = elo(result, 0.4), elo(result, confidence)
    assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high
    assert narrow.value == pytest.approx(elo_of_rate(result.rate))


@given(results)
def test_superiority_is_sure_exactly_where_the_interval_leaves_zero_out(
    result: Score | PairScores | MatchScore,
) -> None:
    sure = likelihood_of_superiority(result)
    if abs(sure - 0.975) > 1e-9:
        assert (sure > 0.975) == (elo(result).low > 0)


@given(counts, counts)
def test_without_draws_and_pairs_it_is_wilsons_interval(wins: int, losses: int) -> None:
    assume(wins + losses)
    found = rate(Score(wins, 0, losses))
    expected = binomtest(wins, wins + losses).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@given(scores)
def test_a_match_without_pairs_is_its_games(score: Score) -> None:
    match = MatchScore(as_first=score, unpaired=score)
    assert elo(match) == elo(score)
    assert likelihood_of_superiority(match) == likelihood_of_superiority(score)


@given(pairs)
def test_a_match_of_whole_pairs_is_its_pairs(result: PairScores) -> None:
    lost, behind, even, ahead, won = result.counts
    first = Score(ahead + won, even + behind, lost)
    second = Score(won, even + ahead, lost + behind)
    match = MatchScore(first, second, result)
    assert elo(match) == elo(result)


def test_pairs_tell_more_than_games_where_openings_are_biased() -> None:
    # In each of 100 pairs the first mover wins, but for ten that one player wins both of.
    pairs, games = PairScores((0, 0, 90, 0, 10)), Score(wins=110, losses=90)
    assert elo(pairs).low > 0 > elo(games).low
    assert likelihood_of_superiority(pairs) > 0.99 > likelihood_of_superiority(games)


def test_degenerate_matches_are_bounded_only_where_they_can_be() -> None:
    everything = Estimate(0, -math.inf, math.inf)
    for nothing in (Score(), PairScores(), MatchScore()):
        assert elo(nothing) == everything
        assert likelihood_of_superiority(nothing) == 0.5
    assert normalized_elo(Score()) == normalized_elo(PairScores()) == everything
    won: list[Score | PairScores] = [Score(wins=20), PairScores((0, 0, 0, 0, 10))]
    for result in won:
        for estimate in (elo(result), normalized_elo(result)):
            assert estimate.value == estimate.high == math.inf
            assert 0 <= estimate.low < 1000
        assert elo(result).low > 100
        assert 0.99 < likelihood_of_superiority(result) < 1
    drawn: list[Score | PairScores] = [Score(draws=20), PairScores((0, 0, 10, 0, 0))]
    for result in drawn:
        for estimate in (elo(result), normalized_elo(result)):
            assert estimate.value == 0
            assert -300 < estimate.low == pytest.approx(-estimate.high)
            assert 20 < estimate.high < 300
        assert likelihood_of_superiority(result) == 0.5


@given(results)
def test_nothing_is_ever_nan(result: Score | PairScores | MatchScore) -> None:
    estimates = [elo(result)]
    if not isinstance(result, MatchScore):
        estimates.append(normalized_elo(result))
    for estimate in estimates:
        assert not any(map(math.isnan, (estimate.value, estimate.low, estimate.high)))
        assert estimate.low <= estimate.value <= estimate.high


def test_normalized_elo_is_the_rate_in_deviations_of_a_game() -> None:
    games = np.repeat([0, 0.5, 1], [20, 50, 30])
    expected = (games.mean() - 0.5) / games.std() * 800 / math.log(10)
    assert normalized_elo(Score(30, 50, 20)).value == pytest.approx(expected)
    of_pairs = np.repeat(PAIR_RATES, [1, 20, 40, 30, 5])
    expected = (of_pairs.mean() - 0.5) / (of_pairs.std() * math.sqrt(2)) * NORMALIZED_ELO
    assert normalized_elo(PairScores((1, 20, 40, 30, 5))).value == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        elo(Score(1, 1, 1), confidence)
    with pytest.raises(ValueError, match="confidence"):
        normalized_elo(Score(1, 1, 1), confidence)


@pytest.mark.parametrize("pairs_played", [30, 100, 500])
def test_the_interval_covers_the_truth_as_often_as_it_says(pairs_played: int) -> None:
    rng = np.random.default_rng(20240501)
    for difference in (0, 50, 200, 350):
        for draws, bias, correlation in ((0, 0, 0), (0.4, 0, 0.3), (0.4, 400, 0), (0.7, 200, 0)):
            chances = pair_distribution(difference, draws, bias, correlation)
            truth = float(chances @ PAIR_RATES)
            deviation = math.sqrt(chances @ (PAIR_RATES - truth) ** 2)
            normalized = (truth - 0.5) / deviation / math.sqrt(2) * NORMALIZED_ELO

            @functools.cache
            def covered(
                five: tuple[int, int, int, int, int],
                truth: float = elo_of_rate(truth),
                normalized: float = normalized,
            ) -> tuple[bool, bool]:
                one, other = elo(PairScores(five)), normalized_elo(PairScores(five))
                return one.low <= truth <= one.high, other.low <= normalized <= other.high

            matches = rng.multinomial(pairs_played, chances, size=1000).tolist()
            shares = np.mean([covered(tuple(five)) for five in matches], axis=0)
            noise = 3 * math.sqrt(0.95 * 0.05 / 1000)
            assert 0.945 - noise < shares[0] < 0.965 + noise
            assert 0.94 - noise < shares[1] < 0.985 + noise
