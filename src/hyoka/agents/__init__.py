# SPDX-License-Identifier: Apache-2.0
"""Whoever evaluates, plays and solves: searches of ours, engines, functions in Python.

A spec names one; `contestant_of` gives it. A new kind is a `Contestant` and a line in `kinds.py`.
"""

from hyoka.agents.agent import (
    PYTHON_GAMES,
    Answer,
    Contestant,
    Evaluator,
    RecordedGame,
    Seat,
    Solver,
    Spec,
    Turn,
    is_in_python,
)
from hyoka.agents.kinds import contestant_of, is_spec, spec_of

__all__ = [
    "PYTHON_GAMES",
    "Answer",
    "Contestant",
    "Evaluator",
    "RecordedGame",
    "Seat",
    "Solver",
    "Spec",
    "Turn",
    "contestant_of",
    "is_in_python",
    "is_spec",
    "spec_of",
]
