# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments, ours beside theirs."""

from hyoka.reproduction.experiments import EXPERIMENTS, Experiment, experiment_named
from hyoka.reproduction.matches import MatchExperiment, MatchRow, TheirScore

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "MatchExperiment",
    "MatchRow",
    "TheirScore",
    "experiment_named",
]
