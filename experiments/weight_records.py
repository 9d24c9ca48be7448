# SPDX-License-Identifier: Apache-2.0
"""Takeuchi 2010 on chess and shogi: an evaluation's curve, fitted weights, and matches.

Figures 11 to 16, tables III to VI. Our alpha-beta replaces the paper's Crafty and GPS Shogi: with
its original evaluation, with terms turned off, and with fitted weights.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np

from experiments.claims import LITTLE, same_within, verdict
from experiments.context import ExperimentContext, exact_winners
from experiments.curve_differences import falls, simultaneous
from experiments.gaps import Holds, SliceSizes, picture_bins
from experiments.matches import duel_verdict
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from experiments.results_page import LATER_FIELD
from hyoka.analysis import (
    Curves,
    DrawnGames,
    FixedBins,
    Resampling,
    Sample,
    compare,
    condition_gap,
    measure_curve,
)
from hyoka.arena import Score, openings_of, permutation_p_value, plan_match, rate
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.learning import (
    Examples,
    PositionSelection,
    WeightFit,
    fit_weights,
    is_held_out,
    term_examples,
)
from hyoka.learning.sigmoid import Array
from hyoka.search import LinearEvaluation, linear_evaluation
from hyoka.storage.model_file import Origin
from hyoka.study import Study

HOLD_OUT: Final = 0.2
_COMMAND: Final = "hyoka experiment list"
_DELTA: Final = 50.0
"""The paper's bin width, in centipawns."""
_SURE: Final = 2_500
"""Positions for which σ / √n, the paper's error of a bin, is at most 0.01.

Far bins with fewer merge, so that falls of `LITTLE` are detectable.
"""


@dataclass(frozen=True)
class RecordsScale:
    """Sample sizes of the records and lengths of the matches."""

    sample: int | None
    """Positions per game; None: all."""
    games: int
    """Games per match."""
    nodes: int
    """Nodes per move."""
    every: int = 1
    """Use every n-th record of the files."""
    every_other: int = field(default=1, metadata=LATER_FIELD)
    """Use every n-th record of the second set."""


@dataclass(frozen=True)
class Adjusted:
    """A game with its records and the terms to turn off and fit."""

    game: str
    files: tuple[str, ...]
    where: str
    terms: tuple[str, ...]
    shape: Literal["factor", "ending"]
    openings: tuple[tuple[str, int], ...]
    """Record files with the number of plies that serve as openings of matches."""
    built_in: str
    """Name of the evaluation with its own weights."""
    matches: Mapping[tuple[str, str], Score]
    """The paper's match scores, by pair of players."""
    weights: Mapping[str, tuple[float, ...]]
    """The paper's weights, by method."""
    others: tuple[str, ...] = ()
    """Files of a second set of records, if any."""
    trait: str = ""
    """Name of the common factor of the terms."""
    absent: tuple[str, ...] = ()
    """Terms that the paper's program lacks: turned off in all evaluations."""
    winners_by_mate: bool = False
    """Whether the first mate from the initial position on decides a record's winner."""


