# SPDX-License-Identifier: Apache-2.0
"""Where records come from: files, globs, folders, compressed files, archives, standard input."""

import bz2
import contextlib
import glob
import gzip
import io
import lzma
import os
import queue
import select
import stat
import sys
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import pyarrow as pa

from hyoka.errors import SourceError

BLOCK: Final = 1 << 20
"""Bytes read at a time."""
_ARCHIVES_DEEP: Final = 3
_BOMB_FLOOR: Final = 64 << 20
_BOMB_RATIO: Final = 250
"""Text of games shrinks to a fifth or a twentieth; nothing honest to less than one part in this."""

_HEAD: Final = 512
"""Bytes that tell what is packed; a tar's sign is its 257th."""

Progress = Callable[[int], None]
"""Told how many more bytes of the files named have been read, as they lie on the disk."""

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")  # the second has no members
_NAMES_SIZE: Final = 16 << 20
"""More than WTHOR's tables of names can have."""
_COMPRESSED: Final[dict[bytes, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda raw: pa.CompressedInputStream(raw, "zstd"),
}
_BROKEN: Final = (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, tarfile.TarError)


def _beside_nothing(_suffix: str) -> bytes:
    return b""


@dataclass(frozen=True)
class Source:
    """One stream of bytes with a name for people, such as `games.zip!1997/final.sgf`."""

    name: str
    stream: IO[bytes]
    beside: Callable[[str], bytes] = field(default=_beside_nothing)
    """The content of the first file with a suffix in the same folder; empty if there is none."""
    problem: str = ""
    """Why there is nothing to read."""
    named: bool = False
    """Whether the file was asked for by its own name, not found in a folder or an archive."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when nobody wants more; who waits for a pipe's writer gives up."""

    def blocks(self) -> Iterator[bytes]:
        """The bytes piece by piece, read ahead in another thread; raises SourceError."""
        if self.problem:
            raise SourceError(self.problem)
        return _read_ahead(self._blocks(), self.stopped)

    def _blocks(self) -> Iterator[bytes]:
        with _readable(self.name):
            # What is there, up to a block: a pipe's writer may be waiting for us.
            read = getattr(self.stream, "read1", self.stream.read)
            while block := read(BLOCK):
                yield block


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turns what unpackers raise about bad data into our error; a disk that fails stays its own."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise
        raise SourceError(f"{name}: broken or cut short: {error}") from error
    except _BROKEN as error:
        raise SourceError(f"{name}: broken or cut short: {error}") from error


class _Counted(io.RawIOBase):
    """A raw stream that counts what is read from it and tells a listener."""

    def __init__(self, raw: IO[bytes], progress: Progress | None) -> None:
        self._raw = raw
        # What is there already, where the stream can say so.
        self._read = getattr(raw, "read1", raw.read)
        self._pipe = _pipe_of(raw)
        self._progress = progress
        self.count = 0
        self.stopped = threading.Event()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        try:
            return self._raw.seekable()
        except AttributeError:  # a member of a tar that is read as a stream
            return False

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while self._pipe is not None and not self._pipe.poll(100):
            if self.stopped.is_set():
                return 0
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        if self._progress is not None and data:
            self._progress(len(data))
        return len(data)


def _pipe_of(raw: IO[bytes]) -> Any:
    """What waits for a stream whose writer may be slow; None for a file."""
    try:
        number = raw.fileno()
        waits = not stat.S_ISREG(os.fstat(number).st_mode)
    except (OSError, ValueError, AttributeError):
        return None
    if not waits:
        return None
    pipe = select.poll()
    pipe.register(number, select.POLLIN)
    return pipe


class _Guarded(io.RawIOBase):
    """What a compressed stream gives, as long as it is not absurdly more than it holds."""

    def __init__(self, name: str, plain: IO[bytes], read: Callable[[], int]) -> None:
        self._name = name
        self._plain = plain
        self._read = read
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._plain.read(len(buffer))
        buffer[: len(data)] = data
        self._given += len(data)
        if self._given > _BOMB_FLOOR and self._given > _BOMB_RATIO * max(1, self._read()):
            raise SourceError(
                f"{self._name}: refused: it unpacks to more than {_BOMB_RATIO} times its size"
            )
        return len(data)


def sources(paths: Iterable[str | Path], *, progress: Progress | None = None) -> Iterator[Source]:
    """Every stream of bytes that `paths` stand for, in order.

    A path is a file, a folder (all files below, sorted by name), a pattern such as `kgs/*.sgf`, or
    `-` for standard input. What is compressed (gzip, bzip2, xz, zstd) is unpacked, of what is an
    archive (zip, tar) every member is a source; both are known by their first bytes, not by their
    names. Use each source before you ask for the next. What can't be opened is a source, too: its
    `blocks` raises SourceError.
    """
    for path, named in _files_named(paths):
        if path is None:
            found = _opened("standard input", sys.stdin.buffer, _beside_nothing, 0, progress)
            yield from (replace(source, named=True) for source in found)
            continue
        # A name that is not UTF-8 is shown as far as it is.
        name = os.fsencode(path).decode(errors="replace")
        with path.open("rb") as raw:
            for source in _opened(name, raw, _beside_on_disk(path), 0, progress):
                yield replace(source, named=named and source.name == name)


def sources_in(name: str, content: bytes) -> Iterator[Source]:
    """Every stream of bytes in the content of a file, unpacked as `sources` does it."""
    for source in _opened(name, io.BytesIO(content), _beside_nothing, 0):
        yield replace(source, named=source.name == name)


def files_of(paths: Iterable[str | Path]) -> list[Path | None]:
    """The files that `paths` stand for; None is standard input. Raises if one names nothing."""
    return [path for path, _ in _files_named(paths)]


def _files_named(paths: Iterable[str | Path]) -> list[tuple[Path | None, bool]]:
    """Files, and whether each was given by its own name."""
    found: list[tuple[Path | None, bool]] = []
    for given in paths:
        if str(given) == "-":
            found.append((None, True))
            continue
        try:
            path = Path(given)
            if path.exists() and not path.is_dir():
                found.append((path, True))
                continue
            matches = [path] if path.is_dir() else sorted(map(Path, _matches(str(given))))
            inside = [file for match in matches for file in _files_below(match)]
        except (OSError, ValueError) as error:  # a name that no file can have
            raise SourceError(f"{str(given)[:200]}: no such file ({error})") from error
        if not inside:
            what = "no files in this folder" if path.is_dir() else "no such file"
            raise SourceError(f"{given}: {what}")
        found += [(file, False) for file in inside]
    return found


def _matches(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True)


def _files_below(path: Path) -> list[Path]:
    """A file itself, or all files below a folder that are not hidden; links are not walked."""
    if not path.is_dir():
        return [path] if path.exists() else []
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(folder, name) for name in names if not name.startswith(".")]
    return sorted(file for file in found if file.is_file())


