# SPDX-License-Identifier: Apache-2.0
"""What a room is."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute


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
        """Where the menu leads."""
        return "/" if self.name == "home" else f"/{self.name}"
