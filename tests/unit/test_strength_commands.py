# SPDX-License-Identifier: Apache-2.0
"""Commands about move models: what they print as JSON, and what wrong input gets."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyoka.cli import command_line
from hyoka.samples import sample_path


def run(*words: str) -> tuple[int, str, BaseException | None]:
    """The exit code of a command, what it printed, and what it raised."""
    found = CliRunner().invoke(command_line(list(words)), list(words))
    return found.exit_code, found.output, found.exception


def test_strengths_are_learned_and_judged(tmp_path: Path) -> None:
    file = str(tmp_path / "othello.json")
    records = str(sample_path("othello"))
    code, output, _ = run(
        "learn", "strengths", records, "-o", file, "--positions", "2000", "--json"
    )
    assert code == 0
    found = json.loads(output)
    assert found["converged"]
    assert found["log_loss"] < found["random_log_loss"]
    assert found["held_out"][0]["games"] > 10
    assert Path(file).exists()


def test_features_are_listed_with_their_meaning() -> None:
    code, output, _ = run("features", "othello", "--json")
    assert code == 0
    listed = {each["feature"]: each for each in json.loads(output)}
    assert listed["corner"]["meaning"] == "takes a corner"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("learn", "strengths", "RECORDS", "--shapes", "9"), "othello has no shapes of stones"),
        (("learn", "combined", "RECORDS", "-m", "one.json"), "give two models or more"),
        (("learn", "combined", "RECORDS", "-m", "no.json", "-m", "no.json"), "No such file"),
        (("features", "checkers"), "no game 'checkers'"),
        (("predict", "RECORDS", "-m", "no.json"), "No such file"),
    ],
)
def test_wrong_input_gets_a_sentence(words: tuple[str, ...], message: str) -> None:
    records = str(sample_path("othello"))
    code, _, raised = run(*(records if word == "RECORDS" else word for word in words))
    assert code != 0
    assert message in str(raised)
    assert not isinstance(raised, TypeError | KeyError | IndexError)
