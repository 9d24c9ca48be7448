# SPDX-License-Identifier: Apache-2.0
"""The records and evaluators that a report covers, its options and its progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from hyoka.analysis.sample import DrawnGames, Link
from hyoka.foundation.progress import OnProgress, Progress
from hyoka.records.record import Standings
from hyoka.study import COMMENTS, Study
from hyoka.study.comment_authors import PLAYER
from hyoka.study.manifest import read_description
from hyoka.study.sampling import EVALUATOR, SAID, identity, said_by
from hyoka.study.sql import check_condition


class Choices(TypedDict, total=False):
    """Keywords of everything that makes a report; each may be left out."""

    evaluators: Sequence[str] | str | None
    """All of the study's unless some are named."""
    where: str | None
    """An SQL condition on positions."""
    draws: DrawnGames
    """`drop` leaves drawn games out of curves, metrics and splits; `half` counts each as half a
    win, so that shares of wins become expected scores. `drop` unless given."""
    slices: int
    """So many are shown of each evaluator: 5 unless given."""
    boards_a_bin: int
    """So many positions of each bin are drawn: 4 unless given."""
    resamples: int | None
    """How often games are drawn again: 1,000 unless given, fewer of more than 300,000 positions,
    but 200; 0 gives no intervals and so makes few claims."""
    link: Link | None
    """What scores' logistic curves make of them; what games held out prefer unless given."""
    seed: int
    """Draws the games and chooses the boards."""


class Steps:
    """Counts the steps of a report, and tells who wants to know."""

    def __init__(self, progress: OnProgress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def begin(self, step: str) -> None:
        """Say what is being done now; the step before is done."""
        self._tell(min(self._done, self._total), step)
        self._done += 1

    def end(self) -> None:
        """Say that all is done."""
        self._tell(self._total, "done")

    def _tell(self, done: int, step: str) -> None:
        if self._progress is not None:
            self._progress(Progress("report", done, self._total, "steps", step))


@dataclass(frozen=True)
class RecordFacts:
    """The games of a study, duplicates left out."""

    sources: tuple[str, ...]
    """Names of the files, without their folders."""
    games: int
    positions: int
    first_won: int
    drawn: int
    second_won: int
    plies: tuple[int, int, int]
    """The shortest game's, the median and the longest game's."""
    standings: Standings
    """The players' ranks and ratings."""
    dates: tuple[str, str] | None
    duplicates: int
    refused: int

    @property
    def without_result(self) -> int:
        """Games of which the record does not say who won."""
        return self.games - self.first_won - self.drawn - self.second_won


@dataclass(frozen=True)
class EvaluatorFacts:
    """An evaluator and the number of its evaluations."""

    name: str
    spec: str
    program: str
    """Name and version that the evaluator reports."""
    positions: int
    games: int
    failed: int
    time_s: float | None
    """Mean time a position; None where nobody measured it."""
    is_player: bool = False
    """Whether it is what one player said of its own moves."""


def record_facts(study: Study) -> RecordFacts:
    """Count the games of a study."""
    [row] = study.sql(
        "select count(*) as games, count(*) filter (result = 1) as first_won, "
        "count(*) filter (result = 0.5) as drawn, count(*) filter (result = 0) as second_won, "
        "min(plies) as least, cast(median(plies) as integer) as median, max(plies) as most, "
        "min(date) filter (date <> '') as first_date, max(date) filter (date <> '') as last_date "
        "from games where duplicate_of is null"
    ).to_pylist()
    standings = Standings()
    for column in ("first_rating", "second_rating"):
        texts = study.sql(
            f"select {column} as text, count(*) as count from games where duplicate_of is null "
            f"and {column} <> '' group by {column}"
        ).to_pylist()
        standings.add((each["text"], each["count"]) for each in texts)
    description = read_description(study.path)
    [counts] = study.sql(
        "select (select count(*) from positions) as positions, "
        "(select count(*) from games where duplicate_of is not null) as duplicates, "
        "(select count(*) from refused) as refused"
    ).to_pylist()
    return RecordFacts(
        tuple(Path(source).name for source in description["sources"]),
        row["games"],
        counts["positions"],
        row["first_won"],
        row["drawn"],
        row["second_won"],
        (row["least"], row["median"], row["most"]),
        standings,
        None if row["first_date"] is None else (row["first_date"], row["last_date"]),
        counts["duplicates"],
        counts["refused"],
    )


def evaluator_facts(study: Study, names: Sequence[str]) -> tuple[EvaluatorFacts, ...]:
    """Collect the facts about evaluators."""
    counted = {
        row["engine"]: row
        for row in study.sql(
            "select engine, count(*) - count(failed) as positions, count(failed) as failed, "
            "count(distinct game_id) as games, avg(time_s) as time_s from evaluations "
            "group by engine"
        ).to_pylist()
    }
    return tuple(_evaluator(study, name, counted[name]) for name in names)


def _evaluator(study: Study, name: str, row: dict[str, Any]) -> EvaluatorFacts:
    identified = identity(study, name)
    spec = str(identified.get(PLAYER, identified.get("spec", name)))
    words = [str(identified[key]) for key in ("name", "version") if identified.get(key)]
    is_player = PLAYER in identified
    # What the records say took the players' time, and no time of ours.
    timed = row["time_s"] is not None and not is_player and spec != COMMENTS
    return EvaluatorFacts(
        name,
        spec,
        " ".join(words),
        row["positions"],
        row["games"],
        row["failed"],
        float(row["time_s"]) if timed else None,
        is_player,
    )


def usable_positions(study: Study, names: Sequence[str], where: str | None) -> dict[str, int]:
    """How many positions with a result each evaluator has judged, among those that are wanted."""
    usable = [*study.condition_columns(), EVALUATOR, *SAID]
    condition = "true" if where is None else check_condition(where, usable)
    rows = study.sql(
        f"select engine_ as engine, count(*) as positions from {said_by(study, names)} "
        f"where {condition} and coalesce(adjudicated, result) is not null group by engine_"
    ).to_pylist()
    counts = {row["engine"]: int(row["positions"]) for row in rows}
    return {name: counts.get(name, 0) for name in names}
