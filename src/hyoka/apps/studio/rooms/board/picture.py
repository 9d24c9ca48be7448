# SPDX-License-Identifier: Apache-2.0
"""The picture of the board and the actions of its cells."""

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from markupsafe import Markup

import hyoka as hk
from hyoka.apps.studio.blocks import board, without_style
from hyoka.apps.studio.folder import Folder, FolderItem
from hyoka.apps.studio.rooms.board.board_state import BoardState, move_text, word_of
from hyoka.foundation.text import counted
from hyoka.games import AnyMove, Line, game_facts, name_of
from hyoka.games.diagram import Diagram, Piece
from hyoka.learning.mets import NUMBERED, Mets, ranking_diagram
from hyoka.models.linear import has_features
from hyoka.models.loading import MOVE_MODELS, move_model, ranked
from hyoka.storage.model_file import BUILT_IN, LEARNED

_SIZE: Final = 560
_CELL: Final = 40
_HAND: Final = "in hand"
_DISCS: Final = "discs"
_VIEW: Final = re.compile(r'viewBox="([^"]*)"')
_DRAWN: Final = re.compile(r"</desc>(?:<style>.*?</style>)?(.*)</svg>", re.DOTALL)
"""What an SVG of ours draws."""
_PIECES: Final = dict(
    zip(
        "PLNSBRGK",
        ("pawn", "lance", "knight", "silver", "bishop", "rook", "gold", "king"),
        strict=True,
    )
)


@dataclass(frozen=True)
class SidePieces:
    """What a player has beside the board: pieces in hand, taken or left."""

    player: int
    color: str
    words: str
    """Such as `4 discs`; empty for pieces that are shown."""
    items: list[tuple[int, str, str, int]]
    """Number of the sprite, letter, name and count."""
    left: list[str]
    """Of Blokus Duo: cells of the pieces left, in JSON."""


@dataclass(frozen=True)
class Picture:
    """A board and its data for the page's script."""

    svg: Markup
    view: str
    """The part of the plane that it shows; a cell is 40 by 40, the first at the origin."""
    rows: int
    columns: int
    names: str
    """JSON: the cells' names by row and column."""
    pieces: str
    """JSON: what stands on each, in words."""
    moves: str = "[]"
    """JSON: legal moves, each with the numbers of the cells that it names."""
    sides: tuple[SidePieces, ...] = ()
    """The player seen above the board, then the one below."""
    sprites: tuple[Markup, ...] = ()
    """The pieces that are on the board or may be laid, each in a cell at the origin."""
    ground: Markup = Markup()  # noqa: RUF009 - a Markup never changes
    """The empty board."""
    standing: str = "[]"
    """JSON: the number of each cell's sprite, or null."""
    laid: int | None = None
    """The sprite of a piece that a move to an empty cell lays there."""
    check: int | None = None
    """The cell of a king in check."""
    tray: tuple[tuple[str, str, bool], ...] = ()
    """Pieces of Blokus Duo that the side to move has: letter, cells in JSON, whether it fits."""
    caption: str = ""


def picture(table: BoardState, drawn: Diagram | None = None) -> Picture:
    """The board of a table; `drawn` if something is drawn on it."""
    line = table.line
    upright = drawn or hk.diagram(line)
    board = turned(upright) if table.is_turned else upright
    cells = _cells_in(board)
    legal = [(move, cells(str(move))) for move in line.legal_moves]
    items = [item for panel in upright.panels if panel.player == line.to_play
             for item in panel.items]  # fmt: skip
    has_tray = lays_pieces(board)
    fits = {word_of(move)[2] for move, where in legal if has_tray and where}
    sprites = _Sprites(board, table.lettering)
    shown = replace(board, panels=(), caption="", title=f"{board.title}. {board.caption}")
    bare = replace(shown, pieces=tuple((None,) * board.columns for _ in board.pieces),
                   last=frozenset(), marks=frozenset(), labels=(), heat=())  # fmt: skip
    standing = [sprites.number(p) if p else None for row in board.pieces for p in row]
    sides = _sides(table, upright, board, sprites)
    to_play = line.to_play.value
    laid = _laid(1 - to_play if table.is_turned else to_play, board)
    return replace(
        blank_picture(shown, table.lettering),
        moves=json.dumps([[word_of(move), where] for move, where in legal], separators=(",", ":")),
        sides=sides[::-1] if not table.is_turned else sides,
        standing=json.dumps(standing, separators=(",", ":")),
        laid=None if laid is None else sprites.number(laid),
        sprites=tuple(sprites.drawn),
        ground=_drawn(hk.svg(bare, size=_SIZE, pieces=table.lettering)),
        check=_king_in_check(table, board),
        tray=tuple((item.ascii, json.dumps(item.cells), item.ascii in fits) for item in items)
        if has_tray
        else (),
        caption=board.caption,
    )


