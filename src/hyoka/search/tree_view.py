# SPDX-License-Identifier: Apache-2.0
"""Views of search trees: named moves, pruned nodes, and the steps of the search."""

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
from hyoka.search.search_result import MoveStats, OnResult, SearchLimits, SearchResult
from hyoka.search.searcher import Searcher, name_or_none
from hyoka.search.spec import SearchSpec

_PROOFS: Final = (None, "lost", "drawn", "won", None)
_FORBIDDEN: Final = 4
_SHARE: Final = 1000
"""By default, moves with less than one in this many visits are left out."""
MOST_PLIES: Final = 100


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A move of a tree, or its root; values are the first player's, 0 to 1."""

    move: AnyMove | None
    """None at the root."""
    name: str
    """The move in standard notation; empty at the root."""
    mover: Player
    """The player who makes the move."""
    visits: int = 0
    value: float | None = None
    score: float | None = None
    """For the first player, in the result's unit, if the search has scores."""
    prior: float | None = None
    """The move's prior."""
    proven: str | None = None
    """`won`, `lost` or `drawn` for the mover, if proven."""
    children: tuple["TreeNode", ...] = ()
    """The next moves, best first."""
    left_out: int = 0
    """The number of searched moves left out."""
    left_out_visits: int = 0

    def nodes(self) -> Iterator["TreeNode"]:
        """Iterate over the node and its descendants, parents first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    @property
    def main_line(self) -> tuple["TreeNode", ...]:
        """The line of best children."""
        line, node = list[TreeNode](), self
        while node.children:
            node = node.children[0]
            line.append(node)
        return tuple(line)


@dataclass(frozen=True, slots=True)
class TreeStep:
    """An intermediate result of a search."""

    playouts: int
    nodes: int
    depth: int
    time_s: float
    best: str
    """In standard notation; empty without a move."""
    value: float | None
    score: float | None
    moves: tuple[tuple[str, int, float | None], ...]
    """Name, visits and value of the searched moves, best first."""


@dataclass(frozen=True)
class SearchTree:
    """A search of one position: its tree and its steps."""

    game: str | None
    """A name of `hyoka.games.GAMES`, or None of a game notation in Python."""
    line: AnyLine = field(repr=False)
    """The searched line."""
    spec: str
    result: SearchResult
    root: TreeNode = field(repr=False)
    steps: tuple[TreeStep, ...] = field(repr=False)
    """Intermediate results; the last one is the result."""
    least: int
    """Moves with fewer visits are left out."""
    depth: int
    """Deeper moves are left out."""
    size: int
    """The number of nodes, including those left out."""
    by_lines: bool = False
    """True for a search without a tree: nodes are its reported moves and variations."""

    def _repr_html_(self) -> str:
        return self.result._repr_html_()

    @property
    def shown(self) -> int:
        """The number of nodes in `root`."""
        return sum(1 for _ in self.root.nodes())


def search_tree(
    game: AnyGame,
    search: Searcher | SearchSpec | str,
    limits: SearchLimits | None = None,
    *,
    only: Sequence[AnyMove] | None = None,
    least: int | None = None,
    depth: int | None = None,
    on_result: OnResult | None = None,
) -> SearchTree:
    """Search a position or a line, and return its tree.

    Moves with fewer than `least` visits (by default a thousandth of all, at least 2) or deeper than
    `depth` plies are left out, but counted in their parents. For a search without a tree, such as
    alpha-beta, the nodes are its reported moves and their variations.

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
    intermediate: list[SearchResult] = []

    def on_intermediate(result: SearchResult) -> None:
        intermediate.append(result)
        if on_result is not None:
            on_result(result)

    steps: list[SearchResult] = []
    result = searcher.search(
        line, limits, only=only, on_result=on_intermediate, every_s=0.03, on_step=steps.append
    )
    notation = _Notation(name)
    # A search without fixed steps has intermediate results only.
    results = [*(steps if len(steps) > 1 else intermediate), result]
    if len(results) > 1 and _reach(results[-2]) == _reach(result):
        del results[-2]
    arrays = _Arrays.of(searcher.tree() if searcher.has_tree else {})
    deepest = depth or MOST_PLIES
    if arrays is None:
        least = least or 1
        root = _from_lines(line, notation, result, least, deepest)
    else:
        least = least or max(2, arrays.visits[0] // _SHARE)
        priors = any(report.prior is not None for report in result.moves)
        root = _Pruning(arrays, notation, least, deepest, priors=priors).node(0, line, 0)
    return SearchTree(
        name,
        line,
        searcher.spec.text,
        result,
        root,
        tuple(_step(notation, line, each) for each in results),
        least,
        deepest,
        size=sum(1 for _ in root.nodes()) if arrays is None else len(arrays.visits),
        by_lines=arrays is None,
    )


def _reach(result: SearchResult) -> int:
    """The progress of a search: playouts, else depth."""
    return result.playouts or result.depth


@dataclass(frozen=True)
class _Notation:
    """Converts moves of a game from codes and to names."""

    game: str | None

    def name(self, line: AnyLine, move: AnyMove) -> str:
        if self.game is None:
            return str(move)
        return game_facts(self.game).naming.format_move(line.position, move)

    def move(self, line: AnyLine, code: int) -> AnyMove:
        if self.game is not None:
            return game_facts(self.game).move(code)
        return next(move for move in line.legal_moves if getattr(move, "code", move) == code)


@dataclass(frozen=True, slots=True)
class _Arrays:
    """A tree from `Searcher.tree`, by columns; siblings are adjacent."""

    parent: NDArray[Any]
    move: list[int]
    mover: list[int]
    visits: list[int]
    value: list[float]
    prior: list[float]
    proof: list[int]

    @classmethod
    def of(cls, tree: dict[str, NDArray[Any]]) -> "_Arrays | None":
        """The columns; None without a tree or with a root only."""
        if len(tree.get("visits", ())) <= 1:
            return None
        names = ("move", "mover", "visits", "value", "prior", "proof")
        return cls(tree["parent"], *(tree[name].tolist() for name in names))

    def children(self, index: int) -> list[int]:
        """The legal children of a node, in the search's order of preference."""
        first, end = np.searchsorted(self.parent, (index, index + 1))

        def preference(child: int) -> tuple[int, int, float]:
            proof = {"won": 2, "lost": 0}.get(_PROOFS[self.proof[child]] or "", 1)
            sign = 1 if self.mover[child] == Player.first.value else -1
            return proof, self.visits[child], sign * self.value[child]

        there = (child for child in range(first, end) if self.proof[child] != _FORBIDDEN)
        return sorted(there, key=preference, reverse=True)


@dataclass(frozen=True, slots=True)
class _Pruning:
    """Selects the nodes to show."""

    arrays: _Arrays
    notation: _Notation
    least: int
    depth: int
    priors: bool

    def node(self, index: int, line: AnyLine, ply: int, name: str = "") -> TreeNode:
        """A node with its shown descendants; `line` leads to it."""
        arrays = self.arrays
        children, left_out, left_out_visits = list[TreeNode](), 0, 0
        for child in arrays.children(index):
            if arrays.visits[child] < self.least or ply >= self.depth:
                left_out += 1
                left_out_visits += arrays.visits[child]
                continue
            move = self.notation.move(line, arrays.move[child])
            child_name = self.notation.name(line, move)
            children.append(self.node(child, line.play(move), ply + 1, child_name))
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
    line: AnyLine, notation: _Notation, result: SearchResult, least: int, depth: int
) -> TreeNode:
    """The reported moves of a search, with their variations."""
    shown = [report for report in result.moves if not report.visits or report.visits >= least]
    return TreeNode(
        None,
        "",
        Player.second if line.to_play is Player.first else Player.first,
        result.playouts,
        result.value,
        score=result.score,
        children=tuple(_from_report(line, notation, report, depth) for report in shown),
        left_out=len(result.moves) - len(shown),
        left_out_visits=sum(report.visits for report in result.moves if report not in shown),
    )


def _from_report(line: AnyLine, notation: _Notation, report: MoveStats, depth: int) -> TreeNode:
    nodes: list[TreeNode] = []
    for move in (report.pv or (report.move,))[:depth]:
        nodes.append(TreeNode(move, notation.name(line, move), line.to_play))
        line = line.play(move)
    nodes[0] = dataclasses.replace(
        nodes[0],
        visits=report.visits,
        value=report.value,
        score=report.score,
        prior=report.prior,
        proven=report.proven,
    )
    node = nodes.pop()
    while nodes:
        node = dataclasses.replace(nodes.pop(), children=(node,))
    return node


def _step(notation: _Notation, line: AnyLine, result: SearchResult) -> TreeStep:
    return TreeStep(
        result.playouts,
        result.nodes,
        result.depth,
        result.time_s,
        "" if result.best is None else notation.name(line, result.best),
        result.value,
        result.score,
        tuple(
            (notation.name(line, report.move), report.visits, report.value)
            for report in result.moves
            if report.visits or report.value is not None
        ),
    )
