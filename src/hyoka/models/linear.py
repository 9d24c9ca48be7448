# SPDX-License-Identifier: Apache-2.0
"""Linear evaluations over named terms, and strengths of move features."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, SourceError, nearest
from hyoka.games import Position, game_facts
from hyoka.models.model import Model, StaticEvaluation
from hyoka.storage.model_file import BUILT_IN, ModelFile, Origin, number_of, read_model_file, shown

_GREATEST: Final = float(np.finfo(np.float32).max)
"""The largest number that the compiled core can hold."""


@dataclass(frozen=True, eq=False)
class LinearEvaluation(StaticEvaluation):
    """A score as a sum of weighted terms, for the first player.

    Each term has a weight for the opening and one for the ending; a position's progress, 0 to 1,
    blends the two: score = Σ amount · (opening · (1 - progress) + ending · progress).

    >>> import hyoka as hk
    >>> chess = linear_evaluation("chess")
    >>> start = [hk.Chess()]
    >>> round(float(chess.terms(start)[0] @ chess.flat)) == int(chess.score(start)[0])
    True
    """

    kind = "weights"

    game: str
    names: tuple[str, ...] = field(repr=False)
    """The names of the terms."""
    weights: NDArray[np.float32] = field(repr=False)
    """One row per term: its weights in the opening and in the ending."""
    unit: str = "points"
    scale: float = 1.0
    """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> tuple[float, float]:
        opening, ending = self.weights[self._index(name)]
        return float(opening), float(ending)

    def _index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            hint = nearest(name, self.names)
            message = f"{self.game} has no term '{shown(name)}'; {hint}".rstrip("; ")
            raise NotationError(message) from None

    def _identity(self) -> Iterable[bytes]:
        return self.weights.tobytes(), str(self.scale).encode()

    @property
    def flat(self) -> NDArray[np.float32]:
        """All weights in the order of the columns of `terms`."""
        return self.weights.reshape(-1)

    def with_weights(
        self,
        weights: Mapping[str, float | tuple[float, float]] | NDArray[Any],
        *,
        scale: float | None = None,
    ) -> "LinearEvaluation":
        """Replace some weights by name (one number for both phases), or all of them."""
        if isinstance(weights, Mapping):
            changed = self.weights.copy()
            for name, weight in weights.items():
                if not np.all(np.abs(weight) <= _GREATEST):
                    raise NotationError(f"'{name}' needs finite weights, not {weight!r}")
                changed[self._index(name)] = weight
        else:
            pairs = np.asarray(weights, dtype=np.float64).reshape(-1, 2)
            changed = np.where(np.abs(pairs) <= _GREATEST, pairs, np.nan).astype(np.float32)
            if len(changed) != len(self):
                raise NotationError(
                    f"{self.game}'s evaluation has {len(self)} terms, not {len(changed)}"
                )
        if not np.isfinite(changed).all():
            raise NotationError("weights are finite numbers")
        if scale is not None and not 0 < scale < math.inf:
            raise NotationError(f"a scale is a positive number, not {scale!r}")
        chosen = self.scale if scale is None else float(scale)
        return LinearEvaluation(self.game, self.names, changed, self.unit, chosen)

    def amounts(
        self, positions: Sequence[Position]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The amounts of all terms, one row per position, and the progress of each position."""
        if not positions:
            return np.zeros((0, len(self)), np.float32), np.zeros(0, np.float32)
        return _core.count_terms(self.game, list(positions))

    def terms(self, positions: Sequence[Position]) -> NDArray[np.float32]:
        """Amounts blended by progress; their product with `flat` is the score."""
        amounts, progress = self.amounts(positions)
        ending = progress[:, None]
        blended = np.stack([amounts * (1 - ending), amounts * ending], axis=2)
        return blended.reshape(len(amounts), 2 * len(self))

    def _content(self) -> dict[str, Any]:
        weights = {
            name: [float(str(w)) for w in pair]  # the shortest text that reads back exactly
            for name, pair in zip(self.names, self.weights, strict=True)
        }
        return {"game": self.game, "scale": self.scale, "weights": weights}

    @classmethod
    def from_model_file(cls, model_file: ModelFile, game: str) -> "LinearEvaluation":
        """Read weights from a file; terms that it leaves out keep their built-in weights."""
        return linear_evaluation(game, model_file)

    def model(self) -> _core.Model:
        """The evaluation as searches take it."""
        return _core.linear_evaluation(self.game, self.flat.tolist(), self.scale)


def has_terms(game: str | None) -> bool:
    """Whether a game has a built-in evaluation; games written in Python have none."""
    return game is not None and bool(_core.evaluation_terms(game)[0])


def has_features(game: str | None) -> bool:
    """Whether the moves of a game have features, and so strengths."""
    return game is not None and bool(_core.move_features(game))


def linear_evaluation(game: str, weights: str | Path | ModelFile | None = None) -> LinearEvaluation:
    """A game's built-in evaluation, or one with the weights of a file.

    Terms that the file leaves out keep their built-in weights.

    >>> linear_evaluation("blokus_duo")["influence_of_coverable"]
    (1.0, 1.0)
    """
    name = game_facts(game).name
    terms, unit, scale = _core.evaluation_terms(name)
    if not terms:
        raise NotationError(
            f"{name} has no evaluation terms; pass a function of positions as evaluation="
        )
    built_in = LinearEvaluation(
        name,
        tuple(term for term, *_ in terms),
        np.array([pair for _, *pair in terms], np.float32),
        unit,
        scale,
    )
    if weights is None or weights == BUILT_IN:
        return built_in
    file = read_model_file(weights, "weights")
    numbers, content = _named_numbers(file, "weights", name)
    scale = content.get("scale", built_in.scale)
    if "scale" in content and not 0 < number_of(scale) < math.inf:
        raise SourceError(f"{file}: 'scale' needs a positive number, not {shown(scale)}")
    try:
        pairs = {term: _pair(term, weight) for term, weight in numbers.items()}
        return built_in.with_weights(pairs, scale=number_of(scale))
    except NotationError as error:
        raise SourceError(f"{file}: {error}") from None


def _pair(term: str, value: object) -> tuple[float, float]:
    """A term's weights in the opening and in the ending, from one number or two."""
    pair = tuple(map(number_of, value if isinstance(value, list) else [value, value]))
    if len(pair) != 2 or not all(abs(weight) <= _GREATEST for weight in pair):
        raise NotationError(f"'{shown(term)}' needs a finite number or two, not {shown(value)}")
    return pair[0], pair[1]


def _named_numbers(file: ModelFile, key: str, game: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The numbers under `key` or at the top level, and the content of a file of this game."""
    content = file.json_object()
    if content.get("game", game) != game:
        raise SourceError(f"{file}: {key} for {shown(content['game'])}, not for {game}")
    if key in content:
        numbers = content[key]
    else:
        numbers = {name: value for name, value in content.items() if name not in ("game", "scale")}
    if not isinstance(numbers, dict):
        raise SourceError(f"{file}: '{key}' is no object with names and numbers")
    return numbers, content


SHAPE: Final = "shape_"
"""The prefix of the names of shapes, which are always learned (Go)."""


@dataclass(frozen=True, eq=False)
class MoveStrengths(Model):
    """Strengths (γ) of a game's move features, in the game's order; shapes come after them."""

    kind = "strengths"

    game: str
    strengths: Mapping[str, float] = field(repr=False)
    origin: Origin | None = None

    @classmethod
    def load(cls, game: str, source: str | Path | ModelFile | None = None) -> "MoveStrengths":
        """Return the built-in strengths, updated from a file; raises SourceError."""
        name = game_facts(game).name
        numbers = dict(_core.move_features(name))
        if not numbers:
            raise NotationError(f"moves of {name} have no features, and so no strengths")
        if source is None or source == BUILT_IN:
            return cls(name, numbers)
        file = read_model_file(source, cls.kind)
        for feature, strength in _named_numbers(file, cls.kind, name)[0].items():
            if feature not in numbers and not feature.startswith(SHAPE):
                hint = nearest(feature, numbers)
                raise SourceError(
                    f"{file}: {name} has no feature '{shown(feature)}'; {hint}".rstrip("; ")
                )
            number = number_of(strength)
            if not 0 < number <= _GREATEST:
                raise SourceError(
                    f"{file}: '{shown(feature)}' needs a positive number, not {shown(strength)}"
                )
            numbers[feature] = number
        return cls(name, numbers, file.origin)

    def _content(self) -> dict[str, Any]:
        # The core uses float32: write the shortest text that reads back exactly.
        numbers = {name: float(str(np.float32(each))) for name, each in self.strengths.items()}
        return {"game": game_facts(self.game).name, "strengths": numbers}

    def model(self) -> _core.Model:
        """Return the compiled move model for searches."""
        shapes = [name.removeprefix(SHAPE) for name in self.strengths if name.startswith(SHAPE)]
        go_shapes = _core.GoShapes(shapes) if shapes else None
        return _core.feature_strengths(self.game, list(self.strengths.values()), go_shapes)


def move_strengths(game: str, strengths: str | Path | ModelFile | None = None) -> dict[str, float]:
    """The strengths (γ) of a game's move features: built-in values, updated from a file.

    Shapes in the file come after them.
    """
    return dict(MoveStrengths.load(game, strengths).strengths)
