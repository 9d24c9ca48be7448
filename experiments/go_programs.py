# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: the programs that people's 9×9 games judge, and what they said of them."""

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
"""Our best program stands where the paper has Fuego."""
UNDIVIDED: Final = "MC, undivided"
"""Monte Carlo with N playouts in all, where the paper's has N divided by the legal moves."""
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
"""As in libego, the paper's UCT: on values from -1 to 1 it explores by √(ln n / n_i), and a leaf's
moves join the tree after 100 visits."""


@dataclass(frozen=True)
class Program:
    """A program at some number of playouts, or level."""

    name: str
    level: int
    spec: str

    @property
    def label(self) -> str:
        """Its name and level, for people."""
        return f"{self.name} {self.level:,}"

    @property
    def slug(self) -> str:
        """Its name and level, for files."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.name} {self.level}".lower())

    @property
    def theirs(self) -> TheirRow | None:
        """What the paper reports of it; of Fuego for ours in its place."""
        return GO.get(("Fuego" if self.name == OURS else self.name, self.level))


def puct(playouts: int) -> Program:
    """Our best program."""
    return Program(
        OURS, playouts, f"uct:preset=paper,playouts={playouts},formula=puct,policy=light"
    )


def programs(
    playouts: Sequence[int], best: Sequence[int], undivided: Sequence[int]
) -> tuple[Program, ...]:
    """All programs: the Monte-Carlo ones at `playouts`, our best at `best`, GNU Go at its levels.

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
    """How many positions of each game, all of them if None, and which programs."""

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
    """Programs and what they said of the same positions."""

    programs: tuple[Program, ...]
    loaded: Measured
    folder: Path
    scale: str
    seed: int

    def __iter__(self) -> Iterator[tuple[Program, Sample]]:
        return zip(self.programs, self.loaded.samples, strict=True)

    @property
    def about(self) -> str:
        """What was judged, in a sentence."""
        games = len(np.unique(self.loaded.game_ids))
        return f"{len(self.loaded):,} positions of {games:,} games"

    def figure(self, name: str) -> Path:
        """The file of a picture."""
        return self.folder / f"{self.scale}-{name}.svg"

    def by_name(self) -> dict[str, list[tuple[Program, Sample]]]:
        """The programs by name, each with its levels from the highest down."""
        grouped: dict[str, list[tuple[Program, Sample]]] = {}
        for program, sample in self:
            grouped.setdefault(program.name, []).append((program, sample))
        return grouped


Found = tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]
"""Tables, verdicts and pictures."""


@dataclass(frozen=True)
class GoExperiment:
    """A table or figure about programs on the positions of people's games."""

    id: str
    title: str
    analyse: Callable[[Judged], Found]
    names: tuple[str, ...]
    """The programs that it is about."""
    scales: Mapping[str, GoScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Evaluate what is missing, and judge."""
        chosen = self.scales[scale]
        wanted = tuple(each for each in chosen.programs if each.name in self.names)
        study = context.study(f"go9-{scale}", [RECORDS], where=_STRONG)
        engines = context.evaluate(study, [each.spec for each in wanted], chosen.sample)
        loaded = measured(study, engines, columns=COLUMNS)
        judged = Judged(wanted, loaded, context.place(self.id), scale, context.seed)
        tables, verdicts, figures = self.analyse(judged)
        return Outcome(judged.about, tables, tuple(verdicts), tuple(figures))
