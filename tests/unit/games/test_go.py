# SPDX-License-Identifier: Apache-2.0
import re
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Go3, Go5, Reason
from hyoka.games import game_facts, game_type


def board(picture: str, to_play: str = "b", *, komi: float = 0.0) -> Any:
    """A position drawn row by row from the top: X Black, O White, . empty."""
    rows = picture.split()
    text = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
    return game_type(f"go{len(rows)}").from_text(f"{text} {to_play} - 0 {komi}")


def stones(game: Any) -> set[str]:
    """The points with a stone, Black's as D4, White's as -D4."""
    size = type(game).size
    points = [type(game).Move.from_code(code) for code in range(size * size)]
    signs = {1: "", -1: "-"}
    return {
        signs[cell] + str(point)
        for point, cell in zip(points, game.cells.ravel().tolist(), strict=True)
        if cell
    }


KO = """
.XO..
XO.O.
.XO..
.....
.....
"""


def test_black_plays_first_on_an_empty_board_with_a_usual_komi() -> None:
    game: Any = hk.Go19()
    assert game.to_play == hk.Player.first
    assert game.komi == 7.5
    assert game.cells.shape == (19, 19)
    assert not game.cells.any()
    assert game.count_moves() == 362


def test_a_stone_without_liberties_is_captured() -> None:
    after = board(".X. XO. .X.").play("C2")
    assert stones(after) == {"B3", "A2", "C2", "B1"}


def test_a_chain_is_captured_as_a_whole_and_at_the_edge() -> None:
    after = board("OO. XX. ...").play("C3")
    assert stones(after) == {"A2", "B2", "C3"}


def test_several_chains_are_captured_at_once() -> None:
    after = board(".XOX. XO.OX .XOX. ..X.. .....").play("C4")
    assert stones(after) == {"B5", "D5", "A4", "C4", "E4", "B3", "D3", "C2"}


def test_a_chain_with_a_liberty_left_stays() -> None:
    after = board(".X. XO. ...").play("C2")
    assert "-B2" in stones(after)


def test_suicide_of_one_stone_is_illegal() -> None:
    game = board(".X. X.. ...", "w")
    assert not game.is_legal("A3")
    with pytest.raises(hk.errors.IllegalMoveError):
        game.play("A3")


def test_suicide_of_a_chain_is_illegal() -> None:
    assert not board("O.X XX. ...", "w").is_legal("B3")


def test_a_stone_that_captures_is_no_suicide() -> None:
    after = board(".XO XO. O..", "w").play("A3")
    assert stones(after) == {"-A3", "-C3", "-B2", "-A1"}


def test_joining_a_chain_with_another_liberty_is_no_suicide() -> None:
    assert board("O.X .XX ...", "w").is_legal("B3")


def test_a_ko_may_not_be_retaken_at_once() -> None:
    taken = board(KO).play("C4")
    assert str(taken.ko) == "B4"
    assert not taken.is_legal("B4")
    with pytest.raises(hk.errors.IllegalMoveError):
        taken.play("B4")


def test_a_ko_may_be_retaken_after_a_move_elsewhere() -> None:
    later = board(KO).play("C4").play("E1").play("A1")
    assert later.ko is None
    assert later.is_legal("B4")
    assert str(later.play("B4").ko) == "C4"


def test_a_ko_may_be_retaken_after_two_passes_of_a_line_are_not_in_a_row() -> None:
    line = board(KO).line().play("C4").play("pass").play("E1")
    assert line.position.ko is None
    assert line.is_legal("B4")


def test_a_snapback_takes_back_more_than_one_stone_at_once() -> None:
    game = board("..... ..... XXXX. XOOOX XO..X")
    thrown_in = game.play("C1")
    taken = thrown_in.play("D1")
    assert taken.ko is None
    assert "C1" not in stones(taken)
    back = taken.play("C1")
    assert stones(back) == {"A3", "B3", "C3", "D3", "A2", "E2", "A1", "C1", "E1"}


def test_taking_two_stones_with_one_makes_no_ko() -> None:
    taken = Go3.from_text("1OX/1OX/1X1 w - 0 0").play("C1")
    assert taken.ko is None
    assert stones(taken) == {"-B3", "-B2", "B1", "-C1"}


def test_superko_forbids_in_a_line_what_the_position_alone_allows() -> None:
    """Sending two stones and taking one back would bring back the board after the fourth move."""
    line: Any = Go3(komi=0).line()
    for point in ("C2", "B2", "B1", "B3"):
        line = line.play(point)
    repeated = line.position.cells
    for point in ("C3", "C1"):
        line = line.play(point)
    assert line.position.is_legal("C2")
    assert (line.position.play("C2").cells == repeated).all()
    assert not line.is_legal("C2")
    with pytest.raises(hk.errors.IllegalMoveError):
        line.play("C2")
    assert line.is_legal("pass")


