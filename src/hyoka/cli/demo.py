# SPDX-License-Identifier: Apache-2.0
"""The demo, and the sample records it is about."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from hyoka.cli.analyses import print_result
from hyoka.cli.output import (
    AsJson,
    Quiet,
    kept_when_interrupted,
    out,
    print_json,
    progress_bars,
    say,
)
from hyoka.cli.outputs import OutputFolder, check_outputs
from hyoka.demo import POSITIONS_A_GAME, UCT_STRONG, run_demo
from hyoka.files import write_bytes
from hyoka.progress import Progress
from hyoka.samples import SAMPLES, sample_path
from hyoka.storage.outputs import PAGE

_SPLITS = 5


def demo_command(
    to: Annotated[
        Path,
        OutputFolder(force=True),
        typer.Option("--to", metavar="FOLDER", help="Where its studies and report go."),
    ] = Path("hyoka-demo"),
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=1024, help="Searches side by side; all cores."),
    ] = None,
    positions: Annotated[
        int,
        typer.Option(min=1, max=50, help="How many of each game are judged; fewer are quicker."),
    ] = POSITIONS_A_GAME,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """The main job on sample records: evaluate, measure, find what is wrong, draw the report.

    600 games of Go on 9×9 by our own players of several strengths, judged by a static evaluation,
    Monte Carlo, and UCT at two playout counts. Interrupted, the same command goes on.
    """
    from hyoka.report import write_report  # noqa: PLC0415 - slow to import

    started = time.monotonic()
    to.mkdir(parents=True, exist_ok=True)
    report = to / "report.html"
    check_outputs(report, kinds=(PAGE,))
    with progress_bars(quiet or as_json) as progress:
        with kept_when_interrupted("evaluated"):
            demo = run_demo(
                to,
                jobs=jobs or os.cpu_count() or 1,
                progress=progress,
                positions_a_game=positions,
            )
        names = list(demo.engines.values())
        progress(Progress("measuring", 0, 1, "steps", "metrics"))
        metrics = demo.go.metrics(names)
        progress(Progress("measuring", 1, 1, "steps"))
        splits = demo.go.splits(demo.engines[UCT_STRONG], top=_SPLITS, progress=progress)
        write_report(demo.go, report, evaluators=names, progress=progress)
    seconds = time.monotonic() - started
    if as_json:
        facts = {"metrics": metrics.rows(), "splits": splits.rows(), "seconds": round(seconds, 1)}
        print_json({"study": str(demo.go.path), "report": str(report), **facts})
        return
    print_result(metrics)
    print_result(splits)
    out.print(f"The report is {report}: open it in a browser.", markup=False)
    out.print(
        f"Go on with: hyoka analyse {demo.go.path} --by phase · hyoka report {demo.chess.path}",
        markup=False,
        style="dim",
    )


def samples_command(
    to: Annotated[
        Path,
        OutputFolder(force=True),
        typer.Option("--to", metavar="FOLDER", help="Where to put the records."),
    ] = Path("samples"),
    as_json: AsJson = False,
) -> None:
    """Copy the sample records that come with Hyoka: games of its own players."""
    files = {to / file: sample_path(name) for name, file in SAMPLES.items()}
    missing = [file for file, sample in files.items() if not _is_copy(file, sample)]
    to.mkdir(parents=True, exist_ok=True)
    check_outputs(*missing)
    for file in missing:
        write_bytes(file, files[file].read_bytes())
    if as_json:
        print_json([str(file) for file in files])
        return
    for file in files:
        say(str(file))
    out.print(f"try: hyoka records {to}", markup=False, style="dim")


def _is_copy(file: Path, sample: Path) -> bool:
    return file.is_file() and file.read_bytes() == sample.read_bytes()
