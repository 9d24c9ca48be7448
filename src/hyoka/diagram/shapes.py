# SPDX-License-Identifier: Apache-2.0
"""The outlines of pieces: our own drawings, as SVG path data.

A cell is 40 x 40 and the pen starts in its middle. All commands are relative, so that any number
of equal pieces can share one path: `M x y` and the outline, again and again.
"""

from dataclasses import dataclass
from typing import Final

CELL: Final = 40


@dataclass(frozen=True)
class Shape:
    """An outline to fill, and lines to draw on it."""

    outline: str
    lines: str = ""
    edge: float = 1.5
    """How wide the pen is that goes around the outline."""
    clarity: float = 1
    """How strong the lines are, from 0 to 1."""


def _dot(x: float, y: float, r: float) -> str:
    """Circle around (x, y), seen from the pen, which ends where it was."""
    turn = f"a{r:g} {r:g} 0 1 0"
    return f"m{x - r:g} {y:g}{turn} {2 * r:g} 0{turn} {-2 * r:g} 0zm{r - x:g} {-y:g}"


SHAPES: Final = {
    "disc": Shape("m-18 0a18 18 0 1 0 36 0a18 18 0 1 0-36 0z", edge=1),
    "block": Shape(
        "m-18-16q0-2 2-2h32q2 0 2 2v32q0 2-2 2h-32q-2 0-2-2z", "m-12-12h24v24h-24z", 0, 0.35
    ),
    "wedge": Shape("m0-17.5l11.5 5l4.5 29h-32l4.5-29z", edge=1.2),
    "pawn": Shape(
        "m-10.5 15h21c0-5-2.5-7.5-6-9.5c-1.2-2-1.7-4-1.7-6.2a6.3 6.3 0 1 0-5.6 0"
        "c0 2.2-.5 4.2-1.7 6.2c-3.5 2-6 4.5-6 9.5z",
        "m-4.5 5.5h9",
    ),
    "rook": Shape(
        "m-12 15h24v-4h-3l-2-13l3-3v-9h-5v3.5h-2.5v-3.5h-5v3.5h-2.5v-3.5h-5v9l3 3l-2 13h-3z",
        "m-7-2h14m-16 13h18",
    ),
    "knight": Shape(
        "m-9 15h20.5c1-13-1.5-24.5-12-28.5l-1.5-4l-3 4.8c-4 2-6 5.5-8.7 10.2c-1.5 2.7-.3 5 1.7 6"
        "c2 1 3.7-.3 5-2c2 .3 4.5-.3 6.5-2c.3 5-8 7.5-8.5 15.5z",
        "m-4.5-7.5a.9.9 0 1 0 1.8 0a.9.9 0 1 0-1.8 0m6.5-3c4.5 4.5 6 12 5.5 21",
    ),
    "bishop": Shape(
        "m-11.5 15h23q0-4-7-4.5l1-5c5.5-5 3-12.5-5.5-17.5c-8.5 5-11 12.5-5.5 17.5l1 5q-7 .5-7 4.5z"
        + _dot(11.5, -29.2, 2.3),
        "m-5.5 5.5h11m-5.5-12v7m-3.5-3.8h7",
    ),
    "queen": Shape(
        "m-11 15h22v-4l-2-1l5-17l-6.5 7.5v-11l-5 10l-2.5-13l-2.5 13l-5-10v11l-6.5-7.5l5 17l-2 1z"
        + _dot(-3, -24, 1.9)
        + _dot(3.5, -28.5, 1.9)
        + _dot(11, -30.5, 1.9)
        + _dot(18.5, -28.5, 1.9)
        + _dot(25, -24, 1.9),
        "m-9 10q9-3 18 0",
    ),
    "king": Shape(
        "m-11 15h22v-4h-2l-2.5-10l5-7.8q-5-4-10-4.2v-1.8h3.2v-2.6h-3.2v-2.6h-3v2.6h-3.2v2.6h3.2v1.8"
        "q-5 .2-10 4.2l5 7.8l-2.5 10h-2z",
        "m-9 11h18m-15.5-10h13",
    ),
}
