# SPDX-License-Identifier: Apache-2.0
"""Agents at the board: searches of Hyoka and allowed engines, as analysts and as opponents."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException

import hyoka as hk
from hyoka.apps.studio.pages import sentence
from hyoka.apps.studio.rooms.board.board_state import OWN, BoardState
from hyoka.apps.studio.state import Studio
from hyoka.engines import Failure
from hyoka.foundation.math import logistic
from hyoka.games import GameFacts, Line
from hyoka.search import KINDS, SearchSpec

T = TypeVar("T")

_MOST_S: Final = 60.0
"""Nobody thinks longer than this, whatever a spec says."""
_START_S: Final = 30.0
"""An engine may take so long to start and to end beside."""
_MOST_MIB: Final = 2048
_AT_ONCE: Final = 4
_WAITING: Final = 8
"""Maximum number of waiting requests."""
BUSY: Final = f"{_AT_ONCE} searches are running already, and others wait: try again in a moment"
_game_players: Final = threading.BoundedSemaphore(_AT_ONCE)
_door: Final = threading.BoundedSemaphore(_AT_ONCE + _WAITING)
_requests: Final = threading.BoundedSemaphore(_AT_ONCE + _WAITING)
_threads: Final = anyio.CapacityLimiter(_AT_ONCE + _WAITING)


@dataclass(frozen=True)
class Level:
    """Playing level of an agent, with a title for people."""

    title: str
    playouts: int | None
    depth: int | None
    time_s: float
    """For searches that count neither, and for engines."""

    def limits(self, kind: str) -> hk.SearchLimits:
        """The spec of a kind of search."""
        if self.playouts is not None and kind in ("uct", "mc", "mc-score"):
            return hk.SearchLimits(playouts=self.playouts)
        if self.depth is not None and kind == "ab":
            return hk.SearchLimits(depth=self.depth)
        return hk.SearchLimits(time_s=self.time_s)

    @property
    def words(self) -> str:
        """Description of the level for the opponent."""
        if self.playouts is None:
            return f"{self.title} (thinks {self.time_s:g} s)"
        return self.title


LEVELS: Final = {
    "beginner": Level("Beginner", 20, 1, 0.05),
    "casual": Level("Casual", 200, 2, 0.1),
    "club": Level("Club player", 2_000, 4, 0.3),
    "strong": Level("Strong", None, None, 1.0),
    "strongest": Level("Strongest", None, None, 5.0),
}


@contextlib.contextmanager
def analysis_slot(wait_s: float = _MOST_S) -> Iterator[None]:
    """Few think at once; raises Error if many wait already, or nobody leaves in time."""
    if not _door.acquire(blocking=False):
        raise hk.Error(BUSY)
    try:
        if not _game_players.acquire(timeout=wait_s):
            raise hk.Error(f"{_AT_ONCE} searches are running already: wait or stop one")
        try:
            yield
        finally:
            _game_players.release()
    finally:
        _door.release()


async def in_thread(work: Callable[[], T]) -> T:
    """Result of long work in a thread other than the server's.

    Who would have to wait for one is sent away at once: raises HTTPException.
    """
    if not _requests.acquire(blocking=False):
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, sentence(hk.Error(BUSY)))
    try:
        return await anyio.to_thread.run_sync(work, limiter=_threads)
    finally:
        _requests.release()


@contextlib.contextmanager
def stopped_after(seconds: float, stop: Callable[[], None]) -> Iterator[None]:
    """Stop something that runs longer than that."""
    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class SearchAnalyst:
    """A search of ours."""

    def __init__(self, spec: str, game: str) -> None:
        checked = SearchSpec.from_text(spec)
        for name, most in (
            ("threads", os.cpu_count() or 1),
            ("memory", _MOST_MIB),
            ("hash", _MOST_MIB),
        ):
            if checked.has(name) and (checked[name] or 0) > most:
                raise hk.ParameterError(name, f"is {most} at most here, not {checked[name]}")
        self.searcher = hk.Searcher(spec, game)

    def evaluate(self, line: Line, seconds: float) -> hk.Evaluation:
        """Search for that long, with an empty memory."""
        self.searcher.clear()
        limits = hk.SearchLimits(time_s=seconds)
        with stopped_after(seconds + 1, self.searcher.stop):
            return self.searcher.search(line, limits).evaluation(self.searcher.game)

    def move(self, line: Line, level: str) -> str | None:
        """Search as much as the level says, or the spec itself."""
        limits = None if level == OWN else LEVELS[level].limits(self.searcher.spec.kind)
        with analysis_slot(), stopped_after(_MOST_S, self.searcher.stop):
            best = self.searcher.search(line, limits).best
        return None if best is None else str(best)

    def stop(self) -> None:
        """End the search."""
        self.searcher.stop()


class EngineAnalyst:
    """An engine that the user allowed, in a process of its own for each question or game."""

    def __init__(self, spec: str, game: str) -> None:
        self.spec = hk.EngineSpec.from_text(spec)
        self._game = game
        self._session: hk.EngineSession | None = None

    def evaluate(self, line: Line, seconds: float) -> hk.Evaluation:
        """Ask it once."""
        return next(self.evaluate_each([line], seconds))

    def evaluate_each(self, lines: Sequence[Line], seconds: float) -> Iterator[hk.Evaluation]:
        """Ask it about each line; by its own limits where the user gave some."""
        limits = None if self.spec.limits else hk.Limits(time_s=seconds)
        positions = [engine_position(self._game, line) for line in lines]
        with self._asked(len(lines) * (max(seconds, 1.0) + 1)) as session:
            for found in session.evaluate_each(positions, limits):
                if isinstance(found, Failure):
                    raise hk.EngineError(self.spec.title, found.message, reason=found.reason)
                yield found

    @contextlib.contextmanager
    def _asked(self, seconds: float) -> Iterator[hk.EngineSession]:
        """It at work, for so long and a while at most."""
        session = self._session = hk.EngineSession(self.spec, max_restarts=0)
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            session.stop()

        try:
            with stopped_after(seconds + _START_S, end), session:
                yield session
        except hk.EngineError:
            if not overdue.is_set():
                raise
            message = f"does not answer within {seconds + _START_S:g} s"
            raise hk.EngineError(self.spec.title, message, reason="timeout") from None

    def move(self, line: Line, level: str) -> str | None:
        """Ask it for as long as the level says."""
        seconds = 1.0 if level == OWN else LEVELS[level].time_s
        limits = None if level == OWN and self.spec.limits else hk.Limits(time_s=seconds)
        with analysis_slot(), self._asked(seconds) as session:
            return session.best_move(engine_position(self._game, line), limits)

    def stop(self) -> None:
        """End the engine."""
        if self._session is not None:
            self._session.stop()


def engine_position(game: str, line: Line) -> hk.EnginePosition:
    """A line in the form that engines receive."""
    komi = getattr(line.start, "komi", 0.0)
    return hk.EnginePosition(game, line.start.text, [str(move) for move in line.moves], komi)


def analyst(studio: Studio, text: str, game: str) -> SearchAnalyst | EngineAnalyst:
    """The agent that a request names, if it is allowed; raises Error."""
    spec = studio.engines.spec(text, studio.folder)
    if spec.partition(":")[0] in KINDS:
        return SearchAnalyst(_with_files(spec, studio), game)
    return EngineAnalyst(spec, game)


def _with_files(spec: str, studio: Studio) -> str:
    """A search's text with files of the studio's folder by their full names."""
    kind, colon, rest = spec.partition(":")
    words = []
    for word in rest.split(","):
        name, equals, value = word.partition("=")
        if equals and value and os.path.isfile(studio.folder.root / value):
            words.append(f"{name}={studio.folder.path(value)}")
        else:
            words.append(word)
    return f"{kind}{colon}{','.join(words)}"


def reply(studio: Studio, table: BoardState) -> BoardState | str:
    """The table after the other side's move; in words why there is none."""
    if table.level != OWN and table.level not in LEVELS:
        raise hk.ParameterError("level", f"is one of {', '.join([*LEVELS, OWN])}")
    found = analyst(studio, table.against, table.game).move(table.line, table.level)
    if found == "resign":
        return f"{table.against} resigns."
    if found is None or not table.line.is_legal(found):
        return f"{table.against} finds no move here."
    return table.play(found)


