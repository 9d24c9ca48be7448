# SPDX-License-Identifier: Apache-2.0
"""Problem sets, solved by our searches and by engines: how many, how surely, at what cost.

sets = read_suites(["suites.zip:wac.epd"])
report = solve(sets[0].problems, "ab:nodes=10000")
print(report.solved, "of", report.asked, report.interval)
"""

from hyoka.solving.report import SolveReport, Verdict, wilson_interval
from hyoka.solving.solving import solve
from hyoka.solving.suites import read_suites

__all__ = [
    "SolveReport",
    "Verdict",
    "read_suites",
    "solve",
    "wilson_interval",
]
