# SPDX-License-Identifier: Apache-2.0
"""Progress of work, in one form for all reporters and displays."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a piece of work.

    >>> print(Progress("uct:playouts=500", 1200, 5000, "positions"))
    uct:playouts=500: 1,200 of 5,000 positions
    """

    what: str
    """The piece of work; the same in all its reports."""
    done: int
    total: int | None
    """None if unknown."""
    unit: str
    """The unit of the counts, as `positions`; `bytes` are shown as sizes."""
    note: str = ""
    """The current or last item."""

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        note = f" ({self.note})" if self.note else ""
        return f"{self.what}: {self.done:,}{of} {self.unit}{note}"


OnProgress = Callable[[Progress], None]
"""A function that receives progress at the start of work and after each step."""


class Tally:
    """Counts completed work and reports progress.

    >>> tally = Tally(print, "bench", 2, "searches")
    bench: 0 of 2 searches
    >>> tally.add(note="chess")
    bench: 1 of 2 searches (chess)
    """

    def __init__(
        self, on_progress: OnProgress | None, what: str, total: int | None, unit: str
    ) -> None:
        self._on_progress = on_progress
        self._what = what
        self._total = total
        self._unit = unit
        self._done = 0
        self.add(0)

    def add(self, count: int = 1, note: str = "") -> None:
        """Add to the count; it never exceeds the total."""
        self._done += count
        if self._total is not None:
            self._done = min(self._done, self._total)
        if self._on_progress is not None:
            report = Progress(self._what, self._done, self._total, self._unit, note)
            self._on_progress(report)

    def reach(self, done: int) -> None:
        """Set the count."""
        self.add(done - self._done)

    def of_part(self) -> OnProgress:
        """Return a listener that adds a part's progress to the whole."""
        heard = 0

        def listen(part: Progress) -> None:
            nonlocal heard
            new, heard = part.done - heard, part.done
            self.add(new, part.note)

        return listen
