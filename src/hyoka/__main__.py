# SPDX-License-Identifier: Apache-2.0
"""The command `hyoka`, also as `python -m hyoka`: it is little, so that Ctrl-C finds it awake."""

import os
import signal


def main() -> None:
    """Load the command line and run it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from hyoka.apps.cli import main as run  # noqa: PLC0415  # the long part of the start

    run()


def _end(number: int, _frame: object) -> None:
    """End at once: an exception could be lost in somebody's import, or come out as a traceback."""
    os.write(2, b"hyoka: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