def test_superko_counts_the_board_from_which_a_line_starts() -> None:
    line = Go3.from_text("1O1/1OX/1X1 b - 0 0").line().play("C3").play("C1")
    assert not line.is_legal("C2")


def test_superko_never_forbids_a_pass() -> None:
    line: Any = Go3().line().play("pass")
    assert line.is_legal("pass")


def test_two_passes_in_a_row_end_the_game() -> None:
    game: Any = hk.Go9()
    once = game.play("pass")
    assert once.passes == 1
    assert once.outcome is None
    over = once.play("pass")
    assert over.passes == 2
    assert over.outcome.reason == Reason.score
    assert over.legal_moves == []
    with pytest.raises(hk.errors.IllegalMoveError):
        over.play("pass")


def test_a_stone_between_two_passes_keeps_the_game_going() -> None:
    game: Any = hk.Go9()
    later = game.play("pass").play("E5").play("pass")
    assert later.passes == 1
    assert later.outcome is None


def test_an_empty_board_is_won_by_komi() -> None:
    game: Any = hk.Go9(komi=6.5)
    over = game.play("pass").play("pass")
    assert over.score == -6.5
    assert over.outcome.winner == hk.Player.second
    assert over.outcome.value == 0


@pytest.mark.parametrize(
    ("picture", "score"),
    [
        ("..XO. ..XO. ..XO. ..XO. ..XO.", 5),
        (".X.O. .X.O. .X.O. .X.O. .X.O.", 0),
        ("..... ..... ..X.. ..... .....", 25),
        ("..... ..... ..O.. ..... .....", -25),
        ("X.XOO XXXO. XXXOO ..XO. ..XOO", 5),
        ("..... ..... ..... ..... .....", 0),
    ],
)
def test_area_is_stones_and_the_empty_points_that_reach_one_color(
    picture: str, score: float
) -> None:
    assert board(picture).score == score
    assert board(picture, komi=0.5).score == score - 0.5


def test_shared_liberties_of_a_seki_are_nobodys() -> None:
    seki = board("XX.OO XXXOO XXXOO XXXOO XX.OO")
    assert seki.score == 13 - 10
    lost = seki.play("C5").play("C1")
    assert "C5" not in stones(lost)
    assert lost.score == -25


def test_a_whole_komi_allows_a_draw() -> None:
    even = board("..XO. ..XO. ..XO. ..XO. ..XO.", komi=5)
    over = even.play("pass").play("pass")
    assert over.score == 0
    assert over.outcome.winner is None
    assert over.outcome.value == 0.5


@pytest.mark.parametrize(
    ("size", "handicap", "points"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 4, "D4 Q16 D16 Q4"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (13, 4, "D4 K10 D10 K4"),
        (13, 9, "D4 K10 D10 K4 D7 K7 G4 G10 G7"),
        (9, 2, "C3 G7"),
        (9, 5, "C3 G7 C7 G3 E5"),
        (7, 4, "C3 E5 C5 E3"),
    ],
)
def test_handicap_stones_stand_where_gtp_fixes_them_and_white_begins(
    size: int, handicap: int, points: str
) -> None:
    game = game_facts(f"go{size}").start(handicap=handicap)
    assert stones(game) == set(points.split())
    assert game.to_play == hk.Player.second


@pytest.mark.parametrize(("size", "handicap"), [(19, 1), (19, 10), (19, -2), (7, 5), (5, 2)])
def test_a_handicap_without_fixed_points_is_refused(size: int, handicap: int) -> None:
    with pytest.raises(hk.errors.NotationError, match="handicap"):
        game_facts(f"go{size}").start(handicap=handicap)


@pytest.mark.parametrize("komi", [0.25, float("nan"), float("inf"), 1e6])
def test_a_komi_is_a_number_of_half_points(komi: float) -> None:
    with pytest.raises(hk.errors.NotationError, match="komi"):
        hk.Go9(komi=komi)
    with pytest.raises(hk.errors.NotationError, match="komi"):
        hk.Go9().with_komi(komi)


def test_a_changed_komi_changes_only_the_score() -> None:
    game: Any = hk.Go9().play("E5")
    other = game.with_komi(-3)
    assert other.komi == -3
    assert other.score == 81 + 3
    assert other != game
    assert other.hash == game.hash


