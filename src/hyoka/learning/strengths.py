# SPDX-License-Identifier: Apache-2.0
"""Move strengths fitted to games (Bradley-Terry), with stone shapes and latent factors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, ParameterError
from hyoka.foundation.math import Estimate
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.learning.bradley_terry import BradleyTerry, Optimizer, fit_bradley_terry
from hyoka.models.linear import SHAPE, MoveStrengths
from hyoka.models.loading import latent_content, latent_model
from hyoka.models.model import Model
from hyoka.records.bulk import GameTable
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.storage.result import Result

_MOVES: Final = 4_000_000
"""Maximum number of moves to examine, at a hundred bytes each."""


def frequent_shapes(
    games: GameTable,
    most: int,
    *,
    least: int = 20,
    seed: int = 0,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> list[str]:
    """The most frequent shapes around played moves, at most `most`, as letters.

    Shapes that occur fewer than `least` times are excluded. A shape's inner shapes occur at least
    as often, so they are included.
    """
    some = games.some(_MOVES, seed=seed)
    looking = Tally(progress, "looking at shapes", len(some), "positions")
    try:
        hashes, packed = some.shapes_played(threads=threads, progress=looking.reach)
    except ValueError as error:
        raise NotationError(str(error)) from None
    looking.reach(len(some))
    met: list[tuple[int, int, int]] = []  # negative count, size, row of the first
    for size in range(hashes.shape[1]):
        values, first, counts = np.unique(hashes[:, size], return_index=True, return_counts=True)
        often = (counts >= least) & (values != 0)  # 0: no point was played
        met += [
            (-int(count), size, int(row))
            for count, row in zip(counts[often], first[often], strict=True)
        ]
    met.sort()
    return [_core.text_of_shape(packed[row], size) for _, size, row in met[:most]]


_NINETY_FIVE: Final = 1.959964
_LONGEST: Final = 40
"""Maximum length of a name in printed tables; shape names have a hundred characters."""


@dataclass(frozen=True)
class FeatureStrength:
    """Fitted strength of one feature."""

    name: str
    strength: Estimate
    """γ with its 95% interval, clustered by game; the interval is NaN if it does not occur."""
    wins: int
    """Played moves with the feature."""
    moves: int
    """Legal moves with the feature."""


@dataclass(frozen=True, repr=False)
class Strengths(Result):
    """Fitted strengths of a game's move features."""

    drawn_by = "strength_dots"

    game: str
    features: tuple[FeatureStrength, ...]
    """In the game's order."""
    positions: int
    games: int
    log_loss: float
    """Mean negative log-likelihood of the played moves, on the training positions."""
    random_log_loss: float
    """The same with equal strengths."""
    rounds: int
    converged: bool
    origin: Origin | None = None

    def __getitem__(self, name: str) -> FeatureStrength:
        return next(each for each in self.features if each.name == name)

    @property
    def title(self) -> str:
        """One-line title."""
        return f"strengths of moves of {self.game}"

    @property
    def shapes(self) -> list[str]:
        """The shapes among the features, as letters."""
        names = (each.name for each in self.features)
        return [name.removeprefix(SHAPE) for name in names if name.startswith(SHAPE)]

    @property
    def met(self) -> tuple[FeatureStrength, ...]:
        """Features that occur in some move, strongest first."""
        features = [each for each in self.features if each.moves]
        return tuple(sorted(features, key=lambda each: -each.strength.value))

    def table(self) -> pa.Table:
        """One row per feature, in the game's order."""
        return pa.Table.from_pylist(
            [
                {
                    "feature": each.name,
                    "strength": each.strength.value,
                    "low": each.strength.low,
                    "high": each.strength.high,
                    "played": each.wins,
                    "moves": each.moves,
                }
                for each in self.features
            ]
        )

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Features that occur, strongest first."""
        heading = ("feature", "γ", "95 %", "played", "of moves")
        rows = [
            (
                each.name if len(each.name) <= _LONGEST else f"{each.name[: _LONGEST - 1]}…",
                f"{each.strength.value:.3g}",
                f"{each.strength.low:.3g} to {each.strength.high:.3g}",
                f"{each.wins:,}",
                f"{each.moves:,}",
            )
            for each in self.met
        ]
        return (heading, *rows)

    def notes(self) -> tuple[str, ...]:
        """Explanations of the table."""
        words = (
            f"A move is as strong as the product of its features' γ. From {self.positions:,} "
            f"positions of {self.games:,} games; intervals are by games. Log-loss "
            f"{self.log_loss:.3f}; {self.random_log_loss:.3f} if all moves were alike.",
        )
        if self.converged:
            return words
        return (*words, f"Not converged after {self.rounds} rounds: take more, or a larger prior.")

    def model(self) -> _core.Model:
        """Move model for searches."""
        strengths = {each.name: each.strength.value for each in self.features}
        return MoveStrengths(self.game, strengths).model()

    def model_file(self) -> ModelFile:
        """Model file content; features that do not occur keep their bundled strengths."""
        learned = {each.name: each.strength.value for each in self.features if each.moves}
        return MoveStrengths(self.game, learned, self.origin).model_file()

    def write(self, path: str | Path) -> None:
        """Write a model file for `predict` and `strengths=FILE`; `save` writes the table."""
        self.model_file().save(path)


@dataclass(frozen=True, kw_only=True)
class StrengthSettings:
    """Options of fits of move strengths and of their latent factors."""

    shapes: int = option(
        0, "Number of frequent stone shapes to fit as features (Go).", min=0, max=60_000
    )
    rank: int = option(
        0, "Number of latent factors per feature, such as 8; 0: none.", min=0, max=64
    )
    optimizer: Optimizer = option(
        "lbfgs", "Optimization algorithm: L-BFGS, or minorization-maximization."
    )
    prior: float = option(
        1.0,
        "Prior: virtual wins and losses of each feature against an opponent of strength 1.",
        min=1e-6,
    )
    positions: int | None = option(500_000, "Maximum number of positions, drawn at random.", min=1)
    seed: int = option(0, "Seed of the draw of positions.", min=0)
    epochs: int = 30
    """Maximum number of passes over the games for latent factors."""
    rate: float = 0.05
    """Learning rate of latent factors."""
    decay: float = 1e-4
    """Weight decay of latent factors."""

    def __post_init__(self) -> None:
        check_options(self)


def learn_strengths(
    games: GameTable,
    settings: StrengthSettings | None = None,
    *,
    origin: Origin | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Strengths:
    """Fit feature strengths to the played moves; see `fit_bradley_terry` for the model."""
    settings = settings or StrengthSettings()
    names = [name for name, _ in _core.move_features(games.game)]
    if not names:
        raise NotationError(f"moves of {games.game} have no features, and so no strengths")
    shapes: list[str] = []
    if settings.shapes:
        shapes = frequent_shapes(
            games, settings.shapes, seed=settings.seed, threads=threads, progress=progress
        )
        names += [SHAPE + shape for shape in shapes]
    competitions = competitions_for(games, shapes, settings, threads=threads, progress=progress)
    if not len(competitions):
        raise NotationError("these games have no position with a choice of moves")
    fit = fit_bradley_terry(
        competitions,
        optimizer=settings.optimizer,
        prior=settings.prior,
        matrix=len(names) - len(shapes),
        threads=threads,
        progress=progress,
    )
    random, _ = competitions.expect(np.ones(len(names)), 1)
    return Strengths(
        games.game,
        _features(names, fit),
        len(competitions),
        len(games.ids),
        -fit.log_likelihood / len(competitions),
        -random / len(competitions),
        fit.rounds,
        fit.converged,
        origin,
    )


def competitions_for(
    games: GameTable,
    shapes: Sequence[str],
    settings: StrengthSettings,
    *,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> _core.Competitions:
    """Training data: the moves of some positions as teams of features."""
    count, seed = settings.positions, settings.seed
    some = games if count is None else games.some(count, seed=seed)
    looking = Tally(progress, "looking at moves", len(some), "positions")
    go_shapes = _core.GoShapes(list(shapes)) if shapes else None
    try:
        competitions = some.competitions(shapes=go_shapes, threads=threads, progress=looking.reach)
    except ValueError as error:
        raise NotationError(str(error)) from None
    looking.reach(len(some))
    return competitions


def _features(names: list[str], fit: BradleyTerry) -> tuple[FeatureStrength, ...]:
    return tuple(
        FeatureStrength(name, _interval(strength, error), int(wins), int(moves))
        for name, strength, error, wins, moves in zip(
            names, fit.strengths, fit.errors, fit.wins, fit.teams, strict=True
        )
    )


def _interval(strength: float, error: float) -> Estimate:
    if math.isnan(error):
        return Estimate(strength)
    reach = math.exp(min(_NINETY_FIVE * error, 50.0))
    return Estimate(strength, strength / reach, strength * reach)


_WATCHED: Final = 0.1
"""Share of games used for early stopping."""


@dataclass(frozen=True, eq=False)
class Latent(Model):
    """Strengths and latent factors of a game's move features."""

    kind = "latent"

    game: str
    names: tuple[str, ...]
    """Names of the features: the game's features, then shapes."""
    logs: NDArray[np.float32]
    """Log-strengths by feature."""
    factors: NDArray[np.float32]
    """By feature and factor."""
    losses: tuple[float, ...]
    """Log-loss on the validation games, initially and after each epoch."""
    origin: Origin | None = None

    @property
    def rank(self) -> int:
        """Number of factors per feature."""
        return int(self.factors.shape[1])

    def model(self) -> _core.Model:
        """Move model for searches."""
        return latent_model(self.game, self.names, self.logs, self.factors)

    def _content(self) -> bytes:
        return latent_content(self.names, self.logs, self.factors)


