# SPDX-License-Identifier: Apache-2.0
"""Shapes of stones that moves are played in often: features of moves of Go that are found.

Shapes have nine nested sizes, from 12 points around the move to 96 or so; stones are own or the
other's, points empty or off the board. A shape and its turned and mirrored likenesses are one.
"""

from typing import Final

import numpy as np

from hyoka import _core
from hyoka.errors import NotationError
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally

_MOVES: Final = 4_000_000
"""Moves that are looked at; each takes a hundred bytes."""


def frequent_shapes(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    most: int,
    *,
    least: int = 20,
    seed: int = 0,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> list[str]:
    """The shapes that moves of games were played in most often, at most so many, as letters.

    None that was met fewer than `least` times. What lies within a shape was met as often, and so
    is one of them, too.
    """
    some = games.some(_MOVES, seed=seed)
    looking = Tally(progress, "looking at shapes", len(some), "positions")
    try:
        hashes, packed = some.shapes_played(threads=threads, progress=looking.reach)
    except ValueError as error:
        raise NotationError(str(error)) from None
    looking.reach(len(some))
    met: list[tuple[int, int, int]] = []  # minus how often, size, row of the first
    for size in range(hashes.shape[1]):
        known, first, counts = np.unique(hashes[:, size], return_index=True, return_counts=True)
        often = (counts >= least) & (known != 0)  # 0 is where no point was played
        met += [
            (-int(count), size, int(row))
            for count, row in zip(counts[often], first[often], strict=True)
        ]
    met.sort()
    return [_core.text_of_shape(packed[row], size) for _, size, row in met[:most]]
