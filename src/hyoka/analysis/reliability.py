# SPDX-License-Identifier: Apache-2.0
"""CORP reliability diagrams and the parts of mean losses (Dimitriadis, Gneiting, Jordan 2021).

Isotonic regression of the results on the claims (pool adjacent violators, PAV) recalibrates an
evaluator without bins. A mean loss then has three parts:

    loss = miscalibration - discrimination + uncertainty

Miscalibration is the loss minus that of the recalibrated claims. Discrimination is the loss of the
constant mean result minus that of the recalibrated claims. Uncertainty is the loss of the constant.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka._core import resampled_sums
from hyoka.analysis.calibration import SURE, probabilities
from hyoka.analysis.sample import Reals, Resampling, Sample, interval, share_interval
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

_MOST_POINTS: Final = 400
"""Maximum number of points of a diagram; bootstrap replicates pool the values of a point."""
_FOLDS: Final = 10
PARTS: Final = ("loss", "miscalibration", "discrimination", "uncertainty")
"""Names of a mean loss and its parts."""


def _brier_entropy(share: Reals) -> Reals:
    return share * (1 - share)


def _log_entropy(share: Reals) -> Reals:
    from scipy.special import xlog1py, xlogy  # noqa: PLC0415 - slow to import

    return np.asarray(-xlogy(share, share) - xlog1py(1 - share, -share))


ENTROPIES: Final[dict[str, Callable[[Reals], Reals]]] = {
    "brier_loss": _brier_entropy,
    "log_loss": _log_entropy,
}
"""Expected loss of a claim that equals the win probability, by name of the loss."""
LOSS_TITLES: Final = {"brier_loss": "Brier", "log_loss": "log-loss"}


@dataclass(frozen=True, slots=True)
class LossParts:
    """A mean loss and its parts, with intervals by games.

    PAV overfits the results of few games, which increases miscalibration and discrimination. Their
    intervals reach down to the values for games that PAV was not fitted to.
    """

    loss: Estimate
    miscalibration: Estimate
    discrimination: Estimate
    uncertainty: Estimate


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Positions with similar claims."""

    claim: float
    """Mean claim."""
    share: float
    """Recalibrated claim: the mean result by isotonic regression."""
    low: float
    high: float
    positions: int


@dataclass(frozen=True)
class Reliability:
    """The reliability diagram of one evaluator and the parts of its losses."""

    name: str
    condition: str
    positions: int
    games: int
    points: tuple[ReliabilityPoint, ...]
    """The diagram, by ascending claim; empty if no curve maps the scores to probabilities."""
    losses: dict[str, LossParts]
    """The parts of the Brier loss and the log-loss, by name."""
    confidence: float

    @property
    def label(self) -> str:
        """Evaluator and condition."""
        return f"{self.name}, {self.condition}" if self.condition else self.name


