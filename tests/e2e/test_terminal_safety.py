# SPDX-License-Identifier: Apache-2.0
"""No words of others command the terminal: names, files, engines, queries."""

import io
import json
import re
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from hyoka.apps.cli.output import SafeConsole
from hyoka.foundation.errors import escape_control_chars

from .commands import hyoka_here as hyoka


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A match without a folder makes one where it is."""
    monkeypatch.chdir(tmp_path)


EVIL = "\x1b]0;owned\x07\x9b31m\u202egnp"
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
MATE = f'6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "{EVIL}";'


def checked(*arguments: str, status: int = 0) -> str:
    """What a command says, after a look for what a terminal would obey; `owned` must be shown."""
    result = hyoka(*arguments)
    said = result.stdout + result.stderr
    assert result.returncode == status, said
    assert not COMMANDS.search(said), ascii(said)
    assert "owned" in said
    return said


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """An archive with an evil member, whose game was played by an evil player and then refused."""
    path = tmp_path / "games.zip"
    good = f'[White "{EVIL}"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n'
    bad = f'[White "w"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 {EVIL}x9 1-0\n'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{EVIL}.pgn", f"{good}\n{bad}")
    return path


def test_names_of_players_and_of_members_of_archives(games: Path, tmp_path: Path) -> None:
    study = str(tmp_path / "study")
    checked("study", "create", study, str(games), "--quiet")
    checked("study", "sql", study, "select white, source from games")
    said = checked("study", "sql", study, "select white as first_name from games", "--json")
    assert json.loads(said)[0]["first_name"].endswith("\x9b31m\u202egnp")


def test_queries_conditions_and_file_names(games: Path, tmp_path: Path) -> None:
    study = str(tmp_path / "study")
    hyoka("study", "create", study, str(games), "--quiet")
    checked("study", "sql", study, f"select '{EVIL}' as text")
    checked("study", "sql", study, f'select nothing as "{EVIL}" from nowhere_{"owned"}', status=2)
    checked("records", "info", f"{EVIL}.pgn", status=2)
    checked("position", "show", f"chess{EVIL}", status=2)


def test_problems_and_their_files(tmp_path: Path) -> None:
    path = tmp_path / "suites.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            f"{EVIL}.epd", f"{MATE}\n{MATE.replace('Ra8#', EVIL.split(maxsplit=1)[0])}\n"
        )
    checked("solve", str(path), "--with", "random", "--verbose", "--quiet")
    checked("solve", str(path), "--with", "random", "--json")


def test_engines_names_and_last_words(tmp_path: Path) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(
        f"""
for line in iter(input, "quit"):
    if line == "uci":
        print("id name " + {EVIL!r} + "\\nuciok", flush=True)
    elif line == "isready":
        print("readyok", flush=True)
    elif line.startswith("go"):
        print("info depth 1 score cp 1 pv " + {EVIL!r} + "\\nbestmove " + {EVIL!r}, flush=True)
"""
    )
    checked("engine", "check", f"uci:{sys.executable} {engine}", status=1)
    engine.write_text(f"import sys; sys.stderr.write({EVIL!r}); sys.exit(1)")
    checked("engine", "check", f"uci:{sys.executable} {engine}", status=1)
    match = ["match", "run", f"uci:{sys.executable} {engine}", "random", "--game", "chess", "-q"]
    checked(*match, status=2)


def test_names_of_players_in_a_match() -> None:
    name = EVIL.replace(":", "").replace("=", "")
    checked(
        "match", "run", f"{name}=random", "other=random", "--game", "othello", "--games", "2", "-q"
    )


@given(st.text())
def test_nothing_harmful_is_left_and_nothing_else_is_touched(text: str) -> None:
    shown = escape_control_chars(text)
    assert not COMMANDS.search(shown)
    assert escape_control_chars(shown) == shown
    assert escape_control_chars("a\n\tあ 評価 ♟ ⚫ é") == "a\n\tあ 評価 ♟ ⚫ é"


def test_a_console_keeps_only_its_own_colors() -> None:
    file = io.StringIO()
    console = SafeConsole(file=file, force_terminal=True, width=200, color_system="standard")
    table = Table("name")
    table.add_row(EVIL)
    console.print(table)
    console.print(EVIL, style="red", markup=False)
    assert "\x1b[31m" in file.getvalue()
    assert "\x1b]0" not in file.getvalue()
    assert "\x9b" not in file.getvalue()
