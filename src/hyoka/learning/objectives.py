# SPDX-License-Identifier: Apache-2.0
"""Objectives of comparison training, with weights by category of positions.

For the side that moved, the position is worth x after the record's move, and x' after another move.

    J = Σ W3 / (1 + exp(-W1 (x' - x + W2)))                        moves
      - Σ W4 (y log g(x) + (1 - y) log(1 - g(x)))                  outcomes
      + w0 Σ |weight|

An objective defines W1 to W4 for each position; the rest is common to all objectives.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import NotationError, ParameterError, SourceError, nearest
from hyoka.search.difficulty import CLASSES, Categories
from hyoka.storage.model_file import ModelFile, Origin, number_of, read_model_file, shown

PARAMETERS: Final = ("slope", "margin", "moves", "outcome")
"""Names of W1 to W4."""
CONSTANTS: Final = (0.0237, 64.0, 1.0, 16.0)
"""c1 to c4: constant multipliers of the products of factors; the margin c2 is in centipawns of
shogi, so other games need their own."""
L1: Final = 0.00625
CATEGORY_COUNT: Final = sum(CLASSES.values())


class Objective(Protocol):
    """A training objective to minimize."""

    name: ClassVar[str]

    @property
    def l1(self) -> float:
        """w0: L1 penalty per unit of weight."""

    @property
    def by_category(self) -> bool:
        """Whether it depends on the categories of positions."""

    def weights(self, rows: int, categories: Categories | None) -> NDArray[np.float32]:
        """W1 to W4 of each position."""

    def as_json(self) -> dict[str, Any]:
        """JSON representation for `objective_from`."""


class _Uniform:
    """An objective with the same weights for all positions."""

    name: ClassVar[str]
    by_category: ClassVar[bool] = False

    def weights(self, rows: int, categories: Categories | None = None) -> NDArray[np.float32]:
        """The same weights for all positions."""
        del categories
        numbers = [getattr(self, name, 0.0) for name in PARAMETERS]
        return np.tile(np.array(numbers, np.float32), (rows, 1))

    def as_json(self) -> dict[str, Any]:
        """JSON representation."""
        return {"kind": self.name} | vars(self)


@dataclass(frozen=True)
class Comparison(_Uniform):
    """Comparison: only the record's moves count."""

    name: ClassVar[str] = "comparison"
    slope: float = CONSTANTS[0]
    margin: float = 0.0
    moves: float = 1.0
    l1: float = L1


@dataclass(frozen=True)
class Combination(_Uniform):
    """Combination: moves, plus game results predicted from positions."""

    name: ClassVar[str] = "combination"
    slope: float = CONSTANTS[0]
    margin: float = 0.0
    moves: float = 1.0
    outcome: float = CONSTANTS[3]
    l1: float = L1


@dataclass(frozen=True)
class Parameterized:
    """Combination with weights by category: W_i is c_i times one factor per category.

    >>> Parameterized().weights(1, Categories.unknown(1))[0, 1:].tolist()
    [64.0, 1.0, 16.0]
    """

    name: ClassVar[str] = "parameterised"
    factors: tuple[tuple[float, ...], ...] = ((1.0,) * CATEGORY_COUNT,) * len(PARAMETERS)
    """By parameter and category; categories of all classes are concatenated."""
    l1: float = L1
    constants: tuple[float, ...] = CONSTANTS
    by_category: ClassVar[bool] = True

    def weights(self, rows: int, categories: Categories | None) -> NDArray[np.float32]:
        """Products of the factors of each position's categories."""
        if categories is None or len(categories) != rows:
            raise NotationError("this objective needs the categories of all positions")
        factors = np.asarray(self.factors)
        products = np.tile(np.asarray(self.constants), (rows, 1))
        for numbers in categories.numbered():
            has_category = numbers >= 0
            products[has_category] *= factors[:, numbers[has_category]].T
        return products.astype(np.float32)

    def as_json(self) -> dict[str, Any]:
        """JSON representation, by parameter, class and category."""
        table = {
            parameter: {
                name: list(row[start : start + size])
                for (name, size), start in zip(CLASSES.items(), class_starts(), strict=True)
            }
            for parameter, row in zip(PARAMETERS, self.factors, strict=True)
        }
        plain = {"kind": self.name, "factors": table, "l1": self.l1}
        if self.constants != CONSTANTS:
            plain["constants"] = list(self.constants)
        return plain

    @classmethod
    def from_vector(
        cls, numbers: NDArray[np.float64], constants: tuple[float, ...] = CONSTANTS
    ) -> "Parameterized":
        """Create an objective from a vector of factors, with the factor of w0 last."""
        table = numbers[:-1].reshape(len(PARAMETERS), CATEGORY_COUNT)
        return cls(tuple(map(tuple, table.tolist())), float(L1 * numbers[-1]), constants)

    def vector(self) -> NDArray[np.float64]:
        """The inverse of `from_vector`."""
        return np.append(np.asarray(self.factors).ravel(), self.l1 / L1)


