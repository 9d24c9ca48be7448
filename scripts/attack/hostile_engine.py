# SPDX-License-Identifier: Apache-2.0
"""An engine that knows its protocol well enough to break it: `PROTOCOL SEED FILE`.

What it does is drawn from the seed. The processes that it leaves behind are listed in the file.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

MOVES = {
    "uci": "a2a3 e2e4 e1e2 a7a8q",
    "usi": "7g7f P*5e resign win",
    "gtp": "A1 PASS C3 a1 resign",
}
NUMBERS = ("0", "-1", "1e308", "nan", "inf", "9" * 30, "-" + "9" * 400, "", "0x10", "٣", "1.5")
MARKUP = "<script>alert(1)</script>"
JUNK = (b"\x00", b"\xff\xfe", b"\x1b]0;owned\x07", b"\xc2\x9b31m", b"\r", b"\t", b"\xed\xa0\x80")

LEGAL = {
    "uci": ("e2e4", "e7e5", "g1f3"),
    "usi": ("7g7f", "3c3d", "2g2f"),
    "gtp": ("G7", "G7", "G7"),
}
"""In the positions that the attack asks for, by the moves played."""
COMMANDS = (
    *("name", "version", "list_commands", "quit", "boardsize", "clear_board", "komi", "play"),
    *("genmove", "estimate_score", "uct_value_black", "kata-search_analyze", "lz-genmove_analyze"),
)


class Hostile:
    """Knows its protocol well enough to break it."""

    def __init__(self, protocol: str, seed: int, children: Path) -> None:
        self.protocol = protocol
        self.rng = random.Random(seed)
        self.children = children
        self.plies = 0
        self.evil = self.rng.choice([0.02, 0.1, 0.3])
        """How often it misbehaves."""

    def run(self) -> None:
        """Hear lines, and answer or misbehave."""
        for line in sys.stdin.buffer:
            if self.rng.random() < self.evil:
                self._misbehave()
            self._answer(line.decode("utf-8", "replace").strip())

    def _say(self, data: bytes) -> None:
        os.write(1, data)

    def _answer(self, line: str) -> None:
        if self.protocol == "gtp":
            self._say(self._gtp_answer(line))
        elif line in ("uci", "usi"):
            self._say(b"id name Hostile\n" + self._options() + f"{line}ok\n".encode())
        elif line.startswith("position"):
            self.plies = len(line.partition(" moves ")[2].split())
        elif line == "isready":
            self._say(b"readyok\n")
        elif line.startswith("go"):
            self._say(self._info() + f"bestmove {self._move()}\n".encode())
        elif line == "quit":
            sys.exit(0)

    def _gtp_answer(self, line: str) -> bytes:
        name = line.split(" ", maxsplit=1)[0]
        texts = {
            "name": self.rng.choice(
                ["Hostile", "GNU Go", "Pachi", "Fuego", "KataGo", "Leela Zero"]
            ),
            "version": "1",
            "list_commands": "\n".join([*COMMANDS, self.rng.choice(["reg_genmove", "undo"])]),
            "estimate_score": f"{self.rng.choice('BWX')}+{self._number()} (upper bound: 1)",
            "uct_value_black": self._number(),
        }
        text = texts.get(name, self._move() if "gen" in name or "search" in name else "")
        if name == "quit":
            self._say(b"=\n\n")
            sys.exit(0)
        if "genmove" in name:
            score = f"{self._number()}% (1/{self._number()} games)"
            os.write(2, f"*** WINNER is {self._move()} with score {score}\n".encode())
        if "analyze" in name:
            root = f"visits {self._number()} winrate {self._number()}"
            text = f"\ninfo move A1 {root} pv A1 rootInfo {root} scoreLead {self._number()}"
            text += f"\nplay {self._move()}"
        return f"{'=' if self.rng.random() < 0.95 else '?'} {text}\n\n".encode()

    def _options(self) -> bytes:
        kinds = [
            "spin default x min 9 max 1",
            "check",
            "combo var",
            "button",
            "string",
            "odd default",
        ]
        lines = [
            f"option name {self._junk_text()} type {self.rng.choice(kinds)}\n".encode()
            for _ in range(self.rng.randrange(3))
        ]
        return b"".join(lines)

    def _info(self) -> bytes:
        kinds = [
            f"depth {self._number()} score cp {self._number()} nodes {self._number()}",
            f"score mate {self._number()} pv {self._move()}",
            "depth 1 score cp 12 wdl " + " ".join(self._number() for _ in range(3)),
            f"string {self._junk_text()}",
            "score lowerbound cp 3 depth",
            "depth 2 score cp 25 nodes 7",
        ]
        return "".join(
            f"info {self.rng.choice(kinds)}\n" for _ in range(self.rng.randrange(4))
        ).encode()

    def _number(self) -> str:
        return self.rng.choice(NUMBERS if self.rng.random() < 0.2 else ("0.5", "12", "50", "1"))

    def _move(self) -> str:
        known = MOVES[self.protocol].split()
        if self.rng.random() < 0.7:
            return LEGAL[self.protocol][min(self.plies, 2)]
        return self.rng.choice([*known, "", "(none)", "0000", self._junk_text(), "resign\nA1"])

    def _junk_text(self) -> str:
        if self.rng.random() < 0.2:
            return MARKUP
        return "".join(chr(self.rng.choice([27, 65, 0x9B, 0x202E, 0x1F600, 32])) for _ in range(5))

    def _misbehave(self) -> None:
        rng = self.rng
        deeds: list[Callable[[], object]] = [
            lambda: self._say(rng.randbytes(rng.randrange(1, 3000))),
            lambda: self._say(rng.choice(JUNK) * rng.randrange(1, 50)),
            lambda: self._say(b"x" * rng.randrange(1, 1 << 21) + rng.choice([b"", b"\n"])),
            lambda: self._say(b"info depth 1\n" * rng.randrange(1, 50_000)),
            lambda: self._say(b"= 1\n\n= 2\n\nbestmove a2a3\nreadyok\nuciok\nusiok\n"),
            lambda: self._say(f"={rng.randrange(99)} D4\n\n".encode()),
            lambda: self._say(b"bestmove"),
            lambda: os.write(2, rng.randbytes(rng.randrange(1, 200_000))),
            lambda: os._exit(rng.randrange(4)),
            lambda: os.kill(
                os.getpid(), rng.choice([signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
            ),
            lambda: os.close(rng.choice([1, 2])),
            lambda: os.close(0),
            self._hide_a_child,
            self._hide_a_child,
            lambda: time.sleep(rng.choice([0.01, 0.05, 30])),
            lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
            lambda: os.setsid() if os.getpgrp() != os.getpid() else None,
            self._flood,
        ]
        weights = [4] * (len(deeds) - 1) + [1]
        rng.choices(deeds, weights)[0]()

    def _hide_a_child(self) -> None:
        """Leave a child behind: in our group, in its own session, or orphaned."""
        apart, orphan = self.rng.random() < 0.5, self.rng.random() < 0.5
        if orphan and (middle := os.fork()) > 0:
            os.waitpid(middle, 0)
            return
        child = os.fork()
        if child == 0:
            if apart:
                os.setsid()
            with self.children.open("a", encoding="utf-8") as file:
                file.write(f"{os.getpid()}\n")
            time.sleep(600)
            os._exit(0)
        if orphan:
            os._exit(0)

    def _flood(self) -> None:
        while True:
            self._say(self.rng.choice([b"y" * 65536, b"info\n" * 10_000]))


if __name__ == "__main__":
    Hostile(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])).run()
