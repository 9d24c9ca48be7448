# SPDX-License-Identifier: Apache-2.0
"""A study: games, their positions, and what evaluators say of them, in a folder on the disk."""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from hyoka import _core
from hyoka.errors import StudyError
from hyoka.records import Record, Remark, batches
from hyoka.records.sources import Progress
from hyoka.study import analysing
from hyoka.study.conditions import check_condition, connection, run_query
from hyoka.study.importing import (
    Importer,
    ImportReport,
    colour_names,
    drop_unfinished_parts,
)
from hyoka.study.layout import (
    DESCRIPTION,
    VERSION,
    now,
    parts,
    read_description,
    write_toml,
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
        ("failed", pa.string()),
    ]
)
ADJUDICATION_SCHEMA: Final = pa.schema(
    [("game_id", pa.int64()), ("ply", pa.int32()), ("result", pa.float32())]
)
_REMARK_SCHEMA: Final = pa.schema(
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
    ]
)
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
_RECORDS_AT_ONCE: Final = 1000
_NOT_FOR_CONDITIONS: Final = ("moves", "start")


@dataclass(frozen=True)
class Study:
    """A folder of games, positions and evaluations; the tables are read by SQL.

    >>> import tempfile, hyoka as hk
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "games.pgn"
    >>> _ = file.write_text("1. e4 {[%eval 0.3]} e5 2. Qh5 Ke7 3. Qxe5# 1-0")
    >>> study = hk.Study.create(Path(folder.name) / "study", records=[file])
    >>> study.sql("select count(*) as positions, max(ply) as plies from positions").to_pylist()
    [{'positions': 6, 'plies': 5}]
    >>> study.record(0).position(4).san("h5e5")
    'Qxe5#'
    >>> folder.cleanup()
    """

    path: Path
    game: str
    columns: tuple[str, ...]
    """The columns that describe positions."""

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The study in a folder; raises StudyError if there is none."""
        folder = Path(path)
        description = read_description(folder)
        return cls(folder, description["game"], tuple(description["columns"]))

    @classmethod
    def create(  # noqa: PLR0913 - a keyword for each choice
        cls,
        path: str | Path,
        records: str | Path | Iterable[str | Path],
        *,
        where: str | None = None,
        columns: str | Sequence[str] = "all",
        format: str | None = None,
        strict: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """Make a study from records (files, folders, patterns, archives).

        `where` is an SQL condition on games, `columns` which columns describe the positions
        (`all`, `cheap`, `none` or names). The folder appears when everything is there. See
        `make_study` for what became of the records.
        """
        make_study(
            path,
            records,
            where=where,
            columns=columns,
            format=format,
            strict=strict,
            progress=progress,
        )
        return cls.open(path)

    def sql(self, query: str) -> pa.Table:
        """The answer to a SELECT over the study's tables, as Arrow.

        Tables are `games`, `positions` (with their games' columns), `remarks`, `evaluations`,
        `adjudications` and `refused`. The query can touch no file and no setting.
        """
        return run_query(self._connection(), query)

    def condition_columns(self) -> list[str]:
        """The names that a condition on positions may use."""
        table = run_query(self._connection(), "select * from positions limit 0")
        return list(table.column_names)

    def select(self, where: str | None, columns: str = "game_id, ply") -> pa.Table:
        """Columns of the positions that satisfy a condition, in the order of games and plies."""
        condition = "true"
        if where is not None:
            condition = check_condition(where, self.condition_columns())
        return self.sql(f"select {columns} from positions where {condition} order by game_id, ply")

    def record(self, game_id: int) -> Record:
        """A game of the study as a record; raises StudyError if there is none of this number."""
        for _, record in self.records([int(game_id)]):
            return record
        count = self.sql("select count(*) as n from games")["n"][0]
        raise StudyError(f"{self.path}: no game {game_id}; it has {count}, numbered from 0")

    def records(self, game_ids: Sequence[int] | None = None) -> Iterator[tuple[int, Record]]:
        """Numbers and records of these games, or of all, in the order of their numbers."""
        wanted = self._game_ids() if game_ids is None else sorted(game_ids)
        opened = self._connection()
        for start in range(0, len(wanted), _RECORDS_AT_ONCE):
            ids = ", ".join(map(str, wanted[start : start + _RECORDS_AT_ONCE]))
            chosen = f"where game_id in ({ids})"
            games = run_query(opened, f"select * from games {chosen} order by game_id")
            remarks = run_query(opened, f"select * from remarks {chosen} order by game_id, ply")
            said: dict[int, list[Remark]] = {}
            for row in remarks.to_pylist():
                said.setdefault(row.pop("game_id"), []).append(Remark(**row))
            for row in games.to_pylist():
                yield row["game_id"], self._as_record(row, tuple(said.get(row["game_id"], ())))

    def _game_ids(self) -> list[int]:
        found = self.sql("select game_id from games order by game_id")
        return [int(number) for number in found["game_id"].to_pylist()]

    def _as_record(self, row: dict[str, Any], remarks: tuple[Remark, ...]) -> Record:
        names = Record.__dataclass_fields__
        fields = {name: value for name, value in row.items() if name in names}
        fields["moves"] = np.frombuffer(row["moves"], dtype="<u2").astype(np.uint16)
        return Record(game=self.game, remarks=remarks, **fields)

    @property
    def engines(self) -> list[str]:
        """The names of the evaluators whose evaluations are here."""
        return sorted(
            folder.name.removeprefix("engine=")
            for folder in (self.path / "evaluations").glob("engine=*")
            if parts(folder)
        )

    curve = analysing.curve
    metrics = analysing.metrics
    splits = analysing.splits
    gaps = analysing.gaps
    compare = analysing.compare
    disagreements = analysing.disagreements
    calibration = analysing.calibration

    def _connection(self) -> Any:
        tables = {
            "games_": self._dataset("games", None),
            "positions_": self._dataset("positions", None),
            "remarks": self._dataset("remarks", _REMARK_SCHEMA),
            "refused": self._dataset("refused", _REFUSED_SCHEMA),
            "evaluations": self._partitioned("evaluations", "engine", EVALUATION_SCHEMA),
            "adjudications": self._partitioned("adjudications", "method", ADJUDICATION_SCHEMA),
        }
        colours = ", ".join(
            f'{mine}{suffix} as "{other}{suffix}"'
            for mine, other in colour_names(self.game)
            for suffix in ("", "_rating", "_rank")
        )
        hidden = ", ".join(_NOT_FOR_CONDITIONS)
        views = {
            "games": f"select *, {colours} from games_",
            "positions": f"""
                select p.*, g.* exclude (game_id, {hidden}), a.adjudicated
                from positions_ p join games g using (game_id)
                left join (select game_id, ply, any_value(result) as adjudicated
                           from adjudications group by game_id, ply) a using (game_id, ply)""",
        }
        return connection(tables, views)

    def _dataset(self, table: str, schema: pa.Schema | None) -> Any:
        files = parts(self.path / table)
        if not files and schema is not None:
            return schema.empty_table()
        if not files:
            raise StudyError(f"{self.path}: no {table} in this study")
        return ds.dataset([str(file) for file in files], format="parquet", schema=schema)

    def _partitioned(self, table: str, key: str, schema: pa.Schema) -> Any:
        whole = schema.append(pa.field(key, pa.string()))
        files = sorted((self.path / table).glob(f"{key}=*/part-*.parquet"))
        if not files:
            return whole.empty_table()
        partitioning = ds.partitioning(pa.schema([(key, pa.string())]), flavor="hive")
        return ds.dataset(
            [str(file) for file in files],
            format="parquet",
            schema=whole,
            partitioning=partitioning,
            partition_base_dir=str(self.path / table),
        )


def make_study(  # noqa: PLR0913 - a keyword for each choice
    path: str | Path,
    records: str | Path | Iterable[str | Path],
    *,
    where: str | None = None,
    columns: str | Sequence[str] = "all",
    format: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> tuple[Study, ImportReport]:
    """Make a study, as `Study.create` does, and say what became of the records."""
    folder = Path(path)
    if folder.exists():
        what = "a study" if (folder / DESCRIPTION).exists() else "something"
        raise StudyError(
            f"{folder}: {what} is there already; --append (append_to_study) adds to a study"
        )
    given = [records] if isinstance(records, str | Path) else list(records)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(folder)
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    importer = Importer(partial, where=where, columns=columns)
    try:
        importer.run(batches(given, format=format, strict=strict, progress=progress))
        report = importer.report
        if report.games == 0:
            raise StudyError(_nothing_taken(report))
        _describe(partial, report, importer.columns, given, where)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return Study.open(folder), report


def _clear_leftovers(folder: Path) -> None:
    """Remove what imports into this folder left when they were killed."""
    for leftover in folder.parent.glob(f".{glob.escape(folder.name)}.*.partial"):
        owner = leftover.name.split(".")[-2]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(leftover, ignore_errors=True)


def append_to_study(  # noqa: PLR0913 - a keyword for each choice
    path: str | Path,
    records: str | Path | Iterable[str | Path],
    *,
    where: str | None = None,
    format: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> tuple[Study, ImportReport]:
    """Add records to a study; games that are there already are marked as duplicates.

    Interrupted, it keeps the parts that are whole; the same command then adds the rest, since what
    is there already counts as a duplicate.
    """
    study = Study.open(path)
    given = [records] if isinstance(records, str | Path) else list(records)
    next_part = drop_unfinished_parts(study.path)
    seen, count = _games_seen(study)
    importer = Importer(
        study.path,
        where=where,
        columns=study.columns,
        game=study.game,
        first_part=next_part,
        first_game=count,
        seen=seen,
    )
    importer.run(batches(given, format=format, strict=strict, progress=progress))
    description = read_description(study.path)
    description["sources"] = [*description["sources"], *map(str, given)]
    write_toml(study.path / DESCRIPTION, description)
    return study, importer.report


def _games_seen(study: Study) -> tuple[_core.GameSet, int]:
    """The games of a study, to tell duplicates by, and the next free number."""
    seen = _core.GameSet()
    rows = study.sql("select game_id, start, moves from games where duplicate_of is null")
    for batch in rows.to_batches(max_chunksize=20_000):
        for game_id, start, moves in zip(*(column.to_pylist() for column in batch), strict=True):
            seen.add_one(study.game, start, np.frombuffer(moves, dtype="<u2"), game_id)
    last = study.sql("select max(game_id) as last from games")["last"][0].as_py()
    return seen, 0 if last is None else last + 1


def _nothing_taken(report: ImportReport) -> str:
    why = [f"{count} refused as {fault}" for fault, count in report.refused.items()]
    if report.left_out:
        why.append(f"{report.left_out} left out by the condition")
    reason = ", ".join(why) or "there are none in these files"
    first = f"; first: {report.first_refused[0]}" if report.first_refused else ""
    return f"no game was taken: {reason}{first}"


def _describe(
    folder: Path,
    report: ImportReport,
    columns: Sequence[str],
    given: Sequence[str | Path],
    where: str | None,
) -> None:
    with contextlib.suppress(FileNotFoundError):
        drop_unfinished_parts(folder)
    write_toml(
        folder / DESCRIPTION,
        {
            "version": VERSION,
            "game": report.game,
            "columns": list(columns),
            "created": now(),
            "where": where,
            "sources": [str(each) for each in given],
            "games": report.games,
            "positions": report.positions,
            "duplicates": report.duplicates,
            "left_out": report.left_out,
            "refused": dict(report.refused),
        },
    )
