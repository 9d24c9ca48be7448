# SPDX-License-Identifier: Apache-2.0
"""Studies: stored games, positions and evaluations, queried with SQL.

What adds to a study or checks it has modules of its own: `evaluating`, `exact_results`,
`derived_columns`, `exporting`, `verify`.
"""

from hyoka.storage.manifest import COMMENTS
from hyoka.study.importing import ImportSummary, games_where
from hyoka.study.sampling import Question
from hyoka.study.study import Study, append_to_study, make_study
from hyoka.study.user_columns import ColumnSummary, columns_of

__all__ = [
    "COMMENTS",
    "ColumnSummary",
    "ImportSummary",
    "Question",
    "Study",
    "append_to_study",
    "columns_of",
    "games_where",
    "make_study",
]
