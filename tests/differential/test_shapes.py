# SPDX-License-Identifier: Apache-2.0
"""Shapes of stones around moves, against a slow twin that knows letters and no hashes."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka import _core
from hyoka._core import Go7
from hyoka.learning.strengths import frequent_shapes
from hyoka.models.linear import SHAPE, MoveStrengths, move_strengths
from hyoka.records import Record
from hyoka.records.bulk import GameTable

SIZES = _core.sizes_of_shapes()


def points_in_order() -> list[tuple[int, int]]:
    """Offsets (down, right), the nearest first, along the rows where they are as near."""

    def far(down: int, right: int) -> int:
        return abs(down) + abs(right) + max(abs(down), abs(right))

    every = [(down, right) for down in range(-6, 7) for right in range(-6, 7)]
    near = [each for each in every if 0 < far(*each) <= 12]
    return sorted(near, key=lambda each: far(*each))  # a stable sort keeps the rows


POINTS = points_in_order()
TURNS: list[Callable[[int, int], tuple[int, int]]] = [
    lambda d, r: (d, r),
    lambda d, r: (d, -r),
    lambda d, r: (-d, r),
    lambda d, r: (-d, -r),
    lambda d, r: (r, d),
    lambda d, r: (r, -d),
    lambda d, r: (-r, d),
    lambda d, r: (-r, -d),
]


def letters_around(
    board: tuple[list[list[int]], int],
    row: int,
    column: int,
    turn: Callable[[int, int], tuple[int, int]],
) -> str:
    """What stands around a point, the board turned."""
    cells, own = board
    found = []
    for offset in POINTS:
        down, right = turn(*offset)
        there = (row + down, column + right)
        if not (0 <= there[0] < len(cells) and 0 <= there[1] < len(cells)):
            found.append("b")
        else:
            stone = cells[there[0]][there[1]]
            found.append("e" if stone == 0 else "o" if stone == own else "x")
    return "".join(found)


def likenesses(position: Any, row: int, column: int) -> list[set[str]]:
    """By size: all turned and mirrored likenesses of the shape around a point."""
    board = position.cells.tolist(), 1 if position.to_play is hk.Player.first else -1
    whole = [letters_around(board, row, column, turn) for turn in TURNS]
    return [{each[:points] for each in whole} for points in SIZES]


@pytest.fixture(scope="module")
def games() -> list[Record]:
    """Random games on 7x7: small enough for shapes to be met again."""
    records = []
    for seed in range(30):
        chance = random.Random(seed)
        game = Go7()
        codes = []
        for _ in range(25):
            move = chance.choice([each for each in game.legal_moves if str(each) != "pass"])
            codes.append(move.code)
            game = game.play(move)
        records.append(Record("go7", np.array(codes, np.uint16)))
    return records


def played(records: list[Record]) -> Iterator[tuple[Any, int, int]]:
    """Positions and the points played, as row and column of the board as drawn."""
    for record in records:
        for code, position in zip(record.moves.tolist(), record.positions(), strict=False):
            yield position, code // 7, code % 7


def test_frequent_shapes_are_those_met_most_often(games: list[Record]) -> None:
    counts: Counter[str] = Counter()
    for position, row, column in played(games):
        for likes in likenesses(position, row, column):
            counts[min(likes)] += 1
    found = frequent_shapes(GameTable.from_records(games), 60, least=2)
    assert len(found) == 60

    def canonical(text: str) -> str:
        states = dict(zip(POINTS[: len(text)], text, strict=True))
        turned = []
        for turn in TURNS:
            turned.append("".join(states[turn(*point)] for point in POINTS[: len(text)]))
        return min(turned)

    ours = Counter({canonical(text): counts[canonical(text)] for text in found})
    assert len(ours) == 60  # likenesses are one
    assert min(ours.values()) >= max(counts[each] for each in counts if each not in ours)


def test_a_move_has_the_largest_shape_known_whatever_came_before(games: list[Record]) -> None:
    found = frequent_shapes(GameTable.from_records(games), 150, least=2)
    strengths = dict.fromkeys(move_strengths("go7"), 1.0)
    strengths |= {SHAPE + text: float(i + 2) for i, text in enumerate(found)}
    model = MoveStrengths("go7", strengths).model()  # one model: it keeps up with the board
    number = {text: i + 2 for i, text in enumerate(found)}
    rows = list(played(games[:6]))
    random.Random(1).shuffle(rows)  # captures come and go, games follow each other
    for position, _, _ in rows[:30]:
        moves, weights = _core.weigh_moves("go7", position.line(), model)
        for move, weight in zip(moves, weights, strict=True):
            best = 1
            if str(move) != "pass":
                for likes in likenesses(position, move.code // 7, move.code % 7):
                    known = [number[each] for each in likes if each in number]
                    if not known:
                        break
                    best = known[0]
            assert weight == best


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="points around"):
        _core.GoShapes(["oxe"])
    with pytest.raises(ValueError, match="written with"):
        _core.GoShapes(["z" * SIZES[0]])
    with pytest.raises(ValueError, match="no shapes"):
        MoveStrengths("shogi", {SHAPE + "e" * SIZES[0]: 2.0}).model()
