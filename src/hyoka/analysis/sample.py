# SPDX-License-Identifier: Apache-2.0
"""Samples: evaluator values and the results; the link from scores to probabilities."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hyoka._core import LogisticFit, Ranking, resampled_sums
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.foundation.math import Estimate

_LEAST_GAIN: Final = 0.0005
"""Minimum relative gain in log-loss of a link over a straighter one."""
_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class Link:
    """x = bend · asinh(score / bend), with scores clipped to the limit; infinity disables either.

    >>> Link(bend=100)(np.array([1.0, 10_000.0])).round(1).tolist()
    [1.0, 529.8]
    >>> Link(limit=300)(np.array([-2000.0, 50.0])).tolist()
    [-300.0, 50.0]
    """

    bend: float = math.inf
    limit: float = math.inf

    def __post_init__(self) -> None:
        for name, value in (("bend", self.bend), ("limit", self.limit)):
            if not value > 0:
                raise StudyError(f"the {name} of a link is a positive score, not {value:g}")

    @property
    def is_straight(self) -> bool:
        """Whether the link is the identity."""
        return math.isinf(self.bend) and math.isinf(self.limit)

    def __call__(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Transform scores."""
        within = np.clip(scores.astype(np.float64), -self.limit, self.limit)
        return within if math.isinf(self.bend) else self.bend * np.arcsinh(within / self.bend)

    def score(self, x: float) -> float:
        """Invert the link, clipped to the limit.

        >>> round(Link(bend=200).score(float(Link(bend=200)(np.array([700.0]))[0])))
        700
        """
        bent = math.isfinite(self.bend) and math.isfinite(x)
        score = self.bend * math.sinh(max(min(x / self.bend, 700.0), -700.0)) if bent else x
        return max(min(score, self.limit), -self.limit)

    def __str__(self) -> str:
        parts = [("bend", self.bend), ("limit", self.limit)]
        words = [f"{name} {value:g}" for name, value in parts if math.isfinite(value)]
        return ", ".join(words) or "straight"


STRAIGHT: Final = Link()
"""The link that leaves scores unchanged."""


def best_link(
    ranking: Ranking, scores: NDArray[Any], counts: NDArray[np.int64] | None = None
) -> Link:
    """Choose the link with the least log-loss on held-out games.

    Candidates for the bend and the limit are 1, 2 and 5 times powers of ten in the range of the
    scores, and infinity. The search alternates between the two. `counts` are the positions of each
    score, by default one.
    """
    sized = np.isfinite(scores) & (scores != 0)
    if not sized.any():
        return STRAIGHT
    sizes = np.abs(scores[sized])
    some = None if counts is None else counts[sized]
    low, middle, high = quantiles(sizes, [0.05, 0.5, 0.995], some).tolist()
    link = STRAIGHT
    for _ in range(_ROUNDS):
        bends = [Link(bend, link.limit) for bend in _nice_between(low, high)]
        link = _least_surprised(ranking, bends)
        limits = [Link(link.bend, limit) for limit in _nice_between(middle, high)]
        link = _least_surprised(ranking, limits)
    return link


