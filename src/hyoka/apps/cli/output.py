# SPDX-License-Identifier: Apache-2.0
"""Printing and progress of all commands."""

import contextlib
import json
import os
import shlex
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, TypeVar

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as RichProgress
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hyoka.foundation.errors import TERMINAL_COMMANDS, escape_control_chars
from hyoka.foundation.progress import OnProgress, Progress, Tally

T = TypeVar("T")


class SafeConsole(Console):
    """A console that escapes control characters in text.

    All output uses it: texts, tables, bars. Hyoka's own colors are not part of the text.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render the objects with escaped text."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(escape_control_chars(piece.text), piece.style)


# A file or a pipe gets unwrapped lines; only a terminal has a width.
out = SafeConsole(highlight=False, width=None if sys.stdout.isatty() else 4000)
err = SafeConsole(stderr=True, highlight=False)


def say(text: str, *, complaint: bool = False) -> None:
    """Print a text with escaped control characters to standard output or error."""
    print(escape_control_chars(text), file=sys.stderr if complaint else sys.stdout)


def tell(text: str) -> None:
    """Print a line of an answer."""
    out.print(text, markup=False, soft_wrap=True)


def hint(text: str) -> None:
    """Print a line beside an answer: what it rests on, or the next step."""
    out.print(text, style="dim", markup=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print a line on standard error."""
    err.print(text, markup=False, soft_wrap=True)


def match_hint(new: str, old: str, game: str, *more: str) -> str:
    """Return the command of a match of a new player against an old one."""
    return shlex.join(["hyoka", "match", "run", f"new={new}", f"old={old}", "--game", game, *more])


def command_line(context: typer.Context) -> str:
    """Return the command line, for files that record how they were made."""
    return shlex.join(["hyoka", *context.find_root().obj])


_mode: ContextVar[tuple[bool, bool]] = ContextVar("mode", default=(False, False))


@contextlib.contextmanager
def output_mode(as_json: bool, quiet: bool) -> Iterator[None]:
    """Set how a command answers: as JSON, and without progress."""
    token = _mode.set((as_json, quiet))
    try:
        yield
    finally:
        _mode.reset(token)


def wants_json() -> bool:
    """Whether the command answers as JSON."""
    return _mode.get()[0]


def is_quiet() -> bool:
    """Whether the command shows no progress: by --quiet or --json."""
    return any(_mode.get())


def answered(value: object) -> bool:
    """Print the command's answer if it is wanted as JSON; return whether it is."""
    if wants_json():
        print_json(value)
    return wants_json()


class RateColumn(ProgressColumn):
    """The rate per second."""

    def render(self, task: Task) -> Text:
        """The current rate, or an empty text."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="dim")


def print_json(value: object) -> None:
    r"""Print a value as one line of JSON; terminal control characters are written as `\u001b`."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    print(TERMINAL_COMMANDS.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


class _Bars:
    """A progress bar for each piece of current work; they disappear when all work is done.

    Only then may another live display start, such as a match's score.
    """

    def __init__(self) -> None:
        self._bars: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._is_over = False

    def show(self, progress: Progress) -> None:
        if self._bars is None:
            # A thread that reads ahead may report after the display has closed.
            if progress.done == progress.total or self._is_over:
                return
            self._bars = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                _ByUnit(MofNCompleteColumn(), DownloadColumn()),
                _ByUnit(RateColumn(), TransferSpeedColumn()),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}", markup=False, style="dim"),
                console=err,
                transient=True,
            )
            self._bars.start()
        what = progress.what
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(
                what, total=progress.total, unit=progress.unit, note=""
            )
        self._bars.update(
            self._tasks[what], completed=progress.done, total=progress.total, note=progress.note
        )
        if self._bars.finished:
            self._clear()

    def end(self) -> None:
        self._is_over = True
        self._clear()

    def _clear(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars, self._tasks = None, {}


class _ByUnit(ProgressColumn):
    """A column that shows counts as numbers or as bytes."""

    def __init__(self, counted: ProgressColumn, in_bytes: ProgressColumn) -> None:
        super().__init__()
        self._counted = counted
        self._in_bytes = in_bytes

    def render(self, task: Task) -> RenderableType:
        column = self._in_bytes if task.fields["unit"] == "bytes" else self._counted
        return column.render(task)


PROGRESS_FILE: Final = "HYOKA_PROGRESS"
"""The environment variable that names a file for the command's progress."""


class ProgressFile:
    """A command's progress as a JSON file, replaced atomically.

    `works` lists each piece of work: `what`, `done`, `total`, `unit`, `note`; the times of its
    start and last report (`began`, `at`, seconds since 1970), and the count at the start
    (`before`).
    """

    _EVERY_S: Final = 0.25

    def __init__(self, path: Path) -> None:
        self._path = path
        self._works: dict[str, dict[str, Any]] = {}
        self._written_at = 0.0
        self._lock = threading.Lock()  # threads that read ahead report too

    def tell(self, progress: Progress) -> None:
        """Record progress; write it unless the last write is too recent."""
        with self._lock:
            now = time.time()
            is_new = progress.what not in self._works
            work = self._works.setdefault(progress.what, {"began": now, "before": progress.done})
            work |= {name: getattr(progress, name) for name in Progress.__slots__} | {"at": now}
            ends = progress.done == progress.total
            if is_new or ends or time.monotonic() - self._written_at >= self._EVERY_S:
                self._write()

    def _write(self) -> None:
        self._written_at = time.monotonic()
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):  # a lost listener does not stop the command
            beside.write_text(json.dumps({"works": list(self._works.values())}), encoding="utf-8")
            beside.replace(self._path)


