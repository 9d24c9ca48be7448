# SPDX-License-Identifier: Apache-2.0
"""Solving problem sets: how many a solver solves, with confidence intervals and cost."""

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from typing import Final, Self

from hyoka._core import Player
from hyoka.agents import Answer, Solver, Spec, agent_of, spec_of
from hyoka.arena.elo import binomial_p_value, wilson_rate
from hyoka.arena.score import Score
from hyoka.foundation.errors import Error
from hyoka.foundation.math import Estimate
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import Position, game_facts
from hyoka.parallel import Done, Run, RunStopped, WorkerState
from hyoka.records.problems import Assertion, Exercise, GtpTest, NotAsked, Problem, exercise_of
from hyoka.search import SearchLimits, solve_ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One problem and its answer."""

    source: str
    line_number: int
    id: str
    game: str
    expected: str
    solved: bool
    move: str | None = None
    points: int = 0
    most_points: int = 0
    """The best move's points; 0 if the suite has none."""
    mate: int | None = None
    """A proven mate; positive if the first player mates."""
    score: float | None = None
    """A proven exact score, seen by the first player."""
    time_s: float = 0.0
    nodes: int = 0
    """Positions or playouts, as the agent counts them; 0 if unknown."""
    depth: int = 0
    error: str = ""
    """The error; a problem with an error counts as not solved."""

    @property
    def place(self) -> tuple[str, int, str]:
        """What identifies the problem."""
        return self.source, self.line_number, self.id

    @property
    def name(self) -> str:
        """The problem's name, or its place."""
        return self.id or f"{self.source}:{self.line_number}"


@dataclass(frozen=True)
class SolveSummary:
    """An agent's results on some problems."""

    player: str
    """The agent's spec."""
    verdicts: tuple[Verdict, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    """The number of problems without a question for the agent, by reason."""
    interrupted: bool = False
    title: str = ""
    """The agent's name for people."""

    @property
    def asked(self) -> int:
        """The number of attempted problems."""
        return len(self.verdicts)

    @property
    def solved(self) -> int:
        """The number of solved problems."""
        return sum(verdict.solved for verdict in self.verdicts)

    @property
    def errors(self) -> int:
        """The number of problems with errors."""
        return sum(bool(verdict.error) for verdict in self.verdicts)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the share of solved problems."""
        estimate = wilson_rate(self.solved / max(1, self.asked), self.asked)
        return estimate.low, estimate.high

    @property
    def points(self) -> tuple[int, int]:
        """The agent's points, and those of the best moves."""
        return (
            sum(verdict.points for verdict in self.verdicts),
            sum(verdict.most_points for verdict in self.verdicts),
        )

    @property
    def time_s(self) -> float:
        """The total time in seconds."""
        return sum(verdict.time_s for verdict in self.verdicts)

    @property
    def nodes(self) -> int:
        """The total number of positions or playouts."""
        return sum(verdict.nodes for verdict in self.verdicts)

    def only(self, condition: Callable[[Verdict], bool]) -> "SolveSummary":
        """Return the report on the problems that meet a condition."""
        return replace(self, verdicts=tuple(filter(condition, self.verdicts)))

    def as_json(self) -> dict[str, object]:
        """The results as plain values."""
        low, high = self.interval
        points, most = self.points
        return {
            "player": self.player,
            "title": self.title,
            "solved": self.solved,
            "asked": self.asked,
            "low": low,
            "high": high,
            "points": points,
            "most_points": most,
            "time_s": self.time_s,
            "nodes": self.nodes,
            "errors": self.errors,
            "skipped": dict(self.skipped),
            "interrupted": self.interrupted,
            "problems": [asdict(verdict) for verdict in self.verdicts],
        }


@dataclass(frozen=True)
class SolveComparison:
    """Two agents on the problems that both attempted.

    >>> SolveComparison(both=36, only_one=12, only_other=2, neither=0).difference.text(".4f")
    '0.2000 (0.0569 to 0.3404)'
    """

    both: int
    only_one: int
    """Problems that only the first agent solved."""
    only_other: int
    neither: int

    @classmethod
    def of(cls, one: SolveSummary, other: SolveSummary) -> Self:
        """Compare two agents."""
        solved = {each.place: each.solved for each in other.verdicts}
        pairs = Counter(
            (each.solved, solved[each.place]) for each in one.verdicts if each.place in solved
        )
        return cls(
            both=pairs[True, True],
            only_one=pairs[True, False],
            only_other=pairs[False, True],
            neither=pairs[False, False],
        )

    @property
    def p(self) -> float:
        """The p-value of McNemar's exact test: both solve equally many."""
        return binomial_p_value(Score(wins=self.only_one, losses=self.only_other))

    @property
    def difference(self) -> Estimate:
        """The first agent's share less the other's, with Newcombe's 95 % interval for pairs."""
        count = self.both + self.only_one + self.only_other + self.neither
        if not count:
            return Estimate(math.nan)
        one = wilson_rate((self.both + self.only_one) / count, count)
        other = wilson_rate((self.both + self.only_other) / count, count)
        joint: float = self.both * self.neither - self.only_one * self.only_other
        joint = max(joint - count / 2, 0) if joint > 0 else joint
        spread = math.prod(
            (share.value * (1 - share.value)) ** 0.5 * count for share in (one, other)
        )
        phi = joint / spread if spread else 0.0
        value = one.value - other.value
        below, above = (
            math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))
            for a, b in (
                (one.value - one.low, other.high - other.value),
                (one.high - one.value, other.value - other.low),
            )
        )
        return Estimate(value, value - below, value + above)

    def sentence(self, one: str, other: str) -> str:
        """The comparison in one line."""
        return (
            f"{one} v {other}: {self.difference.text('+.1%')} solved; only {one} solved "
            f"{self.only_one:,}, only {other} {self.only_other:,}; McNemar's p = {self.p:.2g}"
        )


