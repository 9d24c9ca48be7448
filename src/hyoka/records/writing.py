# SPDX-License-Identifier: Apache-2.0
"""Writing records: what the model of a game holds can be written and read again."""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hyoka.foundation.errors import NotationError
from hyoka.games import game_facts
from hyoka.records.kifu_writer import as_csa, as_kif
from hyoka.records.pgn_writer import as_pgn
from hyoka.records.reading import read_back
from hyoka.records.record import Draft, Record, Remark, Wording, first_by_ply
from hyoka.records.sgf_writer import as_sgf
from hyoka.storage.files import write_text


def _line(draft: Draft) -> str:
    record = draft.record
    facts = game_facts(record.game)
    if facts.line_style == "transcript":
        return "".join(move for move in record.move_texts() if move != "pass") + "\n"
    if facts.line_style == "codes":
        return " ".join(record.move_texts("code")) + "\n"
    start = f"{facts.start_word} {record.start}" if record.start else "startpos"
    return " ".join([start, "moves", *record.move_texts()]) + "\n"


WRITERS: Final[dict[str, Callable[[Draft], str]]] = {
    "sgf": as_sgf,
    "pgn": as_pgn,
    "csa": as_csa,
    "kif": as_kif,
    "lines": _line,
}
_READ_AS: Final = {"kif": "kifu"}
_SUFFIXES: Final = {
    ".sgf": "sgf",
    ".blksgf": "sgf",
    ".pgn": "pgn",
    ".csa": "csa",
    ".kif": "kif",
    ".kifu": "kif",
    ".usi": "lines",
    ".sfen": "lines",
    ".txt": "lines",
}
_SEPARATORS: Final = {"csa": "/\n"}


def record_text(record: Record, format: str, *, engine_comments: bool = True) -> str:
    """The record in a format of `WRITERS`; what the format has no words for is left out.

    In PGN, players' evaluations of their own moves are written as match runners write them,
    `{+0.35/12 1.2s}`, which most tools read; without `engine_comments` as commands, `[%eval 0.35]`.

    Its own headers and comments are written as they were read, as far as they still say what its
    fields and remarks say.

    >>> import hyoka as hk
    >>> [game] = hk.parse_records("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0")
    >>> print(hk.record_text(game, "lines"), end="")
    startpos moves e2e4 e7e5 d1h5 e8e7 h5e5
    """
    if format not in WRITERS:
        raise NotationError(f"no writer for '{format}'; there are {', '.join(WRITERS)}")
    if not isinstance(record, Record):
        raise NotationError(
            f"a {type(record).__name__} is no Record; games written in Python have no notation: "
            "PythonLine's text holds the moves of one, and PythonLine.read reads it"
        )
    if format not in game_facts(record.game).notations:
        words = "lines of moves are" if format == "lines" else f"{format.upper()} is"
        raise NotationError(f"{words} not written for {record.game}")
    draft = Draft(_plain(record), engine_comments=engine_comments)
    while True:
        text = WRITERS[format](draft)
        if format == "lines" or not _has_own_words(draft.record):
            return text
        fitted = _fitted(draft, read_back(text, _READ_AS.get(format, format)))
        if fitted is None:
            return text
        draft = fitted


_CONTROLS: Final = dict.fromkeys((*range(32), 127), " ")


def _plain(record: Record) -> Record:
    """The record with texts of one line each, so that none can become another line of a file."""
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
    """A draft that says more of the record, given how this one reads; None if there is none."""
    record = draft.record
    if read is None or read.moves.tolist() != record.moves.tolist():
        # Words that are no comments any more: on one line they can do less, without them nothing.
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
    """Whether two remarks say the same; a table keeps numbers in 32 bits."""
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
    """The format that a file's name asks for."""
    if path.suffix.lower() not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise NotationError(f"{path.name}: what format? Known endings are {known}")
    return _SUFFIXES[path.suffix.lower()]


def write_records(
    records: Iterable[Record],
    path: str | Path,
    *,
    format: str | None = None,
    engine_comments: bool = True,
) -> int:
    """Write records to one file, whole or not at all, and give how many.

    The format is told by the name (`.sgf`, `.pgn`, `.csa`, `.kif`, `.usi`) unless given.
    `engine_comments` is for PGN, see `record_text`.
    """
    path = Path(path)
    wanted = format or format_of_path(path)
    texts = [record_text(record, wanted, engine_comments=engine_comments) for record in records]
    between = _SEPARATORS.get(wanted, "")
    joined = itertools.chain.from_iterable(
        (between, text) if i else (text,) for i, text in enumerate(texts)
    )
    write_text(path, "".join(joined))
    return len(texts)
