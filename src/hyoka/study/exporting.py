# SPDX-License-Identifier: Apache-2.0
"""Answers and positions as files for other programs."""

import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hyoka.errors import ParameterError
from hyoka.files import write_bytes
from hyoka.storage.outputs import mark_table

TABLES: Final = (".csv", ".parquet", ".json")


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as the path ends: `.csv`, `.parquet` or `.json`, whole or not at all."""
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        raise ParameterError("output", f"ends in {', '.join(TABLES)}, not '{path.name}'")
    sink = pa.BufferOutputStream()
    if suffix == ".parquet":
        pq.write_table(mark_table(table), sink)
    elif suffix == ".csv":
        pyarrow.csv.write_csv(_flat(table), sink)
    else:
        sink.write(_json(table))
    write_bytes(path, sink.getvalue().to_pybytes())


def _json(table: pa.Table) -> bytes:
    rows = [f" {json.dumps(row, ensure_ascii=False, default=_said)}" for row in table.to_pylist()]
    return ("[\n" + ",\n".join(rows) + "\n]\n").encode()


def _said(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _flat(table: pa.Table) -> pa.Table:
    """What CSV has no words for, as text: lists and maps as JSON, bytes in hexadecimal."""
    for i, column in enumerate(table.columns):
        kind = column.type
        if pa.types.is_nested(kind):
            texts = [
                None if each is None else json.dumps(each, ensure_ascii=False, default=_said)
                for each in column.to_pylist()
            ]
        elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            texts = [None if each is None else each.hex() for each in column.to_pylist()]
        else:
            continue
        table = table.set_column(i, table.column_names[i], pa.array(texts, pa.string()))
    return table
