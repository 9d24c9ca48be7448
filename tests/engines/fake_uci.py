# SPDX-License-Identifier: Apache-2.0
"""A fake UCI or USI engine that does as its arguments say.

protocol=usi    speak USI
name=NAME       instead of Fake 1.0
say=LINE        print LINE in each search (more than one: in order)
best=MOVE       answer with it; else a2a3 and a7a6 (chess), 9g9f and 9c9d (shogi)
moves=A,B,…     answer with the move of this ply, and after the last with the first again
option=LINE     offer an option
log=FILE        append every line heard
pids=FILE       append our process id
wait=FILE       think as long as there is such a file
crash=N         write to standard error and exit with code 3 in search N (from 1, per process)
die=N           crash in search N, leaving a child that holds our output open
silent=N        from search N on, say nothing and hear nothing, not even the end of the input
slow=SECONDS    think so long in each search
flood=N         in search N, print without end
long=N          in search N, print a line without end
once=FILE       misbehave in a search only if there is no such file, and make it
strict          exit on hearing a word of another protocol
mojibake        print bytes that are no UTF-8
deaf            never answer anything
stubborn        ignore quit and the polite signals
child=FILE      start a child that outlives us, and write its process id there
session         in a session of its own
orphan          by way of a process that ends at once, so that nobody is its parent
"""

import contextlib
import os
import signal
import subprocess
import sys
import time


class FakeEngine:
    """Hears a line, says some."""

    def __init__(self, words: list[str]) -> None:
        self.script: dict[str, list[str]] = {}
        for word in words:
            key, _, value = word.partition("=")
            self.script.setdefault(key, []).append(value)
        self.protocol = self.word("protocol", "uci")
        self.searches = 0
        self.moves: list[str] = []
        self.black = False

    def word(self, key: str, default: str = "") -> str:
        return self.script.get(key, [default])[0]

    def is_now(self, key: str) -> bool:
        """Whether it is time for a misdeed that begins or happens with a search's number."""
        return key in self.script and int(self.word(key)) == self.searches and self.is_first_time()

    def is_first_time(self) -> bool:
        """Whether nobody has misbehaved yet, if that may happen only once."""
        if "once" not in self.script:
            return True
        try:
            with open(self.word("once"), "x", encoding="utf-8"):
                return True
        except FileExistsError:
            return False

    def say(self, *lines: str) -> None:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def hear(self, line: str) -> None:
        if "log" in self.script:
            with open(self.word("log"), "a", encoding="utf-8") as log:
                log.write(f"{line}\n")
        if line == self.protocol:
            self.say(
                f"id name {self.word('name', 'Fake 1.0')}",
                "id author nobody",
                "option name nothing",
            )
            self.say(*(f"option name {option}" for option in self.script.get("option", [])))
            self.say(f"{self.protocol}ok")
        elif line == "isready":
            self.say("readyok")
        elif line.startswith("position"):
            start, _, moves = line.partition(" moves ")
            self.moves = moves.split()
            self.black = " w " in f"{start} " if self.protocol == "usi" else " b " in f"{start} "
        elif line.startswith("go"):
            self.searches += 1
            self.search()
        elif line in ("uci", "usi") and "strict" in self.script:
            sys.exit(1)
        elif line == "quit" and "stubborn" not in self.script:
            sys.exit(0)

    def search(self) -> None:
        self.misbehave()
        time.sleep(float(self.word("slow", "0")))
        while os.path.exists(self.word("wait")):
            time.sleep(0.01)
        if "mojibake" in self.script:
            sys.stdout.buffer.write(b"info string \xff\xfe caf\xe9\r\n")
        second = self.black != bool(len(self.moves) % 2)
        ours = {"uci": ("a2a3", "a7a6"), "usi": ("9g9f", "9c9d")}[self.protocol]
        self.say(*self.script.get("say", []))
        moves = self.word("moves", ours[second]).split(",")
        self.say(f"bestmove {self.word('best', moves[len(self.moves) % len(moves)])}")

    def misbehave(self) -> None:
        if self.is_now("crash"):
            print("assertion failed: fake.c:7", file=sys.stderr, flush=True)
            os._exit(3)
        if self.is_now("die"):
            subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
            os._exit(4)
        if self.is_now("silent"):
            sleep_forever()
        if self.is_now("flood"):
            while True:
                self.say(*["info depth 1 score cp 1 pv"] * 10_000)
        if self.is_now("long"):
            while True:
                sys.stdout.write("x" * 65536)


def sleep_forever() -> None:
    while True:
        time.sleep(60)


def start_child(engine: FakeEngine) -> None:
    """Start a child that outlives us, and write down who it is once it is settled."""
    if "orphan" in engine.script and (middle := os.fork()) > 0:
        os.waitpid(middle, 0)
        return
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(600)"],
        start_new_session="session" in engine.script,
    )
    with open(engine.word("child"), "w", encoding="utf-8") as file:
        file.write(str(child.pid))
    if "orphan" in engine.script:
        os._exit(0)


def main() -> None:
    engine = FakeEngine(sys.argv[1:])
    if "stubborn" in engine.script:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    if "pids" in engine.script:
        with open(engine.word("pids"), "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    if "child" in engine.script:
        start_child(engine)
    if "deaf" in engine.script:
        sleep_forever()
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin:
            engine.hear(line.strip())
    if "stubborn" in engine.script:
        sleep_forever()


if __name__ == "__main__":
    main()
