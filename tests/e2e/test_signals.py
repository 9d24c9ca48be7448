# SPDX-License-Identifier: Apache-2.0
"""Whatever a command is doing, it ends soon after SIGINT and SIGTERM, in one line."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.study.evaluating import evaluate

# Says when a query that never ends has begun, or the signals are listened to before reading begins.
COMMAND = """
import sys
from hyoka.apps.cli import signals
from hyoka.study import sql
answer, listen = sql._answer, signals.listen

def busy(opened, query, *given):
    if "range(" in query:
        print("busy", flush=True)
    return answer(opened, query, *given)

def listening():
    listen()
    if "-" in sys.argv:
        print("busy", flush=True)

sql._answer, signals.listen = busy, listening
from hyoka.apps.cli import main
main(sys.argv[1:])
"""
ENDLESS = "(select count(*) from range(1000000000) a, range(1000000000) b where a.range = -b.range)"
AT_MOST_S = 30.0  # two on a machine that has nothing else to do; never, if nothing ends it


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder = tmp_path_factory.mktemp("signals")
    file = folder / "games.pgn"
    file.write_text("1. e4 {[%eval 0.1]} e5 2. d4 1-0\n\n1. d4 {[%eval 0.1]} d5 0-1\n")
    study = hk.Study.create(folder / "study", file)
    evaluate(study, ["comments"])
    return study


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "words",
    [
        ["study", "sql", "study", f"select {ENDLESS} as n"],
        ["analyze", "summary", "study", "--where", f"{ENDLESS} >= 0"],
        ["records", "info", "-"],
    ],
    ids=["sql", "analyze", "records"],
)
def test_a_signal_ends_a_command_soon(
    study: hk.Study, words: list[str], how: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=study.path.parent,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "busy\n"
        time.sleep(0.2)  # into what never ends; too early a signal would prove less, not fail
        running.send_signal(how)
        status = running.wait(AT_MOST_S)
        assert running.stderr is not None
        assert running.stderr.read() == "hyoka: interrupted\n"
        assert status == 128 + how
        assert running.stdin is not None
        running.stdin.close()


# Ctrl-C comes while a module is being loaded that the command line needs, or a command.
LOADING = """
import os, signal, sys

module = sys.argv[1]

class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
from hyoka.__main__ import main
sys.argv = ["hyoka", "position", "perft", "chess", "1"]
main()
"""


@pytest.mark.parametrize("module", ["typer", "hyoka.apps.cli.position_commands", "numpy"])
def test_a_signal_during_the_start_ends_it_without_a_traceback(module: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LOADING, module], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "hyoka: interrupted\n")


STUCK = """
import threading
from hyoka.apps.cli import signals

signals.listen()
said = False
while True:
    try:
        if not said:
            said = True
            print("busy", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        pass  # as a cleaning up that never ends
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_will_not_end_is_ended(tmp_path: Path, how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "busy\n"
        running.send_signal(how)
        assert running.wait(AT_MOST_S) == 128 + how
        assert running.stderr is not None
        assert running.stderr.read() == "hyoka: interrupted\n"


def test_these_tests_pass_where_ctrl_c_is_ignored_as_for_jobs_in_the_background() -> None:
    place = f"{__file__}::test_a_process_that_will_not_end_is_ended[{signal.SIGINT}]"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", place]
    result = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 0, result.stdout
    assert "1 passed" in result.stdout
