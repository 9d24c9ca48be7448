# SPDX-License-Identifier: Apache-2.0
"""The positions that an improvement goes by: what the evaluator says of them, and what came."""

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
from hyoka.study import Question, Study, evaluate
from hyoka.study.sampling import Measured, column_values, measured, slice_columns
from hyoka.study.tables import position_keys
from hyoka.workflows.improve.improve_plan import ImprovePlan


@dataclass(frozen=True, eq=False)
class Evidence:
    """Positions with scores and results, and which of them are of games held out."""

    positions: Measured
    apart: NDArray[np.bool_] = field(repr=False)
    leaves: TermLeaves | None = None
    """The same positions where captures rest; None for an evaluator that is not ours to fit."""
    engine: str = ""
    """The name under which the study keeps such an evaluator; empty for one that is ours."""

    @property
    def study(self) -> Study:
        """Whose games they are."""
        return self.positions.study

    @property
    def sample(self) -> Sample:
        """What the evaluator says of all of them."""
        return self.positions.samples[0]

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """What describes the positions of the games to fit on."""
        return {name: each[~self.apart] for name, each in self.positions.columns.items()}

    @property
    def controls(self) -> list[Control]:
        """What else may explain what is found in the games to fit on."""
        return [each.where(~self.apart) for each in self.positions.controls(self.sample.name)]

    def holds(self, condition: str) -> NDArray[np.bool_]:
        """Where an SQL condition holds, of all positions."""
        return self.holds_at(condition, self.positions.game_ids, self.positions.plies)

    def holds_at(
        self, condition: str, games: NDArray[np.int64], plies: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Where an SQL condition holds, of positions by their games and plies."""
        table = self.study.select(condition)
        return np.isin(position_keys(games, plies), _keys_of(table))


def gathered(study: Study, plan: ImprovePlan, progress: OnProgress | None) -> Evidence:
    """The evidence of a study: of a search of ours where captures rest, else what was evaluated."""
    own = plan.own_evaluation(study.game)
    engine, leaves = "", None
    if own is None:
        engine, positions = _evaluated(study, plan, progress)
    else:
        leaves = TermLeaves.of_study(
            study,
            own,
            where=plan.where,
            sample=plan.sample,
            seed=plan.seed,
            draws=plan.draws,
            progress=progress,
        )
        positions = _at_rest(study, plan, leaves)
    apart = is_held_out(positions.game_ids, plan.hold_out, plan.seed)
    return Evidence(positions, apart, leaves, engine)


def _evaluated(
    study: Study, plan: ImprovePlan, progress: OnProgress | None
) -> tuple[str, Measured]:
    """What the evaluator says, a sample at least: what it has not looked at it looks at now.

    First comes the name under which the study keeps it.
    """
    # What a table says takes the place of what it said: all of it, or some would be lost.
    [report] = evaluate(
        study,
        [plan.spec],
        where=None if plan.is_table else plan.where,
        sample=None if plan.is_table else plan.sample,
        seed=plan.seed,
        progress=progress,
    )
    if not report.wanted:
        raise StudyError(f"{plan.evaluator} says nothing of the positions of {study.path}")
    question = Question(where=plan.where, draws=plan.draws)
    return report.engine, measured(study, report.engine, question, columns=slice_columns(study))


def _at_rest(study: Study, plan: ImprovePlan, leaves: TermLeaves) -> Measured:
    """The same as `measured` gives, of scores that no study holds."""
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
