# SPDX-License-Identifier: Apache-2.0
"""Analyses of a study's evaluators: each function here is a method of `Study`.

`evaluators` are names from `Study.engines`, the specs used for evaluation, or patterns; by default
all. Evaluators that share enough positions are measured on their common positions, the others each
alone (`hyoka.study.grouping`); a result's `coverage` states the positions of each evaluator and
the treatment of drawn games. A `Question` selects positions, slices and resampling; its fields may
also be given as keywords, which override the question's, as may those of an analysis's settings:

    study.metrics("comments", by="phase")
    question = Question(where="ply >= 20", resampling=Resampling(200))
    study.curve(question=question, delta=50), study.metrics(question=question, by="phase")
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyoka import analysis
from hyoka.analysis import (
    AdaptiveBins,
    Binning,
    Calibration,
    Certainty,
    Comparison,
    Condition,
    Control,
    Coverage,
    CoveredGroup,
    Curves,
    Disagreement,
    Equals,
    FixedBins,
    Gaps,
    MetricsTable,
    ReliabilityDiagrams,
    Sample,
    Slices,
    SliceSettings,
    WdlModels,
    open_bins,
)
from hyoka.analysis.accuracy import (
    Accuracy,
    AccuracySettings,
    AccuracyTable,
    MoveCoverage,
    WorstMove,
    WorstMoves,
    measure_accuracy,
)
from hyoka.analysis.comparison import ListedPosition
from hyoka.analysis.curves import Trend, least_positions
from hyoka.analysis.wdl import Stages, default_max_score
from hyoka.foundation.errors import ParameterError, StudyError, named
from hyoka.foundation.options import check_options, option, read_range
from hyoka.foundation.progress import OnProgress
from hyoka.games import facts_named
from hyoka.storage.result import DrawRule
from hyoka.study.accuracy import load_moves, worst_moves
from hyoka.study.condensing import CondensedGroup, condense, is_too_large
from hyoka.study.grouping import Evaluated, EvaluatorGroup, comparison_groups
from hyoka.study.sampling import (
    OUTCOMES,
    PHASE,
    Measured,
    Question,
    chosen_evaluators,
    evaluator_titles,
    is_player,
    measured,
    slice_columns,
    titles_text,
)

if TYPE_CHECKING:
    from hyoka.study.study import Study

_SLICE_RESAMPLES: Final = 200
"""The maximum per slice: they only test its largest gap."""
MOVE: Final = "move"
"""The default stage of a game: the move number."""
_MOVE_NUMBER: Final = "ply // 2 + 1"
S = TypeVar("S")
Listed = TypeVar("Listed", bound=ListedPosition)
Outcome = Callable[[Sample], Sample]
"""Replaces the results of a sample."""
L = TypeVar("L", Measured, Measured | CondensedGroup)


@dataclass(frozen=True, kw_only=True)
class CurveSettings:
    """Options of evaluation curves."""

    wdl: bool = option(False, "Probabilities of win, draw and loss instead of expected scores.")
    delta: float | None = option(
        None, "Width of bins; by default chosen from the data.", above=0, metavar="WIDTH"
    )
    error: float | None = option(
        None, "Merge bins until the standard error, clustered by game, is at most this.", above=0
    )
    count: int | None = option(
        None, "Merge bins until they have this many positions.", name="per_bin", min=1
    )
    at_least: int | None = option(
        None,
        "Omit bins with fewer positions; by default 100, or 1/40 of all positions if there are "
        "fewer than 4,000.",
        name="least",
        min=1,
        metavar="N",
    )
    bands: Literal["games", "naive"] = option(
        "games", "Confidence bands clustered by game, or naive ones for independent positions."
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.delta is not None and (self.error is not None or self.count is not None):
            grow = f"{named('error')} or {named('count')}"
            raise ParameterError(
                "delta", f"makes bins of one width and cannot be combined with {grow}"
            )

    def binning(self, sample: Sample) -> Binning:
        """Compute the bins from all positions; a slice's curve leaves out thin ones."""
        least = self.at_least
        if self.error is not None or self.count is not None:
            enough = self.count or least or least_positions(sample.position_count)
            return AdaptiveBins(enough, error=np.inf if self.error is None else self.error)
        fewest = least_positions(0) if least is None else least
        return open_bins(sample, fewest) if self.delta is None else FixedBins(self.delta, fewest)


