# SPDX-License-Identifier: Apache-2.0
"""Readers and writers of records against python-chess, sgfmill and cshogi, and the data's README.

Samples of the real records by default; HYOKA_ALL_RECORDS=1 compares every game (some minutes).
"""

import gzip
import io
import os
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

import chess
import chess.engine
import chess.pgn
import cshogi
import numpy as np
import pytest
from cshogi import CSA
from numpy.typing import NDArray
from sgfmill import sgf, sgf_moves

import hyoka as hk
from hyoka.records import Batch, Remark, batches, record_text

from . import real_records
from .real_records import text_of

T = TypeVar("T")
ALL: Final = bool(os.environ.get("HYOKA_ALL_RECORDS"))
SharedData = Callable[[str], Path]


def sample(items: Sequence[T], count: int) -> Sequence[T]:
    """About `count` of the items, evenly spread; all of them if so wished."""
    return items if ALL else items[:: max(1, len(items) // count)]


def records_of(path: Path) -> list[hk.Record]:
    """All games of a file in which none may be refused."""
    return list(hk.read_records(path, strict=True))


def said(text: str, *nothing: str) -> str:
    """As a record keeps it: trimmed, and empty for what stands for nothing."""
    text = "".join(letter if ord(letter) >= 32 else " " for letter in text).strip(" ")
    return "" if text in nothing else text


# Chess


def uci_of(board: chess.Board, move: chess.Move) -> str:
    """As we write it: castling is `e1g1` where king and rook stand as in ordinary chess."""
    files = chess.square_file(move.from_square), chess.square_file(move.to_square)
    if board.chess960 and board.is_castling(move) and files in ((4, 0), (4, 7)):
        return board.uci(move, chess960=False)
    return move.uci()


RESULTS: Final = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "*": None}
PGN_TAGS: Final = {
    "White": "first",
    "Black": "second",
    "WhiteElo": "first_rating",
    "BlackElo": "second_rating",
    "Event": "event",
    "Site": "place",
    "Round": "round",
    "TimeControl": "time_control",
}


def evaluation(node: chess.pgn.ChildNode) -> tuple[float | None, int | None, int | None]:
    """Centipawns, mate and depth for White."""
    score = node.eval()
    if score is None:
        return None, None, None
    white = score.white()
    return white.score(), white.mate(), node.eval_depth()


def assert_same_chess(record: hk.Record, game: chess.pgn.Game) -> None:
    assert game.errors == []
    board = game.board()
    fen = board.fen()
    assert hk.Chess.from_text(fen) == (
        hk.Chess.from_text(record.start) if record.start else hk.Chess()
    )
    moves = []
    remarks = {remark.ply: remark for remark in record.remarks}
    for ply, node in enumerate(game.mainline(), 1):
        moves.append(uci_of(board, node.move))
        board.push(node.move)
        remark = remarks.get(ply, Remark(ply))
        assert (remark.score, remark.mate, remark.depth) == evaluation(node), (ply, node.comment)
        for ours, theirs in ((remark.clock_s, node.clock()), (remark.spent_s, node.emt())):
            assert ours == (theirs if theirs is None else pytest.approx(theirs, rel=1e-6))
        assert remark.book == (node.comment.strip() == "book")
    assert record.move_texts() == moves
    assert record.result == RESULTS[game.headers["Result"]]
    for tag, name in PGN_TAGS.items():
        assert getattr(record, name) == said(game.headers.get(tag, ""), "?", "-"), tag
    date = game.headers.get("Date", "").partition(".??")[0].replace(".", "-")
    assert record.date == ("" if "?" in date else date)


def pgn_games(text: str) -> list[str]:
    starts = [match.start() for match in re.finditer(r"^\[Event ", text, re.MULTILINE)]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def read_pgn(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    return game


@pytest.mark.parametrize(
    ("name", "count"), [("chess/tcec_eval.pgn.xz", 40), ("chess/twic_human.pgn.xz", 200)]
)
def test_real_chess_agrees_with_python_chess(
    name: str, count: int, shared_data: SharedData
) -> None:
    texts = sample(pgn_games(text_of(shared_data(name), real_records.PGN, whole=ALL)), count)
    records = hk.parse_records("".join(texts))
    for record, text in zip(records, texts, strict=True):
        assert_same_chess(record, read_pgn(text))


def test_raw_chess_agrees_with_python_chess_on_moves(shared_data: SharedData) -> None:
    """All dialects of TCEC; python-chess does not know what their comments say."""
    path = shared_data("chess/raw_samples.zip")
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist())
        texts = [text for name in names for text in pgn_games(archive.read(name).decode("latin-1"))]
    records = records_of(path)
    assert len(records) == len(texts) == 35
    for record, text in zip(records, texts, strict=True):
        game = read_pgn(text)
        board = game.board()
        moves = []
        for move in game.mainline_moves():
            moves.append(uci_of(board, move))
            board.push(move)
        assert record.move_texts() == moves
        assert record.result == RESULTS[game.headers["Result"]]
        assert record.rules == ("chess960" if "Variant" in game.headers and board.chess960 else "")
        assert (record.first, record.second) == (game.headers["White"], game.headers["Black"])


WORDS: Final = [
    "good",
    "Zugzwang!",
    "(see 12.Nf3)",
    "$5",
    "1-0",
    "[x]",
    "ein Fehler",
    "%",
    "名手",
    "*",
]


def comment(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(4)))


