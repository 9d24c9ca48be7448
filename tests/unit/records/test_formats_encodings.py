# SPDX-License-Identifier: Apache-2.0
"""Text in any encoding becomes UTF-8."""

import codecs
from typing import Final

import pytest

import hyoka as hk
from hyoka.records.formats import as_utf8

from ..record_texts import at_most

# Encodings


TEXTS: Final = {
    "sgf": "(;GM[1]SZ[9]PB[名人]PW[Müller];B[ee];W[gc])\n",
    "pgn": '[White "名人"]\n[Black "Müller"]\n\n1. e4 e5\n; comment\n2. Nf3 *\n',
    "csa": "V2.2\nN+名人\nN-Müller\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n",
    "kifu": "手合割：平手\n先手：名人\n後手：Müller\n\n   1 ７六歩(77)\n",
    "lines": "# 名人 Müller\nstartpos moves 7g7f 3c3d\n",
}
for_every_text = pytest.mark.parametrize("format", TEXTS)


def expected(format: str) -> list[tuple[object, ...]]:
    return [record.content() for record in hk.parse_records(TEXTS[format])]


@for_every_text
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_mark_at_the_beginning_tells_the_encoding(format: str, encoding: str) -> None:
    marks = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    data = marks.get(encoding, b"") + TEXTS[format].encode(encoding)
    for given in (None, format):
        records = hk.parse_records(data, format=given)
        assert [record.content() for record in records] == expected(format)


@for_every_text
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_end_in_any_of_three_ways(format: str, end: str) -> None:
    data = TEXTS[format].replace("\n", end).encode()
    assert [record.content() for record in hk.parse_records(data)] == expected(format)


@for_every_text
def test_the_last_line_may_lack_its_end(format: str) -> None:
    data = TEXTS[format].rstrip("\n").encode()
    assert [record.content() for record in hk.parse_records(data)] == expected(format)


def test_pgn_that_is_not_utf8_is_western() -> None:
    (record,) = hk.parse_records('[White "Müller – Šar"]\n\n1. e4 *\n'.encode("cp1252"))
    assert record.first == "Müller – Šar"


def test_a_file_may_be_put_together_from_encodings() -> None:
    games = [
        '[White "Müller"]\n\n1. e4 *\n\n'.encode(encoding) for encoding in ("utf-8", "latin-1")
    ]
    records = hk.parse_records(b"".join(2 * games))
    assert [record.first for record in records] == 4 * ["Müller"]


def test_an_sgf_file_may_be_put_together_from_encodings() -> None:
    """Without a charset each game is examined alone."""
    games = ["(;GM[1]PB[Müller])\n".encode(encoding) for encoding in ("utf-8", "latin-1")]
    records = hk.parse_records(b"".join(2 * games))
    assert [record.first for record in records] == 4 * ["Müller"]


SGF_NAMES: Final = {
    "UTF-8": "Ōsaka 大阪",
    "GB2312": "聂卫平",
    "gb18030": "聂卫平",
    "Big5": "王立誠 許功蓋",  # characters with a backslash for second byte
    "Shift_JIS": "ソ十表能予",  # likewise
    "EUC-JP": "武宮正樹",
    "EUC-KR": "이창호",
    "windows-1251": "Шикшин",
    "ISO-8859-1": "Müller",
    "KOI8-R": "Шикшин",
}


@pytest.mark.parametrize("charset", SGF_NAMES)
def test_an_sgf_game_says_what_it_is_written_in(charset: str) -> None:
    name = SGF_NAMES[charset]
    for root in (f"CA[{charset}]PB[%s]", f"PB[%s]CA[{charset}]", f"PB[%s]\nCA [ {charset} ]"):
        data = f"(;GM[1]SZ[9]{root % name};B[ee])\n".encode(charset)
        (record,) = hk.parse_records(data)
        assert record.first == name


def test_every_sgf_game_has_an_encoding_of_its_own() -> None:
    data = b"".join(
        f"(;GM[1]SZ[9]CA[{charset}]PB[{name}];B[ee])\n".encode(charset)
        for charset, name in SGF_NAMES.items()
    )
    for join in (data, data.replace(b"\n", b"")):
        assert [record.first for record in hk.parse_records(join)] == [*SGF_NAMES.values()]


def test_sgf_without_a_charset_is_latin1_or_utf8() -> None:
    for encoding in ("latin-1", "utf-8"):
        (record,) = hk.parse_records("(;GM[1]SZ[9]PB[Müller];B[ee])".encode(encoding))
        assert record.first == "Müller"


def test_a_games_charset_is_not_the_next_ones() -> None:
    data = "(;GM[1]CA[GB2312]PB[聂卫平])\n".encode("gb2312") + "(;GM[1]PB[Müller])\n".encode(
        "latin-1"
    )
    assert [record.first for record in hk.parse_records(data)] == ["聂卫平", "Müller"]


@pytest.mark.parametrize(
    "charset",
    [
        *(b"", b"?", b"no-such", b"undefined", b"idna", b"punycode", b"rot13", b"zlib", b"hex"),
        *(b"base64", b"utf-16", b"utf-32", b"utf-7", b"unicode_escape", b"raw_unicode_escape"),
        *(b"mbcs", b"cp037", b"a\0b", b"\xff", b"..", b"../../etc", b"x" * 40, b"aliases"),
    ],
)
def test_no_charset_stops_the_reading(charset: bytes) -> None:
    """Python knows encodings that are no character sets; a game that asks for one is Latin-1."""
    data = b"(;GM[1]SZ[9]CA[%s]PB[M\xfcller];B[ee])\n" % charset
    (record,) = hk.parse_records(data)
    assert record.first == "Müller"
    assert record.move_texts() == ["E5"]


@pytest.mark.parametrize("filling", [b" ", b"\n", b"CA", b"CA[", b"CA[ ", b"(;", b"(;CA[", b"( "])
def test_a_charset_does_not_take_long_to_find(filling: bytes) -> None:
    data = b"(;PB[\xe9]CA[" + filling * ((1 << 20) // len(filling))
    with at_most(60):
        list(as_utf8([data], "sgf"))


@pytest.mark.parametrize("format", ["sgf", "pgn"])
@pytest.mark.parametrize("offset", range(3))
def test_text_is_not_cut_within_a_character(format: str, offset: int) -> None:
    """Megabytes without an end of line, in which any place may be that of a cut."""
    name = 90 * "名人戦本因坊戦棋聖戦王座戦"
    game = {"sgf": f"(;GM[1]SZ[9]PB[{name}])", "pgn": f'[White "{name}"] 1. e4 * '}[format]
    count = (9 << 20) // len(game.encode())
    records = hk.parse_records(" " * offset + game * count, format=format)
    assert len(records) == count
    assert {record.first for record in records} == {name}


@pytest.mark.parametrize(
    "charset", ["unicode_escape", "raw_unicode_escape", "utf-16", "utf-7", "hz", "idna", "rot13"]
)
def test_only_charsets_of_text_are_believed(charset: str) -> None:
    text = f"(;GM[1]SZ[9]CA[{charset}]PB[\\ud800 \u00e9];B[ee])".encode("latin-1")
    (record,) = hk.parse_records(text)
    assert record.first == "ud800 \u00e9"