def recalibrated(values: Reals, results: Reals, weights: Reals) -> Reals:
    """Compute the isotonic regression of results on values; equal values have one share.

    >>> recalibrated(np.array([0.1, 0.4, 0.3]), np.array([0.0, 0.0, 1.0]), np.ones(3)).tolist()
    [0.0, 0.5, 0.5]
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

    distinct, rank = np.unique(values, return_inverse=True)
    mass = np.bincount(rank, weights, len(distinct))
    present = mass > 0
    means = np.bincount(rank, weights * results, len(distinct))[present] / mass[present]
    shares = np.full(len(distinct), math.nan)
    shares[present] = isotonic_regression(means, weights=mass[present]).x
    return np.asarray(shares[rank])


def measure_reliability(
    sample: Sample, *, resampling: Resampling | None = None, condition: str = ""
) -> Reliability:
    """Compute the reliability diagram of a sample. Scores become claims by their logistic curve.

    >>> sample = Sample.of("sure", [0.9, 0.9, 0.2, 0.2], results=[1, 0, 0, 0], games=[1, 2, 3, 4])
    >>> diagram = measure_reliability(sample, resampling=Resampling(0))
    >>> [(round(point.claim, 2), point.share) for point in diagram.points]
    [(0.2, 0.0), (0.9, 0.5)]
    >>> round(diagram.losses["brier_loss"].miscalibration.value, 6)
    0.1
    """
    resampling = resampling or Resampling()
    games, positions = sample.count_games(), sample.position_count
    claims = probabilities(sample) if len(sample) else None
    if claims is None:
        return Reliability(sample.name, condition, positions, games, (), {}, resampling.confidence)
    diagram = _Diagram(sample, claims, games, resampling)
    return Reliability(
        sample.name,
        condition,
        positions,
        games,
        tuple(diagram.points()),
        {loss: diagram.parts(loss) for loss in ENTROPIES},
        resampling.confidence,
    )


class _Diagram:
    """A sample's isotonic regression, and that of each resample over the diagram's points."""

    def __init__(self, sample: Sample, claims: Reals, games: int, resampling: Resampling) -> None:
        self._sample, self._claims, self._games = sample, claims, games
        self._resampling = resampling
        self._weight = sample.weight.astype(np.float64)
        self._results = sample.results.astype(np.float64)
        values = sample.values.astype(np.float64)
        self._shares = recalibrated(values, self._results, self._weight)
        edges = _edges(values, sample.counts)
        self._points = np.clip(np.searchsorted(edges, values, "right") - 1, 0, len(edges) - 2)
        drawn = np.zeros((0, len(edges) - 1, 4))
        if resampling.resamples:
            drawn = sample.ranking.resampled_bins(
                edges, resampling.resamples, resampling.seed, resampling.threads
            )
        self._drawn_mass = drawn[:, :, 1]
        self._drawn_shares = _isotonic_rows(drawn[:, :, 0], self._drawn_mass)

    def points(self) -> Iterator[ReliabilityPoint]:
        """Yield the points of the diagram with their bands."""
        size = self._drawn_mass.shape[1]
        mass = np.bincount(self._points, self._weight, size)
        count = np.bincount(self._points, self._sample.counts, size)
        with np.errstate(invalid="ignore", divide="ignore"):
            claim = np.bincount(self._points, self._weight * self._claims, size) / mass
            share = np.bincount(self._points, self._weight * self._shares, size) / mass
        confidence = self._resampling.confidence
        for point in np.flatnonzero(mass > 0).tolist():
            drawn = self._drawn_shares[:, point]
            value, games = float(share[point]), self._games
            if value in {0.0, 1.0}:
                games = self._sample.count_games(self._shares == value)
            band = share_interval(value, drawn, games, confidence)
            yield ReliabilityPoint(
                float(claim[point]), band.value, band.low, band.high, int(count[point])
            )

    def parts(self, loss: str) -> LossParts:
        """Compute a mean loss and its parts."""
        entropy, resampling = ENTROPIES[loss], self._resampling
        losses, spread = self._losses(loss)
        terms = (np.ones_like(losses), self._results, losses, spread)
        games, game_count = self._sample.games, self._sample.game_count
        by_game: Reals = np.stack(
            [np.bincount(games, self._weight * term, game_count) for term in terms], axis=1
        )
        sums = by_game.sum(axis=0)[None]
        fitted = (self._weight * entropy(self._shares)).sum(keepdims=True) / sums[:, 0]
        values = _parts_of(entropy, sums, fitted)[:, 0].tolist()
        if not resampling.resamples:
            return LossParts(*map(Estimate, values))
        drawn_sums = resampled_sums(
            np.ascontiguousarray(by_game), resampling.resamples, resampling.seed
        )
        mass = self._drawn_mass
        drawn_fitted = (mass * entropy(self._drawn_shares)).sum(axis=1) / mass.sum(axis=1)
        drawn = _parts_of(entropy, drawn_sums, drawn_fitted)
        count, confidence = self._games, resampling.confidence
        overfit = self._overfit(loss, float(values[0] - values[1]))
        return LossParts(
            interval(values[0], drawn[0], count, confidence),
            _overfitted(values[1], drawn[1], overfit, count, confidence),
            _overfitted(values[2], drawn[2], overfit, count, confidence),
            self._uncertainty(values[3], drawn[3], sums[0], drawn_sums, entropy),
        )

    def _uncertainty(
        self,
        value: float,
        drawn: Reals,
        sums: Reals,
        drawn_sums: Reals,
        entropy: Callable[[Reals], Reals],
    ) -> Estimate:
        """Compute the interval of the uncertainty, which is largest where wins have share 0.5.

        Resamples are always below that maximum; the interval reaches it if that of the share does.
        """
        count, confidence = self._games, self._resampling.confidence
        estimate = interval(value, drawn, count, confidence)
        mass, wins, _, spread = sums.tolist()
        share = interval(wins / mass, drawn_sums[:, 1] / drawn_sums[:, 0], count, confidence)
        if not share.low <= 0.5 <= share.high:
            return estimate
        most = float(entropy(np.array([0.5]))[0]) + spread / mass
        return Estimate(value, estimate.low, max(estimate.high, most))

    def _overfit(self, loss: str, best: float) -> float:
        """Compute how much PAV gains on the games that it was fitted to, over other games.

        `best` is the loss on its own games. Each tenth of the games is recalibrated by the others.
        """
        size = self._drawn_mass.shape[1]
        tenth = np.random.default_rng(self._resampling.seed).integers(
            0, _FOLDS, self._sample.game_count
        )
        cell = tenth[self._sample.games] * size + self._points
        shape = (_FOLDS, size)
        mass, wins, losses = (
            np.bincount(cell, self._weight * each, _FOLDS * size).reshape(shape)
            for each in (np.ones_like(self._results), self._results, self._losses(loss)[1])
        )
        shares = _isotonic_rows(wins.sum(axis=0) - wins, mass.sum(axis=0) - mass)
        shares = np.clip(shares, SURE, 1 - SURE)
        if loss == "brier_loss":
            missed = mass * shares**2 - 2 * shares * wins + wins + losses
        else:
            missed = -(wins * np.log(shares) + (mass - wins) * np.log1p(-shares))
        return float(np.nansum(missed) / mass.sum()) - best

    def _losses(self, loss: str) -> tuple[Reals, Reals]:
        """Compute the loss of each claim, and the loss of a result beyond the entropy of its share.

        The second is negative for the Brier loss of draws, which are never 0 or 1.
        """
        claims, results = self._claims, self._results
        if loss == "brier_loss":
            return (claims - results) ** 2, results * (results - 1)
        surprises = -(results * np.log(claims) + (1 - results) * np.log1p(-claims))
        return surprises, np.zeros_like(results)


def _parts_of(entropy: Callable[[Reals], Reals], sums: Reals, fitted: Reals) -> Reals:
    """Compute the rows of `PARTS` from sums of weights, results, losses and spreads."""
    mass, wins, losses, spread = sums.T
    best = fitted + spread / mass
    constant = entropy(wins / mass) + spread / mass
    loss = losses / mass
    return np.stack([loss, loss - best, constant - best, constant])


def _overfitted(
    value: float, drawn: Reals, overfit: float, games: int, confidence: float
) -> Estimate:
    """Compute the interval of a part of a loss that PAV increases by fitting these games.

    The value on the same games is too high, that on other games too low. The interval ranges from
    the second to the first, widened by the spread of resamples.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 2 or games < 2:
        return Estimate(value)
    spread = float(finite.std()) * math.sqrt(games / (games - 1))
    reach = float(stdtrit(games - 1, (1 + confidence) / 2)) * spread
    return Estimate(value, min(max(value - overfit - reach, 0.0), value), value + reach)


