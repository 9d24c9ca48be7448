# SPDX-License-Identifier: Apache-2.0
"""A search's tree to look at: its moves as people write them, and how it came to its choice."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Player
from hyoka.foundation.errors import ParameterError
from hyoka.games import AnyGame, AnyLine, AnyMove, game_facts
from hyoka.games.lines import as_line
from hyoka.search.playing import name_or_none
from hyoka.search.search_result import MoveReport, OnResult, SearchLimits, SearchResult
from hyoka.search.searcher import Searcher
from hyoka.search.spec import SearchSpec

_PROOFS: Final = (None, "lost", "drawn", "won", None)
_FORBIDDEN: Final = 4
_SHARE: Final = 1000
"""A move with less than one in so many visits is left out unless somebody says otherwise."""
MOST_PLIES: Final = 100


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A move of a tree, or its root; values are the first player's, 0 to 1."""

    move: AnyMove | None
    """None at the root."""
    name: str
    """The move as people write it; empty at the root."""
    mover: Player
    """Who makes the move."""
    visits: int = 0
    value: float | None = None
    score: float | None = None
    """In the unit of the result, for the first player; of searches that have scores."""
    prior: float | None = None
    """How good the move looked before it was searched."""
    proven: str | None = None
    """`won`, `lost` or `drawn` for the mover, where that is certain."""
    children: tuple["TreeNode", ...] = ()
    """What was looked at next, the best first."""
    left_out: int = 0
    """How many more of its moves were looked at."""
    left_out_visits: int = 0

    def nodes(self) -> Iterator["TreeNode"]:
        """The node and all below it, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    @property
    def main_line(self) -> tuple["TreeNode", ...]:
        """The best children, one below the other."""
        line, node = list[TreeNode](), self
        while node.children:
            node = node.children[0]
            line.append(node)
        return tuple(line)


@dataclass(frozen=True, slots=True)
class TreeStep:
    """What a search would have said if it had ended there."""

    playouts: int
    nodes: int
    depth: int
    time_s: float
    best: str
    """As people write it; empty if it knew none."""
    value: float | None
    score: float | None
    moves: tuple[tuple[str, int, float | None], ...]
    """Name, visits and value of the moves that were looked at, the best first."""


@dataclass(frozen=True)
class SearchTree:
    """A search of one position: the tree, and the steps by which it came to its choice."""

    game: str | None
    """A name of `hyoka.GAMES`, or None of a game written in Python."""
    line: AnyLine = field(repr=False)
    """What was searched."""
    spec: str
    result: SearchResult
    root: TreeNode = field(repr=False)
    steps: tuple[TreeStep, ...] = field(repr=False)
    """The first to the last; the last is the result."""
    least: int
    """Moves with fewer visits are left out."""
    depth: int
    """Moves further below are left out."""
    size: int
    """How many nodes the tree has, those left out among them."""
    by_lines: bool = False
    """The search has no tree: these are the moves that it reports and what it expects next."""

    def _repr_html_(self) -> str:
        return self.result._repr_html_()

    @property
    def shown(self) -> int:
        """How many of the nodes are here."""
        return sum(1 for _ in self.root.nodes())


def search_tree(  # noqa: PLR0913 - a keyword for each choice
    game: AnyGame,
    search: Searcher | SearchSpec | str,
    limits: SearchLimits | None = None,
    *,
    only: Sequence[AnyMove] | None = None,
    least: int | None = None,
    depth: int | None = None,
    on_result: OnResult | None = None,
) -> SearchTree:
    """Search a position or a line of play, and keep the tree to look at.

    Moves with fewer than `least` visits (by default one in a thousand of all, and no less than 2)
    and those more than `depth` plies down are left out; the nodes above them count them. A search
    that grows no tree, as alpha-beta, gives the moves that it reports, and their lines.

    >>> import hyoka as hk
    >>> tree = search_tree(hk.Chess(), "uct:playouts=300,seed=1", depth=2)
    >>> tree.root.visits, tree.root.children[0].name == tree.steps[-1].best
    (300, True)
    >>> [step.playouts for step in tree.steps][:6], tree.steps[-1].playouts
    ([1, 2, 3, 4, 5, 6], 300)
    """
    if least is not None and least < 1:
        raise ParameterError("least", f"is 1 visit or more, not {least}")
    if depth is not None and not 1 <= depth <= MOST_PLIES:
        raise ParameterError("depth", f"is 1 to {MOST_PLIES} plies, not {depth}")
    name = name_or_none(game)
    searcher = search if isinstance(search, Searcher) else Searcher(search, name)
    line = as_line(game, name)
    told: list[SearchResult] = []

    def tell(result: SearchResult) -> None:
        told.append(result)
        if on_result is not None:
            on_result(result)

    steps: list[SearchResult] = []
    result = searcher.search(
        line, limits, only=only, on_result=tell, every_s=0.03, on_step=steps.append
    )
    written = _Written(name)
    # A search that can't be halted at certain playouts was looked at from time to time.
    seen = [*(steps if len(steps) > 1 else told), result]
    if len(seen) > 1 and _reach(seen[-2]) == _reach(result):
        del seen[-2]
    arrays = _Arrays.of(searcher.tree() if searcher.has_tree else {})
    deepest = depth or MOST_PLIES
    if arrays is None:
        least = least or 1
        root = _from_lines(line, written, result, least, deepest)
    else:
        least = least or max(2, arrays.visits[0] // _SHARE)
        priors = any(report.prior is not None for report in result.moves)
        root = _Pruning(arrays, written, least, deepest, priors=priors).node(0, line, 0)
    return SearchTree(
        name,
        line,
        searcher.spec.text,
        result,
        root,
        tuple(_step(written, line, each) for each in seen),
        least,
        deepest,
        size=sum(1 for _ in root.nodes()) if arrays is None else len(arrays.visits),
        by_lines=arrays is None,
    )


def _reach(result: SearchResult) -> int:
    """How far a search had come: in playouts, else by depth."""
    return result.playouts or result.depth


@dataclass(frozen=True)
class _Written:
    """How the moves of a game are written, and which move a number stands for."""

    game: str | None

    def name(self, line: AnyLine, move: AnyMove) -> str:
        if self.game is None:
            return str(move)
        return game_facts(self.game).written(line.position, move)

    def move(self, line: AnyLine, code: int) -> AnyMove:
        if self.game is not None:
            return game_facts(self.game).move(code)
        return next(move for move in line.legal_moves if getattr(move, "code", move) == code)


@dataclass(frozen=True, slots=True)
class _Arrays:
    """A tree as `Searcher.tree` gives it, by columns; siblings stand side by side."""

    parent: NDArray[Any]
    move: list[int]
    mover: list[int]
    visits: list[int]
    value: list[float]
    prior: list[float]
    proof: list[int]

    @classmethod
    def of(cls, tree: dict[str, NDArray[Any]]) -> "_Arrays | None":
        """None without a tree, or of one that has nothing but a root."""
        if len(tree.get("visits", ())) <= 1:
            return None
        names = ("move", "mover", "visits", "value", "prior", "proof")
        return cls(tree["parent"], *(tree[name].tolist() for name in names))

    def children(self, index: int) -> list[int]:
        """The children of a node that may be played, in the search's order of preference."""
        first, end = np.searchsorted(self.parent, (index, index + 1))

        def preference(child: int) -> tuple[int, int, float]:
            proof = {"won": 2, "lost": 0}.get(_PROOFS[self.proof[child]] or "", 1)
            sign = 1 if self.mover[child] == Player.first.value else -1
            return proof, self.visits[child], sign * self.value[child]

        there = (child for child in range(first, end) if self.proof[child] != _FORBIDDEN)
        return sorted(there, key=preference, reverse=True)


