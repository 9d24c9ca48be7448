# SPDX-License-Identifier: Apache-2.0
"""Stockfish's binpack, written here by python-chess's rules: the reader's independent twin.

https://github.com/official-stockfish/Stockfish/blob/tools/docs/binpack.md
"""

import random
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import chess
import pytest

import hyoka as hk

from ..record_texts import Read

Entry = tuple[chess.Move, int]
"""A move, and the score of the position before it in the mover's view."""


@dataclass
class Bits:
    """Numbers one after another, highest bit first."""

    bits: list[int] = field(default_factory=list)

    def add(self, number: int, count: int) -> None:
        self.bits += [number >> i & 1 for i in reversed(range(count))]

    def choice(self, index: int, count: int) -> None:
        self.add(index, max(count - 1, 0).bit_length())

    def number(self, number: int) -> None:
        while True:
            group, number = number & 15, number >> 4
            self.add(group | (number > 0) << 4, 5)
            if number == 0:
                return

    def bytes(self) -> bytes:
        padded = self.bits + [0] * (-len(self.bits) % 8)
        return bytes(
            sum(bit << 7 - i for i, bit in enumerate(padded[at : at + 8]))
            for at in range(0, len(padded), 8)
        )


def folded(number: int) -> int:
    """A signed number of 16 bits with its sign in the lowest bit."""
    number = (number + 32768) % 65536 - 32768
    return -2 * number - 1 if number < 0 else 2 * number


def stem(board: chess.Board, move: chess.Move, score: int, ply: int, result: int) -> bytes:
    halves = []
    for square in chess.scan_forward(board.occupied):
        piece = board.piece_at(square)
        assert piece is not None
        half = 2 * (piece.piece_type - 1) + (not piece.color)
        if board.has_legal_en_passant() and board.ep_square is not None:
            passed = board.ep_square + (-8 if board.turn else 8)
            half = 12 if square == passed else half
        if board.castling_rights & chess.BB_SQUARES[square]:
            half = 13 if piece.color else 14
        if piece == chess.Piece(chess.KING, chess.BLACK) and not board.turn:
            half = 15
        halves.append(half)
    halves += [0] * (32 - len(halves))
    packed = bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2], strict=True))
    kind, target = 0, move.to_square
    if move.promotion:
        kind = 1
    elif board.is_castling(move):
        kind = 2
        target = chess.square(7 if target > move.from_square else 0, chess.square_rank(target))
    elif board.is_en_passant(move):
        kind = 3
    bits = kind << 14 | move.from_square << 8 | target << 2
    bits |= move.promotion - chess.KNIGHT if move.promotion else 0
    numbers = (bits, folded(score), ply | (folded(result) & 3) << 14, board.halfmove_clock)
    words = b"".join(number.to_bytes(2, "big") for number in numbers)
    return board.occupied.to_bytes(8, "big") + packed + words


def add_move(bits: Bits, board: chess.Board, move: chess.Move) -> None:
    own = list(chess.scan_forward(board.occupied_co[board.turn]))
    bits.choice(own.index(move.from_square), len(own))
    kind = board.piece_type_at(move.from_square)
    targets = set(board.attacks(move.from_square)) - set(own)
    castlings: list[int] = []
    target = move.to_square
    if kind == chess.PAWN:
        others = set(chess.scan_forward(board.occupied_co[not board.turn]))
        if board.has_legal_en_passant() and board.ep_square is not None:
            others.add(board.ep_square)
        targets &= others
        step = 8 if board.turn else -8
        ahead = move.from_square + step
        if board.piece_at(ahead) is None:
            targets.add(ahead)
            home = chess.square_rank(move.from_square) == (1 if board.turn else 6)
            if home and board.piece_at(ahead + step) is None:
                targets.add(ahead + step)
    elif kind == chess.KING:
        rank = 0 if board.turn else 56
        rights = board.castling_rights
        castlings = [square for square in (rank, rank + 7) if rights & chess.BB_SQUARES[square]]
        if board.is_castling(move):
            target = rank + (7 if move.to_square > move.from_square else 0)
    choices = [*sorted(targets), *castlings]
    index = choices.index(target)
    if move.promotion:
        bits.choice(4 * index + move.promotion - chess.KNIGHT, 4 * len(choices))
    else:
        bits.choice(index, len(choices))


def chain(start: chess.Board, entries: list[Entry], result: int, ply: int = 0) -> bytes:
    """A start with a move, and the moves that follow; `result` is in the first mover's view."""
    board = start.copy()
    (move, score), *rest = entries
    head = stem(board, move, score, ply, result)
    bits = Bits()
    board.push(move)
    for move, following in rest:
        add_move(bits, board, move)
        bits.number(folded(following + score))
        score = following
        board.push(move)
    return head + len(rest).to_bytes(2, "big") + bits.bytes()


def binpack(*chains: bytes) -> bytes:
    body = b"".join(chains)
    return b"BINP" + len(body).to_bytes(4, "little") + body


def random_chain(rng: random.Random, start: chess.Board, plies: int) -> list[Entry]:
    board = start.copy()
    entries: list[Entry] = []
    while len(entries) < plies and not board.is_game_over():
        # Rare kinds of moves first.
        moves = list(board.legal_moves)
        rare = [m for m in moves if m.promotion or board.is_castling(m) or board.is_en_passant(m)]
        move = rng.choice(rare if rare and rng.random() < 0.7 else moves)
        entries.append(
            (move, rng.choice([0, 1, -1, rng.randint(-400, 400), rng.randint(-31000, 31000)]))
        )
        board.push(move)
    return entries


