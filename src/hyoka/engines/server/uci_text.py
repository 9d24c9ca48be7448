# SPDX-License-Identifier: Apache-2.0
"""The text of `go` and `info` in UCI and USI. Scores are for the side to move."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hyoka._core import Player
from hyoka.engines.server.controller import node_limits
from hyoka.games import FACTS, AnyMove
from hyoka.games.clock import Clock
from hyoka.search import MoveStats, SearchLimits, SearchResult, SearchSpec

_CLOCKS: Final = ("wtime", "btime", "winc", "binc", "movestogo", "byoyomi")
_NUMBERS: Final = frozenset((*_CLOCKS, "depth", "nodes", "mate", "movetime"))
_FLAGS: Final = frozenset(("infinite", "ponder"))
_MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Go:
    """A parsed `go` command, with times in milliseconds.

    >>> Go.from_words("go wtime 1000 btime nonsense searchmoves e2e4 d2d4 depth 3".split())
    Go(numbers={'wtime': 1000, 'depth': 3}, flags=frozenset(), searchmoves=('e2e4', 'd2d4'))
    """

    numbers: dict[str, int] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    searchmoves: tuple[str, ...] = ()

    @classmethod
    def from_words(cls, words: list[str]) -> "Go":
        """Parse the words; unknown ones are ignored, as the protocols require."""
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
                if name == "mate" and word == "infinite":  # USI's unlimited mate search
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
            numbers.setdefault("mate", 0)  # without a number: unlimited
        return cls(numbers, frozenset(flags), tuple(moves))

    @property
    def infinite(self) -> bool:
        """Whether the search runs until `stop`."""
        return "infinite" in self.flags

    @property
    def ponder(self) -> bool:
        """Whether the opponent has yet to play the last move."""
        return "ponder" in self.flags

    def clock(self, mover: Player, first_letter: str) -> Clock | None:
        """Return the mover's clock, if any; `first_letter` is `w` in UCI and `b` in USI."""
        second_letter = "b" if first_letter == "w" else "w"
        letter = first_letter if mover is Player.first else second_letter
        numbers = self.numbers
        if f"{letter}time" not in numbers and "byoyomi" not in numbers:
            return None
        return Clock(
            main_s=max(0, numbers.get(f"{letter}time", 0)) / 1000,
            increment_s=max(0, numbers.get(f"{letter}inc", 0)) / 1000,
            moves_to_go=numbers.get("movestogo") or None,
            period_s=max(0, numbers.get("byoyomi", 0)) / 1000,
        )

    def limits(self, spec: SearchSpec, seconds: float | None) -> SearchLimits:
        """Return the limits of the search; `seconds` is the time by the clock."""
        if self.infinite:
            return SearchLimits(infinite=True)
        numbers = self.numbers
        movetime_s = numbers["movetime"] / 1000 if "movetime" in numbers else None
        times = [max(0.001, each) for each in (seconds, movetime_s) if each is not None]
        limits = (
            node_limits(spec, max(1, numbers["nodes"])) if "nodes" in numbers else SearchLimits()
        )
        depths = [numbers["depth"]] if "depth" in numbers else []
        depths += [2 * numbers["mate"] - 1] if numbers.get("mate", 0) > 0 else []
        depth = max(1, min(depths)) if depths else None
        return replace(limits, depth=depth, time_s=min(times, default=None))


def _number(word: str) -> int | None:
    try:
        return max(-_MOST, min(int(word), _MOST))
    except ValueError:
        return None


_SURE: Final = 1e-4
"""The distance of a value from certainty at which its score is clamped."""


def centipawns_of(value: float, game: str) -> int:
    """Return the centipawns of an expected result: scale × ln(value / (1 − value)).

    For chess this is the Elo formula, 400 × log10(v / (1 − v)): 100 is worth 0.64. For shogi the
    scale is 600.

    >>> [centipawns_of(value, "chess") for value in (0.5, 0.64, 1.0)]
    [0, 100, 1600]
    """
    value = min(max(value, _SURE), 1 - _SURE)
    return round(FACTS[game].formats.centipawn_scale * math.log(value / (1 - value)))


def score_of(
    mover: Player, game: str, *, value: float | None, score: float | None, unit: str
) -> int:
    """Return centipawns for the side to move, from a score or the first player's value."""
    if score is not None and unit == "centipawns":
        return round(score) if mover is Player.first else -round(score)
    if value is None:
        value = 0.5
    return centipawns_of(value if mover is Player.first else 1 - value, game)


def info_lines(
    result: SearchResult,
    mover: Player,
    game: str,
    *,
    lines: int,
    write: Callable[[Sequence[AnyMove]], str],
) -> list[str]:
    """Return up to `lines` `info` lines for the best moves; `write` formats a variation.

    With several lines, each has the score of its move, all of the same depth; a single one has the
    score of the position, which in tree searches is the mean of all moves by visits. A proven mate
    has its length instead of a score.
    """
    nodes = result.playouts or result.nodes
    rate = f" nps {round(nodes / result.time_s)}" if result.time_s > 0 else ""
    full = f" hashfull {result.hash_permille}" if result.hash_permille else ""
    effort = f"nodes {nodes}{rate}{full} time {round(result.time_s * 1000)}"
    texts = []
    for number, report in enumerate(result.moves[:lines], start=1):
        pv = report.pv or (report.move,)
        if number == 1:
            pv = result.pv or pv
        is_position = number == 1 and (lines == 1 or result.mate)
        words = _score_words(result if is_position else report, mover, game, result.unit)
        depth = max(1, result.depth)
        deepest = max(depth, result.selective_depth, len(pv))
        texts.append(
            f"info depth {depth} seldepth {deepest} multipv {number} "
            f"score {words} {effort} pv {write(pv)}"
        )
    if not texts:
        pv_words = f" pv {write(result.pv)}" if result.pv else ""
        words = _score_words(result, mover, game, result.unit)
        texts.append(f"info depth {result.depth} score {words} {effort}{pv_words}")
    return texts


def _score_words(result: SearchResult | MoveStats, mover: Player, game: str, unit: str) -> str:
    if result.mate:
        plies = result.mate if mover is Player.first else -result.mate
        return f"mate {FACTS[game].counted_mate(plies)}"
    score = score_of(mover, game, value=result.value, score=result.score, unit=unit)
    return f"cp {score}"
