# SPDX-License-Identifier: Apache-2.0
"""`hyoka solve`, as a command."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import fake

from .commands import hyoka_here as hyoka

PATIENCE_S = 120.0
"""Forever, on any machine."""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "mine.epd"
    mate = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";'
    wrong = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Kh1; id "a bad idea";'
    path.write_text(f'{mate}\n{wrong}\n6k1/8/8/8/8/8/8/R5K1 w - - id "nothing";\n')
    return path


def test_solve_shows_specs_side_by_side_and_what_failed(suite: Path) -> None:
    result = hyoka(
        "solve", str(suite), "--with", "ab:depth=3", "--with", "uct:playouts=500", "--verbose"
    )
    assert result.returncode == 0, result.stderr
    assert "Alpha-beta, depth 3" in result.stdout
    assert "UCT, 500 playouts" in result.stdout
    assert "1 of 2" in result.stdout
    assert "a bad idea" in result.stdout
    assert "1 not applicable" in result.stdout


def test_solve_gives_json_with_every_problem(suite: Path) -> None:
    result = hyoka("solve", str(suite), "--with", "ab", "--nodes", "500", "--json", "--limit", "1")
    assert result.returncode == 0, result.stderr
    [found] = json.loads(result.stdout)
    assert (found["solved"], found["asked"]) == (1, 1)
    assert found["problems"][0]["id"] == "back rank"
    assert found["problems"][0]["mate"] == 1
    assert 0 < found["low"] < 1 == found["high"]


def test_solve_takes_engines_and_jobs(suite: Path) -> None:
    words = shlex.join([sys.executable, "-m", "hyoka", "engine", "uci", "--search", "ab"])
    result = hyoka("solve", str(suite), "--with", f"uci:nodes=300:{words}", "--json", "-j", "2")
    assert result.returncode == 0, result.stderr
    [found] = json.loads(result.stdout)
    assert (found["solved"], found["asked"]) == (1, 2)


def test_a_solve_that_is_interrupted_prints_what_it_has(tmp_path: Path) -> None:
    path, log = tmp_path / "many.epd", tmp_path / "log"
    line = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "{}";'
    path.write_text("\n".join(line.format(number) for number in range(5000)))
    engine = fake("uci", "best=a1a8", "slow=0.05", f"log={log}")
    with subprocess.Popen(
        [sys.executable, "-m", "hyoka", "solve", str(path), "--with", engine],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not log.exists() or log.read_text().count("go ") < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
    solved = re.search(r"(\d+) of (\d+)", out)
    assert solved
    assert 1 <= int(solved[2]) < 5000
    assert "interrupted" in out


@pytest.mark.parametrize(
    ("suite", "search"),
    [
        ("chess/epd_suites.zip:wac.epd", "ab:nodes=2000"),
        ("chess/epd_suites.zip:sts.epd", "ab:nodes=500"),
        ("shogi/mate_and_nextmove.zip:mate3.sfen", "mate"),
        ("shogi/mate_and_nextmove.zip:drill.jsonl", "ab:nodes=500"),
        ("shogi/mate_and_nextmove.zip:checkmate_lessons.jsonl", "mate"),
        ("othello/endgame_suites.zip:eg_13_14.txt", "exact"),
        ("go_tactics/gnugo_regression.zip:9x9.tst", "uct:playouts=200"),
    ],
)
def test_real_sets_are_solved_without_errors(
    shared_data: Callable[[str], Path], suite: str, search: str
) -> None:
    archive, _, member = suite.partition(":")
    path = f"{shared_data(archive)}:{member}"
    result = hyoka("solve", path, "--with", search, "--limit", "8", "--json")
    assert result.returncode == 0, result.stderr
    [found] = json.loads(result.stdout)
    assert found["asked"] == 8
    assert found["errors"] == 0
    if search in ("mate", "exact"):
        assert found["solved"] == 8
