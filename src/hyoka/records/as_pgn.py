# SPDX-License-Identifier: Apache-2.0
"""Records as PGN."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from hyoka.records.draft import Draft, commands, one_line
from hyoka.records.record import Record, Remark

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


_SAID_BY: Final = {
    "event": ("Event",),
    "place": ("Site",),
    "date": ("Date", "UTCDate"),
    "round": ("Round",),
    "first": ("White",),
    "second": ("Black",),
    "result": ("Result",),
    "first_rating": ("WhiteElo",),
    "second_rating": ("BlackElo",),
    "time_control": ("TimeControl",),
    "opening": ("Opening", "ECO"),
    "rules": ("Variant",),
    "ending": ("Termination",),
    "start": ("SetUp", "FEN"),
}
_NAME: Final = re.compile(r'[^\x00-\x20\x7f"\]]+')
_RESULTS: Final = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1", None: "*"}
_WIDTH: Final = 100


def as_pgn(draft: Draft) -> str:
    """The record as PGN."""
    record = draft.record
    head = "".join(
        f'[{name} "{_escaped(one_line(text))}"]\n'
        for name, text in draft.headers(_made(record), _SAID_BY, _NAME.fullmatch)
    )
    return f"{head}\n{_wrapped(_words(draft))}\n\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _made(record: Record) -> tuple[tuple[str, str, str], ...]:
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
    """Moves, their numbers, signs and comments, and the result."""
    record = draft.record
    remarks = draft.remarks()
    offset = 0
    if record.start:
        fields = record.position(0).text.split()
        offset = 2 * (int(fields[5]) - 1) + (fields[1] == "b")
    if (about := remarks.get(0)) is not None:
        yield from _said(draft, about, "")
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
            yield from _said(draft, remark, commands(remark, pawns=True))
    yield _RESULTS[record.result]


def _said(draft: Draft, remark: Remark, numbers: str) -> Iterator[str]:
    yield from (f"${nag}" for nag in remark.nags)
    for text in draft.comments(remark, numbers):
        if "}" not in text:
            yield f"{{{text}}}"
        else:  # a comment to the end of the line may hold anything but one
            yield from (f";{line}\n" for line in text.split("\n"))


def _wrapped(words: Iterable[str]) -> str:
    """Words on lines of some length; what is in a comment stays as it is."""
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
