# SPDX-License-Identifier: Apache-2.0
"""Both players' clocks, as GTP sets them and tells what is left."""

import math
from collections.abc import Sequence
from dataclasses import replace

from hyoka._core import Player
from hyoka.clock import Clock
from hyoka.errors import NotationError


class Clocks:
    """The clocks of a game; without any, `of` is None.

    What a player has is what `time_left` said last, less what we have spent since.
    """

    def __init__(self) -> None:
        self._whole: Clock | None = None
        self._left: dict[Player, Clock] = {}
        self._periods = False

    def of(self, player: Player) -> Clock | None:
        """A player's clock, or None if nobody counts."""
        return self._left.get(player, self._whole)

    def restart(self) -> None:
        """A new game: full clocks again."""
        self._left = {}

    def spent(self, player: Player, seconds: float) -> None:
        """Take off what a move has cost."""
        clock = self.of(player)
        if clock is not None:
            self._left[player] = clock.after(seconds, self._whole)

    def set(self, words: Sequence[str]) -> None:
        """`time_settings MAIN BYO STONES`; a period without stones means that nobody counts."""
        main_s, period_s, stones = _numbers(words, 3)
        if period_s > 0 and stones == 0:
            self._change(None)
        else:
            self._change(_clock(main_s, period_s, int(stones)))

    def set_kgs(self, words: Sequence[str]) -> None:
        """`kgs-time_settings none|absolute|byoyomi|canadian …`."""
        kind, rest = (words[0].lower() if words else ""), words[1:]
        if kind == "none":
            self._change(None)
        elif kind == "absolute":
            self._change(_clock(_numbers(rest, 1)[0], 0.0, 0))
        elif kind == "byoyomi":
            main_s, period_s, _ = _numbers(rest, 3)
            self._change(_clock(main_s, period_s, 1))
            self._periods = True
        elif kind == "canadian":
            main_s, period_s, stones = _numbers(rest, 3)
            self._change(_clock(main_s, period_s, int(stones)))
        else:
            raise NotationError("expected none, absolute, byoyomi or canadian")

    def tell(self, player: Player, words: Sequence[str]) -> None:
        """`time_left`'s seconds and stones; with Japanese byo-yomi (KGS) these are periods."""
        seconds, stones = _numbers(words, 2)
        clock = self._whole or Clock(main_s=seconds)
        if stones <= 0:
            clock = replace(clock, main_s=seconds)
        else:
            moves = 1 if self._periods else max(1, int(stones))
            clock = replace(clock, main_s=0.0, period_s=seconds, period_moves=moves)
        self._left[player] = clock

    def _change(self, whole: Clock | None) -> None:
        self._whole, self._left, self._periods = whole, {}, False


def _clock(main_s: float, period_s: float, stones: int) -> Clock | None:
    if main_s <= 0 and period_s <= 0:
        return None
    return Clock(main_s=main_s, period_s=period_s, period_moves=max(1, stones))


def _numbers(words: Sequence[str], count: int) -> list[float]:
    try:
        numbers = [float(word) for word in words[:count]]
    except ValueError:
        raise NotationError("expected numbers") from None
    if len(numbers) < count or not all(math.isfinite(n) and 0 <= n < 1e9 for n in numbers):
        raise NotationError(f"expected {count} numbers, none of them negative")
    return numbers
