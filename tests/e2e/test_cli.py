# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: a process of its own, real arguments, real output."""

import inspect
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.apps.cli import command_table as commands_module
from hyoka.apps.cli.command_table import COMMANDS, Command
from hyoka.workflows.bench import benchmarked_games

from .commands import hyoka_here


def hyoka(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hyoka", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        encoding="utf-8",
    )


def test_version_is_that_of_the_package() -> None:
    assert hyoka("--version").stdout == f"hyoka {hk.__version__}\n"


def test_without_arguments_help_is_shown() -> None:
    result = hyoka()
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == hyoka("--help").stdout


def test_help_names_every_command() -> None:
    text = hyoka("--help").stdout
    for command in ("perft", "bench", "show", "demo"):
        assert command in text
        assert hyoka_here(command, "--help").returncode == 0


HEAVY = ("altair", "asyncio", "duckdb", "numpy", "pyarrow", "pydantic", "scipy", "vl_convert")
LOADED = """
import sys
from hyoka.apps.cli import main
try:
    main(["--help"])
finally:
    print("loaded:", *sys.modules, file=sys.stderr)
"""


def test_help_does_not_wait_for_what_commands_need() -> None:
    result = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    _, *loaded = result.stderr.split()
    assert "hyoka.apps.cli" in loaded
    assert not {module.split(".")[0] for module in loaded} & set(HEAVY)
    assert "hyoka._core" not in loaded


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_listed_with_the_first_line_of_its_help(command: Command) -> None:
    assert inspect.cleandoc(command.load().__doc__ or "").splitlines()[0] == command.help


def test_every_command_is_listed() -> None:
    defined = {
        f"{path.stem}.{name}"
        for path in Path(commands_module.__file__).parent.glob("*.py")
        for name in re.findall(r"^def (\w+_command)\(", path.read_text(encoding="utf-8"), re.M)
    }
    assert {command.place for command in COMMANDS} == defined


def test_perft_counts_and_divides() -> None:
    result = json.loads(hyoka("perft", "chess", "4", "--divide", "--json").stdout)
    assert result["lines"] == 197_281
    assert len(result["divide"]) == 20
    assert sum(result["divide"].values()) == 197_281
    assert "197,281" in hyoka("perft", "chess", "4").stdout


def test_perft_of_depth_zero_is_one() -> None:
    assert json.loads(hyoka("perft", "shogi", "0", "--json").stdout)["lines"] == 1


def test_perft_starts_where_it_is_told() -> None:
    kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    result = json.loads(hyoka("perft", "chess", "3", "--position", kiwipete, "--json").stdout)
    assert result["lines"] == 97_862


def test_perft_ignores_draw_rules() -> None:
    bare_kings = "8/8/8/8/8/8/6k1/4K3 w - - 0 1"
    result = json.loads(hyoka("perft", "chess", "1", "-p", bare_kings, "--json").stdout)
    assert result["lines"] == 3  # d1, d2, e2; f1 and f2 are guarded


@pytest.mark.parametrize("game", benchmarked_games())
def test_show_draws_every_game(game: str, tmp_path: Path) -> None:
    svg_file = tmp_path / "board.svg"
    result = hyoka_here("show", game, "--svg", str(svg_file))
    assert result.returncode == 0, result.stderr
    assert "first player to move" in result.stdout
    assert ET.fromstring(svg_file.read_text(encoding="utf-8")).tag.endswith("svg")
    facts = json.loads(hyoka_here("show", game, "--json").stdout)
    assert facts["to_play"] == "first"
    assert len(facts["legal_moves"]) == hk.position(game).count_moves()
    assert facts["position"] == hk.position(game).text


def test_show_reads_moves_as_the_game_writes_them() -> None:
    moves = "7g7f 3c3d 8h2b+ 同　銀(31)"
    facts = json.loads(hyoka_here("show", "shogi", "--moves", moves, "--json").stdout)
    assert facts["position"].startswith("lnsgkg1nl/1r5s1/")


def test_show_plays_moves_and_tells_the_outcome() -> None:
    facts = json.loads(hyoka("show", "chess", "--moves", "f3 e5 g4 Qh4", "--json").stdout)
    assert facts["outcome"] == {"value": 0.0, "reason": "checkmate"}
    assert "checkmate" in hyoka_here("show", "chess", "--moves", "f3 e5 g4 Qh4").stdout


def test_bench_prints_the_same_fingerprints_every_time() -> None:
    first = json.loads(hyoka("bench", "othello", "--rounds", "1", "--json").stdout)
    second = json.loads(hyoka("bench", "othello", "--rounds", "1", "--json").stdout)
    assert [m["fingerprint"] for m in first] == [m["fingerprint"] for m in second]
    assert first[0]["fingerprint"] == 3_005_288


def test_perft_reports_the_position_it_was_given() -> None:
    result = json.loads(hyoka("perft", "chess", "1", "--json").stdout)
    assert result["position"] == hk.Chess().text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("perft", "chess", "x"), "integer"),
        (("perft", "chess"), "DEPTH"),
        (("perft", "ches", "3"), "did you mean chess"),
        (("perft", "chess", "3", "--position", "nonsense"), "FEN"),
        (("perft", "shogi", "3", "--position", "9/9 b - 1"), "SFEN"),
        (("perft", "chess", "-1"), "-1"),
        (("show", "go9", "--moves", "Z99"), "Z99"),
        (("show", "chess", "--moves", "e5"), "illegal move e5"),
        (("show", "othello", "--position", "x"), "Othello"),
        (("show", "chess", "--svg", "no/such/folder/board.svg"), "no/such/folder"),
        (("bench", "go3"), "go3"),
        (("bench", "chess", "--rounds", "0"), "rounds"),
        (("nonsense",), "nonsense"),
        (("--nonsense",), "nonsense"),
        (("demo", "--jobs", "0"), "jobs"),
        (("show", "chess", "--svg", "."), "is a folder"),
        (("show", "chess", "--moves", os.fsdecode(b"\xff")), "not UTF-8"),
    ],
)
def test_bad_input_gets_one_clear_line_and_exit_code_two(
    arguments: tuple[str, ...], words: str
) -> None:
    result = hyoka_here(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("hyoka")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr
