# SPDX-License-Identifier: Apache-2.0
"""Agents at the board, as analysts and as opponents."""

import asyncio
import contextlib
import functools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException

import hyoka as hk
from hyoka.agents import Agent, Evaluator, RecordedGame, TreeEvaluator, Turn
from hyoka.agents.engine_agent import EngineEvaluator
from hyoka.apps.studio.forms import AgentChoice
from hyoka.apps.studio.pages import Studio, sentence
from hyoka.apps.studio.rooms.board.board_state import OWN, BoardState
from hyoka.engines import EngineLine, Failure
from hyoka.foundation.math import logistic
from hyoka.games import Line, game_facts
from hyoka.search import SearchLimits, SearchTree
from hyoka.search.search_result import OnResult

T = TypeVar("T")

_MOST_S: Final = 60.0
"""The maximum duration of a reply."""
_START_S: Final = 30.0
"""Additional time for an engine to start and to end."""
_VARIATIONS: Final = 4
"""Variations of an engine that has MultiPV."""
_AT_ONCE: Final = 4
_WAITING: Final = 8
"""The maximum number of waiting requests."""
BUSY: Final = f"{_AT_ONCE} searches are running already, and others wait: try again in a moment"
_slots: Final = threading.BoundedSemaphore(_AT_ONCE)
_queue: Final = threading.BoundedSemaphore(_AT_ONCE + _WAITING)
_requests: Final = threading.BoundedSemaphore(_AT_ONCE + _WAITING)
_threads: Final = anyio.CapacityLimiter(_AT_ONCE + _WAITING)


@dataclass(frozen=True)
class Level:
    """Playing level of an agent, with a title for people."""

    title: str
    playouts: int | None
    """None: by time."""
    nodes: int | None
    """For searches that have no playouts."""
    time_s: float
    """For searches that count neither, and for engines."""

    def limit(self, agent: Agent[Any]) -> tuple[str, Any]:
        """What limits an agent at this level, a field of `SearchLimits`, and how much."""
        name = {"playouts": "playouts", "depth": "nodes"}.get(agent.best_limit, "time_s")
        number = getattr(self, name)
        return ("time_s", self.time_s) if number is None else (name, number)

    def limits(self, agent: Agent[Any]) -> SearchLimits:
        """The limits of an agent at this level: by playouts or nodes, else by time."""
        name, number = self.limit(agent)
        return SearchLimits(**{name: number})


LEVELS: Final = {
    "beginner": Level("Beginner", 20, 20, 0.05),
    "casual": Level("Casual", 200, 200, 0.1),
    "club": Level("Club player", 2_000, 2_000, 0.3),
    "strong": Level("Strong", 6_000, 140_000, 1.0),
    "strongest": Level("Strongest", None, None, 5.0),
}
COUNTED: Final = tuple(name for name, level in LEVELS.items() if level.playouts is not None)
"""Levels whose strength does not depend on the machine."""
LEVELS_FILE: Final = "levels.json"
"""Elo of the levels by game, from matches: `scripts/levels.py` writes it."""


@functools.cache
def measured_levels() -> Mapping[str, Mapping[str, Any]]:
    """By game: the search, the number of games, and the Elo of each level above the first."""
    file = Path(__file__).with_name(LEVELS_FILE)
    table: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return table


def level_titles(game: str, against: str, *, is_engine: bool = False) -> dict[str, str]:
    """The levels of an opponent; in Elo if it is the search that was measured, or nobody yet.

    >>> level_titles("go9", "sf", is_engine=True)["casual"]
    'Casual (thinks 0.1 s)'
    """
    titles = {
        name: each.title
        if name in COUNTED and not is_engine
        else f"{each.title} (thinks {each.time_s:g} s)"
        for name, each in LEVELS.items()
    }
    measured = measured_levels().get(game)
    if is_engine or measured is None or against not in ("", measured["search"]):
        return titles
    for name in COUNTED[1:]:
        elo = round(measured["levels"][name]["elo"], -1)
        titles[name] += f" · about {elo:,} Elo above {LEVELS[COUNTED[0]].title}"
    return titles