def test_handing_over_the_turn_lifts_a_ko() -> None:
    taken = board(KO).play("C4")
    handed = taken.with_to_play(hk.Player.first)
    assert handed.to_play == hk.Player.first
    assert handed.ko is None
    assert taken.with_to_play(hk.Player.second) == taken


@pytest.mark.parametrize(
    ("gtp", "sgf", "row", "column"),
    [
        ("A9", "aa", 0, 0),
        ("J9", "ia", 0, 8),
        ("A1", "ai", 8, 0),
        ("J1", "ii", 8, 8),
        ("H2", "hh", 7, 7),
    ],
)
def test_points_are_read_and_written_as_gtp_and_sgf_do(
    gtp: str, sgf: str, row: int, column: int
) -> None:
    game: Any = hk.Go9()
    assert game.parse(gtp) == game.parse(gtp.lower()) == game.parse(sgf)
    move = game.parse(gtp)
    assert str(move) == gtp
    assert move.sgf() == sgf
    assert game.play(move).cells[row, column] == 1


@pytest.mark.parametrize("text", ["pass", "PASS", "", "tt"])
def test_a_pass_has_several_names(text: str) -> None:
    move: Any = hk.Go19().parse(text)
    assert str(move) == "pass"
    assert move.sgf() == ""


@pytest.mark.parametrize(
    "text", ["I5", "J10", "A0", "K1", "jj", "A", "5E", "E55", "?", "A-1", "E5 ", "é5"]
)
def test_what_is_no_point_of_the_board_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        hk.Go9().parse(text)


def test_an_occupied_point_is_illegal() -> None:
    game: Any = hk.Go9().play("E5")
    assert not game.is_legal("E5")


def test_set_up_stones_make_a_position() -> None:
    game: Any = Go5.from_stones(["A1", "B2"], ["C3"], to_play=hk.Player.second, komi=1.5)
    assert stones(game) == {"A1", "B2", "-C3"}
    assert game.to_play == hk.Player.second
    assert game.komi == 1.5


def test_set_up_stones_must_stand_on_points_of_their_own() -> None:
    with pytest.raises(hk.errors.IllegalMoveError, match="two stones on A1"):
        Go5.from_stones(["A1"], ["A1"])
    with pytest.raises(hk.errors.IllegalMoveError, match="two stones on A1"):
        Go5.from_stones(["A1", "A1"], [])
    with pytest.raises(hk.errors.NotationError, match="pass"):
        Go5.from_stones(["pass"], [])
    with pytest.raises(hk.errors.NotationError):
        Go5.from_stones(["Z9"], [])


def test_a_set_up_chain_needs_a_liberty() -> None:
    with pytest.raises(hk.errors.IllegalMoveError, match="the chain at A1 has no liberty"):
        Go3.from_stones(["A2", "B1"], ["A1"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5/5/5/5/5 b - 0",
        "5/5/5/5/5 b - 0 0 0",
        "5/5/5/5 b - 0 0",
        "5/5/5/5/5/5 b - 0 0",
        "5/5/5/5/4 b - 0 0",
        "5/5/5/5/6 b - 0 0",
        "5/5/5/5/X5 b - 0 0",
        "5/5/5/5/4B b - 0 0",
        "5/5/5/5/5 x - 0 0",
        "5/5/5/5/5 b Z9 0 0",
        "5/5/5/5/4X b E1 0 0",
        "5/5/5/5/5 b pass 0 0",
        "5/5/5/5/5 b - 3 0",
        "5/5/5/5/5 b - -1 0",
        "5/5/5/5/5 b - 0 zero",
        "5/5/5/5/5 b - 0 0.3",
        "5/5/5/5/5 b - 0 7.5x",
    ],
)
def test_a_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        Go5.from_text(text)


def test_a_text_with_a_captured_chain_still_on_the_board_is_refused() -> None:
    with pytest.raises(hk.Error):
        Go3.from_text("OX1/X2/3 b - 0 0")


def test_liberties_and_stones_of_a_chain_are_counted() -> None:
    game = board("XX... .X... ..O.. ..... .....")
    assert game.chain_size("A5") == game.chain_size("B4") == 3
    assert game.liberties("A5") == 4  # A4, B3, C4, C5
    assert game.liberties("C3") == 4
    assert game.liberties("E1") == game.chain_size("E1") == 0
    assert game.liberties("pass") == 0


def test_the_text_names_rows_turn_ko_passes_and_komi() -> None:
    assert board(KO, komi=0.5).play("C4").text == "1XO2/X1XO1/1XO2/5/5 w B4 0 0.5"
    assert Go3(komi=-4).play("pass").text == "3/3/3 w - 1 -4"
