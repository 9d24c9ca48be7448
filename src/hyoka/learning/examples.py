# SPDX-License-Identifier: Apache-2.0
"""Examples for weight fitting: positions with scores, features and results."""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.sample import DrawnGames
from hyoka.foundation.errors import ConditionError, NotationError, StudyError, named, nearest
from hyoka.foundation.math import logistic
from hyoka.foundation.options import WHERE_HELP, check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.games.evaluation import MATE_SCORE
from hyoka.learning.sigmoid import Array
from hyoka.records.bulk import UNFINISHED, GameTable, Terms
from hyoka.search import LinearEvaluation, linear_evaluation
from hyoka.study import Study
from hyoka.study.evaluating import sampled
from hyoka.study.sampling import chosen_evaluator
from hyoka.study.sql import check_condition


@dataclass(frozen=True)
class Weight:
    """A number to fit."""

    name: str
    former: float | None
    """Value in the current evaluation; None if there is no single value."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Training positions, one row each, from the first player's view.

    The score with weights w is `rest + features @ w`.
    """

    game: str
    weights: tuple[Weight, ...]
    unit: str
    """Unit of the scores."""
    games: NDArray[np.int64]
    plies: NDArray[np.int32]
    results: Array
    """1 win, 0.5 draw, 0 loss; exact results take precedence over the record's."""
    rest: Array
    """Score without the fitted part."""
    before: Array
    """Initial score."""
    features: Array
    traits: dict[str, Array]
    """Amounts for the conditions of slices, by name."""
    source: str
    """Description of the scores."""
    study: str = ""
    """Folder name of the study."""
    undecided: int = 0
    """Positions left out because their result is unknown or a draw."""
    unscored: int = 0
    """Positions left out because the game is over, there or in the expected line (a mate)."""
    quiet: bool = False
    """Whether the positions are the end points of quiescence searches."""
    start: LinearEvaluation | None = None
    """The initial evaluation; None for scores of other evaluators."""
    base: LinearEvaluation | None = None
    """The evaluation without the fitted part."""
    directions: NDArray[np.float32] | None = None
    """Contribution of each number to the weights of `base`: by number, term and phase."""

    def __len__(self) -> int:
        return len(self.results)

    def evaluation(self, weights: Array, scale: float) -> LinearEvaluation | None:
        """The evaluation with these weights; None for scores of other evaluators."""
        if self.base is None or self.directions is None:
            return None
        changed = self.base.weights + np.tensordot(weights, self.directions, axes=1)
        return self.base.with_weights(changed, scale=scale)


@dataclass(frozen=True, kw_only=True)
class PositionSelection:
    """Options that select a study's positions for a fit."""

    where: str | None = option(None, WHERE_HELP, metavar="SQL")
    sample: int | None = option(
        None, "Number of positions per game, drawn at random.", min=1, metavar="N"
    )
    draws: DrawnGames = option("drop", "Leave drawn games out, or count them as half a win.")
    seed: int = option(0, "Seed of random choices.", min=0)

    def __post_init__(self) -> None:
        check_options(self)

    def rows(self, study: Study) -> tuple[pa.Table, int]:
        """Selected positions with results, and the number of those whose result does not count."""
        names = "game_id, ply, coalesce(adjudicated, result) as result"
        table, undecided = decided(study.select(self.where, names), self.draws)
        return self.draw(table), undecided

    def draw(self, table: pa.Table) -> pa.Table:
        """All rows, or `sample` of each game, selected as in `evaluate`."""
        if self.sample is None:
            return table
        games, plies = sampled(table, self.sample, self.seed)[:2]
        ids = pa.table({"game_id": games, "ply": plies})
        return table.join(ids, ["game_id", "ply"], join_type="inner").sort_by(
            [("game_id", "ascending"), ("ply", "ascending")]
        )


