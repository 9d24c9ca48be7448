# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn comparison` and `hyoka learn objective`, as people run them."""

import json
from pathlib import Path

import pytest

from hyoka.records.samples import sample_path

from .commands import hyoka_here

QUICK = ("--positions", "400", "--passes", "1", "--steps", "1", "--batches", "1", "-q")
RECORDS = str(sample_path("othello"))


def learned(folder: Path, *more: str) -> str:
    file = folder / "learned.eval"
    result = hyoka_here("learn", "comparison", RECORDS, "-o", str(file), *QUICK, *more)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_an_evaluation_is_learned_and_plays(tmp_path: Path) -> None:
    said = learned(tmp_path)
    assert "held-out" in said
    file = tmp_path / "learned.eval"
    assert f"test it: hyoka match run new=ab:eval={file}" in said.replace("\n", "")
    assert not (tmp_path / "learned.eval.state").exists()
    shown = json.loads(hyoka_here("model", "show", str(file), "--json").stdout)
    assert (shown["kind"], shown["game"]) == ("evaluation", "othello")
    assert shown["made_by"]["choices"]["features"] == "patterns"
    assert shown["made_by"]["command"].startswith("hyoka learn comparison")
    match = hyoka_here(
        *("match", "run", f"a=ab:nodes=20,eval={file}", "b=random", "--game", "othello"),
        *("--games", "2", "-q", "--output", str(tmp_path / "match"), "-j", "1"),
    )
    assert match.returncode == 0, match.stderr


def test_it_says_the_same_as_json(tmp_path: Path) -> None:
    found = json.loads(learned(tmp_path, "--json"))
    assert (found["features"], len(found["passes"]), found["best_pass"]) == ("patterns", 1, 1)
    assert 0 < found["passes"][0]["held_out"]["first"] < 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--features", "pattern"), "did you mean patterns?"),
        (("--objective", "combinaton"), "did you mean combination?"),
        (("--where", "ply > 3"), "--where needs a study: make one with `hyoka study create`"),
        (("--descent", "steepest"), "'adaptive', 'plain'"),
        (("--from", "nowhere.eval"), "No such file"),
        (("-o", "nowhere/x.eval"), "nowhere"),
    ],
)
def test_invalid_input_is_refused(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = hyoka_here("learn", "comparison", RECORDS, *QUICK, *words)
    assert result.returncode != 0
    assert message in result.stderr.replace("\n", " ")


def test_a_game_without_sets_of_features_is_refused(tmp_path: Path) -> None:
    result = hyoka_here("learn", "comparison", str(sample_path("go9")), *QUICK)
    assert result.returncode != 0
    assert "no sets of features" in result.stderr


def test_an_objective_is_evolved_and_trains(tmp_path: Path) -> None:
    words = (
        *("--positions", "200", "--population", "3", "--steps", "1", "--games", "4"),
        *("--nodes", "10", "--passes", "1", "--training-steps", "1", "--batches", "1"),
        *("--verify", "2", "-j", "1", "--output", str(tmp_path / "objective")),
    )
    first = hyoka_here("learn", "objective", RECORDS, *words, "--json")
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)
    assert (found["steps"], len(found["verified"])) == (1, 4)
    assert Path(found["page"]).exists()
    # The same command again has nothing left to do, and says the same.
    assert json.loads(hyoka_here("learn", "objective", RECORDS, *words, "--json").stdout) == found
    learned(tmp_path, "--objective", found["file"])
