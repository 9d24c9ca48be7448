# SPDX-License-Identifier: Apache-2.0
"""A match at work: games go out to workers, come back, are journalled and only then counted."""

import concurrent.futures
import contextlib
import dataclasses
import os
import tomllib
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from hyoka.arena.export import export_match
from hyoka.arena.journal import Journal, read_journal
from hyoka.arena.plan import MatchPlan
from hyoka.arena.played import PlayedGame
from hyoka.arena.players import searched_game, threads_of
from hyoka.arena.referee import GameStopped, GameTask
from hyoka.arena.sprt import Sprt
from hyoka.arena.standing import Standing
from hyoka.arena.summary import DuelSummary
from hyoka.arena.workers import boards_here, clear_boards, pin_to_cores, play_task, stop_games
from hyoka.errors import EngineError, StudyError
from hyoka.search import Searcher, SearchSpec
from hyoka.study.layout import DESCRIPTION as STUDY_DESCRIPTION
from hyoka.study.layout import now, write_toml

DESCRIPTION: Final = "match.toml"
JOURNAL: Final = "journal.jsonl"
VERSION: Final = 1
_RETRIES: Final = 3

OnGames = Callable[[list[PlayedGame], Standing], None]
"""Told of games that have just been counted, and how things stand."""


@dataclass(frozen=True)
class MatchResult:
    """A match as far as it has been played."""

    folder: Path
    standing: Standing
    wanted: int
    verdict: str | None = None
    """What a sequential test has decided: `H0`, `H1`, or None."""

    @cached_property
    def games(self) -> list[PlayedGame]:
        """In the order they ended, from the disk."""
        return read_journal(self.folder / JOURNAL)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to play."""
        return self.verdict is not None or self.standing.games >= self.wanted

    @property
    def duels(self) -> list[DuelSummary]:
        """What is known of every two players who met."""
        return [DuelSummary.of(self.standing, *duel) for duel in self.standing.duels()]

    def __str__(self) -> str:
        lines = map(str, self.duels)
        return "\n".join(lines) or f"no game played yet of {self.wanted}"


def play_match(  # noqa: PLR0913 - a keyword for each choice
    plan: MatchPlan,
    folder: Path | str,
    *,
    games: int = 100,
    sprt: Sprt | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    on_games: OnGames | None = None,
) -> MatchResult:
    """Play a match, `games` for each two players (rounded up to pairs), and keep it in `folder`.

    A match that lies there already goes on where it stopped, also to more games than before; a
    different one is refused. With `sprt` (for two players) it ends when the test has decided.
    `jobs` games are played side by side here, or on `executor` if one is given; its workers keep
    their engines until `clear_boards` is called there. A game counts once the journal has it, so
    that whatever happens only the games in play are lost.
    """
    if sprt is not None and len(plan.players) != 2:
        raise StudyError("a sequential test is for two players")
    _check_players(plan, here=executor is None)
    folder = _folder(Path(folder))
    with Journal(folder / JOURNAL) as journal:
        _describe(plan, sprt, folder, is_new=not journal.numbers)
        run = _Run(plan, journal, plan.total(games), sprt, on_games)
        try:
            run.play(jobs, executor)
        finally:
            export_match(folder, list(journal.games.values()))
        return MatchResult(folder, run.standing, run.wanted, run.verdict)


def match_so_far(
    plan: MatchPlan, folder: Path | str, *, games: int, sprt: Sprt | None = None
) -> MatchResult:
    """How a match stands that lies in a folder, be it interrupted or in play."""
    names = [player.name for player in plan.players]
    standing = Standing.of(names, read_journal(Path(folder) / JOURNAL))
    verdict = None if sprt is None else sprt.decision(standing.duel(0, 1).pairs)
    return MatchResult(Path(folder), standing, plan.total(games), verdict)


def open_match(folder: Path | str) -> tuple[dict[str, Any], list[PlayedGame]]:
    """What a match's folder says of it, and its games so far; it may be in play meanwhile."""
    return _description(Path(folder)), read_journal(Path(folder) / JOURNAL)


def _description(folder: Path) -> dict[str, Any]:
    file = folder / DESCRIPTION
    try:
        description = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise StudyError(f"{folder} is no match (it has no {DESCRIPTION})") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"{file}: {error}") from error
    if not isinstance(description.get("match", {}), dict):
        raise StudyError(f"{file}: 'match' is no table")
    if description.get("version") != VERSION:
        raise StudyError(
            f"{file}: made by another version of Hyoka (match version "
            f"{description.get('version')!r}, this one reads {VERSION})"
        )
    return description


def _check_players(plan: MatchPlan, *, here: bool) -> None:
    """Raise at once if a search can't play the game, or an engine is not here but should be."""
    for player in plan.players:
        if isinstance(player.spec, SearchSpec):
            Searcher(player.spec, searched_game(plan.rules.game))
        elif here:
            player.spec.program()


