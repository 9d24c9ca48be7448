# SPDX-License-Identifier: Apache-2.0
"""Exact results of positions and records, stored beside the records' own results."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
import pyarrow as pa

from hyoka.foundation.errors import StudyError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import Position, Replay
from hyoka.search import EXACT_METHODS
from hyoka.storage.files import now
from hyoka.storage.manifest import Change, changing, derived_file
from hyoka.study.study import Study
from hyoka.study.tables import ADJUDICATION_SCHEMA

Solve = Callable[[Position], float | None]
"""The first player's exact result of a position (1, 0.5, 0); None if unknown."""
_KINDS: Final = ADJUDICATION_SCHEMA.types
_POSITIONS: Final = pa.schema([ADJUDICATION_SCHEMA.field(name) for name in ("game_id", "ply")])
_RECORDS_AT_ONCE: Final = 64
"""The maximum number of records that an interrupt loses."""


@dataclass(frozen=True)
class AdjudicationSummary:
    """The result of adjudicating positions."""

    method: str
    asked: int
    known: int
    differing: int
    """Known results that differ from the record's."""


@dataclass(frozen=True)
class WinnersSummary:
    """The result of adjudicating records."""

    method: str
    records: int
    """All adjudicated records, including earlier ones."""
    found: int
    """Records that were adjudicated before."""
    known: int
    changed: int
    """Known winners that differ from the record's."""
    new: int
    """Known winners of records without a result."""


def adjudicate(
    study: Study,
    method: str = "rules",
    *,
    where: str | None = None,
    solver: Solve | None = None,
    progress: OnProgress | None = None,
) -> AdjudicationSummary:
    """Adjudicate positions by an exact method and store the results in the study.

    `where` selects positions; by default the last of each game. Positions are adjudicated again if
    selected again; other results stay. The results of a custom `solver` are stored under the name
    `method`.
    """
    solve = _solver_of(method, solver)
    condition = where or "ply = plies"
    chosen = study.select(condition, "game_id, ply, result")
    tally = Tally(progress, method, len(chosen), "positions")
    with changing(derived_file(study.path, "adjudications", method), "adjudicating") as change:
        rows = [
            (game, ply, value, result)
            for game, ply, result, value in _solved(study, chosen, solve, tally)
        ]
        merged = _merged(change, chosen, [row[:3] for row in rows])
        change.replace_all(merged, {"method": method, "where": condition, "created": now()})
    differing = sum(result is not None and value != result for *_, value, result in rows)
    return AdjudicationSummary(method, len(chosen), len(rows), differing)


def adjudicate_records(
    study: Study,
    method: str = "mate",
    *,
    solver: Solve | None = None,
    jobs: int = 1,
    progress: OnProgress | None = None,
) -> WinnersSummary:
    """Adjudicate records by an exact method and store the winners beside the records' results.

    The first position of a record with an exact result decides the record; without one, the
    record's own result stays. All analyses then use these winners, except at positions with a
    result of `adjudicate`. Records adjudicated before are skipped.
    """
    solve = _solver_of(method, solver)
    with changing(derived_file(study.path, "winners", method), "adjudicating") as change:
        former = (table["game_id"] for table in change.tables(["game_id"]))
        before = np.concatenate([np.zeros(0, np.int64), *former])
        games = study.sql(
            "select game_id, plies from games where duplicate_of is null order by game_id"
        )
        games = games.filter(pa.array(~np.isin(games["game_id"].to_numpy(), before)))
        plies = games["plies"].to_numpy().astype(np.int64)
        table = study.game_table_of(
            np.repeat(games["game_id"].to_numpy(), plies + 1),
            np.concatenate([np.zeros(0, np.int64), *(np.arange(each + 1) for each in plies)]),
        )
        tally = Tally(progress, f"{method} of records", len(games), "games")
        change.values = {"method": method, "created": now()}
        pool = ThreadPoolExecutor(jobs)
        try:
            replays = table.replays()
            while some := list(islice(replays, _RECORDS_AT_ONCE)):
                futures = [pool.submit(_find_result, *each, solve) for each in some]
                change.add(_as_table([each.result() for each in futures]))
                change.commit()
                tally.add(len(some))
        finally:
            pool.shutdown(cancel_futures=True)
    return _winners_report(study, method, len(before))


def _find_result(
    game: int, replay: Replay, plies: Sequence[int], solve: Solve
) -> tuple[int, int, float | None]:
    """Return the first ply with an exact result, and the result."""
    for ply in plies:
        value = solve(replay.position(ply))
        if value is not None:
            return game, ply, value
    return game, plies[-1], None


def _winners_report(study: Study, method: str, before: int) -> WinnersSummary:
    counts = study.sql(
        "select count(*) as records, count(w.result) as known, "
        "count(*) filter (w.result <> g.result) as changed, "
        "count(*) filter (w.result is not null and g.result is null) as new "
        f"from winners w join games g using (game_id) where method = '{method}'"
    )
    [row] = counts.to_pylist()
    return WinnersSummary(method, found=before, **row)


def _solver_of(method: str, solver: Solve | None) -> Solve:
    solve = solver or EXACT_METHODS.get(method)
    if solve is None:
        raise StudyError(f"no exact method '{method}'; known: {', '.join(EXACT_METHODS)}")
    if not method.replace("-", "").replace("_", "").isalnum():
        raise StudyError(f"'{method}' is not a method's name: use letters, digits, - and _")
    return solve


def _as_table(rows: Sequence[tuple[int, int, float | None]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, _KINDS, strict=True)],
        schema=ADJUDICATION_SCHEMA,
    )


def _merged(change: Change, chosen: pa.Table, results: list[tuple[int, int, float]]) -> pa.Table:
    """Return the stored results, with those of the chosen positions replaced."""
    positions = chosen.select(["game_id", "ply"]).cast(_POSITIONS)
    others = (
        former.join(positions, ["game_id", "ply"], join_type="left anti")
        for former in change.tables()
    )
    tables = [table.cast(ADJUDICATION_SCHEMA) for table in (_as_table(results), *others)]
    return pa.concat_tables(tables).sort_by([("game_id", "ascending"), ("ply", "ascending")])


def _solved(
    study: Study, chosen: pa.Table, solve: Solve, tally: Tally
) -> Iterator[tuple[int, int, float | None, float]]:
    table = study.game_table_of(chosen["game_id"].to_numpy(), chosen["ply"].to_numpy())
    places = ((game, replay, ply) for game, replay, plies in table.replays() for ply in plies)
    for (game, replay, ply), result in zip(places, chosen["result"].to_pylist(), strict=True):
        value = solve(replay.position(ply))
        tally.add()
        if value is not None:
            yield game, ply, result, value
