# SPDX-License-Identifier: Apache-2.0
"""Shogi against cshogi, whose list of legal moves holds every move without promotion too."""

import contextlib
import gzip
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import cshogi
import pytest
from cshogi import KIF

import hyoka as hk
from hyoka._core import Reason

from .real_records import CSA, text_of
from .shogi_twin import Square, attackers, exchange_value, name_of, pieces_from

HANDICAPS = {
    "lance": "香落ち",
    "right-lance": "右香落ち",
    "bishop": "角落ち",
    "rook": "飛車落ち",
    "rook-lance": "飛香落ち",
    "two-piece": "二枚落ち",
    "four-piece": "四枚落ち",
    "five-piece": "五枚落ち",
    "six-piece": "六枚落ち",
    "eight-piece": "八枚落ち",
    "ten-piece": "十枚落ち",
}


def usi(move: int) -> str:
    text: str = cshogi.move_to_usi(move)
    return text


def player(color: int) -> hk.Player:
    return hk.Player.first if color == cshogi.BLACK else hk.Player.second


def assert_same(game: hk.Shogi, board: cshogi.Board) -> None:
    assert game.text == board.sfen()
    for color in (cshogi.BLACK, cshogi.WHITE):
        held = zip("PLNSGBR", board.pieces_in_hand[color], strict=True)
        assert game.hand(player(color)) == {kind: count for kind, count in held if count}
    assert game.in_check == board.is_check()
    assert game.may_declare == board.is_nyugyoku(), game.text
    assert sorted(map(str, game.legal_moves)) == sorted(map(usi, board.legal_moves)), game.text
    if board.is_game_over():
        assert game.outcome is not None
        assert game.outcome.winner == player(cshogi.opponent(board.turn))
        mated = board.is_check()
        assert game.outcome.reason == (Reason.checkmate if mated else Reason.stalemate)
    else:
        assert game.outcome is None


def random_moves(board: cshogi.Board, rng: random.Random) -> Iterator[int]:
    """Plays at random on the board and gives each move once it is played."""
    while moves := list(board.legal_moves):
        move = rng.choice(moves)
        board.push(move)
        yield move


def test_random_games_agree_at_every_ply() -> None:
    rng = random.Random(1)
    reasons = Counter[Reason]()
    for _ in range(100):
        board, game = cshogi.Board(), hk.Shogi()
        for move in islice(random_moves(board, rng), 500):
            game = game.play(usi(move))
            assert_same(game, board)
        if game.outcome is not None:
            reasons[game.outcome.reason] += 1
    assert reasons[Reason.checkmate] > 50


@pytest.mark.parametrize("name", hk.Shogi.handicap_names())
def test_random_handicap_games_agree_at_every_ply(name: str) -> None:
    rng = random.Random(2)
    game = hk.Shogi(handicap=name)
    assert game.text == KIF.Parser.HANDYCAP_SFENS[HANDICAPS[name]]
    board = cshogi.Board(game.text)
    assert_same(game, board)
    for move in islice(random_moves(board, rng), 150):
        game = game.play(usi(move))
        assert_same(game, board)


def sfen_from(cells: dict[Square, str], mover: int, hands: Counter[str]) -> str | None:
    """The position as SFEN, or None if the side that waits is in check."""
    ranks = (
        "".join(cells.get((file, rank), "1") for file in range(9, 0, -1)) for rank in range(1, 10)
    )
    rows = re.sub("1+", lambda run: str(len(run[0])), "/".join(ranks))
    pieces = pieces_from(rows)
    waiting = next(at for at, piece in pieces.items() if piece == (1 - mover, "K"))
    if attackers(pieces, waiting, mover):
        return None
    held = [(str(hands[c]) if hands[c] > 1 else "") + c for c in "RBGSNLPrbgsnlp" if hands[c]]
    return f"{rows} {'bw'[mover]} {''.join(held) or '-'} 1"


