# SPDX-License-Identifier: Apache-2.0
"""Perft against published tables, and against other move generators where no table is known."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import cshogi
import pytest

import hyoka as hk
from hyoka.games import Game

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
MANY_DROPS = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"


def counts(game: Game, depth: int) -> list[int]:
    return [game.perft(plies) for plies in range(1, depth + 1)]


def test_chess_agrees_with_the_table_from_the_start() -> None:
    assert counts(hk.Chess(), 6) == [20, 400, 8_902, 197_281, 4_865_609, 119_060_324]


def test_chess_agrees_with_the_table_of_kiwipete() -> None:
    expected = [48, 2_039, 97_862, 4_085_603, 193_690_690]
    assert counts(hk.Chess.from_text(KIWIPETE), 5) == expected


@pytest.mark.parametrize("suite", ["perft.epd", "perft_marcel.epd"])
def test_chess_agrees_with_every_position_of_a_suite(
    suite: str, shared_data: Callable[[str], Path]
) -> None:
    largest = 2_000_000
    with zipfile.ZipFile(shared_data("chess/epd_suites.zip")) as archive:
        lines = archive.read(suite).decode().splitlines()
    assert lines
    for line in lines:
        fen, *entries = line.split(";")
        game = hk.Chess.from_text(fen)
        for entry in entries:
            depth, count = entry.split()
            if int(count) <= largest:
                assert game.perft(int(depth.removeprefix("D"))) == int(count), f"{fen} {entry}"


def test_shogi_agrees_with_the_table_from_the_start() -> None:
    assert counts(hk.Shogi(), 5) == [30, 900, 25_470, 719_731, 19_861_490]


def test_shogi_agrees_with_the_table_of_a_position_with_many_drops() -> None:
    expected = [207, 28_684, 4_809_015, 516_925_165]
    assert counts(hk.Shogi.from_text(MANY_DROPS), 4) == expected


def cshogi_perft(board: cshogi.Board, depth: int) -> int:
    if depth == 1:
        return len(board.legal_moves)
    lines = 0
    for move in board.legal_moves:
        board.push(move)
        lines += cshogi_perft(board, depth - 1)
        board.pop()
    return lines


@pytest.mark.parametrize("name", hk.Shogi.handicap_names())
def test_shogi_agrees_with_cshogi_from_a_handicap_start(name: str) -> None:
    game = hk.Shogi(handicap=name)
    assert game.perft(3) == cshogi_perft(cshogi.Board(game.text), 3)


def test_othello_agrees_with_the_table_that_counts_a_finished_game_as_a_line() -> None:
    expected = [4, 12, 56, 244, 1_396, 8_200, 55_092, 390_216, 3_005_288, 24_571_284]
    assert counts(hk.Othello(), 10) == expected
