# SPDX-License-Identifier: Apache-2.0
"""Condensing of studies larger than memory: ranges of games are tasks whose tallies add up.

Metrics, curves, calibration and reliability diagrams, also by slices, condense all positions. All
other analyses, balanced slices and reports load a random sample of the games (`measured`).

The bins of values (`hyoka.analysis.condensed`) and the slices come from a sample of about a million
positions. If these have few distinct values, a first pass lists those of all evaluations, so that
each value can be a bin of its own.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import NO_INTERVALS, VALUE, Condition, Sample
from hyoka.analysis.condensed import (
    BINS,
    BLOCKS,
    MIN_BINS,
    Tally,
    TallyPart,
    ValueBins,
    bounds_of,
)
from hyoka.foundation.errors import StudyError
from hyoka.foundation.text import counted
from hyoka.games.evaluation import MATE_SCORE
from hyoka.parallel import Run, WorkerState, cluster, usable_cores
from hyoka.storage.manifest import DESCRIPTION, read_manifest
from hyoka.storage.result import CoveredGroup
from hyoka.study.sampling import (
    CENTIPAWNS,
    Measured,
    NoPositionsError,
    Quantity,
    Question,
    measured,
    memory_needed,
    quoted,
)
from hyoka.study.sql import within_memory
from hyoka.study.tables import GameChoice, Snapshot

if TYPE_CHECKING:
    from hyoka.study.study import Study

RANGE_ROWS: Final = 1_000_000
"""The greatest number of positions in a range."""
_FEWEST_ROWS: Final = 10_000
_PILOT_ROWS: Final = 1_000_000
_PILOT_RANGES: Final = 16
_SQL_BYTES: Final = 256 << 20
"""The least memory limit of a query."""
_CELL_BYTES: Final = 150
"""The memory of a row of a condensed sample while it is measured."""


@dataclass(frozen=True, eq=False)
class CondensedGroup:
    """Evaluators of a study on their common positions, condensed."""

    parts: tuple[tuple[tuple[str, Sample], ...], ...]
    """Of each evaluator, the condition in words and the sample of each slice; first of all."""
    caveats: tuple[str, ...]
    group: CoveredGroup
    joint_games: NDArray[np.int64] = field(repr=False)
    """The games with a result, including dropped draws."""
    drawn_games: NDArray[np.int64] = field(repr=False)
    note: str
    """How the positions are condensed."""


def is_too_large(study: "Study", names: Sequence[str], question: Question) -> bool:
    """Whether the common positions of evaluators need more memory than a question allows."""
    columns = int(question.by is not None)
    return study.chosen is None and memory_needed(study, names, columns) > question.max_bytes


def ranges_of(study: "Study", rows: int) -> list[GameChoice]:
    """Divide a study's games into ranges of at most about `rows` positions."""
    parts = read_manifest(study.path / DESCRIPTION).parts
    positions = {part.number: part.rows for part in parts if part.table == "positions"}
    starts, held, first = [0], 0, 0
    for part in (part for part in parts if part.table == "games"):
        pieces = max(1, math.ceil(positions.get(part.number, 0) / rows))
        for i in range(pieces):
            here = positions.get(part.number, 0) // pieces
            if held and held + here > rows:
                starts.append(first + part.rows * i // pieces)
                held = 0
            held += here
        first += part.rows
    # The last range is open, for games that the parts do not count.
    ends: list[int | None] = [*starts[1:], None]
    return [GameChoice(low, high) for low, high in zip(starts, ends, strict=True)]


_latest: Final[list[tuple[object, CondensedGroup]]] = []
"""The latest group, which several analyses of one question share."""


def condense(
    study: "Study", names: Sequence[str], question: Question, conditions: Any
) -> CondensedGroup:
    """Condense the common positions of evaluators; the latest answer is kept.

    `conditions` returns the slices of some positions (`Measured`), which have the same SQL for all.
    """
    key = (Snapshot.of(study.path), *names, question.also(resampling=NO_INTERVALS, min_games=1))
    for known, group in _latest:
        if known == key:
            return group
    _latest.clear()
    group = _condense(study, names, question, conditions)
    _latest.append((key, group))
    return group


def forget() -> None:
    """Release the latest group."""
    _latest.clear()


def _condense(
    study: "Study", names: Sequence[str], question: Question, conditions: Any
) -> CondensedGroup:
    limit = question.max_bytes
    row_bytes = memory_needed_a_row(names, question)
    rows = min(max(limit // 4 // row_bytes, _FEWEST_ROWS), RANGE_ROWS)
    jobs = max(1, min(usable_cores(), limit // 2 // (rows * row_bytes)))
    ranges = ranges_of(study, rows)
    pilot = _pilot(study, names, question, ranges, rows)
    slices: list[Condition] = list(conditions(pilot)) if question.by is not None else []
    games = _games(study)
    blocks = min(BLOCKS, games)
    most = _most_bins(limit, blocks, len(names) * (len(slices) + 1))
    quantities: list[Quantity] = [
        ("value" if sample.unit == VALUE else "score", sample.unit) for sample in pilot.samples
    ]
    with _runs(question, jobs) as run:
        listings = [
            [_Listing(_of(study, some), name, quantity, most) for some in ranges]
            for name, quantity in zip(names, quantities, strict=True)
        ]
        bins = tuple(map(partial(_bins, run), pilot.samples, listings))
        task = _Counting(
            study,
            tuple(names),
            question.also(by=None, bins=None, largest=None, cluster=None),
            tuple(quantities),
            bins,
            blocks,
            games,
            tuple(each.sql for each in slices),
        )
        total = _Total(bins, blocks, len(slices) + 1)
        for counts in run(_count, [replace(task, study=_of(study, some)) for some in ranges]):
            total.add(counts)
    words = ["", *(each.words for each in slices)]
    parts = []
    for sample, tallies in zip(pilot.samples, total.tallies, strict=True):
        numbered = tallies[0].blocks
        every = zip(words, (each.sample(sample, numbered) for each in tallies), strict=True)
        parts.append(tuple((word, part) for word, part in every if len(part)))
    if not parts[0]:
        raise StudyError(f"{study.path}: no position has a value and a decided result")
    [(_, of_all), *_] = parts[0]
    titles = tuple(sample.name for sample in pilot.samples)
    return CondensedGroup(
        tuple(parts),
        pilot.caveats,
        CoveredGroup(titles, of_all.position_count, of_all.count_games()),
        np.concatenate(total.joint_games),
        np.concatenate(total.drawn_games),
        _note([each[0][1] for each in parts], len(slices), len(pilot)),
    )


def memory_needed_a_row(names: Sequence[str], question: Question) -> int:
    """Estimate the memory of a position while it is counted."""
    return 300 + 100 * (len(names) - 1) + (100 if question.by is not None else 0)


def _of(study: "Study", some: GameChoice) -> "Study":
    return replace(study, chosen=some)


def _games(study: "Study") -> int:
    """One more than the greatest id of a game."""
    return int(study.sql("select coalesce(max(game_id), 0) + 1 as n from games")["n"][0].as_py())


def _most_bins(limit: int, blocks: int, tallies: int) -> int:
    """The number of bins whose tallies and samples fit in memory."""
    bins = BINS
    while bins > MIN_BINS and (
        tallies * Tally.size(bins, blocks) > limit // 4 or 2 * bins * blocks * _CELL_BYTES > limit
    ):
        bins //= 2
    return bins


def _pilot(
    study: "Study",
    names: Sequence[str],
    question: Question,
    ranges: Sequence[GameChoice],
    rows: int,
) -> Measured:
    """Load a random sample of games from ranges all over the study; from all if it has none."""
    step = max(1, len(ranges) // _PILOT_RANGES)
    some = ranges[step // 2 :: step][:_PILOT_RANGES]
    most = min(_PILOT_ROWS, rows)
    share = min(1.0, most / (len(some) * rows))
    asked = question.also(cluster=None)
    choices = GameChoice(share=share, among=tuple((each.low, each.high) for each in some))
    with within_memory(max(question.max_bytes, _SQL_BYTES)):
        try:
            return measured(_of(study, choices), names, asked)
        except NoPositionsError:
            share = min(1.0, most / (len(ranges) * rows))
            return measured(_of(study, GameChoice(share=share)), names, asked)


@contextlib.contextmanager
def _runs(question: Question, jobs: int) -> Iterator[Any]:
    """Give a function that runs tasks on threads or a cluster and yields results in order."""
    with contextlib.ExitStack() as stack:
        executor, workers = None, jobs
        if question.cluster is not None:
            executor, workers = stack.enter_context(cluster(question.cluster))

        def run(work: Any, tasks: Sequence[Any]) -> Iterator[Any]:
            what = "counting positions"
            with Run(work, jobs=workers, executor=executor, what=what) as running:
                for done in running.in_order(tasks):
                    yield done.result

        yield run


@dataclass(frozen=True)
class _Listing:
    """The task of listing the distinct values of a range."""

    study: "Study"
    name: str
    quantity: Quantity
    most: int


def _list_values(task: _Listing, _state: WorkerState) -> NDArray[np.float32]:
    """List distinct values; more than `most` mean that there are too many."""
    rows = task.study.sql(
        f"select distinct {task.quantity[0]} as value from evaluations where engine = "
        f"{quoted(task.name)} and failed is null and {task.quantity[0]} is not null "
        f"limit {task.most + 1}"
    )
    return np.unique(rows["value"].to_numpy().astype(np.float32))


def _bins(run: Any, sample: Sample, listings: Sequence[_Listing]) -> ValueBins:
    """Choose the bins of an evaluator: one for each value if these are few enough."""
    values = np.unique(sample.values)
    quantity, most = listings[0].quantity, listings[0].most
    certain = [0, 1] if quantity[0] == "value" else [-np.inf, np.inf]
    if len(values) <= most - len(certain):
        values = np.union1d(values, np.array(certain, np.float32))
        for more in run(_list_values, listings):
            few = more[np.abs(more) < MATE_SCORE] if quantity[1] == CENTIPAWNS else more
            values = np.union1d(values, few)
            if len(values) > most:
                break
        else:
            return ValueBins.each(values)
    return ValueBins.quantiles(sample.values, sample.unit, most)


@dataclass(frozen=True, eq=False)
class _Counting:
    """The task of counting the positions of a range."""

    study: "Study"
    names: tuple[str, ...]
    question: Question
    quantities: tuple[Quantity, ...]
    bins: tuple[ValueBins, ...]
    blocks: int
    games: int
    """The number of all games of the study."""
    slices: tuple[str, ...]
    """The conditions of slices in SQL."""


@dataclass(frozen=True, eq=False)
class _Counts:
    """The positions of a range, by evaluator and slice."""

    parts: tuple[tuple[TallyPart, ...], ...]
    joint_games: NDArray[np.int64]
    drawn_games: NDArray[np.int64]


def _count(task: _Counting, _state: WorkerState) -> _Counts:
    columns = {sql: f"coalesce(({sql}), false)" for sql in task.slices}
    try:
        with within_memory(max(task.question.max_bytes, _SQL_BYTES)):
            loaded = measured(
                task.study,
                task.names,
                task.question,
                columns=list(columns.values()),
                quantities=task.quantities,
            )
    except NoPositionsError as nothing:
        return _Counts((), nothing.joint_games, nothing.drawn_games)
    masks = [loaded.columns[column].astype(bool) for column in columns.values()]
    return _Counts(
        tuple(
            (
                Tally.part(bins, task.blocks, sample, loaded.game_ids, task.games),
                *(
                    Tally.part(
                        bins, task.blocks, sample.where(mask), loaded.game_ids[mask], task.games
                    )
                    for mask in masks
                ),
            )
            for bins, sample in zip(task.bins, loaded.samples, strict=True)
        ),
        loaded.joint_games,
        loaded.drawn_games,
    )


class _Total:
    """The counts of all ranges."""

    def __init__(self, bins: Sequence[ValueBins], blocks: int, parts: int) -> None:
        self.tallies = [[Tally(each, blocks) for _ in range(parts)] for each in bins]
        self.joint_games: list[NDArray[np.int64]] = []
        self.drawn_games: list[NDArray[np.int64]] = []

    def add(self, counts: _Counts) -> None:
        """Add a range."""
        for tallies, parts in zip(self.tallies, counts.parts, strict=bool(counts.parts)):
            for tally, part in zip(tallies, parts, strict=True):
                tally.add(part)
        self.joint_games.append(counts.joint_games)
        self.drawn_games.append(counts.drawn_games)


def _note(samples: Sequence[Sample], slices: int, pilot: int) -> str:
    """Say in a line how positions are condensed and what that changes."""
    blocks = samples[0].game_count
    words = [f"Condensed: intervals resample {counted(blocks, 'random block')} of games"]
    if blocks == samples[0].count_games():
        words = ["Condensed: counts by game"]
    roc, value = (max(each) for each in zip(*map(bounds_of, samples), strict=True))
    if value:
        bins = max(len(np.unique(each.values)) for each in samples)
        words.append(
            f"values are means of {bins:,} bins, {value:.2g} wide on average; ROC is within "
            f"±{roc:.1g}"
        )
    if slices:
        words.append(f"slices are those of {pilot:,} random positions")
    return "; ".join(words)
