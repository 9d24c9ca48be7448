# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments, ours beside theirs."""

from experiments.experiments import EXPERIMENTS, experiment_named
from experiments.outcome import LEGEND, Outcome, OutcomeTable, Verdict, cell_text, right_aligned
from experiments.workshop import Experiment, RecordsFolder, Workshop

__all__ = [
    "EXPERIMENTS",
    "LEGEND",
    "Experiment",
    "Outcome",
    "OutcomeTable",
    "RecordsFolder",
    "Verdict",
    "Workshop",
    "cell_text",
    "experiment_named",
    "right_aligned",
]