def decorate(node: chess.pgn.ChildNode, rng: random.Random) -> None:
    if rng.random() < 0.3:
        node.comment = comment(rng)
    if rng.random() < 0.3:
        cp, mate = (
            chess.engine.Cp(rng.randrange(-2000, 2000)),
            chess.engine.Mate(rng.choice([-4, 1, 9])),
        )
        score = chess.engine.PovScore(rng.choice([cp, cp, mate]), chess.WHITE)
        node.set_eval(score, rng.choice([None, rng.randrange(1, 60)]))
    if rng.random() < 0.2:
        node.set_clock(rng.choice([0, 59.9, 3600, rng.random() * 1e4]))
    if rng.random() < 0.1:
        node.set_emt(rng.randrange(600))
    node.nags.update(rng.sample(range(1, 140), rng.choice([0, 0, 0, 1, 3])))


def grow(node: chess.pgn.GameNode, rng: random.Random, plies: int, depth: int) -> None:
    """Random moves from a node on, with variations in variations."""
    for _ in range(plies):
        moves = list(node.board().legal_moves)
        if not moves:
            return
        child = node.add_variation(
            rng.choice(moves), starting_comment=comment(rng) if depth else ""
        )
        decorate(child, rng)
        if depth < 3 and rng.random() < 0.1:
            grow(node, rng, rng.randrange(1, 6), depth + 1)
        node = child


def random_pgn_game(rng: random.Random) -> chess.pgn.Game:
    game = chess.pgn.Game()
    kind = rng.randrange(4)
    if kind == 1:
        game.setup(chess.Board.from_chess960_pos(rng.randrange(960)))
    if kind == 2:
        board = chess.Board()
        for _ in range(rng.randrange(1, 60)):
            if not board.is_game_over():
                board.push(rng.choice(list(board.legal_moves)))
        game.setup(chess.Board(board.fen()))
    names = ['A "quoted" name', "back\\slash", "[brackets]", "{braces}", "; %", "Müller", "王", ""]
    for tag in ("Event", "Site", "White", "Black", "WhiteElo", "TimeControl"):
        if rng.random() < 0.7:
            game.headers[tag] = rng.choice(names)
    game.headers["Result"] = rng.choice([*RESULTS])
    grow(game, rng, rng.randrange(60), 0)
    return game


def test_games_that_python_chess_writes_agree() -> None:
    rng = random.Random(11)
    games = [random_pgn_game(rng) for _ in range(1_000 if ALL else 80)]
    variations = 0
    text = ""
    for game in games:
        exporter = chess.pgn.StringExporter(columns=rng.choice([None, 20, 80]), headers=True)
        written = game.accept(exporter)
        variations += written.count("(")
        if game.variations and rng.random() < 0.2:  # the terminator is missing
            written = written.removesuffix(game.headers["Result"])
        text += written + rng.choice(["\n\n", "\n", "\n\n\n", "\n% escaped\n"])
    assert variations > 100
    for ends in (text, text.replace("\n", "\r\n")):
        records = hk.parse_records(ends, format="pgn")
        assert len(records) == len(games)
        for record, game in zip(records, games, strict=True):
            again = read_pgn(game.accept(chess.pgn.StringExporter(columns=None)))
            assert_same_chess(record, again)


