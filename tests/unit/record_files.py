# SPDX-License-Identifier: Apache-2.0
"""What the tests of sources share: packed files, games in number, WTHOR's tables of names."""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

import hyoka as hk

GAME: Final = b"(;GM[1]SZ[9]PB[%s];B[ee];W[gc])\n"
FIRST, SECOND = GAME % b"A", GAME % b"B"


def names(*paths: str | Path) -> list[str]:
    return [record.first for record in hk.read_records(*paths)]


def broken(path: Path) -> str:
    """Why a file, or a member of it, can't be read; such a file stops nothing unless strict."""
    stream = hk.read_records(path)
    list(stream)
    refused = next(each for each in stream.refused if each.fault == "broken file")
    # The game that it breaks off in may be refused before.
    first = str(stream.refused[0])
    with pytest.raises(hk.errors.RefusedError, match=re.escape(first)):
        list(hk.read_records(path, strict=True))
    return str(refused)


def zstd(data: bytes) -> bytes:
    sink = io.BytesIO()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
        stream.flush()
        sink.flush()
        packed = sink
        packed.close = lambda: None  # type: ignore[method-assign]  # the stream closes what it is given
    return packed.getvalue()


COMPRESSIONS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}
for_every_compression = pytest.mark.parametrize("kind", COMPRESSIONS)


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return sink.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:", format: int = tarfile.GNU_FORMAT) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode=mode, format=format) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return sink.getvalue()


def many_games(bytes_wanted: int) -> bytes:
    """Games that don't compress to nothing."""
    out = io.BytesIO()
    number = 0
    while out.tell() < bytes_wanted:
        out.write(GAME % f"{number * 2654435761 % 2**32:x}".encode())
        number += 1
    return out.getvalue()


def latin1_table(size: int, *entries: str) -> bytes:
    header = bytes([20, 1, 1, 1]) + len(entries).to_bytes(4, "little") + bytes(8)
    return header + b"".join(entry.encode("latin-1").ljust(size, b"\0") for entry in entries)


WTHOR_FILES: Final = {
    "WTHOR.JOU": latin1_table(20, "Nobody", "Tamenori Hideshi", "Fr\u00e9d\u00e9ric Auzende"),
    "WTHOR.TRN": latin1_table(26, "Divers", "Championnat du Monde"),
    "WTH_1998.wtb": bytes([20, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    + (1998).to_bytes(2, "little")
    + bytes([8, 0, 22, 0])
    + bytes([1, 0, 1, 0, 2, 0, 40, 40, 56, 64, 33])
    + bytes(57),
}
