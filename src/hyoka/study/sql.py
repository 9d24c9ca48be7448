# SPDX-License-Identifier: Apache-2.0
"""SQL over a study: the only use of DuckDB, restricted before it runs users' queries."""

import contextlib
import contextvars
import difflib
import functools
import json
import os
import re
import secrets
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.foundation.errors import ConditionError, Error, escape_control_chars
from hyoka.games import game_facts
from hyoka.study.query_process import Request, query_process

T = TypeVar("T")

SECONDS: Final = "HYOKA_SQL_SECONDS"
MEMORY: Final = "HYOKA_SQL_MEMORY"
_SECONDS: Final = 600.0
_ROWS_AT_ONCE: Final = 1_000_000
_GRACE_S: Final = 1.0
"""The time that an interrupted query has to stop."""
_START_S: Final = 60.0
"""The time limit for starting a query process."""
_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


_context_seconds: Final[contextvars.ContextVar[float]] = contextvars.ContextVar(
    "seconds", default=inf
)
_context_memory: Final[contextvars.ContextVar[int]] = contextvars.ContextVar(
    "memory", default=sys.maxsize
)


@contextlib.contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """Limit the time of queries in this context, if the general limit is higher."""
    former = _context_seconds.set(seconds)
    try:
        yield
    finally:
        _context_seconds.reset(former)


@contextlib.contextmanager
def within_memory(max_bytes: int) -> Iterator[None]:
    """Limit the memory of queries in this context, unless `HYOKA_SQL_MEMORY` is set."""
    former = _context_memory.set(max_bytes)
    try:
        yield
    finally:
        _context_memory.reset(former)


class UnreadableError(Error):
    """A table behind a query cannot be read completely."""


@dataclass
class Connection:
    """A DuckDB cursor with named Arrow tables or datasets and views over them only.

    Queries cannot reach files, the network, extensions, Python's variables or the settings.
    """

    cursor: Any
    tables: Mapping[str, Any]
    views: Mapping[str, str]
    texts: tuple[str, pa.Table] | None = None
    """The game and its games while queries can use the text of positions."""

    def execute(self, statement: str) -> Any:
        """Run a trusted statement."""
        return self.cursor.execute(statement)


def connection(tables: Mapping[str, Any], views: Mapping[str, str] | None = None) -> Connection:
    """Open the locked DuckDB with tables and views private to this connection."""
    # A cursor has its own temporary names; each process has one locked database.
    opened = Connection(_database(os.getpid(), _max_memory()).cursor(), tables, views or {})
    for name, table in tables.items():
        opened.cursor.register(name, table)
    for name, query in opened.views.items():
        opened.execute(f'create temp view "{name}" as {query}')
    return opened


@functools.lru_cache(maxsize=1)
def _database(_process: int, memory: int) -> Any:
    database = duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "temp_directory": "",  # otherwise DuckDB creates one in the current folder
            "memory_limit": f"{memory}B",
            "enable_external_access": False,
        },
    )
    # Without file access, DuckDB still accepts a few names, such as ":memory:".
    database.execute("set disabled_filesystems = 'LocalFileSystem'")
    database.execute("set lock_configuration = true")
    return database


def statement_kind(opened: Connection, query: str) -> str:
    """Return the kind of a statement, such as `SELECT`; raises ConditionError if it is not SQL."""
    try:
        statements = opened.cursor.extract_statements(query)
    except duckdb.Error as error:
        raise ConditionError(first_line(error)) from error
    except UnicodeError:
        raise ConditionError("the text is not UTF-8") from None
    return str(statements[0].type.name) if len(statements) == 1 else "several"


def run_query(opened: Connection, query: str) -> pa.Table:
    """Run one SELECT and return an Arrow table; raises ConditionError.

    Signals and the time limit interrupt it.
    """
    if statement_kind(opened, query) != "SELECT":
        raise ConditionError("expected a single SELECT statement")
    max_bytes = _max_memory()
    try:
        return _run(opened, query, max_bytes, binds=False)
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        raise ConditionError(
            f"the query needs more memory than {max_bytes / 1e9:.3g}G; "
            f"set {MEMORY}={2 * max_bytes / 1e9:.3g}G to allow more"
        ) from error
    except (duckdb.Error, pa.ArrowException, OSError, RuntimeError) as error:
        # DuckDB passes Arrow's errors on as text.
        if isinstance(error, OSError) or _OF_ARROW.search(str(error)):
            raise UnreadableError(first_line(error)) from error
        raise ConditionError(first_line(error)) from error


