# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: groups of players and rules (table VII, figures 17 to 19)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from experiments.claims import LITTLE, same_within, verdict
from experiments.context import ExperimentContext
from experiments.curve_differences import apart
from experiments.gaps import picture_bins
from experiments.go_programs import NO_HANDICAP, RECORDS, Program, puct
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from hyoka.analysis import Curves, Resampling, Sample, mean_by_games, measure_curve
from hyoka.foundation.math import Estimate
from hyoka.study import Study
from hyoka.study.sampling import measured

_WIDTH: Final = 0.05
_COMMON: Final = f"komi between 5 and 8 and {NO_HANDICAP}"


@dataclass(frozen=True)
class Group:
    """Games of a group of players or under a ruleset."""

    name: str
    where: str
    stands_for: str
    """The paper's corresponding group."""


@dataclass(frozen=True)
class RanksScale:
    """Positions per game, and the evaluator."""

    sample: int | None
    program: Program


RANKS: Final = (
    Group(
        "both 1d or better",
        "first_rank >= 30 and second_rank >= 30",
        "A and C: one of them at least 6k or 3k",
    ),
    Group(
        "both 15k to 20k",
        "first_rank between 10 and 15 and second_rank between 10 and 15",
        "B and D: 9k to 11k",
    ),
)
RULES: Final = (
    Group("Japanese rules", "rules = 'Japanese' and first_rank >= 24 and second_rank >= 24", ""),
    Group("Chinese rules", "rules = 'Chinese' and first_rank >= 24 and second_rank >= 24", ""),
)
THEIR_GAMES: Final[tuple[tuple[Value, ...], ...]] = (
    ("A (d, 6k), komi 6.5", 2000, 0.340, 0),
    ("B (9k, 11k), komi 6.5", 2000, 0.3725, 2),
    ("C (d, 3k), komi 0.5", 2000, 0.547, 32),
    ("D (9k, 11k), komi 0.5", 2000, 0.6405, 82),
)
"""Table VII: games, Black's share of wins, and games under Chinese rules."""
SCALES: Final[Mapping[str, RanksScale]] = {
    "tiny": RanksScale(2, Program("PUCT", 500, "uct:playouts=20,formula=puct")),
    "small": RanksScale(1, puct(500)),
    "medium": RanksScale(3, puct(500)),
    "paper": RanksScale(None, puct(5_000)),
}


@dataclass(frozen=True)
class RanksExperiment:
    """Curves of one program on the games of several groups."""

    id: str
    title: str
    groups: tuple[Group, ...]
    scales: Mapping[str, RanksScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Run missing evaluations and compare the groups' curves."""
        amount = self.scales[scale]
        resampling = Resampling(seed=context.seed)
        samples: dict[str, Sample] = {}
        counts: list[tuple[Value, ...]] = []
        for number, group in enumerate(self.groups):
            study = context.study(
                f"{self.id}-{scale}-{number}", [RECORDS], where=f"{group.where} and {_COMMON}"
            )
            (engine,) = context.evaluate(study, [amount.program.spec], amount.sample)
            loaded = measured(study, engine)
            samples[group.name] = loaded.samples[0]
            counts.append((group.name, *_table_7(study), group.stands_for))
        pictures = [
            measure_curve(some, binning=picture_bins(some), condition=name, resampling=resampling)
            for name, some in samples.items()
        ]
        file = context.place(self.id) / f"{scale}-curves.svg"
        Curves(tuple(pictures), heading=self.title).save(file)
        rows = tuple(
            (name, len(some), _above_diagonal(some, context.seed), part.logistic.scale)
            for (name, some), part in zip(samples.items(), pictures, strict=True)
        )
        headings = ("games", "positions", "above y = x", "scale")
        total = sum(map(len, samples.values()))
        return Outcome(
            f"{total:,} positions, {amount.program.label}",
            (
                OutcomeTable(headings, rows),
                OutcomeTable(
                    ("games of", "games", "Black won", "Chinese rules", "mean komi", "stands for"),
                    tuple(counts),
                    "table VII, ours",
                ),
                OutcomeTable(
                    ("games of", "games", "Black won", "Chinese rules"),
                    THEIR_GAMES,
                    "table VII, theirs",
                ),
            ),
            tuple(self._verdicts(samples, resampling)),
            (file,),
        )

    def _verdicts(self, samples: Mapping[str, Sample], resampling: Resampling) -> list[Verdict]:
        (one, first), (other, second) = samples.items()
        between = apart(first, second, width=_WIDTH, resampling=resampling)
        found = [same_within(LITTLE, f"{one} and {other}: one curve", between)]
        found += [
            verdict(f"{name}: the curve lies below y = x", -_above_diagonal(some, resampling.seed))
            for name, some in samples.items()
        ]
        return found


def _above_diagonal(sample: Sample, seed: int) -> Estimate:
    """Black's actual wins minus the predicted values, averaged over all positions."""
    more = sample.results.astype(np.float64) - sample.values
    return mean_by_games(more, sample.games, Resampling(seed=seed))


def _table_7(study: Study) -> tuple[Value, ...]:
    """Games, Black's share of wins, games under Chinese rules, mean komi."""
    table = study.sql(
        "select count(*), avg(result), sum((rules = 'Chinese')::int), avg(komi) from games"
    )
    games, won, chinese, komi = (column[0].as_py() for column in table.columns)
    return int(games), float(won), int(chinese or 0), float(komi)
