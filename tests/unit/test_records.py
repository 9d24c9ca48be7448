# SPDX-License-Identifier: Apache-2.0
"""What each notation says, in inputs written by hand after the notations' own standards."""

import gzip
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.records import batches, recognise

Reading = tuple[list[hk.Record], list[hk.Refused]]
Read = Callable[..., Reading]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The records of some text in a file, and the games that were refused."""

    def records_of(data: str | bytes, format: str | None = None) -> Reading:
        path = tmp_path / "games"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        stream = hk.read_records(path, format=format)
        return list(stream), stream.refused

    return records_of


def one(data: str | bytes, format: str | None = None) -> hk.Record:
    (record,) = hk.parse_records(data, format=format)
    return record


def fault(read: Read, data: str, format: str | None = None) -> hk.Refused:
    """The only refusal in text that holds no good game."""
    records, (refused,) = read(data, format)
    assert records == []
    return refused


def remarks(record: hk.Record, what: str) -> dict[int, Any]:
    """What a record's remarks say of one thing, by ply."""
    said = ((remark.ply, getattr(remark, what)) for remark in record.remarks)
    return {ply: value for ply, value in said if value is not None}


# SGF: https://www.red-bean.com/sgf/


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
    assert record.position(0).komi == (komi or 0)


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


def test_othello_with_its_colours_changed_is_not_its_usual_start(read: Read) -> None:
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
    assert remark == hk.Remark(1, 0.625, -3.5, None, 12, 62.5, 3, book=False)


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


# PGN: http://www.saremba.de/chessgml/standards/pgn/pgn-complete.htm


def pgn(moves: str, **tags: str) -> hk.Record:
    return one(
        "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + "\n" + moves, "pgn"
    )


def san(moves: str, **tags: str) -> str:
    return " ".join(pgn(moves, **tags).move_texts("san"))


def test_tags_fill_the_fields() -> None:
    record = pgn(
        "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0",
        Event="F/S Return Match",
        Site="Belgrade, Serbia JUG",
        Date="1992.11.04",
        Round="29",
        White="Fischer, Robert J.",
        Black="Spassky, Boris V.",
        Result="1-0",
        WhiteElo="2785",
        BlackElo="2560",
        TimeControl="40/7200:3600",
        ECO="C23",
        Opening="Bishop's Opening",
    )
    assert record.game == "chess"
    assert (record.first, record.second) == ("Fischer, Robert J.", "Spassky, Boris V.")
    assert (record.first_rating, record.second_rating) == ("2785", "2560")
    assert (record.first_rank, record.second_rank) == (2785, 2560)
    assert (record.event, record.place) == ("F/S Return Match", "Belgrade, Serbia JUG")
    assert (record.date, record.round) == ("1992-11-04", "29")
    assert (record.time_control, record.opening) == ("40/7200:3600", "Bishop's Opening")
    assert (record.result, record.ending, record.margin) == (1, "normal", None)
    assert (record.start, record.rules) == ("", "")


def test_unknown_tags_say_nothing() -> None:
    record = pgn("*", Event="?", Site="?", Date="????.??.??", Round="-", White="", WhiteElo="-")
    assert {record.event, record.place, record.round, record.first, record.first_rating} == {""}
    assert record.date == ""
    assert pgn("*", Date="1977.??.??").date == "1977"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"a \"b\" c", 'a "b" c'),
        (r"a\\b", "a\\b"),
        (r"\\\"", '\\"'),
        ("[x] {y} ; %", "[x] {y} ; %"),
        ("Müller 王", "Müller 王"),
    ],
)
def test_strings_of_tags_are_unescaped(written: str, name: str) -> None:
    assert pgn("*", White=written).first == name


def test_tags_may_share_a_line_and_be_spread_over_lines() -> None:
    record = one('[White "A"][Black "B"]\n[ Event\n"C" ]\n\n1. e4 *', "pgn")
    assert (record.first, record.second, record.event) == ("A", "B", "C")


@pytest.mark.parametrize(
    "moves",
    [
        "1. e4 e5 2. Nf3 Nc6 *",
        "1.e4 e5 2.Nf3 Nc6 *",
        "e4 e5 Nf3 Nc6 *",
        "1. e4 1... e5 2. Nf3 2... Nc6 *",
        "1 . e4 e5 2. Nf3 Nc6*",
        "1.\te4\r\ne5\r\n2.\nNf3 Nc6 *",
        "1. e4! e5?! 2. Nf3!! Nc6?? *",
        "1. e4 $1 e5 $6 2. Nf3 $3 $13 Nc6 $139 *",
        "1. e4 {best by test} e5 { } 2. Nf3{x}Nc6 {} *",
        "1. e4 ; the rest } of ( the line\n e5 2. Nf3 Nc6 *",
        "1. e4\n% an escaped line } ( 1-0\ne5 2. Nf3 Nc6 *",
        "1. e4 (1. d4 d5 (1... Nf6 2. c4 {) ]} (2. Nf3)) 2. c4) e5 2. Nf3 (2. f4) Nc6 *",
        "1. e4 {{ nested } comment} e5 2. Nf3 Nc6 *",
        "1. e4 { a comment {with a brace } e5 2. Nf3 Nc6 *",
        "1. e4 e5 2. Nf3 Nc6",
        "1. e4 e5 2. Nf3 Nc6\n\n",
        "1. e2e4 e7-e5 2. Ng1f3 Nb8-c6 *",
        "1. e4 e5 +/= 2. Nf3 !? Nc6 *",
        "1. P-K4 *".replace("P-K4", "e4 e5 2. N1f3 Nbc6"),
    ],
)
def test_move_text_is_read_in_all_its_forms(moves: str) -> None:
    assert san(moves) == "e4 e5 Nf3 Nc6"


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("1. e4 a6 2. e5 d5 3. exd6 *", "e4 a6 e5 d5 exd6"),
        ("1. e4 a6 2. e5 d5 3. exd6 e.p. *", "e4 a6 e5 d5 exd6"),
        ("1. e4 a6 2. e5 d5 3. exd6e.p. *", "e4 a6 e5 d5 exd6"),
        ("1. Nf3 a6 2. g3 b6 3. Bg2 c6 4. O-O *", "Nf3 a6 g3 b6 Bg2 c6 O-O"),
        ("1. Nf3 a6 2. g3 b6 3. Bg2 c6 4. 0-0 *", "Nf3 a6 g3 b6 Bg2 c6 O-O"),
        ("1. Nf3 a6 2. g3 b6 3. Bg2 c6 4.0-0 *", "Nf3 a6 g3 b6 Bg2 c6 O-O"),
        ("1. Nf3 a6 2. g3 b6 3. Bg2 c6 4. 0-0! *", "Nf3 a6 g3 b6 Bg2 c6 O-O"),
        ("1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. 0-0-0 0-0-0 *",
         "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O O-O-O"),
        ("1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5.O-O-O?! 0-0-0?? *",
         "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O O-O-O"),
    ],
)  # fmt: skip
def test_castling_and_captures_in_passing(moves: str, expected: str) -> None:
    assert san(moves) == expected


