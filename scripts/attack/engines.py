# SPDX-License-Identifier: Apache-2.0
"""Attack what talks to engines, and our own engines: `engines.py --inputs 1000 --seed 1`.

Half of the inputs are engines that misbehave (`hostile_engine.py`): garbage, silence,
floods, lines without end, zeros, broken UTF-8, early exits, answers to nobody's questions, illegal
moves, numbers beyond measure, closed pipes, children that hide. Whatever they do, a client gives an
evaluation that makes sense or an error of ours, in time, and nothing of the engine is left alive.

The other half are garbage commands for our own engines, which answer by their protocols and live.

All is drawn from the seed. The exit status is 1 if anything failed.
"""

import argparse
import asyncio
import contextlib
import random
import re
import resource
import shlex
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyoka.arena.solve import solve
from hyoka.engines import Engine, EnginePosition, Failure, check_engine, start_engine
from hyoka.engines.server import Controller, GtpServer, UciServer, UsiServer
from hyoka.engines.server.controller import lines_of
from hyoka.foundation.errors import Error
from hyoka.records.problems import read_problems
from hyoka.search import SearchSpec

ENGINE = Path(__file__).with_name("hostile_engine.py")


class Wrong(Exception):  # noqa: N818 - a verdict
    """Something that must not happen has happened."""


LONGEST_S = 60.0
"""No input may take longer, on any machine."""
TIMEOUT_S = 0.4
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def attack_client(seed: int) -> None:
    """Let a hostile engine be asked for a few things; raises Wrong."""
    rng = random.Random(seed)
    protocol = rng.choice(["uci", "usi", "gtp"])
    with tempfile.TemporaryDirectory() as folder:
        children = Path(folder) / "children"
        words = [sys.executable, "-S", str(ENGINE), protocol, str(seed), str(children)]
        text = f"{protocol}:timeout={TIMEOUT_S}:{shlex.join(words)}"
        before = _our_children()
        try:
            rng.choice([_evaluate, _play, _check, _solve])(text, protocol, rng)
        except Error as error:
            if _COMMANDS.search(str(error)):
                raise Wrong(f"an error commands the terminal: {error!a}") from None
        left = _our_children() - before
        if left:
            raise Wrong(f"processes are left: {left}")
        for word in children.read_text().split() if children.exists() else []:
            if _runs(int(word)):
                raise Wrong(f"a child of the engine is left: {word}")


GAMES = {"uci": ("chess", "e2e4 e7e5"), "usi": ("shogi", "7g7f 3c3d"), "gtp": ("go9", "E5 C3")}


def _positions(protocol: str) -> list[Any]:

    game, moves = GAMES[protocol]
    return [EnginePosition(game, moves=moves.split()[:count]) for count in range(3)]


def _evaluate(text: str, protocol: str, rng: random.Random) -> None:

    positions = _positions(protocol)
    with Engine(text, max_restarts=1) as session:
        for position, found in zip(positions, session.evaluate_each(positions), strict=False):
            if isinstance(found, Failure):
                if _COMMANDS.search(found.message + found.detail):
                    raise Wrong(f"a failure commands the terminal: {found!a}")
            else:
                _must_make_sense(found, position)


def _play(text: str, protocol: str, rng: random.Random) -> None:

    async def play() -> None:
        engine = await start_engine(text)
        try:
            await engine.new_game()
            for position in _positions(protocol):
                _must_make_sense(await engine.play(position), position)
        finally:
            engine.kill()

    asyncio.run(play())


def _check(text: str, protocol: str, rng: random.Random) -> None:

    report = check_engine(text)
    if any(_COMMANDS.search(check.detail) for check in report.checks):
        raise Wrong(f"a check commands the terminal: {report!a}")


def _solve(text: str, protocol: str, rng: random.Random) -> None:

    suite = read_problems(
        "boardsize 5\nclear_board\n1 reg_genmove b\n#? [C3]\n2 play b A1\n#? []\n"
    )
    report = solve([*suite.tests, *suite.problems], text)
    if any(_COMMANDS.search(verdict.error) for verdict in report.verdicts):
        raise Wrong(f"a verdict commands the terminal: {report!a}")


def _must_make_sense(found: Any, position: Any) -> None:
    if found.value is not None and not 0 <= found.value <= 1:
        raise Wrong(f"a value of {found.value}")
    if found.score is not None and not abs(found.score) < float("inf"):
        raise Wrong(f"a score of {found.score}")
    last = position.replay().last
    if found.best not in (None, "resign", "win"):
        last.parse(found.best)
        # Go's engines may play by other rules of ko and suicide.
        if not hasattr(last, "komi") and not last.is_legal(found.best):
            raise Wrong(f"the illegal move {found.best}")


def _our_children() -> set[int]:
    """The processes whose parent we are, zombies too."""
    children: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            children.update(map(int, file.read_text().split()))
    return children


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


