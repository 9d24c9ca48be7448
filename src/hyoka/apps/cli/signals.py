# SPDX-License-Identifier: Apache-2.0
"""Signals: SIGTERM acts like Ctrl-C, and a command ends soon after either.

A signal raises KeyboardInterrupt in the main thread, and what has been computed is kept. Should the
main thread not get there in time (a long or blocking call), another thread ends
the process; files are written so that this hurts none of them.
"""

import os
import signal
import socket
import sys
import threading
from typing import Final

INTERRUPTED: Final = 128 + signal.SIGINT  # what a shell expects after Ctrl-C
_PATIENCE_S: Final = 1.5
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

_received: Final[list[int]] = []
_said: Final = threading.Event()
"""Whether the interruption was reported."""


def listen() -> None:
    """From now on both signals end the process politely, and soon."""
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as for jobs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    # Python writes a signal's number there at once, also while the main thread is busy elsewhere.
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(ours,), name="hyoka-signals", daemon=True).start()


def _terminate(number: int, _frame: object) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def status_after() -> int:
    """The exit status of a command that was interrupted."""
    return 128 + _received[0] if _received else INTERRUPTED


def say_interrupted() -> None:
    """Say it on standard error."""
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
    """Kill what this process has started; a command that loaded no engines has none."""
    engines = sys.modules.get("hyoka.engines")
    if engines is not None:
        engines.kill_all_engines()
