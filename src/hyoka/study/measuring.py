# SPDX-License-Identifier: Apache-2.0
"""From a study to samples: what evaluators said of its positions, ready to be analysed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.analysis import VALUE, Draws, Sample, game_numbers
from hyoka.errors import ConditionError, StudyError, nearest
from hyoka.study.conditions import check_condition
from hyoka.study.layout import read_identity

if TYPE_CHECKING:
    from hyoka.study.study import Study

Axis = Literal["auto", "value", "score"]
"""What of an evaluation is analysed; `auto` takes what the evaluator is about."""

OUTCOMES: Final = frozenset(
    ["result", "margin", "ending", "plies", "adjudicated", "duplicate_of", "game_id"]
)
"""Columns that know how the game ended, or only count: no condition that explains anything."""
GAME_COLUMNS: Final = ("komi", "handicap", "rules")
"""Columns of games that a search for splits looks at, beside those of positions."""
_BY_POINTS: Final = ("ab", "mc-score")
"""Searches of ours whose values are made from their scores."""
MATE_SCORE: Final = 20_000
"""Scores of so many centipawns say mate in all but name: engines' own limits lie above."""
_PLY_STRATA: Final = 10


@dataclass(frozen=True, eq=False)
class Measured:
    """Positions of a study that every one of some evaluators evaluated."""

    study: "Study"
    samples: tuple[Sample, ...]
    """One an evaluator, named as it was asked for, over the same positions in the same order."""
    game_ids: NDArray[np.int64] = field(repr=False)
    plies: NDArray[np.int32] = field(repr=False)
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    """Columns of the positions that were asked for."""
    changed: int
    """Positions whose result an exact method knows better than the record."""

    def __len__(self) -> int:
        return len(self.game_ids)

    def sample(self, name: str) -> Sample:
        """The sample of one evaluator."""
        return next(sample for sample in self.samples if sample.name == name)

    def strata(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Each position's tenth of the plies, and how the positions are spread over the tenths."""
        cuts = np.quantile(self.plies, np.linspace(0, 1, _PLY_STRATA + 1)[1:-1])
        strata = np.searchsorted(cuts, self.plies, side="right").astype(np.int64)
        shares = np.bincount(strata, minlength=_PLY_STRATA) / max(len(strata), 1)
        return strata, shares


def measured(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    evaluators: Sequence[str] | str | None = None,
    *,
    where: str | None = None,
    columns: Sequence[str] = (),
    draws: Draws = "discard",
    axis: Axis = "auto",
) -> Measured:
    """Load what evaluators said of a study's positions, and what came of them.

    All evaluators of the study unless some are named, by the positions that all of them evaluated.
    Positions of games without a result, and those that an evaluator failed at, are left out. What
    an exact method knows of a position takes the place of the record's result. `columns` may be
    SQL expressions.
    """
    names = chosen_evaluators(study, evaluators)
    table = _joined(study, names, where, columns)
    result = _column(table, "result").astype(np.float32)
    decided = np.ones(len(result), bool)
    if draws == "discard":
        decided = (result == 0) | (result == 1)
    rows = np.flatnonzero(decided)
    game_ids = _column(table, "game_id").astype(np.int64)[rows]
    numbers, count = game_numbers(game_ids)
    samples = []
    texts = [evaluator_text(study, name) for name in names]
    for index, name in enumerate(names):
        text = texts[index]
        values, unit = _values(table, index, axis, name, text.partition(":")[0] in _BY_POINTS)
        values = values[rows]
        samples.append(
            Sample(
                text if texts.count(text) == 1 else name,
                unit,
                values,
                result[rows],
                numbers,
                count,
                rows=np.arange(len(rows)),
            )
        )
    known = np.logical_and.reduce([~np.isnan(sample.values) for sample in samples])
    if not known.all():
        kept = np.flatnonzero(known)
        rows = rows[kept]
        game_ids = game_ids[kept]
        numbers, count = game_numbers(game_ids)
        samples = [
            Sample(
                sample.name,
                sample.unit,
                sample.values[kept],
                sample.results[kept],
                numbers,
                count,
                rows=np.arange(len(rows)),
            )
            for sample in samples
        ]
    if not len(rows):
        raise StudyError(_nothing(study, names, where, draws, len(table)))
    changed = _column(table, "changed")[rows]
    return Measured(
        study,
        tuple(samples),
        game_ids,
        _column(table, "ply").astype(np.int32)[rows],
        {name: _column(table, f"column_{i}")[rows] for i, name in enumerate(columns)},
        int(np.nansum(changed.astype(np.float64))),
    )


def chosen_evaluators(study: "Study", evaluators: Sequence[str] | str | None) -> list[str]:
    """Names of evaluators as the study knows them; texts of specs are understood too."""
    known = study.engines
    if not known:
        raise StudyError(
            f"{study.path}: nothing has been evaluated yet; run: hyoka evaluate {study.path}"
        )
    if evaluators is None:
        return known
    given = [evaluators] if isinstance(evaluators, str) else list(evaluators)
    texts: dict[str, list[str]] = {}
    for name in known:
        texts.setdefault(evaluator_text(study, name), []).append(name)
    found = []
    for name in given:
        if name not in known and name not in texts:
            hint = nearest(name, [*known, *texts]) or f"there are {', '.join(known)}"
            raise StudyError(f"{study.path}: no evaluator '{name}'; {hint}")
        if name not in known and len(texts[name]) > 1:
            several = ", ".join(texts[name])
            raise StudyError(f"{study.path}: '{name}' has been several evaluators: {several}")
        found.append(name if name in known else texts[name][0])
    return list(dict.fromkeys(found))


def evaluator_text(study: "Study", name: str) -> str:
    """The spec by which an evaluator was asked for; its name where that is not known."""
    file = Path(study.path) / "evaluations" / f"engine={name}" / "engine.toml"
    try:
        return str(read_identity(file)["spec"])
    except (StudyError, KeyError):
        return name


def split_columns(study: "Study") -> list[str]:
    """The columns that a search for splits looks at unless told otherwise."""
    known = set(study.condition_columns())
    wanted = ["ply", "first_to_play", *study.columns, *GAME_COLUMNS]
    return [name for name in wanted if name in known]


def _joined(
    study: "Study", names: Sequence[str], where: str | None, columns: Sequence[str]
) -> pa.Table:
    known = study.condition_columns()
    condition = "true" if where is None else check_condition(where, known)
    expressions = []
    for i, column in enumerate(columns):
        expression = f'"{column}"' if column in known else check_condition(column, known)
        expressions.append(f"{expression} as column_{i}")
    joins, said = [], []
    for i, name in enumerate(names):
        quoted = name.replace("'", "''")
        joins.append(
            f"join (select game_id, ply, value, score, mate, unit from evaluations where "
            f"engine = '{quoted}' and failed is null) e{i} using (game_id, ply)"
        )
        said += [f"e{i}.{part} as {part}_{i}" for part in ("value", "score", "mate", "unit")]
    inner = ", ".join(
        [
            "game_id",
            "ply",
            "coalesce(adjudicated, result) as result",
            "adjudicated is not null and result is not null and adjudicated <> result as changed",
            *expressions,
        ]
    )
    outer = ", ".join(["p.*", *said])
    try:
        return study.sql(
            f"select {outer} from (select {inner} from positions where {condition} "
            f"and coalesce(adjudicated, result) is not null) p {' '.join(joins)} "
            "order by game_id, ply"
        )
    except ConditionError as error:
        raise ConditionError(f"{error} (in: {', '.join([where or '', *columns])})") from error


def _column(table: pa.Table, name: str) -> NDArray[Any]:
    """A column as NumPy has it: truth values without nulls stay such, numbers' nulls are NaN."""
    column = table[name].combine_chunks()
    kind = column.type
    if pa.types.is_boolean(kind):
        return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), dtype=bool)
    if (pa.types.is_integer(kind) and column.null_count) or pa.types.is_decimal(kind):
        column = pc.cast(column, pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _values(
    table: pa.Table, index: int, axis: Axis, name: str, by_points: bool
) -> tuple[NDArray[Any], str]:
    """An evaluator's values and their unit.

    Scores in centipawns come before values, which engines derive from them, and so do the points of
    searches that go by points; else values come first. What is certain (a mate, a proof) is worth
    infinity as a score.
    """
    value = _column(table, f"value_{index}").astype(np.float32)
    score = _column(table, f"score_{index}").astype(np.float32)
    mate = _column(table, f"mate_{index}").astype(np.float32)
    units = [unit for unit in pc.unique(table[f"unit_{index}"]).to_pylist() if unit]
    mated = bool(np.isfinite(mate).any())
    has_value, has_score = (bool(np.isfinite(said).any()) for said in (value, score))
    if axis == "auto":
        by_score = has_score and (by_points or "centipawns" in units)
        axis = "score" if by_score or not has_value else "value"
    if axis == "score":
        if not (has_score or mated) and len(score):
            raise StudyError(f"{name} tells no scores")
        most = MATE_SCORE if "centipawns" in units else np.inf
        unsaid = np.isnan(score)
        won = (mate > 0) | (score >= most) | (unsaid & (value == 1))
        lost = (mate < 0) | (score <= -most) | (unsaid & (value == 0))
        found = np.select([won, lost], [np.inf, -np.inf], score)
        return found.astype(np.float32), units[0] if units else "points"
    if not (has_value or mated) and len(value):
        raise StudyError(f"{name} tells no values")
    found = np.where(np.isnan(value) & ~np.isnan(mate), mate > 0, value)
    return found.astype(np.float32), VALUE


def _nothing(
    study: "Study", names: Sequence[str], where: str | None, draws: str, joined: int
) -> str:
    if joined:
        more = " Their games are all drawn; --draws half counts them." if draws == "discard" else ""
        return f"{study.path}: no position with a value and a decided result is left.{more}"
    which = f" that satisfies {where}" if where else ""
    if len(names) > 1:
        return (
            f"{study.path}: no position{which} with a result was evaluated by all of "
            f"{', '.join(names)}; choose with --evaluator"
        )
    return f"{study.path}: {names[0]} evaluated no position{which} of a game with a result"
