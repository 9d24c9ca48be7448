# SPDX-License-Identifier: Apache-2.0
"""Positions of Go: points by name, stones, and what a position's text holds beside them."""

from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from hyoka.foundation.errors import NotationError
from hyoka.games.protocols import AnyGame, GoPosition
from hyoka.games.registry import GO, facts_of, facts_of_size

COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"
"""The letters of columns, without I."""


def as_go(position: AnyGame) -> GoPosition:
    """Narrow a position to a Go position; raises NotationError for other games."""
    facts = facts_of(position)
    if facts.family != GO:
        raise NotationError(f"this is for Go, not for {facts.title}")
    return cast("GoPosition", position)


def go_of_size(size: str) -> type[GoPosition]:
    """Return the type of Go positions by board size (as text); raises NotationError."""
    facts = facts_of_size(GO, size)
    if facts is None:
        raise NotationError(f"boards of size '{size}' are none of ours")
    return cast("type[GoPosition]", facts.position_type)


def point_name(row: int, column: int, size: int) -> str:
    """Return the name of a point by its row from the top and its column.

    >>> point_name(0, 8, 9)
    'J9'
    """
    return f"{COLUMNS[column]}{size - row}"


def stones_of(cells: NDArray[np.int8]) -> tuple[list[str], list[str]]:
    """Return the points of Black's and of White's stones.

    >>> import hyoka as hk
    >>> stones_of(hk.games.Go5().play("C3").cells)
    (['C3'], [])
    """
    size = len(cells)
    black, white = (
        [point_name(row, column, size) for row, column in np.argwhere(stones).tolist()]
        for stones in (cells > 0, cells < 0)
    )
    return black, white


def with_ko(position: GoPosition, point: str = "-") -> GoPosition:
    """Return the position with the point that a ko forbids; by default none."""
    return _with_text_field(position, 2, point)


def without_passes(position: GoPosition) -> GoPosition:
    """Return the position as if no pass came before, so that the game goes on."""
    return _with_text_field(position, 3, "0")


def _with_text_field(position: GoPosition, index: int, value: str) -> GoPosition:
    fields = position.text.split()
    fields[index] = value
    return type(position).from_text(" ".join(fields))
