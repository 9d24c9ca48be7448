# SPDX-License-Identifier: Apache-2.0
"""Studies of games written in Python, from lines or records of matches instead of files.

Their tables are those of any study; positions have no feature columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.foundation.errors import IllegalMoveError, StudyError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import (
    FACTS,
    PYTHON_GAMES,
    AnyGame,
    AnyMove,
    PythonLine,
    registered_names,
)
from hyoka.games.registry import position
from hyoka.records import Batch, Record, Remark
from hyoka.storage.manifest import Change
from hyoka.study.duplicates import DuplicateMerger
from hyoka.study.importing import ImportPlan, ImportSummary, rows_where
from hyoka.study.tables import REMARK_SCHEMA

_PART_GAMES: Final = 5_000
_MOST_CODE: Final = 65_535
_POSITIONS: Final = pa.schema(
    [("game_id", pa.int64()), ("ply", pa.int32()), ("first_to_play", pa.bool_())]
)

PythonRecords = str | Path | PythonLine | Record
"""The sources of a study: files, or games in Python."""


def files_of(sources: Sequence[PythonRecords]) -> list[str | Path]:
    """The sources that are files."""
    return [each for each in sources if isinstance(each, str | Path)]


def sources_of(sources: Sequence[PythonRecords]) -> list[str]:
    """Describe the sources of records for a study's manifest."""
    files = list(map(str, files_of(sources)))
    values = len(sources) - len(files)
    return [*files, *([f"{values} games in Python"] if values else [])]


def check_known(folder: Path, game: str) -> None:
    """Raise StudyError if a study's game is unknown and not registered."""
    if game not in FACTS and game not in registered_names():
        raise StudyError(
            f"{folder}: the Python game '{game}' is not registered; first call "
            f"hyoka.register_game('{game}', ...) with its initial position"
        )


class PythonImporter:
    """Writes Python games as parts of a study, as `Importer` does with files."""

    def __init__(
        self,
        change: Change,
        plan: ImportPlan,
        *,
        game: str | None = None,
        seen: Mapping[bytes, int] | None = None,
        first_game: int = 0,
    ) -> None:
        if plan.columns and plan.columns not in ("all", "cheap", "none"):
            raise StudyError("games in Python have no columns; Study.add_column adds user columns")
        self.columns: list[str] = []
        self.report = ImportSummary(game=game or "")
        self._change = change
        self._where = plan.where
        self._seen = dict(seen or {})
        self._merger = DuplicateMerger(change)
        self._next_game = first_game

    def run(self, sources: Sequence[PythonRecords], progress: OnProgress | None = None) -> None:
        """Import all games; raises StudyError for an unusable one."""
        tally = Tally(progress, "reading", len(sources), "games")
        for start in range(0, len(sources), _PART_GAMES):
            some = sources[start : start + _PART_GAMES]
            self._take([self._as_record(each, start + i) for i, each in enumerate(some, 1)])
            tally.reach(start + len(some))
        self._merger.apply()
        self.report.note_merged(self._merger)

    def _as_record(self, source: PythonRecords, number: int) -> Record:
        if isinstance(source, PythonLine):
            record = _record_of_line(source)
        elif isinstance(source, Record):
            record = replace(source, game=_name_of_record(source))
        else:
            what = source if isinstance(source, str | Path) else type(source).__name__
            raise StudyError(
                f"{what}: a study of a game in Python needs lines (PythonLine) or records of "
                "matches (Record)"
            )
        if self.report.game not in ("", record.game):
            raise StudyError(
                f"a study has one game, but these are {self.report.game} and {record.game}"
            )
        self.report.game = record.game
        return record if record.number else replace(record, number=number)

    def _take(self, records: Sequence[Record]) -> None:
        games = _rows(records)
        if self._where is not None:
            keep = rows_where(self._where, games, self.report.game)
            self.report.left_out += len(records) - int(keep.sum())
            games = games.filter(pa.array(keep))
            records = [each for each, is_kept in zip(records, keep, strict=True) if is_kept]
        if not records:
            return
        ids = range(self._next_game, self._next_game + len(records))
        codes = [record.moves.astype("<u2").tobytes() for record in records]
        firsts = [self._seen.setdefault(*each) for each in zip(codes, ids, strict=True)]
        repeated = [first if first < own else None for first, own in zip(firsts, ids, strict=True)]
        new = {own: each for own, each, r in zip(ids, records, repeated, strict=True) if r is None}
        tables = {
            "games": games.add_column(0, "game_id", pa.array(ids, pa.int64()))
            .append_column("moves", pa.array(codes, pa.binary()))
            .append_column("duplicate_of", pa.array(repeated, pa.int64())),
            "positions": _positions(new),
        }
        if any(record.remarks for record in new.values()):
            tables["remarks"] = _remarks(new)
        change, number = self._change, self._change.next_number
        again = {own: each for own, each in zip(ids, records, strict=True) if own not in new}
        all_games = tables["games"]
        self._merger.collect(
            number, all_games.filter(all_games["duplicate_of"].is_valid()), _remarks(again)
        )
        change.parts += [change.write(table, name, number) for name, table in tables.items()]
        change.next_number += 1
        self._next_game += len(records)
        self.report.games += len(records)
        self.report.duplicates += len(records) - len(new)
        self.report.positions += len(tables["positions"])
        self.report.values += sum(
            _says_value(remark) for record in new.values() for remark in record.remarks
        )