def _nice_between(low: float, high: float) -> list[float]:
    """List 1, 2 and 5 times powers of ten between two numbers, and infinity."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    nice = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [*(number for number in nice if low <= number <= high), math.inf]


def _least_surprised(ranking: Ranking, links: list[Link]) -> Link:
    """The link with the least log-loss; the straightest (the last) if the gain is too small."""
    losses = ranking.held_out_losses(
        np.array([link.bend for link in links]), np.array([link.limit for link in links])
    )
    if not np.isfinite(losses).any():
        return links[-1]
    as_good = np.flatnonzero(losses <= (1 + _LEAST_GAIN) * np.nanmin(losses))
    return links[int(as_good[-1])]


Floats = NDArray[np.float32]
Reals = NDArray[np.float64]
DrawnGames = Literal["drop", "half"]
"""Treatment of drawn games: excluded, or half a win."""
VALUE: Final = "value"
"""Unit of expected scores, 0 to 1."""


def quantiles(
    values: NDArray[Any], shares: Sequence[float], counts: NDArray[np.int64] | None = None
) -> Reals:
    """Compute quantiles of values that occur as often as `counts` say, by default once.

    >>> quantiles(np.array([5.0, 1.0]), [0.5, 0.75], np.array([3, 1])).tolist()
    [5.0, 5.0]
    """
    if counts is None:
        return np.asarray(np.quantile(values, shares))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(counts[order])
    places = (ends[-1] - 1) * np.asarray(shares, np.float64)
    below = np.floor(places)
    low, high = (
        values[order][np.searchsorted(ends, place, side="right")].astype(np.float64)
        for place in (below, np.ceil(places))
    )
    return np.asarray(low + (high - low) * (places - below))


@dataclass(frozen=True, eq=False)
class Condensed:
    """What the rows of a condensed sample stand for (`hyoka.analysis.condensed`)."""

    counts: NDArray[np.int64] = field(repr=False)
    """The number of positions of each row."""
    bins: NDArray[np.int32] = field(repr=False)
    """The bin of values of each row."""
    pairs: NDArray[np.int32] = field(repr=False)
    """Numbers of games by successive bins: the bin before plus one (0: none), and the bin."""
    widths: Reals = field(repr=False)
    """The width of each bin; 0 if its values are equal."""

    def where(self, chosen: NDArray[np.bool_]) -> "Condensed":
        """The same for some rows."""
        return replace(self, counts=self.counts[chosen], bins=self.bins[chosen])

    def games(self, chosen: NDArray[np.bool_] | None = None) -> int:
        """The number of games of some rows, by default all; they must be those of some bins."""
        bins = self.bins if chosen is None else self.bins[chosen]
        return self.games_between(int(bins.min()), int(bins.max())) if len(bins) else 0

    def games_between(self, first: int, last: int) -> int:
        """The number of games with a position in a range of bins."""
        return int(self.pairs[: first + 1, first : last + 1].sum(dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Sample:
    """Columns of positions: an evaluator's values, results, and games.

    Values and results are the first player's. A mate is infinite. Positions of one game share its
    result, so intervals come from a cluster bootstrap over games.

    >>> Sample.of("engine", [0.2, 0.9, 0.6], results=[0, 1, 1], games=[7, 7, 9]).game_count
    2
    """

    name: str
    """Name of the evaluator."""
    unit: str
    """`value`, `centipawns` or `points`."""
    values: Floats = field(repr=False)
    results: Floats = field(repr=False)
    games: NDArray[np.uint32] = field(repr=False)
    """Game numbers from 0, without gaps."""
    game_count: int
    weights: Floats | None = field(default=None, repr=False)
    """Weight of each position; 1 by default."""
    rows: NDArray[np.int64] | None = field(default=None, repr=False)
    """Row of each position in the source data."""
    link: Link | None = None
    """Link of the logistic curve of scores; None chooses it on held-out games."""
    first_player: str = "the first player"
    """Name of the first player in sentences."""
    condensed: Condensed | None = None
    """What each row stands for if it is not one position; `weights` are then counts, and `games`
    are blocks of games."""

    @classmethod
    def of(
        cls,
        name: str,
        values: Sequence[float] | NDArray[Any],
        *,
        results: Sequence[float] | NDArray[Any],
        games: Sequence[int] | NDArray[Any],
        unit: str = VALUE,
    ) -> "Sample":
        """Build a sample; positions without a value or a result are excluded."""
        all_values = np.asarray(values, dtype=np.float32)
        all_results = np.asarray(results, dtype=np.float32)
        all_games = np.asarray(games)
        if not len(all_values) == len(all_results) == len(all_games):
            raise StudyError(
                f"{len(all_values)} values, {len(all_results)} results and {len(all_games)} games: "
                "the lengths must be equal"
            )
        present = ~(np.isnan(all_values) | np.isnan(all_results))
        numbers, game_count = game_numbers(all_games[present])
        return cls(
            name,
            unit,
            all_values[present],
            all_results[present],
            numbers,
            game_count,
            rows=np.flatnonzero(present),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def threshold(self) -> float:
        """Value from which the evaluator predicts a win of the first player."""
        return 0.5 if self.unit == VALUE else 0.0

    @property
    def weight(self) -> Floats:
        """Weight of each position."""
        return np.ones(len(self), np.float32) if self.weights is None else self.weights

    @property
    def position_count(self) -> int:
        """Number of positions."""
        return len(self) if self.condensed is None else int(self.condensed.counts.sum())

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """Number of positions of each row; None: one."""
        return None if self.condensed is None else self.condensed.counts

    def count_games(self, chosen: NDArray[np.bool_] | None = None) -> int:
        """Count the games of all positions, or of those with certain values."""
        if self.condensed is None:
            return len(np.unique(self.games if chosen is None else self.games[chosen]))
        return self.condensed.games(chosen)

    @cached_property
    def ranking(self) -> Ranking:
        """The positions sorted by value."""
        return Ranking(self.values, self.results, self.games, self.game_count, self.weights)

    def bins(self, edges: Reals) -> Reals:
        """The bins between edges, as rows of `Ranking.bins`."""
        bins = np.asarray(self.ranking.bins(edges))
        if self.condensed is None:
            return bins
        at = np.searchsorted(edges, self.values.astype(np.float64), side="right") - 1
        at[self.values == edges[-1]] = len(bins) - 1  # the last bin has its upper edge
        inside = (at >= 0) & (at < len(bins))
        at, of = at[inside], self.condensed.where(inside)
        bins[:, 5] = np.bincount(at, of.counts, len(bins))
        first, last = np.full(len(bins), np.iinfo(np.int32).max), np.full(len(bins), -1)
        np.minimum.at(first, at, of.bins)
        np.maximum.at(last, at, of.bins)
        bins[:, 6] = [
            of.games_between(low, high) if high >= 0 else 0
            for low, high in zip(first.tolist(), last.tolist(), strict=True)
        ]
        return bins

    def quantiles(self, shares: Sequence[float]) -> Reals:
        """Quantiles of the finite values."""
        finite = np.isfinite(self.values)
        counts = self.counts
        return quantiles(self.values[finite], shares, None if counts is None else counts[finite])

    @cached_property
    def fitted(self) -> tuple[LogisticFit, Link]:
        """The logistic curve of the results, and its link."""
        link = self.link
        if link is None:
            link = STRAIGHT if self.unit == VALUE else self._best_link()
        return self.ranking.logistic(link.bend, link.limit), link

    def _best_link(self) -> Link:
        if self.condensed is None:
            return best_link(self.ranking, self.values)
        return best_link(_link_ranking(self), self.values, self.condensed.counts)

    def with_values(self, values: Floats) -> "Sample":
        """A copy with values in the same or the opposite order."""
        return replace(self, values=values)

    def where(self, chosen: NDArray[np.bool_], name: str | None = None) -> "Sample":
        """A subset of the positions. Games keep their numbers, so resamples draw the same games."""
        return replace(
            self,
            name=self.name if name is None else name,
            values=self.values[chosen],
            results=self.results[chosen],
            games=self.games[chosen],
            weights=None if self.weights is None else self.weights[chosen],
            rows=None if self.rows is None else self.rows[chosen],
            condensed=None if self.condensed is None else self.condensed.where(chosen),
        )

    def with_results(self, results: NDArray[Any], name: str | None = None) -> "Sample":
        """A copy with other results, 0 to 1."""
        changed = np.asarray(results, dtype=np.float32)
        return replace(self, results=changed, name=self.name if name is None else name)

    def without_draws(self) -> "Sample":
        """A copy without the positions of drawn games."""
        decided = (self.results == 0) | (self.results == 1)
        return self if decided.all() else self.where(decided)

    def balanced(self, strata: NDArray[np.int64], shares: Reals) -> "Sample":
        """A copy with weights that give each stratum its share of the total.

        Empty strata stay empty; the shares of the others are normalized.
        """
        own = np.bincount(strata, minlength=len(shares))
        targets = np.where(own > 0, shares, 0.0)
        factor = np.divide(targets, own, out=np.zeros(len(shares)), where=own > 0)
        total = targets.sum()
        weights = factor[strata] * (len(self) / total if total > 0 else 0.0)
        return replace(self, weights=weights.astype(np.float32))


_LINK_GROUPS: Final = 512
_FOLDS: Final = 5
"""As `Ranking.held_out_losses` has them."""


def _link_ranking(sample: Sample) -> Ranking:
    """The groups of values by which `Ranking.held_out_losses` chooses a link, as if by positions.

    It closes a group of successive values once that has its share of the rows. Here each group is
    one value with equally many rows, a win and a loss of each fold of the games.
    """
    assert sample.condensed is not None
    finite = np.isfinite(sample.values)
    values, at = np.unique(-sample.values[finite], return_inverse=True)
    held = np.cumsum(np.bincount(at, sample.condensed.counts[finite]))
    group_of = np.zeros(len(values), np.int64)
    groups = 1
    for i, below in enumerate(held[:-1].tolist()):
        groups += below * _LINK_GROUPS >= held[-1] * groups
        group_of[i + 1] = groups - 1
    group = group_of[at]
    weight = sample.weight[finite].astype(np.float64)
    wins = weight * sample.results[finite]
    mass = np.maximum(np.bincount(group, weight, groups), 1e-300)
    means = np.bincount(group, weight * sample.values[finite], groups) / mass
    cell = group * _FOLDS + sample.games[finite] % _FOLDS
    size = groups * _FOLDS
    won, lost = (np.bincount(cell, each, size) for each in (wins, weight - wins))
    return Ranking(
        np.tile(np.repeat(means, _FOLDS), 2).astype(np.float32),
        np.repeat([1.0, 0.0], size).astype(np.float32),
        np.tile(np.arange(size) % _FOLDS, 2).astype(np.uint32),
        _FOLDS,
        np.concatenate([won, lost]).astype(np.float32),
    )


def game_numbers(games: NDArray[Any]) -> tuple[NDArray[np.uint32], int]:
    """Renumber games from 0 without gaps, in order; return the numbers and their count."""
    distinct, numbers = np.unique(games, return_inverse=True)
    return numbers.astype(np.uint32), len(distinct)


@dataclass(frozen=True, slots=True)
class Resampling:
    """Options of the cluster bootstrap: resamples, seed, confidence.

    Samples over the same games draw the same games with the same seed, so differences are paired.
    With 0 resamples there are no intervals.
    """

    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise ParameterError("resamples", f"are 0 or more, not {self.resamples}")
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence", f"is between 0 and 1, not {self.confidence:g}")


NO_INTERVALS = Resampling(resamples=0)
"""No bootstrap replicates, so no intervals."""


def interval(value: float, drawn: NDArray[Any], games: int, confidence: float = 0.95) -> Estimate:
    """Compute the interval of a value from its resamples.

    Uses bias-corrected percentiles (Efron), widened by Student's t for the number of games
    (Hesterberg). NaN resamples are excluded. If more than half are NaN, or there are fewer than
    two games, there is no interval.
    """
    finite = np.sort(drawn[np.isfinite(drawn)])
    if len(finite) < max(2, len(drawn) / 2) or games < 2 or not math.isfinite(value):
        return Estimate(value)
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    normal = NormalDist()
    below = (np.searchsorted(finite, value, "left") + np.searchsorted(finite, value, "right")) / 2
    share = min(max(below / len(finite), 0.5 / len(finite)), 1 - 0.5 / len(finite))
    bias = normal.inv_cdf(share)
    reach = float(stdtrit(games - 1, (1 + confidence) / 2)) * math.sqrt(games / (games - 1))
    low, high = (normal.cdf(2 * bias + sign * reach) for sign in (-1, 1))
    ends = np.quantile(finite, [low, high])
    return Estimate(value, min(float(ends[0]), value), max(float(ends[1]), value))


def mean_by_games(values: NDArray[Any], games: NDArray[Any], resampling: Resampling) -> Estimate:
    """Compute a mean over positions, with an interval by cluster bootstrap over games.

    >>> mean_by_games(np.array([1.0, 0.0, 1.0]), np.array([4, 4, 9]), NO_INTERVALS).value
    0.6666666666666666
    """
    _, numbers = np.unique(games, return_inverse=True)
    by_game = np.stack([np.bincount(numbers, weights=values), np.bincount(numbers)], axis=1)
    total, positions = by_game.sum(axis=0)
    drawn = resampled_sums(
        np.ascontiguousarray(by_game, np.float64), resampling.resamples, resampling.seed
    )
    mean = float(total / positions)
    return interval(mean, drawn[:, 0] / drawn[:, 1], len(by_game), resampling.confidence)


def share_interval(
    share: float, drawn: NDArray[Any], games: int, confidence: float = 0.95
) -> Estimate:
    """Compute the interval of a share between 0 and 1.

    If the share is 0 or 1 in every resample, this is Wilson's interval with the number of games as
    trials.

    >>> share_interval(1.0, np.ones(100), 2).low < 0.2
    True
    """
    by_resamples = interval(share, drawn, games, confidence)
    if math.isnan(by_resamples.low) or by_resamples.low < by_resamples.high or share not in (0, 1):
        return by_resamples
    low, high = wilson(np.array([share]), np.array([games]), np.array([games]), confidence)
    return Estimate(share, float(low[0]), float(high[0]))


def two_sided_p(value: float, drawn: NDArray[Any], games: int) -> float:
    """Compute the p-value of a difference from the spread of its resamples.

    Uses Student's t for the number of games, as `interval` does.
    """
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 2 or games < 2 or not math.isfinite(value):
        return math.nan
    spread = float(np.std(finite)) * math.sqrt(games / (games - 1))
    if spread == 0:
        return 1.0 if value == 0 else math.nan
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    return 2 * float(stdtr(games - 1, -abs(value) / spread))


def probability_text(p: float) -> str:
    """Format a small probability.

    >>> probability_text(0.0312), probability_text(0), probability_text(math.nan)
    ('0.031', '< 1e-15', '–')
    """
    if math.isnan(p):
        return "–"
    return f"{p:.2g}" if p >= 1e-15 else "< 1e-15"


def wilson(
    share: Reals, effective: Reals, games: NDArray[Any], confidence: float
) -> tuple[Reals, Reals]:
    """Compute Wilson's interval of shares by effective trials, with Student's t for few games."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    reach = stdtrit(np.maximum(games - 1, 1), (1 + confidence) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = reach**2 / effective
        middle = (share + squared / 2) / (1 + squared)
        half = np.sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    valid = (games >= 2) & (effective > 0)
    # Rounding must not exclude the share.
    low = np.where(valid, np.clip(np.minimum(middle - half, share), 0, 1), np.nan)
    high = np.where(valid, np.clip(np.maximum(middle + half, share), 0, 1), np.nan)
    return low, high
