# SPDX-License-Identifier: Apache-2.0
"""How a study lies on the disk: a folder with `study.toml` and tables in Parquet parts.

    study.toml                      what it is: game, columns, where the records came from
    games/part-000000.parquet       one row a game
    positions/part-000000.parquet   one row a position, with the columns that describe it
    remarks/part-000000.parquet     what the records say about positions
    refused/part-000000.parquet     games that were not taken, and why
    evaluations/engine=NAME/…       one row a position and evaluator; engine.toml says who it is
    adjudications/method=NAME/…     what exact methods know of positions; method.toml says which
    winners/method=NAME/…           whom exact methods give a whole record; likewise
    rankings/model=NAME/…           how a move model ranks the moves played; model.toml says which
    categories/search=KIND/…        how hard a search finds positions; search.toml says which
    visits/search=KIND/…            what the search that played the games visited; likewise

Each TOML file is the manifest of the parts under it (see `manifest`): a part that it does not list
is not there. Its last line is a checksum of the lines above, a page of a part has one too, and the
manifest has one of each part.
"""

import datetime
import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from hyoka.foundation.errors import StudyError
from hyoka.storage.files import read_regular, umask, write_text

VERSION: Final = 2
UNSEALED_VERSION: Final = 1
"""Of studies whose `study.toml` lists no parts: those in the folders count."""
DESCRIPTION: Final = "study.toml"
COMMENTS: Final = "comments"
"""The evaluator that says what the records themselves say."""
TABLES: Final = ("games", "positions", "remarks", "refused")
REMARK_SCHEMA: Final = pa.schema(
    [
        ("game_id", pa.int64()),
        ("ply", pa.int32()),
        ("value", pa.float32()),
        ("score", pa.float32()),
        ("mate", pa.int16()),
        ("depth", pa.int16()),
        ("clock_s", pa.float32()),
        ("spent_s", pa.float32()),
        ("book", pa.bool_()),
        ("author", pa.string()),
        ("nags", pa.list_(pa.uint16())),
        ("text", pa.string()),
        ("properties", pa.string()),
    ]
)
_SEAL: Final = "# sha256 of the lines above: "


def part_name(number: int) -> str:
    """The name of a part; parts of all tables with the same number belong together."""
    return f"part-{number:06}.parquet"


def write_part(table: pa.Table, path: Path) -> memoryview:
    """Write a Parquet file whole or not at all; gives what was written."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True, **_encodings(table.schema))
    data = sink.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return memoryview(data)


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Deltas for whole numbers: small and quick to write, where a dictionary would be neither."""
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
    """The columns that a Parquet file has for one of Arrow's, by their paths."""
    if pa.types.is_map(kind):
        yield from _leaves(f"{name}.key_value.key", kind.key_type)
        yield from _leaves(f"{name}.key_value.value", kind.item_type)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    else:
        yield name, kind


def read_description(folder: Path) -> dict[str, Any]:
    """What `study.toml` says."""
    file = folder / DESCRIPTION
    try:
        description = read_toml(file)
    except FileNotFoundError:
        raise StudyError(
            f"{folder} is no study (it has no {DESCRIPTION}); make one with: "
            f"hyoka records FILES... --to {folder}"
        ) from None
    except NotADirectoryError:
        raise StudyError(f"{folder} is a file, and a study is a folder") from None
    if description.get("version") not in (UNSEALED_VERSION, VERSION):
        raise StudyError(
            f"{file}: made by another version of Hyoka (study version "
            f"{description.get('version')!r}, this one reads {VERSION})"
        )
    return description


def read_toml(file: Path, *, as_it_is: bool = False) -> dict[str, Any]:
    """What a TOML file says; raises StudyError if it is not as it was written.

    `as_it_is` takes what can be read, also if somebody has changed it.
    """
    try:
        text = read_regular(file).decode("utf-8")
        above, _, seal = text.rpartition(_SEAL)
        if above and not as_it_is and seal.strip() != _digest(above):
            raise StudyError(
                f"{file}: damaged, or changed by hand: it is not as it was written; "
                "`hyoka check STUDY` says what can be saved, `hyoka check STUDY --seal` takes the "
                "file as it is"
            )
        values = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise StudyError(f"{file}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{file}: damaged: {error}") from error
    if not above and not as_it_is and "parts" in values:
        raise StudyError(f"{file}: damaged: its end is missing")
    return values


def write_sealed_toml(path: Path, values: dict[str, Any]) -> None:
    """Write TOML whose last line tells whether it is still as it was written."""
    text = _toml(values)
    write_text(path, f"{text}{_SEAL}{_digest(text)}\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


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
    if isinstance(value, list | tuple) and len(value) > 1:
        lines = "".join(f"  {_value(item)},\n" for item in value)
        return f"[\n{lines}]"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    # TOML's strings, numbers and truth values are written as JSON's are.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def now() -> datetime.datetime:
    """The time, to the second, with its zone."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
