# SPDX-License-Identifier: Apache-2.0
"""Passes over many games against slow twins that look at one position at a time."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import hyoka as hk
from hyoka import _core
from hyoka.games import GAMES, game_facts
from hyoka.records import Record
from hyoka.records.bulk import UNFINISHED, GameTable
from hyoka.search import ab, linear_evaluation
from hyoka.search.assembly import alpha_beta_options

TACTICAL: Final = ("chess", "shogi")
# Beside the usual ones: where walks from those seldom come.
STARTS: Final = {
    "chess": (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "8/8/4k3/8/8/3QK3/8/8 w - - 95 80",
    ),
    "shogi": (
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
        "7nk/9/7G1/9/9/9/9/9/K8 b P2r2b3g4s3n4l17p 1 limit=80",
        "K+R+R+B+B4/GGGGSS3/9/9/9/9/9/9/k8 b 2P2s4n4l16p 1 declaration limit=60",
    ),
    "go5": ("1XO2/XO1O1/1XO2/5/5 b - 0 0.5", "5/XXXX1/XOOOX/XO2X/5 b - 1 0"),
    "go9": (hk.Go9(komi=0.5, handicap=4).text,),
    "othello": ("OX" + "-" * 62 + " X",),
    "blokus_duo": (
        "1X1XXXO1OOOOX1/1XX1XOOO1XXOX1/XX4XXX1OXXX/2X3X2XOOO1/2XXXX1XXO2O1/XX4XXXOOO2/X1X1XX3O4"
        "/2X1XX2O1OOO1/2X1O1O1O5/1OOO1OO1OO1O2/1O4OO1O1O2/1O2OO2O1OO2/4OOO1OO4/9OO3 o bonus -",
    ),
}
REAL: Final = {
    "chess": "chess/twic_human.pgn.xz",
    "shogi": "shogi/floodgate2016.csa.xz",
    "othello": "othello/wthor_1977-2020.zip",
    "go9": "go9/ogs9_human.sgf.xz",
    "go19": "go19/pro_aeb.sgf.xz",
    "blokus_duo": "blokus_duo/mcts_selfplay.blksgf.gz",
}


def random_record(name: str, start: str, seed: int) -> Record:
    """A game of random moves, as a record; it ends where the rules end it."""
    rng = random.Random(seed)
    game, codes = hk.position(name, start), list[int]()
    while game.outcome is None and len(codes) < 60:
        move = rng.choice(game.legal_moves)
        codes.append(move.code)
        game = game.play(move)
    return Record(name, np.array(codes, np.uint16), start=start)


def random_records(name: str, each: int = 3) -> list[Record]:
    starts = (hk.position(name).text, *STARTS.get(name, ()))
    return [
        random_record(name, start, seed) for start, seed in itertools.product(starts, range(each))
    ]


@pytest.fixture(params=GAMES, scope="module")
def records(request: pytest.FixtureRequest) -> list[Record]:
    """Random games of each game, some from seldom starts."""
    return random_records(request.param)


@pytest.fixture(params=sorted(REAL), scope="module")
def real_records(
    request: pytest.FixtureRequest, shared_data: Callable[[str], Path]
) -> list[Record]:
    """Some recorded games."""
    file = shared_data(REAL[request.param])
    return list(itertools.islice(hk.read_records(file), 8))


def walked(record: Record) -> Iterator[Any]:
    """The positions of a record as Python plays them, one after the other."""
    position = record.position(0)
    yield position
    for move in record.move_list:
        if position.outcome is not None:
            return  # the record goes on where the rules would end the game
        position = position.play(move)
        yield position


def test_positions_are_those_that_python_plays(records: list[Record]) -> None:
    table = GameTable.from_records(records)
    assert list(table.positions()) == [position for each in records for position in walked(each)]


def assert_same_terms(records: list[Record]) -> None:
    table = GameTable.from_records(records)
    positions = list(table.positions())
    evaluation = linear_evaluation(table.game)
    amounts, progress = evaluation.amounts(positions)
    terms = table.terms()
    assert (terms.matrix().toarray() == amounts).all()
    assert (terms.progress == progress).all()
    assert (terms.amounts != 0).all()
    assert terms.matrix().has_canonical_format
    over = [position.outcome for position in positions]
    results = [UNFINISHED if each is None else round(2 * each.value - 1) for each in over]
    assert table.outcomes().tolist() == results


def test_terms_and_outcomes_are_those_of_each_position(records: list[Record]) -> None:
    assert_same_terms(records)


def test_terms_and_outcomes_of_recorded_games(real_records: list[Record]) -> None:
    assert_same_terms(real_records)


def assert_same_move_features(records: list[Record]) -> None:
    table = GameTable.from_records(records)
    found = table.move_features()
    names = [name for name, _ in _core.move_features(table.game)]
    # With strengths that nothing else has, a product tells its factors.
    strengths = np.exp(np.random.default_rng(1).normal(0, 0.3, len(names))).astype(np.float32)
    model = _core.feature_strengths(table.game, strengths.tolist())
    row = move = 0
    for record in records:
        replay = _core.Replay(table.game, record.start, float("nan"), record.moves)
        for ply in range(len(record) + 1):
            line: Any = replay.line(ply)
            if len(line) == ply and line.position.outcome is None:
                moves, rated = _core.weigh_moves(table.game, line, model)
                codes = [each.code for each in moves]
                assert found.moves[row].tolist() == codes
                played = record.moves[ply] if ply < len(record) else None
                assert found.played[row] == (-1 if played is None else codes.index(played))
                for expected in rated.tolist():
                    product = np.float32(1)
                    for feature in found.features[move]:
                        product *= strengths[feature]
                    assert product == np.float32(expected)
                    move += 1
            else:
                move += len(found.moves[row])
            row += 1
    assert (row, move) == (len(found.moves), len(found.features))


def test_move_features_are_those_that_moves_are_rated_by(records: list[Record]) -> None:
    assert_same_move_features(records)


def test_move_features_of_recorded_games(real_records: list[Record]) -> None:
    assert_same_move_features(real_records[:2])


def leaf_by_alpha_beta(search: Any, before: Any, move: Any) -> tuple[list[int], int] | None:
    """The codes to where alpha-beta's quiescence after `move` comes to rest, and what it says.

    A search of one ply with a single root move is a quiescence search after that move.
    """
    if before.outcome is not None or not before.is_legal(move):
        return None
    search.run(before.line(), [move], 1, 0, 0.0, 0.0, None)
    score, _, variation = search.found()["variations"][0]
    return [each.code for each in variation[1:]], score


def assert_same_leaves(records: list[Record]) -> None:
    table = GameTable.from_records(records)
    evaluation = linear_evaluation(table.game)
    models = _core.GivenModels()
    models.evaluation = evaluation.model()
    options = alpha_beta_options(ab(exact=True, hash=0))
    search = _core.AlphaBeta(table.game, options, models)
    quiet = table.quiet_terms(evaluation.flat)
    leaves = []
    row = -1
    for record in records:
        positions = list(record.positions())
        for ply, position in enumerate(positions):
            row += 1
            leaf = position
            for code in quiet.moves[row].tolist():
                leaf = leaf.play(game_facts(table.game).move(code))
            leaves.append(leaf)
            static = int(evaluation.score([leaf])[0])
            assert quiet.rests[row] == (leaf.outcome is None and quiet.scores[row] == static)
            if ply == 0:
                continue
            found = leaf_by_alpha_beta(search, positions[ply - 1], record.move_list[ply - 1])
            if found is None:
                continue
            codes, score = found
            assert quiet.moves[row].tolist() == codes
            if abs(score) < 20_000:
                assert quiet.scores[row] == score
            else:  # a ply nearer than from the position before
                assert abs(int(quiet.scores[row])) == abs(score) + 1
    assert quiet.rests.mean() > 0.9
    amounts, progress = evaluation.amounts(leaves)
    assert (quiet.terms.matrix().toarray() == amounts).all()
    assert (quiet.terms.progress == progress).all()


@pytest.mark.parametrize("game", TACTICAL)
def test_quiet_leaves_are_those_of_alpha_beta(game: str) -> None:
    assert_same_leaves(random_records(game, each=1))


@pytest.mark.parametrize("game", TACTICAL)
def test_quiet_leaves_of_recorded_games(game: str, shared_data: Callable[[str], Path]) -> None:
    assert_same_leaves(list(itertools.islice(hk.read_records(shared_data(REAL[game])), 4)))


def plane_twin(position: Any) -> dict[str, NDArray[np.uint8]]:
    """A position's planes by name, from what Python sees of it."""
    kinds = {
        hk.Chess: "pawn knight bishop rook queen king",
        hk.Shogi: "pawn lance knight silver bishop rook gold king promoted_pawn promoted_lance"
        " promoted_knight promoted_silver horse dragon",
    }.get(type(position), "piece")
    cells = position.cells
    planes = {
        f"{player}_{kind}": (cells == sign * code).astype(np.uint8)
        for player, sign in (("first", 1), ("second", -1))
        for code, kind in enumerate(kinds.split(), 1)
    }
    full = np.ones_like(cells, np.uint8)
    planes["first_to_play"] = full * (position.to_play is hk.Player.first)
    if isinstance(position, hk.Shogi):
        for player in ("first", "second"):
            hand = position.hand(hk.Player[player])
            for letter, kind in zip("PLNSBRG", kinds.split(), strict=False):
                planes[f"{player}_{kind}s_in_hand"] = full * hand.get(letter, 0)
    elif isinstance(position, hk.BlokusDuo):
        for player in ("first", "second"):
            left = position.pieces_left(hk.Player[player])
            for piece in "abcdefghijklmnopqrstu":
                planes[f"{player}_has_{piece}"] = full * (piece in left)
    elif "ko" in dir(position):
        planes["ko"] = np.zeros_like(full)
        if position.ko is not None:
            planes["ko"].reshape(-1)[position.ko.code] = 1
    return planes