def learn_latent(
    games: GameTable,
    strengths: Strengths,
    settings: StrengthSettings,
    *,
    origin: Origin | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Latent:
    """Fit latent factors, `settings.rank` per feature, to fitted strengths, on the same games.

    A tenth of the games, drawn by `seed`, is used for early stopping: training ends when their loss
    rises, and the best parameters are returned.
    """
    rank, epochs = settings.rank, settings.epochs
    if rank < 1:
        raise ParameterError("rank", f"is at least 1, not {rank}")
    competitions = competitions_for(
        games, strengths.shapes, settings, threads=threads, progress=progress
    )
    chance = np.random.default_rng(settings.seed)
    learned = (chance.random(len(games.ids)) >= _WATCHED).astype(np.uint8)
    if learned.all() or not learned.any():
        learned[0] = 1 - learned[0]
    logs = np.log([each.strength.value for each in strengths.features]).astype(np.float32)
    learner = _core.LatentLearner(
        competitions, learned, logs, rank, settings.rate, settings.decay, settings.seed
    )
    tally = Tally(progress, "learning factors", epochs, "times through the games")
    losses = [learner.loss]
    best = (logs, np.zeros((len(logs), rank), np.float32))
    for _ in range(epochs):
        learner.learn()
        losses.append(learner.loss)
        tally.add(note=f"log-loss {losses[-1]:.4f}")
        if not losses[-1] <= min(losses[:-1]):  # also true for NaN
            break
        best = learner.numbers()
    tally.reach(epochs)
    names = tuple(each.name for each in strengths.features)
    return Latent(games.game, names, best[0], best[1], tuple(losses), origin)
