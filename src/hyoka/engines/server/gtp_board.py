# SPDX-License-Identifier: Apache-2.0
"""The board and clocks behind GTP: either color may move, and moves can be undone."""

import math
from collections.abc import Sequence
from dataclasses import replace

from hyoka._core import Player
from hyoka.engines.server.controller import continue_line
from hyoka.foundation.errors import Error, IllegalMoveError, NotationError
from hyoka.games import (
    FACTS,
    GO,
    GameFacts,
    GoPosition,
    Line,
    Move,
    Position,
    as_go,
    facts_of,
    game_facts,
)
from hyoka.games.clock import Clock
from hyoka.games.go import stones_of, with_ko, without_passes


class Clocks:
    """The clocks of a game; `of` returns None without time settings.

    A player's time is the last `time_left` minus the time spent since.
    """

    def __init__(self) -> None:
        self._full_clock: Clock | None = None
        self._left: dict[Player, Clock] = {}
        self._periods = False

    def of(self, player: Player) -> Clock | None:
        """Return a player's clock, or None without time settings."""
        return self._left.get(player, self._full_clock)

    def restart(self) -> None:
        """Reset the clocks for a new game."""
        self._left = {}

    def spent(self, player: Player, seconds: float) -> None:
        """Subtract the time of a move."""
        clock = self.of(player)
        if clock is not None:
            self._left[player] = clock.after(seconds, self._full_clock)

    def set(self, words: Sequence[str]) -> None:
        """`time_settings MAIN BYO STONES`; a period without stones disables the clocks."""
        main_s, period_s, stones = _numbers(words, 3)
        if period_s > 0 and stones == 0:
            self._change(None)
        else:
            self._change(_clock(main_s, period_s, int(stones)))

    def set_kgs(self, words: Sequence[str]) -> None:
        """`kgs-time_settings none|absolute|byoyomi|canadian …`."""
        kind, rest = (words[0].lower() if words else ""), words[1:]
        if kind == "none":
            self._change(None)
        elif kind == "absolute":
            self._change(_clock(_numbers(rest, 1)[0], 0.0, 0))
        elif kind == "byoyomi":
            main_s, period_s, _ = _numbers(rest, 3)
            self._change(_clock(main_s, period_s, 1))
            self._periods = True
        elif kind == "canadian":
            main_s, period_s, stones = _numbers(rest, 3)
            self._change(_clock(main_s, period_s, int(stones)))
        else:
            raise NotationError("expected none, absolute, byoyomi or canadian")

    def tell(self, player: Player, words: Sequence[str]) -> None:
        """`time_left` with seconds and stones, which are periods in Japanese byo-yomi (KGS)."""
        seconds, stones = _numbers(words, 2)
        clock = self._full_clock or Clock(main_s=seconds)
        if stones <= 0:
            clock = replace(clock, main_s=seconds)
        else:
            moves = 1 if self._periods else max(1, int(stones))
            clock = replace(clock, main_s=0.0, period_s=seconds, period_moves=moves)
        self._left[player] = clock

    def _change(self, clock: Clock | None) -> None:
        self._full_clock, self._left, self._periods = clock, {}, False


def _clock(main_s: float, period_s: float, stones: int) -> Clock | None:
    if main_s <= 0 and period_s <= 0:
        return None
    return Clock(main_s=main_s, period_s=period_s, period_moves=max(1, stones))


def _numbers(words: Sequence[str], count: int) -> list[float]:
    try:
        numbers = [float(word) for word in words[:count]]
    except ValueError:
        raise NotationError("expected numbers") from None
    if len(numbers) < count or not all(math.isfinite(n) and 0 <= n < 1e9 for n in numbers):
        raise NotationError(f"expected {count} numbers, none of them negative")
    return numbers


