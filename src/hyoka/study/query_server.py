# SPDX-License-Identifier: Apache-2.0
"""The script that answers queries within a memory limit; see `query_process`.

It reads requests from standard input until it ends: a length and a pickled `Request`. It writes
answers to standard output: a line of JSON, followed by the table as an Arrow stream.
"""

import contextlib
import json
import os
import pickle
import queue
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from hyoka.study.query_process import SPARE_BYTES, Request
from hyoka.study.sql import answer_here, connection, position_texts, within_memory


def main() -> None:
    """Answer requests until the input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    _soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    answers.write(b"ready\n")
    answers.flush()
    pending: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, pending), daemon=True).start()
    while True:
        _answer(pending.get(), answers)


def _listen(requests: Any, pending: "queue.SimpleQueue[Request]") -> None:
    """Queue requests; the end of the input ends the process at once."""
    while len(length := requests.read(8)) == 8:
        pending.put(pickle.loads(requests.read(int.from_bytes(length, "little"))))
    os._exit(0)


def _answer(request: Request, answers: Any) -> None:
    error: Exception | None = None
    table: pa.Table | None = None
    try:
        with within_memory(request.max_bytes), _limited(2 * request.max_bytes + SPARE_BYTES):
            table = _table(request)
    except Exception as problem:
        error = problem
    kind, text = ("", "") if error is None else (type(error).__name__, str(error))
    header = {"error": kind, "text": text, "has_table": table is not None}
    answers.write(json.dumps(header).encode() + b"\n")
    if table is not None:
        with pa.ipc.new_stream(answers, table.schema) as stream:
            stream.write_table(table)
    answers.flush()


def _table(request: Request) -> pa.Table | None:
    opened = connection(request.tables, request.views)
    texts: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if request.texts is not None:
        game, games = request.texts
        texts = position_texts(opened, request.query, game, lambda: games)
    with texts:
        return answer_here(opened, request.query, request.max_bytes, binds=request.binds)


@contextlib.contextmanager
def _limited(extra_bytes: int) -> Iterator[None]:
    """Limit the memory that this process may allocate additionally."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):  # not Linux
        yield
        return
    limit = pages * os.sysconf("SC_PAGE_SIZE") + extra_bytes
    limits = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([limit, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
