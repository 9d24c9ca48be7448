# SPDX-License-Identifier: Apache-2.0
"""Weights fitted to results, against other people's optimizers, bootstraps and planted truths."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

import hyoka as hk
from hyoka.analysis import Sample, condition_gap
from hyoka.foundation.progress import Progress
from hyoka.learning import (
    Examples,
    Method,
    PositionSelection,
    Shape,
    Weight,
    chosen_terms,
    column_examples,
    fit_sigmoid,
    fit_weights,
    is_held_out,
    term_examples,
)
from hyoka.learning.weights import extremes, gap_changes
from hyoka.search import LinearEvaluation, SearchSpec, linear_evaluation
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import adjudicate

Floats = NDArray[np.float64]


def simulated(
    seed: int, games: int = 300, a_game: int = 5, weights: tuple[float, ...] = (40.0, -25.0)
) -> Examples:
    """Positions whose results follow the model, with a game's positions alike and ties all over."""
    draw = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(games), a_game)
    shared = draw.normal(0, 150, games)
    rest = np.round(shared[numbers] + draw.normal(0, 60, len(numbers)), -1)
    features = np.round(
        draw.normal(0, 1, (games, len(weights)))[numbers]
        + draw.normal(0, 1, (len(numbers), len(weights)))
    )
    score = rest + features @ np.array(weights)
    chances = 1 / (1 + np.exp(-score / 200))
    results = (draw.random(len(numbers)) < chances).astype(np.float64)
    return Examples(
        "chess",
        tuple(Weight(f"feature {i}", None) for i in range(len(weights))),
        "points",
        numbers,
        np.zeros(len(numbers), np.int32),
        results,
        rest,
        rest,
        features,
        {f"feature {i}": column for i, column in enumerate(features.T)},
        "made up",
    )


def design_of(examples: Examples) -> Floats:
    return np.column_stack([examples.rest, examples.features])


def sigmoid(logits: Floats) -> Floats:
    return 1 / (1 + np.exp(-logits))


@pytest.mark.parametrize("seed", range(5))
def test_mlm_is_what_scikit_learn_finds(seed: int) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    examples = simulated(seed)
    design = design_of(examples)
    lengths = design.std(axis=0)
    model = linear_model.LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=5000)
    model.fit(design / lengths, examples.results)
    fit = fit_sigmoid(design, examples.results, examples.games, names=["rest", "a", "b"])
    np.testing.assert_allclose(fit.coefficients, model.coef_[0] / lengths, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_mlm_with_half_results_is_what_bfgs_finds(seed: int) -> None:
    examples = simulated(seed)
    draw = np.random.default_rng(seed)
    results = np.where(draw.random(len(examples)) < 0.3, 0.5, examples.results)
    design = design_of(examples) / [150, 1, 1]

    def loss(at: Floats) -> float:
        logits = design @ at
        return float((np.logaddexp(0, logits) - results * logits).sum())

    found = optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    fit = fit_sigmoid(design, results, examples.games, names=["rest", "a", "b"])
    np.testing.assert_allclose(fit.coefficients, found.x, atol=1e-5)
    assert loss(fit.coefficients) <= found.fun + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_ls_is_what_scipy_least_squares_finds(seed: int) -> None:
    examples = simulated(seed)
    design = design_of(examples) / [150, 1, 1]
    found = optimize.least_squares(
        lambda at: sigmoid(design @ at) - examples.results,
        [1.0, 0, 0],
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    fit = fit_sigmoid(
        design, examples.results, examples.games, names=["rest", "a", "b"], method="ls"
    )
    np.testing.assert_allclose(fit.coefficients, found.x, atol=1e-6)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["mlm", "ls"]))
def test_no_step_from_the_fit_makes_it_better(seed: int, method: Method) -> None:
    examples = simulated(seed, games=60)
    design = design_of(examples) / [150, 1, 1]
    fit = fit_sigmoid(
        design, examples.results, examples.games, names=["rest", "a", "b"], method=method
    )

    def loss(at: Floats) -> float:
        logits = design @ at
        if method == "ls":
            return float(np.square(examples.results - sigmoid(logits)).sum())
        return float((np.logaddexp(0, logits) - examples.results * logits).sum())

    best = loss(fit.coefficients)
    for direction in np.vstack([np.eye(3), -np.eye(3)]):
        assert loss(fit.coefficients + 1e-3 * direction) >= best


