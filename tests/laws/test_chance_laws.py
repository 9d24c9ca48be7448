# SPDX-License-Identifier: Apache-2.0
"""What holds for random moves and playouts: legal, repeatable, and as uniform as promised."""

from collections import defaultdict
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka._core import Go3
from hyoka.games import Game, game_type

from .walks import (
    BLOKUS_LATE,
    KIWIPETE,
    LAW,
    LONGEST,
    SHOGI_HANDS,
    codes,
    for_every_game,
    for_every_go,
    games,
    positions,
    starts,
)


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
@settings(LAW, max_examples=40)
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
    return Go3.from_text("1O1/1OX/1X1 b - 0 0").line().play("C3").play("C1")


@pytest.mark.parametrize("case", [*UNIFORM, "go3, superko"])
def test_random_moves_are_uniform_over_the_playable_moves(case: str) -> None:
    name = case.partition(",")[0]
    game = (
        line_before_superko()
        if case == "go3, superko"
        else game_type(name).from_text(UNIFORM[case])
    )
    assert unevenness(game, 100) < 5


def score_chances(
    game: Any, plies: int, known: dict[tuple[str, int], dict[float, float]]
) -> dict[float, float]:
    """The exact chance of each score after a number of uniform moves."""
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
    start = hk.position(case.partition(",")[0], text)
    game: Game = start.line() if as_line else start
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
