# SPDX-License-Identifier: Apache-2.0
"""User evaluations: out of tables, and by functions."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.agents import ImportedEvaluations
from hyoka.foundation.errors import EngineError, NotationError, SourceError, StudyError
from hyoka.study.evaluating import evaluate

GAMES = """[Result "1-0"]

1. e4 {[%eval 0.3]} e5 2. Qh5 Ke7 3. Qxe5# 1-0

[Result "0-1"]

1. e4 e5 2. Qh5 Nc6 3. Qxf7+ Kxf7 0-1
"""


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    (tmp_path / "games.pgn").write_text(GAMES)
    return hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")


def stored(study: hk.Study, name: str, what: str = "score") -> dict[tuple[int, int], Any]:
    name = ImportedEvaluations("x.csv", name).id
    rows = study.sql(f"select game_id, ply, {what} as it from evaluations where engine = '{name}'")
    return {(row["game_id"], row["ply"]): row["it"] for row in rows.to_pylist()}


def test_a_table_speaks_by_game_and_ply(study: hk.Study, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("game_id,ply,score,depth\n0,1,30,4\n1,3,-20,\n1,2,,\n7,0,5,\n")
    [report] = evaluate(study, f"table:{file}")
    assert (report.wanted, report.done, report.title) == (2, 2, "mine")
    assert stored(study, "mine") == {(0, 1): 30, (1, 3): -20}
    assert stored(study, "mine", "unit")[0, 1] == "centipawns"
    assert "1 of 4 rows" in report.notes[0]
    # The same name again: what it says now.
    pq.write_table(pa.table({"ply": [2], "game_id": [1], "cp": [7.5]}), tmp_path / "other.parquet")
    evaluate(study, [f"table:name=mine,score=cp:{tmp_path / 'other.parquet'}"])
    assert stored(study, "mine") == {(1, 2): 7.5}
    assert study.curve("mine", at_least=1).parts[0].name == "mine"


def test_a_table_speaks_by_position_wherever_it_comes_up(study: hk.Study) -> None:
    after_e4 = hk.Chess().play("e4")
    text = " ".join(after_e4.text.split()[:4])  # counters of moves do not matter
    given = ImportedEvaluations({"fen": [text], "value": [0.25]}, "mine", view="mover")
    evaluate(study, [given])
    # Black is to move: the first player's value is what is left.
    assert stored(study, "mine", "value") == {(0, 1): 0.75, (1, 1): 0.75}


def test_whose_view_it_is_turns_all_that_has_a_side(study: hk.Study) -> None:
    table = {
        "game_id": [0, 0],
        "ply": [1, 2],
        "score": [30.0, 30.0],
        "mate": pa.array([None, 3], pa.int64()),
        "win": [0.5, 0.5],
        "draw": [0.25, 0.25],
        "loss": [0.25, 0.25],
    }
    evaluate(
        study, [ImportedEvaluations(table, "m", view="mover"), ImportedEvaluations(table, "f")]
    )
    assert stored(study, "m") == {(0, 1): -30, (0, 2): 30}
    assert stored(study, "f") == {(0, 1): 30, (0, 2): 30}
    assert stored(study, "m", "win") == {(0, 1): 0.25, (0, 2): 0.5}
    assert stored(study, "m", "value") == {(0, 1): 0.375, (0, 2): 0.625}
    assert stored(study, "m", "mate") == {(0, 1): None, (0, 2): 3}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"game_id": [0], "ply": [1], "value": [35.0]}, "row 1: value is 35: an expected result"),
        ({"game_id": [0], "ply": [1], "score": [float("nan")]}, "finite"),
        ({"game_id": [0], "ply": [1], "mate": [0]}, "never in 0"),
        ({"game_id": [0], "ply": [1], "win": [0.9], "loss": [0.9], "draw": [0.0]}, "not 1"),
        ({"game_id": [0], "ply": [1], "said": [0.9]}, "no column value"),
        ({"ply": [1], "value": [0.9]}, "add columns game_id and ply, or position"),
        (
            {"game_id": ["a"], "ply": [1], "value": [0.9]},
            "column game_id has values that are not integers",
        ),
        (
            {"game_id": [0, 0], "ply": [1, 1], "value": [0.9, 0.8]},
            "rows 1 and 2 have the same position but differ in value",
        ),
        ({"fen": ["nonsense"], "value": [0.9]}, "row 1: invalid position"),
        ({"game_id": [0], "ply": [1], "value": ["high"]}, "not all numbers"),
    ],
)
def test_what_can_not_be_meant_is_refused_with_its_row(
    study: hk.Study, table: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        evaluate(study, [ImportedEvaluations(pa.table(table), "mine")])
    assert study.engines == []


def test_files_that_are_not_tables_are_refused(study: hk.Study, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1\n")
    os.mkfifo(tmp_path / "pipe.csv")
    for spec, error, message in (
        (f"table:{tmp_path / 'none.csv'}", SourceError, "No such file"),
        (f"table:{tmp_path / 'bad.csv'}", SourceError, "neither CSV nor Parquet"),
        (f"table:{tmp_path / 'pipe.csv'}", SourceError, "not a regular file"),
        ("table:", NotationError, "names no file"),
        ("table:view=black:x.csv", NotationError, "view is first or mover"),
    ):
        with pytest.raises(error, match=message):
            evaluate(study, [spec])
    elsewhere = {"game_id": [5], "ply": [1], "value": [0.5]}
    with pytest.raises(StudyError, match="none of its 1 rows matches a position of the study"):
        evaluate(study, [ImportedEvaluations(elsewhere, "mine")])


def test_a_table_without_a_row_that_was_asked_for_changes_nothing(study: hk.Study) -> None:
    table = ImportedEvaluations({"game_id": [0], "ply": [1], "score": [30.0]}, "mine")
    evaluate(study, [table])
    with pytest.raises(StudyError, match="no row matches a chosen position"):
        evaluate(study, [table], where="ply = 2")
    assert stored(study, "mine") == {(0, 1): 30}


def queens(position: hk.Chess) -> float:
    """How many queens White is ahead."""
    board = position.text.split()[0]
    return float(board.count("Q") - board.count("q"))


def test_a_function_is_an_evaluator_and_says_what_its_numbers_are(study: hk.Study) -> None:
    [report] = evaluate(study, hk.PythonEvaluator(queens, unit="points"))
    rows = study.sql("select game_id, ply, value, score, unit from evaluations").to_pylist()
    assert report.done == len(rows) == 13
    assert {row["unit"] for row in rows} == {"points"}
    assert {row["value"] for row in rows} == {None}
    assert {(row["game_id"], row["ply"]) for row in rows if row["score"] < 0} == {(1, 6)}

    def even(position: hk.Chess) -> float:
        return 0.5

    def best(position: hk.Chess) -> hk.Evaluation:
        return hk.Evaluation(score=12)

    evaluate(study, [even, best])
    units = study.sql("select distinct unit from evaluations where score = 12").to_pylist()
    assert units == [{"unit": "centipawns"}]

    def pawns(position: hk.Chess) -> float:
        return 3.0

    with pytest.raises(EngineError, match=r'PythonEvaluator\(pawns, unit="centipawns"\)'):
        evaluate(study, [pawns])
    with pytest.raises(NotationError, match="centipawns or points"):
        hk.PythonEvaluator(queens, unit="pawns")
    with pytest.raises(NotationError, match="no search, engine or function"):
        evaluate(study, [3])  # type: ignore[list-item]
