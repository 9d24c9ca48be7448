# SPDX-License-Identifier: Apache-2.0
"""The referee of a game, and the workers that play games."""

import asyncio
import contextlib
import dataclasses
import itertools
import os
import socket
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Player
from hyoka.agents import GamePlayer, Turn
from hyoka.arena.journal import GameInPlay, Pairing, PlayedGame, Playing
from hyoka.arena.openings import Opening, standard_start
from hyoka.arena.plan import MatchRules, PlayerSpec
from hyoka.engines import EnginePosition
from hyoka.foundation.errors import EngineError, IllegalMoveError, NotationError
from hyoka.games import AnyLine, AnyMove, Line, as_go
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation
from hyoka.games.registry import position
from hyoka.parallel import RunStopped, WorkerState
from hyoka.records import Record, Remark
from hyoka.records.record import Ending

_SET_UP: Final = ("missing", "option", "limit", "game")
"""Reasons of EngineError that mean a wrong set-up of the match."""
_FAULTS: Final[dict[str, tuple[str, Ending]]] = {
    "died": ("died", "forfeit"),
    "timeout": ("hung", "time"),
    "flood": ("flooded", "forfeit"),
    "nonsense": ("talked nonsense", "forfeit"),
    "refused": ("refused the position", "forfeit"),
    "unplayable": ("illegal move", "illegal"),
}


