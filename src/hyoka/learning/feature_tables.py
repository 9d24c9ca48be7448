# SPDX-License-Identifier: Apache-2.0
"""Tables of positions with sparse features, from CSV, Parquet, data frames or functions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.sample import DrawnGames
from hyoka.foundation.errors import NotationError, SourceError, StudyError, nearest
from hyoka.foundation.options import option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.foundation.text import matching_names
from hyoka.games import game_facts
from hyoka.learning.examples import column_scores
from hyoka.storage.table_files import KEYS, NAMING, read_table
from hyoka.study import Study
from hyoka.study.sampling import chosen_evaluator
from hyoka.study.user_columns import find_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MOST_FEATURES: Final = 65_536


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Positions with sparse features, sorted by game."""

    names: tuple[str, ...]
    starts: NDArray[np.int64] = field(repr=False)
    features: NDArray[np.uint16] = field(repr=False)
    """Feature numbers of all rows, ascending within each row."""
    amounts: NDArray[np.float32] = field(repr=False)
    results: NDArray[np.float32] = field(repr=False)
    """1 win, 0.5 draw, 0 loss."""
    games: NDArray[np.uint32] = field(repr=False)
    """Nondecreasing game numbers, so positions of one game are adjacent."""
    ending: NDArray[np.float32] | None = field(default=None, repr=False)
    """Progress of the game, 0 to 1; None: no phases."""
    base: NDArray[np.float64] | None = field(default=None, repr=False)
    """Score without the features; the features' contribution is added to it."""
    targets: NDArray[np.float64] | None = field(default=None, repr=False)
    """Evaluations from another evaluator."""
    targets_are_scores: bool = False
    """Whether these are scores; otherwise values from 0 to 1."""
    unit: str = "points"
    source: str = "a table"
    game: str = ""
    mixed_games: int = 0
    """Games whose positions have different results, possibly from the mover's view."""
    left_out: int = 0
    """Rows that match no position of the study or have no usable result."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(
        cls,
        matrix: "csr_array | NDArray[Any]",
        results: Sequence[float] | NDArray[Any],
        games: Sequence[Any] | NDArray[Any],
        names: Sequence[str] | None = None,
        **more: Any,
    ) -> "FeatureTable":
        """Build a table from a dense or sparse matrix: a row per position, a column per feature."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - it takes a second to import

        rows = csr_array(matrix)
        rows.sum_duplicates()  # also sorts the indices
        called = tuple(names or (f"f{i}" for i in range(rows.shape[1])))
        if len(called) != rows.shape[1] or len(set(called)) != len(called):
            raise StudyError(f"{rows.shape[1]} features need as many names, each once")
        if rows.shape[1] > MOST_FEATURES:
            raise StudyError(f"there are {rows.shape[1]:,} features, more than {MOST_FEATURES:,}")
        table = cls(
            called,
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.uint16),
            rows.data.astype(np.float32),
            np.asarray(results, np.float32),
            np.zeros(rows.shape[0], np.uint32),
            **more,
        )
        return table.in_games(np.asarray(games))

    def in_games(self, games: NDArray[Any]) -> "FeatureTable":
        """Sort the rows so that positions of one game are adjacent."""
        if not len(games) == len(self.results) == len(self):
            raise StudyError(
                f"{len(self):,} rows, {len(self.results):,} results and {len(games):,} games do "
                "not fit"
            )
        _, numbers = np.unique(games, return_inverse=True)
        numbered = replace(self, games=numbers.astype(np.uint32))
        if (np.diff(numbers) >= 0).all():
            return numbered
        return numbered.take(np.argsort(numbers, kind="stable"))

    def take(self, rows: NDArray[np.int64]) -> "FeatureTable":
        """Select rows by number, in any order."""
        counts = np.diff(self.starts)[rows]
        starts = np.append(0, np.cumsum(counts))
        places = np.repeat(self.starts[rows] - starts[:-1], counts) + np.arange(starts[-1])
        columns = ("results", "games", "ending", "base", "targets")
        chosen: dict[str, Any] = {name: getattr(self, name) for name in columns}
        arrays: dict[str, Any] = {
            name: None if each is None else each[rows] for name, each in chosen.items()
        }
        return replace(
            self,
            starts=starts,
            features=self.features[places],
            amounts=self.amounts[places],
            **arrays,
        )


