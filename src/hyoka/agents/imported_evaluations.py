# SPDX-License-Identifier: Apache-2.0
"""Evaluations imported from a table: `table:FILE`.

    table:mine.csv
    table:name=mine,view=mover,score=cp:mine.parquet

A row identifies a position (by `game_id` and `ply`, or by its text) and has a `value` (an expected
result, 0 to 1), a `score`, a `mate`, or win, draw and loss.
"""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hyoka.agents.agent import Agent, EvaluationSource, RecordedEvaluations
from hyoka.foundation.errors import NotationError, ParameterError, SourceError, nearest
from hyoka.games import facts_named
from hyoka.records.katago import read_responses
from hyoka.storage.files import read_regular
from hyoka.storage.table_files import NAMING, read_table

TABLE: Final = "table"
_SETTINGS: Final = ("name", "value", "score", "view", "unit")
_SETTING: Final = re.compile(rf"({'|'.join(_SETTINGS)})=([^,:]*)")
_HEAD: Final = re.compile(rf"(?:{_SETTING.pattern}(?:,{_SETTING.pattern})*):")
_CALIBRATED: Final = re.compile(
    rf"\s*{TABLE}:((?:\w+=[^,:]*,)*)calibration=([^,:]*)(?:,([^:]*))?:", re.IGNORECASE
)
"""A text with the setting `calibration`."""
_UNITS: Final = ("centipawns", "points")
_VIEWS: Final = ("first", "mover")
_VALUES: Final = ("value", "score", "mate", "win", "draw", "loss")
_TYPES: Final = {name: pa.float32() for name in _VALUES} | {
    "mate": pa.int16(),
    "best": pa.string(),
    "depth": pa.int16(),
    "nodes": pa.int64(),
    "time_s": pa.float32(),
}
_NOT_ONE: Final = 0.01
"""The tolerance for sums of probabilities, which are often rounded."""


@dataclass(frozen=True)
class ImportedEvaluations:
    """A table of evaluations, and its settings.

    >>> ImportedEvaluations.from_text("table:name=mine,view=mover:scores.csv").title
    'mine'
    """

    table: Any = field(compare=False)
    """A file (CSV, Parquet), or a table or data frame."""
    title: str = ""
    """The evaluator's name, `name` in the text; by default the file's."""
    value: str = "value"
    """The column of expected results, 0 to 1."""
    score: str = "score"
    """The column of scores."""
    view: Literal["first", "mover"] = "first"
    """The view of values and scores: the first player's, or the mover's."""
    unit: str = ""
    """The unit of scores, `centipawns` or `points`; by default the game's own."""

    def __post_init__(self) -> None:
        if self.view not in _VIEWS:
            raise ParameterError("view", f"is {' or '.join(_VIEWS)}, not '{self.view}'")
        if self.unit not in ("", *_UNITS):
            raise ParameterError("unit", f"is {' or '.join(_UNITS)}, not '{self.unit}'")
        title = self.title.strip()
        if not title and isinstance(self.table, str | Path):
            title = _name_of(self.table)
        if not title or not title.isprintable():
            raise ParameterError("title", "names the evaluator of a table")
        object.__setattr__(self, "title", title)

    @classmethod
    def from_text(cls, text: str) -> "ImportedEvaluations":
        """Read `table:FILE` or `table:SETTINGS:FILE`; raises NotationError."""
        _, _, rest = text.strip().partition(":")
        head = _HEAD.match(rest)
        settings = dict(_SETTING.findall(head.group())) if head else {}
        title = settings.pop("name", "")
        file = rest[head.end() :] if head else rest
        if not file.strip():
            raise NotationError(f"'{text}' names no file: write table:FILE, as table:mine.csv")
        try:
            return cls(file.strip(), title, **settings)
        except ParameterError as error:
            raise NotationError(f"{TABLE}: {error.parameter} {error.problem}") from error

    @property
    def _source(self) -> str:
        """The file's path, or words for messages."""
        return str(self.table) if isinstance(self.table, str | Path) else "the table"

    @property
    def text(self) -> str:
        """The text that `from_text` reads, if the table is a file."""
        settings = {
            "name": self.title if self.title != _name_of(self._source) else "",
            "value": self.value if self.value != "value" else "",
            "score": self.score if self.score != "score" else "",
            "view": self.view if self.view != "first" else "",
            "unit": self.unit,
        }
        words = ",".join(f"{name}={value}" for name, value in settings.items() if value)
        return ":".join(filter(None, [TABLE, words, self._source]))

    def __str__(self) -> str:
        return self.text

    @property
    def dependencies(self) -> dict[str, str]:
        """The hash of the file. Raises SourceError."""
        if not isinstance(self.table, str | Path):
            return {}
        try:
            return {TABLE: hashlib.sha256(read_regular(self.table)).hexdigest()}
        except OSError as error:
            raise SourceError(f"{self.table}: can't be read: {error.strerror}") from error

    @property
    def id(self) -> str:
        """A readable name for a folder, unique to the title."""
        safe = re.sub(r"[^a-z0-9.]+", "_", self.title.lower()).strip("_.")[:24]
        digest = hashlib.sha256(self.title.encode()).hexdigest()[:8]
        return "-".join(filter(None, [TABLE, safe, digest]))


