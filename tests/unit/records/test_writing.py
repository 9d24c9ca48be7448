# SPDX-License-Identifier: Apache-2.0
"""What the writers write; that it reads back the same is a law, see tests/laws."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import hyoka as hk
from hyoka.games import game_type
from hyoka.records import WRITERS, Remark, record_text


def record_of(game: str, *moves: str, **fields: Any) -> hk.Record:
    """A record of moves from the game's usual start."""
    at = game_type(game)()
    codes = []
    for move in moves:
        codes.append(at.parse(move).code)
        at = at.play(move)
    return hk.Record(game=game, moves=np.array(codes, np.uint16), **fields)


GO: Final = record_of("go9", "E5", "G7", "pass", first="A", komi=5.5, result=1.0, ending="resigned")
CHESS: Final = record_of("chess", "e4", "e5", "Nf3", "Nc6", "Bb5", first="A", second="B")
SHOGI: Final = record_of("shogi", "7g7f", "3c3d", "8h2b+", "3a2b", "B*5e", first="A")
OTHELLO: Final = record_of("othello", "f5", "d6", "c3")
BLOKUS: Final = record_of("blokus_duo", "e10,f10,f9,g9,g8", "h7,i7,i6,j6,j5")
ALL: Final = {
    "sgf": [GO, OTHELLO, BLOKUS],
    "pgn": [CHESS],
    "csa": [SHOGI],
    "kif": [SHOGI],
    "lines": [CHESS, SHOGI, OTHELLO, BLOKUS],
}


def test_sgf_is_as_the_standard_has_it() -> None:
    remark = Remark(2, value=0.25, score=-3.5, clock_s=61.5)
    text = record_text(replace(GO, remarks=(remark,), event=r"a]b\c"), "sgf")
    assert text == (
        r"(;GM[1]FF[4]CA[UTF-8]SZ[9]PB[A]EV[a\]b\\c]KM[5.5]RE[B+R]"
        "\n;B[ee];W[gc]"
        r"C[[%value 0.25\] [%score -3.5\] [%clk 0:01:01.5\]]"
        ";B[])\n"
    )


def test_set_up_stones_are_written_as_such() -> None:
    (record,) = hk.parse_records("(;GM[1]SZ[9]HA[2]AB[cc][gg];W[ee])")
    assert "HA[2]" in record_text(record, "sgf")
    assert "AB[cc][gg]" in record_text(record, "sgf")
    assert "AB[cc][gg]PL[W]" in record_text(replace(record, tags={}), "sgf")


def test_pgn_is_as_the_standard_has_it() -> None:
    record = replace(
        CHESS,
        event='the "x"',
        date="1998-10",
        result=0.5,
        ending="adjudicated",
        remarks=(Remark(2, score=35.0, depth=20), Remark(5, mate=-3)),
    )
    assert record_text(record, "pgn") == (
        '[Event "the \\"x\\""]\n[Site "?"]\n[Date "1998.10.??"]\n[Round "?"]\n[White "A"]\n'
        '[Black "B"]\n[Result "1/2-1/2"]\n[Termination "adjudication"]\n\n'
        "1. e4 e5 {[%eval 0.35,20]} 2. Nf3 Nc6 3. Bb5 {[%eval #-3]} 1/2-1/2\n\n"
    )


def test_lines_of_pgn_stay_short() -> None:
    record = record_of("chess", *(["Nf3", "Nf6", "Ng1", "Ng8"] * 24))
    text = record_text(record, "pgn")
    assert max(map(len, text.splitlines())) <= 255  # the standard's limit for reading
    assert hk.parse_records(text) == [replace(record, ending="unfinished")]


def test_a_start_with_black_to_play_is_numbered_as_such() -> None:
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
    (record,) = hk.parse_records(f'[SetUp "1"]\n[FEN "{fen}"]\n\n2... Nc6 3. Bb5 a6 *\n')
    text = record_text(record, "pgn")
    assert f'[SetUp "1"]\n[FEN "{fen}"]\n\n2... Nc6 3. Bb5 a6 *\n\n' in text


