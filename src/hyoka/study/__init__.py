# SPDX-License-Identifier: Apache-2.0
"""Studies: stored games, positions and evaluations, queried with SQL."""

from hyoka.study.derived_columns import (
    CategoriesReport,
    RankingReport,
    categorize,
    rank_moves,
    stored_categories,
)
from hyoka.study.evaluating import evaluate
from hyoka.study.evaluation_store import (
    EvaluationReport,
    Visits,
    has_visits,
    keep_visits,
    stored_visits,
)
from hyoka.study.exact_results import (
    AdjudicationReport,
    WinnersReport,
    adjudicate,
    adjudicate_records,
)
from hyoka.study.exporting import ExportReport, export_positions
from hyoka.study.imported_evaluations import ImportedEvaluations
from hyoka.study.importing import ImportReport, games_where
from hyoka.study.manifest import COMMENTS
from hyoka.study.sampling import Question
from hyoka.study.study import Study, append_to_study, make_study
from hyoka.study.user_columns import ColumnReport, columns_of
from hyoka.study.verify import Damage, StudyCheck, check_study

__all__ = [
    "COMMENTS",
    "AdjudicationReport",
    "CategoriesReport",
    "ColumnReport",
    "Damage",
    "EvaluationReport",
    "ExportReport",
    "ImportReport",
    "ImportedEvaluations",
    "Question",
    "RankingReport",
    "Study",
    "StudyCheck",
    "Visits",
    "WinnersReport",
    "adjudicate",
    "adjudicate_records",
    "append_to_study",
    "categorize",
    "check_study",
    "columns_of",
    "evaluate",
    "export_positions",
    "games_where",
    "has_visits",
    "keep_visits",
    "make_study",
    "rank_moves",
    "stored_categories",
    "stored_visits",
]
