# SPDX-License-Identifier: Apache-2.0
"""Attacks on studies: kills, two writers at once, flipped bits, hostile SQL.

    python scripts/attack/studies.py [--rounds N] [--seed S]

Each round kills every writing command once at a random moment, lets it run again and compares the
study with one that was never interrupted; sets two commands on one study at the same moment; flips
bits in random files, each of which reading or `hyoka study verify` must notice; and asks with
conditions that want files, settings, extensions or never to end. Ends with 1 if anything failed.
"""

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hyoka as hk
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import adjudicate
from hyoka.study.tables import Snapshot
from hyoka.study.verify import check_study

TABLES = ("games", "positions", "remarks", "refused", "evaluations", "adjudications")
FLIPS = 12
QUERIES = 12
FILES = 6
SECRET = "hidden treasure"

# A process that has imported everything and begins on a signal: kills hit the work itself.
COMMAND = """
import sys
from hyoka.apps.cli import run
from hyoka.storage import manifest
from hyoka.study import evaluating, importing
importing._PART_MOVES = 1500
manifest._PART_ROWS = 40
evaluating._LARGEST_TASK = 25
evaluating._Run._flush_sometimes = evaluating._Run._flush
print("ready", flush=True)
sys.stdin.readline()
print(run(sys.argv[1:]), flush=True)
"""
COMMANDS = {
    "create": ["study", "create", "made", "first", "--quiet"],
    "append": ["study", "append", "study", "second", "--quiet"],
    "evaluate": ["study", "evaluate", "study", "--with", "ab:depth=1", "--sample", "3", "--quiet"],
    "adjudicate": ["study", "adjudicate", "study", "--where", "ply % 3 = 0", "--quiet"],
}
OTHERS = {
    "comments": ["study", "evaluate", "study", "--with", "comments", "--quiet"],
    "check": ["study", "verify", "study"],
    "sql": [
        "study",
        "sql",
        "study",
        "select count(*) from positions join evaluations using (game_id, ply)",
    ],
}
HOSTILE = [
    "exists (select (columns(*)).nosuch from {reader}('{file}'))",
    "(select count(*) from {reader}('{file}')) > {number}",
    "exists (select * from '{file}')",
    "(select max(content) from read_text('{name}')) > 'a'",
    "(select count(*) from {reader}('{file}') join positions using (ply)) > 0",
    "(select count(*) from query('select * from {reader}(''{file}'')')) > 0",
    "(select count(*) from duckdb_{what}()) > {number}",
    "current_setting('{setting}') = '{number}'",
    "ply > {number}; set {setting} = '{number}'",
    "ply > {number}; {statement}",
    "ply > {number}) union all select (1",
    "{statement}",
    "(select count(*) from range({number}00000000000) a, range(100000) b"
    " where a.range * b.range = 7) > 0",
    "(with recursive r(n) as (select 1 union all select n + {number} from r)"
    " select count(*) from r) > 0",
    "length(repeat('a', {number}00000000)) > 0",
    "(select length(string_agg(range::varchar, '')) from range({number}00000000)) > 0",
    "material * phase * {number}00000000000 > 0",
    "{nested}ply > 1{closed}",
    "ply > 1 \x1b[31m\x00 {number}",
]
CHOICES = {
    "reader": [
        "read_csv",
        "read_text",
        "read_blob",
        "read_parquet",
        "read_json",
        "sniff_csv",
        "glob",
    ],
    "name": [":memory:", ".tmp/x", "secret.csv", "./secret.csv", "file:secret.csv"],
    "what": ["settings", "extensions", "secrets", "logs", "functions", "memory"],
    "setting": ["threads", "enable_external_access", "memory_limit", "lock_configuration"],
    "statement": [
        "install httpfs",
        "load httpfs",
        "attach 'other.db'",
        "copy (select 1) to 'out.csv'",
        "pragma import_database('.')",
        "create table x as select 1",
        "export database '.'",
    ],
}


