# SPDX-License-Identifier: Apache-2.0
"""Measurements of a report: load the positions once and compute all results from them.

Evaluators with enough common positions are compared on these (`Results.groups`, see
`hyoka.study.grouping`). Each evaluator also has a `Subject`: results on all of its positions, if
these are many more, such as values from the records beside a search of a sample. Evaluators with
too few common positions are measured on their own positions only.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hyoka import analysis
from hyoka.analysis import (
    VALUE,
    CalibrationRow,
    Comparison,
    Confidence,
    Coverage,
    CoveredGroup,
    Curve,
    Disagreement,
    DrawnGames,
    FixedBins,
    MetricValues,
    Resampling,
    Sample,
    Slice,
    Slices,
    SliceSettings,
    WinDrawLoss,
)
from hyoka.analysis.curves import least_positions, nice_number
from hyoka.foundation.errors import StudyError
from hyoka.reporting.study_report.examples import (
    Example,
    bin_examples,
    disputed_examples,
    examples_against,
    on_the_board,
)
from hyoka.reporting.study_report.study_facts import (
    EvaluatorFacts,
    RecordFacts,
    ReportOptions,
    Steps,
    evaluator_facts,
    record_facts,
)
from hyoka.study import Study
from hyoka.study.analyses import column_words, phases
from hyoka.study.grouping import Evaluated, comparison_groups
from hyoka.study.sampling import (
    Measured,
    Question,
    chosen_evaluators,
    first_player,
    measured,
    slice_columns,
)

FEW_GAMES: Final = 30
"""Number of games below which intervals are unreliable."""
NO_GUIDE: Final = 0.6
"""ROC below which an evaluator is nearly uninformative; chance is 0.5."""
CLEARLY: Final = 0.2
"""Distance from one half from which one side is clearly ahead."""
_WIDER: Final = 1.25
"""Ratio to the common positions from which an evaluator is also measured on its own."""
_MOST_DISPUTES: Final = 3
_DISPUTED_BOARDS: Final = 6
_AGAINST: Final = 4
_PLY_RANGES: Final = 12
_MANY: Final = 300_000
_LEAST_RESAMPLES: Final = 200
_LEAST_IN_RANGE: Final = 100


@dataclass(frozen=True, eq=False)
class Judged:
    """Results of one evaluator on some positions of decided games."""

    sample: Sample
    curve: Curve
    examples: tuple[tuple[Example, ...], ...]
    """Examples of each point of the curve."""
    metrics: MetricValues

    @property
    def name(self) -> str:
        """Name of the evaluator."""
        return self.sample.name


@dataclass(frozen=True, eq=False)
class Shared:
    """Results of evaluators on the same positions."""

    positions: Measured
    judged: tuple[Judged, ...]
    """The best first, by ROC."""
    comparisons: tuple[Comparison, ...]
    """Comparisons of the best evaluator with each of the others."""
    disagreements: tuple[tuple[Disagreement, tuple[Example, ...]], ...]


@dataclass(frozen=True, eq=False)
class SliceView:
    """A slice with its curve and examples."""

    slice: Slice
    curve: Curve
    against: tuple[Example, ...]
    """Examples with the largest errors."""
    examples: tuple[tuple[Example, ...], ...]
    """Examples of each point of the curve."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Results of one evaluator on all of its positions."""

    facts: EvaluatorFacts
    positions: Measured
    own: Judged
    is_wider: bool
    """Whether these are more than the common positions."""
    phase_curves: tuple[Curve, ...]
    phase_metrics: tuple[MetricValues, ...]
    by_ply: tuple[tuple[int, int, MetricValues], ...]
    """Metrics by ply range: first ply, end (exclusive), metrics."""
    weak_before: tuple[int, MetricValues] | None
    """The ply before which it is nearly uninformative, and its metrics there."""
    confidence: Confidence | None
    calibration: tuple[CalibrationRow, ...]
    """Calibration of the result without draws and, if there are draws, of win and loss."""
    win_draw_loss: WinDrawLoss | None
    """None without draws."""
    slices: Slices | None
    """None with too few games."""
    shown_slices: tuple[SliceView, ...]

    @property
    def name(self) -> str:
        """Name of the evaluator."""
        return self.own.name

    @property
    def unit(self) -> str:
        """Unit of its evaluations."""
        return self.own.sample.unit


