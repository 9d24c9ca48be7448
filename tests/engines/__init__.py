# SPDX-License-Identifier: Apache-2.0
"""Engines that behave as their scripts say, well or badly."""

import os
import shlex
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
QUICK_S = 0.2
"""A watchdog for engines that never answer; nothing else may depend on it."""


def fake(protocol: str, *words: str, settings: str = "") -> str:
    """The text of a fake engine: its settings and its script (see the scripts here)."""
    script = HERE / f"fake_{'uci' if protocol == 'usi' else protocol}.py"
    arguments = [*words, "protocol=usi"] if protocol == "usi" else words
    command = shlex.join([sys.executable, "-S", str(script), *arguments])
    return f"{protocol}:{settings}:{command}"


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie that waits for somebody else's parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def exists(pid: int) -> bool:
    """Whether there is such a process, a zombie included."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def await_end(pid: int) -> None:
    """Wait until a process has ended; a minute is forever."""
    deadline = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still alive"
        time.sleep(0.01)
