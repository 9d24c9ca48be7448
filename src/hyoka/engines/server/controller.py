# SPDX-License-Identifier: Apache-2.0
"""The controller that started us: its lines, our answers, and the lines of play it sends."""

import importlib.metadata
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Self

from hyoka.foundation.errors import IllegalMoveError, NotationError
from hyoka.games import GO, Line, as_go, facts_of
from hyoka.records.problems.go_position import with_text_field

NAME: Final = "Hyoka"
AUTHOR: Final = "the Hyoka project"


def version() -> str:
    """The version of what is installed."""
    return importlib.metadata.version("hyoka")


_BLOCK: Final = 1 << 16
_LONGEST_LINE: Final = 1 << 20


class Controller:
    """Hears lines in a thread of its own, so that a search can be interrupted; says lines whole.

    A controller that has gone away hears nothing and says that it is at its end.
    """

    def __init__(self, lines: Iterable[str], write: Callable[[str], None]) -> None:
        """Take the lines to hear, and what writes a text and lets it go at once."""
        self._write = write
        self._heard = queue.Queue[str | None]()
        self._next: list[str | None] = []
        self._lock = threading.Lock()
        self._gone = False
        self._lines = lines
        threading.Thread(target=self._listen, name="controller", daemon=True).start()

    @classmethod
    def of_process(cls) -> Self:
        """Whoever holds the other ends of our standard input and output."""
        # No buffered reader: a thread that waits in one would keep the interpreter from ending.
        return cls(lines_of(0), write_to(1))

    def _listen(self) -> None:
        try:
            for line in self._lines:
                self._heard.put(line)
        finally:
            self._heard.put(None)

    def wait(self) -> None:
        """Wait until there is a line to hear, or the end."""
        if not self._next:
            self._next.append(self._heard.get())

    def hear(self) -> str | None:
        """The next line, waited for; None at the end, again and again."""
        self.wait()
        if self._next[0] is None or self._gone:
            return None
        return self._next.pop()

    def say(self, text: str) -> None:
        """Say whole lines, undisturbed by what other threads say."""
        with self._lock:
            if self._gone:
                return
            try:
                self._write(text + "\n")
            except (OSError, ValueError):
                self._gone = True


def lines_of(descriptor: int) -> Iterator[str]:
    """The lines that come through a file descriptor; bytes that are no UTF-8 become `�`.

    Of an overlong line only the start is kept.
    """
    rest = b""
    while True:
        try:
            block = os.read(descriptor, _BLOCK)
        except OSError:
            block = b""
        if not block:
            break
        *whole, rest = (rest + block).split(b"\n")
        yield from (line[:_LONGEST_LINE].decode("utf-8", "replace") for line in whole)
        rest = rest[: _LONGEST_LINE + 1]
    if rest:
        yield rest[:_LONGEST_LINE].decode("utf-8", "replace")


def write_to(descriptor: int) -> Callable[[str], None]:
    """What writes whole texts to a file descriptor, unbuffered."""

    def write(text: str) -> None:
        left = memoryview(text.encode("utf-8", "replace"))
        while left:
            left = left[os.write(descriptor, left) :]

    return write


def continued(line: Line) -> Line:
    """The line, or where a rule has ended it, the same position with as little past as play needs.

    A controller may go on after a repetition, fifty moves or two passes; a search that sees the end
    of the game has nothing to say. Mates, stalemates and full boards stay what they are.

    >>> import hyoka as hk
    >>> line = hk.Go9().line().play("pass").play("pass")
    >>> line.outcome is None, continued(line).outcome is None
    (False, True)
    """
    if line.outcome is None:
        return line
    if facts_of(line).family == GO:
        return with_text_field(as_go(line.position), 3, "0").line()
    fresh = line.position.line()
    return fresh if fresh.outcome is None else line.position.movement_only().line()


def played(line: Line, texts: Iterable[str]) -> Line:
    """The line after some moves. Raises NotationError or IllegalMoveError with the bad one."""
    for number, text in enumerate(texts, start=1):
        line = continued(line)
        try:
            move = line.parse(text)
        except TypeError:  # half a character
            raise NotationError(f"move {number}: no text that can be read") from None
        if not line.is_legal(move):
            raise IllegalMoveError(f"move {number}: {move} is not legal in {line.position.text}")
        line = line.play(move)
    return line


def printable(text: object) -> str:
    """A message on one line, without what could be taken for the end of one."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
