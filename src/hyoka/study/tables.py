# SPDX-License-Identifier: Apache-2.0
"""The tables of a study for SQL: a snapshot of its manifests."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray

from hyoka.foundation.errors import StudyError
from hyoka.games import facts_named
from hyoka.storage.manifest import (
    DERIVED,
    DESCRIPTION,
    Manifest,
    damaged_part,
    derived_files,
    read_manifest,
    reading,
)
from hyoka.study.sql import UnreadableError, connection, position_texts, run_query

REMARK_SCHEMA: Final = pa.schema(
    [
        ("game_id", pa.int64()),
        ("ply", pa.int32()),
        ("value", pa.float32()),
        ("score", pa.float32()),
        ("mate", pa.int16()),
        ("depth", pa.int16()),
        ("clock_s", pa.float32()),
        ("spent_s", pa.float32()),
        ("book", pa.bool_()),
        ("author", pa.string()),
        ("nags", pa.list_(pa.uint16())),
        ("text", pa.string()),
        ("properties", pa.string()),
    ]
)
EVALUATION_SCHEMA: Final = pa.schema(
    [
        ("game_id", pa.int64()),
        ("ply", pa.int32()),
        ("value", pa.float32()),
        ("score", pa.float32()),
        ("unit", pa.string()),
        ("mate", pa.int16()),
        ("win", pa.float32()),
        ("draw", pa.float32()),
        ("loss", pa.float32()),
        ("best", pa.string()),
        ("depth", pa.int16()),
        ("nodes", pa.int64()),
        ("time_s", pa.float32()),
        ("author", pa.string()),
        ("failed", pa.string()),
    ]
)
"""`author` is the author of the value if one evaluator has several, as with comments."""
ADJUDICATION_SCHEMA: Final = pa.schema(
    [("game_id", pa.int64()), ("ply", pa.int32()), ("result", pa.float32())]
)
"""For positions, or for records: then `ply` is the last adjudicated ply, and `result` may be null.
"""
RANKING_SCHEMA: Final = pa.schema(
    [
        ("game_id", pa.int64()),
        ("ply", pa.int32()),
        ("rank", pa.int32()),
        ("surprise", pa.float32()),
        ("entropy", pa.float32()),
    ]
)
"""The rank of the played move by a move model; null if no move was played."""
CATEGORY_SCHEMA: Final = pa.schema(
    [
        ("game_id", pa.int64()),
        ("ply", pa.int32()),
        ("progress_eighth", pa.int8()),
        ("best_move_changes", pa.int8()),
        ("correct_depth", pa.int8()),
    ]
)
"""The categories of a position; null if unknown."""
VISIT_SCHEMA: Final = pa.schema(
    [
        ("game_id", pa.int64()),
        ("ply", pa.int32()),
        ("moves", pa.list_(pa.uint16())),
        ("visits", pa.list_(pa.uint32())),
    ]
)
"""Visits of the moves of a position, as move codes, by the search that played the game."""
_KEY_SCHEMA: Final = pa.schema([("game_id", pa.int64()), ("ply", pa.int32())])
_SCHEMAS: Final = {
    "evaluations": EVALUATION_SCHEMA,
    "adjudications": ADJUDICATION_SCHEMA,
    "winners": ADJUDICATION_SCHEMA,
    "rankings": RANKING_SCHEMA,
    "categories": CATEGORY_SCHEMA,
    "visits": VISIT_SCHEMA,
    "columns": _KEY_SCHEMA,
}
CATEGORY_COLUMNS: Final = tuple(CATEGORY_SCHEMA.names[2:])
_TAGS: Final = pa.field("tags", pa.map_(pa.string(), pa.string()))
"""Columns of games that earlier versions lack."""
_REFUSED_SCHEMA: Final = pa.schema(
    [
        ("source", pa.string()),
        ("line", pa.int64()),
        ("number", pa.int64()),
        ("ply", pa.int64()),
        ("fault", pa.string()),
        ("reason", pa.string()),
    ]
)
_NOT_FOR_CONDITIONS: Final = ("moves", "start")
_CHECKED: Final = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
)
"""Verifies the checksum of every page that is read."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a study's manifests."""

    study: Manifest
    derived: dict[str, dict[str, Manifest]]
    """Manifests of the tables in `DERIVED` by name."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The current state of a study; raises StudyError if a manifest is damaged."""
        return cls(
            read_manifest(folder / DESCRIPTION),
            {table: _derived_manifests(folder, table) for table in DERIVED},
        )

    @property
    def manifests(self) -> Iterator[Manifest]:
        """List all manifests."""
        yield self.study
        for manifests in self.derived.values():
            yield from manifests.values()

    def query(self, query: str) -> pa.Table:
        """Run one SELECT; raises ConditionError, or StudyError if a part is damaged."""
        try:
            with position_texts(
                self._connection, query, self.study.values["game"], self._replayable
            ):
                return run_query(self._connection, query)
        except UnreadableError as error:
            # Arrow does not name the damaged part; the checksums do.
            for manifest in self.manifests:
                if (damage := damaged_part(manifest)) is not None:
                    raise StudyError(damage) from error
            raise StudyError(f"{self.study.folder}: {error}") from error

    @cached_property
    def _connection(self) -> Any:
        tables = {
            "games_": self._games(),
            "positions_": self._dataset("positions", None),
            "remarks_": self._dataset("remarks", REMARK_SCHEMA),
            "refused": self._dataset("refused", _REFUSED_SCHEMA),
            **{f"{table}_": self._partitioned(table) for table in DERIVED},
            **{f"column {name}": self._own(name) for name in self.derived["columns"]},
        }
        wide = {name: _wide(table.schema) for name, table in tables.items()}
        colors = facts_named(self.study.values["game"]).naming.columns
        players = ", ".join(
            f'{mine}{suffix} as "{other}{suffix}"'
            for mine, other in zip(("first", "second"), colors, strict=True)
            for suffix in ("", "_rating", "_rank")
        )
        hidden = ", ".join(_NOT_FOR_CONDITIONS)
        ranked = "".join(
            f", {column}" for name in self.derived["rankings"] for column in _ranked(name)
        )
        rankings = "\n".join(map(_joined_ranking, self.derived["rankings"]))
        categorised, categories = "", ""
        if self.derived["categories"]:
            kinds = (f", cast(c.{name} as bigint) as {name}" for name in CATEGORY_COLUMNS)
            categorised = "".join(kinds)
            categories = "left join categories_ c using (game_id, ply)"
        own = "".join(f', "column {name}".value as "{name}"' for name in self.derived["columns"])
        columns = "\n".join(
            f'left join "column {name}" using (game_id, ply)' for name in self.derived["columns"]
        )
        views = {
            "games": f"select {wide['games_']}, {players} from games_ t",
            "positions": f"""
                select {wide["positions_"]}, g.* exclude (game_id, {hidden}),
                    coalesce(a.known, w.winner) as adjudicated{ranked}{categorised}{own}
                from positions_ t join games g using (game_id)
                left join (select game_id, ply, any_value(result) as known
                           from adjudications_ group by game_id, ply) a using (game_id, ply)
                left join (select game_id, arg_min(result, ply) as winner from winners_
                           where result is not null group by game_id) w using (game_id)
                {rankings}
                {categories}
                {columns}""",
            "tags": """
                select game_id, unnest(map_keys(tags)) as name, unnest(map_values(tags)) as value
                from games_""",
            "remarks": f"select {wide['remarks_']} from remarks_ t",
            **{
                table: f"select {wide[f'{table}_']} from {table}_ t"
                for table in DERIVED
                if table != "columns"
            },
        }
        return connection(tables, views)

    def _games(self) -> Any:
        games = self._dataset("games", None)
        if "tags" in games.schema.names:
            return games
        return self._dataset("games", games.schema.append(_TAGS))

    def _replayable(self) -> pa.Table:
        return self._games().to_table(columns=["game_id", "start", "komi", "moves"])

    def _partitioned(self, table: str) -> Any:
        key = pa.schema([(DERIVED[table], pa.string())])
        schema = pa.unify_schemas([_SCHEMAS[table], key])
        files = [
            str(file) for manifest in self.derived[table].values() for file in manifest.files()
        ]
        if not files:
            return schema.empty_table()
        return ds.dataset(
            files,
            format=_CHECKED,
            schema=schema,
            partitioning=ds.partitioning(key, flavor="hive"),
            partition_base_dir=str(self.study.folder / table),
        )

    def _own(self, name: str) -> Any:
        files = self.derived["columns"][name].files()
        with reading(files[0]):
            return ds.dataset([str(file) for file in files], format=_CHECKED)

    def _dataset(self, table: str, schema: pa.Schema | None) -> Any:
        files = self.study.files(table)
        if not files and schema is not None:
            return schema.empty_table()
        if not files:
            raise StudyError(f"{self.study.folder}: this study has no {table}")
        with reading(files[0]):
            return ds.dataset([str(file) for file in files], format=_CHECKED, schema=schema)