def size_on_disk(paths: Iterable[str | Path]) -> int | None:
    """How many bytes `sources` will read; None if standard input is among them."""
    files = files_of(paths)
    if None in files:
        return None
    return sum(file.stat().st_size for file in files if file is not None)


def _opened(
    name: str,
    raw: IO[bytes],
    beside: Callable[[str], bytes],
    deep: int,
    progress: Progress | None = None,
) -> Iterator[Source]:
    """The sources in a stream; what can't be opened is a source with a problem."""
    try:
        yield from _sources_in(name, raw, beside, deep, progress)
    except SourceError as error:
        yield Source(name, io.BytesIO(), problem=str(error))


def _sources_in(
    name: str,
    raw: IO[bytes],
    beside: Callable[[str], bytes],
    deep: int,
    progress: Progress | None = None,
) -> Iterator[Source]:
    counted = _Counted(raw, progress)
    buffered = io.BufferedReader(counted, BLOCK)
    if deep > _ARCHIVES_DEEP:
        raise SourceError(f"{name}: refused: archives inside archives {deep} deep")
    stream, head = _with_head(buffered, name)
    for _ in range(_ARCHIVES_DEEP):
        unpack = next((made for magic, made in _COMPRESSED.items() if head.startswith(magic)), None)
        if unpack is None:
            break
        guarded = _Guarded(name, unpack(stream), lambda: counted.count)
        stream, head = _with_head(io.BufferedReader(guarded, BLOCK), name)
    if head.startswith(_ZIP):
        yield from _zip_members(name, stream, deep)
    elif head[257:262] == b"ustar":
        yield from _tar_members(name, stream, deep)
    else:
        yield Source(name, stream, beside, stopped=counted.stopped)


