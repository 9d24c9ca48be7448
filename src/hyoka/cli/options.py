# SPDX-License-Identifier: Apache-2.0
"""Parameters that the library's messages name, as options of the command that was run."""

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

import typer.main

from hyoka.cli.commands import command_line

_NAMED: Final = re.compile(
    r"""`(?P<name>\w+)(?:=(?P<value>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^`'"]+))?`"""
)
"""What `hyoka.errors.named` writes."""
_FUNCTIONS: Final = {"append_to_study": "append"}
"""Functions of the library that are options of a command."""


def command_of(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The command that arguments name, and its options by the parameters that they are."""
    command, path = typer.main.get_command(command_line(arguments)), ["hyoka"]
    for word in arguments:
        known = getattr(command, "commands", {})
        if word not in known:
            break
        command = known[word]
        path.append(word)
    options = {
        parameter.name: max(parameter.opts, key=len)
        for parameter in command.params
        if parameter.name is not None and parameter.param_type_name == "option"
    }
    return " ".join(path), options


def in_options(message: str, options: Mapping[str, str]) -> str:
    """A message with a command's options in place of the parameters that it names.

    >>> in_options("say which with `by`, as `by='in check'`; not `other`", {"by": "--by"})
    "say which with --by, as --by 'in check'; not `other`"
    """

    def option(named: re.Match[str]) -> str:
        name = _FUNCTIONS.get(named["name"], named["name"])
        if name not in options:
            return named.group()
        return " ".join([options[name], *_words(named["value"])])

    return _NAMED.sub(option, message)


def _words(value: str | None) -> list[str]:
    """A parameter's value as a shell wants it; an option that is on has none."""
    if value is None or value == "True":
        return []
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return [shlex.quote(value)]
    if isinstance(read, list | tuple):
        return [shlex.quote(",".join(map(str, read)))]
    return [shlex.quote(str(read))]
