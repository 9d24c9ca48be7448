# SPDX-License-Identifier: Apache-2.0
"""How far curves lie apart where a feature is large or small, before and after a fit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import Departure, Sample, condition_gap
from hyoka.learning.sigmoid import Array

_SHARE: Final = 0.2
"""Of the positions, how many should satisfy a condition."""
_FEWEST: Final = 100
"""Positions that a condition must have: Takeuchi 2010's least for a point of a curve."""


@dataclass(frozen=True)
class GapChange:
    """The gap between a condition's curve and the curve of all, before and after a fit."""

    condition: str
    positions: int
    games: int
    before: Departure
    after: Departure


def gap_changes(
    before: Sample, after: Sample, conditions: Mapping[str, NDArray[np.bool_]]
) -> tuple[GapChange, ...]:
    """The gaps of conditions over the same positions with the scores before and after."""
    return tuple(
        GapChange(
            condition,
            int(holds.sum()),
            len(np.unique(before.games[holds])),
            condition_gap(before, holds).level,
            condition_gap(after, holds).level,
        )
        for condition, holds in conditions.items()
    )


def extremes(traits: Mapping[str, Array]) -> dict[str, NDArray[np.bool_]]:
    """For each trait where it is large and where it is small, as text and as truth values.

    Large and small are the fifth of the positions with the greatest and the least amounts, or fewer
    where many are equal. Conditions with fewer than a hundred positions are left out.
    """
    return {
        condition: holds
        for name, trait in traits.items()
        for condition, holds in _extremes_of(name, trait)
    }


def _extremes_of(name: str, trait: Array) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for sign, relation in ((1, ">="), (-1, "<=")):
        amounts, counts = np.unique(sign * trait, return_counts=True)
        reached = np.cumsum(counts[::-1])[::-1]  # positions with this amount or more
        few = np.flatnonzero(reached <= _SHARE * len(trait))
        # Where even the greatest amount is common, it alone.
        threshold = amounts[few[0] if len(few) else -1] if len(amounts) > 1 else np.inf
        holds = sign * trait >= threshold
        if holds.sum() >= _FEWEST:
            yield f"{name} {relation} {sign * threshold:.4g}", holds
