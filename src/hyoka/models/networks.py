# SPDX-License-Identifier: Apache-2.0
"""Quantized networks, dense and convolutional: their files, values and move strengths."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.foundation.math import logistic
from hyoka.games import Position, game_facts
from hyoka.models.model import StaticEvaluation, decompress, join_header, split_header
from hyoka.storage.model_file import ModelFile, shown

Shapes = Mapping[str, tuple[tuple[int, ...], str]]
"""The shape and type of each array, in the order of a file."""


@dataclass(frozen=True, eq=False)
class QuantizedNetwork(StaticEvaluation):
    """What positions are worth and how strong their moves are, by a network in whole numbers."""

    noun = "network"
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

    def _identity(self) -> Iterable[bytes]:
        return repr(self.size).encode(), self._bytes()

    def _bytes(self) -> bytes:
        return b"".join(self.numbers[name].tobytes() for name in self.size.shapes)

    def model(self) -> _core.Model:
        """What positions are worth, as searches take it."""
        found: _core.Model = self.in_core.evaluation()
        return found

    def move_model(self) -> _core.Model:
        """How strong moves are, as searches take it; raises NotationError if it doesn't say."""
        found: _core.Model = self.in_core.move_model()
        return found

    def _content(self) -> bytes:
        header = {each.name: getattr(self.size, each.name) for each in fields(self.size)}
        return join_header(header, zlib.compress(self._bytes(), 6))

    @classmethod
    def _from_content(cls, content: bytes, game: str) -> Self:
        header, data = split_header(content)
        size = cls._size_of(header, game)
        return cls(game, size, _split_arrays(data, size.shapes))

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


def _split_arrays(data: bytes, shapes: Shapes) -> dict[str, NDArray[Any]]:
    lengths = {
        name: int(np.prod(shape)) * np.dtype(kind).itemsize
        for name, (shape, kind) in shapes.items()
    }
    data = decompress(data, sum(lengths.values()), "it is longer or shorter than its size says")
    numbers = {}
    begin = 0
    for name, (shape, kind) in shapes.items():
        piece = data[begin : begin + lengths[name]]
        numbers[name] = np.frombuffer(piece, kind).reshape(shape).copy()
        begin += lengths[name]
    return numbers


SUM_STEPS: Final = 128
"""The first layer is in steps of 1/128,"""
WEIGHT_STEPS: Final = 64
"""the weights above it in steps of 1/64,"""
SIGHT_STEPS: Final = 127
"""and what moves are judged by in steps of 1/127."""
WIDTH_UNIT: Final = 64
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
class Network(QuantizedNetwork):
    """What positions are worth and how strong their moves are, by a network.

    A search takes it as `eval=FILE`, and for the strengths of moves as `strengths=FILE`.
    `hyoka learn network` and `hyoka learn selfplay` make some.
    """

    kind = "network"
    size_type = NetworkSize
    chosen = ("width", "value_units", "policy_units")

    size: NetworkSize

    @cached_property
    def in_core(self) -> _core.Network:
        """The network as the compiled core works with it."""
        found = self.flat
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

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """What positions are worth as expected results of the first player, 0 to 1."""
        own = self.in_core.logits(list(positions)).astype(np.float64)
        first = np.array([position.to_play is _core.Player.first for position in positions], bool)
        return logistic(np.where(first, own, -own))


def network(game: str, source: str | Path | ModelFile) -> Network:
    """Load a network from a file; raises SourceError."""
    return Network.load(game, source)


STEPS: Final = 256
"""Activations are in steps of 1/256, from 0"""
MOST: Final = 16 * STEPS - 1
"""to just below 16."""
LEAST_SHIFT: Final = 4
MOST_SHIFT: Final = 15
TAPS: Final = 9
CHANNEL_UNIT: Final = 16
_MOST_CHANNELS: Final = 128
_MOST_BLOCKS: Final = 20
_MOST_VALUE_UNITS: Final = 256


