# SPDX-License-Identifier: Apache-2.0
"""What networks of whole numbers have in common, whatever their shape: numbers, files, answers."""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.artefact import Artefact, Origin, shown
from hyoka.errors import NotationError, SourceError
from hyoka.games import Position

Shapes = Mapping[str, tuple[tuple[int, ...], str]]
"""The shape and type of each array, in the order of a file."""


@dataclass(frozen=True, eq=False)
class WholeNumberNetwork:
    """What positions are worth and how strong their moves are, by a network in whole numbers."""

    kind: ClassVar[str]
    """Of artefact."""
    size_type: ClassVar[Any]
    """Makes a size of a game and what was `chosen`; its `shapes` are those of the numbers."""
    chosen: ClassVar[tuple[str, ...]]
    """What whoever makes a network chooses of its size; the rest is the game's."""

    game: str
    size: Any
    numbers: Mapping[str, NDArray[Any]] = field(repr=False)
    """As the core has them; see the size's `shapes`."""

    def __post_init__(self) -> None:
        for name, (shape, kind) in self.size.shapes.items():
            array = self.numbers[name]
            if array.shape != shape or array.dtype != np.dtype(kind):
                raise NotationError(f"a network's '{name}' is {shape} of {kind}")
            array.flags.writeable = False
        _ = self.in_core  # refuses numbers that don't fit together

    @cached_property
    def in_core(self) -> Any:
        """The network as the compiled core works with it."""
        raise NotImplementedError

    @property
    def flat(self) -> dict[str, NDArray[Any]]:
        """The numbers as the core takes them."""
        return {
            name: np.ascontiguousarray(array).reshape(-1) for name, array in self.numbers.items()
        }

    @property
    def fingerprint(self) -> str:
        """Some characters that tell it from others."""
        digest = hashlib.sha256(repr(self.size).encode())
        for name in self.size.shapes:
            digest.update(self.numbers[name].tobytes())
        return digest.hexdigest()[:12]

    def score(self, positions: Sequence[Position]) -> NDArray[np.int32]:
        """What positions are worth to the first player, in `unit`."""
        return np.asarray(_core.score_positions(self.game, list(positions), self.model()))

    def model(self) -> _core.Model:
        """What positions are worth, as searches take it."""
        found: _core.Model = self.in_core.evaluation()
        return found

    def move_model(self) -> _core.Model:
        """How strong moves are, as searches take it; raises NotationError if it doesn't say."""
        found: _core.Model = self.in_core.move_model()
        return found

    def artefact(self, origin: Origin | None = None) -> Artefact:
        """As a file holds it: a line that tells its size, then the numbers, packed."""
        about = {each.name: getattr(self.size, each.name) for each in fields(self.size)}
        content = json.dumps(about).encode() + b"\n" + packed(self.numbers, self.size.shapes)
        return Artefact.of(self.kind, content, game=self.game, origin=origin)

    @classmethod
    def from_artefact(cls, artefact: Artefact, game: str) -> Self:
        """What a file holds; raises SourceError."""
        artefact.check(cls.kind, game)
        line, _, rest = artefact.content.partition(b"\n")
        try:
            size = cls._size_of(json.loads(line), game)
            return cls(game, size, unpacked(rest, size.shapes))
        except (ValueError, RecursionError, zlib.error, NotationError) as error:
            raise SourceError(f"{artefact}: no network that can be read: {error}") from None

    @classmethod
    def _size_of(cls, about: object, game: str) -> Any:
        if not isinstance(about, dict):
            raise ValueError("it does not say how large it is")
        chosen = [about.get(name) for name in cls.chosen]
        if not all(type(number) is int for number in chosen):
            raise ValueError(f"its size is {shown(about)}")
        size = cls.size_type.of_game(game, *chosen)
        for name in (each.name for each in fields(size) if each.name not in cls.chosen):
            here = getattr(size, name)
            if about.get(name) != here:
                raise ValueError(
                    f"{shown(about.get(name))} {name}, which are {here:,} in this Hyoka"
                )
        return size

    def save(self, path: str | Path, origin: Origin | None = None) -> None:
        """Write it to a file, and how it was made."""
        self.artefact(origin or Origin(f"hyoka.{type(self).__name__}.save")).save(path)


def packed(numbers: Mapping[str, NDArray[Any]], shapes: Shapes) -> bytes:
    """The arrays as a file holds them."""
    return zlib.compress(b"".join(numbers[name].tobytes() for name in shapes), 6)


def unpacked(data: bytes, shapes: Shapes) -> dict[str, NDArray[Any]]:
    """The arrays; raises ValueError for more or fewer bytes, however well they were packed."""
    lengths = {
        name: int(np.prod(shape)) * np.dtype(kind).itemsize
        for name, (shape, kind) in shapes.items()
    }
    whole = sum(lengths.values())
    unpacker = zlib.decompressobj()
    found = unpacker.decompress(data, whole + 1)
    if len(found) != whole or not unpacker.eof or unpacker.unused_data:
        raise ValueError("it is longer or shorter than its size says")
    numbers = {}
    begin = 0
    for name, (shape, kind) in shapes.items():
        piece = found[begin : begin + lengths[name]]
        numbers[name] = np.frombuffer(piece, kind).reshape(shape).copy()
        begin += lengths[name]
    return numbers
