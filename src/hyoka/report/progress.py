# SPDX-License-Identifier: Apache-2.0
"""How a report that takes a while tells how far it is."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many steps are done, and how many there are."""


class Steps:
    """Counts the steps of a report, and tells who wants to know."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def begin(self, what: str) -> None:
        """Say what is being done now; the step before is done."""
        if self._progress is not None:
            self._progress(what, min(self._done, self._total), self._total)
        self._done += 1

    def end(self) -> None:
        """Say that all is done."""
        if self._progress is not None:
            self._progress("done", self._total, self._total)
