# SPDX-License-Identifier: Apache-2.0
"""PGN, in inputs written by hand after its standard.

http://www.saremba.de/chessgml/standards/pgn/pgn-complete.htm
"""

from dataclasses import replace

import pytest

import hyoka as hk
from hyoka.records import Remark

from ..record_texts import Read, fault, one


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
        ("[%eval 0.35]", Remark(1, score=35)),
        ("[%eval -1.07,22]", Remark(1, score=-107, depth=22)),
        ("[%eval #3]", Remark(1, mate=3)),
        ("[%eval #-3]", Remark(1, mate=-3)),
        ("[%clk 1:02:03]", Remark(1, clock_s=3723)),
        ("[%clk 0:00:03.4]", Remark(1, clock_s=3.4)),
        ("[%emt 0:01:05]", Remark(1, spent_s=65)),
        ("x [%eval 0.1] [%clk 0:01:00] y", Remark(1, score=10, clock_s=60)),
        ("[%eval 0.1][%clk 0:01:00]", Remark(1, score=10, clock_s=60)),
        ("[%csl Gd4][%cal Ge2e4] [%eval 0.2]", Remark(1, score=20)),
        ("[%eval\n0.3]", Remark(1, score=30)),
        ("book", Remark(1, book=True)),
        (" book ", Remark(1, book=True)),
        ("book, mb=+0+0+0+0+0,", Remark(1, book=True)),
        ("+0.35/12 1.2s", Remark(1, score=35, depth=12, spent_s=1.2, author="first")),
        ("-0.35/12 1200ms", Remark(1, score=-35, depth=12, spent_s=1.2, author="first")),
        ("+M5/20 0.1s", Remark(1, mate=3, depth=20, spent_s=0.1, author="first")),
        ("-M4/20 0.1s", Remark(1, mate=-2, depth=20, spent_s=0.1, author="first")),
        ("0.00/1 0s, White mates", Remark(1, score=0, depth=1, spent_s=0, author="first")),
        (
            " ev=0.34, d=31, pd=Re8, mt=00:01:35, tl=01:58:54, s=13542 kN/s, pv=Qg4 Re8, wv=0.34, ",
            Remark(1, score=34, depth=31, spent_s=95, clock_s=7134, author="first"),
        ),
        (
            "d=35, sd=35, mt=552425, tl=6662575, s=46259796, pv=c5 dxc5, wv=-0.47, R50=50,",
            Remark(1, score=-47, depth=35, spent_s=552.425, clock_s=6662.575, author="first"),
        ),
        ("d=9, mt=0, wv=M12, ", Remark(1, mate=12, depth=9, spent_s=0, author="first")),
        ("d=9, mt=0, wv=-M12, ", Remark(1, mate=-12, depth=9, spent_s=0, author="first")),
    ],
)
def test_what_comments_on_whites_move_say(comment: str, remark: Remark) -> None:
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
        ("-M4/20 0.1s", None, 2),  # in plies
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
    "comment",
    ["plain words", "1-0", "12 moves", "e4/e5", "ev", "-", "%eval 1", "24/7 ready", "1/2 agreed"],
)
def test_other_comments_say_nothing(comment: str) -> None:
    (remark,) = pgn(f"1. e4 {{{comment}}} e5 *").remarks
    assert remark == Remark(1)  # but for its words, which are not compared
    assert remark.text == comment


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
        ('[White "A"]\n\n1. e4 e5\n2. -- d5 *', "unsupported", 4, 2),
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


# Moves as computers write them, and null moves


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("1. g1f3 e7e5 2. b1c3", "Nf3 e5 Nc3"),
        ("1. g1-f3 e7-e5 2. f3xe5!", "Nf3 e5 Nxe5"),
        ("1. Ng1-f3 e2-e4", None),
        ("1. e2-e4 d7-d5 2. e4xd5 d8xd5+", "e4 d5 exd5 Qxd5"),
        ("1. e2e4 e7e5 2. g1f3 g8f6 3. f1c4 f8c5 4. e1g1", "e4 e5 Nf3 Nf6 Bc4 Bc5 O-O"),
        ("1. e2e4 a7a6 2. e4e5 d7d5 3. e5d6", "e4 a6 e5 d5 exd6"),
        ("1. Qg1f3", None),
        ("1. e2e5", None),
    ],
)
def test_moves_in_coordinates(moves: str, expected: str | None, read: Read) -> None:
    if expected is None:
        assert fault(read, moves + " *", "pgn").fault == "illegal move"
    else:
        assert san(moves + " *") == expected


