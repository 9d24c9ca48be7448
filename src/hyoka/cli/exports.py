# SPDX-License-Identifier: Apache-2.0
"""The command that writes positions for other programs."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from hyoka.cli.output import AsJson, Quiet, err, print_json, progress_bars
from hyoka.cli.outputs import Output
from hyoka.cli.studies import StudyPath, Where
from hyoka.storage.outputs import TABLE
from hyoka.study import Study, export_positions


def positions_command(
    study: StudyPath,
    output: Annotated[
        Path,
        Output((TABLE,)),
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="What to write, told by its ending: .csv, .parquet, .json; .txt (POSITION;score;"
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
            help="Whose scores: as `hyoka evaluate --with` had it; the only one unless given.",
            show_default=False,
        ),
    ] = None,
    where: Where = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a study's positions with results and evaluations: tables, EPD, data for trainers.

    Results are those of adjudications where there are any. Positions without what a format tells (a
    result, a score, a move played) are left out.
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