@dataclass
class Tally:
    """What was tried, and what went wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:
        """Note a failure unless it holds."""
        if not holds:
            self.failures.append(what)
            print(f"FAILED {what}", flush=True)


class Ground:
    """A folder with records, a study to begin with, and what each command makes of it."""

    def __init__(
        self,
        folder: Path,
        choose: random.Random,
        *,
        files: int = FILES,
        names: Sequence[str] = tuple(COMMANDS),
    ) -> None:
        self.folder = folder
        self.choose = choose
        self.commands = {name: COMMANDS[name] for name in names}
        for name, seed in (("first", 1), ("second", 2)):
            (folder / name).mkdir()
            for number in range(files):
                # The last file of the second lot has games of the first.
                again = name == "second" and number == files - 1
                text = games(40, 1000 * (1 if again else seed) + (0 if again else number))
                (folder / name / f"{number}.pgn").write_text(text, encoding="utf-8")
        (folder / "secret.csv").write_text(f"{SECRET}\n" * 3, encoding="utf-8")
        (folder / ":memory:").write_text(SECRET, encoding="utf-8")
        self.original = folder / "original"
        hk.Study.create(self.original, folder / "first")
        evaluate(hk.Study.open(self.original), ["comments"])
        adjudicate(hk.Study.open(self.original), "rules")
        self.before = content(self.original)
        self.after: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        for name, words in self.commands.items():
            self.renew()
            process = self.prepared(words)
            started = time.monotonic()
            begin(process)
            assert self.finish(process) == "0"
            self.seconds[name] = time.monotonic() - started
            self.after[name] = content(self.made(name))

    def made(self, name: str) -> Path:
        """The study that a command makes or changes."""
        return self.folder / ("made" if name == "create" else "study")

    def renew(self) -> None:
        """The study as it was to begin with."""
        for name in ("study", "made"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.original, self.folder / "study")

    def prepared(self, words: list[str]) -> subprocess.Popen[str]:
        """A process that waits for the word to begin with a command."""
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    def finish(self, process: subprocess.Popen[str]) -> str:
        """Its status, and what it complained of if that is not 0."""
        out, err = process.communicate()
        status = out.split()[-1] if out.split() else "none"
        return status if status == "0" else f"{status}: {err.strip()}"


def begin(process: subprocess.Popen[str]) -> None:
    """Give the word."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def games(count: int, seed: int) -> str:
    """PGN of random games, with values, games that can't be taken and games that come twice."""
    choose = random.Random(seed)
    texts = []
    for number in range(count):
        game, moves = hk.Chess(), []
        for ply in range(choose.randrange(2, 50)):
            move = choose.choice(game.legal_moves)
            value = f" {{[%eval {choose.uniform(-3, 3):.2f}]}}" if ply % 3 == 0 else ""
            moves.append(game.san(move) + value)
            game = game.play(move)
            if game.outcome is not None:
                break
        texts.append(f"1. {' '.join(moves)} {choose.choice(['1-0', '0-1', '1/2-1/2'])}\n\n")
        if number % 10 == 0:
            texts += ["1. e4 e5 2. Ke3 *\n\n", texts[-1]]
    return "".join(texts)


def content(path: Path) -> dict[str, Any]:
    """All that is in a study, but for times."""
    snapshot = Snapshot.of(path)
    rows: dict[str, Any] = {}
    for table in TABLES:
        found = snapshot.query(f"select * from {table}")
        if table == "evaluations":
            found = found.drop_columns(["time_s"])
        rows[table] = sorted(map(repr, found.to_pylist()))
    rows["values"] = {k: v for k, v in snapshot.study.values.items() if k != "created"}
    return rows


def attack_by_kill(ground: Ground, tally: Tally) -> None:
    for name, words in ground.commands.items():
        ground.renew()
        process = ground.prepared(words)
        wait = ground.choose.uniform(0, 1.1) * ground.seconds[name]
        begin(process)
        time.sleep(wait)
        process.kill()
        process.communicate()
        what = f"{name} killed after {wait:.3f} s"
        tally.tried["kills"] += 1
        made = ground.made(name)
        if name != "create" or made.exists():
            now = content(made)
            if name == "evaluate":
                wanted = set(ground.after[name]["evaluations"])
                tally.expect(set(now["evaluations"]) <= wanted, f"{what}: other evaluations")
                now["evaluations"] = ground.before["evaluations"]
            former = [ground.after[name], ground.before if name != "create" else None]
            if name == "evaluate":
                former = [ground.before]
            tally.expect(now in former, f"{what}: half a change")
            tally.noted["done before the kill"] += now == ground.after[name]
            tally.expect(check_study(made).is_whole, f"{what}: not whole")
            if name == "create" or (name == "append" and now == ground.after[name]):
                continue  # it was quicker
        process = ground.prepared(words)
        begin(process)
        status = ground.finish(process)
        tally.expect(status == "0", f"{what}: again gives {status}")
        tally.expect(
            content(made) == ground.after[name], f"{what}: again is not as if never killed"
        )
        found = check_study(made)
        tally.expect(found.is_whole, f"{what}: {found.damage}")
        hidden = list(ground.folder.glob(".*.partial"))
        tally.expect(not hidden, f"{what}: {hidden} is left")


