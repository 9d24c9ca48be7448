# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: programs judged by people's 9×9 games (tables I, II; figures 4 to 10)."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from hyoka.analysis import (
    METRICS,
    Curves,
    Metrics,
    Resampling,
    Sample,
    condition_gap,
    curve,
    interval,
    measure,
    partition,
)
from hyoka.estimate import Estimate
from hyoka.reproduction.gaps import Holds, SplitSizes, departs, hardly, picture_bins
from hyoka.reproduction.outcome import Outcome, OutcomeTable, Value, Verdict, verdict
from hyoka.reproduction.takeuchi_2010 import GO, TheirRow
from hyoka.reproduction.workshop import Workshop
from hyoka.study.measuring import Measured, measured

OURS: Final = "PUCT"
"""Our best program stands where the paper has Fuego."""
MC_BY_MOVES: Final = "MC ÷ moves"
"""Monte Carlo with the paper's number of playouts divided by that of legal moves, at the root."""
_LEGAL_MOVES: Final = 58
"""The mean of the records' positions."""
_IN_THE_PAPER: Final = {OURS: "Fuego", MC_BY_MOVES: "MC"}
PHASES: Final = (20, 30, 40)
"""The moves at which the paper cuts games."""
LATE: Final = 30
"""Most kos come after this move."""
NEXT_TO_NOTHING: Final = 0.1
"""A τ-b below which values are no guide; chance alone has 0."""
_LIBEGO: Final = "c=0.354,expand=100"
"""As in libego, the paper's UCT: on values from -1 to 1 it explores by √(ln n / n_i), and a leaf's
moves join the tree after 100 visits."""
_FILE: Final = "go9/ogs9_human.sgf.xz"
_STRONG: Final = (
    "first_rank >= 27 and second_rank >= 27 and handicap = 0 and start = '' and ending <> 'time' "
    "and komi between 5 and 8 and plies between 20 and 120 and result is not null"
)
_METRICS: Final = ("accuracy", "f_score", "lift", "roc", "average_precision", "break_even")


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
    def theirs(self) -> TheirRow | None:
        """What the paper reports of it; of Fuego for ours in its place."""
        return GO.get((_IN_THE_PAPER.get(self.name, self.name), self.level))


def programs(playouts: Sequence[int], best: Sequence[int]) -> tuple[Program, ...]:
    """All programs: the Monte-Carlo ones at `playouts`, our best at `best`, GNU Go at its levels.

    >>> [program.label for program in programs([500], [])][:2]
    ['GNU Go 4', 'GNU Go 2']
    """
    many, most = sorted(playouts, reverse=True), sorted(best, reverse=True)
    return (
        *(Program(OURS, n, f"uct:playouts={n},formula=puct,policy=light") for n in most),
        *(
            Program("GNU Go", n, f"gtp:gnugo --mode gtp --level {n} --chinese-rules")
            for n in (4, 2, 0)
        ),
        *(Program("UCT", n, f"uct:playouts={n},{_LIBEGO}") for n in many),
        *(
            Program(MC_BY_MOVES, n, f"uct:playouts={round(n / _LEGAL_MOVES)},c=1000,value=root")
            for n in many
        ),
        *(Program("MC", n, f"mc:playouts={n}") for n in many),
        *(Program("MC-Score", n, f"mc-score:playouts={n}") for n in many),
    )


@dataclass(frozen=True)
class GoScale:
    """How many positions of each game, all of them if None, and which programs."""

    sample: int | None
    programs: tuple[Program, ...]


SCALES: Final[dict[str, GoScale]] = {
    "small": GoScale(3, programs((500, 5_000), (500,))),
    "medium": GoScale(3, programs((500, 5_000, 50_000), (500, 5_000))),
    "paper": GoScale(None, programs((500, 5_000, 50_000), (500, 5_000, 50_000))),
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


Analyse = Callable[[Judged], tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]]


