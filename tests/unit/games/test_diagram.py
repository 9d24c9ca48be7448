# SPDX-License-Identifier: Apache-2.0
import re
from dataclasses import FrozenInstanceError, replace
from typing import Any
from xml.etree import ElementTree

import pytest

import hyoka as hk
from hyoka._core import Go3, Go5
from hyoka.games import GAMES
from hyoka.games.diagram import Diagram, Panel
from hyoka.games.diagram.diagram_value import text_width
from hyoka.games.diagram.renderers import CELL, GLYPHS, _strokes, _upside_down

SVG = "{http://www.w3.org/2000/svg}"
UNPROMOTED = "plnsbrgk1/9/9/9/9/9/9/9/PLNSBRGK1 b - 1"
HALVES_OF_GO19 = ("ABCDEFGHJ", "KLMNOPQRST")
PROMOTED = "+p+l+n+s+b+r1k1/9/9/9/9/9/9/9/+P+L+N+S+B+R1K1 b - 1"


def line_of(game: Any, moves: str) -> Any:
    line = game.line()
    for move in moves.split():
        line = line.play(move)
    return line


def random_line(name: str, plies: int, seed: int) -> Any:
    line = hk.position(name).line()
    for ply in range(plies):
        if line.outcome is not None:
            break
        line = line.play(line.random_move(seed + ply))
    return line


def cells_named(game: Any, *names: str) -> set[tuple[int, int]]:
    board = hk.diagram(game)
    return {board.cell(name) for name in names}


def board_rows(text: str, board: Diagram) -> list[str]:
    """The lines of a terminal's text that hold the cells."""
    lines = text.split("\n")
    above = 1 + len(board.panels) // 2 + ("top" in board.label_sides)
    return lines[above : above + board.rows]


def texts_of(picture: str) -> list[tuple[str, float, float]]:
    root = ElementTree.fromstring(picture)
    return [
        (node.text or "", float(node.attrib["x"]), float(node.attrib["y"]))
        for node in root.iter(f"{SVG}text")
    ]


# Pieces


@pytest.mark.parametrize("name", GAMES)
def test_pieces_stand_where_the_cells_say(name: str) -> None:
    line = random_line(name, 30, seed=5)
    board = hk.diagram(line)
    for row, pieces in zip(line.cells, board.pieces, strict=True):
        for code, piece in zip(row, pieces, strict=True):
            owner = None if piece is None else piece.player
            assert owner == (
                None if code == 0 else hk.Player.first if code > 0 else hk.Player.second
            )


def test_all_chessmen_appear() -> None:
    board = hk.diagram(hk.Chess())
    assert set("♔♕♖♗♘♙♚♛♜♝♞♟") <= set(hk.terminal(board))
    assert set("KQRBNPkqrbnp") <= set(hk.terminal(board, ascii=True))
    shapes = {piece.shape for row in board.pieces for piece in row if piece}
    assert shapes == {"king", "queen", "rook", "bishop", "knight", "pawn"}


@pytest.mark.parametrize(
    ("sfen", "kanji", "letters"),
    [
        (UNPROMOTED, "歩香桂銀角飛金玉", "P L N S B R G K"),
        (PROMOTED, "と杏圭全馬龍玉", "+P +L +N +S +B +R K"),
    ],
)
def test_all_pieces_of_shogi_appear(sfen: str, kanji: str, letters: str) -> None:
    game = hk.Shogi.from_text(sfen)
    text, ascii_text = hk.terminal(game), hk.terminal(game, ascii=True)
    written = [label for label, _, _ in texts_of(hk.svg(game, pieces="letters"))]
    strokes = strokes_of(hk.svg(game))
    for face, letter in zip(kanji, letters.split(), strict=True):
        assert f" {face}" in text
        assert f"v{face}" in text
        assert f" {letter:>2}" in ascii_text
        assert f" {letter.lower():>2}" in ascii_text
        assert written.count(letter) == 2
        for label, turned in ((face, False), ("王" if face == "玉" else face, True)):
            assert sum(shape(label, turned=turned) in each for _, each in strokes) == 1


