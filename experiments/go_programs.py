# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: programs evaluated on human 9×9 games."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from experiments.context import ExperimentContext
from experiments.outcome import Outcome, OutcomeTable, Verdict
from experiments.takeuchi_2010 import GO, TheirRow
from hyoka.analysis import Sample
from hyoka.study.sampling import Measured, measured

OURS: Final = "PUCT"
"""Our best program, in place of the paper's Fuego."""
UNDIVIDED: Final = "MC, undivided"
"""Monte Carlo with N playouts in total; the paper's has N divided by the legal moves."""
RECORDS: Final = "go9/ogs9_human.sgf.xz"
NO_HANDICAP: Final = (
    "handicap = 0 and start = '' and ending <> 'time' and plies between 20 and 120 and result is "
    "not null"
)
_STRONG: Final = (
    f"first_rank >= 27 and second_rank >= 27 and komi between 5 and 8 and {NO_HANDICAP}"
)
COLUMNS: Final = ("running_ladder", "ladder", "ko_forbidden", "ko")
_LIBEGO: Final = "c=0.354,expand=100"
"""As in libego, the paper's UCT: on values from -1 to 1, the exploration term is √(ln n / n_i), and
a leaf is expanded after 100 visits.
"""


@dataclass(frozen=True)
class Program:
    """A program with a number of playouts or a level."""

    name: str
    level: int
    spec: str

    @property
    def label(self) -> str:
        """Name and level for tables."""
        return f"{self.name} {self.level:,}"

    @property
    def slug(self) -> str:
        """Name and level for file names."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.name} {self.level}".lower())

    @property
    def theirs(self) -> TheirRow | None:
        """The paper's results; for our PUCT, Fuego's."""
        return GO.get(("Fuego" if self.name == OURS else self.name, self.level))


def puct(playouts: int) -> Program:
    """Our best program."""
    return Program(
        OURS, playouts, f"uct:preset=paper,playouts={playouts},formula=puct,policy=light"
    )


def programs(
    playouts: Sequence[int], best: Sequence[int], undivided: Sequence[int]
) -> tuple[Program, ...]:
    """All programs: Monte Carlo with `playouts`, our best with `best`, and GNU Go's levels.

    >>> [program.label for program in programs([500], [], [])][:2]
    ['GNU Go 4', 'GNU Go 2']
    """
    many, most = sorted(playouts, reverse=True), sorted(best, reverse=True)
    return (
        *map(puct, most),
        *(
            Program("GNU Go", n, f"gtp:gnugo --mode gtp --level {n} --chinese-rules")
            for n in (4, 2, 0)
        ),
        *(Program("UCT", n, f"uct:preset=paper,playouts={n},{_LIBEGO}") for n in many),
        *(Program("MC", n, f"mc:playouts={n},divide=on") for n in many),
        *(Program("MC-Score", n, f"mc-score:playouts={n},divide=on") for n in many),
        *(Program(UNDIVIDED, n, f"mc:playouts={n}") for n in sorted(undivided, reverse=True)),
    )


@dataclass(frozen=True)
class GoScale:
    """Positions per game (None: all), and the programs."""

    sample: int | None
    programs: tuple[Program, ...]


SCALES: Final[dict[str, GoScale]] = {
    "tiny": GoScale(
        1,
        tuple(
            Program(each.name, each.level, re.sub(r"playouts=\d+", f"playouts={few}", each.spec))
            for each in programs((500, 5_000), (500,), (500,))
            for few in [20 if each.level <= 500 else 60]
        ),
    ),
    "small": GoScale(3, programs((500, 5_000), (500,), (500, 5_000))),
    "medium": GoScale(4, programs((500, 5_000, 50_000), (500, 5_000), (500,))),
    "paper": GoScale(
        None, programs((500, 5_000, 50_000), (500, 5_000, 50_000), (500, 5_000, 50_000))
    ),
}


@dataclass(frozen=True)
class Judged:
    """Programs and their values of the same positions."""

    programs: tuple[Program, ...]
    loaded: Measured
    folder: Path
    scale: str
    seed: int

    def __iter__(self) -> Iterator[tuple[Program, Sample]]:
        return zip(self.programs, self.loaded.samples, strict=True)

    @property
    def about(self) -> str:
        """A sentence about the positions."""
        games = len(np.unique(self.loaded.game_ids))
        return f"{len(self.loaded):,} positions of {games:,} games"

    def figure(self, name: str) -> Path:
        """Path of a figure."""
        return self.folder / f"{self.scale}-{name}.svg"

    def by_name(self) -> dict[str, list[tuple[Program, Sample]]]:
        """The programs by name, highest levels first."""
        grouped: dict[str, list[tuple[Program, Sample]]] = {}
        for program, sample in self:
            grouped.setdefault(program.name, []).append((program, sample))
        return grouped


Found = tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]
"""Tables, verdicts and figures."""


@dataclass(frozen=True)
class GoExperiment:
    """A table or figure about programs on positions of human games."""

    id: str
    title: str
    analyze: Callable[[Judged], Found]
    names: tuple[str, ...]
    """Names of the programs."""
    scales: Mapping[str, GoScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Run missing evaluations and analyze them."""
        chosen = self.scales[scale]
        wanted = tuple(each for each in chosen.programs if each.name in self.names)
        study = context.study(f"go9-{scale}", [RECORDS], where=_STRONG)
        engines = context.evaluate(study, [each.spec for each in wanted], chosen.sample)
        loaded = measured(study, engines, columns=COLUMNS)
        judged = Judged(wanted, loaded, context.place(self.id), scale, context.seed)
        tables, verdicts, figures = self.analyze(judged)
        return Outcome(judged.about, tables, tuple(verdicts), tuple(figures))
