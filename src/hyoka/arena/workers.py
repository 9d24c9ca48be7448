# SPDX-License-Identifier: Apache-2.0
"""Games as workers play them: each thread keeps its players from game to game."""

import asyncio
import contextlib
import dataclasses
import itertools
import os
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hyoka.arena.played import PlayedGame
from hyoka.arena.players import PlayerSpec, Seat, seat_of
from hyoka.arena.referee import GameStopped, GameTask, Referee

_MOST_SEATED: Final = 8
"""A thread of a large tournament keeps the players who played last; an engine is a process."""


class _Board:
    """A thread's players, and the event loop that their engines live in."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Held while a game is on."""
        self.run = ""
        """Whose game is on, or was the last."""
        self.is_leaving = False
        """Whether the players go once their game is over."""
        self._runner = asyncio.Runner()
        self._is_closed = False
        self._game: asyncio.Task[PlayedGame] | None = None
        self._seats: OrderedDict[tuple[str, int, PlayerSpec], Seat] = OrderedDict()

    def play(self, task: GameTask) -> PlayedGame:
        """Play one game; raises GameStopped if somebody stops it."""
        self.run = task.run
        try:
            return self._runner.run(self._play(task))
        except asyncio.CancelledError:
            raise GameStopped from None
        finally:
            self._game = None

    async def _play(self, task: GameTask) -> PlayedGame:
        self._game = asyncio.current_task()
        pairing = task.pairing
        seats = [
            await self._seat(task.rules.game, index, player)
            for index, player in zip((pairing.first, pairing.second), task.players, strict=True)
        ]
        referee = Referee(task, (seats[0], seats[1]), lambda: task.run in _stopped)
        return await referee.play()

    async def _seat(self, game: str, index: int, player: PlayerSpec) -> Seat:
        # Two players of a match may be the same engine: each has its own process.
        key = (game, index, player)
        seat = self._seats.get(key)
        if seat is None:
            seat = self._seats[key] = seat_of(player, game)
        self._seats.move_to_end(key)
        while len(self._seats) > _MOST_SEATED:
            _, leaving = self._seats.popitem(last=False)
            await leaving.close()
        return seat

    def stop(self) -> None:
        """Make the game end soon; called from another thread."""
        for seat in list(self._seats.values()):
            seat.stop()
        if (game := self._game) is not None:
            with contextlib.suppress(RuntimeError):  # it is over, and the loop has gone
                game.get_loop().call_soon_threadsafe(game.cancel)

    def close(self) -> None:
        """Let all players go; from any thread, also from one whose own event loop runs.

        Whoever calls holds the lock; who comes second finds nothing to do.
        """
        if self._is_closed:
            return
        self._is_closed = True
        closing = threading.Thread(target=self._close)
        closing.start()
        closing.join()

    def _close(self) -> None:
        async def leave() -> None:
            await asyncio.gather(
                *(seat.close() for seat in self._seats.values()), return_exceptions=True
            )

        try:
            self._runner.run(leave())
        finally:
            self._runner.close()


def pin_to_cores() -> Callable[[], None]:
    """Something for each new thread to call: each gets a core of its own, and its engines with it.

    Of the two players and the referee of a game only one works at a time; on one core they hand
    over without waking another.
    """
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))

    def pin() -> None:
        os.sched_setaffinity(0, {next(cores)})

    return pin


_boards: Final[dict[int, _Board]] = {}
_stopped: Final[set[str]] = set()


def play_task(task: GameTask) -> PlayedGame:
    """Play a game in this thread. Raises GameStopped, or EngineError for a wrong set-up."""
    if task.run in _stopped:
        raise GameStopped
    key = threading.get_ident()
    while True:
        board = _boards.setdefault(key, _Board())
        with board.lock:
            if board.is_leaving:  # another match has just cleared it away
                _boards.pop(key, None)
                board.close()
                continue
            try:
                played = board.play(task)
            except BaseException:
                _boards.pop(key, None)
                board.close()
                raise
            if board.is_leaving:
                _boards.pop(key, None)
                board.close()
        return dataclasses.replace(played, worker=f"{socket.gethostname()}:{os.getpid()}")


def boards_here() -> bool:
    """Whether any board stands in this process."""
    return bool(_boards)


def stop_games(run: str) -> None:
    """Make the games of a run end soon: engines are killed, searches stopped."""
    _stopped.add(run)
    for board in list(_boards.values()):
        if board.run == run:
            board.stop()


def clear_boards() -> None:
    """Let go of the players that this process keeps; those in a game go when it is over."""
    for key, board in list(_boards.items()):
        board.is_leaving = True
        if board.lock.acquire(blocking=False):
            try:
                if _boards.get(key) is board:  # or its thread has a new one
                    _boards.pop(key)
                board.close()
            finally:
                board.lock.release()
