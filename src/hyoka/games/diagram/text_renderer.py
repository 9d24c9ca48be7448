# SPDX-License-Identifier: Apache-2.0
"""A diagram as text."""

from typing import Final

from hyoka._core import Player
from hyoka.foundation.text import printable
from hyoka.games.diagram.builders import diagram
from hyoka.games.diagram.diagram_value import Cell, Diagram, Panel, text_width
from hyoka.games.protocols import AnyGame

_BRACKETS: Final = {"last": "()", "mark": "[]"}


def terminal(game: AnyGame | Diagram, *, ascii: bool = False) -> str:
    """Draw a board as lines of plain text, with coordinates; with nothing but ASCII if asked.

    The last move stands in parentheses, marked cells in brackets. Labels, and heat as a digit
    from 0 to 9, appear on empty cells only. Wide characters such as kanji take two columns.

    >>> import hyoka as hk
    >>> print(terminal(hk.Othello().line().play("d3"), ascii=True))
    Othello
    White discs: O
      a b c d e f g h
    1 . . . . . . . .
    2 . . . . . . . .
    3 . . .(X). . . .
    4 . . . X X . . .
    5 . . . X O . . .
    6 . . . . . . . .
    7 . . . . . . . .
    8 . . . . . . . .
    Black discs: Xx4
    White to play. Last move: d3.
    """
    board = game if isinstance(game, Diagram) else diagram(game)
    columns = board.column_names if ascii and board.column_names else board.column_labels
    rows = board.row_names if ascii and board.row_names else board.row_labels
    cell_width = text_width(board.empty[ascii])
    margin = max(map(text_width, rows)) if "left" in board.label_sides else 0
    header = " " * margin + "".join(" " + _right(label, cell_width) for label in columns)
    above = [_panel(p, board, ascii) for p in board.panels if p.player is Player.second]
    below = [_panel(p, board, ascii) for p in board.panels if p.player is Player.first]
    lines = [board.title, *above]
    if "top" in board.label_sides:
        lines.append(header)
    for row, label in enumerate(rows):
        left = _right(label, margin) if "left" in board.label_sides else ""
        right = label if "right" in board.label_sides else ""
        lines.append(left + _row(row, board, ascii) + right)
    if "bottom" in board.label_sides:
        lines.append(header)
    lines += [*below, board.caption]
    text = "\n".join(printable(line).rstrip() for line in lines if line)
    return text.encode("ascii", "replace").decode() if ascii else text


def _row(row: int, board: Diagram, ascii: bool) -> str:
    """Write the cells of a row, with a separator before each and after the last."""
    text = ""
    before: Cell | None = None
    for column in range(board.columns):
        cell = (row, column)
        text += _separator(before, cell, board, ascii) + _cell_text(cell, board, ascii)
        before = cell
    return text + _separator(before, None, board, ascii)


def _separator(left: Cell | None, right: Cell | None, board: Diagram, ascii: bool) -> str:
    left_mark, right_mark = _mark(left, board), _mark(right, board)
    if left_mark != right_mark:
        return _BRACKETS[right_mark][0] if right_mark else _BRACKETS[left_mark][1]
    if left and right:
        piece = board.pieces[left[0]][left[1]]
        if piece and piece.joined and piece == board.pieces[right[0]][right[1]]:
            return piece.ascii if ascii else piece.text
    return " "


def _mark(cell: Cell | None, board: Diagram) -> str:
    return "last" if cell in board.last else "mark" if cell in board.marks else ""


def _cell_text(cell: Cell, board: Diagram, ascii: bool) -> str:
    if piece := board.pieces[cell[0]][cell[1]]:
        return piece.ascii if ascii else piece.text
    empty = board.empty[ascii]
    label = printable(dict(board.labels).get(cell, ""))
    if label and text_width(label) <= text_width(empty):
        return _right(label, text_width(empty))
    if (heat := dict(board.heat).get(cell)) is not None:
        return _right(str(min(9, int(10 * heat))), text_width(empty))
    return _right("+", text_width(empty)) if cell in board.dots else empty


def _panel(panel: Panel, board: Diagram, ascii: bool) -> str:
    times = "x" if ascii else "×"
    items = [
        (item.ascii if ascii else item.text) + (f"{times}{item.count}" if item.count != 1 else "")
        for item in panel.items
    ]
    return f"{board.panel_name(panel)}: {' '.join(items) or 'none'}"


def _right(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text
