# SPDX-License-Identifier: Apache-2.0
"""What `go` asks for, in UCI and USI."""

from dataclasses import dataclass, field, replace
from typing import Final

from hyoka._core import Player
from hyoka.as_engine.settings import counted
from hyoka.clock import Clock
from hyoka.search import SearchLimits, SearchSpec

_CLOCKS: Final = ("wtime", "btime", "winc", "binc", "movestogo", "byoyomi")
_NUMBERS: Final = frozenset((*_CLOCKS, "depth", "nodes", "mate", "movetime"))
_FLAGS: Final = frozenset(("infinite", "ponder"))
_MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Go:
    """A `go` command, read; times are still in milliseconds.

    >>> Go.from_words("go wtime 1000 btime nonsense searchmoves e2e4 d2d4 depth 3".split())
    Go(numbers={'wtime': 1000, 'depth': 3}, flags=frozenset(), searchmoves=('e2e4', 'd2d4'))
    """

    numbers: dict[str, int] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    searchmoves: tuple[str, ...] = ()

    @classmethod
    def from_words(cls, words: list[str]) -> "Go":
        """Read the words; what nobody knows is passed over, as the protocols want it."""
        numbers: dict[str, int] = {}
        flags = set()
        moves: list[str] = []
        among_moves = False
        expected = ""
        for word in words[1:]:
            if expected:
                name, expected = expected, ""
                if (number := _number(word)) is not None:
                    numbers[name] = number
                    continue
                if name == "mate" and word == "infinite":  # USI's search for a mate without end
                    numbers["mate"] = 0
                    continue
            if word in _NUMBERS:
                expected, among_moves = word, False
            elif word in _FLAGS:
                flags.add(word)
                among_moves = False
            elif word == "searchmoves":
                among_moves = True
            elif among_moves:
                moves.append(word)
        if "mate" in words[1:]:
            numbers.setdefault("mate", 0)  # without a number: as long as it takes
        return cls(numbers, frozenset(flags), tuple(moves))

    @property
    def infinite(self) -> bool:
        """Whether the search goes on until somebody stops it."""
        return "infinite" in self.flags

    @property
    def ponder(self) -> bool:
        """Whether the opponent is still to play the last move."""
        return "ponder" in self.flags

    def clock(self, mover: Player, first_letter: str) -> Clock | None:
        """The mover's clock, if one was given; `first_letter` is `w` in UCI and `b` in USI."""
        second_letter = "b" if first_letter == "w" else "w"
        letter = first_letter if mover is Player.first else second_letter
        known = self.numbers
        if f"{letter}time" not in known and "byoyomi" not in known:
            return None
        return Clock(
            main_s=max(0, known.get(f"{letter}time", 0)) / 1000,
            increment_s=max(0, known.get(f"{letter}inc", 0)) / 1000,
            moves_to_go=known.get("movestogo") or None,
            period_s=max(0, known.get("byoyomi", 0)) / 1000,
        )

    def limits(self, spec: SearchSpec, seconds: float | None) -> SearchLimits:
        """The limits of the search, besides its own; `seconds` is what its clock allows."""
        if self.infinite:
            return SearchLimits(infinite=True)
        known = self.numbers
        movetime_s = known["movetime"] / 1000 if "movetime" in known else None
        times = [max(0.001, each) for each in (seconds, movetime_s) if each is not None]
        limits = counted(spec, max(1, known["nodes"])) if "nodes" in known else SearchLimits()
        depths = [known["depth"]] if "depth" in known else []
        depths += [2 * known["mate"] - 1] if known.get("mate", 0) > 0 else []
        depth = max(1, min(depths)) if depths else None
        return replace(limits, depth=depth, time_s=min(times, default=None))


def _number(word: str) -> int | None:
    try:
        return max(-_MOST, min(int(word), _MOST))
    except ValueError:
        return None
