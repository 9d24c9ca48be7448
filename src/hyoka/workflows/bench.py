# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the core: its speed, and fingerprints that detect changed behavior."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from hyoka.games import FACTS, Workload, games_with
from hyoka.games.registry import position
from hyoka.search import Searcher
from hyoka.search.playouts import playouts


@dataclass(frozen=True)
class Measurement:
    """One job of the benchmark.

    `fingerprint` is a count that depends only on the rules and the seed: a refactoring must not
    change it.
    """

    game: str
    job: str
    fingerprint: int
    rate: float
    unit: str
    seconds: float


@dataclass(frozen=True)
class _Job:
    game: str
    name: str
    unit: str
    run: Callable[[], tuple[int, float]]
    """Run the job; return the fingerprint and the number of work units."""


def _tree_search(game: str, work: Workload) -> tuple[int, float]:
    """Sum the moves' visits weighted by index, so that any change of order or count shows."""
    count = work.playouts // 2
    result = Searcher(f"uct:preset=paper,playouts={count},seed=1", game).search(position(game))
    return sum(place * move.visits for place, move in enumerate(result.moves, 1)), count


def _alpha_beta(game: str, work: Workload) -> tuple[int, float]:
    """Search deeper until the limit is reached, and count the nodes."""
    result = Searcher(f"ab:nodes={work.nodes}", game).search(position(game))
    depths = result.details["iterations"]
    return sum(depth * at for depth, at, *_ in depths), result.nodes


def _perft(game: str, work: Workload) -> tuple[int, float]:
    lines = position(game).perft(work.perft_depth)
    return lines, lines


def _playouts(game: str, work: Workload) -> tuple[int, float]:
    lengths = playouts(position(game), work.playouts, seed=1).lengths
    return int(lengths.sum()), len(lengths)


def _playout_moves(game: str, work: Workload) -> tuple[int, float]:
    moves = int(playouts(position(game), work.playouts, seed=2).lengths.sum())
    return moves, moves


def _jobs(games: Collection[str]) -> Iterator[_Job]:
    works = {game: work for game in games if (work := FACTS[game].bench) is not None}
    for game, work in works.items():
        depth = work.perft_depth
        yield _Job(game, f"perft {depth}", "lines/s", partial(_perft, game, work))
        yield _Job(game, "playouts", "playouts/s", partial(_playouts, game, work))
        yield _Job(game, "uct", "playouts/s", partial(_tree_search, game, work))
        yield _Job(game, "alpha-beta", "nodes/s", partial(_alpha_beta, game, work))
    for game, work in works.items():
        if work.counts_playout_moves:
            yield _Job(game, "playout moves", "moves/s", partial(_playout_moves, game, work))


def benchmarked_games() -> list[str]:
    """The games that `bench` measures."""
    return games_with(lambda facts: facts.bench)


def job_count(games: Iterable[str] | None = None) -> int:
    """Count the measurements that `bench` makes of these games."""
    return len(list(_jobs(_chosen(games))))


def _chosen(games: Iterable[str] | None) -> list[str]:
    """Select the benchmarked games, in the order of all games."""
    names = benchmarked_games()
    selected = set(names if games is None else games)
    return [game for game in names if game in selected]


def bench(games: Iterable[str] | None = None, *, rounds: int = 3) -> Iterator[Measurement]:
    """Measure the jobs of the given games (all by default) on one core; the best round counts.

    >>> [m.fingerprint for m in bench(["othello"], rounds=1)][0]
    3005288
    """
    for job in _jobs(_chosen(games)):
        best = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            fingerprint, work = job.run()
            best = min(best, time.perf_counter() - start)
        yield Measurement(job.game, job.name, fingerprint, work / best, job.unit, best)
