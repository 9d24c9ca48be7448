# SPDX-License-Identifier: Apache-2.0
"""A synchronous client that keeps one engine alive through many positions."""

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Coroutine, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from hyoka.engines.client.cecp import CecpEngine
from hyoka.engines.client.engine import EngineClient
from hyoka.engines.client.gtp import Answer, GtpEngine
from hyoka.engines.client.transport import printable
from hyoka.engines.client.uci import EngineLine, UciEngine, UsiEngine
from hyoka.engines.spec import EnginePosition, EngineSpec, Limits
from hyoka.foundation.errors import EngineError, Error
from hyoka.games.evaluation import Evaluation

# How long results are collected before they are yielded: starting and stopping the event loop for
# each would cost as much as a quick engine's answer.
_BATCH_S: Final = 0.05
# An engine that answers within a millisecond gets many positions at once.
_QUICK_S: Final = 0.001
_MANY_AT_ONCE: Final = 32
_LONGEST_POSITION: Final = 200

_CLIENTS: Final[dict[str, type[EngineClient]]] = {
    each.protocol: each for each in (UciEngine, UsiEngine, GtpEngine, CecpEngine)
}
"""The client of each of `PROTOCOLS`."""

T = TypeVar("T")


async def start_engine(spec: EngineSpec | str, cwd: Path | None = None) -> EngineClient:
    """Start an engine and shake hands with it; the caller closes it.

    Raises EngineError if it is missing, does not speak its protocol or refuses an option, and
    NotationError for a bad spec.
    """
    if isinstance(spec, str):
        spec = EngineSpec.from_text(spec)
    return await _CLIENTS[spec.protocol].start(spec, cwd)


async def _ended(task: asyncio.Task[T]) -> T:
    return await task


@dataclass(frozen=True, slots=True)
class Failure:
    """A position that an engine failed to evaluate."""

    reason: str
    """`illegal` for a position that the rules refuse, or a reason of EngineError."""
    message: str
    """The error on one line."""
    detail: str
    """The position and the last lines of the dialogue and of standard error: for a terminal, not
    for a file.
    """


