# SPDX-License-Identifier: Apache-2.0
"""Commands that write a study's report, and its positions for other programs."""

import dataclasses
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hyoka.apps.cli.analysis_options import Bend, Draws, Evaluators, Limit, link_of
from hyoka.apps.cli.command_table import in_options
from hyoka.apps.cli.output import AsJson, Quiet, err, out, print_json, progress_bars
from hyoka.apps.cli.output_files import Output, OutputFolder, check_outputs
from hyoka.apps.cli.study_commands import StudyPath, Where
from hyoka.foundation.progress import Progress
from hyoka.reporting.study_report import ReportOptions, save_figures, write_report
from hyoka.storage.outputs import PAGE, PICTURE, TABLE
from hyoka.study import Study
from hyoka.study.exporting import export_positions


def report_command(
    study: StudyPath,
    output: Annotated[
        Path | None,
        Output((PAGE,)),
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page; report.html in the study's folder."
        ),
    ] = None,
    evaluators: Evaluators = None,
    where: Where = None,
    draws: Draws = "drop",
    slices: Annotated[
        int, typer.Option(min=0, max=50, help="Slices shown for each evaluator.")
    ] = 5,
    resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=100_000,
            help="Games are drawn again so often for intervals; fewer of very many positions "
            "unless given, 0 for no intervals.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws games, and chooses boards.")] = 0,
    bend: Bend = None,
    limit: Limit = None,
    figures: Annotated[
        Path | None,
        OutputFolder(),
        typer.Option(metavar="FOLDER", help="Also write every figure as PNG and SVG into here."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a study's report: metrics, curves, biased slices.

    Writes one HTML file that opens offline, findings first; a click on a curve shows positions
    from there. Prints the findings; with --json, all numbers.
    """
    opened = Study.open(study)
    file = output if output is not None else study / "report.html"
    check_outputs(file, kinds=(PAGE,))
    with progress_bars(quiet or as_json) as progress:
        options = ReportOptions(
            evaluators=evaluators,
            where=where,
            draws=draws,
            slices=slices,
            resamples=resamples,
            seed=seed,
            link=link_of(bend, limit),
        )
        report = write_report(opened, file, options, progress=progress)
        pictures = []
        if figures is not None:
            progress(Progress("figures", 0, None, "figures"))
            pictures = save_figures(
                report.page, figures, check=partial(check_outputs, kinds=(PICTURE,))
            )
    if as_json:
        print_json(report.as_json() | {"file": str(file), "figures": list(map(str, pictures))})
        return
    covered = in_options(str(report.results.coverage), {"draws": "--draws"})
    out.print(covered, markup=False, soft_wrap=True)
    for finding in report.findings:
        out.print(f"- {finding.text}", markup=False, soft_wrap=True)
    if figures is not None:
        out.print(f"{len(pictures)} figures in {figures}", markup=False, soft_wrap=True)
    out.print(f"report: {file}", markup=False, soft_wrap=True)


def study_export_command(
    study: StudyPath,
    output: Annotated[
        Path,
        Output((TABLE,)),
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output; its ending is the format: .csv, .parquet, .json; .txt (POSITION;score;"
            "result); .epd and .plain (Stockfish's trainer) of chess; .bin (YaneuraOu's "
            "PackedSfenValue) of shogi.",
            show_default=False,
        ),
    ],
    evaluator: Annotated[
        str | None,
        typer.Option(
            "--evaluator",
            "-e",
            metavar="NAME",
            help="The evaluator whose scores are written; needed if the study has several.",
            show_default=False,
        ),
    ] = None,
    where: Where = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Export positions with results and evaluations.

    Adjudications replace the records' results. Positions without the data that a format needs (a
    result, a score, a move played) are excluded.
    """
    opened = Study.open(study)
    with progress_bars(quiet or as_json) as progress:
        report = export_positions(
            opened, output, evaluator=evaluator, where=where, progress=progress
        )
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    left_out = f"; {report.left_out:,} left out" if report.left_out else ""
    err.print(
        f"wrote {report.path}: {report.positions:,} positions{left_out}",
        markup=False,
        soft_wrap=True,
    )
