# SPDX-License-Identifier: Apache-2.0
"""Boards as pictures: one neutral value, `Diagram`, and two ways to draw it.

A new game needs one function in `builders.py` and one line in the table at its end.

>>> import hyoka as hk
>>> print(terminal(hk.games.Go5().line().play("C3")))
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

from hyoka.games.diagram.diagram_value import Cell, Diagram, Item, Look, Paint, Panel, Piece, Side
from hyoka.games.diagram.renderers import Lettering, svg, terminal
from hyoka.games.registry import FACTS

__all__ = [
    "Cell",
    "Diagram",
    "Item",
    "Lettering",
    "Look",
    "Paint",
    "Panel",
    "Piece",
    "Side",
    "svg",
    "terminal",
]

# A notebook shows a position, and a line of play, as its board.
for _facts in FACTS.values():
    for _type in (_facts.position_type, getattr(_facts.position_type, "Line", None)):
        if _type is not None:
            setattr(_type, "_repr_svg_", lambda self: svg(self, size=352))  # noqa: B010 - types of C++