@dataclass(frozen=True)
class GameTask:
    """One game, in the form that is sent to a worker."""

    rules: MatchRules
    pairing: Pairing
    opening: Opening
    players: tuple[PlayerSpec, PlayerSpec]
    """The first and the second player."""
    seeds: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a game."""

    result: float
    reason: str
    ending: Ending = "normal"
    fault: str = ""


class Referee:
    """Runs one game between two players."""

    def __init__(
        self,
        task: GameTask,
        game_players: tuple[GamePlayer, GamePlayer],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._task = task
        self._rules = rules = task.rules
        self._game_players = game_players
        self._is_stopped = is_stopped
        opening = task.opening
        self._start = opening.start
        if not self._start and rules.handicap:
            self._start = standard_start(rules.game, rules.komi, rules.handicap).text
        self._line: AnyLine = (
            position(rules.game, self._start).line() if self._start else rules.line()
        )
        self._facts = rules.facts
        has_komi = self._facts.komi is not None
        self._komi = as_go(self._line.position).komi if has_komi else None
        self._texts: list[str] = []
        self._remarks: list[Remark] = []
        for text in opening.moves:
            self._play(self._line.parse(text))
            self._remarks.append(Remark(len(self._texts), book=True))
        self._book = len(self._remarks)
        self._controls = [player.clock for player in task.players]
        self._move_times_s = [player.agent.move_time_s for player in task.players]
        self._clocks = [None if control is None else control.start() for control in self._controls]

    @property
    def moves(self) -> Sequence[str]:
        """The moves so far, including the opening's; the list grows."""
        return self._texts

    @property
    def in_play(self) -> GameInPlay:
        """The game in the form for spectators."""
        pairing, (first, second) = self._task.pairing, self._task.players
        game, moves = self._rules.game, tuple(self._texts)
        return GameInPlay(pairing.number, first.title, second.title, game, self._start, moves)

    async def play(self) -> PlayedGame:
        """Play the game. Raises RunStopped, and EngineError for a wrong set-up."""
        began = time.monotonic()
        end = await self._start_players() or await self._play_out()
        return self._game(end, time.monotonic() - began)

    async def _start_players(self) -> _End | None:
        """Start both players; one that fails to start loses."""
        ready = [
            game_player.new_game(seed)
            for game_player, seed in zip(self._game_players, self._task.seeds, strict=True)
        ]
        errors = await asyncio.gather(*ready, return_exceptions=True)
        if self._is_stopped():  # we killed the engine that did not start
            raise RunStopped
        for side, error in enumerate(errors):
            if isinstance(error, EngineError):
                return self._fault(Player(side), error)
            if error is not None:
                raise error
        return None

    async def _play_out(self) -> _End:
        while True:
            if self._is_stopped():
                raise RunStopped
            end = self._over()
            if end is not None:
                return end
            if self._must_pass():
                self._play(self._line.parse("pass"))
                continue
            mover = self._line.to_play
            try:
                answer = await self._game_players[mover.value].play(self._turn(mover))
            except EngineError as error:
                if self._is_stopped():
                    raise RunStopped from None
                return self._fault(mover, error)
            if self._is_stopped():  # the interrupted search had no result
                raise RunStopped
            end = self._check_answer(mover, answer)
            if end is not None:
                return end

    def _must_pass(self) -> bool:
        """Whether the side to move can only pass; it is not asked then."""
        if not self._facts.forced_passes:
            return False
        line = cast("Line", self._line)  # games in Python have no forced passes
        return line.count_moves() == 1 and str(line.legal_moves[0]) == "pass"

    def _turn(self, mover: Player) -> Turn:
        here = None
        if self._rules.start is None:
            game, komi = self._rules.game, self._komi or 0.0
            here = EnginePosition(game, self._start or None, self._texts, komi)
        return Turn(self._line, here, self._clocks_for(mover))

    def _clocks_for(self, mover: Player) -> tuple[Clock, Clock] | None:
        own = self._clocks[mover.value]
        if own is None:
            return None
        first, second = self._clocks
        return first or own, second or own

    def _over(self) -> _End | None:
        outcome = self._line.outcome
        if outcome is not None:
            return _End(float(outcome.value), outcome.reason.name.replace("_", " "))
        remarks = self._remarks[self._book :]
        for adjudicator in self._rules.adjudicators:
            if (judged := adjudicator.judge(self._line, remarks)) is not None:
                resigned = judged[1] == "resigned"
                return _End(*judged, "resigned" if resigned else "adjudicated")
        if len(self._texts) < self._rules.max_plies:
            return None
        if self._facts.by_points:
            score = self._line.score
            result = 0.5 if score == 0 else float(score > 0)
            return _End(result, "ply limit, scored as it stands", "adjudicated")
        return _End(0.5, "ply limit", "adjudicated")

    def _check_answer(self, mover: Player, answer: Evaluation) -> _End | None:
        """Check a player's answer: first its time, then its legality."""
        lost = float(mover is Player.second)
        clock_s = None
        if (end := self._time_is_up(mover, answer, lost)) is not None:
            return end
        if (clock := self._clocks[mover.value]) is not None:
            clock_s = clock.main_s
        best = answer.best
        if best is None:  # an empty text would be a pass in some games
            return _End(lost, "illegal move", "illegal", "the player made no move")
        if best == "resign":
            return _End(lost, "resigned", "resigned")
        if best == "win":
            return self._judge_declaration(lost)
        try:
            self._play(self._line.parse(best))
        except (IllegalMoveError, NotationError) as error:
            return _End(lost, "illegal move", "illegal", str(error))
        self._remarks.append(
            Remark(
                len(self._texts),
                answer.value,
                answer.score,
                answer.mate,
                answer.depth,
                clock_s,
                answer.time_s,
                author="first" if mover is Player.first else "second",
            )
        )
        return None

    def _time_is_up(self, mover: Player, answer: Evaluation, lost: float) -> _End | None:
        control, clock = self._controls[mover.value], self._clocks[mover.value]
        if control is None or clock is None:
            limit_s = self._move_times_s[mover.value]
            if limit_s is not None and answer.time_s > limit_s + self._rules.margin_s:
                words = f"thought {answer.time_s:.3f} s instead of {limit_s:g} s"
                return _End(lost, "time", "time", words)
            return None
        left = control.after(clock, answer.time_s, self._rules.margin_s)
        if left is None:
            words = f"thought {answer.time_s:.3f} s with {clock.main_s + clock.period_s:.3f} s left"
            return _End(lost, "time", "time", words)
        self._clocks[mover.value] = left
        return None

    def _judge_declaration(self, lost: float) -> _End:
        """Adjudicate a declared win (USI's `win`) by the game's rules."""
        if getattr(self._line.position, "may_declare", False):
            return _End(1 - lost, "declaration")
        return _End(lost, "declared a win that is none", "illegal")

    def _play(self, move: AnyMove) -> None:
        self._line = self._line.play(move)
        self._texts.append(str(move))

    def _fault(self, side: Player, error: EngineError) -> _End:
        if error.reason in _SET_UP:
            raise error
        reason, ending = _FAULTS[error.reason]
        lost = float(side is Player.second)
        return _End(lost, reason, ending, f"{error}\n{error.transcript}".strip())

    def _game(self, end: _End, seconds: float) -> PlayedGame:
        task, rules = self._task, self._rules
        first, second = task.players
        by_points = end.reason == "score" or end.reason.startswith("ply limit, scored")
        clocks = [control.text if control else "" for control in self._controls]
        record = Record(
            game=rules.game,
            moves=np.array(
                [getattr(move, "code", move) for move in self._line.moves], dtype=np.uint16
            ),
            start=self._start,
            first=first.title,
            second=second.title,
            event="Hyoka match",
            round=f"{task.pairing.pair_id + 1}.{task.pairing.number % 2 + 1}",
            opening=task.opening.name,
            time_control=clocks[0] if clocks[0] == clocks[1] else " / ".join(clocks),
            komi=self._komi,
            handicap=rules.handicap if not task.opening.start else 0,
            result=end.result,
            ending=end.ending,
            margin=float(self._line.score) if by_points else None,
            remarks=tuple(self._remarks),
        )
        return PlayedGame(task.pairing, record, end.reason, end.fault, round(seconds, 6))


