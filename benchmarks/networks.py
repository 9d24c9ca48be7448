# SPDX-License-Identifier: Apache-2.0
"""How fast networks are: evaluations a second, and what they cost a search, on one core.

    python benchmarks/networks.py [--playouts 20000]

Blokus Duo's network and Go's of convolutions are those that come with Hyoka; those of other games
have random numbers of the usual size. Figures of one run are compared with each other, not with
other days'.
"""

import argparse
import functools
import random
import time
from collections.abc import Callable

import hyoka as hk
from hyoka.games import Position
from hyoka.models.bundled import bundled_network, bundled_prior_model
from hyoka.search import Convolution, Network

TURNS = 5
GAMES = ("blokus_duo", "go9", "othello", "chess", "shogi")


def positions_of(game: str, count: int = 2000) -> list[Position]:
    """Positions of random games."""
    rng = random.Random(1)
    found: list[Position] = []
    while len(found) < count:
        line = hk.games.GAMES[game]().line()
        while line.outcome is None and len(found) < count and len(line.moves) < 200:
            found.append(line.position)
            line = line.play(rng.choice(line.legal_moves))
    return found


def random_network(game: str, width: int) -> Network:
    """A network that knows nothing."""
    import numpy as np  # noqa: PLC0415 - beside its only use

    from hyoka.models.networks import NetworkSize  # noqa: PLC0415

    size = NetworkSize.of_game(game, width, policy_units=0)
    rng = np.random.default_rng(1)
    numbers = {
        name: (rng.normal(size=shape) * 8).astype(kind)
        for name, (shape, kind) in size.shapes.items()
    }
    return Network(game, size, numbers)


def rate(work: Callable[[], object], count: int, seconds: float = 1.0) -> float:
    """How often a second something is done that is done `count` times by each call."""
    begun, done = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        work()
        done += count
    return done / (time.perf_counter() - begun)


def playouts_a_second(spec: str, line: hk.Line, playouts: int) -> float:
    result = hk.search_once(line, f"{spec}{'' if spec.endswith(':') else ','}playouts={playouts}")
    return result.playouts / result.time_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--playouts", type=int, default=20_000)
    playouts = parser.parse_args().playouts
    for game in GAMES:
        model_file = bundled_network(game)
        network = Network.load(game, model_file) if model_file else random_network(game, 256)
        positions = positions_of(game)
        ask = functools.partial(network.in_core.logits, positions)
        found = rate(ask, len(positions))
        print(f"{game}: width {network.size.width}, {found:,.0f} evaluations a second from scratch")
    priors = bundled_prior_model("go9")
    assert priors is not None
    convolution = Convolution.load("go9", priors)
    positions = positions_of("go9")
    found = rate(functools.partial(convolution.in_core.logits, positions), len(positions))
    print(f"go9, the shipped convolutions: {found:,.0f} evaluations a second")
    empty = hk.Go9().line()
    with_priors, without = (
        max(playouts_a_second(spec, empty, playouts // 4) for _ in range(TURNS))
        for spec in ("uct:", "uct:strengths=learned")
    )
    print(f"  as priors: {with_priors:,.0f} playouts a second, {with_priors / without:.2f} times")
    line = hk.BlokusDuo().line()
    rng = random.Random(3)
    for _ in range(8):
        line = line.play(rng.choice(line.legal_moves))
    plain = "uct:preset=paper"
    specs = {
        "plain UCT": plain,
        "the network as prior": f"{plain},eval_visits=40,eval=learned",
        "Bouzy's influence as prior": f"{plain},eval_visits=40",
        "the network for leaves and moves": "uct:cutoff=0,eval_weight=0",
        "the same mixed with playouts, as it plays": "uct:eval_weight=0.4",
    }
    # In turns, and the best of them: other work on the machine only ever slows down.
    found_by_turn = [
        {words: playouts_a_second(spec, line, playouts) for words, spec in specs.items()}
        for _ in range(TURNS)
    ]
    best = {words: max(turn[words] for turn in found_by_turn) for words in specs}
    print("Blokus Duo, playouts a second:")
    for words, spec in specs.items():
        ratio = best[words] / best["plain UCT"]
        print(f"  {words}: {best[words]:,.0f}, {ratio:.2f} times ({spec})")


if __name__ == "__main__":
    main()
