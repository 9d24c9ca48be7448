# SPDX-License-Identifier: Apache-2.0
"""A position set up by hand: pieces put on cells, and what else its text says; legal or not yet."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from markupsafe import Markup

import hyoka as hk
from hyoka.apps.studio.blocks import without_style
from hyoka.apps.studio.forms import is_whole_number
from hyoka.apps.studio.pages import address, sentence
from hyoka.apps.studio.rooms.board.board_state import Query
from hyoka.apps.studio.rooms.board.picture import Picture, blank_picture, piece_words
from hyoka.foundation.errors import escape_control_chars
from hyoka.games import GameFacts, game_facts
from hyoka.games.diagram import Diagram, Item, Panel, Piece

EMPTY: Final = "empty"
_TURNS: Final[Mapping[str, tuple[str, str]]] = {
    "go": ("b", "w"),
    "othello": ("X", "O"),
    "chess": ("w", "b"),
    "shogi": ("b", "w"),
}
"""The families whose positions are set up here, and how their texts say who is to move."""
_PROMOTED: Final = "+R+B+S+N+L+P2k/9/9/9/9/9/9/9/+r+b+s+n+l+p2K b - 1"
"""The pieces of shogi that the usual start has not."""
_PALETTE: Final[Mapping[str, str]] = {
    "go": "X O",
    "othello": "X O",
    "chess": "K Q R B N P k q r b n p",
    "shogi": "K R B G S N L P +R +B +S +N +L +P k r b g s n l p +r +b +s +n +l +p",
}
_HANDS: Final = "RBGSNLP"
_MOST_IN_HAND: Final = 18
_CASTLING: Final = {"K": "e1 h1", "Q": "e1 a1", "k": "e8 h8", "q": "e8 a8"}
"""Squares of king and rook by castling right."""
_PIECE_SIZE: Final = 40


def can_be_set_up(facts: GameFacts) -> bool:
    """Whether positions of a game are put together by hand, piece by piece."""
    return facts.family in _TURNS


@dataclass(frozen=True)
class Draft:
    """A position on its way."""

    game: str
    cells: tuple[tuple[str, ...], ...]
    """By row from the top: the signs that the position's text has for pieces, "" where none is."""
    fields: tuple[str, ...]
    """The other words of the position's text; who is to move comes first."""

    @classmethod
    def read(cls, game: str, text: str) -> "Draft":
        """The draft that a text describes, legal or not; raises NotationError if it can't be read.

        >>> Draft.read("othello", "").to_play
        0
        """
        facts = game_facts(game)
        if not can_be_set_up(facts):
            raise hk.errors.NotationError(f"{facts.title} is set up by its text alone")
        usual = facts.start().text.split()
        board, *fields = text.split() or usual
        columns = hk.diagram(facts.start()).columns
        signs = set(_PALETTE[facts.family].split())
        if facts.family == "othello":
            rows = [board[i : i + columns] for i in range(0, len(board), columns)]
        else:
            rows = board.split("/")
        cells = tuple(_row(row, signs) for row in rows)
        if len(cells) != columns or {len(row) for row in cells} != {columns}:
            raise hk.errors.NotationError(
                f"'{escape_control_chars(board[:80])}' is no board of {columns} rows and columns"
            )
        fields = [*fields, *usual[1 + len(fields) :]][: len(usual) - 1]
        if fields[0] not in _TURNS[facts.family]:
            words = " or ".join(_TURNS[facts.family])
            raise hk.errors.NotationError(f"after the board it says who is to move: {words}")
        return cls(facts.name, cells, tuple(fields))

    @classmethod
    def of(cls, query: Query) -> "Draft":
        """The draft that an address or a form describes."""

        def last(name: str) -> str:
            values = query.getlist(name)
            return str(values[-1]).strip() if values else ""

        game = game_facts(last("game") or "go9").name
        draft = cls.read(game, last("start"))
        if last("was") in ("", last("start")):  # else the text was typed, and goes before the rest
            draft = draft._restored(last)
        if last("clear"):
            draft = draft.cleared()
        if (on := last("on")) and (put := last("put")):
            draft = draft.put(on, "" if put == EMPTY or last("empty") else put)
        return draft

    def _restored(self, last: Any) -> "Draft":
        """With what fields of the form say beside the board."""
        fields = list(self.fields)
        if last("turn") in ("0", "1"):
            fields[0] = _TURNS[self._family][int(last("turn"))]
        if self._family == "chess" and last("was"):
            fields[1] = "".join(last("castling").split()) or "-"
        if self._family == "go" and last("komi"):
            fields[3] = last("komi").split()[0]
        if self._family == "shogi" and last("was"):
            hands = [(sign, _count(last(f"hand-{sign}"))) for sign in _hand_signs()]
            words = (f"{count if count > 1 else ''}{sign}" for sign, count in hands if count)
            fields[1] = "".join(words) or "-"
        return replace(self, fields=tuple(fields))

    @property
    def _family(self) -> str:
        return game_facts(self.game).family

    @property
    def text(self) -> str:
        """The position as its game writes it."""
        if self._family == "othello":
            board = "".join(sign or "-" for row in self.cells for sign in row)
        else:
            board = "/".join(map(_row_text, self.cells))
        return " ".join([board, *self.fields])

    @property
    def to_play(self) -> int:
        """Side to move: 0 the first player, 1 the second."""
        return _TURNS[self._family].index(self.fields[0])

    @property
    def problem(self) -> str:
        """Why the rules do not allow it, in words; "" if they do."""
        try:
            hk.position(self.game, self.text)
        except hk.Error as error:
            return sentence(hk.Error(str(error).partition("': ")[2] or str(error)))
        return ""

    @property
    def hands(self) -> list[tuple[int, str, str, int]]:
        """Of shogi: whose, the sign, the piece and how many are in hand."""
        if self._family != "shogi":
            return []
        counts = {sign: _digits(count) for count, sign in re.findall(r"(\d*)(\D)", self.fields[1])}
        names = {sign: piece_words(face, _usual(self.game)) for sign, face in _faces(self.game)}
        return [
            (int(sign.islower()), sign, names[sign], counts.get(sign, 0)) for sign in _hand_signs()
        ]

    @property
    def castling(self) -> str | None:
        """Of chess: who may castle still."""
        return self.fields[1] if self._family == "chess" else None

    @property
    def komi(self) -> str | None:
        """Of Go."""
        return self.fields[3] if self._family == "go" else None

    def cleared(self) -> "Draft":
        """Nothing on the board, and nothing in hand."""
        cells = tuple(("",) * len(row) for row in self.cells)
        fields = self.fields
        if self._family in ("chess", "shogi"):
            fields = (fields[0], "-", *fields[2:])
        return replace(self, cells=cells, fields=fields)._consistent()

    def put(self, cell: str, sign: str) -> "Draft":
        """With a piece on a cell, which is emptied if that very piece stands there already.

        Raises NotationError if there is no such cell or piece.
        """
        if sign and sign not in _PALETTE[self._family].split():
            raise hk.errors.NotationError(f"no piece '{escape_control_chars(sign)}' in this game")
        row, column = _usual(self.game).cell(cell)
        there = self.cells[row][column]
        rows = [list(each) for each in self.cells]
        if sign in ("K", "k"):  # a side has one king: it moves
            rows = [["" if each == sign else each for each in line] for line in rows]
        rows[row][column] = "" if there == sign else sign
        return replace(self, cells=tuple(map(tuple, rows)))._consistent()

    def _consistent(self) -> "Draft":
        """Without what the text said of the moves that led to another board."""
        fields = list(self.fields)
        if self._family == "go":
            fields[1:3] = "-", "0"
        elif self._family == "chess":
            fields[1] = "".join(right for right in fields[1] if self._may(right)) or "-"
            fields[2] = "-"
        return replace(self, fields=tuple(fields))

    def _may(self, right: str) -> bool:
        """Whether king and rook of a right to castle stand where they should."""
        if right not in _CASTLING:
            return right != "-"
        board = _usual(self.game)
        pieces = ("K", "R") if right.isupper() else ("k", "r")
        cells = [board.cell(name) for name in _CASTLING[right].split()]
        return all(self.cells[r][c] == sign for (r, c), sign in zip(cells, pieces, strict=True))

    @property
    def diagram(self) -> Diagram:
        """Its picture as a value, whatever the rules say."""
        faces, usual = dict(_faces(self.game)), _usual(self.game)
        hands = [
            Panel(
                panel.player,
                panel.title,
                tuple(
                    Item(faces[sign], faces[sign].label, sign.upper(), count)
                    for whose, sign, _, count in self.hands
                    if whose == panel.player.value and count
                ),
                panel.scale,
            )
            for panel in usual.panels
            if self._family == "shogi"
        ]
        return replace(
            usual,
            pieces=tuple(tuple(faces.get(sign) for sign in row) for row in self.cells),
            panels=tuple(hands),
            caption=f"{usual.players[self.to_play]} to play.",
        )

    def picture(self, *, kanji: bool = True) -> Picture:
        """Its picture, of which every cell can be touched."""
        return blank_picture(self.diagram, "kanji" if kanji else "letters")

    def address(self, put: str, *, kanji: bool = True) -> str:
        """Address of the setup page."""
        pieces = None if kanji else "letters"
        return address("/board/setup", game=self.game, start=self.text, put=put, pieces=pieces)


