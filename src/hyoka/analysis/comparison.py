# SPDX-License-Identifier: Apache-2.0
"""Comparison of two evaluators on the same positions, or of one evaluator with the results.

Differences of metrics, disagreements, and positions where an evaluator was sure and wrong.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.calibration import fit_logistic, probabilities
from hyoka.analysis.curves import share_of
from hyoka.analysis.metrics import (
    METRICS,
    Metric,
    MetricValues,
    measure,
    metrics_notes,
    number_text,
)
from hyoka.analysis.sample import Reals, Resampling, Sample, interval, probability_text, two_sided_p
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import Estimate
from hyoka.storage.result import (
    COUNT,
    MIN_GAMES,
    NUMBER,
    TEXT,
    TOO_FEW,
    Columns,
    Coverage,
    Result,
    table_of,
    too_few_note,
)


@dataclass(frozen=True)
class Difference:
    """Difference of a metric between two evaluators on the same positions."""

    metric: Metric
    one: float
    other: float
    difference: Estimate
    p_value: float
    confidence: float = 0.95

    @property
    def ahead(self) -> Literal["one", "other"] | None:
        """The better evaluator, if both the interval and the test are significant."""
        excluded = self.difference.low > 0 or self.difference.high < 0
        if not (excluded and self.p_value < 1 - self.confidence):
            return None
        return "one" if (self.difference.value > 0) == (self.metric.better == "higher") else "other"


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Metric differences of two evaluators on the same positions, first minus second."""

    drawn_by = "difference_dots"

    one: MetricValues
    other: MetricValues
    differences: tuple[Difference, ...]
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `differences` has all figures."""
    coverage: Coverage | None = None

    @property
    def has_enough(self) -> bool:
        """Whether there are enough games for figures."""
        return self.one.games >= self.min_games

    @property
    def title(self) -> str:
        """One-line title."""
        counts = f"{self.one.positions:,} positions of {self.one.games:,} games"
        return f"{self.one.name} against {self.other.name}: {counts}"

    def table(self) -> pa.Table:
        """One row per metric."""
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
        """Rows of the text table."""
        names = {"one": self.one.name, "other": self.other.name, None: "undecided"}
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
        """Notes below the table."""
        if not self.has_enough:
            return (too_few_note(1, self.min_games, "comparison"),)
        notes = [note for part in (self.one, self.other) for note in metrics_notes(part)]
        if self.one.drawn:
            notes.append("Intervals come from a paired cluster bootstrap over games.")
        return tuple(notes)


def compare(
    one: Sample,
    other: Sample,
    *,
    resampling: Resampling | None = None,
    threshold: float | Literal["best"] | None = None,
) -> Comparison:
    """Compare two evaluators on the same positions, with paired resamples of games."""
    if len(one) != len(other) or not np.array_equal(one.games, other.games):
        raise StudyError("evaluators can be compared on the same positions only")
    resampling = resampling or Resampling()
    a = measure(one, threshold=threshold, resampling=resampling)
    b = measure(other, threshold=threshold, resampling=resampling)
    return compare_measured(a, b, confidence=resampling.confidence)


def compare_measured(a: MetricValues, b: MetricValues, *, confidence: float = 0.95) -> Comparison:
    """Compare metrics from the same resamples of the same positions."""
    differences = []
    for name, metric in METRICS.items():
        if name == "expected_difference" and a.unit != b.unit:
            continue  # points and probabilities are not comparable
        value = a[name].value - b[name].value
        drawn = a.drawn[name] - b.drawn[name] if a.drawn and b.drawn else np.zeros(0)
        estimate = interval(value, drawn, a.games, confidence)
        chance = two_sided_p(value, drawn, a.games)
        differences.append(
            Difference(metric, a[name].value, b[name].value, estimate, chance, confidence)
        )
    return Comparison(a, b, tuple(differences))


CUTS: Final = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Lower limits of the bands of differences in probability."""
CERTAINTIES: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Lower limits of the bands of certainty."""


@dataclass(frozen=True, slots=True)
class Band:
    """Positions in a range of differences or of certainty."""

    low: float
    high: float
    positions: int
    games: int
    mean: float
    """Mean difference or certainty."""
    share: Estimate
    """Share of positions where the first evaluator was nearer to the result; for certainty, mean
    result of the preferred side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPosition:
    """A position in a list."""

    row: int
    """Row in the data of the samples."""
    result: float
    game: int = -1
    ply: int = -1
    """Game and ply in the study; -1 outside of studies."""
    text: str = ""
    """Position as text, in a study."""

    def line(self, values: Mapping[str, float]) -> str:
        """Describe the position by the values of evaluators in one line."""
        words = ", ".join(f"{name} {value:.2f}" for name, value in values.items())
        return f"game {self.game} ply {self.ply}: {words}, result {self.result:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputed(ListedPosition):
    """A position on which two evaluators disagree."""

    one: float
    other: float
    """Probabilities of the two evaluators."""

    @property
    def right(self) -> str | None:
        """The evaluator nearer to the result, `one` or `other`; None for a tie."""
        one, other = abs(self.one - self.result), abs(self.other - self.result)
        if math.isclose(one, other):
            return None
        return "one" if one < other else "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SureError(ListedPosition):
    """A position that the evaluator took for won, in a game that went the other way."""

    value: float
    """Probability of a win of the first player."""


