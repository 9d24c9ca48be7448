# SPDX-License-Identifier: Apache-2.0
"""Runs: commands at work in the folder, started away from the server and found again by it.

A run is a folder: `run.json` (the command and what was filled in), `log`, `progress.json` (which
the command keeps up, see `HYOKA_PROGRESS`), `process.json`, `wish.json` (what was asked of it
last), `ended.json`, and `.lock`, which is held while it lives. What state it is in is read from
there, by any server, at any time. What was filled in is checked anew whenever it is started: a
folder of somebody else's is no order.
"""

import contextlib
import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import hyoka as hk
from hyoka.apps.studio.folder import STATE, Folder
from hyoka.apps.studio.forms import task_title
from hyoka.foundation.errors import escape_control_chars
from hyoka.storage.files import open_regular, read_regular, write_text
from hyoka.storage.run_folder import hold_lock, is_held

Values = Mapping[str, Sequence[str]]
"""Values of a form by field."""
KEPT_WHEN_STOPPED: Final = frozenset(
    {"demo", "improve", "study evaluate", "study adjudicate", "study annotate", "match run"}
    | {"match ablate", "experiment run"}
    | {f"learn {what}" for what in ("comparison", "objective", "selfplay", "prior")}
)
"""Commands that go on where they stopped: to pause is to stop them. Others are held as they are."""
_PATIENCE_S: Final = 6.0
_QUEUE_S: Final = 0.5
_waiting: Final[dict[Path, None]] = {}
"""Runs that this server starts when no other is at work. Never read from a folder: see above."""
_queue_lock: Final = threading.Lock()
_LOG_SHOWN: Final = 1 << 15
_LARGEST_COUNT: Final = 10**15


@dataclass(frozen=True)
class Work:
    """Progress of one task of a run."""

    what: str
    done: int
    total: int | None
    unit: str
    note: str
    rate: float
    """Rate per second; 0 if unknown."""

    @property
    def left_s(self) -> float | None:
        """Estimated remaining time."""
        if self.total is None or self.rate <= 0 or self.done >= self.total:
            return None
        return (self.total - self.done) / self.rate