def curve(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    settings: CurveSettings | None = None,
    **options: Any,
) -> Curves:
    """Evaluation curves: win probability as a function of an evaluation.

    With slices, the overall curve comes first.
    """
    settings = _settings(CurveSettings, settings, options)
    question = _balanced_parts(_resolved_question(question, options))
    curves = []
    wdl = settings.wdl
    least = settings.count if settings.at_least is None else settings.at_least
    walk = _measured_each(study, evaluators, question.also(draws="half") if wdl else question)
    for subject in walk.subjects():
        # All curves of one evaluator have the same bins.
        binning = settings.binning(subject.sample)
        for outcome, trend, of_outcome in _outcomes(wdl):
            for condition, part in subject.parts(of_outcome):
                if len(part):
                    words = " ".join(word for word in (outcome, condition) if word)
                    curves.append(
                        analysis.measure_curve(
                            part,
                            binning=binning,
                            at_least=least,
                            resampling=question.resampling,
                            condition=words,
                            trend=trend,
                        )
                    )
    return Curves(
        tuple(curves),
        "share" if wdl else "win probability",
        bands=settings.bands,
        min_games=question.min_games,
        coverage=walk.coverage("draws" if wdl else question.draws),
    )


def metrics(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    *,
    threshold: float | Literal["best"] | None = None,
    **options: Any,
) -> MetricsTable:
    """Metrics of how evaluators separate wins from losses: ACC, FSC, LFT, ROC, APR, BEP, τ, E(v) ….

    A position with at least `threshold` is predicted as won: by default 0.5 for values, 0 for
    scores.
    """
    question = _balanced_parts(_resolved_question(question, options))
    tables = []
    caveats: dict[str, None] = {}
    walk = _measured_each(study, evaluators, question)
    for subject in walk.subjects():
        caveats |= dict.fromkeys(subject.caveats)
        for condition, part in subject.parts():
            if not len(part):
                continue
            tables.append(
                analysis.measure(
                    part, threshold=threshold, resampling=question.resampling, condition=condition
                )
            )
    confidence = question.resampling.confidence
    return MetricsTable(
        tuple(tables),
        confidence=confidence,
        caveats=tuple(caveats),
        min_games=question.min_games,
        coverage=walk.coverage(question.draws),
    )


def slices(
    study: "Study",
    evaluator: str | None = None,
    question: Question | None = None,
    settings: SliceSettings | None = None,
    *,
    columns: Sequence[str] | None = None,
    progress: OnProgress | None = None,
    **options: Any,
) -> Slices:
    """Discover the slices where an evaluator is most biased.

    `columns` are columns or SQL expressions to search; by default the ply, the side to move, the
    columns that describe positions, komi, handicap and rules. Without a name, the study's only
    evaluator is used. A balanced search compares positions of the same phase only, and tries no
    condition on plies; otherwise slices that are explained by the phase come last.
    """
    settings = _settings(SliceSettings, settings, options)
    question = _of_all(_resolved_question(question, options), "slice discovery")
    if evaluator is None:
        if len(study.engines) > 1:
            raise ParameterError(
                "evaluator", f"is required, one of {titles_text(study, study.engines)}"
            )
        evaluator = study.engines[0] if study.engines else None
    searched = list(columns) if columns is not None else slice_columns(study)
    for column in searched:
        outcomes = OUTCOMES & set(re.findall(r"\w+", column))
        if outcomes:
            names = ", ".join(sorted(outcomes))
            raise ParameterError("columns", f"cannot use {names}, which depends on the result")
    loaded = measured(study, evaluator, question, columns=searched)
    equal = None if question.balance is None else loaded.phase
    resamples = min(question.resampling.resamples, _SLICE_RESAMPLES)
    weaknesses = analysis.find_slices(
        loaded.samples[0],
        loaded.columns,
        settings,
        words=column_words(study.game, is_player(study, chosen_evaluators(study, evaluator)[0])),
        controls=[each for each in loaded.controls(loaded.samples[0].name) if each is not equal],
        held_equal=equal,
        resampling=replace(question.resampling, resamples=resamples),
        progress=progress,
    )
    games, drawn = len(loaded.joint_games), len(loaded.drawn_games)
    coverage = Coverage((loaded.group(),), question.draws, games, drawn, notes=_notes(loaded))
    return replace(weaknesses, caveats=loaded.caveats, coverage=coverage)


