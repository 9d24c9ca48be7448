# SPDX-License-Identifier: Apache-2.0
"""A move model's ranking on the board, and the area that a leaf of METS asks about."""

import dataclasses
from collections.abc import Sequence
from typing import Final

from hyoka.diagram import Cell, Diagram, diagram
from hyoka.games import AnyMove, Line
from hyoka.learning.mets import Asked

NUMBERED: Final = "1234567890"
"""What stands on the cells of the best moves, in their order; the tenth is 0."""


def ranking_diagram(line: Line, best: Sequence[AnyMove], asked: Asked | None = None) -> Diagram:
    """The best moves of a position numbered on its board, each on the last cell that it names.

    `asked`, what a tree asks about the first of them, marks the points it looks at.

    >>> import hyoka as hk
    >>> game = hk.Go5().line()
    >>> ranking_diagram(game, [game.parse("C3"), game.parse("B2")]).labels
    (((2, 2), '1'), ((3, 1), '2'))
    """
    board = diagram(line)
    labels: dict[Cell, str] = {}
    for number, move in zip(NUMBERED, best, strict=False):
        cell = _cell_of(str(move), board)
        if cell is not None:
            labels.setdefault(cell, number)
    marks: frozenset[Cell] = frozenset()
    if asked is not None and best and (middle := _cell_of(str(best[0]), board)) is not None:
        cells = [(middle[0] + down, middle[1] + right) for down, right, _ in asked.stones]
        marks = frozenset(
            (row, column)
            for row, column in [middle, *cells]
            if 0 <= row < board.rows and 0 <= column < board.columns
        )
    return dataclasses.replace(board, labels=tuple(labels.items()), marks=marks)


def _cell_of(move: str, board: Diagram) -> Cell | None:
    """Where a move ends, as its text says; None for a pass."""
    return next(reversed(board.named_in(move)), None)
