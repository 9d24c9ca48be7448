# SPDX-License-Identifier: Apache-2.0
"""Damages archives and compressed files, and looks what becomes of the games in them.

    .venv/bin/python scripts/attack/archives.py --inputs 100000 --seed 1

Nothing may be raised, and no game may be missing without a word.
"""

import bz2
import functools
import gzip
import io
import lzma
import random
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import hyoka as hk
from attack.mutations import Try, main, mutated

WORDS = (
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x07\x08", b"PK\x06\x06", b"PK\x06\x07"),
    *(b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"ustar", b"\x00" * 512),
    *(
        b"\x00",
        b"\xff\xff\xff\xff",
        b"\xff" * 8,
        b"/",
        b"0000000",
        b"7777777",
        b"\x80" + b"\xff" * 11,
    ),
)
GAMES = tuple(b"(;GM[1]SZ[9]PB[game %d];B[ee];W[gc];B[cc];W[cg];B[gg])\n" % i for i in range(12))
MEMBERS = {f"folder/{number:02}.sgf": game for number, game in enumerate(GAMES)}
NAMES = [f"game {number}" for number in range(len(GAMES))]


def zipped(members: dict[str, bytes], method: int) -> bytes:
    """A zip."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return sink.getvalue()


def tarred(members: dict[str, bytes], format: int = tarfile.GNU_FORMAT) -> bytes:
    """A tar without compression."""
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:", format=format) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return sink.getvalue()


def _split(pack: Callable[[dict[str, bytes]], bytes]) -> dict[str, bytes]:
    """The games in three archives."""
    items = list(MEMBERS.items())
    return {f"{part}.packed": pack(dict(items[4 * part : 4 * part + 4])) for part in range(3)}


@functools.cache
def archives() -> dict[str, bytes]:
    """The same games packed in every way."""
    deflated = functools.partial(zipped, method=zipfile.ZIP_DEFLATED)
    text = b"".join(GAMES)
    long_names = {f"{name}{120 * 'é'}": data for name, data in MEMBERS.items()}
    return {
        "zip stored": zipped(MEMBERS, zipfile.ZIP_STORED),
        "zip deflated": deflated(MEMBERS),
        "zip bzip2": zipped(MEMBERS, zipfile.ZIP_BZIP2),
        "zip lzma": zipped(MEMBERS, zipfile.ZIP_LZMA),
        "tar": tarred(MEMBERS),
        "tar pax": tarred(long_names, tarfile.PAX_FORMAT),
        "tar.gz": gzip.compress(tarred(MEMBERS)),
        "tar.bz2": bz2.compress(tarred(MEMBERS)),
        "tar.xz": lzma.compress(tarred(MEMBERS)),
        "gz": gzip.compress(text),
        "bz2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zip in zip": zipped(_split(deflated), zipfile.ZIP_STORED),
        "tar in zip": deflated(_split(tarred)),
        "zip in tar": tarred(_split(deflated)),
        "tar.gz in tar": tarred(_split(lambda members: gzip.compress(tarred(members)))),
    }  # fmt: skip


def read(data: bytes) -> tuple[list[str], list[str]]:
    """The names of the games in a file of these bytes, and what is reported about the others."""
    with tempfile.NamedTemporaryFile(dir=_folder()) as file:
        file.write(data)
        file.flush()
        stream = hk.read_records(file.name)
        names = [record.first for record in stream]
    return names, [str(each) for each in stream.refused]


def attack(name: str) -> Try:
    """The archive, damaged."""
    packed = archives()[name]

    def attempt(draw: random.Random) -> str:
        data = mutated(draw, packed, WORDS)
        found, refused = read(data)
        # What a tar holds has no checksum: a game may have become another. A file cut to nothing
        # is a file without games.
        if data and len(found) < len(NAMES) and not refused:
            return f"{sorted(set(NAMES) - set(found))} are gone without a word, in {data!r}"
        return ""

    return attempt


@functools.cache
def _folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


if __name__ == "__main__":
    main({name: attack(name) for name in archives()})
