# SPDX-License-Identifier: Apache-2.0
"""The files of a study: a folder with `study.toml` and tables in Parquet parts.

    study.toml                      the study: game, columns, sources of the records
    games/part-000000.parquet       one row per game
    positions/part-000000.parquet   one row per position, with the columns that describe it
    remarks/part-000000.parquet     the records' comments on positions
    refused/part-000000.parquet     games that were refused, with the reasons
    evaluations/engine=NAME/…       one row per position of an evaluator, which engine.toml names
    adjudications/method=NAME/…     exact results of positions; method.toml names the method
    winners/method=NAME/…           exact winners of records; likewise
    rankings/model=NAME/…           how a move model ranks the moves played; model.toml names it
    categories/search=KIND/…        how difficult a search finds positions; search.toml names it
    visits/search=KIND/…            visits of the search that played the games; likewise

Each TOML file is the manifest of the parts below it. Only parts listed in the manifest exist; it
has their sizes, rows and checksums, and ends with a checksum of itself. Updates replace the
manifest atomically, so readers never see a partial write. A writer holds the folder's lock, writes
parts under new names and then replaces the manifest. It first removes unlisted parts, which an
interrupted writer left or which were replaced: until then, readers of the former manifest can
finish.

Manifests of version 1 list no parts: those in the folders count, without checksums, until the next
write lists them.
"""

import contextlib
import functools
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from hyoka.foundation.errors import StudyError
from hyoka.storage.files import (
    check_regular,
    open_regular,
    read_described,
    read_toml,
    sync_folder,
    write_bytes,
    write_sealed_toml,
)
from hyoka.storage.outputs import STUDY
from hyoka.storage.run_folder import LOCK, locked
from hyoka.storage.table_files import write_parquet

VERSION: Final = 2
UNSEALED_VERSION: Final = 1
"""The version of studies whose `study.toml` lists no parts; all parts in the folders count."""
DESCRIPTION: Final = STUDY
COMMENTS: Final = "comments"
"""The evaluator of the records' own comments."""
AUTHORS: Final = "authors"
"""The key of an evaluator's manifest if its comment authors are inferred from values."""
PLAYER: Final = "player"
"""The key of an evaluator's manifest if it is a player or the versions of a program."""
CALIBRATION: Final = "calibration"
"""The key of an evaluator's manifest, or of its contents, if a model calibrates its values."""
TABLES: Final = ("games", "positions", "remarks", "refused")
DERIVED: Final = {
    "evaluations": "engine",
    "adjudications": "method",
    "winners": "method",
    "rankings": "model",
    "categories": "search",
    "visits": "search",
    "columns": "column",
}
"""Tables of rows about positions, and the key of their folders: `evaluations/engine=NAME`."""
_LISTED: Final = re.compile(
    r"((?:[a-z]+/)?part-\d{6,}\.parquet) (\d+) (\d+) ([0-9a-f]{8}) ([0-9a-f]{64})"
)
_READ_WHOLE: Final = 128 << 20
"""Tables up to this total size are verified completely before use."""
_PART_ROWS: Final = 500_000
_OF_GAMES: Final = ("positions", "remarks")
"""Tables whose parts belong to the part of games with the same number."""


def part_name(number: int) -> str:
    """The file name of a part; parts of several tables with the same number belong together."""
    return f"part-{number:06}.parquet"


def derived_file(study: Path, table: str, name: str) -> Path:
    """Return the path of the manifest of one evaluator, method, model, search or column.

    >>> derived_file(Path("study"), "winners", "mate").as_posix()
    'study/winners/method=mate/method.toml'
    """
    key = DERIVED[table]
    return study / table / f"{key}={name}" / f"{key}.toml"


def derived_files(study: Path, table: str) -> dict[str, Path]:
    """List the manifests of a derived table by name, present or missing."""
    prefix = f"{DERIVED[table]}="
    names = [each.name.removeprefix(prefix) for each in sorted((study / table).glob(f"{prefix}*"))]
    return {name: derived_file(study, table, name) for name in names}


def read_description(folder: Path) -> dict[str, Any]:
    """Read `study.toml`."""
    hint = f"; make one with: hyoka study create {folder} FILES..."
    return read_described(folder / DESCRIPTION, "study", (UNSEALED_VERSION, VERSION), hint)


