# SPDX-License-Identifier: Apache-2.0
"""Tables of the user's own: CSV and Parquet files, Arrow tables and data frames."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hyoka.foundation.errors import SourceError, escape_control_chars
from hyoka.storage.files import open_regular

KEYS: Final = ("game_id", "ply")
POSITION: Final = ("position", "fen", "sfen", "epd", "text")
"""Accepted names of a position column."""
NAMING: Final = (*KEYS, *POSITION)
"""Columns that only identify the position of a row."""
_PARQUET: Final = b"PAR1"


@dataclass(frozen=True)
class MatchedRows:
    """Positions of a study matched to rows of a table."""

    rows: NDArray[np.int64] = field(repr=False)
    """Row numbers of the table."""
    games: NDArray[np.int64] = field(repr=False)
    plies: NDArray[np.int32] = field(repr=False)
    first_to_play: NDArray[np.bool_] = field(repr=False)
    """Whether the first player is to move."""
    lost: int
    """The number of rows without a position in the study."""

    def __len__(self) -> int:
        return len(self.rows)


def read_table(source: object) -> pa.Table:
    """Read a table from a file (CSV or Parquet, by content), or convert a table.

    Tables are dictionaries of columns, Arrow tables, and data frames of pandas and Polars; a named
    index of pandas becomes columns.
    """
    if isinstance(source, str | Path):
        return _read(Path(source))
    try:
        return _as_arrow(source)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        message = escape_control_chars(str(error).splitlines()[0])
        raise SourceError(f"the {type(source).__name__} is no table: {message}") from error


def _as_arrow(source: Any) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, Mapping):
        return pa.table(dict(source))
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):  # Polars, lazy
        source = source.collect()
    if hasattr(source, "to_frame") and hasattr(source, "index"):  # a series of pandas
        source = source.to_frame()
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        named = [name for name in source.index.names if name is not None]
        return pa.Table.from_pandas(source.reset_index(named), preserve_index=False)
    if hasattr(source, "to_arrow") and hasattr(source, "columns"):  # Polars
        return source.to_arrow()
    raise SourceError(f"no table: {type(source).__name__}; a CSV or Parquet file, or a data frame")


def _read(file: Path) -> pa.Table:
    try:
        with open_regular(file) as stream:  # tables are read more than once
            is_parquet = stream.read(len(_PARQUET)) == _PARQUET
        return pq.read_table(file) if is_parquet else pyarrow.csv.read_csv(file)
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror or error}") from error
    except (pa.ArrowException, ValueError) as error:
        message = escape_control_chars(str(error).splitlines()[0])
        raise SourceError(f"{file}: neither CSV nor Parquet: {message}") from error
