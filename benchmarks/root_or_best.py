#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which value of a tree search tells the winner more often: the root's, or the best move's.

python benchmarks/root_or_best.py GAME RECORDS [--with uct:playouts=500] [--games 2500]

Positions of people's and programs' games, two of each at random; the interval is by games. The one
that is right more often is the game's `value` in `src/hyoka/games/registry.py`.
"""

import argparse
import itertools
import random
from collections.abc import Iterator

import numpy as np

import hyoka as hk
from hyoka.analysis import Resampling, mean_by_games
from hyoka.games import Line
from hyoka.search import Searcher


def positions(game: str, source: str, games: int) -> Iterator[tuple[int, Line, bool]]:
    """The number of a game, a line that ends at some position of it, and who won in the end."""
    decided = (
        record
        for record in hk.read_records(source)
        if record.game == game and record.result in (0.0, 1.0) and len(record) >= 10
    )
    for number, record in enumerate(itertools.islice(decided, games)):
        chance = random.Random(number)
        for ply in chance.sample(range(4, len(record)), 2):
            line = record.position(0).line()
            for move in record.move_list[:ply]:
                line = line.play(move)
            if line.outcome is None:
                yield number, line, record.result == 1.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("game")
    parser.add_argument("records")
    parser.add_argument("--with", dest="spec", default="uct:playouts=500")
    parser.add_argument("--games", type=int, default=2500)
    given = parser.parse_args()
    searcher = Searcher(given.spec, given.game)
    numbers, right = [], []
    for number, line, first_won in positions(given.game, given.records, given.games):
        searcher.clear()
        result = searcher.search(line)
        values = [result.details.get("root_value"), result.moves[0].value]
        known = [result.value if result.proven or each is None else each for each in values]
        numbers.append(number)
        right.append([(each > 0.5) == first_won for each in known if each is not None])
    found = np.array(right, np.float64)
    print(f"{given.game} {given.spec}: {len(found):,} positions")
    columns = {"root": found[:, 0], "best": found[:, 1], "root - best": found[:, 0] - found[:, 1]}
    for name, column in columns.items():
        print(f"{name:12}{mean_by_games(column, np.array(numbers), Resampling())}")


if __name__ == "__main__":
    main()
