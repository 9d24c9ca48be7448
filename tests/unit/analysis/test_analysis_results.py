# SPDX-License-Identifier: Apache-2.0
"""Samples, bins, conditions, and what results can do with themselves."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyoka.analysis import (
    METRICS,
    NO_INTERVALS,
    AdaptiveBins,
    Calibration,
    Condition,
    ConditionGap,
    Curves,
    Departure,
    Difference,
    DrawnGames,
    FixedBins,
    MetricsTable,
    Resampling,
    Result,
    Sample,
    Slice,
    SliceSettings,
    calibrate,
    compare,
    conditions,
    find_slices,
    fit_win_draw_loss,
    interval,
    measure,
    measure_certainty,
    measure_curve,
    measure_disagreement,
    partition,
)
from hyoka.analysis.gaps import Kind
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import Estimate

FEW = Resampling(50)


def sample_of(
    seed: int = 0, *, unit: str = "value", draws: bool = False, size: int = 3000
) -> Sample:
    rng = np.random.default_rng(seed)
    chance = rng.random(size)
    results = (rng.random(size) < chance).astype(np.float32)
    if draws:
        results[rng.random(size) < 0.3] = 0.5
    values = chance if unit == "value" else 400 * np.log(chance / (1 - chance))
    return Sample.of(
        f"engine {seed}", values, results=results, games=rng.integers(0, 300, size), unit=unit
    )


positions = st.lists(
    st.tuples(
        st.one_of(
            st.integers(-5, 5).map(float),
            st.floats(-1e6, 1e6),
            st.sampled_from([math.inf, -math.inf]),
        ),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=40,
)


def as_sample(rows: list[tuple[float, float, int]]) -> Sample:
    values, results, games = zip(*rows, strict=True)
    return Sample.of("x", values, results=results, games=games, unit="points")


@settings(deadline=None)
@given(positions)
def test_the_order_of_positions_is_nothing(rows: list[tuple[float, float, int]]) -> None:
    one, other = measure(as_sample(rows)), measure(as_sample(rows[::-1]))
    for name, estimate in one.estimates.items():
        assert estimate.value == pytest.approx(other[name].value, nan_ok=True, rel=1e-6, abs=1e-9)


@settings(deadline=None)
@given(positions)
def test_ranks_alone_matter_to_ranked_metrics(rows: list[tuple[float, float, int]]) -> None:
    ranks = {v: i for i, v in enumerate(sorted({np.float32(v) for v, *_ in rows}))}
    ranked = [(float(ranks[np.float32(v)]), r, g) for v, r, g in rows]
    one, other = measure(as_sample(rows)), measure(as_sample(ranked))
    for name in ("roc", "tau", "tau_b", "average_precision", "break_even", "lift"):
        assert one[name].value == pytest.approx(other[name].value, nan_ok=True)


@settings(deadline=None)
@given(positions)
def test_seen_from_the_other_side_the_area_is_the_same(
    rows: list[tuple[float, float, int]],
) -> None:
    turned = [(-v, 1 - r, g) for v, r, g in rows]
    one, other = measure(as_sample(rows)), measure(as_sample(turned))
    for name in ("roc", "tau", "tau_b", "expected_difference"):
        assert one[name].value == pytest.approx(other[name].value, nan_ok=True, abs=1e-6)


@settings(deadline=None)
@given(positions, st.floats(0.3, 50))
def test_every_position_is_in_one_bin(rows: list[tuple[float, float, int]], width: float) -> None:
    sample = as_sample(rows)
    for binning in (FixedBins(width, at_least=1), AdaptiveBins(2, 1, 1.0)):
        found = measure_curve(sample, binning=binning, at_least=1, resampling=Resampling(5))
        assert sum(point.positions for point in found.points) + found.left_out == len(sample)
        assert found.left_out == 0
        for point in found.points:
            assert point.lower < point.upper
            assert 0 <= point.share <= 1
            assert not point.low > point.share
            assert not point.high < point.share


def test_fixed_bins_lie_around_multiples_of_their_width() -> None:
    cuts = FixedBins(0.1, at_least=1).cuts(
        Sample.of("x", [0.1, 0.5, 0.55], results=[0, 1, 1], games=[1, 2, 3])
    )
    shown = cuts.edges[:-1][cuts.requested]
    np.testing.assert_allclose(shown, [0.05, 0.45, 0.55], atol=1e-6)


def test_adaptive_bins_hold_what_was_asked_for() -> None:
    sample = sample_of(3, size=20_000)
    found = measure_curve(sample, binning=AdaptiveBins(200, 50, 0.03), resampling=Resampling(100))
    assert len(found.points) > 5
    for point in found.points:
        assert point.positions >= 200
        assert point.games >= 50
        # The error by games, as the sandwich has it; the resamples agree within their own noise.
        assert (point.high - point.low) / 2 < 1.97 * 0.03 * 1.4


def test_too_many_bins_are_refused() -> None:
    with pytest.raises(StudyError, match="choose a larger width"):
        measure_curve(sample_of(1, size=30_000), binning=FixedBins(1e-5, at_least=1))


def test_mates_have_bins_of_their_own() -> None:
    values = [-math.inf] * 30 + [-100.0] * 30 + [200.0] * 30 + [math.inf] * 30
    results = [0] * 60 + [1] * 60
    sample = Sample.of("x", values, results=results, games=range(120), unit="centipawns")
    found = measure_curve(sample, binning=FixedBins(50, at_least=10), at_least=10, resampling=FEW)
    assert [point.value for point in found.points] == [-math.inf, -100, 200, math.inf]
    assert [point.is_mate for point in found.points] == [True, False, False, True]


def test_draws_are_left_out_or_count_half() -> None:
    sample = sample_of(1, draws=True)
    decided = sample.without_draws()
    assert set(decided.results.tolist()) == {0, 1}
    assert len(decided) < len(sample)
    assert decided.without_draws() is decided
    doubled = Sample.of(
        "twice",
        np.repeat(sample.values, 2),
        results=np.stack([np.ceil(sample.results), np.floor(sample.results)], axis=1).ravel(),
        games=np.repeat(sample.games, 2),
    )
    for name in ("roc", "tau", "average_precision", "break_even", "accuracy", "f_score"):
        assert measure(sample)[name].value == pytest.approx(measure(doubled)[name].value)


def test_balanced_strata_have_the_shares_they_should() -> None:
    sample = sample_of(2)
    strata = (np.arange(len(sample)) % 10 > 6).astype(np.int64)
    weighed = sample.balanced(strata, np.array([0.25, 0.75]))
    late = weighed.weight[strata == 1].sum() / weighed.weight.sum()
    assert late == pytest.approx(0.75)
    assert weighed.weight.sum() == pytest.approx(len(sample), rel=1e-5)


def test_conditions_of_columns_are_levels_and_ranges() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "check": rng.random(500) < 0.5,
        "kind": rng.choice(["a", "it's"], 500).astype(object),
        "few": rng.integers(0, 3, 500),
        "many": rng.integers(-50, 50, 500),
        "constant": np.ones(500),
        "unknown": np.where(rng.random(500) < 0.5, np.nan, 1.0),
    }
    found = {c.sql: c for c in conditions(columns)}
    assert "check" in found
    assert "kind = 'it''s'" in found
    assert "few = 2" in found
    assert "many < 0" in found
    assert not any("constant" in sql or "unknown" in sql for sql in found)
    np.testing.assert_array_equal(found["few = 2"].holds, columns["few"] == 2)
    for condition in found.values():
        assert 0 < condition.holds.sum() < 500


def test_a_partition_covers_each_position_once() -> None:
    values = np.random.default_rng(0).integers(0, 100, 400)
    for cuts in (None, [20, 30, 40]):
        parts = partition("ply", values, cuts)
        assert (np.sum([part.holds for part in parts], axis=0) == 1).all()
    with pytest.raises(StudyError, match="rising"):
        partition("ply", values, [30, 20])
    with pytest.raises(StudyError, match="is text and cannot be binned"):
        partition("name", np.array(["a", "b"], dtype=object), [1])


def test_of_few_games_there_is_no_interval() -> None:
    assert math.isnan(interval(0.5, np.array([0.4, 0.6]), 1).low)
    assert math.isnan(interval(0.5, np.array([math.nan] * 9 + [0.5]), 30).low)
    assert interval(0.5, np.linspace(0.3, 0.7, 1001), 10_000).low == pytest.approx(0.31, abs=0.001)


def test_two_evaluators_are_compared_on_the_same_positions_only() -> None:
    with pytest.raises(StudyError, match="same positions"):
        compare(sample_of(1), sample_of(2, size=2000))
    with pytest.raises(StudyError, match="same positions"):
        measure_disagreement(sample_of(1), sample_of(2, size=2000))


def test_the_better_evaluator_is_named_and_was_right_where_they_differ() -> None:
    good = sample_of(4)
    noise = np.random.default_rng(0).normal(0, 0.3, len(good))
    bad = Sample.of(
        "bad", np.clip(good.values + noise, 0, 1), results=good.results, games=good.games
    )
    found = compare(good, bad, resampling=FEW)
    ahead = {each.metric.name: each.ahead for each in found.differences}
    assert ahead["roc"] == ahead["brier_loss"] == "one"
    apart = measure_disagreement(good, bad, resampling=FEW)
    assert apart.bands[-1].share.low > 0.5
    assert len({int(good.games[each.row]) for each in apart.disputed}) == len(apart.disputed)
    widest = [abs(each.one - each.other) for each in apart.disputed]
    assert widest == sorted(widest, reverse=True)


def test_certainty_is_of_the_preferred_side_and_lists_one_error_a_game() -> None:
    sample = sample_of(3)
    found = measure_certainty(sample, top=7, resampling=FEW)
    certain = np.maximum(sample.values, 1 - sample.values)
    preferred = np.where(sample.values >= 0.5, sample.results, 1 - sample.results)
    for band in found.bands:
        inside = (certain >= band.low) & ((certain < band.high) | (band.high == 1))
        assert band.positions == inside.sum()
        assert band.share.value == pytest.approx(preferred[inside].mean(), abs=1e-6)
        assert band.mean == pytest.approx(certain[inside].mean(), abs=1e-6)
        assert band.share.low <= band.share.value <= band.share.high
    assert sum(band.positions for band in found.bands) == len(sample)
    rows = [each.row for each in found.errors]
    assert len({int(sample.games[row]) for row in rows}) == len(rows) == 7
    surest = max(np.flatnonzero(preferred == 0), key=lambda row: certain[row])
    assert certain[rows[0]] == certain[surest]
    assert (preferred[rows] == 0).all()
    assert (np.diff(certain[rows]) <= 0).all()


def test_win_draw_and_loss_sum_to_one() -> None:
    fitted = fit_win_draw_loss(sample_of(5, unit="centipawns", draws=True))
    win, draw, loss = fitted.probabilities(np.array([-900.0, 0.0, 30.0, 900.0, math.inf]))
    np.testing.assert_allclose(win + draw + loss, 1)
    assert (np.diff(win) >= 0).all()
    assert (draw >= 0).all()


def calibration(sample: Sample) -> Calibration:
    results = (calibrate(sample, draws=draws) for draws in get_args(DrawnGames))
    rows = [*results, calibrate(sample, wdl=True)]
    return Calibration(tuple(row for some in rows for row in some))


def test_draws_are_calibrated_as_asked_and_mates_are_not_counted() -> None:
    said = [-math.inf, -40.0, -10.0, 0.0, 5.0, 30.0, 60.0, math.inf]
    came = [0, 0, 1, 0.5, 0.5, 0, 1, 1]
    sample = Sample.of("x", said, results=came, games=range(8), unit="centipawns")

    def counted(draws: DrawnGames, wdl: bool) -> list[tuple[str, int, float, float]]:
        rows = calibrate(sample, draws=draws, wdl=wdl)
        return [(row.of, row.positions, row.least, row.most) for row in rows]

    assert counted("drop", wdl=False) == [("result", 4, -40, 60)]
    assert counted("half", wdl=False) == [("result, draws as half a win", 6, -40, 60)]
    assert counted("half", wdl=True) == [("win", 6, -40, 60), ("loss", 6, -40, 60)]


def test_shares_that_are_all_alike_are_not_certain() -> None:
    """Of two positions, both right: that is no 100 % (100 to 100)."""
    one = Sample.of("one", [0.9, 0.9, 0.2], results=[1, 1, 0], games=[1, 2, 3])
    other = Sample.of("other", [0.4, 0.4, 0.2], results=[1, 1, 0], games=[1, 2, 3])
    [band] = measure_disagreement(one, other, resampling=FEW).bands
    assert band.share.value == 1
    assert band.share.low < 0.3
    found = measure(one, resampling=FEW)
    assert found["ROC"].value == found["ACC"].value == 1
    assert found["ROC"].low < 0.6
    assert found["ACC"].low < 0.6


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_split_never_hides_that_zero_is_inside(kind: Kind) -> None:
    def split(effect: Estimate) -> Slice:
        departure = Departure(kind, effect, 0.07, 0.04, 50)
        condition = Condition("a", "a", frozenset("a"), np.ones(3, bool))
        gap = ConditionGap(3, 3, departure, departure)
        return Slice("x", condition, departure, gap, 0.04)

    doubtful = split(Estimate(-0.126, -0.270, 0.018))
    assert "12.6 percentage points less often" in doubtful.sentence
    assert "(-1.8 to 27.0), not significant" in doubtful.sentence
    assert not doubtful.is_sure
    sure = split(Estimate(-0.126, -0.20, -0.05))
    assert sure.sentence.endswith("predicts (5.0 to 20.0).")
    assert sure.is_sure
    assert split(Estimate(0.1, 0.05, 0.15)).sentence.endswith("predicts (5.0 to 15.0).")


def test_a_verdict_needs_the_test_as_well_as_the_interval() -> None:
    roc = METRICS["roc"]
    doubtful = Difference(roc, 0.8, 0.7, Estimate(0.1, 0.001, 0.2), p_value=0.11)
    assert doubtful.ahead is None
    sure = Difference(roc, 0.8, 0.7, Estimate(0.1, 0.001, 0.2), p_value=0.04)
    assert sure.ahead == "one"


def test_ties_that_make_tau_look_good_are_marked() -> None:
    """Nearly constant values: the paper's τ is 1, and says nothing."""
    rng = np.random.default_rng(1)
    came = rng.integers(0, 2, 500)
    flat = np.where(np.arange(500) == 0, 0.6, 0.5)
    flat[0], came[0] = 0.6, 1
    found = measure(Sample.of("flat", flat, results=came, games=np.arange(500)))
    assert found["τ"].value == pytest.approx(1, abs=1e-3)
    wins, losses = (came == 1).sum(), (came == 0).sum()
    assert found.ties == pytest.approx((wins - 1) * losses / (wins * losses), abs=1e-6)
    table = MetricsTable((found,))
    heading, row, *_ = table.lines()
    assert row[heading.index("τ")] == "1.000*"
    assert float(row[heading.index("τ-b")]) < 0.1
    assert any("pairs of a win and a loss are tied" in note for note in table.notes())


