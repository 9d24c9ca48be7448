# SPDX-License-Identifier: Apache-2.0
"""What holds in every game: Hypothesis picks the moves, one test a law serves all games."""

import pickle
from collections import defaultdict
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import hyoka as hk

# The examples are the same on every run and every machine, and no clock decides.
LAW: Final = settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
FEW: Final = settings(LAW, max_examples=8)
MANY: Final = settings(LAW, max_examples=150)


# The first player can lay nothing more, the second has 39 moves.
BLOKUS_LATE: Final = (
    "1X1XXXO1OOOOX1/1XX1XOOO1XXOX1/XX4XXX1OXXX/2X3X2XOOO1/2XXXX1XXO2O1/XX4XXXOOO2/X1X1XX3O4"
    "/2X1XX2O1OOO1/2X1O1O1O5/1OOO1OO1OO1O2/1O4OO1O1O2/1O2OO2O1OO2/4OOO1OO4/9OO3"
)
SHOGI_HANDS: Final = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"
KIWIPETE: Final = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
# Where walks through a game begin: its start, and positions that walks from there seldom reach.
START_TEXTS: Final = {
    "go3": (
        hk.Go3(komi=0).text,
        hk.Go3(komi=-2.5).text,
        "1O1/1O1/1XO b - 0 3",
    ),
    "go5": (
        hk.Go5(komi=2).text,
        "1XO2/XO1O1/1XO2/5/5 b - 0 0.5",
        "5/XXXX1/XOOOX/XO2X/5 b - 1 0",
    ),
    "go9": (hk.Go9().text, hk.Go9(komi=0.5, handicap=4).text),
    "go13": (hk.Go13().text, hk.Go13(komi=-5, handicap=9).text),
    "go19": (hk.Go19(komi=6.5).text, hk.Go19(komi=0, handicap=7).text),
    "othello": (hk.Othello().text, "OX" + "-" * 62 + " X"),
    "chess": (
        hk.Chess().text,
        KIWIPETE,
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "8/8/4k3/8/8/3QK3/8/8 w - - 95 80",
        "4k3/8/8/8/8/8/4P3/4K2R w K - 140 90 automatic",
        "4k3/8/8/8/8/8/8/4K2B w - - 0 1 ignored",
    ),
    "shogi": (
        hk.Shogi(ply_limit=200).text,
        hk.Shogi(handicap="two-piece", declaration=True, ply_limit=150).text,
        SHOGI_HANDS + " limit=120",
        "7nk/9/7G1/9/9/9/9/9/K8 b P2r2b3g4s3n4l17p 1 limit=80",
        "8k/4+R4/9/9/9/9/9/9/K8 b - 1 limit=24",
        "K+R+R+B+B4/GGGGSS3/9/9/9/9/9/9/k8 b 2P2s4n4l16p 1 declaration limit=60",
        "K+R+R+B+B4/GGGGSS3/9/9/9/9/9/9/k8 w 2P 2 declaration declared",
        "8k/9/6GP1/9/9/9/9/9/9 b G2r2b2g4s4n4l17p 1 limit=40",
    ),
    "blokus_duo": (
        hk.BlokusDuo().text,
        hk.BlokusDuo(bonus=True).text,
        BLOKUS_LATE + " x",
        BLOKUS_LATE + " o bonus -",
    ),
}
NAMES: Final = tuple(START_TEXTS)


# And boards that so many random moves have filled.
FILLED: Final = {"othello": (20, 40, 50), "go9": (70,), "go13": (150,), "go19": (300,)}


@cache
def starts(name: str) -> tuple[Any, ...]:
    games = list(map(hk.game_type(name).from_text, START_TEXTS[name]))
    for plies in FILLED.get(name, ()):
        at = games[0]
        for ply in range(plies):
            at = at.play(at.random_move(ply))
        games.append(at)
    return tuple(games)


# Moves are written in arrays as numbers below this.
CODES: Final = {"othello": 65, "chess": 2**16, "shogi": 2**15, "blokus_duo": 13730} | {
    f"go{size}": size * size + 1 for size in (3, 5, 9, 13, 19)
}
# In shogi some numbers below that are no move: a square off the board, a promoting drop.
SHOGI_CODES: Final = {
    to | origin << 7 | promotes << 14
    for to in range(81)
    for origin in range(89)
    for promotes in range(2)
    if origin < 81 or (origin > 81 and not promotes)
} | {127 | 127 << 7}


