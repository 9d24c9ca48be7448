# SPDX-License-Identifier: Apache-2.0
"""Fits new weights, measures them on held-out games, and verifies the gain in a match."""

import contextlib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import (
    VALUE,
    Comparison,
    Curves,
    Resampling,
    Sample,
    compare,
    condition_gap,
    measure_curve,
)
from hyoka.arena import Sprt, plan_match, play_match
from hyoka.arena.openings import Opening, is_playable
from hyoka.arena.plan import PlayerSpec
from hyoka.arena.ratings import DuelSummary
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import Estimate
from hyoka.foundation.progress import OnProgress
from hyoka.games import game_facts
from hyoka.learning import Examples, FittedWeight, column_examples, fit_weights, is_held_out
from hyoka.learning.proximal_fit import fit_proximal
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.study import Study
from hyoka.workflows.improve.find_slices import Evidence
from hyoka.workflows.improve.improvement import (
    BiasedSlice,
    Candidate,
    ImprovePlan,
    MetricChange,
    SliceChange,
    SliceFindings,
    TermSelection,
    Verification,
    WeightChange,
)

NAMED: Final = "named"
ALL: Final = "all"
COLUMNS: Final = "columns"
_SHOWN: Final = ("log_loss", "brier_loss", "accuracy", "roc")
_MOST_WEIGHTS: Final = 24
_MOST_LISTED: Final = 4


def candidate_names(named: TermSelection, *, own: bool) -> tuple[str, ...]:
    """Name the fits to try, in order: the selected terms, then all terms.

    An evaluator without an `own` evaluation gets corrections of its scores.
    """
    if not own:
        return (COLUMNS,)
    return (NAMED, ALL) if named.terms else (ALL,)


