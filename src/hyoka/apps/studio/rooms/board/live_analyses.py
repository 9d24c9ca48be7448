# SPDX-License-Identifier: Apache-2.0
"""Running analyses: each in its own threads, stopped when no page watches it."""

import itertools
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

import hyoka as hk
from hyoka.analysis.accuracy import AccuracySettings
from hyoka.apps.studio.forms import is_whole_number
from hyoka.apps.studio.pages import Studio
from hyoka.apps.studio.rooms.board.board_agents import (
    Analyst,
    analysis_slot,
    analyst_of,
    value_of,
)
from hyoka.apps.studio.rooms.board.board_state import BoardState, usual, word_of
from hyoka.apps.studio.rooms.board.picture import heat_of, words_of
from hyoka.engines import EngineLine
from hyoka.foundation.text import distinct_titles
from hyoka.games import AnyMove, Line, game_facts, name_of
from hyoka.games.evaluation import UNKNOWN_MATE
from hyoka.search import MoveStats, SearchResult, SearchTree, TreeNode

MOST: Final = 4
"""Maximum number of evaluators side by side."""
_KEPT: Final = 8
_TREES: Final = 3
"""Number of latest analyses whose search trees stay in memory."""
_UNSEEN_S: Final = 5.0
"""A search that no page has read for this time is stopped."""
_A_PLY_S: Final = 0.1
_PV: Final = 12
_ARROWS: Final = 3
_MOST_VALUES: Final = 20_000
"""Number of positions whose values stay in memory."""
SIGNS: Final = ("", "?!", "?", "??")
"""Signs of good moves, inaccuracies, mistakes and blunders."""


@dataclass(frozen=True)
class MoveLine:
    """A move with what is expected after it."""

    value: float | None
    """The first player's expected score."""
    words: str
    """Its score, or how it ends."""
    visits: int
    expected: list[tuple[str, str]]
    """See `words_of`."""


@dataclass(frozen=True)
class ValueCurve:
    """An evaluator's values over the line on the board."""

    name: str
    values: list[float | None]
    """The first player's expected score by ply."""

    @property
    def row(self) -> tuple[str, list[float | None]]:
        """Its name and values, as the page's script takes them."""
        return self.name, [None if value is None else round(value, 4) for value in self.values]


