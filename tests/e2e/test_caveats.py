# SPDX-License-Identifier: Apache-2.0
"""What a command says about its figures: each caveat in one line, once, after all figures."""

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from hyoka.analysis import Curves
from hyoka.apps.cli import analyze_commands
from hyoka.records.samples import sample_path
from hyoka.storage.result import Result
from hyoka.study import Study

from .commands import hyoka_here as hyoka

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CAVEAT = re.compile(r"combines \d+ players|fewer than \d+ games|of games in the training data")
LONGEST = 220
"""Characters of a line that is read at once."""
LINK = "figures and intervals: hyoka help analyses"
ANALYSES = (
    "summary",
    "summary --by phase",
    "metrics --by phase",
    "curves --by phase",
    "gaps --by phase",
    "gaps --by phase --where ply<30",
    "compare -e comments -e ab:nodes=1,hash=0",
    "disagreements -e comments -e ab:nodes=1,hash=0 --top 2",
    "calibrate --by phase",
    "reliability",
    "slices",
    "accuracy",
    "wdl",
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("caveats") / "study"
    made = Study.create(path, records=sample_path("chess"))
    made.evaluate(["comments", "ab:nodes=1,hash=0"], sample=4)
    return path


def repeated(output: str) -> list[str]:
    """The lines of prose that a command prints more than once."""
    counts = Counter(line.strip() for line in output.splitlines())
    return [line for line, count in counts.items() if count > 1 and len(line.split()) > 4]


@pytest.mark.parametrize("analysis", ANALYSES)
def test_a_caveat_is_one_line_at_the_end(
    study: Path, analysis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    caveats: list[str] = []
    notes_of = analyze_commands._notes

    def noted(result: Result) -> list[str]:
        caveats.extend(getattr(result, "caveats", ()))
        if not isinstance(result, Curves):  # theirs are figures in words
            notes.extend(notes_of(result))
        return notes_of(result)

    monkeypatch.setattr(analyze_commands, "_notes", noted)
    name, *options = shlex.split(analysis)
    result = hyoka("analyze", name, str(study), "--resamples", "20", *options)
    assert result.returncode == 0, result.stderr
    output = result.stdout + result.stderr
    lines = output.splitlines()
    assert repeated(output) == []
    assert [note for note in notes if len(note) > LONGEST or "\n" in note] == []
    if notes:
        last = list(dict.fromkeys(caveats))
        assert lines[len(lines) - 1 - len(last) :] == [*last, LINK]


def test_the_commands_of_the_readme_say_nothing_twice(tmp_path: Path) -> None:
    commands = re.findall(r"^hyoka ([^#\n]*)", README, re.MULTILINE)
    assert len(commands) > 5
    for command in commands:
        result = hyoka(*shlex.split(command), cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        output = result.stdout + result.stderr
        assert repeated(output) == []
        found = [line for line in output.splitlines() if CAVEAT.search(line)]
        assert len(found) <= 1, found
        assert all(len(line) <= LONGEST for line in found)
