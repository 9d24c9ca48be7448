# SPDX-License-Identifier: Apache-2.0
"""The context in which experiments run: records, studies, evaluations and matches."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from experiments.outcome import Outcome
from hyoka.arena import MatchPlan, MatchResult, play_match
from hyoka.foundation.errors import SourceError, named
from hyoka.foundation.progress import OnProgress
from hyoka.study import Study
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import WinnersSummary, adjudicate_records

Play = Callable[[MatchPlan, Path, int], MatchResult]
"""Plays games of a match that is stored in a folder, up to a number."""


class RecordsFolder:
    """The folder of game records, which are not part of the package.

    By default, `shared/data` in the current folder or one above it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def file(self, name: str) -> Path:
        """Find a file by name; raises SourceError if it does not exist."""
        if self._path is None:
            here = Path.cwd()
            places = [folder / "shared" / "data" for folder in (here, *here.parents)]
        else:
            places = [self._path]
        for place in places:
            if (place / name).is_file():
                return place / name
        where = f"in {self._path}" if self._path else f"in shared/data here or above {here}"
        raise SourceError(
            f"no {name} {where}; this experiment reads it: say where the records are with "
            f"{named('data')} (the folder that has go9, chess and shogi in it)"
        )


def _play_here(plan: MatchPlan, folder: Path, games: int) -> MatchResult:
    return play_match(plan, folder, games=games)


@dataclass(frozen=True)
class ExperimentContext:
    """The output folder, inputs and resources of experiments.

    Experiments share studies, evaluations and matches by name.
    """

    folder: Path
    records: RecordsFolder = field(default_factory=RecordsFolder)
    play: Play = _play_here
    jobs: int = 1
    executor: Executor | None = None
    """Evaluates instead of `jobs` local threads."""
    progress: OnProgress | None = None
    seed: int = 0

    def study(self, name: str, files: Sequence[str], *, where: str, columns: str = "all") -> Study:
        """Open the study of this name, or create it from record files."""
        path = self.folder / name
        if (path / "study.toml").exists():
            return Study.open(path)
        paths = [self.records.file(file) for file in files]
        return Study.create(path, paths, where=where, columns=columns)

    def find_winners(self, study: Study) -> WinnersSummary:
        """Adjudicate records by the first mate; earlier results are reused."""
        return adjudicate_records(study, "mate", jobs=self.jobs, progress=self.progress)

    def evaluate(
        self, study: Study, specs: Sequence[str], sample: int | None, *, where: str | None = None
    ) -> list[str]:
        """Evaluate missing positions; return the engine names of the evaluations."""
        reports = evaluate(
            study,
            specs,
            where=where,
            sample=sample,
            seed=self.seed,
            jobs=self.jobs,
            executor=self.executor,
            progress=self.progress,
        )
        return [report.engine for report in reports]

    def place(self, name: str) -> Path:
        """Create a folder for an experiment's output."""
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path


def exact_winners(report: WinnersSummary) -> str:
    """Describe how many results a mate changed, as the end of a sentence."""
    return (
        f"; a mate decides {report.known:,} of {report.records:,} records, {report.changed:,} of "
        "them for another side than the record says"
    )


class Experiment(Protocol):
    """The reproduction of a table or figure of a paper."""

    @property
    def id(self) -> str:
        """The paper's number and the table or figure, such as `000-table1`."""

    @property
    def title(self) -> str:
        """A one-line title."""

    @property
    def scales(self) -> Collection[str] | Mapping[str, object]:
        """The available scales, smallest first."""

    @property
    def notes(self) -> str:
        """Differences from the paper's experiment, with reasons."""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Run at a scale, resuming stored results."""
