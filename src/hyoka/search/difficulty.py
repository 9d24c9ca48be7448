# SPDX-License-Identifier: Apache-2.0
"""How hard positions are to judge: best-move change and correct depth (Sato 2013)."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import NotationError
from hyoka.games import Move, Position, game_facts, name_of
from hyoka.passes import UNFINISHED, GameTable
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
    positions: Sequence[Position] | GameTable,
    moves: Sequence[Move] | None = None,
    *,
    depths: int = 3,
    spec: SearchSpec | None = None,
    threads: int = 1,
) -> Difficulty:
    """Search positions to depths 1, 2, … and compare the best moves with those played.

    Of a table of games the moves are those of the records; where none was played, or the rules end
    the game, there is nothing to compare, and the entries are -1.

    >>> import hyoka as hk
    >>> start = hk.Chess()
    >>> found = difficulty([start], [start.parse("e2e4")])
    >>> found.best_move_changes.shape
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
        asked = (played >= 0) & (chunk.outcomes(threads=threads) == UNFINISHED)
        found = difficulty(
            list(itertools.compress(chunk.positions(), asked)),
            [facts.move(code) for code in played[asked].tolist()],
            depths=depths,
            spec=spec,
            threads=threads,
        )
        rows = done + np.flatnonzero(asked)
        changes[rows], correct[rows] = found.best_move_changes, found.correct_depth
        done += len(chunk)
    return Difficulty(changes, correct)
