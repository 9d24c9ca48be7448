# SPDX-License-Identifier: Apache-2.0
"""Evaluating the positions of a study: any evaluator, in parallel, resumed where it stopped."""

import contextlib
import functools
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hyoka.contestants import RecordedGame, Spec, contestant_of, is_spec, spec_of
from hyoka.engines import Failure
from hyoka.errors import EngineError
from hyoka.evaluation import Evaluation
from hyoka.fleet import Done, Run
from hyoka.games import game_facts
from hyoka.progress import OnProgress, Tally
from hyoka.search import PythonEvaluator
from hyoka.study.layout import COMMENTS, now
from hyoka.study.manifest import ENGINE, Change, changing, read_manifest, read_part
from hyoka.study.speakers import AUTHORS, leanings, take_turns
from hyoka.study.study import Study
from hyoka.study.tables import EVALUATION_SCHEMA, position_keys
from hyoka.study.tasks import Evaluated, evaluate_games

_TASK_S: Final = 2.0
"""How long a task should last: long enough to pay for the sending, short enough to see progress."""
_FIRST_TASK: Final = 16
_LARGEST_TASK: Final = 4000
_FLUSH_ROWS: Final = 200_000

Judge = Callable[[Any], Evaluation | float]
"""A function of positions of its game: an evaluation, or the first player's expected result."""
Positions = list[RecordedGame]
"""Positions of some games, as they travel to a worker."""


@dataclass
class EvaluationReport:
    """What one evaluator did."""

    engine: str
    """The name under which its evaluations are kept."""
    wanted: int = 0
    found: int = 0
    """Evaluated before."""
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    """The first few."""
    notes: list[str] = field(default_factory=list)
    """What whoever asked should know, a line each."""


def evaluate(  # noqa: PLR0913 - a keyword for each choice
    study: Study,
    specs: Sequence[str | Spec | Judge],
    *,
    where: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    executor: Executor | None = None,
    retry_failed: bool = False,
    flush_s: float = 10.0,
    progress: OnProgress | None = None,
) -> list[EvaluationReport]:
    """Evaluate positions with each of `specs` and keep the results in the study.

    A spec is `comments` (what the records say), a search of ours such as `uct:playouts=500`, an
    engine such as `uci:nodes=1:stockfish`, or a function in Python that takes a position and gives
    the first player's expected result, 0 to 1, or an `Evaluation` (see `PythonEvaluator`). `where`
    chooses positions, `sample` takes so many of each game at random (by `seed`). What has been
    evaluated is not evaluated again; interrupted, the same call goes on. An evaluator whose code or
    files have changed is another one. `jobs` engines work side by side here, or as many as
    `executor` runs if one is given. Results are written every `flush_s` seconds, in a long run
    less often.
    """
    chosen = sampled(study.select(where), sample, seed)
    reports = []
    for spec in specs:
        if spec == COMMENTS:
            reports.append(_take_comments(study, chosen))
            continue
        engine = contestant_of(_evaluator_of(spec)).spec_for(study.game)
        contestant = contestant_of(engine)
        contestant.check(study.game, here=executor is None)
        with _evaluations_of(study, engine.slug) as change:
            run = _Run(study, engine, change, flush_s)
            if not change.values:
                note = _changed_since(study.path / "evaluations", engine)
                run.report.notes += [] if note is None else [note]
            left = run.left(chosen, retry_failed)
            tally = Tally(progress, contestant.label, len(left[0]), "positions")
            run.evaluate(left, jobs, executor, tally)
            reports.append(run.report)
    return reports


def _evaluator_of(spec: str | Spec | Judge) -> Spec:
    if isinstance(spec, str):
        return spec_of(spec, [COMMENTS])
    return spec if is_spec(spec) else PythonEvaluator(cast(Judge, spec))


def _identity_of(engine: Spec) -> dict[str, Any]:
    """What was asked for, and of what its text does not tell, what it was."""
    contents = dict(engine.contents) or None
    return {"spec": contestant_of(engine).full_text, "contents": contents}


