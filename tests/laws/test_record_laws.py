# SPDX-License-Identifier: Apache-2.0
"""What holds for every record: it can be written and read again, and pieces make no difference."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka import _core
from hyoka._core import Reason
from hyoka.games import game_facts, game_type
from hyoka.records import FORMATS, Remark, record_text
from hyoka.records.formats import as_utf8
from hyoka.records.record import Author

from .walks import KIWIPETE, LAW, SHOGI_HANDS, walk

# What a record can say


def texts(*, not_these: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    """Anything people might be called; readers trim blanks and know no control characters."""
    anything = st.text(
        st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("]\\\"[()';:%{}#*/=-?.　"),
        max_size=12,
    )
    return anything.map(lambda text: text.strip(" ")).filter(lambda text: text not in not_these)


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers as a table keeps them, in 32 bits."""
    return st.floats(low, high, width=32).filter(lambda number: number == 0 or abs(number) > 2**-30)


DATES: Final = st.sampled_from(["", "1846", "1998-10", "2016-01-02"])


TIMES: Final = st.integers(0, 2**27).map(
    lambda milliseconds: float(np.float32(milliseconds / 1000))
)
"""Writers have times to the millisecond."""

AUTHORS: Final[st.SearchStrategy[Author | None]] = st.sampled_from((None, "first", "second"))


@st.composite
def some_remarks(draw: st.DrawFn, plies: int) -> tuple[Remark, ...]:
    wanted = sorted(draw(st.sets(st.integers(1, plies), max_size=4))) if plies else []
    found = []
    for ply in wanted:
        remark = Remark(
            ply,
            value=draw(st.none() | numbers(0, 1)),
            score=draw(st.none() | numbers(-(2**40), 2**40) | st.integers(-3000, 3000).map(float)),
            mate=draw(st.none() | st.integers(1, 999) | st.integers(-999, -1)),
            depth=draw(st.none() | st.integers(1, 999)),
            clock_s=draw(st.none() | TIMES),
            spent_s=draw(st.none() | TIMES | st.integers(0, 9999).map(float)),
            book=draw(st.booleans()),
        )
        if remark != Remark(ply):
            found.append(replace(remark, author=draw(AUTHORS)))
    return tuple(found)


Ended = dict[str, Any]


def ended(result: float | None, ending: str, margin: float | None = None) -> Ended:
    return {"result": result, "ending": ending, "margin": margin}


# SGF


@cache
def go_starts(size: int) -> tuple[str, ...]:
    """Rows with set-up stones and who plays; none for an empty board with Black to play."""
    empty = "/".join([str(size)] * size)
    far = size - 4
    rows = [f"2X{far}X", f"2X1O{far - 2}X", f"2O{far}O"]
    return (
        "",
        f"{empty} w",
        *(
            f"{row}/{'/'.join([str(size)] * (size - 1))} {player}"
            for row in rows
            for player in "bw"
        ),
    )


@st.composite
def go_records(draw: st.DrawFn) -> hk.Record:
    size = draw(st.sampled_from([9, 13, 19]))
    komi = draw(st.sampled_from([None, 0.0, 0.5, 5.5, 6.5, 7.5, 7.0, -3.5]))
    rows = draw(st.sampled_from(go_starts(size)))
    facts = game_facts(f"go{size}")
    text = f"{rows} - 0 {komi or 0}"
    start = hk.position(facts.name, text) if rows else facts.start(komi=komi or 0)
    _, moves, _ = walk(start, draw(st.lists(st.integers(0, 9999), max_size=60)))
    only_black = "X" in rows and "O" not in rows
    handicaps = [2, 3, 9] if only_black else [0, 2]
    sgf_ends = [
        ended(1, "normal", draw(numbers(0, 400))),
        ended(0, "normal", -draw(numbers(0, 400))),
        *(ended(who, how) for who in (0, 1) for how in ("resigned", "time", "forfeit", "unknown")),
        ended(0.5, "normal", 0),
        ended(None, "unfinished"),
        ended(None, "unknown"),
    ]
    return hk.Record(
        game=f"go{size}",
        moves=np.array([move.code for move in moves], np.uint16),
        start=start.text if rows else "",
        komi=komi,
        handicap=draw(st.sampled_from(handicaps)),
        **draw(sgf_fields()),
        **draw(st.sampled_from(sgf_ends)),
        remarks=draw(some_remarks(len(moves))),
    )


