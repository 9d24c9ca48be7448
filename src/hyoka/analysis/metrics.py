# SPDX-License-Identifier: Apache-2.0
"""Metrics of evaluators: those of Takeuchi 2010 and three calibration metrics.

| metric | definition |
|---|---|
| ACC | prediction accuracy at the threshold, of the values or their negation, if better |
| FSC | harmonic mean of precision and recall at the threshold |
| LFT | share of wins in the top quarter (`precision_at_25`) over their overall share |
| ROC | area under the ROC curve, ties count half; of the values or their negation, if better |
| APR | mean interpolated precision at recalls 0.0, 0.1 … 1.0 |
| BEP | precision where it equals recall: in the top n positions, with n the number of wins |
| τ | (concordant - discordant) / all pairs of a win and a loss; tied values are concordant |
| τ-b | Kendall's τ-b, as in SciPy |
| E(v) | difference of the mean values of wins and of losses, without mates |
| Brier, log-loss | loss of the value as a probability; scores use their logistic curve |
| ECE | expected calibration error over 15 bins, corrected for sampling noise |

Tied values count as the mean over all their orders. Metrics that need wins and losses are NaN
without either.

With `draws="half"` a draw (result 0.5) counts as a win and a loss, each with half of the position's
weight, in all metrics but two. The Brier loss is the squared distance of the claim from 0.5. ECE
compares mean claims with mean results.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from hyoka._core import resampled_sums
from hyoka.analysis.calibration import fit_logistic, probabilities
from hyoka.analysis.curves import share_of
from hyoka.analysis.sample import (
    NO_INTERVALS,
    VALUE,
    Reals,
    Resampling,
    Sample,
    interval,
    share_interval,
)
from hyoka.foundation.errors import ParameterError, StudyError, nearest
from hyoka.foundation.math import Estimate
from hyoka.storage.result import (
    COUNT,
    MIN_GAMES,
    NUMBER,
    TEXT,
    Columns,
    Coverage,
    Result,
    table_of,
    too_few_note,
)

CALIBRATION_BINS: Final = 15
"""Number of equally wide bins of the expected calibration error."""


class _Terms(NamedTuple):
    """Terms of each position, or their sums, for the metrics that need no ranking."""

    true_positives: Reals
    false_positives: Reals
    wins: Reals
    losses: Reals
    finite_wins: Reals
    finite_losses: Reals
    win_values: Reals
    loss_values: Reals
    squared_errors: Reals
    surprises: Reals


@dataclass(frozen=True, eq=False)
class _Totals:
    """What metrics are computed from, by resample."""

    sums: _Terms
    ranked: Reals
    """The metrics that the core computes from the ranking."""
    bins: Reals
    """Bins of claims: wins, weight, claims."""
    noise: Reals
    """Variance of each bin's outcome."""

    @property
    def weight(self) -> Reals:
        """Total weight of the positions."""
        return self.sums.wins + self.sums.losses

    def calibration_error(self) -> Reals:
        """The mean gap of the bins, less noise: chance gives even a perfect evaluator a gap."""
        mass = self.bins[:, :, 1]
        apart = np.where(mass > 0, (self.bins[:, :, 0] - self.bins[:, :, 2]) / mass, 0)
        beyond = np.sqrt(np.maximum(apart**2 - self.noise, 0))
        return np.asarray((mass * beyond).sum(axis=1) / self.weight)


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure of the quality of values."""

    name: str
    title: str
    better: Literal["higher", "lower"]
    about: str
    of: Callable[[_Totals], Reals] = field(repr=False, compare=False)
    """Compute the metric of each resample."""
    is_share: bool = False
    """Whether it is between 0 and 1."""
    middle: float | None = None
    """Below this value, the metric is that of the negated values; None: never."""


def _f_score(totals: _Totals) -> Reals:
    tp, fp, wins = totals.sums[:3]
    return np.where(wins > 0, 2 * tp / (tp + fp + wins), np.nan)


def _accuracy(totals: _Totals) -> Reals:
    tp, fp, _, losses = totals.sums[:4]
    return np.asarray((tp + losses - fp) / totals.weight)


def _expected_difference(totals: _Totals) -> Reals:
    sums = totals.sums
    return np.asarray(sums.win_values / sums.finite_wins - sums.loss_values / sums.finite_losses)


METRICS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "ACC", "higher", "prediction accuracy at the threshold",
               _accuracy, is_share=True, middle=0.5),
        Metric("f_score", "FSC", "higher", "harmonic mean of precision and recall",
               _f_score, is_share=True),
        Metric("lift", "LFT", "higher", "win rate of the top quarter over the overall win rate",
               lambda totals: totals.ranked[:, 5] / (totals.sums.wins / totals.weight)),
        Metric("precision_at_25", "P@25", "higher", "win rate of the top quarter",
               lambda totals: totals.ranked[:, 5], is_share=True),
        Metric("roc", "ROC", "higher", "area under the ROC curve",
               lambda totals: totals.ranked[:, 0], is_share=True, middle=0.5),
        Metric("average_precision", "APR", "higher", "11-point interpolated average precision",
               lambda totals: totals.ranked[:, 3], is_share=True),
        Metric("break_even", "BEP", "higher", "precision-recall break-even point",
               lambda totals: totals.ranked[:, 4], is_share=True),
        Metric("tau", "τ", "higher", "concordant minus discordant pairs, ties concordant",
               lambda totals: totals.ranked[:, 1]),
        Metric("tau_b", "τ-b", "higher", "Kendall's τ-b", lambda totals: totals.ranked[:, 2]),
        Metric("expected_difference", "E(v)", "higher", "mean value of wins minus that of losses",
               _expected_difference, middle=0.0),
        Metric("brier_loss", "Brier", "lower", "mean squared error of the probability",
               lambda totals: totals.sums.squared_errors / totals.weight),
        Metric("log_loss", "log-loss", "lower", "mean negative log-likelihood",
               lambda totals: totals.sums.surprises / totals.weight),
        Metric("calibration_error", "ECE", "lower",
               "mean difference of predicted and observed win rate",
               _Totals.calibration_error),
    )
}  # fmt: skip
"""All metrics by name, in the order of tables. A new metric is one entry."""
MANY_TIES: Final = 0.05
"""Share of tied pairs from which ties dominate τ."""


@dataclass(frozen=True)
class MetricValues:
    """The metrics of one evaluator over some positions."""

    name: str
    unit: str
    condition: str
    positions: int
    games: int
    wins: float
    """Share of the results; draws count half."""
    threshold: float
    estimates: Mapping[str, Estimate]
    ties: float
    """Share of tied pairs among all pairs of a win and a loss; τ counts them as concordant."""
    turned: tuple[str, ...]
    """Metrics of the negated values: high values meant losses."""
    no_curve: str
    """Why the scores have no logistic curve; empty if they have one."""
    drawn: Mapping[str, Reals] = field(repr=False, compare=False, default_factory=dict)
    """The metrics of each resample."""

    def figure(self, name: str, min_games: int = MIN_GAMES) -> Estimate:
        """The metric to display: NaN with fewer than `min_games` games."""
        return self[name] if self.games >= min_games else Estimate(math.nan)

    def __getitem__(self, name: str) -> Estimate:
        if name in self.estimates:
            return self.estimates[name]
        by_title = {metric.title: metric.name for metric in METRICS.values()}
        if name in by_title:
            return self.estimates[by_title[name]]
        hint = nearest(name, [*METRICS, *by_title])
        raise StudyError(f"no metric '{name}'; {hint or 'there are ' + ', '.join(METRICS)}")


def measure(
    sample: Sample,
    *,
    threshold: float | Literal["best"] | None = None,
    resampling: Resampling = NO_INTERVALS,
    condition: str = "",
) -> MetricValues:
    """Compute all metrics of a sample, with intervals if `resampling` draws any.

    The default threshold is 0.5 for values and 0 for scores; `best` maximizes accuracy. Resamples
    use the same threshold and the same logistic curve of the scores.

    >>> sample = Sample.of("sure", [0.9, 0.8, 0.3, 0.1], results=[1, 1, 0, 0], games=[1, 2, 3, 4])
    >>> measure(sample)["ACC"].value, measure(sample)["roc"].value
    (1.0, 1.0)
    """
    at = _threshold(sample, threshold)
    parts = _MetricTerms(sample, at)
    values = parts.values
    estimates = {name: Estimate(value) for name, value in values.items()}
    drawn: dict[str, Reals] = {}
    games = sample.count_games()
    if resampling.resamples:
        drawn = parts.resampled(resampling)
        estimates = {
            name: (share_interval if METRICS[name].is_share else interval)(
                values[name], drawn[name], games, resampling.confidence
            )
            for name in METRICS
        }
        estimates["calibration_error"] = parts.calibration(resampling, games)
    weight = sample.weight.astype(np.float64)
    wins = float((weight * sample.results).sum() / weight.sum()) if len(sample) else math.nan
    return MetricValues(
        sample.name,
        sample.unit,
        condition,
        sample.position_count,
        games,
        wins,
        at,
        {name: estimates[name] for name in METRICS},
        parts.ties,
        parts.turned,
        parts.no_curve,
        drawn,
    )


def _threshold(sample: Sample, threshold: float | str | None) -> float:
    if threshold is None:
        return sample.threshold
    if isinstance(threshold, str):
        if threshold != "best":
            raise ParameterError("threshold", f"is a number or 'best', not '{threshold}'")
        return float(sample.ranking.best_threshold()[0])
    return float(threshold)


class _MetricTerms:
    """The terms of a sample's metrics: sums over positions, ranks, and bins."""

    def __init__(self, sample: Sample, threshold: float) -> None:
        self._sample = sample
        claims = probabilities(sample) if len(sample) else np.zeros(0)
        self.no_curve = "" if claims is not None else fit_logistic(sample).missing_reason
        self._claim = np.full(len(sample), math.nan) if claims is None else claims
        self._terms = self._position_terms(threshold)
        self._claims = sample
        if sample.unit != VALUE and claims is not None:
            self._claims = sample.with_values(claims.astype(np.float32))
        self._edges = np.linspace(0, 1, CALIBRATION_BINS + 1)
        self._bins = self._claims.bins(self._edges)
        self._noise = np.nan_to_num(self._bins[:, 4])

    def _position_terms(self, threshold: float) -> _Terms:
        sample = self._sample
        weight = sample.weight.astype(np.float64)
        win = weight * sample.results
        loss = weight - win
        # An infinite threshold calls nothing a win, not even a mate.
        called = (sample.values >= threshold) & (threshold < math.inf)
        finite = np.isfinite(sample.values)
        value = np.where(finite, sample.values, 0).astype(np.float64)
        claim, result = self._claim, sample.results
        surprise = -(result * np.log(claim) + (1 - result) * np.log1p(-claim))
        return _Terms(
            true_positives=win * called,
            false_positives=loss * called,
            wins=win,
            losses=loss,
            finite_wins=win * finite,
            finite_losses=loss * finite,
            win_values=win * value,
            loss_values=loss * value,
            squared_errors=weight * (claim - result) ** 2,
            surprises=weight * surprise,
        )

    @cached_property
    def _straight(self) -> dict[str, float]:
        """The metrics of the values, never of their negation."""
        sums = _Terms(*(np.array([float(term.sum())]) for term in self._terms))
        ranked = np.array([self._sample.ranking.metrics()])
        bins = self._bins[None, :, [1, 0, 2, 3]]
        metrics = _metrics_of(_Totals(sums, ranked, bins, self._noise))
        if self.no_curve:
            metrics["calibration_error"][:] = math.nan
        return {name: float(values[0]) for name, values in metrics.items()}

    @cached_property
    def values(self) -> dict[str, float]:
        return {name: self._turned(name, value) for name, value in self._straight.items()}

    def _turned(self, name: str, values: Any) -> Any:
        """Replace a metric by that of the negated values if that is better over the full sample.

        Resamples follow the full sample. A choice per resample would hide an uninformative
        evaluator.
        """
        if name not in self.turned:
            return values
        return 2 * (METRICS[name].middle or 0.0) - values

    @cached_property
    def turned(self) -> tuple[str, ...]:
        """Names of the metrics that are better for the negated values."""
        return tuple(
            metric.name
            for metric in METRICS.values()
            if metric.middle is not None and self._straight[metric.name] < metric.middle
        )

    @property
    def ties(self) -> float:
        """Share of tied pairs; τ counts them as concordant and ROC as half."""
        metrics = self._straight
        return max(1 + metrics["tau"] - 2 * metrics["roc"], 0.0)

    def resampled(self, resampling: Resampling) -> dict[str, Reals]:
        sample, count = self._sample, resampling.resamples
        by_game = np.stack(
            [
                np.bincount(sample.games, weights=term, minlength=sample.game_count)
                for term in self._terms
            ],
            axis=1,
        )
        sums = resampled_sums(np.ascontiguousarray(by_game), count, resampling.seed)
        ranked = sample.ranking.resampled_metrics(count, resampling.seed, resampling.threads)
        bins = self._resampled_bins(resampling)
        metrics = _metrics_of(_Totals(_Terms(*sums.T), ranked, bins, np.zeros(CALIBRATION_BINS)))
        # Noise biases the error of every resample upward, so use only their spread.
        claimed = metrics["calibration_error"]
        middle = self.values["calibration_error"]
        if not self.no_curve:
            metrics["calibration_error"] = np.maximum(claimed - np.nanmean(claimed) + middle, 0)
        return {name: self._turned(name, values) for name, values in metrics.items()}

    def _resampled_bins(self, resampling: Resampling) -> Reals:
        return self._claims.ranking.resampled_bins(
            self._edges, resampling.resamples, resampling.seed, resampling.threads
        )

    def calibration(self, resampling: Resampling, games: int) -> Estimate:
        """Compute the calibration error with its interval.

        Percentiles are biased: a distance is never negative, and noise increases it, most of all
        for good evaluators. The lower end is the smallest error at which noise reaches the observed
        distance with the tail probability, with the bins' gaps in the observed proportions. The
        upper end is at least the observed distance plus the spread of its resamples.
        """
        value = self.values["calibration_error"]
        if games < 2 or not math.isfinite(value):
            return Estimate(value)
        from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

        tail = (1 - resampling.confidence) / 2
        drawn = self._resampled_bins(resampling)
        weight, (apart, drawn_apart) = self._bins[:, 0], _apart(self._bins, drawn)
        shares = weight / weight.sum()
        reach = stdtrit(games - 1, 1 - tail) / NormalDist().inv_cdf(1 - tail)
        noise = reach * _at_least(drawn_apart - apart, self._bins, resampling.seed)
        pattern = np.sqrt(np.maximum(apart**2 - self._noise, 0)) * np.sign(apart)
        # Without any gap the error could come from any bin.
        pattern = next(each for each in (pattern, apart, np.ones_like(apart)) if each.any())
        seen = float(shares @ np.abs(apart))
        as_seen = np.abs(apart + noise) @ shares
        above = seen + float(np.quantile(as_seen, 1 - tail) - as_seen.mean())

        def exceeds(share: float, error: float) -> bool:
            """Whether the `share` quantile of distances under `error` reaches the observed one."""
            distances = np.abs(error * pattern / (shares @ np.abs(pattern)) + noise) @ shares
            return bool(np.quantile(distances, share) >= seen)

        low, high = (_least(partial(exceeds, share)) for share in (1 - tail, tail))
        return Estimate(value, min(low, value), max(high, above, value))


