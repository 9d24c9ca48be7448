# SPDX-License-Identifier: Apache-2.0
"""Other machines: a Dask cluster as an executor."""

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

from hyoka.errors import Error, StudyError
from hyoka.study.tasks import release_engines


@contextlib.contextmanager
def cluster(
    address: str, *, timeout_s: float = 10.0, at_end: Callable[[], None] = release_engines
) -> Iterator[tuple[Executor, int]]:
    """An executor on the workers of a Dask scheduler, and how many threads they have.

    A worker that dies costs a retry. `at_end` is called on each worker when the block ends: it lets
    go of the engines that run there.
    """
    try:
        from distributed import Client as _Client  # noqa: PLC0415
    except ImportError:
        raise Error("a cluster needs Dask: pip install 'hyoka[cluster]'") from None
    if not re.search(r":\d+/?$", address):
        raise StudyError(f"a scheduler's address has a port, as tcp://host:8786, not '{address}'")
    make_client: Any = _Client  # untyped
    try:
        client = make_client(address, timeout=timeout_s, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise StudyError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise StudyError(f"{address}: the cluster has no workers")
        try:
            yield client.get_executor(pure=False, retries=3), threads
        finally:
            with contextlib.suppress(Exception):
                client.run(at_end)
