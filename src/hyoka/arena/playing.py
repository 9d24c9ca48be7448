# SPDX-License-Identifier: Apache-2.0
"""The games of a match that are being played, in a small file for whoever looks on.

It lies beside the journal while the match is played on this machine, and says nothing that counts:
a game is the journal's when it has ended.
"""

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from hyoka.files import read_regular

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
