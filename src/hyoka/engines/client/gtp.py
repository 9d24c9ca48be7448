# SPDX-License-Identifier: Apache-2.0
"""Client for GTP engines: Go, Othello and Blokus Duo.

GTP has no evaluation command; `profiles.toml` defines what each engine offers instead.
"""

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from hyoka._core import Player
from hyoka.engines.client.engine import EngineClient
from hyoka.engines.client.transport import (
    DOUBT_S,
    Transport,
    last_match,
    mistaken,
    other_greetings,
    printable,
)
from hyoka.engines.profiles import UNITS, choose_profile
from hyoka.engines.spec import (
    KEYS,
    EnginePosition,
    EngineSpec,
    Limits,
    Replay,
    evaluate_finished,
)
from hyoka.foundation.errors import nearest
from hyoka.games import GO, Position, as_go, game_facts
from hyoka.games.clock import Clock
from hyoka.games.evaluation import Evaluation
from hyoka.games.go import stones_of

_MAX_ANSWER_LINES: Final = 100_000
_STDERR_PATIENCE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An engine's answer to one command."""

    command: str
    accepted: bool
    text: str


class _Answers:
    """Reads one answer per command, and ignores output in between."""

    def __init__(self, commands: Sequence[str], transport: Transport) -> None:
        self._commands = list(commands)
        self._transport = transport
        self._lines: list[str] = []
        self.answers: list[Answer] = []

    def __call__(self, text: str) -> bool:
        for line in text.split("\n"):
            self._read(line)
            if len(self.answers) == len(self._commands):
                return True
        return False

    def _read(self, line: str) -> None:
        if not self._lines:
            if line.startswith(("=", "?")):
                self._lines.append(line)
            else:
                self._heard_between(line)
        elif line.strip():
            self._lines.append(line)
            if len(self._lines) > _MAX_ANSWER_LINES:
                raise self._transport.error("floods: too many lines in an answer", "flood")
        else:
            first = self._lines[0]
            text = "\n".join([first[1:].lstrip("0123456789"), *self._lines[1:]]).strip()
            command = self._commands[len(self.answers)]
            self.answers.append(Answer(command, first[0] == "=", text))
            self._lines.clear()

    def _heard_between(self, line: str) -> None:
        """Ignore a line that is not an answer."""


class _FirstAnswers(_Answers):
    """Reads the answers to the greeting, where lines may belong to another protocol."""

    def doubt(self) -> str:
        """Return the other protocols' greetings; a GTP engine answers each of their lines."""
        others = other_greetings("gtp")
        self._commands += others.splitlines()
        return others

    def _heard_between(self, line: str) -> None:
        message = mistaken("gtp", line)
        if message is not None:
            raise self._transport.error(message, "nonsense")


