# SPDX-License-Identifier: Apache-2.0
"""Losses and accuracies of moves, against Lichess's published numbers and a twin of its code."""

import itertools
import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyoka.analysis import (
    NO_INTERVALS,
    AccuracySettings,
    AccuracyTable,
    Finals,
    Moves,
    Resampling,
    Sample,
    WorstMove,
    WorstMoves,
    expected_scores,
    fit_logistic,
    fit_plain,
    mean_by_games,
    measure_accuracy,
    move_accuracy,
)
from hyoka.foundation.errors import ParameterError, StudyError

Reals = NDArray[np.float64]
EVEN = 15
"""Centipawns that Lichess assumes before the first move."""


def lichess_scores(centipawns: Sequence[float]) -> Reals:
    values = np.array(centipawns, dtype=float)
    sample = Sample.of(
        "x", values, results=np.ones(len(values)), games=np.zeros(len(values)), unit="centipawns"
    )
    return expected_scores(sample, "lichess")[0]


def one_game(centipawns: Sequence[float], *, white_begins: bool = True) -> Moves:
    expected = lichess_scores([EVEN, *centipawns])
    plies = np.arange(len(expected))
    return Moves.of(expected, np.zeros(len(plies)), plies, (plies % 2 == 0) == white_begins)


LICHESS_TESTS = [
    ([15, 15], (100, 1), (100, 1)),
    ([-900, -900], (10, 5), (100, 1)),
    ([15, 900], (100, 1), (10, 5)),
    ([-900, 0], (10, 5), (10, 5)),
    ([15] * 20, (100, 1), (100, 1)),
    ([*[15] * 20, -900], (50, 5), (100, 1)),
    ([*[15] * 21, 900], (100, 1), (50, 5)),
    ([-50, 15] * 5, (76, 8), (76, 8)),
    ([-50, 15] * 50, (76, 8), (76, 8)),
    ([-135, 15] * 50, (54, 8), (54, 8)),
    ([-435, 15] * 50, (20, 8), (20, 8)),
]
"""Scores after each move, and the accuracies of White and Black with tolerances.

From AccuracyPercentTest of lichess-org/lila.
"""


@pytest.mark.parametrize(("centipawns", "white", "black"), LICHESS_TESTS)
def test_game_accuracy_passes_the_tests_of_lichess(
    centipawns: list[float], white: tuple[float, float], black: tuple[float, float]
) -> None:
    [[of_black, of_white]] = one_game(centipawns).game_accuracies()
    assert of_white == pytest.approx(white[0], abs=white[1])
    assert of_black == pytest.approx(black[0], abs=black[1])


def test_game_accuracy_passes_the_tests_of_lichess_where_black_begins() -> None:
    [[of_black, of_white]] = one_game([900, 900], white_begins=False).game_accuracies()
    assert (of_black, of_white) == (pytest.approx(10, abs=5), pytest.approx(100, abs=1))
    [[of_black, of_white]] = one_game([15, -900], white_begins=False).game_accuracies()
    assert (of_black, of_white) == (pytest.approx(100, abs=1), pytest.approx(10, abs=5))


