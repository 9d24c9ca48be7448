# SPDX-License-Identifier: Apache-2.0
"""SGF, in inputs written by hand after its standard: https://www.red-bean.com/sgf/"""

import pytest

import hyoka as hk
from hyoka.games import as_go
from hyoka.records import Remark

from ..record_texts import Read, fault, one, remarks


def go(properties: str = "", moves: str = ";B[ee];W[gc]", size: int = 9) -> hk.Record:
    return one(f"(;GM[1]FF[4]SZ[{size}]{properties}{moves})")


def test_root_properties_fill_the_fields() -> None:
    record = go(
        "PB[Honinbo Shusaku]BR[7d]PW[Gennan Inseki]WR[8d]EV[Castle]RO[2 (final)]PC[Osaka]"
        "DT[1846-09-11,14,15]RU[Japanese]TM[3600]OT[5x60 byo-yomi]ON[Ear-reddening]KM[0]RE[B+2]"
    )
    assert record.game == "go9"
    assert (record.first, record.second) == ("Honinbo Shusaku", "Gennan Inseki")
    assert (record.first_rating, record.second_rating) == ("7d", "8d")
    assert (record.event, record.round, record.place) == ("Castle", "2 (final)", "Osaka")
    assert (record.date, record.rules) == ("1846-09-11", "Japanese")
    assert record.time_control == "3600 5x60 byo-yomi"
    assert record.opening == "Ear-reddening"
    assert (record.result, record.ending, record.margin) == (1, "normal", 2)
    assert (record.komi, record.handicap, record.start) == (0, 0, "")
    assert record.move_texts() == ["E5", "G7"]


def test_long_names_of_ff3_are_the_short_ones() -> None:
    record = one(
        "(;FileFormat[3]GaMe[1]SiZe[9]PlayerBlack[A]PlayerWhite[B]KoMi[5.5]REsult[W+R]"
        ";Black[ee]Comment[x];White[gc])"
    )
    assert (record.game, record.first, record.second) == ("go9", "A", "B")
    assert (record.komi, record.result, record.ending) == (5.5, 0, "resigned")
    assert record.move_texts("sgf") == ["ee", "gc"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"a\]b", "a]b"),
        (r"a\\", "a\\"),
        (r"\\\]\\", r"\]\ "[:3]),
        (r"\a\:\;\(", "a:;("),
        ("two\\\nhalves", "twohalves"),
        ("two\\\r\nhalves", "twohalves"),
        ("two\\\rhalves", "twohalves"),
        ("two\\\n\rhalves", "twohalves"),
        ("two\nwords", "two words"),
        ("two\twords", "two words"),
        ("  ends  ", "ends"),
        ("(;B[ee", "(;B[ee"),
        ("本因坊秀策", "本因坊秀策"),
    ],
)
def test_text_is_unescaped(written: str, name: str) -> None:
    assert go(f"PB[{written}]").first == name


def test_what_is_escaped_ends_no_value() -> None:
    record = go(r"C[(;B[aa\];W[bb\])]", ";B[ee]C[)\\]\\\\];W[gc]")
    assert record.move_texts("sgf") == ["ee", "gc"]


def test_a_pass_is_empty_or_tt() -> None:
    assert go("", ";B[];W[tt];B[ee]").move_texts() == ["pass", "pass", "E5"]
    assert go("", ";B[];W[tt]", size=19).move_texts() == ["pass", "pass"]


def test_players_may_go_on_after_two_passes() -> None:
    assert len(go("", ";B[ee];W[];B[];W[gc];B[];W[];B[]")) == 7


def test_a_list_of_points_may_be_rectangles() -> None:
    record = go("AB[ba:cb][ee]AW[ia:ia]", ";W[aa]")
    assert record.start.split()[0] == "1XX5O/1XX6/9/9/4X4/9/9/9/9"
    assert record.position(0).to_play == hk.Player.second


