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

from hyoka.analysis import VALUE, Comparison, Curves, Resampling, Sample, compare, condition_gap
from hyoka.analysis import curve as curve_of
from hyoka.arena import Sprt, plan_match, play_match
from hyoka.arena.openings import Opening, is_playable
from hyoka.arena.plan import MatchPlan, PlayerSpec
from hyoka.arena.ratings import DuelSummary
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import Estimate
from hyoka.foundation.progress import OnProgress
from hyoka.games import game_facts
from hyoka.learning import Examples, FittedWeight, column_examples, fit_weights, is_held_out
from hyoka.learning.proximal_fit import fit_proximal
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.study import Study
from hyoka.workflows.improve.evidence import Evidence
from hyoka.workflows.improve.improve_plan import ImprovePlan
from hyoka.workflows.improve.improvement import (
    Candidate,
    Found,
    FoundSlice,
    MetricChange,
    Named,
    Proof,
    SliceChange,
    WeightChange,
)

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
        return (COLUMNS,)
    return (NAMED, ALL) if named.terms else (ALL,)


@dataclass(frozen=True, eq=False)
class WeightFitter:
    """What is to be mended, and by what."""

    evidence: Evidence
    found: Found
    named: Named
    plan: ImprovePlan
    folder: Path
    """Where weights go; they are there before a candidate counts as done."""

    def fit_weights_to_slice(self, name: str) -> Candidate:
        """Fit what an attempt is about, and measure it on the games held out."""
        return self._columns() if name == COLUMNS else self._terms(name)

    def _terms(self, name: str) -> Candidate:
        evidence, names = self.evidence, self.named.names
        assert evidence.leaves is not None
        lessons = evidence.leaves.some(~evidence.apart)
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
        holds = [evidence.holds(each.sql)[evidence.apart] for each in self.found.slices]
        slices, charts = self._splits(before, after, holds, resampling)
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

    def _splits(
        self,
        before: Sample,
        after: Sample,
        holds: Sequence[NDArray[np.bool_]],
        resampling: Resampling,
    ) -> tuple[tuple[SliceChange, ...], dict[str, dict[str, Any]]]:
        """The splits before and after on the games held out, and the curves of one of them.

        `holds` tells for each split where it holds, of the samples' positions.
        """
        slices = tuple(
            SliceChange(
                each.words,
                condition_gap(before, where).departure(each.kind).effect,
                condition_gap(after, where).departure(each.kind).effect,
            )
            for each, where in zip(self.found.slices, holds, strict=True)
        )
        drawn = most_common(self.found.slices)
        where, words = holds[drawn], self.found.slices[drawn].words
        return slices, {
            sample.name: _chart(sample, where, words, resampling) for sample in (before, after)
        }

    def _columns(self) -> Candidate:
        """What an evaluator's scores lack where the splits are.

        There so much is added to them; where they are too sure or too cautious, so much of them.
        """
        evidence, plan = self.evidence, self.plan
        fitted = self._fittable()
        examples = self._examples(fitted)
        fit = fit_weights(examples, hold_out=plan.hold_out, seed=plan.seed)
        apart = fit.held_out
        if apart is None:
            raise StudyError("no game is held out: take more games")
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
        # Mates have no score to add to: the fit knows fewer positions than the evidence has.
        rows = is_held_out(examples.games, plan.hold_out, plan.seed)
        games, plies = examples.games[rows], examples.plies[rows]
        holds = [evidence.holds_at(each.sql, games, plies) for each in self.found.slices]
        changes, charts = self._splits(apart.before, apart.after, holds, Resampling(seed=plan.seed))
        total = len(self.found.slices)
        many = f"{len(fitted)} of {total}" if len(fitted) < total else f"{total}"
        holding = "condition holds" if total == 1 else "conditions hold"
        return Candidate(
            COLUMNS,
            f"what the scores of {plan.evaluator} lack where {many} {holding}",
            weights,
            len(weights),
            fit.games,
            fit.positions,
            tuple(_metrics(apart.comparison)),
            changes,
            charts,
            file,
        )

    def _fittable(self) -> list[FoundSlice]:
        """The splits that can be fitted together, the worst first; raises StudyError without any.

        One of which the games can't tell how much the scores lack (where a condition holds all
        games are won, say) must not keep the others from being mended.
        """
        slices = list(self.found.slices)
        try:
            self._try(slices)
        except StudyError:
            fitted: list[FoundSlice] = []
            for each in slices:
                with contextlib.suppress(StudyError):
                    self._try([*fitted, each])
                    fitted.append(each)
            if not fitted:
                raise
            slices = fitted
        return sorted(slices, key=lambda each: each.kind == "lean")

    def _try(self, slices: Sequence[FoundSlice]) -> None:
        plan = self.plan
        fit_weights(self._examples(slices), hold_out=plan.hold_out, seed=plan.seed, resamples=0)

    def _examples(self, slices: Sequence[FoundSlice]) -> Examples:
        """Positions with scores: features are the splits' conditions, those of scores last."""
        evidence, plan = self.evidence, self.plan
        levels, leans = (
            [f"(case when {each.sql} then 1 else 0 end)" for each in slices if each.kind == kind]
            for kind in ("level", "lean")
        )
        examples = column_examples(
            evidence.study,
            evidence.engine,
            levels,
            times_score=leans,
            where=plan.where,
            draws=plan.draws,
        )
        return replace(examples, source=f"the scores of {plan.evaluator}")


