# SPDX-License-Identifier: Apache-2.0
"""Tasks for many workers, threads here or a cluster elsewhere, and what each worker keeps.

A `Run` sends out tasks and hands over what comes back; a task finds in its `WorkerState` what earlier
tasks of the same run and thread have started. Stopping a run touches nothing of any other.
"""

from hyoka.parallel.dask_cluster import cluster
from hyoka.parallel.task_pool import Done, Resource, Run, RunStopped, WorkerState

__all__ = ["Done", "Resource", "Run", "RunStopped", "WorkerState", "cluster"]
