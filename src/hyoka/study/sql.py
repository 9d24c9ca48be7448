# SPDX-License-Identifier: Apache-2.0
"""SQL over a study: the only use of DuckDB, locked down before any text from a user reaches it."""

import contextlib
import contextvars
import difflib
import functools
import os
import re
import secrets
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.foundation.errors import ConditionError, Error, escape_control_chars
from hyoka.games import game_facts
from hyoka.study.query_process import Request, query_process
from hyoka.study.sql_bounds import is_bounded

T = TypeVar("T")

SECONDS: Final = "HYOKA_SQL_SECONDS"
MEMORY: Final = "HYOKA_SQL_MEMORY"
_SECONDS: Final = 600.0
_ROWS_AT_ONCE: Final = 1_000_000
_GRACE_S: Final = 1.0
"""How long a query that was told to stop is waited for."""
_START_S: Final = 60.0
"""How long a process for queries may take to start."""
_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


_own_seconds: Final[contextvars.ContextVar[float]] = contextvars.ContextVar("seconds", default=inf)
_own_memory: Final[contextvars.ContextVar[int]] = contextvars.ContextVar(
    "memory", default=sys.maxsize
)


@contextlib.contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """Let queries in here take no longer than this, where they might take longer."""
    former = _own_seconds.set(seconds)
    try:
        yield
    finally:
        _own_seconds.reset(former)


@contextlib.contextmanager
def within_memory(most_bytes: int) -> Iterator[None]:
    """Let queries in here fill no more than this, unless `HYOKA_SQL_MEMORY` says how much."""
    former = _own_memory.set(most_bytes)
    try:
        yield
    finally:
        _own_memory.reset(former)


class UnreadableError(Error):
    """A table behind a query could not be read to its end."""


@dataclass
class Connection:
    """A DuckDB with Arrow tables or datasets under names, and views over them, and nothing else.

    Files, the network, extensions, Python's own variables and the settings are out of reach.
    """

    cursor: Any
    tables: Mapping[str, Any]
    views: Mapping[str, str]
    texts: tuple[str, pa.Table] | None = None
    """The game and its games while texts of positions can be asked for."""

    def execute(self, statement: str) -> Any:
        """Run a statement of our own here."""
        return self.cursor.execute(statement)


def connection(tables: Mapping[str, Any], views: Mapping[str, str] | None = None) -> Connection:
    """Open the locked DuckDB, with tables and views that no other connection sees."""
    # A cursor has temporary names of its own; the locked database is made once a process.
    opened = Connection(_locked(os.getpid(), _most_memory()).cursor(), tables, views or {})
    for name, table in tables.items():
        opened.cursor.register(name, table)
    for name, query in opened.views.items():
        opened.execute(f'create temp view "{name}" as {query}')
    return opened


@functools.lru_cache(maxsize=1)
def _locked(_process: int, memory: int) -> Any:
    database = duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "temp_directory": "",  # or it would make one where we happen to be
            "memory_limit": f"{memory}B",
            "enable_external_access": False,
        },
    )
    # Without access to files a few names, such as ":memory:", would still be let through.
    database.execute("set disabled_filesystems = 'LocalFileSystem'")
    database.execute("set lock_configuration = true")
    return database


def statement_kind(opened: Connection, query: str) -> str:
    """`SELECT` and the like; raises ConditionError if it does not read, or is not one statement."""
    try:
        statements = opened.cursor.extract_statements(query)
    except duckdb.Error as error:
        raise ConditionError(first_line(error)) from error
    except UnicodeError:
        raise ConditionError("the text is not UTF-8") from None
    return str(statements[0].type.name) if len(statements) == 1 else "several"


def run_query(opened: Connection, query: str) -> pa.Table:
    """The answer to one SELECT as an Arrow table; raises ConditionError.

    A signal ends it, and so does the time that it may take.
    """
    if statement_kind(opened, query) != "SELECT":
        raise ConditionError("one SELECT is expected, and nothing else")
    most_bytes = _most_memory()
    try:
        return _run(opened, query, most_bytes, binds=False)
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        raise ConditionError(
            f"the query needs more memory than {most_bytes / 1e9:.3g}G; "
            f"{MEMORY}={2 * most_bytes / 1e9:.3g}G allows more"
        ) from error
    except (duckdb.Error, pa.ArrowException, OSError, RuntimeError) as error:
        # Errors of Arrow's come through DuckDB as text.
        if isinstance(error, OSError) or _OF_ARROW.search(str(error)):
            raise UnreadableError(first_line(error)) from error
        raise ConditionError(first_line(error)) from error


