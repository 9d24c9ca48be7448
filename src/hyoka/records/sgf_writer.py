# SPDX-License-Identifier: Apache-2.0
"""Records as SGF."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from hyoka import _core
from hyoka.games import GO, game_facts
from hyoka.records.record import Draft, Record, Remark, Wording, commands, number


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


_SAID_BY: Final = {
    "first": ("PB",),
    "second": ("PW",),
    "first_rating": ("BR",),
    "second_rating": ("WR",),
    "event": ("EV",),
    "round": ("RO",),
    "place": ("PC",),
    "date": ("DT",),
    "rules": ("RU",),
    "time_control": ("TM", "OT"),
    "opening": ("ON",),
    "komi": ("KM",),
    "handicap": ("HA",),
    "result": ("RE",),
    "ending": ("RE",),
    "margin": ("RE",),
    "start": ("AB", "AW", "AE", "PL", "SU"),
    "game": ("GM", "SZ"),
}
_NAME: Final = re.compile("[A-Z]+")
_TEXTS: Final = frozenset(
    (
        *("AN", "BR", "BT", "CP", "DT", "EV", "GC", "GN", "ON", "OT"),
        *("PB", "PC", "PW", "RE", "RO", "RU", "SO", "US", "WR", "WT"),
    )
)
"""In which a backslash only escapes; the values of other properties are kept as they stand."""


def as_sgf(draft: Draft) -> str:
    """The record as SGF."""
    record = draft.record
    out = ["(;", *_properties(draft)]
    remarks = draft.remarks()
    if (about := remarks.get(0)) is not None:
        out.append(_node(draft, about))
    first_moves = record.start == "" or _first_to_play(record)
    for i, move in enumerate(record.move_texts("sgf")):
        is_first = (i % 2 == 0) == first_moves
        text = "" if move == "pass" else move
        line_end = "" if i % 10 else "\n"
        out.append(f"{line_end};{'B' if is_first else 'W'}[{text}]")
        if (remark := remarks.get(i + 1)) is not None:
            out.append(_node(draft, remark))
    return "".join(out) + ")\n"


def _properties(draft: Draft) -> Iterator[str]:
    """Of the root: a value, with its name before the first of several."""
    record = draft.record
    facts = game_facts(record.game)
    komi = "" if record.komi is None else np.format_float_positional(record.komi, trim="-")
    made = (
        ("game", "GM", facts.sgf_game),
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
    headers = draft.headers(made, _SAID_BY, _NAME.fullmatch)
    if not all(value.isascii() for _, value in headers) and "CA" not in dict(headers):
        headers.insert(0, ("CA", "UTF-8"))
    last = ""
    for name, value in headers:
        text = "UTF-8" if name == "CA" else _value(name, value)
        yield f"[{text}]" if name == last else f"{name}[{text}]"
        last = name
    if "start" in draft.stale or not any(_NAME.fullmatch(name) for name in record.tags):
        yield _sgf_set_up(record)


def _value(name: str, value: str) -> str:
    # What ends in half an escape, or holds a bracket that would end it, was never read from SGF.
    is_whole = re.fullmatch(r"(?:[^\]\\]|\\.)*", value, re.DOTALL)
    return value if is_whole and name not in _TEXTS else _sgf_text(value)


def _node(draft: Draft, remark: Remark) -> str:
    """What a node says beside its move."""
    # A root's comment is about the game; it holds no value that is read.
    said = commands(remark, pawns=False) if remark.ply else ""
    texts = "".join(f"[{_sgf_text(text)}]" for text in draft.comments(remark, said))
    properties = "" if draft.wording(remark) == Wording.commands else remark.properties
    return properties + (f"C{texts}" if texts else "")


def _first_to_play(record: Record) -> bool:
    return bool(record.position(0).to_play == _core.Player.first)


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
    if game_facts(record.game).family != GO:  # stones don't say everything
        out += f"SU[{_sgf_text(record.start)}]"
    return out + f"PL[{'B' if start.to_play == _core.Player.first else 'W'}]"
