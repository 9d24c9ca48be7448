# SPDX-License-Identifier: Apache-2.0
"""A recorded game in any notation, with sortable ranks and dates."""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cached_property
from html import escape
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.games import Move, Position, Replay, game_facts, registered_start, replay_of

_DIGITS = str.maketrans("０１２３４５６７８９一二三四五六七八九", "0123456789123456789")
_ELO = re.compile(r"\s*[+-]?(\d{1,5}(?:\.\d+)?)")
_RANK = re.compile(r"(\d{1,2})\s*(k|kyu|gup|級|级|d|dan|段|a|p|pro|ama)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:[-./年](\d{1,2}))?(?:[-./月](\d{1,2}))?")


@functools.lru_cache(maxsize=65536)
def rank_number(text: str) -> float | None:
    """Parse a rating or rank as a number: the higher the stronger; None if unreadable.

    Ratings are their own number. Ranks count from 30 kyu = 0 over 1 kyu = 29 and 1 dan = 30 to 9
    dan = 38; professional dans follow, 1p = 39 to 9p = 47. Ratings and ranks are not comparable.

    >>> [rank_number(rank) for rank in ("2715", "18k", "6d", "9p", "四段", "?")]
    [2715.0, 12.0, 35.0, 47.0, 33.0, None]
    """
    parsed = _parsed(text)
    if parsed is None:
        return None
    number, unit = parsed
    return {"k": 30 - number, "d": 29 + number, "p": 38 + number, "": number}[unit]


def rank_label(text: str) -> tuple[str, bool] | None:
    """Normalize a rating or rank; return it and whether it is a rank, or None if unreadable.

    >>> [rank_label(rank) for rank in ("2715.0", "18 kyu", "四段", "9p", "?")]
    [('2715', False), ('18k', True), ('4d', True), ('9p', True), None]
    """
    parsed = _parsed(text)
    return None if parsed is None else (f"{parsed[0]:g}{parsed[1]}", bool(parsed[1]))


def _parsed(text: str) -> tuple[float, str] | None:
    """Split into the number and its unit: k, d, p, or nothing for a rating."""
    plain = text.translate(_DIGITS).replace("初段", "1段").replace("十", "10")
    if rank := _RANK.search(plain):
        unit = rank[2].lower()
        if unit in ("k", "kyu", "gup", "級", "级"):
            return float(rank[1]), "k"
        return float(rank[1]), "p" if unit in ("p", "pro") else "d"
    elo = _ELO.match(plain)
    return (float(elo[1]), "") if elo else None


@dataclass
class Range:
    """Number, total, minimum and maximum of numbers."""

    count: int = 0
    total: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    @property
    def mean(self) -> float | None:
        """The arithmetic mean; None without numbers."""
        return self.total / self.count if self.count else None


@dataclass
class RankRange(Range):
    """The lowest and highest of ranks or ratings."""

    lowest: str = ""
    highest: str = ""

    def add(self, number: float, label: str, count: int) -> None:
        """Add a number `count` times."""
        self.count += count
        self.total += number * count
        if number < self.low:
            self.low, self.lowest = number, label
        if number > self.high:
            self.high, self.highest = number, label

    @property
    def text(self) -> str:
        """The range as text."""
        return self.lowest if self.lowest == self.highest else f"{self.lowest} to {self.highest}"


@dataclass
class Standings:
    """Ranks and ratings, apart: their numbers are not comparable.

    >>> standings = Standings()
    >>> standings.add([("3k", 2), ("12 dan", 1), ("2715.0", 3), ("?", 1), ("9p", 1)])
    >>> standings.ranks.text, standings.ranks.count, standings.ratings.text
    ('3k to 9p', 4, '2715')
    """

    ranks: RankRange = field(default_factory=RankRange)
    ratings: RankRange = field(default_factory=RankRange)

    def add(self, counts: Iterable[tuple[str, int]]) -> None:
        """Add texts with their counts; unreadable texts are ignored."""
        for text, count in counts:
            number, label = rank_number(text), rank_label(text)
            if number is not None and label is not None:
                (self.ranks if label[1] else self.ratings).add(number, label[0], count)


