# SPDX-License-Identifier: Apache-2.0
"""Errors in searches are reported and harm nothing else."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Go5, Reason
from hyoka.games import PythonLine
from hyoka.search import (
    Searcher,
    SearchLimits,
    SearchResult,
    SearchSpec,
    ab,
    linear_evaluation,
    mc,
    measure_difficulty,
    uct,
)

ENDING = hk.Othello.from_text("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X")


def broken(positions: Sequence[Any]) -> list[float]:
    raise ZeroDivisionError("broken on purpose")


@pytest.mark.parametrize(
    "spec",
    [
        uct(playouts=500, threads=3, evaluator=broken),
        uct(playouts=500, threads=3, cutoff=0, evaluation=broken),
        uct(playouts=500, threads=3, eval_visits=3, evaluation=broken),
        mc(playouts=500, threads=3, cutoff=0, evaluation=broken),
        ab(depth=3, evaluation=broken),
    ],
    ids=str,
)
def test_an_error_in_any_thread_is_raised(spec: SearchSpec) -> None:
    searcher = Searcher(spec, "othello")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="on purpose"):
            searcher.search(hk.Othello())


def test_an_error_in_bulk_work_is_raised() -> None:
    start = hk.Chess()
    with pytest.raises(ZeroDivisionError):
        measure_difficulty(
            [start] * 8, [start.parse("e2e4")] * 8, spec=ab(evaluation=broken), threads=3
        )
    with pytest.raises(hk.errors.NotationError, match="1 to 20"):
        measure_difficulty([start], [start.parse("e2e4")], depths=0)


@pytest.mark.parametrize("limits", [{"time_s": -1}, {"time_s": float("nan")}, {"playouts": 0}])
@pytest.mark.parametrize("name", ["nodes", "depth", "playouts"])
def test_limits_are_positive_numbers(limits: dict[str, Any], name: str) -> None:
    with pytest.raises(hk.errors.NotationError, match="positive"):
        SearchLimits(**limits)
    halves: dict[str, Any] = {name: 1.5}
    with pytest.raises(hk.errors.NotationError, match=name):
        SearchLimits(**halves)


@pytest.mark.parametrize(("spec", "name"), [("uct", "go9"), ("ab", "chess")])
def test_one_searcher_runs_one_search_at_a_time(spec: str, name: str) -> None:
    searcher = Searcher(spec, name)
    refused: list[Exception] = []

    def second(_: SearchResult | None = None) -> None:
        try:
            searcher.search(hk.position(name), SearchLimits(nodes=10))
        except RuntimeError as error:
            refused.append(error)
        searcher.stop()

    searcher.search(hk.position(name), SearchLimits(infinite=True), on_result=second, every_s=0.01)
    assert "running already" in str(refused[0])


def test_a_search_without_limits_in_a_forgotten_thread_lets_the_program_end() -> None:
    code = """
import threading, time
import hyoka as hk
searcher = hk.search.Searcher("uct", "go9")
limits = hk.search.SearchLimits(infinite=True)
threading.Thread(target=searcher.search, args=(hk.Go9(), limits), daemon=True).start()
while not __import__("hyoka.search.searcher").search.searcher._running:
    time.sleep(0.01)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert ended.returncode == 0


@pytest.mark.parametrize("spec", ["mc:time=1000", "uct:time=1000", "ab:time=1000", "exact:nodes=0"])
def test_every_search_can_be_stopped(spec: str) -> None:
    searcher = Searcher(spec, "othello")
    done = threading.Event()

    def stop_again_and_again() -> None:
        while not done.wait(0.02):
            searcher.stop()

    threading.Thread(target=stop_again_and_again, daemon=True).start()
    searcher.search(hk.Othello())
    done.set()


def test_a_stop_reaches_the_mate_search_at_the_root() -> None:
    searcher = Searcher("uct:mate=1000000,time=1000", "shogi")
    done = threading.Event()

    def stop_again_and_again() -> None:
        while not done.wait(0.02):
            searcher.stop()

    threading.Thread(target=stop_again_and_again, daemon=True).start()
    assert searcher.search(hk.Shogi()).stopped_by in ("interrupted", "time")
    done.set()


