# SPDX-License-Identifier: Apache-2.0
"""Find slices where an evaluation is biased, fit it, and verify the gain in a match."""

from hyoka.workflows.improve.improve_loop import improve as improve
from hyoka.workflows.improve.improvement import BiasedSlice as BiasedSlice
from hyoka.workflows.improve.improvement import Candidate as Candidate
from hyoka.workflows.improve.improvement import Improvement as Improvement
from hyoka.workflows.improve.improvement import ImprovePlan as ImprovePlan
from hyoka.workflows.improve.improvement import SelectedTerm as SelectedTerm
from hyoka.workflows.improve.improvement import Verification as Verification
