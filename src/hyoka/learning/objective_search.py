# SPDX-License-Identifier: Apache-2.0
"""Search for objectives whose trained evaluations play strongest (Sato 2013).

Each objective of a population trains an evaluation; games within the population estimate the Elo
of each. In every step the distribution of objectives moves, and newly drawn individuals replace
the worst. Results between remaining individuals still count.

A journal records every event before it takes effect, so a stopped search resumes from it. Draws,
training and games depend only on the seed and the numbers of individuals.
"""

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.arena.match import MatchResult
from hyoka.arena.openings import random_openings
from hyoka.arena.plan import MatchPlan, plan_match
from hyoka.arena.ratings import rate_players
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import derive_seed
from hyoka.foundation.options import check_options, option
from hyoka.foundation.progress import OnProgress, Progress, Tally
from hyoka.games import game_type
from hyoka.learning.comparison_training import Lessons, TrainingSettings, learn_comparison
from hyoka.learning.objective_optimizers import (
    OPTIMIZERS,
    CmaEs,
    Optimizer,
    Pbilc,
    RandomSearch,
    Spsa,
)
from hyoka.learning.objectives import (
    CONSTANTS,
    VECTOR_SIZE,
    Combination,
    Comparison,
    Objective,
    Parameterized,
    objective_model_file,
    parse_constants,
)
from hyoka.models.sparse import SparseEvaluation
from hyoka.parallel import Run, WorkerState
from hyoka.search import SearchSpec, ab
from hyoka.search.assembly import alpha_beta_options, models_for
from hyoka.storage.files import read_regular, write_bytes
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.storage.run_folder import Journal, RunPlan, from_json, journal_lines, open_run

JOURNAL: Final = "journal.jsonl"
PLAN: Final = "plan.json"
EVALUATIONS: Final = "evaluations"
_LONGEST_GAME: Final = 400