@dataclass(frozen=True, eq=False)
class WeightFitter:
    """Fits weights to the evidence and measures them on held-out games."""

    evidence: Evidence
    findings: SliceFindings
    named: TermSelection
    plan: ImprovePlan
    folder: Path
    """The folder of the weight files, which are written before their candidate."""

    def fit(self, name: str) -> Candidate:
        """Fit one candidate and measure it on the held-out games."""
        return self._columns() if name == COLUMNS else self._terms(name)

    def _terms(self, name: str) -> Candidate:
        evidence, names = self.evidence, self.named.names
        assert evidence.leaves is not None
        lessons = evidence.leaves.some(~evidence.held_out)
        fit = fit_proximal(lessons, names if name == NAMED else ("*",), freedom=self.plan.freedom)
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
            {"weights": lessons.evaluation.model_file().sha256},
        )
        fit.evaluation.save(self.folder / file, origin)
        held_out = evidence.leaves.some(evidence.held_out)
        before, after = (
            Sample.of(when, values, results=held_out.results, games=held_out.games, unit=VALUE)
            for when, values in (
                ("before", fit.before.win_probability(held_out)),
                ("after", fit.after.win_probability(held_out, fit.evaluation)),
            )
        )
        many = f"the weights of all {len(lessons.evaluation):,} terms"
        resampling = Resampling(seed=self.plan.seed)
        comparison = compare(after, before, resampling=resampling)
        holds = [evidence.holds(each.sql)[evidence.held_out] for each in self.findings.slices]
        slices, charts = self._slice_changes(before, after, holds, resampling)
        return Candidate(
            name,
            f"the weights of {_listed(names)}" if name == NAMED else many,
            _changes(fit.weights),
            len(fit.weights),
            fit.games,
            fit.positions,
            tuple(_metrics(comparison)),
            slices,
            charts,
            file,
        )

    def _slice_changes(
        self,
        before: Sample,
        after: Sample,
        holds: Sequence[NDArray[np.bool_]],
        resampling: Resampling,
    ) -> tuple[tuple[SliceChange, ...], dict[str, dict[str, Any]]]:
        """Measure the slices before and after on held-out games, and draw the largest one.

        `holds` has one mask over the samples' positions for each slice.
        """
        slices = tuple(
            SliceChange(
                each.words,
                condition_gap(before, where).departure(each.kind).effect,
                condition_gap(after, where).departure(each.kind).effect,
            )
            for each, where in zip(self.findings.slices, holds, strict=True)
        )
        drawn = largest_slice(self.findings.slices)
        where, words = holds[drawn], self.findings.slices[drawn].words
        return slices, {
            sample.name: _chart(sample, where, words, resampling) for sample in (before, after)
        }

    def _columns(self) -> Candidate:
        """Fit corrections of an evaluator's scores in the slices.

        A level slice adds a constant; a lean slice adds a multiple of the score.
        """
        evidence, plan = self.evidence, self.plan
        fitted = self._fittable()
        examples = self._examples(fitted)
        fit = fit_weights(examples, hold_out=plan.hold_out, seed=plan.seed)
        held_out = fit.held_out
        if held_out is None:
            raise StudyError("no held-out games: add more games")
        file = f"{COLUMNS}.json"
        fit.save(self.folder / file, command="hyoka improve")
        weights = tuple(
            WeightChange(
                f"{split.words} ({'times the score' if split.kind == 'lean' else 'added'})",
                Estimate(each.weight, each.low, each.high),
                None,
            )
            for split, each in zip(fitted, fit.weights, strict=True)
        )
        # Mates have no score: the fit has fewer positions than the evidence.
        rows = is_held_out(examples.games, plan.hold_out, plan.seed)
        games, plies = examples.games[rows], examples.plies[rows]
        holds = [evidence.holds_at(each.sql, games, plies) for each in self.findings.slices]
        changes, charts = self._slice_changes(
            held_out.before, held_out.after, holds, Resampling(seed=plan.seed)
        )
        total = len(self.findings.slices)
        many = f"{len(fitted)} of {total}" if len(fitted) < total else f"{total}"
        holding = "condition holds" if total == 1 else "conditions hold"
        return Candidate(
            COLUMNS,
            f"what the scores of {plan.evaluator} lack where {many} {holding}",
            weights,
            len(weights),
            fit.games,
            fit.positions,
            tuple(_metrics(held_out.comparison)),
            changes,
            charts,
            file,
        )

    def _fittable(self) -> list[BiasedSlice]:
        """Choose the slices that can be fitted together; raises StudyError if there are none.

        A slice whose correction is not identified (for example, all its games are won) is left
        out, so that the others can be fitted.
        """
        slices = list(self.findings.slices)
        try:
            self._try(slices)
        except StudyError:
            fitted: list[BiasedSlice] = []
            for each in slices:
                with contextlib.suppress(StudyError):
                    self._try([*fitted, each])
                    fitted.append(each)
            if not fitted:
                raise
            slices = fitted
        return sorted(slices, key=lambda each: each.kind == "lean")

    def _try(self, slices: Sequence[BiasedSlice]) -> None:
        plan = self.plan
        fit_weights(self._examples(slices), hold_out=plan.hold_out, seed=plan.seed, resamples=0)

    def _examples(self, slices: Sequence[BiasedSlice]) -> Examples:
        """Load positions with scores; features are the conditions, lean slices last."""
        evidence, plan = self.evidence, self.plan
        levels, leans = (
            [f"(case when {each.sql} then 1 else 0 end)" for each in slices if each.kind == kind]
            for kind in ("level", "lean")
        )
        selection = replace(plan.selection, sample=None)
        examples = column_examples(
            evidence.study, evidence.engine, levels, selection, times_score=leans
        )
        return replace(examples, source=f"the scores of {plan.evaluator}")


def largest_slice(slices: Sequence[BiasedSlice]) -> int:
    """Find the slice with the most games, whose curve is drawn."""
    return max(range(len(slices)), key=lambda index: slices[index].games)