@pytest.mark.parametrize("move", ["e7e8q", "e7-e8=Q", "e7e8=Q", "e7e8Q+", "e8=Q"])
def test_promotions_in_coordinates(move: str) -> None:
    assert san(f"1. {move} *", FEN="8/4P1k1/8/8/8/8/8/4K3 w - - 0 1") == "e8=Q"


@pytest.mark.parametrize("null", ["--", "Z0", "@@@@", "null", "0000"])
def test_a_null_move_after_the_last_is_no_move(null: str, read: Read) -> None:
    record = pgn(f"1. e4 e5 2. Nf3 {{[%eval 0.3]}} {null} {{[%eval 0.9] and so on}} $7 1-0")
    assert record.move_texts("san") == ["e4", "e5", "Nf3"]
    assert (record.result, len(record.remarks), record.remarks[0].score) == (1, 1, 30)
    assert san(f"1. e4 ( 1. d4 {null} 2. c4 ) e5 *") == "e4 e5"
    refused = fault(read, f"1. e4 {null} 2. d4 d5 *", "pgn")
    assert (refused.fault, refused.ply) == ("unsupported", 1)
    assert "null move" in refused.reason


# A bad game leaves its neighbors alone


GOOD = '[Event "B"]\n[White "%s"]\n\n1. d4 {good} d5 *\n\n'


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("1. e4 {no end e5 2. Nf3 1-0\n\n", "a comment does not end"),
        ('[White "X"]\n\n1. e4 {\nno end\n\n', "a comment does not end"),
        ("1. e4 (1. d4 d5 2. c4 1-0\n\n", "a variation does not end"),
        ("1. e4 ((1. d4) e5 1-0\n\n", "a variation does not end"),
        ("{no end\n\n", "a comment does not end"),
    ],
)
def test_what_has_no_end_does_not_swallow_what_follows(bad: str, reason: str, read: Read) -> None:
    records, (refused,) = read(GOOD % "A" + bad + GOOD % "C" + GOOD % "D", "pgn")
    assert [record.first for record in records] == ["A", "C", "D"]
    assert (refused.reason, refused.number) == (reason, 2)
    assert 6 <= refused.line <= 9


@pytest.mark.parametrize("mark", ["{", "("])
@pytest.mark.parametrize("rest", ["d4 d5 *", "d4 {good} d5 *", "d4 (1. c4) d5 *"])
def test_games_without_tags_are_not_swallowed(mark: str, rest: str, read: Read) -> None:
    records, (refused,) = read(f"1. e4 e5 *\n\n1. c4 {mark} c5 *\n\n1. {rest}\n", "pgn")
    assert [record.move_texts("san") for record in records] == [["e4", "e5"], ["d4", "d5"]]
    assert (refused.line, "does not end" in refused.reason) == (3, True)


def test_a_bracket_before_an_empty_line_hides_no_game_in_a_comment(read: Read) -> None:
    text = "1. c3 Nf6 2. g4 {no end (\n\n1. a3 b6 2. e4 {good} 2... e6 3. c4 b5 1-0\n"
    [record], [refused] = read(text, "pgn")
    assert record.move_texts("san") == ["a3", "b6", "e4", "e6", "c4", "b5"]
    assert refused.reason == "a comment does not end"


def test_a_game_without_result_ends_where_moves_begin_anew(read: Read) -> None:
    records, refused = read("1. e4 e5\n\n1. d4 d5\n2. c4\n\n1. c4 1-0\n", "pgn")
    assert refused == []
    assert [len(record) for record in records] == [2, 3, 1]
    assert [record.result for record in records] == [None, None, 1]


def test_comments_may_speak_of_games() -> None:
    record = pgn('1. e4 {as in\n\n1. d4 d5\n[%eval 0.1] and\n[Event] and [Event "x"]} e5 *')
    assert record.move_texts("san") == ["e4", "e5"]
    assert san("1. e4 (\n\n1. d4 d5\n\n1... e5) 1... c5 *") == "e4 c5"
