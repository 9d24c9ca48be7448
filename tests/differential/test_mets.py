# SPDX-License-Identifier: Apache-2.0
"""METS against a slow twin that grows the tree as the paper tells it, pattern by pattern."""

import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka import _core
from hyoka.errors import Error, NotationError, SourceError
from hyoka.learning.mets import Mets, learn_mets
from hyoka.learning.predicting import is_kept_apart, predict
from hyoka.passes import GameTable
from hyoka.samples import sample_path
from hyoka.search.move_models import move_model

OWN, OTHERS, EMPTY, OUTSIDE = range(4)
FARTHEST = 17
Point = tuple[int, int]


def ring(distance: int) -> list[Point]:
    """The points at a Manhattan distance, along the rows."""
    return [
        (down, right)
        for down in range(-distance, distance + 1)
        for right in sorted({-(distance - abs(down)), distance - abs(down)})
    ]


@dataclass(frozen=True)
class Pattern:
    """A board and a point of it, in one of its orientations."""

    cells: np.ndarray
    mover: int
    row: int
    column: int
    symmetry: int = 0

    def state(self, down: int, right: int) -> int:
        if self.symmetry & 1:
            right = -right
        if self.symmetry & 2:
            down = -down
        if self.symmetry & 4:
            down, right = right, down
        row, column = self.row + down, self.column + right
        side = len(self.cells)
        if not (0 <= row < side and 0 <= column < side):
            return OUTSIDE
        stone = self.cells[row, column]
        if stone < 0:
            return EMPTY
        return OWN if stone == self.mover else OTHERS


@dataclass
class TwinNode:
    question: Point
    children: dict[int, object]


def entropy(patterns: list[Pattern], question: Point) -> float:
    counts = sorted(Counter(pattern.state(*question) for pattern in patterns).values())
    return -sum(count * math.log(count) for count in counts if count > 1)


def grow(patterns: list[Pattern], threshold: int, asked: frozenset[Point]) -> object:
    """A node, or how many patterns a leaf has."""
    left = next(
        (
            points
            for distance in range(1, FARTHEST + 1)
            if (points := [point for point in ring(distance) if point not in asked])
        ),
        None,
    )
    if len(patterns) < threshold or left is None:
        return len(patterns)
    question = min(left, key=lambda point: entropy(patterns, point))
    groups: dict[int, list[Pattern]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.state(*question), []).append(pattern)
    return TwinNode(
        question,
        {
            state: grow(group, threshold, asked | {question})
            for state, group in sorted(groups.items())
        },
    )


def cells_of(position: hk.Position) -> np.ndarray:
    """-1 empty, 0 the first player's, 1 the second's."""
    cells = np.asarray(position.cells)
    return np.where(cells == 0, -1, np.where(cells > 0, 0, 1))


def positions_of(table: GameTable) -> list[tuple[hk.Position, int]]:
    """Positions with the code of the move played."""
    return list(zip(table.positions(), table.played.tolist(), strict=True))


def patterns_of(table: GameTable, symmetries: int) -> list[Pattern]:
    found = []
    for position, played in positions_of(table):
        cells = cells_of(position)
        side = len(cells)
        if 0 <= played < side * side:
            found += [
                Pattern(
                    cells, position.to_play == hk.Player.second, *divmod(played, side), symmetry
                )
                for symmetry in range(symmetries)
            ]
    return found


def flattened(node: object) -> list[tuple[Point, tuple[int, ...]] | int]:
    """The tree in the order of a walk: questions with the states that lead on, leaves as sizes."""
    if not isinstance(node, TwinNode):
        assert isinstance(node, int)
        return [node]
    below = itertools.chain.from_iterable(flattened(child) for child in node.children.values())
    return [(node.question, tuple(node.children)), *below]


def questions() -> list[Point]:
    return [point for distance in range(1, FARTHEST + 1) for point in ring(distance)]


