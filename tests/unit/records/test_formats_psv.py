# SPDX-License-Identifier: Apache-2.0
"""YaneuraOu's PackedSfenValue, written by cshogi."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka.records.formats import recognize
from hyoka.study.exporting import export_positions

from ..record_texts import Read

cshogi = pytest.importorskip("cshogi")

Played = tuple[str, str, int]
"""A position, a move there, and its score in the mover's view."""


def random_play(rng: random.Random, plies: int, start: str = "") -> list[Played]:
    board = cshogi.Board(start) if start else cshogi.Board()
    played: list[Played] = []
    while len(played) < plies and not board.is_game_over():
        moves = list(board.legal_moves)
        drops = [move for move in moves if cshogi.move_is_drop(move)]
        move = rng.choice(drops if drops and rng.random() < 0.3 else moves)
        played.append((board.sfen(), cshogi.move_to_usi(move), rng.randint(-3000, 3000)))
        board.push(move)
    return played


def packed(played: list[Played], result: int, first_ply: int = 1) -> Any:
    """`result` is in the first mover's view."""
    rows = np.zeros(len(played), cshogi.PackedSfenValue)
    for i, (sfen, usi, score) in enumerate(played):
        board = cshogi.Board(sfen)
        board.to_psfen(rows[i : i + 1]["sfen"])
        rows[i]["move"] = psv_move(board, usi)
        rows[i]["score"], rows[i]["gamePly"] = score, first_ply + i
        rows[i]["game_result"] = result if i % 2 == 0 else -result
    return rows


def psv_move(board: Any, usi: str) -> int:
    """Of all bits, those that cshogi reads as the move."""
    square = {
        f"{file}{rank}": 9 * (file - 1) + "abcdefghi".index(rank)
        for file in range(1, 10)
        for rank in "abcdefghi"
    }
    bits = square[usi[2:4]]
    if usi[1] == "*":
        bits |= ("PLNSBRG".index(usi[0]) + 1) << 7 | 1 << 14
    else:
        bits |= square[usi[:2]] << 7 | usi.endswith("+") << 15
    assert cshogi.move16_from_psv(bits) == cshogi.move16(board.move_from_usi(usi))
    return bits


def test_games_by_cshogi_are_read_whole(read: Read) -> None:
    rng = random.Random(1)
    games = [random_play(rng, 80) for _ in range(8)]
    results = [rng.choice([1, 0, -1]) for _ in games]
    data = b"".join(
        packed(game, result).tobytes() for game, result in zip(games, results, strict=True)
    )
    records, refused = read(data)
    assert refused == []
    for record, game, result in zip(records, games, results, strict=True):
        assert (record.game, record.start) == ("shogi", "")
        assert record.move_texts() == [usi for _, usi, _ in game]
        assert record.result == (1 + result) / 2
        assert {each.ply: each.score for each in record.remarks} == {
            i: score if i % 2 == 0 else -score for i, (*_, score) in enumerate(game)
        }


def test_positions_apart_are_records_of_one_move(read: Read) -> None:
    rng = random.Random(2)
    played = [each for _ in range(6) for each in random_play(rng, 120)]
    rng.shuffle(played)
    plies = [int(sfen.split()[3]) for sfen, _, _ in played]
    data = b"".join(
        packed([each], 1, ply).tobytes() for each, ply in zip(played, plies, strict=True)
    )
    records, refused = read(data)
    assert refused == []
    for record, (sfen, usi, score) in zip(records, played, strict=True):
        start = record.position(0)
        assert start.text == sfen
        assert record.move_texts() == [usi]
        is_first = start.to_play == hk.Player.first
        assert [each.score for each in record.remarks] == [score if is_first else -score]
        assert record.result == float(is_first)


@pytest.mark.parametrize("handicap", hk.Shogi.handicap_names())
def test_handicap_positions_are_read(handicap: str, read: Read) -> None:
    start = hk.Shogi(handicap=handicap).text
    played = random_play(random.Random(3), 20, start)
    (record,), refused = read(packed(played, 1).tobytes(), "psv")
    assert refused == []
    assert record.position(0).text.split()[:3] == start.split()[:3]
    assert record.move_texts() == [usi for _, usi, _ in played]
    assert record.result == 0.0  # White moves first, and wins


def test_a_study_writes_what_it_has_read(tmp_path: Path) -> None:
    rng = random.Random(4)
    games = [packed(random_play(rng, 60), rng.choice([1, 0, -1])) for _ in range(5)]
    data = b"".join(each.tobytes() for each in games)
    (tmp_path / "train.bin").write_bytes(data)
    study = hk.Study.create(tmp_path / "study", tmp_path / "train.bin")
    study.evaluate("comments")
    export_positions(study, tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == data


def test_mates_and_missing_scores(read: Read) -> None:
    played = random_play(random.Random(5), 4)
    rows = packed(played, 1)
    rows["score"] = [31997, -31996, 32002, 31000]
    (record,), _ = read(rows.tobytes())
    said = [(each.ply, each.mate, each.score) for each in record.remarks]
    assert said == [(0, 3, None), (1, 4, None), (3, None, -31000)]


@pytest.mark.parametrize("special", [0, 1 << 7 | 1, 2 << 7 | 2, 3 << 7 | 3])
def test_what_is_no_move_ends_a_game(special: int, read: Read) -> None:
    rows = packed(random_play(random.Random(6), 5), 1)
    rows["move"][4] = special  # none, null, resignation, win
    (record,), refused = read(rows.tobytes())
    assert (refused, len(record.moves), len(record.remarks)) == ([], 4, 5)


def test_bad_entries_are_refused_alone(read: Read) -> None:
    rng = random.Random(7)
    rows = packed(random_play(rng, 60), 1)[::2]  # each stands alone
    bad = rows.copy()
    bad["sfen"][1] = 255
    bad["game_result"][2] = 5
    bad["move"][3] = psv_move(cshogi.Board(), "7g7f") ^ 1  # 7g to a square that it does not reach
    good, none = read(rows.tobytes(), "psv")
    records, refused = read(bad.tobytes() + b"rest", "psv")
    assert none == []
    assert len(good) == len(rows)
    kinds = [(each.number, each.fault) for each in refused]
    assert kinds == [
        *((2, "unreadable"), (3, "unreadable"), (4, "illegal move")),
        (len(rows) + 1, "unreadable"),
    ]
    texts = [each.position(0).text for each in good]
    assert [each.position(0).text for each in records] == texts[:1] + texts[4:]


def test_damaged_files_never_raise(read: Read) -> None:
    rng = random.Random(8)
    data = packed(random_play(rng, 30), 1).tobytes()
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 20)):
            damaged[rng.randrange(len(data))] = rng.randrange(256)
        records, _ = read(bytes(damaged), "psv")
        for record in records:
            assert len(list(record.positions())) == len(record.moves) + 1


def test_only_packed_positions_are_taken_for_such() -> None:
    rng = random.Random(9)
    data = packed(random_play(rng, 30), 0).tobytes()
    assert recognize(data) == recognize(data[:4096]) == recognize(data[:40]) == "psv"
    assert all(recognize(rng.randbytes(400)) != "psv" for _ in range(500))
    assert recognize(bytes(400)) is None
    assert recognize(b"just some words, " * 30) is None
