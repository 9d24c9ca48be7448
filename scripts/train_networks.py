#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train the networks that come with Hyoka: many games in memory, many cores, a GPU.

scripts/train_networks.py GAME -o FILE [--generations 6] [--games 20000] [--device cuda]

The same loop as `hyoka learn selfplay`, without studies, gates and going on: a search plays itself,
a network learns from the games, and the search with that network plays the next ones. After each
generation it plays the search that it began with.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hyoka import _core
from hyoka.learning.networks import Examples, NetworkSettings, joined, learn_network
from hyoka.search.move_models import move_model
from hyoka.search.networks import Network, network
from hyoka.search.sparse_evaluations import sparse_evaluation
from hyoka.selfplay.played import PlayedGames, Player, play_games

MODELS = Path(__file__).resolve().parent.parent / "src" / "hyoka" / "models"
CHUNK = 16
"""Games that a thread plays at a time."""


@dataclass(frozen=True)
class Recipe:
    """How a game is learned."""

    first: Callable[[], Player]
    """The search of the first games."""
    player: Callable[[Network], Player]
    """A search with a network."""
    random_plies: int
    sampled_plies: int
    max_plies: int
    komi: tuple[float, ...] = (float("nan"),)


def options(**settings: bool | int | float | str) -> _core.UctOptions:
    made = _core.UctOptions()
    made.set("formula", "puct")
    made.set("memory", 64.0)
    for name, value in settings.items():
        made.set(name, value)
    return made


def blokus_first() -> Player:
    return options(prior=20), _core.GivenModels()


def by_network(network: Network, **settings: bool | int | float | str) -> Player:
    models = _core.GivenModels()
    models.evaluation = network.model()
    models.prior_strengths = network.move_model()
    return options(**settings), models


def go_first() -> Player:
    models = _core.GivenModels()
    models.prior_strengths = move_model("go9", MODELS / "go9.json")
    return options(policy="light"), models


def othello_first() -> Player:
    models = _core.GivenModels()
    models.evaluation = sparse_evaluation("othello", MODELS / "othello.eval").model()
    models.prior_strengths = move_model("othello", MODELS / "othello.json")
    return options(cut=0), models


RECIPES = {
    "blokus_duo": Recipe(blokus_first, lambda network: by_network(network, cut=0), 2, 10, 100),
    "go9": Recipe(
        go_first,
        lambda network: by_network(network, policy="light", mix=0.5),
        6,
        14,
        200,
        (5.5, 6.5, 7.5, 7.5),
    ),
    "othello": Recipe(othello_first, lambda network: by_network(network, cut=0), 10, 16, 200),
}


@dataclass(frozen=True)
class Hall:
    """Where games are played: so many threads."""

    game: str
    recipe: Recipe
    threads: int

    def play(
        self, players: list[Player], games: int, first: int, plan: _core.SelfPlayPlan
    ) -> PlayedGames:
        """Games number `first` and on."""
        komi = np.resize(np.array(self.recipe.komi), games)
        with ThreadPoolExecutor(self.threads) as pool:
            parts = pool.map(
                lambda begin: play_games(
                    self.game, players, komi[begin : begin + CHUNK], first + begin, plan
                ),
                range(0, games, CHUNK),
            )
            return PlayedGames.joined(list(parts))

    def plan(self, playouts: int, quick: int, seed: int) -> _core.SelfPlayPlan:
        """How games are played."""
        plan = _core.SelfPlayPlan()
        plan.playouts, plan.quick, plan.seed = playouts, quick, seed
        plan.random_plies = self.recipe.random_plies
        plan.sampled_plies = self.recipe.sampled_plies
        plan.max_plies = self.recipe.max_plies
        return plan

    def score(self, one: Player, other: Player, games: int, playouts: int, seed: int) -> float:
        """What the one scores against the other at the same number of playouts."""
        plan = self.plan(playouts, playouts, seed)
        plan.sampled_plies = 0
        found = self.play([one, other], games, 0, plan)
        turned = np.where(np.arange(games) % 2 == 0, found.results, -found.results)
        return float((turned.mean() + 1) / 2)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("game", choices=sorted(RECIPES))
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="a network for the first games")
    parser.add_argument("--generations", type=int, default=6)
    parser.add_argument("--games", type=int, default=20_000, help="a generation")
    parser.add_argument("--window", type=int, default=4, help="generations that are learned from")
    parser.add_argument("--playouts", type=int, default=400)
    parser.add_argument("--quick", type=int, default=80)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--policy-units", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--last-epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--trial-games", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing later")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    began = time.monotonic()
    recipe = RECIPES[given.game]
    hall = Hall(given.game, recipe, given.threads)
    settings = NetworkSettings(
        width=given.width, policy_units=given.policy_units, batch=given.batch, rate=2e-3,
        epochs=given.epochs, seed=given.seed, device=given.device,
    )  # fmt: skip
    first = recipe.first()
    player = first
    if given.start:
        player = recipe.player(network(given.game, given.start))
    history: list[PlayedGames] = []
    log = []
    for generation in range(given.generations):
        last = generation == given.generations - 1 or time.monotonic() - began > given.seconds
        clock = time.monotonic()
        plan = hall.plan(given.playouts, given.quick, given.seed + generation)
        history.append(hall.play([player], given.games, 0, plan))
        history = history[-given.window :]
        played_s = time.monotonic() - clock
        # The last games of the newest generation are not learned from.
        newest = history[-1]
        apart = np.arange(len(newest)) >= 0.98 * len(newest)
        lessons = [*history[:-1], newest.some(~apart)]

        def draw(epoch: int, lessons: list[PlayedGames] = lessons, k: int = generation) -> Examples:
            return joined(
                [
                    games.examples(seed=1000 * k + 2 * epoch, threads=given.threads)
                    for games in lessons
                ]
            )

        clock = time.monotonic()
        learned = learn_network(
            draw,
            held_out=newest.some(apart).examples(threads=given.threads),
            settings=replace(settings, epochs=given.last_epochs if last else given.epochs),
        )
        report = learned.reports[-1]
        learned_s = time.monotonic() - clock
        player = recipe.player(learned.network)
        given.out.write_bytes(learned.network.artefact(None).to_bytes())
        found = {
            "generation": generation,
            "games": sum(len(games) for games in history),
            "positions": sum(int((~np.isnan(games.values)).sum()) for games in history),
            "played_s": round(played_s, 1),
            "learned_s": round(learned_s, 1),
            "value_loss": round(float(report.held_value_loss), 4),
            "value_error": round(float(report.held_value_error), 4),
            "policy_loss": round(float(report.held_policy_loss), 4),
            "first": round(float(report.held_first), 4),
            "score": round(hall.score(player, first, given.trial_games, given.playouts, 77), 3),
        }
        print(json.dumps(found), flush=True)
        log.append(found)
        given.out.with_suffix(".json").write_text(json.dumps(log, indent=1))
        if last:
            break


if __name__ == "__main__":
    main()
