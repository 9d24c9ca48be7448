# SPDX-License-Identifier: Apache-2.0
"""Import of records into a study: games are numbered, filtered, described and written by part."""

import collections
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import StudyError, named
from hyoka.foundation.options import option
from hyoka.games import facts_named
from hyoka.parallel import Run, WorkerState
from hyoka.records import Batch, Refused
from hyoka.records.bulk import GameTable
from hyoka.records.reading import MOST_UNREADABLE_KEPT, UnreadableNumber, unread_count
from hyoka.storage.manifest import Change, Part
from hyoka.study.duplicates import DuplicateMerger
from hyoka.study.sql import check_condition, connection, run_query

_PART_MOVES: Final = 400_000
"""The number of moves, or of games, at which a part is written."""
_PART_GAMES: Final = 20_000
_AUTHORS: Final = pa.array([None, "first", "second"], pa.string())
"""The authors by their codes in `remark_author`."""


@dataclass
class ImportSummary:
    """The counts of an import."""

    games: int = 0
    """Games in the study, including duplicates."""
    positions: int = 0
    duplicates: int = 0
    merged_duplicates: int = 0
    """Duplicates that added comments, evaluations or tags to the first copy."""
    values: int = 0
    """Positions with a value, score or mate in the records."""
    left_out: int = 0
    """Games excluded by the condition."""
    unreadable: int = 0
    """Unreadable numbers in comments."""
    first_unreadable: list[UnreadableNumber] = field(default_factory=list)
    refused: collections.Counter[str] = field(default_factory=collections.Counter)
    """Refused games by fault."""
    first_refused: list[Refused] = field(default_factory=list)
    game: str = ""

    @property
    def unread(self) -> int:
        """The number of unreadable files or parts of files."""
        return unread_count(self.refused)

    def note_refused(self, refused: Sequence[Refused]) -> None:
        """Count refused games and keep the first few."""
        self.refused.update(each.fault for each in refused)
        self.first_refused += refused[: max(0, 20 - len(self.first_refused))]

    def note_merged(self, merger: DuplicateMerger) -> None:
        """Count the duplicates that added something, and the evaluations among it."""
        self.merged_duplicates += merger.merged
        self.values += merger.evaluations

    def note_unreadable(self, batch: Batch, keep: NDArray[np.bool_]) -> None:
        """Count unreadable numbers in the comments of some games of a batch, and keep the first."""
        self.unreadable += int(batch.table.unreadable[keep].sum())
        room = MOST_UNREADABLE_KEPT - len(self.first_unreadable)
        self.first_unreadable += batch.first_unreadable(keep)[:room]


def chosen_columns(game: str, columns: str | Sequence[str]) -> list[str]:
    """The names of feature columns: `cheap`, `all`, `none`, or those named."""
    core_columns = _core.columns(game)
    if columns == "all":
        return [column.name for column in core_columns]
    if columns == "cheap":
        return [column.name for column in core_columns if not column.costly]
    if columns == "none":
        return []
    named = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else columns
    chosen: list[str] = []
    for name in named:
        if name in ("cheap", "all"):
            chosen += chosen_columns(game, name)
        elif name not in {column.name for column in core_columns}:
            names = ", ".join(column.name for column in core_columns)
            raise StudyError(f"no column '{name}' for {game}; known: {names}, and cheap, all, none")
        else:
            chosen.append(name)
    return list(dict.fromkeys(chosen))


@dataclass(frozen=True, kw_only=True)
class ImportPlan:
    """The options of an import."""

    where: str | None = option(
        None, 'SQL condition on games, such as "plies >= 40".', metavar="SQL"
    )
    columns: str | Sequence[str] = option(
        "all",
        "Columns that describe positions: all, cheap, none, or names.",
        metavar="COLUMNS",
        parse=lambda text: text,
    )
    format: str | None = option(None, "Format of the records; by default recognized.")
    strict: bool = option(False, "Stop at the first game that is refused.")


