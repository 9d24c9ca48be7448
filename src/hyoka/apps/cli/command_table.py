# SPDX-License-Identifier: Apache-2.0
"""The tree of commands, and help about topics; only the called command's module is imported."""

import ast
import functools
import importlib
import os
import re
import shlex
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
import typer.core
import typer.main

import hyoka
from hyoka.apps.cli.command_options import declared
from hyoka.apps.cli.output import out, print_table, tell
from hyoka.foundation.errors import ParameterError, nearest

SECTIONS: Final = {
    "Evaluations": "study analyze report improve",
    "Models": "learn model book",
    "Search and play": "position match solve engine",
    "Records and experiments": "records experiment",
    "Other": "studio demo bench help",
}
"""The sections of the program's help."""
GROUPS: Final = {
    "study": "Make, extend, query and export tables of games and positions.",
    "analyze": "Measure evaluations: metrics, curves, slices, calibration.",
    "learn": "Learn from games: weights, move models, networks, objectives.",
    "model": "Show models, evaluation terms, move features, predictions.",
    "position": "Show, search and solve positions.",
    "match": "Play matches, rate players, ablate searches.",
    "engine": "Test an engine, or run a search as an engine.",
    "book": "Make and show opening books.",
    "records": "Describe and convert game records; sample records.",
    "experiment": "List and run the papers' experiments.",
}
"""Groups of commands, with their help."""
_COMMANDS: Final = """
record_commands:     study create, study append
study_commands:      study info, study columns, study sql, study evaluate, study adjudicate
study_commands:      study annotate, study export, study verify
analyze_commands:    analyze summary, analyze curves, analyze metrics, analyze gaps
analyze_commands:    analyze slices, analyze compare, analyze disagreements, analyze accuracy
analyze_commands:    analyze calibrate, analyze reliability, analyze wdl
fit_commands:        learn weights, learn tune, learn offsets, learn calibration
model_commands:      learn strengths, learn mets
training_commands:   learn comparison, learn scores, learn objective, learn network
training_commands:   learn selfplay, learn perceptrons, learn prior
model_commands:      learn combine, model show, model terms, model features, model predict
position_commands:   position show, position search, position mate, position perft
solve_commands:      position playouts
match_commands:      match run, match ratings, match ablate
engine_commands:     engine check, engine gtp, engine uci, engine usi
model_commands:      book make, book show
record_commands:     records info, records convert
workflow_commands:   records samples
experiment_commands: experiment list, experiment run
workflow_commands:   report, improve
solve_commands:      solve
workflow_commands:   studio, demo, bench
command_table:       help
"""
"""The module of each command, in the order of the help."""


class Command(NamedTuple):
    """A command, such as `study create`, and the module that has its function."""

    name: str
    module: str

    @property
    def words(self) -> list[str]:
        """The words of the command."""
        return self.name.split()

    @property
    def function(self) -> str:
        """The name of its function, such as `study_create_command`."""
        return f"{'_'.join(self.words)}_command"

    @property
    def help(self) -> str:
        """The first line of its function's docstring, read without importing the module."""
        return _summaries(self.module)[self.function]

    def load(self) -> Callable[..., Any]:
        """Import the function and add the checks of numbers and outputs."""
        module = importlib.import_module(f"hyoka.apps.cli.{self.module}")
        command: Callable[..., Any] = getattr(module, self.function)
        return declared(command, answers=self.name not in _SILENT)


_SILENT: Final = {"help", "engine gtp", "engine uci", "engine usi", "studio"}
"""Commands without an answer."""

COMMANDS: Final = tuple(
    Command(name.strip(), module)
    for module, _, names in (line.partition(":") for line in _COMMANDS.split("\n"))
    for name in names.split(",")
    if name
)


@functools.cache
def _summaries(module: str) -> dict[str, str]:
    """The first lines of the docstrings in a module, by function."""
    # Not by `ast`, which fails in threads of Python 3.11.
    source = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    return dict(_SUMMARY.findall(source))


_SUMMARY: Final = re.compile(r'^def (\w+_command)\(.*?-> \w+:\n    """(.*?)(?:"""|\n)', re.M | re.S)


_PURPOSE: Final = (
    "Hyoka (評価) finds where a game program's evaluation is wrong, fixes it, and proves the gain."
)
HOME: Final = """\
Hyoka (評価) finds where a game program's evaluation is wrong, fixes it, and
proves the gain. Go, shogi, chess, Othello, Blokus Duo, and your own games.

Try it on sample games, with a report
    hyoka demo
See whether your engine's evaluations are calibrated, and where they are biased
    hyoka study create STUDY games.pgn, then hyoka report STUDY
Evaluate the positions with other engines and searches
    hyoka study evaluate STUDY --with uci:nodes=1000:stockfish
Improve an evaluation: find biased slices, fit the weights, test them in a match
    hyoka improve STUDY
Play a match, with Elo intervals and SPRT
    hyoka match run ab:nodes=2000 ab:nodes=1000 --game chess
Play, analyze and review games in the browser
    hyoka studio

Commands: hyoka --help. A command: hyoka match run --help. Topics: hyoka help.
"""