@dataclass(frozen=True)
class SearchPlan:
    """Settings of an objective search; the defaults are for an ordinary machine."""

    features: str
    training: TrainingSettings = field(default_factory=TrainingSettings)
    """Training settings of each individual, except the objective."""
    population: int = option(12, "Number of objectives in the population.", min=3)
    steps: int = option(100, "Number of optimization steps of the distribution.", min=0)
    games: int = option(400, "Number of games per new individual.", min=2)
    nodes: int = option(300, "Maximum number of nodes per search (alpha-beta).", min=1)
    opening_plies: int = option(8, "Number of random moves before a game.", min=0)
    optimiser: str = option(
        Pbilc.name,
        "Optimization algorithm of the distribution.",
        name="optimizer",
        choices=OPTIMIZERS,
    )
    rate: float = option(0.05, "Learning rate of the distribution (α of PBILc).", above=0)
    best: int = option(
        5, "Number of best individuals that determine the deviation (K of PBILc).", min=1
    )
    start: float = option(1.0, "Initial mean of each coordinate.")
    deviation: float = option(0.3, "Initial standard deviation.", above=0)
    constants: tuple[float, ...] = option(
        CONSTANTS,
        "Initial slope, margin, weight of moves and weight of outcomes (c1 to c4).",
        metavar="C1,C2,C3,C4",
        parse=parse_constants,
    )
    seed: int = option(0, "Seed of draws, training and games.", min=0)

    def __post_init__(self) -> None:
        check_options(self)
        if self.games < 2 * (self.population - 1):
            raise ParameterError(
                "games", f"are at least {2 * (self.population - 1)}: a pair against each other one"
            )

    def new_optimizer(self) -> Optimizer:
        """Create the optimizer in its initial state."""
        common: dict[str, Any] = {
            "start": self.start,
            "deviation": self.deviation,
            "seed": self.seed,
        }
        if self.optimiser == Pbilc.name:
            return Pbilc(VECTOR_SIZE, rate=self.rate, best=self.best, **common)
        if self.optimiser == CmaEs.name:
            return CmaEs(VECTOR_SIZE, batch=max(4, self.population // 2), **common)
        if self.optimiser == Spsa.name:
            return Spsa(VECTOR_SIZE, steps=self.steps, **common)
        return RandomSearch(VECTOR_SIZE, **common)

    def objective(self, factors: NDArray[np.float64]) -> Parameterized:
        """The objective of a vector of factors."""
        return Parameterized.from_vector(factors, self.constants)

    @property
    def initial(self) -> Parameterized:
        """The objective at the initial mean."""
        return self.objective(np.full(VECTOR_SIZE, self.start))

    @property
    def pairs(self) -> int:
        """Game pairs per pairing of individuals."""
        return max(1, round(self.games / (2 * (self.population - 1))))

    @property
    def text(self) -> str:
        """Canonical text of the plan, without the number of steps."""
        plain = asdict(dataclasses.replace(self, training=TrainingSettings(), steps=0))
        if self.constants == CONSTANTS:
            del plain["constants"]
        training = {"training": self.training.text, "passes": self.training.passes}
        return json.dumps(plain | training, sort_keys=True)


@dataclass(frozen=True)
class TrainingTask:
    """Task: train one individual."""

    number: int
    objective: Objective
    lessons: Lessons
    plan: SearchPlan


@dataclass(frozen=True)
class DuelTask:
    """Task: play games between two individuals."""

    game: str
    one: int
    other: int
    evaluations: tuple[bytes, bytes]
    pairs: int
    plan: SearchPlan


def train(task: TrainingTask, worker_state: WorkerState | None = None) -> bytes:
    """Train an evaluation with the task's objective and return its file content."""
    del worker_state
    settings = dataclasses.replace(task.plan.training, objective=task.objective)
    start = SparseEvaluation.starting(task.lessons.games.game, task.plan.features)
    training = learn_comparison(task.lessons, settings=settings, start=start)
    origin = Origin(
        "hyoka learn objective",
        seed=task.plan.seed,
        counts={"games": len(task.lessons.games.ids), "individual": task.number},
    )
    return training.evaluation().model_file(origin).to_bytes()


def play(task: DuelTask, worker_state: WorkerState | None = None) -> list[int]:
    """Play games, alternating colors; return results for the first individual: 1, 0 or -1."""
    del worker_state
    spec = ab(nodes=task.plan.nodes, hash=1)
    models = [models_for(_with(spec, content), task.game) for content in task.evaluations]
    openings = openings_for(
        task.game,
        task.plan.opening_plies,
        task.pairs,
        seed=derive_seed(task.plan.seed, task.one, task.other),
    )
    results = _core.duels(
        task.game,
        alpha_beta_options(spec),
        models[0],
        models[1],
        openings,
        task.plan.nodes,
        _LONGEST_GAME,
    )
    return [int(result) for result in results]


def _with(spec: SearchSpec, content: bytes) -> SearchSpec:
    return spec.with_settings(eval=ModelFile.from_bytes(content))


def openings_for(game: str, plies: int, count: int, *, seed: int) -> list[list[int]]:
    """Random openings as move codes."""
    start = game_type(game)()
    openings = []
    for opening in itertools.islice(random_openings(game, plies, seed), count):
        line, codes = start.line(), []
        for move in opening.moves:
            codes.append(int(line.parse(move).code))
            line = line.play(move)
        openings.append(codes)
    return openings


@dataclass(frozen=True)
class Step:
    """State of the search when the distribution moved."""

    number: int
    elo: dict[int, float]
    """Elo by individual of the population, with mean 0."""
    mean: tuple[float, ...]
    """Mean of the distribution after the step."""
    deviation: tuple[float, ...]
    dropped: tuple[int, ...]
    new: tuple[int, ...]
    """Individuals that replaced the dropped ones."""

    @property
    def best(self) -> int:
        """The strongest individual."""
        return max(self.elo, key=lambda each: (self.elo[each], -each))


class ObjectiveSearch:
    """State of an objective search."""

    def __init__(self, plan: SearchPlan, lessons: Lessons, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.steps: list[Step] = []
        self.vectors: dict[int, NDArray[np.float64]] = {}
        self.population: list[int] = []
        self._new: list[int] = []
        self._lessons = lessons
        self._optimizer = plan.new_optimizer()
        self._results: dict[tuple[int, int], list[int]] = {}
        self._begin()

    @property
    def game(self) -> str:
        """Name of the game."""
        return self._lessons.games.game

    @property
    def mean(self) -> Parameterized:
        """The objective at the mean of the distribution: the result so far."""
        return self.plan.objective(self._optimizer.mean)

    def elo(self) -> dict[int, float]:
        """Elo of the population, with mean 0. Pre: all have played."""
        first, second, points, pairs = [], [], [], []
        for (one, other), results in self._results.items():
            if one not in self.population or other not in self.population:
                continue
            places = self.population.index(one), self.population.index(other)
            for number, result in enumerate(results):
                swapped = number % 2 == 1
                first.append(places[1] if swapped else places[0])
                second.append(places[0] if swapped else places[1])
                points.append((1 - result if swapped else 1 + result) / 2)
                pairs.append((one, other, number // 2))
        clusters = np.unique(np.array(pairs), axis=0, return_inverse=True)[1]
        names = [str(each) for each in self.population]
        rated = rate_players(first, second, points, names, clusters=clusters, intervals=False)
        return {int(each.name): each.elo for each in rated.players}

    def games_of(self, individual: int) -> int:
        """Number of games an individual has played."""
        return sum(len(results) for pair, results in self._results.items() if individual in pair)

    @property
    def games(self) -> int:
        """Number of games played in total."""
        return sum(map(len, self._results.values()))

    def file_of(self, individual: int) -> Path:
        """Path of an individual's evaluation."""
        return self.folder / EVALUATIONS / f"{individual}.eval"

    def run(
        self,
        *,
        jobs: int = 1,
        executor: Executor | None = None,
        steps: int | None = None,
        progress: OnProgress | None = None,
        on_step: Callable[["ObjectiveSearch", Step], None] | None = None,
    ) -> None:
        """Run to the end of the plan, or for `steps` more steps."""
        path = self.folder / JOURNAL
        with (
            open_run(self.folder, self._run_plan(), "searching for an objective"),
            Journal(path) as journal,
        ):
            (self.folder / EVALUATIONS).mkdir(exist_ok=True)
            self._replay(_entry(path, *line) for line in enumerate(journal_lines(path), 1))
            last = self.plan.steps if steps is None else len(self.steps) + steps
            while True:
                self._train_missing(journal, jobs, executor, progress)
                self._play_missing(journal, jobs, executor, progress)
                if len(self.steps) >= min(last, self.plan.steps):
                    return
                step = self._moved()
                journal.add(json.dumps({"step": _plain(step)}).encode())
                if on_step is not None:
                    on_step(self, step)
                self._tell(progress)

    def _begin(self) -> None:
        while len(self.population) < self.plan.population:
            self._add(self._optimizer.ask())
        self.population = self.population[: self.plan.population]
        self._new = list(self.population)

    def _add(self, rows: NDArray[np.float64]) -> list[int]:
        begin = len(self.vectors)
        numbers = list(range(begin, begin + len(rows)))
        self.vectors.update(zip(numbers, rows, strict=True))
        self.population += numbers
        return numbers

    def _moved(self) -> Step:
        """Move the distribution, drop the worst individuals, and draw their replacements."""
        # Rounding keeps the last bits of the Elo fit from affecting the search.
        elo = {each: round(value, 3) for each, value in self.elo().items()}
        vectors = np.array([self.vectors[each] for each in self.population])
        fitness = np.array([elo[each] for each in self.population])
        new = np.isin(self.population, self._new)
        self._optimizer.tell(vectors, fitness, new)
        drawn = self._optimizer.ask()
        order = sorted(self.population, key=lambda each: (elo[each], each))
        dropped = tuple(order[: len(drawn)])
        self.population = [each for each in self.population if each not in dropped]
        self._new = self._add(drawn)
        step = Step(
            len(self.steps) + 1,
            {each: elo[each] for each in order},
            tuple(self._optimizer.mean.tolist()),
            tuple(self._optimizer.deviation.tolist()),
            dropped,
            tuple(self._new),
        )
        self.steps.append(step)
        return step

    def _replay(self, lines: Iterable[dict[str, Any]]) -> None:
        for line in lines:
            if "games" in line:
                try:
                    one, other = line["games"]
                    self._results[one, other] = [int(each) for each in line["results"]]
                except (KeyError, TypeError, ValueError) as error:
                    raise StudyError(f"{self.folder / JOURNAL}: damaged: {error!r}") from error
            elif "step" in line:
                step = self._moved()
                if _plain(step) != line["step"]:
                    raise StudyError(
                        f"{self.folder}: its journal tells of other games: it was begun with "
                        "another version, or changed"
                    )

    def _train_missing(
        self,
        journal: Journal,
        jobs: int,
        executor: Executor | None,
        progress: OnProgress | None,
    ) -> None:
        missing = [each for each in self.population if not self.file_of(each).exists()]
        tasks = [
            TrainingTask(each, self.plan.objective(self.vectors[each]), self._lessons, self.plan)
            for each in missing
        ]
        for done in _all_done(train, tasks, jobs, executor, "a training"):
            write_bytes(self.file_of(done[0].number), done[1])
            journal.add(json.dumps({"trained": done[0].number}).encode())
            self._tell(progress, f"trained {done[0].number}")

    def _play_missing(
        self,
        journal: Journal,
        jobs: int,
        executor: Executor | None,
        progress: OnProgress | None,
    ) -> None:
        contents = {each: read_regular(self.file_of(each)) for each in self.population}
        tasks = [
            DuelTask(
                self.game,
                one,
                other,
                (contents[one], contents[other]),
                self.plan.pairs,
                self.plan,
            )
            for one, other in itertools.combinations(sorted(self.population), 2)
            if (one, other) not in self._results
        ]
        for task, results in _all_done(play, tasks, jobs, executor, "some games"):
            played = {"games": [task.one, task.other], "results": results}
            journal.add(json.dumps(played).encode())
            self._results[task.one, task.other] = results
            self._tell(progress, f"{task.one} v {task.other}")

    def _tell(self, progress: OnProgress | None, note: str = "") -> None:
        if progress is not None:
            steps = max(self.plan.steps, 1)
            progress(Progress("objectives", len(self.steps), steps, "steps", note))

    def _run_plan(self) -> RunPlan:
        lessons = hashlib.sha256(self._lessons.games.moves.tobytes())
        lessons.update(self._lessons.results.tobytes())
        identity = {"plan": self.plan.text, "games": lessons.hexdigest(), "game": self.game}
        text = json.dumps(identity, indent=1)
        values = _identity(text)
        return RunPlan(
            "a search for an objective",
            PLAN,
            values,
            text,
            lambda file: _identity(read_regular(file)),
        )


def _identity(text: str | bytes) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(text)
    return {**values, "plan": json.loads(values["plan"])}


def _all_done(
    work: Callable[[Any, WorkerState], Any],
    tasks: list[Any],
    jobs: int,
    executor: Executor | None,
    what: str,
) -> Iterator[tuple[Any, Any]]:
    """Yield tasks with their results, in the order of the tasks."""
    if not tasks:
        return
    with Run(work, jobs=jobs, executor=executor, what=what) as run:
        for done in run.in_order(tasks):
            yield done.task, done.result


def _entry(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Parse a line of the journal."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise StudyError(
            f"{path}, line {number}: damaged; remove this line and those after it, and the same "
            "command resumes from there"
        )
    return entry


def _plain(step: Step) -> dict[str, Any]:
    """Convert a step to a journal line."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(step)))
    return plain


def read_steps(folder: Path) -> list[Step]:
    """Read the steps of a search, even while it is running; raises StudyError."""
    try:
        lines = read_regular(folder / JOURNAL).split(b"\n")[:-1]
        entries = map(json.loads, lines)
        return [from_json(Step, each["step"]) for each in entries if "step" in each]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StudyError(f"{folder}: no steps that can be read: {error}") from error


def save_objective(search: ObjectiveSearch, path: Path, origin: Origin) -> None:
    """Write the best objective so far to a file."""
    objective_model_file(search.mean, origin).save(path)


PROPOSED: Final = "proposed"
START: Final = "start"
_APART: Final = 1_000_003
"""Seed offset, so that openings differ from those of the search."""


def trained_files(
    objectives: dict[str, Objective],
    lessons: Lessons,
    plan: SearchPlan,
    folder: Path,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> dict[str, Path]:
    """Train an evaluation for each objective on the same games; existing files are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.eval" for name in objectives}
    missing = [name for name, file in files.items() if not file.exists()]
    tasks = [
        TrainingTask(number, objectives[name], lessons, plan) for number, name in enumerate(missing)
    ]
    tally = Tally(progress, "training", len(missing), "evaluations")
    for task, content in _all_done(train, tasks, jobs, executor, "a training"):
        write_bytes(files[missing[task.number]], content)
        tally.add()
    return files


def opponents(plan: SearchPlan) -> dict[str, Objective]:
    """Objectives that a search's result plays: the usual ones, and where the search began."""
    return {each.name: each() for each in (Comparison, Combination)} | {START: plan.initial}


def verify(
    objective: Objective,
    lessons: Lessons,
    plan: SearchPlan,
    folder: Path,
    play: Callable[[MatchPlan, Path], MatchResult],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> list[MatchResult]:
    """Play matches between the evaluation of an objective and those of its opponents.

    `play` plays a match in a folder. Openings and seeds differ from those of the search for the
    objective.
    """
    objectives = {PROPOSED: objective} | opponents(plan)
    files = trained_files(
        objectives, lessons, plan, folder, jobs=jobs, executor=executor, progress=progress
    )
    pairs = [(PROPOSED, name) for name in (Comparison.name, Combination.name, START)]
    pairs.append((Combination.name, Comparison.name))
    results = []
    for one, other in pairs:
        specs = [f"{name}=ab:nodes={plan.nodes},hash=1,eval={files[name]}" for name in (one, other)]
        match = plan_match(
            *specs,
            game=lessons.games.game,
            openings=f"random:{plan.opening_plies}",
            seed=plan.seed + _APART,
            max_plies=400,
        )
        results.append(play(match, folder / f"{one}-v-{other}"))
    return results
