# SPDX-License-Identifier: Apache-2.0
"""Other people's engines as contestants, each in a process of its own."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hyoka.agents.agent import Agent, Answer, RecordedGame, Turn, is_in_python
from hyoka.agents.gtp_scripts import Script, ScriptRunner, script_of
from hyoka.engines import (
    PROTOCOLS,
    Engine,
    EnginePosition,
    EngineSession,
    EngineSpec,
    Failure,
    Limits,
    start_engine,
)
from hyoka.foundation.errors import EngineError, NotationError
from hyoka.games import game_of_protocol
from hyoka.games.evaluation import Evaluation
from hyoka.records.problems import Assertion, Exercise, GtpTest, NotAsked
from hyoka.search import SearchLimits

_STARTS_IN_A_ROW: Final = 3
_OF_ONE_GAME: Final = ("uci", "usi")


class EngineAgent(Agent[EngineSpec]):
    """An engine that speaks GTP, UCI, USI or CECP."""

    prefixes = PROTOCOLS
    spec_type = EngineSpec

    @classmethod
    def is_named(cls, prefix: str) -> bool:
        """Whether that is a protocol, in capitals or not."""
        return prefix.lower() in cls.prefixes

    @property
    def label(self) -> str:
        """Its name, or else its command's with its limits, options and arguments."""
        spec = self.spec
        if spec.name and spec.name.strip():
            return spec.name.strip()
        options = [f"{key}={value}" for key, value in spec.options]
        command = spec.command.split(" ", 1)
        arguments = [command[1]] if len(command) > 1 and spec.protocol != "gtp" else []
        words = [spec.title, spec.limits.text, *options, *arguments]
        return " ".join(filter(None, words))

    @property
    def threads(self) -> int:
        """The option `Threads`."""
        options = {name.lower(): value for name, value in self.spec.options}
        chosen = options.get("threads", "1")
        return max(1, int(chosen)) if chosen.isdecimal() else 1

    @property
    def keeps_to_a_core(self) -> bool:
        """Whether it has one thread; of GTP engines nobody knows how many they have."""
        return self.threads == 1 and not self.speaks_gtp

    @property
    def default_game(self) -> str | None:
        """Chess for UCI, shogi for USI; over GTP and CECP several games are played."""
        return game_of_protocol(self.spec.protocol) if self.spec.protocol in _OF_ONE_GAME else None

    @property
    def move_time_s(self) -> float | None:
        """Its time limit; GTP and CECP count whole seconds: more is told rather than less."""
        time_s = self.spec.limits.time_s
        whole = self.spec.protocol not in _OF_ONE_GAME
        return math.ceil(time_s) if time_s is not None and whole else time_s

    @property
    def speaks_gtp(self) -> bool:
        """Whether that is its protocol."""
        return self.spec.protocol == "gtp"

    def check(self, game: str, *, here: bool) -> None:
        """Raise EngineError if its program should be here and is not; of games in Python, too."""
        if is_in_python(game):
            raise EngineError(self.spec.title, "engines don't know games in Python", reason="game")
        if here:
            self.spec.program()

    def evaluator(self, game: str) -> "EngineEvaluator":
        """It is started anew when it dies or hangs."""
        return EngineEvaluator(self.spec)

    def game_player(self, game: str, name: str) -> "EngineGamePlayer":
        """It is started anew for the next game when it has died."""
        if is_in_python(game):
            raise NotationError(f"{name}: engines don't play games in Python")
        return EngineGamePlayer(self.spec)

    def solver(self, limits: SearchLimits | None) -> "EngineSolver":
        """UCI and USI engines also tell mates and nodes; GTP engines take tests in their words."""
        return EngineSolver(self.spec, limits)