class BandedResult(Result):
    """A result with a share for each band."""

    drawn_by = "share_dots"

    bands: tuple[Band, ...]
    min_games: int
    """Minimum number of a band's games for its share to be shown; `bands` has all shares."""

    def has_enough_games(self, band: Band) -> bool:
        """Whether a band has enough games for its share to be shown."""
        return band.games >= self.min_games

    def share_text(self, band: Band) -> str:
        """A band's share with its interval, as text."""
        return band.share.text(".1%") if self.has_enough_games(band) else TOO_FEW

    def notes(self) -> tuple[str, ...]:
        """Bands of too few games."""
        few = sum(not self.has_enough_games(band) for band in self.bands)
        return (too_few_note(few, self.min_games, "band"),) if few else ()


@dataclass(frozen=True, repr=False)
class Disagreement(BandedResult):
    """Disagreement of two evaluators: by how much they differ, and which one was right."""

    one: str
    other: str
    bands: tuple[Band, ...]
    disputed: tuple[Disputed, ...]
    """Positions with the largest differences first, one per game."""
    min_games: int = MIN_GAMES
    coverage: Coverage | None = None

    @property
    def title(self) -> str:
        """One-line title."""
        return f"Disagreements of {self.one} and {self.other}"

    @property
    def share_title(self) -> str:
        """What the shares of bands are."""
        return f"{self.one} closer"

    @property
    def positions(self) -> list[tuple[str, str]]:
        """The disputed positions: a line about each, and its text."""
        return [
            (each.line({self.one: each.one, self.other: each.other}), each.text)
            for each in self.disputed
        ]

    def table(self) -> pa.Table:
        """One row per disputed position."""
        names = {"one": self.one, "other": self.other, None: None}
        columns: Columns[Disputed] = {
            "row": (COUNT, lambda each: each.row),
            "game_id": (COUNT, lambda each: each.game),
            "ply": (COUNT, lambda each: each.ply),
            "one": (TEXT, lambda each: self.one),
            "one_value": (NUMBER, lambda each: each.one),
            "other": (TEXT, lambda each: self.other),
            "other_value": (NUMBER, lambda each: each.other),
            "result": (NUMBER, lambda each: each.result),
            "closer": (TEXT, lambda each: names[each.right]),
            "position": (TEXT, lambda each: each.text or None),
        }
        return table_of(columns, self.disputed)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        heading = ("difference", self.share_title, "positions", "games")
        rows = [
            (
                f"{band.low:.2f} to {band.high:.2f}",
                self.share_text(band),
                f"{band.positions:,}",
                f"{band.games:,}",
            )
            for band in self.bands
        ]
        return (heading, *rows)


def measure_disagreement(
    one: Sample, other: Sample, *, top: int = 20, resampling: Resampling | None = None
) -> Disagreement:
    """Find where two evaluators differ on the same positions.

    Scores are mapped to probabilities by their logistic curves. The evaluator whose probability is
    nearer to the result was right.
    """
    if len(one) != len(other) or not np.array_equal(one.games, other.games):
        raise StudyError("evaluators can be compared on the same positions only")
    p, q = _probabilities(one), _probabilities(other)
    apart = np.abs(p - q)
    off, other_off = np.abs(p - one.results), np.abs(q - one.results)
    # A tie is half a point for each.
    nearer = np.where(np.isclose(off, other_off), 0.5, (off < other_off).astype(np.float64))
    disputed = tuple(
        Disputed(row=_row(one, i), one=float(p[i]), other=float(q[i]), result=float(one.results[i]))
        for i in _first_of_games(one, np.argsort(-apart, kind="stable"), top)
        if apart[i] > 0
    )
    return Disagreement(
        one.name, other.name, _bands(one, apart, CUTS, nearer, resampling), disputed
    )


