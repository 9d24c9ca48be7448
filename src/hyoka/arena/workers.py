# SPDX-License-Identifier: Apache-2.0
"""Games as workers play them: each thread keeps its players from game to game."""

import asyncio
import contextlib
import dataclasses
import itertools
import os
import socket
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hyoka.arena.played import PlayedGame
from hyoka.arena.players import PlayerSpec
from hyoka.arena.playing import Playing
from hyoka.arena.referee import GameTask, Referee
from hyoka.contestants import Seat
from hyoka.fleet import Crew, RunStopped

_MOST_SEATED: Final = 8
"""A thread of a large tournament keeps the players who played last; an engine is a process."""


class Board:
    """A thread's players, and the event loop that their engines live in."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._game: asyncio.Task[PlayedGame] | None = None
        self._seats: OrderedDict[int, Seat] = OrderedDict()
        """By the players' numbers in the match: two may be the same engine."""

    def play(
        self, task: GameTask, is_stopped: Callable[[], bool], playing: Playing | None = None
    ) -> PlayedGame:
        """Play one game; raises RunStopped if somebody stops it."""
        try:
            return self._runner.run(self._play(task, is_stopped, playing))
        except asyncio.CancelledError:
            raise RunStopped from None
        finally:
            self._game = None

    async def _play(
        self, task: GameTask, is_stopped: Callable[[], bool], playing: Playing | None
    ) -> PlayedGame:
        self._game = asyncio.current_task()
        pairing = task.pairing
        seats = [
            await self._seat(task.rules.game, number, player)
            for number, player in zip((pairing.first, pairing.second), task.players, strict=True)
        ]
        referee = Referee(task, (seats[0], seats[1]), is_stopped)
        if playing is None:
            return await referee.play()
        with playing.watched(referee.in_play, referee.moves):
            return await referee.play()

    async def _seat(self, game: str, number: int, player: PlayerSpec) -> Seat:
        seat = self._seats.get(number)
        if seat is None:
            seat = self._seats[number] = player.contestant.seat(game, player.name)
        self._seats.move_to_end(number)
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
        """Let all players go."""

        async def leave() -> None:
            await asyncio.gather(
                *(seat.close() for seat in self._seats.values()), return_exceptions=True
            )

        try:
            self._runner.run(leave())
        finally:
            self._runner.close()


def play_task(task: GameTask, crew: Crew, playing: Playing | None = None) -> PlayedGame:
    """Play a game, which `playing` shows to others.

    Raises RunStopped, or EngineError for a wrong set-up.
    """
    board = crew.member("board", Board)
    played = board.play(task, lambda: crew.is_stopped, playing)
    return dataclasses.replace(played, worker=f"{socket.gethostname()}:{os.getpid()}")


def pin_to_cores() -> Callable[[], None]:
    """Something for each new thread to call: each gets a core of its own, and its engines with it.

    Of the two players and the referee of a game only one works at a time; on one core they hand
    over without waking another.
    """
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))

    def pin() -> None:
        os.sched_setaffinity(0, {next(cores)})

    return pin
