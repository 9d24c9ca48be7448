# SPDX-License-Identifier: Apache-2.0
"""Line transport to and from an engine, with a watchdog and bounded memory."""

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
from hyoka.engines.spec import PROTOCOLS, EngineSpec
from hyoka.foundation.errors import EngineError

DOUBT_S: Final = 3.0
"""The maximum time for the answer to a greeting before other protocols are tried."""


def spoken_in(line: str) -> str | None:
    """Return the protocol that an engine's line belongs to, if it is clear.

    >>> spoken_in("usiok"), spoken_in("? unknown command"), spoken_in("id name Some Engine")
    ('usi', 'gtp', None)
    """
    return next((name for name, each in PROTOCOLS.items() if each.sign.match(line)), None)


def other_greetings(protocol: str) -> str:
    """Return the greetings of the other protocols."""
    return "".join(each.greeting for name, each in PROTOCOLS.items() if name != protocol)


def mistaken(protocol: str, line: str) -> str | None:
    """Return an error message if a line belongs to another protocol; else None."""
    spoken = spoken_in(line)
    if spoken is None or spoken == protocol:
        return None
    return (
        f"seems to speak {spoken.upper()}, not {protocol.upper()}; write {spoken}: "
        f"before its command instead of {protocol}:"
    )


MAX_LINE_BYTES: Final = 1 << 20
MAX_ANSWER_BYTES: Final = 64 << 20
"""The maximum size of an answer."""
STDERR_LINES: Final = 20
DIALOGUE_LINES: Final = 20
"""The number of last lines in a transcript, per stream."""
_LONGEST_SHOWN: Final = 400
_STDERR_KEPT: Final = 500  # some engines draw a board after the lines that matter
_QUICK_MS: Final = 1
_LINGER_S: Final = 0.05
# From the first sign of an engine's exit (its status, the ends of its outputs) to the last.
_LAST_WORDS_S: Final = 0.2


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a pattern in a text."""
    match = None
    for match in pattern.finditer(text):  # noqa: B007
        pass
    return match


def printable(text: str) -> str:
    r"""Return an engine's line without characters that could control a terminal.

    >>> printable("red \x1b[31m")
    'red �[31m'
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


class _Lines(asyncio.Protocol):
    """Splits a stream into lines and delivers them in batches."""

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
        complete = data[:cut]
        if self._pieces:
            complete = b"".join((*self._pieces, complete))
            self._pieces.clear()
            self._pieces_bytes = 0
        if cut + 1 < len(data):
            self._keep(data[cut + 1 :])
        self._lines_received(complete.decode("utf-8", "replace"))

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
"""Complete lines to send, and the reader of the answer."""


