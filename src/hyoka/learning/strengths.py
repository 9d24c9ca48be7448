# SPDX-License-Identifier: Apache-2.0
"""The strengths of moves, learned from the games that people or programs played."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.analysis.result import Result
from hyoka.artefact import Artefact, Origin
from hyoka.errors import NotationError
from hyoka.estimate import Estimate
from hyoka.learning.bradley_terry import BradleyTerry, Optimiser, fit_bradley_terry
from hyoka.learning.shapes import frequent_shapes
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.search.evaluations import SHAPE, strengths_artefact, strengths_model

if TYPE_CHECKING:
    import altair

_NINETY_FIVE: Final = 1.959964
_LONGEST: Final = 40
"""Characters of a name in the table that people read: shapes have a hundred."""
_DRAWN: Final = 40
"""Features in the picture: half of them the strongest, half the weakest."""


@dataclass(frozen=True)
class FeatureStrength:
    """What was learned of one feature."""

    name: str
    strength: Estimate
    """γ, with its 95 % interval by games; not known where the feature was never met."""
    wins: int
    """Moves played that have it."""
    moves: int
    """Legal moves that have it."""


@dataclass(frozen=True, repr=False)
class Strengths(Result):
    """The strengths of a game's features of moves."""

    game: str
    features: tuple[FeatureStrength, ...]
    """In the game's order."""
    positions: int
    games: int
    log_loss: float
    """Mean of -log of the chance given to the move played, where it was learned."""
    random_log_loss: float
    """The same where all moves are alike."""
    rounds: int
    converged: bool
    origin: Origin | None = None

    def __getitem__(self, name: str) -> FeatureStrength:
        return next(each for each in self.features if each.name == name)

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"strengths of moves of {self.game}"

    @property
    def shapes(self) -> list[str]:
        """The shapes among the features, as letters."""
        names = (each.name for each in self.features)
        return [name.removeprefix(SHAPE) for name in names if name.startswith(SHAPE)]

    @property
    def met(self) -> tuple[FeatureStrength, ...]:
        """Features that some move has, the strongest first."""
        known = [each for each in self.features if each.moves]
        return tuple(sorted(known, key=lambda each: -each.strength.value))

    def table(self) -> pa.Table:
        """A row a feature, in the game's order."""
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
        """The features that were met, the strongest first."""
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
        """How to read it."""
        words = (
            f"A move is as strong as the product of its features' γ. From {self.positions:,} "
            f"positions of {self.games:,} games; intervals are by games. Log-loss "
            f"{self.log_loss:.3f}; {self.random_log_loss:.3f} if all moves were alike.",
        )
        if self.converged:
            return words
        return (*words, f"Not converged after {self.rounds} rounds: take more, or a larger prior.")

    def chart(self) -> "altair.TopLevelMixin":
        """The strongest and the weakest features with their intervals."""
        import altair as alt  # noqa: PLC0415 - slow to import

        met = self.met
        shown = met if len(met) <= _DRAWN else (*met[: _DRAWN // 2], *met[-_DRAWN // 2 :])
        data = pa.Table.from_pylist(
            [
                {
                    "feature": each.name,
                    "γ": each.strength.value,
                    "low": each.strength.low,
                    "high": each.strength.high,
                }
                for each in shown
            ]
        )
        order = [each.name for each in shown]
        base = alt.Chart(data, title=self.title).encode(
            y=alt.Y("feature:N", sort=order, title=None)
        )
        chart: alt.LayerChart = base.mark_rule().encode(
            x=alt.X("low:Q", scale=alt.Scale(type="log"), title="γ"), x2="high:Q"
        ) + base.mark_point(filled=True).encode(x="γ:Q")
        return chart

    def model(self) -> _core.Model:
        """What searches take."""
        return strengths_model(
            self.game, {each.name: each.strength.value for each in self.features}
        )

    def artefact(self) -> Artefact:
        """As a file holds them; features that were never met are left as they are built in."""
        learned = {each.name: each.strength.value for each in self.features if each.moves}
        return strengths_artefact(self.game, learned, self.origin)

    def write(self, path: str | Path) -> None:
        """Write them to a file for `predict` and `strengths=FILE`; `save` writes the table."""
        self.artefact().save(path)


def learn_strengths(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    *,
    positions: int | None = None,
    shapes: int = 0,
    optimiser: Optimiser = "lbfgs",
    prior: float = 1.0,
    seed: int = 0,
    origin: Origin | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Strengths:
    """The strengths of features that explain best which moves were played.

    See `fit_bradley_terry` for the model and its prior. `positions`: learn from so many at most,
    drawn at random. `shapes`: in Go, also learn so many of the shapes of stones met most often.
    """
    names = [name for name, _ in _core.move_features(games.game)]
    if not names:
        raise NotationError(f"moves of {games.game} have no features, and so no strengths")
    found: list[str] = []
    if shapes:
        found = frequent_shapes(games, shapes, seed=seed, threads=threads, progress=progress)
        names += [SHAPE + shape for shape in found]
    competitions = competitions_for(
        games, found, positions, seed=seed, threads=threads, progress=progress
    )
    if not len(competitions):
        raise NotationError("these games have no position with a choice of moves")
    fit = fit_bradley_terry(
        competitions,
        optimiser=optimiser,
        prior=prior,
        matrix=len(names) - len(found),
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


def competitions_for(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    shapes: Sequence[str],
    positions: int | None,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> _core.Competitions:
    """What strengths are learned from: the moves of some positions, as teams of features."""
    some = games if positions is None else games.some(positions, seed=seed)
    looking = Tally(progress, "looking at moves", len(some), "positions")
    known = _core.GoShapes(list(shapes)) if shapes else None
    try:
        found = some.competitions(shapes=known, threads=threads, progress=looking.reach)
    except ValueError as error:
        raise NotationError(str(error)) from None
    looking.reach(len(some))
    return found


def _features(names: list[str], fit: BradleyTerry) -> tuple[FeatureStrength, ...]:
    return tuple(
        FeatureStrength(name, _interval(strength, error), int(wins), int(moves))
        for name, strength, error, wins, moves in zip(
            names, fit.strengths, fit.errors, fit.wins, fit.teams, strict=True
        )
    )


def _interval(strength: float, error: float) -> Estimate:
    if math.isnan(error):
        return Estimate(strength, math.nan, math.nan)
    reach = math.exp(min(_NINETY_FIVE * error, 50.0))
    return Estimate(strength, strength / reach, strength * reach)