@pytest.mark.parametrize(
    ("properties", "moves", "to_play", "handicap"),
    [
        ("HA[2]AB[cc][gg]", ";W[ee]", "w", 2),
        ("AB[cc][gg]", ";W[ee]", "w", 2),  # HA is not always there
        ("AB[cc][gg]AW[aa]PL[B]", "", "b", 0),
        ("AB[cc][gg]AW[aa]PL[W]", "", "w", 0),
        ("AB[cc]AW[gg]", ";B[ee]", "b", 0),
        ("PL[W]", ";W[ee]", "w", 0),
    ],
)
def test_a_game_may_start_anywhere(
    properties: str, moves: str, to_play: str, handicap: int
) -> None:
    record = go(properties, moves)
    assert record.start.split()[1] == to_play
    assert record.handicap == handicap
    assert len(record) == moves.count(";")


def test_stones_may_be_set_up_in_the_nodes_before_the_first_move() -> None:
    record = go("", ";AB[cc];AW[gg];B[ee]")
    assert record.start.split()[0] == "9/9/2X6/9/9/9/6O2/9/9"


def test_points_cleared_before_the_first_move_are_empty() -> None:
    record = go("AB[aa:cc]", ";AE[bb];W[ee]")
    assert record.start.split()[0] == "XXX6/X1X6/XXX6/9/9/9/9/9/9"


def test_stones_set_up_in_the_middle_of_a_game_are_refused(read: Read) -> None:
    refused = fault(read, "(;GM[1]SZ[9];B[ee]\n;W[gc]\n;AB[aa])")
    assert (refused.fault, refused.line) == ("unsupported", 3)


def test_handicap_stones_of_ha_alone_are_not_on_the_board() -> None:
    """`HA itself doesn't add any stones to the board`, says the standard."""
    record = go("HA[3]", ";W[ee]")
    assert record.handicap == 3
    assert record.start.split()[:2] == ["9/9/9/9/9/9/9/9/9", "w"]


def test_the_first_branch_is_the_game() -> None:
    record = one("(;GM[1]SZ[9];B[aa](;W[bb](;B[cc])(;B[dd];W[ee]))(;W[ff](;B[gg])))")
    assert record.move_texts("sgf") == ["aa", "bb", "cc"]


def test_one_parenthesis_a_move_is_still_one_game() -> None:
    points = [f"{x}{y}" for y in "bdfh" for x in "abcdefghi"]
    moves = "".join(f"(;{'BW'[i % 2]}[{point}]" for i, point in enumerate(points))
    record = one(f"(;GM[1]SZ[9]{moves}{')' * len(points)})")
    assert record.move_texts("sgf") == points


def test_who_moves_twice_running_has_seen_the_other_pass() -> None:
    record = go("", ";B[aa];B[bb];W[cc];W[dd]")
    assert record.move_texts("sgf") == ["aa", "", "bb", "cc", "", "dd"]


def test_games_follow_one_another_with_any_text_around(read: Read) -> None:
    text = "From: me\n(see below)\n\n(;GM[1]SZ[9];B[ee])\n-- \n(;GM[1]SZ[13]\n;B[dd])(;GM[1])\nend)"
    records, refused = read(text)
    assert [record.game for record in records] == ["go9", "go13", "go19"]
    assert [record.line for record in records] == [4, 6, 7]
    assert [record.number for record in records] == [1, 2, 3]
    assert refused == []


def test_white_space_stands_anywhere_between_tokens() -> None:
    record = one("\r\n( ;\tGM\n[1] SZ [9]\r\nAB [aa]\n[bb] PL\t[B] ;\n B [ee] ; W\r[gc] )  ")
    assert record.start.split()[0] == "X8/1X7/9/9/9/9/9/9/9"
    assert record.move_texts("sgf") == ["ee", "gc"]


@pytest.mark.parametrize(
    ("written", "komi"),
    [
        ("", None),
        ("KM[]", None),
        ("KM[none]", None),
        ("KM[0]", 0),
        ("KM[6.5]", 6.5),
        ("KM[6,5]", 6.5),
        ("KM[ 7.50 ]", 7.5),
        ("KM[-5.5]", -5.5),
        ("KM[3.75]", 7.5),  # Chinese: stones
        ("KM[2.75]", 5.5),
        ("KM[5]", 5),
    ],
)
def test_komi_is_in_points(written: str, komi: float | None) -> None:
    record = go(written)
    assert record.komi == komi
    assert as_go(record.position(0)).komi == (komi or 0)


