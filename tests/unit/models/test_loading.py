# SPDX-License-Identifier: Apache-2.0
"""What a move model ranks first: as a player, and drawn on the board."""

import itertools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka.apps.cli.command_table import command_line
from hyoka.foundation.errors import Error
from hyoka.learning.mets import Mets, learn_mets
from hyoka.models.loading import move_model, ranked
from hyoka.records.bulk import GameTable
from hyoka.records.samples import sample_path
from hyoka.search import Searcher


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tree") / "tree.bin"
    games = itertools.islice(hk.read_records(sample_path("go9")), 60)
    table = GameTable.from_records(list(games))
    learn_mets(table, threshold=10, tactics=True, smoothing=10).save(file)
    return file


def test_shares_add_up_and_fall() -> None:
    for game in ("go9", "othello", "chess", "shogi", "blokus_duo"):
        line = hk.position(game).line()
        shares = [share for _, share in ranked(line, move_model(game, "built-in"))]
        assert sum(shares) == pytest.approx(1)
        assert shares == sorted(shares, reverse=True)


def test_the_player_plays_what_is_ranked_first(tree: Path) -> None:
    line = hk.Go9().line().play("E5").play("D3")
    best, share = ranked(line, move_model("go9", tree))[0]
    result = hk.search_once(line, f"ranking:strengths={tree}")
    assert (result.best, result.moves[0].prior) == (best, share)
    other = result.moves[3].move
    only = Searcher(f"ranking:strengths={tree}", "go9").search(line, only=[other])
    assert only.best == other
    assert hk.search_once(hk.Chess(), "ranking").best in hk.Chess().legal_moves


def test_the_player_passes_rather_than_fill_its_eyes(tree: Path) -> None:
    """Black has all of the board but two eyes of one point."""
    position = hk.Go9.from_text(
        "XXXXXXXXX/X1XXXXXXX/XXXXXXXXX/XXXXXXXXX/XXXXXXXXX/XXXXXXXXX/XXXXXXXXX/XXXXXXX1X/XXXXXXXXX"
        " b - 0 7.5"
    )
    assert str(hk.search_once(position, f"ranking:strengths={tree}").best) == "pass"
    assert position.fills_own_eye("B8")
    assert not position.fills_own_eye("pass")


def test_a_game_between_rankings_ends(tree: Path, tmp_path: Path) -> None:
    plan = hk.plan_match(f"one=ranking:strengths={tree}", "other=ranking", game="go9")
    result = hk.play_match(plan, tmp_path / "match", games=2)
    assert all(game.record.result is not None for game in result.games)


def test_a_tree_of_another_game_is_refused(tree: Path) -> None:
    with pytest.raises(Error, match="go9, not for othello"):
        hk.search_once(hk.Othello(), f"ranking:strengths={tree}")


def shown(*words: str) -> str:
    """What `hyoka position show` prints."""
    said = CliRunner().invoke(
        command_line(["position", "show", *words]), ["position", "show", *words]
    )
    assert said.exit_code == 0, said.output
    return str(said.stdout)


def test_show_numbers_the_best_moves(tree: Path) -> None:
    text = shown("go9", "--moves", "E5 D3", "--model", str(tree))
    board, list_of_moves = text.split("to play", 1)
    assert all(str(number) in board for number in range(1, 10))
    best = ranked(hk.Go9().line().play("E5").play("D3"), move_model("go9", tree))[:10]
    assert [str(move) in list_of_moves for move, _ in best] == [True] * 10
    said = json.loads(shown("chess", "--model", "built-in", "--json"))
    assert len(said["ranking"]["moves"]) == 10


def test_show_marks_what_a_leaf_asks_about(tree: Path, tmp_path: Path) -> None:
    svg = tmp_path / "board.svg"
    words = ("go9", "--moves", "E5 D3", "--model", str(tree), "--area", "E4")
    text = shown(*words, "--svg", str(svg))
    asked = Mets.load(tree).questions(hk.Go9().line().play("E5").play("D3"), hk.Go9().parse("E4"))
    assert f"{len(asked.stones)} points" in text
    assert "distance to the last move" in text
    assert "[" in text.split("to play", 1)[0]
    assert "<svg" in svg.read_text()
    with pytest.raises(Error, match="--model"):
        CliRunner().invoke(
            command_line(["position", "show"]),
            ["position", "show", "go9", "--area", "E4"],
            catch_exceptions=False,
        )
