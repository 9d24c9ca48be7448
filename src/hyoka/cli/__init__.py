# SPDX-License-Identifier: Apache-2.0
"""The command line: each command parses, calls one public function and prints."""

import contextlib
import io
import os
import sys
import warnings
from typing import Annotated

import typer

import hyoka
from hyoka.cli import (
    analyses,
    artefacts,
    demo,
    engines,
    experiments,
    games,
    learning,
    matches,
    positions,
    ratings,
    records,
    reports,
    searches,
    signals,
    studies,
)
from hyoka.cli.options import command_of, in_options
from hyoka.cli.output import say
from hyoka.errors import EngineError, Error, ParameterError

app = typer.Typer(
    name="hyoka",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Hyoka (評価): find out where a game program's evaluation is wrong, mend it, and prove "
    "the gain on the board. Go, shogi, chess, Othello, Blokus Duo.",
    epilog="Start with: hyoka demo · hyoka match · hyoka records GAMES.pgn · hyoka show chess",
)
engine_app = typer.Typer(
    help="Engines: try one out, or be one in a GUI or a match.", no_args_is_help=True
)
app.add_typer(engine_app, name="engine")
learn_app = typer.Typer(
    help="Learn from a study's games: the weights of an evaluation.", no_args_is_help=True
)
app.add_typer(learn_app, name="learn")

app.command("demo")(demo.demo_command)
app.command("samples")(demo.samples_command)
app.command("records")(records.records_command)
app.command("convert")(records.convert_command)
app.command("columns")(studies.columns_command)
app.command("evaluate")(studies.evaluate_command)
app.command("report")(reports.report_command)
for name, command in (
    ("analyse", analyses.analyse_command),
    ("curves", analyses.curves_command),
    ("metrics", analyses.metrics_command),
    ("gaps", analyses.gaps_command),
    ("splits", analyses.splits_command),
    ("compare", analyses.compare_command),
    ("disagreements", analyses.disagreements_command),
    ("calibrate", analyses.calibrate_command),
):
    app.command(name, rich_help_panel="What a study's evaluations are worth")(command)
app.command("artefact")(artefacts.artefact_command)
learn_app.command("weights")(learning.weights_command)
app.command("adjudicate")(studies.adjudicate_command)
app.command("sql")(studies.sql_command)
app.command("check")(studies.check_command)
app.command("show")(games.show_command)
app.command("search")(positions.search_command)
app.command("mate")(positions.mate_command)
app.command("solve")(searches.solve_command)
engine_app.command("check")(engines.check_command)
engine_app.command("gtp")(searches.gtp_command)
engine_app.command("uci")(searches.uci_command)
engine_app.command("usi")(searches.usi_command)
app.command("match")(matches.match_command)
app.command("ratings")(ratings.ratings_command)
app.command("ablate")(experiments.ablate_command)
app.command("reproduce")(experiments.reproduce_command)
app.command("perft")(games.perft_command)
app.command("bench")(games.bench_command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyoka {hyoka.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input gives one clear line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal that can't show a stone still shows the rest
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # the rest is not shown
    signals.listen()
    status = run(sys.argv[1:] if arguments is None else arguments)
    if status == signals.INTERRUPTED:
        # At once: threads that did not stop would be waited for.
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(signals.status_after())
    sys.exit(status)


def _show_warning(message: Warning | str, *_: object) -> None:
    say(f"hyoka: {message}", complaint=True)


def run(arguments: list[str]) -> int:
    """Run a command and give its exit status; what went wrong is one line on standard error."""
    try:
        for argument in arguments:
            if any("\ud800" <= character <= "\udfff" for character in argument):
                raise Error(f"an argument is not UTF-8: {argument!a}")
        given = arguments or ["--help"]
        status = int(app(given, standalone_mode=False, prog_name="hyoka", obj=given) or 0)
        if status == signals.INTERRUPTED:
            signals.say_interrupted()
        return status
    except typer.TyperException as error:
        if not error.format_message():  # a group without a command has shown its help
            return 2
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "hyoka"
        message = f"{command}: {error.format_message()} (see '{command} --help')"
    except EngineError as error:
        message = f"hyoka: {error.with_last_words}"
    except Error as error:
        name, options = command_of(app, arguments)
        message = f"hyoka: {in_options(str(error), options)}"
        if isinstance(error, ParameterError):
            message = f"{message} (see '{name} --help')"
    except MemoryError:
        message = "hyoka: there is not enough memory for this"
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            return 141
        message = f"hyoka: {error}"
    except (KeyboardInterrupt, typer.Abort):
        signals.say_interrupted()
        return signals.INTERRUPTED
    say(message.replace("\n", " "), complaint=True)
    return 2
