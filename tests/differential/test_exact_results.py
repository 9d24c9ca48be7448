# SPDX-License-Identifier: Apache-2.0
"""Alpha-beta against minimax, and proven results against exhaustive solving, in plain Python."""

from functools import cache
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Go3, Go4, Go5, Player, Reason
from hyoka.games import name_of
from hyoka.search import LinearEvaluation, SearchLimits, SearchResult, linear_evaluation

from .test_mcts import walked

DECIDED = 20_000
MATE = 30_000


def minimax(line: Any, depth: int, ply: int, evaluation: LinearEvaluation) -> float:
    """The score for the first player, as `alphabeta.h` says scores of finished games are."""
    outcome = line.outcome
    if outcome is not None:
        sign = {1.0: 1, 0.5: 0, 0.0: -1}[outcome.value]
        if outcome.reason in (Reason.checkmate, Reason.stalemate):
            return sign * (MATE - ply)
        return sign * (DECIDED + abs(line.score)) if outcome.reason is Reason.score else 0
    if depth == 0:
        return int(evaluation.score([line.position])[0])
    scores = [minimax(line.play(move), depth - 1, ply + 1, evaluation) for move in line.legal_moves]
    return max(scores) if line.to_play is Player.first else min(scores)


def score_of(result: SearchResult) -> float:
    """A result as alpha-beta's one number."""
    if result.mate is not None:
        return (MATE - abs(result.mate)) * (1 if result.mate > 0 else -1)
    assert result.score is not None
    if result.proven is not None:
        return result.score + (DECIDED if result.value == 1 else -DECIDED)
    return result.score


POSITIONS = [
    (hk.Othello(), 10, 3),
    (hk.Othello(), 53, 4),
    (Go3(komi=0.5), 3, 3),
    (Go5(komi=2.5), 8, 2),
    (hk.Chess(), 20, 2),
    (hk.Chess(), 70, 2),
    (hk.Shogi(), 30, 2),
    (hk.BlokusDuo(), 22, 2),
]
SWITCHES = [
    "plain=on",
    "exact=on",
    "exact=on,hash=0",
    "exact=on,hash_move=off,captures=off",
    "exact=on,killers=off,history=off",
    "exact=on,principal_variation=off,aspiration=0",
]


@pytest.mark.parametrize(("game", "plies", "depth"), POSITIONS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_alpha_beta_is_minimax(game: Any, plies: int, depth: int, seed: int) -> None:
    line = walked(game, plies, seed).position.line()
    if line.outcome is not None:
        pytest.fail("choose another seed: the game is over")
    expected = minimax(line, depth, 0, linear_evaluation(name_of(game)))
    for switches in SWITCHES:
        result = hk.search_once(line, f"ab:depth={depth},quiescence=off,eval=built-in,{switches}")
        assert score_of(result) == expected, switches
        after = minimax(line.play(result.best), depth - 1, 1, linear_evaluation(name_of(game)))
        assert after == expected, switches


def forces_a_win(line: Any, winner: Player, plies: int) -> bool:
    """Whether a player forces a win within a number of plies, under all rules."""
    outcome = line.outcome
    if outcome is not None:
        return bool(outcome.winner is winner)
    if plies == 0:
        return False
    results = (forces_a_win(line.play(move), winner, plies - 1) for move in line.legal_moves)
    return any(results) if line.to_play is winner else all(results)


@pytest.mark.parametrize(("game", "plies"), [(Go3(komi=0.5), 6), (Go4(komi=0.5), 14)])
def test_what_is_proven_in_small_go_is_forced_and_what_is_forced_is_proven(
    game: Any, plies: int
) -> None:
    proven = 0
    for seed in range(60):
        line = walked(game, plies, seed)
        if line.outcome is not None:
            continue
        result = hk.search_once(line, "uct:preset=paper,playouts=3000")
        if result.proven in ("won", "lost") and result.mate is not None and abs(result.mate) <= 5:
            winner = Player.first if result.value == 1 else Player.second
            assert forces_a_win(line, winner, abs(result.mate))
            assert not forces_a_win(line, winner, abs(result.mate) - 1) or result.proven == "lost"
            proven += 1
        if forces_a_win(line, line.to_play, 3):
            assert result.proven == "won"
            assert hk.search_once(line, "ab:depth=4").proven == "won"
    assert proven >= 5


@pytest.mark.parametrize(
    "spec", ["uct:playouts=3000000,memory=1000", "ab:depth=40,nodes=5000000,hash=64"]
)
def test_black_takes_the_whole_board_of_three_by_three(spec: str) -> None:
    """The known value of 3×3 is 9: Black plays the center and nothing of White's lives."""
    result = hk.search_once(Go3(komi=8.5), spec, limits=SearchLimits())
    assert (str(result.best), result.proven) == ("B2", "won")


@cache
def solved(game: Any) -> float:
    """The exact result of an Othello position for the first player."""
    if game.outcome is not None:
        return float(game.outcome.value)
    values = [solved(game.play(move)) for move in game.legal_moves]
    return max(values) if game.to_play is Player.first else min(values)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "spec", ["uct:playouts=200000", "uct:playouts=2000,ending=6", "exact", "ab:depth=20"]
)
def test_othello_endings(seed: int, spec: str) -> None:
    game = walked(hk.Othello(), 53, seed).position
    assert game.outcome is None
    result = hk.search_once(game, spec)
    assert result.value == solved(game)
    assert result.stopped_by in ("proven", "solved")
    assert solved(game.play(result.best)) == solved(game)
