# SPDX-License-Identifier: Apache-2.0
"""Attacks on commands that learn and play: kills, and two of them in one folder at once.

    python scripts/attack/kills.py [COMMAND ...] [--rounds N] [--seed S]

First each command runs undisturbed. Then, each round, it runs in a new folder, is sent SIGKILL,
SIGTERM or SIGINT at a random moment, and runs again, up to four times; the last time nobody
disturbs it. It must end with what the undisturbed run has, each interrupted one with the right
status, one line and no traceback, and nothing of it may be left alive. Then two of them begin in
one folder at the same moment: one is refused in one line, the other ends as if it were alone.
Ends with 1 if anything failed.

Commands that learn networks need PyTorch, and are left out without it.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import hyoka as hk
from hyoka.arena.journal import read_journal
from hyoka.learning.objective_search import read_steps
from hyoka.records.samples import sample_path
from hyoka.storage.model_file import read_model_file

LIMIT_S: Final = 600.0
"""No command takes so long, on any machine."""
SOON_S: Final = 60.0
"""After a signal a command ends in two seconds; on a busy machine later."""
OUT: Final = "out"
REFUSED: Final = re.compile(r"hyoka: out[^\n]*: another process is writing here [^\n]*\n")

# It has imported what the command needs and begins on a signal: kills hit the work itself.
COMMAND: Final = """
import importlib, os, sys
from hyoka.apps.cli import run, signals
for name in {modules}:
    importlib.import_module(name)
signals.listen()
print("ready", flush=True)
sys.stdin.readline()
status = run(sys.argv[1:])
if status == signals.INTERRUPTED:
    os._exit(signals.status_after())
sys.exit(status)
"""
_FORGOTTEN: Final = ("mobility", "corner_mobility", "frontier", "potential_mobility")


@dataclass(frozen=True)
class Attacked:
    """A command, and what of its output is the same however often it was interrupted."""

    words: tuple[str, ...]
    result: Callable[[Path], Any]
    modules: tuple[str, ...]
    """Imported before the command begins."""
    needs_torch: bool = False
    is_exclusive: bool = True
    """Whether two of them in one folder exclude each other."""


def objective_result(folder: Path) -> Any:
    """The steps, the evaluations and what came of the matches."""
    evaluations = folder / OUT / "evaluations"
    return (
        read_steps(folder / OUT),
        {file.name: _hash(file) for file in evaluations.glob("*.eval")},
        read_model_file(folder / OUT / "objective.json").sha256,
        _matches(folder),
    )


def improve_result(folder: Path) -> Any:
    """All steps but the charts' ids, and the matches."""
    files = sorted((folder / OUT).glob("*.json"))
    return {file.name: _hash(file) for file in files}, _matches(folder)


def selfplay_result(folder: Path) -> Any:
    """Networks, reports, and gates."""
    return (
        {
            str(file.relative_to(folder)): _hash(file)
            for pattern in ("network.nn", "report.json", "network.json")
            for file in sorted((folder / OUT).glob(f"generation-*/{pattern}"))
        },
        _matches(folder),
    )


def match_result(folder: Path) -> Any:
    """The games."""
    return _matches(folder)


def file_result(folder: Path) -> Any:
    """The file."""
    return _hash(folder / "out.nn")


def _matches(folder: Path) -> Any:
    """The games of each match by number; which of them ended first is chance."""
    return {
        str(file.parent.relative_to(folder)): sorted(
            (game.pairing.number, game.record.moves.tobytes(), game.result, game.reason)
            for game in read_journal(file)
        )
        for file in sorted((folder / OUT).rglob("journal.jsonl"))
        if file.parent.name != OUT or (file.parent / "match.json").exists()
    }


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