def gaps(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    **options: Any,
) -> Gaps:
    """Gaps between the curves of slices and the overall curve, with tests by games.

    Any SQL condition defines slices: `by="ladder > 0"` makes two. With balancing, positions are
    compared only within their phase, and always at equal values.
    """
    question = _resolved_question(question, options)
    if question.by is None:
        raise ParameterError("by", "is required: a column or a condition that defines slices")
    named = []
    equal: Control | None = None
    walk = _measured_each(study, evaluators, question)
    for loaded, sample in walk:
        equal = None if question.balance is None else loaded.phase
        equals = Equals(sample, None if equal is None else equal.strata)
        named += [
            analysis.named_gap(equals, words, holds, resampling=question.resampling)
            for words, holds in _parts(loaded, question, with_all=False)
            if holds is not None and holds.any() and not holds.all()
        ]
    held_equal = "" if equal is None else equal.name
    coverage = walk.coverage(question.draws)
    return Gaps(tuple(named), held_equal, question.min_games, coverage)


def compare(
    study: "Study",
    one: str,
    other: str,
    question: Question | None = None,
    *,
    threshold: float | Literal["best"] | None = None,
    **options: Any,
) -> Comparison:
    """Compare two evaluators on the same positions: differences of metrics, with intervals."""
    question = _unbalanced(
        _of_all(_resolved_question(question, options), "a comparison"), "a comparison"
    )
    loaded, coverage = _two(study, one, other, question)
    a, b = loaded.samples
    comparison = analysis.compare(a, b, resampling=question.resampling, threshold=threshold)
    return replace(comparison, min_games=question.min_games, coverage=coverage)


def disagreements(
    study: "Study",
    one: str,
    other: str,
    question: Question | None = None,
    *,
    top: int = 10,
    **options: Any,
) -> Disagreement:
    """List the positions where two evaluators differ most, and which of them was right."""
    question = _unbalanced(
        _of_all(_resolved_question(question, options), "a disagreement"), "a disagreement"
    )
    loaded, coverage = _two(study, one, other, question)
    a, b = loaded.samples
    disagreement = analysis.measure_disagreement(a, b, top=top, resampling=question.resampling)
    return replace(
        disagreement,
        disputed=_with_positions(study, loaded, disagreement.disputed),
        min_games=question.min_games,
        coverage=coverage,
    )


def certainty(
    study: "Study",
    evaluator: str,
    question: Question | None = None,
    *,
    top: int = 10,
    **options: Any,
) -> Certainty:
    """How often the preferred side scores by certainty, and where the evaluator was wrong."""
    question = _unbalanced(_of_all(_resolved_question(question, options), "certainty"), "certainty")
    loaded = measured(study, evaluator, question)
    found = analysis.measure_certainty(loaded.samples[0], top=top, resampling=question.resampling)
    games, drawn = len(loaded.joint_games), len(loaded.drawn_games)
    return replace(
        found,
        errors=_with_positions(study, loaded, found.errors),
        min_games=question.min_games,
        coverage=Coverage((loaded.group(),), question.draws, games, drawn, notes=_notes(loaded)),
    )


def _with_positions(
    study: "Study", loaded: Measured, listed: Sequence[Listed]
) -> tuple[Listed, ...]:
    """Add the games, plies and texts of listed positions."""
    found = []
    for each in listed:
        game, ply = int(loaded.game_ids[each.row]), int(loaded.plies[each.row])
        text = study.record(game).position_text(ply)
        found.append(replace(each, game=game, ply=ply, text=text))
    return tuple(found)


def calibration(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    *,
    wdl: bool = False,
    **options: Any,
) -> Calibration:
    """Fit constants that map scores to win probabilities; with `wdl`, to wins and losses."""
    question = _balanced_parts(_resolved_question(question, options))
    walk = _measured_each(study, evaluators, question.also(draws="half") if wdl else question)
    rows = tuple(
        row
        for subject in walk.subjects()
        for condition, part in subject.parts()
        for row in analysis.calibrate(
            part,
            draws=question.draws,
            wdl=wdl,
            condition=condition,
            confidence=question.resampling.confidence,
        )
    )
    return Calibration(rows, question.min_games, walk.coverage("draws" if wdl else question.draws))


def reliability(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    **options: Any,
) -> ReliabilityDiagrams:
    """CORP reliability diagrams, and mean losses as miscalibration, discrimination, uncertainty."""
    question = _balanced_parts(_resolved_question(question, options))
    walk = _measured_each(study, evaluators, question)
    diagrams = tuple(
        analysis.measure_reliability(part, resampling=question.resampling, condition=condition)
        for subject in walk.subjects()
        for condition, part in subject.parts()
        if len(part)
    )
    return ReliabilityDiagrams(diagrams, question.min_games, walk.coverage(question.draws))


