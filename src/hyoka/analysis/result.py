# SPDX-License-Identifier: Apache-2.0
"""What every result of an analysis can do: print itself, plot itself, and go to a file."""

import io
import json
import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hyoka.errors import StudyError
from hyoka.files import write_text

if TYPE_CHECKING:
    import altair

FORMATS = (".csv", ".parquet", ".json", ".html", ".png", ".svg")


class Result(ABC):
    """A result with a table behind it."""

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

    def __str__(self) -> str:
        return "\n".join([self.title, *aligned(self.lines()), *self.notes()])

    def save(self, path: str | Path) -> None:
        """Write it as the path ends: `.csv`, `.parquet`, `.json`, `.html`, `.png` or `.svg`."""
        file = Path(path)
        if file.suffix == ".csv":
            write_text(file, _csv(self.table()))
        elif file.suffix == ".parquet":
            _write_parquet(self.table(), file)
        elif file.suffix == ".json":
            write_text(file, json.dumps(self.rows(), indent=1, ensure_ascii=False) + "\n")
        elif file.suffix in (".png", ".svg"):
            from hyoka.page import save_chart  # noqa: PLC0415 - slow to import

            save_chart(self.chart(), file)
        elif file.suffix == ".html":
            self._write_page(file)
        else:
            raise StudyError(f"'{file.name}' must end in one of {', '.join(FORMATS)}")

    def _write_page(self, file: Path) -> None:
        from hyoka.page import Chart, Page, Section, Table, write_page  # noqa: PLC0415

        heading, *rows = self.lines()
        blocks = (Chart(self.chart(), self.title), Table("The same in numbers", heading, (*rows,)))
        write_page(Page(self.title, sections=(Section("", self.notes(), blocks),)), file)


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

    partial = file.with_name(f".{file.name}.partial")
    try:
        pq.write_table(table, partial)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