def position_keys(games: NDArray[Any], plies: NDArray[Any]) -> NDArray[np.int64]:
    """Combine game and ply into one number."""
    return games.astype(np.int64) << np.int64(20) | plies.astype(np.int64)


def find_positions(
    rows: pa.Table, games: NDArray[Any], plies: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find positions in rows that are ordered by game and ply: their places, and which are there.

    The place of a position that is not there may be the number of rows.
    """
    keys = position_keys(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
    targets = position_keys(games, plies)
    place = np.searchsorted(keys, targets)
    return place, np.append(keys, -1)[place] == targets


def ranking_columns(name: str) -> tuple[str, ...]:
    """Return the names of a move model's columns.

    >>> ranking_columns("mets")
    ('mets_rank', 'mets_surprise', 'mets_entropy')
    """
    return tuple(f"{name}_{column}" for column in RANKING_SCHEMA.names[2:])


def _ranked(name: str) -> Iterator[str]:
    for column, own in zip(RANKING_SCHEMA.names[2:], ranking_columns(name), strict=True):
        wide = "bigint" if column == "rank" else "double"
        yield f'cast("of {name}".{column} as {wide}) as "{own}"'


def _joined_ranking(name: str) -> str:
    return (
        f"left join (select game_id, ply, rank, surprise, entropy from rankings_ "
        f"where model = '{name}') \"of {name}\" using (game_id, ply)"
    )


def _derived_manifests(folder: Path, table: str) -> dict[str, Manifest]:
    manifests = {name: read_manifest(file) for name, file in derived_files(folder, table).items()}
    return {name: manifest for name, manifest in manifests.items() if manifest.names}


def _wide(schema: pa.Schema) -> str:
    """Select a table's columns with 64-bit integers: `material * phase` must not overflow.

    On disk and in joins they stay small.
    """
    casts = [
        f'cast(t."{column.name}" as bigint) as "{column.name}"'
        for column in schema
        if pa.types.is_integer(column.type) and column.type.bit_width < 64
    ]
    return f"t.* replace ({', '.join(casts)})" if casts else "t.*"
