# SPDX-License-Identifier: Apache-2.0
"""Parquet tables of games and positions: those of others, and our own there and back."""

import io
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.study.exporting import export_positions

from ..record_texts import Read


def parquet(rows: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(rows) if isinstance(rows, dict) else pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def test_lichess_on_hugging_face_is_read(read: Read) -> None:
    rows = {
        "Event": ["Rated Blitz game", "Rated Bullet game"],
        "Site": ["https://lichess.org/a", None],
        "White": ["Ann", 'B"o\\b'],
        "Black": ["Cid", "Dan"],
        "Result": ["1-0", "1/2-1/2"],
        "WhiteElo": pa.array([1500, None], pa.int16()),
        "UTCDate": ["2024.01.01", "2024.01.02"],
        "Termination": ["Normal", "Time forfeit"],
        "movetext": ["1. e4 { [%eval 0.17] } 1... e5 { [%eval #-3] } 1-0", "1. d4"],
    }
    records, refused = read(parquet(rows))
    assert refused == []
    first, second = records
    assert (first.first, first.first_rating, first.result) == ("Ann", "1500", 1.0)
    assert [(each.score, each.mate) for each in first.remarks] == [(17, None), (None, -3)]
    assert (second.first, second.result, second.date) == ('B"o\\b', 0.5, "2024-01-02")
    assert [record.number for record in records] == [1, 2]


@pytest.mark.parametrize(
    "moves", ["e4 e5 Nf3", "1. e4 e5 2. Nf3", "e2e4 e7e5 g1f3", ["e2e4", "e7e5", "g1f3"]]
)
def test_moves_of_chess_are_text_or_lists(moves: Any, read: Read) -> None:
    (record,), refused = read(parquet([{"moves": moves, "result": 0.5}]))
    assert (refused, record.result) == ([], 0.5)
    assert record.move_texts("san") == ["e4", "e5", "Nf3"]


def test_positions_with_evaluations_are_games_without_moves(read: Read) -> None:
    """As in Lichess's table of evaluations: `fen`, `cp`, `mate`, `depth`."""
    fens = [chess.STARTING_FEN, "7r/1p3k2/p1bPR3/5p2/2B2P1p/8/PP4P1/3K4 b - - 0 1"]
    rows = {"fen": fens, "cp": [20, None], "mate": [None, -4], "depth": [30, 20]}
    records, refused = read(parquet(rows))
    assert refused == []
    assert [record.position(0).text for record in records] == fens
    said = [(each.ply, each.score, each.mate, each.depth) for r in records for each in r.remarks]
    assert said == [(0, 20, None, 30), (0, None, -4, 20)]


GAMES = {
    "chess": '[White "A"]\n[Black "B"]\n[Result "1-0"]\n[FEN "4k3/P7/8/8/8/8/8/4K3 w - - 0 9"]\n\n'
    "9. a8=Q+ {[%eval 9.00]} Kd7 1-0\n\n"
    '[White "C"]\n[Result "0-1"]\n\n1. e4 e5 0-1\n',
    "shogi": "V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n'** 30\n-3334FU\n+8822UM\n%TORYO\n",
    "go9": "(;GM[1]SZ[9]KM[0]PB[A]PW[B]RE[B+2.5]RU[Japanese];B[ee];W[];B[gc];W[cc])"
    "(;GM[1]SZ[9]KM[0.5]HA[2]AB[cc][gg]AW[ee]RE[W+R];W[ge];B[ed])",
    "othello": "(;GM[2]PB[x\\]y]RE[B+R];B[d3];W[c5];B[f6])",
}


@pytest.mark.parametrize("game", GAMES)
def test_games_of_a_study_go_to_parquet_and_back(game: str, tmp_path: Path) -> None:
    (tmp_path / "games").write_text(GAMES[game])
    study = hk.Study.create(tmp_path / "study", tmp_path / "games")
    export_positions(study, tmp_path / "games.parquet", games=True)
    records = list(hk.read_records(tmp_path / "games.parquet"))
    originals = [record for _, record in study.records()]
    fields = ("game", "start", "first", "second", "result", "ending", "margin", "komi")
    for record, original in zip(records, originals, strict=True):
        assert record.moves.tolist() == original.moves.tolist()
        for name in (*fields, "handicap", "rules", "date"):
            assert getattr(record, name) == getattr(original, name), name


@pytest.mark.parametrize("game", ["chess", "shogi"])
def test_positions_of_a_study_go_to_parquet_and_back(game: str, tmp_path: Path) -> None:
    (tmp_path / "games").write_text(GAMES[game])
    study = hk.Study.create(tmp_path / "study", tmp_path / "games")
    study.evaluate("comments")
    export_positions(study, tmp_path / "positions.parquet")
    records = list(hk.read_records(tmp_path / "positions.parquet"))
    rows = pq.read_table(tmp_path / "positions.parquet").to_pylist()
    for record, row in zip(records, rows, strict=True):
        assert record.position(0).text == row["position"]
        assert record.move_texts() == ([] if row["move"] is None else [row["move"]])
        assert record.result == row["result"]
        assert [each.score for each in record.remarks] == (
            [] if row["score"] is None else [row["score"]]
        )


def test_games_are_exported_with_an_evaluators_evaluations(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[White "A"]\n\n1. e4 {[%eval 0.30] Good.} e5 2. d4 *\n')
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")
    table = {
        "game_id": [0, 0, 0],
        "ply": [0, 1, 3],
        "score": [12, -34, None],
        "mate": [None, None, -2],
    }
    pq.write_table(pa.table(table), tmp_path / "own.parquet")
    study.evaluate(f"table:{tmp_path / 'own.parquet'}")
    export_positions(study, tmp_path / "as-they-were.pgn")
    export_positions(study, tmp_path / "own.pgn", evaluator="own")
    with (tmp_path / "own.pgn").open() as stream:
        game = chess.pgn.read_game(stream)
    assert game is not None
    scores = [node.eval() for node in (game, *game.mainline())]
    white = [None if each is None else each.white() for each in scores]
    assert white == [
        *(chess.engine.Cp(12), chess.engine.Cp(-34), None, chess.engine.Mate(-2)),
    ]
    assert "Good." in (tmp_path / "own.pgn").read_text()
    assert "[%eval 0.30] Good." in (tmp_path / "as-they-were.pgn").read_text()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"game": "go9", "moves": "E5 J99"}, "point of the board"),
        ({"game": "go9", "moves": "E5 E5"}, "illegal"),
        ({"game": "checkers", "moves": "1-2"}, "checkers"),
        ({"game": "chess", "moves": "e2e4", "start": "x"}, "bad FEN"),
        ({"fen": "no position"}, "bad FEN"),
        ({"moves": "e4 e9"}, "e9"),
    ],
)
def test_bad_rows_are_refused(row: Any, reason: str, read: Read) -> None:
    records, (refused,) = read(parquet([row]))
    assert records == []
    assert reason in refused.reason
    assert "GM[bad" not in refused.reason


def test_bad_files_are_refused(read: Read) -> None:
    _, (refused,) = read(parquet({"x": [1]}))
    assert "without moves or positions" in refused.reason
    data = parquet({"moves": ["e4"] * 1000})
    for damaged in (data[:-9], data[:40], data[: len(data) // 2] + data[len(data) // 2 + 1 :]):
        records, faults = read(damaged)
        assert records == []
        assert [each.fault for each in faults] == ["broken file"]


def test_text_in_a_table_can_not_become_other_games(read: Read) -> None:
    rows = [{"game": "go9", "moves": "E5", "first": "x])(;GM[1]", "event": "a\n(;"}]
    (record,), refused = read(parquet(rows))
    assert (refused, record.first) == ([], "x])(;GM[1]")
    rows = [{"moves": "e4", "White": 'x"]\n\n1. d4 *\n\n[Event "y'}]
    (record,), refused = read(parquet(rows))
    assert (refused, record.move_texts("san")) == ([], ["e4"])
