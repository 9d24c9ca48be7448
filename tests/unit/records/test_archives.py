# SPDX-License-Identifier: Apache-2.0
"""Archives that are damaged or mean harm: what is sound in them is read, the rest is named."""

import gzip
import io
import json
import lzma
import signal
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka import _core
from hyoka.apps.cli import run
from hyoka.records import archives as unpacking
from hyoka.records import sources as record_sources
from hyoka.records.sources import sources
from hyoka.storage.files import open_regular
from hyoka.study import make_study

from ..record_files import FIRST, GAME, SECOND, WTHOR_FILES, latin1_table, tarred, zipped

MEMBERS = {f"{number:02}.sgf": GAME % f"g{number}".encode() for number in range(10)}
NAMES = [f"g{number}" for number in range(10)]


def read(path: Path) -> tuple[list[str], list[str]]:
    """The games' names, and what could not be read."""
    stream = hk.read_records(path)
    names = [record.first for record in stream]
    assert set(stream.faults) <= {"broken file"}
    assert stream.unread == len(stream.refused)
    return names, [str(each) for each in stream.refused]


# Tar


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:xz"])
def test_a_damaged_header_of_a_tar_loses_one_member(mode: str, tmp_path: Path) -> None:
    packed = bytearray(tarred(MEMBERS))
    packed[packed.index(b"04.sgf") + 148] ^= 0x55  # in the checksum
    path = tmp_path / "games.tar"
    packer: dict[str, Callable[[bytes], bytes]] = {
        "w:": bytes,
        "w:gz": gzip.compress,
        "w:xz": lzma.compress,
    }
    path.write_bytes(packer[mode](bytes(packed)))
    names, (problem,) = read(path)
    assert names == [name for name in NAMES if name != "g4"]
    assert "games.tar: broken: 1,024 bytes" in problem


@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
def test_long_names_and_what_follows_them(format: int, tmp_path: Path) -> None:
    long = "f" * 90 + "/" + "é" * 40 + ".sgf"
    packed = tarred({long: FIRST, "z.sgf": SECOND}, format=format)
    path = tmp_path / "games.tar"
    path.write_bytes(packed)
    found = [record.source for record in hk.read_records(path)]
    assert found == [f"{path}!{long}", f"{path}!z.sgf"]


def test_a_hole_of_zeros_in_a_tar_is_not_its_end(tmp_path: Path) -> None:
    packed = bytearray(tarred(MEMBERS))
    packed[2048:4096] = bytes(2048)
    path = tmp_path / "games.tar"
    path.write_bytes(packed)
    names, _ = read(path)
    assert names == [*NAMES[:2], *NAMES[4:]]


