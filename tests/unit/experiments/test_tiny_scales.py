# SPDX-License-Identifier: Apache-2.0
"""Tiny scales of a few experiments, on the records beside the checkout."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import EXPERIMENTS, ExperimentContext, RecordsFolder


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("000-table1-positions", "go9/ogs9_human.sgf.xz"),
        ("000-table4", "chess/twic_human.pgn.xz"),
        ("001-table1", "go19/pro_aeb.sgf.xz"),
        ("003-table1-text", "README.md"),  # reads no records
    ],
)
def test_a_tiny_scale_runs_on_real_records(
    shared_data: Callable[[str], Path], tmp_path: Path, name: str, file: str
) -> None:
    data = shared_data(file)
    for _ in Path(file).parts:
        data = data.parent
    outcome = EXPERIMENTS[name].run(ExperimentContext(tmp_path, RecordsFolder(data)), "tiny")
    assert all(table.rows for table in outcome.tables)
    assert outcome.tables
    assert all(verdict.words for verdict in outcome.verdicts)
