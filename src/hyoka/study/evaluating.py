# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a study's positions: any evaluator, in parallel and resumable."""

import contextlib
import functools
import itertools
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.agents import (
    Agent,
    CalibratedSpec,
    RecordedEvaluations,
    RecordedGame,
    Spec,
    SpecLike,
    agent_of,
    calibrated,
)
from hyoka.analysis import Sample
from hyoka.engines import Failure
from hyoka.foundation.errors import EngineError, NotationError, ParameterError, StudyError
from hyoka.foundation.options import WHERE_HELP, check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.foundation.text import DefaultTitle
from hyoka.games import AnyLine, facts_named
from hyoka.games.evaluation import Evaluation
from hyoka.games.lines import as_line
from hyoka.models.calibration_model import CalibrationModel
from hyoka.models.training_games import LearnedGames
from hyoka.parallel import Done, Run, RunStopped, WorkerState
from hyoka.search.searcher import name_or_none, search_line
from hyoka.search.spec import SearchSpec
from hyoka.storage.files import now
from hyoka.storage.game_ids import game_id
from hyoka.storage.manifest import (
    AUTHORS,
    PLAYER,
    Change,
    changing,
    derived_file,
    derived_files,
    read_manifest,
)
from hyoka.storage.model_file import read_model_file
from hyoka.storage.table_files import MatchedRows
from hyoka.study.comment_authors import PlayersOf
from hyoka.study.sampling import evaluator_titles
from hyoka.study.study import Study
from hyoka.study.tables import EVALUATION_SCHEMA, position_keys
from hyoka.study.user_columns import find_rows

Chosen = tuple[NDArray[Any], NDArray[Any]]
"""Game numbers and plies of positions, in order."""