class _Prefixed(io.RawIOBase):
    """A stream with bytes put back before it."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._read = getattr(rest, "read1", rest.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._head[: len(buffer)] or self._read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _with_head(stream: IO[bytes], name: str) -> tuple[IO[bytes], bytes]:
    """The stream from its start again, and its first bytes, however slowly they come."""
    with _readable(name):
        head = stream.read(_HEAD)
    if stream.seekable():
        stream.seek(0)
        return stream, head
    return io.BufferedReader(_Prefixed(head, stream), BLOCK), head


def _zip_members(name: str, stream: IO[bytes], deep: int) -> Iterator[Source]:
    with contextlib.ExitStack() as stack:
        seekable: IO[bytes] = stream
        if not stream.seekable():  # a zip's list of members is at its end
            seekable = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=64 << 20))
            while block := stream.read(BLOCK):
                seekable.write(block)
            seekable.seek(0)
        try:
            archive = stack.enter_context(zipfile.ZipFile(seekable))
        except zipfile.BadZipFile as error:
            raise SourceError(f"{name}: broken or cut short: {error}") from error
        members = [member for member in archive.infolist() if not member.is_dir()]

        def beside(folder: PurePosixPath, suffix: str) -> bytes:
            for member in members:
                path = PurePosixPath(member.filename)
                if path.parent == folder and path.suffix.lower() == suffix:
                    with archive.open(member) as names:
                        return names.read(_NAMES_SIZE)
            return b""

        for member in sorted(members, key=lambda member: member.filename):
            inner = f"{name}!{member.filename}"
            folder = PurePosixPath(member.filename).parent
            try:
                raw = archive.open(member)
            except (RuntimeError, NotImplementedError, *_BROKEN) as error:
                problem = f"{inner}: can't be unpacked: {error}"
                yield Source(inner, io.BytesIO(), problem=problem)
                continue
            with raw:
                guarded = _Guarded(inner, raw, lambda size=member.compress_size: size)  # type: ignore[misc]
                yield from _opened(
                    inner,
                    io.BufferedReader(guarded, BLOCK),
                    lambda suffix, folder=folder: beside(folder, suffix),  # type: ignore[misc]
                    deep + 1,
                )


def _tar_members(name: str, stream: IO[bytes], deep: int) -> Iterator[Source]:
    # The members' names are not known in advance, so a file may only use what came before it.
    seen: dict[tuple[PurePosixPath, str], bytes] = {}
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                raw = archive.extractfile(member) if member.isfile() else None
                if raw is None:
                    continue
                path = PurePosixPath(member.name)
                if path.suffix.lower() in (".jou", ".trn"):
                    seen[path.parent, path.suffix.lower()] = raw.read(_NAMES_SIZE)
                    continue
                yield from _opened(
                    f"{name}!{member.name}",
                    raw,
                    lambda suffix, folder=path.parent: seen.get((folder, suffix), b""),  # type: ignore[misc]
                    deep + 1,
                )
    except _BROKEN as error:
        raise SourceError(f"{name}: broken or cut short: {error}") from error


def _beside_on_disk(path: Path) -> Callable[[str], bytes]:
    def beside(suffix: str) -> bytes:
        for file in sorted(path.parent.iterdir()):
            if file.suffix.lower() == suffix and file.is_file():
                with file.open("rb") as names:
                    return names.read(_NAMES_SIZE)
        return b""

    return beside


def _read_ahead(
    blocks: Iterator[bytes], stopped: threading.Event, depth: int = 4
) -> Iterator[bytes]:
    """The same blocks, fetched by another thread: unpacking and parsing go on side by side."""
    ready: queue.Queue[bytes | BaseException | None] = queue.Queue(depth)

    def put(item: bytes | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def fetch() -> None:
        try:
            for block in blocks:
                if not put(block):
                    return
            put(None)
        except BaseException as error:  # handed to the thread that reads
            put(error)

    thread = threading.Thread(target=fetch, name="hyoka-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = ready.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()
