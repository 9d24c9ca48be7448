# SPDX-License-Identifier: Apache-2.0
"""A match as columns, and positions of its games as boards."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.agents import PYTHON_GAMES
from hyoka.arena.journal import PlayedGame
from hyoka.arena.ratings import Standing
from hyoka.arena.score import MatchScore, Score
from hyoka.foundation.errors import IllegalMoveError
from hyoka.foundation.text import shorten
from hyoka.games import PythonLine, registered_start
from hyoka.games.diagram import Diagram, diagram
from hyoka.records import Record

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

GAMES_READ_CLOSELY: Final = 20_000
"""Of a longer match the report reads what the movers thought in about so many games."""
_LONGEST_NAME: Final = 40
_LONGEST_REASON: Final = 40
_CHECKPOINTS: Final = 120


@dataclass(frozen=True)
class Thoughts:
    """What movers thought of their own moves; one entry a move, none for moves of the book.

    Values and scores are in the mover's view; NaN where the record is silent.
    """

    game: Integers
    """Which row of the match's columns."""
    ply: Integers
    """Moves played, this one included."""
    mover: Integers
    value: Reals
    score: Reals
    spent_s: Reals
    clock_s: Reals
    result: Reals
    """The mover's result."""

    def of(self, player: int) -> "Thoughts":
        """Those of one player."""
        return self.where(self.mover == player)

    def where(self, chosen: NDArray[np.bool_]) -> "Thoughts":
        """Those that are chosen."""
        columns = (getattr(self, name)[chosen] for name in self.__dataclass_fields__)
        return Thoughts(*columns)


@dataclass(frozen=True)
class MatchFacts:
    """The games of a match in columns, in the order of their numbers."""

    names: tuple[str, ...]
    """The players', short, printable and all different."""
    standing: Standing
    duel_course: tuple[tuple[int, MatchScore], ...]
    """How two players stood after so many games, as the one with the lower number saw it; it ends
    where a third player comes in."""
    place: Integers
    """Where the game stands in the sequence the facts were taken from."""
    opening: Integers
    first: Integers
    second: Integers
    pair: Integers
    plies: Integers
    result: Reals
    """The first player's."""
    reason: NDArray[np.str_]
    faulty: NDArray[np.bool_]
    """An engine did something wrong."""
    thoughts: Thoughts

    def __len__(self) -> int:
        """How many games."""
        return len(self.place)

    @cached_property
    def present(self) -> tuple[int, ...]:
        """The players who have played at all."""
        return tuple(np.unique(np.concatenate([self.first, self.second])).tolist())

    @property
    def first_players(self) -> Score:
        """All games as those saw them who moved first."""
        wins, losses = int((self.result == 1).sum()), int((self.result == 0).sum())
        return Score(wins, len(self) - wins - losses, losses)