def twin_of_lichess(centipawns: Sequence[float]) -> dict[bool, float]:
    """Accuracies of White (True) and Black by lists, as in AccuracyPercent of lichess-org/lila."""
    percents = [
        50 + 50 * (2 / (1 + math.exp(-0.00368208 * max(-1000, min(1000, each)))) - 1)
        for each in (EVEN, *centipawns)
    ]
    size = max(2, min(8, len(centipawns) // 10))
    windows = [percents[:size]] * (min(size, len(percents)) - 2)
    windows += [percents[at : at + size] for at in range(len(percents) - size + 1)]
    weights = [max(0.5, min(12, statistics.pstdev(window))) for window in windows]
    moves: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for at, (one, other) in enumerate(itertools.pairwise(percents)):
        is_white = at % 2 == 0
        lost = max(0.0, one - other if is_white else other - one)
        accuracy = 103.1668100711649 * math.exp(-0.04354415386753951 * lost) - 2.166924740191411
        moves[is_white].append((max(0.0, min(100.0, accuracy)), weights[at]))
    return {
        is_white: (
            sum(accuracy * weight for accuracy, weight in each)
            / sum(weight for _, weight in each)
            / 2
            + statistics.harmonic_mean([max(1.0, accuracy) for accuracy, _ in each]) / 2
        )
        for is_white, each in moves.items()
    }


@given(st.lists(st.integers(-1500, 1500), min_size=2, max_size=120))
def test_game_accuracy_is_that_of_a_twin_of_lichess(centipawns: list[int]) -> None:
    twin = twin_of_lichess(centipawns)
    [[black, white]] = one_game(centipawns).game_accuracies()
    assert (black, white) == (pytest.approx(twin[False]), pytest.approx(twin[True]))


def test_move_accuracy_is_the_published_formula_and_a_point() -> None:
    """https://lichess.org/page/accuracy rounds the constants."""
    losses = np.linspace(0.05, 0.75, 15)
    published = 103.1668 * np.exp(-0.04354 * 100 * losses) - 3.1669
    np.testing.assert_allclose(move_accuracy(losses), published + 1, atol=0.01)
    assert move_accuracy(np.array([0.0, 1.0])).tolist() == [100, 0]


def test_losses_are_the_mover_s() -> None:
    moves = Moves.of(
        np.array([0.5, 0.3, 0.9, 0.9, 0.4, 0.4]),
        np.array([4, 4, 4, 4, 9, 9]),
        np.array([0, 1, 2, 4, 7, 8]),
        np.array([True, False, True, True, False, True]),
    )
    assert moves.rows.tolist() == [0, 1, 4]  # no evaluation of ply 3
    assert moves.losses.tolist() == pytest.approx([0.2, 0.6, 0])
    assert moves.before.tolist() == pytest.approx([0.5, 0.7, 0.6])
    assert moves.after.tolist() == pytest.approx([0.3, 0.1, 0.6])
    assert (moves.games.tolist(), moves.game_count) == ([0, 0, 1], 2)


def test_a_final_result_is_added_or_replaces_an_evaluation() -> None:
    moves = Moves.of(
        np.array([0.5, 0.6, 0.7, 0.8]),
        np.array([1, 1, 2, 2]),
        np.array([0, 1, 0, 1]),
        np.array([True, False, True, False]),
        Finals(np.array([1, 2, 3]), np.array([2, 1, 5], np.int32), np.array([1.0, 0.5, 0.0])),
    )
    assert moves.rows.tolist() == [0, 1, 2]
    assert moves.losses.tolist() == pytest.approx([0, 0.4, 0.2])


positions = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 12), st.booleans(), st.floats(0, 1), st.integers(0, 2)
    ),
    unique_by=lambda each: each[:2],
    min_size=1,
    max_size=50,
)


@given(positions)
def test_laws_of_losses(drawn: list[tuple[int, int, bool, float, int]]) -> None:
    columns = map(np.array, zip(*sorted(drawn), strict=True))
    games, plies, first_to_play, expected, groups = columns
    moves = Moves.of(expected, games, plies, first_to_play)
    assert (moves.losses >= 0).all()
    assert (moves.losses <= 1).all()
    np.testing.assert_array_equal(moves.losses > 0, moves.after < moves.before)
    mirrored = Moves.of(1 - expected, games, plies, ~first_to_play)
    np.testing.assert_allclose(mirrored.losses, moves.losses, atol=1e-12)
    accuracies = moves.game_accuracies()
    np.testing.assert_allclose(mirrored.game_accuracies()[:, ::-1], accuracies, atol=1e-6)
    assert np.nanmin(accuracies, initial=0) >= 0
    assert np.nanmax(accuracies, initial=0) <= 100
    if not len(moves):
        return
    every = measure_accuracy(moves, "all", resampling=NO_INTERVALS)
    parts = [
        measure_accuracy(moves, "part", chosen=holds, resampling=NO_INTERVALS)
        for group in range(3)
        if (holds := groups[moves.rows] == group).any()
    ]
    assert sum(part.moves for part in parts) == every.moves == len(moves)
    for name in ("loss", "inaccuracies", "mistakes", "blunders"):
        total = sum(part.moves * getattr(part, name).value for part in parts)
        assert total == pytest.approx(every.moves * getattr(every, name).value, abs=1e-9)


def test_a_group_is_measured_against_the_other_moves() -> None:
    rng = np.random.default_rng(5)
    plies, games = np.tile(np.arange(30), 40), np.repeat(np.arange(40), 30)
    moves = Moves.of(rng.random(1200), games, plies, plies % 2 == 0)
    few = Resampling(200, seed=3)
    white = measure_accuracy(moves, "x", chosen=moves.by_first, condition="white", resampling=few)
    black = measure_accuracy(moves, "x", chosen=~moves.by_first, resampling=few)
    own, other = moves.losses[moves.by_first], moves.losses[~moves.by_first]
    assert white.loss.value == pytest.approx(own.mean())
    assert white.difference.value == pytest.approx(own.mean() - other.mean())
    assert black.difference.value == pytest.approx(-white.difference.value)
    assert white.difference.low < white.difference.value < white.difference.high
    assert white.loss == mean_by_games(own, moves.games[moves.by_first], few)
    of_white = moves.where(moves.by_first).game_accuracies()[:, 1]
    assert white.accuracy.value == pytest.approx(of_white.mean())
    assert white.blunders.value == pytest.approx((own >= 0.15).mean())
    assert white.mistakes.value == pytest.approx(((own >= 0.1) & (own < 0.15)).mean())
    every = measure_accuracy(moves, "x", resampling=few)
    assert math.isnan(every.difference.value)


