# SPDX-License-Identifier: Apache-2.0
"""Records, studies and engines from the command line, as a user meets them."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .commands import hyoka_here

PGN = """[White "Anderssen"]
[Black "Kieseritzky"]
[Result "1-0"]

1. e4 {[%eval 0.3]} e5 2. f4 {[%eval -0.2]} exf4 1-0

[White "Morphy"]
[Black "Duke"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 1-0

[Result "1-0"]

1. e4 e5 2. Ke3 1-0
"""


def hyoka(*arguments: str, cwd: Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    if given is None:
        return hyoka_here(*arguments, cwd=cwd)
    return subprocess.run(
        [sys.executable, "-m", "hyoka", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        encoding="utf-8",
        input=given,
        env=os.environ | {"COLUMNS": "200"},
    )


def answer(*arguments: str, cwd: Path) -> Any:
    result = hyoka(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games.pgn").write_text(PGN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def study(folder: Path) -> Path:
    assert hyoka("study", "create", "study", "games.pgn", cwd=folder).returncode == 0
    return folder


def test_records_are_counted_and_described(folder: Path) -> None:
    found = answer("records", "info", "games.pgn", cwd=folder)
    assert isinstance(found, dict)
    chess = found["games"]["chess"]
    assert (chess["games"], chess["moves"], chess["values"]) == (2, 8, 2)
    assert chess["results"] == {"first won": 2}
    assert found["refused"] == {"illegal move": 1}
    assert found["first_refused"][0]["line"] == 15
    shown = hyoka("records", "info", "games.pgn", cwd=folder)
    assert "2 of chess" in shown.stdout
    assert "refused 1: 1 illegal move" in shown.stderr
    assert re.search(r"games.pgn:15: game 3, ply 2: move 3, Ke3, is illegal", shown.stderr)


def test_records_come_from_standard_input(folder: Path) -> None:
    found = hyoka("records", "info", "-", "--json", cwd=folder, given=PGN)
    assert json.loads(found.stdout)["games"]["chess"]["games"] == 2


def test_a_condition_chooses_what_is_counted(folder: Path) -> None:
    found = answer("records", "info", "games.pgn", "--where", "white = 'Morphy'", cwd=folder)
    assert isinstance(found, dict)
    assert found["games"]["chess"]["games"] == 1


def test_a_file_without_games_ends_with_an_error(folder: Path) -> None:
    (folder / "hello.txt").write_text("hello\n", encoding="utf-8")
    for arguments in ((), ("--format", "csa"), ("--format", "sgf")):
        result = hyoka("records", "info", "hello.txt", *arguments, cwd=folder)
        assert result.returncode == 1
        assert "refused 1" in result.stderr


def test_tables_in_a_pipe_are_whole(study: Path) -> None:
    shown = hyoka("study", "sql", "study", "select * from games order by game_id", cwd=study)
    lines = shown.stdout.splitlines()
    assert len(lines) == 3
    assert "Anderssen" in lines[1]
    assert "…" not in shown.stdout


def test_strict_stops_with_a_clear_line(folder: Path) -> None:
    result = hyoka("records", "info", "games.pgn", "--strict", cwd=folder)
    assert result.returncode == 2
    assert result.stderr.startswith("hyoka: games.pgn:15: game 3, ply 2: move 3, Ke3")


def test_a_study_from_records_to_evaluations(study: Path) -> None:
    assert answer("study", "evaluate", "study", "--with", "comments", cwd=study) == [
        {
            "engine": "comments",
            "wanted": 2,
            "found": 0,
            "failed_before": 0,
            "done": 2,
            "failed": 0,
            "seconds": pytest.approx(0, abs=60),
            "failures": [],
            "notes": [],
            "title": "comments",
        }
    ]
    query = "select ply, score from evaluations order by ply"
    assert answer("study", "sql", "study", query, cwd=study) == [
        {"ply": 1, "score": pytest.approx(30)},
        {"ply": 3, "score": pytest.approx(-20)},
    ]
    shown = hyoka("position", "show", "study", "--game-id", "0", "--ply", "3", cwd=study)
    assert "Anderssen – Kieseritzky" in shown.stdout
    assert "comments: score -20" in shown.stdout
    assert "record: ply 3  score -20" in shown.stdout
    assert answer("study", "adjudicate", "study", cwd=study) == {
        "method": "rules",
        "asked": 2,
        "known": 0,
        "differing": 0,
    }


def test_show_draws_a_game_of_a_study(study: Path) -> None:
    found = answer(
        "position", "show", "study", "--game-id", "1", "--ply", "2", "--svg", "board.svg", cwd=study
    )
    assert isinstance(found, dict)
    assert found["position"].startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w")
    assert found["columns"]["pawns"] == 16
    assert "<svg" in (study / "board.svg").read_text(encoding="utf-8")


def test_columns_are_documented(study: Path) -> None:
    listed = answer("study", "columns", "go9", cwd=study)
    assert isinstance(listed, list)
    ladder = next(column for column in listed if column["name"] == "ladder")
    assert ladder["costly"]
    assert "ladder" in ladder["doc"]
    names = answer("study", "columns", "study", cwd=study)
    assert isinstance(names, list)
    assert {"ply", "white_rank", "material", "adjudicated"} <= set(names)
    assert "ladder" in hyoka("study", "columns", "go9", cwd=study).stdout
    assert "material" in hyoka("study", "columns", "study", cwd=study).stdout


def test_more_is_added_to_a_study(study: Path) -> None:
    (study / "more.pgn").write_text("1. d4 d5 *\n", encoding="utf-8")
    report = answer("study", "append", "study", "more.pgn", cwd=study)
    assert isinstance(report, dict)
    assert (report["games"], report["positions"]) == (1, 3)


def test_unreadable_evaluations_are_counted_and_shown(tmp_path: Path) -> None:
    (tmp_path / "bad.pgn").write_text("1. e4 {[%eval 1e308]} e5 {[%eval 7abc]} 2. Nf3 *\n")
    for arguments in (["records", "info"], ["study", "create", "study"]):
        done = hyoka(*arguments, "bad.pgn", cwd=tmp_path)
        assert "2 numbers in comments could not be read" in done.stderr
        assert "bad.pgn:1: game 1, ply 1: [%eval 1e308]" in done.stderr
        assert done.returncode == 0
    done = hyoka("records", "convert", "bad.pgn", "-o", "good.usi", cwd=tmp_path)
    assert "2 numbers in comments could not be read" in done.stderr
    assert answer("records", "info", "bad.pgn", cwd=tmp_path)["unreadable"] == 2


def test_records_are_converted(folder: Path) -> None:
    report = answer("records", "convert", "games.pgn", "-o", "games.usi", cwd=folder)
    refused = {"illegal move": 1}
    counts = {"games": 2, "refused": refused, "unreadable": 0, "unread": 0}
    assert report == {"file": "games.usi", **counts}
    assert (folder / "games.usi").read_text(encoding="utf-8") == (
        "startpos moves e2e4 e7e5 f2f4 e5f4\nstartpos moves e2e4 e7e5 g1f3 d7d6\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("records", "info", "missing.pgn"), "missing.pgn: no such file"),
        (("study", "create", "x", "games.pgn", "--where", "plise > 1"), "did you mean plies"),
        (
            ("study", "create", "x", "games.pgn", "--derived", "ladder"),
            "no column 'ladder' for chess",
        ),
        (("study", "append", "x", "games.pgn"), "x does not exist"),
        (("records", "info", "games.pgn", "--format", "pgm"), "no format 'pgm'"),
        (("study", "create", ".", "games.pgn"), "is no place for a study; choose a new folder"),
        (("study", "evaluate", "nowhere"), "nowhere does not exist"),
        (("study", "sql", "nowhere", "select 1"), "nowhere does not exist"),
        (("records", "convert", "games.pgn", "-o", "x.doc"), "unknown format"),
        (("records", "convert", "games.pgn", "-o", "x.csa"), "CSA is not written for chess"),
        (("study", "columns", "checkers"), "no game 'checkers'"),
        (("engine", "check", "no-such-engine"), "no-such-engine"),
    ],
)
def test_bad_input_gives_one_clear_line(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = hyoka(*arguments, cwd=folder)
    assert result.returncode in (1, 2)
    assert message in result.stderr + result.stdout
    assert "Traceback" not in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["games.pgn"]


def test_evaluate_with_a_bad_spec_or_condition(study: Path) -> None:
    for arguments, message in (
        (("--with", "uic:stockfish"), "uci"),
        (("--with", "uci:no-such-engine"), "no-such-engine"),
        (("--where", "materiel > 0"), "did you mean material"),
    ):
        result = hyoka("study", "evaluate", "study", *arguments, cwd=study)
        assert result.returncode == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr


def test_progress_is_shown_to_people(folder: Path) -> None:
    """On a terminal a bar is drawn and wiped; pipes see none of it."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "hyoka", "study", "create", "study", "games.pgn"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=follower) as run:
        os.close(follower)
        shown = b""
        while True:
            try:
                shown += os.read(leader, 4096)
            except OSError:
                break
            if not shown:
                break
        assert run.stdout is not None
        run.stdout.read()
    os.close(leader)
    assert b"reading" in shown


def test_ranks_and_ratings_have_units(tmp_path: Path) -> None:
    ratings = [("29k", "12d"), ("1500", "2000")]
    texts = (f"(;GM[1]SZ[9]BR[{one}]WR[{two}];B[aa];W[cc])" for one, two in ratings)
    (tmp_path / "games.sgf").write_text("\n".join(texts))
    shown = hyoka_here("records", "info", "games.sgf", "-q", cwd=tmp_path).stdout
    assert "29k to 12d (2)" in shown
    assert "1500 to 2000 Elo, mean 1750 (2)" in shown
    found = json.loads(hyoka_here("records", "info", "games.sgf", "--json", cwd=tmp_path).stdout)
    about = found["games"]["go9"]
    assert (about["ranks"]["lowest"], about["ranks"]["highest"]) == ("29k", "12d")
    assert about["ratings"]["mean"] == 1750