def test_evaluations_of_children_do_not_make_simulations_run_to_the_end() -> None:
    visit = hk.search_once(hk.Othello(), "uct:playouts=100,eval_visits=3")
    expansion = hk.search_once(hk.Othello(), "uct:playouts=100,eval_visits=3,eval_when=expansion")
    assert expansion.depth <= visit.depth + 6
    assert expansion.nodes <= 110


def test_komi_is_no_part_of_a_hash_but_of_what_a_table_knows() -> None:
    searcher = Searcher("ab:depth=3", "go5")
    searcher.search(Go5(komi=24.5))
    kept = searcher.search(Go5(komi=0.5))
    assert kept.score == hk.search_once(Go5(komi=0.5), "ab:depth=3").score


def test_final_scores_are_given_to_the_half_point() -> None:
    line = Go5(komi=7.5).line().play("C3").play("pass")
    result = hk.search_once(line, "ab:depth=2")
    assert (result.score, result.proven) == (17.5, "won")


def test_a_solver_at_the_leaves_tells_no_length_and_leaves_the_root_its_moves() -> None:
    def even(positions: Sequence[Any]) -> list[float]:
        return [0.5] * len(positions)

    for spec in (uct(playouts=50, ending=14), uct(playouts=50, ending=14, evaluator=even)):
        result = hk.search_once(ENDING, spec)
        assert result.best in ENDING.legal_moves
        assert result.proven == "won"
        assert result.mate is None


def test_a_mating_line_mates_also_when_much_was_solved_before() -> None:
    """Proofs that leave the table may be found again by way of positions that rest on them."""
    searcher = Searcher("mate:hash=1,nodes=20000", "shogi")
    rooks = "3k5/5n3/9/9/9/9/9/9/4K4 b 2R2S 1"
    found = 0
    for text in [rooks, "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", rooks, rooks]:
        result = searcher.search(hk.Shogi.from_text(text))
        if result.best is not None:
            line = hk.Shogi.from_text(text).line()
            for move in result.pv:
                line = line.play(str(move))
            assert line.outcome is not None
            assert line.outcome.reason is Reason.checkmate
            found += 1
    assert found >= 1


def test_a_mate_that_the_fifty_moves_forestall_is_none() -> None:
    game = hk.Chess.from_text("8/4k3/R7/8/8/8/8/1R5K w - - 99 90")
    assert hk.find_mate(game.with_draws(hk.Chess.Draws.claimed)).verdict != "mate"
    assert hk.search_once(game, "mate").best is None


def test_exact_solving_keeps_to_the_moves_allowed() -> None:
    best = hk.search_once(ENDING, "exact")
    others = [move for move in ENDING.legal_moves if move != best.best]
    second = hk.search_once(ENDING, "exact", only=others)
    assert second.best in others
    assert second.score is not None
    assert best.score is not None
    assert second.score <= best.score


@dataclass(frozen=True)
class Race:
    """Add 1 or 2; reaching the goal wins."""

    sum: int = 0
    goal: int = 5

    @property
    def to_play(self) -> Any:
        return hk.Player.second if self.sum % 2 else hk.Player.first

    @property
    def outcome(self) -> Any:
        return hk.Outcome(self.to_play.other) if self.sum >= self.goal else None

    @property
    def legal_moves(self) -> Any:
        return [1, 2]  # wrongly also at the end

    def play(self, move: int) -> "Race":
        return type(self)(self.sum + move, self.goal)


class NoMoves(Race):
    """Stuck, and says nothing of it."""

    @property
    def legal_moves(self) -> Any:
        return []


class NoPlayer(Race):
    """Does not say properly who moves."""

    @property
    def to_play(self) -> Any:
        return "black"


class LargeMoves(Race):
    """Its moves have numbers too large."""

    @property
    def legal_moves(self) -> Any:
        return [70_000]


@pytest.mark.parametrize("spec", ["uct:playouts=200", "ab:depth=6", "mc:playouts=20"])
def test_a_game_in_python_that_lists_moves_at_its_end(spec: str) -> None:
    result = hk.search_once(Race(), spec)
    assert result.best in (1, 2)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (NoMoves(), "no legal moves, but no outcome"),
        (NoPlayer(), "to_play must be a hyoka.Player, not 'black'"),
        (LargeMoves(), "0 to 65535"),
    ],
)
@pytest.mark.parametrize("spec", ["uct:playouts=50", "ab:depth=3"])
def test_a_game_in_python_that_breaks_the_protocol(game: Any, message: str, spec: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=message):
        hk.search_once(game, spec)


