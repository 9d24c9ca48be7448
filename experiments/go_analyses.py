# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on Go: analyses (tables I, II; figures 2 to 10; section V-C)."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from experiments.claims import LITTLE, differ, same_within, verdict
from experiments.curve_differences import apart, falls, from_diagonal
from experiments.gaps import Holds, SliceSizes, departs, picture_bins
from experiments.go_programs import (
    MC_SCORE,
    OURS,
    SCORE_UNDIVIDED,
    STRONGEST,
    UNDIVIDED,
    Found,
    Judged,
    Program,
)
from experiments.go_slopes import THEIR_WINS, least_expected_difference, middle_slope
from experiments.outcome import OutcomeTable, Value, Verdict
from hyoka.analysis import (
    METRICS,
    VALUE,
    Curves,
    MetricValues,
    Resampling,
    Sample,
    condition_gap,
    interval,
    measure,
    measure_curve,
    partition,
)
from hyoka.foundation.math import Estimate

PHASES: Final = (20, 30, 40)
"""Move numbers at which the paper splits games."""
LATE: Final = 30
"""Move number after which most kos occur."""
NEXT_TO_NOTHING: Final = 0.1
"""A τ-b below which values are uninformative; chance gives 0."""
THEIR_KO_ACCURACY: Final = (0.608, 0.763)
"""Section V-C: ACC of UCT with 5,000 playouts at all positions, and at those with a ko."""
_METRICS: Final = ("accuracy", "f_score", "lift", "roc", "average_precision", "break_even")
_MONTE_CARLO: Final = ("UCT", "MC", UNDIVIDED)
_ONE_CURVE: Final = (MC_SCORE, UNDIVIDED, SCORE_UNDIVIDED)
"""Programs with the same curve at all numbers of playouts: undivided ones by us, not the paper."""


def all_curves(judged: Judged) -> Found:
    """Figures 2 and 3: every program's curve at each number of playouts or level."""
    resampling = Resampling(seed=judged.seed)
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    figures: list[Path] = []
    for name, levels in judged.by_name().items():
        drawn = [
            measure_curve(
                sample, binning=picture_bins(sample), condition=f"{program.level:,}",
                resampling=Resampling(resamples=200, seed=judged.seed),
            )
            for program, sample in levels
        ]  # fmt: skip
        for (program, sample), part in zip(levels, drawn, strict=True):
            off = from_diagonal(sample, width=_width(sample), resampling=resampling)
            farthest = max(off, key=lambda each: abs(each.value), default=None)
            rows.append(
                (
                    program.label,
                    part.logistic.even,
                    part.logistic.scale,
                    farthest if sample.unit == VALUE else None,
                    part.monotonicity.largest_drop,
                )
            )
        verdicts += _claims_of_curves(name, levels, resampling)
        file = judged.figure(levels[0][0].slug.rpartition("-")[0])
        Curves(tuple(drawn), heading=name).save(file)
        figures.append(file)
    headings = ("program", "even at", "scale", "farthest from y = x", "largest fall")
    return (OutcomeTable(headings, tuple(rows)),), verdicts, figures


def _claims_of_curves(
    name: str, levels: Sequence[tuple[Program, Sample]], resampling: Resampling
) -> Iterator[Verdict]:
    """Verdicts on the paper's claims about a program's curves."""
    if name in STRONGEST:
        for program, sample in levels:
            off = from_diagonal(sample, width=_width(sample), resampling=resampling)
            yield same_within(LITTLE, f"{program.label}: the curve is near y = x", off)
        return
    if name == "GNU Go":
        for program, sample in levels:
            down = falls(sample, width=_width(sample), resampling=resampling)
            highest = max(down, key=lambda each: each.low, default=Estimate(0.0, 0.0, 0.0))
            yield verdict(f"{program.label}: the curve falls somewhere", highest)
        return
    for (more, one), (fewer, other) in itertools.pairwise(levels):
        both = apart(one, other, width=_width(one), resampling=resampling)
        pair = f"{more.label} and {fewer.level:,}"
        if name in _ONE_CURVE or fewer.level > 500:
            yield same_within(LITTLE, f"{pair}: one curve", both)
        else:
            yield differ(f"{pair}: two curves", both)


