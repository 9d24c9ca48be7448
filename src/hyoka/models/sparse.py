# SPDX-License-Identifier: Apache-2.0
"""Sparse linear evaluations: pieces by square, pairs of pieces, patterns of discs."""

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, nearest
from hyoka.games import Position, game_facts
from hyoka.models.model import StaticEvaluation, decompress, join_header, split_header
from hyoka.storage.model_file import number_of, shown

_STEPS: Final = 32
"""Searches round weights to 1/32."""
_LARGEST: Final = 1e6


@dataclass(frozen=True)
class FeatureSet:
    """A set of features for sparse evaluations of a game."""

    game: str
    name: str
    unit: str
    """The unit of scores."""
    scale: float
    """The default scale: a score s is worth 1 / (1 + exp(-s / scale)) to the first player."""
    weights: int
    anchored: int
    """The number of leading weights that training does not change: piece values."""

    def starting(self) -> NDArray[np.float32]:
        """The initial weights of training."""
        return _core.starting_weights(self.game, self.name)


def feature_sets(game: str) -> list[FeatureSet]:
    """The feature sets of a game, the default first.

    >>> [each.name for each in feature_sets("shogi")]
    ['terms', 'relations', 'kpp']
    """
    name = game_facts(game).name
    return [FeatureSet(name, *each) for each in _core.feature_sets(name)]


def feature_set(game: str, name: str | None = None) -> FeatureSet:
    """A feature set by name, or the default one; raises NotationError."""
    sets = {each.name: each for each in feature_sets(game)}
    if not sets:
        raise NotationError(f"{game} has no sets of features to learn an evaluation over")
    if name is None:
        return next(iter(sets.values()))
    if name not in sets:
        hint = nearest(name, sets) or f"known: {', '.join(sets)}"
        raise NotationError(f"{game} has no set of features '{shown(name)}'; {hint}")
    return sets[name]


@dataclass(frozen=True, eq=False)
class SparseEvaluation(StaticEvaluation):
    """A score for the first player as a sum of weights of small features.

    >>> import hyoka as hk
    >>> start = SparseEvaluation.starting("shogi", "relations")
    >>> start.score([hk.Shogi()]).tolist()
    [0]
    """

    kind = "evaluation"

    features: FeatureSet
    weights: NDArray[np.float32] = field(repr=False)
    scale: float
    """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""

    def __post_init__(self) -> None:
        if self.weights.shape != (self.features.weights,) or not np.isfinite(self.weights).all():
            raise NotationError(
                f"{self.features.name} of {self.game} needs {self.features.weights:,} finite "
                "weights"
            )
        self.weights.flags.writeable = False

    @classmethod
    def starting(cls, game: str, features: str | None = None) -> "SparseEvaluation":
        """The initial evaluation of training: piece values only."""
        chosen = feature_set(game, features)
        return cls(chosen, chosen.starting(), chosen.scale)

    @property
    def game(self) -> str:
        """The game's name."""
        return self.features.game

    @property
    def unit(self) -> str:
        """The unit of scores."""
        return self.features.unit

    @property
    def point(self) -> int:
        """The score of one point of the game."""
        return 100 if self.unit.startswith("hundredths") else 1

    def _identity(self) -> Iterable[bytes]:
        return f"{self.features.name} {self.scale!r}".encode(), self.weights.tobytes()

    @property
    def nonzero(self) -> int:
        """The number of nonzero weights."""
        return int(np.count_nonzero(self.weights))

    def terms(self, positions: Sequence[Position]) -> Any:
        """A SciPy matrix, one row per position; its product with the weights is the score."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - it takes a while to import

        offsets, features, amounts = _core.sparse_features(
            self.game, self.features.name, list(positions)
        )
        return csr_array(
            (amounts, features, offsets), shape=(len(positions), self.features.weights)
        )

    def model(self) -> _core.Model:
        """The evaluation as searches take it."""
        return _core.sparse_evaluation(self.game, self.features.name, self.weights, self.scale)

    def _content(self) -> bytes:
        header = {
            "features": self.features.name,
            "weights": len(self.weights),
            "scale": self.scale,
        }
        steps = np.rint(self.weights.astype(np.float64) * _STEPS).astype("<i4")
        return join_header(header, zlib.compress(steps.tobytes(), 6))

    @classmethod
    def _from_content(cls, content: bytes, game: str) -> "SparseEvaluation":
        header, data = split_header(content)
        if not isinstance(header, dict) or not isinstance(header.get("features"), str):
            raise ValueError("it does not name its features")
        features = feature_set(game, header["features"])
        if header.get("weights") != features.weights:
            raise ValueError(
                f"{shown(header.get('weights'))} weights over {features.name}, which are "
                f"{features.weights:,} in this Hyoka"
            )
        scale = number_of(header.get("scale"))
        if not 0 < scale < math.inf:
            raise ValueError(f"'scale' needs a positive number, not {shown(header['scale'])}")
        count = features.weights
        data = decompress(data, 4 * count, f"there are not {count:,} weights in it")
        weights = (np.frombuffer(data, "<i4") / _STEPS).astype(np.float32)
        if np.abs(weights).max(initial=0) > _LARGEST:
            raise ValueError("weights are too large")
        return cls(features, weights, scale)
