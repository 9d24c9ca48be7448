# SPDX-License-Identifier: Apache-2.0
"""How far a command is, for other programs: the file that HYOKA_PROGRESS names."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.commands import hyoka_here
from hyoka.apps.cli.output import ProgressFile, progress_bars
from hyoka.foundation.progress import Progress


def works(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["works"]
    return found


def test_first_and_last_steps_are_written_at_once_and_others_at_intervals(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    progress_file = ProgressFile(file)
    for done in (3, 4, 5):
        progress_file.tell(Progress("one", done, 9, "games"))
    assert [(each["what"], each["done"]) for each in works(file)] == [("one", 3)]
    progress_file.tell(Progress("other", 0, None, "games", "note"))  # writes the held one too
    assert [each["done"] for each in works(file)] == [5, 0]
    progress_file.tell(Progress("one", 9, 9, "games"))
    first, second = works(file)
    assert (first["done"], first["before"], first["total"]) == (9, 3, 9)
    assert (second["total"], second["unit"], second["note"]) == (None, "games", "note")
    assert first["began"] <= first["at"]
    assert [path.name for path in tmp_path.iterdir()] == ["progress.json"]


def test_work_does_not_stop_for_want_of_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYOKA_PROGRESS", str(tmp_path / "none" / "progress.json"))
    with progress_bars() as progress:
        progress(Progress("one", 0, 1, "games"))
    assert list(tmp_path.iterdir()) == []


def test_a_match_tells_of_its_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "progress.json"
    monkeypatch.setenv("HYOKA_PROGRESS", str(file))
    options = ["--game", "go3", "--games", "2", "--output", "match", "--no-report", "--json"]
    answer = hyoka_here("match", "run", "random", "other=random", *options, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    [work] = works(file)
    assert (work["what"], work["done"], work["total"], work["unit"]) == ("match", 2, 2, "games")