@st.composite
def sgf_fields(draw: st.DrawFn) -> dict[str, Any]:
    names = (
        *("first", "second", "first_rating", "second_rating", "event", "round", "place"),
        *("rules", "time_control", "opening"),
    )
    return {name: draw(texts()) for name in names} | {"date": draw(DATES)}


@st.composite
def other_sgf_records(draw: st.DrawFn, game: str, most: int) -> hk.Record:
    _, moves, _ = walk(game_type(game)(), draw(st.lists(st.integers(0, 9999), max_size=most)))
    return hk.Record(
        game=game,
        moves=np.array([move.code for move in moves], np.uint16),
        **draw(sgf_fields()),
        **draw(st.sampled_from([ended(1, "normal", 4), ended(0.5, "normal", 0), ended(0, "time")])),
        remarks=draw(some_remarks(len(moves))),
    )


# PGN


CHESS_STARTS: Final = (
    "",
    KIWIPETE,
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
    "8/8/4k3/8/8/3QK3/8/8 w - - 95 80",
    "8/8/4k3/8/8/3QK3/8/8 b - - 12 31",
)
CHESS960_STARTS: Final = (
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "1r4kr/8/8/8/8/8/8/1R4KR b HBhb - 0 1",
    "rkr5/8/8/8/8/8/8/RKR5 w CAca - 0 1",
)


@st.composite
def chess_records(draw: st.DrawFn) -> hk.Record:
    is_960 = draw(st.booleans())
    text = draw(st.sampled_from(CHESS960_STARTS if is_960 else CHESS_STARTS))
    start = hk.Chess.from_text(text) if text else hk.Chess()
    _, moves, end = walk(start, draw(st.lists(st.integers(0, 9999), max_size=80)))
    mated = end.outcome is not None and end.outcome.reason == Reason.checkmate
    ways = ["time", "illegal", "adjudicated", "forfeit", "unfinished"]
    ends = [
        *(ended(who, how) for who in (0, 1) for how in [*ways, "normal" if mated else "resigned"]),
        *(ended(0.5, how) for how in [*ways, "normal"]),
        ended(None, "unfinished"),
    ]
    names = (
        *("first", "second", "first_rating", "second_rating", "event", "round", "place"),
        *("time_control", "opening"),
    )
    # Nothing but question marks, with dots or dashes, means that a value is not known.
    known = texts(not_these=("-",)).filter(lambda text: "?" not in text or set(text) - set("?-."))
    fields: dict[str, Any] = {name: draw(known) for name in names}
    return hk.Record(
        game="chess",
        moves=np.array([move.code for move in moves], np.uint16),
        start=start.text if text else "",
        rules="chess960" if is_960 else "",
        date=draw(DATES),
        remarks=draw(some_remarks(len(moves))),
        **fields,
        **draw(st.sampled_from(ends)),
    )


# CSA and KIF


SHOGI_STARTS: Final = (
    "",
    SHOGI_HANDS,
    hk.Shogi(handicap="two-piece").text,
    "7nk/9/7G1/9/9/9/9/9/K8 b P2r2b3g4s3n4l17p 1",
    "8k/9/6GP1/9/9/9/9/9/9 w G2r2b2g4s4n4l17p 1",
)


@st.composite
def shogi_records(draw: st.DrawFn, /, ends: Any, names: tuple[str, ...], **more: Any) -> hk.Record:
    text = draw(st.sampled_from(SHOGI_STARTS))
    start = hk.Shogi.from_text(text) if text else hk.Shogi()
    _, moves, end = walk(start, draw(st.lists(st.integers(0, 9999), max_size=60)))
    mover_wins = 1 if end.to_play == hk.Player.first else 0
    fields: dict[str, Any] = {name: draw(texts(not_these=("?",))) for name in names}
    return hk.Record(
        game="shogi",
        moves=np.array([move.code for move in moves], np.uint16),
        start=start.text if text else "",
        **fields,
        **{name: draw(strategy) for name, strategy in more.items()},
        **draw(st.sampled_from(ends(mover_wins))),
        remarks=draw(some_remarks(len(moves))),
    )