def decided(table: pa.Table, draws: DrawnGames) -> tuple[pa.Table, int]:
    """Rows with a known result that counts, and the number of other rows."""
    results = table["result"].to_numpy(zero_copy_only=False).astype(np.float64)
    keep = np.isfinite(results)
    if draws == "drop":
        keep &= results != 0.5
    if not keep.any():
        raise StudyError(
            f"none of {len(table):,} positions is from a game with a known result"
            + (" that is no draw" if draws == "drop" else "")
            if len(table)
            else "no position satisfies the condition"
        )
    return table.filter(pa.array(keep)), int((~keep).sum())


Shape = Literal["phases", "one", "ending", "factor"]
"""The numbers fitted per term: opening and ending weights, one weight for both, the ending weight
alone; or one factor for all terms in their current proportions.
"""
SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)


@dataclass(frozen=True, kw_only=True)
class TermPlan:
    """Options of the terms whose weights are fitted."""

    terms: Sequence[str] = option(
        (),
        "Term of the game's evaluation, or a pattern such as 'bishop_*'; repeatable.",
        name="term",
        metavar="NAME",
    )
    shape: Shape = option(
        "phases",
        "Weights to fit. phases: one for the opening and one for the ending; one: the same for "
        "both; ending: only the ending's; factor: one factor for all terms.",
        name="as",
    )
    off: bool = option(False, "Start with the weights of the terms at zero.")
    static: bool = option(
        False, "Evaluate the positions themselves, not the leaves of a quiescence search."
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, kw_only=True)
class ColumnPlan:
    """Options of the columns that are added to an evaluator's score."""

    columns: Sequence[str] = option(
        (),
        'Column or SQL expression to add, such as "passed * phase"; repeatable.',
        name="column",
        metavar="SQL",
    )


_MOST_NUMBERS: Final = 10**8
"""Limit on numbers in the feature matrix: 0.8 GB, and a fit needs a few copies."""


def term_examples(
    study: Study,
    terms: Sequence[str],
    selection: PositionSelection | None = None,
    *,
    shape: Shape = "phases",
    off: bool = False,
    weights: str | Path | LinearEvaluation | None = None,
    quiet: bool | None = None,
    progress: OnProgress | None = None,
) -> Examples:
    """Examples for the weights of terms of the game's evaluation or of an evaluation file.

    `terms` are names or patterns such as `bishop_*`. In the initial evaluation, they keep their
    weights or, if `off`, have none. `quiet` (the default for games with a quiescence search)
    replaces each position by the end point of its quiescence search with that evaluation.
    """
    if isinstance(weights, LinearEvaluation):
        present, origin = weights, ""
    else:
        present = linear_evaluation(study.game, weights)
        origin = f" in {weights}" if weights is not None else ""
    chosen = chosen_terms(present, terms)
    fitted, directions = _numbers(present, chosen, shape)
    base, before = _without(present, chosen, shape, off)
    has_quiescence = game_facts(study.game).search.quiescence
    if quiet is None:
        quiet = has_quiescence
    elif quiet and not has_quiescence:
        raise StudyError(f"{study.game} has no quiescence search")
    table, undecided = (selection or PositionSelection()).rows(study)
    if len(table) * len(fitted) > _MOST_NUMBERS:
        raise StudyError(
            f"{len(fitted):,} weights and {len(table):,} positions are more than fits into memory: "
            "take fewer terms, or a sample of each game"
        )
    gathered = _Gathered(before, np.stack([base.weights, before.weights, *directions]), chosen)
    places = study.game_table_of(table["game_id"].to_numpy(), table["ply"].to_numpy())
    masks: list[NDArray[np.bool_]] = []
    tally = Tally(progress, "positions at rest" if quiet else "positions", len(table), "positions")
    for chunk in places.chunks():
        masks.append(gathered.add_resting(chunk) if quiet else gathered.add_static(chunk))
        tally.add(len(chunk))
    keep = np.concatenate(masks) if masks else np.zeros(0, bool)
    columns, traits = gathered.columns()
    rows = table.filter(pa.array(keep))
    if shape == "factor":
        traits = {fitted[0].name: columns[:, 2]}
    return Examples(
        study.game,
        tuple(fitted),
        present.unit,
        rows["game_id"].to_numpy().astype(np.int64),
        rows["ply"].to_numpy().astype(np.int32),
        rows["result"].to_numpy().astype(np.float64),
        columns[:, 0],
        columns[:, 1],
        columns[:, 2:],
        traits,
        f"the evaluation of {study.game}{origin}",
        study=study.path.name,
        undecided=undecided,
        unscored=len(table) - len(rows),
        quiet=quiet,
        start=before,
        base=base,
        directions=directions,
    )


