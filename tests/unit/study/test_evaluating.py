# SPDX-License-Identifier: Apache-2.0
"""Evaluating a study with a scripted engine that logs its questions."""

import math
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka.agents import RecordedGame
from hyoka.agents.kinds import SearchEvaluator
from hyoka.apps.cli.command_table import command_line
from hyoka.parallel import dask_cluster as clustering
from hyoka.parallel import task_pool as worker_states
from hyoka.search import SearchSpec, ab
from hyoka.study.evaluating import evaluate, evaluate_games, evaluations_of
from hyoka.study.sampling import chosen_evaluators, evaluator_titles

# Says 10 centipawns a move played, for the side to move, and writes every question into a log.
ENGINE = """
import os, sys, time
log, behavior = sys.argv[1], sys.argv[2:]
moves = []
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("id name Fake " + os.environ.get("FAKE_VERSION", "1"))
        print("uciok")
    elif words[0] == "isready":
        print("readyok")
    elif words[0] == "position":
        moves = words[words.index("moves") + 1:] if "moves" in words else []
    elif words[0] == "go":
        with open(log, "a") as file:
            file.write(f"{os.getpid()} {len(moves)}\\n")
        if "hangs" in behavior and len(moves) >= 2:
            time.sleep(600)
        if "deadly" in behavior and len(moves) == 3 and os.path.exists(log + ".deadly"):
            sys.exit(1)
        while "wait" in behavior and os.path.exists(log + ".wait"):
            time.sleep(0.01)
        print(f"info depth 1 score cp {10 * len(moves)} nodes 1")
        print("bestmove " + ("a2a3" if len(moves) % 2 == 0 else "a7a6"))
    elif words[0] == "quit":
        break
    sys.stdout.flush()
"""
GAMES = "\n".join(f"1. e4 e5 2. {move} *\n" for move in ("d4", "c4", "b4", "f4", "h4", "g4", "d3"))
POSITIONS = 7 * 4