@dataclass(frozen=True, eq=False)
class Results:
    """All numbers of a report."""

    study: Study
    where: str | None
    records: RecordFacts
    subjects: tuple[Subject, ...]
    """Evaluators, the best first if they are comparable."""
    groups: tuple[Shared, ...]
    """Evaluators that are compared on common positions; empty if too few are common."""
    coverage: Coverage
    """The compared evaluators, their positions, and the treatment of draws."""
    common: int
    """Number of positions with evaluations by all evaluators."""
    resamples: int
    idle: tuple[str, ...]
    """Evaluators without any position that has a result."""

    @property
    def shared(self) -> Shared | None:
        """The first group; None if no two evaluators are comparable."""
        return self.groups[0] if self.groups else None

    @property
    def together(self) -> list[Judged]:
        """All compared evaluators, each on the positions of its group."""
        return [judged for group in self.groups for judged in group.judged]

    @property
    def apart(self) -> list[Judged]:
        """Evaluators on their own positions, if these are not the positions of a group."""
        compared = {judged.name for judged in self.together}
        return [s.own for s in self.subjects if s.is_wider or s.name not in compared]

    @property
    def won(self) -> str:
        """The verb for shares of results: `won`, or `scored` where drawn games count half."""
        return "scored" if self.coverage.draws == "half" and self.coverage.drawn_games else "won"

    @property
    def first_player(self) -> str:
        """The game's name of the first player."""
        return first_player(self.study.game)

    def examples(self) -> list[Example]:
        """All example positions of the report."""
        judged = [subject.own for subject in self.subjects]
        examples = []
        for group in self.groups:
            judged += group.judged
            examples += [e for _, shown in group.disagreements for e in shown]
        examples += [e for each in judged for point in each.examples for e in point]
        for subject in self.subjects:
            for shown in subject.shown_slices:
                examples += [*shown.against, *itertools.chain.from_iterable(shown.examples)]
        return examples


def measure_study(study: Study, options: ReportOptions, steps: Steps) -> Results:
    """Compute all results."""
    where, draws = options.where, options.draws
    names = chosen_evaluators(study, options.evaluators)
    steps.begin("reading the positions")
    descriptions = evaluator_facts(study, names)
    facts = {each.id: each for each in descriptions}
    question = Question(where=where, link=options.link, draws=draws, memory=options.memory)
    evaluated = Evaluated.load(study, names, question.also(draws="half"))
    usable = {name: evaluated.positions([name]) for name in names}
    idle = [name for name in names if not usable[name]]
    if len(idle) < len(names):
        names = [name for name in names if name not in idle]
    groups = comparison_groups(study, names, question)
    largest = max(usable[name] for name in names)
    resamples = resamples_for(largest) if options.resamples is None else options.resamples
    resampling = Resampling(resamples, options.seed)
    work = _Work(study, options, resampling, steps)
    subjects, compared, covered = [], [], []
    joint_games = drawn_games = np.zeros(0, np.int64)
    notes: dict[str, None] = {}
    for group in groups:
        loaded = _loaded(study, group.names, question)
        joint_games = np.union1d(joint_games, loaded.joint_games)
        drawn_games = np.union1d(drawn_games, loaded.drawn_games)
        if loaded.note:
            notes[loaded.note] = None
        judged: dict[str, Judged] = {}
        for name in group.names:
            title = facts[name].title
            steps.begin(f"{title}: curve and metrics")
            judged[name] = work.judged(loaded, _counted(loaded, title, draws))
        for name in group.names:
            is_wider = len(group.names) > 1 and usable[name] > _WIDER * evaluated.positions(
                group.names
            )
            positions, own, title = loaded, judged[name], facts[name].title
            if is_wider:
                steps.begin(f"{title}: all of its positions")
                positions = _loaded(study, [name], question)
                own = work.judged(positions, _counted(positions, title, draws))
            subjects.append(work.subject(facts[name], positions, own, is_wider))
        if len(group.names) > 1:
            steps.begin("comparing")
            compared.append(work.shared(loaded, list(judged.values())))
        counted = next(iter(judged.values())).curve
        covered.append(
            CoveredGroup(
                tuple(facts[name].title for name in group.names),
                counted.positions,
                counted.games,
                group.own_positions,
                group.common_positions,
            )
        )
    order = [judged.name for shared in compared for judged in shared.judged]
    order += [subject.name for subject in subjects if subject.name not in order]
    missing = tuple(facts[name].title for name in idle)
    return Results(
        study,
        where,
        record_facts(study),
        tuple(sorted(subjects, key=lambda subject: order.index(subject.name))),
        tuple(compared),
        Coverage(tuple(covered), draws, len(joint_games), len(drawn_games), missing, tuple(notes)),
        evaluated.positions(names),
        resampling.resamples,
        missing,
    )


