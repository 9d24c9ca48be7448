# SPDX-License-Identifier: Apache-2.0
"""Game reviews: the loss of expected score by each move of a game, and what would have been better.

An evaluator judges every position; the values become losses, classes and accuracies by
`hyoka.analysis.accuracy`. A review lives as long as the server: the same game and evaluator are
computed once.
"""

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import hyoka as hk
from hyoka.agents import Agent, Evaluator, RecordedGame, spec_of
from hyoka.analysis.accuracy import CLASSES, GameAccuracy, ReviewedMove, game_accuracy
from hyoka.apps.studio.forms import agent_choices, decimal_number, whole_number
from hyoka.apps.studio.pages import (
    END,
    LruCache,
    Room,
    Studio,
    address,
    fragment,
    html,
    page,
    studio_of,
    wants_part,
    watch,
)
from hyoka.apps.studio.rooms.board import games_of, record_from
from hyoka.apps.studio.rooms.board.board_agents import (
    analysis_slot,
    overdue_error,
    stopped_after,
    value_of,
)
from hyoka.apps.studio.rooms.board.board_state import BoardState, played, table_of, word_of
from hyoka.apps.studio.rooms.board.picture import marked_board, turned, words_of
from hyoka.apps.studio.rooms.viewer import result_of
from hyoka.engines import Failure
from hyoka.games import Line, game_facts
from hyoka.records import WRITERS, record_text
from hyoka.records.record import Remark
from hyoka.reporting import Table
from hyoka.search import SearchLimits, SearchSpec

PACES: Final = {"0.1": "Quick", "0.5": "Thorough", "2": "Deep", "0": "Its own limits"}
"""Seconds for a position, as addresses have them, and their titles."""
_UNSEEN_S: Final = 5.0
_START_S: Final = 30.0
"""Additional time for an engine to start and to end."""
_KEPT: Final = 100
_RECORDS: Final = 32
_BOARD: Final = 460
_MOMENT: Final = 240
_BETTER: Final = 12
"""Maximum number of bad moves for which a better line is searched."""
_BETTER_PLIES: Final = 4
_LISTED: Final = 200
_NAGS: Final = {"inaccuracy": 6, "mistake": 2, "blunder": 4}
_SOLVERS: Final = ("mate", "exact", "random", "ranking")
"""Agents whose values say little about a whole game."""
_making: Final = threading.Lock()
_records: Final = LruCache[hk.Record](_RECORDS)


