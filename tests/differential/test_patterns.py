# SPDX-License-Identifier: Apache-2.0
"""Counts of patterns on boards of Blokus Duo against a slow twin."""

import numpy as np
import pytest

import hyoka as hk
from hyoka.models.ply_perceptrons import HANDS, PATTERNS, pattern_counts, pieces_laid

from .pattern_twin import classes, counted


def random_game(seed: int) -> list[hk.BlokusDuo]:
    """All positions of a game of random moves, the last one included."""
    positions = [hk.BlokusDuo()]
    while positions[-1].outcome is None:
        move = positions[-1].random_move(1000 * seed + len(positions))
        assert move is not None
        positions.append(positions[-1].play(move))
    return positions


def test_there_are_as_many_patterns_as_in_the_twin() -> None:
    assert [len(classes(side)) for side in (1, 2, 3)] == [3, 21, 2862]
    assert pattern_counts([hk.BlokusDuo()]).shape == (1, PATTERNS) == (1, 3 + 21 + 2862)


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_the_twins_at_every_ply(seed: int) -> None:
    positions = random_game(seed)
    found = pattern_counts(positions)
    assert found.shape == (len(positions), PATTERNS)
    for position, row in zip(positions, found.tolist(), strict=True):
        assert row == counted(position)


@pytest.mark.parametrize("seed", range(3))
def test_boards_that_a_mirror_makes_equal_have_equal_counts(seed: int) -> None:
    positions = random_game(seed)
    mirrored = [position.transformed(1) for position in positions]
    assert mirrored != positions
    counts, again = (pattern_counts(each, hands=True) for each in (positions, mirrored))
    assert (counts == again).all()


def test_pieces_in_hand_come_after_the_patterns_the_movers_first() -> None:
    for position in random_game(1):
        [row] = pattern_counts([position], hands=True)
        assert len(row) == PATTERNS + HANDS
        for begin, player in ((0, position.to_play), (21, position.to_play.other)):
            letters = [chr(ord("a") + i) for i in range(21) if row[PATTERNS + begin + i]]
            assert "".join(letters) == position.pieces_left(player)


def test_pieces_laid_are_counted() -> None:
    positions = random_game(2)
    left = [sum(len(each.pieces_left(player)) for player in hk.Player) for each in positions]
    assert (pieces_laid(positions) == 42 - np.array(left)).all()