@dataclass(frozen=True, kw_only=True)
class WdlSettings:
    """Options of WDL models."""

    along: str = option(MOVE, "Stage of the game: the move number, or an SQL expression.")
    at: float | None = option(
        None, "Stage at which scores are normalized; by default the median.", metavar="STAGE"
    )
    between: tuple[float, float] | None = option(
        None,
        "Range of stages; by default without the first and last half percent.",
        metavar="LOW,HIGH",
        parse=read_range,
    )
    most: float | None = option(
        None,
        "Scores beyond this are excluded; by default four times the score that wins half of the "
        "games.",
        above=0,
        metavar="SCORE",
    )
    degree: int | None = option(None, "Degree of the polynomials in the stage.", min=0)


def wdl(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    settings: WdlSettings | None = None,
    **options: Any,
) -> WdlModels:
    """Fit models of win, draw and loss by score and stage of the game (Stockfish's WDL model)."""
    settings = _settings(WdlSettings, settings, options)
    along, at, between = settings.along, settings.at, settings.between
    question = _balanced_parts(_resolved_question(question, options)).also(
        draws="half", axis="score"
    )
    column = _MOVE_NUMBER if along == MOVE else along
    # A model depends on one evaluator only, so common positions are not needed.
    alone = [EvaluatorGroup((name,)) for name in chosen_evaluators(study, evaluators)]
    walk = _Walk(study, alone, question, (column,))
    every, models = list(walk), []
    try:
        stages_of = [loaded.columns[column].astype(np.float64) for loaded, _ in every]
    except (TypeError, ValueError):
        raise ParameterError("along", f"is a numeric column or expression, not '{along}'") from None
    if at is None:  # the same for all, so that figures are comparable
        at = Stages.of(along, np.concatenate(stages_of), between=between).reference
    for (loaded, sample), numbers in zip(every, stages_of, strict=True):
        stages = Stages.of(along, numbers, at, between)
        limit = default_max_score(sample) if settings.most is None else settings.most
        models += [
            analysis.fit_wdl_model(
                _part(loaded, question, sample, holds),
                numbers if holds is None else numbers[holds],
                stages,
                most=limit,
                degree=settings.degree,
                condition=condition,
                resampling=question.resampling,
            )
            for condition, holds in _parts(loaded, question, with_all=True)
        ]
    caveats = dict.fromkeys(caveat for loaded, _ in every for caveat in loaded.caveats)
    return WdlModels(
        tuple(models), tuple(caveats), walk.coverage("draws"), min_games=question.min_games
    )


def accuracy(
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    question: Question | None = None,
    settings: AccuracySettings | None = None,
    **options: Any,
) -> AccuracyTable:
    """Accuracy of the moves played: mean loss of expected score, Lichess's accuracy, blunders.

    Each evaluator is measured alone, on the moves with an evaluation before and after them; `where`
    and `by` are about the position before. `by` is also `player`, `color`, `rating` or `clock` (the
    time left in seconds) of the mover. Drawn games count. `worst` lists the worst moves.
    """
    settings = _settings(AccuracySettings, settings, options)
    question = _unbalanced(_resolved_question(question, options), "the accuracy of moves")
    parts: list[Accuracy] = []
    worst: list[WorstMove] = []
    every = [
        load_moves(study, name, question, settings) for name in chosen_evaluators(study, evaluators)
    ]
    for loaded in every:
        columns = {} if loaded.by is None else {str(question.expression): loaded.by}
        groups = [] if loaded.by is None else _conditions(question, loaded.plies, columns)
        for condition, holds in [("", None), *((each.words, each.holds) for each in groups)]:
            parts.append(
                measure_accuracy(
                    loaded.moves,
                    loaded.title,
                    chosen=holds,
                    condition=condition,
                    settings=settings,
                    resampling=question.resampling,
                )
            )
        worst += worst_moves(study, loaded, settings)
    worst.sort(key=lambda move: -move.loss)
    return AccuracyTable(
        tuple(parts),
        WorstMoves(tuple(worst[: settings.top])),
        tuple(dict.fromkeys(caveat for loaded in every for caveat in loaded.caveats)),
        question.resampling.confidence,
        question.min_games,
        MoveCoverage((), each=tuple(loaded.coverage for loaded in every)),
    )


def _settings(kind: type[S], settings: S | None, options: dict[str, Any]) -> S:
    """Remove the fields of settings from keywords, and apply them."""
    names = {field.name for field in fields(kind)} & options.keys()  # type: ignore[arg-type]
    return replace(settings or kind(), **{name: options.pop(name) for name in names})  # type: ignore[type-var]