def test_intervals_of_losses_contain_the_truth() -> None:
    """Games differ in how well they are played, so their moves are not independent."""
    held = {"loss": 0, "difference": 0}
    studies = 200
    for study in range(studies):
        rng = np.random.default_rng(study)
        skill = rng.gamma(2, 0.02, (60, 1, 2))  # of each player in each game; the mean is 0.04
        losses = rng.exponential(1, (60, 20, 2)) * skill
        before = np.full(losses.size, 1.0)
        white = np.tile([False, True], losses.size // 2)
        games = np.repeat(np.arange(60), 40).astype(np.uint32)
        moves = Moves(
            np.arange(losses.size), games, 60, white, before, before - losses.ravel(), before
        )
        found = measure_accuracy(moves, "x", chosen=white, resampling=Resampling(200, seed=study))
        held["loss"] += found.loss.low <= 0.04 <= found.loss.high
        held["difference"] += found.difference.low <= 0 <= found.difference.high
    for hits in held.values():
        assert 0.9 <= hits / studies <= 0.99


def test_thresholds_rise() -> None:
    settings = AccuracySettings(inaccuracy=0.1, mistake=0.2, blunder=0.3)
    assert settings.classes(np.array([0.09, 0.1, 0.2, 0.3])).tolist() == [0, 1, 2, 3]
    with pytest.raises(ParameterError, match="`blunder` is above `mistake`"):
        AccuracySettings(blunder=0.1)


def noisy_scores(unit: str = "centipawns") -> Sample:
    rng = np.random.default_rng(0)
    score = rng.normal(0, 200, 400)
    results = (rng.random(400) < 1 / (1 + np.exp(-score / 150))).astype(float)
    score[:2] = [math.inf, -math.inf]
    return Sample.of("x", score, results=results, games=np.arange(400), unit=unit)


def test_scores_become_expected_scores_by_the_fitted_curve() -> None:
    sample = noisy_scores()
    expected, how = expected_scores(sample)
    np.testing.assert_array_equal(expected, fit_logistic(sample).probability(sample.values))
    assert expected[:2].tolist() == [1, 0]
    assert "logistic curve" in how


def test_without_a_fit_the_scale_is_fitted_alone() -> None:
    # All wins are above all losses, but a loss is above 0.
    values, results = [30.0, 20.0, 10.0, -10.0], [1, 1, 0, 0]
    sample = Sample.of("x", values, results=results, games=[1, 2, 3, 4], unit="points")
    expected, how = expected_scores(sample)
    k = fit_plain(sample).k.value
    np.testing.assert_allclose(expected, [1 / (1 + math.exp(-value / k)) for value in values])
    assert "perfect separation" in how


def test_without_any_curve_advice_is_given() -> None:
    won = noisy_scores().with_results(np.ones(400))
    with pytest.raises(StudyError, match=r"all results are equal; add games, or use `axis='value'"):
        expected_scores(won)
    assert "Lichess" in expected_scores(won, "lichess")[1]
    with pytest.raises(ParameterError, match="lichess maps centipawns; x has points"):
        expected_scores(noisy_scores("points"), "lichess")


def test_values_are_expected_scores() -> None:
    sample = Sample.of("x", [0.2, 1.0, 0.7], results=[0, 1, 1], games=[1, 2, 3])
    assert expected_scores(sample)[0].tolist() == pytest.approx([0.2, 1, 0.7])
    mates = Sample.of("x", [math.inf, -math.inf], results=[1, 0], games=[1, 2], unit="points")
    assert expected_scores(mates)[0].tolist() == [1, 0]


def test_a_table_hides_figures_of_few_games() -> None:
    plies = np.arange(10)
    moves = Moves.of(np.linspace(0.2, 0.8, 10), np.zeros(10), plies, plies % 2 == 0)
    part = measure_accuracy(moves, "x", resampling=NO_INTERVALS)
    table = AccuracyTable((part,))
    assert [row["loss"] for row in table.rows()] == [None]
    assert "fewer than 20 games" in str(table)
    shown = AccuracyTable((part,), min_games=1)
    assert shown.rows()[0]["loss"] == pytest.approx(part.loss.value)
    assert shown.rows()[0]["moves"] == 9
    heading, row = shown.lines()
    assert len(heading) == len(row)
    assert "vs. others" not in heading  # there are none


def test_results_are_drawn() -> None:
    move = WorstMove("x", 3, 20, "A. Player", "Qh5", "Nf3", 0.6, 0.2, "blunder")
    worst = WorstMoves((move,))
    [row] = worst.rows()
    assert (row["game_id"], row["ply"], row["better"]) == (3, 20, "Nf3")
    assert row["loss"] == pytest.approx(0.4)
    assert "game 3, ply 20: Qh5" in str(worst.chart().to_dict())
