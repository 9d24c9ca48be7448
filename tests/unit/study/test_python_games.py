# SPDX-License-Identifier: Apache-2.0
"""Studies of games written in Python."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hyoka as hk
from hyoka.foundation.errors import Error, NotationError, StudyError
from hyoka.games import PythonLine
from hyoka.games import registry as registered
from hyoka.records import Remark
from hyoka.reporting.study_report import write_report
from hyoka.search import play_game
from hyoka.study import append_to_study, make_study
from hyoka.study.derived_columns import categorize, rank_moves
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import adjudicate
from hyoka.study.exporting import export_positions


@dataclass(frozen=True)
class Take:
    """A move with a code of its own."""

    count: int

    @property
    def code(self) -> int:
        return 100 + self.count

    def __str__(self) -> str:
        return f"take{self.count}"


@dataclass(frozen=True)
class Race:
    """Each in turn takes one or two of some stones; who takes the last one wins."""

    left: int = 9
    to_play: hk.Player = hk.Player.first

    @property
    def outcome(self) -> hk.Outcome | None:
        return None if self.left else hk.Outcome(self._other)

    @property
    def _other(self) -> hk.Player:
        return hk.Player.second if self.to_play is hk.Player.first else hk.Player.first

    @property
    def legal_moves(self) -> list[Take]:
        return [Take(count) for count in (1, 2) if count <= self.left]

    def play(self, move: Take) -> "Race":
        return Race(self.left - move.count, self._other)


class Drawn(Race):
    """The same, with a board."""

    @property
    def cells(self) -> NDArray[np.int8]:
        return np.array([[1] * self.left + [0] * (9 - self.left)], dtype=np.int8)

    def play(self, move: Take) -> "Drawn":
        return Drawn(self.left - move.count, self._other)


def share_left(position: Race) -> float:
    return position.left / 9


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    hk.register_game("race", Race(), title="Race", players=("Left", "Right"))
    yield
    registered._STARTS.clear()
    registered._FACTS.clear()


def lines_of(start: Any, count: int = 40) -> list[PythonLine]:
    games = (play_game(start, f"random:seed={i}", f"random:seed={i + 500}") for i in range(count))
    return [game for game in games if isinstance(game, PythonLine)]


@pytest.fixture
def lines() -> list[PythonLine]:
    return lines_of(Race())


@pytest.fixture
def study(lines: list[PythonLine], tmp_path: Path) -> hk.Study:
    return hk.Study.create(tmp_path / "study", lines)


def test_lines_become_games_and_positions(study: hk.Study, lines: list[PythonLine]) -> None:
    assert (study.game, study.columns) == ("race", ())
    games = study.sql("select * from games order by game_id").to_pylist()
    assert len(games) == len(lines)
    first: dict[str, int] = {}
    for row, line in zip(games, lines, strict=True):
        assert line.outcome is not None
        assert row["result"] == float(line.outcome.value)
        assert (row["start"], row["plies"], row["ending"]) == ("", len(line), "normal")
        codes = np.frombuffer(row["moves"], "<u2").tolist()
        assert codes == [move.code for move in line.moves]  # type: ignore[union-attr]
        number = first.setdefault(line.text, row["game_id"])
        assert row["duplicate_of"] == (None if number == row["game_id"] else number)
    assert len(first) < len(lines)  # else nothing was seen of duplicates
    rows = study.select("true", "game_id, ply, first_to_play").to_pylist()
    expected = [
        {"game_id": number, "ply": ply, "first_to_play": ply % 2 == 0}
        for number in first.values()
        for ply in range(len(lines[number]) + 1)
    ]
    assert rows == expected


def test_a_study_has_the_layout_of_any_other(study: hk.Study, tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[1]SZ[9]RE[B+R];B[ee];W[gc])")
    other = hk.Study.create(tmp_path / "go", file, columns="none")
    for table in ("games", "positions"):
        ours, theirs = (
            each.sql(f"select * from {table} limit 0").schema for each in (study, other)
        )
        assert ours == theirs


def test_a_record_walks_through_its_game(study: hk.Study, lines: list[PythonLine]) -> None:
    record = study.record(3)
    assert record.game == "race"
    assert record.position(2) == PythonLine(Race(), lines[3].moves[:2]).position
    assert list(record.positions())[-1] == lines[3].position
    assert record.move_list == list(lines[3].moves)
    assert record.move_texts() == list(map(str, lines[3].moves))
    assert "<svg" not in record._repr_html_()
    assert record.position_text(2) == " ".join(map(str, lines[3].moves[:2]))


def test_evaluators_are_texts_and_functions(study: hk.Study) -> None:
    reports = evaluate(study, ["uct:playouts=200,seed=1", share_left], jobs=2)
    positions = study.sql("select count(*) as n from positions")["n"][0].as_py()
    assert [report.done for report in reports] == [positions, positions]
    assert [report.done for report in evaluate(study, ["uct:playouts=200,seed=1"])] == [0]
    rows = study.sql("select * from evaluations").to_pylist()
    by_game = {number: list(record.positions()) for number, record in study.records()}
    for row in rows:
        position = by_game[row["game_id"]][row["ply"]]
        assert isinstance(position, Race)
        if row["engine"].startswith("python"):
            assert row["value"] == pytest.approx(position.left / 9)
        elif position.left:
            # Leaving a multiple of three wins: a search finds it out to the end.
            mover_wins = position.left % 3 != 0
            assert row["value"] == float(mover_wins == (position.to_play is hk.Player.first))


def test_analyses_and_columns_of_ones_own(study: hk.Study) -> None:
    evaluate(study, ["uct:playouts=200,seed=1", share_left])
    assert "share_left" in str(study.metrics("share_left"))
    report = study.add_column("stones", lambda position: position.left)
    assert (report.kind, report.known) == ("integer", report.positions)
    assert study.select("stones = 9").num_rows == len(study.select("ply = 0"))
    assert "share_left" in str(study.curve("share_left"))
    assert "stones" in str(study.gaps("share_left", by="stones > 4"))
    assert "conditions" in str(study.slices("share_left"))
    assert "share_left" in str(study.calibration("share_left"))
    for each in study.disagreements("uct:playouts=200,seed=1", "share_left").disputed:
        assert each.game is not None
        assert each.ply is not None
        assert each.text == " ".join(study.record(each.game).move_texts()[: each.ply])
    assert adjudicate(study).known > 0


def test_records_of_a_match_bring_players_and_what_they_said(tmp_path: Path) -> None:
    plan = hk.plan_match("uct:playouts=20", "mc:playouts=20", game="race", openings="random:2")
    hk.play_match(plan, tmp_path / "match", games=6)
    _, games = hk.open_match(tmp_path / "match")
    records = [game.record for game in games]
    study, report = make_study(tmp_path / "study", records, where="black like 'UCT%'")
    kept = [record for record in records if record.first.startswith("UCT")]
    assert (report.games, report.left_out) == (len(kept), len(records) - len(kept))
    for i, record in enumerate(kept):
        assert study.record(i).content()[1:-1] == record.content()[1:-1]
    unique = study.sql("select game_id from games where duplicate_of is null")[
        "game_id"
    ].to_pylist()
    for i in unique:
        assert [(each.ply, each.value, each.author, each.book) for each in kept[i].remarks] == [
            (each.ply, pytest.approx(each.value), each.author, each.book)
            for each in study.record(i).remarks
        ]
    said = [each for i in unique for each in kept[i].remarks if each.value is not None]
    [comments] = evaluate(study, "comments")
    assert (comments.done, report.values) == (len(said), len(said))


def test_a_study_without_remarks_says_so(study: hk.Study) -> None:
    [report] = evaluate(study, "comments")
    assert report.notes == ["comments: the records contain no evaluations"]


def test_games_are_added(study: hk.Study, lines: list[PythonLine]) -> None:
    short = PythonLine(Race(), lines[0].moves[:1])
    _, report = append_to_study(study.path, [lines[0], short])
    assert (report.games, report.duplicates, report.positions) == (2, 1, 2)
    assert study.record(len(lines) + 1).result is None
    with pytest.raises(StudyError, match=r"games\.sgf: a study of a game in Python needs lines"):
        append_to_study(study.path, ["games.sgf"])


def test_a_report_draws_boards(tmp_path: Path, study: hk.Study) -> None:
    evaluate(study, share_left)
    with pytest.raises(StudyError, match="need a property `cells`"):
        write_report(study, tmp_path / "report.html")
    hk.register_game("drawn", Drawn(), title="Drawn race")
    drawn = hk.Study.create(tmp_path / "drawn", lines_of(Drawn()))
    evaluate(drawn, share_left)
    write_report(drawn, tmp_path / "report.html")
    assert "Evaluations in Drawn race" in (tmp_path / "report.html").read_text()


def test_a_study_opens_where_its_game_is_registered(study: hk.Study) -> None:
    code = f"import hyoka as hk; hk.Study.open({str(study.path)!r})"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False
    )
    assert "hyoka.register_game('race', ...)" in found.stderr.splitlines()[-1]
    registered._STARTS.clear()
    with pytest.raises(
        StudyError, match=r"'race' is not registered; first call hyoka\.register_game"
    ):
        hk.Study.open(study.path)


@dataclass(frozen=True)
class Nameless(Race):
    """A game that nobody registered."""


@dataclass(frozen=True)
class Wide(Race):
    """A game whose moves have codes that no study can keep."""

    @property
    def legal_moves(self) -> list[Any]:
        return [70_000]

    def play(self, move: Any) -> "Wide":
        return Wide(0, self._other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: PythonLine(Nameless()), "hyoka.register_game.'nameless', Nameless()"),
        (lambda: PythonLine(Race(4)), "at the game's initial position: hyoka.position.'race'"),
        (lambda: PythonLine(Wide(), (70_000,)), "below 65536"),
        (lambda: hk.Record("python:Race", np.array([7], np.uint16)), "code 7 at ply 1"),
        (
            lambda: hk.Record("othello", np.array([], np.uint16)),
            "of othello must be passed as files",
        ),
        (
            lambda: hk.Record("python:Chess2", np.array([], np.uint16)),
            "no Python game is named Chess2; first call hyoka.register_game",
        ),
        (lambda: "games.sgf", "games.sgf: a study of a game in Python needs lines"),
    ],
)
def test_what_no_study_can_keep(given: Callable[[], Any], message: str, tmp_path: Path) -> None:
    hk.register_game("wide", Wide())
    with pytest.raises(StudyError, match=message) as error:
        hk.Study.create(tmp_path / "study", [PythonLine(Race()), given()])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "study").exists()


def test_a_study_is_of_one_game_without_columns(tmp_path: Path) -> None:
    hk.register_game("drawn", Drawn())
    with pytest.raises(StudyError, match="one game, but these are race and drawn"):
        hk.Study.create(tmp_path / "study", [PythonLine(Race()), PythonLine(Drawn())])
    with pytest.raises(StudyError, match="add_column"):
        hk.Study.create(tmp_path / "study", PythonLine(Race()), columns="material")


@pytest.mark.parametrize(
    "asked",
    [
        lambda study, _: evaluate(study, "gtp:gnugo"),
        lambda study, _: study.game_table().terms(),
        lambda study, _: study.game_table().describe([]),
        lambda study, _: study.sql("select position_text(game_id, ply) from positions"),
        lambda study, _: study.record(0).move_texts("san"),
        lambda study, path: hk.write_records([study.record(0)], path / "games.sgf"),
        lambda study, path: export_positions(study, path / "positions.csv"),
        lambda study, _: rank_moves(study, "built-in", "mine"),
        lambda study, _: categorize(study),
    ],
)
def test_what_is_for_our_games_is_refused_in_a_line(
    asked: Callable[[hk.Study, Path], object], study: hk.Study, tmp_path: Path
) -> None:
    with pytest.raises(Error, match="in Python") as error:
        asked(study, tmp_path)
    assert "\n" not in str(error.value)


def test_playouts_are_chosen_by_name() -> None:
    by_name = hk.playouts("race", 20, seed=3)
    assert by_name.outcomes.tolist() == hk.playouts(Race(), 20, seed=3).outcomes.tolist()
    assert len(hk.playouts("othello", 5)) == 5
    with pytest.raises(NotationError, match="no game 'rase'"):
        hk.playouts("rase", 5)


def test_duplicates_add_what_they_say_to_the_game_that_they_repeat(tmp_path: Path) -> None:
    moves = np.array([102, 102, 102, 102, 101], np.uint16)
    bare = hk.Record("Race", moves, result=1.0, ending="normal")
    full = hk.Record(
        "Race",
        moves.copy(),
        event="cup",
        result=1.0,
        ending="normal",
        remarks=(Remark(1, value=0.4, text="so"), Remark(3, value=0.7, author="first")),
    )
    said = []
    for name, order in (("one", (bare, full)), ("two", (full, bare))):
        study, report = make_study(tmp_path / name, order)
        assert (report.duplicates, report.values) == (1, 2)
        assert report.merged_duplicates == (name == "one")
        said.append((study.record(0).event, study.record(0).remarks))
    assert said[0] == said[1]
    assert said[0][0] == "cup"
    assert [remark.value for remark in said[0][1]] == [np.float32(0.4), np.float32(0.7)]