def shown_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names fit for a page: printable, not too long, and no two the same.

    >>> shown_names(["uct", "uct", ""])
    ('uct', 'uct (2)', '(no name)')
    """
    shown: list[str] = []
    for name in names:
        short = shorten(name, _LONGEST_NAME) or "(no name)"
        candidate, copies = short, 1
        while candidate in shown:
            copies += 1
            candidate = f"{short} ({copies})"
        shown.append(candidate)
    return tuple(shown)


def match_facts(games: Sequence[PlayedGame], players: Sequence[str]) -> MatchFacts:
    """Take what the report counts from the games; each is looked at once."""
    places = sorted(range(len(games)), key=lambda place: games[place].pairing.number)
    names = shown_names(players)
    standing = Standing(names)
    checked = set(checkpoints(len(games)).tolist())
    closely = max(1, -(-len(games) // GAMES_READ_CLOSELY))
    duel_course: list[tuple[int, MatchScore]] = []
    counted: list[tuple[int, int, int, int, int]] = []
    results: list[float] = []
    reasons: list[str] = []
    faulty: list[bool] = []
    thoughts = array("d")
    movers = _Movers()
    for row, place in enumerate(places):
        game = games[place]
        pairing = game.pairing
        standing.count(game)
        if row + 1 in checked and len(duels := standing.duels()) == 1:
            duel_course.append((row + 1, standing.duel(*duels[0])))
        plies = len(game.record)
        counted.append((pairing.opening_id, pairing.first, pairing.second, pairing.pair_id, plies))
        results.append(game.result)
        reasons.append(_kind(game.reason))
        faulty.append(bool(game.fault))
        if row % closely == 0:
            for thought in _thoughts(row, game, movers):
                thoughts.extend(thought)
    opening, first, second, pair, plies_played = np.array(counted, dtype=np.int64).reshape(-1, 5).T
    return MatchFacts(
        names=names,
        standing=standing,
        duel_course=tuple(duel_course),
        place=np.array(places, dtype=np.int64),
        opening=opening,
        first=first,
        second=second,
        pair=pair,
        plies=plies_played,
        result=np.array(results, dtype=np.float64),
        reason=np.array(reasons, dtype=np.str_),
        faulty=np.array(faulty, dtype=np.bool_),
        thoughts=_in_columns(thoughts),
    )


def checkpoints(games: int) -> Integers:
    """Numbers of games to look at on the way: the first, the last, and not too many between."""
    if not games:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.linspace(1, games, _CHECKPOINTS).round().astype(np.int64))


def book_plies(record: Record) -> int:
    """How many moves the opening has: those from the start that are marked as book."""
    book = {remark.ply for remark in record.remarks if remark.book}
    plies = 0
    while plies + 1 in book:
        plies += 1
    return plies


class _Movers:
    """Who makes the moves of a record; looks at each start once."""

    def __init__(self) -> None:
        self._first_begins: dict[tuple[str, str], bool] = {}

    def first_begins(self, record: Record) -> bool:
        """Whether the first player makes the first move."""
        if not record.start:
            return True
        known = (record.game, record.start)
        if known not in self._first_begins:
            self._first_begins[known] = record.position(0).to_play.name == "first"
        return self._first_begins[known]


def _thoughts(row: int, game: PlayedGame, movers: _Movers) -> Iterator[tuple[float, ...]]:
    pairing, result = game.pairing, game.result
    first_begins = movers.first_begins(game.record)
    nan = float("nan")
    for remark in game.record.remarks:
        if remark.book or not 0 < remark.ply <= len(game.record):
            continue
        is_first = (remark.ply % 2 == 1) == first_begins
        value, score = remark.value, remark.score
        yield (
            row,
            remark.ply,
            pairing.first if is_first else pairing.second,
            nan if value is None else value if is_first else 1 - value,
            nan if score is None else score if is_first else -score,
            nan if remark.spent_s is None else remark.spent_s,
            nan if remark.clock_s is None else remark.clock_s,
            result if is_first else 1 - result,
        )


def _in_columns(thoughts: "array[float]") -> Thoughts:
    table = np.array(thoughts, dtype=np.float64).reshape(-1, 8).T
    game, ply, mover = (column.astype(np.int64) for column in table[:3])
    return Thoughts(game, ply, mover, *table[3:])


def _kind(reason: str) -> str:
    """The reason without what only this game has: `illegal move e2e5` is an illegal move."""
    if reason.startswith("illegal move"):
        return "illegal move"
    return shorten(reason, _LONGEST_REASON) or "not said"


def is_in_python(record: Record) -> bool:
    """Whether the game of a record is written in Python."""
    return record.game.startswith(PYTHON_GAMES)


def board_after(record: Record, plies: int) -> Diagram | None:
    """The position after so many moves.

    None of a game in Python that has no name by which to find it, or no cells, or began elsewhere
    than its usual start.
    """
    if not is_in_python(record):
        last = record.move_list[plies - 1] if plies else None
        return diagram(record.position(plies), last=last)
    start = registered_start(record.game.removeprefix(PYTHON_GAMES))
    if start is None or not hasattr(start, "cells") or record.start:
        return None
    try:
        line = PythonLine.of_codes(start, record.moves[:plies].tolist())
    except IllegalMoveError:  # the game has been changed since
        return None
    return diagram(line)
