# SPDX-License-Identifier: Apache-2.0
"""The journal of a match: one line a game, on the disk before it counts; games in progress."""

import base64
import contextlib
import dataclasses
import fcntl
import json
import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from hyoka.foundation.errors import StudyError
from hyoka.records import Record, Remark
from hyoka.storage.files import check_regular, read_regular


@dataclass(frozen=True, slots=True)
class Pairing:
    """One game to be played."""

    number: int
    """Which game of the match, from 0; it is played and counted once."""
    pair_id: int
    """Games with the same number are played by the same two from the same opening."""
    opening_id: int
    """Which opening of the match's list."""
    first: int
    """Which player of the match moves first."""
    second: int


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """One game that was played."""

    pairing: Pairing
    record: Record
    """With the players' names. Each remark is what the player who has just moved thought of it:
    value or score, depth, seconds spent and left on the clock; moves of the opening are `book`.
    `result` is never None."""
    reason: str
    """How it ended, in a word or two: `checkmate`, `repetition`, `resigned`, `time`,
    `illegal move`, `died`, `hung`, `adjudicated by score`, …"""
    fault: str = ""
    """What an engine did wrong, at length; empty where nothing went wrong."""
    seconds: float = 0.0
    worker: str = ""
    """The process that played it, as HOST:PID."""

    @property
    def result(self) -> float:
        """The first player's: 1 won, 0.5 drawn, 0 lost."""
        assert self.record.result is not None
        return self.record.result

    @property
    def is_fault(self) -> bool:
        """Whether a player lost by a fault of its own, and not on the board."""
        return self.record.ending in ("time", "illegal", "forfeit")


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


PLAYING: Final = "playing.json"
_EVERY_S: Final = 0.5


@dataclass(frozen=True)
class GameInPlay:
    """A game as far as it has come."""

    number: int
    first: str
    second: str
    game: str
    start: str
    """The text of its first position; empty where games usually begin."""
    moves: tuple[str, ...]


class Playing:
    """Keeps the file; those who play only lend it their lists of moves, which cost them nothing.

    with Playing(folder) as playing:
        with playing.watched(task, moves):
            ...  # moves are added to the list
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / PLAYING
        self._games: dict[int, tuple[GameInPlay, Sequence[str]]] = {}
        self._told: list[GameInPlay] | None = None
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_on, name="hyoka-playing", daemon=True)

    def __enter__(self) -> Self:
        self._file.unlink(missing_ok=True)  # of a match that was killed
        self._writer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._writer.join()
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)

    @contextlib.contextmanager
    def watched(self, game: GameInPlay, moves: Sequence[str]) -> Iterator[None]:
        """While a game is played whose moves are added to a list."""
        self._games[game.number] = game, moves
        try:
            yield
        finally:
            del self._games[game.number]

    def _write_on(self) -> None:
        while not self._over.wait(_EVERY_S):
            with contextlib.suppress(OSError):  # who looks on must not cost a match its games
                self.write()

    def write(self) -> None:
        """Write the games as they stand, whole or not at all, unless the file says so already."""
        now = [
            GameInPlay(game.number, game.first, game.second, game.game, game.start, tuple(moves))
            for game, moves in list(self._games.values())
        ]
        if now == self._told:
            return
        text = json.dumps({"process": os.getpid(), "games": [asdict(game) for game in now]})
        half = self._file.with_name(f".{PLAYING}")
        half.write_text(text, encoding="utf-8")
        half.replace(self._file)
        self._told = now


def games_in_play(folder: Path) -> list[GameInPlay]:
    """The games of a match that are being played on this machine, the one begun first first.

    What cannot be read, or was left by a process that is no more, counts as none.
    """
    try:
        told: dict[str, Any] = json.loads(read_regular(folder / PLAYING))
        if not _lives(int(told["process"])):
            return []
        return [GameInPlay(**game | {"moves": tuple(game["moves"])}) for game in told["games"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return process > 0
