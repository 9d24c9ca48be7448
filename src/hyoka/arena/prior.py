# SPDX-License-Identifier: Apache-2.0
"""UCT's prior fitted on self-play: the sigmoid's scale, and what the evaluation counts for.

Nakamura 2007 starts a new node as if it had been simulated n times with the result σ(evaluation).
The scale of σ is fitted to what simulations say of new nodes; n is what wins.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.arena.played import PlayedGame
from hyoka.errors import StudyError
from hyoka.estimate import Estimate
from hyoka.games import Position
from hyoka.learning import fit_sigmoid
from hyoka.passes import GameTable
from hyoka.playouts import playouts
from hyoka.search import LinearEvaluation

_Z95: Final = NormalDist().inv_cdf(0.975)
_PLAYOUTS: Final = 50


@dataclass(frozen=True, eq=False)
class NewNodes:
    """Positions such as a search meets when its tree grows, and what random playouts say of them.

    They lie a random move beside self-play games: the moves of the games themselves were chosen by
    searches that knew better, so that there the evaluation seems to tell less than it does.
    """

    positions: Sequence[Position] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    """The first player's mean result of random playouts."""
    pairs: NDArray[np.int64] = field(repr=False)
    """Equal where games began from the same opening: these are not independent."""
    games: int

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def beside(cls, games: Sequence[PlayedGame], *, seed: int = 0) -> "NewNodes":
        """One for each move that the players had to think about."""
        table = GameTable.from_records(game.record for game in games)
        chance = random.Random(seed)
        found: list[Position] = []
        pairs: list[int] = []
        rows = zip(table.positions(), table.game_ids.tolist(), table.plies.tolist(), strict=True)
        for position, number, ply in rows:
            if ply < sum(remark.book for remark in games[number].record.remarks):
                continue
            move = position.random_move(chance.getrandbits(63))
            if move is None:
                continue
            node = position.play(move)
            if node.outcome is None:
                found.append(node)
                pairs.append(games[number].pairing.pair_id)
        values = [playouts(each, _PLAYOUTS, seed=seed + i).value for i, each in enumerate(found)]
        return cls(found, np.array(values), np.array(pairs, np.int64), len(games))

    def scale(self, evaluation: LinearEvaluation) -> Estimate:
        """The scale with which an evaluation's sigmoid fits the playouts' results best.

        A score s is worth 1 / (1 + exp(-s / scale)). The interval counts pairs of games. The
        sigmoid has no constant, since the search's has none. Raises StudyError where a higher
        score does not go with more wins: then no scale is right.
        """
        scores = evaluation.score(self.positions).astype(np.float64)
        fit = fit_sigmoid(scores[:, None], self.values, self.pairs, names=["the evaluation"])
        slope, error = float(fit.coefficients[0]), float(np.sqrt(fit.covariance[0, 0]))
        if slope <= 0:
            raise StudyError(
                f"at {len(self):,} positions a higher score does not go with more wins: there is "
                "no scale to fit; play more games, or give other weights"
            )
        flattest = slope - _Z95 * error
        highest = 1 / flattest if flattest > 0 else float("inf")
        return Estimate(1 / slope, 1 / (slope + _Z95 * error), highest)
