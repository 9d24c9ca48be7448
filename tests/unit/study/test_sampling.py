# SPDX-License-Identifier: Apache-2.0
"""What a study says about its evaluators: from tables to samples, and real values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyoka as hk
from hyoka.analysis import NO_INTERVALS, Curves, Resampling, fit_win_draw_loss
from hyoka.foundation.errors import ConditionError, ParameterError, StudyError
from hyoka.records.samples import sample_path
from hyoka.study import Question, Study
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import adjudicate
from hyoka.study.sampling import THE_PHASE, measured, slice_columns

FEW = Resampling(20)
MATE = "1. f3 {{[%eval {0}]}} e5 2. g4 {{[%eval {1}]}} Qh4# {{[%eval #-1]}} 0-1\n\n"
DRAW = "1. e4 {{[%eval {0}]}} e5 {{[%eval {1}]}} 1/2-1/2\n\n"


@pytest.fixture(scope="module")
def chess(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A few games with values, drawn ones among them."""
    folder = tmp_path_factory.mktemp("chess")
    games = "".join(
        f'[Round "{i}"]\n\n' + (DRAW if i % 3 == 2 else MATE).format(0.1 * i, -0.1 * i)
        for i in range(12)
    )
    (folder / "games.pgn").write_text(games)
    study = Study.create(folder / "study", records=[folder / "games.pgn"])
    evaluate(study, ["comments", "ab:nodes=1,hash=0"])
    return study


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The shipped chess games, with their players' own scores and our static evaluation."""
    folder = tmp_path_factory.mktemp("samples")
    study = Study.create(folder / "study", records=sample_path("chess"))
    evaluate(study, ["comments"])
    evaluate(study, ["ab:nodes=1,hash=0"], sample=20)
    return study


def test_a_sample_is_what_the_tables_say(samples: Study) -> None:
    found = measured(samples, "comments")
    expected = samples.sql(
        "select e.game_id, e.ply, score, mate, result from evaluations e join games g "
        "using (game_id) where engine = 'comments' and result in (0, 1) order by game_id, ply"
    ).to_pylist()
    assert len(found) == len(expected)
    sample = found.samples[0]
    assert sample.unit == "centipawns"
    for row in range(0, len(found), 97):
        wanted = expected[row]
        assert (found.game_ids[row], found.plies[row]) == (wanted["game_id"], wanted["ply"])
        assert sample.results[row] == wanted["result"]
        said = wanted["score"]
        value = float("inf") if said is None and wanted["mate"] > 0 else said
        value = float("-inf") if said is None and wanted["mate"] < 0 else value
        assert sample.values[row] == pytest.approx(value)


def test_several_evaluators_are_measured_on_the_same_positions(samples: Study) -> None:
    both = samples.metrics(resampling=NO_INTERVALS)
    assert {part.positions for part in both} == {both.parts[0].positions}
    alone = samples.metrics("comments", resampling=NO_INTERVALS)
    assert alone.parts[0].positions > both.parts[0].positions
    assert samples.metrics("ab:nodes=1,hash=0", resampling=NO_INTERVALS).parts[0].name != "comments"


def test_an_evaluator_is_known_by_name_or_spec(samples: Study) -> None:
    with pytest.raises(StudyError, match="did you mean comments"):
        samples.metrics("coments")


def test_draws_are_dropped_counted_half_or_a_curve_of_their_own(chess: Study) -> None:
    dropped = measured(chess, "comments").samples[0]
    halved = measured(chess, "comments", Question(draws="half")).samples[0]
    assert set(dropped.results.tolist()) == {0.0}
    assert set(halved.results.tolist()) == {0.0, 0.5}
    found = chess.curve("comments", wdl=True, at_least=1, resampling=FEW)
    assert [part.condition for part in found] == ["win", "draw", "loss"]
    for points in zip(*(part.points for part in found), strict=True):
        assert sum(point.share for point in points) == pytest.approx(1)