def resamples_for(positions: int) -> int:
    """Default number of resamples, fewer for many positions.

    >>> resamples_for(50_000), resamples_for(1_000_000), resamples_for(3_000_000)
    (1000, 300, 200)
    """
    return max(_LEAST_RESAMPLES, min(1000, 1000 * _MANY // max(positions, 1)))


def _loaded(study: Study, names: Sequence[str], question: Question) -> Measured:
    """Load the common positions of evaluators, with drawn games."""
    return measured(study, names, question.also(draws="half"), columns=slice_columns(study))


def _counted(positions: Measured, name: str, draws: DrawnGames) -> Sample:
    """The sample of one evaluator, with draws treated as requested."""
    sample = positions.sample(name)
    return sample.without_draws() if draws == "drop" else sample


@dataclass(frozen=True, eq=False)
class _Work:
    """Shared inputs of a report's measurements."""

    study: Study
    options: ReportOptions
    resampling: Resampling
    steps: Steps

    def curve(self, sample: Sample, bins: FixedBins, condition: str = "") -> Curve:
        return analysis.measure_curve(
            sample, binning=bins, resampling=self.resampling, condition=condition
        )

    def judged(self, positions: Measured, sample: Sample) -> Judged:
        if not (sample.results != 0.5).any():
            raise StudyError(
                f"{self.study.path}: all games that {sample.name} evaluated are drawn; "
                "a report needs wins and losses"
            )
        curve = self.curve(sample, analysis.open_bins(sample, least_positions(0)))
        examples = bin_examples(
            positions, sample, curve, self.options.boards_a_bin, self.resampling.seed
        )
        return Judged(sample, curve, examples, analysis.measure(sample, resampling=self.resampling))

    def subject(
        self, facts: EvaluatorFacts, positions: Measured, own: Judged, is_wider: bool
    ) -> Subject:
        sample = own.sample
        assert sample.rows is not None
        plies = positions.plies[sample.rows]
        parts = [
            (sample.where(phase.holds), phase.words) for phase in phases(plies) if phase.holds.any()
        ]
        # Compared curves have the same bins.
        bins = analysis.open_bins(sample, least_positions(0))
        self.steps.begin(f"{own.name}: phases")
        by_ply = self._by_ply(sample, plies)
        with_draws = positions.sample(own.name)
        drawn = bool((with_draws.results == 0.5).any())
        self.steps.begin(f"{own.name}: slices")
        slices = self._slices_of(positions, sample, facts.is_player)
        return Subject(
            facts,
            positions,
            own,
            is_wider,
            tuple(self.curve(part, bins, words) for part, words in parts),
            tuple(
                analysis.measure(part, resampling=self.resampling, condition=words)
                for part, words in parts
            ),
            by_ply,
            self._weak_before(sample, plies, by_ply),
            confidence_of(sample, self.resampling),
            (
                *analysis.calibrate(sample, draws=self.options.draws),
                *(analysis.calibrate(with_draws, wdl=True) if drawn else ()),
            ),
            analysis.fit_win_draw_loss(with_draws) if drawn else None,
            slices,
            () if slices is None else self._shown_slices(positions, sample, slices),
        )

    def _by_ply(
        self, sample: Sample, plies: np.ndarray
    ) -> tuple[tuple[int, int, MetricValues], ...]:
        low, high = np.quantile(plies, [0.01, 0.99])
        width = max(1, round(nice_number(float(high - low) / _PLY_RANGES)))
        ranges = []
        for start in range(0, int(plies.max()) + 1, width):
            part = sample.where((plies >= start) & (plies < start + width))
            games = len(np.unique(part.games))
            if len(part) < _LEAST_IN_RANGE or games < FEW_GAMES or not has_both(part):
                continue
            metrics = analysis.measure(
                part, resampling=self.resampling, condition=f"{start} ≤ ply < {start + width}"
            )
            ranges.append((start, start + width, metrics))
        return tuple(ranges)

    def _weak_before(
        self, sample: Sample, plies: np.ndarray, by_ply: Sequence[tuple[int, int, MetricValues]]
    ) -> tuple[int, MetricValues] | None:
        weak = list(itertools.takewhile(lambda each: each[2]["roc"].high < NO_GUIDE, by_ply))
        if not weak:
            return None
        before = weak[-1][1]
        part = sample.where(plies < before)
        words = f"ply < {before}"
        return before, analysis.measure(part, resampling=self.resampling, condition=words)

    def _slices_of(self, positions: Measured, sample: Sample, of_player: bool) -> Slices | None:
        few = len(np.unique(sample.games)) < FEW_GAMES
        rows = sample.rows
        if few or not has_both(sample) or not self.options.slices or rows is None:
            return None
        return analysis.find_slices(
            sample,
            {name: column[rows] for name, column in positions.columns.items()},
            SliceSettings(top=self.options.slices),
            words=column_words(self.study.game, of_player),
            controls=[each.where(rows) for each in positions.controls(sample.name)],
            resampling=Resampling(min(self.resampling.resamples, 200), self.resampling.seed),
        )

    def _shown_slices(
        self, positions: Measured, sample: Sample, slices: Slices
    ) -> tuple[SliceView, ...]:
        ended = on_the_board(self.study)
        bins = analysis.open_bins(sample, least_positions(0))
        shown = []
        for biased in slices:
            part = sample.where(biased.condition.holds)
            curve = self.curve(part, bins, biased.condition.words)
            against = examples_against(positions, sample, biased, ended, _AGAINST)
            examples = bin_examples(
                positions, part, curve, self.options.boards_a_bin, self.resampling.seed
            )
            shown.append(SliceView(biased, curve, against, examples))
        return tuple(shown)

    def shared(self, positions: Measured, judged: list[Judged]) -> Shared:
        best_first = sorted(judged, key=lambda each: -_known(each.metrics["roc"].value))
        best, *others = best_first
        disagreements = []
        for other in others[:_MOST_DISPUTES]:
            disagreement = analysis.measure_disagreement(
                best.sample, other.sample, top=_DISPUTED_BOARDS, resampling=self.resampling
            )
            shown = disputed_examples(
                positions, disagreement, best.sample, other.sample, _DISPUTED_BOARDS
            )
            disagreements.append((disagreement, shown))
        return Shared(
            positions,
            tuple(best_first),
            tuple(analysis.compare_measured(best.metrics, o.metrics) for o in others),
            tuple(disagreements),
        )


def _known(value: float) -> float:
    return value if math.isfinite(value) else -math.inf


def has_both(sample: Sample) -> bool:
    """Whether there are wins and losses."""
    return bool((sample.results == 1).any() and (sample.results == 0).any())


def confidence_of(sample: Sample, resampling: Resampling) -> Confidence | None:
    """Measure an evaluator's confident values; None without values, or with too few."""
    if sample.unit != VALUE or not resampling.resamples:
        return None
    confidence = analysis.measure_confidence(sample, sure=CLEARLY, resampling=resampling)
    return None if confidence is None or confidence.games < FEW_GAMES else confidence


def curves_by_unit(judged: Sequence[Judged], most: int) -> list[list[Judged]]:
    """Group evaluators by chart: one unit and at most `most` curves each."""
    units: dict[str, list[Judged]] = {}
    for each in judged:
        if each.curve.points:
            units.setdefault(each.sample.unit, []).append(each)
    return [
        together[start : start + most]
        for together in units.values()
        for start in range(0, len(together), most)
    ]
