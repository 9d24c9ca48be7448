# SPDX-License-Identifier: Apache-2.0
"""Problem sets from texts and files: plain, compressed, in archives and folders."""

import bz2
import fnmatch
import gzip
import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from hyoka.foundation.errors import NotationError, SourceError
from hyoka.records.problems import gtp_tests, line_sets, pachi_tests
from hyoka.records.problems.problem import OpenBeside, ProblemSet


@dataclass(frozen=True)
class Format:
    """A notation of problem sets."""

    about: str
    looks_like: re.Pattern[str]
    """Matches every text of this format and no other."""
    read: Callable[[str, str, OpenBeside | None], ProblemSet]


def _alone(read: Callable[[str, str], ProblemSet]) -> Callable[..., ProblemSet]:
    """Make a reader that opens no other files take, and forget, the means to do so."""
    return lambda text, source, open_beside: read(text, source)


FORMATS: Final[dict[str, Format]] = {
    "epd": Format(
        "chess positions with operations, perft",
        line_sets.LOOKS_LIKE_EPD,
        _alone(line_sets.read_epd),
    ),
    "sfen": Format(
        "shogi positions with moves", line_sets.LOOKS_LIKE_SFEN, _alone(line_sets.read_sfen_lines)
    ),
    "jsonl": Format(
        "shogi positions with answers",
        line_sets.LOOKS_LIKE_JSON,
        _alone(line_sets.read_json_lines),
    ),
    "obf": Format(
        "Othello positions with a score for each move",
        line_sets.LOOKS_LIKE_OBF,
        _alone(line_sets.read_obf),
    ),
    "othello": Format(
        "Othello positions with one move and its score",
        line_sets.LOOKS_LIKE_PLAIN,
        _alone(line_sets.read_plain),
    ),
    "tst": Format("GTP commands with expected answers", gtp_tests.LOOKS_LIKE, gtp_tests.read),
    "pachi": Format(
        "Go diagrams with claims about them", pachi_tests.LOOKS_LIKE, _alone(pachi_tests.read)
    ),
}


def read_problems(
    text: str | bytes,
    *,
    source: str = "text",
    format: str | None = None,
    open_beside: OpenBeside | None = None,
) -> ProblemSet:
    """Read a problem set; lines that cannot be used are refused, and the rest goes on.

    `source` names the text in problems and refusals. Without `format`, a name in `FORMATS`, the
    text itself tells. `open_beside` gives the files that tests in GTP name. Raises NotationError
    if the format is unknown.

    >>> mate = read_problems('6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";')
    >>> mate.format, mate.problems[0].id, mate.problems[0].best
    ('epd', 'back rank', ('a1a8',))
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    text = text.encode("utf-8", "replace").decode("utf-8")
    if format is None:
        format = next(
            (name for name, known in FORMATS.items() if known.looks_like.search(text)), None
        )
    if format is None:
        tried = "; ".join(f"{name} ({known.about})" for name, known in FORMATS.items())
        raise NotationError(f"{source}: no problem set in a format we know; tried {tried}")
    if format not in FORMATS:
        raise NotationError(f"no format '{format}'; known are {', '.join(FORMATS)}")
    return FORMATS[format].read(text, source, open_beside)


def _decoded(data: bytes) -> str:
    """Decode UTF-8, or else take each byte for a character: comments are in many encodings."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


