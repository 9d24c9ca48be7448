# SPDX-License-Identifier: Apache-2.0
"""User columns: from functions and tables, in conditions, splits and checks."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka.agents import ImportedEvaluations
from hyoka.apps.cli.command_table import command_line
from hyoka.study import append_to_study
from hyoka.study.evaluating import evaluate
from hyoka.study.verify import check_study

MOVES = (
    "1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Qh5 {[%eval -0.4]} Ke7 {[%eval 9]} 3. Qxe5# 1-0\n\n"
)


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    (tmp_path / "games.pgn").write_text(MOVES + "1. d4 {[%eval 0.1]} d5 {[%eval 0.1]} 0-1\n")
    return hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")


def values(study: hk.Study, name: str) -> list[Any]:
    rows = study.sql(f"select {name} from positions order by game_id, ply")
    return list(rows[name].to_pylist())


def test_a_function_of_a_position_is_a_column(study: hk.Study) -> None:
    report = study.add_column("moves_there", lambda position: len(position.legal_moves))
    assert (report.kind, report.positions, report.known) == ("integer", 9, 9)
    expected = [len(at.legal_moves) for _, game in study.records() for at in game.positions()]
    assert values(study, "moves_there") == expected
    assert len(study.select("moves_there = 0")) == 1  # mate
    assert study.user_columns == ["moves_there"]


def test_a_function_may_take_many_at_once(study: hk.Study) -> None:
    asked: list[int] = []

    def checks(positions: list[hk.Chess]) -> np.ndarray[Any, Any]:
        asked.append(len(positions))
        return np.array([position.in_check for position in positions])

    assert study.add_column("checked", checks, in_bulk=True).kind == "flag"
    assert asked == [9]
    assert values(study, "checked") == values(study, "in_check")
    with pytest.raises(hk.errors.ParameterError, match="returned 1 values for 9 positions"):
        study.add_column("checked", lambda _: [True], in_bulk=True)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "columns", "text"])
def test_a_table_is_a_column(study: hk.Study, form: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "game_id": [0, 0, 1, 7],
        "ply": [1, 2, 0, 0],
        "x": [0.5, 2.0, 3.0, 9],
    }
    if form == "text":
        texts = [study.record(0).position(1).text, study.record(0).position(2).text]
        columns = {"fen": texts, "x": [0.5, 2.0]}
    given: Any = columns
    if form == "csv":
        given = tmp_path / "x.csv"
        given.write_text("game_id,ply,x\n0,1,0.5\n0,2,2\n1,0,3\n7,0,9\n")
    elif form == "parquet":
        given = tmp_path / "x.parquet"
        pq.write_table(pa.table(columns), given)
    elif form == "arrow":
        given = pa.table(columns)
    report = study.add_column("own", given)
    known = (
        [None, 0.5, 2.0, None, None, None] + ([3.0] if form != "text" else [None]) + [None, None]
    )
    assert values(study, "own") == known
    assert (report.kind, report.lost) == ("number", 1 if form != "text" else 0)


@pytest.mark.parametrize("form", ["frame", "indexed", "series", "category", "nullable"])
def test_frames_of_pandas_are_tables(study: hk.Study, form: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"game_id": [0, 1], "ply": [1, 0], "x": [0.5, 2.0]})
    by_place = frame.set_index(["game_id", "ply"])
    forms = {
        "frame": frame[frame["x"] > 0],  # an index without a name
        "indexed": by_place,
        "series": by_place["x"],
        "category": frame.assign(x=frame["x"].astype("category")),
        "nullable": frame.assign(x=frame["x"].astype("Float64")),
    }
    assert study.add_column("own", forms[form]).kind == "number"
    assert values(study, "own") == [None, 0.5, *4 * [None], 2.0, None, None]
    back = study.sql("select ply, own from positions where own > 0 order by own").to_pandas()
    assert back["own"].tolist() == [0.5, 2.0]


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_of_polars_are_tables(study: hk.Study, lazy: bool) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"game_id": [0, 1], "ply": [1, 0], "x": ["calm", "wild"]})
    assert study.add_column("own", frame.lazy() if lazy else frame).kind == "text"
    assert values(study, "own") == [None, "calm", *4 * [None], "wild", None, None]
    kinds = frame.with_columns(polars.col("x").cast(polars.Categorical))
    assert study.add_column("own", kinds).kind == "text"
    [report] = evaluate(
        study, [ImportedEvaluations(frame.with_columns(score=polars.lit(30.0)), "mine")]
    )
    assert report.done == 2


def test_batches_are_tables_and_others_are_refused(study: hk.Study) -> None:
    columns = {"game_id": [0, 1], "ply": [1, 0], "x": [1, 2]}
    assert study.add_column("own", pa.record_batch(columns)).known == 2
    with pytest.raises(hk.Error, match="the dict is no table"):
        study.add_column("own", {**columns, "ply": [1]})
    with pytest.raises(hk.Error, match="no table: list"):
        study.add_column("own", [1, 2])


def test_texts_and_flags_and_nothing(study: hk.Study) -> None:
    keys = {"game_id": [0, 1], "ply": [0, 0]}
    assert study.add_column("kind", {**keys, "kind": ["sharp", None]}).kind == "text"
    assert study.add_column("odd", {**keys, "odd": [float("nan"), float("inf")]}).known == 0
    assert values(study, "kind")[0] == "sharp"
    with pytest.raises(hk.errors.ParameterError, match="mixed types int, str; use numbers"):
        study.add_column("mixed", lambda position: position.text if position.in_check else 1)
    for wide in (lambda _: 2**70, {**keys, "wide": pa.array([2**63, 1], pa.uint64())}):
        with pytest.raises(hk.errors.ParameterError, match="beyond 64 bits"):
            study.add_column("wide", wide)
    with pytest.raises(hk.Error, match="the dict is no table"):
        study.add_column("wide", {**keys, "wide": [2**70, 1]})
    with pytest.raises(hk.errors.ParameterError, match="has type list"):
        study.add_column("lists", {**keys, "lists": [[1], [2]]})


@pytest.mark.parametrize("name", ["ply", "material", "score", "result", "fen", "Big", "x y", ""])
def test_names_that_are_taken_or_none(study: hk.Study, name: str) -> None:
    with pytest.raises(hk.errors.ParameterError, match="name"):
        study.add_column(name, lambda _: 1)


def test_a_column_is_replaced_dropped_and_checked(study: hk.Study) -> None:
    study.add_column("own", lambda _: 1)
    study.add_column("own", lambda _: "two")
    assert set(values(study, "own")) == {"two"}
    assert check_study(study.path).is_whole
    part = next((study.path / "columns" / "column=own").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-9])
    assert not check_study(study.path).is_whole
    study.drop_column("own")
    assert study.user_columns == []
    with pytest.raises(hk.errors.StudyError, match="no user column 'own'"):
        study.drop_column("own")
    assert check_study(study.path).is_whole


def test_games_that_come_later_are_null(study: hk.Study, tmp_path: Path) -> None:
    study.add_column("own", lambda _: 1)
    (tmp_path / "more.pgn").write_text("1. c4 *\n")
    append_to_study(study.path, tmp_path / "more.pgn")
    assert values(study, "own") == 9 * [1] + 2 * [None]


def test_analyses_use_it(study: hk.Study) -> None:
    evaluate(study, ["comments"])
    study.add_column("side", lambda position: "w" if position.to_play == hk.Player.first else "b")
    assert {curve.condition for curve in study.curve("comments", by="side").parts} >= {"side is w"}
    assert "side" in hk.study.sampling.slice_columns(study)


def run(*words: str) -> str:
    result = CliRunner().invoke(command_line(words), [*words], obj=list(words))
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_line_adds_and_drops(study: hk.Study, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("game_id,ply,a,b\n0,0,1,x\n0,1,2,y\n")
    run("study", "columns", str(study.path), "--add", str(file))
    assert study.user_columns == ["a", "b"]
    run("study", "columns", str(study.path), "--drop", "a", "--add", f"b={file}", "--json")
    assert values(study, "b")[:3] == ["x", "y", None]
    assert study.user_columns == ["b"]