def csa_ends(mover_wins: int) -> list[Ended]:
    return [
        *(
            ended(1 - mover_wins, how)
            for how in ("resigned", "normal", "time", "illegal", "unknown")
        ),
        *(ended(mover_wins, how) for how in ("normal", "illegal", "unknown")),
        ended(0.5, "normal"),
        ended(0.5, "unknown"),
        ended(None, "unfinished"),
    ]


def kif_ends(mover_wins: int) -> list[Ended]:
    return [
        *(ended(1 - mover_wins, how) for how in ("resigned", "normal", "time", "illegal")),
        *(ended(mover_wins, how) for how in ("normal", "illegal")),
        ended(0.5, "normal"),
        ended(None, "unfinished"),
    ]


CSA_RECORDS: Final = shogi_records(
    csa_ends,
    ("first", "second", "event", "place", "time_control", "opening"),
    date=DATES,
    handicap=st.sampled_from([0, 0, 2, 6]),
    first_rating=st.sampled_from(["", "2805", "2990.5"]),
    second_rating=st.sampled_from(["", "3100.0"]),
)
KIF_RECORDS: Final = shogi_records(kif_ends, ("event", "place", "time_control"), date=DATES)
WRITTEN: Final[dict[str, tuple[str, st.SearchStrategy[hk.Record]]]] = {
    "go": ("sgf", go_records()),
    "othello": ("sgf", other_sgf_records("othello", 64)),
    "blokus_duo": ("sgf", other_sgf_records("blokus_duo", 30)),
    "chess": ("pgn", chess_records()),
    "shogi": ("csa", CSA_RECORDS),
    "shogi in KIF": ("kif", KIF_RECORDS),
}
READ_AS: Final = {"kif": "kifu"}


def read_again(record: hk.Record, format: str) -> list[hk.Record]:
    return hk.parse_records(record_text(record, format), format=READ_AS.get(format, format))


@pytest.mark.parametrize("game", WRITTEN)
@settings(LAW, max_examples=40)
@given(st.data())
def test_a_record_that_is_written_reads_back_the_same(game: str, data: st.DataObject) -> None:
    format, records = WRITTEN[game]
    record = data.draw(records)
    assert [each.content() for each in read_again(record, format)] == [record.content()]


@pytest.mark.parametrize("game", WRITTEN)
@settings(LAW, max_examples=10)
@given(data=st.data())
def test_many_records_in_one_file_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, game: str, data: st.DataObject
) -> None:
    format, records = WRITTEN[game]
    some = data.draw(st.lists(records, min_size=1, max_size=4))
    path = tmp_path_factory.mktemp("laws") / f"games.{format}"
    assert hk.write_records(some, path) == len(some)
    read = list(hk.read_records(path, format=READ_AS.get(format, format)))
    assert [record.content() for record in read] == [record.content() for record in some]


@pytest.mark.parametrize("game", WRITTEN)
@settings(LAW, max_examples=20)
@given(st.data())
def test_a_written_record_is_recognized(game: str, data: st.DataObject) -> None:
    format, records = WRITTEN[game]
    record = data.draw(records)
    (read,) = hk.parse_records(record_text(record, format))
    assert read.moves.tolist() == record.moves.tolist()


# What a record says beside what fields hold


WORDS: Final = st.lists(
    st.characters(exclude_categories=("Cs", "Cc"))
    | st.sampled_from("]\\\"[()';:%{}#*/=-?!$.　\n\f")
    | st.sampled_from(["[%eval 0.3]", "** 35", "wv=0.5,", "Winrate 60%", "[Event ", "1. e4", "N+"]),
    max_size=12,
).map("".join)
"""Anything at all, and what readers look for."""


@st.composite
def in_words(draw: st.DrawFn, records: st.SearchStrategy[hk.Record]) -> hk.Record:
    """A record with any words to its moves, and headers of its own."""
    record = draw(records)
    names = st.sampled_from(("ECO", "X", "XY", "$X", "'x_y", "備考", "GC", "Annotator", "LB", "AP"))
    remarks = {remark.ply: remark for remark in record.remarks}
    for ply in draw(st.sets(st.integers(0, len(record)), max_size=4)):
        nags = draw(st.lists(st.integers(0, 65535), max_size=3)) if record.game == "chess" else ()
        properties = draw(st.sampled_from(["", "TR[aa][bb]", r"LB[cc:\]\:]N[x\\]", "BL[500]"]))
        remarks[ply] = replace(
            remarks.get(ply, Remark(ply)),
            text=draw(WORDS),
            nags=tuple(nags),
            properties=properties if record.game not in ("chess", "shogi") and ply else "",
        )
    return replace(
        record,
        remarks=tuple(remarks[ply] for ply in sorted(remarks)),
        tags=draw(st.dictionaries(names, WORDS, max_size=4)),
    )


