# SPDX-License-Identifier: Apache-2.0
"""Commands about move models: what they print as JSON, and what wrong input gets."""

import json
from pathlib import Path

import pytest

from hyoka.samples import sample_path

from .commands import hyoka_here

OTHELLO = str(sample_path("othello"))


def test_strengths_are_learned_and_judged(tmp_path: Path) -> None:
    words = ("learn", "strengths", OTHELLO, "--positions", "2000", "-o", "o.json", "--json")
    result = hyoka_here(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["converged"]
    assert found["log_loss"] < found["random_log_loss"]
    assert found["held_out"][0]["games"] > 10
    assert (tmp_path / "o.json").exists()


def test_features_are_listed_with_their_meaning() -> None:
    result = hyoka_here("features", "othello", "--json")
    listed = {each["feature"]: each for each in json.loads(result.stdout)}
    assert listed["corner"]["meaning"] == "takes a corner"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("learn", "strengths", OTHELLO, "--shapes", "9"), "othello has no shapes of stones"),
        (("learn", "combined", OTHELLO, "-m", "one.json"), "give two models or more"),
        (("learn", "combined", OTHELLO, "-m", "no.json", "-m", "no.json"), "No such file"),
        (("features", "checkers"), "no game 'checkers'"),
        (("predict", OTHELLO, "-m", "no.json"), "No such file"),
    ],
)
def test_wrong_input_gets_a_sentence(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = hyoka_here(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("hyoka")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