def _least(holds: Callable[[float], bool]) -> float:
    """Find the smallest number in [0, 1] that meets a monotone condition, by bisection."""
    low, high = 0.0, 1.0
    if holds(low):
        return low
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _at_least(noise: Reals, bins: Reals, seed: int) -> Reals:
    """Widen the bins' noise to at least that of one coin toss per game.

    A few games with equal results have no noise in resamples.
    """
    weight, wins, games = bins[:, 0], bins[:, 1], bins[:, 6]
    with np.errstate(invalid="ignore", divide="ignore"):
        # Add a win and a loss, so that no share is certain.
        share = (wins / weight * games + 1) / (games + 2)
        least = np.where(games > 0, np.sqrt(share * (1 - share) / games), 0)
        widened = noise * np.sqrt(np.where(games > 1, games / (games - 1), 1))
    missing = np.sqrt(np.maximum(least**2 - widened.var(axis=0), 0))
    fresh = np.random.default_rng(seed).normal(size=noise.shape)
    return np.asarray(widened + missing * fresh)


def _apart(bins: Reals, drawn: Reals) -> tuple[Reals, Reals]:
    """Mean outcome minus mean claim of each bin, and of each resample of it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(bins[:, 0] > 0, (bins[:, 1] - bins[:, 2]) / bins[:, 0], 0)
        mass = drawn[:, :, 1]
        return apart, np.where(mass > 0, (drawn[:, :, 0] - drawn[:, :, 2]) / mass, apart)


def _metrics_of(totals: _Totals) -> dict[str, Reals]:
    """Compute the metrics of each resample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return {metric.name: metric.of(totals) for metric in METRICS.values()}


