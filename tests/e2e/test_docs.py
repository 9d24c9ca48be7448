# SPDX-License-Identifier: Apache-2.0
"""What the README and the docs show is run: a page's Python blocks in order, its shell lines."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from .commands import hyoka_here

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if path.parent.name != "api" and path.name != "commands.md"
    ),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# These run the whole build or measure for minutes; CI (scripts/check_wheel) and `make bench` do.
NOT_HERE = ("make ", "git ", "pip ", "source ")
# These are run by test_examples_as_numbers.py, which looks at what they say, too.
AS_NUMBERS = ("README.md", "analysis.md", "report.md")
# It adds a game to the core: test_new_game_in_cpp.py builds that, and runs what it shows.
BUILT_ELSEWHERE = "new-game-cpp.md"
# These train networks, which needs PyTorch, of the extra `learn`.
TRAINING = (
    *("learn perceptrons", "learn_perceptrons"),
    *("learn network", "learn selfplay", "SelfPlayLoop"),
)


def blocks(language: str) -> list[tuple[Path, str]]:
    return [
        (page, code)
        for page in PAGES
        for kind, code in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == language and page.name != BUILT_ELSEWHERE
    ]


def shell_blocks() -> list[tuple[Path, str]]:
    """The shell blocks, each to run in its own folder; those of a tutorial run in one."""
    pages: dict[Path, list[str]] = {}
    for page, code in blocks("sh"):
        if page.name not in AS_NUMBERS:
            pages.setdefault(page, []).append(code)
    return [
        (page, code)
        for page, codes in pages.items()
        for code in (["".join(codes)] if page.parent.name == "tutorials" else codes)
    ]


def skip_training_without_torch(code: str) -> None:
    if any(words in code for words in TRAINING):
        pytest.importorskip("torch", reason="training needs PyTorch: pip install hyoka[learn]")


# In this process: starting one takes longer than most of what is shown.
@pytest.mark.parametrize(
    "page",
    dict.fromkeys(page for page, _ in blocks("python") if page.name != "README.md"),
    ids=lambda page: page.name,
)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / f"{page.stem.replace('-', '_')}_as_shown.py"
    code = "\n".join(code for other, code in blocks("python") if other == page)
    skip_training_without_torch(code)
    script.write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize(
    ("page", "code"),
    shell_blocks(),
    ids=lambda value: getattr(value, "name", ""),
)
def test_shell_lines_run(page: Path, code: str, tmp_path: Path) -> None:
    skip_training_without_torch(code)
    for line in code.splitlines():
        command = line.split("#")[0].strip()
        if not command or command.startswith(NOT_HERE):
            continue
        words = shlex.split(command)
        assert words[0] == "hyoka", f"{page.name}: only hyoka and make are shown, not {command}"
        result = hyoka_here(*words[1:], cwd=tmp_path)
        assert result.returncode == 0, f"{page.name}: {command}: {result.stderr}"


def test_there_is_something_to_run() -> None:
    assert blocks("python")
    assert blocks("sh")


def test_the_make_targets_shown_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"`make (\w+)`", page.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"