def shape(character: str, *, turned: bool) -> str:
    data, _ = _strokes(character, 20, 22)
    return _upside_down(data) if turned else data


def strokes_of(picture: str) -> list[tuple[str, str]]:
    """Color and data of the paths that draw characters."""
    root = ElementTree.fromstring(picture)
    return [
        (node.attrib["stroke"], node.attrib["d"])
        for node in root.iter(f"{SVG}path")
        if node.attrib.get("fill") == "none"
    ]


def test_whites_pieces_of_shogi_are_turned_and_promoted_ones_red() -> None:
    strokes = strokes_of(hk.svg(hk.Shogi.from_text(PROMOTED)))
    for face in "と杏圭全馬龍":
        for turned in (False, True):
            [color] = [color for color, data in strokes if shape(face, turned=turned) in data]
            assert color == "#c2201a"
    for face, turned in (("玉", False), ("王", True)):
        [color] = [color for color, data in strokes if shape(face, turned=turned) in data]
        assert color != "#c2201a"


def test_characters_are_drawn_inside_their_pieces() -> None:
    """By a reader of path data that knows steps only."""
    for character in GLYPHS:
        x = y = 0.0
        data, width = _strokes(character, 20, 22)
        assert 1.3 <= width <= 2
        places = []
        for kind, text in re.findall(r"([mlhvq])([^mlhvq]*)", data):
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", text)]
            steps = {"h": [*numbers, 0.0], "v": [0.0, *numbers]}.get(kind, numbers)
            assert len(steps) == (4 if kind == "q" else 2), (character, kind, text)
            x, y = x + steps[-2], y + steps[-1]
            places.append((x, y))
        assert min(x for x, _ in places) < 0 < max(x for x, _ in places)
        assert all(abs(x) <= 10.3 and abs(y) <= 11.3 for x, y in places), character


@pytest.mark.parametrize("name", ["go9", "othello"])
def test_discs_are_black_and_white(name: str) -> None:
    text = hk.terminal(random_line(name, 20, seed=1))
    assert "●" in text
    assert "○" in text


def test_squares_of_a_piece_of_blokus_grow_together() -> None:
    line = line_of(hk.BlokusDuo(), "e10,f10,g10,e11 j5,j4,j3")
    rows = hk.terminal(line).split("\n")
    assert any(row.startswith("10 · · · · ▓▓▓▓▓ ·") for row in rows)
    assert "XXXXX" in hk.terminal(line, ascii=True)


def test_hands_are_shown_on_their_owners_side() -> None:
    game = hk.Shogi.from_text("4k4/9/9/9/9/9/9/9/4K4 b R2Pb16p 1")
    lines = hk.terminal(game).split("\n")
    assert lines[1] == "White in hand: 角 歩×16"
    assert lines[-2] == "Black in hand: 飛 歩×2"
    assert "Black in hand: R Px2" in hk.terminal(game, ascii=True)
    labels = {label: y for label, _, y in texts_of(hk.svg(game, pieces="kanji"))}
    assert labels["White in hand"] < 0
    assert labels["Black in hand"] > 9 * CELL
    assert "×16" in labels


def test_a_full_hand_stays_inside_the_picture() -> None:
    game = hk.Shogi.from_text("4k4/9/9/9/9/9/9/9/9 b 2r2b4g4s4n4l18p 1")
    picture = hk.svg(game)
    group = re.search(r"translate\(([\d.]+) -[\d.]+\)scale\(([\d.]+)\)(.*?)</g>", picture)
    assert group
    start, scale = float(group[1]), float(group[2])
    ends = [float(x) for x in re.findall(r'<text x="(\d+)"[^>]*text-anchor="start"', picture)]
    assert start + scale * (max(ends) + CELL - 2) < 9 * CELL + 1


