# SPDX-License-Identifier: Apache-2.0
"""Flat Monte Carlo as a player: by wins (MC) or by the mean final score (MC-Score)."""

import math
from collections.abc import Sequence

from hyoka import _core
from hyoka._core import Player
from hyoka.games import AnyLine, AnyMove
from hyoka.search.parts import models_for, monte_carlo_options
from hyoka.search.request import SearchRequest
from hyoka.search.result import MoveReport, SearchResult
from hyoka.search.spec import SearchSpec


class MonteCarloPlayer:
    """The papers' classical model: every move gets the same number of playouts."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._stopped = False
        self._by_score = spec.kind == "mc-score"
        options = monte_carlo_options(spec, game)
        self._core = _core.MonteCarlo(game, options, models_for(spec, game))

    def search(self, request: SearchRequest) -> SearchResult:
        """Play out each move equally often and compare the means."""
        line = request.line
        self._stopped = False
        self._core.allow()
        if not request.limits.infinite:
            playouts, a_move, seconds = request.limits_for(self._spec, "playouts", "a_move", "time")
            samples = self._sample(request, 0, int(playouts), int(a_move), seconds)
            ended = "interrupted" if self._stopped else "time" if seconds else "playouts"
            return self._result(line, samples, ended)
        sums: dict[AnyMove, tuple[int, float, float]] = {}
        slice_s = max(0.01, min(request.every_s, 0.2))
        while not self._stopped:  # slice after slice, until somebody has had enough
            done = sum(count for count, *_ in sums.values())
            for move, count, values, scores in self._sample(request, done, 0, 0, slice_s):
                before = sums.get(move, (0, 0.0, 0.0))
                sums[move] = (before[0] + count, before[1] + values, before[2] + scores)
            if request.on_result is not None:
                request.on_result(self._result(line, [(m, *s) for m, s in sums.items()], ""))
        return self._result(line, [(move, *sum_) for move, sum_ in sums.items()], "interrupted")

    def _sample(
        self, request: SearchRequest, first: int, playouts: int, a_move: int, seconds: float
    ) -> list[tuple[AnyMove, int, float, float]]:
        return list(self._core.sample(request.line, request.only, first, playouts, a_move, seconds))

    def _result(
        self, line: AnyLine, samples: Sequence[tuple[AnyMove, int, float, float]], ended: str
    ) -> SearchResult:
        total = sum(count for _, count, *_ in samples)
        reports = [
            MoveReport(
                move,
                count,
                values / count if count else None,
                score=scores / count if count else None,
                pv=(move,),
            )
            for move, count, values, scores in samples
        ]
        sign = 1 if line.to_play is Player.first else -1

        def merit(report: MoveReport) -> float:
            mean = report.score if self._by_score else report.value
            return -math.inf if mean is None else sign * mean

        reports.sort(key=merit, reverse=True)
        best = reports[0]
        value = sum(values for *_, values, _ in samples) / total if total else 0.5
        score = sum(scores for *_, scores in samples) / total if total else 0.0
        if self._spec["value"] == "best" and best.value is not None and best.score is not None:
            value, score = best.value, best.score
        return SearchResult(
            best.move,
            value,
            score=score if self._by_score else None,
            unit="points" if self._by_score else "",
            pv=(best.move,),
            moves=tuple(reports),
            playouts=total,
            depth=1,
            stopped_by=ended,
        )

    def stop(self) -> None:
        """End the running search soon."""
        self._stopped = True
        self._core.stop()

    def clear(self) -> None:
        """Nothing is kept from position to position."""
