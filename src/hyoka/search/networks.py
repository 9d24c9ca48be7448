# SPDX-License-Identifier: Apache-2.0
"""Networks small enough to be asked at every leaf: what a position is worth, and which moves.

Inputs are on or off, as the player to move sees the board. The first layer sums the rows of those
that are on; a few units above it say the value, others are what moves are judged by. The compiled
core works in whole numbers, the same on every machine and by whichever way a position was reached.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.artefact import Artefact, Origin, read_artefact, shown
from hyoka.errors import NotationError, SourceError
from hyoka.games import Position, game_facts

KIND: Final = "network"
"""Of artefact."""
SUM_STEPS: Final = 128
"""The first layer is in steps of 1/128,"""
WEIGHT_STEPS: Final = 64
"""the weights above it in steps of 1/64,"""
SIGHT_STEPS: Final = 127
"""and what moves are judged by in steps of 1/127."""
WIDTH_UNIT: Final = 64
Shapes = Mapping[str, tuple[tuple[int, ...], str]]
"""The shape and type of each array, in the order of a file."""
_LARGEST_WIDTH: Final = 1024
_MOST_UNITS: Final = 256


@dataclass(frozen=True)
class NetworkSize:
    """How large a network is."""

    inputs: int
    codes: int
    """Of the game's moves."""
    width: int
    """Of the first layer: a multiple of 64."""
    value_units: int
    policy_units: int
    """0: it does not judge moves."""

    @classmethod
    def of_game(
        cls, game: str, width: int, value_units: int = 32, policy_units: int = 64
    ) -> "NetworkSize":
        """The size of a network of a game; raises NotationError for what can't be."""
        inputs, codes = _core.network_size(game)
        if not (0 < width <= _LARGEST_WIDTH and width % WIDTH_UNIT == 0):
            raise NotationError(
                f"a width is a multiple of {WIDTH_UNIT} up to {_LARGEST_WIDTH}, not {width}"
            )
        if not (0 < value_units <= _MOST_UNITS and 0 <= policy_units <= _MOST_UNITS):
            raise NotationError(f"a network has up to {_MOST_UNITS} units of each kind")
        return cls(inputs, codes, width, value_units, policy_units)

    @property
    def judged(self) -> int:
        """How many codes of moves have numbers of their own."""
        return self.codes if self.policy_units else 0

    @property
    def shapes(self) -> Shapes:
        """The shape and type of each array, in the order of a file."""
        return {
            "first": ((self.inputs, self.width), "<i2"),
            "first_bias": ((self.width,), "<i2"),
            "value": ((self.value_units, self.width), "<i2"),
            "value_bias": ((self.value_units,), "<f4"),
            "value_out": ((self.value_units,), "<f4"),
            "value_out_bias": ((1,), "<f4"),
            "policy": ((self.policy_units, self.width), "<i2"),
            "policy_bias": ((self.policy_units,), "<f4"),
            "moves": ((self.judged, self.policy_units), "|i1"),
            "move_bias": ((self.judged,), "<f4"),
            "move_scale": ((1,), "<f4"),
        }


@dataclass(frozen=True, eq=False)
class Network:
    """What positions are worth and how strong their moves are, by a network.

    A search takes it as `eval=FILE`, and for the strengths of moves as `strengths=FILE`.
    `hyoka learn network` and `hyoka learn selfplay` make some.
    """

    game: str
    size: NetworkSize
    numbers: dict[str, NDArray[Any]] = field(repr=False)
    """As the core has them; see `NetworkSize.shapes`."""

    def __post_init__(self) -> None:
        for name, (shape, kind) in self.size.shapes.items():
            array = self.numbers[name]
            if array.shape != shape or array.dtype != np.dtype(kind):
                raise NotationError(f"a network's '{name}' is {shape} of {kind}")
            array.flags.writeable = False
        _ = self.in_core  # refuses numbers that don't fit together

    @cached_property
    def in_core(self) -> _core.Network:
        """The network as the compiled core works with it."""
        found = {
            name: np.ascontiguousarray(array).reshape(-1) for name, array in self.numbers.items()
        }
        return _core.Network(
            self.game,
            self.size.width,
            found["first"],
            found["first_bias"],
            found["value"],
            found["value_bias"],
            found["value_out"],
            float(found["value_out_bias"][0]),
            found["policy"],
            found["policy_bias"],
            found["moves"],
            found["move_bias"],
            float(found["move_scale"][0]),
        )

    @property
    def unit(self) -> str:
        """Of scores."""
        return "centipawns" if game_facts(self.game).quiescence else "thousandths of a logit"

    @property
    def scale(self) -> float:
        """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""
        return self.in_core.scale

    @property
    def judges_moves(self) -> bool:
        """Whether it says how strong moves are, too."""
        return self.size.policy_units > 0

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

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """The same as expected results of the first player, 0 to 1."""
        own = self.in_core.logits(list(positions)).astype(np.float64)
        first = np.array([position.to_play is _core.Player.first for position in positions], bool)
        return np.asarray(1 / (1 + np.exp(-np.where(first, own, -own))))

    def model(self) -> _core.Model:
        """What positions are worth, as searches take it."""
        return self.in_core.evaluation()

    def move_model(self) -> _core.Model:
        """How strong moves are, as searches take it; raises NotationError if it doesn't say."""
        return self.in_core.move_model()

    def artefact(self, origin: Origin | None = None) -> Artefact:
        """As a file holds it: a line that tells its size, then the numbers, packed."""
        about = {each.name: getattr(self.size, each.name) for each in fields(self.size)}
        content = json.dumps(about).encode() + b"\n" + packed(self.numbers, self.size.shapes)
        return Artefact.of(KIND, content, game=self.game, origin=origin)

    @classmethod
    def from_artefact(cls, artefact: Artefact, game: str) -> "Network":
        """What a file holds; raises SourceError."""
        artefact.check(KIND, game)
        line, _, rest = artefact.content.partition(b"\n")
        try:
            size = _size_of(json.loads(line), game)
            return cls(game, size, unpacked(rest, size.shapes))
        except (ValueError, RecursionError, zlib.error, NotationError) as error:
            raise SourceError(f"{artefact}: no network that can be read: {error}") from None

    def save(self, path: str | Path, origin: Origin | None = None) -> None:
        """Write it to a file, and how it was made."""
        self.artefact(origin or Origin("hyoka.Network.save")).save(path)


def _size_of(about: object, game: str) -> NetworkSize:
    if not isinstance(about, dict):
        raise ValueError("it does not say how large it is")
    found = [
        number
        for name in ("width", "value_units", "policy_units")
        if type(number := about.get(name)) is int
    ]
    if len(found) != 3:
        raise ValueError(f"its size is {shown(about)}")
    size = NetworkSize.of_game(game, *found)
    for name in ("inputs", "codes"):
        if about.get(name) != getattr(size, name):
            raise ValueError(
                f"{shown(about.get(name))} {name}, which are {getattr(size, name):,} in this Hyoka"
            )
    return size


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


def network(game: str, source: str | Path | Artefact) -> Network:
    """The network that a file holds; raises SourceError."""
    return Network.from_artefact(read_artefact(source, KIND), game_facts(game).name)