def test_what_is_known_exactly_takes_the_place_of_the_records_result(tmp_path: Path) -> None:
    (tmp_path / "g.pgn").write_text(MATE.format(0.1, 0.2).replace("0-1", "1-0") + "")
    study = Study.create(tmp_path / "study", records=[tmp_path / "g.pgn"])
    evaluate(study, ["comments"])
    assert set(measured(study).samples[0].results.tolist()) == {1.0}
    adjudicate(study, "rules")
    found = measured(study)
    assert found.changed == 1
    assert sorted(found.samples[0].results.tolist()) == [0.0, 1.0, 1.0]


def test_conditions_choose_positions_and_part_them(samples: Study) -> None:
    found = samples.curve(
        "comments", by="ply", bins=[20, 40], delta=100, at_least=20, resampling=FEW
    )
    assert [part.condition for part in found] == ["", "ply < 20", "20 ≤ ply < 40", "ply ≥ 40"]
    assert found[0].positions == sum(part.positions for part in found.parts[1:])
    early = samples.curve("comments", where="ply < 20", delta=100, at_least=20, resampling=FEW)
    assert early[0].points == found[1].points
    phases = samples.metrics("comments", by="phase", resampling=NO_INTERVALS)
    assert [part.condition.split()[0] for part in phases.parts[1:]] == ["early", "middle", "late"]
    checked = samples.metrics("comments", by="in_check", resampling=NO_INTERVALS)
    assert [part.condition for part in checked] == ["", "in_check", "not in_check"]


def test_balanced_parts_have_the_plies_of_all(samples: Study) -> None:
    plain = samples.metrics("comments", where="ply < 30", by="in_check", resampling=NO_INTERVALS)
    balanced = samples.metrics(
        "comments", where="ply < 30", by="in_check", balance="ply", resampling=NO_INTERVALS
    )
    assert plain.parts[0]["roc"].value == pytest.approx(balanced.parts[0]["roc"].value, rel=1e-3)
    assert plain.parts[1]["roc"].value != balanced.parts[1]["roc"].value


def test_balanced_gaps_tell_both_and_balanced_curves_are_weighed(samples: Study) -> None:
    asked = Question(by="in_check", balance="ply", resampling=FEW)
    found = samples.gaps("comments", asked)
    plain = samples.gaps("comments", asked.also(balance=None))
    for one, other in zip(found, plain, strict=True):
        assert other.unbalanced is None
        assert one.unbalanced == other.gap
        assert one.gap.level.effect.value != other.gap.level.effect.value
    assert "with the phase of the game held equal" in found.title
    assert "level unbalanced" in found.lines()[0]
    row = found.table().to_pylist()[0]
    assert row["unbalanced_level"] == plain.table().to_pylist()[0]["level"]
    curves, plain_curves = (
        samples.curve("comments", asked),
        samples.curve("comments", by="in_check"),
    )
    assert [p.share for p in curves[0].points] == pytest.approx(
        [p.share for p in plain_curves[0].points], abs=1e-6
    )
    assert curves[2].points[0].positions == plain_curves[2].points[0].positions
    assert [p.share for p in curves[2].points] != [p.share for p in plain_curves[2].points]


def test_a_search_for_splits_controls_for_the_phase(samples: Study) -> None:
    assert THE_PHASE in samples.slices("comments", top=2).controls
    balanced = samples.slices("comments", top=5, balance="ply")
    assert THE_PHASE not in balanced.controls
    assert balanced.held_equal == THE_PHASE
    assert not any(split.condition.columns == {"ply"} for split in balanced)


