# SPDX-License-Identifier: Apache-2.0
"""Summaries of records, computed in one pass and constant memory."""

import collections
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.records.reading import (
    MOST_UNREADABLE_KEPT,
    Batch,
    Refused,
    UnreadableNumber,
    unread_count,
)
from hyoka.records.record import Range, Standings

_FIRST_REFUSED = 20


@dataclass
class GameSummary:
    """The records of one game."""

    games: int = 0
    moves: int = 0
    results: collections.Counter[str] = field(default_factory=collections.Counter)
    endings: collections.Counter[str] = field(default_factory=collections.Counter)
    formats: collections.Counter[str] = field(default_factory=collections.Counter)
    handicap_games: int = 0
    set_up_games: int = 0
    plies: Range = field(default_factory=Range)
    standings: Standings = field(default_factory=Standings)
    komi: Range = field(default_factory=Range)
    first_date: str = ""
    last_date: str = ""
    values: int = 0
    """The number of values, scores or mates in the records."""


@dataclass
class Summary:
    """The summary of records."""

    games: dict[str, GameSummary] = field(default_factory=dict)
    refused: collections.Counter[str] = field(default_factory=collections.Counter)
    first_refused: list[Refused] = field(default_factory=list)
    sources: int = 0
    unreadable: int = 0
    """Unreadable numbers in comments, which were omitted."""
    first_unreadable: list[UnreadableNumber] = field(default_factory=list)

    @property
    def unread(self) -> int:
        """The number of unreadable files or parts of files."""
        return unread_count(self.refused)

    def as_json(self) -> dict[str, object]:
        """The summary as plain values."""

        def bounds(numbers: Range) -> dict[str, float | int | None]:
            if not numbers.count:
                return {"count": 0, "low": None, "high": None, "mean": None}
            return {
                "count": numbers.count,
                "low": numbers.low,
                "high": numbers.high,
                "mean": numbers.mean,
            }

        games = {}
        for name, one in self.games.items():
            values = {each.name: getattr(one, each.name) for each in fields(one)}
            for key in ("plies", "komi"):
                values[key] = bounds(values[key])
            standings = values.pop("standings")
            for key, levels in (("ranks", standings.ranks), ("ratings", standings.ratings)):
                ends = {"lowest": levels.lowest or None, "highest": levels.highest or None}
                values[key] = bounds(levels) | ends
            games[name] = values
        first = [asdict(refused) for refused in self.first_refused]
        return {
            "games": games,
            "sources": self.sources,
            "unreadable": self.unreadable,
            "refused": dict(self.refused),
            "unread": self.unread,
            "first_refused": first,
        }


_RESULTS = {1.0: "first won", 0.5: "drawn", 0.0: "second won", None: "not known"}


Keep = Callable[[Batch, pa.Table], NDArray[np.bool_]]
"""Selects games of a batch, a table with a row per game."""


def summarize(batches: Iterable[Batch], keep: Keep | None = None) -> Summary:
    """Summarize the games of batches, or of those that `keep` selects."""
    summary = Summary()
    last_source = None
    for batch in batches:
        if batch.source != last_source:
            last_source = batch.source
            summary.sources += 1
        summary.refused.update(refused.fault for refused in batch.refused)
        room = _FIRST_REFUSED - len(summary.first_refused)
        summary.first_refused += batch.refused[: max(0, room)]
        if len(batch):
            _count(batch, summary, keep)
    return summary


def _count(batch: Batch, summary: Summary, keep: Keep | None) -> None:
    rows = batch.arrow()
    table = batch.table
    is_chosen = np.ones(len(table), np.bool_) if keep is None else keep(batch, rows)
    mask = None if keep is None else pa.array(is_chosen)
    summary.unreadable += int(table.unreadable[is_chosen].sum())
    room = MOST_UNREADABLE_KEPT - len(summary.first_unreadable)
    summary.first_unreadable += batch.first_unreadable(is_chosen)[:room]
    remarks_of = np.repeat(np.arange(len(table)), np.diff(table.remark_offsets))
    says = ~np.isnan(table.remark_value) | ~np.isnan(table.remark_score) | (table.remark_mate != 0)
    values_of = np.bincount(remarks_of[says], minlength=len(table))
    for name in rows["game"].unique().to_pylist():
        chosen = pc.equal(rows["game"].cast("string"), name)
        if mask is not None:
            chosen = pc.and_(chosen, mask)
        of_game = rows.filter(chosen)
        if len(of_game) == 0:
            continue
        one = summary.games.setdefault(name, GameSummary())
        one.games += len(of_game)
        one.formats[batch.format] += len(of_game)
        one.moves += pc.sum(of_game["plies"]).as_py()
        _extend(one.plies, of_game["plies"])
        for column in ("first_rating", "second_rating"):
            counts = pc.value_counts(of_game[column].cast("string")).to_pylist()
            one.standings.add((each["values"] or "", each["counts"]) for each in counts)
        _extend(one.komi, of_game["komi"])
        one.handicap_games += pc.sum(pc.greater(of_game["handicap"], 0)).as_py()
        one.set_up_games += pc.sum(pc.not_equal(of_game["start"], "")).as_py()
        for counted in pc.value_counts(of_game["result"]).to_pylist():
            one.results[_RESULTS[counted["values"]]] += counted["counts"]
        for counted in pc.value_counts(of_game["ending"].cast("string")).to_pylist():
            one.endings[counted["values"]] += counted["counts"]
        dates = pc.filter(of_game["date"], pc.match_substring_regex(of_game["date"], r"^\d{4}"))
        if len(dates):
            bounds = pc.min_max(dates).as_py()
            one.first_date = min(one.first_date or bounds["min"], bounds["min"])
            one.last_date = max(one.last_date, bounds["max"])
        one.values += int(values_of[chosen.to_numpy(zero_copy_only=False)].sum())


def _extend(bounds: Range, values: pa.ChunkedArray) -> None:
    """Add numbers to a range; nulls do not count."""
    numbers = values.drop_null().to_numpy(zero_copy_only=False)
    if len(numbers):
        bounds.count += len(numbers)
        bounds.total += float(numbers.sum(dtype=np.float64))
        bounds.low = min(bounds.low, float(numbers.min()))
        bounds.high = max(bounds.high, float(numbers.max()))
