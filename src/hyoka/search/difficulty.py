# SPDX-License-Identifier: Apache-2.0
"""Difficulty of evaluating positions, and their categories (Sato 2013)."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import Move, Position, game_facts, name_of
from hyoka.records.bulk import UNFINISHED, GameTable
from hyoka.search.assembly import alpha_beta_options, models_for
from hyoka.search.spec import SearchSpec, ab


@dataclass(frozen=True)
class Difficulty:
    """Measures of difficulty, one entry per position."""

    best_move_changes: NDArray[np.int8]
    """The number of changes of the best move from depth 1 to the last: 0 to depths - 1."""
    correct_depth: NDArray[np.int8]
    """The depth from which on the played move is the best; depths + 1 if there is none."""


def measure_difficulty(
    positions: Sequence[Position] | GameTable,
    moves: Sequence[Move] | None = None,
    *,
    depths: int = 3,
    spec: SearchSpec | None = None,
    threads: int = 1,
) -> Difficulty:
    """Search positions to depths 1, 2, … and compare the best moves with the played ones.

    For a table of games, the moves are those of the records; entries are -1 if no move was played
    or the rules end the game.

    >>> import hyoka as hk
    >>> start = hk.Chess()
    >>> result = measure_difficulty([start], [start.parse("e2e4")])
    >>> result.best_move_changes.shape
    (1,)
    """
    if not 1 <= depths <= 20:
        raise NotationError(f"depths are 1 to 20, not {depths}")
    if isinstance(positions, GameTable):
        return _of_games(positions, depths, spec, threads)
    if not positions:
        return Difficulty(np.zeros(0, np.int8), np.zeros(0, np.int8))
    if moves is None:
        raise NotationError("positions need the moves that were played in them")
    chosen = spec or ab()
    game = name_of(positions[0])
    changes, correct = _core.best_move_changes(
        game,
        list(positions),
        list(moves),
        alpha_beta_options(chosen),
        models_for(chosen, game),
        depths,
        threads,
    )
    return Difficulty(np.asarray(changes), np.asarray(correct))


def _of_games(table: GameTable, depths: int, spec: SearchSpec | None, threads: int) -> Difficulty:
    facts = game_facts(table.game)
    changes, correct = (np.full(len(table), -1, np.int8) for _ in range(2))
    done = 0
    for chunk in table.chunks():
        played = chunk.played
        is_searched = (played >= 0) & (chunk.outcomes(threads=threads) == UNFINISHED)
        result = measure_difficulty(
            list(itertools.compress(chunk.positions(), is_searched)),
            [facts.move(code) for code in played[is_searched].tolist()],
            depths=depths,
            spec=spec,
            threads=threads,
        )
        rows = done + np.flatnonzero(is_searched)
        changes[rows], correct[rows] = result.best_move_changes, result.correct_depth
        done += len(chunk)
    return Difficulty(changes, correct)


CATEGORIES: Final = {
    "progress": range(8),
    "best_move_changes": range(3),
    "correct_depth": range(1, 5),
}
"""The categories of each class."""
CLASSES: Final = {name: len(categories) for name, categories in CATEGORIES.items()}
"""The number of categories by class."""
DEPTHS: Final = 3
SEARCH: Final = "ab:eval=built-in"
"""The default search; it does not depend on learned models."""
_AT_ONCE: Final = 500
"""Positions per progress update; in Go they take seconds."""


@dataclass(frozen=True, eq=False)
class Categories:
    """Categories, one entry per position; -1 if unknown."""

    progress: NDArray[np.int8]
    """The eighth of the game's moves: 0 to 7."""
    best_move_changes: NDArray[np.int8]
    """The number of changes of the best move from depth 1 to 3: 0 to 2."""
    correct_depth: NDArray[np.int8]
    """The depth from which on the played move is the best: 1 to 3; 4 if there is none."""

    def __len__(self) -> int:
        return len(self.progress)

    @property
    def by_class(self) -> tuple[NDArray[np.int8], ...]:
        """The entries, in the order of the classes."""
        return self.progress, self.best_move_changes, self.correct_depth

    def numbered(self) -> Iterator[NDArray[np.int64]]:
        """By class: each position's category number over all classes; -1 if unknown."""
        start = 0
        for column, categories in zip(self.by_class, CATEGORIES.values(), strict=True):
            numbers = column.astype(np.int64) - categories.start
            yield np.where(numbers >= 0, numbers + start, -1)
            start += len(categories)

    @classmethod
    def unknown(cls, rows: int) -> "Categories":
        """Categories of positions without any information."""
        return cls(*(np.full(rows, -1, np.int8) for _ in CLASSES))


def categories_of(
    games: GameTable,
    *,
    spec: SearchSpec | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> Categories:
    """Find the categories of all positions of a table by searches to three depths."""
    lengths = np.repeat(np.diff(games.move_offsets), np.diff(games.row_offsets))
    eighths = np.minimum(8 * games.plies // np.maximum(lengths, 1), 7)
    tally = Tally(progress, "categories", len(games), "positions")
    changes, depths = [], []
    search = (spec or SearchSpec.from_text(SEARCH)).for_game(games.game)
    for chunk in games.chunks(_AT_ONCE):
        result = measure_difficulty(chunk, depths=DEPTHS, spec=search, threads=threads)
        changes.append(result.best_move_changes)
        depths.append(result.correct_depth)
        tally.add(len(chunk))
    empty = np.zeros(0, np.int8)
    return Categories(
        eighths.astype(np.int8),
        np.concatenate([empty, *changes]),
        np.concatenate([empty, *depths]),
    )