def in_core(tree: _core.MetsTree, sizes: list[int]) -> list[tuple[Point, tuple[int, ...]] | int]:
    """Our tree in the same form, from its bytes; what its leaves hold is given."""
    data = tree.to_bytes()
    root = int.from_bytes(data[16:20], "little")
    nodes = np.frombuffer(
        data, np.dtype([("children", "<u4", 4), ("question", "<u2"), ("unused", "<u2")]),
        count=tree.node_count, offset=64,
    )  # fmt: skip
    asked = questions()

    def walk(branch: int) -> list[tuple[Point, tuple[int, ...]] | int]:
        if branch >= 2**31:
            return [sizes[branch - 2**31]]
        children = nodes[branch]["children"].tolist()
        states = tuple(state for state, child in enumerate(children) if child != 2**32 - 1)
        below = itertools.chain.from_iterable(walk(children[state]) for state in states)
        return [(asked[nodes[branch]["question"]], states), *below]

    return walk(root)


def code_of(move: Any) -> int:
    return int(move.code)


def some_games(game: str, games: int, plies: int | None = None) -> GameTable:
    records = list(itertools.islice(hk.read_records(sample_path(game)), games))
    if plies is not None:
        records = [hk.Record(game, each.moves[:plies].copy(), komi=each.komi) for each in records]
    return GameTable.from_records(records)