def bind_query(opened: Connection, query: str) -> None:
    """Plan one SELECT without running it; raises DuckDB's errors, or ConditionError."""
    _run(opened, query, _max_memory(), binds=True)


def _run(opened: Connection, query: str, max_bytes: int, *, binds: bool) -> pa.Table:
    """Run a query here if DuckDB limits its memory, else in a separate process."""
    seconds = _max_seconds()
    if is_bounded(opened.cursor, query):
        return _run_interruptibly(
            lambda: answer_here(opened, query, max_bytes, binds=binds),
            opened.cursor.interrupt,
            seconds,
        )
    request = Request(opened.tables, opened.views, opened.texts, query, max_bytes, binds)
    try:
        with query_process(seconds) as process:
            _run_interruptibly(process.start, process.kill, _START_S)
            return _run_interruptibly(lambda: process.ask(request), process.kill, seconds)
    except TimeoutError:
        raise _timeout_error() from None


def answer_here(opened: Connection, query: str, max_bytes: int, *, binds: bool) -> Any:
    """Run a checked query in this process; returns None if it only `binds`."""
    if binds:
        opened.execute(f"explain {query}")
        return None
    return _answer(opened.cursor, query, max_bytes)


def _answer(cursor: Any, query: str, max_bytes: int) -> pa.Table:
    reader = cursor.sql(query).to_arrow_reader(_ROWS_AT_ONCE)
    batches: list[pa.RecordBatch] = []
    size = 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > max_bytes:  # DuckDB does not count memory of returned batches
            raise MemoryError
    return pa.Table.from_batches(batches, reader.schema)


def _run_interruptibly(work: Callable[[], T], interrupt: Callable[[], object], seconds: float) -> T:
    """Run `work` in a thread, so that this thread can handle signals, and return its result.

    Raises ConditionError if it takes longer than `seconds`.
    """
    job = _Job(work)
    in_time = False
    job.start()
    try:
        in_time = job.done.wait(seconds)
    finally:
        if not in_time:  # also after a signal
            interrupt()
            job.done.wait(_GRACE_S)
    if not in_time:
        raise _timeout_error()
    if job.error is not None:
        raise job.error
    [result] = job.results
    return result


def _timeout_error() -> ConditionError:
    seconds = _max_seconds()
    allowed = seconds == _context_seconds.get()
    more = "" if allowed else f"; set {SECONDS}={10 * seconds:g} to allow more"
    return ConditionError(f"the query took longer than {seconds:g} s{more}")


class _Job(threading.Thread, Generic[T]):
    """Work in a daemon thread."""

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
    """Return the first line of an error message, safe for a terminal."""
    lines = str(error).strip().splitlines()
    return escape_control_chars(lines[0]) if lines else type(error).__name__


def _max_seconds() -> float:
    text = os.environ.get(SECONDS, "").strip()
    try:
        seconds = float(text or _SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise ConditionError(f"{SECONDS} is a number of seconds, not '{text}'")
    return min(seconds, _context_seconds.get())


def _max_memory() -> int:
    """Return the memory limit in bytes; by default a quarter of the machine's memory."""
    text = os.environ.get(MEMORY, "").strip()
    if not text:
        return min(installed_memory() // 4, _context_memory.get())
    size = read_size(text)
    if size is None:
        raise ConditionError(f"{MEMORY} is a size such as 500M or 8G, not '{text}'")
    return size


def read_size(text: str) -> int | None:
    """Read a size in bytes of at least a megabyte; None if it is none.

    >>> read_size("1.5G"), read_size("300 MB"), read_size("many")
    (1500000000, 300000000, None)
    """
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d+)?)\s*([KMGT]?)B?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    return size if size >= _UNITS["M"] else None


def installed_memory() -> int:
    """Return the memory of the machine, or of its container, in bytes."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(installed, _container_memory())


def _container_memory() -> int:
    """Return the container's memory limit in bytes; `sys.maxsize` without one."""
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return sys.maxsize


def check_condition(condition: str, columns: Sequence[str]) -> str:
    """Return a condition in parentheses if it is one SQL expression; else raise ConditionError."""
    return _check_cached(condition, tuple(columns))


