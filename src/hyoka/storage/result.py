# SPDX-License-Identifier: Apache-2.0
"""Results: their coverage, tables, text, pictures and files."""

import importlib
import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar

import pyarrow as pa

from hyoka.foundation.errors import Error, ParameterError, StudyError, named
from hyoka.foundation.figure import Figure
from hyoka.foundation.text import counted
from hyoka.storage.files import write_bytes
from hyoka.storage.outputs import mark_table

if TYPE_CHECKING:
    from hyoka.reporting import AltairChart, Picture


MIN_GAMES: Final = 20
"""By default, results hide figures of fewer games and ignore smaller common sets."""
TOO_FEW: Final = "–"
"""The placeholder of a hidden figure."""
_MOST_ALONE: Final = 3
"""More evaluators than this on their own positions are counted, not listed."""

DrawRule = Literal["drop", "half", "draws"]
"""Drawn games are dropped, count as half a win, or count as draws."""
_DRAWN: Final[dict[DrawRule, str]] = {
    "drop": "left out",
    "half": "counted as half a win each",
    "draws": "counted as draws",
}


@dataclass(frozen=True)
class CoveredGroup:
    """Evaluators that were measured on the same positions."""

    evaluators: tuple[str, ...]
    positions: int
    games: int
    own_positions: tuple[int, ...] = ()
    """The number of positions of each evaluator alone; empty if not counted."""
    common_positions: int = 0
    """For an evaluator left out of a comparison, the number of positions common to all."""

    def counts(self, game: str = "game") -> str:
        """Describe the positions and games."""
        return f"{counted(self.positions, 'position')} of {counted(self.games, game)}"


@dataclass(frozen=True)
class Coverage:
    """The groups of compared evaluators, and the evaluators left out.

    >>> group = CoveredGroup(("comments",), 61_234, 972)
    >>> print(Coverage((group,), "drop", games=2180, drawn_games=1208))  # doctest: +ELLIPSIS
    comments: 61,234 positions of 972 decided games. 1,208 of 2,180 games are drawn and left out ...
    """

    groups: tuple[CoveredGroup, ...]
    draws: DrawRule = "drop"
    games: int = 0
    """All games with a result that these evaluators evaluated, including draws."""
    drawn_games: int = 0
    missing: tuple[str, ...] = ()
    """Evaluators without usable positions."""
    notes: tuple[str, ...] = ()
    """How positions that do not fit in memory are measured, as sentences without a full stop."""

    @property
    def alone(self) -> tuple[str, ...]:
        """Evaluators that are compared with no other."""
        if len(self.groups) < 2:
            return ()
        return tuple(g.evaluators[0] for g in self.groups if len(g.evaluators) == 1)

    def __str__(self) -> str:
        return self.text()

    def text(self, *, hint: bool = True) -> str:
        """Describe the coverage in a line; `hint` names the parameter that counts drawn games."""
        game = "decided game" if self.draws == "drop" else "game"
        together = [group for group in self.groups if len(group.evaluators) > 1]
        alone = [group for group in self.groups if len(group.evaluators) == 1]
        sentences = [_compared(group, game) for group in together]
        if alone and not together and len(self.groups) == 1:
            sentences.append(f"{alone[0].evaluators[0]}: {alone[0].counts(game)}")
        elif together and alone:
            sentences.append(f"Left out of the comparison: {_listed_alone(alone, game, 'common')}")
        elif alone:
            sentences.append(
                f"Not compared, too few common positions: {_listed_alone(alone, game)}"
            )
        if self.drawn_games:
            which = f"{self.drawn_games:,} of {counted(self.games, 'game')}"
            verb = "is" if self.drawn_games == 1 else "are"
            half = (
                f" ({named('draws', 'half')} counts them)" if hint and self.draws == "drop" else ""
            )
            sentences.append(f"{which} {verb} drawn and {_DRAWN[self.draws]}{half}")
        if self.missing:
            sentences.append(f"Without a position that counts: {'; '.join(self.missing)}")
        return " ".join(f"{each}." for each in [*sentences, *self.notes])

    def as_json(self) -> dict[str, Any]:
        """Return the coverage as numbers."""
        return {
            "text": str(self),
            "draws": self.draws,
            "games": self.games,
            "drawn_games": self.drawn_games,
            "groups": [
                {
                    "evaluators": list(group.evaluators),
                    "positions": group.positions,
                    "games": group.games,
                    "own_positions": list(group.own_positions),
                    "common_positions": group.common_positions,
                }
                for group in self.groups
            ],
            "alone": list(self.alone),
            "missing": list(self.missing),
        }


def _compared(group: CoveredGroup, game: str) -> str:
    all_of = "both" if len(group.evaluators) == 2 else f"all {len(group.evaluators)}"
    text = f"{'; '.join(group.evaluators)}: the {group.counts(game)} that {all_of} evaluated"
    own = group.own_positions
    if own and max(own) > group.positions:
        each = f"{min(own):,}" if min(own) == max(own) else f"{min(own):,} to {max(own):,}"
        text += f" (each alone {each})"
    return text


def _listed_alone(groups: Sequence[CoveredGroup], game: str, common: str = "") -> str:
    if len(groups) <= _MOST_ALONE:
        texts = []
        for group in groups:
            shared = f", {group.common_positions:,} of them {common}" if common else ""
            texts.append(f"{group.evaluators[0]} ({group.counts(game)}{shared})")
        return "; ".join(texts)
    games = [group.games for group in groups]
    return (
        f"{len(groups)} evaluators, each measured on its own positions of {min(games):,} to "
        f"{counted(max(games), game)}"
    )


