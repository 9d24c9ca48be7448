# SPDX-License-Identifier: Apache-2.0
"""The report of a study: one page about the quality and the weaknesses of its evaluators.

Altair and SciPy are slow to import, so they are imported only when a report is made.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from hyoka.foundation.progress import OnProgress
from hyoka.reporting.study_report.study_facts import Choices

if TYPE_CHECKING:
    from hyoka.reporting.page import Page
    from hyoka.reporting.study_report.study_contents import StudyReport
    from hyoka.study import Study

__all__ = ["Choices", "save_figures", "study_report", "write_report"]


def study_report(
    study: "Study", *, progress: OnProgress | None = None, **choices: Unpack[Choices]
) -> "StudyReport":
    """Measure a study's evaluators and build the report.

    Evaluators are compared on common positions. One with many more evaluations is also measured on
    all of its positions. Raises StudyError if there are no evaluations, or none are left.
    """
    from hyoka.reporting.study_report.study_contents import report_of  # noqa: PLC0415

    return report_of(study, progress=progress, **choices)


def write_report(
    study: "Study",
    path: Path | str,
    *,
    progress: OnProgress | None = None,
    **choices: Unpack[Choices],
) -> "StudyReport":
    """Write the report of a study as one offline HTML file, and return it.

    The folder must exist.
    """
    from hyoka.reporting.page import write_page  # noqa: PLC0415

    report = study_report(study, progress=progress, **choices)
    write_page(report.page, Path(path))
    return report


def save_figures(
    page: "Page", folder: Path | str, *, check: Callable[..., None] | None = None
) -> list[Path]:
    """Write every chart of a page as PNG and SVG to a folder, creating it; return the files.

    File names have the chart's number in page order and its section. `check` is called with all
    files before any is written, and may raise.
    """
    from hyoka.reporting.charts import save_chart  # noqa: PLC0415
    from hyoka.reporting.study_report.sections import figures_of  # noqa: PLC0415

    place = Path(folder)
    charts = {
        place / f"{name}{ending}": chart
        for name, chart in figures_of(page)
        for ending in (".png", ".svg")
    }
    place.mkdir(parents=True, exist_ok=True)
    if check is not None:
        check(*charts)
    for file, chart in charts.items():
        save_chart(chart, file)
    return list(charts)
