# SPDX-License-Identifier: Apache-2.0
"""Queries whose memory DuckDB itself limits; all others run in a process of their own.

DuckDB counts the memory of tables, joins, sorts and aggregates, but not of the text that
`repeat('a', 4000000000)` makes, nor of a plan that doubles with each level of the query. A query is
bounded if it consists of what is listed here and nothing else: functions whose results are no
larger than their arguments, and no more copies of an expression than the text shows.
"""

import json
import re
from collections import Counter
from math import prod
from typing import Any, Final

import duckdb

_LONGEST: Final = 200_000
"""Characters of a query; longer ones would take too long to look through."""
_MOST_STARS: Final = 4
_MOST_COPIES: Final = 1 << 16
"""How often an expression may be copied where others refer to it by its name."""
_SERIALIZE: Final = (
    "select json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true)"
)
_PLAIN_NAME: Final = re.compile(r"(?!col\d+$)[a-z_][a-z0-9_]*", re.IGNORECASE)
"""Of a column that is not an expression; `col0` is one of VALUES."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EXPRESSIONS: Final = _words(
    "BETWEEN CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT DEFAULT FUNCTION OPERATOR STAR "
    "SUBQUERY TYPE WINDOW"
)
_NODES: Final = _words(
    "SELECT_NODE SET_OPERATION_NODE BASE_TABLE JOIN SUBQUERY TABLE_FUNCTION EMPTY EXPRESSION_LIST "
    "ORDER_MODIFIER LIMIT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING"
)
_OPERATORS: Final = _words(
    "OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_COALESCE OPERATOR_NULLIF "
    "OPERATOR_TRY COMPARE_IN COMPARE_NOT_IN ARRAY_EXTRACT ARRAY_SLICE STRUCT_EXTRACT"
)
_TYPES: Final = _words(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT "
    "FLOAT DOUBLE DECIMAL VARCHAR DATE TIME TIMESTAMP INTERVAL"
)
_TABLE_FUNCTIONS: Final = frozenset({"range", "generate_series"})
_FUNCTIONS: Final = _words(
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
    # Aggregates and windows: DuckDB counts what they gather.
    "any_value approx_count_distinct approx_quantile arbitrary arg_max arg_min argmax argmin "
    "bit_and bit_or bit_xor array_agg avg bool_and bool_or corr count count_if count_star countif "
    "covar_pop covar_samp "
    "entropy favg first fsum group_concat histogram kurtosis last list mad max max_by mean median "
    "min min_by mode quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy sem skewness stddev stddev_pop "
    "stddev_samp string_agg sum var_pop var_samp variance "
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank "
    "row_number "
    # Ours
    "fen position_text sfen typeof"
)


def is_bounded(cursor: Any, query: str) -> bool:
    """Whether DuckDB's own memory limit holds for a SELECT."""
    if len(query) > _LONGEST:
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
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
            continue
        if not isinstance(node, dict):
            continue
        if not _is_known(node):
            return False
        stars += node.get("class") == "STAR"
        if node.get("class") == "COLUMN_REF":
            columns[str(node["column_names"][-1]).lower()] += 1
        names = [node.get("alias"), *node.get("column_name_alias", ())]
        aliases |= {str(name).lower() for name in names if name}
        left += (part for key, part in node.items() if key != "function")
    copies = (
        n for name, n in columns.items() if name in aliases or not _PLAIN_NAME.fullmatch(name)
    )
    return stars <= _MOST_STARS and prod(copies) <= _MOST_COPIES


def _is_known(node: dict[str, Any]) -> bool:
    """Whether a node of a query is one of those that are listed above."""
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
    return "function_name" not in node or _name(node) in _FUNCTIONS


def _name(function: dict[str, Any]) -> str:
    """A function's name, in small letters; empty if it is in a schema."""
    name = str(function.get("function_name", "")).lower()
    return name if function.get("qualified_name", {}).get("path", [name])[0].lower() == name else ""


def _is_range(function: dict[str, Any]) -> bool:
    """Whether a table function counts from one constant to another."""
    arguments = [each.get("expression", {}) for each in function.get("arguments", ())]
    constant = all(each.get("class") == "CONSTANT" for each in arguments)
    return constant and _name(function) in _TABLE_FUNCTIONS
