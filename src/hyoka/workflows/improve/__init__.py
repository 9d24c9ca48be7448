# SPDX-License-Identifier: Apache-2.0
"""From where an evaluation is wrong to a gain that is proven: the whole way in one call."""

from hyoka.workflows.improve.improve_loop import improve
from hyoka.workflows.improve.improve_plan import ImprovePlan
from hyoka.workflows.improve.improvement import Candidate, FoundSlice, Improvement, NamedTerm, Proof

__all__ = [
    "Candidate",
    "FoundSlice",
    "ImprovePlan",
    "Improvement",
    "NamedTerm",
    "Proof",
    "improve",
]
