# SPDX-License-Identifier: Apache-2.0
"""Running analyses: each in its own threads, stopped when no page watches it."""

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import hyoka as hk
from hyoka.apps.studio.forms import is_whole_number
from hyoka.apps.studio.rooms.board.board_agents import (
    Analyst,
    analysis_slot,
    analyst_of,
    value_of,
)
from hyoka.apps.studio.rooms.board.board_state import BoardState, word_of
from hyoka.apps.studio.rooms.board.picture import heat_of, words_of
from hyoka.apps.studio.state import Studio
from hyoka.games import AnyMove, Line, game_facts, name_of
from hyoka.games.evaluation import UNKNOWN_MATE
from hyoka.reporting.charts import AltairChart, lines_over_plies
from hyoka.search import MoveStats, SearchResult, SearchSpec, SearchTree, TreeNode

MOST: Final = 4
"""Maximum number of evaluators side by side."""
_KEPT: Final = 8
_TREES: Final = 3
"""Number of latest analyses whose search trees stay in memory."""
_UNSEEN_S: Final = 5.0
"""A search that no page has read for this time is stopped."""
_A_PLY_S: Final = 0.1
_SHOWN: Final = 8
_PV: Final = 10


@dataclass
class AnalysisLine:
    """Current result of one evaluator."""

    name: str
    line: Line
    state: str = "waiting"
    """Then `thinking`, then `done`, `stopped` or `failed`."""
    problem: str = ""
    result: SearchResult | None = None
    evaluation: hk.Evaluation | None = None
    tree: SearchTree | None = None

    @property
    def value(self) -> float | None:
        """The first player's expected result, 0 to 1."""
        if self.result is not None and self.result.value is not None:
            return self.result.value
        game = name_of(self.line)
        return None if self.evaluation is None else value_of(self.evaluation, game)

    @property
    def words(self) -> str:
        """Its evaluation of the position."""
        facts, parts = game_facts(name_of(self.line)), []
        value, result = self.value, self.evaluation or self.result
        if value is not None:
            parts.append(f"{facts.naming.colors[0]} {value:.1%}")
        if result is not None and result.mate is not None:
            parts.append(
                f"{facts.naming.colors[0 if result.mate > 0 else 1]} wins{self._in(result)}"
            )
        elif result is not None and result.score is not None:
            parts.append(f"{result.score:+.1f} {result.unit}")
        if self.result is not None and self.result.proven and self.result.mate is None:
            parts.append(f"proven {self.result.proven}")
        return ", ".join(parts)

    def _in(self, result: hk.Evaluation | SearchResult) -> str:
        """Distance to a proven end, in the game's usual unit."""
        facts, mate = game_facts(name_of(self.line)), result.mate or 0
        if isinstance(result, SearchResult) and facts.mates_in is not None:
            mate = facts.counted_mate(mate)
        count, unit = abs(mate), facts.mates_in or "plies"
        if count >= UNKNOWN_MATE:
            return ""
        return f" in {count} {unit if count != 1 else {'moves': 'move', 'plies': 'ply'}[unit]}"

    @property
    def effort(self) -> str:
        """Amount of work done."""
        result = self.result
        if result is not None:
            count = (
                f"{result.playouts:,} playouts" if result.playouts else f"{result.nodes:,} nodes"
            )
            depth = f", depth {result.depth}" if result.depth else ""
            return f"{count} in {result.time_s:.1f} s{depth}"
        if self.evaluation is None:
            return ""
        nodes = f"{self.evaluation.nodes:,} nodes in " if self.evaluation.nodes else ""
        return f"{nodes}{self.evaluation.time_s:.1f} s"

    @property
    def expected(self) -> list[tuple[str, str]]:
        """The line it expects; see `words_of`."""
        if self.result is not None:
            return words_of(self.line, self.result.pv[:_PV])
        best = None if self.evaluation is None else self.evaluation.best
        if best is None or not self.line.is_legal(best):
            return []
        return words_of(self.line, [self.line.parse(best)])

    @property
    def moves(self) -> list[tuple[str, str, MoveStats]]:
        """The best moves, for addresses and as people write them, with reports."""
        reports = [] if self.result is None else self.result.moves[:_SHOWN]
        return [(*words_of(self.line, [report.move])[0], report) for report in reports]

    @property
    def on_board(self) -> dict[str, Any]:
        """Its visits, or priors, or else its best move, as heat; see `heat_of`."""
        weights: dict[AnyMove, float] = {}
        if self.result is not None:
            for report in self.result.moves:
                weights[report.move] = float(report.visits or report.prior or 0)
            if not any(weights.values()) and self.result.best is not None:
                weights = {self.result.best: 1.0}
        elif self.expected:
            weights = {self.line.parse(self.expected[0][0]): 1.0}
        return heat_of(self.line, weights)

    @property
    def counts_visits(self) -> bool:
        """Whether it counts visits of moves."""
        return self.result is not None and any(each.visits for each in self.result.moves)

    @property
    def has_priors(self) -> bool:
        """Whether it has priors of moves."""
        reports = () if self.result is None else self.result.moves
        return any(each.prior is not None for each in reports)

    def way(self, path: str) -> list[str]:
        """The moves to a node of its tree, for addresses."""
        numbers = [text for text in path.split(".") if text]
        nodes = (self.node(".".join(numbers[: i + 1])) for i in range(len(numbers)))
        return [word_of(node.move) for node in nodes if node is not None]

    def node(self, path: str) -> TreeNode | None:
        """A node of its tree by the numbers of children on the way, as `0.2`; None if not there.

        Raises Error if there is no tree.
        """
        tree = self.tree
        if tree is None:
            raise hk.Error("the tree of this analysis is gone: analyze again")
        node: TreeNode | None = tree.root
        for text in filter(None, path.split(".")):
            if node is None or not is_whole_number(text) or int(text) >= len(node.children):
                return None
            node = node.children[int(text)]
        return node


