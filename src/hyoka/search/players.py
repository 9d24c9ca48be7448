# SPDX-License-Identifier: Apache-2.0
"""Players, one class per kind of search: alpha-beta, Monte Carlo, tree search, solvers, random.

Any of them can play from an opening book while the position is in it.
"""

import dataclasses
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.foundation.math import logistic
from hyoka.games import AnyLine, AnyMove, Position, game_facts, games_with
from hyoka.models.book import Book
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
    MoveStats,
    OnResult,
    SearchLimits,
    SearchRequest,
    SearchResult,
)
from hyoka.search.solvers import holds
from hyoka.search.spec import SearchSpec
from hyoka.storage.model_file import BUILT_IN

_DECIDED: Final = 20_000
"""Scores of finished games begin here, plus points; see `alphabeta.h`."""


def _final_score(line: AnyLine, pv: list[AnyMove], rounded: float) -> float:
    """The exact score at the end of a variation; alpha-beta rounds to points."""
    for move in pv:
        line = line.play(move)
    return float(line.score) if line.outcome is not None else rounded


class SearchPlayer(ABC):
    """A kind of search; `Searcher` chooses one."""

    _core: Any = None
    """The search in the compiled core, if there is one."""

    @abstractmethod
    def search(self, request: SearchRequest) -> SearchResult:
        """Search a line of play that is not over."""

    def stop(self) -> None:
        """Stop the running search."""
        if self._core is not None:
            self._core.stop()

    def clear(self) -> None:
        """Clear the state."""
        if self._core is not None:
            self._core.clear()


class AlphaBetaPlayer(SearchPlayer):
    """An alpha-beta search that keeps its table from move to move.

    With `multipv` above 1, all reported moves are from the last completed depth. A single move may
    come from an incomplete depth.
    """

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._core = _core.AlphaBeta(game, alpha_beta_options(spec), models_for(spec, game))
        evaluation = evaluation_of(spec, game)
        if evaluation is not None:
            self._unit, scale = evaluation.unit, evaluation.scale
        elif game is not None:  # a function's scores have the game's unit
            _, self._unit, scale = _core.evaluation_terms(game)
        else:
            self._unit, scale = "points", 1.0
        self._scale = spec["scale"] or scale
        self._point = evaluation.point if isinstance(evaluation, SparseEvaluation) else 1

    def search(self, request: SearchRequest) -> SearchResult:
        """Search by iterative deepening until a limit."""
        line, only, tell = request.line, request.only, request.on_result
        depth, nodes, seconds = request.limits_for(self._spec, "depth", "nodes", "time")
        tick = None if tell is None else lambda: self._tell(line, tell)
        self._core.allow()
        self._core.run(line, only, int(depth), int(nodes), seconds, request.every_s, tick)
        result = self._result(line)
        assert result is not None
        result = dataclasses.replace(result, stopped_by=self._why(result, depth, nodes))
        if only and result.proven != "won":
            # An excluded move might be better.
            result = dataclasses.replace(result, proven=None, mate=None)
        if request.on_step is not None:
            for step in self._steps(line, result):
                request.on_step(step)
        return result

    def _steps(self, line: AnyLine, result: SearchResult) -> Iterator[SearchResult]:
        """The result of each depth."""
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
        state = self._core.found()
        if not state["variations"]:
            return None
        reports = tuple(self._report(line, *each) for each in state["variations"])
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
            nodes=state["nodes"],
            depth=state["depth"],
            selective_depth=state["selective_depth"],
            hash_permille=state["permille_full"],
            details={"iterations": state["iterations"]},
        )

    def _report(self, line: AnyLine, score: int, mate: int | None, pv: list[AnyMove]) -> MoveStats:
        """Convert an alpha-beta score to score, value and proof."""
        first_to_play = line.to_play is Player.first
        if mate is None and abs(score) < _DECIDED:
            value = logistic(max(-500.0, min(500.0, score / self._scale)))
            return MoveStats(pv[0], value=value, score=float(score), pv=tuple(pv))
        value = float(score > 0)
        points = None
        if mate is None:
            points = _final_score(line, pv, math.copysign(abs(score) - _DECIDED, score))
            points *= self._point
        proven = "won" if (score > 0) == first_to_play else "lost"
        return MoveStats(pv[0], value=value, score=points, proven=proven, mate=mate, pv=tuple(pv))


