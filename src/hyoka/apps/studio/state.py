# SPDX-License-Identifier: Apache-2.0
"""The state of a running studio, and what a room is; a cache of results."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.requests import Request
from starlette.routing import BaseRoute

from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.forms import Allow, CommandEntry, Forms
from hyoka.apps.studio.runs import Runs, Values

T = TypeVar("T")


@dataclass(frozen=True)
class Room:
    """A part of the studio, with a place in its menu."""

    name: str
    """In addresses and in the names of its templates, styles and script: `board`."""
    title: str
    purpose: str
    """A sentence: what one does there."""
    routes: Sequence[BaseRoute]
    """The first is where the menu leads."""
    style: bool = False
    """Whether there is a `static/NAME.css`."""
    script: bool = False
    """Whether there is a `static/NAME.js`."""

    @property
    def path(self) -> str:
        """Target of the menu entry."""
        return "/" if self.name == "home" else f"/{self.name}"


@dataclass(frozen=True)
class Studio:
    """A folder, and what may be done with it."""

    folder: Folder
    engines: Engines
    forms: Forms
    """The commands that can be run, as forms."""

    @classmethod
    def on(cls, folder: Folder, engines: Engines, commands: Iterable[CommandEntry]) -> "Studio":
        """A studio that runs those of the commands that are runs."""
        return cls(folder, engines, Forms.of(commands))

    @property
    def runs(self) -> Runs:
        """Running and finished runs."""
        return Runs(self.folder, self.words)

    def words(self, command: str, values: Values) -> list[str]:
        """A command's words for what was filled in; raises Error if they may not be run."""
        return self.forms.words(command, values, Allow(self.folder, self.engines))


def studio_of(request: Request) -> Studio:
    """The studio that a request is for."""
    studio: Studio = request.app.state.studio
    return studio


class LruCache(Generic[T]):
    """LRU cache; concurrent requests for one key compute it once.

    >>> cache = LruCache(2)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, computed if missing."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                with self._lock:
                    if key in self._values:
                        return self._values[key]
                value = make()
                with self._lock:
                    self._values[key] = value
                    while len(self._values) > self._most:
                        self._values.popitem(last=False)
                return value
        finally:
            with self._lock:
                self._making.pop(key, None)
