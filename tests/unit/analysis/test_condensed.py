# SPDX-License-Identifier: Apache-2.0
"""Condensed samples give the figures of their positions, or figures within the stated bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from hyoka.analysis import (
    VALUE,
    Curve,
    Resampling,
    Sample,
    calibrate,
    measure,
    measure_curve,
    measure_reliability,
)
from hyoka.analysis.condensed import BLOCKS, ValueBins, blocks_of, bounds_of, condense
from hyoka.analysis.curves import AdaptiveBins, FixedBins
from hyoka.analysis.sample import quantiles

FEW = Resampling(30)


def study(
    seed: int, games: int, plies: int, unit: str = "centipawns", drawn: float = 0.2
) -> tuple[Sample, NDArray[np.int64]]:
    """Positions that know the result better and better, as in a real study."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(games), plies)
    lead = rng.normal(0, 1, games)
    won = rng.random(games) < 1 / (1 + np.exp(-2 * lead))
    results = np.where(rng.random(games) < drawn, 0.5, won)
    scores = 150 * (lead[ids] + rng.normal(0, 1, len(ids)))
    if unit == VALUE:
        values = 1 / (1 + np.exp(-scores / 150))
    else:
        values = np.rint(scores / 20) * 20
        values[rng.random(len(ids)) < 0.01] = math.inf
    return Sample.of("made up", values, results=results[ids], games=ids, unit=unit), ids


def halves(
    sample: Sample, ids: NDArray[np.int64], at: int
) -> list[tuple[Sample, NDArray[np.int64]]]:
    """The positions of the games before a game, and the others."""
    return [(sample.where(some), ids[some]) for some in (ids < at, ids >= at)]


def numbers(curve: Curve) -> list[tuple[float, ...]]:
    return [tuple(getattr(p, name) for name in p.__dataclass_fields__) for p in curve.points]


@given(
    seed=st.integers(0, 2**31),
    games=st.integers(12, 60),
    plies=st.integers(1, 20),
    unit=st.sampled_from(["centipawns", "points"]),
    drawn=st.sampled_from([0.0, 0.3]),
    share=st.floats(0, 1),
)
def test_few_values_and_games_give_the_figures_of_the_positions(
    seed: int, games: int, plies: int, unit: str, drawn: float, share: float
) -> None:
    sample, ids = study(seed, games, plies, unit, drawn)
    if len(np.unique(sample.results)) < 2:
        return
    parts = halves(sample, ids, int(share * games))
    condensed = condense(parts, ValueBins.each(sample.values), games=games)
    assert len(condensed) <= condensed.position_count == len(sample)
    assert bounds_of(condensed) == (0, 0)
    mine, theirs = (measure(each, resampling=FEW) for each in (condensed, sample))
    assert (mine.games, mine.positions, mine.turned) == (theirs.games, len(sample), theirs.turned)
    for name, estimate in theirs.estimates.items():
        assert mine[name].value == pytest.approx(estimate.value, rel=1e-9, nan_ok=True)
        assert mine[name].low == pytest.approx(estimate.low, rel=1e-6, abs=1e-9, nan_ok=True)
        assert mine[name].high == pytest.approx(estimate.high, rel=1e-6, abs=1e-9, nan_ok=True)
    # No error of few games is exactly 0.0973, as it may be 0.1: rounding would decide about bins.
    adaptive = (AdaptiveBins(10, 2, 0.0973), AdaptiveBins(5, 2, math.inf))
    for binning in (None, FixedBins(50, 1), *adaptive):
        one, other = (
            measure_curve(each, binning=binning, resampling=FEW, at_least=2)
            for each in (condensed, sample)
        )
        assert np.allclose(numbers(one), numbers(other), rtol=1e-6, equal_nan=True)
        assert (one.positions, one.games, one.left_out) == (
            other.positions,
            other.games,
            other.left_out,
        )
    for one_row, other_row in zip(
        calibrate(condensed, draws="half"), calibrate(sample, draws="half"), strict=True
    ):
        assert (one_row.positions, one_row.games) == (other_row.positions, other_row.games)
        assert one_row.logistic.link == other_row.logistic.link
        for figure in ("even", "scale"):
            pair = [getattr(row.logistic, figure) for row in (one_row, other_row)]
            assert pair[0].value == pytest.approx(pair[1].value, rel=1e-6, nan_ok=True)
            assert pair[0].low == pytest.approx(pair[1].low, rel=1e-6, nan_ok=True)
        # The slope: if it is 0, K is missing, or very large by rounding.
        slopes = np.nan_to_num([1 / row.k.value for row in (one_row, other_row)])
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-6, abs=1e-12)
    a, b = (measure_reliability(each, resampling=FEW) for each in (condensed, sample))
    points = [[(p.claim, p.share, p.positions) for p in diagram.points] for diagram in (a, b)]
    assert np.allclose(points[0], points[1], rtol=1e-6)


