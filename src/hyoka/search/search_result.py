# SPDX-License-Identifier: Apache-2.0
"""Search requests, limits and results. Values are for the first player, 0 to 1."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hyoka.foundation.errors import NotationError
from hyoka.foundation.options import option
from hyoka.games import AnyLine, AnyMove, game_facts
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation
from hyoka.search.spec import SearchSpec
from hyoka.storage.result import html_table


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Limits of a search. Any of these replaces all limits of its spec."""

    playouts: int | None = option(None, "Number of playouts per search.", min=1)
    nodes: int | None = option(None, "Maximum number of nodes per search.", min=1)
    depth: int | None = option(None, "Maximum search depth in plies.", min=1, max=999)
    time_s: float | None = option(
        None, "Time per search in seconds.", name="time", min=0.001, metavar="S"
    )
    infinite: bool = False
    """Search until stopped, whatever the spec's limits."""

    def __post_init__(self) -> None:
        for name in ("playouts", "nodes", "depth", "time_s"):
            value = getattr(self, name)
            if value is None:
                continue
            is_number = name == "time_s" or isinstance(value, int)
            if isinstance(value, bool) or not is_number or not 0 < value <= 10**15:
                raise NotationError(f"'{name}' must be a positive number, not {value!r}")


@dataclass(frozen=True, slots=True)
class MoveStats:
    """Statistics of one searched move."""

    move: AnyMove
    visits: int = 0
    """Simulations through the move, including virtual visits."""
    value: float | None = None
    score: float | None = None
    """In the result's unit, for the first player."""
    prior: float | None = None
    """Its strength relative to the greatest; in PUCT, its share."""
    proven: str | None = None
    """`won`, `lost` or `drawn` for the side to move."""
    mate: int | None = None
    """Plies to a mate, > 0 if the first player wins."""
    pv: tuple[AnyMove, ...] = ()
    """The principal variation, from the move itself."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search."""

    best: AnyMove | None
    """The move to play; None if the game is over or there is none."""
    value: float | None
    """None if a solver has no result."""
    score: float | None = None
    unit: str = ""
    """Of `score`: `centipawns`, `points`, or empty without a score."""
    mate: int | None = None
    """Plies to a certain end by mate or in a tree, > 0 if the first player wins."""
    proven: str | None = None
    """`won`, `lost` or `drawn` for the side to move, where that is certain."""
    pv: tuple[AnyMove, ...] = ()
    moves: tuple[MoveStats, ...] = field(default=(), repr=False)
    """The searched moves: `best` first, the others in `order`."""
    order: Literal["value", "visits", "prior"] = "value"
    """The order of `moves`. `value`: best first, all searched to the same depth. `visits`: proven
    wins first, then most visited, which need not have the best value. `prior`: by prior."""
    playouts: int = 0
    nodes: int = 0
    depth: int = 0
    selective_depth: int = 0
    time_s: float = 0.0
    stopped_by: str = ""
    """`playouts`, `nodes`, `depth`, `time`, `early`, `proven`, `interrupted`, `over`, `solved`."""
    hash_permille: int = 0
    """The share of the table or tree memory in use."""
    details: dict[str, Any] = field(default_factory=dict, repr=False)
    """Details of this kind of search: `iterations`, `memory_bytes`, `full`."""

    def _repr_html_(self) -> str:
        """The moves as a table, for notebooks."""
        best = "no move" if self.best is None else f"{self.best}"
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
        return html_table(f"{best}{value}", lines, most=12)

    def evaluation(self, game: str | None) -> Evaluation:
        """Convert to an evaluation as stored; chess counts mates in moves, shogi in plies.

        `game` is a name of `hyoka.games.GAMES`, or None for games written in Python.
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

    def worth(self) -> str:
        """The value, score and proof as text."""
        words = [] if self.value is None else [f"{self.value:.3f}"]
        if self.mate is not None:
            words.append(f"in {abs(self.mate)} {'ply' if abs(self.mate) == 1 else 'plies'}")
        elif self.score is not None:
            words.append(f"{self.score:+.0f}")
        if self.proven is not None:
            words.append(self.proven)
        return " ".join(words)


OnResult = Callable[[SearchResult], None]
"""Called with intermediate results."""


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
    """Called with the results after some playouts or at each depth, maybe only at the end."""

    def limits_for(self, spec: SearchSpec, *names: str) -> tuple[float, ...]:
        """The named limits, 0 for none: the request's, else the spec's, else the defaults.

        >>> request = SearchRequest(None, SearchLimits(time_s=2.0), None, None, 1.0)
        >>> request.limits_for(SearchSpec.from_text("ab:depth=4"), "depth", "nodes", "time")
        (0, 0, 2.0)
        """
        if self.limits.infinite:
            return (0,) * len(names)
        fields = {name: "time_s" if name == "time" else name for name in names}
        requested = {name: getattr(self.limits, field, 0) for name, field in fields.items()}
        of_spec = {name: spec[name] for name in names}
        default = {each.name: each.default_limit for each in spec.settings_for(spec.kind)}
        for limits in (requested, of_spec, default):
            if any(limits.values()):
                return tuple(limits.get(name) or 0 for name in names)
        return (0,) * len(names)
