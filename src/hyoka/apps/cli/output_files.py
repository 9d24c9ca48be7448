# SPDX-License-Identifier: Apache-2.0
"""Checks for every command: outputs overwrite no input or unknown file; numbers are in range.

`checked` wraps a command's function. Parameters that name outputs are marked in the signature
(`Annotated[Path, Output(...), typer.Option(...)]`); every other parameter may name an input. A
command with outputs gets the option `--force`.
"""

import functools
import glob
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import typer.models

from hyoka.storage.outputs import check_distinct, check_output, check_output_folder

Force = Annotated[
    bool,
    typer.Option("--force", "-f", help="Replace output files even if Hyoka did not write them."),
]
_FORCE: Final = "force"
_LARGEST: Final = 2**31 - 1
"""The default maximum of integer options."""
_LARGEST_WIDE: Final = 2**63 - 1
_WIDE: Final = {"seed", "nodes", "playouts"}
"""Parameters with larger maximums: random seeds, and limits of searches."""
_NEVER_FILES: Final = {"TEXT", "SQL", "QUERY"}
"""Metavars of options with fixed words as values, which never name files."""


@dataclass(frozen=True)
class Output:
    """Marks a parameter that names one or several output files.

    `kinds` are the kinds of files that may be replaced, `endings` the supported ones, if the name
    decides. With `derived`, the command derives names from this one and checks them with
    `check_outputs`.
    """

    kinds: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    derived: bool = False


@dataclass(frozen=True)
class OutputFolder:
    """Marks a parameter that names an output folder.

    Such folders contain the file `mark`; other folders with files are refused. Without a mark, the
    command checks the files.
    """

    mark: str = ""
    what: str = "output"
    force: bool = False
    """Whether the command checks files in the folder, so that `--force` has an effect."""


@dataclass(frozen=True)
class _Call:
    """The running command's inputs, and whether it may replace any file."""

    inputs: Callable[[], list[Path]]
    force: bool

    def reads(self) -> Iterator[Path]:
        """Return the inputs, computed only if a file would be replaced."""
        yield from self.inputs()


_NO_CALL: Final = _Call(list, force=False)
_call: ContextVar[_Call] = ContextVar("call", default=_NO_CALL)


def check_outputs(*paths: Path, kinds: Collection[str] = (), endings: Collection[str] = ()) -> None:
    """Raise OutputError unless the command can write these files without loss.

    For names that no option states verbatim; marked parameters are checked before the command.
    """
    call = _call.get()
    check_distinct(paths)
    for path in paths:
        check_output(path, kinds=kinds, inputs=call.reads(), endings=endings, force=call.force)


def checked(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command with checks of its numbers and outputs."""
    signature = inspect.signature(command)
    parameters = signature.parameters
    outputs = {name: mark for name, each in parameters.items() if (mark := output_of(each))}
    has_force = any(isinstance(mark, Output) or mark.force for mark in outputs.values())

    @functools.wraps(command)
    def run(**options: Any) -> Any:
        force = options.pop(_FORCE) if has_force else False
        for name, value in options.items():
            for number in value if isinstance(value, list) else [value]:
                _check_number(parameters[name], number)

        def inputs() -> list[Path]:
            sources = (parameters[name] for name in options if name not in outputs)
            return [path for each in sources for path in _paths_in(each, options[each.name])]

        token = _call.set(_Call(functools.cache(inputs), force))
        try:
            _check_marked(outputs, options)
            return command(**options)
        finally:
            _call.reset(token)

    shown = list(parameters.values())
    if has_force:
        shown.append(
            inspect.Parameter(
                _FORCE, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation=Force
            )
        )
    # Typer reads the options from these attributes.
    run.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def output_of(parameter: inspect.Parameter) -> Output | OutputFolder | None:
    """Return a parameter's output mark; None if it names no output."""
    marks = getattr(parameter.annotation, "__metadata__", ())
    return next((mark for mark in marks if isinstance(mark, Output | OutputFolder)), None)


def _check_marked(outputs: Mapping[str, Output | OutputFolder], options: Mapping[str, Any]) -> None:
    files: list[Path] = []
    for name, mark in outputs.items():
        value = options[name]
        paths = value if isinstance(value, list) else [] if value is None else [value]
        for path in paths:
            if isinstance(mark, OutputFolder):
                check_output_folder(path, mark.mark, what=mark.what)
            elif not mark.derived:
                check_outputs(path, kinds=mark.kinds, endings=mark.endings)
                files.append(path)
    check_distinct(files)


def _check_number(parameter: inspect.Parameter, value: object) -> None:
    """Raise BadParameter for infinity, NaN, and integers that are too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(value, float):
        problem = "" if math.isfinite(value) else f"{value} is not a finite number"
    else:
        usual = _LARGEST_WIDE if parameter.name in _WIDE else _LARGEST
        largest = getattr(_info(parameter), "max", None) or usual
        problem = f"{value} is not in the range up to {largest}" if abs(value) > largest else ""
    if problem:
        raise typer.BadParameter(problem, param_hint=f"'{name_of(parameter)}'")


def name_of(parameter: inspect.Parameter) -> str:
    """Return a parameter's name on the command line."""
    info = _info(parameter)
    # Until it builds the command, Typer takes the first name in an annotation for a default.
    words = (getattr(info, "default", None), *(getattr(info, "param_decls", None) or ()))
    names = [word for word in words if isinstance(word, str) and word.startswith("-")]
    is_option = isinstance(info, typer.models.OptionInfo)
    usual = f"--{parameter.name.replace('_', '-')}" if is_option else parameter.name.upper()
    return max(names, key=len, default=usual)


def _info(parameter: inspect.Parameter) -> Any:
    """Return a parameter's Typer annotation."""
    marks = getattr(parameter.annotation, "__metadata__", ())
    return next((mark for mark in marks if hasattr(mark, "param_decls")), None)


def _paths_in(parameter: inspect.Parameter, value: object) -> Iterator[Path]:
    """Yield the files and folders that a value names: as a path, a pattern, or in a spec."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _paths_in(parameter, each)
    elif isinstance(value, str) and getattr(_info(parameter), "metavar", "") not in _NEVER_FILES:
        yield from _paths_in_text(value)


def _paths_in_text(text: str) -> Iterator[Path]:
    parts = re.split(r"[=:,@\s]+", text)
    # File names may contain separators: also try everything after each one.
    rests = [text[at.end() :] for at in re.finditer(r"[=:]", text)]
    for name in dict.fromkeys([text, *parts, *rests]):
        try:
            if name and Path(name).exists():
                yield Path(name)
            elif any(sign in name for sign in "*?["):
                yield from map(Path, glob.glob(name, recursive=True))
        except (OSError, ValueError):  # no file can have this name
            continue
