# SPDX-License-Identifier: Apache-2.0
"""Supervisor of a run: starts the command in its own process and records its exit.

A program of its own, with nothing of Hyoka in it: run_supervisor.py LOCK FOLDER LOG WORDS... prints
its process number, goes to the background and waits for the command. The lock, a file that is
inherited, is held as long as the command or the supervisor lives.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Start the command and see to its end."""
    lock, place, log, *words = sys.argv[1:]
    if (supervisor := os.fork()) > 0:
        print(supervisor, flush=True)
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # meant for the command
    with Path(log).open("ab") as output:
        command = subprocess.Popen(
            words, stdin=nothing, stdout=output, stderr=output, pass_fds=(int(lock),)
        )
        status = command.wait()
    ended = Path(place) / "ended.json"
    beside = ended.with_name(".ended.json")
    beside.write_text(json.dumps({"status": status, "at": time.time()}), encoding="utf-8")
    beside.replace(ended)


if __name__ == "__main__":
    main()
