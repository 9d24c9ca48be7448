# SPDX-License-Identifier: Apache-2.0
"""What a running studio has: every request is answered from this and from its own address."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.requests import Request

from hyoka.studio.engines import Engines
from hyoka.studio.folder import Folder
from hyoka.studio.forms import Allow, CommandEntry, Forms
from hyoka.studio.runs import Runs, Values


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
        """What is under way, and what was."""
        return Runs(self.folder, self.words)

    def words(self, command: str, values: Values) -> list[str]:
        """A command's words for what was filled in; raises Error if they may not be run."""
        return self.forms.words(command, values, Allow(self.folder, self.engines))


def studio_of(request: Request) -> Studio:
    """The studio that a request is for."""
    found: Studio = request.app.state.studio
    return found