def _name_of(file: str | Path) -> str:
    return Path(file).name.partition(".")[0]


class TableAgent(Agent[ImportedEvaluations]):
    """A table of evaluations."""

    prefixes = (TABLE,)
    spec_type = ImportedEvaluations
    replaces_evaluations = True

    @classmethod
    def split_calibration(cls, text: str) -> tuple[str, str | None]:
        """Take the setting from those before the file.

        >>> TableAgent.split_calibration("table:name=x,calibration=a.json:mine.csv")
        ('table:name=x:mine.csv', 'a.json')
        """
        match = _CALIBRATED.match(text)
        if match is None:
            return text, None
        settings = ",".join(filter(None, [match[1].removesuffix(","), match[3]]))
        return ":".join(filter(None, [TABLE, settings, text[match.end() :]])), match[2]

    @classmethod
    def join_calibration(cls, text: str, file: str) -> str:
        """Add the setting to those before the file.

        >>> TableAgent.join_calibration("table:name=x:mine.csv", "a.json")
        'table:calibration=a.json,name=x:mine.csv'
        """
        _, _, rest = text.partition(":")
        return f"{TABLE}:calibration={file}{',' if _HEAD.match(rest) else ':'}{rest}"

    def evaluations_in(self, source: EvaluationSource) -> list[RecordedEvaluations]:
        """Read the table's evaluations of a study's positions, from the first player's view."""
        spec = self.spec
        table = _table(spec.table)
        columns = _columns(spec, table)
        naming = [name for name in table.column_names if name in NAMING]
        used = table.select([*naming, *_names(spec, table).values()])
        matched = source.find_rows(used, spec._source)
        order = pa.array(matched.rows)
        rows = pa.table({name: column.take(order) for name, column in columns.items()})
        has_value = np.zeros(len(rows), bool)
        for name in _VALUES:
            if name in rows.column_names:
                has_value |= np.asarray(rows[name].is_valid())
        rows = rows.append_column("game_id", pa.array(matched.games))
        rows = rows.append_column("ply", pa.array(matched.plies))
        if spec.view == "mover":
            rows = _turned(rows, pa.array(matched.first_to_play))
        rows = rows.filter(pa.array(has_value))
        if "score" in rows.column_names:
            unit = spec.unit or facts_named(source.game).naming.unit
            rows = rows.append_column("unit", pa.array([unit] * len(rows)))
        identity = {"spec": spec.title, "name": f"the table {spec.title}", "source": spec._source}
        notes = (
            f"{matched.lost:,} of {len(table):,} rows of {spec._source} match no position of the "
            "study",
        )
        return [RecordedEvaluations(spec, rows, identity, notes if matched.lost else ())]


def _table(source: Any) -> pa.Table:
    """Read a table, or the responses of KataGo's analysis engine."""
    responses = read_responses(source) if isinstance(source, str | Path) else None
    return read_table(source) if responses is None else responses


def _names(spec: ImportedEvaluations, table: pa.Table) -> dict[str, str]:
    """The names of a table's evaluation columns."""
    names = {name: name for name in _TYPES} | {"value": spec.value, "score": spec.score}
    return {meaning: name for meaning, name in names.items() if name in table.column_names}


