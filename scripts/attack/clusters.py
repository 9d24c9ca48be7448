# SPDX-License-Identifier: Apache-2.0
"""Attacks on work on a Dask cluster: `clusters.py [COMMAND ...] [--rounds N] [--seed S]`.

Each round a command works on a cluster of its own, of two workers in processes, whose nannies start
a worker anew when it dies. Meanwhile workers are killed (SIGKILL) at random moments: one, one after
another, or both at once; sometimes a worker is stopped for a while (SIGSTOP), sometimes the
scheduler is killed. A command must end with what it comes to on no cluster at all. Where the
scheduler is gone it must say so in a line, and the same command on this machine must go on to the
same end. The exit status is 1 if anything failed.

Commands that learn networks need PyTorch, and are left out without it.
"""

import argparse
import contextlib
import importlib.util
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import hyoka as hk
from attack import kills

LIMIT_S: Final = 600.0
CLUSTER: Final = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      scheduler_port=0) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def evaluate_result(folder: Path) -> Any:
    """The evaluations, but for their times."""
    study = hk.Study.open(folder / "study")
    found = study.sql("select * from evaluations order by engine, game_id, ply")
    return found.drop_columns(["time_s"]).to_pylist()


COMMANDS: Final = {
    "evaluate": kills.Attacked(
        (
            *(
                "study",
                "evaluate",
                "study",
                "--with",
                "ab:nodes=300",
                "--sample",
                "12",
                "--jobs",
                "2",
            ),
            "--quiet",
        ),
        evaluate_result,
        (),
    ),
    **{name: kills.COMMANDS[name] for name in ("match", "objective", "improve", "selfplay")},
}


@dataclass
class Cluster:
    """A cluster in processes of its own."""

    process: "subprocess.Popen[str]"
    address: str

    @property
    def workers(self) -> list[int]:
        """The processes of the workers that are alive."""
        return [
            child
            for nanny in children_of(self.process.pid)
            for child in [nanny, *children_of(nanny)]
            if "spawn_main" in command_of(child)
        ]


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def command_of(process: int) -> str:
    """What a process was started with."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that is there until the end of the block."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield Cluster(process, process.stdout.readline().strip())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def kill_one(there: Cluster, choose: random.Random) -> None:
    """Kill a worker."""
    kill(choose.choice(there.workers or [0]), signal.SIGKILL)


def kill_some(there: Cluster, choose: random.Random) -> None:
    """Kill three workers, one after another."""
    for _ in range(3):
        kill_one(there, choose)
        time.sleep(choose.uniform(0, 3))


def kill_all(there: Cluster, _: random.Random) -> None:
    """Kill both workers."""
    for worker in there.workers:
        kill(worker, signal.SIGKILL)


def pause_one(there: Cluster, choose: random.Random) -> None:
    """Let a worker stand still for a while."""
    worker = choose.choice(there.workers or [0])
    kill(worker, signal.SIGSTOP)
    time.sleep(choose.uniform(0.5, 4))
    kill(worker, signal.SIGCONT)


def kill_scheduler(there: Cluster, _: random.Random) -> None:
    """Kill everything."""
    os.killpg(there.process.pid, signal.SIGKILL)


def kill(process: int, how: signal.Signals) -> None:
    """Send a signal to a process, if there is one."""
    if process:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, how)


DEEDS: Final[dict[str, Callable[[Cluster, random.Random], None]]] = {
    each.__name__.replace("_", " "): each
    for each in (kill_one, kill_some, kill_all, pause_one, kill_scheduler)
}


def work_on_a_cluster(ground: kills.Ground, deed: str, tally: kills.Tally) -> None:
    """Let a command work while something happens to its cluster."""
    place = ground.place("cluster")
    tally.tried[f"{ground.name}, {deed}"] += 1
    words = list(ground.command.words)
    jobs = words.index("--jobs")
    del words[jobs : jobs + 2]
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)) as there:
        process = subprocess.Popen(
            [sys.executable, "-m", "hyoka", *words, "--cluster", there.address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=place,
        )
        after = ground.choose.uniform(0, 2 * ground.seconds)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        DEEDS[deed](there, ground.choose)
        what = f"{ground.name}, {deed} after {after:.1f} s"
        try:
            _, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            tally.expect(False, f"{what}: still there after {LIMIT_S:g} s")
            return
    if deed == "kill scheduler" and process.returncode != 0:
        lines = err.strip().splitlines()
        is_said = process.returncode == 2 and lines[-1].startswith("hyoka: ")
        tally.expect(is_said and "Traceback" not in err, f"{what}: {process.returncode}: {err}")
        kills.ends(ground, place, ground.begun(place), tally, f"on from {what}")
        return
    tally.expect(process.returncode == 0, f"{what}: status {process.returncode}: {err}")
    if process.returncode == 0:
        same = ground.command.result(place) == ground.expected
        tally.expect(same, f"{what}: comes to something else")


def attack(names: list[str], rounds: int, seed: int) -> kills.Tally:
    """Attack each command a number of times."""
    tally = kills.Tally()
    kills.COMMANDS.update(COMMANDS)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            choose = random.Random(f"{seed} {name}")
            ground = kills.Ground(Path(folder), name, choose)
            print(f"{name}: {ground.seconds:.1f} s undisturbed", flush=True)
            for number in range(rounds):
                work_on_a_cluster(ground, list(DEEDS)[number % len(DEEDS)], tally)
    return tally


def main() -> int:
    """Attack, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--rounds", type=int, default=len(DEEDS))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.commands) - set(COMMANDS):
        parser.error(f"no command {', '.join(sorted(unknown))}: there are {', '.join(COMMANDS)}")
    has_torch = importlib.util.find_spec("torch") is not None
    names = [
        name for name in given.commands or COMMANDS if has_torch or not COMMANDS[name].needs_torch
    ]
    tally = attack(names, given.rounds, given.seed)
    for what, count in sorted(tally.tried.items()):
        print(f"{count:5} {what}")
    print(f"failed {len(tally.failures)}, seed {given.seed}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