def test_the_covariance_is_the_sandwich_written_out() -> None:
    examples = simulated(3, games=50)
    design = design_of(examples) / [150, 1, 1]
    fit = fit_sigmoid(design, examples.results, examples.games, names=["rest", "a", "b"])
    expected = sigmoid(design @ fit.coefficients)
    curvature = np.zeros((3, 3))
    meat = np.zeros((3, 3))
    for game in range(50):
        pull = np.zeros(3)
        for row in np.flatnonzero(examples.games == game):
            pull += (examples.results[row] - expected[row]) * design[row]
            curvature += expected[row] * (1 - expected[row]) * np.outer(design[row], design[row])
        meat += np.outer(pull, pull)
    inverse = np.linalg.inv(curvature)
    np.testing.assert_allclose(fit.covariance, inverse @ meat @ inverse * 50 / 49, rtol=1e-8)


@pytest.mark.parametrize("method", ["mlm", "ls"])
def test_errors_are_those_of_drawing_games_again(method: Method) -> None:
    examples = simulated(1, games=250, a_game=4)
    fit = fit_weights(examples, method, hold_out=0)
    draw = np.random.default_rng(5)
    again = []
    for _ in range(200):
        rows = np.concatenate([np.arange(4) + 4 * game for game in draw.integers(0, 250, 250)])
        found = fit_sigmoid(
            design_of(examples)[rows],
            examples.results[rows],
            np.repeat(np.arange(250), 4),
            names=["rest", "a", "b"],
            method=method,
        ).coefficients
        again.append([1 / found[0], found[1] / found[0], found[2] / found[0]])
    bootstrap = np.std(again, axis=0)
    errors = [fit.scale_error, *(each.error for each in fit.weights)]
    np.testing.assert_allclose(errors, bootstrap, rtol=0.2)


@pytest.mark.parametrize("method", ["mlm", "ls"])
def test_planted_weights_are_found_again(method: Method) -> None:
    fit = fit_weights(simulated(7, games=4000, weights=(40.0, -25.0, 0.0)), method)
    for each, truth in zip(fit.weights, (40.0, -25.0, 0.0), strict=True):
        assert abs(each.weight - truth) < 4 * each.error < 16
        assert each.low < each.weight < each.high
    assert abs(fit.scale - 200) < 4 * fit.scale_error < 40
    assert fit.held_out is not None
    change = {each.metric.name: each.difference for each in fit.held_out.comparison.differences}
    assert change["log_loss"].high < 0
    assert change["brier_loss"].high < 0
    assert change["roc"].low > 0
    for gap in fit.held_out.gap_changes:
        assert abs(gap.after.effect.value) < 3 * gap.after.error
        if gap.condition.startswith("feature 0"):
            assert abs(gap.before.effect.value) > 3 * gap.before.error


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    inside = 0
    for seed in range(200):
        fit = fit_weights(simulated(seed, games=150, a_game=3), hold_out=0, confidence=0.8)
        inside += fit.weights[0].low <= 40.0 <= fit.weights[0].high
    assert 140 <= inside <= 178  # 160 expected; three standard deviations are 17


def test_no_game_is_both_fitted_on_and_held_out() -> None:
    draw = np.random.default_rng(1)
    games = draw.integers(0, 5000, 40_000)
    apart = is_held_out(games, 0.2, seed=3)
    assert not set(games[apart]) & set(games[~apart])
    assert 0.17 < len(np.unique(games[apart])) / 5000 < 0.23
    assert (apart == is_held_out(games, 0.2, seed=3)).all()
    assert (apart != is_held_out(games, 0.2, seed=4)).any()
    assert not is_held_out(games, 0.0, seed=3).any()


def test_a_game_is_held_out_whatever_else_is_there() -> None:
    games = np.arange(1000)
    some = games[::7]
    assert (is_held_out(some, 0.2, 1) == is_held_out(games, 0.2, 1)[::7]).all()


def test_the_fit_counts_what_it_used() -> None:
    fit = fit_weights(simulated(2, games=200, a_game=3))
    assert fit.held_out is not None
    assert fit.positions == 3 * fit.games
    assert len(fit.held_out.before) == 3 * fit.held_out.before.game_count
    assert fit.games + fit.held_out.before.game_count == 200


def test_nothing_is_measured_where_nothing_is_held_out() -> None:
    fit = fit_weights(simulated(2), hold_out=0)
    assert fit.held_out is None
    assert fit.as_json()["held_out"] is None
    assert fit.games == 300


