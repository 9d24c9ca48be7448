# SPDX-License-Identifier: Apache-2.0
import copy
import dataclasses
import math
import pickle

import pytest

import hyoka as hk
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation


def test_the_first_players_view_is_unchanged() -> None:
    found = Evaluation(
        score=35.0, unit="centipawns", win=0.5, draw=0.3, loss=0.2, best="e2e4", depth=3
    ).from_view(hk.Player.first)
    assert found == Evaluation(
        value=pytest.approx(0.65),  # type: ignore[arg-type]
        score=35.0,
        unit="centipawns",
        win=0.5,
        draw=0.3,
        loss=0.2,
        best="e2e4",
        depth=3,
    )


def test_the_second_players_view_is_turned_in_every_number() -> None:
    found = Evaluation(
        score=35.0, unit="centipawns", win=0.5, draw=0.3, loss=0.2, nodes=7, time_s=0.5
    ).from_view(hk.Player.second)
    assert found.value == pytest.approx(0.35)
    assert (found.score, found.win, found.draw, found.loss) == (-35.0, 0.2, 0.3, 0.5)
    assert (found.nodes, found.time_s) == (7, 0.5)
    assert Evaluation(value=0.25).from_view(hk.Player.second).value == 0.75


def test_a_turned_zero_has_no_sign() -> None:
    score = Evaluation(score=0.0, unit="points").from_view(hk.Player.second).score
    assert score is not None
    assert math.copysign(1, score) == 1


@pytest.mark.parametrize(
    ("viewer", "mate", "kept"),
    [
        (hk.Player.first, 3, 3),
        (hk.Player.first, -3, -3),
        (hk.Player.second, 3, -3),
        (hk.Player.second, -UNKNOWN_MATE, UNKNOWN_MATE),
    ],
)
def test_a_mate_takes_the_place_of_the_score(viewer: hk.Player, mate: int, kept: int) -> None:
    found = Evaluation(mate=mate, score=900.0, unit="centipawns").from_view(viewer)
    assert (found.mate, found.score, found.unit, found.value) == (kept, None, "", None)


@pytest.mark.parametrize(
    ("viewer", "mate", "value"), [(hk.Player.first, -1, 0.0), (hk.Player.second, 1, 1.0)]
)
def test_the_sign_of_a_mate_on_the_board_survives(
    viewer: hk.Player, mate: int, value: float
) -> None:
    found = Evaluation(mate=0).from_view(viewer)
    assert (found.mate, found.value) == (mate, value)
    assert (found.win, found.draw, found.loss) == (value, 0.0, 1 - value)


def test_without_a_score_there_is_no_unit() -> None:
    assert Evaluation(value=0.5, unit="points").from_view(hk.Player.first).unit == ""


def test_an_evaluation_is_a_value() -> None:
    found = Evaluation(value=0.5, best="e2e4")
    assert found == copy.copy(found) == pickle.loads(pickle.dumps(found))
    assert hash(found) == hash(dataclasses.replace(found))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = 1.0  # type: ignore[misc]
