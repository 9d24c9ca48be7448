# SPDX-License-Identifier: Apache-2.0
"""The rooms of the studio, in menu order."""

from typing import Final

from hyoka.apps.studio.pages import Room
from hyoka.apps.studio.rooms import board, home, learning, match, review, study
from hyoka.apps.studio.rooms import runs_room as runs

ROOMS: Final[tuple[Room, ...]] = (
    home.ROOM,
    board.ROOM,
    review.ROOM,
    study.ROOM,
    match.ROOM,
    learning.ROOM,
    runs.ROOM,
)
