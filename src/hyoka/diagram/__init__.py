# SPDX-License-Identifier: Apache-2.0
"""Boards as pictures: one neutral value, `Diagram`, and two ways to draw it.

A new game needs one function in `builders.py` and one line in the table at its end.

>>> import hyoka as hk
>>> print(terminal(hk.Go5().line().play("C3")))
Go 5x5
  A B C D E
5 · · · · · 5
4 · · · · · 4
3 · ·(●)· · 3
2 · · · · · 2
1 · · · · · 1
  A B C D E
White to play. Last move: C3.
"""

from hyoka.diagram.as_svg import svg
from hyoka.diagram.as_text import terminal
from hyoka.diagram.builders import diagram
from hyoka.diagram.value import Cell, Diagram, Item, Look, Paint, Panel, Piece, Side

__all__ = [
    "Cell",
    "Diagram",
    "Item",
    "Look",
    "Paint",
    "Panel",
    "Piece",
    "Side",
    "diagram",
    "svg",
    "terminal",
]