class Fake:
    """The engine's command, and what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "engine.py"
        self.script.write_text(ENGINE, encoding="utf-8")
        self.log = folder / "asked.log"
        self.gate = folder / "asked.log.wait"

    def spec(self, *behavior: str) -> str:
        words = [sys.executable, str(self.script), str(self.log), *behavior]
        return f"uci:nodes=1:{shlex.join(words)}"

    @property
    def asked(self) -> list[tuple[int, int]]:
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [(int(pid), int(plies)) for pid, plies in (line.split() for line in lines)]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES, encoding="utf-8")
    return hk.Study.create(tmp_path / "study", file)


def evaluated(study: hk.Study) -> list[tuple[int, int, float | None, str | None]]:
    found = study.sql("select game_id, ply, score, failed from evaluations order by game_id, ply")
    return [tuple(row.values()) for row in found.to_pylist()]


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits as long as it takes; the limit is for a test that would otherwise never end."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("what was waited for did not come")


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def expected_score(ply: int) -> float:
    return 10.0 * ply if ply % 2 == 0 else -10.0 * ply


def test_every_position_is_evaluated_once_in_the_first_players_view(
    study: hk.Study, fake: Fake
) -> None:
    [report] = evaluate(study, [fake.spec()])
    assert (report.wanted, report.done, report.failed) == (POSITIONS, POSITIONS, 0)
    assert evaluated(study) == [
        (game, ply, expected_score(ply), None) for game in range(7) for ply in range(4)
    ]


def test_a_second_identical_request_computes_nothing(study: hk.Study, fake: Fake) -> None:
    evaluate(study, [fake.spec()])
    asked = fake.asked
    [report] = evaluate(study, [fake.spec()])
    assert (report.found, report.done) == (POSITIONS, 0)
    assert fake.asked == asked


def test_no_engine_is_left_when_it_is_over(study: hk.Study, fake: Fake) -> None:
    evaluate(study, [fake.spec()], jobs=2)
    assert not any(is_alive(pid) for pid, _ in fake.asked)


def test_a_condition_and_a_sample_choose_positions(study: hk.Study, fake: Fake) -> None:
    [report] = evaluate(study, [fake.spec()], where="ply > 0", sample=2, seed=5)
    assert report.done == 14
    first = evaluated(study)
    assert all(ply > 0 for _, ply, *_ in first)
    assert {game for game, *_ in first} == set(range(7))
    [again] = evaluate(study, [fake.spec()], where="ply > 0", sample=2, seed=5)
    assert again.done == 0
    evaluate(study, [fake.spec()], where="ply > 0", sample=2, seed=6)
    assert len(evaluated(study)) > 14


def test_another_request_adds_what_is_missing(study: hk.Study, fake: Fake) -> None:
    evaluate(study, [fake.spec()], where="game_id < 3")
    [report] = evaluate(study, [fake.spec()])
    assert (report.found, report.done) == (12, 16)
    assert len(evaluated(study)) == POSITIONS


def test_a_position_on_which_the_engine_dies_is_recorded_and_the_run_goes_on(
    study: hk.Study, fake: Fake
) -> None:
    deadly = fake.log.with_name("asked.log.deadly")
    deadly.touch()
    [report] = evaluate(study, [fake.spec("deadly")])
    assert (report.done, report.failed) == (POSITIONS, 7)
    rows = evaluated(study)
    assert [ply for _, ply, _, failed in rows if failed] == [3] * 7
    assert all((score is None) == bool(failed) for _, _, score, failed in rows)
    deadly.unlink()
    [again] = evaluate(study, [fake.spec("deadly")])
    assert (again.found, again.failed_before, again.done) == (POSITIONS - 7, 7, 0)
    assert again.known == POSITIONS - 7
    [retried] = evaluate(study, [fake.spec("deadly")], retry_failed=True)
    assert (retried.done, retried.failed) == (7, 0)
    assert [(ply, failed) for _, ply, _, failed in evaluated(study)] == [
        (ply, None) for _ in range(7) for ply in range(4)
    ]


def test_failures_of_before_are_no_success(study: hk.Study, fake: Fake) -> None:
    """The same command again asks nobody, and says what would."""
    deadly = fake.log.with_name("asked.log.deadly")
    deadly.touch()
    chosen = ["--where", "ply = 3 and game_id < 2"]
    words = ["study", "evaluate", str(study.path), "-q", "--with", fake.spec("deadly"), *chosen]
    for more, said in (
        ([], "failed (died)"),
        ([], "2 of 2 positions failed before; --retry-failed evaluates them again"),
        (["--json"], '"failed_before": 2'),
    ):
        result = CliRunner().invoke(command_line(words), [*words, *more], obj=words)
        assert (result.exit_code, said in result.output) == (1, True), (
            result.output,
            result.exception,
        )
    deadly.unlink()
    for _ in range(2):
        result = CliRunner().invoke(command_line(words), [*words, "--retry-failed"], obj=words)
        assert result.exit_code == 0, result.output
        assert "before;" not in result.output


def test_a_missing_engine_is_refused(study: hk.Study) -> None:
    with pytest.raises(hk.errors.EngineError, match="no-such-engine"):
        evaluate(study, ["uci:no-such-engine"])
    assert evaluated(study) == []


def test_an_engine_of_another_game_stops_at_once_and_leaves_nothing(
    tmp_path: Path, fake: Fake
) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[1]SZ[9];B[ee];W[gc])", encoding="utf-8")
    study = hk.Study.create(tmp_path / "go", file)
    with pytest.raises(hk.errors.EngineError, match="plays chess, not go9"):
        evaluate(study, [fake.spec()])
    assert evaluated(study) == []
    assert list((study.path / "evaluations").iterdir()) == []


def test_a_misspelt_evaluator_gets_a_hint(study: hk.Study) -> None:
    with pytest.raises(hk.errors.NotationError, match="did you mean comments"):
        evaluate(study, ["coments"])


def test_values_of_another_version_are_not_mixed_in(
    study: hk.Study, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(study, [fake.spec()], where="game_id = 0")
    monkeypatch.setenv("FAKE_VERSION", "2")
    with pytest.raises(hk.errors.EngineError, match="rename it with name="):
        evaluate(study, [fake.spec()])
    assert len(evaluated(study)) == 4


def test_what_was_evaluated_before_an_engine_is_given_up_is_kept(
    study: hk.Study, fake: Fake
) -> None:
    spec = fake.spec("hangs").replace("nodes=1", "time=0.1,grace=0.2")
    with pytest.raises(
        hk.errors.EngineError, match=r"given up.* within 0\.3 s at chess start moves e2e4"
    ):
        evaluate(study, [spec], where="game_id < 2 or ply >= 2")
    rows = evaluated(study)
    assert [(game, ply) for game, ply, _, failed in rows if failed is None] == [
        (game, ply) for game in range(2) for ply in range(2)
    ]
    hung = [(game, ply) for game, ply, _, failed in rows if failed is not None]
    assert hung == [(game, ply) for game in range(3) for ply in (2, 3)]
    assert {failed for *_, failed in rows if failed} == {"timeout: does not answer within 0.3 s"}


class AtOnce(Executor):
    """Every task is done before the first result is looked at."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def test_values_of_another_version_that_came_in_at_the_same_time_stay_out_too(
    study: hk.Study, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(study, [fake.spec()], where="game_id = 0")
    monkeypatch.setenv("FAKE_VERSION", "2")
    with pytest.raises(hk.errors.EngineError, match="rename it with name="):
        evaluate(study, [fake.spec()], executor=AtOnce())
    assert len(evaluated(study)) == 4


