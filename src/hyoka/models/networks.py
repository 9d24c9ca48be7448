# SPDX-License-Identifier: Apache-2.0
"""Quantized networks, dense and convolutional: files, values and move strengths."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.foundation.math import logistic
from hyoka.games import Position, game_facts
from hyoka.models.model import StaticEvaluation, decompress, join_header, split_header
from hyoka.storage.model_file import shown

Shapes = Mapping[str, tuple[tuple[int, ...], str]]
"""The shape and type of each array, in file order."""


@dataclass(frozen=True, eq=False)
class QuantizedNetwork(StaticEvaluation):
    """An integer network with a value head and a policy head."""

    noun = "network"
    size_type: ClassVar[Any]
    """Creates a size from a game and the `chosen` numbers; has the `shapes` of the arrays."""
    chosen: ClassVar[tuple[str, ...]]
    """The numbers of the size that are free; the game determines the others."""

    game: str
    size: Any
    numbers: Mapping[str, NDArray[Any]] = field(repr=False)
    """The arrays; see the size's `shapes`."""

    def __post_init__(self) -> None:
        for name, (shape, kind) in self.size.shapes.items():
            array = self.numbers[name]
            if array.shape != shape or array.dtype != np.dtype(kind):
                raise NotationError(f"a network's '{name}' is {shape} of {kind}")
            array.flags.writeable = False
        _ = self.in_core  # validates the numbers

    @cached_property
    def in_core(self) -> Any:
        """The network in the compiled core."""
        raise NotImplementedError

    @property
    def flat(self) -> dict[str, NDArray[Any]]:
        """The flattened arrays, as the core takes them."""
        return {
            name: np.ascontiguousarray(array).reshape(-1) for name, array in self.numbers.items()
        }

    def _identity(self) -> Iterable[bytes]:
        return repr(self.size).encode(), self._bytes()

    def _bytes(self) -> bytes:
        return b"".join(self.numbers[name].tobytes() for name in self.size.shapes)

    def model(self) -> _core.Model:
        """The value head as searches take it."""
        model: _core.Model = self.in_core.evaluation()
        return model

    def move_model(self) -> _core.Model:
        """The policy head as searches take it; raises NotationError if there is none."""
        model: _core.Model = self.in_core.move_model()
        return model

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
            raise ValueError("it has no size")
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
"""The first layer's quantization: steps of 1/128,"""
WEIGHT_STEPS: Final = 64
"""the later weights': 1/64,"""
SIGHT_STEPS: Final = 127
"""and the policy inputs': 1/127."""
WIDTH_UNIT: Final = 64
_LARGEST_WIDTH: Final = 1024
_MOST_UNITS: Final = 256


@dataclass(frozen=True)
class NetworkSize:
    """The size of a dense network."""

    inputs: int
    codes: int
    """The number of move codes of the game."""
    width: int
    """The width of the first layer, a multiple of 64."""
    value_units: int
    policy_units: int
    """0: no policy head."""

    @classmethod
    def of_game(
        cls, game: str, width: int, value_units: int = 32, policy_units: int = 64
    ) -> "NetworkSize":
        """The size of a network of a game; raises NotationError for invalid numbers."""
        inputs, codes = _core.network_size(game)
        if not (0 < width <= _LARGEST_WIDTH and width % WIDTH_UNIT == 0):
            raise NotationError(
                f"a width is a multiple of {WIDTH_UNIT} up to {_LARGEST_WIDTH}, not {width}"
            )
        if not (0 < value_units <= _MOST_UNITS and 0 <= policy_units <= _MOST_UNITS):
            raise NotationError(f"a network has up to {_MOST_UNITS} units of each kind")
        return cls(inputs, codes, width, value_units, policy_units)

    @property
    def policy_codes(self) -> int:
        """The number of move codes with policy outputs."""
        return self.codes if self.policy_units else 0

    @property
    def shapes(self) -> Shapes:
        """The shape and type of each array, in file order."""
        return {
            "first": ((self.inputs, self.width), "<i2"),
            "first_bias": ((self.width,), "<i2"),
            "value": ((self.value_units, self.width), "<i2"),
            "value_bias": ((self.value_units,), "<f4"),
            "value_out": ((self.value_units,), "<f4"),
            "value_out_bias": ((1,), "<f4"),
            "policy": ((self.policy_units, self.width), "<i2"),
            "policy_bias": ((self.policy_units,), "<f4"),
            "moves": ((self.policy_codes, self.policy_units), "|i1"),
            "move_bias": ((self.policy_codes,), "<f4"),
            "move_scale": ((1,), "<f4"),
        }


