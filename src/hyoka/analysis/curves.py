# SPDX-License-Identifier: Apache-2.0
"""Evaluation curves: win probability of the first player by evaluation.

The band of a bin is Wilson's interval for its effective sample size. The variance of the bin's
share over a cluster bootstrap by game, divided by the variance of independent positions, is the
design effect. If all positions have the same result, the effective sample size is the number of
games.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka.analysis.calibration import Logistic, fit_logistic
from hyoka.analysis.sample import VALUE, Reals, Resampling, Sample, wilson
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.text import counted
from hyoka.storage.result import MIN_GAMES, TOO_FEW, Coverage, Result, too_few_note

MOST_BINS: Final = 4000
_COUNTED: Final = 1_000_000
"""Maximum range of numbers that are counted in a table, which is faster than sorting."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Adjacent bins; some only fill the space between requested bins."""

    edges: Reals
    """Edges, ascending; the outermost are infinite if there are mates."""
    requested: NDArray[np.bool_]
    """Whether each bin was requested."""


class Binning(Protocol):
    """A way to cut values into bins."""

    def cuts(self, sample: Sample) -> Cuts:
        """Compute the bins of a sample; mates have separate bins."""


LEAST_POSITIONS: Final = 100
"""Minimum number of positions per bin, as in the paper, except in small samples."""
_REACH: Final = 5.0
"""Range of open bins, in scales of the logistic curve: 5 scales from even is 99.3%."""
_BINS_A_SCALE: Final = 4


@dataclass(frozen=True, slots=True)
class FixedBins:
    """Bins [v - width/2, v + width/2) around the multiples v of a width (the paper's δ).

    Values outside of `low` and `high` have no bin, except mates.
    """

    width: float
    at_least: int = LEAST_POSITIONS
    """Minimum number of positions per bin."""
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not 0 < self.width < math.inf:
            raise StudyError(f"a bin's width is a positive number, not {self.width:g}")

    def cuts(self, sample: Sample) -> Cuts:
        """Compute the bins of a sample; mates have separate bins."""
        width = self.width
        finite = sample.values[np.isfinite(sample.values)].astype(np.float64)
        numbers = np.floor(finite / width + 0.5)
        # Edges are rounded, so a value next to one may belong to the adjacent bin.
        numbers += finite >= _as_values_are((numbers + 0.5) * width)
        numbers -= finite < _as_values_are((numbers - 0.5) * width)
        inside = ((numbers + 0.5) * width > self.low) & ((numbers - 0.5) * width < self.high)
        finite_counts = None
        if sample.counts is not None:
            finite_counts = sample.counts[np.isfinite(sample.values)][inside]
        enough = _frequent(numbers[inside], max(self.at_least, 1), finite_counts)
        if len(enough) > MOST_BINS:
            raise StudyError(
                f"width {width:g} makes {len(enough):,} bins, more than {MOST_BINS:,}; choose a "
                "larger width"
            )
        lower, upper = (_as_values_are((enough + side) * width) for side in (-0.5, 0.5))
        return _with_mates(np.union1d(lower, upper), sample, set(lower.tolist()))


def open_bins(sample: Sample, at_least: int | None = None) -> FixedBins:
    """Choose bins from the data.

    Bins of values are 0.05 wide. Bins of scores are about a quarter of the scale of their logistic
    curve wide and reach five scales from even; without a fit, they are 1/40 of the range wide.
    """
    least = least_positions(sample.position_count) if at_least is None else at_least
    if sample.unit == VALUE:
        return FixedBins(0.05, least)
    if not np.isfinite(sample.values).any():
        return FixedBins(1.0, least)
    low, high = sample.quantiles([0.01, 0.99])
    usual = nice_number(float(high - low) / 40)
    fit = fit_logistic(sample)
    if not (fit.converged and fit.scale.value > 0):
        return FixedBins(usual, least)
    width = nice_number(min(fit.scale.value / _BINS_A_SCALE, usual))
    middle, reach = -fit.intercept.value / fit.slope.value, _REACH * fit.scale.value
    unlimited = replace(fit.link, limit=math.inf)  # the limit of a link does not end the open range
    ends = (unlimited.score(middle + side * reach) for side in (-1, 1))
    return FixedBins(width, least, *ends)