def progress_file() -> ProgressFile | None:
    """Return the listener for the file named in the environment, if any."""
    path = os.environ.get(PROGRESS_FILE)
    return ProgressFile(Path(path)) if path else None


@contextlib.contextmanager
def progress_bars() -> Iterator[OnProgress]:
    """Show progress on standard error if it is a terminal, and in a file if requested."""
    listener = progress_file()
    if is_quiet() or not err.is_terminal:
        yield (lambda _progress: None) if listener is None else listener.tell
        return
    bars = _Bars()

    def show(progress: Progress) -> None:
        bars.show(progress)
        if listener is not None:
            listener.tell(progress)

    try:
        yield show
    finally:
        bars.end()


def tracked(items: Iterable[T], what: str, total: int, unit: str) -> Iterator[T]:
    """Iterate over items with a progress bar."""
    with progress_bars() as progress:
        tally = Tally(progress, what, total, unit)
        for item in items:
            yield item
            tally.add()


class _SafeTable(Table):
    """A table that escapes its cells' text."""

    def add_row(self, *cells: RenderableType | None, **style: Any) -> None:
        """Add a row with escaped texts."""
        super().add_row(
            *(escape_control_chars(c) if isinstance(c, str) else c for c in cells), **style
        )


def plain_table(*headings: str, right: Iterable[int] = ()) -> Table:
    """Create a table without lines; columns in `right` are right-aligned."""
    table = _SafeTable(*map(escape_control_chars, headings), box=None)
    for heading in table.columns:
        heading.overflow = "fold"
    for column in right:
        table.columns[column].justify = "right"
    return table


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> None:
    """Print a table of plain text."""
    table = plain_table(*map(escape, headings), right=right)
    for row in rows:
        table.add_row(*map(escape, row))
    out.print(table)


def print_columns(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()
) -> None:
    """Print a table; split one wider than the terminal, and repeat the names of the rows.

    The names are the columns before the first right-aligned one.
    """
    widths = [max(cell_len(row[i]) for row in (headings, *rows)) + 2 for i in range(len(headings))]
    for chosen in column_groups(widths, min(right, default=1), out.width):
        table = plain_table(
            *(escape(headings[i]) for i in chosen),
            right=[place for place, i in enumerate(chosen) if i in right],
        )
        for row in rows:
            table.add_row(*(escape(row[i]) for i in chosen))
        out.print(table)


def column_groups(widths: Sequence[int], names: int, room: int) -> list[list[int]]:
    """Group columns that fit side by side, each group starting with the first `names` columns.

    >>> column_groups([4, 3, 3, 3], 1, 10)
    [[0, 1, 2], [0, 3]]
    """
    if sum(widths) <= room or len(widths) <= names:
        return [list(range(len(widths)))]
    named = list(range(names))
    groups, left = [list(named)], room - sum(widths[:names])
    for column in range(names, len(widths)):
        if widths[column] > left and len(groups[-1]) > names:
            groups.append(list(named))
            left = room - sum(widths[:names])
        groups[-1].append(column)
        left -= widths[column]
    return groups


@contextlib.contextmanager
def kept_when_interrupted(done: str, where: Path | None = None) -> Iterator[None]:
    """Report that what was `done` (played, evaluated) is saved, and where."""
    try:
        yield
    except KeyboardInterrupt:
        place = "" if where is None else f" in {where}"
        complain(f"what was {done} is kept{place}; the same command goes on")
        raise
