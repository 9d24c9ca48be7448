# SPDX-License-Identifier: Apache-2.0
"""Beam search for slices, confirmation on held-out games, folding, and the size of effects."""

import itertools
import lzma
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import false_discovery_control

import hyoka as hk
from hyoka.analysis import (
    NO_INTERVALS,
    Control,
    Equals,
    Impact,
    Resampling,
    Sample,
    Slices,
    SliceSettings,
    condition_gap,
    find_slices,
)
from hyoka.analysis.slice_search import adjusted, adjusted_for_dependence

POSITIONS = 20
"""Of each game."""
Columns = dict[str, NDArray[Any]]


def games_of(
    seed: int, games: int, shift: float = 1.0, unit: str = "value"
) -> tuple[Sample, Columns]:
    """An evaluator that underestimates the first player where a, b and c hold together."""
    rng = np.random.default_rng(seed)
    lead = rng.normal(0, 1, games)
    won = np.repeat(rng.random(games) < expit(lead), POSITIONS)
    of = np.repeat(np.arange(games), POSITIONS)
    a, b, c = (rng.random(len(of)) < 0.5 for _ in range(3))
    odds = lead[of] + rng.normal(0, 0.5, len(of)) - shift * (a & b & c)
    values = expit(odds) if unit == "value" else 100 * odds
    columns: Columns = {"a": a, "b": b, "c": c}
    columns |= {f"noise{i}": rng.normal(0, 1, len(of)) for i in range(3)}
    return Sample.of("x", values, results=won, games=of, unit=unit), columns


def sqls(found: Slices) -> list[set[str]]:
    return [set(each.condition.sql.split(" and ")) for each in found]


@pytest.fixture(scope="module")
def triple() -> tuple[Sample, Columns, Slices]:
    sample, columns = games_of(1, 1500)
    return sample, columns, find_slices(sample, columns, resampling=NO_INTERVALS)


def test_a_conjunction_of_three_is_one_finding(triple: tuple[Sample, Columns, Slices]) -> None:
    """Its parts have a diluted effect each, which nothing remains of given the conjunction."""
    sample, columns, found = triple
    assert sqls(found) == [{"a", "b", "c"}]
    assert {"a", "b", "c"} <= {each.sql for each in found[0].also}
    assert found[0].verdict == "underestimates the first player"
    assert (
        found[0].condition.holds.tolist() == (columns["a"] & columns["b"] & columns["c"]).tolist()
    )
    [row] = found.rows()
    assert set(row["also"].split("; ")) == {each.sql for each in found[0].also}
    assert row["position_share"] == pytest.approx(found[0].condition.holds.mean())
    shallow = find_slices(sample, columns, SliceSettings(depth=2), resampling=NO_INTERVALS)
    assert len(shallow)
    assert all(len(each) <= 2 for each in sqls(shallow))


def test_figures_come_from_held_out_games_only(triple: tuple[Sample, Columns, Slices]) -> None:
    sample, columns, found = triple
    [each] = found
    assert found.held_out_games == 750
    assert found.candidates >= found.confirmed == 2
    assert "on 750 games; " in found.search_note
    assert (
        "750 held-out games, 2 confirmed (1 listed). Not confirmed is not absent."
        in found.search_note
    )
    drawn = np.random.default_rng(0).permutation(np.arange(1500))[:750]
    apart = np.isin(sample.games, drawn)
    gap = condition_gap(sample.where(apart), each.condition.holds[apart])
    assert each.effect.value == pytest.approx(gap.level.effect.value)
    assert each.departure.p_value == pytest.approx(gap.level.p_value)
    assert each.held_out_games == gap.games
    searched = condition_gap(sample.where(~apart), each.condition.holds[~apart])
    assert each.searched is not None
    assert each.searched.value == pytest.approx(searched.level.effect.value)
    # Other results of the held-out games change no candidate, but what is confirmed.
    lies = sample.with_results(np.where(apart, 1 - sample.results, sample.results))
    lied = find_slices(lies, columns, resampling=NO_INTERVALS)
    assert lied.candidates == found.candidates
    assert lied.tried == found.tried
    assert not lied.confirmed
    assert lied.search_note in lied.notes()
    again = find_slices(sample, columns, resampling=Resampling(0, seed=0))
    assert again.rows() == found.rows()


def test_few_games_are_searched_all_and_the_notes_say_so() -> None:
    sample, columns = games_of(2, 199, shift=2.0)
    for settings in (SliceSettings(), SliceSettings(hold_out=0)):
        found = find_slices(sample, columns, settings, resampling=NO_INTERVALS)
        assert found.held_out_games == 0
        assert "tried on all 199 games, none held out" in found.search_note
        assert found.search_note in found.notes()
        assert all(each.searched is None for each in found)


