# SPDX-License-Identifier: Apache-2.0
"""Protocols of games, lines and moves, compiled or written in Python."""

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hyoka import _core


class Move(Protocol):
    """A move: a small value that prints as people write it."""

    @property
    def code(self) -> int:
        """The number that stands for the move in arrays."""

    def __hash__(self) -> int: ...


AnyMove: TypeAlias = Move | int
"""A move of any game: of one written in Python it may be a plain number."""


class AnyGame(Protocol):
    """The interface of every game, sufficient for searches.

    `play` takes `Any`, since each game accepts its own moves only.
    """

    @property
    def to_play(self) -> _core.Player:
        """The player to move."""

    @property
    def outcome(self) -> _core.Outcome | None:
        """The outcome; None while the game is not over."""

    @property
    def legal_moves(self) -> Sequence[AnyMove]:
        """All legal moves; empty exactly when the game is over."""

    def play(self, move: Any, /) -> "AnyGame":
        """The game after a move."""


class AnyLine(AnyGame, Protocol):
    """A line of any game."""

    @property
    def start(self) -> AnyGame:
        """The initial position."""

    @property
    def position(self) -> AnyGame:
        """The current position."""

    @property
    def moves(self) -> Sequence[AnyMove]:
        """The moves played."""

    @property
    def score(self) -> float:
        """The score as the board stands, for the first player."""

    @property
    def text(self) -> str:
        """The line as one line of text."""

    def play(self, move: Any, /) -> Self:
        """The line with one move more."""

    def is_legal(self, move: Any, /) -> bool:
        """Whether a move may be played."""

    def parse(self, text: str, /) -> AnyMove:
        """The move a text names."""

    def random_move(self, seed: int, /) -> AnyMove | None:
        """Return a move of the random playout policy; None if the game is over."""

    def __len__(self) -> int: ...


class Game(AnyGame, Protocol):
    """A position, or a line of play: an immutable value that knows its own rules.

    >>> import hyoka as hk
    >>> for name in ("othello", "chess"):
    ...     game: hk.games.Game = hk.position(name)
    ...     print(name, len(game.legal_moves), game.outcome)
    othello 4 None
    chess 20 None
    """

    @property
    def score(self) -> float:
        """The score as the board stands, for the first player."""

    @property
    def legal_moves(self) -> Sequence[Move]:
        """All legal moves; empty exactly when the game is over."""

    @property
    def hash(self) -> int:
        """64 bits; equal games have equal hashes."""

    @property
    def text(self) -> str:
        """The game as one line of text."""

    @property
    def cells(self) -> NDArray[np.int8]:
        """The board as drawn: 0 empty, > 0 the first player's pieces, < 0 the second's."""

    def count_moves(self) -> int:
        """Count the legal moves."""

    def play(self, move: Any, /) -> Self:
        """The game after a move, or after the move a text names."""

    def is_legal(self, move: Any, /) -> bool:
        """Whether a move, or the move a text names, may be played."""

    def parse(self, text: str, /) -> Move:
        """The move a text names, legal or not."""

    def random_move(self, seed: int, /) -> Move | None:
        """Return a move of the random playout policy; None if the game is over."""

    def movement_only(self) -> Self:
        """The game under the rules of movement alone: what tables of perft count."""

    def perft(self, depth: int, /) -> int:
        """Count the lines of exactly `depth` moves."""

    def playout_arrays(
        self, count: int, seed: int, threads: int, limit: int | None, /
    ) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.float32], NDArray[np.uint8]]:
        """Results, lengths and scores of random playouts, and whether they ended."""


class Position(Game, Protocol):
    """A position without its history; `hyoka.games.GAMES` lists the types."""

    symmetries: int
    """Number of symmetries of the board, the identity included."""

    @staticmethod
    def from_text(text: str, /) -> "Position":
        """The position that `text` describes."""

    def line(self) -> "Line":
        """Return the line that starts here."""


class Line(Game, AnyLine, Protocol):
    """A position with its history, which rules about repetition need."""

    @property
    def start(self) -> Position:
        """The initial position."""

    @property
    def position(self) -> Position:
        """The current position."""

    @property
    def moves(self) -> Sequence[Move]:
        """The moves played."""

    def undo(self) -> Self:
        """The line without its last move."""


class GoPosition(Position, Protocol):
    """A Go position."""

    size: int

    def __init__(self, *, komi: float = ..., handicap: int = ...) -> None: ...

    @staticmethod
    def from_text(text: str, /) -> "GoPosition":
        """The position that `text` describes."""

    @staticmethod
    def from_stones(
        black: Sequence[str],
        white: Sequence[str],
        /,
        *,
        to_play: _core.Player = ...,
        komi: float = ...,
    ) -> "GoPosition":
        """The position with these stones."""

    def line(self) -> "GoLine":
        """The line of play that starts here, with superko."""

    @property
    def komi(self) -> float:
        """Points added to White's score."""

    @property
    def ko(self) -> Move | None:
        """The point that may not be retaken at once."""

    def with_komi(self, komi: float, /) -> Self:
        """Return the position with another komi."""

    def with_to_play(self, player: _core.Player, /) -> Self:
        """Return the position with `player` to move."""

    def liberties(self, point: Any, /) -> int:
        """Count the liberties of the chain on a point."""

    def chain_size(self, point: Any, /) -> int:
        """Count the stones of the chain on a point."""


class GoLine(Line, Protocol):
    """A line of play of Go."""

    @property
    def start(self) -> GoPosition:
        """The initial position."""

    @property
    def position(self) -> GoPosition:
        """The current position."""


class ShogiPosition(Position, Protocol):
    """A shogi position."""

    def __init__(self, *, handicap: str = ...) -> None: ...

    def hand(self, player: _core.Player, /) -> dict[str, int]:
        """Count a player's pieces in hand, by letter."""

    @property
    def may_declare(self) -> bool:
        """Whether the side to move may declare its entered king."""


class Solver(Protocol):
    """The interface of position solvers."""

    def stop(self) -> None:
        """End the running search soon."""

    def allow(self) -> None:
        """Let searches run again."""

    def clear(self) -> None:
        """Forget everything."""


class MateSolver(Solver, Protocol):
    """Searches for mates by checks."""

    def solve(
        self, position: Any, nodes: int, time_s: float, /
    ) -> tuple[str, Sequence[Move], int, float]:
        """Return verdict, mating line, nodes and time; a limit of 0 means none."""


class EndingSolver(Solver, Protocol):
    """Solves positions near the end of a game decided by points."""

    def solve(
        self, position: Any, nodes: int, time_s: float, result_only: bool, /
    ) -> tuple[bool, int, Sequence[Move], int, float]:
        """Whether it was solved, the first player's score, best play, nodes and time."""

    def solve_moves(
        self, position: Any, nodes: int, time_s: float, /
    ) -> tuple[bool, Sequence[tuple[Move, int]], int, float]:
        """Whether it was solved, the score of every move, nodes and time."""