VECTOR_SIZE: Final = len(PARAMETERS) * CATEGORY_COUNT + 1


def class_starts() -> list[int]:
    """Index of each class's first category."""
    sizes = list(CLASSES.values())
    return [sum(sizes[:index]) for index in range(len(sizes))]


def parse_constants(text: str) -> tuple[float, ...]:
    """Parse c1 to c4, separated by commas.

    >>> parse_constants("0.0237,64,1,16")
    (0.0237, 64.0, 1.0, 16.0)
    """
    try:
        constants = tuple(float(part) for part in text.split(","))
    except ValueError:
        constants = ()
    if len(constants) != len(PARAMETERS) or not np.isfinite(constants).all() or min(constants) < 0:
        names = ", ".join(PARAMETERS)
        raise ParameterError("constants", f"are four numbers from 0 on ({names}), not '{text}'")
    return constants


OBJECTIVES: Final[dict[str, type[Comparison] | type[Combination] | type[Parameterized]]] = {
    each.name: each for each in (Comparison, Combination, Parameterized)
}


def objective_from(source: str | Path | ModelFile | Mapping[str, Any]) -> Objective:
    """Load an objective by name or from a file written by `hyoka learn objective`.

    >>> objective_from("combination").outcome
    16.0
    """
    if isinstance(source, str) and source in OBJECTIVES:
        return OBJECTIVES[source]()
    if isinstance(source, Mapping):
        return _from_json(source, "objective")
    if isinstance(source, str) and not Path(source).exists():
        hint = nearest(source, OBJECTIVES) or f"known: {', '.join(OBJECTIVES)}, or a file"
        raise NotationError(f"no objective '{shown(source)}'; {hint}")
    file = read_model_file(source, "objective")
    plain = file.json_object().get("objective")
    if not isinstance(plain, dict):
        raise SourceError(f"{file}: it holds no objective")
    return _from_json(plain, str(file))


def _from_json(plain: Mapping[str, Any], source: str) -> Objective:
    kind = plain.get("kind")
    if kind not in OBJECTIVES:
        raise SourceError(f"{source}: no objective '{shown(kind)}'")
    try:
        if kind == Parameterized.name:
            return _parameterised(plain)
        named = {name: number_of(value) for name, value in plain.items() if name != "kind"}
        if not np.isfinite(list(named.values())).all():
            raise ValueError("some numbers are none")
        return Comparison(**named) if kind == Comparison.name else Combination(**named)
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(f"{source}: an objective that can't be read: {error}") from None


def _parameterised(plain: Mapping[str, Any]) -> Parameterized:
    table = plain["factors"]
    rows = tuple(
        tuple(number_of(value) for name in CLASSES for value in table[parameter][name])
        for parameter in PARAMETERS
    )
    if any(len(row) != CATEGORY_COUNT for row in rows):
        raise ValueError("not a factor for each category")
    constants = tuple(number_of(value) for value in plain.get("constants", CONSTANTS))
    if len(constants) != len(PARAMETERS):
        raise ValueError("not a constant for each parameter")
    objective = Parameterized(rows, number_of(plain["l1"]), constants)
    if not np.isfinite([*objective.vector(), *constants]).all():
        raise ValueError("some numbers are none")
    return objective


def objective_model_file(objective: Objective, origin: Origin | None = None) -> ModelFile:
    """Model file content of an objective."""
    return ModelFile.of("objective", {"objective": objective.as_json()}, origin=origin)


def text_of(objective: Objective) -> str:
    """Canonical text of an objective."""
    return json.dumps(objective.as_json(), sort_keys=True)
