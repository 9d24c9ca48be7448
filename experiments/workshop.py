# SPDX-License-Identifier: Apache-2.0
"""What experiments work with: records found, studies kept, evaluations and matches gone on with."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from experiments.outcome import Outcome
from hyoka.arena import MatchPlan, MatchResult, play_match
from hyoka.foundation.errors import SourceError, named
from hyoka.foundation.progress import OnProgress
from hyoka.study import Study, WinnersReport, adjudicate_records, evaluate

Play = Callable[[MatchPlan, Path, int], MatchResult]
"""Plays so many games of a match that is kept in a folder."""


class RecordsFolder:
    """Where game records lie; they do not come with the package.

    Without a folder `shared/data` is looked for here and in the folders above.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def file(self, name: str) -> Path:
        """A file by its name in the folder; raises SourceError if it is not there."""
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
class Workshop:
    """The place where experiments run; everything they make is kept in its folder.

    What several experiments need, such as a study and its evaluations, they share.
    """

    folder: Path
    records: RecordsFolder = field(default_factory=RecordsFolder)
    play: Play = _play_here
    jobs: int = 1
    executor: Executor | None = None
    """Evaluates instead of `jobs` threads here."""
    progress: OnProgress | None = None
    seed: int = 0

    def study(self, name: str, files: Sequence[str], *, where: str, columns: str = "all") -> Study:
        """The study of this name; made from files of the records unless it is there."""
        path = self.folder / name
        if (path / "study.toml").exists():
            return Study.open(path)
        paths = [self.records.file(file) for file in files]
        return Study.create(path, paths, where=where, columns=columns)

    def find_winners(self, study: Study) -> WinnersReport:
        """Give records to whoever could mate first; what is known already is not looked for."""
        return adjudicate_records(study, "mate", jobs=self.jobs, progress=self.progress)

    def evaluate(
        self, study: Study, specs: Sequence[str], sample: int | None, *, where: str | None = None
    ) -> list[str]:
        """Evaluate what is missing; the names under which the evaluations are kept."""
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
        """A folder for what an experiment writes."""
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path


def exact_winners(report: WinnersReport) -> str:
    """How many records went to another side than they say, as the end of a sentence."""
    return (
        f"; a mate decides {report.known:,} of {report.records:,} records, {report.changed:,} of "
        "them for another side than the record says"
    )


class Experiment(Protocol):
    """A table or figure of a paper, made anew."""

    @property
    def id(self) -> str:
        """The paper's number and what it is, such as `000-table1`."""

    @property
    def title(self) -> str:
        """What it is, in a line."""

    @property
    def scales(self) -> Collection[str] | Mapping[str, object]:
        """How large it can be run, the smallest first."""

    @property
    def notes(self) -> str:
        """Where it differs from the paper's, and why."""

    def run(self, workshop: Workshop, scale: str) -> Outcome:
        """Do it at a scale, going on with what is there."""
