# SPDX-License-Identifier: Apache-2.0
"""The first run of make takes minutes: its progress is short lines."""

import subprocess
import sys
from pathlib import Path

import pytest

from run_quietly import Progress

SCRIPT = Path(__file__).parents[3] / "scripts" / "run_quietly.py"
PIP = [
    "Collecting numpy>=2.0 (from hyoka==0.1.0)",
    "  Downloading numpy-2.4.6.whl (16 MB)",
    "Collecting rich>=14",
    "Installing collected packages: rich, numpy",
]
NINJA = [
    "  *** Building project with Ninja...",
    "  [12/87] Building CXX object core/games/go.cpp.o",
]


def test_packages_and_compiled_files_are_counted() -> None:
    seen = Progress()
    words = [seen.words_for(line) for line in PIP + NINJA]
    assert words == ["1 package, numpy", None, "2 packages, rich", "unpacking", None, "12 of 87"]


@pytest.mark.parametrize("status", [0, 3])
def test_what_a_command_says_is_shown_only_if_it_fails(status: int) -> None:
    command = [sys.executable, "-c", f"print('many words'); raise SystemExit({status})"]
    result = subprocess.run(
        [sys.executable, str(SCRIPT), "compiling", *command],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert result.returncode == status
    first, last = result.stdout.splitlines()
    assert first == "compiling …"
    assert last.startswith("compiling: failed in" if status else "compiling: done in")
    assert result.stderr == ("many words\n" if status else "")
