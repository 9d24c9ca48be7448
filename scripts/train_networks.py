#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train the networks that come with Hyoka: many games in memory, many cores, a GPU.

scripts/train_networks.py GAME -o FILE [--generations 6] [--games 8000] [--device cuda]

The same loop as `hyoka learn selfplay`, without studies, gates and going on: a search plays itself,
a network of convolutions (of one wide layer with --blocks 0) learns from the games, and the search
with that network plays the next ones. With --records the first network learns from records, and
plays the first games. After each generation it plays the search that it began with. What was found
of each generation goes into FILE.log.json.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hyoka import _core
from hyoka.learning.network_training import (
    EpochMetrics,
    Examples,
    LearnedNetwork,
    NetworkSettings,
    joined,
    learn_network,
)
from hyoka.learning.selfplay_games import PlayedGames, Player, play_games
from hyoka.models.loading import move_model
from hyoka.models.networks import Convolution, Network
from hyoka.models.sparse import SparseEvaluation
from hyoka.storage.model_file import Origin, read_model_file

MODELS = Path(__file__).resolve().parent.parent / "src" / "hyoka" / "models"
Setting = bool | int | float | str
CHUNK = 16
"""Games that a thread plays at a time."""


@dataclass(frozen=True)
class Recipe:
    """How a game is learned."""

    first: Callable[[], Player]
    """The search of the first games, unless records tell more."""
    flat: Mapping[str, Setting]
    """The search with a network of one layer, which is quick and knows less."""
    random_plies: int
    sampled_plies: int
    max_plies: int
    komi: tuple[float, ...] = (float("nan"),)


def options(**settings: Setting) -> _core.UctOptions:
    return _core.UctOptions({"formula": "puct", "memory": 64.0, **settings})


def blokus_first() -> Player:
    return options(eval_visits=20), _core.GivenModels()


def by_network(found: Network | Convolution, flat: Mapping[str, Setting]) -> Player:
    """A search by a network: of convolutions it asks nothing else."""
    models = _core.GivenModels()
    if isinstance(found, Convolution):
        models.leaves = found.leaves()
        return options(cutoff=0), models
    models.evaluation = found.model()
    models.prior_strengths = found.move_model()
    return options(**flat), models


def go_first() -> Player:
    models = _core.GivenModels()
    models.prior_strengths = move_model("go9", MODELS / "go9.json")
    return options(policy="light"), models


def othello_first() -> Player:
    models = _core.GivenModels()
    models.evaluation = SparseEvaluation.load("othello", MODELS / "othello.eval").model()
    models.prior_strengths = move_model("othello", MODELS / "othello.json")
    return options(cutoff=0), models


RECIPES = {
    "blokus_duo": Recipe(blokus_first, {"eval_weight": 0.4}, 2, 10, 100),
    "go9": Recipe(
        go_first, {"policy": "light", "eval_weight": 0.5}, 6, 14, 200, (5.5, 6.5, 7.5, 7.5)
    ),
    "othello": Recipe(othello_first, {"cutoff": 0}, 10, 16, 200),
}


