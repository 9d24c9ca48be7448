# SPDX-License-Identifier: Apache-2.0
"""How hard positions are to judge: best-move change and correct depth (paper 002)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import NotationError
from hyoka.games import name_of
from hyoka.search.parts import alpha_beta_options, models_for
from hyoka.search.spec import SearchSpec, ab


@dataclass(frozen=True)
class Difficulty:
    """One entry a position."""

    best_move_changes: NDArray[np.int8]
    """How often the best move changes from depth 1 to the last: 0 to depths - 1."""
    correct_depth: NDArray[np.int8]
    """From which depth on the move played is the best; depths + 1 if it is not at the last."""


def difficulty(
    positions: Sequence[Any],
    moves: Sequence[Any],
    *,
    depths: int = 3,
    spec: SearchSpec | None = None,
    threads: int = 1,
) -> Difficulty:
    """Search positions to depths 1, 2, … and compare the best moves with those played.

    >>> import hyoka as hk
    >>> start = hk.Chess()
    >>> found = difficulty([start], [start.parse("e2e4")])
    >>> found.best_move_changes.shape
    (1,)
    """
    if not 1 <= depths <= 20:
        raise NotationError(f"depths are 1 to 20, not {depths}")
    if not positions:
        return Difficulty(np.zeros(0, np.int8), np.zeros(0, np.int8))
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