def _listed(names: Sequence[str]) -> str:
    """Join a few names, or count many."""
    if len(names) > _MOST_LISTED:
        return f"the {len(names)} terms named"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _changes(weights: Sequence[FittedWeight]) -> tuple[WeightChange, ...]:
    """Choose the weights with the largest changes in units of their errors."""

    def change_of(each: FittedWeight) -> float:
        return abs(each.weight - (each.former or 0.0)) / max(each.error, 1e-9)

    chosen = sorted(weights, key=change_of, reverse=True)[:_MOST_WEIGHTS]
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
    """Draw the curves of all positions and of a slice, as a Vega-Lite spec."""
    curves = [measure_curve(sample, resampling=resampling)]
    if holds.any():
        curves.append(measure_curve(sample.where(holds), resampling=resampling, condition=words))
    spec: dict[str, Any] = Curves(tuple(curves)).chart().to_dict()
    return spec


_MOST_OPENINGS: Final = 2000
_LEAST_OPENINGS: Final = 50
"""With fewer lines, openings of random moves are used."""
_LONGEST: Final = 400
"""Plies after which a game is adjudicated."""


def share_risk(test: Sprt, tried: int) -> Sprt:
    """Divide the test's alpha among several candidates (Bonferroni)."""
    return replace(test, alpha=test.alpha / tried)


def verify(
    study: Study,
    candidate: Candidate,
    plan: ImprovePlan,
    folder: Path,
    sprt: Sprt,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> Verification:
    """Play the match of new against old weights, or resume it."""
    old = plan.player(study.game)
    # The file name without its folder keeps the match identical when the folder moves.
    data = (folder / candidate.file).read_bytes()
    new = old.with_settings(eval=ModelFile.from_bytes(data, path=candidate.file))
    openings, words = _openings(study, plan)
    match = plan_match(
        PlayerSpec("new", new),
        PlayerSpec("old", old),
        game=study.game,
        openings=openings,
        max_plies=_LONGEST,
        seed=plan.seed,
    )
    result = play_match(
        match,
        folder / f"match-{candidate.name}",
        games=plan.games,
        sprt=sprt,
        jobs=jobs,
        executor=executor,
        progress=progress,
    )
    duel = DuelSummary.of(result.standing, 0, 1, sprt)
    score = duel.score
    return Verification(
        candidate.name,
        match.players[0].spec.text,
        match.players[1].spec.text,
        words,
        f"{sprt.elo0:+g} against {sprt.elo1:+g} Elo, risks {sprt.alpha:g} and {sprt.beta:g}",
        duel.verdict,
        score.score.wins,
        score.score.draws,
        score.score.losses,
        tuple(score.pairs.counts),
        duel.elo,
        duel.rate,
        0.0 if duel.llr is None else duel.llr,
        (sprt.lower, sprt.upper),
    )


def _openings(study: Study, plan: ImprovePlan) -> tuple[str | list[Opening] | None, str]:
    """Return the plan's openings, or the first moves of held-out games."""
    if plan.openings is not None:
        return plan.openings, f"openings of {plan.openings}"
    plies = game_facts(study.game).search.record_plies
    ids = study.sql("select game_id from games order by game_id")["game_id"].to_numpy()
    held_out = ids[is_held_out(ids.astype(np.int64), plan.hold_out, plan.seed)].tolist()
    random.Random(plan.seed).shuffle(held_out)
    lines: dict[tuple[str, tuple[str, ...]], Opening] = {}
    for game_id, record in study.records(held_out[:_MOST_OPENINGS]):
        moves = tuple(record.move_texts()[:plies])
        opening = Opening(f"game {game_id}", record.start, moves)
        if len(moves) == plies and is_playable(opening, study.game):
            lines.setdefault((record.start, moves), opening)
    if len(lines) < _LEAST_OPENINGS:
        return None, "lines of random moves"
    openings = list(lines.values())
    random.Random(plan.seed).shuffle(openings)
    return openings, f"the first {plies} plies of {len(openings):,} held-out games"
