# SPDX-License-Identifier: Apache-2.0
"""The accuracy of a study's moves, by hand: two short games on Lichess's curve."""

import math
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.analysis import NO_INTERVALS, AccuracyTable
from hyoka.foundation.errors import ParameterError, StudyError
from hyoka.records.samples import sample_path

GAMES = """
[White "Anna"]
[Black "Bert"]
[WhiteElo "1500"]
[BlackElo "2000"]

1. e4 {[%eval 0.3] [%clk 0:01:00]} e5 {[%eval 0.4] [%clk 0:00:50]}
2. Qh5 {[%eval 0.0] [%clk 0:00:40]} Ke7 {[%eval #1] [%clk 0:00:05]} 3. Qxe5# 1-0

[White "Bert"]
[Black "Anna"]
[WhiteElo "2000"]
[BlackElo "1500"]

1. d4 {[%eval 0.2]} d5 {[%eval 0.2]} 2. c4 {[%eval 0.2]} 1/2-1/2
"""


def expected(centipawns: float) -> float:
    """Lichess's expected score."""
    return 1 / (1 + math.exp(-0.00368208 * centipawns))


E5, QH5, KE7 = expected(40) - expected(30), expected(40) - 0.5, expected(1000) - 0.5
"""Losses; all other moves lose nothing, or have no evaluation before them."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder = tmp_path_factory.mktemp("accuracy")
    (folder / "games.pgn").write_text(GAMES)
    study = hk.Study.create(folder / "study", folder / "games.pgn")
    study.evaluate("comments")
    return study


def measured(study: hk.Study, **options: Any) -> AccuracyTable:
    usual: dict[str, Any] = {"curve": "lichess", "min_games": 1, "resampling": NO_INTERVALS}
    return study.accuracy("comments", **usual | options)


def losses(table: AccuracyTable) -> dict[str, tuple[int, float]]:
    """Moves and summed losses of groups."""
    return {part.condition: (part.moves, part.moves * part.loss.value) for part in table}


def near(moves: int, loss: float) -> Any:
    """Equal to a number of moves and their summed losses, but for rounding."""
    return (moves, pytest.approx(loss, abs=1e-6))


def test_all_moves_between_evaluations_count_and_the_mate(study: hk.Study) -> None:
    table = measured(study)
    assert losses(table) == {"": near(6, E5 + QH5 + KE7)}
    [part] = table
    assert part.games == 2
    assert part.blunders.value == pytest.approx(1 / 6)
    assert str(table).startswith(
        "comments: 6 moves of 2 games; 2 moves lack an evaluation before or after."
    )
    assert "Lichess's curve" in str(table)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("player", {"player is Anna": (3, QH5), "player is Bert": (3, E5 + KE7)}),
        ("who: player", {"who is Anna": (3, QH5), "who is Bert": (3, E5 + KE7)}),
        ("color", {"color is White": (3, QH5), "color is Black": (3, E5 + KE7)}),
        ("rating", {"rating = 1500": (3, QH5), "rating = 2000": (3, E5 + KE7)}),
        ("ply >= 3", {"ply >= 3": (2, KE7), "not ply >= 3": (4, E5 + QH5)}),
        ("score > 35", {"score > 35 = 1": (1, QH5), "score > 35 = 0": (4, E5 + KE7)}),
    ],
)
def test_moves_are_divided_by_what_is_about_the_mover(
    study: hk.Study, by: str, groups: dict[str, tuple[int, float]]
) -> None:
    found = losses(measured(study, by=by))
    assert found.pop("")[0] == 6
    if "score" in by:  # a mate has no score
        assert found.pop("score > 35: unknown") == (1, 0)
    assert found == {name: near(*each) for name, each in groups.items()}


def test_moves_are_divided_by_the_time_left(study: hk.Study) -> None:
    found = losses(measured(study, by="clock", bins=[45]))
    assert found["clock < 45"] == (1, 0)  # the mate, with 40 seconds left
    assert found["clock ≥ 45"] == near(2, QH5 + KE7)
    assert found["clock: unknown"] == near(3, E5)


def test_a_condition_is_about_the_position_before_the_move(study: hk.Study) -> None:
    table = measured(study, where="ply = 3 -- the king's walk")
    assert losses(table)[""] == near(1, KE7)
    assert "1 move lacks" not in str(table)
    late = measured(study, where="ply = 0 or ply = 1")
    assert "2 moves of 2 games; 2 moves lack" in str(late)
    scored = measured(study, where="score = 20")
    assert "2 moves of 1 game" in str(scored)


def test_the_worst_moves_come_first(study: hk.Study) -> None:
    [worst, *others] = measured(study, top=2).worst
    assert (worst.game, worst.ply, worst.player) == (0, 3, "Bert")
    assert (worst.move, worst.better, worst.kind) == ("Ke7", "", "blunder")
    assert worst.loss == pytest.approx(KE7)
    assert [each.move for each in others] == ["Qh5"]
    assert [each.move for each in measured(study).worst] == ["Ke7", "Qh5", "e5"]


def test_better_moves_are_those_that_the_evaluator_stored(study: hk.Study, tmp_path: Path) -> None:
    rows = ["game_id,ply,value,best", "0,2,0.6,g1f3", "0,3,0.5,b8c6", "0,4,0.9,h5e5", "1,0,0.5,?"]
    (tmp_path / "table.csv").write_text("\n".join([*rows, "1,1,0.2,"]) + "\n")
    study.evaluate(f"table:{tmp_path / 'table.csv'}")
    [name] = [each for each in study.engines if each != "comments"]
    table = study.accuracy(name, min_games=1, resampling=NO_INTERVALS)
    found = {each.move: each.better for each in table.worst}
    assert found == {"Ke7": "Nc6", "d4": "?", "Qh5": "Nf3"}
    assert "values are expected scores" in str(table)
    assert table.parts[0].moves == 4  # the mate, too


def test_wrong_questions_get_advice(study: hk.Study) -> None:
    with pytest.raises(ParameterError, match="`balance` weights slices"):
        measured(study, balance="ply", by="player")
    with pytest.raises(StudyError, match="where ply = 0: no two consecutive positions"):
        measured(study, where="ply = 0")
    with pytest.raises(hk.Error, match="no column nowhere"):
        measured(study, where="nowhere = 0")


def test_records_without_clocks_say_so(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 1-0")
    study = hk.Study.create(tmp_path / "study", tmp_path / "game.pgn")
    study.evaluate("comments")
    with pytest.raises(ParameterError, match="`by` cannot be clock: the records state no time"):
        measured(study, by="clock")


def test_intervals_and_phases_of_many_games(tmp_path: Path) -> None:
    study = hk.Study.create(tmp_path / "study", sample_path("othello"))
    study.evaluate("ab:nodes=1,hash=0", where="game_id < 40")
    table = study.accuracy(by="phase", resampling=hk.Resampling(50))
    every, *thirds = table
    assert every.games == 40
    assert sum(part.moves for part in thirds) == every.moves
    assert all(part.loss.low < part.loss.value < part.loss.high for part in table)
    # The last move of each game has the result after it.
    counts = study.sql("select sum(plies) as n from games where game_id < 40")["n"].to_pylist()
    assert [every.moves] == counts
    assert "Othello" not in str(table)
    for name in ("accuracy.csv", "accuracy.html", "accuracy.svg"):
        table.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size
