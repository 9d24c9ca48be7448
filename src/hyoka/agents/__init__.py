# SPDX-License-Identifier: Apache-2.0
"""Agents evaluate positions, play games and solve problems: searches, engines and Python functions.

`spec_of` reads a spec and `agent_of` returns its agent. A new kind is a subclass of `Agent` and an
entry in `kinds.AGENT_KINDS`.
"""

from hyoka.agents.agent import (
    Agent,
    Answer,
    Evaluator,
    GamePlayer,
    RecordedGame,
    Solver,
    Spec,
    Turn,
)
from hyoka.agents.kinds import agent_of, is_spec, spec_of

__all__ = [
    "Agent",
    "Answer",
    "Evaluator",
    "GamePlayer",
    "RecordedGame",
    "Solver",
    "Spec",
    "Turn",
    "agent_of",
    "is_spec",
    "spec_of",
]
