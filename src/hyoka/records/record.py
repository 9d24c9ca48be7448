# SPDX-License-Identifier: Apache-2.0
"""One recorded game, whatever the game and the notation it came from."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.games import Move, Position, Replay, game_facts, registered_start, replay_of
from hyoka.records.ranks import rank_number

Ending = Literal[
    "unknown", "normal", "resigned", "time", "illegal", "adjudicated", "forfeit", "unfinished"
]
Author = Literal["first", "second"]
ENDINGS: Final[tuple[Ending, ...]] = get_args(Ending)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a record says about the position after a move, in the first player's view."""

    ply: int
    """Moves played before the position."""
    value: float | None = None
    """Expected result, 0 to 1."""
    score: float | None = None
    """Centipawns in chess, the program's own unit in shogi, points in Go."""
    mate: int | None = None
    """Moves to mate: positive if the first player mates, negative if the second does."""
    depth: int | None = None
    clock_s: float | None = None
    """Left on the clock of the player who moved."""
    spent_s: float | None = None
    """Spent on the move."""
    book: bool = False
    """The move came from an opening book."""
    author: Author | None = None
    """Which player said value, score and mate; None for anybody else, such as a site's analysis."""
    nags: tuple[int, ...] = ()
    """PGN's signs for moves and positions: 1 is `!`, 2 `?`, 18 a won position."""
    text: str = field(default="", compare=False)
    """Comments as they were written, values and all, with a form feed between two.

    Not compared: the same can be said in other words.
    """
    properties: str = field(default="", compare=False)
    """Of a node of SGF, other than moves and comments, as they were written: `TR[dd][pp]`."""


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """A recorded game.

    `first` is Black in Go, shogi and Othello, White in chess, the first to move in Blokus Duo.
    Text fields are empty where the record is silent.
    """

    game: str
    moves: NDArray[np.uint16]
    """The moves' codes, passes included."""
    start: str = ""
    """The position the moves begin at; empty for the usual start."""
    first: str = ""
    second: str = ""
    first_rating: str = ""
    second_rating: str = ""
    event: str = ""
    round: str = ""
    place: str = ""
    date: str = ""
    """Year-month-day as far as known, so that text order is time order."""
    rules: str = ""
    time_control: str = ""
    opening: str = ""
    komi: float | None = None
    handicap: int = 0
    result: float | None = None
    """The first player's: 1 won, 0.5 drawn, 0 lost; None if the record does not say."""
    ending: Ending = "unknown"
    margin: float | None = None
    """Points by which the first player won."""
    remarks: tuple[Remark, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict, compare=False)
    """All headers as they were written: PGN's tags, SGF's properties of the root, CSA's and KIF's.

    One that comes several times has its values here with a form feed between two. Writers keep
    them as far as they still say what the other fields say.
    """
    source: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    number: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        self.moves.flags.writeable = False

    def __repr__(self) -> str:
        result = {None: "?", 1.0: "first won", 0.5: "drawn", 0.0: "second won"}[self.result]
        players = f"{self.first or '?'} – {self.second or '?'}"
        return f"<Record {self.game} {players}, {len(self)} moves, {result} ({self.ending})>"

    def _repr_html_(self) -> str:
        from hyoka.diagram import diagram, svg  # noqa: PLC0415 - only a notebook asks

        last = self.position()
        board = svg(diagram(last), size=352) if hasattr(last, "cells") else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{board}"

    def __len__(self) -> int:
        """How many moves, passes included."""
        return len(self.moves)

    @property
    def first_rank(self) -> float | None:
        """The first player's rating or rank as a number that orders."""
        return rank_number(self.first_rating)

    @property
    def second_rank(self) -> float | None:
        """The second player's rating or rank as a number that orders."""
        return rank_number(self.second_rating)

    def content(self) -> tuple[object, ...]:
        """Everything but where the record came from; equal contents are equal games.

        A few spellings of the same remark are made one: a remark that says nothing but words is
        left out, and headers count by what they say.
        """
        return (
            self.game,
            tuple(self.moves.tolist()),
            self.start,
            self.first,
            self.second,
            self.first_rating,
            self.second_rating,
            self.event,
            self.round,
            self.place,
            self.date,
            self.rules,
            self.time_control,
            self.opening,
            self.komi,
            self.handicap,
            self.result,
            self.ending,
            self.margin,
            tuple(each for each in self.remarks if each != Remark(each.ply)),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.content() == other.content()

    def __hash__(self) -> int:
        return hash((self.game, self.start, self.moves.tobytes()))

    def move_texts(self, notation: str = "") -> list[str]:
        """The moves as texts: the game's own, or `san`, `csa`, `kif`, `ki2`, `sgf`, `code`."""
        if self._is_in_python and not notation:
            return list(map(str, self.move_list))
        game = game_facts(self.game).name
        return _core.move_texts(game, self.start, self._komi, self.moves, notation)

    def position(self, ply: int | None = None) -> Position:
        """The position after `ply` moves; after all of them if not given."""
        wanted = len(self) if ply is None else ply
        if not 0 <= wanted <= len(self):
            raise IndexError(f"ply {ply} of a game of {len(self)} moves")
        position: Position = self._replay().position(wanted)
        return position

    def position_text(self, ply: int) -> str:
        """The text of the position after `ply` moves; in Python it may have none but the moves."""
        text = getattr(self.position(ply), "text", None)
        return " ".join(self.move_texts()[:ply]) if text is None else str(text)

    def positions(self) -> Iterator[Position]:
        """All positions from the start to the end."""
        return map(self._replay().position, range(len(self) + 1))

    def _replay(self) -> Replay:
        return replay_of(self.game, self.start, self._komi, self.moves)

    @property
    def _is_in_python(self) -> bool:
        return registered_start(self.game) is not None

    @cached_property
    def move_list(self) -> list[Move]:
        """The moves as values."""
        if self._is_in_python:
            return list(self._replay().line(len(self)).moves)
        facts = game_facts(self.game)
        return [facts.move(code) for code in self.moves.tolist()]

    @property
    def _komi(self) -> float:
        return math.nan if self.komi is None else self.komi
