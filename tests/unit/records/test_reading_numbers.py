# SPDX-License-Identifier: Apache-2.0
"""Numbers in comments are read as a whole, or left out and counted, in every notation."""

from pathlib import Path

import pytest

import hyoka as hk
from hyoka.records import RecordStream, Remark, batches, records_in
from hyoka.records.problems import read_problems
from hyoka.records.summary import summarize
from hyoka.study import make_study
from hyoka.study.evaluating import evaluate


def stream_of(text: str) -> tuple[RecordStream, list[hk.Record]]:
    stream = records_in("games", text.encode())
    return stream, list(stream)


def pgn(comment: str) -> str:
    return f'[Event "x"]\n\n1. e4 {{{comment}}} e5 *\n'


def csa(lines: str) -> str:
    return f"V2.2\nPI\n+\n+7776FU\n{lines}\n-3334FU\n%TORYO\n"


def kif(time: str, line: str) -> str:
    return (
        "手合割：平手\n手数----指手---------消費時間--\n"
        f"   1 ７六歩(77)   {time}\n{line}\n   2 ３四歩(33)\n"
    )


def sgf(node: str) -> str:
    return f"(;GM[1]SZ[9]PB[a]DT[2020-01-01];B[ee]{node};W[gc])"


UNREADABLE = [
    *(
        pgn(comment)
        for comment in (
            "[%eval 1e308]",
            "[%eval 2.5e3]",
            "[%eval 1.5x]",
            "[%eval 7abc]",
            "[%eval 1.2.3]",
            "[%eval nan]",
            "[%eval +-5]",
            "[%eval #3.5]",
            "[%eval #0]",
            "[%eval #99999]",
            "[%eval 1e15]",
            "[%value 1.5]",
            "[%value 0.5.5]",
            "[%score 3x]",
            "[%mate 0]",
            "[%mate 2.5]",
            "[%depth 12.5]",
            "[%depth -1]",
            "[%clk 1:02:03abc]",
            "[%clk 1:02:]",
            "[%clk -1:02]",
            "[%emt 1e3]",
            "+1e308/12 0.1s",
            "+0.35x/12 0.1s",
            "+M5.5/12 0.1s",
            "ev=1.5x",
            "ev=0x10, pv=e5",
            "wv=M1x",
            "wv=2.5e3",
        )
    ),
    csa("'** 1e3"),
    csa("'** 12a 3334FU"),
    csa("'** 1,234"),
    csa("'** -1.5.2"),
    csa("T12x"),
    csa("T-5"),
    kif("( 0:01x/00:00:01)", ""),
    kif("", "**評価値=12e3"),
    kif("", "*#評価値=1.5x"),
    kif("", "*#評価値=1,234"),
    kif("", "*#詰み=先手勝ち:5x手"),
    sgf("C[Winrate 1e1\nScoreMean]"),
    sgf("C[Winrate 53.1abc]"),
    sgf("C[Winrate 153.1%]"),
    sgf("C[Win rate: B 5x]"),
    sgf("C[Win rate: W 530.5%]"),
    sgf("BL[1e3]"),
    sgf("BL[12x]"),
    sgf("C[\\[%value 1e-1\\]]"),
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_number_as_a_whole_is_left_out_and_counted(text: str) -> None:
    stream, [record] = stream_of(text)
    assert all(remark == Remark(remark.ply) for remark in record.remarks)
    assert stream.unreadable == 1
    [first] = stream.first_unreadable
    assert (first.number, first.ply) == (1, 1)
    assert first.text in text.replace("\\", "")


def test_what_can_be_read_beside_it_is_kept() -> None:
    stream, [record] = stream_of(pgn("[%eval 0.35,12x] [%clk 0:01:00] [%emt 3s]"))
    assert record.remarks == (Remark(1, score=35, clock_s=60),)
    assert stream.unreadable == 2
    assert stream.first_unreadable[0].text == "[%eval 0.35,12x]"
    stream, [record] = stream_of(pgn("+0.35/12 1.2.3s"))
    assert record.remarks == (Remark(1, score=35, depth=12, author="first"),)
    assert stream.unreadable == 1
    stream, [record] = stream_of(pgn("ev=0.35, d=1x, mt=00:0x, tl=12"))
    [remark] = record.remarks
    assert (remark.score, remark.depth, remark.spent_s) == (35, None, None)
    assert stream.unreadable == 2
    stream, [record] = stream_of(sgf("C[Winrate 40.0%\nScoreMean 1e3]"))
    [remark] = record.remarks
    assert remark.value == pytest.approx(0.6)
    assert remark.score is None
    assert stream.unreadable == 1


@pytest.mark.parametrize(
    "text",
    [
        pgn("24/7 they said"),
        pgn("1/2-1/2 was offered"),
        pgn("played 12/5/1990"),
        pgn("the ev=none of it"),
        pgn("[%csl Gd4] [%cal Ge2e4]"),
        pgn("[%eval ]"),
        csa("'** +3334FU"),
        csa("'** resigns"),
        csa("'*** 1990s"),
        kif("", "**解析 0 評価値 +詰"),
        kif("", "*3手目まで"),
        sgf("C[Winrate of Black]"),
        sgf("C[Win rate: unknown]"),
        sgf("BL[]"),
    ],
)
def test_prose_is_no_unreadable_number(text: str) -> None:
    stream, [record] = stream_of(text)
    assert stream.unreadable == 0
    assert all(
        each.value is None and each.score is None and each.mate is None for each in record.remarks
    )


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (pgn("[%eval +0.35 ]"), Remark(1, score=35)),
        (pgn("[%eval .5, 12]"), Remark(1, score=50, depth=12)),
        (pgn("[%eval #+3]"), Remark(1, mate=3)),
        (pgn("[%eval 1.44"), Remark(1, score=144)),
        (csa("'** 30 -3334FU +2726FU"), Remark(1, score=30, author="first")),
        (kif("", "**対局 評価値 1234↑"), Remark(1, score=1234, author="first")),
        (sgf("C[Winrate 40%, so]"), Remark(1, value=0.6, author="second")),
    ],
)
def test_whole_numbers_are_read(text: str, remark: Remark) -> None:
    stream, [record] = stream_of(text)
    assert stream.unreadable == 0
    [found] = [each for each in record.remarks if each.ply == 1]
    assert found.score == remark.score
    assert found.value == pytest.approx(remark.value, rel=1e-6)
    assert (found.mate, found.depth, found.author) == (remark.mate, remark.depth, remark.author)


