# SPDX-License-Identifier: Apache-2.0
"""Writing Parquet files atomically, with page checksums and compact encodings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hyoka.storage.files import write_bytes


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