@pytest.fixture
def deep_recursion() -> Iterator[None]:
    """Patterns that are alike are asked about all 612 points."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep_recursion")
@pytest.mark.parametrize(
    ("game", "games", "plies", "threshold", "symmetric"),
    [
        ("go9", 3, 40, 4, False),
        ("go9", 2, 12, 3, True),
        ("othello", 3, None, 5, False),
        ("go9", 2, 20, 1000, False),
    ],
)
def test_the_tree_is_the_twins_node_for_node(
    game: str, games: int, plies: int | None, threshold: int, symmetric: bool
) -> None:
    table = some_games(game, games, plies)
    patterns = patterns_of(table, 8 if symmetric else 1)
    twin = flattened(grow(patterns, threshold, frozenset()))
    trees = [
        table.grown_tree(threshold=threshold, symmetric=symmetric, threads=threads)
        for threads in (1, 3)
    ]
    assert trees[0].to_bytes() == trees[1].to_bytes()
    sizes = [each for each in twin if isinstance(each, int)]
    assert trees[0].leaf_count == len(sizes)
    assert in_core(trees[0], sizes) == twin


@pytest.mark.parametrize("game", ["go9", "othello"])
def test_counts_kept_up_move_by_move_are_those_from_scratch(game: str) -> None:
    """Captures and flips included: every position of every game is looked at afresh."""
    table = some_games(game, 12)
    mets = learn_mets(table, threshold=8)
    positive, negative = mets.tree.counts()
    fresh = np.zeros((2, mets.leaves), np.int64)
    for position, played in positions_of(table):
        leaves = np.array(mets.tree.leaves_of(position, game))
        if 0 <= played < len(leaves):
            for point in np.flatnonzero(leaves >= 0):
                fresh[int(point != played), leaves[point]] += 1
    assert positive.tolist() == fresh[0].tolist()
    assert negative.tolist() == fresh[1].tolist()
    assert positive.min() > 0  # no leaf without a pattern


def test_ranks_are_those_of_the_scores() -> None:
    table = some_games("go9", 12)
    mets = learn_mets(table, threshold=8)
    found = table.predictions(mets.model())
    rows = list(zip(positions_of(table), found.ranks.tolist(), strict=True))
    for (position, played), rank in rows[::7]:
        if played < 0 or played >= 81:
            continue
        scores = {code_of(move): score for move, score in mets.rank(position)}
        better = sum(score < scores[played] for score in scores.values())
        alike = sum(score == scores[played] for score in scores.values())
        assert better < rank <= better + alike


def test_the_path_leads_to_the_leaf() -> None:
    table = some_games("go9", 6)
    mets = learn_mets(table, threshold=6)
    position = list(table.positions())[20]
    leaves = mets.tree.leaves_of(position, "go9")
    depths = mets.tree.depths()
    reached = 0
    for move in position.legal_moves[:-1]:  # the last one is a pass
        path = mets.asked(position, move)
        distances = [abs(down) + abs(right) for down, right, _ in path]
        assert distances == sorted(distances)
        assert len({(down, right) for down, right, _ in path}) == len(path)
        if (leaf := leaves[code_of(move)]) >= 0:
            assert depths[leaf] == len(path)
            reached += 1
    assert reached > 10


def test_smoothing_draws_leaves_to_the_usual_odds() -> None:
    table = some_games("go9", 6)
    mets = learn_mets(table, threshold=6)
    position = list(table.positions())[20]
    plain, smooth = (
        [score for _, score in each.rank(position) if math.isfinite(score)]
        for each in (mets, mets.with_smoothing(100))
    )
    assert 0 < np.ptp(smooth) < np.ptp(plain)
    with pytest.raises(Error, match="smoothing"):
        mets.with_smoothing(-1)


def test_a_file_holds_it_whole(tmp_path: Path) -> None:
    mets = learn_mets(some_games("go9", 6), threshold=6, smoothing=3)
    mets.save(tmp_path / "tree.bin")
    again = Mets.load(tmp_path / "tree.bin")
    assert (again.game, again.tree.smoothing) == ("go9", 3)
    assert again.tree.to_bytes() == mets.tree.to_bytes()
    assert again.rank(hk.Go9()) == mets.rank(hk.Go9())
    with pytest.raises(SourceError, match="go9, not for go19"):
        move_model("go19", tmp_path / "tree.bin")


@given(st.binary(max_size=400), st.integers(0, 2**32), st.integers(0, 255))
def test_any_bytes_are_a_tree_or_an_error(data: bytes, place: int, value: int) -> None:
    tree = _SMALL.to_bytes()
    damaged = bytearray(tree)
    damaged[place % len(tree)] = value
    for content in (data, bytes(damaged), tree[: place % len(tree)], tree + data):
        try:
            read = _core.MetsTree.from_bytes(np.frombuffer(content, np.uint8).copy())
        except ValueError:
            continue
        assert len(read.leaves_of(hk.Go9(), "go9")) == 81


_SMALL = some_games("go9", 2).grown_tree(threshold=10)


def test_searches_take_a_tree_for_strengths(tmp_path: Path) -> None:
    file = tmp_path / "tree.bin"
    learn_mets(some_games("go9", 6), threshold=6).save(file)
    for spec in (
        f"uct:playouts=20,formula=puct,strengths={file}",
        f"uct:playouts=20,widening=on,widening_strengths={file}",
        f"uct:playouts=5,policy=strengths,playout_strengths={file}",
    ):
        assert hk.search_once(hk.Go9(), spec).playouts > 0
    with pytest.raises(Error, match="go9, not for othello"):
        hk.search_once(hk.Othello(), f"uct:playouts=20,formula=puct,strengths={file}")


def test_games_without_points_have_none() -> None:
    with pytest.raises(NotationError, match="no points"):
        learn_mets(some_games("chess", 1))


def test_what_is_held_out_goes_by_the_moves() -> None:
    records = list(hk.read_records(sample_path("go9")))
    apart = [is_kept_apart(record, 0.2) for record in records]
    assert 0.1 < np.mean(apart) < 0.3
    other = [hk.Record("go9", record.moves.copy(), first="somebody") for record in records]
    assert apart == [is_kept_apart(record, 0.2) for record in other]
    # Who holds out less, holds out some of the same.
    fewer = [is_kept_apart(record, 0.1) for record in records]
    assert all(more for more, less in zip(apart, fewer, strict=True) if less)


def test_recognition_of_a_model_that_knows_the_games() -> None:
    table = some_games("go9", 20)
    found = predict(table, learn_mets(table, threshold=2).model(), resampling=hk.Resampling(50))
    every = found[""]
    assert every.within[0].value > 0.5  # it has seen them
    assert every.loss.value < every.random_loss
    assert list(found.curve) == sorted(found.curve)
    assert sum(found[phase].moves for phase in ("opening", "middle", "ending")) == every.moves
