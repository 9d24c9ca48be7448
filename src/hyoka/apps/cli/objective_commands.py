# SPDX-License-Identifier: Apache-2.0
"""The command that learns objectives."""

import contextlib
import functools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hyoka.apps.cli.command_options import Cluster, Jobs, OutputFolder, Plan, Where, option
from hyoka.apps.cli.evaluation_commands import Features, Lesson, lessons_of
from hyoka.apps.cli.match_commands import workers
from hyoka.apps.cli.output import (
    answered,
    command_line,
    is_quiet,
    kept_when_interrupted,
    out,
    plain_table,
    progress_bars,
)
from hyoka.arena.elo import Sprt
from hyoka.arena.match import MatchResult, play_match
from hyoka.arena.ratings import DuelSummary
from hyoka.learning.comparison_training import TrainingSettings
from hyoka.learning.objective_search import (
    PLAN,
    ObjectiveSearch,
    SearchPlan,
    Step,
    save_objective,
    verify,
)
from hyoka.learning.objectives import PARAMETERS, class_starts
from hyoka.models.sparse import feature_set
from hyoka.search.difficulty import CLASSES
from hyoka.storage.model_file import Origin

PAGE = "report.html"
OBJECTIVE = "objective.json"


_PLAN = SearchPlan("", population=12, steps=100, games=400, nodes=300, rate=0.05, best=5)
"""Defaults for an ordinary machine; those of the class are the paper's."""
_TRAINING = Plan(
    TrainingSettings(passes=3),
    without=("reach", "decay", "descent", "damping", "outcome_scale", "patience"),
    names={"steps": "training-steps", "rate": "training-rate"},
)


def learn_objective_command(
    context: typer.Context,
    sources: Lesson,
    folder: Annotated[
        Path,
        OutputFolder(PLAN, "a search for an objective"),
        option("--output", metavar="FOLDER"),
    ] = Path("objective"),
    features: Features = None,
    where: Where = None,
    positions: Annotated[int, option("--positions", min=1)] = 30_000,
    plan: Annotated[Callable[..., SearchPlan], Plan(_PLAN, without=("start",))] = SearchPlan,
    training: Annotated[Callable[..., TrainingSettings], _TRAINING] = TrainingSettings,
    verified: Annotated[
        int,
        typer.Option(
            "--verify",
            min=0,
            help="At the end, games at most against Comparison and Combination each; 0: none.",
        ),
    ] = 2000,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Evolve the objective of comparison training (PBILc).

    A population of objectives trains one evaluation each, and the evaluations play each other; a
    new one drawn near the best replaces the worst. At the end the distribution's mean plays
    evaluations trained with the default objectives, from new openings. If interrupted, the same
    command resumes. Train with the result: hyoka learn comparison … --objective
    FOLDER/objective.json.
    """
    chosen = plan()
    cores = jobs or os.cpu_count() or 1
    with contextlib.ExitStack() as stack:
        executor, at_once = workers(stack, cores, cluster_address)
        progress = stack.enter_context(progress_bars())
        lessons, _ = lessons_of(
            sources,
            0.0,
            positions,
            chosen.seed,
            where=where,
            by_category=True,
            threads=cores,
            progress=progress,
        )
        chosen = replace(
            chosen,
            features=feature_set(lessons.games.game, features).name,
            training=training(),
        )
        search = ObjectiveSearch(chosen, lessons, folder)
        stack.enter_context(kept_when_interrupted("done", folder))
        search.run(
            jobs=at_once or cores,
            executor=executor,
            progress=progress,
            on_step=None if is_quiet() else _tell_step,
        )
        origin = Origin(
            command_line(context),
            seed=chosen.seed,
            counts={"steps": len(search.steps), "games": search.games},
            choices={"optimiser": chosen.optimiser, "features": chosen.features},
        )
        save_objective(search, folder / OBJECTIVE, origin)
        matches: list[MatchResult] = []
        test = Sprt(0, 20)
        if verified:
            matches = verify(
                search.mean,
                lessons,
                replace(chosen, steps=0),
                folder / f"verified-{len(search.steps)}",
                functools.partial(
                    play_match,
                    games=verified,
                    sprt=test,
                    jobs=at_once or cores,
                    executor=executor,
                    progress=progress,
                ),
                jobs=at_once or cores,
                executor=executor,
                progress=progress,
            )
        write_report(search, matches, folder / PAGE)
    if answered(_as_json(search, matches, folder)):
        return
    _print(search, matches, test, folder)


def write_report(search: ObjectiveSearch, matches: list[MatchResult], path: Path) -> None:
    """Build the page of an objective search."""
    from hyoka.reporting import write_page  # noqa: PLC0415
    from hyoka.reporting.learning_report import objective_page  # noqa: PLC0415 - slow to import

    write_page(objective_page(search, matches), path)


def _tell_step(search: ObjectiveSearch, step: Step) -> None:
    best = step.best
    out.print(
        f"step {step.number} of {search.plan.steps}: best {best} at {step.elo[best]:+.0f}, "
        f"{', '.join(map(str, step.dropped))} gone, {', '.join(map(str, step.new))} new; "
        f"{search.games:,} games",
        markup=False,
    )


def _as_json(search: ObjectiveSearch, matches: list[MatchResult], folder: Path) -> dict[str, Any]:
    return {
        "game": search.game,
        "features": search.plan.features,
        "steps": len(search.steps),
        "games": search.games,
        "objective": search.mean.as_json(),
        "file": str(folder / OBJECTIVE),
        "page": str(folder / PAGE),
        "verified": [
            {
                "player": match.standing.names[0],
                "opponent": match.standing.names[1],
                "wins": match.standing.duel(0, 1).score.wins,
                "draws": match.standing.duel(0, 1).score.draws,
                "losses": match.standing.duel(0, 1).score.losses,
                "verdict": match.verdict,
            }
            for match in matches
        ],
    }


def _print(search: ObjectiveSearch, matches: list[MatchResult], test: Sprt, folder: Path) -> None:
    table = plain_table("class", "category", *PARAMETERS, right=range(1, 2 + len(PARAMETERS)))
    factors = search.mean.factors
    for (name, size), start in zip(CLASSES.items(), class_starts(), strict=True):
        for index in range(size):
            numbers = (f"{row[start + index]:.2f}" for row in factors)
            table.add_row(name, str(index + (name == "correct_depth")), *numbers)
    out.print(table)
    for match in matches:
        out.print(str(DuelSummary.of(match.standing, 0, 1, test)), markup=False)
    out.print(
        f"train with it: hyoka learn comparison RECORDS --objective {folder / OBJECTIVE}; "
        f"page in {folder / PAGE}",
        style="dim",
        markup=False,
    )
