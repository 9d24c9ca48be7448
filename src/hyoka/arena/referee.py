# SPDX-License-Identifier: Apache-2.0
"""One game from its opening to its end. Our rules decide; what a player does wrong loses."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from hyoka._core import Player
from hyoka.agents import GamePlayer, Turn
from hyoka.arena.journal import GameInPlay, Pairing, PlayedGame
from hyoka.arena.openings import Opening, standard_start
from hyoka.arena.plan import MatchRules, PlayerSpec
from hyoka.engines import EnginePosition
from hyoka.foundation.errors import EngineError, IllegalMoveError, NotationError
from hyoka.games import AnyLine, AnyMove, Line, as_go, position
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation
from hyoka.parallel import RunStopped
from hyoka.records import Record, Remark
from hyoka.records.record import Ending

_SET_UP: Final = ("missing", "option", "limit", "game")
"""Reasons of EngineError that no game can help: the match itself is set up wrongly."""
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
    """One game as it travels to a worker."""

    rules: MatchRules
    pairing: Pairing
    opening: Opening
    players: tuple[PlayerSpec, PlayerSpec]
    """Who moves first, and second."""
    seeds: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _End:
    """How a game ended."""

    result: float
    reason: str
    ending: Ending = "normal"
    fault: str = ""


class Referee:
    """Runs one game between two players at the board."""

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
        """The moves so far, of the opening first; more are added as they are played."""
        return self._texts

    @property
    def in_play(self) -> GameInPlay:
        """The game as others are told of it."""
        pairing, (first, second) = self._task.pairing, self._task.players
        game, moves = self._rules.game, tuple(self._texts)
        return GameInPlay(pairing.number, first.name, second.name, game, self._start, moves)

    async def play(self) -> PlayedGame:
        """Play the game out. Raises RunStopped, and EngineError where the set-up is wrong."""
        began = time.monotonic()
        end = await self._begun() or await self._played_out()
        return self._game(end, time.monotonic() - began)

    async def _begun(self) -> _End | None:
        """Bring both players to the board; one that does not come has lost."""
        ready = [
            game_player.new_game(seed)
            for game_player, seed in zip(self._game_players, self._task.seeds, strict=True)
        ]
        errors = await asyncio.gather(*ready, return_exceptions=True)
        if self._is_stopped():  # an engine that did not come was killed by us
            raise RunStopped
        for side, error in enumerate(errors):
            if isinstance(error, EngineError):
                return self._fault(Player(side), error)
            if error is not None:
                raise error
        return None

    async def _played_out(self) -> _End:
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
            if self._is_stopped():  # the search that was stopped had not finished thinking
                raise RunStopped
            end = self._moved(mover, answer)
            if end is not None:
                return end

    def _must_pass(self) -> bool:
        """Whether the side to move has no choice but to pass; nobody is asked then."""
        if not self._facts.forced_passes:
            return False
        line = cast("Line", self._line)  # no game in Python says that it has forced passes
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

    def _moved(self, mover: Player, answer: Evaluation) -> _End | None:
        """Take a player's answer: time first, then whether the rules allow it."""
        lost = float(mover is Player.second)
        clock_s = None
        if (end := self._time_is_up(mover, answer, lost)) is not None:
            return end
        if (clock := self._clocks[mover.value]) is not None:
            clock_s = clock.main_s
        best = answer.best
        if best is None:  # an empty text would pass for a pass in some games
            return _End(lost, "illegal move", "illegal", "no move was given")
        if best == "resign":
            return _End(lost, "resigned", "resigned")
        if best == "win":
            return self._declared(lost)
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

    def _declared(self, lost: float) -> _End:
        """A declaration of a won game (USI's `win`): right if our rules say so."""
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
            first=first.name,
            second=second.name,
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