def without_words(record: hk.Record) -> hk.Record:
    """What we write by ourselves, and not in the record's own words, which may be any program's."""
    return replace(record, tags={}, remarks=tuple(replace(r, text="") for r in record.remarks))


def test_python_chess_reads_the_words_we_write(shared_data: SharedData) -> None:
    for record in records_of(shared_data("chess/raw_samples.zip")):
        game = read_pgn(record_text(record, "pgn"))
        assert dict(game.headers) == {"Result": "*"} | dict(record.tags)
        texts = {each.ply: each.text.strip() for each in record.remarks}
        for ply, node in enumerate(game.mainline(), 1):
            assert node.comment.strip() == texts.get(ply, "").replace("\f", " ")


def test_python_chess_reads_what_we_write(shared_data: SharedData) -> None:
    path = shared_data("chess/tcec_eval.pgn.xz")
    texts = sample(pgn_games(text_of(path, real_records.PGN, whole=ALL)), 20)
    records = hk.parse_records("".join(texts)) + records_of(shared_data("chess/raw_samples.zip"))
    for record in map(without_words, records):
        game = read_pgn(record_text(record, "pgn", engine_comments=False))
        assert game.errors == []
        board = game.board()
        moves = []
        remarks = {remark.ply: remark for remark in record.remarks}
        for ply, node in enumerate(game.mainline(), 1):
            moves.append(uci_of(board, node.move))
            board.push(node.move)
            remark = remarks.get(ply, Remark(ply))
            score, mate, _ = evaluation(node)
            assert (score, mate) == (remark.score, remark.mate)
        assert moves == record.move_texts()
        assert RESULTS[game.headers["Result"]] == record.result


# Go


def utf8_if_it_is(text: str) -> str:
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def assert_same_go(record: hk.Record, game: sgf.Sgf_game) -> None:
    size = game.get_size()
    assert record.game == f"go{size}"
    board, plays = sgf_moves.get_setup_and_moves(game)
    stones = np.zeros((size, size), np.int8)
    for color, (row, column) in board.list_occupied_points():
        stones[size - 1 - row, column] = 1 if color == "b" else -1
    start = record.position(0)
    assert (np.sign(start.cells) == stones).all()
    expected = []
    to_play = "b" if start.to_play == hk.Player.first else "w"
    for color, move in plays:
        if color != to_play:
            expected.append(size * size)
        expected.append(size * size if move is None else (size - 1 - move[0]) * size + move[1])
        to_play = "w" if color == "b" else "b"
    assert record.moves.tolist() == expected
    root = game.get_root()
    for name, fields in (
        *(("PB", "first"), ("PW", "second"), ("BR", "first_rating"), ("WR", "second_rating")),
        *(("EV", "event"), ("RO", "round"), ("PC", "place"), ("RU", "rules")),
    ):
        value = root.get(name) if root.has_property(name) else ""
        if not root.has_property("CA"):  # sgfmill takes it for Latin-1, we look first
            value = utf8_if_it_is(value)
        assert getattr(record, fields) == said(value), name
    result = root.get("RE") if root.has_property("RE") else ""
    if result[1:2] == "+":  # sgfmill sees a winner in `Both lost`, too
        assert record.result == (1 if game.get_winner() == "b" else 0)
    elif result in ("0", "Draw", "Jigo"):
        assert record.result == 0.5
    else:
        assert record.result is None
    try:
        komi = game.get_komi() if root.has_property("KM") else None
    except ValueError:
        komi = None
    stones_for_points = komi is not None and (4 * komi) % 2 == 1  # 3.75 stones are 7.5 points
    assert record.komi == (2 * komi if komi is not None and stones_for_points else komi)
    if root.has_property("HA"):
        assert record.handicap == game.get_handicap()


