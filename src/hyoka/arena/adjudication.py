# SPDX-License-Identifier: Apache-2.0
"""Ends before the end: by what both players say, or by what an exact method knows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.foundation.text import positional
from hyoka.games import AnyLine, facts_of, games_with
from hyoka.records import Remark
from hyoka.search import EXACT_METHODS


class Adjudicator(Protocol):
    """May end a game early."""

    @property
    def text(self) -> str:
        """How a match's description writes it."""

    def judge(self, line: AnyLine, said: Sequence[Remark]) -> tuple[float, str] | None:
        """The first player's result and how it came, or None while the game goes on.

        `said` is what the players have thought so far, their own view turned to the first's.
        """


@dataclass(frozen=True, slots=True)
class WinByScore:
    """Won when both players have agreed for some moves that a side is so far ahead."""

    ahead: float
    """At most 1: a value, as 0.97. More: points or centipawns."""
    moves: int = 3

    @property
    def text(self) -> str:
        """As `adjudicator_of` reads it."""
        return f"win={positional(self.ahead)},{self.moves}"

    def judge(self, line: AnyLine, said: Sequence[Remark]) -> tuple[float, str] | None:
        """Look at the last moves of both."""
        last = _last_of_both(said, self.moves)
        if last is None:
            return None
        leads = [_lead(remark, self.ahead) for remark in last]
        if all(lead > 0 for lead in leads):
            return 1.0, "adjudicated by score"
        if all(lead < 0 for lead in leads):
            return 0.0, "adjudicated by score"
        return None


@dataclass(frozen=True, slots=True)
class Resign:
    """Lost for a player who has thought so for some moves, whatever the other one thinks."""

    behind: float
    """At most 1: a value, as 0.97 for the opponent. More: points or centipawns."""
    moves: int = 3

    @property
    def text(self) -> str:
        """As `adjudicator_of` reads it."""
        return f"resign={positional(self.behind)},{self.moves}"

    def judge(self, line: AnyLine, said: Sequence[Remark]) -> tuple[float, str] | None:
        """Look at the last moves of the player who has just moved."""
        if not said or said[-1].ply != len(line):  # a forced pass is nobody's word
            return None
        own = [remark for remark in said[-2 * self.moves :] if not (said[-1].ply - remark.ply) % 2]
        mover = -1 if line.to_play is Player.first else 1
        if len(own) < self.moves or any(_lead(each, self.behind) != -mover for each in own):
            return None
        return (0.0 if mover == 1 else 1.0), "resigned"


@dataclass(frozen=True, slots=True)
class DrawByScore:
    """Drawn when both players have agreed for some moves that nobody is ahead by more."""

    within: float
    moves: int = 8
    from_ply: int = 80

    @property
    def text(self) -> str:
        """As `adjudicator_of` reads it."""
        return f"draw={positional(self.within)},{self.moves},{self.from_ply}"

    def judge(self, line: AnyLine, said: Sequence[Remark]) -> tuple[float, str] | None:
        """Look at the last moves of both."""
        last = _last_of_both(said, self.moves)
        if last is None or len(line) < self.from_ply:
            return None
        if all(_is_level(remark, self.within) for remark in last):
            return 0.5, "adjudicated as a draw"
        return None


@dataclass(frozen=True, slots=True)
class Exact:
    """Ended when an exact method knows the result: a mate, an Othello ending."""

    method: str

    @property
    def text(self) -> str:
        """As `adjudicator_of` reads it."""
        return f"exact={self.method}"

    def judge(self, line: AnyLine, said: Sequence[Remark]) -> tuple[float, str] | None:
        """Ask the method."""
        if self.method == "ending" and facts_of(line).ending_solver is None:
            games = " and ".join(games_with(lambda facts: facts.ending_solver))
            raise NotationError(f"exact=ending is for {games}, not for {facts_of(line).name}")
        result = EXACT_METHODS[self.method](line.position)
        return None if result is None else (result, f"adjudicated by {self.method}")


def _last_of_both(said: Sequence[Remark], moves: int) -> list[Remark] | None:
    """So many last words of each player, one of whom may move alone; None if there are less."""
    sides = [[remark for remark in said if remark.ply % 2 == side][-moves:] for side in (0, 1)]
    return None if min(map(len, sides)) < moves else sides[0] + sides[1]


def _lead(remark: Remark, ahead: float) -> int:
    """1 or −1 for the side that is so far ahead, 0 for neither."""
    if remark.mate is not None:
        return 1 if remark.mate > 0 else -1
    if ahead <= 1:
        if remark.value is None:
            return 0
        return (remark.value >= ahead) - (remark.value <= 1 - ahead)
    if remark.score is None:
        return 0
    return (remark.score >= ahead) - (remark.score <= -ahead)


def _is_level(remark: Remark, within: float) -> bool:
    if remark.mate is not None:
        return False
    if within <= 1:
        return remark.value is not None and abs(remark.value - 0.5) <= within
    return remark.score is not None and abs(remark.score) <= within


_TEXT: Final = re.compile(
    r"(win|resign|draw)=(\d+(?:\.\d+)?)(?:,(\d{1,4}))?(?:,(\d{1,4}))?|exact=(\w+)"
)


def adjudicator_of(text: str) -> Adjudicator:
    """Read `win=SCORE,MOVES`, `resign=SCORE,MOVES`, `draw=SCORE,MOVES,FROM_PLY` or `exact=METHOD`.

    The moves, and from which ply on, may be left out.

    >>> adjudicator_of("win=600,4"), adjudicator_of("exact=mate").text
    (WinByScore(ahead=600.0, moves=4), 'exact=mate')
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None or (match[1] in ("win", "resign") and match[4]):
        raise NotationError(
            f"no adjudication '{text}'; write win=SCORE,MOVES, resign=SCORE,MOVES, "
            "draw=SCORE,MOVES,FROM_PLY or "
            f"exact=METHOD with {', '.join(EXACT_METHODS)}"
        )
    if match[5]:
        if match[5] not in EXACT_METHODS:
            raise NotationError(
                f"no exact method '{match[5]}'; there are {', '.join(EXACT_METHODS)}"
            )
        return Exact(match[5])
    numbers = [int(number) for number in match.groups()[2:4] if number]
    if 0 in numbers[:1]:
        raise NotationError(f"'{text}': so many moves of both, one at least")
    if match[1] == "win":
        return WinByScore(float(match[2]), *numbers)
    if match[1] == "resign":
        return Resign(float(match[2]), *numbers)
    return DrawByScore(float(match[2]), *numbers)
