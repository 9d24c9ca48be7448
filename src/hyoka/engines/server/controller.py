# SPDX-License-Identifier: Apache-2.0
"""The controller's lines, and searches that run for it in a thread."""

import importlib.metadata
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

from hyoka.foundation.errors import IllegalMoveError, NotationError
from hyoka.games import GO, AnyMove, Line, as_go, facts_of
from hyoka.games.go import without_passes
from hyoka.search import SearchLimits, SearchResult, SearchSpec, Setting

NAME: Final = "Hyoka"
AUTHOR: Final = "the Hyoka project"


def version() -> str:
    """Return the installed version."""
    return importlib.metadata.version("hyoka")


_BLOCK: Final = 1 << 16
_LONGEST_LINE: Final = 1 << 20


class Controller:
    """Reads lines in its own thread, so that a search can be interrupted; writes complete lines.

    After the controller has gone, `hear` returns None and `say` does nothing.
    """

    def __init__(self, lines: Iterable[str], write: Callable[[str], None]) -> None:
        """Take the lines to read, and a function that writes and flushes a text."""
        self._write = write
        self._queue = queue.Queue[str | None]()
        self._next: list[str | None] = []
        self._lock = threading.Lock()
        self._gone = False
        self._lines = lines
        threading.Thread(target=self._listen, name="controller", daemon=True).start()

    @classmethod
    def of_process(cls) -> Self:
        """Return the controller on our standard input and output."""
        # Unbuffered: a thread waiting in a buffered reader would keep the interpreter from exiting.
        return cls(lines_of(0), write_to(1))

    def _listen(self) -> None:
        try:
            for line in self._lines:
                self._queue.put(line)
        finally:
            self._queue.put(None)

    def wait(self) -> None:
        """Wait for a line or the end."""
        if not self._next:
            self._next.append(self._queue.get())

    def hear(self) -> str | None:
        """Wait for the next line and return it; None from the end on."""
        self.wait()
        if self._next[0] is None or self._gone:
            return None
        return self._next.pop()

    def say(self, text: str) -> None:
        """Write complete lines, not interleaved with other threads'."""
        with self._lock:
            if self._gone:
                return
            try:
                self._write(text + "\n")
            except (OSError, ValueError):
                self._gone = True


def lines_of(descriptor: int) -> Iterator[str]:
    """Yield the lines of a file descriptor; invalid UTF-8 becomes `�`.

    Overlong lines are truncated.
    """
    rest = b""
    while True:
        try:
            block = os.read(descriptor, _BLOCK)
        except OSError:
            block = b""
        if not block:
            break
        *complete, rest = (rest + block).split(b"\n")
        yield from (line[:_LONGEST_LINE].decode("utf-8", "replace") for line in complete)
        rest = rest[: _LONGEST_LINE + 1]
    if rest:
        yield rest[:_LONGEST_LINE].decode("utf-8", "replace")


def write_to(descriptor: int) -> Callable[[str], None]:
    """Return a function that writes complete texts to a file descriptor, unbuffered."""

    def write(text: str) -> None:
        left = memoryview(text.encode("utf-8", "replace"))
        while left:
            left = left[os.write(descriptor, left) :]

    return write


def continue_line(line: Line) -> Line:
    """Return the line, or where a rule has ended it, its position with minimal history.

    A controller may go on after a repetition, fifty moves or two passes, where a search would see a
    finished game. Mates, stalemates and full boards remain.

    >>> import hyoka as hk
    >>> line = hk.Go9().line().play("pass").play("pass")
    >>> line.outcome is None, continue_line(line).outcome is None
    (False, True)
    """
    if line.outcome is None:
        return line
    if facts_of(line).family == GO:
        return without_passes(as_go(line.position)).line()
    fresh = line.position.line()
    return fresh if fresh.outcome is None else line.position.movement_only().line()


def play_moves(line: Line, texts: Iterable[str]) -> Line:
    """Return the line after some moves. Raises NotationError or IllegalMoveError."""
    for number, text in enumerate(texts, start=1):
        line = continue_line(line)
        try:
            move = line.parse(text)
        except TypeError:  # a lone surrogate
            raise NotationError(f"move {number}: no text that can be read") from None
        if not line.is_legal(move):
            raise IllegalMoveError(f"move {number}: {move} is not legal in {line.position.text}")
        line = line.play(move)
    return line