def test_held_out_metrics_are_those_of_the_games_not_fitted_on() -> None:
    examples = simulated(2)
    fit = fit_weights(examples, seed=5)
    assert fit.held_out is not None
    apart = is_held_out(examples.games, 0.2, 5)
    weights = np.array([each.weight for each in fit.weights])
    scores = (examples.rest + examples.features @ weights)[apart]
    results = examples.results[apart]
    chances = sigmoid(scores / fit.scale)
    found = {each.metric.name: each for each in fit.held_out.comparison.differences}
    surprise = -np.log(np.where(results == 1, chances, 1 - chances))
    assert found["log_loss"].one == pytest.approx(surprise.mean(), rel=1e-5)
    assert found["brier_loss"].one == pytest.approx(np.square(results - chances).mean(), rel=1e-5)
    right = (scores >= 0) == (results == 1)
    assert found["accuracy"].one == pytest.approx(right.mean(), abs=1e-6)
    alone = fit_sigmoid(
        examples.before[~apart, None],
        examples.results[~apart],
        examples.games[~apart],
        names=["x"],
    )
    before = sigmoid(examples.before[apart] * alone.coefficients[0])
    surprise = -np.log(np.where(results == 1, before, 1 - before))
    assert found["log_loss"].other == pytest.approx(surprise.mean(), rel=1e-5)


def test_curves_are_of_all_and_of_each_condition_before_and_after() -> None:
    fit = fit_weights(simulated(2, games=2000))
    assert fit.held_out is not None
    curves = fit.held_out.curves()
    labels = [(part.name, part.condition) for part in curves]
    conditions_shown = ["", *(gap.condition for gap in fit.held_out.gap_changes)]
    assert labels == [
        (name, condition) for name in ("before", "after") for condition in conditions_shown
    ]
    assert curves[0].points
    assert curves[len(conditions_shown)].points


def scored(values: Floats, results: Floats, games: NDArray[np.int64]) -> Sample:
    return Sample.of("made up", values, results=results, games=games, unit="points")


def test_a_gap_is_what_the_total_curve_leaves_unsaid() -> None:
    values = np.repeat([0.0, 100.0], 400)
    results = np.concatenate([np.tile([1.0, 0.0], 200), np.tile([1.0, 1.0, 1.0, 0.0], 100)])
    sample = scored(values, results, np.arange(800))
    holds = np.zeros(800, bool)
    holds[:400:2] = True  # wins at 0, where half are won
    assert condition_gap(sample, holds).level.effect.value == pytest.approx(0.5)
    assert condition_gap(sample, np.ones(800, bool)).level.effect.value == pytest.approx(0)
    both = holds.copy()
    both[403::4] = True  # losses at 100, where three of four are won
    assert condition_gap(sample, both).level.effect.value == pytest.approx(
        (200 * 0.5 - 100 * 0.75) / 300
    )


def test_a_gaps_error_is_that_of_drawing_games_again() -> None:
    examples = simulated(6, games=300, a_game=5)
    holds = examples.features[:, 0] >= 1
    sample = scored(examples.rest, examples.results, examples.games)
    found = condition_gap(sample, holds).level
    draw = np.random.default_rng(2)
    again = []
    for _ in range(300):
        rows = np.concatenate([np.arange(5) + 5 * game for game in draw.integers(0, 300, 300)])
        drawn = scored(examples.rest[rows], examples.results[rows], np.repeat(np.arange(300), 5))
        again.append(condition_gap(drawn, holds[rows]).level.effect.value)
    assert found.error == pytest.approx(np.std(again), rel=0.15)


def test_conditions_are_for_a_fifth_of_the_positions_or_less() -> None:
    draw = np.random.default_rng(1)
    traits = {
        "spread": draw.normal(0, 1, 2000),
        "rare": (draw.random(2000) < 0.1).astype(np.float64),
        "same": np.ones(2000),
        "alone": np.eye(1, 2000)[0],
    }
    found = extremes(traits)
    assert [name.split()[:2] for name in found] == [
        ["spread", ">="],
        ["spread", "<="],
        ["rare", ">="],
        ["rare", "<="],  # even the least amount is common
        ["alone", "<="],
    ]
    assert (found["rare >= 1"] == (traits["rare"] == 1)).all()
    for name, holds in list(found.items())[:2]:
        assert holds.sum() == 400, name
    values = draw.normal(0, 100, 2000)
    sample = scored(values, draw.integers(0, 2, 2000).astype(float), np.arange(2000))
    parted = gap_changes(sample, sample, found)
    assert [each.condition for each in parted] == list(found)
    assert all(each.before == each.after for each in parted)
    assert [each.positions for each in parted] == [int(holds.sum()) for holds in found.values()]


@pytest.mark.parametrize("method", ["mlm", "ls"])
def test_results_that_a_column_tells_are_refused(method: Method) -> None:
    column = np.linspace(-1, 1, 40)[:, None]
    with pytest.raises(hk.errors.StudyError, match="perfect separation"):
        fit_sigmoid(
            column, (column[:, 0] > 0).astype(float), np.arange(40), names=["x"], method=method
        )


