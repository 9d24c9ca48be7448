# SPDX-License-Identifier: Apache-2.0
"""A Go position with its past: a start, and the moves in turn that led from it.

The past says which ko is forbidden and which positions may not come again. It begins anew where
something else than a move in turn changed the board.
"""

from dataclasses import dataclass
from typing import Self

from hyoka._core import Player
from hyoka.games import GoLine, GoPosition


@dataclass(frozen=True, slots=True)
class Past:
    """`game` is `start` after `moves`."""

    start: GoPosition
    moves: tuple[str, ...]
    game: GoPosition

    @classmethod
    def of(cls, game: GoPosition) -> Self:
        """A position without a past."""
        return cls(game, (), game)

    def to_play(self, player: Player) -> "Past":
        """With somebody's turn; the past begins anew if it was the other's."""
        return self if self.game.to_play == player else self.of(self.game.with_to_play(player))

    def with_komi(self, komi: float) -> "Past":
        """With another komi, from the start on."""
        return Past(self.start.with_komi(komi), self.moves, self.game.with_komi(komi))

    def play(self, text: str) -> "Past":
        """Play a move in turn; after two passes as if nobody had passed, since play goes on."""
        here = self.not_over()
        move = here.game.parse(text)
        return Past(here.start, (*here.moves, str(move)), here.game.play(move))

    def not_over(self) -> "Past":
        """As if nobody had passed, if two passes ended the game."""
        return self if self.game.outcome is None else self.of(with_text_field(self.game, 3, "0"))

    def line(self) -> GoLine:
        """The position with its past as the rules see it, or with none if they forbid it."""
        line = self.start.line()
        for text in self.moves:
            move = line.parse(text)
            if line.outcome is not None or not line.is_legal(move):
                return self.game.line()  # a repetition, say, that the record's rules allow
            line = line.play(move)
        return line


def with_text_field(game: GoPosition, index: int, value: str) -> GoPosition:
    """Give the position with one field of its text changed: 2 is the ko, 3 the passes."""
    fields = game.text.split()
    fields[index] = value
    return type(game).from_text(" ".join(fields))
