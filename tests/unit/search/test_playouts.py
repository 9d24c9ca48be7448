# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from typer.testing import CliRunner

import hyoka as hk
from hyoka._core import Go3
from hyoka.apps.cli.command_table import command_line
from hyoka.learning.mets import learn_mets
from hyoka.learning.prediction import table_of
from hyoka.records.samples import sample_path
from hyoka.search import MoveStrengths, Searcher
from hyoka.search.playouts import PlayoutResults


def some(*outcomes: int) -> PlayoutResults:
    scores = np.array(outcomes, dtype=np.float32)
    lengths = np.ones(len(outcomes), dtype=np.int32)
    return PlayoutResults(
        np.array(outcomes, dtype=np.int8), lengths, scores, np.ones(len(outcomes), dtype=bool)
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": -1}, "count must be 0 to .*, not -1"),
        ({"limit": -1}, "limit must not be negative, not -1"),
        ({"threads": 0}, "threads must be 1 to 1024 or None, not 0"),
        ({"threads": -2}, "threads must be"),
        ({"threads": 1025}, "threads must be"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"count": 1} | arguments
    with pytest.raises(ValueError, match=words):
        hk.playouts(hk.Othello(), **given)


def test_no_playouts_are_no_numbers() -> None:
    none = hk.playouts(hk.Othello(), 0)
    assert len(none) == 0
    assert math.isnan(none.value)
    assert math.isnan(none.standard_error)


def test_one_playout_has_a_value_but_no_error() -> None:
    assert some(1).value == 1
    assert math.isnan(some(1).standard_error)


def test_the_value_is_the_mean_result_between_0_and_1() -> None:
    assert some(1, 1, 0, -1).value == (1 + 1 + 0.5 + 0) / 4
    assert some(-1, -1).value == 0


def test_the_standard_error_is_that_of_the_mean() -> None:
    assert some(1, -1).standard_error == pytest.approx(0.5)
    assert some(1, 1, 1).standard_error == 0


def test_arrays_have_the_documented_types() -> None:
    results = hk.playouts(hk.Go9(), 3)
    assert results.outcomes.dtype == np.int8
    assert results.lengths.dtype == np.int32
    assert results.scores.dtype == np.float32


def test_results_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        some(1).outcomes = np.zeros(1, dtype=np.int8)  # type: ignore[misc]


def test_another_seed_gives_other_games() -> None:
    one, two = (hk.playouts(hk.Go9(), 50, seed=seed) for seed in (1, 2))
    assert (one.scores != two.scores).any()


@pytest.mark.parametrize("seed", [-1, 2**64, 2**64 - 1])
def test_any_whole_number_is_a_seed(seed: int) -> None:
    same = hk.playouts(hk.Othello(), 20, seed=seed % 2**64)
    assert (hk.playouts(hk.Othello(), 20, seed=seed).scores == same.scores).all()


def test_all_cores_may_play() -> None:
    one, many = hk.playouts(hk.Othello(), 300), hk.playouts(hk.Othello(), 300, threads=None)
    assert (one.lengths == many.lengths).all()


def test_a_game_cut_off_is_scored_as_it_stands() -> None:
    assert (hk.playouts(hk.Go9(komi=0.5), 10, limit=1).scores == 81 - 0.5).all()
    assert (hk.playouts(hk.Othello(), 10, limit=1).lengths == 1).all()
    for draws in (hk.playouts(hk.Chess(), 10, limit=3), hk.playouts(hk.Shogi(), 10, limit=3)):
        assert (draws.outcomes == 0).all()
        assert (draws.scores == 0).all()
        assert (draws.lengths == 3).all()


def test_shogi_is_cut_off_after_256_plies_and_go_after_three_times_its_points() -> None:
    assert hk.playouts(hk.Shogi(), 100).lengths.max() == 256
    assert hk.playouts(Go3(), 500).lengths.max() <= 27


def test_a_finished_game_is_its_own_playout() -> None:
    over: Any = hk.Go9(komi=6.5).play("pass").play("pass")
    results = hk.playouts(over, 5)
    assert (results.lengths == 0).all()
    assert (results.scores == -6.5).all()
    assert results.value == 0


def test_a_line_of_play_ends_its_playouts_by_repetition() -> None:
    """Two kings and a blocked pawn pair: bare positions last until 50 moves have passed."""
    blocked: Any = hk.Chess.from_text("7k/8/8/p7/P7/8/8/7K w - - 0 1")
    bare, remembered = hk.playouts(blocked, 30, seed=1), hk.playouts(blocked.line(), 30, seed=1)
    assert remembered.lengths.mean() < bare.lengths.mean()


def test_a_mate_in_one_is_found_by_some_playout_and_counted_for_the_mover() -> None:
    mate: Any = hk.Chess.from_text("7k/R7/6K1/8/8/8/8/8 w - - 0 1")
    results = hk.playouts(mate, 200, limit=1)
    assert set(results.outcomes.tolist()) == {0, 1}


# By policy

STRENGTHS = "uct:preset=paper,playouts=1,formula=puct"


def chances(line: hk.Othello.Line) -> dict[Any, float]:
    """By what a policy by strengths goes: the share that a tree search takes as a prior."""
    reports = Searcher(STRENGTHS, "othello").search(line).moves
    return {report.move: report.prior or 0.0 for report in reports}


def ends(line: hk.Othello.Line) -> dict[float, float]:
    """The probability of each final score, by looking at all games there can be."""
    if line.outcome is not None:
        return {line.score: 1.0}
    found: dict[float, float] = defaultdict(float)
    for move, chance in chances(line).items():
        for score, share in ends(line.play(move)).items():
            found[score] += chance * share
    return found


def late(empty: int) -> hk.Othello.Line:
    line, seed = hk.Othello().line(), 0
    while (line.cells == 0).sum() > empty:
        move = line.random_move(seed := seed + 1)
        assert move is not None
        line = line.play(move)
    return line


def agrees(scores: Any, expected: dict[float, float]) -> bool:
    seen = Counter(scores.tolist())
    assert set(seen) <= set(expected)
    often = [score for score in expected if expected[score] * len(scores) >= 5]
    counts = [seen[score] for score in often]
    shares = np.array([expected[score] for score in often])
    wanted = shares / shares.sum() * sum(counts)
    return len(often) > 1 and float(chisquare(counts, wanted).pvalue) > 1e-3


def test_games_by_strengths_end_as_all_games_there_can_be_weighed() -> None:
    line = late(5)
    played = hk.playouts(line, 4000, policy="strengths", strengths="built-in", seed=5)
    expected = ends(line)
    assert sum(expected.values()) == pytest.approx(1)
    assert agrees(played.scores, expected)
    assert not agrees(hk.playouts(line, 4000, seed=5).scores, expected)
    assert played.over.all()


def test_moves_are_drawn_by_their_strengths() -> None:
    line = late(40)
    after: dict[float, float] = defaultdict(float)
    for move, chance in chances(line).items():
        after[line.play(move).score] += chance
    played = hk.playouts(line, 4000, policy="strengths", strengths="built-in", seed=6, limit=1)
    assert agrees(played.scores, after)
    assert not played.over.any()
    assert (played.lengths == 1).all()


@pytest.mark.parametrize(
    ("game", "policy"),
    [("shogi", "strengths"), ("go9", "light"), ("go9", "strengths"), ("chess", "strengths")],
)
def test_a_playout_depends_on_the_seed_and_its_number_alone(game: str, policy: str) -> None:
    start = hk.position(game)
    few = hk.playouts(start, 6, policy=policy, seed=3, limit=60)
    many = hk.playouts(start, 12, policy=policy, seed=3, limit=60, threads=3)
    for one, other in zip(dataclasses.astuple(few), dataclasses.astuple(many), strict=True):
        assert (one == other[:6]).all()
    assert (few.lengths <= 60).all()
    assert (few.over == (few.lengths < 60)).all() or few.over.any()


def test_all_moves_alike_by_any_way() -> None:
    """A share of 1 of random moves leaves nothing of a policy, whatever it is."""
    by_policy = hk.playouts(hk.Othello(), 2000, policy="strengths", epsilon=1.0, seed=1)
    uniform = hk.playouts(hk.Othello(), 2000, seed=2)
    assert abs(by_policy.value - uniform.value) < 0.06
    assert abs(by_policy.scores.mean() - uniform.scores.mean()) < 2


def test_files_of_move_models_serve_playouts(tmp_path: Path) -> None:
    strengths = MoveStrengths("othello", {"corner": 1e6}).model_file()
    line = late(20)
    greedy = hk.playouts(line, 200, policy="strengths", strengths=strengths, seed=1)
    assert (greedy.scores != hk.playouts(line, 200, policy="strengths", seed=1).scores).any()
    games = table_of(list(hk.read_records(sample_path("go9")))[:20])
    learn_mets(games, threshold=2000).save(tmp_path / "tree.mets")
    by_tree = hk.playouts(hk.Go9(), 5, policy="strengths", strengths=tmp_path / "tree.mets", seed=1)
    assert by_tree.over.all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": "strenghts"}, "did you mean strengths"),
        ({"policy": "light"}, "policy=light is for Go"),
        ({"strengths": MoveStrengths("othello", {}).model_file()}, "has no effect"),
        ({"epsilon": 0.5}, "has no effect with policy=uniform"),
    ],
)
def test_policies_that_cannot_be_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=words):
        hk.playouts(hk.Othello(), 1, **arguments)


def test_the_command_says_what_playouts_are_like() -> None:
    words = [
        "position",
        "playouts",
        "othello",
        str(sample_path("othello")),
        "--count",
        "50",
        "--json",
    ]
    result = CliRunner().invoke(command_line(words), words)
    assert result.exit_code == 0, result.output
    uniform, rated = json.loads(result.stdout)
    assert (uniform["policy"], rated["policy"]) == ("uniform", "strengths")
    assert uniform["ended"][0] == rated["ended"][0] == 1
    assert uniform["first"] is None
    assert 0.05 < uniform["drawn"][0] < rated["drawn"][0] < rated["first"][0]
