# SPDX-License-Identifier: Apache-2.0
"""The papers' checklists and the pages of results name what exists, and are of this code."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import recompute_verdicts
from experiments import EXPERIMENTS
from experiments.checklists import CHECKLISTS, Checklist
from experiments.results_page import definition, read_results_page

TOP = Path(__file__).parents[3]
NUMBER = re.compile(r"\d+-\d+-\d+|[\d,.]*\d")
PAGES = sorted((TOP / "docs" / "results").glob("*.md"))
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
def test_claims_are_reasoned_and_quote_the_pages(checklist: Checklist) -> None:
    """Each number of a claim is on the page that it is quoted from."""
    for item in checklist.items:
        for claim in item.claims:
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
                    page = (TOP / "docs" / "results" / f"{experiment}.md").read_text()
                    missing = set(NUMBER.findall(figures)) - set(NUMBER.findall(page))
                    assert not missing, f"{claim.text}: not on the page of {experiment}: {missing}"


def test_every_experiment_has_a_page() -> None:
    assert {page.stem for page in PAGES} == set(EXPERIMENTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_of_the_current_definition(page: Path) -> None:
    """Another definition makes other figures: run the experiment again (scripts/results.py)."""
    results_page = read_results_page(page.read_text())
    assert results_page is not None
    assert results_page.experiment == page.stem
    assert results_page.scale in EXPERIMENTS[results_page.experiment].scales
    assert results_page.made.definition == definition(
        EXPERIMENTS[results_page.experiment], results_page.scale
    )
    assert not results_page.made.commit.endswith("+"), "made by code that nobody can find again"
    pictures = sorted(picture.name for picture in page.parent.glob(f"{page.stem}.*.svg"))
    assert pictures == sorted(re.findall(r"\]\(([^)]+\.svg)\)", page.read_text()))


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
