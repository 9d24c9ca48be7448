# SPDX-License-Identifier: Apache-2.0
"""Files of tables: our Parquet files, and the user's CSV and Parquet files and data frames."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hyoka.foundation.errors import SourceError, escape_control_chars
from hyoka.storage.files import open_regular, write_bytes

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


def write_parquet(table: pa.Table, path: Path) -> memoryview:
    """Write a Parquet file atomically, with its folder, and return its content."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True, **_encodings(table.schema))
    content = memoryview(sink.getvalue())
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)
    return content


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Return the integer columns: delta encoding makes them smaller and faster to write."""
    leaves = dict(leaf for field in schema for leaf in _leaves(field.name, field.type))
    deltas = {
        name: "DELTA_BINARY_PACKED" for name, kind in leaves.items() if pa.types.is_integer(kind)
    }
    texts = [
        name
        for name, kind in leaves.items()
        if pa.types.is_string(kind) or pa.types.is_dictionary(kind)
    ]
    return {
        "column_encoding": deltas,
        "use_dictionary": texts,
        "compression": {name: "zstd" if name in {*texts, "moves"} else "lz4" for name in leaves},
        "write_statistics": [name for name in ("game_id", "ply") if name in schema.names],
    }


def _leaves(name: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """List the Parquet columns of an Arrow column: paths and types."""
    if pa.types.is_map(kind):
        yield from _leaves(f"{name}.key_value.key", kind.key_type)
        yield from _leaves(f"{name}.key_value.value", kind.item_type)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    else:
        yield name, kind
