# SPDX-License-Identifier: Apache-2.0
"""METS, the move evaluation tree (Yoshii 1998), and its ranking drawn on the board."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from hyoka import _core
from hyoka.foundation.errors import NotationError, ParameterError, SourceError
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import AnyMove, Game, Line, Position, game_facts, name_of
from hyoka.games.diagram import Cell, Diagram, diagram
from hyoka.models.loading import mets_tree
from hyoka.models.model import Model
from hyoka.records.bulk import GameTable
from hyoka.storage.model_file import ModelFile, Origin, read_model_file

THRESHOLD: Final = 50
"""A node that fewer patterns reach is a leaf: the paper's largest tree."""


@dataclass(frozen=True)
class Asked:
    """What a tree asks about a point until it comes to a leaf."""

    tactics: tuple[tuple[str, str], ...]
    """Questions and answers, in words."""
    stones: tuple[tuple[int, int, int], ...]
    """Points down and right from it, and what is there: 0 an own stone, 1 the other's, 2 none,
    3 off the board."""


def tactical_questions(game: str) -> list[tuple[str, tuple[str, ...]]]:
    """What a tree can ask beside stones: what about, and up to four answers.

    >>> tactical_questions("othello")[0]
    ('discs turned', ('none: no move', '1 or 2', '3 to 5', '6 or more'))
    """
    try:
        listed = _core.tactical_questions(game_facts(game).name)
    except ValueError as error:
        raise NotationError(str(error)) from None
    return [(about, tuple(filter(None, answers))) for about, answers in listed]


def code_of(move: AnyMove) -> int:
    """The number of a move; those of points come first."""
    return move if isinstance(move, int) else int(move.code)


def _last_codes(game: Game) -> tuple[int | None, int | None]:
    """The last two moves of a line, as far as they are known."""
    moves = [code_of(move) for move in getattr(game, "moves", [])[-2:]]
    return moves[-1] if moves else None, moves[-2] if len(moves) > 1 else None


def _score(odds: float) -> float:
    return 1 / odds if odds > 0 else math.inf


@dataclass(frozen=True, eq=False)
class Mets(Model):
    """A grown tree of a game, with what came to its leaves."""

    kind = "mets"

    game: str
    tree: _core.MetsTree
    origin: Origin | None = None

    @property
    def leaves(self) -> int:
        """How many leaves it has."""
        return self.tree.leaf_count

    @property
    def mean_depth(self) -> float:
        """How many points are asked about on the way to a leaf, on average over the leaves."""
        return float(self.tree.depths().mean()) if self.leaves else 0.0

    @property
    def size(self) -> int:
        """In bytes, as it lies in a file."""
        return len(self.tree.to_bytes())

    @property
    def asks_tactics(self) -> bool:
        """Whether it asks about liberties, ladders and the last moves before it asks for stones."""
        return self.tree.asks_tactics

    def with_smoothing(self, smoothing: float) -> "Mets":
        """The same with so many points added to each leaf's own, at the odds of nodes above it.

        Leaves that few points came to are then believed less: they go by those near them.
        """
        try:
            return Mets(self.game, self.tree.with_smoothing(smoothing), self.origin)
        except ValueError as error:
            raise ParameterError("smoothing", str(error).removeprefix("smoothing ")) from None

    def model(self) -> _core.Model:
        """What searches take: a move is as strong as the odds of its leaf."""
        return _core.mets_model(self.game, self.tree)

    def rank(self, game: Game) -> list[tuple[AnyMove, float]]:
        """The legal moves that are points with the paper's score of each, the best first.

        The score is the number of times that such a point was not the move for each time that it
        was; infinite where no pattern came, unless the tree is smoothed. A tree that asks about
        tactics looks at the last two moves of a line; a position has none.
        """
        odds = self.tree.odds_of(self._position(game), self.game, *_last_codes(game))
        moves = [move for move in game.legal_moves if code_of(move) < len(odds)]
        scored = [(move, _score(odds[code_of(move)])) for move in moves]
        return sorted(scored, key=lambda each: each[1])

    def asked(self, game: Game, move: AnyMove) -> Asked:
        """What is asked on the way to a move's leaf."""
        tactics, stones = self.tree.path_of(
            self._position(game), self.game, code_of(move), *_last_codes(game)
        )
        return Asked(tuple(tactics), tuple(stones))

    def _position(self, game: Game) -> Position:
        if name_of(game) != self.game:
            raise NotationError(f"a tree of {self.game} can't rank moves of {name_of(game)}")
        position: Any = getattr(game, "position", game)
        return cast(Position, position)

    def _content(self) -> bytes:
        return self.tree.to_bytes()

    @classmethod
    def load(cls, source: str | Path | ModelFile) -> "Mets":
        """The tree of a file; raises SourceError if it holds none."""
        model_file = read_model_file(source, cls.kind)
        if model_file.game is None:
            raise SourceError(f"{model_file}: it does not say which game its tree is of")
        return cls(game_facts(model_file.game).name, mets_tree(model_file), model_file.origin)


