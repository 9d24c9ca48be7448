# SPDX-License-Identifier: Apache-2.0
"""Positions with few of many features each, and what came of their games: what the tuner fits.

All numbers are the first player's: what a feature adds speaks for that player.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.errors import StudyError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_FEATURES: Final = 65_536


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Positions with few of many features each, in the order of their games."""

    names: tuple[str, ...]
    starts: NDArray[np.int64] = field(repr=False)
    features: NDArray[np.uint16] = field(repr=False)
    """Of each row from its start on, rising."""
    amounts: NDArray[np.float32] = field(repr=False)
    results: NDArray[np.float32] = field(repr=False)
    """1 won, 0.5 drawn, 0 lost."""
    games: NDArray[np.uint32] = field(repr=False)
    """Numbers that do not fall: positions of one game stand together."""
    ending: NDArray[np.float32] | None = field(default=None, repr=False)
    """How far the game has come, 0 to 1; None: weights are the same everywhere."""
    base: NDArray[np.float64] | None = field(default=None, repr=False)
    """A score that the features are added to."""
    told: NDArray[np.float64] | None = field(default=None, repr=False)
    """What another evaluator says."""
    told_scores: bool = False
    """Whether these are scores, not values from 0 to 1."""
    unit: str = "points"
    source: str = "a table"
    game: str = ""
    mixed_games: int = 0
    """Games whose positions have several results: those of whoever is to move, perhaps."""
    left_out: int = 0
    """Rows that are of no position of the study, or without a result that counts."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(
        cls,
        matrix: "csr_array | NDArray[Any]",
        results: Sequence[float] | NDArray[Any],
        games: Sequence[Any] | NDArray[Any],
        names: Sequence[str] | None = None,
        **more: Any,
    ) -> "FeatureTable":
        """From a matrix, sparse or not, with a row a position and a column a feature."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - it takes a second to import

        rows = csr_array(matrix)
        rows.sum_duplicates()  # which sorts, too
        called = tuple(names or (f"f{i}" for i in range(rows.shape[1])))
        if len(called) != rows.shape[1] or len(set(called)) != len(called):
            raise StudyError(f"{rows.shape[1]} features need as many names, each once")
        if rows.shape[1] > MOST_FEATURES:
            raise StudyError(f"there are {rows.shape[1]:,} features, more than {MOST_FEATURES:,}")
        table = cls(
            called,
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.uint16),
            rows.data.astype(np.float32),
            np.asarray(results, np.float32),
            np.zeros(rows.shape[0], np.uint32),
            **more,
        )
        return table.in_games(np.asarray(games))

    def in_games(self, games: NDArray[Any]) -> "FeatureTable":
        """The same rows with positions of one game beside each other."""
        if not len(games) == len(self.results) == len(self):
            raise StudyError(
                f"{len(self):,} rows, {len(self.results):,} results and {len(games):,} games do "
                "not fit"
            )
        _, numbers = np.unique(games, return_inverse=True)
        numbered = replace(self, games=numbers.astype(np.uint32))
        if (np.diff(numbers) >= 0).all():
            return numbered
        return numbered.take(np.argsort(numbers, kind="stable"))

    def take(self, rows: NDArray[np.int64]) -> "FeatureTable":
        """Some rows, in another order perhaps."""
        counts = np.diff(self.starts)[rows]
        starts = np.append(0, np.cumsum(counts))
        places = np.repeat(self.starts[rows] - starts[:-1], counts) + np.arange(starts[-1])
        columns = ("results", "games", "ending", "base", "told")
        chosen: dict[str, Any] = {name: getattr(self, name) for name in columns}
        kept: dict[str, Any] = {
            name: None if each is None else each[rows] for name, each in chosen.items()
        }
        return replace(
            self,
            starts=starts,
            features=self.features[places],
            amounts=self.amounts[places],
            **kept,
        )
