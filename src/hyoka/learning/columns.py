# SPDX-License-Identifier: Apache-2.0
"""Examples for the weights of columns that are added to an evaluator's score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.sample import DrawnGames
from hyoka.errors import ConditionError, StudyError, named
from hyoka.learning.examples import Examples, Weight, decided, some_of_each_game
from hyoka.learning.sigmoid import Array
from hyoka.study import Study
from hyoka.study.conditions import check_condition
from hyoka.study.measuring import MATE_SCORE, chosen_evaluator

_SUREST: Final = 1e-3
"""Values are taken for no surer than this when they become logits."""


def column_examples(  # noqa: PLR0913 - a keyword for each choice
    study: Study,
    evaluator: str,
    columns: Sequence[str],
    *,
    times_score: Sequence[str] = (),
    where: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    draws: DrawnGames = "drop",
) -> Examples:
    """Examples for weights of columns that are added to an evaluator's score.

    The evaluator is named as the study names it, or by the spec with which it evaluated. A
    column is an SQL expression over the columns of positions, such as
    `king_danger_diff * progress`. Those of `times_score` come after the others, each multiplied by
    the score: by so much of itself the score is to grow. An evaluator that gives no scores but
    values is taken by their logits. Positions in which it sees a mate are left out.
    """
    if not (columns or times_score):
        raise ConditionError("no column is named: say what to add to the score")
    engine = chosen_evaluator(study, evaluator)
    expressions = [*columns, *times_score]
    with_result, undecided = decided(_scored(study, engine, expressions, where), draws)
    table = some_of_each_game(with_result, sample, seed)
    all_scores, unit = _scores(table, evaluator)
    known = np.isfinite(all_scores)
    rows, scores = table.filter(pa.array(known)), all_scores[known]
    features = np.stack(
        [_finite(rows[f"column_{i}"], name) for i, name in enumerate(expressions)], axis=1
    )
    features[:, len(columns) :] *= scores[:, None]
    names = [*columns, *(f"{each} * score" for each in times_score)]
    return Examples(
        study.game,
        tuple(Weight(name, None) for name in names),
        unit,
        rows["game_id"].to_numpy().astype(np.int64),
        rows["ply"].to_numpy().astype(np.int32),
        rows["result"].to_numpy().astype(np.float64),
        scores,
        scores,
        features,
        dict(zip(names, features.T, strict=True)),
        f"the scores of {evaluator}",
        study=study.path.name,
        undecided=undecided,
        unscored=len(table) - len(rows),
    )


@dataclass(frozen=True, eq=False)
class ScoredPositions:
    """What an evaluator of a study says of positions, but for mates and failures."""

    games: NDArray[np.int64]
    plies: NDArray[np.int32]
    numbers: Array
    are_scores: bool
    """Scores; else values from 0 to 1."""


def column_scores(study: Study, engine: str) -> ScoredPositions:
    """The scores of an evaluator by the name that the study has for it, or its values."""
    quoted = engine.replace("'", "''")
    table = study.sql(
        "select game_id, ply, score, value, mate, unit from evaluations"
        f" where engine = '{quoted}' and failed is null"
    )
    numbers, unit = _scores(table, engine)
    known = np.isfinite(numbers)
    values = 1 / (1 + np.exp(-numbers[known])) if unit == "logits" else numbers[known]
    games, plies = (table[name].to_numpy()[known] for name in ("game_id", "ply"))
    return ScoredPositions(games.astype(np.int64), plies.astype(np.int32), values, unit != "logits")


def _scored(study: Study, engine: str, columns: Sequence[str], where: str | None) -> pa.Table:
    """Positions with an evaluator's scores and the columns."""
    names = study.condition_columns()
    condition = "true" if where is None else check_condition(where, names)
    wanted = []
    for index, column in enumerate(columns):
        try:
            wanted.append(f"{check_condition(column, names)} as column_{index}")
        except ConditionError as error:
            raise ConditionError(str(error).replace("condition '", "column '", 1)) from error
    quoted = engine.replace("'", "''")
    return study.sql(
        f"select game_id, ply, result, score, value, mate, unit,"
        f" {', '.join(f'column_{index}' for index in range(len(columns)))} from"
        f" (select game_id, ply, coalesce(adjudicated, result) as result, {', '.join(wanted)}"
        f" from positions where {condition})"
        " join (select game_id, ply, score, value, mate, unit from evaluations"
        f" where engine = '{quoted}') using (game_id, ply) order by game_id, ply"
    )


def _scores(table: pa.Table, evaluator: str) -> tuple[Array, str]:
    """An evaluator's scores, NaN at mates and failures; or the logits of its values."""
    mates = np.asarray(table["mate"].is_valid())
    for name in ("score", "value"):
        numbers = table[name].to_numpy(zero_copy_only=False).astype(np.float64)
        numbers[mates] = np.nan
        units = table["unit"].drop_null()
        unit = str(units[0]) if len(units) else "points"
        if name == "score" and unit == "centipawns":
            numbers[np.abs(numbers) >= MATE_SCORE] = np.nan
        if np.isfinite(numbers).any():
            if name == "score":
                return numbers, unit
            likely = np.clip(numbers, _SUREST, 1 - _SUREST)
            return np.log(likely / (1 - likely)), "logits"
    raise StudyError(f"'{evaluator}' has scored none of these positions")


def _finite(column: pa.ChunkedArray, name: str) -> Array:
    try:
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ConditionError(f"column '{name}' is no number, but {column.type}") from None
    unknown = int((~np.isfinite(numbers)).sum())
    if unknown:
        raise StudyError(
            f"column '{name}' is null or no finite number at {unknown:,} of {len(numbers):,} "
            f"positions; {named('where', f'isfinite({name})')} leaves these out"
        )
    return np.asarray(numbers, np.float64)
