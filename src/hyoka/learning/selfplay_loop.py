# SPDX-License-Identifier: Apache-2.0
"""The self-play loop: play games, train a network on them, and test it in a match.

A generation is a folder: game parts, a study of the games, a network trained on the last few
studies, and the gating match. Files are written atomically, and random draws depend only on the
seed and the generation, so the same command resumes a stopped loop.
"""

import dataclasses
import io
import json
import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Final

import numpy as np

from hyoka import _core
from hyoka.arena.elo import Sprt
from hyoka.arena.match import play_match
from hyoka.arena.plan import plan_match
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import derive_seed
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.learning.network_training import (
    Examples,
    NetworkSettings,
    check_size,
    joined,
    learn_network,
)
from hyoka.learning.selfplay_games import PlayedGames, games_of_study, play_games, study_of
from hyoka.parallel import Run, RunStopped, WorkerState
from hyoka.search import SearchSpec
from hyoka.search.assembly import models_for, uct_options
from hyoka.storage.files import open_regular, read_regular, write_bytes
from hyoka.storage.game_ids import GameIds
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.storage.run_folder import RunPlan, from_json, open_run, to_json
from hyoka.study import Study
from hyoka.study.derived_columns import has_visits

PLAN: Final = "plan.json"
NETWORK: Final = "network.nn"
REPORT: Final = "generation.json"
_PART_GAMES: Final = 32
_TREE_MEMORY: Final = 64.0
_APART: Final = 1_000_003
"""Seed offset of matches, so that their openings differ from those of self-play games."""


@dataclass(frozen=True)
class LoopPlan:
    """Settings of a self-play loop."""

    game: str
    search: str = option("uct:preset=paper", "Search of the first generation.", metavar="SPEC")
    with_network: str = option(
        "cutoff=0",
        "Options of the search with a network: cutoff=0 has no playouts, eval_weight=0.5 weighs "
        "both equally.",
        metavar="SETTINGS",
    )
    games: int = option(2000, "Number of games per generation.", min=1)
    playouts: int = option(200, "Number of playouts per search that is learned from.", min=1)
    quick: int = option(
        40, "Number of playouts per quick search, which is not learned from.", min=1
    )
    full: float = option(0.25, "Share of moves with a full search.", above=0, max=1)
    random_plies: int = option(4, "Maximum number of random moves at the start.", min=0)
    sampled_plies: int = option(12, "Number of plies in which moves are sampled by visits.", min=0)
    max_plies: int = option(400, "Maximum length of a game.", min=0)
    window: int = option(4, "Number of recent generations to train on.", min=1)
    blend: float = option(
        0.5, "Weight of the search value in a target; the rest is the result.", min=0, max=1
    )
    gate_games: int = option(
        200, "Maximum number of games to test a new network; 0: accept all.", name="gate", min=0
    )
    gate_playouts: int = option(200, "Playouts in these games.", min=1)
    settings: NetworkSettings = field(default_factory=NetworkSettings)
    seed: int = option(0, "Seed of games, initial weights and order.", min=0)

    def __post_init__(self) -> None:
        check_options(self)
        if self.first_spec.kind != "uct":
            raise ParameterError("search", f"is a tree search, uct, not {self.first_spec.kind}")
        # Validate the search options before any game is played.
        _ = self._with_network
        check_size(self.game, self.settings)

    @property
    def first_spec(self) -> SearchSpec:
        """Search of the first generation."""
        return SearchSpec.from_text(self.search).for_game(self.game)

    @property
    def _with_network(self) -> SearchSpec:
        return SearchSpec.from_text(f"uct:{self.with_network}" if self.with_network else "uct")

    def spec(self, network: Path | ModelFile | None) -> SearchSpec:
        """The search with a network; without one, the first search."""
        if network is None:
            return self.first_spec
        file = (
            network
            if isinstance(network, ModelFile)
            else ModelFile.from_bytes(read_regular(network), path=str(network))
        )
        more: dict[str, Any] = {"eval": file}
        if self.settings.blocks or self.settings.policy_units:
            more |= {"strengths": file, "formula": "puct"}
        return self._with_network.with_settings(**more).for_game(self.game)

    @property
    def text(self) -> str:
        """Canonical text of the plan."""
        plain = asdict(self)
        plain["settings"].pop("device")
        if not self.settings.blocks:  # plans of dense networks keep their stored text
            del plain["settings"]["blocks"], plain["settings"]["channels"]
        return json.dumps(plain, sort_keys=True)

    def core(self, generation: int) -> _core.SelfPlayPlan:
        """Self-play plan of a generation for the core."""
        plan = _core.SelfPlayPlan()
        plan.playouts, plan.quick, plan.full = self.playouts, self.quick, self.full
        plan.random_plies, plan.sampled_plies = self.random_plies, self.sampled_plies
        plan.max_plies = self.max_plies
        plan.seed = derive_seed(self.seed, generation)
        return plan

    @property
    def komi(self) -> float:
        """Komi of the games, if the game has one."""
        komi = game_facts(self.game).komi
        return float("nan") if komi is None else komi


