# SPDX-License-Identifier: Apache-2.0
"""Random playouts in bulk, with any playout policy."""

import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.games import AnyGame, name_of
from hyoka.games.lines import as_line
from hyoka.games.registry import position
from hyoka.search.assembly import models_for, monte_carlo_options
from hyoka.search.spec import mc
from hyoka.storage.model_file import ModelFile

_PYTHON_LIMIT: Final = 10_000


@dataclass(frozen=True)
class PlayoutResults:
    """Results of playouts from one position; arrays have one entry per playout."""

    outcomes: NDArray[np.int8]
    """1: first player won, 0: draw, -1: second player won."""
    lengths: NDArray[np.int32]
    """Numbers of plies, including passes."""
    scores: NDArray[np.float32]
    """Final scores for the first player."""
    over: NDArray[np.bool_]
    """Whether the rules ended the playout, not the ply limit."""

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def value(self) -> float:
        """The first player's mean result, 0 to 1; NaN without playouts."""
        return float((self.outcomes.mean() + 1) / 2) if len(self) else float("nan")

    @property
    def standard_error(self) -> float:
        """The standard error of `value`; NaN below two playouts."""
        return (
            float(self.outcomes.std(ddof=1) / 2 / len(self) ** 0.5)
            if len(self) > 1
            else float("nan")
        )


def playouts(
    game: AnyGame | str,
    count: int,
    *,
    policy: str = "uniform",
    strengths: str | Path | ModelFile | None = None,
    epsilon: float = 0.0,
    seed: int = 0,
    threads: int | None = 1,
    limit: int | None = None,
) -> PlayoutResults:
    """Play `count` games from `game` (a position, a line or a name) to their ends.

    `policy` is a playout policy of searches: `uniform` over the legal moves, `strengths` (with
    probabilities by a move model: the bundled one, `built-in`, or a file of strengths or METS) or
    `light` (Go). A share `epsilon` of the moves is uniformly random. In Go a player never fills an
    own single-point eye, and passes when no other move is left. With a line, uniform playouts
    apply the rules about repetition; other policies use only its last move.

    A game that has not ended after `limit` plies (shogi 256, Go three times the points, chess
    20,000, more than any game by the rules) is scored by the final position, in shogi and chess as
    a draw. Playout i depends only on `seed` and i, not on the number of `threads` (None: one per
    core). The GIL is released, and Ctrl-C works. A Python game uses one thread, and is a draw
    after `limit` plies (10,000).

    >>> import hyoka as hk
    >>> results = playouts(hk.Othello(), 100, seed=7, threads=2)
    >>> len(results), bool((results.outcomes == playouts(hk.Othello(), 100, seed=7).outcomes).all())
    (100, True)
    """
    if not 0 <= count <= 10**10:
        raise ValueError(f"count must be 0 to 10,000,000,000, not {count}")
    if limit is not None and limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    if threads is not None and not 1 <= threads <= 1024:
        raise ValueError(f"threads must be 1 to 1024 or None, not {threads}")
    if isinstance(game, str):
        game = position(game)
    if isinstance(game, type):
        raise NotationError(f"a game is a position, {game.__name__}(), not the class of them")
    # Raises if a setting is invalid or has no effect.
    spec = mc(policy=policy, strengths=strengths, epsilon=epsilon)
    if not hasattr(game, "playout_arrays"):
        if threads not in (None, 1):
            raise NotationError("a game written in Python is played out on one thread")
        if policy != "uniform":
            raise NotationError("a game written in Python is played out by policy=uniform")
        return _python_playouts(game, count, seed, _PYTHON_LIMIT if limit is None else limit)
    workers = threads or os.cpu_count() or 1
    plies = None if limit is None else min(limit, 2**31 - 1)
    if policy == "uniform":
        arrays = game.playout_arrays(count, seed % 2**64, workers, plies)
    else:
        name = name_of(game)
        spec = spec.for_game(name)
        options, models = monte_carlo_options(spec, name), models_for(spec, name)
        arrays = _core.policy_playouts(
            name, as_line(game, name), options, models, count, seed % 2**64, workers, plies
        )
    outcomes, lengths, scores, over = arrays
    return PlayoutResults(outcomes, lengths, scores, over.astype(bool))


def _python_playouts(start: AnyGame, count: int, seed: int, limit: int) -> PlayoutResults:
    """Play random games of a Python class that follows `AnyGame`, one by one."""
    for name in ("to_play", "outcome", "legal_moves", "play"):
        if not hasattr(start, name):
            raise NotationError(f"{type(start).__name__} is no game: it has no '{name}'")
    outcomes = np.zeros(count, dtype=np.int8)
    lengths = np.zeros(count, dtype=np.int32)
    scores = np.zeros(count, dtype=np.float32)
    over = np.zeros(count, dtype=bool)
    for i in range(count):
        chance = random.Random(f"{seed} {i}")
        game = start
        while game.outcome is None and lengths[i] < limit:
            moves = list(game.legal_moves)
            if not moves:
                raise NotationError(f"{type(start).__name__}: no legal moves, but no outcome")
            game = game.play(chance.choice(moves))
            lengths[i] += 1
        result = 0.0 if game.outcome is None else 2 * float(game.outcome.value) - 1
        outcomes[i] = round(result)
        scores[i] = getattr(game, "score", result)
        over[i] = game.outcome is not None
    return PlayoutResults(outcomes, lengths, scores, over)