@dataclass(frozen=True)
class GoExperiment:
    """A table or figure about programs on the positions of people's games."""

    id: str
    title: str
    analyse: Analyse
    names: tuple[str, ...]
    """The programs that it is about."""
    scales: Mapping[str, GoScale]
    notes: str = ""

    def run(self, workshop: Workshop, scale: str) -> Outcome:
        """Evaluate what is missing, and judge."""
        chosen = self.scales[scale]
        wanted = tuple(each for each in chosen.programs if each.name in self.names)
        study = workshop.study(f"go9-{scale}", [_FILE], where=_STRONG)
        engines = workshop.evaluate(study, [each.spec for each in wanted], chosen.sample)
        columns = [name for name in ("ladder", "ko") if name in study.columns]
        loaded = measured(study, engines, columns=columns)
        judged = Judged(wanted, loaded, workshop.place(self.id), scale, workshop.seed)
        tables, verdicts, figures = self.analyse(judged)
        return Outcome(judged.about, tables, tuple(verdicts), tuple(figures))


def table_1(
    judged: Judged,
) -> tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]:
    """Metrics of all programs, and their order by accuracy and by the area under the ROC curve."""
    metrics = _measured(judged)
    return (
        (_beside(metrics, _METRICS),),
        [*_by_program(metrics, ("accuracy", "roc")), *_by_level(metrics, ("accuracy", "roc"))],
        [],
    )


def table_2(
    judged: Judged,
) -> tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]:
    """Kendall's τ and E(v)."""
    metrics = _measured(judged)
    shown = ("tau", "expected_difference")
    return (
        (_beside(metrics, shown),),
        [*_by_program(metrics, shown), *_by_level(metrics, shown)],
        [],
    )


def by_move_number(
    judged: Judged,
) -> tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]:
    """Curves by the number of moves played: what they tell, and whether they are one curve."""
    phases = partition("ply", judged.loaded.plies, PHASES)
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        tau_by_phase = []
        for phase in phases:
            some = sample.where(phase.holds)
            about = measure(some, resampling=Resampling(seed=judged.seed))
            gap = condition_gap(sample, phase.holds)
            tau_by_phase.append(about["tau_b"])
            rows.append(
                (
                    program.label,
                    phase.words,
                    len(some),
                    about["roc"],
                    about["tau_b"],
                    gap.level.effect,
                    gap.lean.effect,
                )
            )
        verdicts += _opening_verdicts(program, sample, phases[0].holds, tau_by_phase[0])
    headings = ("program", "moves", "positions", "ROC", "τ-b", "level", "lean")
    figures = [_draw(judged, program, sample) for program, sample in judged]
    return (OutcomeTable(headings, tuple(rows)),), verdicts, figures


def at_ladders(
    judged: Judged,
) -> tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]:
    """Curves where a ladder would capture stones of one side."""
    ladder = judged.loaded.columns["ladder"]
    sizes = SplitSizes(ladder > 0, ladder < 0, seed=judged.seed)
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        white, black = condition_gap(sample, ladder > 0), condition_gap(sample, ladder < 0)
        size = sizes.estimate(sample)
        rows.append((program.label, white.level.effect, black.level.effect, size))
        verdicts.append(
            hardly(f"{program.label} hardly splits at ladders", size)
            if program.name == OURS
            else verdict(f"{program.label} splits at ladders", size)
        )
    for more, fewer in _neighbours(judged):
        shrunk = sizes.shrinks(fewer[1], more[1])
        verdicts.append(verdict(f"{more[0].label} splits less than {fewer[0].label}", shrunk))
    headings = ("program", "White's stones in danger", "Black's stones in danger", "split")
    counts = OutcomeTable(
        ("condition", "positions"),
        (
            ("stones of White can be captured", int((ladder > 0).sum())),
            ("stones of Black can be captured", int((ladder < 0).sum())),
        ),
    )
    return (OutcomeTable(headings, tuple(rows)), counts), verdicts, []


def at_ko(
    judged: Judged,
) -> tuple[tuple[OutcomeTable, ...], list[Verdict], list[Path]]:
    """Curves where a ko is on the board: too sure or not, for one side or not."""
    ko = judged.loaded.columns["ko"]
    late = judged.loaded.plies >= LATE
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        gap = condition_gap(sample, ko)
        then = condition_gap(sample.where(late), ko[late])
        rows.append((program.label, gap.level.effect, gap.lean.effect, then.lean.effect))
        verdicts.append(departs(f"{program.label} splits at ko", gap))
    headings = ("program", "level", "lean", f"lean from move {LATE} on")
    title = f"{int(ko.sum()):,} positions with a ko, {int(ko[late].sum()):,} from move {LATE} on"
    return (OutcomeTable(headings, tuple(rows), title),), verdicts, []


