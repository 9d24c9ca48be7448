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
from hyoka.foundation.errors import Error, NotationError, SourceError
from hyoka.learning.mets import Mets, learn_mets
from hyoka.learning.prediction import is_kept_apart, predict
from hyoka.models.loading import move_model
from hyoka.records.bulk import GameTable
from hyoka.records.samples import sample_path

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
    question: Point | int  # a point, or the number of a tactical question
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


def cells_of(position: hk.games.Position) -> np.ndarray:
    """-1 empty, 0 the first player's, 1 the second's."""
    cells = np.asarray(position.cells)
    return np.where(cells == 0, -1, np.where(cells > 0, 0, 1))


def positions_of(table: GameTable) -> list[tuple[hk.games.Position, int]]:
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


def flattened(node: object) -> list[tuple[Point | int, tuple[int, ...]] | int]:
    """The tree in the order of a walk: questions with the states that lead on, leaves as sizes."""
    if not isinstance(node, TwinNode):
        assert isinstance(node, int)
        return [node]
    below = itertools.chain.from_iterable(flattened(child) for child in node.children.values())
    return [(node.question, tuple(node.children)), *below]


def questions() -> list[Point]:
    return [point for distance in range(1, FARTHEST + 1) for point in ring(distance)]


def nodes_of(tree: _core.MetsTree) -> tuple[int, np.ndarray]:
    """The root and the nodes of our tree, from its bytes."""
    data = tree.to_bytes()
    nodes = np.frombuffer(
        data, np.dtype([("children", "<u4", 4), ("question", "<u2"), ("unused", "<u2")]),
        count=tree.node_count, offset=64,
    )  # fmt: skip
    return int.from_bytes(data[16:20], "little"), nodes


def in_core(
    tree: _core.MetsTree, sizes: list[int]
) -> list[tuple[Point | int, tuple[int, ...]] | int]:
    """Our tree in the same form, from its bytes; what its leaves hold is given."""
    root, nodes = nodes_of(tree)
    asked: list[Point | int] = [*questions(), *range(32)]

    def walk(branch: int) -> list[tuple[Point | int, tuple[int, ...]] | int]:
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


# What tactics say, written down again for whole boards and without the core's shortcuts.


class Board:
    """Stones of a Go position, by rows; whose turn it is; and the last two points played."""

    def __init__(self, position: Any, last: int | None, before: int | None) -> None:
        self.position = position
        self.cells = cells_of(position)
        self.side = len(self.cells)
        self.mover = int(position.to_play == hk.Player.second)
        area = self.side * self.side
        self.last = None if last is None or last >= area else divmod(last, self.side)
        self.before = None if before is None or before >= area else divmod(before, self.side)

    def beside(self, point: Point) -> list[Point]:
        row, column = point
        around = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
        return [(r, c) for r, c in around if 0 <= r < self.side and 0 <= c < self.side]

    def chain(self, point: Point, cells: np.ndarray | None = None) -> frozenset[Point]:
        cells = self.cells if cells is None else cells
        found, new = {point}, [point]
        while new:
            for other in self.beside(new.pop()):
                if other not in found and cells[other] == cells[point]:
                    found.add(other)
                    new.append(other)
        return frozenset(found)

    def liberties(self, chain: frozenset[Point], cells: np.ndarray | None = None) -> int:
        cells = self.cells if cells is None else cells
        return len({p for stone in chain for p in self.beside(stone) if cells[p] < 0})

    def caught(self, chain: frozenset[Point], *, attacked_first: bool) -> bool:
        row, column = min(chain)
        name = f"{'ABCDEFGHJ'[column]}{self.side - row}"
        return _core.ladder_captures(self.position, name, attacked_first)

    def is_own_eye(self, point: Point) -> bool:
        if any(self.cells[p] != self.mover for p in self.beside(point)):
            return False
        row, column = point
        corners = [(row + down, column + right) for down in (-1, 1) for right in (-1, 1)]
        there = [(r, c) for r, c in corners if 0 <= r < self.side and 0 <= c < self.side]
        enemies = sum(self.cells[p] == 1 - self.mover for p in there)
        return bool(enemies <= (len(there) == 4))


def band(number: float, *bounds: int) -> int:
    return sum(number >= bound for bound in bounds)