def _folder(folder: Path) -> Path:
    """The folder of a match, made if need be; raises StudyError if it can't be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"{folder} can't be a match's folder: {error.strerror}") from error
    if (folder / STUDY_DESCRIPTION).exists():
        raise StudyError(f"{folder} is a study; choose another folder with --to")
    return folder


def _describe(plan: MatchPlan, sprt: Sprt | None, folder: Path, *, is_new: bool) -> None:
    """Write down what the match is, or check that it is the one that lies here."""
    # A test's claims are fixed before the first game, or its errors are not what it says.
    described = {**plan.description(), "sprt": None if sprt is None else str(sprt)}
    wanted = {key: value for key, value in described.items() if value is not None}
    if is_new and not (folder / DESCRIPTION).exists():
        description = {"version": VERSION, "created": now(), "match": wanted}
        write_toml(folder / DESCRIPTION, description)
        return
    there = _description(folder).get("match", {})
    differing = [key for key in {**there, **wanted} if there.get(key) != wanted.get(key)]
    if differing == ["contents"]:
        raise StudyError(f"{folder} holds another match: {_changed(plan, there)}")
    if differing:
        key = differing[0]
        raise StudyError(
            f"{folder} holds another match: its {key} is {there.get(key)!r}, not "
            f"{wanted.get(key)!r}; choose another folder with --to"
        )


def _changed(plan: MatchPlan, there: dict[str, Any]) -> str:
    """Which files or functions are not those that a match began with, in words."""
    known = there.get("contents", [])
    words = [] if plan.game_content is None or plan.game_content in known else ["the game"]
    for player in plan.players:
        artefacts = player.spec.artefacts
        for name, content in player.spec.contents.items():
            if f"{player.name}: {name} {content}" not in known:
                words.append(f"{artefacts.get(name, name)} of '{player.name}'")
    return (
        f"{', '.join(words) or 'what its players are made of'} has changed since it began; "
        "bring it back, or choose another folder with --to"
    )


class _Run:
    """One call of `play_match`."""

    def __init__(
        self,
        plan: MatchPlan,
        journal: Journal,
        wanted: int,
        sprt: Sprt | None,
        on_games: OnGames | None,
    ) -> None:
        self._plan = plan
        self._journal = journal
        self.wanted = wanted
        self._sprt = sprt
        self._on_games = on_games
        self._id = uuid.uuid4().hex
        names = [player.name for player in plan.players]
        self.standing = Standing.of(names, journal.games.values())
        self.verdict = self._decision()

    def play(self, jobs: int, executor: Executor | None) -> None:
        """Play what is left."""
        if self._on_games is not None:
            self._on_games([], self.standing)
        left = iter(n for n in range(self.wanted) if n not in self._journal.numbers)
        with contextlib.ExitStack() as stack:
            at_once = jobs
            if executor is None:
                stack.callback(clear_boards)  # once the threads that sit there have ended
                executor = stack.enter_context(
                    concurrent.futures.ThreadPoolExecutor(
                        jobs, "hyoka-match", pin_to_cores() if self._fits_cores(jobs) else None
                    )
                )
            else:
                at_once = 2 * jobs  # a game lies ready while the last one travels back
            running: dict[Future[PlayedGame], tuple[GameTask, int]] = {}
            try:
                self._work(left, running, executor, at_once)
            finally:
                self._stop(running)

    def _fits_cores(self, jobs: int) -> bool:
        """Whether each game can have a core to itself, and each core a game.

        Of GTP engines nobody knows how many threads they have.
        """
        if not hasattr(os, "sched_setaffinity") or jobs != len(os.sched_getaffinity(0)):
            return False
        return all(
            threads_of(player) == 1 and getattr(player.spec, "protocol", "") != "gtp"
            for player in self._plan.players
        )

    def _work(
        self,
        left: Iterator[int],
        running: dict[Future[PlayedGame], tuple[GameTask, int]],
        executor: Executor,
        at_once: int,
    ) -> None:
        again: deque[tuple[GameTask, int]] = deque()
        while self.verdict is None:
            while len(running) < at_once:
                if again:
                    task, tries = again.popleft()
                else:
                    number = next(left, None)
                    if number is None:
                        break
                    task, tries = self._task(number), 0
                running[executor.submit(play_task, task)] = (task, tries)
            if not running:
                return
            finished, _ = concurrent.futures.wait(
                running, timeout=0.5, return_when=concurrent.futures.FIRST_COMPLETED
            )
            played: list[PlayedGame] = []
            try:
                for future in finished:
                    task, tries = running.pop(future)
                    try:
                        played.append(future.result())
                    except (EngineError, GameStopped):
                        raise
                    except Exception as error:
                        # The worker is gone, not a player: another one plays the game.
                        if tries + 1 >= _RETRIES:
                            message = f"a game failed {_RETRIES} times, at last with: {error!r}"
                            raise StudyError(message) from error
                        again.append((task, tries + 1))
            finally:
                self._take(played)

    def _take(self, played: list[PlayedGame]) -> None:
        if not played:
            return
        today = now().date().isoformat()
        dated = [
            dataclasses.replace(game, record=dataclasses.replace(game.record, date=today))
            for game in played
        ]
        new = self._journal.add(dated)
        for game in new:
            self.standing.count(game)
        self.verdict = self._decision()
        if self._on_games is not None and new:
            self._on_games(new, self.standing)

    def _decision(self) -> str | None:
        if self._sprt is None:
            return None
        return self._sprt.decision(self.standing.duel(0, 1).pairs)

    def _task(self, number: int) -> GameTask:
        plan = self._plan
        pairing = plan.pairing(number)
        return GameTask(
            self._id,
            plan.rules,
            pairing,
            plan.openings[pairing.opening_id],
            (plan.players[pairing.first], plan.players[pairing.second]),
            (plan.seed_of(pairing, pairing.first), plan.seed_of(pairing, pairing.second)),
        )

    def _stop(self, running: dict[Future[PlayedGame], tuple[GameTask, int]]) -> None:
        """End what is in play and keep the games that were over, unless a test has decided."""
        for future in running:
            future.cancel()
        left = {future for future in running if not future.done()}
        while left:
            stop_games(self._id)  # again and again: an engine may just be starting
            _, left = concurrent.futures.wait(left, timeout=0.1)
            if not boards_here():
                break  # they are played elsewhere; nobody waits for them
        over = [
            future.result()
            for future in running
            if future.done() and not future.cancelled() and future.exception() is None
        ]
        if self.verdict is None:
            self._take(over)