def value_of(found: hk.Evaluation, game: str) -> float | None:
    """The first player's expected result: as it was said, or what the score means."""
    if found.value is not None:
        return found.value
    if found.mate is not None:
        return 1.0 if found.mate > 0 else 0.0
    if found.score is None or found.unit != "centipawns":
        return None
    return logistic(found.score / hk.game_facts(game).formats.centipawn_scale)


_SOLVERS: Final = ("mate", "exact")
"""Searches that answer a question of a position and play no game."""
_SPOKEN: Final = {"cecp": ("uci", "usi")}
"""Protocols by which engines play games that usually have another."""


def opponents(studio: Studio, game: str) -> list[str]:
    """Engines and searches that play a game."""
    return [name for name in evaluators(studio, game) if name not in _SOLVERS]


def evaluators(studio: Studio, game: str) -> list[str]:
    """Engines and searches that can be asked about positions of a game."""
    facts = hk.game_facts(game)
    allowed = studio.engines.allowed
    return [
        name for name in studio.engines.choices() if not _refused(allowed.get(name, name), facts)
    ]


def refusal(studio: Studio, table: BoardState) -> str:
    """Why whom a table names can't play its game, in words; "" if nothing speaks against it."""
    if not table.against:
        return ""
    try:
        spec = studio.engines.spec(table.against, studio.folder)
        if spec.partition(":")[0] in KINDS:
            SearchSpec.from_text(spec)
    except hk.Error as error:
        return str(error)
    return f"{table.against} {words}" if (words := _refused(spec, table.facts)) else ""


def _refused(spec: str, facts: GameFacts) -> str:
    kind = spec.partition(":")[0]
    if kind in KINDS:
        solves = {"mate": facts.search.mate_solver, "exact": facts.search.ending_solver}
        return "" if solves.get(kind, True) else f"solves nothing in {facts.title}"
    protocol = hk.EngineSpec.from_text(spec).protocol
    plays = facts.formats.protocol in _SPOKEN.get(protocol, (protocol,))
    return "" if plays else f"speaks {protocol.upper()}, in which {facts.title} is not played"
