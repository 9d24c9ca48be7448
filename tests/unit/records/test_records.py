# SPDX-License-Identifier: Apache-2.0
"""What is common to all notations: refusals, tables, and how a format is recognized."""

from pathlib import Path

import pytest

import hyoka as hk
from hyoka.records import batches, read_record, recognize
from hyoka.records.summary import summarize
from hyoka.reporting.study_report.study_facts import record_facts

from ..record_texts import at_most

# What is refused


BAD_FILE = """\
(;GM[1]SZ[9];B[ee];W[gc])
(;GM[1]SZ[9];B[ee]
;W[gc]
;B[ee])
(;GM[7])
(;GM[1]SZ[9];B[zz])
(;GM[1]SZ[9];B[cc])
"""


def test_bad_games_are_counted_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(BAD_FILE)
    stream = hk.read_records(path)
    records = list(stream)
    assert [(record.line, record.number) for record in records] == [(1, 1), (7, 5)]
    assert stream.faults == {"illegal move": 1, "unsupported": 1, "unreadable": 1}
    illegal = stream.refused[0]
    assert (illegal.source, illegal.line, illegal.number, illegal.ply) == (str(path), 4, 2, 2)
    assert str(illegal).startswith(f"{path}:4: game 2, ply 2: ")
    assert [(refused.line, refused.number) for refused in stream.refused[1:]] == [(5, 3), (6, 4)]


def test_strict_reading_stops_at_the_first_bad_game(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(BAD_FILE)
    with pytest.raises(hk.errors.RefusedError, match=r"games\.sgf:4: game 2, ply 2: ") as error:
        list(hk.read_records(path, strict=True))
    assert (error.value.line, error.value.number, error.value.ply) == (4, 2, 2)
    assert error.value.source == str(path)
    with pytest.raises(hk.errors.RefusedError):
        hk.parse_records(BAD_FILE)


def test_strict_reading_gives_the_good_games_before_the_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(BAD_FILE)
    assert read_record(path).move_texts() == ["E5", "G7"]


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(hk.errors.NotationError, match="no format 'xyz'"):
        hk.read_records("x", format="xyz")
    with pytest.raises(hk.errors.NotationError, match="no format 'xyz'"):
        hk.parse_records("1. e4 *", format="xyz")


# Tables


def test_an_arrow_table_says_what_the_records_say(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(
        "(;GM[1]SZ[9]PB[A]BR[6d]PW[名人]WR[9p]KM[6.5]DT[1998-10-05]RE[B+R];B[ee];W[gc])"
        "(;GM[1]SZ[13]HA[2]AB[cc][gg]RE[0];W[ee]C[[%value 0.5\\]])(;GM[2]RE[W+4];B[d3])(;GM[1])"
    )
    (batch,) = batches([path])
    rows = batch.arrow().to_pylist()
    records = list(batch.records())
    assert len(rows) == len(batch) == len(records) == 4
    for row, record in zip(rows, records, strict=True):
        assert row.pop("plies") == len(record)
        assert row.pop("moves") == record.moves.tolist()
        assert row.pop("result") == record.result
        assert dict(row.pop("tags")) == record.tags
        for name, value in row.items():
            assert value == getattr(record, name), name


# Which format it is


@pytest.mark.parametrize(
    ("head", "format"),
    [
        ("(;GM[1])", "sgf"),
        ("\ufeff(;GM[1])", "sgf"),
        ("Some words\n\n( ; GM[1])", "sgf"),
        ("(;GM[1]C[first\nPIncer on the left\nN+1\n'CSA];B[aa])", "sgf"),
        ("(;GM[1]PB[先手]PW[後手];B[aa]C[▲△])", "sgf"),
        ('[Event "x"]\n\n1. e4 *', "pgn"),
        ('% escaped\n%\n[Event "x"]\n', "pgn"),
        ('; a comment\n[Event "x"]\n\n1. e4 e5 *\n', "pgn"),
        (
            '{ a comment }\n\n[Event "x"]\n[FEN "8/8/4k3/8/8/3QK3/8/8 w - - 0 5"]\n\n5. Qd1 *\n',
            "pgn",
        ),
        ("1. e4 e5 *", "pgn"),
        ("1.e4", "pgn"),
        ("1... e5", "pgn"),
        ("V2.2\nN+A\n", "csa"),
        ("'comment\nV3.0\n", "csa"),
        ("PI\n+\n+7776FU\n", "csa"),
        ("N+A\nN-B\n", "csa"),
        ("手合割：平手\n先手：A\n後手：B\n", "kifu"),
        ("startpos moves 7g7f\n", "lines"),
        ("# comment\n\nposition sfen 9/9/9/9/9/9/9/9/9 b - 1\n", "lines"),
        ("f5d6c3d3c4f4f6e6\n", "lines"),
        ("55r0 99r0\n", "lines"),
        ("Dear Sir or Madam,\n", None),
        ("", None),
        ('8/8/8/8/8/8/8/8 w - - bm Qd1; id "x";\n', None),
    ],
)
def test_a_format_is_detected_from_its_content(head: str, format: str | None) -> None:
    assert recognize(head.encode()) == format


@pytest.mark.parametrize(
    "unit",
    [
        *(
            b"% ",
            b"%\n",
            b"# ",
            b"#\t\n",
            b"\n",
            b" ",
            b"\r\n",
            b"1. ",
            b"1\n",
            b"(",
            b"( ",
            b"(\n",
        ),
        *(b"p/", b"a1", b"55r0 ", b"1", b"\xff", b"\x00", b"[a", b"[ ", b'[a "\n', b"fen", b"+0"),
    ],
)
def test_no_file_takes_long_to_recognize(unit: bytes) -> None:
    for start in (b"", b"1.", b"(", b"[", b"[a", b"#", b"%", b"position ", b"8/8"):
        head = start + unit * (65536 // len(unit))
        with at_most(60):
            recognize(head)
            recognize(head + b"x")


def test_ranks_and_ratings_are_summarized_apart(tmp_path: Path) -> None:
    ratings = [("18k", "6d"), ("9p", "30\N{CJK UNIFIED IDEOGRAPH-7D1A}"), ("12 dan", "")]
    ratings += [("2715.0", "1800"), ("", "?")]
    texts = [
        f"(;GM[1]SZ[9]BR[{black}]WR[{white}];B[{'abcde'[i]}a];W[cc])"
        for i, (black, white) in enumerate(ratings)
    ]
    file = tmp_path / "games.sgf"
    file.write_text("\n".join(texts), encoding="utf-8")
    [one] = summarize(batches([file])).games.values()
    study = hk.Study.create(tmp_path / "study", file)
    for standings in (one.standings, record_facts(study).standings):
        assert (standings.ranks.text, standings.ranks.count) == ("30k to 9p", 5)
        assert (standings.ratings.text, standings.ratings.count) == ("1800 to 2715", 2)
