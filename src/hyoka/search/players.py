# SPDX-License-Identifier: Apache-2.0
"""Players, one class a kind of search: alpha-beta, Monte Carlo, tree search, solvers, random."""

import dataclasses
import math
import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.foundation.math import logistic
from hyoka.games import AnyLine, AnyMove, game_facts, games_with
from hyoka.models.linear import has_features
from hyoka.models.loading import move_model, ranked
from hyoka.models.sparse import SparseEvaluation
from hyoka.search.assembly import (
    alpha_beta_options,
    evaluation_of,
    has_priors,
    models_for,
    monte_carlo_options,
    uct_options,
)
from hyoka.search.search_result import (
    MoveReport,
    OnResult,
    SearchLimits,
    SearchRequest,
    SearchResult,
)
from hyoka.search.solvers import holds
from hyoka.search.spec import SearchSpec
from hyoka.storage.model_file import BUILT_IN

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
            value = logistic(max(-500.0, min(500.0, score / self._scale)))
            return MoveReport(pv[0], value=value, score=float(score), pv=tuple(pv))
        value = float(score > 0)
        points = None
        if mate is None:
            points = _final_score(line, pv, math.copysign(abs(score) - _DECIDED, score))
            points *= self._point
        proven = "won" if (score > 0) == first_to_play else "lost"
        return MoveReport(pv[0], value=value, score=points, proven=proven, mate=mate, pv=tuple(pv))


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


class RankingPlayer:
    """Always the best-ranked legal move, as Yoshii's "Monkey Jump" played.

    It passes when only senseless moves are left (in Go, its own eyes).
    """

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        if game is None or not (spec["strengths"] != BUILT_IN or has_features(game)):
            raise NotationError(
                "'ranking' needs a game whose moves have features, or strengths=FILE"
            )
        self._is_senseless = game_facts(game).is_senseless
        self._model: _core.Model = move_model(game, spec["strengths"])

    def search(self, request: SearchRequest) -> SearchResult:
        """Rank the moves; nothing is known of their values."""
        line = request.line
        allowed = set(request.only or line.legal_moves)
        moves = [(move, share) for move, share in ranked(line, self._model) if move in allowed]
        # What is senseless comes last, a pass before it: so a game ends.
        moves.sort(key=lambda each: self._is_senseless(line.position, each[0]))
        reports = tuple(MoveReport(move, prior=share) for move, share in moves)
        best: AnyMove = moves[0][0]
        return SearchResult(
            best, None, pv=(best,), moves=reports, order="prior", stopped_by="solved"
        )

    def stop(self) -> None:
        """Nothing: it is done at once."""

    def clear(self) -> None:
        """Nothing is kept."""