def likeliest(design: Floats, results: Floats) -> Floats:
    """What SciPy finds, from columns of about the same size."""

    def loss(b: Floats) -> tuple[float, Floats]:
        logits = design @ b
        slope = design.T @ (sigmoid(logits) - results)
        return float((np.logaddexp(0, logits) - results * logits).sum()), slope

    found = optimize.minimize(loss, np.zeros(design.shape[1]), jac=True, method="BFGS", tol=1e-9)
    return np.asarray(found.x)


def test_a_maximum_is_found_beside_a_position_far_away_from_all_others() -> None:
    chance = np.random.default_rng(3)
    design = chance.standard_normal((400, 2))
    results = (chance.random(400) < sigmoid(design @ [0.5, -0.3])).astype(np.float64)
    expected = likeliest(design, results)
    far = np.vstack([design, [1e7, 0.0]])  # won, as the weights say: it changes nothing
    fit = fit_sigmoid(far, np.append(results, 1.0), np.arange(401), names=["a", "b"])
    assert fit.coefficients == pytest.approx(expected, rel=1e-4)


def test_a_drawn_game_bounds_what_won_games_do_not() -> None:
    design = np.array([[x] for x in (-2.0, -1, 1, 2, 3)])
    results = np.array([0, 0, 1, 1, 0.5])
    fit = fit_sigmoid(design, results, np.arange(5), names=["x"])
    assert fit.coefficients == pytest.approx(likeliest(design, results), rel=1e-5)


def test_results_that_a_rare_column_tells_are_refused() -> None:
    chance = np.random.default_rng(4)
    count = 100_000
    design = np.column_stack([chance.standard_normal(count), np.zeros(count)])
    results = (chance.random(count) < sigmoid(design[:, 0])).astype(np.float64)
    design[:3, 1], results[:3] = 1e-3, 1.0
    with pytest.raises(hk.errors.StudyError, match="perfect separation"):
        fit_sigmoid(design, results, np.arange(count), names=["a", "rare"])
    results[0] = 0.0  # and now they are not
    fit = fit_sigmoid(design, results, np.arange(count), names=["a", "rare"])
    gradient = design.T @ (results - sigmoid(design @ fit.coefficients))
    assert np.abs(gradient / [1, 1e-3]).max() < 1e-6


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_a_fit_is_refused_if_and_only_if_there_is_no_maximum(seed: int) -> None:
    """Few positions: whether a plane parts won from lost is asked of all planes through some."""
    chance = np.random.default_rng(seed)
    count = int(chance.integers(6, 14))
    design = chance.integers(-3, 4, (count, 2)).astype(np.float64)
    results = chance.choice([0.0, 0.5, 1.0], count, p=[0.45, 0.1, 0.45])
    # The edges of the cone of planes are at right angles to positions.
    normals = [np.array([-y, x]) for x, y in design] + [np.array([y, -x]) for x, y in design]
    normals += list(design) + [-row for row in design]
    normals += [a + b for a in normals for b in normals]
    sides = np.array(normals) @ design.T
    right = np.where(results == 1, sides >= 0, np.where(results == 0, sides <= 0, sides == 0))
    parted = bool((right.all(axis=1) & (sides != 0).any(axis=1)).any())
    try:
        fit = fit_sigmoid(design, results, np.arange(count), names=["a", "b"])
    except hk.errors.StudyError as error:
        assume("perfect separation" in str(error))
        assert parted
    else:
        assert not parted
        gradient = design.T @ (results - sigmoid(design @ fit.coefficients))
        assert np.abs(gradient).max() < 1e-6


def test_a_squared_error_without_a_minimum_is_refused() -> None:
    """One game far out contradicts all others: the steeper the sigmoid, the smaller the error."""
    design = np.array([[x] for x in (-1.0, 1.0)] * 50 + [[5.0]])
    results = np.array([0.0, 1.0] * 50 + [0.0])

    def error(b: float) -> float:
        return float(np.square(results - sigmoid(design[:, 0] * b)).sum())

    errors = [error(b) for b in (1.0, 2, 4, 8, 12)]
    assert errors == sorted(errors, reverse=True)
    assert fit_sigmoid(design, results, np.arange(101), names=["x"]).coefficients[0] > 0
    with pytest.raises(hk.errors.StudyError, match="no minimum"):
        fit_sigmoid(design, results, np.arange(101), names=["x"], method="ls")