def learn_mets(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    *,
    threshold: int = THRESHOLD,
    symmetric: bool = False,
    tactics: bool = False,
    smoothing: float = 0.0,
    origin: Origin | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Mets:
    """Grow a tree over the moves of games, and count what comes to its leaves.

    `symmetric` grows it over all eight orientations of each pattern, so that a leaf holds eight
    times as many. `tactics` lets it ask about liberties, captures, ladders and the last moves
    first, as long as that tells much of whether a point is the move.
    """
    if threshold < 1:
        raise ParameterError("threshold", f"is 1 or more, not {threshold}")
    patterns = int((games.played >= 0).sum()) * (8 if symmetric else 1)
    try:
        growing = Tally(progress, "growing", patterns, "patterns")
        tree = games.grown_tree(
            threshold=threshold,
            symmetric=symmetric,
            tactics=tactics,
            threads=threads,
            progress=growing.reach,
        )
        growing.reach(patterns)
        scoring = Tally(progress, "scoring", len(games.plies), "positions")
        tree = games.counted_tree(tree, threads=threads, progress=scoring.reach)
        scoring.reach(len(games.plies))
    except ValueError as error:
        raise NotationError(str(error)) from None
    return Mets(games.game, tree, origin).with_smoothing(smoothing)


NUMBERED: Final = "1234567890"
"""What stands on the cells of the best moves, in their order; the tenth is 0."""


def ranking_diagram(line: Line, best: Sequence[AnyMove], asked: Asked | None = None) -> Diagram:
    """The best moves of a position numbered on its board, each on the last cell that it names.

    `asked`, what a tree asks about the first of them, marks the points it looks at.

    >>> import hyoka as hk
    >>> game = hk.Go5().line()
    >>> ranking_diagram(game, [game.parse("C3"), game.parse("B2")]).labels
    (((2, 2), '1'), ((3, 1), '2'))
    """
    board = diagram(line)
    labels: dict[Cell, str] = {}
    for number, move in zip(NUMBERED, best, strict=False):
        cell = _cell_of(str(move), board)
        if cell is not None:
            labels.setdefault(cell, number)
    marks: frozenset[Cell] = frozenset()
    if asked is not None and best and (middle := _cell_of(str(best[0]), board)) is not None:
        cells = [(middle[0] + down, middle[1] + right) for down, right, _ in asked.stones]
        marks = frozenset(
            (row, column)
            for row, column in [middle, *cells]
            if 0 <= row < board.rows and 0 <= column < board.columns
        )
    return dataclasses.replace(board, labels=tuple(labels.items()), marks=marks)


def _cell_of(move: str, board: Diagram) -> Cell | None:
    """Where a move ends, as its text says; None for a pass."""
    return next(reversed(board.named_in(move)), None)
