# SPDX-License-Identifier: Apache-2.0
"""The kinds of agents, and the factories from a text to a spec and from a spec to an agent."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from hyoka.agents.agent import Agent, Answer, RecordedGame, Spec, Turn
from hyoka.agents.comments import CommentsAgent
from hyoka.agents.engine_agent import EngineAgent
from hyoka.agents.imported_evaluations import TableAgent
from hyoka.foundation.errors import EngineError, NotationError, nearest
from hyoka.foundation.text import prefix_of
from hyoka.games import Line, Position, facts_named, game_facts, is_in_python
from hyoka.games.clock import expected_moves
from hyoka.games.evaluation import Evaluation
from hyoka.records.problems import Exercise
from hyoka.search import (
    KINDS,
    PythonEvaluator,
    Searcher,
    SearchLimits,
    SearchSpec,
    SearchTree,
    search_tree,
)
from hyoka.search.search_result import OnResult

_OVERHEAD_S: Final = 0.01
"""The time that a search leaves on the clock for overhead."""


def _searched(game: str) -> str | None:
    """Return the game's name for searches; None for a game written in Python."""
    return None if is_in_python(game) else game


class SearchAgent(Agent[SearchSpec]):
    """A search in this process."""

    prefixes = tuple(KINDS)
    spec_type = SearchSpec

    @property
    def threads(self) -> int:
        """The setting `threads`."""
        return int(self.spec["threads"]) if self.spec.has("threads") else 1

    @property
    def is_single_threaded(self) -> bool:
        """Whether it has one thread."""
        return self.threads == 1

    @property
    def seed(self) -> int:
        """The setting `seed`."""
        return int(self.spec["seed"]) if self.spec.has("seed") else 0

    def spec_for(self, game: str) -> SearchSpec:
        """Return the spec with the game's preset."""
        return self.spec.for_game(_searched(game))

    def check(self, game: str, *, here: bool) -> None:
        """Raise NotationError if the search does not support the game."""
        Searcher(self.spec.validated_for(_searched(game)), _searched(game))

    @property
    def memory_mib(self) -> int:
        """The settings `memory` and `hash`."""
        spec = self.spec
        return sum(int(spec[name] or 0) for name in ("memory", "hash") if spec.has(name))

    @property
    def best_limit(self) -> str:
        """Playouts or the depth, if the search has such a setting."""
        return next((name for name in ("playouts", "depth") if self.spec.has(name)), "time_s")

    @classmethod
    def roles(cls, prefix: str, game: str) -> frozenset[str]:
        """All roles; solvers play no games, and solve those that have such a solver."""
        search = game_facts(game).search
        solvers = {"mate": search.mate_solver, "exact": search.ending_solver}
        if prefix not in solvers:
            return super().roles(prefix, game)
        return frozenset() if solvers[prefix] is None else frozenset(("evaluator", "solver"))

    def evaluator(self, game: str, limits: SearchLimits | None = None) -> "SearchEvaluator":
        """Return an evaluator that clears its memory before each position."""
        return SearchEvaluator(self.spec, game, limits)

    def player(
        self, game: str, name: str, limits: SearchLimits | None = None
    ) -> "SearchGamePlayer":
        """Return a player that searches within its own limits, or by the clock."""
        return SearchGamePlayer(self.spec_for(game), game, name, limits)

    def solver(self, limits: SearchLimits | None = None) -> "SearchSolver":
        """Return a solver that clears its memory before each problem."""
        return SearchSolver(self.spec, limits)


class SearchEvaluator:
    """A search that evaluates positions of one game."""

    def __init__(self, spec: SearchSpec, game: str, limits: SearchLimits | None = None) -> None:
        self._searcher = Searcher(spec, _searched(game))
        self._limits = limits

    def identity(self) -> tuple[str, str]:
        """Return the search's name and `hyoka`."""
        return str(self._searcher.spec), "hyoka"

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation]:
        """Search each position with empty memory."""
        for game in games:
            for line in game.lines():
                self._searcher.clear()
                result = self._searcher.search(line, self._limits)
                yield result.evaluation(self._searcher.game)

    def search_tree(self, line: Line, on_result: OnResult) -> SearchTree:
        """Search a line with empty memory."""
        self._searcher.clear()
        return search_tree(line, self._searcher, self._limits, on_result=on_result)

    def stop(self) -> None:
        """End the running search."""
        self._searcher.stop()

    def close(self) -> None:
        """Do nothing: a search holds no resources."""


