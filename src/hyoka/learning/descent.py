# SPDX-License-Identifier: Apache-2.0
"""How weights go downhill: by gradients, with a price on every weight that is not 0."""

from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]


class Descent(Protocol):
    """A way to change weights by a gradient; what it remembers is saved with them."""

    memory: dict[str, Weights]

    def step(self, weights: Weights, gradient: Weights, l1: float, rate: float) -> None:
        """Change weights in place."""


def shrunk(weights: Weights, by: Weights | float) -> Weights:
    """The proximal step of L1: nearer to 0 by so much, and 0 where that would cross it.

    >>> shrunk(np.array([3.0, 0.5, -2.0], np.float32), 1.0).tolist()
    [2.0, 0.0, -1.0]
    """
    found: Weights = np.sign(weights) * np.maximum(np.abs(weights) - by, 0)
    return found.astype(np.float32, copy=False)


@dataclass
class Plain:
    """Gradient descent as it is: a step of `rate` times the gradient."""

    memory: dict[str, Weights] = field(default_factory=dict)

    def step(self, weights: Weights, gradient: Weights, l1: float, rate: float) -> None:
        """Down the gradient, then towards 0."""
        weights[:] = shrunk(weights - np.float32(rate) * gradient, rate * l1)


@dataclass
class Adaptive:
    """Adam: steps of about `rate` in the score's unit, whatever the gradients' sizes.

    A weight whose gradients are small beside `damping` is of a rare feature, and moves less.
    """

    damping: float = 1.0
    momentum: float = 0.8
    memory_of_squares: float = 0.95
    memory: dict[str, Weights] = field(default_factory=dict)

    def step(self, weights: Weights, gradient: Weights, l1: float, rate: float) -> None:
        """Down the mean of the last gradients, then towards 0."""
        if not self.memory:
            self.memory = {
                "mean": np.zeros_like(weights),
                "squares": np.zeros_like(weights),
                "steps": np.zeros(1, np.float32),
            }
        self.memory["steps"] += 1
        steps = float(self.memory["steps"][0])
        mean, squares = self.memory["mean"], self.memory["squares"]
        mean *= self.momentum
        mean += np.float32(1 - self.momentum) * gradient
        squares *= self.memory_of_squares
        squares += np.float32(1 - self.memory_of_squares) * gradient * gradient
        size = np.sqrt(squares / np.float32(1 - self.memory_of_squares**steps))
        size += np.float32(max(self.damping, 1e-12))  # what is never pushed stays
        pace = np.float32(rate) / size
        moved = weights - pace * mean / np.float32(1 - self.momentum**steps)
        weights[:] = shrunk(moved, pace * np.float32(l1))


DESCENTS: Final = {"adaptive": Adaptive, "plain": Plain}