def printable(text: object) -> str:
    """Return a message on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


_MOST: Final = 2**31 - 1
_DEFAULT_NAMES: Final = {
    "hash": "Hash",
    "memory": "Hash",
    "threads": "Threads",
    "multipv": "MultiPV",
}
"""UCI's names of common options. No search has both a table and a tree."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option as UCI and USI declare it."""

    name: str
    declaration: str
    """The declaration from `type` on."""
    setting: str | None = None
    """The setting of the search that it changes."""


def options_of(spec: SearchSpec) -> list[Option]:
    """Return a search's settings as options; the spec's values are the defaults.

    >>> [option.name for option in options_of(SearchSpec.from_text("mate"))]
    ['nodes', 'time', 'Hash']
    """
    return [
        Option(
            _DEFAULT_NAMES.get(setting.name, setting.name),
            _declaration(setting, spec[setting.name]),
            setting.name,
        )
        for setting in SearchSpec.settings_for(spec.kind)
    ]


def _declaration(setting: Setting, value: Any) -> str:
    is_integer = setting.kind == "int" or setting.name == "memory"
    if is_integer and value is not None:
        least = -_MOST if setting.minimum is None else int(setting.minimum)
        most = _MOST if setting.maximum is None else min(_MOST, int(setting.maximum))
        return f"type spin default {int(value)} min {least} max {max(most, int(value))}"
    if setting.kind == "flag" and value is not None:
        return f"type check default {str(value).lower()}"
    if setting.kind == "choice" and value is not None:
        return f"type combo default {value} " + " ".join(f"var {each}" for each in setting.choices)
    # UCI has no option type for fractions or optional numbers.
    text = "" if value is None else setting.text(value)
    return f"type string default {text or '<empty>'}"


def with_setting(spec: SearchSpec, name: str, value: str) -> SearchSpec:
    """Return the spec with a setting changed; empty is the default. Raises NotationError.

    >>> with_setting(SearchSpec.from_text("uct:playouts=50"), "playouts", "80").text
    'uct:playouts=80'
    """
    settings = {setting.name: setting for setting in SearchSpec.settings_for(spec.kind)}
    if name not in settings:
        raise NotationError(f"{spec.kind} has no setting '{name}'; known: {', '.join(settings)}")
    # A spec's text cannot contain these.
    if any(mark in value for mark in ",\n"):
        raise NotationError(f"no value of a setting: '{value}'")
    parsed = None if value in ("", "<empty>") else settings[name].read(value)
    return spec.with_settings(**{name: parsed})


def node_limits(spec: SearchSpec, count: int) -> SearchLimits:
    """Return a node limit in the search's unit: playouts if it has them."""
    names = [setting.name for setting in SearchSpec.settings_for(spec.kind)]
    return SearchLimits(playouts=count) if "playouts" in names else SearchLimits(nodes=count)


_AGAIN_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A position to search, and limits."""

    line: Line
    limits: SearchLimits
    only: Sequence[AnyMove] | None = None
    """The moves to choose from; None for all."""
    every_s: float = 0.5


class Stoppable(Protocol):
    """The part of `hyoka.search.Searcher` that servers use."""

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


class SearchThread:
    """A search that runs until its limits, `stop` or `stop_after`.

    `on_end` gets the result or the exception in the search's thread; if `held`, not before
    `release` or `stop`, as `go infinite` and `go ponder` require.
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
        except Exception as error:  # the controller waits for an answer in any case
            end = error
        self._may_end.wait()
        if self._timer is not None:
            self._timer.cancel()
        self._on_end(end)

    def release(self) -> None:
        """Deliver the result as soon as it arrives."""
        self._may_end.set()

    def stop_after(self, seconds: float) -> None:
        """Stop the search after some seconds unless it has ended."""
        self._timer = threading.Timer(seconds, self.stop)
        self._timer.daemon = True
        self._timer.start()

    def stop(self, patience_s: float | None = None) -> None:
        """End the search, and wait for the delivery of its result, at most for `patience_s`."""
        self._may_end.set()
        until = None if patience_s is None else time.monotonic() + patience_s
        # A search that is just starting may miss a stop request.
        while self._thread.is_alive() and (until is None or time.monotonic() < until):
            self._searcher.stop()
            self._thread.join(_AGAIN_S)

    def join(self) -> None:
        """Wait until the result has been delivered."""
        self._thread.join()
