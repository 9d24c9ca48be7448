# SPDX-License-Identifier: Apache-2.0
"""What weights are fitted on: positions with a score, features and the result of their game."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.sample import DrawnGames
from hyoka.errors import StudyError
from hyoka.learning.sigmoid import Array
from hyoka.search import LinearEvaluation
from hyoka.study.evaluating import sampled


@dataclass(frozen=True)
class Weight:
    """A number to be fitted."""

    name: str
    former: float | None
    """What it is in the evaluation at hand; None if it is not there, or not one number."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Positions to fit on, a row each, all in the first player's view.

    The score with weights w is `rest + features @ w`.
    """

    game: str
    weights: tuple[Weight, ...]
    unit: str
    """Of the scores."""
    games: NDArray[np.int64]
    plies: NDArray[np.int32]
    results: Array
    """1 won, 0.5 drawn, 0 lost; what an exact method knows goes before what the record says."""
    rest: Array
    """The score without what is fitted."""
    before: Array
    """The score to begin with."""
    features: Array
    traits: dict[str, Array]
    """What conditions for splits are made from, by name."""
    source: str
    """What the scores are, in words."""
    study: str = ""
    """The study they are from, by its folder's name."""
    undecided: int = 0
    """Positions left out since no result is known, or since they are of drawn games."""
    unscored: int = 0
    """Positions left out since the game is over there or in what a search expects (a mate)."""
    quiet: bool = False
    """Whether the positions are those where quiescence searches came to rest."""
    start: LinearEvaluation | None = None
    """The evaluation to begin with; None if the scores are not from one of ours."""
    base: LinearEvaluation | None = None
    """The same without what is fitted."""
    directions: NDArray[np.float32] | None = None
    """What each number adds to the weights of `base`: by number, term and phase."""

    def __len__(self) -> int:
        return len(self.results)

    def evaluation(self, weights: Array, scale: float) -> LinearEvaluation | None:
        """The evaluation with these weights; None if the scores are not from one of ours."""
        if self.base is None or self.directions is None:
            return None
        changed = self.base.weights + np.tensordot(weights, self.directions, axes=1)
        return self.base.with_weights(changed, scale=scale)


def decided(table: pa.Table, draws: DrawnGames) -> tuple[pa.Table, int]:
    """The rows whose result is known and counts, and how many others there were."""
    results = table["result"].to_numpy(zero_copy_only=False).astype(np.float64)
    keep = np.isfinite(results)
    if draws == "drop":
        keep &= results != 0.5
    if not keep.any():
        raise StudyError(
            f"none of {len(table):,} positions is from a game with a known result"
            + (" that is no draw" if draws == "drop" else "")
            if len(table)
            else "no position satisfies the condition"
        )
    return table.filter(pa.array(keep)), int((~keep).sum())


def some_of_each_game(table: pa.Table, sample: int | None, seed: int) -> pa.Table:
    """All rows, or `sample` of each game, chosen by `seed` as `evaluate` does."""
    if sample is None:
        return table
    kept = sampled(table, sample, seed)
    ids = pa.table({"game_id": kept[0], "ply": kept[1]})
    return table.join(ids, ["game_id", "ply"], join_type="inner").sort_by(
        [("game_id", "ascending"), ("ply", "ascending")]
    )
