# SPDX-License-Identifier: Apache-2.0
"""Results from the tables of Takeuchi 2010 (experiments 000)."""

from typing import Final, NamedTuple

from hyoka.arena import Score


class TheirRow(NamedTuple):
    """A program's row in tables I and II."""

    accuracy: float
    f_score: float
    lift: float
    roc: float
    average_precision: float
    break_even: float
    tau: float
    expected_difference: float


GO: Final[dict[tuple[str, int], TheirRow]] = {
    ("Fuego", 50_000): TheirRow(0.714, 0.775, 1.781, 0.803, 0.810, 0.775, 0.621, 0.183),
    ("Fuego", 5_000): TheirRow(0.710, 0.771, 1.792, 0.798, 0.807, 0.768, 0.611, 0.176),
    ("Fuego", 500): TheirRow(0.704, 0.764, 1.813, 0.789, 0.800, 0.758, 0.591, 0.168),
    ("UCT", 50_000): TheirRow(0.631, 0.665, 2.017, 0.704, 0.708, 0.637, 0.432, 0.101),
    ("UCT", 5_000): TheirRow(0.608, 0.682, 1.783, 0.690, 0.697, 0.627, 0.400, 0.093),
    ("UCT", 500): TheirRow(0.570, 0.688, 1.475, 0.677, 0.678, 0.619, 0.367, 0.087),
    ("MC", 50_000): TheirRow(0.617, 0.578, 2.675, 0.680, 0.678, 0.618, 0.384, 0.088),
    ("MC", 5_000): TheirRow(0.611, 0.578, 2.593, 0.671, 0.670, 0.614, 0.367, 0.088),
    ("MC", 500): TheirRow(0.577, 0.533, 2.591, 0.614, 0.601, 0.579, 0.273, 0.081),
    ("MC-Score", 50_000): TheirRow(0.574, 0.534, 2.551, 0.611, 0.611, 0.577, 0.231, 2.493),
    ("MC-Score", 5_000): TheirRow(0.569, 0.539, 2.438, 0.604, 0.605, 0.571, 0.217, 2.451),
    ("MC-Score", 500): TheirRow(0.552, 0.537, 2.232, 0.574, 0.568, 0.552, 0.154, 2.492),
    ("GNU Go", 4): TheirRow(0.653, 0.714, 1.509, 0.691, 0.651, 0.643, 0.396, 3.797),
    ("GNU Go", 2): TheirRow(0.650, 0.711, 1.510, 0.688, 0.648, 0.642, 0.389, 3.660),
    ("GNU Go", 0): TheirRow(0.647, 0.709, 1.509, 0.683, 0.642, 0.641, 0.380, 3.556),
}
"""Tables I and II by program and playouts or level; E(v) of the last two programs in points."""

CHESS_MATCHES: Final[dict[tuple[str, str], Score]] = {
    ("MLM", "off"): Score(423, 287, 290),
    ("LS", "off"): Score(410, 358, 232),
    ("original", "off"): Score(402, 396, 202),
    ("MLM", "original"): Score(246, 442, 312),
    ("LS", "original"): Score(269, 428, 303),
}
"""Table III, from the first player's view; `original` is Crafty, `off` without the bishop terms."""
BISHOP_FACTORS: Final = {"MLM": (1.75,), "LS": (1.33,)}
"""Table IV: the bishop weights relative to Crafty's."""

SHOGI_MATCHES: Final[dict[tuple[str, str], Score]] = {
    ("MLM", "off"): Score(600, 8, 392),
    ("hand", "off"): Score(566, 13, 421),
    ("MLM", "hand"): Score(499, 8, 493),
}
"""Table V; `off` is the original GPS Shogi, without king unsafety."""
KING_WEIGHTS: Final = {"MLM": (-115.0, 83.0), "hand": (-125.0, 50.0)}
"""Table VI: w1 of unsafety by attackers and w2 by defenders."""