@pytest.mark.parametrize(
    ("written", "result", "ending", "margin"),
    [
        ("0", 0.5, "normal", 0),
        ("Draw", 0.5, "normal", 0),
        ("Jigo", 0.5, "normal", 0),
        ("B+", 1, "unknown", None),
        ("W+", 0, "unknown", None),
        ("B+64", 1, "normal", 64),
        ("W+0.5", 0, "normal", -0.5),
        ("W+3,25", 0, "normal", -3.25),
        ("B+R", 1, "resigned", None),
        ("W+Resign", 0, "resigned", None),
        ("B+T", 1, "time", None),
        ("W+Time", 0, "time", None),
        ("B+F", 1, "forfeit", None),
        ("W+Forfeit", 0, "forfeit", None),
        ("b+r", 1, "resigned", None),
        ("Void", None, "unfinished", None),
        ("?", None, "unknown", None),
        ("", None, "unknown", None),
    ],
)
def test_results_read_as_the_standard_has_them(
    written: str, result: float | None, ending: str, margin: float | None
) -> None:
    record = go(f"RE[{written}]")
    assert (record.result, record.ending, record.margin) == (result, ending, margin)


def test_a_game_without_a_result_has_none() -> None:
    record = go()
    assert (record.result, record.ending, record.margin) == (None, "unknown", None)


def test_othello_is_game_2_whatever_the_order_of_the_properties() -> None:
    for root in ("GM[2]SZ[8]", "SZ[8]GM[2]", "GM[2]"):
        record = one(f"(;{root}RE[B+4];B[d3];W[c5])")
        assert (record.game, record.move_texts()) == ("othello", ["d3", "c5"])


def test_othello_may_set_up_its_usual_start() -> None:
    """As OthelloTk writes every game."""
    record = one("(;GM[2]FF[4]SZ[8]AB[e4][d5]AW[d4][e5]PL[B];B[d3];W[c5])")
    assert (record.game, record.start, record.move_texts()) == ("othello", "", ["d3", "c5"])


def test_othello_with_swapped_colors_is_not_its_usual_start(read: Read) -> None:
    for set_up in ("AW[e4][d5]AB[d4][e5]", "AB[e4][e4]AW[d4][e5]", "AB[e4][d5]AW[d4]", "AB[a1]"):
        assert fault(read, f"(;GM[2]{set_up};B[d3])").ply == 0


def test_sizes_may_be_written_twice() -> None:
    assert one("(;GM[1]SZ[13:13];B[aa])").game == "go13"


@pytest.mark.parametrize("root", ["GM[3]", "GM[Chess]", "GM[1]SZ[11]", "GM[1]SZ[9:13]", "SZ[x]"])
def test_other_games_and_boards_are_unsupported(root: str, read: Read) -> None:
    assert fault(read, f"(;{root};B[aa])").fault == "unsupported"


def test_the_movers_clock_is_kept() -> None:
    record = go("", ";B[ee]BL[58.5]OB[2];W[gc]WL[59];B[cc]BL[10]WL[59]")
    assert remarks(record, "clock_s") == {1: 58.5, 2: 59, 3: 10}


def test_commands_in_comments_are_remarks() -> None:
    move = r"C[Good. [%value 0.625\] [%score -3.5\] [%depth 12\] [%clk 0:01:02.5\] [%emt 3\]]"
    (remark,) = go("", f";B[ee]{move};W[gc]").remarks
    assert remark == Remark(1, 0.625, -3.5, None, 12, 62.5, 3, book=False)


@pytest.mark.parametrize(
    ("date", "color", "value", "score"),
    [
        # On the opponent's move in the bot's own view: the bot is White, then Black.
        ("2019-05-01", "B", 0.25, -4),
        ("2019-05-01", "W", 0.75, 4),
        # In March 2019 in White's view.
        ("2019-03-15", "B", 0.25, -4),
        ("2019-03-15", "W", 0.25, -4),
    ],
)
def test_katagos_win_rates_turn_to_black(date: str, color: str, value: float, score: float) -> None:
    comment = "C[kata-bot: Visits 9 Winrate 75.00% ScoreMean 4.0 ScoreStdev 1]"
    move = f"PL[{color}];{color}[ee]{comment}"
    (remark,) = one(f"(;GM[1]SZ[9]DT[{date}]{move})").remarks
    assert (remark.value, remark.score) == (value, score)