class Importer:
    """Writes batches of games as parts of a study; the change must be committed."""

    def __init__(
        self,
        change: Change,
        plan: ImportPlan,
        *,
        game: str | None = None,
        first_game: int = 0,
        seen: _core.GameSet | None = None,
    ) -> None:
        self._change = change
        self._where = plan.where
        self._columns_wanted = plan.columns
        self.columns: list[str] = []
        self._next_game = first_game
        self._seen = seen or _core.GameSet()
        self.report = ImportSummary(game=game or "")
        self._known_game = self._given_game = game
        self._merger = DuplicateMerger(change)

    def run(self, batches: Iterable[Batch]) -> None:
        """Import all batches; parts are written concurrently with reading."""
        jobs = max(1, min(4, os.cpu_count() or 1))
        works = (work for group in _grouped(batches) if (work := self._prepared(group)) is not None)
        # Pending parts are held in memory.
        with Run(_write, jobs=jobs, at_once=jobs + 1, name="hyoka-import") as run:
            for done in run.in_order(works):
                self._take(done.result)
        self._merger.apply()
        self.report.note_merged(self._merger)

    def _take(self, parts: list[Part]) -> None:
        self._change.parts += parts
        self.report.positions += sum(part.rows for part in parts if part.table == "positions")

    def _prepared(self, group: list[Batch]) -> Callable[[], list[Part]] | None:
        """Number and filter the games of a part; return the function that writes them."""
        refused = [each for batch in group for each in batch.refused]
        self.report.note_refused(refused)
        part_games: list[_PartGames] = []
        batches = [batch for batch in group if len(batch) > 0]
        tables_of = [batch.arrow() for batch in batches]
        for batch, rows, keep in zip(
            batches, tables_of, self._matching(batches, tables_of), strict=True
        ):
            count = int(keep.sum())
            self.report.left_out += len(batch) - count
            if count == 0:
                continue
            self._check_kind(batch, keep)
            self.report.note_unreadable(batch, keep)
            duplicate_of = self._seen.add(batch.table, keep, self._next_game)
            ids = np.arange(self._next_game, self._next_game + count, dtype=np.int64)
            self._next_game += count
            self.report.games += count
            self.report.duplicates += int((duplicate_of >= 0).sum())
            part_games.append(_PartGames(batch.table, rows, keep, ids, duplicate_of))
        self.report.values += sum(each.value_count for each in part_games)
        if not part_games and not refused:
            return None
        columns, change = self.columns, self._change
        number = change.next_number
        change.next_number += 1

        def work() -> list[Part]:
            tables = {"refused": _refused_table(refused)} if refused else {}
            if part_games:
                tables["games"] = pa.concat_tables(each.games() for each in part_games)
                tables["positions"] = pa.concat_tables(
                    each.positions(columns) for each in part_games
                )
            if any(each.remark_count for each in part_games):
                remarks = [each.remarks(each.unique) for each in part_games]
                tables["remarks"] = pa.concat_tables(remarks, promote_options="default")
            if any(each.repeats for each in part_games):
                games = tables["games"]
                repeated = [each.remarks(each.repeated) for each in part_games if each.repeats]
                self._merger.collect(
                    number,
                    games.filter(games["duplicate_of"].is_valid()),
                    pa.concat_tables(repeated, promote_options="default"),
                )
            return [change.write(table, name, number) for name, table in tables.items()]

        return work

    def _matching(
        self, batches: Sequence[Batch], tables: Sequence[pa.Table]
    ) -> list[NDArray[np.bool_]]:
        if self._where is None:
            return [np.ones(len(batch), dtype=np.bool_) for batch in batches]
        return games_of_batches_where(self._where, batches, tables)

    def _check_kind(self, batch: Batch, keep: NDArray[np.bool_]) -> None:
        kinds = {batch.table.game_names[code] for code in np.unique(batch.table.game[keep])}
        if self._known_game is None and len(kinds) == 1:
            self._known_game = self.report.game = kinds.pop()
            kinds = set()
        if not kinds <= {self._known_game}:
            if self._given_game is not None:
                other = ", ".join(sorted(kinds - {self._given_game}))
                raise StudyError(
                    f"{batch.source}: games of {other}, but the study has {self._given_game}"
                )
            names = ", ".join(sorted({*kinds, self._known_game or ""} - {""}))
            raise StudyError(
                f"{batch.source}: records of several games, {names}; choose one with "
                + named("where", f"game = '{sorted(kinds)[0]}'")
            )
        if not self.columns and self._known_game is not None:
            self.columns = chosen_columns(self._known_game, self._columns_wanted)


def games_where(condition: str, batch: Batch, rows: pa.Table) -> NDArray[np.bool_]:
    """Test which games of a batch (`rows` has one row per game) meet a condition."""
    [keep] = games_of_batches_where(condition, [batch], [rows])
    return keep


