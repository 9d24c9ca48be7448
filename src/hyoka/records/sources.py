# SPDX-License-Identifier: Apache-2.0
"""Sources of records: files, globs, folders, compressed files, archives, standard input."""

import bz2
import contextlib
import glob
import gzip
import io
import lzma
import os
import queue
import re
import select
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import pyarrow as pa

from hyoka.foundation.errors import SourceError
from hyoka.records.archives import (
    BROKEN,
    Allowance,
    Damage,
    Member,
    RawStream,
    ZipArchive,
    archive_kind,
    tar_members,
)
from hyoka.storage.files import open_regular

BLOCK: Final = 1 << 20
"""The number of bytes per read."""
_ARCHIVES_DEEP: Final = 3
_IN_MEMORY: Final = 16 << 20
"""Nested archives larger than this are stored on disk while they are read."""

_HEAD: Final = 4096
"""Signatures of compressed formats."""

OnBytes = Callable[[int], None]
"""A callback that receives the number of further bytes read, as stored on disk."""

_ZIP_END: Final = 22
_NAMES_SIZE: Final = 16 << 20
"""An upper bound for the size of files beside others, such as WTHOR's name tables."""
_SUFFIX: Final = re.compile(r"\.\w+")
_COMPRESSED: Final[dict[bytes, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda raw: pa.CompressedInputStream(raw, "zstd"),
    # pzstd, which packs Lichess's database, begins with a frame that only names a size.
    **{
        bytes([first]) + b"\x2a\x4d\x18": lambda raw: pa.CompressedInputStream(raw, "zstd")
        for first in range(0x50, 0x60)
    },
}
_NAMES_IN_ALL: Final = 4 * _NAMES_SIZE


def _beside_nothing(_suffix: str) -> bytes:
    return b""


@dataclass(frozen=True)
class Source:
    """A stream of bytes with a display name, such as `games.zip!1997/final.sgf`."""

    name: str
    stream: IO[bytes]
    beside: Callable[[str], bytes] = field(default=_beside_nothing)
    """The content of a file below the same folder, such as `games/owl1.sgf`, or of the first file
    with a suffix in it, such as `.jou`; empty if there is none. Raises SourceError if it can't be
    read.
    """
    problem: str = ""
    """The reason why the source cannot be read."""
    named: bool = False
    """Whether the file was named explicitly, not discovered in a folder or archive."""
    waits: bool = True
    """Whether its bytes may arrive slowly, from a pipe."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set to cancel; readers that wait for a pipe's writer stop."""

    def blocks(self) -> Iterator[bytes]:
        """Iterate over the bytes in blocks, read ahead in another thread; raises SourceError."""
        if self.problem:
            raise SourceError(self.problem)
        return self._ahead() if self.waits else self._small_or_ahead()

    def _small_or_ahead(self) -> Iterator[bytes]:
        """Most members of archives are small, and not worth a thread."""
        first, error = _gathered(self.stream, BLOCK)
        if first:
            yield first
        with _readable(self.name):
            if error is not None:
                raise error
        if len(first) >= BLOCK:
            yield from self._ahead()

    def _ahead(self) -> Iterator[bytes]:
        return _read_ahead(self._blocks(), self.stopped)

    def _blocks(self) -> Iterator[bytes]:
        with _readable(self.name):
            # Return available data, up to a block: a pipe's writer may be waiting.
            read = getattr(self.stream, "read1", self.stream.read)
            while block := read(BLOCK):
                yield block


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    """Convert decompressors' and disks' errors to SourceError."""
    try:
        yield
    except SourceError as error:
        if str(error).startswith(name):  # the message already names a member
            raise
        raise SourceError(f"{name}: {error}") from error
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise SourceError(f"{name}: can't be read: {error.strerror}") from error
        raise SourceError(f"{name}: broken or cut short: {error}") from error


def _gathered(stream: IO[bytes], size: int) -> tuple[bytes, Exception | None]:
    """Read up to `size` bytes, fewer at the end or an error; return the error too."""
    read = getattr(stream, "read1", stream.read)
    gathered = b""
    try:
        while len(gathered) < size and (more := read(size - len(gathered))):
            gathered += more
    except (SourceError, *BROKEN) as error:
        return gathered, error
    return gathered, None


class _Counted(RawStream):
    """A raw stream that reports bytes read to a listener and its size to the allowance."""

    def __init__(self, raw: IO[bytes], opening: "_Opening") -> None:
        self._raw = raw
        # Read only available data, if the stream supports that.
        self._read = getattr(raw, "read1", raw.read)
        self._pipe = _pipe_of(raw)
        self._on_bytes = opening.on_bytes
        self._allowance = opening.allowance if opening.deep == 0 else None
        self.stopped = threading.Event()
        # A file's size is known in advance; a pipe's is the number of bytes so far.
        size = _size_of(raw)
        self.waits = size is None and opening.deep == 0
        if self._allowance is not None and size is not None:
            self._allowance.add_on_disk(size)
            self._allowance = None

    def seekable(self) -> bool:
        try:
            return self._raw.seekable()
        except AttributeError:  # a tar member in a non-seekable stream
            return False

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def take(self, size: int) -> bytes:
        while self._pipe is not None and not self._pipe.poll(100):
            if self.stopped.is_set():
                return b""
        data: bytes = self._read(size)
        if self._allowance is not None:
            self._allowance.add_on_disk(len(data))
        if self._on_bytes is not None and data:
            self._on_bytes(len(data))
        return data


def _size_of(raw: IO[bytes]) -> int | None:
    """Return the number of bytes in a seekable stream; None for any other."""
    try:
        at = raw.tell()
        size = raw.seek(0, io.SEEK_END)
        raw.seek(at)
    except (OSError, ValueError, AttributeError):
        return None
    return size


def _pipe_of(raw: IO[bytes]) -> Any:
    """Return a waiter for a stream with a slow writer; None for a file."""
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


class _Guarded(RawStream):
    """A decompressed stream within the allowance; an error is permanent."""

    def __init__(self, plain: IO[bytes], allowance: Allowance) -> None:
        # In small steps: a longer read would lose its data in an error.
        self._read = getattr(plain, "read1", plain.read)
        self._allowance = allowance
        self._broken: Exception | None = None

    def take(self, size: int) -> bytes:
        if self._broken is not None:
            raise self._broken
        try:
            data: bytes = self._read(size)
        except BROKEN as error:
            self._broken = error
            raise
        self._allowance.take_bytes(len(data))
        return data


def sources(paths: Iterable[str | Path], *, on_bytes: OnBytes | None = None) -> Iterator[Source]:
    """Iterate over all sources that `paths` name, in order.

    A path is a file, a folder (all files below, sorted by name), a pattern such as `kgs/*.sgf`, or
    `-` for standard input. Compressed files (gzip, bzip2, xz, zstd) are decompressed, and every
    member of an archive (zip, tar) is a source; both are recognized by their first bytes. Use each
    source before the next. A source that cannot be opened raises SourceError from its `blocks`.
    """
    for _, inside in sources_by_file(paths, on_bytes=on_bytes):
        yield from inside


def sources_by_file(
    paths: Iterable[str | Path], *, on_bytes: OnBytes | None = None
) -> Iterator[tuple[Path | None, Iterator[Source]]]:
    """Iterate over the files that `paths` name, each with its sources; None is standard input.

    Sources of different files may be used at once, those of a file one after another.
    """
    for name in paths:
        allowance = Allowance()
        for path, named in _files_named([name]):
            yield path, _allowed_sources(path, named, allowance, on_bytes)


def _allowed_sources(
    path: Path | None, named: bool, argument: Allowance, on_bytes: OnBytes | None
) -> Iterator[Source]:
    if not argument.is_spent:
        yield from _sources_of(path, named, _Opening(Allowance(argument), on_bytes))


def _sources_of(path: Path | None, named: bool, opening: "_Opening") -> Iterator[Source]:
    if path is None:
        piped = _opened("standard input", sys.stdin.buffer, _beside_nothing, opening)
        yield from (replace(source, named=True) for source in piped)
        return
    # Invalid UTF-8 in a name is replaced.
    name = os.fsencode(path).decode(errors="replace")
    try:
        raw = path.open("rb") if named else open_regular(path)
    except OSError as error:
        problem = f"{name}: can't be read: {error.strerror}"
        yield Source(name, io.BytesIO(), problem=problem, named=named)
        return
    with raw:
        for source in _opened(name, raw, _beside_on_disk(path), opening):
            yield replace(source, named=named and source.name == name)


def sources_in(name: str, content: bytes) -> Iterator[Source]:
    """Iterate over the sources in the content of a file, decompressed as by `sources`."""
    opening = _Opening(Allowance(), None)
    for source in _opened(name, io.BytesIO(content), _beside_nothing, opening):
        yield replace(source, named=source.name == name)


def files_of(paths: Iterable[str | Path]) -> list[Path | None]:
    """List the files that `paths` name; None is standard input. Raises if a path names nothing."""
    return [path for path, _ in _files_named(paths)]


def _files_named(paths: Iterable[str | Path]) -> list[tuple[Path | None, bool]]:
    """Yield files and whether each was named explicitly."""
    files: list[tuple[Path | None, bool]] = []
    for name in paths:
        if str(name) == "-":
            files.append((None, True))
            continue
        if not str(name):
            raise SourceError("a file name is empty")
        try:
            path = Path(name)
            if path.exists() and not path.is_dir():
                files.append((path, True))
                continue
            matches = [path] if path.is_dir() else sorted(map(Path, _matches(str(name))))
            inside = [file for match in matches for file in _files_below(match)]
        except (OSError, ValueError) as error:  # a name that no file can have
            raise SourceError(f"{str(name)[:200]}: no such file ({error})") from error
        if not inside:
            what = "no files in this folder" if path.is_dir() else "no such file"
            raise SourceError(f"{name}: {what}")
        files += [(file, False) for file in inside]
    return files


def _matches(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True)


def _files_below(path: Path) -> list[Path]:
    """List a file itself, or all visible files below a folder; links are not followed."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    files = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [Path(folder, name) for name in names if not name.startswith(".")]
    return sorted(file for file in files if file.is_file())


def size_on_disk(paths: Iterable[str | Path]) -> int | None:
    """Return the bytes that `sources` will read; None with standard input."""
    files = files_of(paths)
    if None in files:
        return None
    return sum(_size(file) for file in files if file is not None)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # the file is gone; reading it reports the error
        return 0


@dataclass(frozen=True)
class _Opening:
    """Opens a file or a member of an archive."""

    allowance: Allowance
    on_bytes: OnBytes | None = None
    deep: int = 0
    """The number of archives that contain it."""


def _opened(
    name: str, raw: IO[bytes], beside: Callable[[str], bytes], opening: _Opening
) -> Iterator[Source]:
    """Iterate over the sources in a stream; one that cannot be opened has a problem."""
    try:
        with _readable(name):
            yield from _sources_in(name, raw, beside, opening)
    except SourceError as error:
        yield Source(name, io.BytesIO(), problem=str(error))


def _sources_in(
    name: str, raw: IO[bytes], beside: Callable[[str], bytes], opening: _Opening
) -> Iterator[Source]:
    if opening.deep > _ARCHIVES_DEEP:
        raise SourceError(f"refused: archives inside archives {opening.deep} deep")
    allowance = opening.allowance
    counted = _Counted(raw, opening)
    stream, head = _with_head(io.BufferedReader(counted, BLOCK), name)
    layers = 0
    while unpack := next(
        (unpacker for sign, unpacker in _COMPRESSED.items() if head.startswith(sign)), None
    ):
        layers += 1
        if layers > _ARCHIVES_DEEP:
            raise SourceError(f"refused: compressed more than {_ARCHIVES_DEEP} times over")
        guarded = _Guarded(unpack(stream), allowance)
        stream, head = _with_head(io.BufferedReader(guarded, BLOCK), name)
    inside = replace(opening, deep=opening.deep + 1, on_bytes=None)
    kind = archive_kind(head)
    if kind == "zip" or (not kind and _ends_as_zip(stream)):
        yield from _zip_sources(name, stream, inside)
    elif kind == "tar":
        yield from _tar_sources(name, stream, inside)
    else:
        yield Source(name, stream, beside, waits=counted.waits, stopped=counted.stopped)


def _ends_as_zip(stream: IO[bytes]) -> bool:
    """Whether a file with an unknown start ends with a zip directory."""
    if not stream.seekable():
        return False
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _ZIP_END))
    end = stream.read(_ZIP_END)
    stream.seek(0)
    return end.startswith(b"PK\x05\x06")


class _Prefixed(RawStream):
    """A stream with bytes put back at its start."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._read = getattr(rest, "read1", rest.read)

    def take(self, size: int) -> bytes:
        data: bytes = self._head[:size] or self._read(size)
        self._head = self._head[size:]
        return data


def _with_head(stream: IO[bytes], name: str) -> tuple[IO[bytes], bytes]:
    """Return the stream, rewound, and its first bytes, however slowly they arrive."""
    head, error = _gathered(stream, _HEAD)
    with _readable(name):
        if error is not None and not head:
            raise error
    if stream.seekable():
        stream.seek(0)
        return stream, head
    return io.BufferedReader(_Prefixed(head, stream), BLOCK), head


def _zip_sources(name: str, stream: IO[bytes], inside: _Opening) -> Iterator[Source]:
    with contextlib.ExitStack() as stack:
        seekable: IO[bytes] = stream
        if not stream.seekable():  # a zip's directory is at its end
            seekable = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))
            while block := stream.read(BLOCK):
                seekable.write(block)
            seekable.seek(0)
        archive = ZipArchive(seekable)

        def beside(folder: PurePosixPath, name_beside: str) -> bytes:
            target = str(folder / name_beside)
            is_suffix = _SUFFIX.fullmatch(name_beside) is not None

            def is_beside(member: str) -> bool:
                if not is_suffix:
                    return member == target
                path = PurePosixPath(member)
                return path.parent == folder and path.suffix.lower() == name_beside

            member = archive.first(is_beside)
            if member is None:
                return b""
            with _readable(f"{name}!{member.name}"):
                if isinstance(member, Damage):
                    raise SourceError(member.reason)
                return member.stream.read(_NAMES_SIZE)

        for member in archive.members():
            folder = PurePosixPath(member.name).parent
            yield from _sources_of_member(
                name,
                member,
                lambda suffix, folder=folder: beside(folder, suffix),  # type: ignore[misc]
                inside,
            )
            if inside.allowance.is_spent:
                return


