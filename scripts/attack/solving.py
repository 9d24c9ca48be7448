# SPDX-License-Identifier: Apache-2.0
"""Attacks on `hyoka solve` by engines: `solving.py [--rounds N] [--seed S]`.

First each engine that misbehaves in one certain way solves six problems: it floods, hangs, drips,
dies, lies, prints garbage or control characters, or plays illegal moves. Then engines do anything,
drawn from the seed (`hostile_engine.py`), on UCI, USI and GTP. Whatever they do, the command ends,
with all problems counted and none solved by a move that does not solve it, or with one line that
says why it can't begin. Nothing of the engine is left alive, and nothing commands the terminal.

`solving.py engine KIND` is such an engine. The exit status is 1 if anything failed.
"""

import argparse
import contextlib
import functools
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

HOSTILE: Final = Path(__file__).with_name("hostile_engine.py")
TIMEOUT_S: Final = 0.5
PATIENCE_S: Final = 30.0
"""For what an engine does without hanging, on any machine."""
LONGEST_S: Final = 120.0
"""No command may take longer, on any machine."""
PROBLEMS: Final = 6
_MATE: Final = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "mate {}";\n'
_TSUME: Final = (
    '{{"game": "shogi", "position": "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "best": ["G*5b"]}}\n'
)
_GTP: Final = "boardsize 5\nclear_board\n{} reg_genmove b\n#? [C3]\n"
_BEYOND_MEASURE: Final = (
    b"info depth 1e9 score mate 99999999999999999999999 nodes -7\n"
    b"info score cp nan wdl inf 1 1\nbestmove a1a8\n"
)
_COMMANDS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _say(text: bytes) -> None:
    os.write(1, text)


def _for_ever(text: bytes, pause_s: float = 0.0) -> None:
    while True:
        _say(text)
        time.sleep(pause_s)


def _complain() -> None:
    os.write(2, b"no " * 100_000)
    _say(b"bestmove a1a8\n")


def _last_words() -> None:
    os.write(2, b"\x1b]0;owned\x07 I die\n")
    os._exit(3)


KINDS: Final[dict[str, tuple[Callable[[], object], int, int]]] = {
    "honest": (lambda: _say(b"bestmove a1a8\n"), PROBLEMS, 0),
    "wrong": (lambda: _say(b"bestmove a1a7\n"), 0, 0),
    "illegal": (lambda: _say(b"bestmove a1b7\n"), 0, PROBLEMS),
    "no move": (lambda: _say(b"bestmove (none)\n"), 0, PROBLEMS),
    "nothing": (lambda: _say(b"bestmove\n"), 0, PROBLEMS),
    "garbage": (lambda: _say(b"\xff\xfe\x00 \x1b[31m\nbestmove \x1b]0;a1a8\x07\n"), 0, PROBLEMS),
    "garbage first": (lambda: _say(os.urandom(3000) + b"\nbestmove a1a8\n"), PROBLEMS, 0),
    "beyond measure": (lambda: _say(_BEYOND_MEASURE), 0, PROBLEMS),
    "mate it has not": (lambda: _say(b"info depth 1 score mate 1 pv a1a7\nbestmove a1a7\n"), 0, 0),
    "dies": (lambda: os._exit(3), 0, PROBLEMS),
    "dies with words": (_last_words, 0, PROBLEMS),
    "hangs": (lambda: time.sleep(600), 0, PROBLEMS),
    "floods lines": (lambda: _for_ever(b"info depth 1 score cp 3\n" * 1000), 0, PROBLEMS),
    "floods without lines": (lambda: _for_ever(b"x" * 65536), 0, PROBLEMS),
    "floods zeros": (lambda: _for_ever(b"\x00" * 65536), 0, PROBLEMS),
    "drips": (lambda: _for_ever(b"y", 0.05), 0, PROBLEMS),
    "drips lines": (lambda: _for_ever(b"info depth 1\n", 0.05), 0, PROBLEMS),
    "complains at length": (_complain, PROBLEMS, 0),
}
"""What an engine does when it is asked, how many problems it solves and how many go wrong."""
AT_THE_START: Final[dict[str, Callable[[], object]]] = {
    "dies at once": lambda: os._exit(3),
    "hangs at once": lambda: time.sleep(600),
    "floods at once": lambda: _for_ever(b"uci " * 10_000),
    "drips at once": lambda: _for_ever(b"id name x\n", 0.05),
    "garbage at once": lambda: _for_ever(b"\x1b]0;owned\x07\xff\n", 0.01),
}
"""What one does instead of saying that it is there: the command says so in a line."""


def engine(kind: str) -> None:
    """Be an engine that speaks UCI, but for one thing."""
    for line in sys.stdin:
        word = line.split()[0] if line.split() else ""
        if word == "uci":
            AT_THE_START.get(kind, lambda: _say(b"id name Bad\nuciok\n"))()
        elif word == "isready":
            _say(b"readyok\n")
        elif word == "go":
            KINDS[kind][0]()
        elif word == "quit":
            return


