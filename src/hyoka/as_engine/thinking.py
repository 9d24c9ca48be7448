# SPDX-License-Identifier: Apache-2.0
"""A search in a thread of its own, that can be stopped, and held back until somebody asks."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from hyoka.games import AnyMove, Line
from hyoka.search import SearchLimits, SearchResult

_AGAIN_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to search, and how much."""

    line: Line
    limits: SearchLimits
    only: Sequence[AnyMove] | None = None
    """Moves to choose from; None for all."""
    every_s: float = 0.5


class Stoppable(Protocol):
    """What `hyoka.search.Searcher` is for us."""

    def search(
        self,
        line: Line,
        limits: SearchLimits,
        /,
        *,
        only: Sequence[AnyMove] | None,
        on_result: Callable[[SearchResult], None],
        every_s: float,
    ) -> SearchResult:
        """Search until a limit or `stop`."""

    def stop(self) -> None:
        """End the running search soon."""


class Thinking:
    """A search that runs until its limits, `stop` or `stop_after`.

    `on_end` is told the result, or the exception, in the thread of the search; if `held`, not
    before `release` or `stop`, as `go infinite` and `go ponder` want it.
    """

    def __init__(
        self,
        searcher: Stoppable,
        question: Question,
        *,
        on_result: Callable[[SearchResult], None],
        on_end: Callable[[SearchResult | Exception], None],
        held: bool = False,
    ) -> None:
        self._searcher = searcher
        self._question = question
        self._on_result = on_result
        self._on_end = on_end
        self._may_end = threading.Event()
        if not held:
            self._may_end.set()
        self._timer: threading.Timer | None = None
        self._thread = threading.Thread(target=self._run, name="search", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        question = self._question
        end: SearchResult | Exception
        try:
            end = self._searcher.search(
                question.line,
                question.limits,
                only=question.only,
                on_result=self._on_result,
                every_s=question.every_s,
            )
        except Exception as error:  # whatever it is, the controller waits for an answer
            end = error
        self._may_end.wait()
        if self._timer is not None:
            self._timer.cancel()
        self._on_end(end)

    def release(self) -> None:
        """Let the result be told when it is there."""
        self._may_end.set()

    def stop_after(self, seconds: float) -> None:
        """Stop in so many seconds, if the search has not ended by then."""
        self._timer = threading.Timer(seconds, self.stop)
        self._timer.daemon = True
        self._timer.start()

    def stop(self, patience_s: float | None = None) -> None:
        """End the search, and wait until its result has been told, or no longer than that."""
        self._may_end.set()
        until = None if patience_s is None else time.monotonic() + patience_s
        # A search that has only just been asked for may not yet hear that it should stop.
        while self._thread.is_alive() and (until is None or time.monotonic() < until):
            self._searcher.stop()
            self._thread.join(_AGAIN_S)

    def join(self) -> None:
        """Wait until the result has been told."""
        self._thread.join()
