# SPDX-License-Identifier: Apache-2.0
"""Monte-Carlo tree search as a player."""

import dataclasses
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka._core import Player
from hyoka.games import AnyLine
from hyoka.search.parts import has_priors, models_for, uct_options
from hyoka.search.request import SearchRequest
from hyoka.search.result import MoveReport, SearchLimits, SearchResult
from hyoka.search.simple_players import MatePlayer
from hyoka.search.spec import SearchSpec

_ROOT_MATE_FACTOR: Final = 100


class TreePlayer:
    """A tree that grows from move to move."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._core = _core.TreeSearch(game, uct_options(spec, game), models_for(spec, game))
        self._has_priors = has_priors(spec, game)
        self._memory_bytes = spec["memory"] * 2**20
        # At the root a mate is looked for before anything else: the tree would have to find it.
        self._mates = MatePlayer(SearchSpec.of("mate", hash=8), game) if spec["mate"] else None

    def search(self, request: SearchRequest) -> SearchResult:
        """Simulate until a limit is reached."""
        line, tell = request.line, request.on_result
        self._core.allow()
        playouts, nodes, seconds = request.limits_for(self._spec, "playouts", "nodes", "time")
        if self._mates is not None:
            few = SearchLimits(nodes=_ROOT_MATE_FACTOR * self._spec["mate"], time_s=seconds or None)
            mate = self._mates.search(dataclasses.replace(request, limits=few))
            if mate.best is not None:
                return mate
        tick = None if tell is None else lambda: tell(self._result(line, ""))
        ended = self._core.run(
            line, request.only, int(playouts), int(nodes), seconds, request.every_s, tick
        )
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

    def _result(self, line: AnyLine, ended: str) -> SearchResult:
        reports = tuple(
            MoveReport(
                move,
                visits,
                value if visits or proof else None,
                prior=prior if self._has_priors else None,
                proven=proof,
                pv=tuple(pv),
            )
            for move, visits, value, prior, proof, pv in self._core.moves()
        )
        best = reports[0] if reports else None
        value: float | None = self._core.value
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