def test_an_evaluator_the_wrong_way_round_is_said_to_be() -> None:
    found = measure(Sample.of("x", [0.9, 0.2, 0.6, 0.1], results=[0, 1, 0, 1], games=range(4)))
    assert found["ROC"].value == 1
    assert "roc" in found.turned
    assert any(
        "ROC" in note and "negated values" in note
        for note in MetricsTable((found,), min_games=1).notes()
    )


def test_few_values_have_a_curve_and_no_bin_holds_half_of_them() -> None:
    """As in records of engines: most scores are small, some enormous."""
    rng = np.random.default_rng(2)
    scores = np.concatenate([rng.normal(0, 60, 900), rng.normal(0, 4000, 186)])
    won = rng.random(1086) < 1 / (1 + np.exp(-scores / 80))
    sample = Sample.of("x", scores, results=won, games=np.arange(1086) // 4, unit="centipawns")
    found = measure_curve(sample, resampling=NO_INTERVALS)
    assert len(found.points) >= 5
    assert max(point.positions for point in found.points) < 0.3 * len(sample)


RESULTS: dict[str, Callable[[], Result]] = {
    "curves": lambda: Curves(
        (measure_curve(sample_of(1), resampling=FEW), measure_curve(sample_of(2), resampling=FEW))
    ),
    "scores": lambda: Curves((measure_curve(sample_of(1, unit="centipawns"), resampling=FEW),)),
    "metrics": lambda: MetricsTable((measure(sample_of(1), resampling=FEW),)),
    "comparison": lambda: compare(sample_of(1), sample_of(1), resampling=FEW),
    "splits": lambda: find_slices(
        sample_of(1),
        {"odd": sample_of(1).results == 1},
        SliceSettings(least_games=5),
        resampling=FEW,
    ),
    "no splits": lambda: find_slices(sample_of(1), {}, resampling=FEW),
    "calibration": lambda: calibration(sample_of(1, unit="centipawns", draws=True)),
    "certainty": lambda: measure_certainty(sample_of(1), resampling=FEW),
    "disagreement": lambda: measure_disagreement(
        sample_of(1),
        Sample.of(
            "turned",
            1 - sample_of(1).values,
            results=sample_of(1).results,
            games=sample_of(1).games,
        ),
        resampling=FEW,
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_prints_plots_and_exports_itself(name: str, tmp_path: Path) -> None:
    result = RESULTS[name]()
    assert result.title in str(result)
    rows = result.table().num_rows
    result.save(tmp_path / "r.csv")
    result.save(tmp_path / "r.parquet")
    result.save(tmp_path / "r.json")
    assert pq.read_table(tmp_path / "r.parquet").num_rows == rows
    assert len(json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))) == rows
    if rows:
        assert pc.read_csv(tmp_path / "r.csv").num_rows == rows
        result.save(tmp_path / "r.svg")
        assert "<svg" in (tmp_path / "r.svg").read_text(encoding="utf-8")
        result.save(tmp_path / "r.html")
        assert result.title.split(":")[0] in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(StudyError, match="must end in"):
        result.save(tmp_path / "r.txt")


def test_where_all_say_the_same_they_are_worth_as_many_trials_as_games() -> None:
    def band(result: float) -> tuple[float, float, float]:
        sample = Sample.of("x", [0.5] * 900, results=[result] * 900, games=np.arange(900) % 6)
        [point] = measure_curve(sample, resampling=FEW).points
        return point.high - point.low, point.design_effect, point.naive_high - point.naive_low

    won, drawn = band(1.0), band(0.5)
    assert won[0] > 0.3
    assert drawn[0] > 0.3
    assert won[1] == drawn[1] == 150
    assert won[2] == drawn[2] == 0


def test_positions_are_worth_no_more_than_their_games_tell() -> None:
    """One position of each game in every bin: the bins look fine, the games are as few."""
    games = np.repeat(np.arange(200), 20)
    won = (np.random.default_rng(1).random(200) < 0.5)[games]
    sample = Sample.of("x", np.tile(np.linspace(0.02, 0.98, 20), 200), results=won, games=games)
    found = measure_curve(sample, resampling=FEW)
    assert found.effective_positions == pytest.approx(200, rel=0.05)


def test_curves_of_losses_are_judged_by_whether_they_fall() -> None:
    sample = sample_of(4, unit="centipawns", draws=True)
    losses = sample.with_results(sample.results == 0)
    falls = measure_curve(losses, resampling=FEW, trend="falls").monotonicity
    assert falls.holds
    assert not measure_curve(losses, resampling=FEW).monotonicity.holds
    assert math.isnan(measure_curve(losses, resampling=FEW, trend="any").monotonicity.p_value)


def test_mates_alone_are_certain() -> None:
    sample = Sample.of(
        "x", [math.inf, -math.inf] * 20, results=[1, 0] * 20, games=range(40), unit="centipawns"
    )
    found = measure(sample)
    assert found["ACC"].value == 1
    assert found["Brier"].value < 1e-6


def test_both_as_near_is_half_right_for_each() -> None:
    one = sample_of(1)
    halves = one.with_results(np.full(len(one), 0.5))
    turned = Sample.of("turned", 1 - one.values, results=halves.results, games=one.games)
    for band in measure_disagreement(halves, turned, resampling=FEW).bands:
        assert band.share.value == pytest.approx(0.5, abs=1e-6)


def test_a_column_that_is_nowhere_known_parts_nothing() -> None:
    with pytest.raises(StudyError, match="is null at all"):
        partition("komi", np.full(5, math.nan))
