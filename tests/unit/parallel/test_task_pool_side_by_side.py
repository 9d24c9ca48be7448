# SPDX-License-Identifier: Apache-2.0
"""Two evaluations, a match and a solve in one process: who is cancelled does no harm to others."""

import ctypes
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hyoka as hk
from engines import fake, is_alive
from hyoka.arena import MatchResult
from hyoka.arena.solve import solve
from hyoka.parallel import task_pool as worker_state
from hyoka.records.problems import read_problems
from hyoka.study.evaluating import evaluate

GAMES = "\n".join(f"1. e4 e5 2. {move} *\n" for move in ("d4", "c4", "b4", "f4", "h4", "g4", "d3"))
MATE = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";'
KNIGHTS = "moves=g1f3,g8f6,f3g1,f6g8"
PATIENCE_S = 60.0


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


class Job:
    """Work of some kind in a thread, with engines that think as long as there is a gate."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.gate = folder / "gate"
        self.gate.touch()
        self.found: object = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run)

    def engine(self, *words: str) -> str:
        log, pids = self.folder / "log", self.folder / "pids"
        return fake("uci", f"wait={self.gate}", f"log={log}", f"pids={pids}", *words)

    @property
    def pids(self) -> list[int]:
        file = self.folder / "pids"
        return [int(pid) for pid in file.read_text().split()] if file.exists() else []

    @property
    def is_thinking(self) -> bool:
        """Whether two engines have been asked something."""
        file = self.folder / "log"
        return file.exists() and file.read_text().count("\ngo") >= 2

    def _run(self) -> None:
        try:
            self.found = self.work()
        except BaseException as error:
            self.error = error

    def work(self) -> object:
        raise NotImplementedError

    def cancel(self) -> None:
        """What Ctrl-C does to a main thread."""
        assert self.thread.ident is not None
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        ident = ctypes.c_ulong(self.thread.ident)
        assert raise_in(ident, ctypes.py_object(KeyboardInterrupt)) == 1

    def check_complete(self) -> None:
        """Everything was done, by the engines that were there from the start."""
        raise NotImplementedError

    def check_cancelled(self) -> None:
        assert isinstance(self.error, KeyboardInterrupt)


class Evaluation(Job):
    def work(self) -> object:
        (self.folder / "games.pgn").write_text(GAMES, encoding="utf-8")
        study = hk.Study.create(self.folder / "study", self.folder / "games.pgn")
        return evaluate(study, [self.engine("say=info depth 1 score cp 7")], jobs=2)

    def check_complete(self) -> None:
        assert self.error is None
        [report] = self.found  # type: ignore[misc]
        assert (report.done, report.failed) == (28, 0)  # type: ignore[has-type]
        assert len(self.pids) == 2


class Match(Job):
    def work(self) -> object:
        players = [f"{name}={self.engine(KNIGHTS)}" for name in ("one", "two")]
        plan = hk.plan_match(*players, openings="start")
        return hk.play_match(plan, self.folder / "match", games=8, jobs=2)

    def check_complete(self) -> None:
        assert self.error is None
        assert isinstance(self.found, MatchResult)
        assert self.found.standing.reasons == {"repetition": 8}
        assert len(self.pids) == 4


class Solve(Job):
    def work(self) -> object:
        problems = read_problems("\n".join([MATE] * 10)).problems
        return solve(problems, self.engine("best=a1a8"), jobs=2)

    def check_complete(self) -> None:
        assert self.error is None
        assert (self.found.solved, self.found.asked) == (10, 10)  # type: ignore[attr-defined]
        assert len(self.pids) == 2

    def check_cancelled(self) -> None:
        assert self.found.interrupted  # type: ignore[attr-defined]
        assert self.found.asked == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("cancelled", ["evaluation", "another evaluation", "match", "solve"])
def test_who_is_cancelled_does_no_harm_to_others(tmp_path: Path, cancelled: str) -> None:
    jobs = {
        "evaluation": Evaluation(tmp_path / "evaluation"),
        "another evaluation": Evaluation(tmp_path / "another"),
        "match": Match(tmp_path / "match"),
        "solve": Solve(tmp_path / "solve"),
    }
    for job in jobs.values():
        job.thread.start()
    wait_for(lambda: all(job.is_thinking for job in jobs.values()))
    unlucky = jobs.pop(cancelled)
    unlucky.cancel()
    unlucky.thread.join(PATIENCE_S)
    unlucky.check_cancelled()
    assert not any(map(is_alive, unlucky.pids))
    for job in jobs.values():
        assert all(map(is_alive, job.pids))
        job.gate.unlink()
    for job in jobs.values():
        job.thread.join(PATIENCE_S)
        job.check_complete()
        assert not any(map(is_alive, job.pids))
    assert not worker_state._worker_states
