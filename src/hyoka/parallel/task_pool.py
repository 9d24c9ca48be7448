# SPDX-License-Identifier: Apache-2.0
"""The task pool: sends tasks to workers and collects results; runs are canceled independently."""

import concurrent.futures
import os
import pickle
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Generic, Protocol, Self, TypeVar, cast

from hyoka.foundation.errors import Error, ParallelError
from hyoka.parallel.dask_cluster import ClusterExecutor

_IDLE_S: Final = 600.0
"""The idle time after which a worker state is assumed to belong to a dead run."""


def usable_cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class RunStopped(Exception):  # noqa: N818 - nothing went wrong
    """The run was canceled."""


class Resource(Protocol):
    """A resource that a task starts and later tasks reuse."""

    def stop(self) -> None:
        """End its work soon; called from another thread, possibly repeatedly."""

    def close(self) -> None:
        """Release it; called in any thread while no task uses it."""


T = TypeVar("T")
R = TypeVar("R")
ResourceT = TypeVar("ResourceT", bound=Resource)


class WorkerState:
    """The resources of one run in one thread."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.in_use = threading.Lock()
        """Held by a task while it uses the state."""
        self.is_released = False
        """Whether to release it after the current task."""
        self.used_at = time.monotonic()
        self._resources: dict[Hashable, Resource] = {}

    @property
    def is_stopped(self) -> bool:
        """Whether the run was canceled."""
        return self.run in _stopped

    def resource(self, key: Hashable, make: Callable[[], ResourceT]) -> ResourceT:
        """Return the resource of a key, creating it if needed.

        `make` must be fast: only registered resources can be stopped.
        """
        if key not in self._resources:
            self._resources[key] = make()
        return cast(ResourceT, self._resources[key])

    def stop(self) -> None:
        """End the current task soon; called from another thread."""
        for resource in list(self._resources.values()):
            resource.stop()

    def close(self) -> None:
        """Release all resources."""
        for resource in self._resources.values():
            resource.close()


_worker_states: Final[dict[tuple[str, int], WorkerState]] = {}
"""By run and thread."""
_stopped: Final[set[str]] = set()
if hasattr(os, "register_at_fork"):  # a child does not own its parent's resources
    os.register_at_fork(after_in_child=_worker_states.clear)


def execute(run: str, work: Callable[[T, WorkerState], R], task: T) -> R:
    """Execute a task of a run in this thread; its worker state is reused unless the task raises.

    Raises RunStopped if the run was canceled.
    """
    key = (run, threading.get_ident())
    while True:
        worker_state = _worker_states.get(key) or _worker_states.setdefault(key, WorkerState(run))
        try:
            with worker_state.in_use:
                if _worker_states.get(key) is not worker_state:
                    continue  # just released
                if worker_state.is_stopped:
                    raise RunStopped
                return work(task, worker_state)
        except BaseException:
            worker_state.is_released = True
            raise
        finally:
            worker_state.used_at = time.monotonic()
            if worker_state.is_released:
                _close_unused([key])


def has_worker_states(run: str) -> bool:
    """Whether this process has resources of a run."""
    return any(worker_state.run == run for worker_state in list(_worker_states.values()))


def stop(run: str) -> None:
    """Cancel a run's tasks in this process."""
    _stopped.add(run)
    for worker_state in list(_worker_states.values()):
        if worker_state.run == run:
            worker_state.stop()


def release(run: str) -> None:
    """Release a run's resources in this process, those in use after their task."""
    released = []
    long_ago = time.monotonic() - _IDLE_S
    for key, worker_state in list(_worker_states.items()):
        if worker_state.run == run:
            worker_state.is_released = True
        elif worker_state.used_at > long_ago:
            continue
        released.append(key)
    _close_unused(released)


def cancel_and_release(run: str) -> None:
    """Cancel a run in this process and release its resources."""
    stop(run)
    release(run)


def _close_unused(keys: Iterable[tuple[str, int]]) -> None:
    """Close unused worker states in parallel.

    Separate threads, since the caller (a Dask worker) and a resource may each have an event loop.
    """
    closing = []
    for key in keys:
        worker_state = _worker_states.get(key)
        if worker_state is not None and worker_state.in_use.acquire(blocking=False):
            try:
                if _worker_states.get(key) is worker_state:
                    del _worker_states[key]
                    closing.append(
                        threading.Thread(target=worker_state.close, name="hyoka-closing")
                    )
            finally:
                worker_state.in_use.release()
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join()


_TRIES: Final = 3
_LOOK_S: Final = 0.5
"""The wait for results before `batches` yields an empty list."""
_STOP_AGAIN_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Done(Generic[T, R]):
    """A completed task."""

    number: int
    """Its number in the run, from 0, in the order of sending."""
    task: T
    result: R


@dataclass(frozen=True, slots=True)
class _Sent(Generic[T]):
    number: int
    task: T
    tries: int


