# SPDX-License-Identifier: Apache-2.0
"""One run: tasks go out to workers, results come back, and it alone is stopped and cleared away."""

import concurrent.futures
import pickle
import queue
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from hyoka.errors import Error, FleetError
from hyoka.fleet.clustering import ClusterExecutor
from hyoka.fleet.crew import Crew, RunStopped, abandon, dismiss, has_crews, perform, stop

_TRIES: Final = 3
_LOOK_S: Final = 0.5
"""How long nothing may come before the caller is asked whether it has something else to do."""
_STOP_AGAIN_S: Final = 0.1

T = TypeVar("T")
R = TypeVar("R")


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
        work: Callable[[T, Crew], R],
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
            if not has_crews(self._id):
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
                raise FleetError(f"{self._what} can't be sent to the workers: {error}") from error
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
                    failure = FleetError(words)
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