class _HelpOption:
    """Shows the option `--help` without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class _Command(_HelpOption, typer.core.TyperCommand):
    """A command."""


class _Group(_HelpOption, typer.core.TyperGroup):
    """A group of commands."""


class _Program(typer.core.TyperGroup):
    """The program, whose help lists the commands by section."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, which fits a terminal of 24 to 30 lines."""
        commands = GROUPS | {each.name: each.help for each in COMMANDS if len(each.words) == 1}
        lines = [f"Usage: {ctx.command_path} COMMAND [OPTIONS]", ""]
        lines += [*textwrap.wrap(_PURPOSE, 80), ""]
        for title, names in SECTIONS.items():
            lines.append(f"{title}:")
            lines += [f"  {name:<12}{commands[name]}" for name in names.split()]
        lines += ["", "Options: --version, --install-completion, --show-completion, -h or --help"]
        print("\n".join(lines))

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Names of groups and commands in the order of the help."""
        return [*GROUPS, *(name for name in self.commands if name not in GROUPS)]


def command_line(arguments: Sequence[str]) -> typer.Typer:
    """Build the command line with full options for the called command only."""
    if "_HYOKA_COMPLETE" in os.environ:  # the shell asks for completions of these words
        arguments = os.environ.get("COMP_WORDS", "").split()[1:]
    # Options before a command take no value, so its name is the first words.
    called = [argument for argument in arguments if not argument.startswith("-")]
    program = typer.Typer(
        name="hyoka",
        cls=_Program,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=_PURPOSE,
        callback=_options,
        invoke_without_command=True,
    )
    groups = {
        name: typer.Typer(cls=_Group, help=text, no_args_is_help=True)
        for name, text in GROUPS.items()
    }
    for name, commands in groups.items():
        program.add_typer(commands, name=name)
    for command in COMMANDS:
        *group, name = command.words
        add_to = groups[group[0]] if group else program
        if called[: len(command.words)] == command.words:
            add_to.command(name, cls=_Command)(command.load())
        else:
            # The help of other groups' commands is not shown.
            shown = command.help if group in ([], called[:1]) else ""
            add_to.command(name, help=shown)(_not_called)
    return program


def _not_called() -> None:
    """A placeholder for commands that are only listed."""


def _version(is_set: bool) -> None:
    if is_set:
        print(f"hyoka {hyoka.__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(HOME, end="")


_NAMED: Final = re.compile(
    r"""`(?P<name>\w+)(?:=(?P<value>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^`'"]+))?`"""
)
"""The format of `hyoka.foundation.errors.named`."""


def command_of(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the command in the arguments, and its options and arguments by parameter."""
    command, path = typer.main.get_command(command_line(arguments)), ["hyoka"]
    for word in arguments:
        subcommands = getattr(command, "commands", {})
        if word not in subcommands:
            break
        command = subcommands[word]
        path.append(word)
    options = {
        parameter.name: max(parameter.opts, key=len)
        if parameter.param_type_name == "option"
        else parameter.name.upper()
        for parameter in command.params
        if parameter.name is not None
    }
    return " ".join(path), options


def suggestion(arguments: Sequence[str]) -> str:
    """Suggest the full name of a command that was called without its group, if any."""
    word = next((each for each in arguments if not each.startswith("-")), "")
    names = [each.name for each in COMMANDS if each.words[-1] == word != each.name]
    return f" did you mean hyoka {names[0]}?" if names and word not in GROUPS else ""


def similar_option(option: str, options: Iterable[str]) -> str:
    """Suggest the option that is most similar without its dashes, if any.

    >>> similar_option("--game", ["--games", "--json"]), similar_option("--limit", ["--with"])
    (', did you mean --games?', '')
    """
    by_name = {name.lstrip("-"): name for name in options if name.startswith("--")}
    near = nearest(option.lstrip("-"), by_name)
    return f", {near.replace('mean ', 'mean --')}" if near else ""


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Replace the parameters that a message names by a command's options.

    >>> in_options("say which with `by`, as `by='in check'`; not `other`", {"by": "--by"})
    "say which with --by, as --by 'in check'; not `other`"
    """

    def option(named: re.Match[str]) -> str:
        if named["name"] not in options:
            return named.group()
        return " ".join([options[named["name"]], *_words(named["value"])])

    return _NAMED.sub(option, message)


def _words(value: str | None) -> list[str]:
    """Quote a parameter's value for a shell; a flag has none."""
    if value is None or value == "True":
        return []
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return [shlex.quote(value)]
    if isinstance(read, list | tuple):
        return [shlex.quote(",".join(map(str, read)))]
    return [shlex.quote(str(read))]


def help_command(
    topic: Annotated[
        str | None,
        typer.Argument(metavar="[TOPIC]", help="Topic; without one, all topics are listed."),
    ] = None,
) -> None:
    """Explain a topic: specs, searches, conditions, records, matches."""
    text = (Path(__file__).parent / "topics.md").read_text(encoding="utf-8")
    topics = dict(re.findall(r"^# (\w+)\n(.*?)(?=^# |\Z)", text, re.MULTILINE | re.DOTALL))
    if topic is None:
        out.print(f"hyoka help TOPIC, one of: {', '.join(topics)}")
        out.print("hyoka COMMAND --help explains the options of a command")
        return
    if topic not in topics:
        near = nearest(topic, topics)
        problem = f"is one of {', '.join(topics)}, not '{topic}'; {near}".rstrip("; ")
        raise ParameterError("topic", problem)
    tell(topics[topic].strip())
    if topic == "searches":
        from hyoka.search import KINDS  # noqa: PLC0415 - other topics need no searches

        rows = [(name, meaning) for name, (meaning, *_) in KINDS.items()]
        print_table(("", ""), rows)
