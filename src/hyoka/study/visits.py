# SPDX-License-Identifier: Apache-2.0
"""What the search that played a study's games visited: which moves of a position, and how often."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.study.layout import now
from hyoka.study.manifest import SEARCH, changing
from hyoka.study.study import Study
from hyoka.study.tables import VISIT_SCHEMA, position_keys

_PART_ROWS: Final = 200_000
_KIND: Final = "uct"


@dataclass(frozen=True, eq=False)
class Visits:
    """By position: the codes of moves, and how often each was visited."""

    offsets: NDArray[np.int64]
    """Position i's moves are those from offsets[i] to offsets[i + 1]; none: nobody knows."""
    moves: NDArray[np.uint16]
    visits: NDArray[np.uint32]


def keep_visits(
    study: Study, search: str, games: NDArray[Any], plies: NDArray[Any], visits: Visits
) -> None:
    """Keep what a search visited in these positions; what was kept before is replaced."""
    rows = pa.table(
        [
            pa.array(games, pa.int64()),
            pa.array(plies, pa.int32()),
            _lists(visits.offsets, pa.array(visits.moves, pa.uint16())),
            _lists(visits.offsets, pa.array(visits.visits, pa.uint32())),
        ],
        schema=VISIT_SCHEMA,
    )
    with changing(_manifest(study.path), "visits") as new:
        starts = range(0, max(1, len(rows)), _PART_ROWS)
        new.parts = [new.write(rows.slice(start, _PART_ROWS)) for start in starts]
        new.values = {"search": search, "created": now()}
        new.commit()


def has_visits(study: Path) -> bool:
    """Whether `keep_visits` has been told anything about the study in this folder."""
    return _manifest(study).exists()


def _manifest(study: Path) -> Path:
    return study / "visits" / f"search={_KIND}" / SEARCH


def stored_visits(study: Study, games: NDArray[Any], plies: NDArray[Any]) -> Visits:
    """What `keep_visits` was told of these positions."""
    rows = study.sql("select * from visits order by game_id, ply").combine_chunks()
    keys = position_keys(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
    wanted = position_keys(games, plies)
    place = np.searchsorted(keys, wanted)
    known = np.append(keys, -1)[place] == wanted
    moves, visits = (_flat(rows[name]) for name in ("moves", "visits"))
    lengths = np.append(np.diff(moves[0]), 0)
    begins = moves[0]
    counts = np.where(known, lengths[place], 0)
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
