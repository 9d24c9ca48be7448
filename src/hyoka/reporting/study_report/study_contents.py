# SPDX-License-Identifier: Apache-2.0
"""Contents of a study's report."""

from dataclasses import dataclass
from typing import Unpack

from hyoka.analysis import Calibration, Curves, MetricsTable
from hyoka.foundation.progress import OnProgress
from hyoka.games import facts_named
from hyoka.reporting.page import Page, counted
from hyoka.reporting.study_report.examples import boards_of
from hyoka.reporting.study_report.findings import Finding, findings_of
from hyoka.reporting.study_report.results import Results, measure_study
from hyoka.reporting.study_report.sections import (
    calibration_section,
    curves_section,
    disagreement_section,
    measured_section,
    methods_of,
    metrics_section,
    phases_section,
    slices_section,
)
from hyoka.reporting.study_report.study_facts import Choices, Steps
from hyoka.storage.result import plain_json
from hyoka.study import Study
from hyoka.study.sampling import chosen_evaluators


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
            "splits": [row for s in results.subjects if s.slices for row in s.slices.rows()],
            "calibration": Calibration(
                tuple(row for s in results.subjects for row in s.calibration)
            ).rows(),
        }
        plain = plain_json(answer)
        assert isinstance(plain, dict)
        return plain


def report_of(
    study: Study, *, progress: OnProgress | None = None, **choices: Unpack[Choices]
) -> StudyReport:
    """Build the report; see `Choices` for the options."""
    steps = Steps(progress, 3 * len(chosen_evaluators(study, choices.get("evaluators"))) + 3)
    results = measure_study(study, steps=steps, **choices)
    steps.begin("boards and page")
    boards = boards_of(study, results.examples())
    findings = findings_of(results)
    sections = (
        measured_section(results),
        curves_section(results, boards),
        phases_section(results),
        metrics_section(results),
        *(slices_section(results, subject, boards) for subject in results.subjects),
        disagreement_section(results, boards),
        calibration_section(results),
    )
    page = Page(
        f"Evaluations in {facts_named(study.game).title}: right or wrong?",
        _subtitle(results),
        tuple(finding.text for finding in findings),
        tuple(section for section in sections if section is not None),
        tuple(methods_of(results)),
    )
    steps.end()
    return StudyReport(page, findings, results)


def _subtitle(results: Results) -> str:
    names = ", ".join(subject.name for subject in results.subjects)
    what = "Evaluator" if len(results.subjects) == 1 else "Evaluators"
    games = counted(results.records.games, "game")
    positions = max(len(subject.positions) for subject in results.subjects)
    name = results.study.path.resolve().name
    return f"Study {name}: {games}, {positions:,} positions judged. {what}: {names}."
