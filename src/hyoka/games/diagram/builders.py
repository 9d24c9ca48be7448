# SPDX-License-Identifier: Apache-2.0
"""Build the `Diagram` of a game: one function per game family."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.games.diagram.diagram_value import Cell, Diagram, Item, Look, Paint, Panel, Piece
from hyoka.games.go import COLUMNS
from hyoka.games.protocols import AnyGame, AnyMove, Game, GoPosition
from hyoka.games.registry import facts_of


def diagram(
    game: AnyGame,
    *,
    last: AnyMove | str | None = None,
    marks: Iterable[str | Cell] = (),
    labels: Mapping[str | Cell, object] | None = None,
    heat: Mapping[str | Cell, float] | None = None,
) -> Diagram:
    """Describe the picture of a position or a line of play as a value.

    `last` is the last move or its text, known for a line; its cells are marked. `marks` are cells
    to highlight, `labels` short texts and `heat` numbers from 0 to 1 by cell; a cell is named as
    in moves (`D4`) or as (row, column) from the top left. The title names the game, the caption
    the side to move; `dataclasses.replace` changes them. Raises NotationError for an unknown move
    or cell, and ValueError for numbers out of range.

    >>> import hyoka as hk
    >>> board = diagram(hk.Chess().line().play("e4"), marks=["d5"], labels={"e5": 1})
    >>> board.caption
    'Black to play. Last move: e2e4.'
    >>> sorted(board.last), board.marks, board.labels
    ([(4, 4), (6, 4)], frozenset({(3, 3)}), (((3, 4), '1'),))
    """
    position: Any = getattr(game, "position", game)
    if not hasattr(position, "cells"):
        raise TypeError(f"no diagram for {type(position).__name__}: it has no `cells`")
    family = facts_of(position).family
    board = _BUILDERS.get(family, _plain)(position)
    if last is None:
        last = next(reversed(getattr(game, "moves", [])), None)
    caption = _state(game, board.players)
    if last is not None:
        caption += f" Last move: {last}."
    return replace(
        board,
        caption=caption,
        last=frozenset()
        if last is None
        else _cells_of(str(last), board, names_cells=family in _BUILDERS),
        marks=frozenset(_cell(name, board) for name in marks),
        labels=tuple((_cell(name, board), str(text)) for name, text in (labels or {}).items()),
        heat=tuple((_cell(name, board), float(x)) for name, x in (heat or {}).items()),
        text=str(getattr(position, "text", "")),
    )


def _cell(name: str | Cell, board: Diagram) -> Cell:
    return board.cell(name) if isinstance(name, str) else (int(name[0]), int(name[1]))


def _cells_of(move: str, board: Diagram, *, names_cells: bool) -> frozenset[Cell]:
    """Find the cells in a move's text; if `names_cells`, every move must name some."""
    cells = frozenset(board.named_in(move))
    if not cells and names_cells and move.lower() not in ("pass", "win"):
        raise NotationError(f"the move '{move}' names no cell on the board of {board.title}")
    return cells


def _state(game: AnyGame, players: tuple[str, str]) -> str:
    outcome = game.outcome
    if outcome is None:
        return f"{players[game.to_play.value]} to play."
    by_score = outcome.reason is _core.Reason.score
    reason = outcome.reason.name.replace("_", " ")
    if outcome.winner is None:
        return "Draw." if by_score else f"Draw by {reason}."
    if by_score and not hasattr(
        getattr(game, "position", game), "score"
    ):  # a move of a Python game
        return f"{players[outcome.winner.value]} wins."
    if by_score:
        margin = abs(cast(Game, game).score)
        reason = f"{margin:g} point{'s' if margin != 1 else ''}"
    return f"{players[outcome.winner.value]} wins by {reason}."


def _grid(
    cells: NDArray[np.int8], face: Callable[[int, Player], Piece]
) -> tuple[tuple[Piece | None, ...], ...]:
    """Create pieces from codes: positive ones are the first player's, negative the second's."""

    def piece(code: int) -> Piece | None:
        return face(abs(code), Player.first if code > 0 else Player.second) if code else None

    return tuple(tuple(piece(int(code)) for code in row) for row in cells)


