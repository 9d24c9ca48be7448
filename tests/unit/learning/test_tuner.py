# SPDX-License-Identifier: Apache-2.0
"""The tuner, against scikit-learn, SciPy, the dense fit and planted truths."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression

import hyoka as hk
from hyoka import _core
from hyoka.learning import (
    FeatureTable,
    TableColumns,
    TuningPlan,
    feature_table,
    fit_sigmoid,
    read_weights,
    tune_weights,
)
from hyoka.records.samples import sample_path
from hyoka.search import linear_evaluation
from hyoka.study.evaluating import evaluate

Floats = NDArray[np.float64]
ALL = TuningPlan(scale=1.0, hold_out=0.0, threads=2)


def plan(**asked: Any) -> TuningPlan:
    return TuningPlan(**{"scale": 1.0, "hold_out": 0.0, "threads": 2, **asked})


def planted(
    seed: int = 1, games: int = 400, width: int = 8, weights: Floats | None = None, **more: Any
) -> tuple[FeatureTable, Floats, Floats]:
    """Ten positions a game that share its result, sparse features, and the weights behind them."""
    rng = np.random.default_rng(seed)
    rows = games * 10
    matrix = rng.integers(-3, 4, (rows, width)) * (rng.random((rows, width)) < 0.4)
    truth = rng.normal(0, 0.4, width) if weights is None else weights
    chances = 1 / (1 + np.exp(-(matrix @ truth)))
    results = (rng.random(rows) < chances).astype(float)
    table = FeatureTable.of(matrix, results, np.repeat(np.arange(games), 10), **more)
    return table, matrix.astype(float), truth


def found(table: FeatureTable, **asked: Any) -> Floats:
    return np.array([each.weight for each in tune_weights(table, plan(**asked)).weights()])


def scikit(matrix: Floats, results: Any, **how: Any) -> Floats:
    """Of results that are shares, both outcomes count by their share."""
    both = np.concatenate([matrix, matrix])
    outcomes = np.repeat([1, 0], len(matrix))
    counts = np.concatenate([results, 1 - results])
    model = LogisticRegression(fit_intercept=False, tol=1e-12, max_iter=100_000, **how)
    return np.asarray(model.fit(both, outcomes, sample_weight=counts).coef_[0])


@pytest.mark.parametrize("l2", [0.0, 0.3, 50.0])
def test_least_loss_is_that_of_scikit_learn(l2: float) -> None:
    table, matrix, _ = planted()
    theirs = scikit(matrix, table.results, C=1 / l2 if l2 else np.inf, solver="newton-cholesky")
    np.testing.assert_allclose(found(table, l2=l2), theirs, atol=1e-6)


@pytest.mark.parametrize("l1", [3.0, 60.0])
def test_l1_is_that_of_scikit_learn(l1: float) -> None:
    table, matrix, _ = planted(2)
    theirs = scikit(matrix, table.results, C=1 / l1, l1_ratio=1, solver="saga", random_state=0)
    ours = found(table, l1=l1)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert ((ours == 0) == (np.abs(theirs) < 1e-9)).all()


@pytest.mark.parametrize("l1", [0.0, 20.0])
def test_bounds_are_those_of_scipy(l1: float) -> None:
    table, matrix, _ = planted(3)
    low, high = -0.15, 0.25
    ours = found(table, l1=l1, bounds={"f*": (low, high)})

    def loss(beta: Floats) -> tuple[float, Floats]:
        scores = matrix @ beta
        pull = 1 / (1 + np.exp(-scores)) - table.results
        value = (np.logaddexp(0, scores) - table.results * scores).sum()
        return value + l1 * np.abs(beta).sum(), matrix.T @ pull + l1 * np.sign(beta)

    if l1 == 0:
        ends = [(low, high)] * 8
        theirs = optimize.minimize(
            loss, np.zeros(8), jac=True, method="L-BFGS-B", bounds=ends,
            options={"ftol": 1e-15, "gtol": 1e-10},
        ).x  # fmt: skip
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    # No small change is better, whatever L1 does at 0.
    rng = np.random.default_rng(0)
    for _ in range(200):
        near = np.clip(ours + rng.normal(0, 0.02, 8), low, high)
        assert loss(near)[0] >= loss(ours)[0] - 1e-9


def test_least_squares_are_those_of_scipy() -> None:
    table, matrix, _ = planted(4)
    theirs = optimize.least_squares(
        lambda beta: table.results - 1 / (1 + np.exp(-(matrix @ beta))), np.zeros(8), xtol=1e-14
    ).x
    np.testing.assert_allclose(found(table, method="ls"), theirs, atol=1e-5)


def test_weights_scale_and_errors_are_those_of_the_dense_fit() -> None:
    """A frozen feature has its weight: the scale is found by it, as in `fit_weights`."""
    table, matrix, _ = planted(5)
    tuned = tune_weights(table, TuningPlan(start={"f0": 80.0}, frozen=["f0"], hold_out=0.0))
    design = np.column_stack([80 * matrix[:, 0], matrix[:, 1:]])
    dense = fit_sigmoid(
        design, table.results.astype(float), table.games.astype(np.int64), names=list("abcdefgh")
    )
    scale = 1 / dense.coefficients[0]
    assert tuned.scale == pytest.approx(scale, rel=1e-6)
    assert tuned.scale_error == pytest.approx(np.sqrt(dense.covariance[0, 0]) * scale**2, rel=1e-6)
    for index, weight in enumerate(tuned.weights(), start=1):
        amount = dense.coefficients[index] * scale
        assert weight.weight == pytest.approx(amount, rel=1e-5)
        slopes = np.zeros(8)
        slopes[0], slopes[index] = -amount * scale, scale
        error = np.sqrt(slopes @ dense.covariance @ slopes)
        assert weight.error == pytest.approx(error, rel=1e-5)
    assert tuned["f0"].frozen
    assert tuned["f0"].pair == (80, 80)


def test_many_positions_are_fitted_as_well_by_samples_of_the_curvature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, matrix, _ = planted(6, games=2000)
    monkeypatch.setattr("hyoka.learning.sparse_fit._SAMPLED_ROWS", 3000)
    theirs = scikit(matrix, table.results, C=np.inf, solver="newton-cholesky")
    np.testing.assert_allclose(found(table), theirs, atol=1e-6)


def test_phases_are_pairs_of_columns() -> None:
    rng = np.random.default_rng(7)
    late = np.round(rng.random(4000), 2)
    table, matrix, _ = planted(7, ending=late.astype(np.float32))
    pairs = np.empty((4000, 16))
    pairs[:, ::2], pairs[:, 1::2] = matrix * (1 - late)[:, None], matrix * late[:, None]
    theirs = scikit(pairs, table.results, C=1.0, solver="newton-cholesky")
    np.testing.assert_allclose(found(table, l2=1.0), theirs, atol=1e-6)
    alike = tune_weights(table, plan(untapered=["f0", "f1"], l2=1.0))
    assert [each.name for each in alike.weights()][:4] == [
        "f0", "f1", "f2 (opening)", "f2 (ending)",
    ]  # fmt: skip
    assert alike["f0"].pair[0] == alike["f0"].pair[1]


def test_a_planted_model_is_recovered_within_its_intervals() -> None:
    held = []
    for seed in range(12):
        table, _, truth = planted(100 + seed, games=300)
        weights = tune_weights(table, ALL).weights()
        held += [each.low <= real <= each.high for each, real in zip(weights, truth, strict=True)]
    assert 0.87 < np.mean(held) <= 1


def test_errors_count_games_not_positions() -> None:
    """Every position nine times more says nothing more."""
    table, _, _ = planted(8)
    rows = np.repeat(np.arange(len(table)), 9)
    often = table.take(rows)
    once, again = (list(tune_weights(each, ALL).weights()) for each in (table, often))
    for one, other in zip(once, again, strict=True):
        assert other.weight == pytest.approx(one.weight, rel=1e-6)
        assert other.error == pytest.approx(one.error, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-4, 1e6])
def test_huge_and_tiny_amounts_are_no_trouble(factor: float) -> None:
    table, matrix, _ = planted(9)
    scaled = matrix * np.where(np.arange(8) % 2, factor, 1.0)
    other = FeatureTable.of(scaled, table.results, table.games)
    ours = found(other) * np.where(np.arange(8) % 2, factor, 1.0)
    np.testing.assert_allclose(ours, found(table), rtol=1e-4, atol=1e-6)


def test_collinear_features_are_refused_by_name_unless_something_holds_them() -> None:
    table, matrix, _ = planted(10)
    doubled = np.column_stack([matrix, matrix[:, 2] + matrix[:, 5]])
    other = FeatureTable.of(doubled, table.results, table.games)
    with pytest.raises(hk.errors.StudyError, match="features are collinear or constant") as refused:
        tune_weights(other, ALL)
    assert {"f2", "f5", "f8"} <= set(str(refused.value).split(":")[0].split(", "))
    theirs = scikit(doubled, table.results, C=1.0, solver="newton-cholesky")
    np.testing.assert_allclose(found(other, l2=1.0), theirs, atol=1e-6)
    assert len(found(other, start={"f8": 0.0}, frozen=["f8"])) == 8
    with pytest.raises(hk.errors.ParameterError, match="keeps f8 at its weight"):
        found(other, frozen=["f8"])
    with pytest.raises(hk.errors.StudyError, match="features are collinear or constant"):
        tune_weights(FeatureTable.of(np.column_stack([matrix, matrix[:, 2]]), table.results,
                                     table.games), replace(ALL, l1=0.5))  # fmt: skip


def test_what_is_no_result_is_refused_and_all_spellings_are_read(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    rows = ["1-0,0,1", "½-½,1,0", "1/2,2,0", "0-1,3,-1", "*,4,0", "0.5,5,1"]
    file.write_text("result,game_id,a\n" + "\n".join(rows) + "\n")
    table = feature_table(file)
    assert table.results.tolist() == [1, 0.5, 0.5, 0, 0.5]
    assert (table.left_out, table.mixed_games) == (1, 0)
    file.write_text("result,game_id,a\n1-0,0,1\nwon,1,0\n")
    with pytest.raises(hk.errors.SourceError, match="row 2: a result is"):
        feature_table(file)
    mixed = feature_table({"result": [1, 0, 1], "game_id": [0, 0, 1], "a": [1, 2, 3]})
    assert mixed.mixed_games == 1
    with pytest.raises(hk.errors.SourceError, match="not said of every position"):
        feature_table({"result": [1, 0], "game_id": ["x", None], "a": [1, 2]})


def test_terms_that_were_not_fitted_have_no_weight(tmp_path: Path) -> None:
    study = hk.Study.create(tmp_path / "study", records=sample_path("othello"))
    chosen = study.select("ply between 20 and 40 and result is not null", "game_id, ply, result")
    games, plies = (chosen[name].to_numpy() for name in ("game_id", "ply"))
    terms = study.game_table_of(games, plies).terms()
    names = linear_evaluation("othello").names[:3]
    some = FeatureTable.of(
        terms.matrix()[:, :3], chosen["result"].to_numpy(), games, names, game="othello"
    )
    made = tune_weights(some, ALL).evaluation()
    assert made is not None
    assert {name for name in made.names if any(made[name])} <= set(names)


def test_features_that_tell_results_without_fail_are_refused_unless_something_holds_them() -> None:
    table, matrix, _ = planted(11)
    telling = np.where(table.results == 1, 1.0, -1.0) * (np.arange(4000) % 40 == 0)
    other = FeatureTable.of(np.column_stack([matrix, telling]), table.results, table.games)
    with pytest.raises(hk.errors.StudyError, match="f8: perfect separation"):
        tune_weights(other, ALL)
    theirs = scikit(
        np.column_stack([matrix, telling]), table.results, C=1.0, solver="newton-cholesky"
    )
    np.testing.assert_allclose(found(other, l2=1.0), theirs, atol=1e-6)
    assert found(other, bounds={"f8": (-3, 3)})[-1] == 3


def test_a_feature_that_no_position_has_keeps_its_weight() -> None:
    table, matrix, _ = planted(12)
    other = FeatureTable.of(np.column_stack([matrix, np.zeros(4000)]), table.results, table.games)
    tuned = tune_weights(other, plan(start={"f8": 7.0}))
    assert tuned["f8"].weights[0].weight == 7
    assert np.isnan(tuned["f8"].weights[0].error)


def test_penalties_pull_towards_the_weights_to_begin_with() -> None:
    table, _, truth = planted(13)
    start = {f"f{i}": float(each) for i, each in enumerate(truth)}
    np.testing.assert_allclose(found(table, start=start, l2=1e9), truth, atol=1e-5)
    np.testing.assert_array_equal(found(table, start=start, l1=1e6), truth)


def test_an_anchor_gives_the_scale() -> None:
    table, _, _ = planted(14)
    free = found(table)
    tuned = tune_weights(table, TuningPlan(anchor=("f3", -100.0 if free[3] < 0 else 100.0)))
    assert abs(tuned["f3"].pair[0]) == pytest.approx(100)
    assert np.isnan(tuned["f3"].weights[0].error)
    with pytest.raises(hk.errors.StudyError, match="speaks against"):
        tune_weights(table, TuningPlan(anchor=("f3", 100.0 if free[3] < 0 else -100.0)))


def test_an_anchor_holds_in_both_phases() -> None:
    rng = np.random.default_rng(20)
    rows = 6000
    matrix = rng.integers(-3, 4, (rows, 3))
    ending = rng.random(rows)
    opening_weights, ending_weights = np.array([0.1, 0.9, -0.3]), np.array([0.7, 1.1, 0.4])
    scores = (1 - ending) * (matrix @ opening_weights) + ending * (matrix @ ending_weights)
    results = (rng.random(rows) < 1 / (1 + np.exp(-scores))).astype(float)
    games = np.arange(rows) // 10
    table = FeatureTable.of(matrix, results, games, ["pawn", "queen", "pair"], ending=ending)
    tuned = tune_weights(table, plan(scale=None, anchor=("pawn", 100.0)))
    assert tuned["pawn"].pair == pytest.approx((100, 100))
    # The same model with one pawn column: scikit-learn finds the same ratios.
    columns = np.column_stack(
        [matrix[:, 0], *(side * matrix[:, k] for k in (1, 2) for side in (1 - ending, ending))]
    )
    theirs = scikit(columns, results, C=np.inf, solver="newton-cholesky")
    np.testing.assert_allclose(
        [*tuned["queen"].pair, *tuned["pair"].pair], 100 * theirs[1:] / theirs[0], rtol=1e-4
    )
    assert tuned.scale == pytest.approx(100 / theirs[0], rel=1e-4)


def test_targets_are_mixed() -> None:
    table, matrix, truth = planted(15)
    values = 1 / (1 + np.exp(-(matrix @ truth)))
    mixed = FeatureTable.of(matrix, table.results, table.games, targets=values)
    np.testing.assert_allclose(found(mixed, mix=0.0), truth, atol=1e-5)
    both = 0.3 * table.results + 0.7 * values
    theirs = scikit(matrix, both, C=np.inf, solver="newton-cholesky")
    np.testing.assert_allclose(found(mixed, mix=0.3), theirs, atol=1e-5)
    scores = FeatureTable.of(
        matrix, table.results, table.games, targets=350 * (matrix @ truth), targets_are_scores=True
    )
    ratio = found(scores, mix=0.0) / truth
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-4)
    with pytest.raises(hk.errors.ParameterError, match="another evaluator"):
        tune_weights(table, plan(mix=0.5))


def test_held_out_games_tell_what_it_gained() -> None:
    table, _, truth = planted(16, games=600)
    start = {f"f{i}": float(each) for i, each in enumerate(truth[::-1])}
    tuned = tune_weights(table, TuningPlan(start=start, resamples=200))
    loss = tuned.changes[0]
    assert loss.measure == "log loss"
    assert loss.difference.high < 0
    assert loss.after - loss.before == pytest.approx(loss.difference.value)
    assert 60 < tuned.held_out_games < 180
    assert "held-out" in str(tuned)


def test_the_core_sums_what_it_says() -> None:
    rng = np.random.default_rng(17)
    table, matrix, _ = planted(17, games=30, ending=rng.random(300).astype(np.float32))
    assert table.ending is not None
    used = (rng.random(300) < 0.7).astype(np.uint8)
    rest = rng.normal(0, 2, 300)
    nothing = np.zeros(0)
    rows = _core.FeatureRows(
        table.starts, table.features, table.amounts, table.results, 8, table.ending, rest, used
    )
    late = np.asarray(table.ending, float)
    design = np.empty((300, 17))
    design[:, :16:2], design[:, 1:16:2] = matrix * (1 - late)[:, None], matrix * late[:, None]
    design[:, 16] = rest
    weights = rng.normal(0, 0.3, 17)
    scores = design @ weights
    np.testing.assert_allclose(rows.scores(weights, 3), scores, atol=1e-9)
    win, chosen = 1 / (1 + np.exp(-scores)), used == 1
    x, t, p = design[chosen], table.results[chosen], win[chosen]
    for squared, loss, pull, bend in (
        (False, -(t * np.log(p) + (1 - t) * np.log(1 - p)), t - p, p * (1 - p)),
        (
            True,
            (t - p) ** 2,
            2 * (t - p) * p * (1 - p),
            2 * ((p * (1 - p)) ** 2 - (t - p) * p * (1 - p) * (1 - 2 * p)),
        ),
    ):
        value, slope, count = rows.loss_slope(weights, squared, 2)
        assert value == pytest.approx(loss.sum())
        assert count == chosen.sum()
        np.testing.assert_allclose(slope, -(x.T @ pull), atol=1e-9)
        curvature = rows.curvature(weights, squared, True, 1, 2)
        np.testing.assert_allclose(curvature, (x * bend[:, None]).T @ x, atol=1e-9)
        pulls = rows.pulls(weights, squared, table.games, 0, 300, 0, 30)
        np.testing.assert_allclose(pulls.sum(axis=0), -slope, atol=1e-9)
    np.testing.assert_array_equal(rows.occurrences(1), (matrix[chosen] != 0).sum(axis=0))
    one, two = (rows.loss_slope(weights, False, threads) for threads in (1, 2))
    assert one[0] == two[0]
    np.testing.assert_array_equal(one[1], two[1])
    for wrong, why in (
        ({"features": table.features[::-1].copy()}, "rise"),
        ({"targets": table.results + 1}, "0 to 1"),
        ({"feature_count": 3}, "beyond their number"),
        ({"starts": table.starts[:-1]}, "starts"),
        ({"amounts": table.amounts * np.float32(np.inf)}, "finite"),
    ):
        given: dict[str, Any] = {
            "starts": table.starts, "features": table.features, "amounts": table.amounts,
            "targets": table.results, "feature_count": 8, "ending": table.ending, "rest": nothing,
            "used": used,
        }  # fmt: skip
        with pytest.raises(ValueError, match=why), np.errstate(invalid="ignore"):
            _core.FeatureRows(**{**given, **wrong})


def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The same table as CSV, as Parquet with a column a feature, and with lists."""
    table, matrix, _ = planted(18, games=60, width=3)
    named: dict[str, Any] = {name: matrix[:, i] for i, name in enumerate(("pawns", "king", "rook"))}
    whole = pa.table(
        {"game_id": table.games, "result": table.results, **named, "phase": np.tile([24, 0], 300)}
    )
    rows = sparse.csr_array(matrix)
    lists = [
        pa.ListArray.from_arrays(pa.array(rows.indptr, pa.int32()), pa.array(values))
        for values in (rows.indices.astype(np.uint16), rows.data.astype(np.float32))
    ]
    listed = whole.select(["game_id", "result", "phase"])
    for name, column in zip(("features", "amounts"), lists, strict=True):
        listed = listed.append_column(name, column)
    listed = listed.replace_schema_metadata({"names": "pawns\nking\nrook"})
    places = tmp_path / "f.csv", tmp_path / "f.parquet", tmp_path / "lists.parquet"
    pa.csv.write_csv(whole, places[0])
    pq.write_table(whole, places[1])
    pq.write_table(listed, places[2])
    return places


