# SPDX-License-Identifier: Apache-2.0
"""Weights learned from the command line, as a user meets them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.search import linear_evaluation
from hyoka.study.evaluating import evaluate

from .commands import hyoka_here as hyoka


def learned(*arguments: str, cwd: Path, command: str = "weights") -> list[dict[str, Any]]:
    result = hyoka("learn", command, *arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert isinstance(answer, list)
    return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games that a stronger player and a weaker one played."""
    path = tmp_path_factory.mktemp("learn")
    plan = hk.plan_match("uct:playouts=60", "uct:playouts=15", game="othello", seed=3)
    hk.play_match(plan, path / "match", games=80, jobs=2)
    study = hk.Study.create(path / "study", path / "match")
    evaluate(study, ["ab:depth=1,hash=0"], sample=20)
    return path


def test_weights_are_fitted_saved_and_played_with(folder: Path) -> None:
    result = hyoka(
        *("learn", "weights", "study", "--term", "corner*", "--term", "mobility"),
        *("-o", "weights.json", "--save-start", "start.json", "--curves", "curves.csv"),
        *("--hold-out", "0.5"),  # curves of fewer than twenty games are not saved
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr
    assert "corner_mobility (ending)" in result.stdout
    assert "held-out: " in result.stdout
    assert re.search(r"^ *slice +positions", result.stdout, re.MULTILINE)
    command = "hyoka match run new=ab:eval=weights.json old=ab:eval=start.json --game othello"
    assert command in result.stdout
    assert (folder / "curves.csv").read_text().count("\n") > 2
    assert linear_evaluation("othello", folder / "start.json").fingerprint == (
        linear_evaluation("othello").fingerprint
    )
    played = hyoka(
        *("match", "run", "new=ab:nodes=50,eval=weights.json", "old=ab:nodes=50"),
        *("--game", "othello", "--games", "2", "-q", "--output", "proof"),
        cwd=folder,
    )
    assert played.returncode == 0, played.stderr


def test_json_says_everything_of_each_method(folder: Path) -> None:
    terms = ("--term", "corners", "--as", "one", "--off", "-o", "both.json")
    mlm, ls = learned("study", *terms, "--method", "mlm", "--method", "ls", cwd=folder)
    assert (mlm["method"], ls["method"]) == ("mlm", "ls")
    assert (mlm["file"], ls["file"]) == ("both-mlm.json", "both-ls.json")
    for fit in (mlm, ls):
        evaluation = linear_evaluation("othello", folder / fit["file"])
        [weight] = fit["weights"]
        assert evaluation["corners"] == pytest.approx((weight["weight"],) * 2, abs=1e-4)
        assert evaluation.scale == pytest.approx(fit["scale"])
        assert weight["low"] < weight["weight"] < weight["high"]
        assert fit["games"] + fit["held_out"]["games"] <= 80
        assert {row["metric"] for row in fit["held_out"]["metrics"]} >= {"log_loss", "accuracy"}


def test_the_same_seed_gives_the_same_weights(folder: Path) -> None:
    arguments = ("study", "--term", "corners", "--sample", "10", "--seed", "4")
    once, again = (learned(*arguments, cwd=folder) for _ in range(2))
    assert once == again
    other = learned(*arguments[:-1], "5", cwd=folder)
    assert other[0]["weights"] != once[0]["weights"]


def test_columns_are_added_to_an_evaluators_score(folder: Path) -> None:
    [engine] = hk.Study.open(folder / "study").engines
    columns = ("--column", "corners", "--column", "mobility * empties / 60")
    [fit] = learned(
        "study",
        "--evaluator",
        engine,
        *columns,
        "--where",
        "ply < 55",
        "-o",
        "formula.json",
        cwd=folder,
        command="offsets",
    )
    assert [each["name"] for each in fit["weights"]] == ["corners", "mobility * empties / 60"]
    formula = json.loads((folder / "formula.json").read_text())
    assert formula["columns"]["corners"] == fit["weights"][0]["weight"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--term", "cornrs"], "no term 'cornrs'; did you mean corners?"),
        ([], "no term is named"),
        (["--term", "corners", "--term", "corners", "--as", "two"], "'two' is not one of"),
        (["--term", "corners", "--method", "max"], "no method 'max'; known: mlm, ls"),
        (["--term", "corners", "--where", "plyy > 3"], "did you mean ply?"),
        (["--term", "corners", "--where", "ply > 300"], "no position satisfies the condition"),
        (["--term", "*"], "the rest of the evaluation' is 0 at all positions"),
        (["--column", "corners"], "no such option"),
        (["--term", "corners", "--from", "nowhere.json"], "nowhere.json"),
        (["--term", "corners", "-o", "nowhere/weights.json"], "no such folder"),
        (["--term", "corners", "--hold-out", "0", "--curves", "c.csv"], "set --hold-out above 0"),
        (["--term", "corners", "--where", "game_id = 0", "--hold-out", "0"], "nothing to fit"),
    ],
)
def test_bad_requests_get_one_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    result = hyoka("learn", "weights", "study", *arguments, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_offsets_need_an_evaluator_of_the_study(folder: Path) -> None:
    for arguments, message in (
        (["--column", "corners"], "Missing option '--evaluator'"),
        (["--evaluator", "gnugo", "--column", "corners"], "no evaluator 'gnugo'"),
    ):
        result = hyoka("learn", "offsets", "study", *arguments, cwd=folder)
        assert result.returncode == 2
        assert message in result.stderr


def test_the_bishop_experiment_is_one_command(tmp_path: Path) -> None:
    """Takeuchi 2010, IV-B 1c: bishop evaluation turned off, and one factor for it fitted."""
    plan = hk.plan_match("ab:nodes=150", "ab:nodes=40", game="chess", seed=1)
    hk.play_match(plan, tmp_path / "match", games=40, jobs=2)
    hk.Study.create(tmp_path / "study", tmp_path / "match")
    terms = ("--term", "bishop_mobility", "--term", "bishop_development")
    mlm, ls = learned(
        "study",
        *terms,
        "--off",
        "--as",
        "factor",
        "--method",
        "mlm",
        "--method",
        "ls",
        "--sample",
        "20",
        cwd=tmp_path,
    )
    for fit in (mlm, ls):
        assert fit["quiet"]
        [factor] = fit["weights"]
        assert factor["former"] == 1
        assert factor["error"] > 0
