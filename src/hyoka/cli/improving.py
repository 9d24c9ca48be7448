# SPDX-License-Identifier: Apache-2.0
"""The command that goes all the way: from where an evaluation is wrong to a gain on the board."""

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from hyoka.analysis.sample import DrawnGames
from hyoka.arena import Sprt
from hyoka.cli.matches import Cluster, Jobs, workers
from hyoka.cli.output import (
    AsJson,
    Quiet,
    kept_when_interrupted,
    out,
    print_json,
    progress_bars,
)
from hyoka.cli.outputs import OutputFolder
from hyoka.cli.studies import StudyPath, Where
from hyoka.improving import Improvement, ImprovePlan, improve
from hyoka.improving.loop import PLAN
from hyoka.study import Study


def improve_command(
    study: StudyPath,
    evaluator: Annotated[
        str,
        typer.Option(
            "--evaluator",
            "-e",
            metavar="SPEC",
            help="What is to be improved, with the limit that it plays by: ab:nodes=2000, "
            "ab:eval=FILE; without a limit, 1,000 nodes a move. Of what is no search of ours with "
            "weights of its own, it says what the scores lack.",
        ),
    ] = ImprovePlan.evaluator,
    folder: Annotated[
        Path | None,
        OutputFolder(PLAN, "an improvement"),
        typer.Option(
            "--to", metavar="FOLDER", help="Where all steps are kept; by default improved/STUDY."
        ),
    ] = None,
    games: Annotated[
        int, typer.Option("--games", "-n", min=1, help="At most, in a match of new against old.")
    ] = ImprovePlan.games,
    sprt: Annotated[
        str,
        typer.Option(
            metavar="ELO0,ELO1", help="The sequential test that decides (also alpha=, beta=)."
        ),
    ] = "0,10",
    openings: Annotated[
        str | None,
        typer.Option(
            "--openings",
            "-o",
            metavar="FILE[:PLIES]|random[:PLIES]|start",
            help="Where games begin; by default with the first moves of the games held out.",
        ),
    ] = None,
    where: Where = None,
    sample: Annotated[
        int, typer.Option(min=1, metavar="N", help="So many positions of each game are looked at.")
    ] = ImprovePlan.sample,
    draws: Annotated[
        DrawnGames,
        typer.Option(help="half: drawn games count as half won; drop: leave them out."),
    ] = "half",
    hold_out: Annotated[
        float,
        typer.Option(
            min=0.01, max=0.9, help="The share of games that nothing is chosen or fitted by."
        ),
    ] = ImprovePlan.hold_out,
    freedom: Annotated[
        float,
        typer.Option(
            min=0.0001,
            max=9,
            help="How far weights may go from where they are, as a share of the score's scale; "
            "more for terms that have no weight yet.",
        ),
    ] = ImprovePlan.freedom,
    seed: Annotated[
        int, typer.Option(min=0, help="Chooses positions, games held out and openings.")
    ] = 0,
    still: Annotated[
        bool, typer.Option("--still", help="Charts of the page are pictures: smaller, no scripts.")
    ] = False,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find where an evaluation is wrong, name the terms, fit them, and prove the gain on the board.

    Splits and weights come from most of the games; the games held out show the curve before and
    after; a match under a sequential test has the last word. One page, report.html, tells it all,
    also that nothing was found or gained. Interrupted, the same command goes on where it stopped.
    """
    opened = Study.open(study)
    place = folder or Path("improved") / opened.path.resolve().name
    with contextlib.ExitStack() as stack:
        executor, side_by_side = workers(stack, jobs, cluster_address)
        stack.enter_context(kept_when_interrupted("done"))
        progress = stack.enter_context(progress_bars(quiet or as_json))
        story = improve(
            opened,
            evaluator,
            to=place,
            still=still,
            jobs=side_by_side or os.cpu_count() or 1,
            executor=executor,
            progress=progress,
            where=where,
            sample=sample,
            draws=draws,
            hold_out=hold_out,
            freedom=freedom,
            games=games,
            sprt=Sprt.from_text(sprt),
            openings=openings,
            seed=seed,
        )
    if as_json:
        print_json(story.as_json())
    else:
        _print(story)


def _print(story: Improvement) -> None:
    outcome, *steps = story.sentences()
    for sentence in steps:
        out.print(f"• {sentence}", markup=False, soft_wrap=True)
    out.print(f"\n{outcome}", markup=False, soft_wrap=True)
    if story.weights is not None:
        out.print(f"play with it: ab:eval={story.weights}", markup=False, soft_wrap=True)
    out.print(f"the whole story: {story.page}", style="dim", markup=False, soft_wrap=True)
