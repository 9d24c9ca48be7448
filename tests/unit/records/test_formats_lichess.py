# SPDX-License-Identifier: Apache-2.0
"""Lichess's database: PGN in zstd with evaluations and clocks, read by python-chess as well."""

import io
import random
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pyarrow as pa
import pytest

import hyoka as hk

GAMES = 12
Played = tuple[str, float | None, int | None, float | None]
"""A move, White's centipawns, moves to mate and the clock."""


def database(seed: int = 1) -> str:
    """Games as Lichess writes them; some are evaluated."""
    rng = random.Random(seed)
    text = ""
    for number in range(GAMES):
        board, words = chess.Board(), []
        is_evaluated = number % 3 != 2
        clocks = [300.0, 300.0]
        for ply in range(rng.randint(5, 70)):
            if board.is_game_over():
                break
            move = rng.choice(list(board.legal_moves))
            dots = "." if board.turn else "..."
            words.append(f"{board.fullmove_number}{dots} {board.san(move)}")
            board.push(move)
            clocks[ply % 2] -= rng.randint(0, 3)
            minutes, seconds = divmod(int(clocks[ply % 2]), 60)
            clock = f"[%clk 0:{minutes:02}:{seconds:02}]"
            evaluation = rng.choice(
                [
                    f"[%eval {rng.randint(-900, 900) / 100:.2f}] ",
                    f"[%eval #{rng.choice([-3, 1, 12])}] ",
                ]
            )
            words.append(f"{{ {evaluation if is_evaluated else ''}{clock} }}")
        result = rng.choice(["1-0", "0-1", "1/2-1/2"])
        text += (
            '[Event "Rated Blitz game"]\n[Site "https://lichess.org/abcd1234"]\n'
            '[Date "2024.01.01"]\n[Round "-"]\n'
            f'[White "w{number}"]\n[Black "b{number}"]\n[Result "{result}"]\n'
            '[UTCDate "2024.01.01"]\n[UTCTime "00:00:41"]\n[WhiteElo "1766"]\n[BlackElo "1762"]\n'
            '[WhiteRatingDiff "+6"]\n[BlackRatingDiff "-6"]\n[ECO "C20"]\n'
            '[Opening "King\'s Pawn"]\n[TimeControl "300+0"]\n[Termination "Normal"]\n\n'
            f"{' '.join(words)} {result}\n\n\n"
        )
    return text


def packed(text: str, *, skippable: bool) -> bytes:
    """Several frames; pzstd puts one with a size before each."""
    codec = pa.Codec("zstd")
    data = text.encode()
    size = len(data) // 3 + 1
    frames = [
        codec.compress(data[at : at + size], asbytes=True) for at in range(0, len(data), size)
    ]
    if not skippable:
        return b"".join(frames)
    return b"".join(
        b"\x50\x2a\x4d\x18\x04\x00\x00\x00" + len(frame).to_bytes(4, "little") + frame
        for frame in frames
    )


def as_python_chess_reads(
    text: str,
) -> list[list[Played]]:
    games: list[list[Played]] = []
    stream = io.StringIO(text)
    while (game := chess.pgn.read_game(stream)) is not None:
        rows: list[Played] = []
        for node in game.mainline():
            score = node.eval()
            white = None if score is None else score.white()
            rows.append(
                (
                    node.move.uci(),
                    None if white is None else white.score(),
                    None if white is None else white.mate(),
                    node.clock(),
                )
            )
        games.append(rows)
    return games


@pytest.mark.parametrize("skippable", [False, True])
def test_a_database_is_read_as_python_chess_reads_it(skippable: bool, tmp_path: Path) -> None:
    path = tmp_path / "lichess_db_standard_rated_2024-01.pgn.zst"
    path.write_bytes(packed(database(), skippable=skippable))
    study = hk.Study.create(tmp_path / "study", path)
    study.evaluate("comments")
    rows = study.sql(
        "select r.game_id, r.ply, e.score, e.mate, r.clock_s "
        "from remarks r left join evaluations e on r.game_id = e.game_id and r.ply = e.ply "
        "order by r.game_id, r.ply"
    ).to_pylist()
    expected = as_python_chess_reads(database())
    assert len(expected) == GAMES
    seen: list[list[Played]] = [[] for _ in expected]
    moves = [record.move_texts() for _, record in study.records()]
    for row in rows:
        game, ply = row["game_id"], row["ply"]
        seen[game].append((moves[game][ply - 1], row["score"], row["mate"], row["clock_s"]))
    assert seen == expected


def test_a_study_is_written_back_with_its_evaluations(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn.zst"
    path.write_bytes(packed(database(2), skippable=True))
    study = hk.Study.create(tmp_path / "study", path)
    out = tmp_path / "again.pgn"
    hk.write_records((record for _, record in study.records()), out)
    assert as_python_chess_reads(out.read_text()) == as_python_chess_reads(database(2))
