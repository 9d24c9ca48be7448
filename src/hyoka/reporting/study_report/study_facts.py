# SPDX-License-Identifier: Apache-2.0
"""The records and evaluators that a report covers, its options and its progress."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hyoka.analysis.sample import DrawnGames, Link
from hyoka.foundation.options import WHERE_HELP, check_options, option
from hyoka.foundation.progress import OnProgress, Progress
from hyoka.records.record import Standings
from hyoka.storage.manifest import PLAYER, read_description
from hyoka.study import COMMENTS, Study
from hyoka.study.condensing import RANGE_ROWS, is_too_large, ranges_of
from hyoka.study.sampling import Question, evaluator_titles, identity


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Options of a report."""

    evaluators: Sequence[str] | str | None = None
    """Names of the evaluators; default: all of the study."""
    where: str | None = option(None, WHERE_HELP, metavar="SQL")
    draws: DrawnGames = "drop"
    """`drop` excludes drawn games from curves, metrics and slices; `half` counts each as half a
    win, so shares of wins become expected scores."""
    slices: int = option(5, "Number of slices shown per evaluator.", min=0, max=50)
    boards_a_bin: int = option(4, "Boards per bin of a curve.", min=0)
    resamples: int | None = option(
        None,
        "Resamples of games for intervals; default: 1,000, and down to 200 above 300,000 "
        "positions. With 0 there are no intervals and few findings.",
        min=0,
        max=100_000,
    )
    link: Link | None = None
    """Link of the logistic curves of scores; default: chosen on held-out games."""
    memory: str | None = option(
        None,
        "Memory for an analysis, such as 4G; by default half of the machine's. Of larger studies "
        "a random sample of the games is measured.",
        metavar="SIZE",
    )
    seed: int = option(0, "Seed of resamples and of the choice of boards.", min=0)

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_options(self)


class Steps:
    """Counts the steps of a report and reports progress."""

    def __init__(self, progress: OnProgress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def begin(self, step: str) -> None:
        """Finish the current step and start the next."""
        self._tell(min(self._done, self._total), step)
        self._done += 1

    def end(self) -> None:
        """Finish the last step."""
        self._tell(self._total, "done")

    def _tell(self, done: int, step: str) -> None:
        if self._progress is not None:
            self._progress(Progress("report", done, self._total, "steps", step))


@dataclass(frozen=True)
class RecordFacts:
    """Facts about the games of a study, without duplicates."""

    sources: tuple[str, ...]
    """File names without folders."""
    games: int
    positions: int
    first_won: int
    drawn: int
    second_won: int
    plies: tuple[int, int, int]
    """Minimum, median and maximum length of games."""
    standings: Standings
    """The players' ranks and ratings."""
    dates: tuple[str, str] | None
    duplicates: int
    refused: int

    @property
    def without_result(self) -> int:
        """Number of games without a result."""
        return self.games - self.first_won - self.drawn - self.second_won


@dataclass(frozen=True)
class EvaluatorFacts:
    """An evaluator and the number of its evaluations."""

    id: str
    title: str
    spec: str
    program: str
    """Name and version reported by the evaluator."""
    positions: int
    games: int
    failed: int
    time_s: float | None
    """Mean time per position in seconds; None if not measured."""
    is_player: bool = False
    """Whether these are a player's evaluations of its own moves."""


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
        "select (select count(*) from games where duplicate_of is not null) as duplicates, "
        "(select count(*) from refused) as refused"
    ).to_pylist()
    positions = description.get("positions")
    if positions is None:  # a study without checksums
        positions = study.sql("select count(*) as n from positions")["n"][0].as_py()
    return RecordFacts(
        tuple(Path(source).name for source in description["sources"]),
        row["games"],
        int(positions),
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
    counted = {name: Counter[str]() for name in study.engines}
    ranges = ranges_of(study, RANGE_ROWS) if is_too_large(study, names, Question()) else [None]
    for some in ranges:
        for row in (
            replace(study, chosen=some)
            .sql(
                "select engine, count(*) - count(failed) as positions, count(failed) as failed, "
                "count(distinct game_id) as games, count(time_s) as timed, "
                "coalesce(sum(time_s), 0) as time_s from evaluations group by engine"
            )
            .to_pylist()
        ):
            counted[row.pop("engine")].update(row)
    titles = evaluator_titles(study, names)
    return tuple(
        _evaluator(study, name, title, counted[name])
        for name, title in zip(names, titles, strict=True)
    )


def _evaluator(study: Study, name: str, title: str, row: Counter[str]) -> EvaluatorFacts:
    identified = identity(study, name)
    spec = str(identified.get(PLAYER, identified.get("spec", name)))
    words = [str(identified[key]) for key in ("name", "version") if identified.get(key)]
    is_player = PLAYER in identified
    # Evaluations from records took the players' time, not ours.
    timed = row["timed"] and not is_player and spec != COMMENTS
    return EvaluatorFacts(
        name,
        title,
        spec,
        " ".join(words),
        row["positions"],
        row["games"],
        row["failed"],
        row["time_s"] / row["timed"] if timed else None,
        is_player,
    )
