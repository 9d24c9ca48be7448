# SPDX-License-Identifier: Apache-2.0
"""Diagrams as SVG and as text.

SVG lengths use units of which a cell has `CELL`; the board starts at (0, 0).
"""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Final, Literal, get_args

from hyoka._core import Player
from hyoka.foundation.text import printable
from hyoka.games.diagram.builders import diagram
from hyoka.games.diagram.diagram_value import Cell, Diagram, Panel, Piece, Place, text_width
from hyoka.games.protocols import AnyGame

CELL: Final = 40


@dataclass(frozen=True)
class Shape:
    """A filled outline, and lines on it."""

    outline: str
    lines: str = ""
    edge: float = 1.5
    """Stroke width of the outline."""
    clarity: float = 1
    """Opacity of the lines, from 0 to 1."""


def _dot(x: float, y: float, r: float) -> str:
    """Return a circle around (x, y), relative to the pen, which returns to its place."""
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


GLYPHS: Final = {
    "王": "M16 12H84M20 48H80M8 88H92M50 12V88",
    "玉": "M16 12H84M20 46H80M8 88H92M50 12V88M62 58L78 75",
    "飛": "M8 12H58Q60 34 80 40L90 40L93 30M80 6L64 18M88 22L72 32M40 24L8 38M4 58H56"
    "M22 34V62Q20 82 6 96M42 24V97M54 50H66Q68 86 90 92L97 92V78M88 50L74 62M96 64L80 74",
    "角": "M36 3L12 30M32 13H66L54 30M24 30V62Q22 84 8 97M24 30H80V92Q80 96 68 95M24 48H80M24 66H80"
    "M52 30V66",
    "金": "M50 3L6 40M50 3L94 40M30 42H70M16 60H84M50 42V93M28 69L36 84M72 69L64 84M8 93H92",
    "銀": "M25 3L3 34M25 3L46 28M12 38H38M5 56H44M25 38V90M11 66L16 80M39 66L34 80M3 93L46 87"
    "M56 8H90V48M56 28H90M56 48H90M56 8V93L74 84M70 49Q78 78 97 95M94 58L79 70",
    "桂": "M3 26H43M23 4V97M22 30Q16 54 3 68M24 36L41 56M54 22H94M48 46H98M73 4V46M54 70H94"
    "M46 94H99M73 52V94",
    "香": "M76 4Q56 12 24 14M8 30H92M50 12V56M46 32Q34 50 8 60M54 32Q66 50 92 60M28 62H72V97"
    "M28 62V97M28 79H72M28 96H72",
    "歩": "M50 3V40M50 19H80M27 16V40M8 40H92M50 48V76L40 74M32 54L16 70M68 54L84 70"
    "M84 72Q62 92 22 97",
    "と": "M34 6Q37 28 46 44M82 28Q58 36 40 50Q22 64 25 78Q30 94 82 91",
    "杏": "M8 22H92M50 3V58M46 24Q34 46 8 56M54 24Q66 46 92 56M28 64H72V97M28 64V97M28 95H72",
    "圭": "M24 22H76M12 45H88M50 3V45M24 69H76M6 94H94M50 52V94",
    "全": "M50 3Q36 28 5 43M50 3Q64 28 95 43M28 47H72M30 69H70M50 47V93M10 93H90",
    "馬": "M24 7V64M24 7H80M24 25H76M24 44H76M50 7V63M24 63H86Q88 88 80 95L68 93M10 74L6 94"
    "M30 74L35 90M48 72L53 87M65 70L70 83",
    "龍": "M25 2V13M5 15H46M13 21L17 35M38 21L33 35M2 38H48M10 47V78Q10 90 3 98M10 47H42V92L34 92"
    "M10 62H42M10 77H42M58 3V28M58 13H94M58 28H92V46M58 46H92M58 46V84Q58 94 68 94H90Q96 94 97 80"
    "M67 57H92M67 68H92M67 79H92",
    "一": "M10 50H90",
    "二": "M20 24H80M8 80H92",
    "三": "M16 16H84M24 50H76M8 86H92",
    "四": "M12 18V88M12 18H88V88M12 86H88M38 18V40Q36 56 24 62M62 18V58H76",
    "五": "M14 12H86M48 12L36 88M18 48H74V88M6 88H94",
    "六": "M50 5V26M8 30H92M36 50L12 93M64 50L90 93",
    "七": "M8 48L92 34M44 6V76Q44 90 58 90H86L90 74",
    "八": "M36 16Q32 60 6 92M58 10Q66 64 95 90",
    "九": "M10 32H68V78Q68 90 80 90H94L96 72M40 5Q42 66 8 94",
}
"""Strokes of the characters on a shogi board, as path data in a box of 100 by 100."""