_MAX_GAME_PLAYERS: Final = 8
"""The number of players that a thread keeps alive; an engine is a process."""


class Board:
    """A thread's players, and their event loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._game: asyncio.Task[PlayedGame] | None = None
        self._game_players: OrderedDict[int, GamePlayer] = OrderedDict()
        """By index of the player in the match: two may be the same engine."""

    def play(
        self, task: GameTask, is_stopped: Callable[[], bool], playing: Playing | None = None
    ) -> PlayedGame:
        """Play one game; raises RunStopped if it is stopped."""
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
            game_player = self._game_players[number] = player.agent.player(game, player.title)
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
            with contextlib.suppress(RuntimeError):  # the game is over and the loop is closed
                game.get_loop().call_soon_threadsafe(game.cancel)

    def close(self) -> None:
        """Close all players."""

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
    """Play a game, which `playing` shows to spectators.

    Raises RunStopped, or EngineError for a wrong set-up.
    """
    board = worker_state.resource("board", Board)
    played = board.play(task, lambda: worker_state.is_stopped, playing)
    return dataclasses.replace(played, worker=f"{socket.gethostname()}:{os.getpid()}")


def pin_to_cores() -> Callable[[], None]:
    """Return an initializer that pins each new thread, with its engines, to a core of its own.

    Only one of a game's players and referee works at a time; on one core they switch without waking
    another.
    """
    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))

    def pin() -> None:
        os.sched_setaffinity(0, {next(cores)})

    return pin


_FEWEST_GAMES: Final = 10
_ONE_IN: Final = 0.001
"""The false-positive rate of flagging any of several equal workers."""


@dataclass(frozen=True, slots=True)
class OddWorker:
    """A worker that differs significantly from the others."""

    worker: str
    games: int
    what: str
    """`results` or `faults`."""
    here: float
    """The worker's share of points of the first-named players, or of games lost by a fault."""
    elsewhere: float
    p_value: float

    def __str__(self) -> str:
        words = {"results": "points of the first-named", "faults": "games lost by a fault"}
        return (
            f"{self.worker}: {self.here:.1%} {words[self.what]} in {self.games} games, "
            f"{self.elsewhere:.1%} elsewhere (p = {self.p_value:.1g})"
        )


def odd_workers(games: Iterable[PlayedGame]) -> list[OddWorker]:
    """Return the workers whose results or faults differ from those of all others.

    Results are those of each duel's player with the lower index. Exact tests over games, corrected
    for the number of workers; workers with fewer than 10 games are ignored.
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
    """Return the p value of Fisher's exact tests of the 0s and of the 1s.

    Halves are not tested: they can be so rare that one of them would flag a worker.
    """
    if len({*here.tolist(), *elsewhere.tolist()}) < 2:
        return 1.0
    from scipy import stats  # noqa: PLC0415 - it takes a second to import

    tables = [
        [[int(np.sum(part == end)), int(np.sum(part != end))] for part in (here, elsewhere)]
        for end in (0, 1)
    ]
    return min(1.0, 2 * min(float(stats.fisher_exact(table).pvalue) for table in tables))