@dataclass
class Job:
    """A running analysis or curve that a page shows."""

    number: int
    table: BoardState
    analysis_lines: list[AnalysisLine] = field(default_factory=list)
    seen: float = field(default_factory=time.monotonic)
    stopped: bool = False
    workers: list[threading.Thread] = field(default_factory=list)
    values: dict[str, dict[int, float]] = field(default_factory=dict)
    """Of a curve: by evaluator and ply."""
    _stoppers: list[Callable[[], None]] = field(default_factory=list)
    _keeps_trees: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_over(self) -> bool:
        """Whether all evaluators have ended."""
        return not any(worker.is_alive() for worker in self.workers)

    @property
    def is_unseen(self) -> bool:
        """Whether no page has read it for some seconds."""
        return time.monotonic() - self.seen > _UNSEEN_S

    def look(self) -> None:
        """Note that a page has read the results."""
        self.seen = time.monotonic()

    def stop(self) -> None:
        """Stop all evaluators; their results so far stay."""
        self.stopped = True
        for stop in list(self._stoppers):
            stop()

    def keep(self, analysis_line: AnalysisLine, tree: SearchTree) -> None:
        """Result of a search, with its tree unless newer analyses replaced it."""
        analysis_line.result = tree.result
        with self._lock:
            if self._keeps_trees:
                analysis_line.tree = tree

    def drop_trees(self) -> None:
        """Keep the results, but no trees."""
        with self._lock:
            self._keeps_trees = False
            for analysis_line in self.analysis_lines:
                analysis_line.tree = None

    def start(self, work: Callable[[AnalysisLine, Analyst], None], analysts: list[Analyst]) -> None:
        """Begin, one thread for each evaluator."""

        def guarded(analysis_line: AnalysisLine, analyst: Analyst) -> None:
            try:
                with analysis_slot():
                    analysis_line.state = "thinking"
                    if not self.stopped:
                        work(analysis_line, analyst)
                analysis_line.state = "done"
            except hk.Error as error:
                stopped = "stopped" if self.stopped else ""
                analysis_line.state, analysis_line.problem = stopped or "failed", str(error)
            except Exception as error:  # a page waits for an answer, whatever it is
                analysis_line.state, analysis_line.problem = "failed", type(error).__name__
            finally:
                self._stoppers.remove(analyst.stop)  # a search has its own memory, and keeps it

        self._stoppers = [each.stop for each in analysts]
        for analysis_line, analyst in zip(self.analysis_lines, analysts, strict=True):
            worker = threading.Thread(target=guarded, args=(analysis_line, analyst), daemon=True)
            self.workers.append(worker)
            worker.start()


