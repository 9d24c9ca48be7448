# SPDX-License-Identifier: Apache-2.0
"""Monte-Carlo tree search as a player."""

import dataclasses
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka._core import Player
from hyoka.games import AnyLine
from hyoka.search.parts import has_priors, models_for, uct_options
from hyoka.search.request import OnResult, SearchRequest
from hyoka.search.result import MoveReport, SearchLimits, SearchResult
from hyoka.search.simple_players import MatePlayer
from hyoka.search.spec import SearchSpec

_ROOT_MATE_FACTOR: Final = 100
_STEPS_A_DOUBLING: Final = 4


class _Before(NamedTuple):
    """What a search that pauses had done up to its last pause: the core counts from there."""

    playouts: int
    depth: int


class TreePlayer:
    """A tree that grows from move to move."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._core = _core.TreeSearch(game, uct_options(spec, game), models_for(spec, game))
        self._has_priors = has_priors(spec, game)
        # Evaluators in Python are asked in batches, which a pause would cut short.
        self._in_batches = "evaluator" in spec.parts
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
        done, depth, ended = 0, 0, ""
        result: SearchResult | None = None
        for upto in self._parts(request, int(playouts), limited=bool(nodes or seconds)):
            before = _Before(done, depth)
            tick = None if tell is None else partial(self._tell, tell, line, before)
            ended = self._core.run(
                line, request.only, upto - done, int(nodes), seconds, request.every_s, tick
            )
            result = self._result(line, ended, before)
            if ended != "playouts":
                break
            if request.on_step is not None:
                request.on_step(result)
            done, depth = upto, result.depth
        assert result is not None
        return result

    def _parts(self, request: SearchRequest, playouts: int, *, limited: bool) -> list[int]:
        """After how many playouts to pause, the last of them included; 0 is no limit.

        The tree is the same as without pauses, and so whoever can't go on where it was does
        not pause.
        """
        spec = self._spec
        kept = spec["reuse"] and not spec["early"] and not spec["history"] and not request.only
        if request.on_step is None or limited or not playouts or not kept or self._in_batches:
            return [playouts]
        marks = {int(2 ** (i / _STEPS_A_DOUBLING)) for i in range(200)}
        return [*sorted(mark for mark in marks if mark < playouts), playouts]

    def _tell(self, tell: OnResult, line: AnyLine, before: "_Before") -> None:
        tell(self._result(line, "", before))

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

    def _result(self, line: AnyLine, ended: str, before: "_Before") -> SearchResult:
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
            order="visits",
            playouts=before.playouts + self._core.playouts,
            nodes=self._core.nodes,
            depth=max(before.depth, self._core.depth),
            stopped_by=ended,
            hash_permille=int(1000 * self._core.memory_bytes / self._memory_bytes),
            details={
                "memory_bytes": self._core.memory_bytes,
                "full": self._core.full,
                "root_value": self._core.value,
            },
        )
