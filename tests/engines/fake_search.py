# SPDX-License-Identifier: Apache-2.0
"""A searcher that follows a script, and a dialogue with one of our engines around it."""

import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from hyoka._core import Player
from hyoka.engines.server import Controller
from hyoka.search import MoveStats, Searcher, SearchLimits, SearchResult, SearchSpec

PATIENCE_S = 60.0
"""Forever, for an engine in this process."""


class FakeSearcher:
    """Answers at once with the first legal move; an endless search waits for `stop`.

    A subclass changes `found`. `asked` has the line, the limits and the choice of each search.
    """

    made: list[Self] = []  # noqa: RUF012 - of each class; `searchers` makes a new one for a test

    def __init__(self, spec: SearchSpec | str, game: str) -> None:
        self.spec = SearchSpec.from_text(spec) if isinstance(spec, str) else spec
        self.game = game
        self.asked: list[tuple[Any, SearchLimits, Sequence[Any] | None]] = []
        self.cleared = 0
        self._stopped = threading.Event()
        type(self).made.append(self)

    def search(
        self,
        line: Any,
        limits: SearchLimits | None = None,
        *,
        only: Sequence[Any] | None = None,
        on_result: Callable[[SearchResult], None] | None = None,
        every_s: float = 0.5,
    ) -> SearchResult:
        self._stopped.clear()
        limits = limits or SearchLimits()
        self.asked.append((line, limits, only))
        result = self.found(line, list(only or line.legal_moves))
        if on_result is not None:
            on_result(result)
        if limits == SearchLimits(infinite=True):
            assert self._stopped.wait(PATIENCE_S)
        return result

    def found(self, line: Any, moves: list[Any]) -> SearchResult:
        return report(line, moves, value=0.6)

    def stop(self) -> None:
        self._stopped.set()

    def clear(self) -> None:
        self.cleared += 1


def report(
    line: Any,
    moves: list[Any],
    *,
    value: float,
    score: float | None = None,
    mate: int | None = None,
) -> SearchResult:
    """A result with the moves in the given order, a first reply to each, and round numbers."""
    reports = []
    for number, move in enumerate(moves):
        replies = line.play(move).legal_moves
        pv = (move, replies[0]) if replies else (move,)
        worse = value - number / 100 if line.to_play is Player.first else value + number / 100
        worse = min(max(worse, 0.0), 1.0)
        reports.append(MoveStats(move, 100 - min(number, 99), worse, score, pv=pv))
    return SearchResult(
        best=moves[0] if moves else None,
        value=value,
        score=score,
        unit="" if score is None else "centipawns",
        mate=mate,
        pv=reports[0].pv if reports else (),
        moves=tuple(reports),
        playouts=1000,
        nodes=1000,
        depth=3,
        time_s=0.5,
        stopped_by="playouts",
    )


def searchers(kind: type[FakeSearcher] = FakeSearcher) -> Any:
    """A class of fake searchers with a list of those made that is its own."""
    return type(kind.__name__, (kind,), {"made": []})


class Dialogue:
    """An engine in a thread, spoken to as a controller does."""

    def __init__(self, server: Callable[[Controller], Any]) -> None:
        self._said = queue.Queue[str | None]()
        self._heard = queue.Queue[str]()
        self.lines: list[str] = []
        """All that the engine has said and somebody has waited for."""
        self._rest = ""
        engine = server(Controller(self._lines(), self._write))
        self._thread = threading.Thread(target=engine.run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._said.put(None)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        while not self._heard.empty():
            self.lines.append(self._heard.get())

    def _lines(self) -> Iterator[str]:
        while (line := self._said.get()) is not None:
            yield line

    def _write(self, text: str) -> None:
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._heard.put(line)

    def say(self, *lines: str) -> None:
        for line in lines:
            self._said.put(line)

    def until(self, pattern: str) -> str:
        """The next line in which a pattern is found."""
        while True:
            self.lines.append(self._heard.get(timeout=PATIENCE_S))
            if re.search(pattern, self.lines[-1]):
                return self.lines[-1]

    @property
    def is_silent(self) -> bool:
        """Whether the engine has said nothing that nobody has waited for."""
        return self._heard.empty()


def as_searcher(kind: Any) -> type[Searcher]:
    """A fake, for the type checker."""
    return kind  # type: ignore[no-any-return]
