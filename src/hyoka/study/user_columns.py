# SPDX-License-Identifier: Apache-2.0
"""Columns from tables (CSV, Parquet, Arrow, data frames) and functions, matched to positions."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.foundation.errors import (
    Error,
    ParameterError,
    SourceError,
    StudyError,
    escape_control_chars,
)
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.storage.files import now
from hyoka.storage.manifest import changing, derived_file
from hyoka.storage.run_folder import locked
from hyoka.storage.table_files import KEYS, NAMING, POSITION, MatchedRows, read_table
from hyoka.study.tables import position_keys

if TYPE_CHECKING:
    from hyoka.study.study import Study


def find_rows(study: "Study", table: pa.Table, source: str = "the table") -> MatchedRows:
    """Match the rows of a table to a study's positions, ordered by game and ply.

    Raises SourceError if the table identifies no positions or has conflicting rows, StudyError if
    none of its positions is in the study.
    """
    columns = set(table.column_names)
    named = study.select(None, "game_id, ply, first_to_play")
    games, plies = named["game_id"].to_numpy(), named["ply"].to_numpy()
    text = next((name for name in POSITION if name in columns), None)
    row_keys: NDArray[Any]
    here: NDArray[Any]
    if columns >= set(KEYS):
        row_keys = position_keys(*(_integers(table, name, source) for name in KEYS))
        here = position_keys(games, plies)
    elif text is not None:
        row_keys, here = _hashes(study, table[text], source), _study_hashes(study, games, plies)
    else:
        raise SourceError(
            f"{source}: rows identify no positions: add columns game_id and ply, or position "
            "(FEN, SFEN …)"
        )
    _check_alone(table, row_keys, source)
    order = np.argsort(row_keys, kind="stable")
    place = np.searchsorted(row_keys[order], here)
    place[place == len(row_keys)] = 0
    rows = order[place] if len(row_keys) else np.zeros(len(here), np.int64)
    has_row = row_keys[rows] == here if len(row_keys) else np.zeros(len(here), bool)
    if not has_row.any():
        raise StudyError(
            f"{source}: none of its {len(table):,} rows matches a position of the study"
        )
    lost = len(table) - int(np.isin(row_keys, here).sum())
    movers = np.asarray(named["first_to_play"])
    return MatchedRows(
        rows[has_row].astype(np.int64), games[has_row], plies[has_row], movers[has_row], lost
    )


def _integers(table: pa.Table, name: str, source: str) -> NDArray[np.int64]:
    try:
        column = table[name].cast(pa.int64())
    except pa.ArrowException as error:
        raise SourceError(f"{source}: column {name} has values that are not integers") from error
    if column.null_count:
        row = int(np.flatnonzero(np.asarray(column.is_null()))[0]) + 1
        raise SourceError(f"{source}: row {row} has no {name}")
    return np.asarray(column.to_numpy())


def _hashes(study: "Study", texts: pa.ChunkedArray, source: str) -> NDArray[np.uint64]:
    read = game_facts(study.game).position_type.from_text
    hashes = np.empty(len(texts), np.uint64)
    for row, text in enumerate(texts.cast(pa.string()).to_pylist()):
        try:
            hashes[row] = read(text or "").hash
        except (Error, ValueError) as error:
            message = escape_control_chars(str(error))
            raise SourceError(f"{source}: row {row + 1}: invalid position: {message}") from error
    return hashes


def _study_hashes(study: "Study", games: NDArray[Any], plies: NDArray[Any]) -> NDArray[np.uint64]:
    positions = study.game_table_of(games, plies).positions()
    return np.fromiter((position.hash for position in positions), np.uint64, len(games))


def _check_alone(table: pa.Table, keys: NDArray[Any], source: str) -> None:
    """Raise SourceError if two rows of one position differ."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not len(again):
        return
    one, other = order[again], order[again + 1]
    names = [name for name in table.column_names if name not in POSITION]
    for name in names:
        a, b = (table[name].take(pa.array(rows)) for rows in (one, other))
        if pa.types.is_nested(a.type):  # Arrow cannot compare lists
            same = pa.array([x == y for x, y in zip(a.to_pylist(), b.to_pylist(), strict=True)])
        else:
            same = pc.fill_null(pc.equal(a, b), pc.and_(a.is_null(), b.is_null()))
        differs = np.flatnonzero(~np.asarray(same))
        if len(differs):
            first = differs[0]
            raise SourceError(
                f"{source}: rows {one[first] + 1} and {other[first] + 1} have the same position "
                f"but differ in {name}"
            )


_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_AT_ONCE: Final = 10_000
_RESERVED: Final = frozenset(
    (
        *("value", "score", "mate", "win", "draw", "loss", "best", "depth", "nodes", "time_s"),
        *("unit", "author", "engine", "evaluator", "failed", "text", "position", "fen", "sfen"),
    )
)
"""Names of evaluations and positions, which user columns must not shadow."""
_TOO_WIDE: Final = "has an integer beyond 64 bits; use floats"


@dataclass(frozen=True)
class ColumnSummary:
    """The counts of an added column."""

    name: str
    kind: str
    """`number`, `integer`, `flag` or `text`."""
    positions: int
    """The number of positions of the study."""
    known: int
    """The number of positions with a value; others are null."""
    lost: int = 0
    """The number of table rows without a position in the study."""


