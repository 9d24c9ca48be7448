# SPDX-License-Identifier: Apache-2.0
"""Where records come from: names, folders, pipes, compressed files, archives."""

import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.foundation.errors import RefusedError
from hyoka.foundation.progress import Progress
from hyoka.records import batches, read_record

from ..record_files import (
    COMPRESSIONS,
    FIRST,
    GAME,
    SECOND,
    WTHOR_FILES,
    broken,
    for_every_compression,
    many_games,
    names,
    tarred,
    zipped,
    zstd,
)

# Names of files


def test_a_file_is_named_by_text_or_path(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(FIRST)
    assert names(path) == names(str(path)) == ["A"]
    (record,) = hk.read_records(path)
    assert (record.source, record.line, record.number) == (str(path), 1, 1)


def test_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(GAME % name.encode())
    assert names(tmp_path / "c", tmp_path / "a", tmp_path / "b") == ["c", "a", "b"]


def test_patterns_and_folders_are_read_by_name(tmp_path: Path) -> None:
    for name in ("b.sgf", "a.sgf", "deep/er/c.sgf", ".hidden/d.sgf", "deep/.e.sgf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(GAME % name.encode())
    assert names(tmp_path) == ["a.sgf", "b.sgf", "deep/er/c.sgf"]
    assert names(f"{tmp_path}/*.sgf") == ["a.sgf", "b.sgf"]
    assert names(f"{tmp_path}/**/c.sgf") == ["deep/er/c.sgf"]
    assert names(f"{tmp_path}/d*") == ["deep/er/c.sgf"]


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path: Path) -> None:
    (tmp_path / "game[1].sgf").write_bytes(FIRST)
    (tmp_path / "game1.sgf").write_bytes(SECOND)
    assert names(tmp_path / "game[1].sgf") == ["A"]


@pytest.mark.parametrize("name", ["nothing.sgf", "*.sgf", "empty", "gone", "x" * 5000, "a\0b"])
def test_what_names_no_file_is_an_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(hk.errors.SourceError):
        names(f"{tmp_path}/{name}")


def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    """A pipe found in a folder or by a pattern is not opened; one given by name is read."""
    (tmp_path / "game.sgf").write_bytes(FIRST)
    os.mkfifo(tmp_path / "pipe.sgf")
    (tmp_path / "link.sgf").symlink_to("pipe.sgf")
    for source in (tmp_path, f"{tmp_path}/*", f"{tmp_path}/*.sgf"):
        assert names(source) == ["A"]
    with pytest.raises(hk.errors.SourceError, match="no such file"):
        names(f"{tmp_path}/p*")
    (tmp_path / "othello.wtb").write_bytes(WTHOR_FILES["WTH_1998.wtb"])
    os.mkfifo(tmp_path / "names.jou")
    assert list(hk.read_records(tmp_path / "othello.wtb"))


def test_a_link_to_its_own_folder_is_walked_once(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_bytes(FIRST)
    (tmp_path / "again").symlink_to(tmp_path)
    assert names(tmp_path) == ["A"]


def test_names_that_are_not_utf8_do_no_harm(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xe9.sgf"
    Path(os.fsdecode(path)).write_bytes(FIRST)
    (batch,) = batches([tmp_path])
    assert batch.arrow().num_rows == 1


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (FIRST + SECOND, gzip.compress(FIRST + SECOND)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        (first, second) = hk.read_records("-")
        assert (first.first, second.first) == ("A", "B")
        assert first.source == "standard input"


def test_archives_come_through_a_pipe(tmp_path: Path) -> None:
    """Neither can be wound back; a zip's list of members is at its end."""
    program = "import hyoka as hk; print([record.first for record in hk.read_records('-')])"
    for data in (zipped({"a": FIRST, "b": SECOND}), tarred({"a": FIRST, "b": SECOND}, "w:gz")):
        done = subprocess.run(
            [sys.executable, "-c", program], input=data, capture_output=True, check=False
        )
        assert done.stdout == b"['A', 'B']\n", done.stderr


@pytest.mark.parametrize("kind", ["plain", "utf-16", "gz", "zst", "zip", "tar"])
def test_a_pipe_may_bring_its_bytes_one_by_one(kind: str) -> None:
    packed = {
        "plain": FIRST,
        "utf-16": FIRST.decode().encode("utf-16"),
        "zip": zipped({"a": FIRST}),
        "tar": tarred({"a": FIRST}),
    }.get(kind) or COMPRESSIONS[kind](FIRST)
    program = (
        "import hyoka as hk; print('ready', flush=True)\n"
        "print([record.first for record in hk.read_records('-')])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        for piece in (packed[:1], packed[1:2], packed[2:5], packed[5:200], packed[200:]):
            time.sleep(0.1)
            process.stdin.write(piece)
        process.stdin.close()
        assert process.stdout.read() == b"['A']\n"


# What is compressed, and archives


@for_every_compression
def test_compressed_files_are_known_by_their_bytes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "no-suffix"
    path.write_bytes(COMPRESSIONS[kind](FIRST + SECOND))
    assert names(path) == ["A", "B"]


@for_every_compression
def test_compressed_pieces_follow_one_another(kind: str, tmp_path: Path) -> None:
    """As `cat a.gz b.gz` makes them; all four formats allow it."""
    path = tmp_path / "games"
    path.write_bytes(COMPRESSIONS[kind](FIRST) + COMPRESSIONS[kind](SECOND))
    assert names(path) == ["A", "B"]


def test_a_file_may_be_compressed_twice(tmp_path: Path) -> None:
    path = tmp_path / "games"
    path.write_bytes(lzma.compress(gzip.compress(FIRST)))
    assert names(path) == ["A"]


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_members_of_a_zip_are_sources(method: int, tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    path.write_bytes(zipped({"b.sgf": SECOND, "in/a.sgf": FIRST, "empty/": b""}, method))
    assert [(record.first, record.source) for record in hk.read_records(path)] == [
        ("B", f"{path}!b.sgf"),
        ("A", f"{path}!in/a.sgf"),
    ]


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_members_of_a_tar_are_sources(mode: str, format: int, tmp_path: Path) -> None:
    path = tmp_path / "games"
    path.write_bytes(tarred({"b.sgf": SECOND, "in/a.sgf": FIRST}, mode, format))
    assert [(record.first, record.source) for record in hk.read_records(path)] == [
        ("B", f"{path}!b.sgf"),
        ("A", f"{path}!in/a.sgf"),
    ]


def test_a_tar_may_be_packed_with_zstd(tmp_path: Path) -> None:
    path = tmp_path / "games"
    path.write_bytes(zstd(tarred({"a": FIRST})))
    assert names(path) == ["A"]


def test_archives_stand_in_archives(tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    inner = {
        "1.sgf.xz": lzma.compress(FIRST),
        "2.tar.gz": tarred({"x": SECOND}, "w:gz"),
        "3.zip": zipped({"y": gzip.compress(FIRST)}),
    }
    path.write_bytes(zipped(inner))
    assert [record.source for record in hk.read_records(path)] == [
        f"{path}!1.sgf.xz",
        f"{path}!2.tar.gz!x",
        f"{path}!3.zip!y",
    ]
    path.write_bytes(tarred(inner))
    assert names(path) == ["A", "B", "A"]


def test_names_in_an_archive_reach_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.jou").write_bytes(b"")
    path = tmp_path / "games.zip"
    path.write_bytes(zipped({"../../etc/a.sgf": FIRST, "/b.sgf": SECOND}))
    assert sorted(names(path)) == ["A", "B"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["games.zip", "secret.jou"]


def test_links_and_devices_in_a_tar_are_passed_over(tmp_path: Path) -> None:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(f"special{kind!r}")
            member.type = kind
            member.linkname = "/etc/passwd"
            archive.addfile(member)
        member = tarfile.TarInfo("a.sgf")
        member.size = len(FIRST)
        archive.addfile(member, io.BytesIO(FIRST))
    path = tmp_path / "games.tar"
    path.write_bytes(sink.getvalue())
    assert names(path) == ["A"]


# What is broken


@for_every_compression
def test_a_file_cut_short_is_an_error_that_names_it(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"games.{kind}"
    packed = COMPRESSIONS[kind](many_games(1 << 16))
    for size in (len(packed) // 2, len(packed) - 3, 12):
        path.write_bytes(packed[:size])
        assert f"games.{kind}: broken or cut short" in broken(path)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])  # zstd's checksum is optional
def test_a_file_with_a_wrong_byte_is_an_error_that_names_it(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"games.{kind}"
    packed = bytearray(COMPRESSIONS[kind](many_games(1 << 16)))
    packed[len(packed) // 2] ^= 0xFF
    packed[len(packed) // 2 + 1] ^= 0xFF
    path.write_bytes(packed)
    assert f"games.{kind}: broken or cut short" in broken(path)


@pytest.mark.parametrize("part", [0.3, 0.9, 0.999])
def test_a_zip_cut_short_is_an_error(part: float, tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    packed = zipped({"a": many_games(1 << 16), "b": FIRST})
    path.write_bytes(packed[: int(part * len(packed))])
    assert "games.zip" in broken(path)


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:xz"])
def test_a_tar_cut_short_is_an_error(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "games.tar"
    packed = tarred({"a": FIRST, "b": many_games(1 << 16)}, mode)
    path.write_bytes(packed[: len(packed) // 2])
    assert "games.tar" in broken(path)


def test_a_wrong_member_of_a_zip_is_named(tmp_path: Path) -> None:
    packed = bytearray(zipped({"a.sgf": FIRST, "b.sgf": many_games(1 << 16)}))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "games.zip"
    path.write_bytes(packed)
    assert "games.zip!b.sgf" in broken(path)


def test_a_zip_behind_a_password_is_an_error(tmp_path: Path) -> None:
    packed = bytearray(zipped({"a.sgf": FIRST}))
    packed[6] |= 1  # in the member's own header, and in the list
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "games.zip"
    path.write_bytes(packed)
    assert "password" in broken(path)


def test_what_comes_before_the_damage_is_read(tmp_path: Path) -> None:
    path = tmp_path / "games.gz"
    data = many_games(4 << 20)
    packed = gzip.compress(data, 1)
    path.write_bytes(packed[: len(packed) * 3 // 4])
    stream = hk.read_records(path)
    read = list(stream)
    assert stream.faults == {"broken file": 1}
    assert len(read) > 0.45 * data.count(b"\n")


# Files without games


def test_empty_files_hold_no_games(tmp_path: Path) -> None:
    for data in (b"", gzip.compress(b""), lzma.compress(b""), zipped({"a": b""}), zipped({})):
        path = tmp_path / "file"
        path.write_bytes(data)
        stream = hk.read_records(path)
        assert list(stream) == []
        assert stream.refused == []
        with pytest.raises(hk.errors.SourceError, match="no record"):
            read_record(path)


@pytest.mark.parametrize("data", [b"Dear Sir,\nno game here.\n", b"\x89PNG\r\n\x1a\n" + bytes(999)])
def test_a_file_of_something_else_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(data)
    (tmp_path / "zz.sgf").write_bytes(FIRST)
    stream = hk.read_records(tmp_path)
    assert [record.first for record in stream] == ["A"]
    assert stream.faults == {"no records": 1}
    assert str(stream.refused[0]).startswith(f"{tmp_path / 'other'}: no records")
    with pytest.raises(hk.errors.RefusedError, match="no records"):
        read_record(tmp_path / "other")


def test_what_lies_beside_records_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Games\n")
    (tmp_path / "MANIFEST.tsv").write_text("file\tplies\n")
    (tmp_path / "game.sgf").write_bytes(FIRST)
    stream = hk.read_records(tmp_path)
    assert len(list(stream)) == 1
    assert stream.refused == []


def test_a_file_named_outright_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "game.md"
    path.write_bytes(FIRST)
    assert names(path) == ["A"]


# WTHOR's games find their names in other files


def check_names(*paths: Path) -> None:
    (record,) = hk.read_records(*paths)
    assert (record.first, record.second) == ("Tamenori Hideshi", "Frédéric Auzende")
    assert (record.event, record.date) == ("Championnat du Monde", "1998")
    assert record.move_texts() == ["f5", "d6", "c3"]


@pytest.mark.parametrize("lower", [False, True])
def test_wthors_names_are_found_beside_its_games(lower: bool, tmp_path: Path) -> None:
    files = {name.lower() if lower else name: data for name, data in WTHOR_FILES.items()}
    folder = tmp_path / "in" / "side"
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    check_names(folder)
    check_names(next(folder.glob("*.wtb")))
    inside = {f"in/side/{name}": data for name, data in files.items()}
    for archive in (zipped(inside), tarred(inside), tarred(inside, "w:xz")):
        path = tmp_path / "archive"
        path.write_bytes(archive)
        check_names(path)
        path.write_bytes(zipped({"inner": archive}))
        check_names(path)


def test_wthors_games_are_read_without_names(tmp_path: Path) -> None:
    path = tmp_path / "games.wtb"
    path.write_bytes(WTHOR_FILES["WTH_1998.wtb"])
    (record,) = hk.read_records(path)
    assert (record.first, record.second, record.event) == ("", "", "")


def test_another_folders_names_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    path.write_bytes(
        zipped({("b/" if "wtb" in name else "a/") + name: d for name, d in WTHOR_FILES.items()})
    )
    (record,) = hk.read_records(path)
    assert (record.first, record.event) == ("", "")


def large_files(folder: Path) -> list[Path]:
    """Files of games that threads read, and small ones between them."""
    files = []
    for number, games in enumerate((20_000, 1, 30_000, 2, 25_000)):
        text = "".join(
            f'[Event "{number}/{game}"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
            for game in range(games)
        )
        path = folder / f"{number}.pgn"
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return files


def test_files_read_at_once_come_in_their_order(tmp_path: Path) -> None:
    files = large_files(tmp_path)
    heard: list[Progress] = []
    together = [
        event
        for batch in batches(files, progress=heard.append)
        for event in batch.arrow()["event"].to_pylist()
    ]
    one_by_one = [
        event
        for file in files
        for batch in batches([file])
        for event in batch.arrow()["event"].to_pylist()
    ]
    assert together == one_by_one
    assert len(together) == 75_003
    assert heard[-1].done == heard[-1].total == sum(file.stat().st_size for file in files)


def test_reading_at_once_ends_with_its_reader(tmp_path: Path) -> None:
    files = large_files(tmp_path)
    (tmp_path / "2.pgn").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(2 << 20))
    reading = batches(files)
    next(reading)
    del reading
    assert not [each for each in threading.enumerate() if each.name.startswith("hyoka-reader")]
    with pytest.raises(RefusedError, match=r"2\.pgn"):
        for _ in batches(files, strict=True):
            pass
    assert not [each for each in threading.enumerate() if each.name.startswith("hyoka-reader")]
