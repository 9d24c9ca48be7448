# SPDX-License-Identifier: Apache-2.0
"""Objective searches behind the tables and figures of Sato 2013: data, constants, seeds, null."""

import dataclasses
import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.context import ExperimentContext
from hyoka.arena import MatchResult, plan_match
from hyoka.foundation.text import counted
from hyoka.learning.comparison_training import Lessons, TrainingSettings
from hyoka.learning.objective_search import (
    DuelTask,
    ObjectiveSearch,
    SearchPlan,
    play,
    trained_files,
)
from hyoka.learning.objectives import (
    CONSTANTS,
    VECTOR_SIZE,
    Combination,
    Objective,
    Parameterized,
)
from hyoka.parallel import Run
from hyoka.records import read_records
from hyoka.storage.files import write_text

SEEDS: Final = 3
"""Independent searches of each kind."""
GRID: Final = tuple(
    (CONSTANTS[0] * steep, margin, CONSTANTS[2], outcome)
    for steep in (0.5, 1.0, 2.0)
    for margin in (0.0, 4.0, 16.0, 64.0)
    for outcome in (4.0, 16.0, 64.0)
)
"""Candidates for c1 to c4. c3 stays 1: only its ratio to c4 matters."""
_APART: Final = 3_000_017
"""Seed offset, so that openings differ from those of searches and matches."""
_MATCH_APART: Final = 2_000_003
_MAX_PLIES: Final = 400


@dataclass(frozen=True, slots=True)
class Subject:
    """Training data: features of a game, and positions from records."""

    game: str
    features: str
    files: tuple[str, ...]
    positions: int
    every: int = 1
    """Use every n-th game."""
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def lessons(self, context: ExperimentContext) -> Lessons:
        """The positions, with their categories."""
        read = read_records(*(context.records.file(file) for file in self.files))
        games = [
            record
            for record in itertools.islice(read, 0, None, self.every)
            if len(record) and record.result is not None
        ]
        lessons = Lessons.of_records(games, positions=self.positions, seed=context.seed)
        return lessons.with_categories(threads=context.jobs, progress=context.progress)


@dataclass(frozen=True, slots=True)
class Amount:
    """Sizes of training, search and matches."""

    subject: Subject
    elsewhere: Subject
    """Training data of the second setting, where the objective is reused."""
    population: int
    steps: int
    games: int
    nodes: int
    rate: float
    best: int
    verified: int
    """Games per match at the end."""
    opponent_nodes: int
    """Nodes per move of the third program."""
    tried: int = 264
    """Games of each candidate for the constants, against `Combination`."""
    seeds: int = SEEDS

    def plan(self, seed: int, constants: tuple[float, ...]) -> SearchPlan:
        """Plan of the objective search."""
        return SearchPlan(
            features=self.subject.features,
            training=self.subject.training,
            population=self.population,
            steps=self.steps,
            games=self.games,
            nodes=self.nodes,
            rate=self.rate,
            best=self.best,
            constants=constants,
            seed=seed,
        )


@dataclass(frozen=True)
class Trial:
    """A candidate for the constants with its games against `Combination`."""

    constants: tuple[float, ...]
    wins: int
    draws: int
    losses: int

    @property
    def points(self) -> float:
        """Points per game."""
        games = self.wins + self.draws + self.losses
        return (self.wins + self.draws / 2) / max(games, 1)


def best_trial(trials: list[Trial]) -> Trial:
    """The candidate with the most points, the first of equals."""
    return max(trials, key=lambda trial: trial.points)