def _changed_since(evaluations: Path, engine: Spec) -> str | None:
    """A line about the last evaluator of the same text whose files or functions were others."""
    wanted = _identity_of(engine)
    if not wanted["contents"]:
        return None
    others = []
    for file in evaluations.glob(f"engine=*/{ENGINE}"):
        known = read_manifest(file).values
        contents = known.get("contents", {})
        if known.get("spec") == wanted["spec"] and contents != wanted["contents"]:
            others.append((str(known.get("created", "")), contents))
    if not others:
        return None
    created, contents = max(others, key=lambda each: each[0])
    what = [name for name in wanted["contents"] if contents.get(name) != wanted["contents"][name]]
    artefacts = engine.artefacts
    names = ", ".join(str(artefacts.get(name, engine.title)) for name in what) or engine.title
    return f"{names} has changed since {created}: kept as another evaluator {engine.slug}"


def sampled(chosen: pa.Table, sample: int | None, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Game numbers and plies in order; with `sample`, the same ones for the same seed."""
    games = chosen["game_id"].to_numpy()
    plies = chosen["ply"].to_numpy()
    if sample is None or len(games) == 0:
        return games, plies
    order = np.lexsort((scrambled(games, plies, seed), games))
    first = np.flatnonzero(np.diff(games[order], prepend=-1))
    rank = np.arange(len(games)) - np.repeat(first, np.diff(first, append=len(games)))
    kept = np.sort(order[rank < sample])
    return games[kept], plies[kept]


def scrambled(games: NDArray[Any], plies: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """64 bits for each position that look random and never change (splitmix64)."""
    with np.errstate(over="ignore"):
        bits = games.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits += plies.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03) + np.uint64(seed % 2**64)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _evaluations_of(study: Study, name: str) -> contextlib.AbstractContextManager[Change]:
    """What an evaluator has said, for the one who may add to it."""
    return changing(study.path / "evaluations" / f"engine={name}" / ENGINE, "evaluating")


def _take_comments(study: Study, chosen: tuple[NDArray[Any], NDArray[Any]]) -> EvaluationReport:
    """What the records say becomes evaluations like any other."""
    started = time.monotonic()
    report = EvaluationReport(COMMENTS)
    with _evaluations_of(study, COMMENTS) as change:
        remarks, inferred = _with_authors(
            study.sql(
                "select r.game_id, r.ply, value, score, mate, depth, spent_s as time_s, author, "
                "case when first_to_play then 'second' else 'first' end as mover "
                "from remarks r join positions p on p.game_id = r.game_id and p.ply = r.ply "
                "where value is not null or score is not null or mate is not null "
                "order by r.game_id, r.ply"
            )
        )
        keys = position_keys(*chosen)
        remarked = position_keys(remarks["game_id"].to_numpy(), remarks["ply"].to_numpy())
        wanted = np.isin(remarked, keys)
        done = position_keys(*_done(change))
        new = wanted & ~np.isin(remarked, done)
        report.wanted = int(wanted.sum())
        report.found = report.wanted - int(new.sum())
        report.done = int(new.sum())
        if report.done:
            rows = remarks.filter(pa.array(new))
            unit = game_facts(study.game).unit
            rows = rows.append_column("unit", pa.array([unit] * len(rows)))
            for name in EVALUATION_SCHEMA.names:
                if name not in rows.column_names:
                    kind = EVALUATION_SCHEMA.field(name).type
                    rows = rows.append_column(name, pa.nulls(len(rows), kind))
            rows = rows.select(EVALUATION_SCHEMA.names).cast(EVALUATION_SCHEMA)
            identity = {"spec": COMMENTS, "name": "the records' own values", "created": now()}
            change.values = change.values or identity
            change.values |= {AUTHORS: "the movers, as the values show"} if inferred else {}
            change.add(rows)
            change.commit()
    report.seconds = time.monotonic() - started
    return report


def _with_authors(remarks: pa.Table) -> tuple[pa.Table, bool]:
    """Remarks with whose they are, if need be as they themselves show; and whether that was so."""
    authors, movers = remarks["author"], remarks["mover"]
    remarks = remarks.drop_columns(["mover"])
    if authors.null_count < len(authors) or not len(authors):
        return remarks, False
    leaning = leanings(*(_numbers(remarks[name]) for name in ("value", "score")))
    games, plies = (remarks[name].to_numpy() for name in ("game_id", "ply"))
    if not take_turns(leaning, games, plies):
        return remarks, False
    spoken = pc.if_else(pa.array(plies > 0), movers, None)
    return remarks.set_column(remarks.schema.get_field_index("author"), "author", spoken), True


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy())


def _done(change: Change) -> tuple[NDArray[Any], NDArray[Any]]:
    """The positions that an evaluator's parts hold."""
    games, plies = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for part in change.parts:
        table = read_part(change.file.parent / part.name, ["game_id", "ply"])
        games.append(table["game_id"].to_numpy())
        plies.append(table["ply"].to_numpy())
    return np.concatenate(games), np.concatenate(plies)


class _Run:
    """One evaluator at work on a study."""

    def __init__(self, study: Study, engine: Spec, change: Change, flush_s: float) -> None:
        self._flush_s = flush_s
        self._study = study
        self._engine = engine
        self._change = change
        self.report = EvaluationReport(engine.slug)
        self._rows: list[pa.Table] = []
        self._started = self._flushed = time.monotonic()

    def left(
        self, chosen: tuple[NDArray[Any], NDArray[Any]], retry_failed: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The positions that are wanted and not there yet."""
        if retry_failed:
            _drop_failed(self._change)
        games, plies = chosen
        new = ~np.isin(position_keys(games, plies), position_keys(*_done(self._change)))
        self.report.wanted = len(games)
        self.report.found = len(games) - int(new.sum())
        return games[new], plies[new]

    def evaluate(
        self,
        left: tuple[NDArray[Any], NDArray[Any]],
        jobs: int,
        executor: Executor | None,
        tally: Tally,
    ) -> None:
        """Send out tasks, take in results, write parts; whatever happens, results are kept."""
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
                    self._flush_sometimes()
            except BaseException:
                for done in [*arrived, *run.stop()]:
                    # Another version's values stay out here too.
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
        """Who evaluated; another version's values don't go into the same table."""
        known = self._change.values
        if not known:
            self._change.values = {
                "name": result.name,
                "version": result.version,
                "created": now(),
                **_identity_of(self._engine),
            }
            return
        if (known.get("name"), known.get("version")) != (result.name, result.version):
            raise EngineError(
                self._engine.title,
                f"is {result.name} {result.version}, but the evaluations in "
                f"{self._change.file.parent} are by "
                f"{known.get('name')} {known.get('version')}; give it another name with name=...",
                reason="nonsense",
            )

    def _flush_sometimes(self) -> None:
        # Parts grow with the run, so that a long one does not leave thousands.
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
    """Put parts without the positions that failed in the place of those that have some."""
    kept = []
    for part in change.parts:
        table = read_part(change.file.parent / part.name)
        good = table.filter(table["failed"].is_null())
        if len(good) == len(table):
            kept.append(part)
        elif len(good):
            kept.append(change.write(good))
    if kept != change.parts:
        change.parts = kept
        change.commit()


class _Tasks:
    """Cuts what is to be evaluated into tasks that last about as long as they should."""

    def __init__(self, study: Study, left: tuple[NDArray[Any], NDArray[Any]]) -> None:
        self._game = study.game
        self._games, self._plies = left
        self._size = _FIRST_TASK
        self._records = _GameLookup(study)

    def learn(self, positions: int, seconds: float) -> None:
        """Adjust the size of tasks to the speed seen, not too quickly."""
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
            wanted = {game: [ply for _, ply in group] for game, group in grouped}
            records = self._records.of(list(wanted))
            yield [RecordedGame(self._game, game, *records[game], wanted[game]) for game in wanted]


class _GameLookup:
    """Starts, komi and moves of games, fetched some thousands at a time in the order of games."""

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