def least_positions(positions: int) -> int:
    """Minimum number of positions per bin: 100, or 1/40 of a small sample, at least 10.

    >>> least_positions(1_000_000), least_positions(2_000), least_positions(50)
    (100, 50, 10)
    """
    return max(10, min(LEAST_POSITIONS, positions // 40))


@dataclass(frozen=True, slots=True)
class AdaptiveBins:
    """Bins that grow until they have enough positions and games and a small enough error.

    The error is the standard error of the win probability, clustered by game.
    """

    positions: int = 100
    games: int = 2
    error: float = 0.02

    def cuts(self, sample: Sample) -> Cuts:
        """Compute the bins of a sample; mates have separate bins."""
        edges = _adaptive_edges(sample, self)
        if len(edges):
            edges[-1] = np.nextafter(np.float32(edges[-1]), np.float32(np.inf))
        return _with_mates(edges, sample, set(edges[:-1].tolist()))


def _adaptive_edges(sample: Sample, binning: AdaptiveBins) -> Reals:
    """Rising edges of bins that grow from the highest value down; the rest joins the lowest."""
    counts = sample.counts
    if counts is None:
        fewest = binning.positions, binning.games
        return np.asarray(sample.ranking.adaptive_edges(*fewest, binning.error))
    finite = np.flatnonzero(np.isfinite(sample.values))
    values, at = np.unique(sample.values[finite], return_inverse=True)
    if not len(values):
        return np.zeros(0)
    by_value = np.split(finite[np.argsort(at, kind="stable")], np.cumsum(np.bincount(at))[:-1])
    weights = sample.weight.astype(np.float64)
    wins = weights * sample.results
    falling = [float(values[-1])]
    positions, sums = 0, np.zeros((2, sample.game_count))
    for value, rows in zip(values[::-1].tolist(), by_value[::-1], strict=True):
        positions += int(counts[rows].sum())
        games_here = sample.games[rows]
        sums[0] += np.bincount(games_here, wins[rows], sample.game_count)
        sums[1] += np.bincount(games_here, weights[rows], sample.game_count)
        games = int((sums[1] > 0).sum())
        if positions < binning.positions or games < max(binning.games, 2):
            continue
        won, weight = sums.sum(axis=1)
        squares = float(((sums[0] - won / weight * sums[1]) ** 2).sum())
        if math.sqrt(squares * games / (games - 1)) / weight <= binning.error:
            falling.append(value)
            positions, sums = 0, np.zeros_like(sums)
    if len(falling) == 1:
        falling.append(falling[0])
    falling[-1] = float(values[0])
    if falling[0] == falling[1]:
        falling[0] = math.nextafter(falling[0], math.inf)
    return np.array(falling[::-1])


def _frequent(numbers: Reals, least: int, times: NDArray[np.int64] | None = None) -> Reals:
    """The integers that occur at least `least` times, in order; each occurs `times`, or once."""
    if not len(numbers):
        return numbers
    first = numbers.min()
    if numbers.max() - first < _COUNTED:
        counts = np.bincount((numbers - first).astype(np.int64), times)
        return np.asarray(np.flatnonzero(counts >= least) + first, dtype=np.float64)
    distinct, place = np.unique(numbers, return_inverse=True)
    return np.asarray(distinct[np.bincount(place, times) >= least])


def _as_values_are(edges: Reals) -> Reals:
    """Round edges as values are rounded, so that a value of 0.175 is not below 0.175."""
    return edges.astype(np.float32).astype(np.float64)


def _with_mates(edges: Reals, sample: Sample, requested: set[float]) -> Cuts:
    """Add bins of mates beyond all finite values."""
    infinite = sample.values[np.isinf(sample.values)]
    finite = sample.values[np.isfinite(sample.values)]
    least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    beyond = float(np.nextafter(np.float32(most), np.float32(np.inf)))
    lows = [-math.inf, min([least, *edges[:1]])] if (infinite < 0).any() else []
    highs = [max([beyond, *edges[-1:]]), math.inf] if (infinite > 0).any() else []
    all_edges = np.unique(np.array([*lows, *edges, *highs]))
    if len(all_edges) < 2:
        all_edges = np.array([least, beyond])
    is_mate = [not math.isfinite(v) for v in all_edges]
    return Cuts(
        all_edges,
        np.array(
            [
                low in requested or is_mate[i] or is_mate[i + 1]
                for i, low in enumerate(all_edges[:-1].tolist())
            ]
        ),
    )


def nice_number(x: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten; 1 for 0.

    >>> nice_number(34), nice_number(0.003), nice_number(0)
    (50.0, 0.005, 1.0)
    """
    if not x > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    nearest = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= x * (1 - 1e-9))
    return float(f"{nearest:.6g}")


Trend = Literal["rises", "falls", "any"]
"""Expected direction of a good evaluator's curve: wins rise, losses fall."""
MOST_DRAWN: Final = 8
"""Maximum number of curves in a chart."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a curve: the positions of one bin."""

    lower: float
    upper: float
    """Upper edge of the bin; the outer edge of a bin of mates is infinite."""
    value: float
    """Mean value; infinite for mates."""
    share: float
    """Share of wins; draws count half."""
    low: float
    high: float
    """Upper end of the interval, clustered by game."""
    naive_low: float
    naive_high: float
    """Upper end for independent positions (the paper's σ/√n), for comparison only."""
    positions: int
    games: int
    design_effect: float
    """Ratio of the variance to that of independent positions."""

    @property
    def is_mate(self) -> bool:
        """Whether the values are mates."""
        return math.isinf(self.value)


@dataclass(frozen=True, slots=True)
class Monotonicity:
    """Test of a curve's monotonicity."""

    violations: int
    """Number of pairs of neighboring bins in the wrong direction."""
    largest_drop: float
    p_value: float
    """Upper bound of the p-value for a monotone curve; NaN without resamples."""

    @property
    def holds(self) -> bool:
        """Whether chance can explain the violations."""
        return not self.p_value < 0.05


@dataclass(frozen=True)
class Curve:
    """One evaluation curve."""

    name: str
    unit: str
    condition: str
    points: tuple[CurvePoint, ...]
    positions: int
    games: int
    left_out: int
    """Number of positions in bins that are too small or outside of all bins."""
    monotonicity: Monotonicity
    logistic: Logistic
    confidence: float
    design_effect: float
    """Ratio of the overall share's variance to that of independent positions."""
    trend: Trend = "rises"

    @property
    def effective_positions(self) -> float:
        """Effective sample size for the overall share."""
        return self.positions / self.design_effect

    @property
    def label(self) -> str:
        """Evaluator and condition."""
        return f"{self.name}, {self.condition}" if self.condition else self.name


def measure_curve(
    sample: Sample,
    *,
    binning: Binning | None = None,
    at_least: int | None = None,
    resampling: Resampling | None = None,
    condition: str = "",
    trend: Trend = "rises",
) -> Curve:
    """Compute the curve of a sample. Draws count by their results: see `Sample.without_draws`.

    The default bins are `open_bins`. Bins with fewer than `at_least` positions (default:
    `least_positions`) are excluded.

    >>> values = [0.1, 0.1, 0.9, 0.9]
    >>> sample = Sample.of("engine", values, results=[0, 1, 1, 1], games=[1, 2, 3, 4])
    >>> [(round(p.value, 2), p.share) for p in measure_curve(sample, at_least=1).points]
    [(0.1, 0.5), (0.9, 1.0)]
    """
    resampling = resampling or Resampling()
    if not len(sample):
        raise StudyError(f"{sample.name}: a curve needs at least one position")
    positions = sample.position_count
    least = least_positions(positions) if at_least is None else at_least
    cuts = (binning or open_bins(sample, least)).cuts(sample)
    edges = cuts.edges
    bins = sample.bins(edges)
    drawn = np.zeros((0, len(bins), 4))
    if resampling.resamples:
        drawn = sample.ranking.resampled_bins(
            edges, resampling.resamples, resampling.seed, resampling.threads
        )
    weight, wins, value_sum, finite, by_games, count, games, squares = bins.T
    drawn_shares = np.zeros((0, len(bins)))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = wins / weight
        value = value_sum / finite
        independent = _variance_of_one(share, squares / weight) / count
        variance = by_games
        if resampling.resamples:
            drawn_shares = drawn[:, :, 0] / drawn[:, :, 1]
            variance = _variance(drawn_shares)
        # Noise in the variance must not increase the effective sample size.
        variance = np.maximum(variance, independent)
        design = np.where(independent > 0, variance / independent, count / np.maximum(games, 1))
        coin = share * (1 - share)
        trials = np.where(variance > 0, coin / variance, games)
    low, high = wilson(share, trials, games, resampling.confidence)
    naive = _normal_reach(resampling.confidence) * np.sqrt(independent)
    used = np.flatnonzero(cuts.requested & (count >= max(least, 1)))
    points = tuple(
        CurvePoint(
            lower=float(edges[b]),
            upper=float(edges[b + 1]),
            value=float(value[b]) if finite[b] > 0 else _mate(float(edges[b + 1])),
            share=float(share[b]),
            low=float(low[b]),
            high=float(high[b]),
            naive_low=float(max(share[b] - naive[b], 0)),
            naive_high=float(min(share[b] + naive[b], 1)),
            positions=int(count[b]),
            games=int(games[b]),
            design_effect=float(design[b]),
        )
        for b in used.tolist()
    )
    return Curve(
        sample.name,
        sample.unit,
        condition,
        points,
        positions,
        sample.count_games(),
        positions - int(count[used].sum()),
        monotonicity(share[used], trials[used], drawn_shares[:, used], trend),
        fit_logistic(sample, resampling.confidence),
        resampling.confidence,
        _overall_design(sample),
        trend,
    )


def share_of(results: Reals, games: NDArray[Any], resampling: Resampling) -> CurvePoint:
    """Compute the mean result of positions with its interval, as one bin."""
    sample = Sample.of("", np.ones(len(results)), results=results, games=games)
    [point] = measure_curve(
        sample, binning=FixedBins(1, 1), at_least=1, resampling=resampling
    ).points
    return point


def _variance_of_one(mean: Reals, square: Reals) -> Reals:
    """Variance of one result, from the means of results and squares; 0 below rounding error."""
    variance = np.maximum(square - mean**2, 0)
    return np.where(variance < 1e-12, 0, variance)


def _overall_design(sample: Sample) -> float:
    """Compute the design effect of the overall share."""
    [all_positions] = sample.bins(np.array([-math.inf, math.inf]))
    weight, wins, _, _, by_games, count, games, squares = all_positions
    independent = float(_variance_of_one(wins / weight, squares / weight) / count)
    if not independent > 0:
        return float(count / max(games, 1))
    return max(float(by_games) / independent, 1.0)


def _mate(upper: float) -> float:
    """Value of a bin of mates, from its upper edge."""
    return math.inf if upper == math.inf else -math.inf


def _variance(shares: Reals) -> Reals:
    finite = np.isfinite(shares)
    number = np.maximum(finite.sum(axis=0), 1)
    mean = np.where(finite, shares, 0).sum(axis=0) / number
    return np.asarray(np.where(finite, (shares - mean) ** 2, 0).sum(axis=0) / number)


def _normal_reach(confidence: float) -> float:
    from statistics import NormalDist  # noqa: PLC0415

    return NormalDist().inv_cdf((1 + confidence) / 2)


def monotonicity(
    shares: Reals, weights: Reals, drawn: Reals, trend: Trend = "rises"
) -> Monotonicity:
    """Test whether violations of monotonicity exceed noise; no test if the trend is `any`.

    The statistic is the weighted distance from the nearest monotone curve. Its null distribution
    comes from resamples centered on that curve, after pooling its steps below the noise.
    """
    if len(shares) < 2 or trend == "any":
        return Monotonicity(0, 0.0, math.nan)
    if trend == "falls":
        return monotonicity(1 - shares, weights, 1 - drawn)
    steps = np.diff(shares)
    rising = never_falling(shares, weights)
    p_value = math.nan
    if len(drawn):
        seen = float((weights * (shares - rising) ** 2).sum())
        moved = (
            np.where(np.isfinite(drawn), drawn, shares)
            - shares
            + _pooled(rising, weights, _is_level)
        )
        beyond = 0
        for each in moved:
            distance = (weights * (each - never_falling(each, weights)) ** 2).sum()
            beyond += bool(distance >= seen * (1 - 1e-12))
        p_value = (beyond + 1) / (len(moved) + 1) if seen > 0 else 1.0
    return Monotonicity(int((steps < 0).sum()), float(max(-steps.min(), 0)), p_value)


def _is_level(one: list[float], other: list[float]) -> bool:
    """Whether the step between two pools is below two standard errors."""
    mean = (one[0] * one[1] + other[0] * other[1]) / (one[1] + other[1])
    error = math.sqrt(max(mean * (1 - mean), 0) * (1 / one[1] + 1 / other[1]))
    return other[0] - one[0] < 2 * error


def never_falling(shares: Reals, weights: Reals) -> Reals:
    """Weighted isotonic regression (pool adjacent violators).

    >>> never_falling(np.array([0.2, 0.5, 0.3, 0.9]), np.ones(4)).tolist()
    [0.2, 0.4, 0.4, 0.9]
    """
    return _pooled(shares, weights, lambda one, other: one[0] > other[0])


def _pooled(
    shares: Reals, weights: Reals, joins: Callable[[list[float], list[float]], bool]
) -> Reals:
    """Replace adjacent shares by their mean where `joins` holds; a pool is mean, weight, length."""
    pools: list[list[float]] = []
    for share, weight in zip(shares.tolist(), weights.tolist(), strict=True):
        pools.append([share, weight, 1])
        while len(pools) > 1 and joins(pools[-2], pools[-1]):
            mean, mass, length = pools.pop()
            below = pools[-1]
            total = below[1] + mass
            pooled = (below[0] * below[1] + mean * mass) / total if total else below[0]
            pools[-1] = [pooled, total, below[2] + length]
    return np.array([mean for mean, _, length in pools for _ in range(int(length))])


@dataclass(frozen=True, repr=False)
class Curves(Result):
    """Several evaluation curves."""

    drawn_by = "evaluation_curves"

    parts: tuple[Curve, ...]
    of: str = "win probability"
    """Name of the share on the vertical axis."""
    heading: str = "Evaluation curves"
    bands: str = "games"
    """`games`, or `naive` for the bands of independent positions."""
    min_games: int = MIN_GAMES
    """Minimum number of games for a curve to be shown; `parts` has all curves."""
    coverage: Coverage | None = None

    def __post_init__(self) -> None:
        if self.bands not in ("games", "naive"):
            raise ParameterError("bands", f"is games or naive, not '{self.bands}'")

    def __iter__(self) -> Iterator[Curve]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: int) -> Curve:
        return self.parts[index]

    def has_enough_games(self, part: Curve) -> bool:
        """Whether a curve has enough games to be shown."""
        return part.games >= self.min_games

    @property
    def drawn(self) -> tuple[Curve, ...]:
        """The curves in the chart."""
        parts = [part for part in self.parts if part.points and self.has_enough_games(part)]
        return tuple(parts[:MOST_DRAWN])

    @property
    def title(self) -> str:
        """One-line title."""
        names = dict.fromkeys(part.name for part in self.parts)
        return f"{self.heading}: {', '.join(names)}"

    def table(self) -> pa.Table:
        """One row per bin of curves with enough games."""
        return pa.Table.from_pylist(
            [
                {
                    "evaluator": part.name,
                    "condition": part.condition,
                    **{name: getattr(point, name) for name in CurvePoint.__dataclass_fields__},
                }
                for part in filter(self.has_enough_games, self.parts)
                for point in part.points
            ],
            schema=_TABLE,
        )

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """One row per bin."""
        heading = (
            "evaluator",
            "condition",
            "value",
            self.of,
            f"{self.parts[0].confidence:.0%} interval" if self.parts else "interval",
            "naive",
            "positions",
            "games",
            "design effect",
        )
        return (heading, *(row for part in self.parts for row in self._rows(part)))

    def _rows(self, part: Curve) -> Iterator[tuple[str, ...]]:
        who = (part.name, part.condition or "all")
        if not self.has_enough_games(part):
            yield (*who, *[TOO_FEW] * 4, f"{part.positions:,}", f"{part.games:,}", TOO_FEW)
            return
        for point in part.points:
            yield (
                *who,
                value_text(point.value, part.unit),
                f"{point.share:.3f}",
                f"{point.low:.3f} to {point.high:.3f}",
                f"{point.naive_low:.3f} to {point.naive_high:.3f}",
                f"{point.positions:,}",
                f"{point.games:,}",
                f"{point.design_effect:.1f}",
            )

    def notes(self) -> tuple[str, ...]:
        """Design effects and monotonicity, curve by curve; curves of too few games."""
        enough = [part for part in self.parts if self.has_enough_games(part)]
        notes = [about_curve(part) for part in enough]
        if few := len(self.parts) - len(enough):
            notes.append(too_few_note(few, self.min_games, "curve"))
        if len(enough) > MOST_DRAWN:
            notes.append(f"The chart has the first {MOST_DRAWN} of {len(enough)} curves.")
        return tuple(notes)


def about_curve(curve: Curve) -> str:
    """Describe a curve's effective sample size and monotonicity in a sentence or two."""
    clauses = [f"{curve.label}: {curve.positions:,} positions of {curve.games:,} games"]
    if math.isfinite(curve.design_effect):
        clauses.append(
            f"; effective sample size {curve.effective_positions:,.0f} "
            f"(design effect {curve.design_effect:.1f})"
        )
    turns = curve.monotonicity
    if curve.left_out and curve.points:
        clauses.append(f"; {counted(curve.left_out, 'position')} in bins not shown")
    if not curve.points:
        clauses.append("; no bin has enough positions")
    elif curve.trend != "any" and turns.violations == 0:
        clauses.append("; monotone")
    elif curve.trend != "any":
        clauses.append(
            f"; {counted(turns.violations, 'violation')} of monotonicity, at most "
            f"{turns.largest_drop:.3f}"
        )
        if math.isfinite(turns.p_value):
            verdict = "not significant" if turns.holds else "significant"
            clauses.append(f", {verdict} (p = {turns.p_value:.2g})")
    if curve.logistic.converged and curve.unit != VALUE and curve.trend == "rises":
        even, ahead = (curve.logistic.score_for(p).text(".0f") for p in (0.5, 0.75))
        clauses.append(f"; 50% at {even}, 75% at {ahead}")
    return "".join(clauses) + "."


def value_text(value: float, unit: str) -> str:
    """A value as text: `0.55`, `+120`, `mate`."""
    if math.isinf(value):
        return "mate" if value > 0 else "-mate"
    return f"{value:.3f}" if unit == VALUE else f"{value:+.1f}"


_TABLE: Final = pa.schema(
    [
        ("evaluator", pa.string()),
        ("condition", pa.string()),
        *((name, pa.float64()) for name in ("lower", "upper", "value", "share", "low", "high")),
        ("naive_low", pa.float64()),
        ("naive_high", pa.float64()),
        ("positions", pa.int64()),
        ("games", pa.int64()),
        ("design_effect", pa.float64()),
    ]
)