def _tar_sources(name: str, stream: IO[bytes], inside: _Opening) -> Iterator[Source]:
    # Names of members are not known in advance, so a file may only use earlier ones.
    seen: dict[tuple[PurePosixPath, str], bytes | SourceError] = {}

    def beside(folder: PurePosixPath, suffix: str) -> bytes:
        names = seen.get((folder, suffix), b"")
        if isinstance(names, SourceError):
            raise names
        return names

    for member in tar_members(stream):
        path = PurePosixPath(member.name)
        if isinstance(member, Member) and path.suffix.lower() in (".jou", ".trn"):
            if sum(len(each) for each in seen.values() if isinstance(each, bytes)) > _NAMES_IN_ALL:
                seen.clear()
            try:
                with _readable(f"{name}!{member.name}"):
                    content: bytes | SourceError = member.stream.read(_NAMES_SIZE)
            except SourceError as error:
                content = error
            seen[path.parent, path.suffix.lower()] = content
            continue
        yield from _sources_of_member(
            name,
            member,
            lambda suffix, folder=path.parent: beside(folder, suffix),  # type: ignore[misc]
            inside,
        )
        if inside.allowance.is_spent:
            return


def _sources_of_member(
    archive: str, member: Member | Damage, beside: Callable[[str], bytes], inside: _Opening
) -> Iterator[Source]:
    """Yield the contents of an archive's member, possibly an archive itself, or its damage."""
    name = f"{archive}!{member.name}" if member.name else archive
    if isinstance(member, Damage):
        yield Source(name, io.BytesIO(), problem=f"{name}: {member.reason}")
        return
    with _readable(name):
        inside.allowance.take_member()
    guarded = io.BufferedReader(_Guarded(member.stream, inside.allowance), BLOCK)
    yield from _opened(name, guarded, beside, inside)


def _beside_on_disk(path: Path) -> Callable[[str], bytes]:
    def beside(name: str) -> bytes:
        if _SUFFIX.fullmatch(name):
            files = [each for each in sorted(path.parent.iterdir()) if each.suffix.lower() == name]
        else:
            folder = path.parent.resolve()
            files = [file for file in [(folder / name).resolve()] if file.is_relative_to(folder)]
        for file in files:
            if file.is_file():
                with _readable(str(file)), open_regular(file) as content:
                    return content.read(_NAMES_SIZE)
        return b""

    return beside


def _read_ahead(
    blocks: Iterator[bytes], stopped: threading.Event, depth: int = 4
) -> Iterator[bytes]:
    """Read blocks ahead in another thread: decompression and parsing run in parallel."""
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
        except BaseException as error:  # passed to the reading thread
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
