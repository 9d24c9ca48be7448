# SPDX-License-Identifier: Apache-2.0
"""Playouts a second from the start, by game and policy, on one core; best of some rounds.

python benchmarks/playouts.py [GAME ...]

What `mc` plays in half a second; compare on an idle machine.
"""

import argparse
import time
from typing import Any

from rich.console import Console
from rich.table import Table

import hyoka as hk
from hyoka.games import Game, name_of
from hyoka.search import Searcher, SearchSpec

ROUNDS = 3
SECONDS = 0.5
STARTS: dict[str, Any] = {
    "othello": hk.Othello(),
    "chess": hk.Chess(),
    "shogi": hk.Shogi(),
    "go9": hk.Go9(),
    "go19": hk.Go19(),
    "blokus-duo": hk.BlokusDuo(),
}


def rate(game: Game, policy: str) -> float:
    """Playouts a second, each after one of the legal moves in turn."""
    best = 0.0
    for seed in range(ROUNDS):
        spec = SearchSpec.of("mc", policy=policy, time=SECONDS, playouts=0, seed=seed)
        searcher = Searcher(spec, name_of(game))
        start = time.perf_counter()
        playouts = searcher.search(game).playouts
        best = max(best, playouts / (time.perf_counter() - start))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help=f"some of {', '.join(STARTS)}; all by default")
    table = Table("game", "random", "by strength", "ratio")
    for name in parser.parse_args().games or STARTS:
        random, rated = (rate(STARTS[name], policy) for policy in ("uniform", "strengths"))
        table.add_row(name, f"{random:,.0f}/s", f"{rated:,.0f}/s", f"{random / rated:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