def all_codes(name: str) -> list[int]:
    return sorted(SHOGI_CODES) if name == "shogi" else list(range(CODES[name]))


# The most plies a walk takes; a game may end earlier.
PLIES: Final = {
    "go3": 30,
    "go5": 60,
    "go9": 90,
    "go13": 120,
    "go19": 150,
    "othello": 64,
    "chess": 120,
    "shogi": 120,
    "blokus_duo": 24,
}
# No random game is longer. Chess: 50 moves between captures and pawn moves; shogi: the limit of its
# starts; Go has no such bound, but superko and filled boards end every random game long before.
LONGEST: Final = {
    "othello": 128,
    "chess": 11900,
    "shogi": 200,
    "blokus_duo": 84,
} | {f"go{size}": 40 * size * size for size in (3, 5, 9, 13, 19)}
for_every_game = pytest.mark.parametrize("name", NAMES)
for_every_go = pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("go")])


class Walk(NamedTuple):
    start: Any
    moves: list[Any]
    end: Any


def walk(game: Any, choices: list[int]) -> Walk:
    """The walk that takes, ply by ply, the legal move that a choice counts to."""
    moves = []
    at = game
    for choice in choices:
        legal = at.legal_moves
        if not legal:
            break
        moves.append(legal[choice % len(legal)])
        at = at.play(moves[-1])
    return Walk(game, moves, at)


def choices(name: str) -> st.SearchStrategy[list[int]]:
    """Lists of every length alike; by itself Hypothesis prefers short ones, and games are long."""
    return st.integers(0, PLIES[name]).flatmap(
        lambda plies: st.lists(st.integers(0, 9999), min_size=plies, max_size=plies)
    )


@cache
def walks(name: str) -> st.SearchStrategy[Walk]:
    return st.builds(walk, st.sampled_from(starts(name)), choices(name))


@cache
def line_walks(name: str) -> st.SearchStrategy[Walk]:
    """As `walks`, through lines of play."""
    return st.builds(walk, st.sampled_from([s.line() for s in starts(name)]), choices(name))


def positions(name: str) -> st.SearchStrategy[Any]:
    return walks(name).map(lambda drawn: drawn.end)


def lines(name: str) -> st.SearchStrategy[Any]:
    return line_walks(name).map(lambda drawn: drawn.end)


def games(name: str) -> st.SearchStrategy[Any]:
    """Positions and lines of play."""
    return positions(name) | lines(name)


def codes(moves: Any) -> set[int]:
    return {move.code for move in moves}


@for_every_game
@LAW
@given(st.data())
def test_taking_back_every_move_gives_the_very_game(name: str, data: st.DataObject) -> None:
    for start, moves, _ in (data.draw(walks(name)), data.draw(line_walks(name))):
        back = start.undo_all(moves)
        assert back == start
        assert (back.hash, back.text, back.outcome) == (start.hash, start.text, start.outcome)
        assert codes(back.legal_moves) == codes(start.legal_moves)
        assert (back.cells == start.cells).all()


@for_every_game
@LAW
@given(st.data())
def test_what_is_kept_incrementally_is_right_at_every_step(name: str, data: st.DataObject) -> None:
    start, moves, _ = data.draw(walks(name))
    at = start
    for move in moves:
        at = at.play(move)
        at.check_consistency()
    data.draw(lines(name)).check_consistency()


@for_every_game
@LAW
@given(st.data())
def test_the_incremental_hash_is_that_of_the_game_read_afresh(
    name: str, data: st.DataObject
) -> None:
    start, moves, _ = data.draw(walks(name))
    at = start
    for move in moves:
        at = at.play(move)
        assert at.hash == type(at).from_text(at.text).hash


def hashed_content(game: Any) -> tuple[str, ...]:
    """The part of a position's text that its hash stands for: no komi, no clocks and no options."""
    fields = game.text.split()
    match game:
        case hk.Chess():
            return tuple(fields[:4])
        case hk.Shogi():
            return tuple(fields[:3])
        case hk.BlokusDuo():
            return tuple(fields[:3])
        case hk.Othello():
            return tuple(fields)
    return tuple(fields[:4])