@pytest.mark.parametrize("move", ["e8=Q+", "e8Q", "e8=Q", "e7-e8=Q", "e7e8q"])
def test_promotions(move: str) -> None:
    fen = "k7/4P3/8/8/8/8/8/4K3 w - - 0 1"
    assert san(f"1. {move} *", SetUp="1", FEN=fen) == "e8=Q+"


def test_a_game_may_start_at_any_position_with_either_side() -> None:
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
    record = pgn("2... Nc6 3. Bb5 a6 *", SetUp="1", FEN=fen)
    assert record.start == fen
    assert record.move_texts("san") == ["Nc6", "Bb5", "a6"]


def test_the_usual_start_written_as_fen_is_the_usual_start() -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert pgn("1. e4 *", SetUp="1", FEN=fen).start == ""


@pytest.mark.parametrize("variant", ["Chess960", "chess 960", "fischerandom", "Fischerandom"])
def test_chess960_castles_by_its_own_rules(variant: str) -> None:
    fen = "1r4kr/pppppppp/8/8/8/8/PPPPPPPP/1R4KR w HBhb - 0 1"
    record = pgn("1. O-O O-O-O *", Variant=variant, SetUp="1", FEN=fen)
    assert record.rules == "chess960"
    assert record.move_texts("san") == ["O-O", "O-O-O"]
    assert record.position().text.split()[0] == "2kr3r/pppppppp/8/8/8/8/PPPPPPPP/1R3RK1"


@pytest.mark.parametrize("variant", ["Standard", "normal", "chess", "From Position"])
def test_ordinary_chess_has_many_names(variant: str) -> None:
    assert pgn("1. e4 *", Variant=variant).rules == ""


@pytest.mark.parametrize("variant", ["Crazyhouse", "Atomic", "Antichess", "Horde", "shogi"])
def test_other_variants_are_unsupported(variant: str, read: Read) -> None:
    refused = fault(read, f'[Variant "{variant}"]\n\n1. e4 e5 *\n')
    assert refused.fault == "unsupported"
    assert variant in refused.reason


@pytest.mark.parametrize(
    ("tag", "moves", "result"),
    [
        ("1-0", "1. e4 e5 1-0", 1),
        ("0-1", "1. e4 e5 0-1", 0),
        ("1/2-1/2", "1. e4 e5 1/2-1/2", 0.5),
        ("*", "1. e4 e5 *", None),
        ("1-0", "1. e4 e5", 1),  # the terminator is missing
        ("1-0", "1. e4 e5 *", 1),  # the two disagree: the one that says more
        ("?", "1. e4 e5 0-1", 0),
    ],
)
def test_results_of_chess(tag: str, moves: str, result: float | None) -> None:
    record = pgn(moves, Result=tag)
    assert record.result == result
    assert len(record) == 2


@pytest.mark.parametrize(
    ("termination", "result", "ending"),
    [
        ("normal", "1-0", "resigned"),
        ("", "1-0", "resigned"),
        ("normal", "1/2-1/2", "normal"),
        ("time forfeit", "1-0", "time"),
        ("Time forfeit", "0-1", "time"),
        ("adjudication", "1-0", "adjudicated"),
        ("GUI adjudication", "1/2-1/2", "adjudicated"),
        ("rules infraction", "0-1", "illegal"),
        ("abandoned", "1-0", "forfeit"),
        ("death", "1-0", "forfeit"),
        ("emergency", "1-0", "forfeit"),
        ("unterminated", "*", "unfinished"),
        ("", "*", "unfinished"),
    ],
)
def test_terminations(termination: str, result: str, ending: str) -> None:
    assert pgn(f"1. e4 e5 {result}", Termination=termination, Result=result).ending == ending


