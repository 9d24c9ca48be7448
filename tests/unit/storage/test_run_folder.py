# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: only the same plan resumes, and its journal keeps complete lines."""

import json
from pathlib import Path

import pytest

from hyoka.foundation.errors import OutputError, StudyError
from hyoka.storage.run_folder import Journal, RunPlan, journal_lines, open_run

PLAN = RunPlan("a match", "plan.json", {"game": "go", "settings": {"epochs": 5}})


def test_a_new_folder_gets_the_plan_and_the_same_plan_resumes(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    for _ in range(2):
        with open_run(folder, PLAN, "playing"):
            assert json.loads((folder / "plan.json").read_text()) == PLAN.values
            with (
                pytest.raises(StudyError, match=r"another process is writing here .*playing"),
                open_run(folder, PLAN, "playing again"),
            ):
                pass


def test_a_folder_of_another_plan_is_refused_by_the_first_difference(tmp_path: Path) -> None:
    with open_run(tmp_path, PLAN, "playing"):
        pass
    other = RunPlan("a match", "plan.json", {"game": "go", "settings": {"epochs": 6}})
    with (
        pytest.raises(StudyError, match=r"another match: its settings\.epochs is 5, not 6;"),
        open_run(tmp_path, other, "playing"),
    ):
        pass


def test_a_folder_of_other_files_or_with_a_damaged_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(OutputError, match="no place for a match"), open_run(tmp_path, PLAN, "-"):
        pass
    for text in ("{", "[]"):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(StudyError, match=r"plan\.json: damaged"), open_run(tmp_path, PLAN, "-"):
            pass


def test_an_incomplete_line_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.jsonl"
    assert journal_lines(path) == []
    with Journal(path) as journal:
        journal.add(b"0")
        with monkeypatch.context() as context:
            context.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "disk full")))
            with pytest.raises(OSError, match="disk full"):
                journal.add(b"1")
        journal.add(b"2", b"3")
    with path.open("ab") as file:
        file.write(b"half")
    with Journal(path):
        assert path.read_bytes() == b"0\n2\n3\n"
    assert journal_lines(path) == [b"0", b"2", b"3"]
