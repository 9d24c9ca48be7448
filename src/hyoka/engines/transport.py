# SPDX-License-Identifier: Apache-2.0
"""Lines to and from an engine, under a watchdog and in bounded memory.

A `Transport` belongs to the event loop that started it. An engine hears one question at a time; the
next may stand ready meanwhile, and goes out the moment the answer is there. A question that fails,
for whatever reason, leaves no living process behind.
"""

import asyncio
import contextlib
import itertools
import os
import re
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from hyoka.engines.process import (
    describe_exit,
    has_exited,
    kill_process,
    signal_group,
    start_process,
)
from hyoka.errors import EngineError

MAX_LINE_BYTES: Final = 1 << 20
MAX_ANSWER_BYTES: Final = 64 << 20
"""More output than this to one question is a flood."""
STDERR_LINES: Final = 20
DIALOGUE_LINES: Final = 20
"""So many last lines of each go into a transcript."""
_LONGEST_SHOWN: Final = 400
_STDERR_KEPT: Final = 500  # some engines draw a board there after what we look for
_QUICK_MS: Final = 1
# From the first sign of an engine's end (its exit, or the end of its output) to the second.
_LAST_WORDS_S: Final = 0.2


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match of a pattern in a text."""
    match = None
    for match in pattern.finditer(text):  # noqa: B007
        pass
    return match


def _refuse(waiter: asyncio.Future[float], error: EngineError) -> None:
    waiter.set_exception(error)
    waiter.exception()  # so that nobody complains if nobody waits any more


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
        self._ended()


class _Question:
    """What is sent, who reads the answer, and how long it may take."""

    __slots__ = ("began", "reader", "text", "timeout_s", "waiter")

    def __init__(
        self,
        text: str,
        reader: Callable[[str], bool],
        timeout_s: float,
        waiter: asyncio.Future[float],
    ) -> None:
        self.text = text
        self.reader = reader
        self.timeout_s = timeout_s
        self.waiter = waiter
        self.began = 0.0


class Transport:
    """A running engine: `ask` it, `tell` it, and in the end `close` or `kill` it."""

    def __init__(self, name: str, command: Sequence[str], cwd: Path | None) -> None:
        self.name = name
        self._loop = asyncio.get_running_loop()
        self._process = start_process(command, cwd)
        self._stdin: asyncio.WriteTransport | None = None
        self._outputs: list[asyncio.ReadTransport] = []
        self._output = _Lines(self._lines_received, self._line_overlong, self._end_noticed)
        self._output_fd = -1
        self._arrivals = select.poll()
        self._quick = False
        self._dialogue: deque[tuple[str, str]] = deque(maxlen=2 * DIALOGUE_LINES)
        self._stderr: deque[str] = deque(maxlen=_STDERR_KEPT)
        self._stderr_count = 0
        self._stderr_news = asyncio.Event()
        self._question: _Question | None = None
        self._next: deque[_Question] = deque()
        self._received_bytes = 0
        self._watchdog: asyncio.TimerHandle | None = None
        self._pidfd = -1
        self._endings = 0
        self._failure: EngineError | None = None

    @classmethod
    async def start(cls, name: str, command: Sequence[str], cwd: Path | None = None) -> Self:
        """Start `command`, whose first word is a program's full path; `name` is for messages."""
        try:
            transport = cls(name, command, cwd)
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
        self._arrivals.register(self._output_fd, select.POLLIN)
        output = self._output
        errors = _Lines(self._errors_received, lambda: None, lambda: None)
        self._outputs = [
            (await loop.connect_read_pipe(lambda: output, process.stdout))[0],
            (await loop.connect_read_pipe(lambda: errors, process.stderr))[0],
        ]
        if hasattr(os, "pidfd_open"):
            # A child of the engine may hold its output open: without this its end would go unseen.
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(process.pid)
                loop.add_reader(self._pidfd, self._exit_noticed)

    @property
    def pid(self) -> int:
        """The engine's process, which is also its process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the engine can still be asked."""
        return self._failure is None

    @property
    def stderr_count(self) -> int:
        """How many lines the engine has written to its standard error."""
        return self._stderr_count

    async def ask(self, text: str, reader: Callable[[str], bool], timeout_s: float) -> float:
        """Put a question and wait for the answer; gives the seconds it took."""
        return await self.answered(self.put(text, reader, timeout_s))

    def put(
        self, text: str, reader: Callable[[str], bool], timeout_s: float
    ) -> asyncio.Future[float]:
        """Send whole lines, now or when the questions before have been answered.

        The lines of the answer are handed to `reader` as they come, some at a time, until it says
        True. What is given back is for `answered`.
        """
        waiter: asyncio.Future[float] = self._loop.create_future()
        question = _Question(text, reader, timeout_s, waiter)
        if self._failure is not None:
            _refuse(waiter, self.error(self._failure.message, "unasked"))
        elif self._question is None:
            self._send(question)
        else:
            self._next.append(question)
        return waiter

    async def answered(self, waiter: asyncio.Future[float]) -> float:
        """Wait until a question has been answered; gives the seconds that took.

        Raises EngineError if the answer is not complete in time, floods, cannot be read, or the
        engine ends: it is then dead and reaped, as it is after a cancellation. The reason is
        `unasked` if the engine was gone, or sent away by us, and had no part in it.
        """
        if self._quick and not waiter.done():
            self._linger(waiter)
        try:
            return await waiter
        except BaseException:
            self.kill()
            raise

    def _linger(self, waiter: asyncio.Future[float]) -> None:
        """Read on the spot what comes at once: a turn of the event loop costs more than that.

        An engine whose last answer took longer than this may wait is left to the loop, so that
        others are not kept waiting.
        """
        while (self._next or not waiter.done()) and self._arrivals.poll(_QUICK_MS):
            data = os.read(self._output_fd, 1 << 14)
            if not data:
                return  # the loop will find the end
            self._output.data_received(data)

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
        return EngineError(self.name, message, self.transcript, reason)

    @property
    def transcript(self) -> str:
        """The last lines said, `>` by us and `<` by the engine, and of its standard error, `!`."""
        said = [
            f"{who} {line[:_LONGEST_SHOWN]}"
            for who, text in self._dialogue
            for line in text.splitlines()
        ]
        errors = [f"! {line[:_LONGEST_SHOWN]}" for line in self._stderr]
        return "\n".join(said[-DIALOGUE_LINES:] + errors[-STDERR_LINES:])

    async def close(self, farewell: str = "quit\n", patience_s: float = 2.0) -> bool:
        """Ask the engine to quit, then insist; True if it went by itself. It is reaped anyway."""
        if not self.alive:
            self.kill()
            return False
        by_itself = False
        self._failure = self.error("was closed", "unasked")
        try:
            self.tell(farewell)
            by_itself = await self._exited_within(patience_s)
            if not by_itself:
                signal_group(self._process, signal.SIGTERM)
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
            self._failure = self.error("was closed", "unasked")
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
            self._refuse_questions()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _refuse_questions(self) -> None:
        """Tell those who wait that no answer will come: the failure to the first of them only."""
        assert self._failure is not None
        failure = self._failure
        questions = [self._question, *self._next] if self._question is not None else []
        self._question = None
        self._next.clear()
        for question in questions:
            if not question.waiter.done():
                _refuse(question.waiter, failure)
            failure = self.error(failure.message, "unasked")

    def _send(self, question: _Question) -> None:
        self._question = question
        self._received_bytes = 0
        question.began = self._loop.time()
        # One timer serves many questions: when it fires it looks at the one of that moment.
        deadline = question.began + question.timeout_s
        if self._watchdog is None or self._watchdog.when() > deadline:
            self._set_watchdog(deadline)
        self.tell(question.text)

    def _lines_received(self, text: str) -> None:
        if "\r" in text:
            text = text.replace("\r", "")
        self._dialogue.append(("<", text))
        self._received_bytes += len(text)
        if self._received_bytes > MAX_ANSWER_BYTES:
            self._fail(self.error(f"sends over {MAX_ANSWER_BYTES >> 20} MiB at once", "flood"))
            return
        question = self._question
        if question is None:
            return
        try:
            if not question.reader(text):
                return
        except EngineError as error:
            self._fail(error)
            return
        took = self._loop.time() - question.began
        self._quick = took < _QUICK_MS / 1000
        # The next question first: the engine can think while we read its answer.
        self._question = None
        if self._next:
            self._send(self._next.popleft())
        if not question.waiter.done():
            question.waiter.set_result(took)

    def _line_overlong(self) -> None:
        self._fail(self.error(f"sends a line of over {MAX_LINE_BYTES >> 20} MiB", "flood"))

    def _errors_received(self, text: str) -> None:
        lines = text.splitlines()
        self._stderr_count += len(lines)
        self._stderr.extend(line[: 10 * _LONGEST_SHOWN] for line in lines)
        self._stderr_news.set()

    def _set_watchdog(self, deadline: float) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._watchdog = self._loop.call_at(deadline, self._time_up)

    def _time_up(self) -> None:
        self._watchdog = None
        question = self._question
        if question is None:
            return
        deadline = question.began + question.timeout_s
        if self._loop.time() < deadline:
            self._set_watchdog(deadline)
        else:
            allowed = f"{question.timeout_s:g} s"
            self._fail(self.error(f"does not answer within {allowed}", "timeout"))

    def _exit_noticed(self) -> None:
        self._loop.remove_reader(self._pidfd)
        self._end_noticed()

    def _end_noticed(self) -> None:
        self._endings += 1
        if self._endings == 2:
            self._end()
        elif self.alive:
            self._loop.call_later(_LAST_WORDS_S, self._end)

    def _end(self) -> None:
        if self.alive:
            how = describe_exit(kill_process(self._process))
            last = f"; its last words: {self._stderr[-1][:_LONGEST_SHOWN]}" if self._stderr else ""
            self._fail(self.error(f"died ({how}){last}", "died"))

    def _fail(self, failure: EngineError) -> None:
        if self.alive:
            self._failure = failure
            self.kill()
