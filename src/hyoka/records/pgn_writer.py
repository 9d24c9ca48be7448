# SPDX-License-Identifier: Apache-2.0
"""Records as PGN."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from hyoka.records.record import Author, Draft, Record, Remark, commands, one_line, seconds_text

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
            numbers = _engine_comment(remark, "second" if black else "first")
            if not draft.engine_comments or numbers is None:
                numbers = commands(remark, pawns=True)
            yield from _said(draft, remark, numbers)
    yield _RESULTS[record.result]


def _engine_comment(remark: Remark, mover: Author) -> str | None:
    """A remark as match runners (cutechess, fastchess) write them, which other tools read.

    `+0.35/12 1.2s` is the mover's view in pawns, the depth and the time; `+M5` a mate in five
    plies, `book` a book move. What has no place there follows as commands. None if the remark is
    neither a book move nor an evaluation by the mover.
    """
    if remark.book:
        return " ".join(filter(None, ("book", commands(remark, pawns=True, without={"book"}))))
    if remark.author != mover or (remark.score is None and remark.mate is None):
        return None
    said = {"score", "mate", "depth", "spent"}
    sign = 1 if mover == "first" else -1
    if remark.mate is not None:
        mate = sign * remark.mate
        text = f"+M{2 * mate - 1}" if mate > 0 else f"-M{-2 * mate}"
        if remark.score is not None:
            said.remove("score")
    else:
        assert remark.score is not None
        text = _pawns(sign * remark.score)
        if np.float32(100 * float(text)) != np.float32(sign * remark.score):
            said.remove("score")  # the exact score follows
    text += f"/{remark.depth or 0}"
    if remark.spent_s is not None:
        text += f" {seconds_text(remark.spent_s)}s"
    # A command with an evaluation makes it nobody's, so that its author is named again.
    more_evaluations = remark.value is not None or "score" not in said
    rest = commands(
        remark, pawns=False, without=said, implied=None if more_evaluations else remark.author
    )
    return f"{text} {rest}" if rest else text


def _pawns(centipawns: float) -> str:
    """`+0.35`, `-1.20` or `0.00`."""
    text = f"{centipawns / 100:+.2f}"
    return "0.00" if float(text) == 0 else text


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
