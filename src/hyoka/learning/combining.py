# SPDX-License-Identifier: Apache-2.0
"""Several move models as one: how much each should count, learned from records."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from hyoka import _core
from hyoka.artefact import Artefact, Origin
from hyoka.errors import ParameterError, StudyError
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.search.move_models import combined_content, move_model

KIND: Final = "combined"
POSITIONS: Final = 20_000
"""So few numbers need few positions."""


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
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

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

    def loss(weights: np.ndarray, chosen: np.ndarray) -> tuple[float, np.ndarray]:
        scores = logs[:, chosen] @ weights
        peaks = np.maximum.reduceat(scores, starts[:-1])
        powers = np.exp(scores - peaks[rows])
        sums = np.add.reduceat(powers, starts[:-1])
        chances = powers / sums[rows]
        value = (np.log(sums) + peaks)[known].sum() - scores[own].sum()
        kept = known[rows]
        slope = (chances[kept, None] * logs[kept][:, chosen]).sum(0) - logs[own][:, chosen].sum(0)
        return float(value) / len(own), slope / len(own)

    def best(chosen: list[int]) -> tuple[np.ndarray, float]:
        start = np.full(len(chosen), 1 / len(chosen))
        fit = minimize(loss, start, args=(np.array(chosen),), jac=True, method="L-BFGS-B")
        if not fit.success:
            raise StudyError(f"no best powers were found: {fit.message}")
        return fit.x, float(fit.fun)

    alone = [best([i])[1] for i in range(len(parts))]
    weights, together = best(list(range(len(parts))))
    return Combined(
        games.game, tuple(parts), tuple(map(float, weights)), (*alone, together), origin
    )
