# SPDX-License-Identifier: Apache-2.0
"""From a split to a proven gain, on an evaluation that was made to lack something."""

import dataclasses
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import optimize
from scipy.sparse import csr_array

import hyoka as hk
from hyoka.arena import Sprt
from hyoka.foundation.errors import Error, StudyError
from hyoka.foundation.math import Estimate
from hyoka.learning.proximal_fit import Steepness, TermLeaves, fit_proximal
from hyoka.records.samples import sample_path
from hyoka.search import linear_evaluation
from hyoka.study.evaluating import evaluate
from hyoka.workflows.improve import Improvement, fit_and_verify
from hyoka.workflows.improve.find_slices import find_biased_slices, gather_evidence, select_terms
from hyoka.workflows.improve.fit_and_verify import share_risk
from hyoka.workflows.improve.improve_page import improvement_page
from hyoka.workflows.improve.improvement import (
    BiasedSlice,
    ImprovePlan,
    SliceFindings,
    load_or_compute,
)

FORGOTTEN = ("mobility", "corner_mobility", "frontier", "potential_mobility")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder = tmp_path_factory.mktemp("improving")
    return hk.Study.create(folder / "othello", records=sample_path("othello"))


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation that has forgotten what moves are worth."""
    file = tmp_path_factory.mktemp("weak") / "weak.json"
    file.write_text(json.dumps({"game": "othello", "weights": dict.fromkeys(FORGOTTEN, 0)}))
    return file


def improved(study: hk.Study, weak: Path, to: Path, games: int) -> Improvement:
    test = Sprt(0, 100)
    plan = ImprovePlan(evaluator=f"ab:nodes=50,eval={weak}", games=games, sample=8, sprt=test)
    return hk.improve(study, plan, to=to)


@pytest.fixture(scope="module")
def short(study: hk.Study, weak: Path, tmp_path_factory: pytest.TempPathFactory) -> Improvement:
    """Of a pair of games a match."""
    return improved(study, weak, tmp_path_factory.mktemp("short"), 2)


def test_what_was_forgotten_is_found_named_and_gained_back(
    study: hk.Study, weak: Path, tmp_path: Path
) -> None:
    story = improved(study, weak, tmp_path / "all", 160)
    assert story.findings.slices[0].is_confirmed
    assert len(set(story.named.names) & set(FORGOTTEN)) >= 2
    named = story.candidates[0]
    assert named.name == fit_and_verify.NAMED
    assert named.is_better_on_paper
    worst = named.slices[0]
    assert abs(worst.after.value) < abs(worst.before.value)
    assert story.verdict == "gain"
    assert story.gain is not None
    assert story.gain.elo.low > 0
    assert story.weights is not None
    new = linear_evaluation("othello", story.weights)
    old = linear_evaluation("othello", weak)
    changed = {name for name in new.names if new[name] != old[name]}
    assert changed == set(story.named.names)
    assert "4 have no weight" in story.start
    page = story.page.read_text()
    assert "no gain over the bundled one" in page
    assert "Where it is wrong" in page
    assert "accepted" in page
    assert story.gain.elo.text("+.0f") in page
    assert json.loads(json.dumps(story.as_json()))["verdict"] == "gain"


def test_it_goes_on_where_it_stopped(
    study: hk.Study, weak: Path, short: Improvement, tmp_path: Path
) -> None:
    whole = improved(study, weak, tmp_path / "whole", 6)
    parts = tmp_path / "parts"
    shutil.copytree(short.folder, parts)
    # What a step left is not made again, and what is lost of it is.
    before = (parts / "fit-named.json").stat().st_mtime_ns
    (parts / "terms.json").unlink()
    again = improved(study, weak, parts, 6)
    assert (parts / "fit-named.json").stat().st_mtime_ns == before
    assert dataclasses.replace(again, folder=whole.folder) == whole
    assert (parts / "weights-named.json").read_bytes() == (
        tmp_path / "whole" / "weights-named.json"
    ).read_bytes()


def test_another_plan_is_refused(study: hk.Study, weak: Path, short: Improvement) -> None:
    with pytest.raises(StudyError, match="another improvement"):
        hk.improve(study, ImprovePlan(evaluator=f"ab:nodes=51,eval={weak}"), to=short.folder)


def test_that_nothing_was_found_is_said(study: hk.Study, tmp_path: Path) -> None:
    story = hk.improve(study, ImprovePlan(games=2, sample=2), to=tmp_path / "none")
    assert story.verdict == "nothing found"
    assert story.outcome.startswith("Nothing was found")
    assert story.weights is None
    assert not story.proofs
    assert not story.start
    assert "Nothing was found" in story.page.read_text()


def test_the_error_of_an_evaluator_without_weights_names_what_it_lacks(
    study: hk.Study, weak: Path, tmp_path: Path
) -> None:
    """What was forgotten is missed as well by a search whose weights are not ours to fit."""
    asked = f"uct:playouts=4,cutoff=0,eval={weak}"
    story = hk.improve(study, ImprovePlan(evaluator=asked, games=2, sample=8), to=tmp_path / "uct")
    assert story.verdict == "not played"
    assert story.candidates[0].name == fit_and_verify.COLUMNS
    assert story.candidates[0].is_better_on_paper
    assert not story.proofs
    assert story.weights is None


@pytest.fixture(scope="module")
def random_study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    """Openings by chance, with results by chance: nothing on the board says who wins."""
    rng = np.random.default_rng(3)
    games = []
    for _ in range(300):
        at = hk.Othello()
        moves: list[str] = []
        for _ in range(12):
            move = at.legal_moves[rng.integers(len(at.legal_moves))]
            moves.append(f";{'BW'[len(moves) % 2]}[{move}]")
            at = at.play(move)
        games.append(f"(;GM[2]SZ[8]RE[{'BW'[rng.integers(2)]}+4]{''.join(moves)})\n")
    folder = tmp_path_factory.mktemp("random")
    (folder / "games.sgf").write_text("".join(games))
    return hk.Study.create(folder / "study", records=folder / "games.sgf")


def spoken(study: hk.Study, file: Path, kind: str) -> str:
    """A table that says scores, wrong where there is an omen; some of them are mates."""
    rng = np.random.default_rng(1)
    rows = study.sql("select game_id, ply, result from positions order by game_id, ply")
    omen = rng.random(len(rows)) < 0.4
    keys = {"game_id": rows["game_id"], "ply": rows["ply"]}
    study.add_column("omen", pa.table(keys | {"omen": omen}))
    honest = 12 * (2 * rows["result"].to_numpy() - 1) + rng.normal(0, 12, len(rows))
    said = np.where(omen, honest + 12 if kind == "level" else honest * 4, honest)
    mates = [3 if score > 20 else None for score in honest]
    pq.write_table(pa.table(keys | {"score": said, "mate": pa.array(mates, pa.int32())}), file)
    return f"table:{file}"


@pytest.mark.parametrize("kind", ["level", "lean"])
def test_what_a_table_lacks_is_fitted_where_it_says_no_mate(
    random_study: hk.Study, tmp_path: Path, kind: str
) -> None:
    asked = spoken(random_study, tmp_path / f"{kind}.parquet", kind)
    before = evaluate(random_study, [asked])[0].done
    story = hk.improve(random_study, ImprovePlan(evaluator=asked, sample=2), to=tmp_path / "story")
    assert {(each.kind, "omen" in each.sql) for each in story.findings.slices} == {(kind, True)}
    # None of what the table says is lost, and mates have a curve but no score to add to.
    assert story.findings.fitted_positions + story.findings.held_out_positions == before
    (fit,) = story.candidates
    assert 0 < fit.positions < story.findings.fitted_positions
    assert fit.is_better_on_paper
    for each in fit.slices:
        assert abs(each.after.value) < abs(each.before.value) / 2
    if kind == "lean":  # a quarter of them is right
        (weight,) = fit.weights
        steeper = "not" not in story.findings.slices[0].sql
        assert weight.name.endswith("(times the score)")
        assert (weight.weight.high < 0) if steeper else (weight.weight.low > 0)
    assert story.verdict == "not played"
    assert story.outcome.startswith("No match")
    terms = (tmp_path / "story" / "terms.json").read_text()
    assert "NaN" not in terms
    json.dumps(story.as_json(), allow_nan=False)
    again = hk.improve(random_study, ImprovePlan(evaluator=asked, sample=2), to=tmp_path / "story")
    assert again == story
    methods = story.page.read_text()
    assert "About 20% of the games are held out" in methods
    assert "all of the table" in methods


def test_conditions_that_can_not_be_fitted_do_not_keep_others_from_it(
    random_study: hk.Study, tmp_path: Path
) -> None:
    """Where a condition holds at no position with a score, nothing can be added to it."""
    asked = spoken(random_study, tmp_path / "level.parquet", "level")
    plan = ImprovePlan(evaluator=asked)
    evidence = gather_evidence(random_study, plan, None)
    found = find_biased_slices(evidence, plan.seed, None)
    never = dataclasses.replace(found.slices[0], sql="ply > 99", words="never")
    found = dataclasses.replace(found, slices=(never, *found.slices))
    fitter = fit_and_verify.WeightFitter(
        evidence, found, select_terms(evidence, found), plan, tmp_path
    )
    fitted = fitter.fit(fit_and_verify.COLUMNS)
    assert fitted.free == len(found.slices) - 1
    assert f"where {fitted.free} of {len(found.slices)} conditions hold" in fitted.about


def test_comments_of_one_player_are_an_evaluator(tmp_path: Path) -> None:
    study = hk.Study.create(tmp_path / "chess", records=sample_path("chess"))
    story = hk.improve(
        study, ImprovePlan(evaluator="comments:player=ab-2000", sample=4), to=tmp_path / "one"
    )
    assert story.findings.fitted_positions > 100
    assert len(study.engines) == 1
    assert study.engines[0].startswith("comments-ab_2000")
    with pytest.raises(Error, match=r"several evaluators.*comments:player=NAME"):
        hk.improve(study, ImprovePlan(evaluator="comments:by=player"), to=tmp_path / "several")
    with pytest.raises(Error, match=r"nowhere\.csv"):
        hk.improve(study, ImprovePlan(evaluator="table:nowhere.csv"), to=tmp_path / "nowhere")


def test_the_page_tells_the_plan(study: hk.Study, short: Improvement, weak: Path) -> None:
    plan = ImprovePlan(
        evaluator=f"ab:nodes=50,eval={weak}", sample=8, freedom=0.05, seed=7, hold_out=0.25
    )
    methods = " ".join(improvement_page(study, short, plan).methods)
    assert "moves the score by 5% of its scale" in methods
    assert (
        "About 25% of the games are held out, chosen only by their numbers and the seed (7)"
        in methods
    )
    assert "Positions: 8 of each game, chosen by the same seed. Drawn games" in methods


def test_a_bad_plan_is_one_line(study: hk.Study, tmp_path: Path) -> None:
    for bad in ({"sample": 0}, {"hold_out": 1.0}, {"freedom": 0.0}, {"games": 0}):
        with pytest.raises(Error):
            ImprovePlan(**bad)
    with pytest.raises(Error):
        hk.improve(study, ImprovePlan(evaluator="nobody:x"), to=tmp_path / "bad")


def test_the_risk_is_shared() -> None:
    test = share_risk(Sprt(0, 10), 2)
    assert (test.alpha, test.beta) == (0.025, 0.05)
    assert test.upper == pytest.approx(math.log(0.95 / 0.025))


def test_steps_are_stored_and_damage_is_named(tmp_path: Path) -> None:
    nan = Estimate(0.1, math.nan, math.inf)
    split = BiasedSlice("w", "x > 1", "lean", "s", nan, 0.01, 9, 3, Estimate(-1.0, -2.0, -0.5), 0.2)
    found = SliceFindings((split,), 7, 5, 50, 2, 20)
    file = tmp_path / "slices.json"
    assert load_or_compute(file, SliceFindings, lambda: found) == found
    read = load_or_compute(file, SliceFindings, lambda: pytest.fail("it is there"))
    assert repr(read) == repr(found)
    file.write_text("{")
    with pytest.raises(StudyError, match="remove it"):
        load_or_compute(file, SliceFindings, lambda: found)


def planted(games: int = 400, a_game: int = 6) -> TermLeaves:
    """Leaves whose results follow weights that lie beside the evaluation's."""
    rng = np.random.default_rng(5)
    evaluation = linear_evaluation("othello")
    numbers = np.repeat(np.arange(games), a_game)
    amounts = np.round(rng.normal(0, 2, (len(numbers), len(evaluation))))
    progress = rng.random(len(numbers))
    truth = evaluation.with_weights({"mobility": (6.0, 9.0)})
    leaves = TermLeaves(
        evaluation, csr_array(amounts), progress, numbers, np.zeros(len(numbers), np.int32),
        np.zeros(len(numbers)),
    )  # fmt: skip
    chances = 1 / (1 + np.exp(-leaves.scores(truth) / 20))
    won = (rng.random(len(numbers)) < chances).astype(np.float64)
    return dataclasses.replace(leaves, results=won)