_MOST_NODES: Final = 200_000_000
"""Enough for 22 empty squares in seconds; a count, so that results are reproducible."""


def is_as_good(exercise: Exercise, move: str | None, score: float | None) -> bool:
    """Whether an unlisted move is exactly as good as a listed one.

    `score` is the agent's proven exact score, seen by the first player. The set's own score counts
    if it lists no move or one that is too hard to judge; far from the end, only listed moves count.
    """
    can_tell = game_facts(exercise.game).search.ending_solver is not None
    if not can_tell or move is None or move in exercise.scores or move in exercise.avoid:
        return False
    game = exercise.to_solve()
    played = score if score is not None else _worth(game, move)
    if played is None:
        return False
    listed = _worth(game, exercise.best[0]) if exercise.best else None
    if listed is None:
        listed = exercise.score
    view = 1 if game.to_play is Player.first else -1
    return listed is not None and view * played >= view * listed


def _worth(game: Position, move: str) -> float | None:
    """Return the exact score after a move; None if it is illegal or too hard to compute."""
    try:
        after = game.play(move)
    except Error:
        return None
    if after.outcome is not None:
        return float(after.score)
    ending = solve_ending(after, nodes=_MOST_NODES, hash_mib=16)
    return float(ending.score) if ending.solved else None


def solve(
    problems: Iterable[Problem | GtpTest | Assertion],
    player: Spec | str,
    *,
    limits: SearchLimits | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
    progress: OnProgress | None = None,
) -> SolveSummary:
    """Let a search (`uct:playouts=1000`) or an engine (`uci:nodes=1000:stockfish`) solve problems.

    Problems are solved independently. An error is recorded in its verdict; only a bad spec or an
    engine that does not start raises. `skipped` counts problems without a question and GTP tests
    that an engine does not understand. GTP engines get GTP tests in the words of their file, with
    all earlier commands. `jobs` problems are solved in parallel here, or on `executor`. Verdicts
    are in the order of the problems; `on_verdict` gets each as it arrives. An interrupt (Ctrl-C)
    returns the report so far.
    """
    spec = spec_of(player)
    skipped = Counter[str]()
    exercises = []
    for problem in problems:
        exercise = exercise_of(problem, over_gtp=agent_of(spec).speaks_gtp)
        if isinstance(exercise, str):
            skipped[exercise] += 1
        else:
            exercises.append(exercise)
    tally = Tally(progress, spec.title, len(exercises), "problems")
    finished: list[Done[Exercise, Verdict | str]] = []
    interrupted = False
    work = functools.partial(_solve_one, spec, limits)
    with Run(
        work,
        jobs=max(1, min(jobs, len(exercises))),
        executor=executor,
        what=spec.title,
        name="hyoka-solve",
    ) as run:
        try:
            for batch in run.batches(exercises):
                for done in batch:
                    finished.append(done)
                    if on_verdict is not None and isinstance(done.result, Verdict):
                        on_verdict(done.result)
                    tally.add()
        except KeyboardInterrupt:
            interrupted = True
            finished += run.stop()
    results = [done.result for done in sorted(finished, key=lambda done: done.number)]
    skipped.update(result for result in results if isinstance(result, str))
    verdicts = tuple(result for result in results if isinstance(result, Verdict))
    return SolveSummary(spec.text, verdicts, skipped, interrupted, spec.title)


def _solve_one(
    spec: Spec, limits: SearchLimits | None, exercise: Exercise, worker_state: WorkerState
) -> Verdict | str:
    """Solve an exercise, or return the reason why it was skipped."""
    solver = worker_state.resource("solver", lambda: agent_of(spec).solver(limits))
    solver.start()
    verdict = _verdict(exercise, solver)
    if worker_state.is_stopped:  # the search was interrupted
        raise RunStopped
    return verdict


def _is_solved(exercise: Exercise, answer: Answer) -> bool:
    if answer.passes is not None:
        return answer.passes
    return exercise.is_solved_by(answer.move, answer.mate, answer.score) or is_as_good(
        exercise, answer.move, answer.score
    )


def _verdict(exercise: Exercise, solver: Solver) -> Verdict | str:
    error, solved = "", False
    try:
        answer = solver.answer(exercise)
        solved = _is_solved(exercise, answer)
    except NotAsked as why:
        return str(why)
    except (Error, ValueError, OverflowError) as problem:
        answer, error = Answer(None), str(problem)
    return Verdict(
        source=exercise.source,
        line_number=exercise.line_number,
        id=exercise.id,
        game=exercise.game,
        expected=exercise.expectation(),
        solved=solved,
        move=answer.move,
        points=exercise.points_of(answer.move),
        most_points=max(exercise.points.values(), default=0),
        mate=answer.mate,
        score=answer.score,
        time_s=answer.time_s,
        nodes=answer.nodes,
        depth=answer.depth,
        error=error,
    )
