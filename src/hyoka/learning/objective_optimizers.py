# SPDX-License-Identifier: Apache-2.0
"""Black-box optimizers with an ask-and-tell interface, for noisy fitness from games.

Draws depend only on the seed and the reported fitness, so replaying the same calls reproduces them.
"""

import warnings
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import Error, ParameterError

Vector = NDArray[np.float64]


class Optimizer(Protocol):
    """A search distribution that moves toward fit vectors."""

    name: ClassVar[str]

    @property
    def batch(self) -> int:
        """Number of vectors that `ask` returns."""

    @property
    def mean(self) -> Vector:
        """Mean of the distribution."""

    @property
    def deviation(self) -> Vector:
        """Standard deviation of the distribution."""

    def ask(self) -> NDArray[np.float64]:
        """Draw new vectors, one per row."""

    def tell(self, vectors: NDArray[np.float64], fitness: Vector, new: NDArray[np.bool_]) -> None:
        """Report the fitness of a population; `new` marks the vectors asked for last."""


class Pbilc:
    """Population-based incremental learning for continuous spaces (Sato 2013).

        X <- (1 - α) X + α (X_best + X_second - X_worst)
        σ <- (1 - α) σ + α sd of the K best

    >>> pbilc = Pbilc(1, rate=0.5, best=2)
    >>> pbilc.tell(np.array([[2.0], [1.0], [0.0]]), np.array([30.0, 20.0, 10.0]), np.ones(3, bool))
    >>> pbilc.mean.tolist(), pbilc.deviation.tolist()
    ([2.0], [0.4])
    """

    name: ClassVar[str] = "pbilc"
    batch: int = 1

    def __init__(
        self,
        size: int,
        *,
        start: float = 1.0,
        deviation: float = 0.3,
        rate: float = 0.0025,
        best: int = 10,
        seed: int = 0,
    ) -> None:
        if not 0 < rate < 1:
            raise ParameterError("rate", f"is between 0 and 1, not {rate:g}")
        if best < 2:
            raise ParameterError("best", f"is at least 2, not {best}")
        self.mean = np.full(size, start)
        self.deviation = np.full(size, deviation)
        self._rate = rate
        self._best = best
        self._seed = seed
        self._asked = 0

    def ask(self) -> NDArray[np.float64]:
        """Draw one vector from the distribution."""
        self._asked += 1
        rng = np.random.default_rng([self._seed, self._asked])
        return rng.normal(self.mean, self.deviation)[None]

    def tell(self, vectors: NDArray[np.float64], fitness: Vector, new: NDArray[np.bool_]) -> None:
        """Move toward the two best vectors, away from the worst."""
        del new
        order = np.argsort(-fitness, kind="stable")
        target = vectors[order[0]] + vectors[order[1]] - vectors[order[-1]]
        spread = vectors[order[: self._best]].std(axis=0)
        self.mean = (1 - self._rate) * self.mean + self._rate * target
        self.deviation = (1 - self._rate) * self.deviation + self._rate * spread


class RandomSearch:
    """Random search: draws from the initial distribution and remembers the best vector."""

    name: ClassVar[str] = "random"
    batch: int = 1

    def __init__(
        self, size: int, *, start: float = 1.0, deviation: float = 0.3, seed: int = 0
    ) -> None:
        self.mean = np.full(size, start)
        self.deviation = np.full(size, deviation)
        self._start = self.mean
        self._seed = seed
        self._asked = 0

    def ask(self) -> NDArray[np.float64]:
        """Draw one vector."""
        self._asked += 1
        rng = np.random.default_rng([self._seed, self._asked])
        return rng.normal(self._start, self.deviation)[None]

    def tell(self, vectors: NDArray[np.float64], fitness: Vector, new: NDArray[np.bool_]) -> None:
        """Set the mean to the best vector."""
        del new
        self.mean = vectors[int(np.argmax(fitness))]


class Spsa:
    """Simultaneous perturbation stochastic approximation (Spall 1992), a gradient from two vectors.

    Step k compares the mean ± c_k Δ, with random signs Δ, and moves along Δ by a_k times the
    difference in fitness over 2 c_k. c_k falls as k^-0.101 and a_k as (k + A)^-0.602. A first
    difference of 100 (Elo) moves each coordinate by a tenth of the initial deviation.
    """

    name: ClassVar[str] = "spsa"
    batch: int = 2

    def __init__(
        self,
        size: int,
        *,
        start: float = 1.0,
        deviation: float = 0.3,
        steps: int = 100,
        seed: int = 0,
    ) -> None:
        self.mean = np.full(size, start)
        self._first = deviation
        self._delay = 0.1 * steps
        self._seed = seed
        self._asked = 0
        self._signs = np.ones(size)

    @property
    def _distance(self) -> float:
        return float(self._first * max(self._asked, 1) ** -0.101)

    @property
    def deviation(self) -> Vector:
        """Distance of the compared vectors from the mean."""
        return np.full_like(self.mean, self._distance)

    def ask(self) -> NDArray[np.float64]:
        """Return the mean moved along random signs, and against them."""
        self._asked += 1
        rng = np.random.default_rng([self._seed, self._asked])
        self._signs = rng.choice([-1.0, 1.0], len(self.mean))
        return self.mean + self._distance * np.outer([1.0, -1.0], self._signs)

    def tell(self, vectors: NDArray[np.float64], fitness: Vector, new: NDArray[np.bool_]) -> None:
        """Move along the gradient of the last two vectors; older vectors are ignored."""
        del vectors
        if int(new.sum()) == self.batch:
            better, worse = fitness[new]
            gain = 0.1 * self._first * ((1 + self._delay) / (self._asked + self._delay)) ** 0.602
            gain *= self._first / self._distance / 100
            self.mean = self.mean + gain * (better - worse) * self._signs


class CmaEs:
    """Covariance matrix adaptation evolution strategy, from the package `cma`."""

    name: ClassVar[str] = "cma"

    def __init__(
        self,
        size: int,
        *,
        start: float = 1.0,
        deviation: float = 0.3,
        batch: int = 0,
        seed: int = 0,
    ) -> None:
        try:
            with warnings.catch_warnings():  # cma warns if plotting packages are missing
                warnings.simplefilter("ignore")
                import cma  # noqa: PLC0415 - an extra
        except ImportError:
            raise Error("CMA-ES needs the package cma, of the extra hyoka[learn]") from None
        options: dict[str, Any] = {"seed": seed + 1, "verbose": -9}
        if batch:
            options["popsize"] = batch
        self._strategy = cma.CMAEvolutionStrategy(np.full(size, start), deviation, options)
        self.batch = int(self._strategy.popsize)

    @property
    def mean(self) -> Vector:
        """Mean of the distribution."""
        return np.asarray(self._strategy.mean)

    @property
    def deviation(self) -> Vector:
        """Standard deviation of the distribution."""
        return np.asarray(self._strategy.sigma * self._strategy.sm.variances**0.5)

    def ask(self) -> NDArray[np.float64]:
        """Draw a generation."""
        return np.asarray(self._strategy.ask())

    def tell(self, vectors: NDArray[np.float64], fitness: Vector, new: NDArray[np.bool_]) -> None:
        """Report the fitness of the last generation; older vectors are ignored."""
        if int(new.sum()) == self.batch:
            self._strategy.tell(list(vectors[new]), list(-fitness[new]))


OPTIMIZERS: Final = (Pbilc.name, CmaEs.name, Spsa.name, RandomSearch.name)
