# SPDX-License-Identifier: Apache-2.0
"""The counter of patterns on boards of Blokus Duo in plain Python, slow and simple."""

import functools
from collections import Counter

import numpy as np

import hyoka as hk

Window = tuple[tuple[int, ...], ...]


def turned(window: Window) -> Window:
    """A quarter turn."""
    return tuple(zip(*window[::-1], strict=True))


@functools.cache
def smallest(window: Window) -> tuple[int, ...]:
    """The least of its eight likenesses, row by row."""
    likenesses = []
    for each in (window, window[::-1]):
        for _ in range(4):
            likenesses.append(sum(each, ()))
            each = turned(each)  # noqa: PLW2901
    return min(likenesses)


@functools.cache
def classes(side: int) -> dict[tuple[int, ...], int]:
    """The numbers of all patterns of a size, in the order of their least likenesses."""
    windows = np.ndindex(*[3] * side**2)
    found = {
        smallest(tuple(tuple(cells[side * row : side * (row + 1)]) for row in range(side)))
        for cells in windows
    }
    return {pattern: number for number, pattern in enumerate(sorted(found))}


def counted(game: hk.BlokusDuo) -> list[int]:
    """How often each pattern lies on the board, in the view of the side to move."""
    own, other = (1, -1) if game.to_play is hk.Player.first else (-1, 1)
    board = [[{own: 1, other: 2, 0: 0}[cell] for cell in row] for row in game.cells.tolist()]
    counts: list[int] = []
    for side in (1, 2, 3):
        met: Counter[int] = Counter()
        for row in range(15 - side):
            for column in range(15 - side):
                window = tuple(
                    tuple(line[column : column + side]) for line in board[row : row + side]
                )
                met[classes(side)[smallest(window)]] += 1
        counts += [met[number] for number in range(len(classes(side)))]
    return counts
