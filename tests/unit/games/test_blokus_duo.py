# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Reason

EMPTY = "/".join(["14"] * 14)
PIECES = "abcdefghijklmnopqrstu"
# The first player can lay nothing more, the second can.
ONE_STUCK = (
    "1X1XXXO1OOOOX1/1XX1XOOO1XXOX1/XX4XXX1OXXX/2X3X2XOOO1/2XXXX1XXO2O1/XX4XXXOOO2/X1X1XX3O4"
    "/2X1XX2O1OOO1/2X1O1O1O5/1OOO1OO1OO1O2/1O4OO1O1O2/1O2OO2O1OO2/4OOO1OO4/9OO3"
)
BOTH_STUCK = (
    "1X1XXXO1OOOOX1/1XXOXOOO1XXOX1/XXOOO1XXX1OXXX/1OXO2X2XOOO1/OOXXXX1XXO2O1/XXOOOOXXXOOO2/XOXOXX3O4"
    "/OOX1XX2O1OOO1/O1X1O1O1O4O/1OOO1OO1OO1O1O/1O4OO1O1O1O/1O2OO2O1OO1O/O1O1OOO1OO2O1/OOO6OO1O1"
)
# All 21 pieces of the first player, the single square on g9 and a domino on a14 and b14 among them.
ALL_LAID = (
    "XX6XX1XX1/2XX3X1X1X1X/XX1X2XX3X1X/X1XX1X1XX2X1X/X3XX3XX2X/3XX1X2XXX2/2X4XX3X1"
    "/1XXXX2XX2XXX/X4XX3X1X1/X2XXX1X2X3/X1X3XX1XXX2/X1XXX1X1X3X1/X3X2XX3X1/1XXX4X1XXX1"
)
ALL_BUT_THE_SINGLE = ALL_LAID.replace("/3XX1X2XXX2/", "/3XX4XXX2/")
ALL_BUT_A_DOMINO = ALL_LAID.replace("XX6XX1XX1/", "8XX1XX1/")


def blokus(text: str, *moves: str) -> Any:
    game: Any = hk.BlokusDuo.from_text(text)
    for move in moves:
        game = game.play(move)
    return game


def squares(move: Any) -> set[str]:
    return set(str(move).split(","))


def test_the_first_player_starts_on_e10_and_the_second_on_j5() -> None:
    game: Any = hk.BlokusDuo()
    assert all("e10" in squares(move) for move in game.legal_moves)
    after = game.play("e10")
    assert after.cells[4, 4] == 1
    assert all("j5" in squares(move) for move in after.legal_moves)
    assert after.play("j5").cells[9, 9] == -1


def test_the_first_move_lays_any_square_of_any_orientation_on_the_start() -> None:
    """Fixed polyominoes of 1 to 5 squares, each times its squares."""
    assert hk.BlokusDuo().count_moves() == 1 * 1 + 2 * 2 + 6 * 3 + 19 * 4 + 63 * 5


def test_all_placements_on_the_board_have_a_code_of_their_own() -> None:
    move_type: Any = hk.BlokusDuo.Move
    placements = {str(move_type.from_code(code)) for code in range(13729)}
    assert len(placements) == 13729
    assert str(move_type.from_code(13729)) == "pass"
    assert sum(1 for name in placements if "," not in name) == 14 * 14
    assert sum(1 for name in placements if name.count(",") == 1) == 2 * 13 * 14


def test_later_pieces_touch_own_pieces_at_corners_and_never_along_edges() -> None:
    game = blokus(f"{EMPTY} x", "e10", "j5")
    corners = {"d11", "f11", "d9", "f9"}
    edges = {"d10", "f10", "e9", "e11"}
    moves = game.legal_moves
    assert moves
    assert all(squares(move) & corners and not squares(move) & edges for move in moves)
    assert game.is_legal("f9,g9")
    assert not game.is_legal("f9,f10")
    assert not game.is_legal("h9,h10")
    marks = game.attaching(hk.Player.first)
    assert marks.sum() == 4
    assert marks[3, 3] == marks[3, 5] == marks[5, 3] == marks[5, 5] == 1


def test_pieces_of_the_two_players_may_touch_along_edges() -> None:
    game = blokus(f"{EMPTY} x", "e10,f10,g10,h10,i10", "j5,j6,j7,j8,j9", "j11,k11")
    assert game.is_legal("i10") is False
    assert game.is_legal("k10,l10,m10,n10") is True


def test_an_occupied_square_is_closed_to_both() -> None:
    game = blokus(f"{EMPTY} x", "e10,f10,g10,h10,i10", "j5,j6,j7,j8,j9")
    assert not game.is_legal("j9,j10")


def test_each_piece_is_laid_once() -> None:
    game = blokus(f"{EMPTY} x", "e10", "j5")
    assert game.pieces_left(hk.Player.first) == game.pieces_left(hk.Player.second) == PIECES[1:]
    assert not game.is_legal("f9")
    assert not any("," not in str(move) for move in game.legal_moves)


def test_a_player_who_can_lay_nothing_passes() -> None:
    game = blokus(f"{ONE_STUCK} x")
    assert [str(move) for move in game.legal_moves] == ["pass"]
    after = game.play("pass")
    assert after.to_play == hk.Player.second
    assert after.outcome is None
    assert not after.is_legal("pass")


def test_a_pass_is_legal_only_when_nothing_else_is() -> None:
    assert not hk.BlokusDuo().is_legal("pass")


