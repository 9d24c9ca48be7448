# SPDX-License-Identifier: Apache-2.0
"""Problem sets, solved by our searches and by engines: how many, how surely, at what cost.

sets = read_suites(["suites.zip:wac.epd"])
report = solve(sets[0].problems, "ab:nodes=10000")
print(report.solved, "of", report.asked, report.interval)
"""

from hyoka.solving.judging import Task, task_of
from hyoka.solving.report import SolveReport, Verdict, wilson_interval
from hyoka.solving.solving import solve, speaks_gtp
from hyoka.solving.suites import read_suites

__all__ = [
    "SolveReport",
    "Task",
    "Verdict",
    "read_suites",
    "solve",
    "speaks_gtp",
    "task_of",
    "wilson_interval",
]
