# SPDX-License-Identifier: Apache-2.0
"""Options of commands: shared declarations, options of plans, checks of numbers and outputs.

`declared` wraps a command's function. Parameters that name outputs are marked in the signature
(`Annotated[Path, Output(...), typer.Option(...)]`); every other parameter may name an input. A
command with outputs gets the option `--force`, and a parameter marked with `Plan` becomes the
options of a plan dataclass (`hyoka.foundation.options`).
"""

import functools
import glob
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
import typer.models

from hyoka.apps.cli.output import output_mode
from hyoka.foundation.options import WHERE_HELP, Option, make_plan, options_of
from hyoka.storage.files import study_folder
from hyoka.storage.outputs import check_distinct, check_output, check_output_folder

SHORT: Final = {
    "--cluster": "", "--evaluator": "-e", "--force": "-f", "--game": "-g", "--games": "-n",
    "--jobs": "-j", "--json": "", "--model": "-m", "--output": "-o", "--position": "-p",
    "--quiet": "-q", "--where": "-w",
}  # fmt: skip
"""The short forms of options, the same in all commands."""
HELP: Final = {
    "--all": "Include games that a model was fitted to.",
    "--cluster": "Address of a Dask cluster, such as tcp://host:8786 (needs hyoka\\[cluster]).",
    "--draws": "Drawn games: drop them, or count each as half a win.",
    "--engine-comments": "In PGN, write evaluations as match runners do, {+0.35/12 1.2s}",
    "--epochs": "Maximum number of passes over the training positions.",
    "--evaluator": "Evaluator: its name in the study, a pattern of names (gnugo*), or its spec.",
    "--force": "Replace output files even if Hyoka did not write them.",
    "--format": "Read the records as this format.",
    "--from": "File with weights to use instead of the bundled ones.",
    "--game": "Game, such as chess, shogi, go9, othello.",
    "--games": "Number of games",
    "--hold-out": "Share of held-out games.",
    "--jobs": "Number of parallel",
    "--json": "Print JSON and nothing else.",
    "--komi": "Komi, for Go; 7.5 by default.",
    "--limit": "Maximum number of",
    "--max-plies": "Ply limit",
    "--min-games": "Minimum number of games per",
    "--memory": "Memory for an analysis, such as 4G; by default half of the machine's.",
    "--method": "mlm: maximum likelihood (the default); ls: least squares; repeatable.",
    "--model": "Move model: a file of `hyoka learn`, or bundled: learned, built-in or network.",
    "--moves": "Moves to play from that position, separated by spaces.",
    "--nodes": "Maximum number of nodes per search",
    "--openings": "Openings: records, EPD, SFEN or lines of moves; random moves; or the start. "
    "Each is played from both sides.",
    "--optimizer": "Optimization algorithm.",
    "--output": "Output",
    "--patience": "Stop after this many passes without gain on held-out games.",
    "--playouts": "Number of playouts per search",
    "--positions": "Maximum number of positions, drawn at random.",
    "--quiet": "Show no progress.",
    "--rate": "Learning rate",
    "--resamples": "Number of bootstrap replicates over games; 0: no intervals.",
    "--sample": "Number of positions per game, drawn at random.",
    "--search": "Search, as KIND or KIND:SETTING=VALUE,…; see `hyoka help searches`.",
    "--seed": "Random seed.",
    "--sprt": "Sequential test of ELO0 against ELO1, such as 0,5 (also alpha=, beta=, model=).",
    "--steps": "Number of optimization steps",
    "--time": "Time per search in seconds",
    "--top": "Number of listed results.",
    "--wdl": "Probabilities of win, draw and loss instead of expected scores.",
    "--where": "SQL condition on",
    "--with": "Spec of a search, an engine or other evaluations; see `hyoka help specs`.",
}
"""The help of options that several commands have.

A text without a final period is the beginning that their help texts share.
"""


def complete_game(incomplete: str) -> list[str]:
    """Names of games, for the shell."""
    from hyoka.games import FACTS  # noqa: PLC0415 - only for completion

    return [name for name in FACTS if name.startswith(incomplete)]


def _complete_spec(incomplete: str) -> list[str]:
    from hyoka.agents.kinds import AGENT_KINDS  # noqa: PLC0415 - only for completion

    names = (prefix for kind in AGENT_KINDS for prefix in kind.prefixes)
    return [name for name in names if name.startswith(incomplete)]


_COMPLETIONS: Final = {
    "--game": complete_game,
    "--search": _complete_spec,
    "--with": _complete_spec,
}


