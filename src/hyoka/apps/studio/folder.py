# SPDX-License-Identifier: Apache-2.0
"""The studio's folder: what is in it, and record files uploaded to it."""

import contextlib
import functools
import itertools
import json
import os
import re
import shutil
import stat
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

from starlette.exceptions import HTTPException

import hyoka as hk
from hyoka.arena.match import titles_in
from hyoka.foundation.errors import escape_control_chars
from hyoka.records.formats import SUFFIXES
from hyoka.storage.files import open_regular, read_regular, umask
from hyoka.storage.model_file import KINDS

STATE: Final = ".hyoka-studio"
"""Hidden folder of the studio's runs, never served."""
_DEPTH: Final = 4
_MOST: Final = 5000
"""Limits of entries and depth; larger folders are not listed completely."""
_HEADER: Final = 1 << 16
_LONGEST: Final = 1000
_SIGNS: Final = re.compile(r"([\s:,;=|+()\[\]\"'@]+)")
_NAME_TABLES: Final = (".jou", ".trn")
_STUDY, _MATCH = "study.toml", "match.toml"


@dataclass(frozen=True)
class FolderItem:
    """Something in the folder."""

    kind: str
    """`study`, `match`, `model`, `records` or `report`."""
    path: str
    """Within the folder, with `/`; what addresses have."""
    facts: dict[str, Any]
    """Its description: a study has `game`, `games`, `positions`, `evaluators`, …

    An evaluator is known by the name of its folder, and spoken of by another.
    """
    changed: float
    """When, in seconds since 1970."""


@dataclass(frozen=True)
class Folder:
    """A folder on the disk."""

    root: Path

    def path(self, text: str, *, must_exist: bool = True) -> Path:
        """Find the file or folder that a request names; raises SourceError if it is not in here.

        Links that lead outside are outside, also those below a folder, and hidden files are not
        shown. Only regular files are files: to open a pipe would wait for its writer.
        """
        path = self._inside(text)
        if must_exist and not os.path.exists(path):  # also for what no file can be called
            raise hk.errors.SourceError(
                f"there is no '{escape_control_chars(text)}' in the studio's folder"
            )
        if must_exist:
            self.check_reach(path)
        return path

    def _inside(self, text: str) -> Path:
        if "\0" in text or not text.strip():
            raise hk.errors.SourceError("no file is named")
        shown = escape_control_chars(text)
        root = self.root.resolve()
        try:
            path = (root / text).resolve()
            inside = path.relative_to(root)
        except (ValueError, OSError, RuntimeError):
            raise hk.errors.SourceError(f"'{shown}' is not in the studio's folder") from None
        if any(part.startswith(".") for part in inside.parts):
            raise hk.errors.SourceError(f"'{shown}' is hidden, and so not shown")
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError):  # it does not exist
            return path
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise hk.errors.SourceError(f"'{shown}' is a pipe, a socket or a device, not a file")
        return path

    def name(self, path: Path) -> str:
        """A path in the folder as addresses have it."""
        return path.resolve().relative_to(self.root.resolve()).as_posix()

    def shown(self, path: str | bytes) -> str:
        """Text of a path in errors: relative to the folder if inside, else its last part."""
        file = Path(os.fsdecode(path))
        try:
            return file.relative_to(self.root.resolve()).as_posix()
        except ValueError:
            return file.name

    def check_word(self, word: str) -> None:
        """Raise SourceError if a word of a spec could name a file that is not in here."""
        looks_so = any(sign in word for sign in ("/", "\\", "~")) or word.startswith(".")
        if looks_so or (word and os.path.lexists(self.root / word)):
            self.path(word, must_exist=False)

    def check_text(self, text: str) -> None:
        """Raise SourceError if a text, or any part of it, could name a file that is not in here.

        What a file's name and what a sign between names is, only who reads the text knows: each
        word is looked at, and each run of words that is the name of something.
        """
        if len(text) > _LONGEST:
            raise hk.errors.SourceError(f"a text has {_LONGEST} characters at most here")
        parts = _SIGNS.split(text)  # words at even places, signs between them
        for first in range(0, len(parts), 2):
            self.check_word(parts[first])
            for last in range(first, len(parts), 2):
                name = "".join(parts[first : last + 1])
                if name and os.path.lexists(os.path.join(self.root, name)):
                    path = self.path(name, must_exist=False)
                    self.check_reach(path)

    def check_reach(self, path: Path) -> None:
        """Raise SourceError if what is read with a file or folder is outside the studio's folder.

        A study, a match or a folder of records is read with all that is in it, hidden files aside,
        and links to other folders in here are followed. A file of WTHOR's is read with the tables
        of names beside it.
        """
        root = self.root.resolve()
        if path.is_file():
            for beside in path.parent.iterdir() if ".wtb" in path.name.lower() else ():
                if beside.suffix.lower() in _NAME_TABLES and beside.is_symlink():
                    self._inside(os.path.relpath(beside, root))
            return
        folders, seen = [path.resolve()], set[Path]()
        while folders:
            folder = folders.pop()
            if folder in seen:
                continue
            seen.add(folder)
            try:
                entries = list(os.scandir(folder))
            except OSError:  # it can't be read by anybody else either
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                target = Path(entry.path)
                if entry.is_symlink():
                    target = self._inside(os.path.relpath(entry.path, root))
                if target.is_dir():
                    folders.append(target)

    def items(self, kind: str = "") -> list[FolderItem]:
        """All that is here, or all of a kind, the newest first."""
        everything = [each for path in self._walk() if (each := self._looked_at(path)) is not None]
        chosen = [each for each in everything if kind in ("", each.kind)]
        return sorted(chosen, key=lambda each: (-each.changed, each.path))

    def _walk(self) -> Iterator[os.DirEntry[str]]:
        """Entries of the folder and those below, the upper ones first; links are not followed."""
        level, seen = [self.root], 0
        for _ in range(_DEPTH):
            below: list[Path] = []
            for folder in level:
                try:
                    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
                except OSError:
                    continue
                for entry in entries:
                    if entry.name.startswith(".") or entry.is_symlink():
                        continue
                    seen += 1
                    if seen > _MOST:
                        return
                    yield entry
                    if entry.is_dir() and not _describes_itself(entry.path):
                        below.append(Path(entry.path))
            level = below

    def _looked_at(self, entry: os.DirEntry[str]) -> FolderItem | None:
        path = Path(entry.path)
        try:
            state = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(state.st_mode):
                described = _described(path)
            elif stat.S_ISREG(state.st_mode):
                described = _file(path, state)
            else:  # a pipe, a socket or a device
                return None
            if described is None:
                return None
            kind, facts, changed = described
        except OSError:
            return None
        return FolderItem(kind, self.name(path), facts, changed)