def attack_by_pair(ground: Ground, tally: Tally) -> None:
    commands = {**ground.commands, **OTHERS}
    for _ in range(2):
        ground.renew()
        names = [ground.choose.choice(list(commands)) for _ in range(2)]
        what = " and ".join(names)
        processes = [ground.prepared(commands[name]) for name in names]
        for process in processes:
            begin(process)
        said = [ground.finish(process) for process in processes]
        tally.tried["pairs"] += 1
        refusals = ("somebody else", "is there already")
        tally.expect(
            all(each == "0" or any(word in each for word in refusals) for each in said),
            f"{what}: {said}",
        )
        tally.expect("0" in said, f"{what}: neither was done: {said}")
        for path in {ground.made(name) for name in names}:
            found = check_study(path)
            tally.expect(found.is_whole, f"{what}: {found.damage}")
        done = [name for name, each in zip(names, said, strict=True) if each == "0"]
        if done.count("append") == 1 and "append" in names:
            games_now = content(ground.folder / "study")["games"]
            tally.expect(games_now == ground.after["append"]["games"], f"{what}: other games")


def attack_by_flip(ground: Ground, tally: Tally) -> None:
    for _ in range(FLIPS):
        ground.renew()
        study = ground.folder / "study"
        files = [
            path for path in sorted(study.rglob("*")) if path.is_file() and path.name != ".lock"
        ]
        file = ground.choose.choice(files)
        data = bytearray(file.read_bytes())
        at = ground.choose.randrange(len(data))
        data[at] ^= 1 << ground.choose.randrange(8)
        file.write_bytes(data)
        tally.tried["flips"] += 1
        what = f"bit flipped at {at} of {file.relative_to(study)} ({len(data)} bytes)"
        try:
            read = "right" if content(study) == ground.before else "wrong"
        except hk.Error as error:
            read = "noticed"
            tally.expect("\n" not in str(error), f"{what}: {error!r}")
        except Exception as error:
            read = "noticed"
            tally.expect(False, f"{what}: {error!r}")
        tally.noted[f"flips: reading {read}"] += 1
        tally.expect(not check_study(study).is_whole, f"{what}: check says nothing")


def attack_by_query(ground: Ground, tally: Tally) -> None:
    ground.renew()
    study = hk.Study.open(ground.folder / "study")
    choose = ground.choose
    with limits(), contextlib.chdir(ground.folder):
        before = sorted(ground.folder.rglob("*"))
        for _ in range(QUERIES):
            depth = choose.choice([3, 200, 5000])
            given = {name: choose.choice(words) for name, words in CHOICES.items()}
            condition = choose.choice(HOSTILE).format(
                file=ground.folder / "secret.csv",
                number=choose.randrange(1, 50),
                nested="(" * depth,
                closed=")" * depth,
                **given,
            )
            tally.tried["hostile queries"] += 1
            started = time.monotonic()
            answer = ""
            for ask in asking(study, condition):
                try:
                    answer += str(ask())
                except hk.Error as error:
                    answer += str(error)
                except Exception as error:
                    tally.expect(False, f"{condition[:200]!r}: {error!r}")
            seconds = time.monotonic() - started
            tally.expect(SECRET not in answer, f"{condition[:200]!r} shows the secret")
            tally.expect("\x1b" not in answer.replace(condition, ""), f"{condition!r}: escape")
            tally.expect(seconds < 8, f"{condition[:200]!r} took {seconds:.1f} s")
        tally.expect(sorted(ground.folder.rglob("*")) == before, "a query has written files")


def asking(study: hk.Study, condition: str) -> Iterator[Callable[[], object]]:
    yield lambda: study.select(condition)
    yield lambda: study.sql(f"select {condition} as answer from positions limit 3").to_pylist()
    yield lambda: study.sql(condition)


@contextlib.contextmanager
def limits() -> Iterator[None]:
    os.environ.update(HYOKA_SQL_SECONDS="0.3", HYOKA_SQL_MEMORY="200M")
    try:
        yield
    finally:
        del os.environ["HYOKA_SQL_SECONDS"], os.environ["HYOKA_SQL_MEMORY"]


ATTACKS = (attack_by_kill, attack_by_pair, attack_by_flip, attack_by_query)


def attack(rounds: int, seed: int) -> Tally:
    """All attacks, a number of times."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="hyoka-attack-") as folder:
        ground = Ground(Path(folder), random.Random(seed))
        for number in range(1, rounds + 1):
            for each in ATTACKS:
                each(ground, tally)
            tried = ", ".join(f"{count} {what}" for what, count in tally.tried.items())
            print(f"round {number}: {tried}; failed {len(tally.failures)}", flush=True)
    return tally


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    tally = attack(given.rounds, given.seed)
    for what, count in [*tally.tried.items(), *sorted(tally.noted.items())]:
        print(f"{what}: {count}")
    print(f"tried {tally.tried.total()}, failed {len(tally.failures)}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
