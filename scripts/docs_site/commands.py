# SPDX-License-Identifier: Apache-2.0
"""The reference of all commands, made of the commands themselves."""

import inspect
from collections.abc import Iterator

import typer
import typer.main

from docs_site.markdown import Document
from hyoka.apps.cli.command_table import COMMANDS, Command


def commands_page() -> Document:
    """A heading, the help and a table of options for each command."""
    lines = ["# Commands", "", "`hyoka COMMAND --help` prints the same.", ""]
    for command in COMMANDS:
        lines += _section(command)
    return Document("\n".join(lines))


def _section(command: Command) -> Iterator[str]:
    function = command.load()
    alone = typer.Typer(add_completion=False)
    alone.command()(function)
    parsed = typer.main.get_command(alone)
    context = typer.Context(parsed)
    yield f"## hyoka {command.name}\n"
    yield f"`hyoka {' '.join([command.name, *parsed.collect_usage_pieces(context)])}`\n"
    yield f"{inspect.getdoc(function)}\n"
    yield "| | |"
    yield "|---|---|"
    for parameter in parsed.params:
        record = parameter.get_help_record(context)
        if record is not None:
            names, words = (" ".join(cell.split()).replace("|", r"\|") for cell in record)
            yield f"| `{names}` | {words} |"
    yield ""
