# SPDX-License-Identifier: Apache-2.0
"""Problem sets against python-chess, cshogi and sgfmill."""

import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import chess
import cshogi
import numpy as np
import pytest
from numpy.typing import NDArray
from sgfmill import boards, sgf

import hyoka as hk
from hyoka.games import GAMES
from hyoka.records.problems import Problem, load_sgf, read_problems

CHESS = "chess/epd_suites.zip"
SHOGI = "shogi/mate_and_nextmove.zip"


def lines_of(archive: Path, ending: str) -> dict[str, list[str]]:
    """The lines of all files in an archive whose names end so."""
    with zipfile.ZipFile(archive) as files:
        names = [name for name in files.namelist() if name.endswith(ending)]
        return {name: files.read(name).decode().splitlines() for name in names}


def moves_of(value: object) -> set[str]:
    return {move.uci() for move in value} if isinstance(value, list) else set()


def assert_same_as_epd(problem: Problem, line: str) -> None:
    board = chess.Board()
    operations = board.set_epd(line)
    assert problem.position == board.fen()
    assert set(problem.best) == moves_of(operations.get("bm"))
    assert set(problem.avoid) == moves_of(operations.get("am"))
    assert problem.id == operations.get("id", "")
    variation = operations.get("pv", [])
    assert isinstance(variation, list)
    assert [list(line) for line in problem.lines] == [[m.uci() for m in variation]] * bool(
        variation
    )
    view = 1 if board.turn == chess.WHITE else -1
    score = operations.get("ce")
    assert problem.score == (None if score is None else view * int(str(score)))
    if problem.points:
        shares = [share.split("=") for share in str(operations["c0"]).split(", ")]
        assert problem.points == {board.parse_san(san).uci(): int(n) for san, n in shares}


def test_every_line_of_the_epd_suites_agrees(shared_data: Callable[[str], Path]) -> None:
    for name, lines in lines_of(shared_data(CHESS), ".epd").items():
        problems = read_problems("\n".join(lines), source=name).problems
        assert len(problems) == len(lines)
        for problem, line in zip(problems, lines, strict=True):
            if "perft" in name:
                board = chess.Board(line.split(";")[0].strip())
                assert problem.position == board.fen()
                assert problem.perft[1] == board.legal_moves.count()
                assert list(problem.perft) == list(range(1, len(problem.perft) + 1))
            else:
                assert_same_as_epd(problem, line)


def random_board(rng: random.Random) -> chess.Board:
    board = chess.Board()
    for _ in range(rng.randrange(80)):
        if not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
    return board


def test_what_python_chess_writes_is_read_as_it_was_meant() -> None:
    rng = random.Random(1)
    count = 0
    for _ in range(300):
        board = random_board(rng)
        legal = list(board.legal_moves)
        if len(legal) < 4:
            continue
        rng.shuffle(legal)
        after = board.copy()
        variation: list[chess.Move] = []
        while len(variation) < 5 and not after.is_game_over():
            variation.append(rng.choice(list(after.legal_moves)))
            after.push(variation[-1])
        line = board.epd(
            bm=legal[: rng.randint(1, 2)],
            am=legal[2 : rng.randint(3, 4)],
            pv=variation,
            ce=rng.randint(-900, 900),
            hmvc=board.halfmove_clock,
            fmvn=board.fullmove_number,
            id=rng.choice(["plain", 'with "quotes"', "a; semicolon", "back\\slash", "é 詰"]),
        )
        suite = read_problems(line)
        assert suite.refused == (), line
        assert_same_as_epd(suite.problems[0], line)
        count += 1
    assert count > 200


def test_any_move_text_is_refused_or_read_alike() -> None:
    """Letters of real SANs put together anew: most are illegal, many ambiguous, some right."""
    rng = random.Random(2)
    verdicts = {True: 0, False: 0}
    for _ in range(150):
        board = random_board(rng)
        sans = [board.san(move) for move in board.legal_moves]
        for _ in range(20 if sans else 0):
            one, other = rng.choice(sans), rng.choice(sans)
            cut = rng.randrange(1, 4)
            text = rng.choice([one[:cut] + other[cut:], one[:1] + one[-2:], one.rstrip("+#"), one])
            suite = read_problems(f"{board.epd()} bm {text};", format="epd")
            try:
                expected = board.parse_san(text).uci()
            except ValueError:
                assert suite.problems == (), (board.fen(), text)
            else:
                assert [problem.best for problem in suite.problems] == [(expected,)], text
            verdicts[bool(suite.problems)] += 1
    assert min(verdicts.values()) > 300


def test_solutions_of_mates_are_played_and_end_in_mate(shared_data: Callable[[str], Path]) -> None:
    board = cshogi.Board()
    for name, lines in lines_of(shared_data(SHOGI), ".sfen").items():
        for problem in read_problems("\n".join(lines), source=name).problems[::20]:
            board.set_sfen(problem.position)
            for move in (*problem.moves, *(problem.lines[0] if problem.lines else ())):
                assert board.is_legal(board.move_from_usi(move))
                board.push_usi(move)
            if problem.mate:
                assert board.is_check()
                assert board.is_game_over()


def stones_of(game: sgf.Sgf_game, move_number: int | None) -> NDArray[np.int8]:
    """The board before a move (at the end for None) as sgfmill has it, with set-ups in between."""
    board = boards.Board(game.get_size())
    played = 0
    for node in game.get_main_sequence():
        if node.has_setup_stones():
            blacks, whites, empties = node.get_setup_stones()
            for points, color in ((blacks, "b"), (whites, "w"), (empties, None)):
                for row, column in points:
                    board.board[row][column] = color
        color, point = node.get_move()
        if color is not None:
            played += 1
            if played == move_number:
                break
            if point is not None:
                board.play(*point, color)
    value = {None: 0, "b": 1, "w": -1}
    return np.array([[value[stone] for stone in row] for row in reversed(board.board)], np.int8)


@pytest.mark.parametrize("archive", ["gnugo_regression", "fuego_regression"])
def test_records_give_the_stones_that_sgfmill_gives(
    archive: str, shared_data: Callable[[str], Path]
) -> None:
    rng = random.Random(3)
    agreed = 0
    with zipfile.ZipFile(shared_data(f"go_tactics/{archive}.zip")) as files:
        for name in (name for name in files.namelist() if name.endswith(".sgf")):
            record = files.read(name)
            tree = sgf.Sgf_game.from_bytes(record)
            if f"go{tree.get_size()}" not in GAMES:
                with pytest.raises(hk.errors.NotationError, match="none of ours"):
                    load_sgf(record)
                continue
            moves = [node.get_move()[0] for node in tree.get_main_sequence()]
            count = sum(color is not None for color in moves)
            number = rng.choice((None, rng.randint(1, count + 1)))
            game = load_sgf(record, number)
            assert (game.cells == stones_of(tree, number)).all(), (name, number)
            agreed += 1
    assert agreed > 350
