# SPDX-License-Identifier: Apache-2.0
"""Positions of a match's games as boards; those of games in Python where they can be drawn."""

from hyoka.contestants import PYTHON_GAMES
from hyoka.diagram import Diagram, diagram
from hyoka.errors import IllegalMoveError
from hyoka.games import PythonLine, registered_start
from hyoka.records import Record


def is_in_python(record: Record) -> bool:
    """Whether the game of a record is written in Python."""
    return record.game.startswith(PYTHON_GAMES)


def board_after(record: Record, plies: int) -> Diagram | None:
    """The position after so many moves.

    None of a game in Python that has no name by which to find it, or no cells, or began elsewhere
    than its usual start.
    """
    if not is_in_python(record):
        last = record.move_list[plies - 1] if plies else None
        return diagram(record.position(plies), last=last)
    start = registered_start(record.game.removeprefix(PYTHON_GAMES))
    if start is None or not hasattr(start, "cells") or record.start:
        return None
    try:
        line = PythonLine.of_codes(start, record.moves[:plies].tolist())
    except IllegalMoveError:  # the game has been changed since
        return None
    return diagram(line)
