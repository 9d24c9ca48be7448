# SPDX-License-Identifier: Apache-2.0
"""The papers' checklists and the pages of results name what exists, and are of this code."""

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import recompute_verdicts
from experiments import EXPERIMENTS
from experiments.checklists import CHECKLISTS, Checklist, Item
from experiments.checklists.checklist import RunTime, claim_rows, item_rows, not_run
from experiments.results_page import Made, ResultsPage, is_current, read_results_page

TOP = Path(__file__).parents[3]
NUMBER = re.compile(r"\d+-\d+-\d+|[\d,.]*\d")
PAGES = sorted((TOP / "docs" / "results").glob("*.md"))
CURRENT = {
    page.experiment
    for page in map(read_results_page, (page.read_text() for page in PAGES))
    if page is not None and is_current(page, EXPERIMENTS[page.experiment])
}
NOT_RUN = set(EXPERIMENTS) - CURRENT
"""Experiments without a page of their present definition."""
ids = pytest.mark.parametrize("checklist", CHECKLISTS, ids=lambda each: each.number)


@pytest.fixture(scope="module")
def results() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results", TOP / "scripts" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@ids
def test_every_experiment_of_a_checklist_exists(checklist: Checklist) -> None:
    listed = {item.experiment for item in checklist.items if item.experiment}
    there = {name for name in EXPERIMENTS if name.startswith(f"{checklist.number}-")}
    assert listed == there


@ids
def test_every_file_of_a_checklist_exists(checklist: Checklist) -> None:
    for item in checklist.items:
        assert all((TOP / file).is_file() for file in item.code), item.what
        assert item.code or item.remark, f"{item.what}: neither here nor explained"


@ids
def test_the_pages_of_checklists_are_as_the_script_writes_them(
    checklist: Checklist, results: ModuleType
) -> None:
    name = checklist.name.lower().replace(" ", "-")
    written = (TOP / "docs" / f"{name}.md").read_text()
    assert written == results.checklist_page(checklist, results.pages())


@ids
def test_claims_are_reasoned_and_quote_current_pages(checklist: Checklist) -> None:
    """Each number of a claim is on the page that it is quoted from; an outdated page shows nothing.

    A claim is "not run yet" only until its experiment has a current page.
    """
    for item in checklist.items:
        for claim in item.claims:
            if claim.status == "not run yet":
                assert item.experiment in NOT_RUN, f"{claim.text}: state what the page shows"
                assert not claim.figures, claim.text
                continue
            assert claim.figures or claim.status == "cannot be asked here", claim.text
            assert bool(claim.cause) == (claim.status != "confirmed"), claim.text
            if claim.status == "contradicted":
                assert claim.shown_by, claim.text
                assert claim.cause_figures, claim.text
            for experiment, figures in (
                (item.experiment, claim.figures),
                (claim.shown_by, claim.cause_figures),
            ):
                if figures:
                    assert experiment not in NOT_RUN, f"{claim.text}: outdated {experiment}"
                    page = (TOP / "docs" / "results" / f"{experiment}.md").read_text()
                    missing = set(NUMBER.findall(figures)) - set(NUMBER.findall(page))
                    assert not missing, f"{claim.text}: not on the page of {experiment}: {missing}"


@ids
def test_what_has_not_run_has_a_command_and_a_time(checklist: Checklist) -> None:
    for item in checklist.items:
        if item.experiment in NOT_RUN:
            assert item.run_time is not None, item.experiment
            assert item.run_time.scale in EXPERIMENTS[item.experiment].scales
            assert item.run_time.time


