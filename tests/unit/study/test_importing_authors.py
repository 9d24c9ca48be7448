# SPDX-License-Identifier: Apache-2.0
"""Who said the values in a record: a player, or somebody else."""

import itertools
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.records import record_text
from hyoka.storage.files import toml_text, write_text
from hyoka.storage.manifest import DESCRIPTION, read_manifest
from hyoka.study import make_study

from ..record_texts import one


def authors(record: hk.Record) -> dict[int, str | None]:
    return {remark.ply: remark.author for remark in record.remarks}


MATCH = "1. e4 {+0.31/14 2.1s} e5 {-0.20/13 1.9s} 2. Nf3 {-M4/20 0.5s} *"
TCEC = "1. e4 {d=30, sd=41, mt=1000, wv=0.47} e5 {ev=0.20, d=12, mt=00:00:05} *"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MATCH, {1: "first", 2: "second", 3: "first"}),
        (TCEC, {1: "first", 2: "second"}),
        ("1. e4 {[%eval 0.3] [%clk 0:03:00]} e5 {[%clk 0:03:00]} *", {1: None, 2: None}),
        ("1. e4 {[%eval 0.3,20] [%author first]} e5 {[%eval #-3] [%author second]} *",
         {1: "first", 2: "second"}),
        ("1. e4 {book} e5 {+0.10/9 1s} *", {1: None, 2: "second"}),
    ],
)  # fmt: skip
def test_chess_engines_speak_of_their_own_moves_and_sites_do_not(
    text: str, said: dict[int, str | None]
) -> None:
    assert authors(one(text, "pgn")) == said


def test_black_may_begin() -> None:
    tags = '[FEN "8/8/4k3/8/8/3QK3/8/8 b - - 12 31"]\n\n'
    assert authors(one(tags + "31... Kf6 {-8.00/20 1s} 32. Qd6+ {+9.00/20 1s} *")) == {
        1: "second",
        2: "first",
    }


def test_what_two_have_said_is_nobodys() -> None:
    assert authors(one("1. e4 {+0.31/14 2.1s} {[%eval 0.1]} *")) == {1: None}


CSA = "PI\n+\n+7776FU\n'** 35 -3334FU\n-3334FU\n'** -40\n+2726FU\nT3\n%TORYO\n"


def test_floodgates_programs_speak_of_their_own_moves() -> None:
    assert authors(one(CSA, "csa")) == {1: "first", 2: "second", 3: None}
    white_begins = one("PI\n-\n-3334FU\n'** -5\n%TORYO\n", "csa")
    assert authors(white_begins) == {1: "second"}


@pytest.mark.parametrize(
    ("comment", "author"),
    [
        ("**評価値=80", "second"),
        ("*#評価値=80", None),
        ("**詰み=先手勝ち:15手", "second"),
        ("*#詰み=後手勝ち:8手", None),
        ("**対局 時間 00:10.0 深さ 18/22 評価値 80 読み筋 ▲２五歩", "second"),
        ("**解析 0 候補1 時間 00:10.0 深さ 18 評価値 80 読み筋 ▲２五歩", None),
        ("** 80 ▲２五歩", "second"),
        ("*形勢：80 互角", None),
    ],
)
def test_programs_of_shogi_say_whether_a_player_or_an_analysis_speaks(
    comment: str, author: str | None
) -> None:
    record = one(f"手合割：平手\n   1 ２六歩(27)\n   2 ８四歩(83)\n{comment}\n   3 中断\n", "kifu")
    assert authors(record) == {2: author}


def test_a_comment_before_the_first_move_is_no_players() -> None:
    record = one("手合割：平手\n**評価値=80\n   1 ２六歩(27)\n   2 中断\n", "kifu")
    assert authors(record) == {0: None}


def test_a_go_bot_speaks_on_its_opponents_move() -> None:
    comment = "C[kata-bot: Visits 9 Winrate 49.64% ScoreMean -0.6]"
    record = one(f"(;GM[1]SZ[9]PB[A]PW[kata-bot];B[ee]{comment};W[ec])")
    assert authors(record) == {1: "second"}
    record = one("(;GM[1]SZ[9];B[ee]C[Score: B+3.2\nWin rate: B 53.1%];W[ec]C[[%value 0.4\\]])")
    assert authors(record) == {1: None, 2: None}


@pytest.mark.parametrize(
    ("text", "format"), [(MATCH, "pgn"), (CSA, "csa"), (CSA, "kif"), (CSA, "lines")]
)
def test_authors_are_written_and_read_again(text: str, format: str) -> None:
    record = one(text)
    (again,) = hk.parse_records(record_text(record, format))
    assert authors(again) == ({} if format == "lines" else authors(record))


def test_a_value_of_nobodys_in_csa_stays_so() -> None:
    record = one("手合割：平手\n   1 ２六歩(27)\n*#評価値=80\n   2 中断\n", "kifu")
    (again,) = hk.parse_records(record_text(record, "csa"))
    assert (authors(again), again.remarks[0].score) == ({1: None}, 80)


def test_a_study_keeps_authors_and_older_ones_have_none(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(f"{MATCH}\n\n1. d4 {{[%eval 0.1]}} *\n")
    study, _ = make_study(tmp_path / "study", [tmp_path / "games.pgn"], columns="none")
    said = "select author from remarks order by game_id, ply"
    assert study.sql(said)["author"].to_pylist() == ["first", "second", "first", None]
    assert authors(study.record(0)) == {1: "first", 2: "second", 3: "first"}
    (part,) = (tmp_path / "study" / "remarks").glob("*.parquet")
    older = pq.read_table(part).drop_columns(["author"])
    assert isinstance(older, pa.Table)
    pq.write_table(older, part)
    # Such a study had no list of parts, either.
    description = read_manifest(tmp_path / "study" / DESCRIPTION).values | {"version": 1}
    write_text(tmp_path / "study" / DESCRIPTION, toml_text(description))
    with pytest.warns(UserWarning, match="without checksums"):
        study = hk.Study.open(tmp_path / "study")
    assert study.sql(said)["author"].to_pylist() == [None] * 4
    assert authors(study.record(0)) == dict.fromkeys((1, 2, 3))


# Real records


def test_the_bots_of_ogs_are_the_authors_they_name(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("go9/ogs9_katabot_eval.sgf.xz")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = list(itertools.islice(file, 0, None, 30))
    checked = 0
    for line in lines:
        record = one(line, "sgf")
        for side in ("first", "second"):
            says = line.count(f"C[{getattr(record, side)}: Visits")
            assert sum(remark.author == side for remark in record.remarks) == says
            checked += says
    assert checked > 1000


def test_tcecs_engines_are_the_authors_of_their_values(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    path = shared_data("chess/raw_samples.zip")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    checked = 0
    for record in hk.read_records(tmp_path):
        begins = record.position(0).to_play == hk.Player.first
        for remark in record.remarks:
            if remark.score is not None or remark.mate is not None:
                mover = "first" if (remark.ply % 2 == 1) == begins else "second"
                assert remark.author == mover
                checked += 1
    assert checked > 1000


def test_floodgates_values_are_the_movers(shared_data: Callable[[str], Path]) -> None:
    with lzma.open(shared_data("shogi/floodgate2016.csa.xz"), "rt", encoding="utf-8") as file:
        head = file.read(1 << 20).rpartition("/\n")[0]
    checked = 0
    for record in hk.parse_records(head, format="csa"):
        for remark in record.remarks:
            if remark.score is not None:
                assert remark.author == ("first" if remark.ply % 2 else "second")
                checked += 1
    assert checked > 1000
