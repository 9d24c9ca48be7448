# SPDX-License-Identifier: Apache-2.0
"""Networks small enough to be asked at every leaf: what a position is worth, and which moves.

Inputs are on or off, as the player to move sees the board. The first layer sums the rows of those
that are on; a few units above it say the value, others are what moves are judged by. The compiled
core works in whole numbers, the same on every machine and by whichever way a position was reached.
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

KIND: Final = "network"
"""Of artefact."""
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
class Network(WholeNumberNetwork):
    """What positions are worth and how strong their moves are, by a network.

    A search takes it as `eval=FILE`, and for the strengths of moves as `strengths=FILE`.
    `hyoka learn network` and `hyoka learn selfplay` make some.
    """

    kind = KIND
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
        return np.asarray(1 / (1 + np.exp(-np.where(first, own, -own))))


def network(game: str, source: str | Path | Artefact) -> Network:
    """The network that a file holds; raises SourceError."""
    return Network.from_artefact(read_artefact(source, KIND), game_facts(game).name)