@dataclass(frozen=True)
class Part:
    """A part in a manifest."""

    name: str
    """The path in the manifest's folder: `games/part-000000.parquet`."""
    size: int
    rows: int
    footer: str
    """The CRC-32 of the footer; pages have their own checksums."""
    sha256: str
    """The checksum of the file."""

    @property
    def table(self) -> str:
        """Its folder below the manifest's; empty if the same."""
        return self.name.rpartition("/")[0]

    @property
    def number(self) -> int:
        """Parts of several tables with the same number belong together."""
        return _number(self.name)

    def __str__(self) -> str:
        return f"{self.name} {self.size} {self.rows} {self.footer} {self.sha256}"

    @classmethod
    def listed(cls, line: object) -> Self:
        """Parse a line of a manifest; raises ValueError."""
        match = _LISTED.fullmatch(line) if isinstance(line, str) else None
        if match is None:
            raise ValueError(f"{line!r} is no part")
        name, size, rows, footer, sha256 = match.groups()
        return cls(name, int(size), int(rows), footer, sha256)

    @classmethod
    def on_disk(cls, folder: Path, name: str) -> Self:
        """Read a part from the disk; raises StudyError if it is unreadable."""
        file = folder / name
        with reading(file):
            check_regular(file)
            rows = pq.read_metadata(file).num_rows
            return cls(name, file.stat().st_size, rows, _footer_of(file), sha256_of(file))


@dataclass(frozen=True)
class Manifest:
    """A manifest: values and parts."""

    file: Path
    values: dict[str, Any]
    """The values beside the parts."""
    parts: tuple[Part, ...]
    names: tuple[str, ...]
    """The names of the parts; those of an unsealed manifest are found in the folder."""
    sealed: bool
    """Whether the parts are listed with checksums."""

    @property
    def folder(self) -> Path:
        """The folder whose parts it lists."""
        return self.file.parent

    def files(self, table: str = "") -> list[Path]:
        """The files of a table's parts; raises StudyError if one is missing or damaged.

        Small tables are compared with their checksums, once per process, since damage between pages
        could allocate any amount of memory. Of larger tables only the footers are compared, and
        pages when they are read.
        """
        parts = [part for part in self.parts if part.table == table]
        small = sum(part.size for part in parts) <= _READ_WHOLE
        for part in parts:
            _check(self.folder / part.name, part, every_byte=small)
        files = [self.folder / name for name in self.names if name.rpartition("/")[0] == table]
        for file in files:
            with reading(file):
                check_regular(file)
        return files


@contextlib.contextmanager
def reading(file: Path) -> Iterator[None]:
    """Turn errors while reading a part into a StudyError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise StudyError(f"{file}: this part of the study is missing{_ADVICE}") from None
    except (OSError, pa.ArrowException) as error:
        raise StudyError(f"{file}: damaged: {str(error).splitlines()[0]}{_ADVICE}") from error


def read_part(file: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a part and verify its page checksums; raises StudyError."""
    with reading(file):
        check_regular(file)
        return pq.read_table(file, columns=columns, page_checksum_verification=True)


_ADVICE: Final = "; `hyoka study verify` says what can be saved"


def _check(file: Path, part: Part, *, every_byte: bool) -> None:
    """Raise StudyError unless a part is complete."""
    with reading(file):
        state = file.stat()
        if not stat.S_ISREG(state.st_mode):
            raise OSError("not a regular file")
        if state.st_size != part.size:
            raise OSError(f"it has {state.st_size:,} bytes, not {part.size:,}")
        then = (file, state.st_ino, state.st_mtime_ns, state.st_size)
        if _footer_then(*then) != part.footer:
            raise OSError("its footer is not as it was written")
        if every_byte and _sha256_then(*then) != part.sha256:
            raise OSError("its checksum is another")


@functools.lru_cache(maxsize=100_000)
def _sha256_then(file: Path, _inode: int, _changed: int, _size: int) -> str:
    return sha256_of(file)


@functools.lru_cache(maxsize=100_000)
def _footer_then(file: Path, _inode: int, _changed: int, _size: int) -> str:
    return _footer_of(file)


def _footer_of(file: Path) -> str:
    """The checksum of a Parquet file's footer."""
    with open_regular(file) as stream:
        end = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, end - 8))
        length = int.from_bytes(stream.read(8)[:4], "little") + 8
        if length > end:
            raise OSError("its footer is cut")
        stream.seek(end - length)
        return f"{zlib.crc32(stream.read()):08x}"