class Engine:
    """An engine for one thread at a time that restarts when it dies or hangs.

    with Engine("uci:nodes=1:stockfish") as engine:
        evaluations = engine.evaluate_many([EnginePosition("chess", moves=["e2e4"])])
    """

    def __init__(
        self, spec: EngineSpec | str, *, max_restarts: int = 3, cwd: Path | None = None
    ) -> None:
        """Take an engine, and the maximum number of consecutive restarts without success."""
        self.spec = EngineSpec.from_text(spec) if isinstance(spec, str) else spec
        self.restarts = 0
        """The number of restarts."""
        self._max_restarts = max_restarts
        self._restarts_in_a_row = 0
        self._cwd = cwd
        self._at_once = 1
        self._runner = asyncio.Runner()
        self._asking: asyncio.Task[Any] | None = None
        """The running call, for `stop`."""
        self._is_started = False
        self._engine: EngineClient | None = None
        self._last_error: EngineError | None = None
        self._last_failed = ""
        """The position of the last error."""
        self._gave_up: EngineError | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._engine is not None and error is not None:
            self._engine.kill()  # after a failure there is no handshake
        self.close()

    def start(self) -> None:
        """Start the engine unless it has been started; raises as `start_engine` does."""
        if not self._is_started:
            self._engine = self._run(start_engine(self.spec, self._cwd))
            self._is_started = True

    def stop(self) -> None:
        """Kill the engine and cancel the running call; called from another thread.

        The call raises an EngineError.
        """
        if (asking := self._asking) is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                asking.get_loop().call_soon_threadsafe(asking.cancel)

    def close(self) -> None:
        """Close the engine, which accepts no calls afterwards."""
        try:
            if self._engine is not None:
                self._runner.run(self._engine.close())
        finally:
            if self._engine is not None:
                self._engine.kill()
            self._runner.close()

    def _run(self, question: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in an event loop, where `stop` can cancel it."""

        async def stoppable() -> T:
            self._asking = asyncio.current_task()
            return await question

        try:
            return self._runner.run(stoppable())
        except asyncio.CancelledError:
            raise EngineError(self.spec.program_name, "was stopped", reason="died") from None
        finally:
            self._asking = None

    @property
    def engine(self) -> EngineClient:
        """The running engine; raises EngineError if there is none."""
        if self._engine is None:
            raise self._last_error or EngineError(
                self.spec.program_name, "is not running", reason="died"
            )
        return self._engine

    def evaluate_many(
        self, positions: Iterable[EnginePosition], limits: Limits | None = None
    ) -> list[Evaluation | Failure]:
        """Evaluate positions in order; see `evaluate_each`."""
        return list(self.evaluate_each(positions, limits))

    def evaluate_each(
        self, positions: Iterable[EnginePosition], limits: Limits | None = None
    ) -> Iterator[Evaluation | Failure]:
        """Evaluate positions in order and yield each result soon after it arrives.

        A position on which the engine dies, hangs or answers nonsense yields a Failure; a new
        process takes the next one. Raises EngineError, after all earlier results, when too many
        consecutive restarts have failed.
        """
        left = deque[EnginePosition]()
        more = iter(positions)
        while batch := self._run(self._evaluate_for_a_moment(left, more, limits)):
            yield from batch
            if self._gave_up is not None:
                raise self._gave_up

    def evaluate(
        self, position: EnginePosition, limits: Limits | None = None
    ) -> Evaluation | Failure:
        """Evaluate one position; `evaluate_many` is faster for many."""
        return self.evaluate_many([position], limits)[0]

    def analyze(
        self, position: EnginePosition, limits: Limits | None = None, *, lines: int = 1
    ) -> Generator[tuple[EngineLine, ...], None, None]:
        """Yield the variations of a UCI or USI engine as it reports them, the best first.

        Each tuple has the variations of one depth. Closing the iterator stops the search.

        with Engine("uci:stockfish") as engine:
            for best, *others in engine.analyze(EnginePosition("chess"), lines=3):
                print(best.evaluation.depth, best.evaluation.score, *best.moves)
        """
        news: asyncio.Queue[tuple[EngineLine, ...] | None] = asyncio.Queue()
        running = self._run(self._running_engine())
        if not isinstance(running, UciEngine):
            protocol = self.spec.protocol.upper()
            raise EngineError(
                self.spec.program_name,
                f"cannot report while it searches ({protocol})",
                reason="refused",
            )
        engine = running

        async def begin() -> asyncio.Task[Evaluation]:
            asked = engine.analyze(position, limits, lines=lines, on_lines=news.put_nowait)
            task = asyncio.create_task(asked)
            task.add_done_callback(lambda _: news.put_nowait(None))
            return task

        task = self._run(begin())
        try:
            while (found := self._run(news.get())) is not None:
                while not news.empty() and (later := news.get_nowait()) is not None:
                    found = later
                yield found
                if task.done() and news.empty():
                    break
        except EngineError:  # `stop`: the engine may never answer
            task.cancel()
            raise
        finally:
            if not task.done() and not task.cancelling():
                engine.stop_search()
            self._run(_ended(task))
            self._restarts_in_a_row = 0

    def best_move(self, position: EnginePosition, limits: Limits | None = None) -> str | None:
        """Return the engine's move; None if the game is over. Raises EngineError."""
        return self._run(self._best_move(position, limits))

    def new_game(self) -> None:
        """Make the engine forget previous positions."""
        self._run(self.engine.new_game())

    def gtp_engine(self) -> GtpEngine:
        """Return the GTP engine, restarted if necessary. Raises EngineError."""
        engine = self._run(self._running_engine())
        if not isinstance(engine, GtpEngine):
            raise EngineError(self.spec.program_name, "does not speak GTP", reason="refused")
        return engine

    def send(self, commands: Sequence[str]) -> list[Answer]:
        """Send commands to a GTP engine and return its answers. Raises EngineError."""
        engine = self.gtp_engine()
        try:
            answers = self._run(engine.command(commands))
        except EngineError as error:
            self._last_error, self._last_failed = error, f" at '{printable(commands[-1])}'"
            raise
        self._restarts_in_a_row = 0
        return answers

    def restart(self) -> None:
        """Kill the engine; the next call starts a new one."""
        if self._engine is not None:
            self._run(self._engine.close())
            self._engine.kill()
        self._restarts_in_a_row = 0

    async def _best_move(self, position: EnginePosition, limits: Limits | None) -> str | None:
        engine = await self._running_engine()
        try:
            move = await engine.best_move(position, limits)
        except EngineError as error:
            self._note(position, error)
            raise
        self._restarts_in_a_row = 0
        return move

    async def _evaluate_for_a_moment(
        self, left: deque[EnginePosition], more: Iterator[EnginePosition], limits: Limits | None
    ) -> list[Evaluation | Failure]:
        """Evaluate remaining positions and more for a moment; an empty list if there are none."""
        results: list[Evaluation | Failure] = []
        until = time.monotonic() + _BATCH_S
        while time.monotonic() < until:
            left.extend(itertools.islice(more, max(0, self._at_once - len(left))))
            if not left:
                break
            try:
                batch = await self._evaluate_some(left, limits)
            except EngineError as error:
                if not results:
                    raise
                self._gave_up = error
                break
            results += batch
            for _ in batch:
                left.popleft()
        return results

    async def _evaluate_some(
        self, positions: Sequence[EnginePosition], limits: Limits | None
    ) -> list[Evaluation | Failure]:
        """Evaluate the first of some positions; raises EngineError if no engine starts."""
        engine = await self._running_engine()
        try:
            batch = await engine.evaluate_some(positions, limits)
        except EngineError as error:
            batch = [error]
        self._at_once = 1
        results: list[Evaluation | Failure] = []
        for position, each in zip(positions, batch, strict=False):
            if isinstance(each, Error):
                results.append(self._failure(engine, position, each))
            else:
                results.append(each)
                if each.time_s > 0:  # otherwise the rules answered, not the engine
                    self._restarts_in_a_row = 0
                    self._at_once = _MANY_AT_ONCE if each.time_s < _QUICK_S else 1
        return results

    def _failure(self, engine: EngineClient, position: EnginePosition, error: Error) -> Failure:
        if not isinstance(error, EngineError):
            return Failure("illegal", str(error), position.describe())
        if error.reason not in ("refused", "limit", "game"):
            engine.kill()
            self._note(position, error)
        words = [f"! {line}" for line in error.last_words.splitlines()]
        lines = [position.describe(), *error.transcript.splitlines()]
        lines += [line for line in words if line not in lines]
        return Failure(error.reason, error.message, "\n".join(lines))

    def _note(self, position: EnginePosition, error: EngineError) -> None:
        """Record the error to report if the engine is given up."""
        where = printable(position.describe())
        if len(where) > _LONGEST_POSITION:
            where = f"{where[:_LONGEST_POSITION]}… ({len(position.moves)} moves)"
        self._last_error, self._last_failed = error, f" at {where}"

    async def _running_engine(self) -> EngineClient:
        """Return the engine, restarted if necessary. Raises EngineError after too many restarts."""
        engine = self._engine
        if engine is not None and engine.alive:
            return engine
        self._engine = None
        while self._restarts_in_a_row < self._max_restarts:
            self._restarts_in_a_row += 1
            self.restarts += 1
            try:
                self._engine = await start_engine(self.spec, self._cwd)
            except EngineError as error:
                self._last_error, self._last_failed = error, " when it was started"
            else:
                return self._engine
        last = self._last_error
        hint = "; to wait longer, set grace= or timeout= in its spec"
        raise EngineError(
            self.spec.program_name,
            f"given up after {self._restarts_in_a_row} restarts in a row without an evaluation; "
            f"the last time it {last.message if last else 'died'}{self._last_failed}"
            f"{hint if last and last.reason == 'timeout' else ''}",
            last.transcript if last else "",
            last.reason if last else "died",
            last.last_words if last else "",
        )
