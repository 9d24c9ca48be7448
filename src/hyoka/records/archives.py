# SPDX-License-Identifier: Apache-2.0
"""Reading of zip and tar archives in bounded memory, with recovery of damaged ones.

Python's own modules silently lose members of damaged archives, and unpack some formats completely
into memory. Archives are untrusted, so neither is acceptable.
"""

import bz2
import io
import lzma
import struct
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from hyoka.foundation.errors import SourceError

_UNPACKED_FLOOR: Final = 64 << 20
_UNPACKED_RATIO: Final = 250
"""Text of games compresses 5 to 20 times; a higher ratio than this is an attack."""
_MEMBERS_FLOOR: Final = 5_000
_BYTES_A_MEMBER: Final = 64
"""The minimum packed size of a member; only nested archives can have more members."""
_FILES_IN_ONE: Final = 16
"""The multiple of the minimum allowances for an argument: its files share them."""
_FEED: Final = 1 << 16
"""Packed bytes per call of a decompressor."""

BROKEN: Final = (
    EOFError,
    MemoryError,
    OverflowError,
    OSError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions of decompressors for bad data."""


def archive_kind(head: bytes) -> str:
    """Return `zip`, `tar` or nothing, from a file's first bytes, even if they start damaged."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):  # the second signature means no members
        return "zip"
    if _TAR_SIGN in head[_SIGN_AT : _SIGN_AT + len(_TAR_SIGN)]:
        return "tar"
    signs = {"zip": (b"PK\x03\x04", b"PK\x01\x02"), "tar": (b"ustar\x0000", b"ustar  \x00")}
    places = {
        kind: min((at for sign in each if (at := head.find(sign)) >= 0), default=len(head))
        for kind, each in signs.items()
    }
    first = min(places, key=places.__getitem__)
    return first if places[first] < len(head) else ""


class Allowance:
    """The limit on bytes unpacked from a file with all its archives, or from an argument."""

    def __init__(self, argument: "Allowance | None" = None) -> None:
        """The argument's allowance, for a file within it."""
        self._argument = argument
        self._more = 1 if argument else _FILES_IN_ONE
        self._on_disk = 0
        self._unpacked = 0
        self._members = 0
        self._is_spent = False

    @property
    def is_spent(self) -> bool:
        """Whether a limit was reached: then nothing more is read."""
        return self._is_spent or (self._argument is not None and self._argument.is_spent)

    def add_on_disk(self, count: int) -> None:
        """Add packed bytes to the allowance."""
        self._on_disk += count
        if self._argument is not None:
            self._argument.add_on_disk(count)

    def take_bytes(self, count: int) -> None:
        """Count unpacked bytes; raises SourceError above the limit."""
        self._unpacked += count
        if self._unpacked > self._more * _UNPACKED_FLOOR + _UNPACKED_RATIO * self._on_disk:
            self._refuse(f"it unpacks to more than {_UNPACKED_RATIO} times its size")
        if self._argument is not None:
            self._argument.take_bytes(count)

    def take_member(self) -> None:
        """Count a member of an archive; raises SourceError above the limit."""
        self._members += 1
        if self._members > self._more * _MEMBERS_FLOOR + self._on_disk // _BYTES_A_MEMBER:
            self._refuse(f"its archives have more than {self._members - 1:,} members")
        if self._argument is not None:
            self._argument.take_member()

    def _refuse(self, why: str) -> None:
        self._is_spent = True
        what = "it" if self._argument else "the argument"
        raise SourceError(f"refused: {why}; nothing more of {what} is read")


class RawStream(io.RawIOBase):
    """A readable stream; a class defines how it takes the next bytes, up to `size`."""

    def take(self, size: int) -> bytes:
        """Return the next bytes, none at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as there are bytes, and return their number."""
        data = self.take(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@dataclass(frozen=True)
class Member:
    """One file in an archive."""

    name: str
    stream: IO[bytes]


@dataclass(frozen=True)
class Damage:
    """Damage of an archive or of one member."""

    reason: str
    name: str = ""
    """The member's name; empty for the archive itself."""


class _Unpacker:
    """Unpacks bytes, at most `most` per call, by a decompressor of bz2 or lzma."""

    def __init__(self, decompressor: Any) -> None:
        self._object = decompressor

    def unpack(self, packed: bytes, most: int) -> bytes:
        data: bytes = self._object.decompress(packed, most)
        return data

    @property
    def wants_more(self) -> bool:
        return bool(self._object.needs_input)

    @property
    def is_at_end(self) -> bool:
        return bool(self._object.eof)

    @property
    def may_end(self) -> bool:
        """Whether the data may end here."""
        return self.is_at_end


class _Stored(_Unpacker):
    is_at_end = False
    may_end = True

    def __init__(self) -> None:
        self._held = b""

    def unpack(self, packed: bytes, most: int) -> bytes:
        data = self._held + packed
        self._held = data[most:]
        return data[:most]

    @property
    def wants_more(self) -> bool:
        return not self._held


class _Deflated(_Unpacker):
    def __init__(self) -> None:
        super().__init__(zlib.decompressobj(-15))

    def unpack(self, packed: bytes, most: int) -> bytes:
        return super().unpack(self._object.unconsumed_tail + packed, most)

    @property
    def wants_more(self) -> bool:
        return not self._object.unconsumed_tail


class _ZipLzma(_Unpacker):
    """LZMA in zip format, which has a small header of its own."""

    def __init__(self) -> None:
        super().__init__(None)
        self._head = b""

    def unpack(self, packed: bytes, most: int) -> bytes:
        if self._object is None:
            self._head += packed
            size = int.from_bytes(self._head[2:4], "little")
            if len(self._head) < 4 + size:
                return b""
            if size != 5:
                raise lzma.LZMAError("bad properties")
            code, dictionary = struct.unpack("<BI", self._head[4:9])
            chosen = {
                "id": lzma.FILTER_LZMA1,
                "lc": code % 9,
                "lp": code // 9 % 5,
                "pb": code // 45,
                "dict_size": max(4096, dictionary),
            }
            self._object = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[chosen])
            packed = self._head[9:]
        return super().unpack(packed, most)

    @property
    def wants_more(self) -> bool:
        return self._object is None or super().wants_more

    @property
    def is_at_end(self) -> bool:
        return self._object is not None and super().is_at_end


_METHODS: Final[dict[int, Callable[[], _Unpacker]]] = {
    zipfile.ZIP_STORED: _Stored,
    zipfile.ZIP_DEFLATED: _Deflated,
    zipfile.ZIP_BZIP2: lambda: _Unpacker(bz2.BZ2Decompressor()),
    zipfile.ZIP_LZMA: _ZipLzma,
}


class _Shared:
    """A file from which members are read, in any thread."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.size = file.seek(0, io.SEEK_END)

    def read(self, at: int, count: int) -> bytes:
        with self._lock:
            self._file.seek(at)
            return self._file.read(max(0, min(count, self.size - at)))


@dataclass(frozen=True)
class _Entry:
    """Place and packing of a zip member; None if unknown."""

    name: str
    begin: int
    end: int
    method: int
    is_secret: bool
    size: int | None
    checksum: int | None


class _ZipStream(RawStream):
    """The content of a zip's member, verified at its end."""

    def __init__(self, file: _Shared, entry: _Entry) -> None:
        self._file = file
        self._entry = entry
        self._at = entry.begin
        self._unpacker = _METHODS[entry.method]()
        self._size = 0
        self._checksum = 0

    def take(self, size: int) -> bytes:
        entry = self._entry
        most = size if entry.size is None else min(size, entry.size - self._size)
        data = self._next(most) if most else b""
        self._size += len(data)
        self._checksum = zlib.crc32(data, self._checksum)
        if not data and size and entry.checksum not in (None, self._checksum):
            raise zipfile.BadZipFile("its checksum is wrong")
        return data

    def _next(self, most: int) -> bytes:
        while not self._unpacker.is_at_end:
            packed = b""
            if self._unpacker.wants_more:
                packed = self._file.read(self._at, min(_FEED, self._entry.end - self._at))
                self._at += len(packed)
            # The decompressor may still have buffered output.
            data = self._unpacker.unpack(packed, most)
            if data:
                return data
            if not packed and self._unpacker.wants_more:
                break
        if self._entry.size is not None or not self._unpacker.may_end:
            raise EOFError("its data end too early")
        return b""


_LOCAL: Final = struct.Struct("<4sHHHHHIIIHH")
_LOCAL_SIGN: Final = b"PK\x03\x04"
_UNKNOWN_SIZE: Final = 8
"""The flag of a member whose sizes and checksum follow its data."""


class ZipArchive:
    """A zip in a seekable file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = _Shared(file)
        self._listed: list[zipfile.ZipInfo] = []
        self._damage = ""
        try:
            with zipfile.ZipFile(file) as archive:
                self._listed = sorted(archive.infolist(), key=lambda info: info.filename)
        except (*BROKEN, IndexError, KeyError) as error:
            self._damage = f"broken or cut short: its list of members is damaged ({error})"

    def members(self) -> Iterator[Member | Damage]:
        """Iterate over all members in the order of names, then those missing from the directory."""
        spans = []
        for info in self._listed:
            entry = _listed_entry(self._file, info)
            if isinstance(entry, Damage):
                yield entry
                continue
            spans.append((info.header_offset, entry.end))
            # An entry named as a folder that has content is a file.
            if not (info.filename.endswith("/") and entry.begin == entry.end):
                yield _opened(self._file, entry)
        unlisted = list(_unlisted(self._file, sorted(spans)))
        damage = self._damage or ("broken: its list of members is damaged" if unlisted else "")
        if damage:
            yield Damage(f"{damage}; {len(unlisted):,} members were found without it")
        for unlisted_entry in unlisted:
            yield _opened(self._file, unlisted_entry)

    def first(self, accepts: Callable[[str], bool]) -> Member | Damage | None:
        """Return the first listed member whose name is wanted."""
        info = next((info for info in self._listed if accepts(info.filename)), None)
        if info is None:
            return None
        entry = _listed_entry(self._file, info)
        return entry if isinstance(entry, Damage) else _opened(self._file, entry)


def _opened(shared: _Shared, entry: _Entry) -> Member | Damage:
    if entry.is_secret:
        return Damage("can't be unpacked: it is behind a password", entry.name)
    if entry.method not in _METHODS:
        return Damage(f"can't be unpacked: method {entry.method} is not known", entry.name)
    return Member(entry.name, io.BufferedReader(_ZipStream(shared, entry), _FEED))


def _listed_entry(shared: _Shared, info: zipfile.ZipInfo) -> _Entry | Damage:
    at = info.header_offset
    head = shared.read(at, _LOCAL.size) if at >= 0 else b""
    if len(head) < _LOCAL.size or not head.startswith(_LOCAL_SIGN):
        return Damage("broken or cut short: it is not where the list says", info.filename)
    *_, name, extra = _LOCAL.unpack(head)
    begin = at + _LOCAL.size + name + extra
    if begin + info.compress_size > shared.size:
        return Damage("broken or cut short: the archive ends within it", info.filename)
    secret = bool(info.flag_bits & 1)
    end = begin + info.compress_size
    return _Entry(info.filename, begin, end, info.compress_type, secret, info.file_size, info.CRC)


def _unlisted(shared: _Shared, spans: list[tuple[int, int]]) -> Iterator[_Entry]:
    """Find members in the gaps between listed members, and after them.

    In a truncated archive, the directory may belong to a nested archive.
    """
    at = 0
    for begin, behind in [*spans, (shared.size, shared.size)]:
        yield from _entries_between(shared, at, begin)
        at = max(at, behind)


def _entries_between(shared: _Shared, at: int, end: int) -> Iterator[_Entry]:
    while at + _LOCAL.size <= end:
        block = shared.read(at, min(_FEED, end - at))
        place = block.find(_LOCAL_SIGN)
        if place < 0:
            at += max(1, len(block) - len(_LOCAL_SIGN) + 1)
            continue
        at += place
        entry = _entry_at(shared, at, end)
        if entry is None:
            at += 1
            continue
        yield entry
        at = entry.begin if entry.size is None else entry.end


def _entry_at(shared: _Shared, at: int, end: int) -> _Entry | None:
    """Read a member's own header; None if it is invalid."""
    head = shared.read(at, _LOCAL.size)
    if len(head) < _LOCAL.size:
        return None
    _, _, flags, method, _, _, checksum, packed, size, name_size, extra_size = _LOCAL.unpack(head)
    begin = at + _LOCAL.size + name_size + extra_size
    if method not in _METHODS or not name_size or begin > end:
        return None
    raw = shared.read(at + _LOCAL.size, name_size)
    name = raw.decode("utf-8" if flags & 0x800 else "cp437", errors="replace")
    if name.endswith("/"):
        return None
    secret = bool(flags & 1)
    if flags & _UNKNOWN_SIZE or begin + packed > end:
        return _Entry(name, begin, end, method, secret, None, None)
    return _Entry(name, begin, begin + packed, method, secret, size, checksum)


_BLOCK: Final = 512
_TAR_SIGN: Final = b"ustar"
_SIGN_AT: Final = 257
_LONGEST_HEADER: Final = 1 << 20


class _Part(RawStream):
    """Read the next bytes of a stream, with a limit."""

    def __init__(self, read: Callable[[int], bytes], size: int) -> None:
        self._read = read
        self.size = self.left = size

    def take(self, size: int) -> bytes:
        data = self._read(min(size, self.left))
        if not data and self.left and size:
            raise EOFError("the archive ends within it")
        self.left -= len(data)
        return data

    def skip(self) -> None:
        """Skip the unread rest."""
        while self.left and (data := self._read(min(_FEED, self.left))):
            self.left -= len(data)


class _TarWalk:
    """Reads the blocks of a tar, damaged or not."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._held = b""
        self._at = 0
        self._lost = 0
        self._zeros = 0  # counts of blocks; two zero blocks end an archive
        self._name = ""  # for the next member, from a separate header
        self._size: int | None = None

    def members(self) -> Iterator[Member | Damage]:
        while header := self._next_header():
            if self._lost:
                yield self._damage(_BLOCK)
            if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                self._read_extension(header)
                continue
            # Links, folders and devices have no content, whatever the header's size.
            has_content = header.isreg() or header.type not in tarfile.SUPPORTED_TYPES
            size = header.size if self._size is None else self._size
            part = _Part(self._read, size if has_content else 0)
            name = self._name or header.name
            if header.type not in (tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK):
                self._name, self._size = "", None
            if header.type == tarfile.GNUTYPE_SPARSE:
                yield Damage("can't be unpacked: it is a sparse file", name)
            elif header.isreg():
                yield Member(name, io.BufferedReader(part, _FEED))
            part.skip()
            if part.left:
                break
            self._read(_padded(part.size) - part.size)
        if self._lost:
            yield self._damage(0)
        elif self._zeros < 2:
            yield Damage("broken or cut short: the archive has no end")

    def _read(self, size: int) -> bytes:
        data = self._held[:size]
        self._held = self._held[size:]
        if len(data) < size:
            data += self._stream.read(size - len(data))
        self._at += len(data)
        return data

    def _put_back(self, data: bytes) -> None:
        self._held = data + self._held
        self._at -= len(data)

    def _next_header(self) -> tarfile.TarInfo | None:
        """Read the next valid header; invalid blocks before it are lost."""
        while block := self._read(_BLOCK):
            if not any(block):
                self._zeros += 1
                continue
            self._zeros = 0
            header = _tar_header(block)
            if header is not None:
                return header
            # Bytes may be missing or inserted: find the next header by its magic number.
            window = block + self._read(_BLOCK)
            sign = window.find(_TAR_SIGN, _SIGN_AT + 1)
            begin = min(len(block), sign - _SIGN_AT) if sign >= 0 else len(block)
            self._lost += begin
            self._put_back(window[begin:])
        return None

    def _read_extension(self, header: tarfile.TarInfo) -> None:
        """Read a longer name for the next member, or its true size."""
        if header.size > _LONGEST_HEADER:
            self._lost += _BLOCK
            return
        content = self._read(_padded(header.size))
        if header.type == tarfile.GNUTYPE_LONGNAME:
            self._name = content.partition(b"\0")[0].decode(errors="replace")
        else:
            self._name, self._size = _pax(content[: header.size], self._name, self._size)

    def _damage(self, behind: int) -> Damage:
        lost, self._lost = self._lost, 0
        place = self._at - behind
        return Damage(f"broken: {lost:,} bytes before byte {place:,} are no members of the archive")


def tar_members(stream: IO[bytes]) -> Iterator[Member | Damage]:
    """Iterate over the files in a tar in order, skipping damaged headers."""
    return _TarWalk(stream).members()


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _tar_header(block: bytes) -> tarfile.TarInfo | None:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "replace")
    except (tarfile.TarError, ValueError, OverflowError):
        return None
    return header if header.size >= 0 else None


def _pax(records: bytes, name: str, size: int | None) -> tuple[str, int | None]:
    """Parse the name and size in a POSIX header for the next member."""
    while records:
        length, _, rest = records.partition(b" ")
        if (
            not length.isdigit()
            or len(length) > 9
            or not 0 < int(length) - len(length) - 1 <= len(rest)
        ):
            break
        key, _, value = rest[: int(length) - len(length) - 2].partition(b"=")
        if key == b"path":
            name = value.decode(errors="replace")
        elif key == b"size" and value.isdigit() and len(value) < 20:
            size = int(value)
        records = records[int(length) :]
    return name, size
