# SPDX-License-Identifier: Apache-2.0
"""Tasks of evaluating, as workers do them: each keeps its engine or search from task to task."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.engines import (
    EnginePosition,
    EngineSession,
    EngineSpec,
    Failure,
    kill_all_engines,
)
from hyoka.errors import EngineError
from hyoka.evaluation import Evaluation
from hyoka.search import PythonEvaluator, Searcher, SearchSpec
from hyoka.study.tables import EVALUATION_SCHEMA


@dataclass(frozen=True)
class Task:
    """Positions of some games, as they travel to a worker."""

    run: str
    """Which call of `evaluate` it belongs to."""
    game: str
    games: list[tuple[int, str, float, bytes, list[int]]]
    """For each game: number, start, komi, codes of its moves, and the plies wanted."""

    def __len__(self) -> int:
        return sum(len(plies) for *_, plies in self.games)


@dataclass(frozen=True)
class TaskResult:
    """What comes back from a worker."""

    table: pa.Table
    failures: list[Failure]
    seconds: float
    name: str
    version: str


class _Worker(Protocol):
    """An evaluator that a thread of this process keeps from task to task."""

    @property
    def name(self) -> str:
        """Who evaluates."""

    @property
    def version(self) -> str:
        """Which version of it."""

    def evaluate_each(self, task: Task) -> Iterator[Evaluation | Failure]:
        """Evaluate the positions of a task in order."""

    def stop(self) -> None:
        """Make a running evaluation end soon; called from another thread."""

    def close(self, *, broken: bool) -> None:
        """Let go of what it holds."""


class _EngineWorker:
    """An external engine."""

    def __init__(self, spec: EngineSpec) -> None:
        self._session = EngineSession(spec).__enter__()
        self._title = spec.title

    @property
    def name(self) -> str:
        return self._session.engine.name

    @property
    def version(self) -> str:
        return self._session.engine.version

    def evaluate_each(self, task: Task) -> Iterator[Evaluation | Failure]:
        return self._session.evaluate_each(list(_positions_of(task)))

    def stop(self) -> None:
        kill_all_engines()

    def close(self, *, broken: bool) -> None:
        # Whoever closes may have an event loop of its own, as Dask's workers do.
        closing = threading.Thread(target=self._close, args=(broken,))
        closing.start()
        closing.join()

    def _close(self, broken: bool) -> None:
        error = EngineError(self._title, "is dropped") if broken else None
        self._session.__exit__(type(error) if error else None, error, None)


class _SearchWorker:
    """A search of ours; it forgets everything before each position, so that order is nothing."""

    version = "hyoka"

    def __init__(self, spec: SearchSpec, game: str) -> None:
        self._searcher = Searcher(spec, game)
        self.name = spec.name

    def evaluate_each(self, task: Task) -> Iterator[Evaluation | Failure]:
        for _, start, komi, codes, plies in task.games:
            replay = _core.Replay(task.game, start, komi, np.frombuffer(codes, dtype=np.uint16))
            for ply in plies:
                self._searcher.clear()
                yield self._searcher.search(replay.line(ply)).evaluation(task.game)

    def stop(self) -> None:
        self._searcher.stop()

    def close(self, *, broken: bool) -> None:
        pass


class _FunctionWorker:
    """A function in Python."""

    def __init__(self, evaluator: PythonEvaluator) -> None:
        self._evaluator = evaluator
        self.name = evaluator.name
        self.version = evaluator.fingerprint

    def evaluate_each(self, task: Task) -> Iterator[Evaluation | Failure]:
        for game_id, start, komi, codes, plies in task.games:
            replay = _core.Replay(task.game, start, komi, np.frombuffer(codes, dtype=np.uint16))
            for ply in plies:
                yield self._evaluated(replay.position(ply), f"at ply {ply} of game {game_id}")

    def _evaluated(self, position: Any, where: str) -> Evaluation:
        began = time.monotonic()
        try:
            answer = self._evaluator(position)
        except Exception as error:
            raise EngineError(self.name, f"raised {error!r} {where}") from error
        spent = time.monotonic() - began
        if not isinstance(answer, Evaluation):
            try:
                answer = Evaluation(value=float(answer), time_s=spent)
            except (TypeError, ValueError):
                message = f"gave {answer!r} {where}: neither a number nor an Evaluation"
                raise EngineError(self.name, message) from None
        if answer.value is not None and not 0 <= answer.value <= 1:
            message = f"gave {answer.value} {where}: an expected result is 0 to 1"
            raise EngineError(self.name, message)
        return answer

    def stop(self) -> None:
        pass  # it ends with the position

    def close(self, *, broken: bool) -> None:
        pass


@dataclass
class _Held:
    """A worker, and whether a task is using it."""

    worker: _Worker
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while a task uses the worker."""


_workers: Final[dict[tuple[int, str, EngineSpec | SearchSpec | PythonEvaluator], _Held]] = {}
_stopped: Final[set[str]] = set()


def _worker_for(spec: EngineSpec | SearchSpec | PythonEvaluator, game: str) -> _Worker:
    if isinstance(spec, EngineSpec):
        return _EngineWorker(spec)
    if isinstance(spec, PythonEvaluator):
        return _FunctionWorker(spec)
    return _SearchWorker(spec, game)


def evaluate_task(spec: EngineSpec | SearchSpec | PythonEvaluator, task: Task) -> TaskResult:
    """Evaluate a task's positions; its worker stays for the next task."""
    started = time.monotonic()
    key = (threading.get_ident(), task.game, spec)
    held = _workers.get(key)
    if held is None:
        held = _workers[key] = _Held(_worker_for(spec, task.game))
    keys = [(game_id, ply) for game_id, *_, plies in task.games for ply in plies]
    results: list[Evaluation | Failure] = []
    with held.lock:
        name, version = held.worker.name, held.worker.version
        try:
            for result in held.worker.evaluate_each(task):
                if task.run in _stopped:
                    raise EngineError(spec.title, "was stopped", reason="died")
                results.append(result)
            name, version = held.worker.name, held.worker.version
        except BaseException:
            _workers.pop(key, None)
            held.worker.close(broken=True)
            # What was evaluated before the stop is kept.
            if task.run not in _stopped or not results:
                raise
    for result in results:
        if isinstance(result, Failure) and result.reason == "game":
            raise EngineError(spec.title, result.message, reason="game")
    return TaskResult(
        _table_of(keys[: len(results)], results),
        [result for result in results if isinstance(result, Failure)],
        time.monotonic() - started,
        name,
        version,
    )


def _positions_of(task: Task) -> Iterator[EnginePosition]:
    for _, start, komi, codes, plies in task.games:
        texts = _core.move_texts(task.game, start, komi, np.frombuffer(codes, dtype=np.uint16), "")
        board_komi = 0.0 if np.isnan(komi) else komi
        for ply in plies:
            yield EnginePosition(task.game, start or None, texts[:ply], board_komi)


def workers_here() -> bool:
    """Whether any worker lives in this process."""
    return bool(_workers)


def stop_tasks(runs: Sequence[str]) -> None:
    """Make the tasks of these runs end soon: their engines are killed, their searches stopped."""
    _stopped.update(runs)
    for held in list(_workers.values()):
        held.worker.stop()


def release_engines() -> None:
    """Let go of the engines that this process keeps and no task is using."""
    for key, held in list(_workers.items()):
        if held.lock.acquire(blocking=False):
            _workers.pop(key, None)
            held.worker.close(broken=False)
            held.lock.release()


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
