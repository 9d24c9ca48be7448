# SPDX-License-Identifier: Apache-2.0
"""An experiment's outcome: tables beside the paper's, and verdicts on its claims."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from hyoka.arena import Score
from hyoka.foundation.math import Estimate

Value = str | int | float | Estimate | Score | None
"""A table cell: numbers stay numbers; text is for text only."""
Answer = Literal["yes", "same", "not shown", "reversed"]
"""Whether our result agrees with the paper's; see `LEGEND`."""
LEGEND: Final = (
    "**yes**: our 95 % interval lies on the paper's side. **same within b**: the paper sees no "
    "difference, and our interval lies within ±b. **reversed**: our interval lies on the other "
    "side, or wholly beyond ±b. **not shown**: anything else; it may be so or not, these games do "
    "not tell."
)


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper with our result."""

    claim: str
    found: Estimate
    """Positive if the paper is right; for claims of equality, the difference."""
    answer: Answer
    detail: str = ""
    bound: float | None = None
    """Largest difference that counts as equal, for claims of equality."""

    @property
    def words(self) -> str:
        """The answer as text; `same` includes its bound."""
        return f"same within {self.bound:g}" if self.answer == "same" else self.answer

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.claim}: {self.words}, {self.found.text('+.3f')}{detail}"


@dataclass(frozen=True)
class OutcomeTable:
    """A table: rows of values under headings."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""

    def texts(self) -> list[tuple[str, ...]]:
        """Rows as text."""
        return [tuple(map(cell_text, row)) for row in self.rows]

    def as_json(self) -> dict[str, object]:
        """JSON representation: title, headings and rows."""
        return {
            "title": self.title,
            "headings": list(self.headings),
            "rows": [[_plain(cell) for cell in row] for row in self.rows],
        }


@dataclass(frozen=True)
class Outcome:
    """The complete result of an experiment."""

    about: str
    """One or two sentences about the method."""
    tables: tuple[OutcomeTable, ...]
    verdicts: tuple[Verdict, ...] = ()
    figures: tuple[Path, ...] = ()
    """Figures written by the experiment."""

    def as_json(self) -> dict[str, object]:
        """JSON representation; intervals are lists of value, low and high."""
        return {
            "about": self.about,
            "tables": [table.as_json() for table in self.tables],
            "verdicts": [
                {
                    "claim": each.claim,
                    "answer": each.words,
                    "found": _plain(each.found),
                    "detail": each.detail,
                }
                for each in self.verdicts
            ],
            "figures": [str(figure) for figure in self.figures],
        }


def cell_text(value: Value) -> str:
    """Format a cell: three decimal places for numbers, half-widths for intervals.

    Asymmetric intervals show both ends.

    >>> cell_text(Estimate(0.63154, 0.61222, 0.65041)), cell_text(Score(3, 1, 2)), cell_text(None)
    ('0.632 ±0.019', '3-2-1', '')
    >>> cell_text(Estimate(0.1, 0.018, 0.404))
    '0.100 (0.018 to 0.404)'
    >>> cell_text(5000), cell_text(2.5), cell_text(0.0000012)
    ('5,000', '2.500', '1e-06')
    """
    if value is None:
        return ""
    if isinstance(value, Estimate):
        return _estimate_text(value)
    if isinstance(value, Score):
        return f"{value.wins}-{value.losses}-{value.draws}"
    if isinstance(value, int):
        return f"{value:,}"
    return _number(value) if isinstance(value, float) else value


def _estimate_text(estimate: Estimate) -> str:
    value, half = _number(estimate.value), (estimate.high - estimate.low) / 2
    if math.isnan(estimate.value) or not math.isfinite(half):
        return value
    if estimate.is_asymmetric:
        return f"{value} ({_number(estimate.low)} to {_number(estimate.high)})"
    return f"{value} ±{_number(half)}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    if 0 < abs(value) < 0.0005:
        return f"{value:.1g}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}"


def _plain(value: Value) -> Any:
    if isinstance(value, Estimate):
        return [_finite(number) for number in (value.value, value.low, value.high)]
    if isinstance(value, Score):
        return [value.wins, value.losses, value.draws]
    return _finite(value) if isinstance(value, float) else value


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def right_aligned(table: OutcomeTable) -> Sequence[int]:
    """Indices of the numeric columns."""
    return [
        column
        for column in range(len(table.headings))
        if not any(isinstance(row[column], str) for row in table.rows)
    ]
