# SPDX-License-Identifier: Apache-2.0
"""Give problems to a contestant, to as many of it side by side as wanted."""

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor

from hyoka.contestants import Answer, Solver, Spec, contestant_of, spec_of
from hyoka.errors import Error
from hyoka.fleet import Crew, Done, Run, RunStopped
from hyoka.problems import Assertion, Exercise, GtpTest, NotAsked, Problem, exercise_of
from hyoka.progress import OnProgress, Tally
from hyoka.search import SearchLimits
from hyoka.solving.exactness import is_as_good
from hyoka.solving.report import SolveReport, Verdict


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
        exercise = exercise_of(problem, over_gtp=contestant_of(spec).speaks_gtp)
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
    spec: Spec, limits: SearchLimits | None, exercise: Exercise, crew: Crew
) -> Verdict | str:
    """What came of an exercise, or why it was not asked."""
    solver = crew.member("solver", lambda: contestant_of(spec).solver(limits))
    solver.start()
    found = _verdict(exercise, solver)
    if crew.is_stopped:  # in the middle of its thoughts
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
