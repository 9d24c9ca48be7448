# SPDX-License-Identifier: Apache-2.0
"""Tables of games: how they are made, cut, walked, refused and interrupted."""

import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import hyoka as hk
from hyoka import _core
from hyoka.records import Record
from hyoka.records.bulk import GameTable, Progress
from hyoka.search import linear_evaluation

OPENING: Final = ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6")
# Checks and captures without end: a quiescence search of it takes its time.
WILD: Final = "lB6+P/4kl1R1/3g3p1/p1ps1NP2/1L1np2nL/1PPS1p3/PpnPPPg2/3GK4/1+b3R3 w 3Pg2sp 104"


def chess_record(moves: int) -> Record:
    game, codes = hk.Chess(), list[int]()
    for text in OPENING[:moves]:
        codes.append(game.parse(text).code)
        game = game.play(text)
    return Record("chess", np.array(codes, np.uint16))


def table_of(*lengths: int) -> GameTable:
    return GameTable.from_records(chess_record(length) for length in lengths)


def without_end() -> GameTable:
    """A table that no pass gets through: one position, wanted again and again."""
    table = GameTable.from_records([Record("shogi", np.zeros(0, np.uint16), start=WILD)])
    rows = 10**7
    return replace(table, plies=np.zeros(rows, np.int32), row_offsets=np.array([0, rows]))


def test_a_table_has_a_row_a_position() -> None:
    table = table_of(2, 0, 8)
    assert len(table) == 3 + 1 + 9
    assert table.game_ids.tolist() == [0] * 3 + [1] + [2] * 9
    assert table.plies.tolist() == [0, 1, 2, 0, *range(9)]
    assert [position.ply for position in table.positions()] == table.plies.tolist()


def test_a_table_is_of_one_game() -> None:
    with pytest.raises(hk.errors.StudyError, match="one game, not of chess, go9"):
        GameTable.from_records([chess_record(1), Record("go9", np.zeros(0, np.uint16))])
    with pytest.raises(hk.errors.StudyError, match="not of none"):
        GameTable.from_records([])


@pytest.mark.parametrize("positions", [1, 3, 4, 12, 1000])
def test_chunks_are_the_table_in_pieces(positions: int) -> None:
    table = table_of(2, 0, 8, 1, 5, 8)
    chunks = list(table.chunks(positions))
    assert all(len(chunk) <= max(positions, 9) for chunk in chunks)
    for whole, pieces in (
        (table.game_ids, [chunk.game_ids for chunk in chunks]),
        (table.plies, [chunk.plies for chunk in chunks]),
        (table.terms().amounts, [chunk.terms().amounts for chunk in chunks]),
    ):
        np.testing.assert_array_equal(whole, np.concatenate(pieces))


def test_games_without_rows_are_not_walked() -> None:
    keep = np.array([True, False, True])
    base = table_of(2, 5, 3)
    bad = base.moves.copy()
    bad[base.move_offsets[1]] = 0  # not a move of the game that nobody asks for
    table = GameTable.of_all_positions(
        "chess",
        ids=base.ids,
        starts=base.starts,
        komi=base.komi,
        move_offsets=base.move_offsets,
        moves=bad,
        keep=keep,
    )
    assert table.game_ids.tolist() == [0] * 3 + [2] * 4
    assert (table.outcomes() == 2).all()
    assert [game for game, *_ in table.replays()] == [0, 2]
    assert sum(map(len, table.chunks(3))) == len(table)


def test_a_table_without_rows_is_no_trouble() -> None:
    table = replace(table_of(2), plies=np.zeros(0, np.int32), row_offsets=np.zeros(2, np.int64))
    assert len(table.terms()) == len(table.outcomes()) == 0
    assert list(table.chunks()) == list(table.positions()) == []
    assert table.planes().planes.shape == (0, 15, 8, 8)


def test_an_illegal_move_names_its_game_whatever_the_threads() -> None:
    records = [chess_record(8) for _ in range(200)]
    for number in (70, 150):
        codes = records[number].moves.copy()
        codes[4] = records[number].moves[0]
        records[number] = Record("chess", codes)
    table = GameTable.from_records(records)
    for threads in (1, 4):
        with pytest.raises(
            hk.errors.IllegalMoveError, match=r"^game 70: illegal move e2e4 at ply 5"
        ):
            table.terms(threads=threads)
    # Reading only what comes before never meets it.
    early = replace(table, plies=np.minimum(table.plies, 4))
    assert len(early.terms()) == len(table)