@pytest.mark.parametrize(
    ("comment", "remark"),
    [
        ("[%eval 0.35]", hk.Remark(1, score=35)),
        ("[%eval -1.07,22]", hk.Remark(1, score=-107, depth=22)),
        ("[%eval #3]", hk.Remark(1, mate=3)),
        ("[%eval #-3]", hk.Remark(1, mate=-3)),
        ("[%clk 1:02:03]", hk.Remark(1, clock_s=3723)),
        ("[%clk 0:00:03.4]", hk.Remark(1, clock_s=3.4)),
        ("[%emt 0:01:05]", hk.Remark(1, spent_s=65)),
        ("x [%eval 0.1] [%clk 0:01:00] y", hk.Remark(1, score=10, clock_s=60)),
        ("[%eval 0.1][%clk 0:01:00]", hk.Remark(1, score=10, clock_s=60)),
        ("[%csl Gd4][%cal Ge2e4] [%eval 0.2]", hk.Remark(1, score=20)),
        ("[%eval\n0.3]", hk.Remark(1, score=30)),
        ("book", hk.Remark(1, book=True)),
        (" book ", hk.Remark(1, book=True)),
        ("book, mb=+0+0+0+0+0,", hk.Remark(1, book=True)),
        ("+0.35/12 1.2s", hk.Remark(1, score=35, depth=12, spent_s=1.2)),
        ("-0.35/12 1200ms", hk.Remark(1, score=-35, depth=12, spent_s=1.2)),
        ("+M5/20 0.1s", hk.Remark(1, mate=5, depth=20, spent_s=0.1)),
        ("-M4/20 0.1s", hk.Remark(1, mate=-4, depth=20, spent_s=0.1)),
        ("0.00/1 0s, White mates", hk.Remark(1, score=0, depth=1, spent_s=0)),
        (
            " ev=0.34, d=31, pd=Re8, mt=00:01:35, tl=01:58:54, s=13542 kN/s, pv=Qg4 Re8, wv=0.34, ",
            hk.Remark(1, score=34, depth=31, spent_s=95, clock_s=7134),
        ),
        (
            "d=35, sd=35, mt=552425, tl=6662575, s=46259796, pv=c5 dxc5, wv=-0.47, R50=50,",
            hk.Remark(1, score=-47, depth=35, spent_s=552.425, clock_s=6662.575),
        ),
        ("d=9, mt=0, wv=M12, ", hk.Remark(1, mate=12, depth=9, spent_s=0)),
        ("d=9, mt=0, wv=-M12, ", hk.Remark(1, mate=-12, depth=9, spent_s=0)),
    ],
)
def test_what_comments_on_whites_move_say(comment: str, remark: hk.Remark) -> None:
    (found,) = pgn(f"1. e4 {{{comment}}} e5 *").remarks
    assert replace(found, spent_s=None, clock_s=None) == replace(remark, spent_s=None, clock_s=None)
    for time, expected in ((found.spent_s, remark.spent_s), (found.clock_s, remark.clock_s)):
        assert time == (expected if expected is None else pytest.approx(expected, rel=1e-6))


@pytest.mark.parametrize(
    ("comment", "score", "mate"),
    [
        ("[%eval 0.35]", 35, None),  # White's view
        ("[%eval #-3]", None, -3),
        ("+0.35/12 1.2s", -35, None),  # the mover's view
        ("-M4/20 0.1s", None, 4),
        ("ev=0.34, d=31", 34, None),  # White's view in TCEC's first seasons
        ("ev=-0.34, d=31, wv=0.34", 34, None),  # later the mover's, with White's beside it
        ("d=3, wv=0.34", 34, None),
    ],
)
def test_comments_on_blacks_move_turn_to_white(
    comment: str, score: float | None, mate: int | None
) -> None:
    (remark,) = pgn(f"1. e4 e5 {{{comment}}} 2. Nf3 *").remarks
    assert (remark.ply, remark.score, remark.mate) == (2, score, mate)


def test_several_comments_on_a_move_make_one_remark() -> None:
    (remark,) = pgn("1. e4 {[%eval 0.1]} $1 {[%clk 0:01:00]} e5 *").remarks
    assert (remark.ply, remark.score, remark.clock_s) == (1, 10, 60)


@pytest.mark.parametrize(
    "comment", ["plain words", "1-0", "12 moves", "e4/e5", "ev", "-", "%eval 1"]
)
def test_other_comments_say_nothing(comment: str) -> None:
    assert pgn(f"1. e4 {{{comment}}} e5 *").remarks == ()


def test_comments_in_variations_are_not_about_the_game() -> None:
    assert pgn("1. e4 (1. d4 {[%eval 9.9]}) e5 ({[%eval 9]} 1... c5) *").remarks == ()


def test_games_without_tags_or_terminators_follow_one_another(read: Read) -> None:
    text = '1. e4 e5 1-0\n\n1. d4 *\n\n[White "A"]\n\n1. c4 c5\n\n[White "B"]\n\n1. b4 0-1\n'
    records, refused = read(text)
    assert [" ".join(record.move_texts("san")) for record in records] == [
        "e4 e5",
        "d4",
        "c4 c5",
        "b4",
    ]
    assert [record.line for record in records] == [1, 3, 5, 9]
    assert [record.first for record in records] == ["", "", "A", "B"]
    assert refused == []


def test_escaped_lines_between_and_after_games_are_no_games(read: Read) -> None:
    records, refused = read("%x\n1. e4 *\n% one\n\n%two\n1. d4 *\n% three\n%")
    assert [record.move_texts("san") for record in records] == [["e4"], ["d4"]]
    assert [record.line for record in records] == [2, 6]
    assert refused == []


