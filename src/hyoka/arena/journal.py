# SPDX-License-Identifier: Apache-2.0
"""The journal of a match (a line per game, synced before it counts), games in progress, exports."""

import base64
import contextlib
import dataclasses
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
import pyarrow as pa

from hyoka.foundation.errors import StudyError
from hyoka.games import PYTHON_GAMES, game_facts
from hyoka.records import Record, Remark, write_records
from hyoka.storage.files import read_regular
from hyoka.storage.run_folder import Journal, journal_lines
from hyoka.storage.table_files import write_parquet


@dataclass(frozen=True, slots=True)
class Pairing:
    """One game to play."""

    number: int
    """The number of the game, from 0; it is played and counted once."""
    pair_id: int
    """Games with equal numbers have the same players and opening."""
    opening_id: int
    """The index of the opening."""
    first: int
    """The index of the player who moves first."""
    second: int


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game."""

    pairing: Pairing
    record: Record
    """With the players' names. Each remark is the evaluation of the player who has just moved:
    value or score, depth, seconds spent and left on the clock; moves of the opening are `book`.
    `result` is never None.
    """
    reason: str
    """The reason of the end: `checkmate`, `repetition`, `resigned`, `time`, `illegal move`, `died`,
    `hung`, `adjudicated by score`, …
    """
    fault: str = ""
    """The engine's error in detail; empty without one."""
    seconds: float = 0.0
    worker: str = ""
    """The worker process, as HOST:PID."""

    @property
    def result(self) -> float:
        """The first player's result: 1 won, 0.5 drawn, 0 lost."""
        assert self.record.result is not None
        return self.record.result

    @property
    def is_fault(self) -> bool:
        """Whether a player lost by its own fault, not on the board."""
        return self.record.ending in ("time", "illegal", "forfeit")


_REMARK_FIELDS: Final = tuple(
    field.name
    for field in dataclasses.fields(Remark)
    if field.name not in ("nags", "text", "properties")  # matches have no comments
)
_TEXTS: Final = ("start", "first", "second", "event", "round", "date", "time_control", "opening")


class GameJournal(Journal):
    """The games of a match on disk.

    with GameJournal(folder / "journal.jsonl") as journal:
        journal.add_games([game])
        journal.games  # all, from this run and previous ones
    """

    numbers: set[int]
    """The numbers of the games; the games themselves stay on disk."""

    def __enter__(self) -> Self:
        self.numbers = set(self.games)
        return super().__enter__()

    @property
    def games(self) -> dict[int, PlayedGame]:
        """Read the games, by number, in the order they ended."""
        return {game.pairing.number: game for game in read_journal(self.path)}

    def add_games(self, games: Iterable[PlayedGame]) -> list[PlayedGame]:
        """Write games, sync them, and return those that were not there before."""
        new = {game.pairing.number: game for game in games}
        new = {number: game for number, game in new.items() if number not in self.numbers}
        self.add(*map(_line, new.values()))
        self.numbers.update(new)
        return list(new.values())


