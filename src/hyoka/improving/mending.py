# SPDX-License-Identifier: Apache-2.0
"""New weights for what was found, and what they change on games that they were not fitted to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import VALUE, Comparison, Curves, Resampling, Sample, compare, condition_gap
from hyoka.analysis import curve as curve_of
from hyoka.artefact import Origin
from hyoka.errors import StudyError
from hyoka.estimate import Estimate
from hyoka.improving.evidence import Evidence
from hyoka.improving.plan import ImprovePlan
from hyoka.improving.story import (
    Candidate,
    Found,
    FoundSplit,
    MetricChange,
    Named,
    SplitChange,
    WeightChange,
)
from hyoka.learning import FittedWeight, column_examples, fit_weights
from hyoka.learning.near import fit_near

NAMED: Final = "named"
ALL: Final = "all"
COLUMNS: Final = "columns"
_SHOWN: Final = ("log_loss", "brier_loss", "accuracy", "roc")
_MOST_WEIGHTS: Final = 24
_MOST_LISTED: Final = 4


def attempts(named: Named, *, own: bool) -> tuple[str, ...]:
    """What is tried, in this order: the terms that describe the splits, then all of them.

    Of an evaluator whose evaluation is not `own`, what its scores lack.
    """
    if not own:
        return (COLUMNS,) if named.terms else ()
    return (NAMED, ALL) if named.terms else (ALL,)


@dataclass(frozen=True, eq=False)
class Mender:
    """What is to be mended, and by what."""

    evidence: Evidence
    found: Found
    named: Named
    plan: ImprovePlan
    folder: Path
    """Where weights go; they are there before a candidate counts as done."""

    def mend(self, name: str) -> Candidate:
        """Fit what an attempt is about, and measure it on the games held out."""
        return self._columns() if name == COLUMNS else self._terms(name)

    def _terms(self, name: str) -> Candidate:
        evidence, names = self.evidence, self.named.names
        assert evidence.leaves is not None
        lessons = evidence.leaves.some(~evidence.apart)
        fit = fit_near(lessons, names if name == NAMED else ("*",), freedom=self.plan.freedom)
        file = f"weights-{name}.json"
        origin = Origin(
            "hyoka improve",
            self.plan.seed,
            {"games": fit.games, "positions": fit.positions},
            {
                "study": evidence.study.path.name,
                "evaluator": self.plan.evaluator,
                "fitted": ", ".join(names) if name == NAMED else "all terms",
            },
            {"weights": lessons.evaluation.artefact().sha256},
        )
        fit.evaluation.save(self.folder / file, origin)
        apart = evidence.leaves.some(evidence.apart)
        before, after = (
            Sample.of(when, said, results=apart.results, games=apart.games, unit=VALUE)
            for when, said in (
                ("before", fit.before.win_probability(apart)),
                ("after", fit.after.win_probability(apart, fit.evaluation)),
            )
        )
        many = f"the weights of all {len(lessons.evaluation):,} terms"
        resampling = Resampling(seed=self.plan.seed)
        comparison = compare(after, before, resampling=resampling)
        splits, charts = self._splits(before, after, resampling)
        return Candidate(
            name,
            f"the weights of {_listed(names)}" if name == NAMED else many,
            _changes(fit.weights),
            len(fit.weights),
            fit.games,
            fit.positions,
            tuple(_metrics(comparison)),
            splits,
            charts,
            file,
        )

    def _splits(
        self, before: Sample, after: Sample, resampling: Resampling
    ) -> tuple[tuple[SplitChange, ...], dict[str, dict[str, Any]]]:
        """The splits before and after on the games held out, and the curves of one of them."""
        apart = self.evidence.apart
        holds = [self.evidence.holds(each.sql)[apart] for each in self.found.splits]
        splits = tuple(
            SplitChange(
                each.words,
                condition_gap(before, where).departure(each.kind).effect,
                condition_gap(after, where).departure(each.kind).effect,
            )
            for each, where in zip(self.found.splits, holds, strict=True)
        )
        drawn = most_common(self.found.splits)
        where, words = holds[drawn], self.found.splits[drawn].words
        return splits, {
            sample.name: _chart(sample, where, words, resampling) for sample in (before, after)
        }

    def _columns(self) -> Candidate:
        """What an evaluator's scores lack where the splits are: so much to add to them there."""
        evidence, plan = self.evidence, self.plan
        columns = [f"(case when {each.name} then 1 else 0 end)" for each in self.named.terms]
        examples = column_examples(
            evidence.study, evidence.sample.name, columns, where=plan.where, draws=plan.draws
        )
        fit = fit_weights(examples, hold_out=plan.hold_out, seed=plan.seed)
        apart = fit.held_out
        if apart is None:
            raise StudyError("no game is held out: take more games")
        file = f"{COLUMNS}.json"
        fit.save(self.folder / file, command="hyoka improve")
        words = {c: each.split for c, each in zip(columns, self.named.terms, strict=True)}
        weights = tuple(
            WeightChange(words[each.name], Estimate(each.weight, each.low, each.high), None)
            for each in fit.weights
        )
        splits, charts = self._splits(apart.before, apart.after, Resampling(seed=plan.seed))
        return Candidate(
            COLUMNS,
            f"{len(columns)} conditions, added to the scores of {plan.evaluator}",
            weights,
            len(weights),
            fit.games,
            fit.positions,
            tuple(_metrics(apart.comparison)),
            splits,
            charts,
            file,
        )


def most_common(splits: Sequence[FoundSplit]) -> int:
    """The split whose curve is drawn: of most games, as a curve needs many."""
    return max(range(len(splits)), key=lambda index: splits[index].games)


def _listed(names: Sequence[str]) -> str:
    """A few names, or how many there are."""
    if len(names) > _MOST_LISTED:
        return f"the {len(names)} terms named"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _changes(weights: Sequence[FittedWeight]) -> tuple[WeightChange, ...]:
    """The weights that moved most, by their errors; opening and ending of a term are two."""

    def moved(each: FittedWeight) -> float:
        return abs(each.weight - (each.former or 0.0)) / max(each.error, 1e-9)

    chosen = sorted(weights, key=moved, reverse=True)[:_MOST_WEIGHTS]
    order = {each.name: index for index, each in enumerate(weights)}
    return tuple(
        WeightChange(each.name, Estimate(each.weight, each.low, each.high), each.former)
        for each in sorted(chosen, key=lambda each: order[each.name])
    )


def _metrics(comparison: Comparison) -> Iterator[MetricChange]:
    for each in comparison.differences:
        if each.metric.name in _SHOWN:
            yield MetricChange(
                each.metric.title, each.metric.name, each.other, each.one, each.difference
            )


def _chart(
    sample: Sample, holds: NDArray[np.bool_], words: str, resampling: Resampling
) -> dict[str, Any]:
    """The curve of all positions and the one where a condition holds, as Vega-Lite has it."""
    curves = [curve_of(sample, resampling=resampling)]
    if holds.any():
        curves.append(curve_of(sample.where(holds), resampling=resampling, condition=words))
    spec: dict[str, Any] = Curves(tuple(curves)).chart().to_dict()
    return spec
