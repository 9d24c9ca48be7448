# SPDX-License-Identifier: Apache-2.0
"""What a player is asked to search and what it answers. Values are for the first player, 0 to 1."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from hyoka.foundation.errors import NotationError
from hyoka.games import AnyLine, AnyMove, game_facts
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation
from hyoka.search.spec import SearchSpec
from hyoka.storage.result import html_table


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What may end a search. Any of these takes the place of all limits of its spec."""

    playouts: int | None = None
    nodes: int | None = None
    depth: int | None = None
    time_s: float | None = None
    infinite: bool = False
    """Until it is stopped, whatever the spec says."""

    def __post_init__(self) -> None:
        for name in ("playouts", "nodes", "depth", "time_s"):
            value = getattr(self, name)
            if value is None:
                continue
            whole = name == "time_s" or isinstance(value, int)
            if isinstance(value, bool) or not whole or not 0 < value <= 10**15:
                raise NotationError(f"'{name}' must be a positive number, not {value!r}")


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What a search thinks of one move."""

    move: AnyMove
    visits: int = 0
    """Simulations through it; those that a prior counts as are among them."""
    value: float | None = None
    score: float | None = None
    """In the result's unit, for the first player."""
    prior: float | None = None
    """How good it looked before: its rating over the greatest, in PUCT its share."""
    proven: str | None = None
    """`won`, `lost` or `drawn` for the side to move."""
    mate: int | None = None
    """Plies to a mate, > 0 if the first player wins."""
    pv: tuple[AnyMove, ...] = ()
    """What is expected, the move itself first."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found."""

    best: AnyMove | None
    """The move to play; None if the game is over or the search found none."""
    value: float | None
    """None where only a solver was asked and it knows nothing."""
    score: float | None = None
    unit: str = ""
    """Of `score`: `centipawns`, `points`, or empty without a score."""
    mate: int | None = None
    """Plies to a certain end by mate or in a tree, > 0 if the first player wins."""
    proven: str | None = None
    """`won`, `lost` or `drawn` for the side to move, where that is certain."""
    pv: tuple[AnyMove, ...] = ()
    moves: tuple[MoveReport, ...] = field(default=(), repr=False)
    """The moves that were looked at; `best` is the first, the others stand by `order`."""
    order: Literal["value", "visits", "prior"] = "value"
    """What `moves` is sorted by. `value`: the side to move's best first, all searched equally deep.
    `visits`: proven wins first, then the most visited, whose value need not be the greatest.
    `prior`: how good they looked beforehand."""
    playouts: int = 0
    nodes: int = 0
    depth: int = 0
    selective_depth: int = 0
    time_s: float = 0.0
    stopped_by: str = ""
    """`playouts`, `nodes`, `depth`, `time`, `early`, `proven`, `interrupted`, `over`, `solved`."""
    hash_permille: int = 0
    """How full the table or the tree's memory is."""
    details: dict[str, Any] = field(default_factory=dict, repr=False)
    """What only this kind of search knows: `iterations`, `memory_bytes`, `full`."""

    def _repr_html_(self) -> str:
        """The moves as a table, for notebooks."""
        found = "no move" if self.best is None else f"{self.best}"
        value = "" if self.value is None else f", {self.value:.3f} for the first player"
        lines = [["move", "visits", "value", "score", "what follows"]]
        lines += [
            [
                str(each.move),
                f"{each.visits:,}" if each.visits else "",
                "" if each.value is None else f"{each.value:.3f}",
                "" if each.score is None else f"{each.score:g}",
                " ".join(map(str, each.pv[:8])),
            ]
            for each in self.moves
        ]
        return html_table(f"{found}{value}", lines, most=12)

    def evaluation(self, game: str | None) -> Evaluation:
        """The result as evaluations are stored; chess counts mates in moves, shogi in plies.

        `game` is a name of `hyoka.GAMES`, or None for games written in Python.
        """
        mate = None
        facts = None if game is None else game_facts(game)
        if facts is not None and facts.mates_in is not None and self.proven in ("won", "lost"):
            plies = self.mate if self.mate is not None else 0
            sign = 1 if (plies > 0 or (plies == 0 and self.value == 1)) else -1
            mate = sign * (facts.counted_mate(abs(plies)) or UNKNOWN_MATE)
        return Evaluation(
            value=self.value,
            score=None if mate is not None else self.score,
            unit="" if mate is not None or self.score is None else self.unit,
            mate=mate,
            best=None if self.best is None else str(self.best),
            depth=self.depth or None,
            nodes=self.playouts or self.nodes or None,
            time_s=self.time_s,
        )


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
