# SPDX-License-Identifier: Apache-2.0
"""Match workers: each thread keeps its players from game to game; outlying workers are reported."""

import asyncio
import contextlib
import dataclasses
import itertools
import os
import socket
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.agents import GamePlayer
from hyoka.arena.journal import PlayedGame, Playing
from hyoka.arena.plan import PlayerSpec
from hyoka.arena.referee import GameTask, Referee
from hyoka.parallel import RunStopped, WorkerState

_MAX_GAME_PLAYERS: Final = 8
"""A thread of a large tournament keeps the players who played last; an engine is a process."""


class Board:
    """A thread's players, and the event loop that their engines live in."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._game: asyncio.Task[PlayedGame] | None = None
        self._game_players: OrderedDict[int, GamePlayer] = OrderedDict()
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
        game_players = [
            await self._game_player(task.rules.game, number, player)
            for number, player in zip((pairing.first, pairing.second), task.players, strict=True)
        ]
        referee = Referee(task, (game_players[0], game_players[1]), is_stopped)
        if playing is None:
            return await referee.play()
        with playing.watched(referee.in_play, referee.moves):
            return await referee.play()

    async def _game_player(self, game: str, number: int, player: PlayerSpec) -> GamePlayer:
        game_player = self._game_players.get(number)
        if game_player is None:
            game_player = self._game_players[number] = player.agent.game_player(game, player.name)
        self._game_players.move_to_end(number)
        while len(self._game_players) > _MAX_GAME_PLAYERS:
            _, leaving = self._game_players.popitem(last=False)
            await leaving.close()
        return game_player

    def stop(self) -> None:
        """Make the game end soon; called from another thread."""
        for game_player in list(self._game_players.values()):
            game_player.stop()
        if (game := self._game) is not None:
            with contextlib.suppress(RuntimeError):  # it is over, and the loop has gone
                game.get_loop().call_soon_threadsafe(game.cancel)

    def close(self) -> None:
        """Let all players go."""

        async def leave() -> None:
            await asyncio.gather(
                *(game_player.close() for game_player in self._game_players.values()),
                return_exceptions=True,
            )

        try:
            self._runner.run(leave())
        finally:
            self._runner.close()


def play_task(
    task: GameTask, worker_state: WorkerState, playing: Playing | None = None
) -> PlayedGame:
    """Play a game, which `playing` shows to others.

    Raises RunStopped, or EngineError for a wrong set-up.
    """
    board = worker_state.resource("board", Board)
    played = board.play(task, lambda: worker_state.is_stopped, playing)
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


_FEWEST_GAMES: Final = 10
_ONE_IN: Final = 0.001
"""With workers that are all alike, so seldom is any of them flagged for either reason."""


@dataclass(frozen=True, slots=True)
class OddWorker:
    """A worker that differs from the rest by more than chance."""

    worker: str
    games: int
    what: str
    """`results` or `faults`."""
    here: float
    """The share of points of the first-named players, or of games lost by a fault, on it."""
    elsewhere: float
    p_value: float

    def __str__(self) -> str:
        words = {"results": "points of the first-named", "faults": "games lost by a fault"}
        return (
            f"{self.worker}: {self.here:.1%} {words[self.what]} in {self.games} games, "
            f"{self.elsewhere:.1%} elsewhere (p = {self.p_value:.1g})"
        )


def odd_workers(games: Iterable[PlayedGame]) -> list[OddWorker]:
    """The workers whose results or faults differ from those of all others taken together.

    Results are those of each duel's player with the lower number. Exact tests over games, corrected
    for the number of workers; a worker with fewer than 10 games is left alone.
    """
    by_worker: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for game in games:
        pairing = game.pairing
        points = game.result if pairing.first < pairing.second else 1 - game.result
        fault = float(game.is_fault)
        by_worker[game.worker].append((points, fault))
    workers = [name for name, played in by_worker.items() if len(played) >= _FEWEST_GAMES]
    if len(by_worker) < 2:
        return []
    odd = []
    for name in workers:
        mine = np.array(by_worker[name])
        rest = np.array([row for other, rows in by_worker.items() if other != name for row in rows])
        if len(rest) < _FEWEST_GAMES:
            continue
        for column, what in enumerate(("results", "faults")):
            here, elsewhere = mine[:, column], rest[:, column]
            p_value = _p_value(here, elsewhere)
            if p_value * 2 * len(workers) < _ONE_IN:
                share, other = float(here.mean()), float(elsewhere.mean())
                odd.append(OddWorker(name, len(mine), what, share, other, p_value))
    return odd


def _p_value(here: NDArray[np.float64], elsewhere: NDArray[np.float64]) -> float:
    """How often chance alone parts the results so: Fisher's exact tests of the 0s and of the 1s.

    Of ½ alone there may be so few that a worker with one of them would seem odd.
    """
    if len({*here.tolist(), *elsewhere.tolist()}) < 2:
        return 1.0
    from scipy import stats  # noqa: PLC0415 - it takes a second to import

    tables = [
        [[int(np.sum(part == end)), int(np.sum(part != end))] for part in (here, elsewhere)]
        for end in (0, 1)
    ]
    return min(1.0, 2 * min(float(stats.fisher_exact(table).pvalue) for table in tables))
