# SPDX-License-Identifier: Apache-2.0
"""What a search has found, in the words of Leela Zero and KataGo, and what is asked in them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from hyoka._core import Player
from hyoka.errors import NotationError
from hyoka.games import AnyMove
from hyoka.search import MoveReport, SearchResult

COLOURS: Final = {
    "b": Player.first,
    "black": Player.first,
    "w": Player.second,
    "white": Player.second,
}
_CONFIDENCE: Final = 1.96


def colour_of(words: Sequence[str]) -> Player:
    """The colour that a command's first argument names. Raises NotationError."""
    if not words or words[0].lower() not in COLOURS:
        raise NotationError("syntax error")
    return COLOURS[words[0].lower()]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What to tell during a search, and how often."""

    style: str
    """`lz` or `kata`."""
    player: Player | None = None
    every_s: float = 0.5
    most_moves: int | None = None
    root: bool = False
    """Whether KataGo's `rootInfo` is wanted."""
    avoid: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    @classmethod
    def from_words(cls, style: str, words: Sequence[str]) -> "Analysis":
        """Read the arguments; those of programs that know more are passed over.

        >>> asked = Analysis.from_words("kata", "b 50 rootInfo true ownership true".split())
        >>> asked.player, asked.every_s, asked.root
        (Player.first, 0.5, True)
        """
        asked = cls(style)
        left = list(words)
        if left and left[0].lower() in COLOURS:
            asked = replace(asked, player=COLOURS[left.pop(0).lower()])
        if left and left[0].isdecimal():
            left.insert(0, "interval")
        while len(left) >= 2:
            key, value = left.pop(0).lower(), left.pop(0)
            if key == "interval" and value.isdecimal():
                asked = replace(asked, every_s=max(0.01, int(value[:9]) / 100))
            elif key == "maxmoves" and value.isdecimal():
                asked = replace(asked, most_moves=int(value[:9]))
            elif key == "rootinfo":
                asked = replace(asked, root=value.lower() == "true")
            elif key in ("avoid", "allow") and left:
                # A colour, points, and for how many plies: for us, for the first move.
                points = tuple(filter(None, left.pop(0).split(",")))
                if left and left[0].isdecimal():
                    del left[0]
                if key == "avoid":
                    asked = replace(asked, avoid=(*asked.avoid, *points))
                else:
                    asked = replace(asked, allow=(*asked.allow, *points))
        return asked

    def line(self, result: SearchResult, mover: Player) -> str:
        """All moves that were looked at on one line; empty if there are none."""
        reports = [report for report in result.moves if report.visits > 0] or result.moves[:1]
        write = self._lz if self.style == "lz" else self._kata
        words = [
            write(report, mover, order)
            for order, report in enumerate(reports[: self.most_moves or None])
        ]
        if words and self.root and self.style == "kata":
            words.append(_root(result, mover))
        return " ".join(words)

    def _lz(self, report: MoveReport, mover: Player, order: int) -> str:
        value = _seen(report.value, mover)
        lower = _lower_bound(value, report.visits)
        prior = "" if report.prior is None else f" prior {round(10_000 * report.prior)}"
        return (
            f"info move {report.move} visits {report.visits} winrate {round(10_000 * value)}"
            f"{prior} lcb {round(10_000 * lower)} order {order} pv {_pv(report)}"
        )

    def _kata(self, report: MoveReport, mover: Player, order: int) -> str:
        value = _seen(report.value, mover)
        prior = "" if report.prior is None else f" prior {report.prior:.6f}"
        return (
            f"info move {report.move} visits {report.visits} utility {2 * value - 1:.6f} "
            f"winrate {value:.6f}{_lead(report.score, mover)}{prior} "
            f"lcb {_lower_bound(value, report.visits):.6f} order {order} pv {_pv(report)}"
        )


def _root(result: SearchResult, mover: Player) -> str:
    value = _seen(result.value, mover)
    visits = result.playouts or result.nodes
    return (
        f"rootInfo visits {visits} utility {2 * value - 1:.6f} winrate {value:.6f}"
        f"{_lead(result.score if result.unit == 'points' else None, mover)}"
    )


def _lead(score: float | None, mover: Player) -> str:
    if score is None:
        return ""
    lead = score if mover is Player.first else -score
    return f" scoreMean {lead:.3f} scoreLead {lead:.3f}"


def _seen(value: float | None, mover: Player) -> float:
    """The first player's value as the mover sees it; an even one if it is not known."""
    if value is None:
        return 0.5
    return value if mover is Player.first else 1 - value


def _lower_bound(value: float, visits: int) -> float:
    """Where a normal approximation puts the lower end of a 95 % interval."""
    error = _CONFIDENCE * math.sqrt(max(value * (1 - value), 1e-4) / max(1, visits))
    return max(0.0, value - error)


def _pv(report: MoveReport) -> str:
    moves: tuple[AnyMove, ...] = report.pv or (report.move,)
    return " ".join(map(str, moves))
