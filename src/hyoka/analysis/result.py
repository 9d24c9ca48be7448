# SPDX-License-Identifier: Apache-2.0
"""What every result of an analysis can do: print itself, plot itself, and go to a file."""

import importlib
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from hyoka.analysis.coverage import Coverage
from hyoka.errors import Error, StudyError
from hyoka.figure import Figure
from hyoka.files import write_bytes, write_text
from hyoka.storage.outputs import mark_table

if TYPE_CHECKING:
    import altair

    from hyoka.page import Picture

FORMATS = (".csv", ".parquet", ".json", ".html", ".png", ".svg", ".pdf")
_PICTURES = (".png", ".svg", ".pdf")


class Result(ABC):
    """A result with a table behind it."""

    coverage: Coverage | None = None
    """Which positions and games it rests on: the first line of what is printed."""

    @abstractmethod
    def table(self) -> pa.Table:
        """Everything in rows, numbers as numbers."""

    @abstractmethod
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows that people read, the first one being the heading."""

    @abstractmethod
    def chart(self) -> "altair.TopLevelMixin":
        """A picture of it."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a line."""

    def notes(self) -> tuple[str, ...]:
        """What to know about it, in sentences."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """The table as JSON has it: what is not a finite number is null."""
        rows: list[dict[str, Any]] = plain_json(self.table().to_pylist())
        return rows

    def picture(self, figure: Figure | None = None) -> "Picture":
        """The chart as it is drawn on paper, which notebooks show; `figure` says how."""
        from hyoka.page import drawn  # noqa: PLC0415 - slow to import

        return drawn(self.chart(), figure)

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, which must be installed."""
        return as_data_frame(self.table(), "pandas")

    def to_polars(self) -> Any:
        """The table as a data frame of Polars, which must be installed."""
        return as_data_frame(self.table(), "polars")

    def __repr__(self) -> str:
        rows = max(len(self.lines()) - 1, 0)
        return f"<{type(self).__name__} of {rows:,} rows: {self.title}; print it to see them>"

    def _repr_html_(self) -> str:
        return html_table(self.title, self.lines(), self.notes(), first=self._first_lines())

    def __str__(self) -> str:
        lines = [*self._first_lines(), self.title, *aligned(self.lines()), *self.notes()]
        return "\n".join(lines)

    def _first_lines(self) -> tuple[str, ...]:
        return () if self.coverage is None else (str(self.coverage),)

    def save(self, path: str | Path, figure: Figure | None = None) -> None:
        """Write it as the path ends: `.csv`, `.parquet`, `.json`, `.html`, `.png`, `.svg`, `.pdf`.

        `figure` says how a picture is drawn: its size, title, range, legend and names.
        """
        file = Path(path)
        if file.suffix.lower() == ".csv":
            write_text(file, _csv(self.table()))
        elif file.suffix.lower() == ".parquet":
            _write_parquet(self.table(), file)
        elif file.suffix.lower() == ".json":
            write_text(file, json.dumps(self.rows(), indent=1, ensure_ascii=False) + "\n")
        elif file.suffix.lower() in _PICTURES:
            from hyoka.page import save_chart  # noqa: PLC0415 - slow to import

            save_chart(self.chart(), file, figure=figure)
        elif file.suffix.lower() == ".html":
            self._write_page(file)
        else:
            raise StudyError(f"'{file.name}' must end in one of {', '.join(FORMATS)}")

    def _write_page(self, file: Path) -> None:
        from hyoka.page import Chart, Page, Section, Table, write_page  # noqa: PLC0415

        heading, *rows = self.lines()
        words = (*self._first_lines(), *self.notes())
        blocks = (Chart(self.chart(), self.title), Table("The same in numbers", heading, (*rows,)))
        write_page(Page(self.title, sections=(Section("", words, blocks),)), file)


def as_data_frame(table: pa.Table, library: Literal["pandas", "polars"]) -> Any:
    """A table as a data frame; raises Error if the library is not installed."""
    try:
        frames = importlib.import_module(library)
    except ImportError:
        raise Error(f"{library} is not installed: pip install {library}") from None
    return table.to_pandas() if library == "pandas" else frames.from_arrow(table)


def html_table(
    title: str,
    lines: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
    most: int = 60,
    first: Sequence[str] = (),
) -> str:
    """A table for notebooks, of at most so many rows, below its first lines.

    Every word is text, never code.

    >>> html_table("<b>", [["x"], ["1"]])
    '<p><strong>&lt;b&gt;</strong></p><table><tr><th>x</th></tr><tr><td>1</td></tr></table>'
    """
    head, *rows = lines

    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    more = [f"{len(rows) - most:,} more rows"] if len(rows) > most else []
    return (
        "".join(f"<p>{escape(line)}</p>" for line in first)
        + f"<p><strong>{escape(title)}</strong></p><table>{row(head, 'th')}"
        f"{''.join(row(cells, 'td') for cells in rows[:most])}</table>"
        + "".join(f"<p><small>{escape(note)}</small></p>" for note in [*more, *notes])
    )


def aligned(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    """Rows as lines of text whose columns stand under each other; numbers to the right.

    >>> aligned((("name", "ACC"), ("uct", "0.6"), ("mc", "0.55")))
    ['name   ACC', 'uct    0.6', 'mc    0.55']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return lines


def plain_json(value: Any) -> Any:
    """The same without numbers that JSON does not know: they become null.

    >>> plain_json({"p": [0.5, float("nan")]})
    {'p': [0.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain_json(each) for key, each in value.items()}
    return [plain_json(each) for each in value] if isinstance(value, list) else value


def _csv(table: pa.Table) -> str:
    import pyarrow.csv as pc  # noqa: PLC0415 - seldom needed

    sink = io.BytesIO()
    pc.write_csv(table, sink)
    return sink.getvalue().decode("utf-8")


def _write_parquet(table: pa.Table, file: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - seldom needed

    sink = io.BytesIO()
    pq.write_table(mark_table(table), sink)
    write_bytes(file, sink.getvalue())
