# SPDX-License-Identifier: Apache-2.0
import gzip
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka._core import Go5
from hyoka.games import as_go
from hyoka.records.problems import FORMATS, Assertion, Problem, ProblemSet, load_sgf, read_problems

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
START_SFEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
OTHELLO_START = "---------------------------OX------XO---------------------------"


def only(text: str, **options: Any) -> Problem:
    """The one problem of a text, none refused."""
    suite = read_problems(text, **options)
    assert suite.refused == ()
    (problem,) = suite.problems
    return problem


def reason(text: str, **options: Any) -> str:
    """Why the one line of a text was refused."""
    suite = read_problems(text, **options)
    assert len(suite) == 0
    (refused,) = suite.refused
    return refused.reason


# EPD


def test_an_epd_line_names_its_position_and_its_moves() -> None:
    problem = only(f'{START} bm e4 Nf3; am a4; id "first; move"; acd 12;', source="a.epd")
    assert problem.game == "chess"
    assert problem.position == f"{START} 0 1"
    assert problem.best == ("e2e4", "g1f3")
    assert problem.avoid == ("a2a4",)
    assert problem.id == "first; move"
    assert problem.kind == "move"
    assert problem.notes == {"acd": "12"}
    assert (problem.source, problem.line_number) == ("a.epd", 1)
    assert problem.to_solve() == hk.Chess()


def test_epd_clocks_may_be_operations_or_fields() -> None:
    assert only(f"{START} hmvc 7; fmvn 30;").position == f"{START} 7 30"
    assert only(f"{START} 7 30 bm e4;").position == f"{START} 7 30"
    assert only(f"{START} 7 30").position == f"{START} 7 30"


def test_centipawns_are_turned_to_white() -> None:
    assert only(f"{START} ce 31;").score == 31
    black = START.replace(" w ", " b ")
    assert only(f"{black} ce 31;").score == -31
    assert only(f"{black} ce -31;").score == 31


def test_a_direct_mate_counts_the_mating_sides_moves() -> None:
    problem = only("7k/8/6K1/8/8/8/8/R7 w - - dm 1; pv Ra8#;")
    assert (problem.mate, problem.mate_plies) == (True, 1)
    assert problem.lines == (("a1a8",),)
    assert only(f"{START} bm e4;").mate is None


def test_points_are_read_where_a_comment_gives_them() -> None:
    problem = only(f'{START} bm e4; c0 "e4=100, Nf3=60"; c1 "e4=100";')
    assert problem.points == {"e2e4": 100, "g1f3": 60}
    assert problem.notes == {"c1": "e4=100"}
    assert only(f'{START} c0 "e4 is best";').notes == {"c0": "e4 is best"}


@pytest.mark.parametrize("tail", [";D1 20 ;D2 400", " ;D1 20; D2 400", " D1 20; D2 400;"])
def test_perft_tables_are_read_in_every_spelling(tail: str) -> None:
    problem = only(f"{START} 0 1 {tail}")
    assert problem.perft == {1: 20, 2: 400}
    assert problem.kind == "perft"
    for depth, count in problem.perft.items():
        assert problem.to_solve().perft(depth) == count


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"{START} bm Nc4;", "illegal move Nc4"),
        ("4k3/8/8/8/8/8/8/R3K2R w - - bm Rd1 Rg1 Rd2;", "illegal move Rd2"),
        ("4k3/8/8/8/8/R7/8/R3K3 w - - bm Ra2;", "ambiguous"),
        (f"{START} bm;", "bm names no move"),
        (f"{START} bm Zz9;", "not a chess move"),
        (f"{START} bm e4; bm d4;", "bm is given twice"),
        (f"{START} bm e4; am e4;", "same move"),
        (f"{START} ce many;", "ce needs a number"),
        (f"{START} dm 0;", "dm must be at least 1"),
        (f'{START} id "no end', "no EPD operation"),
        (f"{START} 5 e4;", "no EPD operation"),
        (f'{START} c0 "e5=100";', "illegal move e5"),
        ("8/8/8/8/8/8/8/8 w - - bm e4;", "king"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w ", "at least four fields"),
    ],
)
def test_an_epd_line_that_makes_no_sense_is_refused_with_a_reason(line: str, why: str) -> None:
    assert why in reason(line)


def test_bad_lines_do_not_stop_the_rest() -> None:
    suite = read_problems(
        f"# openings\n{START} bm e4;\n\n{START} bm e5;\r\n{START} bm d4;", source="x.epd"
    )
    assert [problem.line_number for problem in suite.problems] == [2, 5]
    assert str(suite.refused[0]).startswith("x.epd:4: illegal move e5")
    assert len(suite) == 2


