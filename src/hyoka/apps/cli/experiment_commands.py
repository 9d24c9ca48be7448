# SPDX-License-Identifier: Apache-2.0
"""Commands for experiments: ablations, and the papers' tables."""

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from hyoka.apps.cli.command_options import (
    Cluster,
    Jobs,
    Output,
    OutputFolder,
    Seed,
    check_outputs,
    option,
)
from hyoka.apps.cli.match_commands import match_player, workers
from hyoka.apps.cli.output import (
    answered,
    hint,
    kept_when_interrupted,
    out,
    plain_table,
    print_json,
    print_table,
    progress_bars,
    tell,
    wants_json,
)
from hyoka.parallel import usable_cores
from hyoka.reporting import write_page
from hyoka.storage.outputs import PAGE, PICTURE, RESULTS, STUDY
from hyoka.workflows import load_experiments

if TYPE_CHECKING:
    from experiments import Experiment, Outcome


def experiment_list_command() -> None:
    """List the papers' experiments."""
    _list_experiments(load_experiments().EXPERIMENTS)


def experiment_run_command(
    name: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="One of `hyoka experiment list`.")
    ],
    scale: Annotated[
        str,
        typer.Option(
            help="Size of the experiment: tiny (seconds), small (minutes), medium or paper (the "
            "paper's size); `hyoka experiment list` lists the scales of each."
        ),
    ] = "small",
    folder: Annotated[
        Path,
        OutputFolder((f"*/{STUDY}", "[0-9][0-9][0-9]-*/*", "strength-*/*"), "experiments"),
        option("--output", "Output folder.", metavar="FOLDER"),
    ] = Path("reproductions"),
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="Folder with the game records; by default shared/data here or in a parent folder.",
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        Output((RESULTS,)),
        typer.Option(
            "--markdown",
            metavar="FILE",
            dir_okay=False,
            help="Also write a Markdown page with the command, commit and date.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        Output((PAGE,)),
        typer.Option(
            "--html",
            metavar="FILE",
            dir_okay=False,
            help="Also write a report: one HTML page with verdicts, tables and figures.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Run an experiment of the papers and compare the results.

    If interrupted, the same command resumes.
    """
    experiments = load_experiments()
    from experiments.results_page import (  # noqa: PLC0415 - found by load_experiments
        Made,
        definition,
        outcome_page,
        pictures_beside,
        pictures_of,
        source_commit,
        write_results_page,
    )

    experiment = experiments.experiment_named(name)
    if scale not in experiment.scales:
        scales = ", ".join(experiment.scales)
        raise typer.BadParameter(f"{experiment.id} has no scale '{scale}'; known: {scales}")
    if markdown is not None:
        # How many figures the experiment has is not known yet.
        check_outputs(*pictures_beside(markdown), kinds=(PICTURE,))
    with contextlib.ExitStack() as stack:
        executor, jobs = workers(stack, jobs, cluster_address)
        context = experiments.ExperimentContext(
            folder,
            experiments.RecordsFolder(data),
            play=match_player(executor, jobs),
            jobs=jobs or usable_cores(),
            executor=executor,
            progress=stack.enter_context(progress_bars()),
            seed=seed,
        )
        stack.enter_context(kept_when_interrupted("done"))
        outcome = experiment.run(context, scale)
    if markdown is not None or page is not None:
        words = f"hyoka experiment run {experiment.id} --scale {scale}"
        made = Made(
            f"{words} --seed {seed}" if seed else words,
            source_commit(),
            datetime.now(tz=UTC).strftime("%Y-%m-%d"),
            definition(experiment, scale),
        )
        if markdown is not None:
            check_outputs(*pictures_of(markdown, scale, outcome), kinds=(PICTURE,))
            write_results_page(markdown, experiment, scale, outcome, made)
        if page is not None:
            write_page(outcome_page(experiment, outcome, made), page)
    if wants_json():
        head = {"experiment": experiment.id, "title": experiment.title, "scale": scale}
        print_json({**head, **outcome.as_json(), "notes": experiment.notes})
        return
    _print_outcome(experiment, scale, outcome)


def _list_experiments(listed: Mapping[str, "Experiment"]) -> None:
    if answered(
        [
            {"experiment": each.id, "title": each.title, "scales": list(each.scales)}
            for each in listed.values()
        ]
    ):
        return
    rows = [(each.id, each.title, ", ".join(each.scales)) for each in listed.values()]
    print_table(("experiment", "title", "scales"), rows)


def _print_outcome(experiment: "Experiment", scale: str, outcome: "Outcome") -> None:
    from experiments import LEGEND, right_aligned  # noqa: PLC0415 - found by load_experiments

    out.print(f"[bold]{escape(experiment.title)}[/]")
    hint(f"{scale}: {outcome.about}")
    for shown in outcome.tables:
        if shown.title:
            tell(f"\n{shown.title}")
        print_table(shown.headings, shown.texts(), right=right_aligned(shown))
    if outcome.verdicts:
        table = plain_table("as in the paper?", "", "difference", "")
        for each in outcome.verdicts:
            table.add_row(
                escape(each.claim), each.words, each.found.text("+.3f"), escape(each.detail)
            )
        out.print()
        out.print(table)
        hint(LEGEND.replace("**", ""))
    for figure in outcome.figures:
        hint(f"drawn: {figure}")
    if experiment.notes:
        hint(experiment.notes)