def test_blokus_shows_the_pieces_left() -> None:
    line = line_of(hk.BlokusDuo(), "e10 j5,j4,j3")
    lines = hk.terminal(line).split("\n")
    assert lines[1] == "Orange left: a b d e f g h i j k l m n o p q r s t u"
    assert lines[-2] == "Purple left: b c d e f g h i j k l m n o p q r s t u"
    items = hk.diagram(hk.BlokusDuo()).panels[0].items
    assert sum(len(item.cells) for item in items) == 89
    assert all(max(c) < 5 and min(c) == 0 for item in items for c in zip(*item.cells, strict=True))


def test_othello_counts_the_discs() -> None:
    lines = hk.terminal(line_of(hk.Othello(), "d3 c3")).split("\n")
    assert lines[1] == "White discs: ○×3"
    assert lines[-2] == "Black discs: ●×3"


# Coordinates


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        ("go9", "A B C D E F G H J", "9 8 7 6 5 4 3 2 1"),
        ("go19", "A B C D E F G H J K L M N O P Q R S T", " ".join(map(str, range(19, 0, -1)))),
        ("othello", "a b c d e f g h", "1 2 3 4 5 6 7 8"),
        ("chess", "a b c d e f g h", "8 7 6 5 4 3 2 1"),
        ("shogi", "9 8 7 6 5 4 3 2 1", "一 二 三 四 五 六 七 八 九"),
        ("blokus_duo", "a b c d e f g h i j k l m n", " ".join(map(str, range(14, 0, -1)))),
    ],
)
def test_coordinates_are_those_of_the_game(name: str, columns: str, rows: str) -> None:
    board = hk.diagram(hk.position(name))
    assert " ".join(board.column_labels) == columns
    assert " ".join(board.row_labels) == rows
    text = hk.terminal(board)
    assert any(line.split() == columns.split() for line in text.split("\n"))
    shown = board_rows(text, board)
    if "left" in board.label_sides:
        assert [line.split()[0] for line in shown] == rows.split()
    if "right" in board.label_sides:
        assert [line.split()[-1] for line in shown] == rows.split()
    picture = hk.svg(board)
    texts = texts_of(picture)
    for i, label in enumerate(board.column_labels):
        assert any(t == label and x == (i + 0.5) * CELL for t, x, _ in texts)
    for i, label in enumerate(board.row_labels):
        near = [y for t, _, y in texts if t == label and i * CELL < y < (i + 1) * CELL]
        assert near or f" {(i + 0.5) * CELL:g}{_strokes(label, 360 / 44, 360 / 44)[0]}" in picture


def test_ascii_shogi_names_its_ranks_by_letters() -> None:
    board = hk.diagram(hk.Shogi())
    rows = board_rows(hk.terminal(board, ascii=True), board)
    assert [row[-1] for row in rows] == list("abcdefghi")


@pytest.mark.parametrize(
    ("game", "name", "cell"),
    [
        (hk.Go9(), "A1", (8, 0)),
        (hk.Go9(), "j9", (0, 8)),
        (hk.Othello(), "d3", (2, 3)),
        (hk.Chess(), "e4", (4, 4)),
        (hk.Shogi(), "7g", (6, 2)),
        (hk.BlokusDuo(), "e10", (4, 4)),
    ],
)
def test_a_cell_has_the_name_that_moves_use(game: Any, name: str, cell: tuple[int, int]) -> None:
    assert hk.diagram(game).cell(name) == cell


@pytest.mark.parametrize(("name", "stars"), [("go9", 5), ("go13", 5), ("go19", 9), ("go4", 0)])
def test_go_has_its_star_points(name: str, stars: int) -> None:
    assert hk.terminal(hk.position(name)).count("+") == stars


# The last move