def distance(a: Point, b: Point | None) -> float:
    if b is None:
        return math.inf
    down, right = abs(a[0] - b[0]), abs(a[1] - b[1])
    return down + right + max(down, right)


def twin_answers(board: Board, point: Point) -> list[int]:
    """Answers in the order of the questions, ladders apart."""
    cells, mover = board.cells, board.mover
    own = {board.chain(p) for p in board.beside(point) if cells[p] == mover}
    others = {board.chain(p) for p in board.beside(point) if cells[p] == 1 - mover}
    taken = [chain for chain in others if board.liberties(chain) == 1]
    then = cells.copy()
    then[point] = mover
    for chain in taken:
        for stone in chain:
            then[stone] = -1
    liberties = board.liberties(board.chain(point, then), then)
    in_atari = {
        board.chain((r, c))
        for r, c in np.argwhere(cells == mover).tolist()
        if board.liberties(board.chain((r, c))) == 1
    }
    last_chain = board.chain(board.last) if board.last and cells[board.last] >= 0 else None
    fresh = {
        chain for chain in in_atari if board.last and set(chain) & set(board.beside(board.last))
    }
    if last_chain is None:
        fresh = set()
    pins = {
        kind: {
            board.chain(p)
            for chain in chains
            for stone in chain
            for p in board.beside(stone)
            if cells[p] == 1 - mover
        }
        for kind, chains in (("any", in_atari), ("fresh", fresh))
    }
    kinds = [1 if c in pins["any"] else 2 if c == last_chain else 3 for c in taken]
    answer = 3 if fresh else 0
    if any(chain in fresh for chain in own):
        answer = 1
    if any(chain in pins["fresh"] for chain in taken):
        answer = 2
    to_last, to_before = distance(point, board.last), distance(point, board.before)
    row, column = point
    line = 1 + min(row, column, board.side - 1 - row, board.side - 1 - column)
    weakest = {
        name: min((board.liberties(chain) for chain in chains), default=0)
        for name, chains in (("own", own), ("others", others))
    }
    stones = int((cells >= 0).sum())
    area = board.side**2
    touched_last = last_chain in others if last_chain else False
    return [
        *(band(to_last, *bounds) for bounds in ((3, 4, 5), (5, 6, 7), (7, 9, 11), (11, 14, 18))),
        *(band(to_before, *bounds) for bounds in ((3, 4, 5), (5, 6, 7), (7, 9, 11), (11, 14, 18))),
        band(line, 2, 3, 4),
        band(line, 4, 5, 6),
        band(sum(map(len, taken)), 1, 2, 4),
        min(kinds, default=0),
        band(weakest["own"], 1, 2, 3),
        band(weakest["others"], 1, 2, 3),
        band(weakest["others"], 3, 4, 5),
        band(liberties, 2, 3, 4),
        band(liberties, 4, 5, 6),
        band(max((len(c) for c in others if board.liberties(c) == 2), default=0), 1, 2, 4),
        max((1 + board.caught(c, attacked_first=True)
             for c in others if board.liberties(c) == 2), default=0),
        max((2 - board.caught(c, attacked_first=False)
             for c in own if board.liberties(c) == 1), default=0),
        max((int(board.caught(c, attacked_first=True))
             for c in own if board.liberties(c) == 2), default=0),
        (1 + band(board.liberties(last_chain), 3, 4)) if touched_last and last_chain else 0,
        answer,
        (10 * stones >= area) + (4 * stones >= area) + (2 * stones >= area),
        int(board.position.text.split()[2] != "-"),
        int(board.is_own_eye(point)),
        band(len(own), 1, 2, 3),
        band(len(others), 1, 2, 3),
    ]  # fmt: skip


def with_last_moves(table: GameTable) -> list[tuple[Any, int, int | None, int | None]]:
    """Positions with the move played and the two before."""
    found = []
    played = table.played.tolist()
    for row, position in enumerate(table.positions()):
        ply = int(table.plies[row])
        last = played[row - 1] if ply > 0 else None
        found.append((position, played[row], last, played[row - 2] if ply > 1 else None))
    return found