def add_column(
    study: "Study",
    name: str,
    given: Any,
    *,
    column: str | None = None,
    in_bulk: bool = False,
    progress: OnProgress | None = None,
) -> ColumnSummary:
    """Store the values of a function or a table as a column of the study.

    `given` is a function of a position (with `in_bulk`, of a list of positions, which returns as
    many values), or a table: a CSV or Parquet file, an Arrow table, a data frame, or columns by
    name. Its rows identify positions by `game_id` and `ply`, or by their text in `position`.
    `column` selects a table's column; by default the one called `name`, or the only one. None, NaN
    and positions without a row are null. An existing column is replaced. Conditions, `--by`,
    slices and weights use it like any other.
    """
    _check_name(study, name)
    if callable(given) and not hasattr(given, "__dataframe__"):
        rows, lost = _computed(study, name, given, in_bulk=in_bulk, progress=progress), 0
        origin = f"the function {getattr(given, '__qualname__', type(given).__name__)}"
    else:
        rows, lost = _from_table(study, name, given, column)
        origin = str(given) if isinstance(given, str | Path) else f"a {type(given).__name__}"
    with changing(derived_file(study.path, "columns", name), "adding a column") as change:
        change.replace_all(rows, {"name": name, "from": origin, "created": now()})
    positions = study.sql("select count(*) as n from positions")["n"][0].as_py()
    count = len(rows) - rows["value"].null_count
    return ColumnSummary(name, _kind(rows["value"].type), positions, count, lost)


def drop_column(study: "Study", name: str) -> None:
    """Remove an added column; raises StudyError if there is none of this name."""
    manifest = derived_file(study.path, "columns", name)
    if not _NAME.fullmatch(name) or not manifest.parent.is_dir():
        own = ", ".join(study.user_columns) or "none"
        raise StudyError(f"no user column '{name}'; user columns: {own}")
    with locked(manifest.parent, "dropping a column"):
        # Remove the manifest first, which hides all of the column.
        manifest.unlink(missing_ok=True)
        for part in manifest.parent.glob("part-*"):
            part.unlink()
    shutil.rmtree(manifest.parent, ignore_errors=True)


def columns_of(table: Any) -> list[str]:
    """List a table's columns with values, without those that identify positions."""
    return [name for name in read_table(table).column_names if name not in NAMING]


def _check_name(study: "Study", name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ParameterError("name", "is lowercase letters, digits and _, starting with a letter")
    taken = {each.lower() for each in study.condition_columns()} - set(study.user_columns)
    if name in taken | _RESERVED:
        raise ParameterError("name", f"{name} is the name of another column; choose another")


def _computed(
    study: "Study",
    name: str,
    function: Callable[[Any], Any],
    *,
    in_bulk: bool,
    progress: OnProgress | None,
) -> pa.Table:
    chosen = study.select(None)
    table = study.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())
    tally = Tally(progress, name, len(table), "positions")
    values: list[Any] = []
    for chunk in table.chunks(_AT_ONCE):
        positions = list(chunk.positions())
        answers = list(function(positions)) if in_bulk else [function(each) for each in positions]
        if len(answers) != len(positions):
            raise ParameterError(
                name, f"returned {len(answers):,} values for {len(positions):,} positions"
            )
        values += answers
        tally.reach(len(values))
    return _rows(
        chosen["game_id"].to_numpy(), chosen["ply"].to_numpy(), _column(values, name), name
    )


def _column(values: Sequence[Any], name: str) -> pa.Array:
    plain = [each.item() if isinstance(each, np.generic) else each for each in values]
    try:
        return pa.array(plain, from_pandas=True)
    except OverflowError as error:
        raise ParameterError(name, _TOO_WIDE) from error
    except (pa.ArrowException, TypeError) as error:
        kinds = sorted({type(each).__name__ for each in plain})[:4]
        raise ParameterError(
            name, f"has mixed types {', '.join(kinds)}; use numbers, Booleans or text"
        ) from error


def _from_table(study: "Study", name: str, data: Any, column: str | None) -> tuple[pa.Table, int]:
    source = str(data) if isinstance(data, str | Path) else "the table"
    table = read_table(data)
    names = columns_of(table)
    selected = column or (names[0] if len(names) == 1 else name)
    if selected not in names:
        there = ", ".join(names) or "none"
        raise SourceError(f"{source}: no column '{selected}'; columns: {there}")
    naming = [each for each in table.column_names if each in NAMING]
    matches = find_rows(study, table.select([*naming, selected]), source)
    values = table[selected].take(pa.array(matches.rows)).combine_chunks()
    return _rows(matches.games, matches.plies, values, name), matches.lost


def _rows(games: Any, plies: Any, values: pa.Array, name: str) -> pa.Table:
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
    elif pa.types.is_integer(kind):
        try:
            values = values.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ParameterError(name, _TOO_WIDE) from error
    elif pa.types.is_floating(kind):
        numbers = values.cast(pa.float64())
        values = pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))
    elif pa.types.is_large_string(kind):
        values = values.cast(pa.string())
    elif pa.types.is_null(kind):
        values = values.cast(pa.float64())
    elif not pa.types.is_boolean(kind) and not pa.types.is_string(kind):
        raise ParameterError(name, f"has type {kind}; use numbers, Booleans or text")
    return pa.table(
        {
            "game_id": pa.array(games, pa.int64()),
            "ply": pa.array(plies, pa.int32()),
            "value": values,
        }
    )


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "flag"
    if pa.types.is_integer(kind):
        return "integer"
    return "number" if pa.types.is_floating(kind) else "text"