def test_results_that_a_column_tells_in_part_are_refused() -> None:
    draw = np.random.default_rng(1)
    first = draw.normal(0, 1, 200)
    rare = np.where(np.arange(200) < 5, 1.0, 0.0)
    results = np.where(rare == 1, 1.0, draw.integers(0, 2, 200))
    with pytest.raises(hk.errors.StudyError, match="perfect separation"):
        fit_sigmoid(np.column_stack([first, rare]), results, np.arange(200), names=["a", "b"])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda design: design.__setitem__((slice(None), 2), 3.0), "'b' is 3 at all positions"),
        (lambda design: design.__setitem__((slice(None), 0), 0.0), "'rest' is 0 at all"),
        (lambda design: design.__setitem__((4, 1), np.nan), "'a' is not finite at 1 pos"),
        (lambda design: design.__setitem__((4, 1), np.inf), "'a' is not finite at 1 pos"),
    ],
)
def test_columns_that_cannot_be_fitted_are_named(spoil: Any, message: str) -> None:
    examples = simulated(1)
    design = design_of(examples)
    spoil(design)
    with pytest.raises(hk.errors.StudyError, match=message):
        fit_sigmoid(design, examples.results, examples.games, names=["rest", "a", "b"])


def test_a_column_made_of_others_is_named_with_them() -> None:
    examples = simulated(1, weights=(1.0, 2.0, 3.0))
    design = design_of(examples)
    design[:, 3] = 2 * design[:, 1] - design[:, 2]
    with pytest.raises(hk.errors.StudyError, match="is a combination of") as raised:
        fit_sigmoid(design, examples.results, examples.games, names=["rest", "a", "b", "c"])
    assert all(f"'{name}'" in str(raised.value) for name in "abc")
    assert "rest" not in str(raised.value)


def test_columns_that_differ_little_are_fitted_all_the_same() -> None:
    examples = simulated(1)
    design = design_of(examples)
    design[:, 2] = design[:, 1] + 1e-4 * np.random.default_rng(1).normal(0, 1, len(design))
    fit = fit_sigmoid(design, examples.results, examples.games, names=["rest", "a", "b"])
    expected = sigmoid(design @ fit.coefficients)
    np.testing.assert_allclose(design.T @ (examples.results - expected), 0, atol=1e-6)


def test_too_many_columns_for_the_positions_are_refused() -> None:
    draw = np.random.default_rng(1)
    with pytest.raises(hk.errors.StudyError, match="is a combination of"):
        fit_sigmoid(
            draw.normal(0, 1, (5, 8)),
            np.array([0.0, 1, 0, 1, 1]),
            np.arange(5),
            names=list("abcdefgh"),
        )


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (1.0, "won by the first player"),
        (0.0, "lost by the first player"),
        (0.5, "with the same result"),
        (1.5, "from 0 to 1"),
        (np.nan, "from 0 to 1"),
    ],
)
def test_results_that_tell_nothing_are_refused(results: float, message: str) -> None:
    with pytest.raises(hk.errors.StudyError, match=message):
        fit_sigmoid(np.eye(10), np.full(10, results), np.arange(10), names=list("abcdefghij"))


def test_no_positions_are_refused() -> None:
    with pytest.raises(hk.errors.StudyError, match="no positions"):
        fit_sigmoid(np.zeros((0, 1)), np.zeros(0), np.zeros(0, np.int64), names=["x"])


def test_as_many_numbers_as_games_are_refused() -> None:
    examples = simulated(1)
    with pytest.raises(hk.errors.StudyError, match="3 coefficients cannot be fitted to 2 games"):
        fit_sigmoid(
            design_of(examples), examples.results, examples.games % 2, names=["rest", "a", "b"]
        )


def test_scores_of_the_wrong_player_are_refused() -> None:
    examples = simulated(1)
    turned = Examples(
        **{
            **{name: getattr(examples, name) for name in Examples.__dataclass_fields__},
            "rest": -examples.rest,
            "before": -examples.before,
        }
    )
    with pytest.raises(hk.errors.StudyError, match="greater scores go with worse results"):
        fit_weights(turned)


def test_a_fit_prints_and_is_found_by_name() -> None:
    fit = fit_weights(simulated(1, games=800))
    assert "feature 0: " in str(fit)
    assert "log-loss, held-out" in str(fit)
    assert "slice where feature 0" in str(fit)
    assert fit["feature 1"] is fit.weights[1]
    with pytest.raises(KeyError, match="feature 0, feature 1"):
        fit["feature 2"]
    assert json.loads(json.dumps(fit.as_json()))["weights"][0]["name"] == "feature 0"


# What the examples are made from: studies.


@pytest.fixture(scope="module")
def chess_study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder = tmp_path_factory.mktemp("chess")
    draw = np.random.default_rng(1)
    texts = []
    for number in range(60):
        game = hk.Chess()
        moves = []
        for _ in range(40):
            legal = game.legal_moves
            if game.outcome is not None:
                break
            move = legal[draw.integers(len(legal))]
            moves.append(game.san(move))
            game = game.play(move)
        score = int(linear_evaluation("chess").score([game])[0]) + 300 * draw.normal()
        result = "1/2-1/2" if number % 3 == 2 else "1-0" if score > 0 else "0-1"
        texts.append(f'[Result "{result}"]\n\n1. {" ".join(moves)} {result}\n\n')
    (folder / "games.pgn").write_text("".join(texts))
    return hk.Study.create(folder / "study", folder / "games.pgn")