def blank_picture(board: Diagram, lettering: Literal["letters", "kanji"]) -> Picture:
    """A board on which nothing is played."""
    svg = hk.svg(board, size=_SIZE, pieces=lettering)
    view = _VIEW.search(svg)
    assert view is not None
    rows, columns = board.row_names or board.row_labels, board.column_names or board.column_labels
    return Picture(
        without_style(svg),
        view[1],
        board.rows,
        board.columns,
        json.dumps([column + row for row in rows for column in columns]),
        json.dumps([piece_words(p, board) if p else "" for row in board.pieces for p in row]),
        caption=board.caption,
    )


def _drawn(svg: str) -> Markup:
    """What an SVG of ours draws, without the SVG around it."""
    found = _DRAWN.search(svg)
    assert found is not None
    return Markup(found[1])


class _Sprites:
    """The pieces of a picture, each drawn once."""

    def __init__(self, board: Diagram, lettering: Literal["letters", "kanji"]) -> None:
        self._cell = replace(
            board,
            title="",
            caption="",
            pieces=((None,),),
            column_labels=board.column_labels[:1],
            row_labels=board.row_labels[:1],
            column_names=board.column_names[:1],
            row_names=board.row_names[:1],
            label_sides=frozenset(),
            dots=(),
            panels=(),
            text="",
            last=frozenset(),
            marks=frozenset(),
            labels=(),
            heat=(),
        )
        self._lettering = lettering
        self._numbers: dict[Piece, int] = {}
        self.drawn: list[Markup] = []

    def number(self, piece: Piece) -> int:
        """The number of a piece's sprite."""
        if piece not in self._numbers:
            self._numbers[piece] = len(self.drawn)
            self.drawn.append(_sprite(self._cell, piece, self._lettering))
        return self._numbers[piece]


@functools.lru_cache(maxsize=512)
def _sprite(cell: Diagram, piece: Piece, lettering: Literal["letters", "kanji"]) -> Markup:
    """A piece without its cell: what an occupied cell draws beyond an empty one."""
    empty = hk.svg(cell, pieces=lettering)
    occupied = hk.svg(replace(cell, pieces=((piece,),)), pieces=lettering)
    same = next(i for i, (a, b) in enumerate(zip(empty, occupied, strict=False)) if a != b)
    begin = occupied.rindex(">", 0, same) + 1
    return Markup(occupied[begin : len(occupied) - (len(empty) - begin)])


def _laid(player: int, board: Diagram) -> Piece | None:
    """The stone or disc that a move to an empty cell lays there; None in other games."""
    if not board.look.crossings and _DISCS not in (panel.title for panel in board.panels):
        return None
    text, sign = ("●", "X") if player == 0 else ("○", "O")
    return Piece(hk.Player(player), text, sign, "disc")


def _king_in_check(table: BoardState, board: Diagram) -> int | None:
    """The cell of the king of the side to move, if it is in check."""
    if not getattr(table.line.position, "in_check", False):
        return None
    sign = "K" if table.line.to_play == hk.Player.first else "k"
    pieces = [piece.ascii.strip() if piece else "" for row in board.pieces for piece in row]
    return pieces.index(sign) if sign in pieces else None


