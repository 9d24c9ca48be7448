# SPDX-License-Identifier: Apache-2.0
"""The model of wins, draws and losses: against SciPy, a planted truth, and its own code."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

import hyoka as hk
import simulations
from hyoka.analysis import NO_INTERVALS, Resampling, Sample, Stages, WdlModels, fit_wdl_model
from hyoka.analysis.wdl import NO_MODEL
from hyoka.analysis.wdl_likelihood import (
    Outcomes,
    greatest_likelihood,
    log_likelihoods,
    slopes,
)
from hyoka.records.samples import sample_path
from hyoka.study.evaluating import evaluate

A = simulations.WDL_A
B = simulations.WDL_SPREAD * A
ALONG = simulations.WDL_STAGES
REFERENCE = ALONG.reference
N = simulations.POSITIONS


def planted(seed: int, games: int) -> tuple[Sample, NDArray[Any]]:
    return simulations.outcomes_by_stage(np.random.default_rng(seed), games)


@pytest.fixture(scope="module")
def model() -> hk.analysis.WdlModel:
    sample, stages = planted(1, 3000)
    return fit_wdl_model(sample, stages, ALONG, most=400, resampling=Resampling(200))


def minus_log_likelihood(
    theta: NDArray[Any], scores: NDArray[Any], x: NDArray[Any], results: NDArray[Any]
) -> float:
    """As the model is published, position by position."""
    a, b = polyval(x, theta[:4]), np.maximum(polyval(x, theta[4:]), 1e-8)
    win, loss = expit((scores - a) / b), expit((-scores - a) / b)
    chance = np.where(results == 1, win, np.where(results == 0, loss, 1 - win - loss))
    return -float(np.log(np.maximum(chance, 1e-14)).mean())


def test_it_is_the_maximum_that_scipy_finds() -> None:
    sample, stages = planted(2, 400)
    fit = fit_wdl_model(sample, stages, ALONG, most=300, resampling=NO_INTERVALS)
    used = np.abs(sample.values) <= 300
    data = (
        sample.values[used].astype(float),
        stages[used] / REFERENCE,
        sample.results[used],
    )
    start = np.concatenate([A, B])
    found = minimize(
        minus_log_likelihood, start, args=data, method="BFGS", jac="3-point", options={"gtol": 1e-9}
    )
    ours = np.array([each.value for each in (*fit.a, *fit.b)])
    assert fit.loss == pytest.approx(minus_log_likelihood(ours, *data), abs=1e-12)
    assert fit.loss <= found.fun + 1e-10
    at = np.linspace(5, 80, 16)
    for mine, theirs in zip(fit.polynomials(at), (found.x[:4], found.x[4:]), strict=True):
        np.testing.assert_allclose(mine, polyval(at / REFERENCE, theirs), rtol=1e-3)


def test_derivatives_are_those_of_small_steps() -> None:
    rng = np.random.default_rng(3)
    n = 60
    counts = rng.integers(0, 4, (3, n)).astype(float)
    rows = Outcomes(np.zeros(n), np.arange(n), rng.normal(0, 150, n).round(), *counts)
    a, b, step = rng.uniform(20, 200, n), rng.uniform(15, 90, n), 1e-3
    slope = slopes(a, b, rows)

    def ups(da: float, db: float) -> NDArray[np.float64]:
        return log_likelihoods(a + da, b + db, rows)

    np.testing.assert_allclose(slope.a, (ups(step, 0) - ups(-step, 0)) / 2 / step, atol=1e-7)
    np.testing.assert_allclose(slope.b, (ups(0, step) - ups(0, -step)) / 2 / step, atol=1e-7)
    for second, da, db in ((slope.aa, 1, 0), (slope.bb, 0, 1)):
        ahead, behind = (slopes(a + s * da * step, b + s * db * step, rows) for s in (1, -1))
        first = [(x - y) / 2 / step for x, y in zip(ahead[:2], behind[:2], strict=True)]
        np.testing.assert_allclose(second, first[db], atol=1e-7)
        np.testing.assert_allclose(slope.ab, first[1 - db], atol=1e-7)


def test_a_planted_model_is_recovered(model: hk.analysis.WdlModel) -> None:
    assert model.converged, model.missing_reason
    assert model.half.low < 100 < model.half.high
    assert model.spread.low < 45 < model.spread.high
    assert model.draws.low < np.tanh(0.5 / 0.45) < model.draws.high
    assert 0 < model.half.high - model.half.low < 25
    at = np.linspace(10, 75, 14)
    a, b = model.polynomials(at)
    np.testing.assert_allclose(a, polyval(at / REFERENCE, A), rtol=0.12)
    np.testing.assert_allclose(b, polyval(at / REFERENCE, B), rtol=0.12)


def test_intervals_are_as_wide_as_those_of_refitted_resamples() -> None:
    sample, stages = planted(4, 300)
    fit = fit_wdl_model(sample, stages, ALONG, most=400, degree=1, resampling=Resampling(400))
    rng = np.random.default_rng(5)
    halves = []
    for _ in range(60):
        rows = (rng.integers(0, 300, 300)[:, None] * N + np.arange(N)).ravel()
        drawn = replace(
            sample,
            values=sample.values[rows],
            results=sample.results[rows],
            games=np.repeat(np.arange(300, dtype=np.uint32), N),
        )
        again = fit_wdl_model(
            drawn, stages[rows], ALONG, most=400, degree=1, resampling=NO_INTERVALS
        )
        halves.append(again.half.value)
    ours = fit.drawn[:, :2].sum(axis=1)  # at the reference x is 1
    assert np.std(halves) == pytest.approx(np.std(ours), rel=0.3)
    assert np.mean(halves) == pytest.approx(np.mean(ours), abs=0.4 * np.std(ours))


def test_probabilities_sum_to_one_and_contours_lie_on_them(model: hk.analysis.WdlModel) -> None:
    scores, stages = np.meshgrid(np.linspace(-900, 900, 41), np.linspace(0, 100, 21))
    win, draw, loss = model.probabilities(scores, stages)
    assert (np.stack([win, draw, loss]) > 0).all()
    np.testing.assert_allclose(win + draw + loss, 1)
    np.testing.assert_allclose(loss, model.probabilities(-scores, stages)[0])
    at = [10.0, 40.0, 70.0]
    for outcome, number in (("win", 0), ("draw", 1)):
        on = model.contour(outcome, 0.25, at)
        np.testing.assert_allclose(model.probabilities(on, np.array(at))[number], 0.25)
    assert np.isnan(model.contour("draw", 0.97, at)).all()
    assert float(model.normalized(model.half.value)) == pytest.approx(100)
    assert float(model.probabilities(model.half.value, REFERENCE)[0]) == pytest.approx(0.5)


@pytest.mark.parametrize("scale", [1e-3, 1, 1e6])
def test_the_unit_of_scores_changes_nothing_but_the_unit(scale: float) -> None:
    sample, stages = planted(6, 200)
    plain, scaled = (
        fit_wdl_model(
            replace(sample, values=sample.values * np.float32(s)),
            stages * t,
            Stages(name="m", reference=REFERENCE * t, low=5 * t, high=80 * t),
            resampling=NO_INTERVALS,
        )
        for s, t in ((1, 1), (scale, 1e4))
    )
    assert scaled.half.value == pytest.approx(scale * plain.half.value, rel=1e-4)
    assert scaled.loss == pytest.approx(plain.loss, rel=1e-4)


def test_a_few_wild_scores_have_no_say() -> None:
    sample, stages = planted(7, 300)
    values = sample.values.copy()
    values[::97] = np.where(sample.results[::97] == 1, -9000, 9000)
    wild = replace(sample, values=values)
    calm, astray = (
        fit_wdl_model(each, stages, ALONG, resampling=NO_INTERVALS) for each in (sample, wild)
    )
    assert astray.half.value == pytest.approx(calm.half.value, rel=0.05)
    assert astray.most < 1000


def test_a_limit_beyond_all_scores_is_no_limit() -> None:
    sample, stages = planted(4, 200)
    fits = [
        fit_wdl_model(sample, stages, ALONG, most=most, resampling=NO_INTERVALS)
        for most in (1e6, 1e308)
    ]
    assert [each.value for each in fits[0].a] == [each.value for each in fits[1].a]


@pytest.mark.parametrize(
    ("verdict", "changed"),
    [
        ("no draws", {"results": lambda v, r: (v > r).astype(np.float32)}),
        ("all drawn", {"results": lambda v, _: np.full_like(v, 0.5)}),
        ("backwards", {"results": lambda _, r: 1 - r}),
        ("parted", {"results": lambda v, _: ((np.sign(v) * (np.abs(v) > 90)) + 1) / 2}),
        ("few stages", {}),
        ("few games", {"games": lambda v, _: (np.arange(len(v)) % 8).astype(np.uint32)}),
    ],
)
def test_where_no_model_fits_it_says_why(verdict: str, changed: dict[str, Any]) -> None:
    sample, stages = planted(8, 60)
    changes = {name: make(sample.values, sample.results) for name, make in changed.items()}
    if verdict == "few stages":
        stages = np.where(stages > 40, 20.0, 60.0)
    fit = fit_wdl_model(replace(sample, **changes), stages, ALONG, degree=3)
    assert fit.verdict == verdict
    assert np.isnan(fit.half.value)
    words = str(WdlModels((fit,), min_games=1))
    assert "no model fits" in words
    assert NO_MODEL[verdict] in words
    with pytest.raises(hk.errors.StudyError, match="no model fits"):
        fit.code("python")
    WdlModels((fit,)).chart()


def test_the_code_says_what_the_model_says(model: hk.analysis.WdlModel, tmp_path: Path) -> None:
    cases = [(0.0, 1.0), (120.0, 30.0), (-300.0, 66.0), (5000.0, 300.0), (-1e6, 40.0)]
    expected = [[float(p) for p in model.probabilities(*case)] for case in cases]
    scope: dict[str, Any] = {}
    exec(model.code("python"), scope)
    for case, chances in zip(cases, expected, strict=True):
        assert scope["probabilities"](*case) == pytest.approx(chances, abs=1e-12)
    assert scope["normalized"](model.half.value) == pytest.approx(100)
    content = json.loads(model.code("json"))
    assert polyval(1.0, content["as"][::-1]) == pytest.approx(content["half"])
    WdlModels((model,)).save(tmp_path / "wdl.h")
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler is here")
    calls = "".join(f"show({score!r}, {stage!r});" for score, stage in cases)
    (tmp_path / "main.cpp").write_text(
        '#include "wdl.h"\n#include <cstdio>\nvoid show(double v, double m) { auto p = '
        'wdl::probabilities(v, m); std::printf("%.15g %.15g %.15g\\n", p.win, p.draw, p.loss); }\n'
        f"int main() {{ {calls} }}\n"
    )
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", "main", "main.cpp"]
    subprocess.run([compiler, *flags], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    for line, chances in zip(said.splitlines(), expected, strict=True):
        assert [float(word) for word in line.split()] == pytest.approx(chances, abs=1e-12)


def test_a_study_has_models_by_parts(tmp_path: Path) -> None:
    study = hk.Study.create(tmp_path / "study", records=sample_path("chess"))
    evaluate(study, ["comments"])
    models = study.wdl("comments", by="phase < 40", degree=1, resampling=Resampling(50))
    assert len(models.parts) == 3
    whole = models.parts[0]
    assert whole.stages.name == "move"
    assert whole.positions == sum(part.positions for part in models.parts[1:])
    for ending in ("csv", "json", "html", "svg"):
        models.save(tmp_path / f"wdl.{ending}")
    with pytest.raises(hk.errors.StudyError, match="holds one model"):
        models.save(tmp_path / "wdl.h")
    with pytest.raises(hk.errors.StudyError, match="must end in one of"):
        models.save(tmp_path / "wdl.txt")
    with pytest.raises(hk.errors.ParameterError, match="is a numeric column"):
        study.wdl("comments", along="'late'")
    with pytest.raises(hk.errors.StudyError, match="defines no stages"):
        study.wdl("comments", along="1")


def test_a_model_of_few_games_shows_no_figure() -> None:
    sample, stages = planted(9, 19)
    fit = fit_wdl_model(sample, stages, ALONG, degree=1, resampling=NO_INTERVALS)
    models = WdlModels((fit,))
    assert fit.converged
    assert models.lines()[1][2:6] == ("–",) * 4
    assert models.rows()[0]["half"] is None
    assert models.notes() == (
        "–: 1 row of fewer than 20 games: too few for any figure; `min_games=1` shows them all "
        "the same.",
    )
    shown = WdlModels((fit,), min_games=19)
    assert shown.rows()[0]["half"] == pytest.approx(fit.half.value)


def test_without_a_degree_it_takes_the_highest_that_holds() -> None:
    sample, stages = planted(9, 60)
    two = np.where(stages > 40, 20.0, 60.0)
    model = fit_wdl_model(sample, two, ALONG, resampling=NO_INTERVALS)
    assert model.converged
    assert len(model.a) == 2
    assert "polynomials of degree 1" in str(WdlModels((model,)))


def test_one_stage_has_constants() -> None:
    sample, stages = planted(11, 100)
    now = stages == stages[0]
    model = fit_wdl_model(sample.where(now), stages[now], ALONG, resampling=NO_INTERVALS)
    assert model.converged
    assert len(model.a) == 1


def test_the_end_of_a_slice_before_the_reference_is_stated() -> None:
    sample, stages = planted(10, 400)
    early = stages <= 20
    model = fit_wdl_model(sample.where(early), stages[early], ALONG, resampling=NO_INTERVALS)
    assert model.stages.high <= 20
    a, b = model.polynomials(REFERENCE)
    assert model.half.value == pytest.approx(float(a))
    assert model.spread.value == pytest.approx(float(b))
    assert float(a) == pytest.approx(float(polyval(20 / REFERENCE, A)), rel=0.2)


def test_values_are_no_scores() -> None:
    sample = Sample.of("v", [0.2, 0.8], results=[0, 1], games=[0, 1])
    with pytest.raises(hk.errors.StudyError, match="has values and no scores"):
        fit_wdl_model(sample, np.arange(2), ALONG)


def long_games(seed: int, games: int) -> tuple[Sample, NDArray[Any]]:
    """Games of which few are long, so that the last stages tell little."""
    rng = np.random.default_rng(seed)
    lengths = np.minimum(20 + rng.geometric(1 / 30, games), 190)
    numbers = np.repeat(np.arange(games, dtype=np.uint32), 20)
    stages = np.ceil(rng.random(len(numbers)) * lengths[numbers])
    strength = rng.normal(0, 1, games)
    drawn = np.abs(strength) < 0.8
    results = np.where(drawn, 0.5, (strength > 0).astype(float))
    noise = rng.normal(0, 60, len(numbers))
    scores = (strength[numbers] * (40 + stages) + noise).round().astype(np.float32)
    sample = Sample("s", "centipawns", scores, results[numbers].astype(np.float32), numbers, games)
    return sample, stages


def test_intervals_are_those_of_fits_to_games_drawn_again() -> None:
    sample, stages = long_games(4, 300)
    along = Stages(name="move", reference=30, low=1, high=150)
    model = fit_wdl_model(sample, stages, along, most=400, resampling=Resampling(400))
    rng = np.random.default_rng(5)
    rows_of = [np.flatnonzero(sample.games == game) for game in range(300)]
    halves, spreads = [], []
    for _ in range(60):
        chosen = rng.integers(0, 300, 300)
        rows = np.concatenate([rows_of[game] for game in chosen])
        numbers = np.repeat(
            np.arange(300, dtype=np.uint32), [len(rows_of[game]) for game in chosen]
        )
        again = replace(
            sample, values=sample.values[rows], results=sample.results[rows], games=numbers
        )
        fit = fit_wdl_model(again, stages[rows], along, most=400, resampling=NO_INTERVALS)
        halves.append(fit.half.value)
        spreads.append(fit.spread.value)
    for ours, fitted in ((model.half, halves), (model.spread, spreads)):
        assert ours.high - ours.low == pytest.approx(4 * np.std(fitted), rel=0.35)


# From the constants at once, each of these ends where b is nearly 0.
@pytest.mark.parametrize(
    ("seed", "mean", "drawn", "noise", "slope"),
    [(1, 25, 0.8, 60, 0.3), (4, 25, 0.8, 60, 0.3), (7, 25, 1.2, 60, 1.0), (4, 40, 1.2, 30, 0.3)],
)
def test_cubics_are_found_from_the_degrees_below(
    seed: int, mean: int, drawn: float, noise: float, slope: float
) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.minimum(20 + rng.geometric(1 / mean, 600), 190)
    games = np.repeat(np.arange(600), 20)
    stages = np.ceil(rng.random(len(games)) * lengths[games])
    strength = rng.normal(0, 1, 600)
    results = np.where(np.abs(strength) < drawn, 0.5, strength > 0)[games]
    ahead = strength[games] * (60 + slope * stages) * np.exp(-stages / 400)
    scores = (ahead + rng.normal(0, noise, len(games))).round()
    used = np.abs(scores) <= 400
    outcomes = Outcomes.counted(scores[used], stages[used], results[used], np.ones(used.sum()))
    below, cubic = (greatest_likelihood(outcomes, REFERENCE, degree) for degree in (2, 3))
    assert below.converged
    assert cubic.converged
    data = (scores[used], stages[used] / REFERENCE, results[used])
    start = np.concatenate([np.append(below.a, 0), np.append(below.b, 0)])
    found = minimize(minus_log_likelihood, start, args=data, method="BFGS", jac="3-point")
    assert cubic.loss <= min(below.loss, found.fun) + 1e-7