def scattered_sfen(rng: random.Random) -> str | None:
    """Any pieces anywhere, more of them in the enemy's camp, both kings entered."""
    camps = [(file, rank) for rank in (1, 2, 3) for file in range(1, 10)]
    black_king, (file, rank) = rng.sample(camps, 2)
    cells = {black_king: "K", (file, 10 - rank): "k"}
    hands, pawn_files = Counter[str](), set()
    in_hand = rng.choice((0.1, 0.5))
    squares = [(file, rank) for file in range(1, 10) for rank in range(1, 10)]
    free = iter(rng.sample([square for square in squares if square not in cells], 38))
    for kind in "P" * 18 + "LLLLNNNNSSSSGGGGBBRR":
        file, rank = next(free)
        black = rng.random() < 1 - 0.1 * rank
        letter = kind if black else kind.lower()
        promoted = kind != "G" and rng.random() < 0.3
        dead_ranks = 0 if promoted else {"P": 1, "L": 1, "N": 2}.get(kind, 0)
        unmovable = (rank if black else 10 - rank) <= dead_ranks
        is_pawn = kind == "P" and not promoted
        if unmovable or (is_pawn and (letter, file) in pawn_files) or rng.random() < in_hand:
            hands[letter] += 1
        else:
            cells[file, rank] = "+" * promoted + letter
            pawn_files |= {(letter, file)} if is_pawn else set()
    return sfen_from(cells, rng.randrange(2), hands)


def mating_net_sfen(rng: random.Random) -> str | None:
    """White's king at the edge amid a few pieces, and Black to move with a pawn in hand."""
    file = rng.randrange(1, 10)
    cells = {(5, 9): "K", (file, 1): "k"}
    near = [(file + aside, rank) for aside in (-2, -1, 0, 1, 2) for rank in (1, 2, 3)]
    near = [at for at in near if 1 <= at[0] <= 9 and at not in ((file, 1), (file, 2))]
    for letter in rng.sample(["G", "G", "S", "+R", "+B", "+P", "g", "s", "r", "b"], 5):
        cells[near.pop(rng.randrange(len(near)))] = letter
    cells[rng.randrange(1, 10), 6] = "L"
    return sfen_from(cells, 0, Counter("P"))


@pytest.fixture(scope="module")
def boards() -> list[cshogi.Board]:
    rng = random.Random(3)
    return [cshogi.Board(sfen) for _ in range(15_000) if (sfen := scattered_sfen(rng))]


def test_scattered_positions_agree(boards: list[cshogi.Board]) -> None:
    seen = Counter[str]()
    for board in boards:
        game = hk.Shogi.from_text(board.sfen())
        assert_same(game, board)
        declaring = game.with_rules(declaration=True)
        assert declaring.is_legal("win") == board.is_nyugyoku()
        if board.is_nyugyoku():
            over = declaring.play("win").outcome
            assert over is not None
            assert (over.winner, over.reason) == (game.to_play, Reason.declaration)
        seen["check"] += game.in_check
        seen["declaration"] += game.may_declare
        seen["mate"] += game.outcome is not None
    assert min(seen.values()) > 20


def test_a_pawn_dropped_before_the_king_may_do_anything_but_mate() -> None:
    rng = random.Random(4)
    legal = Counter[bool]()
    for _ in range(6_000):
        sfen = mating_net_sfen(rng)
        if sfen is None or cshogi.Board(sfen).is_check():
            continue
        board, game = cshogi.Board(sfen), hk.Shogi.from_text(sfen)
        assert_same(game, board)
        front = board.king_square(cshogi.WHITE) + 1
        pieces = board.pieces
        pieces[front] = cshogi.BPAWN
        after = cshogi.Board()
        after.set_pieces(pieces, ([0] * 7, [0] * 7))
        after.turn = cshogi.WHITE
        drop = f"P*{name_of((front // 9 + 1, front % 9 + 1))}"
        assert after.is_check()
        assert game.is_legal(drop) != after.is_game_over(), sfen
        legal[game.is_legal(drop)] += 1
    assert min(legal[True], legal[False]) > 100