# Shogi


def test_moves_after_startpos_lead_to_the_position() -> None:
    problem = only("startpos moves 7g7f 3c3d")
    assert problem.kind == "opening"
    assert problem.position == START_SFEN
    assert problem.moves == ("7g7f", "3c3d")
    assert problem.best == ()
    assert problem.to_solve() == hk.Shogi().play("7g7f").play("3c3d")
    assert only(f"position sfen {START_SFEN} moves 7g7f 3c3d").moves == problem.moves


def test_moves_after_a_bare_sfen_are_the_solution() -> None:
    problem = only("4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b")
    assert problem.kind == "mate"
    assert problem.lines == (("G*5b",),)
    assert problem.best == ("G*5b",)
    assert problem.moves == ()
    assert (problem.mate, problem.mate_plies) == (True, 1)
    unmated = only("4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5h")
    assert (unmated.kind, unmated.mate, unmated.mate_plies) == ("move", None, None)


def test_a_next_move_puzzle_gives_the_move_before_and_no_answer() -> None:
    problem = only(f"{START_SFEN} moves 7g7f\t97.5")
    assert problem.kind == "next move"
    assert problem.moves == ("7g7f",)
    assert problem.best == ()
    assert problem.score is None
    assert problem.notes == {"choice_rate": "97.5"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("startpos moves 7g7e", "illegal"),
        ("startpos moves 7g7f moves 3c3d", "twice"),
        ("startpos 7g7f", "SFEN"),
        (f"{START_SFEN} moves 7g7f\tgood", "percentage"),
        (f"{START_SFEN} moves 7g7f\t101", "percentage"),
    ],
)
def test_a_shogi_line_that_makes_no_sense_is_refused(line: str, why: str) -> None:
    assert why in reason(line, format="sfen")


def test_drills_accept_any_of_their_answers() -> None:
    problem = only(
        '{"sfen": "4k4/9/4P4/9/9/9/9/9/4K4 b 2G 1", "answers": ["G*5b", "G*4b 5a6a G*6b"],'
        ' "kind": "詰将棋", "difficulty": 1, "tags": ["a"], "title": "t"}'
    )
    assert problem.best == ("G*5b", "G*4b")
    assert problem.lines == (("G*5b",), ("G*4b", "5a6a", "G*6b"))
    assert problem.kind == "詰将棋"
    assert problem.id == "t"
    assert problem.notes == {"difficulty": "1", "tags": '["a"]'}


def test_lessons_answer_in_csa_and_say_whether_there_is_mate() -> None:
    line = '{"name": "A", "sfen": "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "mate": %s, "answers_csa": %s}'
    problem = only(line % ("true", '["+0052KI"]'))
    assert problem.mate is True
    assert problem.lines == (("G*5b",),)
    assert problem.kind == "mate"
    assert only(line % ("false", "[]")).mate is False


def test_a_king_in_hand_is_a_king_not_there() -> None:
    problem = only('{"sfen": "4k4/9/4P4/9/9/9/9/9/9 b Gkr 1", "answers": ["G*5b"]}')
    assert problem.position == "4k4/9/4P4/9/9/9/9/9/9 b Gr 1"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"sfen": 3}', "'sfen' must be a text"),
        ('{"answers": []}', "'sfen' must be a text"),
        ('{"sfen": "x"}', "SFEN"),
        (f'{{"sfen": "{START_SFEN}", "answers": "7g7f"}}', "list of texts"),
        (f'{{"sfen": "{START_SFEN}", "answers": [""]}}', "no move"),
        (f'{{"sfen": "{START_SFEN}", "answers": ["7g7e"]}}', "illegal"),
        (f'{{"sfen": "{START_SFEN}", "mate": "yes"}}', "true or false"),
        (f'{{"sfen": "{START_SFEN}", "title": "\\ud800"}}', "half a character"),
        (f'{{"sfen": "{START_SFEN}"', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "object"),
    ],
)
def test_a_json_line_that_makes_no_sense_is_refused(line: str, why: str) -> None:
    assert why in reason(line, format="jsonl")


# Othello


def test_obf_scores_are_turned_to_black() -> None:
    black = only(f"{OTHELLO_START} X; D3:+2; C4:-4; F5:+2;")
    assert black.scores == {"d3": 2, "c4": -4, "f5": 2}
    assert (black.best, black.score) == (("d3", "f5"), 2)
    white = only(f"{OTHELLO_START} O; E3:+2; C5:-4; % a comment")
    assert white.scores == {"e3": -2, "c5": 4}
    assert (white.best, white.score) == (("e3",), -2)
    assert white.notes == {"comment": "a comment"}