def test_tactics_are_those_of_the_twin() -> None:
    seen = [Counter[int]() for _ in _core.tactical_questions("go9")]
    for position, _, last, before in with_last_moves(some_games("go9", 3))[::5]:
        answers = _core.tactical_answers(position, "go9", last, before).tolist()
        board = Board(position, last, before)
        for row, column in np.argwhere(board.cells < 0).tolist():
            said = answers[row * board.side + column]
            ours = [said >> (2 * i) & 3 for i in range(len(seen))]
            assert ours == twin_answers(board, (row, column)), (position.text, last, row, column)
            for count, each in zip(seen, ours, strict=True):
                count[each] += 1
    assert all(len(count) > 1 for count in seen)  # each question tells something apart


def drawn_below(number: int, row: int, count: int) -> list[int]:
    """What the core's generator (wyrand) draws for a row."""
    word = 2**64 - 1

    def split_mix(x: int) -> int:
        x = (x + 0x9E3779B97F4A7C15) & word
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & word
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & word
        return x ^ (x >> 31)

    state = split_mix(split_mix(0) ^ split_mix(~row & word))
    drawn = []
    for _ in range(count):
        state = (state + 0xA0761D6478BD642F) & word
        product = state * (state ^ 0xE7037ED1A0B428DB)
        bits = (product >> 64) ^ (product & word)
        drawn.append(((bits >> 32) * number) >> 32)
    return drawn


def certainty(moves: int, others: int) -> float:
    other_points = others / 8
    everything = moves + other_points
    parts = [n * math.log(n / everything) if n else 0.0 for n in (moves, other_points)]
    return parts[0] + parts[1]


Example = tuple[int, int, int]
"""Answers, 1 for the move, and the eighths of other points that it stands for."""
LEAST, LEAST_GAIN = 1000, 0.05


def answer(said: int, question: int) -> int:
    return said >> (2 * question) & 3


def most_telling(examples: list[Example], questions_asked: int) -> int | None:
    said = np.array([example[0] for example in examples], np.uint64)
    counts = np.array([example[1:] for example in examples], np.int64)
    moves, others = counts.sum(axis=0).tolist()
    best, most = None, LEAST_GAIN * moves
    if moves < LEAST:
        return None
    for question in range(questions_asked):
        answers = said >> np.uint64(2 * question) & np.uint64(3)
        gain = -certainty(moves, others)
        for state in range(4):
            part = counts[answers == state].sum(axis=0).tolist()
            gain += certainty(*part) if any(part) else 0.0
        if gain > most:
            best, most = question, gain
    return best


def grow_top(
    examples: list[Example], patterns: list[tuple[int, Pattern]], threshold: int, asked: int
) -> object:
    """Tactical questions first, then those about stones."""
    best = most_telling(examples, asked)
    if best is None:
        return grow([pattern for _, pattern in patterns], threshold, frozenset())
    children: dict[int, object] = {}
    for state in range(4):
        below = [each for each in patterns if answer(each[0], best) == state]
        if below:
            some = [each for each in examples if answer(each[0], best) == state]
            children[state] = grow_top(some, below, threshold, asked)
    return TwinNode(best, children)


@pytest.mark.usefixtures("deep_recursion")
def test_the_tree_with_tactics_is_the_twins_node_for_node() -> None:
    """The sample of other points is the core's own: by its generator, from the row's number."""
    table = some_games("go9", 75, 40)
    patterns: list[tuple[int, Pattern]] = []
    examples: list[Example] = []
    for row, (position, played, last, before) in enumerate(with_last_moves(table)):
        cells = cells_of(position)
        side = len(cells)
        if not 0 <= played < side * side:
            continue
        answers = _core.tactical_answers(position, "go9", last, before).tolist()
        mover = int(position.to_play == hk.Player.second)
        patterns.append((answers[played], Pattern(cells, mover, *divmod(played, side))))
        others = [int(p) for p in np.flatnonzero(cells.ravel() < 0) if p != played]
        examples.append((answers[played], 1, 0))
        examples += [(answers[others[i]], 0, len(others)) for i in drawn_below(len(others), row, 8)]
    tree = table.grown_tree(threshold=200, tactics=True)
    questions_asked = len(_core.tactical_questions("go9"))
    twin = flattened(grow_top(examples, patterns, 200, questions_asked))
    sizes = [each for each in twin if isinstance(each, int)]
    assert in_core(tree, sizes) == twin
    assert sum(isinstance(each, tuple) and isinstance(each[0], int) for each in twin) > 1
    assert tree.to_bytes() == table.grown_tree(threshold=200, tactics=True, threads=3).to_bytes()


