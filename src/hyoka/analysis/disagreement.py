# SPDX-License-Identifier: Apache-2.0
"""Where two evaluators differ most, and which of them was right."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from hyoka.analysis.calibration import fit_logistic, probabilities
from hyoka.analysis.coverage import Coverage
from hyoka.analysis.curves import share_of
from hyoka.analysis.resampling import Resampling
from hyoka.analysis.result import Result
from hyoka.analysis.sample import Reals, Sample
from hyoka.errors import StudyError
from hyoka.estimate import Estimate

if TYPE_CHECKING:
    import altair

CUTS: Final = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Differences in probability, from here to the next."""


@dataclass(frozen=True, slots=True)
class Disputed:
    """A position of which two evaluators think differently."""

    row: int
    """Where it is in what the samples were taken from."""
    one: float
    other: float
    """What each says as a probability."""
    result: float
    game: int = -1
    ply: int = -1
    """Which position of which game of a study; -1 outside of studies."""
    text: str = ""
    """The position as text, in a study."""

    @property
    def right(self) -> str | None:
        """`one` or `other`, whose probability was nearer to the result; None if both were."""
        one, other = abs(self.one - self.result), abs(self.other - self.result)
        if math.isclose(one, other):
            return None
        return "one" if one < other else "other"


@dataclass(frozen=True, slots=True)
class DisputeBand:
    """All positions where the two differ by about so much."""

    low: float
    high: float
    positions: int
    games: int
    one_right: Estimate
    """How often the first one was nearer to the result."""


@dataclass(frozen=True, repr=False)
class Disagreement(Result):
    """Two evaluators on the same positions: how far apart, and who was right."""

    one: str
    other: str
    bands: tuple[DisputeBand, ...]
    disputed: tuple[Disputed, ...]
    """The positions where they differ most, no two of one game, the widest apart first."""
    coverage: Coverage | None = None

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Where {self.one} and {self.other} differ, and who was right"

    def table(self) -> pa.Table:
        """A row a disputed position."""
        names = {"one": self.one, "other": self.other, None: None}
        rows: list[dict[str, object]] = [
            {
                "row": each.row,
                "game_id": each.game,
                "ply": each.ply,
                "one": self.one,
                "one_says": each.one,
                "other": self.other,
                "other_says": each.other,
                "result": each.result,
                "right": names[each.right],
                "position": each.text or None,
            }
            for each in self.disputed
        ]
        return pa.Table.from_pylist(rows, schema=_TABLE)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows that people read."""
        heading = ("differ by", f"{self.one} right", "positions", "games")
        rows = [
            (
                f"{band.low:.2f} to {band.high:.2f}",
                band.one_right.text(".1%"),
                f"{band.positions:,}",
                f"{band.games:,}",
            )
            for band in self.bands
        ]
        return (heading, *rows)

    def chart(self) -> "altair.TopLevelMixin":
        """How often the first one was right, by how far they differ."""
        from hyoka.analysis.charts import dispute_dots  # noqa: PLC0415 - slow to import

        return dispute_dots(self)


_TABLE: Final = pa.schema(
    [
        ("row", pa.int64()),
        ("game_id", pa.int64()),
        ("ply", pa.int64()),
        ("one", pa.string()),
        ("one_says", pa.float64()),
        ("other", pa.string()),
        ("other_says", pa.float64()),
        ("result", pa.float64()),
        ("right", pa.string()),
        ("position", pa.string()),
    ]
)


def disagreement(
    one: Sample, other: Sample, *, top: int = 20, resampling: Resampling | None = None
) -> Disagreement:
    """Where two evaluators differ on the same positions; scores count as their logistic curve says.

    Which one was right is told by the result: the one whose probability was nearer to it.
    """
    if len(one) != len(other) or not np.array_equal(one.games, other.games):
        raise StudyError("evaluators are compared on the same positions only")
    resampling = resampling or Resampling()
    p, q = _probabilities(one), _probabilities(other)
    apart = np.abs(p - q)
    off, other_off = np.abs(p - one.results), np.abs(q - one.results)
    # Both as near is half a point for each.
    nearer = np.where(np.isclose(off, other_off), 0.5, (off < other_off).astype(np.float64))
    bands = []
    for low, high in zip(CUTS, (*CUTS[1:], 1.0), strict=True):
        inside = (apart >= low) & ((apart < high) | (high == 1.0))
        if not inside.any():
            continue
        point = share_of(nearer[inside], one.games[inside], resampling)
        ends = (point.low, point.high) if resampling.resamples else (math.nan, math.nan)
        bands.append(
            DisputeBand(low, high, point.positions, point.games, Estimate(point.share, *ends))
        )
    order = np.argsort(-apart, kind="stable")
    _, firsts = np.unique(one.games[order], return_index=True)
    widest = order[np.sort(firsts)[:top]]
    rows = widest if one.rows is None else one.rows[widest]
    disputed = tuple(
        Disputed(int(row), float(p[i]), float(q[i]), float(one.results[i]))
        for row, i in zip(rows.tolist(), widest.tolist(), strict=True)
        if apart[i] > 0
    )
    return Disagreement(one.name, other.name, tuple(bands), disputed)


def _probabilities(sample: Sample) -> Reals:
    claims = probabilities(sample)
    if claims is None:
        why = fit_logistic(sample).why_none
        raise StudyError(f"{sample.name}: its scores can't be told as probabilities: {why}")
    return claims