class Run(Generic[T, R]):
    """A run of tasks on its own threads, or on the workers of an executor.

    with Run(play_game, jobs=2) as run:
        for batch in run.batches(tasks):
            ...

    `work` is called with a task and its worker state. On an executor, tasks of dead workers are
    retried; on the run's own threads any exception ends the run, as an `Error` does everywhere. The
    end of the block cancels running tasks and releases the workers' resources.
    """

    def __init__(
        self,
        work: Callable[[T, WorkerState], R],
        *,
        jobs: int = 1,
        executor: Executor | None = None,
        at_once: int | None = None,
        what: str = "a task",
        name: str = "hyoka-worker",
        on_thread: Callable[[], None] | None = None,
    ) -> None:
        """Set up a run of `work` with `jobs` workers.

        At most `at_once` tasks are pending, by default two per worker. Errors name `what` failed.
        The run's own threads are called `name`, and each calls `on_thread` first.
        """
        self._work = work
        self._what = what
        self._at_once = 2 * jobs if at_once is None else at_once
        self._threads: ThreadPoolExecutor | None = None
        if executor is None:
            executor = self._threads = ThreadPoolExecutor(jobs, name, on_thread)
        self._executor = executor
        self._id = uuid.uuid4().hex
        self._running: dict[Future[R], _Sent[T]] = {}
        self._finished: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
        self._again: deque[_Sent[T]] = deque()
        self._early: dict[int, Done[T, R]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.stop()
        finally:
            if self._threads is not None:
                self._threads.shutdown()
            release(self._id)
            if isinstance(self._executor, ClusterExecutor):
                self._executor.everywhere(cancel_and_release, self._id, in_haste=error is not None)

    def batches(self, tasks: Iterable[T]) -> Iterator[list[Done[T, R]]]:
        """Yield completed tasks as they arrive, and an empty list after a short wait without any.

        Raises the error of a failed task, after all earlier results; ParallelError for a task
        that lost too many workers.
        """
        waiting = enumerate(tasks)
        while True:
            self._send(waiting)
            if not self._running:
                return
            batch, error = self._received()
            yield batch
            if error is not None:
                raise error

    def in_order(self, tasks: Iterable[T]) -> Iterator[Done[T, R]]:
        """Yield completed tasks in the order of sending.

        Early results count as pending, which limits memory to `at_once` results.
        """
        number = 0
        for batch in self.batches(tasks):
            self._early.update((done.number, done) for done in batch)
            while number in self._early:
                yield self._early.pop(number)
                number += 1

    def stop(self) -> list[Done[T, R]]:
        """Cancel the pending tasks and return results not yet yielded.

        Does not wait for remote workers.
        """
        running, self._running = self._running, {}
        for future in running:
            future.cancel()
        left = {future for future in running if not future.done()}
        while left:
            stop(self._id)  # repeatedly, to stop resources that a task is just starting
            _, left = concurrent.futures.wait(left, timeout=_STOP_AGAIN_S)
            if not has_worker_states(self._id):
                break
        return [
            Done(sent.number, sent.task, future.result())
            for future, sent in running.items()
            if future.done() and not future.cancelled() and future.exception() is None
        ]

    def _send(self, waiting: Iterator[tuple[int, T]]) -> None:
        while len(self._running) + len(self._early) < self._at_once:
            if self._again:
                sent = self._again.popleft()
            else:
                following = next(waiting, None)
                if following is None:
                    return
                sent = _Sent(*following, 0)
            try:
                future = self._executor.submit(execute, self._id, self._work, sent.task)
            except (TypeError, AttributeError, pickle.PicklingError) as error:
                raise ParallelError(
                    f"{self._what} can't be sent to the workers: {error}"
                ) from error
            self._running[future] = sent
            future.add_done_callback(self._finished.put)

    def _received(self) -> tuple[list[Done[T, R]], Exception | None]:
        """Collect completed tasks, after a short wait, and the error that ends the run."""
        batch = []
        for future in self._arrivals():
            if (sent := self._running.pop(future, None)) is None:
                continue
            try:
                batch.append(Done(sent.number, sent.task, future.result()))
            except (Error, RunStopped) as error:
                return batch, error
            except Exception as error:
                if self._threads is not None:
                    return batch, error
                # The worker died: retry the task.
                if sent.tries + 1 >= _TRIES:
                    words = f"{self._what} failed {_TRIES} times, at last with: {error!r}"
                    failure = ParallelError(words)
                    failure.__cause__ = error
                    return batch, failure
                self._again.append(_Sent(sent.number, sent.task, sent.tries + 1))
        return batch, None

    def _arrivals(self) -> Iterator[Future[R]]:
        try:
            yield self._finished.get(timeout=_LOOK_S)
            while True:
                yield self._finished.get_nowait()
        except queue.Empty:
            return
