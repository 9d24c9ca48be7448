# SPDX-License-Identifier: Apache-2.0
"""A search's tree to look at: the same tree as its arrays say, whole or in part."""

import json
from pathlib import Path

import chess
import pytest

import hyoka as hk
from hyoka.foundation.errors import Error, ParameterError
from hyoka.reporting.search_tree import heat_of, tree_dot, tree_json, tree_page, write_tree
from hyoka.search import Searcher, SearchLimits, TreeNode, search_tree

HOSTILE = '</script><b>"\\'


def counted(node: TreeNode) -> int:
    return sum(1 for _ in node.nodes())


@pytest.mark.parametrize(
    ("game", "spec"),
    [
        ("othello", "uct:playouts=400,seed=3"),
        ("chess", "uct:playouts=300,preset=paper"),
        ("go5", "uct:playouts=500,formula=puct,rave=300"),
        ("blokus_duo", "uct:playouts=60"),
        ("shogi", "uct:playouts=200,killer=on,threads=1"),
    ],
)
def test_looking_at_steps_changes_nothing(game: str, spec: str) -> None:
    start = hk.position(game)
    tree = search_tree(start, spec, least=1)
    plain = Searcher(spec, game)
    result = plain.search(start)
    arrays = plain.tree()
    assert tree.result.moves == result.moves
    assert (tree.result.playouts, tree.result.depth) == (result.playouts, result.depth)
    assert tree.size == tree.shown == len(arrays["visits"])
    assert sorted(node.visits for node in tree.root.nodes()) == sorted(arrays["visits"].tolist())
    assert len(tree.steps) > 10
    assert [step.playouts for step in tree.steps] == sorted({s.playouts for s in tree.steps})
    for step in tree.steps[:3]:  # what a search with fewer playouts says
        shorter = hk.search_once(start, spec, limits=SearchLimits(playouts=step.playouts))
        assert step.value == shorter.value


def test_what_is_left_out_is_counted() -> None:
    whole = search_tree(hk.Othello(), "uct:playouts=500", least=1)
    part = search_tree(hk.Othello(), "uct:playouts=500", least=10, depth=3)
    assert all(node.visits >= 10 for node in part.root.nodes())
    assert part.size == whole.shown > part.shown

    def same_or_less(full: TreeNode, cut: TreeNode, ply: int) -> None:
        assert (full.name, full.visits, full.value) == (cut.name, cut.visits, cut.value)
        kept = [child for child in full.children if child.visits >= 10 and ply < 3]
        dropped = [child for child in full.children if child not in kept]
        assert cut.left_out == len(dropped)
        assert cut.left_out_visits == sum(child.visits for child in dropped)
        for child, other in zip(kept, cut.children, strict=True):
            same_or_less(child, other, ply + 1)

    same_or_less(whole.root, part.root, 0)


