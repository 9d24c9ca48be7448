# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn tune` and `hyoka model terms` as people call them."""

import json
from pathlib import Path

import numpy as np
import pytest

from hyoka.records.samples import sample_path
from hyoka.search import linear_evaluation
from hyoka.study import Study

from .commands import hyoka_here as hyoka


@pytest.fixture
def features(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    lines = ["game_id,result,phase,pawn,mobility,pair"]
    for game in range(300):
        for ply in range(3):
            pawn, mobility, pair = rng.integers(-2, 3), rng.integers(-9, 10), rng.integers(-1, 2)
            chance = 1 / (1 + np.exp(-(0.8 * pawn + 0.08 * mobility + 0.3 * pair)))
            result = 0.5 if rng.random() < 0.1 else int(rng.random() < chance)
            lines.append(f"{game},{result},{24 - 12 * ply},{pawn},{mobility},{pair}")
    file = tmp_path / "features.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_table_is_enough(features: Path) -> None:
    found = hyoka(
        "learn", "tune", "features.csv", "--phase", "phase,24,0", "--unit",
        "pawn=100", "--untapered", "pawn", "--bound", "mobility=0,", "--draws", "half", "-o",
        "weights.h", "-q", cwd=features.parent,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "mobility (ending)" in found.stdout
    assert "log loss" in found.stdout
    assert "TUNED_MOBILITY" in (features.parent / "weights.h").read_text()


def test_weights_go_round(features: Path) -> None:
    folder = features.parent
    words = ["learn", "tune", "features.csv", "--feature", "pa*", "--feature"]
    words += ["mobility", "--draws", "half", "--json"]
    found = hyoka(
        *words,
        "--score-scale",
        "100",
        "-o",
        "first.csv",
        "--method",
        "mlm",
        "--method",
        "ls",
        cwd=folder,
    )
    assert found.returncode == 0, found.stderr
    first, squares = json.loads(found.stdout)
    assert (first["method"], squares["method"]) == ("mlm", "ls")
    assert [each["name"] for each in first["weights"]] == ["pawn", "mobility", "pair"]
    assert (folder / "first-ls.csv").exists()
    found = hyoka(*words, "--from", "first-mlm.csv", "--freeze", "pawn", cwd=folder)
    [again] = json.loads(found.stdout)
    assert again["scale"] == pytest.approx(100, rel=1e-4)
    assert [each["weight"] for each in again["weights"]] == pytest.approx(
        [each["weight"] for each in first["weights"][1:]], rel=1e-3
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--phase", "phase,24"], "no phase such as"),
        (["--bound", "pawn"], "NAME="),
        (["--bound", "pawn=a,b"], "is no finite number"),
        (["--unit", "pawn"], "NAME="),
        (["--freeze", "queen"], "no feature fits 'queen'"),
        (["--term", "pawn"], "no such option"),
        (["--toward", "value"], "needs what another evaluator says"),
        (["-o", "weights.txt"], "must end in one of"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(features: Path, options: list[str], why: str) -> None:
    found = hyoka("learn", "tune", "features.csv", *options, cwd=features.parent)
    assert found.returncode != 0
    assert why in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr


def test_a_study_has_the_results(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study", records=sample_path("othello"))
    rows = study.sql("select game_id, ply, corners, mobility from positions where ply < 50")
    lines = [",".join(rows.column_names)]
    lines += [",".join(map(str, row.values())) for row in rows.to_pylist()]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    found = hyoka("learn", "tune", "own.csv", "--study", "study", "-o", "w.json", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    played = hyoka(
        "model", "terms", "othello", "corners", "--from", "w.json", "--json", cwd=tmp_path
    )
    [corners] = json.loads(played.stdout)
    assert corners["opening"] > 0


def test_terms_are_listed_with_their_meaning(tmp_path: Path) -> None:
    found = hyoka("model", "terms", "chess", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "pawn_on_*" in found.stdout
    assert "bishops on both colors" in " ".join(found.stdout.split())
    every = json.loads(hyoka("model", "terms", "shogi", "--json", cwd=tmp_path).stdout)
    assert [each["term"] for each in every] == list(linear_evaluation("shogi").names)
    assert all(each["meaning"] for each in every)
    assert hyoka("model", "terms", "chess", "dragon*", cwd=tmp_path).returncode != 0
