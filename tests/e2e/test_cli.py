# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: a process of its own, real arguments, real output."""

import inspect
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

import hyoka as hk
from hyoka.apps.cli import command_table as commands_module
from hyoka.apps.cli.command_options import HELP, option
from hyoka.apps.cli.command_table import COMMANDS, GROUPS, Command, command_line
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


def test_without_arguments_the_main_tasks_are_shown_with_examples() -> None:
    result = hyoka()
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    examples = re.findall("hyoka ([a-z]+(?: [a-z]+)?)", result.stdout)
    assert {"demo", "improve", "match run", "study create", "study evaluate"} <= set(examples)


def test_help_fits_a_screen_and_names_every_command() -> None:
    text = hyoka("--help").stdout
    assert len(text.splitlines()) <= 30
    assert max(map(len, text.splitlines())) <= 80
    for name in {command.words[0] for command in COMMANDS}:
        assert re.search(rf"^  {name} ", text, re.MULTILINE)
    for group in GROUPS:
        shown = hyoka_here(group, "--help").stdout
        for command in COMMANDS:
            if command.words[0] == group:
                assert command.words[1] in shown
                assert command.help[:20] in shown


def test_a_command_without_its_group_is_suggested() -> None:
    assert "did you mean hyoka position perft?" in hyoka_here("perft", "chess", "3").stderr


SHORT = {
    "--cluster": None, "--evaluator": "-e", "--force": "-f", "--game": "-g", "--games": "-n",
    "--help": "-h", "--jobs": "-j", "--model": "-m", "--output": "-o", "--position": "-p",
    "--quiet": "-q", "--where": "-w",
}  # fmt: skip


def options_of_all_commands() -> Iterator[tuple[str, list[str], str]]:
    """Each command's options: the long name, the short ones, and the help."""
    for command in COMMANDS:
        program = typer.main.get_command(command_line(command.words))
        for word in command.words:
            program = program.commands[word]  # type: ignore[attr-defined]
        for parameter in program.params:
            names = [name for name in parameter.opts if name.startswith("-")]
            if names:
                short = [name for name in names if not name.startswith("--")]
                yield max(names, key=len), short, getattr(parameter, "help", "") or ""


def test_a_short_option_means_the_same_everywhere() -> None:
    for name, short, _ in options_of_all_commands():
        assert short == list(filter(None, [SHORT.get(name)])), name


def test_an_option_of_several_commands_has_one_meaning() -> None:
    """Its help texts are equal, or begin with the same words."""
    helps: dict[str, set[str]] = {}
    for name, _, text in options_of_all_commands():
        helps.setdefault(name, set()).add(text)
    for name, texts in helps.items():
        assert all(text.endswith((".", ",")) for text in texts), name
        if len(texts) > 1:
            assert all(text.startswith(HELP[name].removesuffix(".")) for text in texts), name


def test_an_option_cannot_be_declared_with_another_meaning() -> None:
    with pytest.raises(ValueError, match="must begin with 'Number of games'"):
        option("--games", "Games to skip.")


def test_help_shows_no_type_of_flags_and_no_technical_limits() -> None:
    for command in COMMANDS:
        program = typer.main.get_command(command_line([*command.words, "--help"]))
        for word in command.words:
            program = program.commands[word]  # type: ignore[attr-defined]
        for parameter in program.get_params(typer.Context(program)):
            if parameter.param_type_name == "option":
                assert not getattr(parameter, "is_flag", False) or parameter.metavar == ""
                assert (getattr(parameter, "max", None) or 0) < 2**31
    assert "<bool>" not in hyoka_here("study", "info", "--help").stdout


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--limit", "no such option: --limit (see"),
        ("--jsno", "no such option: --jsno, did you mean --json? (see"),
    ],
)
def test_an_unknown_option_gets_only_useful_suggestions(word: str, message: str) -> None:
    assert message in hyoka_here("study", "info", "study", word).stderr


def test_an_unknown_topic_is_named() -> None:
    said = hyoka_here("help", "match").stderr
    assert "TOPIC is one of specs," in said
    assert "not 'match'; did you mean matches?" in said


def test_topics_are_explained() -> None:
    topics = hyoka_here("help").stdout.partition("one of: ")[2].split("\n")[0].split(", ")
    assert {"specs", "searches", "conditions", "matches"} <= set(topics)
    for topic in topics:
        assert len(hyoka_here("help", topic).stdout.splitlines()) > 1
    assert "did you mean matches?" in hyoka_here("help", "match").stderr


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("hyoka ma", ["match"]),
        ("hyoka study ver", ["verify"]),
        ("hyoka match run --ga", ["--game", "--games"]),
        ("hyoka match run --game bl", ["blokus_duo"]),
        ("hyoka position show ot", ["othello"]),
        ("hyoka study evaluate study --with com", ["comments"]),
    ],
)
def test_the_shell_completes_commands_and_options(words: str, completions: list[str]) -> None:
    count = len(words.split()) - 1
    environment = {
        "_HYOKA_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "hyoka"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.stdout.split() == completions


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
        (path.stem, name)
        for path in Path(commands_module.__file__).parent.glob("*.py")
        for name in re.findall(r"^def (\w+_command)\(", path.read_text(encoding="utf-8"), re.M)
    }
    assert {(command.module, command.function) for command in COMMANDS} == defined


