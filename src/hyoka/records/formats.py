# SPDX-License-Identifier: Apache-2.0
"""Recognize notations from a file's first bytes; convert text to UTF-8."""

import codecs
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from hyoka.records.katago import is_katago_json

FORMATS: Final = {
    "sgf": "SGF of Go, Othello and Blokus Duo (blksgf)",
    "pgn": "PGN of chess and Chess960",
    "csa": "CSA of shogi",
    "kifu": "KIF and KI2 of shogi",
    "lines": "one game a line: USI, UCI, Blokus codes, Othello transcripts",
    "wthor": "WTHOR's .wtb of Othello, with .jou and .trn beside it",
    "psv": "YaneuraOu's PackedSfenValue (.bin) of shogi: positions with scores",
    "binpack": "Stockfish's .binpack of chess: positions with scores",
    "katago": "JSON of KataGo's analysis engine: queries and responses, one a line",
}
"""Formats of game records, described."""
SUFFIXES: Final = (
    *(".sgf", ".pgn", ".csa", ".kif", ".kifu", ".ki2", ".usi", ".wtb", ".blksgf", ".ggf"),
    *(".sgf.xz", ".sgf.gz", ".pgn.xz", ".pgn.gz", ".pgn.bz2", ".pgn.zst", ".wtb.xz"),
    *(".csa.xz", ".kif.xz", ".usi.xz", ".binpack"),
)
"""Usual endings of the names of record files."""

