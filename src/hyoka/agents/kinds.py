# SPDX-License-Identifier: Apache-2.0
"""The kinds of agents, and the factories from a text to a spec and from a spec to an agent."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.agents.agent import (
    Agent,
    Answer,
    EvaluationSource,
    Evaluator,
    GamePlayer,
    RecordedEvaluations,
    RecordedGame,
    Solver,
    Spec,
    Turn,
)
from hyoka.agents.comments import CommentsAgent
from hyoka.agents.engine_agent import EngineAgent
from hyoka.agents.imported_evaluations import TableAgent
from hyoka.engines import Failure
from hyoka.foundation.errors import EngineError, NotationError, nearest
from hyoka.foundation.text import DefaultTitle, prefix_of
from hyoka.games import Line, Position, facts_named, game_facts, is_in_python
from hyoka.games.clock import expected_moves
from hyoka.games.evaluation import Evaluation
from hyoka.models.calibration_model import CalibrationModel, move_number
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
from hyoka.storage.manifest import CALIBRATION
from hyoka.storage.model_file import ModelFile, read_model_file

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


@dataclass(frozen=True)
class CalibratedSpec:
    """A spec with the setting `calibration`: a model that maps its values or scores.

    >>> from hyoka.models.calibration_model import CalibrationModel, PlattMap
    >>> model = CalibrationModel("chess", "centipawns", PlattMap(0.0, 0.005))
    >>> spec = CalibratedSpec(spec_of("ab:nodes=9"), replace(model.model_file(), path="a.json"))
    >>> spec.text, spec.title
    ('ab:nodes=9,calibration=a.json', 'Alpha-beta, 9 nodes, calibrated')
    """

    spec: Spec
    """The spec without the setting."""
    model_file: ModelFile

    def __post_init__(self) -> None:
        if isinstance(self.spec, CalibratedSpec):
            raise NotationError(f"{self.spec.title}: it has a calibration already")
        if "," in str(self.model_file):
            raise NotationError(f"a spec can't have a file name with commas: '{self.model_file}'")
        CalibrationModel.from_model_file(self.model_file)

    @property
    def text(self) -> str:
        """The text that `spec_of` reads."""
        return type(agent_of(self.spec)).join_calibration(self.spec.text, str(self.model_file))

    def __str__(self) -> str:
        return self.text + str(self.spec).removeprefix(self.spec.text)

    @property
    def title(self) -> str:
        """The title of the spec and `calibrated`."""
        title = f"{self.spec.title}, calibrated"
        return DefaultTitle(title) if isinstance(self.spec.title, DefaultTitle) else title

    @property
    def id(self) -> str:
        """The id of the spec and the hash of the model."""
        return f"{self.spec.id}-calibrated-{self.model_file.sha256[:8]}"

    @property
    def dependencies(self) -> dict[str, str]:
        """Those of the spec, and the hash of the model."""
        return {**self.spec.dependencies, CALIBRATION: self.model_file.sha256}


class _Inner:
    """A property of the agent that is calibrated."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, agent: "CalibratedAgent | None", owner: type[Any]) -> Any:
        return getattr(Agent if agent is None else agent.inner, self._name)


class CalibratedAgent(Agent[CalibratedSpec]):
    """Any agent, with calibrated values. It plays the same moves."""

    spec_type = CalibratedSpec
    threads: Any = _Inner()
    memory_mib: Any = _Inner()
    has_limits: Any = _Inner()
    best_limit: Any = _Inner()
    is_single_threaded: Any = _Inner()
    default_game: Any = _Inner()
    seed: Any = _Inner()
    move_time_s: Any = _Inner()
    speaks_gtp: Any = _Inner()
    names_program: ClassVar[Any] = _Inner()
    replaces_evaluations: ClassVar[Any] = _Inner()

    def __init__(self, spec: CalibratedSpec) -> None:
        super().__init__(spec)
        self.inner = agent_of(spec.spec)
        self._model = CalibrationModel.from_model_file(spec.model_file)

    def title_of(self, program: str) -> str:
        """Return the title with the reported name."""
        return f"{self.inner.title_of(program)}, calibrated"

    def spec_for(self, game: str) -> CalibratedSpec:
        """Return the spec with the game's defaults resolved."""
        return replace(self.spec, spec=self.inner.spec_for(game))

    def check(self, game: str, *, here: bool) -> None:
        """Validate the agent and the model for a game."""
        self.spec.model_file.check(CalibrationModel.kind, game)
        self.inner.check(game, here=here)

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations] | None:
        """Read evaluations and calibrate them."""
        recorded = self.inner.evaluations_in(source)
        return None if recorded is None else [self._recorded(each) for each in recorded]

    def _recorded(self, recorded: RecordedEvaluations) -> RecordedEvaluations:
        """Calibrate the rows of a table."""
        spec = CalibratedSpec(recorded.spec, self.spec.model_file)
        identity = {
            **recorded.identity,
            "spec": spec.text,
            "title": spec.title,
            CALIBRATION: spec.model_file.sha256,
        }
        rows, model = recorded.rows, self._model
        values, scores, mates = (_numbers(rows, name) for name in ("value", "score", "mate"))
        units = set(rows["unit"].to_pylist()) if np.isfinite(scores).any() else set[str]()
        try:
            inputs = model.inputs(values, scores, mates, units)
        except NotationError as error:
            raise self._misfit(error) from None
        moves = move_number(_numbers(rows, "ply"))
        expected = np.where(np.isnan(inputs), values, model.expected(inputs, moves))
        columns = {"value": expected}
        columns |= dict(zip(("win", "draw", "loss"), model.chances(inputs, moves), strict=True))
        rows = rows.drop_columns([name for name in columns if name in rows.column_names])
        for name, numbers in columns.items():
            rows = rows.append_column(name, pa.array(numbers, pa.float32(), from_pandas=True))
        return replace(recorded, spec=spec, rows=rows, identity=identity)

    def _misfit(self, error: NotationError) -> EngineError:
        message = f"can't be calibrated by {self.spec.model_file}: {error}"
        return EngineError(self.inner.spec.title, message, reason="option")

    def _calibrated(self, evaluation: Evaluation, ply: int) -> Evaluation:
        try:
            return self._model.calibrated(evaluation, ply)
        except NotationError as error:
            raise self._misfit(error) from None

    def evaluator(self, game: str, limits: SearchLimits | None = None) -> "CalibratedEvaluator":
        """Return an evaluator with calibrated values."""
        return CalibratedEvaluator(self.inner.evaluator(game, limits), self._calibrated)

    def player(
        self, game: str, name: str, limits: SearchLimits | None = None
    ) -> "CalibratedGamePlayer":
        """Return a player that plays the same moves and reports calibrated values."""
        return CalibratedGamePlayer(self.inner.player(game, name, limits), self._calibrated)

    def solver(self, limits: SearchLimits | None = None) -> Solver:
        """Return the solver, whose answers have no values."""
        return self.inner.solver(limits)