@for_every_game
def test_hash_and_content_determine_each_other(name: str) -> None:
    hash_of: dict[tuple[str, ...], int] = {}
    content_of: dict[int, tuple[str, ...]] = {}

    @LAW
    @given(walks(name))
    def holds(drawn: Walk) -> None:
        at = drawn.start
        for move in drawn.moves:
            at = at.play(move)
            content = hashed_content(at)
            assert hash_of.setdefault(content, at.hash) == at.hash
            assert content_of.setdefault(at.hash, content) == content

    holds()


@for_every_game
@LAW
@given(st.data())
def test_games_are_equal_exactly_when_their_texts_are(name: str, data: st.DataObject) -> None:
    a, x, b, y = (data.draw(st.integers(0, 9999)) for _ in range(4))
    game = data.draw(positions(name))
    one = walk(game, [a, x, b, y])
    other = game
    for move in [one.moves[i] for i in (2, 1, 0, 3) if i < len(one.moves)]:
        if other.is_legal(move):
            other = other.play(move)
    assert (one.end == other) == (one.end.text == other.text)
    if one.end == other:
        assert one.end.hash == other.hash
        assert hash(one.end) == hash(other)
    assert one.end.line() != one.end
    assert one.start.line() == game.line()


def legal_by_themselves(name: str, game: Any) -> set[int]:
    """The codes of the moves that a game, asked about every code there is, calls legal."""
    of_code = hk.game_type(name).Move.from_code
    return {code for code in all_codes(name) if game.is_legal(of_code(code))}


@for_every_game
def test_at_the_starts_each_move_is_legal_by_itself_exactly_when_it_is_listed(name: str) -> None:
    for game in starts(name):
        assert legal_by_themselves(name, game) == codes(game.legal_moves)


@for_every_game
@FEW
@given(st.data())
def test_each_move_is_legal_by_itself_exactly_when_it_is_listed(
    name: str, data: st.DataObject
) -> None:
    game = data.draw(games(name))
    assert legal_by_themselves(name, game) == codes(game.legal_moves)


