# SPDX-License-Identifier: Apache-2.0
import functools
import json
import re
from pathlib import Path

import pytest

from hyoka.records.samples import sample_path
from hyoka.study import Study
from hyoka.study.evaluating import evaluate
from hyoka.workflows.demo import run_demo

from .commands import hyoka_here as hyoka

COMMANDS = {
    "summary": {"metrics", "curves"},
    "curves": {"curves"},
    "metrics": {"metrics"},
    "slices": {"slices"},
    "compare": {"comparisons"},
    "disagreements": {"disagreement"},
    "calibrate": {"calibration"},
    "reliability": {"reliability"},
}
"""Those that need nothing but a study, and what their answers have."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analyze") / "study"
    made = Study.create(path, records=sample_path("chess"))
    evaluate(made, ["comments"])
    evaluate(made, ["ab:nodes=1,hash=0"], sample=10)
    return path


def test_disagreements_of_one_evaluator_are_with_the_results(study: Path) -> None:
    words = ("-e", "comments", "--resamples", "50", "--top", "2")
    printed = hyoka("analyze", "disagreements", str(study), *words)
    assert printed.returncode == 0, printed.stderr
    assert "preferred side scored" in printed.stdout
    assert printed.stdout.count("result ") == 2
    answer = json.loads(hyoka("analyze", "disagreements", str(study), *words, "--json").stdout)
    [certainty] = answer["certainty"]
    for row in certainty["rows"]:
        assert (row["value"] > 0.5) != (row["result"] > 0.5)


def test_analyze_summarizes_each_evaluator(study: Path) -> None:
    result = hyoka("analyze", "summary", str(study), "--resamples", "50")
    assert result.returncode == 0, result.stderr
    assert "comments" in result.stdout
    assert "Alpha-beta, 1 node" in result.stdout
    assert "ROC" in result.stdout
    assert "design effect" in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_analysis_answers_the_same_question(study: Path, command: str) -> None:
    question = ("--where", "ply >= 10", "--draws", "half", "--axis", "score", "--resamples", "20")
    result = hyoka("analyze", command, str(study), *question, "--seed", "3", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert set(found) == COMMANDS[command]
    assert all(each["rows"] for answers in found.values() for each in answers)
    assert len(found.get("slices", "12")) == 2  # of each evaluator


@pytest.mark.parametrize(
    "command", ["summary", "curves", "metrics", "gaps", "calibrate", "reliability", "wdl"]
)
def test_positions_are_parted_by_a_column(study: Path, command: str) -> None:
    result = hyoka(
        *("analyze", command, str(study), "-e", "comments"),
        *("--by", "ply", "--bins", "20,40", "--resamples", "20"),
    )
    assert result.returncode == 0, result.stderr
    assert "20 ≤ ply < 40" in result.stdout


def test_the_commands_have_options_of_their_own(study: Path) -> None:
    found = hyoka(
        "analyze", "curves", str(study), "-e", "comments", "--wdl", "--resamples", "0", "--json"
    )
    assert {row["condition"] for row in json.loads(found.stdout)["curves"][0]["rows"]} == {
        "win",
        "draw",
        "loss",
    }
    found = hyoka(
        "analyze", "calibrate", str(study), "-e", "comments", "--wdl", "--clip", "1000", "--json"
    )
    rows = json.loads(found.stdout)["calibration"][0]["rows"]
    assert [(row["of"], row["limit"]) for row in rows] == [("win", 1000), ("loss", 1000)]
    found = hyoka(
        "analyze", "wdl", str(study), "-e", "comments", "--along", "phase", "--at", "40",
        "--degree", "1", "--between", "0,95", "--most", "900", "--resamples", "20", "--json",
    )  # fmt: skip
    [row] = json.loads(found.stdout)["models"][0]["rows"]
    assert (row["reference"], row["most"], row["verdict"]) == (40, 900, "fits")
    assert row["half_low"] < row["half"] < row["half_high"]
    found = hyoka("analyze", "wdl", str(study), "-e", "comments", "--between", "early,late")
    assert found.returncode == 2
    assert "no range" in found.stderr
    found = hyoka("analyze", "metrics", str(study), "-e", "comments", "--threshold", "50", "--json")
    [metrics] = json.loads(found.stdout)["metrics"]
    assert {row["threshold"] for row in metrics["rows"]} == {50}
    roc = next(row for row in metrics["rows"] if row["metric"] == "roc")
    assert roc["low"] < roc["value"] < roc["high"]
    found = hyoka(
        "analyze", "slices", str(study), "-e", "comments", "--columns", "ply, ply % 2", "--json"
    )
    conditions = [row["condition"] for row in json.loads(found.stdout)["slices"][0]["rows"]]
    assert all("ply" in condition for condition in conditions)


def test_results_are_saved_as_their_files_end(study: Path, tmp_path: Path) -> None:
    result = hyoka(
        "analyze", "curves", str(study), "-e", "comments", "--by", "phase", "--resamples", "0",
        "-o", str(tmp_path / "c.csv"), "-o", str(tmp_path / "c.png"),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "early" in (tmp_path / "c.csv").read_text(encoding="utf-8")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    result = hyoka(
        "analyze", "slices", str(study), "--columns", "ply", "-o", str(tmp_path / "s.csv")
    )
    assert result.returncode == 0, result.stderr
    assert sorted(file.name for file in tmp_path.glob("s*")) == ["s-slices-1.csv", "s-slices-2.csv"]


def test_a_page_of_slices_has_their_boards(study: Path, tmp_path: Path) -> None:
    page, table = tmp_path / "slices.html", tmp_path / "slices.csv"
    result = hyoka(
        *("analyze", "slices", str(study), "-e", "comments", "--columns", "ply,material"),
        *("--where", "ply >= 4", "-o", str(page), "-o", str(table)),
    )
    assert result.returncode == 0, result.stderr
    assert re.search(r"candidates? tested on 14[56] held-out games", result.stdout)
    slices = table.read_text(encoding="utf-8").splitlines()[1:]
    html = page.read_text(encoding="utf-8")
    assert slices
    assert len(slices) < html.count("<figure") <= 1 + 3 * len(slices) + 1
    assert "Biased slices of comments" in html
    assert "comments says" in html


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("summary", ("--where", "plyy > 3"), "did you mean ply"),
        ("summary", ("-e", "nobody"), "no evaluator 'nobody'"),
        ("summary", ("--by", "ply", "--bins", "a,b"), "list of numbers"),
        ("summary", ("--draws", "maybe"), "drop"),
        ("summary", ("--axis", "z"), "value"),
        ("summary", ("--clip", "-3"), "--clip is a positive score or none"),
        ("metrics", ("--threshold", "high"), "best"),
        ("compare", ("-e", "comments"), "give two evaluators with --evaluator, not only comments"),
        ("metrics", ("--balance", "time"), "ply"),
        ("metrics", ("--output", "x.docx", "--resamples", "0"), "must end in"),
        ("curves", ("-e", "comments", "--delta", "0", "--resamples", "0"), "--delta is above 0"),
        # What the library says of its parameters is about options here.
        (
            "metrics",
            ("--bins", "20"),
            "--bins needs a column: add --by (see 'hyoka analyze metrics --help')",
        ),
        (
            "summary",
            ("--by", "phase", "--bins", "20"),
            "--bins does not apply to phases; use --by ply",
        ),
        (
            "metrics",
            ("--balance", "ply"),
            "--balance weights slices; it needs --by",
        ),
        (
            "gaps",
            ("--by", "phase", "--balance", "ply"),
            "--balance cannot balance the phases that --by separates",
        ),
        ("compare", ("--balance", "ply"), "no such option"),
        (
            "slices",
            ("--max-conditions", "9"),
            "Invalid value for '--max-conditions': must be less than or equal to 5",
        ),
        (
            "curves",
            ("--delta", "5", "--per-bin", "3"),
            "cannot be combined with --error or --per-bin",
        ),
        ("gaps", (), "--by is required: a column or a condition that defines slices"),
        (
            "gaps",
            ("--by", "black", "--largest", "2", "--bins", "1"),
            "cannot be combined with --bins",
        ),
        (
            "slices",
            ("--columns", "margin"),
            "--columns cannot use margin, which depends on the result",
        ),
        (
            "summary",
            ("--where", "result = 0.5"),
            "all games are drawn, and --draws half counts them",
        ),
        ("compare", ("--by", "ply"), "no such option"),
        ("slices", ("--bend", "5"), "no such option"),
    ],
)
def test_wrong_options_get_one_clear_line(
    study: Path, command: str, arguments: tuple[str, ...], words: str
) -> None:
    result = hyoka("analyze", command, str(study), *arguments)
    assert result.returncode == 2, result.stdout
    assert words in result.stderr
    assert "`" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", [*COMMANDS, "gaps"])
def test_help_teaches_by_an_example(command: str) -> None:
    text = hyoka("analyze", command, "--help").stdout
    assert f"For example: hyoka analyze {command} study" in text
    for option in ("--evaluator", "--where", "--draws", "--axis", "--resamples", "--seed"):
        assert option in text


def test_a_folder_without_a_study_gets_advice(tmp_path: Path) -> None:
    result = hyoka("analyze", "summary", str(tmp_path))
    assert result.returncode == 2
    assert "hyoka study create" in result.stderr


def test_samples_are_copied_out_and_are_records(tmp_path: Path) -> None:
    result = hyoka("records", "samples", "--output", "games", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    files = json.loads(result.stdout)
    assert len(files) >= 3
    described = hyoka("records", "info", "games", cwd=tmp_path)
    assert described.returncode == 0, described.stderr


def test_the_demo_does_the_main_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With quicker evaluators than its own, which take a minute."""
    quick = ("ab:nodes=1,hash=0", "mc:playouts=10", "uct:playouts=10", "uct:playouts=40")
    run = functools.partial(run_demo, evaluators=quick)
    monkeypatch.setattr("hyoka.apps.cli.workflow_commands.run_demo", run)
    monkeypatch.setattr("hyoka.apps.cli.workflow_commands.UCT_STRONG", quick[-1])
    result = hyoka("demo", "--sample", "1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "hyoka-demo/report.html" in result.stdout
    for limit in ("1 node", "10 playouts", "40 playouts"):
        assert limit in result.stdout
    page = (tmp_path / "hyoka-demo" / "report.html").read_text(encoding="utf-8")
    assert "Findings" in page
