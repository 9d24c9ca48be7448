# SPDX-License-Identifier: Apache-2.0
"""The games by name, and what every game can do."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import NotationError, nearest


class Move(Protocol):
    """A move: a small value that prints as people write it."""

    @property
    def code(self) -> int:
        """The number that stands for the move in arrays."""

    def __hash__(self) -> int: ...


class Game(Protocol):
    """A position, or a line of play: an immutable value that knows its own rules.

    >>> import hyoka as hk
    >>> for name in ("othello", "chess"):
    ...     game: hk.Game = hk.position(name)
    ...     print(name, len(game.legal_moves), game.outcome)
    othello 4 None
    chess 20 None
    """

    @property
    def to_play(self) -> _core.Player:
        """Who moves next."""

    @property
    def outcome(self) -> _core.Outcome | None:
        """How the game ended, or None while it goes on."""

    @property
    def score(self) -> float:
        """The score as the board stands, for the first player."""

    @property
    def legal_moves(self) -> Sequence[Any]:
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
        """How many legal moves there are."""

    def is_legal(self, move: Any) -> bool:
        """Whether a move, or the move a text names, may be played."""

    def play(self, move: Any) -> Self:
        """The game after a move, or after the move a text names."""

    def parse(self, text: str) -> Any:
        """The move a text names, legal or not."""

    def random_move(self, seed: int) -> Any:
        """What a random playout would play here; None if the game is over."""

    def movement_only(self) -> Self:
        """The game under the rules of movement alone: what tables of perft count."""

    def perft(self, depth: int) -> int:
        """How many lines of exactly `depth` moves start here."""

    def playout_arrays(
        self, count: int, seed: int, threads: int, limit: int | None
    ) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.float32]]:
        """Results, lengths and scores of random playouts; see `hyoka.playouts`."""


class Position(Game, Protocol):
    """A game without its past: what `hyoka.GAMES` holds the types of."""

    symmetries: ClassVar[int]

    @staticmethod
    def from_text(text: str) -> Any:
        """The position that `text` describes."""

    def line(self) -> Game:
        """The line of play that starts here, with the rules that look back."""


GAMES: Final[dict[str, type[Any]]] = {
    "go9": _core.Go9,
    "go13": _core.Go13,
    "go19": _core.Go19,
    "othello": _core.Othello,
    "chess": _core.Chess,
    "shogi": _core.Shogi,
    "blokus_duo": _core.BlokusDuo,
    "go3": _core.Go3,
    "go4": _core.Go4,
    "go5": _core.Go5,
    "go6": _core.Go6,
    "go7": _core.Go7,
}
_OTHER_NAMES: Final = {"go": "go19", "reversi": "othello", "blokus": "blokus_duo"}


def game_type(name: str) -> type[Any]:
    """The type of a game by its name, such as `go9`; a wrong name gets the nearest right one.

    >>> game_type("shogi")()
    <Shogi lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1>
    >>> game_type("shougi")
    Traceback (most recent call last):
        ...
    hyoka.errors.NotationError: no game 'shougi'; did you mean shogi?
    """
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    wanted = _OTHER_NAMES.get(wanted, wanted)
    if wanted in GAMES:
        return GAMES[wanted]
    hint = nearest(wanted, [*GAMES, *_OTHER_NAMES]) or f"known are {', '.join(GAMES)}"
    raise NotationError(f"no game '{name}'; {hint}")


def name_of(game: Game) -> str:
    """The name under which the game of a position or line is known.

    >>> import hyoka as hk
    >>> name_of(hk.Go9())
    'go9'
    """
    for name, kind in GAMES.items():
        if isinstance(game, kind | kind.Line):
            return name
    raise NotationError(f"{type(game).__name__} is none of the games known by name")


def position(name: str, text: str | None = None) -> Any:
    """The start of a game, or the position that `text` describes (FEN, SFEN, …).

    >>> position("othello", "-" * 64 + " X").outcome
    <Outcome draw by score>
    """
    kind = game_type(name)
    return kind() if text is None else kind.from_text(text)
