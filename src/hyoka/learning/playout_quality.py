# SPDX-License-Identifier: Apache-2.0
"""Playout quality: Sato 2010's prediction, termination and speed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import Resampling, mean_by_games
from hyoka.arena.solve import wilson_interval
from hyoka.foundation.math import Estimate
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import position
from hyoka.models.bundled import default_strengths
from hyoka.models.loading import move_model
from hyoka.records.bulk import GameTable
from hyoka.search.playouts import playouts
from hyoka.storage.model_file import BUILT_IN, ModelFile

POLICY_WITH_MODEL = "strengths"


@dataclass(frozen=True, slots=True)
class PlayoutPolicy:
    """A playout policy with its move model file."""

    name: str = "uniform"
    strengths: str | Path | ModelFile | None = None
    """Move model; None: the bundled one."""

    @property
    def text(self) -> str:
        """Label in tables."""
        own = self.strengths is None or self.name != POLICY_WITH_MODEL
        return self.name if own else f"{self.name} {self.strengths}"


@dataclass(frozen=True, slots=True)
class PlayoutQuality:
    """Playout statistics of one policy."""

    policy: PlayoutPolicy
    drawn: Estimate | None
    """Mean probability of drawing the played move; None if unknown."""
    first: Estimate | None
    """Share of positions where that move ranks first; None also for uniform policies."""
    terminated: Estimate
    """Share of playouts from the start that end within the limit of plies."""
    plies: float
    """Mean length in plies."""
    rate: float
    """Playouts per second on one core."""


def playout_quality(  # noqa: PLR0913 - a keyword for each choice
    game: str,
    policies: Sequence[PlayoutPolicy],
    *,
    games: GameTable | None = None,
    count: int = 10_000,
    limit: int | None = None,
    seed: int = 0,
    resampling: Resampling | None = None,
    progress: OnProgress | None = None,
) -> list[PlayoutQuality]:
    """Play `count` games from the start with each policy; predict the moves of `games`.

    Without a `limit` of plies, the game's own applies (256 in shogi).
    """
    start = position(game)
    tally = Tally(progress, f"playouts of {game}", len(policies), "policies")
    found = []
    for policy in policies:
        prediction_accuracy = (
            (None, None) if games is None else _prediction_accuracy(game, policy, games, resampling)
        )
        began = time.perf_counter()
        strengths = policy.strengths if policy.name == POLICY_WITH_MODEL else None
        played = playouts(
            start, count, policy=policy.name, strengths=strengths, seed=seed, limit=limit
        )
        seconds = time.perf_counter() - began
        over = int(played.over.sum())
        ended = Estimate(over / count, *wilson_interval(over, count))
        mean = float(played.lengths.mean())
        found.append(PlayoutQuality(policy, *prediction_accuracy, ended, mean, count / seconds))
        tally.add(note=policy.text)
    return found


def _prediction_accuracy(
    game: str, policy: PlayoutPolicy, games: GameTable, resampling: Resampling | None
) -> tuple[Estimate | None, Estimate | None]:
    """Mean probability of the played moves, and the share that ranks first."""
    if policy.name not in ("uniform", POLICY_WITH_MODEL):
        return None, None
    by_model = policy.name == POLICY_WITH_MODEL
    # Moves are counted with a model even if the policy does not use it.
    given = policy.strengths if by_model else BUILT_IN
    model = move_model(game, default_strengths(game) if given is None else given)
    predictions = games.predictions(model)
    rows = np.flatnonzero(predictions.ranks > 0)
    numbers = np.repeat(np.arange(len(games.ids)), np.diff(games.row_offsets))[rows]
    how = resampling or Resampling()

    def mean(values: NDArray[np.float64]) -> Estimate:
        return mean_by_games(values, numbers, how)

    if not by_model:
        return mean(1 / predictions.choices[rows].astype(np.float64)), None
    chances = np.exp(-predictions.losses[rows].astype(np.float64))
    return mean(chances), mean((predictions.ranks[rows] == 1).astype(np.float64))