def _numbers(rows: pa.Table, name: str) -> NDArray[np.float64]:
    """A column of numbers; NaN where it is null or missing."""
    if name not in rows.column_names:
        return np.full(len(rows), math.nan)
    return np.asarray(rows[name].cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


Calibrate = Callable[[Evaluation, int], Evaluation]
"""Replaces the value of an evaluation after a number of plies."""


class CalibratedEvaluator:
    """An evaluator with calibrated values."""

    def __init__(self, evaluator: Evaluator, calibrate: Calibrate) -> None:
        self._evaluator = evaluator
        self._calibrate = calibrate

    def identity(self) -> tuple[str, str]:
        """Return the evaluator's name and version."""
        return self._evaluator.identity()

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation | Failure]:
        """Calibrate each evaluation."""
        plies = (ply for game in games for ply in game.plies)
        for ply, result in zip(plies, self._evaluator.evaluate_each(games), strict=True):
            yield result if isinstance(result, Failure) else self._calibrate(result, ply)

    def stop(self) -> None:
        """End the running evaluation."""
        self._evaluator.stop()

    def close(self) -> None:
        """Release the evaluator's resources."""
        self._evaluator.close()


class CalibratedGamePlayer:
    """A player that reports calibrated values."""

    def __init__(self, player: GamePlayer, calibrate: Calibrate) -> None:
        self._player = player
        self._calibrate = calibrate

    async def new_game(self, seed: int) -> None:
        """Forget previous games."""
        await self._player.new_game(seed)

    async def play(self, turn: Turn) -> Evaluation:
        """Choose a move, and calibrate its evaluation."""
        evaluation = await self._player.play(turn)
        return self._calibrate(evaluation, len(turn.line.moves))

    async def close(self) -> None:
        """Release the player's resources."""
        await self._player.close()

    def stop(self) -> None:
        """Make `play` return soon."""
        self._player.stop()


AGENT_KINDS: Final[list[type[Agent[Any]]]] = [
    CommentsAgent,
    TableAgent,
    SearchAgent,
    EngineAgent,
    FunctionAgent,
    CalibratedAgent,
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
    if "/" in prefix:
        hint = f"an engine's program has its protocol before it, as uci:{prefix}"
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
        kind = kind_of(agent)
        text, calibration = kind.split_calibration(agent)
        spec: Spec = kind.spec_type.from_text(text)
        return spec if calibration is None else calibrated(spec, calibration)
    if any(isinstance(agent, kind.spec_type) for kind in AGENT_KINDS):
        return cast(Spec, agent)
    if not callable(agent):
        raise NotationError(f"no search, engine or function: {agent!r}")
    return PythonEvaluator(agent)


def calibrated(agent: SpecLike, model: str | Path | ModelFile) -> CalibratedSpec:
    """Return the spec of an agent whose values a calibration model maps.

    Raises SourceError for a file that is no such model.
    """
    return CalibratedSpec(spec_of(agent), read_model_file(model, CalibrationModel.kind))


def agent_of(spec: SpecLike) -> Agent[Any]:
    """Return the agent of a spec.

    >>> agent_of("uct:playouts=500,threads=2").threads
    2
    """
    spec = spec_of(spec)
    return next(kind(spec) for kind in AGENT_KINDS if isinstance(spec, kind.spec_type))