@functools.lru_cache(maxsize=64)
def _check_cached(condition: str, columns: tuple[str, ...]) -> str:
    opened = connection({})  # not closed here: an abandoned query may still use it
    # With and without parentheses, to reject unbalanced ones.
    for text in (f"select 1 where {condition}\n", f"select 1 where ({condition}\n)"):
        try:
            kind = statement_kind(opened, text)
        except ConditionError as error:
            raise ConditionError(f"condition '{condition}': {error}") from error
        if kind != "SELECT":
            raise ConditionError(f"condition '{condition}': expected a single SQL expression")
    names = ", ".join(f'null as "{name}"' for name in columns)
    try:
        bind_query(opened, f"select 1 from (select {names}) where ({condition}\n)")
    except duckdb.BinderException as error:
        raise ConditionError(_with_hint(condition, first_line(error), columns)) from error
    except duckdb.PermissionException as error:
        raise ConditionError(
            f"condition '{condition}': conditions cannot read files or change settings"
        ) from error
    except duckdb.Error:
        pass  # a type error; column types are unknown here, and the query itself will report it
    return f"({condition}\n)"


def _with_hint(condition: str, message: str, columns: Sequence[str]) -> str:
    parts = message.split('"')
    if message.startswith("Binder Error: Referenced column") and len(parts) > 1:
        message = f"no column {parts[1]}"
    near = difflib.get_close_matches(parts[1], columns, n=1) if len(parts) > 1 else []
    hint = f"; did you mean {near[0]}?" if near else f"; columns: {', '.join(columns)}"
    return f"condition '{condition}': {message}{hint}"


_CALLED: Final = re.compile(r"\b(?:position_text|s?fen)\s*\(", re.IGNORECASE)
_MISSING: Final = re.compile(r"Function with name (s?fen) does not exist", re.IGNORECASE)


@contextlib.contextmanager
def position_texts(
    opened: Connection, query: str, game: str, games: Callable[[], pa.Table]
) -> Iterator[None]:
    """Define the position functions if a query uses them; `games` returns the games' moves."""
    if not _CALLED.search(query):
        yield
        return
    inner = f"position_text_{secrets.token_hex(8)}"
    names = [name for name in ("position_text", game_facts(game).formats.start_word) if name]
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
            f"{game} has no {missing[1]}(game_id, ply); available: {' and '.join(names)}"
        ) from error
    finally:
        for name in names:
            opened.execute(f"drop macro if exists temp.{name}")
        opened.cursor.remove_function(inner)
        opened.texts = None


class _Texts:
    """Return the texts of positions by game and ply; null for unknown positions."""

    def __init__(self, game: str, games: pa.Table) -> None:
        self._game = game
        self._games = games
        ids = games["game_id"].to_numpy()
        self._order = np.argsort(ids)
        self._ids = ids[self._order]

    def __call__(self, games: Any, plies: Any) -> pa.Array:
        keys = list(zip(games.to_pylist(), plies.to_pylist(), strict=True))
        texts: list[str | None] = [None] * len(keys)
        replay: tuple[int | None, _core.Replay | None, int] = (None, None, -1)
        # In order, so that each game is replayed once.
        complete = (i for i, key in enumerate(keys) if None not in key)
        for i in sorted(complete, key=lambda i: keys[i]):
            game, ply = keys[i]
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


# DuckDB's memory limit covers tables, joins, sorts and aggregates, but not the text of
# `repeat('a', 4000000000)`, nor a plan that doubles with each level of the query.
# A query is bounded if it consists only of what is listed here: functions whose results are no
# larger than their arguments, and no more copies of an expression than the text shows. All other
# queries run in a separate process.

