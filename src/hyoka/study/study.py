# SPDX-License-Identifier: Apache-2.0
"""A study: a folder of games, positions and evaluations."""

import collections
import errno
import functools
import glob
import importlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, SupportsIndex

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import StudyError
from hyoka.foundation.progress import OnProgress
from hyoka.games import registered_names
from hyoka.records import Record, Remark, batches
from hyoka.records.bulk import GameTable
from hyoka.storage.files import now, origin_of, study_folder, sync_folder, umask
from hyoka.storage.manifest import (
    DESCRIPTION,
    VERSION,
    Change,
    Manifest,
    changing,
    read_manifest,
    read_part,
    reading,
)
from hyoka.storage.result import html_table
from hyoka.storage.run_folder import is_held, locked
from hyoka.study import analyses as analyzing
from hyoka.study import user_columns as adding
from hyoka.study.importing import Importer, ImportPlan, ImportSummary
from hyoka.study.python_games import (
    PythonImporter,
    PythonRecords,
    check_known,
    files_of,
    sources_of,
)
from hyoka.study.sampling import titles_text
from hyoka.study.sql import check_condition
from hyoka.study.tables import CATEGORY_COLUMNS, NO_GAMES, GameChoice, Snapshot, ranking_columns

if TYPE_CHECKING:
    from hyoka.reporting.study_report import StudyReport
    from hyoka.study.evaluating import EvaluationPlan, EvaluationSummary
    from hyoka.study.exact_results import AdjudicationSummary
    from hyoka.study.exporting import ExportSummary
    from hyoka.study.verify import StudyCheck

_RECORDS_AT_ONCE: Final = 1000
_COUNTS: Final = ("duplicates", "merged_duplicates", "left_out")
"""Counts in a study's manifest beside games, positions and refused games."""


