# SPDX-License-Identifier: Apache-2.0
"""Problem sets given to a solver: how many it solves, how reliably, at what cost."""

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Final

from hyoka._core import Player
from hyoka.agents import Answer, Solver, Spec, agent_of, spec_of
from hyoka.foundation.errors import Error
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import Position, game_facts
from hyoka.parallel import Done, Run, RunStopped, WorkerState
from hyoka.records.problems import Assertion, Exercise, GtpTest, NotAsked, Problem, exercise_of
from hyoka.search import SearchLimits, solve_ending


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share; all of [0, 1] where nothing was tried.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    whole = 1 + z * z / trials
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One problem, and what was made of it."""

    source: str
    line_number: int
    id: str
    game: str
    expected: str
    solved: bool
    move: str | None = None
    points: int = 0
    most_points: int = 0
    """What the best move is worth; 0 where a suite gives no points."""
    mate: int | None = None
    """A mate that was proved: > 0, the first player mates."""
    score: float | None = None
    """An exact score that was proved, seen by the first player."""
    time_s: float = 0.0
    nodes: int = 0
    """Positions or playouts, as the player counts them; 0 if it does not say."""
    depth: int = 0
    error: str = ""
    """What went wrong; such a problem counts as not solved."""

    @property
    def name(self) -> str:
        """The problem's name, or else its place."""
        return self.id or f"{self.source}:{self.line_number}"


@dataclass(frozen=True)
class SolveReport:
    """What one player made of some problems."""

    player: str
    """The text of the search or engine."""
    verdicts: tuple[Verdict, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    """How many problems ask for no move, by reason."""
    interrupted: bool = False

    @property
    def asked(self) -> int:
        """How many problems were tried."""
        return len(self.verdicts)

    @property
    def solved(self) -> int:
        """How many were solved."""
        return sum(verdict.solved for verdict in self.verdicts)

    @property
    def errors(self) -> int:
        """With how many something went wrong."""
        return sum(bool(verdict.error) for verdict in self.verdicts)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the share that is solved."""
        return wilson_interval(self.solved, self.asked)

    @property
    def points(self) -> tuple[int, int]:
        """Points won, and points that the best moves are worth."""
        return (
            sum(verdict.points for verdict in self.verdicts),
            sum(verdict.most_points for verdict in self.verdicts),
        )

    @property
    def time_s(self) -> float:
        """Seconds for all problems, added up."""
        return sum(verdict.time_s for verdict in self.verdicts)

    @property
    def nodes(self) -> int:
        """Positions or playouts for all problems."""
        return sum(verdict.nodes for verdict in self.verdicts)

    def only(self, wanted: Callable[[Verdict], bool]) -> "SolveReport":
        """The report on those problems for which `wanted` holds."""
        return replace(self, verdicts=tuple(filter(wanted, self.verdicts)))


_MOST_NODES: Final = 200_000_000
"""Seconds of work, and enough for 22 empty squares; a count, so that verdicts never vary."""


def is_as_good(exercise: Exercise, move: str | None, score: float | None) -> bool:
    """Whether a move that a set does not list is exactly as good as one that it does.

    `score` is the exact one of best play, seen by the first player, where the player proved it.
    A set's own score is believed where it lists no move, or one that is too hard to judge; where
    the answer itself is too far from the end, only what is listed counts.
    """
    can_tell = game_facts(exercise.game).ending_solver is not None
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
    """The exact score after a move; None if it is not legal or too hard to tell."""
    try:
        after = game.play(move)
    except Error:
        return None
    if after.outcome is not None:
        return float(after.score)
    ending = solve_ending(after, nodes=_MOST_NODES, hash_mib=16)
    return float(ending.score) if ending.solved else None


def solve(  # noqa: PLR0913 - a keyword for each choice
    problems: Iterable[Problem | GtpTest | Assertion],
    player: Spec | str,
    *,
    limits: SearchLimits | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
    progress: OnProgress | None = None,
) -> SolveReport:
    """Let a search (`uct:playouts=1000`) or an engine (`uci:nodes=1000:stockfish`) solve problems.

    Every problem is solved as if it were the first: nothing is remembered. What goes wrong with one
    is written in its verdict, and the others go on; only a spec that names nothing, and an engine
    that does not start, raise. Problems that ask for no move, and tests in GTP that an engine does
    not understand, are counted in `skipped`. A GTP engine is given such tests in the words of their
    file, so that it knows the past, and may be asked for more than moves. `jobs` problems are
    solved side by side here, or on `executor` if one is given. Verdicts are in the order of the
    problems; `on_verdict` hears of each when it is there. An interrupt (Ctrl-C) gives the report on
    what has been solved so far.
    """
    spec = spec_of(player) if isinstance(player, str) else player
    skipped = Counter[str]()
    exercises = []
    for problem in problems:
        exercise = exercise_of(problem, over_gtp=agent_of(spec).speaks_gtp)
        if isinstance(exercise, str):
            skipped[exercise] += 1
        else:
            exercises.append(exercise)
    tally = Tally(progress, spec.text, len(exercises), "problems")
    found: list[Done[Exercise, Verdict | str]] = []
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
                    found.append(done)
                    if on_verdict is not None and isinstance(done.result, Verdict):
                        on_verdict(done.result)
                    tally.add()
        except KeyboardInterrupt:
            interrupted = True
            found += run.stop()
    results = [done.result for done in sorted(found, key=lambda done: done.number)]
    skipped.update(result for result in results if isinstance(result, str))
    verdicts = tuple(result for result in results if isinstance(result, Verdict))
    return SolveReport(spec.text, verdicts, skipped, interrupted)


def _solve_one(
    spec: Spec, limits: SearchLimits | None, exercise: Exercise, worker_state: WorkerState
) -> Verdict | str:
    """What came of an exercise, or why it was not asked."""
    solver = worker_state.resource("solver", lambda: agent_of(spec).solver(limits))
    solver.start()
    found = _verdict(exercise, solver)
    if worker_state.is_stopped:  # in the middle of its thoughts
        raise RunStopped
    return found


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
