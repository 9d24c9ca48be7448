# SPDX-License-Identifier: Apache-2.0
"""Alpha-beta as a player."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Final

from hyoka import _core
from hyoka._core import Player
from hyoka.games import AnyLine, AnyMove
from hyoka.search.parts import alpha_beta_options, evaluation_of, models_for
from hyoka.search.request import OnResult, SearchRequest
from hyoka.search.result import MoveReport, SearchResult
from hyoka.search.sparse_evaluations import SparseEvaluation
from hyoka.search.spec import SearchSpec

_DECIDED: Final = 20_000
"""Scores from here on are those of games that are over, by points; see `alphabeta.h`."""


def _final_score(line: AnyLine, pv: list[AnyMove], rounded: float) -> float:
    """The score at the end of a variation; alpha-beta itself counts in whole points."""
    for move in pv:
        line = line.play(move)
    return float(line.score) if line.outcome is not None else rounded


class AlphaBetaPlayer:
    """An alpha-beta search that keeps its table from move to move.

    With `multipv` above 1, all moves reported are from the last depth that was completed for each.
    A single one may come from the depth begun after.
    """

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._core = _core.AlphaBeta(game, alpha_beta_options(spec), models_for(spec, game))
        evaluation = evaluation_of(spec, game)
        if evaluation is not None:
            self._unit, scale = evaluation.unit, evaluation.scale
        elif game is not None:  # a function's scores are taken for what the game's own are
            _, self._unit, scale = _core.evaluation_terms(game)
        else:
            self._unit, scale = "points", 1.0
        self._scale = spec["scale"] or scale
        self._point = evaluation.point if isinstance(evaluation, SparseEvaluation) else 1

    def search(self, request: SearchRequest) -> SearchResult:
        """Search deeper and deeper until a limit is reached."""
        line, only, tell = request.line, request.only, request.on_result
        depth, nodes, seconds = request.limits_for(self._spec, "depth", "nodes", "time")
        tick = None if tell is None else lambda: self._tell(line, tell)
        self._core.allow()
        self._core.run(line, only, int(depth), int(nodes), seconds, request.every_s, tick)
        result = self._result(line)
        assert result is not None
        result = dataclasses.replace(result, stopped_by=self._why(result, depth, nodes))
        if only and result.proven != "won":
            # That other moves were left out may have made it worse than it is.
            result = dataclasses.replace(result, proven=None, mate=None)
        if request.on_step is not None:
            for step in self._steps(line, result):
                request.on_step(step)
        return result

    def _steps(self, line: AnyLine, result: SearchResult) -> Iterator[SearchResult]:
        """What was found at each depth."""
        for depth, nodes, time_s, variations in result.details["iterations"]:
            reports = tuple(self._report(line, *each) for each in variations)
            if reports:
                best = reports[0]
                yield SearchResult(
                    best.move,
                    best.value,
                    score=best.score,
                    unit="" if best.score is None else self._unit,
                    mate=best.mate,
                    proven=best.proven,
                    pv=best.pv,
                    moves=reports,
                    nodes=nodes,
                    depth=depth,
                    time_s=time_s,
                )

    def stop(self) -> None:
        """End the running search soon."""
        self._core.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._core.clear()

    def _why(self, result: SearchResult, depth: float, nodes: float) -> str:
        if self._core.stopped:
            return "interrupted"
        if result.proven is not None:
            return "proven"
        if depth and result.depth >= depth:
            return "depth"
        return "nodes" if nodes and result.nodes >= nodes else "time"

    def _tell(self, line: AnyLine, on_result: OnResult) -> None:
        result = self._result(line)
        if result is not None:
            on_result(result)

    def _result(self, line: AnyLine) -> SearchResult | None:
        found = self._core.found()
        if not found["variations"]:
            return None
        reports = tuple(self._report(line, *each) for each in found["variations"])
        best = reports[0]
        return SearchResult(
            best.move,
            best.value,
            score=best.score,
            unit="" if best.score is None else self._unit,
            mate=best.mate,
            proven=best.proven,
            pv=best.pv,
            moves=reports,
            nodes=found["nodes"],
            depth=found["depth"],
            selective_depth=found["selective_depth"],
            hash_permille=found["permille_full"],
            details={"iterations": found["iterations"]},
        )

    def _report(self, line: AnyLine, score: int, mate: int | None, pv: list[AnyMove]) -> MoveReport:
        """Turn alpha-beta's one number into score, value and proof."""
        first_to_play = line.to_play is Player.first
        if mate is None and abs(score) < _DECIDED:
            value = 1 / (1 + math.exp(-max(-500.0, min(500.0, score / self._scale))))
            return MoveReport(pv[0], value=value, score=float(score), pv=tuple(pv))
        value = float(score > 0)
        points = None
        if mate is None:
            points = _final_score(line, pv, math.copysign(abs(score) - _DECIDED, score))
            points *= self._point
        proven = "won" if (score > 0) == first_to_play else "lost"
        return MoveReport(pv[0], value=value, score=points, proven=proven, mate=mate, pv=tuple(pv))
