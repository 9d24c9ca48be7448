# SPDX-License-Identifier: Apache-2.0
"""Adjudication: ending games early by the players' evaluations or by an exact method."""

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
    """Ends games early."""

    @property
    def text(self) -> str:
        """The text in a match's description."""

    def judge(self, line: AnyLine, remarks: Sequence[Remark]) -> tuple[float, str] | None:
        """Return the first player's result and its reason, or None while the game goes on.

        `remarks` are the players' evaluations so far, in the first player's view.
        """


@dataclass(frozen=True, slots=True)
class WinByScore:
    """A win after both players have agreed for some moves that a side is ahead by a margin."""

    ahead: float
    """At most 1: a value, as 0.97. Above 1: points or centipawns."""
    moves: int = 3

    @property
    def text(self) -> str:
        """The text that `adjudicator_of` reads."""
        return f"win={positional(self.ahead)},{self.moves}"

    def judge(self, line: AnyLine, remarks: Sequence[Remark]) -> tuple[float, str] | None:
        """Test the last moves of both players."""
        last = _last_of_both(remarks, self.moves)
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
    """A loss for a player whose own evaluation has been below a limit for some moves."""

    behind: float
    """At most 1: the opponent's value, as 0.97. Above 1: points or centipawns."""
    moves: int = 3

    @property
    def text(self) -> str:
        """The text that `adjudicator_of` reads."""
        return f"resign={positional(self.behind)},{self.moves}"

    def judge(self, line: AnyLine, remarks: Sequence[Remark]) -> tuple[float, str] | None:
        """Test the last moves of the player who has just moved."""
        if not remarks or remarks[-1].ply != len(line):  # a forced pass has no evaluation
            return None
        own = [
            remark
            for remark in remarks[-2 * self.moves :]
            if not (remarks[-1].ply - remark.ply) % 2
        ]
        mover = -1 if line.to_play is Player.first else 1
        if len(own) < self.moves or any(_lead(each, self.behind) != -mover for each in own):
            return None
        return (0.0 if mover == 1 else 1.0), "resigned"


@dataclass(frozen=True, slots=True)
class DrawByScore:
    """A draw after both players have agreed for some moves that the position is level."""

    within: float
    moves: int = 8
    from_ply: int = 80

    @property
    def text(self) -> str:
        """The text that `adjudicator_of` reads."""
        return f"draw={positional(self.within)},{self.moves},{self.from_ply}"

    def judge(self, line: AnyLine, remarks: Sequence[Remark]) -> tuple[float, str] | None:
        """Test the last moves of both players."""
        last = _last_of_both(remarks, self.moves)
        if last is None or len(line) < self.from_ply:
            return None
        if all(_is_level(remark, self.within) for remark in last):
            return 0.5, "adjudicated as a draw"
        return None


@dataclass(frozen=True, slots=True)
class Exact:
    """The result of an exact method: a mate or an Othello ending."""

    method: str

    @property
    def text(self) -> str:
        """The text that `adjudicator_of` reads."""
        return f"exact={self.method}"

    def judge(self, line: AnyLine, remarks: Sequence[Remark]) -> tuple[float, str] | None:
        """Ask the method."""
        if self.method == "ending" and facts_of(line).search.ending_solver is None:
            games = " and ".join(games_with(lambda facts: facts.search.ending_solver))
            raise NotationError(f"exact=ending is for {games}, not for {facts_of(line).name}")
        result = EXACT_METHODS[self.method](line.position)
        return None if result is None else (result, f"adjudicated by {self.method}")


def _last_of_both(remarks: Sequence[Remark], moves: int) -> list[Remark] | None:
    """Return the last `moves` remarks of each player; None if there are fewer."""
    sides = [[remark for remark in remarks if remark.ply % 2 == side][-moves:] for side in (0, 1)]
    return None if min(map(len, sides)) < moves else sides[0] + sides[1]


def _lead(remark: Remark, ahead: float) -> int:
    """Return 1 or −1 for the side that is ahead by the margin, 0 for neither."""
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

    The moves and the first ply are optional.

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
            raise NotationError(f"no exact method '{match[5]}'; known: {', '.join(EXACT_METHODS)}")
        return Exact(match[5])
    numbers = [int(number) for number in match.groups()[2:4] if number]
    if 0 in numbers[:1]:
        raise NotationError(f"'{text}': the number of moves is at least 1")
    if match[1] == "win":
        return WinByScore(float(match[2]), *numbers)
    if match[1] == "resign":
        return Resign(float(match[2]), *numbers)
    return DrawByScore(float(match[2]), *numbers)
