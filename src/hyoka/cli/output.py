# SPDX-License-Identifier: Apache-2.0
"""What all commands share: how they print, and how they show progress."""

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hyoka.errors import TERMINAL_COMMANDS, harmless

T = TypeVar("T")


class SafeConsole(Console):
    """A console that shows other people's words without obeying them.

    Whatever is printed comes through here: texts, tables, bars. Colours of our own are no part of
    the text.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is to be shown, piece by piece."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(harmless(piece.text), piece.style)


# A file or a pipe gets whole lines; only a terminal has a width.
out = SafeConsole(highlight=False, width=None if sys.stdout.isatty() else 4000)
err = SafeConsole(stderr=True, highlight=False)


def say(text: str, *, complaint: bool = False) -> None:
    """Print a text as it is, but harmless, to standard output or error."""
    print(harmless(text), file=sys.stderr if complaint else sys.stdout)


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]


class RateColumn(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        """The speed so far, or nothing."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="dim")


def print_json(value: Any) -> None:
    r"""Print a value as one line of JSON; what could command a terminal is written `\u001b`."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    print(TERMINAL_COMMANDS.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


def _shown(quiet: bool, *columns: ProgressColumn | str) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=quiet or not err.is_terminal,
    )


def count_progress(quiet: bool) -> Progress:
    """A bar with count, rate and time left on standard error, if somebody is looking."""
    return _shown(quiet, MofNCompleteColumn(), RateColumn())


def byte_progress(quiet: bool) -> Progress:
    """A bar in bytes."""
    return _shown(quiet, DownloadColumn(), TransferSpeedColumn())


def tracked(items: Iterable[T], description: str, total: int, quiet: bool) -> Iterator[T]:
    """The items, with a bar that counts them."""
    with count_progress(quiet) as progress:
        task = progress.add_task(description, total=total)
        for item in items:
            yield item
            progress.advance(task)


class _SafeTable(Table):
    """A table whose cells are written out before they are measured."""

    def add_row(self, *cells: RenderableType | None, **style: Any) -> None:
        """Add a row; texts are made harmless."""
        super().add_row(*(harmless(c) if isinstance(c, str) else c for c in cells), **style)


def plain_table(*headings: str, right: Iterable[int] = ()) -> Table:
    """A table without lines; columns in `right` are aligned there."""
    table = _SafeTable(*map(harmless, headings), box=None)
    for heading in table.columns:
        heading.overflow = "fold"
    for column in right:
        table.columns[column].justify = "right"
    return table


@contextlib.contextmanager
def kept_when_interrupted(done: str) -> Iterator[None]:
    """Say that what was `done` (played, evaluated) is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(f"what was {done} is kept; the same command goes on")
        raise
