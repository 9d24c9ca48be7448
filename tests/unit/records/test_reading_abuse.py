# SPDX-License-Identifier: Apache-2.0
"""Input that means harm, and streams of any size, in bounded memory."""

import gzip
import os
import subprocess
import sys
import textwrap
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import hyoka as hk
from hyoka.foundation.progress import Progress
from hyoka.records import batches, read_record, reading
from hyoka.records.sources import BLOCK, size_on_disk, sources

from ..record_files import FIRST, SECOND, WTHOR_FILES, many_games, tarred, zipped

# Bytes that mean harm


def test_nul_bytes_are_blanks() -> None:
    (record,) = hk.parse_records(b"(;GM[1]SZ[9]PB[a\0b\x01\x7fc];B[ee];W[gc])")
    assert record.first == "a b  c"
    (record,) = hk.parse_records(b'[White "a\0b"]\n\n1. e4 *')
    assert record.first == "a b"


def test_a_file_of_nul_bytes_holds_no_records(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    path.write_bytes(bytes(1 << 20))
    stream = hk.read_records(path)
    assert list(stream) == []
    assert stream.faults == {"no records": 1}


@pytest.mark.parametrize("opening", [b"(", b"(;", b"(;B[aa]", b"(;C[", b"(\n"])
def test_a_million_parentheses_deep(opening: bytes, tmp_path: Path) -> None:
    path = tmp_path / "deep.sgf"
    path.write_bytes(FIRST + opening * 1_000_000)
    stream = hk.read_records(path, format="sgf")
    assert [record.first for record in stream] == ["A"]
    assert len(stream.refused) == 1
    path.write_bytes(opening * 1_000_000 + b")" * 1_000_000 + b"\n" + SECOND)
    stream = hk.read_records(path, format="sgf")
    records = list(stream)
    if not opening.endswith(b"["):
        assert [record.first for record in records] == ["B"]
        assert stream.faults == {"too large": 1}


def test_pgn_may_nest_as_deep_as_it_likes() -> None:
    text = b"1. e4 " + b"(1. d4 " * 300_000 + b") " * 300_000 + b"e5 *\n"
    (record,) = hk.parse_records(text)
    assert record.move_texts("san") == ["e4", "e5"]


FAKE_ZEROS: Final = 1 << 30


def deflated_zeros(segments: int = 64) -> bytes:
    """A raw deflate stream of `segments` times 16 MiB of zeros, quickly made."""
    packer = zlib.compressobj(9, wbits=-15)
    segment = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    return segment * segments + packer.flush()


def zip_with(name: bytes, packed: bytes, size: int) -> bytes:
    """A zip with one member, already deflated; its checksum is wrong."""
    fields = b"\x14\x00\x00\x00\x08\x00\x00\x00\x21\x50" + bytes(4)
    fields += len(packed).to_bytes(4, "little") + size.to_bytes(4, "little")
    fields += len(name).to_bytes(2, "little") + bytes(2)
    local = b"PK\x03\x04" + fields + name + packed
    central = b"PK\x01\x02\x14\x00" + fields + bytes(14) + name
    end = b"PK\x05\x06" + bytes(4) + b"\x01\x00\x01\x00" + len(central).to_bytes(4, "little")
    return local + central + end + len(local).to_bytes(4, "little") + bytes(2)


def test_a_zip_bomb_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_with(b"games.sgf", deflated_zeros(), FAKE_ZEROS))
    stream = hk.read_records(path, format="sgf")
    assert list(stream) == []
    assert [str(each) for each in stream.refused] == [
        f"{path}!games.sgf: refused: it unpacks to more than 250 times its size; "
        "nothing more of it is read"
    ]


