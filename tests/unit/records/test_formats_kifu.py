# SPDX-License-Identifier: Apache-2.0
import math

import pytest

import hyoka as hk
from hyoka import _core

COLUMNS = "手数----指手---------消費時間--\n"
OPENING = """\
   1 ７六歩(77)   ( 0:02/00:00:02)
   2 ３四歩(33)   ( 0:03/00:00:03)
   3 ２二角成(88) ( 1:00/00:01:02)
   4 同　銀(31)   ( 0:00/00:00:03)
   5 ５五角打     ( 0:10/00:01:12)
"""
OPENING_USI = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"]


def read(text: str | bytes) -> _core.Table:
    data = text.encode() if isinstance(text, str) else text
    size, table = _core.Reader("kifu").read(data, True)
    assert size == len(data)
    return table


def usi_of(table: _core.Table, game: int = 0) -> list[str]:
    codes = table.moves[table.move_offsets[game] : table.move_offsets[game + 1]]
    return [str(hk.Shogi.Move.from_code(int(code))) for code in codes]


def end_of(table: _core.Table, game: int = 0) -> tuple[int, str]:
    return int(table.winner[game]), _core.Table.ending_names[table.ending[game]]


def fault_of(text: str) -> tuple[int, int, str, str]:
    """Line, good moves, kind and reason of the only refusal."""
    table = read(text)
    ((line, _, ply, fault, reason),) = table.refused
    return line, ply, fault, reason


# Headers


def test_headers_fill_the_fields() -> None:
    table = read(
        "# ---- Kifu for Windows V7 棋譜ファイル ----\n"
        "開始日時：2018/01/14 14:00\n"
        "終了日時：2018/01/14 16:10\n"
        "棋戦：第11回朝日杯将棋オープン戦本戦\n"
        "戦型：横歩取り△３三角型\n"
        "持ち時間：各40分\n"
        "場所：愛知県・東桜会館\n"
        "手合割：平手　　\n"
        "先手：藤井聡太四段\n"
        "後手：佐藤天彦名人\n" + COLUMNS + OPENING
    )
    assert table.refused == []
    assert _core.Table.game_names[table.game[0]] == "shogi"
    fields = {
        "first": "藤井聡太四段",
        "first_rating": "四段",
        "second": "佐藤天彦名人",
        "second_rating": "",
        "date": "2018-01-14",
        "event": "第11回朝日杯将棋オープン戦本戦",
        "opening": "横歩取り△３三角型",
        "time_control": "各40分",
        "place": "愛知県・東桜会館",
        "start": "",
        "round": "",
        "rules": "",
    }
    assert {name: table.text(name)[0] for name in fields} == fields
    assert table.handicap[0] == 0
    assert usi_of(table) == OPENING_USI
    assert end_of(table) == (2, "unfinished")


@pytest.mark.parametrize(
    ("written", "name", "rank"),
    [
        ("Shimi8266 1級", "Shimi8266", "1級"),
        ("hide1091　四段", "hide1091", "四段"),
        ("bsplive 25級", "bsplive", "25級"),
        ("加藤一二三九段", "加藤一二三九段", "九段"),
        ("花村元司9段", "花村元司9段", "9段"),
        ("矢内理絵子 女流四段", "矢内理絵子", "女流四段"),
        ("山田 初段", "山田", "初段"),
        ("山田　十五級", "山田", "十五級"),
        ("羽生 善治竜王", "羽生 善治竜王", ""),
        ("大山康晴九段・名人", "大山康晴九段・名人", ""),
        ("島　　朗", "島　　朗", ""),
        ("段", "段", ""),
        ("四段", "四段", "四段"),
        ("", "", ""),
    ],
)
def test_a_rank_is_taken_from_the_end_of_a_name(written: str, name: str, rank: str) -> None:
    table = read(f"先手：{written}\n後手：b\n{OPENING}")
    assert (table.text("first"), table.text("first_rating")) == ([name], [rank])


