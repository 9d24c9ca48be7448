# SPDX-License-Identifier: Apache-2.0
"""Blokus Duo in plain sets of squares: slow, short, and made without a look at the core."""

from functools import cache

Square = tuple[int, int]  # column and row, both from 1: e10 is (5, 10)
Squares = frozenset[Square]

SIZE = 14
STARTS: tuple[Square, Square] = ((5, 10), (10, 5))


def edges(squares: Squares) -> Squares:
    """The squares beside `squares`, on the board or off it."""
    beside = {(x + dx, y + dy) for x, y in squares for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))}
    return frozenset(beside) - squares


def corners(squares: Squares) -> Squares:
    return frozenset((x + dx, y + dy) for x, y in squares for dx in (-1, 1) for dy in (-1, 1))


def at_origin(squares: Squares) -> Squares:
    left, bottom = min(x for x, _ in squares), min(y for _, y in squares)
    return frozenset((x - left, y - bottom) for x, y in squares)


def orientations(shape: Squares) -> frozenset[Squares]:
    turned = [shape]
    for _ in range(3):
        turned.append(frozenset((y, -x) for x, y in turned[-1]))
    mirrored = [frozenset((-x, y) for x, y in squares) for squares in turned]
    return frozenset(map(at_origin, turned + mirrored))


@cache
def pieces() -> frozenset[frozenset[Squares]]:
    """The 21 shapes of one to five squares, each as the set of its orientations."""
    found: set[frozenset[Squares]] = set()
    shapes = {frozenset({(0, 0)})}
    for _ in range(5):
        found |= {orientations(shape) for shape in shapes}
        shapes = {at_origin(shape | {square}) for shape in shapes for square in edges(shape)}
    return frozenset(found)


@cache
def placements(piece: frozenset[Squares]) -> list[Squares]:
    """Every set of squares that a piece can cover."""
    found = []
    for shape in piece:
        for dx in range(1, SIZE + 1):
            for dy in range(1, SIZE + 1):
                squares = frozenset((x + dx, y + dy) for x, y in shape)
                if all(x <= SIZE and y <= SIZE for x, y in squares):
                    found.append(squares)
    return found


class BlokusTwin:
    """A game under way; an empty set of squares is a pass."""

    def __init__(self) -> None:
        self.to_play = 0
        self.laid: list[Squares] = [frozenset(), frozenset()]
        self.left = [pieces(), pieces()]

    def closed(self, player: int) -> Squares:
        """The squares that the player's pieces may not cover."""
        return self.laid[0] | self.laid[1] | edges(self.laid[player])

    def attaching(self, player: int) -> Squares:
        """The squares of which the player's next piece must cover one."""
        own = self.laid[player]
        touching = corners(own) if own else frozenset({STARTS[player]})
        on_board = {(x, y) for x, y in touching if 1 <= x <= SIZE and 1 <= y <= SIZE}
        return frozenset(on_board) - self.closed(player)

    def can_lay(self, player: int) -> set[Squares]:
        closed, attaching = self.closed(player), self.attaching(player)
        return {
            squares
            for piece in self.left[player]
            for squares in placements(piece)
            if squares.isdisjoint(closed) and not squares.isdisjoint(attaching)
        }

    def legal_moves(self) -> set[Squares]:
        """A pass where only the other player can lay a piece; nothing when neither can."""
        moves = self.can_lay(self.to_play)
        if not moves and self.can_lay(1 - self.to_play):
            return {frozenset()}
        return moves

    def play(self, squares: Squares) -> None:
        if squares:
            self.laid[self.to_play] |= squares
            self.left[self.to_play] -= {orientations(squares)}
        self.to_play = 1 - self.to_play

    def score(self) -> int:
        """Squares laid by the first player less the second's."""
        return len(self.laid[0]) - len(self.laid[1])
