# SPDX-License-Identifier: Apache-2.0
"""Monte-Carlo tree search as a player."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Player
from hyoka.search.parts import core_class, mcts_options
from hyoka.search.result import MoveReport, SearchLimits, SearchResult
from hyoka.search.simple_players import MatePlayer
from hyoka.search.spec import SearchSpec

_DEFAULT_PLAYOUTS: Final = 10_000
_ROOT_MATE_FACTOR: Final = 100


def _root_mate(spec: SearchSpec) -> SearchSpec:
    return SearchSpec.of("mate", nodes=_ROOT_MATE_FACTOR * spec["mate"], hash=8)


class TreePlayer:
    """A tree that grows from move to move."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        options = mcts_options(spec, game)
        self._core = core_class(game, "Uct")(options)
        self._rated = options.rated or "evaluator" in spec.parts
        self._memory_bytes = spec["memory"] * 2**20
        # At the root a mate is looked for before anything else: the tree would have to find it.
        self._mates = MatePlayer(_root_mate(spec), game) if spec["mate"] else None

    def search(
        self,
        line: Any,
        limits: SearchLimits,
        only: Sequence[Any] | None,
        on_progress: Callable[[SearchResult], None] | None,
        every_s: float,
    ) -> SearchResult:
        """Simulate until a limit is reached."""
        self._core.allow()
        playouts, nodes, seconds = self._limits(limits)
        if self._mates is not None:
            mate = self._mates.search(
                line, SearchLimits(time_s=seconds or None), only, None, every_s
            )
            if mate.best is not None:
                return mate
        tick = None if on_progress is None else lambda: on_progress(self._result(line, ""))
        ended = self._core.run(
            line, self._spec["reuse"], only, playouts, nodes, seconds, self._spec["early"],
            every_s, tick,
        )  # fmt: skip
        return self._result(line, ended)

    def stop(self) -> None:
        """End the running search soon."""
        self._core.stop()
        if self._mates is not None:
            self._mates.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._core.clear()

    def tree(self, *, with_unvisited: bool) -> dict[str, NDArray[np.generic]]:
        """The tree of the last search as arrays; see `Searcher.tree`."""
        arrays: dict[str, NDArray[np.generic]] = self._core.tree(with_unvisited)
        return arrays

    def _limits(self, limits: SearchLimits) -> tuple[int, int, float]:
        if limits.infinite:
            return 0, 0, 0.0
        given = (limits.playouts, limits.nodes, limits.time_s)
        if any(given):
            playouts, nodes, seconds = given
        else:
            playouts, nodes, seconds = (self._spec[name] for name in ("playouts", "nodes", "time"))
        if not (playouts or nodes or seconds):
            playouts = _DEFAULT_PLAYOUTS
        return playouts or 0, nodes or 0, seconds or 0.0

    def _result(self, line: Any, ended: str) -> SearchResult:
        reports = tuple(
            MoveReport(
                move,
                visits,
                value if visits or proof else None,
                prior=prior if self._rated else None,
                proven=proof,
                pv=tuple(pv),
            )
            for move, visits, value, prior, proof, pv in self._core.moves()
        )
        best = reports[0] if reports else None
        value = self._core.value
        if best is not None and best.visits and self._spec["value"] == "best":
            value = best.value
        proof = self._core.proof
        if proof == "drawn":
            value = 0.5
        elif proof is not None:
            value = float((proof == "won") == (line.to_play is Player.first))
        plies = self._core.plies_to_result if proof in ("won", "lost") else None
        return SearchResult(
            None if best is None else best.move,
            value,
            mate=None if plies is None else (plies if value == 1 else -plies),
            proven=proof,
            pv=() if best is None else best.pv,
            moves=reports,
            playouts=self._core.playouts,
            nodes=self._core.nodes,
            depth=self._core.depth,
            stopped_by=ended,
            hash_permille=int(1000 * self._core.memory_bytes / self._memory_bytes),
            details={
                "memory_bytes": self._core.memory_bytes,
                "full": self._core.full,
                "root_value": self._core.value,
            },
        )
