# SPDX-License-Identifier: Apache-2.0
"""Processes for queries whose memory the operating system limits.

The limit (`RLIMIT_AS`) applies to an entire process and its children, so it must never be set on
this one: concurrent searches would run out of memory, and engines and runs would inherit it.
`query_server` is the other side. An idle process is reused for the next query; one that ran out of
memory or time is killed.
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
"""Memory of a process beyond twice the limit of a query (its tables and its answer)."""
_OUT_OF_MEMORY: Final = ("MemoryError", "OutOfMemoryException")
"""Errors after which a process is not reused."""
_MAX_PROCESSES: Final = 2
_MAX_IDLE: Final = 1
_ENVIRONMENT: Final = {
    # Otherwise allocators reserve gigabytes of address space, which count.
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Request:
    """A query and its tables."""

    tables: Mapping[str, Any]
    """Arrow tables or datasets by name."""
    views: Mapping[str, str]
    texts: tuple[str, pa.Table] | None
    """The game and its games, if the query can use the text of positions."""
    query: str
    max_bytes: int
    binds: bool
    """Whether to plan the query only, to validate it."""


class QueryProcess:
    """A child process that answers queries."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hyoka.study.query_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches only the parent, which ends it
            env=os.environ | _ENVIRONMENT,
        )
        self._is_ready = False

    @property
    def is_ours(self) -> bool:
        """Whether this process started it, not its parent before a fork."""
        return self._owner == os.getpid()

    @property
    def can_answer(self) -> bool:
        """Whether it is running and not busy."""
        return self._is_ready and self._process.poll() is None

    def start(self) -> None:
        """Wait until it is ready; raises RuntimeError if it ends first."""
        assert self._process.stdout is not None
        if not self._is_ready and self._process.stdout.readline() != b"ready\n":
            status = self._process.wait()
            raise RuntimeError(f"the process that runs queries ended with status {status}")
        self._is_ready = True

    def ask(self, request: Request) -> pa.Table | None:
        """Send a query and return its answer; raises the error of the query, or MemoryError."""
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
        if not line.endswith(b"\n"):  # killed, or unable to report the error
            raise MemoryError
        answer = json.loads(line)
        if answer["error"]:
            self._is_ready = answer["error"] not in _OUT_OF_MEMORY
            raise _error(answer["error"], answer["text"])
        table = None
        if answer["has_table"]:
            with pa.ipc.open_stream(self._process.stdout) as stream:
                table = stream.read_all()
        self._is_ready = True
        return table

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def close(self) -> None:
        """Kill it and wait for its end."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _error(name: str, text: str) -> Exception:
    """Recreate an error by the name of its class."""
    if name == "ConditionError":
        return ConditionError(text)
    for module, base in ((duckdb, duckdb.Error), (pa, pa.ArrowException)):
        kind = getattr(module, name, None)
        if isinstance(kind, type) and issubclass(kind, base):
            error: Exception = kind(text)
            return error
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, OSError):
        return OSError(text)
    return MemoryError() if name == "MemoryError" else RuntimeError(text or name)


_free: Final = threading.BoundedSemaphore(_MAX_PROCESSES)
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
            if process.can_answer and len(_idle) < _MAX_IDLE:
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