@pytest.mark.parametrize(
    ("sfen", "move", "legal"),
    [
        ("8k/9/6NG1/9/9/9/9/9/K8 b P 1", "P*1b", False),
        ("7gk/9/6NG1/9/9/9/9/9/K8 b P 1", "P*1b", True),  # the gold can take the pawn
        ("R6gk/9/6NG1/9/9/9/9/9/K8 b P 1", "P*1b", False),  # the gold is pinned
        ("8k/9/6NGP/9/9/9/9/9/K8 b - 1", "1c1b", True),  # a pawn on the board may mate
        ("8k/9/6NG1/9/9/9/9/9/K8 b L 1", "L*1b", True),  # so may a dropped lance
        ("8k/9/7G1/9/9/9/9/9/K8 b P 1", "P*1b", True),  # the king goes to 2a
        ("k8/9/9/9/9/9/1gn6/9/K8 w p 1", "P*9h", False),
    ],
)
def test_only_a_dropped_pawn_may_not_mate(sfen: str, move: str, legal: bool) -> None:
    game = hk.Shogi.from_text(sfen)
    assert game.is_legal(move) == legal
    assert_same(game, cshogi.Board(sfen))


def test_any_code_is_a_legal_move_exactly_when_it_is_listed(boards: list[cshogi.Board]) -> None:
    codes = []
    for code in range(1 << 16):
        with contextlib.suppress(hk.errors.NotationError):
            codes.append(hk.Shogi.Move.from_code(code))
    for board in boards[:10]:
        game = hk.Shogi.from_text(board.sfen())
        legal = [str(move) for move in codes if game.is_legal(move)]
        assert sorted(legal) == sorted(map(usi, board.legal_moves))


def with_long_names(kif: str) -> str:
    """KIF as we write it: 成香, 成桂, 成銀, 玉 and 龍, and one wide space after 同."""
    for short, long in zip("杏圭全王竜", ("成香", "成桂", "成銀", "玉", "龍"), strict=True):
        kif = kif.replace(short, long)
    return re.sub(r"同\s*", "同　", kif)


def assert_same_texts(game: hk.Shogi, board: cshogi.Board, move: int, previous: int) -> None:
    """USI, CSA and KIF agree and read back; `previous` is 0 if there was no move before."""
    ours = game.parse(usi(move))
    before = game.parse(usi(previous)) if previous else None
    sign = "+" if board.turn == cshogi.BLACK else "-"
    assert str(ours) == usi(move)
    assert game.csa(ours) == sign + cshogi.move_to_csa(move)
    assert game.parse(game.csa(ours)) == ours
    assert game.kif(ours, before) == with_long_names(KIF.move_to_kif(move, previous))
    assert game.parse_kif(game.kif(ours, before), before) == ours
    assert game.parse_kif(KIF.move_to_kif(move), before) == ours


def test_texts_of_every_move_agree_and_read_back(boards: list[cshogi.Board]) -> None:
    rng = random.Random(5)
    for start in boards[:150]:
        board, previous = start.copy(), 0
        for played in islice(random_moves(start.copy(), rng), 2):
            game = hk.Shogi.from_text(board.sfen())
            for move in board.legal_moves:
                assert_same_texts(game, board, move, previous)
            board.push(played)
            previous = played


def end_by_repetition(
    positions: list[str], checks: list[bool]
) -> tuple[hk.Player | None, Reason] | None:
    """The rule, from all positions so far without their plies, and whether each is in check.

    The fourth occurrence draws; but a side loses whose every move since the first gave check.
    """
    occurrences = [ply for ply, position in enumerate(positions) if position == positions[-1]]
    if len(occurrences) < 4:
        return None
    for side, winner in (("b", hk.Player.second), ("w", hk.Player.first)):
        since = range(occurrences[0] + 1, len(positions))
        if all(checks[ply] for ply in since if f" {side} " not in positions[ply]):
            return winner, Reason.perpetual_check
    return None, Reason.repetition


class RepetitionTwin:
    """A line of play on a cshogi board, judged by the rule of repetition in plain words."""

    def __init__(self, sfen: str) -> None:
        self.board = cshogi.Board(sfen)
        self.positions: list[str] = []
        self.checks: list[bool] = []
        self.remember()

    def remember(self) -> None:
        self.positions.append(self.board.sfen().rsplit(" ", 1)[0])
        self.checks.append(self.board.is_check())

    def play(self, text: str) -> None:
        self.board.push_usi(text)
        self.remember()

    def end(self) -> tuple[hk.Player | None, Reason] | None:
        if self.board.is_game_over():
            winner = player(cshogi.opponent(self.board.turn))
            return winner, Reason.checkmate if self.checks[-1] else Reason.stalemate
        return end_by_repetition(self.positions, self.checks)