@pytest.mark.parametrize("start", [b"", b"(;C[", b"1. e4 {", b"V2.2\nN+", b"startpos "])
def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(start: bytes, tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    path = tmp_path / "bomb.gz"
    path.write_bytes(b"\x1f\x8b\x08" + bytes(7) + packed + deflated_zeros())
    output = peak_growth(f"print(len(list(hk.read_records({str(path)!r}))), 'games')")
    assert output.startswith((b"SourceError", b"0 games"))
    assert growth_of(output) < MOST_MB


def test_archives_in_archives_come_to_an_end(tmp_path: Path) -> None:
    """A quine unpacks to itself for ever; so does this, as far as anyone can tell."""
    data = FIRST
    for depth in range(40):
        data = zipped({f"{depth}.zip": data, f"{depth}-again.zip": data}) if depth < 12 else zipped(
            {"next.zip": data}
        )  # fmt: skip
    path = tmp_path / "quine.zip"
    path.write_bytes(data)
    stream = hk.read_records(path)
    assert list(stream) == []
    assert all("refused: archives inside archives" in each.reason for each in stream.refused)
    assert stream.refused


def test_compressed_files_in_compressed_files_come_to_an_end(tmp_path: Path) -> None:
    data = FIRST
    for _ in range(30):
        data = gzip.compress(data)
    path = tmp_path / "quine.gz"
    path.write_bytes(data)
    with pytest.raises((hk.errors.SourceError, hk.errors.RefusedError)):
        read_record(path)


# Memory and streams


def peak_growth(program: str, before: str = "") -> bytes:
    """What a program prints, an error that stopped it, and by how many MB its memory grew.

    `getrusage` would not do: a new process inherits its parent's peak.
    """
    whole = (
        "import io, os, sys, threading\nimport hyoka as hk\nfrom hyoka.records import batches\n"
        "def memory(name):\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith(name)) // 1024\n"
        f"{before}\nstart = memory('VmRSS:')\ntry:\n{textwrap.indent(program, '    ')}\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "print('grew', memory('VmHWM:') - start)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", whole], capture_output=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


# The sanitizer keeps what was freed for a while, and so do its copies.
MOST_MB: Final = 2000 if os.environ.get("HYOKA_SANITIZED") else 500


def growth_of(output: bytes) -> int:
    return int(output.split()[-1])


LAZY: Final = '''
class Lazy(io.RawIOBase):
    """A stream that is made while it is read."""
    def __init__(self, head, unit, size, tail=b""):
        self.parts = [head]
        self.unit = unit * max(1, (1 << 20) // len(unit))
        self.left = size
        self.tail = tail
    def readable(self): return True
    def read(self, wanted=-1):
        while sum(map(len, self.parts)) < wanted and (self.left > 0 or self.tail):
            if self.left > 0:
                self.parts.append(self.unit)
                self.left -= len(self.unit)
            else:
                self.parts.append(self.tail)
                self.tail = b""
        data = b"".join(self.parts)
        self.parts = [data[wanted:]]
        return data[:wanted]
class Standard:
    def __init__(self, lazy): self.buffer = lazy
'''


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        (b"(;GM[1]C[", b"x"),
        (b"(;GM[1]", b";B[]"),
        (b"(;GM[1]PB[\xe9]", b"(;B[aa])"),
        (b"1. e4 {", b"x"),
        (b"1. e4 e5 ", b"2. Nf3 Nf6 3. Ng1 Ng8 "),
        (b"startpos moves ", b"7g7f "),
        (b"V2.2\nN+", b"x"),
        (b"V2.2\nPI\n+\n", b"'** 1\n"),
    ],
)
def test_a_game_of_a_gigabyte_is_refused_in_bounded_memory(head: bytes, unit: bytes) -> None:
    program = f"""
sys.stdin = Standard(Lazy({head!r}, {unit!r}, 1 << 30))
stream = hk.read_records("-")
print(len(list(stream)), stream.faults)
"""
    output = peak_growth(program, LAZY)
    assert output.startswith(b"0 {'too large': 1}"), output
    assert growth_of(output) < MOST_MB


def test_a_line_of_many_games_is_read_in_bounded_memory() -> None:
    """256 MB through a named pipe, without a single end of line."""
    filling = b"C[" + b"x" * 900 + b"]"
    game = b"(;GM[1]SZ[9]PB[A]" + filling + b";B[ee];W[gc])"
    program = f"""
path = "/tmp/hyoka-test-" + str(os.getpid())
os.mkfifo(path)
def write():
    with open(path, "wb") as pipe:
        for _ in range(256): pipe.write({game!r} * 1097)
threading.Thread(target=write, daemon=True).start()
try: print(sum(len(batch) for batch in batches([path])))
finally: os.unlink(path)
"""
    output = peak_growth(program)
    assert output.startswith(b"280832\n"), output
    assert growth_of(output) < MOST_MB


