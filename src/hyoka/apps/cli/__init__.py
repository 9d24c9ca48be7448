# SPDX-License-Identifier: Apache-2.0
"""The command line: each command parses arguments, calls one public function and prints."""

import contextlib
import io
import os
import sys
import warnings

import typer

from hyoka.apps.cli import signals
from hyoka.apps.cli.command_table import (
    command_line,
    command_of,
    in_options,
    similar_option,
    suggestion,
)
from hyoka.apps.cli.output import say
from hyoka.foundation.errors import EngineError, Error, ParameterError, escape_control_chars


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; invalid input gives one clear line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # replace characters that the terminal cannot show
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # the rest is not shown
    words = sys.argv[1:] if arguments is None else arguments
    command_line(words)  # Imported modules stay loaded; until then a signal ends the process.
    signals.listen()
    status = run(words)
    if status == signals.INTERRUPTED:
        # Exit at once: a normal exit would wait for threads that did not stop.
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(signals.status_after())
    sys.exit(status)


def _show_warning(message: Warning | str, *_: object) -> None:
    say(f"hyoka: {message}", complaint=True)


def _problem(error: typer.TyperException) -> str:
    """Return the message of an invalid call, with suggestions for an unknown option."""
    if not hasattr(error, "possibilities"):
        message = error.format_message()
        return message.replace(": Value error, ", ": ").replace(": Input should be ", ": must be ")
    option, context = error.option_name, error.ctx  # type: ignore[attr-defined]
    options = [] if context is None else [name for p in context.command.params for name in p.opts]
    return f"no such option: {escape_control_chars(option)}{similar_option(option, options)}"


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status; errors are one line on standard error."""
    try:
        for argument in arguments:
            if any("\ud800" <= character <= "\udfff" for character in argument):
                raise Error(f"an argument is not UTF-8: {argument!a}")
        program = command_line(arguments)
        status = program(arguments, standalone_mode=False, prog_name="hyoka", obj=arguments) or 0
        if status == signals.INTERRUPTED:
            signals.say_interrupted()
        return int(status)
    except typer.TyperException as error:
        if not error.format_message():  # a group without a command has already shown its help
            return 2
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "hyoka"
        message = f"{command}: {_problem(error)}{suggestion(arguments)}"
        message = f"{message} (see '{command} --help')"
    except EngineError as error:
        message = f"hyoka: {error.with_last_words}"
    except Error as error:
        name, options = command_of(arguments)
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
