# SPDX-License-Identifier: Apache-2.0
"""The command that learns objectives."""

import contextlib
import dataclasses
import functools
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from hyoka.apps.cli.evaluation_commands import Features, Lesson, lessons_of
from hyoka.apps.cli.match_commands import Cluster, Jobs, workers
from hyoka.apps.cli.output import (
    AsJson,
    Quiet,
    command_line,
    kept_when_interrupted,
    out,
    plain_table,
    print_json,
    progress_bars,
)
from hyoka.apps.cli.output_files import OutputFolder
from hyoka.apps.cli.study_commands import Where
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


def learn_objective_command(
    context: typer.Context,
    sources: Lesson,
    folder: Annotated[
        Path,
        OutputFolder(PLAN, "a search for an objective"),
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the search."),
    ] = Path("objective"),
    features: Features = None,
    where: Where = None,
    positions: Annotated[
        int, typer.Option(min=1, help="Maximum number of training positions, drawn at random.")
    ] = 30_000,
    population: Annotated[int, typer.Option(min=3, help="N: individuals.")] = 12,
    steps: Annotated[
        int, typer.Option(min=0, help="How often a newcomer takes the worst one's place.")
    ] = 100,
    games: Annotated[int, typer.Option(min=2, help="That an individual plays.")] = 400,
    nodes: Annotated[int, typer.Option(min=1, help="Of alpha-beta a move.")] = 300,
    optimiser: Annotated[
        str, typer.Option(metavar="pbilc|cma|random", help="How new objectives are drawn.")
    ] = "pbilc",
    rate: Annotated[
        float, typer.Option(min=1e-6, max=0.99, help="α: how far the distribution moves a step.")
    ] = 0.05,
    best: Annotated[
        int, typer.Option(min=2, help="K: how many of the best tell how wide it is.")
    ] = 5,
    deviation: Annotated[float, typer.Option(min=1e-6, help="σ at the start.")] = 0.3,
    opening_plies: Annotated[int, typer.Option(min=0, help="Random moves before a game.")] = 8,
    passes: Annotated[int, typer.Option(min=1, help="Of each training.")] = 3,
    training_steps: Annotated[
        int, typer.Option(min=1, help="Of each pass: down the gradient of all games.")
    ] = 4,
    batches: Annotated[int, typer.Option(min=1, help="Parts of the games, a step each.")] = 4,
    training_rate: Annotated[
        float, typer.Option(min=1e-9, help="How far a step of a training goes at first.")
    ] = TrainingSettings.rate,
    verified: Annotated[
        int,
        typer.Option(
            "--verify",
            min=0,
            help="At the end, games at most against Comparison and Combination each; 0: none.",
        ),
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Chance: draws, openings, positions.")] = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Evolve the objective of comparison training (PBILc).

    A population of objectives trains one evaluation each, and the evaluations play each other; a
    new one drawn near the best replaces the worst. At the end the distribution's mean plays
    evaluations trained with the default objectives, from new openings. If interrupted, the same
    command resumes. Train with the result: hyoka learn comparison … --objective
    FOLDER/objective.json.
    """
    cores = jobs or os.cpu_count() or 1
    with contextlib.ExitStack() as stack:
        executor, at_once = workers(stack, cores, cluster_address)
        progress = stack.enter_context(progress_bars(quiet or as_json))
        lessons, _ = lessons_of(
            sources,
            0.0,
            positions,
            seed,
            where=where,
            by_category=True,
            threads=cores,
            progress=progress,
        )
        plan = SearchPlan(
            features=feature_set(lessons.games.game, features).name,
            training=TrainingSettings(
                passes=passes, steps=training_steps, batches=batches, rate=training_rate
            ),
            population=population,
            steps=steps,
            games=games,
            nodes=nodes,
            opening_plies=opening_plies,
            optimiser=optimiser,
            rate=rate,
            best=best,
            deviation=deviation,
            seed=seed,
        )
        search = ObjectiveSearch(plan, lessons, folder)
        stack.enter_context(kept_when_interrupted("done", folder))
        search.run(
            jobs=at_once or cores,
            executor=executor,
            progress=progress,
            on_step=None if as_json or quiet else _tell_step,
        )
        origin = Origin(
            command_line(context),
            seed=seed,
            counts={"steps": len(search.steps), "games": search.games},
            choices={"optimiser": optimiser, "features": plan.features},
        )
        save_objective(search, folder / OBJECTIVE, origin)
        matches: list[MatchResult] = []
        test = Sprt(0, 20)
        if verified:
            matches = verify(
                search.mean,
                lessons,
                dataclasses.replace(plan, steps=0),
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
    if as_json:
        print_json(_as_json(search, matches, folder))
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