@dataclass
class AnalysisLine:
    """Current result of one evaluator."""

    name: str
    title: str
    line: Line
    state: str = "waiting"
    """Then `thinking`, then `done`, `stopped` or `failed`."""
    problem: str = ""
    result: SearchResult | None = None
    variations: Sequence[EngineLine] = ()
    """Of an agent without a result, the best first."""
    tree: SearchTree | None = None

    @property
    def evaluation(self) -> hk.Evaluation | None:
        """The evaluation of an agent without a result."""
        return self.variations[0].evaluation if self.variations else None

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
            parts.append(_score_text(result.score, result.unit))
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
            depth = f"depth {result.depth}, " if result.depth else ""
            return f"{depth}{count} in {result.time_s:.1f} s"
        if self.evaluation is None:
            return ""
        found = self.evaluation
        nodes = f"{found.nodes:,} nodes" if found.nodes else ""
        time_s = f"{found.time_s:.1f} s" if found.time_s else ""
        depth = f"depth {found.depth}" if found.depth else ""
        return ", ".join(filter(None, (depth, " in ".join(filter(None, (nodes, time_s))))))

    @property
    def expected(self) -> list[tuple[str, str]]:
        """The line it expects; see `words_of`."""
        if self.result is not None:
            return words_of(self.line, self.result.pv[:_PV])
        return self._words_of(self.variations[0].moves) if self.variations else []

    def move_lines(self, most: int) -> list[MoveLine]:
        """The best moves in the order of the result, or the one that it expects."""
        game = name_of(self.line)
        if self.variations:
            return [
                MoveLine(
                    value_of(each.evaluation, game),
                    self._score_words(each.evaluation),
                    0,
                    self._words_of(each.moves),
                )
                for each in self.variations[:most]
                if each.moves
            ]
        moves = () if self.result is None else self.result.moves[:most]
        return [
            MoveLine(
                each.value,
                self._score_words(each),
                each.visits,
                words_of(self.line, (each.pv or (each.move,))[:_PV]),
            )
            for each in moves
        ]

    def _words_of(self, moves: Sequence[str]) -> list[tuple[str, str]]:
        """An engine's variation up to its first illegal move; see `words_of`."""
        line, legal = self.line, list[AnyMove]()
        for text in moves[:_PV]:
            if not line.is_legal(text):
                break
            legal.append(line.parse(text))
            line = line.play(text)
        return words_of(self.line, legal)

    def _score_words(self, found: MoveStats | hk.Evaluation) -> str:
        """A move's proven end, or its score."""
        facts = game_facts(name_of(self.line))
        if found.mate is not None and abs(found.mate) < UNKNOWN_MATE:
            count = abs(found.mate)
            if isinstance(found, MoveStats) and facts.mates_in is not None:
                count = facts.counted_mate(count)
            return f"{'+' if found.mate > 0 else '−'}M{count}"
        if isinstance(found, MoveStats) and found.proven is not None:
            return found.proven
        return "" if found.score is None else _score_text(found.score, facts.naming.unit)

    @property
    def on_board(self) -> dict[str, Any]:
        """Its visits, or priors, or else its best moves, as heat; see `heat_of`."""
        weights: dict[AnyMove, float] = {}
        if self.result is not None:
            for report in self.result.moves:
                weights[report.move] = float(report.visits or report.prior or 0)
        if not any(weights.values()):
            lines = self.move_lines(_ARROWS)
            moves = [self.line.parse(each.expected[0][0]) for each in lines if each.expected]
            weights = {move: 1 / (1 + rank) ** 2 for rank, move in enumerate(moves)}
        return heat_of(self.line, weights)

    @property
    def counts_visits(self) -> bool:
        """Whether it counts visits of moves."""
        return self.result is not None and any(each.visits for each in self.result.moves)

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


def _score_text(score: float, unit: str) -> str:
    """A score with its sign, centipawns as pawns.

    >>> _score_text(-25.0, "centipawns"), _score_text(3.5, "points")
    ('−0.25', '+3.5')
    """
    text = f"{score / 100:+.2f}" if unit == "centipawns" else f"{score:+.1f}"
    return text.replace("-", "−")


