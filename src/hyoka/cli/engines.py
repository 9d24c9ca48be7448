# SPDX-License-Identifier: Apache-2.0
"""Commands about engines."""

import dataclasses
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.cli.output import AsJson, err, out, plain_table, print_json
from hyoka.engines import check_engine

_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red"}


def check_command(
    engine: Annotated[
        str,
        typer.Argument(
            metavar="CMD",
            help='A command ("gnugo --mode gtp") or a spec ("uci:nodes=1000:stockfish").',
            show_default=False,
        ),
    ],
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait for an answer to each protocol.")
    ] = 5.0,
    as_json: AsJson = False,
) -> None:
    """Try an engine out: whether it keeps to its protocol, evaluates, moves legally and quits."""
    with err.status("asking the engine"):
        report = check_engine(engine, probe_timeout_s=timeout)
    if as_json:
        print_json(
            {
                "spec": report.spec.text,
                "name": report.name,
                "version": report.version,
                "passed": report.passed,
                "checks": [dataclasses.asdict(check) for check in report.checks],
            }
        )
    else:
        name = escape(report.name or "unknown")
        out.print(f"[bold]{name}[/] {escape(report.version)}  {escape(report.spec.text)}")
        table = plain_table("", "check", "")
        for check in report.checks:
            colour = _COLOURS[check.verdict]
            table.add_row(f"[{colour}]{check.verdict}[/]", check.name, escape(check.detail))
        out.print(table)
    if not report.passed:
        raise typer.Exit(1)