@dataclass(frozen=True, eq=False)
class Network(QuantizedNetwork):
    """A dense network.

    Searches use its values as `eval=FILE` and its policy as `strengths=FILE`. `hyoka learn network`
    and `hyoka learn selfplay` train networks.
    """

    kind = "network"
    size_type = NetworkSize
    chosen = ("width", "value_units", "policy_units")

    size: NetworkSize

    @cached_property
    def in_core(self) -> _core.Network:
        """The network in the compiled core."""
        flat = self.flat
        return _core.Network(
            self.game,
            self.size.width,
            flat["first"],
            flat["first_bias"],
            flat["value"],
            flat["value_bias"],
            flat["value_out"],
            float(flat["value_out_bias"][0]),
            flat["policy"],
            flat["policy_bias"],
            flat["moves"],
            flat["move_bias"],
            float(flat["move_scale"][0]),
        )

    @property
    def unit(self) -> str:
        """The unit of scores."""
        return "centipawns" if game_facts(self.game).search.quiescence else "thousandths of a logit"

    @property
    def scale(self) -> float:
        """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""
        return self.in_core.scale

    @property
    def has_policy(self) -> bool:
        """Whether it has a policy head."""
        return self.size.policy_units > 0

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """The first player's expected results, 0 to 1."""
        own = self.in_core.logits(list(positions)).astype(np.float64)
        first = np.array([position.to_play is _core.Player.first for position in positions], bool)
        return logistic(np.where(first, own, -own))


STEPS: Final = 256
"""The quantization of activations: steps of 1/256, from 0"""
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
    """The size of a convolution network."""

    side: int
    planes: int
    """The number of input planes."""
    globals: int
    """The number of inputs without a place on the board."""
    move_planes: int
    channels: int
    """A multiple of 16."""
    blocks: int
    """The number of residual blocks, of two convolutions each."""
    value_units: int

    @classmethod
    def of_game(
        cls, game: str, channels: int, blocks: int, value_units: int = 32
    ) -> "ConvolutionSize":
        """The size of a network of a game; raises NotationError for invalid numbers."""
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
        """The shape and type of each array, in file order."""
        c, n, v = self.channels, self.blocks, self.value_units
        shapes: dict[str, tuple[tuple[int, ...], str]] = {
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
            shapes[name] = ((*outputs, width), "<i2")
            shapes[f"{name}_bias"] = (outputs, "<i4")
            shapes[f"{name}_shifts"] = (outputs, "|u1")
        return shapes | {
            "value_out": ((v,), "<f4"),
            "moves": ((self.move_planes, c), "<i2"),
            "move_bias": ((self.move_planes,), "<f4"),
            "pass": ((2 * c,), "<i2"),
            "constants": ((3,), "<f4"),
        }


@dataclass(frozen=True, eq=False)
class Convolution(QuantizedNetwork):
    """A convolution network of residual blocks.

    Searches use its values as `eval=FILE` and its policy as `strengths=FILE`; a tree search with
    both and `cutoff=0` runs it once per position. `hyoka learn network --blocks N` and
    `hyoka learn selfplay --blocks N` train networks.
    """

    kind = "convolution"
    size_type = ConvolutionSize
    chosen = ("channels", "blocks", "value_units")

    size: ConvolutionSize

    @cached_property
    def in_core(self) -> _core.Convolution:
        """The network in the compiled core."""
        flat: dict[str, object] = {**self.flat}
        return _core.Convolution(self.game, self.size.channels, flat)

    @property
    def unit(self) -> str:
        """The unit of scores."""
        return "thousandths of a logit"

    @property
    def scale(self) -> float:
        """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""
        return 1000.0

    @property
    def has_policy(self) -> bool:
        """Whether it has a policy head."""
        return True

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """The first player's expected results, 0 to 1."""
        logits = self.in_core.logits(list(positions)).astype(np.float64)
        return logistic(logits)

    def leaves(self) -> _core.Model:
        """Both heads in one evaluation, as tree searches take them."""
        return self.in_core.leaves()