def test_plain_endgames_number_their_squares_and_score_for_black() -> None:
    # Black may open on d3, which is square 2 * 8 + 3.
    problem = only(f"{OTHELLO_START} Black 19 -34")
    assert (problem.best, problem.score) == (("d3",), -34)
    assert only(f"{OTHELLO_START} White 20 6").score == 6


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"{OTHELLO_START} X; D9:+2;", "D9:+2"),
        (f"{OTHELLO_START} X; A1:+2;", "illegal"),
        (f"{OTHELLO_START} X; D3:+2; D3:+4;", "two scores"),
        (f"{OTHELLO_START} Black 65 2", "from 0 to 63"),
        (f"{OTHELLO_START} Black 64 2", "illegal move pass"),
        (f"{OTHELLO_START} Black 0 2", "illegal"),
        (f"{OTHELLO_START} Black first", "expected 64 squares"),
    ],
)
def test_an_othello_line_that_makes_no_sense_is_refused(line: str, why: str) -> None:
    assert why in reason(line)


# SGF


def sgf(text: str, move_number: int | None = None) -> Any:
    return load_sgf(text.encode("latin-1"), move_number)


def test_a_record_is_replayed_up_to_just_before_a_move() -> None:
    record = "(;GM[1]SZ[9]KM[6.5];B[dd];W[ff];B[];W[cc])"
    assert sgf(record, 1) == hk.Go9(komi=6.5)
    assert sgf(record, 3) == hk.Go9(komi=6.5).play("D6").play("F4")
    assert sgf(record, 4) == hk.Go9(komi=6.5).play("D6").play("F4").play("pass")
    assert sgf(record) == sgf(record, 5)
    with pytest.raises(hk.errors.NotationError, match="4 moves"):
        sgf(record, 6)


def test_only_the_main_line_counts() -> None:
    record = "(;SZ[9](;B[dd](;W[ff])(;W[gg]))(;B[ee]))"
    assert sgf(record) == sgf("(;SZ[9];B[dd];W[ff])")


def test_set_up_stones_come_and_go() -> None:
    game = sgf("(;SZ[5]AB[aa:cb][ee]AW[ae]AE[bb]PL[W]KM[0.5])")
    points = ["A5", "B5", "C5", "A4", "C4", "E1"]
    assert game == Go5.from_stones(points, ["A1"], to_play=hk.Player.second, komi=0.5)
    assert sgf("(;SZ[5]AB[aa];B[bb];AE[aa])") == Go5.from_stones(
        ["B4"], [], to_play=hk.Player.second, komi=5.5
    )


def test_old_names_escapes_and_white_space_are_understood() -> None:
    record = (
        "noise (; GaMe[1] SiZe [5]\n Comment[a \\] ; B[aa\\] (] AddBlack[aa]\n[bb] ; White[tt])"
    )
    assert sgf(record).text == "X4/1X3/5/5/5 b - 1 5.5"


def test_a_color_may_move_twice_and_play_may_go_on_after_passes() -> None:
    assert sgf("(;SZ[5];B[aa];B[bb])") == Go5.from_stones(
        ["A5", "B4"], [], to_play=hk.Player.second, komi=5.5
    )
    assert sgf("(;SZ[5];B[];W[];B[aa])").text == "X4/5/5/5/5 w - 0 5.5"


def test_handicap_stones_are_placed_if_the_record_forgot_them() -> None:
    assert sgf("(;SZ[9]HA[2];W[ee])") == hk.Go9(komi=0.5, handicap=2).play("E5")
    assert sgf("(;SZ[9]HA[2]AB[gc][cg];W[ee])") == hk.Go9(komi=0.5, handicap=2).play("E5")
    assert sgf("(;SZ[9]HA[2])").to_play == hk.Player.second


def test_a_point_marked_illegal_is_a_ko() -> None:
    ko = "(;SZ[5]AB[bb][ab][ca]AW[aa][cb][bc]%s)"
    stones = "(;SZ[5]AB[ba][ab][bc]AW[ca][db][cc][bb]PL[B]%s)"
    game = sgf(stones % "IL[cb]")
    assert str(game.ko) == "C4"
    assert sgf(stones % "").ko is None
    assert not game.is_legal("C4")
    assert sgf(ko % "IL[ee]").ko is None


