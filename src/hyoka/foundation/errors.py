# SPDX-License-Identifier: Apache-2.0
"""The exceptions that Hyoka raises.

Error:
├─ NotationError(ValueError)     the text cannot be read
├─ IllegalMoveError(ValueError)  it reads, but the rules forbid it
├─ SourceError                   a file that is not there, broken, or not what it should be
├─ OutputError                   a file that can't be written, or must not be replaced
├─ RefusedError                  a recorded game that can't be taken  .source .line .number .ply
├─ StudyError                    a study that is not there, or not as it should be
├─ ParallelError                    workers or their scheduler that are gone or can't be reached
├─ ConditionError(ValueError)    a condition that is no SQL or names no column
├─ ParameterError(ValueError)    a parameter that can't be what it is  .parameter
├─ OutOfMemoryError(MemoryError) a table or a tree that is too large for this machine
└─ EngineError                   died, hung, refused or talked nonsense
                                 .engine .transcript .last_words .reason

Messages name parameters in backquotes (`named`); the command line replaces them by its options.

"""

import difflib
import re
from collections.abc import Iterable
from typing import Final


def nearest(word: str, names: Iterable[str]) -> str:
    """Suggest the nearest known word: `did you mean X?`; empty if none is near."""
    lower = word.lower()
    spelt = {other.lower(): other for other in names}
    near = difflib.get_close_matches(lower, list(spelt), n=3)

    def likeness(other: str) -> tuple[float, bool]:
        # Among equally near words, prefer one with swapped letters.
        ratio = difflib.SequenceMatcher(None, other, lower).ratio()
        return ratio, sorted(other) == sorted(lower)

    return f"did you mean {spelt[max(near, key=likeness)]}?" if near else ""


def named(parameter: str, value: object = None) -> str:
    """A parameter in a message, with its value, if any.

    >>> print(named("by"), named("where", "ply > 3"))
    `by` `where='ply > 3'`
    """
    return f"`{parameter}`" if value is None else f"`{parameter}={value!r}`"


# Terminal control characters (C0 without line breaks and tabs, DEL, C1), bidirectional controls,
# and two line separators.
TERMINAL_COMMANDS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def escape_control_chars(text: str) -> str:
    r"""Escape all control characters in a text for a terminal.

    >>> escape_control_chars("red \x1b[31m and \u202edesrever")
    'red \\x1b[31m and \\u202edesrever'
    """
    return TERMINAL_COMMANDS.sub(lambda match: ascii(match.group())[1:-1], text)


class Error(Exception):
    """The base class of Hyoka's exceptions."""


class NotationError(Error, ValueError):
    """A text that cannot be read."""


class IllegalMoveError(Error, ValueError):
    """A move that is readable but illegal here."""


class SourceError(Error):
    """A file that is missing, broken, dangerous or of the wrong kind."""


class OutputError(Error):
    """A file or folder that cannot be written, or must not be replaced."""


class RefusedError(Error):
    """A recorded game that cannot be used."""

    def __init__(self, message: str, *, source: str, line: int, number: int, ply: int) -> None:
        super().__init__(message)
        self.source = source
        self.line = line
        self.number = number
        self.ply = ply


class StudyError(Error):
    """A study that is missing, already exists, or is invalid."""


class ParallelError(Error):
    """Workers, or a cluster's scheduler, that are gone or unreachable."""


class ConditionError(Error, ValueError):
    """A condition that is not valid SQL, or names no column."""


class ParameterError(Error, ValueError):
    """An invalid parameter, or an invalid combination of parameters.

    The message is a sentence about the parameter:

    >>> print(ParameterError("draws", "is drop or half, not 'some'"))
    `draws` is drop or half, not 'some'
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(parameter, problem)
        self.parameter = parameter
        self.problem = problem

    def __str__(self) -> str:
        return f"{named(self.parameter)} {self.problem}"


class OutOfMemoryError(Error, MemoryError):
    """A table or tree that exceeds the available memory."""


class EngineError(Error):
    """An engine that is missing, died, hung, refused or sent invalid output.

    `transcript` contains the last lines of the dialogue (`>` Hyoka, `<` the engine). `last_words`
    are the last lines of the engine's standard error: show them only to its user and write them to
    no shared file, since they may name anything on the machine. `reason` is one word for tables
    and programs: `missing`, `option`, `limit`, `died`, `timeout`, `flood`, `nonsense`,
    `unplayable` (no legal move), `game` (it plays another) or `refused`; after the last two the
    engine is in sync and accepts other commands.
    """

    def __init__(
        self,
        engine: str,
        message: str,
        transcript: str = "",
        reason: str = "nonsense",
        last_words: str = "",
    ) -> None:
        super().__init__(f"{engine}: {message}")
        self.engine = engine
        self.message = message
        self.transcript = transcript
        self.reason = reason
        self.last_words = last_words

    @property
    def with_last_words(self) -> str:
        """Return the error and the engine's last line, for a terminal."""
        words = self.last_words.rpartition("\n")[2]
        if not words or self.reason not in ("died", "missing") or words in self.message:
            return str(self)
        return f"{self}; its last words: {words}"

    def __reduce__(self) -> tuple[type["EngineError"], tuple[str, str, str, str, str]]:
        arguments = (self.engine, self.message, self.transcript, self.reason, self.last_words)
        return type(self), arguments