@dataclass(eq=False)
class Review:
    """The review of a game by an evaluator, as far as it has come."""

    number: int
    table: BoardState
    players: tuple[str, str]
    evaluator: str
    seconds: float
    """For each position; 0 for the evaluator's own limits."""
    evaluations: dict[int, hk.Evaluation] = field(default_factory=dict)
    better: dict[int, list[str]] = field(default_factory=dict)
    """Better moves by the ply before a bad one, as addresses have them."""
    state: str = "waiting"
    """Then `working`, then `done`, `stopped` or `failed`."""
    problem: str = ""
    seen: float = 0.0
    _stop: Any = None
    _worker: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def line(self, ply: int) -> Line:
        """The line up to a ply."""
        return self.table.at(ply).line

    @cached_property
    def movers(self) -> list[int]:
        """The player to move at each ply."""
        line = self.table.first_position.line()
        movers = [line.to_play.value]
        for move in self.table.moves:
            line = line.play(move)
            movers.append(line.to_play.value)
        return movers

    @cached_property
    def end(self) -> float | None:
        """The first player's result if the game ended on the board."""
        outcome = self.line(self.total - 1).outcome
        return None if outcome is None else float(outcome.value)

    @cached_property
    def numbers(self) -> list[str]:
        """How people number the move before each ply: `12.`, in chess also `12…`."""
        plies = range(self.total)
        if self.table.facts.mates_in != "moves":  # a move is one of each player in chess only
            return [f"{ply}." for ply in plies]
        fields = self.table.first_position.text.split()
        first = 2 * int(fields[5]) - 1 + (fields[1] == "b")
        return [
            f"{ply // 2}{'.' if ply % 2 == 0 else '…'}" for ply in range(first, first + self.total)
        ]

    @property
    def total(self) -> int:
        """Number of positions."""
        return len(self.table.moves) + 1

    @property
    def is_over(self) -> bool:
        """Whether nothing is being computed."""
        return self._worker is None or not self._worker.is_alive()

    @property
    def title(self) -> str:
        """The evaluator, for people."""
        return evaluator_title(self.evaluator)

    @property
    def values(self) -> dict[int, float]:
        """The first player's expected scores by ply, as far as they are known."""
        values = {
            ply: value
            for ply, evaluation in list(self.evaluations.items())
            if (value := value_of(evaluation, self.table.game)) is not None
        }
        if self.end is not None:
            values[self.total - 1] = self.end
        return values

    def report(self) -> GameAccuracy:
        """What is known so far."""
        better = {
            ply: tuple(text for _, text in words_of(self.line(ply), self._moves(ply, words)))
            for ply, words in list(self.better.items())
        }
        colors = self.table.facts.naming.colors
        return game_accuracy(
            self.table.names,
            self.movers,
            self.values,
            players=self.players,
            colors=colors,
            better=better,
        )

    def _moves(self, ply: int, words: Sequence[str]) -> list[Any]:
        line, moves = self.line(ply), []
        for word in list(words):
            moves.append(line.parse(word))
            line = line.play(moves[-1])
        return moves

    def look(self) -> None:
        """Note that a page has read the results."""
        self.seen = time.monotonic()

    def stop(self) -> None:
        """Stop computing; what is known stays."""
        self.state = "stopped"
        if self._stop is not None:
            self._stop()

    def start(self, agent: Agent[Any]) -> None:
        """Compute what is missing, in a thread."""
        with self._lock:
            if not self.is_over or self.state == "done":
                return
            self.state, self.problem = "waiting", ""
            self.look()
            self._worker = threading.Thread(target=self._run, args=(agent,), daemon=True)
            self._worker.start()

    def _run(self, agent: Agent[Any]) -> None:
        try:
            with analysis_slot():
                if self.state == "waiting":
                    self.state = "working"
                    self._work(agent)
            if self.state == "working":
                self.state = "done"
        except hk.Error as error:
            if self.state != "stopped":
                self.state, self.problem = "failed", str(error)
        except Exception as error:  # a page waits for an answer, whatever it is
            self.state, self.problem = "failed", type(error).__name__
        finally:
            self._stop = None

    def _work(self, agent: Agent[Any]) -> None:
        game = self.table.game
        own = self.seconds == 0 or (agent.names_program and agent.has_limits)
        evaluator = agent.evaluator(game, None if own else SearchLimits(time_s=self.seconds))
        self._stop = evaluator.stop
        positions = self.total - (self.end is not None)
        open_plies = [ply for ply in range(positions) if ply not in self.evaluations]
        with _in_time(evaluator, agent, self.seconds, len(open_plies) + _BETTER * _BETTER_PLIES):
            evaluator.identity()
            whole = RecordedGame.of_line(game, self.line(self.total - 1), open_plies)
            for ply, evaluation in zip(
                open_plies, _evaluations(evaluator, agent, [whole]), strict=False
            ):
                if not self._goes_on():
                    return
                self.evaluations[ply] = evaluation
            self._find_better(evaluator, agent)

    def _goes_on(self) -> bool:
        if self.state == "working" and time.monotonic() - self.seen > _UNSEEN_S:
            self.stop()
        return self.state == "working"

    def _find_better(self, evaluator: Evaluator, agent: Agent[Any]) -> None:
        """Follow the evaluator's best moves instead of the worst moves of the game."""
        worst = sorted(self.report().bad, key=lambda move: -move.loss)[:_BETTER]
        ends: dict[int, Line] = {}
        for ply in (move.ply - 1 for move in worst):
            line, best = self.line(ply), self.evaluations[ply].best
            if best is None or not line.is_legal(best):
                continue
            move = word_of(line.parse(best))
            if move != self.table.moves[ply]:
                self.better[ply], ends[ply] = [move], line.play(move)
        for _ in range(_BETTER_PLIES - 1):
            ends = {ply: line for ply, line in ends.items() if line.outcome is None}
            games = [RecordedGame.of_line(self.table.game, line) for line in ends.values()]
            found = _evaluations(evaluator, agent, games)
            for (ply, line), evaluation in zip(list(ends.items()), found, strict=False):
                if not self._goes_on():
                    return
                best = evaluation.best
                if best is None or not line.is_legal(best):
                    del ends[ply]
                    continue
                move = word_of(line.parse(best))
                self.better[ply].append(move)
                ends[ply] = line.play(move)