class SearchGamePlayer:
    """A search that plays a game."""

    def __init__(
        self, spec: SearchSpec, game: str, name: str, limits: SearchLimits | None = None
    ) -> None:
        self._spec = spec
        self._game = game
        self._name = name
        self._own_limits = limits
        self._searcher: Searcher | None = None

    async def new_game(self, seed: int) -> None:
        """Start with an empty tree or table."""
        spec = self._spec
        if spec.has("seed"):
            spec = spec.with_settings(seed=seed % 2**63)
        self._searcher = Searcher(spec, _searched(self._game))

    async def play(self, turn: Turn) -> Evaluation:
        """Search within the spec's limits, or for a share of the clock."""
        assert self._searcher is not None, "no game has begun"
        limits = self._own_limits
        if turn.clocks is not None:
            clock = turn.clocks[turn.line.to_play.value]
            moves = expected_moves(turn.line)
            seconds = clock.thinking_s(expected_moves=moves, overhead_s=_OVERHEAD_S)
            limits = self._limits(seconds)
        result = self._searcher.search(turn.line, limits)
        if result.best is None:
            raise EngineError(self._name, "finds no move here", reason="refused")
        return result.evaluation(self._searcher.game)

    def _limits(self, time_s: float) -> SearchLimits:
        """The spec's limits, with the clock's time."""
        spec = self._spec
        playouts, nodes, depth = (
            spec[name] or None if spec.has(name) else None
            for name in ("playouts", "nodes", "depth")
        )
        return SearchLimits(playouts=playouts, nodes=nodes, depth=depth, time_s=time_s)

    async def close(self) -> None:
        """Do nothing: a search holds no resources."""

    def stop(self) -> None:
        """End the running search."""
        if self._searcher is not None:
            self._searcher.stop()


class SearchSolver:
    """A search that solves problems, with one searcher for each game."""

    def __init__(self, spec: SearchSpec, limits: SearchLimits | None) -> None:
        self._spec = spec
        self._limits = limits
        self._searchers: dict[str, Searcher] = {}

    def start(self) -> None:
        """Do nothing: the first problem determines the game."""

    def answer(self, exercise: Exercise) -> Answer:
        """Search the position with empty memory."""
        searcher = self._searchers.get(exercise.game)
        if searcher is None:
            searcher = self._searchers[exercise.game] = Searcher(self._spec, exercise.game)
        searcher.clear()
        line = exercise.line()
        only = [line.parse(move) for move in exercise.only] or None
        began = time.monotonic()
        result = searcher.search(line, self._limits, only=only)
        return Answer(
            None if result.best is None else str(result.best),
            result.mate,
            result.score if self._spec.kind == "exact" else None,
            time.monotonic() - began,
            result.playouts or result.nodes,
            result.depth,
        )

    def stop(self) -> None:
        """End the running searches."""
        for searcher in list(self._searchers.values()):
            searcher.stop()

    def close(self) -> None:
        """Do nothing: a search holds no resources."""


class FunctionAgent(Agent[PythonEvaluator]):
    """A function from a position to its value or an `Evaluation`."""

    spec_type = PythonEvaluator

    def evaluator(self, game: str, limits: SearchLimits | None = None) -> "FunctionEvaluator":
        """Return an evaluator that calls the function for each position."""
        return FunctionEvaluator(self.spec, facts_named(game).naming.unit)


