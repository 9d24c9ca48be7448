# SPDX-License-Identifier: Apache-2.0
"""Chess against python-chess."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import chess
import pytest

import hyoka as hk
from hyoka._core import Reason

from . import real_records

AUTOMATIC, CLAIMED = hk.Chess.Draws.automatic, hk.Chess.Draws.claimed


def player(color: chess.Color) -> hk.Player:
    return hk.Player.first if color == chess.WHITE else hk.Player.second


def text_of(board: chess.Board, move: chess.Move) -> str:
    """As we write it: castling is `e1g1` where king and rook stand as in ordinary chess."""
    files = chess.square_file(move.from_square), chess.square_file(move.to_square)
    if board.chess960 and board.is_castling(move) and files in ((4, 0), (4, 7)):
        return board.uci(move, chess960=False)
    return move.uci()


def expected_outcome(
    board: chess.Board, draws: hk.Chess.Draws
) -> tuple[hk.Player | None, Reason] | None:
    clock, times = (100, 3) if draws == CLAIMED else (150, 5)
    if board.is_checkmate():
        return player(not board.turn), Reason.checkmate
    if board.is_stalemate():
        return None, Reason.stalemate
    if board.is_insufficient_material():
        return None, Reason.insufficient_material
    if board.halfmove_clock >= clock:
        return None, Reason.move_rule
    if board.is_repetition(times):
        return None, Reason.repetition
    return None


def fen_of(game: hk.Chess) -> str:
    return " ".join(game.text.split()[:6])


def assert_same(line: hk.Chess.Line, board: chess.Board) -> None:
    game = line.position
    assert fen_of(game) == board.fen()
    assert game.in_check == board.is_check()
    assert game.to_play == player(board.turn)
    expected = expected_outcome(board, game.draws)
    outcome = line.outcome
    assert (outcome and (outcome.winner, outcome.reason)) == expected, board.fen()
    texts = [] if expected else sorted(text_of(board, move) for move in board.legal_moves)
    assert sorted(map(str, line.legal_moves)) == texts, board.fen()


def random_line(
    board: chess.Board, rng: random.Random, draws: hk.Chess.Draws, *, shuffling: float = 0
) -> Iterator[hk.Chess.Line]:
    """Plays at random on both boards until our line ends, and gives the line at every ply.

    `shuffling` is how often a player takes back the own last move if that can be done.
    """
    line = hk.Chess.from_text(board.fen()).with_draws(draws).line()
    while True:
        assert_same(line, board)
        yield line
        if line.outcome is not None:
            return
        move = rng.choice(list(board.legal_moves))
        if len(board.move_stack) > 1 and rng.random() < shuffling:
            own = board.move_stack[-2]
            back = chess.Move(own.to_square, own.from_square)
            move = back if back in board.legal_moves else move
        line = line.play(text_of(board, move))
        board.push(move)


def test_random_games_agree_at_every_ply() -> None:
    rng = random.Random(1)
    reasons = Counter[Reason]()
    for _ in range(40):
        *_, last = random_line(chess.Board(), rng, AUTOMATIC)
        assert last.outcome is not None
        reasons[last.outcome.reason] += 1
    assert reasons[Reason.insufficient_material] > 0


@pytest.mark.parametrize("draws", [CLAIMED, AUTOMATIC])
def test_random_games_of_shufflers_agree_on_every_kind_of_draw(draws: hk.Chess.Draws) -> None:
    """From the start, with rights to lose, and from an ending, where the clock may run out."""
    rng = random.Random(2)
    reasons = Counter[Reason]()
    starts = [
        chess.STARTING_FEN,
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "8/4k3/8/2n5/8/8/4K2B/8 w - - 80 90",
    ]
    for fen in 10 * starts:
        for shuffling in (0.0, 0.8):
            *_, last = random_line(chess.Board(fen), rng, draws, shuffling=shuffling)
            assert last.outcome is not None
            reasons[last.outcome.reason] += 1
    assert {Reason.repetition, Reason.move_rule} <= set(reasons)


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        # The right to castle, and to capture in passing, is part of the position.
        (
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "h1g1 h8g8 g1h1 g8h8 h1g1 h8g8 g1h1 g8h8 h1g1 h8g8",
        ),
        ("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", "a2a4 e8d8 e1d1 d8e8 d1e1 e8d8 e1d1 d8e8 d1e1 e8d8"),
        ("4k3/8/8/8/8/2p5/P7/4K3 w - - 0 1", "a2a4 e8d8 e1d1 d8e8 d1e1 e8d8 e1d1 d8e8 d1e1"),
        # The pawn that could capture in passing is pinned, so the square does not count.
        ("8/8/8/8/k1p4R/8/3P4/4K3 w - - 0 1", "d2d4 a4a5 e1e2 a5a4 e2e1 a4a5 e1e2 a5a4 e2e1"),
        # Mate on the move that fills the clock is mate.
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1a8"),
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1a7"),
    ],
)
def test_a_line_ends_where_the_rules_say(fen: str, moves: str) -> None:
    board = chess.Board(fen)
    line = hk.Chess.from_text(fen).line()
    for text in moves.split():
        assert_same(line, board)
        line = line.play(text)
        board.push_uci(text)
    assert_same(line, board)
    assert line.outcome is not None


def castling_position(rng: random.Random) -> chess.Board:
    """A Chess960 start with most other pieces gone, so that castling is often possible."""
    board = chess.Board.from_chess960_pos(rng.randrange(960))
    for square in chess.SquareSet(~board.kings & ~board.rooks & chess.BB_ALL):
        if board.piece_at(square) and rng.random() < 0.7:
            board.remove_piece_at(square)
    for _ in range(4):
        square = rng.randrange(16, 48)
        kind = rng.choice([chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN])
        board.set_piece_at(square, chess.Piece(kind, rng.random() < 0.5))
    board.turn = rng.random() < 0.5
    return board


def test_chess960_castling_agrees_in_sparse_positions() -> None:
    rng = random.Random(3)
    castlings = 0
    for _ in range(4_000):
        board = castling_position(rng)
        if not board.is_valid():
            continue
        game = hk.Chess.from_text(board.fen())
        assert_same(game.line(), board)
        for move in filter(board.is_castling, board.legal_moves):
            castlings += 1
            after = board.copy(stack=False)
            after.push(move)
            assert fen_of(game.play(text_of(board, move))) == after.fen()
            assert game.play(board.san(move)) == game.play(text_of(board, move))
    assert castlings > 500


def test_random_chess960_games_agree_at_every_ply() -> None:
    rng = random.Random(4)
    for _ in range(100):
        board = chess.Board.from_chess960_pos(rng.randrange(960))
        assert len(list(islice(random_line(board, rng, AUTOMATIC), 40))) > 1


def board_of_random_play(rng: random.Random) -> chess.Board:
    board = chess.Board()
    for _ in range(rng.randrange(6, 160)):
        if not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
    return board


def scattered_board(rng: random.Random) -> chess.Board:
    """A crowd of pieces on any squares: pins, batteries and exchanges without end."""
    board = chess.Board(None)
    squares = iter(rng.sample(range(8, 56), 28))
    for symbol in "KkQQqqRRrrBBbbNNnnPPPPpppp":
        board.set_piece_at(next(squares), chess.Piece.from_symbol(symbol))
    board.turn = rng.random() < 0.5
    return board


@pytest.fixture(scope="module")
def boards() -> list[chess.Board]:
    rng = random.Random(5)
    positions = [board_of_random_play(rng) for _ in range(200)]
    positions += [scattered_board(rng) for _ in range(2_000)]
    positions = [board for board in positions if board.is_valid() and not board.is_game_over()]
    assert len(positions) > 300
    promotions = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"
    knights = "N3k3/8/8/N3N3/8/N3N3/8/4K2r w - - 0 1"
    queens = "4r2k/8/8/8/1Q2Q3/8/8/1Q5K w - - 0 1"
    return positions + [chess.Board(fen) for fen in (promotions, knights, queens)]


def test_crowded_positions_agree(boards: list[chess.Board]) -> None:
    for board in boards:
        assert_same(hk.Chess.from_text(board.fen()).line(), board)


def test_san_agrees_for_every_move_and_reads_back(boards: list[chess.Board]) -> None:
    for board in boards:
        game = hk.Chess.from_text(board.fen())
        for move in board.legal_moves:
            san = board.san(move)
            assert game.san(text_of(board, move)) == san, board.fen()
            assert str(game.parse(san)) == text_of(board, move), board.fen()


def test_attackers_agree_on_every_square(boards: list[chess.Board]) -> None:
    for board in boards:
        game = hk.Chess.from_text(board.fen())
        for square in chess.SQUARES:
            for color in chess.COLORS:
                expected = [chess.square_name(from_) for from_ in board.attackers(color, square)]
                names = game.attackers(chess.square_name(square), player(color))
                assert sorted(names) == sorted(expected), board.fen()


def test_any_text_of_a_move_is_judged_alike(boards: list[chess.Board]) -> None:
    rng = random.Random(6)
    for board in boards:
        game = hk.Chess.from_text(board.fen())
        own = list(chess.SquareSet(board.occupied_co[board.turn]))
        for _ in range(300):
            squares = rng.choice(own), rng.randrange(64)
            move = chess.Move(*squares, promotion=rng.choice([None, None, *range(2, 6)]))
            if squares[0] != squares[1]:
                assert game.is_legal(move.uci()) == board.is_legal(move), (board.fen(), move)


def test_any_code_is_a_legal_move_exactly_when_it_is_listed(boards: list[chess.Board]) -> None:
    for board in boards[::8]:
        game = hk.Chess.from_text(board.fen())
        listed = {move.code for move in game.legal_moves}
        codes = range(1 << 16)
        assert {code for code in codes if game.is_legal(hk.Chess.Move.from_code(code))} == listed


def exchanges(board: chess.BaseBoard, square: chess.Square, color: chess.Color) -> set[int]:
    """What `color` may net by capturing on `square` or not; several where equals may begin."""

    def value(at: chess.Square) -> int:
        values: list[int] = hk.Chess.exchange_values
        return values[(board.piece_type_at(at) or 0) - 1]

    attackers = board.attackers(color, square)
    cheapest = min(map(value, attackers), default=0)
    results = set() if attackers else {0}
    for attacker in attackers:
        if value(attacker) == cheapest:
            after = board.copy()
            after.set_piece_at(square, after.remove_piece_at(attacker))
            results |= {
                max(0, value(square) - reply) for reply in exchanges(after, square, not color)
            }
    return results


def expected_see(board: chess.Board, move: chess.Move) -> set[int]:
    if board.is_castling(move):
        return {0}
    values = [0, *hk.Chess.exchange_values]
    captured = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
    gain = values[captured or 0]
    if move.promotion:
        gain += values[move.promotion] - values[chess.PAWN]
    after = board.copy(stack=False)
    after.push(move)
    return {gain - reply for reply in exchanges(after, move.to_square, not board.turn)}


def test_static_exchange_evaluation_agrees_with_a_slow_twin(boards: list[chess.Board]) -> None:
    passing = chess.Board("4k3/8/8/3pP3/8/8/4R3/4K3 w - d6 0 1")
    battery = chess.Board("3r2k1/3r4/8/3p4/4P3/8/3R4/3RK2B w - - 0 1")
    for board in [*boards, passing, battery]:
        game = hk.Chess.from_text(board.fen())
        for move in board.legal_moves:
            assert game.see(move.uci()) in expected_see(board, move), (board.fen(), move)


def sampled_games(path: Path, count: int) -> list[tuple[str, list[str]]]:
    """The result and the moves in SAN of some games of a PGN file."""
    text = real_records.text_of(path, real_records.PGN)
    starts = [match.start() for match in re.finditer(r"^\[Event ", text, re.MULTILINE)]
    games = []
    for start in random.Random(7).sample(starts, count):
        headers, moves = text[start : text.find("\n[Event ", start)].strip().split("\n\n", 1)
        moves = re.sub(r"\{[^}]*\}|\d+\.+|\$\d+|;", " ", moves)
        *sans, result = moves.split()
        assert f'[Result "{result}"]' in headers
        games.append((result, sans))
    return games


@pytest.mark.parametrize(
    ("name", "count"), [("chess/twic_human.pgn.xz", 80), ("chess/tcec_eval.pgn.xz", 40)]
)
def test_real_games_replay_from_their_san(
    name: str, count: int, shared_data: Callable[[str], Path]
) -> None:
    for result, sans in sampled_games(shared_data(name), count):
        board = chess.Board()
        game = hk.Chess().with_draws(AUTOMATIC)
        for san in sans:
            assert game.san(san) == san
            game = game.play(san)
            board.push_san(san)
            assert fen_of(game) == board.fen()
        if board.is_checkmate():
            assert game.outcome is not None
            assert game.outcome.value == (1 if result == "1-0" else 0)
