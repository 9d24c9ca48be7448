# SPDX-License-Identifier: Apache-2.0
"""Calibration models: laws of the maps, files, evaluations, and code in C and Python."""

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyoka as hk
from hyoka.models import CalibrationModel
from hyoka.models.calibration_model import (
    BetaMap,
    CalibrationMap,
    IsotonicMap,
    PlattMap,
    WdlMap,
)
from hyoka.storage.model_file import ModelFile

MODELS = {
    "platt of values": CalibrationModel("chess", "value", PlattMap(0.1, 0.8)),
    "platt": CalibrationModel("chess", "centipawns", PlattMap(-0.05, 0.004)),
    "platt with a link": CalibrationModel(
        "chess", "centipawns", PlattMap(0.02, 0.006, bend=200, limit=1500)
    ),
    "beta": CalibrationModel("chess", "value", BetaMap(0.7, 1.3, -0.2)),
    "isotonic": CalibrationModel(
        "chess", "points", IsotonicMap((-7.5, -1.0, 0.0, 0.25, 9.0), (0.01, 0.3, 0.3, 0.6, 0.99))
    ),
    "wdl": CalibrationModel(
        "chess", "centipawns", WdlMap((90.0, -20.0, 12.5), (60.0, 4.0), 2, 70, 32)
    ),
}
for_every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)

coefficients = st.floats(0.001, 5)
maps = st.one_of(
    st.builds(PlattMap, st.floats(-3, 3), coefficients),
    st.builds(PlattMap, st.floats(-3, 3), coefficients, st.floats(1, 500), st.floats(1, 500)),
    st.builds(
        WdlMap,
        st.tuples(coefficients, coefficients),
        st.tuples(coefficients, coefficients),
        st.just(1.0),
        st.floats(1, 99),
        st.just(30.0),
    ),
)
shares = st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted)
value_maps = st.one_of(
    st.builds(PlattMap, st.floats(-3, 3), coefficients),
    st.builds(BetaMap, coefficients, st.floats(0, 5), st.floats(-3, 3)),
    shares.map(lambda each: IsotonicMap.of(np.arange(len(each)) / 10, np.array(each))),
)


@given(maps, st.lists(st.floats(-2000, 2000), min_size=2), st.floats(1, 200))
def test_scores_map_to_rising_shares(
    each: CalibrationMap, scores: list[float], move: float
) -> None:
    assert not each.problem()
    expected = CalibrationModel("chess", "points", each).expected(sorted(scores), move)
    assert ((expected >= 0) & (expected <= 1)).all()
    assert (np.diff(expected) >= -1e-15).all()


@given(value_maps, st.lists(st.floats(0, 1), min_size=2))
def test_values_map_to_rising_shares(each: CalibrationMap, values: list[float]) -> None:
    assert not each.problem()
    model = CalibrationModel("chess", "value", each)
    expected = model.expected(sorted(values))
    assert ((expected >= 0) & (expected <= 1)).all()
    assert (np.diff(expected) >= -1e-15).all()
    assert CalibrationModel.from_model_file(model.model_file()) == model


def test_equal_coefficients_of_beta_maps_are_platt_scaling() -> None:
    values = np.linspace(0, 1, 101)
    beta = CalibrationModel("chess", "value", BetaMap(0.8, 0.8, 0.1))
    assert beta.expected(values) == pytest.approx(
        MODELS["platt of values"].expected(values), abs=1e-15
    )


def test_the_identity_is_a_map_of_values() -> None:
    values = np.linspace(0.001, 0.999, 99)
    same = CalibrationModel("chess", "value", PlattMap(0.0, 1.0))
    assert same.expected(values) == pytest.approx(values, abs=1e-14)


def test_wins_draws_and_losses_sum_to_one() -> None:
    model = MODELS["wdl"]
    scores = np.array([-300.0, 0.0, 25.0, 40_000, -math.inf])
    win, draw, loss = model.chances(scores, 20.0)
    assert win + draw + loss == pytest.approx(np.ones(5))
    assert win + draw / 2 == pytest.approx(model.expected(scores, 20.0))
    assert (win[3], loss[4]) == (1, 1)
    assert model.expected([10.0], 1)[0] == model.expected([10.0], 2)[0]
    assert model.expected([10.0], 2)[0] != model.expected([10.0], 40)[0]


@for_every_model
def test_a_file_reads_back_the_same(model: CalibrationModel, tmp_path: Path) -> None:
    model.save(tmp_path / "calibration.json")
    assert CalibrationModel.load(tmp_path / "calibration.json", "chess") == model
    with pytest.raises(hk.errors.SourceError, match="for chess, not for othello"):
        CalibrationModel.load(tmp_path / "calibration.json", "othello")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"calibration": "spline"}, "no map spline; known: platt, beta, isotonic, wdl"),
        ({"unit": "*/ exit(0) /*"}, "a unit is some words, such as centipawns, not"),
        ({"unit": "centipawns"}, "beta maps no inputs in centipawns"),
        ({"clip": 0.01}, "'clip' is 0.0001"),
        ({"game": 3}, "'game' is a name"),
        ({"more": 3}, "it has calibration, clip, game, map, unit"),
        ({"map": {"a": 1, "b": 1}}, "the map has a, b, c"),
        ({"map": {"a": -1, "b": 1, "c": 0}}, "a and b are positive"),
        ({"map": {"a": "1", "b": 1, "c": 0}}, "'a' can't be 1"),
        ({"map": {"a": [1], "b": 1, "c": 0}}, "'a' can't be"),
        ({"map": {"a": None, "b": 1, "c": 0}}, "'a' can't be null"),
    ],
)
def test_a_bad_file_is_an_error(changes: dict[str, Any], message: str) -> None:
    content = MODELS["beta"].model_file().json_object() | changes
    with pytest.raises(hk.errors.SourceError, match=message):
        CalibrationModel.from_model_file(ModelFile.of("calibration", content))


