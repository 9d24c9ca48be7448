# SPDX-License-Identifier: Apache-2.0
"""Several move models as one: how much each should count, learned from records."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.artefact import Artefact, Origin
from hyoka.errors import ParameterError, StudyError
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.search.move_models import combined_content, move_model

KIND: Final = "combined"
POSITIONS: Final = 20_000
"""So few numbers need few positions."""
_GRADIENT: Final = 1e-9
"""Of the mean log-loss, where the fit ends."""
_STEPS: Final = 100
_SINGULAR: Final = 1e-12
"""Relative curvature of a direction in which nothing changes."""
_ROUNDING: Final = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Combined:
    """Move models, each to the power of its weight."""

    game: str
    parts: tuple[Artefact, ...]
    weights: tuple[float, ...]
    log_losses: tuple[float, ...]
    """Of each part alone, at its own best power; last of all together, where it was learned."""
    origin: Origin | None = None

    def artefact(self) -> Artefact:
        """As a file holds it, the parts within."""
        content = combined_content(self.parts, self.weights)
        return Artefact.of(KIND, content, game=self.game, origin=self.origin)

    def model(self) -> _core.Model:
        """What searches take."""
        models = [move_model(self.game, part) for part in self.parts]
        return _core.combined_model(self.game, models, list(self.weights))

    def save(self, path: str | Path) -> None:
        """Write it to a file for `predict` and `strengths=FILE`."""
        self.artefact().save(path)


def combine(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    parts: Sequence[Artefact],
    *,
    positions: int = POSITIONS,
    seed: int = 0,
    origin: Origin | None = None,
    progress: OnProgress | None = None,
) -> Combined:
    """The powers by which models together explain best which moves were played.

    The games should be none that the models learned from: a model knows those too well.
    """
    if not parts:
        raise ParameterError("parts", "are none: give two models or more")
    some = games.some(positions, seed=seed)
    tally = Tally(progress, "weighing moves", len(parts) * len(some), "positions")
    columns = []
    for part in parts:
        found = some.weighings(move_model(games.game, part), progress=tally.reach)
        columns.append(np.log(found.strengths.astype(np.float64)))
    logs = np.stack(columns, axis=1)
    starts, played = found.offsets, found.played
    known = played >= 0
    if not known.any():
        raise StudyError("these games have no move to learn from")
    counts = np.diff(starts)
    rows = np.repeat(np.arange(len(counts)), counts)
    own = (starts[:-1] + played)[known]

    kept = known[rows]

    def chances_of(weights: Floats, chosen: list[int]) -> tuple[Floats, Floats]:
        """The chance of each move, and by position the logarithm of the sum of strengths."""
        scores = logs[:, chosen] @ weights
        peaks = np.maximum.reduceat(scores, starts[:-1])
        powers = np.exp(scores - peaks[rows])
        sums = np.add.reduceat(powers, starts[:-1])
        return powers / sums[rows], np.log(sums) + peaks

    def loss(weights: Floats, chosen: list[int]) -> tuple[float, Floats]:
        chances, log_sums = chances_of(weights, chosen)
        value = log_sums[known].sum() - (logs[own][:, chosen] @ weights).sum()
        slope = (chances[kept, None] * logs[kept][:, chosen]).sum(0) - logs[own][:, chosen].sum(0)
        return float(value) / len(own), slope / len(own)

    def hessian(weights: Floats, chosen: list[int]) -> Floats:
        weighted = chances_of(weights, chosen)[0][:, None] * logs[:, chosen]
        means = np.add.reduceat(weighted, starts[:-1])[known]
        return np.asarray(weighted[kept].T @ logs[kept][:, chosen] - means.T @ means) / len(own)

    def best(chosen: list[int]) -> tuple[Floats, float]:
        # By Newton's method: models that say nearly the same leave a direction so flat that
        # first-order methods stop far from the optimum. Models that say exactly the same share
        # their power equally, by the least-squares step.
        weights = np.full(len(chosen), 1 / len(chosen))
        value, slope = loss(weights, chosen)
        for _ in range(_STEPS):
            if np.abs(slope).max() <= _GRADIENT:
                return weights, value
            step = np.linalg.lstsq(hessian(weights, chosen), -slope, rcond=_SINGULAR)[0]
            share = 1.0
            while share > _SINGULAR:
                new_value, new_slope = loss(weights + share * step, chosen)
                if new_value <= value + _ROUNDING:
                    break
                share /= 2
            else:
                break
            weights, value, slope = weights + share * step, new_value, new_slope
        raise StudyError(
            "the powers of the models did not converge: take more games, or other models"
        )

    alone = [best([i])[1] for i in range(len(parts))]
    weights, together = best(list(range(len(parts))))
    return Combined(
        games.game, tuple(parts), tuple(map(float, weights)), (*alone, together), origin
    )
