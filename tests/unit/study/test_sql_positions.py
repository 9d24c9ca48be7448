# SPDX-License-Identifier: Apache-2.0
"""Positions out of a study: their texts in SQL, answers as files, and one record quickly."""

import json
from itertools import pairwise
from pathlib import Path

import chess
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka.apps.cli.command_table import command_line
from hyoka.study import append_to_study
from hyoka.study.evaluating import evaluate, sampled

PGN = """[White "A"]

1. e4 {[%eval 0.3]} e5 {[%eval 0.2] "so, so"} 2. Qh5 {[%eval -0.4]} Ke7 3. Qxe5# 1-0

[FEN "8/8/4k3/8/8/3QK3/8/8 b - - 12 31"]

31... Kf6 *
"""


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    (tmp_path / "games.pgn").write_text(PGN)
    return hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(command_line(words), [*words], obj=list(words))
    return result.exit_code, result.output


def test_sql_knows_the_texts_of_positions(study: hk.Study) -> None:
    rows = study.sql(
        "select game_id, ply, fen(game_id, ply) as a, position_text(game_id, ply) as b "
        "from positions order by ply desc, game_id"
    ).to_pylist()
    for row in rows:
        assert row["a"] == row["b"] == study.record(row["game_id"]).position(row["ply"]).text
    board = chess.Board()
    for ply, move in enumerate(("e2e4", "e7e5", "d1h5"), 1):
        board.push_uci(move)
        said = study.sql(f"select fen(0, {ply}) as fen")["fen"][0].as_py()
        assert said == board.fen(en_passant="legal")
    nowhere = study.sql("select fen(0, 6) as a, fen(9, 0) as b, fen(null, 0) as c, fen(0, -1) as d")
    assert nowhere.to_pylist() == [dict.fromkeys("abcd")]
    assert len(study.select("fen(game_id, ply) like '8/%'")) == 2
    with pytest.raises(hk.errors.ConditionError, match=r"chess has no sfen.*position_text and fen"):
        study.sql("select sfen(game_id, ply) from positions")
    with pytest.raises(hk.errors.ConditionError, match="nobody"):
        study.sql("select fen(game_id, ply), nobody from positions")


def test_shogi_has_sfen(tmp_path: Path) -> None:
    (tmp_path / "game.csa").write_text("V2.2\nPI\n+\n+7776FU\n%TORYO\n")
    study = hk.Study.create(tmp_path / "study", tmp_path / "game.csa")
    texts = study.sql("select sfen(game_id, ply) as t from positions order by ply")["t"]
    assert texts.to_pylist() == [at.text for at in study.record(0).positions()]


def test_answers_are_written_as_files(study: hk.Study, tmp_path: Path) -> None:
    query = "select r.game_id, r.ply, text, tags from remarks r join games using (game_id)"
    for suffix in ("csv", "parquet", "json"):
        file = tmp_path / f"answer.{suffix}"
        code, said = run("study", "sql", str(study.path), query, "-o", str(file))
        assert code == 0, said
    answer = study.sql(query)
    assert pq.read_table(tmp_path / "answer.parquet") == answer
    read = pyarrow.csv.read_csv(tmp_path / "answer.csv")
    assert read["text"].to_pylist() == answer["text"].to_pylist()
    assert json.loads(read["tags"][0].as_py()) == [["White", "A"]]
    rows = json.loads((tmp_path / "answer.json").read_text())
    assert [row["ply"] for row in rows] == answer["ply"].to_pylist()
    assert run("study", "sql", str(study.path), query, "-o", str(tmp_path / "answer.doc"))[0] != 0
    first = str(tmp_path / "first.parquet")
    code, said = run("study", "sql", str(study.path), query, "--limit", "2", "-o", first)
    assert (code, "2 rows" in said, len(pq.read_table(first))) == (0, True, 2)
    code, said = run("study", "sql", str(study.path), query, "--limit", "2", "-o", first, "--json")
    assert (code, json.loads(said)) == (0, {"path": first, "rows": 2})


def test_a_record_alone_is_the_same(study: hk.Study, tmp_path: Path) -> None:
    (tmp_path / "more.pgn").write_text("1. d4 {new} *\n")
    append_to_study(study.path, tmp_path / "more.pgn")
    for number, record in study.records():
        alone = study.record(number)
        assert (alone, alone.tags, alone.source) == (record, record.tags, record.source)
        assert [each.text for each in alone.remarks] == [each.text for each in record.remarks]
    with pytest.raises(hk.errors.StudyError, match="no game 3"):
        study.record(3)
    with pytest.raises(hk.errors.StudyError, match="no game -1"):
        study.record(-1)


def test_evaluating_nothing_is_said(study: hk.Study) -> None:
    code, _ = run(
        "study", "evaluate", str(study.path), "--with", "ab:nodes=1", "--where", "ply > 99"
    )
    assert code == 1
    assert run("study", "evaluate", str(study.path), "--where", "ply = 0")[0] == 1  # no value there
    assert run("study", "evaluate", str(study.path))[0] == 0
    assert run("study", "evaluate", str(study.path))[0] == 0  # all is there already


def test_a_limit_is_fair_to_games_and_grows(study: hk.Study) -> None:
    chosen = study.select(None)
    sets = []
    for limit in range(1, 9):
        games, plies = sampled(chosen, None, 7, limit)
        assert len(games) == min(limit, 8)
        if limit >= 2:
            assert set(games.tolist()) == {0, 1}
        sets.append(set(zip(games.tolist(), plies.tolist(), strict=True)))
    assert all(fewer < more for fewer, more in pairwise(sets))
    [report] = evaluate(study, ["ab:nodes=1"], limit=3)
    assert (report.wanted, report.done) == (3, 3)
    [report] = evaluate(study, ["ab:nodes=1"], limit=5)
    assert (report.wanted, report.found, report.done) == (5, 3, 2)


def test_disputed_positions_have_their_text(study: hk.Study) -> None:
    low = hk.PythonEvaluator(lambda _: 0.2, title="low", fingerprint="1")
    high = hk.PythonEvaluator(lambda _: 0.9, title="high", fingerprint="1")
    evaluate(study, [low, high])
    one, other = study.engines
    (disputed,) = study.disagreements(one, other).disputed
    assert disputed.text == study.record(disputed.game).position(disputed.ply).text
    code, said = run(
        "analyze", "disagreements", str(study.path), "-e", one, "-e", other, "--top", "3"
    )
    assert code == 0, said
    assert disputed.text in said
