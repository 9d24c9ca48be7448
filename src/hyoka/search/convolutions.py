# SPDX-License-Identifier: Apache-2.0
"""Networks that see the same shapes wherever they lie on the board: blocks of convolutions.

For games whose inputs and moves lie on a square board. The compiled core works in whole numbers,
the same on every machine; see `core/network/convolution.h` for the formula.
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
from hyoka.search.networks import Shapes, packed, unpacked

KIND: Final = "convolution"
"""Of artefact."""
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
class Convolution:
    """What positions are worth and how strong their moves are, by blocks of convolutions.

    A search takes it as `eval=FILE` and `strengths=FILE`; a tree search with `cut=0` and both looks
    once at a position. `hyoka learn network --blocks N` and `learn selfplay --blocks N` make some.
    """

    game: str
    size: ConvolutionSize
    numbers: Mapping[str, NDArray[Any]] = field(repr=False)
    """As the core has them; see `ConvolutionSize.shapes`."""

    def __post_init__(self) -> None:
        for name, (shape, kind) in self.size.shapes.items():
            array = self.numbers[name]
            if array.shape != shape or array.dtype != np.dtype(kind):
                raise NotationError(f"a network's '{name}' is {shape} of {kind}")
            array.flags.writeable = False
        _ = self.in_core  # refuses numbers that don't fit together

    @cached_property
    def in_core(self) -> _core.Convolution:
        """The network as the compiled core works with it."""
        flat: dict[str, object] = {
            name: np.ascontiguousarray(array).reshape(-1) for name, array in self.numbers.items()
        }
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
        logits = self.in_core.logits(list(positions)).astype(np.float64)
        return np.asarray(1 / (1 + np.exp(-logits)))

    def model(self) -> _core.Model:
        """What positions are worth, as searches take it."""
        return self.in_core.evaluation()

    def move_model(self) -> _core.Model:
        """How strong moves are, as searches take it."""
        return self.in_core.move_model()

    def leaves(self) -> _core.Model:
        """Both by one look, as tree searches take it."""
        return self.in_core.leaves()

    def artefact(self, origin: Origin | None = None) -> Artefact:
        """As a file holds it: a line that tells its size, then the numbers, packed."""
        about = {each.name: getattr(self.size, each.name) for each in fields(self.size)}
        content = json.dumps(about).encode() + b"\n" + packed(self.numbers, self.size.shapes)
        return Artefact.of(KIND, content, game=self.game, origin=origin)

    @classmethod
    def from_artefact(cls, artefact: Artefact, game: str) -> "Convolution":
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
        self.artefact(origin or Origin("hyoka.Convolution.save")).save(path)


def _size_of(about: object, game: str) -> ConvolutionSize:
    if not isinstance(about, dict):
        raise ValueError("it does not say how large it is")
    chosen = [about.get(name) for name in ("channels", "blocks", "value_units")]
    numbers = [number for number in chosen if type(number) is int]
    if len(numbers) != len(chosen):
        raise ValueError(f"its size is {shown(about)}")
    size = ConvolutionSize.of_game(game, *numbers)
    for name in ("side", "planes", "globals", "move_planes"):
        if about.get(name) != getattr(size, name):
            raise ValueError(
                f"{shown(about.get(name))} {name}, which are {getattr(size, name):,} in this Hyoka"
            )
    return size


def convolution(game: str, source: str | Path | Artefact) -> Convolution:
    """The convolution network that a file holds; raises SourceError."""
    return Convolution.from_artefact(read_artefact(source, KIND), game_facts(game).name)