def test_perft_counts_and_divides() -> None:
    result = json.loads(hyoka("position", "perft", "chess", "4", "--divide", "--json").stdout)
    assert result["lines"] == 197_281
    assert len(result["divide"]) == 20
    assert sum(result["divide"].values()) == 197_281
    assert "197,281" in hyoka("position", "perft", "chess", "4").stdout


def test_perft_of_depth_zero_is_one() -> None:
    assert json.loads(hyoka("position", "perft", "shogi", "0", "--json").stdout)["lines"] == 1


def test_perft_starts_at_a_given_position() -> None:
    kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    result = json.loads(
        hyoka("position", "perft", "chess", "3", "--position", kiwipete, "--json").stdout
    )
    assert result["lines"] == 97_862


def test_perft_ignores_draw_rules() -> None:
    bare_kings = "8/8/8/8/8/8/6k1/4K3 w - - 0 1"
    result = json.loads(hyoka("position", "perft", "chess", "1", "-p", bare_kings, "--json").stdout)
    assert result["lines"] == 3  # d1, d2, e2; f1 and f2 are guarded


@pytest.mark.parametrize("game", benchmarked_games())
def test_show_draws_every_game(game: str, tmp_path: Path) -> None:
    svg_file = tmp_path / "board.svg"
    result = hyoka_here("position", "show", game, "--svg", str(svg_file))
    assert result.returncode == 0, result.stderr
    assert "first player to move" in result.stdout
    assert ET.fromstring(svg_file.read_text(encoding="utf-8")).tag.endswith("svg")
    facts = json.loads(hyoka_here("position", "show", game, "--json").stdout)
    assert facts["to_play"] == "first"
    assert len(facts["legal_moves"]) == hk.position(game).count_moves()
    assert facts["position"] == hk.position(game).text


def test_show_reads_moves_as_the_game_writes_them() -> None:
    moves = "7g7f 3c3d 8h2b+ 同　銀(31)"
    facts = json.loads(hyoka_here("position", "show", "shogi", "--moves", moves, "--json").stdout)
    assert facts["position"].startswith("lnsgkg1nl/1r5s1/")


def test_show_plays_moves_and_tells_the_outcome() -> None:
    facts = json.loads(
        hyoka("position", "show", "chess", "--moves", "f3 e5 g4 Qh4", "--json").stdout
    )
    assert facts["outcome"] == {"value": 0.0, "reason": "checkmate"}
    assert "checkmate" in hyoka_here("position", "show", "chess", "--moves", "f3 e5 g4 Qh4").stdout


def test_bench_prints_the_same_fingerprints_every_time() -> None:
    first = json.loads(hyoka("bench", "othello", "--rounds", "1", "--json").stdout)
    second = json.loads(hyoka("bench", "othello", "--rounds", "1", "--json").stdout)
    assert [m["fingerprint"] for m in first] == [m["fingerprint"] for m in second]
    assert first[0]["fingerprint"] == 3_005_288


def test_perft_reports_the_position_it_was_given() -> None:
    result = json.loads(hyoka("position", "perft", "chess", "1", "--json").stdout)
    assert result["position"] == hk.Chess().text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("position", "perft", "chess", "x"), "integer"),
        (("position", "perft", "chess"), "DEPTH"),
        (("position", "perft", "ches", "3"), "did you mean chess"),
        (("position", "perft", "chess", "3", "--position", "nonsense"), "FEN"),
        (("position", "perft", "shogi", "3", "--position", "9/9 b - 1"), "SFEN"),
        (("position", "perft", "chess", "-1"), "-1"),
        (("position", "show", "go9", "--moves", "Z99"), "Z99"),
        (("position", "show", "chess", "--moves", "e5"), "illegal move e5"),
        (("position", "show", "othello", "--position", "x"), "Othello"),
        (("position", "show", "chess", "--svg", "no/such/folder/board.svg"), "no/such/folder"),
        (("bench", "go3"), "go3"),
        (("bench", "chess", "--rounds", "0"), "rounds"),
        (("nonsense",), "nonsense"),
        (("--nonsense",), "nonsense"),
        (("demo", "--jobs", "0"), "jobs"),
        (("position", "show", "chess", "--svg", "."), "is a folder"),
        (("position", "show", "chess", "--moves", os.fsdecode(b"\xff")), "not UTF-8"),
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
