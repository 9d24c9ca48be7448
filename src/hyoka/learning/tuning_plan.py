# SPDX-License-Identifier: Apache-2.0
"""What the tuner fits, and what holds it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyoka.errors import ParameterError, named
from hyoka.learning.sigmoid import Method
from hyoka.learning.sparse_fit import usual_threads

Amount = float | tuple[float, float]
"""A weight; or one in the opening and one in the ending."""


@dataclass(frozen=True, kw_only=True)
class TuningPlan:
    """What is fitted, and what holds it. Features are named, or meant by patterns such as `pst_*`.

    Where numbers go with names, a name itself goes before patterns.

    >>> TuningPlan(l2=1.0, bounds={"mobility": (0, 40)}).l2
    1.0
    """

    method: Method = "mlm"
    start: Mapping[str, Amount] = field(default_factory=dict)
    """Weights to begin with, to compare with, and that L1 and L2 pull towards; else 0."""
    frozen: Sequence[str] = ()
    """Features that keep the weights to begin with."""
    untapered: Sequence[str] = ()
    """Features with one weight for opening and ending, though the table knows phases."""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and the most that weights may be."""
    l1: float = 0.0
    l2: float = 0.0
    """Penalties of the summed loss, of weights in units of the scale."""
    scale: float | None = None
    """So great a score turns odds by e."""
    anchor: tuple[str, float] | None = None
    """A feature and its weight, which sets the scale. With phases the feature has this one weight
    in the opening and in the ending."""
    mix: float = 1.0
    """How much of the target is the result; the rest is what another evaluator says."""
    hold_out: float = 0.2
    seed: int = 0
    confidence: float = 0.95
    resamples: int = 1000
    threads: int = field(default_factory=usual_threads)

    def __post_init__(self) -> None:
        for name in ("l1", "l2"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ParameterError(name, f"is 0 or more, not {getattr(self, name)}")
        if not 0 <= self.mix <= 1:
            raise ParameterError("mix", f"is from 0 to 1, not {self.mix:g}")
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise ParameterError("scale", f"is above 0, not {self.scale:g}")
        if self.scale is not None and self.anchor is not None:
            raise ParameterError("anchor", f"finds the scale; {named('scale')} gives it: not both")
        if self.anchor is not None and not self.anchor[1] != 0:
            raise ParameterError("anchor", "has a weight other than 0")
        for name, (low, high) in self.bounds.items():
            if not low <= high:
                raise ParameterError("bounds", f"of {name} are {low:g} to {high:g}: none between")
