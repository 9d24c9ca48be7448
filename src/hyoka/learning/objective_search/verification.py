# SPDX-License-Identifier: Apache-2.0
"""Verification of a learned objective: matches against evaluations of baseline objectives."""

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

from hyoka.arena.match import MatchResult
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
    play: Callable[[MatchPlan, Path], MatchResult],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> list[MatchResult]:
    """Play matches between the evaluation of an objective and those of the baselines.

    `play` plays a match in a folder. Openings and seeds differ from those of the search for the
    objective.
    """
    objectives = {PROPOSED: objective} | baselines()
    files = trained_files(
        objectives, lessons, plan, folder, jobs=jobs, executor=executor, progress=progress
    )
    pairs = [(PROPOSED, Comparison.name), (PROPOSED, Combination.name)]
    pairs.append((Combination.name, Comparison.name))
    found = []
    for one, other in pairs:
        specs = [f"{name}=ab:nodes={plan.nodes},hash=1,eval={files[name]}" for name in (one, other)]
        match = plan_match(
            *specs,
            game=lessons.games.game,
            openings=f"random:{plan.opening_plies}",
            seed=plan.seed + _APART,
            max_plies=400,
        )
        found.append(play(match, folder / f"{one}-v-{other}"))
    return found