def test_tables_are_read_alike(tmp_path: Path) -> None:
    columns = TableColumns(phase="phase", opening=24, ending=0)
    tables = [feature_table(file, columns=columns) for file in files(tmp_path)]
    for table in tables:
        assert table.names == ("pawns", "king", "rook")
        assert table.ending is not None
        assert set(np.unique(table.ending)) == {0, 1}
        np.testing.assert_array_equal(table.features, tables[0].features)
        np.testing.assert_array_equal(table.amounts, tables[0].amounts)
        np.testing.assert_array_equal(table.games, tables[0].games)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (TableColumns(result="outcome"), "no column 'outcome'"),
        (TableColumns(game="match"), "no column 'match'"),
        (TableColumns(phase="phase"), "from 0 to 24, not from 0 in the opening to 1"),
        (TableColumns(features=["queen*"]), "no column fits 'queen"),
    ],
)
def test_tables_that_cannot_be_used_say_why(tmp_path: Path, columns: Any, why: str) -> None:
    with pytest.raises(hk.Error, match=why):
        feature_table(files(tmp_path)[0], columns=columns)


def test_results_may_be_written_as_records_have_them() -> None:
    table = feature_table(
        {"game_id": [1, 1, 2, 3], "result": ["1-0", "1-0", "1/2-1/2", "*"], "a": [1, 2, 3, 4]}
    )
    assert table.results.tolist() == [1, 1, 0.5]
    assert table.left_out == 1


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    made = hk.Study.create(
        tmp_path_factory.mktemp("tuning") / "study", records=sample_path("othello")
    )
    evaluate(made, ["ab:depth=1"], sample=4)
    return made


