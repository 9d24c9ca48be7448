# SPDX-License-Identifier: Apache-2.0
"""The solvers against real problem sets, where they are at hand, and against cshogi."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import cshogi
import pytest

import hyoka as hk
from hyoka.records.problems import Problem, read_problems

SharedData = Callable[[str], Path]


def suite(archive: Path, member: str) -> list[Problem]:
    """The problems of one file of an archive."""
    with zipfile.ZipFile(archive) as zipped:
        read = read_problems(zipped.read(member), source=member)
    return [problem for problem in read.problems if isinstance(problem, Problem)]


def test_othello_endings_have_the_scores_of_the_suite(shared_data: SharedData) -> None:
    problems = suite(shared_data("othello/endgame_suites.zip"), "fforum-1-19.obf")
    assert len(problems) >= 10
    for problem in problems:
        game = problem.to_solve()
        best = max if game.to_play is hk.Player.first else min
        assert hk.solve_ending(game).score == best(problem.scores.values()), problem.id


@pytest.mark.parametrize("plies", [3, 5, 7, 9, 11])
def test_shogi_mates_are_found_and_mate_by_anothers_rules(
    plies: int, shared_data: SharedData
) -> None:
    problems = suite(shared_data("shogi/mate_and_nextmove.zip"), f"mate{plies}.sfen")[::25]
    solved = 0
    for problem in problems:
        game = problem.to_solve()
        mate = hk.find_mate(game, nodes=200_000, hash_mib=16)
        if mate.verdict != "mate":
            continue
        board = cshogi.Board(game.text)
        for ply, move in enumerate(mate.line):
            board.push_usi(str(move))
            assert ply % 2 or board.is_check(), problem.position
        assert board.is_game_over(), problem.position
        solved += 1
    assert solved >= 0.95 * len(problems)