def said(record: hk.Record) -> tuple[object, ...]:
    """All of it, whatever the fields make of it."""
    remarks = [(each.ply, each.text, each.nags, each.properties) for each in record.remarks]
    return record.content(), dict(record.tags), [each for each in remarks if any(each[1:])]


@pytest.mark.parametrize("game", WRITTEN)
@settings(LAW, max_examples=60)
@given(st.data())
def test_all_that_was_read_is_written_back_unchanged(game: str, data: st.DataObject) -> None:
    """Words can do nothing but speak; and once they were read, they stay as they are."""
    format, records = WRITTEN[game]
    record = data.draw(in_words(records))
    (read,) = read_again(record, format)
    assert read.content() == record.content()
    assert [said(each) for each in read_again(read, format)] == [said(read)]


@pytest.mark.parametrize("format", ["sgf", "pgn", "csa", "kifu"])
@settings(LAW, max_examples=60)
@given(st.data())
def test_words_of_any_file_are_written_back_unchanged(format: str, data: st.DataObject) -> None:
    text = b"".join(as_utf8([data.draw(mutated(format))], format)).decode()
    # Control characters become blanks, which are trimmed where they end a text.
    raw = "".join(" " if each < " " and each != "\n" else each for each in text).encode()
    written_as = {"kifu": "kif"}.get(format, format)
    _, table = _core.Reader(format).read(raw, True)
    for record in hk.records.Batch("", format, table).records():
        (again,) = read_again(record, written_as)
        assert again.moves.tolist() == record.moves.tolist()
        assert {name: again.tags.get(name) for name in record.tags if name != "CA"} == {
            name: value for name, value in record.tags.items() if name != "CA"
        }


LINE_STARTS: Final = {
    "shogi": SHOGI_STARTS,
    "chess": CHESS_STARTS + CHESS960_STARTS,
    "othello": ("",),
    "blokus_duo": ("",),
}


@pytest.mark.parametrize("game", LINE_STARTS)
@LAW
@given(st.data())
def test_lines_of_moves_read_back_the_same(game: str, data: st.DataObject) -> None:
    """What a line has no words for, its reader finds out from the moves."""
    kind = game_type(game)
    text = data.draw(st.sampled_from(LINE_STARTS[game]))
    start = kind.from_text(text) if text else kind()
    # `startpos` alone is shogi's; two squares might as well be a code, and none are no line.
    fewest = {"shogi": 0, "chess": 1, "othello": 3, "blokus_duo": 1}[game]
    choices = st.lists(st.integers(0, 9999), min_size=fewest, max_size=70)
    _, moves, _ = walk(start, data.draw(choices))
    codes = np.array([move.code for move in moves], np.uint16)
    record = hk.Record(game=game, moves=codes, start=start.text if text else "")
    assume(not (game == "othello" and record.move_texts()[-1] == "pass"))
    (read,) = read_again(record, "lines")
    assert (read.game, read.start) == (record.game, record.start)
    assert read.moves.tolist() == codes.tolist()
    assert read_again(read, "lines") == [read]


# Pieces


SEEDS: Final = Path(__file__).parents[2] / "core" / "fuzz" / "seeds"
READERS: Final = [format for format in FORMATS if format not in ("katago", "parquet")]
"""Formats with a reader of their own: others are converted to these."""


def seeds(format: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((SEEDS / format).iterdir())]


@st.composite
def mutated(draw: st.DrawFn, format: str) -> bytes:
    """A seed in which some stretches are other bytes, missing or doubled; or any bytes at all."""
    data = draw(st.sampled_from(seeds(format)) | st.binary(max_size=200))
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.integers(0, 20)))
        other = draw(st.sampled_from([b"", 2 * data[begin:end]]) | st.binary(max_size=8))
        data = data[:begin] + other + data[end:]
    return data