Described = tuple[str, dict[str, Any], float]


def _describes_itself(folder: str) -> bool:
    """Whether a folder is a study or a match: what is in it belongs to it."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (_STUDY, _MATCH))


def _described(folder: Path) -> Described | None:
    """Kind of a folder by its manifest."""
    for kind, name in (("study", _STUDY), ("match", _MATCH)):
        file = folder / name
        if os.path.lexists(file):
            changed = file.lstat().st_mtime
            try:
                values = tomllib.loads(read_regular(file, follow_links=False).decode("utf-8"))
            except (OSError, ValueError, RecursionError):
                return kind, {"problem": f"{name} can't be read"}, changed
            facts = (_study if kind == "study" else _match)(folder, values)
            return kind, {"problem": "", **facts}, changed
    return None


def _study(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    places: list[Path] = []
    if not (folder / "evaluations").is_symlink():
        folders = sorted(folder.glob("evaluations/engine=*"))
        places = [place for place in folders if not place.is_symlink()]
    facts = {name: values.get(name) for name in ("game", "games", "positions")}
    return facts | {
        "evaluators": [place.name.removeprefix("engine=") for place in places],
        "spoken_of": [_spoken_of(place) for place in places],
        "report": (folder / "report.html").is_file(),
    }


def _spoken_of(place: Path) -> str:
    """An evaluator's title, or else its spec, from the lines of its manifest before the parts."""
    texts: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        with open_regular(place / "engine.toml", follow_links=False) as manifest:
            lines = manifest.read(_HEADER).decode("utf-8", errors="replace").splitlines()
        for line in itertools.takewhile(lambda line: not line.startswith("parts"), lines):
            key, _, value = line.partition(" = ")
            if value.startswith('"'):
                texts[key] = str(json.loads(value))  # TOML's plain texts are JSON's
    if "player" in texts:
        texts.setdefault("title", f"comments by {texts['player']}")
    return texts.get("title") or texts.get("spec") or place.name.removeprefix("engine=")


