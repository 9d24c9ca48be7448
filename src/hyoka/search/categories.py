# SPDX-License-Identifier: Apache-2.0
"""Kinds of positions by which an objective may differ: how far, restless, hard (Sato 2013)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.search.difficulty import difficulty
from hyoka.search.spec import SearchSpec

CATEGORIES: Final = {
    "progress": range(8),
    "best_move_changes": range(3),
    "correct_depth": range(1, 5),
}
"""The categories of each class."""
CLASSES: Final = {name: len(categories) for name, categories in CATEGORIES.items()}
"""How many categories each class has."""
DEPTHS: Final = 3
SEARCH: Final = "ab:eval=built-in"
"""What finds best moves, unless something else is said: it does not change with what is learned."""
_AT_ONCE: Final = 500
"""Positions after which progress is told: in Go they take seconds."""


@dataclass(frozen=True, eq=False)
class Categories:
    """One entry a position; -1 where nobody knows."""

    progress: NDArray[np.int8]
    """How far the game has come, in eighths of its moves: 0 to 7."""
    best_move_changes: NDArray[np.int8]
    """How often the best move changes from depth 1 to 3: 0 to 2."""
    correct_depth: NDArray[np.int8]
    """From which depth on the move played is the best: 1 to 3; 4 if it is not."""

    def __len__(self) -> int:
        return len(self.progress)

    @property
    def by_class(self) -> tuple[NDArray[np.int8], ...]:
        """The entries, in the order of the classes."""
        return self.progress, self.best_move_changes, self.correct_depth

    def numbered(self) -> Iterator[NDArray[np.int64]]:
        """By class: each position's category among all that there are, -1 if it is not known."""
        start = 0
        for column, categories in zip(self.by_class, CATEGORIES.values(), strict=True):
            numbers = column.astype(np.int64) - categories.start
            yield np.where(numbers >= 0, numbers + start, -1)
            start += len(categories)

    @classmethod
    def unknown(cls, rows: int) -> "Categories":
        """Of positions of which nothing is known."""
        return cls(*(np.full(rows, -1, np.int8) for _ in CLASSES))


def categories_of(
    games: GameTable,
    *,
    spec: SearchSpec | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> Categories:
    """The categories of all positions of a table: each is searched to three depths."""
    lengths = np.repeat(np.diff(games.move_offsets), np.diff(games.row_offsets))
    eighths = np.minimum(8 * games.plies // np.maximum(lengths, 1), 7)
    tally = Tally(progress, "categories", len(games), "positions")
    changes, depths = [], []
    search = (spec or SearchSpec.from_text(SEARCH)).for_game(games.game)
    for chunk in games.chunks(_AT_ONCE):
        found = difficulty(chunk, depths=DEPTHS, spec=search, threads=threads)
        changes.append(found.best_move_changes)
        depths.append(found.correct_depth)
        tally.add(len(chunk))
    empty = np.zeros(0, np.int8)
    return Categories(
        eighths.astype(np.int8),
        np.concatenate([empty, *changes]),
        np.concatenate([empty, *depths]),
    )
