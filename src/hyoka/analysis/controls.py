# SPDX-License-Identifier: Apache-2.0
"""What else may explain a split: who speaks, who plays, how far the game has come.

Where each player comments its own moves, a condition such as "White is to move" picks positions of
which Black spoke; where the stronger player mostly has Black, a condition may pick its games; kos
come late, and an evaluator that is too cautious late is so at kos. The curve of such positions
departs from the curve of all, and the condition has nothing to do with it. So a split is measured
again at equal values *and* equal strata of what may explain it: what is then left is the
condition's own.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis.conditions import Condition
from hyoka.analysis.gaps import Departure, Equals, Kind
from hyoka.estimate import Estimate

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
    columns: frozenset[str] = frozenset()
    """The columns that it is made of: it explains no condition that is on these alone."""

    def where(self, chosen: NDArray[Any]) -> "Control":
        """The same for some of the positions."""
        return replace(self, strata=self.strata[chosen])

    def is_about(self, condition: Condition) -> bool:
        """Whether a condition says nothing but where the strata are."""
        return all(self.columns & set(re.findall(r"\w+", name)) for name in condition.columns)


@dataclass(frozen=True, eq=False)
class Held:
    """A sample in which a control is held equal: positions are compared within its strata only."""

    control: Control
    equals: Equals
    """With the control."""
    otherwise: Equals
    """Without it."""

    @classmethod
    def of(cls, control: Control, otherwise: Equals) -> "Held":
        """Positions as they are compared otherwise, and a control beside."""
        return cls(control, otherwise.where_also(control.strata), otherwise)

    def left(self, holds: NDArray[np.bool_], kind: Kind) -> Departure:
        """What is left of a condition's effect, on the scale that the effect itself has.

        Within strata a condition may hold for most of its equals, and a gap then shows less of the
        same difference.
        """
        departure = self.equals.gap(holds).departure(kind)
        contrast = self.equals.contrast(holds)
        if not contrast > 0:
            return departure
        times = self.otherwise.contrast(holds) / contrast
        effect = departure.effect
        scaled = Estimate(times * effect.value, times * effect.low, times * effect.high)
        return replace(departure, effect=scaled, error=times * departure.error)


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


def explaining(effect: Departure, condition: Condition, helds: Sequence[Held]) -> Held | None:
    """What explains a condition's effect: the first control that leaves too little of it."""
    for held in helds:
        if held.control.is_about(condition):
            continue
        left = held.left(condition.holds, effect.kind)
        zero_inside = not (left.effect.low > 0 or left.effect.high < 0)
        little = abs(left.effect.value) < _LEAST_LEFT * abs(effect.effect.value)
        turned = left.effect.value * effect.effect.value < 0
        blurred = not left.error < _BLURRED * effect.error
        if turned or (zero_inside and (little or blurred)):
            return held
    return None