def test_comments_are_an_evaluator(tmp_path: Path) -> None:
    file = tmp_path / "game.pgn"
    file.write_text("1. e4 {[%eval 0.31]} e5 {[%eval #-4]} 2. d4 {hm} *\n", encoding="utf-8")
    study = hk.Study.create(tmp_path / "study", file)
    [report] = evaluate(study, ["comments"])
    assert (report.wanted, report.done) == (2, 2)
    found = study.sql("select ply, score, mate, unit, engine from evaluations order by ply")
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (1, pytest.approx(31), None, "centipawns", "comments"),
        (2, None, -4, "centipawns", "comments"),
    ]
    assert evaluate(study, ["comments"])[0].done == 0
    assert study.engines == ["comments"]


RUN = """
import sys
import hyoka as hk
hk.Study.open(sys.argv[1]).evaluate([sys.argv[2]], flush_s=0)
"""


def test_what_was_evaluated_before_a_stop_has_its_engines_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the first to be stopped would leave a study whose evaluator is nobody."""
    spec = SearchSpec.from_text("random")
    codes = np.array([], np.uint16).tobytes()
    games = [RecordedGame("othello", 0, "", math.nan, codes, [0, 0])]
    seen: list[object] = []
    monkeypatch.setattr(worker_states, "_stopped", _StoppedAfterOne(seen))
    real = SearchEvaluator.evaluate_each

    def noticed(worker: object, given: object) -> Iterator[object]:
        for result in real(worker, given):  # type: ignore[arg-type]
            seen.append(result)
            yield result

    monkeypatch.setattr(SearchEvaluator, "evaluate_each", noticed)
    result = evaluate_games(spec, games, worker_states.WorkerState("stopped run"))
    assert (len(result.table), result.name, result.version) == (1, "random", "hyoka")


class _StoppedAfterOne(set[str]):
    """The runs that were stopped: every one, once one position is done."""

    def __init__(self, seen: list[object]) -> None:
        super().__init__()
        self._seen = seen

    def __contains__(self, _run: object) -> bool:
        return len(self._seen) > 1


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_interrupted_the_same_request_goes_on(
    study: hk.Study, fake: Fake, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine stops answering half-way; then the run is ended by a signal."""
    monkeypatch.setattr("hyoka.study.evaluating._FIRST_TASK", 1)
    spec = fake.spec("wait")
    evaluate(study, [spec], where="game_id < 2", flush_s=0)
    before = len(evaluated(study))
    fake.gate.touch()
    asked_before = len(fake.asked)
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(study.path), spec], stderr=subprocess.DEVNULL
    )
    wait_for(lambda: len(fake.asked) > asked_before)
    run.send_signal(how)
    run.wait(60)
    wait_for(lambda: not any(is_alive(pid) for pid, _ in fake.asked))
    fake.gate.unlink()
    assert len(evaluated(study)) >= before
    evaluate(study, [spec])
    assert [(game, ply) for game, ply, *_ in evaluated(study)] == [
        (game, ply) for game in range(7) for ply in range(4)
    ]
    leftovers = [path.name for path in study.path.rglob(".part*")]
    assert leftovers == []


def test_two_runs_of_one_engine_do_not_meet(study: hk.Study, fake: Fake) -> None:
    fake.gate.touch()
    spec = fake.spec("wait")
    run = subprocess.Popen([sys.executable, "-c", RUN, str(study.path), spec])
    try:
        wait_for(lambda: bool(fake.asked))
        with pytest.raises(hk.errors.StudyError, match=r"another process .*\d+, evaluating"):
            evaluate(study, [spec])
    finally:
        fake.gate.unlink()
        assert run.wait(60) == 0
    assert len(evaluated(study)) == POSITIONS


def test_several_engines_side_by_side(study: hk.Study, fake: Fake) -> None:
    fake.gate.touch()
    spec = fake.spec("wait")
    script = RUN.replace("flush_s=0", "flush_s=0, jobs=2")
    run = subprocess.Popen([sys.executable, "-c", script, str(study.path), spec])
    try:
        wait_for(lambda: len({pid for pid, _ in fake.asked}) == 2)
    finally:
        fake.gate.unlink()
        assert run.wait(60) == 0
    assert len(evaluated(study)) == POSITIONS


