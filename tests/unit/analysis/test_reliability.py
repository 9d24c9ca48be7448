# SPDX-License-Identifier: Apache-2.0
"""CORP reliability diagrams: against scikit-learn, published properties, coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from hyoka.analysis import NO_INTERVALS, Resampling, Sample, measure_reliability, recalibrated

LOSSES = ("brier_loss", "log_loss")


def simulated(
    seed: int, *, games: int = 400, positions: int = 10, slope: float = 1.0, draws: bool = False
) -> Sample:
    """Positions whose true win probability is a logistic curve of the claim's log-odds."""
    generator = np.random.default_rng(seed)
    log_odds = generator.normal(0, 1, games)
    chance = 1 / (1 + np.exp(-slope * log_odds))
    won = (generator.random(games) < chance).astype(float)
    if draws:
        won[generator.random(games) < 0.3] = 0.5
    # All positions of a game share its claim, so that every claim is exactly the true curve's.
    claims = np.repeat(1 / (1 + np.exp(-log_odds)), positions)
    numbers = np.repeat(np.arange(games), positions)
    return Sample.of("simulated", claims, results=won[numbers], games=numbers)


def by_scikit_learn(sample: Sample) -> NDArray[np.float64]:
    fit = IsotonicRegression(out_of_bounds="clip")
    values = sample.values.astype(np.float64)
    fit.fit(values, sample.results.astype(np.float64), sample.weight)
    return np.asarray(fit.predict(values), dtype=np.float64)


@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 3)),
        min_size=1,
        max_size=40,
    )
)
def test_recalibration_is_scikit_learn_s_isotonic_regression(
    rows: list[tuple[int, float, int]],
) -> None:
    values, results, weights = (
        np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)
    )
    fit = IsotonicRegression(out_of_bounds="clip").fit(values, results, weights)
    assert recalibrated(values, results, weights) == pytest.approx(fit.predict(values), abs=1e-6)


def test_the_parts_are_the_losses_of_three_claims() -> None:
    """Independent losses of the claims, the recalibrated claims and their mean."""
    sample = simulated(1, slope=0.5)
    shares = by_scikit_learn(sample)
    parts = measure_reliability(sample, resampling=NO_INTERVALS).losses
    mean = np.full(len(sample), sample.results.mean())
    for name, loss in (("brier_loss", brier_score_loss), ("log_loss", log_loss)):
        own, best, constant = (loss(sample.results, each) for each in (sample.values, shares, mean))
        found = parts[name]
        assert found.loss.value == pytest.approx(own, abs=1e-6)
        assert found.miscalibration.value == pytest.approx(own - best, abs=1e-6)
        assert found.discrimination.value == pytest.approx(constant - best, abs=1e-6)
        assert found.uncertainty.value == pytest.approx(constant, abs=1e-6)


@given(st.integers(0, 10_000), st.booleans())
def test_published_properties_of_the_parts_hold(seed: int, draws: bool) -> None:
    """Dimitriadis et al. 2021, theorem 1: the parts add up, and none is negative."""
    sample = simulated(seed, games=30, positions=3, draws=draws)
    for parts in measure_reliability(sample, resampling=NO_INTERVALS).losses.values():
        total = parts.miscalibration.value - parts.discrimination.value + parts.uncertainty.value
        assert total == pytest.approx(parts.loss.value, abs=1e-9)
        assert parts.miscalibration.value >= -1e-9
        assert parts.discrimination.value >= -1e-9


def test_recalibrated_claims_have_no_miscalibration() -> None:
    sample = simulated(2)
    again = Sample.of("again", by_scikit_learn(sample), results=sample.results, games=sample.games)
    parts = measure_reliability(again, resampling=NO_INTERVALS).losses["brier_loss"]
    assert parts.miscalibration.value == pytest.approx(0, abs=1e-7)