def most_common(slices: Sequence[FoundSlice]) -> int:
    """The split whose curve is drawn: of most games, as a curve needs many."""
    return max(range(len(slices)), key=lambda index: slices[index].games)


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


_MOST_OPENINGS: Final = 2000
_LEAST_OPENINGS: Final = 50
"""Fewer lines would be played over and over; random moves give more."""
_LONGEST: Final = 400
"""Plies; then a game is drawn, or scored as it stands."""


def planned(
    study: Study, candidate: Candidate, plan: ImprovePlan, folder: Path
) -> tuple[MatchPlan, str]:
    """The match of new weights against the old ones, and where its games begin, in words."""
    old = plan.player(study.game)
    # Named by the file alone, the match is the same wherever the folder lies.
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
    return match, words


def shared_risk(test: Sprt, tried: int) -> Sprt:
    """The test of one of several: together they take what is no gain as rarely as one alone."""
    return replace(test, alpha=test.alpha / tried)


def prove(  # noqa: PLR0913 - a keyword for each choice
    match: MatchPlan,
    words: str,
    candidate: Candidate,
    folder: Path,
    *,
    games: int,
    sprt: Sprt,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> Proof:
    """Play the match, or what is left of it."""
    result = play_match(
        match,
        folder / f"match-{candidate.name}",
        games=games,
        sprt=sprt,
        jobs=jobs,
        executor=executor,
        progress=progress,
    )
    duel = DuelSummary.of(result.standing, 0, 1, sprt)
    score = duel.score
    return Proof(
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
    """The openings that were asked for, or the first moves of the games held out."""
    if plan.openings is not None:
        return plan.openings, f"openings of {plan.openings}"
    plies = game_facts(study.game).record_plies
    ids = study.sql("select game_id from games order by game_id")["game_id"].to_numpy()
    apart = ids[is_held_out(ids.astype(np.int64), plan.hold_out, plan.seed)].tolist()
    random.Random(plan.seed).shuffle(apart)
    lines: dict[tuple[str, tuple[str, ...]], Opening] = {}
    for game_id, record in study.records(apart[:_MOST_OPENINGS]):
        moves = tuple(record.move_texts()[:plies])
        opening = Opening(f"game {game_id}", record.start, moves)
        if len(moves) == plies and is_playable(opening, study.game):
            lines.setdefault((record.start, moves), opening)
    if len(lines) < _LEAST_OPENINGS:
        return None, "lines of random moves"
    found = list(lines.values())
    random.Random(plan.seed).shuffle(found)
    return found, f"the first {plies} plies of {len(found):,} games held out"