def _width(sample: Sample) -> float:
    """Bin width: the paper's 0.05 of win probability, or five points of score."""
    return 0.05 if sample.unit == VALUE else 5.0


def table_1(judged: Judged) -> Found:
    """Metrics of all programs, with their order by accuracy and by area under the ROC curve."""
    metrics = _measured(judged)
    return (
        (_beside(metrics, _METRICS),),
        [*_by_program(metrics, ("accuracy", "roc")), *_by_level(metrics, ("accuracy", "roc"))],
        [],
    )


def table_2(judged: Judged) -> Found:
    """Kendall's τ and E(v)."""
    metrics = _measured(judged)
    shown = ("tau", "expected_difference")
    return (
        (_beside(metrics, shown),),
        [*_by_program(metrics, shown), *_by_level(metrics, shown)],
        [],
    )


def both_tables(judged: Judged) -> Found:
    """Tables I and II, and what they imply about the curves."""
    metrics = _measured(judged)
    names = (*_METRICS, "tau", "expected_difference")
    implied, steeper = _implied(judged, metrics)
    compared = ("accuracy", "roc", "tau", "expected_difference")
    verdicts = [*_by_program(metrics, compared), *_by_level(metrics, compared), *steeper]
    return (_beside(metrics, names), implied), verdicts, []


def curves_and_tables(judged: Judged) -> Found:
    """Figures 2 and 3 with tables I and II."""
    curves, tables = all_curves(judged), both_tables(judged)
    return (*curves[0], *tables[0]), [*curves[1], *tables[1]], curves[2]


def _implied(
    judged: Judged, metrics: Mapping[Program, MetricValues]
) -> tuple[OutcomeTable, list[Verdict]]:
    """The smallest E(v) on y = x and the slopes in the middle, and whether E(v) is smaller."""
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        own, wins = metrics[program], judged.share(sample.results == 1)
        roc, difference = own["roc"], own["expected_difference"]
        least = None
        if sample.unit == VALUE:
            least = least_expected_difference(roc.value, wins)
        if least is not None and program.name in STRONGEST:
            drawn = least_expected_difference(own.drawn["roc"], wins)
            missing = drawn - own.drawn["expected_difference"]
            lead = interval(least - difference.value, missing, own.games)
            claim = f"{program.label}: E(v) is too small for y = x, as in tables I and II"
            verdicts.append(verdict(claim, lead))
        slope = middle_slope(roc.value, difference.value)
        rows.append((program.label, "ours", roc, difference, least, slope))
        if (theirs := program.theirs) is not None:
            their_least = None
            if sample.unit == VALUE:
                their_least = least_expected_difference(theirs.roc, THEIR_WINS)
            their_slope = middle_slope(theirs.roc, theirs.expected_difference)
            rows.append(
                ("", "theirs", theirs.roc, theirs.expected_difference, their_least, their_slope)
            )
    headings = ("program", "", "ROC", "E(v)", "least E(v) on y = x", "slope in the middle")
    return OutcomeTable(headings, tuple(rows), "what ROC and E(v) imply"), verdicts


def by_move_number(judged: Judged) -> Found:
    """Curves by move number: whether they are informative, and whether they are equal."""
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
    figures = [_draw_phases(judged, program, sample) for program, sample in judged]
    return (OutcomeTable(headings, tuple(rows)),), verdicts, figures


def at_ladders(judged: Judged) -> Found:
    """Curves where a ladder captures stones of one side: running ladders, and all."""
    ladder = judged.loaded.columns["running_ladder"]
    sizes = SliceSizes(ladder > 0, ladder < 0, seed=judged.seed)
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        white, black = condition_gap(sample, ladder > 0), condition_gap(sample, ladder < 0)
        size = sizes.estimate(sample)
        rows.append((program.label, white.level.effect, black.level.effect, size))
        verdicts.append(
            same_within(LITTLE, f"{program.label} does not split at ladders", [size])
            if program.name in STRONGEST
            else verdict(f"{program.label} splits at ladders", size)
        )
    for more, fewer in _neighbors(judged):
        shrunk = sizes.shrinks(fewer[1], more[1])
        verdicts.append(verdict(f"{more[0].label} splits less than {fewer[0].label}", shrunk))
    headings = ("program", "White's stones in danger", "Black's stones in danger", "split")
    tables = (
        OutcomeTable(headings, tuple(rows), "ladders that run"),
        _looser_ladders(judged),
        _ladder_counts(judged),
    )
    figures = [
        _draw_parts(
            judged, program, sample,
            {"all": np.ones(len(ladder), bool), "White in danger": ladder > 0,
             "Black in danger": ladder < 0},
        )
        for program, sample in judged
    ]  # fmt: skip
    return tables, verdicts, figures