def test_csa_is_as_the_standard_has_it() -> None:
    record = replace(
        SHOGI,
        date="2016-01-02",
        result=1.0,
        ending="resigned",
        remarks=(Remark(1, score=35.0, spent_s=12.0, author="first"),),
    )
    assert record_text(record, "csa") == (
        "V2.2\nN+A\n$START_TIME:2016/01/02\nPI\n+\n+7776FU\nT12\n'** 35\n-3334FU\n+8822UM\n"
        "-3122GI\n+0055KA\n%TORYO\n"
    )


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (CHESS, "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5\n"),
        (SHOGI, "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e\n"),
        (OTHELLO, "f5d6c3\n"),
        (BLOKUS, "66r0 99r0\n"),
    ],
)
def test_lines_are_what_engines_and_tables_use(record: hk.Record, line: str) -> None:
    assert record_text(record, "lines") == line


@pytest.mark.parametrize("format", WRITERS)
def test_what_a_format_has_no_board_for_is_an_error(format: str) -> None:
    for record in (GO, CHESS, SHOGI, OTHELLO, BLOKUS):
        if record in ALL[format]:
            assert record_text(record, format)
        else:
            with pytest.raises(hk.errors.NotationError, match=f"not written for {record.game}"):
                record_text(record, format)


def test_an_unknown_writer_is_an_error() -> None:
    with pytest.raises(hk.errors.NotationError, match="no writer for 'xyz'"):
        record_text(GO, "xyz")


@pytest.mark.parametrize("format", ["sgf", "pgn", "csa", "kif"])
@pytest.mark.parametrize(
    "name", ["two\nlines", "x\r\n%TORYO", 'x"]\n[Result "0-1', "a\0b", "x\n/\n"]
)
def test_control_characters_are_written_as_blanks(format: str, name: str) -> None:
    """A record that a program made may hold anything; it must not become other lines."""
    record = replace(ALL[format][0], event=name, result=1.0, ending="resigned")
    text = record_text(record, format)
    (read,) = hk.parse_records(text, format={"kif": "kifu"}.get(format, format))
    assert (read.result, read.moves.tolist()) == (1.0, record.moves.tolist())
    plain = "".join(" " if ord(letter) < 32 else letter for letter in name)
    assert " ".join(read.event.split()) == " ".join(plain.split())


def test_small_numbers_come_back_exactly() -> None:
    for number in (1e-7, 5.9604645e-08, 1 / 3, 2e-9):
        value = float(np.float32(number))
        record = replace(GO, remarks=(Remark(1, value=value, score=value),))
        assert hk.parse_records(record_text(record, "sgf")) == [record]


def test_small_komi_does_not_grow() -> None:
    record = replace(GO, komi=1e-7)
    (read,) = hk.parse_records(record_text(record, "sgf"))
    assert read.komi == pytest.approx(1e-7)


# Files


@pytest.mark.parametrize("format", WRITERS)
def test_a_file_of_records_reads_back(format: str, tmp_path: Path) -> None:
    suffix = {"lines": "usi"}.get(format, format)
    path = tmp_path / f"games.{suffix}"
    records = 3 * ALL[format]
    assert hk.write_records(records, path) == len(records)
    read = list(hk.read_records(path))
    assert [each.moves.tolist() for each in read] == [each.moves.tolist() for each in records]
    assert [each.number for each in read] == [*range(1, len(records) + 1)]


def test_the_format_may_be_given(tmp_path: Path) -> None:
    path = tmp_path / "games"
    assert hk.write_records([CHESS], path, format="lines") == 1
    assert path.read_text() == record_text(CHESS, "lines")


@pytest.mark.parametrize("name", ["games", "games.doc", "games.sgf.gz"])
def test_a_name_that_tells_no_format_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(hk.errors.NotationError, match=name):
        hk.write_records([GO], tmp_path / name)