@contextmanager
def _in_time(
    evaluator: Evaluator, agent: Agent[Any], seconds: float, positions: int
) -> Iterator[None]:
    """Stop an evaluator that is overdue, and close it at the end."""
    limit_s = positions * (max(seconds, 1.0) + 1) + (_START_S if agent.names_program else 0.0)
    overdue = threading.Event()

    def end() -> None:
        overdue.set()
        evaluator.stop()

    try:
        with stopped_after(limit_s, end):
            yield
    except hk.errors.EngineError:
        if overdue.is_set():
            raise overdue_error(agent, limit_s) from None
        raise
    finally:
        evaluator.close()


def _evaluations(
    evaluator: Evaluator, agent: Agent[Any], games: Sequence[RecordedGame]
) -> Iterator[hk.Evaluation]:
    for result in evaluator.evaluate_each(games):
        if isinstance(result, Failure):
            raise hk.errors.EngineError(agent.spec.title, result.message, reason=result.reason)
        yield result


class Reviews:
    """The latest reviews of a studio."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[tuple[object, ...], Review] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def of(self, subject: "Subject") -> Review:
        """The review of a game by an evaluator; a new one if there is none."""
        table = subject.table
        key = (table.game, table.start, table.moves, subject.evaluator, subject.seconds)
        with self._lock:
            review = self._by_key.get(key)
            if review is None:
                names = (subject.record.first, subject.record.second)
                review = Review(
                    next(self._numbers), table, names, subject.evaluator, subject.seconds
                )
                self._by_key[key] = review
            self._by_key.move_to_end(key)
            while len(self._by_key) > _KEPT:
                self._by_key.popitem(last=False)[1].stop()
        return review

    def numbered(self, number: int) -> Review:
        """A review by its number; raises Error if it is gone."""
        with self._lock:
            for review in self._by_key.values():
                if review.number == number:
                    return review
        raise hk.Error("this review is gone: reload the page")


def reviews_of(request: Request) -> Reviews:
    """The reviews of the running studio."""
    with _making:
        reviews: Reviews | None = getattr(request.app.state, "reviews", None)
        if reviews is None:
            reviews = request.app.state.reviews = Reviews()
    return reviews


@dataclass(frozen=True)
class Subject:
    """A game, the evaluator of its review, and the ply on the board."""

    table: BoardState
    record: hk.Record
    evaluator: str
    seconds: float

    @classmethod
    def of(cls, query: Any, studio: Studio) -> "Subject":
        """What an address describes; raises Error if it makes no sense."""
        path, number = query.get("path", ""), query.get("number", "")
        record = None
        if path:
            which = whole_number(number or 0, "number", 0, 10**9)
            record = _record(studio, path, which)
        if record is None or query.get("moves"):
            table = BoardState.of(query)
            if record is None or table_of(record).moves != table.moves:
                record = _record_of(table)
        else:
            table = table_of(record, path=path, number=which)
            ply = query.get("ply", "")
            table = table.at(whole_number(ply or table.ply, "ply", 0, 10**6))
            table = replace(table, flip=query.get("flip") == "1")
        seconds = decimal_number(query.get("pace") or "0.1", "pace", 0, 60)
        named = query.getlist("with")
        evaluator = str(named[-1]).strip() if named else ""
        table = replace(table, evaluators=(), others=(), against="", live=False, model="", area="")
        return cls(table, record, evaluator or default_evaluator(table.game), seconds)

    def address(self, ply: int | None = None, path: str = "/review", **more: object) -> str:
        """The address of the review at a ply."""
        return address(path, **self._query(ply), **more)

    def _query(self, ply: int | None = None) -> dict[str, object]:
        table = self.table
        where: dict[str, object] = (
            {"path": table.path, "number": table.number}
            if table.path and table.moves == table_of(self.record).moves
            else {"game": table.game, "start": table.start, "moves": " ".join(table.moves)}
        )
        return where | {
            "with": "" if self.evaluator == default_evaluator(table.game) else self.evaluator,
            "pace": None if self.seconds == 0.1 else f"{self.seconds:g}",
            "flip": "1" if table.flip else None,
            "ply": table.ply if ply is None else ply,
        }

    def pairs(self, *without: str) -> list[tuple[str, str]]:
        """The same for the hidden fields of a form."""
        return [
            (name, str(value))
            for name, value in self._query().items()
            if name not in without and value not in (None, "")
        ]

    @property
    def title(self) -> str:
        """The players, or the game."""
        record = self.record
        names = [name for name in (record.first, record.second) if name]
        return " – ".join((record.first or "?", record.second or "?")) if names else "Game review"

    @property
    def facts(self) -> list[str]:
        """Game, result and date."""
        record = self.record
        plies = len(self.table.moves)
        parts = [self.table.facts.heading, result_of(record), record.event, record.date]
        return [*filter(None, parts), f"{plies} moves"]


def _record(studio: Studio, path: str, number: int) -> hk.Record:
    changed = studio.folder.path(path).stat().st_mtime_ns
    return _records.get(
        (str(studio.folder.root), path, number, changed),
        lambda: record_from(studio.folder, path, number),
    )


def _record_of(table: BoardState) -> hk.Record:
    line = played(table.first_position.line(), table.moves)
    outcome = line.outcome
    return hk.Record(
        table.game,
        np.array([move.code for move in line.moves], dtype=np.uint16),
        start=table.start,
        komi=getattr(table.first_position, "komi", None),
        result=None if outcome is None else float(outcome.value),
        ending="unfinished" if outcome is None else "normal",
    )


def default_evaluator(game: str) -> str:
    """The kind of search that is usual in a game."""
    return SearchSpec.from_text(game_facts(game).search.spec).kind


def evaluator_title(text: str) -> str:
    """An evaluator for people; an allowed engine is known by its name."""
    try:
        return spec_of(text).title
    except hk.Error:
        return text


def evaluator_choices(studio: Studio, subject: Subject) -> list[tuple[str, str]]:
    """Evaluators that the page offers, with titles: the usual search, engines, other searches."""
    offered = agent_choices(studio.folder, studio.engines, subject.table.game, "evaluator")
    titles = {each.text: each.title for each in offered if each.kind not in _SOLVERS}
    first = dict.fromkeys([default_evaluator(subject.table.game), *titles, subject.evaluator])
    return [(text, titles.get(text) or evaluator_title(text)) for text in first]


def show(request: Request) -> Response:
    """The review of a game, or the part of it that a ply changes."""
    query, studio = request.query_params, studio_of(request)
    if not query.get("path") and "moves" not in query:
        return page(request, ROOM, "review/choose.html", **_choices(studio))
    if query.get("path") and "number" not in query and "moves" not in query:
        rows = games_of(studio.folder, query["path"], *_range(query))
        if len(rows) > 1 or _range(query)[0]:
            return page(request, ROOM, "review/games.html", **_listed(query, rows))
    subject = Subject.of(query, studio)
    values = _values(request, subject)
    if wants_part(request):
        return fragment("review/place.html", **values)
    return page(request, ROOM, "review/index.html", **values)


def _range(query: Mapping[str, str]) -> tuple[int, int]:
    return whole_number(query.get("from") or 0, "from", 0, 10**9), _LISTED + 1


def _choices(studio: Studio) -> dict[str, Any]:
    here = studio.folder.items()
    return {"items": [each for each in here if each.kind in ("records", "study", "match")]}


def _listed(query: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    first, path = _range(query)[0], query["path"]
    table = Table(
        "Games",
        ("Game", "First", "Second", "Date", "Moves"),
        [
            (f"{number:,}", one or "?", other or "?", date or "", f"{plies:,}")
            for number, one, other, date, plies in rows[:_LISTED]
        ],
        [address("/review", path=path, number=number) for number, *_ in rows[:_LISTED]],
    )
    more = first + _LISTED if len(rows) > _LISTED else None
    return {"path": path, "rows": table, "more": more}


def _values(request: Request, subject: Subject) -> dict[str, Any]:
    studio = studio_of(request)
    studio.engines.agent(subject.evaluator, studio.folder)  # raises early if it is not allowed
    review = reviews_of(request).of(subject)
    return {
        "subject": subject,
        "review": review,
        "over": review.is_over,  # before the report: nothing is missing in one that is over
        "report": review.report(),
        "place": Place(subject, review),
        "choices": evaluator_choices(studio, subject),
        "paces": PACES,
        "formats": _formats(subject.table.game),
        "graph": graph_points,
        "moment": moment_board,
        "classes": CLASSES,
    }


@dataclass(frozen=True)
class Place:
    """The position on the page's board."""

    subject: Subject
    review: Review

    @property
    def ply(self) -> int:
        """The current ply."""
        return self.subject.table.ply

    @property
    def last(self) -> int:
        """The last ply."""
        return len(self.subject.table.moves)

    @property
    def value(self) -> float | None:
        """The first player's expected score."""
        return self.review.values.get(self.ply)

    @property
    def board(self) -> Markup:
        """The position, with an arrow for the best move."""
        line = self.subject.table.line
        evaluation = self.review.evaluations.get(self.ply)
        best = None if evaluation is None else evaluation.best
        marks = [(best, "better")] if best is not None and line.is_legal(best) else []
        picture = replace(hk.diagram(line), caption="")
        return marked_board(
            turned(picture) if self.subject.table.flip else picture, marks, size=_BOARD
        )

    @property
    def move(self) -> ReviewedMove | None:
        """The move that led here."""
        return self.review.report().by_ply.get(self.ply)

    @property
    def best(self) -> str:
        """The best move here, as people write it; empty if unknown."""
        evaluation = self.review.evaluations.get(self.ply)
        line = self.subject.table.line
        if evaluation is None or evaluation.best is None or not line.is_legal(evaluation.best):
            return ""
        return words_of(line, [line.parse(evaluation.best)])[0][1]