_LAST = "#7fa82e"
_MARK = "#1f6fd1"
_PROMOTED = "#c2201a"
_INK = "#1a1a1a"
_START = ' text-anchor="start"'

# Letters take the color of the page around them; in their own file, a gray that is readable on
# light and dark. In the dark the board is dimmed, unless the page sets --hk-dim to hidden.
_STYLE = (
    "<style>.hk-svg:root{color:#777}.hk-dim{visibility:var(--hk-dim,hidden)}"
    "@media(prefers-color-scheme:dark){.hk-dim{visibility:var(--hk-dim,visible)}}</style>"
)


Lettering = Literal["letters", "kanji"]
"""Lettering of shogi pieces."""


def svg(game: AnyGame | Diagram, *, size: int = 480, pieces: Lettering = "kanji") -> str:
    """Draw a board as SVG, `size` pixels wide: one element without ids, scripts or links.

    Shogi pieces have kanji, drawn as strokes that need no font; with `pieces="letters"` they have
    letters.

    The picture works as a file or many times on one page, light or dark; letters take the page's
    color. The last move is ringed or shaded. Raises ValueError unless `size` is positive.

    >>> import hyoka as hk
    >>> picture = svg(hk.Chess())
    >>> picture[:4], picture[-6:], "<title>Chess</title><desc>White to play.</desc>" in picture
    ('<svg', '</svg>', True)
    """
    if size <= 0:
        raise ValueError(f"size must be positive, not {size}")
    if pieces not in get_args(Lettering):
        raise ValueError(f"pieces have letters or kanji, not {pieces!r}")
    board = game if isinstance(game, Diagram) else diagram(game)
    if pieces == "letters":
        board = board.in_letters()
    unit = _unit(board)
    margins = {True: 20 * unit, False: 6 * unit}
    left, right = (margins[side in board.label_sides] for side in ("left", "right"))
    top, bottom = (margins[side in board.label_sides] for side in ("top", "bottom"))
    parts = [_surface(board), _shades(board), _pieces(_placed(board), board)]
    parts += [_rings(board), _marks(board), _labels(board), _coordinates(board)]
    for panel in board.panels:
        if panel.player is Player.second:
            top += 36 * unit
            parts.append(_panel(panel, board, 18 * unit - top))
        else:
            bottom += 36 * unit
            parts.append(_panel(panel, board, board.rows * CELL + bottom - 18 * unit))
    width = left + board.columns * CELL + right
    for line in _wrapped(printable(board.caption), 68):
        bottom += 18 * unit
        y = board.rows * CELL + bottom - 7 * unit
        parts.append(_text(line, width / 2 - left, y, size=13 * unit))
    height = top + board.rows * CELL + bottom + 4 * unit
    title, caption = _safe(board.title), _safe(board.caption)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="hk-svg" role="img" '
        f'aria-label="{title}. {caption}" width="{size}" height="{round(size * height / width)}" '
        f'viewBox="{_n(-left)} {_n(-top)} {_n(width)} {_n(height)}" fill="currentColor" '
        'font-family="system-ui,sans-serif" text-anchor="middle">'
        f"<title>{title}</title><desc>{caption}</desc>{_STYLE}{''.join(parts)}</svg>"
    )


def _unit(board: Diagram) -> float:
    # Text beside the board has a fixed size on the page, whatever the number of cells.
    return board.columns * CELL / 440


def _n(number: float) -> str:
    return f"{round(number, 2) + 0.0:g}"


def _safe(text: str) -> str:
    return escape(printable(text))


def _middle(place: Place) -> tuple[float, float]:
    row, column = place
    return (column + 0.5) * CELL, (row + 0.5) * CELL


