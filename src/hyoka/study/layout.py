# SPDX-License-Identifier: Apache-2.0
"""How a study lies on the disk: a folder with `study.toml` and tables in Parquet parts.

    study.toml                      what it is: game, columns, where the records came from
    games/part-000000.parquet       one row a game
    positions/part-000000.parquet   one row a position, with the columns that describe it
    remarks/part-000000.parquet     what the records say about positions
    refused/part-000000.parquet     games that were not taken, and why
    evaluations/engine=NAME/…       one row a position and evaluator; engine.toml says who it is
    adjudications/method=NAME/…     what exact methods know of positions

A part is written under a temporary name, flushed and renamed: a reader never sees half of one.
"""

import datetime
import json
import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from hyoka.errors import StudyError
from hyoka.files import write_text

VERSION: Final = 1
DESCRIPTION: Final = "study.toml"
TABLES: Final = ("games", "positions", "remarks", "refused")


def part_name(number: int) -> str:
    """The name of a part; parts of all tables with the same number belong together."""
    return f"part-{number:06}.parquet"


def write_part(table: pa.Table, path: Path) -> None:
    """Write a Parquet file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            pq.write_table(table, file, **_encodings(table.schema))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Deltas for whole numbers: small and quick to write, where a dictionary would be neither."""
    deltas = {
        field.name: "DELTA_BINARY_PACKED" for field in schema if pa.types.is_integer(field.type)
    }
    texts = [
        field.name
        for field in schema
        if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)
    ]
    return {
        "column_encoding": deltas,
        "use_dictionary": texts,
        "compression": {
            field.name: "zstd" if field.name in {*texts, "moves"} else "lz4" for field in schema
        },
        "write_statistics": [name for name in ("game_id", "ply") if name in schema.names],
    }


def parts(folder: Path) -> list[Path]:
    """The parts of a table in order."""
    return sorted(folder.glob("part-*.parquet"))


def read_description(folder: Path) -> dict[str, Any]:
    """What `study.toml` says."""
    file = folder / DESCRIPTION
    try:
        with file.open("rb") as stream:
            description = tomllib.load(stream)
    except FileNotFoundError:
        raise StudyError(
            f"{folder} is no study (it has no {DESCRIPTION}); make one with: "
            f"hyoka records FILES... --to {folder}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"{file}: {error}") from error
    if description.get("version") != VERSION:
        raise StudyError(
            f"{file}: made by another version of Hyoka (study version "
            f"{description.get('version')!r}, this one reads {VERSION})"
        )
    return description


def read_identity(file: Path) -> dict[str, Any]:
    """Who an evaluator is, as its `engine.toml` says; raises StudyError."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"{file}: can't be read: {error}") from error


def write_toml(path: Path, values: dict[str, Any]) -> None:
    """Write flat values and tables of flat values as TOML."""
    write_text(path, _toml(values))


def _toml(values: dict[str, Any]) -> str:
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items() if value is not None]
    for key, table in tables.items():
        lines += ["", f"[{_key(key)}]", _toml(table).rstrip()]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    simple = key.replace("_", "").replace("-", "").isalnum() and key.isascii()
    return key if simple else json.dumps(key, ensure_ascii=False)


def _value(value: object) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    # TOML's strings, numbers and truth values are written as JSON's are.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def now() -> datetime.datetime:
    """The time, to the second, with its zone."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