@dataclass(frozen=True)
class AgentSlot:
    """A place for an agent that is picked from a list, or named by its spec."""

    name: str
    text: str
    """The agent's spec; empty: none."""
    choices: Sequence[AgentChoice]

    @property
    def picked(self) -> AgentChoice | None:
        """The choice that the text is of, perhaps with other settings."""
        text = self.text
        kinds = [
            each
            for each in self.choices
            if text == each.text or text.startswith((f"{each.text}:", f"{each.text},"))
        ]
        return max(kinds, key=lambda each: len(each.text), default=None)


@contextlib.contextmanager
def analysis_slot(wait_s: float = _MOST_S) -> Iterator[None]:
    """Limit the number of searches; raises Error if many wait, or no slot is free in time."""
    if not _queue.acquire(blocking=False):
        raise hk.Error(BUSY)
    try:
        if not _slots.acquire(timeout=wait_s):
            raise hk.Error(f"{_AT_ONCE} searches are running already: wait or stop one")
        try:
            yield
        finally:
            _slots.release()
    finally:
        _queue.release()


async def in_thread(work: Callable[[], T]) -> T:
    """The result of long work in a thread other than the server's.

    Raises HTTPException at once if no thread is free.
    """
    if not _requests.acquire(blocking=False):
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, sentence(hk.Error(BUSY)))
    try:
        return await anyio.to_thread.run_sync(work, limiter=_threads)
    finally:
        _requests.release()


@contextlib.contextmanager
def stopped_after(seconds: float, stop: Callable[[], None]) -> Iterator[None]:
    """Stop work that takes longer than some seconds."""
    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Analyst:
    """An agent that evaluates positions for a page, in limited time."""

    def __init__(self, agent: Agent[Any], game: str, seconds: float) -> None:
        """Take an agent and the time for each position; the user's limits of an engine stay."""
        self._agent = agent
        self._game = game
        self._seconds = seconds
        fixed = agent.names_program and agent.has_limits
        limits = None if fixed else SearchLimits(time_s=seconds)
        self._evaluator = agent.evaluator(game, limits)

    @property
    def title(self) -> str:
        """The agent's name for people."""
        return str(self._agent.spec.title)

    def evaluate_each(self, line: Line, plies: Sequence[int]) -> Iterator[hk.Evaluation]:
        """Evaluate positions of a line. Raises EngineError."""
        with self._working(len(plies)) as evaluator:
            evaluator.identity()
            yield from self._evaluations(evaluator, line, plies)

    def _evaluations(
        self, evaluator: Evaluator, line: Line, plies: Sequence[int]
    ) -> Iterator[hk.Evaluation]:
        for result in evaluator.evaluate_each([RecordedGame.of_line(self._game, line, plies)]):
            if isinstance(result, Failure):
                title = self._agent.spec.title
                raise hk.errors.EngineError(title, result.message, reason=result.reason)
            yield result

    def search_tree(self, line: Line, on_result: OnResult) -> SearchTree | None:
        """Evaluate a line's last position, with a tree; None if the agent has none."""
        if not isinstance(self._evaluator, TreeEvaluator):
            return None
        with self._working(1):
            return self._evaluator.search_tree(line, on_result)

    def variations(self, line: Line) -> Iterator[Sequence[EngineLine]]:
        """Evaluate a line's last position; yield the best variations, engines' also meanwhile."""
        with self._working(1) as evaluator:
            reported = False
            evaluator.identity()
            if isinstance(evaluator, EngineEvaluator) and evaluator.reports:
                for variations in self._reported(evaluator, line):
                    reported = True
                    yield variations
            if not reported:
                [evaluation] = self._evaluations(evaluator, line, [len(line.moves)])
                yield [
                    EngineLine(evaluation, () if evaluation.best is None else (evaluation.best,))
                ]

    def _reported(self, evaluator: EngineEvaluator, line: Line) -> Iterator[Sequence[EngineLine]]:
        """An engine's variations: several with MultiPV, else one."""
        try:
            yield from evaluator.variations(line, _VARIATIONS)
        except hk.errors.EngineError as error:
            if error.reason != "option":
                raise
            yield from evaluator.variations(line, 1)

    @contextlib.contextmanager
    def _working(self, positions: int) -> Iterator[Evaluator]:
        """Stop the evaluator when it is overdue, and close it at the end."""
        start_s = _START_S if self._agent.names_program else 0.0
        seconds = positions * (max(self._seconds, 1.0) + 1) + start_s
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            self.stop()

        try:
            with stopped_after(seconds, end):
                yield self._evaluator
        except hk.errors.EngineError:
            if overdue.is_set():
                raise overdue_error(self._agent, seconds) from None
            raise
        finally:
            self._evaluator.close()

    def stop(self) -> None:
        """End the work."""
        self._evaluator.stop()


