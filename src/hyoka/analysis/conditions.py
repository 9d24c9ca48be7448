# SPDX-License-Identifier: Apache-2.0
"""Conditions on columns for slice discovery: levels, ranges, and pairs."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import StudyError

FEW_LEVELS: Final = 8
MOST_LEVELS: Final = 24
MOST_PARTS: Final = 6
"""Default maximum number of text levels with separate parts, limited by the colors of a chart."""
_QUANTILES: Final = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition on positions."""

    sql: str
    """SQL condition for `where`."""
    words: str
    """Text for people."""
    columns: frozenset[str]
    holds: NDArray[np.bool_] = field(repr=False)
    parts: tuple[str, ...] = ()
    """SQL of the two conditions of a conjunction."""

    def __and__(self, other: "Condition") -> "Condition":
        return Condition(
            f"{self.sql} and {other.sql}",
            f"{self.words} and {other.words}",
            self.columns | other.columns,
            self.holds & other.holds,
            (self.sql, other.sql),
        )


def conditions(
    columns: Mapping[str, NDArray[Any]], words: Mapping[str, str] | None = None
) -> Iterator[Condition]:
    """Build the conditions on single columns: levels, or low, middle and high ranges.

    A boolean column gives one condition; its negation has the opposite gap. Nulls (NaN, or None in
    texts) meet no condition. `words` names boolean columns.
    """
    for name, values in columns.items():
        for condition in _of_column(name, values):
            meaning = (words or {}).get(condition.words, condition.words)
            yield replace(condition, words=meaning)


def partition(
    name: str,
    values: NDArray[Any],
    cuts: Sequence[float] | None = None,
    *,
    called: str | None = None,
    most: int | None = None,
) -> list[Condition]:
    """Partition positions by cuts, by level, or by quartiles of many levels.

    Of many text levels, the `most` largest are separate parts and another part has the rest. With
    `most`, this also holds for numbers. Nulls are a separate part. `called` is the name of the
    column or expression in words.

    >>> [c.words for c in partition("ply", np.array([1, 25, 40]), [20, 30])]
    ['ply < 20', '20 ≤ ply < 30', 'ply ≥ 30']
    >>> whites = np.array(["A", "B", "A", "C", "A", "B"], dtype=object)
    >>> [c.words for c in partition("white", whites, called="engine", most=2)]
    ['engine is A', 'engine is B', 'engine: others']
    """
    it = called or name
    parts = _defined_parts(name, values, cuts, it, most)
    is_text = values.dtype.kind in "OUS"
    unknown = np.array([v is None for v in values]) if is_text else np.isnan(_numbers(values))
    if unknown.any():
        sql = f"{_quoted(name)} is null"
        parts.append(Condition(sql, f"{it}: unknown", frozenset([name]), unknown))
    return parts


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64)


def _defined_parts(
    name: str, values: NDArray[Any], cuts: Sequence[float] | None, it: str, most: int | None
) -> list[Condition]:
    column, quoted = frozenset([name]), _quoted(name)
    if values.dtype == np.bool_ and cuts is None:
        return [
            Condition(quoted, it, column, values),
            Condition(f"not {quoted}", f"not {it}", column, ~values),
        ]
    if values.dtype.kind in "OUS":
        if cuts is not None:
            raise StudyError(f"{it} is text and cannot be binned")
        levels = _largest(name, it, values, most or MOST_PARTS)
        if not levels:
            raise StudyError(f"{it} is null at all of these positions")
        return levels
    if most is not None and cuts is None:
        return _largest(name, it, values, most)
    numbers = _numbers(values)
    present = numbers[np.isfinite(numbers)]
    levels_here = np.unique(present)
    if not len(present):
        raise StudyError(f"{it} is null at all of these positions")
    if cuts is not None and not all(map(math.isfinite, cuts)):
        raise StudyError("boundaries of bins are rising numbers, such as 20,30,40")
    if cuts is None and len(levels_here) <= FEW_LEVELS:
        return [
            Condition(f"{quoted} = {_number(v)}", f"{it} = {_number(v)}", column, numbers == v)
            for v in levels_here.tolist()
        ]
    if cuts is None:
        cuts = sorted(set(np.quantile(present, [0.25, 0.5, 0.75], method="nearest").tolist()))
    if not cuts or list(cuts) != sorted(set(cuts)):
        raise StudyError("boundaries of bins are rising numbers, such as 20,30,40")
    first, last = _number(cuts[0]), _number(cuts[-1])
    ranges = [Condition(f"{quoted} < {first}", f"{it} < {first}", column, numbers < cuts[0])]
    for low, high in itertools.pairwise(cuts):
        ranges.append(_between(name, it, numbers, low, high))
    ranges.append(Condition(f"{quoted} >= {last}", f"{it} ≥ {last}", column, numbers >= cuts[-1]))
    return ranges


