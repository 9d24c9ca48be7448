# SPDX-License-Identifier: Apache-2.0
"""Write records as SGF, PGN, CSA, KIF or lines of moves."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.games import GO, game_facts
from hyoka.records.kifu_writer import as_csa, as_kif
from hyoka.records.reading import read_back
from hyoka.records.record import (
    Author,
    Draft,
    Record,
    Remark,
    Wording,
    commands,
    first_by_ply,
    number,
    one_line,
    seconds_text,
)
from hyoka.storage.files import write_text


def _sgf_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _sgf_result(record: Record) -> str | None:
    if record.result is None:
        return None if record.ending == "unknown" else "Void"
    if record.result == 0.5:
        return "0"
    winner = "B" if record.result == 1 else "W"
    if record.ending == "normal" and record.margin is not None:
        return f"{winner}+{number(abs(record.margin))}"
    ending = {"resigned": "R", "time": "T", "forfeit": "F"}.get(record.ending, "")
    return f"{winner}+{ending}"


_SGF_OTHERS: Final = {
    "time_control": ("TM",),
    "ending": ("RE",),
    "margin": ("RE",),
    "start": ("AB", "AW", "AE", "PL", "SU"),
}
"""Further properties that affect a field."""
_SGF_NAME: Final = re.compile("[A-Z]+")
_TEXTS: Final = frozenset(
    (
        *("AN", "BR", "BT", "CP", "DT", "EV", "GC", "GN", "ON", "OT"),
        *("PB", "PC", "PW", "RE", "RO", "RU", "SO", "US", "WR", "WT"),
    )
)
"""Properties in which a backslash only escapes; others keep their text."""


def as_sgf(draft: Draft) -> str:
    """Write the record as SGF."""
    record = draft.record
    out = ["(;", *_properties(draft)]
    remarks = draft.remarks()
    if (about := remarks.get(0)) is not None:
        out.append(_node(draft, about))
    for i, move in enumerate(record.move_texts("sgf")):
        is_first = (i % 2 == 0) == record.first_begins
        text = "" if move == "pass" else move
        line_end = "" if i % 10 else "\n"
        out.append(f"{line_end};{'B' if is_first else 'W'}[{text}]")
        if (remark := remarks.get(i + 1)) is not None:
            out.append(_node(draft, remark))
    return "".join(out) + ")\n"


def _properties(draft: Draft) -> Iterator[str]:
    """List the root's values, with each property's name before its first value."""
    record = draft.record
    facts = game_facts(record.game)
    komi = "" if record.komi is None else np.format_float_positional(record.komi, trim="-")
    derived = (
        ("game", "GM", facts.formats.sgf_game or facts.name),
        ("", "FF", "4"),
        ("", "CA", "UTF-8"),
        ("game", "SZ", str(facts.size) if facts.family == GO else ""),
        ("first", "PB", record.first),
        ("second", "PW", record.second),
        ("first_rating", "BR", record.first_rating),
        ("second_rating", "WR", record.second_rating),
        ("event", "EV", record.event),
        ("round", "RO", record.round),
        ("place", "PC", record.place),
        ("date", "DT", record.date),
        ("rules", "RU", record.rules),
        ("time_control", "OT", record.time_control),
        ("opening", "ON", record.opening),
        ("komi", "KM", komi),
        ("handicap", "HA", str(record.handicap) if record.handicap else ""),
        ("result", "RE", _sgf_result(record) or ""),
    )
    headers = draft.headers(derived, _SGF_OTHERS, _SGF_NAME.fullmatch)
    if not all(value.isascii() for _, value in headers) and "CA" not in dict(headers):
        headers.insert(0, ("CA", "UTF-8"))
    last = ""
    for name, value in headers:
        text = "UTF-8" if name == "CA" else _value(name, value)
        yield f"[{text}]" if name == last else f"{name}[{text}]"
        last = name
    if "start" in draft.stale or not any(_SGF_NAME.fullmatch(name) for name in record.tags):
        yield _sgf_set_up(record)


def _value(name: str, value: str) -> str:
    # Text that ends in half an escape, or contains a closing bracket, never came from SGF.
    is_escaped = re.fullmatch(r"(?:[^\]\\]|\\.)*", value, re.DOTALL)
    return value if is_escaped and name not in _TEXTS else _sgf_text(value)


def _node(draft: Draft, remark: Remark) -> str:
    """Return the properties of a node besides its move."""
    numbers = commands(remark, pawns=False)
    texts = "".join(f"[{_sgf_text(text)}]" for text in draft.comments(remark, numbers))
    properties = "" if draft.wording(remark) == Wording.commands else remark.properties
    return properties + (f"C{texts}" if texts else "")


def _sgf_set_up(record: Record) -> str:
    if not record.start:
        return ""
    start = record.position(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    stones: dict[int, list[str]] = {1: [], -1: []}
    for row, column in np.argwhere(start.cells != 0).tolist():
        stones[int(np.sign(start.cells[row, column]))].append(f"[{letters[column]}{letters[row]}]")
    out = ""
    if int(np.abs(start.cells).max()) == 1:  # all pieces are alike
        out = "".join(f"{name}{''.join(stones[side])}" for name, side in (("AB", 1), ("AW", -1))
                      if stones[side])  # fmt: skip
    if game_facts(record.game).family != GO:  # stones do not determine the position
        out += f"SU[{_sgf_text(record.start)}]"
    return out + f"PL[{'B' if start.to_play == _core.Player.first else 'W'}]"


_PGN_TERMINATION: Final = {
    "time": "time forfeit",
    "illegal": "rules infraction",
    "adjudicated": "adjudication",
    "forfeit": "abandoned",
    "unfinished": "unterminated",
}


def _pgn_date(date: str) -> str:
    parts = date.split("-")
    if not all(part.isdigit() for part in parts):
        return date or "????.??.??"
    return ".".join([*parts, "??", "??"][:3])


_PGN_OTHERS: Final = {"date": ("UTCDate",), "opening": ("ECO",)}
_PGN_NAME: Final = re.compile(r'[^\x00-\x20\x7f"\]]+')
_RESULTS: Final = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1", None: "*"}
_WIDTH: Final = 100


def as_pgn(draft: Draft) -> str:
    """Write the record as PGN."""
    record = draft.record
    head = "".join(
        f'[{name} "{_escaped(one_line(text))}"]\n'
        for name, text in draft.headers(_pgn_headers(record), _PGN_OTHERS, _PGN_NAME.fullmatch)
    )
    return f"{head}\n{_wrapped(_words(draft))}\n\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _pgn_headers(record: Record) -> tuple[tuple[str, str, str], ...]:
    return (
        ("event", "Event", record.event or "?"),
        ("place", "Site", record.place or "?"),
        ("date", "Date", _pgn_date(record.date)),
        ("round", "Round", record.round or "?"),
        ("first", "White", record.first or "?"),
        ("second", "Black", record.second or "?"),
        ("result", "Result", _RESULTS[record.result]),
        ("first_rating", "WhiteElo", record.first_rating),
        ("second_rating", "BlackElo", record.second_rating),
        ("time_control", "TimeControl", record.time_control),
        ("opening", "Opening", record.opening),
        ("rules", "Variant", "Chess960" if record.rules == "chess960" else ""),
        ("ending", "Termination", _PGN_TERMINATION.get(record.ending, "")),
        ("start", "SetUp", "1" if record.start else ""),
        ("start", "FEN", record.start),
    )


def _words(draft: Draft) -> Iterator[str]:
    """Write the moves, their numbers, NAGs and comments, and the result."""
    record = draft.record
    remarks = draft.remarks()
    offset = 0
    if record.start:
        fields = record.position(0).text.split()
        offset = 2 * (int(fields[5]) - 1) + (fields[1] == "b")
    if (about := remarks.get(0)) is not None:
        yield from _annotation(draft, about, commands(about, pawns=True))
    numbered = True
    for i, san in enumerate(record.move_texts("san")):
        turn, black = divmod(i + offset, 2)
        if not black:
            yield f"{turn + 1}."
        elif numbered:
            yield f"{turn + 1}..."
        yield san
        remark = remarks.get(i + 1)
        numbered = remark is not None
        if remark is not None:
            numbers = _engine_comment(remark, "second" if black else "first")
            if not draft.engine_comments or numbers is None:
                numbers = commands(remark, pawns=True)
            yield from _annotation(draft, remark, numbers)
    yield _RESULTS[record.result]


def _engine_comment(remark: Remark, mover: Author) -> str | None:
    """Format a remark as match runners (cutechess, fastchess) do, for other tools.

    `+0.35/12 1.2s` is the mover's view in pawns, the depth and the time; `+M5` a mate in five
    plies, `book` a book move. Other data follow as commands. None if the remark is neither a book
    move nor an evaluation by the mover.
    """
    if remark.book:
        return " ".join(filter(None, ("book", commands(remark, pawns=True, without={"book"}))))
    if remark.author != mover or (remark.score is None and remark.mate is None):
        return None
    written = {"score", "mate", "depth", "spent"}
    sign = 1 if mover == "first" else -1
    if remark.mate is not None:
        mate = sign * remark.mate
        text = f"+M{2 * mate - 1}" if mate > 0 else f"-M{-2 * mate}"
        if remark.score is not None:
            written.remove("score")
    else:
        assert remark.score is not None
        text = _pawns(sign * remark.score)
        if np.float32(100 * float(text)) != np.float32(sign * remark.score):
            written.remove("score")  # the exact score follows
    text += f"/{remark.depth or 0}"
    if remark.spent_s is not None:
        text += f" {seconds_text(remark.spent_s)}s"
    # A command with an evaluation resets the author, so name it again.
    more_evaluations = remark.value is not None or "score" not in written
    rest = commands(
        remark, pawns=False, without=written, implied=None if more_evaluations else remark.author
    )
    return f"{text} {rest}" if rest else text


def _pawns(centipawns: float) -> str:
    """Format pawns as `+0.35`, `-1.20` or `0.00`."""
    text = f"{centipawns / 100:+.2f}"
    return "0.00" if float(text) == 0 else text


def _annotation(draft: Draft, remark: Remark, numbers: str) -> Iterator[str]:
    yield from (f"${nag}" for nag in remark.nags)
    for text in draft.comments(remark, numbers):
        if "}" not in text:
            yield f"{{{text}}}"
        else:  # a comment to the end of the line may contain anything but line breaks
            yield from (f";{line}\n" for line in text.split("\n"))


def _wrapped(words: Iterable[str]) -> str:
    """Wrap words to lines of a maximum length; comments are unchanged."""
    out: list[str] = []
    at = 0
    for word in words:
        if at and at + 1 + len(word) > _WIDTH:
            out.append("\n")
            at = 0
        elif at:
            out.append(" ")
            at += 1
        out.append(word)
        line_end = word.rfind("\n")
        at = at + len(word) if line_end < 0 else len(word) - line_end - 1
    return "".join(out).rstrip("\n")


def _line(draft: Draft) -> str:
    record = draft.record
    facts = game_facts(record.game)
    if facts.formats.line_style == "transcript":
        return "".join(move for move in record.move_texts() if move != "pass") + "\n"
    if facts.formats.line_style == "codes":
        return " ".join(record.move_texts("code")) + "\n"
    start = f"{facts.formats.start_word} {record.start}" if record.start else "startpos"
    return " ".join([start, "moves", *record.move_texts()]) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A notation that records are written in."""

    title: str
    write: Callable[[Draft], str]
    suffixes: tuple[str, ...]
    """Of its files, the most common one first."""
    media_type: str = "text/plain"
    read_as: str = ""
    """The format that reads it; by default of the same name."""
    separator: str = ""
    """Text between two records of a file."""


