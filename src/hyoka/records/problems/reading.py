# SPDX-License-Identifier: Apache-2.0
"""Problem sets from texts and files: plain, compressed, in archives and folders."""

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyoka.foundation.errors import NotationError, SourceError
from hyoka.records.problems import gtp_tests, line_sets, pachi_tests
from hyoka.records.problems.problem import OpenBeside, ProblemSet
from hyoka.records.sources import Source, sources


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
"""Formats of problem sets."""


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
            (name for name, each in FORMATS.items() if each.looks_like.search(text)), None
        )
    if format is None:
        tried = "; ".join(f"{name} ({each.about})" for name, each in FORMATS.items())
        raise NotationError(f"{source}: no problem set in a format we know; tried {tried}")
    if format not in FORMATS:
        raise NotationError(f"no format '{format}'; known: {', '.join(FORMATS)}")
    return FORMATS[format].read(text, source, open_beside)


def _decoded(data: bytes) -> str:
    """Decode UTF-8, or else take each byte for a character: comments are in many encodings."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


_LARGEST: Final = 256 << 20
"""Bytes of one set, unpacked; more is no set of problems."""
_SUFFIXES: Final = (".epd", ".sfen", ".jsonl", ".obf", ".tst", ".t", ".txt")


def read_suites(names: Iterable[str | Path]) -> list[ProblemSet]:
    """Read problem sets: files, folders, archives, and `suites.zip:wac.epd` for some of an archive.

    A name inside an archive may be a pattern (`suites.zip:fforum-*`). Of a folder or a whole
    archive the files are read that are problem sets. Raises SourceError for what is not there or
    cannot be unpacked, and NotationError for a file asked for by name that is no problem set.
    """
    return [suite for name in names for suite in _suites(str(name))]


def _suites(name: str) -> list[ProblemSet]:
    path = Path(name)
    if path.is_dir():
        files = [each for each in sorted(path.rglob("*")) if _is_named_like_a_set(each.name)]
        return _sets_in(name, (source for file in files for source in sources([file])))
    if path.is_file():
        archive, pattern = path, "*"
    else:
        archive, pattern = _split(name)
    if pattern == "*":
        return _sets_in(name, sources([archive]))
    members: list[str] = []
    suites = []
    is_exact = not any(mark in pattern for mark in "*?[")
    for source in sources([archive]):
        member = source.name.removeprefix(f"{archive}!")
        members.append(member)
        if member == pattern or fnmatch.fnmatchcase(member.lower(), pattern.lower()):
            try:
                suites.append(_read(source))
            except NotationError:
                if is_exact:
                    raise
    if not suites:
        few = ", ".join(sorted(filter(_is_named_like_a_set, members))[:20])
        raise SourceError(f"{archive} has no problem set '{pattern}'; problem sets: {few}")
    return suites


def _split(name: str) -> tuple[Path, str]:
    """Split a name into an archive's path and a pattern of members."""
    for mark in (":", "!"):
        path, _, pattern = name.rpartition(mark)
        if path and Path(path).is_file():
            return Path(path), pattern
    raise SourceError(f"there is no file '{name}'")


def _sets_in(name: str, candidates: Iterable[Source]) -> list[ProblemSet]:
    """Read the problem sets in a folder or file; a file that is no archive must be one."""
    suites = []
    for source in candidates:
        is_file = source.name == name
        if is_file or source.problem or _is_named_like_a_set(source.name):
            try:
                suites.append(_read(source))
            except NotationError:
                if is_file:
                    raise
    if not suites:
        raise SourceError(f"{name} holds no problem set")
    return suites


def _is_named_like_a_set(name: str) -> bool:
    plain = name.lower()
    for suffix in (".gz", ".xz", ".bz2", ".zst"):
        plain = plain.removesuffix(suffix)
    return plain.endswith(_SUFFIXES)


def _read(source: Source) -> ProblemSet:
    blocks: list[bytes] = []
    size = 0
    for block in source.blocks():
        blocks.append(block)
        size += len(block)
        if size > _LARGEST:
            raise SourceError(f"{source.name}: too large for a problem set")

    def beside(file: str) -> bytes:
        if not (content := source.beside(file)):
            raise SourceError(f"{file} is no file beside {source.name}")
        return content

    return read_problems(b"".join(blocks), source=source.name, open_beside=beside)
