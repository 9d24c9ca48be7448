# SPDX-License-Identifier: Apache-2.0
"""Shogi positions in YaneuraOu's 40 bytes: `PackedSfenValue`, what trainers of networks read.

32 bytes of a position (a code for each square and piece in hand), then its score and the move
played, the ply and the result, all for whoever is to move.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core

PACKED: Final = np.dtype(
    [
        ("sfen", "u1", 32),
        ("score", "<i2"),
        ("move", "<u2"),
        ("ply", "<u2"),
        ("result", "i1"),
        ("padding", "u1"),
    ]
)
_HAND: Final = "PLNSBRG"
_IN_ALL: Final = (18, 4, 4, 4, 2, 2, 4)
_GOLD: Final = 7
_KING: Final = 8
# Of pawn, lance, knight, silver, bishop, rook and gold: the code, lowest bit first, and its length.
_CODES: Final = ((0x01, 2), (0x03, 4), (0x0B, 4), (0x07, 4), (0x1F, 6), (0x3F, 6), (0x0F, 5))
# The same of those in the box, which a handicap has left out; the last bit of all but gold is 0.
_BOX_CODES: Final = ((0x02, 3), (0x09, 5), (0x0D, 5), (0x0B, 5), (0x2F, 7), (0x3F, 7), (0x1B, 5))


def _of_squares() -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Codes and lengths of what stands on a square, from -14 to 14."""
    codes, lengths = np.zeros(29, np.uint16), np.zeros(29, np.uint8)
    lengths[14] = 1  # nothing is a single 0
    for piece in range(1, 15):
        kind = piece if piece <= _KING else piece - _KING
        if kind == _KING:
            continue  # kings are told by their squares
        code, length = _CODES[kind - 1]
        if kind != _GOLD:
            code, length = code | (piece > _KING) << length, length + 1
        for colour, place in ((0, 14 + piece), (1, 14 - piece)):
            codes[place], lengths[place] = code | colour << length, length + 1
    return codes, lengths


_SQUARE_CODES, _SQUARE_LENGTHS = _of_squares()


_OffBoard = tuple[NDArray[np.uint16], NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp]]


def _off_board() -> _OffBoard:
    """For every piece that may be in a hand or the box: code, length, which count, its place."""
    rows = []
    for colour in (0, 1):
        for kind, (code, length) in enumerate(_CODES):
            # A piece in hand is something, and not promoted.
            bits = length - 1 + (kind + 1 != _GOLD)
            rows += [
                (code >> 1 | colour << bits, bits + 1, 7 * colour + kind, place)
                for place in range(_IN_ALL[kind])
            ]
    for kind in (0, 1, 2, 3, 6, 4, 5):  # gold comes before bishop there
        code, length = _BOX_CODES[kind]
        rows += [(code, length, 14 + kind, place) for place in range(_IN_ALL[kind])]
    codes, lengths, counts, places = zip(*rows, strict=True)
    return (
        np.array(codes, np.uint16),
        np.array(lengths, np.uint8),
        np.array(counts, np.intp),
        np.array(places, np.intp),
    )


_OFF_CODES, _OFF_LENGTHS, _OFF_COUNTS, _OFF_PLACES = _off_board()


def packed_sfens(positions: Sequence[Any]) -> NDArray[np.uint8]:
    """32 bytes a position."""
    count = len(positions)
    cells = np.array([position.cells for position in positions], np.int8).reshape(count, 9, 9)
    # Squares go down the files, from the first on.
    squares = cells[:, :, ::-1].transpose(0, 2, 1).reshape(count, 81)
    hands = np.array(
        [
            [position.hand(player).get(letter, 0) for player in _PLAYERS for letter in _HAND]
            for position in positions
        ],
        np.int64,
    ).reshape(count, 14)
    turn = np.array([position.to_play == _core.Player.second for position in positions], np.uint16)
    kings = [np.where((at := squares == king).any(1), at.argmax(1), 81) for king in (8, -8)]
    kinds = np.where(np.abs(squares) > _KING, np.abs(squares) - _KING, np.abs(squares))
    laid = np.stack([(kinds == kind).sum(1) for kind in range(1, _KING)], 1)
    box = np.maximum(np.array(_IN_ALL) - laid - hands[:, :7] - hands[:, 7:], 0)
    held = np.concatenate([hands, box], 1)[:, _OFF_COUNTS] > _OFF_PLACES
    codes = np.concatenate(
        [
            np.stack([turn, *kings], 1).astype(np.uint16),
            _SQUARE_CODES[squares + 14],
            np.broadcast_to(_OFF_CODES, held.shape),
        ],
        axis=1,
    )
    lengths = np.concatenate(
        [
            np.broadcast_to(np.array([1, 7, 7], np.uint8), (count, 3)),
            _SQUARE_LENGTHS[squares + 14],
            np.where(held, _OFF_LENGTHS, 0),
        ],
        axis=1,
    ).astype(np.int64)
    return np.packbits(_bits(codes, lengths), axis=1, bitorder="little")


_PLAYERS: Final = (_core.Player.first, _core.Player.second)


def _bits(codes: NDArray[np.uint16], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The codes one after another, the lowest bit first."""
    begins = np.cumsum(lengths, axis=1) - lengths
    bits = np.zeros((len(codes), 256), np.uint8)
    for bit in range(8):
        rows, tokens = np.nonzero(lengths > bit)
        bits[rows, begins[rows, tokens] + bit] = codes[rows, tokens] >> bit & 1
    return bits


def move16(text: str) -> int:
    """A move in USI as 16 bits: where to, where from or what is dropped, promotion, drop.

    >>> move16("7g7f"), move16("P*5e"), move16("8h2b+")
    (7739, 16552, 41738)
    """
    to = _square(text[2:4])
    if text[1] == "*":
        return to | (_HAND.index(text[0]) + 1) << 7 | 1 << 14
    return to | _square(text[:2]) << 7 | (text[4:] == "+") << 15


def _square(text: str) -> int:
    return 9 * (int(text[0]) - 1) + ord(text[1]) - ord("a")
