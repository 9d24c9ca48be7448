# SPDX-License-Identifier: Apache-2.0
"""Walks through every game, from its start and from positions that are seldom reached."""

from functools import cache
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka._core import Go3, Go5
from hyoka.games import game_facts, game_type

# The examples are the same on every run and every machine, and no clock decides.
LAW: Final = settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
FEW: Final = settings(LAW, max_examples=8)
MANY: Final = settings(LAW, max_examples=75)


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
        Go3(komi=0).text,
        Go3(komi=-2.5).text,
        "1O1/1O1/1XO b - 0 3",
    ),
    "go5": (
        Go5(komi=2).text,
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


# And boards that random moves have filled.
FILLED: Final = {"othello": (20, 40, 50), "go9": (70,), "go13": (150,), "go19": (300,)}


@cache
def starts(name: str) -> tuple[Any, ...]:
    games = list(map(game_type(name).from_text, START_TEXTS[name]))
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
# Boards of one game read and write by the same code.
for_every_notation = pytest.mark.parametrize(
    "name", {game_facts(name).family: name for name in NAMES}.values()
)
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
    """Lists of every length alike; alone, Hypothesis prefers short ones, and games are long."""
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