def test_wrong_questions_get_clear_answers(samples: Study, tmp_path: Path) -> None:
    with pytest.raises(ConditionError, match="did you mean ply"):
        samples.curve("comments", where="plyy < 3")
    with pytest.raises(ConditionError, match="nonsense"):
        samples.metrics("comments", by="nonsense")
    with pytest.raises(StudyError, match="no position"):
        samples.metrics("comments", where="ply > 100000")
    with pytest.raises(ParameterError, match=r"`evaluator` is required, one of Alpha-.*; comments"):
        samples.slices()
    with pytest.raises(ParameterError, match="`other` is the same evaluator: comments"):
        samples.compare("comments", "comments")
    with pytest.raises(
        ParameterError, match=r"`delta` .*cannot be combined with `error` or `count`"
    ):
        samples.curve("comments", delta=10, error=0.1)
    with pytest.raises(ParameterError, match="cannot use margin, which depends on the result"):
        samples.slices("comments", columns=["margin"])
    with pytest.raises(ParameterError, match=r"`balance` weights slices; it needs `by`"):
        samples.metrics("comments", balance="ply")
    with pytest.raises(ParameterError, match="`draws` is one of drop, half, not 'some'"):
        samples.curve("comments", draws="some")
    with pytest.raises(ParameterError, match="`by` is required"):
        samples.gaps("comments")
    one, other = samples.engines
    for of_all in (
        lambda: samples.slices(one, by="ply"),
        lambda: samples.compare(one, other, by="ply"),
        lambda: samples.disagreements(one, other, by="ply"),
    ):
        with pytest.raises(
            ParameterError, match=r"`by` has no effect .*select positions with `where`"
        ):
            of_all()
    (tmp_path / "g.pgn").write_text("1. e4 e5 1-0")
    bare = Study.create(tmp_path / "bare", records=[tmp_path / "g.pgn"])
    with pytest.raises(StudyError, match="hyoka study evaluate"):
        bare.metrics()


