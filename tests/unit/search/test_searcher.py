# SPDX-License-Identifier: Apache-2.0
"""What every search promises, whatever it is made of."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka._core import Go5
from hyoka.apps.cli.command_table import command_line
from hyoka.records.bulk import GameTable
from hyoka.search import (
    Book,
    Searcher,
    SearchLimits,
    SearchResult,
    ab,
    linear_evaluation,
    measure_difficulty,
    move_strengths,
    uct,
)

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"
SHOGI_MATE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"


@pytest.mark.parametrize("name", ["go9", "othello", "chess", "shogi", "blokus_duo", "go3"])
@pytest.mark.parametrize(
    "spec",
    [
        "uct:playouts=60",
        "uct:playouts=60,formula=ucb1-tuned,policy=strengths,killer=on,history=on,widening=on",
        "uct:playouts=60,formula=puct,rave=300,epsilon=0.5,policy=strengths,cutoff=5,eval_visits=3",
        "uct:playouts=40,eval_visits=2,eval_when=expansion,threads=2,expand=3",
        "mc:playouts=60",
        "mc-score:a_move=1",
        "ab:depth=2",
        "ab:nodes=50",
        "random",
    ],
)
def test_a_legal_move_a_value_and_a_line_that_can_be_played(name: str, spec: str) -> None:
    game = hk.position(name)
    result = hk.search_once(game, spec)
    assert result.best in game.legal_moves
    if spec != "random":
        assert result.value is not None
        assert 0 <= result.value <= 1
    assert result.pv[0] == result.best == result.moves[0].move
    line = game.line()
    for move in result.pv:
        line = line.play(move)


def test_the_same_seed_gives_the_same_search() -> None:
    spec = uct(playouts=500, seed=7)
    first, second = (hk.search_once(hk.Go9(), spec) for _ in range(2))
    assert first.moves == second.moves
    assert hk.search_once(hk.Go9(), uct(playouts=500, seed=8)).moves != first.moves


def test_limits_are_kept() -> None:
    assert hk.search_once(hk.Go9(), "uct:playouts=123").playouts == 123
    assert hk.search_once(hk.Go9(), "uct:nodes=20").stopped_by == "nodes"
    assert hk.search_once(hk.Go9(), "uct:time=0.01").stopped_by == "time"
    assert hk.search_once(hk.Chess(), "ab:depth=3").depth == 3
    assert hk.search_once(hk.Chess(), "ab:nodes=5000").nodes <= 5000
    mc = hk.search_once(hk.Go9(), "mc:playouts=1000")
    assert mc.playouts == 82 * 12
    assert {report.visits for report in mc.moves} == {12}
    assert hk.search_once(hk.Go9(), "mc:a_move=3").playouts == 82 * 3


def test_limits_given_to_a_search_go_before_those_of_its_spec() -> None:
    searcher = Searcher("uct:playouts=50", "othello")
    assert searcher.search(hk.Othello(), SearchLimits(playouts=20)).playouts == 20
    assert searcher.search(hk.Othello()).playouts == 50


def test_a_search_is_stopped_from_another_thread_and_tells_what_it_found_meanwhile() -> None:
    searcher = Searcher("uct", "go9")
    snapshots: list[SearchResult] = []

    def on_result(result: SearchResult) -> None:
        snapshots.append(result)
        if len(snapshots) == 2:
            threading.Thread(target=searcher.stop).start()

    result = searcher.search(
        hk.Go9(), SearchLimits(infinite=True), on_result=on_result, every_s=0.01
    )
    assert result.stopped_by == "interrupted"
    assert len(snapshots) >= 2
    assert snapshots[0].playouts <= snapshots[1].playouts <= result.playouts
    assert searcher.search(hk.Go9(), SearchLimits(playouts=10)).playouts == 10


def test_an_error_in_a_result_function_ends_the_search_and_is_raised() -> None:
    def on_result(result: SearchResult) -> None:
        raise RuntimeError("enough")

    for spec, game in [("uct", "go9"), ("ab", "chess")]:
        with pytest.raises(RuntimeError, match="enough"):
            Searcher(spec, game).search(
                hk.position(game),
                SearchLimits(infinite=True),
                on_result=on_result,
                every_s=0.01,
            )


def test_the_tree_is_kept_when_the_game_goes_on() -> None:
    searcher = Searcher(uct(playouts=2000), "othello")
    line = hk.Othello().line()
    first = searcher.search(line)
    reply = first.moves[0].pv[1]
    line = line.play(str(first.best)).play(str(reply))
    searcher.search(line, SearchLimits(playouts=1))
    assert searcher.tree()["visits"][0] > 100
    fresh = Searcher(uct(reuse=False), "othello")
    fresh.search(hk.Othello(), SearchLimits(playouts=500))
    fresh.search(line, SearchLimits(playouts=1))
    assert fresh.tree()["visits"][0] == 1


def test_the_tree_as_arrays() -> None:
    searcher = Searcher(uct(playouts=300), "othello")
    result = searcher.search(hk.Othello())
    tree = searcher.tree()
    children = tree["parent"] == 0
    assert sorted(tree["visits"][children]) == sorted(
        report.visits for report in result.moves if report.visits
    )
    assert all(parent < at for at, parent in enumerate(tree["parent"].tolist()))
    assert len(searcher.tree(with_unvisited=True)["visits"]) > len(tree["visits"])
    with pytest.raises(hk.errors.NotationError, match="no tree"):
        Searcher("ab", "chess").tree()


def test_a_search_ends_early_when_nothing_can_change() -> None:
    result = hk.search_once(hk.Chess.from_text(MATE_IN_ONE), "uct:playouts=100000,proofs=off,early")
    assert str(result.best) == "a1a8"
    assert result.stopped_by == "early"
    assert result.playouts < 100_000
    best, second = sorted((report.visits for report in result.moves), reverse=True)[:2]
    assert best - second > 100_000 - result.playouts


def test_a_full_memory_ends_no_search() -> None:
    searcher = Searcher("uct:playouts=3000,memory=0.05", "go9")
    result = searcher.search(hk.Go9())
    assert result.playouts == 3000
    assert result.details["full"]
    assert result.details["memory_bytes"] <= 0.05 * 2**20


def test_proven_results_stop_the_search() -> None:
    chess = hk.Chess.from_text(MATE_IN_ONE)
    for spec in ("uct:playouts=100000", "ab:depth=4", "mate"):
        result = hk.search_once(chess, spec)
        assert (str(result.best), result.mate, result.proven, result.value) == (
            "a1a8",
            1,
            "won",
            1.0,
        )
    assert hk.search_once(chess, "uct:playouts=100000").stopped_by == "proven"
    shogi = hk.Shogi.from_text(SHOGI_MATE)
    assert str(hk.search_once(shogi, "uct:playouts=9,mate=100").best) == "G*5b"
    assert hk.search_once(hk.Shogi(), "mate:nodes=100").best is None


def test_a_finished_game_has_no_best_move() -> None:
    mated = hk.Chess.from_text(MATE_IN_ONE).play("a1a8")
    for spec in ("uct", "ab", "mc", "mate"):
        result = hk.search_once(mated, spec)
        assert (result.best, result.value, result.stopped_by) == (None, 1.0, "over")


def test_only_some_moves_are_looked_at() -> None:
    game = hk.Othello()
    only = game.legal_moves[1:3]
    for spec in ("uct:playouts=50", "mc:playouts=50", "ab:depth=2,multipv=4", "random"):
        result = hk.search_once(game, spec, only=only)
        assert {report.move for report in result.moves} <= set(only)
    with pytest.raises(hk.errors.IllegalMoveError):
        hk.search_once(hk.Chess(), "uct", only=[hk.Chess.Move.from_code(0)])


def test_several_best_moves_with_exact_scores() -> None:
    result = hk.search_once(hk.Chess(), "ab:depth=3,multipv=3")
    scores = [report.score or 0.0 for report in result.moves]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("name", ["go9", "othello", "chess", "shogi"])
def test_several_moves_are_of_one_depth_wherever_the_search_ends(name: str) -> None:
    line: Any = hk.position(name).line()
    for _ in range(6):
        line = line.play(line.legal_moves[len(line.legal_moves) // 2])
    sign = 1 if line.to_play is hk.Player.first else -1
    for nodes in range(150, 6000, 390):
        result = hk.search_once(line, f"ab:multipv=4,hash=1,nodes={nodes}")
        if not result.details["iterations"]:
            continue
        depth, _, _, variations = result.details["iterations"][-1]
        assert result.depth == depth
        assert [report.pv for report in result.moves] == [tuple(pv) for *_, pv in variations]
        values = [sign * (report.value or 0.0) for report in result.moves]
        assert values == sorted(values, reverse=True)
        assert (result.best, result.value) == (result.moves[0].move, result.moves[0].value)
        assert result.order == "value"


def test_a_search_says_what_its_moves_are_sorted_by() -> None:
    tree = hk.search_once(hk.Othello(), "uct:playouts=100")
    visits = [report.visits for report in tree.moves]
    assert (tree.order, visits) == ("visits", sorted(visits, reverse=True))
    assert hk.search_once(hk.Othello(), "mc:playouts=100").order == "value"
    assert hk.search_once(hk.Othello(), "ranking").order == "prior"
    for spec, words in (("uct:playouts=50", "moves by visits"), ("ab:nodes=500", "")):
        arguments = ["position", "search", "othello", "--with", spec]
        shown = CliRunner().invoke(command_line(arguments), arguments, obj=arguments)
        assert shown.exit_code == 0, shown.output
        assert ("moves by" in shown.output) == (words != "")
        assert words in shown.output


def test_a_move_drawn_from_a_book_is_listed_first() -> None:
    games = "1. e4 *\n\n1. d4 *\n\n1. c4 *\n"
    book = Book.from_records("chess", hk.parse_records(games, format="pgn"))
    for seed in range(8):
        spec = ab(nodes=1, book=book, book_pick="frequency", seed=seed)
        result = hk.search_once(hk.Chess(), spec)
        assert result.moves[0].move == result.best


def test_in_the_book_only_its_moves_are_searched(tmp_path: Path) -> None:
    records = hk.parse_records("1. e4 e5 2. Nf3 *\n\n1. d4 d5 *\n", format="pgn")
    book = Book.from_records("chess", records)
    assert {str(move): count for move, count in book.moves(hk.Chess()).items()} == {
        "e2e4": 1,
        "d2d4": 1,
    }
    result = hk.search_once(hk.Chess(), uct(playouts=50, book=book))
    assert {str(report.move) for report in result.moves} == {"e2e4", "d2d4"}
    file = tmp_path / "book.pgn"
    hk.write_records(records, file)
    again = hk.search_once(hk.Chess(), uct(playouts=50, book=str(file)))
    assert again.moves == result.moves
    out_of_book = hk.search_once(hk.Chess().play("a3"), uct(playouts=50, book=book))
    assert len(out_of_book.moves) == 20
    with pytest.raises(hk.errors.SourceError, match="no shogi games"):
        Searcher(uct(book=str(file)), "shogi")


def test_an_evaluator_in_python_takes_positions_in_batches() -> None:
    sizes = []

    def discs(positions: Sequence[Any]) -> list[float]:
        sizes.append(len(positions))
        return [0.5 + position.cells.sum() / 128 for position in positions]

    result = hk.search_once(hk.Othello(), uct(playouts=200, evaluator=discs))
    assert result.playouts == 200
    assert max(sizes) > 4

    def with_strengths(positions: Sequence[Any]) -> tuple[list[float], list[list[float]]]:
        strengths = [[float(i) for i in range(position.count_moves())] for position in positions]
        return discs(positions), strengths

    result = hk.search_once(
        hk.Othello(), uct(playouts=100, formula="puct", evaluator=with_strengths)
    )
    assert sorted(report.prior or 0.0 for report in result.moves) == pytest.approx(
        [0, 1 / 6, 2 / 6, 0.5]
    )
    for wrong in (lambda positions: [2.0] * len(positions), lambda positions: [0.5]):
        with pytest.raises(ValueError, match=r"0 to 1|numbers where"):
            hk.search_once(hk.Othello(), uct(playouts=50, evaluator=wrong))
    with pytest.raises(ZeroDivisionError):
        hk.search_once(hk.Othello(), uct(playouts=50, evaluator=lambda positions: 1 / 0))


def test_an_evaluation_in_python_serves_alpha_beta() -> None:
    def fewest_discs(positions: Sequence[Any]) -> list[float]:
        return [-float(position.cells.sum()) for position in positions]

    game = hk.Othello().play("d3")
    result = hk.search_once(game, ab(depth=1, evaluation=fewest_discs))
    scores = {str(move): fewest_discs([game.play(move)])[0] for move in game.legal_moves}
    assert result.score == min(scores.values())


def test_the_value_kept_is_that_of_the_best_move_or_of_the_root() -> None:
    best = hk.search_once(Go5(), "uct:playouts=500,seed=1,value=best")
    root = hk.search_once(Go5(), "uct:playouts=500,seed=1,value=root")
    assert best.value == best.moves[0].value
    assert root.value == root.details["root_value"] != best.value
    mc = hk.search_once(Go5(), "mc:a_move=10")
    mean = sum((report.value or 0.0) * report.visits for report in mc.moves) / mc.playouts
    assert mc.value == pytest.approx(mean)
    assert hk.search_once(Go5(), "mc:a_move=10,value=best").value == mc.moves[0].value


def test_superko_is_known_to_the_searches() -> None:
    """White may not take back at once; with the line's past, no search proposes it."""
    text = "5/1XO2/XO1O1/1XO2/5 b - 0 0.5"
    line = Go5.from_text(text).line().play("C3")
    assert not line.is_legal("B3")
    for spec in ("uct:playouts=2000", "ab:depth=3", "mc:playouts=500"):
        result = hk.search_once(line, spec)
        assert "B3" not in {str(report.move) for report in result.moves}