@pytest.mark.parametrize(
    ("record", "error", "why"),
    [
        ("", hk.errors.NotationError, "no SGF"),
        ("(;SZ[9];B[dd]", hk.errors.NotationError, "breaks off"),
        ("(;SZ[9]C[x;B dd)", hk.errors.NotationError, "breaks off"),
        ("(;SZ[11])", hk.errors.NotationError, "size '11'"),
        ("(;SZ[9:7])", hk.errors.NotationError, "size '9:7'"),
        ("(;GM[2])", hk.errors.NotationError, "game of Go"),
        ("(;SZ[9]KM[six])", hk.errors.NotationError, "KM"),
        ("(;SZ[9]KM[.])", hk.errors.NotationError, "KM"),
        ("(;SZ[9]KM[3.75])", hk.errors.NotationError, "komi"),
        ("(;SZ[9]HA[many])", hk.errors.NotationError, "HA"),
        ("(;SZ[9];B[jj])", hk.errors.NotationError, "no point 'jj'"),
        ("(;SZ[9]AB[cc:aa])", hk.errors.NotationError, "top left"),
        ("(;SZ[9]AB[])", hk.errors.NotationError, "no point ''"),
        ("(;SZ[9]AB[aa]AW[ab][ba])", hk.errors.IllegalMoveError, "no liberty"),
        ("(;SZ[9];B[dd];W[dd])", hk.errors.IllegalMoveError, r"move 2 \(W D6\)"),
        ("(;SZ[9]AW[ab][ba];B[aa])", hk.errors.IllegalMoveError, "move 1"),
    ],
)
def test_a_record_that_gives_no_position_is_refused(
    record: str, error: type[hk.Error], why: str
) -> None:
    with pytest.raises(error, match=why):
        sgf(record)


# GTP tests

RECORDS = {
    "games/one.sgf": b"(;SZ[9]KM[6.5];B[dd];W[ff];B[ee])",
    "games/big.sgf": b"(;SZ[11])",
    "passed.sgf": b"(;SZ[9];B[dd];W[];B[])",
}


def gtp(text: str) -> ProblemSet:
    return read_problems(text, source="a.tst", format="tst", open_beside=RECORDS.__getitem__)


def test_a_gtp_test_knows_its_position_and_what_passes() -> None:
    suite = gtp("loadsgf games/one.sgf 3 # a comment\n10 attack D6\n#? [1 (D5|E6)]*\n")
    (test,) = suite.tests
    assert test.game == "go9"
    assert test.position == hk.Go9(komi=6.5).play("D6").play("F4").text
    assert test.command == "attack D6"
    assert (test.id, test.line_number) == ("10", 2)
    assert test.expected_to_fail
    assert test.setup == ("loadsgf games/one.sgf 3",)
    assert test.accepts("1 D5")
    assert test.accepts("1 e6 ")
    assert not test.accepts("1 D55")
    assert not test.accepts("0")
    assert (test.best, test.avoid) == ((), ())


def test_a_wanted_move_sets_who_is_to_play() -> None:
    suite = gtp(
        "loadsgf games/one.sgf\n1 reg_genmove b\n#? [C3|pass|D6]\n"
        "2 reg_genmove white\n#? [! (C3|G7)]\n"
    )
    black, white = suite.tests
    assert black.best == ("C3", "pass")  # D6 is taken
    assert hk.position("go9", black.position).to_play == hk.Player.first
    assert (white.best, white.avoid) == ((), ("C3", "G7"))
    assert hk.position("go9", white.position).to_play == hk.Player.second
    assert white.accepts("A1")
    assert not white.accepts("C3")


def test_commands_on_the_board_are_followed() -> None:
    suite = gtp(
        "boardsize 5\nclear_board\nkomi 3\nplay b C3\ntrymove W B2\n1 a\n#? []\npopgo\nundo\n"
        "white A1\n2 a\n#? []\n"
    )
    first, second = suite.tests
    empty = Go5(komi=3)
    assert first.position == empty.play("C3").play("B2").text
    assert second.position == empty.with_to_play(hk.Player.second).play("A1").text
    assert second.setup[:3] == ("boardsize 5", "clear_board", "komi 3")


def test_two_passes_do_not_end_the_tests() -> None:
    (test,) = gtp("loadsgf passed.sgf\n1 reg_genmove w\n#? [PASS]").tests
    assert test.best == ("pass",)