def _record_of_line(line: PythonLine) -> Record:
    outcome = line.outcome
    return Record(
        _name_of_start(line.start),
        np.array([_code(move) for move in line.moves], np.uint16),
        result=None if outcome is None else float(outcome.value),
        ending="unfinished" if outcome is None else "normal",
    )


def _code(move: AnyMove) -> int:
    code = getattr(move, "code", move)
    if not isinstance(code, int | np.integer) or not 0 <= code <= _MOST_CODE:
        raise StudyError(f"a move is an integer below 65536, or has one as `code`: {move!r}")
    return int(code)


def _name_of_start(start: AnyGame) -> str:
    """Return the name of the game with this start."""
    kind = type(start)
    alike = [name for name in registered_names() if type(position(name)) is kind]
    for name in alike:
        if _is_same(position(name), start):
            return name
    if alike:
        raise StudyError(
            f"lines must start at the game's initial position: hyoka.position('{alike[0]}')"
        )
    raise StudyError(
        f"{kind.__name__} is not registered; first call "
        f"hyoka.register_game('{kind.__name__.lower()}', {kind.__name__}())"
    )


def _is_same(one: AnyGame, other: AnyGame) -> bool:
    try:
        return one is other or bool(one == other)
    except ValueError:  # arrays, which NumPy compares cell by cell
        return False


def _name_of_record(record: Record) -> str:
    """Return the name of a record's game; matches name it by its type."""
    called = record.game.removeprefix(PYTHON_GAMES)
    names = [name for name in registered_names() if called in (name, type(position(name)).__name__)]
    if called in FACTS:
        raise StudyError(f"records of {called} must be passed as files")
    if called not in names and len(names) > 1:
        raise StudyError(
            f"{called} is ambiguous: {' and '.join(names)}; pass lines (PythonLine) instead"
        )
    if not names:
        raise StudyError(
            f"no Python game is named {called}; first call hyoka.register_game(...) with its "
            "initial position"
        )
    if record.start:
        raise StudyError("games must start at the game's initial position")
    return called if called in names else names[0]


def _turns(record: Record) -> list[bool]:
    """Test for each position whether the first player is to move; raises StudyError."""
    try:
        return [here.to_play is _core.Player.first for here in record.positions()]
    except IllegalMoveError as error:
        raise StudyError(
            f"game {record.number} breaks the rules of the registered {record.game}: {error}"
        ) from error


def _rows(records: Iterable[Record]) -> pa.Table:
    """Build the table of games, with a row per game and without moves."""
    schema = Batch("", "", _core.Table()).arrow().schema
    fields = [field for field in schema if field.name not in ("game", "moves")]

    def cell(record: Record, name: str) -> Any:
        if name == "plies":
            return len(record)
        value = getattr(record, name)
        return list(value.items()) if name == "tags" else value

    rows = list(records)
    return pa.table(
        [pa.array([cell(record, field.name) for record in rows], field.type) for field in fields],
        schema=pa.schema(fields),
    )


def _positions(records: Mapping[int, Record]) -> pa.Table:
    """Build the table of all positions of games, by game number."""
    rows = [
        (number, ply, first)
        for number, record in records.items()
        for ply, first in enumerate(_turns(record))
    ]
    return pa.table(list(zip(*rows, strict=True)) or [(), (), ()], schema=_POSITIONS)


def _remarks(records: Mapping[int, Record]) -> pa.Table:
    """Build the table of the records' remarks; missing values are null."""
    columns: dict[str, list[Any]] = {name: [] for name in REMARK_SCHEMA.names}
    for number, record in records.items():
        for remark in record.remarks:
            columns["game_id"].append(number)
            for name in REMARK_SCHEMA.names[1:]:
                value = getattr(remark, name)
                columns[name].append(None if value in ("", ()) else value)
    return pa.table(columns, schema=REMARK_SCHEMA)


def _says_value(remark: Remark) -> bool:
    return any(each is not None for each in (remark.value, remark.score, remark.mate))
