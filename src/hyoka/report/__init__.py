# SPDX-License-Identifier: Apache-2.0
"""The report of a study: one page that says what its evaluators are worth, and where they fail.

Altair and SciPy take a while to import, so only who makes a report waits for them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hyoka.report.progress import Progress

if TYPE_CHECKING:
    from hyoka.page import Page
    from hyoka.report.contents import StudyReport
    from hyoka.study import Study

__all__ = ["Progress", "report_page", "save_figures", "study_report", "write_report"]


def study_report(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    *,
    evaluators: Sequence[str] | str | None = None,
    where: str | None = None,
    splits: int = 5,
    boards_a_bin: int = 4,
    resamples: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> "StudyReport":
    """Measure what a study's evaluators are worth, and put it together as a page.

    All evaluators unless some are named; `where` is an SQL condition on positions. Comparisons are
    made on the positions that all evaluators judged; one that judged many more is also measured on
    all of its own. `splits` are shown of each evaluator, `boards_a_bin` positions of each bin,
    chosen by `seed`. Games are drawn again `resamples` times: 1,000 unless given, fewer of more
    than 300,000 positions, but 200; 0 gives no intervals and so makes few claims. Raises StudyError
    if nothing was evaluated, or nothing is left.
    """
    from hyoka.report.contents import report_of  # noqa: PLC0415

    return report_of(
        study,
        evaluators=evaluators,
        where=where,
        splits=splits,
        boards_a_bin=boards_a_bin,
        resamples=resamples,
        seed=seed,
        progress=progress,
    )


def report_page(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    *,
    evaluators: Sequence[str] | str | None = None,
    where: str | None = None,
    splits: int = 5,
    boards_a_bin: int = 4,
    resamples: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> "Page":
    """The report of a study as a page; see `study_report`."""
    return study_report(
        study,
        evaluators=evaluators,
        where=where,
        splits=splits,
        boards_a_bin=boards_a_bin,
        resamples=resamples,
        seed=seed,
        progress=progress,
    ).page


def write_report(  # noqa: PLR0913 - a keyword for each choice
    study: "Study",
    path: Path | str,
    *,
    evaluators: Sequence[str] | str | None = None,
    where: str | None = None,
    splits: int = 5,
    boards_a_bin: int = 4,
    resamples: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> "StudyReport":
    """Write the report of a study as one HTML file that opens offline; makes no folder.

    See `study_report` for what can be chosen; gives what was written.
    """
    from hyoka.page import write_page  # noqa: PLC0415

    report = study_report(
        study,
        evaluators=evaluators,
        where=where,
        splits=splits,
        boards_a_bin=boards_a_bin,
        resamples=resamples,
        seed=seed,
        progress=progress,
    )
    write_page(report.page, Path(path))
    return report


def save_figures(page: "Page", folder: Path | str) -> list[Path]:
    """Write every chart of a page as PNG and SVG into a folder, which is made; gives the files.

    Files are numbered in the page's order and named after their sections.
    """
    from hyoka.page import save_chart  # noqa: PLC0415
    from hyoka.report.figures import figures_of  # noqa: PLC0415

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    for name, chart in figures_of(page):
        for ending in (".png", ".svg"):
            save_chart(chart, place / f"{name}{ending}")
            written.append(place / f"{name}{ending}")
    return written