def _sides(
    table: BoardState, upright: Diagram, board: Diagram, sprites: _Sprites
) -> tuple[SidePieces, ...]:
    """The first player's pieces beside the board, and the second's."""
    sides, has_hands = [], _HAND in (panel.title for panel in board.panels)
    taken = _taken(table) if table.has_sides and not has_hands else {}
    lost = _lost_stones(table) if board.look.crossings else None
    for player, color in enumerate(table.facts.naming.colors):
        # A turned board has the pieces of one as the other's.
        owner = 1 - player if table.is_turned else player
        panel = next((each for each in board.panels if each.player.value == owner), None)
        items = list(panel.items) if panel else []
        words = ""
        if panel is not None and panel.title == _DISCS:
            words = counted(sum(item.count for item in items), "disc")
        elif lost is not None:
            words = counted(lost[1 - player], "prisoner")
        pieces: list[tuple[int, str, str, int]] = []
        if panel is not None and panel.title == _HAND:
            pieces = [
                (sprites.number(item.piece), item.ascii, _PIECES[item.ascii], item.count)
                for item in items
            ]
        for piece, count in taken.get(1 - player, {}).items():
            name = piece_words(piece, upright)
            shown = _across(piece) if table.is_turned else piece
            pieces.append((sprites.number(shown), piece.ascii.strip(), name, count))
        left = [json.dumps(item.cells) for item in items] if lays_pieces(board) else []
        sides.append(SidePieces(player, color, words, pieces, left))
    return tuple(sides)


def _taken(table: BoardState) -> dict[int, Counter[Piece]]:
    """Pieces that each player has lost since the first position; promoted ones were pawns."""
    taken: dict[int, Counter[Piece]] = {}
    begin, now = (_pieces(hk.diagram(each)) for each in (table.first_position.line(), table.line))
    for player in (0, 1):
        before = Counter(p for p in begin if p.player.value == player)
        after = Counter(p for p in now if p.player.value == player)
        missing = before - after
        for pawn in missing:
            if pawn.shape == "pawn":
                missing[pawn] -= (after - before).total()
        taken[player] = Counter({piece: count for piece, count in missing.items() if count > 0})
    return taken


def _pieces(board: Diagram) -> list[Piece]:
    return [piece for row in board.pieces for piece in row if piece]


def _lost_stones(table: BoardState) -> tuple[int, int]:
    """Stones that each player has lost since the first position."""
    begin, now = (_pieces(hk.diagram(each)) for each in (table.first_position.line(), table.line))
    to_play = table.first_position.to_play.value
    lost = [0, 0]
    for player in (0, 1):
        moves = table.line.moves[player != to_play :: 2]
        placed = sum(str(move) != "pass" for move in moves)
        own = [sum(p.player.value == player for p in pieces) for pieces in (begin, now)]
        lost[player] = own[0] + placed - own[1]
    return lost[0], lost[1]


def seen(table: BoardState) -> Diagram:
    """Diagram of the board."""
    board = hk.diagram(table.line)
    return turned(board) if table.is_turned else board


def turned(board: Diagram) -> Diagram:
    """A board seen from the other side: what was the first player's is drawn as the second's.

    Names and paints change sides too, so that all keep their own.
    """

    def across(cell: tuple[Any, Any]) -> tuple[Any, Any]:
        return board.rows - 1 - cell[0], board.columns - 1 - cell[1]

    one, two = board.look.paints
    return replace(
        board,
        players=(board.players[1], board.players[0]),
        pieces=tuple(tuple(p and _across(p) for p in row[::-1]) for row in board.pieces[::-1]),
        column_labels=board.column_labels[::-1],
        row_labels=board.row_labels[::-1],
        column_names=board.column_names[::-1],
        row_names=board.row_names[::-1],
        look=replace(board.look, paints=(two, one)),
        dots=tuple(map(across, board.dots)),
        panels=tuple(
            replace(
                panel,
                player=hk.Player(1 - panel.player.value),
                items=tuple(replace(item, piece=_across(item.piece)) for item in panel.items),
            )
            for panel in board.panels
        ),
        last=frozenset(map(across, board.last)),
        marks=frozenset(map(across, board.marks)),
        labels=tuple((across(cell), text) for cell, text in board.labels),
        heat=tuple((across(cell), value) for cell, value in board.heat),
    )


