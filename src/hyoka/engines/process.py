# SPDX-License-Identifier: Apache-2.0
"""Engine processes: how one starts, and that none outlives us.

Every engine leads a process group of its own, which is killed as a whole: by its owner, at the exit
of the interpreter, and on Linux by the kernel when our process is killed.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

# Asks the kernel to kill the engine with us (1 is PR_SET_PDEATHSIG), then becomes the engine. The
# signals that Python ignores are given back their defaults, since ignoring survives an exec.
_GUARD: Final = """
import os, signal, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
except (ImportError, OSError, AttributeError):
    pass
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
try:
    os.execv(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(f"cannot run {sys.argv[2]}: {error.strerror}")
"""


class _Children:
    """All engines of this process, and the one thread that starts them.

    The kernel takes the thread that started a process for its parent: an engine started by a worker
    would die with that worker's thread. This thread lasts as long as the interpreter.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, as a forked child must: its parent's engines and threads are not its own."""
        self._alive: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._starter: ThreadPoolExecutor | None = None

    def start(self, command: Sequence[str], cwd: Path | None) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._starter is None:
                self._starter = ThreadPoolExecutor(1, thread_name_prefix="hyoka-engines")
            starting = self._starter.submit(self._start, command, cwd)
        process = starting.result()
        if hasattr(os, "sched_setaffinity"):
            # An engine runs where its owner may run, and not where that one thread may.
            with contextlib.suppress(OSError):
                os.sched_setaffinity(process.pid, os.sched_getaffinity(0))
        return process

    def _start(self, command: Sequence[str], cwd: Path | None) -> subprocess.Popen[bytes]:
        if sys.platform == "linux" and sys.executable:
            guard = [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid())]
            command = [*guard, *command]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            start_new_session=True,
        )
        self._alive.add(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> int:
        """Kill what is left of the engine's group, reap the engine, and give its exit status."""
        if process in self._alive:
            # Before the engine is reaped, so that its group's number cannot belong to another.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        self._alive.discard(process)
        return status

    def kill_all_unreaped(self) -> None:
        """Kill all; their owners will notice and reap them."""
        for process in list(self._alive):
            signal_group(process, signal.SIGKILL)

    def kill_all(self) -> None:
        for process in list(self._alive):
            self.kill(process)


_children: Final = _Children()
atexit.register(_children.kill_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_children.forget)


def start_process(command: Sequence[str], cwd: Path | None = None) -> subprocess.Popen[bytes]:
    """Start an engine, its program given by a full path, with pipes to all three streams."""
    return _children.start(command, cwd)


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to an engine that has not been reaped yet, and to its children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def kill_process(process: subprocess.Popen[bytes]) -> int:
    """Kill an engine and its children, if they live, and give the engine's exit status."""
    return _children.kill(process)


def kill_all_engines() -> None:
    """Kill all engines of this process, from any thread; whoever asks one is told that it died."""
    _children.kill_all_unreaped()


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether an engine has ended; where the system can tell, it is not reaped by asking."""
    if process.returncode is None and hasattr(os, "waitid"):
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, process.pid, how) is not None
    return process.poll() is not None


def describe_exit(status: int) -> str:
    """How a process ended, in words.

    >>> describe_exit(3), describe_exit(-11)
    ('exit code 3', 'signal SIGSEGV')
    """
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"
