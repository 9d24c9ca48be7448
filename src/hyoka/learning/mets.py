# SPDX-License-Identifier: Apache-2.0
"""METS, the move evaluation tree (Yoshii 1998), which ranks the points of a position.

A tree asks about the stones around a point, ring by ring. It grows over the patterns around the
moves that were played; then every empty point of every position goes down it, and a leaf is worth
how often a point that came there was the move. Games whose moves are points have one: Go, Othello.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.artefact import Artefact, Origin, read_artefact
from hyoka.errors import NotationError, ParameterError, SourceError
from hyoka.games import AnyMove, Position, game_facts, name_of
from hyoka.passes import GameTable
from hyoka.progress import OnProgress, Tally
from hyoka.search.move_models import mets_tree

THRESHOLD: Final = 50
"""A node that fewer patterns reach is a leaf: the paper's largest tree."""
KIND: Final = "mets"


@dataclass(frozen=True, eq=False)
class Mets:
    """A grown tree of a game, with what came to its leaves."""

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

    def with_smoothing(self, smoothing: float) -> "Mets":
        """The same with so many points of the usual odds added to each leaf's own.

        Leaves that few points came to are then believed less.
        """
        try:
            return Mets(self.game, self.tree.with_smoothing(smoothing), self.origin)
        except ValueError as error:
            raise ParameterError("smoothing", str(error).removeprefix("smoothing ")) from None

    def model(self) -> _core.Model:
        """What searches take: a move is as strong as the odds of its leaf."""
        return _core.mets_model(self.game, self.tree)

    def rank(self, position: Position) -> list[tuple[AnyMove, float]]:
        """The legal moves that are points with the paper's score of each, the best first.

        The score is the number of times that such a point was not the move for each time that it
        was; infinite where no pattern came.
        """
        if name_of(position) != self.game:
            raise NotationError(f"a tree of {self.game} can't rank moves of {name_of(position)}")
        leaves = self.tree.leaves_of(position, self.game)
        scores = self._scores()
        ranked = []
        for move in position.legal_moves:
            point = move if isinstance(move, int) else move.code
            if point < len(leaves):
                leaf = leaves[point]
                ranked.append((move, float(scores[leaf]) if leaf >= 0 else math.inf))
        return sorted(ranked, key=lambda each: each[1])

    def asked(self, position: Position, move: AnyMove) -> list[tuple[int, int, int]]:
        """What is asked on the way to a move's leaf: points down and right from it, and answers.

        An answer is 0 for an own stone, 1 for the other's, 2 for none, 3 off the board.
        """
        point = move if isinstance(move, int) else move.code
        return self.tree.path_of(position, self.game, point)

    def _scores(self) -> NDArray[np.float64]:
        positive, negative = self.tree.counts()
        smoothing = self.tree.smoothing
        usual = positive.sum() / max(negative.sum(), 1)
        with np.errstate(divide="ignore"):
            return np.asarray((negative + smoothing) / (positive + smoothing * usual))

    def artefact(self) -> Artefact:
        """As a file holds it."""
        return Artefact.of(KIND, self.tree.to_bytes(), game=self.game, origin=self.origin)

    def save(self, path: str | Path) -> None:
        """Write it to a file for `predict` and `strengths=FILE`."""
        self.artefact().save(path)

    @classmethod
    def load(cls, source: str | Path | Artefact) -> "Mets":
        """The tree of a file; raises SourceError if it holds none."""
        artefact = read_artefact(source, KIND)
        if artefact.game is None:
            raise SourceError(f"{artefact}: it does not say which game its tree is of")
        return cls(game_facts(artefact.game).name, mets_tree(artefact), artefact.origin)


def learn_mets(  # noqa: PLR0913 - a keyword for each choice
    games: GameTable,
    *,
    threshold: int = THRESHOLD,
    symmetric: bool = False,
    smoothing: float = 0.0,
    origin: Origin | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Mets:
    """Grow a tree over the moves of games, and count what comes to its leaves.

    `symmetric` grows it over all eight orientations of each pattern, so that a leaf holds eight
    times as many.
    """
    if threshold < 1:
        raise ParameterError("threshold", f"is 1 or more, not {threshold}")
    patterns = int((games.played >= 0).sum()) * (8 if symmetric else 1)
    try:
        growing = Tally(progress, "growing", patterns, "patterns")
        tree = games.grown_tree(
            threshold=threshold, symmetric=symmetric, threads=threads, progress=growing.reach
        )
        growing.reach(patterns)
        scoring = Tally(progress, "scoring", len(games.plies), "positions")
        tree = games.counted_tree(tree, threads=threads, progress=scoring.reach)
        scoring.reach(len(games.plies))
    except ValueError as error:
        raise NotationError(str(error)) from None
    return Mets(games.game, tree, origin).with_smoothing(smoothing)