@dataclass
class EvaluationSummary:
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
            "select r.game_id, r.ply, value, score, mate, depth, nodes, spent_s as time_s, author, "
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
) -> EvaluationSummary:
    """Store recorded evaluations of chosen positions, except for those already stored.

    `anew` replaces existing evaluations.
    """
    started = time.monotonic()
    spec, rows = recorded.spec, recorded.rows
    report = EvaluationSummary(spec.id, title=spec.title, notes=[*recorded.notes])
    source = recorded.identity.get("source", "")
    with evaluations_of(study, spec.id) as change:
        keys = position_keys(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
        chosen_rows = np.isin(keys, position_keys(*chosen))
        if anew:
            if not chosen_rows.any():
                raise StudyError(f"{source}: no row matches a chosen position")
            before = change.values.get("source", "") if change.values else source
            if before != source:
                former = before or f"the table {spec.title}"
                report.notes.insert(0, f"replaced the evaluations of {former}")
            change.parts.clear()
        new = chosen_rows & ~np.isin(keys, position_keys(*positions_done(change)))
        report.wanted = int(chosen_rows.sum())
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


@dataclass(frozen=True)
class Evaluated:
    """The result of a task."""

    table: pa.Table
    failures: list[Failure]
    seconds: float
    name: str
    version: str
    error: EngineError | None = None
    """The error that ended the task early."""


def evaluate_games(
    spec: Spec, games: Sequence[RecordedGame], worker_state: WorkerState
) -> Evaluated:
    """Evaluate positions of records of one game; a canceled run returns the results so far."""
    started = time.monotonic()
    game = games[0].game
    evaluator = worker_state.resource("evaluator", lambda: agent_of(spec).evaluator(game))
    name, version = evaluator.identity()
    results: list[Evaluation | Failure] = []
    error: EngineError | None = None
    try:
        for result in evaluator.evaluate_each(games):
            if worker_state.is_stopped:
                break
            results.append(result)
        else:
            name, version = evaluator.identity()  # an engine may have restarted
    except EngineError as given_up:
        if not worker_state.is_stopped:
            if not results:
                raise
            error = given_up  # after what has been evaluated before
    if worker_state.is_stopped and not results:
        raise RunStopped
    for result in results:
        if isinstance(result, Failure) and result.reason == "game":
            raise EngineError(spec.title, result.message, reason="game")
    keys = [(each.number, ply) for each in games for ply in each.plies]
    return Evaluated(
        _table_of(keys[: len(results)], results),
        [result for result in results if isinstance(result, Failure)],
        time.monotonic() - started,
        name,
        version,
        error,
    )


def _table_of(keys: list[tuple[int, int]], results: list[Evaluation | Failure]) -> pa.Table:
    good = [result if isinstance(result, Evaluation) else None for result in results]
    columns: dict[str, list[Any]] = {
        "game_id": [game for game, _ in keys],
        "ply": [ply for _, ply in keys],
    }
    for name in EVALUATION_SCHEMA.names[2:-1]:
        columns[name] = [getattr(result, name, None) for result in good]
    columns["failed"] = [
        f"{result.reason}: {result.message}" if isinstance(result, Failure) else None
        for result in results
    ]
    return pa.table(columns, schema=EVALUATION_SCHEMA)


_TASK_S: Final = 2.0
"""The duration of a task: long enough to amortize sending, short enough to show progress."""
_FIRST_TASK: Final = 16
_LARGEST_TASK: Final = 4000
_FLUSH_ROWS: Final = 200_000

Positions = list[RecordedGame]
"""Positions of some games, as sent to a worker."""


@dataclass(frozen=True, kw_only=True)
class EvaluationPlan:
    """The choice of positions to evaluate, and the treatment of results."""

    where: str | None = option(None, WHERE_HELP, metavar="SQL")
    sample: int | None = option(None, "Number of positions per game, at random.", min=1)
    limit: int | None = option(
        None, "Maximum number of positions, spread evenly over the games.", min=1
    )
    seed: int = option(0, "Seed of the choice of positions.")
    retry_failed: bool = option(False, "Evaluate positions again that failed before.")
    title: str = option(
        "", "Title of the evaluator in reports; needs a single evaluator.", name="name"
    )
    calibrated_by: Path | None = option(
        None,
        "Calibration model of `hyoka learn calibration`, which maps the values or scores of the "
        "evaluators to expected scores.",
        metavar="FILE",
    )
    flush_s: float = 10.0
    """The interval in which results are written; longer in long runs."""

    def __post_init__(self) -> None:
        check_options(self)


def evaluate(
    study: Study,
    specs: Sequence[SpecLike] | SpecLike,
    plan: EvaluationPlan | None = None,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
    **options: Any,
) -> list[EvaluationSummary]:
    """Evaluate positions with one or more specs and store the results in the study.

    A spec is `comments` (of the records; `comments:by=player` makes each player an evaluator,
    `comments:player=NAME*` merges players with such names), a search such as `uct:playouts=500`,
    an engine such as `uci:nodes=1:stockfish`, a Python function from a position to the first
    player's expected result, 0 to 1, or an `Evaluation` (see `PythonEvaluator`, also for scores),
    or `table:FILE` (see `ImportedEvaluations`).

    `options` are fields of the plan: `where`, `sample`, `limit`, `seed` …; a larger sample or limit
    adds positions. Evaluated positions are skipped, so the same call resumes an interrupted one. An
    evaluator with changed code or files is a new one. `jobs` evaluators run in parallel here, or
    those of `executor`.
    """
    plan = replace(plan or EvaluationPlan(), **options)
    every = specs if isinstance(specs, Sequence) and not isinstance(specs, str) else [specs]
    if plan.calibrated_by is not None:
        model = read_model_file(plan.calibrated_by, CalibrationModel.kind)
        every = [calibrated(each, model) for each in every]
    agents = [agent_of(agent_of(each).spec_for(study.game)) for each in every]
    _check_names(agents)
    if plan.title and len(agents) > 1:
        raise ParameterError("title", "needs a single evaluator; evaluate the others separately")
    chosen = sampled(study.select(plan.where), plan.sample, plan.seed, plan.limit)
    source = StudySource(study)
    reports: list[EvaluationSummary] = []
    for agent in agents:
        agent.check(study.game, here=executor is None)
        if (recorded := agent.evaluations_in(source)) is not None:
            anew = agent.replaces_evaluations
            for each in recorded:
                reports.append(store(study, each, chosen, anew=anew))
                reports[-1].notes += _training_games_note(study, each.spec, chosen[0])
            continue
        spec = agent.spec
        with evaluations_of(study, spec.id) as change:
            run = _Run(study, spec, change, plan.flush_s)
            if not change.values:
                note = _changed_since(study, spec)
                run.report.notes += [] if note is None else [note]
            left = run.left(chosen, plan.retry_failed)
            tally = Tally(progress, spec.title, len(left[0]), "positions")
            run.evaluate(left, jobs, executor, tally)
            run.report.notes += _training_games_note(study, spec, chosen[0])
            reports.append(run.report)
        if not isinstance(spec.title, DefaultTitle):
            set_title(study, spec.id, spec.title)
    _set_titles(study, reports, plan.title)
    return reports


def _training_games_note(study: Study, spec: Spec, games: NDArray[Any]) -> list[str]:
    """A note on evaluated games from which a calibration was learned."""
    if not isinstance(spec, CalibratedSpec):
        return []
    file = spec.model_file
    ids = ids_of_games(study, np.unique(games))
    note = LearnedGames.of_origin(file.origin, str(file)).note(ids)
    return [f"of the {len(ids):,} games: {note}; measure on other games"] if note else []


def ids_of_games(study: Study, games: NDArray[Any]) -> NDArray[np.uint64]:
    """The ids of some of the study's games, by their moves (see `hyoka.storage.game_ids`)."""
    table = study.sql("select game_id, moves from games order by game_id")
    places = np.searchsorted(table["game_id"].to_numpy(), games)
    moves = table["moves"].take(pa.array(places)).to_pylist()
    return np.array([game_id(np.frombuffer(each, np.uint16)) for each in moves], np.uint64)


def _set_titles(study: Study, reports: Sequence[EvaluationSummary], title: str) -> None:
    """Store a chosen title, and set the titles of the reports."""
    for report in reports if title else ():
        set_title(study, report.engine, title)
    titles = evaluator_titles(study, [report.engine for report in reports])
    for report, text in zip(reports, titles, strict=True):
        report.title = text


def _check_names(agents: Sequence[Agent[Any]]) -> None:
    """Raise ParameterError if one evaluator would replace another's evaluations."""
    names = Counter(agent.spec.id for agent in agents if agent.replaces_evaluations)
    for agent in agents:
        if names[agent.spec.id] > 1:
            raise ParameterError(
                "specs",
                f"two evaluators have the name {agent.spec.title}; rename one with name=",
            )


def _identity_of(engine: Spec) -> dict[str, Any]:
    """The spec and the hashes of its files and functions."""
    contents = dict(engine.dependencies) or None
    return {"spec": str(engine), "contents": contents}


def _changed_since(study: Study, engine: Spec) -> str | None:
    """A note on the last evaluator with the same spec but other files or functions."""
    identity = _identity_of(engine)
    if not identity["contents"]:
        return None
    others = []
    for file in derived_files(study.path, "evaluations").values():
        stored = read_manifest(file).values
        contents = stored.get("contents", {})
        if stored.get("spec") == identity["spec"] and contents != identity["contents"]:
            others.append((str(stored.get("created", "")), contents))
    if not others:
        return None
    created, contents = max(others, key=lambda each: each[0])
    what = [
        name for name in identity["contents"] if contents.get(name) != identity["contents"][name]
    ]
    names = f"{' and '.join(what)} of {engine}" if what else engine
    return f"{names} has changed since {created}; stored as a new evaluator {engine.id}"


def sampled(
    chosen: pa.Table, sample: int | None, seed: int, limit: int | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sample positions reproducibly by seed; returns game ids and plies in order.

    `limit` takes one position of every game, in random order, before a second of any.
    """
    games = chosen["game_id"].to_numpy()
    plies = chosen["ply"].to_numpy()
    if (sample is None and limit is None) or len(games) == 0:
        return games, plies
    chance = scrambled(games, plies, seed)
    order = np.lexsort((chance, games))
    first = np.flatnonzero(np.diff(games[order], prepend=-1))
    rank = np.arange(len(games)) - np.repeat(first, np.diff(first, append=len(games)))
    if sample is not None:
        order, rank = order[rank < sample], rank[rank < sample]
    if limit is not None:
        order = order[np.lexsort((chance[order], rank))[:limit]]
    kept = np.sort(order)
    return games[kept], plies[kept]


def scrambled(games: NDArray[Any], plies: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """A reproducible 64-bit hash of each position (splitmix64)."""
    with np.errstate(over="ignore"):
        bits = games.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits += plies.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03) + np.uint64(seed % 2**64)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class _Run:
    """The run of one evaluator over a study."""

    def __init__(self, study: Study, engine: Spec, change: Change, flush_s: float) -> None:
        self._flush_s = flush_s
        self._study = study
        self._engine = engine
        self._change = change
        self.report = EvaluationSummary(engine.id)
        self._rows: list[pa.Table] = []
        self._started = self._flushed = time.monotonic()

    def left(
        self, chosen: tuple[NDArray[Any], NDArray[Any]], retry_failed: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The chosen positions without an evaluation."""
        if retry_failed:
            _drop_failed(self._change)
        games, plies = chosen
        keys = position_keys(games, plies)
        new = ~np.isin(keys, position_keys(*positions_done(self._change)))
        failed = np.isin(keys, position_keys(*positions_done(self._change, failed=True)))
        self.report.wanted = len(games)
        self.report.failed_before = int(failed.sum())
        self.report.found = len(games) - int(new.sum()) - self.report.failed_before
        return games[new], plies[new]

    def evaluate(
        self,
        left: tuple[NDArray[Any], NDArray[Any]],
        jobs: int,
        executor: Executor | None,
        tally: Tally,
    ) -> None:
        """Run the tasks and write parts; an error keeps the results so far."""
        if len(left[0]) == 0:
            return
        tasks = _Tasks(self._study, left)
        work = functools.partial(evaluate_games, self._engine)
        arrived: deque[Done[Positions, Evaluated]] = deque()
        what = self._engine.title
        with Run(work, jobs=jobs, executor=executor, what=what, name="hyoka-evaluate") as run:
            try:
                for batch in run.batches(tasks):
                    arrived.extend(batch)
                    while arrived:
                        done = arrived.popleft()
                        tasks.learn(len(done.result.table), done.result.seconds)
                        self._take(done.result)
                        tally.add(len(done.result.table))
                        if done.result.error is not None:
                            raise done.result.error
                    self._flush_sometimes()
            except BaseException:
                for done in [*arrived, *run.stop()]:
                    # Also skip positions that another version evaluated.
                    with contextlib.suppress(EngineError):
                        self._take(done.result)
                raise
            finally:
                self._flush()
                self.report.seconds = time.monotonic() - self._started

    def _take(self, result: Evaluated) -> None:
        self._check_identity(result)
        self._rows.append(result.table)
        self.report.failed += len(result.failures)
        self.report.done += len(result.table)
        self.report.failures += result.failures[: max(0, 10 - len(self.report.failures))]

    def _check_identity(self, result: Evaluated) -> None:
        """Record the evaluator's version; raise EngineError if it differs from the stored one."""
        stored = self._change.values
        if not stored:
            self._change.values = {
                "name": result.name,
                "version": result.version,
                "title": agent_of(self._engine).title_of(f"{result.name} {result.version}".strip()),
                "created": now(),
                **_identity_of(self._engine),
            }
            return
        if (stored.get("name"), stored.get("version")) != (result.name, result.version):
            raise EngineError(
                self._engine.title,
                f"is {result.name} {result.version}, but the evaluations in "
                f"{self._change.file.parent} are by "
                f"{stored.get('name')} {stored.get('version')}; rename it with name=...",
                reason="nonsense",
            )

    def _flush_sometimes(self) -> None:
        # The flush interval grows with the run, to limit the number of parts.
        age = time.monotonic() - self._flushed
        patience = max(self._flush_s, 0.02 * (time.monotonic() - self._started))
        if age >= patience or sum(map(len, self._rows)) > _FLUSH_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._flushed = time.monotonic()
        if self._rows:
            rows, self._rows = pa.concat_tables(self._rows), []
            self._change.add(rows)
            self._change.commit()


def _drop_failed(change: Change) -> None:
    """Remove failed positions from the parts."""
    parts = []
    for part, table in zip(change.parts, change.tables(), strict=True):
        good = table.filter(table["failed"].is_null())
        if len(good) == len(table):
            parts.append(part)
        elif len(good):
            parts.append(change.write(good))
    if parts != change.parts:
        change.parts = parts
        change.commit()


class _Tasks:
    """Divides positions into tasks of about equal duration."""

    def __init__(self, study: Study, left: tuple[NDArray[Any], NDArray[Any]]) -> None:
        self._game = study.game
        self._games, self._plies = left
        self._size = _FIRST_TASK
        self._records = _GameLookup(study)

    def learn(self, positions: int, seconds: float) -> None:
        """Adapt the size of tasks gradually to the measured speed."""
        fitting = positions * _TASK_S / max(seconds, 1e-3)
        self._size = int(min(max(fitting, self._size / 4, 1), 4 * self._size, _LARGEST_TASK))

    def __iter__(self) -> Iterator[Positions]:
        at = 0
        while at < len(self._games):
            end = min(at + self._size, len(self._games))
            games, plies = self._games[at:end], self._plies[at:end]
            at = end
            grouped = itertools.groupby(
                zip(games.tolist(), plies.tolist(), strict=True), lambda p: p[0]
            )
            plies_of = {game: [ply for _, ply in group] for game, group in grouped}
            records = self._records.of(list(plies_of))
            yield [
                RecordedGame(self._game, game, *records[game], plies_of[game]) for game in plies_of
            ]


class _GameLookup:
    """Cached lookup of starts, komi and moves, fetched in the order of games."""

    _AHEAD: Final = 2000

    def __init__(self, study: Study) -> None:
        self._study = study
        self._known: dict[int, tuple[str, float, bytes]] = {}

    def of(self, games: list[int]) -> dict[int, tuple[str, float, bytes]]:
        if any(game not in self._known for game in games):
            rows = self._study.sql(
                "select game_id, start, coalesce(komi, 'nan'::double) as komi, moves from games "
                f"where game_id between {games[0]} and {max(games[-1], games[0] + self._AHEAD)}"
            )
            columns = [column.to_pylist() for column in rows.columns]
            self._known = {
                game: (start, komi, moves)
                for game, start, komi, moves in zip(*columns, strict=True)
            }
        return {game: self._known[game] for game in games}


Values = Callable[[Sequence[Any]], Sequence[float]]
"""A function from positions to the first player's expected results, 0 to 1."""


def line_sample(
    lines: Iterable[AnyLine], evaluator: SearchSpec | str | Values, *, name: str = ""
) -> Sample:
    """Evaluate every position of finished games and return a sample with the results.

    `evaluator` is a search, which evaluates each position from scratch, or a function from a
    game's positions to values for the first player. Games without a result are excluded, as is
    each game's last position, whose result the rules determine. Supports bundled and Python games;
    pass the result to `curve`, `measure` and others. Raises NotationError if no game has a result.

    >>> import hyoka as hk
    >>> games = [hk.search.play_game(hk.Othello(), f"random:seed={i}", "random") for i in range(3)]
    >>> sample = line_sample(games, lambda positions: [0.5] * len(positions), name="even")
    >>> sample.game_count, len(sample) == sum(map(len, games))
    (3, True)
    """
    values: list[float] = []
    results: list[float] = []
    games: list[int] = []
    for number, line in enumerate(lines):
        outcome = line.outcome
        if outcome is None:
            continue
        line_values = _line_values(line, evaluator)
        values += line_values
        results += [float(outcome.value)] * len(line_values)
        games += [number] * len(line_values)
    if not games:
        raise NotationError("no game has a result")
    label = name or _line_label(evaluator)
    return Sample.of(label, values, results=results, games=games)


def _line_values(line: AnyLine, evaluator: SearchSpec | str | Values) -> list[float]:
    count = len(line.moves)
    if not callable(evaluator):
        results = itertools.islice(search_line(line, evaluator), count)
        return [math.nan if each.value is None else each.value for each in results]
    start = as_line(line.start, name_or_none(line))
    lines = itertools.accumulate(line.moves, lambda here, move: here.play(move), initial=start)
    values = list(map(float, evaluator([each.position for each in itertools.islice(lines, count)])))
    if len(values) != count:
        raise NotationError(f"{len(values)} values for {count} positions")
    return values


def _line_label(evaluator: SearchSpec | str | Values) -> str:
    if isinstance(evaluator, str):
        return evaluator
    if isinstance(evaluator, SearchSpec):
        return evaluator.text
    return getattr(evaluator, "__name__", "function")