WRITERS: Final = {
    "sgf": Writer(
        title="SGF",
        write=as_sgf,
        suffixes=(".sgf", ".blksgf"),
        media_type="application/x-go-sgf",
    ),
    "pgn": Writer(
        title="PGN", write=as_pgn, suffixes=(".pgn",), media_type="application/x-chess-pgn"
    ),
    "csa": Writer(title="CSA", write=as_csa, suffixes=(".csa",), separator="/\n"),
    "kif": Writer(title="KIF", write=as_kif, suffixes=(".kif", ".kifu"), read_as="kifu"),
    "lines": Writer(title="Line of moves", write=_line, suffixes=(".txt", ".usi", ".sfen")),
}
"""The notations that records are written in, by name."""
_NAMES: Final = {suffix: name for name, each in WRITERS.items() for suffix in each.suffixes}


def record_text(record: Record, format: str, *, engine_comments: bool | None = None) -> str:
    """Write the record in a format of `WRITERS`; unsupported data are omitted.

    The record's own headers and comments are written verbatim if they agree with its fields and
    remarks. In PGN, other evaluations of players' own moves have the format of match runners,
    `{+0.35/12 1.2s}`, which most tools read. With `engine_comments`, the record's own comments with
    evaluations are rewritten: True in this format, False as commands, `{[%eval 0.35]}`.

    >>> import hyoka as hk
    >>> [game] = hk.parse_records("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0")
    >>> print(hk.records.record_text(game, "lines"), end="")
    startpos moves e2e4 e7e5 d1h5 e8e7 h5e5
    """
    if format not in WRITERS:
        raise NotationError(f"no writer for '{format}'; known: {', '.join(WRITERS)}")
    if not isinstance(record, Record):
        raise NotationError(
            f"a {type(record).__name__} is no Record; games written in Python have no notation: "
            "PythonLine's text holds the moves of one, and PythonLine.read reads it"
        )
    if format not in game_facts(record.game).formats.notations:
        words = "lines of moves are" if format == "lines" else f"{format.upper()} is"
        raise NotationError(f"{words} not written for {record.game}")
    writer = WRITERS[format]
    rewritten = {} if engine_comments is None or format != "pgn" else _evaluations(record)
    draft = Draft(_plain(record), wordings=rewritten, engine_comments=engine_comments is not False)
    while True:
        text = writer.write(draft)
        if format == "lines" or not _has_own_words(draft.record):
            return text
        fitted = _fitted(draft, read_back(text, writer.read_as or format))
        if fitted is None:
            return text
        draft = fitted


