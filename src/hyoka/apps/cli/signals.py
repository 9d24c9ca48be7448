# SPDX-License-Identifier: Apache-2.0
"""Signals: SIGTERM acts like Ctrl-C, and a command ends soon after either.

A signal raises KeyboardInterrupt in the main thread, and computed results are kept. If the main
thread is too slow (a long or blocking call), another thread ends the process; files are written so
that this damages none.
"""

import os
import signal
import socket
import sys
import threading
from typing import Final

INTERRUPTED: Final = 128 + signal.SIGINT  # the shell's status for Ctrl-C
_PATIENCE_S: Final = 1.5
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

_received: Final[list[int]] = []
_said: Final = threading.Event()
"""Whether the interruption was reported."""


def listen() -> None:
    """Install handlers: from now on both signals end the process with a message, and soon."""
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # background jobs ignore the signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    # Python writes the signal's number there at once, even while the main thread is busy.
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(ours,), name="hyoka-signals", daemon=True).start()


def _terminate(number: int, _frame: object) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def status_after() -> int:
    """Return the exit status of an interrupted command."""
    return 128 + _received[0] if _received else INTERRUPTED


def say_interrupted() -> None:
    """Report the interruption on standard error."""
    _said.set()
    print("hyoka: interrupted", file=sys.stderr, flush=True)


def _watch(ours: socket.socket) -> None:
    while not _received:
        _received.extend(number for number in ours.recv(16) if number in _SIGNALS)
    ours.settimeout(_PATIENCE_S)
    try:
        while not any(number in _SIGNALS for number in ours.recv(16)):
            pass  # a second signal ends the wait
    except TimeoutError:
        pass
    _kill_engines()
    if not _said.is_set():
        say_interrupted()
    os._exit(status_after())


def _kill_engines() -> None:
    """Kill all child processes; a command that loaded no engines has none."""
    engines = sys.modules.get("hyoka.engines")
    if engines is not None:
        engines.kill_all_engines()
