# SPDX-License-Identifier: Apache-2.0
"""`hyoka study annotate`, as a user meets it."""

import itertools
import json
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.records.samples import sample_path

from .commands import hyoka_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    games = itertools.islice(hk.read_records(sample_path("othello")), 2)
    hk.write_records(games, tmp_path / "games.sgf")
    hk.Study.create(tmp_path / "study", [tmp_path / "games.sgf"])
    return tmp_path


def test_a_study_gets_columns_and_says_what_to_do_with_them(folder: Path) -> None:
    listed = hyoka_here("study", "columns", "study", cwd=folder)
    assert "correct_depth" not in listed.stdout
    done = hyoka_here("study", "annotate", "study", "--search", "ab", "-j", "2", cwd=folder)
    assert done.returncode == 0, done.stderr
    table = [line.split() for line in done.stdout.splitlines()]
    assert table[0] == ["column", "category", "positions", "share"]
    categories = [(row[0], row[1]) for row in table[1:-1]]
    assert categories == [
        *(("progress_eighth", str(eighth)) for eighth in range(8)),
        *(("best_move_changes", each) for each in ("0", "1", "2", "unknown")),
        *(("correct_depth", each) for each in ("1", "2", "3", "4", "unknown")),
    ]
    assert done.stdout.endswith("use them: hyoka analyze summary study --by best_move_changes\n")
    listed = hyoka_here("study", "columns", "study", cwd=folder)
    meaning = "correct_depth      Depth from which the move played is the best"
    assert meaning in listed.stdout


def test_json_says_how_many_positions_are_of_which_kind(folder: Path) -> None:
    done = hyoka_here(
        "study", "annotate", "study", "--search", "ab:quiescence=off", "--json", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["search"] == "ab:quiescence=off"
    positions = sum(said["counts"]["progress_eighth"].values())
    assert said["positions"] == positions == 2 + sum(said["counts"]["correct_depth"].values())
    check = hyoka_here("study", "verify", "study", "--seal", "--json", cwd=folder)
    assert json.loads(check.stdout)["is_whole"]
    found = hyoka_here(
        "study",
        "sql",
        "study",
        "select count(*) as n from positions where correct_depth = 4",
        "--json",
        cwd=folder,
    )
    assert json.loads(found.stdout) == [{"n": said["counts"]["correct_depth"]["4"]}]


def test_an_invalid_search_is_refused_in_one_line(folder: Path) -> None:
    for spec, words in (("uct", "--search is ab or ab:SETTINGS"), ("ab:depth=9", "has no effect")):
        done = hyoka_here("study", "annotate", "study", "--search", spec, cwd=folder)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
