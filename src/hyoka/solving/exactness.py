# SPDX-License-Identifier: Apache-2.0
"""Moves that a set does not list but that are worth as much as those it does.

Suites of Othello endings often name one of several moves with the same score. What an ending is
worth can be computed, so that nobody has to be marked wrong for having chosen another.
"""

from typing import Final

from hyoka._core import Player
from hyoka.errors import Error
from hyoka.games import Position, game_facts
from hyoka.problems import Exercise
from hyoka.search import solve_ending

_MOST_NODES: Final = 200_000_000
"""Seconds of work, and enough for 22 empty squares; a count, so that verdicts never vary."""


def is_as_good(exercise: Exercise, move: str | None, score: float | None) -> bool:
    """Whether a move that a set does not list is exactly as good as one that it does.

    `score` is the exact one of best play, seen by the first player, where the player proved it.
    A set's own score is believed where it lists no move, or one that is too hard to judge; where
    the answer itself is too far from the end, only what is listed counts.
    """
    can_tell = game_facts(exercise.game).ending_solver is not None
    if not can_tell or move is None or move in exercise.scores or move in exercise.avoid:
        return False
    game = exercise.to_solve()
    played = score if score is not None else _worth(game, move)
    if played is None:
        return False
    listed = _worth(game, exercise.best[0]) if exercise.best else None
    if listed is None:
        listed = exercise.score
    view = 1 if game.to_play is Player.first else -1
    return listed is not None and view * played >= view * listed


def _worth(game: Position, move: str) -> float | None:
    """The exact score after a move; None if it is not legal or too hard to tell."""
    try:
        after = game.play(move)
    except Error:
        return None
    if after.outcome is not None:
        return float(after.score)
    ending = solve_ending(after, nodes=_MOST_NODES, hash_mib=16)
    return float(ending.score) if ending.solved else None