def test_no_records_are_an_empty_file(tmp_path: Path) -> None:
    assert hk.write_records([], tmp_path / "none.sgf") == 0
    assert (tmp_path / "none.sgf").read_bytes() == b""


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    hk.write_records([GO], path)
    before = path.read_bytes()

    def failing() -> Iterator[hk.Record]:
        yield OTHELLO
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        hk.write_records(failing(), path)
    with pytest.raises(hk.errors.NotationError):
        hk.write_records([OTHELLO, CHESS], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["games.sgf"]


def test_an_illegal_record_is_an_error_not_a_crash() -> None:
    for game, format in (("chess", "pgn"), ("shogi", "csa"), ("go9", "sgf"), ("othello", "sgf")):
        bad = hk.Record(game=game, moves=np.array([0, 0, 65535], np.uint16))
        with pytest.raises((hk.errors.IllegalMoveError, hk.errors.NotationError)):
            record_text(bad, format)
        with pytest.raises((hk.errors.IllegalMoveError, hk.errors.NotationError)):
            record_text(hk.Record(game=game, moves=bad.moves[:0], start="x y z"), format)


# What KIF says of players, handicaps and ends


@pytest.mark.parametrize("handicap", ["lance", "rook-lance", "two-piece", "ten-piece"])
def test_handicaps_are_named_in_kif(handicap: str) -> None:
    start = hk.Shogi(handicap=handicap)
    pieces = 38 + 2 - int((start.cells != 0).sum())
    record = replace(SHOGI, moves=SHOGI.moves[:0], start=start.text, handicap=pieces)
    text = record_text(replace(record, ending="unfinished"), "kif")
    assert "落ち" in text
    (again,) = hk.parse_records(text, format="kifu")
    assert (again.start, again.handicap) == (start.text, pieces)


@pytest.mark.parametrize("rating", ["", "四段", "2805", "2990.5 (floodgate)"])
@pytest.mark.parametrize("name", ["A", "B 2805"])
def test_ratings_in_kif_do_not_become_names(name: str, rating: str) -> None:
    record = replace(SHOGI, first=name, first_rating=rating)
    (again,) = hk.parse_records(record_text(record, "kif"), format="kifu")
    assert (again.first, again.first_rating) == (name, rating)


def test_kif_does_not_call_a_win_foul_that_was_none() -> None:
    """After five moves White is to play; by what White has won, no word of KIF says."""
    record = replace(SHOGI, result=0.0, ending="adjudicated")
    assert len(record) % 2
    text = record_text(record, "kif")
    assert text.endswith("まで5手で後手の勝ち\n")
    (again,) = hk.parse_records(text, format="kifu")
    assert (again.result, again.ending) == (0, "unknown")


# What a round trip keeps and loses: docs/reference/records.md says so, notation by notation


def test_what_pgn_keeps() -> None:
    (record,) = hk.parse_records(
        '[White "W"]\n[WhiteTitle "GM"]\n[Annotator "me"]\n[ECO "C20"]\n[Result "1-0"]\n'
        '[Termination "White wins, time forfeit"]\n\n'
        "{first} 1. e4! {words [%csl Gd4] [%eval 0.3]} e5 $2 (1... c5) 2. Nf3 -- 1-0\n"
    )
    assert record_text(record, "pgn") == (
        '[White "W"]\n[WhiteTitle "GM"]\n[Annotator "me"]\n[ECO "C20"]\n[Result "1-0"]\n'
        '[Termination "White wins, time forfeit"]\n\n'
        "{first} 1. e4 $1 {words [%csl Gd4] [%eval 0.3]} 1... e5 $2 2. Nf3 1-0\n\n"
    )


def test_what_sgf_keeps() -> None:
    root = (
        r"GM[1]SZ[9]AP[X:1\:2]GN[a \] b]AN[me]SO[from]BT[team]GC[about\\]TM[600]OT[5x30]KM[3.75]"
        "DT[2016-01-02,03]XYZ[private][values]C[root]"
    )
    node = r"BL[500]WL[300]TR[aa][bb]LB[cc:\:\]]N[name]C[words [%value 0.4\]]"
    (record,) = hk.parse_records(f"(;{root};B[ee]{node}(;W[gc])(;W[cc]))")
    assert record.tags["GN"] == "a ] b"
    assert record.tags["XYZ"] == "private\fvalues"
    assert record.time_control == "600 5x30"
    assert record_text(record, "sgf") == f"(;{root}\n;B[ee]{node};W[gc])\n"


def test_what_csa_keeps_and_kif_loses() -> None:
    text = (
        "V2.2\nN+A\n$START_TIME:2003/05/03 10:30:00\n'black_rate:x+y:2805.0\n'A game\nPI\n+\n"
        "+7776FU\nT12\n'** 35 -3334FU\n'words\n-3334FU\n%JISHOGI\n"
        "$END_TIME:2003/05/03 12:30:00\n'summary:z\n"
    )
    (record,) = hk.parse_records(text)
    assert record.tags["%"] == "JISHOGI"
    assert record_text(record, "csa") == text
    in_kif = record_text(record, "kif")
    assert "千日手" in in_kif
    assert "summary" not in in_kif
    assert hk.parse_records(in_kif) == [record]


def test_what_kif_keeps() -> None:
    text = (
        "#KIF version=2.0 encoding=UTF-8\n手合割：平手\n開始日時：1999/07/15(木) 19:07:12\n"
        "棋戦：x\n備考：a：b\n先手：A 四段\n後手：B\n手数----指手---------消費時間--\n*about\n"
        "   1 ７六歩(77)   ( 0:12/00:00:12)\n**評価値=35\n*words\n   2 投了\n"
    )
    (record,) = hk.parse_records(text, format="kifu")
    assert (record.date, record.first_rating) == ("1999-07-15", "四段")
    assert record.tags["備考"] == "a：b"
    assert record_text(record, "kif") == text


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ('[White "A"]\n[X "y"]\n\n1. e4 {[%eval 0.3] fine} e5 {wv=0.5, d=9,} 1-0\n', "pgn"),
        ("(;GM[1]SZ[9]PB[A]X[y];B[ee]C[[%value 0.4\\] fine];W[gc]C[Winrate 60.0%])", "sgf"),
        ("N+A\n$X:y\nPI\n+\n+7776FU\n'** 35 fine\n-3334FU\n'** 20\n%TORYO\n", "csa"),
        (
            "手合割：平手\n先手：A\nX：y\n   1 ７六歩(77)\n*[%score 35] fine\n   2 ３四歩(33)\n",
            "kif",
        ),
    ],
)
def test_fields_count_where_headers_and_words_say_something_else(text: str, format: str) -> None:
    read_as = {"kif": "kifu"}.get(format, format)
    (record,) = hk.parse_records(text, format=read_as)
    first, *others = record.remarks
    changed = replace(record, first="B", remarks=(replace(first, score=77.0, author=None), *others))
    (read,) = hk.parse_records(record_text(changed, format), format=read_as)
    assert read == changed
    assert read.tags.get("X", read.tags.get("$X")) == "y"
    assert "fine" in read.remarks[0].text
    assert [each.text for each in read.remarks[1:]] == [each.text for each in others]