_LARGEST: Final = 256 << 20
"""Bytes of one set, unpacked; more is no set of problems."""
_LARGEST_RECORD: Final = 16 << 20
_SUFFIXES: Final = (".epd", ".sfen", ".jsonl", ".obf", ".tst", ".t", ".txt")
_COMPRESSED: Final[dict[bytes, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_BROKEN: Final = (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)
_ZIP: Final = b"PK"


def read_suites(names: Iterable[str | Path]) -> list[ProblemSet]:
    """Read problem sets: files, folders, archives, and `suites.zip:wac.epd` for some of an archive.

    A name inside an archive may be a pattern (`suites.zip:fforum-*`). Of a folder or a whole
    archive the files are read that are problem sets. Raises SourceError for what is not there or
    cannot be unpacked, and NotationError for a file asked for by name that is no problem set.
    """
    return [suite for name in names for suite in _suites(str(name))]


def _suites(name: str) -> Iterator[ProblemSet]:
    path = Path(name)
    if path.is_dir():
        found = [each for each in sorted(path.rglob("*")) if _is_named_like_one(each.name)]
        yield from _those_that_are_sets(name, ((str(each), _reader(each)) for each in found))
    elif path.is_file():
        if _starts_with(path, _ZIP):
            yield from _of_archive(path, None)
        else:
            yield _read(name, _unpacked(path), _on_disk(path))
    else:
        archive, member = _split(name)
        if archive is None:
            raise SourceError(f"there is no file '{name}'")
        yield from _of_archive(archive, member)


def _split(name: str) -> tuple[Path | None, str]:
    """Split a name into an archive's path and a member."""
    for mark in (":", "!"):
        path, found, member = name.rpartition(mark)
        if found and Path(path).is_file():
            return Path(path), member
    return None, ""


def _of_archive(path: Path, wanted: str | None) -> Iterator[ProblemSet]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [each for each in archive.namelist() if not each.endswith("/")]
            if wanted is None:
                chosen = [each for each in names if _is_named_like_one(each)]
            else:
                chosen = [
                    each
                    for each in names
                    if fnmatch.fnmatchcase(each.lower(), wanted.lower()) or each == wanted
                ]
                if not chosen:
                    few = ", ".join(sorted(filter(_is_named_like_one, names))[:20])
                    raise SourceError(f"{path} has no '{wanted}'; there are {few}")

            def beside(member: str, name: str) -> bytes:
                return _of_member(archive, posixpath.join(posixpath.dirname(member), name))

            def reader(member: str) -> Callable[[], ProblemSet]:
                return lambda: _read(
                    f"{path}:{member}",
                    _of_member(archive, member),
                    lambda name: beside(member, name),
                )

            if wanted is not None and not any(mark in wanted for mark in "*?["):
                yield from (reader(member)() for member in chosen)
            else:
                yield from _those_that_are_sets(
                    str(path), ((member, reader(member)) for member in chosen)
                )
    except _BROKEN as error:
        raise SourceError(f"{path}: broken or cut short: {error}") from error


def _those_that_are_sets(
    name: str, readers: Iterable[tuple[str, Callable[[], ProblemSet]]]
) -> Iterator[ProblemSet]:
    empty = True
    for _, read in readers:
        try:
            suite = read()
        except NotationError:
            continue
        empty = False
        yield suite
    if empty:
        raise SourceError(f"{name} holds no problem set")


def _reader(path: Path) -> Callable[[], ProblemSet]:
    return lambda: _read(str(path), _unpacked(path), _on_disk(path))


def _read(name: str, data: bytes, beside: Callable[[str], bytes]) -> ProblemSet:
    return read_problems(data, source=name, open_beside=beside)


def _is_named_like_one(name: str) -> bool:
    plain = name.lower().removesuffix(".gz").removesuffix(".xz").removesuffix(".bz2")
    return plain.endswith(_SUFFIXES)


def _starts_with(path: Path, sign: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(sign)) == sign


def _on_disk(path: Path) -> Callable[[str], bytes]:
    folder = path.parent.resolve()

    def read(name: str) -> bytes:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            raise SourceError(f"{name} is no file in {path.parent}")
        with file.open("rb") as opened:
            return _bounded(opened.read(_LARGEST_RECORD + 1), name, _LARGEST_RECORD)

    return read


def _unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(6)
        file.seek(0)
        opened = next(
            (make(file) for sign, make in _COMPRESSED.items() if head[: len(sign)] == sign), file
        )
        try:
            return _bounded(opened.read(_LARGEST + 1), str(path))
        except _BROKEN as error:
            raise SourceError(f"{path}: broken or cut short: {error}") from error


def _of_member(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as file:
        return _bounded(file.read(_LARGEST + 1), member)


def _bounded(data: bytes, name: str, most: int = _LARGEST) -> bytes:
    if len(data) > most:
        raise SourceError(f"{name}: too large for a problem set")
    return data
