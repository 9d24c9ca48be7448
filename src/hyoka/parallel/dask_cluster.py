# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster as an executor."""

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from typing import Any, Final

from hyoka.foundation.errors import Error, ParallelError

_LOOK_S: Final = 0.2
_PATIENCE_S: Final = 10.0
_HASTY_PATIENCE_S: Final = 0.5
"""The time to notify workers of the end of a run, normally and after an interrupt."""


@contextlib.contextmanager
def cluster(address: str, *, timeout_s: float = 10.0) -> Iterator[tuple[Executor, int]]:
    """Connect to a Dask scheduler; gives an executor and the number of threads.

    Tasks of dead workers are retried. `submit` raises ParallelError if the scheduler is lost for
    `timeout_s`.
    """
    try:
        from distributed import Client as _Client  # noqa: PLC0415
    except ImportError:
        raise Error("a cluster needs Dask: pip install 'hyoka[cluster]'") from None
    if not re.search(r":\d+/?$", address):
        raise ParallelError(
            f"a scheduler's address has a port, as tcp://host:8786, not '{address}'"
        )
    make_client: Any = _Client  # untyped
    with _without_its_log():
        try:
            client = make_client(address, timeout=timeout_s, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ParallelError(f"no Dask scheduler answers at {address}: {error}") from error
        patience_s = _HASTY_PATIENCE_S
        try:
            threads = sum(client.nthreads().values())
            if threads == 0:
                raise ParallelError(f"{address}: the cluster has no workers")
            yield ClusterExecutor(client, address), threads
            patience_s = _PATIENCE_S
        finally:
            _wait_briefly(lambda: client.close(timeout=patience_s / 2), patience_s)


@contextlib.contextmanager
def _without_its_log() -> Iterator[None]:
    """Suppress Dask's log."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in ["distributed", *names]]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _wait_briefly(call: Callable[[], object], patience_s: float) -> None:
    """Call a function in a thread and wait for a limited time."""

    def quietly() -> None:
        with contextlib.suppress(Exception):
            call()

    calling = threading.Thread(target=quietly, name="hyoka-cluster", daemon=True)
    calling.start()
    calling.join(patience_s)


class ClusterExecutor(Executor):
    """Dask's executor, with futures that fail when the scheduler is lost."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self._inner: Executor = client.get_executor(pure=False, retries=3)
        self._pending: set[Future[Any]] = set()
        threading.Thread(target=self._watch, name="hyoka-cluster", daemon=True).start()

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task; waits for a limited time while the scheduler is unreachable."""
        while self._client.status in ("connecting", "newly-created"):
            time.sleep(_LOOK_S)
        if self._client.status != "running":
            raise self._lost()
        future = self._inner.submit(function, *args, **kwargs)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def everywhere(self, function: Callable[[str], None], run: str, *, in_haste: bool) -> None:
        """Call a function with a run's id in every worker process."""
        if self._client.status == "running":
            patience_s = _HASTY_PATIENCE_S if in_haste else _PATIENCE_S
            _wait_briefly(lambda: self._client.run(function, run), patience_s)

    def _lost(self) -> ParallelError:
        return ParallelError(f"the Dask scheduler at {self._address} is gone")

    def _watch(self) -> None:
        """Fail pending futures once the scheduler is lost."""
        while self._client.status in ("running", "connecting", "newly-created"):
            time.sleep(_LOOK_S)
        for future in list(self._pending):
            with contextlib.suppress(InvalidStateError):
                future.set_exception(self._lost())