# No pattern may backtrack over blanks: records are untrusted.
_SGF = re.compile(rb"\([ \t\r\n]{0,99};")
_PGN = re.compile(rb'\[[ \t]{0,99}[A-Za-z0-9_]+[ \t\r\n]{1,99}"')
_PGN_MOVES = re.compile(
    rb"^[ \t]{0,99}1[ \t]{0,9}\.[ \t.]{0,99}(?:\r?\n)?[ \t]{0,99}"
    rb"(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O|0-0)",
    re.MULTILINE,
)
_CSA = re.compile(
    rb"^(?:V[123](?:\.\d)?[ \t]*\r?$|N[+-]|PI|P[1-9](?:[+-][A-Z]{2}| \* )|[+-]\d{4}[A-Z]{2}|'CSA)",
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
_KIFU_MOVE = re.compile(r"^[ \t]{0,99}\d{1,4}[ \t]+[１-９1-9同].{1,12}\(\d\d\)", re.MULTILINE)
_LINES = re.compile(
    rb"(?:position\s+)?(?:startpos|sfen\s|fen\s"
    rb"|[0-9a-e]{2}[a-u][0-7](?:\s+[0-9a-e]{2}[a-u][0-7])+|(?:[a-hA-H][1-8] ?){7}"
    rb"|[+a-zA-Z1-9]+(?:/[+a-zA-Z1-9]+){7,8}\s+[bw]\s)"
)
_EPD = re.compile(rb"[^\n]*/[^\n]* [bw] [^\n]*\b(?:bm|am|id|D1|c0|ce|dm) ")


def _after_comments(head: bytes) -> bytes:
    """Skip blanks and the comments before the first game."""
    at = 0
    while True:
        while at < len(head) and head[at] in b" \t\r\n\v\f":
            at += 1
        mark = head[at : at + 1]
        end = -1
        if mark and mark in b"%;#":
            end = head.find(b"\n", at)
        elif mark == b"{":
            end = head.find(b"}", at)
        if end < 0:
            return head[at:]
        at = end + 1


def _is_wthor(head: bytes) -> bool:
    """A 16-byte header: creation date, number of games, year, size, kind."""
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


_PSV_SIZE: Final = 40
_KING_SQUARES: Final = 82
"""81 squares, and none."""


def _is_psv(head: bytes) -> bool:
    """Positions of 40 bytes: kings on different squares, a result of 1, 0 or -1, few plies."""
    entries = [head[at : at + _PSV_SIZE] for at in range(0, len(head), _PSV_SIZE)]
    return len(head) >= _PSV_SIZE and all(map(_is_psv_entry, entries[: len(head) // _PSV_SIZE]))


def _is_psv_entry(entry: bytes) -> bool:
    kings = int.from_bytes(entry[:2], "little") >> 1
    first, second = kings & 127, kings >> 7 & 127
    plies = int.from_bytes(entry[36:38], "little")
    return (
        max(first, second) < _KING_SQUARES
        and first != second
        and entry[38] in (0, 1, 255)
        and plies < 1 << 14
    )


def _is_kifu(head: bytes) -> bool:
    for encoding in ("utf-8", "cp932"):
        # The last character may be incomplete.
        text = head.decode(encoding, errors="ignore")
        words = sum(word in text for word in _KIFU_WORDS)
        if words >= 2 or _KIFU_MOVE.search(text):
            return True
    return False


# Tested in this order: by the start of a file, then by content anywhere in it.
_SIGNS: Final[tuple[tuple[str, Callable[[bytes, bytes], object]], ...]] = (
    ("wthor", lambda head, _: _is_wthor(head)),
    ("binpack", lambda head, _: head.startswith(b"BINP")),
    ("psv", lambda head, _: _is_psv(head)),
    ("katago", lambda head, _: is_katago_json(head)),
    ("sgf", lambda _, body: _SGF.match(body)),
    ("pgn", lambda _, body: _PGN.match(body)),
    # EPD looks like lines of positions, but is a problem set: see hyoka.records.problems.
    ("lines", lambda _, body: _LINES.match(body) and not _EPD.match(body)),
    ("csa", lambda head, _: _CSA.search(head)),
    ("kifu", lambda head, _: _is_kifu(head)),
    ("sgf", lambda head, _: _SGF.search(head)),
    ("pgn", lambda head, _: _PGN_MOVES.search(head)),
)


def recognize(head: bytes) -> str | None:
    """Recognize a file's format by its first bytes (a few thousand suffice); None if unknown.

    >>> recognize(b"(;GM[1]FF[4]SZ[9];B[ee])"), recognize(b"1. e4 e5 2. Nf3 *")
    ('sgf', 'pgn')
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = head[: len(head) // 2 * 2].decode("utf-16", errors="replace").encode()
    plain = head.removeprefix(codecs.BOM_UTF8)
    if b"\n" not in plain:
        plain = plain.replace(b"\r", b"\n")
    body = _after_comments(plain)
    return next((name for name, fits in _SIGNS if fits(plain, body)), None)


def as_utf8(blocks: Iterable[bytes], format: str) -> Iterator[bytes]:
    """Convert blocks to UTF-8 with lines that end in LF or CR LF, cut at line ends if possible.

    PGN that is not UTF-8 is read as Windows-1252, and Japanese text as CP932, line by line, since
    files are often concatenated. An SGF game states its encoding (`CA`); by default it is UTF-8 or
    Latin-1.
    """
    if format in _BINARY:
        yield from blocks
        return
    turned = _SgfText().turn if format == "sgf" else _turned_by_line(_FALLBACK[format])
    for piece in _pieces(_with_line_feeds(iter(blocks))):
        yield turned(piece)


_BINARY: Final = ("wthor", "psv", "binpack")
_FALLBACK: Final = {"pgn": "cp1252", "csa": "cp932", "kifu": "cp932", "lines": "latin-1"}
_LONGEST_PIECE: Final = 1 << 22


def _with_line_feeds(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Convert UTF-16 to UTF-8 and CR line ends to LF, as the first block requires."""
    first = next(blocks, b"")
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        read = blocks
        blocks = (decoder.decode(block).encode() for block in read)
        first = decoder.decode(first).encode()
    if first.endswith(b"\r"):  # its line feed may come next
        first += next(blocks, b"")
    if b"\r" in first and b"\n" not in first:
        yield first.replace(b"\r", b"\n")
        for block in blocks:
            yield block.replace(b"\r", b"\n")
        return
    yield first
    yield from blocks


def _pieces(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut the bytes after line ends; a line without an end is not cut within a character."""
    held: list[bytes] = []
    size = 0
    for block in blocks:
        held.append(block)
        size += len(block)
        end = block.rfind(b"\n") + 1
        if end == 0 and size < _LONGEST_PIECE:
            continue
        data = b"".join(held)
        end = len(data) - len(block) + end if end else _character_end(data)
        yield data[:end]
        held = [data[end:]]
        size = len(held[0])
    if size:
        yield b"".join(held)


def _character_end(data: bytes) -> int:
    """Find the end of the last complete UTF-8 character."""
    end = len(data)
    while end > len(data) - 4 and data[end - 1] & 0xC0 == 0x80:
        end -= 1
    if data[end - 1] >= 0xC0:
        end -= 1
    return end or len(data)


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
    """Converts SGF to UTF-8 by the encoding that each game states."""

    _CHARSET = re.compile(rb"CA[ \t\r\n]{0,9}\[([^\]]{1,80})\]")
    _NODE = re.compile(rb"\([ \t\r\n]{0,99};([^;()]{0,2000})")
    _OF_ROOTS = re.compile(
        rb"(?:AN|AP|BR|BT|CA|CP|DT|EV|FF|GC|GM|GN|HA|KM|ON|OT|PB|PC|PW|RE|RO|RU|SO|ST|SZ|TM|US|WR|WT)"
        rb"[ \t\r\n]{0,9}\["
    )
    _PLAIN: Final = {b"utf-8", b"utf8", b"ascii", b"us-ascii"}

    def __init__(self) -> None:
        self._encoding = "latin-1"

    def turn(self, data: bytes) -> bytes:
        if data.isascii():
            return data
        named = self._CHARSET.findall(data)
        if all(name.strip().lower() in self._PLAIN for name in named) and _is_utf8(data):
            return data
        roots = [
            node.start() for node in self._NODE.finditer(data) if self._OF_ROOTS.search(node[1])
        ]
        # Text before the first root belongs to a game of the previous block.
        pieces = [self._decoded(data[: roots[0] if roots else len(data)])]
        for begin, end in itertools.pairwise([*roots, len(data)]):
            charset = self._CHARSET.search(data, begin, min(end, begin + 4096))
            self._encoding = _encoding_named(charset[1].strip()) if charset else "latin-1"
            pieces.append(self._decoded(data[begin:end]))
        return b"".join(pieces)

    def _decoded(self, data: bytes) -> bytes:
        if data.isascii() or (self._encoding == "latin-1" and _is_utf8(data)):
            return data
        return data.decode(self._encoding, errors="replace").encode()


_CHARSETS: Final = frozenset(
    (
        *("utf-8", "gb2312", "gbk", "gb18030", "big5", "big5hkscs", "cp950"),
        *("shift_jis", "cp932", "euc_jp", "euc_jis_2004", "iso2022_jp"),
        *("euc_kr", "cp949", "johab", "iso2022_kr"),
        *("koi8-r", "koi8-u", "kz1048", "ptcp154", "tis-620"),
        *(f"iso8859-{number}" for number in (*range(2, 12), *range(13, 17))),
        *(f"cp{number}" for number in (874, *range(1250, 1259))),
        *(
            f"cp{number}"
            for number in (437, 737, 775, 850, 852, 855, 857, 858, *range(860, 864), 865, 866)
        ),
        *("mac-roman", "mac-cyrillic", "mac-greek", "mac-iceland", "mac-latin2", "mac-turkish"),
    )
)
"""Allowed encodings, since files are untrusted and some of Python's codecs are unsafe."""


def _encoding_named(name: bytes) -> str:
    """Return Python's name of a character set; Latin-1 if unknown."""
    try:
        encoding = codecs.lookup(name.decode("ascii")).name
    except (LookupError, ValueError):
        return "latin-1"
    if encoding not in _CHARSETS:
        return "latin-1"
    return "gb18030" if encoding in ("gb2312", "gbk") else encoding