def _looser_ladders(judged: Judged) -> OutcomeTable:
    """The same, including chains in atari and immediate captures."""
    ladder = judged.loaded.columns["ladder"]
    sizes = SliceSizes(ladder > 0, ladder < 0, seed=judged.seed)
    rows = tuple((program.label, sizes.estimate(sample)) for program, sample in judged)
    title = "chains in atari and those taken at once counted in"
    return OutcomeTable(("program", "split"), rows, title)


def _ladder_counts(judged: Judged) -> OutcomeTable:
    columns, positions = judged.loaded.columns, len(judged.loaded)
    rows: list[tuple[Value, ...]] = []
    for words, name, theirs in (("that run", "running_ladder", 0.111), ("all", "ladder", None)):
        ladder = columns[name]
        share = float((ladder != 0).mean()) if positions else 0.0
        rows.append((words, int((ladder > 0).sum()), int((ladder < 0).sum()), share, theirs))
    headings = ("ladders", "White's stones", "Black's stones", "share of positions", "theirs")
    return OutcomeTable(headings, tuple(rows))


def at_ko(judged: Judged) -> Found:
    """Curves where a ko may not be retaken: over- or underconfidence, and bias for a side."""
    ko = judged.loaded.columns["ko_forbidden"]
    loose = judged.loaded.columns["ko"]
    late = judged.loaded.plies >= LATE
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        gap = condition_gap(sample, ko)
        then = condition_gap(sample.where(late), ko[late])
        looser = condition_gap(sample, loose)
        rows.append(
            (
                program.label,
                gap.level.effect,
                gap.lean.effect,
                then.lean.effect,
                looser.lean.effect,
            )
        )
        verdicts.append(departs(f"{program.label} splits at ko", sample, ko))
        verdicts.append(
            departs(
                f"{program.label} splits at ko from move {LATE} on", sample.where(late), ko[late]
            )
        )
    headings = ("program", "level", "lean", f"lean from move {LATE} on", "lean, kos to take too")
    title = (
        f"{int(ko.sum()):,} positions where a ko may not be retaken ({judged.share(ko):.1%}; "
        f"theirs 2.0 %), {int(ko[late].sum()):,} from move {LATE} on; {int(loose.sum()):,} with "
        "kos to take"
    )
    figures = [
        _draw_parts(judged, program, sample, {"all": np.ones(len(ko), bool), "ko": ko})
        for program, sample in judged
    ]
    return (OutcomeTable(headings, tuple(rows), title),), verdicts, figures


def kos_and_accuracy(judged: Judged) -> Found:
    """Figures 9 and 10 with section V-C."""
    curves, accuracy = at_ko(judged), accuracy_at_ko(judged)
    return (*curves[0], *accuracy[0]), [*curves[1], *accuracy[1]], curves[2]


def accuracy_at_ko(judged: Judged) -> Found:
    """Section V-C: metrics are better at kos because kos occur late."""
    ko = judged.loaded.columns["ko_forbidden"]
    strata, shares = judged.strata()
    resampling = Resampling(seed=judged.seed)
    rows: list[tuple[Value, ...]] = []
    verdicts: list[Verdict] = []
    for program, sample in judged:
        parts = {
            "all": sample,
            "at ko": sample.where(ko),
            "at ko, phases as in all": sample.where(ko).balanced(strata[ko], shares),
        }
        found = {words: measure(part, resampling=resampling) for words, part in parts.items()}
        rows.append((program.label, *(each["accuracy"] for each in found.values())))
        everywhere = found["all"]
        for words in ("at ko", "at ko, phases as in all"):
            there = found[words]
            more = interval(
                there["accuracy"].value - everywhere["accuracy"].value,
                there.drawn["accuracy"] - everywhere.drawn["accuracy"],
                there.games,
            )
            if words == "at ko":
                verdicts.append(verdict(f"{program.label}: ACC is higher at ko", more))
            else:
                verdicts.append(
                    same_within(LITTLE, f"{program.label}: not with phases as in all", [more])
                )
    rows.append(("UCT 5,000, theirs", *THEIR_KO_ACCURACY, None))
    headings = ("program", "all", "at ko", "at ko, phases as in all")
    return (OutcomeTable(headings, tuple(rows), "ACC"),), verdicts, []