@dataclass
class Job:
    """A running analysis or curve that a page shows."""

    number: int
    table: BoardState
    begun: float = field(default_factory=time.monotonic)
    analysis_lines: list[AnalysisLine] = field(default_factory=list)
    seen: float = field(default_factory=time.monotonic)
    stopped: bool = False
    workers: list[threading.Thread] = field(default_factory=list)
    has_news: threading.Event = field(default_factory=threading.Event)
    """Set by the first result or end of an evaluator."""
    counts: dict[str, int] = field(default_factory=dict)
    """Of the evaluation of a whole game: evaluated positions by evaluator."""
    _stoppers: list[Callable[[], None]] = field(default_factory=list)
    _keeps_trees: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def title(self, name: str) -> str:
        """The title of one of the evaluators."""
        return next(each.title for each in self.analysis_lines if each.name == name)

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
                self.has_news.set()
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
        self._values: OrderedDict[int, dict[str, float]] = OrderedDict()
        """Values by position (see `_keys`) and evaluator."""
        self._titles: dict[str, str] = {}

    def note(self, key: int, name: str, value: float | None) -> None:
        """Keep an evaluator's value of a position."""
        if value is None:
            return
        with self._lock:
            self._values.setdefault(key, {})[name] = value
            self._values.move_to_end(key)
            while len(self._values) > _MOST_VALUES:
                self._values.popitem(last=False)

    def curves(self, table: BoardState) -> list[ValueCurve]:
        """What evaluators said of the positions of the line, as far as known."""
        with self._lock:
            known = [dict(self._values.get(key, {})) for key in _keys(table)]
        names = list(dict.fromkeys(name for values in known for name in values))
        titles = distinct_titles([self._titles[name] for name in names], names)
        return [
            ValueCurve(title, [values.get(name) for values in known])
            for name, title in zip(names, titles, strict=True)
        ]

    def _lines(
        self, names: Sequence[str], analysts: Sequence[Analyst], line: Line
    ) -> list[AnalysisLine]:
        titles = [analyst.title for analyst in analysts]
        self._titles |= dict(zip(names, titles, strict=True))
        shown = distinct_titles(titles, names)
        return [AnalysisLine(name, title, line) for name, title in zip(names, shown, strict=True)]

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
        job.analysis_lines = self._lines(names, analysts, table.line)
        key = _keys(table)[table.ply]

        def work(analysis_line: AnalysisLine, analyst: Analyst) -> None:
            def on_result(result: SearchResult) -> None:
                analysis_line.result = result
                job.has_news.set()
                if job.is_unseen or job.stopped:
                    analyst.stop()

            tree = analyst.search_tree(analysis_line.line, on_result)
            if tree is not None:
                job.keep(analysis_line, tree)
            for variations in () if tree is not None else analyst.variations(analysis_line.line):
                analysis_line.variations = variations
                job.has_news.set()
                if job.is_unseen or job.stopped:
                    break
            self.note(key, analysis_line.name, analysis_line.value)

        job.start(work, analysts)
        return job

    def evaluate_game(self, studio: Studio, table: BoardState) -> Job:
        """Evaluate every position of the line; raises Error."""
        if not table.moves:
            raise hk.Error("play some moves first: the graph is over those of a game")
        names = evaluators(table)
        analysts = [analyst_of(studio, name, table.game, _A_PLY_S) for name in names]
        job = self._new(table)
        job.counts = dict.fromkeys(names, 0)
        lines = list(itertools.accumulate(table.moves, play, initial=table.at(0).line))
        keys = _keys(table)
        job.analysis_lines = self._lines(names, analysts, lines[-1])

        def work(analysis_line: AnalysisLine, analyst: Analyst) -> None:
            name = analysis_line.name
            plies = [ply for ply, line in enumerate(lines) if line.outcome is None]
            for ply, line in enumerate(lines):
                if line.outcome is not None:
                    self.note(keys[ply], name, float(line.outcome.value))
            evaluations = analyst.evaluate_each(lines[-1], plies)
            for ply, evaluation in zip(plies, evaluations, strict=False):
                self.note(keys[ply], name, value_of(evaluation, table.game))
                job.counts[name] += 1
                if job.is_unseen or job.stopped:
                    return

        job.start(work, analysts)
        return job


def _keys(table: BoardState) -> list[int]:
    """A key for each position of the line, with its history."""

    def after(key: int, word: str) -> int:
        return hash((key, word))

    start = hash((table.game, table.first_position.text))
    return list(itertools.accumulate(table.moves, after, initial=start))


def line_key(table: BoardState) -> str:
    """Identifies the line on the board, to its end."""
    return f"{_keys(table)[-1]:x}"


def marks(table: BoardState, curves: Sequence[ValueCurve]) -> list[str]:
    """The sign of each move of the line, by the first evaluator that knows what it loses."""
    losses = np.zeros(len(table.moves))
    known = np.zeros(len(table.moves), bool)
    first = table.first_position.to_play.value
    sides = np.where((np.arange(len(losses)) + first) % 2 == 0, 1.0, -1.0)
    for curve in curves:
        values = np.array([math.nan if each is None else each for each in curve.values])
        lost = sides * (values[:-1] - values[1:])
        is_new = ~known & np.isfinite(lost)
        losses[is_new] = lost[is_new]
        known |= is_new
    return [SIGNS[kind] for kind in AccuracySettings().classes(losses)]


def play(line: Line, word: str) -> Line:
    """A line with one move more."""
    return line.play(word)


def evaluators(table: BoardState) -> list[str]:
    """Evaluators: those of the address, or the game's default search."""
    names = list(table.evaluators) or [usual(table.game)]
    if len(names) > MOST:
        raise hk.errors.ParameterError("with", f"names {MOST} evaluators at most, not {len(names)}")
    return names
