# SPDX-License-Identifier: Apache-2.0
"""The journal of a match: a line for each game, on the disk before the game counts.

Lines are only ever added. A line that was cut off by the end of a process or of the disk is dropped
when the journal is opened again; a game that stands there twice counts once.
"""

import base64
import dataclasses
import fcntl
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from hyoka.arena.played import Pairing, PlayedGame
from hyoka.errors import StudyError
from hyoka.files import check_regular, read_regular
from hyoka.records import Record, Remark

_REMARK_FIELDS: Final = tuple(
    field.name
    for field in dataclasses.fields(Remark)
    if field.name not in ("nags", "text", "properties")  # nobody writes words on a match's games
)
_TEXTS: Final = ("start", "first", "second", "event", "round", "date", "time_control", "opening")


class Journal:
    """Games on the disk; one process at a time writes them.

    with Journal(folder / "journal.jsonl") as journal:
        journal.add([game])
        journal.games  # all, from this run and those before
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.numbers: set[int] = set()
        """Of the games that are there; the games themselves stay on the disk."""

    def __enter__(self) -> Self:
        if self._path.exists():
            check_regular(self._path)
        self._file = self._path.open("a+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise StudyError(f"{self._path.parent}: this match is being played already") from None
        try:
            self._file.seek(0)
            data = self._file.read()
            self.numbers = {game.pairing.number for game in _games_of(data, self._path)}
            self._size = data.rfind(b"\n") + 1
            self._file.truncate(self._size)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def folder(self) -> Path:
        """Where it lies, and the match with it."""
        return self._path.parent

    @property
    def games(self) -> dict[int, PlayedGame]:
        """The games by number, in the order they ended, read anew."""
        return {game.pairing.number: game for game in read_journal(self._path)}

    def add(self, games: Iterable[PlayedGame]) -> list[PlayedGame]:
        """Write games and wait until the disk has them; gives those that were not there before.

        Raises OSError if the disk is full; what could not be written whole is taken off again.
        """
        new = {game.pairing.number: game for game in games}
        new = {number: game for number, game in new.items() if number not in self.numbers}
        data = b"".join(map(_line, new.values()))
        try:
            self._write(data)
        except BaseException:  # Ctrl-C too: half a line would spoil the next one
            self._file.truncate(self._size)
            raise
        self._size += len(data)
        self.numbers.update(new)
        return list(new.values())

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())


def read_journal(path: Path) -> list[PlayedGame]:
    """The games of a journal that somebody else may be writing, in the order they ended."""
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StudyError(f"{path}: can't be read: {error.strerror}") from error
    games: dict[int, PlayedGame] = {}
    for game in _games_of(data, path):
        games.setdefault(game.pairing.number, game)
    return list(games.values())


def _line(game: PlayedGame) -> bytes:
    """A game on one line, with a checksum before it."""
    record = game.record
    remarks = [[getattr(each, name) for each in record.remarks] for name in _REMARK_FIELDS]
    values: dict[str, object] = {
        "pairing": dataclasses.astuple(game.pairing),
        "reason": game.reason,
        "fault": game.fault,
        "seconds": game.seconds,
        "worker": game.worker,
        "game": record.game,
        "moves": base64.b85encode(record.moves.astype("<u2").tobytes()).decode(),
        **{name: getattr(record, name) for name in _TEXTS},
        "komi": record.komi,
        "handicap": record.handicap,
        "result": record.result,
        "ending": record.ending,
        "margin": record.margin,
        "remarks": remarks,
    }
    text = json.dumps(values, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def _games_of(data: bytes, path: Path) -> Iterator[PlayedGame]:
    """The games of all whole lines; what a broken disk left between them is passed over.

    A line that is whole and yet no game is none of ours: raises StudyError.
    """
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        checksum, _, text = line.partition(b" ")
        if checksum != f"{zlib.crc32(text):08x}".encode():
            continue
        try:
            game = _game(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise StudyError(f"{path}, line {number}: no game of a match: {error!r}") from error
        yield game


def _game(values: dict[str, Any]) -> PlayedGame:
    codes = np.frombuffer(base64.b85decode(values["moves"]), dtype="<u2").astype(np.uint16)
    remarks = tuple(Remark(*fields) for fields in zip(*values["remarks"], strict=True))
    record = Record(
        game=values["game"],
        moves=codes,
        **{name: values[name] for name in _TEXTS},
        komi=values["komi"],
        handicap=values["handicap"],
        result=values["result"],
        ending=values["ending"],
        margin=values["margin"],
        remarks=remarks,
    )
    return PlayedGame(
        Pairing(*values["pairing"]),
        record,
        values["reason"],
        values["fault"],
        values["seconds"],
        values["worker"],
    )
