# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010's figures 14 and 16 with a later revision of GPS Shogi."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from experiments.claims import verdict
from experiments.context import ExperimentContext, exact_winners
from experiments.gaps import Holds, SliceSizes, picture_bins
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from experiments.results_page import LATER_FIELD
from hyoka.analysis import Curves, Resampling, Sample, condition_gap, measure_curve
from hyoka.engines import EngineSpec
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.study.sampling import measured

_LARGE: Final = 2
_UNSAFETY: Final = {
    "attackers": "white_king_attackers - black_king_attackers",
    "defenders": "black_king_defenders - white_king_defenders",
}
"""Difference in king safety between White and Black, by attackers and by defenders."""
_COLUMNS: Final = [f"{side}_king_{who}" for who in _UNSAFETY for side in ("black", "white")]


@dataclass(frozen=True)
class Amount:
    """Sample sizes of the records."""

    every: int
    """Use every n-th program record."""
    sample: int
    """Positions per game."""
    depth: int
    every_professional: int = field(default=1, metadata=LATER_FIELD)
    """Use every n-th professional record."""


@dataclass(frozen=True)
class GpsExperiment:
    """GPS Shogi's curves where one king is less safe, on program and professional games."""

    id: str
    title: str
    programs: tuple[str, ...]
    professionals: tuple[str, ...]
    scales: Mapping[str, Amount]
    notes: str = ""
    engine: str = "usi:depth={depth}:gpsusi"
    """Spec of the evaluator, with its depth."""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Evaluate positions with GPS Shogi and compare the curves."""
        amount = self.scales[scale]
        spec = self.engine.format(depth=amount.depth)
        if spec.startswith("usi:"):
            EngineSpec.from_text(spec).program()  # raises if not installed
        tables, verdicts, figures, about = [], [], [], []
        steepness: dict[str, Estimate] = {}
        for players, files, every in (
            ("programs", self.programs, amount.every),
            ("professionals", self.professionals, amount.every_professional),
        ):
            study = context.study(
                f"shogi-gps-{players}-{every}",
                [*files],
                where=f"plies >= 60 and result is not null and number % {every} = 0",
                columns=",".join(_COLUMNS),
            )
            winners = context.find_winners(study)
            engines = context.evaluate(study, [spec], amount.sample)
            loaded = measured(study, engines, columns=list(_UNSAFETY.values()))
            [sample] = loaded.samples
            about.append(
                f"{players}: {len(sample):,} positions of {sample.game_count:,} games"
                f"{exact_winners(winners)}"
            )
            total = measure_curve(sample, resampling=Resampling(seed=context.seed))
            steepness[players] = total.logistic.scale
            parts = [measure_curve(sample, binning=picture_bins(sample), condition="all")]
            rows: list[tuple[Value, ...]] = []
            for who, expression in _UNSAFETY.items():
                less_safe = loaded.columns[expression]
                ends = less_safe >= _LARGE, less_safe <= -_LARGE
                row, judged = _split(f"{players}: splits by {who}", sample, ends, context.seed)
                rows.append((who, *(int(holds.sum()) for holds in ends), *row))
                verdicts.append(judged)
                parts += [
                    measure_curve(some, binning=picture_bins(some), condition=f"{who} {word}")
                    for some, word in zip(map(sample.where, ends), ("large", "small"), strict=True)
                ]
            headings = ("unsafety by", "large", "small", "gap, large", "gap, small", "split")
            tables.append(OutcomeTable(headings, tuple(rows), players))
            file = context.place(self.id) / f"{scale}-{players}.svg"
            Curves(tuple(parts)).save(file)
            figures.append(file)
        one, other = steepness["programs"], steepness["professionals"]
        tables.append(OutcomeTable(("scale, centipawns", ""), tuple(steepness.items())))
        slower = "the curve of professionals' games rises more slowly"
        verdicts.append(verdict(slower, independent_difference(other, one)))
        return Outcome(
            f"GPS Shogi at depth {amount.depth}; {'; '.join(about)}",
            tuple(tables),
            tuple(verdicts),
            tuple(figures),
        )


def _split(
    claim: str, sample: Sample, ends: tuple[Holds, Holds], seed: int
) -> tuple[tuple[Value, ...], Verdict]:
    gaps = [condition_gap(sample, holds).level.effect for holds in ends]
    size = SliceSizes(*ends, seed=seed).estimate(sample)
    return (*gaps, size), verdict(claim, size)