class MonteCarloPlayer(SearchPlayer):
    """Flat Monte Carlo: every move gets the same number of playouts."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._stopped = False
        self._by_score = spec.kind == "mc-score"
        options = monte_carlo_options(spec, game)
        self._core = _core.MonteCarlo(game, options, models_for(spec, game))

    def search(self, request: SearchRequest) -> SearchResult:
        """Play out each move equally often and compare means."""
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
        while not self._stopped:  # slice by slice, until it is stopped
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
            MoveStats(
                move,
                count,
                values / count if count else None,
                score=scores / count if count else None,
                pv=(move,),
            )
            for move, count, values, scores in samples
        ]
        sign = 1 if line.to_play is Player.first else -1

        def merit(report: MoveStats) -> float:
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
        """Stop the running search."""
        self._stopped = True
        super().stop()

    def clear(self) -> None:
        """Do nothing: there is no state."""


class MatePlayer(SearchPlayer):
    """Searches for mates only."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        solver = None if game is None else game_facts(game).search.mate_solver
        if solver is None:
            games = " and ".join(games_with(lambda facts: facts.search.mate_solver))
            raise NotationError(f"'mate' searches {games}, not {game}")
        self._spec = spec
        self._core = solver(spec["hash"])

    def search(self, request: SearchRequest) -> SearchResult:
        """Search for a mate by the side to move; without one there is no best move."""
        line, only = request.line, request.only
        nodes, seconds = request.limits_for(self._spec, "nodes", "time")
        self._core.allow()
        verdict, moves, visited, spent = self._core.solve(line.position, int(nodes), seconds)
        is_mate = verdict == "mate" and holds(line, moves)
        if not is_mate or (only and moves[0] not in only):
            return _nothing(visited, "" if verdict == "unknown" else "solved", seconds, spent)
        sign = 1 if line.to_play is Player.first else -1
        value = float(sign > 0)
        mate = sign * len(moves)
        report = MoveStats(moves[0], value=value, proven="won", mate=mate, pv=tuple(moves))
        return _best_of([report], visited)


class ExactPlayer(SearchPlayer):
    """Solves Othello positions to the end."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        solver = None if game is None else game_facts(game).search.ending_solver
        if solver is None:
            games = " and ".join(games_with(lambda facts: facts.search.ending_solver))
            raise NotationError(f"'exact' solves {games}, not {game}")
        self._spec = spec
        self._core = solver(spec["hash"])

    def search(self, request: SearchRequest) -> SearchResult:
        """The exact score and best play, or no move at a limit."""
        line = request.line
        nodes, seconds = request.limits_for(self._spec, "nodes", "time")
        self._core.allow()
        if request.only:
            return self._among(line, request.only, int(nodes), seconds)
        solved, score, moves, visited, spent = self._core.solve(
            line.position, int(nodes), seconds, False
        )
        if not solved:
            return _nothing(visited, "", seconds, spent)
        return _best_of([_solved(line, score, tuple(moves))], visited)

    def _among(
        self, line: AnyLine, only: Sequence[AnyMove], nodes: int, seconds: float
    ) -> SearchResult:
        """The best of some moves."""
        solved, scored, visited, spent = self._core.solve_moves(line.position, nodes, seconds)
        if not solved:
            return _nothing(visited, "", seconds, spent)
        reports = [_solved(line, score, (move,)) for move, score in scored if move in only]
        best = _best_of(reports, visited)
        # An excluded move might be better.
        return best if best.proven == "won" else dataclasses.replace(best, proven=None)


class RandomPlayer(SearchPlayer):
    """Plays random legal moves."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._seed = spec["seed"]
        self._random = random.Random(self._seed)

    def search(self, request: SearchRequest) -> SearchResult:
        """Draw a move."""
        move = self._random.choice(list(request.only or request.line.legal_moves))
        return SearchResult(move, None, pv=(move,), moves=(MoveStats(move),), stopped_by="solved")

    def clear(self) -> None:
        """Reset the random generator."""
        self._random = random.Random(self._seed)


def _solved(line: AnyLine, score: int, moves: tuple[AnyMove, ...]) -> MoveStats:
    value = 0.5 if score == 0 else float(score > 0)
    mover_ahead = (score > 0) == (line.to_play is Player.first)
    proven = "drawn" if score == 0 else "won" if mover_ahead else "lost"
    return MoveStats(moves[0], value=value, score=float(score), proven=proven, pv=moves)


def _best_of(reports: list[MoveStats], nodes: int) -> SearchResult:
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
    """A result without a move: for a reason, or because of a limit."""
    limit = "time" if seconds and spent >= seconds else "nodes"
    return SearchResult(None, None, nodes=nodes, stopped_by=why or limit)


_ROOT_MATE_FACTOR: Final = 100
_STEPS_A_DOUBLING: Final = 4


class _Before(NamedTuple):
    """Totals at the last pause of a search; the core counts from there."""

    playouts: int
    depth: int