def test_one_question_is_asked_of_everything_and_keywords_change_it(samples: Study) -> None:
    question = Question(where="ply >= 20", resampling=NO_INTERVALS)
    assert (
        samples.metrics("comments", question).rows()
        == samples.metrics("comments", where="ply >= 20", resampling=NO_INTERVALS).rows()
    )
    early = samples.curve("comments", question, where="ply < 20")
    assert early[0].positions < samples.curve("comments", question)[0].positions


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"draws": "wdl"}, "`draws` is one of drop, half, not 'wdl'"),
        ({"axis": "z"}, "`axis` is one of auto, value, score, not 'z'"),
        ({"bins": [20]}, "`bins` needs a column: add `by`"),
        ({"by": "phase", "bins": [20]}, "`bins` .*`by='ply'`"),
    ],
)
def test_a_question_that_is_none_says_why(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Question(**wrong)


def test_phases_part_every_game(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "go", records=sample_path("go9"), columns="none")
    evaluate(study, ["comments"])
    found = study.curve(by="phase", resampling=NO_INTERVALS)
    assert [part.condition.split()[0] for part in found.parts[1:]] == ["early", "middle", "late"]


def test_gaps_of_named_conditions_have_tests_and_distances(samples: Study) -> None:
    found = samples.gaps("comments", by="material > 0", resampling=Resampling(50))
    assert [part.condition for part in found] == ["material > 0", "not material > 0"]
    above, below = found.parts
    total = above.gap.positions * above.gap.level.effect.value
    assert total == pytest.approx(-below.gap.positions * below.gap.level.effect.value, rel=1e-3)
    assert above.distance is not None
    assert above.distance.shared[0] < above.distance.shared[1]
    assert found.table().num_rows == 2
    assert "Level" in str(found)


def test_curves_of_parts_have_the_bins_of_the_whole(samples: Study) -> None:
    found = samples.curve("comments", by="ply", bins=[20, 60], at_least=20, resampling=NO_INTERVALS)
    widths = {round(p.upper - p.lower) for part in found for p in part.points if not p.is_mate}
    assert len(widths) == 1


def test_no_column_that_knows_the_end_is_searched_for_splits(samples: Study) -> None:
    searched = slice_columns(samples)
    assert "ply" in searched
    assert not {"result", "plies", "margin", "ending", "adjudicated"} & set(searched)


def test_splits_of_a_study_speak_its_games_language(samples: Study) -> None:
    found = samples.slices("comments", top=3, columns=["first_to_play", "ply", "ply % 2"])
    assert found.tried > 3
    for split in found:
        assert "White" in split.sentence or "side it favors" in split.sentence
        # What is listed can be asked for again.
        assert samples.curve("comments", where=split.condition.sql, resampling=NO_INTERVALS).parts


def test_disputed_positions_can_be_looked_up(samples: Study) -> None:
    names = samples.engines
    found = samples.disagreements(names[0], names[1], top=5, resampling=FEW)
    assert len(found.disputed) == 5
    for each in found.disputed:
        record = samples.record(each.game)
        assert 0 <= each.ply <= len(record.moves)
        assert record.result == each.result


def test_more_nodes_are_worth_more_to_the_sample_players(samples: Study) -> None:
    """The players' own scores tell more than a static look does."""
    static = next(name for name in samples.engines if name != "comments")
    found = samples.compare("comments", static, resampling=Resampling(200))
    roc = next(each for each in found.differences if each.metric.name == "roc")
    assert roc.difference.low > 0


def is_sound(curves: Curves) -> None:
    """Each curve never falls beyond chance, and has its sign right."""
    for part in curves:
        assert part.monotonicity.holds, (part.condition, part.monotonicity)
        low, *_, high = (point for point in part.points if not point.is_mate)
        assert low.high < 0.3
        assert high.low > 0.7


def test_real_values_of_tcec(shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "tcec",
        records=shared_data("chess/tcec_eval.pgn.xz"),
        columns="none",
        where="number % 9 = 0",
    )
    evaluate(study, ["comments"])
    found = study.curve(delta=50, resampling=Resampling(100))
    assert found[0].positions > 40_000
    central = study.curve(where="ply >= 20", error=0.03, resampling=Resampling(100))
    is_sound(central)
    assert found[0].logistic.slope.low > 0
    metrics = study.metrics(resampling=NO_INTERVALS)
    assert metrics.parts[0]["roc"].value > 0.8
    # The file says [%eval] and not whose it is; two engines speak in every game.
    assert "comments combines" in metrics.notes()[0]
    assert "inferred from the values" in metrics.notes()[0]
    ours = "ab:nodes=1,hash=0"
    evaluate(study, [ours], where="game_id < 60")
    assert study.metrics(ours, resampling=NO_INTERVALS).caveats == ()
    # The default bins are narrow enough to see something in.
    usual = study.curve("comments", resampling=NO_INTERVALS)[0]
    assert max(point.positions for point in usual.points) < 0.15 * usual.positions
    # Wins announced in games that were lost, and scores of 19,999, do not rule the curves.
    whole = measured(study, "comments", Question(draws="half")).samples[0]
    wins = fit_win_draw_loss(whole).win
    near = np.abs(whole.values - 160) < 20
    observed = float((whole.results[near] == 1).mean())
    assert abs(float(wins.probability(np.array([160.0]))[0]) - observed) < 0.04
    mover = "split_part(case when first_to_play then black else white end, ' ', 1)"
    for engine in ("Stockfish", "Houdini"):
        mine = study.calibration("comments", where=f"ply >= 16 and {mover} = '{engine}'").parts[0]
        assert mine.logistic.converged
        assert abs(mine.logistic.even.value) < 30


def test_real_values_of_floodgate_by_rating(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    study = Study.create(
        tmp_path / "floodgate",
        records=shared_data("shogi/floodgate2016.csa.xz"),
        columns="none",
        where="number % 36 = 0",
    )
    evaluate(study, ["comments"])
    by = "(first_rank + second_rank) / 2"
    found = study.curve(by=by, bins=[2900, 3100, 3300], delta=200, resampling=Resampling(50))
    assert len(found) == 5
    assert found[0].positions > 80_000
    for part in found:
        assert part.logistic.slope.low > 0
        middle = min((p for p in part.points if not p.is_mate), key=lambda p: abs(p.value))
        assert 0.4 < middle.share < 0.6
        ahead = [p.share for p in part.points if 1500 < p.value < 3000]
        behind = [p.share for p in part.points if -3000 < p.value < -1500]
        assert min(ahead) > 0.9
        assert max(behind) < 0.1


def test_real_values_of_katago(shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "kata", records=shared_data("go9/ogs9_katabot_eval.sgf.xz"), columns="none"
    )
    evaluate(study, ["comments"])
    found = study.curve(resampling=Resampling(100))
    assert found[0].unit == "value"
    assert found[0].monotonicity.holds
    assert study.metrics(resampling=NO_INTERVALS).parts[0]["roc"].value > 0.9


def test_the_readme_s_lines_work(samples: Study, tmp_path: Path) -> None:
    samples.curve("comments", by="ply", bins=[20, 30, 40], resampling=FEW).save(tmp_path / "c.html")
    assert "ROC" in str(samples.metrics(resampling=FEW))
    assert np.isfinite(
        hk.Study.open(samples.path).calibration("comments").parts[0].logistic.scale.value
    )
