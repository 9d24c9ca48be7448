# SPDX-License-Identifier: Apache-2.0
"""Reproductions of the papers' experiments, with comparisons to their results."""

from experiments.context import Experiment, ExperimentContext, RecordsFolder
from experiments.experiments import EXPERIMENTS, experiment_named
from experiments.outcome import LEGEND, Outcome, OutcomeTable, Verdict, cell_text, right_aligned

__all__ = [
    "EXPERIMENTS",
    "LEGEND",
    "Experiment",
    "ExperimentContext",
    "Outcome",
    "OutcomeTable",
    "RecordsFolder",
    "Verdict",
    "cell_text",
    "experiment_named",
    "right_aligned",
]
