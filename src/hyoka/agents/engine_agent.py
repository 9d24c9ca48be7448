# SPDX-License-Identifier: Apache-2.0
"""External engines as agents, each in its own process."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hyoka.agents.agent import Agent, Answer, RecordedGame, Turn
from hyoka.agents.gtp_scripts import Script, ScriptRunner, script_of
from hyoka.engines import (
    PROTOCOLS,
    Engine,
    EngineClient,
    EngineLine,
    EnginePosition,
    EngineSpec,
    Failure,
    Limits,
    start_engine,
)
from hyoka.foundation.errors import EngineError, NotationError
from hyoka.games import Line, game_facts, is_in_python, name_of
from hyoka.games.evaluation import Evaluation
from hyoka.records.problems import Assertion, Exercise, GtpTest, NotAsked
from hyoka.search import SearchLimits

_MAX_STARTS: Final = 3


class EngineAgent(Agent[EngineSpec]):
    """An engine that speaks GTP, UCI, USI or CECP."""

    prefixes = tuple(PROTOCOLS)
    spec_type = EngineSpec
    names_program = True

    def title_of(self, program: str) -> str:
        """Return the title with the reported name."""
        return self.spec.titled(program)

    @property
    def threads(self) -> int:
        """The option `Threads`."""
        options = {name.lower(): value for name, value in self.spec.options}
        threads = options.get("threads", "1")
        return max(1, int(threads)) if threads.isdecimal() else 1

    @property
    def is_single_threaded(self) -> bool:
        """Whether it has one thread; the thread count of GTP engines is unknown."""
        return self.threads == 1 and not self.speaks_gtp

    @property
    def default_game(self) -> str | None:
        """Chess for UCI, shogi for USI; GTP and CECP have several games."""
        games = PROTOCOLS[self.spec.protocol].games
        return games[0] if len(games) == 1 else None

    @property
    def move_time_s(self) -> float | None:
        """The time limit, rounded up for GTP and CECP, which count whole seconds."""
        time_s = self.spec.limits.time_s
        whole_seconds = PROTOCOLS[self.spec.protocol].whole_seconds
        return math.ceil(time_s) if time_s is not None and whole_seconds else time_s

    @property
    def speaks_gtp(self) -> bool:
        """Whether the protocol is GTP."""
        return self.spec.protocol == "gtp"

    def check(self, game: str, *, here: bool) -> None:
        """Raise EngineError for a missing program or a game written in Python."""
        if is_in_python(game):
            name = self.spec.program_name
            raise EngineError(name, "engines don't know games in Python", reason="game")
        if here:
            self.spec.program()

    @property
    def has_limits(self) -> bool:
        """Whether the spec has limits; the defaults differ between protocols."""
        return bool(self.spec.limits)

    @classmethod
    def split_calibration(cls, text: str) -> tuple[str, str | None]:
        """Take the setting from those before the command."""
        spec = EngineSpec.from_text(text)
        options = dict(spec.options)
        file = options.pop("calibration", None)
        if file is None:
            return text, None
        return replace(spec, options=tuple(options.items())).text, file

    @classmethod
    def join_calibration(cls, text: str, file: str) -> str:
        """Add the setting to those before the command."""
        spec = EngineSpec.from_text(text)
        return replace(spec, options=(*spec.options, ("calibration", file))).text

    @classmethod
    def roles(cls, prefix: str, game: str) -> frozenset[str]:
        """All roles in games that are played in the protocol."""
        plays = game_facts(game).name in PROTOCOLS[prefix.lower()].games
        return super().roles(prefix, game) if plays else frozenset()

    def evaluator(self, game: str, limits: SearchLimits | None = None) -> "EngineEvaluator":
        """Return an evaluator that restarts the engine when it dies or hangs."""
        return EngineEvaluator(_limited(self.spec, limits))

    def player(
        self, game: str, name: str, limits: SearchLimits | None = None
    ) -> "EngineGamePlayer":
        """Return a player that restarts a dead engine before the next game."""
        if is_in_python(game):
            raise NotationError(f"{name}: engines don't play games in Python")
        return EngineGamePlayer(_limited(self.spec, limits))

    def solver(self, limits: SearchLimits | None = None) -> "EngineSolver":
        """Return a solver; UCI and USI also report mates and nodes, GTP engines take GTP tests."""
        return EngineSolver(_limited(self.spec, limits))


def _limited(spec: EngineSpec, limits: SearchLimits | None) -> EngineSpec:
    """Return the spec with other limits, if there are any."""
    names = ("time_s", "nodes", "depth", "playouts")
    chosen = {name: getattr(limits, name) for name in names if limits is not None}
    if not any(chosen.values()):
        return spec
    return replace(spec, limits=Limits(**chosen))


class EngineEvaluator:
    """An engine that evaluates positions."""

    def __init__(self, spec: EngineSpec) -> None:
        self._session = Engine(spec)

    def identity(self) -> tuple[str, str]:
        """Return the name and version that the engine reports at its start."""
        self._session.start()
        engine = self._session.engine
        return engine.name, engine.version

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation | Failure]:
        """Evaluate each position; one that the engine dies on yields a Failure."""
        positions = [position for game in games for position in game.engine_positions()]
        return self._session.evaluate_each(positions)

    @property
    def reports(self) -> bool:
        """Whether it reports variations while it searches."""
        return self._session.spec.protocol in ("uci", "usi")

    def variations(self, line: Line, most: int) -> Iterator[Sequence[EngineLine]]:
        """Evaluate a line's last position; yield the variations of each depth, the best first."""
        [position] = RecordedGame.of_line(name_of(line), line).engine_positions()
        yield from self._session.analyze(position, lines=most)

    def stop(self) -> None:
        """Kill the engine and cancel the pending call."""
        self._session.stop()

    def close(self) -> None:
        """Close the engine."""
        self._session.close()