STARTS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 7 20",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "4k3/8/8/pP6/8/8/8/4K3 w - a6 0 30",
)


@pytest.mark.parametrize("fen", STARTS)
def test_chains_by_python_chess_are_read_back(fen: str, read: Read) -> None:
    rng = random.Random(fen)
    start = chess.Board(fen)
    ply = 2 * (start.fullmove_number - 1) + (not start.turn)
    chains = [random_chain(rng, start, plies) for plies in (1, 2, 60, 60, 60)]
    results = [rng.choice([1, 0, -1]) for _ in chains]
    data = [chain(start, each, result, ply) for each, result in zip(chains, results, strict=True)]
    records, refused = read(binpack(*data[:2]) + binpack(*data[2:]))
    assert refused == []
    for record, entries, result in zip(records, chains, results, strict=True):
        assert record.move_texts() == [move.uci() for move, _ in entries]
        assert (record.position(0).text if record.start else chess.STARTING_FEN) == start.fen()
        sign = 1 if start.turn else -1
        assert record.result == (1 + sign * result) / 2
        scores = {remark.ply: remark.score for remark in record.remarks}
        assert scores == {
            i: (sign if i % 2 == 0 else -sign) * score for i, (_, score) in enumerate(entries)
        }
        assert {remark.author for remark in record.remarks} == {None}


def test_a_game_that_ends_says_so(read: Read) -> None:
    moves = [chess.Move.from_uci(each) for each in ("f2f3", "e7e5", "g2g4", "d8h4")]
    scores = (-20, 80, -31998, 31999)
    (record,), _ = read(binpack(chain(chess.Board(), list(zip(moves, scores, strict=True)), -1)))
    assert (record.result, record.ending, record.start) == (0, "normal", "")
    # Mates are stored in plies, and counted in moves.
    assert [remark.mate for remark in record.remarks] == [None, None, -1, -1]
    assert [remark.score for remark in record.remarks] == [-20, -80, None, None]


def test_a_score_that_is_none_is_left_out(read: Read) -> None:
    entries = [(chess.Move.from_uci("e2e4"), 32002), (chess.Move.from_uci("e7e5"), 12)]
    (record,), _ = read(binpack(chain(chess.Board(), entries, 0)))
    assert [(remark.ply, remark.score) for remark in record.remarks] == [(1, -12)]


def sample() -> bytes:
    rng = random.Random(1)
    return binpack(
        *(chain(chess.Board(fen), random_chain(rng, chess.Board(fen), 9), 0) for fen in STARTS[:3])
    )


def test_a_file_cut_anywhere_gives_its_whole_games(read: Read) -> None:
    data = sample()
    complete, _ = read(data)
    counts = []
    for size in range(8, len(data)):
        records, refused = read(data[:size], "binpack")
        assert [each.move_texts() for each in records] == [
            each.move_texts() for each in complete[: len(records)]
        ]
        assert len(refused) == 1
        assert "end" in refused[0].reason
        counts.append(len(records))
    assert all(a <= b for a, b in pairwise(counts))
    assert counts[-1] == 2


@pytest.mark.parametrize(
    ("place", "byte", "reason"),
    [
        (0, b"X", "no chunk of a binpack"),
        (4, b"\xff\xff\xff\xff", "no chunk of a binpack"),
        (8, b"\xff" * 8, "more than 32 pieces"),
        (16, b"\xdd", "castl"),
        (32, b"\x00\x04", "illegal"),
        (36, b"\xc0", "result"),
    ],
)
def test_damaged_binpacks_are_refused(place: int, byte: bytes, reason: str, read: Read) -> None:
    data = sample()
    records, refused = read(data[:place] + byte + data[place + len(byte) :], "binpack")
    assert records == []
    assert reason in refused[0].reason
    assert (refused[0].line, refused[0].ply) == (0, 0)


def test_an_illegal_move_ends_a_chunk_and_no_more(read: Read) -> None:
    bad = bytearray(sample())
    bad[32:34] = b"\x00\x04"  # the first move, from a1 to b1
    records, refused = read(bytes(bad) + sample())
    assert len(refused) == 1
    assert [each.move_texts() for each in records] == [
        each.move_texts() for each in read(sample())[0]
    ]


def test_damaged_files_never_raise(read: Read) -> None:
    rng = random.Random(2)
    for _ in range(60):
        data = bytearray(sample())
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(8, len(data))] = rng.randrange(256)
        records, _ = read(bytes(data), "binpack")
        for record in records:
            assert len(list(record.positions())) == len(record.moves) + 1


def test_a_study_evaluates_binpacks_by_their_scores(tmp_path: Path) -> None:
    (tmp_path / "data.binpack").write_bytes(sample())
    study = hk.Study.create(tmp_path / "study", tmp_path / "data.binpack")
    study.evaluate("comments")
    rows = study.sql("select score from evaluations where ply = 0 order by game_id")["score"]
    first = [record.remarks[0].score for _, record in study.records()]
    assert rows.to_pylist() == first