def replayed(study: hk.Study, examples: Examples) -> list[Any]:
    records = dict(study.records())
    return [
        records[int(game)].position(int(ply))
        for game, ply in zip(examples.games, examples.plies, strict=True)
    ]


@pytest.mark.parametrize("shape", ["phases", "one", "ending", "factor"])
@pytest.mark.parametrize("off", [True, False])
def test_scores_are_those_of_the_evaluations_they_stand_for(
    chess_study: hk.Study, shape: Shape, off: bool
) -> None:
    terms = ["bishop_mobility", "bishop_development"]
    examples = term_examples(chess_study, terms, shape=shape, off=off, quiet=False)
    positions = replayed(chess_study, examples)
    built_in = linear_evaluation("chess")
    silent = built_in.with_weights(dict.fromkeys(terms, 0.0))
    start = silent if off else built_in
    np.testing.assert_allclose(examples.before, start.score(positions), atol=0.51)
    assert examples.start is not None
    assert (examples.start.weights == start.weights).all()
    numbers = np.linspace(1.5, 3, len(examples.weights))
    evaluation = examples.evaluation(numbers, 123.0)
    assert evaluation is not None
    assert evaluation.scale == 123.0
    np.testing.assert_allclose(
        examples.rest + examples.features @ numbers, evaluation.score(positions), atol=0.51
    )
    expected: dict[str, tuple[float, ...]] = {
        "phases": {"bishop_mobility": (1.5, 2.0), "bishop_development": (2.5, 3.0)},
        "one": {"bishop_mobility": (1.5, 1.5), "bishop_development": (3.0, 3.0)},
        "ending": {
            "bishop_mobility": (start["bishop_mobility"][0], 1.5),
            "bishop_development": (start["bishop_development"][0], 3.0),
        },
        "factor": {term: tuple(1.5 * weight for weight in built_in[term]) for term in terms},
    }[shape]  # type: ignore[assignment]
    for name in built_in.names:
        assert evaluation[name] == pytest.approx(expected.get(name, built_in[name]))


def test_results_are_the_games_and_draws_are_as_asked(chess_study: hk.Study) -> None:
    examples = term_examples(chess_study, ["tempo"], shape="one", quiet=False)
    assert set(examples.games % 3) == {0, 1}
    said = {game: record.result for game, record in chess_study.records()}
    assert examples.results.tolist() == [said[int(game)] for game in examples.games]
    assert examples.undecided > 0
    half = term_examples(
        chess_study, ["tempo"], PositionSelection(draws="half"), shape="one", quiet=False
    )
    assert set(half.results[half.games % 3 == 2]) == {0.5}
    assert half.undecided == 0