def end_of(line: hk.Shogi.Line) -> tuple[hk.Player | None, Reason] | None:
    return None if line.outcome is None else (line.outcome.winner, line.outcome.reason)


CHECKING = "8k/9/R8/9/9/9/9/9/K8 b - 1"


@pytest.mark.parametrize(
    ("sfen", "moves", "end"),
    [
        # Golds go to and fro.
        (hk.Shogi().text, 3 * "4i4h 4a4b 4h4i 4b4a ", (None, Reason.repetition)),
        # A rook checks all the time; the checked side is to move in the position that comes back.
        (
            CHECKING,
            "9c9a " + 3 * "1a1b 9a9b 1b1a 9b9a ",
            (hk.Player.second, Reason.perpetual_check),
        ),
        # The checking side is to move in it.
        (
            "R8/8k/9/9/9/9/9/9/K8 b - 1",
            3 * "9a9b 1b1a 9b9a 1a1b ",
            (hk.Player.second, Reason.perpetual_check),
        ),
        # White checks.
        (
            "k8/9/9/9/9/9/r8/9/8K w - 1",
            "9g9i " + 3 * "1i1h 9i9h 1h1i 9h9i ",
            (hk.Player.first, Reason.perpetual_check),
        ),
        # One quiet move among the checks is enough for a draw.
        (
            "R8/8k/9/9/9/9/9/9/K8 b - 1",
            2 * "9a9b 1b1a 9b9a 1a1b " + "9a9d 1b1a 9d9a 1a1b",
            (None, Reason.repetition),
        ),
        # The same board with other pieces in hand is another position.
        ("9/9/4R4/9/8K/9/9/9/k8 w 4p 1", 3 * "P*5b 5c5b 9i9h 5b5d 9h9i 5d5c ", None),
    ],
)
def test_the_fourth_occurrence_ends_a_line(
    sfen: str, moves: str, end: tuple[hk.Player | None, Reason] | None
) -> None:
    line, twin = hk.Shogi.from_text(sfen).line(), RepetitionTwin(sfen)
    for text in moves.split():
        assert line.outcome is None
        assert twin.end() is None
        line = line.play(text)
        twin.play(text)
    assert end_of(line) == twin.end() == end


def test_random_games_of_shufflers_end_alike() -> None:
    """Black likes to check, and both like to take back their own last move."""
    rng = random.Random(6)
    reasons = Counter[Reason]()
    for sfen in 60 * [hk.Shogi().text, CHECKING, "4k4/9/4S4/9/9/9/9/9/R3K3R b - 1"]:
        line, twin = hk.Shogi.from_text(sfen).line(), RepetitionTwin(sfen)
        texts = ["", ""]
        while twin.end() is None and len(texts) < 300:
            assert line.count_moves() == len(twin.board.legal_moves)
            moves = list(map(usi, twin.board.legal_moves))
            if twin.board.turn == cshogi.BLACK and rng.random() < 0.95:
                moves = list(map(usi, twin.board.check_moves)) or moves
            back = texts[-2][2:4] + texts[-2][:2]
            text = back if back in moves and rng.random() < 0.8 else rng.choice(moves)
            line = line.play(text)
            twin.play(text)
            texts.append(text)
            assert end_of(line) == twin.end(), line.text
        if line.outcome is not None:
            assert line.legal_moves == []
            reasons[line.outcome.reason] += 1
    wanted = Reason.repetition, Reason.perpetual_check, Reason.checkmate
    assert min(reasons[reason] for reason in wanted) > 5


VALUES = dict(
    zip(
        ["", "P", "L", "N", "S", "B", "R", "G", "K", "+P", "+L", "+N", "+S", "+B", "+R"],
        hk.Shogi.exchange_values,
        strict=True,
    )
)


def test_attackers_agree_with_a_slow_twin(boards: list[cshogi.Board]) -> None:
    for board in boards[:60]:
        game, pieces = hk.Shogi.from_text(board.sfen()), pieces_from(board.sfen())
        for square in [(file, rank) for file in range(1, 10) for rank in range(1, 10)]:
            for number, color in enumerate((hk.Player.first, hk.Player.second)):
                expected = map(name_of, attackers(pieces, square, number))
                assert sorted(game.attackers(name_of(square), color)) == sorted(expected)