def test_the_weaker_side_of_a_handicap_game_is_the_first_player() -> None:
    table = read("手合割：角落ち\n上手：師匠 九段\n下手：弟子\n   1 ３四歩(33)\n")
    assert (table.text("first"), table.text("second")) == (["弟子"], ["師匠"])


def test_ranks_may_have_lines_of_their_own() -> None:
    table = read(f"先手：a\n先手段級：15級\n後手：b\n後手段級：2級\n{OPENING}")
    assert table.text("first_rating") + table.text("second_rating") == ["15級", "2級"]


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2020/12/11 20:48:55", "2020-12-11"),
        ("1999/07/15(木) 19:07:12", "1999-07-15"),
        ("1982-04-13T00:00:00.000Z", "1982-04-13"),
        ("1958/1/9", "1958-01-09"),
        ("1958/01/13･14日", "1958-01-13"),
        ("２００３年７月２８日", "2003-07-28"),
        ("1711/03", "1711-03"),
        ("1711年", "1711"),
        ("不明", ""),
        ("2020/13/01", "2020"),
    ],
)
def test_dates_are_written_the_iso_way(written: str, date: str) -> None:
    assert read(f"開始日時：{written}\n{OPENING}").text("date") == [date]


# Moves


@pytest.mark.parametrize("prefix", ["", "\ufeff", "\n\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_byte_order_marks_and_line_ends_make_no_difference(prefix: str, newline: str) -> None:
    text = prefix + ("#KIF version=2.0 encoding=UTF-8\n先手：a\n" + COLUMNS + OPENING)
    table = read(text.replace("\n", newline))
    assert usi_of(table) == OPENING_USI
    assert table.text("first") == ["a"]


def test_pieces_have_several_names() -> None:
    names = {"+R": "龍 竜", "+L": "成香 杏", "+N": "成桂 圭", "+S": "成銀 全", "K": "王 玉"}
    for letters, words in names.items():
        game = hk.Shogi.from_text(f"8k/9/9/9/9/9/9/9/4{letters}4 b - 1")
        for word in words.split():
            assert str(game.parse_kif(f"５八{word}(59)")) == "5i5h"
            assert str(game.parse_ki2(f"▲５八{word}")) == "5i5h"


def test_digits_may_be_narrow() -> None:
    assert usi_of(read("1 7六歩(77)\n2 34歩(33)\n3 ２６歩(27)\n")) == ["7g7f", "3c3d", "2g2f"]


def test_moves_without_an_origin_are_read_as_ki2() -> None:
    assert usi_of(read("   1 ５八金右\n   2 ▽３四歩\n")) == ["4i5h", "3c3d"]


def test_ki2_may_have_any_marks_and_blanks() -> None:
    text = "先手：a\n\n▲７六歩△３四歩 ▲２二角成　△同　銀\n☗５五角    ☖３三角\n▼同角成▽同桂\n"
    moves = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e", "B*3c", "5e3c+", "2a3c"]
    assert usi_of(read(text)) == moves


def test_times_are_remarks_on_the_moves() -> None:
    table = read(OPENING)
    assert list(table.remark_ply) == [1, 2, 3, 4, 5]
    assert list(table.remark_spent_s) == [2, 3, 60, 0, 10]
    assert list(read("   1 ７六歩(77)   (1:00:05 / 01:00:05)+\n").remark_spent_s) == [3605]


def test_times_that_are_all_zero_say_nothing() -> None:
    table = read("   1 ７六歩(77)   ( 0:00/00:00:00)\n   2 ３四歩(33)   ( 0:00/00:00:00)\n")
    assert len(table.remark_ply) == 0
    assert len(usi_of(table)) == 2


def test_only_the_main_line_is_read() -> None:
    table = read(
        f"{COLUMNS}{OPENING}   6 投了\nまで5手で先手の勝ち\n\n"
        "変化：4手\n   4 同　飛(82)\n   5 ５五角打\nまで5手で中断\n\n変化：2手\n   2 ８四歩(83)\n"
    )
    assert table.refused == []
    assert usi_of(table) == OPENING_USI
    assert end_of(table) == (1, "resigned")


def test_variations_of_ki2_are_passed_over() -> None:
    assert usi_of(read("▲７六歩△３四歩\n\n変化：2手\n△８四歩▲２六歩\n")) == ["7g7f", "3c3d"]


# Starts


@pytest.mark.parametrize(
    ("written", "name", "pieces"),
    [
        ("香落ち", "lance", 1),
        ("右香落ち", "right-lance", 1),
        ("角落ち", "bishop", 1),
        ("飛車落ち", "rook", 1),
        ("飛落ち", "rook", 1),
        ("飛香落ち", "rook-lance", 2),
        ("二枚落ち", "two-piece", 2),
        ("四枚落ち", "four-piece", 4),
        ("五枚落ち", "five-piece", 5),
        ("六枚落ち　　", "six-piece", 6),
        ("八枚落ち", "eight-piece", 8),
        ("十枚落ち", "ten-piece", 10),
        ("二枚落", "two-piece", 2),
    ],
)
def test_in_handicap_games_white_begins(written: str, name: str, pieces: int) -> None:
    table = read(f"手合割：{written}\n{COLUMNS}   1 ６二玉(51)\n   2 ７六歩(77)\n   3 投了\n")
    assert table.refused == []
    assert table.text("start") == [hk.Shogi(handicap=name).text]
    assert table.handicap[0] == pieces
    assert usi_of(table) == ["5a6b", "7g7f"]
    assert end_of(table) == (1, "resigned")


DIAGRAM = """\
後手の持駒：飛　角　金　銀　桂　香　歩四
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
|v香v桂 ・ ・ ・ ・ ・ ・ ・|一
| ・ ・ ・ 馬 ・ ・ 龍 ・ ・|二
| ・ ・v玉 ・v歩 ・ ・ ・ ・|三
|v歩 ・ ・ ・v金 ・ ・ ・ ・|四
| ・ ・v銀 ・ ・ ・v歩 ・ ・|五
| ・ ・ ・ ・ 玉 ・ ・ ・ ・|六
| 歩 歩 ・ 歩 歩v歩 歩 ・ 歩|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| 香 桂v金 ・v金 ・ ・ 桂 香|九
+---------------------------+
先手：谷川浩司
先手の持駒：銀二　歩四
手数＝171  ▲６二角成  まで
後手番
"""
DIAGRAM_SFEN = "ln7/3+B2+R2/2k1p4/p3g4/2s3p2/4K4/PP1PPpP1P/9/LNg1g2NL w 2S4Prbgsnl4p 1"


def test_a_diagram_is_the_start() -> None:
    table = read(f"手合割：その他\n後手：羽生善治\n{DIAGRAM}{COLUMNS} 172 ８三玉(73)\n 173 投了\n")
    assert table.refused == []
    assert table.text("start") == [hk.Shogi.from_text(DIAGRAM_SFEN).text]
    assert usi_of(table) == ["7c8c"]
    assert end_of(table) == (-1, "resigned")


# White's king with a pawn of Black's before it.
MATING_DIAGRAM = "\n".join(
    [
        "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一",
        f"|{9 * ' ・'}|二",
        "| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三",
        *5 * [f"|{9 * ' ・'}|"],
        "| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九",
        "先手の持駒：金\n",
    ]
)


def test_without_a_word_black_is_to_move_in_a_diagram() -> None:
    table = read(f"{MATING_DIAGRAM}   1 ４二金打\n")
    assert table.text("start") == ["4k4/9/4P4/9/9/9/9/9/4K4 b G 1"]
    table = read(f"{MATING_DIAGRAM}上手番\n   1 ４一玉(51)\n")
    assert table.text("start") == ["4k4/9/4P4/9/9/9/9/9/4K4 w G 1"]


def test_a_diagram_of_the_usual_start_is_no_start_of_its_own() -> None:
    ranks = (
        "v香v桂v銀v金v玉v金v銀v桂v香",
        " ・v飛 ・ ・ ・ ・ ・v角 ・",
        "v歩" * 9,
        *3 * (" ・" * 9,),
        " 歩" * 9,
        " ・ 角 ・ ・ ・ ・ ・ 飛 ・",
        " 香 桂 銀 金 玉 金 銀 桂 香",
    )
    board = "".join(f"|{rank}|\n" for rank in ranks)
    table = read(f"後手の持駒：なし\n{board}先手の持駒：なし\n先手番\n{OPENING}")
    assert table.text("start") == [""]
    assert usi_of(table) == OPENING_USI


def test_white_may_begin_from_the_usual_start() -> None:
    table = read("後手番\n   1 ３四歩(33)\n")
    assert table.text("start") == [hk.Shogi().text.replace(" b ", " w ")]


# Ends


@pytest.mark.parametrize(
    ("word", "winner", "ending"),
    [
        ("投了", 1, "resigned"),
        ("中断", 2, "unfinished"),
        ("持将棋", 0, "normal"),
        ("千日手", 0, "normal"),
        ("詰み", 1, "normal"),
        ("詰", 1, "normal"),
        ("切れ負け", 1, "time"),
        ("時間切れ", 1, "time"),
        ("反則勝ち", -1, "illegal"),
        ("反則負け", 1, "illegal"),
        ("入玉勝ち", -1, "normal"),
        ("不戦敗", 1, "forfeit"),
        ("不戦勝", -1, "forfeit"),
        ("封じ手", 2, "unfinished"),
    ],
)
def test_a_word_ends_the_game_for_the_side_to_move(word: str, winner: int, ending: str) -> None:
    table = read(f"{OPENING}   6 {word}         ( 0:00/00:00:03)\n")
    assert table.refused == []
    assert end_of(table) == (winner, ending)
    assert usi_of(table) == OPENING_USI


@pytest.mark.parametrize(
    ("line", "winner", "ending"),
    [
        ("まで5手で先手の勝ち", 1, "resigned"),
        ("まで、5手で下手の勝ち", 1, "resigned"),
        ("　　まで５手で先手の勝ち", 1, "resigned"),
        ("まで5手で後手の勝ち", -1, "unknown"),  # it was White's turn: not by resigning
        ("まで5手で上手の入玉勝ち", -1, "normal"),
        ("まで5手で千日手", 0, "normal"),
        ("まで5手で持将棋", 0, "normal"),
        ("まで5手で中断", 2, "unfinished"),
        ("まで5手で封じ手", 2, "unfinished"),
        ("まで5手で後手の反則負け", 1, "illegal"),
        ("まで5手で後手の反則勝ち", -1, "illegal"),
        ("まで5手で時間切れにより先手の勝ち", 1, "time"),
        ("まで5手で後手の切れ負け", 1, "time"),
        ("まで5手で詰み", 1, "normal"),
        ("まで5手で投了", 1, "resigned"),
    ],
)
def test_the_last_line_says_who_won(line: str, winner: int, ending: str) -> None:
    ki2 = "▲７六歩△３四歩▲２二角成△同　銀▲５五角\n"
    table = read(f"{ki2}{line}\n")
    assert table.refused == []
    assert end_of(table) == (winner, ending)


def test_a_win_by_mate_is_a_normal_end() -> None:
    table = read(f"手合割：その他\n{MATING_DIAGRAM}▲５二金\nまで1手で先手の勝ち\n")
    assert table.refused == []
    assert end_of(table) == (1, "normal")


def test_an_end_word_counts_before_the_last_line() -> None:
    table = read(f"{OPENING}   6 切れ負け\nまで5手で時間切れにより先手の勝ち\n")
    assert end_of(table) == (1, "time")
    # As Kifu for Windows writes a game that was broken off after it had ended.
    assert end_of(read(f"{OPENING}   6 投了\n   7 中断\nまで6手で中断\n")) == (1, "resigned")


def test_a_game_may_end_before_its_first_move() -> None:
    table = read(f"先手：a\n後手：b\n{COLUMNS}   1 不戦敗\nまで0手で後手の勝ち\n")
    assert (usi_of(table), end_of(table)) == ([], (-1, "forfeit"))


@pytest.mark.parametrize(
    "end",
    [
        "   4 反則勝ち\n",
        "   4 反則負け\n",
        "まで3手で後手の反則勝ち\n",
        "まで3手で先手の反則負け\n",
        "   4 反則勝ち\nまで3手で後手の反則勝ち\n",
    ],
)
def test_an_illegal_last_move_that_lost_the_game_is_left_out(end: str) -> None:
    table = read(f"   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ５五角(77)\n{end}")
    assert table.refused == []
    assert usi_of(table) == ["7g7f", "3c3d"]
    assert end_of(table) == (-1, "illegal")


def test_a_second_pawn_on_a_file_loses_in_ki2_too() -> None:
    table = read(
        "▲７六歩△３四歩▲２二角成△同銀▲７五歩△４四歩▲７四歩△同歩▲５六歩△７二歩\n"
        "まで10手で先手の反則勝ち\n"
    )
    assert len(usi_of(table)) == 9
    assert end_of(table) == (1, "illegal")


# Comments


def test_comments_and_bookmarks_are_passed_over() -> None:
    lines = OPENING.splitlines(keepends=True)
    text = "".join(f"{line}*先手：投了 まで\n*\n&しおり\n# 変化：3手\n" for line in lines)
    table = read(f"*１ ７六歩(77)\n{text}")
    assert table.refused == []
    assert usi_of(table) == OPENING_USI
    assert list(table.remark_ply) == [0, 1, 2, 3, 4, 5]
    assert table.text("remark_texts") == ["１ ７六歩(77)", *5 * ["先手：投了 まで"]]
    assert all(map(math.isnan, table.remark_score))


@pytest.mark.parametrize(
    ("comment", "score"),
    [
        ("*#評価値=108", 108),
        ("**評価値=-210.5", -210.5),
        ("**解析 0 ○ 候補1 時間 00:10.0 深さ 20/31 ノード数 123 評価値 -57 読み筋 △８四歩", -57),
        ("**対局 時間 00:01.3 深さ 20 ノード数 12345 評価値 1234↑", 1234),
        ("** 30 -3334FU", 30),
        ("**-12", None),
        ("*形勢：-2014 後手優勢", -2014),
        ("*形勢：0 互角", 0),
        ("*形勢：30年ぶり", None),
        ("*63", None),  # Shogidokoro, which may mean either side's view
        ("*評価値 63", None),
        ("**30秒将棋", None),
        ("**解析 0 評価値 +詰", None),
        ("*37手目", None),
    ],
)
def test_evaluations_that_are_known_to_be_blacks_view_are_read(
    comment: str, score: float | None
) -> None:
    table = read(f"   1 ７六歩(77)\n   2 ３四歩(33)\n{comment}\n   3 ２六歩(27)\n")
    assert len(usi_of(table)) == 3
    assert list(table.remark_ply) == [2]
    assert table.text("remark_texts") == [comment[1:]]
    assert [each for each in table.remark_score if not math.isnan(each)] == (
        [] if score is None else [score]
    )


def test_the_first_of_several_evaluations_stands() -> None:
    table = read("*#評価値=5\n   1 ７六歩(77)\n*#評価値=10\n*#評価値=20\n")
    assert list(table.remark_ply) == [0, 1]
    assert list(table.remark_score) == [5, 10]


def test_evaluations_after_the_end_are_about_nothing() -> None:
    table = read("   1 ７六歩(77)\n   2 投了\n*#評価値=20\n")
    assert len(table.remark_ply) == 0


def test_mates_are_read_for_the_side_that_gives_them() -> None:
    table = read("   1 ７六歩(77)\n*#詰み=後手勝ち:15手\n   2 ３四歩(33)\n**詰み=先手勝ち\n")
    assert (list(table.remark_ply), list(table.remark_mate)) == ([1, 2], [-15, 0])


# Several games


def test_games_follow_one_another() -> None:
    text = (
        f"先手：a\n{OPENING}   6 投了\nまで5手で先手の勝ち\n\n"
        f"# ---- Kifu for Windows ----\n手合割：平手\n先手：b\n{COLUMNS}{OPENING}"
        "開始日時：2020/01/01\n先手：c\n▲２六歩△８四歩\n"
    )
    table = read(text)
    assert table.refused == []
    assert table.text("first") == ["a", "b", "c"]
    assert list(table.line) == [1, 10, 19]
    assert list(table.number) == [1, 2, 3]
    assert [end_of(table, game) for game in range(3)] == [(1, "resigned"), *2 * [(2, "unfinished")]]
    assert usi_of(table, 2) == ["2g2f", "8c8d"]


def test_a_game_is_taken_as_soon_as_the_next_begins() -> None:
    reader = _core.Reader("kifu")
    first, second = f"先手：a\n{OPENING}".encode(), "先手：b\n   1 ２六歩(27)\n".encode()
    assert reader.read(first, False)[0] == 0
    size, table = reader.read(first + second, False)
    assert (size, table.text("first")) == (len(first), ["a"])
    size, table = reader.read(second, True)
    assert (size, table.text("first")) == (len(second), ["b"])
    assert (list(table.line), list(table.number)) == ([7], [2])


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n*nobody\n\n"])
def test_blanks_and_comments_are_no_game(text: str) -> None:
    table = read(text)
    assert (len(table.winner), table.refused) == (0, [])


# Refusals


def test_an_illegal_move_is_refused_where_it_stands() -> None:
    line, ply, fault, reason = fault_of(f"先手：a\n{COLUMNS}{OPENING}   6 ５五角打\n   7 投了\n")
    assert (line, ply, fault) == (8, 5, "illegal move")
    assert reason.startswith("move 6, ５五角打, is illegal in ")


@pytest.mark.parametrize(
    ("text", "line", "ply", "fault"),
    [
        ("\n\n   1 ７六歩(77)\n   2 ７六歩(77)\n", 4, 1, "illegal move"),
        ("   1 ７六歩(77)\n   2 ３四歩(33)\n   4 ２六歩(27)\n", 3, 2, "unreadable"),
        ("   1 ７六歩(77)\n   2 ３四猫(33)\n", 2, 1, "unreadable"),
        ("   1 同　歩(77)\n", 1, 0, "unreadable"),
        ("   1 ７六歩(77)\n   3 投了\n", 2, 1, "unreadable"),
        ("   1 ７六歩(77)\n   2 投了\n   3 ２六歩(27)\n", 3, 1, "unreadable"),
        ("▲７六歩\nまで2手で先手の勝ち\n", 2, 1, "unreadable"),
        ("▲７六歩△３四歩\n▲５八金△８四歩\n", 2, 2, "unreadable"),  # which gold?
        ("▲７六歩\n▲２六歩\n", 2, 1, "illegal move"),
        ("▲７六歩\n△５五銀\n", 2, 1, "illegal move"),
        ("▲７六歩どうぞ\n", 1, 0, "unreadable"),
        ("▲７六歩 どうぞ\n", 1, 1, "unreadable"),
        ("先手：a\n手合割：その他\n   1 ７六歩(77)\n", 2, 0, "unsupported"),
        ("先手：a\n手合割：百枚落ち\n   1 ７六歩(77)\n", 2, 0, "unsupported"),
        ("先手：a\n| ・ ・|一\n", 2, 0, "unreadable"),
        (10 * f"|{9 * ' ・'}|\n" + "   1 中断\n", 10, 0, "unreadable"),
        (8 * f"|{9 * ' ・'}|\n" + "   1 中断\n", 1, 0, "unreadable"),
        (DIAGRAM.replace("歩四", "歩十九") + "   1 中断\n", 4, 0, "unreadable"),
        (DIAGRAM.replace("銀二", "猫") + "   1 中断\n", 4, 0, "unreadable"),
        (f"|{9 * ' ・'}|\n", 1, 0, "unreadable"),
        ("no game at all\n", 1, 0, "unreadable"),
    ],
)
def test_faults_are_found_where_they_stand(text: str, line: int, ply: int, fault: str) -> None:
    assert fault_of(text)[:3] == (line, ply, fault)


def test_a_fault_spoils_no_other_game() -> None:
    table = read(f"先手：a\n   1 ５五歩(77)\n   2 投了\n先手：b\n{OPENING}")
    assert [(line, number) for line, number, *_ in table.refused] == [(2, 1)]
    assert (list(table.line), list(table.number), table.text("first")) == ([4], [2], ["b"])


# KI2 moves alone


def test_ki2_tells_pieces_apart() -> None:
    game = hk.Shogi.from_text("4k4/9/3GGG3/9/9/9/9/9/4K4 b - 1")
    assert [game.ki2(game.parse(f"{file}c5b")) for file in "654"] == [
        "▲５二金左",
        "▲５二金直",
        "▲５二金右",
    ]
    with pytest.raises(hk.errors.NotationError, match="more than one"):
        game.parse_ki2("▲５二金")
    with pytest.raises(hk.errors.NotationError, match="more than one"):
        game.parse_ki2("▲５二金上")
    with pytest.raises(hk.errors.IllegalMoveError, match="no piece"):
        game.parse_ki2("▲５二金引")


def test_ki2_says_drop_only_where_a_piece_could_go() -> None:
    game = hk.Shogi.from_text("4k4/9/9/9/9/9/9/5G3/K8 b G 1")
    assert game.ki2(game.parse("G*5h")) == "▲５八金打"
    assert game.ki2(game.parse("G*5e")) == "▲５五金"
    assert str(game.parse_ki2("５八金")) == "4h5h"
    assert str(game.parse_ki2("５五金打")) == "G*5e"


def test_ki2_names_promotion_where_there_is_a_choice() -> None:
    game = hk.Shogi.from_text("4k4/9/9/4S4/9/9/9/9/4K4 b - 1")
    assert game.ki2(game.parse("5d5c+")) == "▲５三銀成"
    assert game.ki2(game.parse("5d5c")) == "▲５三銀不成"
    assert str(game.parse_ki2("５三銀生")) == "5d5c"
    assert game.ki2(game.parse("5d4e")) == "▲４五銀"


def test_ki2_writes_the_same_square_as_such() -> None:
    game = hk.Shogi().play("7g7f").play("3c3d").play("8h2b+")
    taken = game.parse("8h2b+")
    assert game.ki2(game.parse("3a2b"), taken) == "△同　銀"
    assert game.ki2(game.parse("3a2b")) == "△２二銀"
    assert str(game.parse_ki2("△同銀", taken)) == "3a2b"
    assert str(game.parse_ki2("同　飛", taken)) == "8b2b"
    with pytest.raises(hk.errors.NotationError, match="the move before"):
        game.parse_ki2("△同　銀")
    with pytest.raises(hk.errors.IllegalMoveError, match="turn"):
        game.parse_ki2("▲同　銀", taken)


def test_a_pinned_piece_is_not_meant() -> None:
    game = hk.Shogi.from_text("4r4/9/9/9/9/9/4G4/3G5/4K3k b - 1")
    assert str(game.parse_ki2("▲６七金")) == "6h6g"