def chosen_terms(evaluation: LinearEvaluation, patterns: Sequence[str]) -> list[str]:
    """Terms that match names and patterns, each once, in the evaluation's order."""
    selected: set[str] = set()
    for pattern in patterns:
        matches = fnmatch.filter(evaluation.names, pattern)
        if not matches:
            hint = nearest(pattern, evaluation.names) or f"{len(evaluation)} are there"
            raise NotationError(f"{evaluation.game}'s evaluation has no term '{pattern}'; {hint}")
        selected |= set(matches)
    if not selected:
        raise NotationError(
            "no term is named: say which weights to fit, one or more of `hyoka model terms "
            f"{evaluation.game}`"
        )
    return [name for name in evaluation.names if name in selected]


def _numbers(
    present: LinearEvaluation, terms: Sequence[str], shape: Shape
) -> tuple[list[Weight], NDArray[np.float32]]:
    """The numbers to fit, and their contributions to all weights: by number, term and phase."""
    if shape == "factor":
        chosen = np.isin(present.names, terms)
        direction = np.where(chosen[:, None], present.weights, 0).astype(np.float32)
        if not direction.any():
            raise NotationError(f"{', '.join(terms)}: their weights are 0, and so is any multiple")
        rest = f" and {len(terms) - 2} more" if len(terms) > 2 else ""
        return [Weight(f"factor of {', '.join(terms[:2])}{rest}", 1.0)], direction[None]
    fitted: list[Weight] = []
    reach: list[tuple[str, float, float]] = []
    for term in terms:
        opening, ending = present[term]
        if shape == "one":
            fitted.append(Weight(term, opening if opening == ending else None))
            reach.append((term, 1, 1))
            continue
        if shape == "phases":
            fitted.append(Weight(f"{term} (opening)", opening))
            reach.append((term, 1, 0))
        fitted.append(Weight(f"{term} (ending)", ending))
        reach.append((term, 0, 1))
    directions = np.zeros((len(fitted), len(present), 2), np.float32)
    for number, (term, *phases) in enumerate(reach):
        directions[number, present.names.index(term)] = phases
    return fitted, directions


def _without(
    present: LinearEvaluation, terms: Sequence[str], shape: Shape, off: bool
) -> tuple[LinearEvaluation, LinearEvaluation]:
    """The evaluation without the fitted part, and the initial evaluation."""
    silent = present.with_weights(dict.fromkeys(terms, 0.0))
    before = silent if off else present
    if shape != "ending":
        return silent, before
    return before.with_weights({term: (before[term][0], 0.0) for term in terms}), before