def _evaluations(record: Record) -> dict[int, Wording]:
    """The style in which remarks with evaluations are rewritten, by ply."""
    return {
        each.ply: Wording.both
        for each in record.remarks
        if each.ply and (each.score is not None or each.mate is not None)
    }


_CONTROLS: Final = dict.fromkeys((*range(32), 127), " ")


def _plain(record: Record) -> Record:
    """Make all texts of the record single lines, so that none can become another line of a file."""
    texts: dict[str, Any] = {
        name: value.translate(_CONTROLS)
        for name, value in vars(record).items()
        if isinstance(value, str) and not value.isprintable()
    }
    return replace(record, **texts) if texts else record


def _has_own_words(record: Record) -> bool:
    return bool(record.tags) or any(each.text or each.properties for each in record.remarks)


_COMPARED: Final = tuple(
    each.name for each in fields(Record) if each.compare and each.name not in ("moves", "remarks")
)


def _fitted(draft: Draft, read: Record | None) -> Draft | None:
    """Change a draft where it reads back differently; None if nothing is left to try."""
    record = draft.record
    if read is None or read.moves.tolist() != record.moves.tolist():
        # Texts that no longer read back as comments: put them on one line, then drop them.
        for wording in (Wording.both, Wording.commands):
            if any(draft.wording(each) < wording for each in record.remarks):
                return replace(draft, wordings={each.ply: wording for each in record.remarks})
        return replace(draft, record=replace(record, tags={})) if record.tags else None
    stale = {name for name in _COMPARED if getattr(read, name) != getattr(record, name)}
    there = first_by_ply(read.remarks)
    wordings = {
        remark.ply: Wording(wording + 1)
        for remark in record.remarks
        if (wording := draft.wording(remark)) != Wording.commands
        and not _same(remark, there.get(remark.ply, Remark(remark.ply)))
    }
    if stale <= draft.stale and not wordings:
        return None
    return replace(draft, stale=draft.stale | stale, wordings={**draft.wordings, **wordings})


