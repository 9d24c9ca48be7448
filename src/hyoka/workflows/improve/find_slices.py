# SPDX-License-Identifier: Apache-2.0
"""Finds slices where the evaluation is biased, and the terms that describe them."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis import (
    Control,
    Resampling,
    Sample,
    Slice,
    SliceSettings,
    condition_gap,
    find_slices,
    game_numbers,
)
from hyoka.foundation.errors import StudyError
from hyoka.foundation.progress import OnProgress
from hyoka.learning import is_held_out
from hyoka.learning.proximal_fit import Steepness, TermLeaves, pulls_by_game
from hyoka.reporting.study_report.examples import examples_against, on_the_board
from hyoka.study import Question, Study
from hyoka.study.analyses import column_words
from hyoka.study.evaluating import evaluate
from hyoka.study.sampling import Measured, column_values, first_player, measured, slice_columns
from hyoka.study.tables import position_keys
from hyoka.workflows.improve.improvement import (
    BiasedSlice,
    ExamplePosition,
    ImprovePlan,
    SelectedTerm,
    SliceFindings,
    TermSelection,
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Positions with scores and results, divided into fitting games and held-out games."""

    positions: Measured
    held_out: NDArray[np.bool_] = field(repr=False)
    leaves: TermLeaves | None = None
    """The quiescent positions; None for an evaluator whose weights Hyoka cannot fit."""
    engine: str = ""
    """The name of such an evaluator in the study; empty if its weights can be fitted."""

    @property
    def study(self) -> Study:
        """The study that contains the games."""
        return self.positions.study

    @property
    def sample(self) -> Sample:
        """The evaluations of all positions."""
        return self.positions.samples[0]

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The feature columns of the positions in fitting games."""
        return {name: each[~self.held_out] for name, each in self.positions.columns.items()}

    @property
    def controls(self) -> list[Control]:
        """Other explanations of a slice's gap, in the fitting games."""
        return [each.where(~self.held_out) for each in self.positions.controls(self.sample.name)]

    def holds(self, condition: str) -> NDArray[np.bool_]:
        """Evaluate an SQL condition on all positions."""
        return self.holds_at(condition, self.positions.game_ids, self.positions.plies)

    def holds_at(
        self, condition: str, games: NDArray[np.int64], plies: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Evaluate an SQL condition on positions identified by game and ply."""
        table = self.study.select(condition)
        return np.isin(position_keys(games, plies), _keys_of(table))


def gather_evidence(study: Study, plan: ImprovePlan, progress: OnProgress | None) -> Evidence:
    """Collect quiescent positions for a fittable search, else stored evaluations."""
    own = plan.own_evaluation(study.game)
    engine, leaves = "", None
    if own is None:
        engine, positions = _evaluate(study, plan, progress)
    else:
        leaves = TermLeaves.of_study(study, own, plan.selection, progress)
        positions = _measure_at_rest(study, plan, leaves)
    held_out = is_held_out(positions.game_ids, plan.hold_out, plan.seed)
    return Evidence(positions, held_out, leaves, engine)


def _evaluate(study: Study, plan: ImprovePlan, progress: OnProgress | None) -> tuple[str, Measured]:
    """Evaluate the sample's missing positions; return the engine name and all evaluations."""
    # Importing a table replaces its previous import, so import all of it.
    [report] = evaluate(
        study,
        [plan.spec],
        where=None if plan.is_table else plan.where,
        sample=None if plan.is_table else plan.sample,
        seed=plan.seed,
        progress=progress,
    )
    if not report.wanted:
        raise StudyError(f"{plan.evaluator} has no evaluations of the positions of {study.path}")
    question = Question(where=plan.where, draws=plan.draws)
    return report.engine, measured(study, report.engine, question, columns=slice_columns(study))


def _measure_at_rest(study: Study, plan: ImprovePlan, leaves: TermLeaves) -> Measured:
    """Build what `measured` returns from scores that are not stored in the study."""
    names = slice_columns(study)
    quoted = ", ".join(f'"{name}"' for name in dict.fromkeys(["game_id", "ply", *names]))
    table = study.select(plan.where, quoted)
    at_rest = position_keys(leaves.games, leaves.plies)
    table = table.filter(pa.array(np.isin(_keys_of(table), at_rest)))
    numbers, count = game_numbers(leaves.games)
    sample = Sample(
        plan.spec.title,
        leaves.evaluation.unit,
        leaves.scores().astype(np.float32),
        leaves.results.astype(np.float32),
        numbers,
        count,
        rows=np.arange(len(leaves)),
        first_player=first_player(study.game),
    )
    return Measured(
        study,
        (sample,),
        leaves.games,
        leaves.plies,
        {name: column_values(table, name) for name in names},
        0,
        (np.zeros(len(leaves), np.int8),),
        (False,),
    )


def _keys_of(table: pa.Table) -> NDArray[np.int64]:
    return position_keys(table["game_id"].to_numpy(), table["ply"].to_numpy())


_MOST: Final = 6
"""Slices that are reported and fitted."""
_RESAMPLES: Final = 200
_BOARDS: Final = 3


def find_biased_slices(evidence: Evidence, seed: int, progress: OnProgress | None) -> SliceFindings:
    """Find the significant slices that no control explains, largest effect first."""
    fitted = ~evidence.held_out
    game = evidence.study.game
    slices = find_slices(
        evidence.sample.where(fitted),
        evidence.columns,
        # The held-out games of this workflow confirm; a term describes one column or two.
        SliceSettings(depth=2, hold_out=0),
        words=column_words(game),
        controls=evidence.controls,
        resampling=Resampling(_RESAMPLES, seed),
        progress=progress,
    )
    sure = [each for each in slices if each.is_sure and _is_described(each)][:_MOST]
    games = evidence.positions.game_ids
    return SliceFindings(
        tuple(_check_slice(evidence, each) for each in sure),
        slices.tried,
        len(np.unique(games[fitted])),
        int(fitted.sum()),
        len(np.unique(games[evidence.held_out])),
        int(evidence.held_out.sum()),
        _examples_of(evidence, sure[0]) if sure else (),
    )


def _is_described(candidate: Slice) -> bool:
    """Whether the condition uses a column other than the ply."""
    return bool(candidate.condition.columns - {"ply"})


def _check_slice(evidence: Evidence, candidate: Slice) -> BiasedSlice:
    condition = candidate.condition
    held_out = evidence.held_out
    gap = condition_gap(evidence.sample.where(held_out), evidence.holds(condition.sql)[held_out])
    confirmed = gap.departure(candidate.departure.kind)
    return BiasedSlice(
        condition.words,
        condition.sql,
        candidate.departure.kind,
        candidate.sentence,
        candidate.effect,
        candidate.q_value,
        candidate.gap.positions,
        candidate.gap.games,
        confirmed.effect,
        confirmed.p_value,
    )


def _examples_of(evidence: Evidence, candidate: Slice) -> tuple[ExamplePosition, ...]:
    """Choose the positions of a slice with the largest evaluation errors."""
    ended = on_the_board(evidence.study)
    sample = evidence.sample.where(~evidence.held_out)
    chosen = examples_against(evidence.positions, sample, candidate, ended, _BOARDS)
    return tuple(
        ExamplePosition(each.game_id, each.ply, each.values, each.result) for each in chosen
    )


_LIKE: Final = 0.1
"""The minimum correlation of a term with the condition that it describes."""
_PULLED: Final = 3.0
"""The minimum score-test statistic of a term, in standard errors."""
_MOST_TERMS: Final = 4
"""The maximum number of terms for one slice."""
_BINS: Final = 30
"""Score bins within which scores count as equal."""

Array = NDArray[np.float64]


def select_terms(evidence: Evidence, findings: SliceFindings) -> TermSelection:
    """Select the terms that describe each slice, highest correlation first.

    An evaluator without terms gets one term for each slice: the condition.
    """
    if evidence.leaves is None:
        return TermSelection(
            tuple(
                SelectedTerm(each.sql, each.words, 1.0, None, None, None)
                for each in findings.slices
            )
        )
    rows = ~evidence.held_out
    leaves = evidence.leaves.some(rows)
    pulls = _term_pulls(leaves)
    terms: list[SelectedTerm] = []
    for candidate in findings.slices:
        likeness = _likenesses(
            leaves, evidence.holds(candidate.sql)[rows], candidate.kind == "lean"
        )
        terms += _terms_of_slice(leaves, candidate, likeness, pulls)
    return TermSelection(tuple(terms))


def _terms_of_slice(
    leaves: TermLeaves, candidate: BiasedSlice, likeness: Array, pulls: Array
) -> list[SelectedTerm]:
    named: list[SelectedTerm] = []
    for index in np.argsort(-np.abs(likeness), kind="stable").tolist():
        like, pull = float(likeness[index]), float(pulls[index])
        if abs(like) < _LIKE or len(named) == _MOST_TERMS:
            break
        if pull * like * candidate.effect.value > 0 and abs(pull) >= _PULLED:
            name = leaves.evaluation.names[index]
            named.append(SelectedTerm(name, candidate.words, like, pull, *leaves.evaluation[name]))
    return named


def _likenesses(leaves: TermLeaves, holds: NDArray[np.bool_], by_favored: bool) -> Array:
    """Correlate each term with a condition at equal scores."""
    from scipy.sparse import csr_array, diags_array  # noqa: PLC0415 - it takes a while to import

    scores = leaves.scores()
    cuts = np.unique(np.quantile(scores, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(cuts, scores, side="right")
    counts = np.maximum(np.bincount(bins, minlength=len(cuts) + 1), 1)
    condition = holds - (np.bincount(bins, holds, len(counts)) / counts)[bins]
    amounts: Any = leaves.matrix
    if by_favored:
        amounts = diags_array(np.sign(scores)) @ amounts
    together = amounts.T @ condition
    same = csr_array(
        (np.ones(len(bins)), (bins, np.arange(len(bins)))), shape=(len(counts), len(bins))
    )
    sums = (same @ amounts).toarray()
    squares = np.asarray(amounts.power(2).sum(axis=0)).ravel()
    spread = squares - (sums**2 / counts[:, None]).sum(axis=0)
    size = np.sqrt(np.maximum(spread, 0) * float(condition @ condition))
    return np.asarray(np.divide(together, size, out=np.zeros(len(size)), where=size > 1e-9))


def _term_pulls(leaves: TermLeaves) -> Array:
    """Compute each term's score-test statistic, clustered by game."""
    steepness = Steepness.of(leaves)
    surprise = leaves.results - steepness.win_probability(leaves)
    odds = steepness.at(leaves.progress)
    by_game = pulls_by_game(leaves.matrix, surprise * odds, leaves.games)
    total = np.asarray(by_game.sum(axis=0)).ravel()
    error = np.sqrt(np.asarray(by_game.power(2).sum(axis=0)).ravel())
    return np.asarray(np.divide(total, error, out=np.zeros(len(total)), where=error > 1e-12))
