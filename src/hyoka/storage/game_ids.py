# SPDX-License-Identifier: Apache-2.0
"""Game ids: 64-bit hashes of games' moves, and compact exact sets of them.

Players, dates and comments do not affect a game's id. Models store the ids of the games from which
they were fitted, so that other games can test them.
"""

import base64
import hashlib
import itertools
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import NotationError

MOST_GAMES: Final = 1 << 24
"""The maximum size of a set in a file."""
_BYTES: Final = 8


def game_id(moves: NDArray[np.uint16]) -> int:
    """Compute a game's id: the first 64 bits of the SHA-256 of its moves' codes.

    >>> hex(game_id(np.arange(3, dtype=np.uint16)))
    '0xd09fca218969c290'
    """
    digest = hashlib.sha256(moves.astype("<u2").tobytes()).digest()
    return int.from_bytes(digest[:_BYTES], "little")


@dataclass(frozen=True, eq=False)
class GameIds:
    """An exact set of games.

    >>> some = GameIds.of([5, 2**63, 5])
    >>> len(some), some.contains(np.array([5, 6], np.uint64)).tolist()
    (2, [True, False])
    >>> GameIds.from_json(some.as_json()) == some
    True
    """

    ids: NDArray[np.uint64]
    """Unique ids in ascending order."""

    @classmethod
    def of(cls, ids: Iterable[int] | NDArray[np.uint64]) -> Self:
        """Build the set of ids."""
        numbers = ids if isinstance(ids, np.ndarray) else np.array(list(ids), np.uint64)
        return cls(np.unique(numbers))

    @classmethod
    def of_moves(cls, moves: NDArray[np.uint16], offsets: NDArray[np.int64]) -> Self:
        """Build the set of concatenated games: each game's moves end at the next one's offset."""
        pairs = itertools.pairwise(offsets.tolist())
        return cls.of([game_id(moves[start:end]) for start, end in pairs])

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameIds) and np.array_equal(self.ids, other.ids)

    def __hash__(self) -> int:
        return hash(self.ids.tobytes())

    def __or__(self, other: "GameIds") -> "GameIds":
        """The union of two sets."""
        return GameIds(np.union1d(self.ids, other.ids))

    def contains(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Test which ids are in the set."""
        return np.isin(ids, self.ids)

    def as_json(self) -> dict[str, Any]:
        """Encode the set for a file: about 8 bytes a game.

        The differences of successive ids are transposed by byte, so that the upper bytes, mostly
        0, compress well, and encoded as text.
        """
        steps = np.diff(self.ids, prepend=np.uint64(0)).astype("<u8")
        planes = steps.view(np.uint8).reshape(-1, _BYTES).T.tobytes()
        return {"count": len(self), "ids": base64.b85encode(zlib.compress(planes, 9)).decode()}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Parse the output of `as_json`; raises NotationError."""
        if not isinstance(value, dict):
            raise NotationError("the learned games are not an object")
        count, text = value.get("count"), value.get("ids")
        if type(count) is not int or not 0 <= count <= MOST_GAMES or not isinstance(text, str):
            raise NotationError("the learned games have no count, or no ids")
        try:
            unpacker = zlib.decompressobj()
            planes = unpacker.decompress(base64.b85decode(text), count * _BYTES + 1)
        except (ValueError, zlib.error) as error:
            raise NotationError(f"the learned games can't be read: {error}") from None
        if len(planes) != count * _BYTES:
            raise NotationError(f"the learned games are not {count:,} ids")
        steps = np.frombuffer(planes, np.uint8).reshape(_BYTES, -1).T.copy().view("<u8").ravel()
        ids = np.cumsum(steps, dtype=np.uint64)
        if (ids[1:] <= ids[:-1]).any():
            raise NotationError("the learned games are not in rising order")
        return cls(ids)