def _same(remark: Remark, read: Remark) -> bool:
    """Whether two remarks have equal content; tables store numbers in 32 bits."""
    if remark == read:
        return True
    short: dict[str, Any] = {
        name: float(np.float32(value))
        for name in ("value", "score")
        if (value := getattr(remark, name)) is not None
    }
    for name in ("clock_s", "spent_s"):  # times are written to the millisecond
        mine, theirs = getattr(remark, name), getattr(read, name)
        if None not in (mine, theirs) and math.isclose(mine, theirs, rel_tol=1e-6, abs_tol=6e-4):
            short[name] = theirs
    return replace(remark, **short) == read


def format_of_path(path: Path) -> str:
    """Return the format of a file name's suffix."""
    if path.suffix.lower() not in _NAMES:
        raise NotationError(f"{path.name}: unknown format; endings are {', '.join(_NAMES)}")
    return _NAMES[path.suffix.lower()]


def write_records(
    records: Iterable[Record],
    path: str | Path,
    *,
    format: str | None = None,
    engine_comments: bool | None = None,
) -> int:
    """Write records to one file atomically and return their number.

    By default the name determines the format (`.sgf`, `.pgn`, `.csa`, `.kif`, `.usi`).
    `engine_comments` is for PGN, see `record_text`.
    """
    path = Path(path)
    notation = format or format_of_path(path)
    texts = [record_text(record, notation, engine_comments=engine_comments) for record in records]
    separator = WRITERS[notation].separator if notation in WRITERS else ""
    write_text(path, separator.join(texts))
    return len(texts)