class _Series:
    """Reads the answers to several questions; sends the next when one is complete."""

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
    """A running engine process: `ask`, `tell`, and finally `close` or `kill`."""

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
        """The prefix of an answer's last line, where the protocol has one."""
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
        """Start `command`, whose first word is the program's full path; `name` is for messages.

        It runs in `cwd` with the additional variables `env`. With `tells_stderr`, errors and
        transcripts include standard error.
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
        # One after the other: a cancellation between the two must find the first to close it.
        for lines, stream in ((output, process.stdout), (errors, process.stderr)):
            connected, _ = await loop.connect_read_pipe(lambda lines=lines: lines, stream)  # type: ignore[misc]
            self._outputs.append(connected)
        if hasattr(os, "pidfd_open"):
            # A child of the engine may keep its output open, which would hide its exit.
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(process.pid)
                loop.add_reader(self._pidfd, self._exit_noticed)

    @property
    def pid(self) -> int:
        """The process id of the engine or its supervisor, which exits together with it."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the engine can still answer."""
        return self._failure is None

    @property
    def failure(self) -> EngineError | None:
        """The reason why the engine can no longer answer."""
        return self._failure

    @property
    def stderr_count(self) -> int:
        """The number of lines on standard error so far."""
        return self._stderr_count

    @classmethod
    async def of(cls, spec: EngineSpec, cwd: Path | None = None) -> Self:
        """Start the engine of a spec, in its folder or in `cwd`."""
        folder = cwd or spec.folder()
        return await cls.start(
            spec.program_name, spec.program(), folder, env=dict(spec.env), tells_stderr=spec.stderr
        )

    async def ask(
        self,
        text: str,
        reader: Callable[[str], bool],
        timeout_s: float,
        *,
        later: Sequence[tuple[float, Callable[[], str]]] = (),
    ) -> float:
        """Send complete lines and wait for the answer; return the seconds it took.

        `reader` gets the answer's lines in batches until it returns True. Raises EngineError on a
        timeout, a flood or the engine's exit, or if the reader raises one; the engine is then
        killed and reaped, as after a cancellation. Each pair in `later` is a delay and a function
        whose text is sent if there is no answer by then.
        """
        if self._failure is not None:
            raise self.error(self._failure.message, self._failure.reason)
        self._drop_what_came_unasked()
        self._reader = reader
        self._waiter = waiter = self._loop.create_future()
        self._received_bytes = 0
        began = self._loop.time()
        self._deadline, self._wait_s = began + timeout_s, timeout_s
        # One timer serves many questions: it reads the current deadline when it fires.
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
        """Ask questions in turn, each as soon as the previous one is answered; return the seconds.

        This keeps a quick engine from falling asleep. After a failure as in `ask` the list is
        shorter, the engine is dead and `failure` has the reason.
        """
        series = _Series(self, questions, timeout_s)
        with contextlib.suppress(EngineError):
            await self.ask(questions[0][0], series, timeout_s)
            self._quick = series.seconds[-1] < _QUICK_MS / 1000
        return series.seconds

    def _drop_what_came_unasked(self) -> None:
        """Drain unsolicited output, which would pass for the next answer."""
        data = _core.read_promptly(self._output_fd, self.last_word, 0, _QUICK_MS)
        if data:
            self._output.data_received(data)

    def _linger(self, waiter: asyncio.Future[None]) -> None:
        """Read output that arrives at once, since a turn of the event loop costs more.

        Only after a quick answer and briefly, so that the loop is not blocked.
        """
        until = self._loop.time() + _LINGER_S
        while not waiter.done() and self._loop.time() < until:
            data = _core.read_promptly(
                self._output_fd, self.last_word, _QUICK_MS, round(1000 * _LINGER_S)
            )
            if not data:
                return  # nothing yet, or end of file, which the loop will notice
            self._output.data_received(data)

    def extend(self, timeout_s: float) -> None:
        """Restart the watchdog for another answer."""
        self._deadline = self._loop.time() + timeout_s
        self._received_bytes = 0

    def tell(self, text: str) -> None:
        """Send complete lines without waiting for an answer."""
        assert self._stdin is not None, "not connected yet"
        self._dialogue.append((">", text))
        self._stdin.write(text.encode())

    async def find_in_stderr(
        self, pattern: re.Pattern[str], since: int, patience_s: float
    ) -> re.Match[str] | None:
        """Return the last match of `pattern` in standard error after the first `since` lines.

        Standard error may lag behind the answers: without a match this waits for up to
        `patience_s`.
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
        """Return an EngineError with the current transcript."""
        last_words = "\n".join(self._last_words())
        return EngineError(self.name, printable(message), self.transcript, reason, last_words)

    @property
    def transcript(self) -> str:
        """The last lines of the dialogue: `>` ours, `<` the engine's, `!` standard error."""
        dialogue = [(who, line) for who, text in self._dialogue for line in text.splitlines()]
        lines = [
            f"{who} {printable(line[:_LONGEST_SHOWN])}" for who, line in dialogue[-DIALOGUE_LINES:]
        ]
        if self._tells_stderr:
            lines += [f"! {line}" for line in self._last_words()]
        return "\n".join(lines)

    def _last_words(self) -> list[str]:
        lines = itertools.islice(self._stderr, max(0, len(self._stderr) - STDERR_LINES), None)
        return [printable(line[:_LONGEST_SHOWN]) for line in lines]

    async def close(self, farewell: str = "quit\n", patience_s: float = 2.0) -> bool:
        """Ask the engine to quit, then kill and reap it; True if it exited on request."""
        if not self.alive:
            self.kill()
            return False
        exited = False
        self._failure = self.error("was closed", "died")
        try:
            self.tell(farewell)
            exited = await self._exited_within(patience_s)
            if not exited:
                ask_to_end(self._process)
                await self._exited_within(patience_s / 4)
        finally:
            self.kill()
        return exited

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
        """Kill and reap the engine and its children; needs no running event loop."""
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