def _measured(judged: Judged) -> dict[Program, MetricValues]:
    resampling = Resampling(seed=judged.seed)
    return {program: measure(sample, resampling=resampling) for program, sample in judged}


def _beside(metrics: Mapping[Program, MetricValues], names: Sequence[str]) -> OutcomeTable:
    """Two rows per program: our results and the paper's."""
    rows: list[tuple[Value, ...]] = []
    for program, own in metrics.items():
        rows.append((program.label, "ours", *(own[name] for name in names)))
        if program.theirs is not None:
            whose = "Fuego" if program.name == OURS else "theirs"
            rows.append(("", whose, *(getattr(program.theirs, name) for name in names)))
    return OutcomeTable(("program", "", *(METRICS[name].title for name in names)), tuple(rows))


def _by_program(metrics: Mapping[Program, MetricValues], names: Sequence[str]) -> Iterator[Verdict]:
    """Compare neighboring programs at their highest playouts."""
    first: dict[str, Program] = {}
    for program in metrics:
        first.setdefault(program.name, program)
    for name in names:
        for one, other in itertools.pairwise(first.values()):
            yield from _order(metrics, one, other, name)


def _by_level(metrics: Mapping[Program, MetricValues], names: Sequence[str]) -> Iterator[Verdict]:
    """Compare each program at more playouts with itself at fewer."""
    for name in names:
        for one, other in itertools.pairwise(metrics):
            if one.name == other.name:
                yield from _order(metrics, one, other, name)


def _order(
    metrics: Mapping[Program, MetricValues], one: Program, other: Program, name: str
) -> Iterator[Verdict]:
    """Whether two programs are in the paper's order, with paired resamples of games."""
    a, b = metrics[one], metrics[other]
    if one.theirs is None or other.theirs is None:
        return
    if name == "expected_difference" and a.unit != b.unit:
        return  # points and probabilities are not comparable
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
    """Verdicts on the opening: few playouts are uninformative; curves differ."""
    if program.name in _MONTE_CARLO and program.level <= 500:
        claim = f"{program.label} tells next to nothing before move 20: τ-b is that of chance"
        yield same_within(NEXT_TO_NOTHING, claim, [tau])
    if program.name in STRONGEST:
        gap = condition_gap(sample, opening)
        effects = (gap.level.effect, gap.lean.effect)
        yield same_within(LITTLE, f"{program.label} does not split before move 20", effects)
    else:
        yield departs(f"{program.label} splits by move number", sample, opening)


def _draw_phases(judged: Judged, program: Program, sample: Sample) -> Path:
    phases = partition("ply", judged.loaded.plies, PHASES)
    return _draw_parts(judged, program, sample, {phase.words: phase.holds for phase in phases})


def _draw_parts(
    judged: Judged, program: Program, sample: Sample, parts: Mapping[str, Holds]
) -> Path:
    """Draw the curves of some slices of the positions."""
    resampling = Resampling(resamples=200, seed=judged.seed)
    chosen = [(words, sample.where(holds)) for words, holds in parts.items() if holds.any()]
    curves = [
        measure_curve(some, binning=picture_bins(some), condition=words, resampling=resampling)
        for words, some in chosen
    ]
    file = judged.figure(program.slug)
    Curves(tuple(curves), heading=program.label).save(file)
    return file


def _neighbors(
    judged: Judged,
) -> Iterator[tuple[tuple[Program, Sample], tuple[Program, Sample]]]:
    for one, other in itertools.pairwise(judged):
        if one[0].name == other[0].name:
            yield one, other
