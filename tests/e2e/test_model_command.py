# SPDX-License-Identifier: Apache-2.0
"""What was learned tells how, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.study.evaluating import evaluate

from .commands import hyoka_here as hyoka


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study, and what was learned from it by a command."""
    path = tmp_path_factory.mktemp("models")
    plan = hk.plan_match("uct:playouts=30", "uct:playouts=10", game="othello", seed=3)
    hk.play_match(plan, path / "match", games=40, jobs=2)
    study = hk.Study.create(path / "study", path / "match")
    evaluate(study, ["ab:depth=1,hash=0"], sample=20)
    for words in (
        (
            "weights",
            "--term",
            "corners",
            "--as",
            "one",
            "--seed",
            "4",
            "--save-start",
            "start.json",
        ),
        ("offsets", "--evaluator", "ab:depth=1,hash=0", "--column", "ply / 60"),
    ):
        file = "weights.json" if "--term" in words else "formula.json"
        learned = hyoka("learn", words[0], "study", *words[1:], "-o", file, cwd=path)
        assert learned.returncode == 0, learned.stderr
    return path


def shown(*arguments: str, cwd: Path) -> Any:
    result = hyoka("model", "show", *arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_learned_weights_say_how_they_were_made(folder: Path) -> None:
    found, start = (shown(name, cwd=folder) for name in ("weights.json", "start.json"))
    assert (found["kind"], found["game"], found["version"]) == ("weights", "othello", 1)
    made_by = found["made_by"]
    assert made_by["command"] == (
        "hyoka learn weights study --term corners --as one --seed 4 --save-start start.json "
        "-o weights.json"
    )
    assert made_by["seed"] == 4
    assert 0 < made_by["counts"]["games"] < 40
    assert made_by["counts"]["positions"] > made_by["counts"]["games"]
    assert (made_by["choices"]["study"], made_by["choices"]["method"]) == ("study", "mlm")
    assert made_by["parents"] == {"weights": start["sha256"]}
    assert made_by["versions"]["hyoka"] == hk.__version__
    assert start["made_by"]["command"] == made_by["command"]


def test_people_read_the_same(folder: Path) -> None:
    result = hyoka("model", "show", "weights.json", cwd=folder)
    assert result.returncode == 0, result.stderr
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    facts = {line[0]: line[1].strip() for line in lines if len(line) == 2}
    assert facts["kind"] == "weights: the weights of an evaluation's terms"
    assert facts["game"] == "othello"
    assert facts["SHA-256"] == shown("weights.json", cwd=folder)["sha256"]
    assert "hyoka learn weights study --term corners" in result.stdout
    assert "seed" in facts


def test_a_formula_for_an_evaluators_scores_is_one_too(folder: Path) -> None:
    found = shown("formula.json", cwd=folder)
    assert (found["kind"], found["game"]) == ("formula", "othello")
    assert found["made_by"]["choices"]["scores"] == "the scores of ab:depth=1,hash=0"
    result = hyoka(
        "match", "run", "ab:eval=formula.json", "random", "--game", "othello", cwd=folder
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "hyoka: formula.json: it holds formula, not weights\n"


def test_without_a_name_all_that_is_built_in_is_listed(folder: Path) -> None:
    result = hyoka("model", "show", cwd=folder)
    assert result.returncode == 0, result.stderr
    for name in ("built-in:weights:chess", "built-in:strengths:go9", "built-in:profile"):
        assert name in result.stdout
        [listed] = [each for each in shown(cwd=folder) if each["file"] == name]
        assert listed == shown(name, cwd=folder)
        assert listed["sha256"][:12] in result.stdout


def test_files_without_a_header_are_described_as_far_as_possible(folder: Path) -> None:
    for content, kind, game in [
        ('{"weights": {"pawn": 1}, "game": "chess"}', "weights", "chess"),
        ('{"strengths": {}}', "strengths", None),
        ('{"pawn": 1}', None, None),
        ("1. e4 e5 1-0\n", None, None),
    ]:
        (folder / "plain").write_text(content)
        found = shown("plain", cwd=folder)
        assert (found["kind"], found["game"]) == (kind, game)
        assert (found["version"], found["made_by"]) == (None, None)
        result = hyoka("model", "show", "plain", cwd=folder)
        assert result.stdout.count("unknown") == 1 + (kind is None) + (game is None)


def test_what_is_wrong_is_one_line_and_a_status(folder: Path) -> None:
    text = (folder / "weights.json").read_text()
    (folder / "edited.json").write_text(text.replace('"scale": ', '"scale": 1'))
    (folder / "cut.json").write_text(text[:-30])
    for name, message in [
        ("edited.json", "edited.json: damaged or edited"),
        ("cut.json", "cut.json: no JSON"),
        ("none.json", "none.json: No such file"),
        (".", "Is a directory"),
        ("built-in:weigths:chess", "did you mean built-in:weights:chess?"),
    ]:
        result = hyoka("model", "show", name, cwd=folder)
        assert (result.returncode, result.stdout) == (2, "")
        assert message in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_calibration_is_learned_used_and_exported(folder: Path) -> None:
    evaluator = "ab:depth=1,hash=0"
    words = ("study", "-e", evaluator, "--resamples", "30", "-o", "calibration.json")
    printed = hyoka("learn", "calibration", *words, cwd=folder)
    assert printed.returncode == 0, printed.stderr
    assert "held-out games" in printed.stdout
    assert "--calibrated-by calibration.json" in printed.stdout
    again = hyoka("learn", "calibration", *words, "--json", cwd=folder)
    answer = json.loads(again.stdout)
    assert answer["games"] + answer["held_out_games"] == 40
    assert {row["measure"] for row in answer["tests"]} == {
        "log_loss",
        "brier_loss",
        "calibration_error",
    }
    for row in answer["tests"]:
        assert row["change"] == pytest.approx(row["after"] - row["before"])
        assert row["low"] <= row["change"] <= row["high"]
    model = shown("calibration.json", cwd=folder)
    assert (model["kind"], model["game"]) == ("calibration", "othello")
    assert model["made_by"]["learned_games"]["count"] == answer["games"]
    evaluated = hyoka(
        *("study", "evaluate", "study", "--with", evaluator, "--sample", "2"),
        *("--calibrated-by", "calibration.json"),
        cwd=folder,
    )
    assert evaluated.returncode == 0, evaluated.stderr
    assert "calibrated" in evaluated.stdout
    assert f"{answer['games']} that calibration.json learned from" in evaluated.stderr
    files = ("curve.svg", "code.c", "code.py", "constants.json", "table.csv")
    options = [word for file in files for word in ("-o", file)]
    printed = hyoka("model", "show", "calibration.json", *options, cwd=folder)
    assert printed.returncode == 0, printed.stderr
    assert "expected score" in printed.stdout.lower()
    assert all((folder / file).stat().st_size > 100 for file in files)
    names: dict[str, Any] = {}
    exec((folder / "code.py").read_text("utf-8"), names)
    rows = model["rows"]
    assert rows
    for row in rows:
        more = () if row["move"] is None else (row["move"],)
        assert names["expected_score"](row["input"], *more) == pytest.approx(row["expected"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("model", "show", "weights.json", "-o", "x.c"), "-o exports calibration models"),
        (("model", "show", "-o", "x.c"), "name the calibration model"),
        (("model", "show", "weights.json", "-o", "x.rs"), "must end in one of"),
        (("learn", "calibration", "study", "-e", "nobody"), "no evaluator 'nobody'"),
        (
            ("learn", "calibration", "study", "-e", "ab:depth=1,hash=0", "--map", "beta"),
            "--map beta is for values",
        ),
        (
            ("study", "evaluate", "study", "--calibrated-by", "weights.json"),
            "it holds weights, not calibration",
        ),
    ],
)
def test_bad_calibrations_are_errors(words: tuple[str, ...], message: str, folder: Path) -> None:
    result = hyoka(*words, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