def test_every_page_is_of_an_experiment() -> None:
    assert {page.stem for page in PAGES} <= set(EXPERIMENTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_its_experiment_and_pictures(page: Path) -> None:
    """A page of another definition has other figures: checklists then say so (`NOT_RUN`)."""
    results_page = read_results_page(page.read_text())
    assert results_page is not None
    assert results_page.experiment == page.stem
    assert results_page.scale in EXPERIMENTS[results_page.experiment].scales
    assert not results_page.made.commit.endswith("+"), "made by code that nobody can find again"
    pictures = sorted(picture.name for picture in page.parent.glob(f"{page.stem}.*.svg"))
    assert pictures == sorted(re.findall(r"\]\(([^)]+\.svg)\)", page.read_text()))


def test_checklists_say_what_has_not_run() -> None:
    item = Item("table", (), "000-x", run_time=RunTime("small", "2 hours"), claims=(not_run("a"),))
    checklist = Checklist("000", "Name 2000", (item,))
    command = "`hyoka experiment run 000-x --scale small` (about 2 hours of one core)"
    assert item_rows(checklist, {})[0][3] == f"not run yet: {command}"
    made = Made("", "", "", "")
    pages = {"000-x": ResultsPage("000-x", "small", made, Counter({"yes": 1}))}
    assert item_rows(checklist, pages)[0][3] == "[1 yes](results/000-x.md), small"
    outdated = item_rows(checklist, pages, {"000-x"})[0][3]
    assert "of an earlier definition" in outdated
    assert command in outdated
    assert claim_rows(checklist)[0][2:4] == ("**not run yet**", command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_verdicts_that_the_rule_gives(page: Path) -> None:
    """Otherwise: scripts/recompute_verdicts.py."""
    text = page.read_text()
    new = recompute_verdicts.recomputed(page.stem, text)
    assert recompute_verdicts.answers(new) == recompute_verdicts.answers(text)


def test_verdicts_from_few_games_are_taken_back() -> None:
    text = (TOP / "docs" / "results" / "004-table6.md").read_text()
    claim = "MCTS behind αβ"
    old = re.sub(rf"\| {claim} \|.*", f"| {claim} | yes | +0.4 | points a game |", text)
    assert old != text
    new = recompute_verdicts.recomputed("004-table6", old)
    assert (claim, "not shown") in recompute_verdicts.answers(new)
    assert f"{claim} | not shown | +0.400 (+0.026 to +0.495) | points a game; fewer than 20" in new
    assert recompute_verdicts.recomputed("004-table6", new) == new


def test_scores_of_games_without_pairs_are_recomputed_exactly() -> None:
    page = """| | | theirs +−= | points | ours +−= | points | p |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| 1 s | A first | 89-11-0 | 0.890 | 5-15-0 | 0.250 ±0.179 | 0.041 |

## Verdicts

| as in the paper? |  | found |  |
| --- | --- | --- | --- |
| 1 s, A first, A ahead of B | not shown | +9.0 | p = 0.041 |
"""
    new = recompute_verdicts.recomputed("003-table1", page)
    assert "| reversed | -0.250 (-0.404 to -0.006) | p = 0.041 |" in new


def test_scores_are_found_by_the_names_of_several_searches() -> None:
    """Searches have numbers, and a table has a row for each opponent."""
    page = """| player |  | theirs | ours +−= | points |
| --- | --- | ---: | ---: | ---: |
| proposed 1 | v comparison | 0.613 | 260-120-20 | 0.675 ±0.048 |
| proposed 1 | v start |  | 190-190-20 | 0.500 ±0.048 |
| proposed 2 | v comparison | 0.613 | 120-260-20 | 0.325 ±0.048 |
| othello: the best c | v the paper's c |  | 260-120-20 | 0.675 ±0.048 |

## Verdicts

| as in the paper? |  | found |  |
| --- | --- | --- | --- |
| proposed 1 beats comparison | not shown | +9.0 | points a game |
| proposed 1 beats start | yes | +9.0 | points a game |
| proposed 2 beats comparison | not shown | +9.0 | points a game |
| proposed 1 does better than proposed 2 | not shown | +9.0 | points a game |
| othello: the best c beats the paper's c | not shown | +9.0 | points a game |
"""
    for name in ("002-table2", "002-constants"):
        new = recompute_verdicts.answers(recompute_verdicts.recomputed(name, page))
        assert dict(new[2:]) == {  # after the headings
            "proposed 1 beats comparison": "yes",
            "proposed 1 beats start": "not shown",
            "proposed 2 beats comparison": "reversed",
            "proposed 1 does better than proposed 2": "yes",
            "othello: the best c beats the paper's c": "yes",
        }