def sgf_lines(path: Path) -> list[str]:
    return [line for line in text_of(path, real_records.SGF, whole=ALL).split("\n") if line]


GO_FILES: Final = (
    "go19/pro_aeb.sgf.xz",
    "go19/kgs_highdan.sgf.xz",
    "go9/ogs9_human.sgf.xz",
    "go9/ogs9_bot.sgf.xz",
    "go9/ogs9_katabot_eval.sgf.xz",
    "go9/pro_aeb_9x9.sgf.xz",
)


@pytest.mark.parametrize("name", GO_FILES)
def test_real_go_agrees_with_sgfmill(name: str, shared_data: SharedData) -> None:
    lines = sample(sgf_lines(shared_data(name)), 80)
    records = hk.parse_records("\n".join(lines))
    for record, line in zip(records, lines, strict=True):
        assert_same_go(record, sgf.Sgf_game.from_bytes(line.encode()))


def test_raw_go_agrees_with_sgfmill(shared_data: SharedData) -> None:
    """Files as they were found: comments, line breaks, one parenthesis a move."""
    path = shared_data("go19/raw_samples.zip")
    records = {record.source.partition("!")[2]: record for record in hk.read_records(path)}
    with zipfile.ZipFile(path) as archive:
        good = [name for name in records if not name.startswith("illegal/")]
        assert len(good) == 362 + 117
        for name in sample(good, 160):
            assert_same_go(records[name], sgf.Sgf_game.from_bytes(archive.read(name)))


# Legal as soon as who moves twice running has seen the other pass.
ONLY_IF_COLORS_ARE_IGNORED: Final = {"CJSG-06-02", "CJSG-06-04", "Tak-0580"}


def test_illegal_go_games_are_refused_where_the_manifest_says(shared_data: SharedData) -> None:
    path = shared_data("go19/raw_samples.zip")
    stream = hk.read_records(path)
    accepted = {record.source for record in stream}
    refused = {each.source.partition("!")[2]: each for each in stream.refused}
    with zipfile.ZipFile(path) as archive:
        manifest = archive.read("illegal/MANIFEST.tsv").decode().splitlines()[1:]
    assert len(manifest) == 52
    for row in manifest:
        name, _, reason = row.partition("\t")
        if any(part in name for part in ONLY_IF_COLORS_ARE_IGNORED):
            assert f"{path}!{name}" in accepted
            continue
        rule, _, move = reason.partition("@")
        each = refused.pop(name)
        assert (each.fault, each.ply, each.number) == ("illegal move", int(move) - 1, 1), rule
    assert refused == {}


# Without characters whose second byte is a backslash or a bracket: sgfmill escapes half of them.
ENCODINGS: Final = {
    "UTF-8": ["Müller", "本因坊秀策", "이창호", "x"],
    "ISO-8859-1": ["Müller", "Señor"],
    "GB2312": ["聂卫平", "马晓春"],
    "Big5": ["王立誠", "林海峰"],
    "Shift_JIS": ["武宮正樹", "趙治勲"],
    "EUC-KR": ["이창호", "조훈현"],
    "windows-1251": ["Шикшин"],
}