def too_few_note(count: int, least: int, what: str = "row") -> str:
    """Explain missing figures, for the notes of a result."""
    rows = counted(count, what)
    return (
        f"{TOO_FEW}: {rows} of fewer than {least} games: too few for any figure; "
        f"{named('min_games', 1)} shows them all the same."
    )


TABLES = (".csv", ".parquet", ".json")
_PICTURES = (".png", ".svg", ".pdf")
FORMATS = (*TABLES, ".html", *_PICTURES)


class Result(ABC):
    """A result that can be shown as a table."""

    coverage: Coverage | None = None
    """The positions and games used: the first line of printed output."""
    drawn_by: ClassVar[str]
    """The function of `hyoka.reporting.analysis_charts` that draws the result."""

    @abstractmethod
    def table(self) -> pa.Table:
        """Return all data in rows, with numbers as numbers."""

    @abstractmethod
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Return formatted rows, starting with the heading."""

    def chart(self) -> "AltairChart":
        """Draw the result's chart."""
        charts = importlib.import_module("hyoka.reporting.analysis_charts")  # slow to import
        chart: AltairChart = getattr(charts, self.drawn_by)(self)
        return chart

    @property
    @abstractmethod
    def title(self) -> str:
        """Return a one-line title."""

    def notes(self) -> tuple[str, ...]:
        """List caveats in sentences."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the table as JSON values; non-finite numbers become null."""
        rows: list[dict[str, Any]] = plain_json(self.table().to_pylist())
        return rows

    def picture(self, figure: Figure | None = None) -> "Picture":
        """Draw the chart for paper and notebooks; `figure` has the options."""
        from hyoka.reporting import drawn  # noqa: PLC0415 - slow to import

        return drawn(self.chart(), figure)

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame; pandas must be installed."""
        return as_data_frame(self.table(), "pandas")

    def to_polars(self) -> Any:
        """Return the table as a Polars data frame; Polars must be installed."""
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
        """Write the result as `.csv`, `.parquet`, `.json`, `.html`, `.png`, `.svg` or `.pdf`.

        `figure` sets a picture's size, title, range, legend and names.
        """
        file = Path(path)
        if file.suffix.lower() in TABLES:
            write_table(self.table(), file)
        elif file.suffix.lower() in _PICTURES:
            from hyoka.reporting import save_chart  # noqa: PLC0415 - slow to import

            save_chart(self.chart(), file, figure=figure)
        elif file.suffix.lower() == ".html":
            self._write_page(file)
        else:
            raise StudyError(f"'{file.name}' must end in one of {', '.join(FORMATS)}")

    def _write_page(self, file: Path) -> None:
        from hyoka.reporting import Chart, Page, Section, Table, write_page  # noqa: PLC0415

        heading, *rows = self.lines()
        words = (*self._first_lines(), *self.notes())
        blocks = (Chart(self.chart(), self.title), Table("The same in numbers", heading, (*rows,)))
        write_page(Page(self.title, sections=(Section("", words, blocks),)), file)


T = TypeVar("T")
Columns = Mapping[str, tuple[pa.DataType, Callable[[T], object]]]
"""Columns of a table by name: the type, and the function that returns a row's value."""
TEXT, NUMBER, COUNT = pa.string(), pa.float64(), pa.int64()


def table_of(columns: Columns[T], rows: Iterable[T]) -> pa.Table:
    """Build a table with one row for each object.

    >>> table_of({"length": (COUNT, len)}, ["one", "three"]).to_pydict()
    {'length': [3, 5]}
    """
    listed = list(rows)
    arrays = {name: pa.array(map(of, listed), kind) for name, (kind, of) in columns.items()}
    return pa.table(arrays)


def as_data_frame(table: pa.Table, library: Literal["pandas", "polars"]) -> Any:
    """Build a data frame from a table; raises Error if the library is not installed."""
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
    """Build a notebook's table with a maximum number of rows, after its first lines.

    Escapes all text.

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
    """Align rows as lines of text, with numbers to the right.

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


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table atomically as `.csv`, `.parquet` or `.json`, by the path's ending.

    Lists and maps become JSON in CSV, bytes hexadecimal; non-finite numbers are null in JSON.
    """
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        raise ParameterError("output", f"ends in {', '.join(TABLES)}, not '{path.name}'")
    sink = io.BytesIO()
    if suffix == ".csv":
        import pyarrow.csv as pc  # noqa: PLC0415 - seldom needed

        pc.write_csv(_flat(table), sink)
    elif suffix == ".parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415 - seldom needed

        pq.write_table(mark_table(table), sink)
    else:
        rows = (_as_text(row) for row in plain_json(table.to_pylist()))
        sink.write(("[\n " + ",\n ".join(rows) + "\n]\n").encode())
    write_bytes(path, sink.getvalue())


def _flat(table: pa.Table) -> pa.Table:
    """Convert values for CSV: lists and maps to JSON, bytes to hexadecimal."""
    for i, column in enumerate(table.columns):
        kind = column.type
        if pa.types.is_nested(kind):
            text: Callable[[Any], str] = _as_text
        elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            text = bytes.hex
        else:
            continue
        texts = [None if each is None else text(each) for each in column.to_pylist()]
        table = table.set_column(i, table.column_names[i], pa.array(texts, pa.string()))
    return table


def _as_text(value: Any) -> str:
    return json.dumps(
        value,
        ensure_ascii=False,
        default=lambda each: each.hex() if isinstance(each, bytes) else str(each),
    )
