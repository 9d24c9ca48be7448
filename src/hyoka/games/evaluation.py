# SPDX-License-Identifier: Apache-2.0
"""Evaluations of positions, always from the first player's view.

The first player is Black in Go, shogi and Othello, White in chess, the first to move in Blokus Duo.
Protocols and programs use other views; only `Evaluation.from_view` converts them.
"""

from dataclasses import dataclass, replace
from typing import Final, Self

from hyoka._core import Player

UNKNOWN_MATE: Final = 10_000
"""The length of a proved mate of unknown length (USI's `mate +`)."""
MATE_SCORE: Final = 20_000
"""Scores of at least this many centipawns are mates; engines' limits are higher."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """An evaluation of one position; unknown fields are None."""

    value: float | None = None
    """The first player's expected result, 0 to 1."""
    score: float | None = None
    """The first player's lead in `unit`; None with a mate."""
    unit: str = ""
    """Of `score`: `centipawns`, `points`, or empty without a score."""
    mate: int | None = None
    """Moves to mate as the protocol counts them: > 0, the first player mates; < 0, the second.

    Never 0, so that the sign shows the winner. A side that is already mated is a mate in 1 with
    `value` exactly 0 or 1 and no `best`; a mate of unknown length is `UNKNOWN_MATE` long.
    """
    win: float | None = None
    """The probability that the first player wins; with `draw` and `loss` it sums to 1."""
    draw: float | None = None
    loss: float | None = None
    best: str | None = None
    """The move to play, as the game writes it; `resign` or `win` (USI) if the engine says so."""
    depth: int | None = None
    nodes: int | None = None
    """Positions or playouts searched, as the engine counts them."""
    time_s: float = 0.0
    """From the question to the answer, by our clock."""

    def from_view(self, viewer: Player) -> Self:
        """Convert from `viewer`'s view to the first player's.

        Here `win` is the probability that `viewer` wins; the three probabilities imply the value.
        `mate=0` means that `viewer` is mated. A mate replaces the score.

        >>> Evaluation(score=30, unit="centipawns").from_view(Player.second).score
        -30.0
        >>> mated = Evaluation(mate=0).from_view(Player.second)
        >>> mated.mate, mated.value
        (1, 1.0)
        """
        value, mate, win, draw, loss = self.value, self.mate, self.win, self.draw, self.loss
        score = self.score if mate is None else None
        if mate == 0:
            mate, win, draw, loss = -1, 0.0, 0.0, 1.0
        if win is not None and draw is not None:
            value = win + draw / 2
        if viewer is Player.second:
            value = None if value is None else 1.0 - value
            score = None if score is None else 0.0 - score  # and no negative zero
            mate = None if mate is None else -mate
            win, loss = loss, win
        unit = self.unit if score is not None else ""
        return replace(
            self, value=value, score=score, unit=unit, mate=mate, win=win, draw=draw, loss=loss
        )