def test_a_near_fit_is_the_maximum_of_likelihood_times_prior() -> None:
    """A slow twin in plain NumPy, by another optimizer."""
    leaves = planted()
    fit = fit_proximal(leaves, ["mobility", "corners"], freedom=0.1)
    start = leaves.evaluation
    names = ["mobility", "corners"]
    columns = [start.names.index(name) for name in names]
    dense = leaves.matrix.toarray()[:, columns]
    late = leaves.progress[:, None]
    steep = fit.before.at(leaves.progress)
    design = steep[:, None] * np.hstack([dense * (1 - late), dense * late])
    former = np.array([start[name][phase] for phase in (0, 1) for name in names])
    typical = np.array([np.sqrt(np.mean(each[each != 0] ** 2)) for each in dense.T])
    spread = 0.3 * np.abs(former) + np.tile(0.1 * start.scale / typical, 2)

    def minus_log(moved: np.ndarray) -> float:
        logits = steep * leaves.scores() + design @ moved
        loss = np.logaddexp(0, logits) - leaves.results * logits
        return float(fit.worth * loss.sum() + ((moved / spread) ** 2).sum() / 2)

    found = optimize.minimize(minus_log, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    fitted = {each.name: each.weight for each in fit.weights}
    expected = dict(
        zip(
            [f"{n} ({p})" for p in ("opening", "ending") for n in names],
            former + found.x,
            strict=True,
        )
    )
    assert fitted == pytest.approx(expected, abs=2e-3)
    changed = fit.evaluation
    assert changed["mobility"] == pytest.approx(
        (fitted["mobility (opening)"], fitted["mobility (ending)"]), abs=1e-4
    )
    assert changed["disc_diff"] == start["disc_diff"]


def test_freedom_leads_from_where_weights_are_to_what_results_say() -> None:
    leaves = planted()
    truth = 6.0
    held, free = (fit_proximal(leaves, ["mobility"], freedom=f) for f in (1e-6, 10.0))
    former = leaves.evaluation["mobility"][0]
    reach = {each.name: each for each in free.weights}["mobility (opening)"]
    assert reach.low < truth < reach.high
    assert abs(held.evaluation["mobility"][0] - former) < abs(reach.weight - former)
    assert 0 < free.worth <= 1


def test_steepness_is_one_where_two_make_no_sense() -> None:
    leaves = planted()
    turned = np.where(leaves.progress < 0.15, 1 - leaves.results, leaves.results)
    odd = dataclasses.replace(leaves, results=turned)
    found = Steepness.of(odd)
    assert found.opening == found.ending > 0
    with pytest.raises(StudyError, match="worse results"):
        Steepness.of(dataclasses.replace(leaves, results=1 - leaves.results))


def test_held_out_games_have_no_say(
    study: hk.Study, weak: Path, short: Improvement, tmp_path: Path
) -> None:
    """Slices, terms and weights do not depend on the results of held-out games."""
    plan = ImprovePlan(evaluator=f"ab:nodes=50,eval={weak}", sample=8)
    evidence = gather_evidence(study, plan, None)
    assert evidence.leaves is not None
    apart = evidence.held_out
    assert 0.1 < apart.mean() < 0.3
    assert short.findings.held_out_positions == int(apart.sum())
    lies = np.where(apart, 1 - evidence.leaves.results, evidence.leaves.results)
    sample = dataclasses.replace(evidence.sample, results=lies.astype(np.float32))
    lied = dataclasses.replace(
        evidence,
        positions=dataclasses.replace(evidence.positions, samples=(sample,)),
        leaves=dataclasses.replace(evidence.leaves, results=lies),
    )
    found, terms, fitted = [], [], []
    for each in (evidence, lied):
        found.append(find_biased_slices(each, plan.seed, None))
        terms.append(select_terms(each, found[-1]))
        fitter = fit_and_verify.WeightFitter(each, found[-1], terms[-1], plan, tmp_path)
        fitted.append(fitter.fit(fit_and_verify.NAMED))
    true, false = ([(s.sql, s.effect, s.q_value) for s in each.slices] for each in found)
    assert true == false
    assert terms[0] == terms[1]
    assert fitted[0].weights == fitted[1].weights
    # What they do say is whether it holds.
    assert found[0].slices[0].is_confirmed
    assert not found[1].slices[0].is_confirmed
    assert fitted[0].is_better_on_paper
    assert not fitted[1].is_better_on_paper