@dataclass(frozen=True, repr=False)
class MetricsTable(Result):
    """Metrics of several evaluators, or of one evaluator under several conditions."""

    drawn_by = "metric_dots"

    parts: tuple[MetricValues, ...]
    shown: tuple[str, ...] = tuple(name for name in METRICS if name != "precision_at_25")
    """The metrics in `lines`; `table` has all metrics."""
    confidence: float = 0.95
    caveats: tuple[str, ...] = ()
    """Caveats about the evaluators."""
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `parts` has all figures."""
    coverage: Coverage | None = None

    def __iter__(self) -> Iterator[MetricValues]:
        return iter(self.parts)

    def __getitem__(self, name: str) -> MetricValues:
        for part in self.parts:
            if part.name == name:
                return part
        names = list(dict.fromkeys(part.name for part in self.parts))
        raise StudyError(f"no metrics of '{name}'; known: {', '.join(names)}")

    @property
    def title(self) -> str:
        """One-line title."""
        return "Prediction of results"

    def table(self) -> pa.Table:
        """One row per evaluator, condition and metric; NaN with too few games."""
        rows = []
        for part in self.parts:
            figures = {name: part.figure(name, self.min_games) for name in part.estimates}
            if part.games < self.min_games:
                part = replace(part, threshold=math.nan, ties=math.nan, wins=math.nan)  # noqa: PLW2901
            rows += [(part, METRICS[name], figure) for name, figure in figures.items()]
        return table_of(_COLUMNS, rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """One row per evaluator, with the intervals below it."""
        conditioned = any(part.condition for part in self.parts)
        heading = (
            "evaluator",
            *(("condition",) if conditioned else ()),
            *(METRICS[name].title for name in self.shown),
            "positions",
            "games",
        )
        rows = []
        for part in self.parts:
            words = (part.name, *((part.condition or "all",) if conditioned else ()))
            estimates = [part.figure(name, self.min_games) for name in self.shown]
            counts = (f"{part.positions:,}", f"{part.games:,}")
            marked = (_marked(part, name, self.min_games) for name in self.shown)
            rows.append((*words, *marked, *counts))
            if any(math.isfinite(each.low) for each in estimates):
                halves = ("",) * len(words)
                rows.append((*halves, *(_half_width(each) for each in estimates), "", ""))
        return (heading, *rows)

    def notes(self) -> tuple[str, ...]:
        """Caveats, negated metrics and ties."""
        enough = [part for part in self.parts if part.games >= self.min_games]
        notes = [*self.caveats, *(note for part in enough for note in metrics_notes(part))]
        if few := len(self.parts) - len(enough):
            notes.append(too_few_note(few, self.min_games))
        if any(part.drawn for part in enough):
            notes.append(
                f"± is half of the {self.confidence:.0%} interval from a cluster bootstrap over "
                "games; asymmetric intervals show both ends."
            )
        return tuple(notes)


def metrics_notes(part: MetricValues) -> Iterator[str]:
    """Yield sentences about missing probabilities, negated metrics and ties."""
    who = ", ".join(word for word in (part.name, part.condition) if word)
    if part.no_curve:
        yield (
            f"{who}: Brier, log-loss and ECE are missing because no curve fits the scores: "
            f"{part.no_curve}."
        )
    if "roc" in part.turned:
        titles = ", ".join(METRICS[name].title for name in part.turned)
        yield f"{who}: higher values mean fewer wins; {titles} are of the negated values."
    if part.ties >= MANY_TIES:
        yield (
            f"{who}: {part.ties:.0%} of the pairs of a win and a loss are tied. τ* counts ties as "
            "concordant, as the paper does; τ-b and ROC do not."
        )


def _marked(part: MetricValues, name: str, min_games: int) -> str:
    """A metric as text; τ gets a star where ties inflate it."""
    value = part.figure(name, min_games).value
    starred = name == "tau" and part.ties >= MANY_TIES and not math.isnan(value)
    return number_text(value) + "*" * starred


def number_text(value: float) -> str:
    """A metric as text: three decimals, or one for large numbers."""
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def _half_width(estimate: Estimate) -> str:
    if not math.isfinite(estimate.low):
        return ""
    if estimate.is_asymmetric:
        return f"{number_text(estimate.low)} to {number_text(estimate.high)}"
    return "±" + number_text((estimate.high - estimate.low) / 2)


_COLUMNS: Final[Columns[tuple[MetricValues, Metric, Estimate]]] = {
    "evaluator": (TEXT, lambda row: row[0].name),
    "condition": (TEXT, lambda row: row[0].condition),
    "metric": (TEXT, lambda row: row[1].name),
    "value": (NUMBER, lambda row: row[2].value),
    "low": (NUMBER, lambda row: row[2].low),
    "high": (NUMBER, lambda row: row[2].high),
    "better": (TEXT, lambda row: row[1].better),
    "unit": (TEXT, lambda row: row[0].unit),
    "threshold": (NUMBER, lambda row: row[0].threshold),
    "ties": (NUMBER, lambda row: row[0].ties),
    "turned": (pa.bool_(), lambda row: row[1].name in row[0].turned),
    "positions": (COUNT, lambda row: row[0].positions),
    "games": (COUNT, lambda row: row[0].games),
    "wins": (NUMBER, lambda row: row[0].wins),
}


@dataclass(frozen=True, slots=True)
class Confidence:
    """Mean claim and mean result of the side that an evaluator puts clearly ahead."""

    claimed: float
    """Mean value for the side ahead."""
    got: Estimate
    """Mean result of that side."""
    gap: Estimate
    """Mean result minus mean claim."""
    positions: int
    games: int


def measure_confidence(sample: Sample, *, sure: float, resampling: Resampling) -> Confidence | None:
    """Measure the values at least `sure` away from one half; None if there are none.

    >>> sample = Sample.of("sure", [0.9, 0.1, 0.5], results=[1, 0, 1], games=[1, 2, 3])
    >>> clear = measure_confidence(sample, sure=0.2, resampling=Resampling(50))
    >>> round(clear.claimed, 3), clear.got.value, clear.positions
    (0.9, 1.0, 2)
    """
    clear = np.abs(sample.values - 0.5) >= sure
    if not clear.any():
        return None
    values, results = sample.values[clear].astype(np.float64), sample.results[clear]
    games = sample.games[clear]
    claims = np.maximum(values, 1 - values)
    right = np.where(values >= 0.5, results, 1 - results)
    point = share_of(right, games, resampling)
    beyond = right - claims
    sums = np.stack(
        [np.bincount(games, column, sample.game_count) for column in (beyond, np.ones(len(games)))],
        axis=1,
    )
    drawn = resampled_sums(np.ascontiguousarray(sums), resampling.resamples, resampling.seed)
    with np.errstate(invalid="ignore"):
        gaps = drawn[:, 0] / drawn[:, 1]
    return Confidence(
        float(claims.mean()),
        Estimate(point.share, point.low, point.high),
        interval(float(beyond.mean()), gaps, point.games, resampling.confidence),
        point.positions,
        point.games,
    )
