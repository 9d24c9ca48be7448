# SPDX-License-Identifier: Apache-2.0
"""The gap between the curve of a slice and the overall curve.

A gap has two departures, both in win probability at equal values:

- *level*: win rate of the first player minus the overall curve. Above zero, the evaluator
  underestimates the first player.
- *lean*: win rate of the side that the overall curve puts ahead, minus that curve. Below zero,
  the evaluator is overconfident; above zero, underconfident.

Each is a mean over the condition's positions. The test uses the variance between games under the
null hypothesis and Student's t, with the effective number of games. The interval uses the sandwich
variance between games. Within a bin, the condition's share of it is subtracted, because the overall
curve comes from the same games.

With a control held equal (such as the phase of the game), equal positions have about the same value
*and* the same stratum. At every value, the overall curve then has the condition's mix of strata.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.analysis.curves import AdaptiveBins, Binning
from hyoka.analysis.sample import Reals, Resampling, Sample, probability_text
from hyoka.foundation.math import Estimate
from hyoka.storage.result import MIN_GAMES, TOO_FEW, Coverage, Result, too_few_note

Kind = Literal["level", "lean"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LEAST_POSITIONS: Final = 100
_GAMES_A_BIN: Final = 5
"""Minimum number of games per bin of the overall curve."""
_LEAST_BINS: Final = 20
"""Minimum number of bins. With fewer, a condition that correlates with the value has a gap."""
_MOST_BINS: Final = 200
_GAMES_A_POINT: Final = 10
_LEAST_POINTS: Final = 5
"""Minimum number of bins of a gap by value."""
_SHARED: Final = 50
"""Minimum number of positions of both curves in a shared bin."""
_ROUNDED: Final = 1 - 1e-12
_NOTHING: Final = 1e-9
"""Errors below this are rounding: the condition holds for the same share of every game."""


@dataclass(frozen=True, slots=True)
class Departure:
    """One departure of a condition's curve from the overall curve."""

    kind: Kind
    effect: Estimate
    """Effect in win probability at equal values."""
    error: float
    """Standard error of the effect, clustered by game."""
    p_value: float
    clusters: float

    def __str__(self) -> str:
        return f"{self.effect.value:+.3f} ± {self.error:.3f}"


@dataclass(frozen=True, slots=True)
class ConditionGap:
    """The departures of a condition's curve from the overall curve."""

    positions: int
    games: int
    level: Departure
    lean: Departure

    def departure(self, kind: Kind) -> Departure:
        """The departure of a kind."""
        return self.level if kind == "level" else self.lean


def condition_gap(
    sample: Sample,
    holds: NDArray[np.bool_],
    *,
    binning: Binning | None = None,
    confidence: float = 0.95,
    edges: Reals | None = None,
) -> ConditionGap:
    """Measure the gap between the curve of a slice and the overall curve.

    >>> rng = np.random.default_rng(1)
    >>> value, odd = rng.random(4000), rng.random(4000) < 0.3
    >>> won = rng.random(4000) < np.clip(value + 0.2 * odd, 0, 1)
    >>> sample = Sample.of("engine", value, results=won, games=np.arange(4000))
    >>> condition_gap(sample, odd).level.p_value < 0.001
    True
    """
    if edges is None:
        edges = (binning or matching_bins(sample)).cuts(sample).edges
    gap = sample.ranking.gap(np.ascontiguousarray(holds), edges)
    level = _departure("level", gap.level, confidence)
    lean = _departure("lean", gap.lean, confidence)
    return ConditionGap(int(holds.sum()), gap.games, level, lean)


def matching_bins(sample: Sample) -> AdaptiveBins:
    """Bins of equal values, with equal numbers of positions and enough games."""
    return _bins_for(sample, _GAMES_A_BIN, _LEAST_BINS)