def moment_board(review: Review, move: ReviewedMove) -> Markup:
    """The position before a bad move, with the move and the better one."""
    ply = move.ply - 1
    line = review.line(ply)
    better = review.better.get(ply, [])[:1]
    marks = [(str(line.parse(text)), "better") for text in better]
    marks.append((str(line.parse(review.table.moves[ply])), "played"))
    return marked_board(replace(hk.diagram(line), caption=""), marks, size=_MOMENT)


def graph_points(report: GameAccuracy, last: int) -> dict[str, Any]:
    """The win-probability graph on a plane of 1000 by 100: paths and marks."""
    step = 1000 / max(last, 1)
    runs: list[list[tuple[float, float]]] = []
    before = None
    for ply, value in report.values:
        if before is None or ply != before + 1:
            runs.append([])
        runs[-1].append((ply * step, 100 - 100 * value))
        before = ply
    curves = [" ".join(f"{x:.1f},{y:.1f}" for x, y in run) for run in runs]
    areas = [
        f"{run[0][0]:.1f},100 {curve} {run[-1][0]:.1f},100"
        for run, curve in zip(runs, curves, strict=True)
    ]
    by_ply = dict(report.values)
    marks = [
        (move, f"{move.ply * step:.1f}", f"{100 - 100 * by_ply[move.ply]:.1f}")
        for move in report.bad
    ]
    grounds = [(f"{run[0][0]:.1f}", f"{run[-1][0] - run[0][0]:.1f}") for run in runs]
    return {"curves": curves, "areas": areas, "grounds": grounds, "marks": marks, "step": step}