def _columns(spec: ImportedEvaluations, table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Return the evaluation columns of a table in the form that a study stores."""
    source = spec._source
    for name in (spec.value, spec.score):
        if name not in ("value", "score", *table.column_names):
            hint = nearest(name, table.column_names)
            hint = hint or f"columns: {', '.join(table.column_names)}"
            raise SourceError(f"{source}: no column '{name}'; {hint}")
    names = _names(spec, table)
    columns = {}
    for meaning, name in names.items():
        try:
            columns[meaning] = table[name].cast(_TYPES[meaning])
        except pa.ArrowException as error:
            words = _words(_TYPES[meaning])
            raise SourceError(f"{source}: {name} is not all {words}") from error
    if not set(columns) & {"value", "score", "mate", "win"}:
        raise SourceError(
            f"{source}: no column value (0 to 1), score or mate; value=COLUMN and score=COLUMN "
            f"name others, of {', '.join(table.column_names)}"
        )
    _check(columns, names, source)
    if {"win", "loss"} & set(columns):
        columns = _with_chances(columns, source)
    return columns


def _words(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "whole numbers"
    return "numbers" if pa.types.is_floating(kind) else "text"


def _check(columns: dict[str, pa.ChunkedArray], names: dict[str, str], source: str) -> None:
    for column in ("value", "win", "draw", "loss", "score"):
        if column not in columns:
            continue
        numbers = columns[column].cast(pa.float64()).to_numpy(zero_copy_only=False)
        valid = np.asarray(columns[column].is_valid())
        wrong = valid & ~np.isfinite(numbers)
        hint = "a finite number is expected"
        if column != "score":
            wrong |= valid & ~((numbers >= 0) & (numbers <= 1))
            hint = "it is 0 to 1"
            if column == "value":
                hint = f"an expected result is 0 to 1; scores: score={names['value']}"
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise SourceError(
                f"{source}: row {row + 1}: {names[column]} is {numbers[row]:g}: {hint}"
            )
    if "mate" in columns and (zero := pc.index(columns["mate"], 0).as_py()) >= 0:
        raise SourceError(
            f"{source}: row {zero + 1}: a mate is in 1 or more moves, or -1 or less, never in 0"
        )


def _with_chances(columns: dict[str, pa.ChunkedArray], source: str) -> dict[str, pa.ChunkedArray]:
    """Return the probabilities of win, draw and loss, and the value, derived if missing."""
    if not {"win", "loss"} <= set(columns):
        raise SourceError(f"{source}: win and loss go together, with draw or without")
    win, loss = (columns[name].cast(pa.float64()) for name in ("win", "loss"))
    draw = (
        columns["draw"].cast(pa.float64())
        if "draw" in columns
        else pc.subtract(1.0, pc.add(win, loss))
    )
    total = pc.add(pc.add(win, draw), loss).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(np.abs(total - 1) > _NOT_ONE)
    if len(wrong):
        raise SourceError(
            f"{source}: row {wrong[0] + 1}: win, draw and loss are {total[wrong[0]]:g}, not 1"
        )
    value = pc.add(win, pc.multiply(draw, 0.5)).cast(pa.float32())
    stored = columns.get("value")
    return columns | {
        "draw": draw.cast(pa.float32()),
        "value": value if stored is None else pc.coalesce(stored, value),
    }


def _turned(rows: pa.Table, first: pa.Array) -> pa.Table:
    """Convert the mover's view to the first player's; `first` marks the first player's turns."""
    turned = dict(zip(rows.column_names, rows.columns, strict=True))
    for name, other in (
        ("value", lambda column: pc.subtract(pa.scalar(1, pa.float32()), column)),
        ("score", lambda column: pc.subtract(pa.scalar(0, pa.float32()), column)),
        ("mate", pc.negate),
    ):
        if name in turned:
            turned[name] = pc.if_else(first, turned[name], other(turned[name]))
    if "win" in turned:
        win, loss = turned["win"], turned["loss"]
        turned["win"] = pc.if_else(first, win, loss)
        turned["loss"] = pc.if_else(first, loss, win)
    return pa.table(turned)
