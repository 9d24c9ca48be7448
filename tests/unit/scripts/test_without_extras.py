# SPDX-License-Identifier: Apache-2.0
"""The tests without optional packages and programs see none, also on a machine that has them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = str(Path(__file__).parents[3] / "scripts" / "without_extras")
IMPORT = [sys.executable, "-c", "import torch"]
FIND = [
    *(sys.executable, "-c"),
    "import shutil, sys; print(*filter(None, map(shutil.which, sys.argv[1:])))",
    *("stockfish", "gnugo", "chromium"),
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with a package of PyTorch's name and an engine."""
    (tmp_path / "packages" / "torch").mkdir(parents=True)
    (tmp_path / "packages" / "torch" / "__init__.py").write_text("")
    program(tmp_path / "engines" / "stockfish", "exit 0")
    return os.environ | {
        "PYTHON": sys.executable,
        "PYTHONPATH": str(tmp_path / "packages"),
        "PATH": f"{tmp_path / 'engines'}{os.pathsep}{os.environ['PATH']}",
    }


def program(path: Path, line: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def without_extras(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT, *words], capture_output=True, text=True, check=False, env=env, encoding="utf-8"
    )


def can_hide() -> bool:
    words = ["unshare", "--mount", "true"]
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_what_is_installed_is_hidden(environment: dict[str, str]) -> None:
    assert subprocess.run(IMPORT, check=False, env=environment).returncode == 0
    imported = without_extras(*IMPORT, env=environment)
    found = without_extras(*FIND, env=environment)
    if can_hide():
        assert "No module named 'torch'" in imported.stderr
        assert (found.stdout, found.stderr) == ("\n", "")
    else:
        for done in (imported, found):
            assert done.returncode == 1
            assert "can't be hidden" in done.stderr


@pytest.mark.parametrize(
    ("line", "reason"),
    [("exit 1", "can't be hidden"), ('shift; exec "$@"', "can't hide ")],
    ids=["no namespace", "a namespace without rights to mount"],
)
def test_nothing_runs_where_extras_cannot_be_hidden(
    environment: dict[str, str], tmp_path: Path, line: str, reason: str
) -> None:
    program(tmp_path / "engines" / "unshare", line)
    program(tmp_path / "engines" / "mount", "exit 1")
    done = without_extras("echo", "ran", env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr
    if line == "exit 1":
        assert str(tmp_path / "engines" / "stockfish") in done.stderr
        assert str(tmp_path / "packages" / "torch") in done.stderr


def test_extras_that_are_still_visible_fail_the_run(
    environment: dict[str, str], tmp_path: Path
) -> None:
    program(tmp_path / "engines" / "unshare", 'shift; exec "$@"')
    program(tmp_path / "engines" / "mount", "exit 0")
    torch = tmp_path / "packages" / "torch"
    done = without_extras("echo", "ran", env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert "still visible" in done.stderr
    assert str(tmp_path / "engines" / "stockfish") in done.stderr
    assert str(torch) in done.stderr
    assert (torch / "__init__.py").read_text() == "", "a package that is not hidden is not changed"


def test_a_machine_without_extras_needs_no_namespace(tmp_path: Path) -> None:
    """Inside of a namespace, nothing is installed."""
    program(tmp_path / "unshare", "exit 1")
    env = os.environ | {"PYTHON": sys.executable}
    path = f"PATH={tmp_path}{os.pathsep}{env['PATH']}"
    done = without_extras("env", path, SCRIPT, "echo", "ran", env=env)
    if can_hide():
        assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
    else:
        assert done.stdout in ("ran\n", "")
