# SPDX-License-Identifier: Apache-2.0
"""How a report that takes a while tells how far it is."""

from hyoka.progress import OnProgress, Progress


class Steps:
    """Counts the steps of a report, and tells who wants to know."""

    def __init__(self, progress: OnProgress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def begin(self, step: str) -> None:
        """Say what is being done now; the step before is done."""
        self._tell(min(self._done, self._total), step)
        self._done += 1

    def end(self) -> None:
        """Say that all is done."""
        self._tell(self._total, "done")

    def _tell(self, done: int, step: str) -> None:
        if self._progress is not None:
            self._progress(Progress("report", done, self._total, "steps", step))
