# SPDX-License-Identifier: Apache-2.0
"""Evaluations of positions, always from the first player's view.

The first player is Black in Go, shogi and Othello, White in chess, the first to move in Blokus Duo.
Protocols and programs use other views; only `Evaluation.seen_by` converts them.
"""

from dataclasses import dataclass
from typing import Final, Self

from hyoka._core import Player

UNKNOWN_MATE: Final = 10_000
"""The length of a proved mate of unknown length (USI's `mate +`)."""


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

    @classmethod
    def seen_by(  # noqa: PLR0913 - a keyword for each field
        cls,
        viewer: Player,
        *,
        value: float | None = None,
        score: float | None = None,
        unit: str = "",
        mate: int | None = None,
        wdl: tuple[float, float, float] | None = None,
        best: str | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        time_s: float = 0.0,
    ) -> Self:
        """Convert an evaluation from `viewer`'s view to the first player's.

        `wdl` are the probabilities that `viewer` wins, draws and loses; they imply the value.
        `mate=0` means that `viewer` is mated. A mate replaces the score.

        >>> Evaluation.seen_by(Player.second, score=30, unit="centipawns").score
        -30.0
        >>> mated = Evaluation.seen_by(Player.second, mate=0)
        >>> mated.mate, mated.value
        (1, 1.0)
        """
        if mate is not None:
            score, unit = None, ""
            if mate == 0:
                mate, wdl = -1, (0.0, 0.0, 1.0)
        win, draw, loss = wdl or (None, None, None)
        if win is not None and draw is not None:
            value = win + draw / 2
        if viewer is Player.second:
            value = None if value is None else 1.0 - value
            score = None if score is None else 0.0 - score  # and no negative zero
            mate = None if mate is None else -mate
            win, loss = loss, win
        return cls(
            value=value,
            score=score,
            unit=unit if score is not None else "",
            mate=mate,
            win=win,
            draw=draw,
            loss=loss,
            best=best,
            depth=depth,
            nodes=nodes,
            time_s=time_s,
        )