def games_of_batches_where(
    condition: str, batches: Sequence[Batch], tables: Sequence[pa.Table]
) -> list[NDArray[np.bool_]]:
    """Evaluate a condition on several batches in one query."""
    keep = [np.zeros(len(batch), dtype=np.bool_) for batch in batches]
    # One file may contain several games, with different names of the players.
    places: dict[str, list[tuple[int, NDArray[np.bool_]]]] = {}
    for number, batch in enumerate(batches):
        for code in np.unique(batch.table.game):
            rows_of_game = (number, batch.table.game == code)
            places.setdefault(batch.table.game_names[code], []).append(rows_of_game)
    for game, parts_of_game in places.items():
        parts = [
            tables[n].drop_columns(["moves"]).filter(pa.array(rows)) for n, rows in parts_of_game
        ]
        matches = rows_where(condition, pa.concat_tables(parts), game)
        ends = np.cumsum([len(part) for part in parts])[:-1]
        for (n, rows), answers in zip(parts_of_game, np.split(matches, ends), strict=True):
            keep[n][rows] = answers
    return keep


def rows_where(condition: str, games: pa.Table, game: str) -> NDArray[np.bool_]:
    """Test which rows of a table of games meet a condition."""
    table = with_colors(games, game)
    checked = check_condition(condition, table.column_names)
    answer = run_query(
        connection({"games": table}), f"select coalesce({checked}, false) as keep from games"
    )
    return np.asarray(answer["keep"].to_numpy())


def with_colors(table: pa.Table, game: str) -> pa.Table:
    """Add the players' columns under the game's own names."""
    for mine, other in zip(("first", "second"), facts_named(game).naming.columns, strict=True):
        for name in ("", "_rating", "_rank"):
            table = table.append_column(f"{other}{name}", table[f"{mine}{name}"])
    return table


