# SPDX-License-Identifier: Apache-2.0
import functools
import json
from pathlib import Path

import pytest

from hyoka.demo import run_demo
from hyoka.samples import sample_path
from hyoka.study import Study, evaluate

from .commands import hyoka_here as hyoka


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analyse") / "study"
    made = Study.create(path, records=sample_path("chess"))
    evaluate(made, ["comments"])
    evaluate(made, ["ab:nodes=1,hash=0"], sample=10)
    return path


def test_without_options_it_measures_every_evaluator(study: Path) -> None:
    result = hyoka("analyse", str(study), "--resamples", "50")
    assert result.returncode == 0, result.stderr
    assert "comments" in result.stdout
    assert "ab:nodes=1,hash=0" in result.stdout
    assert "ROC" in result.stdout
    assert "design effect" in result.stdout


def test_json_has_every_result_asked_for(study: Path) -> None:
    result = hyoka(
        "analyse", str(study), "--resamples", "20", "--json", "--curves", "--compare",
        "--disagree", "--calibrate", "--splits", "--top", "2",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    wanted = {"metrics", "curves", "comparisons", "disagreement", "calibration", "splits"}
    assert set(found) == wanted
    assert len(found["splits"]) == 2
    metrics = {row["metric"]: row for row in found["metrics"][0]["rows"]}
    assert metrics["roc"]["low"] < metrics["roc"]["value"] < metrics["roc"]["high"]


def test_results_are_saved_as_their_files_end(study: Path, tmp_path: Path) -> None:
    result = hyoka(
        "analyse", str(study), "-e", "comments", "--by", "phase", "--resamples", "0", "--curves",
        "-o", str(tmp_path / "c.csv"), "-o", str(tmp_path / "c.png"),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "early" in (tmp_path / "c.csv").read_text(encoding="utf-8")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--where", "plyy > 3"), "did you mean ply"),
        (("-e", "nobody"), "no evaluator 'nobody'"),
        (("--by", "ply", "--bins", "a,b"), "list of numbers"),
        (("--draws", "maybe"), "discard"),
        (("--axis", "z"), "value"),
        (("--threshold", "high"), "best"),
        (("-e", "comments", "--compare"), "two evaluators"),
        (("--balance", "time"), "ply"),
        (("--save", "x.docx", "--resamples", "0"), "must end in"),
        (("-e", "comments", "--delta", "0", "--resamples", "0"), "positive"),
        (("--bins", "20"), "--bins needs --by"),
        (("--by", "ply", "--compare"), "--by needs"),
        (("--splits", "--delta", "5"), "--delta needs --curves"),
    ],
)
def test_wrong_options_get_one_clear_line(
    study: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = hyoka("analyse", str(study), *arguments)
    assert result.returncode == 2, result.stdout
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_what_is_no_study_is_told_what_to_do(tmp_path: Path) -> None:
    result = hyoka("analyse", str(tmp_path))
    assert result.returncode == 2
    assert "hyoka records" in result.stderr


def test_samples_are_copied_out_and_are_records(tmp_path: Path) -> None:
    result = hyoka("samples", "--to", "games", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    files = json.loads(result.stdout)
    assert len(files) >= 3
    described = hyoka("records", "games", cwd=tmp_path)
    assert described.returncode == 0, described.stderr


def test_the_demo_does_the_main_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With quicker evaluators than its own, which take a minute."""
    quick = ("ab:nodes=1,hash=0", "mc:playouts=10", "uct:playouts=10", "uct:playouts=40")
    run = functools.partial(run_demo, evaluators=quick)
    monkeypatch.setattr("hyoka.cli.demo.run_demo", run)
    monkeypatch.setattr("hyoka.cli.demo.UCT_STRONG", quick[-1])
    result = hyoka("demo", "--positions", "1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "hyoka-demo/report.html" in result.stdout
    for evaluator in quick:
        assert evaluator in result.stdout
    page = (tmp_path / "hyoka-demo" / "report.html").read_text(encoding="utf-8")
    assert "Findings" in page
