# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: programs evaluated on human 9×9 games."""

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.context import ExperimentContext
from experiments.outcome import Outcome, OutcomeTable, Verdict
from experiments.results_page import LATER_FIELD
from experiments.takeuchi_2010 import GO, TheirRow
from hyoka.analysis import Sample
from hyoka.engines import EngineSpec
from hyoka.foundation.errors import EngineError
from hyoka.study.sampling import Measured, measured

OURS: Final = "PUCT"
"""Our best program, in place of the paper's Fuego."""
FUEGO: Final = "Fuego"
STRONGEST: Final = (OURS, FUEGO)
"""The programs of which the paper's claims about Fuego are tested."""
MC_SCORE: Final = "MC-Score"
UNDIVIDED: Final = "MC, undivided"
"""Monte Carlo with N playouts in total; the paper's has N divided by the legal moves."""
SCORE_UNDIVIDED: Final = "MC-Score, undivided"
RECORDS: Final = "go9/ogs9_human.sgf.xz"
NO_HANDICAP: Final = (
    "handicap = 0 and start = '' and ending <> 'time' and plies between 20 and 120 and result is "
    "not null"
)
STRONG: Final = f"first_rank >= 27 and second_rank >= 27 and komi between 5 and 8 and {NO_HANDICAP}"
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


def fuego(playouts: int) -> Program:
    """Fuego, from the PATH; it searches at every move, and the value is that of the position.

    The paper's version is 0.4.1. Without the options, it would play opening moves without a search
    and, if winning, search again after a pass.
    """
    options = "forced_opening_moves=0,early_pass=0"
    return Program(FUEGO, playouts, f"gtp:playouts={playouts},{options}:fuego")


def gnu_go(level: int) -> Program:
    """GNU Go, from the PATH."""
    return Program("GNU Go", level, f"gtp:gnugo --mode gtp --level {level} --chinese-rules")


def uct(playouts: int) -> Program:
    """The paper's UCT."""
    return Program("UCT", playouts, f"uct:preset=paper,playouts={playouts},{_LIBEGO}")


def monte_carlo(playouts: int) -> tuple[Program, Program]:
    """MC and MC-Score with playouts divided by the number of legal moves."""
    return (
        Program("MC", playouts, f"mc:playouts={playouts},divide=on"),
        Program(MC_SCORE, playouts, f"mc-score:playouts={playouts},divide=on"),
    )


def undivided(playouts: int) -> tuple[Program, Program]:
    """MC and MC-Score with all playouts."""
    return (
        Program(UNDIVIDED, playouts, f"mc:playouts={playouts}"),
        Program(SCORE_UNDIVIDED, playouts, f"mc-score:playouts={playouts}"),
    )


def programs(
    playouts: Sequence[int], best: Sequence[int], all_playouts: Sequence[int]
) -> tuple[Program, ...]:
    """All programs: Monte Carlo with `playouts`, our best with `best`, and GNU Go's levels.

    >>> [program.label for program in programs([500], [], [])][:2]
    ['GNU Go 4', 'GNU Go 2']
    """
    many, most = sorted(playouts, reverse=True), sorted(best, reverse=True)
    return (
        *map(puct, most),
        *map(gnu_go, (4, 2, 0)),
        *map(uct, many),
        *by_kind(map(monte_carlo, many)),
        *(undivided(n)[0] for n in sorted(all_playouts, reverse=True)),
    )


def by_kind(pairs: Iterable[tuple[Program, Program]]) -> tuple[Program, ...]:
    """First programs of the pairs, then their second programs."""
    return tuple(itertools.chain.from_iterable(zip(*pairs, strict=True)))


def tiny(programs: Iterable[Program]) -> tuple[Program, ...]:
    """The programs with few playouts, in the same order; equal specs would be one evaluator.

    >>> [program.spec for program in tiny(undivided(50_000)[:1] + undivided(5_000)[:1])]
    ['mc:playouts=180', 'mc:playouts=60']
    """
    fewer = {500: 20, 5_000: 60, 50_000: 180}
    return tuple(
        replace(each, spec=re.sub(r"playouts=\d+", f"playouts={fewer.get(each.level)}", each.spec))
        for each in programs
    )


def installed(programs: Iterable[Program]) -> tuple[Program, ...]:
    """The programs that can run here; raises EngineError if none can."""
    found, missing = list[Program](), list[EngineError]()
    for each in programs:
        try:
            if each.spec.startswith("gtp:"):
                EngineSpec.from_text(each.spec).program()
            found.append(each)
        except EngineError as error:
            missing.append(error)
    if missing and not found:
        raise missing[0]
    return tuple(found)


