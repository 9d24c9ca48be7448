# SPDX-License-Identifier: Apache-2.0
"""A command has the defaults of the functions and plans that it calls."""

import ast
import dataclasses
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyoka.apps.cli.command_table import COMMANDS, Command
from hyoka.study import Study

WORKERS = {"jobs", "threads"}
"""They do not change results: a command uses all cores, a function one by default."""
EXCEPTIONS = {
    ("learn objective", "passes"): "of the training of each individual, with names of its own",
    ("learn objective", "steps"): "of the training of each individual, with names of its own",
    ("learn objective", "rate"): "of the training of each individual, with names of its own",
    ("learn objective", "games"): "of the search; the matches have their own number",
}
"""Commands and parameters with another default: why."""


def called_by(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The functions, plans and methods of studies that a command's function names."""
    names = vars(sys.modules[function.__module__])
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        found: Any = None
        if isinstance(node, ast.Name):
            found = names.get(node.id)
        elif isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            found = inspect.getattr_static(Study, node.attr, None)
        module = getattr(found, "__module__", "")
        is_ours = module.startswith("hyoka.") and not module.startswith("hyoka.apps.")
        is_plan = dataclasses.is_dataclass(found)
        if is_ours and (inspect.isfunction(found) or is_plan):
            yield found


def is_set(value: Any) -> bool:
    """Whether a default is a value, not one that stands for absence or for another default."""
    is_scalar = isinstance(value, bool | int | float | str)
    return is_scalar and value != ""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_a_command_has_the_defaults_of_python(command: Command) -> None:
    function = inspect.unwrap(command.load())
    options = inspect.signature(command.load()).parameters
    different = [
        f"{called.__name__}({name}={parameter.default!r}), but {options[name].default!r} here"
        for called in called_by(function)
        for name, parameter in inspect.signature(called).parameters.items()
        if name in options and (command.name, name) not in EXCEPTIONS and name not in WORKERS
        if is_set(parameter.default) and is_set(options[name].default)
        if parameter.default != options[name].default
    ]
    assert different == []
