# SPDX-License-Identifier: Apache-2.0
"""Lines to and from an engine, under a watchdog and in bounded memory."""

import asyncio
import contextlib
import itertools
import os
import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from hyoka import _core
from hyoka.engines.client.process import (
    ask_to_end,
    describe_exit,
    has_exited,
    kill_process,
    start_process,
)
from hyoka.engines.spec import EngineSpec
from hyoka.foundation.errors import EngineError

GREETINGS: Final = {
    "uci": "uci\n",
    "usi": "usi\n",
    "gtp": "name\n",
    "cecp": "xboard\nprotover 2\nping 1\n",
}
DOUBT_S: Final = 3.0
"""How long a greeting goes unanswered before the others are tried."""
_SIGNS: Final = (
    ("uci", re.compile(r"uciok\b")),
    ("usi", re.compile(r"usiok\b")),
    ("gtp", re.compile(r"[=?]\d*(?:\s|$)")),
    ("cecp", re.compile(r"feature \w+=|pong 1\b|(?:Illegal|Invalid) move\b|Error \(")),
)


def spoken_in(line: str) -> str | None:
    """The protocol that a line of an engine belongs to, where that is plain.

    >>> spoken_in("usiok"), spoken_in("? unknown command"), spoken_in("id name Some Engine")
    ('usi', 'gtp', None)
    """
    return next((protocol for protocol, sign in _SIGNS if sign.match(line)), None)


def other_greetings(protocol: str) -> str:
    """What is said to an engine that does not answer to its own protocol's greeting."""
    return "".join(text for name, text in GREETINGS.items() if name != protocol)


def mistaken(protocol: str, line: str) -> str | None:
    """What to tell whoever took an engine for one of a protocol; None without a sign of it."""
    spoken = spoken_in(line)
    if spoken is None or spoken == protocol:
        return None
    return (
        f"does not speak {protocol.upper()}, but {spoken.upper()}, it seems; write {spoken}: "
        f"before its command instead of {protocol}:"
    )


MAX_LINE_BYTES: Final = 1 << 20
MAX_ANSWER_BYTES: Final = 64 << 20
"""More output than this to one question is a flood."""
STDERR_LINES: Final = 20
DIALOGUE_LINES: Final = 20
"""So many last lines of each go into a transcript."""
_LONGEST_SHOWN: Final = 400
_STDERR_KEPT: Final = 500  # some engines draw a board there after what we look for
_QUICK_MS: Final = 1
_LINGER_S: Final = 0.05
# From the first sign of an engine's end (its exit, the ends of its two outputs) to the last.
_LAST_WORDS_S: Final = 0.2


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match of a pattern in a text."""
    match = None
    for match in pattern.finditer(text):  # noqa: B007
        pass
    return match


def printable(text: str) -> str:
    r"""One line of an engine's words, safe to show: it might send a terminal's commands.

    >>> printable("red \x1b[31m")
    'red �[31m'
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


