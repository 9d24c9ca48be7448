# SPDX-License-Identifier: Apache-2.0
"""Strengths of moves by pairs of features: latent-factor ranking.

Beside its strength each feature has a few factors, and two features of a move that fit together
make it stronger than each of them alone: log γ of a move = Σ log γᵢ + Σᵢ<ⱼ ⟨vᵢ, vⱼ⟩ (Rendle 2010;
for Go Wistuba and Schmidt-Thieme 2013). Learned by stochastic gradients from the strengths that
Bradley-Terry finds, until games that are not learned from are foretold no better.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.artefact import Artefact, Origin
from hyoka.errors import ParameterError
from hyoka.learning.strengths import Strengths, competitions_for
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.search.move_models import latent_content, latent_model

KIND: Final = "latent"
RANK: Final = 8
_EPOCHS: Final = 30
_WATCHED: Final = 0.1
"""Share of the games that tell when to stop."""


@dataclass(frozen=True, eq=False)
class Latent:
    """Strengths and factors of a game's features of moves."""

    game: str
    names: tuple[str, ...]
    """Of the features, the game's own first, then shapes."""
    logs: NDArray[np.float32]
    """By feature."""
    factors: NDArray[np.float32]
    """By feature and factor."""
    losses: tuple[float, ...]
    """Log-loss on the games watched, before and after each time through the others."""
    origin: Origin | None = None

    @property
    def rank(self) -> int:
        """How many factors a feature has."""
        return int(self.factors.shape[1])

    def model(self) -> _core.Model:
        """What searches take."""
        return latent_model(self.game, self.names, self.logs, self.factors)

    def artefact(self) -> Artefact:
        """As a file holds it."""
        content = latent_content(self.names, self.logs, self.factors)
        return Artefact.of(KIND, content, game=self.game, origin=self.origin)

    def save(self, path: str | Path) -> None:
        """Write it to a file for `predict` and `strengths=FILE`."""
        self.artefact().save(path)


def learn_latent(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    strengths: Strengths,
    *,
    rank: int = RANK,
    positions: int | None = None,
    epochs: int = _EPOCHS,
    rate: float = 0.05,
    decay: float = 1e-4,
    seed: int = 0,
    origin: Origin | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Latent:
    """Factors for the features of strengths, from the same games.

    A tenth of the games, drawn by `seed`, is not learned from; when it is foretold worse than
    before, the best numbers so far are taken.
    """
    if not 1 <= rank <= 64:
        raise ParameterError("rank", f"is 1 to 64, not {rank}")
    competitions = competitions_for(
        games, strengths.shapes, positions, seed=seed, threads=threads, progress=progress
    )
    chance = np.random.default_rng(seed)
    learned = (chance.random(len(games.ids)) >= _WATCHED).astype(np.uint8)
    if learned.all() or not learned.any():
        learned[0] = 1 - learned[0]
    logs = np.log([each.strength.value for each in strengths.features]).astype(np.float32)
    learner = _core.LatentLearner(competitions, learned, logs, rank, rate, decay, seed)
    tally = Tally(progress, "learning factors", epochs, "times through the games")
    losses = [learner.loss]
    best = (logs, np.zeros((len(logs), rank), np.float32))
    for _ in range(epochs):
        learner.learn()
        losses.append(learner.loss)
        tally.add(note=f"log-loss {losses[-1]:.4f}")
        if not losses[-1] <= min(losses[:-1]):  # also where it is no number at all
            break
        best = learner.numbers()
    tally.reach(epochs)
    names = tuple(each.name for each in strengths.features)
    return Latent(games.game, names, best[0], best[1], tuple(losses), origin)