def test_a_list_after_a_word_belongs_to_the_word() -> None:
    (test,) = gtp("loadsgf games/one.sgf\n1 defend D6\n#? [1 T15|O13|P12]").tests
    assert [test.accepts(answer) for answer in ("1 T15", "1 P12", "P12", "1")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_missing_bracket_is_forgiven() -> None:
    (test,) = gtp("loadsgf games/one.sgf\n1 unconditional_status A1\n#? [undecided").tests
    assert test.accepts("undecided")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("loadsgf games/none.sgf\n1 attack A1\n#? [0]", "cannot be opened"),
        ("loadsgf games/big.sgf\n1 attack A1\n#? [0]", "size '11'"),
        ("loadsgf games/one.sgf 9\n1 attack A1\n#? [0]", "3 moves"),
        ("loadsgf games/one.sgf E5\n1 attack A1\n#? [0]", "no move number"),
        ("loadsgf ../secret.sgf\n1 attack A1\n#? [0]", "beside or below"),
        ("loadsgf /etc/passwd\n1 attack A1\n#? [0]", "beside or below"),
        ("loadsgf games/one.sgf\nplay b D6\n1 attack A1\n#? [0]", "illegal"),
        ("loadsgf games/one.sgf\nundo\n1 attack A1\n#? [0]", "no move to take back"),
        ("loadsgf games/one.sgf\ngenmove b\n1 attack A1\n#? [0]", "nobody knows"),
        ("loadsgf games/one.sgf\n1 reg_genmove\n#? [A1]", "whose move"),
        ("loadsgf games/one.sgf\n40\n#? [A1]", "no command"),
        ("#? [A1]", "no command"),
        ("boardsize 2\nclear_board\n1 attack A1\n#? [0]", "size that is ours"),
        (501 * "komi 1\n" + "1 attack A1\n#? [0]", "more than 500 commands"),
        ("loadsgf games/one.sgf\n1 attack A1\n#? 0", "no expectation"),
        ("loadsgf games/one.sgf\n1 attack A1\n#? [0]&", "ignore"),
        ("loadsgf games/one.sgf\n1 attack A1\n#? [(]", "no pattern"),
        ("loadsgf games/one.sgf\n1 attack A1\n#? [(a*)*b]", "repeats"),
        ("loadsgf games/one.sgf\n1 attack A1\n#? [.*.*.*.*.*x]", "repeats"),
        ("loadsgf games/one.sgf\n1 attack A1\n#? [[[a]]]", "no pattern"),
    ],
)
def test_a_gtp_test_without_a_position_or_a_pattern_is_refused(text: str, why: str) -> None:
    suite = gtp(text)
    assert len(suite) == 0
    assert [why in refused.reason for refused in suite.refused] == [True], suite.refused


def test_the_next_record_ends_a_lost_board() -> None:
    suite = gtp(
        "loadsgf none.sgf\n1 attack A1\n#? [0]\nloadsgf games/one.sgf\n2 attack A1\n#? [0]\n"
    )
    assert [test.id for test in suite.tests] == ["2"]
    assert [refused.line_number for refused in suite.refused] == [3]


def test_records_need_somebody_to_open_them() -> None:
    suite = read_problems("loadsgf a.sgf\n1 attack A1\n#? [0]")
    assert "no open_beside" in suite.refused[0].reason


# Pachi's unit tests

LADDER = """\
% Basic ladder
boardsize 5
komi 0.5
rules japanese
. . . . .
. . O . .
. O X . .
. . O)O .
. . . . .

ladder b c3 1   # works
!ladder b C3 0
moggy status c3 x  D1 :
"""


def test_claims_know_their_board() -> None:
    ladder, optional, status = read_problems(LADDER, source="a.t").assertions
    stones = ["C4", "B3", "C2", "D2"]
    board = Go5.from_stones(["C3"], stones, to_play=hk.Player.first, komi=0.5)
    assert ladder.position == board.text
    assert (ladder.game, ladder.name, ladder.arguments) == ("go5", "ladder", ("b", "c3"))
    assert (ladder.player, ladder.point, ladder.holds) == (hk.Player.first, "C3", True)
    assert (ladder.last_move, ladder.title) == ("C2", "Basic ladder")
    assert ladder.settings == {"rules": "japanese"}
    assert not ladder.optional
    assert (optional.optional, optional.holds) == (True, False)
    assert (status.name, status.arguments) == ("moggy status", ("c3", "D1"))
    assert (status.expected, status.holds) == (("x", ":"), None)


