# SPDX-License-Identifier: Apache-2.0
"""Comparison training: derivatives, values of leaves, what comes back, and going on."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr

import hyoka as hk
from hyoka import _core
from hyoka.games import GAMES
from hyoka.learning.comparison_training import (
    Adaptive,
    Judge,
    Lessons,
    Plain,
    Training,
    TrainingSettings,
    learn_comparison,
    shrunk,
)
from hyoka.learning.objectives import (
    CATEGORY_COUNT,
    CONSTANTS,
    Combination,
    Comparison,
    Parameterized,
    objective_from,
    objective_model_file,
)
from hyoka.models.sparse import SparseEvaluation, feature_set, feature_sets
from hyoka.records import Record, read_records
from hyoka.records.bulk import GameTable
from hyoka.search import (
    Searcher,
    SearchSpec,
    ab,
    linear_evaluation,
    measure_difficulty,
    static_evaluation,
)
from hyoka.search.difficulty import Categories, categories_of
from hyoka.storage.model_file import ModelFile

SETS = [
    (game, each.name)
    for game in ("shogi", "chess", "othello")
    for each in feature_sets(game)
    if each.name != "kpp"  # its arrays are large: core/tests has it
]


def random_records(game: str, count: int, seed: int, plies: int = 40) -> list[Record]:
    """Games of random moves, with results."""
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(count):
        line = GAMES[game]().line()
        codes: list[int] = []
        while len(codes) < plies and line.outcome is None:
            moves = line.legal_moves
            move = moves[int(rng.integers(len(moves)))]
            codes.append(move.code)
            line = line.play(move)
        result = float(rng.integers(3)) / 2
        records.append(Record(game, np.array(codes, np.uint16), result=result))
    return records


def random_weights(game: str, name: str, seed: int, size: float = 8.0) -> NDArray[np.float32]:
    """Not far from where learning begins, in steps that searches can hold."""
    features = feature_set(game, name)
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, size, features.weights)
    noise[: features.anchored] = 0
    return (np.rint((features.starting() + noise) * 32) / 32).astype(np.float32)


def judge(lessons: Lessons, name: str, settings: TrainingSettings) -> Judge:
    return Judge(lessons, feature_set(lessons.games.game, name), settings, 1)


@pytest.mark.parametrize(("game", "name"), SETS)
def test_derivatives_are_those_of_finite_differences(game: str, name: str) -> None:
    lessons = Lessons.of_records(random_records(game, 3, 1))
    settings = TrainingSettings(objective=Combination(slope=0.005, margin=20, outcome=3.0))
    of = judge(lessons, name, settings)
    weights = random_weights(game, name, 2)
    of.search(weights)
    *_, gradient = of.differentiate(weights)
    met = np.flatnonzero(np.abs(gradient) > 1e-6)
    assert len(met) > 50
    for index in np.random.default_rng(3).choice(met, 12, replace=False):
        sides = []
        for step in (0.5, -0.5):
            moved = weights.copy()
            moved[index] += step
            j1, j2, *_ = of.differentiate(moved, gradient=False)
            sides.append(j1 + j2)
        assert sides[0] - sides[1] == pytest.approx(gradient[index], rel=2e-3, abs=1e-6)


@pytest.mark.parametrize(("game", "name"), SETS)
def test_a_leafs_product_is_what_the_search_says(game: str, name: str) -> None:
    """The scores after the moves played, against a search and a product in plain Python."""
    records = random_records(game, 2, 4)
    table = GameTable.from_records(records)
    weights = random_weights(game, name, 5)
    evaluation = SparseEvaluation(feature_set(game, name), weights, 600.0)
    reach = np.full(len(table), 300, np.float32)
    comparisons = _core.Comparisons(table.in_core, name)
    ranks, choices, scores = comparisons.search(weights, reach, 2, None)
    searcher = Searcher(ab(depth=1, evaluation=evaluation, exact=True), game)
    checked = 0
    for row, (position, code) in enumerate(
        zip(table.positions(), table.played.tolist(), strict=True)
    ):
        if code < 0 or position.outcome is not None:
            continue
        move = next(each for each in position.legal_moves if each.code == code)
        found = searcher.search(position, only=[move])
        assert choices[row] == len(position.legal_moves)
        if ranks[row] == 0 or found.mate is not None or found.proven is not None:
            continue
        assert scores[row] == found.score
        end = position
        for each in found.pv:
            end = end.play(each)
        product = float((evaluation.terms([end]) @ weights)[0])
        assert abs(product - scores[row]) <= 1.0
        checked += 1
    assert checked > 20


@pytest.mark.parametrize("game", ["shogi", "othello"])
def test_ranks_are_those_of_all_moves_searched_one_by_one(game: str) -> None:
    table = GameTable.from_records(random_records(game, 1, 6, plies=16))
    name = "relations" if game == "shogi" else "patterns"
    weights = random_weights(game, name, 7)
    evaluation = SparseEvaluation(feature_set(game, name), weights, 600.0)
    comparisons = _core.Comparisons(table.in_core, name)
    ranks, *_ = comparisons.search(weights, np.full(len(table), 50, np.float32), 1, None)
    searcher = Searcher(ab(depth=1, evaluation=evaluation, exact=True), game)
    for row, (position, code) in enumerate(
        zip(table.positions(), table.played.tolist(), strict=True)
    ):
        if code < 0:
            continue
        sign = 1 if position.to_play == hk.Player.first else -1
        values = [
            sign * (searcher.search(position, only=[move]).score or 0)
            for move in position.legal_moves
        ]
        played = [move.code for move in position.legal_moves].index(code)
        better = sum(
            value > values[played] or (value == values[played] and index < played)
            for index, value in enumerate(values)
        )
        assert ranks[row] == better + 1


def test_results_do_not_depend_on_threads() -> None:
    lessons = Lessons.of_records(random_records("othello", 40, 8))
    found = []
    for threads in (1, 3):
        training = Training(lessons, settings=TrainingSettings(passes=1), threads=threads)
        training.run_pass()
        found.append(training.weights)
    assert np.array_equal(found[0], found[1])


def test_a_known_evaluation_comes_back_from_its_games() -> None:
    """Games whose moves a known evaluation chose, and whose results it predicts, from nothing."""
    rng = np.random.default_rng(9)
    known = linear_evaluation("chess")
    searcher = Searcher(ab(depth=1, evaluation=known, hash=1), "chess")
    records = []
    for _ in range(60):
        line, codes = hk.Chess().line(), list[int]()
        while line.outcome is None and len(codes) < 60:
            moves = line.legal_moves
            if len(codes) < 6 or rng.random() < 0.25:
                move = moves[int(rng.integers(len(moves)))]
            else:
                best = searcher.search(line.position).best
                assert isinstance(best, hk.Chess.Move)
                move = best
            codes.append(move.code)
            line = line.play(move)
        records.append(Record("chess", np.array(codes, np.uint16)))
    lessons = Lessons.of_records(records[:50])
    chances = known.value(list(lessons.games.positions())).astype(np.float32)
    features = feature_set("chess", "places")
    nothing = features.starting().copy()
    nothing[features.anchored :] = 0  # but for the values of pieces, which are not learned
    learned = learn_comparison(
        dataclasses.replace(lessons, results=chances),
        settings=TrainingSettings(
            objective=Combination(l1=0.5), passes=3, steps=12, rate=20.0, decay=0.5
        ),
        start=SparseEvaluation(features, nothing, features.scale),
        threads=2,
    ).evaluation()
    unseen = list(GameTable.from_records(records[50:]).positions())
    assert spearmanr(known.score(unseen), learned.score(unseen)).statistic > 0.95


def test_small_plain_steps_never_make_it_worse() -> None:
    lessons = Lessons.of_records(random_records("othello", 20, 10))
    settings = TrainingSettings(
        objective=Combination(l1=0.01), descent="plain", rate=0.5, batches=1
    )
    of = judge(lessons, "patterns", settings)
    weights = random_weights("othello", "patterns", 11)
    of.search(weights)
    descent, values = Plain(), []
    for _ in range(12):
        j1, j2, _, _, gradient = of.differentiate(weights)
        values.append(j1 + j2 + 0.01 * float(np.abs(weights).sum(dtype=np.float64)))
        descent.step(weights, gradient, 0.01, 0.5)
    assert all(after <= before + 1e-6 for before, after in itertools.pairwise(values))
    assert values[-1] < values[0]


def test_a_price_holds_weights_at_zero_until_the_gradient_is_larger() -> None:
    """The kink: at 0 the objective falls only if the gradient is larger than the price."""
    for descent in (Plain(), Adaptive(damping=0.0)):
        weights = np.zeros(4, np.float32)
        gradient = np.array([0.5, -0.5, 2.0, -2.0], np.float32)
        descent.step(weights, gradient, 1.0, 0.1)
        assert weights.tolist()[:2] == [0, 0]
        assert weights[2] < 0 < weights[3]
    assert shrunk(np.array([0.05, -0.3], np.float32), 0.1).tolist() == pytest.approx([0, -0.2])


@pytest.mark.parametrize("killed_after", [1, 2])
def test_a_training_that_was_killed_goes_on_as_if_it_were_not(
    killed_after: int, tmp_path: Path
) -> None:
    learned = Lessons.of_records(random_records("othello", 30, 12))
    held_out = Lessons.of_records(random_records("othello", 6, 13))
    settings = TrainingSettings(passes=3, steps=2, batches=2)
    whole = learn_comparison(learned, held_out, settings=settings)
    state = tmp_path / "state"
    first = Training(learned, held_out, settings=settings)
    for _ in range(killed_after):
        first.run_pass()
        first.save(state)
    again = learn_comparison(learned, held_out, settings=settings, state=state)
    assert again.passes == whole.passes
    assert again.evaluation().model_file().to_bytes() == whole.evaluation().model_file().to_bytes()
    longer = learn_comparison(
        learned, held_out, settings=dataclasses.replace(settings, passes=4), state=state
    )
    assert longer.passes[:3] == whole.passes
    other = dataclasses.replace(settings, rate=1.0)
    with pytest.raises(hk.errors.SourceError, match="another training"):
        learn_comparison(learned, held_out, settings=other, state=state)
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(hk.errors.SourceError, match="or none"):
        learn_comparison(learned, held_out, settings=settings, state=state)


def test_it_ends_where_games_held_out_gain_no_more() -> None:
    learned = Lessons.of_records(random_records("othello", 4, 14))
    held_out = Lessons.of_records(random_records("othello", 30, 15))
    settings = TrainingSettings(passes=30, patience=2, rate=40.0, damping=0.0)
    training = learn_comparison(learned, held_out, settings=settings)
    assert len(training.passes) == training.best_pass + 3 < 30
    judged = [each.held_out for each in training.passes if each.held_out is not None]
    losses = [each.moves + each.outcomes for each in judged]
    assert min(losses) == losses[training.best_pass - 1]


def test_objectives_weigh_positions_by_their_categories() -> None:
    categories = Categories(
        np.array([0, 7, -1], np.int8), np.array([0, 2, -1], np.int8), np.array([1, 4, -1], np.int8)
    )
    factors = np.ones((4, CATEGORY_COUNT))
    factors[0, 0] = 2.0  # slope in the first eighth
    factors[3, 10] = 3.0  # outcome after two changes
    factors[3, 14] = 5.0  # outcome where the move is never the best
    found = Parameterized(tuple(map(tuple, factors.tolist()))).weights(3, categories)
    expected = np.tile(np.array(CONSTANTS), (3, 1))
    expected[0, 0] *= 2
    expected[1, 3] *= 15
    assert found == pytest.approx(expected, rel=1e-6)
    with pytest.raises(hk.errors.NotationError, match="categories"):
        Parameterized().weights(3, None)


def test_objectives_are_read_as_they_were_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(16)
    learned = Parameterized.from_vector(rng.normal(1, 0.3, 4 * CATEGORY_COUNT + 1))
    for objective in (Comparison(), Combination(outcome=4.0), learned):
        file = tmp_path / "objective.json"
        objective_model_file(objective).save(file)
        assert objective_from(file) == objective
    assert np.allclose(Parameterized.from_vector(learned.vector()).vector(), learned.vector())
    with pytest.raises(hk.errors.NotationError, match="did you mean combination"):
        objective_from("combinaton")
    file.write_text('{"objective": {"kind": "comparison", "slope": "steep"}}')
    with pytest.raises(hk.errors.SourceError, match="can't be read"):
        objective_from(file)


@pytest.mark.parametrize("game", ["chess", "othello"])
def test_categories_are_those_of_positions_one_by_one(game: str) -> None:
    table = GameTable.from_records(random_records(game, 2, 17, plies=20))
    found = categories_of(table, threads=2)
    spec = SearchSpec.from_text("ab:eval=built-in").for_game(game)
    for row, (position, code) in enumerate(
        zip(table.positions(), table.played.tolist(), strict=True)
    ):
        length = 20
        assert found.progress[row] == min(8 * table.plies[row] // length, 7)
        if code < 0:
            assert found.best_move_changes[row] == found.correct_depth[row] == -1
            continue
        move = next(each for each in position.legal_moves if each.code == code)
        one = measure_difficulty([position], [move], spec=spec)
        assert found.best_move_changes[row] == one.best_move_changes[0]
        assert found.correct_depth[row] == one.correct_depth[0]


def test_evaluations_are_read_as_they_were_written(tmp_path: Path) -> None:
    weights = random_weights("othello", "patterns", 18)
    made = SparseEvaluation(feature_set("othello"), weights, 321.0)
    file = tmp_path / "one.eval"
    made.save(file)
    again = static_evaluation("othello", file)
    assert isinstance(again, SparseEvaluation)
    assert np.array_equal(again.weights, weights)
    assert (again.scale, again.unit) == (321.0, "hundredths of a disc")
    positions = [hk.Othello(), hk.Othello().play("d3")]
    by_file = Searcher(f"ab:depth=2,eval={file}", "othello").search(positions[1])
    by_value = Searcher(ab(depth=2, evaluation=made), "othello").search(positions[1])
    assert (by_file.score, by_file.pv) == (by_value.score, by_value.pv)
    with pytest.raises(hk.errors.SourceError, match="for othello, not for shogi"):
        Searcher(f"ab:eval={file}", "shogi")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-4], "there are not"),
        (lambda content: content.replace(b"patterns", b"patter_s"), "no set of features"),
        (lambda content: content.replace(b'"weights": 1', b'"weights": 2'), "weights over"),
        (lambda content: content.replace(b"600.0", b"-60.0"), "positive number"),
        (lambda content: b"[]" + content, "can't be read|no evaluation"),
        (lambda content: b"", "no evaluation"),
    ],
)
def test_a_file_that_holds_no_evaluation_is_refused(change, message, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    whole = SparseEvaluation.starting("othello").model_file()
    broken = ModelFile.of("evaluation", change(whole.content), game="othello")
    with pytest.raises(hk.errors.SourceError, match=message):
        Searcher(ab(eval=broken), "othello")


def test_a_training_from_a_study_takes_its_categories(tmp_path: Path) -> None:
    from hyoka.records.samples import sample_path  # noqa: PLC0415

    records = list(itertools.islice(read_records(sample_path("othello")), 30))
    study = hk.Study.create(tmp_path / "study", [sample_path("othello")])
    whole = Lessons.of_study(study)
    assert whole.categories is None
    assert whole.moves == len(whole)
    learned = Lessons.of_study(study, hold_out=0.3, positions=200, where="ply >= 10")
    apart = Lessons.of_study(study, hold_out=0.3, held_out=True)
    assert len(learned) == 200
    assert learned.games.plies.min() >= 10
    assert not set(learned.games.ids) & set(apart.games.ids)
    assert len(records) == 30
