# SPDX-License-Identifier: Apache-2.0
"""Engine processes: starting them, and ending them with all their children.

On Linux a small supervisor process (`supervisor.py`) runs between us and each engine. It kills the
engine and all its descendants on request, when the engine exits, and when our process dies. On
other systems an engine leads a process group, which its owner or the interpreter's exit kills.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from hyoka.engines.client import supervisor

_SUPERVISOR: Final = Path(supervisor.__file__)
_KEPT: Final = sys.platform == "linux" and bool(sys.executable) and _SUPERVISOR.is_file()
_SUPERVISOR_PATIENCE_S: Final = 10.0
"""A supervisor needs milliseconds; a stopped or unreachable one needs SIGKILL."""


class _Children:
    """All engines of this process, and the one thread that starts them.

    The kernel takes the thread that started a process for its parent, so an engine started by a
    worker would die with the worker's thread. This thread lives as long as the interpreter.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset in a forked child: its parent's engines and threads are not its own."""
        self._alive: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._starter: ThreadPoolExecutor | None = None

    def start(
        self, command: Sequence[str], cwd: Path | None, env: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._starter is None:
                self._starter = ThreadPoolExecutor(1, thread_name_prefix="hyoka-engines")
            cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
            starting = self._starter.submit(self._start, command, cwd, env, cores)
        return starting.result()

    def _start(
        self, command: Sequence[str], cwd: Path | None, env: Mapping[str, str], cores: set[int]
    ) -> subprocess.Popen[bytes]:
        if cores:
            # The engine inherits its owner's CPU affinity, not this thread's.
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, cores)
        if _KEPT:
            # Variables for the engine must not reach the supervisor, which might not start with
            # them.
            variables = [f"{name}={value}" for name, value in env.items()]
            command = [
                *(sys.executable, "-I", "-S", str(_SUPERVISOR), str(os.getpid())),
                *(*variables, "--", *command),
            ]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env=None if _KEPT else {**os.environ, **env},
            start_new_session=True,
        )
        self._alive.add(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> int:
        """Kill the engine and its descendants, reap it, and return its exit status."""
        if process in self._alive:
            # Before the engine is reaped, so that its process id cannot belong to another process.
            _end(process)
            try:
                process.wait(_SUPERVISOR_PATIENCE_S)
            except subprocess.TimeoutExpired:
                _signal_group(process, signal.SIGKILL)
        status = process.wait()
        self._alive.discard(process)
        return status

    def kill_all_unreaped(self) -> None:
        """Kill all engines; their owners notice and reap them."""
        for process in list(self._alive):
            _end(process)

    def kill_all(self) -> None:
        self.kill_all_unreaped()
        for process in list(self._alive):
            self.kill(process)


_children: Final = _Children()
atexit.register(_children.kill_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_children.forget)


def start_process(
    command: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start an engine, by its program's full path, with pipes to all three streams.

    `env` holds additional environment variables.
    """
    return _children.start(command, cwd, env or {})


def ask_to_end(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM to an engine that has not been reaped, and to its group."""
    if _KEPT:
        _signal(process, supervisor.POLITE)
    else:
        _signal_group(process, signal.SIGTERM)


def _end(process: subprocess.Popen[bytes]) -> None:
    if _KEPT:
        _signal(process, supervisor.END)
    else:
        _signal_group(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, number)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def kill_process(process: subprocess.Popen[bytes]) -> int:
    """Kill an engine and its children if they live, and return the engine's exit status."""
    return _children.kill(process)


def kill_all_engines() -> None:
    """Kill all engines of this process, from any thread; their callers get an EngineError."""
    _children.kill_all_unreaped()


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether an engine has exited; where the system allows it, without reaping."""
    if process.returncode is None and hasattr(os, "waitid"):
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, process.pid, how) is not None
    return process.poll() is not None


def describe_exit(status: int) -> str:
    """Describe how a process ended.

    >>> describe_exit(3), describe_exit(-11)
    ('exit code 3', 'signal SIGSEGV')
    """
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"
