# SPDX-License-Identifier: Apache-2.0
"""Which stones live, and the score: told by random playouts from the position as it stands.

Playouts never fill their own eyes, so what has two eyes lives in nearly all of them and what has
none dies in most. They cannot tell seki from life.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Player
from hyoka.as_engine.gtp_board import COLUMNS
from hyoka.games import GoPosition
from hyoka.problems.past import with_text_field

PLAYOUTS: Final = 128
_LONGEST: Final = 3
"""Moves a playout may take, times the points of the board."""


@dataclass(frozen=True, slots=True)
class Status:
    """What is judged of a position of Go; points are written as moves are."""

    alive: tuple[tuple[str, ...], ...]
    """Chains, whole."""
    dead: tuple[tuple[str, ...], ...]
    score: float
    """By area with the dead stones taken off, komi included, for Black."""


def judge(position: GoPosition, *, playouts: int = PLAYOUTS, seed: int = 1) -> Status:
    """Judge every chain: dead if in most playouts its points end up as the opponent's.

    Half of the playouts begin with either colour. The same seed gives the same judgement.
    """
    cells = position.cells
    kept = _ownership(position, playouts, seed)
    alive: list[tuple[str, ...]] = []
    dead: list[tuple[str, ...]] = []
    cleared = cells.copy()
    for chain in _chains(cells):
        colour = int(cells[chain[0]])
        mean = float(np.mean([kept[point] for point in chain])) * colour
        (alive if mean >= 0 else dead).append(tuple(_name(point, position.size) for point in chain))
        if mean < 0:
            for point in chain:
                cleared[point] = 0
    stones = [
        [_name(tuple(point), position.size) for point in np.argwhere(cleared == colour).tolist()]
        for colour in (1, -1)
    ]
    board = type(position).from_stones(*stones, komi=position.komi)
    return Status(tuple(alive), tuple(dead), float(board.score))


def _ownership(position: GoPosition, playouts: int, seed: int) -> NDArray[np.float64]:
    """For each point the mean of who owns it at a playout's end: 1 Black, -1 White."""
    points = position.size**2
    total = np.zeros((position.size, position.size))
    for number in range(playouts):
        player = Player.first if number % 2 == 0 else Player.second
        game = with_text_field(position.with_to_play(player), 3, "0")
        for ply in range(_LONGEST * points):
            if game.outcome is not None:
                break
            game = game.play(game.random_move(seed * 1_000_003 + number * 4096 + ply))
        total += _owned(game.cells)
    return total / playouts


def _owned(cells: NDArray[np.int8]) -> NDArray[np.float64]:
    """Stones, and the single-point eyes that a playout leaves."""
    owned = cells.astype(float)
    size = len(cells)
    for row, column in np.argwhere(cells == 0).tolist():
        near = {int(cells[point]) for point in _neighbours((row, column), size)} - {0}
        if len(near) == 1:
            owned[row, column] = near.pop()
    return owned


def _chains(cells: NDArray[np.int8]) -> list[list[tuple[int, int]]]:
    seen: set[tuple[int, int]] = set()
    chains = []
    for row, column in np.argwhere(cells != 0).tolist():
        if (row, column) in seen:
            continue
        chain, open_points = [], [(row, column)]
        seen.add((row, column))
        while open_points:
            point = open_points.pop()
            chain.append(point)
            for other in _neighbours(point, len(cells)):
                if other not in seen and cells[other] == cells[point]:
                    seen.add(other)
                    open_points.append(other)
        chains.append(sorted(chain))
    return chains


def _neighbours(point: tuple[int, int], size: int) -> list[tuple[int, int]]:
    row, column = point
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [(r, c) for r, c in around if 0 <= r < size and 0 <= c < size]


def _name(point: tuple[int, ...], size: int) -> str:
    return f"{COLUMNS[point[1]]}{size - point[0]}"
