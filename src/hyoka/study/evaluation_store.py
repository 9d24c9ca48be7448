# SPDX-License-Identifier: Apache-2.0
"""Storage of evaluations, and of the visits of the searches that played the games."""

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.agents import RecordedEvaluations
from hyoka.engines import Failure
from hyoka.foundation.errors import StudyError
from hyoka.games import facts_named
from hyoka.storage.files import now
from hyoka.storage.manifest import AUTHORS, PLAYER, Change, changing, derived_file
from hyoka.storage.user_tables import MatchedRows
from hyoka.study.comment_authors import PlayersOf
from hyoka.study.study import Study
from hyoka.study.tables import EVALUATION_SCHEMA, VISIT_SCHEMA, find_positions, position_keys
from hyoka.study.user_columns import find_rows

Chosen = tuple[NDArray[Any], NDArray[Any]]
"""Game numbers and plies of positions, in order."""


@dataclass
class EvaluationReport:
    """The counts of one evaluator's run."""

    engine: str
    """The name under which the evaluations are stored."""
    wanted: int = 0
    found: int = 0
    """The number of positions evaluated before."""
    failed_before: int = 0
    """The number of positions that failed before."""
    done: int = 0
    failed: int = 0
    """The number of failures in this run."""
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    """The first few failures."""
    notes: list[str] = field(default_factory=list)
    """Notes for the caller, one line each."""
    title: str = ""
    """The name for people, unique in the study."""

    @property
    def known(self) -> int:
        """The number of chosen positions that have an evaluation."""
        return self.found + self.done - self.failed


def evaluations_of(study: Study, name: str) -> contextlib.AbstractContextManager[Change]:
    """Lock an evaluator's evaluations for a change."""
    return changing(derived_file(study.path, "evaluations", name), "evaluating")


def set_title(study: Study, name: str, title: str) -> None:
    """Set an evaluator's name for people."""
    with evaluations_of(study, name) as change:
        if change.values and change.values.get("title") != title:
            change.values["title"] = title
            change.commit()


def positions_done(change: Change, *, failed: bool = False) -> Chosen:
    """The positions in an evaluator's parts; with `failed`, those without a result."""
    games, plies = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for table in change.tables(["game_id", "ply", "failed"]):
        rows = table.filter(table["failed"].is_valid()) if failed else table
        games.append(rows["game_id"].to_numpy())
        plies.append(rows["ply"].to_numpy())
    return np.concatenate(games), np.concatenate(plies)


@dataclass(frozen=True)
class StudySource:
    """A study as the source of recorded evaluations; see `hyoka.agents.EvaluationSource`."""

    study: Study

    @property
    def path(self) -> Path:
        """The study's folder."""
        return self.study.path

    @property
    def game(self) -> str:
        """The study's game."""
        return self.study.game

    def remarks(self) -> pa.Table:
        """All remarks with evaluations, with the player who moved last and the players' names."""
        rows = self.study.sql(
            "select r.game_id, r.ply, value, score, mate, depth, spent_s as time_s, author, "
            "case when r.ply = 0 then null when first_to_play then 'second' else 'first' end "
            "as mover, "
            """coalesce("first"::varchar, '') as first, """
            """coalesce("second"::varchar, '') as second """
            "from remarks r join positions p on p.game_id = r.game_id and p.ply = r.ply "
            "where value is not null or score is not null or mate is not null "
            "order by r.game_id, r.ply, author"
        )
        unit = facts_named(self.game).naming.unit
        return rows.append_column("unit", pa.array([unit] * len(rows)))

    def find_rows(self, table: pa.Table, source: str) -> MatchedRows:
        """Match the rows of a table to the study's positions."""
        return find_rows(self.study, table, source)


def store(
    study: Study, recorded: RecordedEvaluations, chosen: Chosen, *, anew: bool = False
) -> EvaluationReport:
    """Store recorded evaluations of chosen positions, except for those already stored.

    `anew` replaces existing evaluations.
    """
    started = time.monotonic()
    spec, rows = recorded.spec, recorded.rows
    report = EvaluationReport(spec.id, title=spec.title, notes=[*recorded.notes])
    source = recorded.identity.get("source", "")
    with evaluations_of(study, spec.id) as change:
        keys = position_keys(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
        wanted = np.isin(keys, position_keys(*chosen))
        if anew:
            if not wanted.any():
                raise StudyError(f"{source}: it says nothing of the positions that were asked for")
            before = change.values.get("source", "") if change.values else source
            if before != source:
                former = before or f"a table called {spec.title}"
                report.notes.insert(0, f"it replaces the evaluations of {former}")
            change.parts.clear()
        new = wanted & ~np.isin(keys, position_keys(*positions_done(change)))
        report.wanted = int(wanted.sum())
        report.done = int(new.sum())
        report.found = report.wanted - report.done
        if report.done or anew:
            change.values = {"created": now(), **change.values, **recorded.identity}
            change.add(as_evaluations(rows.filter(pa.array(new))))
            change.commit()
    if report.wanted and (caveat := _several_authors(study, recorded)) is not None:
        report.notes.append(caveat)
    report.seconds = time.monotonic() - started
    return report


def _several_authors(study: Study, recorded: RecordedEvaluations) -> str | None:
    """A caveat if the evaluations of one evaluator are by several authors."""
    rows = recorded.rows
    if "author" not in rows.column_names or PLAYER in recorded.identity:
        return None
    players = PlayersOf.load(study, rows["game_id"].to_numpy())
    authors = pc.index_in(rows["author"], pa.array(["first", "second"]))
    codes = pc.add(pc.fill_null(authors, -1), 1).to_numpy().astype(np.int8)
    several = players.comment_authors(codes, inferred=AUTHORS in recorded.identity)
    return None if several is None else several.caveat(recorded.spec.title)


def as_evaluations(rows: pa.Table) -> pa.Table:
    """Convert rows to the schema of evaluations; missing columns are null."""
    for name in EVALUATION_SCHEMA.names:
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), EVALUATION_SCHEMA.field(name).type))
    return rows.select(EVALUATION_SCHEMA.names).cast(EVALUATION_SCHEMA)


_KIND: Final = "uct"


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
    with changing(derived_file(study.path, "visits", _KIND), "visits") as change:
        change.replace_all(rows, {"search": search, "created": now()})


def has_visits(study: Path) -> bool:
    """Whether the study in this folder has visits."""
    return derived_file(study, "visits", _KIND).exists()


def stored_visits(study: Study, games: NDArray[Any], plies: NDArray[Any]) -> Visits:
    """The stored visits of some positions."""
    rows = study.sql("select * from visits order by game_id, ply").combine_chunks()
    place, known = find_positions(rows, games, plies)
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
