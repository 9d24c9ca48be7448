# SPDX-License-Identifier: Apache-2.0
"""The task pool: tasks go to workers, results return; each run is cancelled alone."""

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

_FORGOTTEN_S: Final = 600.0
"""A crew without a task for so long may belong to a run that died; it comes back if it is asked."""


class RunStopped(Exception):  # noqa: N818 - nothing went wrong
    """Nobody wants more results of this run."""


class Resource(Protocol):
    """Something that a task has started and that stays for the next one."""

    def stop(self) -> None:
        """Make what it does end soon; called from another thread, perhaps again and again."""

    def close(self) -> None:
        """Let go of what it holds; called in any thread, while no task uses it."""


T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=Resource)


class WorkerState:
    """What one thread keeps for one run."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.at_work = threading.Lock()
        """Held by a task while it uses the crew."""
        self.is_leaving = False
        """Whether it goes once the task at hand is over."""
        self.used_at = time.monotonic()
        self._members: dict[Hashable, Resource] = {}

    @property
    def is_stopped(self) -> bool:
        """Whether the run is over: what a task finds from now on is cut short."""
        return self.run in _stopped

    def resource(self, key: Hashable, make: Callable[[], M]) -> M:
        """What is kept under a key, made if it is not there yet.

        `make` starts nothing that takes time: only what is kept already can be stopped.
        """
        if key not in self._members:
            self._members[key] = make()
        return cast(M, self._members[key])

    def stop(self) -> None:
        """Make the task at hand end soon; called from another thread."""
        for resource in list(self._members.values()):
            resource.stop()

    def close(self) -> None:
        """Let all members go."""
        for resource in self._members.values():
            resource.close()


_worker_states: Final[dict[tuple[str, int], WorkerState]] = {}
"""By run and thread."""
_stopped: Final[set[str]] = set()
if hasattr(os, "register_at_fork"):  # what a parent keeps is not its child's
    os.register_at_fork(after_in_child=_worker_states.clear)


def perform(run: str, work: Callable[[T, WorkerState], R], task: T) -> R:
    """Do a task of a run in this thread. Its crew stays for the next one, unless this one raises.

    Raises RunStopped if nobody wants the result any more.
    """
    key = (run, threading.get_ident())
    while True:
        worker_state = _worker_states.get(key) or _worker_states.setdefault(key, WorkerState(run))
        try:
            with worker_state.at_work:
                if _worker_states.get(key) is not worker_state:
                    continue  # it has just been sent away
                if worker_state.is_stopped:
                    raise RunStopped
                return work(task, worker_state)
        except BaseException:
            worker_state.is_leaving = True
            raise
        finally:
            worker_state.used_at = time.monotonic()
            if worker_state.is_leaving:
                _send_away([key])


def has_worker_states(run: str) -> bool:
    """Whether this process keeps anything for a run."""
    return any(worker_state.run == run for worker_state in list(_worker_states.values()))


def stop(run: str) -> None:
    """Make the tasks of a run that are at work in this process end soon; no more will begin."""
    _stopped.add(run)
    for worker_state in list(_worker_states.values()):
        if worker_state.run == run:
            worker_state.stop()


def dismiss(run: str) -> None:
    """Let go of what this process keeps for a run; what a task uses goes when that is over."""
    going = []
    long_ago = time.monotonic() - _FORGOTTEN_S
    for key, worker_state in list(_worker_states.items()):
        if worker_state.run == run:
            worker_state.is_leaving = True
        elif worker_state.used_at > long_ago:
            continue
        going.append(key)
    _send_away(going)


def abandon(run: str) -> None:
    """Stop a run's tasks in this process and let go of all that it keeps."""
    stop(run)
    dismiss(run)


def _send_away(keys: Iterable[tuple[str, int]]) -> None:
    """Close crews, those that no task uses, all at once.

    In threads of their own: whoever calls may have an event loop, as Dask's workers do, and a
    member one that it ends in.
    """
    closing = []
    for key in keys:
        worker_state = _worker_states.get(key)
        if worker_state is not None and worker_state.at_work.acquire(blocking=False):
            try:
                if _worker_states.get(key) is worker_state:
                    del _worker_states[key]
                    closing.append(
                        threading.Thread(target=worker_state.close, name="hyoka-closing")
                    )
            finally:
                worker_state.at_work.release()
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join()


_TRIES: Final = 3
_LOOK_S: Final = 0.5
"""How long nothing may come before the caller is asked whether it has something else to do."""
_STOP_AGAIN_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Done(Generic[T, R]):
    """A task that is done."""

    number: int
    """Which of the run, from 0, in the order they went out."""
    task: T
    result: R


@dataclass(frozen=True, slots=True)
class _Sent(Generic[T]):
    number: int
    task: T
    tries: int


class Run(Generic[T, R]):
    """Tasks done by threads of its own, or by the workers of an executor.

    with Run(play_game, jobs=2) as run:
        for batch in run.batches(tasks):
            ...

    `work` is called with a task and the crew of whoever does it. On an executor that it was given,
    tasks whose worker died are sent out again; in threads of our own, whatever a task raises ends
    the run, as an `Error` of ours does everywhere. At the end of the block tasks that still run are
    stopped and all that the run's workers keep is let go.
    """

    def __init__(  # noqa: PLR0913 - a keyword for each choice
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
        """Take what does a task, and how many do so side by side.

        `at_once` tasks are out at a time: twice as many, unless given, so that nobody waits for us.
        Errors say `what` could not be done. Threads of our own are called `name`, and each calls
        `on_thread` first.
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
            dismiss(self._id)
            if isinstance(self._executor, ClusterExecutor):
                self._executor.everywhere(abandon, self._id, in_haste=error is not None)

    def batches(self, tasks: Iterable[T]) -> Iterator[list[Done[T, R]]]:
        """What comes back, as it comes; an empty list every moment in which nothing does.

        Tasks are taken when there is room for them. Raises what a task could not help, after all
        results that were there before it; FleetError for a task that cost too many workers.
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
        """What comes back, in the order in which the tasks went out.

        What comes too early counts as being out, so that no more is held than `at_once`.
        """
        number = 0
        for batch in self.batches(tasks):
            self._early.update((done.number, done) for done in batch)
            while number in self._early:
                yield self._early.pop(number)
                number += 1

    def stop(self) -> list[Done[T, R]]:
        """End what is out, and give what was done by then and not handed over yet.

        Nobody waits for workers elsewhere.
        """
        running, self._running = self._running, {}
        for future in running:
            future.cancel()
        left = {future for future in running if not future.done()}
        while left:
            stop(self._id)  # again and again: what a task is just starting is stopped as well
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
                future = self._executor.submit(perform, self._id, self._work, sent.task)
            except (TypeError, AttributeError, pickle.PicklingError) as error:
                raise ParallelError(
                    f"{self._what} can't be sent to the workers: {error}"
                ) from error
            self._running[future] = sent
            future.add_done_callback(self._finished.put)

    def _received(self) -> tuple[list[Done[T, R]], Exception | None]:
        """What has come, after a short wait if nothing has; and what ends the run."""
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
                # The worker is gone, and the task not to blame: another one does it.
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