def random_sgf_game(rng: random.Random) -> sgf.Sgf_game:
    encoding = rng.choice([*ENCODINGS])
    names = [*ENCODINGS[encoding], "a]b", "c\\", "d:e", "(x", ";)", "two\nlines"]
    game = sgf.Sgf_game(rng.choice([9, 13, 19]), encoding=encoding)
    size = game.get_size()
    root = game.get_root()
    for name in ("PB", "PW", "BR", "WR", "EV", "RO", "PC", "RU", "GC"):
        if rng.random() < 0.6:
            root.set(name, rng.choice(names))
    if rng.random() < 0.8:
        root.set("KM", rng.choice([0, 0.5, 6.5, 7.5, 3.75, -2.5]))
    root.set("RE", rng.choice(["B+R", "W+T", "0", "B+3.5", "W+0.5", "?", "Void", "B+F"]))
    points = [(row, column) for row in range(size) for column in range(size)]
    if rng.random() < 0.4:
        stones = rng.sample(points, 5)
        root.set_setup_stones(stones[:3], stones[3:])
        if rng.random() < 0.5:
            root.set("PL", rng.choice("bw"))
    taken = {point for _, point in sgf_moves.get_setup_and_moves(game)[0].list_occupied_points()}
    # Scattered moves on a chessboard pattern capture nothing, so that every one is legal.
    free = [point for point in points if sum(point) % 2 and point not in taken]
    color = rng.choice("bw")
    for point in rng.sample(free, rng.randrange(len(free))):
        parent = game.get_last_node()
        if rng.random() < 0.1:
            aside = parent.new_child()
            aside.set_move(color, rng.choice(points))
            aside.new_child().set("C", rng.choice(names))
        node = parent.new_child(0)
        node.set_move(color, None if rng.random() < 0.03 else point)
        if rng.random() < 0.2:
            node.set("C", rng.choice(names))
        if rng.random() < 0.1:
            node.set("TR", rng.sample(points, 3))
        if rng.random() < 0.95:
            color = "w" if color == "b" else "b"
    return game


def test_games_that_sgfmill_writes_agree() -> None:
    rng = random.Random(12)
    games = [random_sgf_game(rng) for _ in range(1_000 if ALL else 150)]
    data = b""
    variations = 0
    for game in games:
        written = game.serialise(wrap=rng.choice([None, 40, 79]))
        variations += written.count(b"(") - 1
        data += written + rng.choice([b"", b"\n", b"\r\n\r\n", b"\ntext\n"])
    assert variations > 20
    records = hk.parse_records(data)
    assert len(records) == len(games)
    for record, game in zip(records, games, strict=True):
        assert_same_go(record, sgf.Sgf_game.from_bytes(game.serialise()))


def test_sgfmill_reads_what_we_write(shared_data: SharedData) -> None:
    for name in GO_FILES:
        for record in hk.parse_records("\n".join(sample(sgf_lines(shared_data(name)), 40))):
            assert_same_go(record, sgf.Sgf_game.from_string(record_text(record, "sgf")))


# Shogi


WON_BY_MOVER: Final = ("%KACHI",)
LOST_BY_MOVER: Final = ("%TORYO", "%TIME_UP", "%ILLEGAL_MOVE")
DRAWN: Final = ("%SENNICHITE", "%JISHOGI")


def csa_games(path: Path) -> list[str]:
    text = text_of(path, real_records.CSA, whole=ALL)
    return [text for text in text.split("/\n") if text.strip()]


def assert_same_shogi(record: hk.Record, game: Any) -> None:
    assert record.game == "shogi"
    assert hk.Shogi.from_text(game.sfen) == record.position(0)
    assert record.move_texts() == [cshogi.move_to_usi(move) for move in game.moves]
    assert [record.first, record.second] == [said(name, "?") for name in game.names]
    assert record.event == said(game.var_info.get("EVENT", ""), "?")
    remarks = {remark.ply: remark for remark in record.remarks}
    for ply, (spent, score, words) in enumerate(
        zip(game.times, game.scores, game.comments, strict=False), 1
    ):
        remark = remarks.get(ply, Remark(ply))
        assert (remark.spent_s or 0) == spent
        if words:
            assert remark.score == score
        else:
            assert remark.score is None
    if game.endgame in (*WON_BY_MOVER, *LOST_BY_MOVER):
        assert record.result == (1 if game.win == cshogi.BLACK_WIN else 0)
    elif game.endgame in DRAWN:
        assert record.result == 0.5


@pytest.mark.parametrize(
    "name", ["floodgate2016.csa.xz", "pro_title.csa.xz", "pro_psn.csa.xz", "wcsc28.csa.xz"]
)
def test_real_shogi_agrees_with_cshogi(name: str, shared_data: SharedData) -> None:
    path = shared_data(f"shogi/{name}")
    texts = sample(csa_games(path), 150)
    records = hk.parse_records("/\n".join(texts))
    for record, text in zip(records, texts, strict=True):
        (game,) = CSA.Parser.parse_str(text)
        assert_same_shogi(record, game)
        for color, rating in (("black", record.first_rating), ("white", record.second_rating)):
            found = re.search(rf"^'{color}_rate:(.*)$", text, re.MULTILINE)
            assert rating == (found[1] if found else "")


