# SPDX-License-Identifier: Apache-2.0
"""Conditions from users: one SQL expression over columns that are there."""

import difflib
import functools
from collections.abc import Sequence

import duckdb

from hyoka.errors import ConditionError
from hyoka.study.sql import bind_query, connection, first_line, statement_kind


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
