# SPDX-License-Identifier: Apache-2.0
"""The report of a study: one page about the quality and the weaknesses of its evaluators."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyoka.analysis import Calibration, Curves, MetricsTable, Slices
from hyoka.foundation.progress import OnProgress
from hyoka.foundation.text import counted
from hyoka.games import facts_named
from hyoka.reporting.charts import save_chart
from hyoka.reporting.page import Block, Boards, Chart, Details, Page, Section, Table, write_page
from hyoka.reporting.study_report.examples import boards_of, slice_boards
from hyoka.reporting.study_report.findings import AUTHORS, Finding, card_of, findings_of
from hyoka.reporting.study_report.results import Results, measure_study
from hyoka.reporting.study_report.sections import (
    calibration_section,
    caveats_of,
    curves_section,
    disagreement_section,
    figures_of,
    measured_section,
    methods_of,
    metrics_section,
    phases_section,
    slices_sections,
)
from hyoka.reporting.study_report.study_facts import ReportOptions, Steps
from hyoka.storage.result import plain_json
from hyoka.study import Study
from hyoka.study.sampling import Question, chosen_evaluators, measured, slice_columns

__all__ = [
    "ReportOptions",
    "StudyReport",
    "save_figures",
    "study_report",
    "write_report",
    "write_slices_page",
]
_SLICE_BOARDS: Final = 3


@dataclass(frozen=True, eq=False)
class StudyReport:
    """A report: its page, its findings, and their numbers."""

    page: Page
    findings: tuple[Finding, ...]
    results: Results

    def as_json(self) -> dict[str, object]:
        """Convert findings and numbers to JSON; non-finite numbers become null."""
        results = self.results
        judged = results.together or results.apart
        wider = results.apart if results.groups else []
        answer = {
            "study": str(results.study.path),
            "game": results.study.game,
            "games": results.records.games,
            "positions": results.records.positions,
            "where": results.where,
            "resamples": results.resamples,
            "evaluators": [
                {
                    "name": subject.name,
                    "id": subject.facts.id,
                    "spec": subject.facts.spec,
                    "program": subject.facts.program,
                    "unit": subject.unit,
                    "positions": subject.own.curve.positions,
                    "games": subject.own.curve.games,
                    "failed": subject.facts.failed,
                }
                for subject in results.subjects
            ],
            "coverage": results.coverage.as_json() | {"text": results.coverage.text(hint=False)},
            "common_positions": results.common,
            "findings": [
                {"kind": each.kind, "text": each.text, **each.numbers} for each in self.findings
            ],
            "metrics": MetricsTable(tuple(each.metrics for each in judged)).rows(),
            "metrics_of_all_positions": MetricsTable(tuple(e.metrics for e in wider)).rows(),
            "metrics_by_phase": MetricsTable(
                tuple(part for s in results.subjects for part in s.phase_metrics)
            ).rows(),
            "differences": [
                {"one": each.one.name, "other": each.other.name, "metrics": each.rows()}
                for group in results.groups
                for each in group.comparisons
            ],
            "curves": Curves(tuple(s.own.curve for s in results.subjects)).rows(),
            "slices": [row for s in results.subjects if s.slices for row in s.slices.rows()],
            "calibration": Calibration(
                tuple(row for s in results.subjects for row in s.calibration)
            ).rows(),
        }
        plain = plain_json(answer)
        assert isinstance(plain, dict)
        return plain


def study_report(
    study: Study, options: ReportOptions | None = None, *, progress: OnProgress | None = None
) -> StudyReport:
    """Measure a study's evaluators and build the report.

    Evaluators are compared on common positions. One with many more evaluations is also measured on
    all of its positions. Raises StudyError if there are no evaluations, or none are left.
    """
    options = options or ReportOptions()
    steps = Steps(progress, 3 * len(chosen_evaluators(study, options.evaluators)) + 3)
    results = measure_study(study, options, steps)
    steps.begin("boards and page")
    boards = boards_of(study, results.examples())
    findings = findings_of(results)
    sections = (
        measured_section(results),
        curves_section(results, boards),
        phases_section(results),
        metrics_section(results),
        *slices_sections(results, boards),
        disagreement_section(results, boards),
        calibration_section(results),
    )
    page = Page(
        f"Evaluations in {facts_named(study.game).title}: right or wrong?",
        _subtitle(results),
        tuple(card_of(finding, boards) for finding in findings if finding.kind != AUTHORS),
        tuple(section for section in sections if section is not None),
        tuple(methods_of(results)),
        caveats_of(results),
    )
    steps.end()
    return StudyReport(page, findings, results)


def write_report(
    study: Study,
    path: Path | str | None = None,
    options: ReportOptions | None = None,
    *,
    progress: OnProgress | None = None,
) -> StudyReport:
    """Write the report of a study as one offline HTML file, and return it.

    The file is `report.html` in the study by default. Its folder must exist.
    """
    report = study_report(study, options, progress=progress)
    write_page(report.page, report_file(study) if path is None else Path(path))
    return report


def write_slices_page(
    path: Path | str,
    slices: Slices,
    study: Study,
    evaluator: str,
    question: Question,
    *,
    columns: Sequence[str] | None = None,
) -> None:
    """Write biased slices as one HTML page: chart, table, and boards of each slice.

    `slices` are those of `study.slices(evaluator, question, columns=columns)`.
    """
    searched = slice_columns(study) if columns is None else columns
    positions = measured(study, evaluator, question, columns=searched)
    heading, *rows = slices.lines()
    coverage = () if slices.coverage is None else (str(slices.coverage),)
    blocks: list[Block] = [Table("The same in numbers", heading, rows)]
    if len(slices):
        blocks.insert(0, Chart(slices.chart(), slices.title))
    for each, boards in zip(slices, slice_boards(positions, slices, _SLICE_BOARDS), strict=True):
        also = (f"The same finding: {each.also_text}.",) if each.also_text else ()
        blocks.append(Details(each.sentence, also, (Boards(boards),), opened=True))
    section = Section("", (*coverage, *slices.notes()), tuple(blocks))
    write_page(Page(slices.title, sections=(section,)), Path(path))


def report_file(study: Study) -> Path:
    """Return the file of a study's report, unless another is named."""
    return study.path / "report.html"


def _subtitle(results: Results) -> str:
    names = "; ".join(subject.name for subject in results.subjects)
    what = "Evaluator" if len(results.subjects) == 1 else "Evaluators"
    games = counted(results.records.games, "game")
    positions = max(len(subject.positions) for subject in results.subjects)
    name = results.study.path.resolve().name
    return f"Study {name}: {games}, {positions:,} positions judged. {what}: {names}."


def numbered_pictures(folder: Path | str) -> list[Path]:
    """Existing files of a folder whose names `save_figures` may give to a chart."""
    place = Path(folder)
    files = place.glob("[0-9][0-9]*-*") if place.is_dir() else ()
    return sorted(each for each in files if each.suffix in (".png", ".svg"))


def save_figures(
    page: Page, folder: Path | str, *, check: Callable[..., None] | None = None
) -> list[Path]:
    """Write every chart of a page as PNG and SVG to a folder, creating it; return the files.

    File names have the chart's number in page order and its section. `check` is called with all
    files before any is written, and may raise.
    """
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