FeatureFunction = Callable[[Any], Mapping[str, float]]
"""Maps a position to its feature amounts; omitted features are 0."""
LISTS: Final = ("features", "amounts")
"""List columns that replace one column per feature: feature names and their amounts."""
_RESULTS: Final = {
    **dict.fromkeys(("1-0", "1", "1.0"), 1.0),
    **dict.fromkeys(("0-1", "0", "0.0"), 0.0),
    **dict.fromkeys(("1/2-1/2", "½-½", "1/2", "½", "0.5"), 0.5),
    **dict.fromkeys(("*", ""), math.nan),
}
_ROWS_AT_ONCE: Final = 200_000


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """Roles of a table's columns."""

    features: Sequence[str] = option(
        (),
        "Feature column or pattern, repeatable; by default all other numeric columns.",
        name="feature",
        metavar="NAME",
    )
    result: str = "result"
    """1, 0.5 or 0; or 1-0, 1/2-1/2 or 0-1. Not needed for a study's positions."""
    game: str = "game_id"
    phase: str | None = None
    """Column with the progress of the game."""
    opening: float = 0.0
    ending: float = 1.0
    """Values of the phase column at which only the opening or only the ending weights count."""
    base: str | None = option(
        None, "Column with a score to which the features are added.", metavar="COLUMN"
    )
    toward: str | None = option(
        None,
        "Second target: an evaluator of the study, or a column (`value`, or scores).",
        metavar="EVALUATOR|COLUMN",
    )

    @property
    def named(self) -> list[str]:
        """Columns that are not features."""
        named = (self.result, self.game, self.phase, self.base, self.toward, *NAMING)
        return [name for name in named if name is not None]


def feature_table(
    source: object,
    study: Study | None = None,
    columns: TableColumns | None = None,
    *,
    where: str | None = None,
    draws: DrawnGames = "half",
    progress: OnProgress | None = None,
) -> FeatureTable:
    """Load features from a file, a data frame, or a function of positions.

    With a study, rows match its positions (those that satisfy `where`) and take their results.
    Without one, the table needs columns for the result and the game. A function needs a study.
    """
    columns = columns or TableColumns()
    if callable(source):
        if study is None:
            raise StudyError("a function of positions needs a study that has them")
        table = _from_function(study, source, where, progress)
        words = f"features by {getattr(source, '__name__', 'a function')}"
    else:
        table = read_table(source)
        words = f"features in {source}" if isinstance(source, str | Path) else "features in a table"
    if not len(table):
        raise SourceError(f"{words}: it has no rows")
    matrix = _matrix(table, columns, words, progress)
    own = _stated_columns(table, columns, words)
    left_out = 0
    if study is None:
        results = _results(table, columns.result, words)
        games = _needed(table, columns.game, words, "the game of each position")
        if table[columns.game].null_count:
            raise SourceError(f"{words}: {columns.game} is not said of every position")
        unit, game = "points", ""
    else:
        used = {*matrix.names, *LISTS, columns.phase, columns.base, columns.toward}
        stated = table.select([n for n in table.column_names if n in {*used, *NAMING}])
        rows, results, games, left_out, targets = _of_study(study, stated, columns, words, where)
        matrix = matrix.take(rows)
        own = {name: each[rows] for name, each in own.items()}
        own |= targets
        unit, game = game_facts(study.game).naming.unit, study.game
    keep = np.isfinite(results)
    if draws == "drop":
        keep &= results != 0.5
    if not keep.any():
        raise StudyError(f"{words}: no position is of a game with a result that counts")
    targets_are_scores = bool(own.pop("targets_are_scores", np.zeros(1))[0])
    result = replace(
        matrix,
        results=results.astype(np.float32),
        targets_are_scores=targets_are_scores,
        unit=unit,
        source=words,
        game=game,
        left_out=left_out + int((~keep).sum()),
        **own,
    )
    _, numbers = np.unique(games, return_inverse=True)
    if study is None:
        result = replace(result, mixed_games=_several_results(results, numbers))
    if not keep.all():
        result, numbers = result.take(np.flatnonzero(keep)), numbers[keep]
    return result.in_games(numbers)


def _from_function(
    study: Study, function: FeatureFunction, where: str | None, progress: OnProgress | None
) -> pa.Table:
    """Apply a function to a study's positions; return lists of features and amounts."""
    chosen = study.select(where)
    places = study.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())
    numbers: dict[str, int] = {}
    features, amounts, starts = [], [], [0]
    tally = Tally(progress, "features", len(chosen), "positions")
    for row, position in enumerate(places.positions()):
        amounts_by_name = {
            name: float(amount) for name, amount in function(position).items() if amount
        }
        here = sorted(
            (numbers.setdefault(name, len(numbers)), each) for name, each in amounts_by_name.items()
        )
        features += [number for number, _ in here]
        amounts += [amount for _, amount in here]
        starts.append(len(features))
        if row % 1000 == 999:
            tally.add(1000)
    if not numbers:
        raise StudyError("the function names no feature of any position")
    lists = [
        pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), pa.array(values, kind))
        for values, kind in ((features, pa.uint16()), (amounts, pa.float32()))
    ]
    result = pa.table(
        {**{name: chosen[name] for name in KEYS}, **dict(zip(LISTS, lists, strict=True))}
    )
    return result.replace_schema_metadata({"names": "\n".join(numbers)})