def test_an_address_without_a_cluster_is_refused(study: hk.Study) -> None:
    with (
        pytest.raises(hk.errors.ParallelError, match="no Dask scheduler"),
        hk.cluster("tcp://127.0.0.1:1", timeout_s=0.2),
    ):
        pass


class Scheduler:
    """A Dask client whose scheduler can die: what was sent out never comes back."""

    def __init__(self) -> None:
        self.status = "running"
        self.sent: list[Future[Any]] = []

    def get_executor(self, **_: object) -> "Scheduler":
        return self

    def submit(self, *_: object) -> Future[Any]:
        self.sent.append(Future())
        return self.sent[-1]


@pytest.mark.parametrize("before", ["running", "connecting"])
def test_a_scheduler_that_dies_ends_the_run(study: hk.Study, before: str) -> None:
    """It dies once tasks are out, at once or after Dask has tried to find it again."""
    scheduler = Scheduler()
    executor = clustering.ClusterExecutor(scheduler, "tcp://scheduler:8786")

    def die() -> None:
        wait_for(lambda: len(scheduler.sent) == 2)
        scheduler.status = before
        for future in scheduler.sent[:1]:  # Dask itself gives up some
            future.cancel()
        scheduler.status = "closed"

    killer = threading.Thread(target=die)
    killer.start()
    with pytest.raises(
        hk.errors.ParallelError, match="Dask scheduler at tcp://scheduler:8786 is gone"
    ):
        evaluate(study, ["ab:depth=1"], executor=executor)
    killer.join()
    assert evaluated(study) == []


def test_nobody_waits_for_workers_that_do_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client neither answers nor closes."""
    never = threading.Event()

    class Silent:
        status = "running"

        def run(self, *_: object) -> None:
            never.wait()

        def get_executor(self, **_: object) -> "Silent":
            return self

    started = time.monotonic()
    monkeypatch.setattr(clustering, "_HASTY_PATIENCE_S", 0.05)
    clustering.ClusterExecutor(Silent(), "tcp://silent:8786").everywhere(
        worker_states.cancel_and_release, "a run", in_haste=True
    )
    assert time.monotonic() - started < 30
    never.set()


# Titles


def titles(study: hk.Study) -> set[str]:
    return set(evaluator_titles(study, study.engines))


def test_an_engine_is_called_by_the_name_it_reports(study: hk.Study, fake: Fake) -> None:
    [report] = evaluate(study, fake.spec(), limit=1)
    assert report.title == "Fake 1, 1 node"
    assert titles(study) == {"Fake 1, 1 node"}
    assert report.engine.startswith("python")  # the command's name


def test_a_title_may_change_and_stays_until_then(study: hk.Study) -> None:
    [first] = evaluate(study, "ab:depth=1", limit=1)
    assert first.title == "Alpha-beta, depth 1"
    for title in ("Mine", ""):
        [again] = evaluate(study, "ab:depth=1", limit=1, title=title)
        assert (again.engine, again.title, again.done) == (first.engine, "Mine", 0)
    [yours] = evaluate(study, ab(depth=1, title="Yours"), limit=1)
    assert (yours.engine, yours.title) == (first.engine, "Yours")
    assert chosen_evaluators(study, "Yours") == [first.engine]
    with pytest.raises(hk.errors.ParameterError, match="`title` needs a single evaluator"):
        evaluate(study, ["ab:depth=1", "ab:depth=2"], title="Mine")


def test_equal_titles_are_distinguished_by_settings(study: hk.Study) -> None:
    evaluate(study, ["uct:playouts=2", "uct:playouts=2,c=2", "comments"], limit=1)
    assert titles(study) >= {"UCT, 2 playouts", "UCT, 2 playouts (c=2)"}


def test_a_study_without_titles_shows_specs(study: hk.Study) -> None:
    [report] = evaluate(study, "ab:depth=1", limit=1)
    with evaluations_of(study, report.engine) as change:
        del change.values["title"]
        change.commit()
    assert titles(study) == {"ab:depth=1"}
    [again] = evaluate(study, "ab:depth=1", limit=2)
    assert (again.done, again.title) == (1, "ab:depth=1")


def test_the_command_line_takes_a_title(study: hk.Study) -> None:
    words = ["study", "evaluate", str(study.path), "--with", "ab:depth=1", "--name", "Mine", "-q"]
    result = CliRunner().invoke(command_line(words), words, obj=words)
    assert result.exit_code == 0, result.output
    assert titles(study) == {"Mine"}
