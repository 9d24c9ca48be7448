# SPDX-License-Identifier: Apache-2.0
"""A small process between Hyoka and an engine that kills the engine with all its descendants.

`process.py` runs it as a script, on Linux only: `supervisor.py PARENT NAME=VALUE… -- PROGRAM
ARGUMENT…`. The engine gets our three streams and the environment variables; the supervisor has
neither. Descendants of the engine that start their own sessions or are orphaned become the
supervisor's children, since it is their *subreaper*.

- When the engine exits, its descendants are killed, and the supervisor exits with its status.
- SIGTERM, which the kernel also sends when Hyoka dies, kills the engine and its descendants.
- SIGUSR1 is forwarded to the engine as SIGTERM.

It imports nothing of Hyoka, so that an engine starts quickly.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
POLITE = signal.SIGUSR1
END = signal.SIGTERM
_SIGNALS = {POLITE, END, signal.SIGCHLD}


def main(parent: int, variables: list[str], command: list[str]) -> None:
    """Start the engine, wait for an event, and exit with the engine's status."""
    prctl = ctypes.CDLL(None).prctl
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(_PR_SET_PDEATHSIG, END, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)  # the parent died before prctl took effect
    engine = os.fork()
    if engine == 0:
        for variable in variables:
            name, _, value = variable.partition("=")
            os.environ[name] = value
        _become(command, mask, prctl)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    status = _watch(engine)
    if status is None:
        status = _end_all(engine)
    else:
        _end_all(engine)
    _end_like(status)


def _become(command: list[str], mask: set[int | signal.Signals], prctl: Callable[..., int]) -> None:
    """Become the engine, in its own group, killed by the kernel if the supervisor dies."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.setpgid(0, 0)
    # Python ignores these signals, and exec keeps ignored signals ignored.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(1)


def _watch(engine: int) -> int | None:
    """Wait for the engine's exit and return its status; None if it is to be killed."""
    while True:
        received = signal.sigwait(_SIGNALS)
        if received == END:
            return None
        if received == POLITE:
            _signal_group(engine, signal.SIGTERM)
            continue
        while (ended := _reaped(os.WNOHANG)) is not None:
            if ended[0] == engine:
                return ended[1]


def _end_all(engine: int) -> int:
    """Kill children, including adopted ones, until none is left; return the engine's status."""
    _signal_group(engine, signal.SIGKILL)
    status = int(signal.SIGKILL)
    untouchable = set[int]()
    while children := set(_children()) - untouchable:
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except PermissionError:  # it runs as another user
                untouchable.add(child)
            except ProcessLookupError:
                pass
        if children <= untouchable:
            break
        ended = _reaped(0)
        if ended is None:
            break
        if ended[0] == engine:
            status = ended[1]
    return status


def _children() -> list[int]:
    here = os.getpid()
    try:
        with open(f"/proc/self/task/{here}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # a kernel without that file
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _is_ours(pid)]


def _is_ours(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1]) == os.getpid()
    except (OSError, IndexError):
        return False


def _reaped(how: int) -> tuple[int, int] | None:
    """Return an exited child and its status; None if there is none."""
    try:
        pid, status = os.waitpid(-1, how)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _signal_group(engine: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(engine, number)


def _end_like(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)


if __name__ == "__main__":
    _rest = sys.argv[2:]
    _at = _rest.index("--")  # no variable has this name
    main(int(sys.argv[1]), _rest[:_at], _rest[_at + 1 :])
