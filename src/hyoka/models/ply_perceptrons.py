# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007's networks for Blokus Duo: one perceptron per ply over pattern counts."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.games import Position
from hyoka.models.model import StaticEvaluation, decompress, join_header, split_header
from hyoka.storage.model_file import shown

PATTERNS: Final = 3 + 21 + 2_862
"""Patterns of 1×1, 2×2 and 3×3 squares, rotations and reflections merged."""
HANDS: Final = 42
"""Pieces in hand: those of the side to move, then the opponent's."""
LAST_PLY: Final = 42
"""The number of pieces of both players."""
MOST_HIDDEN: Final = 128
_LARGEST: Final = 1e6


@dataclass(frozen=True, eq=False)
class PlyPerceptrons(StaticEvaluation):
    """A three-layer perceptron per ply; its output is the win rate of the side to move.

    A ply is the number of pieces laid. A ply without a network uses the nearest one, the earlier
    of two. `weights` has one row per network: from each input to all hidden units, hidden biases,
    output weights, output bias. Hidden units and the output are sigmoids.

    >>> import hyoka as hk
    >>> networks = PlyPerceptrons.untrained((0, 10), hidden=4)
    >>> networks.value([hk.BlokusDuo()]).tolist()
    [0.5]
    """

    kind = "perceptrons"
    noun = "perceptrons"

    plies: tuple[int, ...]
    """The plies that have a network, in increasing order."""
    hidden: int
    sees_hands: bool
    """Whether pieces in hand are inputs, too; not so in the paper."""
    weights: NDArray[np.float32] = field(repr=False)
    game: ClassVar[str] = "blokus_duo"
    unit: ClassVar[str] = "thousandths of a logit"
    """The unit of scores."""
    scale: ClassVar[float] = 1000.0
    """A score s is worth 1 / (1 + exp(-s / scale)) to the first player."""

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip((-1, *self.plies), self.plies, strict=False))
        if not self.plies or not rising or self.plies[-1] > LAST_PLY:
            raise NotationError(f"perceptrons need rising plies from 0 to {LAST_PLY}")
        if not 1 <= self.hidden <= MOST_HIDDEN:
            raise NotationError(f"perceptrons have 1 to {MOST_HIDDEN} hidden units")
        shape = (len(self.plies), weights_of(self.hidden, sees_hands=self.sees_hands))
        if self.weights.shape != shape or not np.isfinite(self.weights).all():
            raise NotationError(
                f"{shape[0]} perceptrons need {shape[1]:,} finite weights each, a row each"
            )
        self.weights.flags.writeable = False

    @classmethod
    def untrained(
        cls, plies: tuple[int, ...], *, hidden: int, sees_hands: bool = False
    ) -> "PlyPerceptrons":
        """Networks with zero weights, which evaluate every position as even."""
        shape = (len(plies), weights_of(hidden, sees_hands=sees_hands))
        return cls(plies, hidden, sees_hands, np.zeros(shape, np.float32))

    def _identity(self) -> Iterable[bytes]:
        return f"{self.plies} {self.hidden} {self.sees_hands}".encode(), self.weights.tobytes()

    def value(self, positions: Sequence[Position]) -> NDArray[np.float64]:
        """The first player's win rate, 0 to 1."""
        return np.asarray(_core.perceptron_values(self.model(), list(positions)))

    def model(self) -> _core.Model:
        """The evaluation as searches take it."""
        return self._model

    @cached_property
    def _model(self) -> _core.Model:
        return _core.ply_perceptrons(
            list(self.plies), self.hidden, self.sees_hands, self.weights.ravel()
        )

    def _content(self) -> bytes:
        header = {
            "patterns": PATTERNS,
            "hands": self.sees_hands,
            "hidden": self.hidden,
            "plies": self.plies,
        }
        return join_header(header, zlib.compress(self.weights.astype("<f4").tobytes(), 6))

    @classmethod
    def _from_content(cls, content: bytes, game: str) -> "PlyPerceptrons":
        if game != cls.game:
            raise ValueError(f"perceptrons evaluate {cls.game}, not {game}")
        header, data = split_header(content)
        if not isinstance(header, dict):
            raise ValueError("it does not describe its networks")
        plies, hidden, sees_hands = _shape(header)
        shape = len(plies), weights_of(hidden, sees_hands=sees_hands)
        count = shape[0] * shape[1]
        data = decompress(data, 4 * count, f"there are not {count:,} weights in it")
        weights = np.frombuffer(data, "<f4").astype(np.float32).reshape(shape)
        if not (np.abs(weights) <= _LARGEST).all():
            raise ValueError("weights are not numbers, or too large")
        return cls(plies, hidden, sees_hands, weights)


def weights_of(hidden: int, *, sees_hands: bool) -> int:
    """The number of weights of one network."""
    return (PATTERNS + (HANDS if sees_hands else 0) + 2) * hidden + 1


def pattern_counts(positions: Sequence[Position], *, hands: bool = False) -> NDArray[np.uint8]:
    """The networks' inputs, one row per position: pattern counts, and pieces in hand if chosen.

    Squares are seen from the side to move. Patterns are ordered by size and, within a size, by
    their smallest code: the squares from the top left as base-3 digits, 0 for empty, 1 for own, 2
    for the opponent's.

    >>> import hyoka as hk
    >>> counts = pattern_counts([hk.BlokusDuo()])
    >>> counts.shape, counts[0, :3].tolist()
    ((1, 2886), [196, 0, 0])
    """
    return np.asarray(_core.pattern_counts(list(positions), hands))


def pieces_laid(positions: Sequence[Position]) -> NDArray[np.int32]:
    """The number of pieces laid in each position, which selects the network."""
    return np.asarray(_core.pieces_laid(list(positions)))


def _shape(about: dict[str, Any]) -> tuple[tuple[int, ...], int, bool]:
    plies, hidden, hands = (about.get(name) for name in ("plies", "hidden", "hands"))
    if about.get("patterns") != PATTERNS:
        raise ValueError(
            f"{shown(about.get('patterns'))} patterns, which are {PATTERNS:,} in this Hyoka"
        )
    if not isinstance(plies, list) or not all(type(ply) is int for ply in plies):
        raise ValueError(f"'plies' needs a list of whole numbers, not {shown(plies)}")
    if len(plies) > LAST_PLY + 1:
        raise ValueError(f"{len(plies):,} networks, where there are {LAST_PLY + 1} plies")
    if type(hidden) is not int or not 1 <= hidden <= MOST_HIDDEN:
        raise ValueError(f"'hidden' needs a number from 1 to {MOST_HIDDEN}, not {shown(hidden)}")
    if type(hands) is not bool:
        raise ValueError(f"'hands' needs true or false, not {shown(hands)}")
    return tuple(plies), hidden, hands
