# SPDX-License-Identifier: Apache-2.0
"""The tables of a study for SQL: a snapshot of its manifests."""

import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hyoka.foundation.errors import StudyError
from hyoka.games import facts_named
from hyoka.storage.manifest import (
    DERIVED,
    DESCRIPTION,
    Manifest,
    Part,
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
        ("nodes", pa.int64()),
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
class GameChoice:
    """Some games of a study: those of a range of ids, of some ranges, or a random share of these.

    A game is in the random share if a hash of its id is small enough, so that smaller shares are
    parts of larger ones.
    """

    low: int = 0
    high: int | None = None
    """The end of the range, exclusive; None: unlimited."""
    share: float = 1.0
    among: tuple[tuple[int, int | None], ...] = ()
    """Ranges; by default one from `low` to `high`."""

    def condition(self) -> ds.Expression | None:
        """The condition on the column `game_id`; None if all games are chosen."""
        game = pc.field("game_id")
        ranges = [_between(game, low, high) for low, high in self._ranges]
        chosen = functools.reduce(operator.or_, ranges) if ranges else None
        if self.share < 1:
            drawn = _hash(game) < round(self.share * (_MASK + 1))
            chosen = drawn if chosen is None else chosen & drawn
        return chosen

    @property
    def _ranges(self) -> tuple[tuple[int, int | None], ...]:
        """The ranges; empty if there is no limit."""
        return self.among or (
            ((self.low, self.high),) if (self.low, self.high) != (0, None) else ()
        )

    def of(self, manifest: Manifest) -> Manifest:
        """Leave out the parts that have no game of the ranges, but the first of each table."""
        if not self._ranges or not manifest.sealed:
            return manifest
        held = np.zeros(len(manifest.parts), bool)
        if self.high != 0:
            first, last = _game_ranges(manifest)
            for low, high in self._ranges:
                held |= (last >= low) & (first < (np.inf if high is None else high))
        tables = [part.table for part in manifest.parts]
        held[[tables.index(table) for table in set(tables)]] = True  # they have the schemas
        parts = tuple(manifest.parts[i] for i in np.flatnonzero(held).tolist())
        return replace(manifest, parts=parts, names=tuple(part.name for part in parts))


_latest_ranges: Final[list[tuple[tuple[Part, ...], tuple[NDArray[Any], NDArray[Any]]]]] = []
_MANIFESTS_KEPT: Final = 32


NO_GAMES: Final = GameChoice(high=0)
"""Chooses no games, to see the columns of tables."""


def _game_ranges(manifest: Manifest) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first and the last game of each part; read once for each version of a manifest."""
    for parts, ranges in list(_latest_ranges):
        if parts is manifest.parts:
            return ranges
    each = [_game_range(manifest.folder / part.name) for part in manifest.parts]
    first, last = np.array(each, np.float64).reshape(-1, 2).T
    _latest_ranges.insert(0, (manifest.parts, (first, last)))
    del _latest_ranges[_MANIFESTS_KEPT:]
    return first, last


def _between(game: ds.Expression, low: int, high: int | None) -> ds.Expression:
    return game >= low if high is None else (game >= low) & (game < high)


_MASK: Final = (1 << 31) - 1


def _hash(game: ds.Expression) -> ds.Expression:
    """A pseudorandom number of 31 bits for each game id."""
    x: Any = pc.bit_wise_and(game, _MASK)
    for factor, shift in ((1_664_525, 15), (1_103_515_245, 13)):
        x = pc.bit_wise_and(pc.multiply(x, factor), _MASK)
        x = pc.bit_wise_xor(x, pc.shift_right(x, shift))
    return pc.bit_wise_and(pc.multiply(x, 1_566_083_941), _MASK)


def _game_range(file: Path) -> tuple[float, float]:
    """The first and the last game of a part; unlimited if the part does not say."""
    with reading(file):
        metadata = pq.read_metadata(file)
    first, last = np.inf, -np.inf
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        places = [
            j for j in range(group.num_columns) if group.column(j).path_in_schema == "game_id"
        ]
        statistics = group.column(places[0]).statistics if places else None
        if statistics is None or not statistics.has_min_max:
            return -np.inf, np.inf
        first, last = min(first, statistics.min), max(last, statistics.max)
    return first, last


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a study's manifests."""

    study: Manifest
    derived: dict[str, dict[str, Manifest]]
    """Manifests of the tables in `DERIVED` by name."""
    chosen: GameChoice | None = None
    """The games that queries see; None: all."""

    @classmethod
    def of(cls, folder: Path, chosen: GameChoice | None = None) -> Self:
        """The current state of a study; raises StudyError if a manifest is damaged."""
        study = read_manifest(folder / DESCRIPTION)
        derived = {table: _derived_manifests(folder, table) for table in DERIVED}
        if chosen is not None:
            study = chosen.of(study)
            derived = {
                table: {name: chosen.of(manifest) for name, manifest in manifests.items()}
                for table, manifests in derived.items()
            }
        return cls(study, derived, chosen)

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
        files = [file for manifest in self.derived[table].values() for file in manifest.files()]
        return self._some_games(
            files,
            schema=schema,
            partitioning=ds.partitioning(key, flavor="hive"),
            partition_base_dir=str(self.study.folder / table),
        )

    def _own(self, name: str) -> Any:
        files = self.derived["columns"][name].files()
        with reading(files[0]):
            schema = pq.read_schema(files[0])
        return self._some_games(files, schema=schema)

    def _dataset(self, table: str, schema: pa.Schema | None) -> Any:
        files = self.study.files(table)
        if not files and schema is not None:
            return schema.empty_table()
        if not files:
            raise StudyError(f"{self.study.folder}: this study has no {table}")
        with reading(files[0]):
            schema = schema or pq.read_schema(files[0])
        return self._some_games(files, schema=schema)

    def _some_games(self, files: Sequence[Path], *, schema: pa.Schema, **options: Any) -> Any:
        """The rows of the chosen games in some files."""
        condition = None
        if self.chosen is not None and "game_id" in schema.names:
            condition = self.chosen.condition()
        if not files:
            return schema.empty_table()
        names = [str(file) for file in files]
        table = ds.dataset(names, format=_CHECKED, schema=schema, **options)
        return table if condition is None else table.filter(condition)


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