@dataclass(frozen=True, repr=False)
class Certainty(BandedResult):
    """How often the preferred side scores by an evaluator's certainty, and where it was wrong.

    Certainty is the probability of the side that the evaluator prefers, from 0.5 to 1.
    """

    name: str
    bands: tuple[Band, ...]
    errors: tuple[SureError, ...]
    """Positions where it was surest and wrong, one per game."""
    min_games: int = MIN_GAMES
    coverage: Coverage | None = None

    @property
    def title(self) -> str:
        """One-line title."""
        return f"Certainty of {self.name}"

    @property
    def share_title(self) -> str:
        """What the shares of bands are."""
        return "preferred side scored"

    @property
    def positions(self) -> list[tuple[str, str]]:
        """The errors: a line about each, and the position as text."""
        return [(each.line({self.name: each.value}), each.text) for each in self.errors]

    def table(self) -> pa.Table:
        """One row per position where the evaluator was sure and wrong."""
        columns: Columns[SureError] = {
            "row": (COUNT, lambda each: each.row),
            "game_id": (COUNT, lambda each: each.game),
            "ply": (COUNT, lambda each: each.ply),
            "evaluator": (TEXT, lambda each: self.name),
            "value": (NUMBER, lambda each: each.value),
            "result": (NUMBER, lambda each: each.result),
            "position": (TEXT, lambda each: each.text or None),
        }
        return table_of(columns, self.errors)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        heading = ("certainty", "mean certainty", self.share_title, "positions", "games")
        rows = [
            (
                f"{band.low:.2f} to {band.high:.2f}",
                f"{band.mean:.1%}",
                self.share_text(band),
                f"{band.positions:,}",
                f"{band.games:,}",
            )
            for band in self.bands
        ]
        return (heading, *rows)


def measure_certainty(
    sample: Sample, *, top: int = 10, resampling: Resampling | None = None
) -> Certainty:
    """Measure how often the preferred side scores, and find where it was sure and wrong.

    Scores are mapped to probabilities by their logistic curve.

    >>> sample = Sample.of("sure", [0.93, 0.97, 0.35], results=[1, 0, 0], games=[1, 2, 3])
    >>> found = measure_certainty(sample, resampling=Resampling(50))
    >>> [(band.low, band.share.value) for band in found.bands], found.errors[0].row
    ([(0.6, 1.0), (0.9, 1.0), (0.95, 0.0)], 1)
    """
    values = _probabilities(sample)
    certain = np.maximum(values, 1 - values)
    scored = np.where(values >= 0.5, sample.results, 1 - sample.results)
    wrong = np.flatnonzero(scored < 0.5)
    surest = wrong[np.argsort(-certain[wrong], kind="stable")]
    errors = tuple(
        SureError(row=_row(sample, i), value=float(values[i]), result=float(sample.results[i]))
        for i in _first_of_games(sample, surest, top)
    )
    return Certainty(sample.name, _bands(sample, certain, CERTAINTIES, scored, resampling), errors)


def _bands(
    sample: Sample,
    quantity: Reals,
    cuts: Sequence[float],
    shared: Reals,
    resampling: Resampling | None,
) -> tuple[Band, ...]:
    """The bands of a quantity from 0 to 1 that have positions."""
    resampling = resampling or Resampling()
    bands = []
    for low, high in zip(cuts, (*cuts[1:], 1.0), strict=True):
        inside = (quantity >= low) & ((quantity < high) | (high == 1.0))
        if not inside.any():
            continue
        point = share_of(shared[inside], sample.games[inside], resampling)
        ends = (point.low, point.high) if resampling.resamples else (math.nan, math.nan)
        share = Estimate(point.share, *ends)
        mean = float(quantity[inside].mean())
        bands.append(Band(low, high, point.positions, point.games, mean, share))
    return tuple(bands)


def _first_of_games(sample: Sample, order: NDArray[np.int64], top: int) -> list[int]:
    """The first position of each game in an order, at most `top`."""
    _, firsts = np.unique(sample.games[order], return_index=True)
    return [int(i) for i in order[np.sort(firsts)[:top]]]


def _row(sample: Sample, index: int) -> int:
    return index if sample.rows is None else int(sample.rows[index])


def _probabilities(sample: Sample) -> Reals:
    claims = probabilities(sample)
    if claims is None:
        why = fit_logistic(sample).missing_reason
        raise StudyError(f"{sample.name}: no curve from scores to probabilities fits: {why}")
    return claims
