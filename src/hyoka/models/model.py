# SPDX-License-Identifier: Apache-2.0
"""Base classes of learned models: saving, loading and identification."""

import hashlib
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError, SourceError
from hyoka.foundation.math import logistic
from hyoka.games import Position, game_facts
from hyoka.storage.model_file import ModelFile, Origin, read_model_file


class Model(ABC):
    """A model of one game that can be saved as a model file."""

    kind: ClassVar[str]
    """A key of `hyoka.storage.model_file.KINDS`."""
    origin: Origin | None = None
    """The model's origin, if known."""

    if TYPE_CHECKING:

        @property
        def game(self) -> str:
            """The game's name."""

    @abstractmethod
    def _content(self) -> bytes | Mapping[str, Any]:
        """The content of the model's file, without the header."""

    def model_file(self, origin: Origin | None = None) -> ModelFile:
        """Return the model as a file, with its origin."""
        content, origin = self._content(), origin or self.origin
        return ModelFile.of(self.kind, content, game=self.game, origin=origin)

    def save(self, path: str | Path, origin: Origin | None = None) -> None:
        """Write the model to a file; raises OSError."""
        self.model_file(origin).save(path)


class StaticEvaluation(Model):
    """A model that evaluates positions without searching."""

    noun: ClassVar[str] = "evaluation"
    """The name of the kind in error messages."""

    if TYPE_CHECKING:

        @property
        def unit(self) -> str:
            """The unit of scores."""

        @property
        def scale(self) -> float:
            """The value of a score s for the first player is 1 / (1 + exp(-s / scale))."""

    @abstractmethod
    def model(self) -> _core.Model:
        """Return the compiled evaluation for searches."""

    @abstractmethod
    def _identity(self) -> Iterable[bytes]:
        """The bytes that are hashed for the fingerprint."""

    @property
    def fingerprint(self) -> str:
        """A short hash of the weights."""
        return hashlib.sha256(b"".join(self._identity())).hexdigest()[:12]

    def score(self, positions: Sequence[Position]) -> NDArray[np.int32]:
        """Score positions for the first player, in `unit`."""
        return np.asarray(_core.score_positions(self.game, list(positions), self.model()))

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """Compute the first player's expected results, 0 to 1."""
        return logistic(self.score(positions) / self.scale)

    def save(self, path: str | Path, origin: Origin | None = None) -> None:
        """Write the evaluation and its origin to a file; raises OSError."""
        super().save(path, origin or Origin(f"hyoka.{type(self).__name__}.save"))

    @classmethod
    def _from_content(cls, content: bytes, game: str) -> Self:
        """Read the content of a file; raises ValueError, KeyError, zlib.error or NotationError."""
        raise NotImplementedError

    @classmethod
    def from_model_file(cls, model_file: ModelFile, game: str) -> Self:
        """Read the evaluation of a game from a file; raises SourceError."""
        model_file.check(cls.kind, game)
        try:
            return cls._from_content(model_file.content, game)
        except (ValueError, KeyError, RecursionError, zlib.error, NotationError) as error:
            raise SourceError(f"{model_file}: no {cls.noun} that can be read: {error}") from None

    @classmethod
    def load(cls, game: str, source: str | Path | ModelFile) -> Self:
        """Load the evaluation of a game from a file; raises SourceError."""
        return cls.from_model_file(read_model_file(source, cls.kind), game_facts(game).name)


def join_header(header: object, data: bytes) -> bytes:
    """Join a line of JSON and bytes."""
    return json.dumps(header).encode() + b"\n" + data


def split_header(content: bytes) -> tuple[Any, bytes]:
    """Split what `join_header` joined; raises ValueError or RecursionError."""
    line, _, data = content.partition(b"\n")
    return json.loads(line), data


def decompress(data: bytes, size: int, message: str) -> bytes:
    """Decompress exactly `size` bytes; raises ValueError with `message`, or zlib.error."""
    decompressor = zlib.decompressobj()
    content = decompressor.decompress(data, size + 1)
    if len(content) != size or not decompressor.eof or decompressor.unused_data:
        raise ValueError(message)
    return content