@st.composite
def in_pieces(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> list[bytes]:
    data = draw(whole)
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    return [data[a:b] for a, b in pairwise([0, *cuts, len(data)])]


Content = tuple[list[Any], list[Any], list[Any]]


def content(table: _core.Table) -> Content:
    """Games, remarks and refusals as values that compare, NaN included."""
    columns = (
        *(table.game, table.komi, table.handicap, table.winner, table.ending, table.margin),
        *(table.line, table.number, np.diff(table.remark_offsets)),
    )
    remarks = (
        *(table.remark_ply, table.remark_value, table.remark_score, table.remark_mate),
        *(table.remark_depth, table.remark_clock_s, table.remark_spent_s, table.remark_book),
    )
    games = zip(
        (table.moves[a:b].tolist() for a, b in pairwise(table.move_offsets.tolist())),
        *(table.text(name) for name in table.field_names),
        *(map(repr, column.tolist()) for column in columns),
        strict=True,
    )
    said = zip(*(map(repr, column.tolist()) for column in remarks), strict=True)
    return list(games), list(said), list(table.refused)


def read_pieces(format: str, pieces: list[bytes]) -> Content:
    reader = _core.Reader(format, *(2 * (SEEDS / "wthor" / "games.wtb").read_bytes() for _ in "ab"))
    whole: Content = ([], [], [])
    rest = b""
    for number, piece in enumerate(pieces, 1):
        data = rest + piece
        last = number == len(pieces)
        taken, table = reader.read(data, last)
        assert 0 <= taken <= len(data)
        assert taken == len(data) or not last
        rest = data[taken:]
        for found, more in zip(whole, content(table), strict=True):
            found.extend(more)
    return whole


@pytest.mark.parametrize("format", READERS)
@settings(LAW, max_examples=80)
@given(st.data())
def test_pieces_make_no_difference_to_a_reader(format: str, data: st.DataObject) -> None:
    pieces = data.draw(in_pieces(mutated(format)))
    assert read_pieces(format, pieces) == read_pieces(format, [b"".join(pieces)])


@pytest.mark.parametrize("format", READERS)
def test_no_single_cut_makes_a_difference_to_a_reader(format: str) -> None:
    for data in seeds(format):
        whole = read_pieces(format, [data])
        for cut in range(len(data) + 1):
            assert read_pieces(format, [data[:cut], data[cut:]]) == whole, (data, cut)


CHARSETS: Final = ("", "UTF-8", "GB2312", "Shift_JIS", "ISO-8859-1")
NAMES: Final = ("Müller", "名人", "plain", "ソ十")


@st.composite
def encoded_games(draw: st.DrawFn, format: str) -> bytes:
    """Games in encodings that may or may not be what they say."""
    made = b""
    for _ in range(draw(st.integers(1, 5))):
        charset = draw(st.sampled_from(CHARSETS))
        name = draw(st.sampled_from(NAMES))
        end = draw(st.sampled_from(["\n", "\r\n", ""]))
        game = {
            "sgf": f"(;GM[1]{f'CA[{charset}]' if charset else ''}PB[{name}]{end};B[aa]){end}",
            "pgn": f'[White "{name}"]\n{end}1. e4 {{{name}}} *{end}\n',
            "csa": f"V2.2\nN+{name}{end}\n+7776FU\n/\n",
        }[format]
        actual = draw(st.sampled_from([charset or "latin-1", "utf-8"]))
        made += game.encode(actual, errors="replace")
    return made


@pytest.mark.parametrize("format", ["sgf", "pgn", "csa"])
@settings(LAW, max_examples=80)
@given(st.data())
def test_pieces_make_no_difference_to_the_text(format: str, data: st.DataObject) -> None:
    pieces = data.draw(in_pieces(encoded_games(format)))
    whole = b"".join(as_utf8([b"".join(pieces)], format))
    assert b"".join(as_utf8(pieces, format)) == whole
    whole.decode()


@pytest.mark.parametrize("format", ["sgf", "pgn", "csa", "kifu", "lines"])
@settings(LAW, max_examples=50)
@given(st.data())
def test_any_bytes_become_utf8(format: str, data: st.DataObject) -> None:
    pieces = data.draw(in_pieces(mutated(format)))
    b"".join(as_utf8(pieces, format)).decode()