async def start(request: Request) -> Response:
    """Begin or resume a review."""
    form = await request.form(max_files=0, max_fields=20)
    studio = studio_of(request)
    subject = Subject.of(form, studio)
    review = reviews_of(request).of(subject)
    review.start(studio.engines.agent(subject.evaluator, studio.folder))
    if not wants_part(request):
        return RedirectResponse(subject.address(), HTTPStatus.SEE_OTHER)
    return fragment("review/report.html", **_values(request, subject))


def stop(request: Request) -> Response:
    """Stop a review; what is known stays."""
    reviews_of(request).numbered(request.path_params["number"]).stop()
    return Response(status_code=HTTPStatus.NO_CONTENT)


def events(request: Request) -> Response:
    """The report, as it grows; at the end, the whole of it."""
    review = reviews_of(request).numbered(request.path_params["number"])
    subject = Subject.of(request.query_params, studio_of(request))
    values = _values(request, subject)

    def look() -> dict[str, str]:
        review.look()
        values["over"] = review.is_over
        values["report"] = review.report()
        if values["over"]:
            return {"report": html("review/report.html", **values), END: ""}
        return {"summary": html("review/summary.html", **values)}

    return watch(request, look, every_s=0.4)


def _formats(game: str) -> dict[str, str]:
    notations = game_facts(game).formats.notations
    return {
        name: each.title
        for name, each in WRITERS.items()
        if name in notations and name not in ("csa", "lines")
    }


