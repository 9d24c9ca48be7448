# SPDX-License-Identifier: Apache-2.0
"""How far the curve of some positions lies from the curve of all.

Two departures are measured, both in win probability, at equal values:

- *level*: how much more often the first player won than the total curve says. Above zero the
  evaluation underestimates the first player there.
- *lean*: how much more often the side that the total curve favours won than it says. Below zero the
  evaluation is too sure of itself there, above zero too cautious.

Each is a mean over the condition's positions. It is tested by the variance between games that it
would have without an effect, with Student's t for as many games as carry information; its interval
goes by the variance between games that is left beside the effect (sandwich). Within a bin the
condition counts less its share there, which takes into account that the total curve was drawn from
the same games.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hyoka import _core
from hyoka.analysis.binning import AdaptiveBins, Binning
from hyoka.analysis.resampling import Resampling, probability_text
from hyoka.analysis.result import Result
from hyoka.analysis.sample import Reals, Sample
from hyoka.estimate import Estimate

if TYPE_CHECKING:
    import altair

Kind = Literal["level", "lean"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LEAST_POSITIONS: Final = 100
_GAMES_A_BIN: Final = 10
"""The total curve may not learn more from the games than they can tell: a bin for every so many."""
_MOST_BINS: Final = 200
_SHARED: Final = 50
"""Positions that a bin needs to be part of the range that two curves share."""
_NOTHING: Final = 1e-9
"""An error below this is rounding: the condition holds for the same share of every game."""


@dataclass(frozen=True, slots=True)
class Departure:
    """How far one condition's curve lies from the total curve, one way or the other."""

    kind: Kind
    effect: Estimate
    """In win probability, at equal values."""
    error: float
    """Its standard error, the games being what chance drew."""
    p_value: float
    clusters: float

    def __str__(self) -> str:
        return f"{self.effect.value:+.3f} ± {self.error:.3f}"


@dataclass(frozen=True, slots=True)
class ConditionGap:
    """A condition's curve against the curve of all."""

    positions: int
    games: int
    level: Departure
    lean: Departure

    def departure(self, kind: Kind) -> Departure:
        """One of the two."""
        return self.level if kind == "level" else self.lean


def condition_gap(
    sample: Sample,
    holds: NDArray[np.bool_],
    *,
    binning: Binning | None = None,
    confidence: float = 0.95,
    edges: Reals | None = None,
) -> ConditionGap:
    """How far the curve of some positions lies from the curve of all.

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
    """Bins in which values count as equal: as many positions each, few enough for the games."""
    games = len(np.unique(sample.games))
    number = min(max(games // _GAMES_A_BIN, 5), _MOST_BINS)
    return AdaptiveBins(positions=max(len(sample) // number, 1), games=1, error=math.inf)


def _departure(kind: Kind, measured: _core.Departure, confidence: float) -> Departure:
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415 - slow to import

    effect, clusters = measured.effect, measured.clusters
    if not (measured.null_error > _NOTHING and clusters > 1):
        return Departure(kind, Estimate(effect, math.nan, math.nan), math.nan, 1.0, clusters)
    freedom = clusters - 1
    p_value = 2 * float(stdtr(freedom, -abs(effect) / measured.null_error))
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * measured.error
    interval = Estimate(effect, effect - half, effect + half)
    return Departure(kind, interval, measured.error, p_value, clusters)


@dataclass(frozen=True, slots=True)
class Distance:
    """Two curves over the range that both have: what lies between them."""

    signed_area: float
    """Mean gap over the shared range, every value counting alike."""
    largest_gap: float
    at: float
    """The value where the gap is largest."""
    p_value: float
    """Of the largest gap, all bins considered, games drawn again; NaN without resamples."""
    shared: tuple[float, float]


def curve_distance(
    sample: Sample,
    holds: NDArray[np.bool_],
    *,
    edges: Reals,
    least_positions: int = LEAST_POSITIONS,
    resampling: Resampling | None = None,
) -> Distance | None:
    """The distance of a conditioned curve from the total curve; None if they share no bin."""
    resampling = resampling or Resampling()
    part = sample.where(holds)
    all_bins, part_bins = sample.ranking.bins(edges), part.ranking.bins(edges)
    shared = np.flatnonzero(
        (part_bins[:, 5] >= least_positions) & (all_bins[:, 5] >= least_positions)
    )
    shared = shared[np.isfinite(edges[shared]) & np.isfinite(edges[shared + 1])]
    if not len(shared):
        return None
    gaps = part_bins[shared, 1] / part_bins[shared, 0] - all_bins[shared, 1] / all_bins[shared, 0]
    widths = np.diff(edges)[shared]
    worst = int(np.argmax(np.abs(gaps)))
    p_value = math.nan
    if resampling.resamples:
        drawn = [
            each.ranking.resampled_bins(
                edges, resampling.resamples, resampling.seed, resampling.threads
            )[:, shared]
            for each in (part, sample)
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = drawn[0][:, :, 0] / drawn[0][:, :, 1] - drawn[1][:, :, 0] / drawn[1][:, :, 1]
        moved = np.where(np.isfinite(moved), moved, gaps)
        spread = np.maximum(moved.std(axis=0), 1e-9)
        seen = float(np.max(np.abs(gaps) / spread))
        chance = np.max(np.abs(moved - gaps) / spread, axis=1)
        p_value = float((np.sum(chance >= seen) + 1) / (len(chance) + 1))
    middle = all_bins[shared[worst], 2] / max(all_bins[shared[worst], 3], 1e-9)
    return Distance(
        float((gaps * widths).sum() / widths.sum()),
        float(gaps[worst]),
        float(middle),
        p_value,
        (float(edges[shared[0]]), float(edges[shared[-1] + 1])),
    )


@dataclass(frozen=True)
class NamedGap:
    """A condition's curve against the curve of all, and whose and which."""

    evaluator: str
    condition: str
    gap: ConditionGap
    distance: Distance | None
    """None where the two curves share no bin of enough positions."""