def bind_query(opened: Connection, query: str) -> None:
    """Plan one SELECT without running it; raises DuckDB's errors, or ConditionError."""
    _run(opened, query, _most_memory(), binds=True)


def _run(opened: Connection, query: str, most_bytes: int, *, binds: bool) -> pa.Table:
    """Run a query here if DuckDB limits its memory, else in a process of its own."""
    seconds = _most_seconds()
    if is_bounded(opened.cursor, query):
        return _attended(
            lambda: answer_here(opened, query, most_bytes, binds=binds),
            opened.cursor.interrupt,
            seconds,
        )
    request = Request(opened.tables, opened.views, opened.texts, query, most_bytes, binds)
    try:
        with query_process(seconds) as process:
            _attended(process.start, process.kill, _START_S)
            return _attended(lambda: process.ask(request), process.kill, seconds)
    except TimeoutError:
        raise _too_long() from None


def answer_here(opened: Connection, query: str, most_bytes: int, *, binds: bool) -> Any:
    """The answer to a query that has been checked, from this process; None if it only `binds`."""
    if binds:
        opened.execute(f"explain {query}")
        return None
    return _answer(opened.cursor, query, most_bytes)


def _answer(cursor: Any, query: str, most_bytes: int) -> pa.Table:
    reader = cursor.sql(query).to_arrow_reader(_ROWS_AT_ONCE)
    batches: list[pa.RecordBatch] = []
    size = 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > most_bytes:  # DuckDB does not count what it has handed out
            raise MemoryError
    return pa.Table.from_batches(batches, reader.schema)


def _attended(work: Callable[[], T], interrupt: Callable[[], object], seconds: float) -> T:
    """What `work` gives, while this thread can hear of signals.

    Raises ConditionError if it takes longer than `seconds`.
    """
    job = _Job(work)
    in_time = False
    job.start()
    try:
        in_time = job.done.wait(seconds)
    finally:
        if not in_time:  # also after a signal: whoever sent it does not want to wait
            interrupt()
            job.done.wait(_GRACE_S)
    if not in_time:
        raise _too_long()
    if job.error is not None:
        raise job.error
    [result] = job.results
    return result


def _too_long() -> ConditionError:
    seconds = _most_seconds()
    own = seconds == _own_seconds.get()
    more = "" if own else f"; {SECONDS}={10 * seconds:g} allows more"
    return ConditionError(f"the query took longer than {seconds:g} s{more}")


