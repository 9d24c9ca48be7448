# SPDX-License-Identifier: Apache-2.0
"""Players that do not search a tree: the exact solvers, and chance."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from hyoka import _core
from hyoka._core import Player
from hyoka.errors import NotationError
from hyoka.search.result import MoveReport, SearchLimits, SearchResult
from hyoka.search.solvers import MATE_SOLVERS
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
        if verdict != "mate" or (only and moves[0] not in only):
            stopped = "nodes" if verdict == "unknown" else "solved"
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
        solved, score, moves, visited, spent = self._solver.solve(
            line.position, nodes, seconds, False
        )
        if not solved:
            return SearchResult(None, None, nodes=visited, time_s=spent, stopped_by="nodes")
        value = 0.5 if score == 0 else float(score > 0)
        mover_ahead = (score > 0) == (line.to_play is Player.first)
        proven = "drawn" if score == 0 else "won" if mover_ahead else "lost"
        report = MoveReport(
            moves[0], value=value, score=float(score), proven=proven, pv=tuple(moves)
        )
        return SearchResult(
            moves[0],
            value,
            score=float(score),
            unit="points",
            proven=proven,
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
        return SearchResult(move, 0.5, pv=(move,), moves=(MoveReport(move),), stopped_by="solved")

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