class EngineGamePlayer:
    """An engine that plays a game, in the game's event loop."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._engine: EngineClient | None = None
        """None before the first start."""

    async def new_game(self, seed: int) -> None:
        """Start the engine, or reset it if it runs. Raises EngineError."""
        if self._engine is not None and self._engine.alive:
            try:
                await self._engine.new_game()
                return
            except EngineError:
                self._engine.kill()
        self._engine = await self._start_process()

    async def _start_process(self) -> EngineClient:
        for tries in range(1, _MAX_STARTS + 1):
            try:
                return await start_engine(self._spec)
            except EngineError as error:
                if error.reason == "died" and tries < _MAX_STARTS:
                    continue
                if self._engine is None and error.reason in ("died", "timeout", "nonsense"):
                    # An engine that never worked must not lose games.
                    message = f"does not start: {error.message}"
                    raise EngineError(
                        error.engine, message, error.transcript, "missing", error.last_words
                    ) from None
                raise
        raise AssertionError("a start succeeds or raises")

    async def play(self, turn: Turn) -> Evaluation:
        """Ask the engine for a move; kill it if it fails."""
        assert self._engine is not None, "no game has begun"
        assert turn.position is not None, "engines don't play games in Python"
        try:
            return await self._engine.play(turn.position, turn.clocks)
        except EngineError as error:
            if error.reason not in ("refused", "game", "limit", "unplayable"):
                self._engine.kill()
            raise

    async def close(self) -> None:
        """Close the engine."""
        if self._engine is not None:
            await self._engine.close()
            self._engine.kill()

    def stop(self) -> None:
        """Do nothing: canceling the game kills the engine."""


class EngineSolver:
    """An engine that solves problems."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._session = Engine(self._spec)
        self._scripts = ScriptRunner(self._session)

    def start(self) -> None:
        """Start the engine."""
        self._session.start()

    def answer(self, exercise: Exercise) -> Answer:
        """Ask for a move, or for the answer to a GTP test; UCI and USI also report mates and nodes.

        Raises EngineError, and NotAsked for commands that the engine does not support.
        """
        if exercise.test is not None:
            script = script_of(exercise.test, self._session.gtp_engine().commands)
            if isinstance(script, Script):
                return self._test(script, exercise.test)
            if not exercise.asks_for_move:
                raise NotAsked(script)
            self._scripts.forget()
        if exercise.only:
            raise NotAsked("the engine cannot be asked to choose from some moves")
        place = EnginePosition(exercise.game, exercise.start, exercise.moves)
        began = time.monotonic()
        if self._spec.protocol == "gtp":
            move = self._session.best_move(place)
            return Answer(move, time_s=time.monotonic() - began)
        result = self._session.evaluate(place)
        if not isinstance(result, Evaluation):
            raise EngineError(self._spec.program_name, result.message, result.detail, result.reason)
        return Answer(
            result.best,
            result.mate,
            time_s=time.monotonic() - began,
            nodes=result.nodes or 0,
            depth=result.depth or 0,
        )

    def _test(self, script: Script, test: GtpTest | Assertion) -> Answer:
        began = time.monotonic()
        answer = self._scripts.answer(script)
        passes = answer == "passed" if isinstance(test, Assertion) else test.accepts(answer)
        return Answer(answer, time_s=time.monotonic() - began, passes=passes)

    def stop(self) -> None:
        """Kill the engine and cancel the pending call."""
        self._session.stop()

    def close(self) -> None:
        """Close the engine and delete the unpacked records."""
        self._scripts.close()
        self._session.close()
