# SPDX-License-Identifier: Apache-2.0
"""Runs of the studio: forms made of the commands, and processes that outlive who started them."""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import hyoka as hk
from engines import fake
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio.allowed_engines import Engines, engines_from_settings, named_engines
from hyoka.apps.studio.folder import Folder
from hyoka.apps.studio.forms import TASKS, Allow, Forms, command_text, task_title
from hyoka.apps.studio.pages import Studio
from hyoka.apps.studio.rooms.runs_room import Input, input_of
from hyoka.apps.studio.runs import Run, Runs
from hyoka.study.evaluating import evaluate

FORMS = Forms.of(COMMANDS)
LONG = ["position", "perft", "chess", "9"]
"""Nobody waits for this one."""


@pytest.fixture
def allow(tmp_path: Path) -> Allow:
    return Allow(Folder(tmp_path), Engines({"sf": "uci:stockfish"}))


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Whatever words a test likes, as the command line has many quick commands."""
    return Runs(Folder(tmp_path), lambda _command, values: list(values["words"]))


def wait_for(run: Run, *states: str) -> str:
    deadline = time.monotonic() + 60
    while (state := run.state) not in states and time.monotonic() < deadline:
        time.sleep(0.02)
    assert state in states, run.log
    return state


@pytest.mark.parametrize("name", list(FORMS.commands))
def test_every_command_is_a_form_that_stands_for_it(name: str, allow: Allow) -> None:
    form = FORMS.form(name)
    assert form.words({}, allow) == name.split()
    assert all(each.help for each in form.fields), "every field says what it is"
    # Defaults that are filled in are no words, and switches that say what they are are none.
    filled = {
        each.name: ["off", "on"]
        if each.default == "on"
        else ["off"]
        if each.shape == "check"
        else [each.default]
        for each in form.fields
        if not each.is_path and not each.many and each.option
    }
    assert form.words(filled, allow) == name.split()


def test_every_task_is_a_command_and_names_fields_of_its_form() -> None:
    assert list(FORMS.commands) == list(TASKS)
    for name, task in TASKS.items():
        fields = {each.name: [f"<{each.name}>"] for each in FORMS.form(name).fields}
        assert task_title(name, fields) == task.run.replace("{", "<").replace("}", ">")


def test_the_title_of_a_run_opens_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would block
    values = {"players": [f"uct:eval={tmp_path}/pipe\nuci:nodes=1:{'x' * 500}"]}
    title = task_title("match run", values)
    assert title.startswith(f"Match uct:eval={tmp_path}/pipe – uci:nodes=1:x")
    assert len(title) == 120
    assert "\u202e" not in task_title("report", {"study": ["a\u202eb"]})


def test_fields_are_choices_of_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[Result "0-1"]\n\n1. f3 {[%eval 1]} e5 2. g4 Qh4# 0-1\n')
    study = hk.Study.create(tmp_path / "study", records=[tmp_path / "games.pgn"])
    evaluate(study, ["comments"])
    studio = Studio.on(Folder(tmp_path), Engines({"sf": "uci:stockfish"}), COMMANDS)

    def inputs(command: str, **values: list[str]) -> dict[str, Input]:
        form = FORMS.form(command)
        return {each.name: input_of(studio, form, each, values) for each in form.fields}

    report = inputs("report", study=["study"])
    assert (report["study"].shape, report["study"].choices) == ("select", [("study", "study")])
    assert report["study"].reloads
    assert report["evaluators"].shape == "checks"
    assert [value for value, _ in report["evaluators"].choices] == ["comments"]
    assert inputs("report")["evaluators"].shape == "lines"
    evaluators = inputs("study evaluate", study=["study"])["evaluators"]
    assert {"comments", "sf", "uct:playouts=200"} <= {value for value, _ in evaluators.choices}
    assert inputs("study create")["study"].shape == "text"
    assert "pgn" in [value for value, _ in inputs("study create")["format"].choices]
    assert inputs("learn weights")["methods"].shape == "checks"
    assert [value for value, _ in inputs("study create")["files"].choices] == ["games.pgn"]
    players = inputs("match run", players=["random\nrandom", "mine=uct"])["players"]
    assert "random" in players.ticked
    assert players.typed == ["random", "mine=uct"], "a second of a kind is typed"


def test_a_form_stands_for_the_words_that_one_would_type(allow: Allow) -> None:
    values = {
        "players": ["uct:playouts=50\n\n  sf@10+0.1  "],
        "games": ["20"],
        "folder": ["matches/one two"],
        "adjudicate": ["win=600,4\ndraw=10,8,80"],
        "komi": ["-0.5"],
        "report": ["off"],
        "seed": [""],
    }
    words = FORMS.words("match run", values, allow)
    assert command_text(words) == (
        "hyoka match run --adjudicate win=600,4 --adjudicate draw=10,8,80 --komi=-0.5 --games 20 "
        "--output 'matches/one two' --no-report uct:playouts=50 sf=uci:stockfish@10+0.1"
    )


@pytest.mark.parametrize(
    ("command", "values", "problem"),
    [
        ("match run", {"games": ["0"]}, "'--games'"),
        ("match run", {"games": ["many"]}, "integer"),
        ("study evaluate", {}, "STUDY"),
        ("match run", {"players": ["a\x07b"]}, "one line"),
        ("match run", {"no_such": ["1"]}, "no field"),
        ("match run", {"fastchess": ["-engine cmd=sh name=a -engine cmd=sh"]}, "no field"),
    ],
)
def test_what_the_command_line_would_not_take_is_not_started(
    command: str, values: dict[str, list[str]], problem: str, allow: Allow
) -> None:
    with pytest.raises(hk.Error, match=problem):
        FORMS.words(command, values, allow)


def test_a_run_is_done_and_says_so(runs: Runs, tmp_path: Path) -> None:
    run = runs.start("position perft", {"words": ["position", "perft", "othello", "3"]})
    assert wait_for(run, "done")
    again = Runs(Folder(tmp_path), runs.words_of).get(run.number)
    assert "56" in again.log
    assert again.log.startswith("$ hyoka position perft othello 3\n")
    assert again.works[-1].done == again.works[-1].total
    runs.forget(run.number)
    assert runs.all() == []


def test_an_engine_that_was_named_evaluates(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n')
    study = hk.Study.create(tmp_path / "study", records=[tmp_path / "games.pgn"])
    spec = fake("uci", "say=info depth 1 score cp 5", settings="nodes=1")
    studio = Studio.on(Folder(tmp_path), Engines({"mine": spec}), COMMANDS)
    run = studio.runs.start("study evaluate", {"study": ["study"], "evaluators": ["mine"]})
    wait_for(run, "done")
    assert len(study.engines) == 1
    assert study.sql("select count(*) as n from evaluations")["n"][0].as_py() >= 4


def test_a_run_that_fails_says_why(runs: Runs) -> None:
    run = runs.start("position perft", {"words": ["position", "perft", "no-such-game", "3"]})
    wait_for(run, "failed")
    assert "no-such-game" in run.log


def test_one_run_is_held_let_go_and_cancelled_while_another_goes_on(runs: Runs) -> None:
    run, other = (runs.start("position perft", {"words": LONG}) for _ in range(2))
    assert [each.number for each in runs.under_way()] == [2, 1]
    with pytest.raises(hk.Error, match="cancel it first"):
        runs.forget(run.number)
    runs.pause(run.number)
    assert run.state == "paused"
    assert _process_state(run) == "T"
    runs.resume(run.number)
    assert run.state == "running"
    assert _process_state(run) in "SR"
    runs.cancel(run.number)
    wait_for(run, "cancelled")
    assert other.state == "running"
    runs.pause(other.number)
    runs.cancel(other.number)  # also what is held can be ended
    wait_for(other, "cancelled")


def test_runs_wait_for_one_another_in_order(runs: Runs) -> None:
    first = runs.start("position perft", {"words": LONG})
    quick = ["position", "perft", "othello", "1"]
    second, third, fourth = (
        runs.start("position perft", {"words": quick}, wait=True) for _ in range(3)
    )
    refused = runs.start("position perft", {"words": ["no-such-command"]}, wait=True)
    assert [run.state for run in (second, third, fourth)] == ["waiting"] * 3
    runs.cancel(third.number)
    assert third.state == "cancelled"
    runs.forget(fourth.number)
    runs.cancel(first.number)
    wait_for(second, "done")
    wait_for(refused, "failed")
    assert second.began < refused.began
    assert third.state == "cancelled"
    assert [run.number for run in runs.all()] == [5, 3, 2, 1]


def test_nothing_waits_because_a_folder_says_so(runs: Runs) -> None:
    run = runs.start("position perft", {"words": LONG}, wait=True)
    copy = run.place.with_name("7")
    shutil.copytree(run.place, copy)  # what somebody else may have made
    assert (run.state, runs.get(7).state) == ("waiting", "interrupted")
    runs.cancel(run.number)


def test_a_run_that_can_go_on_is_stopped_to_pause_it(runs: Runs) -> None:
    run = runs.start("match run", {"words": LONG})
    runs.pause(run.number)
    wait_for(run, "paused")
    assert not run.is_alive
    runs.resume(run.number)
    assert wait_for(run, "running")
    os.killpg(_group(run), signal.SIGKILL)  # the machine goes down, say
    wait_for(run, "interrupted")
    runs.resume(run.number)
    assert run.state == "running"
    runs.cancel(run.number)
    wait_for(run, "cancelled")
    assert run.log.count("$ hyoka position perft") == 3


def test_a_cancel_during_the_start_ends_the_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = subprocess.run

    def run_after_a_click(*words: Any, **how: Any) -> Any:
        runs.cancel(1)  # from another thread, before the new process has a number
        return launch(*words, **how)

    monkeypatch.setattr("hyoka.apps.studio.runs.subprocess.run", run_after_a_click)
    wait_for(runs.start("position perft", {"words": LONG}), "cancelled")


def test_a_cancel_before_the_start_ends_the_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = subprocess.run

    def run_after_a_wish(*words: Any, **how: Any) -> Any:
        begun = launch(*words, **how)
        (runs.place / "1" / "wish.json").write_text('{"wish": "cancel"}')
        return begun

    monkeypatch.setattr("hyoka.apps.studio.runs.subprocess.run", run_after_a_wish)
    wait_for(runs.start("position perft", {"words": LONG}), "cancelled")


def test_a_run_goes_on_although_somebody_looks_at_it(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.start("match run", {"words": ["position", "perft", "othello", "1"]})
    wait_for(run, "done")
    with (run.place / ".lock").open("rb") as looked_at:
        fcntl.flock(looked_at, fcntl.LOCK_SH)  # as a reader does for a moment
        monkeypatch.setattr(
            "hyoka.storage.run_folder.time.sleep", lambda _s: fcntl.flock(looked_at, fcntl.LOCK_UN)
        )
        runs.resume(run.number)
    monkeypatch.undo()
    wait_for(run, "done")
    assert run.log.count("$ hyoka position perft") == 2


def test_numbers_of_processes_that_are_gone_are_left_alone(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.start("position perft", {"words": ["position", "perft", "othello", "1"]})
    wait_for(run, "done")
    sent: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda *signal: sent.append(signal))
    for act in (runs.pause, runs.cancel):
        act(run.number)
    assert (sent, run.state) == ([], "done")


def test_engines_are_named_by_texts_and_settings(tmp_path: Path) -> None:
    assert named_engines(["sf=uci:Hash=16:stockfish"]) == {"sf": "uci:Hash=16:stockfish"}
    settings = tmp_path / "studio.toml"
    settings.write_text('[engines]\ngnu = "gtp:gnugo --mode gtp"\n')
    assert engines_from_settings(settings) == {"gnu": "gtp:gnugo --mode gtp"}
    wrong: list[Callable[[], object]] = [
        lambda: named_engines(["stockfish"]),
        lambda: named_engines(["uct=uci:stockfish"]),
        lambda: named_engines(["a b=uci:stockfish"]),
        lambda: named_engines(["sf=nonsense"]),
        lambda: engines_from_settings(tmp_path / "none.toml"),
    ]
    for each in wrong:
        with pytest.raises(hk.Error):
            each()
    settings.write_text("engines = 3")
    with pytest.raises(hk.errors.SourceError, match="engines"):
        engines_from_settings(settings)


def _group(run: Run) -> int:
    import json  # noqa: PLC0415

    return int(json.loads((run.place / "process.json").read_text())["group"])


def _process_state(run: Run) -> str:
    """As the system has it: T for one that is stopped."""
    deadline = time.monotonic() + 10
    while True:
        state = Path(f"/proc/{_group(run)}/stat").read_text().rpartition(")")[2].split()[0]
        if (state == "T") == (run.state == "paused") or time.monotonic() > deadline:
            return state


def test_commands_are_shown_as_a_shell_reads_them() -> None:
    words = ["match", "a b", "c'd"]
    assert shlex.split(command_text(words)) == ["hyoka", *words]
