# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: all positions with a ko, beside some of all positions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.context import ExperimentContext
from experiments.go_analyses import kos_and_accuracy
from experiments.go_programs import (
    COLUMNS,
    RECORDS,
    GoScale,
    Judged,
    by_kind,
    fuego,
    gnu_go,
    installed,
    monte_carlo,
    tiny,
    uct,
)
from experiments.outcome import Outcome
from hyoka.study import Study
from hyoka.study.sampling import measured

_KO: Final = "ko_forbidden"
_MONTE_CARLO: Final = by_kind(map(monte_carlo, (50_000, 5_000, 500)))
_QUICK: Final = (fuego(500), gnu_go(0), uct(5_000), uct(500), *_MONTE_CARLO)


@dataclass(frozen=True)
class KoScale(GoScale):
    """Positions per game beside the kos, and kos per game (None: all)."""

    kos: int | None = None


SCALES: Final[dict[str, KoScale]] = {
    "tiny": KoScale(1, tiny(_QUICK), every=16, kos=2),
    "small": KoScale(1, (gnu_go(0), uct(500), *_MONTE_CARLO)),
    "medium": KoScale(1, _QUICK),
    "paper": KoScale(4, (*map(fuego, (5_000, 500)), *map(gnu_go, (4, 2, 0)), *_QUICK[2:])),
}


@dataclass(frozen=True)
class KoExperiment:
    """Programs at all positions with a ko; other positions come from a sample."""

    id: str
    title: str
    scales: Mapping[str, KoScale] = field(default_factory=lambda: SCALES)
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Run missing evaluations; weights give kos their share of all positions."""
        chosen = self.scales[scale]
        present = installed(chosen.programs)
        study = context.study(f"go9-kos-{scale}", [RECORDS], where=chosen.where)
        specs = [each.spec for each in present]
        context.evaluate(study, specs, chosen.kos, where=_KO)
        engines = context.evaluate(study, specs, chosen.sample)
        loaded = measured(study, engines, columns=COLUMNS)
        judged = replace(
            Judged.of(
                context, self.id, scale, wanted=chosen.programs, present=present, loaded=loaded
            ),
            weights=_weights(loaded.columns[_KO], _ko_share(study)),
        )
        tables, verdicts, figures = kos_and_accuracy(judged)
        return Outcome(judged.about, tables, tuple(verdicts), tuple(figures))


def _ko_share(study: Study) -> float:
    """Share of positions with a ko among all positions of the study."""
    [row] = study.sql(f"select avg({_KO}::int) as share from positions").to_pylist()
    return float(row["share"])


def _weights(ko: NDArray[np.bool_], share: float) -> NDArray[np.float32]:
    """Weights with mean 1 that give positions with a ko this share."""
    own = ko.mean()
    if not 0 < own < 1:
        return np.ones(len(ko), np.float32)
    weights: NDArray[np.float32] = np.where(ko, share / own, (1 - share) / (1 - own))
    return weights.astype(np.float32)
