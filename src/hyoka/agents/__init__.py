# SPDX-License-Identifier: Apache-2.0
"""Agents evaluate positions, play games and solve problems.

There are searches, engines, Python functions, comments of records and tables of evaluations.

`spec_of` reads a spec and `agent_of` returns its agent. A new kind is a subclass of `Agent` and an
entry in `kinds.AGENT_KINDS`.
"""

from hyoka.agents.agent import (
    ROLES,
    Agent,
    Answer,
    EvaluationSource,
    Evaluator,
    GamePlayer,
    RecordedEvaluations,
    RecordedGame,
    Solver,
    Spec,
    TreeEvaluator,
    Turn,
)
from hyoka.agents.imported_evaluations import ImportedEvaluations
from hyoka.agents.kinds import (
    CalibratedSpec,
    SpecLike,
    agent_of,
    calibrated,
    kind_of,
    roles_of,
    spec_of,
)

__all__ = [
    "ROLES",
    "Agent",
    "Answer",
    "CalibratedSpec",
    "EvaluationSource",
    "Evaluator",
    "GamePlayer",
    "ImportedEvaluations",
    "RecordedEvaluations",
    "RecordedGame",
    "Solver",
    "Spec",
    "SpecLike",
    "TreeEvaluator",
    "Turn",
    "agent_of",
    "calibrated",
    "kind_of",
    "roles_of",
    "spec_of",
]