def _edges(values: Reals, counts: NDArray[np.int64] | None) -> Reals:
    """Cut values into at most `_MOST_POINTS` bins of whole values and equal counts."""
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) > _MOST_POINTS:
        ends = np.cumsum(np.bincount(place, counts))
        ranks = np.linspace(0, ends[-1], _MOST_POINTS, endpoint=False).astype(np.int64)
        distinct = np.unique(distinct[np.searchsorted(ends, ranks, side="right")])
    inner = distinct[1:]
    if len(inner) and inner[-1] == math.inf:
        # The last bin starts above all finite values and holds the mates.
        inner[-1] = np.nextafter(np.float32(distinct[-2]), np.float32(math.inf))
    return np.array([-math.inf, *inner.tolist(), math.inf])


def _isotonic_rows(wins: Reals, mass: Reals) -> Reals:
    """Compute the isotonic regression of each row; points without weight repeat the one below."""
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

    shares = np.full(wins.shape, math.nan)
    for row, (won, weight) in enumerate(zip(wins, mass, strict=True)):
        present = np.flatnonzero(weight > 0)
        if not len(present):
            continue
        fitted = isotonic_regression(won[present] / weight[present], weights=weight[present]).x
        at = np.clip(np.searchsorted(present, np.arange(len(won)), "right") - 1, 0, None)
        shares[row] = fitted[at]
    return shares