def _resolved_question(question: Question | None, options: dict[str, Any]) -> Question:
    """Apply keywords to a question."""
    return (question or Question()).also(**options)


def _balanced_parts(question: Question) -> Question:
    """Require parts for a balanced question."""
    if question.balance is not None and question.by is None:
        raise ParameterError("balance", f"weights slices; it needs {named('by')}")
    return question


def _of_all(question: Question, what: str) -> Question:
    """Require a question without parts."""
    if question.by is not None:
        raise ParameterError(
            "by", f"has no effect on {what}; select positions with {named('where')}"
        )
    return question


def _unbalanced(question: Question, what: str) -> Question:
    """Require a question without balancing: on the same positions it has no effect."""
    if question.balance is not None:
        raise ParameterError("balance", f"weights slices and has no effect on {what}")
    return question


def column_words(game: str, of_player: bool = False) -> dict[str, str]:
    """Describe Boolean columns whose names do not explain them.

    With `of_player`, the evaluations follow one player's own moves, so the side to move tells its
    side.
    """
    first, second = facts_named(game).naming.players[:2]
    mine = f" (the evaluator plays {second})" if of_player else ""
    return {"first_to_play": f"{first} is to move{mine}"}


def _measured_each(
    study: "Study", evaluators: Sequence[str] | str | None, question: Question
) -> "_Walk":
    """Load each evaluator's sample on its group's common positions (`comparison_groups`)."""
    names = chosen_evaluators(study, evaluators)
    return _Walk(study, comparison_groups(study, names, question), question)


@dataclass(frozen=True, eq=False)
class _Subject:
    """An evaluator's sample and its slices."""

    sample: Sample
    """All positions."""
    caveats: tuple[str, ...]
    parts_with: Callable[[Outcome], Iterator[tuple[str, Sample]]]

    def parts(self, outcome: Outcome = lambda sample: sample) -> Iterator[tuple[str, Sample]]:
        """Yield all positions and those of each slice, with the slice in words."""
        return self.parts_with(outcome)


class _Walk:
    """Iterate over the samples of groups of evaluators, loading one group at a time.

    Groups without usable positions are left out and named in `coverage`; if no other group
    remains, the first one's error is raised. `subjects` condenses what does not fit in memory;
    plain iteration loads a random sample of its games.
    """

    def __init__(
        self,
        study: "Study",
        groups: Sequence[EvaluatorGroup],
        question: Question,
        columns: Sequence[str] = (),
    ) -> None:
        self._study, self._groups, self._question = study, groups, question
        self._columns = columns
        self._met: list[CoveredGroup] = []
        self._games: NDArray[np.int64] = np.zeros(0, np.int64)
        self._drawn: NDArray[np.int64] = np.zeros(0, np.int64)
        self._missing: list[str] = []
        self._notes: dict[str, None] = {}

    def __iter__(self) -> Iterator[tuple[Measured, Sample]]:
        for loaded in self._each(self._measured):
            for sample in loaded.samples:
                yield loaded, sample

    def subjects(self) -> Iterator[_Subject]:
        """Yield each evaluator with its slices."""
        for loaded in self._each(self._measured_or_condensed):
            if isinstance(loaded, CondensedGroup):
                for parts in loaded.parts:
                    yield _Subject(parts[0][1], loaded.caveats, partial(_with_outcome, parts))
                continue
            for sample in loaded.samples:
                parts_with = partial(_each_part, loaded, self._question, sample)
                yield _Subject(sample, loaded.caveats, parts_with)

    def _measured(self, names: Sequence[str]) -> tuple[Measured, CoveredGroup]:
        loaded = measured(self._study, names, self._question, columns=self._columns)
        return loaded, loaded.group()

    def _measured_or_condensed(
        self, names: Sequence[str]
    ) -> tuple[Measured | CondensedGroup, CoveredGroup]:
        question = self._question
        if question.balance is not None or not is_too_large(self._study, names, question):
            return self._measured(names)

        def slices(pilot: Measured) -> list[Condition]:
            return _conditions(question, pilot.plies, pilot.columns)

        condensed = condense(self._study, names, question, slices)
        return condensed, condensed.group

    def _each(self, load: Callable[[Sequence[str]], tuple[L, CoveredGroup]]) -> Iterator[L]:
        """Load each group and note its coverage."""
        nothing: list[StudyError] = []
        for group in self._groups:
            try:
                loaded, covered = load(group.names)
            except StudyError as error:
                nothing.append(error)
                if len(nothing) == len(self._groups):
                    raise nothing[0] from None
                self._missing += evaluator_titles(self._study, group.names)
                continue
            own, common = group.own_positions, group.common_positions
            self._met.append(replace(covered, own_positions=tuple(own), common_positions=common))
            self._games = _union(self._games, loaded.joint_games)
            self._drawn = _union(self._drawn, loaded.drawn_games)
            if loaded.note:
                self._notes[loaded.note] = None
            yield loaded

    def coverage(self, draws: DrawRule) -> Coverage:
        """Return the positions and games of the samples so far."""
        return Coverage(
            tuple(self._met),
            draws,
            len(self._games),
            len(self._drawn),
            tuple(self._missing),
            tuple(self._notes),
        )