class Fitted:
    """Weights fitted with both methods, and the evaluations' scores on held-out games."""

    def __init__(
        self, examples: Examples, present: LinearEvaluation, built_in: str, seed: int
    ) -> None:
        self.examples = examples
        self._present = present
        self._built_in = built_in
        self._seed = seed

    @cached_property
    def fits(self) -> dict[str, WeightFit]:
        """Fits by the name of the method."""
        return {
            "MLM": fit_weights(self.examples, "mlm", hold_out=HOLD_OUT, seed=self._seed),
            "LS": fit_weights(self.examples, "ls", hold_out=HOLD_OUT, seed=self._seed),
        }

    def weights(self, name: str) -> Array:
        """Factors that an evaluation applies to the features."""
        if name in self.fits:
            return np.array([each.weight for each in self.fits[name].weights])
        if name == "off":
            return np.zeros(len(self.examples.weights))
        return np.array([each.former or 0.0 for each in self.examples.weights])

    @property
    def names(self) -> tuple[str, ...]:
        """The evaluations: without the terms, fitted, and original."""
        return ("off", *self.fits, self._built_in)

    @cached_property
    def unseen(self) -> Holds:
        """Positions of held-out games."""
        return is_held_out(self.examples.games, HOLD_OUT, self._seed)

    def sample(self, name: str, of: Examples | None = None) -> Sample:
        """An evaluation's values on the held-out games, or on all positions of other examples."""
        examples, rows = (self.examples, self.unseen) if of is None else (of, slice(None))
        values = examples.rest + examples.features @ self.weights(name)
        return _sample(name, examples, values, rows)

    def save(self, folder: Path) -> None:
        """Write each evaluation to a file for `eval=FILE`."""
        for name, fit in self.fits.items():
            fit.save(folder / f"{name}.json", command=_COMMAND)
        assert self.examples.start is not None, "the terms are those of an evaluation of ours"
        others = {"off": self.examples.start, self._built_in: self._present}
        for name, evaluation in others.items():
            evaluation.save(folder / f"{name}.json", Origin(_COMMAND))


Analyze = Callable[["WeightRun"], Outcome]


