# SPDX-License-Identifier: Apache-2.0
"""The base of all engine clients: start, handshake, checks of options and moves, end."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from hyoka.engines.client.transport import DOUBT_S, Transport, mistaken, other_greetings
from hyoka.engines.spec import (
    KEYS,
    PROTOCOLS,
    EnginePosition,
    EngineSpec,
    Limits,
    Replay,
    Replayer,
)
from hyoka.foundation.errors import EngineError, Error, nearest
from hyoka.games import Position
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation

DEEPEST: Final = 1000
"""The maximum depth that is read from an engine's answer."""


class EngineClient(ABC):
    """A running engine; there is a client for each protocol. Illegal moves raise."""

    protocol: ClassVar[str]
    last_word: ClassVar[str] = "\n"
    """The prefix of an answer's last line, where the protocol has one."""

    def __init__(self, spec: EngineSpec, transport: Transport) -> None:
        self.spec = spec
        self.name = spec.program_name
        self.version = ""
        self.transport = transport
        transport.last_word = self.last_word
        self._replay = Replayer()

    @classmethod
    async def start(cls, spec: EngineSpec, cwd: Path | None = None) -> Self:
        """Start the engine, shake hands and set its options; raises EngineError."""
        engine = cls(spec, await Transport.of(spec, cwd))
        try:
            if await engine._shake_hands():
                # A slow engine that has read greetings of other protocols may have obeyed them.
                engine.transport.kill()
                engine = cls(spec, await Transport.of(spec, cwd))
                await engine._shake_hands(patient=True)
            await engine._configure()
        except BaseException:
            engine.transport.kill()
            raise
        return engine

    @abstractmethod
    async def _shake_hands(self, *, patient: bool = False) -> bool:
        """Greet the engine; return whether it may have obeyed other protocols' greetings.

        A `patient` handshake sends none. Raises EngineError if the engine reveals another protocol.
        """

    @abstractmethod
    async def _configure(self) -> None:
        """Set the options and limits of the spec."""

    async def _greet(
        self,
        is_last: Callable[[str], bool],
        *,
        patient: bool,
        later: Sequence[tuple[float, Callable[[], str]]] = (),
    ) -> bool:
        """Shake hands by the protocol's greeting; `is_last` takes the lines of the answer.

        Without an answer the engine also gets the texts in `later` and, unless `patient`, the
        greetings of the other protocols.
        """
        doubted = False

        def doubt() -> str:
            nonlocal doubted
            doubted = True
            return other_greetings(self.protocol)

        def read(text: str) -> bool:
            for line in text.split("\n"):
                if (message := mistaken(self.protocol, line)) is not None:
                    raise self.transport.error(message, "nonsense")
                if is_last(line):
                    return True
            return False

        doubts = [] if patient else [(DOUBT_S, doubt)]
        greeting = PROTOCOLS[self.protocol].greeting
        await self.transport.ask(greeting, read, self.spec.timeout_s, later=[*later, *doubts])
        return doubted

    @property
    def alive(self) -> bool:
        """Whether the engine can still answer."""
        return self.transport.alive

    @property
    @abstractmethod
    def abilities(self) -> str:
        """What the engine declares, on one line; empty if nothing."""

    @property
    def repeatable_limits(self) -> Limits | None:
        """Limits that do not depend on the clock: the spec's, if they don't; None if unknown."""
        return None

    @abstractmethod
    async def new_game(self) -> None:
        """Make the engine forget previous positions."""

    @abstractmethod
    async def evaluate(self, position: EnginePosition, limits: Limits | None = None) -> Evaluation:
        """Evaluate a position within `limits`, or else the spec's.

        The rules evaluate a finished game. Raises EngineError if the engine fails (with the reason
        `refused` if it rejects the position), and NotationError or IllegalMoveError for a bad
        position.
        """

    async def evaluate_some(
        self, positions: Sequence[EnginePosition], limits: Limits | None = None
    ) -> list[Evaluation | Error]:
        """Evaluate the first of some positions (at least one): results or errors."""
        try:
            return [await self.evaluate(positions[0], limits)]
        except Error as error:
            return [error]

    async def best_move(self, position: EnginePosition, limits: Limits | None = None) -> str | None:
        """Return the engine's move, or `resign`; None if the game is over."""
        return (await self.evaluate(position, limits)).best

    @abstractmethod
    async def play(
        self, position: EnginePosition, clocks: tuple[Clock, Clock] | None = None
    ) -> Evaluation:
        """Return the engine's move in a game, by both players' clocks or its own limits.

        Raises EngineError with the reason `unplayable` for an illegal move.
        """

    async def close(self) -> bool:
        """Close the engine; True if it exited on request."""
        return await self.transport.close()

    def kill(self) -> None:
        """Kill the engine."""
        self.transport.kill()

    def _replayed(self, position: EnginePosition) -> Replay:
        """Replay a position; raises EngineError for a game of another protocol."""
        games = PROTOCOLS[self.protocol].games
        if position.game not in games:
            plays = " and ".join(games)
            raise self.transport.error(f"plays {plays}, not {position.game}", "game")
        return self._replay(position)

    def _legal(self, text: str, last: Position) -> str:
        """Return a move in our notation; raises EngineError for an illegal one."""
        try:
            move = last.parse(text)
        except ValueError:
            message = f"answers with '{text[:40]}', no move"
            raise self.transport.error(message, "unplayable") from None
        # Rules of Go differ on suicide, superko and the end of the game: any point is accepted.
        if not hasattr(last, "komi") and not last.is_legal(move):
            raise self.transport.error(f"answers with the illegal move {move}", "unplayable")
        return str(move)

    def _patience_s(self, time_s: float | None, clock: Clock | None) -> float:
        """Return the timeout of a move by a time limit, or by the mover's clock."""
        return self.spec.wait_s(time_s if clock is None else clock.main_s + clock.period_s)

    def _no_option(self, name: str, names: Sequence[str]) -> EngineError:
        # A misspelled limit looks like an option.
        hint = nearest(name, [*KEYS, *names]) or ", ".join(names) or "it has none"
        return self.transport.error(f"has no option '{name}'; {hint}", "option")

    def _no_limit(self, message: str) -> EngineError:
        return self.transport.error(message, "limit")
