# SPDX-License-Identifier: Apache-2.0
"""Networks that see the same shapes wherever they lie on the board: blocks of convolutions.

For games whose inputs and moves lie on a square board. The compiled core works in whole numbers,
the same on every machine; see `core/network/convolution.h` for the formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.artefact import Artefact, read_artefact
from hyoka.errors import NotationError
from hyoka.games import Position, game_facts
from hyoka.search.whole_numbers import Shapes, WholeNumberNetwork

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
class Convolution(WholeNumberNetwork):
    """What positions are worth and how strong their moves are, by blocks of convolutions.

    A search takes it as `eval=FILE` and `strengths=FILE`; a tree search with `cut=0` and both looks
    once at a position. `hyoka learn network --blocks N` and `learn selfplay --blocks N` make some.
    """

    kind = KIND
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
        return np.asarray(1 / (1 + np.exp(-logits)))

    def leaves(self) -> _core.Model:
        """Both by one look, as tree searches take it."""
        return self.in_core.leaves()


def convolution(game: str, source: str | Path | Artefact) -> Convolution:
    """The convolution network that a file holds; raises SourceError."""
    return Convolution.from_artefact(read_artefact(source, KIND), game_facts(game).name)