def test_weights_and_strengths_come_from_files(tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    changed = linear_evaluation("chess").with_weights({"bishop_pair": (500, 600)}, scale=300)
    changed.save(file)
    again = linear_evaluation("chess", file)
    assert again["bishop_pair"] == (500, 600)
    assert again.scale == 300
    assert np.array_equal(again.weights, changed.weights)
    hk.search_once(hk.Chess(), ab(depth=2, eval=str(file)))
    with pytest.raises(hk.errors.SourceError, match="weights for chess"):
        linear_evaluation("shogi", file)
    file.write_text('{"nonsense": 1}', encoding="utf-8")
    with pytest.raises(hk.errors.SourceError, match="nonsense"):
        linear_evaluation("chess", file)
    with pytest.raises(hk.errors.SourceError, match="No such file"):
        Searcher(ab(eval=str(tmp_path / "gone.json")), "chess")
    strengths = move_strengths("shogi")
    file = tmp_path / "strengths.json"
    name = next(iter(strengths))
    file.write_text(f'{{"{name}": 3.5}}', encoding="utf-8")
    assert move_strengths("shogi", file)[name] == 3.5
    file.write_text(f'{{"{name}": -1}}', encoding="utf-8")
    with pytest.raises(hk.errors.SourceError, match="positive"):
        move_strengths("shogi", file)


@pytest.mark.parametrize("name", ["go9", "othello", "chess", "shogi", "blokus_duo"])
def test_a_score_is_the_product_of_weights_and_terms(name: str) -> None:
    game, positions = hk.position(name), []
    for seed in range(20):
        positions.append(game)
        move = game.random_move(seed)
        game = game.play(move)
    evaluation = linear_evaluation(name)
    expected = evaluation.terms(positions).astype(float) @ evaluation.flat.astype(float)
    assert evaluation.score(positions) == pytest.approx(expected, abs=0.51)
    doubled = evaluation.with_weights(2 * evaluation.weights)
    assert doubled.score(positions) == pytest.approx(2 * expected, abs=1.01)
    assert evaluation.terms([]).shape == (0, 2 * len(evaluation))


def test_difficulty_of_positions() -> None:
    start = hk.Chess.from_text(MATE_IN_ONE)
    found = measure_difficulty(
        [start, start], [start.parse("a1a8"), start.parse("h1g1")], threads=2
    )
    assert found.best_move_changes.tolist() == [0, 0]
    assert found.correct_depth.tolist() == [1, 4]
    assert measure_difficulty([], []).correct_depth.tolist() == []
    with pytest.raises(hk.errors.IllegalMoveError):
        measure_difficulty([hk.Chess()], [start.parse("a1a8")])
    with pytest.raises(hk.errors.NotationError, match="need the moves"):
        measure_difficulty([hk.Chess()])


def test_difficulty_of_the_positions_of_games() -> None:
    records = list(
        hk.parse_records("1. f3 e5 2. g4 Qh4# 0-1\n\n1. e4 c5 2. Nf3 d6 *\n\n", format="pgn")
    )
    table = GameTable.from_records(records)
    found = measure_difficulty(table)
    positions = [record.position(ply) for record in records for ply in range(4)]
    one_by_one = measure_difficulty(
        positions, [move for each in records for move in each.move_list]
    )
    for all_rows, moved in (
        (found.best_move_changes, one_by_one.best_move_changes),
        (found.correct_depth, one_by_one.correct_depth),
    ):
        assert all_rows.tolist() == [*moved[:4].tolist(), -1, *moved[4:].tolist(), -1]


def test_moves_left_out_prove_nothing() -> None:
    """2. g4 is mated at once; that it is lost does not make the position lost."""
    line = hk.Chess().line().play("f3").play("e5")
    blunder = line.parse("g2g4")
    for formula in ("ucb1", "puct"):
        result = hk.search_once(
            line, uct(playouts=3000, formula=formula, proofs=True), only=[blunder]
        )
        assert (result.best, result.moves[0].proven, result.proven) == (blunder, "lost", None)
    [record] = hk.parse_records("1. f3 e5 2. g4 Qh4# 0-1", format="pgn")
    book = Book.from_records("chess", [record])
    assert hk.search_once(hk.Chess(), uct(playouts=3000, book=book)).proven is None
