# SPDX-License-Identifier: Apache-2.0
"""The report of a study from the command line, and in a browser."""

import json
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.records.samples import sample_path
from hyoka.study.evaluating import evaluate

from .browser import Opening, check_page
from .commands import hyoka_here as hyoka

MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of our own chess games with two evaluators: the players, and the static one."""
    path = tmp_path_factory.mktemp("report")
    study = hk.Study.create(path / "study", sample_path("chess"))
    evaluate(study, ["comments"])
    evaluate(study, ["ab:nodes=1,hash=0"], sample=10)
    hk.Study.create(path / "silent", sample_path("othello"))
    return path


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    result = hyoka("report", "study", "--resamples", "50", "--slices", "1", cwd=folder)
    assert result.returncode == 0, result.stderr
    covered, *findings, place = result.stdout.splitlines()
    assert "decided games" in covered
    assert findings
    assert all(line.startswith("- ") for line in findings)
    assert place == f"report: {Path('study') / 'report.html'}"
    return folder / "study" / "report.html"


def test_the_page_is_well_made_and_small(page: Path, open_page: Opening) -> None:
    assert page.stat().st_size < MOST_BYTES
    check_page(page, open_page)


def test_a_click_on_a_bin_shows_its_boards(page: Path, open_page: Opening) -> None:
    opened = open_page(page)
    explorer = opened.page.locator(".explorer").first
    explorer.locator("svg").first.scroll_into_view_if_needed()
    shown = explorer.locator(".picked strong")
    before = shown.inner_text()
    points = explorer.locator(".mark-symbol.role-mark path").all()
    assert len(points) > 5
    boxes = [box for point in points if (box := point.bounding_box())]
    rightmost = max(boxes, key=lambda box: box["x"])
    opened.page.mouse.click(
        rightmost["x"] + rightmost["width"] / 2, rightmost["y"] + rightmost["height"] / 2
    )
    opened.page.wait_for_function(
        "before => document.querySelector('.explorer .picked strong').innerText !== before",
        arg=before,
    )
    boards = explorer.locator(".picked figure")
    assert 1 <= boards.count() <= 4
    for words in boards.locator("figcaption").all_inner_texts():
        assert ", ply " in words
        assert words.endswith(("White won.", "Black won."))


def test_findings_come_first_and_methods_last(page: Path, open_page: Opening) -> None:
    opened = open_page(page, scripts=False)
    headings = opened.page.locator("h2").all_inner_texts()
    assert (headings[0], headings[-1]) == ("Findings", "Methods and caveats")


def test_json_figures_and_another_place(folder: Path) -> None:
    result = hyoka(
        *("report", "study", "-o", "mine.html", "--evaluator", "ab:nodes=1,hash=0", "--json"),
        *("--resamples", "0", "--slices", "0", "--where", "ply >= 10", "--figures", "figures"),
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["file"] == "mine.html"
    assert [each["name"] for each in answer["evaluators"]] == ["Alpha-beta, 1 node"]
    assert answer["where"] == "ply >= 10"
    assert len(answer["figures"]) == len(list((folder / "figures").iterdir())) > 0
    assert (folder / "mine.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["silent"], "no evaluations yet; run: hyoka study evaluate"),
        (["study", "--evaluator", "comment"], "did you mean comments?"),
        (["study", "--where", "plyy > 3"], "did you mean ply?"),
        (["study", "--where", "ply > 3000"], "ply > 3000"),
        (["study", "-o", "nowhere/report.html"], "nowhere: no such folder"),
    ],
)
def test_bad_requests_get_one_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    result = hyoka("report", *arguments, "--resamples", "0", "--slices", "0", cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
