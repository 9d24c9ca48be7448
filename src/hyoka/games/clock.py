# SPDX-License-Identifier: Apache-2.0
"""Time management: the thinking time for a move from the clock."""

from dataclasses import dataclass, replace
from typing import Final

from hyoka.games.protocols import AnyGame
from hyoka.games.registry import facts_of

_LEAST_S: Final = 0.005
_OF_INCREMENT: Final = 0.75
_OF_PERIOD: Final = 0.85
"""Shares of the time added with each move; a safety margin for slower clocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """One player's clock; all times in seconds.

    >>> Clock(main_s=60).thinking_s(expected_moves=30)
    2.0
    >>> Clock(period_s=10, period_moves=5).thinking_s(expected_moves=30)
    1.7
    """

    main_s: float = 0.0
    increment_s: float = 0.0
    """Added after each move (Fischer)."""
    moves_to_go: int | None = None
    """Moves until time is added to the main time (UCI)."""
    period_s: float = 0.0
    """Byo-yomi: time per period after the main time."""
    period_moves: int = 1
    """Moves to make in the period: 1 is Japanese byo-yomi, more is Canadian."""

    def thinking_s(self, *, expected_moves: int, overhead_s: float = 0.0) -> float:
        """Return the seconds for the next move, `expected_moves` being the player's own to the end.

        A share of the main time, most of the increment and most of a Japanese period; at most the
        time on the clock less `overhead_s` (latency).
        """
        per_move = self.period_s / max(1, self.period_moves)
        if self.main_s <= 0:
            share = _OF_PERIOD * per_move
        else:
            share = self.main_s / max(1, self.moves_to_go or expected_moves)
            share += _OF_INCREMENT * self.increment_s
            if self.period_moves == 1:
                share += _OF_PERIOD * per_move
            elif per_move > 0:
                share = max(share, _OF_PERIOD * per_move)
        most = self.main_s + per_move - overhead_s
        if self.moves_to_go == 1:
            most -= self.main_s / 20
        return max(_LEAST_S, min(share, most))

    def after(self, spent_s: float, period: "Clock | None" = None) -> "Clock":
        """Return the clock after a move of `spent_s`; `period` is a full period.

        >>> full = Clock(main_s=5, period_s=30, period_moves=10)
        >>> full.after(8, full).period_moves
        9
        """
        full = period or self
        main_s = self.main_s - spent_s
        if main_s > 0:
            return replace(self, main_s=main_s + self.increment_s)
        if full.period_moves == 1 or self.period_moves <= 1:
            return replace(self, main_s=0.0, period_s=full.period_s, period_moves=full.period_moves)
        left_s = max(0.0, self.period_s - max(0.0, -main_s))
        return replace(self, main_s=0.0, period_s=left_s, period_moves=self.period_moves - 1)


def expected_moves(line: AnyGame) -> int:
    """Estimate how many more moves the player to move will make.

    >>> import hyoka as hk
    >>> expected_moves(hk.Othello()), expected_moves(hk.Go9()), expected_moves(hk.Chess())
    (30, 30, 30)
    """
    return facts_of(line).search.moves_left(line)
