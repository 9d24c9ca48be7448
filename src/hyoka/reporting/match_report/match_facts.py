# SPDX-License-Identifier: Apache-2.0
"""Columns of a match's games, and boards of their positions."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.journal import PlayedGame
from hyoka.arena.ratings import Standing
from hyoka.arena.score import MatchScore, Score
from hyoka.foundation.errors import IllegalMoveError
from hyoka.foundation.text import shorten
from hyoka.games import PYTHON_GAMES, PythonLine, registered_start
from hyoka.games.diagram import Diagram
from hyoka.games.diagram.builders import diagram
from hyoka.records import Record

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

GAMES_READ_CLOSELY: Final = 20_000
"""Approximate number of games whose evaluations are read in longer matches."""
_LONGEST_NAME: Final = 40
_LONGEST_REASON: Final = 40
_CHECKPOINTS: Final = 120


@dataclass(frozen=True)
class Thoughts:
    """Evaluations of movers, one entry per move, without book moves.

    Values and scores are from the mover's view; NaN if the record has none.
    """

    game: Integers
    """Row in the match's columns."""
    ply: Integers
    """Number of moves played, including this one."""
    mover: Integers
    value: Reals
    score: Reals
    spent_s: Reals
    clock_s: Reals
    result: Reals
    """The mover's result."""

    def of(self, player: int) -> "Thoughts":
        """The entries of one player."""
        return self.where(self.mover == player)

    def where(self, chosen: NDArray[np.bool_]) -> "Thoughts":
        """The chosen entries."""
        columns = (getattr(self, name)[chosen] for name in self.__dataclass_fields__)
        return Thoughts(*columns)


@dataclass(frozen=True)
class MatchFacts:
    """Columns of a match's games, in the order of their numbers."""

    names: tuple[str, ...]
    """Names of the players: short, printable and unique."""
    standing: Standing
    duel_course: tuple[tuple[int, MatchScore], ...]
    """Scores of a match of two at checkpoints, from the view of the lower-numbered player; it ends
    before the first game of a third player."""
    place: Integers
    """Index of the game in the input sequence."""
    opening: Integers
    first: Integers
    second: Integers
    pair: Integers
    plies: Integers
    result: Reals
    """Result of the first player."""
    reason: NDArray[np.str_]
    faulty: NDArray[np.bool_]
    """Whether an engine made a fault."""
    thoughts: Thoughts

    def __len__(self) -> int:
        """Number of games."""
        return len(self.place)

    @cached_property
    def present(self) -> tuple[int, ...]:
        """The players with at least one game."""
        return tuple(np.unique(np.concatenate([self.first, self.second])).tolist())

    @property
    def first_players(self) -> Score:
        """Score of all games from the first player's view."""
        wins, losses = int((self.result == 1).sum()), int((self.result == 0).sum())
        return Score(wins, len(self) - wins - losses, losses)


def shown_names(names: Sequence[str]) -> tuple[str, ...]:
    """Make names printable, short and unique.

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
    """Collect the facts of a report in one pass over the games."""
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
    """Numbers of games at which to record the score: the first, the last, and some in between."""
    if not games:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.linspace(1, games, _CHECKPOINTS).round().astype(np.int64))


def book_plies(record: Record) -> int:
    """Number of opening moves: the leading moves that are marked as book."""
    book = {remark.ply for remark in record.remarks if remark.book}
    plies = 0
    while plies + 1 in book:
        plies += 1
    return plies


class _Movers:
    """Finds the movers of records, with a cache by start position."""

    def __init__(self) -> None:
        self._first_begins: dict[tuple[str, str], bool] = {}

    def first_begins(self, record: Record) -> bool:
        """Whether the first player makes the first move."""
        if not record.start:
            return True
        key = (record.game, record.start)
        if key not in self._first_begins:
            self._first_begins[key] = record.position(0).to_play.name == "first"
        return self._first_begins[key]


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
    """The kind of a reason, without details: `illegal move e2e5` is an illegal move."""
    if reason.startswith("illegal move"):
        return "illegal move"
    return shorten(reason, _LONGEST_REASON) or "not said"


def is_in_python(record: Record) -> bool:
    """Whether the game of a record is implemented in Python."""
    return record.game.startswith(PYTHON_GAMES)


def board_after(record: Record, plies: int) -> Diagram | None:
    """The position after some moves.

    None for a game in Python without a registered name, without cells, or with another start than
    its default.
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
