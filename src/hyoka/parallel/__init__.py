# SPDX-License-Identifier: Apache-2.0
"""Parallel tasks on threads or a Dask cluster.

A `Run` sends tasks to workers and returns their results; a `WorkerState` holds resources for all
tasks of one run in one thread. Runs are canceled independently.
"""

from hyoka.parallel.dask_cluster import cluster
from hyoka.parallel.task_pool import Done, Resource, Run, RunStopped, WorkerState, usable_cores

__all__ = ["Done", "Resource", "Run", "RunStopped", "WorkerState", "cluster", "usable_cores"]
