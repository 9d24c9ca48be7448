# SPDX-License-Identifier: Apache-2.0
"""Tables that are kept between searches: after `clear` a search is the same as a new one's."""

import random
import subprocess
import sys
from typing import Any

import pytest

import hyoka as hk
from hyoka.games import GAMES, game_facts, games_with
from hyoka.search import Searcher, SearchLimits, SearchResult, find_mate, solve_ending
from hyoka.search import solvers as solvers_module

EPOCHS = 1 << 16
"""After that many calls of `clear` the tags of entries begin again."""
TACTICAL = {
    "chess": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 10",
    "shogi": "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
}
MATE = {
    "chess": "r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1",
    "shogi": "4k4/9/4P4/9/9/9/9/9/4K4 b G 1",
}


def random_positions(name: str, count: int, seed: int, plies: int = 60) -> list[Any]:
    rng = random.Random(seed)
    found = [hk.position(name, TACTICAL[name])] if name in TACTICAL else []
    while len(found) < count:
        line = hk.position(name)
        for _ in range(rng.randrange(plies)):
            if line.outcome is not None:
                break
            line = line.play(rng.choice(list(line.legal_moves)))
        if line.outcome is None:
            found.append(line)
    return found


def key(result: SearchResult) -> tuple[Any, ...]:
    """All that must not depend on what was searched before."""
    variations = [(str(each.move), each.score, each.mate) for each in result.moves]
    moves = [str(move) for move in result.pv]
    return (result.value, result.score, result.nodes, result.depth, moves, variations)


@pytest.mark.parametrize("settings", ["multipv=2", "exact=on"])
@pytest.mark.parametrize("name", [name for name in GAMES if name not in ("go13", "go19")])
def test_a_search_on_a_used_table_is_the_same_as_on_a_new_one(name: str, settings: str) -> None:
    spec = f"ab:hash=4,{settings}"
    limits = [SearchLimits(nodes=400), SearchLimits(depth=2), SearchLimits(nodes=4000)]
    used = Searcher(spec, name)
    for number, position in enumerate(random_positions(name, 9, seed=1)):
        used.clear()
        limit = limits[number % len(limits)]
        assert key(used.search(position, limit)) == key(
            Searcher(spec, name).search(position, limit)
        )


@pytest.mark.parametrize("name", ["othello", "chess"])
def test_old_entries_do_not_come_back_when_the_tags_wrap(name: str) -> None:
    spec = "ab:hash=1,nodes=3000"
    (position,) = random_positions(name, 1, seed=2, plies=20)
    expected = key(Searcher(spec, name).search(position))
    used = Searcher(spec, name)
    for wrapped in range(3):
        assert key(used.search(position)) == expected, wrapped
        for _ in range(EPOCHS - 1):  # with 0 never used, that is one round of the tags
            used.clear()


@pytest.mark.parametrize("name", games_with(lambda facts: facts.search.mate_solver))
def test_a_mate_solver_that_was_cleared_is_as_good_as_new(name: str) -> None:
    make = game_facts(name).search.mate_solver
    assert make is not None
    used = make(1)
    positions = [hk.position(name, MATE[name]), *random_positions(name, 6, seed=3, plies=120)]
    for position in [*positions, *positions]:
        used.clear()
        assert used.solve(position, 3000, 0.0)[:3] == make(1).solve(position, 3000, 0.0)[:3]
    expected = make(1).solve(positions[0], 3000, 0.0)[:3]
    assert expected[0] == "mate"
    for _ in range(2):
        for _ in range(EPOCHS - 1):
            used.clear()
        assert used.solve(positions[0], 3000, 0.0)[:3] == expected


def test_an_ending_solver_that_was_cleared_is_as_good_as_new() -> None:
    make = game_facts("othello").search.ending_solver
    assert make is not None
    used = make(1)
    rng = random.Random(4)
    positions: list[Any] = []
    while len(positions) < 8:
        game = hk.position("othello")
        for _ in range(49):
            if game.outcome is None:
                game = game.play(rng.choice(list(game.legal_moves)))
        if game.outcome is None:
            positions.append(game)
    for position in [*positions, *positions]:
        used.clear()
        assert used.solve(position, 0, 0.0, False)[:4] == make(1).solve(position, 0, 0.0, False)[:4]
    expected = make(1).solve(positions[0], 0, 0.0, False)[:4]
    for _ in range(2):
        for _ in range(EPOCHS - 1):
            used.clear()
        assert used.solve(positions[0], 0, 0.0, False)[:4] == expected


def test_solvers_are_kept_between_calls_and_know_nothing_of_the_last() -> None:
    mate = hk.position("chess", MATE["chess"])
    first = find_mate(mate, nodes=10_000, hash_mib=2)
    kept = solvers_module._cache[game_facts("chess").search.mate_solver]
    second = find_mate(mate, nodes=10_000, hash_mib=2)
    assert solvers_module._cache[game_facts("chess").search.mate_solver] is not None
    assert solvers_module._cache[game_facts("chess").search.mate_solver][1] is kept[1]
    assert (first.verdict, first.line, first.nodes) == (second.verdict, second.line, second.nodes)
    ending = hk.position("othello", "X" * 58 + "O-----" + " X")
    nodes = {solve_ending(ending, hash_mib=size).nodes for size in (1, 1, 2, 1, 65, 1)}
    assert len(nodes) == 1
    assert solvers_module._cache[game_facts("othello").search.ending_solver][0] == 1


SMALL_SEARCHES = """
import resource, sys
import hyoka as hk
from hyoka.search import Searcher

def most_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

searcher = Searcher("ab:hash=1024,nodes=1000", "chess")
before = most_mib()
for _ in range(30):
    searcher.search(hk.Chess())
    searcher.clear()
print(most_mib() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
def test_small_searches_use_and_clear_little_of_a_large_table() -> None:
    """To overwrite the table before each search took most of the time of evaluations."""
    done = subprocess.run(
        [sys.executable, "-c", SMALL_SEARCHES], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 64
