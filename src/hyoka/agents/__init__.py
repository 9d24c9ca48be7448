# SPDX-License-Identifier: Apache-2.0
"""Whoever evaluates, plays and solves: searches of ours, engines, functions in Python.

A spec names one; `agent_of` gives it. A new kind is a `Agent` and a line in `kinds.py`.
"""

from hyoka.agents.agent import (
    PYTHON_GAMES,
    Agent,
    Answer,
    Evaluator,
    GamePlayer,
    RecordedGame,
    Solver,
    Spec,
    Turn,
    is_in_python,
)
from hyoka.agents.kinds import agent_of, is_spec, spec_of

__all__ = [
    "PYTHON_GAMES",
    "Agent",
    "Answer",
    "Evaluator",
    "GamePlayer",
    "RecordedGame",
    "Solver",
    "Spec",
    "Turn",
    "agent_of",
    "is_in_python",
    "is_spec",
    "spec_of",
]