def _match(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    match = values.get("match")
    match = match if isinstance(match, dict) else {}
    players = titles_in(values) or match.get("players")
    journal = folder / "journal.jsonl"
    games = 0
    if journal.is_file() and not journal.is_symlink():
        state = journal.stat()
        games = _lines(journal, state.st_mtime_ns, state.st_size)
    return {
        "game": match.get("game"),
        "players": list(map(str, players)) if isinstance(players, list) else [],
        "games": games,
        "report": (folder / "report.html").is_file(),
    }


@functools.lru_cache(maxsize=1000)
def _lines(file: Path, _changed: int, _size: int) -> int:
    with open_regular(file, follow_links=False) as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def _file(path: Path, state: os.stat_result) -> Described | None:
    size, changed = state.st_size, state.st_mtime
    if path.name == "report.html":
        return "report", {"size": size}, changed
    if path.name.lower().endswith(SUFFIXES):
        return "records", {"size": size}, changed
    header = _header_of(path, state.st_mtime_ns, size)
    return None if header is None else ("model", header | {"size": size}, changed)


@functools.lru_cache(maxsize=_MOST)
def _header_of(path: Path, _changed: int, _size: int) -> dict[str, Any] | None:
    with open_regular(path, follow_links=False) as file:
        return _header(file.read(_HEADER))


def _header(start: bytes) -> dict[str, Any] | None:
    """A model file's kind and game, or None for other files."""
    try:
        if start.startswith(b"hyoka-artefact 1\n"):
            values = json.loads(start.split(b"\n", 2)[1])
            header = values
        elif start.lstrip().startswith(b"{") and b'"hyoka"' in start[:64]:
            header = _leading_object(start)
            values = header | {"game": _leading_game(start)}
        else:
            return None
        if not isinstance(header, dict) or header.get("kind") not in KINDS:
            return None
    except (ValueError, RecursionError, KeyError):
        return None
    return {
        "kind": header["kind"],
        "game": values.get("game"),
        "words": KINDS[header["kind"]].words,
    }


def _leading_object(start: bytes) -> dict[str, Any]:
    """The object under "hyoka" at the beginning of a JSON file, without the rest of it."""
    text = start.decode("utf-8", errors="replace")
    place = text.index("{", text.index('"hyoka"'))
    value: dict[str, Any] = json.JSONDecoder().raw_decode(text, place)[0]
    return value


def _leading_game(start: bytes) -> str | None:
    """The game that a JSON file of ours names, if it does so near its beginning."""
    text = start.decode("utf-8", errors="replace")
    _, name, rest = text.partition('"game":')
    if not name:
        return None
    game = json.JSONDecoder().raw_decode(rest.lstrip())[0]
    return game if isinstance(game, str) else None


RECORDS: Final = "records"
STUDIES: Final = "studies"
_STRANGE: Final = re.compile(r"[^\w.+-]+")
_STEM_BYTES: Final = 120
_SUFFIX_BYTES: Final = 24
"""File systems allow names of 255 bytes, and studies, locks and temporary files add to a name."""


def folder_for(folder: Folder, name: str) -> Path:
    """Make a folder in the studio's folder unless it exists; 409 if a file has its name."""
    place = folder.path(name, must_exist=False)
    try:
        place.mkdir(exist_ok=True)
    except FileExistsError:
        words = f"'{name}' in the studio's folder is a file, and uploads need a folder of that name"
        raise HTTPException(HTTPStatus.CONFLICT, f"{words}: rename the file.") from None
    return place


def keep(folder: Folder, name: str, content: BinaryIO) -> str:
    """Keep a file under a name like its own that nothing has yet; gives its path in the folder.

    The name is somebody else's: only letters, digits and a few signs of its last part stay.
    """
    place = folder_for(folder, RECORDS)
    stem, suffix = _short_name(name)
    for number in range(1, 10_000):
        file = place / f"{stem}{'' if number == 1 else f'-{number}'}{suffix}"
        try:
            with file.open("xb") as target:
                shutil.copyfileobj(content, target)
        except FileExistsError:
            continue
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        file.chmod(0o666 & ~umask())
        return folder.name(file)
    raise HTTPException(HTTPStatus.CONFLICT, f"{RECORDS} has too many files called {stem}{suffix}.")


def keep_sample(folder: Folder, sample: Path) -> str:
    """Copy a sample file among the records unless its copy is there; its path in the folder."""
    copy = folder.path(f"{RECORDS}/{sample.name}", must_exist=False)
    if copy.is_file() and copy.read_bytes() == sample.read_bytes():
        return folder.name(copy)
    with sample.open("rb") as content:
        return keep(folder, sample.name, content)


def _short_name(name: str) -> tuple[str, str]:
    """Split a file's name into a stem and suffixes that are short enough for every file system.

    >>> _short_name("../my games.sgf.gz")
    ('my_games', '.sgf.gz')
    >>> len(_short_name("棋" * 100 + ".sgf")[0].encode())
    120
    """
    plain = _STRANGE.sub("_", name.replace("\\", "/").rpartition("/")[2]).lstrip("._-") or "games"
    suffixes = PurePosixPath(plain).suffixes[-2:]
    while len("".join(suffixes).encode()) > _SUFFIX_BYTES:
        suffixes.pop(0)
    suffix = "".join(suffixes)
    stem = plain.removesuffix(suffix).encode()[:_STEM_BYTES].decode(errors="ignore")
    return stem or "games", suffix


def study_for(folder: Folder, file: str) -> str:
    """A name for the study of a file that nothing in the folder has yet."""
    stem = Path(file).name.partition(".")[0] or "games"
    for number in range(1, 10_000):
        name = f"{STUDIES}/{stem}{'' if number == 1 else f'-{number}'}"
        if not folder.path(name, must_exist=False).exists():
            return name
    raise HTTPException(HTTPStatus.CONFLICT, f"{STUDIES} has too many studies called {stem}.")