@pytest.mark.parametrize("to_play", ["x", "o"])
def test_the_game_ends_when_neither_can_lay_a_piece(to_play: str) -> None:
    over = blokus(f"{BOTH_STUCK} {to_play}")
    assert over.score == BOTH_STUCK.count("X") - BOTH_STUCK.count("O")
    assert over.outcome.winner == hk.Player.second
    assert over.outcome.reason == Reason.score
    assert over.legal_moves == []


def test_all_pieces_together_have_89_squares() -> None:
    game = blokus(f"{ALL_LAID} x")
    assert game.pieces_left(hk.Player.first) == ""
    assert game.score == 89


def test_the_bonus_is_15_for_all_pieces_and_5_more_for_the_single_square_last() -> None:
    assert blokus(f"{ALL_BUT_THE_SINGLE} x bonus -").score == 88
    assert blokus(f"{ALL_BUT_THE_SINGLE} x bonus -", "g9").score == 89 + 20
    assert blokus(f"{ALL_BUT_A_DOMINO} x bonus -").score == 87
    assert blokus(f"{ALL_BUT_A_DOMINO} x bonus -", "a14,b14").score == 89 + 15
    assert blokus(f"{ALL_BUT_A_DOMINO} x bonus x", "a14,b14").score == 89 + 15


def test_the_bonus_is_an_option() -> None:
    assert not hk.BlokusDuo().bonus
    assert hk.BlokusDuo(bonus=True).bonus
    assert hk.BlokusDuo(bonus=True) != hk.BlokusDuo()
    assert blokus(f"{ALL_BUT_THE_SINGLE} x", "g9").score == 89


def test_who_laid_the_single_square_last_is_part_of_the_bonus_position() -> None:
    game = blokus(f"{ALL_BUT_THE_SINGLE} x bonus -", "g9")
    assert game.text == f"{ALL_LAID} o bonus x"
    assert blokus(game.text).score == 89 + 20
    assert blokus(f"{ALL_LAID} o bonus -").score == 89 + 15


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("55a0", "e10"),
        ("aaa0", "j5"),
        ("11a0", "a14"),
        ("eea0", "n1"),
        ("55b0", "e9,e10"),
        ("55b2", "d10,e10"),
        ("66r0", "g8,f9,g9,e10,f10"),
        ("0000", "pass"),
    ],
)
def test_moves_have_a_code_of_four_characters(code: str, text: str) -> None:
    game: Any = hk.BlokusDuo()
    move = game.parse(code)
    assert str(move) == text
    assert game.parse(text) == move
    assert move.short_code() == code


def test_codes_that_name_the_same_squares_are_the_same_move() -> None:
    game: Any = hk.BlokusDuo()
    assert {game.parse(f"55a{rotation}") for rotation in range(8)} == {game.parse("e10")}


def test_squares_are_read_in_any_order() -> None:
    game: Any = hk.BlokusDuo()
    assert game.parse("f10,e10,g9,f9,g8") == game.parse("66r0")


@pytest.mark.parametrize(
    "text",
    [
        "e15",
        "o1",
        "a0",
        "e10,e12",
        "e10,f10,g10,h10,i10,j10",
        "11r0",
        "55v0",
        "55a8",
        "ffa0",
        "zzzz",
        "e10;f10",
        ",",
        "é1",
    ],
)
def test_what_is_no_move_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        hk.BlokusDuo().parse(text)


def rows_with(top: dict[int, str]) -> str:
    """An empty board but for these rows, counted from the top."""
    return "/".join(top.get(row, "14") for row in range(1, 15))


@pytest.mark.parametrize(
    "text",
    [
        "",
        EMPTY,
        f"{EMPTY} z",
        f"{EMPTY} x bonus",
        f"{EMPTY} x malus -",
        f"{EMPTY} x bonus zzz",
        f"{EMPTY}/14 x",
        "/".join(["14"] * 13) + " x",
        "/".join(["14"] * 13) + "/13 x",
        "/".join(["14"] * 13) + "/15 x",
        "/".join(["14"] * 13) + "/Z13 x",
        "/".join(["14"] * 13) + "/é13 x",
        rows_with({1: "X13"}) + " o",
        rows_with({5: "4XXXXXX4"}) + " o",
        rows_with({5: "4X9", 6: "5X8"}) + " o",
        rows_with({5: "4X9", 14: "XX12"}) + " o",
    ],
)
def test_a_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=r"\A[^\n]+\Z"):
        hk.BlokusDuo.from_text(text)


def test_a_position_is_the_same_whatever_the_order_of_its_pieces() -> None:
    """From e10 one piece attaches below right, one above left."""
    one = blokus(f"{EMPTY} x", "e10", "j5", "f9,g9", "k4,l4", "b11,c11,d11")
    two = blokus(f"{EMPTY} x", "e10", "j5", "b11,c11,d11", "k4,l4", "f9,g9")
    assert one == two
    assert one.hash == two.hash
    rows = rows_with({4: "1XXX10", 5: "4X9", 6: "5XX7", 10: "9O4", 11: "10OO2"})
    assert one.text == f"{rows} o"


def test_the_board_mirrors_in_the_diagonal_through_both_starts() -> None:
    game = blokus(f"{EMPTY} x", "66r0")
    mirrored = game.transformed(1)
    assert (mirrored.cells == game.cells.T).all()
    assert mirrored == hk.BlokusDuo().play(
        hk.BlokusDuo.transformed_move(hk.BlokusDuo().parse("66r0"), 1)
    )
