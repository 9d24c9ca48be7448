# SPDX-License-Identifier: Apache-2.0
"""Where a quiescence search comes to rest: the position whose static evaluation is its value."""

from typing import Any, Final

from hyoka import _core
from hyoka.search import LinearEvaluation, ab
from hyoka.search.parts import alpha_beta_options

QUIESCENT_GAMES: Final = ("chess", "shogi")
"""Games whose alpha-beta goes on with captures at its leaves."""


class QuiescenceSearch:
    """Captures, promotions and evasions until nothing hangs; nothing is pruned."""

    def __init__(self, evaluation: LinearEvaluation) -> None:
        models = _core.GivenModels()
        models.evaluation = evaluation.model()
        options = alpha_beta_options(ab(exact=True, hash=0))
        self._core = _core.AlphaBeta(evaluation.game, options, models)

    def leaf(self, before: Any, move: Any) -> tuple[Any, int] | None:
        """The last position of the principal variation after `move`, and what the search says.

        Where the variation ends in a finished game, that is not the position's static score. None
        if `move` can't be played.
        """
        # A search of one ply with a single root move is a quiescence search after that move.
        if before.outcome is not None or not before.is_legal(move):
            return None
        self._core.run(before.line(), [move], 1, 0, 0.0, 0.0, None)
        score, _, variation = self._core.found()["variations"][0]
        position = before
        for played in variation:
            position = position.play(played)
        return position, score