def _measured(judged: Judged) -> dict[Program, Metrics]:
    resampling = Resampling(seed=judged.seed)
    return {program: measure(sample, resampling=resampling) for program, sample in judged}


def _beside(metrics: Mapping[Program, Metrics], names: Sequence[str]) -> OutcomeTable:
    """Two rows a program: ours, and theirs."""
    rows: list[tuple[Value, ...]] = []
    for program, own in metrics.items():
        rows.append((program.label, "ours", *(own[name] for name in names)))
        if program.theirs is not None:
            whose = "Fuego" if program.name == OURS else "theirs"
            rows.append(("", whose, *(getattr(program.theirs, name) for name in names)))
    return OutcomeTable(("program", "", *(METRICS[name].title for name in names)), tuple(rows))


def _by_program(metrics: Mapping[Program, Metrics], names: Sequence[str]) -> Iterator[Verdict]:
    """The programs at their most playouts, each against the next one."""
    first: dict[str, Program] = {}
    for program in metrics:
        first.setdefault(program.name, program)
    for name in names:
        for one, other in itertools.pairwise(first.values()):
            yield from _order(metrics, one, other, name)


def _by_level(metrics: Mapping[Program, Metrics], names: Sequence[str]) -> Iterator[Verdict]:
    """Each program at more playouts against itself at fewer."""
    for name in names:
        for one, other in itertools.pairwise(metrics):
            if one.name == other.name:
                yield from _order(metrics, one, other, name)


def _order(
    metrics: Mapping[Program, Metrics], one: Program, other: Program, name: str
) -> Iterator[Verdict]:
    """Whether two programs stand in the paper's order, by games drawn in common."""
    a, b = metrics[one], metrics[other]
    if one.theirs is None or other.theirs is None:
        return
    if name == "expected_difference" and a.unit != b.unit:
        return  # points and probabilities have no order
    theirs = getattr(one.theirs, name) - getattr(other.theirs, name)
    if theirs == 0:
        return
    ours = interval(a[name].value - b[name].value, a.drawn[name] - b.drawn[name], a.games)
    title = METRICS[name].title
    relation = "above" if theirs > 0 else "below"
    yield verdict(
        f"{title}: {one.label} {relation} {other.label}",
        ours if theirs > 0 else -ours,
        f"theirs {abs(theirs):+.3f}",
    )


def _opening_verdicts(
    program: Program, sample: Sample, opening: Holds, tau: Estimate
) -> Iterator[Verdict]:
    """What the paper says of the opening: few playouts tell nothing there; curves differ."""
    if program.name in ("UCT", "MC", MC_BY_MOVES) and program.level <= 500:
        nothing = Estimate(
            NEXT_TO_NOTHING - tau.value, NEXT_TO_NOTHING - tau.high, NEXT_TO_NOTHING - tau.low
        )
        yield verdict(
            f"{program.label} tells next to nothing before move 20 (τ-b < {NEXT_TO_NOTHING})",
            nothing,
        )
    gap = condition_gap(sample, opening)
    if program.name == OURS:
        effects = (gap.level.effect, gap.lean.effect)
        yield hardly(f"{program.label} hardly splits before move 20", *effects)
    else:
        yield departs(f"{program.label} splits by move number", gap)


def _draw(judged: Judged, program: Program, sample: Sample) -> Path:
    resampling = Resampling(resamples=200, seed=judged.seed)
    phases = partition("ply", judged.loaded.plies, PHASES)
    chosen = [(phase.words, sample.where(phase.holds)) for phase in phases if phase.holds.any()]
    parts = [
        curve(some, binning=picture_bins(some), condition=words, resampling=resampling)
        for words, some in chosen
    ]
    slug = re.sub(r"[^a-z0-9]+", "-", f"{program.name} {program.level}".lower())
    file = judged.folder / f"{judged.scale}-{slug}.png"
    Curves(tuple(parts), heading=program.label).save(file)
    return file


def _neighbours(
    judged: Judged,
) -> Iterator[tuple[tuple[Program, Sample], tuple[Program, Sample]]]:
    for one, other in itertools.pairwise(judged):
        if one[0].name == other[0].name:
            yield one, other