def test_games_that_cshogi_writes_agree(tmp_path: Path) -> None:
    rng = random.Random(13)
    path = tmp_path / "games.csa"
    exporter = CSA.Exporter(str(path), encoding="utf-8")
    for _ in range(1_000 if ALL else 150):
        board = cshogi.Board()
        for _ in range(rng.choice([0, 0, 40])):
            board.push(rng.choice(list(board.legal_moves)))
        exporter.info(
            cshogi.Board(board.sfen()),
            names=rng.choice([["先手", "B, C"], ["x" * 40, "'"], ["", ""]]),
            var_info={"EVENT": rng.choice(["棋戦", "a:b", "%TORYO"])},
            comment=rng.choice([None, "a comment: black_rate"]),
            version=rng.choice(["V2.2", "V2"]),
        )
        for _ in range(rng.randrange(60)):
            moves = list(board.legal_moves)
            if not moves:
                break
            move = rng.choice(moves)
            words = rng.choice([None, None, "** 35", "** -1204 -3334FU +7776FU", "plain"])
            exporter.move(move, rng.choice([None, 0, 12]), words)
            board.push(move)
        exporter.endgame(rng.choice([*LOST_BY_MOVER, *WON_BY_MOVER, *DRAWN, "%CHUDAN"]))
    exporter.close()
    text = path.read_text(encoding="utf-8")
    games = CSA.Parser.parse_str(text)
    for data in (text, text.replace("\n", "\r\n")):
        records = hk.parse_records(data)
        assert len(records) == len(games)
        for record, game in zip(records, games, strict=True):
            assert_same_shogi(record, game)


def test_cshogi_reads_what_we_write(shared_data: SharedData) -> None:
    texts = [
        text
        for name in ("floodgate2016", "wcsc28")
        for text in sample(csa_games(shared_data(f"shogi/{name}.csa.xz")), 30)
    ]
    records = hk.parse_records("/\n".join(texts))
    records += hk.parse_records(
        "V2.2\nPI82HI22KA\n-\n-5142OU\n+7776FU\n%TORYO\n/\nP-11OU\nP+33TO00KI\nP-00AL\n+\n+0022KI\n%TSUMI\n"
    )
    for record in records:
        (game,) = CSA.Parser.parse_str(record_text(record, "csa"))
        assert_same_shogi(record, game)


def test_lines_of_openings_are_their_own_words(shared_data: SharedData) -> None:
    for name, count, plies in (("floodgate_openings", 10_831, 24), ("taya36", 1_957, 36)):
        path = shared_data(f"shogi/{name}.sfen.gz")
        records = records_of(path)
        with gzip.open(path, "rt") as file:
            lines = file.read().splitlines()
        assert len(records) == len(lines) == count
        for record, line in zip(records, lines, strict=True):
            assert len(record) == plies
            assert record_text(record, "lines").split() == line.split()


# Othello: no library reads WTHOR, so a page of Python does


def test_wthor_agrees_with_a_plain_reading(shared_data: SharedData) -> None:
    path = shared_data("othello/wthor_1977-2020.zip")
    records = iter(hk.read_records(path))
    unfinished = total = 0
    with zipfile.ZipFile(path) as archive:
        players, tournaments = (
            next(archive.read(name) for name in archive.namelist() if name.upper().endswith(suffix))
            for suffix in (".JOU", ".TRN")
        )

        def entry(table: bytes, size: int, number: int) -> str:
            text = table[16 + size * number : 16 + size * (number + 1)]
            return said(text.partition(b"\0")[0].decode("latin-1"))

        for name in sorted(archive.namelist()):
            if not name.lower().endswith(".wtb"):
                continue
            data = archive.read(name)
            year = int.from_bytes(data[10:12], "little")
            for at in range(16, len(data), 68):
                game = data[at : at + 68]
                record = next(records)
                total += 1
                unfinished += record.ending == "unfinished"
                if not ALL and total % 50:
                    continue
                event, black, white = (int.from_bytes(game[i : i + 2], "little") for i in (0, 2, 4))
                squares = "".join(
                    f"{'abcdefgh'[code % 10 - 1]}{code // 10}" for code in game[8:] if code
                )
                assert "".join(move for move in record.move_texts() if move != "pass") == squares
                assert (record.first, record.second, record.event, record.date) == (
                    entry(players, 20, black),
                    entry(players, 20, white),
                    entry(tournaments, 26, event),
                    str(year),
                )
                assert record.margin == 2 * game[6] - 64
                if record.ending == "normal":
                    assert record.margin == record.position().score
    assert next(records, None) is None
    assert total == 105_453
    assert 0 < unfinished <= 433


