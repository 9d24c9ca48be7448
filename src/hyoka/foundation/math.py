# SPDX-License-Identifier: Apache-2.0
"""Estimates with intervals, the logistic function, Newton's method, and seeds from numbers."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Derivatives = TypeVar("Derivatives")

_ASYMMETRY: Final = 0.5
"""The difference of both arms, as a share of the half-width."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with an interval; an end may be infinite, or NaN if unknown, as by default.

    >>> print(Estimate(0.63154, 0.61222, 0.65041))
    0.632 (0.612 to 0.650)
    >>> -Estimate(1, 0, 3)
    Estimate(value=-1, low=-3, high=0)
    """

    value: float
    low: float = math.nan
    high: float = math.nan

    def columns(self, name: str) -> dict[str, float]:
        """The value and the ends as columns of a table.

        >>> Estimate(2, 1, 3).columns("elo")
        {'elo': 2, 'elo_low': 1, 'elo_high': 3}
        """
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

    @property
    def ends(self) -> tuple[float, float]:
        """Set the interval's ends; the value itself if unknown."""
        is_finite = not (math.isnan(self.low) or math.isnan(self.high))
        return (self.low, self.high) if is_finite else (self.value, self.value)

    def __neg__(self) -> "Estimate":
        return Estimate(-self.value, -self.high, -self.low)

    def __str__(self) -> str:
        return self.text(".3f")

    @property
    def is_asymmetric(self) -> bool:
        """Whether the arms of the interval differ so much that no half-width describes it.

        >>> Estimate(0.5, 0.4, 0.6).is_asymmetric, Estimate(0.1, 0.018, 0.404).is_asymmetric
        (False, True)
        """
        half = (self.high - self.low) / 2
        return abs(self.high + self.low - 2 * self.value) > _ASYMMETRY * half

    def short_text(self, spec: str) -> str:
        """Format the value with ± if the interval is symmetric, else with both ends.

        >>> Estimate(0.5, 0.4, 0.6).short_text(".2f"), Estimate(0.1, 0, 0.4).short_text(".2f")
        ('0.50 ± 0.10', '0.10 (0.00 to 0.40)')
        """
        half = (self.high - self.low) / 2
        if not math.isfinite(half) or math.isnan(self.value) or self.is_asymmetric:
            return self.text(spec)
        return f"{self.value:{spec}} ± {half:{spec}}"

    def text(self, spec: str) -> str:
        """Format the value and its interval, if any, by `spec`."""
        if math.isnan(self.value):
            return "–"
        if math.isnan(self.low) or math.isnan(self.high):
            return format(self.value, spec)
        return f"{self.value:{spec}} ({self.low:{spec}} to {self.high:{spec}})"

    def as_json(self) -> dict[str, float | None]:
        """The value and the ends for JSON: null for infinity."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: end if math.isfinite(end) else None for name, end in ends.items()}

    def elo_text(self) -> str:
        """An Elo difference with its interval: a half-width if symmetric, else both ends."""
        if math.isfinite(self.value) and math.isfinite(self.low) and math.isfinite(self.high):
            up, down = self.high - self.value, self.value - self.low
            if abs(up - down) < 0.1 * max(up, down, 1):
                return f"{self.value:+.0f} ± {(up + down) / 2:.0f}"
        ends = [f"{end:+.0f}" if math.isfinite(end) else "∞" for end in (self.low, self.high)]
        value = (
            f"{self.value:+.0f}"
            if math.isfinite(self.value)
            else ("+∞" if self.value > 0 else "−∞")
        )
        return f"{value} ({ends[0].replace('∞', '−∞')} to {ends[1]})"


def independent_difference(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two independent estimates, with an interval by MOVER.

    MOVER (method of variance estimates recovery) combines the arm of each interval that points the
    same way, so that asymmetric intervals stay asymmetric. For Wilson intervals of proportions it
    is Newcombe's hybrid score interval.

    >>> independent_difference(Estimate(5, 2, 8), Estimate(1, -3, 5))
    Estimate(value=4, low=-1.0, high=9.0)
    >>> independent_difference(Estimate(0.0, 0.0, 0.6), Estimate(0.1, 0.1, 0.1))
    Estimate(value=-0.1, low=-0.1, high=0.5)
    """
    value = one.value - other.value
    below = math.hypot(one.value - one.low, other.high - other.value)
    above = math.hypot(one.high - one.value, other.value - other.low)
    return Estimate(value, value - below, value + above)


@overload
def logistic(x: float) -> float: ...
@overload
def logistic(x: NDArray[Any]) -> NDArray[np.float64]: ...
def logistic(x: Any) -> Any:
    """1 / (1 + exp(-x)) of a number or an array, without overflow.

    >>> logistic(0.0), logistic(-1000.0), logistic(np.array([0.0, 1000.0])).tolist()
    (0.5, 0.0, [0.5, 1.0])
    """
    if isinstance(x, float | int):
        small = math.exp(-abs(x))
        return (1 if x >= 0 else small) / (1 + small)
    powers = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, powers) / (1 + powers))


def damped_newton(
    start: NDArray[np.float64],
    evaluate: Callable[[NDArray[np.float64]], tuple[float, Derivatives]],
    newton_step: Callable[[NDArray[np.float64], Derivatives], tuple[NDArray[np.float64], bool]],
    *,
    steps: int,
    rounding: float = 1e-12,
    least: float = 1e-12,
    on_step: Callable[[float], None] | None = None,
) -> tuple[NDArray[np.float64], bool]:
    """Minimize a function by Newton's method; return the point, and whether it converged.

    `evaluate` returns the function and its derivatives at a point, `newton_step` the step from
    there and whether it is small enough to be the last. A step that increases the function by more
    than its `rounding` error is halved. The method fails at a share below `least`, at a
    singular Hessian (`LinAlgError`), and after `steps` steps. `on_step` gets each new value.

    >>> def cosh(x):
    ...     return float(np.cosh(x[0])), np.tanh(x)
    >>> damped_newton(np.array([1.0]), cosh, lambda x, t: (-t, abs(t[0]) < 1e-9), steps=9)
    (array([0.]), True)
    """
    point, (value, derivatives) = start, evaluate(start)
    for _ in range(steps):
        try:
            step, is_last = newton_step(point, derivatives)
        except np.linalg.LinAlgError:
            break
        share = 1.0
        while True:
            beyond = point + share * step
            new_value, new_derivatives = evaluate(beyond)
            if new_value <= value + rounding * (1 + abs(value)):
                break
            share /= 2
            if share < least:
                return point, False
        point, value, derivatives = beyond, new_value, new_derivatives
        if on_step is not None:
            on_step(value)
        if is_last and share == 1:
            return point, True
    return point, False


def derive_seed(*numbers: int) -> int:
    """A 48-bit seed that depends on all the numbers and their order.

    >>> derive_seed(1, 2) == derive_seed(1, 2), derive_seed(1, 2) == derive_seed(2, 1)
    (True, False)
    """
    digest = hashlib.sha256(repr(numbers).encode()).digest()
    return int.from_bytes(digest[:6], "little")
