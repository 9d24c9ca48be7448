# SPDX-License-Identifier: Apache-2.0
"""Evaluations over many small features: pieces by place, pairs of them, patterns of discs."""

import hashlib
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, SourceError, nearest
from hyoka.games import Position, game_facts
from hyoka.storage.model_file import ModelFile, Origin, number_of, read_model_file, shown

KIND: Final = "evaluation"
"""Of artefact."""
_STEPS: Final = 32
"""Searches hold weights in steps of 1/32."""
_LARGEST: Final = 1e6


@dataclass(frozen=True)
class FeatureSet:
    """What an evaluation can be linear in."""

    game: str
    name: str
    unit: str
    """Of scores."""
    scale: float
    """A score s is worth 1 / (1 + exp(-s / scale)) to the first player, if nobody has measured."""
    weights: int
    anchored: int
    """The first weights, which stay as learning finds them: the values of pieces."""

    def starting(self) -> NDArray[np.float32]:
        """What learning begins with."""
        return _core.starting_weights(self.game, self.name)


def feature_sets(game: str) -> list[FeatureSet]:
    """The sets of features that evaluations of a game can be learned over, the usual one first.

    >>> [each.name for each in feature_sets("shogi")]
    ['terms', 'relations', 'kpp']
    """
    name = game_facts(game).name
    return [FeatureSet(name, *each) for each in _core.feature_sets(name)]


def feature_set(game: str, name: str | None = None) -> FeatureSet:
    """One of them by name, or the usual one; raises NotationError."""
    known = {each.name: each for each in feature_sets(game)}
    if not known:
        raise NotationError(f"{game} has no sets of features to learn an evaluation over")
    if name is None:
        return next(iter(known.values()))
    if name not in known:
        hint = nearest(name, known) or f"there are {', '.join(known)}"
        raise NotationError(f"{game} has no set of features '{shown(name)}'; {hint}")
    return known[name]


@dataclass(frozen=True, eq=False)
class SparseEvaluation:
    """A score as a sum of weights of small features, for the first player.

    >>> import hyoka as hk
    >>> start = SparseEvaluation.starting("shogi", "relations")
    >>> start.score([hk.Shogi()]).tolist()
    [0]
    """

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
        """What learning begins with: pieces have values, and nothing else counts."""
        chosen = feature_set(game, features)
        return cls(chosen, chosen.starting(), chosen.scale)

    @property
    def game(self) -> str:
        """The game that it is of."""
        return self.features.game

    @property
    def unit(self) -> str:
        """Of scores."""
        return self.features.unit

    @property
    def point(self) -> int:
        """What a point of the game's own count is in `unit`."""
        return 100 if self.unit.startswith("hundredths") else 1

    @property
    def fingerprint(self) -> str:
        """Some characters that tell it from others."""
        digest = hashlib.sha256(f"{self.features.name} {self.scale!r}".encode())
        digest.update(self.weights.tobytes())
        return digest.hexdigest()[:12]

    @property
    def nonzero(self) -> int:
        """How many weights count at all."""
        return int(np.count_nonzero(self.weights))

    def score(self, positions: Sequence[Position]) -> NDArray[np.int32]:
        """What positions are worth to the first player, in `unit`."""
        return np.asarray(_core.score_positions(self.game, list(positions), self.model()))

    def terms(self, positions: Sequence[Position]) -> Any:
        """SciPy's sparse matrix, a row a position, whose product with the weights is the score."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - it takes a while to import

        offsets, features, amounts = _core.sparse_features(
            self.game, self.features.name, list(positions)
        )
        return csr_array(
            (amounts, features, offsets), shape=(len(positions), self.features.weights)
        )

    def model(self) -> _core.Model:
        """The evaluation as the compiled core works with it."""
        return _core.sparse_evaluation(self.game, self.features.name, self.weights, self.scale)

    def model_file(self, origin: Origin | None = None) -> ModelFile:
        """As `eval=FILE` reads it: weights are rounded to 1/32, as searches have them."""
        about = {
            "features": self.features.name,
            "weights": len(self.weights),
            "scale": self.scale,
        }
        steps = np.rint(self.weights.astype(np.float64) * _STEPS).astype("<i4")
        content = json.dumps(about).encode() + b"\n" + zlib.compress(steps.tobytes(), 6)
        return ModelFile.of(KIND, content, game=self.game, origin=origin)

    @classmethod
    def from_model_file(cls, model_file: ModelFile, game: str) -> "SparseEvaluation":
        """What a file holds; raises SourceError."""
        model_file.check(KIND, game)
        line, _, rest = model_file.content.partition(b"\n")
        try:
            about = json.loads(line)
            if not isinstance(about, dict) or not isinstance(about.get("features"), str):
                raise ValueError("it does not say over which features")
            features = feature_set(game, about["features"])
            if about.get("weights") != features.weights:
                raise ValueError(
                    f"{shown(about.get('weights'))} weights over {features.name}, which are "
                    f"{features.weights:,} in this Hyoka"
                )
            scale = number_of(about.get("scale"))
            if not 0 < scale < math.inf:
                raise ValueError(f"'scale' needs a positive number, not {shown(about['scale'])}")
            weights = _unpacked(rest, features.weights)
        except (ValueError, KeyError, RecursionError, zlib.error, NotationError) as error:
            raise SourceError(f"{model_file}: no evaluation that can be read: {error}") from None
        return cls(features, weights, scale)

    def save(self, path: str | Path, origin: Origin | None = None) -> None:
        """Write it to a file, and how it was made."""
        self.model_file(origin or Origin("hyoka.SparseEvaluation.save")).save(path)


def _unpacked(data: bytes, count: int) -> NDArray[np.float32]:
    """So many weights; raises ValueError for more or fewer, however well they were packed."""
    size = 4 * count
    unpacker = zlib.decompressobj()
    found = unpacker.decompress(data, size + 1)
    if len(found) != size or not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"there are not {count:,} weights in it")
    weights = (np.frombuffer(found, "<i4") / _STEPS).astype(np.float32)
    if np.abs(weights).max(initial=0) > _LARGEST:
        raise ValueError("weights are too large")
    return weights


def sparse_evaluation(game: str, source: str | Path | ModelFile) -> SparseEvaluation:
    """The evaluation that a file of `hyoka learn comparison` holds; raises SourceError."""
    return SparseEvaluation.from_model_file(read_model_file(source, KIND), game_facts(game).name)