@dataclass(frozen=True, slots=True)
class _Pruning:
    """What of a tree is shown."""

    arrays: _Arrays
    written: _Written
    least: int
    depth: int
    priors: bool

    def node(self, index: int, line: AnyLine, ply: int, name: str = "") -> TreeNode:
        """A node with what is shown below it; `line` is where it leads."""
        arrays = self.arrays
        children, left_out, left_out_visits = list[TreeNode](), 0, 0
        for child in arrays.children(index):
            if arrays.visits[child] < self.least or ply >= self.depth:
                left_out += 1
                left_out_visits += arrays.visits[child]
                continue
            move = self.written.move(line, arrays.move[child])
            called = self.written.name(line, move)
            children.append(self.node(child, line.play(move), ply + 1, called))
        return TreeNode(
            line.moves[-1] if ply else None,
            name,
            Player(arrays.mover[index]),
            arrays.visits[index],
            arrays.value[index],
            prior=arrays.prior[index] if self.priors and ply else None,
            proven=_PROOFS[arrays.proof[index]],
            children=tuple(children),
            left_out=left_out,
            left_out_visits=left_out_visits,
        )


def _from_lines(
    line: AnyLine, written: _Written, result: SearchResult, least: int, depth: int
) -> TreeNode:
    """The moves that a search reports, each with the line that it expects."""
    shown = [report for report in result.moves if not report.visits or report.visits >= least]
    return TreeNode(
        None,
        "",
        Player.second if line.to_play is Player.first else Player.first,
        result.playouts,
        result.value,
        score=result.score,
        children=tuple(_from_report(line, written, report, depth) for report in shown),
        left_out=len(result.moves) - len(shown),
        left_out_visits=sum(report.visits for report in result.moves if report not in shown),
    )


def _from_report(line: AnyLine, written: _Written, report: MoveReport, depth: int) -> TreeNode:
    made: list[TreeNode] = []
    for move in (report.pv or (report.move,))[:depth]:
        made.append(TreeNode(move, written.name(line, move), line.to_play))
        line = line.play(move)
    made[0] = dataclasses.replace(
        made[0],
        visits=report.visits,
        value=report.value,
        score=report.score,
        prior=report.prior,
        proven=report.proven,
    )
    node = made.pop()
    while made:
        node = dataclasses.replace(made.pop(), children=(node,))
    return node


def _step(written: _Written, line: AnyLine, result: SearchResult) -> TreeStep:
    return TreeStep(
        result.playouts,
        result.nodes,
        result.depth,
        result.time_s,
        "" if result.best is None else written.name(line, result.best),
        result.value,
        result.score,
        tuple(
            (written.name(line, report.move), report.visits, report.value)
            for report in result.moves
            if report.visits or report.value is not None
        ),
    )