@pytest.mark.parametrize("spec", ["uct", "ab"])
def test_a_search_of_a_game_in_python_tells_what_it_finds_and_is_stopped(spec: str) -> None:
    searcher = Searcher(spec, None)
    snapshots: list[SearchResult] = []

    def on_result(result: SearchResult) -> None:
        snapshots.append(result)
        searcher.stop()

    endless = Race(goal=10**6)
    limits = SearchLimits(infinite=True)
    result = searcher.search(endless, limits, on_result=on_result, every_s=0.01)
    assert result.best in (1, 2)
    assert snapshots


def test_a_line_of_a_game_in_python_is_checked() -> None:
    with pytest.raises(hk.errors.IllegalMoveError, match="ply 1"):
        PythonLine(Race(), (3,))
    with pytest.raises(hk.errors.IllegalMoveError, match="ply 2"):
        PythonLine.read(Race(), "1 7")


@dataclass(frozen=True)
class ThreeInARow(Race):
    """The first player moves three times, then the second; standing at 4 wins."""

    @property
    def to_play(self) -> Any:
        return hk.Player.first if self.sum < 3 else hk.Player.second

    @property
    def outcome(self) -> Any:
        return hk.Outcome(hk.Player.first) if self.sum >= 3 else None

    @property
    def legal_moves(self) -> Any:
        return [1]


def test_proofs_where_one_side_moves_again() -> None:
    searcher = Searcher("uct:playouts=50", None)
    line = PythonLine(ThreeInARow())
    for _ in range(3):
        result = searcher.search(line)
        assert (result.proven, result.value) == ("won", 1.0)
        assert result.best is not None
        line = line.play(result.best)


def test_specs_with_different_parts_are_different() -> None:
    one, same = (uct(evaluator=lambda positions: [0.5] * len(positions)) for _ in range(2))
    two = uct(evaluator=lambda positions: [0.6] * len(positions))
    assert one == same
    assert one != two
    assert len({one.id, same.id, two.id}) == 2
    assert one == one.with_settings(seed=0)
    heavy = linear_evaluation("chess").with_weights({"bishop_pair": 99})
    assert ab(evaluation=heavy).id != ab(evaluation=linear_evaluation("chess")).id


# Under a limit of memory, in a process of its own: the table must not be had.
SHORT = """
import resource, sys
import hyoka as hk
from hyoka.apps.cli import run
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 30), -1))
{code}
"""


def short_of_memory(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SHORT.format(code=code)], capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_table_or_tree_too_large_for_the_memory_is_a_clear_error() -> None:
    code = """
for spec, name in [
    ("ab:hash=32768", "chess"),
    ("mate:hash=32768", "chess"),
    ("exact:hash=32768", "othello"),
    ("uct:memory=16384,playouts=10", "go9"),
]:
    try:
        hk.search.Searcher(spec, name).search(hk.games.GAMES[name]())
    except hk.errors.OutOfMemoryError as error:
        print(error)
for solve, game in [(hk.find_mate, hk.Chess()), (hk.solve_ending, hk.Othello())]:
    try:
        solve(game, hash_mib=32768)
    except hk.errors.OutOfMemoryError as error:
        print(error)
print(run(["position", "search", "chess", "--with", "ab:hash=32768"]))
"""
    result = short_of_memory(code)
    lines = [
        f"not enough memory for {what}; give it less"
        for what in (
            "ab:hash=32768",
            "mate:hash=32768",
            "exact:hash=32768",
            "uct:playouts=10,memory=16384",
            "a table of 32768 MiB",
            "a table of 32768 MiB",
        )
    ]
    assert result.stdout.splitlines() == [*lines, "2"], result.stderr
    assert result.stderr == f"hyoka: {lines[0]}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_more_threads_than_there_is_memory_for_is_a_clear_error() -> None:
    result = short_of_memory(
        'print(run(["position", "search", "go9", "--with", "mc:threads=256"]))'
    )
    assert result.stdout == "2\n"
    assert result.stderr == (
        "hyoka: not enough memory for the threads of mc:threads=256; give it fewer\n"
    )
