# SPDX-License-Identifier: Apache-2.0
"""Run a long command and say in a line how far it is; all that it said only if it fails.

    python scripts/run_quietly.py WHAT COMMAND...

It knows how pip names the packages it collects, and how Ninja counts what it compiles.
"""

import re
import subprocess
import sys
import time
from typing import Final

EVERY_S: Final = 10.0  # so often a line for who reads a log; a terminal has one line that changes
COUNTED: Final = re.compile(r"\s*\[(\d+)/(\d+)\]")
COLLECTED: Final = re.compile(r"\s*Collecting ([\w.-]+)")
INSTALLED: Final = re.compile(r"\s*Installing collected packages")


class Progress:
    """What has been seen of a command's words."""

    def __init__(self) -> None:
        self.packages = 0

    def words_for(self, line: str) -> str | None:
        """What a line says of the progress, or None.

        >>> seen = Progress()
        >>> seen.words_for("Collecting numpy>=2.0"), seen.words_for("  Downloading numpy.whl")
        ('1 package, numpy', None)
        >>> seen.words_for("Collecting rich"), seen.words_for("  [12/87] Building CXX object a.o")
        ('2 packages, rich', '12 of 87')
        """
        if counted := COUNTED.match(line):
            return f"{counted[1]} of {counted[2]}"
        if collected := COLLECTED.match(line):
            self.packages += 1
            return f"{self.packages} package{'s'[: self.packages > 1]}, {collected[1]}"
        if INSTALLED.match(line):
            return "unpacking"
        return None


def run(what: str, command: list[str]) -> int:
    """Run it, and give its exit status."""
    live = sys.stdout.isatty()
    began = last = time.monotonic()
    print(f"{what} …", end="" if live else "\n", flush=True)
    progress, lines = Progress(), list[str]()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            lines.append(line)
            words = progress.words_for(line)
            if words and live:
                print(f"\r\x1b[K{what}: {words}", end="", flush=True)
            elif words and time.monotonic() - last >= EVERY_S:
                last = time.monotonic()
                print(f"{what}: {words}", flush=True)
    ended = "done" if running.returncode == 0 else "failed"
    seconds = time.monotonic() - began
    print(
        f"{chr(13) + chr(27) + '[K' if live else ''}{what}: {ended} in {seconds:.0f} s", flush=True
    )
    if running.returncode != 0:
        sys.stderr.writelines(lines)
    return running.returncode


def main() -> None:
    try:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