@dataclass(frozen=True)
class Study:
    """A folder of games, positions and evaluations, queried with SQL.

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
    chosen: GameChoice | None = None
    """The games that queries see; None: all."""

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the study in a folder or at a URL; raises StudyError if there is none.

        A URL of one of fsspec's file systems, such as `s3://bucket/study`, is copied to the cache
        folder, and read-only.
        """
        folder = study_folder(path)
        manifest = read_manifest(folder / DESCRIPTION)
        check_known(folder, manifest.values["game"])
        if not manifest.sealed:
            warnings.warn(
                f"{folder}: an older study without checksums; `hyoka study verify {folder} --seal` "
                "or the next command that writes adds them",
                stacklevel=2,
            )
        return cls(folder, manifest.values["game"], tuple(manifest.values["columns"]))

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle a copy of a study at a URL as the URL, for workers on other machines."""
        if origin := origin_of(self.path):
            return _opened_at, (origin, self.chosen)
        return super().__reduce_ex__(protocol)

    @classmethod
    def create(
        cls,
        path: str | Path,
        records: PythonRecords | Iterable[PythonRecords],
        plan: ImportPlan | None = None,
        *,
        progress: OnProgress | None = None,
        **options: Any,
    ) -> Self:
        """Create a study from records (files, folders, patterns, archives).

        A study of a game written in Python (`register_game`) is created from lines
        (`PythonLine`) or from a match's records. Opening it requires that the game is registered.

        `options` are fields of the plan, such as `where`, an SQL condition on games, and `columns`,
        which describe positions (`all`, `cheap`, `none` or names). The folder appears when the
        study is complete. See `make_study` for the import report.
        """
        make_study(path, records, plan, progress=progress, **options)
        return cls.open(path)

    def append(
        self,
        records: PythonRecords | Iterable[PythonRecords],
        plan: ImportPlan | None = None,
        *,
        progress: OnProgress | None = None,
        **options: Any,
    ) -> ImportSummary:
        """Add records; games of the study are marked as duplicates. See `append_to_study`."""
        _, report = append_to_study(self.path, records, plan, progress=progress, **options)
        return report

    def _repr_html_(self) -> str:
        [row] = self.sql(
            "select (select count(*) from games) as games, count(*) as positions from positions"
        ).to_pylist()
        lines = [["game", "games", "positions", "evaluators"]]
        lines.append(
            [
                self.game,
                f"{row['games']:,}",
                f"{row['positions']:,}",
                titles_text(self, self.engines),
            ]
        )
        return html_table(f"Study {self.path}", lines)

    def sql(self, query: str) -> pa.Table:
        """Run a SELECT over the study's tables and return an Arrow table.

        Tables are `games`, `positions` (with their games' columns), `tags`, `remarks`,
        `evaluations`, `adjudications`, `winners`, `rankings`, `categories`, `visits` and `refused`.
        The query cannot access files or change settings.
        """
        snapshot = self._snapshot()
        try:
            return snapshot.query(query)
        except StudyError:
            # A concurrent writer may have replaced parts: retry with the current manifest.
            if (now_there := self._snapshot()) == snapshot:
                raise
            return now_there.query(query)

    def _snapshot(self) -> Snapshot:
        return Snapshot.of(self.path, self.chosen)

    def condition_columns(self) -> list[str]:
        """List the columns that a condition on positions may use."""
        return list(self.condition_schema().names)

    def condition_schema(self) -> pa.Schema:
        """The columns that a condition on positions may use, with their types."""
        return replace(self, chosen=NO_GAMES).sql("select * from positions limit 0").schema

    @property
    def ranking_columns(self) -> list[str]:
        """The columns of move models; see `rank_moves`."""
        names = self._snapshot().derived["rankings"]
        return [column for name in names for column in ranking_columns(name)]

    @property
    def category_columns(self) -> list[str]:
        """The columns of position categories; see `categorize`."""
        return list(CATEGORY_COLUMNS) if self._snapshot().derived["categories"] else []

    @property
    def user_columns(self) -> list[str]:
        """The columns added by the user; see `add_column`."""
        return list(self._snapshot().derived["columns"])

    def select(self, where: str | None, columns: str = "game_id, ply") -> pa.Table:
        """Select columns of the positions that meet a condition, ordered by game and ply."""
        condition = "true"
        if where is not None:
            condition = check_condition(where, self.condition_columns())
        return self.sql(f"select {columns} from positions where {condition} order by game_id, ply")

    def game_table(self, where: str | None = None) -> GameTable:
        """Return the positions that meet a condition, with their games."""
        chosen = self.select(where)
        return self.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())

    def game_table_of(self, games: NDArray[Any], plies: NDArray[Any]) -> GameTable:
        """Return the given positions with their games; they must be ordered by game and ply."""
        if (np.diff(games) < 0).any():
            raise StudyError("positions of a table must be in the order of their games")
        ids, first = np.unique(games, return_index=True)
        rows = self.sql(
            "select game_id, start, coalesce(komi, 'nan'::double) as komi, moves from games"
            " order by game_id"
        )
        rows = rows.filter(pa.array(np.isin(rows["game_id"].to_numpy(), ids)))
        if len(rows) < len(ids):
            raise StudyError(f"{self.path}: {len(ids) - len(rows)} of {len(ids)} games are missing")
        moves = rows["moves"].cast(pa.large_binary()).combine_chunks()
        _, offsets, codes = moves.buffers()
        ends = np.frombuffer(offsets, np.int64)[moves.offset : moves.offset + len(moves) + 1]
        return GameTable(
            self.game,
            ids.astype(np.int64),
            rows["start"].cast(pa.string()).combine_chunks(),
            rows["komi"].to_numpy().astype(np.float64),
            ends // 2,
            np.frombuffer(codes if codes is not None else b"", "<u2"),
            np.append(first, len(games)).astype(np.int64),
            plies.astype(np.int32),
        )

    def record(self, game_id: int) -> Record:
        """Return a game as a record; raises StudyError for an unknown id."""
        manifest = read_manifest(self.path / DESCRIPTION)
        if (place := _row_of(manifest, int(game_id))) is not None:
            file, row = place
            remarked = f"remarks/{file.name}" in manifest.names
            with reading(file):
                changed = file.stat().st_mtime_ns
            games, remarks = _part_tables(file, changed, remarked)
            ids = remarks["game_id"].to_numpy() if len(remarks) else np.empty(0, np.int64)
            low, high = np.searchsorted(ids, [game_id, game_id + 1])
            rows = remarks.slice(low, high - low).to_pylist()
            return self._as_record(games.slice(row, 1).to_pylist()[0], tuple(map(_remark, rows)))
        for _, record in self.records([int(game_id)]):
            return record
        count = self.sql("select count(*) as n from games")["n"][0]
        raise StudyError(f"{self.path}: no game {game_id}; its {count} games are numbered from 0")

    def records(self, game_ids: Sequence[int] | None = None) -> Iterator[tuple[int, Record]]:
        """Iterate over ids and records of some games, or all, ordered by id."""
        game_numbers = self._game_ids() if game_ids is None else sorted(game_ids)
        snapshot = self._snapshot()
        for start in range(0, len(game_numbers), _RECORDS_AT_ONCE):
            ids = ", ".join(map(str, game_numbers[start : start + _RECORDS_AT_ONCE]))
            chosen = f"where game_id in ({ids})"
            games = snapshot.query(f"select * from games {chosen} order by game_id")
            remarks = snapshot.query(
                f"select * from remarks {chosen} order by game_id, ply, author"
            )
            by_game: dict[int, list[Remark]] = {}
            for row in remarks.to_pylist():
                by_game.setdefault(row["game_id"], []).append(_remark(row))
            for row in games.to_pylist():
                yield row["game_id"], self._as_record(row, tuple(by_game.get(row["game_id"], ())))

    def _game_ids(self) -> list[int]:
        games = self.sql("select game_id from games order by game_id")
        return [int(number) for number in games["game_id"].to_pylist()]

    def _as_record(self, row: dict[str, Any], remarks: tuple[Remark, ...]) -> Record:
        names = Record.__dataclass_fields__
        fields = {name: value for name, value in row.items() if name in names}
        fields["tags"] = dict(row.get("tags") or ())
        fields["moves"] = np.frombuffer(row["moves"], dtype="<u2").astype(np.uint16)
        return Record(game=self.game, remarks=remarks, **fields)

    @property
    def engines(self) -> list[str]:
        """The names of the study's evaluators."""
        return sorted(self._snapshot().derived["evaluations"])

    def evaluate(
        self, specs: Any, plan: "EvaluationPlan | None" = None, **options: Any
    ) -> "list[EvaluationSummary]":
        """Evaluate positions; see `hyoka.study.evaluating.evaluate`.

        >>> import tempfile, hyoka as hk
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "games.pgn"
        ...     _ = file.write_text("1. e4 {[%eval 0.3]} e5 2. Qh5 Ke7 3. Qxe5# 1-0")
        ...     study = hk.Study.create(Path(folder) / "study", records=[file])
        ...     [report] = study.evaluate("comments")
        ...     report.done, study.adjudicate().known, study.verify().is_whole
        (1, 1, True)
        """
        reports: list[EvaluationSummary] = _imported("study.evaluating").evaluate(
            self, specs, plan, **options
        )
        return reports

    def adjudicate(self, method: str = "rules", **options: Any) -> "AdjudicationSummary":
        """Adjudicate positions; see `hyoka.study.exact_results.adjudicate`."""
        report: AdjudicationSummary = _imported("study.exact_results").adjudicate(
            self, method, **options
        )
        return report

    def export(self, path: str | Path, **options: Any) -> "ExportSummary":
        """Write positions to a file; see `hyoka.study.exporting.export_positions`."""
        report: ExportSummary = _imported("study.exporting").export_positions(self, path, **options)
        return report

    def report(self, path: str | Path | None = None, **options: Any) -> "StudyReport":
        """Write the report, by default `report.html` in the study.

        See `hyoka.reporting.study_report.write_report`.
        """
        report: StudyReport = _imported("reporting.study_report").write_report(
            self, path, **options
        )
        return report

    def verify(self) -> "StudyCheck":
        """Compare the study with its checksums; see `hyoka.study.verify.check_study`."""
        check: StudyCheck = _imported("study.verify").check_study(self.path)
        return check

    add_column = adding.add_column
    drop_column = adding.drop_column
    curve = analyzing.curve
    metrics = analyzing.metrics
    slices = analyzing.slices
    gaps = analyzing.gaps
    compare = analyzing.compare
    disagreements = analyzing.disagreements
    certainty = analyzing.certainty
    calibration = analyzing.calibration
    reliability = analyzing.reliability
    wdl = analyzing.wdl
    accuracy = analyzing.accuracy


def _imported(module: str) -> Any:
    """Import a module for one verb: these are slow to import, or import this module."""
    return importlib.import_module(f"hyoka.{module}")


def _remark(row: dict[str, Any]) -> Remark:
    """Convert a row to a remark; studies of earlier versions have no text."""
    words = {
        "nags": tuple(row.get("nags") or ()),
        "text": row.get("text") or "",
        "properties": row.get("properties") or "",
    }
    return Remark(**{name: row[name] for name in row if name != "game_id"} | words)


def _row_of(manifest: Manifest, game_id: int) -> tuple[Path, int] | None:
    """Find a game's part and its row there; games are numbered part by part."""
    first = 0
    for part in manifest.parts:
        if part.table != "games":
            continue
        if first <= game_id < first + part.rows:
            return manifest.folder / part.name, game_id - first
        first += part.rows
    return None


@functools.lru_cache(maxsize=4)
def _part_tables(file: Path, _changed: int, remarked: bool) -> tuple[pa.Table, pa.Table]:
    """Read a part of games and its remarks."""
    games = read_part(file)
    beside = file.parent.parent / "remarks" / file.name
    remarks = read_part(beside) if remarked else pa.table({})
    return games, remarks


def _opened_at(url: str, chosen: GameChoice | None) -> Study:
    return replace(Study.open(url), chosen=chosen)


def make_study(
    path: str | Path,
    records: PythonRecords | Iterable[PythonRecords],
    plan: ImportPlan | None = None,
    *,
    progress: OnProgress | None = None,
    **options: Any,
) -> tuple[Study, ImportSummary]:
    """Create a study, as `Study.create` does, and return the import report."""
    folder = Path(path)
    if folder.exists():
        is_study = (folder / DESCRIPTION).exists()
        hint = "add records with `hyoka study append` or `Study.append`"
        raise StudyError(
            f"{folder}: the study already exists; {hint}"
            if is_study
            else f"{folder}: already exists and is not a study; choose another name"
        )
    plan = replace(plan or ImportPlan(), **options)
    sources = [records] if isinstance(records, PythonRecords) else list(records)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(folder)
    partial = Path(tempfile.mkdtemp(".partial", f".{folder.name}.{os.getpid()}.", folder.parent))
    try:
        with locked(partial, "making a study"):
            change = Change(partial / DESCRIPTION, {}, [], 0)
            importer = _import(change, sources, plan, progress)
            report = importer.report
            if report.games == 0:
                raise StudyError(_nothing_taken(report))
            change.values = _description(report, importer.columns, sources, plan.where)
            change.commit()
            partial.chmod(0o777 & ~umask())
            _put_in_place(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return Study.open(folder), report


def _put_in_place(partial: Path, folder: Path) -> None:
    """Publish the study by one rename; raises StudyError if another process was faster."""
    try:
        partial.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        raise StudyError(f"{folder}: another process has just created it") from error
    sync_folder(folder.parent)


def _clear_leftovers(folder: Path) -> None:
    """Remove the files that killed imports left in this folder."""
    for leftover in folder.parent.glob(f".{glob.escape(folder.name)}.*.partial"):
        owner = leftover.name.removeprefix(f".{folder.name}.").partition(".")[0]
        # A living process may be about to lock its new folder.
        if not Path(f"/proc/{owner}").exists() and not is_held(leftover):
            shutil.rmtree(leftover, ignore_errors=True)


def _import(
    change: Change,
    sources: Sequence[PythonRecords],
    plan: ImportPlan,
    progress: OnProgress | None,
    study: Study | None = None,
) -> Importer | PythonImporter:
    """Import records into a new study, or add them to a study."""
    files = files_of(sources)
    game = None if study is None else study.game
    first_game = 0 if study is None else _next_game(study)
    if len(files) < len(sources) or game in registered_names():
        seen = None if study is None else _moves_seen(study)
        python = PythonImporter(change, plan, game=game, first_game=first_game, seen=seen)
        python.run(sources, progress)
        return python
    games = None if study is None else _games_seen(study)
    importer = Importer(change, plan, game=game, first_game=first_game, seen=games)
    importer.run(batches(files, format=plan.format, strict=plan.strict, progress=progress))
    return importer


def append_to_study(
    path: str | Path,
    records: PythonRecords | Iterable[PythonRecords],
    plan: ImportPlan | None = None,
    *,
    progress: OnProgress | None = None,
    **options: Any,
) -> tuple[Study, ImportSummary]:
    """Add records to a study; existing games are marked as duplicates.

    The addition is atomic: an interrupted one leaves the study unchanged. Raises StudyError if the
    records contain no games, or if another process is adding records.
    """
    study = Study.open(path)
    sources = [records] if isinstance(records, PythonRecords) else list(records)
    plan = replace(plan or ImportPlan(), **options, columns=study.columns)
    with changing(study.path / DESCRIPTION, "adding records") as change:
        importer = _import(change, sources, plan, progress, study)
        if not importer.report.games and not importer.report.left_out:
            raise StudyError(_nothing_taken(importer.report))
        change.values = _with_more(change.values, importer.report, sources)
        change.commit()
    return study, importer.report


def _moves_seen(study: Study) -> dict[bytes, int]:
    """Load the moves of the games of a study of a Python game, to detect duplicates."""
    rows = study.sql("select moves, game_id from games where duplicate_of is null")
    return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _games_seen(study: Study) -> _core.GameSet:
    """Load the games of a study, to detect duplicates."""
    seen = _core.GameSet()
    rows = study.sql("select game_id, start, moves from games where duplicate_of is null")
    for batch in rows.to_batches(max_chunksize=20_000):
        for game_id, start, moves in zip(*(column.to_pylist() for column in batch), strict=True):
            seen.add_one(study.game, start, np.frombuffer(moves, dtype="<u2"), game_id)
    return seen


def _next_game(study: Study) -> int:
    last = study.sql("select max(game_id) as last from games")["last"][0].as_py()
    return 0 if last is None else last + 1


def _nothing_taken(report: ImportSummary) -> str:
    why = [f"{count} rejected ({fault})" for fault, count in report.refused.items()]
    if report.left_out:
        why.append(f"{report.left_out} excluded by the condition")
    reason = ", ".join(why) or "the files contain no games"
    first = f"; first: {report.first_refused[0]}" if report.first_refused else ""
    return f"no games imported: {reason}{first}"


def _description(
    report: ImportSummary,
    columns: Sequence[str],
    sources: Sequence[PythonRecords],
    where: str | None,
) -> dict[str, Any]:
    return {
        "version": VERSION,
        "game": report.game,
        "columns": list(columns),
        "created": now(),
        "where": where,
        "sources": sources_of(sources),
        **{name: getattr(report, name) for name in _COUNTS},
        "refused": dict(report.refused),
    }


def _with_more(
    values: dict[str, Any], report: ImportSummary, more: Sequence[PythonRecords]
) -> dict[str, Any]:
    """Build a study's manifest after records were added."""
    counts = {name: values.get(name, 0) + getattr(report, name) for name in _COUNTS}
    refused = collections.Counter(values.get("refused", {})) + report.refused
    sources = [*values["sources"], *sources_of(more)]
    return {**values, "sources": sources, **counts, "refused": dict(refused)}
