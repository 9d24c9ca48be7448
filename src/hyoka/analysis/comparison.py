# SPDX-License-Identifier: Apache-2.0
"""Two evaluators on the same positions: what they share cancels in the difference."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from hyoka.analysis.coverage import MIN_GAMES, TOO_FEW, Coverage, too_few_note
from hyoka.analysis.metrics import (
    METRICS,
    Metric,
    Metrics,
    measure,
    metrics_notes,
    number_text,
)
from hyoka.analysis.resampling import Resampling, interval, probability_text, two_sided_p
from hyoka.analysis.result import Result
from hyoka.analysis.sample import Sample
from hyoka.errors import StudyError
from hyoka.estimate import Estimate

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Difference:
    """A metric of two evaluators over the same positions."""

    metric: Metric
    one: float
    other: float
    difference: Estimate
    p_value: float
    confidence: float = 0.95

    @property
    def ahead(self) -> Literal["one", "other"] | None:
        """Who is better, if neither the interval nor the test leaves a doubt."""
        excluded = self.difference.low > 0 or self.difference.high < 0
        if not (excluded and self.p_value < 1 - self.confidence):
            return None
        return "one" if (self.difference.value > 0) == (self.metric.better == "higher") else "other"


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Two evaluators on the same positions; a difference is the first's less the second's."""

    one: Metrics
    other: Metrics
    differences: tuple[Difference, ...]
    min_games: int = MIN_GAMES
    """No figure is shown of fewer games; `differences` has them all."""
    coverage: Coverage | None = None

    @property
    def has_enough(self) -> bool:
        """Whether there are enough games for figures."""
        return self.one.games >= self.min_games

    @property
    def title(self) -> str:
        """What it is, in a line."""
        counts = f"{self.one.positions:,} positions of {self.one.games:,} games"
        return f"{self.one.name} against {self.other.name}: {counts}"

    def table(self) -> pa.Table:
        """A row a metric."""
        figures = ("one_value", "other_value", "difference", "low", "high", "p_value")
        rows: list[dict[str, object]] = [
            {
                "metric": each.metric.name,
                "better": each.metric.better,
                "one": self.one.name,
                "one_value": each.one,
                "other": self.other.name,
                "other_value": each.other,
                "difference": each.difference.value,
                "low": each.difference.low,
                "high": each.difference.high,
                "p_value": each.p_value,
            }
            for each in self.differences
        ]
        if not self.has_enough:
            rows = [row | dict.fromkeys(figures, math.nan) for row in rows]
        return pa.Table.from_pylist(rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows that people read."""
        names = {"one": self.one.name, "other": self.other.name, None: "not told apart"}
        heading = ("", self.one.name, self.other.name, "difference", "p", "better")
        rows = [
            (
                each.metric.title,
                number_text(each.one),
                number_text(each.other),
                each.difference.text("+.3f"),
                probability_text(each.p_value),
                names[each.ahead],
            )
            for each in self.differences
        ]
        if not self.has_enough:
            rows = [(row[0], TOO_FEW, TOO_FEW, TOO_FEW, TOO_FEW, names[None]) for row in rows]
        return (heading, *rows)

    def notes(self) -> tuple[str, ...]:
        """What to know about it."""
        if not self.has_enough:
            return (too_few_note(1, self.min_games, "comparison"),)
        notes = [note for part in (self.one, self.other) for note in metrics_notes(part)]
        if self.one.drawn:
            notes.append("Intervals draw whole games again, the same ones for both.")
        return tuple(notes)

    def chart(self) -> "altair.TopLevelMixin":
        """The differences with their intervals."""
        from hyoka.analysis.charts import difference_dots  # noqa: PLC0415 - slow to import

        return difference_dots(self)


def compare(
    one: Sample,
    other: Sample,
    *,
    resampling: Resampling | None = None,
    threshold: float | Literal["best"] | None = None,
) -> Comparison:
    """Two evaluators on the same positions, difference by difference, games drawn in common."""
    if len(one) != len(other) or not np.array_equal(one.games, other.games):
        raise StudyError("evaluators are compared on the same positions only")
    resampling = resampling or Resampling()
    a = measure(one, threshold=threshold, resampling=resampling)
    b = measure(other, threshold=threshold, resampling=resampling)
    return compare_measured(a, b, confidence=resampling.confidence)


def compare_measured(a: Metrics, b: Metrics, *, confidence: float = 0.95) -> Comparison:
    """The same from metrics that were measured by the same resamples of the same positions."""
    differences = []
    for name, metric in METRICS.items():
        if name == "expected_difference" and a.unit != b.unit:
            continue  # points and probabilities have no difference
        value = a[name].value - b[name].value
        drawn = a.drawn[name] - b.drawn[name] if a.drawn and b.drawn else np.zeros(0)
        estimate = interval(value, drawn, a.games, confidence)
        chance = two_sided_p(value, drawn, a.games)
        differences.append(
            Difference(metric, a[name].value, b[name].value, estimate, chance, confidence)
        )
    return Comparison(a, b, tuple(differences))
