# SPDX-License-Identifier: Apache-2.0
"""What the README and the docs show is run: a page's Python blocks in order, its shell lines."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# These run the whole build or measure for minutes; CI and `make bench` run them.
NOT_HERE = ("make ", "git ")
# These are run by test_examples_as_numbers.py, which looks at what they say, too.
AS_NUMBERS = ("analysis.md", "report.md")
RUN_ALL = """
import json, sys
from hyoka.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as end:
        if end.code:
            sys.exit(f"hyoka {' '.join(words)} ended with {end.code}")
"""


def blocks(language: str) -> list[tuple[Path, str]]:
    return [
        (page, code)
        for page in PAGES
        for kind, code in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == language
    ]


@pytest.mark.parametrize(
    "page", dict.fromkeys(page for page, _ in blocks("python")), ids=lambda page: page.name
)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    code = "\n".join(code for other, code in blocks("python") if other == page)
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
    )
    assert result.returncode == 0, f"{page.name}: {result.stderr}"


@pytest.mark.parametrize(
    ("page", "code"),
    [(page, code) for page, code in blocks("sh") if page.name not in AS_NUMBERS],
    ids=lambda value: getattr(value, "name", ""),
)
def test_shell_lines_run(page: Path, code: str, tmp_path: Path) -> None:
    commands = []
    for line in code.splitlines():
        command = line.split("#")[0].strip()
        if not command or command.startswith(NOT_HERE):
            continue
        words = shlex.split(command)
        assert words[0] == "hyoka", f"{page.name}: only hyoka and make are shown, not {command}"
        commands.append(words[1:])
    # One process for all of them: starting one takes longer than most commands do.
    result = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "100"},
    )
    assert result.returncode == 0, f"{page.name}: {result.stderr}"


def test_there_is_something_to_run() -> None:
    assert blocks("python")
    assert blocks("sh")


def test_the_make_targets_shown_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"`make (\w+)`", page.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"
