# SPDX-License-Identifier: Apache-2.0
"""Tables of one's own (CSV, Parquet, Arrow, data frames), and which positions their rows are of.

A row is of the position that its columns `game_id` and `ply` name, or of every position of the
study with the text in its column `position` (FEN, SFEN …; counters of moves do not matter).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hyoka.errors import Error, SourceError, StudyError, harmless
from hyoka.games import game_facts
from hyoka.study.tables import position_keys

if TYPE_CHECKING:
    from hyoka.study.study import Study

KEYS: Final = ("game_id", "ply")
POSITION: Final = ("position", "fen", "sfen", "epd", "text")
"""Names that a column of positions may have."""
NAMING: Final = (*KEYS, *POSITION)
"""Columns that say which position a row is of, and nothing about it."""
_PARQUET: Final = b"PAR1"


@dataclass(frozen=True)
class FoundRows:
    """Positions of a study, and the row of a table that each of them has."""

    rows: NDArray[np.int64] = field(repr=False)
    """Places in the table."""
    games: NDArray[np.int64] = field(repr=False)
    plies: NDArray[np.int32] = field(repr=False)
    first_to_play: NDArray[np.bool_] = field(repr=False)
    """Whether the first player is to move in them."""
    lost: int
    """Rows of the table that are of no position here."""

    def __len__(self) -> int:
        return len(self.rows)


def own_table(given: object) -> pa.Table:
    """A table from a file (CSV or Parquet, told by content), or from what is one already.

    Columns by name (a dictionary), Arrow's tables, and data frames of pandas and Polars are; an
    index of pandas that has names is columns, too.
    """
    if isinstance(given, str | Path):
        return _read(Path(given))
    try:
        return _as_arrow(given)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        said = harmless(str(error).splitlines()[0])
        raise SourceError(f"the {type(given).__name__} is no table: {said}") from error


def _as_arrow(given: Any) -> pa.Table:
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, Mapping):
        return pa.table(dict(given))
    if hasattr(given, "collect_schema") and hasattr(given, "collect"):  # Polars, lazy
        given = given.collect()
    if hasattr(given, "to_frame") and hasattr(given, "index"):  # a series of pandas
        given = given.to_frame()
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        named = [name for name in given.index.names if name is not None]
        return pa.Table.from_pandas(given.reset_index(named), preserve_index=False)
    if hasattr(given, "to_arrow") and hasattr(given, "columns"):  # Polars
        return given.to_arrow()
    raise SourceError(f"no table: {type(given).__name__}; a CSV or Parquet file, or a data frame")


def _read(file: Path) -> pa.Table:
    try:
        with file.open("rb") as stream:
            is_parquet = stream.read(len(_PARQUET)) == _PARQUET
        return pq.read_table(file) if is_parquet else pyarrow.csv.read_csv(file)
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror or error}") from error
    except (pa.ArrowException, ValueError) as error:
        said = harmless(str(error).splitlines()[0])
        raise SourceError(f"{file}: neither CSV nor Parquet: {said}") from error


def find_rows(study: "Study", table: pa.Table, source: str = "the table") -> FoundRows:
    """The positions of a study that a table has rows of, in the order of games and plies.

    Raises SourceError if it names no positions, or two rows are of the same, StudyError if none of
    them is in the study.
    """
    columns = set(table.column_names)
    named = study.select(None, "game_id, ply, first_to_play")
    games, plies = named["game_id"].to_numpy(), named["ply"].to_numpy()
    text = next((name for name in POSITION if name in columns), None)
    wanted: NDArray[Any]
    here: NDArray[Any]
    if columns >= set(KEYS):
        wanted = position_keys(*(_whole(table, name, source) for name in KEYS))
        here = position_keys(games, plies)
    elif text is not None:
        wanted, here = _hashes(study, table[text], source), _study_hashes(study, games, plies)
    else:
        raise SourceError(
            f"{source}: nothing says which position a row is of: it takes columns game_id and ply, "
            "or position (FEN, SFEN …)"
        )
    _check_alone(table, wanted, source)
    order = np.argsort(wanted, kind="stable")
    place = np.searchsorted(wanted[order], here)
    place[place == len(wanted)] = 0
    rows = order[place] if len(wanted) else np.zeros(len(here), np.int64)
    known = wanted[rows] == here if len(wanted) else np.zeros(len(here), bool)
    if not known.any():
        raise StudyError(f"{source}: none of its {len(table):,} rows is of a position of the study")
    lost = len(table) - int(np.isin(wanted, here).sum())
    movers = np.asarray(named["first_to_play"])
    return FoundRows(rows[known].astype(np.int64), games[known], plies[known], movers[known], lost)


def _whole(table: pa.Table, name: str, source: str) -> NDArray[np.int64]:
    try:
        column = table[name].cast(pa.int64())
    except pa.ArrowException as error:
        raise SourceError(f"{source}: {name} is not all whole numbers") from error
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
            said = harmless(str(error))
            raise SourceError(f"{source}: row {row + 1}: no position: {said}") from error
    return hashes


def _study_hashes(study: "Study", games: NDArray[Any], plies: NDArray[Any]) -> NDArray[np.uint64]:
    positions = study.game_table_of(games, plies).positions()
    return np.fromiter((position.hash for position in positions), np.uint64, len(games))


def _check_alone(table: pa.Table, keys: NDArray[Any], source: str) -> None:
    """Raise SourceError if two rows are of one position, unless they say the same."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not len(again):
        return
    one, other = order[again], order[again + 1]
    said = [name for name in table.column_names if name not in POSITION]
    for name in said:
        a, b = (table[name].take(pa.array(rows)) for rows in (one, other))
        if pa.types.is_nested(a.type):  # Arrow compares no lists
            same = pa.array([x == y for x, y in zip(a.to_pylist(), b.to_pylist(), strict=True)])
        else:
            same = pc.fill_null(pc.equal(a, b), pc.and_(a.is_null(), b.is_null()))
        differs = np.flatnonzero(~np.asarray(same))
        if len(differs):
            first = differs[0]
            raise SourceError(
                f"{source}: rows {one[first] + 1} and {other[first] + 1} are of one position, and "
                f"{name} differs"
            )
