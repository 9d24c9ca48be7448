# SPDX-License-Identifier: Apache-2.0
"""Read regular files only; write files so that a reader never sees half of one."""

import errno
import os
import stat
import tempfile
from io import BufferedReader
from pathlib import Path


def open_regular(path: str | Path, *, follow_links: bool = True) -> BufferedReader:
    """Open a regular file for reading; raises OSError at once for anything else.

    For every path that comes from a folder or from a request: to open a named pipe would wait for
    a writer, and to read a device might never end.
    """
    _check_regular(os.stat(path, follow_symlinks=follow_links), path)
    # The path may have become a pipe meanwhile: neither wait for it nor take it.
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
    """Write `text` as UTF-8, as `write_bytes` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "board.svg", "<svg/>")
    ...     [(path.name, path.read_text()) for path in Path(folder).iterdir()]
    [('board.svg', '<svg/>')]
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, flush it and put it in place.

    Makes no folder. An interrupted write leaves what was there before. A link is followed, and
    what is no plain file (a pipe, `/dev/stdout`) is simply written to.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    # Not the whole name: with what mkstemp adds it might be longer than names may be.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp lets nobody else read; give the file the rights that open would have given.
        Path(name).chmod(0o666 & ~umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def umask() -> int:
    """The rights that new files and folders of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: without it a power cut may undo a rename."""
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # where folders can't be flushed
            raise
    finally:
        os.close(descriptor)
