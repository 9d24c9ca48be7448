# SPDX-License-Identifier: Apache-2.0
"""Games written in Python under names of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import hyoka as hk
from hyoka.arena import ablate
from hyoka.arena.ablation import contests
from hyoka.foundation.errors import NotationError
from hyoka.games import PythonLine
from hyoka.games import registry as registered
from hyoka.reporting.match_report import write_match_report
from hyoka.search import Searcher, SearchSpec, play_game
from hyoka.study.evaluating import line_sample


@dataclass(frozen=True)
class Race:
    """Each in turn takes one or two of seven stones; who takes the last one wins."""

    left: int = 7
    to_play: hk.Player = hk.Player.first

    @property
    def outcome(self) -> hk.Outcome | None:
        return None if self.left else hk.Outcome(self._other)

    @property
    def _other(self) -> hk.Player:
        return hk.Player.second if self.to_play is hk.Player.first else hk.Player.first

    @property
    def legal_moves(self) -> list[int]:
        return [count for count in (1, 2) if count <= self.left]

    def play(self, move: int) -> "Race":
        return Race(self.left - move, self._other)

    @property
    def cells(self) -> NDArray[np.int8]:
        return np.array([[1] * self.left + [0] * (7 - self.left)], dtype=np.int8)


@pytest.fixture
def race() -> Iterator[str]:
    hk.register_game("race", Race(), title="Race", colors=("Left", "Right"))
    yield "race"
    registered._STARTS.clear()
    registered._FACTS.clear()


def test_a_name_stands_for_the_first_position(race: str, tmp_path: Path) -> None:
    assert str(hk.position(race)) == str(Race())
    assert Searcher("uct:playouts=50", race).search(Race()).best == 1
    by_name = hk.plan_match("uct:playouts=9", "random", game=race)
    by_start = hk.plan_match("uct:playouts=9", "random", game=Race())
    assert by_name.description() == by_start.description()
    result = hk.play_match(by_name, tmp_path / "match", games=4)
    assert len(result.games) == 4


def test_ablations_play_it(race: str, tmp_path: Path) -> None:
    planned = contests(SearchSpec.from_text("uct"), ["rave"], [("playouts", 20)], "added")
    [(contest, summary)] = ablate(
        planned,
        lambda players: hk.play_match(hk.plan_match(*players, game=race), tmp_path / "a", games=2),
    )
    assert contest.switch == "rave"
    assert summary.score.games == 2


def test_boards_and_pages_have_its_words(race: str, tmp_path: Path) -> None:
    assert hk.terminal(Race(3)).splitlines()[0] == "Race"
    assert hk.diagram(Race(3)).caption == "Left to play."
    assert hk.diagram(Race(0)).caption == "Right wins."
    plan = hk.plan_match("uct:playouts=9", "random", game=race)
    hk.play_match(plan, tmp_path / "match", games=2)
    _, games = hk.open_match(tmp_path / "match")
    page = tmp_path / "match.html"
    write_match_report(page, "Race", games, ["uct", "random"])
    assert "<title>Race</title>" in page.read_text()
    registered._STARTS.clear()
    write_match_report(page, "Race", games, ["uct", "random"])
    assert "needs a name and `cells`" in page.read_text()


def test_samples_have_what_was_said_and_what_came_of_it() -> None:
    games = [play_game(Race(), f"random:seed={i}", "random:seed=9") for i in range(6)]
    asked: list[int] = []

    def guess(positions: Sequence[Race]) -> list[float]:
        asked.append(len(positions))
        return [position.left / 7 for position in positions]

    sample = line_sample([*games, PythonLine(Race())], guess)
    assert sample.name == "guess"
    assert asked == [len(game.moves) for game in games]
    assert sample.game_count == 6
    expected = [float(game.outcome.value) for game in games for _ in game.moves if game.outcome]
    assert sample.results.tolist() == expected
    # Leaving a multiple of three wins: a search finds it out to the end.
    searched = line_sample(games, "uct:playouts=200,seed=1")
    lines = [
        PythonLine(Race(), tuple(game.moves[:ply]))
        for game in games
        for ply in range(len(game.moves))
    ]
    for line, value in zip(lines, searched.values, strict=True):
        mover_wins = line.position.left % 3 != 0  # type: ignore[attr-defined]
        assert value == float(mover_wins == (line.to_play is hk.Player.first))
    with pytest.raises(NotationError, match="has a result"):
        line_sample([PythonLine(Race())], guess)
    with pytest.raises(NotationError, match="0 values for"):
        line_sample(games, lambda positions: [])


def test_codes_are_read_back() -> None:
    line = PythonLine(Race(), (2, 1, 2))
    assert PythonLine.of_codes(Race(), [2, 1, 2]) == line
    with pytest.raises(hk.errors.IllegalMoveError, match="code 3 at ply 2"):
        PythonLine.of_codes(Race(), [2, 3])


def test_a_name_must_be_free_and_a_game_a_game() -> None:
    for name, start, message in [
        ("chess", Race(), "choose another name"),
        ("Race!", Race(), "small letters"),
        ("race", Race, "not the class"),
        ("race", 5, "it has no 'to_play'"),
    ]:
        with pytest.raises(NotationError, match=message):
            hk.register_game(name, start)  # type: ignore[arg-type]