def _letters(first: str, count: int) -> tuple[str, ...]:
    return tuple(chr(ord(first) + i) for i in range(count))


def _numbers(start: int, stop: int) -> tuple[str, ...]:
    step = 1 if start < stop else -1
    return tuple(str(i) for i in range(start, stop + step, step))


class _Words(TypedDict):
    title: str
    caption: str
    players: tuple[str, str]


def _words(game: Game) -> _Words:
    facts = facts_of(game)
    # A terminal may lack ×.
    return {"title": facts.heading.replace("×", "x"), "caption": "", "players": facts.naming.colors}


_BLACK: Final = Paint(fill="#1d1d1f", edge="#5c5c60", ink="#fff")
_WHITE: Final = Paint(fill="#fbfaf6", edge="#4a4a4a", ink="#111")


@cache
def _stone(_: int, player: Player) -> Piece:
    return Piece(player, text="●○"[player.value], ascii="XO"[player.value], shape="disc")


_STARS: Final = {5: (2,), 7: (3,), 9: (2, 4, 6), 13: (3, 6, 9), 19: (3, 9, 15)}


def _go(game: GoPosition) -> Diagram:
    size = int(type(game).size)
    lines = _STARS.get(size, ())
    # Boards smaller than 19×19 have no stars on the sides.
    middle = size // 2
    stars = [(r, c) for r in lines for c in lines if size == 19 or (r == middle) == (c == middle)]
    return Diagram(
        **_words(game),
        pieces=_grid(game.cells, _stone),
        column_labels=tuple(COLUMNS[:size]),
        row_labels=_numbers(size, 1),
        label_sides=frozenset({"top", "bottom", "left", "right"}),
        dots=tuple(stars),
        look=Look(
            board="#e3b96b", line="#5b4320", paints=(_BLACK, _WHITE), crossings=True, solid=True
        ),
    )


def _othello(game: _core.Othello) -> Diagram:
    def discs(player: Player, count: int) -> Panel:
        disc = _stone(1, player)
        return Panel(player, "discs", (Item(disc, disc.text, disc.ascii, count),), scale=0.5)

    cells = game.cells
    return Diagram(
        **_words(game),
        pieces=_grid(cells, _stone),
        column_labels=_letters("a", 8),
        row_labels=_numbers(1, 8),
        label_sides=frozenset({"top", "left"}),
        dots=tuple((r, c) for r in (1.5, 5.5) for c in (1.5, 5.5)),
        panels=(
            discs(Player.first, int((cells > 0).sum())),
            discs(Player.second, int((cells < 0).sum())),
        ),
        look=Look(board="#3f9a63", line="#1c5233", paints=(_BLACK, _WHITE), solid=True),
    )


@cache
def _chessman(code: int, player: Player) -> Piece:
    name = ("pawn", "knight", "bishop", "rook", "queen", "king")[code - 1]
    letter = "PNBRQK"[code - 1]
    if player is Player.first:
        return Piece(player, "♙♘♗♖♕♔"[code - 1], letter, shape=name)
    return Piece(player, "♟♞♝♜♛♚"[code - 1], letter.lower(), shape=name)


def _chess(game: _core.Chess) -> Diagram:
    return Diagram(
        **_words(game),
        pieces=_grid(game.cells, _chessman),
        column_labels=_letters("a", 8),
        row_labels=_numbers(8, 1),
        label_sides=frozenset({"bottom", "left"}),
        look=Look(
            board="#f1eadb",
            checks="#a9b6a0",
            line="#7d8a75",
            paints=(
                Paint(fill="#fffefa", edge="#26241f", ink="#26241f"),
                Paint(fill="#3a3733", edge="#161412", ink="#f1eadb"),
            ),
        ),
    )


_SHOGI_LETTERS: Final = "PLNSBRGK"


@cache
def _shogi_piece(code: int, player: Player) -> Piece:
    kanji = "歩香桂銀角飛金玉と杏圭全馬龍"[code - 1]
    promoted = code > 8
    letter = "+" * promoted + _SHOGI_LETTERS[(code - 1) % 8]
    first = player is Player.first
    return Piece(
        player,
        text=(" " if first else "v") + kanji,
        ascii=(letter if first else letter.lower()).rjust(2),
        shape="wedge",
        label="王" if kanji == "玉" and not first else kanji,
        promoted=promoted,
        turned=not first,
    )