def overdue_error(agent: Agent[Any], seconds: float) -> hk.errors.EngineError:
    """The error of an agent that does not answer in time."""
    message = f"does not answer within {seconds:g} s"
    return hk.errors.EngineError(agent.spec.title, message, reason="timeout")


def analyst_of(studio: Studio, text: str, game: str, seconds: float) -> Analyst:
    """The agent that a request names, if it is allowed; raises Error."""
    return Analyst(studio.engines.agent(text, studio.folder), game, seconds)


def best_move(agent: Agent[Any], game: str, line: Line, level: str) -> str | None:
    """Let an agent move, at a level or within its own limits. Raises EngineError."""
    seconds, limits = 1.0, None
    if level != OWN:
        seconds, limits = LEVELS[level].time_s, LEVELS[level].limits(agent)
    elif not agent.has_limits:
        limits = SearchLimits(time_s=seconds)
    player = agent.player(game, agent.spec.title, limits)
    [position] = RecordedGame.of_line(game, line).engine_positions()

    async def play() -> hk.Evaluation:
        try:
            async with asyncio.timeout(seconds + _START_S):
                await player.new_game(agent.seed)
                return await player.play(Turn(line, position, None))
        except TimeoutError:
            raise overdue_error(agent, seconds + _START_S) from None
        finally:
            await player.close()

    with analysis_slot(), stopped_after(_MOST_S, player.stop):
        return asyncio.run(play()).best


def reply(studio: Studio, table: BoardState) -> BoardState | str:
    """The board after the opponent's move, or a message if there is none."""
    if table.level != OWN and table.level not in LEVELS:
        raise hk.errors.ParameterError("level", f"is one of {', '.join([*LEVELS, OWN])}")
    agent = studio.engines.agent(table.against, studio.folder)
    move = best_move(agent, table.game, table.line, table.level)
    if move == "resign":
        return f"{table.against} resigns."
    if move is None or not table.line.is_legal(move):
        return f"{table.against} finds no move here."
    return table.play(move)


def value_of(evaluation: hk.Evaluation, game: str) -> float | None:
    """The first player's expected result; derived from the score if necessary."""
    if evaluation.value is not None:
        return evaluation.value
    if evaluation.mate is not None:
        return 1.0 if evaluation.mate > 0 else 0.0
    if evaluation.score is None or evaluation.unit != "centipawns":
        return None
    return logistic(evaluation.score / game_facts(game).formats.centipawn_scale)


def refusal(studio: Studio, table: BoardState) -> str:
    """Why the opponent of a table cannot play its game; empty if it can."""
    if not table.against:
        return ""
    try:
        studio.engines.agent(table.against, studio.folder)
    except hk.Error as error:
        return str(error)
    plays = "player" in studio.engines.roles(table.against.strip(), table.game)
    return "" if plays else f"{table.against} does not play {table.facts.title}"
