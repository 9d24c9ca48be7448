# SPDX-License-Identifier: Apache-2.0
"""Runs of tasks: what comes back and in which order, what workers keep, and who is stopped."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from hyoka.foundation.errors import EngineError, ParallelError
from hyoka.parallel import Run, RunStopped, WorkerState
from hyoka.parallel import task_pool as worker_state

PATIENCE_S = 60.0
"""Forever, for threads of this process."""


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


class Engine:
    """A member that waits until it is let go or stopped."""

    made: list["Engine"]

    def __init__(self, gate: threading.Event | None = None) -> None:
        self._gate = gate or threading.Event()
        if gate is None:
            self._gate.set()
        self.waiting = threading.Event()
        self.was_stopped = threading.Event()
        self.closed = 0
        type(self).made.append(self)

    def work(self) -> None:
        self.waiting.set()
        until = time.monotonic() + PATIENCE_S
        while not self._gate.wait(0.001) and not self.was_stopped.is_set():
            assert time.monotonic() < until

    def stop(self) -> None:
        self.was_stopped.set()

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    Engine.made = []
    yield
    assert not worker_state._worker_states
    assert all(engine.closed == 1 for engine in Engine.made)


def square(number: int, worker_state: WorkerState) -> int:
    worker_state.resource("engine", Engine).work()
    return number**2


def results(run: Run[int, int], tasks: Any) -> list[int]:
    return [done.result for batch in run.batches(tasks) for done in batch]


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_task_is_done_once_whatever_the_jobs(jobs: int) -> None:
    with Run(square, jobs=jobs) as run:
        assert sorted(results(run, range(50))) == [number**2 for number in range(50)]
    assert 1 <= len(Engine.made) <= jobs


def test_results_may_be_had_in_the_order_of_their_tasks() -> None:
    """The first is the last to be done; no more are held than may be out."""
    gate = threading.Event()
    begun: list[int] = []

    def late(number: int, _worker_state: WorkerState) -> int:
        begun.append(number)
        if number == 0:
            assert gate.wait(PATIENCE_S)
        return number

    def open_late() -> None:
        wait_for(lambda: len(begun) >= 5)
        time.sleep(0.05)  # a sixth would begin now
        gate.set()

    with Run(late, jobs=2, at_once=5) as run:
        found = run.in_order(range(20))
        opening = threading.Thread(target=open_late)
        opening.start()
        first = next(found)
        assert sorted(begun) == [0, 1, 2, 3, 4]
        numbers = [first.number, *(done.number for done in found)]
        opening.join()
    assert numbers == list(range(20))


def test_tasks_are_taken_when_there_is_room_for_them() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(10):
            taken.append(number)
            yield number

    with Run(square, jobs=1) as run:
        found = run.batches(tasks())
        next(found)
        assert taken == [0, 1]
        assert len(list(found)) >= 1
    assert len(taken) == 10


def test_nothing_to_do_is_done_at_once() -> None:
    with Run(square) as run:
        assert list(run.batches([])) == []


def test_a_moment_without_results_is_noticed() -> None:
    gate = threading.Event()

    def wait(_task: int, worker_state: WorkerState) -> None:
        worker_state.resource("engine", lambda: Engine(gate)).work()

    with Run(wait) as run:
        found = run.batches([1])
        assert next(found) == []
        gate.set()
        assert [len(batch) for batch in found if batch] == [1]


def test_a_crew_goes_with_the_task_that_fails() -> None:
    def fail_once(number: int, worker_state: WorkerState) -> int:
        worker_state.resource("engine", Engine).work()
        if number == 1:
            raise EngineError("engine", "died")
        return number

    with pytest.raises(EngineError, match="died"), Run(fail_once) as run:
        results(run, range(3))
    with ThreadPoolExecutor(1) as pool, Run(fail_once, executor=pool) as run:
        found = run.batches(iter([0, 1, 2]))
        with pytest.raises(EngineError, match="died"):
            list(found)
        assert [done.task for done in run.stop()] in ([], [2])


def test_what_was_there_before_an_error_is_handed_over_first() -> None:
    class AllAtOnce(Executor):
        """Does four tasks when it has them, the third of which fails."""

        def __init__(self) -> None:
            self.asked: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []

        def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Any:
            self.asked.append((Future(), function, arguments))
            if len(self.asked) == 4:
                for number, (future, work, given) in enumerate(self.asked):
                    if number == 2:
                        future.set_exception(EngineError("engine", "is not there"))
                    else:
                        future.set_result(work(*given))
            return self.asked[-1][0]

    with Run(square, jobs=2, executor=AllAtOnce()) as run:
        found = run.batches(range(9))
        assert [done.result for done in next(found)] == [0, 1]
        with pytest.raises(EngineError, match="is not there"):
            next(found)
        assert [done.result for done in run.stop()] == [9]


class Dying(Executor):
    """A worker that dies some times before it does a task."""

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths
        self.sent: list[int] = []

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.sent.append(arguments[-1])
        if self.sent.count(arguments[-1]) <= self.deaths:
            future.set_exception(ConnectionError("the worker is gone"))
        else:
            future.set_result(function(*arguments))
        return future


def test_a_task_whose_worker_died_is_sent_out_again() -> None:
    workers = Dying(2)
    with Run(square, executor=workers) as run:
        assert sorted(results(run, range(4))) == [0, 1, 4, 9]
    assert sorted(workers.sent) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_a_task_that_costs_too_many_workers_ends_the_run() -> None:
    with (
        pytest.raises(
            ParallelError, match=r"a game failed 3 times, .*the worker is gone"
        ) as caught,
        Run(square, executor=Dying(3), what="a game") as run,
    ):
        results(run, range(4))
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_in_local_threads_no_worker_dies_and_exceptions_arrive_at_once() -> None:
    calls: list[int] = []

    def wrong(number: int, _worker_state: WorkerState) -> int:
        calls.append(number)
        raise KeyError("a mistake in the code")

    with pytest.raises(KeyError), Run(wrong, at_once=1) as run:
        results(run, range(4))
    assert calls == [0]


class Together:
    """Some runs in threads of one process, whose tasks all wait at a gate."""

    def __init__(self, count: int) -> None:
        self.gates = [threading.Event() for _ in range(count)]
        self.found: list[list[int]] = [[] for _ in range(count)]
        self.ended_by: list[BaseException | None] = [None] * count
        self.threads = [
            threading.Thread(target=self._run, args=(number,)) for number in range(count)
        ]
        self.engines: list[list[Engine]] = [[] for _ in range(count)]

    def _run(self, number: int) -> None:
        def work(task: int, worker_state: WorkerState) -> int:
            engine = worker_state.resource("engine", lambda: self._engine(number))
            engine.work()
            if worker_state.is_stopped:
                raise RunStopped
            return task

        try:
            with Run(work, jobs=2) as run:
                for batch in run.batches(range(6)):
                    self.found[number] += [done.result for done in batch]
        except BaseException as error:
            self.ended_by[number] = error

    def _engine(self, number: int) -> Engine:
        self.engines[number].append(Engine(self.gates[number]))
        return self.engines[number][-1]


def raise_in(thread: threading.Thread, error: type[BaseException]) -> None:
    """What Ctrl-C does to a main thread."""
    import ctypes  # noqa: PLC0415

    assert thread.ident is not None
    set_error = ctypes.pythonapi.PyThreadState_SetAsyncExc
    assert set_error(ctypes.c_ulong(thread.ident), ctypes.py_object(error)) == 1


@pytest.mark.parametrize("cancelled", range(3))
def test_a_run_that_is_stopped_does_no_harm_to_others(cancelled: int) -> None:
    together = Together(3)
    for thread in together.threads:
        thread.start()
    wait_for(lambda: sum(engine.waiting.is_set() for engine in Engine.made) == 6)
    raise_in(together.threads[cancelled], KeyboardInterrupt)
    together.threads[cancelled].join(PATIENCE_S)
    assert isinstance(together.ended_by[cancelled], KeyboardInterrupt)
    for number, engines in enumerate(together.engines):
        assert [engine.was_stopped.is_set() for engine in engines] == [number == cancelled] * 2
        assert [engine.closed for engine in engines] == [int(number == cancelled)] * 2
    for gate in together.gates:
        gate.set()
    for thread in together.threads:
        thread.join(PATIENCE_S)
    for number, found in enumerate(together.found):
        assert sorted(found) == ([] if number == cancelled else list(range(6)))
        assert len(together.engines[number]) == 2


def test_a_run_that_is_left_early_is_stopped() -> None:
    gate = threading.Event()

    def work(number: int, worker_state: WorkerState) -> int:
        if number:
            worker_state.resource("engine", lambda: Engine(gate)).work()
        return number

    with Run(work, jobs=2) as run:
        for batch in run.batches(range(9)):
            if batch:
                break
    assert all(engine.was_stopped.is_set() for engine in Engine.made)


def test_what_a_stopped_task_has_found_is_kept() -> None:
    def some_of(amount: int, worker_state: WorkerState) -> list[int]:
        found: list[int] = []
        while len(found) < amount and not worker_state.is_stopped:
            found.append(len(found))
            time.sleep(0.001)
        return found

    with Run(some_of) as run:
        found = run.batches([10**9])
        assert next(found) == []
        [done] = run.stop()
    assert 0 < len(done.result) < 10**9
    assert run.stop() == []


def test_a_stopped_run_begins_no_task() -> None:
    worker_state.stop("a run that is over")
    with pytest.raises(RunStopped):
        worker_state.execute("a run that is over", square, 3)
    assert Engine.made == []


def test_who_is_at_work_when_its_run_ends_goes_after_the_task() -> None:
    """As on a cluster, where nobody waits for tasks that nobody wants."""
    gate = threading.Event()

    def work(number: int, worker_state: WorkerState) -> int:
        worker_state.resource("engine", lambda: Engine(gate)).work()
        return number

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(worker_state.execute, "one", work, 5)
        wait_for(lambda: bool(Engine.made) and Engine.made[0].waiting.is_set())
        worker_state.release("another")
        worker_state.release("one")
        assert (Engine.made[0].closed, Engine.made[0].was_stopped.is_set()) == (0, False)
        gate.set()
        assert future.result(PATIENCE_S) == 5
    assert Engine.made[0].closed == 1


def test_crews_of_runs_that_died_are_forgotten_some_day(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_state.execute("a run whose process was killed", square, 3) == 9
    worker_state.release("another")
    assert worker_state.has_worker_states("a run whose process was killed")
    monkeypatch.setattr(worker_state, "_IDLE_S", 0.0)
    worker_state.release("another")
    assert not worker_state.has_worker_states("a run whose process was killed")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_leaves_its_parents_crews_alone() -> None:
    worker_state.execute("the parent's", square, 3)
    child = os.fork()
    if child == 0:
        os._exit(int(worker_state.has_worker_states("the parent's")))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert worker_state.has_worker_states("the parent's")
    worker_state.release("the parent's")