def _repeated(outline: str, places: Iterable[Place]) -> str:
    """Return path data that draws an outline at each place."""
    return "".join(f"M{_n(x)} {_n(y)}{outline}" for x, y in map(_middle, places))


def _circle(radius: float) -> str:
    r, d = _n(radius), _n(2 * radius)
    return f"m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z"


def _square(side: float) -> str:
    half, side_text = _n(side / 2), _n(side)
    return f"m-{half}-{half}h{side_text}v{side_text}h-{side_text}z"


def _text(text: str, x: float, y: float, *, size: float, more: str = "") -> str:
    """Write text centered at (x, y)."""
    baseline = y + 0.36 * size
    return f'<text x="{_n(x)}" y="{_n(baseline)}" font-size="{_n(size)}"{more}>{_safe(text)}</text>'


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width if text_width(text) == len(text) else width // 2)


def _surface(board: Diagram) -> str:
    look, unit = board.look, _unit(board)
    width, height = board.columns * CELL, board.rows * CELL
    margin = 0.0 if look.crossings or look.checks else 5 * unit
    outer = (
        f'x="{_n(-margin)}" y="{_n(-margin)}" width="{_n(width + 2 * margin)}" '
        f'height="{_n(height + 2 * margin)}" rx="{_n(3 * unit)}"'
    )
    text = f'<rect {outer} fill="{_safe(look.board)}"/>'
    if look.checks:
        dark = [(r, c) for r in range(board.rows) for c in range(board.columns) if (r + c) % 2]
        text += f'<path fill="{_safe(look.checks)}" d="{_repeated(_square(CELL), dark)}"/>'
    else:
        start, more = (CELL // 2, 0) if look.crossings else (0, 1)
        across, down = f"h{width - 2 * start}", f"v{height - 2 * start}"
        lines = [f"M{start} {start + i * CELL}{across}" for i in range(board.rows + more)]
        lines += [f"M{start + i * CELL} {start}{down}" for i in range(board.columns + more)]
        text += (
            f'<path stroke="{_safe(look.line)}" stroke-width="{_n(1.1 * unit)}" '
            f'stroke-linecap="square" d="{"".join(lines)}"/>'
        )
    labeled = [cell for cell, _ in board.labels if not board.pieces[cell[0]][cell[1]]]
    if look.crossings and labeled:
        text += f'<path fill="{_safe(look.board)}" d="{_repeated(_circle(13), labeled)}"/>'
    if dots := [dot for dot in board.dots if dot not in labeled]:
        text += f'<path fill="{_safe(look.line)}" d="{_repeated(_circle(3 * unit), dots)}"/>'
    return (
        text
        + f'<rect class="hk-dim" visibility="hidden" {outer} opacity="{look.dim}" fill="#000"/>'
    )


def _shades(board: Diagram) -> str:
    """Draw the layer under the pieces."""
    shades = [(_MARK, 0.8 * value, [cell]) for cell, value in board.heat]
    if board.last and not board.look.solid:
        shades.append((_LAST, 0.55, sorted(board.last)))
    return "".join(
        f'<path fill="{fill}" fill-opacity="{_n(opacity)}" d="{_repeated(_square(CELL), cells)}"/>'
        for fill, opacity, cells in shades
    )


def _placed(board: Diagram) -> list[tuple[Piece, Place]]:
    return [
        (piece, (row, column))
        for row, pieces in enumerate(board.pieces)
        for column, piece in enumerate(pieces)
        if piece
    ]


def _pieces(placed: list[tuple[Piece, Place]], board: Diagram, *, fine: bool = True) -> str:
    """Draw pieces, with one path for each pair of colors; lines only if `fine`."""
    groups = defaultdict[Piece, list[Place]](list)
    for piece, place in placed:
        groups[piece].append(place)
    # Path data by attributes.
    bodies, lines, glyphs = (defaultdict[str, str](str) for _ in range(3))
    labels = ""
    for piece, places in groups.items():
        paint, shape = board.look.paints[piece.player.value], SHAPES[piece.shape]
        outline = _upside_down(shape.outline) if piece.turned else shape.outline
        body = _repeated(outline, places) + (_bridges(places) if piece.joined else "")
        bodies[
            f'fill="{_safe(paint.fill)}" stroke="{_safe(paint.edge)}" stroke-width="{shape.edge}"'
        ] += body
        if shape.lines and fine:
            attributes = f'stroke="{_safe(paint.ink)}" stroke-opacity="{shape.clarity}"'
            lines[attributes] += _repeated(shape.lines, places)
        if piece.label in GLYPHS:
            data, width = _strokes(piece.label, 20, 22)
            if piece.turned:
                data = _upside_down(data)
            color = _PROMOTED if piece.promoted else _safe(paint.ink)
            middles = [(x, y + (-2 if piece.turned else 2)) for x, y in map(_middle, places)]
            glyphs[f'stroke="{color}" stroke-width="{width}"'] += "".join(
                f"M{_n(x)} {_n(y)}{data}" for x, y in middles
            )
        elif piece.label:
            labels += "".join(_piece_label(piece, place, paint.ink) for place in places)
    text = "".join(
        f'<path {attributes} stroke-linejoin="round" d="{data}"/>'
        for attributes, data in bodies.items()
    )
    text += "".join(
        f'<path {attributes} fill="none" stroke-width="1.5" stroke-linecap="round" d="{data}"/>'
        for attributes, data in lines.items()
    )
    text += "".join(
        f'<path {attributes} {_STROKED} d="{data}"/>' for attributes, data in glyphs.items()
    )
    return text + (f'<g lang="{_safe(board.language)}">{labels}</g>' if labels else "")


_STROKED: Final = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
_TOKEN: Final = re.compile(r"[MLHVQ]|[\d.]+")


@functools.lru_cache(maxsize=64)
def _strokes(character: str, width: float, height: float) -> tuple[str, float]:
    """Return path data of a character around the pen, in steps, and the width of its strokes."""
    data, at, kind = "", (50.0, 50.0), ""
    tokens = _TOKEN.findall(GLYPHS[character])[::-1]
    while tokens:
        if tokens[-1].isalpha():
            kind = tokens.pop()
        count = {"H": 1, "V": 1, "Q": 4}.get(kind, 2)
        numbers = [float(tokens.pop()) for _ in range(count)]
        ends = (
            [at[0], numbers[0]] if kind == "V" else [numbers[0], at[1]] if kind == "H" else numbers
        )
        steps = [
            (number - at[i % 2]) * (height if i % 2 else width) / 100
            for i, number in enumerate(ends)
        ]
        shown = {"H": steps[:1], "V": steps[1:]}.get(kind, steps)
        data += kind.lower() + " ".join(_n(round(step, 1)) for step in shown)
        at = ends[-2], ends[-1]
    strokes = data.count("m")
    return data.replace(" -", "-"), 1.8 if strokes <= 6 else 1.6 if strokes <= 10 else 1.35


def _upside_down(outline: str) -> str:
    """Rotate an outline or strokes without arcs."""
    return re.sub(r"-?[\d.]+", lambda number: f" {_n(-float(number[0]))}", outline)


def _bridges(places: list[Place]) -> str:
    """Return path data that fills the gaps between adjacent blocks."""
    cells = set(places)
    text = ""
    for row, column in places:
        x, y = _middle((row, column))
        right, below = (row, column + 1) in cells, (row + 1, column) in cells
        if right:
            text += f"M{_n(x + 15)} {_n(y - 18)}h10v36h-10z"
        if below:
            text += f"M{_n(x - 18)} {_n(y + 15)}h36v10h-36z"
        if right and below and (row + 1, column + 1) in cells:
            text += f"M{_n(x + 15)} {_n(y + 15)}h10v10h-10z"
    return text


def _piece_label(piece: Piece, place: Place, ink: str) -> str:
    x, y = _middle(place)
    more = f' fill="{_PROMOTED if piece.promoted else _safe(ink)}"'
    if piece.turned:
        more += f' transform="translate({_n(x)} {_n(y)})rotate(180)"'
        x = y = 0
    return _text(piece.label, x, y + 1.5, size=23 if len(piece.label) == 1 else 19, more=more)


def _rings(board: Diagram) -> str:
    """Mark the last move on pieces that cover their cell."""
    if not board.look.solid:
        return ""
    text = ""
    for player, paint in zip(Player, board.look.paints, strict=True):
        cells = [at for piece, at in _placed(board) if at in board.last and piece.player is player]
        if cells:
            rings = _repeated(_circle(8.5), cells)
            text += (
                f'<path fill="none" stroke="{_safe(paint.ink)}" stroke-width="2.6" d="{rings}"/>'
            )
    return text


def _marks(board: Diagram) -> str:
    if not board.marks:
        return ""
    squares = _repeated(_square(CELL - 3), sorted(board.marks))
    return f'<path fill="none" stroke="{_MARK}" stroke-width="3" d="{squares}"/>'


def _labels(board: Diagram) -> str:
    """Write text on cells: centered, or in the corner if it would cover a piece."""
    text = ""
    for cell, label in board.labels:
        x, y = _middle(cell)
        piece = board.pieces[cell[0]][cell[1]]
        size = min(20, 54 / max(1, text_width(label)))
        if piece and not board.look.solid:
            more = f' fill="{_MARK}" font-weight="bold"'
            text += _text(label, x + 12, y - 12, size=min(size, 14), more=more)
        else:
            ink = board.look.paints[piece.player.value].ink if piece else _INK
            text += _text(label, x, y, size=size, more=f' fill="{_safe(ink)}"')
    return text


def _coordinates(board: Diagram) -> str:
    unit, text = _unit(board), ""
    width, height = board.columns * CELL, board.rows * CELL
    gap = (9 if board.look.crossings or board.look.checks else 12) * unit
    for column, label in enumerate(board.column_labels):
        for side, y in (("top", -gap), ("bottom", height + gap)):
            if side in board.label_sides:
                text += _text(label, (column + 0.5) * CELL, y, size=12 * unit)
    for row, label in enumerate(board.row_labels):
        for side, x in (("left", -gap), ("right", width + gap)):
            if side not in board.label_sides:
                continue
            y = (row + 0.5) * CELL
            if label in GLYPHS:
                data, _ = _strokes(label, 10 * unit, 10 * unit)
                text += f'<path stroke="currentColor" {_STROKED} d="M{_n(x)} {_n(y)}{data}"/>'
            else:
                text += _text(label, x, y, size=12 * unit)
    return f'<g lang="{_safe(board.language)}" opacity=".85">{text}</g>'


def _panel(panel: Panel, board: Diagram, y: float) -> str:
    """Draw a row of items at height `y`, scaled down if it would not fit."""
    unit = _unit(board)
    start = (6.6 * max(len(board.panel_name(p)) for p in board.panels) + 6) * unit
    placed, counts, column = list[tuple[Piece, Place]](), "", 0.0
    for item in panel.items:
        height, width = (1 + max(cell[axis] for cell in item.cells) for axis in (0, 1))
        placed += [(item.piece, (row - height / 2, column + c)) for row, c in item.cells]
        column += width + (len(item.cells) > 1)
        if item.count != 1:
            counts += _text(f"×{item.count}", column * CELL + 2, 0, size=22, more=_START)
            column += 1 if item.count < 10 else 1.5
    scale = min(panel.scale, (board.columns * CELL - start) / (CELL * max(column, 1)))
    name = board.panel_name(panel) + ("" if panel.items else ": none")
    return (
        _text(name, 0, y, size=12.5 * unit, more=_START)
        + f'<g transform="translate({_n(start)} {_n(y)})scale({scale:.3g})">'
        + f"{_pieces(placed, board, fine=scale > 0.4)}{counts}</g>"
    )


_BRACKETS: Final = {"last": "()", "mark": "[]"}


def terminal(game: AnyGame | Diagram, *, ascii: bool = False) -> str:
    """Draw a board as lines of plain text, with coordinates; `ascii` restricts it to ASCII.

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
    above = [_panel_text(p, board, ascii) for p in board.panels if p.player is Player.second]
    below = [_panel_text(p, board, ascii) for p in board.panels if p.player is Player.first]
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


def _panel_text(panel: Panel, board: Diagram, ascii: bool) -> str:
    times = "x" if ascii else "×"
    items = [
        (item.ascii if ascii else item.text) + (f"{times}{item.count}" if item.count != 1 else "")
        for item in panel.items
    ]
    return f"{board.panel_name(panel)}: {' '.join(items) or 'none'}"


def _right(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text