@dataclass(frozen=True, repr=False)
class ReliabilityDiagrams(Result):
    """Reliability diagrams of several evaluators or slices."""

    drawn_by = "reliability_diagrams"

    diagrams: tuple[Reliability, ...]
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `diagrams` has all figures."""
    coverage: Coverage | None = None

    def has_enough_games(self, diagram: Reliability) -> bool:
        """Whether a diagram has enough games for figures."""
        return diagram.games >= self.min_games

    @property
    def title(self) -> str:
        """One-line title."""
        return "Loss = miscalibration - discrimination + uncertainty"

    def table(self) -> pa.Table:
        """One row per point of each diagram with enough games."""
        enough = filter(self.has_enough_games, self.diagrams)
        rows = [(diagram, point) for diagram in enough for point in diagram.points]
        return table_of(_COLUMNS, rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """One row per evaluator, slice and loss."""
        heading = ("evaluator", "slice", "loss", *PARTS[1:], "mean loss", "positions", "games")
        return (
            heading,
            *(
                (
                    diagram.name,
                    diagram.condition or "all",
                    LOSS_TITLES[loss],
                    *(self._text(diagram, getattr(parts, part)) for part in PARTS[1:]),
                    self._text(diagram, parts.loss),
                    f"{diagram.positions:,}",
                    f"{diagram.games:,}",
                )
                for diagram in self.diagrams
                for loss, parts in diagram.losses.items()
            ),
        )

    def _text(self, diagram: Reliability, part: Estimate) -> str:
        return part.text(".4f") if self.has_enough_games(diagram) else TOO_FEW

    def notes(self) -> tuple[str, ...]:
        """Explain the parts, and list evaluators without a diagram."""
        notes = [
            f"{diagram.label}: no curve maps the scores to probabilities."
            for diagram in self.diagrams
            if not diagram.points
        ]
        if few := sum(not self.has_enough_games(each) for each in self.diagrams):
            notes.append(too_few_note(few, self.min_games))
        notes.append(
            "Miscalibration: loss that isotonic recalibration removes; discrimination: loss that "
            "the order of the evaluations saves; intervals correct for overfitting."
        )
        return tuple(notes)


_COLUMNS: Final[Columns[tuple[Reliability, ReliabilityPoint]]] = {
    "evaluator": (TEXT, lambda row: row[0].name),
    "condition": (TEXT, lambda row: row[0].condition),
    "claim": (NUMBER, lambda row: row[1].claim),
    "share": (NUMBER, lambda row: row[1].share),
    "low": (NUMBER, lambda row: row[1].low),
    "high": (NUMBER, lambda row: row[1].high),
    "positions": (COUNT, lambda row: row[1].positions),
}
