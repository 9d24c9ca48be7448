# SPDX-License-Identifier: Apache-2.0
"""Whether intervals keep their promise: simulated studies whose truth is known."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hyoka.analysis import (
    METRICS,
    NO_INTERVALS,
    Control,
    Resampling,
    Sample,
    SliceSettings,
    compare,
    condition_gap,
    find_slices,
    fit_logistic,
    measure,
    measure_curve,
)
from hyoka.analysis.curves import monotonicity

POSITIONS = 50
"""Of each game."""


def steady_noise(rng: np.random.Generator, games: int, positions: int) -> NDArray[np.float64]:
    """Noise that wanders within a game but is as wide at its end as at its start."""
    fresh = rng.normal(0, 1, (games, positions))
    noise = np.empty_like(fresh)
    noise[:, 0] = fresh[:, 0]
    for ply in range(1, positions):
        noise[:, ply] = 0.9 * noise[:, ply - 1] + math.sqrt(1 - 0.81) * fresh[:, ply]
    return noise


def simulated(rng: np.random.Generator, games: int, noise: float = 0.7) -> Sample:
    """Games whose winner is drawn once, by what the evaluator sees through noise."""
    lead = rng.normal(0, 1, games)
    won = rng.random(games) < 1 / (1 + np.exp(-lead))
    seen = 0.8 * lead[:, None] + noise * steady_noise(rng, games, POSITIONS)
    return Sample.of(
        "simulated",
        (1 / (1 + np.exp(-seen))).ravel(),
        results=np.repeat(won, POSITIONS),
        games=np.repeat(np.arange(games), POSITIONS),
    )


STUDIES = 100
GAMES = 200


@pytest.fixture(scope="module")
def truth() -> Sample:
    return simulated(np.random.default_rng(999), 30_000)


def test_intervals_of_metrics_hold_the_truth_as_often_as_they_say(truth: Sample) -> None:
    real = measure(truth)
    held = dict.fromkeys(METRICS, 0)
    for study in range(STUDIES):
        sample = simulated(np.random.default_rng(study), GAMES)
        found = measure(sample, resampling=Resampling(300, seed=study))
        for name in METRICS:
            held[name] += found[name].low <= real[name].value <= found[name].high
    rates = {name: count / STUDIES for name, count in held.items()}
    # 95 % nominal; 100 studies tell 95 from 87 %.
    assert all(0.87 <= rate <= 1 for rate in rates.values()), rates
    assert 0.93 <= np.mean(list(rates.values())) <= 0.97


@pytest.mark.parametrize("games", [60, 200])
def test_a_right_evaluator_s_calibration_error_may_be_nothing(games: int) -> None:
    """The interval of a distance near zero; percentiles miss it."""
    held = 0
    for study in range(60):
        rng = np.random.default_rng(study)
        chance = rng.random(games)
        of = np.repeat(np.arange(games), 20)
        sample = Sample.of("x", chance[of], results=(rng.random(games) < chance)[of], games=of)
        error = measure(sample, resampling=Resampling(200, seed=study))["ECE"]
        assert 0 <= error.low <= error.value <= error.high
        held += error.low < 0.003
    assert held >= 53


def test_bands_of_curves_hold_the_truth_and_naive_ones_do_not(truth: Sample) -> None:
    real = {p.lower: p.share for p in measure_curve(truth, resampling=NO_INTERVALS).points}
    held = naive = bins = 0
    for study in range(STUDIES // 2):
        sample = simulated(np.random.default_rng(study), GAMES)
        found = measure_curve(sample, resampling=Resampling(200, seed=study))
        for point in found.points:
            bins += 1
            held += point.low <= real[point.lower] <= point.high
            naive += point.naive_low <= real[point.lower] <= point.naive_high
        assert found.design_effect > 2
    assert 0.93 <= held / bins <= 0.97
    assert naive / bins < 0.6


def test_intervals_of_paired_differences_hold_the_truth() -> None:
    def both(seed: int, games: int) -> tuple[Sample, Sample]:
        one = simulated(np.random.default_rng(seed), games)
        blur = np.random.default_rng(seed + 1).normal(0, 0.05, len(one))
        return one, Sample.of(
            "blurred",
            np.clip(one.values + blur, 0, 1),
            results=one.results,
            games=one.games,
        )

    real = compare(*both(10**6, 20_000), resampling=NO_INTERVALS)
    wanted = {each.metric.name: each.difference.value for each in real.differences}
    held = 0
    for study in range(100):
        found = compare(*both(2 * study, GAMES), resampling=Resampling(200, seed=study))
        roc = next(each for each in found.differences if each.metric.name == "roc")
        held += roc.difference.low <= wanted["roc"] <= roc.difference.high
    assert 89 <= held <= 99


def test_intervals_of_fitted_constants_hold_the_truth(truth: Sample) -> None:
    real = fit_logistic(truth)
    held = 0
    for study in range(150):
        found = fit_logistic(simulated(np.random.default_rng(study), GAMES))
        held += found.slope.low <= real.slope.value <= found.slope.high
    assert 0.9 <= held / 150 <= 0.99


def test_a_curve_that_rises_is_seldom_called_anything_else() -> None:
    called = 0
    for study in range(100):
        sample = simulated(np.random.default_rng(study), GAMES)
        called += not measure_curve(
            sample, resampling=Resampling(200, seed=study)
        ).monotonicity.holds
    assert called <= 12


def test_a_curve_that_falls_is_found_out() -> None:
    rng = np.random.default_rng(1)
    value = rng.random(20_000)
    chance = np.where(value < 0.5, value, 1.2 - value)  # it falls above one half
    sample = Sample.of(
        "x", value, results=rng.random(20_000) < chance, games=rng.integers(0, 4000, 20_000)
    )
    found = measure_curve(sample, resampling=Resampling(200)).monotonicity
    assert found.p_value < 0.01
    assert found.violations > 5


def test_monotonicity_of_one_bin_is_no_question() -> None:
    assert monotonicity(np.array([0.5]), np.ones(1), np.zeros((0, 1))).violations == 0


def described(rng: np.random.Generator, sample: Sample) -> dict[str, NDArray[np.generic]]:
    """Columns that have nothing to do with who won: of positions, of games, and of both."""
    size, games = len(sample), sample.game_count
    of_games = np.asarray(sample.games)
    return {
        "ply": np.tile(np.arange(POSITIONS), games),
        "capture": rng.random(size) < 0.2,
        "phase": rng.integers(0, 4, size),
        "material": np.round(rng.normal(0, 2, size)).astype(int),
        "tempo": rng.normal(0, 1, games)[of_games] + rng.normal(0, 0.3, size),
        "komi": rng.choice([5.5, 6.5, 7.5], games)[of_games],
        "opening": rng.choice(list("abcde"), games)[of_games].astype(object),
    }


def test_without_a_weakness_the_search_finds_none() -> None:
    found = 0
    for study in range(80):
        rng = np.random.default_rng(study)
        sample = simulated(rng, GAMES)
        found += len(find_slices(sample, described(rng, sample), resampling=NO_INTERVALS)) > 0
    assert found <= 4


@pytest.mark.parametrize("study", range(8))
def test_a_planted_weakness_is_listed_first_with_its_sign(study: int) -> None:
    rng = np.random.default_rng(100 + study)
    sample = simulated(rng, 300)
    columns = described(rng, sample)
    planted = rng.random(len(sample)) < np.where(sample.results == 1, 0.22, 0.10)
    sign = 1 if study % 2 else -1
    if sign < 0:
        planted = rng.random(len(sample)) < np.where(sample.results == 1, 0.10, 0.22)
    columns["weakness"] = planted
    found = find_slices(replace(sample, first_player="Black"), columns, resampling=Resampling(100))
    assert found[0].condition.sql == "weakness"
    assert math.copysign(1, found[0].effect.value) == sign
    word = "underestimates" if sign > 0 else "overestimates"
    assert f"{word} Black when weakness" in found[0].sentence
    assert found[0].effect.low * found[0].effect.high > 0
    assert found[0].distance is not None
    assert math.copysign(1, found[0].distance.signed_area) == sign
    assert found[0].distance.p_value < 0.05


def test_overconfidence_is_found_and_called_so() -> None:
    rng = np.random.default_rng(5)
    games = 1500
    lead = rng.normal(0, 1.5, games)
    won = rng.random(games) < 1 / (1 + np.exp(-lead))
    early = np.tile(np.arange(POSITIONS) < 10, games)
    seen = lead[:, None] + rng.normal(0, 0.4, (games, POSITIONS))
    blind = rng.normal(0, 2, (games, POSITIONS))
    values = np.where(early, blind.ravel(), seen.ravel())  # early on it knows nothing
    sample = Sample.of(
        "x",
        values,
        results=np.repeat(won, POSITIONS),
        games=np.repeat(np.arange(games), POSITIONS),
        unit="points",
    )
    columns = {"ply": np.tile(np.arange(POSITIONS), games), "other": rng.random(len(sample)) < 0.5}
    found = find_slices(sample, columns, resampling=NO_INTERVALS)
    assert found[0].condition.columns == {"ply"}
    assert found[0].verdict == "is overconfident"
    assert "<" in found[0].condition.words


PHASE = "the phase of the game"


def cautious_late(seed: int, games: int = 300) -> tuple[Sample, NDArray[np.int64]]:
    """An evaluator that knows each position's chance, but is too cautious in the last third."""
    rng = np.random.default_rng(seed)
    walk = rng.normal(0, 1, (games, POSITIONS + 10)).cumsum(axis=1)
    plies = np.arange(POSITIONS)
    lead = 1.7 * walk[:, :POSITIONS] / np.sqrt(POSITIONS + 9 - plies)
    seen = np.where(plies >= 34, 0.4, 1) * lead
    sample = Sample.of(
        "cautious",
        (1 / (1 + np.exp(-seen))).ravel(),
        results=np.repeat(walk[:, -1] > 0, POSITIONS),
        games=np.repeat(np.arange(games), POSITIONS),
    )
    return sample, np.tile(plies, games)


