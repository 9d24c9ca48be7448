# SPDX-License-Identifier: Apache-2.0
"""Find slices where an evaluation is biased, fit it, and verify the gain in a match."""

from hyoka.workflows.improve.improve_loop import improve
from hyoka.workflows.improve.improve_plan import ImprovePlan
from hyoka.workflows.improve.improvement import (
    BiasedSlice,
    Candidate,
    Improvement,
    SelectedTerm,
    Verification,
)

__all__ = [
    "BiasedSlice",
    "Candidate",
    "ImprovePlan",
    "Improvement",
    "SelectedTerm",
    "Verification",
    "improve",
]
