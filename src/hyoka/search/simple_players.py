# SPDX-License-Identifier: Apache-2.0
"""Players that do not search a tree: the exact solvers, and chance."""

import dataclasses
import random
from collections.abc import Sequence

from hyoka._core import Player
from hyoka.errors import NotationError
from hyoka.games import AnyLine, AnyMove, game_facts, games_with
from hyoka.search.request import SearchRequest
from hyoka.search.result import MoveReport, SearchResult
from hyoka.search.solvers import holds
from hyoka.search.spec import SearchSpec


class MatePlayer:
    """Looks for mates only."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        solver = None if game is None else game_facts(game).mate_solver
        if solver is None:
            games = " and ".join(games_with(lambda facts: facts.mate_solver))
            raise NotationError(f"'mate' searches {games}, not {game}")
        self._spec = spec
        self._solver = solver(spec["hash"])

    def search(self, request: SearchRequest) -> SearchResult:
        """Ask for a mate of the side to move; without one there is no best move."""
        line, only = request.line, request.only
        nodes, seconds = request.limits_for(self._spec, "nodes", "time")
        self._solver.allow()
        verdict, moves, visited, spent = self._solver.solve(line.position, int(nodes), seconds)
        found = verdict == "mate" and holds(line, moves)
        if not found or (only and moves[0] not in only):
            return _nothing(visited, "" if verdict == "unknown" else "solved", seconds, spent)
        sign = 1 if line.to_play is Player.first else -1
        value = float(sign > 0)
        mate = sign * len(moves)
        report = MoveReport(moves[0], value=value, proven="won", mate=mate, pv=tuple(moves))
        return _best_of([report], visited)

    def stop(self) -> None:
        """End the running search soon."""
        self._solver.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._solver.clear()


class ExactPlayer:
    """Solves Othello positions to the end."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        solver = None if game is None else game_facts(game).ending_solver
        if solver is None:
            games = " and ".join(games_with(lambda facts: facts.ending_solver))
            raise NotationError(f"'exact' solves {games}, not {game}")
        self._spec = spec
        self._solver = solver(spec["hash"])

    def search(self, request: SearchRequest) -> SearchResult:
        """The exact score and best play, or nothing if a limit came first."""
        line = request.line
        nodes, seconds = request.limits_for(self._spec, "nodes", "time")
        self._solver.allow()
        if request.only:
            return self._among(line, request.only, int(nodes), seconds)
        solved, score, moves, visited, spent = self._solver.solve(
            line.position, int(nodes), seconds, False
        )
        if not solved:
            return _nothing(visited, "", seconds, spent)
        return _best_of([_solved(line, score, tuple(moves))], visited)

    def _among(
        self, line: AnyLine, only: Sequence[AnyMove], nodes: int, seconds: float
    ) -> SearchResult:
        """The best of some moves; what the others are worth is not asked."""
        solved, scored, visited, spent = self._solver.solve_moves(line.position, nodes, seconds)
        if not solved:
            return _nothing(visited, "", seconds, spent)
        reports = [_solved(line, score, (move,)) for move, score in scored if move in only]
        best = _best_of(reports, visited)
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

    def search(self, request: SearchRequest) -> SearchResult:
        """Draw one of the moves."""
        move = self._random.choice(list(request.only or request.line.legal_moves))
        return SearchResult(move, None, pv=(move,), moves=(MoveReport(move),), stopped_by="solved")

    def stop(self) -> None:
        """Nothing: it is done at once."""

    def clear(self) -> None:
        """Begin with the seed again."""
        self._random = random.Random(self._seed)


def _solved(line: AnyLine, score: int, moves: tuple[AnyMove, ...]) -> MoveReport:
    value = 0.5 if score == 0 else float(score > 0)
    mover_ahead = (score > 0) == (line.to_play is Player.first)
    proven = "drawn" if score == 0 else "won" if mover_ahead else "lost"
    return MoveReport(moves[0], value=value, score=float(score), proven=proven, pv=moves)


def _best_of(reports: list[MoveReport], nodes: int) -> SearchResult:
    best = reports[0]
    return SearchResult(
        best.move,
        best.value,
        score=best.score,
        unit="" if best.score is None else "points",
        mate=best.mate,
        proven=best.proven,
        pv=best.pv,
        moves=tuple(reports),
        nodes=nodes,
        depth=len(best.pv),
        stopped_by="solved",
    )


def _nothing(nodes: int, why: str, seconds: float, spent: float) -> SearchResult:
    """No move was found: for the reason given, else because a limit came first."""
    limit = "time" if seconds and spent >= seconds else "nodes"
    return SearchResult(None, None, nodes=nodes, stopped_by=why or limit)
