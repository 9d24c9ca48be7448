# SPDX-License-Identifier: Apache-2.0
"""Players that do not search a tree: the exact solvers, and chance."""

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

from hyoka import _core
from hyoka._core import Player
from hyoka.errors import NotationError
from hyoka.search.result import MoveReport, SearchLimits, SearchResult
from hyoka.search.solvers import MATE_SOLVERS, holds
from hyoka.search.spec import SearchSpec

OnProgress = Callable[[SearchResult], None]


class MatePlayer:
    """Looks for mates only."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        if game not in MATE_SOLVERS:
            raise NotationError(f"'mate' searches {' and '.join(MATE_SOLVERS)}, not {game}")
        self._spec = spec
        self._solver = MATE_SOLVERS[game](spec["hash"])

    def search(
        self,
        line: Any,
        limits: SearchLimits,
        only: Sequence[Any] | None,
        on_progress: OnProgress | None,
        every_s: float,
    ) -> SearchResult:
        """Ask for a mate of the side to move; without one there is no best move."""
        nodes, seconds = _solver_limits(self._spec, limits)
        self._solver.allow()
        verdict, moves, visited, spent = self._solver.solve(line.position, nodes, seconds)
        found = verdict == "mate" and holds(line, moves)
        if not found or (only and moves[0] not in only):
            stopped = _why(seconds, spent) if verdict == "unknown" else "solved"
            return SearchResult(None, None, nodes=visited, time_s=spent, stopped_by=stopped)
        sign = 1 if line.to_play is Player.first else -1
        value = float(sign > 0)
        report = MoveReport(
            moves[0], value=value, proven="won", mate=sign * len(moves), pv=tuple(moves)
        )
        return SearchResult(
            moves[0],
            value,
            mate=sign * len(moves),
            proven="won",
            pv=tuple(moves),
            moves=(report,),
            nodes=visited,
            depth=len(moves),
            time_s=spent,
            stopped_by="solved",
        )

    def stop(self) -> None:
        """End the running search soon."""
        self._solver.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._solver.clear()


class ExactPlayer:
    """Solves Othello positions to the end."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        if game != "othello":
            raise NotationError(f"'exact' solves othello, not {game}")
        self._spec = spec
        self._solver = _core.OthelloEnding(spec["hash"])

    def search(
        self,
        line: Any,
        limits: SearchLimits,
        only: Sequence[Any] | None,
        on_progress: OnProgress | None,
        every_s: float,
    ) -> SearchResult:
        """The exact score and best play, or nothing if a limit came first."""
        nodes, seconds = _solver_limits(self._spec, limits)
        self._solver.allow()
        if only:
            return self._among(line, only, nodes, seconds)
        solved, score, moves, visited, spent = self._solver.solve(
            line.position, nodes, seconds, False
        )
        if not solved:
            return SearchResult(
                None, None, nodes=visited, time_s=spent, stopped_by=_why(seconds, spent)
            )
        report = _solved(line, score, tuple(moves))
        return _best_of([report], visited, spent)

    def _among(self, line: Any, only: Sequence[Any], nodes: int, seconds: float) -> SearchResult:
        """The best of some moves; what the others are worth is not asked."""
        solved, scored, visited, spent = self._solver.solve_moves(line.position, nodes, seconds)
        if not solved:
            return SearchResult(
                None, None, nodes=visited, time_s=spent, stopped_by=_why(seconds, spent)
            )
        reports = [_solved(line, score, (move,)) for move, score in scored if move in only]
        best = _best_of(reports, visited, spent)
        # That other moves were left out may have made it worse than it is.
        return best if best.proven == "won" else dataclasses.replace(best, proven=None)

    def stop(self) -> None:
        """End the running search soon."""
        self._solver.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._solver.clear()


class RandomPlayer:
    """Plays any legal move: the yardstick of all searches."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._seed = spec["seed"]
        self._random = random.Random(self._seed)

    def search(
        self,
        line: Any,
        limits: SearchLimits,
        only: Sequence[Any] | None,
        on_progress: OnProgress | None,
        every_s: float,
    ) -> SearchResult:
        """Draw one of the moves."""
        move = self._random.choice(list(only or line.legal_moves))
        return SearchResult(move, None, pv=(move,), moves=(MoveReport(move),), stopped_by="solved")

    def stop(self) -> None:
        """Nothing: it is done at once."""

    def clear(self) -> None:
        """Begin with the seed again."""
        self._random = random.Random(self._seed)


def _solver_limits(spec: SearchSpec, limits: SearchLimits) -> tuple[int, float]:
    if limits.infinite:
        return 0, 0.0
    nodes = spec["nodes"] if limits.nodes is None else limits.nodes
    seconds = spec["time"] if limits.time_s is None else limits.time_s
    return nodes or 0, seconds or 0.0


def _solved(line: Any, score: int, moves: tuple[Any, ...]) -> MoveReport:
    value = 0.5 if score == 0 else float(score > 0)
    mover_ahead = (score > 0) == (line.to_play is Player.first)
    proven = "drawn" if score == 0 else "won" if mover_ahead else "lost"
    return MoveReport(moves[0], value=value, score=float(score), proven=proven, pv=moves)


def _best_of(reports: list[MoveReport], nodes: int, seconds: float) -> SearchResult:
    best = reports[0]
    return SearchResult(
        best.move,
        best.value,
        score=best.score,
        unit="points",
        proven=best.proven,
        pv=best.pv,
        moves=tuple(reports),
        nodes=nodes,
        depth=len(best.pv),
        time_s=seconds,
        stopped_by="solved",
    )


def _why(seconds: float, spent: float) -> str:
    return "time" if seconds and spent >= seconds else "nodes"