def test_static_exchange_evaluation_agrees_with_a_slow_twin(boards: list[cshogi.Board]) -> None:
    rng = random.Random(7)
    for board in boards[:1_000]:
        sfen = board.sfen()
        game = hk.Shogi.from_text(sfen)
        moves = list(map(usi, board.legal_moves))
        for text in rng.sample(moves, min(5, len(moves))):
            assert game.see(text) in exchange_value(sfen, text, VALUES), (sfen, text)


@pytest.mark.parametrize(
    ("name", "count"),
    [("floodgate2016", 100), ("pro_psn", 131), ("pro_title", 306), ("wcsc28", 100)],
)
def test_real_games_replay_from_csa(
    name: str, count: int, shared_data: Callable[[str], Path]
) -> None:
    text = text_of(shared_data(f"shogi/{name}.csa.xz"), CSA)
    for record in random.Random(8).sample(text.split("/\n"), count):
        board, line, previous = cshogi.Board(), hk.Shogi().line(), 0
        (end,) = re.findall(r"^%.+", record, re.MULTILINE)
        for csa in re.findall(r"^[+-]\d{4}[A-Z]{2}", record, re.MULTILINE):
            if line.outcome is not None:  # in 1976 the rule was another
                assert end == "%SENNICHITE"
                break
            move = board.move_from_csa(csa[1:])
            assert line.position.csa(csa) == csa
            assert_same_texts(line.position, board, move, previous)
            line = line.play(csa)
            board.push(move)
            previous = move
            assert line.position.text == board.sfen()
            assert line.position.in_check == board.is_check()
        if end != "%CHUDAN":  # broken off, or the source does not say how it ended
            repeated = line.outcome is not None and line.outcome.reason == Reason.repetition
            assert repeated == (end == "%SENNICHITE"), line.text
        if end == "%KACHI":
            assert line.position.may_declare


def test_openings_replay_from_usi(shared_data: Callable[[str], Path]) -> None:
    lines = gzip.decompress(shared_data("shogi/taya36.sfen.gz").read_bytes()).decode().splitlines()
    for opening in lines:
        board = cshogi.Board()
        board.set_position(opening)
        assert (
            hk.Shogi.Line.from_text(opening.replace("startpos", hk.Shogi().text)).position.text
            == board.sfen()
        )


@pytest.mark.parametrize("plies", [3, 5, 7, 9, 11])
def test_solutions_of_mating_problems_end_in_mate(
    plies: int, shared_data: Callable[[str], Path]
) -> None:
    with zipfile.ZipFile(shared_data("shogi/mate_and_nextmove.zip")) as archive:
        problems = archive.read(f"mate{plies}.sfen").decode().splitlines()
    assert len(problems) > 900
    for problem in problems:
        line = hk.Shogi.Line.from_text(problem)
        assert len(line) == plies
        assert end_of(line) == (line.start.to_play, Reason.checkmate), problem
        assert end_of(line.undo()) is None


def kif_records(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The names of the KIF files of an archive, and the moves of their main lines."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith((".kif", ".kifu")):
                data = archive.read(name)
                try:
                    text = data.decode("utf-8-sig")
                except UnicodeDecodeError:
                    text = data.decode("cp932")
                move = r"^ *\d+ +([１-９同][^(\n]*(?:\(\d\d\)|打))"
                yield name, re.findall(move, text.split("変化：")[0], re.MULTILINE)


def test_moves_of_kif_files_read_as_they_are_written(shared_data: Callable[[str], Path]) -> None:
    records = list(kif_records(shared_data("shogi/kif_ki2_raw.zip")))
    assert len(records) > 180
    for name, moves in records:
        board, game, previous = cshogi.Board(), hk.Shogi(), 0
        for kif in moves:
            move, _, _ = KIF.Parser.parse_move_str(f"1 {with_long_names(kif)}", board)
            before = game.parse(usi(previous)) if previous else None
            ours = game.parse_kif(kif, before)
            assert str(ours) == usi(move), (name, kif)
            # Some programs never write 同.
            assert game.kif(ours, before if "同" in kif else None) == with_long_names(kif), name
            assert_same_texts(game, board, move, previous)
            game = game.play(ours)
            board.push(move)
            previous = move
            assert game.text == board.sfen()
