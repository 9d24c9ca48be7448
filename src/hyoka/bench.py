# SPDX-License-Identifier: Apache-2.0
"""How fast the core is here, and whether it still does exactly what it did."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from hyoka.games import GAMES, position
from hyoka.playouts import playouts
from hyoka.search import Searcher


@dataclass(frozen=True)
class Measurement:
    """One job of the benchmark.

    `fingerprint` is a count that depends on the rules and the seed alone: a change that is meant to
    change no behaviour leaves it as it is.
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
    """Gives the fingerprint and how many units of work it took."""


_PERFT_DEPTHS = {
    "othello": 9,
    "chess": 5,
    "shogi": 4,
    "blokus_duo": 2,
    "go9": 3,
    "go13": 2,
    "go19": 2,
}
_PLAYOUTS = {
    "othello": 20_000,
    "chess": 3_000,
    "shogi": 2_000,
    "blokus_duo": 10_000,
    "go9": 20_000,
    "go13": 8_000,
    "go19": 4_000,
}


_TREE_PLAYOUTS = {name: count // 2 for name, count in _PLAYOUTS.items()}
_NODES = {"go9": 20_000, "go13": 10_000, "go19": 5_000, "blokus_duo": 20_000}


def _tree_search(game: str) -> tuple[int, float]:
    """The visits of the moves, each times its place: any other order or count shows."""
    count = _TREE_PLAYOUTS[game]
    result = Searcher(f"uct:playouts={count},seed=1", game).search(position(game))
    return sum(place * move.visits for place, move in enumerate(result.moves, 1)), count


def _alpha_beta(game: str) -> tuple[int, float]:
    """The nodes that depths take until the limit is reached."""
    nodes = _NODES.get(game, 500_000)
    result = Searcher(f"ab:nodes={nodes}", game).search(position(game))
    depths = result.details["iterations"]
    return sum(depth * at for depth, at, *_ in depths), result.nodes


def _perft(game: str) -> tuple[int, float]:
    lines = position(game).perft(_PERFT_DEPTHS[game])
    return lines, lines


def _playouts(game: str) -> tuple[int, float]:
    lengths = playouts(position(game), _PLAYOUTS[game], seed=1).lengths
    return int(lengths.sum()), len(lengths)


def _playout_moves(game: str) -> tuple[int, float]:
    moves = int(playouts(position(game), _PLAYOUTS[game], seed=2).lengths.sum())
    return moves, moves


def _jobs() -> Iterator[_Job]:
    for game in GAMES:
        if game in _PERFT_DEPTHS:
            depth = _PERFT_DEPTHS[game]
            yield _Job(game, f"perft {depth}", "lines/s", partial(_perft, game))
            yield _Job(game, "playouts", "playouts/s", partial(_playouts, game))
            yield _Job(game, "uct", "playouts/s", partial(_tree_search, game))
            yield _Job(game, "alpha-beta", "nodes/s", partial(_alpha_beta, game))
    yield _Job("shogi", "playout moves", "moves/s", partial(_playout_moves, "shogi"))


def benchmarked_games() -> list[str]:
    """The games that `bench` measures."""
    return [game for game in GAMES if game in _PERFT_DEPTHS]


def bench(games: Iterable[str] | None = None, *, rounds: int = 3) -> Iterator[Measurement]:
    """Measure the jobs of the given games (all by default) on one core; the best round counts.

    >>> [m.fingerprint for m in bench(["othello"], rounds=1)][0]
    3005288
    """
    wanted = set(benchmarked_games() if games is None else games)
    for job in _jobs():
        if job.game not in wanted:
            continue
        best = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            fingerprint, work = job.run()
            best = min(best, time.perf_counter() - start)
        yield Measurement(job.game, job.name, fingerprint, work / best, job.unit, best)
