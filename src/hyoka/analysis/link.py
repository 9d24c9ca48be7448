# SPDX-License-Identifier: Apache-2.0
"""What a curve makes of a score, so that a few badly wrong ones do not rule it.

A plain logistic curve takes every score at its word: the odds grow with every point. A win that was
announced in a game then lost costs it so much that it turns away from all the others. A link takes
no score for more than a limit, and beyond a bend the score's logarithm for it. Where the two lie is
chosen by games that the curve was not fitted to.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Ranking
from hyoka.errors import StudyError

_LEAST_GAIN: Final = 0.0005
"""Of two links the straighter one is taken, unless the other's surprise is less by this share."""
_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class Link:
    """x = bend · asinh(score / bend) of scores up to the limit; infinite where there is none.

    >>> Link(bend=100)(np.array([1.0, 10_000.0])).round(1).tolist()
    [1.0, 529.8]
    >>> Link(limit=300)(np.array([-2000.0, 50.0])).tolist()
    [-300.0, 50.0]
    """

    bend: float = math.inf
    limit: float = math.inf

    def __post_init__(self) -> None:
        for name, value in (("bends", self.bend), ("has its limit", self.limit)):
            if not value > 0:
                raise StudyError(f"a curve {name} at a positive score, not at {value:g}")

    @property
    def is_straight(self) -> bool:
        """Whether scores are taken as they are."""
        return math.isinf(self.bend) and math.isinf(self.limit)

    def __call__(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """What is made of scores."""
        within = np.clip(scores.astype(np.float64), -self.limit, self.limit)
        return within if math.isinf(self.bend) else self.bend * np.arcsinh(within / self.bend)

    def score(self, x: float) -> float:
        """The score that is taken as x; that of the limit where x lies beyond.

        >>> round(Link(bend=200).score(float(Link(bend=200)(np.array([700.0]))[0])))
        700
        """
        bent = math.isfinite(self.bend) and math.isfinite(x)
        score = self.bend * math.sinh(max(min(x / self.bend, 700.0), -700.0)) if bent else x
        return max(min(score, self.limit), -self.limit)

    def __str__(self) -> str:
        parts = [("bend", self.bend), ("limit", self.limit)]
        words = [f"{name} {value:g}" for name, value in parts if math.isfinite(value)]
        return ", ".join(words) or "straight"


STRAIGHT: Final = Link()


def best_link(ranking: Ranking, scores: NDArray[Any]) -> Link:
    """The link by which games that a curve was not fitted to surprise it least.

    Tried are bends and limits at 1, 2 and 5 times powers of ten among the scores, and none; the
    one and the other in turn.
    """
    sizes = np.abs(scores[np.isfinite(scores) & (scores != 0)])
    if not len(sizes):
        return STRAIGHT
    low, middle, high = np.quantile(sizes, [0.05, 0.5, 0.995]).tolist()
    link = STRAIGHT
    for _ in range(_ROUNDS):
        bends = [Link(bend, link.limit) for bend in _nice_between(low, high)]
        link = _least_surprised(ranking, bends)
        limits = [Link(link.bend, limit) for limit in _nice_between(middle, high)]
        link = _least_surprised(ranking, limits)
    return link


def _nice_between(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two numbers, and infinity."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    nice = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [*(number for number in nice if low <= number <= high), math.inf]


def _least_surprised(ranking: Ranking, links: list[Link]) -> Link:
    """The best of links, the straightest last; that one where nothing can be said."""
    losses = ranking.held_out_losses(
        np.array([link.bend for link in links]), np.array([link.limit for link in links])
    )
    if not np.isfinite(losses).any():
        return links[-1]
    as_good = np.flatnonzero(losses <= (1 + _LEAST_GAIN) * np.nanmin(losses))
    return links[int(as_good[-1])]