def test_a_result_that_is_written_twice_is_no_second_game(read: Read) -> None:
    text = "1. e4 e5 1-0 1-0\n\n1. d4 {x} 0-1 {White resigns} 0-1\n\n1. c4 *\n*\n"
    for whole in (text, text.rstrip("\n"), text + "1/2-1/2", text + "1-0;x"):
        records, refused = read(whole)
        assert [record.move_texts("san") for record in records] == [["e4", "e5"], ["d4"], ["c4"]]
        assert refused == []


def test_a_game_may_have_tags_only() -> None:
    record = pgn("", White="A", Result="1-0")
    assert (len(record), record.first, record.result) == (0, "A", 1)


def test_a_comment_before_the_tags_is_no_game(read: Read) -> None:
    records, refused = read('{ file of x }\n; and more\n[White "A"]\n\n1. e4 *\n{ end }\n', "pgn")
    assert [record.first for record in records] == ["A"]
    assert refused == []


@pytest.mark.parametrize(
    ("text", "kind", "line", "ply"),
    [
        ('[White "A"]\n\n1. e4 e5\n2. Ke3 *', "illegal move", 4, 2),
        ('[White "A"]\n\n1. e4 e5\n2. Nf3 Nc6\n3. xyz *', "unreadable", 5, 4),
        ('[White "A"]\n\n1. e4 e5\n2. -- *', "unreadable", 4, 2),
        ('[White "A"]\n[FEN "8/8 w"]\n\n1. e4 *', "unreadable", 2, 0),
        ('[White "A"]\n[Black]\n\n1. e4 *', "unreadable", 2, 0),
        ('[White "A"]\n\n1. e4 {no end\n2. d4 *', "unreadable", 3, 1),
        ('[White "A"', "unreadable", 1, 0),
        ('[FEN "4k3/8/8/8/8/8/4K3/R6R w - - 0 1"]\n\n1. Re1 *', "unreadable", 3, 0),
    ],
)
def test_bad_pgn_is_refused_where_it_is_bad(
    text: str, kind: str, line: int, ply: int, read: Read
) -> None:
    refused = fault(read, text)
    assert (refused.fault, refused.line, refused.ply) == (kind, line, ply)


def test_a_comment_without_an_end_after_a_game_is_not_passed_over_in_silence(read: Read) -> None:
    records, refused = read('1. e4 *\n\n{ no end\n[White "A"]\n\n1. d4 *\n')
    assert len(records) + len(refused) >= 2


# CSA: http://www2.computer-shogi.org/protocol/record_v22.html and record_v3.html


def csa(moves: str, before: str = "PI\n+\n") -> hk.Record:
    return one(f"V2.2\n{before}{moves}", "csa")


OPENING = "+7776FU\n-3334FU\n+8822UM\n-3122GI\n+0055KA\n"
OPENING_USI = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"]


def test_headers_of_csa_fill_the_fields() -> None:
    record = one(
        "V2.2\nN+NAKAHARA\nN-YONENAGA\n$EVENT:13th World Computer Shogi Championship\n"
        "$SITE:KAZUSA ARC\n$START_TIME:2003/05/03 10:30:00\n$END_TIME:2003/05/03 11:11:05\n"
        "$TIME_LIMIT:00:25+00\n$OPENING:YAGURA\n'black_rate:NAKAHARA+abc:2805.5\n"
        "'white_rate:2990.0\nPI\n+\n" + OPENING + "%TORYO\n"
    )
    assert record.game == "shogi"
    assert (record.first, record.second) == ("NAKAHARA", "YONENAGA")
    assert (record.first_rating, record.second_rating) == ("2805.5", "2990.0")
    assert record.event == "13th World Computer Shogi Championship"
    assert (record.place, record.date) == ("KAZUSA ARC", "2003-05-03")
    assert (record.time_control, record.opening) == ("00:25+00", "YAGURA")
    assert (record.result, record.ending, record.start) == (1, "resigned", "")
    assert record.move_texts() == OPENING_USI


def test_headers_of_version_3() -> None:
    record = one(
        "'CSA encoding=UTF-8\nV3.0\nN+先手\nN-後手\n$EVENT:電竜戦\n$START_TIME:2024/05/14\n"
        "$TIME:300+0+10\n$MAX_MOVES:512\n$JISHOGI:27\n$NOTE:x\\ny\nPI\n+\n+7776FU\nT12.345\n"
        "'** 30 -3334FU +2726FU\n%CHUDAN\n"
    )
    assert (record.first, record.second, record.event) == ("先手", "後手", "電竜戦")
    assert (record.date, record.time_control) == ("2024-05-14", "300+0+10")
    assert (record.result, record.ending) == (None, "unfinished")
    (remark,) = record.remarks
    assert remark.spent_s == pytest.approx(12.345)
    assert remark.score == 30


@pytest.mark.parametrize(
    ("mark", "after_five", "after_four", "ending"),
    [
        ("%TORYO", 1, 0, "resigned"),
        ("%TSUMI", 1, 0, "normal"),
        ("%TIME_UP", 1, 0, "time"),
        ("%ILLEGAL_MOVE", 1, 0, "illegal"),
        ("%+ILLEGAL_ACTION", 0, 0, "illegal"),
        ("%-ILLEGAL_ACTION", 1, 1, "illegal"),
        ("%KACHI", 0, 1, "normal"),
        ("%SENNICHITE", 0.5, 0.5, "normal"),
        ("%JISHOGI", 0.5, 0.5, "normal"),
        ("%HIKIWAKE", 0.5, 0.5, "normal"),
        ("%CHUDAN", None, None, "unfinished"),
        ("%FUZUMI", None, None, "unfinished"),
        ("%MATTA", None, None, "unfinished"),
        ("%ERROR", None, None, "unfinished"),
        ("", None, None, "unfinished"),
    ],
)
def test_every_mark_at_the_end(
    mark: str, after_five: float | None, after_four: float | None, ending: str
) -> None:
    """After five moves White is to move, after four Black."""
    record = csa(OPENING + mark + "\n")
    assert (record.result, record.ending) == (after_five, ending)
    record = csa(OPENING.rpartition("+")[0] + mark + "\n")
    assert (record.result, record.ending) == (after_four, ending)