def _largest(name: str, it: str, values: NDArray[Any], most: int) -> list[Condition]:
    """The levels with the most positions, the largest first, and one part for the rest."""
    column, quoted = frozenset([name]), _quoted(name)
    is_text = values.dtype.kind in "OUS"
    if is_text:
        present = np.array([v is not None for v in values])
        distinct, place, counts = np.unique(
            values[present].astype(str), return_inverse=True, return_counts=True
        )
    else:
        present = np.isfinite(values.astype(np.float64))
        distinct, place, counts = np.unique(
            values[present], return_inverse=True, return_counts=True
        )
    order = np.argsort(-counts, kind="stable")
    shown = order[:most]

    def where(levels: NDArray[Any]) -> NDArray[np.bool_]:
        holds = np.zeros(len(values), bool)
        holds[present] = np.isin(place, levels)
        return holds

    texts = [_level(distinct[i]) for i in shown.tolist()]
    words = "is" if is_text else "="
    parts = [
        Condition(
            f"{quoted} = {text}", f"{it} {words} {distinct[i]}", column, where(shown[n : n + 1])
        )
        for n, (i, text) in enumerate(zip(shown.tolist(), texts, strict=True))
    ]
    if len(shown) < len(order):
        sql = f"{quoted} not in ({', '.join(texts)})"
        parts.append(Condition(sql, f"{it}: others", column, where(order[len(shown) :])))
    return parts


def _level(value: Any) -> str:
    """Format a level as SQL."""
    if isinstance(value, str):
        escaped = value.replace("'", "''")
        return f"'{escaped}'"
    return _number(float(value))


def _of_column(name: str, values: NDArray[Any]) -> Iterable[Condition]:
    column = frozenset([name])
    quoted = _quoted(name)
    if values.dtype == np.bool_:
        yield Condition(quoted, name, column, values)
        return
    if values.dtype.kind in "OUS":
        texts = np.array([None if v is None else str(v) for v in values], dtype=object)
        names = sorted({v for v in texts.tolist() if v is not None})
        if len(names) <= MOST_LEVELS:
            for level in names:
                sql = f"{quoted} = {_level(level)}"
                yield Condition(sql, f"{name} is {level}", column, texts == level)
        return
    numbers = values.astype(np.float64)
    present = numbers[np.isfinite(numbers)]
    levels = np.unique(present)
    if len(levels) < 2:
        return
    if len(levels) == 2 and levels.tolist() == [0, 1]:
        yield Condition(f"{quoted} = 1", name, column, numbers == 1)
        return
    if len(levels) <= FEW_LEVELS:
        for level in levels.tolist():
            number = _number(level)
            yield Condition(f"{quoted} = {number}", f"{name} = {number}", column, numbers == level)
    yield from _ranges(name, quoted, numbers, levels)


def _ranges(
    name: str, quoted: str, numbers: NDArray[np.float64], levels: NDArray[np.float64]
) -> Iterator[Condition]:
    """Ranges below a quantile, above one, and between adjacent ones."""
    column = frozenset([name])
    present = numbers[np.isfinite(numbers)]
    cuts = list(dict.fromkeys(np.quantile(present, _QUANTILES, method="nearest").tolist()))
    with_zero = levels[0] < 0 < levels[-1]
    if with_zero:
        # A difference between the sides also has a middle range.
        cuts = sorted({*cuts, float(levels[levels > 0][0])})
        cut = _number(0)
        yield Condition(f"{quoted} < 0", f"{name} < {cut}", column, numbers < 0)
    few = len(levels) <= FEW_LEVELS
    for cut in cuts:
        if cut > levels[0] and not (few and cut == levels[-1]):
            number, shown = _number(cut), _rounded(cut)
            yield Condition(f"{quoted} >= {number}", f"{name} ≥ {shown}", column, numbers >= cut)
        if cut > levels[0] and not (few and cut == levels[1]):
            number, shown = _number(cut), _rounded(cut)
            yield Condition(f"{quoted} < {number}", f"{name} < {shown}", column, numbers < cut)
    for low, high in itertools.pairwise(cuts):
        between = _between(name, name, numbers, low, high)
        between = replace(between, words=f"{_rounded(low)} ≤ {name} < {_rounded(high)}")
        if not few or len(np.unique(numbers[between.holds])) > 1:
            yield between


def _between(
    name: str, it: str, numbers: NDArray[np.float64], low: float, high: float
) -> Condition:
    """The range from one number to below another, with the column's text `it`."""
    quoted, below, above = _quoted(name), _number(low), _number(high)
    return Condition(
        f"{quoted} >= {below} and {quoted} < {above}",
        f"{below} ≤ {it} < {above}",
        frozenset([name]),
        (numbers >= low) & (numbers < high),
    )


def _quoted(name: str) -> str:
    """Format a column as SQL: a quoted name, or an expression in parentheses."""
    return name if name.isidentifier() and name.isascii() else f"({name})"


def _number(value: float) -> str:
    """Format a number as SQL without loss of precision."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)


def _rounded(value: float) -> str:
    """Format a quantile for people.

    >>> _rounded(5), _rounded(0.014964805347239207), _rounded(123456.7)
    ('5', '0.01496', '123456.7')
    """
    return _number(value) if abs(value) >= 1000 else f"{value:.4g}"