# Counts of the data's README


@dataclass
class Tally:
    """What is counted in a file without looking at single games."""

    games: int = 0
    plies: int = 0
    results: Counter[int] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    with_komi: int = 0
    with_first_rating: int = 0
    with_both_ratings: int = 0
    handicaps: int = 0
    set_ups: int = 0
    scores: int = 0
    values: int = 0

    def add(self, batch: Batch) -> None:
        table = batch.table
        assert batch.refused == []
        self.games += len(table)
        self.plies += len(table.moves)
        self.results += Counter(table.winner.tolist())
        self.endings += Counter(table.ending_names[code] for code in table.ending.tolist())
        self.with_komi += int((~np.isnan(table.komi)).sum())
        ratings = [*zip(table.text("first_rating"), table.text("second_rating"), strict=True)]
        self.with_first_rating += sum(bool(first) for first, _ in ratings)
        self.with_both_ratings += sum(bool(first and second) for first, second in ratings)
        self.handicaps += int((table.handicap > 0).sum())
        self.set_ups += sum("X" in start.upper() for start in table.text("start"))
        self.scores += int((~np.isnan(table.remark_score) | (table.remark_mate != 0)).sum())
        self.values += int((~np.isnan(table.remark_value)).sum())


def tally(path: Path) -> Tally:
    found = Tally()
    for batch in batches([path]):
        found.add(batch)
    return found


FIRST, DRAW, SECOND, UNKNOWN = 1, 0, -1, 2


@pytest.mark.parametrize(
    ("name", "games"),
    [
        ("go19/pro_aeb.sgf.xz", 57_119),
        ("go19/kgs_highdan.sgf.xz", 11_538),
        ("go9/ogs9_human.sgf.xz", 42_717),
        ("go9/ogs9_bot.sgf.xz", 9_510),
        ("go9/ogs9_katabot_eval.sgf.xz", 1_812),
        ("go9/pro_aeb_9x9.sgf.xz", 444),
        ("shogi/floodgate2016.csa.xz", 25_333),
        ("shogi/pro_title.csa.xz", 306),
        ("shogi/pro_psn.csa.xz", 131),
        ("shogi/wcsc28.csa.xz", 215),
        ("chess/tcec_eval.pgn.xz", 11_820),
        ("chess/twic_human.pgn.xz", 50_378),
        ("othello/wthor_1977-2020.zip", 105_453),
        ("blokus_duo/mcts_selfplay.blksgf.gz", 942),
        ("blokus_duo/book_duo.blksgf", 1),
    ],
)
def test_every_file_holds_as_many_games_as_its_readme_says(
    name: str, games: int, shared_data: SharedData
) -> None:
    found = tally(shared_data(name))
    assert found.games == games
    results = found.results
    decided = results[FIRST] + results[SECOND]
    match name:
        case "go19/pro_aeb.sgf.xz":
            assert round(found.plies / 1e6, 2) == 11.96
            assert (decided, results[DRAW], results[UNKNOWN]) == (56_517, 332, 270)
            assert found.with_komi == 54_299
            assert found.with_first_rating == 53_261
            assert found.set_ups == 1_099
        case "go19/kgs_highdan.sgf.xz":
            assert found.with_komi == found.with_both_ratings == games
            assert found.handicaps == 4_301
            assert results[UNKNOWN] == 0
        case "go9/ogs9_human.sgf.xz" | "go9/ogs9_bot.sgf.xz":
            assert found.with_komi == found.with_both_ratings == games
            assert results[UNKNOWN] == 0
            if "human" in name:
                assert found.endings["time"] / games == pytest.approx(0.08, abs=0.005)
        case "go9/ogs9_katabot_eval.sgf.xz":
            assert found.values == pytest.approx(41_000, abs=500)
        case "shogi/floodgate2016.csa.xz":
            assert round(found.plies / 1e6, 2) == 3.51
            assert round(found.scores / 1e6, 2) == 3.36
            assert found.endings == {"resigned": games}
            assert found.with_both_ratings == games
        case "shogi/pro_psn.csa.xz":
            assert games - results[UNKNOWN] == 79
        case "chess/tcec_eval.pgn.xz":
            assert round(found.scores / 1e6, 2) == 1.51
            assert results[DRAW] / games == pytest.approx(0.55, abs=0.01)
        case "chess/twic_human.pgn.xz":
            assert results == {FIRST: 19_478, DRAW: 15_954, SECOND: 14_946}
            assert found.with_both_ratings == games
        case "blokus_duo/mcts_selfplay.blksgf.gz":
            assert results[SECOND] / games == pytest.approx(0.69, abs=0.02)