_MAX_BOUNDED_LENGTH: Final = 200_000
"""Characters of a query; analyzing longer ones would take too long."""
_MAX_STARS: Final = 4
_MAX_COPIES: Final = 1 << 16
"""The limit on copies of an expression through references to its alias."""
_SERIALIZE: Final = (
    "select json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true)"
)
_PLAIN_NAME: Final = re.compile(r"(?!col\d+$)[a-z_][a-z0-9_]*", re.IGNORECASE)
"""A column that is not an expression; `col0` is a column of VALUES."""


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EXPRESSIONS: Final = _word_set(
    "BETWEEN CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT DEFAULT FUNCTION OPERATOR STAR "
    "SUBQUERY TYPE WINDOW"
)
_NODES: Final = _word_set(
    "SELECT_NODE SET_OPERATION_NODE BASE_TABLE JOIN SUBQUERY TABLE_FUNCTION EMPTY EXPRESSION_LIST "
    "ORDER_MODIFIER LIMIT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING"
)
_OPERATORS: Final = _word_set(
    "OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_COALESCE OPERATOR_NULLIF "
    "OPERATOR_TRY COMPARE_IN COMPARE_NOT_IN ARRAY_EXTRACT ARRAY_SLICE STRUCT_EXTRACT"
)
_TYPES: Final = _word_set(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT "
    "FLOAT DOUBLE DECIMAL VARCHAR DATE TIME TIMESTAMP INTERVAL"
)
_TABLE_FUNCTIONS: Final = frozenset({"range", "generate_series"})
_FUNCTIONS: Final = _word_set(
    # Operators; || is not among them.
    "+ - * / // % ** ^ & | ~ << >> ~~ !~~ ~~* !~~* ~~~ ^@ "
    # Numbers
    "abs acos asin atan atan2 cbrt ceil ceiling cos cot degrees even exp fdiv floor fmod gcd "
    "greatest isfinite isinf isnan lcm least ln log log10 log2 mod nullif pi pow power radians "
    "bit_count random round sign sin sqrt tan trunc xor add subtract multiply divide "
    # Texts
    "ascii bit_length char_length character_length contains ends_with if ifnull ilike_escape instr "
    "lcase left length like_escape lower ltrim not_ilike_escape not_like_escape octet_length ord "
    "position prefix "
    "regexp_extract regexp_full_match regexp_matches reverse right rtrim split_part starts_with "
    "strlen strpos substr substring suffix trim ucase upper "
    # Parts of lists and maps
    "array_contains array_extract array_length cardinality element_at len list_contains "
    "list_avg list_extract list_has list_max list_min list_sum map_contains map_extract "
    "map_extract_value map_keys map_values struct_extract "
    # Dates
    "date_diff date_part date_trunc datediff datepart day dayofweek dayofyear extract month "
    "quarter try_strptime week weekday year "
    # Aggregates and windows: DuckDB's memory limit covers their state.
    "any_value approx_count_distinct approx_quantile arbitrary arg_max arg_min argmax argmin "
    "bit_and bit_or bit_xor array_agg avg bool_and bool_or corr count count_if count_star countif "
    "covar_pop covar_samp "
    "entropy favg first fsum group_concat histogram kurtosis last list mad max max_by mean median "
    "min min_by mode quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy sem skewness stddev stddev_pop "
    "stddev_samp string_agg sum var_pop var_samp variance "
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank "
    "row_number "
    # Hyoka's functions
    "fen position_text sfen typeof"
)


def is_bounded(cursor: Any, query: str) -> bool:
    """Whether DuckDB's own memory limit holds for a SELECT."""
    if len(query) > _MAX_BOUNDED_LENGTH:
        return False
    try:
        tree = json.loads(cursor.execute(_SERIALIZE, [query]).fetchall()[0][0])
    except (duckdb.Error, ValueError, RecursionError):
        return False
    return not tree.get("error", True) and _is_plain(tree["statements"])


def _is_plain(tree: Any) -> bool:
    stars = 0
    columns: Counter[str] = Counter()
    aliases: set[str] = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
            continue
        if not isinstance(node, dict):
            continue
        if not _is_listed(node):
            return False
        stars += node.get("class") == "STAR"
        if node.get("class") == "COLUMN_REF":
            columns[str(node["column_names"][-1]).lower()] += 1
        names = [node.get("alias"), *node.get("column_name_alias", ())]
        aliases |= {str(name).lower() for name in names if name}
        pending += (part for key, part in node.items() if key != "function")
    copies = (
        n for name, n in columns.items() if name in aliases or not _PLAIN_NAME.fullmatch(name)
    )
    return stars <= _MAX_STARS and prod(copies) <= _MAX_COPIES


def _is_listed(node: dict[str, Any]) -> bool:
    """Whether a node of a query is listed above."""
    kind = node.get("class", node.get("type"))
    if isinstance(kind, str) and kind not in (_EXPRESSIONS if "class" in node else _NODES):
        return False
    if "map" in node.get("cte_map", ()) or len(node.get("group_sets", ())) > 1:
        return False
    if "sample" in node or node.get("columns") is True:
        return False
    if kind in ("TYPE", "OPERATOR"):
        return node.get("type_name", node["type"]).upper() in _TYPES | _OPERATORS
    if kind == "TABLE_FUNCTION":
        return _is_range(node["function"])
    return "function_name" not in node or _function_name(node) in _FUNCTIONS


def _function_name(function: dict[str, Any]) -> str:
    """A function's name in lower case; empty if it is in a schema."""
    name = str(function.get("function_name", "")).lower()
    return name if function.get("qualified_name", {}).get("path", [name])[0].lower() == name else ""


def _is_range(function: dict[str, Any]) -> bool:
    """Whether a table function is a range of constants."""
    arguments = [each.get("expression", {}) for each in function.get("arguments", ())]
    constant = all(each.get("class") == "CONSTANT" for each in arguments)
    return constant and _function_name(function) in _TABLE_FUNCTIONS