class _Lines(asyncio.Protocol):
    """Cuts a stream into lines and hands them on in batches, as they come."""

    def __init__(
        self,
        lines_received: Callable[[str], None],
        overlong: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        self._lines_received = lines_received
        self._overlong = overlong
        self._ended = ended
        self._pieces: list[bytes] = []
        self._pieces_bytes = 0

    def data_received(self, data: bytes) -> None:
        cut = data.rfind(b"\n")
        if cut < 0:
            self._keep(data)
            return
        whole = data[:cut]
        if self._pieces:
            whole = b"".join((*self._pieces, whole))
            self._pieces.clear()
            self._pieces_bytes = 0
        if cut + 1 < len(data):
            self._keep(data[cut + 1 :])
        self._lines_received(whole.decode("utf-8", "replace"))

    def _keep(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._pieces_bytes += len(piece)
        if self._pieces_bytes > MAX_LINE_BYTES:
            self._pieces.clear()
            self._pieces_bytes = 0
            self._overlong()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._pieces:
            self.data_received(b"\n")
        self._ended()


Question = tuple[str, Callable[[str], bool]]
"""Whole lines to send, and the reader of the answer."""


class _Series:
    """Reads the answers to some questions, and asks the next when one is complete."""

    def __init__(
        self, transport: "Transport", questions: Sequence[Question], timeout_s: float
    ) -> None:
        self._transport = transport
        self._questions = questions
        self._reader = questions[0][1]
        self._timeout_s = timeout_s
        self._began = time.monotonic()
        self.seconds: list[float] = []

    def __call__(self, text: str) -> bool:
        if not self._reader(text):
            return False
        now = time.monotonic()
        self.seconds.append(now - self._began)
        done = len(self.seconds)
        if done == len(self._questions):
            return True
        request, self._reader = self._questions[done]
        self._began = now
        self._transport.extend(self._timeout_s)
        self._transport.tell(request)
        return False


class Transport:
    """A running engine: `ask` it, `tell` it, and in the end `close` or `kill` it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        cwd: Path | None,
        env: Mapping[str, str],
        tells_stderr: bool,
    ) -> None:
        self.name = name
        self._tells_stderr = tells_stderr
        self.last_word = "\n"
        """What the last line of an answer begins with, where that is known."""
        self._loop = asyncio.get_running_loop()
        self._process = start_process(command, cwd, env)
        self._stdin: asyncio.WriteTransport | None = None
        self._outputs: list[asyncio.ReadTransport] = []
        self._output = _Lines(self._lines_received, self._line_overlong, self._end_noticed)
        self._output_fd = -1
        self._quick = False
        self._dialogue: deque[tuple[str, str]] = deque(maxlen=2 * DIALOGUE_LINES)
        self._stderr: deque[str] = deque(maxlen=_STDERR_KEPT)
        self._stderr_count = 0
        self._stderr_news = asyncio.Event()
        self._reader: Callable[[str], bool] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._deadline = 0.0
        self._wait_s = 0.0
        self._received_bytes = 0
        self._watchdog: asyncio.TimerHandle | None = None
        self._pidfd = -1
        self._endings = 0
        self._failure: EngineError | None = None

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        cwd: Path | None = None,
        *,
        env: Mapping[str, str] | None = None,
        tells_stderr: bool = False,
    ) -> Self:
        """Start `command`, whose first word is a program's full path; `name` is for messages.

        It runs in `cwd` and has the variables `env` beside ours. With `tells_stderr` errors and
        transcripts hold what came on standard error.
        """
        try:
            transport = cls(name, command, cwd, env or {}, tells_stderr)
        except OSError as error:
            raise EngineError(
                name, f"cannot run {command[0]}: {error.strerror}", reason="missing"
            ) from error
        try:
            await transport._connect()
        except BaseException:
            transport.kill()
            raise
        return transport

    async def _connect(self) -> None:
        loop, process = self._loop, self._process
        assert process.stdout is not None
        self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        self._output_fd = process.stdout.fileno()
        output = self._output
        errors = _Lines(self._errors_received, lambda: None, self._end_noticed)
        # One by one: a cancellation between the two must find the first, to close it.
        for lines, stream in ((output, process.stdout), (errors, process.stderr)):
            connected, _ = await loop.connect_read_pipe(lambda lines=lines: lines, stream)  # type: ignore[misc]
            self._outputs.append(connected)
        if hasattr(os, "pidfd_open"):
            # A child of the engine may hold its output open: without this its end would go unseen.
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(process.pid)
                loop.add_reader(self._pidfd, self._exit_noticed)

    @property
    def pid(self) -> int:
        """The engine's process, or its keeper's, which ends as the engine does."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the engine can still be asked."""
        return self._failure is None

    @property
    def failure(self) -> EngineError | None:
        """Why the engine can no longer be asked."""
        return self._failure

    @property
    def stderr_count(self) -> int:
        """How many lines the engine has written to its standard error."""
        return self._stderr_count

    @classmethod
    async def of(cls, spec: EngineSpec, cwd: Path | None = None) -> Self:
        """Start the engine that a spec names, in its folder unless another is given."""
        folder = cwd or spec.folder()
        return await cls.start(
            spec.title, spec.program(), folder, env=dict(spec.env), tells_stderr=spec.stderr
        )

    async def ask(
        self,
        text: str,
        reader: Callable[[str], bool],
        timeout_s: float,
        *,
        later: Sequence[tuple[float, Callable[[], str]]] = (),
    ) -> float:
        """Send whole lines and wait for the answer; gives the seconds it took.

        The lines of the answer are handed to `reader` as they come, some at a time, until it says
        True. Raises EngineError if that does not happen in time, the engine floods or ends, or the
        reader raises one: the engine is then dead and reaped, as it is after a cancellation.
        What those in `later` give is sent as well if there is no answer for so many seconds.
        """
        if self._failure is not None:
            raise self.error(self._failure.message, self._failure.reason)
        self._drop_what_came_unasked()
        self._reader = reader
        self._waiter = waiter = self._loop.create_future()
        self._received_bytes = 0
        began = self._loop.time()
        self._deadline, self._wait_s = began + timeout_s, timeout_s
        # One timer serves many questions: when it fires it looks at the deadline of that moment.
        if self._watchdog is None or self._watchdog.when() > self._deadline:
            self._set_watchdog()
        pokes = [
            self._loop.call_later(after_s, lambda more=more: self.tell(more()))  # type: ignore[misc]
            for after_s, more in later
        ]
        try:
            self.tell(text)
            if self._quick:
                self._linger(waiter)
            await waiter
        except BaseException:
            self.kill()
            raise
        finally:
            self._reader = self._waiter = None
            for poke in pokes:
                poke.cancel()
        took = self._loop.time() - began
        self._quick = took < _QUICK_MS / 1000
        return took

    async def ask_each(self, questions: Sequence[Question], timeout_s: float) -> list[float]:
        """Ask questions in turn, each the moment the one before is answered; gives the seconds.

        That leaves a quick engine no time to fall asleep. Where an answer fails as in `ask`, the
        list ends before it, the engine is dead and `failure` says why.
        """
        series = _Series(self, questions, timeout_s)
        with contextlib.suppress(EngineError):
            await self.ask(questions[0][0], series, timeout_s)
            self._quick = series.seconds[-1] < _QUICK_MS / 1000
        return series.seconds

    def _drop_what_came_unasked(self) -> None:
        """Take from the pipe what nobody waited for, or it would pass for the next answer."""
        data = _core.read_promptly(self._output_fd, self.last_word, 0, _QUICK_MS)
        if data:
            self._output.data_received(data)

    def _linger(self, waiter: asyncio.Future[None]) -> None:
        """Read on the spot what comes at once: a turn of the event loop costs more than that.

        Only after a quick answer and for a moment, so that others in the loop are not held up.
        """
        until = self._loop.time() + _LINGER_S
        while not waiter.done() and self._loop.time() < until:
            data = _core.read_promptly(
                self._output_fd, self.last_word, _QUICK_MS, round(1000 * _LINGER_S)
            )
            if not data:
                return  # nothing yet, or the end, which the loop will find
            self._output.data_received(data)

    def extend(self, timeout_s: float) -> None:
        """Let the watchdog wait so long from now on, for another answer."""
        self._deadline = self._loop.time() + timeout_s
        self._received_bytes = 0

    def tell(self, text: str) -> None:
        """Send whole lines, and expect no answer."""
        assert self._stdin is not None, "not connected yet"
        self._dialogue.append((">", text))
        self._stdin.write(text.encode())

    async def find_in_stderr(
        self, pattern: re.Pattern[str], since: int, patience_s: float
    ) -> re.Match[str] | None:
        """The last match of `pattern` in the lines of standard error after the first `since`.

        They come through another pipe than the answers, perhaps later: without a match yet, this
        waits for one for up to `patience_s`.
        """
        deadline = self._loop.time() + patience_s
        while True:
            new = min(self._stderr_count - since, len(self._stderr))
            text = "\n".join(itertools.islice(self._stderr, len(self._stderr) - new, None))
            match = last_match(pattern, text)
            patience_s = deadline - self._loop.time()
            if match is not None or patience_s <= 0:
                return match
            self._stderr_news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stderr_news.wait(), patience_s)

    def error(self, message: str, reason: str) -> EngineError:
        """An EngineError of this engine, with the transcript as it stands."""
        last_words = "\n".join(self._last_words())
        return EngineError(self.name, printable(message), self.transcript, reason, last_words)

    @property
    def transcript(self) -> str:
        """The last lines said, `>` by us and `<` by the engine; `!` is for standard error."""
        said = [(who, line) for who, text in self._dialogue for line in text.splitlines()]
        lines = [
            f"{who} {printable(line[:_LONGEST_SHOWN])}" for who, line in said[-DIALOGUE_LINES:]
        ]
        if self._tells_stderr:
            lines += [f"! {line}" for line in self._last_words()]
        return "\n".join(lines)

    def _last_words(self) -> list[str]:
        lines = itertools.islice(self._stderr, max(0, len(self._stderr) - STDERR_LINES), None)
        return [printable(line[:_LONGEST_SHOWN]) for line in lines]

    async def close(self, farewell: str = "quit\n", patience_s: float = 2.0) -> bool:
        """Ask the engine to quit, then insist; True if it went by itself. It is reaped anyway."""
        if not self.alive:
            self.kill()
            return False
        by_itself = False
        self._failure = self.error("was closed", "died")
        try:
            self.tell(farewell)
            by_itself = await self._exited_within(patience_s)
            if not by_itself:
                ask_to_end(self._process)
                await self._exited_within(patience_s / 4)
        finally:
            self.kill()
        return by_itself

    async def _exited_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        pause = 0.001
        while not has_exited(self._process):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.05)
        return True

    def kill(self) -> None:
        """End the engine and its children now, and reap it; needs no running event loop."""
        kill_process(self._process)
        if self._failure is None:
            self._failure = self.error("was closed", "died")
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        if not self._loop.is_closed():
            if self._stdin is not None and not self._stdin.is_closing():
                self._stdin.abort()
            for output in self._outputs:
                output.close()
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_exception(self._failure)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _lines_received(self, text: str) -> None:
        if "\r" in text:
            text = text.replace("\r", "")
        self._dialogue.append(("<", text))
        self._received_bytes += len(text)
        if self._received_bytes > MAX_ANSWER_BYTES:
            self._fail(self.error(f"sends over {MAX_ANSWER_BYTES >> 20} MiB at once", "flood"))
            return
        if self._reader is None:
            return
        try:
            if self._reader(text):
                self._reader = None
                if self._waiter is not None and not self._waiter.done():
                    self._waiter.set_result(None)
        except EngineError as error:
            self._fail(error)

    def _line_overlong(self) -> None:
        self._fail(self.error(f"sends a line of over {MAX_LINE_BYTES >> 20} MiB", "flood"))

    def _errors_received(self, text: str) -> None:
        lines = text.splitlines()
        self._stderr_count += len(lines)
        self._stderr.extend(line[: 10 * _LONGEST_SHOWN] for line in lines)
        self._stderr_news.set()

    def _set_watchdog(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._watchdog = self._loop.call_at(self._deadline, self._time_up)

    def _time_up(self) -> None:
        self._watchdog = None
        if self._waiter is None:
            return
        if self._loop.time() < self._deadline:
            self._set_watchdog()
        else:
            message = f"does not answer within {self._wait_s:g} s"
            self._fail(self.error(message, "timeout"))

    def _exit_noticed(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self._end_noticed()

    def _end_noticed(self) -> None:
        self._endings += 1
        if self._endings == 3:
            self._end()
        elif self.alive:
            self._loop.call_later(_LAST_WORDS_S, self._end)

    def _end(self) -> None:
        if self.alive:
            how = describe_exit(kill_process(self._process))
            words = self._last_words() if self._tells_stderr else []
            last = f"; its last words: {words[-1]}" if words else ""
            self._fail(self.error(f"died ({how}){last}", "died"))

    def _fail(self, failure: EngineError) -> None:
        if self.alive:
            self._failure = failure
            self.kill()
