# SPDX-License-Identifier: Apache-2.0
"""Who solves: a search of ours, or an engine."""

import time
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

from hyoka.engines import AnySpec, EnginePosition, EngineSession, EngineSpec, Limits
from hyoka.errors import EngineError
from hyoka.evaluation import Evaluation
from hyoka.problems import Assertion, GtpTest
from hyoka.search import Searcher, SearchLimits, SearchSpec
from hyoka.solving.judging import NotAsked, Task
from hyoka.solving.scripts import Script, ScriptRunner, script_of


@dataclass(frozen=True, slots=True)
class Answer:
    """A move, what is claimed for it, and what it cost."""

    move: str | None
    mate: int | None = None
    """> 0, the first player mates; < 0, the second."""
    score: float | None = None
    """The exact score, seen by the first player, if it was proved."""
    time_s: float = 0.0
    nodes: int = 0
    depth: int = 0
    passes: bool | None = None
    """Whether the answer to a test in GTP passes; `move` is that answer."""


class Player(Protocol):
    """Answers tasks, one at a time, each as if it were the first."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def answer(self, task: Task) -> Answer:
        """Answer a task; raises Error for what goes wrong."""

    def stop(self) -> None:
        """End the search that runs, from another thread."""


def player_of(spec: AnySpec, limits: SearchLimits | None) -> Player:
    """Whoever a spec names; `limits` go before its own."""
    if isinstance(spec, EngineSpec):
        return EnginePlayer(spec, limits)
    return SearchPlayer(spec, limits)


class SearchPlayer:
    """A search of ours, with one searcher for each game."""

    def __init__(self, spec: SearchSpec, limits: SearchLimits | None) -> None:
        self._spec = spec
        self._limits = limits
        self._searchers: dict[str, Searcher] = {}
        self._running: Searcher | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def answer(self, task: Task) -> Answer:
        """Search the task's position with a memory that holds nothing else."""
        searcher = self._searchers.get(task.game)
        if searcher is None:
            searcher = self._searchers[task.game] = Searcher(self._spec, task.game)
        searcher.clear()
        line = task.line()
        only = [line.parse(move) for move in task.only] or None
        began = time.monotonic()
        self._running = searcher
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
        """End the search that runs, if one does."""
        if self._running is not None:
            self._running.stop()


class EnginePlayer:
    """An engine in a process of its own."""

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

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._scripts.close()
        self._session.__exit__(kind, error, traceback)

    def answer(self, task: Task) -> Answer:
        """Ask for a move, or what a test in GTP asks for; UCI and USI also tell mates and nodes.

        Raises EngineError, and NotAsked for what the engine does not understand.
        """
        if task.test is not None:
            script = script_of(task.test, self._session.gtp_engine().commands)
            if isinstance(script, Script):
                return self._test(script, task.test)
            if not task.asks_for_move:
                raise NotAsked(script)
            self._scripts.forget()
        if task.only:
            raise NotAsked("the engine cannot be asked to choose from some moves")
        place = EnginePosition(task.game, task.start, task.moves)
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
        said = self._scripts.answer(script)
        passes = said == "passed" if isinstance(test, Assertion) else test.accepts(said)
        return Answer(said, time_s=time.monotonic() - began, passes=passes)

    def stop(self) -> None:
        """An engine cannot be hurried; it is ended with its session."""