@pytest.mark.parametrize(("said", "result"), [("black_win", 1), ("white_win", 0), ("draw", 0.5)])
def test_a_comment_may_tell_the_result(said: str, result: float) -> None:
    record = csa(OPENING + f"%CHUDAN\n'result:{said}\n")
    assert (record.result, record.ending) == (result, "unknown")


def test_what_follows_the_end_mark_is_not_of_the_game() -> None:
    record = csa(OPENING + "%TORYO\nT99\n'** 5000\n-8384FU\n%KACHI\n")
    assert record.move_texts() == OPENING_USI
    assert (record.result, record.remarks) == (1, ())


def test_times_and_scores_belong_to_the_move_before() -> None:
    moves = "+7776FU\nT12\n'** 35 -3334FU\n-3334FU\n'** -40\nT0\n'plain\n+2726FU\n%TORYO\n"
    record = csa(moves)
    assert remarks(record, "spent_s") == {1: 12, 2: 0}
    assert remarks(record, "score") == {1: 35, 2: -40}  # Black's view, whoever moves


def test_statements_may_share_a_line() -> None:
    record = csa("+7776FU,T12,-3334FU,T6\n+8822UM,T1\n-3122GI\n+0055KA\n%TORYO,T3\n")
    assert record.move_texts() == OPENING_USI
    assert remarks(record, "spent_s") == {1: 12, 2: 6, 3: 1}
    assert record.result == 1


