# SPDX-License-Identifier: Apache-2.0
"""Processes that answer queries whose memory has to be limited by the system.

The limit (`RLIMIT_AS`) holds for a whole process and for all that it starts, so it must never be
set on ours: searches beside the query would run out of memory, and engines and runs that are
started meanwhile would inherit it. `query_server` is the other side. A process that has answered is
kept for the next query; one that ran out of memory, or took too long, is killed.
"""

import atexit
import builtins
import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import duckdb
import pyarrow as pa

from hyoka.foundation.errors import ConditionError

SPARE_BYTES: Final = 1 << 30
"""What a process may need beside twice a query's limit, which are its tables and its answer."""
_OUT_OF_MEMORY: Final = ("MemoryError", "OutOfMemoryException")
"""Errors after which nobody knows what a process has kept."""
_AT_ONCE: Final = 2
_KEPT: Final = 1
_ENVIRONMENT: Final = {
    # Otherwise allocators reserve gigabytes of addresses, which count.
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Request:
    """A query, and the tables that it reaches."""

    tables: Mapping[str, Any]
    """Arrow tables or datasets by name."""
    views: Mapping[str, str]
    texts: tuple[str, pa.Table] | None
    """The game and its games, if the query may ask for texts of positions."""
    query: str
    most_bytes: int
    binds: bool
    """Whether the query is only planned, to see whether it makes sense."""


class QueryProcess:
    """A process of our own that answers queries."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hyoka.study.query_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us, and we end it
            env=os.environ | _ENVIRONMENT,
        )
        self._is_ready = False

    @property
    def is_ours(self) -> bool:
        """Whether this process started it, and not one that has been forked since."""
        return self._owner == os.getpid()

    @property
    def can_answer(self) -> bool:
        """Whether it is running, and not in the middle of an answer."""
        return self._is_ready and self._process.poll() is None

    def start(self) -> None:
        """Wait until it takes requests; raises RuntimeError if it ends first."""
        assert self._process.stdout is not None
        if not self._is_ready and self._process.stdout.readline() != b"ready\n":
            status = self._process.wait()
            raise RuntimeError(f"the process that runs queries ended with status {status}")
        self._is_ready = True

    def ask(self, request: Request) -> pa.Table | None:
        """The answer to a query; raises what the query raises there, or MemoryError."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._is_ready = False
        content = pickle.dumps(request)
        try:
            self._process.stdin.write(len(content).to_bytes(8, "little") + content)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line.endswith(b"\n"):  # it was killed, or could not even say what went wrong
            raise MemoryError
        told = json.loads(line)
        if told["error"]:
            self._is_ready = told["error"] not in _OUT_OF_MEMORY
            raise _error(told["error"], told["text"])
        table = None
        if told["has_table"]:
            with pa.ipc.open_stream(self._process.stdout) as stream:
                table = stream.read_all()
        self._is_ready = True
        return table

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """End it, and wait until it has gone."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _error(name: str, text: str) -> Exception:
    """An error of the other side by the name of its class."""
    if name == "ConditionError":
        return ConditionError(text)
    for module, base in ((duckdb, duckdb.Error), (pa, pa.ArrowException)):
        kind = getattr(module, name, None)
        if isinstance(kind, type) and issubclass(kind, base):
            made: Exception = kind(text)
            return made
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, OSError):
        return OSError(text)
    return MemoryError() if name == "MemoryError" else RuntimeError(text or name)


_free: Final = threading.BoundedSemaphore(_AT_ONCE)
_idle: Final[list[QueryProcess]] = []


@contextlib.contextmanager
def query_process(seconds: float) -> Iterator[QueryProcess]:
    """A process for one query; raises TimeoutError if none is free within `seconds`."""
    if not _free.acquire(timeout=seconds):
        raise TimeoutError
    try:
        process = _idle_process() or QueryProcess()
        try:
            yield process
        finally:
            if process.can_answer and len(_idle) < _KEPT:
                _idle.append(process)
            else:
                process.close()
    finally:
        _free.release()


def _idle_process() -> QueryProcess | None:
    with contextlib.suppress(IndexError):
        while True:
            process = _idle.pop()
            if process.is_ours and process.can_answer:
                return process
            if process.is_ours:
                process.close()
    return None


@atexit.register
def _close_all() -> None:
    while _idle:
        process = _idle.pop()
        if process.is_ours:
            process.close()