def test_a_study_knows_results_by_game_and_ply_or_by_position(study: hk.Study) -> None:
    rows = study.sql(
        "select game_id, ply, corners, mobility, empties, coalesce(adjudicated, result) as result "
        "from positions where ply % 7 = 3 order by game_id, ply"
    )
    own = rows.drop_columns(["result"])
    by_place = feature_table(own, study, TableColumns(features=["corners", "mobility"]))
    assert by_place.results.tolist() == rows["result"].to_pylist()
    places = study.game_table_of(rows["game_id"].to_numpy(), rows["ply"].to_numpy())
    texts = [str(position.text) for position in places.positions()]
    named = pa.table({"position": texts, "corners": rows["corners"], "mobility": rows["mobility"]})
    distinct = named.group_by(["position", "corners", "mobility"]).aggregate([])
    by_text = feature_table(distinct, study)
    assert len(by_text) >= len(by_place)
    some = feature_table(own, study, where="ply > 30")
    assert 0 < len(some) < len(by_place)


def test_rows_of_one_position_say_the_same(study: hk.Study) -> None:
    twice = {"game_id": [0, 0, 0], "ply": [5, 6, 5]}
    lists = {"features": [[0], [1], [0]], "amounts": [[1.0], [1.0], [2.0]]}
    alike = feature_table(twice | {"corners": [1, 2, 1], "result": [1, 1, 0]}, study)
    assert alike.amounts.tolist() == [1, 2]
    for differing in ({"corners": [1, 2, 3]}, lists):
        with pytest.raises(hk.errors.SourceError, match="rows 1 and 3 have the same position"):
            feature_table(twice | differing, study)