def read_journal(path: Path) -> list[PlayedGame]:
    """Read the games of a journal that may be open for writing, in the order they ended.

    Damaged lines are skipped. Raises StudyError for an intact line that is not a game.
    """
    games: dict[int, PlayedGame] = {}
    for number, line in enumerate(journal_lines(path), 1):
        checksum, _, text = line.partition(b" ")
        if checksum != f"{zlib.crc32(text):08x}".encode():
            continue
        try:
            game = _game(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise StudyError(f"{path}, line {number}: no game of a match: {error!r}") from error
        games.setdefault(game.pairing.number, game)
    return list(games.values())


def _line(game: PlayedGame) -> bytes:
    """Return a game on one line, preceded by a checksum."""
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
    return f"{zlib.crc32(text.encode()):08x} {text}".encode()


def _game(values: dict[str, Any]) -> PlayedGame:
    codes = np.frombuffer(base64.b85decode(values["moves"]), dtype="<u2").astype(np.uint16)
    # Journals of earlier versions have fewer fields.
    remarks = tuple(
        Remark(**dict(zip(_REMARK_FIELDS, fields, strict=False)))
        for fields in zip(*values["remarks"], strict=True)
    )
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
    """The moves of a game in progress."""

    number: int
    first: str
    second: str
    game: str
    start: str
    """The first position's text; empty for the standard start."""
    moves: tuple[str, ...]


class Playing:
    """Writes the games in progress to a file; players only share their lists of moves.

    with Playing(folder) as playing:
        with playing.watched(task, moves): ...  # moves are added to the list
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / PLAYING
        self._games: dict[int, tuple[GameInPlay, Sequence[str]]] = {}
        self._written: list[GameInPlay] | None = None
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_on, name="hyoka-playing", daemon=True)

    def __enter__(self) -> Self:
        self._file.unlink(missing_ok=True)  # left by a killed match
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
        """Include a game in the file while its moves are added to a list."""
        self._games[game.number] = game, moves
        try:
            yield
        finally:
            del self._games[game.number]

    def _write_on(self) -> None:
        while not self._over.wait(_EVERY_S):
            with contextlib.suppress(OSError):  # a full disk must not end the match
                self.write()

    def write(self) -> None:
        """Write the games atomically, unless the file is up to date."""
        now = [
            GameInPlay(game.number, game.first, game.second, game.game, game.start, tuple(moves))
            for game, moves in list(self._games.values())
        ]
        if now == self._written:
            return
        text = json.dumps({"process": os.getpid(), "games": [asdict(game) for game in now]})
        half = self._file.with_name(f".{PLAYING}")
        half.write_text(text, encoding="utf-8")
        half.replace(self._file)
        self._written = now


def games_in_play(folder: Path) -> list[GameInPlay]:
    """Read the games in progress on this machine, oldest first.

    Unreadable files and files of dead processes count as empty.
    """
    try:
        content: dict[str, Any] = json.loads(read_regular(folder / PLAYING))
        if not _lives(int(content["process"])):
            return []
        return [GameInPlay(**game | {"moves": tuple(game["moves"])}) for game in content["games"]]
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


GAMES_TABLE: Final = "games.parquet"
MOVES_TABLE: Final = "moves.parquet"


def records_name(game: str) -> str:
    """Return the name of the file with a match's records."""
    return f"games{game_facts(game).formats.suffix}"


def export_match(
    folder: Path, games: Sequence[PlayedGame], *, engine_comments: bool = True
) -> list[Path]:
    """Write tables of games and moves, and the records, in the order of the games' numbers.

    The journal can reproduce all of them. PGN has the players' evaluations as match runners write
    them, `{+0.35/12 1.2s}`, or as commands without `engine_comments`.
    """
    ordered = sorted(games, key=lambda game: game.pairing.number)
    if not ordered:
        return []
    files = [folder / GAMES_TABLE, folder / MOVES_TABLE]
    write_parquet(games_table(ordered), files[0])
    write_parquet(moves_table(ordered), files[1])
    game = ordered[0].record.game
    if not game.startswith(PYTHON_GAMES):  # games in Python have no notation
        files.append(folder / records_name(game))
        records = [each.record for each in ordered]
        write_records(records, files[2], engine_comments=engine_comments)
    return files


def games_table(games: Sequence[PlayedGame]) -> pa.Table:
    """Return a table of games."""
    columns: dict[str, Sequence[object]] = {
        "game_id": [game.pairing.number for game in games],
        "pair_id": [game.pairing.pair_id for game in games],
        "opening_id": [game.pairing.opening_id for game in games],
        "game": [game.record.game for game in games],
        "first": [game.record.first for game in games],
        "second": [game.record.second for game in games],
        "result": [game.result for game in games],
        "ending": [game.record.ending for game in games],
        "reason": [game.reason for game in games],
        "fault": [game.fault or None for game in games],
        "plies": [len(game.record) for game in games],
        "book_plies": [sum(remark.book for remark in game.record.remarks) for game in games],
        "margin": [game.record.margin for game in games],
        "komi": [game.record.komi for game in games],
        "opening": [game.record.opening for game in games],
        "start": [game.record.start for game in games],
        "moves": [game.record.moves.astype("<u2").tobytes() for game in games],
        "date": [game.record.date for game in games],
        "seconds": [game.seconds for game in games],
        "worker": [game.worker for game in games],
    }
    return pa.table(columns)


def moves_table(games: Sequence[PlayedGame]) -> pa.Table:
    """Return a table of moves, with the mover's evaluation and the time."""
    remarks = [(game.pairing, remark) for game in games for remark in game.record.remarks]
    numbers = {
        "value": pa.float32(),
        "score": pa.float32(),
        "mate": pa.int16(),
        "depth": pa.int16(),
        "clock_s": pa.float32(),
        "spent_s": pa.float32(),
    }
    columns: dict[str, object] = {
        "game_id": np.array([pairing.number for pairing, _ in remarks], dtype=np.int64),
        "pair_id": np.array([pairing.pair_id for pairing, _ in remarks], dtype=np.int64),
        "opening_id": np.array([pairing.opening_id for pairing, _ in remarks], dtype=np.int64),
        "ply": np.array([remark.ply for _, remark in remarks], dtype=np.int32),
        "book": np.array([remark.book for _, remark in remarks], dtype=np.bool_),
    }
    for name, kind in numbers.items():
        columns[name] = pa.array([getattr(remark, name) for _, remark in remarks], kind)
    return pa.table(columns)