class GtpEngine(EngineClient):
    """A running GTP engine. A position that extends the last one costs only its new moves."""

    protocol: ClassVar[str] = "gtp"

    def __init__(self, spec: EngineSpec, transport: Transport) -> None:
        super().__init__(spec, transport)
        self.commands: frozenset[str] = frozenset()
        self._limits = Limits()
        # The state of the engine's board: game and start, and the moves since.
        self._start: tuple[str, str | None, float] | None = None
        self._moves: tuple[str, ...] = ()

    async def _shake_hands(self, *, patient: bool = False) -> bool:
        first = _FirstAnswers(["name", "version", "list_commands"], self.transport)
        text = "name\nversion\nlist_commands\n"
        # A GTP engine also answers the greetings of other protocols, and stays unchanged.
        later = [(DOUBT_S, first.doubt)]
        await self.transport.ask(text, first, self.spec.timeout_s, later=later)
        name, version, commands = first.answers[:3]
        self.name = printable(name.text) if name.accepted and name.text else self.spec.program_name
        self.version = printable(version.text) if version.accepted else ""
        self.commands = frozenset(commands.text.split() if commands.accepted else ())
        return False

    async def _configure(self) -> None:
        names = (f"{self.name} {self.version}", self.spec.command)
        self.profile = choose_profile(self.spec.profile, names, self.commands)
        self._pattern = re.compile(self.profile.pattern, re.MULTILINE)
        await self.send([command for command in self.profile.start if self._knows(command)])
        await self._set_options()
        await self._set_limits(self.spec.limits)

    async def _set_options(self) -> None:
        if self.spec.options and not self.profile.option:
            name = self.spec.options[0][0]
            hint = nearest(name, [*KEYS, "name", "profile", "timeout", "grace"])
            hint = hint or "an engine's own go into its command"
            raise self.transport.error(f"GTP knows no option '{name}'; {hint}", "option")
        for name, value in self.spec.options:
            command = self.profile.option.format(name=name, value=value)
            await self._demand([command], "option")

    async def _set_limits(self, limits: Limits) -> None:
        if limits == self._limits:
            return
        numbers = {key: getattr(limits, name) for key, name in KEYS.items()}
        seconds = 0 if limits.time_s is None else math.ceil(limits.time_s)
        for key, number in numbers.items():
            if number is None:
                continue
            template = self.profile.limit_command(key)
            if template is None:
                limits_offered = [other for other in KEYS if self.profile.limit_command(other)]
                raise self.transport.error(
                    f"knows no limit '{key}', as its profile '{self.profile.name}' says; "
                    f"known: {', '.join(limits_offered)}",
                    "limit",
                )
            await self._demand([template.format(seconds=seconds, **numbers)], "limit")
        self._limits = limits

    def _knows(self, command: str) -> bool:
        return command.split(" ", 1)[0] in self.commands

    async def send(self, commands: Sequence[str], wait_s: float | None = None) -> list[Answer]:
        """Send commands at once and read an answer to each, all within `wait_s`."""
        if not commands:
            return []
        reader = _Answers(commands, self.transport)
        text = "\n".join(commands) + "\n"
        await self.transport.ask(text, reader, wait_s or self.spec.timeout_s)
        return reader.answers

    async def _demand(
        self, commands: Sequence[str], reason: str = "refused", wait_s: float | None = None
    ) -> list[Answer]:
        """Send commands; raises EngineError with the reason if the engine refuses one."""
        answers = await self.send(commands, wait_s)
        for answer in answers:
            if not answer.accepted:
                raise self.transport.error(f"refuses '{answer.command}': {answer.text}", reason)
        return answers

    async def command(self, commands: Sequence[str]) -> list[Answer]:
        """Send external commands, whose effect on the board is unknown."""
        self._start = None
        # They may search several times, or without a time limit.
        return await self.send(commands, self.spec.timeout_s + (self._thinking_s or 0.0))

    @property
    def _thinking_s(self) -> float | None:
        """The time limit as sent: many engines count whole seconds."""
        return None if self._limits.time_s is None else math.ceil(self._limits.time_s)

    @property
    def abilities(self) -> str:
        """The number of commands, and the profile."""
        if not self.commands:
            return ""
        return f"{len(self.commands)} commands, profile '{self.profile.name}'"

    async def new_game(self) -> None:
        """Clear the board, and the engine's caches where possible."""
        self._start = None
        forget = [command for command in self.profile.forget if self._knows(command)]
        await self.send(["clear_board", *forget])

    async def evaluate(self, position: EnginePosition, limits: Limits | None = None) -> Evaluation:
        """Evaluate a position by the engine's profile; the board is unchanged.

        The rules evaluate a finished game other than Go.
        """
        replay = self._replayed(position)
        last = replay.last
        result = evaluate_finished(position.game, last)
        if result is not None:
            return result
        began = time.monotonic()
        await self._set_up(position, replay, limits)
        seen = self.transport.stderr_count
        answers = await self._ask(self.profile.ask, last)
        text = "\n".join(answer.text for answer in answers)
        numbers: dict[str, str] = {}
        if self.profile.pattern:
            numbers = await self._read(text, seen)
        if "{genmove}" in self.profile.ask:
            numbers["best"] = answers[self.profile.ask.index("{genmove}")].text
        best = self._checked(numbers["best"], last) if "best" in numbers else None
        if self.profile.undo and best is not None:
            await self._undo(best)
        nodes = numbers.get("nodes")
        return Evaluation(
            value=self._value(numbers.get("value")),
            score=self._number(numbers.get("score")),
            unit="points",
            best=best,
            nodes=None if nodes is None else int(nodes[:18]),
            time_s=time.monotonic() - began,
        ).from_view(self._viewer(numbers.get("winner"), last))

    async def best_move(self, position: EnginePosition, limits: Limits | None = None) -> str | None:
        """Return the engine's move or `resign`; None if the game is over."""
        replay = self._replayed(position)
        if evaluate_finished(position.game, replay.last) is not None:
            return None
        await self._set_up(position, replay, limits)
        (answer,) = await self._ask(["{genmove}"], replay.last)
        return self._checked(answer.text, replay.last)

    async def play(
        self, position: EnginePosition, clocks: tuple[Clock, Clock] | None = None
    ) -> Evaluation:
        """Return the engine's move in a game; the move stays on the engine's board.

        It has an evaluation where the profile reads one from the move's search.
        """
        replay = self._replayed(position)
        last = replay.last
        new = self._start is None or len(self._moves) > len(replay.moves)
        await self._set_up(position, replay, None)
        time_commands = [] if clocks is None else self._clock_commands(clocks, last.to_play, new)
        color = "b" if last.to_play is Player.first else "w"
        seen = self.transport.stderr_count
        began = time.monotonic()
        own = None if clocks is None else clocks[last.to_play.value]
        wait_s = self._patience_s(self._thinking_s, own)
        start, self._start = self._start, None
        *_, answer = await self.send([*time_commands, f"genmove {color}"], wait_s)
        spent_s = time.monotonic() - began
        if not answer.accepted:
            raise self.transport.error(f"refuses '{answer.command}': {answer.text}", "refused")
        best = self._checked(answer.text, last)
        self._start, self._moves = start, (*self._moves, best)
        value = await self._value_behind(answer, seen)
        return Evaluation(value=value, best=best, time_s=spent_s).from_view(last.to_play)

    async def _value_behind(self, answer: Answer, seen: int) -> float | None:
        """Return the mover's value of a move, where the engine reports it with the move."""
        if self.profile.read != "stderr" or self.profile.view != "mover":
            return None
        match = await self.transport.find_in_stderr(self._pattern, seen, 0.0)
        text = None if match is None else match.groupdict().get("value")
        return self._value(text)

    def _clock_commands(self, clocks: tuple[Clock, Clock], mover: Player, new: bool) -> list[str]:
        """Return the time commands: the settings in a new game, and both clocks."""
        own = clocks[mover.value]
        commands = []
        if own.increment_s:
            if "kata-time_settings" not in self.commands:
                raise self.transport.error("GTP knows no increments; give byo-yomi", "limit")
            fischer = f"kata-time_settings fischer {own.main_s:.3f} {own.increment_s:.3f}"
            commands = [fischer] if new else []
        elif new and own.moves_to_go:  # moves per time: a period of several stones
            commands = [f"time_settings 0 {math.floor(own.main_s)} {own.moves_to_go}"]
        elif new:
            main_s, period_s = math.floor(own.main_s), math.floor(own.period_s)
            commands = [f"time_settings {main_s} {period_s} {1 if period_s else 0}"]
        for color, clock in zip("bw", clocks, strict=True):
            periods = clock.main_s <= 0 and clock.period_s > 0
            left_s = clock.period_s if periods else clock.main_s
            stones = 1 if periods else clock.moves_to_go or 0
            commands.append(f"time_left {color} {math.floor(left_s)} {stones}")
        return commands

    def _replayed(self, position: EnginePosition) -> Replay:
        game = position.game
        games = self.profile.games
        facts = game_facts(game)
        if facts.formats.protocol != "gtp" or (games and not any(map(facts.is_called, games))):
            plays = " and ".join(games) or "Go, Othello or Blokus Duo"
            raise self.transport.error(f"plays {plays}, not {game}", "game")
        if facts.family != GO and position.start is not None:
            message = f"GTP cannot set up a position of {game}; give the moves from the start"
            raise self.transport.error(message, "refused")
        return self._replay(position)

    async def _set_up(
        self, position: EnginePosition, replay: Replay, limits: Limits | None
    ) -> None:
        """Set up the position and the limits."""
        await self._set_limits(limits or self.spec.limits)
        if self.spec.fresh:
            await self.new_game()
        start = (position.game, position.start, position.komi)
        moves = replay.moves
        shared = len(self._moves)
        if start == self._start and moves[:shared] == self._moves:
            commands: list[str] = []
        else:
            commands = self._start_commands(position, replay.first)
            shared = 0
        colors = ("b", "w") if replay.first.to_play is Player.first else ("w", "b")
        commands += [
            f"play {colors[ply % 2]} {move}"
            for ply, move in enumerate(moves[shared:], shared)
            if self.profile.passes or move != "pass"
        ]
        # Until all commands are accepted, the board is unknown.
        self._start = None
        await self._demand(commands)
        self._start, self._moves = start, moves

    def _start_commands(self, position: EnginePosition, first: Position) -> list[str]:
        facts = game_facts(position.game)
        if facts.family != GO:
            if not facts.formats.own_engines:
                return [f"set_game {facts.title}", "clear_board"]
            names = [f"set_game {facts.title}"] if "set_game" in self.commands else []
            return [*names, f"boardsize {facts.size}", "clear_board"]
        komi = position.komi if position.start is None else as_go(first).komi
        # Stones on the board have liberties, so any order captures none.
        stones = [
            f"play {color} {point}"
            for color, points in zip("bw", stones_of(first.cells), strict=True)
            for point in points
        ]
        return [f"boardsize {facts.size}", "clear_board", f"komi {komi:g}", *stones]

    async def _ask(self, templates: Sequence[str], last: Position) -> list[Answer]:
        color = "b" if last.to_play is Player.first else "w"
        leaves_board = "reg_genmove" in self.commands
        genmove = f"{'reg_genmove' if leaves_board else 'genmove'} {color}"
        commands = [template.format(color=color, genmove=genmove) for template in templates]
        start, self._start = self._start, None
        answers = await self._demand(commands, wait_s=self.spec.wait_s(self._thinking_s))
        self._start = start
        if "{genmove}" in templates and not leaves_board:
            await self._undo(answers[templates.index("{genmove}")].text)
        return answers

    async def _undo(self, move: str) -> None:
        """Undo the engine's last move on its board."""
        if move.lower() == "resign" or "undo" not in self.commands:
            self._start = None
            return
        (answer,) = await self.send(["undo"])
        if not answer.accepted:
            self._start = None

    async def _read(self, text: str, seen: int) -> dict[str, str]:
        """Return what the profile's pattern matches in the answers or on standard error."""
        if self.profile.read == "stderr":
            match = await self.transport.find_in_stderr(self._pattern, seen, _STDERR_PATIENCE_S)
        else:
            match = last_match(self._pattern, text)
        if match is None:
            where = (
                "on its standard error" if self.profile.read == "stderr" else f"in '{text[:200]}'"
            )
            raise self.transport.error(
                f"no evaluation {where}, as its profile '{self.profile.name}' reads it", "nonsense"
            )
        return {name: group for name, group in match.groupdict().items() if group is not None}

    def _viewer(self, winner: str | None, last: Position) -> Player:
        view = self.profile.view if winner is None else winner[:1].lower()
        if view == "mover":
            return last.to_play
        return Player.first if view[0] == "b" else Player.second

    def _number(self, text: str | None) -> float | None:
        if text is None:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self.transport.error(f"gives '{text[:40]}' for a number", "nonsense")
        return number

    def _value(self, text: str | None) -> float | None:
        if text is None:
            return None
        # A percent sign overrides the profile: some engines have changed their unit.
        unit = "percent" if text.endswith("%") else self.profile.unit
        number = self._number(text.removesuffix("%"))
        assert number is not None
        value = number / UNITS[unit]
        if not -0.001 <= value <= 1.001:
            raise self.transport.error(f"gives {text} for a {unit}", "nonsense")
        return min(max(value, 0.0), 1.0)

    def _checked(self, text: str, last: Position) -> str:
        """Return the move in our notation; raises EngineError for an illegal one."""
        best = text.strip()
        if not best:  # an empty text would be a pass in some games
            raise self.transport.error("answers without a move", "nonsense")
        if best.lower() == "resign":
            return "resign"
        return self._legal(best, last)