def test_without_an_effect_few_searches_confirm_any() -> None:
    confirmed = 0
    for seed in range(30):
        sample, columns = games_of(seed, 240, shift=0)
        confirmed += len(find_slices(sample, columns, resampling=NO_INTERVALS)) > 0
    assert confirmed <= 3


def test_intervals_of_confirmed_slices_hold_the_effect() -> None:
    everything, every_column = games_of(99, 12_000, shift=1.2)
    truth = condition_gap(everything, every_column["a"] & every_column["b"] & every_column["c"])
    held = []
    for seed in range(24):
        sample, columns = games_of(seed, 700, shift=1.2)
        found = find_slices(sample, columns, SliceSettings(beam=4), resampling=NO_INTERVALS)
        for each in found:
            if each.condition.columns == {"a", "b", "c"}:
                held.append(each.effect.low <= truth.level.effect.value <= each.effect.high)
    assert len(held) >= 6
    assert np.mean(held) >= 0.8


def test_variants_of_one_cause_fold_under_one_slice() -> None:
    """Like Go's ladder columns: a cause, the same from one side, and noisy copies of it."""
    sample, columns = games_of(3, 1200, shift=0)
    rng = np.random.default_rng(3)
    cause = rng.random(len(sample)) < np.where(sample.results == 1, 0.3, 0.15)
    variants: Columns = {
        "ladder": cause,
        "running_ladder": cause & (rng.random(len(sample)) < 0.9),
        "white_ladder": cause & (rng.random(len(sample)) < 0.5),
        "near_ladder": cause ^ (rng.random(len(sample)) < 0.02),
    }
    found = find_slices(sample, columns | variants, resampling=NO_INTERVALS)
    own = [each for each in found if each.condition.columns <= set(variants)]
    assert len(own) == 1
    assert {column for each in own[0].also for column in each.columns} >= (
        set(variants) - own[0].condition.columns
    )
    row = found.lines()[1 + list(found).index(own[0])]
    assert "(also: " in row[0]
    # Another cause is a finding of its own.
    variants["other"] = rng.random(len(sample)) < np.where(sample.results == 1, 0.15, 0.3)
    both = find_slices(sample, columns | variants, resampling=NO_INTERVALS)
    assert sum({"other"} == each.condition.columns for each in both) == 1
    assert sum(each.condition.columns <= set(variants) - {"other"} for each in both) == 1


def test_degrees_of_one_cause_are_one_slice_and_its_opposite_is_another() -> None:
    """As of ladders: the more stones are in one, the larger the error."""
    sample, columns = games_of(9, 1500, shift=0)
    rng = np.random.default_rng(9)
    won = sample.results == 1

    def stones(few: NDArray[np.bool_]) -> NDArray[np.int64]:
        more = rng.binomial(2, np.where(few, 0.35, 0.4))
        return rng.binomial(1, np.where(few, 0.12, 0.18)) * (1 + more)

    own, others = stones(won), stones(~won)
    columns |= {"black_ladder": own, "white_ladder": others, "ladder": others - own}
    found = find_slices(sample, columns, SliceSettings(depth=1), resampling=NO_INTERVALS)
    assert sorted(each.effect.value > 0 for each in found) == [False, True]
    assert all("ladder" in sql for [sql] in sqls(found))


@pytest.mark.parametrize("kind", ["level", "lean"])
def test_the_coefficient_is_that_of_a_regression_on_cells(kind: Any) -> None:
    sample, columns = games_of(4, 300)
    given, holds = columns["a"], columns["b"] | (columns["a"] & columns["c"])
    equals = Equals(sample, (columns["noise0"] > 0).astype(np.int64))
    for other in (None, given):
        cells = equals._cells[0] if other is None else 2 * equals._cells[0] + other
        _, cells = np.unique(cells, return_inverse=True)
        cells = 2 * cells + (equals.sign(kind) > 0)  # The sign is the same in a cell.
        _, cells = np.unique(cells, return_inverse=True)
        sign = equals.sign(kind)
        design = np.column_stack([np.eye(cells.max() + 1)[cells], sign * holds])
        [*_, expected] = np.linalg.lstsq(design, sample.results.astype(float), rcond=None)[0]
        found, error = equals.coefficient(holds, kind, given=other)
        assert found == pytest.approx(expected, abs=1e-6)
        assert 0 < error < 0.1
    assert equals.coefficient(given, kind, given=given) == (0.0, math.inf)


