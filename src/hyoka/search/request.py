# SPDX-License-Identifier: Apache-2.0
"""What a player is asked: a line of play, and how much of it to look at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hyoka.games import AnyLine, AnyMove
from hyoka.search.result import SearchLimits, SearchResult
from hyoka.search.spec import SearchSpec

OnResult = Callable[[SearchResult], None]
"""Told what a search has found so far."""

_WITHOUT_LIMITS: Final[dict[str, dict[str, int]]] = {
    "uct": {"playouts": 10_000},
    "mc": {"playouts": 5_000},
    "mc-score": {"playouts": 5_000},
    "ab": {"nodes": 100_000},
}
"""What ends a search if neither its spec nor whoever asks says anything."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search of a line of play that is not over."""

    line: AnyLine
    limits: SearchLimits
    only: Sequence[AnyMove] | None
    """Moves to choose among; None for all."""
    on_result: OnResult | None
    every_s: float
    on_step: OnResult | None = None
    """Told what had been found after some playouts, or at each depth; perhaps only at the end."""

    def limits_for(self, spec: SearchSpec, *names: str) -> tuple[float, ...]:
        """The named limits, 0 for none: those asked for, else the spec's, else the usual ones.

        >>> request = SearchRequest(None, SearchLimits(time_s=2.0), None, None, 1.0)
        >>> request.limits_for(SearchSpec.from_text("ab:depth=4"), "depth", "nodes", "time")
        (0, 0, 2.0)
        """
        if self.limits.infinite:
            return (0,) * len(names)
        fields = {name: "time_s" if name == "time" else name for name in names}
        asked = {name: getattr(self.limits, field, 0) for name, field in fields.items()}
        for found in (asked, {name: spec[name] for name in names}, _WITHOUT_LIMITS.get(spec.kind)):
            if found and any(found.values()):
                return tuple(found.get(name) or 0 for name in names)
        return (0,) * len(names)