def test_what_an_exact_method_knows_goes_before_the_record(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[Result "1-0"]\n\n1. f3 e5 2. g4 Qh4# 1-0')
    study = hk.Study.create(tmp_path / "study", tmp_path / "game.pgn")
    adjudicate(study, "mate", where="ply = 3")
    examples = term_examples(study, ["tempo"], shape="one", quiet=False)
    assert examples.plies.tolist() == [0, 1, 2, 3]  # the mated position has no evaluation
    assert examples.results.tolist() == [1, 1, 1, 0]


def test_a_sample_is_the_one_that_evaluate_takes(chess_study: hk.Study) -> None:
    evaluate(chess_study, ["ab:depth=1,hash=1"], sample=2, seed=9)
    selection = PositionSelection(sample=2, seed=9, draws="half")
    examples = term_examples(chess_study, ["tempo"], selection, shape="one", quiet=False)
    engine = SearchSpec.from_text("ab:depth=1,hash=1").id
    rows = chess_study.sql(f"select game_id, ply from evaluations where engine = '{engine}'")
    asked = set(zip(rows["game_id"].to_pylist(), rows["ply"].to_pylist(), strict=True))
    assert set(zip(examples.games.tolist(), examples.plies.tolist(), strict=True)) <= asked
    assert len(examples) + examples.unscored == len(asked)


def test_where_chooses_positions(chess_study: hk.Study) -> None:
    examples = term_examples(
        chess_study, ["tempo"], PositionSelection(where="ply between 4 and 6"), quiet=False
    )
    assert set(examples.plies) == {4, 5, 6}
    with pytest.raises(hk.errors.ConditionError, match="plyy"):
        term_examples(chess_study, ["tempo"], PositionSelection(where="plyy > 4"))
    with pytest.raises(hk.errors.StudyError, match="no position satisfies"):
        term_examples(chess_study, ["tempo"], PositionSelection(where="ply > 1000"))


def quiescence(game: Any, evaluation: LinearEvaluation, alpha: float, beta: float) -> float:
    """The rule in plain Python: stand pat, or a capture or promotion that loses nothing."""
    sign = 1 if game.to_play is hk.Player.first else -1
    if game.outcome is not None:
        return -30000.0 if game.in_check else 0.0
    best = -np.inf
    if not game.in_check:
        best = sign * float(evaluation.score([game])[0])
        if best >= beta:
            return best
        alpha = max(alpha, best)
    for move in game.legal_moves:
        if not game.in_check:
            san = game.san(move)
            if ("x" not in san and "=" not in san) or game.see(move) < 0:
                continue
        best = max(best, -quiescence(game.play(move), evaluation, -beta, -alpha))
        alpha = max(alpha, best)
        if best >= beta:
            break
    return best


def test_a_leaf_is_where_a_plain_quiescence_search_finds_its_value(chess_study: hk.Study) -> None:
    evaluation = linear_evaluation("chess")
    places = chess_study.game_table("game_id < 12 and ply % 5 = 1")
    quiet = places.quiet_terms(evaluation.flat)
    moved = 0
    for row, here in enumerate(places.positions()):
        if here.outcome is not None:
            continue
        leaf = leaf_of(here, quiet.moves[row])
        sign = 1 if here.to_play is hk.Player.first else -1
        value = sign * quiescence(here, evaluation, -np.inf, np.inf)
        if abs(value) < 20_000:
            assert quiet.scores[row] == value
            assert leaf.outcome is not None or int(evaluation.score([leaf])[0]) == value
        moved += leaf != here
    assert moved > 10


def leaf_of(position: Any, codes: NDArray[np.uint16]) -> Any:
    for code in codes.tolist():
        position = position.play(hk.Chess.Move.from_code(code))
    return position


def test_quiet_examples_have_the_terms_of_the_leaves(chess_study: hk.Study) -> None:
    examples = term_examples(chess_study, ["bishop_mobility"])
    assert examples.quiet
    evaluation = linear_evaluation("chess")
    places = chess_study.game_table_of(examples.games, examples.plies)
    moves = places.quiet_terms(evaluation.flat).moves
    leaves = [leaf_of(here, moves[row]) for row, here in enumerate(places.positions())]
    np.testing.assert_allclose(examples.before, evaluation.score(leaves), atol=0.51)
    amounts, _ = evaluation.amounts(leaves)
    column = evaluation.names.index("bishop_mobility")
    np.testing.assert_allclose(examples.traits["bishop_mobility"], amounts[:, column])
    assert all(leaf.outcome is None for leaf in leaves)


def test_progress_tells_how_many_are_done(chess_study: hk.Study) -> None:
    steps: list[Progress] = []
    examples = term_examples(chess_study, ["tempo"], quiet=False, progress=steps.append)
    assert steps[-1].done == steps[-1].total == len(examples) + examples.unscored


def test_terms_are_named_or_matched() -> None:
    chess = linear_evaluation("chess")
    assert chosen_terms(chess, ["bishop_pair", "bishop_mobility", "bishop_p*"]) == [
        "bishop_mobility",
        "bishop_pair",
    ]
    with pytest.raises(hk.errors.NotationError, match="no term 'bishop_mobilty'; did you mean"):
        chosen_terms(chess, ["bishop_mobilty"])
    with pytest.raises(hk.errors.NotationError, match="no term 'zzz\\*'; 294 are there"):
        chosen_terms(chess, ["zzz*"])
    with pytest.raises(hk.errors.NotationError, match="no term is named"):
        chosen_terms(chess, [])


def test_weights_of_a_file_are_where_it_begins(chess_study: hk.Study, tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text('{"tempo": [33, 22]}')
    examples = term_examples(chess_study, ["tempo"], weights=tmp_path / "weights.json", quiet=False)
    assert [each.former for each in examples.weights] == [33, 22]
    assert "weights.json" in examples.source


def test_a_factor_of_nothing_is_refused(chess_study: hk.Study) -> None:
    off = linear_evaluation("chess").with_weights({"tempo": 0.0})
    with pytest.raises(hk.errors.NotationError, match="tempo: their weights are 0"):
        term_examples(chess_study, ["tempo"], shape="factor", weights=off)


def test_more_than_fits_into_memory_is_refused_before_it_is_gathered(
    chess_study: hk.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyoka.learning.examples._MOST_NUMBERS", 1000)
    with pytest.raises(hk.errors.StudyError, match=r"2 weights and .* positions are more"):
        term_examples(chess_study, ["tempo"])


def test_games_without_quiescence_are_taken_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "games.txt").write_text("f5d6c3d3c4f4f6\n")
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.txt")
    with pytest.raises(hk.errors.StudyError, match="othello has no quiescence search"):
        term_examples(study, ["*"], quiet=True)
    with pytest.raises(hk.errors.StudyError, match="known result"):
        term_examples(study, ["*"])


def test_saved_weights_are_an_evaluation_for_searches(
    chess_study: hk.Study, tmp_path: Path
) -> None:
    examples = term_examples(chess_study, ["tempo"], shape="one", off=True, quiet=False)
    fit = fit_weights(examples, hold_out=0.3)
    fit.save(tmp_path / "weights.json")
    read = linear_evaluation("chess", tmp_path / "weights.json")
    assert fit.evaluation is not None
    np.testing.assert_allclose(read.weights, fit.evaluation.weights, atol=1e-6)
    assert read.scale == pytest.approx(fit.scale)
    assert read["tempo"] == pytest.approx((fit["tempo"].weight,) * 2, abs=1e-5)
    search = f"ab:depth=1,eval={tmp_path / 'weights.json'}"
    assert hk.search_once(hk.Chess(), search).best is not None


# Columns added to an evaluator's score.


@pytest.fixture(scope="module")
def scored_study(chess_study: hk.Study) -> hk.Study:
    evaluate(chess_study, ["ab:depth=1,hash=0"])
    return chess_study


def test_columns_are_sql_over_the_positions(scored_study: hk.Study) -> None:
    engine = SearchSpec.from_text("ab:depth=1,hash=0").id
    columns = ["bishop_mobility", "passed * phase / 100", "queens = 0"]
    examples = column_examples(scored_study, engine, columns, PositionSelection(where="ply >= 10"))
    rows = scored_study.sql(
        "select e.score, bishop_mobility, passed, phase, queens from positions"
        f" join (select * from evaluations where engine = '{engine}' and mate is null) e"
        " using (game_id, ply)"
        " where ply >= 10 and result != 0.5 order by game_id, ply"
    ).to_pylist()
    rows = [row for row in rows if row["score"] is not None]
    assert len(rows) == len(examples)
    np.testing.assert_allclose(examples.rest, [row["score"] for row in rows])
    expected = [
        [row["bishop_mobility"], row["passed"] * row["phase"] / 100, row["queens"] == 0]
        for row in rows
    ]
    np.testing.assert_allclose(examples.features, np.array(expected, float))
    assert [each.name for each in examples.weights] == columns
    assert examples.evaluation(np.zeros(3), 1.0) is None
    assert examples.unit == "centipawns"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("bishop_mobilty", "column 'bishop_mobilty'.*did you mean bishop_mobility"),
        ("1) from games; select (2", "column"),
        ("sum(ply)", "column 'sum\\(ply\\)'"),
        ("nullif(ply, 12)", "null or no finite number at .* positions"),
        ("first || second", "is no number"),
    ],
)
def test_bad_columns_are_refused_by_name(scored_study: hk.Study, column: str, message: str) -> None:
    engine = SearchSpec.from_text("ab:depth=1,hash=0").id
    with pytest.raises(hk.Error, match=message):
        column_examples(scored_study, engine, [column])