def _matrix(
    table: pa.Table, columns: TableColumns, words: str, progress: OnProgress | None
) -> FeatureTable:
    """The feature matrix, without results and games."""
    names, starts, features, amounts = (
        _listed(table, words)
        if set(LISTS) <= set(table.column_names)
        else _gathered(table, _feature_names(table, columns, words), words, progress)
    )
    if not np.isfinite(amounts).all():
        row = int(np.searchsorted(starts, np.flatnonzero(~np.isfinite(amounts))[0], "right"))
        raise SourceError(f"{words}: row {row} has a feature that is no finite number")
    nothing = np.zeros(len(table))
    return FeatureTable(
        names,
        starts,
        features,
        amounts,
        nothing.astype(np.float32),
        nothing.astype(np.uint32),
    )


Listed = tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.uint16], NDArray[np.float32]]


def _listed(table: pa.Table, words: str) -> Listed:
    """Features from list columns; already sorted rows are used unchanged."""
    which, much = (table[name].combine_chunks() for name in LISTS)
    try:
        starts = np.append(0, np.cumsum(which.value_lengths().fill_null(0).to_numpy()))
        numbers = which.flatten().to_numpy(zero_copy_only=False)
        amounts = much.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    except (AttributeError, pa.ArrowException) as error:
        raise SourceError(f"{words}: features and amounts are not lists of numbers") from error
    if len(numbers) != len(amounts) or not np.array_equal(
        which.value_lengths().fill_null(0), much.value_lengths().fill_null(0)
    ):
        raise SourceError(f"{words}: a row has more features than amounts, or fewer")
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < MOST_FEATURES:
        raise SourceError(f"{words}: features are numbers from 0 to {MOST_FEATURES - 1:,}")
    features = numbers.astype(np.uint16)
    falls = np.flatnonzero(np.diff(numbers.astype(np.int64)) <= 0) + 1
    if np.setdiff1d(falls, starts).size:
        raise SourceError(f"{words}: the features of a row must rise")
    count = int(numbers.max()) + 1 if len(numbers) else 0
    listed_names = (table.schema.metadata or {}).get(b"names", b"").decode()
    names = (
        tuple(listed_names.split("\n")) if listed_names else tuple(f"f{i}" for i in range(count))
    )
    if len(names) < count:
        raise SourceError(f"{words}: {len(names)} names for {count} features")
    return names, starts.astype(np.int64), features, amounts


def _feature_names(table: pa.Table, columns: TableColumns, words: str) -> list[str]:
    others = [name for name in table.column_names if name not in columns.named]
    if columns.features:
        try:
            others = matching_names(others, columns.features, "column")
        except NotationError as error:
            raise SourceError(f"{words}: {error}") from error
    for name in others:
        kind = table.schema.field(name).type
        if not (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        ):
            raise SourceError(
                f"{words}: column '{name}' is no number but {kind}; choose the features by name"
            )
    if not others:
        raise SourceError(f"{words}: no column is a feature")
    return others


def _gathered(
    table: pa.Table, names: Sequence[str], words: str, progress: OnProgress | None
) -> Listed:
    """Nonzero features from one column per feature, read in blocks of rows."""
    starts, features, amounts = [np.zeros(1, np.int64)], [], []
    tally = Tally(progress, "features", len(table), "positions")
    done = 0
    for begin in range(0, len(table), _ROWS_AT_ONCE):
        some = table.slice(begin, _ROWS_AT_ONCE)
        block = np.empty((len(some), len(names)), np.float32)
        for number, name in enumerate(names):
            column = some[name]
            if column.null_count:
                row = begin + int(np.flatnonzero(np.asarray(column.is_null()))[0]) + 1
                raise SourceError(f"{words}: row {row} has no {name}")
            block[:, number] = column.to_numpy()
        rows, which = np.nonzero(block)
        starts.append(done + np.cumsum(np.bincount(rows, minlength=len(some))))
        features.append(which.astype(np.uint16))
        amounts.append(block[rows, which])
        done += len(rows)
        tally.add(len(some))
    return (
        tuple(names),
        np.concatenate(starts).astype(np.int64),
        np.concatenate(features),
        np.concatenate(amounts),
    )


