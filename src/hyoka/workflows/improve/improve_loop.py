# SPDX-License-Identifier: Apache-2.0
"""The improve workflow: find slices, select terms, fit, measure on held-out games, play a match.

Each finished step is stored in a folder, so that the same call resumes an interrupted one. All
choices depend on the fitting games only; held-out games and the match only verify them.
"""

import functools
import json
from concurrent.futures import Executor
from functools import cached_property
from pathlib import Path
from typing import Final

from hyoka.foundation.progress import OnProgress
from hyoka.games import game_facts
from hyoka.storage.run_folder import RunPlan, open_run
from hyoka.study import Study
from hyoka.workflows.improve import fit_and_verify
from hyoka.workflows.improve.find_slices import (
    Evidence,
    find_biased_slices,
    gather_evidence,
    select_terms,
)
from hyoka.workflows.improve.improvement import (
    Candidate,
    Improvement,
    ImprovePlan,
    SliceFindings,
    TermSelection,
    Verdict,
    Verification,
    load_or_compute,
)

PLAN: Final = "plan.json"


def improve(
    study: Study,
    plan: ImprovePlan | None = None,
    *,
    to: Path | str,
    still: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> Improvement:
    """Find slices where an evaluator is biased, fit new weights, and verify the gain in a match.

    All steps are stored in the folder `to`, with the report `report.html` (with `still`, its charts
    need no scripts). The same call resumes an interrupted one; with more games in the plan, it
    continues an undecided match.
    """
    plan = plan or ImprovePlan()
    game_facts(study.game)  # refuses games written in Python, which have no columns
    folder = Path(to)
    run = RunPlan("an improvement", PLAN, json.loads(plan.text(study)))
    with open_run(folder, run, "improving an evaluation"):
        steps = _Steps(study, plan, folder, progress)
        improvement = steps.improvement(steps.verify(jobs, executor))
        _write_page(study, improvement, plan, still=still)
    return improvement


def _write_page(study: Study, improvement: Improvement, plan: ImprovePlan, *, still: bool) -> None:
    # Altair is slow to import.
    from hyoka.reporting import write_page  # noqa: PLC0415
    from hyoka.workflows.improve.improve_page import improvement_page  # noqa: PLC0415

    write_page(improvement_page(study, improvement, plan, still=still), improvement.page)


class _Steps:
    """The steps of one call of `improve`, each loaded from the folder or computed."""

    def __init__(
        self, study: Study, plan: ImprovePlan, folder: Path, progress: OnProgress | None
    ) -> None:
        self._study = study
        self._plan = plan
        self._folder = folder
        self._progress = progress

    @cached_property
    def _evidence(self) -> Evidence:
        return gather_evidence(self._study, self._plan, self._progress)

    @cached_property
    def _is_own(self) -> bool:
        """Whether the evaluator's weights can be fitted."""
        return self._plan.own_evaluation(self._study.game) is not None

    @cached_property
    def findings(self) -> SliceFindings:
        return load_or_compute(
            self._folder / "slices.json",
            SliceFindings,
            lambda: find_biased_slices(self._evidence, self._plan.seed, self._progress),
        )

    @cached_property
    def named(self) -> TermSelection:
        return load_or_compute(
            self._folder / "terms.json",
            TermSelection,
            lambda: select_terms(self._evidence, self.findings),
        )

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        if not self.findings.slices:
            return ()
        return tuple(
            load_or_compute(
                self._folder / f"fit-{name}.json",
                Candidate,
                functools.partial(self._fit, name),
            )
            for name in fit_and_verify.candidate_names(self.named, own=self._is_own)
        )

    def _fit(self, name: str) -> Candidate:
        fitter = fit_and_verify.WeightFitter(
            self._evidence, self.findings, self.named, self._plan, self._folder
        )
        return fitter.fit(name)

    def verify(self, jobs: int, executor: Executor | None) -> tuple[Verification, ...]:
        """Play one match after another until one verifies a gain."""
        plan = self._plan
        tried = [
            each
            for each in self.candidates
            if each.is_better_on_paper and each.name != fit_and_verify.COLUMNS
        ]
        proofs: list[Verification] = []
        for candidate in tried:
            proof = fit_and_verify.verify(
                self._study,
                candidate,
                plan,
                self._folder,
                fit_and_verify.share_risk(plan.sprt, len(tried)),
                jobs=jobs,
                executor=executor,
                progress=self._progress,
            )
            proofs.append(proof)
            if proof.verdict == "H1":
                break
        return tuple(proofs)

    def improvement(self, proofs: tuple[Verification, ...]) -> Improvement:
        return Improvement(
            self._folder,
            self._study.game,
            self._study.path.resolve().name,
            self._plan.spec.title,
            self.findings,
            self.named,
            self.candidates,
            proofs,
            self._verdict(proofs),
            self._plan.start(self._study.game),
        )

    def _verdict(self, proofs: tuple[Verification, ...]) -> Verdict:
        if not self.findings.slices:
            return "nothing found"
        if not self._is_own:
            return "not played"
        if not proofs:
            return "no better on paper"
        return "gain" if proofs[-1].verdict == "H1" else "not proven"
