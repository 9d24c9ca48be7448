# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007's network: its experiments at their tiniest; they share what is played."""

import dataclasses

import pytest

import hyoka as hk
from experiments import EXPERIMENTS, ExperimentContext
from experiments.nakamura_2007_network import VARIANTS


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ExperimentContext:
    pytest.importorskip("torch", reason="training needs PyTorch: pip install hyoka[learn]")
    return ExperimentContext(tmp_path_factory.mktemp("reproduction"))


def test_table_3_has_a_verdict_for_each_order(context: ExperimentContext) -> None:
    outcome = EXPERIMENTS["003-table3"].run(context, "tiny")
    [table] = outcome.tables
    assert len(table.rows) == len(outcome.verdicts) == 2
    assert all("UCT + NN behind UCT" in each.claim for each in outcome.verdicts)


def test_figure_3_counts_all_test_positions(context: ExperimentContext) -> None:
    outcome = EXPERIMENTS["003-fig3"].run(context, "tiny")
    [table] = outcome.tables
    assert f"{sum(int(str(row[1])) for row in table.rows)} different" in outcome.about
    assert "MSE" in table.headings
    assert len(outcome.verdicts) == 2
    [picture] = outcome.figures
    assert "<svg" in picture.read_text()


def test_figure_4_counts_squares_of_both(context: ExperimentContext) -> None:
    outcome = EXPERIMENTS["003-fig4"].run(context, "tiny")
    [table] = outcome.tables
    _, uct, network, lead = table.rows[-1]
    assert isinstance(uct, hk.Estimate)
    assert isinstance(network, hk.Estimate)
    assert isinstance(lead, hk.Estimate)
    assert lead.value == pytest.approx(uct.value - network.value)
    assert 20 < uct.value < 90
    assert len(outcome.figures) == 1


def test_the_ablation_tries_each_network(context: ExperimentContext) -> None:
    heard: list[str] = []
    watched = dataclasses.replace(context, progress=lambda each: heard.append(each.what))
    outcome = EXPERIMENTS["003-ablation"].run(watched, "tiny")
    [table] = outcome.tables
    names = [str(row[0]) for row in table.rows]
    assert names == [each.name for each in VARIANTS]
    assert {f"{name}: loses to UCT" for name in names} <= {each.claim for each in outcome.verdicts}
    assert "networks" in heard
    heard.clear()
    again = EXPERIMENTS["003-ablation"].run(watched, "tiny")
    assert again == outcome
    assert "networks" not in heard  # they are kept
