# SPDX-License-Identifier: Apache-2.0
"""Client for CECP engines (XBoard, WinBoard): chess and shogi.

Both protocol versions are supported. The first (GNU Shogi) has no features, numbers its moves and
limits time by `level`; the second declares `feature` lines.
"""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final, Self

from hyoka._core import Player
from hyoka.engines.client.engine import DEEPEST, EngineClient
from hyoka.engines.client.transport import Transport, printable
from hyoka.engines.client.uci import is_chess960
from hyoka.engines.spec import EnginePosition, EngineSpec, Limits, Replay, evaluate_finished
from hyoka.foundation.errors import EngineError
from hyoka.games import Position, game_facts, game_of_protocol
from hyoka.games.clock import Clock
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation

_FILES: Final = "abcdefghi"
_OURS: Final = re.compile(r"(?:([A-Z])\*|([1-9])([a-i]))([1-9])([a-i])(\+?)")
_XBOARDS: Final = re.compile(r"(?:([A-Z])@|([a-i])([1-9]))([a-i])([1-9])([+=]?)")


def to_xboard(move: str) -> str:
    """Return a shogi move in XBoard's notation: files are letters from the left, ranks from below.

    >>> to_xboard("7g7f"), to_xboard("8h2b+"), to_xboard("P*5e")
    ('c3c4', 'b2h8+', 'P@e5')
    """
    match = _OURS.fullmatch(move)
    if match is None:
        return move
    piece, from_file, from_rank, file, rank, promotes = match.groups()
    start = f"{piece}@" if piece else _to_letters(from_file, from_rank)
    return f"{start}{_to_letters(file, rank)}{promotes}"


def from_xboard(move: str) -> str:
    """Return an XBoard move in our notation; other texts are unchanged.

    >>> [from_xboard(to_xboard(move)) for move in ("7g7f", "8h2b+", "P*5e")]
    ['7g7f', '8h2b+', 'P*5e']
    """
    match = _XBOARDS.fullmatch(move)
    if match is None:
        return move
    piece, from_file, from_rank, file, rank, promotes = match.groups()
    start = f"{piece}*" if piece else _to_digits(from_file, from_rank)
    return f"{start}{_to_digits(file, rank)}{promotes.rstrip('=')}"


def _to_letters(file: str, rank: str) -> str:
    return f"{_FILES[9 - int(file)]}{9 - _FILES.index(rank)}"


def _to_digits(file: str, rank: str) -> str:
    return f"{9 - _FILES.index(file)}{_FILES[9 - int(rank)]}"


_FEATURE: Final = re.compile(r'(\w+)=("[^"]*"|\S+)')
_UNKNOWN_WORD: Final = re.compile(r"(?:Illegal|Invalid) move.*protover|Error \(.*\): *protover")
_MOVE: Final = re.compile(r"(?:move|\d{1,4}\. \.\.\.) (\S+)")
_RESULT: Final = re.compile(r"(?:1-0|0-1|1/2-1/2|\*)(?= |$)|resign\b")
# Commands that an engine need not understand.
_REFUSAL: Final = re.compile(
    r"(?:(?:Illegal|Invalid) move|Error \()"
    r"(?!.*\b(?:xboard|protover|ping|post|easy|accepted|rejected|uci|usi|name)\b)|tellusererror"
)
# Ply, score, centiseconds, nodes: some engines write a mark after the ply.
_THOUGHT: Final = re.compile(
    r"\s*(\d{1,4})[.&+*!?-]?\s+([+-]?\d{1,7})\s+\d{1,9}\s+(\d{1,18})(?=\s|$)"
)
_MATE: Final = 100_000
"""A score of 100,000 + N is a mate in N moves."""
_DEFAULT_LIMITS: Final = Limits(time_s=1.0)
"""CECP counts whole seconds."""
_OWN_COMMANDS: Final = {"hash": ("memory", "memory"), "threads": ("smp", "cores")}
"""Options that are protocol commands: the feature that offers each, and the command."""
_MOVES_TO_COME: Final = 40
_POKES_S: Final = tuple(0.3 + 0.5 * number for number in range(12))
_RESTARTS: Final = 4
_RESTART_SHARE: Final = 10
"""An engine is restarted after this part of the timeout, so that a short hang costs little."""