class EngineEvaluator:
    """An engine that evaluates positions."""

    def __init__(self, spec: EngineSpec) -> None:
        self._session = EngineSession(spec)

    def identity(self) -> tuple[str, str]:
        """What it says of itself when it is started."""
        self._session.start()
        engine = self._session.engine
        return engine.name, engine.version

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation | Failure]:
        """Ask about each position; one on which it dies gives a Failure."""
        positions = [position for game in games for position in game.as_told()]
        return self._session.evaluate_each(positions)

    def stop(self) -> None:
        """End the engine, and what waits for it."""
        self._session.stop()

    def close(self) -> None:
        """Let the engine go."""
        self._session.close()


class EngineGamePlayer:
    """An engine at the board, in the event loop of its game."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._engine: Engine | None = None
        """None before the first start."""

    async def new_game(self, seed: int) -> None:
        """Start the engine if none runs, else make it forget; raises EngineError."""
        if self._engine is not None and self._engine.alive:
            try:
                await self._engine.new_game()
                return
            except EngineError:
                self._engine.kill()
        self._engine = await self._started()

    async def _started(self) -> Engine:
        for tries in range(1, _STARTS_IN_A_ROW + 1):
            try:
                return await start_engine(self._spec)
            except EngineError as error:
                if error.reason == "died" and tries < _STARTS_IN_A_ROW:
                    continue
                if self._engine is None and error.reason in ("died", "timeout", "nonsense"):
                    # It has never worked: that is no way to lose a game.
                    message = f"does not start: {error.message}"
                    raise EngineError(
                        error.engine, message, error.transcript, "missing", error.last_words
                    ) from None
                raise
        raise AssertionError("a start succeeds or raises")

    async def play(self, turn: Turn) -> Evaluation:
        """Ask the engine; one that fails is ended."""
        assert self._engine is not None, "no game has begun"
        assert turn.position is not None, "engines don't play games in Python"
        try:
            return await self._engine.play(turn.position, turn.clocks)
        except EngineError as error:
            if error.reason not in ("refused", "game", "limit", "unplayable"):
                self._engine.kill()
            raise

    async def close(self) -> None:
        """Let the engine go."""
        if self._engine is not None:
            await self._engine.close()
            self._engine.kill()

    def stop(self) -> None:
        """Nothing to do: an engine whose answer nobody waits for any more is ended."""


class EngineSolver:
    """An engine that solves problems."""

    def __init__(self, spec: EngineSpec, limits: SearchLimits | None) -> None:
        given = limits or SearchLimits()
        own = {
            "time_s": given.time_s,
            "nodes": given.nodes,
            "depth": given.depth,
            "playouts": given.playouts,
        }
        chosen = {name: value for name, value in own.items() if value is not None}
        self._spec = replace(spec, limits=Limits(**chosen)) if chosen else spec  # type: ignore[arg-type]
        self._session = EngineSession(self._spec)
        self._scripts = ScriptRunner(self._session)

    def start(self) -> None:
        """Start the engine."""
        self._session.start()

    def answer(self, exercise: Exercise) -> Answer:
        """Ask for a move, or what a test in GTP asks for; UCI and USI also tell mates and nodes.

        Raises EngineError, and NotAsked for what the engine does not understand.
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
        found = self._session.evaluate(place)
        if not isinstance(found, Evaluation):
            raise EngineError(self._spec.title, found.message, found.detail, found.reason)
        return Answer(
            found.best,
            found.mate,
            time_s=time.monotonic() - began,
            nodes=found.nodes or 0,
            depth=found.depth or 0,
        )

    def _test(self, script: Script, test: GtpTest | Assertion) -> Answer:
        began = time.monotonic()
        answer = self._scripts.answer(script)
        passes = answer == "passed" if isinstance(test, Assertion) else test.accepts(answer)
        return Answer(answer, time_s=time.monotonic() - began, passes=passes)

    def stop(self) -> None:
        """End the engine, and what waits for it."""
        self._session.stop()

    def close(self) -> None:
        """Let the engine go, and what was unpacked for it."""
        self._scripts.close()
        self._session.close()
