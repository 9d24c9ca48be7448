# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import hyoka as hk


def some(*outcomes: int) -> hk.Playouts:
    scores = np.array(outcomes, dtype=np.float32)
    return hk.Playouts(
        np.array(outcomes, dtype=np.int8), np.ones(len(outcomes), dtype=np.int32), scores
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": -1}, "count must be 0 to .*, not -1"),
        ({"limit": -1}, "limit must not be negative, not -1"),
        ({"threads": 0}, "threads must be 1 to 1024 or None, not 0"),
        ({"threads": -2}, "threads must be"),
        ({"threads": 1025}, "threads must be"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"count": 1} | arguments
    with pytest.raises(ValueError, match=words):
        hk.playouts(hk.Othello(), **given)


def test_no_playouts_are_no_numbers() -> None:
    none = hk.playouts(hk.Othello(), 0)
    assert len(none) == 0
    assert math.isnan(none.value)
    assert math.isnan(none.standard_error)


def test_one_playout_has_a_value_but_no_error() -> None:
    assert some(1).value == 1
    assert math.isnan(some(1).standard_error)


def test_the_value_is_the_mean_result_between_0_and_1() -> None:
    assert some(1, 1, 0, -1).value == (1 + 1 + 0.5 + 0) / 4
    assert some(-1, -1).value == 0


def test_the_standard_error_is_that_of_the_mean() -> None:
    assert some(1, -1).standard_error == pytest.approx(0.5)
    assert some(1, 1, 1).standard_error == 0


def test_arrays_have_the_documented_types() -> None:
    results = hk.playouts(hk.Go9(), 3)
    assert results.outcomes.dtype == np.int8
    assert results.lengths.dtype == np.int32
    assert results.scores.dtype == np.float32


def test_results_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        some(1).outcomes = np.zeros(1, dtype=np.int8)  # type: ignore[misc]


def test_another_seed_gives_other_games() -> None:
    one, two = (hk.playouts(hk.Go9(), 50, seed=seed) for seed in (1, 2))
    assert (one.scores != two.scores).any()


@pytest.mark.parametrize("seed", [-1, 2**64, 2**64 - 1])
def test_any_whole_number_is_a_seed(seed: int) -> None:
    same = hk.playouts(hk.Othello(), 20, seed=seed % 2**64)
    assert (hk.playouts(hk.Othello(), 20, seed=seed).scores == same.scores).all()


def test_all_cores_may_play() -> None:
    one, many = hk.playouts(hk.Othello(), 300), hk.playouts(hk.Othello(), 300, threads=None)
    assert (one.lengths == many.lengths).all()


def test_a_game_cut_off_is_scored_as_it_stands() -> None:
    assert (hk.playouts(hk.Go9(komi=0.5), 10, limit=1).scores == 81 - 0.5).all()
    assert (hk.playouts(hk.Othello(), 10, limit=1).lengths == 1).all()
    for draws in (hk.playouts(hk.Chess(), 10, limit=3), hk.playouts(hk.Shogi(), 10, limit=3)):
        assert (draws.outcomes == 0).all()
        assert (draws.scores == 0).all()
        assert (draws.lengths == 3).all()


def test_shogi_is_cut_off_after_256_plies_and_go_after_three_times_its_points() -> None:
    assert hk.playouts(hk.Shogi(), 100).lengths.max() == 256
    assert hk.playouts(hk.Go3(), 500).lengths.max() <= 27


def test_a_finished_game_is_its_own_playout() -> None:
    over: Any = hk.Go9(komi=6.5).play("pass").play("pass")
    results = hk.playouts(over, 5)
    assert (results.lengths == 0).all()
    assert (results.scores == -6.5).all()
    assert results.value == 0


def test_a_line_of_play_ends_its_playouts_by_repetition() -> None:
    """Two kings and a blocked pawn pair: bare positions last until 50 moves have passed."""
    blocked: Any = hk.Chess.from_text("7k/8/8/p7/P7/8/8/7K w - - 0 1")
    bare, remembered = hk.playouts(blocked, 30, seed=1), hk.playouts(blocked.line(), 30, seed=1)
    assert remembered.lengths.mean() < bare.lengths.mean()


def test_a_mate_in_one_is_found_by_some_playout_and_counted_for_the_mover() -> None:
    mate: Any = hk.Chess.from_text("7k/R7/6K1/8/8/8/8/8 w - - 0 1")
    results = hk.playouts(mate, 200, limit=1)
    assert set(results.outcomes.tolist()) == {0, 1}
