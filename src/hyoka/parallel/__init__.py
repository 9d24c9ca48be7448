# SPDX-License-Identifier: Apache-2.0
"""Tasks for many workers, threads here or a cluster elsewhere, and what each worker keeps.

A `Run` sends out tasks and hands over what comes back; a task finds in its `Crew` what earlier
tasks of the same run and thread have started. Stopping a run touches nothing of any other.
"""

from hyoka.parallel.dask_cluster import cluster
from hyoka.parallel.task_pool import Crew, Done, Member, Run, RunStopped

__all__ = ["Crew", "Done", "Member", "Run", "RunStopped", "cluster"]
