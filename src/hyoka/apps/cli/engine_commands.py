# SPDX-License-Identifier: Apache-2.0
"""Commands that check an engine, and that run a search as an engine."""

import dataclasses
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.apps.cli.command_options import option
from hyoka.apps.cli.output import answered, err, out, plain_table
from hyoka.engines import check_engine
from hyoka.engines.server import Controller, GtpServer, UciServer, UsiServer
from hyoka.games import GTP_GAME
from hyoka.search import SearchSpec

_COLORS = {"pass": "green", "warn": "yellow", "fail": "red"}


def engine_check_command(
    engine: Annotated[
        str,
        typer.Argument(
            metavar="CMD",
            help='A command ("gnugo --mode gtp") or a spec ("uci:nodes=1000:stockfish").',
            show_default=False,
        ),
    ],
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait for the answer in each protocol.")
    ] = 5.0,
) -> None:
    """Test whether an engine follows its protocol."""
    with err.status("asking the engine"):
        report = check_engine(engine, probe_timeout_s=timeout)
    if not answered(
        {
            "spec": report.spec.text,
            "name": report.name,
            "version": report.version,
            "passed": report.passed,
            "checks": [dataclasses.asdict(check) for check in report.checks],
        }
    ):
        name = escape(report.name or "unknown")
        out.print(f"[bold]{name}[/] {escape(report.version)}  {escape(report.spec.text)}")
        table = plain_table("", "check", "")
        for check in report.checks:
            color = _COLORS[check.verdict]
            table.add_row(f"[{color}]{check.verdict}[/]", check.name, escape(check.detail))
        out.print(table)
    if not report.passed:
        raise typer.Exit(1)


def engine_gtp_command(
    search: Annotated[str, option("--search", metavar="SPEC")] = "uct",
    game: Annotated[str, option("--game", metavar="GAME")] = GTP_GAME,
    resign: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Resign if the expected score is below this; by default never resign.",
        ),
    ] = None,
) -> None:
    """Run a search as a GTP engine."""
    spec = SearchSpec.from_text(search)
    GtpServer(spec, Controller.of_process(), game=game, resign_below=resign).run()


def engine_uci_command(search: Annotated[str, option("--search", metavar="SPEC")] = "ab") -> None:
    """Run a search as a UCI engine."""
    UciServer(SearchSpec.from_text(search), Controller.of_process()).run()


def engine_usi_command(search: Annotated[str, option("--search", metavar="SPEC")] = "ab") -> None:
    """Run a search as a USI engine."""
    UsiServer(SearchSpec.from_text(search), Controller.of_process()).run()
