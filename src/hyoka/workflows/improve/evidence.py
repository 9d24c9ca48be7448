# SPDX-License-Identifier: Apache-2.0
"""Positions with evaluations and results, from which an improvement is fitted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis import Control, Sample, game_numbers
from hyoka.foundation.errors import StudyError
from hyoka.foundation.progress import OnProgress
from hyoka.learning import is_held_out
from hyoka.learning.proximal_fit import TermLeaves
from hyoka.study import Question, Study
from hyoka.study.evaluating import evaluate
from hyoka.study.sampling import Measured, column_values, first_player, measured, slice_columns
from hyoka.study.tables import position_keys
from hyoka.workflows.improve.improve_plan import ImprovePlan


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
        plan.evaluator,
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
