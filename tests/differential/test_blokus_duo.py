# SPDX-License-Identifier: Apache-2.0
"""Blokus Duo against a slow twin and real games."""

import gzip
import random
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sgfmill import sgf_grammar

import hyoka as hk

from .blokus_twin import BlokusTwin, Squares, pieces, placements

COLUMNS = "abcdefghijklmn"


def text_of(squares: Squares) -> str:
    return ",".join(f"{COLUMNS[x - 1]}{y}" for x, y in squares) or "pass"


def squares_of(move: hk.BlokusDuo.Move) -> Squares:
    names = [] if str(move) == "pass" else str(move).split(",")
    return frozenset((COLUMNS.index(name[0]) + 1, int(name[1:])) for name in names)


def marked(board: NDArray[np.bool_]) -> Squares:
    """The squares that are true on a board as drawn."""
    return frozenset((int(column) + 1, 14 - int(row)) for row, column in np.argwhere(board))


def assert_same(game: hk.BlokusDuo, twin: BlokusTwin, moves: set[Squares]) -> None:
    listed = [squares_of(move) for move in game.legal_moves]
    assert len(listed) == len(set(listed))
    assert set(listed) == moves, game.text
    assert (game.outcome is None) == bool(moves)
    assert game.score == twin.score()
    for number, player in enumerate(hk.Player):
        assert marked(game.cells == (-1) ** number) == twin.laid[number]
        assert marked(game.attaching(player) == 1) == twin.attaching(number)


def test_the_twin_knows_every_piece_and_every_placement() -> None:
    assert len(pieces()) == 21
    assert sum(len(placements(piece)) for piece in pieces()) == 13_729


def test_random_games_agree_at_every_ply() -> None:
    rng = random.Random(1)
    passes = 0
    for _ in range(15):
        game, twin = hk.BlokusDuo(), BlokusTwin()
        while moves := twin.legal_moves():
            assert_same(game, twin, moves)
            squares = rng.choice(sorted(moves, key=sorted))
            passes += not squares
            game = game.play(text_of(squares))
            twin.play(squares)
        assert_same(game, twin, moves)
        assert game.outcome is not None
        assert game.outcome.value == (0.5 if twin.score() == 0 else twin.score() > 0)
    assert passes > 10


def test_any_code_is_a_legal_move_exactly_when_the_twin_can_lay_it() -> None:
    rng = random.Random(2)
    game, twin = hk.BlokusDuo(), BlokusTwin()
    codes = [hk.BlokusDuo.Move.from_code(code) for code in range(13_730)]
    while moves := twin.legal_moves():
        assert {squares_of(move) for move in codes if game.is_legal(move)} == moves
        squares = rng.choice(sorted(moves, key=sorted))
        game = game.play(text_of(squares))
        twin.play(squares)
    assert not any(map(game.is_legal, codes))


def test_both_texts_of_every_placement_name_it() -> None:
    game = hk.BlokusDuo()
    for squares in chain.from_iterable(map(placements, pieces())):
        move = game.parse(text_of(squares))
        assert squares_of(move) == squares
        assert game.parse(str(move)) == move
        assert game.parse(move.short_code()) == move


def test_every_code_of_the_table_names_the_squares_it_lists(
    shared_data: Callable[[str], Path],
) -> None:
    game = hk.BlokusDuo()
    _, *rows = shared_data("blokus_duo/move_codes.tsv").read_text().splitlines()
    assert len(rows) == 21 * 8
    for row in rows:
        piece, rotation, cells = row.split("\t")
        offsets = [tuple(map(int, cell.split(","))) for cell in cells.split()]
        for x in range(1, 15):
            for y in range(1, 15):
                code = f"{x:x}{y:x}{piece}{rotation}"
                squares = frozenset((x + dx, 15 - (y + dy)) for dx, dy in offsets)
                if all(1 <= column <= 14 and 1 <= line <= 14 for column, line in squares):
                    assert game.parse(code) == game.parse(text_of(squares))
                else:
                    with pytest.raises(hk.errors.NotationError):
                        game.parse(code)


def finish(game: hk.BlokusDuo) -> hk.BlokusDuo:
    """The records leave out passes at the end."""
    while game.outcome is None:
        game = game.play("pass")
    return game


def test_real_games_replay_to_their_results(shared_data: Callable[[str], Path]) -> None:
    lines = gzip.decompress(shared_data("blokus_duo/mcts_selfplay.blksgf.gz").read_bytes())
    games = lines.decode().splitlines()
    assert len(games) == 942
    for record in games:
        game = hk.BlokusDuo()
        for color, squares, code in re.findall(r";([BW])\[([^]]*)\]C\[([^]]*)\]", record):
            player = hk.Player.first if color == "B" else hk.Player.second
            if game.to_play != player:
                game = game.play("pass")
            assert game.parse(squares) == game.parse(code)
            game = game.play(squares)
        game = finish(game)
        left = re.search(r"tiles left (\d+)/(\d+)", record)
        result = re.search(r"RE\[(?:([BW])\+)?(\d+)\]", record)
        assert left
        assert result
        laid = [89 - int(tiles) for tiles in left.groups()]
        assert [(game.cells > 0).sum(), (game.cells < 0).sum()] == laid
        assert game.score == {"B": 1, "W": -1, None: 0}[result[1]] * int(result[2])


def book_lines(tree: sgf_grammar.Coarse_game_tree, game: hk.BlokusDuo) -> Iterator[hk.BlokusDuo]:
    for node in tree.sequence:
        for color in ("B", "W"):
            for squares in node.get(color, []):
                assert (game.to_play == hk.Player.first) == (color == "B")
                game = game.play(squares.decode())
    yield game
    for child in tree.children:
        yield from book_lines(child, game)


def test_every_variation_of_the_opening_book_is_legal(shared_data: Callable[[str], Path]) -> None:
    book = sgf_grammar.parse_sgf_game(shared_data("blokus_duo/book_duo.blksgf").read_bytes())
    assert len(list(book_lines(book, hk.BlokusDuo()))) > 50