class _Gathered:
    """Collects scores and features of positions in blocks."""

    def __init__(
        self, before: LinearEvaluation, weights: NDArray[np.float32], traits: Sequence[str]
    ) -> None:
        self._weights = before.flat
        self._opening, self._ending = weights.astype(np.float64).transpose(2, 1, 0)
        self._names = traits
        self._traits = [before.names.index(name) for name in traits]
        self._columns: list[Array] = []
        self._amounts: list[Array] = []

    def add_static(self, places: GameTable) -> NDArray[np.bool_]:
        """Add the positions themselves; return False for those of finished games."""
        keep: NDArray[np.bool_] = places.outcomes() == UNFINISHED
        self._add(places.terms(), keep)
        return keep

    def add_resting(self, places: GameTable) -> NDArray[np.bool_]:
        """Add the end points of quiescence searches; return False where the game is over."""
        quiet = places.quiet_terms(self._weights)
        self._add(quiet.terms, quiet.rests)
        return quiet.rests

    def _add(self, terms: Terms, keep: NDArray[np.bool_]) -> None:
        amounts = terms.matrix()[keep]
        ending = terms.progress[keep, None].astype(np.float64)
        self._columns.append(
            (amounts @ self._opening) * (1 - ending) + (amounts @ self._ending) * ending
        )
        self._amounts.append(amounts[:, self._traits].toarray().astype(np.float64))

    def columns(self) -> tuple[Array, dict[str, Array]]:
        """Concatenate all blocks: a column for each row of weights, and the terms' amounts."""
        width = self._opening.shape[1]
        columns = np.concatenate([np.zeros((0, width)), *self._columns])
        amounts = np.concatenate([np.zeros((0, len(self._traits))), *self._amounts])
        return columns, dict(zip(self._names, amounts.T, strict=True))


_SUREST: Final = 1e-3
"""Values are clipped to this distance from 0 and 1 before the logit."""


def column_examples(
    study: Study,
    evaluator: str,
    columns: Sequence[str],
    selection: PositionSelection | None = None,
    *,
    times_score: Sequence[str] = (),
) -> Examples:
    """Examples for weights of columns that are added to an evaluator's score.

    `evaluator` is its name in the study, or its spec. A column is an SQL expression over the
    columns of positions, such as `king_danger_diff * progress`. The columns of `times_score` come
    last, multiplied by the score, so their weights are relative. If an evaluator returns values
    instead of scores, their logits are used. Positions with mate scores are left out.
    """
    if not (columns or times_score):
        raise ConditionError("no column is named: say what to add to the score")
    engine = chosen_evaluator(study, evaluator)
    expressions = [*columns, *times_score]
    selection = selection or PositionSelection()
    scored = _scored(study, engine, expressions, selection.where)
    with_result, undecided = decided(scored, selection.draws)
    table = selection.draw(with_result)
    all_scores, unit = _scores(table, evaluator)
    finite = np.isfinite(all_scores)
    rows, scores = table.filter(pa.array(finite)), all_scores[finite]
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
    """Scores of a study's evaluator, without mates and failures."""

    games: NDArray[np.int64]
    plies: NDArray[np.int32]
    numbers: Array
    are_scores: bool
    """Whether these are scores; otherwise values from 0 to 1."""


def column_scores(study: Study, engine: str) -> ScoredPositions:
    """Scores or values of an evaluator, by its name in the study."""
    quoted = engine.replace("'", "''")
    table = study.sql(
        "select game_id, ply, score, value, mate, unit from evaluations"
        f" where engine = '{quoted}' and failed is null"
    )
    numbers, unit = _scores(table, engine)
    finite = np.isfinite(numbers)
    values = logistic(numbers[finite]) if unit == "logits" else numbers[finite]
    games, plies = (table[name].to_numpy()[finite] for name in ("game_id", "ply"))
    return ScoredPositions(games.astype(np.int64), plies.astype(np.int32), values, unit != "logits")


def _scored(study: Study, engine: str, columns: Sequence[str], where: str | None) -> pa.Table:
    """Positions with an evaluator's scores and the columns."""
    names = study.condition_columns()
    condition = "true" if where is None else check_condition(where, names)
    expressions = []
    for index, column in enumerate(columns):
        try:
            expressions.append(f"{check_condition(column, names)} as column_{index}")
        except ConditionError as error:
            raise ConditionError(str(error).replace("condition '", "column '", 1)) from error
    quoted = engine.replace("'", "''")
    return study.sql(
        f"select game_id, ply, result, score, value, mate, unit,"
        f" {', '.join(f'column_{index}' for index in range(len(columns)))} from"
        f" (select game_id, ply, coalesce(adjudicated, result) as result, {', '.join(expressions)}"
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