@dataclass(frozen=True)
class _PartGames:
    """The games of one batch that are written to a part."""

    table: _core.Table
    rows: pa.Table
    keep: NDArray[np.bool_]
    ids: NDArray[np.int64]
    duplicate_of: NDArray[np.int64]

    def games(self) -> pa.Table:
        rows = self.rows if self.keep.all() else self.rows.filter(pa.array(self.keep))
        rows = rows.drop_columns(["game"])
        codes = _packed_moves(self.table, self.keep)
        rows = rows.set_column(rows.schema.get_field_index("moves"), "moves", codes)
        rows = rows.add_column(0, "game_id", pa.array(self.ids))
        duplicates = pa.array(self.duplicate_of, mask=self.duplicate_of < 0)
        return rows.append_column("duplicate_of", duplicates)

    @property
    def unique(self) -> NDArray[np.bool_]:
        """Mark the games of the batch that are not duplicates."""
        unique = self.keep.copy()
        unique[self.keep] = self.duplicate_of < 0
        return unique

    @property
    def repeated(self) -> NDArray[np.bool_]:
        """Mark the games of the batch that are duplicates."""
        return self.keep & ~self.unique

    @property
    def repeats(self) -> bool:
        """Whether there are duplicates."""
        return bool((self.duplicate_of >= 0).any())

    def positions(self, columns: Sequence[str]) -> pa.Table:
        """Return all positions of the games that are not duplicates."""
        # One file may contain several games; only one of them is imported.
        game = self.table.game_names[self.table.game[self.keep][0]]
        offsets, texts = self.table.text_buffers("start")
        ids = np.full(len(self.table), -1, np.int64)
        ids[self.keep] = self.ids
        games = GameTable.of_all_positions(
            game,
            ids=ids,
            starts=pa.StringArray.from_buffers(
                len(ids), pa.py_buffer(offsets), pa.py_buffer(texts)
            ),
            komi=self.table.komi,
            move_offsets=self.table.move_offsets,
            moves=self.table.moves,
            keep=self.unique,
        )
        described = games.describe(columns, threads=1)  # other threads write other parts
        kinds = {column.name: column for column in _core.columns(game)}
        cells: dict[str, Any] = {
            "game_id": pa.array(games.game_ids),
            "ply": pa.array(games.plies),
            "first_to_play": pa.array(described["first_to_play"].view(np.bool_)),
        }
        for name in columns:
            values, column = described[name], kinds[name]
            if column.kind == "flag":
                cells[name] = pa.array(values.astype(np.bool_))
            elif column.kind == "category":
                codes = pa.array(values.astype(np.int8))
                cells[name] = pa.DictionaryArray.from_arrays(codes, column.labels)
            else:
                cells[name] = pa.array(values)
        return pa.table(cells)

    @property
    def remark_count(self) -> int:
        counts = np.diff(self.table.remark_offsets)
        return int(counts[self.unique].sum())

    @property
    def value_count(self) -> int:
        table = self.table
        valued = ~np.isnan(table.remark_value) | ~np.isnan(table.remark_score)
        valued |= table.remark_mate != 0
        return int(valued[np.repeat(self.unique, np.diff(table.remark_offsets))].sum())

    def remarks(self, games: NDArray[np.bool_]) -> pa.Table:
        """The remarks of some games of the batch."""
        table = self.table
        counts = np.diff(table.remark_offsets)
        chosen_rows = np.repeat(games, counts)
        ids = np.full(len(table), -1, dtype=np.int64)
        ids[self.keep] = self.ids

        def optional(values: NDArray[Any]) -> pa.Array:
            return pa.array(values[chosen_rows], from_pandas=True)

        def positive(values: NDArray[Any]) -> pa.Array:
            chosen = values[chosen_rows]
            return pa.array(chosen, mask=chosen == 0)

        texts = self._optional_columns()
        if not chosen_rows.all():
            texts = {name: column.filter(pa.array(chosen_rows)) for name, column in texts.items()}
        return pa.table(
            {
                "game_id": np.repeat(ids, counts)[chosen_rows],
                "ply": table.remark_ply[chosen_rows],
                "value": optional(table.remark_value),
                "score": optional(table.remark_score),
                "mate": positive(table.remark_mate),
                "depth": positive(table.remark_depth),
                "clock_s": optional(table.remark_clock_s),
                "spent_s": optional(table.remark_spent_s),
                "book": table.remark_book[chosen_rows].astype(np.bool_),
                "author": _AUTHORS.take(pa.array(table.remark_author[chosen_rows])),
                **texts,
            }
        )

    def _optional_columns(self) -> dict[str, pa.Array]:
        """Nodes, text, NAGs and properties of remarks; empty columns are left out."""
        table = self.table
        columns: dict[str, pa.Array] = {}
        if table.remark_nodes.any():
            columns["nodes"] = pa.array(table.remark_nodes, mask=table.remark_nodes == 0)
        if len(table.nags):
            offsets = pa.array(table.nag_offsets, mask=_is_empty(table.nag_offsets))
            columns["nags"] = pa.ListArray.from_arrays(offsets, pa.array(table.nags))
        for name in ("texts", "properties"):
            offsets, data = table.text_buffers(f"remark_{name}")
            if len(data):
                validity = np.packbits(np.diff(offsets) > 0, bitorder="little")
                buffers = (pa.py_buffer(each) for each in (validity, offsets, data))
                columns[_COLUMN_OF[name]] = pa.Array.from_buffers(
                    pa.string(), len(offsets) - 1, list(buffers)
                )
        return columns


_COLUMN_OF: Final = {"texts": "text", "properties": "properties"}


def _is_empty(offsets: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Test which lists at these offsets are empty; the last offset starts no list."""
    return np.append(np.diff(offsets) == 0, np.False_)


def _packed_moves(table: _core.Table, keep: NDArray[np.bool_]) -> pa.Array:
    """The move codes of each game as little-endian bytes."""
    codes = np.ascontiguousarray(table.moves, dtype="<u2")
    all_moves = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(),
        len(table),
        [
            None,
            pa.py_buffer(np.ascontiguousarray(2 * table.move_offsets)),
            pa.py_buffer(codes.tobytes()),
        ],
    )
    return all_moves.filter(pa.array(keep)).cast(pa.binary())


def _refused_table(refused: Sequence[Refused]) -> pa.Table:
    names = ("source", "line", "number", "ply", "fault", "reason")
    return pa.table({name: [getattr(each, name) for each in refused] for name in names})


def _write(work: Callable[[], list[Part]], _worker_state: WorkerState) -> list[Part]:
    return work()


def _grouped(batches: Iterable[Batch]) -> Iterator[list[Batch]]:
    group: list[Batch] = []
    moves = games = 0
    for batch in batches:
        group.append(batch)
        moves += len(batch.table.moves)
        games += len(batch) + len(batch.refused)
        if moves >= _PART_MOVES or games >= _PART_GAMES:
            yield group
            group = []
            moves = games = 0
    if group:
        yield group
