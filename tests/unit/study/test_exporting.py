# SPDX-License-Identifier: Apache-2.0
"""Positions for other programs: read back by python-chess and cshogi."""

from pathlib import Path

import chess
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka import _core
from hyoka.study.evaluating import evaluate
from hyoka.study.exporting import PACKED, export_positions

cshogi = pytest.importorskip("cshogi")

HANDICAPS = ["", *hk.Shogi.handicap_names()]

PGN = "1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Qh5 {[%eval -0.4]} Ke7 {[%eval #1]} 3. Qxe5# 1-0\n"
CSA = (
    "V2.2\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** -20\n+8822UM\n'** 5\n-3122GI\n+0055KA\n'** 9\n"
    "%TORYO\n"  # White resigns
)


def made(folder: Path, name: str, text: str) -> hk.Study:
    (folder / name).write_text(text)
    study = hk.Study.create(folder / "study", folder / name)
    evaluate(study, ["comments"])
    return study


def test_tables_have_positions_results_and_scores(tmp_path: Path) -> None:
    study = made(tmp_path, "game.pgn", PGN)
    report = export_positions(study, tmp_path / "x.parquet")
    assert (report.positions, report.left_out) == (6, 0)
    table = pq.read_table(tmp_path / "x.parquet").to_pylist()
    record = study.record(0)
    assert [row["position"] for row in table] == [at.text for at in record.positions()]
    assert [row["move"] for row in table] == [*record.move_texts(), None]
    assert [row["score"] for row in table] == [None, 30, 20, -40, None, None]
    assert {row["result"] for row in table} == {1.0}


def test_plain_text_of_trainers(tmp_path: Path) -> None:
    study = made(tmp_path, "game.pgn", PGN)
    assert export_positions(study, tmp_path / "x.txt").positions == 4
    first = (tmp_path / "x.txt").read_text().splitlines()[0]
    assert first == f"{study.record(0).position(1).text};30;1"
    export_positions(study, tmp_path / "x.plain", where="ply >= 3")
    blocks = (tmp_path / "x.plain").read_text().split("e\n")
    # Black is to move after three plies: what White says is turned, and Black has lost.
    said = [line for line in (tmp_path / "x.plain").read_text().splitlines() if line != "e"]
    assert len(blocks) >= 2
    assert said[1:5] == ["move e8e7", "score 40", "ply 3", "result -1"]
    assert said[6:10] == ["move h5e5", "score 31999", "ply 4", "result 1"]


def test_points_keep_their_parts_and_centipawns_have_none(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[1]SZ[9]KM[7]RE[B+2];B[ee];W[cc];B[gg])")
    study = hk.Study.create(tmp_path / "go", tmp_path / "game.sgf")
    table = tmp_path / "points.csv"
    table.write_text("game_id,ply,score\n0,0,0.6\n0,1,-12.25\n0,2,-0.0\n")
    evaluate(study, [f"table:{table}"])
    export_positions(study, tmp_path / "x.txt")
    lines = (tmp_path / "x.txt").read_text().splitlines()
    assert [line.split(";")[-2:] for line in lines] == [["0.6", "1"], ["-12.25", "1"], ["0", "1"]]
    chess_study = made(tmp_path, "game.pgn", PGN.replace("0.3]", "0.306]"))
    export_positions(chess_study, tmp_path / "y.txt")
    assert (tmp_path / "y.txt").read_text().splitlines()[0].endswith(";31;1")
    table.write_text("game_id,ply,value\n0,0,0.6\n")
    evaluate(study, [f"table:{table}"])
    with pytest.raises(hk.errors.StudyError, match=r"has values .*use \.csv, \.parquet or \.json"):
        export_positions(study, tmp_path / "z.txt")