def _shogi(game: _core.Shogi) -> Diagram:
    def hand(player: Player) -> Panel:
        items = []
        for letter, count in game.hand(player).items():
            piece = _shogi_piece(_SHOGI_LETTERS.index(letter) + 1, player)
            items.append(Item(piece, piece.label, letter, count))
        return Panel(player, "in hand", tuple(items), scale=0.66)

    wood = Paint(fill="#f8e3b4", edge="#8a6a34", ink="#1f1a12")
    return Diagram(
        **_words(game),
        pieces=_grid(game.cells, _shogi_piece),
        column_labels=_numbers(9, 1),
        row_labels=tuple("一二三四五六七八九"),
        row_names=_letters("a", 9),
        label_sides=frozenset({"top", "right"}),
        empty=(" ・", " ."),
        dots=tuple((r, c) for r in (2.5, 5.5) for c in (2.5, 5.5)),
        panels=(hand(Player.first), hand(Player.second)),
        language="ja",
        look=Look(board="#e2bd78", line="#6d5124", paints=(wood, wood)),
    )


@cache
def _block(_: int, player: Player) -> Piece:
    return Piece(
        player, text="▓░"[player.value], ascii="XO"[player.value], shape="block", joined=True
    )


@cache
def _polyomino(letter: str) -> tuple[Cell, ...]:
    """Lay out a Blokus piece, wider than tall."""
    squares = str(_core.BlokusDuo().parse(f"66{letter}0")).split(",")
    cells = [(int(square[1:]), ord(square[0])) for square in squares]
    top, left = min(r for r, _ in cells), min(c for _, c in cells)
    cells = [(r - top, c - left) for r, c in cells]
    if max(r for r, _ in cells) > max(c for _, c in cells):
        cells = [(c, r) for r, c in cells]
    return tuple(sorted(cells))


def _blokus_duo(game: _core.BlokusDuo) -> Diagram:
    def left(player: Player) -> Panel:
        items = (
            Item(_block(1, player), letter, letter, cells=_polyomino(letter))
            for letter in game.pieces_left(player)
        )
        return Panel(player, "left", tuple(items), scale=0.17)

    return Diagram(
        **_words(game),
        pieces=_grid(game.cells, _block),
        column_labels=_letters("a", 14),
        row_labels=_numbers(14, 1),
        label_sides=frozenset({"bottom", "left"}),
        dots=((4, 4), (9, 9)),
        panels=(left(Player.first), left(Player.second)),
        look=Look(
            board="#e9e7e3",
            line="#c9c5be",
            paints=(
                Paint(fill="#8255c0", edge="#5f3a98", ink="#fff"),
                Paint(fill="#ee8a1d", edge="#c46a08", ink="#fff"),
            ),
            solid=True,
            dim=0.45,
        ),
    )


@cache
def _counter(kind: int, player: Player) -> Piece:
    """Create a piece with only an owner and a number."""
    letter = chr(ord("a") + (kind - 1) % 26)
    text = letter.upper() if player is Player.first else letter
    return Piece(player, text=text, ascii=text, shape="disc", label=text)


def _plain(game: Game) -> Diagram:
    """Draw any game with cells: letters for columns, numbers for rows from below.

    A game whose moves name cells differently needs its own builder.
    """
    cells = game.cells
    rows, columns = cells.shape
    only_one = len(np.unique(np.abs(cells[cells != 0]))) <= 1
    return Diagram(
        **_words(game),
        pieces=_grid(cells, _stone if only_one else _counter),
        column_labels=_letters("a", columns),
        row_labels=_numbers(rows, 1),
        label_sides=frozenset({"bottom", "left"}),
        look=Look(board="#ece7dc", line="#a49c8c", paints=(_BLACK, _WHITE), solid=True),
    )


_BUILDERS: Final[dict[str, Callable[[Any], Diagram]]] = {
    "go": _go,
    "othello": _othello,
    "chess": _chess,
    "shogi": _shogi,
    "blokus_duo": _blokus_duo,
}
"""Builders by game family."""