def palette(game: str, *, kanji: bool = True) -> list[tuple[str, str, Markup]]:
    """The pieces that can be put on a board: sign, name and picture."""
    usual, drawn = _usual(game), []
    for sign, face in _faces(game):
        name = piece_words(face, usual)
        alone = replace(
            usual,
            title=name,
            caption="",
            pieces=((face,),),
            column_labels=usual.column_labels[:1],
            row_labels=usual.row_labels[:1],
            column_names=usual.column_names[:1],
            row_names=usual.row_names[:1],
            label_sides=frozenset(),
            dots=(),
            panels=(),
        )
        svg = hk.svg(alone, size=_PIECE_SIZE, pieces="kanji" if kanji else "letters")
        drawn.append((sign, name, without_style(svg)))
    return drawn


@functools.cache
def _usual(game: str) -> Diagram:
    return hk.diagram(game_facts(game).start())


@functools.cache
def _faces(game: str) -> tuple[tuple[str, Piece], ...]:
    """The pieces of a game by the signs of its texts, in the palette's order."""
    facts, boards = game_facts(game), [_usual(game)]
    if facts.family == "go":
        size = _usual(game).columns
        stones = "/".join([f"XO{size - 2}", *[str(size)] * (size - 1)])
        rest = facts.start().text.split()[1:]
        boards.append(hk.diagram(hk.position(game, " ".join([stones, *rest]))))
    elif facts.family == "shogi":
        boards.append(hk.diagram(hk.position(game, _PROMOTED)))
    pieces = [piece for board in boards for row in board.pieces for piece in row if piece]
    by_sign = {piece.ascii.strip(): piece for piece in pieces}
    return tuple((sign, by_sign[sign]) for sign in _PALETTE[facts.family].split())


def _hand_signs() -> list[str]:
    return [*_HANDS, *_HANDS.lower()]


def _count(text: str) -> int:
    return min(int(text), _MOST_IN_HAND) if is_whole_number(text) else 0


def _digits(text: str) -> int:
    """A count before a sign; 1 if there is none."""
    if not text:
        return 1
    if not is_whole_number(text):
        raise hk.errors.NotationError(
            f"'{escape_control_chars(text[:40])}' is too large a number for a position"
        )
    return int(text)


def _row(text: str, signs: set[str]) -> tuple[str, ...]:
    """The cells of a row: signs of pieces, and numbers or dashes for empty ones."""
    cells: list[str] = []
    for number, sign in re.findall(r"(\d+)|(\+?.)", text):
        if number or sign == "-":
            cells += [""] * min(_digits(number), 100)
        elif sign in signs:
            cells.append(sign)
        else:
            raise hk.errors.NotationError(f"no piece '{escape_control_chars(sign)}' in this game")
    return tuple(cells)


def _row_text(row: tuple[str, ...]) -> str:
    signs = "".join(sign or " " for sign in row)
    return re.sub(" +", lambda blanks: str(len(blanks[0])), signs)
