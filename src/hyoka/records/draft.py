# SPDX-License-Identifier: Apache-2.0
"""A record on its way to a notation: which of its own headers and words it is written with.

Headers and comments are written as they were read. Where they no longer say what the record's
fields say, the fields count: somebody has changed them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import numpy as np

from hyoka.records.record import Record, Remark

SEPARATOR: Final = "\f"
"""Between comments, and between the values of a header that comes several times."""

_CONTROLS: Final = dict.fromkeys((*(set(range(32)) - {9, 10}), 127), " ")
"""Lines and tabs stay; what is more than a line of a file takes care of itself."""


class Wording(IntEnum):
    """How a remark is written, the first choice first."""

    own = 0
    """In its own words, which say its numbers as well."""
    both = 1
    """Its numbers as commands, and what else its words say on one line."""
    commands = 2
    """Its numbers alone."""


@dataclass(frozen=True)
class Draft:
    """A record and what of its own words holds."""

    record: Record
    stale: frozenset[str] = frozenset()
    """Fields that its headers do not say."""
    wordings: Mapping[int, Wording] = field(default_factory=dict)
    """By plies; those that are not here are written in their own words."""
    engine_comments: bool = True
    """Whether PGN has players' evaluations as match runners write them, `{+0.35/12 1.2s}`."""

    def headers(
        self,
        made: Iterable[tuple[str, str, str]],
        said_by: Mapping[str, Sequence[str]],
        is_name: Callable[[str], object],
    ) -> list[tuple[str, str]]:
        """Names and values: the record's own, and those made of fields that they do not say.

        `made` are fields with the header that says them, `said_by` all headers that feed a field,
        `is_name` tells which names are of this notation.
        """
        own = [
            (name, value.translate(_CONTROLS))
            for name, values in self.record.tags.items()
            if is_name(name)
            for value in values.split(SEPARATOR)
        ]
        if not own:
            return [(name, text) for _, name, text in made if text]
        wrong = {name for each in self.stale for name in said_by.get(each, ())}
        return [
            *((name, value) for name, value in own if name not in wrong),
            *(
                (name, text)
                for each, name, text in made
                if text and (each in self.stale or name in wrong)
            ),
        ]

    def wording(self, remark: Remark) -> Wording:
        """How a remark is written."""
        if not remark.text and not remark.properties:
            return Wording.commands
        return self.wordings.get(remark.ply, Wording.own)

    def comments(self, remark: Remark, said: str) -> list[str]:
        """What is written about a position; `said` are the remark's numbers as commands."""
        wording = self.wording(remark)
        if wording == Wording.own:
            texts = remark.text.split(SEPARATOR)
            return [text.translate(_CONTROLS) for text in texts if text]
        rest = _without_commands(remark.text) if wording == Wording.both else ""
        return [text for text in (" ".join(filter(None, (said, rest))),) if text]

    def remarks(self) -> dict[int, Remark]:
        """By plies; of several on one position the first, as notations have room for one."""
        return first_by_ply(self.record.remarks)


def first_by_ply(remarks: Iterable[Remark]) -> dict[int, Remark]:
    """The first remark on each position."""
    found: dict[int, Remark] = {}
    for remark in remarks:
        found.setdefault(remark.ply, remark)
    return found


_COMMAND: Final = re.compile(
    r"\[%(?:eval|clk|emt|value|score|mate|depth|book|author)\s[^\]]{0,99}\]|^\*\*"
    r"|(?:(?<=\f)|^)\s*(?:[+-]?M?[0-9.]+/[0-9]+(?:\s+[0-9.]+m?s\b)?|book(?=\s*(?:[\f,]|$))),?"
)


def _without_commands(text: str) -> str:
    """What a comment says beside numbers that are written anew, on one line."""
    return " ".join(_COMMAND.sub(" ", text).split())


def one_line(text: str) -> str:
    """The same text without line ends."""
    return text.replace("\n", " ")


def number(value: float) -> str:
    """The shortest text that reads back as the same 32-bit number."""
    return np.format_float_positional(np.float32(value), trim="-")


def seconds_text(seconds: float) -> str:
    """Seconds to the millisecond: `1.2`."""
    return f"{seconds:.3f}".rstrip("0").removesuffix(".")


def clock(seconds: float) -> str:
    """As lichess writes it, to the millisecond: `1:02:03.5`."""
    full, _, fraction = seconds_text(seconds).partition(".")
    minutes, rest = divmod(int(full), 60)
    text = f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
    return f"{text}.{fraction}" if fraction else text


def commands(
    remark: Remark,
    *,
    pawns: bool,
    without: Set[str] = frozenset(),
    implied: str | None = None,
) -> str:
    """A remark as commands in a comment; `pawns`: scores as lichess writes them.

    `implied` is whom readers take for the author if nobody is named.
    """
    parts = []
    if pawns and remark.score is not None and float(np.float32(remark.score)).is_integer():
        depth = f",{remark.depth}" if remark.depth else ""
        parts.append(f"[%eval {remark.score / 100:.2f}{depth}]")
        without = without | {"score", "depth"}
    elif pawns and remark.mate is not None:
        depth = f",{remark.depth}" if remark.depth else ""
        parts.append(f"[%eval #{remark.mate}{depth}]")
        without = without | {"mate", "depth"}
    if remark.value is not None:
        parts.append(f"[%value {number(remark.value)}]")
    if remark.score is not None and "score" not in without:
        parts.append(f"[%score {number(remark.score)}]")
    if remark.mate is not None and "mate" not in without:
        parts.append(f"[%mate {remark.mate}]")
    if remark.depth is not None and "depth" not in without:
        parts.append(f"[%depth {remark.depth}]")
    if remark.clock_s is not None and "clock" not in without:
        parts.append(f"[%clk {clock(remark.clock_s)}]")
    if remark.spent_s is not None and "spent" not in without:
        parts.append(f"[%emt {clock(remark.spent_s)}]")
    if remark.book and "book" not in without:
        parts.append("[%book 1]")
    if remark.author != implied:
        parts.append(f"[%author {remark.author or 'unknown'}]")
    return " ".join(parts)
