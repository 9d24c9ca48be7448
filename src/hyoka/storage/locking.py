# SPDX-License-Identifier: Apache-2.0
"""A folder lock for one writer at a time, released when its process ends."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from hyoka.foundation.errors import StudyError, escape_control_chars
from hyoka.storage.files import now

LOCK: Final = ".lock"
_PATIENCE_S: Final = 0.25
"""The wait for a process that only tests the lock."""


@contextlib.contextmanager
def locked(folder: Path, doing: str) -> Iterator[None]:
    """Hold a folder's lock; raises StudyError with its holder if another process has it.

    `doing` describes the work for others: `adding records`.
    """
    with _locked_file(folder, doing):
        yield


def is_held(folder: Path) -> bool | None:
    """Whether a folder's lock is held; None if there is no lock file."""
    _check_lock(folder / LOCK)
    try:
        with (folder / LOCK).open("rb") as file:
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


def _locked_file(folder: Path, doing: str) -> IO[str]:
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
