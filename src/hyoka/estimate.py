# SPDX-License-Identifier: Apache-2.0
"""A number that was measured, and how well."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the ends of its interval; an end may be infinite, or NaN where none is known.

    >>> print(Estimate(0.63154, 0.61222, 0.65041))
    0.632 (0.612 to 0.650)
    >>> -Estimate(1, 0, 3)
    Estimate(value=-1, low=-3, high=0)
    """

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """Of the interval; the value itself, twice, where none is known."""
        known = not (math.isnan(self.low) or math.isnan(self.high))
        return (self.low, self.high) if known else (self.value, self.value)

    def __neg__(self) -> "Estimate":
        return Estimate(-self.value, -self.high, -self.low)

    def __str__(self) -> str:
        return self.text(".3f")

    def text(self, spec: str) -> str:
        """The value and, where there is one, its interval, each as `spec` formats it."""
        if math.isnan(self.value):
            return "–"
        if math.isnan(self.low) or math.isnan(self.high):
            return format(self.value, spec)
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"
