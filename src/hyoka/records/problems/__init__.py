# SPDX-License-Identifier: Apache-2.0
"""Problem sets in published formats: positions with solutions, scores and claims.

A new format needs a reader and one line in `FORMATS`.

>>> suite = read_problems('''
... 7k/R7/6K1/8/8/8/8/8 w - - bm Ra8#; id "mate";
... 7k/R7/6K1/8/8/8/8/8 w - - bm Rb9; id "nonsense";
... ''', source="two.epd")
>>> [problem.best for problem in suite.problems]
[('a7a8',)]
>>> print(suite.refused[0])
two.epd:3: not a chess move: 'Rb9' (expected UCI or SAN)
"""

from hyoka.records.problems.go_position import load_sgf, load_sgf_past
from hyoka.records.problems.problem import (
    Assertion,
    Exercise,
    GtpScript,
    GtpTest,
    NotAsked,
    Problem,
    ProblemSet,
    Refusal,
    exercise_of,
)
from hyoka.records.problems.reading import FORMATS, Format, read_problems

__all__ = [
    "FORMATS",
    "Assertion",
    "Exercise",
    "Format",
    "GtpScript",
    "GtpTest",
    "NotAsked",
    "Problem",
    "ProblemSet",
    "Refusal",
    "exercise_of",
    "load_sgf",
    "load_sgf_past",
    "read_problems",
]
