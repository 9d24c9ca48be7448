# SPDX-License-Identifier: Apache-2.0
"""The rooms of the studio, in the order of its menu: whoever adds one adds a line."""

from typing import Final

from hyoka.studio.room import Room
from hyoka.studio.rooms import board, home, learning, match, runs, study

ROOMS: Final[tuple[Room, ...]] = (
    home.ROOM,
    board.ROOM,
    study.ROOM,
    match.ROOM,
    learning.ROOM,
    runs.ROOM,
)