@pytest.mark.parametrize(
    "bad",
    [
        PlattMap(0, -1),
        PlattMap(math.nan, 1),
        IsotonicMap((), ()),
        IsotonicMap((0.0, 0.0), (0.1, 0.2)),
        IsotonicMap((0.0, 1.0), (0.3, 0.2)),
        IsotonicMap((0.0, 1.0), (0.3, 1.2)),
        WdlMap((1.0,), (2.0, -5.0), 1, 60, 30),
        WdlMap((-1.0,), (2.0,), 1, 60, 30),
        WdlMap((1.0,), (2.0,), 60, 1, 30),
        WdlMap((), (2.0,), 1, 60, 30),
        WdlMap((1.0,), (2.0,), -math.inf, 60, 30),
        WdlMap((math.inf,), (2.0,), 1, 60, 30),
    ],
)
def test_falling_maps_have_a_problem(bad: CalibrationMap) -> None:
    assert bad.problem()


def test_an_evaluation_keeps_all_but_its_value() -> None:
    model = MODELS["platt"]
    before = hk.Evaluation(
        value=0.9, score=100.0, unit="centipawns", win=0.8, draw=0.2, loss=0.0, best="e4", nodes=7
    )
    after = model.calibrated(before, 10)
    assert after.value == pytest.approx(1 / (1 + math.exp(0.05 - 0.4)))
    assert (after.score, after.unit, after.best, after.nodes) == (100.0, "centipawns", "e4", 7)
    assert (after.win, after.draw, after.loss) == (None, None, None)
    by_move = MODELS["wdl"].calibrated(before, 39)
    assert by_move.value == MODELS["wdl"].expected([100.0], 20)[0]
    assert by_move.win is not None
    assert by_move.draw is not None
    assert by_move.win + by_move.draw / 2 == pytest.approx(by_move.value)


@pytest.mark.parametrize(
    ("evaluation", "value"),
    [
        (hk.Evaluation(mate=3), 1.0),
        (hk.Evaluation(mate=-1, value=0.0), 0.0),
        (hk.Evaluation(score=25_000.0, unit="centipawns"), 1.0),
        (hk.Evaluation(value=0.5), 0.5),
        (hk.Evaluation(value=1.0), 1.0),
        (hk.Evaluation(best="e4"), None),
    ],
)
def test_certain_evaluations_stay_certain(evaluation: hk.Evaluation, value: float | None) -> None:
    assert MODELS["platt"].calibrated(evaluation, 3).value == value


@pytest.mark.parametrize(
    ("name", "evaluation", "message"),
    [
        ("platt", hk.Evaluation(value=0.7), "score in centipawns is needed, but there is none"),
        ("platt", hk.Evaluation(score=3.0, unit="points"), "needed, not in points"),
        ("beta", hk.Evaluation(score=3.0, unit="points"), "a value is needed"),
    ],
)
def test_an_evaluation_without_the_input_is_an_error(
    name: str, evaluation: hk.Evaluation, message: str
) -> None:
    with pytest.raises(hk.errors.NotationError, match=message):
        MODELS[name].calibrated(evaluation, 3)


def inputs_of(model: CalibrationModel) -> list[float]:
    """Inputs with those at which the formulas change."""
    random = np.random.default_rng(3)
    special = [0.0, -0.0, 1.0, 1e-4, 1 - 1e-4, 0.5, math.inf, -math.inf, math.nan]
    if model.unit == "value":
        return [*special, *random.uniform(0, 1, 200).tolist()]
    ends = [-7.5, -1.0, 0.25, 9.0, 1500.0, -1500.0, 19_999.0, 20_000.0, -20_001.0]
    return [*special, *ends, *random.normal(0, 400, 200).tolist(), *random.normal(0, 5, 99)]


@for_every_model
def test_python_code_computes_the_same(model: CalibrationModel) -> None:
    names: dict[str, Any] = {}
    exec(model.code("python"), names)
    for number in inputs_of(model):
        for move in (1.0, 33.0, 500.0) if model.needs_move else (1.0,):
            more = (move,) if model.needs_move else ()
            ours = model.expected([number], move)[0]
            assert names["expected_score"](number, *more) == pytest.approx(
                ours, abs=1e-14, nan_ok=True
            )


def test_c_code_computes_the_same(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")
    # One library of all models, with a name for the function of each.
    parts = []
    for i, model in enumerate(MODELS.values()):
        code = model.code("c").replace("expected_score", f"expected_score_{i}")
        (tmp_path / f"model{i}.c").write_text(code, encoding="utf-8")
        parts.append(f"model{i}.c")
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, *parts, "-o", "all.so", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    for i, model in enumerate(MODELS.values()):
        function = library[f"expected_score_{i}"]
        function.restype = ctypes.c_double
        moves = (1.0, 33.0, 500.0) if model.needs_move else (1.0,)
        inputs = inputs_of(model)
        for move in moves:
            more = (ctypes.c_double(move),) if model.needs_move else ()
            theirs = [function(ctypes.c_double(number), *more) for number in inputs]
            ours = model.expected(inputs, move)
            assert theirs == pytest.approx(ours.tolist(), abs=1e-12, nan_ok=True)


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(hk.errors.ParameterError, match="is c or python, not 'rust'"):
        MODELS["beta"].code("rust")
