# SPDX-License-Identifier: Apache-2.0
"""The state of a running studio, and what a room is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.routing import BaseRoute

from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.forms import Allow, CommandEntry, Forms
from hyoka.apps.studio.runs import Runs, Values


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
    found: Studio = request.app.state.studio
    return found