@pytest.mark.parametrize(("text", "value"), [("B 62.5%", 0.625), ("W 62.5%", 0.375)])
def test_katrain_names_the_leader(text: str, value: float) -> None:
    (remark,) = go("", f";B[ee]C[Score: B+3.2\nWin rate: {text}];W[gc]").remarks
    assert remark.value == value


@pytest.mark.parametrize("text", ["Winrate 250% ScoreMean 1", "Win rate: B 250%", "Winrate -3%"])
def test_a_value_is_never_outside_0_to_1(text: str) -> None:
    for remark in go("", f";B[ee]C[{text}];W[gc]").remarks:
        assert remark.value is None or 0 <= remark.value <= 1


@pytest.mark.parametrize(
    ("text", "kind", "line", "ply"),
    [
        ("(;GM[1]SZ[9]\n;B[ee]\n;W[ee])", "illegal move", 3, 1),
        ("(;GM[1]SZ[9]\n;B[ee]\n;W[zz])", "unreadable", 3, 1),
        ("(;GM[1]SZ[9]\n;B[ee]\n;W[e])", "unreadable", 3, 1),
        ("\n\n(;GM[1]SZ[9]\n;B[ee]\n[gc])", "unreadable", 5, 0),
        ("(;GM[1]SZ[9]\nPB;B[ee])", "unreadable", 2, 0),
        ("(;GM[1]SZ[9]\nAB[zz];W[ee])", "unreadable", 2, 0),
        ("\n(;GM[1]SZ[9];B[ee]", "unreadable", 2, 0),
        ("(;GM[1]SZ[9];B[ee)", "unreadable", 1, 0),
        ("(;GM[2];B[d3]\n;W[a1])", "illegal move", 2, 1),
    ],
)
def test_bad_sgf_is_refused_where_it_is_bad(
    text: str, kind: str, line: int, ply: int, read: Read
) -> None:
    refused = fault(read, text, "sgf")
    assert (refused.fault, refused.line, refused.ply) == (kind, line, ply)
    assert refused.number == 1


@pytest.mark.parametrize("broken", ["(;GM[1]SZ[9];B[ee]", "(;GM[1](("])
def test_a_game_that_does_not_end_takes_no_others_with_it(broken: str, read: Read) -> None:
    good = "(;GM[1]SZ[9];B[ee];W[gc])"
    records, refused = read("\n".join([good, broken, good, good]) + "\n")
    assert [record.line for record in records] == [1, 3, 4]
    assert [(each.line, each.fault) for each in refused] == [(2, "unreadable")]


# A bad game leaves its neighbors alone


GOOD = "(;GM[1]SZ[9]PB[%s];B[ee];W[gc])"


@pytest.mark.parametrize("between", ["\n", ""])
@pytest.mark.parametrize(
    "bad",
    [
        "(;GM[1]SZ[9]PB[X;B[ee];W[gc])",
        "(;GM[1]SZ[9]PB[X\nPW[Y];B[ee];W[gc])",
        "(;GM[1]SZ[9]PB[XPW[Y];B[ee];W[gc])",
        "(;GM[1]SZ[9]C[no end",
        "(;GM[1]SZ[9];B[ee]C[no end;W[gc])",
        "(;GM[1]SZ[9];B[ee",
        "(;GM[1]SZ[9];B[ee];W[gc]",
        "(;GM[1]SZ[9];B[ee](;W[gc])",
    ],
)
def test_what_has_no_end_does_not_swallow_what_follows(bad: str, between: str, read: Read) -> None:
    games = [GOOD % "A", bad, GOOD % "C", GOOD % "D"]
    records, (refused,) = read(between.join(games), "sgf")
    assert [record.first for record in records] == ["A", "C", "D"]
    assert (refused.fault, refused.number) == ("unreadable", 2)
    assert "missing" in refused.reason


def test_a_comment_may_quote_a_game(read: Read) -> None:
    quoted = GOOD.replace("]", "\\]") % "X"
    records, refused = read(f"(;GM[1]SZ[9]PB[A]C[see\n{quoted} and PW[Y\\]];B[ee])", "sgf")
    assert ([record.first for record in records], refused) == (["A"], [])
