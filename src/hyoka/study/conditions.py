# SPDX-License-Identifier: Apache-2.0
"""SQL from users, run where it can touch nothing but the tables it is given."""

import difflib
from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from hyoka.errors import ConditionError


def connection(tables: Mapping[str, Any], views: Mapping[str, str] | None = None) -> Any:
    """A DuckDB with Arrow tables or datasets under names, and views over them, and nothing else.

    Files, the network, extensions, Python's own variables and the settings are out of reach.
    """
    opened = duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    opened.execute("set enable_progress_bar = false")
    for name, table in tables.items():
        opened.register(name, table)
    for name, query in (views or {}).items():
        opened.execute(f'create view "{name}" as {query}')
    opened.execute("set enable_external_access = false")
    opened.execute("set lock_configuration = true")
    return opened


def run_query(opened: Any, query: str) -> pa.Table:
    """The answer to one SELECT as an Arrow table; raises ConditionError with a hint."""
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise ConditionError(_first_line(error)) from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ConditionError("one SELECT is expected, and nothing else")
    try:
        return opened.sql(query).to_arrow_table()
    except duckdb.Error as error:
        raise ConditionError(_first_line(error)) from error


def check_condition(condition: str, columns: list[str]) -> str:
    """The condition in brackets, if it is one SQL expression; hints at the nearest column."""
    # With and without brackets: what closes a bracket that it did not open is no expression.
    for text in (f"select 1 where {condition}\n", f"select 1 where ({condition}\n)"):
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error as error:
            raise ConditionError(f"condition '{condition}': {_first_line(error)}") from error
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ConditionError(f"condition '{condition}': one SQL expression is expected")
    names = ", ".join(f'null as "{name}"' for name in columns)
    try:
        duckdb.connect(":memory:").execute(
            f"explain select 1 from (select {names}) where ({condition}\n)"
        )
    except duckdb.BinderException as error:
        raise ConditionError(_with_hint(condition, _first_line(error), columns)) from error
    except duckdb.Error:
        pass  # of the types, which are not known here; the real table will tell
    return f"({condition}\n)"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _with_hint(condition: str, message: str, columns: list[str]) -> str:
    parts = message.split('"')
    near = difflib.get_close_matches(parts[1], columns, n=1) if len(parts) > 1 else []
    hint = f"; did you mean {near[0]}?" if near else f"; columns are {', '.join(columns)}"
    return f"condition '{condition}': {message}{hint}"
