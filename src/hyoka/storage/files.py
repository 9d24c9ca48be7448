# SPDX-License-Identifier: Apache-2.0
"""Reading regular files only; writing files atomically; TOML with a checksum; studies at URLs.

`s3://bucket/study` and other URLs of fsspec's file systems are copied to the cache folder once;
parts are immutable, so later only new ones are. The workers of a cluster make their own copies.
"""

import datetime
import errno
import hashlib
import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Collection, Iterator
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hyoka.foundation.errors import Error, StudyError

_CHECKSUM: Final = "# sha256 of the lines above: "
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://.+", re.DOTALL)
_ORIGIN: Final = ".origin"
"""The file of a copy that has the URL."""
_COPIED: Final = (".toml", ".parquet")


def open_regular(path: str | Path, *, follow_links: bool = True) -> BufferedReader:
    """Open a regular file for reading; raises OSError at once for anything else.

    Use it for every path that comes from a folder or from a request: opening a named pipe would
    wait for a writer, and reading a device might never end.
    """
    _check_regular(os.stat(path, follow_symlinks=follow_links), path)
    # The path may have become a pipe meanwhile: do not wait for it.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    try:
        _check_regular(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | Path, *, follow_links: bool = True) -> bytes:
    """Read a regular file; raises OSError as `open_regular` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkfifo(Path(folder) / "pipe")
    ...     read_regular(Path(folder) / "pipe")
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file: ...
    """
    with open_regular(path, follow_links=follow_links) as file:
        return file.read()


def check_regular(path: str | Path) -> None:
    """Raise OSError unless a path names a regular file."""
    _check_regular(os.stat(path), path)


def _check_regular(state: os.stat_result, path: str | Path) -> None:
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", os.fspath(path))
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def write_text(path: Path, text: str) -> None:
    """Write text atomically as UTF-8.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "board.svg", "<svg/>")
    ...     [(path.name, path.read_text()) for path in Path(folder).iterdir()]
    [('board.svg', '<svg/>')]
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file atomically: to a temporary file beside it, which is flushed and renamed.

    Creates no folder. An interrupted write leaves the former file. Links are followed; pipes and
    devices (`/dev/stdout`) are written to directly.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    # A full name with mkstemp's suffix might be too long.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; set the permissions that open would have set.
        Path(name).chmod(0o666 & ~umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def cache_folder() -> Path:
    """The folder of files that can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyoka"


def umask() -> int:
    """Return the process's umask for new files and folders."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sync_folder(folder: Path) -> None:
    """Flush a folder: otherwise a power failure may undo a rename."""
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # folders can't be flushed
            raise
    finally:
        os.close(descriptor)


def read_toml(file: Path, *, verify: bool = True) -> dict[str, Any]:
    """Read a TOML file; raises StudyError if it is damaged or if its checksum does not match.

    Without `verify`, an edited file is accepted if it is valid TOML.
    """
    try:
        text = read_regular(file).decode("utf-8")
        above, _, checksum = text.rpartition(_CHECKSUM)
        if above and verify and checksum.strip() != _digest(above):
            raise StudyError(
                f"{file}: damaged, or changed by hand: it is not as it was written; "
                "`hyoka study verify STUDY` says what can be saved, `hyoka study verify STUDY "
                "--seal` accepts the file unchanged"
            )
        values = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise StudyError(f"{file}: can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{file}: damaged: {error}") from error
    if not above and verify and "parts" in values:
        raise StudyError(f"{file}: damaged: its end is missing")
    return values


def read_described(
    file: Path, what: str, versions: Collection[int], hint: str = ""
) -> dict[str, Any]:
    """Read the TOML file that describes a folder; raises StudyError without one, or by its version.

    `what` names the kind of folder, such as `study`; `hint` says how to make one.
    """
    try:
        values = read_toml(file)
    except FileNotFoundError:
        problem = (
            f"is not a {what}: it has no {file.name}"
            if file.parent.exists()
            else f"does not exist, so it is not a {what}"
        )
        raise StudyError(f"{file.parent} {problem}{hint}") from None
    except NotADirectoryError:
        raise StudyError(f"{file.parent} is a file, but a {what} is a folder") from None
    if values.get("version") not in versions:
        raise StudyError(
            f"{file}: made by another version of Hyoka ({what} version "
            f"{values.get('version')!r}, this one reads {max(versions)})"
        )
    return values


def write_sealed_toml(path: Path, values: dict[str, Any]) -> None:
    """Write TOML with a checksum at the end."""
    text = toml_text(values)
    write_text(path, f"{text}{_CHECKSUM}{_digest(text)}\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def toml_text(values: dict[str, Any]) -> str:
    """Convert flat values and tables of flat values to TOML; None is left out."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items() if value is not None]
    for key, table in tables.items():
        lines += ["", f"[{_key(key)}]", toml_text(table).rstrip()]
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
    # TOML writes strings, numbers and booleans as JSON does.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def now() -> datetime.datetime:
    """Return the current UTC time, to the second."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


# Studies at URLs


def is_url(text: str) -> bool:
    """Whether a text is a URL, such as `s3://bucket/study`."""
    return _URL.fullmatch(text) is not None


def study_folder(path: str | Path) -> Path:
    """The folder of a study; that of a copy for a URL."""
    return copy_of(path) if isinstance(path, str) and is_url(path) else Path(path)


def origin_of(folder: Path) -> str | None:
    """The URL of which a folder, or the folder around it, is a copy."""
    for place in (folder, *folder.parents[:2]):
        if (place / _ORIGIN).is_file():
            return read_regular(place / _ORIGIN).decode()
    return None


def check_is_original(folder: Path) -> None:
    """Raise StudyError if a folder is a copy, which must not change."""
    if origin := origin_of(folder):
        raise StudyError(f"{origin}: a study at a URL is read-only; change a copy in a folder")


def copy_of(url: str) -> Path:
    """Copy what is new at a URL, and return the folder of the copy."""
    own = hashlib.sha256(url.encode()).hexdigest()[:16]
    folder = cache_folder() / "studies" / own / (PurePosixPath(url).name or "study")
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an optional package
    except ImportError:
        raise StudyError(f"{url}: a study at a URL needs pip install 'hyoka[remote]'") from None
    try:
        files, root = url_to_fs(url)
        found = dict(_files_at(files, root))
        if not found:
            raise StudyError(f"{url}: there is no study")
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / _ORIGIN, url)
        # Descriptions are read first and placed last: they list only parts that are there.
        texts = {name: files.cat_file(path) for name, (path, _) in found.items() if _is_text(name)}
        for name, (path, size) in found.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if name not in texts and not _has_size(folder / name, size):
                write_bytes(folder / name, files.cat_file(path))
        for name, text in texts.items():
            write_bytes(folder / name, text)
    except Error:
        raise
    except Exception as error:  # each file system has errors of its own
        raise StudyError(f"{url}: can't be read: {error or type(error).__name__}") from error
    for copied in [*folder.rglob("*.toml"), *folder.rglob("*.parquet")]:
        if copied.relative_to(folder).as_posix() not in found:
            copied.unlink(missing_ok=True)
    return folder


def _files_at(files: Any, root: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """List the files of a study by their names inside: their paths and sizes."""
    base = PurePosixPath(root.rstrip("/"))
    for path, facts in files.find(root, detail=True).items():
        name = PurePosixPath(path).relative_to(base)
        if name.suffix in _COPIED and ".." not in name.parts and len(name.parts) <= 3:
            yield str(name), (path, int(facts["size"]))


def _is_text(name: str) -> bool:
    return name.endswith(".toml")


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