@pytest.mark.parametrize("blocks", [2, 3, 7])
def test_a_tar_cut_between_or_within_members_says_so(blocks: int, tmp_path: Path) -> None:
    path = tmp_path / "games.tar"
    path.write_bytes(tarred(MEMBERS)[: 512 * blocks])
    names, problems = read(path)
    assert names == NAMES[: blocks // 2]
    assert any("broken or cut short" in problem for problem in problems)


# Zip


def damaged_list(packed: bytearray) -> None:
    packed[packed.index(b"PK\x01\x02")] ^= 0xFF


def damaged_entry(packed: bytearray) -> None:
    """The list says that the fifth member is elsewhere."""
    at = packed.index(b"04.sgf", packed.index(b"PK\x01\x02"))
    packed[at - 4] ^= 0x10


def damaged_end(packed: bytearray) -> None:
    packed[packed.rindex(b"PK\x05\x06") + 1] ^= 0xFF


def short_list(packed: bytearray) -> None:
    """The end says that the list has half its size, so that Python finds half the members."""
    end = packed.rindex(b"PK\x05\x06")
    size = int.from_bytes(packed[end + 12 : end + 16], "little")
    start = int.from_bytes(packed[end + 16 : end + 20], "little")
    packed[end + 12 : end + 16] = (size // 2).to_bytes(4, "little")
    del packed[start + size // 2 : end]


def no_end(packed: bytearray) -> None:
    del packed[packed.index(b"PK\x01\x02") :]


@pytest.mark.parametrize("damage", [damaged_list, damaged_entry, damaged_end, short_list, no_end])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_members_are_found_without_a_zips_list(
    damage: Callable[[bytearray], None], method: int, tmp_path: Path
) -> None:
    packed = bytearray(zipped(MEMBERS, method))
    damage(packed)
    path = tmp_path / "games.zip"
    path.write_bytes(packed)
    names, problems = read(path)
    assert sorted(names) == NAMES
    assert any("list of members is damaged" in problem for problem in problems)


def test_a_zip_written_to_a_pipe_is_read_without_its_list(tmp_path: Path) -> None:
    """Its members' sizes stand behind them."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

        def tell(self) -> int:
            raise io.UnsupportedOperation

    sink = Pipe()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in MEMBERS.items():
            archive.writestr(name, data)
    path = tmp_path / "games.zip"
    path.write_bytes(sink.getvalue())
    assert read(path) == (NAMES, [])
    packed = bytearray(sink.getvalue())
    damaged_list(packed)
    path.write_bytes(packed)
    names, problems = read(path)
    assert (sorted(names), len(problems)) == (NAMES, 1)


def test_a_member_called_a_folder_is_read_if_it_has_content(tmp_path: Path) -> None:
    packed = bytearray(zipped(MEMBERS))
    at = packed.index(b"04.sgf", packed.index(b"PK\x01\x02"))
    packed[at + 5] = ord("/")
    path = tmp_path / "games.zip"
    path.write_bytes(packed)
    names, _ = read(path)
    assert sorted(names) == NAMES


# Bombs


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_no_packing_is_unpacked_all_at_once(method: int, tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    path.write_bytes(zipped({"zeros.sgf": bytes(32 << 20)}, method))
    (source,) = sources([path])
    tracemalloc.start()
    try:
        size = sum(len(block) for block in source.blocks())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 32 << 20
    assert peak < 16 << 20  # half of it; threads and modules of others are counted in


def test_limits_are_for_all_members_together(tmp_path: Path) -> None:
    """Each unpacks to less than the floor; all together to far more than they may."""
    member = zipped({"x.sgf": FIRST + b"\n" * (10 << 20)})
    path = tmp_path / "many.zip"
    path.write_bytes(zipped({f"{number:03}.zip": member for number in range(40)}))
    assert path.stat().st_size < 100_000
    names, problems = read(path)
    (problem,) = problems
    assert 3 <= len(names) < 15
    assert "nothing more of it is read" in problem


def test_a_bomb_in_a_folder_leaves_the_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"x.sgf": FIRST + b"\n" * (100 << 20)}))
    (tmp_path / "b.zip").write_bytes(zipped({"x.sgf": SECOND}))
    names, problems = read(tmp_path)
    assert names[-1] == "B"
    assert len(problems) == 1


def deep_zip() -> bytes:
    """Twenty-seven thousand members in less than a hundred thousand bytes."""
    data = FIRST
    for _ in range(3):
        data = zipped({f"{number}.zip": data for number in range(30)})
    assert len(data) < 100_000
    return data


def test_zips_in_zips_in_zips_end_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_MEMBERS_FLOOR", 200)
    path = tmp_path / "deep.zip"
    path.write_bytes(deep_zip())
    names, problems = read(path)
    assert 100 < len(names) < 200 + path.stat().st_size // 64
    assert "members; nothing more of it is read" in problems[-1]


def test_a_signal_ends_the_reading_of_archives_soon(tmp_path: Path) -> None:
    path = tmp_path / "deep.zip"
    path.write_bytes(deep_zip())
    program = f"""
import signal
from hyoka.records.sources import sources
from hyoka.storage.files import open_regular
signal.signal(signal.SIGTERM, signal.default_int_handler)
found = sources([{str(path)!r}] * 100)
list(next(found).blocks())
print("ready", flush=True)
for source in found: list(source.blocks())
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        try:
            # An interrupt that comes while an archive is being closed may end in that one's error.
            assert process.wait(timeout=20) != 0
        finally:
            process.kill()


# One bad file among others


def test_a_file_that_has_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.sgf", "b.sgf"):
        (tmp_path / name).write_bytes(FIRST)

    def open_or_fail(path: str | Path, **arguments: bool) -> object:
        if Path(path).name == "a.sgf":
            raise OSError(22, "Invalid argument")
        return open_regular(path, **arguments)

    monkeypatch.setattr(record_sources, "open_regular", open_or_fail)
    names, (problem,) = read(tmp_path)
    assert names == ["A"]
    assert problem == f"{tmp_path / 'a.sgf'}: can't be read: Invalid argument"


def test_the_exit_code_tells_that_not_all_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = bytearray(tarred(MEMBERS))
    packed[packed.index(b"04.sgf") + 148] ^= 0x55
    path = tmp_path / "games.tar"
    path.write_bytes(packed)
    assert run(["records", "info", str(path), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["unread"], found["refused"]) == (1, {"broken file": 1})
    assert run(["study", "create", str(tmp_path / "study"), str(path), "--json", "-q"]) == 3
    assert json.loads(capsys.readouterr().out)["unread"] == 1
    assert run(["records", "convert", str(path), "-o", str(tmp_path / "out.sgf"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["unread"] == 1
    path.write_bytes(tarred(MEMBERS))
    assert run(["records", "info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unread"] == 0
    (tmp_path / "bad.pgn").write_text("1. e4 e5 2. Ke3 *\n\n1. e4 *\n")
    assert run(["records", "info", str(tmp_path / "bad.pgn")]) == 0  # it was read, and refused


# Names beside WTHOR's games


@pytest.mark.parametrize("suffix", [".JOU", ".TRN"])
@pytest.mark.parametrize("size", [3, 15, 30, 45])
def test_a_damaged_table_of_names_is_left_out_and_named(
    suffix: str, size: int, tmp_path: Path
) -> None:
    files = dict(WTHOR_FILES)
    files[f"WTHOR{suffix}"] = files[f"WTHOR{suffix}"][:size]
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    stream = hk.read_records(tmp_path)
    (record,) = stream
    assert record.first == ("" if suffix == ".JOU" else "Tamenori Hideshi")
    assert record.event == ("" if suffix == ".TRN" else "Championnat du Monde")
    (refused,) = stream.refused
    assert refused.fault == "broken file"
    assert f"{suffix.lower()} beside it are left out" in refused.reason


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_names_that_cannot_be_unpacked_do_not_stop_the_games(
    pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path
) -> None:
    large = latin1_table(20, *[f"{number * 2654435761 % 2**32:x}" for number in range(999)])
    packed = bytearray(pack({**WTHOR_FILES, "WTHOR.JOU": large}))
    at = packed.index(b"WTHOR.JOU")
    packed[at + 600 : at + 700] = b"\xff" * 100
    path = tmp_path / "games"
    path.write_bytes(packed)
    records = list(hk.read_records(path))
    assert len(records) == 1


# Files with several games, and endless ones


def test_several_games_in_a_file_and_a_condition_that_chooses_one(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(b"(;GM[2]PB[A];B[f5];W[d6])\n" + SECOND + b"(;GM[2]PB[C];B[f5])\n")
    with pytest.raises(hk.errors.StudyError, match="`where=\"game = 'go9'\"`"):
        make_study(tmp_path / "mixed", [path])
    for game, count in (("go9", 1), ("othello", 2)):
        study, report = make_study(tmp_path / game, [path], where=f"game = '{game}'")
        assert (study.game, report.games, report.left_out) == (game, count, 3 - count)
    lines = tmp_path / "games.txt"
    lines.write_text("startpos moves 7g7f 3c3d\nstartpos moves e2e4 e7e5\n")
    for game in ("chess", "shogi"):
        study, report = make_study(tmp_path / game, [lines], where=f"game = '{game}'")
        assert (study.game, report.games) == (game, 1)


def test_a_color_in_a_condition_is_each_games_own(tmp_path: Path) -> None:
    """White is the first player in chess, the second in shogi."""
    path = tmp_path / "games.zip"
    chess = b'[White "W"]\n[Black "B"]\n\n1. e4 *\n'
    path.write_bytes(zipped({"a.pgn": chess, "b.csa": b"V2.2\nN+B\nN-W\nPI\n+\n+7776FU\n"}))
    for game in ("chess", "shogi"):
        condition = f"white = 'W' and game = '{game}'"
        _, report = make_study(tmp_path / game, [path], where=condition)
        assert report.games == 1


def test_an_endless_game_is_not_read_again_at_every_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []

    class Counted:
        def __init__(self, *arguments: Any) -> None:
            self._reader = original(*arguments)

        def read(self, data: bytes, last: bool) -> object:
            given.append(len(data))
            return self._reader.read(data, last)

    original = _core.Reader
    monkeypatch.setattr(_core, "Reader", Counted)
    path = tmp_path / "endless.sgf"
    size = 40 << 20
    path.write_bytes(b"(;GM[1]C[" + b"a long comment\n" * (size // 15))
    list(hk.read_records(path))
    assert sum(given) < 4 * size
