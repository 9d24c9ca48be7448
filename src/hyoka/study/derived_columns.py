# SPDX-License-Identifier: Apache-2.0
"""Tables computed for positions: ranks of the played moves, categories, and visits of searches."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.foundation.errors import ParameterError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.models.loading import move_model
from hyoka.models.training_games import LearnedGames
from hyoka.search import SearchSpec
from hyoka.search.difficulty import CATEGORIES, SEARCH, Categories, categories_of
from hyoka.storage.files import now
from hyoka.storage.game_ids import game_id
from hyoka.storage.manifest import changing, derived_file
from hyoka.storage.model_file import ModelFile
from hyoka.study.study import Study
from hyoka.study.tables import (
    CATEGORY_COLUMNS,
    CATEGORY_SCHEMA,
    RANKING_SCHEMA,
    VISIT_SCHEMA,
    find_positions,
    ranking_columns,
)

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class RankingSummary:
    """The counts of a ranking of played moves."""

    name: str
    positions: int
    ranked: int
    """The number of positions with a rankable move."""
    first: float
    """The share in which the move was ranked first."""
    columns: tuple[str, ...]
    """The names of the new columns."""
    games: int
    learned_games: int
    """The number of games from which the model was fitted, or may have been."""
    note: str
    """The evidence for that; empty if there are no such games."""


def rank_moves(
    study: Study,
    model: str | Path | ModelFile,
    name: str,
    *,
    progress: OnProgress | None = None,
) -> RankingSummary:
    """Rank the moves of every position by a move model, and store the result as columns.

    `NAME_rank` is the rank of the move played, 1 for the best; `NAME_surprise` is -log of its
    probability; `NAME_entropy` the entropy of the model's distribution in nats. Null where no move
    was played. Existing columns of this name are replaced.
    """
    if not _NAME.fullmatch(name):
        raise ParameterError("name", "is lowercase letters, digits and _, starting with a letter")
    ranking = move_model(study.game, model)
    taken = set(study.condition_columns()) - set(_columns_there(study, name))
    if clash := taken & set(ranking_columns(name)):
        raise ParameterError("name", f"makes column {min(clash)}, which exists; choose another")
    chosen = study.select(None)
    table = study.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())
    tally = Tally(progress, name, len(table), "positions")
    predictions = table.predictions(ranking, progress=tally.reach)
    tally.reach(len(table))
    is_ranked = predictions.ranks > 0
    rows = pa.table(
        [
            pa.array(chosen["game_id"].to_numpy()),
            pa.array(chosen["ply"].to_numpy().astype(np.int32)),
            pa.array(predictions.ranks, mask=~is_ranked),
            pa.array(predictions.losses, mask=~is_ranked),
            pa.array(predictions.entropies, mask=np.isnan(predictions.entropies)),
        ],
        schema=RANKING_SCHEMA,
    )
    with changing(derived_file(study.path, "rankings", name), "ranking") as change:
        change.replace_all(rows, {"name": name, "model": str(model), "created": now()})
    first = float((predictions.ranks[is_ranked] == 1).mean()) if is_ranked.any() else 0.0
    ids = np.array([game_id(record.moves) for _, record in study.records()], np.uint64)
    learned = LearnedGames.of_model(study.game, model)
    return RankingSummary(
        name,
        len(table),
        int(is_ranked.sum()),
        first,
        ranking_columns(name),
        len(ids),
        int(learned.contains(ids).sum()),
        learned.note(ids),
    )


def _columns_there(study: Study, name: str) -> tuple[str, ...]:
    there = derived_file(study.path, "rankings", name).exists()
    return ranking_columns(name) if there else ()


_KIND: Final = "ab"
_WITHOUT_EFFECT: Final = ("depth", "nodes", "time", "book", "scale")
"""Settings that only stop a search elsewhere, or scale its scores."""


@dataclass(frozen=True)
class CategoriesSummary:
    """The number of positions per category."""

    search: str
    """The search that found the best moves."""
    positions: int
    counts: dict[str, dict[int, int]]
    """By column and category; positions without a category are unknown."""


def categorize(
    study: Study,
    *,
    spec: str | SearchSpec = SEARCH,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> CategoriesSummary:
    """Search every position to three depths, and store its categories as columns.

    `progress_eighth` is the progress of the game, 0 to 7; `best_move_changes` the number of
    changes of the best move from depth 1 to 3, 0 to 2; `correct_depth` the depth from which the
    move played is the best, 4 if it never is. The last two are null where no move was played. The
    categories of another search are replaced atomically. `spec` is an alpha-beta search.
    """
    search = _search_of(spec, study.game)
    with changing(derived_file(study.path, "categories", _KIND), "categories") as change:
        identity = {
            "search": str(search),
            "fingerprint": search.fingerprint,
            "contents": dict(search.dependencies) or None,
            "created": now(),
        }
        chosen = study.select(None)
        games, plies = chosen["game_id"].to_numpy(), chosen["ply"].to_numpy()
        table = study.game_table_of(games, plies)
        categorized = categories_of(table, spec=search, threads=threads, progress=progress)
        kinds = [pa.array(each, mask=each < 0) for each in categorized.by_class]
        rows = pa.table(
            [pa.array(games), pa.array(plies.astype(np.int32)), *kinds], schema=CATEGORY_SCHEMA
        )
        change.replace_all(rows, identity)
    counts = {
        name: {category: int((each == category).sum()) for category in categories}
        for name, each, categories in zip(
            CATEGORY_COLUMNS, categorized.by_class, CATEGORIES.values(), strict=True
        )
    }
    return CategoriesSummary(str(search), len(table), counts)


def _search_of(spec: str | SearchSpec, game: str) -> SearchSpec:
    search = (SearchSpec.from_text(spec) if isinstance(spec, str) else spec).validated_for(game)
    if search.kind != _KIND:
        raise ParameterError("spec", f"is {_KIND} or {_KIND}:SETTINGS, not {search.kind}")
    settings = {*dict(search.chosen), *search.parts}
    for name in _WITHOUT_EFFECT:
        if name in settings:
            raise ParameterError("spec", f"'{name}' has no effect on searches of depth 1 to 3")
    return search


def stored_categories(study: Study, games: NDArray[Any], plies: NDArray[Any]) -> Categories | None:
    """Load the categories that `categorize` stored for these positions; None if there are none.

    -1 if unknown, as for games added later.
    """
    if not study.category_columns:
        return None
    rows = study.sql("select * from categories order by game_id, ply")
    place, exists = find_positions(rows, games, plies)
    kinds = []
    for name in CATEGORY_COLUMNS:
        numbers = rows[name].fill_null(-1).to_numpy().astype(np.int8)
        kinds.append(np.where(exists, np.append(numbers, np.int8(-1))[place], np.int8(-1)))
    return Categories(*kinds)


_VISITS: Final = "uct"


@dataclass(frozen=True, eq=False)
class Visits:
    """The move codes of each position and their visits."""

    offsets: NDArray[np.int64]
    """The moves of position i are offsets[i] to offsets[i + 1]; none if unknown."""
    moves: NDArray[np.uint16]
    visits: NDArray[np.uint32]


def keep_visits(
    study: Study, search: str, games: NDArray[Any], plies: NDArray[Any], visits: Visits
) -> None:
    """Store a search's visits of positions, replacing all former ones."""
    rows = pa.table(
        [
            pa.array(games, pa.int64()),
            pa.array(plies, pa.int32()),
            _lists(visits.offsets, pa.array(visits.moves, pa.uint16())),
            _lists(visits.offsets, pa.array(visits.visits, pa.uint32())),
        ],
        schema=VISIT_SCHEMA,
    )
    with changing(derived_file(study.path, "visits", _VISITS), "visits") as change:
        change.replace_all(rows, {"search": search, "created": now()})


def has_visits(study: Path) -> bool:
    """Whether the study in this folder has visits."""
    return derived_file(study, "visits", _VISITS).exists()


def stored_visits(study: Study, games: NDArray[Any], plies: NDArray[Any]) -> Visits:
    """The stored visits of some positions."""
    rows = study.sql("select * from visits order by game_id, ply").combine_chunks()
    place, exists = find_positions(rows, games, plies)
    moves, visits = (_flat(rows[name]) for name in ("moves", "visits"))
    lengths = np.append(np.diff(moves[0]), 0)
    begins = moves[0]
    counts = np.where(exists, lengths[place], 0)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = np.repeat(begins[place] - offsets[:-1], counts) + np.arange(offsets[-1])
    return Visits(offsets, moves[1][places], visits[1][places])


def _lists(offsets: NDArray[np.int64], items: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), items)


def _flat(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Offsets and items of a column of lists."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    offsets = array.offsets.to_numpy().astype(np.int64)
    if not len(offsets):
        offsets = np.zeros(1, np.int64)
    items = array.values.to_numpy()[offsets[0] : offsets[-1]]
    return offsets - offsets[0], items