class TreePlayer(SearchPlayer):
    """A tree search that reuses its tree from move to move."""

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        self._spec = spec
        self._core = _core.TreeSearch(game, uct_options(spec, game), models_for(spec, game))
        self._has_priors = has_priors(spec, game)
        # A pause would split the batches of Python evaluators.
        self._in_batches = "evaluator" in spec.parts
        self._memory_bytes = spec["memory"] * 2**20
        # A mate search precedes the tree search at the root.
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
        """The numbers of playouts to pause at, including the last; 0 is no limit.

        Pauses must not change the tree, so searches that cannot resume exactly do not pause.
        """
        spec = self._spec
        resumes = spec["reuse"] and not spec["early"] and not spec["history"] and not request.only
        if request.on_step is None or limited or not playouts or not resumes or self._in_batches:
            return [playouts]
        marks = {int(2 ** (i / _STEPS_A_DOUBLING)) for i in range(200)}
        return [*sorted(mark for mark in marks if mark < playouts), playouts]

    def _tell(self, tell: OnResult, line: AnyLine, before: "_Before") -> None:
        tell(self._result(line, "", before))

    def stop(self) -> None:
        """Stop the running search."""
        super().stop()
        if self._mates is not None:
            self._mates.stop()

    def tree(self, *, with_unvisited: bool) -> dict[str, NDArray[np.generic]]:
        """The tree of the last search as arrays; see `Searcher.tree`."""
        arrays: dict[str, NDArray[np.generic]] = self._core.tree(with_unvisited)
        return arrays

    def _result(self, line: AnyLine, ended: str, before: "_Before") -> SearchResult:
        reports = tuple(
            MoveStats(
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


class RankingPlayer(SearchPlayer):
    """Always the best-ranked legal move, as Yoshii's "Monkey Jump" played.

    It passes when only senseless moves remain (in Go, filling its own eyes).
    """

    def __init__(self, spec: SearchSpec, game: str | None) -> None:
        if game is None or not (spec["strengths"] != BUILT_IN or has_features(game)):
            raise NotationError(
                "'ranking' needs a game whose moves have features, or strengths=FILE"
            )
        self._is_senseless = game_facts(game).search.is_senseless
        self._model: _core.Model = move_model(game, spec["strengths"])

    def search(self, request: SearchRequest) -> SearchResult:
        """Rank the moves, without values."""
        line = request.line
        allowed = set(request.only or line.legal_moves)
        moves = [(move, share) for move, share in ranked(line, self._model) if move in allowed]
        # Senseless moves rank after a pass, so that games end.
        moves.sort(key=lambda each: self._is_senseless(line.position, each[0]))
        reports = tuple(MoveStats(move, prior=share) for move, share in moves)
        best: AnyMove = moves[0][0]
        return SearchResult(
            best, None, pv=(best,), moves=reports, order="prior", stopped_by="solved"
        )


class _Draw(SearchPlayer):
    """Draw moves of a book in proportion to their counts (Sato 2010, equation 2)."""

    def __init__(self, book: Book, seed: int) -> None:
        self._book = book
        self._seed = seed
        self._random = random.Random(seed)

    def search(self, request: SearchRequest) -> SearchResult:
        """Draw one of the request's moves; it is reported first, the others by count."""
        counts: Mapping[Any, int] = self._book.moves(cast(Position, request.line.position))
        moves = sorted(request.only or (), key=lambda move: -counts[move])
        [drawn] = self._random.choices(moves, weights=[counts[move] for move in moves])
        moves.sort(key=lambda move: move != drawn)
        reports = tuple(MoveStats(move, counts[move], pv=(move,)) for move in moves)
        return SearchResult(
            drawn, None, pv=(drawn,), moves=reports, order="visits", stopped_by="book"
        )

    def clear(self) -> None:
        """Reset the random generator."""
        self._random = random.Random(self._seed)


class _BookTree(TreePlayer):
    """A tree search that expands only book moves inside the book.

    It gets the time limit of the main search, but none of the other limits.
    """

    def __init__(self, book: Book, spec: SearchSpec) -> None:
        limits = {"time": spec["time"] or None, "seed": spec["seed"]}
        tree = SearchSpec.of("uct", parts={"book": book}, **limits)
        super().__init__(tree.for_game(book.game), book.game)

    def search(self, request: SearchRequest) -> SearchResult:
        """Search within the time limit only."""
        limits = SearchLimits(time_s=request.limits.time_s, infinite=request.limits.infinite)
        return super().search(dataclasses.replace(request, limits=limits))


class BookPlayer(SearchPlayer):
    """A search that plays book moves, which another search picks, inside the book."""

    def __init__(self, player: SearchPlayer, book: Book, picker: SearchPlayer) -> None:
        self._player = player
        self._book = book
        self._picker = picker

    def search(self, request: SearchRequest) -> SearchResult:
        """A book move, or the search's result outside the book."""
        moves = [
            move
            for move in self._book.moves(cast(Position, request.line.position))
            if request.line.is_legal(move) and (request.only is None or move in request.only)
        ]
        if not moves:
            return self._player.search(request)
        return self._picker.search(dataclasses.replace(request, only=moves))

    def stop(self) -> None:
        """Stop the running search."""
        self._picker.stop()
        self._player.stop()

    def clear(self) -> None:
        """Clear the state."""
        self._picker.clear()
        self._player.clear()


def with_book(player: SearchPlayer, spec: SearchSpec, book: Book) -> SearchPlayer:
    """The player, with a book that it tries first."""
    how = spec["book_pick"]
    if how == "search":
        return BookPlayer(player, book, player)
    picker = _Draw(book, spec["seed"]) if how == "frequency" else _BookTree(book, spec)
    return BookPlayer(player, book, picker)