@pytest.mark.parametrize("unit", ["value", "points"])
def test_effects_have_elo_a_shift_of_scores_and_a_share_of_the_loss(unit: str) -> None:
    sample, columns = games_of(5, 1500, unit=unit)
    found = find_slices(sample, columns, resampling=NO_INTERVALS)
    [each] = [each for each in found if each.condition.columns == {"a", "b", "c"}]
    impact, holds = each.impact, each.condition.holds
    assert impact is not None
    equals = Equals(sample)
    expected, won = equals.expected, sample.results.astype(np.float64)
    # The curve's log-odds plus a constant win as often as the curve plus the effect.
    inside = np.clip(expected[holds], 1e-9, 1 - 1e-9)
    shift = brentq(
        lambda x: expit(logit(inside) + x).mean() - inside.mean() - each.effect.value, -5, 5
    )
    assert impact.elo.value == pytest.approx(400 / math.log(10) * shift, abs=0.01)
    assert impact.elo.low < impact.elo.value < impact.elo.high
    # What a regression on the condition within cells removes.
    coefficient, _ = equals.coefficient(holds, "level")
    cells = np.unique(equals._cells[0], return_inverse=True)[1]
    share = np.bincount(cells, holds) / np.bincount(cells)
    before = ((won - expected) ** 2).sum()
    after = ((won - expected - coefficient * (holds - share[cells])) ** 2).sum()
    gap = equals.gap(holds).level
    whole = Impact.of(equals, holds, replace(gap, error=0.0))
    assert whole.loss_share.value == pytest.approx(1 - after / before, rel=1e-3)
    assert 0 < impact.loss_share.low < impact.loss_share.value < impact.loss_share.high < 0.2
    heading = found.lines()[0]
    if unit == "value":
        assert math.isnan(impact.shift.value)
        assert not any("value" in each for each in heading)
    else:
        # The evaluator's scores are 100 points too low there.
        assert impact.shift.low < 100 < impact.shift.high
        assert "in points" in heading
    [row] = [row for row in found.rows() if "a" in row["condition"].split(" and ")]
    assert row["elo_low"] == pytest.approx(impact.elo.low)
    assert row["loss_share"] == pytest.approx(impact.loss_share.value)
    assert row["unit"] == unit


def test_shifts_follow_the_link_of_scores() -> None:
    """Where the link is bent, the same effect is worth more points."""
    rng = np.random.default_rng(6)
    scores = rng.normal(0, 400, 60_000)
    chances = expit(np.arcsinh(scores / 100))
    sample = Sample.of(
        "x", scores, results=rng.random(60_000) < chances, games=np.arange(60_000), unit="points"
    )
    equals = Equals(sample)
    far = np.abs(scores) > 600
    for holds in (far, ~far):
        departure = equals.gap(holds).level
        effect = replace(departure, effect=replace(departure.effect, value=0.01))
        moved = scores[holds] + Impact.of(equals, holds, effect).shift.value
        gain = expit(np.arcsinh(moved / 100)).mean() - chances[holds].mean()
        assert gain == pytest.approx(0.01, rel=0.1)


def test_controls_explain_confirmed_slices_and_can_be_held_equal() -> None:
    sample, columns = games_of(7, 900, shift=0)
    rng = np.random.default_rng(7)
    of_author = rng.random(len(sample)) < np.where(sample.results == 1, 0.6, 0.4)
    columns["by_author"] = of_author & (rng.random(len(sample)) < 0.7)
    author = Control("the comment author", of_author.astype(np.int64))
    found = find_slices(sample, columns, controls=[author], resampling=NO_INTERVALS)
    assert found.held_out_games == 450
    [each] = found
    assert each.condition.sql == "by_author"
    assert each.explanation is not None
    assert abs(each.explanation.left.effect.value) < abs(each.effect.value) / 2
    equal = find_slices(sample, columns, held_equal=author, resampling=NO_INTERVALS)
    assert len(equal) == 0


def test_adjusted_p_values_agree_with_scipy() -> None:
    p_values = np.random.default_rng(8).random(30) ** 3
    assert adjusted(p_values.tolist()) == pytest.approx(false_discovery_control(p_values))
    assert adjusted_for_dependence(p_values.tolist()) == pytest.approx(
        false_discovery_control(p_values, method="by")
    )
    assert len(adjusted_for_dependence([])) == 0


def test_ladders_of_real_games_are_one_slice_for_each_side(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """The static evaluation of Go knows no ladders; six columns describe them."""
    with lzma.open(shared_data("go9/ogs9_human.sgf.xz"), "rt", encoding="utf-8") as records:
        (tmp_path / "games.sgf").write_text("".join(itertools.islice(records, 3000)))
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.sgf")
    study.evaluate(["ab:nodes=1"], sample=10)
    columns = [name for name in study.columns if "ladder" in name]
    assert len(columns) == 6
    found = study.slices(columns=[*columns, "ply"], depth=1, resampling=NO_INTERVALS)
    ladders = [each for each in found if "ply" not in each.condition.columns]
    assert sorted(each.verdict for each in ladders) == [
        "overestimates Black",
        "underestimates Black",
    ]
    for each in ladders:
        folded = {column for other in each.also for column in other.columns}
        assert len(folded | each.condition.columns) >= 3
        assert each.impact is not None
        assert abs(each.impact.shift.value) > 2