class FunctionEvaluator:
    """A function that evaluates positions."""

    def __init__(self, evaluator: PythonEvaluator, default_unit: str) -> None:
        self._evaluator = evaluator
        self._default_unit = default_unit

    def identity(self) -> tuple[str, str]:
        """Return the function's title and fingerprint."""
        return self._evaluator.title, self._evaluator.fingerprint

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation]:
        """Call the function for each position; its exceptions become EngineErrors with a place."""
        for game in games:
            for ply, position in zip(game.plies, game.positions(), strict=True):
                yield self._evaluated(position, f"at ply {ply} of game {game.number}")

    def _evaluated(self, position: Position, where: str) -> Evaluation:
        name = self._evaluator.title
        began = time.monotonic()
        try:
            answer = self._evaluator(position)
        except Exception as error:
            raise EngineError(name, f"raised {error!r} {where}") from error
        spent = time.monotonic() - began
        if not isinstance(answer, Evaluation):
            try:
                number = float(answer)
            except (TypeError, ValueError):
                message = f"gave {answer!r} {where}: neither a number nor an Evaluation"
                raise EngineError(name, message) from None
            unit = self._evaluator.unit
            numbers: dict[str, Any] = {"score": number, "unit": unit} if unit else {"value": number}
            answer = Evaluation(time_s=spent, **numbers)
        if answer.value is not None and not 0 <= answer.value <= 1:
            message = (
                f"gave {answer.value:g} {where}: an expected result is 0 to 1; if it gives scores: "
                f'hyoka.PythonEvaluator({name}, unit="{self._default_unit}")'
            )
            raise EngineError(name, message)
        if answer.score is not None and not math.isfinite(answer.score):
            raise EngineError(name, f"gave {answer.score} {where}: a score is a finite number")
        if answer.score is not None and not answer.unit:
            answer = replace(answer, unit=self._default_unit)
        return answer

    def stop(self) -> None:
        """Do nothing: the call ends with the position."""

    def close(self) -> None:
        """Do nothing: a function holds no resources."""


AGENT_KINDS: Final[list[type[Agent[Any]]]] = [
    CommentsAgent,
    TableAgent,
    SearchAgent,
    EngineAgent,
    FunctionAgent,
]
"""All kinds of agents."""

SpecLike = str | Spec | Callable[..., Any]
"""A spec, its text, or a function of a position (see `PythonEvaluator`)."""


def kind_of(text: str) -> type[Agent[Any]]:
    """Return the kind of agent that a text names; raises NotationError."""
    prefix = prefix_of(text)
    for kind in AGENT_KINDS:
        if prefix.lower() in kind.prefixes:
            return kind
    hint = nearest(prefix, [word for kind in AGENT_KINDS for word in kind.prefixes])
    if not hint:
        others = ", ".join(
            word for kind in AGENT_KINDS if not kind.names_program for word in kind.prefixes
        )
        hint = f"known: {others}, and engines as PROTOCOL:COMMAND (uci:stockfish)"
    raise NotationError(f"no search or engine '{prefix}'; {hint}")


def roles_of(text: str, game: str) -> frozenset[str]:
    """Return the roles in a game of the agent that a text names; see `ROLES`.

    >>> sorted(roles_of("exact", "othello")), sorted(roles_of("comments", "othello"))
    (['evaluator', 'solver'], [])
    """
    return kind_of(text).roles(prefix_of(text), game)


def spec_of(agent: SpecLike) -> Spec:
    """Return a spec unchanged; read a text, wrap a function. Raises NotationError.

    >>> spec_of("uct:playouts=500").title, spec_of("uci:stockfish").title
    ('UCT, 500 playouts', 'stockfish')
    >>> spec_of("ucd:playouts=500")
    Traceback (most recent call last):
        ...
    hyoka.foundation.errors.NotationError: no search or engine 'ucd'; did you mean uct?
    """
    if isinstance(agent, str):
        spec: Spec = kind_of(agent).spec_type.from_text(agent)
        return spec
    if any(isinstance(agent, kind.spec_type) for kind in AGENT_KINDS):
        return cast(Spec, agent)
    if not callable(agent):
        raise NotationError(f"no search, engine or function: {agent!r}")
    return PythonEvaluator(agent)


def agent_of(spec: SpecLike) -> Agent[Any]:
    """Return the agent of a spec.

    >>> agent_of("uct:playouts=500,threads=2").threads
    2
    """
    spec = spec_of(spec)
    return next(kind(spec) for kind in AGENT_KINDS if isinstance(spec, kind.spec_type))