@dataclass(frozen=True)
class PlayTask:
    """Task: play some games."""

    plan: LoopPlan
    generation: int
    spec: SearchSpec
    first: int
    games: int


def play_part(task: PlayTask, worker_state: WorkerState | None = None) -> bytes:
    """Play a task's games and return them as a file; raises RunStopped between games on cancel."""
    spec = task.spec.with_settings(memory=_TREE_MEMORY)
    players = [(uct_options(spec, task.plan.game), models_for(spec, task.plan.game))]
    plan = task.plan.core(task.generation)
    # Randomness depends on the game number, so playing one at a time gives the same games.
    games = []
    for number in range(task.first, task.first + task.games):
        if worker_state is not None and worker_state.is_stopped:
            raise RunStopped
        games.append(play_games(task.plan.game, players, np.array([task.plan.komi]), number, plan))
    played = PlayedGames.joined(games)
    file = io.BytesIO()
    arrays = {each.name: getattr(played, each.name) for each in dataclasses.fields(played)[1:]}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _read_part(game: str, file: Path) -> PlayedGames:
    with open_regular(file) as opened, np.load(opened, allow_pickle=False) as arrays:
        return PlayedGames(game, **{name: arrays[name] for name in arrays.files})


@dataclass(frozen=True)
class Generation:
    """Outcome of a generation."""

    number: int
    games: int
    """Number of games the network was trained on."""
    positions: int
    value_loss: float
    """Cross-entropy in nats on held-out games of the newest generation."""
    policy_loss: float
    first: float
    """Share of held-out positions where the most visited move ranks first."""
    accepted: bool
    score: float | None
    """Score against the previous network at equal playouts; None if no match was played."""
    elo: tuple[float, float, float] | None
    """Elo difference with its interval."""
    gate_games: int
    network: str
    """SHA-256 of the network file."""


