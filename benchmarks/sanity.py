# SPDX-License-Identifier: Apache-2.0
"""Whether each search beats chance in every game, and more playouts beat fewer.

    python benchmarks/sanity.py [--games 100] [GAME ...]

Each search plays `--games` games against uniformly random moves, changing sides: it should win all
of them. Then 1,000 playouts a move play 100; the p-value is that of a sign test over decided games.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import comb

from rich.console import Console

import hyoka as hk
from hyoka.search import SearchSpec, play_game

GAMES = ["go9", "othello", "chess", "shogi", "blokus_duo"]
SPECS = {
    "mc": "mc:a_move=10",
    "mc-score": "mc-score:a_move=10",
    "uct": "uct:playouts=400",
    "ab": "ab:nodes=3000",
}
# Shogi and chess playouts seldom end: there uct also gets what makes them worth something.
BY_GAME = {
    ("uct", "shogi"): "uct:preset=paper,playouts=400,cutoff=4,mate=50,widening=on",
    ("uct", "chess"): "uct:preset=paper,playouts=400,cutoff=4,mate=50,widening=on",
    ("mc", "shogi"): "mc:a_move=10,cutoff=4",
    ("mc", "chess"): "mc:a_move=10,cutoff=4",
    ("mc-score", "shogi"): "mc:a_move=10,cutoff=4,value=best",
    ("mc-score", "chess"): "mc:a_move=10,cutoff=4,value=best",
    ("ab", "go9"): "ab:nodes=1500",
    ("mc", "othello"): "mc:a_move=100",
    ("mc-score", "othello"): "mc-score:a_move=100",
    ("mc", "blokus_duo"): "mc:a_move=40",
    ("uct", "blokus_duo"): "uct:playouts=2000",
}


def score(game: str, ours: str, theirs: str, number: int) -> float:
    """What our player gets of one game: 1, 0.5 or 0."""
    players = [SearchSpec.from_text(ours), SearchSpec.from_text(theirs)]
    players = [
        spec if spec.kind == "ab" else spec.with_settings(seed=2 * number + side)
        for side, spec in enumerate(players)
    ]
    if number % 2:
        players.reverse()
    line = play_game(hk.position(game), *players, max_plies=700)
    outcome = line.outcome
    value = 0.5 if outcome is None else float(outcome.value)
    return 1.0 - value if number % 2 else value


def match(game: str, ours: str, theirs: str, games: int, threads: int = 2) -> list[float]:
    """The results of some games, sides changing."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda number: score(game, ours, theirs, number), range(games)))


def sign_test(wins: int, losses: int) -> float:
    """Probability of at least this many wins between equals."""
    decided = wins + losses
    return float(sum(comb(decided, k) for k in range(wins, decided + 1)) / 2**decided)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", nargs="*", default=GAMES)
    parser.add_argument("--games", type=int, default=100)
    arguments = parser.parse_args()
    console = Console(highlight=False)
    for game in arguments.game:
        for kind, usual in SPECS.items():
            spec = BY_GAME.get((kind, game), usual)
            results = match(game, spec, "random", arguments.games)
            console.print(f"{game:11} {spec:42} v random: {sum(results):g} of {len(results)}")
        tree = SearchSpec.from_text(BY_GAME.get(("uct", game), "uct"))
        more = tree.with_settings(playouts=1000).text
        fewer = tree.with_settings(playouts=100).text
        results = []
        for start in count(0, 20):
            results += match(game, more, fewer, 20)
            wins, losses = results.count(1.0), results.count(0.0)
            if sign_test(wins, losses) < 0.01 or start >= 180:
                break
        p = sign_test(results.count(1.0), results.count(0.0))
        draws = results.count(0.5)
        console.print(f"{game:11} 1,000 v 100 playouts: {wins}-{draws}-{losses}, p = {p:.2g}")


if __name__ == "__main__":
    main()