def test_epd_is_read_by_python_chess(tmp_path: Path) -> None:
    study = made(tmp_path, "game.pgn", PGN)
    export_positions(study, tmp_path / "x.epd")
    lines = (tmp_path / "x.epd").read_text().splitlines()
    assert len(lines) == 6
    board, operations = chess.Board.from_epd(lines[3])
    assert board.epd() == " ".join(study.record(0).position(3).text.split()[:4])
    said = {"c0": "1-0", "ce": 40, "fmvn": 2, "hmvc": 1, "id": "game 0 ply 3"}
    assert operations == said
    assert list(operations) == sorted(said)
    assert board.fen() == study.record(0).position(3).text
    problems = hk.records.problems.read_problems((tmp_path / "x.epd").read_text()).problems
    assert [each.position for each in problems] == [
        study.record(0).position(ply).text for ply in range(6)
    ]


def test_packed_positions_are_read_by_cshogi(tmp_path: Path) -> None:
    study = made(tmp_path, "game.csa", CSA)
    report = export_positions(study, tmp_path / "x.bin")
    assert report.positions == 3  # the last has no move, two no score
    read = np.fromfile(tmp_path / "x.bin", cshogi.PackedSfenValue)
    assert read.dtype.itemsize == PACKED.itemsize == 40
    record = study.record(0)
    board = cshogi.Board()
    for row, ply, score in zip(read, (1, 2, 3), (-30, -20, -5), strict=True):
        board.set_psfen(row["sfen"])
        assert board.sfen().split()[:3] == record.position(ply).text.split()[:3]
        move = board.move_from_usi(record.move_texts()[ply])
        assert cshogi.move16_from_psv(int(row["move"])) == cshogi.move16(move)
        sign = 1 if record.position(ply).to_play == hk.Player.first else -1
        assert (row["score"], row["gamePly"], row["game_result"]) == (score, ply + 1, sign)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(HANDICAPS), st.lists(st.integers(0, 9999), max_size=160))
def test_any_position_is_packed_as_cshogi_packs_and_reads_it(
    handicap: str, choices: list[int]
) -> None:
    start = at = hk.Shogi(handicap=handicap)
    positions, moves = [at], []
    for choice in choices:
        legal = at.legal_moves
        if not legal or at.outcome is not None:
            break
        moves.append(str(legal[choice % len(legal)]))
        at = at.play(moves[-1])
        positions.append(at)
    board = cshogi.Board()
    for position in positions:
        packed = _core.packed_sfen(position)
        board.set_psfen(np.frombuffer(packed, np.uint8))
        assert board.sfen().split()[:3] == position.text.split()[:3]
        theirs = np.zeros(1, cshogi.PackedSfen)
        cshogi.Board(sfen=position.text).to_psfen(theirs)
        assert theirs["sfen"][0].tobytes() == packed
    board = cshogi.Board(sfen=start.text)
    for position, move in zip(positions, moves, strict=False):
        code = board.move_from_usi(move)
        packed_move = _core.packed_move(position.parse(move))
        assert cshogi.move16_from_psv(packed_move) == cshogi.move16(code)
        board.push(code)


def test_what_can_not_be_written_is_said(tmp_path: Path) -> None:
    study = made(tmp_path, "game.pgn", PGN)
    for name, words in (("x.bin", "SFEN"), ("x.doc", "ends in"), ("x", "ends in")):
        with pytest.raises(hk.errors.ParameterError, match=words):
            export_positions(study, tmp_path / name)
    with pytest.raises(hk.errors.StudyError, match="no position has"):
        export_positions(study, tmp_path / "x.plain", where="ply = 0")
    evaluate(study, ["ab:nodes=1"])
    with pytest.raises(
        hk.errors.StudyError, match=r"'\*' matches 2 evaluators, Alpha-beta, 1 node;"
    ):
        export_positions(study, tmp_path / "x.txt", evaluator="*")
    for ending in ("txt", "plain", "csv", "parquet", "json", "epd"):
        with pytest.raises(
            hk.errors.ParameterError,
            match="`evaluator` is required, one of Alpha-beta, 1 node; comments",
        ):
            export_positions(study, tmp_path / f"x.{ending}")
    assert export_positions(study, tmp_path / "x.csv", evaluator="comments").positions == 6
    assert export_positions(study, tmp_path / "x.txt", evaluator="comments").positions == 4
