# SPDX-License-Identifier: Apache-2.0
"""The experiments on METS, on games that take no time."""

import dataclasses
import lzma
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from experiments import ExperimentContext, RecordsFolder, experiment_named
from experiments.yoshii_1998 import EXTENDED, PLAIN
from experiments.yoshii_1998_player import PlayerExperiment
from hyoka.arena import Score


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ExperimentContext:
    """Games of professionals who play anywhere on the third and fourth lines."""
    folder = tmp_path_factory.mktemp("yoshii")
    (folder / "data" / "go19").mkdir(parents=True)
    chance = np.random.default_rng(1)
    points = np.array([19 * row + column for row in (2, 3, 15, 16) for column in range(19)])
    records = [
        hk.Record("go19", chance.permutation(points)[:40].astype(np.uint16), komi=6.5)
        for _ in range(60)
    ]
    hk.write_records(records, folder / "games.sgf")
    text = (folder / "games.sgf").read_bytes()
    (folder / "data" / "go19" / "pro_aeb.sgf.xz").write_bytes(lzma.compress(text))
    return ExperimentContext(folder / "work", RecordsFolder(folder / "data"))


def test_table_1_has_ours_beside_theirs(context: ExperimentContext) -> None:
    outcome = experiment_named("001-table1").run(context, "tiny")
    rows = outcome.tables[0].rows
    assert [row[3] for row in rows[1::2]] == [558_785, 70_705, 7_022]
    leaves = [int(str(row[3])) for row in rows[::2]]
    assert leaves == sorted(leaves, reverse=True)
    assert [each.answer for each in outcome.verdicts] != []


def test_figure_4_compares_trees_on_the_same_moves(context: ExperimentContext) -> None:
    outcome = experiment_named("001-fig4").run(context, "tiny")
    assert [row[0] for row in outcome.tables[0].rows] == [each.name for each in (*PLAIN, *EXTENDED)]
    assert all(Path(figure).stat().st_size > 1000 for figure in outcome.figures)
    assert len(outcome.verdicts) == 3 + len(EXTENDED)


def test_mets_plays_and_is_judged_by_stage(context: ExperimentContext) -> None:
    experiment = experiment_named("001-player")
    assert isinstance(experiment, PlayerExperiment)
    experiment = dataclasses.replace(experiment, opponents={"random moves": "random"})
    outcome = experiment.run(context, "tiny")
    stages, matches = outcome.tables
    assert [row[0] for row in stages.rows] == ["0 to 49"]  # the games have 40 moves
    assert all(isinstance(row[2], Score) and row[2].games == 2 for row in matches.rows)