def _union(some: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """The games of two ascending lists."""
    return np.union1d(some, more) if len(some) else more


def _with_outcome(
    parts: Sequence[tuple[str, Sample]], outcome: Outcome
) -> Iterator[tuple[str, Sample]]:
    for condition, part in parts:
        yield condition, outcome(part)


def _each_part(
    loaded: Measured, question: Question, sample: Sample, outcome: Outcome
) -> Iterator[tuple[str, Sample]]:
    """Yield all positions and those of each slice, weighted if the question is balanced."""
    changed = outcome(sample)
    for condition, holds in _parts(loaded, question, with_all=True):
        yield condition, _part(loaded, question, changed, holds)


def _two(study: "Study", one: str, other: str, question: Question) -> tuple[Measured, Coverage]:
    """Load two evaluators on their common positions."""
    loaded = measured(study, [one, other], question)
    if len(loaded.samples) != 2:
        raise ParameterError("other", f"is the same evaluator: {one}")
    names = chosen_evaluators(study, [one, other])
    evaluated = Evaluated.load(study, names, question)
    group = loaded.group([evaluated.positions([name]) for name in names])
    games, drawn = len(loaded.joint_games), len(loaded.drawn_games)
    return loaded, Coverage((group,), question.draws, games, drawn, notes=_notes(loaded))


def _notes(loaded: Measured) -> tuple[str, ...]:
    """What a coverage says about a random sample of the games."""
    return (loaded.note,) if loaded.note else ()


def _outcomes(wdl: bool) -> Iterator[tuple[str, Trend, Outcome]]:
    """Return the outcomes of curves: name, expected trend, and the outcome."""

    def between(low: float, high: float) -> Outcome:
        return lambda part: part.with_results((low <= part.results) & (part.results <= high))

    if not wdl:
        yield "", "rises", lambda part: part
        return
    yield "win", "rises", between(1, 1)
    yield "draw", "any", lambda part: part.with_results((part.results > 0) & (part.results < 1))
    yield "loss", "falls", between(0, 0)


def _parts(
    loaded: Measured, question: Question, *, with_all: bool
) -> Iterator[tuple[str, NDArray[Any] | None]]:
    """Return the slices as words and masks; `with_all` starts with all positions."""
    if with_all:
        yield "", None
    if question.by is None:
        return
    for condition in _conditions(question, loaded.plies, loaded.columns):
        yield condition.words, condition.holds


def _part(
    loaded: Measured, question: Question, sample: Sample, holds: NDArray[Any] | None
) -> Sample:
    """Return the positions of a slice, weighted by phase if the question is balanced."""
    part = sample if holds is None else sample.where(holds)
    if question.balance is None or not len(part):
        return part
    strata, shares = loaded.strata()
    return part.balanced(strata if holds is None else strata[holds], shares)


def _conditions(
    question: Question, plies: NDArray[Any], columns: Mapping[str, NDArray[Any]]
) -> list[Condition]:
    by = question.expression
    assert by is not None
    if by == PHASE:
        return phases(plies)
    return analysis.partition(
        by, columns[by], question.bins, called=question.called, most=question.largest
    )


def phases(plies: NDArray[Any]) -> list[Condition]:
    """Divide positions by ply into early, middle and late thirds; fewer if there are few plies."""
    cuts = sorted(set(np.quantile(plies, [1 / 3, 2 / 3], method="nearest").tolist()))
    thirds = analysis.partition("ply", plies, cuts)
    words = ("early", "middle", "late") if len(thirds) == 3 else ("early", "late")
    return [
        replace(each, words=f"{word} ({each.words})")
        for word, each in zip(words, thirds, strict=True)
    ]
