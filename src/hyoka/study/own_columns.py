# SPDX-License-Identifier: Apache-2.0
"""Columns of one's own: what a function or a table says of positions, for conditions and splits."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hyoka.errors import ParameterError, SourceError, StudyError
from hyoka.progress import OnProgress, Tally
from hyoka.study.layout import now
from hyoka.study.locking import locked
from hyoka.study.manifest import COLUMN, changing
from hyoka.study.own_tables import NAMING, find_rows, own_table

if TYPE_CHECKING:
    from hyoka.study.study import Study

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PART_ROWS: Final = 500_000
_AT_ONCE: Final = 10_000
_RESERVED: Final = frozenset(
    (
        *("value", "score", "mate", "win", "draw", "loss", "best", "depth", "nodes", "time_s"),
        *("unit", "author", "engine", "evaluator", "failed", "text", "position", "fen", "sfen"),
    )
)
"""What evaluations and the positions themselves say; a column of that name would hide it."""
_TOO_WIDE: Final = "has a whole number beyond 64 bits: give it as a float"


@dataclass(frozen=True)
class ColumnReport:
    """A column that was added."""

    name: str
    kind: str
    """`number`, `whole number`, `flag` or `text`."""
    positions: int
    """How many positions the study has."""
    known: int
    """Of how many the column says something; it is null for others."""
    lost: int = 0
    """Rows of the table that are of no position of the study."""


def add_column(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    name: str,
    given: Any,
    *,
    column: str | None = None,
    in_bulk: bool = False,
    progress: OnProgress | None = None,
) -> ColumnReport:
    """Keep what a function or a table says of positions as a column of the study.

    `given` is a function of a position (with `in_bulk`, of a list of positions, which gives as many
    values), or a table: a CSV or Parquet file, an Arrow table, a data frame, or columns by name.
    Its rows name positions by `game_id` and `ply`, or by their text in `position`. Of a table,
    `column` says which of its columns is meant: the one called `name`, or the only one, unless
    given. None, NaN and positions without a row are null. What the column said before is replaced.
    Conditions, `--by`, splits and weights use it like any other.
    """
    _check_name(study, name)
    if callable(given) and not hasattr(given, "__dataframe__"):
        rows, lost = _asked(study, name, given, in_bulk=in_bulk, progress=progress), 0
        origin = f"the function {getattr(given, '__qualname__', type(given).__name__)}"
    else:
        rows, lost = _taken(study, name, given, column)
        origin = str(given) if isinstance(given, str | Path) else f"a {type(given).__name__}"
    with changing(study.path / "columns" / f"column={name}" / COLUMN, "adding a column") as change:
        starts = range(0, max(1, len(rows)), _PART_ROWS)
        change.parts = [change.write(rows.slice(start, _PART_ROWS)) for start in starts]
        change.values = {"name": name, "from": origin, "created": now()}
        change.commit()
    positions = study.sql("select count(*) as n from positions")["n"][0].as_py()
    known = len(rows) - rows["value"].null_count
    return ColumnReport(name, _kind(rows["value"].type), positions, known, lost)


def drop_column(study: "Study", name: str) -> None:
    """Forget a column that was added; raises StudyError if there is none of this name."""
    folder = study.path / "columns" / f"column={name}"
    if not _NAME.fullmatch(name) or not folder.is_dir():
        own = ", ".join(study.own_columns) or "none"
        raise StudyError(f"no column '{name}' was added; there is {own}")
    with locked(folder, "dropping a column"):
        # The manifest goes first: from then on nothing of the column is there.
        (folder / COLUMN).unlink(missing_ok=True)
        for part in folder.glob("part-*"):
            part.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def columns_of(given: Any) -> list[str]:
    """The names of a table's columns that say something, and name no positions."""
    return [name for name in own_table(given).column_names if name not in NAMING]


def _check_name(study: "Study", name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ParameterError("name", "is small letters, digits and _, a letter first")
    taken = {each.lower() for each in study.condition_columns()} - set(study.own_columns)
    if name in taken | _RESERVED:
        raise ParameterError("name", f"{name} is the name of another column; choose another")


def _asked(
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
        said = list(function(positions)) if in_bulk else [function(each) for each in positions]
        if len(said) != len(positions):
            raise ParameterError(
                name, f"gave {len(said):,} values of {len(positions):,} positions in bulk"
            )
        values += said
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
            name, f"is numbers, truth values or texts, all of one kind, not {', '.join(kinds)}"
        ) from error


def _taken(study: "Study", name: str, given: Any, column: str | None) -> tuple[pa.Table, int]:
    source = str(given) if isinstance(given, str | Path) else "the table"
    table = own_table(given)
    said = columns_of(table)
    wanted = column or (said[0] if len(said) == 1 else name)
    if wanted not in said:
        there = ", ".join(said) or "none"
        raise SourceError(f"{source}: no column '{wanted}'; there is {there}")
    naming = [each for each in table.column_names if each in NAMING]
    found = find_rows(study, table.select([*naming, wanted]), source)
    values = table[wanted].take(pa.array(found.rows)).combine_chunks()
    return _rows(found.games, found.plies, values, name), found.lost


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
        raise ParameterError(name, f"is numbers, truth values or texts, not {kind}")
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
        return "whole number"
    return "number" if pa.types.is_floating(kind) else "text"
