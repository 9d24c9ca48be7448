# SPDX-License-Identifier: Apache-2.0
"""Metrics, fits and intervals against scikit-learn, SciPy, NumPy and plain counting."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from hyoka._core import Ranking, resampled_sums
from hyoka.analysis import (
    NO_INTERVALS,
    STRAIGHT,
    AdaptiveBins,
    Calibration,
    Equals,
    Link,
    Resampling,
    Sample,
    calibrate,
    condition_gap,
    curve_distance,
    fit_logistic,
    fit_plain,
    measure,
    measure_curve,
)
from hyoka.analysis.curves import never_falling
from hyoka.analysis.gaps import matching_bins
from hyoka.analysis.metrics import METRICS

from . import metric_twins as twin


def random_sample(seed: int, *, size: int = 400, games: int = 20, levels: int = 30) -> Sample:
    """Values with ties, results that go with them, a few games."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, levels, size) / levels
    results = (rng.random(size) < 0.2 + 0.6 * values).astype(np.float32)
    return Sample.of("random", values, results=results, games=rng.integers(0, games, size))


def rows_of(sample: Sample) -> twin.Rows:
    return [
        (
            float(v),
            Fraction(float(w)) * Fraction(float(r)),
            Fraction(float(w)) * (1 - Fraction(float(r))),
        )
        for v, r, w in zip(sample.values, sample.results, sample.weight, strict=True)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_metrics_agree_with_scikit_learn_and_scipy(seed: int) -> None:
    sample = random_sample(seed, size=50 + 40 * seed, levels=3 + 5 * seed)
    found = measure(sample)
    said, came = sample.values.astype(np.float64), sample.results
    called = said >= 0.5
    right = sk.accuracy_score(came, called)
    assert found["ACC"].value == pytest.approx(max(right, 1 - right))
    assert found["FSC"].value == pytest.approx(sk.f1_score(came, called))
    area = sk.roc_auc_score(came, said)
    assert found["ROC"].value == pytest.approx(max(area, 1 - area))
    assert found["tau_b"].value == pytest.approx(stats.kendalltau(said, came).statistic)
    clipped = np.clip(said, 1e-4, 1 - 1e-4)
    assert found["Brier"].value == pytest.approx(sk.brier_score_loss(came, clipped))
    assert found["log-loss"].value == pytest.approx(sk.log_loss(came, clipped))
    apart = abs(said[came == 1].mean() - said[came == 0].mean())
    assert found["E(v)"].value == pytest.approx(apart, rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_ranked_metrics_agree_with_plain_counting(seed: int) -> None:
    sample = random_sample(seed, size=30 + 10 * seed, levels=2 + 3 * seed)
    if seed % 3 == 1:  # draws count half, and some are mates
        rng = np.random.default_rng(seed)
        results = np.where(rng.random(len(sample)) < 0.3, 0.5, sample.results)
        values = np.where(rng.random(len(sample)) < 0.1, np.inf, sample.values)
        values = np.where(rng.random(len(sample)) < 0.1, -np.inf, values)
        sample = Sample.of("drawn", values, results=results, games=sample.games, unit="points")
    found, rows = measure(sample), rows_of(sample)
    right, tied, wrong = twin.pairs(rows)
    every = right + tied + wrong
    area = (right + tied / 2) / every
    assert found["ROC"].value == pytest.approx(float(max(area, 1 - area)))
    assert found["τ"].value == pytest.approx(float((right + tied - wrong) / every))
    assert found["P@25"].value == pytest.approx(float(twin.top_quarter(rows)))
    wins = sum((w for _, w, _ in rows), Fraction(0)) / len(rows)
    assert found["LFT"].value == pytest.approx(float(twin.top_quarter(rows) / wins))
    assert found["BEP"].value == pytest.approx(float(twin.break_even(rows)))
    assert found["APR"].value == pytest.approx(float(twin.average_precision(rows)))


def test_the_best_threshold_is_the_best_of_all() -> None:
    sample = random_sample(3)
    best = measure(sample, threshold="best")
    accuracies = [
        sk.accuracy_score(sample.results, sample.values >= t)
        for t in [*np.unique(sample.values), np.inf]
    ]
    assert best["ACC"].value == pytest.approx(max(accuracies))


@pytest.mark.parametrize("results", [[1, 1, 1], [0, 0, 0]])
def test_with_one_class_what_needs_both_is_not_a_number(results: list[int]) -> None:
    found = measure(Sample.of("x", [0.2, 0.6, 0.9], results=results, games=[1, 2, 3]))
    for name in ("ROC", "τ", "τ-b", "E(v)"):
        assert math.isnan(found[name].value)
    assert found["ACC"].value == pytest.approx(2 / 3)
    assert found["Brier"].value == pytest.approx(
        sk.brier_score_loss(results, [0.2, 0.6, 0.9], labels=[0, 1]), rel=1e-5
    )


def test_of_no_positions_nothing_is_known() -> None:
    found = measure(Sample.of("x", [], results=[], games=[]))
    assert all(math.isnan(found[name].value) for name in METRICS)


def test_positions_without_a_value_or_a_result_are_left_out() -> None:
    nan = math.nan
    sample = Sample.of("x", [0.1, nan, 0.9, 0.4], results=[0, 1, 1, nan], games=[1, 1, 2, 3])
    assert sample.values.tolist() == pytest.approx([0.1, 0.9])
    assert sample.rows is not None
    assert sample.rows.tolist() == [0, 2]
    with pytest.raises(ValueError, match="not a number"):
        Ranking(np.array([nan], np.float32), np.ones(1, np.float32), np.zeros(1, np.uint32), 1)


def test_mates_rank_beyond_everything_and_stay_out_of_means() -> None:
    values = [-math.inf, -300, 20, 150, math.inf]
    sample = Sample.of("x", values, results=[0, 0, 1, 1, 1], games=range(5), unit="centipawns")
    found = measure(sample)
    assert found["ROC"].value == 1.0
    assert found["E(v)"].value == pytest.approx((20 + 150) / 2 + 300)
    # Nothing overlaps, so no curve fits best, and nothing is made up in its place.
    assert math.isnan(found["log-loss"].value)
    assert "perfect separation" in found.no_curve


def test_a_weight_counts_like_that_number_of_positions() -> None:
    sample = random_sample(5, size=120)
    times = np.random.default_rng(1).integers(0, 4, len(sample))
    weighed = Sample(
        "w", "value", sample.values, sample.results, sample.games, sample.game_count,
        times.astype(np.float32),
    )  # fmt: skip
    copied = Sample.of(
        "c",
        np.repeat(sample.values, times),
        results=np.repeat(sample.results, times),
        games=np.repeat(sample.games, times),
    )
    one, other = measure(weighed), measure(copied)
    for name in METRICS:
        if name != "calibration_error":  # which knows how many games a bin's noise comes from
            assert one[name].value == pytest.approx(other[name].value), name


def multiplicities(games: int, resamples: int, seed: int) -> NDArray[Any]:
    """How often each resample holds each game."""
    drawn: NDArray[Any] = resampled_sums(np.eye(games), resamples, seed)
    return drawn


def test_resamples_are_games_drawn_with_replacement() -> None:
    times = multiplicities(40, 2000, 7)
    assert (times.sum(axis=1) == 40).all()
    assert times.mean() == 1
    # Of multinomial counts: variance 1 - 1/n, covariance -1/n.
    assert times.var() == pytest.approx(1 - 1 / 40, abs=0.03)
    assert (multiplicities(40, 20, 7) == times[:20]).all()
    assert (multiplicities(40, 20, 8) != times[:20]).any()


@pytest.mark.parametrize("seed", range(4))
def test_a_resample_is_what_copying_its_games_would_give(seed: int) -> None:
    sample = random_sample(seed, size=200, games=12, levels=4 + 30 * (seed % 2))
    drawn = sample.ranking.resampled_metrics(10, seed, 2)
    edges = np.linspace(0, 1, 8)
    bins = sample.ranking.resampled_bins(edges, 10, seed, 2)
    for times, row, in_bins in zip(multiplicities(12, 10, seed), drawn, bins, strict=True):
        copies = times[sample.games].astype(int)
        values = np.repeat(sample.values, copies)
        results = np.repeat(sample.results, copies)
        games = np.repeat(sample.games, copies)
        copied = Ranking(values, results, games, 12)
        np.testing.assert_allclose(row, copied.metrics(), rtol=1e-9)
        np.testing.assert_allclose(in_bins, copied.bins(edges)[:, [1, 0, 2, 3]], rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_bins_agree_with_numpy(seed: int) -> None:
    sample = random_sample(seed, size=500)
    edges = np.array([0.0, 0.21, 0.4, 0.41, 0.97])
    found = sample.ranking.bins(edges)
    counts, _ = np.histogram(sample.values, edges)
    wins, _ = np.histogram(sample.values, edges, weights=sample.results)
    np.testing.assert_array_equal(found[:, 5], counts)
    np.testing.assert_allclose(found[:, 1], wins)
    for number, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = (sample.values >= low) & (sample.values < high)
        if inside.sum() < 2:
            continue
        mean = sample.results[inside].mean()
        off = np.bincount(sample.games[inside], sample.results[inside] - mean, minlength=20)
        here = len(np.unique(sample.games[inside]))
        variance = (off**2).sum() / inside.sum() ** 2 * here / (here - 1)
        assert found[number, 4] == pytest.approx(variance, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_logistic_curve_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(30, 200, 3000).astype(np.float32)
    results = rng.random(3000) < 1 / (1 + np.exp(-(scores - 20) / 150))
    games = rng.integers(0, 100, 3000)
    sample = Sample.of("x", scores, results=results, games=games, unit="centipawns")
    found = fit_logistic(sample)
    x = scores.astype(np.float64)[:, None]
    theirs = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000).fit(x / 200, results)
    slope = theirs.coef_[0, 0] / 200
    assert found.slope.value == pytest.approx(slope, rel=1e-4)
    assert found.intercept.value == pytest.approx(theirs.intercept_[0], abs=1e-4)
    assert found.scale.value == pytest.approx(1 / slope, rel=1e-4)
    # The sandwich by games, written out.
    p = theirs.predict_proba(x / 200)[:, 1]
    design = np.hstack([np.ones_like(x), x])
    bread = np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)
    scores_by_game = np.stack(
        [np.bincount(games, (results - p) * column, minlength=100) for column in design.T], axis=1
    )
    covariance = bread @ (scores_by_game.T @ scores_by_game) @ bread * 100 / 99
    half = stats.norm.ppf(0.975) * np.sqrt(covariance[1, 1])
    assert found.slope.high - found.slope.value == pytest.approx(half, rel=1e-3)


def test_no_curve_fits_what_does_not_overlap() -> None:
    def verdict(values: list[float], results: list[float]) -> str:
        games = range(len(values))
        sample = Sample.of("x", values, results=results, games=games, unit="points")
        found = fit_logistic(sample)
        assert found.converged == (found.verdict == "fits")
        assert math.isnan(found.slope.value) != found.converged
        return found.verdict

    assert verdict([-2, -1, 1, 2], [0, 0, 1, 1]) == "parted"
    assert verdict([-2, -1, 1, 2], [1, 1, 0, 0]) == "parted"
    assert verdict([-2, 1, 1, 2], [0, 0, 1, 1]) == "parted"  # at 1 a win and a loss, and no more
    assert verdict([-2, 1, 1.5, 2], [0, 1, 0, 1]) == "fits"
    assert verdict([-2, 0, 2], [0, 0.5, 1]) == "parted"
    assert verdict([1, 1, 1], [0, 1, 1]) == "one value"
    assert verdict([1, 2, 3], [1, 1, 1]) == "one result"
    assert verdict([math.inf, -math.inf], [1, 0]) == "no values"


@pytest.mark.parametrize("seed", range(12))
def test_the_fit_finds_the_optimum_however_wrong_some_values_are(seed: int) -> None:
    """A few enormous scores on the wrong side make plain Newton steps diverge."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(40, 3000))
    scores = rng.normal(0, 10.0 ** rng.uniform(0, 3), size)
    results = rng.random(size) < 1 / (1 + np.exp(-scores / (scores.std() * rng.uniform(0.02, 1))))
    wrong = rng.integers(0, size, int(rng.integers(1, 6)))
    scores[wrong] = rng.choice([-1, 1], len(wrong)) * 10.0 ** rng.uniform(3, 4.3, len(wrong))
    sample = Sample.of("x", scores, results=results, games=np.arange(size) // 5, unit="centipawns")
    for link in (STRAIGHT, Link(bend=100), Link(limit=500)):
        found = fit_logistic(replace(sample, link=link))
        x = link(sample.values)
        scaled = x / np.abs(x).max()

        def surprise(at: Any, scaled: Any = scaled) -> float:
            z = at[0] + at[1] * scaled
            return float(np.where(results, np.logaddexp(0, -z), np.logaddexp(0, z)).sum())

        starts = [[0.0, 0.0], [0.0, 1.0], [0.0, 30.0], [0.0, 500.0]]
        theirs = min(
            optimize.minimize(surprise, start, method=how, options={"maxiter": 4000}).fun
            for start in starts
            for how in ("Nelder-Mead", "BFGS")
        )
        assert found.converged
        ours = surprise([found.intercept.value, found.slope.value * np.abs(x).max()])
        assert ours <= theirs + 1e-6 * max(theirs, 1)
        # And what the metrics make of scores uses that optimum.
        said = np.clip(found.probability(sample.values), 1e-4, 1 - 1e-4)
        brier = np.mean((said - results) ** 2)
        assert measure(replace(sample, link=link))["Brier"].value == pytest.approx(brier, rel=1e-5)


def test_a_few_badly_wrong_scores_rule_no_curve() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(0, 120, 8000)
    won = rng.random(8000) < 1 / (1 + np.exp(-scores / 60))
    wild = rng.random(8000) < 0.02
    scores[wild] = rng.choice([-8000, 8000], wild.sum())
    sample = Sample.of("x", scores, results=won, games=np.arange(8000) // 10, unit="centipawns")
    near = np.array([-100.0, -40.0, 0.0, 40.0, 100.0])
    truth = 1 / (1 + np.exp(-near / 60))
    found = fit_logistic(sample)
    assert not found.link.is_straight
    np.testing.assert_allclose(found.probability(near), truth, atol=0.05)
    plain = fit_logistic(replace(sample, link=STRAIGHT))
    assert np.abs(plain.probability(near) - truth).max() > 0.2


def test_the_link_is_the_one_that_games_held_out_prefer() -> None:
    """The losses by fold, worked out with scikit-learn."""
    rng = np.random.default_rng(5)
    scores = np.round(rng.standard_t(1.5, 400) * 50)
    won = rng.random(400) < 1 / (1 + np.exp(-np.arcsinh(scores / 40)))
    games = np.arange(400) // 4
    sample = Sample.of("x", scores, results=won, games=games, unit="centipawns")
    links = [Link(20), Link(50), Link(500), Link(limit=100), Link(20, 300)]
    bends, limits = (np.array([getattr(link, end) for link in links]) for end in ("bend", "limit"))
    found = sample.ranking.held_out_losses(bends, limits)
    for link, loss in zip(links, found, strict=True):
        x = link(sample.values)[:, None] / 100
        surprise = 0.0
        for fold in range(5):
            out = games % 5 == fold
            model = LogisticRegression(C=1e12, tol=1e-10, max_iter=2000).fit(x[~out], won[~out])
            said = model.predict_proba(x[out])[:, 1]
            surprise -= np.log(np.where(won[out], said, 1 - said)).sum()
        assert loss == pytest.approx(surprise / 400, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_curve_that_never_falls_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares, weights = rng.random(30), rng.random(30) + 0.1
    theirs = IsotonicRegression().fit(np.arange(30), shares, weights).predict(np.arange(30))
    np.testing.assert_allclose(never_falling(shares, weights), theirs, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_gap_is_what_plain_arithmetic_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sample = random_sample(seed, size=600, games=40)
    holds = rng.random(600) < 0.3
    edges = np.linspace(0, 1, 6)
    found = condition_gap(sample, holds, edges=edges)
    cell = np.clip(np.searchsorted(edges, sample.values, side="right") - 1, 0, 4)
    mean = np.array([sample.results[cell == b].mean() for b in range(5)])
    share = np.array([holds[cell == b].mean() for b in range(5)])
    residual = sample.results - mean[cell]
    assert found.level.effect.value == pytest.approx(residual[holds].mean(), abs=1e-6)
    sign = np.sign(mean - sample.results.mean())[cell]
    assert found.lean.effect.value == pytest.approx((sign * residual)[holds].mean(), abs=1e-6)
    # As a regression has it: the effect, what is left beside it, and its sums by game.
    beyond = holds - share[cell]
    slope = (residual * beyond).sum() / (beyond**2).sum()
    left = np.bincount(sample.games, (residual - slope * beyond) * beyond, minlength=40)
    error = np.sqrt((left**2).sum() * 40 / 39) / holds.sum()
    assert found.level.error == pytest.approx(error, rel=1e-5)
    # And without an effect, for the test.
    alone = np.bincount(sample.games, residual * beyond, minlength=40)
    null_error = np.sqrt((alone**2).sum() * 40 / 39) / holds.sum()
    freedom = (alone**2).sum() ** 2 / (alone**4).sum() - 1
    chance = 2 * stats.t.sf(abs(found.level.effect.value) / null_error, freedom)
    assert found.level.p_value == pytest.approx(chance, rel=1e-3)
    others = condition_gap(sample, ~holds, edges=edges)
    total = holds.sum() * found.level.effect.value + (~holds).sum() * others.level.effect.value
    assert total == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_balanced_gap_is_what_plain_counting_within_phases_says(seed: int) -> None:
    """Each position of the condition against all of its phase that are about as much worth."""
    rng = np.random.default_rng([seed, 1])
    sample = random_sample(seed, size=3000, games=60, levels=300)
    strata = rng.integers(0, 3, 3000)
    holds = rng.random(3000) < 0.1 + 0.2 * strata
    weighed = replace(sample, weights=rng.integers(1, 3, 3000).astype(np.float32))
    for each in (sample, weighed):
        equals = Equals(each, strata)
        values = each.values.astype(np.float64)
        beyond = np.zeros(3000)
        lean = np.zeros(3000)
        middle = np.average(each.results, weights=each.weight)
        # Which side is favored, the curve of all says, whatever the phase.
        edges = matching_bins(each).cuts(each).edges
        predicted = np.zeros(3000)
        for low, high in itertools.pairwise(edges.tolist()):
            here = (values >= low) & (values < high)
            predicted[here] = np.average(each.results[here], weights=each.weight[here]) > middle
        for stratum in range(3):
            here = strata == stratum
            part = each.where(here)
            edges = matching_bins(part).cuts(part).edges
            for low, high in itertools.pairwise(edges.tolist()):
                for side in (0, 1):
                    cell = here & (values >= low) & (values < high) & (predicted == side)
                    if cell.any():
                        mean = np.average(each.results[cell], weights=each.weight[cell])
                        beyond[cell] = each.results[cell] - mean
                        lean[cell] = (1 if side else -1) * beyond[cell]
        found = equals.gap(holds)
        weight = each.weight[holds]
        level = np.average(beyond[holds], weights=weight)
        assert found.level.effect.value == pytest.approx(level, abs=1e-6)
        assert found.lean.effect.value == pytest.approx(
            np.average(lean[holds], weights=weight), abs=1e-6
        )
        # Value by value the same: the area is the mean over the range, the largest gap is in it.
        distance = equals.distance(holds, Resampling(20))
        assert distance is not None
        wide = AdaptiveBins(3000 // 6, games=1, error=math.inf).cuts(each).edges
        gaps = []
        for low, high in itertools.pairwise(wide.tolist()):
            inside = holds & (values >= low) & (values < high)
            gaps.append(np.average(beyond[inside], weights=each.weight[inside]))
        widths = np.diff(wide)
        area = (np.array(gaps) * widths).sum() / widths.sum()
        assert distance.signed_area == pytest.approx(area, abs=1e-6)
        assert distance.largest_gap == pytest.approx(max(gaps, key=abs), abs=1e-6)


def test_the_largest_gap_is_tested_by_the_signs_of_games() -> None:
    """All signs of a few games, against the share of random ones."""
    rng = np.random.default_rng(4)
    games = np.repeat(np.arange(8), 40)
    sample = Sample.of("x", rng.random(320), results=(np.arange(8) % 2)[games], games=games)
    holds = rng.random(320) < np.where(sample.results == 1, 0.7, 0.3)
    edges = np.array([0.0, 0.5, 1.0])
    found = curve_distance(
        sample, holds, edges=edges, least_positions=1, resampling=Resampling(4000)
    )
    assert found is not None
    cell = (sample.values >= 0.5).astype(int)
    scores, seen = np.zeros((2, 8)), np.zeros(2)
    for b, game in itertools.product(range(2), range(8)):
        here, own = cell == b, (cell == b) & (games == game)
        others = sample.results[here & (games != game)].mean()
        beyond = holds[own] - holds[here].mean()
        scores[b, game] = ((sample.results[own] - others) * beyond).sum()
        seen[b] += ((sample.results[own] - sample.results[here].mean()) * beyond).sum()
    error = np.sqrt((scores**2).sum(axis=1))
    largest = np.max(np.abs(seen) / error)
    signs = np.array(list(itertools.product((-1, 1), repeat=8)))
    chance = np.mean(np.max(np.abs(signs @ scores.T) / error, axis=1) >= largest)
    assert found.p_value == pytest.approx(chance, abs=0.03)


def test_a_curve_holds_the_shares_of_its_bins() -> None:
    sample = random_sample(2, size=2000, levels=200)
    found = measure_curve(sample, at_least=20, resampling=NO_INTERVALS)
    for point in found.points:
        inside = (sample.values >= point.lower) & (sample.values < point.upper)
        assert point.positions == inside.sum()
        assert point.share == pytest.approx(sample.results[inside].mean(), abs=1e-6)
        assert point.value == pytest.approx(sample.values[inside].mean(), abs=1e-5)
        half = stats.norm.ppf(0.975) * math.sqrt(point.share * (1 - point.share) / inside.sum())
        assert point.naive_high == pytest.approx(min(point.share + half, 1), abs=1e-5)


def twice(sample: Sample) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values, results, weights and games with each drawn position entered as a win and a loss."""
    drawn = sample.results == 0.5
    values = np.concatenate([sample.values, sample.values[drawn]]).astype(np.float64)
    results = np.concatenate([np.where(drawn, 1, sample.results), np.zeros(drawn.sum())])
    weights = np.concatenate([np.where(drawn, 0.5, 1.0), np.full(drawn.sum(), 0.5)])
    return values, results, weights, np.concatenate([sample.games, sample.games[drawn]])


def drawn_sample(seed: int, *, unit: str = "value", size: int = 900) -> Sample:
    """Games of which about a third are drawn, with values that go with the results."""
    rng = np.random.default_rng(seed)
    games = rng.integers(0, 90, size)
    result = rng.choice([0.0, 0.5, 1.0], 90)[games]
    lean = result - 0.5 + rng.normal(0, 0.6, size)
    values = np.clip(np.round(0.5 + lean / 4, 2), 0, 1) if unit == "value" else np.round(80 * lean)
    return Sample.of("x", values, results=result, games=games, unit=unit)


@pytest.mark.parametrize("seed", range(6))
def test_draws_counted_half_are_a_win_and_a_loss_of_weight_one_half(seed: int) -> None:
    """Every metric is scikit-learn's with each draw entered twice; Brier has its own rule."""
    sample = drawn_sample(seed)
    values, results, weights, _ = twice(sample)
    found, called = measure(sample), values >= 0.5
    right = sk.accuracy_score(results, called, sample_weight=weights)
    assert found["ACC"].value == pytest.approx(max(right, 1 - right))
    assert found["FSC"].value == pytest.approx(sk.f1_score(results, called, sample_weight=weights))
    area = sk.roc_auc_score(results, values, sample_weight=weights)
    assert found["ROC"].value == pytest.approx(max(area, 1 - area))
    claims = np.clip(values, 1e-4, 1 - 1e-4)
    loss = sk.log_loss(results, claims, sample_weight=weights)
    assert found["log-loss"].value == pytest.approx(loss)
    means = [np.average(values[results == r], weights=weights[results == r]) for r in (1, 0)]
    assert found["E(v)"].value == pytest.approx(abs(means[0] - means[1]), rel=1e-5)
    said = np.clip(sample.values.astype(np.float64), 1e-4, 1 - 1e-4)
    assert found["Brier"].value == pytest.approx(np.mean((said - sample.results) ** 2), rel=1e-5)
    assert found.wins == pytest.approx(np.average(results, weights=weights))
    # Without draws nothing but the decided games counts.
    decided = sample.results != 0.5
    alone = sk.roc_auc_score(sample.results[decided], sample.values[decided])
    assert measure(sample.without_draws())["ROC"].value == pytest.approx(max(alone, 1 - alone))


@pytest.mark.parametrize("seed", range(4))
def test_the_curve_of_draws_counted_half_is_that_of_weights(seed: int) -> None:
    sample = replace(drawn_sample(seed, unit="centipawns"), link=STRAIGHT)
    values, results, weights, _ = twice(sample)
    theirs = LogisticRegression(C=1e12, tol=1e-12, max_iter=2000)
    theirs.fit(values[:, None] / 80, results, sample_weight=weights)
    found = fit_logistic(sample)
    assert found.slope.value == pytest.approx(theirs.coef_[0, 0] / 80, rel=1e-4)
    assert found.intercept.value == pytest.approx(theirs.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_k_is_the_scale_of_scikit_learns_curve_without_an_intercept(seed: int, draws: bool) -> None:
    sample = drawn_sample(seed, unit="centipawns")
    sample = sample if draws else sample.without_draws()
    values, results, weights, games = twice(sample)
    x = values[:, None] / 80
    theirs = LogisticRegression(C=1e12, tol=1e-12, max_iter=2000, fit_intercept=False)
    theirs.fit(x, results, sample_weight=weights)
    slope = theirs.coef_[0, 0] / 80
    found = fit_plain(sample)
    assert found.verdict == "fits"
    assert found.k.value == pytest.approx(1 / slope, rel=1e-5)
    # The sandwich by games, written out; its interval turned over.
    p = theirs.predict_proba(x)[:, 1]
    bread = 1 / (weights * p * (1 - p) * values**2).sum()
    by_game = np.bincount(games, weights * (results - p) * values, minlength=90)
    seen = len(np.unique(games))
    half = stats.norm.ppf(0.975) * bread * math.sqrt((by_game**2).sum() * seen / (seen - 1))
    assert found.k.low == pytest.approx(1 / (slope + half), rel=1e-4)
    assert found.k.high == pytest.approx(1 / (slope - half), rel=1e-4)


def test_k_is_even_at_one_half_of_values_and_leaves_mates_out() -> None:
    values, results = [0.9, 0.4, 0.2, 0.7, 1.0], [1, 1, 0, 0, 1]
    sample = Sample.of("x", values, results=results, games=range(5))
    points = [v - 0.5 for v in values]
    shifted = Sample.of("x", points, results=results, games=range(5), unit="points")
    assert fit_plain(sample).k.value == pytest.approx(fit_plain(shifted).k.value, rel=1e-5)
    mated = Sample.of(
        "x", [*points, -math.inf], results=[*results, 1], games=range(6), unit="points"
    )
    assert fit_plain(mated).k == fit_plain(shifted).k
    for said, came, verdict in (
        ([1, 2, -1], [1, 1, 0], "parted"),
        ([1, 2, -1], [0, 0, 1], "parted"),
        ([0, 0, 0], [0, 1, 1], "one value"),
        ([1, 2, 3], [1, 1, 1], "one result"),
        ([math.inf], [1], "no values"),
    ):
        found = fit_plain(Sample.of("x", said, results=came, games=range(len(said)), unit="points"))
        assert (found.verdict, math.isnan(found.k.value)) == (verdict, True)


def test_scores_for_a_probability_are_where_the_curve_has_it() -> None:
    sample = drawn_sample(3, unit="centipawns").without_draws()
    for link in (STRAIGHT, Link(bend=40), Link(bend=40, limit=10_000)):
        found = fit_logistic(replace(sample, link=link))
        for probability in (0.1, 0.5, 0.75, 0.9):
            at = found.score_for(probability)
            assert at.low < at.value < at.high
            assert found.probability(np.array([at.value]))[0] == pytest.approx(probability)
        assert found.score_for(0.5).value == pytest.approx(found.even.value)
    # The delta method, by numeric derivatives of the constants.
    found = fit_logistic(replace(sample, link=STRAIGHT))
    a, b, target = found.intercept.value, found.slope.value, math.log(9)
    gradient = np.array([-1 / b, -(target - a) / b**2])
    var_a, cov, var_b = found.covariance
    spread = math.sqrt(gradient @ np.array([[var_a, cov], [cov, var_b]]) @ gradient)
    at = found.score_for(0.9)
    assert at.high - at.value == pytest.approx(stats.norm.ppf(0.975) * spread, rel=1e-6)
    # Beyond its limit a curve is flat: it never gets to what it has not reached there.
    flat = fit_logistic(replace(sample, link=Link(limit=20)))
    assert flat.score_for(0.999).value == math.inf
    assert flat.score_for(0.001).value == -math.inf


def test_a_value_for_a_probability_lies_between_0_and_1() -> None:
    """A cautious evaluator: at 1.0 its side won 60 % of the games, so 90 % is never reached."""
    values = np.tile([0.0, 0.25, 0.5, 0.75, 1.0], 200)
    won = np.random.default_rng(2).random(1000) < 0.4 + 0.2 * values
    sample = Sample.of("cautious", values, results=won, games=np.arange(1000) // 5)
    [row] = calibrate(sample)
    assert 0 < row.score_for(0.5).value < 1
    assert row.score_for(0.9).value == math.inf
    assert row.logistic.score_for(0.9).value > 1
    assert "not reached" in str(Calibration((row,)))
