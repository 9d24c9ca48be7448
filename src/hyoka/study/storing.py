# SPDX-License-Identifier: Apache-2.0
"""Where an evaluator's evaluations are kept, and what was done about them."""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.engines import Failure
from hyoka.study.layout import now
from hyoka.study.manifest import ENGINE, Change, changing, read_part
from hyoka.study.study import Study
from hyoka.study.tables import EVALUATION_SCHEMA, position_keys

Chosen = tuple[NDArray[Any], NDArray[Any]]
"""Game numbers and plies of positions, in order."""


@dataclass
class EvaluationReport:
    """What one evaluator did."""

    engine: str
    """The name under which its evaluations are kept."""
    wanted: int = 0
    found: int = 0
    """Evaluated before."""
    failed_before: int = 0
    """Asked about before, without an answer."""
    done: int = 0
    failed: int = 0
    """Of those done."""
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    """The first few."""
    notes: list[str] = field(default_factory=list)
    """What whoever asked should know, a line each."""
    title: str = ""
    """What people call it, if not by that name."""

    @property
    def known(self) -> int:
        """Of how many of the positions wanted there is an evaluation."""
        return self.found + self.done - self.failed


def evaluations_of(study: Study, name: str) -> contextlib.AbstractContextManager[Change]:
    """What an evaluator has said, for the one who may add to it."""
    return changing(study.path / "evaluations" / f"engine={name}" / ENGINE, "evaluating")


def positions_done(change: Change, *, failed: bool = False) -> Chosen:
    """The positions that an evaluator's parts hold; with `failed`, those that have no answer."""
    games, plies = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for part in change.parts:
        table = read_part(change.file.parent / part.name, ["game_id", "ply", "failed"])
        if failed:
            table = table.filter(table["failed"].is_valid())
        games.append(table["game_id"].to_numpy())
        plies.append(table["ply"].to_numpy())
    return np.concatenate(games), np.concatenate(plies)


def store(  # noqa: PLR0913 - what, whose, where to
    study: Study,
    name: str,
    rows: pa.Table,
    chosen: Chosen,
    identity: Mapping[str, Any],
    *,
    anew: bool = False,
) -> EvaluationReport:
    """Keep given evaluations of chosen positions, but for those that are there already.

    With `anew` they take the place of what was there. `rows` has game_id, ply and columns of
    evaluations; those that it lacks are not known.
    """
    started = time.monotonic()
    report = EvaluationReport(name)
    with evaluations_of(study, name) as change:
        known = position_keys(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
        wanted = _among(known, position_keys(*chosen))
        if anew:
            change.parts.clear()
        new = wanted & ~np.isin(known, position_keys(*positions_done(change)))
        report.wanted = int(wanted.sum())
        report.done = int(new.sum())
        report.found = report.wanted - report.done
        if report.done or anew:
            change.values = {"created": now(), **change.values, **identity}
            change.add(as_evaluations(rows.filter(pa.array(new))))
            change.commit()
    report.seconds = time.monotonic() - started
    return report


def _among(keys: NDArray[np.int64], rising: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which keys are among others that rise: those are many, and are not sorted again."""
    if not len(rising):
        return np.zeros(len(keys), bool)
    place = np.minimum(np.searchsorted(rising, keys), len(rising) - 1)
    return np.asarray(rising[place] == keys)


def as_evaluations(rows: pa.Table) -> pa.Table:
    """Rows in the shape that a study keeps evaluations in; what they lack is null."""
    for name in EVALUATION_SCHEMA.names:
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), EVALUATION_SCHEMA.field(name).type))
    return rows.select(EVALUATION_SCHEMA.names).cast(EVALUATION_SCHEMA)
