# SPDX-License-Identifier: Apache-2.0
"""Games written in Python in playouts, matches and files."""

import json
import pickle
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.arena import MatchPlan
from hyoka.games import PythonLine
from hyoka.search import ab, play_game


@dataclass(frozen=True)
class Race:
    """Add 1 or 2; reaching the goal wins."""

    sum: int = 0
    turn: int = 0
    goal: int = 5

    @property
    def to_play(self) -> Any:
        return hk.Player(self.turn)

    @property
    def outcome(self) -> Any:
        return hk.Outcome(self.to_play.other) if self.sum >= self.goal else None

    @property
    def legal_moves(self) -> list[int]:
        return [] if self.sum >= self.goal else [1, 2]

    def play(self, move: int) -> "Race":
        return Race(self.sum + move, 1 - self.turn, self.goal)


@dataclass(frozen=True)
class OtherRace(Race):
    """The same by the other's rules: who gets there has lost."""

    @property
    def outcome(self) -> Any:
        return hk.Outcome(self.to_play) if self.sum >= self.goal else None

    def play(self, move: int) -> "OtherRace":
        return OtherRace(self.sum + move, 1 - self.turn, self.goal)


def test_playouts_are_of_every_game() -> None:
    found = hk.playouts(Race(goal=2), 400, seed=3)
    # 2 wins at once; 1 lets the other win, whatever it plays.
    assert set(zip(found.outcomes.tolist(), found.lengths.tolist(), strict=True)) == {
        (1, 1),
        (-1, 2),
    }
    assert abs(found.value - 0.5) < 4 * found.standard_error
    assert (found.scores == found.outcomes).all()
    again = hk.playouts(Race(goal=2), 200, seed=3)
    assert (again.outcomes == found.outcomes[:200]).all()
    assert not (hk.playouts(Race(goal=2), 200, seed=4).outcomes == again.outcomes).all()
    line = PythonLine(Race(goal=2), (1,))
    assert set(hk.playouts(line, 20).outcomes.tolist()) == {-1}
    assert hk.playouts(Race(goal=50), 3, limit=4).outcomes.tolist() == [0, 0, 0]
    assert len(hk.playouts(Race(), 0)) == 0


def test_invalid_games_and_single_threads_are_refused() -> None:
    wrong: Any = object()
    with pytest.raises(hk.errors.NotationError, match="object is no game: it has no 'to_play'"):
        hk.playouts(wrong, 1)
    with pytest.raises(hk.errors.NotationError, match="on one thread"):
        hk.playouts(Race(), 1, threads=2)


def test_a_match_of_a_game_in_python(tmp_path: Path) -> None:
    def plan(start: Any) -> MatchPlan:
        return hk.plan_match(
            ab(depth=8), "random", "late=uct:playouts=30@1+0.1", game=start, openings="random:1"
        )

    first = plan(Race(goal=7))
    assert len(first.openings) == 2
    result = hk.play_match(first, tmp_path / "match", games=4)
    assert result.standing.games == 12
    game = result.games[0]
    assert game.record.game == "python:Race"
    line = PythonLine(Race(goal=7), tuple(game.record.moves.tolist()))
    assert line.outcome is not None
    assert float(line.outcome.value) == game.result
    assert pq.read_table(tmp_path / "match" / "games.parquet").num_rows == 12
    more = hk.play_match(plan(Race(goal=7)), tmp_path / "match", games=6)
    assert more.standing.games == 18
    assert {each.pairing.number for each in more.games} == set(range(18))
    for other in (Race(goal=8), OtherRace(goal=7)):
        with pytest.raises(hk.errors.StudyError):
            hk.play_match(plan(other), tmp_path / "match", games=8)
    assert plan(Race(goal=8)).id != first.id


class Elsewhere(Executor):
    """Plays games at once, with what comes out when they are sent as Dask sends them."""

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        cloudpickle = pytest.importorskip("cloudpickle")
        there = pickle.loads(cloudpickle.dumps((function, arguments, more)))
        future: Future[Any] = Future()
        future.set_result(there[0](*there[1], **there[2]))
        return future


def test_a_match_of_a_game_in_python_travels(tmp_path: Path) -> None:
    plan = hk.plan_match("ab:depth=3", "random", game=Race(goal=6), openings="start")
    result = hk.play_match(plan, tmp_path / "match", games=4, executor=Elsewhere())
    assert result.standing.games == 4


def test_alpha_beta_that_sees_the_end_never_loses_from_a_won_start(tmp_path: Path) -> None:
    # To 4: the first player adds 1, then makes it 4 whatever comes.
    plan = hk.plan_match(ab(depth=6), "random", game=Race(goal=4), openings="start")
    result = hk.play_match(plan, tmp_path / "match", games=20)
    assert all(
        game.result == 1 for game in result.games if game.record.first == "Alpha-beta, depth 6"
    )


def test_a_changed_game_is_noticed(tmp_path: Path) -> None:
    def made(bonus: int) -> Any:
        class Game(Race):
            def play(self, move: int) -> "Game":
                return Game(self.sum + move + bonus, 1 - self.turn, self.goal)

        return Game()

    def plan(bonus: int) -> MatchPlan:
        return hk.plan_match("random", "random:seed=1", game=made(bonus), openings="start")

    hk.play_match(plan(0), tmp_path / "match", games=2)
    hk.play_match(plan(0), tmp_path / "match", games=4)
    with pytest.raises(hk.errors.StudyError, match="the game has changed since it began"):
        hk.play_match(plan(1), tmp_path / "match", games=6)


@pytest.mark.parametrize(
    ("players", "more", "message"),
    [
        (("uci:stockfish", "random"), {}, "engines don't play games in Python"),
        (("random", "random"), {"komi": 6.5}, "komi is for Go"),
        (("random", "random"), {"handicap": 2}, "handicap stones are for Go"),
        (("random", "random"), {"openings": "games.pgn"}, "start, random:PLIES, or values"),
        (("random", "random"), {"openings": "random:9"}, "use openings='start'"),
    ],
)
def test_missing_parts_of_a_python_game_are_named(players: Any, more: Any, message: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=message):
        hk.plan_match(*players, game=Race(goal=5), **more)


def test_a_game_in_python_has_no_notation_but_its_text(tmp_path: Path) -> None:
    line: Any = play_game(Race(), "random", "random")
    with pytest.raises(hk.errors.NotationError, match=r"PythonLine is no Record.*PythonLine\.read"):
        hk.write_records([line], tmp_path / "game.sgf")
    assert PythonLine.read(Race(), json.loads(json.dumps(line.text))) == line