def test_moves_are_written_as_people_write_them() -> None:
    tree = search_tree(hk.Chess().line().play("e4").play("d5"), "uct:playouts=400", least=3)
    board = chess.Board("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    for child in tree.root.children:
        assert child.name == board.san(chess.Move.from_uci(str(child.move)))
        board.push_uci(str(child.move))
        for reply in child.children:
            assert reply.name == board.san(chess.Move.from_uci(str(reply.move)))
        board.pop()
    assert "exd5" in [child.name for child in tree.root.children]


def test_proofs_are_the_movers() -> None:
    mate = hk.Chess.from_text("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")
    tree = search_tree(mate, "uct:playouts=3000,seed=1", least=1)
    assert tree.result.proven == "won"
    best = tree.root.children[0]
    assert (best.name, best.proven, best.value) == ("Ra8#", "won", 1)
    assert tree.root.proven == "lost"  # for Black, who moved there


def test_a_search_without_a_tree_shows_its_lines() -> None:
    tree = search_tree(hk.Chess(), "ab:depth=4")
    assert tree.by_lines
    assert [node.move for node in tree.root.main_line] == list(tree.result.pv)
    assert [step.depth for step in tree.steps] == [1, 2, 3, 4]
    flat = search_tree(hk.Othello(), "mc:playouts=40")
    assert [node.visits for node in flat.root.children] == [10] * 4
    for shown in (tree, flat):
        assert "keeps no tree" in tree_page(shown).html()


def test_the_files_say_the_same(tmp_path: Path) -> None:
    tree = search_tree(hk.Othello(), "uct:playouts=200", least=4)
    said = json.loads(json.dumps(tree_json(tree)))
    assert said["shown"] == counted(tree.root)
    assert said["root"]["visits"] == 200
    assert [child["name"] for child in said["root"]["children"]] == [
        child.name for child in tree.root.children
    ]
    dot = tree_dot(tree)
    assert dot.count("label=") == tree.shown
    assert dot.count("->") == tree.shown - 1
    html = tree_page(tree).html()
    assert html.count('class="row"') == tree.shown - 1
    assert "nodes: moves with fewer than 4 visits" in html
    for ending in (".html", ".json", ".dot"):
        write_tree(tree, tmp_path / f"tree{ending}")
        assert (tmp_path / f"tree{ending}").stat().st_size > 1000
    with pytest.raises(Error, match="is written as"):
        write_tree(tree, tmp_path / "tree.png")


def test_heat_is_where_moves_go() -> None:
    tree = search_tree(hk.Othello(), "uct:playouts=200", least=1)
    board = hk.diagram(hk.Othello())
    heat = heat_of(board, tree.root)
    assert set(heat) == {board.cell(str(move)) for move in hk.Othello().legal_moves}
    assert max(heat.values()) == 1
    chessboard = hk.diagram(hk.Chess())
    pawns = search_tree(hk.Chess(), "uct:playouts=100,preset=paper", least=1)
    targets = {chessboard.cell(str(move)[2:4]) for move in hk.Chess().legal_moves}
    assert set(heat_of(chessboard, pawns.root)) == targets


def test_limits_of_what_is_shown_are_checked() -> None:
    with pytest.raises(ParameterError, match="1 visit or more"):
        search_tree(hk.Othello(), "uct:playouts=5", least=0)
    with pytest.raises(ParameterError, match="1 to 100 plies"):
        search_tree(hk.Othello(), "uct:playouts=5", depth=101)


class Nim:
    """Take one or two of some matches; taking the last one wins. Its moves are hostile."""

    class Take:
        def __init__(self, count: int) -> None:
            self.code = count

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Nim.Take) and other.code == self.code

        def __hash__(self) -> int:
            return self.code

        def __str__(self) -> str:
            return f"{HOSTILE}{self.code}"

    def __init__(self, left: int, to_play: hk.Player = hk.Player.first) -> None:
        self.left, self.to_play = left, to_play

    @property
    def _other(self) -> hk.Player:
        return hk.Player.second if self.to_play is hk.Player.first else hk.Player.first

    @property
    def outcome(self) -> hk.Outcome | None:
        return None if self.left else hk.Outcome(self._other)

    @property
    def legal_moves(self) -> list["Nim.Take"]:
        return [Nim.Take(count) for count in (1, 2) if count <= self.left]

    def play(self, move: "Nim.Take") -> "Nim":
        return Nim(self.left - move.code, self._other)


def test_games_in_python_have_trees_and_their_words_do_no_harm() -> None:
    tree = search_tree(Nim(5), "uct:playouts=200,seed=1", least=1)
    assert tree.result.proven == "won"
    best = tree.root.children[0].move
    assert isinstance(best, Nim.Take)
    assert best.code == 2
    html = tree_page(tree).html()
    assert HOSTILE not in html
    assert html.count("</script>") == html.count("<script")
    assert f'"{HOSTILE}' not in tree_dot(tree)