def assert_same_planes(records: list[Record]) -> None:
    table = GameTable.from_records(records)
    found = table.planes(legal=True)
    assert found.legal is not None
    assert found.played.tolist() == [
        code for record in records for code in [*record.moves.tolist(), -1]
    ]
    for row, position in enumerate(table.positions()):
        for name, plane in plane_twin(position).items():
            assert (found.planes[row, found.names.index(name)] == plane).all(), name
        if position.outcome is None:
            codes = [move.code for move in position.legal_moves]
            assert found.legal[row].tolist() == codes


def test_planes_are_what_python_sees_of_positions(records: list[Record]) -> None:
    assert_same_planes(records)


def test_planes_of_castling_and_en_passant(shared_data: Callable[[str], Path]) -> None:
    file = shared_data(REAL["chess"])
    records = [*random_records("chess"), *itertools.islice(hk.read_records(file), 20)]
    table = GameTable.from_records(records)
    found = table.planes()
    rooks, passing = (found.names.index(name) for name in ("castling_rooks", "en_passant"))
    seen = 0
    for row, position in enumerate(table.positions()):
        _, _, castling, square, *_ = position.text.split()
        assert found.planes[row, rooks].sum() == len(castling.replace("-", ""))
        marked = np.argwhere(found.planes[row, passing])
        names = ["abcdefgh"[file] + "87654321"[rank] for rank, file in marked]
        assert names == ([] if square == "-" else [square])
        seen += len(names)
    assert seen > 0


