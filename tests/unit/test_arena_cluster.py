# SPDX-License-Identifier: Apache-2.0
"""A match on a cluster, of which a worker dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import await_end, fake
from hyoka.arena import open_match, plan_match, play_match

CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      scheduler_port=0) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
RUN = """
import sys
from hyoka.arena import plan_match, play_match
from hyoka.fleet import cluster

folder, address, *players = sys.argv[1:]
plan = plan_match(*players, game="chess", openings="start")
with cluster(address) as (executor, jobs):
    result = play_match(plan, folder, games=8, jobs=jobs, executor=executor)
print(len(result.games), jobs)
"""


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits as long as it takes; the limit is for a test that would otherwise never end."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("what was waited for did not come")


@pytest.mark.xdist_group("cluster")
def test_a_worker_of_a_cluster_that_dies_costs_no_game_and_none_counts_twice(
    tmp_path: Path,
) -> None:
    script, gate, pids = tmp_path / "cluster.py", tmp_path / "gate", tmp_path / "pids"
    script.write_text(CLUSTER, encoding="utf-8")
    gate.touch()
    words = ("moves=g1f3,g8f6,f3g1,f6g8", f"pids={pids}", f"wait={gate}")
    players = [f"one={fake('uci', *words)}", "two=random"]

    def started() -> list[int]:
        return [int(pid) for pid in pids.read_text().split()] if pids.exists() else []

    def parent_of(process: int) -> int:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        return int(stat.rpartition(")")[2].split()[1])

    def worker_of(engine: int) -> int:
        return parent_of(parent_of(engine))  # between them is the engine's keeper

    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        address = running.stdout.readline().strip()
        with subprocess.Popen(
            [sys.executable, "-c", RUN, str(tmp_path / "match"), address, *players],
            stdout=subprocess.PIPE,
            text=True,
        ) as run:
            # Both workers have an engine that waits; one is killed together with its worker.
            wait_for(lambda: len({worker_of(pid) for pid in started()}) == 2)
            engine = started()[0]
            os.kill(worker_of(engine), signal.SIGKILL)
            await_end(engine)
            gate.unlink()
            output, _ = run.communicate(timeout=120)
        running.stdin.close()
    assert (run.returncode, output) == (0, "8 2\n")
    description, games = open_match(tmp_path / "match")
    assert sorted(game.pairing.number for game in games) == list(range(8))
    assert description["match"]["game"] == "chess"
    assert {game.reason for game in games} <= {"repetition", "illegal move", "checkmate"}
    assert len({game.worker for game in games}) >= 1
    for pid in started():
        await_end(pid)
    # The same match goes on here.
    plan = plan_match(*players, game="chess", openings="start")
    result = play_match(plan, tmp_path / "match", games=10)
    assert sorted(game.pairing.number for game in result.games) == list(range(10))
    lines = (tmp_path / "match" / "journal.jsonl").read_text().splitlines()
    assert len({json.loads(line[9:])["pairing"][0] for line in lines}) == len(lines) == 10