WORDS = {
    "gtp": """
        play genmove reg_genmove undo boardsize komi clear_board b w C3 pass resign 5 9 19 12 name
        fixed_handicap set_free_handicap place_free_handicap loadsgf /dev/null time_settings
        time_left kgs-time_settings byoyomi lz-analyze kata-analyze lz-genmove_analyze interval
        avoid allow showboard final_score final_status_list dead hyoka-set hyoka-search playouts #
        known_command set_game othello Duo kgs-genmove_cleanup d3 list_commands
    """,
    "uci": """
        uci isready ucinewgame position go stop ponderhit setoption name value startpos fen moves
        e2e4 e7e5 0000 infinite ponder depth nodes wtime btime winc movestogo mate searchmoves
        MultiPV Hash Search ab:nodes=3 UCI_Chess960 true movetime 1 2 100 w KQkq - Clear perft
        register debug rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR
    """,
    "usi": """
        usi isready usinewgame position go stop ponderhit setoption name value startpos sfen moves
        7g7f 3c3d P*5e infinite ponder depth nodes btime wtime byoyomi mate USI_Hash MultiPV true 1
        100 b - gameover win lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL
    """,
}


def attack_server(seed: int) -> None:
    """Give garbage to one of our engines, byte by byte through a file; raises Wrong."""
    rng = random.Random(seed)
    protocol = rng.choice(["gtp", "uci", "usi"])
    last = {"gtp": b"protocol_version\n", "uci": b"stop\nisready\n", "usi": b"stop\nisready\n"}
    said: list[str] = []
    errors: list[BaseException] = []
    with tempfile.TemporaryFile() as file:
        file.write(b"".join(_garbage(rng, WORDS[protocol])) + b"\n" + last[protocol])
        file.seek(0)
        controller = Controller(lines_of(file.fileno()), said.append)
        server: Any
        if protocol == "gtp":
            game = rng.choice(["go5", "go9", "othello", "blokus_duo"])
            spec = SearchSpec.from_text("uct:playouts=8")
            server = GtpServer(spec, controller, game=game)
        else:
            kind = UciServer if protocol == "uci" else UsiServer
            server = kind(SearchSpec.from_text("ab:nodes=50,hash=1"), controller)

        def run() -> None:
            try:
                server.run()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(LONGEST_S)
        if thread.is_alive():
            raise Wrong(f"{protocol}: still at work after {LONGEST_S:g} s")
    if errors:
        raise Wrong(f"{protocol}: {errors[0]!r}") from errors[0]
    text = "".join(said)
    if protocol == "gtp":
        if not text.endswith("= 2\n\n"):
            raise Wrong(f"gtp: the last answer is {text[-80:]!a}")
        if not all(part.startswith(("=", "?")) for part in text.removesuffix("\n\n").split("\n\n")):
            raise Wrong("gtp: something is neither = nor ?")
    elif "readyok" not in text:
        raise Wrong(f"{protocol}: never ready: {text[-80:]!a}")
    if _COMMANDS.search(text.replace("\n", "")):
        raise Wrong(f"{protocol}: the output controls a terminal: {text!a}")


def _garbage(rng: random.Random, words: str) -> Iterator[bytes]:
    known = [word.encode() for word in words.split()]
    numbers = ["0", "-1", "1e308", "nan", "9" * 30, "-" + "9" * 400, "0x10", "٣", "1.5"]
    odd = [each.encode() for each in [*numbers, "x" * 5000, "é", "\x1b]0;owned\x07", "\x9b31m"]]
    odd += [b"\x00", b"\xff\xfe", b"\r", b"\t", b"\xed\xa0\x80"]
    for _ in range(rng.randrange(1, 60)):
        line = b" ".join(rng.choices([*known * 4, *odd], k=rng.randrange(0, 8)))
        if rng.random() < 0.05:
            line = rng.randbytes(rng.randrange(200)).replace(b"\n", b"")
        # To quit early, or to play for hours, is no misuse.
        if not re.search(rb"(?i)quit|go .*(time|byoyomi|infinite)|threads", line):
            yield line + b"\n"


def attack(seed: int, number: int) -> str | None:
    """One input; what went wrong, or None."""
    kind = attack_client if number % 2 == 0 else attack_server
    began = time.monotonic()
    try:
        kind(seed * 1_000_003 + number)
    except Wrong as wrong:
        return str(wrong)
    except Exception:
        return traceback.format_exc()
    took = time.monotonic() - began
    return f"took {took:.0f} s" if took > LONGEST_S else None


def main() -> int:
    """Attack, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    # A hash of 32 GiB is refused, and not tried.
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    began = time.monotonic()
    failed = 0
    for number in range(given.inputs):
        if (wrong := attack(given.seed, number)) is not None:
            failed += 1
            print(f"input {number} of seed {given.seed}: {wrong}", flush=True)
    seconds = time.monotonic() - began
    print(f"tried {given.inputs}, failed {failed}, seed {given.seed}, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
