# SPDX-License-Identifier: Apache-2.0
"""Give problems to a search or an engine, in as many threads as wanted."""

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from hyoka.engines import AnySpec, EngineSpec, spec_of
from hyoka.errors import Error
from hyoka.problems import Assertion, GtpTest, Problem
from hyoka.progress import OnProgress, Tally
from hyoka.search import SearchLimits
from hyoka.solving.exactness import is_as_good
from hyoka.solving.judging import NotAsked, Task, task_of
from hyoka.solving.players import Answer, Player, player_of
from hyoka.solving.report import SolveReport, Verdict

_LOOK_S: Final = 0.1
"""How long a wait may keep us from seeing an interrupt."""


def solve(  # noqa: PLR0913 - a keyword for each choice
    problems: Iterable[Problem | GtpTest | Assertion],
    player: AnySpec | str,
    *,
    limits: SearchLimits | None = None,
    jobs: int = 1,
    on_verdict: Callable[[Verdict], None] | None = None,
    progress: OnProgress | None = None,
) -> SolveReport:
    """Let a search (`uct:playouts=1000`) or an engine (`uci:nodes=1000:stockfish`) solve problems.

    Every problem is solved as if it were the first: nothing is remembered. What goes wrong with one
    is written in its verdict, and the others go on; only a spec that names nothing, and an engine
    that does not start, raise. Problems that ask for no move, and tests in GTP that an engine does
    not understand, are counted in `skipped`. A GTP engine is given such tests in the words of their
    file, so that it knows the past, and may be asked for more than moves. Verdicts are
    in the order of the problems; `on_verdict` hears of each when it is there. An interrupt (Ctrl-C)
    gives the report on what has been solved so far.
    """
    spec = spec_of(player) if isinstance(player, str) else player
    skipped = Counter[str]()
    tasks = []
    for problem in problems:
        task = task_of(problem, over_gtp=speaks_gtp(spec))
        if isinstance(task, str):
            skipped[task] += 1
        else:
            tasks.append(task)
    run = _Run(tasks, [player_of(spec, limits) for _ in range(max(1, min(jobs, len(tasks))))])
    tally = Tally(progress, spec.text, len(tasks), "problems")

    def hear(found: Verdict | str) -> None:
        if on_verdict is not None and isinstance(found, Verdict):
            on_verdict(found)
        tally.add()

    interrupted = run.wait(hear)
    verdicts = tuple(found for found in run.found if isinstance(found, Verdict))
    skipped.update(found for found in run.found if isinstance(found, str))
    return SolveReport(spec.text, verdicts, skipped, interrupted)


def speaks_gtp(spec: AnySpec) -> bool:
    """Whether a player can be given tests in GTP's words."""
    return isinstance(spec, EngineSpec) and spec.protocol == "gtp"


class _Run:
    """Tasks taken by threads, a player each."""

    def __init__(self, tasks: list[Task], players: list[Player]) -> None:
        self._tasks = tasks
        self._players = players
        self._lock = threading.Lock()
        self._next = 0
        self._stopped = False
        self._done = queue.Queue[int | Exception | None]()
        self.found: list[Verdict | str | None] = [None] * len(tasks)
        """Of each task the verdict, or why it was not asked."""

    def wait(self, hear: Callable[[Verdict | str], None]) -> bool:
        """Run until all is done; True if it was interrupted. Raises what a player could not do."""
        threads = [
            threading.Thread(target=self._work, args=(player,), name="solver", daemon=True)
            for player in self._players
        ]
        for thread in threads:
            thread.start()
        interrupted = False
        try:
            self._hear(len(threads), hear)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self._stopped = True
            for thread in threads:
                while thread.is_alive() and interrupted:
                    for player in self._players:
                        player.stop()
                    thread.join(_LOOK_S)
        return interrupted

    def _hear(self, working: int, hear: Callable[[Verdict | str], None]) -> None:
        failures: list[Exception] = []
        while working:
            try:
                told = self._done.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            if told is None:
                working -= 1
            elif isinstance(told, Exception):
                failures.append(told)
                self._stopped = True
            elif (found := self.found[told]) is not None:
                hear(found)
        if failures:
            raise failures[0]

    def _work(self, player: Player) -> None:
        try:
            with player:
                while (number := self._taken()) is not None:
                    found = _verdict(self._tasks[number], player)
                    if self._stopped:
                        break
                    self.found[number] = found
                    self._done.put(number)
        except Exception as error:  # handed on to whoever waits
            self._done.put(error)
        finally:
            self._done.put(None)

    def _taken(self) -> int | None:
        with self._lock:
            if self._stopped or self._next == len(self._tasks):
                return None
            self._next += 1
            return self._next - 1


def _is_solved(task: Task, answer: Answer) -> bool:
    if answer.passes is not None:
        return answer.passes
    return task.is_solved_by(answer.move, answer.mate, answer.score) or is_as_good(
        task, answer.move, answer.score
    )


def _verdict(task: Task, player: Player) -> Verdict | str:
    """What came of a task, or why it was not asked."""
    error, solved = "", False
    try:
        answer = player.answer(task)
        solved = _is_solved(task, answer)
    except NotAsked as why:
        return str(why)
    except (Error, ValueError, OverflowError) as problem:
        answer, error = Answer(None), str(problem)
    return Verdict(
        source=task.source,
        line_number=task.line_number,
        id=task.id,
        game=task.game,
        expected=task.expectation(),
        solved=solved,
        move=answer.move,
        points=task.points_of(answer.move),
        most_points=max(task.points.values(), default=0),
        mate=answer.mate,
        score=answer.score,
        time_s=answer.time_s,
        nodes=answer.nodes,
        depth=answer.depth,
        error=error,
    )
