# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Reason


def board(rows: str, to_play: str = "X") -> Any:
    """A position from the rows given, the first being row 1; missing rows are empty."""
    return hk.Othello.from_text("".join(rows.split()).ljust(64, "-") + " " + to_play)


def played(moves: str) -> Any:
    game: Any = hk.Othello()
    for move in moves.split():
        game = game.play(move)
    return game


def names(game: Any) -> set[str]:
    return {str(move) for move in game.legal_moves}


def test_black_begins_with_four_moves() -> None:
    game: Any = hk.Othello()
    assert game.to_play == hk.Player.first
    assert names(game) == {"d3", "c4", "f5", "e6"}
    assert game.text[8 * 3 + 3 : 8 * 3 + 5] == "OX"  # d4, e4
    assert game.text[8 * 4 + 3 : 8 * 4 + 5] == "XO"  # d5, e5


def test_a_disc_turns_the_discs_it_flanks() -> None:
    after = played("d3")
    assert after.cells[2, 3] == after.cells[3, 3] == after.cells[4, 3] == 1
    assert after.cells.sum() == 4 - 1
    assert after.to_play == hk.Player.second
    assert names(after) == {"c3", "e3", "c5"}


def test_discs_are_turned_in_all_eight_directions() -> None:
    game = board("X--X--X- -O-O-O-- --OOO--- XOO-OOOX --OOO--- -O-O-O-- X--X--X- --------")
    after = game.play("d4")
    assert (after.cells >= 0).all()
    assert after.cells.sum() == 8 + 1 + 17


def test_a_run_that_no_own_disc_ends_is_not_turned() -> None:
    game = board("-OOOOOOO -OX-----")
    assert not game.is_legal("a1")
    assert board("-OOOOOOX").is_legal("a1")


def test_runs_do_not_wrap_around_the_edge() -> None:
    assert not board("------O- X-------").is_legal("h1")
    assert not board("-------O X-------").is_legal("g1")


def test_a_player_without_a_move_must_pass() -> None:
    game = board("OX------")
    assert names(game) == {"pass"}
    after = game.play("pass")
    assert after.to_play == hk.Player.second
    assert names(after) == {"c1"}


def test_a_pass_is_legal_only_when_nothing_else_is() -> None:
    assert not hk.Othello().is_legal("pass")
    with pytest.raises(hk.errors.IllegalMoveError):
        hk.Othello().play("pass")


def test_the_game_ends_when_neither_can_move() -> None:
    over = board("OX------").play("pass").play("c1")
    assert over.cells.sum() == -3
    assert over.outcome.winner == hk.Player.second
    assert over.outcome.reason == Reason.score
    assert over.legal_moves == []
    assert not over.is_legal("pass")


def test_empty_squares_go_to_the_winner() -> None:
    over = board("XX------ -------- -------- -------- -------- -------- -------- -------O")
    assert over.outcome.winner == hk.Player.first
    assert over.score == 2 - 1 + 61
    assert over.outcome.value == 1


def test_equal_discs_are_a_draw_and_share_the_empty_squares() -> None:
    over = board("X------- -------- -------- -------- -------- -------- -------- -------O")
    assert over.score == 0
    assert over.outcome.winner is None
    assert over.outcome.value == 0.5


def test_the_shortest_game_wipes_white_out_in_nine_moves() -> None:
    over = played("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert over.cells.sum() == 13
    assert over.score == 64
    assert over.outcome.winner == hk.Player.first


def test_a_full_board_is_counted() -> None:
    over = board("X" * 40 + "O" * 24, "O")
    assert over.score == 16
    assert over.outcome.winner == hk.Player.first


def test_finished_games_count_as_lines_in_perft() -> None:
    over = board("X" * 64)
    assert [over.perft(depth) for depth in range(4)] == [1, 1, 1, 1]


def test_a_move_is_a_letter_and_a_digit_or_a_pass() -> None:
    game: Any = hk.Othello()
    assert game.parse("d3") == game.parse("D3")
    assert str(game.parse("pass")) == str(game.parse("--")) == "pass"
    assert (game.parse("a1").code, game.parse("h1").code, game.parse("a8").code) == (0, 7, 56)


@pytest.mark.parametrize("text", ["", "a", "a0", "a9", "i1", "d33", "3d", "é3", "Pass "])
def test_what_is_no_move_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        hk.Othello().parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-" * 64,
        "-" * 63 + " X",
        "-" * 64 + " ",
        "-" * 64 + " Y",
        "-" * 65 + "X",
        "-" * 63 + "Z X",
        "-" * 64 + " XO",
    ],
)
def test_a_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError, match="Othello"):
        hk.Othello.from_text(text)


def test_a_text_may_use_the_other_usual_letters() -> None:
    assert (
        hk.Othello.from_text(hk.Othello().text.lower().replace("x", "*").replace("-", "."))
        == hk.Othello()
    )