@pytest.mark.parametrize("game", ["go9", "othello"])
@pytest.mark.parametrize("tactics", [False, True])
def test_counts_kept_up_move_by_move_are_those_from_scratch(game: str, tactics: bool) -> None:
    """Captures and flips included: every position of every game is looked at afresh."""
    table = some_games(game, 20)
    mets = learn_mets(table, threshold=8, tactics=tactics)
    assert mets.asks_tactics == tactics
    positive, negative = mets.tree.counts()
    fresh = np.zeros((2, mets.leaves), np.int64)
    for position, played, last, before in with_last_moves(table):
        leaves = np.array(mets.tree.leaves_of(position, game, last, before))
        if 0 <= played < len(leaves):
            for point in np.flatnonzero(leaves >= 0):
                fresh[int(point != played), leaves[point]] += 1
    assert positive.tolist() == fresh[0].tolist()
    assert negative.tolist() == fresh[1].tolist()
    assert positive.min() > 0  # no leaf without a pattern


@pytest.mark.parametrize(("tactics", "smoothing"), [(False, 0), (False, 5), (True, 5)])
def test_ranks_are_those_of_the_scores(tactics: bool, smoothing: float) -> None:
    table = some_games("go9", 20)
    mets = learn_mets(table, threshold=8, tactics=tactics, smoothing=smoothing)
    found = table.predictions(mets.model())
    games = np.repeat(np.arange(len(table.ids)), np.diff(table.row_offsets))
    records = list(itertools.islice(hk.read_records(sample_path("go9")), 20))
    for row in range(0, len(table), 9):
        played, rank = int(table.played[row]), int(found.ranks[row])
        if played < 0 or played >= 81:
            continue
        record, ply = records[games[row]], int(table.plies[row])
        line = record.position(0).line()
        for move in record.move_list[:ply]:
            line = line.play(move)
        scores = {code_of(move): score for move, score in mets.rank(line)}
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
        path = mets.questions(position, move).stones
        distances = [abs(down) + abs(right) for down, right, _ in path]
        assert distances == sorted(distances)
        assert len({(down, right) for down, right, _ in path}) == len(path)
        if (leaf := leaves[code_of(move)]) >= 0:
            assert depths[leaf] == len(path)
            reached += 1
    assert reached > 10


def smoothed_odds(tree: _core.MetsTree, smoothing: float) -> list[float]:
    """The odds of leaves by plain sums: each node uses the nearest one above twice as large."""
    positive, negative = (counts.tolist() for counts in tree.counts())
    root, nodes = nodes_of(tree)
    found: list[float] = [math.nan] * tree.leaf_count
    usual = sum(positive) / sum(negative)

    def leaves_below(branch: int) -> list[int]:
        if branch == 2**32 - 1:
            return []
        if branch >= 2**31:
            return [branch - 2**31]
        return [
            leaf for child in nodes[branch]["children"].tolist() for leaf in leaves_below(child)
        ]

    def walk(branch: int, above: list[tuple[int, float]]) -> None:
        """`above`: points and odds of the nodes on the way, the root first."""
        leaves = leaves_below(branch)
        if not leaves:
            return
        moves, others = (sum(counts[leaf] for leaf in leaves) for counts in (positive, negative))
        prior = next((o for n, o in reversed(above) if n >= 2 * (moves + others)), usual)
        odds = (moves + smoothing * prior) / (others + smoothing)
        if branch >= 2**31:
            found[leaves[0]] = odds
            return
        for child in nodes[branch]["children"].tolist():
            walk(child, [*above, (moves + others, odds)])

    walk(root, [])
    return found


@pytest.mark.usefixtures("deep_recursion")
@pytest.mark.parametrize("tactics", [False, True])
def test_smoothing_is_a_plain_sum_over_the_nodes_above(tactics: bool) -> None:
    mets = learn_mets(some_games("go9", 12, 40), threshold=20, tactics=tactics, smoothing=7)
    assert mets.leaves > 20
    np.testing.assert_allclose(mets.tree.odds(), smoothed_odds(mets.tree, 7), rtol=1e-6)


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
            leaves = read.leaves_of(hk.Go9(), "go9")
        except ValueError:
            continue
        assert len(leaves) == 81


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


def test_the_held_out_share_counts_moves() -> None:
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