def named_gap(
    sample: Sample, condition: str, holds: NDArray[np.bool_], *, resampling: Resampling
) -> NamedGap:
    """How far a condition's curve lies from the curve of all."""
    edges = matching_bins(sample).cuts(sample).edges
    gap = condition_gap(sample, holds, edges=edges, confidence=resampling.confidence)
    distance = curve_distance(
        sample, holds, edges=edges, least_positions=_SHARED, resampling=resampling
    )
    return NamedGap(sample.name, condition, gap, distance)


@dataclass(frozen=True)
class Gaps(Result):
    """How far the curves of conditions lie from the curves of all positions."""

    parts: tuple[NamedGap, ...]

    def __iter__(self) -> Iterator[NamedGap]:
        return iter(self.parts)

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return "How far the parts' curves lie from the curve of all positions"

    def table(self) -> pa.Table:
        """A row an evaluator and condition."""
        rows = []
        for part in self.parts:
            row: dict[str, object] = {"evaluator": part.evaluator, "condition": part.condition}
            for departure in (part.gap.level, part.gap.lean):
                row |= {
                    departure.kind: departure.effect.value,
                    f"{departure.kind}_low": departure.effect.low,
                    f"{departure.kind}_high": departure.effect.high,
                    f"{departure.kind}_p": departure.p_value,
                }
            if part.distance is not None:
                row |= {
                    "signed_area": part.distance.signed_area,
                    "largest_gap": part.distance.largest_gap,
                    "largest_gap_at": part.distance.at,
                    "largest_gap_p": part.distance.p_value,
                }
            rows.append(row | {"positions": part.gap.positions, "games": part.gap.games})
        return pa.Table.from_pylist(rows, schema=_TABLE)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows that people read."""
        heading = (
            "evaluator", "condition", "level", "p", "lean", "p", "area", "largest gap", "p",
        )  # fmt: skip
        rows = []
        for part in self.parts:
            cells = [part.evaluator, part.condition]
            for departure in (part.gap.level, part.gap.lean):
                cells += [departure.effect.text("+.3f"), probability_text(departure.p_value)]
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
        """What to know about it."""
        return (
            "Level: win probability of the first player beyond the curve of all, at equal values; "
            "lean: of the side that curve favours. Area: the mean gap over the range both have.",
        )

    def chart(self) -> "altair.TopLevelMixin":
        """The departures with their intervals."""
        from hyoka.analysis.charts import gap_dots  # noqa: PLC0415 - slow to import

        return gap_dots(self)


_TABLE: Final = pa.schema(
    [
        ("evaluator", pa.string()),
        ("condition", pa.string()),
        *((f"level{end}", pa.float64()) for end in ("", "_low", "_high", "_p")),
        *((f"lean{end}", pa.float64()) for end in ("", "_low", "_high", "_p")),
        ("signed_area", pa.float64()),
        *((f"largest_gap{end}", pa.float64()) for end in ("", "_at", "_p")),
        ("positions", pa.int64()),
        ("games", pa.int64()),
    ]
)