def test_a_function_of_positions_names_features(study: hk.Study) -> None:
    def discs(position: Any) -> dict[str, float]:
        text = str(position.text)
        return {"discs": text.count("X") - text.count("O"), "none": 0.0}

    table = feature_table(discs, study, where="ply % 20 = 10")
    assert table.names == ("discs",)
    assert len(table) > 100
    with pytest.raises(hk.errors.StudyError, match="needs a study"):
        feature_table(discs)


def test_another_evaluator_is_a_target(study: hk.Study) -> None:
    rows = study.sql("select game_id, ply, corners, mobility from positions")
    columns = TableColumns(toward="ab:depth=1")
    table = feature_table(rows, study, columns)
    assert table.targets is not None
    assert table.targets_are_scores
    tuned = tune_weights(table, TuningPlan(mix=0.0, l2=1.0))
    assert tuned["corners"].pair[0] > 0


def test_files_of_weights_are_read_back_and_compiled(tmp_path: Path) -> None:
    file = files(tmp_path)[1]
    table = feature_table(file, columns=TableColumns(phase="phase", opening=24, ending=0))
    tuned = tune_weights(table, plan(l2=1.0))
    pairs = {each.name: each.pair for each in tuned.features}
    for ending in ("json", "csv"):
        tuned.save(tmp_path / f"weights.{ending}")
        back = read_weights(tmp_path / f"weights.{ending}")
        assert {name: tuple(each) for name, each in back.items()} == pairs  # type: ignore[arg-type]
    assert json.loads((tmp_path / "weights.json").read_text())["scale"] == tuned.scale
    tuned.save(tmp_path / "weights.h")
    with pytest.raises(hk.errors.StudyError, match="must end in one of"):
        tuned.save(tmp_path / "weights.txt")
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler is here")
    (tmp_path / "main.c").write_text(
        '#include "weights.h"\n#include <stdio.h>\nint main(void) { printf("%.17g %.17g\\n", '
        "tuned_weights[TUNED_ROOK][0], tuned_weights[TUNED_ROOK][1]); return 0; }\n"
    )
    flags = ["-Wall", "-Werror", "-o", "main", "main.c"]
    subprocess.run([compiler, *flags], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert tuple(map(float, said.split())) == pairs["rook"]


def test_terms_of_the_game_make_a_file_that_plays(study: hk.Study, tmp_path: Path) -> None:
    rows = study.sql("select game_id, ply, corners, mobility from positions where ply < 50")
    tuned = tune_weights(feature_table(rows, study), TuningPlan())
    tuned.save(tmp_path / "weights.json")
    assert linear_evaluation("othello", tmp_path / "weights.json")["corners"] == pytest.approx(
        tuned["corners"].pair
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"l1": -1},
        {"mix": 2},
        {"scale": 0},
        {"scale": 1.0, "anchor": ("a", 1)},
        {"bounds": {"a": (2, 1)}},
        {"anchor": ("a", 0)},
    ],
)
def test_plans_that_make_no_sense_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(hk.errors.ParameterError):
        TuningPlan(**asked)


def test_names_that_are_not_there_are_refused() -> None:
    table, _, _ = planted(19, games=40)
    for asked in ({"frozen": ["x"]}, {"start": {"x": 1.0}}, {"bounds": {"x": (0, 1)}}):
        with pytest.raises(hk.errors.NotationError, match="no feature fits 'x'"):
            tune_weights(table, plan(**asked))
    for name in ("x", "f*"):
        with pytest.raises(hk.errors.ParameterError, match="anchor"):
            tune_weights(table, plan(scale=None, anchor=(name, 1.0)))


def test_features_are_named_by_patterns_and_by_names_with_brackets() -> None:
    table, _, _ = planted(19, games=40)
    names = tuple(f"pst[{i}]" if i < 3 else name for i, name in enumerate(table.names))
    tuned = tune_weights(
        replace(table, names=names),
        plan(start={"pst*": 3.0, "pst[1]": 5.0}, frozen=["pst[1]"], l2=1.0),
    )
    assert [tuned[name].weights[0].former for name in names[:4]] == [3, 5, 3, 0]
    assert [tuned[name].frozen for name in names[:4]] == [False, True, False, False]