@dataclass(frozen=True)
class Run:
    """A run, as its folder tells of it."""

    number: int
    place: Path
    command: str
    """Which command of Hyoka it is, as `learn weights`."""
    values: dict[str, list[str]]
    words: list[str]
    """Command words of the last start, without `hyoka`."""
    made: float

    @property
    def text(self) -> str:
        """The command as one would type it."""
        return shlex.join(["hyoka", *self.words])

    @property
    def description(self) -> str:
        """Contents of `run.json`."""
        stored = {"command": self.command, "values": self.values, "words": self.words}
        return json.dumps(stored | {"made": self.made})

    @property
    def title(self) -> str:
        """What it does, for people."""
        return task_title(self.command, self.values)

    @property
    def is_alive(self) -> bool:
        """Whether its process is there."""
        return bool(is_held(self.place))

    @property
    def state(self) -> str:
        """waiting, running, stopping, paused, done, cancelled, failed or interrupted."""
        wish = _json(self.place / "wish.json").get("wish")
        if self.is_alive:
            return {"hold": "paused", "pause": "stopping", "cancel": "stopping"}.get(
                str(wish), "running"
            )
        if self.place in _waiting:
            return "waiting"
        status = _json(self.place / "ended.json").get("status")
        if status == 0:
            return "done"
        if wish in ("pause", "cancel"):
            return "paused" if wish == "pause" else "cancelled"
        if status is None or status in (130, 143) or (isinstance(status, int) and status < 0):
            return "interrupted"
        return "failed"

    @property
    def began(self) -> float:
        """When it was last started."""
        return _number(_json(self.place / "process.json").get("at"), self.made)

    @property
    def ended(self) -> float | None:
        """When it ended, if it did."""
        at = _json(self.place / "ended.json").get("at")
        return at if isinstance(at, float) and math.isfinite(at) else None

    @property
    def works(self) -> list[Work]:
        """Progress of its tasks in order of their start."""
        works = _json(self.place / "progress.json").get("works", [])
        return [work for each in works if (work := _work(each)) is not None]

    @property
    def log(self) -> str:
        """The end of what it has said."""
        try:
            with open_regular(self.place / "log", follow_links=False) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LOG_SHOWN))
                text = file.read().decode("utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return text if size <= _LOG_SHOWN else "…\n" + text.partition("\n")[2]


@dataclass(frozen=True)
class Runs:
    """The runs of a folder."""

    folder: Folder
    words_of: Callable[[str, Values], list[str]]
    """Makes a command's words of what was filled in, or raises Error if they may not be run."""

    @property
    def place(self) -> Path:
        """Folder of the runs; raises SourceError if it is a link."""
        place = self.folder.root / STATE / "runs"
        for each in (place.parent, place):
            if each.is_symlink():
                name = each.relative_to(self.folder.root)
                raise hk.errors.SourceError(f"{name} is a link: remove it, and runs are kept here")
        return place

    def all(self) -> list[Run]:
        """All runs, the newest first."""
        try:
            names = [entry.name for entry in os.scandir(self.place)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        numbers = sorted((int(name) for name in names if name.isdecimal()), reverse=True)
        runs = []
        for number in numbers:
            with contextlib.suppress(hk.errors.SourceError):
                runs.append(self.get(number))
        return runs

    def under_way(self) -> list[Run]:
        """Runs whose processes are there, the newest first."""
        return [run for run in self.all() if run.is_alive]

    def get(self, number: int) -> Run:
        """A run by its number; raises SourceError."""
        place = self.place / str(number)
        _check_own_files(place)
        stored = _json(place / "run.json")
        try:
            values = {name: [*map(str, texts)] for name, texts in stored["values"].items()}
            words = [*map(str, stored["words"])]
            made = _number(stored["made"], 0.0)
            return Run(number, place, str(stored["command"]), values, words, made)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise hk.errors.SourceError(f"there is no run {number}") from None

    def start(self, command: str, values: Values, *, wait: bool = False) -> Run:
        """Start a command with what was filled in, or, with `wait`, when no other run is at work.

        Raises Error if it may not be started.
        """
        words = self.words_of(command, values)
        try:
            self.place.mkdir(parents=True, mode=0o700, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise hk.errors.SourceError(
                f"'{STATE}' in the studio's folder is a file, and runs need a folder of that name: "
                "rename the file"
            ) from None
        number = max((run.number for run in self.all()), default=0) + 1
        while True:
            try:
                (self.place / str(number)).mkdir()
                break
            except FileExistsError:  # another window was quicker
                number += 1
        place = self.place / str(number)
        stored = {name: list(texts) for name, texts in values.items() if any(texts)}
        run = Run(number, place, command, stored, words, time.time())
        try:
            if wait:
                self._enqueue(run)
            else:
                self._launch(run)
        except BaseException:  # as on a full disk
            shutil.rmtree(place, ignore_errors=True)
            raise
        return run

    def _enqueue(self, run: Run) -> None:
        write_text(run.place / "run.json", run.description)
        with _queue_lock:
            is_first = not self._queue
            _waiting[run.place] = None
        if is_first:
            threading.Thread(target=self._serve_queue, name="hyoka-queue", daemon=True).start()

    @property
    def _queue(self) -> list[Path]:
        """The runs of this folder that wait, in order."""
        return [place for place in _waiting if place.parent == self.place]

    def _serve_queue(self) -> None:
        """Start the waiting runs one after another, until none is left."""
        while True:
            time.sleep(_QUEUE_S)
            is_busy = any(run.state in ("running", "stopping") for run in self.under_way())
            with _queue_lock:
                queue = self._queue
            if not queue:
                return
            if not is_busy:
                self._start_waiting(queue[0])

    def _start_waiting(self, place: Path) -> None:
        try:
            self.resume(int(place.name))
        except (hk.Error, OSError) as error:
            with contextlib.suppress(OSError):
                write_text(place / "log", f"hyoka: {error}\n")
                write_text(place / "ended.json", json.dumps({"status": 1, "at": time.time()}))
        finally:
            _leave_queue(place)

    def resume(self, number: int) -> None:
        """Let a run go on: the same command again, or what was held let go."""
        run = self.get(number)
        if run.is_alive:
            if run.state == "paused":
                _forget(run.place / "wish.json")
                _signal(run, signal.SIGCONT)
            return
        words = self.words_of(run.command, run.values)
        self._launch(Run(run.number, run.place, run.command, run.values, words, run.made))
        _leave_queue(run.place)

    def pause(self, number: int) -> None:
        """Stop a run that can go on later, or hold one that cannot."""
        run = self.get(number)
        if run.state != "running":
            return
        if run.command in KEPT_WHEN_STOPPED:
            _end(run, "pause")
        else:
            _wish(run, "hold")
            _signal(run, signal.SIGSTOP)

    def cancel(self, number: int) -> None:
        """End a run, and no other."""
        run = self.get(number)
        waited = _leave_queue(run.place)
        if run.is_alive:
            _end(run, "cancel")
        elif waited or run.state in ("paused", "interrupted"):
            _wish(run, "cancel")

    def forget(self, number: int) -> None:
        """Take a run that is over off the list, with its log; what it has made stays."""
        run = self.get(number)
        if run.is_alive:
            raise hk.Error(f"run {number} is under way: cancel it first")
        _leave_queue(run.place)
        shutil.rmtree(run.place)

    def _launch(self, run: Run) -> None:
        place = run.place
        try:
            lock = hold_lock(place, run.command)
        except hk.errors.StudyError:
            return  # another window was quicker
        with lock:
            for name in ("ended.json", "wish.json", "progress.json", "process.json"):
                _forget(place / name)
            write_text(place / "run.json", run.description)
            with (place / "log").open("a", encoding="utf-8") as log:
                log.write(f"$ {run.text}\n")
            supervisor = [sys.executable, "-I", str(Path(__file__).with_name("run_supervisor.py"))]
            command = [sys.executable, "-P", "-m", "hyoka", *run.words]
            environment = os.environ | {
                "HYOKA_PROGRESS": str(place / "progress.json"),
                "PYTHONUNBUFFERED": "1",
            }
            begun = subprocess.run(
                [*supervisor, str(lock.fileno()), str(place), str(place / "log"), *command],
                cwd=self.folder.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=True,
                pass_fds=(lock.fileno(),),
            )
            process = {"group": int(begun.stdout), "at": time.time()}
            write_text(place / "process.json", json.dumps(process))
        # Somebody may have wished for its end before it was there.
        if wish := _json(place / "wish.json").get("wish"):
            _end(run, str(wish))


def _leave_queue(place: Path) -> bool:
    """Let a run wait no longer; whether it did."""
    with _queue_lock:
        if place not in _waiting:
            return False
        del _waiting[place]
        return True


def _end(run: Run, wish: str) -> None:
    """Ask a run to end, and see to it that it does."""
    _wish(run, wish)
    signaled = _request_end(run)

    def insist() -> None:
        deadline, received = time.monotonic() + _PATIENCE_S, signaled
        while time.monotonic() < deadline:
            if not run.is_alive:
                return
            received = received or _request_end(run)  # a new process has no number yet
            time.sleep(0.1)
        _signal(run, signal.SIGKILL)

    threading.Thread(target=insist, name=f"hyoka-run-{run.number}", daemon=True).start()


def _request_end(run: Run) -> bool:
    """Send SIGTERM once: a second one kills. Returns whether it was delivered."""
    delivered = _signal(run, signal.SIGTERM)
    return _signal(run, signal.SIGCONT) and delivered  # a stopped process ignores SIGTERM


def _signal(run: Run, number: int) -> bool:
    """Send a signal to a run's processes, if they are there: a number may be another's by now."""
    group = _json(run.place / "process.json").get("group")
    if isinstance(group, int) and group > 1 and run.is_alive:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            return True
    return False


def _wish(run: Run, wish: str) -> None:
    write_text(run.place / "wish.json", json.dumps({"wish": wish}))


def _check_own_files(place: Path) -> None:
    """Raise SourceError unless the folder of a run holds regular files only.

    A link would let a log show, or a restart overwrite, what is outside; a pipe would block.
    """
    number = place.name
    if place.is_symlink():
        raise hk.errors.SourceError(f"there is no run {number}: its folder is a link")
    try:
        entries = list(os.scandir(place))
    except OSError:
        raise hk.errors.SourceError(f"there is no run {number}") from None
    for entry in entries:
        try:
            is_regular = entry.is_file(follow_symlinks=False)
        except FileNotFoundError:  # replaced meanwhile
            continue
        if not is_regular:
            raise hk.errors.SourceError(
                f"run {number}: '{escape_control_chars(entry.name)}' is not a regular file"
            )


def _forget(file: Path) -> None:
    file.unlink(missing_ok=True)


def _json(file: Path) -> dict[str, Any]:
    """Contents of a run's JSON file; empty if it is missing or invalid."""
    try:
        data = json.loads(read_regular(file, follow_links=False))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _number(value: object, otherwise: float) -> float:
    """A finite number from a file of a run."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        number = math.nan
    return number if math.isfinite(number) else otherwise


def _work(data: object) -> Work | None:
    if not isinstance(data, dict):
        return None
    done, total = data.get("done"), data.get("total")
    if not isinstance(done, int) or not isinstance(total, int | None):
        return None
    if max(abs(done), abs(total or 0)) > _LARGEST_COUNT:
        return None
    seconds = _number(data.get("at"), 0.0) - _number(data.get("began"), 0.0)
    before = _number(data.get("before"), 0.0)
    rate = (done - before) / seconds if seconds > 0 else 0.0
    what, unit, note = (str(data.get(name, "")) for name in ("what", "unit", "note"))
    return Work(what, done, total, unit, note, rate)
