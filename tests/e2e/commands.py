# SPDX-License-Identifier: Apache-2.0
"""A command in this process: what it says and how it ends, without the start of a new one."""

import contextlib
import io
import subprocess
from pathlib import Path

from hyoka.apps.cli import run


def hyoka_here(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as the shell would; `test_cli.py` and others start real processes."""
    said, complained = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complained),
    ):
        status = run(list(arguments))
    return subprocess.CompletedProcess(arguments, status, said.getvalue(), complained.getvalue())
