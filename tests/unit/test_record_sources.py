# SPDX-License-Identifier: Apache-2.0
"""Where records come from: names, folders, pipes, compressed files, archives, encodings, abuse."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

import hyoka as hk
from hyoka.records import batches, reading
from hyoka.records.formats import as_utf8
from hyoka.records.sources import BLOCK, size_on_disk

from .test_records import at_most

GAME: Final = b"(;GM[1]SZ[9]PB[%s];B[ee];W[gc])\n"
FIRST, SECOND = GAME % b"A", GAME % b"B"


def names(*paths: str | Path) -> list[str]:
    return [record.first for record in hk.read_records(*paths)]


def broken(path: Path) -> str:
    """Why a file, or a member of it, can't be read; such a file stops nothing unless strict."""
    stream = hk.read_records(path)
    list(stream)
    refused = next(each for each in stream.refused if each.fault == "broken file")
    with pytest.raises(hk.RefusedError, match=re.escape(str(refused))):
        list(hk.read_records(path, strict=True))
    return str(refused)


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
    with pytest.raises(hk.SourceError):
        names(f"{tmp_path}/{name}")


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


def many_games(bytes_wanted: int) -> bytes:
    """Games that don't compress to nothing."""
    out = io.BytesIO()
    number = 0
    while out.tell() < bytes_wanted:
        out.write(GAME % f"{number * 2654435761 % 2**32:x}".encode())
        number += 1
    return out.getvalue()


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
        with pytest.raises(hk.SourceError, match="no record"):
            hk.read_record(path)


@pytest.mark.parametrize("data", [b"Dear Sir,\nno game here.\n", b"\x89PNG\r\n\x1a\n" + bytes(999)])
def test_a_file_of_something_else_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(data)
    (tmp_path / "zz.sgf").write_bytes(FIRST)
    stream = hk.read_records(tmp_path)
    assert [record.first for record in stream] == ["A"]
    assert stream.faults == {"no records": 1}
    assert str(stream.refused[0]).startswith(f"{tmp_path / 'other'}: no records")
    with pytest.raises(hk.RefusedError, match="no records"):
        hk.read_record(tmp_path / "other")


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


# Encodings


TEXTS: Final = {
    "sgf": "(;GM[1]SZ[9]PB[名人]PW[Müller];B[ee];W[gc])\n",
    "pgn": '[White "名人"]\n[Black "Müller"]\n\n1. e4 e5\n; comment\n2. Nf3 *\n',
    "csa": "V2.2\nN+名人\nN-Müller\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n",
    "kifu": "手合割：平手\n先手：名人\n後手：Müller\n\n   1 ７六歩(77)\n",
    "lines": "# 名人 Müller\nstartpos moves 7g7f 3c3d\n",
}
for_every_text = pytest.mark.parametrize("format", TEXTS)


def expected(format: str) -> list[tuple[object, ...]]:
    return [record.content() for record in hk.parse_records(TEXTS[format])]


@for_every_text
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_mark_at_the_beginning_tells_the_encoding(format: str, encoding: str) -> None:
    marks = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    data = marks.get(encoding, b"") + TEXTS[format].encode(encoding)
    for given in (None, format):
        records = hk.parse_records(data, format=given)
        assert [record.content() for record in records] == expected(format)


@for_every_text
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_end_in_any_of_three_ways(format: str, end: str) -> None:
    data = TEXTS[format].replace("\n", end).encode()
    assert [record.content() for record in hk.parse_records(data)] == expected(format)


@for_every_text
def test_the_last_line_may_lack_its_end(format: str) -> None:
    data = TEXTS[format].rstrip("\n").encode()
    assert [record.content() for record in hk.parse_records(data)] == expected(format)


def test_pgn_that_is_not_utf8_is_western() -> None:
    (record,) = hk.parse_records('[White "Müller – Šar"]\n\n1. e4 *\n'.encode("cp1252"))
    assert record.first == "Müller – Šar"


def test_a_file_may_be_put_together_from_encodings() -> None:
    games = [
        '[White "Müller"]\n\n1. e4 *\n\n'.encode(encoding) for encoding in ("utf-8", "latin-1")
    ]
    records = hk.parse_records(b"".join(2 * games))
    assert [record.first for record in records] == 4 * ["Müller"]


def test_an_sgf_file_may_be_put_together_from_encodings() -> None:
    """Without a charset each game is looked at by itself."""
    games = ["(;GM[1]PB[Müller])\n".encode(encoding) for encoding in ("utf-8", "latin-1")]
    records = hk.parse_records(b"".join(2 * games))
    assert [record.first for record in records] == 4 * ["Müller"]


SGF_NAMES: Final = {
    "UTF-8": "Ōsaka 大阪",
    "GB2312": "聂卫平",
    "gb18030": "聂卫平",
    "Big5": "王立誠 許功蓋",  # characters with a backslash for second byte
    "Shift_JIS": "ソ十表能予",  # likewise
    "EUC-JP": "武宮正樹",
    "EUC-KR": "이창호",
    "windows-1251": "Шикшин",
    "ISO-8859-1": "Müller",
    "KOI8-R": "Шикшин",
}