def tried_constants(
    context: ExperimentContext, name: str, subject: Subject, lessons: Lessons, amount: Amount
) -> list[Trial]:
    """Play every candidate of the grid against `Combination`; what a file has is not played again.

    All candidates meet the same openings, which no later match has.
    """
    folder = context.place(f"002-constants-{name}")
    file = folder / "trials.json"
    if file.exists():
        return [Trial(**{**each, "constants": tuple(each["constants"])})
                for each in json.loads(file.read_text())]  # fmt: skip
    plan = dataclasses.replace(
        amount.plan(context.seed + _APART, CONSTANTS),
        features=subject.features,
        training=subject.training,
    )
    objectives: dict[str, Objective] = {Combination.name: Combination()} | {
        str(number): dataclasses.replace(plan.initial, constants=constants)
        for number, constants in enumerate(GRID)
    }
    files = trained(context, objectives, lessons, plan, folder)
    contents = {each: path.read_bytes() for each, path in files.items()}
    pairs = max(1, amount.tried // 2)
    tasks = [
        DuelTask(subject.game, 0, 1, (contents[each], contents[Combination.name]), pairs, plan)
        for each in map(str, range(len(GRID)))
    ]
    with Run(play, jobs=context.jobs, executor=context.executor, what="some games") as run:
        results = [done.result for done in run.in_order(tasks)]
    trials = [
        Trial(constants, each.count(1), each.count(0), each.count(-1))
        for constants, each in zip(GRID, results, strict=True)
    ]
    write_text(file, json.dumps([dataclasses.asdict(trial) for trial in trials], indent=1))
    return trials


def trained(
    context: ExperimentContext,
    objectives: dict[str, Objective],
    lessons: Lessons,
    plan: SearchPlan,
    folder: Path,
) -> dict[str, Path]:
    """Train an evaluation with each objective."""
    return trained_files(
        objectives,
        lessons,
        plan,
        folder,
        jobs=context.jobs,
        executor=context.executor,
        progress=context.progress,
    )


@dataclass(frozen=True)
class Searches:
    """The searches of a scale, one for each seed."""

    amount: Amount
    lessons: Lessons
    trials: list[Trial]
    runs: tuple[ObjectiveSearch, ...]

    @property
    def plan(self) -> SearchPlan:
        """Plan of the first search."""
        return self.runs[0].plan

    @property
    def proposed(self) -> dict[str, Parameterized]:
        """Their results by name."""
        return {f"proposed {number}": run.mean for number, run in enumerate(self.runs, 1)}

    @property
    def about(self) -> str:
        """The searches in a sentence."""
        amount, [run, *_] = self.amount, self.runs
        constants = ", ".join(f"{each:g}" for each in run.plan.constants)
        return (
            f"{run.game}, {amount.subject.features}: {amount.subject.positions:,} positions; "
            f"{counted(len(self.runs), 'PBILc run')} with a population of "
            f"{amount.population}, {len(run.steps)} steps, {run.games:,} games at "
            f"{amount.nodes:,} nodes a move, α = {amount.rate:g}, from c = ({constants}), the best "
            f"of {len(self.trials)} candidates in {amount.tried:,} games each"
        )


def run_searches(
    context: ExperimentContext, scale: str, amount: Amount, grid: str | None = None
) -> Searches:
    """Run the searches of a scale to their end; all experiments share them.

    `grid` names the scale whose grid gives the constants, if it is another one.
    """
    lessons = amount.subject.lessons(context)
    trials = tried_constants(context, grid or scale, amount.subject, lessons, amount)
    constants = best_trial(trials).constants
    runs = []
    for number in range(amount.seeds):
        plan = amount.plan(context.seed + number, constants)
        search = ObjectiveSearch(
            plan, lessons, context.place(f"002-objective-{scale}-{number + 1}")
        )
        search.run(jobs=context.jobs, executor=context.executor, progress=context.progress)
        runs.append(search)
    return Searches(amount, lessons, trials, tuple(runs))


def null_means(plan: SearchPlan, runs: int, seed: int) -> NDArray[np.float64]:
    """Final means of searches in which all individuals play equally well, one per row.

    Each pair's score is noise, drawn once, as the search keeps results of pairs. The search itself
    is the same: its optimizer, its population and its replacements.
    """
    rng = np.random.default_rng(seed)
    means = np.empty((runs, VECTOR_SIZE))
    for row in range(runs):
        optimizer = dataclasses.replace(
            plan, seed=int(rng.integers(2**31)), steps=max(plan.steps, 1)
        ).new_optimizer()
        vectors = optimizer.ask()
        while len(vectors) < plan.population:
            vectors = np.concatenate([vectors, optimizer.ask()])
        vectors = vectors[: plan.population]
        scores = np.triu(rng.normal(size=(plan.population,) * 2), 1)
        scores -= scores.T
        new = np.ones(plan.population, bool)
        for _ in range(plan.steps):
            optimizer.tell(vectors, scores.sum(axis=1), new)
            asked = optimizer.ask()
            places = np.argsort(scores.sum(axis=1), kind="stable")[: len(asked)]
            vectors[places] = asked
            for place in places:
                scores[place] = rng.normal(size=plan.population)
                scores[:, place] = -scores[place]
                scores[place, place] = 0.0
            new = np.isin(np.arange(plan.population), places)
        means[row] = optimizer.mean
    return means


def match(  # noqa: PLR0917 - all that a match is made of
    context: ExperimentContext,
    game: str,
    plan: SearchPlan,
    one: tuple[str, Path | str],
    other: tuple[str, Path | str],
    folder: Path,
    games: int,
    other_nodes: int | None = None,
) -> MatchResult:
    """Play a match of alpha-beta with two evaluations, from openings not used before."""
    nodes = (plan.nodes, other_nodes or plan.nodes)
    specs = (
        f"{name}=ab:nodes={each},hash=1,eval={file}"
        for (name, file), each in zip((one, other), nodes, strict=True)
    )
    planned = plan_match(
        *specs,
        game=game,
        openings=f"random:{plan.opening_plies}",
        seed=context.seed + _MATCH_APART,
        max_plies=_MAX_PLIES,
    )
    return context.play(planned, folder, games)
