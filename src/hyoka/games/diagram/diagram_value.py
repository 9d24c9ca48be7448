# SPDX-License-Identifier: Apache-2.0
"""Contents of a board picture, independent of how it is drawn."""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from hyoka._core import Player
from hyoka.foundation.errors import NotationError

Cell = tuple[int, int]
"""Row from the top and column from the left, from 0."""
Place = tuple[float, float]
"""The same; half-way between two cells is .5."""
Side = Literal["top", "bottom", "left", "right"]
"""A side of the board."""


@dataclass(frozen=True)
class Piece:
    """A piece as each renderer shows it."""

    player: Player
    text: str
    """In a terminal; all pieces of a game are equally wide."""
    ascii: str
    shape: str
    """Its outline: a name in `hyoka.diagram.shapes`."""
    label: str = ""
    """Written on the outline."""
    promoted: bool = False
    """The label is red."""
    turned: bool = False
    """Upside down."""
    joined: bool = False
    """Grows together with equal pieces beside it."""

    def in_letters(self) -> "Piece":
        """The same, with its ASCII text written on it in capitals."""
        return replace(self, label=self.ascii.strip().upper()) if self.label else self


@dataclass(frozen=True)
class Item:
    """Pieces off the board: `count` of the same, each laid out over `cells`."""

    piece: Piece
    text: str
    """Text for one piece in a terminal."""
    ascii: str
    count: int = 1
    cells: tuple[Cell, ...] = ((0, 0),)


@dataclass(frozen=True)
class Panel:
    """A player's pieces beside the board: below for the first player, above for the second."""

    player: Player
    title: str
    items: tuple[Item, ...]
    scale: float
    """The size of a piece here; 1 is its size on the board."""


@dataclass(frozen=True)
class Paint:
    """The colors (CSS) of one player's pieces; `ink` draws on them."""

    fill: str
    edge: str
    ink: str


@dataclass(frozen=True)
class Look:
    """The colors (CSS) of a board in light mode, and the paint of the two players' pieces."""

    board: str
    line: str
    paints: tuple[Paint, Paint]
    checks: str = ""
    """Every second square of a chequered board, which has no lines."""
    crossings: bool = False
    """Pieces stand on the crossings of the lines, not in squares."""
    solid: bool = False
    """Pieces hide what is below: the last move is marked by a ring on the piece, not by a shade."""
    dim: float = 0.2
    """Dimming of the board in dark mode, from 0 to 1."""


@dataclass(frozen=True)
class Diagram:
    """A picture of a board as a neutral value, which `svg` and `terminal` draw; `diagram` makes it.

    Raises ValueError if labels or marks do not fit the board.

    >>> import hyoka as hk
    >>> board = hk.diagram(hk.Shogi())
    >>> board.rows, board.columns, board.column_labels[0], board.row_labels[0], board.cell("7f")
    (9, 9, '9', '一', (5, 2))
    """

    title: str
    caption: str
    players: tuple[str, str]
    pieces: tuple[tuple[Piece | None, ...], ...]
    """By row from the top and column from the left; None on empty cells."""
    column_labels: tuple[str, ...]
    row_labels: tuple[str, ...]
    look: Look
    label_sides: frozenset[Side]
    column_names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    """Names of rows in moves and ASCII boards; by default the labels. Likewise for columns."""
    empty: tuple[str, str] = ("·", ".")
    """An empty cell in a terminal, and in ASCII; as wide as a piece."""
    dots: tuple[Place, ...] = ()
    """Star points and other dots."""
    panels: tuple[Panel, ...] = ()
    language: str = "en"
    """Of what is written on board and pieces, as HTML names it."""
    last: frozenset[Cell] = frozenset()
    """The cells of the last move."""
    marks: frozenset[Cell] = frozenset()
    """Cells to point out."""
    labels: tuple[tuple[Cell, str], ...] = ()
    """Short texts on cells."""
    heat: tuple[tuple[Cell, float], ...] = ()
    """From 0 to 1: how strongly a cell glows."""
    text: str = ""
    """The position as its game writes it (FEN, SFEN …), to be copied."""

    def __post_init__(self) -> None:
        """Check that everything fits the board."""
        if not self.pieces or {len(row) for row in self.pieces} != {len(self.pieces[0])}:
            raise ValueError("a board needs rows of equal length")
        for labels, count, axis in (
            (self.column_labels, self.columns, "column"),
            (self.column_names or self.column_labels, self.columns, "column"),
            (self.row_labels, self.rows, "row"),
            (self.row_names or self.row_labels, self.rows, "row"),
        ):
            if len(labels) != count:
                raise ValueError(f"{len(labels)} {axis} labels for {count} {axis}s")
        marked = [*self.last, *self.marks, *(c for c, _ in self.labels), *(c for c, _ in self.heat)]
        for row, column in marked:
            if not (0 <= row < self.rows and 0 <= column < self.columns):
                raise ValueError(f"no cell in row {row}, column {column} of {self.title}")
        for _, value in self.heat:
            if not 0 <= value <= 1:
                raise ValueError(f"heat must be 0 to 1, not {value}")

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.pieces)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.pieces[0])

    @cached_property
    def cell_names(self) -> dict[str, Cell]:
        """Each cell by its name in moves, in lower case."""
        return {
            (column_name + row_name).lower(): (row, column)
            for row, row_name in enumerate(self.row_names or self.row_labels)
            for column, column_name in enumerate(self.column_names or self.column_labels)
        }

    def cell(self, name: str) -> Cell:
        """Find the cell that moves call `name`, such as `D4`; NotationError if there is none."""
        try:
            return self.cell_names[name.lower()]
        except KeyError:
            raise NotationError(f"no cell '{name}' on the board of {self.title}") from None

    def named_in(self, move: str) -> tuple[Cell, ...]:
        """The cells that the text of a move names, in its order; a pass names none."""
        names = "|".join(sorted(map(re.escape, self.cell_names), key=len, reverse=True))
        return tuple(self.cell_names[name] for name in re.findall(names, move.lower()))

    def in_letters(self) -> "Diagram":
        """The same with letters for what is written in another script, which need no font of it.

        >>> import hyoka as hk
        >>> board = hk.diagram(hk.Shogi()).in_letters()
        >>> board.pieces[8][4].label, board.row_labels[0]
        ('K', 'a')
        """
        if all(label.isascii() for label in self.row_labels):
            return self
        return replace(
            self,
            pieces=tuple(tuple(p and p.in_letters() for p in row) for row in self.pieces),
            panels=tuple(
                replace(
                    panel,
                    items=tuple(replace(i, piece=i.piece.in_letters()) for i in panel.items),
                )
                for panel in self.panels
            ),
            row_labels=self.row_names or self.row_labels,
            language="en",
        )

    def _repr_svg_(self) -> str:
        from hyoka.games.diagram.renderers import svg  # noqa: PLC0415 - which draws this

        return svg(self, size=352)

    def panel_name(self, panel: Panel) -> str:
        """Say whose panel it is and what it shows."""
        return f"{self.players[panel.player.value]} {panel.title}"


def text_width(text: str) -> int:
    """Count columns in a terminal: two for each wide character such as a kanji.

    >>> text_width("v歩")
    3
    """
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)