class _Search:
    """A search request and the engine's answer: its thinking lines, then its move.

    An engine whose last move ended a game reports that after the move, maybe with a delay.
    """

    def __init__(self, transport: Transport, *, ended_a_game: bool) -> None:
        self._transport = transport
        self._ended_a_game = ended_a_game
        self.thought: re.Match[str] | None = None
        self.best = ""

    def __call__(self, text: str) -> bool:
        for line in text.split("\n"):
            if (thought := _THOUGHT.match(line)) is not None:
                self.thought = thought
            elif (move := _MOVE.match(line)) is not None:
                self.best = move[1]
                return True
            elif _REFUSAL.match(line):
                raise self._transport.error(f"refuses: {line.strip()[:200]}", "refused")
            elif _RESULT.match(line):
                if self._ended_a_game:
                    self._ended_a_game = False
                    continue
                if "resign" in line.lower():
                    self.best = "resign"
                    return True
                message = f"says '{line.strip()[:100]}' where it has to move"
                raise self._transport.error(message, "unplayable")
        return False


class CecpEngine(EngineClient):
    """A running CECP engine."""

    protocol: ClassVar[str] = "cecp"

    def __init__(self, spec: EngineSpec, transport: Transport) -> None:
        super().__init__(spec, transport)
        self.features: dict[str, str] = {}
        self.options: dict[str, str] = {}
        """The names as the engine writes them, by lower-case name."""
        self._new_version = False
        # The state of the engine's board: game and start, and the moves since.
        self._start: tuple[str, str | None] | None = None
        self._moves: tuple[str, ...] = ()
        self._ended_a_game = False

    @classmethod
    async def start(cls, spec: EngineSpec, cwd: Path | None = None) -> Self:
        """Start the engine; see `EngineClient.start`."""
        brief = replace(spec, timeout_s=spec.timeout_s / _RESTART_SHARE)
        for _ in range(_RESTARTS):
            # GNU Chess may lose its first input for good: a silent engine is restarted.
            try:
                engine = await super().start(brief, cwd)
            except EngineError as error:
                if error.reason != "timeout":
                    raise
            else:
                engine.spec = spec
                return engine
        return await super().start(spec, cwd)

    async def _shake_hands(self, *, patient: bool = False) -> bool:
        """Greet the engine; see `EngineClient`.

        A version 1 engine takes our words for illegal moves and says so. A version 2 engine
        declares its features before it answers the ping.
        """

        def is_last(line: str) -> bool:
            if line.startswith("feature "):
                self._take_features(line)
                self._new_version = self.features.get("done") == "1"
            elif line.startswith("pong ") and not self.features:
                self._new_version = True
            return self._new_version or _UNKNOWN_WORD.match(line) is not None

        # GNU Chess may delay its answers until more input.
        pokes = [(after_s, lambda: "ping 1\n") for after_s in _POKES_S]
        doubted = await self._greet(is_last, patient=patient, later=pokes)
        self.name = printable(self.features.get("myname", self.spec.program_name))
        # Every engine reads coordinate moves; for old engines `post` is a toggle.
        accepted = [name for name in self.features if name not in ("done", "option", "san")]
        words = [f"accepted {name}\n" for name in accepted]
        words += ["rejected san\n"] if "san" in self.features else []
        self.transport.tell("".join([*words, "easy\n", "post\n"]))
        return doubted

    async def _configure(self) -> None:
        self._limit_lines(self.spec.limits)
        self._tell_options()

    def _take_features(self, line: str) -> None:
        for name, value in _FEATURE.findall(line):
            text = value.strip('"')
            if name == "option":
                title = text.split(" -", 1)[0]
                self.options[title.lower()] = title
            else:
                self.features[name] = text

    def _tell_options(self) -> None:
        lines = []
        for name, value in self.spec.options:
            feature, command = _OWN_COMMANDS.get(name.lower(), ("", ""))
            if name.lower() in self.options:
                lines.append(f"option {self.options[name.lower()]}={value}\n")
            elif feature and self.features.get(feature) == "1":
                if not value.isdecimal():
                    message = f"its option {name} is a whole number, not '{value}'"
                    raise self.transport.error(message, "option")
                lines.append(f"{command} {value}\n")
            else:
                raise self._no_option(name, list(self.options.values()))
        if lines:
            self.transport.tell("".join(lines))

    @property
    def abilities(self) -> str:
        """The number of options."""
        return f"{len(self.options)} options"

    @property
    def repeatable_limits(self) -> Limits | None:
        """The spec's limits without a time, or a depth for an engine of version 2."""
        own = self.spec.limits
        if own.time_s is None and own.depth:
            return own
        return Limits(depth=2) if self.features else None

    async def new_game(self) -> None:
        """Start afresh with the next position. Raises EngineError for a one-game engine."""
        if self.features.get("reuse") == "0" and self._start is not None:
            raise self.transport.error("plays one game only", "refused")
        self._start = None

    async def evaluate(self, position: EnginePosition, limits: Limits | None = None) -> Evaluation:
        """Let the engine move in a position, and read its thinking output.

        An engine without thinking output gives only a move.
        """
        replay = self._replayed(position)
        result = evaluate_finished(position.game, replay.last)
        if result is not None:
            return result
        self._start = None  # every position is set up from scratch
        effective = limits or self.spec.limits
        lines = self._set_up(position, replay) + self._limit_lines(effective)
        evaluation = await self._move(
            position, replay, lines, self._patience_s(self._time_s(effective), None)
        )
        self._start = None
        return evaluation

    async def play(
        self, position: EnginePosition, clocks: tuple[Clock, Clock] | None = None
    ) -> Evaluation:
        """Return the engine's move in a game; the move stays on the engine's board."""
        if self.spec.fresh:
            await self.new_game()
        replay = self._replayed(position)
        lines = self._set_up(position, replay)
        is_new = lines.startswith("new\n")
        own = None
        if clocks is None:
            lines += self._limit_lines(self.spec.limits) if is_new else ""
        else:
            own, other = clocks if replay.last.to_play is Player.first else clocks[::-1]
            if is_new or not self._new_version:
                lines += self._level_line(own)
                lines += "" if (deep := self.spec.limits.depth) is None else f"sd {deep}\n"
            if self._new_version and self.features.get("time", "1") == "1":
                lines += f"time {round(100 * own.main_s)}\notim {round(100 * other.main_s)}\n"
        wait_s = self._patience_s(self._time_s(self.spec.limits), own)
        return await self._move(position, replay, lines, wait_s)

    def _replayed(self, position: EnginePosition) -> Replay:
        replay = super()._replayed(position)
        if self._new_version and self._variant(position.game) is None:
            plays = self.features.get("variants", "normal")
            raise self.transport.error(f"plays {plays}, not {position.game}", "game")
        return replay

    def _variant(self, game: str) -> str | None:
        """Return the engine's name of a game; None if it does not play it."""
        called = ("normal", game) if game == game_of_protocol("uci") else (game,)
        variants = re.split(r"[ ,]+", self.features.get("variants", "normal"))
        return next((name for name in called if name in variants), None)

    def _writes_xboard(self, game: str) -> bool:
        """Whether moves of a game are in XBoard's notation: shogi from version 2 on."""
        return self._new_version and game_facts(game).formats.protocol == "usi"

    def _set_up(self, position: EnginePosition, replay: Replay) -> str:
        """Return the commands that set up a position in force mode."""
        write = to_xboard if self._writes_xboard(position.game) else str
        start = (position.game, position.start)
        shared = len(self._moves)
        lines = ["force"]
        if start != self._start or replay.moves[:shared] != self._moves:
            shared = 0
            lines = ["new"]
            if (variant := self._variant(position.game)) not in (None, "normal"):
                lines.append(f"variant {variant}")
            lines.append("force")
            if position.start is not None:
                lines.append(f"setboard {self._fen(replay.first)}")
        say = "usermove " if self.features.get("usermove") == "1" else ""
        lines += [say + write(move) for move in replay.moves[shared:]]
        self._start, self._moves = start, replay.moves
        return "".join(f"{line}\n" for line in lines)

    def _fen(self, first: Position) -> str:
        fen = " ".join(first.text.split(" ", 6)[:6])
        named = type(first) is game_facts(game_of_protocol("uci")).position_type
        takes = self._new_version and self.features.get("setboard", "0" if self.features else "1")
        if not named or is_chess960(fen) or takes != "1":
            message = "cannot set up such a position; give the moves from the start"
            raise self.transport.error(message, "refused")
        return fen

    async def _move(
        self, position: EnginePosition, replay: Replay, lines: str, wait_s: float
    ) -> Evaluation:
        """Let the engine move after the set-up lines."""
        search = _Search(self.transport, ended_a_game=self._ended_a_game)
        start, self._start = self._start, None  # after a failure its board is unknown
        spent_s = await self.transport.ask(f"{lines}go\n", search, wait_s)
        self.transport.tell("force\n")  # it must not ponder
        last = replay.last
        read = from_xboard if self._writes_xboard(position.game) else str
        best = "resign" if search.best == "resign" else self._legal(read(search.best), last)
        self._start, self._moves = start, (*replay.moves, best)
        self._ended_a_game = best != "resign" and self._ends_game(last, best)
        if search.thought is None:
            return Evaluation(best=best, time_s=spent_s)
        depth, score, nodes = (int(number) for number in search.thought.groups())
        mate = None
        if abs(score) > _MATE:
            mate = int(math.copysign(min(abs(score) - _MATE, UNKNOWN_MATE), score))
        return Evaluation(
            score=None if mate is not None else float(score),
            unit="centipawns",
            mate=mate,
            best=best,
            depth=min(depth, DEEPEST),
            nodes=nodes,
            time_s=spent_s,
        ).from_view(last.to_play)

    @staticmethod
    def _ends_game(last: Position, best: str) -> bool:
        """Whether a move ends the game."""
        return not last.play(last.parse(best)).legal_moves

    def _time_s(self, limits: Limits) -> float | None:
        """Return the time limit; CECP counts whole seconds."""
        time_s = (limits or _DEFAULT_LIMITS).time_s
        return None if time_s is None else math.ceil(time_s)

    def _limit_lines(self, limits: Limits) -> str:
        limits = limits or _DEFAULT_LIMITS
        for key in ("nodes", "playouts", "level"):
            if getattr(limits, key) is not None:
                message = f"CECP knows no limit '{key}'; there are time and depth"
                raise self._no_limit(message)
        lines = ""
        if limits.time_s is not None:
            seconds = math.ceil(limits.time_s)
            lines += f"st {seconds}\n" if self._new_version else f"level 1 {_minutes(seconds)} 0\n"
        if limits.depth is not None:
            if not self._new_version:
                message = "tells nothing of depths; give it a time"
                raise self._no_limit(message)
            # Without a time of its own, an engine would follow some clock.
            lines += "" if limits.time_s is not None else "st 3600\n"
            lines += f"sd {limits.depth}\n"
        return lines

    def _level_line(self, own: Clock) -> str:
        if own.period_s:
            raise self.transport.error("CECP knows no byo-yomi", "limit")
        left = _minutes(math.floor(own.main_s))
        if self._new_version:
            return f"level {own.moves_to_go or 0} {left} {own.increment_s:g}\n"
        # Version 1 only has a number of moves per time, and gets the remaining time before each
        # move.
        return f"level {own.moves_to_go or _MOVES_TO_COME} {left} 0\n"


def _minutes(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"