@dataclass(frozen=True)
class WeightExperiment:
    """A table or figure about an evaluation's terms."""

    id: str
    title: str
    adjusted: Adjusted
    analyze: Analyze
    scales: Mapping[str, RecordsScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Collect the positions, then analyze or play."""
        return self.analyze(WeightRun(self.id, self.adjusted, context, scale, self.scales[scale]))


@dataclass(frozen=True)
class WeightRun:
    """A run of an experiment."""

    id: str
    adjusted: Adjusted
    context: ExperimentContext
    scale: str
    amount: RecordsScale

    @property
    def seed(self) -> int:
        """Random seed."""
        return self.context.seed

    @property
    def folder(self) -> Path:
        """Folder of the figures."""
        return self.context.place(self.id)

    def figure(self, name: str) -> Path:
        """Path of a figure."""
        return self.folder / f"{self.scale}-{name}.svg"

    @property
    def weights_folder(self) -> Path:
        """Folder of evaluation files, shared by experiments of this game, scale and seed."""
        seed = f"-{self.seed}" if self.seed else ""
        return self.context.place(f"{self.adjusted.game}-evaluations-{self.scale}{seed}")

    @cached_property
    def study(self) -> Study:
        """The study of the records."""
        name = f"{self.adjusted.game}-{self.scale}"
        return self.records(name, self.adjusted.files, self.amount.every)

    @cached_property
    def others(self) -> Study:
        """The study of the second set of records."""
        name = f"{self.adjusted.game}-others"
        return self.records(name, self.adjusted.others, self.amount.every_other)

    def records(self, name: str, files: tuple[str, ...], every: int) -> Study:
        """A study of every n-th record, with winners determined as in the paper."""
        where = self.adjusted.where
        if every > 1:
            name, where = f"{name}-{every}", f"{where} and number % {every} = 0"
        study = self.context.study(name, files, where=where, columns="none")
        if self.adjusted.winners_by_mate:
            self.context.find_winners(study)
        return study

    def winners(self, study: Study) -> str:
        """Note on the records' winners."""
        return (
            exact_winners(self.context.find_winners(study)) if self.adjusted.winners_by_mate else ""
        )

    @cached_property
    def present(self) -> LinearEvaluation:
        """Our evaluation without the terms that the paper's program lacks."""
        ours = linear_evaluation(self.adjusted.game)
        return ours.with_weights(dict.fromkeys(self.adjusted.absent, 0.0))

    @cached_property
    def fitted(self) -> Fitted:
        """Weights fitted to quiescent positions with the terms turned off."""
        examples = self.examples(self.study, off=True)
        return Fitted(examples, self.present, self.adjusted.built_in, self.seed)

    def examples(
        self,
        study: Study,
        *,
        off: bool = False,
        quiet: bool = True,
        draws: DrawnGames = "drop",
        every_position: bool = False,
    ) -> Examples:
        """Examples from a study, with the terms on or off."""
        return term_examples(
            study,
            self.adjusted.terms,
            PositionSelection(
                sample=None if every_position else self.amount.sample, seed=self.seed, draws=draws
            ),
            shape=self.adjusted.shape,
            off=off,
            weights=self.present,
            quiet=quiet,
            progress=self.context.progress,
        )


def quiescence(run: WeightRun) -> Outcome:
    """Curves of the evaluation at the positions themselves and at quiescent positions."""
    static, resting = (run.examples(run.study, quiet=quiet) for quiet in (False, True))
    keys = [each.games * 2**20 + each.plies for each in (static, resting)]
    shared = np.intersect1d(keys[0], keys[1])
    names = ("without quiescence", "with quiescence")
    samples = [
        _sample(name, each, each.before, np.isin(key, shared))
        for name, each, key in zip(names, (static, resting), keys, strict=True)
    ]
    resampling = Resampling(seed=run.seed)
    curves = Curves(
        tuple(
            measure_curve(sample, binning=FixedBins(_DELTA), resampling=resampling)
            for sample in samples
        )
    )
    rows = tuple(
        (
            part.name,
            rises,
            part.monotonicity.violations,
            part.monotonicity.largest_drop,
            part.monotonicity.p_value,
            len(part.points),
            part.logistic.scale,
        )
        for part, rises in zip(curves, ("no", "yes"), strict=True)
    )
    headings = ("curve", "theirs rises", "falls", "largest", "p", "bins", "scale")
    better = compare(samples[1], samples[0], resampling=resampling)
    roc = next(each.difference for each in better.differences if each.metric.name == "roc")
    file = run.figure("curves")
    curves.save(file)
    return Outcome(
        f"{len(shared):,} positions of {samples[0].game_count:,} games, bins of {_DELTA:.0f} "
        f"centipawns; for the verdicts, far bins merge to hold {_SURE:,} positions",
        (OutcomeTable(headings, rows),),
        (
            _falls_somewhere(
                "without quiescence the curve falls somewhere", samples[0], resampling
            ),
            _rises("with quiescence it rises all the way", samples[1], resampling),
            verdict("quiescence tells wins better from losses (ROC)", roc),
        ),
        (file,),
    )


def draws(run: WeightRun) -> Outcome:
    """Curves without drawn games, and with draws as half a win."""
    examples = run.examples(run.study, draws="half")
    everything = _sample("draws half", examples, examples.before)
    decided = (everything.results == 0) | (everything.results == 1)
    without = everything.where(decided, "draws left out")
    edges = np.arange(-400.0, 401.0, 100.0)
    resampling = Resampling(seed=run.seed)
    all_bins, decided_bins = everything.ranking.bins(edges), without.ranking.bins(edges)
    half, left_out = (part[:, 1] / part[:, 0] for part in (all_bins, decided_bins))
    drawn = [
        part.ranking.resampled_bins(
            edges, resampling.resamples, resampling.seed, resampling.threads
        )
        for part in (without, everything)
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        moved = drawn[0][:, :, 0] / drawn[0][:, :, 1] - drawn[1][:, :, 0] / drawn[1][:, :, 1]
    differences = simultaneous(left_out - half, moved, everything.game_count)
    rows = tuple(
        (
            f"{edges[b]:+.0f} to {edges[b + 1]:+.0f}",
            int(all_bins[b, 5]),
            float(1 - decided_bins[b, 5] / all_bins[b, 5]),
            float(half[b]),
            float(left_out[b]),
            differences[b],
        )
        for b in range(len(all_bins))
    )
    file = run.figure("curves")
    Curves(
        tuple(
            measure_curve(s, binning=FixedBins(_DELTA), resampling=resampling)
            for s in (without, everything)
        )
    ).save(file)
    share = 1 - len(without) / len(everything)
    return Outcome(
        f"{len(everything):,} positions, {share:.0%} of them of drawn games",
        (
            OutcomeTable(
                ("centipawns", "positions", "draws", "half", "left out", "difference"), rows
            ),
        ),
        (same_within(LITTLE, "draws have little effect on the curve", differences),),
        (file,),
    )


def splits(run: WeightRun) -> Outcome:
    """Curves where the terms are large and small: without the terms, fitted, and original."""
    fitted = run.fitted
    fitted.save(run.weights_folder)
    samples = {name: fitted.sample(name) for name in fitted.names}
    conditions = _extremes(fitted, run.adjusted.trait)
    tables, verdicts = _slice_tables(samples, conditions, run.seed)
    unseen, fit = samples["off"], fitted.fits["MLM"]
    return Outcome(
        f"{len(unseen):,} positions of {unseen.game_count:,} unseen games; weights from "
        f"{fit.positions:,} positions of {fit.games:,} games{run.winners(run.study)}",
        (*tables, _weights_table(run)),
        tuple(verdicts),
        tuple(_draw(run.figure(s.name), s, conditions) for s in samples.values()),
    )


def weights(run: WeightRun) -> Outcome:
    """Weights of the two methods."""
    fit = run.fitted.fits["MLM"]
    about = f"{fit.positions:,} positions of {fit.games:,} games{run.winners(run.study)}"
    return Outcome(about, (_weights_table(run),))


def self_play(run: WeightRun) -> Outcome:
    """Matches between the evaluations, from openings of human games."""
    adjusted, amount = run.adjusted, run.amount
    names = dict.fromkeys(itertools.chain.from_iterable(adjusted.matches))
    files = {name: run.weights_folder / f"{name}.json" for name in names}
    if not all(file.exists() for file in files.values()):
        run.fitted.save(run.weights_folder)
    openings = [
        opening
        for file, plies in adjusted.openings
        for opening in openings_of(
            f"{run.context.records.file(file)}:{plies}", adjusted.game, seed=run.seed
        )
    ]
    rows: list[tuple[Value, ...]] = []
    verdicts = []
    for (one, other), theirs in adjusted.matches.items():
        players = (f"{name}=ab:nodes={amount.nodes},eval={files[name]}" for name in (one, other))
        plan = plan_match(*players, game=adjusted.game, openings=openings, seed=run.seed)
        result = run.context.play(plan, run.folder / f"{run.scale}-{plan.id}", amount.games)
        ours = result.standing.duel(0, 1)
        p_value = permutation_p_value(ours)
        rows.append((f"{one} v {other}", theirs, theirs.rate, ours.score, rate(ours), p_value))
        verdicts.append(duel_verdict(one, other, theirs, ours))
    headings = ("", "theirs +−=", "points", "ours +−=", "points", "p")
    return Outcome(
        f"{amount.games} games each, {amount.nodes:,} nodes a move, sides exchanged in pairs",
        (OutcomeTable(headings, tuple(rows)),),
        tuple(verdicts),
    )


def other_records(run: WeightRun) -> Outcome:
    """The same evaluations on other records: the curve's slope and its slices."""
    fitted = run.fitted
    others = run.examples(run.others, off=True, every_position=True)
    resampling = Resampling(seed=run.seed)
    samples = {"programs": fitted.sample("off"), "professionals": fitted.sample("off", others)}
    scales = {
        name: measure_curve(sample, resampling=resampling).logistic.scale
        for name, sample in samples.items()
    }
    steepness = OutcomeTable(
        ("records", "positions", "games", "scale, centipawns"),
        tuple(
            (name, len(sample), sample.game_count, scales[name]) for name, sample in samples.items()
        ),
    )
    one, other = scales["programs"], scales["professionals"]
    conditions = {name: (trait >= 2, trait <= -2) for name, trait in others.traits.items()}
    adjusted = {name: fitted.sample(name, others) for name in ("off", "MLM")}
    tables, verdicts = _slice_tables(adjusted, conditions, run.seed)
    theirs = samples["professionals"]
    return Outcome(
        f"{len(theirs):,} positions of {theirs.game_count:,} professional games"
        f"{run.winners(run.others)}",
        (steepness, *tables),
        (
            verdict(
                "the curve of professionals' games rises more slowly",
                independent_difference(other, one),
            ),
            *verdicts,
        ),
    )


def _sample(
    name: str, examples: Examples, values: Array, rows: Holds | slice = slice(None)
) -> Sample:
    return Sample.of(
        name,
        values[rows],
        results=examples.results[rows],
        games=examples.games[rows],
        unit=examples.unit,
    )


def _falls_somewhere(claim: str, sample: Sample, resampling: Resampling) -> Verdict:
    """Whether a curve falls significantly between some bins."""
    down = falls(sample, width=_DELTA, resampling=resampling, merge_below=_SURE)
    surest = max(down, key=lambda each: each.low, default=Estimate(0.0, 0.0, 0.0))
    return verdict(claim, surest)


def _rises(claim: str, sample: Sample, resampling: Resampling) -> Verdict:
    """Whether a curve falls significantly nowhere by more than a little."""
    down = falls(sample, width=_DELTA, resampling=resampling, merge_below=_SURE)
    # Rises do not count, whatever their size.
    only_falls = [Estimate(max(e.value, 0), max(e.low, 0), max(e.high, 0)) for e in down]
    return same_within(LITTLE, claim, only_falls)


def _extremes(fitted: Fitted, factor: str) -> dict[str, tuple[Holds, Holds]]:
    """Masks of held-out positions where each trait is large, and where it is small."""
    held = fitted.fits["MLM"].held_out
    extremes = {}
    for name in fitted.examples.traits:
        ends = [
            holds
            for start in (f"{name} >=", f"{name} <=")
            for text, holds in (held.conditions.items() if held is not None else ())
            if text.startswith(start)
        ]
        if len(ends) == 2:
            extremes[factor or name] = (ends[0], ends[1])
    return extremes


def _slice_tables(
    samples: Mapping[str, Sample], conditions: Mapping[str, tuple[Holds, Holds]], seed: int
) -> tuple[list[OutcomeTable], list[Verdict]]:
    """Each evaluation's slices by each trait, and whether fitting closes the gaps."""
    tables, verdicts = [], []
    for trait, (high, low) in conditions.items():
        sizes = SliceSizes(high, low, seed=seed)
        rows: list[tuple[Value, ...]] = []
        for name, sample in samples.items():
            gaps = [condition_gap(sample, holds).level.effect for holds in (high, low)]
            size = sizes.estimate(sample)
            rows.append((name, *gaps, size))
            if name == "off":
                verdicts.append(verdict(f"off, the curve splits by {trait}", size))
            else:
                closed = sizes.shrinks(samples["off"], sample)
                verdicts.append(verdict(f"{name} splits less by {trait}", closed))
        title = f"{trait}: large in {int(high.sum()):,} positions, small in {int(low.sum()):,}"
        tables.append(OutcomeTable(("evaluation", "large", "small", "split"), tuple(rows), title))
    return tables, verdicts


def _weights_table(run: WeightRun) -> OutcomeTable:
    rows: list[tuple[Value, ...]] = []
    for number, weight in enumerate(run.fitted.examples.weights):
        for method, fit in run.fitted.fits.items():
            each = fit.weights[number]
            ours = Estimate(each.weight, each.low, each.high)
            theirs = run.adjusted.weights.get(method)
            name = run.adjusted.trait or weight.name
            known = None if theirs is None else theirs[number]
            rows.append((name, method, ours, each.former, known))
    return OutcomeTable(("weight", "method", "ours", "built in", "theirs"), tuple(rows))


def _draw(file: Path, sample: Sample, conditions: Mapping[str, tuple[Holds, Holds]]) -> Path:
    """The curve of all positions, and those where the first trait is large and small."""
    chosen = {"all": sample}
    for name, ends in itertools.islice(conditions.items(), 1):
        for holds, word in zip(ends, ("large", "small"), strict=True):
            chosen[f"{name} {word}"] = sample.where(holds)
    resampling = Resampling(resamples=200)
    parts = [
        measure_curve(some, binning=picture_bins(some), resampling=resampling, condition=words)
        for words, some in chosen.items()
    ]
    Curves(tuple(parts)).save(file)
    return file