@pytest.mark.parametrize(
    ("game", "moves", "names"),
    [
        (hk.Go9(), "D4", ["D4"]),
        (hk.Go9(), "D4 pass", []),
        (hk.Othello(), "d3 c3", ["c3"]),
        (hk.Chess(), "e4", ["e2", "e4"]),
        (hk.Chess.from_text("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), "O-O", ["e1", "g1"]),
        (hk.Chess.from_text("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"), "O-O-O", ["e8", "c8"]),
        (hk.Chess.from_text("7k/P7/8/8/8/8/8/K7 w - - 0 1"), "a7a8q", ["a7", "a8"]),
        (hk.Chess(), "e4 a6 e5 d5 exd6", ["e5", "d6"]),
        (hk.Shogi(), "7g7f", ["7g", "7f"]),
        (hk.Shogi(), "7g7f 3c3d 8h2b+", ["8h", "2b"]),
        (hk.Shogi.from_text("4k4/9/9/9/9/9/9/9/4K4 b P 1"), "P*5e", ["5e"]),
        (hk.BlokusDuo(), "e10,f10,g10,e11", ["e10", "f10", "g10", "e11"]),
    ],
)
def test_the_last_move_of_a_line_is_marked(game: Any, moves: str, names: list[str]) -> None:
    line = line_of(game, moves)
    board = hk.diagram(line)
    assert board.last == cells_named(game, *names)
    assert board.caption.endswith(f" Last move: {line.moves[-1]}.")
    assert ("(" in hk.terminal(line)) == bool(names)
    unmarked = hk.svg(replace(board, last=frozenset()))
    assert (hk.svg(line) != unmarked) == bool(names)


def test_a_declared_win_marks_nothing() -> None:
    sfen = "KGG6/PPPPPPPP1/9/9/9/9/9/9/8k b 2R2B2G4S4N4L 1"
    line = hk.Shogi.from_text(sfen).with_rules(declaration=True).line().play("win")
    assert hk.diagram(line).last == frozenset()
    assert hk.diagram(line).caption == "Black wins by declaration. Last move: win."


def test_a_diagram_marks_the_last_move() -> None:
    line = line_of(hk.Chess(), "e4")
    assert hk.diagram(line.position).last == frozenset()
    assert hk.diagram(line.position, last=line.moves[-1]) == hk.diagram(line)
    assert hk.diagram(line.position, last="e2e4") == hk.diagram(line)


def test_a_last_move_off_the_board_is_refused() -> None:
    with pytest.raises(hk.errors.NotationError, match="'z9' names no cell"):
        hk.diagram(hk.Go9(), last="z9")


def test_the_last_stone_has_a_ring_and_the_last_chessman_a_shade() -> None:
    ringed = hk.svg(line_of(hk.Go9(), "D4"))
    assert re.search(
        r'<path fill="none" stroke="#fff" stroke-width="2.6" d="M140 220m-8.5 0', ringed
    )
    shaded = hk.svg(line_of(hk.Chess(), "e4"))
    assert 'fill-opacity="0.55" d="M180 180m-20-20h40v40h-40zM180 260m' in shaded


# Marks, labels, heat


def test_marks_labels_and_heat_reach_text_and_picture() -> None:
    board = hk.diagram(
        Go5().play("A1"),
        marks=["B2", (0, 4)],
        labels={"C3": "a", "A1": 7, "D4": "long"},
        heat={"D1": 0.45, "E1": 1},
    )
    assert hk.terminal(board).split("\n")[2:7] == [
        "5 · · · ·[·]5",
        "4 · · · · · 4",
        "3 · · a · · 3",
        "2 ·[·]· · · 2",
        "1 ● · · 4 9 1",
    ]
    picture = hk.svg(board)
    assert {"a", "7", "long"} <= {text for text, _, _ in texts_of(picture)}
    assert 'fill-opacity="0.36"' in picture
    assert 'fill-opacity="0.8"' in picture


def test_side_by_side_the_last_move_and_a_mark_keep_their_brackets() -> None:
    board = hk.diagram(line_of(Go3(), "A1"), marks=["B1", "C1"])
    assert hk.terminal(board).split("\n")[4] == "1(●[· ·]1"


@pytest.mark.parametrize("options", [{"marks": ["Z3"]}, {"labels": {"": 1}}, {"heat": {"K1": 1}}])
def test_names_of_no_cell_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(hk.errors.NotationError, match="no cell '"):
        hk.diagram(hk.Go9(), **options)


@pytest.mark.parametrize("options", [{"marks": [(9, 0)]}, {"heat": {"A1": 1.5}}])
def test_numbers_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no cell in row 9|heat must be"):
        hk.diagram(hk.Go9(), **options)


# Text


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("ascii", [False, True])
def test_rows_are_equally_wide(name: str, ascii: bool) -> None:
    for plies in (0, 7, 40):
        board = replace(
            hk.diagram(random_line(name, plies, seed=3)), label_sides=frozenset({"left"})
        )
        text = hk.terminal(board, ascii=ascii)
        # The end of a line is trimmed, so measure up to the last cell.
        cell = text_width(board.empty[ascii])
        labels = board.row_names if ascii and board.row_names else board.row_labels
        margin = max(map(text_width, labels))
        wanted = margin + board.columns * (cell + 1)
        rows = board_rows(text, board)
        assert len(rows) == board.rows
        assert all(wanted <= text_width(row) <= wanted + 1 for row in rows)


def test_a_kanji_takes_two_columns() -> None:
    rows = hk.terminal(hk.Shogi()).split("\n")[2:12]
    assert rows[0] == "   9   8   7   6   5   4   3   2   1"
    assert rows[1] == " v香 v桂 v銀 v金 v玉 v金 v銀 v桂 v香 一"
    assert rows[2] == "  ・ v飛  ・  ・  ・  ・  ・ v角  ・ 二"
    assert {text_width(row) for row in rows[1:]} == {text_width(rows[0]) + 3}


@pytest.mark.parametrize("name", GAMES)
def test_ascii_is_ascii_and_text_is_free_of_escape_codes(name: str) -> None:
    line = random_line(name, 30, seed=2)
    assert hk.terminal(line, ascii=True).isascii()
    assert all(c.isprintable() or c == "\n" for c in hk.terminal(line))


def test_foreign_letters_and_escape_codes_do_not_reach_the_terminal() -> None:
    board = replace(hk.diagram(Go3()), title="評価\x1b[31m", caption="a\u202eb\x07\n")
    assert "\x1b" not in hk.terminal(board)
    assert hk.terminal(board).endswith("\na b")
    assert hk.terminal(board, ascii=True).startswith("?? [31m\n")


# Pictures


@pytest.mark.parametrize("name", GAMES)
def test_a_picture_is_one_small_element_of_valid_xml(name: str) -> None:
    for plies in (0, 30, 250):
        picture = hk.svg(random_line(name, plies, seed=4))
        root = ElementTree.fromstring(picture)
        assert root.tag == f"{SVG}svg"
        assert root.attrib["role"] == "img"
        assert root.attrib["class"].startswith("hk-")
        assert {root[0].tag, root[1].tag} == {f"{SVG}title", f"{SVG}desc"}
        tags = {node.tag.removeprefix(SVG) for node in root.iter()}
        assert tags <= {"svg", "title", "desc", "style", "rect", "path", "text", "g"}
        assert not any(key == "id" or "href" in key for node in root.iter() for key in node.attrib)
        assert picture.count("http") == 1  # the namespace
        assert "nan" not in picture
        assert len(picture.encode()) < 25_000


def test_a_full_board_of_19_lines_stays_small() -> None:
    black, white = ([f"{c}{r}" for c in half for r in range(1, 20)] for half in HALVES_OF_GO19)
    picture = hk.svg(hk.Go19.from_stones(black[1:], white[:-1]))
    assert len(picture.encode()) < 25_000


def test_what_is_written_is_escaped() -> None:
    nasty = '<script>alert("1")</script> & \' \x00\x1b\ud800\ufffe'
    board = replace(
        hk.diagram(hk.Chess(), labels={"e4": nasty}),
        title=nasty,
        caption=nasty,
        players=(nasty, nasty),
        panels=(Panel(hk.Player.first, nasty, (), 1),),
        column_labels=(nasty,) * 8,
        column_names=tuple("abcdefgh"),
        language=nasty.partition("\x00")[0],
    )
    root = ElementTree.fromstring(hk.svg(board))
    assert root[0].text is not None
    assert root[0].text.startswith('<script>alert("1")</script> & \'')
    assert not list(root.iter(f"{SVG}script"))


def test_size_is_the_width_and_the_height_follows() -> None:
    for size in (1, 200, 480):
        root = ElementTree.fromstring(hk.svg(hk.Othello(), size=size))
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        assert int(root.attrib["width"]) == size
        assert int(root.attrib["height"]) == round(size * height / width)
    with pytest.raises(ValueError, match="positive"):
        hk.svg(hk.Othello(), size=0)


def test_everything_lies_inside_the_picture() -> None:
    for name in GAMES:
        picture = hk.svg(random_line(name, 30, seed=6))
        root = ElementTree.fromstring(picture)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        for group in [root, *root.findall(f"{SVG}g[@opacity]")]:
            for node in group.findall(f"{SVG}text"):
                assert left < float(node.attrib["x"]) < left + width
                assert top < float(node.attrib["y"]) < top + height


def test_a_long_caption_is_wrapped() -> None:
    board = replace(hk.diagram(Go3()), caption="word " * 40)
    lines = [text for text, _, _ in texts_of(hk.svg(board)) if "word" in text]
    assert len(lines) > 1
    assert max(map(len, lines)) <= 68
    assert " ".join(lines) == board.caption.strip()


# The value


@pytest.mark.parametrize(
    ("game", "caption"),
    [
        (hk.Go9(), "Black to play."),
        (hk.Chess(), "White to play."),
        (hk.BlokusDuo(), "Purple to play."),
        (hk.Go9(komi=0.5).play("pass").play("pass"), "White wins by 0.5 points."),
        (hk.Go9(komi=1).play("pass").play("pass"), "White wins by 1 point."),
        (hk.Othello.from_text("-" * 64 + " X"), "Draw."),
        (line_of(hk.Chess(), "f3 e5 g4 Qh4").position, "Black wins by checkmate."),
        (hk.Chess.from_text("k7/8/8/8/8/8/8/K7 w - - 0 1"), "Draw by insufficient material."),
    ],
)
def test_the_caption_says_who_plays_or_won(game: Any, caption: str) -> None:
    assert hk.diagram(game).caption == caption


def test_a_repetition_that_only_the_line_knows_is_stated() -> None:
    line = line_of(hk.Chess(), "Nf3 Nf6 Ng1 Ng8 " * 2)
    assert hk.diagram(line).caption.startswith("Draw by repetition.")
    assert hk.diagram(line.position).caption == "White to play."


def test_a_diagram_is_a_value() -> None:
    board = hk.diagram(hk.Shogi())
    assert board == hk.diagram(hk.Shogi())
    assert hash(board) == hash(hk.diagram(hk.Shogi()))
    assert board != hk.diagram(hk.Shogi().play("7g7f"))
    with pytest.raises(FrozenInstanceError):
        board.title = "Xiangqi"  # type: ignore[misc]
    assert hk.svg(board) == hk.svg(hk.Shogi())
    assert hk.terminal(board) == hk.terminal(hk.Shogi())


@pytest.mark.parametrize(
    "changes",
    [
        {"pieces": ()},
        {"pieces": ((None,), (None, None))},
        {"row_labels": ("1",)},
        {"column_names": ("a", "b")},
        {"last": frozenset({(3, 0)})},
        {"heat": (((0, 0), -0.1),)},
    ],
)
def test_a_diagram_that_does_not_fit_together_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rows|labels|cell|heat"):
        replace(hk.diagram(Go3()), **changes)


def test_a_stranger_cannot_be_drawn() -> None:
    with pytest.raises(TypeError, match="no diagram for int"):
        hk.diagram(3)  # type: ignore[arg-type]