BAD = pgn("[%eval 1e308]") + "\n" + pgn("[%eval 0.3]").replace('"x"', '"y"')


def test_an_import_counts_what_it_could_not_read(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(BAD)
    _, report = make_study(tmp_path / "study", file, columns="none")
    assert (report.unreadable, report.values) == (1, 1)
    [first] = report.first_unreadable
    assert str(first) == f"{file}:1: game 1, ply 1: [%eval 1e308]"
    _, report = make_study(tmp_path / "other", file, columns="none", where="event = 'y'")
    assert (report.unreadable, report.first_unreadable) == (0, [])


def test_a_summary_counts_what_it_could_not_read(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(BAD)
    summary = summarize(batches([file]))
    assert summary.unreadable == 1
    assert [each.text for each in summary.first_unreadable] == ["[%eval 1e308]"]


@pytest.mark.parametrize("value", ["7abc", "1.5x", "1e308", "0.5.5", "inf"])
def test_tables_of_evaluations_are_read_whole(tmp_path: Path, value: str) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(pgn("so"))
    study = hk.Study.create(tmp_path / "study", file, columns="none")
    table = tmp_path / "mine.csv"
    table.write_text(f"game_id,ply,score\n0,0,1\n0,1,{value}\n")
    with pytest.raises(hk.errors.SourceError, match=r"score is (not all numbers|inf)"):
        evaluate(study, f"table:{table}")


@pytest.mark.parametrize("operation", ["ce 1e3", "ce 12x", "ce 1.5", "dm 3x", "hmvc 1e1"])
def test_epd_numbers_are_read_whole(operation: str) -> None:
    text = f"4k3/8/8/8/8/8/8/4K2R w K - {operation};"
    problems = read_problems(text, format="epd")
    assert not problems.problems
    assert "needs a number" in str(problems.refused[0])


def test_points_of_epd_moves_are_read_whole() -> None:
    text = '4k3/8/8/8/8/8/8/4K2R w K - bm O-O; c0 "O-O=1e2, Rh2=5x";'
    [problem] = read_problems(text, format="epd").problems
    assert not problem.points
    assert problem.notes["c0"] == "O-O=1e2, Rh2=5x"