@pytest.mark.parametrize("seed", range(4))
def test_what_merely_comes_late_is_no_finding_and_what_is_wrong_itself_is(seed: int) -> None:
    sample, plies = cautious_late(seed)
    rng = np.random.default_rng([seed, 1])
    when = np.where(plies >= 34, 0.4, 0.04)
    columns: dict[str, NDArray[Any]] = {
        "ply": plies,
        "ko": rng.random(len(sample)) < when,
        "weak": rng.random(len(sample)) < when * np.where(sample.results == 1, 1.5, 0.5),
    }
    alone = {"ko": columns["ko"]}
    without = find_slices(sample, alone, SliceSettings(hold_out=0), resampling=NO_INTERVALS)
    assert any(split.condition.sql == "ko" and split.is_sure for split in without)
    phase = Control(PHASE, plies // 5, frozenset(["ply"]))
    found = find_slices(sample, columns, controls=[phase], resampling=NO_INTERVALS)
    sure = {split.condition.sql for split in found if split.is_sure}
    assert "weak" in sure
    assert any(sql.startswith("ply") for sql in sure)  # no ply is explained by plies
    assert not any("ko" in sql for sql in sure)
    for split in found:
        if "ko" in split.condition.columns:
            assert split.explanation is not None
            assert split.explanation.control == PHASE
    # Within phases only, it is not even looked at.
    balanced = find_slices(sample, columns, held_equal=phase, resampling=NO_INTERVALS)
    assert {split.condition.sql for split in balanced} == {"weak"}
    assert "with the phase of the game held equal" in balanced.title


def test_an_evaluator_that_knows_nothing_has_honest_intervals() -> None:
    """The metrics that take the better of an evaluator and its negation are turned once."""
    held = 0
    for study in range(150):
        rng = np.random.default_rng(study)
        games = np.repeat(np.arange(60), 20)
        sample = Sample.of(
            "blind", rng.random(1200), results=(rng.random(60) < 0.5)[games], games=games
        )
        found = measure(sample, resampling=Resampling(200, seed=study))
        for name in ("roc", "accuracy"):
            held += found[name].low <= 0.5
            assert found[name].high - found[name].low > 0.01
    assert held / 300 > 0.9


def test_splits_have_intervals_as_wide_as_they_should_be() -> None:
    """Of a strong effect, the effect itself is no noise."""
    effects, errors = [], []
    for study in range(120):
        rng = np.random.default_rng(study)
        games = np.repeat(np.arange(200), 20)
        strange = (np.arange(200) < 40)[games]
        lead = rng.normal(0, 1, 200)
        won = rng.random(200) < np.where(np.arange(200) < 40, 0.9, 1 / (1 + np.exp(-lead)))
        values = 1 / (1 + np.exp(-(lead[games] + rng.normal(0, 0.5, 4000))))
        sample = Sample.of("x", values, results=won[games], games=games)
        level = condition_gap(sample, strange).level
        effects.append(level.effect.value)
        errors.append(level.error)
    assert np.mean(errors) == pytest.approx(np.std(effects), rel=0.35)


def test_an_error_of_nothing_has_an_interval() -> None:
    results = np.tile([0.0, 1.0], 20)  # of each game as many as the values say
    sample = Sample.of("even", np.full(40, 0.5), results=results, games=np.repeat(np.arange(20), 2))
    error = measure(sample, resampling=Resampling(50))["ECE"]
    assert (error.value, error.low) == (0, 0)
    assert math.isfinite(error.high)