def sha256_of(file: Path) -> str:
    """The checksum of a file."""
    with open_regular(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def part_damage(folder: Path, part: Part) -> str | None:
    """Describe the damage of a part; None if it matches its manifest."""
    file = folder / part.name
    try:
        size = file.stat().st_size
        if size != part.size:
            return f"it has {size:,} bytes, not {part.size:,}"
        return None if sha256_of(file) == part.sha256 else "its checksum is another"
    except FileNotFoundError:
        return "it is missing"
    except OSError as error:
        return f"it can't be read: {error.strerror}"


def damaged_part(manifest: Manifest) -> str | None:
    """Describe the first damaged part in one line."""
    for part in manifest.parts:
        if (damage := part_damage(manifest.folder, part)) is not None:
            return f"{manifest.folder / part.name}: damaged: {damage}{_ADVICE}"
    return None


def read_manifest(file: Path) -> Manifest:
    """Read a folder's manifest; raises StudyError if it is damaged.

    The folder of an evaluator or method without a manifest has no parts yet.
    """
    is_study = file.name == DESCRIPTION
    try:
        state = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        if is_study:
            read_description(file.parent)  # says why there is none
        if next(file.parent.glob("part-*.parquet"), None) is not None:
            raise StudyError(f"{file}: missing, though there are parts{_ADVICE}") from None
        return Manifest(file, {}, (), (), sealed=True)
    values, parts = _parsed(file, state.st_ino, state.st_mtime_ns, state.st_size)
    if parts is None:
        names = _unlisted(file.parent, _tables(file))
        return Manifest(file, dict(values), (), names, sealed=False)
    return Manifest(file, dict(values), parts, tuple(part.name for part in parts), sealed=True)


@functools.lru_cache(maxsize=256)
def _parsed(
    file: Path, _inode: int, _changed: int, _size: int
) -> tuple[dict[str, Any], tuple[Part, ...] | None]:
    """Parse a manifest (cached until it is replaced); the parts are None if it lists none."""
    is_study = file.name == DESCRIPTION
    values = read_description(file.parent) if is_study else read_toml(file)
    if is_study:
        _check_description(file, values)
    if "parts" not in values:
        if values.get("version") == VERSION and is_study:
            raise StudyError(f"{file}: damaged: it lists no parts")
        return values, None
    try:
        parts = tuple(Part.listed(line) for line in values.pop("parts"))
    except (TypeError, ValueError) as error:
        raise StudyError(f"{file}: damaged: {error}") from error
    return values, parts


def _check_description(file: Path, values: dict[str, Any]) -> None:
    for key, kind in {"game": str, "columns": list, "sources": list}.items():
        if not isinstance(values.get(key), kind):
            raise StudyError(f"{file}: damaged: it does not say which {key}")


def _unlisted(folder: Path, tables: Iterable[str]) -> tuple[str, ...]:
    """The names of the parts in a folder with an unsealed manifest."""
    names = {
        table: sorted(path.name for path in (folder / table).glob("part-*.parquet"))
        for table in tables
    }
    return tuple(
        f"{table}/{name}" if table else name
        for table, files in names.items()
        for name in files
        # Without its games, a part belongs to an interrupted write.
        if table not in _OF_GAMES or name in names["games"]
    )


@dataclass
class Change:
    """A change of a manifest; requires the folder's lock."""

    file: Path
    values: dict[str, Any]
    parts: list[Part]
    next_number: int
    """An unused part number."""
    _touched: set[Path] = field(default_factory=set)

    def write(self, table: pa.Table, folder: str = "", number: int | None = None) -> Part:
        """Write a part; it exists once it is in `parts` and the change is committed."""
        if number is None:
            number = self.next_number
            self.next_number += 1
        if self.file.name != DESCRIPTION and not self.file.exists():
            self.commit()  # else the part would look like one with a lost manifest
        name = part_name(number)
        path = self.file.parent / folder / name
        data = write_parquet(table, path)
        self._touched.add(path.parent)
        length = int.from_bytes(data[-8:-4], "little") + 8
        return Part(
            f"{folder}/{name}" if folder else name,
            len(data),
            len(table),
            f"{zlib.crc32(data[-length:]):08x}",
            hashlib.sha256(data).hexdigest(),
        )

    def add(self, table: pa.Table) -> None:
        """Write a part and list it."""
        self.parts.append(self.write(table))

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Read the listed parts."""
        for part in self.parts:
            yield read_part(self.file.parent / part.name, columns)

    def replace_all(self, table: pa.Table, values: dict[str, Any]) -> None:
        """Replace all parts and values, and commit the change."""
        starts = range(0, max(1, len(table)), _PART_ROWS)
        self.parts = [self.write(table.slice(start, _PART_ROWS)) for start in starts]
        self.values = values
        self.commit()

    def copy(self, part: Part, number: int) -> Part:
        """Copy a part to another number; as with `write`, commit the change."""
        name = f"{part.table}/{part_name(number)}" if part.table else part_name(number)
        path = self.file.parent / name
        with reading(self.file.parent / part.name):
            content = (self.file.parent / part.name).read_bytes()
        write_bytes(path, content)
        self._touched.add(path.parent)
        return replace(part, name=name)

    def commit(self) -> None:
        """Commit the change atomically."""
        for folder in self._touched:
            sync_folder(folder)
        self._touched.clear()
        write_manifest(self.file, self.values, self.parts)


def write_manifest(file: Path, values: dict[str, Any], parts: Sequence[Part]) -> None:
    """Replace a manifest."""
    counted: dict[str, Any] = {}
    if file.name == DESCRIPTION:
        counted = {"version": VERSION}
        for table in ("games", "positions"):
            counted[table] = sum(part.rows for part in parts if part.table == table)
    write_sealed_toml(file, {**values, **counted, "parts": [str(part) for part in parts]})
    forget()


def forget() -> None:
    """Clear the caches."""
    _parsed.cache_clear()
    _footer_then.cache_clear()
    _sha256_then.cache_clear()


@contextlib.contextmanager
def changing(file: Path, doing: str) -> Iterator[Change]:
    """Lock a manifest's folder for a change, and remove unlisted parts.

    Raises StudyError if another process holds the lock. A folder without parts is removed
    afterwards.
    """
    folder = file.parent
    if file.name != DESCRIPTION:
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, doing):
        try:
            manifest = read_manifest(file)
            parts = list(sealed_parts(manifest))
            number = _next_number(manifest)
            _clear(manifest)
            yield Change(file, manifest.values, parts, number)
        finally:
            if file.name != DESCRIPTION:
                _remove_if_empty(file)


def sealed_parts(manifest: Manifest) -> tuple[Part, ...]:
    """The parts with checksums, computed if the manifest lists none."""
    if manifest.sealed:
        return manifest.parts
    return tuple(Part.on_disk(manifest.folder, name) for name in manifest.names)


def _tables(file: Path) -> Sequence[str]:
    """The folders of a manifest's parts, below its own."""
    return TABLES if file.name == DESCRIPTION else ("",)


def _next_number(manifest: Manifest) -> int:
    on_disk = [
        path.name
        for table in _tables(manifest.file)
        for path in (manifest.folder / table).glob("part-*.parquet")
    ]
    numbers = [_number(name) for name in (*manifest.names, *on_disk)]
    return max(numbers, default=-1) + 1


def _number(name: str) -> int:
    digits = name.rpartition("part-")[2].partition(".")[0]
    return int(digits) if digits.isdecimal() else -1


def _clear(manifest: Manifest) -> None:
    """Remove files of interrupted writers; requires the lock."""
    for leftover in manifest.folder.glob(f".{manifest.file.name}.*"):
        leftover.unlink()
    for table in _tables(manifest.file):
        folder = manifest.folder / table
        for path in [*folder.glob(".part-*"), *folder.glob("part-*.parquet")]:
            name = f"{table}/{path.name}" if table else path.name
            if name in manifest.names:
                continue
            if manifest.sealed or path.name.startswith("."):
                path.unlink()
            else:
                # Without a list, its games may have been lost.
                path.rename(path.with_name(f"orphan-{path.name}"))


def _remove_if_empty(file: Path) -> None:
    """Remove the folder of an evaluator or method without parts."""
    folder = file.parent
    with contextlib.suppress(StudyError):
        if read_manifest(file).names:
            return
        _clear(read_manifest(file))
        file.unlink(missing_ok=True)
        if [path.name for path in folder.iterdir()] == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