def annotated(review: Review, record: hk.Record) -> hk.Record:
    """The record with the review's evaluations, marks and better lines as remarks."""
    values, report = review.values, review.report()
    old = {each.ply: each for each in record.remarks}
    remarks = []
    for ply in sorted({*old, *values}):
        remark = old.get(ply, Remark(ply))
        evaluation = review.evaluations.get(ply, hk.Evaluation())
        if ply in values:
            remark = replace(
                remark,
                value=values[ply],
                score=evaluation.score,
                mate=evaluation.mate,
                depth=evaluation.depth,
                nodes=evaluation.nodes,
                author=None,
            )
        move = report.by_ply.get(ply)
        if move is not None and move.kind:
            words = f"{move.kind.capitalize()}: gives away {move.loss:.0%}."
            if move.better:
                words += f" Better: {' '.join(move.better)}."
            text = " ".join(filter(None, (remark.text, words)))
            remark = replace(remark, nags=(_NAGS[move.kind], *remark.nags), text=text)
        remarks.append(remark)
    return replace(record, remarks=tuple(remarks))


def export(request: Request) -> Response:
    """The annotated record as a file."""
    query, studio = request.query_params, studio_of(request)
    subject = Subject.of(query, studio)
    name = query.get("as", "")
    if name not in _formats(subject.table.game):
        choices = ", ".join(_formats(subject.table.game))
        raise hk.errors.ParameterError("as", f"is one of {choices}, not '{name}'")
    review = reviews_of(request).of(subject)
    writer = WRITERS[name]
    text = record_text(annotated(review, subject.record), name)
    return Response(
        text,
        media_type=writer.media_type,
        headers={
            "content-disposition": f'attachment; filename="review{writer.suffixes[0]}"',
        },
    )


ROOM: Final = Room(
    "review",
    "Review",
    "A game move by move: what each gave away, and what was better.",
    [
        Route("/review", show),
        Route("/review/export", export),
        Route("/review/start", start, methods=["POST"]),
        Route("/review/{number:number}/events", events),
        Route("/review/{number:number}/stop", stop, methods=["POST"]),
    ],
    style=True,
    script=True,
)