_QUIET: Final = ("--jobs", "2", "--quiet")
COMMANDS: Final = {
    "objective": Attacked(
        (
            *("learn", "objective", "records.txt", "--output", OUT, "--population", "3"),
            *("--steps", "6", "--games", "8", "--nodes", "100", "--positions", "100"),
            *("--passes", "1", "--training-steps", "1", "--batches", "1", "--verify", "6", *_QUIET),
        ),
        objective_result,
        ("hyoka.apps.cli.objective_commands", "hyoka.reporting.learning_report"),
    ),
    "improve": Attacked(
        (
            *("improve", "study", "--output", OUT, "--evaluator", "ab:nodes=50,eval=weak.json"),
            *("--games", "4", "--sprt", "0,100", "--sample", "8", *_QUIET),
        ),
        improve_result,
        ("hyoka.apps.cli.workflow_commands", "hyoka.workflows.improve.improve_page"),
    ),
    "match": Attacked(
        (
            *(
                "match",
                "run",
                "one=ab:nodes=300",
                "two=ab:nodes=100",
                "--game",
                "othello",
                "--output",
                OUT,
            ),
            *("--games", "40", *_QUIET),
        ),
        match_result,
        ("hyoka.apps.cli.match_commands", "hyoka.reporting.match_report"),
    ),
    "selfplay": Attacked(
        (
            *(
                "learn",
                "selfplay",
                "othello",
                "--output",
                OUT,
                "--generations",
                "2",
                "--games",
                "48",
            ),
            *("--playouts", "16", "--quick", "8", "--gate", "4", "--units", "64"),
            *("--value-units", "8", "--policy-units", "8", "--epochs", "2", *_QUIET),
        ),
        selfplay_result,
        ("hyoka.apps.cli.network_commands", "hyoka.reporting.learning_report", "torch"),
        needs_torch=True,
    ),
    "network": Attacked(
        (
            *("learn", "network", "records.txt", "--output", "out.nn", "--units", "64"),
            *("--value-units", "8", "--policy-units", "8", "--epochs", "3", "--jobs", "2", "-q"),
        ),
        file_result,
        ("hyoka.apps.cli.network_commands", "torch"),
        needs_torch=True,
        is_exclusive=False,
    ),
}


@dataclass
class Tally:
    """What was tried, and what went wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:
        """Note a failure unless it holds."""
        if not holds:
            self.failures.append(what)
            print(f"FAILED {what}", flush=True)


class Ground:
    """A folder with what a command reads, and what an undisturbed run of it comes to."""

    def __init__(self, folder: Path, name: str, choose: random.Random) -> None:
        self.name = name
        self.command = COMMANDS[name]
        self.choose = choose
        self._folder = folder
        self._inputs = folder / "inputs"
        self._inputs.mkdir()
        shutil.copy(sample_path("othello"), self._inputs / "records.txt")
        weak = {"game": "othello", "weights": dict.fromkeys(_FORGOTTEN, 0)}
        (self._inputs / "weak.json").write_text(json.dumps(weak))
        if "study" in self.command.words:
            hk.Study.create(self._inputs / "study", sample_path("othello"))
        began = time.monotonic()
        place = self.place("undisturbed")
        process = self.begun(place)
        out, err = process.communicate(timeout=LIMIT_S)
        if process.returncode != 0:
            raise RuntimeError(f"{name} fails undisturbed: {err}{out}")
        self.seconds = time.monotonic() - began
        self.expected = self.command.result(place)

    def place(self, name: str) -> Path:
        """A new folder with the same inputs."""
        place = self._folder / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._inputs, place)
        return place

    def prepared(self, place: Path) -> "subprocess.Popen[str]":
        """A process that waits for the word to begin."""
        code = COMMAND.format(modules=self.command.modules)
        process = subprocess.Popen(
            [sys.executable, "-c", code, *self.command.words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=place,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    def begun(self, place: Path) -> "subprocess.Popen[str]":
        """A process that has begun."""
        process = self.prepared(place)
        begin(process)
        return process


def begin(process: "subprocess.Popen[str]") -> None:
    """Give the word."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def kill_again_and_again(ground: Ground, tally: Tally) -> None:
    """Interrupt a command up to four times, and let it end."""
    place = ground.place("killed")
    for _ in range(ground.choose.randrange(1, 5)):
        how = ground.choose.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        process = ground.begun(place)
        after = ground.choose.uniform(0, ground.seconds)
        what = f"{ground.name}, {how.name} after {after:.2f} s"
        tally.tried[f"{ground.name} {how.name}"] += 1
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.send_signal(how)
        try:
            _, err = process.communicate(timeout=SOON_S)
        except subprocess.TimeoutExpired:
            tally.expect(False, f"{what}: still there after {SOON_S:g} s")
            process.kill()
            process.communicate()
            continue
        if process.returncode == 0:
            break
        if process.returncode == -how and is_complete(ground, place):
            break  # it had done everything, and Python took its signal handlers away at the end
        expected = -how if how == signal.SIGKILL else 128 + how
        tally.expect(process.returncode == expected, f"{what}: status {process.returncode}: {err}")
        tally.expect("Traceback" not in err, f"{what}: a traceback: {err}")
        tally.expect(not left_of(process.pid), f"{what}: processes are left")
        if how != signal.SIGKILL:
            tally.expect(err.endswith("hyoka: interrupted\n"), f"{what}: said {err!r}")
    ends(ground, place, ground.begun(place), tally, "after kills")


