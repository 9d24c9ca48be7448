# SPDX-License-Identifier: Apache-2.0
"""The board and clocks behind GTP: either color may move, and moves can be undone."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hyoka._core import Player
from hyoka.engines.server.controller import continued
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
from hyoka.records.problems.go_position import with_text_field


class Clocks:
    """The clocks of a game; without any, `of` is None.

    What a player has is what `time_left` said last, less what we have spent since.
    """

    def __init__(self) -> None:
        self._whole: Clock | None = None
        self._left: dict[Player, Clock] = {}
        self._periods = False

    def of(self, player: Player) -> Clock | None:
        """A player's clock, or None if nobody counts."""
        return self._left.get(player, self._whole)

    def restart(self) -> None:
        """A new game: full clocks again."""
        self._left = {}

    def spent(self, player: Player, seconds: float) -> None:
        """Take off what a move has cost."""
        clock = self.of(player)
        if clock is not None:
            self._left[player] = clock.after(seconds, self._whole)

    def set(self, words: Sequence[str]) -> None:
        """`time_settings MAIN BYO STONES`; a period without stones means that nobody counts."""
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
        """`time_left`'s seconds and stones; with Japanese byo-yomi (KGS) these are periods."""
        seconds, stones = _numbers(words, 2)
        clock = self._whole or Clock(main_s=seconds)
        if stones <= 0:
            clock = replace(clock, main_s=seconds)
        else:
            moves = 1 if self._periods else max(1, int(stones))
            clock = replace(clock, main_s=0.0, period_s=seconds, period_moves=moves)
        self._left[player] = clock

    def _change(self, whole: Clock | None) -> None:
        self._whole, self._left, self._periods = whole, {}, False


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


COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class Board:
    """A position with its past, as a list of lines: a new one where a colour moves twice in a row.

    Within a line the rules see to superko; `play` and `legal_moves` see to it across lines.
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
        """What is known of the game."""
        return self._facts

    @property
    def is_go(self) -> bool:
        """Whether the rules of Go hold here."""
        return self._facts.family == GO

    @property
    def line(self) -> Line:
        """The line that leads to what stands on the board."""
        return self._lines[-1]

    @property
    def position(self) -> Position:
        """What stands on the board."""
        return self.line.position

    @property
    def go_position(self) -> GoPosition:
        """The same, where it is Go."""
        return as_go(self.position)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been put on the board."""
        return len(self._lines) == 1 and not len(self.line) and not self.position.cells.any()

    def clear(self) -> None:
        """Take everything off; komi stays."""
        self._lines = [self._facts.start(komi=self._komi).line()]

    def change_game(self, game: str) -> None:
        """Begin another game, or on a board of another size."""
        self._facts = game_facts(game)
        self.clear()

    def set_komi(self, komi: float) -> None:
        """Change komi, now and for later games."""
        self._komi = komi
        if self.is_go:
            self._lines = [_with_komi(line, komi) for line in self._lines]

    def set_up(self, position: GoPosition) -> None:
        """Put a position of Go on the board; there is nothing to take back."""
        self.set_line(position.line())

    def set_line(self, line: Line) -> None:
        """Put a whole line of Go on the board."""
        self._facts = facts_of(line)
        self._komi = as_go(line.position).komi
        self._lines = [line]

    def turn_to(self, player: Player) -> Line:
        """The line for a player to move in, with whatever must happen for that, not yet kept.

        In Go the other colour is just left out. In other games only a forced pass can be. Raises
        IllegalMoveError.
        """
        line = continued(self.line)
        if line.to_play is player:
            return line
        if self.is_go:
            position = with_text_field(as_go(line.position).with_to_play(player), 3, "0")
            return _without_ko(position).line()
        if [str(move) for move in line.legal_moves] == ["pass"]:
            return line.play("pass")
        raise IllegalMoveError("it is the other player's move")

    def legal_moves(self, line: Line) -> list[Move]:
        """The moves in a line of `turn_to` that repeat no position since the board was cleared."""
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
        """Take back the last move. Raises IllegalMoveError if there is none."""
        if not len(self.line):
            raise IllegalMoveError("there is no move to take back")
        if len(self.line) == 1 and len(self._lines) > 1:
            self._lines.pop()
            return
        self._lines[-1] = self.line.undo()
        # A pass that was made for a player goes with the move for whose sake it was made.
        while not self.is_go and len(self.line) and self._was_forced_pass():
            self._lines[-1] = self.line.undo()

    def _was_forced_pass(self) -> bool:
        before = self.line.undo()
        return str(self.line.moves[-1]) == "pass" and len(before.legal_moves) == 1

    def _extends(self, after: Line) -> bool:
        known = len(self.line)
        return (
            len(after) > known
            and after.start == self.line.start
            and after.moves[:known] == self.line.moves
        )

    def _past(self, line: Line) -> set[bytes]:
        """All boards there were before `line` began, if it is not the whole past itself."""
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


def _without_ko(position: GoPosition) -> GoPosition:
    """Whoever moves out of turn is not bound by a ko that was taken for the other colour."""
    return with_text_field(position, 2, "-")


def stones_of(position: GoPosition, player: Player) -> list[str]:
    """The points where a player of Go has stones."""
    wanted = 1 if player is Player.first else -1
    return [
        f"{COLUMNS[column]}{position.size - row}"
        for row, cells in enumerate(position.cells.tolist())
        for column, cell in enumerate(cells)
        if cell == wanted
    ]


def handicap(game: str, komi: float, stones: int) -> GoPosition:
    """The usual handicap position. Raises NotationError if there is none with so many stones."""
    try:
        position = as_go(FACTS[game].start(komi=komi, handicap=stones))
    except (ValueError, TypeError, Error):
        raise NotationError("invalid number of stones") from None
    if stones < 2 or len(stones_of(position, Player.first)) != stones:
        raise NotationError("invalid number of stones")
    return position


def free_handicap(game: str, komi: float, points: Sequence[str]) -> GoPosition:
    """Black's stones on any points, White to play. Raises NotationError for a bad list."""
    start = as_go(FACTS[game].start(komi=komi))
    moves = [start.parse(point) for point in points]
    if len(moves) < 2 or len(set(moves)) < len(moves) or start.parse("pass") in moves:
        raise NotationError("bad vertex list")
    position = start.from_stones([str(move) for move in moves], [], komi=komi)
    if len(stones_of(position, Player.first)) != len(moves):
        raise NotationError("bad vertex list")
    return position.with_to_play(Player.second)