@functools.lru_cache(maxsize=65536)
def ordered_date(text: str) -> str:
    """Convert a date to year-month-day, possibly partial, so that text order is time order.

    >>> [ordered_date(date) for date in ("1998.10.05", "2016/1/2", "1846-09-11,12", "1977.??.??")]
    ['1998-10-05', '2016-01-02', '1846-09-11', '1977']
    """
    date = _DATE.search(text)
    if date is None:
        return text
    year, month, day = date.groups()
    if month is None or not 1 <= int(month) <= 12:
        return year
    if day is None or not 1 <= int(day) <= 31:
        return f"{year}-{int(month):02}"
    return f"{year}-{int(month):02}-{int(day):02}"


Ending = Literal[
    "unknown", "normal", "resigned", "time", "illegal", "adjudicated", "forfeit", "unfinished"
]
Author = Literal["first", "second"]
ENDINGS: Final[tuple[Ending, ...]] = get_args(Ending)
"""How a game can end."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A record's remark about the position after a move, in the first player's view."""

    ply: int
    """Moves played before the position."""
    value: float | None = None
    """Expected result, 0 to 1."""
    score: float | None = None
    """Centipawns in chess, the program's own unit in shogi, points in Go."""
    mate: int | None = None
    """Moves to mate: positive if the first player mates, negative if the second does."""
    depth: int | None = None
    clock_s: float | None = None
    """Time left for the player who moved."""
    spent_s: float | None = None
    """Time spent on the move."""
    book: bool = False
    """Whether the move is from an opening book."""
    author: Author | None = None
    """The author of value, score and mate; None for others, such as a site's analysis."""
    nags: tuple[int, ...] = ()
    """PGN's numeric annotation glyphs: 1 is `!`, 2 `?`, 18 a won position."""
    text: str = field(default="", compare=False)
    """The original comments including values, separated by form feeds.

    Not compared: different texts can have the same content.
    """
    properties: str = field(default="", compare=False)
    """An SGF node's other properties, verbatim: `TR[dd][pp]`."""
    nodes: int | None = None
    """Nodes, visits or playouts of the evaluation."""


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """A recorded game.

    `first` is Black in Go, shogi and Othello, White in chess, the first to move in Blokus Duo.
    Text fields are empty if the record does not state them.
    """

    game: str
    moves: NDArray[np.uint16]
    """The codes of the moves, including passes."""
    start: str = ""
    """The initial position; empty for the game's standard one."""
    first: str = ""
    second: str = ""
    first_rating: str = ""
    second_rating: str = ""
    event: str = ""
    round: str = ""
    place: str = ""
    date: str = ""
    """Year-month-day, possibly partial, so that text order is time order."""
    rules: str = ""
    time_control: str = ""
    opening: str = ""
    komi: float | None = None
    handicap: int = 0
    result: float | None = None
    """The first player's result: 1 won, 0.5 drawn, 0 lost; None if not recorded."""
    ending: Ending = "unknown"
    margin: float | None = None
    """The points by which the first player won."""
    remarks: tuple[Remark, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict, compare=False)
    """All headers, verbatim: PGN's tags, SGF's root properties, CSA's and KIF's.

    A header's repeated values are joined by form feeds. Writers keep the headers that agree with
    the other fields.
    """
    source: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    number: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        self.moves.flags.writeable = False

    def __repr__(self) -> str:
        result = {None: "?", 1.0: "first won", 0.5: "drawn", 0.0: "second won"}[self.result]
        players = f"{self.first or '?'} – {self.second or '?'}"
        return f"<Record {self.game} {players}, {len(self)} moves, {result} ({self.ending})>"

    def _repr_html_(self) -> str:
        from hyoka.games.diagram import svg  # noqa: PLC0415 - only a notebook asks
        from hyoka.games.diagram.builders import diagram  # noqa: PLC0415 - as above

        last = self.position()
        board = svg(diagram(last), size=352) if hasattr(last, "cells") else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{board}"

    def __len__(self) -> int:
        """Return the number of moves, passes included."""
        return len(self.moves)

    @property
    def first_rank(self) -> float | None:
        """The first player's rating or rank as a sortable number."""
        return rank_number(self.first_rating)

    @property
    def second_rank(self) -> float | None:
        """The second player's rating or rank as a sortable number."""
        return rank_number(self.second_rating)

    def content(self) -> tuple[object, ...]:
        """Return everything but the record's source; equal contents are equal games.

        Some spellings are normalized: remarks with only words are left out, and headers are
        compared by content.
        """
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.compare}
        values["moves"] = tuple(self.moves.tolist())
        values["remarks"] = tuple(each for each in self.remarks if each != Remark(each.ply))
        return tuple(values.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.content() == other.content()

    def __hash__(self) -> int:
        return hash((self.game, self.start, self.moves.tobytes()))

    def move_texts(self, notation: str = "") -> list[str]:
        """Return the moves as text in a notation: `san`, `csa`, `kif`, `ki2`, `sgf`, `code`."""
        if self._is_in_python and not notation:
            return list(map(str, self.move_list))
        game = game_facts(self.game).name
        return _core.move_texts(game, self.start, self._komi, self.moves, notation)

    @property
    def first_begins(self) -> bool:
        """Whether the first player makes the first move."""
        return not self.start or bool(self.position(0).to_play == _core.Player.first)

    def position(self, ply: int | None = None) -> Position:
        """Return the position after `ply` moves, by default after all."""
        at = len(self) if ply is None else ply
        if not 0 <= at <= len(self):
            raise IndexError(f"ply {ply} of a game of {len(self)} moves")
        position: Position = self._replay().position(at)
        return position

    def position_text(self, ply: int) -> str:
        """Return the text of the position after `ply` moves; empty in some Python games."""
        text = getattr(self.position(ply), "text", None)
        return " ".join(self.move_texts()[:ply]) if text is None else str(text)

    def positions(self) -> Iterator[Position]:
        """Iterate over all positions from start to end."""
        return map(self._replay().position, range(len(self) + 1))

    def _replay(self) -> Replay:
        return replay_of(self.game, self.start, self._komi, self.moves)

    @property
    def _is_in_python(self) -> bool:
        return registered_start(self.game) is not None

    @cached_property
    def move_list(self) -> list[Move]:
        """Iterate over the moves as values."""
        if self._is_in_python:
            return list(self._replay().line(len(self)).moves)
        facts = game_facts(self.game)
        return [facts.move(code) for code in self.moves.tolist()]

    @property
    def _komi(self) -> float:
        return math.nan if self.komi is None else self.komi


SEPARATOR: Final = "\f"
"""Separates comments, and the values of a repeated header."""

_CONTROLS: Final = dict.fromkeys((*(set(range(32)) - {9, 10}), 127), " ")
"""Matches control characters except line breaks and tabs."""


class Wording(IntEnum):
    """Styles of remarks, the preferred one first."""

    own = 0
    """The original text, which includes the numbers."""
    both = 1
    """The numbers as commands, and the rest of the text on one line."""
    commands = 2
    """Only the numbers."""


@dataclass(frozen=True)
class Draft:
    """A record, and which of its texts still apply."""

    record: Record
    stale: frozenset[str] = frozenset()
    """Fields that no header states."""
    wordings: Mapping[int, Wording] = field(default_factory=dict)
    """Styles by ply; all other remarks keep their original text."""
    engine_comments: bool = True
    """Whether players' evaluations in PGN have the style of match runners, `{+0.35/12 1.2s}`."""

    def headers(
        self,
        derived: Sequence[tuple[str, str, str]],
        others: Mapping[str, Sequence[str]],
        is_name: Callable[[str], object],
    ) -> list[tuple[str, str]]:
        """List header names and values: the record's own, and those derived from other fields.

        `derived` are fields with their headers and texts, `others` further headers that affect a
        field; `is_name` accepts this notation's names.
        """
        own = [
            (name, value.translate(_CONTROLS))
            for name, values in self.record.tags.items()
            if is_name(name)
            for value in values.split(SEPARATOR)
        ]
        if not own:
            return [(name, text) for _, name, text in derived if text]
        wrong = {name for each, name, _ in derived if each in self.stale}
        wrong |= {name for each in self.stale for name in others.get(each, ())}
        return [
            *((name, value) for name, value in own if name not in wrong),
            *(
                (name, text)
                for each, name, text in derived
                if text and (each in self.stale or name in wrong)
            ),
        ]

    def wording(self, remark: Remark) -> Wording:
        """Return the style of a remark."""
        if not remark.text and not remark.properties:
            return Wording.commands
        return self.wordings.get(remark.ply, Wording.own)

    def comments(self, remark: Remark, numbers: str) -> list[str]:
        """Return the comment on a position; `numbers` are the remark's numbers as commands."""
        wording = self.wording(remark)
        if wording == Wording.own:
            texts = remark.text.split(SEPARATOR)
            return [text.translate(_CONTROLS) for text in texts if text]
        rest = _without_commands(remark.text) if wording == Wording.both else ""
        return [text for text in (" ".join(filter(None, (numbers, rest))),) if text]

    def remarks(self) -> dict[int, Remark]:
        """Map plies to remarks, the first for each position, since notations have room for one."""
        return first_by_ply(self.record.remarks)


def first_by_ply(remarks: Iterable[Remark]) -> dict[int, Remark]:
    """Return the first remark on each position."""
    first: dict[int, Remark] = {}
    for remark in remarks:
        first.setdefault(remark.ply, remark)
    return first


_COMMAND: Final = re.compile(
    r"\[%(?:eval|clk|emt|value|score|mate|depth|nodes|book|author)\s[^\]]{0,99}\]|^\*\*"
    r"|(?:(?<=\f)|^)\s*(?:[+-]?M?[0-9.]+/[0-9]+(?:\s+[0-9.]+m?s\b)?|book(?=\s*(?:[\f,]|$))),?"
)


def _without_commands(text: str) -> str:
    """Return a comment on one line, without the numbers that are written again."""
    return " ".join(_COMMAND.sub(" ", text).split())


def one_line(text: str) -> str:
    """Return the text without line breaks."""
    return text.replace("\n", " ")


def number(value: float) -> str:
    """Return the shortest text that reads back as the same 32-bit number."""
    return np.format_float_positional(np.float32(value), trim="-")


def seconds_text(seconds: float) -> str:
    """Format seconds to the millisecond: `1.2`."""
    return f"{seconds:.3f}".rstrip("0").removesuffix(".")


def clock(seconds: float) -> str:
    """Format a time as lichess does, to the millisecond: `1:02:03.5`."""
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
    """Format a remark as commands in a comment; `pawns`: scores in lichess's format.

    Readers assume the author `implied` if none is named.
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
    if remark.nodes is not None:
        parts.append(f"[%nodes {remark.nodes}]")
    if remark.clock_s is not None and "clock" not in without:
        parts.append(f"[%clk {clock(remark.clock_s)}]")
    if remark.spent_s is not None and "spent" not in without:
        parts.append(f"[%emt {clock(remark.spent_s)}]")
    if remark.book and "book" not in without:
        parts.append("[%book 1]")
    if remark.author != implied:
        parts.append(f"[%author {remark.author or 'unknown'}]")
    return " ".join(parts)
