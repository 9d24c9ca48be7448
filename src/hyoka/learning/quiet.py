# SPDX-License-Identifier: Apache-2.0
"""Where a quiescence search comes to rest: the position whose static evaluation is its value."""

from typing import Any, Final

from hyoka import _core
from hyoka.games import games_with
from hyoka.search import LinearEvaluation
from hyoka.search.parts import core_class

QUIESCENT_GAMES: Final = tuple(games_with(lambda facts: facts.quiescence))
"""Games whose alpha-beta goes on with captures at its leaves."""


class QuiescenceSearch:
    """Captures, promotions and evasions until nothing hangs; nothing is pruned."""

    def __init__(self, evaluation: LinearEvaluation) -> None:
        settings = _core.AlphaBetaSettings.exact()
        settings.quiescence = True
        settings.hash_mib = 0
        self._core = core_class(evaluation.game, "AlphaBeta")(evaluation.options(), settings)

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
