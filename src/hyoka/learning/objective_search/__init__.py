# SPDX-License-Identifier: Apache-2.0
"""Search for objectives of comparison training by playing strength."""

from hyoka.learning.objective_search.objective_loop import ObjectiveSearch, SearchPlan
from hyoka.learning.objective_search.optimizers import CmaEs, Optimiser, Pbilc, RandomSearch
from hyoka.learning.objective_search.verification import verify

__all__ = [
    "CmaEs",
    "ObjectiveSearch",
    "Optimiser",
    "Pbilc",
    "RandomSearch",
    "SearchPlan",
    "verify",
]
