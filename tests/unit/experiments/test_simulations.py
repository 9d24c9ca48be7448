# SPDX-License-Identifier: Apache-2.0
"""The simulations behind the docs' claims: each of them runs, and the docs name none else."""

import re
from pathlib import Path

import pytest

import simulations

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("claim", simulations.CLAIMS)
def test_each_claim_can_be_simulated(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulations, "MANY", 400)
    simulate, usual = simulations.CLAIMS[claim]
    rows = list(simulate(1, 1))
    assert usual > 1
    assert rows
    assert all("%" in row.found and row.runs == 1 for row in rows)


def test_the_docs_name_simulations_that_there_are() -> None:
    pages = [
        *ROOT.glob("docs/**/*.md"),
        ROOT / "src/hyoka/reporting/caveats.md",
        ROOT / "src/hyoka/arena/elo.py",
    ]
    named = {
        claim
        for page in pages
        for claim in re.findall(
            r"scripts/simulations\.py\s+(\w+)", page.read_text(encoding="utf-8")
        )
    }
    assert named == set(simulations.CLAIMS)
