# SPDX-License-Identifier: Apache-2.0
"""Learning what to learn: objectives of comparison training evolved for playing strength."""

from hyoka.evolving.optimisers import CmaEs, Optimiser, Pbilc, RandomSearch
from hyoka.evolving.search import ObjectiveSearch, SearchPlan
from hyoka.evolving.verifying import verify

__all__ = [
    "CmaEs",
    "ObjectiveSearch",
    "Optimiser",
    "Pbilc",
    "RandomSearch",
    "SearchPlan",
    "verify",
]