@dataclass(frozen=True)
class GoScale:
    """Positions per game (None: all), and the programs."""

    sample: int | None
    programs: tuple[Program, ...]
    every: int = field(default=1, metadata=LATER_FIELD)
    """Use every n-th game of the file."""

    @property
    def where(self) -> str:
        """The games of strong players."""
        return STRONG if self.every == 1 else f"{STRONG} and number % {self.every} = 0"


SCALES: Final[dict[str, GoScale]] = {
    "tiny": GoScale(1, tiny(programs((500, 5_000), (500,), (500,))), every=16),
    "small": GoScale(3, programs((500, 5_000), (500,), (500, 5_000))),
    "medium": GoScale(4, programs((500, 5_000, 50_000), (500, 5_000), (500,))),
    "paper": GoScale(
        None, programs((500, 5_000, 50_000), (500, 5_000, 50_000), (500, 5_000, 50_000))
    ),
}
FUEGO_SCALES: Final[dict[str, GoScale]] = {
    "tiny": GoScale(1, tiny(map(fuego, (5_000, 500))), every=16),
    "small": GoScale(3, (fuego(500),)),
    "medium": GoScale(4, tuple(map(fuego, (5_000, 500)))),
    "paper": GoScale(None, tuple(map(fuego, (50_000, 5_000, 500)))),
}
_DIVIDED: Final = by_kind(map(monte_carlo, (50_000, 5_000, 500)))
UNDIVIDED_SCALES: Final[dict[str, GoScale]] = {
    "tiny": GoScale(1, tiny((*_DIVIDED, *by_kind(map(undivided, (5_000, 500))))), every=16),
    "small": GoScale(3, (*_DIVIDED, *undivided(500))),
    "medium": GoScale(4, (*_DIVIDED, *by_kind(map(undivided, (5_000, 500))))),
    "paper": GoScale(None, (*_DIVIDED, *by_kind(map(undivided, (50_000, 5_000, 500))))),
}
POSITIONS_SCALES: Final[dict[str, GoScale]] = {
    "tiny": GoScale(2, tiny((uct(500), *_DIVIDED)), every=16),
    "small": GoScale(10, (uct(500), *_DIVIDED)),
    "medium": GoScale(20, (uct(500), *_DIVIDED)),
    "paper": GoScale(None, (*map(gnu_go, (4, 2, 0)), *map(uct, (5_000, 500)), *_DIVIDED)),
}


@dataclass(frozen=True)
class Judged:
    """Programs and their values of the same positions."""

    programs: tuple[Program, ...]
    loaded: Measured
    folder: Path
    scale: str
    seed: int
    weights: NDArray[np.float32] | None = None
    """Weight of each position; 1 by default."""
    missing: tuple[str, ...] = ()
    """Labels of the programs that are not installed."""

    @classmethod
    def of(
        cls,
        context: ExperimentContext,
        experiment: str,
        scale: str,
        *,
        wanted: Collection[Program],
        present: tuple[Program, ...],
        loaded: Measured,
    ) -> "Judged":
        """The evaluations of an experiment by the programs that are installed."""
        missing = tuple(each.label for each in wanted if each not in present)
        place = context.place(experiment)
        return cls(present, loaded, place, scale, context.seed, missing=missing)

    def __iter__(self) -> Iterator[tuple[Program, Sample]]:
        samples = (replace(each, weights=self.weights) for each in self.loaded.samples)
        return zip(self.programs, samples, strict=True)

    @property
    def about(self) -> str:
        """A sentence about the positions."""
        games = len(np.unique(self.loaded.game_ids))
        absent = f"; not installed: {', '.join(self.missing)}" if self.missing else ""
        return f"{len(self.loaded):,} positions of {games:,} games{absent}"

    def share(self, holds: NDArray[np.bool_]) -> float:
        """Weighted share of the positions."""
        return float(np.average(holds, weights=self.weights)) if len(holds) else 0.0

    def strata(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Each position's tenth of the plies, and the weighted distribution over the tenths."""
        strata, shares = self.loaded.strata()
        if self.weights is None:
            return strata, shares
        weighted = np.bincount(strata, weights=self.weights, minlength=len(shares))
        return strata, weighted / weighted.sum()

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
        present = installed(wanted)
        study = context.study(f"go9-{scale}", [RECORDS], where=chosen.where)
        engines = context.evaluate(study, [each.spec for each in present], chosen.sample)
        loaded = measured(study, engines, columns=COLUMNS)
        judged = Judged.of(context, self.id, scale, wanted=wanted, present=present, loaded=loaded)
        tables, verdicts, figures = self.analyze(judged)
        return Outcome(judged.about, tables, tuple(verdicts), tuple(figures))
