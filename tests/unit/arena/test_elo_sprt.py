# SPDX-License-Identifier: Apache-2.0
"""The sequential test: its ratio against a direct maximization, its errors in simulated matches."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from hyoka.arena.elo import NORMALIZED_ELO, Sprt, elo_of_rate, rate_of_elo
from hyoka.arena.score import PairScores, Score
from hyoka.foundation.errors import NotationError

MODELS = ("logistic", "normalized")
counts = st.integers(0, 500)
pairs = st.builds(PairScores, st.tuples(counts, counts, counts, counts, counts))
scores = st.builds(Score, counts, counts, counts)


def greatest_log_likelihood(seen: Sequence[int], elo: float, model: str) -> float:
    """Of all distributions that satisfy a claim, found by a general optimizer."""
    rates = np.linspace(0, 1, len(seen))
    weights = np.array(seen) / sum(seen)

    def distribution(logits: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = np.exp(logits - logits.max())
        return np.asarray(shares / shares.sum())

    def violation(logits: NDArray[np.float64]) -> float:
        shares = distribution(logits)
        mean = shares @ rates
        if model == "logistic":
            return float(mean - rate_of_elo(elo))
        deviation = math.sqrt(shares @ (rates - mean) ** 2)
        games = (len(seen) - 1) / 2
        return float(mean - 0.5 - elo / NORMALIZED_ELO * math.sqrt(games) * deviation)

    found = minimize(
        lambda logits: -(weights @ np.log(distribution(logits))),
        np.log(weights),
        constraints={"type": "eq", "fun": violation},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.success
    return float(-found.fun * sum(seen))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seen", [(10, 100, 300, 130, 20), (40, 30, 50, 60, 70), (30, 80, 45)])
@pytest.mark.parametrize("claims", [(0, 5), (-20, 60)])
def test_the_ratio_is_that_of_the_greatest_likelihoods(
    model: str, seen: tuple[int, ...], claims: tuple[float, float]
) -> None:
    test = Sprt(*claims, model=model)
    expected = greatest_log_likelihood(seen, claims[1], model)
    expected -= greatest_log_likelihood(seen, claims[0], model)
    [found] = test.llrs(np.array([seen], dtype=float))
    assert found == pytest.approx(expected, abs=2e-5)


def test_the_ratio_is_nearly_that_of_a_normal_mean() -> None:
    result = PairScores((500, 2500, 6000, 2700, 600))
    rates = np.repeat(np.linspace(0, 1, 5), result.counts)
    low, high = rate_of_elo(0), rate_of_elo(5)
    expected = len(rates) * (high - low) * (rates.mean() - (low + high) / 2) / rates.var()
    assert Sprt(0, 5).llr(result) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=40)
@given(st.one_of(pairs, scores), st.floats(0, 30), st.floats(1, 60))
def test_the_other_player_has_minus_the_ratio_of_the_opposite_claims(
    model: str, result: Score | PairScores, elo0: float, gap: float
) -> None:
    here = Sprt(elo0, elo0 + gap, model=model).llr(result)
    there = Sprt(-elo0 - gap, -elo0, model=model).llr(~result)
    assert math.isfinite(here)
    assert here == pytest.approx(-there, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_degenerate_matches_have_a_finite_ratio_of_the_right_sign(model: str) -> None:
    test = Sprt(0, 10, model=model)
    assert test.llr(Score()) == test.llr(PairScores()) == 0
    assert test.decision(PairScores()) is None
    assert (
        test.decision(PairScores((0, 0, 0, 0, 10_000))) == test.decision(Score(wins=9999)) == "H1"
    )
    assert (
        test.decision(PairScores((10_000, 0, 0, 0, 0))) == test.decision(Score(losses=9999)) == "H0"
    )
    assert -math.inf < test.llr(PairScores((0, 0, 1000, 0, 0))) < 0
    for which in range(5):
        one = PairScores.of_points(which / 2)
        assert abs(test.llr(one)) < 1
    wide = Sprt(-1000, 1000, model=model)
    assert math.isfinite(wide.llr(PairScores((0, 0, 0, 0, 100))))
    assert math.isfinite(wide.llr(Score(losses=3)))


def test_the_bounds_are_walds() -> None:
    test = Sprt(0, 5, alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == (math.log(0.1 / 0.95), math.log(0.9 / 0.05))


def test_a_test_is_read_from_text() -> None:
    assert Sprt.from_text("0,5") == Sprt(0, 5)
    assert Sprt.from_text(" -1.5 , 2e0 ") == Sprt(-1.5, 2)
    assert Sprt.from_text("0,2,model=normalized,alpha=0.1,beta=0.2") == Sprt(
        0, 2, 0.1, 0.2, "normalized"
    )
    assert str(Sprt(0, 5)) == "0,5"
    assert str(Sprt(0, 5, 0.1, model="normalized")) == "0,5,alpha=0.1,model=normalized"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "ELO0,ELO1"),
        ("5", "ELO0,ELO1"),
        ("a,b", "a number, not 'a'"),
        ("5,0", "below"),
        ("0,0", "below"),
        ("0,inf", "below"),
        ("nan,1", "below"),
        ("0,5000", "within 1000"),
        ("0,5,alpha=0", "alpha must be between"),
        ("0,5,beta=x", "beta is a number"),
        ("0,5,modle=normalized", "did you mean model"),
        ("0,5,0.05", "no setting '0.05'"),
        ("0,5,model=normal", "did you mean normalized"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused(text: str, words: str) -> None:
    with pytest.raises(NotationError, match=words):
        Sprt.from_text(text)


@given(st.floats(-500, 499), st.floats(0.1, 500), st.floats(0.001, 0.4), st.sampled_from(MODELS))
def test_text_and_test_are_one(elo0: float, gap: float, alpha: float, model: str) -> None:
    test = Sprt(elo0, elo0 + gap, alpha, 0.05, model)
    assert Sprt.from_text(str(test)) == test


# Errors in simulated matches


def true_distribution(elo: float, model: str, draws: float, bias: float) -> NDArray[np.float64]:
    """A pair's results where the claim of `elo` is exactly true; openings favor one side."""
    rates = np.linspace(0, 1, 5)

    def of(strength: float) -> NDArray[np.float64]:
        sides = []
        for difference in (strength + bias, strength - bias):
            weights = 10 ** (np.array([-difference, 0, difference]) / 800)
            weights[1] = 2 * draws / (1 - draws)
            sides.append(weights / weights.sum())
        return np.convolve(*sides)

    def measured(strength: float) -> float:
        chances = of(strength)
        mean = chances @ rates
        if model == "logistic":
            return elo_of_rate(float(mean))
        deviation = math.sqrt(chances @ (rates - mean) ** 2)
        return float((mean - 0.5) / deviation / math.sqrt(2) * NORMALIZED_ELO)

    return of(brentq(lambda strength: measured(strength) - elo, -1000, 1000))


@pytest.mark.parametrize(("model", "elo1"), [("logistic", 80), ("normalized", 120)])
@pytest.mark.parametrize(("draws", "bias"), [(0.2, 0), (0.5, 300)])
def test_the_test_errs_as_often_as_it_says(
    model: str, elo1: float, draws: float, bias: float
) -> None:
    test = Sprt(0, elo1, model=model)
    rng = np.random.default_rng(7)
    matches = 500
    for claim, wrong in ((0, "H1"), (elo1, "H0")):
        chances = true_distribution(claim, model, draws, bias)
        running = np.zeros((matches, 5))
        decided = {"H0": 0, "H1": 0}
        while len(running):
            running = running + rng.multinomial(3, chances, size=len(running))
            llrs = test.llrs(running)
            decided["H1"] += int((llrs >= test.upper).sum())
            decided["H0"] += int((llrs <= test.lower).sum())
            running = running[(llrs < test.upper) & (llrs > test.lower)]
        assert 0.01 < decided[wrong] / matches < 0.07