class Analyses:
    """The latest analyses of a studio."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[int, Job] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def get(self, number: int) -> Job:
        """An analysis; raises Error if it is no longer kept."""
        try:
            return self._jobs[number]
        except KeyError:
            raise hk.Error("this analysis is gone: analyze again") from None

    def _new(self, table: BoardState) -> Job:
        with self._lock:
            job = Job(next(self._numbers), table)
            self._jobs[job.number] = job
            while len(self._jobs) > _KEPT:
                self._jobs.popitem(last=False)[1].stop()
            for older in list(self._jobs.values())[:-_TREES]:
                older.drop_trees()
        return job

    def analyze(self, studio: Studio, table: BoardState) -> Job:
        """Evaluate the position on the board with the table's evaluators; raises Error."""
        if table.line.outcome is not None:
            raise hk.Error("the game is over: there is nothing to analyze")
        names = evaluators(table)
        analysts = [analyst_of(studio, name, table.game, table.seconds) for name in names]
        job = self._new(table)
        job.analysis_lines = [AnalysisLine(name, table.line) for name in names]

        def work(analysis_line: AnalysisLine, analyst: Analyst) -> None:
            def on_result(result: SearchResult) -> None:
                analysis_line.result = result
                if job.is_unseen or job.stopped:
                    analyst.stop()

            tree = analyst.search_tree(analysis_line.line, on_result)
            if tree is not None:
                job.keep(analysis_line, tree)
            else:
                analysis_line.evaluation = analyst.evaluate(analysis_line.line)

        job.start(work, analysts)
        return job

    def curve(self, studio: Studio, table: BoardState) -> Job:
        """Evaluate every position of the line; raises Error."""
        if not table.moves:
            raise hk.Error("play some moves first: a curve is over those of a game")
        names = evaluators(table)
        analysts = [analyst_of(studio, name, table.game, _A_PLY_S) for name in names]
        job = self._new(table)
        job.values = {name: {} for name in names}
        lines = list(itertools.accumulate(table.moves, play, initial=table.at(0).line))
        job.analysis_lines = [AnalysisLine(name, lines[-1]) for name in names]

        def work(analysis_line: AnalysisLine, analyst: Analyst) -> None:
            on = [(ply, line) for ply, line in enumerate(lines) if line.outcome is None]
            for ply, line in enumerate(lines):
                if line.outcome is not None:
                    job.values[analysis_line.name][ply] = float(line.outcome.value)
            evaluations = analyst.evaluate_each(lines[-1], [ply for ply, _ in on])
            for (ply, _), evaluation in zip(on, evaluations, strict=False):
                value = value_of(evaluation, table.game)
                if value is not None:
                    job.values[analysis_line.name][ply] = value
                if job.is_unseen or job.stopped:
                    return

        job.start(work, analysts)
        return job


def play(line: Line, word: str) -> Line:
    """A line with one move more."""
    return line.play(word)


def evaluators(table: BoardState) -> list[str]:
    """Evaluators: those of the address, or the game's default search."""
    names = list(table.evaluators) or [usual(table.game)]
    if len(names) > MOST:
        raise hk.errors.ParameterError("with", f"names {MOST} evaluators at most, not {len(names)}")
    return names


def usual(game: str) -> str:
    """The search that is usual in a game; alpha-beta with several moves to compare."""
    kind = SearchSpec.from_text(game_facts(game).search.spec).kind
    return f"{kind}:multipv=4" if kind == "ab" else kind


def curve_chart(job: Job) -> AltairChart:
    """The values over the game; a point leads to its position."""
    table, names = job.table, ["start", *job.table.names]
    facts = table.facts
    rows = [
        {
            "ply": ply,
            "value": value,
            "line": name,
            "address": table.at(ply).address,
            "words": f"{name}; after {ply}: {names[ply]}; {facts.naming.colors[0]} {value:.1%}",
        }
        for name, values in job.values.items()
        for ply, value in sorted(values.items())
    ]
    title = f"{facts.naming.colors[0]} is expected to get"
    plies = len(table.moves)
    return lines_over_plies(rows, names=list(job.values), plies=plies, title=title, ply=table.ply)
