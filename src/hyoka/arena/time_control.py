# SPDX-License-Identifier: Apache-2.0
"""How much time a player has for a game, and what is left of it."""

import dataclasses
import re
from dataclasses import dataclass
from typing import Final

from hyoka.arena.positional import positional
from hyoka.clock import Clock
from hyoka.errors import NotationError

_TEXT: Final = re.compile(
    r"(?:(?P<moves>\d{1,4})/)?(?P<main>\d{1,7}(?:\.\d+)?)"
    r"(?:\+(?P<increment>\d{1,7}(?:\.\d+)?))?(?:b(?P<period>\d{1,7}(?:\.\d+)?))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl:
    """`[MOVES/]SECONDS[+INCREMENT][bBYOYOMI]`.

    >>> TimeControl.from_text("60+0.6")
    TimeControl(main_s=60.0, increment_s=0.6, period_s=0.0, moves=None)
    >>> TimeControl.from_text("600b10").text, TimeControl.from_text("40/60").moves
    ('600b10', 40)
    """

    main_s: float
    increment_s: float = 0.0
    """Added after each move (Fischer)."""
    period_s: float = 0.0
    """Byo-yomi: for each move once the main time is gone."""
    moves: int | None = None
    """After so many moves the main time comes anew."""

    def __post_init__(self) -> None:
        times = (self.main_s, self.increment_s, self.period_s)
        if not all(0 <= seconds < 1e7 for seconds in times) or self.main_s + self.period_s == 0:
            raise NotationError("a clock needs some time, and no endless one")
        if self.moves == 0:
            raise NotationError("a session of a clock has at least one move")

    @classmethod
    def from_text(cls, text: str) -> "TimeControl":
        """Read a time control; raises NotationError."""
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise NotationError(
                f"no time control '{text}'; write SECONDS, SECONDS+INCREMENT, SECONDSbBYOYOMI or "
                "MOVES/SECONDS, as 60+0.6"
            )
        return cls(
            main_s=float(match["main"]),
            increment_s=float(match["increment"] or 0),
            period_s=float(match["period"] or 0),
            moves=int(match["moves"]) if match["moves"] else None,
        )

    @property
    def text(self) -> str:
        """The text that `from_text` reads as this."""
        moves = f"{self.moves}/" if self.moves else ""
        increment = f"+{positional(self.increment_s)}" if self.increment_s else ""
        period = f"b{positional(self.period_s)}" if self.period_s else ""
        return f"{moves}{positional(self.main_s)}{increment}{period}"

    def start(self) -> Clock:
        """The clock at the start of a game."""
        return Clock(
            main_s=self.main_s,
            increment_s=self.increment_s,
            period_s=self.period_s,
            moves_to_go=self.moves,
        )

    def after(self, clock: Clock, spent_s: float, margin_s: float) -> Clock | None:
        """The clock after a move that took so long; None if the time was up, `margin_s` forgiven.

        >>> control = TimeControl.from_text("2/10+1")
        >>> clock = control.after(control.start(), 4, 0)
        >>> clock.main_s, clock.moves_to_go
        (7.0, 1)
        >>> control.after(clock, 7.5, 0) is None, control.after(clock, 1, 0).main_s
        (True, 17.0)
        """
        if spent_s > clock.main_s + clock.period_s + margin_s:
            return None
        left_s = max(0.0, clock.main_s - spent_s) + self.increment_s
        to_go = None if clock.moves_to_go is None else clock.moves_to_go - 1
        if to_go == 0:
            left_s, to_go = left_s + self.main_s, self.moves
        return dataclasses.replace(clock, main_s=left_s, moves_to_go=to_go)
