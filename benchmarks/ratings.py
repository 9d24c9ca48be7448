# SPDX-License-Identifier: Apache-2.0
"""How long rating lists and their statistics take; best of some rounds on an idle machine.

python benchmarks/ratings.py
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from hyoka.arena.elo import Sprt, elo, permutation_p_value
from hyoka.arena.ratings import rate_players
from hyoka.arena.score import PairScores

Row = tuple[str, str]


def best_time(run: Callable[[], object], rounds: int = 5) -> float:
    """The least seconds of some runs."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def tournament(players: int, games: int) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """Random meetings, in pairs with the sides exchanged."""
    rng = np.random.default_rng(1)
    one = rng.integers(0, players, games // 2)
    other = (one + rng.integers(1, players, games // 2)) % players
    first, second = np.stack([one, other], axis=1), np.stack([other, one], axis=1)
    return first.ravel(), second.ravel(), [f"player {i}" for i in range(players)]


def results(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of players whose strengths lie 150 Elo around the mean, with draws."""
    rng = np.random.default_rng(2)
    strength = rng.normal(0, 150, max(first.max(), second.max()) + 1)
    chance = 1 / (1 + 10 ** ((strength[second] - strength[first] - 30) / 400))
    points = 0.5 * (rng.random(len(first)) < chance) + 0.5 * (rng.random(len(first)) < chance)
    return np.asarray(points)


def ratings() -> Iterator[Row]:
    for players, games in ((50, 100_000), (50, 1_000_000), (1000, 100_000), (3000, 300_000)):
        first, second, names = tournament(players, games)
        result, pairs = results(first, second), np.arange(games) // 2
        rounds = 5 if players < 1000 else 1
        what = f"{games:,} games among {players:,} players"
        seconds = best_time(
            lambda: rate_players(first, second, result, names, intervals=False),  # noqa: B023
            rounds,
        )
        yield what, f"{seconds:.3f} s"
        seconds = best_time(
            lambda: rate_players(first, second, result, names, clusters=pairs),  # noqa: B023
            rounds,
        )
        yield f"{what}, intervals by pairs", f"{seconds:.3f} s"


def statistics() -> Iterator[Row]:
    pairs = PairScores((1000, 9000, 30_000, 10_000, 1200))
    yield "Elo with interval", f"{best_time(lambda: elo(pairs)) * 1e6:.0f} µs"
    for model in ("logistic", "normalized"):
        test = Sprt(0, 2, model=model)
        seconds = best_time(lambda: test.llr(pairs))  # noqa: B023
        yield f"LLR, {model}", f"{seconds * 1e3:.2f} ms"
    seconds = best_time(lambda: permutation_p_value(pairs))
    yield f"permutation test of {pairs.pairs:,} pairs", f"{seconds * 1e3:.1f} ms"


def main() -> None:
    console = Console()
    table = Table("what", "measured")
    for part in (ratings, statistics):
        for row in part():
            table.add_row(*row)
            console.print("  ".join(row))
    console.print(table)


if __name__ == "__main__":
    main()
