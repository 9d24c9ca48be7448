# SPDX-License-Identifier: Apache-2.0
"""Which notation a file is in, told from its first bytes, and its text turned into UTF-8."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_SGF = re.compile(rb"\(\s*;")
_PGN = re.compile(rb'^\s*(?:%.*\s+)*\[\s*[A-Za-z0-9_]+\s+"', re.MULTILINE)
_PGN_MOVES = re.compile(
    rb"^\s*1\.(?:\s|\.\.)*\s*(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O)", re.MULTILINE
)
_CSA = re.compile(
    rb"^(?:V[123](?:\.\d)?\s*$|N[+-]|PI|P[1-9](?:[+-][A-Z]{2}| \* )|[+-]\d{4}[A-Z]{2}|'CSA)",
    re.MULTILINE,
)
_KIFU_WORDS: Final = (
    "手合割",
    "先手",
    "後手",
    "下手",
    "上手",
    "手数----",
    "▲",
    "△",
    "☗",
    "開始日時",
)
_KIFU_MOVE = re.compile(r"^\s*\d+\s+[１-９1-9同].{1,12}\(\d\d\)", re.MULTILINE)
_LINES = re.compile(
    rb"^(?:\s*#.*\s+)*\s*(?:position\s+)?(?:startpos|sfen\s|fen\s"
    rb"|[0-9a-e]{2}[a-u][0-7](?:\s+[0-9a-e]{2}[a-u][0-7]){1,}|(?:[a-hA-H][1-8]){8,}"
    rb"|[+a-zA-Z1-9]+(?:/[+a-zA-Z1-9]+){7,8}\s+[bw]\s)"
)
_EPD = re.compile(rb"[^\n]*/[^\n]* [bw] [^\n]*\b(?:bm|am|id|D1|c0|ce|dm) ")


def _is_wthor(head: bytes) -> bool:
    """A header of 16 bytes: the day it was made, how many games, the year, the size, the kind."""
    if len(head) < 16 or b"\x00" not in head[:16]:
        return False
    century, month, day = head[0], head[2], head[3]
    year = int.from_bytes(head[10:12], "little")
    games = int.from_bytes(head[4:8], "little")
    return (
        century in (19, 20)
        and 1 <= month <= 12
        and 1 <= day <= 31
        and 1900 <= year <= 2200
        and head[12] in (0, 8, 10)
        and games < 1 << 24
        and (len(head) < 24 or head[24] in (56, 65, 34, 43, 0))
    )


def _is_kifu(head: bytes) -> bool:
    for encoding in ("utf-8", "cp932"):
        # The last character may be cut in two.
        text = head.decode(encoding, errors="ignore")
        found = sum(word in text for word in _KIFU_WORDS)
        if found >= 2 or _KIFU_MOVE.search(text):
            return True
    return False


# In the order they are tried. A notation with weak signs comes after those with strong ones.
_SIGNS: Final[tuple[tuple[str, Callable[[bytes], object]], ...]] = (
    ("wthor", _is_wthor),
    ("lines", lambda head: _LINES.match(head) and not _EPD.match(head)),  # EPD: hyoka.problems
    ("pgn", _PGN.match),
    ("csa", _CSA.search),
    ("kifu", _is_kifu),
    ("sgf", _SGF.search),
    ("pgn", _PGN_MOVES.search),
)
FORMATS: Final = {
    "sgf": "SGF of Go, Othello and Blokus Duo (blksgf)",
    "pgn": "PGN of chess and Chess960",
    "csa": "CSA of shogi",
    "kifu": "KIF and KI2 of shogi",
    "lines": "one game a line: USI, UCI, Blokus codes, Othello transcripts",
    "wthor": "WTHOR's .wtb of Othello, with .jou and .trn beside it",
}


def recognise(head: bytes) -> str | None:
    """The format of a file from its first bytes (some thousands are enough); None if unknown.

    >>> recognise(b"(;GM[1]FF[4]SZ[9];B[ee])"), recognise(b"1. e4 e5 2. Nf3 *")
    ('sgf', 'pgn')
    """
    plain = head.removeprefix(codecs.BOM_UTF8)
    return next((name for name, fits in _SIGNS if fits(plain)), None)


def as_utf8(blocks: Iterable[bytes], format: str) -> Iterator[bytes]:
    """The blocks in UTF-8, cut at line ends where there are any.

    PGN that is not UTF-8 is Latin-1 and Japanese text CP932, line by line, since files are often
    put together from several. An SGF game says itself what it is in (`CA`); if it does not, it is
    Latin-1, as the standard wants.
    """
    if format == "wthor":
        yield from blocks
        return
    turned = _SgfText().turn if format == "sgf" else _turned_by_line(_FALLBACK[format])
    blocks = iter(blocks)
    rest = b""
    first = True
    for block in blocks:
        data = rest + block
        if first and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            yield from _from_utf16(data, blocks)
            return
        first = False
        end = data.rfind(b"\n") + 1
        if end == 0 and len(data) < 1 << 22:
            rest = data
            continue
        end = end or len(data)
        yield turned(data[:end])
        rest = data[end:]
    if rest:
        yield turned(rest)


_FALLBACK: Final = {"pgn": "cp1252", "csa": "cp932", "kifu": "cp932", "lines": "latin-1"}


def _from_utf16(first: bytes, blocks: Iterable[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
    yield decoder.decode(first).encode()
    for block in blocks:
        yield decoder.decode(block).encode()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _turned_by_line(fallback: str) -> Callable[[bytes], bytes]:
    def turned(data: bytes) -> bytes:
        if data.isascii() or _is_utf8(data):
            return data
        return b"".join(
            line if _is_utf8(line) else line.decode(fallback, errors="replace").encode()
            for line in data.splitlines(keepends=True)
        )

    return turned


class _SgfText:
    """Turns SGF into UTF-8 by what each game says of itself."""

    _CHARSET = re.compile(rb"CA\s*\[\s*([^\]]{1,40}?)\s*\]")
    _GAME = re.compile(rb"\(\s*;")
    _PLAIN: Final = {b"utf-8", b"utf8", b"ascii", b"us-ascii"}

    def __init__(self) -> None:
        self._encoding = "latin-1"

    def turn(self, data: bytes) -> bytes:
        if data.isascii():
            return data
        found = list(self._CHARSET.finditer(data))
        if all(match[1].lower() in self._PLAIN for match in found) and _is_utf8(data):
            return data
        pieces = []
        begin = 0
        for match in found:
            # The game that names its encoding began before it did.
            games = [game.start() for game in self._GAME.finditer(data, begin, match.start())]
            start = games[-1] if games else begin
            pieces.append(self._decoded(data[begin:start]))
            self._encoding = _encoding_named(match[1])
            begin = start
        pieces.append(self._decoded(data[begin:]))
        return b"".join(pieces)

    def _decoded(self, data: bytes) -> bytes:
        if data.isascii() or (self._encoding == "latin-1" and _is_utf8(data)):
            return data
        return data.decode(self._encoding, errors="replace").encode()


def _encoding_named(name: bytes) -> str:
    try:
        encoding = codecs.lookup(name.decode("ascii", errors="replace"))
        b"".decode(encoding.name)
    except LookupError:
        return "latin-1"
    return "gb18030" if encoding.name in ("gb2312", "gbk") else encoding.name
