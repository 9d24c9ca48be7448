# SPDX-License-Identifier: Apache-2.0
"""Recognize notations from a file's first bytes; convert text to UTF-8."""

import codecs
import contextlib
import itertools
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.foundation.errors import NotationError, SourceError
from hyoka.games import GO, game_facts
from hyoka.records.katago import is_katago_json, sgf_point

FORMATS: Final = {
    "sgf": "SGF of Go, Othello and Blokus Duo (blksgf)",
    "pgn": "PGN of chess and Chess960",
    "csa": "CSA of shogi",
    "kifu": "KIF and KI2 of shogi",
    "lines": "one game a line: USI, UCI, Blokus codes, Othello transcripts",
    "wthor": "WTHOR's .wtb of Othello, with .jou and .trn beside it",
    "psv": "YaneuraOu's PackedSfenValue (.bin) of shogi: positions with scores",
    "binpack": "Stockfish's .binpack of chess: positions with scores",
    "parquet": "Parquet tables of games or positions: moves, movetext, fen, sfen",
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
    ("parquet", lambda head, _: head.startswith(b"PAR1")),
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


def parquet_games(blocks: Iterable[bytes]) -> tuple[str, Iterator[bytes]]:
    """Convert a Parquet table of games or positions to a notation: its name, and the text.

    A row is a game. Its moves are in `movetext` or `pgn` (chess), or in `moves` (text or a list) as
    the game prints them; a row without moves is a position: `fen`, `sfen`, or `position` with the
    `move` played. Other columns are named as in studies or as tags of PGN. Raises SourceError.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - seldom needed

    with contextlib.ExitStack() as stack:
        file = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
        for block in blocks:
            file.write(block)
        with _as_broken():
            table = pq.ParquetFile(file)
        names = set(table.schema_arrow.names)
        is_pgn = bool(names & {"movetext", "pgn"}) or ("moves" in names and "game" not in names)
        if not is_pgn and not names & {"moves", *_POSITIONS}:
            wanted = ", ".join(("movetext", "pgn", "moves", *_POSITIONS))
            raise SourceError(f"a Parquet table without moves or positions ({wanted})")
        write = _pgn_of_row if is_pgn else _sgf_of_row
        return "pgn" if is_pgn else "sgf", _texts(table, write, stack.pop_all())


def _texts(
    table: Any, write: Callable[["_Row"], str], stack: contextlib.ExitStack
) -> Iterator[bytes]:
    """Convert the rows of a table; the stack holds its file."""
    columns = [name for name in table.schema_arrow.names if name in _COLUMNS]
    with stack, _as_broken():
        for batch in table.iter_batches(_ROWS_AT_ONCE, columns=columns):
            yield "".join(map(write, batch.to_pylist())).encode(errors="replace")


@contextlib.contextmanager
def _as_broken() -> Iterator[None]:
    """Convert errors of Parquet to SourceError."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"broken Parquet: {str(error).splitlines()[0]}") from error


_IN_MEMORY: Final = 16 << 20
_ROWS_AT_ONCE: Final = 4096
_POSITIONS: Final = ("position", "fen", "sfen")
_FIELDS: Final = {
    **{"first": ("PB", "White"), "second": ("PW", "Black")},
    **{"first_rating": ("BR", "WhiteElo"), "second_rating": ("WR", "BlackElo")},
    **{"event": ("EV", "Event"), "round": ("RO", "Round"), "place": ("PC", "Site")},
    **{"date": ("DT", "Date"), "rules": ("RU", "Variant"), "time_control": ("OT", "TimeControl")},
    **{"opening": ("ON", "Opening"), "komi": ("KM", ""), "handicap": ("HA", "")},
}
"""Columns as studies name them, and their names in SGF and PGN."""
_PGN_ONLY: Final = ("Result", "ECO", "Termination", "UTCDate", "UTCTime", "FEN", "SetUp")
_EVALUATION: Final = ("value", "score", "mate", "depth", "nodes")
_COLUMNS: Final = frozenset(
    (
        *("movetext", "pgn", "moves", "move", "game", "start", "result", "ending", "margin"),
        *(*_POSITIONS, *_FIELDS, *_PGN_ONLY, *_EVALUATION, "cp"),
        *(pgn for _, pgn in _FIELDS.values() if pgn),
    )
)
_Row = dict[str, Any]


def _first_of(row: _Row, *names: str) -> Any:
    """The first value that a row has."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _moves_of(row: _Row) -> str:
    moves = _first_of(row, "moves", "move")
    return " ".join(map(str, moves)) if isinstance(moves, list) else str(moves or "")


def _pgn_of_row(row: _Row) -> str:
    text = str(_first_of(row, "pgn", "movetext") or _moves_of(row))
    if text.lstrip().startswith("["):
        return text + "\n\n"
    named = {pgn: _first_of(row, name, pgn) for name, (_, pgn) in _FIELDS.items() if pgn}
    named |= {name: row.get(name) for name in _PGN_ONLY}
    named["FEN"] = _first_of(row, "FEN", "start", *_POSITIONS)
    named["Result"] = named["Result"] or _pgn_result(row.get("result"))
    named["Event"] = named["Event"] or "?"
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in named.items() if value is not None]
    result = named["Result"] if named["Result"] in _PGN_RESULTS.values() else "*"
    ending = "" if text.rstrip().endswith((*_PGN_RESULTS.values(), "*")) else f" {result}"
    return "\n".join(lines) + f"\n\n{text}{ending}\n\n"


_PGN_RESULTS: Final = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


def _pgn_result(result: object) -> object:
    return _PGN_RESULTS.get(result, result) if isinstance(result, float) else result


def _quoted(value: object) -> str:
    return _one_line(value).replace("\\", "\\\\").replace('"', '\\"')


def _one_line(value: object) -> str:
    return " ".join(str(value).split())


def _sgf_of_row(row: _Row) -> str:
    """A row as SGF on one line; a row that is no game gives what the reader refuses."""
    try:
        return f"(;{_sgf_nodes(row)})\n"
    except ValueError as error:
        start = _start_of(row)
        kind = _kind_of(row, start) if start else _one_line(error)
        return f"(;GM[{_escaped(kind)}]SU[{_escaped(_one_line(start))}])\n"


def _sgf_nodes(row: _Row) -> str:
    start = _start_of(row)
    name = _kind_of(row, start)
    if name not in _core.Table.game_names:
        raise NotationError(name)
    facts = game_facts(name)
    position = facts.position_type.from_text(start) if start else facts.position_type()
    is_go = facts.family == GO
    head: _Row = {"GM": facts.formats.sgf_game or name, "SZ": facts.size if is_go else ""}
    head |= {sgf: row.get(field) for field, (sgf, _) in _FIELDS.items()}
    head["RE"] = _sgf_result(row.get("result"), row.get("ending"), row.get("margin"))
    head["HA"] = row.get("handicap") or None
    text = "".join(
        f"{key}[{_escaped(_one_line(value))}]"
        for key, value in head.items()
        if value not in (None, "")
    )
    if start and is_go:
        for key, color in (("AB", 1), ("AW", -1)):
            stones = np.argwhere(np.sign(position.cells) == color).tolist()
            text += key * bool(stones) + "".join(f"[{chr(97 + c)}{chr(97 + r)}]" for r, c in stones)
    elif start:
        text += f"SU[{_escaped(start)}]"
    is_first = position.to_play == _core.Player.first
    text += f"PL[{'B' if is_first else 'W'}]{_evaluation_of(row)}"
    for i, move in enumerate(_moves_of(row).split()):
        point = sgf_point(move, facts.size) if is_go else _escaped("" if move == "pass" else move)
        text += f";{'BW'[(i % 2 == 0) != is_first]}[{point}]"
    return text


def _start_of(row: _Row) -> str:
    return str(_first_of(row, "start", *_POSITIONS) or "")


def _kind_of(row: _Row, start: str) -> str:
    return str(row.get("game") or _game_of_position(start))


def _game_of_position(text: str) -> str:
    """The game of a FEN or an SFEN, by its number of ranks."""
    word = "sfen" if text.partition(" ")[0].count("/") == _SLASHES_OF_SFEN else "fen"
    names = _core.Table.game_names
    return next(name for name in names if game_facts(name).formats.start_word == word)


_SLASHES_OF_SFEN: Final = 8


def _sgf_result(result: object, ending: object, margin: object) -> str:
    if result not in (0.0, 0.5, 1.0):
        return "Void" if ending == "unfinished" else ""
    if result == 0.5:
        return "0"
    how = {"resigned": "R", "time": "T", "forfeit": "F"}.get(str(ending), "")
    if ending == "normal" and isinstance(margin, float):
        how = f"{abs(margin):g}"
    return f"{'B' if result == 1 else 'W'}+{how}"


def _evaluation_of(row: _Row) -> str:
    """The evaluation of a position as commands in a comment."""
    values = {name: row.get(name) for name in _EVALUATION} | {
        "score": _first_of(row, "score", "cp")
    }
    words = [f"[%{name} {value}\\]" for name, value in values.items() if value is not None]
    return f"C[{' '.join(words)}]" if words else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


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