def option(name: str, help: str = "", **more: Any) -> Any:
    """Declare an option: `--name`, with its short form, help and completion in all commands.

    Raises ValueError if several commands share the option and `help` does not begin as they do.
    """
    if help and _help_of(name, help) != help:
        raise ValueError(f"the help of {name} must begin with '{HELP[name]}', not '{help}'")
    names = [name, SHORT[name]] if SHORT.get(name) else [name]
    if name in _COMPLETIONS:
        more["autocompletion"] = _COMPLETIONS[name]
    return typer.Option(*names, help=_help_of(name, help), **more)


def _help_of(name: str, help: str) -> str:
    """Return an option's own help if it begins as the shared one does, else the shared one."""
    shared = HELP.get(name, "")
    return help if help.startswith(shared.removesuffix(".")) else shared


Json = Annotated[bool, option("--json")]
Quiet = Annotated[bool, option("--quiet")]
Force = Annotated[bool, option("--force")]
Seed = Annotated[int, option("--seed", min=0)]
Jobs = Annotated[
    int | None, option("--jobs", "Number of parallel games.", min=1, max=1024, metavar="N")
]
Cluster = Annotated[str | None, option("--cluster", metavar="ADDRESS")]
Where = Annotated[str | None, option("--where", WHERE_HELP, metavar="SQL")]
StudyPath = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY",
        help="Folder of a study, or its URL to read it, such as s3://bucket/study.",
        show_default=False,
        parser=study_folder,
    ),
]
Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="RECORDS…", help="Files, folders or archives of records.", show_default=False
    ),
]
FORMATTED_OUTPUT: Final = "Output file; its extension selects the format."
HoldOut = Annotated[float, option("--hold-out", min=0, max=0.9)]
_LARGEST: Final = 2**31 - 1
"""The default maximum of integer options."""
_LARGEST_WIDE: Final = 2**63 - 1
_WIDE: Final = {"seed", "nodes", "playouts"}
"""Parameters with larger maximums: random seeds, and limits of searches."""
_NEVER_FILES: Final = {"TEXT", "SQL", "QUERY"}
"""Metavars of options with fixed words as values, which never name files."""


class Group:
    """Marks a parameter that stands for several options."""

    def parameters(self) -> Iterator[inspect.Parameter]:
        """The parameters of the command in place of the marked one."""
        raise NotImplementedError

    def value(self, options: Mapping[str, Any]) -> Any:
        """The marked parameter's value for the command's options."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plan(Group):
    """Marks a parameter whose options are those of a plan: a dataclass, or one with own defaults.

    The parameter is a function that builds the plan from the options; its arguments are values of
    further fields. `without` lists fields that are no options here, `names` other names of
    options, such as {"steps": "training-steps"}.
    """

    plan: Any
    without: Collection[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def options(self) -> dict[str, Option]:
        """The options by the name of the command's parameter."""
        chosen = [each for each in options_of(self.plan) if each.field not in self.without]
        return {self.names.get(each.field, each.field).replace("-", "_"): each for each in chosen}

    def parameters(self) -> Iterator[inspect.Parameter]:
        """A parameter for each option."""
        for name, each in self.options.items():
            kind: Any = Literal[each.choices] if each.choices else each.type
            default, show = each.default, True
            if each.is_repeatable:
                kind, default = list[kind] | None, None
            elif each.parse is not None or each.is_optional:
                kind, show = kind | None, each.parse is not None
                default = default if isinstance(default, each.type) else None
            more: dict[str, Any] = {"metavar": each.metavar or None}
            if each.type in (int, float) and not each.choices:
                more |= {"min": each.min, "max": each.max}
            shown = "--" + self.names.get(each.field, each.name).replace("_", "-")
            names = f"{shown}/--no-{shown[2:]}" if default is True else shown
            words = _help_of(shown, each.help)
            annotation = Annotated[kind, option(names, words, show_default=show, **more)]
            empty = inspect.Parameter.empty
            yield _parameter(name, annotation, empty if default is ... else default)

    def value(self, options: Mapping[str, Any]) -> Callable[..., Any]:
        """The function that builds the plan."""
        values = {
            each.field: value
            for name, each in self.options.items()
            if (value := options.get(name)) is not None
        }
        return functools.partial(make_plan, self.plan, values)