class Board:
    """A position with its history, as a list of lines; a new one starts when a color moves twice.

    Within a line the rules apply superko; `play` and `legal_moves` apply it across lines.
    """

    def __init__(self, game: str, komi: float = 7.5) -> None:
        self._facts = game_facts(game)
        self._komi = komi
        self._lines: list[Line] = []
        self.clear()

    @property
    def game(self) -> str:
        """The game's name, such as `go9`."""
        return self._facts.name

    @property
    def facts(self) -> GameFacts:
        """The game's facts."""
        return self._facts

    @property
    def is_go(self) -> bool:
        """Whether the game is Go."""
        return self._facts.family == GO

    @property
    def line(self) -> Line:
        """The current line."""
        return self._lines[-1]

    @property
    def position(self) -> Position:
        """The current position."""
        return self.line.position

    @property
    def go_position(self) -> GoPosition:
        """The current position, in Go."""
        return as_go(self.position)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been played or set up."""
        return len(self._lines) == 1 and not len(self.line) and not self.position.cells.any()

    def clear(self) -> None:
        """Clear the board; komi stays."""
        self._lines = [self._facts.start(komi=self._komi).line()]

    def change_game(self, game: str) -> None:
        """Start another game or board size."""
        self._facts = game_facts(game)
        self.clear()

    def set_komi(self, komi: float) -> None:
        """Change komi, now and for later games."""
        self._komi = komi
        if self.is_go:
            self._lines = [_with_komi(line, komi) for line in self._lines]

    def set_up(self, position: GoPosition) -> None:
        """Set up a position of Go, without moves to undo."""
        self.set_line(position.line())

    def set_line(self, line: Line) -> None:
        """Set up a line of Go."""
        self._facts = facts_of(line)
        self._komi = as_go(line.position).komi
        self._lines = [line]

    def turn_to(self, player: Player) -> Line:
        """Return the line with a player to move, without changing the board.

        In Go the other color is skipped. In other games only a forced pass is possible. Raises
        IllegalMoveError.
        """
        line = continue_line(self.line)
        if line.to_play is player:
            return line
        if self.is_go:
            # A player out of turn is not bound by a ko of the other color.
            position = without_passes(as_go(line.position).with_to_play(player))
            return with_ko(position).line()
        if [str(move) for move in line.legal_moves] == ["pass"]:
            return line.play("pass")
        raise IllegalMoveError("it is the other player's move")

    def legal_moves(self, line: Line) -> list[Move]:
        """Return the moves in a line of `turn_to` that repeat no position since the last clear."""
        if not self.is_go or (len(self._lines) == 1 and line is self.line):
            return list(line.legal_moves)
        past = self._past(line)
        return [move for move in line.legal_moves if not self._repeats(line, move, past)]

    def play(self, player: Player, text: str) -> None:
        """Play a move. Raises NotationError or IllegalMoveError."""
        line = self.turn_to(player)
        if not text:
            raise NotationError("no move is named")
        move = line.parse(text)
        if not line.is_legal(move) or (self.is_go and self._repeats(line, move, self._past(line))):
            raise IllegalMoveError(f"{move} is not legal")
        after = line.play(move)
        if self._extends(after):
            self._lines[-1] = after
        else:
            self._lines.append(after)

    def undo(self) -> None:
        """Undo the last move. Raises IllegalMoveError if there is none."""
        if not len(self.line):
            raise IllegalMoveError("there is no move to take back")
        if len(self.line) == 1 and len(self._lines) > 1:
            self._lines.pop()
            return
        self._lines[-1] = self.line.undo()
        # A forced pass is undone with the move that required it.
        while not self.is_go and len(self.line) and self._was_forced_pass():
            self._lines[-1] = self.line.undo()

    def _was_forced_pass(self) -> bool:
        before = self.line.undo()
        return str(self.line.moves[-1]) == "pass" and len(before.legal_moves) == 1

    def _extends(self, after: Line) -> bool:
        length = len(self.line)
        return (
            len(after) > length
            and after.start == self.line.start
            and after.moves[:length] == self.line.moves
        )

    def _past(self, line: Line) -> set[bytes]:
        """Return all boards before `line`, unless it is the complete history."""
        others = self._lines if line is not self.line else self._lines[:-1]
        boards = set()
        for other in others:
            while True:
                boards.add(other.cells.tobytes())
                if not len(other):
                    break
                other = other.undo()  # noqa: PLW2901 - a walk back
        return boards

    def _repeats(self, line: Line, move: Move, past: set[bytes]) -> bool:
        if str(move) == "pass" or not past:
            return False
        return line.play(move).cells.tobytes() in past


def _with_komi(line: Line, komi: float) -> Line:
    changed: Line = as_go(line.start).with_komi(komi).line()
    for move in line.moves:
        changed = changed.play(move)
    return changed


def handicap(game: str, komi: float, stones: int) -> GoPosition:
    """Return the standard handicap position. Raises NotationError for a bad number of stones."""
    try:
        position = as_go(FACTS[game].start(komi=komi, handicap=stones))
    except (ValueError, TypeError, Error):
        raise NotationError("invalid number of stones") from None
    if stones < 2 or len(stones_of(position.cells)[0]) != stones:
        raise NotationError("invalid number of stones")
    return position


def free_handicap(game: str, komi: float, points: Sequence[str]) -> GoPosition:
    """Return Black's stones on any points with White to play. Raises NotationError."""
    start = as_go(FACTS[game].start(komi=komi))
    moves = [start.parse(point) for point in points]
    if len(moves) < 2 or len(set(moves)) < len(moves) or start.parse("pass") in moves:
        raise NotationError("bad vertex list")
    position = start.from_stones([str(move) for move in moves], [], komi=komi)
    if len(stones_of(position.cells)[0]) != len(moves):
        raise NotationError("bad vertex list")
    return position.with_to_play(Player.second)
