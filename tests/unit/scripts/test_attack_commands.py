# SPDX-License-Identifier: Apache-2.0
"""A walk over all commands with hostile arguments; `scripts/attack/commands.py` tries them all."""

import inspect
import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from attack import commands
from hyoka.apps.cli.command_options import Output, output_of
from hyoka.apps.cli.command_table import COMMANDS, Command

SCRIPT = Path(__file__).parents[3] / "scripts" / "attack" / "commands.py"


def test_no_command_gives_way_to_hostile_arguments() -> None:
    """An attack on each parameter of six commands; `.ci/run` attacks all of them."""
    words = [sys.executable, str(SCRIPT), "--share", "0", "--cpu", "0.3", "--sample", "6"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 failed" in done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_parameter_is_attacked(command: Command) -> None:
    attacks = commands.attacks_on(command)
    values = [each for each in commands.Parameter.all_of(command) if not each.is_flag]
    assert [name for name in attacks if " as " not in name] == [each.name for each in values]
    assert all(attacks.values())
    for each in values:
        if isinstance(each.output, Output):
            named = [attack.what for attack in attacks[each.name] if attack.refused]
            assert any("precious" in what for what in named)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_input_is_given_as_every_output(command: Command) -> None:
    declared = inspect.signature(command.load()).parameters.values()
    outputs = [each.name for each in declared if output_of(each) is not None]
    files = [each.name for each in declared if isinstance(output_of(each), Output)]
    # A path that is no output is an input; a value of another type may be one.
    inputs = [
        each.name
        for each in declared
        if each.name not in outputs and "pathlib.Path" in str(each.annotation)
    ]
    attacks = commands.attacks_on(command)
    pairs = {tuple(name.split(" as ")) for name in attacks if " as " in name}
    assert pairs >= set(itertools.product(inputs, files))
    assert {written for _, written in pairs} <= set(outputs)
    for read, written in pairs:
        for each in attacks[f"{read} as {written}"]:
            assert each.refused
            assert "reads this" in each.because


@pytest.mark.parametrize("check", ["missing_folders", "overwritten_inputs"])
def test_the_walk_notices(check: str) -> None:
    """In a process of its own: the walk forks, and this process has threads."""
    words = [sys.executable, str(Path(__file__).with_name("attack_checks.py")), check]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_documented_number_of_commands_is_today_s() -> None:
    page = Path(__file__).parents[3] / "docs" / "explanation" / "attacks.md"
    [count] = re.findall(r"all (\d+) commands, each parameter", page.read_text(encoding="utf-8"))
    assert int(count) == len(COMMANDS)


def attack(*words: str, refused: bool = False, because: str = "") -> commands.Attack:
    return commands.Attack(list(words), "", refused, because)


@pytest.mark.parametrize(
    ("refused", "status", "said", "changed", "problem"),
    [
        (False, 0, "fine", [], ""),
        (True, 2, "hyoka: no such file", [], ""),
        (False, commands.BUSY, "", [], ""),
        (True, 0, "wrote it", [], "was not refused"),
        (True, commands.BUSY, "", [], "not refused before the work"),
        (False, 2, "", [], "without a word"),
        (False, 1, "Traceback (most recent call last):\n…", [], "a traceback"),
        (False, commands.TRACEBACK, "", [], "a traceback"),
        (False, 128 + 11, "", [], "signal 11"),
        (True, 2, "hyoka: refused", ["precious.txt"], "changed precious.txt"),
    ],
)
def test_what_went_wrong_is_noticed(
    refused: bool, status: int, said: str, changed: list[str], problem: str
) -> None:
    found = commands.wrong(attack(refused=refused), status, said, changed)
    assert problem in found if problem else not found


def test_a_refusal_for_another_reason_is_noticed() -> None:
    reads = attack(refused=True, because="reads this file")
    assert not commands.wrong(reads, 2, "hyoka: x: the command reads\n this file", [])
    assert "another reason" in commands.wrong(reads, 2, "hyoka: x: no such folder", [])


def test_a_fork_that_fails_or_runs_on_is_named(tmp_path: Path) -> None:
    assert commands.forked(lambda: 3, tmp_path, 1)[0] == 3
    status, said = commands.forked(lambda: int("x"), tmp_path, 1)
    assert status == commands.TRACEBACK
    assert "ValueError" in said

    def forever() -> int:
        while True:
            pass

    assert commands.forked(forever, tmp_path, 0.05)[0] == commands.BUSY

    def end() -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert commands.forked(end, tmp_path, 1)[0] == 128 + signal.SIGKILL
