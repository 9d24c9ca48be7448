# SPDX-License-Identifier: Apache-2.0
"""A match's games in the forms others read: Parquet tables, and records in the game's notation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from hyoka.agents import PYTHON_GAMES
from hyoka.arena.journal import PlayedGame
from hyoka.games import game_facts
from hyoka.records import write_records
from hyoka.storage.parquet import write_parquet

GAMES_TABLE: Final = "games.parquet"
MOVES_TABLE: Final = "moves.parquet"


def records_name(game: str) -> str:
    """The name of the file with a match's records: `hyoka records` reads it as any other."""
    return f"games{game_facts(game).record_suffix}"


def export_match(
    folder: Path, games: Sequence[PlayedGame], *, engine_comments: bool = True
) -> list[Path]:
    """Write a row a game, a row a move, and the records, in the order of the games' numbers.

    All of it can be made again from the journal at any time. PGN has the players' evaluations as
    match runners write them, `{+0.35/12 1.2s}`, or as commands without `engine_comments`.
    """
    ordered = sorted(games, key=lambda game: game.pairing.number)
    if not ordered:
        return []
    files = [folder / GAMES_TABLE, folder / MOVES_TABLE]
    write_parquet(games_table(ordered), files[0])
    write_parquet(moves_table(ordered), files[1])
    game = ordered[0].record.game
    if not game.startswith(PYTHON_GAMES):  # one written in Python has no notation
        files.append(folder / records_name(game))
        records = [each.record for each in ordered]
        write_records(records, files[2], engine_comments=engine_comments)
    return files


def games_table(games: Sequence[PlayedGame]) -> pa.Table:
    """A row a game."""
    columns: dict[str, Sequence[object]] = {
        "game_id": [game.pairing.number for game in games],
        "pair_id": [game.pairing.pair_id for game in games],
        "opening_id": [game.pairing.opening_id for game in games],
        "game": [game.record.game for game in games],
        "first": [game.record.first for game in games],
        "second": [game.record.second for game in games],
        "result": [game.result for game in games],
        "ending": [game.record.ending for game in games],
        "reason": [game.reason for game in games],
        "fault": [game.fault or None for game in games],
        "plies": [len(game.record) for game in games],
        "book_plies": [sum(remark.book for remark in game.record.remarks) for game in games],
        "margin": [game.record.margin for game in games],
        "komi": [game.record.komi for game in games],
        "opening": [game.record.opening for game in games],
        "start": [game.record.start for game in games],
        "moves": [game.record.moves.astype("<u2").tobytes() for game in games],
        "date": [game.record.date for game in games],
        "seconds": [game.seconds for game in games],
        "worker": [game.worker for game in games],
    }
    return pa.table(columns)


def moves_table(games: Sequence[PlayedGame]) -> pa.Table:
    """A row a move: what the player who made it thought of it, and its time."""
    remarks = [(game.pairing, remark) for game in games for remark in game.record.remarks]
    numbers = {
        "value": pa.float32(),
        "score": pa.float32(),
        "mate": pa.int16(),
        "depth": pa.int16(),
        "clock_s": pa.float32(),
        "spent_s": pa.float32(),
    }
    columns: dict[str, object] = {
        "game_id": np.array([pairing.number for pairing, _ in remarks], dtype=np.int64),
        "pair_id": np.array([pairing.pair_id for pairing, _ in remarks], dtype=np.int64),
        "opening_id": np.array([pairing.opening_id for pairing, _ in remarks], dtype=np.int64),
        "ply": np.array([remark.ply for _, remark in remarks], dtype=np.int32),
        "book": np.array([remark.book for _, remark in remarks], dtype=np.bool_),
    }
    for name, kind in numbers.items():
        columns[name] = pa.array([getattr(remark, name) for _, remark in remarks], kind)
    return pa.table(columns)