@pytest.mark.parametrize("format", ["sgf", "pgn", "csa", "kif"])
@pytest.mark.parametrize(
    "words",
    [
        '} 1-0\n\n[Event "',
        '\n\n[Event "x"]\n\n1. d4 *',
        "]);B[aa",
        "%TORYO\n/\n",
        "+7776FU",
        "a\0\rb",
    ],
)
def test_words_and_headers_can_do_nothing_but_speak(format: str, words: str) -> None:
    record = replace(
        ALL[format][0],
        remarks=(Remark(1, score=5.0, text=words, properties=words), Remark(2, text=words)),
        tags={"X": words, words: "x", "$X": words, "White": words},
        result=1.0,
        ending="resigned",
    )
    (read,) = hk.parse_records(
        record_text(record, format), format={"kif": "kifu"}.get(format, format)
    )
    assert read.moves.tolist() == record.moves.tolist()
    assert (read.first, read.result, read.remarks[0].score) == ("A", 1.0, 5.0)


def test_what_lines_lose() -> None:
    (record,) = hk.parse_records("V2.2\nN+A\nPI\n+\n+7776FU\nT12\n'** 35\n%TORYO\n")
    (again,) = hk.parse_records(record_text(record, "lines"))
    assert (again.first, again.remarks, again.result, again.ending) == ("", (), None, "unfinished")
    assert again.moves.tolist() == record.moves.tolist()