@given(seed=st.integers(0, 2**31), bins=st.integers(80, 200))
def test_many_values_give_figures_within_the_bounds(seed: int, bins: int) -> None:
    sample, ids = study(seed, 40, 50, VALUE, 0)
    edges = ValueBins.quantiles(sample.values[::3], VALUE, bins)
    condensed = condense(halves(sample, ids, 17), edges, games=40)
    assert len(np.unique(condensed.values)) <= len(edges)
    roc, value = bounds_of(condensed)
    assert 0 < roc < 0.5 / bins * 4
    mine, theirs = (measure(each) for each in (condensed, sample))
    truth = roc_auc_score(sample.results, sample.values)
    assert abs(mine["roc"].value - max(truth, 1 - truth)) <= roc
    assert abs(mine["tau"].value - theirs["tau"].value) <= 4 * roc
    # The threshold and the edges of the default bins are edges of bins.
    assert mine["ACC"].value == theirs["ACC"].value
    wins = sample.results.mean()
    assert abs(mine["E(v)"].value - theirs["E(v)"].value) <= value / min(wins, 1 - wins)
    assert abs(mine["Brier"].value - theirs["Brier"].value) <= 2 * value
    curves = [measure_curve(each, resampling=Resampling(0)) for each in (condensed, sample)]
    one, other = ([(p.share, p.positions, p.games) for p in curve.points] for curve in curves)
    assert one == other


def test_blocks_of_games_give_intervals_of_the_same_width() -> None:
    """4,000 games in 1,000 blocks: widths agree within the error of 400 resamples, 7 %."""
    sample, ids = study(5, 4000, 4, drawn=0)
    condensed = condense([(sample, ids)], ValueBins.each(sample.values), games=4000)
    assert condensed.game_count > 0.97 * BLOCKS
    mine, theirs = (measure(each, resampling=Resampling(400)) for each in (condensed, sample))
    assert mine.games == theirs.games == 4000
    for name in ("accuracy", "roc", "tau_b", "expected_difference", "brier_loss"):
        widths = [each[name].high - each[name].low for each in (mine, theirs)]
        assert mine[name].value == pytest.approx(theirs[name].value)
        assert widths[0] == pytest.approx(widths[1], rel=0.2)
    scales = [calibrate(each)[0].logistic.scale for each in (condensed, sample)]
    assert scales[0].value == pytest.approx(scales[1].value, rel=1e-6)
    widths = [each.high - each.low for each in scales]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


def test_blocks_are_random_sets_of_games() -> None:
    blocks = blocks_of(np.arange(100_000), 100_000)
    counts = np.bincount(blocks, minlength=BLOCKS)
    # The χ² statistic of equal shares has mean 999 and standard deviation 45.
    assert abs(((counts - 100) ** 2 / 100).sum() - 999) < 200
    assert abs(np.corrcoef(blocks[:-1], blocks[1:])[0, 1]) < 0.02


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1), st.floats(0, 1))
def test_quantiles_of_counted_values(counted: list[tuple[int, int]], share: float) -> None:
    values, counts = (np.array(column) for column in zip(*counted, strict=True))
    expected = np.quantile(np.repeat(values, counts), share)
    found = quantiles(values.astype(float), [share], counts)
    assert found[0] == pytest.approx(expected, abs=1e-9)