class SelfPlayLoop:
    """A loop's folder with the state of its generations."""

    def __init__(self, plan: LoopPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.generations: list[Generation] = []

    def place(self, generation: int) -> Path:
        """Folder of a generation."""
        return self.folder / f"generation-{generation:03}"

    @property
    def best(self) -> Path | None:
        """File of the newest accepted network."""
        let_in = [each for each in self.generations if each.accepted]
        return self.place(let_in[-1].number) / NETWORK if let_in else None

    def run(
        self,
        generations: int,
        *,
        jobs: int = 1,
        executor: Executor | None = None,
        progress: OnProgress | None = None,
        on_generation: Callable[[Generation], None] | None = None,
    ) -> None:
        """Run until there are `generations` of them; one process per folder at a time."""
        run = RunPlan("a self-play loop", PLAN, json.loads(self.plan.text))
        with open_run(self.folder, run, "playing and learning"):
            self.generations = []
            for number in range(generations):
                generation = self._load_or_create(number, jobs, executor, progress)
                self.generations.append(generation)
                if on_generation is not None:
                    on_generation(generation)

    def _load_or_create(
        self, number: int, jobs: int, executor: Executor | None, progress: OnProgress | None
    ) -> Generation:
        """Load a finished generation or create it."""
        report = self.place(number) / REPORT
        if not report.exists():
            self._play(number, jobs, executor, progress)
            self._keep_study(number)
            learned = self._learn(number, jobs, progress)
            _write(report, self._gate(number, learned, jobs, executor, progress))
        generation = _generation(report)
        if generation.network != _sha256(self.place(number) / NETWORK):
            raise StudyError(f"{self.place(number)}: its network was changed")
        return generation

    def _play(
        self, number: int, jobs: int, executor: Executor | None, progress: OnProgress | None
    ) -> None:
        parts = self.place(number) / "parts"
        parts.mkdir(parents=True, exist_ok=True)
        spec = self.plan.spec(self.best)
        starts = range(0, self.plan.games, _PART_GAMES)
        missing = [first for first in starts if not (parts / f"{first:07}.npz").exists()]
        tally = Tally(progress, f"playing {number}", self.plan.games, "games")
        tally.reach(self.plan.games - sum(self._part_games(first) for first in missing))
        tasks = (
            PlayTask(self.plan, number, spec, first, self._part_games(first)) for first in missing
        )
        with Run(play_part, jobs=jobs, executor=executor, what="some games") as run:
            for done in run.in_order(tasks):
                write_bytes(parts / f"{done.task.first:07}.npz", done.result)
                tally.add(done.task.games)

    def _part_games(self, first: int) -> int:
        return min(_PART_GAMES, self.plan.games - first)

    def _keep_study(self, number: int) -> None:
        folder = self.place(number) / "study"
        if has_visits(folder):
            return
        shutil.rmtree(folder, ignore_errors=True)  # an incomplete study without visits
        files = sorted((self.place(number) / "parts").glob("*.npz"))
        played = PlayedGames.joined([_read_part(self.plan.game, file) for file in files])
        study_of(played, folder, self.plan.spec(self.best).title)

    def _learn(self, number: int, jobs: int, progress: OnProgress | None) -> Generation:
        """Train a network on the last generations; hold out a twentieth of the newest."""
        file = self.place(number) / NETWORK
        summary = file.with_suffix(".json")
        if file.exists() and summary.exists():
            return _generation(summary)
        first = max(0, number - self.plan.window + 1)
        games = [
            games_of_study(Study.open(self.place(each) / "study"))
            for each in range(first, number + 1)
        ]
        apart = np.arange(len(games[-1])) % 20 == 0
        held_out = games[-1].some(apart).examples(blend=self.plan.blend, threads=jobs)
        lessons = [*games[:-1], games[-1].some(~apart)]

        def draw(epoch: int) -> Examples:
            seed = derive_seed(self.plan.seed, number, epoch)
            return joined(
                [each.examples(seed=seed, blend=self.plan.blend, threads=jobs) for each in lessons]
            )

        epochs = self.plan.settings.epochs
        tally = Tally(progress, f"learning {number}", epochs, "epochs")
        learned = learn_network(
            draw, held_out=held_out, settings=self.plan.settings, tell=lambda _: tally.add()
        )
        counts = {
            "generation": number,
            "games": sum(map(len, lessons)),
            "positions": sum(int((~np.isnan(each.values)).sum()) for each in lessons),
        }
        origin = Origin(
            f"hyoka learn selfplay {self.plan.game}",
            seed=self.plan.seed,
            counts=counts,
            choices={"plan": self.plan.text},
            parents=self._players(first, number),
            learned_games=reduce(
                or_, (GameIds.of_moves(each.moves, each.move_offsets) for each in lessons)
            ),
        )
        model_file = learned.network.model_file(origin)
        last = learned.epochs[-1]
        generation = Generation(
            number,
            counts["games"],
            counts["positions"],
            float(last.held_value_loss),
            float(last.held_policy_loss),
            float(last.held_first),
            accepted=self.plan.gate_games == 0,
            score=None,
            elo=None,
            gate_games=0,
            network=model_file.sha256,
        )
        model_file.save(file)
        _write(summary, generation)
        return generation

    def _players(self, first: int, last: int) -> dict[str, str]:
        """The networks that played the training games, by generation."""
        players, player = {}, ""
        for number in range(last + 1):
            if number >= first and player:
                players[f"player of generation {number}"] = player
            if number < last:
                generation = _generation((self.place(number) / NETWORK).with_suffix(".json"))
                player = generation.network if generation.accepted else player
        return players

    def _gate(
        self,
        number: int,
        generation: Generation,
        jobs: int,
        executor: Executor | None,
        progress: OnProgress | None,
    ) -> Generation:
        """Test the network against the previous one with a sequential test."""
        if self.plan.gate_games == 0:
            return generation
        playouts = self.plan.gate_playouts
        new = self.plan.spec(self.place(number) / NETWORK).with_settings(playouts=playouts)
        old = self.plan.spec(self.best).with_settings(playouts=playouts)
        match = plan_match(
            new, old, game=self.plan.game, seed=derive_seed(self.plan.seed + _APART, number)
        )
        test = Sprt(0, 40)
        result = play_match(
            match,
            self.place(number) / "gate",
            games=self.plan.gate_games,
            sprt=test,
            jobs=jobs,
            executor=executor,
            progress=progress,
        )
        duel = result.duels[0]
        return dataclasses.replace(
            generation,
            accepted=result.verdict == "H1",
            score=duel.rate.value,
            elo=(duel.elo.value, duel.elo.low, duel.elo.high),
            gate_games=result.standing.games,
        )


def read_loop(folder: Path) -> SelfPlayLoop:
    """Open an existing loop folder for reading; raises StudyError if there is none."""
    try:
        values = json.loads(read_regular(folder / PLAN))
        settings = NetworkSettings(**values.pop("settings"))
        loop = SelfPlayLoop(LoopPlan(**values, settings=settings), folder)
        reports = sorted(folder.glob(f"generation-*/{REPORT}"))
        loop.generations = [_generation(report) for report in reports]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StudyError(f"{folder}: no generations that can be read: {error}") from error
    return loop


def _write(file: Path, generation: Generation) -> None:
    write_bytes(file, json.dumps(to_json(generation), indent=1).encode())


def _generation(file: Path) -> Generation:
    generation: Generation = from_json(Generation, json.loads(read_regular(file)))
    return generation


def _sha256(file: Path) -> str:
    return ModelFile.from_bytes(read_regular(file), path=str(file)).sha256