def _bins_for(sample: Sample, games_a_bin: int, least: int) -> AdaptiveBins:
    games = len(np.unique(sample.games))
    number = min(max(games // games_a_bin, least), _MOST_BINS)
    return AdaptiveBins(positions=max(len(sample) // number, 1), games=1, error=math.inf)


def _departure(kind: Kind, measured: _core.Departure, confidence: float) -> Departure:
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415 - slow to import

    effect, clusters = measured.effect, measured.clusters
    if not (measured.null_error > _NOTHING and clusters > 1):
        return Departure(kind, Estimate(effect), math.nan, 1.0, clusters)
    freedom = clusters - 1
    p_value = 2 * float(stdtr(freedom, -abs(effect) / measured.null_error))
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * measured.error
    interval = Estimate(effect, effect - half, effect + half)
    return Departure(kind, interval, measured.error, p_value, clusters)


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two curves over their shared range."""

    signed_area: float
    """Mean gap over the shared range, with equal weight for every value."""
    largest_gap: float
    at: float
    """The value at which the gap is largest."""
    p_value: float
    """P-value of the largest gap over all bins, by wild bootstrap; NaN without resamples."""
    shared: tuple[float, float]


def curve_distance(
    sample: Sample,
    holds: NDArray[np.bool_],
    *,
    edges: Reals,
    equals: NDArray[np.int64] | None = None,
    least_positions: int = LEAST_POSITIONS,
    resampling: Resampling | None = None,
) -> Distance | None:
    """Measure the distance of a condition's curve from the overall curve; None without shared bins.

    Positions with the same number in `equals` (default: the bin) count as equal. The test statistic
    is the largest gap in standard errors over all bins. Its distribution comes from a wild
    bootstrap with random signs of the games. The test is conservative where few games fill a bin;
    a cluster bootstrap is not, because games with equal results stay equal.
    """
    resampling = resampling or Resampling()
    bins = bin_numbers(sample, edges)
    number = len(edges) - 1
    counts = np.bincount(bins[holds & (bins >= 0)], minlength=number)
    totals = np.bincount(bins[bins >= 0], minlength=number)
    enough = (counts >= least_positions) & (totals >= least_positions)
    shared = np.flatnonzero(enough & np.isfinite(edges[:-1]) & np.isfinite(edges[1:]))
    if not len(shared):
        return None
    inside = np.isin(bins, shared)
    place = np.searchsorted(shared, bins[inside])
    each = _Scores.of(sample, holds, bins if equals is None else equals)
    seen = np.bincount(place, (holds * each.residuals)[inside], len(shared)).astype(np.float64)
    weight = sample.weight[inside].astype(np.float64)
    held = np.bincount(place, weight * holds[inside], len(shared))
    gaps = seen / held
    widths = np.diff(edges)[shared]
    worst = int(np.argmax(np.abs(gaps)))
    here = place == worst
    middle = np.average(sample.values[inside][here].astype(np.float64), weights=weight[here])
    return Distance(
        float((gaps * widths).sum() / widths.sum()),
        float(gaps[worst]),
        float(middle),
        _largest_by_chance(sample.games[inside], place, each.by_others[inside], seen, resampling),
        (float(edges[shared[0]]), float(edges[shared[-1] + 1])),
    )


def bin_numbers(sample: Sample, edges: Reals) -> NDArray[np.int64]:
    """Bin of each position; -1 outside of all bins. The last bin includes its upper edge."""
    values = sample.values.astype(np.float64)
    bins = np.searchsorted(edges, values, side="right") - 1
    bins = np.where(values == edges[-1], len(edges) - 2, bins)
    return np.where((bins >= 0) & (bins < len(edges) - 1), bins, -1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Scores:
    """Contributions of positions to a gap."""

    residuals: Reals
    """Each result minus the mean of equal positions."""
    by_others: Reals
    """Each position's contribution under the null hypothesis: its result minus the mean of equal
    positions in other games, times its condition minus the condition's share."""

    @classmethod
    def of(cls, sample: Sample, holds: NDArray[np.bool_], equals: NDArray[np.int64]) -> "_Scores":
        # Positions outside of all cells (-1) form a cell.
        cells = equals + 1
        weight = sample.weight.astype(np.float64)
        won = weight * sample.results
        total, wins = np.bincount(cells, weight), np.bincount(cells, won)
        own_cell = sample.games.astype(np.int64) * len(total) + cells
        _, own = np.unique(own_cell, return_inverse=True)
        others = total[cells] - np.bincount(own, weight)[own]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = wins / total
            by_others = (wins[cells] - np.bincount(own, won)[own]) / others
            share = np.bincount(cells, weight * holds) / total
        alone = others <= _NOTHING * total[cells]
        beyond = weight * (holds - share[cells])
        return cls(
            weight * (sample.results - mean[cells]),
            beyond * np.where(alone, 0, sample.results - by_others),
        )


def _largest_by_chance(
    games: NDArray[np.uint32],
    place: NDArray[np.int64],
    by_others: Reals,
    seen: Reals,
    resampling: Resampling,
) -> float:
    """P-value of the largest observed gap in standard errors."""
    if not resampling.resamples:
        return math.nan
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    _, game = np.unique(games, return_inverse=True)
    by_game = csr_array((by_others, (place, game)), shape=(len(seen), int(game.max()) + 1))
    by_game.sum_duplicates()
    error = np.sqrt(np.asarray(by_game.power(2).sum(axis=1)).ravel())
    defined = error > _NOTHING
    if not defined.any():
        return 1.0
    largest = float(np.max(np.abs(seen[defined]) / error[defined])) * _ROUNDED
    rng = np.random.default_rng(resampling.seed)
    beyond = 0
    for _ in range(resampling.resamples):
        signs = 2.0 * rng.integers(0, 2, by_game.shape[1]) - 1
        beyond += bool(np.max(np.abs((by_game @ signs)[defined]) / error[defined]) >= largest)
    return (beyond + 1) / (resampling.resamples + 1)


@dataclass(frozen=True, eq=False)
class Equals:
    """Classes of equal positions: about the same value and, optionally, the same stratum."""

    sample: Sample
    strata: NDArray[np.int64] | None = None

    def where_also(self, strata: NDArray[np.int64]) -> "Equals":
        """Add strata to hold equal."""
        if self.strata is None:
            return Equals(self.sample, strata)
        _, both = np.unique(np.stack([self.strata, strata]), axis=1, return_inverse=True)
        return Equals(self.sample, both.astype(np.int64).ravel())

    def where(self, chosen: NDArray[np.bool_]) -> "Equals":
        """Equal positions within a subset, with the subset's overall curve."""
        strata = None if self.strata is None else self.strata[chosen]
        return Equals(self.sample.where(chosen), strata)

    @cached_property
    def _edges(self) -> Reals:
        return matching_bins(self.sample).cuts(self.sample).edges

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int64], int]:
        """The cell number of each position, and the number of cells."""
        if self.strata is None:
            return bin_numbers(self.sample, self._edges), len(self._edges) - 1
        numbers = np.zeros(len(self.sample), np.int64)
        count = 0
        for stratum in np.unique(self.strata):
            here = self.strata == stratum
            part = self.sample.where(here)
            edges = matching_bins(part).cuts(part).edges
            bins = np.searchsorted(edges[1:-1], part.values.astype(np.float64), side="right")
            # A cell lies on one side of the point where the overall curve crosses one half.
            numbers[here] = count + 2 * bins + self._favors_first[here]
            count += 2 * max(len(edges) - 1, 1)
        return numbers, count

    @cached_property
    def _favors_first(self) -> NDArray[np.bool_]:
        """Whether the overall curve puts the first player ahead at each position's value."""
        bins = bin_numbers(self.sample, self._edges) + 1
        weight = self.sample.weight.astype(np.float64)
        won = weight * self.sample.results
        shares = np.bincount(bins, won) / np.maximum(np.bincount(bins, weight), 1e-300)
        return np.asarray(shares[bins] > won.sum() / weight.sum())

    @cached_property
    def _numbered(self) -> tuple[Sample, Sample, Reals]:
        """Two samples with cell numbers as values, and the edges between the cells.

        One has the results of the first player, the other those of the side ahead.
        """
        numbers, count = self._cells
        cells = replace(self.sample, values=numbers.astype(np.float32))
        results = np.where(self._favors_first, cells.results, 1 - cells.results)
        edges = np.arange(count + 1, dtype=np.float64) - 0.5
        return cells, cells.with_results(results), edges

    def gap(self, holds: NDArray[np.bool_], confidence: float = 0.95) -> ConditionGap:
        """Measure the gap between a condition's curve and the curve of equal positions.

        The overall curve determines the side ahead, with or without strata: strata such as the
        player would change the side, which says nothing about the evaluator.
        """
        if self.strata is None:
            return condition_gap(self.sample, holds, edges=self._edges, confidence=confidence)
        first, favored, edges = self._numbered
        gap = condition_gap(first, holds, edges=edges, confidence=confidence)
        lean = condition_gap(favored, holds, edges=edges, confidence=confidence).level
        return replace(gap, lean=replace(lean, kind="lean"))

    def distance(self, holds: NDArray[np.bool_], resampling: Resampling) -> Distance | None:
        """Measure the distance of the curves by value."""
        wide = _bins_for(self.sample, _GAMES_A_POINT, _LEAST_POINTS)
        return curve_distance(
            self.sample,
            holds,
            edges=wide.cuts(self.sample).edges,
            equals=self._cells[0],
            least_positions=_SHARED,
            resampling=resampling,
        )

    @cached_property
    def expected(self) -> Reals:
        """Mean result of the positions that equal each position: the overall curve."""
        cells, weight = self._cells[0] + 1, self.sample.weight.astype(np.float64)
        total = np.maximum(np.bincount(cells, weight), 1e-300)
        return np.asarray((np.bincount(cells, weight * self.sample.results) / total)[cells])

    def sign(self, kind: Kind) -> Reals:
        """Sign of each position's residual in a departure: -1 if the second player is ahead."""
        ahead = np.where(self._favors_first, 1.0, -1.0)
        return np.ones(len(self.sample)) if kind == "level" else ahead

    def residuals(self, kind: Kind) -> Reals:
        """Weighted results minus the overall curve; their mean over a condition is its effect."""
        beyond = self.sample.results - self.expected
        return np.asarray(self.sample.weight * self.sign(kind) * beyond)

    @property
    def loss(self) -> float:
        """Brier loss of the overall curve, summed over all positions."""
        return float((self.sample.weight * (self.sample.results - self.expected) ** 2).sum())

    def coefficient(
        self, holds: NDArray[np.bool_], kind: Kind, given: NDArray[np.bool_] | None = None
    ) -> tuple[float, float]:
        """Regression coefficient of a condition at equal values, and its error by games.

        With `given`, equal positions also agree in that other condition. A condition without
        variation among equal positions has the coefficient 0 with an infinite error.
        """
        cells = self._cells[0] + 1
        cells = cells if given is None else 2 * cells + given
        weight = self.sample.weight.astype(np.float64)
        total = np.maximum(np.bincount(cells, weight), 1e-300)
        mean = np.bincount(cells, weight * self.sample.results) / total
        beyond = holds - (np.bincount(cells, weight * holds) / total)[cells]
        score = weight * self.sign(kind) * (self.sample.results - mean[cells]) * beyond
        games = self.sample.games
        influence = np.bincount(games, score)
        leverage = np.bincount(games, weight * beyond**2)
        spread = float(leverage.sum())
        contributing = int((leverage > 0).sum())
        if spread <= _NOTHING * weight.sum() or contributing < 2:
            return 0.0, math.inf
        slope = float(influence.sum()) / spread
        left = influence - slope * leverage
        squares = float(left @ left) * contributing / (contributing - 1)
        return slope, math.sqrt(squares) / spread

    def contrast(self, holds: NDArray[np.bool_]) -> float:
        """Ratio of the gap to the difference between the condition and its negation.

        The condition is part of the overall curve: if it holds for three of four equal positions,
        its distance from their mean is a quarter of its distance from the fourth.
        """
        numbers, count = self._cells
        weight = self.sample.weight.astype(np.float64)
        total = np.bincount(numbers + 1, weight, count + 1)
        held = np.bincount(numbers + 1, weight * holds, count + 1)
        if not held.sum() > 0:
            return 0.0
        return float(1 - (held**2 / np.maximum(total, 1e-300)).sum() / held.sum())


@dataclass(frozen=True)
class NamedGap:
    """The gap of a condition, with the names of the evaluator and the condition."""

    evaluator: str
    condition: str
    gap: ConditionGap
    distance: Distance | None
    """None if the two curves share no bin with enough positions."""
    unbalanced: ConditionGap | None = None
    """The gap without the control; None if nothing is held equal."""


def named_gap(
    equals: Equals, condition: str, holds: NDArray[np.bool_], *, resampling: Resampling
) -> NamedGap:
    """Measure the gap of a condition's curve and name it."""
    confidence = resampling.confidence
    plain = None
    if equals.strata is not None:
        plain = Equals(equals.sample).gap(holds, confidence)
    return NamedGap(
        equals.sample.name,
        condition,
        equals.gap(holds, confidence),
        equals.distance(holds, resampling),
        plain,
    )


@dataclass(frozen=True, repr=False)
class Gaps(Result):
    """Gaps between the curves of conditions and the overall curves."""

    drawn_by = "gap_dots"

    parts: tuple[NamedGap, ...]
    held_equal: str = ""
    """Name of the control that is held equal, such as `the phase of the game`."""
    min_games: int = MIN_GAMES
    """Minimum number of a slice's games for a figure to be shown; `parts` has all figures."""
    coverage: Coverage | None = None

    def __iter__(self) -> Iterator[NamedGap]:
        return iter(self.parts)

    def has_enough_games(self, part: NamedGap) -> bool:
        """Whether a slice has enough games for figures."""
        return part.gap.games >= self.min_games

    @property
    def title(self) -> str:
        """One-line title."""
        title = "Gaps between the slices' curves and the overall curve"
        return f"{title}, with {self.held_equal} held equal" if self.held_equal else title

    def table(self) -> pa.Table:
        """One row per evaluator and condition, without figures if there are too few games."""
        rows = []
        for part in self.parts:
            row: dict[str, object] = {"evaluator": part.evaluator, "condition": part.condition}
            row |= {"positions": part.gap.positions, "games": part.gap.games}
            if not self.has_enough_games(part):
                rows.append(row)
                continue
            for departure in (part.gap.level, part.gap.lean):
                row |= departure.effect.columns(departure.kind)
                row[f"{departure.kind}_p"] = departure.p_value
            if part.unbalanced is not None:
                row |= {
                    "unbalanced_level": part.unbalanced.level.effect.value,
                    "unbalanced_lean": part.unbalanced.lean.effect.value,
                }
            if part.distance is not None:
                row |= {
                    "signed_area": part.distance.signed_area,
                    "largest_gap": part.distance.largest_gap,
                    "largest_gap_at": part.distance.at,
                    "largest_gap_p": part.distance.p_value,
                }
            rows.append(row)
        return pa.Table.from_pylist(rows, schema=_TABLE)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        else_level = ("level unbalanced",) if self.held_equal else ()
        else_lean = ("lean unbalanced",) if self.held_equal else ()
        heading = (
            "evaluator", "condition", "level", "p", *else_level, "lean", "p", *else_lean,
            "area", "largest gap", "p",
        )  # fmt: skip
        rows = []
        for part in self.parts:
            cells = [part.evaluator, part.condition]
            if not self.has_enough_games(part):
                rows.append((*cells, *[TOO_FEW] * (len(heading) - len(cells))))
                continue
            for departure in (part.gap.level, part.gap.lean):
                cells += [departure.effect.text("+.3f"), probability_text(departure.p_value)]
                if part.unbalanced is not None:
                    plain = part.unbalanced.departure(departure.kind)
                    cells.append(f"{plain.effect.value:+.3f}")
            if part.distance is None:
                cells += ["", "", ""]
            else:
                cells += [
                    f"{part.distance.signed_area:+.3f}",
                    f"{part.distance.largest_gap:+.3f} at {part.distance.at:.4g}",
                    probability_text(part.distance.p_value),
                ]
            rows.append(tuple(cells))
        return (heading, *rows)

    def notes(self) -> tuple[str, ...]:
        """Notes below the table."""
        equal = f" with {self.held_equal} held equal" if self.held_equal else ""
        few = sum(not self.has_enough_games(part) for part in self.parts)
        return (
            *((too_few_note(few, self.min_games, "slice"),) if few else ()),
            "Level: first player's win probability minus the overall curve's at equal values"
            f"{equal}; lean: of the favored side; each p-value is a separate test.",
        )


_TABLE: Final = pa.schema(
    [
        ("evaluator", pa.string()),
        ("condition", pa.string()),
        *((f"level{end}", pa.float64()) for end in ("", "_low", "_high", "_p")),
        *((f"lean{end}", pa.float64()) for end in ("", "_low", "_high", "_p")),
        ("unbalanced_level", pa.float64()),
        ("unbalanced_lean", pa.float64()),
        ("signed_area", pa.float64()),
        *((f"largest_gap{end}", pa.float64()) for end in ("", "_at", "_p")),
        ("positions", pa.int64()),
        ("games", pa.int64()),
    ]
)
