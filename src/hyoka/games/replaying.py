# SPDX-License-Identifier: Apache-2.0
"""Recorded games walked through, move by move: our games in the core, those in Python here."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.games.protocols import AnyGame, AnyMove
from hyoka.games.python_line import PythonLine, move_of_code
from hyoka.games.registered import registered_start


class Replay(Protocol):
    """A recorded game; every move is played once as long as plies rise."""

    def position(self, ply: int) -> Any:
        """The position after so many moves."""

    def line(self, ply: int) -> Any:
        """The line of play that so many moves make, as a search may go on from it."""


class PythonReplay:
    """A recorded game written in Python; raises IllegalMoveError where a code is no move's."""

    def __init__(self, start: AnyGame, codes: Sequence[int]) -> None:
        self._codes = codes
        self._moves: list[AnyMove] = []
        self._positions = [start]

    def position(self, ply: int) -> AnyGame:
        """The position after so many moves."""
        while len(self._positions) <= ply:
            here, played = self._positions[-1], len(self._moves)
            move = move_of_code(here, self._codes[played], played)
            self._moves.append(move)
            self._positions.append(here.play(move))
        return self._positions[ply]

    def line(self, ply: int) -> PythonLine:
        """The line of play that so many moves make."""
        position = self.position(ply)
        return PythonLine(self._positions[0], tuple(self._moves[:ply]), position)


def replay_of(game: str, start: str, komi: float, codes: NDArray[np.uint16]) -> Replay:
    """A walk through a game by its name; `start` is empty for the usual one, komi NaN for none."""
    first = registered_start(game)
    if first is None:
        return _core.Replay(game, start, komi, codes)
    return PythonReplay(first, codes.tolist())