@for_every_game
@LAW
@given(st.data())
def test_an_illegal_move_is_refused_in_one_line(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    of_code = hk.game_type(name).Move.from_code
    for code in data.draw(st.lists(st.sampled_from(all_codes(name)), max_size=20)):
        move = of_code(code)
        if not game.is_legal(move):
            with pytest.raises(hk.IllegalMoveError, match=r"\Aillegal move [^\n]+\Z"):
                game.play(move)
            with pytest.raises(hk.IllegalMoveError, match=r"\Aillegal move [^\n]+\Z"):
                game.undo_all([move])


@for_every_game
def test_a_number_that_stands_for_no_move_is_refused(name: str) -> None:
    of_code = hk.game_type(name).Move.from_code
    assert all(of_code(code).code == code for code in all_codes(name))
    beyond = {CODES[name], 2**16 + 1, 2**32 - 1}
    holes = set(range(CODES[name])) - set(all_codes(name))
    for code in beyond | holes:
        with pytest.raises(hk.NotationError, match=f"{code}"):
            of_code(code)


@for_every_game
@LAW
@given(st.data())
def test_all_counts_of_the_legal_moves_agree(name: str, data: st.DataObject) -> None:
    for game in (data.draw(positions(name)), data.draw(lines(name))):
        moves = game.legal_moves
        assert (
            game.count_moves()
            == len(moves)
            == len(codes(moves))
            == len({str(move) for move in moves})
        )
    free = data.draw(positions(name)).movement_only()
    finished = 1 if name == "othello" and free.outcome else 0
    assert free.perft(1) == free.count_moves() + finished


def slow_perft(game: Any, depth: int) -> int:
    if depth == 0:
        return 1
    moves = game.legal_moves
    if not moves and isinstance(game, hk.Othello | hk.Othello.Line):
        return 1
    return sum(slow_perft(game.play(move), depth - 1) for move in moves)


@for_every_game
@settings(LAW, max_examples=8)
@given(st.data())
def test_perft_counts_what_playing_every_line_counts(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    free = game.movement_only()
    assert game.perft(0) == 1
    depth = 3 if free.count_moves() < 12 else 2 if free.count_moves() < 90 else 1
    assert game.perft(depth) == slow_perft(free, depth)


@for_every_game
@LAW
@given(st.data())
def test_a_game_is_read_back_from_its_text(name: str, data: st.DataObject) -> None:
    for game in (data.draw(positions(name)), data.draw(lines(name))):
        read = type(game).from_text(game.text)
        assert read == game
        assert (read.text, read.hash, read.to_play) == (game.text, game.hash, game.to_play)
        assert (read.outcome, read.score) == (game.outcome, game.score)
        assert codes(read.legal_moves) == codes(game.legal_moves)
        assert str(game) == game.text
        assert game.text in repr(game)
        assert "\n" not in game.text


@for_every_game
@LAW
@given(st.data())
def test_games_and_moves_survive_pickling(name: str, data: st.DataObject) -> None:
    for game in (data.draw(positions(name)), data.draw(lines(name))):
        value = (game, game.text, game.legal_moves[:5], game.to_play)
        assert pickle.loads(pickle.dumps(value)) == value


def other_notations(game: Any, move: Any, previous: Any) -> list[Any]:
    """The move as read back from every way to write it that is not str()."""
    match game:
        case hk.Chess():
            return [game.parse(game.san(move))]
        case hk.Shogi():
            kif = game.kif(move, previous)
            return [
                game.parse(game.csa(move)),
                game.parse(game.kif(move)),
                game.parse_kif(kif, previous),
            ]
        case hk.BlokusDuo():
            return [game.parse(move.short_code())]
        case hk.Othello():
            return [game.parse(str(move).upper())]
    return [game.parse(move.sgf()), game.parse(str(move).lower())]


@for_every_game
@LAW
@given(st.data())
def test_a_move_is_read_back_from_its_texts_and_its_code(name: str, data: st.DataObject) -> None:
    _, past, game = data.draw(walks(name))
    for move in game.legal_moves[:120]:
        assert game.parse(str(move)) == move
        assert game.line().parse(str(move)) == move
        assert game.is_legal(str(move))
        assert type(move).from_code(move.code) == move
        assert hash(type(move).from_code(move.code)) == hash(move)
        assert str(move) in repr(move)
        for read in other_notations(game, move, past[-1] if past else None):
            assert read == move


@for_every_game
@LAW
@given(st.data())
def test_symmetries_commute_with_play_and_keep_legality_and_outcome(
    name: str, data: st.DataObject
) -> None:
    game = data.draw(positions(name))
    kind = type(game)
    if kind.symmetries == 1:
        assert name == "chess"
        return
    moves = game.legal_moves
    for s in range(kind.symmetries):
        seen = game.transformed(s)
        seen.check_consistency()
        assert seen.text == kind.from_text(seen.text).text
        assert (seen.outcome, seen.score, seen.to_play) == (game.outcome, game.score, game.to_play)
        assert sorted(seen.cells.ravel()) == sorted(game.cells.ravel())
        assert codes(seen.legal_moves) == codes(kind.transformed_move(move, s) for move in moves)
        assert any(seen.transformed(back) == game for back in range(kind.symmetries))
        for move in moves[:: max(1, len(moves) // 4)]:
            there = seen.play(kind.transformed_move(move, s))
            assert there == game.play(move).transformed(s)
            assert there.hash == game.play(move).transformed(s).hash
    assert game.transformed(0) == game
    assert len({game.transformed(s).text for s in range(kind.symmetries)}) in (1, 2, 4, 8)
    for outside in (-1, kind.symmetries):
        with pytest.raises(IndexError):
            game.transformed(outside)


@for_every_game
@settings(LAW, max_examples=8)
@given(st.data())
def test_random_games_end(name: str, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from([s for s in starts(name) if not s.text.endswith("ignored")]))
    line = start.line()
    at = start
    seed = data.draw(st.integers(0, 2**32))
    while (move := line.random_move(seed + len(line))) is not None:
        assert len(line) < LONGEST[name]
        assert at.is_legal(move)
        line = line.play(move)
        at = at.play(move)
    assert line.outcome is not None
    assert line.position == at


@for_every_game
@LAW
@given(st.data())
def test_a_game_is_over_exactly_when_there_is_no_move(name: str, data: st.DataObject) -> None:
    start, moves, _ = data.draw(walks(name))
    at, line = start, start.line()
    for move in moves:
        for game in (at, line):
            assert (game.outcome is None) == bool(game.legal_moves)
            assert (game.outcome is None) == (game.random_move(len(line)) is not None)
        at = at.play(move)
        if line.is_legal(move):
            line = line.play(move)


@for_every_game
@LAW
@given(st.data())
def test_the_final_score_names_the_winner(name: str, data: st.DataObject) -> None:
    """In playouts the score alone decides who won."""
    drawn = data.draw(games(name))
    game = drawn
    seed = data.draw(st.integers(0, 2**32))
    for ply in range(LONGEST[name]):
        move = game.random_move(seed + ply)
        if move is None:
            break
        game = game.play(move)
    if game.outcome is None:
        assert "ignored" in game.text
        return
    value = {None: 0.5, hk.Player.first: 1.0, hk.Player.second: 0.0}[game.outcome.winner]
    assert game.outcome.value == value
    assert (np.sign(game.score) + 1) / 2 == value


@for_every_game
@LAW
@given(st.data())
def test_playing_changes_nothing_in_the_game_played_from(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    before = (
        game.text,
        game.hash,
        game.to_play,
        game.outcome,
        game.cells.tobytes(),
        codes(game.legal_moves),
    )
    moves = game.legal_moves
    for move in moves[:: max(1, len(moves) // 8)]:
        after = game.play(move)
        assert after != game
        assert after.to_play == game.to_play.other
    game.legal_moves.clear()
    game.cells[:] = 1
    assert before == (
        game.text,
        game.hash,
        game.to_play,
        game.outcome,
        game.cells.tobytes(),
        codes(game.legal_moves),
    )


@for_every_game
@LAW
@given(st.data())
def test_undo_of_a_line_is_the_inverse_of_play(name: str, data: st.DataObject) -> None:
    start, moves, line = data.draw(line_walks(name))
    assert line.moves == moves
    assert len(line) == len(moves)
    if moves:
        shorter = line.undo()
        assert shorter.play(moves[-1]) == line
        assert shorter.moves == moves[:-1]
    for move in line.legal_moves[:3]:
        back = line.play(move).undo()
        assert back == line
        assert (back.text, back.hash, back.outcome) == (line.text, line.hash, line.outcome)
        assert codes(back.legal_moves) == codes(line.legal_moves)
    with pytest.raises(ValueError, match="no move to take back"):
        start.undo()


@for_every_game
@LAW
@given(st.data())
def test_a_line_is_its_position_and_rules_that_only_take_away(
    name: str, data: st.DataObject
) -> None:
    start, moves, line = data.draw(line_walks(name))
    at = start.position
    assert line.start == at
    for move in moves:
        at = at.play(move)
    assert line.position == at
    assert line.to_play == at.to_play
    assert line.hash == at.hash
    assert (line.cells == at.cells).all()
    assert codes(line.legal_moves) <= codes(at.legal_moves)
    if at.outcome is not None:
        assert line.outcome == at.outcome
    if line.outcome is None and not name.startswith("go"):
        assert codes(line.legal_moves) == codes(at.legal_moves)


@for_every_go
@LAW
@given(st.data())
def test_superko_forbids_exactly_the_stones_that_bring_back_a_board(
    name: str, data: st.DataObject
) -> None:
    start, moves, line = data.draw(line_walks(name))
    at = start.position
    boards = {at.cells.tobytes()}
    for move in moves:
        at = at.play(move)
        boards.add(at.cells.tobytes())
    for move in at.legal_moves:
        repeats = str(move) != "pass" and at.play(move).cells.tobytes() in boards
        assert line.is_legal(move) == (not repeats)


@for_every_game
@LAW
@given(st.data(), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=10))
def test_a_random_move_is_legal_and_depends_on_the_seed_alone(
    name: str, data: st.DataObject, seeds: list[int]
) -> None:
    game = data.draw(games(name))
    for seed in seeds:
        move = game.random_move(seed)
        assert move == game.random_move(seed)
        assert (move is None) == (game.outcome is not None)
        assert move is None or game.is_legal(move)


def fills_own_eye(game: Any, move: Any) -> bool:
    """All sides are own stones, and at most one corner, at the edge none, is the opponent's."""
    size, cells = type(game).size, game.cells
    own = 1 if game.to_play == hk.Player.first else -1
    row, column = divmod(move.code, size)

    def around(steps: tuple[tuple[int, int], ...]) -> list[int]:
        points = [(row + down, column + right) for down, right in steps]
        return [int(cells[p]) for p in points if min(p) >= 0 and max(p) < size]

    corners = around(((-1, -1), (-1, 1), (1, -1), (1, 1)))
    sides = around(((-1, 0), (1, 0), (0, -1), (0, 1)))
    return set(sides) == {own} and corners.count(-own) + (len(corners) < 4) < 2


def playable(game: Any) -> list[Any]:
    """The moves that a random playout draws from."""
    moves: list[Any] = game.legal_moves
    position = getattr(game, "position", game)
    if not hasattr(position, "ko"):
        return moves
    stones = [move for move in moves if str(move) != "pass" and not fills_own_eye(position, move)]
    return stones or moves[-1:]


@for_every_go
@LAW
@given(st.data())
def test_a_playout_fills_no_own_eye_and_passes_only_when_nothing_is_left(
    name: str, data: st.DataObject
) -> None:
    game = data.draw(positions(name))
    for ply in range(80):
        move = game.random_move(ply)
        if move is None:
            break
        if str(move) == "pass":
            assert playable(game) == [move]
        else:
            assert not fills_own_eye(game, move)
        game = game.play(move)


@for_every_game
@settings(LAW, max_examples=6)
@given(st.data(), st.integers(0, 2**64 - 1), st.integers(0, 40))
def test_the_threads_do_not_change_the_playouts(
    name: str, data: st.DataObject, seed: int, limit: int
) -> None:
    game = data.draw(games(name))
    one = hk.playouts(game, 150, seed=seed, limit=limit)
    many = hk.playouts(game, 200, seed=seed, limit=limit, threads=3)
    for a, b in (
        (one.outcomes, many.outcomes),
        (one.lengths, many.lengths),
        (one.scores, many.scores),
    ):
        assert (a == b[:150]).all()


@for_every_game
@LAW
@given(st.data(), st.integers(0, 2**64 - 1), st.none() | st.integers(0, 300))
def test_the_three_arrays_of_playouts_tell_one_story(
    name: str, data: st.DataObject, seed: int, limit: int | None
) -> None:
    game = data.draw(games(name))
    assume(limit is not None or "ignored" not in game.text)
    results = hk.playouts(game, 20, seed=seed, limit=limit)
    assert (
        len(results) == len(results.outcomes) == len(results.lengths) == len(results.scores) == 20
    )
    assert (results.outcomes == np.sign(results.scores)).all()
    assert results.lengths.min() >= 0
    most = limit if limit is not None else LONGEST[name]
    assert results.lengths.max() <= most
    if game.outcome is not None:
        assert (results.lengths == 0).all()
    elif most > 0:
        assert results.lengths.min() > 0
    if game.outcome is not None or most == 0:
        assert (results.scores == game.score).all()


def mangled(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, length, put in edits:
        at = start % (len(text) + 1)
        text = text[:at] + put + text[at + length :]
    return text


def texts_near(text: str) -> st.SearchStrategy[str]:
    """The text with a few of its characters deleted, moved about or replaced."""
    pieces = (
        st.text(sorted(set(text)), max_size=3)
        | st.text("kKpPxXoO-/ 0123456789+*(),", max_size=2)
        | st.sampled_from(["é", "玉", "∞", "\0", "\n", "\t", "-1", "99999999999"])
    )
    edits = st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 3), pieces), min_size=1, max_size=3
    )
    return edits.map(lambda made: mangled(text, made))


@for_every_game
@MANY
@given(st.data())
def test_any_text_is_either_a_lawful_game_or_a_notation_error(
    name: str, data: st.DataObject
) -> None:
    start = data.draw(st.sampled_from(starts(name)))
    kind = data.draw(st.sampled_from([type(start), type(start.line())]))
    text = data.draw(
        st.text() | texts_near(start.text) | texts_near(walk(start.line(), [1, 4, 7]).end.text)
    )
    try:
        game = kind.from_text(text)
    except hk.Error:
        return
    game.check_consistency()
    assert kind.from_text(game.text) == game
    assert (game.outcome is None) == bool(game.legal_moves)
    assert game.count_moves() == len(game.legal_moves)
    for move in game.legal_moves[:3]:
        game.play(move).check_consistency()


@for_every_game
@MANY
@given(st.data())
def test_any_text_is_either_a_move_or_an_error_of_ours(name: str, data: st.DataObject) -> None:
    game = data.draw(st.sampled_from(starts(name)))
    written = [str(move) for move in game.legal_moves[:20]]
    near = st.sampled_from(
        [*written, "Nbxd7=Q+", "O-O-O", "+7776FU", "５五角打", "７六歩(77)", "66r0"]
    )
    text = data.draw(st.text() | near.flatmap(texts_near))
    for at in (game, game.line()):
        try:
            move = at.parse(text)
        except hk.Error:
            with pytest.raises(hk.Error):
                at.play(text)
        else:
            assert at.is_legal(text) == at.is_legal(move) == (move.code in codes(at.legal_moves))


def chi_square_excess(counts: dict[Any, int], expected: dict[Any, float]) -> float:
    """How far Pearson's chi-square is too large, in standard deviations (Wilson, Hilferty 1931)."""
    assert set(counts) <= set(expected)
    freedom = len(expected) - 1
    if freedom == 0:
        return 0
    square = sum((counts.get(key, 0) - mean) ** 2 / mean for key, mean in expected.items())
    spread = 2 / (9 * freedom)
    return float(((square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def unevenness(game: Any, draws_per_move: int) -> float:
    """By how much the random moves of a game are drawn less evenly than chance has it."""
    moves = playable(game)
    counts: dict[int, int] = defaultdict(int)
    for seed in range(draws_per_move * len(moves)):
        counts[game.random_move(seed).code] += 1
    return chi_square_excess(counts, dict.fromkeys(codes(moves), draws_per_move))


@for_every_game
@settings(LAW, max_examples=100)
@given(st.data())
def test_random_moves_are_uniform_in_any_position(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    if game.outcome is None:
        assert unevenness(game, 20) < 5


UNIFORM: Final = {
    "shogi, a king with forbidden squares": "4k4/9/9/9/r8/9/3b5/3GK4/8r b GS2P 1",
    "shogi, drop-pawn mate must be refused": "7nk/9/7G1/9/9/9/9/9/K8 b P 1",
    "shogi, check by a slider": "4k4/9/9/9/4r4/9/9/9/4K4 b 2PGLNSB 1",
    "shogi, double check": "4k4/9/9/9/4r4/9/3n5/9/4K4 b RB 1",
    "shogi, pieces in hand": SHOGI_HANDS,
    "shogi, every piece near the zone": "9/1R2B4/LNSG+P+L+N+S+B/PLNSG1P1+R/9/9/9/9/k3K4 b - 1",
    "shogi, White's pieces near the zone": "4k3K/9/9/9/9/+r1p1gsnlp/+b+s+n+l+pgsnl/4b2r1/9 w - 1",
    "shogi, a declaration": "K+R+R+B+B4/GGGGSS3/9/9/9/9/9/9/k8 b 2P 1 declaration",
    "chess, castling": KIWIPETE,
    "chess, promotions": "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "chess, en passant": "4k3/8/8/3pPp2/8/8/8/4K3 w - d6 0 2",
    "chess, pins and check": "4k3/8/8/1b6/7b/8/3NBP2/4K2r w - - 0 1",
    "othello, the start": hk.Othello().text,
    "go5, own eyes": "1XX1O/XXXOO/1X1O1/XXXOO/2XO1 b - 0 0.5",
    "go5, only passes": "1XX1X/XXXXX/XX1XX/XXXXX/1XXX1 b - 0 0.5",
    "go5, ko and suicide": "1XO2/X1XO1/1XO1O/5/5 w B4 0 0.5",
    "go9, the start": hk.Go9(handicap=4).text,
    "blokus_duo, the second move": hk.BlokusDuo().play("55a0").text,
    "blokus_duo, late": BLOKUS_LATE + " o",
    "blokus_duo, a pass": BLOKUS_LATE + " x",
}


def line_before_superko() -> Any:
    """On 3x3, Black may not take back the stone that took two."""
    return hk.Go3.from_text("1O1/1OX/1X1 b - 0 0").line().play("C3").play("C1")


@pytest.mark.parametrize("case", [*UNIFORM, "go3, superko"])
def test_random_moves_are_uniform_over_the_playable_moves(case: str) -> None:
    name = case.partition(",")[0]
    game = (
        line_before_superko()
        if case == "go3, superko"
        else hk.game_type(name).from_text(UNIFORM[case])
    )
    assert unevenness(game, 100) < 5


def score_chances(
    game: Any, plies: int, known: dict[tuple[str, int], dict[float, float]]
) -> dict[float, float]:
    """The exact chance of each score after so many uniform moves."""
    if plies == 0 or game.outcome is not None:
        return {game.score: 1.0}
    key = (game.text, plies)
    if key not in known:
        moves = playable(game)
        chances: dict[float, float] = defaultdict(float)
        for move in moves:
            for score, chance in score_chances(game.play(move), plies - 1, known).items():
                chances[score] += chance / len(moves)
        known[key] = dict(chances)
    return known[key]


SHORT_PLAYOUTS: Final = {
    "othello, the start": (hk.Othello().text, 4),
    "othello, a pass": ("OX" + "-" * 62 + " X", 2),
    "chess, mate or not": ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 1),
    "chess, mates and stalemates": ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 3),
    "shogi, mate or not": ("8k/9/6GP1/9/9/9/9/9/9 b G 1", 1),
    "go3, an empty board": ("3/3/3 b - 0 0", 6),
    "go3, captures": ("XO1/1XO/O1X w - 0 0", 8),
    "go5, eyes that sleep and wake": ("1XX1O/XXXOO/1X1O1/XXXOO/2XO1 b - 0 0.5", 7),
    # White's stone on D4 makes the eye on C5 false without an atari; once Black fills it, A5 kills.
    "go5, an eye made false from its corner": ("1X1XX/XXX1X/OOOOX/OOOO1/1O1OO w - 0 0.5", 7),
    "go5, eyes in atari": ("1XO2/XXO1O/OOOO1/1O1O1/OOOO1 b - 0 0.5", 6),
    "blokus_duo, the first move": (hk.BlokusDuo().text, 1),
    "blokus_duo, late": (BLOKUS_LATE + " o", 3),
}


@pytest.mark.parametrize("case", SHORT_PLAYOUTS)
@pytest.mark.parametrize("as_line", [False, True], ids=["position", "line"])
def test_short_playouts_reach_each_score_as_often_as_chance_has_it(
    case: str, as_line: bool
) -> None:
    text, plies = SHORT_PLAYOUTS[case]
    game = hk.game_type(case.partition(",")[0]).from_text(text)
    game = game.line() if as_line else game
    chances = score_chances(game, plies, {})
    count = 20_000
    scores, counts = np.unique(
        hk.playouts(game, count, seed=5, limit=plies).scores, return_counts=True
    )
    found = dict(zip(scores.tolist(), counts.tolist(), strict=True))
    assert set(found) <= set(chances)
    # Scores too rare for the approximation are left to the line above.
    usual = {score: chance * count for score, chance in chances.items() if chance * count >= 5}
    assert chi_square_excess({score: found.get(score, 0) for score in usual}, usual) < 5


@for_every_game
def test_playouts_agree_with_games_played_by_random_moves(name: str) -> None:
    """Playouts of Go keep a list of places of their own: they must still be the same games."""
    start = starts(name)[0]
    count = {"go13": 150, "go19": 60, "chess": 150, "blokus_duo": 150}.get(name, 400)
    values, lengths = [], []
    limit = 3 * start.size**2 if name.startswith("go") else LONGEST[name]
    for i in range(count):
        game, plies = start, 0
        while plies < limit and (move := game.random_move(1000 * i + plies)) is not None:
            game, plies = game.play(move), plies + 1
        values.append(float(np.sign(game.score)))
        lengths.append(plies)
    results = hk.playouts(start, 4000, seed=3, limit=limit)
    for ours, theirs in ((values, results.outcomes), (lengths, results.lengths)):
        error = (np.var(theirs) * (1 / count + 1 / 4000)) ** 0.5
        assert abs(np.mean(ours) - theirs.mean()) <= 5 * error


def test_the_walks_reach_what_the_laws_are_about() -> None:
    """Laws over walks that never castle, drop, pass or end would be hollow."""
    seen: set[str] = set()
    for name, seed in product(NAMES, range(40)):
        numbers = np.random.default_rng(seed).integers(0, 9999, PLIES[name]).tolist()
        at, moves, end = walk(starts(name)[seed % len(starts(name))], numbers)
        for move in moves:
            written = at.san(move) if name == "chess" else str(move)
            seen |= {f"{name} {mark}" for mark in ("O-O", "=", "+", "*", "pass") if mark in written}
            at = at.play(move)
            if getattr(at, "ko", None) is not None:
                seen.add("ko")
        seen.add(f"{name} {end.outcome.reason.name if end.outcome else 'goes on'}")
    assert seen >= {"chess O-O", "chess =", "shogi +", "shogi *", "othello pass", "blokus_duo pass"}
    assert seen >= {"ko", "go3 score", "go5 score", "othello score", "blokus_duo score"}
    assert seen >= {"chess checkmate", "chess move_rule", "chess insufficient_material"}
    assert seen >= {"shogi checkmate", "shogi ply_limit", "shogi declaration"}