@pytest.mark.parametrize("charset", SGF_NAMES)
def test_an_sgf_game_says_what_it_is_written_in(charset: str) -> None:
    name = SGF_NAMES[charset]
    for root in (f"CA[{charset}]PB[%s]", f"PB[%s]CA[{charset}]", f"PB[%s]\nCA [ {charset} ]"):
        data = f"(;GM[1]SZ[9]{root % name};B[ee])\n".encode(charset)
        (record,) = hk.parse_records(data)
        assert record.first == name


def test_every_sgf_game_has_an_encoding_of_its_own() -> None:
    data = b"".join(
        f"(;GM[1]SZ[9]CA[{charset}]PB[{name}];B[ee])\n".encode(charset)
        for charset, name in SGF_NAMES.items()
    )
    for join in (data, data.replace(b"\n", b"")):
        assert [record.first for record in hk.parse_records(join)] == [*SGF_NAMES.values()]


def test_sgf_without_a_charset_is_latin1_or_utf8() -> None:
    for encoding in ("latin-1", "utf-8"):
        (record,) = hk.parse_records("(;GM[1]SZ[9]PB[Müller];B[ee])".encode(encoding))
        assert record.first == "Müller"


def test_a_games_charset_is_not_the_next_ones() -> None:
    data = "(;GM[1]CA[GB2312]PB[聂卫平])\n".encode("gb2312") + "(;GM[1]PB[Müller])\n".encode(
        "latin-1"
    )
    assert [record.first for record in hk.parse_records(data)] == ["聂卫平", "Müller"]


@pytest.mark.parametrize(
    "charset",
    [
        *(b"", b"?", b"no-such", b"undefined", b"idna", b"punycode", b"rot13", b"zlib", b"hex"),
        *(b"base64", b"utf-16", b"utf-32", b"utf-7", b"unicode_escape", b"raw_unicode_escape"),
        *(b"mbcs", b"cp037", b"a\0b", b"\xff", b"..", b"../../etc", b"x" * 40, b"aliases"),
    ],
)
def test_no_charset_stops_the_reading(charset: bytes) -> None:
    """Python knows encodings that are no character sets; a game that asks for one is Latin-1."""
    data = b"(;GM[1]SZ[9]CA[%s]PB[M\xfcller];B[ee])\n" % charset
    (record,) = hk.parse_records(data)
    assert record.first == "Müller"
    assert record.move_texts() == ["E5"]


@pytest.mark.parametrize("filling", [b" ", b"\n", b"CA", b"CA[", b"CA[ ", b"(;", b"(;CA[", b"( "])
def test_a_charset_does_not_take_long_to_find(filling: bytes) -> None:
    data = b"(;PB[\xe9]CA[" + filling * ((1 << 20) // len(filling))
    with at_most(2):
        list(as_utf8([data], "sgf"))


@pytest.mark.parametrize("format", ["sgf", "pgn"])
@pytest.mark.parametrize("offset", range(3))
def test_text_is_not_cut_within_a_character(format: str, offset: int) -> None:
    """Megabytes without an end of line, in which any place may be that of a cut."""
    name = 90 * "名人戦本因坊戦棋聖戦王座戦"
    game = {"sgf": f"(;GM[1]SZ[9]PB[{name}])", "pgn": f'[White "{name}"] 1. e4 * '}[format]
    count = (9 << 20) // len(game.encode())
    records = hk.parse_records(" " * offset + game * count, format=format)
    assert len(records) == count
    assert {record.first for record in records} == {name}


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
    begin = time.monotonic()
    stream = hk.read_records(path, format="sgf")
    assert [record.first for record in stream] == ["A"]
    assert len(stream.refused) == 1
    path.write_bytes(opening * 1_000_000 + b")" * 1_000_000 + b"\n" + SECOND)
    stream = hk.read_records(path, format="sgf")
    records = list(stream)
    if not opening.endswith(b"["):
        assert [record.first for record in records] == ["B"]
        assert stream.faults == {"too large": 1}
    assert time.monotonic() - begin < 20


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
    begin = time.monotonic()
    stream = hk.read_records(path, format="sgf")
    assert list(stream) == []
    assert [str(each) for each in stream.refused] == [
        f"{path}!games.sgf: refused: it unpacks to more than 250 times its size"
    ]
    assert time.monotonic() - begin < 5


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
    begin = time.monotonic()
    stream = hk.read_records(path)
    assert list(stream) == []
    assert all("refused: archives inside archives" in each.reason for each in stream.refused)
    assert stream.refused
    assert time.monotonic() - begin < 10


def test_compressed_files_in_compressed_files_come_to_an_end(tmp_path: Path) -> None:
    data = FIRST
    for _ in range(30):
        data = gzip.compress(data)
    path = tmp_path / "quine.gz"
    path.write_bytes(data)
    with pytest.raises((hk.SourceError, hk.RefusedError)):
        hk.read_record(path)


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
    print(hk.read_record(path).game)
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
    hk.read_record(path)
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
    told: list[int] = []
    assert sum(len(batch) for batch in batches([path], progress=told.append)) > 0
    size = size_on_disk([path])
    assert size == len(packed)
    # To find a zip's list of members, its first block is read twice.
    assert size <= sum(told) < 1.05 * size + BLOCK
