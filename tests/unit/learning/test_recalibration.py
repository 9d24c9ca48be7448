# SPDX-License-Identifier: Apache-2.0
"""Learning of calibration models: fits against other libraries, held-out games, errors."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import hyoka as hk
from hyoka.analysis import Resampling, Sample
from hyoka.learning import CalibrationPlan, LearnedCalibration, fit_map, learn_calibration
from hyoka.models import CalibrationModel
from hyoka.models.calibration_model import (
    MAPS,
    BetaMap,
    CalibrationMap,
    IsotonicMap,
    PlattMap,
    WdlMap,
)
from hyoka.records.samples import sample_path
from hyoka.storage.game_ids import game_id
from hyoka.storage.model_file import read_model_file

Reals = NDArray[np.float64]


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def log_odds(v: Reals) -> Reals:
    return np.asarray(np.log(v / (1 - v)))


def expected(mapped: CalibrationMap, inputs: Any, unit: str = "value") -> Reals:
    return CalibrationModel("chess", unit, mapped).expected(inputs)


@pytest.fixture(scope="module")
def overconfident() -> tuple[Reals, Reals]:
    """Values whose log odds are twice the true ones, and results with draws."""
    random = np.random.default_rng(7)
    odds = random.normal(0.2, 1.2, 4000)
    wins = random.uniform(size=4000) < logistic(odds)
    drawn = random.uniform(size=4000) < 0.2
    values = np.clip(logistic(2 * odds), 0.001, 0.999).astype(np.float32).astype(np.float64)
    return values, np.where(drawn, 0.5, wins.astype(np.float64))


def test_platt_scaling_agrees_with_scikit_learn(overconfident: tuple[Reals, Reals]) -> None:
    values, results = overconfident
    fitted = fit_map("platt", values, results=results, games=np.arange(len(values)))
    # A draw is a win and a loss with half of the weight each.
    x = np.tile(log_odds(values), 2)[:, None]
    y = np.repeat([1, 0], len(values))
    weight = np.concatenate([results, 1 - results])
    theirs = LogisticRegression(C=math.inf, tol=1e-10, max_iter=1000)
    theirs.fit(x, y, sample_weight=weight)
    assert isinstance(fitted, PlattMap)
    assert fitted.slope == pytest.approx(theirs.coef_[0, 0], rel=1e-4)
    assert fitted.intercept == pytest.approx(theirs.intercept_[0], rel=1e-3)


def bounded_maximum(values: Reals, results: Reals) -> Reals:
    """The coefficients of beta calibration by a general optimizer: c, a, b."""
    low, high = np.log(values), -np.log1p(-values)

    def loss(theta: Reals) -> tuple[float, Reals]:
        odds = theta[0] + theta[1] * low + theta[2] * high
        errors = logistic(odds) - results
        gradient = np.array([errors.mean(), (errors * low).mean(), (errors * high).mean()])
        return float((np.logaddexp(0, odds) - results * odds).mean()), gradient

    bounds = [(None, None), (0, None), (0, None)]
    options = {"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-11}
    found = minimize(loss, [0, 1, 1], jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    return np.asarray(found.x)


def test_beta_calibration_is_the_maximum_of_a_general_optimizer(
    overconfident: tuple[Reals, Reals],
) -> None:
    values, results = overconfident
    fitted = fit_map("beta", values, results=results, games=np.arange(len(values)))
    assert isinstance(fitted, BetaMap)
    theirs = bounded_maximum(values, results)
    assert [fitted.c, fitted.a, fitted.b] == pytest.approx(theirs.tolist(), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("side", ["low", "high"])
def test_beta_calibration_bounds_its_coefficients(side: str) -> None:
    """The shares fall at one end, so that the free coefficient there is negative."""
    random = np.random.default_rng(5)
    values = random.uniform(0.02, 0.98, 3000).astype(np.float32).astype(np.float64)
    shares = np.where(values < 0.3, 0.4, values)
    shares = np.where(values < 0.08, 0.85, shares)
    results = (random.uniform(size=3000) < shares).astype(np.float64)
    if side == "high":
        values, results = 1 - values, 1 - results
        values = values.astype(np.float32).astype(np.float64)
    fitted = fit_map("beta", values, results=results, games=np.arange(3000))
    assert isinstance(fitted, BetaMap)
    assert (fitted.a if side == "low" else fitted.b) == 0
    theirs = bounded_maximum(values, results)
    assert [fitted.c, fitted.a, fitted.b] == pytest.approx(theirs.tolist(), abs=2e-3)


def test_isotonic_maps_agree_with_scikit_learn(overconfident: tuple[Reals, Reals]) -> None:
    values, results = overconfident
    values = values.round(2)
    fitted = fit_map("isotonic", values, results=results, games=np.arange(len(values)))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(values, results)
    inputs = np.concatenate([values, np.linspace(0, 1, 777)])
    clipped = np.clip(theirs.predict(inputs), 1e-4, 1 - 1e-4)
    assert expected(fitted, inputs) == pytest.approx(clipped, abs=1e-6)
    assert isinstance(fitted, IsotonicMap)
    assert len(fitted.inputs) < len(np.unique(values))


@given(st.lists(st.tuples(st.floats(0, 1, width=16), st.sampled_from([0.0, 0.5, 1.0]))))
def test_a_fitted_map_rises_or_there_is_an_error(positions: list[tuple[float, float]]) -> None:
    values, results = (
        (list(each) for each in zip(*positions, strict=True)) if positions else ([], [])
    )
    for name in ("platt", "beta", "isotonic"):
        try:
            fitted = fit_map(name, values, results=results, games=range(len(values)))
        except hk.errors.StudyError:
            continue
        inputs = np.linspace(0, 1, 201)
        assert (np.diff(expected(fitted, inputs)) >= -1e-12).all()


def scores(count: int = 6000) -> tuple[Reals, Reals, Reals]:
    """Scores, results and move numbers of a WDL model whose draws become fewer."""
    random = np.random.default_rng(11)
    moves = random.integers(1, 60, count).astype(np.float64)
    points = random.normal(0, 120, count).round()
    a = 60 + 40 * moves / 30
    win, loss = logistic((points - a) / 50), logistic((-points - a) / 50)
    chance = random.uniform(size=count)
    results = np.where(chance < win, 1.0, np.where(chance < win + loss, 0.0, 0.5))
    return points, results, moves


def test_platt_scaling_of_scores_has_the_curve_of_calibrate() -> None:
    points, results, _ = scores()
    games = np.arange(len(points))
    fitted = fit_map("platt", points, results=results, games=games, unit="centipawns")
    sample = Sample.of("x", points, results=results, games=games, unit="centipawns")
    curve = hk.analysis.fit_logistic(sample)
    inputs = np.linspace(-900, 900, 99)
    ours = CalibrationModel("chess", "centipawns", fitted).expected(inputs)
    assert ours == pytest.approx(curve.probability(inputs), abs=1e-12)


def test_the_wdl_map_recovers_its_coefficients() -> None:
    points, results, moves = scores()
    fitted = fit_map(
        "wdl", points, results=results, games=np.arange(6000), unit="centipawns", moves=moves
    )
    assert isinstance(fitted, WdlMap)
    model = CalibrationModel("chess", "centipawns", fitted)
    for move in (5.0, 30.0, 55.0):
        win, _, loss = model.chances(np.array([-150.0, 0.0, 80.0]), move)
        a = 60 + 40 * move / 30
        assert win == pytest.approx(logistic((np.array([-150, 0, 80]) - a) / 50), abs=0.03)
        assert loss == pytest.approx(logistic((np.array([150, 0, -80]) - a) / 50), abs=0.03)


def test_mates_do_not_count_in_a_fit() -> None:
    points, results, _ = scores(500)
    mates = np.concatenate([points, [np.inf, -np.inf]])
    for name in ("platt", "isotonic"):
        plain = fit_map(name, points, results=results, games=range(500), unit="points")
        with_mates = fit_map(name, mates, results=[*results, 0, 1], games=range(502), unit="points")
        assert plain == with_mates


@pytest.mark.parametrize("name", ["platt", "beta", "isotonic"])
@pytest.mark.parametrize(
    ("values", "results", "message"),
    [
        ([0.1, 0.4, 0.6], [0, 0, 1], "perfect separation of wins and losses"),
        ([0.1, 0.4, 0.4, 0.6], [0, 0.5, 0.5, 1], "perfect separation"),
        ([0.1, 0.4, 0.6], [1, 1, 1], "all results are equal: a map needs wins and losses"),
        ([0.4, 0.4], [0, 1], "all evaluations are 0.4"),
        ([], [], "all evaluations are mates"),
    ],
)
def test_results_that_determine_no_map_are_an_error(
    name: str, values: list[float], results: list[float], message: str
) -> None:
    with pytest.raises(hk.errors.StudyError, match=message):
        fit_map(name, values, results=results, games=range(len(values)))


@pytest.mark.parametrize("name", ["platt", "beta"])
def test_a_falling_curve_is_an_error(name: str) -> None:
    with pytest.raises(hk.errors.StudyError, match="higher evaluations do not mean more wins"):
        fit_map(name, [0.1, 0.2, 0.8, 0.9], results=[1, 0.5, 0.5, 0], games=range(4))


@pytest.mark.parametrize(
    ("name", "unit", "message"),
    [
        ("beta", "points", "beta is for values, and the evaluator has scores"),
        ("wdl", "value", "wdl is for scores, and the evaluator has values"),
    ],
)
def test_a_map_of_the_other_quantity_is_an_error(name: str, unit: str, message: str) -> None:
    with pytest.raises(hk.errors.ParameterError, match=message):
        fit_map(name, [0.2, 0.3], results=[0, 1], games=[1, 2], unit=unit)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    """The sample games of chess with scores and overconfident values."""
    folder = tmp_path_factory.mktemp("recalibration")
    study = hk.Study.create(folder / "study", sample_path("chess"), columns="none")
    study.evaluate(["comments"])
    rows = study.sql(
        "select game_id, ply, score, result from evaluations join positions using (game_id, ply) "
        "where score is not null and result is not null order by game_id, ply"
    )
    values = logistic(rows["score"].to_numpy() / 60)
    table = {"game_id": rows["game_id"], "ply": rows["ply"], "value": values}
    study.evaluate(hk.agents.ImportedEvaluations(table, title="sharp"))
    return study


def learned(study: hk.Study, name: str, **options: Any) -> LearnedCalibration:
    plan = CalibrationPlan(**options)
    return learn_calibration(study, name, plan, resampling=Resampling(100))


def test_no_game_is_both_fitted_to_and_held_out(study: hk.Study) -> None:
    rows = study.sql("select game_id, moves from games")
    ids = [game_id(np.frombuffer(moves, np.uint16)) for moves in rows["moves"].to_pylist()]
    for seed in (0, 1):
        result = learned(study, "sharp", map="platt", hold_out=0.4, seed=seed)
        origin = result.model.origin
        assert origin is not None
        assert origin.learned_games is not None
        inside = origin.learned_games.contains(np.array(ids, np.uint64))
        assert result.games == inside.sum() == len(origin.learned_games)
        assert result.held_out_games == (~inside).sum()
        assert result.held_out_games == pytest.approx(0.4 * len(ids), abs=30)
        games = rows["game_id"].to_numpy()[inside]
        positions = study.sql(
            f"select count(*) as n from evaluations where score is null and "
            f"engine like 'table-sharp%' and game_id in ({', '.join(map(str, games))})"
        )
        assert result.positions == positions["n"][0].as_py()


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    """Short games whose results follow the true values: one per pair of first moves."""
    folder = tmp_path_factory.mktemp("simulated")
    random = np.random.default_rng(4)
    lines = [
        (str(first), str(second))
        for first in hk.Chess().legal_moves
        for second in hk.Chess().play(first).legal_moves
    ]
    odds = random.normal(0, 1.5, len(lines))
    won = random.uniform(size=len(lines)) < logistic(odds)
    results = np.where(won, "1-0", "0-1")
    pgn = "".join(f"1. {a} {b} {r}\n\n" for (a, b), r in zip(lines, results, strict=True))
    (folder / "games.pgn").write_text(pgn, encoding="utf-8")
    study = hk.Study.create(folder / "study", folder / "games.pgn", columns="none")
    for title, values in (("true", logistic(odds)), ("sharp", logistic(4 * odds + 0.5))):
        table = {"game_id": range(len(lines)), "ply": [2] * len(lines), "value": values}
        study.evaluate(hk.agents.ImportedEvaluations(pa.table(table), title=title))
    return study


def test_recalibration_of_an_overconfident_evaluator_is_a_gain(simulated: hk.Study) -> None:
    result = learned(simulated, "sharp", hold_out=0.5)
    assert [each.model.map.name for each in result.tests] == ["platt", "beta", "isotonic"]
    for test in result.tests[:2]:
        for measure in ("log_loss", "brier_loss", "calibration_error"):
            before, after, change = test.change(measure)
            assert change.value == pytest.approx(after - before)
            assert change.high < 0, (test.model.map.name, measure)
    assert result.stored.cross_validated == min(each.cross_validated for each in result.tests)
    assert "may not be better" not in str(result)
    platt = result.tests[0].model.map
    assert isinstance(platt, PlattMap)
    assert platt.slope == pytest.approx(1 / 4, abs=0.1)


def test_calibrated_values_gain_nothing(simulated: hk.Study) -> None:
    result = learned(simulated, "true", map="platt")
    change = result.stored.change("log_loss")[2]
    assert change.low < 0 < change.high
    assert result.before == "the evaluator's own values"
    assert "The stored map may not be better than no model" in str(result)


def test_figures_before_and_after_are_those_of_the_values(study: hk.Study) -> None:
    """The losses on held-out games, computed from their definition."""
    result = learned(study, "sharp", map="beta", draws="drop")
    loaded = hk.study.sampling.measured(study, "sharp")
    sample = loaded.samples[0]
    rows = study.sql("select game_id, moves from games")
    numbers = {
        game: game_id(np.frombuffer(moves, np.uint16))
        for game, moves in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True)
    }
    ids = np.array([numbers[game] for game in loaded.game_ids.tolist()], np.uint64)
    assert result.model.origin is not None
    assert result.model.origin.learned_games is not None
    apart = ~result.model.origin.learned_games.contains(ids)
    won = sample.results[apart] == 1
    before = np.clip(sample.values[apart].astype(np.float64), 1e-4, 1 - 1e-4)
    after = expected(result.model.map, sample.values[apart])
    for claims, place in ((before, 0), (after, 1)):
        log_loss = -np.log(np.where(won, claims, 1 - claims)).mean()
        assert result.stored.change("log_loss")[place] == pytest.approx(log_loss, abs=1e-6)
        brier = ((claims - won) ** 2).mean()
        assert result.stored.change("brier_loss")[place] == pytest.approx(brier, abs=1e-6)


def test_scores_have_a_map_by_move_number_and_a_curve_before(study: hk.Study) -> None:
    result = learned(study, "comments", seed=2)
    assert [each.model.map.name for each in result.tests] == ["platt", "isotonic", "wdl"]
    assert result.model.unit == "centipawns"
    assert result.before.startswith("1 / (1 + exp(-score / ")
    without = learned(study, "comments", draws="drop")
    assert [each.model.map.name for each in without.tests] == ["platt", "isotonic"]
    assert "wdl: no map fits: no game is drawn" in str(without)


def test_a_model_has_its_origin_and_a_table(study: hk.Study, tmp_path: Path) -> None:
    result = learned(study, "sharp", map="isotonic")
    result.model.save(tmp_path / "sharp.json")
    file = read_model_file(tmp_path / "sharp.json")
    assert file.kind == "calibration"
    assert file.origin is not None
    assert file.origin.counts == {"games": result.games, "positions": result.positions}
    assert file.origin.choices["evaluator"] == "sharp"
    assert CalibrationModel.from_model_file(file) == result.model
    table = hk.learning.CalibrationTable(result.model)
    rows = table.table().to_pylist()
    assert [row["expected"] for row in rows] == pytest.approx(
        result.model.expected([row["input"] for row in rows]).tolist()
    )
    for name in ("curve.svg", "table.csv", "code.c", "code.py", "constants.json"):
        table.save(tmp_path / name)
    constants = hk.read_model_file(tmp_path / "constants.json", "calibration")
    assert CalibrationModel.from_model_file(constants) == result.model
    assert "expected_score" in (tmp_path / "code.c").read_text("utf-8")
    assert "Generated by Hyoka" in (tmp_path / "curve.svg").read_text("utf-8")


def test_an_evaluation_counts_the_games_that_the_model_learned_from(
    study: hk.Study, tmp_path: Path
) -> None:
    result = learned(study, "sharp", map="platt")
    result.model.save(tmp_path / "sharp.json")
    table = hk.agents.ImportedEvaluations({"game_id": [0], "ply": [4], "value": [0.7]}, title="new")
    [summary] = study.evaluate(table, calibrated_by=tmp_path / "sharp.json")
    assert f"of the 312 games: {result.games} that " in summary.notes[-1]
    assert summary.title == "new, calibrated"


def test_results_without_intervals_or_games_say_so(study: hk.Study) -> None:
    plan = CalibrationPlan(map="platt")
    bare = learn_calibration(study, "sharp", plan, resampling=Resampling(0))
    assert "Without intervals, a gain may be due to chance." in bare.notes()
    nothing = learned(study, "sharp", map="platt", hold_out=0)
    assert nothing.held_out_games == 0
    assert "No game was held out" in nothing.notes()[-1]
    few = learned(study, "sharp", map="platt", where="game_id < 60", min_games=25, hold_out=0.3)
    assert few.lines()[1][2:] == ("–", "–", "–")


def test_bad_requests_are_errors(study: hk.Study) -> None:
    with pytest.raises(hk.errors.StudyError, match="games to fit to, and at least 20 are needed"):
        learned(study, "sharp", where="game_id < 9")
    with pytest.raises(hk.errors.ParameterError, match="`evaluator` is required"):
        learn_calibration(study)
    with pytest.raises(hk.errors.ParameterError, match="wdl is for scores, and sharp has values"):
        learned(study, "sharp", map="wdl")


def test_every_map_has_a_fit() -> None:
    points, results, moves = scores(3000)
    values = logistic(points / 100)
    for name, kind in MAPS.items():
        unit = "value" if kind.applies_to("value") else "points"
        inputs = values if unit == "value" else points
        fitted = fit_map(name, inputs, results=results, games=range(3000), unit=unit, moves=moves)
        assert isinstance(fitted, kind)