def _stated_columns(table: pa.Table, columns: TableColumns, words: str) -> dict[str, Any]:
    """The phase, base and target columns that the table has."""
    own: dict[str, Any] = {}
    if columns.phase is not None:
        numbers = _numbers(table, columns.phase, words)
        reach = columns.ending - columns.opening
        if reach == 0 or not math.isfinite(reach):
            raise StudyError(
                "the phase is one finite number in the opening and another in the ending, not "
                f"{columns.opening:g} and {columns.ending:g}"
            )
        late = (numbers - columns.opening) / reach
        if ((late < 0) | (late > 1)).any():
            raise SourceError(
                f"{words}: {columns.phase} goes from {numbers.min():g} to {numbers.max():g}, not "
                f"from {columns.opening:g} in the opening to {columns.ending:g} in the ending"
            )
        own["ending"] = late.astype(np.float32)
    if columns.base is not None:
        own["base"] = _numbers(table, columns.base, words)
    if columns.toward is not None and columns.toward in table.column_names:
        targets = _numbers(table, columns.toward, words)
        own["targets"] = targets
        is_value = columns.toward == "value"
        if is_value and ((targets < 0) | (targets > 1)).any():
            raise SourceError(f"{words}: a value is from 0 to 1; call a column of scores 'score'")
        own["targets_are_scores"] = np.array([not is_value])
    return own


def _of_study(
    study: Study, table: pa.Table, columns: TableColumns, words: str, where: str | None
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], int, dict[str, NDArray[Any]]]:
    """Match rows to a study: row numbers, results, games, excluded rows, other columns."""
    matched = find_rows(study, table, words)
    at = pa.table(
        {"game_id": matched.games, "ply": matched.plies.astype(np.int32), "row": matched.rows}
    )
    positions = study.select(where, "game_id, ply, coalesce(adjudicated, result) as result")
    positions = positions.set_column(1, "ply", positions["ply"].cast(pa.int32()))
    targets: dict[str, NDArray[Any]] = {}
    if columns.toward is not None and columns.toward not in table.column_names:
        engine = chosen_evaluator(study, columns.toward)
        scored = column_scores(study, engine)
        numbers, targets_are_scores = scored.numbers, scored.are_scores
        scored = pa.table({"game_id": scored.games, "ply": scored.plies, "targets": numbers})
        positions = positions.join(scored, list(KEYS), join_type="inner")
    joined = at.join(positions, list(KEYS), join_type="inner").sort_by(
        [("game_id", "ascending"), ("ply", "ascending")]
    )
    if not len(joined):
        raise StudyError(f"{words}: none of its rows is of a position that was asked for")
    if "targets" in joined.column_names:
        targets = {
            "targets": joined["targets"].to_numpy(),
            "targets_are_scores": np.array([targets_are_scores]),
        }
    results = joined["result"].to_numpy(zero_copy_only=False).astype(np.float64)
    lost = matched.lost + len(matched) - len(joined)
    return joined["row"].to_numpy(), results, joined["game_id"].to_numpy(), lost, targets


def _several_results(results: NDArray[np.float64], games: NDArray[Any]) -> int:
    """Number of games whose positions have different results (perhaps the mover's)."""
    decided = np.flatnonzero(np.isfinite(results))
    _, first, place = np.unique(games[decided], return_index=True, return_inverse=True)
    differs = results[decided] != results[decided[first][place]]
    return len(np.unique(games[decided][differs]))


def _needed(table: pa.Table, name: str, words: str, what: str) -> NDArray[Any]:
    if name not in table.column_names:
        hint = nearest(name, table.column_names) or f"columns: {', '.join(table.column_names[:20])}"
        raise SourceError(f"{words}: no column '{name}' for {what}; {hint}")
    return np.asarray(table[name].to_numpy(zero_copy_only=False))


def _numbers(table: pa.Table, name: str, words: str) -> NDArray[np.float64]:
    try:
        numbers = _needed(table, name, words, "that").astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SourceError(f"{words}: {name} is not all numbers") from error
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0]) + 1
        raise SourceError(f"{words}: row {row}: {name} is no finite number")
    return numbers


def _results(table: pa.Table, name: str, words: str) -> NDArray[np.float64]:
    """Results as numbers; NaN for games without a result."""
    values = _needed(table, name, words, "the results; a study may know them")
    if values.dtype == object:
        texts = ["" if each is None else str(each).strip() for each in values]
        strange = next((row for row, text in enumerate(texts) if text not in _RESULTS), None)
        if strange is not None:
            raise SourceError(
                f"{words}: row {strange + 1}: a result is 1-0, 0-1, 1/2-1/2, or * where there is "
                f"none, not '{texts[strange][:40]}'"
            )
        return np.array([_RESULTS[text] for text in texts])
    results = values.astype(np.float64)
    wrong = np.isfinite(results) & ~((results >= 0) & (results <= 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise SourceError(f"{words}: row {row + 1}: a result is 1, 0.5 or 0, not {results[row]:g}")
    return results