@dataclass(frozen=True)
class Hall:
    """Number of threads that play games."""

    game: str
    recipe: Recipe
    threads: int
    resign: float = 0.0
    """Resignation threshold."""

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
        plan.resign = self.resign
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
    parser.add_argument("--records", type=Path, nargs="+", help="games of others to begin with")
    parser.add_argument("--where", help="which of the records, as `hyoka records info --where`")
    parser.add_argument("--first-games", type=int, default=0, help="of the first search")
    parser.add_argument("--start", type=Path, help="a network for the first games")
    parser.add_argument("--generations", type=int, default=6)
    parser.add_argument("--games", type=int, default=8_000, help="a generation")
    parser.add_argument("--window", type=int, default=4, help="generations that are learned from")
    parser.add_argument("--playouts", type=int, default=400)
    parser.add_argument("--quick", type=int, default=80)
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=4, help="0: one layer, --width wide")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--policy-units", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--first-epochs", type=int, default=3)
    parser.add_argument("--last-epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--resign", type=float, default=0.0, help="below this chance to win")
    parser.add_argument("--trial-games", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing later")
    return parser.parse_args()


class Teacher:
    """Makes networks of games."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._settings = NetworkSettings(
            channels=given.channels, blocks=given.blocks, width=given.width,
            policy_units=given.policy_units, batch=given.batch, rate=given.rate, seed=given.seed,
            device=given.device,
        )  # fmt: skip

    def learn(
        self,
        lessons: list[PlayedGames],
        apart: PlayedGames,
        epochs: int,
        number: int,
        start: Network | Convolution | None = None,
    ) -> tuple[Network | Convolution, EpochMetrics]:
        """A network of games; how well it predicts held-out games."""

        def draw(epoch: int) -> Examples:
            seed = 1000 * (number + 1) + 2 * epoch
            threads = self._given.threads
            return joined([games.examples(seed=seed, threads=threads) for games in lessons])

        # One that goes on learning takes smaller steps.
        rate = self._settings.rate * (1 if start is None else 0.5)
        learned: LearnedNetwork = learn_network(
            draw,
            held_out=apart.examples(threads=self._given.threads),
            settings=replace(self._settings, epochs=epochs, rate=rate),
            start=start,
        )
        return learned.network, learned.epochs[-1]


def recorded_games(game: str, files: list[Path], where: str | None) -> PlayedGames:
    """Games of others, as if they were ours."""
    from hyoka.learning.selfplay_games import of_records  # noqa: PLC0415 - only this needs studies
    from hyoka.study import Study  # noqa: PLC0415

    chosen = f"game = '{game}'" + (f" and ({where})" if where else "")
    with tempfile.TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study", files, where=chosen, columns="none")
        return of_records(record for _, record in study.records())


def file_hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def parted(games: PlayedGames) -> tuple[PlayedGames, PlayedGames]:
    """Most of the games, and the last ones, which are not learned from."""
    apart = np.arange(len(games)) >= 0.98 * len(games)
    return games.some(~apart), games.some(apart)


class Loop:
    """A search that plays, and a network that learns from its games and plays the next ones."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._began = time.monotonic()
        recipe = RECIPES[given.game]
        self._hall = Hall(given.game, recipe, given.threads, given.resign)
        self._teacher = Teacher(given)
        self._first = recipe.first()
        self._newest: Network | Convolution | None = None
        self._history: list[PlayedGames] = []
        self._counts = {"games": 0, "positions": 0}
        self._log: list[dict[str, int | float]] = []
        if given.start:
            kind = Convolution if given.blocks else Network
            self._newest = kind.load(given.game, given.start)

    def run(self) -> None:
        """From what is given to the last generation."""
        given = self._given
        if given.records or given.first_games:
            self._begin()
        for generation in range(given.generations):
            last = generation == given.generations - 1 or self._seconds() > given.seconds
            self._go_on(generation, given.last_epochs if last else given.epochs)
            if last:
                break

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _by(self, found: Network | Convolution) -> Player:
        return by_network(found, self._hall.recipe.flat)

    def _play(self, games: int, player: Player, faster: int, seed: int) -> PlayedGames:
        """Games of a player with a multiple of the default playouts."""
        given = self._given
        plan = self._hall.plan(faster * given.playouts, faster * given.quick, seed)
        return self._hall.play([player], games, 0, plan)

    def _begin(self) -> None:
        """A network of records and of games of the first search."""
        given, lessons = self._given, []
        if given.records:
            lessons.append(recorded_games(given.game, given.records, given.where))
            self._counts["recorded_games"] = len(lessons[-1])
        if given.first_games:
            lessons.append(self._play(given.first_games, self._first, 2, given.seed + 500))
            self._history.append(lessons[-1])
            self._counts["first_games"] = len(lessons[-1])
        self._learn(lessons, given.first_epochs, -1, {})

    def _go_on(self, generation: int, epochs: int) -> None:
        given, clock = self._given, time.monotonic()
        player = self._first if self._newest is None else self._by(self._newest)
        played = self._play(given.games, player, 1, given.seed + generation)
        self._history = [*self._history, played][-given.window :]
        self._counts["games"] += len(played)
        self._counts["positions"] += int((~np.isnan(played.values)).sum())
        facts = {"played_s": round(time.monotonic() - clock, 1)}
        self._learn(self._history, epochs, generation, facts)

    def _learn(
        self, lessons: list[PlayedGames], epochs: int, generation: int, facts: dict[str, float]
    ) -> None:
        given, clock = self._given, time.monotonic()
        most, apart = parted(lessons[-1])
        lessons = [*lessons[:-1], most]
        made, metrics = self._teacher.learn(lessons, apart, epochs, generation, self._newest)
        self._newest = made
        command = "scripts/train_networks.py " + " ".join(sys.argv[1:])
        origin = Origin(
            command,
            seed=given.seed,
            counts=dict(self._counts),
            choices={"torch": importlib.metadata.version("torch")}
            | {file.name: f"SHA-256 {file_hash(file)}" for file in given.records or []},
            parents={"start": read_model_file(given.start).sha256} if given.start else {},
        )
        given.out.write_bytes(made.model_file(origin).to_bytes())
        learned_s = time.monotonic() - clock
        score = self._hall.score(self._by(made), self._first, given.trial_games, given.playouts, 77)
        found = {
            "generation": generation,
            **self._counts,
            **facts,
            "learned_s": round(learned_s, 1),
            "value_loss": round(float(metrics.held_value_loss), 4),
            "value_error": round(float(metrics.held_value_error), 4),
            "policy_loss": round(float(metrics.held_policy_loss), 4),
            "first": round(float(metrics.held_first), 4),
            "score": round(score, 3),
            "seconds": round(self._seconds(), 1),
        }
        print(json.dumps(found), flush=True)
        self._log.append(found)
        log = json.dumps(self._log, indent=1).replace("NaN", "null")
        given.out.with_suffix(".log.json").write_text(log)


if __name__ == "__main__":
    Loop(arguments()).run()
