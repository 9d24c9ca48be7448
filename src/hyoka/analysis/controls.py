# SPDX-License-Identifier: Apache-2.0
"""What else may explain a split: who speaks, who plays.

Where each player comments its own moves, a condition such as "White is to move" picks positions of
which Black spoke; where the stronger player mostly has Black, a condition may pick its games. The
curve of such positions departs from the curve of all, and the evaluation has nothing to do with it.
So a split is measured again at equal values *and* equal strata of what may explain it: what is then
left is the condition's own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.gaps import ConditionGap, Departure, condition_gap, matching_bins
from hyoka.analysis.sample import Reals, Sample

_LEAST_LEFT: Final = 0.5
"""Of an effect so much must be left, or what was held equal explains it."""
_BLURRED: Final = 3.0
"""An error so many times as large says that the condition and what was held equal coincide."""


@dataclass(frozen=True, eq=False)
class Control:
    """Something about positions that may explain a split: a number of a stratum each."""

    name: str
    """As sentences say it: `who speaks`."""
    strata: NDArray[np.int64]

    def where(self, chosen: NDArray[Any]) -> "Control":
        """The same for some of the positions."""
        return Control(self.name, self.strata[chosen])


@dataclass(frozen=True, eq=False)
class Held:
    """A sample in which a control is held equal: positions are compared within its strata only."""

    sample: Sample
    control: Control

    @cached_property
    def _cells(self) -> tuple[Sample, Reals]:
        """The positions by stratum and bin of values, numbered, and the edges between numbers."""
        numbers = np.zeros(len(self.sample), np.int64)
        count = 0
        for stratum in np.unique(self.control.strata):
            here = self.control.strata == stratum
            part = self.sample.where(here)
            edges = matching_bins(part).cuts(part).edges
            bins = np.searchsorted(edges[1:-1], part.values.astype(np.float64), side="right")
            numbers[here] = count + bins
            count += max(len(edges) - 1, 1)
        cells = Sample(
            self.sample.name,
            self.sample.unit,
            numbers.astype(np.float32),
            self.sample.results,
            self.sample.games,
            self.sample.game_count,
            self.sample.weights,
        )
        return cells, np.arange(count + 1, dtype=np.float64) - 0.5

    def gap(self, holds: NDArray[np.bool_], confidence: float = 0.95) -> ConditionGap:
        """How far a condition's curve lies from the curve of all, the control held equal."""
        cells, edges = self._cells
        return condition_gap(cells, holds, edges=edges, confidence=confidence)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Something else that a split may come from."""

    control: str
    left: Departure
    """What is left of the effect where that is equal."""

    @property
    def sentence(self) -> str:
        """What to make of it."""
        effect = self.left.effect
        if math.isnan(effect.low):
            return f"It cannot be told apart from {self.control}."
        return (
            f"That goes with {self.control}: where that is equal, {100 * effect.value:+.1f} points "
            f"are left ({100 * effect.low:+.1f} to {100 * effect.high:+.1f})."
        )


def explaining(effect: Departure, holds: NDArray[np.bool_], helds: Sequence[Held]) -> Held | None:
    """What explains a condition's effect: the first control that leaves too little of it."""
    for held in helds:
        left = held.gap(holds).departure(effect.kind)
        zero_inside = not (left.effect.low > 0 or left.effect.high < 0)
        little = abs(left.effect.value) < _LEAST_LEFT * abs(effect.effect.value)
        turned = left.effect.value * effect.effect.value < 0
        blurred = not left.error < _BLURRED * effect.error
        if turned or (zero_inside and (little or blurred)):
            return held
    return None
