# SPDX-License-Identifier: Apache-2.0
"""Folders of runs that resume: a lock for one writer, a plan, and a journal of finished work."""

import contextlib
import fcntl
import json
import math
import os
import stat
import time
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from hyoka.foundation.errors import StudyError, escape_control_chars
from hyoka.foundation.text import shorten
from hyoka.storage.files import check_is_original, now, open_regular, read_regular, write_text
from hyoka.storage.outputs import check_output_folder

LOCK: Final = ".lock"
_PATIENCE_S: Final = 0.25
"""The wait for a process that only tests the lock."""


@contextlib.contextmanager
def locked(folder: Path, doing: str) -> Iterator[None]:
    """Hold a folder's lock; raises StudyError with its holder if another process has it.

    `doing` describes the work for others: `adding records`.
    """
    with hold_lock(folder, doing):
        yield


def is_held(folder: Path) -> bool | None:
    """Whether a folder's lock is held; None if there is no lock file."""
    _check_lock(folder / LOCK)
    try:
        with open_regular(folder / LOCK, follow_links=False) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return True
    return False


def _check_lock(path: Path) -> None:
    """Raise StudyError if a lock file is a pipe, a device or a link to some other file."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise StudyError(f"{path}: not a regular file: remove it, and try again")


def hold_lock(folder: Path, doing: str) -> IO[str]:
    """Return the open lock file of a folder, which this process and those that inherit it hold.

    Raises StudyError with its holder if another process has it.
    """
    check_is_original(folder)
    path = folder / LOCK
    _check_lock(path)
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        file = path.open("a+", encoding="utf-8", errors="replace")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The former holder may have removed the folder and its lock file.
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
                file.truncate(0)
                file.write(f"process {os.getpid()}, {doing} since {now():%Y-%m-%d %H:%M:%S} UTC")
                file.flush()
                return file
            file.close()
        except BlockingIOError:
            if time.monotonic() < deadline:
                file.close()
                time.sleep(_PATIENCE_S / 10)
                continue
            file.seek(0)
            holder = escape_control_chars(file.read(200)) or "another process"
            file.close()
            raise StudyError(
                f"{folder}: another process is writing here ({holder}); try again when that is done"
            ) from None
        except BaseException:
            file.close()
            raise


@dataclass(frozen=True)
class RunPlan:
    """The plan of a run, stored in a file of its folder: only the same plan resumes there."""

    what: str
    """What the folder holds, with an article: "a match"."""
    file: str
    values: Mapping[str, Any]
    """The values that identify the run."""
    text: str = ""
    """The content of the file; by default the values as JSON."""
    read: Callable[[Path], Mapping[str, Any]] = lambda path: json.loads(read_regular(path))
    """Reads the values of a file."""
    explain: Callable[[list[str], Mapping[str, Any]], str | None] = lambda _keys, _stored: None
    """Describes a difference, by the differing keys and the stored values; None for the usual."""

    def check(self, folder: Path) -> None:
        """Raise StudyError if the folder holds the run of another plan."""
        try:
            stored = _flat(self.read(folder / self.file))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise StudyError(f"{folder / self.file}: damaged: {error}") from error
        values = _flat(self.values)
        keys = [key for key in {**stored, **values} if stored.get(key) != values.get(key)]
        if keys:
            old, new = (shorten(repr(each.get(keys[0])), 60) for each in (stored, values))
            difference = self.explain(keys, stored) or f"its {keys[0]} is {old}, not {new}"
            raise StudyError(
                f"{folder} holds another {self.what.partition(' ')[2]}: {difference}; choose "
                "another folder"
            )


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Name the values of nested tables `table.key`; lists stay."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        nested = isinstance(value, Mapping)
        flat |= _flat(value, f"{above}{key}.") if nested else {f"{above}{key}": value}
    return flat


@contextlib.contextmanager
def open_run(folder: Path, plan: RunPlan, doing: str) -> Iterator[None]:
    """Hold the lock of a run's folder; a new folder gets the plan.

    Raises StudyError if it holds the run of another plan, OutputError if it holds other files.
    """
    check_output_folder(folder, plan.file, what=plan.what)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder} can't be a folder: {error.strerror}") from error
    with locked(folder, doing):
        if (folder / plan.file).exists():
            plan.check(folder)
        else:
            write_text(folder / plan.file, plan.text or json.dumps(plan.values, indent=1))
        yield


class Journal:
    """An append-only file of lines, each synced before it counts; requires the folder's lock.

    with Journal(folder / "journal.jsonl") as journal:
        journal.add(b"one", b"two")
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self._size = sum(len(line) + 1 for line in journal_lines(self.path))
        self._file = self.path.open("a+b", buffering=0)
        self._file.truncate(self._size)  # an interrupted write
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, *lines: bytes) -> None:
        """Append lines and sync them; an incomplete write is truncated.

        Raises OSError if the disk is full.
        """
        data = b"".join(line + b"\n" for line in lines)
        try:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except BaseException:  # also Ctrl-C: half a line would corrupt the next one
            self._file.truncate(self._size)
            raise
        self._size += len(data)


def journal_lines(path: Path) -> list[bytes]:
    """Read the complete lines of a journal, which may be open for writing; none if it is missing.

    Raises StudyError if it is unreadable.
    """
    try:
        return read_regular(path).split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StudyError(f"{path}: can't be read: {error.strerror}") from error


def to_json(value: Any) -> Any:
    """Convert dataclasses to JSON values: NaN becomes null, infinities become text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {name: to_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def from_json(kind: Any, value: Any) -> Any:
    """The inverse of `to_json` for a type; raises an error of Python if the value does not fit.

    >>> from_json(dict[int, tuple[float, ...]], {"1": [0.5, None]})
    {1: (0.5, nan)}
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        others = (each for each in arguments if each is not type(None))
        return None if value is None else from_json(next(others), value)
    if origin is tuple:
        return tuple(from_json(arguments[0], each) for each in value)
    if origin is dict:
        key, inner = arguments
        return {from_json(key, name): from_json(inner, each) for name, each in value.items()}
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        construct: Any = kind
        return construct(
            **{each.name: from_json(hints[each.name], value[each.name]) for each in fields(kind)}
        )
    if kind is float:
        return math.nan if value is None else float(value)
    return int(value) if kind is int else value
