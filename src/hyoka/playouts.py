# SPDX-License-Identifier: Apache-2.0
"""Random playouts in bulk."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyoka.games import Game


@dataclass(frozen=True)
class Playouts:
    """How many random games from one position ended; all three arrays have one entry a playout."""

    outcomes: NDArray[np.int8]
    """1 the first player won, 0 a draw, -1 the second player won."""
    lengths: NDArray[np.int32]
    """Plies played, passes included."""
    scores: NDArray[np.float32]
    """Final scores for the first player."""

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def value(self) -> float:
        """The first player's mean result, 0 to 1; NaN without playouts."""
        return float((self.outcomes.mean() + 1) / 2) if len(self) else float("nan")

    @property
    def standard_error(self) -> float:
        """Of `value`; playouts are independent. NaN below two playouts."""
        return (
            float(self.outcomes.std(ddof=1) / 2 / len(self) ** 0.5)
            if len(self) > 1
            else float("nan")
        )


def playouts(
    game: Game, count: int, *, seed: int = 0, threads: int | None = 1, limit: int | None = None
) -> Playouts:
    """Play `count` random games from `game` (a position or a line of play) to their ends.

    Moves are uniform over the legal ones; in Go a player never fills an own single-point eye and
    passes when nothing else is left. A game still going after `limit` plies (shogi 256, Go three
    times the points, chess 20,000, more than any game by the rules) is scored as it stands, in
    shogi and chess as a draw.
    The i-th playout depends on `seed` and i alone, whatever the number of `threads` (None: one a
    core). The interpreter is free meanwhile, and Ctrl-C works.

    >>> import hyoka as hk
    >>> results = playouts(hk.Othello(), 100, seed=7, threads=2)
    >>> len(results), bool((results.outcomes == playouts(hk.Othello(), 100, seed=7).outcomes).all())
    (100, True)
    """
    if not 0 <= count <= 10**10:
        raise ValueError(f"count must be 0 to ten thousand million, not {count}")
    if limit is not None and limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    if threads is not None and not 1 <= threads <= 1024:
        raise ValueError(f"threads must be 1 to 1024 or None, not {threads}")
    workers = threads or os.cpu_count() or 1
    plies = None if limit is None else min(limit, 2**31 - 1)
    return Playouts(*game.playout_arrays(count, seed % 2**64, workers, plies))