def test_a_gigabyte_of_names_beside_wthors_games_fills_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    path.write_bytes(zip_with(b"z.jou", deflated_zeros(), FAKE_ZEROS))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("games.wtb", WTHOR_FILES["WTH_1998.wtb"])
    output = peak_growth(f"print(len(list(hk.read_records({str(path)!r}))))")
    assert growth_of(output) < MOST_MB


def test_one_bad_game_does_not_make_the_rest_too_large(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A brace too many, which may mean that comments nest, must not swallow what follows."""
    monkeypatch.setattr(reading, "LONGEST_GAME", 1 << 20)
    path = tmp_path / "games.pgn"
    good = "1. e4 e5 {" + "x" * 1000 + "} 2. Nf3 *\n\n"
    path.write_text("1. e4 { a { b } Ke3 *\n\n" + 4000 * good)
    stream = hk.read_records(path)
    assert len(list(stream)) == 4000
    assert stream.faults == {"illegal move": 1}


def test_text_around_games_does_not_count_as_a_game(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reading, "LONGEST_GAME", 1 << 20)
    path = tmp_path / "games.sgf"
    path.write_bytes(FIRST + b"words and words\n" * 300_000 + SECOND)
    stream = hk.read_records(path)
    assert [record.first for record in stream] == ["A", "B"]
    assert stream.refused == []


def test_a_game_may_be_as_long_as_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reading, "LONGEST_GAME", 1 << 22)
    path = tmp_path / "games.sgf"
    path.write_bytes(b"(;GM[1]SZ[9]C[" + b"x\n" * (2_000_000) + b"];B[ee])\n" + FIRST)
    assert len(list(hk.read_records(path))) == 2
    path.write_bytes(FIRST + b"(;GM[1]SZ[9]C[" + b"x\n" * (4_000_000) + b"];B[ee])\n")
    stream = hk.read_records(path)
    assert len(list(stream)) == 1
    assert stream.faults == {"too large": 1}
    assert stream.refused[0].number == 2


def test_a_record_is_given_before_the_writer_has_finished() -> None:
    """A live stream: the writer goes on only when the reader has something."""
    program = """
import hyoka as hk, os, threading
path = "/tmp/hyoka-live-" + str(os.getpid())
os.mkfifo(path)
got = threading.Event()
def write():
    with open(path, "wb") as pipe:
        pipe.write(b"(;GM[1]SZ[9];B[ee];W[gc])\\n" * 200_000)
        pipe.flush()
        got.wait()
threading.Thread(target=write, daemon=True).start()
try:
    print(hk.records.read_record(path).game)
finally:
    os.unlink(path)
    os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-u", "-c", program], capture_output=True, timeout=30, check=False
    )
    assert done.stdout == b"go9\n", done.stderr


def read_ahead_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "read-ahead" in thread.name]


def test_no_thread_outlives_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(many_games(8 << 20))
    read_record(path)
    found: Iterator[object] = batches([path])
    next(found)
    del found
    assert read_ahead_threads() == []


@pytest.mark.parametrize("kind", ["plain", "gz", "zip", "zip in gz", "tar.xz"])
def test_progress_adds_up_to_the_size_on_disk(kind: str, tmp_path: Path) -> None:
    data = many_games(3 << 20)
    files = {"a": data, "b": data}
    packed = {
        "plain": lambda: data,
        "gz": lambda: gzip.compress(data, 1),
        "zip": lambda: zipped(files),
        "zip in gz": lambda: gzip.compress(zipped(files), 1),
        "tar.xz": lambda: tarred(files, "w:xz"),
    }[kind]()
    path = tmp_path / "games"
    path.write_bytes(packed)
    steps: list[Progress] = []
    assert sum(len(batch) for batch in batches([path], progress=steps.append)) > 0
    size = size_on_disk([path])
    assert size == len(packed) == steps[-1].total
    assert steps[-1].done == size
    read: list[int] = []
    for source in sources([path], on_bytes=read.append):
        deque(source.blocks(), 0)
    # To find a zip's list of members, its first block is read twice.
    assert size <= sum(read) < 1.05 * size + BLOCK
