# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn scores`, as people run it."""

import json
from pathlib import Path

from hyoka.records.samples import sample_path

from .commands import hyoka_here


def test_an_evaluation_is_fitted_to_a_search_and_plays(tmp_path: Path) -> None:
    study, file = str(tmp_path / "study"), str(tmp_path / "fitted.eval")
    for words in (
        ("study", "create", study, str(sample_path("chess")), "-q"),
        ("study", "evaluate", study, "--with", "ab:depth=2", "--sample", "3", "-q"),
    ):
        done = hyoka_here(*words)
        assert done.returncode == 0, done.stderr
    said = hyoka_here("learn", "scores", study, "-o", file, "--steps", "10", "-q")
    assert said.returncode == 0, said.stderr
    assert "weights over places" in said.stdout
    assert "held-out" in said.stdout
    shown = json.loads(hyoka_here("model", "show", file, "--json").stdout)
    assert (shown["kind"], shown["game"]) == ("evaluation", "chess")
    assert shown["made_by"]["command"].startswith("hyoka learn scores")
    again = hyoka_here(
        *("learn", "scores", study, "--evaluator", "ab:depth=2", "--where", "ply >= 10"),
        *("-o", str(tmp_path / "again.eval"), "--from", file, "--steps", "5", "--json"),
    )
    found = json.loads(again.stdout)
    assert found["features"] == "places"
    assert found["loss"] > found["least_loss"]
    match = hyoka_here(
        *("match", "run", f"a=ab:nodes=20,eval={file}", "b=random", "--game", "chess"),
        *("--games", "2", "-q", "--output", str(tmp_path / "match"), "-j", "1"),
    )
    assert match.returncode == 0, match.stderr


def test_invalid_input_is_refused(tmp_path: Path) -> None:
    study = str(tmp_path / "study")
    assert hyoka_here("study", "create", study, str(sample_path("chess")), "-q").returncode == 0
    result = hyoka_here("learn", "scores", study, "-o", str(tmp_path / "x.eval"), "-q")
    assert result.returncode != 0
    assert "no evaluations yet; run: hyoka study evaluate" in result.stderr.replace("\n", " ")