class _Job(threading.Thread, Generic[T]):
    """Work in a thread that nobody waits for at the end."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="hyoka-sql", daemon=True)
        self._work = work
        self.results: list[T] = []
        self.error: Exception | None = None
        self.done = threading.Event()

    def run(self) -> None:
        """Keep the result or the error."""
        try:
            self.results.append(self._work())
        except Exception as error:
            self.error = error
        finally:
            self.done.set()


_OF_ARROW: Final = re.compile(r"\b(IOError|OSError|FileNotFoundError|ArrowInvalid)\b")


def first_line(error: BaseException | None) -> str:
    """What an error says, in one line that a terminal can show."""
    lines = str(error).strip().splitlines()
    return escape_control_chars(lines[0]) if lines else type(error).__name__


def _most_seconds() -> float:
    text = os.environ.get(SECONDS, "").strip()
    try:
        seconds = float(text or _SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise ConditionError(f"{SECONDS} is a number of seconds, not '{text}'")
    return min(seconds, _own_seconds.get())


def _most_memory() -> int:
    """Bytes; unless told otherwise, a quarter of what the machine has."""
    text = os.environ.get(MEMORY, "").strip()
    if not text:
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return min(min(installed, _most_in_container()) // 4, _own_memory.get())
    match = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)\s*([KMGT]?)B?", text, re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < _UNITS["M"]:
        raise ConditionError(f"{MEMORY} is a size such as 500M or 8G, not '{text}'")
    return size


def _most_in_container() -> int:
    """Bytes that a container may use; more than any machine has if it says nothing."""
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return sys.maxsize


def check_condition(condition: str, columns: Sequence[str]) -> str:
    """The condition in brackets, if it is one SQL expression; hints at the nearest column."""
    return _checked(condition, tuple(columns))


@functools.lru_cache(maxsize=64)
def _checked(condition: str, columns: tuple[str, ...]) -> str:
    opened = connection({})  # not closed here: a query that was given up may still be busy there
    # With and without brackets: what closes a bracket that it did not open is no expression.
    for text in (f"select 1 where {condition}\n", f"select 1 where ({condition}\n)"):
        try:
            kind = statement_kind(opened, text)
        except ConditionError as error:
            raise ConditionError(f"condition '{condition}': {error}") from error
        if kind != "SELECT":
            raise ConditionError(f"condition '{condition}': one SQL expression is expected")
    names = ", ".join(f'null as "{name}"' for name in columns)
    try:
        bind_query(opened, f"select 1 from (select {names}) where ({condition}\n)")
    except duckdb.BinderException as error:
        raise ConditionError(_with_hint(condition, first_line(error), columns)) from error
    except duckdb.PermissionException as error:
        raise ConditionError(
            f"condition '{condition}': a condition can reach no file and change no setting"
        ) from error
    except duckdb.Error:
        pass  # of the types, which are not known here; the real table will tell
    return f"({condition}\n)"


def _with_hint(condition: str, message: str, columns: Sequence[str]) -> str:
    parts = message.split('"')
    if message.startswith("Binder Error: Referenced column") and len(parts) > 1:
        message = f"there is no column {parts[1]}"
    near = difflib.get_close_matches(parts[1], columns, n=1) if len(parts) > 1 else []
    hint = f"; did you mean {near[0]}?" if near else f"; columns are {', '.join(columns)}"
    return f"condition '{condition}': {message}{hint}"


_CALLED: Final = re.compile(r"\b(?:position_text|s?fen)\s*\(", re.IGNORECASE)
_MISSING: Final = re.compile(r"Function with name (s?fen) does not exist", re.IGNORECASE)


@contextlib.contextmanager
def position_texts(
    opened: Connection, query: str, game: str, games: Callable[[], pa.Table]
) -> Iterator[None]:
    """Let a query use the functions, if it does; `games` gives game_id, start, komi and moves."""
    if not _CALLED.search(query):
        yield
        return
    inner = f"position_text_{secrets.token_hex(8)}"
    names = [name for name in ("position_text", game_facts(game).start_word) if name]
    opened.texts = game, games()
    texts = _Texts(*opened.texts)
    opened.cursor.create_function(
        inner, texts, ["BIGINT", "BIGINT"], "VARCHAR", type="arrow", null_handling="special"
    )
    try:
        for name in names:
            opened.execute(
                f"create or replace temp macro {name}(game_id, ply) as "
                f"{inner}(cast(game_id as bigint), cast(ply as bigint))"
            )
        yield
    except ConditionError as error:
        if (missing := _MISSING.search(str(error))) is None:
            raise
        raise ConditionError(
            f"{game} has no {missing[1]}(game_id, ply); there is {' and '.join(names)}"
        ) from error
    finally:
        for name in names:
            opened.execute(f"drop macro if exists temp.{name}")
        opened.cursor.remove_function(inner)
        opened.texts = None


class _Texts:
    """Texts of positions by game and ply; null where there is none."""

    def __init__(self, game: str, games: pa.Table) -> None:
        self._game = game
        self._games = games
        ids = games["game_id"].to_numpy()
        self._order = np.argsort(ids)
        self._ids = ids[self._order]

    def __call__(self, games: Any, plies: Any) -> pa.Array:
        wanted = list(zip(games.to_pylist(), plies.to_pylist(), strict=True))
        texts: list[str | None] = [None] * len(wanted)
        replay: tuple[int | None, _core.Replay | None, int] = (None, None, -1)
        # In order a game is walked once.
        known = (i for i, keys in enumerate(wanted) if None not in keys)
        for i in sorted(known, key=lambda i: wanted[i]):
            game, ply = wanted[i]
            if replay[0] != game:
                replay = (game, *self._replay(game))
            if replay[1] is not None and 0 <= ply <= replay[2]:
                texts[i] = replay[1].position(ply).text
        return pa.array(texts, pa.string())

    def _replay(self, game: int) -> tuple[_core.Replay | None, int]:
        place = int(np.searchsorted(self._ids, game))
        if place == len(self._ids) or self._ids[place] != game:
            return None, -1
        row = int(self._order[place])
        start, komi, moves = (self._games[name][row].as_py() for name in ("start", "komi", "moves"))
        codes = np.frombuffer(moves, "<u2").astype(np.uint16)
        number = float("nan") if komi is None else komi
        return _core.Replay(self._game, start, number, codes), len(codes)