def all_arrays(table: GameTable, threads: int) -> Iterator[NDArray[Any]]:
    """What every pass finds, array by array."""
    columns = [column.name for column in _core.columns(table.game)]
    yield from table.describe(columns, threads=threads).values()
    yield table.outcomes(threads=threads)
    rows = [table.terms(threads=threads)]
    if table.game in TACTICAL:
        quiet = table.quiet_terms(linear_evaluation(table.game).flat, threads=threads)
        yield from (quiet.scores, quiet.rests, quiet.moves.offsets, quiet.moves.items)
        rows.append(quiet.terms)
    for terms in rows:
        yield from (terms.offsets, terms.terms, terms.amounts, terms.progress)
    features = table.move_features(threads=threads)
    for lists in (features.moves, features.features):
        yield from (lists.offsets, lists.items)
    yield features.played
    planes = table.planes(legal=True, threads=threads)
    assert planes.legal is not None
    yield from (planes.planes, planes.played, planes.legal.offsets, planes.legal.items)


@pytest.mark.parametrize("game", GAMES)
def test_the_number_of_threads_changes_nothing(game: str) -> None:
    each = 2 if game in TACTICAL else 8  # quiescence among many pieces in hand takes its time
    table = GameTable.from_records(random_records(game, each=each) * 2)
    assert len(table) > 600 or game in ("go3", "go4")  # enough for several threads
    alone, together = (list(all_arrays(table, threads)) for threads in (1, 4))
    for one, other in zip(alone, together, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