def test_a_constant_claim_of_the_mean_neither_discriminates_nor_is_miscalibrated() -> None:
    sample = Sample.of("constant", [0.25] * 4, results=[1, 0, 0, 0], games=range(4))
    for parts in measure_reliability(sample, resampling=NO_INTERVALS).losses.values():
        assert parts.miscalibration.value == pytest.approx(0, abs=1e-12)
        assert parts.discrimination.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_alone_determines_discrimination(loss: str) -> None:
    """A monotone change of the claims changes miscalibration only."""
    sample = simulated(3)
    squeezed = Sample.of(
        "squeezed", 0.25 + sample.values / 2, results=sample.results, games=sample.games
    )
    one, other = (measure_reliability(each, resampling=NO_INTERVALS) for each in (sample, squeezed))
    assert one.losses[loss].discrimination.value == pytest.approx(
        other.losses[loss].discrimination.value
    )


def test_scores_are_recalibrated_by_their_order() -> None:
    """The diagram of scores has claims by the logistic curve; mates come first and last."""
    values = [-np.inf, -300, -100, 0, 100, 300, np.inf, 50]
    results = [0, 0, 1, 0, 1, 1, 1, 0]
    sample = Sample.of("engine", values, results=results, games=range(8), unit="centipawns")
    diagram = measure_reliability(sample, resampling=Resampling(20))
    claims = [point.claim for point in diagram.points]
    assert claims == sorted(claims)
    assert (diagram.points[0].share, diagram.points[-1].share) == (0, 1)
    assert sum(point.positions for point in diagram.points) == 8


def test_few_points_represent_many_values() -> None:
    generator = np.random.default_rng(4)
    games = np.arange(5000)
    sample = Sample.of(
        "many", generator.random(5000), results=generator.integers(0, 2, 5000), games=games
    )
    points = measure_reliability(sample, resampling=NO_INTERVALS).points
    assert 300 < len(points) <= 400
    assert sum(point.positions for point in points) == 5000
    shares = [point.share for point in points]
    assert (np.diff(shares) > -1e-12).all()


def test_shares_of_zero_and_one_have_wilson_intervals_of_their_games() -> None:
    values = np.repeat([0.1, 0.9], 40)
    games = np.repeat(np.arange(40), 2)
    sample = Sample.of("engine", values, results=values > 0.5, games=games)
    first, last = measure_reliability(sample, resampling=Resampling(50)).points
    reach = stats.t.ppf(0.975, 19) ** 2 / 20
    for low, share, high in ((first.low, 0.0, first.high), (1 - last.high, 0.0, 1 - last.low)):
        assert low == share
        assert high == pytest.approx(reach / (1 + reach))


def test_scores_without_a_curve_have_no_diagram() -> None:
    sample = Sample.of("parted", [-10, 10], results=[0, 1], games=[1, 2], unit="centipawns")
    diagram = measure_reliability(sample, resampling=NO_INTERVALS)
    assert (diagram.points, diagram.losses) == ((), {})


def test_intervals_contain_the_truth_as_often_as_they_say() -> None:
    """With claims that are right and that are overconfident; each 95 % interval in 85 % or more.

    The truth is the expectation over the distribution from which games are drawn.
    """
    for slope in (1.0, 0.5):
        log_odds = np.random.default_rng(0).normal(0, 1, 400_000)
        claim, chance = 1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(-slope * log_odds))
        miscalibration = float(((claim - chance) ** 2).mean())
        discrimination = float(((chance - chance.mean()) ** 2).mean())
        hits = np.zeros(2)
        bands = []
        for seed in range(60):
            sample = simulated(seed, slope=slope, positions=3)
            diagram = measure_reliability(sample, resampling=Resampling(100))
            parts = diagram.losses["brier_loss"]
            for i, (part, truth) in enumerate(
                ((parts.miscalibration, miscalibration), (parts.discrimination, discrimination))
            ):
                hits[i] += part.low <= truth <= part.high
            for point in diagram.points:
                if 0.2 < point.claim < 0.8:
                    odds = np.log(point.claim / (1 - point.claim))
                    bands.append(point.low <= 1 / (1 + np.exp(-slope * odds)) <= point.high)
        assert hits.min() >= 51
        assert np.mean(bands) > 0.85
