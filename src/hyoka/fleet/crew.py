# SPDX-License-Identifier: Apache-2.0
"""What a worker's thread keeps from task to task of one run: engines, searches, a board.

A task may land in any process, so whoever stops or ends a run must find there what its tasks have
started, and nothing that others have. That is what the one registry here is for.
"""

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Final, Protocol, TypeVar, cast

_FORGOTTEN_S: Final = 600.0
"""A crew without a task for so long may belong to a run that died; it comes back if it is asked."""


class RunStopped(Exception):  # noqa: N818 - nothing went wrong
    """Nobody wants more results of this run."""


class Member(Protocol):
    """Something that a task has started and that stays for the next one."""

    def stop(self) -> None:
        """Make what it does end soon; called from another thread, perhaps again and again."""

    def close(self) -> None:
        """Let go of what it holds; called in any thread, while no task uses it."""


T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=Member)


class Crew:
    """What one thread keeps for one run."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.at_work = threading.Lock()
        """Held by a task while it uses the crew."""
        self.is_leaving = False
        """Whether it goes once the task at hand is over."""
        self.used_at = time.monotonic()
        self._members: dict[Hashable, Member] = {}

    @property
    def is_stopped(self) -> bool:
        """Whether the run is over: what a task finds from now on is cut short."""
        return self.run in _stopped

    def member(self, key: Hashable, make: Callable[[], M]) -> M:
        """What is kept under a key, made if it is not there yet.

        `make` starts nothing that takes time: only what is kept already can be stopped.
        """
        if key not in self._members:
            self._members[key] = make()
        return cast(M, self._members[key])

    def stop(self) -> None:
        """Make the task at hand end soon; called from another thread."""
        for member in list(self._members.values()):
            member.stop()

    def close(self) -> None:
        """Let all members go."""
        for member in self._members.values():
            member.close()


_crews: Final[dict[tuple[str, int], Crew]] = {}
"""By run and thread."""
_stopped: Final[set[str]] = set()
if hasattr(os, "register_at_fork"):  # what a parent keeps is not its child's
    os.register_at_fork(after_in_child=_crews.clear)


def perform(run: str, work: Callable[[T, Crew], R], task: T) -> R:
    """Do a task of a run in this thread. Its crew stays for the next one, unless this one raises.

    Raises RunStopped if nobody wants the result any more.
    """
    key = (run, threading.get_ident())
    while True:
        crew = _crews.get(key) or _crews.setdefault(key, Crew(run))
        try:
            with crew.at_work:
                if _crews.get(key) is not crew:
                    continue  # it has just been sent away
                if crew.is_stopped:
                    raise RunStopped
                return work(task, crew)
        except BaseException:
            crew.is_leaving = True
            raise
        finally:
            crew.used_at = time.monotonic()
            if crew.is_leaving:
                _send_away([key])


def has_crews(run: str) -> bool:
    """Whether this process keeps anything for a run."""
    return any(crew.run == run for crew in list(_crews.values()))


def stop(run: str) -> None:
    """Make the tasks of a run that are at work in this process end soon; no more will begin."""
    _stopped.add(run)
    for crew in list(_crews.values()):
        if crew.run == run:
            crew.stop()


def dismiss(run: str) -> None:
    """Let go of what this process keeps for a run; what a task uses goes when that is over."""
    going = []
    long_ago = time.monotonic() - _FORGOTTEN_S
    for key, crew in list(_crews.items()):
        if crew.run == run:
            crew.is_leaving = True
        elif crew.used_at > long_ago:
            continue
        going.append(key)
    _send_away(going)


def abandon(run: str) -> None:
    """Stop a run's tasks in this process and let go of all that it keeps."""
    stop(run)
    dismiss(run)


def _send_away(keys: Iterable[tuple[str, int]]) -> None:
    """Close crews, those that no task uses, all at once.

    In threads of their own: whoever calls may have an event loop, as Dask's workers do, and a
    member one that it ends in.
    """
    closing = []
    for key in keys:
        crew = _crews.get(key)
        if crew is not None and crew.at_work.acquire(blocking=False):
            try:
                if _crews.get(key) is crew:
                    del _crews[key]
                    closing.append(threading.Thread(target=crew.close, name="hyoka-closing"))
            finally:
                crew.at_work.release()
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join()