def _across(piece: Piece) -> Piece:
    """A piece seen from the other side."""
    is_turned = not piece.turned if piece.shape == "wedge" else piece.turned
    return replace(piece, player=hk.Player(1 - piece.player.value), turned=is_turned)


def _cells_in(board: Diagram) -> Any:
    """Parser from moves' texts to cell numbers, cached for many moves."""
    names = sorted(map(re.escape, board.cell_names), key=len, reverse=True)
    pattern = re.compile("|".join(names))
    numbers = {
        name: row * board.columns + column for name, (row, column) in board.cell_names.items()
    }
    return lambda text: [numbers[name] for name in pattern.findall(text.lower())]


def piece_words(piece: Piece, board: Diagram) -> str:
    """Kind and owner of a piece."""
    color = board.players[piece.player.value]
    kind = {"disc": "", "block": "", "wedge": ""}.get(piece.shape, piece.shape)
    if piece.shape == "wedge":
        letter = piece.ascii.strip().upper()
        kind = ("promoted " if letter.startswith("+") else "") + _PIECES[letter[-1]]
    return f"{color} {kind}".strip()


def heat_of(line: Line, weights: Mapping[AnyMove, float]) -> dict[str, Any]:
    """Moves' weights on the cells that they are about, for the page's script.

    A move that goes from one cell to another glows where it ends, with an arrow; one that covers
    several cells adds to each of them.
    """
    board = hk.diagram(line)
    cells = _cells_in(board)
    heat: dict[int, float] = {}
    arrows: list[tuple[int, int, float]] = []
    most = max(weights.values(), default=0.0)
    covers = lays_pieces(board)
    for move, weight in weights.items():
        where = cells(str(move))
        if not where or weight <= 0:
            continue
        for cell in where if covers else where[-1:]:
            heat[cell] = heat.get(cell, 0.0) + weight
        if not covers and len(where) > 1:
            arrows.append((where[0], where[-1], round(weight / most, 3)))
    hottest = max(heat.values(), default=1.0)
    return {
        "heat": [[cell, round(value / hottest, 3)] for cell, value in heat.items()],
        "arrows": sorted(arrows, key=lambda arrow: -arrow[2])[:4],
    }


def lays_pieces(board: Diagram) -> bool:
    """Whether moves lay pieces on all the cells that they name, and the rest lie beside."""
    return any(item.piece.joined for panel in board.panels for item in panel.items)


@dataclass(frozen=True)
class Ranking:
    """A move model's ranking of a position, or the reason why there is none."""

    board: Diagram | None
    rows: list[tuple[str, str, str, float]]
    """Number on the board, the move for addresses, the move as people write it, its share."""
    is_tree: bool = False
    """Whether what it asks about a move can be drawn."""
    question: str = ""
    """Its questions in words."""
    problem: str = ""


def models_for(game: str, here: Iterable[FolderItem]) -> list[str]:
    """The names of the move models that rank a game's moves: the package's, and the folder's."""
    facts = game_facts(game)
    names = [BUILT_IN] if has_features(game) else []
    names += [LEARNED] if facts.bundled.move_model else []
    return names + [
        file.path
        for file in here
        if file.kind == "model"
        and file.facts["kind"] in MOVE_MODELS
        and file.facts["game"] in (game, None)
    ]


def ranking(table: BoardState, folder: Folder) -> Ranking | None:
    """Ranking by the chosen move model; None without one."""
    if not table.model:
        return None
    try:
        return _ranking(table, folder)
    except hk.Error as error:
        return Ranking(None, [], problem=str(error))