# Whose view: late, large values must agree with the result


ENOUGH: Final = 20_000


def late_values(
    path: Path, what: str, *, plies: int = 10
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Values of decided games' last plies and the winners (1 the first player, -1 the second)."""
    for batch in batches([path]):
        table = batch.table
        column = getattr(table, f"remark_{what}")
        game = np.repeat(np.arange(len(table)), np.diff(table.remark_offsets))
        left = np.diff(table.move_offsets)[game] - table.remark_ply
        winner = table.winner[game]
        chosen = (left < plies) & ~np.isnan(column) & (abs(winner) == 1)
        yield column[chosen], winner[chosen]


def agreement(path: Path, what: str, middle: float, large: float, **more: int) -> tuple[float, int]:
    """How often values beyond `middle` ± `large` favor who won, and how many there are."""
    right = count = 0
    for values, winners in late_values(path, what, **more):
        far = abs(values - middle) > large
        right += int((np.sign(values[far] - middle) == winners[far]).sum())
        count += int(far.sum())
        if count > ENOUGH and not ALL:
            break
    return right / max(1, count), count


def test_floodgate_scores_are_blacks_view(shared_data: SharedData) -> None:
    right, count = agreement(shared_data("shogi/floodgate2016.csa.xz"), "score", 0, 800)
    assert count > ENOUGH
    assert right > 0.985


def test_tcec_scores_are_whites_view(shared_data: SharedData) -> None:
    right, count = agreement(shared_data("chess/tcec_eval.pgn.xz"), "score", 0, 300)
    assert count > ENOUGH
    assert right > 0.99


def test_katagos_values_are_blacks_view(shared_data: SharedData) -> None:
    path = shared_data("go9/ogs9_katabot_eval.sgf.xz")
    right, count = agreement(path, "value", 0.5, 0.45)
    assert count > 4_000
    assert right > 0.97
    right, count = agreement(path, "score", 0, 10)
    assert count > 2_000
    assert right > 0.97


def test_every_dialect_of_tcec_is_whites_view(shared_data: SharedData, tmp_path: Path) -> None:
    """`ev=` is White's view where it stands alone, the mover's where `wv=` is there too."""
    with zipfile.ZipFile(shared_data("chess/raw_samples.zip")) as archive:
        for name in archive.namelist():
            path = tmp_path / name
            path.write_bytes(archive.read(name))
            records = records_of(path)
            kept = total = 0
            for record in records:
                scores = [remark.score for remark in record.remarks if remark.score is not None]
                pairs = [pair for pair in pairwise(scores) if min(map(abs, pair)) > 60]
                kept += sum((a > 0) == (b > 0) for a, b in pairs)
                total += len(pairs)
            # A sign that is wrong for one side changes with every move.
            assert total == 0 or kept / total > 0.9, (name, kept, total)
            right, count = agreement(path, "score", 0, 150, plies=20)
            assert right > 0.95 or count == 0, (name, right, count)
            assert any(remark.score for record in records for remark in record.remarks), name
