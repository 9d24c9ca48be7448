# SPDX-License-Identifier: Apache-2.0
"""METS, the move evaluation tree (Yoshii 1998), and diagrams of its ranking."""

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
from hyoka.games.diagram import Cell, Diagram
from hyoka.games.diagram.builders import diagram
from hyoka.models.loading import mets_tree
from hyoka.models.model import Model
from hyoka.records.bulk import GameTable
from hyoka.storage.model_file import ModelFile, Origin, read_model_file

THRESHOLD: Final = 50
"""A node with fewer patterns is a leaf; this is the paper's largest tree."""


@dataclass(frozen=True)
class QuestionPath:
    """The questions of a tree on the path from its root to a leaf."""

    tactics: tuple[tuple[str, str], ...]
    """Tactical questions with their answers."""
    stones: tuple[tuple[int, int, int], ...]
    """Points (down, right) relative to the move, with their content: 0 own stone, 1 opponent's,
    2 empty, 3 off the board.
    """


def tactical_questions(game: str) -> list[tuple[str, tuple[str, ...]]]:
    """A tree's questions besides stones: the subject and up to four answers.

    >>> tactical_questions("othello")[0]
    ('discs turned', ('none: no move', '1 or 2', '3 to 5', '6 or more'))
    """
    try:
        listed = _core.tactical_questions(game_facts(game).name)
    except ValueError as error:
        raise NotationError(str(error)) from None
    return [(about, tuple(filter(None, answers))) for about, answers in listed]


def code_of(move: AnyMove) -> int:
    """Code of a move; codes of points come first."""
    return move if isinstance(move, int) else int(move.code)


def _last_codes(game: Game) -> tuple[int | None, int | None]:
    """The last two moves of a line; None where unknown."""
    moves = [code_of(move) for move in getattr(game, "moves", [])[-2:]]
    return moves[-1] if moves else None, moves[-2] if len(moves) > 1 else None


def _score(odds: float) -> float:
    return 1 / odds if odds > 0 else math.inf


@dataclass(frozen=True, eq=False)
class Mets(Model):
    """A grown tree of a game, with the counts of its leaves."""

    kind = "mets"

    game: str
    tree: _core.MetsTree
    origin: Origin | None = None

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.tree.leaf_count

    @property
    def mean_depth(self) -> float:
        """Mean number of questions about points per leaf."""
        return float(self.tree.depths().mean()) if self.leaves else 0.0

    @property
    def size(self) -> int:
        """File size in bytes."""
        return len(self.tree.to_bytes())

    @property
    def asks_tactics(self) -> bool:
        """Whether the tree asks about liberties, ladders and the last moves before stones."""
        return self.tree.asks_tactics

    def with_smoothing(self, smoothing: float) -> "Mets":
        """Copy with leaf odds smoothed by `smoothing` virtual points at the ancestors' odds.

        Smoothing affects mainly leaves with few points.
        """
        try:
            return Mets(self.game, self.tree.with_smoothing(smoothing), self.origin)
        except ValueError as error:
            raise ParameterError("smoothing", str(error).removeprefix("smoothing ")) from None

    def model(self) -> _core.Model:
        """Move model for searches; a move's strength is the odds of its leaf."""
        return _core.mets_model(self.game, self.tree)

    def rank(self, game: Game) -> list[tuple[AnyMove, float]]:
        """Legal point moves with the paper's scores, best first.

        The score is the ratio of points not played to points played in the leaf. Without smoothing,
        it is infinite for a leaf that has no patterns. A tree with tactical questions uses the last
        two moves of a line; a position has none.
        """
        odds = self.tree.odds_of(self._position(game), self.game, *_last_codes(game))
        moves = [move for move in game.legal_moves if code_of(move) < len(odds)]
        scored = [(move, _score(odds[code_of(move)])) for move in moves]
        return sorted(scored, key=lambda each: each[1])

    def questions(self, game: Game, move: AnyMove) -> QuestionPath:
        """The questions on the path to a move's leaf."""
        tactics, stones = self.tree.path_of(
            self._position(game), self.game, code_of(move), *_last_codes(game)
        )
        return QuestionPath(tuple(tactics), tuple(stones))

    def _position(self, game: Game) -> Position:
        if name_of(game) != self.game:
            raise NotationError(f"a tree of {self.game} can't rank moves of {name_of(game)}")
        position: Any = getattr(game, "position", game)
        return cast(Position, position)

    def _content(self) -> bytes:
        return self.tree.to_bytes()

    @classmethod
    def load(cls, source: str | Path | ModelFile) -> "Mets":
        """Load the tree of a file; raises SourceError if it has none."""
        model_file = read_model_file(source, cls.kind)
        if model_file.game is None:
            raise SourceError(f"{model_file}: it does not say which game its tree is of")
        return cls(game_facts(model_file.game).name, mets_tree(model_file), model_file.origin)


def learn_mets(
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
    """Grow a tree over the moves of games and count the points in its leaves.

    `symmetric` uses all eight orientations of each pattern, so a leaf holds eight times as many.
    `tactics` allows questions about liberties, captures, ladders and the last moves near the root,
    as long as they are informative.
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
"""Labels of the best moves in order; 0 is the tenth."""


def ranking_diagram(
    line: Line, best: Sequence[AnyMove], questions: QuestionPath | None = None
) -> Diagram:
    """A diagram with the best moves numbered, each on the last cell in its notation.

    `asked`, the questions about the first move, marks the points they examine.

    >>> import hyoka as hk
    >>> game = hk.games.Go5().line()
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
    if questions is not None and best and (middle := _cell_of(str(best[0]), board)) is not None:
        cells = [(middle[0] + down, middle[1] + right) for down, right, _ in questions.stones]
        marks = frozenset(
            (row, column)
            for row, column in [middle, *cells]
            if 0 <= row < board.rows and 0 <= column < board.columns
        )
    return dataclasses.replace(board, labels=tuple(labels.items()), marks=marks)


def _cell_of(move: str, board: Diagram) -> Cell | None:
    """Target cell of a move's notation; None for a pass."""
    return next(reversed(board.named_in(move)), None)