def test_the_last_move_says_who_is_to_play() -> None:
    board = "boardsize 3\nX{}. .\n. O{}.\n. . .\n\ntwo_eyes a3 0"
    for black, white, player in (("", ")", "first"), (")", "", "second"), ("", "", "first")):
        text = board.format(black or " ", white or " ")
        (claim,) = read_problems(text).assertions
        assert hk.position("go3", claim.position).to_play == hk.Player[player]


def test_a_ko_may_be_set() -> None:
    text = "boardsize 5\n. X O . .\nX . X O .\n. X O . .\n. . . . .\n. . . . .\nko c4\nsar w b4 1"
    (claim,) = read_problems(text).assertions
    assert str(Go5.from_text(claim.position).ko) == "B4"
    assert "taken a ko" in reason(text.replace("ko c4", "ko b5"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("boardsize 3\n. . .\n. . .\nladder b a1 1", "2 rows"),
        ("boardsize 3\n. . .\n. .\n. . .\nladder b a1 1", "2 points"),
        ("boardsize 3\n. .).\n. . .\n. . .\nladder b a1 1", "last move"),
        ("boardsize 3\nX)X).\n. . .\n. . .\nladder b a1 1", "last move"),
        ("boardsize 3\nX O .\nO . .\n. . .\nladder b a3 1", "no liberty"),
        ("boardsize 3\n. . .\n. . .\n. . .\nladder b j1 1", "not a point"),
        ("boardsize 3\n. . .\n. . .\n. . .\nladder", "claims nothing"),
        ("boardsize 3\nkomi x\n. . .\n. . .\n. . .\nladder b a1 1", "no komi"),
    ],
)
def test_a_claim_about_no_board_is_refused(text: str, why: str) -> None:
    assert why in reason(text)


def test_boards_of_other_sizes_are_refused() -> None:
    suite = read_problems("boardsize 8\n. . .\nladder b a1 1")
    assert "size '8'" in suite.refused[0].reason
    assert len(suite) == 0


# All formats

SAMPLES = {
    "epd": f'{START} bm e4 Nf3; am a4; id "x"; c0 "e4=100, d4=9"; pv e4 e5;\n{START} ;D1 20 ;D2 9',
    "sfen": f"startpos moves 7g7f\n{START_SFEN} moves 7g7f 3c3d\n{START_SFEN} moves 7g7f\t97.5",
    "jsonl": f'{{"sfen": "{START_SFEN}", "answers": ["7g7f"], "mate": true, "kind": "a"}}',
    "obf": f"{OTHELLO_START} X; D3:+2; C4:-4;\n{OTHELLO_START} O; E3:+2;",
    "othello": f"{OTHELLO_START} Black 19 -34",
    "tst": "loadsgf games/one.sgf 3\n1 reg_genmove w\n#? [!D5|E6]*\nplay b A1\n2 attack D6\n#? [.]",
    "pachi": LADDER,
}
for_every_format = pytest.mark.parametrize("name", FORMATS)


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES) == set(FORMATS)


@for_every_format
def test_a_format_is_recognized_by_its_content_and_read_from_bytes(name: str) -> None:
    text = SAMPLES[name]
    suite = read_problems(text, open_beside=RECORDS.__getitem__)
    assert suite.format == name
    assert len(suite) > 0
    assert suite.refused == ()
    windows = ("\ufeff" + text.replace("\n", "\r\n")).encode()
    assert read_problems(windows, open_beside=RECORDS.__getitem__) == suite
    assert [known for known in FORMATS if FORMATS[known].looks_like.search(text)] == [name]


def test_bytes_that_are_no_utf8_are_read_too() -> None:
    suite = read_problems(b"# caf\xe9\n" + START.encode() + b" bm e4;")
    assert len(suite) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "hello", "(;SZ[9])", "\0\ud800", b"\xff\xfe"])
def test_a_text_in_no_known_format_is_an_error_that_says_what_was_tried(text: str | bytes) -> None:
    with pytest.raises(hk.errors.NotationError, match=r"\Ax: no problem set.*epd.*pachi") as raised:
        read_problems(text, source="x")
    assert "\n" not in str(raised.value)


def test_a_wrong_format_name_gets_the_right_ones() -> None:
    with pytest.raises(hk.errors.NotationError, match="known: epd, sfen"):
        read_problems("", format="pgn")


def test_problems_can_be_kept_in_sets() -> None:
    text = SAMPLES["epd"]
    assert len({*read_problems(text).problems, *read_problems(text).problems}) == 2


