# SPDX-License-Identifier: Apache-2.0
"""Verification of a learned objective: matches against evaluations of baseline objectives."""

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

from hyoka.arena.elo import Sprt
from hyoka.arena.match import MatchResult, play_match
from hyoka.arena.plan import MatchPlan, plan_match
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.learning.comparison_training import Lessons
from hyoka.learning.objective_search.objective_loop import SearchPlan, TrainingTask, train
from hyoka.learning.objectives import Combination, Comparison, Objective
from hyoka.parallel import Run
from hyoka.storage.files import write_bytes

PROPOSED: Final = "proposed"
_APART: Final = 1_000_003
"""Seed offset, so that openings differ from those of the search."""

PlayMatch = Callable[[MatchPlan, Path, int, Sprt | None], MatchResult]


def trained_files(  # noqa: PLR0913 - a keyword for each choice
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
    with Run(train, jobs=jobs, executor=executor, what="a training") as run:
        for done in run.in_order(tasks):
            write_bytes(files[missing[done.task.number]], done.result)
            tally.add()
    return files


def baselines() -> dict[str, Objective]:
    """Baseline objectives."""
    return {each.name: each() for each in (Comparison, Combination)}


def verify(  # noqa: PLR0913 - a keyword for each choice
    objective: Objective,
    lessons: Lessons,
    plan: SearchPlan,
    folder: Path,
    *,
    games: int,
    sprt: Sprt | None = None,
    nodes: int | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
    play: PlayMatch | None = None,
) -> list[MatchResult]:
    """Play matches between the evaluation of an objective and those of the baselines.

    Openings and seeds differ from those of the search for the objective. A sequential test may end
    a match early.
    """
    objectives = {PROPOSED: objective} | baselines()
    files = trained_files(
        objectives, lessons, plan, folder, jobs=jobs, executor=executor, progress=progress
    )
    if play is None:

        def play(match: MatchPlan, place: Path, count: int, test: Sprt | None) -> MatchResult:
            return play_match(
                match,
                place,
                games=count,
                sprt=test,
                jobs=jobs,
                executor=executor,
                progress=progress,
            )

    pairs = [(PROPOSED, Comparison.name), (PROPOSED, Combination.name)]
    pairs.append((Combination.name, Comparison.name))
    found = []
    for one, other in pairs:
        specs = [
            f"{name}=ab:nodes={nodes or plan.nodes},hash=1,eval={files[name]}"
            for name in (one, other)
        ]
        match = plan_match(
            *specs,
            game=lessons.games.game,
            openings=f"random:{plan.opening_plies}",
            seed=plan.seed + _APART,
            max_plies=400,
        )
        found.append(play(match, folder / f"{one}-v-{other}", games, sprt))
    return found