class Wrong(Exception):  # noqa: N818 - a verdict
    """Something that must not happen has happened."""


def solved_by(kind: str) -> None:
    """Let an engine of a kind solve problems; raises Wrong."""
    command = shlex.join([sys.executable, "-S", str(Path(__file__)), "engine", kind])
    suite = "".join(_MATE.format(number) for number in range(PROBLEMS))
    hangs = kind in AT_THE_START or kind.startswith(("hangs", "floods", "drips"))
    timeout_s = TIMEOUT_S if hangs else PATIENCE_S
    while True:
        status, report, complaint = _solve(f"uci:timeout={timeout_s}:{command}", "mates.epd", suite)
        if kind in AT_THE_START or status == 0 or timeout_s >= PATIENCE_S:
            break
        timeout_s *= 4  # on a busy machine an engine takes long to start
    if kind in AT_THE_START:
        if status != 2 or complaint.count("\n") != 1 or not complaint.startswith("hyoka: "):
            raise Wrong(f"status {status}, said {complaint!a}")
        return
    found = report and (report["asked"], report["solved"], report["errors"])
    if status != 0 or found != (PROBLEMS, *KINDS[kind][1:]):
        raise Wrong(f"status {status}, asked, solved, errors: {found}, said {complaint!a}")


def solved_by_anything(seed: int) -> None:
    """Let an engine that may do anything solve problems; raises Wrong."""
    rng = random.Random(seed)
    protocol = rng.choice(["uci", "usi", "gtp"])
    name, problem = {
        "uci": ("mates.epd", _MATE),
        "usi": ("mates.jsonl", _TSUME),
        "gtp": ("moves.tst", _GTP),
    }[protocol]
    suite = "".join(problem.format(number + 1) for number in range(PROBLEMS))
    with tempfile.TemporaryDirectory() as folder:
        children = Path(folder) / "children"
        words = [sys.executable, "-S", str(HOSTILE), protocol, str(seed), str(children)]
        text = f"{protocol}:timeout={TIMEOUT_S}:{shlex.join(words)}"
        status, report, complaint = _solve(text, name, suite)
        left = [int(pid) for pid in children.read_text().split()] if children.exists() else []
        _expect_gone(left)
    if status == 2:
        if not complaint.startswith("hyoka: ") or complaint.count("\n") != 1:
            raise Wrong(f"{protocol}: said {complaint!a}")
        return
    if status != 0 or report is None:
        raise Wrong(f"{protocol}: status {status}, said {complaint!a}")
    counted = report["asked"] + sum(report["skipped"].values())
    if counted != PROBLEMS or not 0 <= report["solved"] + report["errors"] <= report["asked"]:
        raise Wrong(f"{protocol}: counts {report}")
    if protocol == "uci" and report["solved"]:  # no engine of this kind knows the move
        raise Wrong(f"{protocol}: solved {report['solved']}")


def _solve(spec: str, name: str, suite: str) -> tuple[int, dict[str, Any] | None, str]:
    """The status of the command, its report, and what it says on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(suite, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "hyoka", "solve", name, "--with", spec, "--jobs", "2", "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=folder,
            start_new_session=True,
        )
        try:
            said, complaint = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Wrong(f"still at work after {LONGEST_S:g} s") from None
        _expect_gone(_session(process.pid))
    if _COMMANDS.search((said + complaint).replace("\n", "")):
        raise Wrong(f"the output controls the terminal: {said!a} {complaint!a}")
    if "Traceback" in complaint:
        raise Wrong(f"a traceback: {complaint}")
    return process.returncode, json.loads(said)[0] if said else None, complaint


def _session(leader: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == leader:
                yield int(folder.name)


def _expect_gone(processes: Iterator[int] | list[int]) -> None:
    waiting = list(processes)
    for _ in range(100):
        waiting = [each for each in waiting if _runs(each)]
        if not waiting:
            return
        time.sleep(0.05)
    raise Wrong(f"processes are left: {waiting}")


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def attack(attacked: Callable[[], None]) -> str | None:
    """What went wrong, or None."""
    try:
        attacked()
    except Wrong as wrong:
        return str(wrong)
    return None


def main() -> int:
    """Attack, and say what came of it."""
    if sys.argv[1:2] == ["engine"]:
        engine(sys.argv[2])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    tried: list[tuple[str, Callable[[], None]]] = [
        (kind, functools.partial(solved_by, kind)) for kind in (*KINDS, *AT_THE_START)
    ]
    for number in range(given.rounds):
        anything = functools.partial(solved_by_anything, given.seed * 1_000_003 + number)
        tried.append((f"input {number} of seed {given.seed}", anything))
    failed = 0
    for name, attacked in tried:
        if (wrong := attack(attacked)) is not None:
            failed += 1
            print(f"{name}: {wrong}", flush=True)
    seconds = time.monotonic() - began
    print(f"tried {len(tried)}, failed {failed}, seed {given.seed}, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