def test_an_unknown_evaluator_is_refused(scored_study: hk.Study) -> None:
    with pytest.raises(hk.errors.StudyError, match="no evaluator 'stockfish'"):
        column_examples(scored_study, "stockfish", ["ply"])
    with pytest.raises(hk.errors.ConditionError, match="no column is named"):
        column_examples(scored_study, scored_study.engines[0], [])


def test_an_evaluator_without_scores_is_taken_by_its_logits(chess_study: hk.Study) -> None:
    evaluate(chess_study, ["mc:playouts=60"], where="ply = 20")
    engine = SearchSpec.from_text("mc:playouts=60").id
    examples = column_examples(chess_study, "mc:playouts=60", ["bishop_mobility"])
    values = chess_study.sql(
        f"select value from evaluations join games using (game_id) where engine = '{engine}'"
        " and result != 0.5 order by game_id"
    )["value"].to_numpy()
    likely = np.clip(values.astype(float), 0.001, 0.999)
    assert examples.unit == "logits"
    np.testing.assert_allclose(examples.rest, np.log(likely / (1 - likely)))


def test_a_fit_of_columns_is_saved_as_a_formula(tmp_path: Path) -> None:
    fit = fit_weights(simulated(1))
    fit.save(tmp_path / "formula.json")
    content = json.loads((tmp_path / "formula.json").read_text())
    assert content["columns"] == {each.name: each.weight for each in fit.weights}
    assert content["scale"] == fit.scale
