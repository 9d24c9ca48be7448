# SPDX-License-Identifier: Apache-2.0
"""From where an evaluation is wrong to a gain that is proven: the whole way in one call."""

from hyoka.improving.loop import improve
from hyoka.improving.plan import ImprovePlan
from hyoka.improving.story import Candidate, FoundSplit, Improvement, NamedTerm, Proof

__all__ = [
    "Candidate",
    "FoundSplit",
    "ImprovePlan",
    "Improvement",
    "NamedTerm",
    "Proof",
    "improve",
]