def _ranking(table: BoardState, folder: Folder) -> Ranking:
    line = table.line
    if line.outcome is not None:
        raise hk.errors.NotationError("the game is over: no move is left to rank")
    source = table.model
    changed = 0
    if source not in (BUILT_IN, LEARNED):
        path = folder.path(source)
        source, changed = str(path), path.stat().st_mtime_ns
    model, tree = _model(table.game, source, changed)
    best = ranked(line, model)[: len(NUMBERED)]
    rows = [
        (str(number), word_of(move), move_text(line.position, move, table.facts), share)
        for number, (move, share) in enumerate(best, 1)
    ]
    if tree is None or not table.area or not line.is_legal(table.area):
        return Ranking(_numbered(line, [move for move, _ in best]), rows, tree is not None)
    move = line.parse(table.area)
    questions = tree.questions(line, move)
    words = [f"{about}: {answer}" for about, answer in questions.tactics]
    words.append(f"{len(questions.stones)} points around it")
    drawn = ranking_diagram(line, [move], questions)
    return Ranking(drawn, rows, True, f"About {table.area} it asks for {'; '.join(words)}.")


def _numbered(line: Line, best: list[AnyMove]) -> Diagram:
    """The best moves by number; the tenth has two digits, for which a picture has room."""
    board = ranking_diagram(line, best)
    ranks = {sign: str(rank) for rank, sign in enumerate(NUMBERED, 1)}
    return replace(board, labels=tuple((cell, ranks[sign]) for cell, sign in board.labels))


@functools.lru_cache(maxsize=4)
def _model(game: str, source: str, _changed: int) -> tuple[Any, Mets | None]:
    model = move_model(game, source)
    is_tree = source not in (BUILT_IN, LEARNED) and hk.read_model_file(Path(source)).kind == "mets"
    return model, Mets.load(source) if is_tree else None


def words_of(line: Line, moves: Iterable[AnyMove]) -> list[tuple[str, str]]:
    """A line that is expected: for each move, all up to it for addresses, and how it is written."""
    facts, words, out = game_facts(name_of(line)), list[str](), list[tuple[str, str]]()
    for move in moves:
        words.append(word_of(move))
        out.append((" ".join(words), move_text(line.position, move, facts)))
        line = line.play(move)
    return out


def marked_board(picture: Diagram, marks: Iterable[tuple[str, str]], *, size: int) -> Markup:
    """A board with moves drawn on it, each with a class: an arrow, a ring or squares."""
    covers = lays_pieces(picture)
    drawn = []
    for text, name in marks:
        cells = picture.named_in(text)
        points = [((column + 0.5) * _CELL, (row + 0.5) * _CELL) for row, column in cells]
        if covers:
            data = "".join(f"M{x - 17:g} {y - 17:g}h34v34h-34z" for x, y in points)
        elif len(points) > 1:
            data = _arrow(points[0], points[-1])
        else:
            data = "".join(
                f"M{x - 15:g} {y:g}a15 15 0 1 0 30 0a15 15 0 1 0-30 0z" for x, y in points
            )
        drawn.append(f'<path class="{name}" fill="none" d="{data}"/>')
    svg = str(board(picture, size=size))
    return Markup(svg.removesuffix("</svg>") + "".join(drawn) + "</svg>")


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """An arrow between the centers of two cells, as path data."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    tip = end[0] - 4 * ux, end[1] - 4 * uy
    wings = [
        (tip[0] - 12 * ux + side * 8 * uy, tip[1] - 12 * uy - side * 8 * ux) for side in (1, -1)
    ]
    (ax, ay), (bx, by) = wings
    return (
        f"M{start[0]:.1f} {start[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}"
        f"M{ax:.1f} {ay:.1f}L{tip[0]:.1f} {tip[1]:.1f}L{bx:.1f} {by:.1f}"
    )
