# SPDX-License-Identifier: Apache-2.0
"""CSA, in inputs written by hand after its standard.

http://www2.computer-shogi.org/protocol/record_v22.html and record_v3.html
"""

import pytest

import hyoka as hk

from ..record_texts import Read, fault, one, remarks


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
    assert remarks(record, "score") == {1: 35, 2: -40}  # always Black's view


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


@pytest.mark.parametrize("begins", ["N+B\n", "PI\n+\n", "V2.2\n"])
def test_a_game_without_its_end_does_not_swallow_the_next(begins: str, read: Read) -> None:
    game = "PI\n+\n+7776FU\n-3334FU\n"
    records, refused = read(f"{game}{begins}+2726FU\n%TORYO\n", "csa")
    assert ([len(record) for record in records], refused) == ([2, 1], [])


def test_when_a_game_ended_may_stand_behind_it(read: Read) -> None:
    records, refused = read("PI\n+\n+7776FU\n%TORYO\n$END_TIME:2003/05/03 14:11:05\n", "csa")
    assert ([len(record) for record in records], refused) == ([1], [])