@dataclass(frozen=True)
class ConvolutionSize:
    """How large a convolution network is."""

    side: int
    planes: int
    """Of inputs on the board."""
    globals: int
    """Inputs that lie nowhere."""
    move_planes: int
    channels: int
    """A multiple of 16."""
    blocks: int
    """Of two convolutions each."""
    value_units: int

    @classmethod
    def of_game(
        cls, game: str, channels: int, blocks: int, value_units: int = 32
    ) -> "ConvolutionSize":
        """The size of a network of a game; raises NotationError for what can't be."""
        side, planes, move_planes, _ = _core.board_of(game)
        if not (0 < channels <= _MOST_CHANNELS and channels % CHANNEL_UNIT == 0):
            raise NotationError(
                f"channels are a multiple of {CHANNEL_UNIT} up to {_MOST_CHANNELS}, not {channels}"
            )
        if not 1 <= blocks <= _MOST_BLOCKS:
            raise NotationError(f"there are 1 to {_MOST_BLOCKS} blocks, not {blocks}")
        if not 1 <= value_units <= _MOST_VALUE_UNITS:
            raise NotationError(f"there are 1 to {_MOST_VALUE_UNITS} units, not {value_units}")
        inputs = _core.network_size(game)[0]
        rest = inputs - planes * side * side
        return cls(side, planes, rest, move_planes, channels, blocks, value_units)

    @property
    def shapes(self) -> Shapes:
        """The shape and type of each array, in the order of a file."""
        c, n, v = self.channels, self.blocks, self.value_units
        found: dict[str, tuple[tuple[int, ...], str]] = {
            "stem": ((self.planes, TAPS, c), "<i2"),
            "globals": ((self.globals, c), "<i2"),
            "stem_bias": ((c,), "<i2"),
        }
        for name, outputs, width in (
            ("first", (n, c), TAPS * c),
            ("second", (n, c), TAPS * c),
            ("squeeze", (n, c), 2 * c),
            ("value", (v,), 2 * c),
        ):
            found[name] = ((*outputs, width), "<i2")
            found[f"{name}_bias"] = (outputs, "<i4")
            found[f"{name}_shifts"] = (outputs, "|u1")
        return found | {
            "value_out": ((v,), "<f4"),
            "moves": ((self.move_planes, c), "<i2"),
            "move_bias": ((self.move_planes,), "<f4"),
            "pass": ((2 * c,), "<i2"),
            "constants": ((3,), "<f4"),
        }


@dataclass(frozen=True, eq=False)
class Convolution(QuantizedNetwork):
    """What positions are worth and how strong their moves are, by blocks of convolutions.

    A search takes it as `eval=FILE` and `strengths=FILE`; a tree search with `cut=0` and both looks
    once at a position. `hyoka learn network --blocks N` and `learn selfplay --blocks N` make some.
    """

    kind = "convolution"
    size_type = ConvolutionSize
    chosen = ("channels", "blocks", "value_units")

    size: ConvolutionSize

    @cached_property
    def in_core(self) -> _core.Convolution:
        """The network as the compiled core works with it."""
        flat: dict[str, object] = {**self.flat}
        return _core.Convolution(self.game, self.size.channels, flat)

    @property
    def unit(self) -> str:
        """Of scores."""
        return "thousandths of a logit"

    @property
    def scale(self) -> float:
        """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""
        return 1000.0

    @property
    def judges_moves(self) -> bool:
        """Whether it says how strong moves are, too."""
        return True

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """What positions are worth as expected results of the first player, 0 to 1."""
        logits = self.in_core.logits(list(positions)).astype(np.float64)
        return logistic(logits)

    def leaves(self) -> _core.Model:
        """Both by one look, as tree searches take it."""
        return self.in_core.leaves()


def convolution(game: str, source: str | Path | ModelFile) -> Convolution:
    """Load a convolution network from a file; raises SourceError."""
    return Convolution.load(game, source)
