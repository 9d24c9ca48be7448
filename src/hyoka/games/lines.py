# SPDX-License-Identifier: Apache-2.0
"""Lines (positions with their history) of compiled games and of games written in Python."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka._core import Outcome, Player
from hyoka.foundation.errors import IllegalMoveError, NotationError
from hyoka.games.protocols import AnyGame, AnyLine, AnyMove
from hyoka.games.registry import game_facts, name_of, registered_start


@dataclass(frozen=True)
class PythonLine:
    """A line of a game written in Python; itself a game.

    The counterpart of the compiled games' `line()` for any class that follows `AnyGame`.
    """

    start: AnyGame
    moves: tuple[AnyMove, ...] = ()
    position: AnyGame = None  # type: ignore[assignment] # by default from the moves

    def __post_init__(self) -> None:
        if self.position is None:
            position = self.start
            for ply, move in enumerate(self.moves, 1):
                if move not in position.legal_moves:
                    raise IllegalMoveError(f"illegal move {move} at ply {ply}")
                position = position.play(move)
            object.__setattr__(self, "position", position)

    @property
    def to_play(self) -> Player:
        """The player to move."""
        return self.position.to_play

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None while the game is not over."""
        return self.position.outcome

    @property
    def score(self) -> float:
        """The position's own score; without one, 1, 0 or -1 by the outcome."""
        own = getattr(self.position, "score", None)
        if own is not None:
            return float(own)
        return 0.0 if self.outcome is None else 2 * float(self.outcome.value) - 1

    @property
    def legal_moves(self) -> list[AnyMove]:
        """All legal moves."""
        return list(self.position.legal_moves)

    def is_legal(self, move: object) -> bool:
        """Whether a move may be played."""
        return move in self.position.legal_moves

    def parse(self, text: str) -> AnyMove:
        """The legal move that prints as `text`; raises IllegalMoveError."""
        for move in self.legal_moves:
            if str(move) == text:
                return move
        raise IllegalMoveError(f"illegal move {text} at ply {len(self) + 1}")

    def random_move(self, seed: int) -> AnyMove | None:
        """Any legal move; None if the game is over."""
        return None if self.outcome is not None else random.Random(seed).choice(self.legal_moves)

    def play(self, move: AnyMove) -> "PythonLine":
        """The line with one move more."""
        if not self.is_legal(move):
            raise IllegalMoveError(f"illegal move {move} in {self.position}")
        return PythonLine(self.start, (*self.moves, move), self.position.play(move))

    @property
    def text(self) -> str:
        """The moves on one line, as they print; `read` reads them."""
        return " ".join(map(str, self.moves))

    @classmethod
    def read(cls, start: AnyGame, text: str) -> "PythonLine":
        """The line from `start` whose moves print as `text` says; raises IllegalMoveError."""
        line = cls(start)
        for word in text.split():
            line = line.play(line.parse(word))
        return line

    @classmethod
    def of_codes(cls, start: AnyGame, codes: Iterable[int]) -> "PythonLine":
        """Return the line from `start` whose moves have these codes.

        Raises IllegalMoveError.
        """
        moves: list[AnyMove] = []
        position = start
        for code in codes:
            move = move_of_code(position, code, len(moves))
            moves.append(move)
            position = position.play(move)
        return cls(start, tuple(moves), position)

    def __len__(self) -> int:
        return len(self.moves)

    def __str__(self) -> str:
        return str(self.position)


def move_of_code(position: AnyGame, code: int, ply: int) -> AnyMove:
    """The legal move of this code after `ply` moves; raises IllegalMoveError."""
    for move in position.legal_moves:
        if getattr(move, "code", move) == code:
            return move
    raise IllegalMoveError(f"no move has the code {code} at ply {ply + 1}")


class Replay(Protocol):
    """A recorded game; each move is played once if plies are asked in rising order."""

    def position(self, ply: int) -> Any:
        """Return the position after `ply` moves."""

    def line(self, ply: int) -> Any:
        """Return the line of the first `ply` moves."""


class PythonReplay:
    """A recorded game written in Python; raises IllegalMoveError for an unknown code."""

    def __init__(self, start: AnyGame, codes: Sequence[int]) -> None:
        self._codes = codes
        self._moves: list[AnyMove] = []
        self._positions = [start]

    def position(self, ply: int) -> AnyGame:
        """Return the position after `ply` moves."""
        while len(self._positions) <= ply:
            here, played = self._positions[-1], len(self._moves)
            move = move_of_code(here, self._codes[played], played)
            self._moves.append(move)
            self._positions.append(here.play(move))
        return self._positions[ply]

    def line(self, ply: int) -> PythonLine:
        """Return the line of the first `ply` moves."""
        position = self.position(ply)
        return PythonLine(self._positions[0], tuple(self._moves[:ply]), position)


def replay_of(game: str, start: str, komi: float, codes: NDArray[np.uint16]) -> Replay:
    """Replay a game by name; an empty `start` is the initial position, NaN means no komi."""
    first = registered_start(game)
    if first is None:
        return _core.Replay(game, start, komi, codes)
    return PythonReplay(first, codes.tolist())


def as_line(game: AnyGame, name: str | None) -> AnyLine:
    """Convert a position or a line to a line; `name` is the required game."""
    if name is None:
        return game if isinstance(game, PythonLine) else PythonLine(game)
    facts = game_facts(name)
    if isinstance(game, facts.line_type):
        return game
    if isinstance(game, facts.position_type):
        return game.line()
    try:
        other = name_of(game)
    except NotationError:
        other = type(game).__name__
    raise NotationError(f"this search plays {name}, not {other}")