def is_complete(ground: Ground, place: Path) -> bool:
    """Whether everything is there that the undisturbed run came to."""
    try:
        return bool(ground.command.result(place) == ground.expected)
    except (OSError, hk.Error):
        return False


def two_at_once(ground: Ground, tally: Tally) -> None:
    """Begin two at the same moment, or the second a little later."""
    place = ground.place("two")
    both = [ground.prepared(place) for _ in range(2)]
    tally.tried[f"{ground.name} twice"] += 1
    begin(both[0])
    time.sleep(ground.choose.choice([0, 0, ground.choose.uniform(0, 0.5 * ground.seconds)]))
    begin(both[1])
    results = [process.communicate(timeout=LIMIT_S) for process in both]
    refused = [n for n in range(2) if both[n].returncode != 0]
    if not refused:  # the one that came later found everything done
        pass
    elif len(refused) == 2:
        tally.expect(False, f"{ground.name}: both were refused: {results}")
    else:
        [number] = refused
        said = results[number][1]
        tally.expect(both[number].returncode == 2, f"{ground.name}: {both[number].returncode}")
        tally.expect(bool(REFUSED.fullmatch(said)), f"{ground.name}: the second one said {said!r}")
    tally.expect(
        ground.command.result(place) == ground.expected,
        f"{ground.name}: two at once come to something else",
    )


def ends(
    ground: Ground, place: Path, process: "subprocess.Popen[str]", tally: Tally, what: str
) -> None:
    """Expect that a process ends as the undisturbed one did."""
    _, err = process.communicate(timeout=LIMIT_S)
    if process.returncode != 0:
        tally.expect(False, f"{ground.name} {what}: status {process.returncode}: {err}")
        return
    same = ground.command.result(place) == ground.expected
    tally.expect(same, f"{ground.name} {what}: comes to something else")
    hidden = [path for path in place.rglob(".*") if path.is_file() and path.name != ".lock"]
    tally.expect(not hidden, f"{ground.name} {what}: leaves {hidden[:3]}")


def left_of(leader: int) -> list[int]:
    """The processes that are left of a session, a moment after its leader."""
    for _ in range(50):
        left = list(_session(leader))
        if not left:
            return []
        time.sleep(0.1)
    return left


def _session(leader: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            yield int(folder.name)


def attack(names: Sequence[str], rounds: int, seed: int) -> Tally:
    """Attack each command a number of times."""
    tally = Tally()
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            choose = random.Random(f"{seed} {name}")
            ground = Ground(Path(folder), name, choose)
            print(f"{name}: {ground.seconds:.1f} s undisturbed", flush=True)
            for _ in range(rounds):
                kill_again_and_again(ground, tally)
                if ground.command.is_exclusive:
                    two_at_once(ground, tally)
    return tally


def main() -> int:
    """Attack, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.commands) - set(COMMANDS):
        parser.error(f"no command {', '.join(sorted(unknown))}: there are {', '.join(COMMANDS)}")
    has_torch = importlib.util.find_spec("torch") is not None
    names = [
        name for name in given.commands or COMMANDS if has_torch or not COMMANDS[name].needs_torch
    ]
    began = time.monotonic()
    tally = attack(names, given.rounds, given.seed)
    for what, count in sorted(tally.tried.items()):
        print(f"{count:5} {what}")
    seconds = time.monotonic() - began
    print(f"failed {len(tally.failures)}, seed {given.seed}, {seconds:.0f} s")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
