# SPDX-License-Identifier: Apache-2.0
"""Experiments on problems: a search with enhancements added one at a time."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.claims import not_shown_if_few, verdict
from experiments.context import ExperimentContext
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from hyoka.analysis import Resampling, mean_by_games
from hyoka.arena.elo import wilson_rate
from hyoka.arena.solve import solve
from hyoka.foundation.errors import StudyError
from hyoka.foundation.math import Estimate
from hyoka.records.problems import Problem
from hyoka.storage.files import write_text


@dataclass(frozen=True, slots=True)
class Solved:
    """A paper's result: number of solved problems out of a total."""

    solved: int
    asked: int

    @property
    def text(self) -> str:
        """The result in the paper's notation."""
        return f"{self.solved} / {self.asked}"


@dataclass(frozen=True, slots=True)
class Rung:
    """A search on the ladder; `{time}` and `{threads}` in its spec come from the scale."""

    name: str
    spec: str
    theirs: tuple[Solved, ...] = ()
    """By category: all problems, and those without mates."""


@dataclass(frozen=True, slots=True)
class LadderScale:
    """Number of problems and the time limit of each."""

    problems: int
    time_s: float
    threads: int = 1

    @property
    def limit(self) -> str:
        """The limit of a search in words."""
        return f"{self.time_s:g} s each on {self.threads} thread(s)"

    def spec(self, spec: str) -> str:
        """A search's spec with this limit."""
        return spec.format(time=f"{self.time_s:g}", threads=self.threads)


@dataclass(frozen=True, slots=True)
class PlayoutLadderScale:
    """Number of problems, the playouts of each tree search and the nodes of each alpha-beta."""

    problems: int
    playouts: int
    nodes: int = 0

    @property
    def threads(self) -> int:
        """Threads of a search; one, so that the order of playouts is always the same."""
        return 1

    @property
    def limit(self) -> str:
        """The limit of a search in words."""
        alpha_beta = f", alpha-beta {self.nodes:,} nodes" if self.nodes else ""
        return f"{self.playouts:,} playouts each{alpha_beta}"

    def spec(self, spec: str) -> str:
        """A search's spec with this limit."""
        return in_playouts(spec, self.playouts, self.nodes)


def in_playouts(spec: str, playouts: int, nodes: int) -> str:
    """A spec with a limit of playouts (alpha-beta: nodes) in place of the time, on one thread.

    >>> in_playouts("uct:preset=paper,time={time},threads={threads}", 500, 0)
    'uct:preset=paper,playouts=500,threads=1'
    >>> in_playouts("ab:time={time}", 500, 2000)
    'ab:nodes=2000'
    """
    limit = f"nodes={nodes}" if spec.startswith("ab:") else f"playouts={playouts}"
    return spec.replace("time={time}", limit).format(threads=1)


@dataclass(frozen=True, slots=True)
class Sort:
    """A category of problems with its own counts."""

    name: str
    holds: Callable[[Problem], bool] = field(repr=False)


@dataclass(frozen=True)
class LadderExperiment:
    """Problems solved by a sequence of searches, each with one more enhancement."""

    id: str
    title: str
    problems: Callable[[ExperimentContext, int], list[Problem]]
    """Load a number of problems, deterministically."""
    sorts: tuple[Sort, ...]
    rungs: tuple[Rung, ...]
    claims: tuple[tuple[int, int, str], ...]
    """The paper's claims: rung that solves more, rung that solves fewer, wording."""
    scales: Mapping[str, LadderScale | PlayoutLadderScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Run every search on every problem, except for stored results."""
        amount = self.scales[scale]
        problems = self.problems(context, amount.problems)
        if not problems:
            raise StudyError(f"{self.id}: there are no problems to solve")
        folder = context.place(self.id)
        solved = [self._solved(context, rung, problems, amount, folder) for rung in self.rungs]
        among = [np.array([sort.holds(each) for each in problems]) for sort in self.sorts]
        rows: list[tuple[Value, ...]] = []
        for rung, right in zip(self.rungs, solved, strict=True):
            theirs = [each.text for each in rung.theirs] or [""] * len(self.sorts)
            ours: list[Value] = []
            for some in among:
                ours += [f"{right[some].sum()} / {some.sum()}", _share(right[some])]
            rows.append((rung.name, *theirs, *ours))
        headings = [sort.name for sort in self.sorts]
        ours_headings = [word for name in headings for word in (f"ours, {name}", "share")]
        return Outcome(
            f"{len(problems)} problems, {amount.limit}",
            (
                OutcomeTable(
                    ("search", *(f"theirs, {name}" for name in headings), *ours_headings),
                    tuple(rows),
                ),
                OutcomeTable(
                    ("search", "text"),
                    tuple((rung.name, f"`{amount.spec(rung.spec)}`") for rung in self.rungs),
                    "the searches",
                ),
            ),
            tuple(self._judged(solved, among, context.seed)),
        )

    def _judged(
        self, solved: Sequence[np.ndarray], among: Sequence[np.ndarray], seed: int
    ) -> list[Verdict]:
        found = []
        for better, worse, words in self.claims:
            for sort, some in zip(self.sorts, among, strict=True):
                if some.any():
                    more = paired(solved[better][some], solved[worse][some], seed)
                    judged = verdict(f"{sort.name}: {words}", more, "share of problems")
                    found.append(not_shown_if_few(judged, int(some.sum()), "problems"))
        return found

    def _solved(
        self,
        context: ExperimentContext,
        rung: Rung,
        problems: Sequence[Problem],
        amount: LadderScale | PlayoutLadderScale,
        folder: Path,
    ) -> np.ndarray:
        """Whether the search solves each problem; cached in a file."""
        text = amount.spec(rung.spec)
        asked = "\n".join([text, *(f"{each.position} {each.best}" for each in problems)])
        file = folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:12]}.json"
        if file.exists():
            return np.array(json.loads(file.read_text()), bool)
        jobs = max(1, context.jobs // amount.threads)
        report = solve(problems, text, jobs=jobs, progress=context.progress)
        if report.interrupted:
            raise KeyboardInterrupt
        right = {(each.source, each.line_number): each.solved for each in report.verdicts}
        found = [bool(right.get((each.source, each.line_number))) for each in problems]
        write_text(file, json.dumps(found))
        return np.array(found, bool)


def _share(right: np.ndarray) -> Value:
    if not len(right):
        return None
    return wilson_rate(float(right.mean()), len(right))


def paired(one: np.ndarray, other: np.ndarray, seed: int) -> Estimate:
    """Difference in accuracy between two searches on the same problems.

    >>> paired(np.array([True, True]), np.array([True, False]), 0).value
    0.5
    """
    differences = one.astype(np.float64) - other.astype(np.float64)
    if not differences.any():
        # Resamples of zeros have no spread; a Wilson interval bounds the difference.
        reach = wilson_rate(0.0, len(differences)).high
        return Estimate(0.0, -reach, reach)
    return mean_by_games(differences, np.arange(len(differences)), Resampling(seed=seed))
