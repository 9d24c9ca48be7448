# SPDX-License-Identifier: Apache-2.0
"""Commands about move models: what they print as JSON, and what wrong input gets."""

import json
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.records.samples import sample_path
from hyoka.storage.model_file import read_model_file

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


def test_a_model_is_judged_by_all_games_that_it_did_not_learn_from(tmp_path: Path) -> None:
    games = list(hk.read_records(OTHELLO))[:60]
    hk.write_records(games[:40], tmp_path / "learned.sgf")
    hk.write_records(games, tmp_path / "all.sgf")
    words = ("learn", "strengths", "learned.sgf", "--rank", "2", "-o", "m.bin", "--json")
    result = hyoka_here(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    learned = json.loads(result.stdout)["games"]
    assert 30 <= learned < 40
    result = hyoka_here("model", "predict", "all.sgf", "-m", "m.bin", "-q", cwd=tmp_path)
    assert result.stdout.splitlines()[0] == (
        f"judged by {60 - learned} of 60 games, without {learned} that m.bin learned from"
    )
    found = json.loads(
        hyoka_here("model", "predict", "all.sgf", "-m", "m.bin", "--json", cwd=tmp_path).stdout
    )
    assert found[0]["moves"][0]["games"] == found[0]["judged_games"] == 60 - learned
    assert found[0]["left_out_games"] == learned
    result = hyoka_here("model", "predict", "all.sgf", "-m", "m.bin", "--all", "-q", cwd=tmp_path)
    assert result.stdout.startswith("judged by all 60 games, among them")
    asked = (
        "position",
        "playouts",
        "othello",
        "all.sgf",
        "--strengths",
        "m.bin",
        "--count",
        "10",
        "-q",
    )
    result = hyoka_here(*asked, cwd=tmp_path)
    assert f"{learned} that m.bin learned from" in result.stdout.splitlines()[0]
    shown = hyoka_here("model", "show", "m.bin", cwd=tmp_path).stdout
    assert f"{learned} games, listed by their ids" in shown


def test_a_combined_model_lists_the_games_of_its_parts(tmp_path: Path) -> None:
    games = list(hk.read_records(OTHELLO))[:90]
    hk.write_records(games[:30], tmp_path / "first.sgf")
    hk.write_records(games[30:60], tmp_path / "second.sgf")
    hk.write_records(games, tmp_path / "all.sgf")
    counts = []
    for name in ("first", "second"):
        words = ("learn", "mets", f"{name}.sgf", "-o", f"{name}.bin", "--json")
        counts.append(json.loads(hyoka_here(*words, cwd=tmp_path).stdout)["games"])
    models = ("-m", "first.bin", "-m", "second.bin")
    result = hyoka_here("learn", "combine", "all.sgf", *models, "-o", "c.bin", "-q", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"learned from and judged by {90 - sum(counts)} of 90 games")
    origin = read_model_file(tmp_path / "c.bin").origin
    assert origin is not None
    assert origin.learned_games is not None
    own = origin.counts["games"]
    assert 10 < own < 90 - sum(counts)
    assert len(origin.learned_games) == sum(counts) + own
    result = hyoka_here("model", "predict", "all.sgf", "-m", "c.bin", "-q", cwd=tmp_path)
    assert result.stdout.startswith(f"judged by {90 - sum(counts) - own} of 90 games")


def test_features_are_listed_with_their_meaning() -> None:
    result = hyoka_here("model", "features", "othello", "--json")
    listed = {each["feature"]: each for each in json.loads(result.stdout)}
    assert listed["corner"]["meaning"] == "takes a corner"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("learn", "strengths", OTHELLO, "--shapes", "9"), "othello has no shapes of stones"),
        (("learn", "combine", OTHELLO, "-m", "one.json"), "give two models or more"),
        (("learn", "combine", OTHELLO, "-m", "no.json", "-m", "no.json"), "No such file"),
        (("model", "features", "checkers"), "no game 'checkers'"),
        (("model", "predict", OTHELLO, "-m", "no.json"), "No such file"),
    ],
)
def test_wrong_input_gets_a_sentence(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = hyoka_here(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("hyoka")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