def _parameter(name: str, annotation: Any, default: Any = False) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


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

    Such folders contain the file `mark`, which may be a pattern, or one of several; inputs and
    other folders with files are refused. Without a mark, the command checks the files.
    """

    mark: str | tuple[str, ...] = ""
    what: str = "output"
    force: bool = False
    """Whether the command checks files in the folder, so that `--force` has an effect."""


@dataclass(frozen=True)
class _Call:
    """The running command's inputs, and whether it may replace any file."""

    inputs: Callable[[], list[Path]]
    paths: Callable[[], list[Path]]
    """Inputs that are paths, without those in specs and other texts."""
    force: bool

    def reads(self) -> Iterator[Path]:
        """Return the inputs, computed only if a file would be replaced."""
        yield from self.inputs()


_NO_CALL: Final = _Call(list, list, force=False)
_call: ContextVar[_Call] = ContextVar("call", default=_NO_CALL)


def check_outputs(*paths: Path, kinds: Collection[str] = (), endings: Collection[str] = ()) -> None:
    """Raise OutputError unless the command can write these files without loss.

    For names that no option states verbatim; marked parameters are checked before the command.
    """
    call = _call.get()
    check_distinct(paths)
    for path in paths:
        check_output(path, kinds=kinds, inputs=call.reads(), endings=endings, force=call.force)


def expanded(own: Mapping[str, inspect.Parameter]) -> dict[str, inspect.Parameter]:
    """Replace marked parameters by those of their groups."""
    parameters: dict[str, inspect.Parameter] = {}
    for name, each in own.items():
        group: Group | None = _mark(each, Group)
        parameters |= {name: each} if group is None else {p.name: p for p in group.parameters()}
    return parameters


def collected(own: Mapping[str, inspect.Parameter], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of parameters, of which marked ones have several options."""
    groups = {name: _mark(each, Group) for name, each in own.items()}
    return {
        name: options[name] if group is None else group.value(options)
        for name, group in groups.items()
        if group is not None or name in options
    }


def declared(command: Callable[..., Any], *, answers: bool = True) -> Callable[..., Any]:
    """Wrap a command: expand its groups, add shared options, check its numbers and outputs.

    A command that `answers` has the options `--json` and `--quiet`.
    """
    own = inspect.signature(command).parameters
    parameters = expanded(own)
    outputs = {name: mark for name, each in parameters.items() if (mark := output_of(each))}
    if any(isinstance(mark, Output) or mark.force for mark in outputs.values()):
        parameters["force"] = _parameter("force", Force)
    if answers:
        parameters["as_json"] = _parameter("as_json", Json)
        parameters["quiet"] = _parameter("quiet", Quiet)
    for parameter in parameters.values():
        if isinstance(info := _info(parameter), typer.models.OptionInfo) and _is_flag(parameter):
            info.metavar = ""  # the help of a flag shows no type

    @functools.wraps(command)
    def run(**options: Any) -> Any:
        for name, value in options.items():
            for number in value if isinstance(value, list) else [value]:
                _check_number(parameters[name], number)

        def inputs() -> list[Path]:
            sources = (parameters[name] for name in options if name not in outputs)
            return [path for each in sources for path in _paths_in(each, options[each.name])]

        def paths() -> list[Path]:
            values = (value for name, value in options.items() if name not in outputs)
            lists = (value if isinstance(value, list) else [value] for value in values)
            return [each for value in lists for each in value if isinstance(each, Path)]

        token = _call.set(_Call(functools.cache(inputs), paths, options.get("force", False)))
        try:
            with output_mode(options.get("as_json", False), options.get("quiet", False)):
                _check_marked(outputs, options)
                return command(**collected(own, options))
        finally:
            _call.reset(token)

    # Typer reads the help and the options from these attributes.
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    run.__doc__ = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    required = [each for each in parameters.values() if each.default is inspect.Parameter.empty]
    ordered = [*required, *(each for each in parameters.values() if each not in required)]
    shown = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in ordered]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def _mark(parameter: inspect.Parameter, kind: Any) -> Any:
    """Return a parameter's mark of this kind; None without one."""
    marks = getattr(parameter.annotation, "__metadata__", ())
    return next((mark for mark in marks if isinstance(mark, kind)), None)


def output_of(parameter: inspect.Parameter) -> Output | OutputFolder | None:
    """Return a parameter's output mark; None if it names no output."""
    mark: Output | OutputFolder | None = _mark(parameter, Output | OutputFolder)
    return mark


def _check_marked(outputs: Mapping[str, Output | OutputFolder], options: Mapping[str, Any]) -> None:
    files: list[Path] = []
    for name, mark in outputs.items():
        value = options.get(name)
        paths = value if isinstance(value, list) else [] if value is None else [value]
        for path in paths:
            if isinstance(mark, OutputFolder):
                inputs = _call.get().paths()
                check_output_folder(path, mark.mark, what=mark.what, inputs=inputs)
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


def _is_flag(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.default, bool)


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