def test_a_code_or_a_start_that_is_none_names_its_game() -> None:
    shogi = Record("shogi", np.array([2**15 - 2], np.uint16))
    with pytest.raises(hk.errors.NotationError, match=r"^game 0: no move has the code 32766"):
        GameTable.from_records([shogi]).outcomes()
    start = Record("chess", np.zeros(0, np.uint16), start="nonsense")
    with pytest.raises(hk.errors.NotationError, match=r"^game 0: "):
        GameTable.from_records([start]).outcomes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"komi": np.zeros(1)}, "komi: one number a game"),
        ({"starts": pa.array(["", "", ""])}, "starts: one offset more"),
        ({"move_offsets": np.array([0, 2, 99])}, "moves: offsets beyond"),
        ({"move_offsets": np.array([2, 0, 5])}, "moves: offsets must not fall"),
        ({"move_offsets": np.array([-2, 0, 5])}, "moves: offsets beyond"),
        ({"row_offsets": np.array([0, 3])}, "plies: one offset more"),
        ({"row_offsets": np.array([0, 3, 8])}, "plies: every one belongs to a game"),
        ({"row_offsets": np.array([1, 3, 9])}, "plies: every one belongs to a game"),
        ({"plies": np.array([0, 1, 3] + [0] * 6, np.int32)}, "ply 3 of game 0"),
        ({"plies": np.array([0, -1, 2] + [0] * 6, np.int32)}, "ply -1 of game 0"),
        ({"plies": np.array([0, 1, 2, 4, 3] + [5] * 4, np.int32)}, "ply 3 of game 1"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(table_of(2, 5), **change).terms()


def test_what_a_game_has_not_is_refused() -> None:
    with pytest.raises(KeyError, match="no_such"):
        table_of(1).describe(["no_such"])
    othello = GameTable.from_records([Record("othello", np.zeros(0, np.uint16))])
    with pytest.raises(ValueError, match="othello has no quiescence search"):
        othello.quiet_terms(linear_evaluation("othello").flat)
    with pytest.raises(ValueError, match="two weights a term"):
        table_of(1).quiet_terms(np.zeros(3, np.float32))


def test_ctrl_c_ends_a_pass() -> None:
    table = without_end()
    weights = linear_evaluation("shogi").flat
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        table.quiet_terms(weights, threads=2)


def test_a_progress_callback_may_end_a_bulk_call() -> None:
    counts: list[int] = []

    def enough(done: int) -> None:
        counts.append(done)
        raise InterruptedError

    progress: Progress = enough
    with pytest.raises(InterruptedError):
        without_end().quiet_terms(linear_evaluation("shogi").flat, progress=progress)
    assert len(counts) == 1


def test_a_replay_goes_wherever_it_is_asked() -> None:
    record = chess_record(8)
    replay = _core.Replay("chess", "", float("nan"), record.moves)
    positions = list(record.positions())
    for ply in (3, 8, 0, 5, 5, 4):
        assert replay.position(ply) == positions[ply]
        line: Any = replay.line(ply)
        assert (len(line), line.position, line.start) == (ply, positions[ply], hk.Chess())
    with pytest.raises(IndexError, match="no such ply"):
        replay.position(9)
    with pytest.raises(IndexError, match="no such ply"):
        replay.line(9)


def test_a_line_begins_anew_where_the_rules_would_have_ended_the_game() -> None:
    game, codes = hk.Chess(), list[int]()
    for text in ("g1f3", "g8f6", "f3g1", "f6g8") * 3:
        codes.append(game.parse(text).code)
        game = game.play(text)
    replay = _core.Replay("chess", "", float("nan"), np.array(codes, np.uint16))
    lines: list[Any] = [replay.line(ply) for ply in range(len(codes) + 1)]
    # The start has come back a second time after eight moves: that ended the game.
    assert [len(line) for line in lines] == [*range(9), 0, 0, 0, 0]
    assert [line.position.ply for line in lines] == list(range(13))
    assert lines[8].outcome is not None
    assert lines[9].outcome is None


def test_a_study_crosses_as_one_table(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(
        "1. e4 e5 2. Nf3 *\n\n1. d4 *\n\n1. e4 e5 2. Nf3 *\n\n1. c4 c5 *\n\n", encoding="utf-8"
    )
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")
    table = study.game_table()
    assert table.game_ids.tolist() == [0] * 4 + [1] * 2 + [3] * 3  # the third is a duplicate
    records = dict(study.records())
    wanted = zip(table.game_ids.tolist(), table.plies.tolist(), strict=True)
    assert list(table.positions()) == [records[game].position(ply) for game, ply in wanted]
    some = study.game_table("ply = 2")
    assert (some.ids.tolist(), some.plies.tolist()) == ([0, 3], [2, 2])
    assert list(some.positions()) == [records[game].position(2) for game in (0, 3)]
    assert len(study.game_table("ply > 99")) == 0
    with pytest.raises(hk.errors.StudyError, match="in the order of their games"):
        study.game_table_of(np.array([1, 0]), np.array([0, 0]))
    with pytest.raises(hk.errors.StudyError, match="1 of 2 games are missing"):
        study.game_table_of(np.array([1, 99]), np.array([0, 0]))