def check(suite: ProblemSet) -> None:
    """Everything that was read can be used."""
    for problem in suite.problems:
        game = problem.to_solve()
        assert all(game.is_legal(move) for move in (*problem.best, *problem.avoid))
        assert all(game.is_legal(move) for move in (*problem.points, *problem.scores))
        for line in problem.lines:
            after = game
            for move in line:
                after = after.play(move)
    for test in suite.tests:
        game = hk.position(test.game, test.position)
        assert game.text == test.position
        assert game.outcome is None
        assert all(game.is_legal(move) for move in (*test.best, *test.avoid))
        test.accepts("1 D4")
    for claim in suite.assertions:
        game = hk.position(claim.game, claim.position)
        assert game.text == claim.position
        assert claim.point is None or str(game.parse(claim.point)) == claim.point
    for refused in suite.refused:
        assert refused.reason
        assert len(refused.reason) <= 200
        assert refused.reason.isprintable()


def mutations(text: str) -> st.SearchStrategy[str]:
    """The text with some places cut out, written over or repeated."""
    telling = sorted(set(text) | set('[]()!*&+{\\/-:;"\t\n%#?\ud800'))
    alphabet = st.one_of(st.sampled_from(telling), st.characters())
    edit = st.tuples(
        st.integers(0, len(text)), st.integers(0, 12), st.text(alphabet, max_size=6), st.booleans()
    )

    def edited(edits: list[tuple[int, int, str, bool]]) -> str:
        result = text
        for at, length, new, again in edits:
            kept = result[at : at + length] if again else ""
            result = result[:at] + new + kept + result[at + length * (not again) :]
        return result

    return st.lists(edit, max_size=6).map(edited)


@for_every_format
@given(data=st.data())
def test_any_text_is_read_or_refused(name: str, data: st.DataObject) -> None:
    text = data.draw(st.one_of(mutations(SAMPLES[name]), st.text(st.characters(), max_size=200)))
    records = data.draw(st.sampled_from([RECORDS, {"games/one.sgf": b"(;SZ[9]AB[aa]AW[ab][ba])"}]))
    check(read_problems(text, format=name, open_beside=records.__getitem__))
    try:
        check(read_problems(text.encode("utf-8", "replace"), open_beside=records.__getitem__))
    except hk.errors.NotationError as error:
        assert "no problem set" in str(error)  # noqa: PT017


SGF_SAMPLE = (
    "(;GM[1]SZ[5]HA[0]KM[6.5]AB[ba][ab]AW[ca][bb:cb]AE[ee]PL[B]IL[aa];B[cc]C[a\\]b];W[];B[])"
)


@given(mutations(SGF_SAMPLE), st.one_of(st.none(), st.integers(0, 5)))
def test_any_record_gives_a_position_or_one_of_our_errors(text: str, number: int | None) -> None:
    try:
        game: Any = load_sgf(text.encode("utf-8", "replace"), number)
    except hk.Error:
        return
    game.check_consistency()


# The sets in ../shared/data, as its README counts them

COUNTS = {
    "chess/epd_suites.zip": {
        "wac.epd": 150,
        "ecmgcp.epd": 91,
        "iq4.epd": 91,
        "bt2630.epd": 11,
        "eet.epd": 46,
        "pet.epd": 25,
        "lct2.epd": 18,
        "arasan2024.epd": 93,
        "sts.epd": 627,
        "bratko_kopec.epd": 12,
        "kaufman.epd": 13,
        "silent_but_deadly.epd": 69,
        "nolot.epd": 5,
        "perft.epd": 57,
        "perft_marcel.epd": 558,
    },
    "shogi/mate_and_nextmove.zip": {
        "mate3.sfen": 1015,
        "mate5.sfen": 980,
        "mate7.sfen": 1012,
        "mate9.sfen": 978,
        "mate11.sfen": 1038,
        "nextmove.sfen": 2348,
        "drill.jsonl": 249,
        "checkmate_lessons.jsonl": 36,
    },
    "othello/endgame_suites.zip": {
        "fforum-1-19.obf": 10,
        "fforum-20-39.obf": 9,
        "fforum-40-59.obf": 9,
        "fforum-60-79.obf": 12,
        "eg_13_14.txt": 259,
        "eg_15_16.txt": 232,
        "eg_17_18.txt": 262,
        "eg_19_20.txt": 229,
        "eg_21_22.txt": 269,
    },
}


def suites_of(archive: Path) -> Iterator[ProblemSet]:
    """All problem sets in an archive, with its records within reach."""
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            if not name.endswith(".sgf"):
                yield read_problems(files.read(name), source=name, open_beside=files.read)


