# SPDX-License-Identifier: Apache-2.0
"""A search in a thread that can be stopped, and its settings as protocols offer them."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from hyoka.foundation.errors import NotationError
from hyoka.games import AnyMove, Line
from hyoka.search import SearchLimits, SearchResult, SearchSpec, Setting

_MOST: Final = 2**31 - 1
_DEFAULT_NAMES: Final = {
    "hash": "Hash",
    "memory": "Hash",
    "threads": "Threads",
    "multipv": "MultiPV",
}
"""UCI's names for what many engines have. No search has both a table and a tree."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option as UCI and USI declare it."""

    name: str
    declaration: str
    """From `type` on."""
    setting: str | None = None
    """The setting of the search that it changes."""


def options_of(spec: SearchSpec) -> list[Option]:
    """The settings of a search as options whose defaults are the spec's own values.

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
    whole = setting.kind == "int" or setting.name == "memory"
    if whole and value is not None:
        least = -_MOST if setting.minimum is None else int(setting.minimum)
        most = _MOST if setting.maximum is None else min(_MOST, int(setting.maximum))
        return f"type spin default {int(value)} min {least} max {max(most, int(value))}"
    if setting.kind == "flag" and value is not None:
        return f"type check default {str(value).lower()}"
    if setting.kind == "choice" and value is not None:
        return f"type combo default {value} " + " ".join(f"var {each}" for each in setting.choices)
    # UCI has no option for a number with a fraction, or for one that may be left open.
    text = "" if value is None else setting.text(value)
    return f"type string default {text or '<empty>'}"


def with_setting(spec: SearchSpec, name: str, value: str) -> SearchSpec:
    """The spec with one setting changed; an empty value is the default. Raises NotationError.

    >>> with_setting(SearchSpec.from_text("uct:playouts=50"), "playouts", "80").text
    'uct:playouts=80'
    """
    known = {setting.name: setting for setting in SearchSpec.settings_for(spec.kind)}
    if name not in known:
        raise NotationError(f"{spec.kind} has no setting '{name}'; there are {', '.join(known)}")
    # A spec's text could not say these.
    if any(mark in value for mark in ",\n"):
        raise NotationError(f"no value of a setting: '{value}'")
    chosen = None if value in ("", "<empty>") else known[name].read(value)
    return spec.with_settings(**{name: chosen})


def counted(spec: SearchSpec, count: int) -> SearchLimits:
    """A limit that a protocol calls nodes, in what the search counts: playouts if it has some."""
    names = [setting.name for setting in SearchSpec.settings_for(spec.kind)]
    return SearchLimits(playouts=count) if "playouts" in names else SearchLimits(nodes=count)


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
