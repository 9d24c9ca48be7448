# SPDX-License-Identifier: Apache-2.0
"""Find the split, name the terms, fit them, look at games held out, play, tell the story.

Each step is kept in a folder once it is done, so that the same call goes on wherever it was
stopped; a match goes on by its own journal. What is chosen is chosen by the games to fit on: the
games held out say only whether it holds, and the board whether it gains.
"""

import functools
from concurrent.futures import Executor
from functools import cached_property
from pathlib import Path
from typing import Final, Unpack

from hyoka.foundation.errors import StudyError
from hyoka.foundation.progress import OnProgress
from hyoka.games import game_facts
from hyoka.storage.files import read_regular, write_text
from hyoka.storage.locking import locked
from hyoka.storage.outputs import check_output_folder
from hyoka.study import Study
from hyoka.workflows.improve import fit_and_verify as mending
from hyoka.workflows.improve import fit_and_verify as proving
from hyoka.workflows.improve.evidence import Evidence, gathered
from hyoka.workflows.improve.find_slices import look, name_terms
from hyoka.workflows.improve.improve_plan import ImprovePlan, Planned
from hyoka.workflows.improve.improvement import (
    Candidate,
    Found,
    Improvement,
    Named,
    Proof,
    Verdict,
    kept,
)

PLAN: Final = "plan.json"


def improve(  # noqa: PLR0913 - a keyword for each choice
    study: Study,
    evaluator: str = ImprovePlan.evaluator,
    *,
    to: Path | str,
    still: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
    **planned: Unpack[Planned],
) -> Improvement:
    """Find where an evaluator is wrong in a study's games, mend it, and prove the gain.

    Everything is kept in the folder `to`, with the page `report.html` that tells it (with `still`
    charts, without scripts). Interrupted, the same call goes on; with more `games` a match that
    has not decided goes on, too. See `ImprovePlan` for what else can be chosen.
    """
    plan = ImprovePlan(evaluator=evaluator, **planned)
    game_facts(study.game)  # no game written in Python: it has no columns to find splits by
    folder = Path(to)
    check_output_folder(folder, PLAN, what="an improvement")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder} can't be a folder: {error.strerror}") from error
    with locked(folder, "improving an evaluation"):
        _describe(study, plan, folder)
        work = _Work(study, plan, folder, progress)
        improvement = work.told(work.proven(jobs, executor))
        _write_page(study, improvement, plan, still=still)
    return improvement


def _write_page(study: Study, improvement: Improvement, plan: ImprovePlan, *, still: bool) -> None:
    # Altair takes a while to import.
    from hyoka.reporting import write_page  # noqa: PLC0415
    from hyoka.workflows.improve.improve_page import improvement_page  # noqa: PLC0415

    write_page(improvement_page(study, improvement, plan, still=still), improvement.page)


def _describe(study: Study, plan: ImprovePlan, folder: Path) -> None:
    file, text = folder / PLAN, plan.text(study)
    if not file.exists():
        write_text(file, text)
    elif read_regular(file) != text.encode():
        raise StudyError(
            f"{folder}: another improvement lies there, of another study or plan; choose another "
            "folder, or ask for the same"
        )


class _Work:
    """One call of `improve`: what is kept is read, what is not is made."""

    def __init__(
        self, study: Study, plan: ImprovePlan, folder: Path, progress: OnProgress | None
    ) -> None:
        self._study = study
        self._plan = plan
        self._folder = folder
        self._progress = progress

    @cached_property
    def _evidence(self) -> Evidence:
        return gathered(self._study, self._plan, self._progress)

    @cached_property
    def _is_own(self) -> bool:
        """Whether the evaluator's weights can be fitted."""
        return self._plan.own_evaluation(self._study.game) is not None

    @cached_property
    def found(self) -> Found:
        return kept(
            self._folder / "splits.json",
            Found,
            lambda: look(self._evidence, self._plan.seed, self._progress),
        )

    @cached_property
    def named(self) -> Named:
        return kept(
            self._folder / "terms.json", Named, lambda: name_terms(self._evidence, self.found)
        )

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        if not self.found.slices:
            return ()
        return tuple(
            kept(
                self._folder / f"fit-{name}.json",
                Candidate,
                functools.partial(self._fitted, name),
            )
            for name in mending.attempts(self.named, own=self._is_own)
        )

    def _fitted(self, name: str) -> Candidate:
        weight_fitter = mending.WeightFitter(
            self._evidence, self.found, self.named, self._plan, self._folder
        )
        return weight_fitter.fit_weights_to_slice(name)

    def proven(self, jobs: int, executor: Executor | None) -> tuple[Proof, ...]:
        """Matches, one after another, until one proves a gain."""
        plan = self._plan
        tried = [
            each
            for each in self.candidates
            if each.is_better_on_paper and each.name != mending.COLUMNS
        ]
        proofs: list[Proof] = []
        for candidate in tried:
            match, words = proving.planned(self._study, candidate, plan, self._folder)
            proof = proving.prove(
                match,
                words,
                candidate,
                self._folder,
                games=plan.games,
                sprt=proving.shared_risk(plan.sprt, len(tried)),
                jobs=jobs,
                executor=executor,
                progress=self._progress,
            )
            proofs.append(proof)
            if proof.verdict == "H1":
                break
        return tuple(proofs)

    def told(self, proofs: tuple[Proof, ...]) -> Improvement:
        return Improvement(
            self._folder,
            self._study.game,
            self._study.path.resolve().name,
            self._plan.evaluator,
            self.found,
            self.named,
            self.candidates,
            proofs,
            self._verdict(proofs),
            self._plan.start(self._study.game),
        )

    def _verdict(self, proofs: tuple[Proof, ...]) -> Verdict:
        if not self.found.slices:
            return "nothing found"
        if not self._is_own:
            return "not played"
        if not proofs:
            return "no better on paper"
        return "gain" if proofs[-1].verdict == "H1" else "not proven"