@pytest.mark.parametrize("archive", COUNTS)
def test_suites_hold_what_the_data_say(archive: str, shared_data: Callable[[str], Path]) -> None:
    counts = {}
    for suite in suites_of(shared_data(archive)):
        check(suite)
        counts[suite.source] = len(suite) + len(suite.refused)
        # One drill has five lances.
        refused = [str(refusal) for refusal in suite.refused]
        assert len(refused) == (suite.source == "drill.jsonl"), refused
        assert all("more than 4 of 'L'" in text for text in refused)
    assert counts == COUNTS[archive]


@pytest.mark.parametrize(
    ("name", "lines", "plies"), [("floodgate_openings", 10_831, 24), ("taya36", 1_957, 36)]
)
def test_openings_are_whole(
    name: str, lines: int, plies: int, shared_data: Callable[[str], Path]
) -> None:
    suite = read_problems(gzip.decompress(shared_data(f"shogi/{name}.sfen.gz").read_bytes()))
    assert len(suite) == lines
    assert suite.refused == ()
    assert {len(problem.moves) for problem in suite.problems} == {plies}


def test_mates_end_in_mate_after_as_many_plies_as_their_suite_says(
    shared_data: Callable[[str], Path],
) -> None:
    for suite in suites_of(shared_data("shogi/mate_and_nextmove.zip")):
        if plies := re.fullmatch(r"mate(\d+)\.sfen", suite.source):
            for problem in suite.problems:
                assert (problem.mate, problem.mate_plies) == (True, int(plies[1]))
                assert len(problem.lines[0]) == int(plies[1])


def test_strategic_problems_give_their_best_move_most_points(
    shared_data: Callable[[str], Path],
) -> None:
    with zipfile.ZipFile(shared_data("chess/epd_suites.zip")) as files:
        suite = read_problems(files.read("sts.epd"))
    for problem in suite.problems:
        assert all(problem.points[move] == 100 for move in problem.best)


def test_a_score_is_listed_for_every_move_of_the_ffo_positions(
    shared_data: Callable[[str], Path],
) -> None:
    for suite in suites_of(shared_data("othello/endgame_suites.zip")):
        for problem in suite.problems if suite.format == "obf" else ():
            assert set(problem.scores) == set(map(str, problem.to_solve().legal_moves))


@pytest.mark.parametrize(
    ("archive", "count", "reasons"),
    [
        ("gnugo_regression", 2528, {"size '11'", "size '2'", "no size", "games/endgame1.sgf"}),
        ("fuego_regression", 1174, {"no command"}),
    ],
)
def test_regression_tests_are_all_read_or_refused_for_a_known_reason(
    archive: str, count: int, reasons: set[str], shared_data: Callable[[str], Path]
) -> None:
    total = 0
    met = set()
    for suite in suites_of(shared_data(f"go_tactics/{archive}.zip")):
        check(suite)
        total += len(suite) + len(suite.refused)
        for refused in suite.refused:
            (why,) = [text for text in reasons if text in refused.reason]
            met.add(why)
    assert total == count
    assert met == reasons


def test_diagrams_hold_the_claims_and_stones_that_their_files_show(
    shared_data: Callable[[str], Path],
) -> None:
    setting = re.compile(r"boardsize|komi|rules|passes|handicap")
    claims: list[Assertion] = []
    with zipfile.ZipFile(shared_data("go_tactics/pachi_tunit.zip")) as files:
        for name in files.namelist():
            text = files.read(name).decode()
            suite = read_problems(text, source=name)
            check(suite)
            assert suite.refused == ()
            lines = re.findall(r"^!?[a-z].*", text, re.MULTILINE)
            assert len(suite) == sum(not setting.match(line) for line in lines)
            boards = {claim.position: claim for claim in suite.assertions}
            for block in re.split(r"^boardsize", text, flags=re.MULTILINE)[1:]:
                diagram = "".join(re.findall(r"^[.XO][ )].*", block, re.MULTILINE))
                shown = (diagram.count("X"), diagram.count("O"))
                assert shown in {(b.count("X"), b.count("O")) for b in boards}
            claims += suite.assertions
    assert 320 <= len(claims) <= 340  # about 330, says the README
    ladders = [claim for claim in claims if claim.name == "ladder"]
    assert all(claim.player and claim.point and claim.holds is not None for claim in ladders)
    for claim in ladders:
        # What Pachi asserts before it looks: a chain of that player with one liberty.
        board = as_go(hk.position(claim.game, claim.position))
        assert board.liberties(claim.point) == 1
