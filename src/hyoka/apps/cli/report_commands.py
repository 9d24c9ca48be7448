# SPDX-License-Identifier: Apache-2.0
"""Commands that write a study's report, and its positions for other programs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hyoka.apps.cli.analysis_options import Bend, Evaluators, Limit, link_of
from hyoka.apps.cli.command_options import (
    Output,
    OutputFolder,
    Plan,
    StudyPath,
    check_outputs,
    option,
)
from hyoka.apps.cli.command_table import in_options
from hyoka.apps.cli.output import answered, progress_bars, tell
from hyoka.foundation.progress import Progress
from hyoka.reporting.study_report import (
    ReportOptions,
    numbered_pictures,
    report_file,
    save_figures,
    write_report,
)
from hyoka.storage.outputs import PAGE, PICTURE
from hyoka.study import Study


def report_command(
    study: StudyPath,
    output: Annotated[
        Path | None,
        Output((PAGE,)),
        option("--output", "Output file; by default report.html in the study.", metavar="FILE"),
    ] = None,
    evaluators: Evaluators = None,
    options: Annotated[
        Callable[..., ReportOptions], Plan(ReportOptions, without=("boards_a_bin",))
    ] = ReportOptions,
    bend: Bend = None,
    limit: Limit = None,
    figures: Annotated[
        Path | None,
        OutputFolder(),
        typer.Option(
            metavar="FOLDER", help="Folder to which every figure is also written, as PNG and SVG."
        ),
    ] = None,
) -> None:
    """Write a study's report: metrics, curves, biased slices.

    Writes one HTML file that opens offline, findings first; a click on a curve shows positions
    from there. Prints the findings; with --json, all numbers.
    """
    opened = Study.open(study)
    file = output if output is not None else report_file(opened)
    check_outputs(file, kinds=(PAGE,))
    if figures is not None:
        # Which figures the report has is not known yet.
        check_outputs(*numbered_pictures(figures), kinds=(PICTURE,))
    with progress_bars() as progress:
        chosen = options(evaluators=evaluators, link=link_of(bend, limit))
        report = write_report(opened, file, chosen, progress=progress)
        pictures = []
        if figures is not None:
            progress(Progress("figures", 0, None, "figures"))
            pictures = save_figures(
                report.page, figures, check=partial(check_outputs, kinds=(PICTURE,))
            )
    if answered(report.as_json() | {"file": str(file), "figures": list(map(str, pictures))}):
        return
    named = {"draws": "--draws", "memory": "--memory"}
    covered = in_options(str(report.results.coverage), named)
    tell(covered)
    for finding in report.findings:
        tell(f"- {finding.text}")
    if figures is not None:
        tell(f"{len(pictures)} figures in {figures}")
    tell(f"report: {file}")
