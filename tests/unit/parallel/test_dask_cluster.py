# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster: a worker dies in an evaluation, a match and a solve; runs end and are stopped."""

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import distributed
import numpy as np
import pytest

import hyoka as hk
from engines import await_end, fake, is_alive
from hyoka.arena import open_match, plan_match, play_match
from hyoka.learning.comparison_training import Lessons, TrainingSettings
from hyoka.learning.objective_search import ObjectiveSearch, SearchPlan
from hyoka.learning.selfplay_loop import LoopPlan, PlayTask, play_part
from hyoka.parallel import Run
from hyoka.records.samples import sample_path
from hyoka.study import Question, condensing
from hyoka.study.evaluating import evaluate

CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      scheduler_port=0) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
GAMES = "\n".join(f"1. e4 e5 2. {move} *\n" for move in ("d4", "c4", "b4", "f4", "h4", "g4", "d3"))
MATE = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";'


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where two workers can be had, each in a process that is started anew when it dies."""
    script = tmp_path_factory.mktemp("cluster") / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        yield running.stdout.readline().strip()
        running.stdin.close()


@pytest.fixture
def address(scheduler: str) -> str:
    """The same once both workers are there; the test before may have killed one."""

    def are_there() -> bool:
        with hk.cluster(scheduler) as (_, threads):
            return threads == 2

    wait_for(are_there)
    return scheduler


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits as long as it takes; the limit is for a test that would otherwise never end."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("what was waited for did not come")


def parent_of(process: int) -> int:
    stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    return int(stat.rpartition(")")[2].split()[1])


def worker_of(engine: int) -> int:
    return parent_of(parent_of(engine))  # between them is the engine's supervisor


class Engines:
    """Engines on the cluster that think as long as there is a gate."""

    def __init__(self, folder: Path) -> None:
        self._gate = folder / "gate"
        self._pids = folder / "pids"
        self._gate.touch()

    def spec(self, *words: str) -> str:
        return fake("uci", f"wait={self._gate}", f"pids={self._pids}", *words)

    @property
    def pids(self) -> list[int]:
        return [int(pid) for pid in self._pids.read_text().split()] if self._pids.exists() else []

    def wait(self) -> None:
        """Wait until both workers have one."""
        wait_for(lambda: len({worker_of(pid) for pid in self.pids if is_alive(pid)}) == 2)

    def kill_a_worker(self) -> None:
        self.wait()
        engine = self.pids[0]
        os.kill(worker_of(engine), signal.SIGKILL)
        await_end(engine)  # the engine goes with its worker

    def open(self) -> None:
        self._gate.unlink()

    def check_gone(self) -> None:
        for pid in self.pids:
            await_end(pid)


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    return Engines(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, encoding="utf-8")
    return hk.Study.create(tmp_path / "study", file)


def command(*words: str) -> "subprocess.Popen[str]":
    line = [sys.executable, "-m", "hyoka", *words, "--json"]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)


def test_a_worker_that_dies_costs_no_evaluation_and_none_counts_twice(
    address: str, study: hk.Study, engines: Engines
) -> None:
    spec = engines.spec("say=info depth 1 score cp 7")
    with command("study", "evaluate", str(study.path), "--with", spec, "--cluster", address) as run:
        engines.kill_a_worker()
        engines.open()
        output, _ = run.communicate(timeout=120)
        assert run.returncode == 0, output
    found = study.sql("select game_id, ply, failed from evaluations order by game_id, ply")
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (game, ply, None) for game in range(7) for ply in range(4)
    ]
    engines.check_gone()


def test_a_worker_that_dies_costs_no_game_and_none_counts_twice(
    address: str, tmp_path: Path, engines: Engines
) -> None:
    players = [f"one={engines.spec('moves=g1f3,g8f6,f3g1,f6g8')}", "two=random"]
    chosen = ["--game", "chess", "--openings", "start", "--games", "8", "--no-report"]
    folder = tmp_path / "match"
    with command(
        "match", "run", *players, *chosen, "--output", str(folder), "--cluster", address
    ) as run:
        engines.kill_a_worker()
        engines.open()
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    assert json.loads(output)["games"] == 8
    description, games = open_match(folder)
    assert sorted(game.pairing.number for game in games) == list(range(8))
    assert description["match"]["game"] == "chess"
    assert {game.reason for game in games} <= {"repetition", "illegal move", "checkmate"}
    assert len({game.worker for game in games}) >= 1
    engines.check_gone()
    # The same match goes on here.
    plan = plan_match(*players, game="chess", openings="start")
    result = play_match(plan, folder, games=10)
    assert sorted(game.pairing.number for game in result.games) == list(range(10))
    lines = (folder / "journal.jsonl").read_text().splitlines()
    assert len({json.loads(line[9:])["pairing"][0] for line in lines}) == len(lines) == 10


def test_a_worker_that_dies_costs_no_problem_and_none_counts_twice(
    address: str, tmp_path: Path, engines: Engines
) -> None:
    suite = tmp_path / "mates.epd"
    names = [f"mate {number}" for number in range(12)]
    suite.write_text("\n".join(MATE.replace("back rank", name) for name in names))
    with command(
        "solve", str(suite), "--with", engines.spec("best=a1a8"), "--cluster", address
    ) as run:
        engines.kill_a_worker()
        engines.open()
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    [report] = json.loads(output)
    assert (report["solved"], report["asked"], report["errors"]) == (12, 12, 0)
    assert [problem["id"] for problem in report["problems"]] == names
    engines.check_gone()


def test_an_interrupt_ends_the_engines_of_its_run_on_the_cluster_and_no_others(
    address: str, study: hk.Study, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("interrupted", "other")]
    for folder in folders:
        folder.mkdir()
    gone, staying = map(Engines, folders)
    suite = tmp_path / "mate.epd"
    suite.write_text("\n".join([MATE] * 4))
    with command("solve", str(suite), "--with", gone.spec(), "--cluster", address) as run:
        gone.wait()
        with hk.cluster(address) as (executor, _):
            later = executor.submit(time.sleep, 0)  # behind what the workers are at
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=120)
            gone.check_gone()
            later.result(60)
            staying.open()
            spec = staying.spec("say=info depth 1 score cp 7")
            [report] = evaluate(study, [spec], jobs=2, executor=executor)
            assert (report.done, report.failed) == (28, 0)
            # The run is over, the cluster is not.
            staying.check_gone()
    assert len(staying.pids) >= 1


def kill_a_worker_of(address: str) -> int:
    """Kill one that works for us, whichever."""
    with distributed.Client(address) as client:  # type: ignore[no-untyped-call]
        worker = int(next(iter(client.run(os.getpid).values())))
    os.kill(worker, signal.SIGKILL)
    return worker


def test_a_worker_that_dies_changes_nothing_in_self_play(address: str) -> None:
    plan = LoopPlan("othello", playouts=6, quick=2)
    tasks = [PlayTask(plan, 0, plan.spec(None), first, 3) for first in range(0, 36, 3)]
    here = [play_part(task) for task in tasks]
    there = []
    with hk.cluster(address) as (executor, threads), Run(play_part, executor=executor) as run:
        assert threads == 2
        for done in run.in_order(tasks):
            if done.number in (0, 5):
                kill_a_worker_of(address)
            there.append(done.result)
    assert list(map(_games, there)) == list(map(_games, here))


def _games(part: bytes) -> dict[str, bytes]:
    with np.load(io.BytesIO(part), allow_pickle=False) as arrays:
        return {name: arrays[name].tobytes() for name in arrays.files}


def test_a_worker_that_dies_changes_nothing_in_values_of_our_own_search(
    address: str, study: hk.Study, tmp_path: Path
) -> None:
    other = hk.Study.create(tmp_path / "other", tmp_path / "games.pgn")
    query = "select game_id, ply, value, score from evaluations order by game_id, ply"
    evaluate(other, ["ab:nodes=3000"])
    with hk.cluster(address) as (executor, threads):
        killed: list[int] = []

        def kill_once(_: object) -> None:
            if not killed:
                killed.append(kill_a_worker_of(address))

        [report] = evaluate(
            study, ["ab:nodes=3000"], jobs=threads, executor=executor, progress=kill_once
        )
    assert killed
    assert (report.done, report.failed) == (28, 0)
    assert study.sql(query).to_pylist() == other.sql(query).to_pylist()


def test_a_worker_that_dies_changes_nothing_in_a_search_for_an_objective(
    address: str, tmp_path: Path
) -> None:
    records = list(itertools.islice(hk.read_records(sample_path("othello")), 6))
    lessons = Lessons.of_records(records, positions=100).with_categories()
    plan = SearchPlan(
        "patterns",
        TrainingSettings(passes=1, steps=1, batches=1),
        population=3,
        steps=2,
        games=4,
        nodes=20,
    )
    here = ObjectiveSearch(plan, lessons, tmp_path / "here")
    here.run()
    there = ObjectiveSearch(plan, lessons, tmp_path / "there")
    killed: list[int] = []

    def kill_a_worker(search: ObjectiveSearch, _: object) -> None:
        if not killed:
            killed.append(kill_a_worker_of(address))

    with hk.cluster(address) as (executor, threads):
        there.run(jobs=threads, executor=executor, on_step=kill_a_worker)
    assert killed
    assert there.steps == here.steps


def test_two_workers_condense_a_study_as_threads_do(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = hk.Study.create(tmp_path / "study", records=sample_path("chess"), columns="none")
    evaluate(study, ["comments"])
    monkeypatch.setattr(condensing, "RANGE_ROWS", 6000)
    # Small enough to condense.
    question = Question(memory="5M", by="ply", bins=[30], resampling=hk.Resampling(20))
    here = study.metrics(question=question)
    condensing.forget()
    there = study.metrics(question=question.also(cluster=address))
    assert "Condensed" in str(here.coverage)
    assert there.rows() == here.rows()
    assert there.coverage == here.coverage