@pytest.mark.parametrize(
    ("set_up", "sfen"),
    [
        ("PI82HI22KA\n-\n", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("PI11KY\n-\n", "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        (
            "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY\nP2 * -HI *  *  *  *  * -KA * \n"
            "P3-FU-FU-FU-FU-FU-FU-FU-FU-FU\nP4 *  *  *  *  *  *  *  *  * \n"
            "P5 *  *  *  *  *  *  *  *  * \nP6 *  * +FU *  *  *  *  *  * \n"
            "P7+FU+FU * +FU+FU+FU+FU+FU+FU\nP8 * +KA *  *  *  *  * +HI * \n"
            "P9+KY+KE+GI+KI+OU+KI+GI+KE+KY\n-\n",
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 1",
        ),
        ("P-11OU\nP+33KI00KI00FU00FU\n+\n", "8k/9/6G2/9/9/9/9/9/9 b G2P 1"),
        (
            "P-11OU21KE\nP+23TO00KI\nP-00AL\n+\n",
            "7nk/9/7+P1/9/9/9/9/9/9 b G2r2b3g4s3n4l17p 1",
        ),
        ("P-11OU\nP+33UM\nP+00AL\n-\n", "8k/9/6+B2/9/9/9/9/9/9 w 2RB4G4S4N4L18P 1"),
        ("P5 *  *  *  * -OU\nP+00KI\n+\n", "9/9/9/9/4k4/9/9/9/9 b G 1"),
    ],
)
def test_positions_are_set_up_in_three_ways(set_up: str, sfen: str) -> None:
    record = csa("", set_up)
    assert hk.Shogi.from_text(record.start) == hk.Shogi.from_text(sfen)


def test_blanks_at_the_end_of_a_rank_may_be_missing() -> None:
    """The CSA protocol's own example drops the last one."""
    record = csa(
        "+7776FU\n",
        "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY\nP2 * -HI *  *  *  *  * -KA *\n"
        "P3-FU-FU-FU-FU-FU-FU-FU-FU-FU\nP4 *  *  *  *  *  *  *  *  *\nP5\nP6\n"
        "P7+FU+FU+FU+FU+FU+FU+FU+FU+FU\nP8 * +KA *  *  *  *  * +HI *\n"
        "P9+KY+KE+GI+KI+OU+KI+GI+KE+KY\n+\n",
    )
    assert (record.start, record.move_texts()) == ("", ["7g7f"])


def test_pieces_taken_away_are_the_handicap() -> None:
    record = csa("-5142OU\n+7776FU\n", "PI82HI22KA\n-\n")
    assert record.handicap == 2
    assert record.move_texts() == ["5a4b", "7g7f"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_several_games_stand_between_slashes(end: str, read: Read) -> None:
    game = "V2.2\nN+A\nPI\n+\n+7776FU\n%TORYO\n"
    bare = "'comment\nN+B\nPI\n+\n+2726FU\n%CHUDAN\n"
    records, refused = read((game + "/\n" + bare + "/\n/\n" + game).replace("\n", end))
    assert [record.first for record in records] == ["A", "B", "A"]
    assert [record.line for record in records] == [1, 8, 16]
    assert [record.number for record in records] == [1, 2, 3]
    assert refused == []


def test_a_new_version_line_begins_a_new_game(read: Read) -> None:
    records, _ = read(2 * "V2.2\nN+A\nPI\n+\n+7776FU\n%TORYO\n")
    assert [len(record) for record in records] == [1, 1]


def test_headers_after_an_end_mark_begin_a_new_game(read: Read) -> None:
    """Old files have no version line; put together, nothing else tells them apart."""
    first = "N+A\nN-B\nPI\n+\n+7776FU\n%TORYO\nT3\n'summary\n"
    records, refused = read(first + first.replace("A", "C").replace("B", "D"))
    assert [(record.first, record.second) for record in records] == [("A", "B"), ("C", "D")]
    assert [record.line for record in records] == [1, 9]
    assert refused == []


def test_japanese_text_may_be_shift_jis() -> None:
    record = one("V2.2\nN+羽生善治\nN-ソ能表十\nPI\n+\n%TORYO\n".encode("cp932"))
    assert (record.first, record.second) == ("羽生善治", "ソ能表十")


@pytest.mark.parametrize(
    ("moves", "kind", "line", "ply"),
    [
        ("+7776FU\n-7776FU\n", "illegal move", 5, 1),
        ("+7776FU\n+2726FU\n", "illegal move", 5, 1),
        ("+7776FU\n-3334XX\n", "unreadable", 5, 1),
        ("+7776FU\n-3034FU\n", "unreadable", 5, 1),
        ("+7776FU\n-33\n", "unreadable", 5, 1),
        ("+7775FU\n", "illegal move", 4, 0),
        ("+0055FU\n", "illegal move", 4, 0),
        ("+0055TO\n", "unreadable", 4, 0),
        ("+7776KI\n", "illegal move", 4, 0),
    ],
)
def test_bad_csa_is_refused_where_it_is_bad(
    moves: str, kind: str, line: int, ply: int, read: Read
) -> None:
    refused = fault(read, f"V2.2\nPI\n+\n{moves}%TORYO\n")
    assert (refused.fault, refused.line, refused.ply) == (kind, line, ply)


@pytest.mark.parametrize("set_up", ["P1-XX\n", "P+99ZZ\n", "P+00OU\n", "PX\n", "P+0000\n"])
def test_a_bad_set_up_is_refused(set_up: str, read: Read) -> None:
    refused = fault(read, f"V2.2\n{set_up}+\n+7776FU\n%TORYO\n")
    assert (refused.fault, refused.line) == ("unreadable", 2)


# One game a line


@pytest.mark.parametrize(
    ("line", "game", "start", "moves"),
    [
        ("startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e", "shogi", "", OPENING_USI),
        ("position startpos moves 7g7f", "shogi", "", ["7g7f"]),
        (
            "sfen 8k/9/6G2/9/9/9/9/9/9 b P 1 moves P*2b",
            "shogi",
            "8k/9/6G2/9/9/9/9/9/9 b P 1",
            ["P*2b"],
        ),
        ("8k/9/6G2/9/9/9/9/9/9 b P 1 moves P*2b", "shogi", "8k/9/6G2/9/9/9/9/9/9 b P 1", ["P*2b"]),
        ("position startpos moves e2e4 e7e5 g1f3", "chess", "", ["e2e4", "e7e5", "g1f3"]),
        (
            "fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
            "chess",
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            ["e1g1", "e8c8"],
        ),
        (
            "8/4P2k/8/8/8/8/8/4K3 w - - 0 1 moves e7e8q",
            "chess",
            "8/4P2k/8/8/8/8/8/4K3 w - - 0 1",
            ["e7e8q"],
        ),
        ("e2e4 e7e5", "chess", "", ["e2e4", "e7e5"]),
        ("7g7f 3c3d", "shogi", "", ["7g7f", "3c3d"]),
        ("f5d6c3d3c4f4f6", "othello", "", ["f5", "d6", "c3", "d3", "c4", "f4", "f6"]),
        ("F5D6C3D3C4F4F6", "othello", "", ["f5", "d6", "c3", "d3", "c4", "f4", "f6"]),
        ("F5 D6 C3 D3 C4 F4 F6", "othello", "", ["f5", "d6", "c3", "d3", "c4", "f4", "f6"]),
    ],
)
def test_a_line_is_a_game(line: str, game: str, start: str, moves: list[str]) -> None:
    record = one(line + "\n", "lines")
    assert (record.game, record.start, record.move_texts()) == (game, start, moves)
    assert (record.result, record.ending) == (None, "unfinished")


def test_lines_of_several_games_and_comments(read: Read) -> None:
    text = "# openings\n\nstartpos moves 7g7f\r\nstartpos moves e2e4\n\n# end\nf5d6c3d3c4f4f6\n"
    records, refused = read(text)
    assert [record.game for record in records] == ["shogi", "chess", "othello"]
    assert [(record.line, record.number) for record in records] == [(3, 1), (4, 2), (7, 3)]
    assert refused == []


def test_a_line_that_ends_the_game_has_a_result() -> None:
    record = one("startpos moves f2f3 e7e5 g2g4 d8h4\n")
    assert (record.result, record.ending) == (0, "normal")


def random_othello(seed: int) -> tuple[list[str], Any]:
    """A whole game's moves, passes included, and its end."""
    game = hk.Othello()
    moves = []
    while game.outcome is None:
        moves.append(str(game.random_move(seed)))
        game = game.play(moves[-1])
    return moves, game


def transcript_of(moves: list[str]) -> str:
    return "".join(move for move in moves if move != "pass")


def test_a_transcript_leaves_passes_out() -> None:
    for seed in range(10):
        moves, end = random_othello(seed)
        record = one(transcript_of(moves) + "\n")
        assert record.move_texts() == moves
        assert record.position() == end
        assert (record.result, record.margin) == (end.outcome.value, end.score)
        assert record.ending == "normal"
    assert "pass" in random_othello(6)[0]


@pytest.mark.parametrize(
    ("line", "kind", "ply"),
    [
        ("startpos moves 7g7f 7g7f", "illegal move", 1),
        ("startpos moves 7g7f xyz", "unreadable", 1),
        ("startpos moves e2e4 e2e4", "illegal move", 1),
        ("sfen 9/9 b - 1 moves 7g7f", "unreadable", 0),
        ("f5d6c3d3c4f4f6a1", "illegal move", 7),
        ("55r0 99r0 55r0", "illegal move", 2),
        ("some words", "unreadable", 0),
    ],
)
def test_bad_lines_are_refused_and_the_next_is_read(
    line: str, kind: str, ply: int, read: Read
) -> None:
    records, (refused,) = read(f"startpos moves 2g2f\n{line}\nstartpos moves 7g7f\n")
    assert (refused.fault, refused.line, refused.number, refused.ply) == (kind, 2, 2, ply)
    assert [record.move_texts() for record in records] == [["2g2f"], ["7g7f"]]


@pytest.fixture(scope="module")
def blokus_codes(shared_data: Callable[[str], Path]) -> dict[str, set[tuple[int, int]]]:
    """The squares of every piece in every rotation, relative to the point that its code names."""
    table = {}
    for row in shared_data("blokus_duo/move_codes.tsv").read_text().splitlines()[1:]:
        piece, rotation, cells = row.split("\t")
        pairs = (cell.split(",") for cell in cells.split())
        table[piece + rotation] = {(int(x), int(y)) for x, y in pairs}
    return table


def test_blokus_codes_name_the_squares_of_the_table(
    blokus_codes: dict[str, set[tuple[int, int]]],
) -> None:
    """Squares are written `e10,f10`: columns a to n from the left, rows 1 to 14 from below."""
    for move in hk.BlokusDuo().legal_moves:
        code = move.short_code()
        assert one(code + "\n", "lines").move_list == [move]
        x, y = int(code[0], 16) - 1, int(code[1], 16) - 1
        named = {(x + right, y + down) for right, down in blokus_codes[code[2:]]}
        squares = str(move).split(",")
        assert named == {(ord(at[0]) - ord("a"), 14 - int(at[1:])) for at in squares}


def test_blokus_codes_and_squares_are_the_same_game(shared_data: Callable[[str], Path]) -> None:
    with gzip.open(shared_data("blokus_duo/mcts_selfplay.blksgf.gz"), "rt") as file:
        games = file.readlines()[::20]
    passes = 0
    for text in games:
        record = one(text)
        codes: list[str] = []
        for color, code in re.findall(r";([BW])\[[^\]]*\]C\[([^\]]*)\]", text):
            if color != "BW"[len(codes) % 2]:
                codes.append("0000")
                passes += 1
            codes.append(code)
        by_code = one(" ".join(codes) + "\n", "lines")
        assert by_code.moves.tolist() == record.moves.tolist()
        assert (by_code.result, by_code.ending) == (record.result, "normal")
    assert passes > 0


# WTHOR: http://www.ffothello.org/wthor/Format_WThor.pdf


def wthor(*games: bytes, count: int | None = None, year: int = 1998, size: int = 8) -> bytes:
    number = len(games) if count is None else count
    header = bytes([19, 99, 3, 25]) + number.to_bytes(4, "little") + bytes(2)
    return header + year.to_bytes(2, "little") + bytes([size, 0, 22, 0]) + b"".join(games)


def wthor_game(moves: str, discs: int, black: int = 0, white: int = 1, event: int = 0) -> bytes:
    squares = [
        10 * int(row) + ord(column) - 96
        for column, row in zip(moves[::2], moves[1::2], strict=True)
    ]
    numbers = b"".join(number.to_bytes(2, "little") for number in (event, black, white))
    return numbers + bytes([discs, discs, *squares]) + bytes(60 - len(squares))


def test_wthor_games_replay_with_passes_put_in() -> None:
    for seed in range(10):
        moves, end = random_othello(seed)
        black = (64 + int(end.score)) // 2
        record = one(wthor(wthor_game(transcript_of(moves), black)))
        assert record.move_texts() == moves
        assert (record.game, record.date) == ("othello", "1998")
        assert (record.result, record.margin) == (end.outcome.value, end.score)
        assert (record.ending, record.line) == ("normal", 0)


def test_an_unfinished_game_of_wthor_keeps_its_result() -> None:
    record = one(wthor(wthor_game("f5d6c3d3", 40)))
    assert (record.result, record.margin, record.ending) == (1, 16, "unfinished")


@pytest.mark.parametrize(
    ("data", "kind", "ply"),
    [
        (wthor(wthor_game("f5f5", 40)), "illegal move", 1),
        (wthor(wthor_game("f5", 40)[:-59] + bytes([99] * 59)), "unreadable", 1),
        (wthor(wthor_game("f5d6", 40)[:30]), "unreadable", 0),
        (wthor(wthor_game("f5d6", 40), size=10), "unsupported", 0),
        (wthor(count=2)[:15], "unreadable", 0),
    ],
)
def test_bad_wthor_is_refused(data: bytes, kind: str, ply: int, read: Read) -> None:
    _, refused = read(data, "wthor")
    assert (refused[0].fault, refused[0].ply, refused[0].line) == (kind, ply, 0)


def test_a_wthor_file_cut_between_games_says_so(read: Read) -> None:
    records, refused = read(wthor(wthor_game("f5d6c3", 40), count=5))
    assert len(records) == 1
    assert [each.fault for each in refused] == ["unreadable"]


# What is refused


BAD_FILE = """\
(;GM[1]SZ[9];B[ee];W[gc])
(;GM[1]SZ[9];B[ee]
;W[gc]
;B[ee])
(;GM[7])
(;GM[1]SZ[9];B[zz])
(;GM[1]SZ[9];B[cc])
"""


def test_bad_games_are_counted_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(BAD_FILE)
    stream = hk.read_records(path)
    records = list(stream)
    assert [(record.line, record.number) for record in records] == [(1, 1), (7, 5)]
    assert stream.faults == {"illegal move": 1, "unsupported": 1, "unreadable": 1}
    illegal = stream.refused[0]
    assert (illegal.source, illegal.line, illegal.number, illegal.ply) == (str(path), 4, 2, 2)
    assert str(illegal).startswith(f"{path}:4: game 2, ply 2: ")
    assert [(refused.line, refused.number) for refused in stream.refused[1:]] == [(5, 3), (6, 4)]


def test_strict_reading_stops_at_the_first_bad_game(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(BAD_FILE)
    with pytest.raises(hk.RefusedError, match=r"games\.sgf:4: game 2, ply 2: ") as error:
        list(hk.read_records(path, strict=True))
    assert (error.value.line, error.value.number, error.value.ply) == (4, 2, 2)
    assert error.value.source == str(path)
    with pytest.raises(hk.RefusedError):
        hk.parse_records(BAD_FILE)


def test_strict_reading_gives_the_good_games_before_the_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(BAD_FILE)
    assert hk.read_record(path).move_texts() == ["E5", "G7"]


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(hk.NotationError, match="no format 'xyz'"):
        hk.read_records("x", format="xyz")
    with pytest.raises(hk.NotationError, match="no format 'xyz'"):
        hk.parse_records("1. e4 *", format="xyz")


# Tables


def test_an_arrow_table_says_what_the_records_say(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text(
        "(;GM[1]SZ[9]PB[A]BR[6d]PW[名人]WR[9p]KM[6.5]DT[1998-10-05]RE[B+R];B[ee];W[gc])"
        "(;GM[1]SZ[13]HA[2]AB[cc][gg]RE[0];W[ee]C[[%value 0.5\\]])(;GM[2]RE[W+4];B[d3])(;GM[1])"
    )
    (batch,) = batches([path])
    rows = batch.arrow().to_pylist()
    records = list(batch.records())
    assert len(rows) == len(batch) == len(records) == 4
    for row, record in zip(rows, records, strict=True):
        assert row.pop("plies") == len(record)
        assert row.pop("moves") == record.moves.tolist()
        assert row.pop("result") == record.result
        for name, value in row.items():
            assert value == getattr(record, name), name


# Which format it is


@pytest.mark.parametrize(
    ("head", "format"),
    [
        ("(;GM[1])", "sgf"),
        ("\ufeff(;GM[1])", "sgf"),
        ("Some words\n\n( ; GM[1])", "sgf"),
        ("(;GM[1]C[first\nPIncer on the left\nN+1\n'CSA];B[aa])", "sgf"),
        ("(;GM[1]PB[先手]PW[後手];B[aa]C[▲△])", "sgf"),
        ('[Event "x"]\n\n1. e4 *', "pgn"),
        ('% escaped\n%\n[Event "x"]\n', "pgn"),
        ('; a comment\n[Event "x"]\n\n1. e4 e5 *\n', "pgn"),
        (
            '{ a comment }\n\n[Event "x"]\n[FEN "8/8/4k3/8/8/3QK3/8/8 w - - 0 5"]\n\n5. Qd1 *\n',
            "pgn",
        ),
        ("1. e4 e5 *", "pgn"),
        ("1.e4", "pgn"),
        ("1... e5", "pgn"),
        ("V2.2\nN+A\n", "csa"),
        ("'comment\nV3.0\n", "csa"),
        ("PI\n+\n+7776FU\n", "csa"),
        ("N+A\nN-B\n", "csa"),
        ("手合割：平手\n先手：A\n後手：B\n", "kifu"),
        ("startpos moves 7g7f\n", "lines"),
        ("# comment\n\nposition sfen 9/9/9/9/9/9/9/9/9 b - 1\n", "lines"),
        ("f5d6c3d3c4f4f6e6\n", "lines"),
        ("55r0 99r0\n", "lines"),
        ("Dear Sir or Madam,\n", None),
        ("", None),
        ('8/8/8/8/8/8/8/8 w - - bm Qd1; id "x";\n', None),
    ],
)
def test_a_format_is_told_by_its_content(head: str, format: str | None) -> None:
    assert recognise(head.encode()) == format


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """A regular expression that runs wild looks at signals now and then."""

    def too_long(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            b"% ",
            b"%\n",
            b"# ",
            b"#\t\n",
            b"\n",
            b" ",
            b"\r\n",
            b"1. ",
            b"1\n",
            b"(",
            b"( ",
            b"(\n",
        ),
        *(b"p/", b"a1", b"55r0 ", b"1", b"\xff", b"\x00", b"[a", b"[ ", b'[a "\n', b"fen", b"+0"),
    ],
)
def test_no_file_takes_long_to_recognise(unit: bytes) -> None:
    for start in (b"", b"1.", b"(", b"[", b"[a", b"#", b"%", b"position ", b"8/8"):
        head = start + unit * (65536 // len(unit))
        with at_most(2):
            recognise(head)
            recognise(head + b"x")
