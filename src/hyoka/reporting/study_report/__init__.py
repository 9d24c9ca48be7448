# SPDX-License-Identifier: Apache-2.0
"""The report of a study: one page that says what its evaluators are worth, and where they fail.

Altair and SciPy take a while to import, so only who makes a report waits for them.
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
    """Measure what a study's evaluators are worth, and put it together as a page.

    Comparisons are made on the positions that all evaluators judged; one that judged many more is
    also measured on all of its own. Raises StudyError if nothing was evaluated, or nothing is left.
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
    """Write the report of a study as one HTML file that opens offline; makes no folder.

    Gives what was written.
    """
    from hyoka.reporting.page import write_page  # noqa: PLC0415

    report = study_report(study, progress=progress, **choices)
    write_page(report.page, Path(path))
    return report


def save_figures(
    page: "Page", folder: Path | str, *, check: Callable[..., None] | None = None
) -> list[Path]:
    """Write every chart of a page as PNG and SVG into a folder, which is made; gives the files.

    Files are numbered in the page's order and named after their sections. `check` is called with
    all of them before the first is written, and may raise.
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
