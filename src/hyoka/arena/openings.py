# SPDX-License-Identifier: Apache-2.0
"""Openings: the standard start, random moves, or lines and positions from files."""

import hashlib
import random
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyoka.foundation.errors import Error, NotationError, SourceError
from hyoka.games import AnyLine, Line, Position, facts_of, game_facts
from hyoka.games.registry import position
from hyoka.records import Record, batches
from hyoka.records.problems import Problem, read_problems
from hyoka.records.reading import unread_count
from hyoka.records.sources import sources

_RANDOM_COUNT: Final = 10_000
_TRIES: Final = 100
_LARGEST_FILE: Final = 1 << 28


@dataclass(frozen=True, slots=True)
class Opening:
    """A start and the moves before the players begin."""

    name: str
    start: str = ""
    """The first position's text; empty for the standard start."""
    moves: tuple[str, ...] = ()

    def line(self, game: str, komi: float, handicap: int = 0) -> Line:
        """Return the opening's line; raises Error for an illegal one."""
        first = position(game, self.start) if self.start else standard_start(game, komi, handicap)
        line = first.line()
        for move in self.moves:
            line = line.play(move)
        return line


def standard_start(game: str, komi: float, handicap: int) -> Position:
    """Return the standard start; komi and handicap stones are for Go."""
    return game_facts(game).start(komi=komi, handicap=handicap)


def read_openings(text: str | None, game: str, *, seed: int | None = 0) -> list[Opening]:
    """Read the openings that a text names, shuffled by `seed`; None keeps the order of a file.

    `start` is the standard start; `random` or `random:PLIES` are distinct lines of random moves
    (the default); `FILE` or `FILE:PLIES` are positions (EPD, SFEN), lines of moves, or the first
    plies of records.

    >>> [opening.moves for opening in read_openings("start", "chess")]
    [()]
    >>> len(set(read_openings("random:4", "othello", seed=1))) > 50
    True
    """
    if text == "start":
        return [Opening("start")]
    name, _, number = (text or "random").partition(":")
    if name == "random":
        plies = game_facts(game).search.random_plies if not number else _plies(number, text or "")
        return list(random_openings(game, plies, seed or 0))
    path, plies_wanted = _path_and_plies(text or "")
    openings = list(_from_file(path, game, plies_wanted))
    # Finished and illegal openings are dropped.
    playable = [each for each in dict.fromkeys(openings) if is_playable(each, game)]
    if not playable:
        raise SourceError(f"{path}: no openings for {game} in it")
    if seed is not None:
        random.Random(seed).shuffle(playable)
    return playable


def random_openings(game: str, plies: int, seed: int) -> Iterator[Opening]:
    """Yield up to 10,000 distinct lines of random moves that do not end the game."""
    return random_lines(standard_start(game, 7.5, 0).line(), plies, seed)


def random_lines(start: AnyLine, plies: int, seed: int) -> Iterator[Opening]:
    """Yield such lines from any start."""
    chance = random.Random(seed)
    seen: set[tuple[str, ...]] = set()
    misses = 0
    while len(seen) < _RANDOM_COUNT and misses < _TRIES:
        line = start
        for _ in range(plies):
            move = line.random_move(chance.getrandbits(63))
            if move is None:
                break
            line = line.play(move)
        moves = tuple(map(str, line.moves))
        if moves in seen or line.outcome is not None or len(moves) < plies:
            misses += 1
            continue
        misses = 0
        seen.add(moves)
        yield Opening(" ".join(moves) or "start", "", moves)


def digest(openings: Iterable[Opening]) -> str:
    """Return a short hash of a list of openings."""
    lines = (repr((each.start, each.moves)) for each in openings)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _plies(number: str, text: str) -> int:
    if not number.isdecimal() or not 0 <= int(number) <= 1000:
        raise NotationError(f"'{text}': after the colon comes a number of plies")
    return int(number)


def _path_and_plies(text: str) -> tuple[str, int | None]:
    head, colon, tail = text.rpartition(":")
    if colon and tail.isdecimal() and not Path(text).exists():
        return head, _plies(tail, text)
    return text, None


def is_playable(opening: Opening, game: str, handicap: int = 0) -> bool:
    """Whether an opening's moves are legal and do not end the game."""
    try:
        return opening.line(game, 7.5, handicap).outcome is None
    except Error:
        return False


def _from_file(path: str, game: str, plies: int | None) -> Iterator[Opening]:
    """Yield a file's openings: its records of the game, or else its positions."""
    has_records = False
    refused: list[str] = []
    for batch in batches([path]):
        refused += [str(each) for each in batch.refused]
        if unread_count(Counter(each.fault for each in batch.refused)):
            warnings.warn(f"openings are missing: {refused[-1]}", stacklevel=2)
        # A line of moves is an opening in full; of a record only the beginning is.
        default_plies = None if batch.format == "lines" else game_facts(game).search.record_plies
        for record in batch.records():
            if record.game == game:
                has_records = True
                yield _from_record(record, plies if plies is not None else default_plies)
    if not has_records:
        positions = list(_positions(path, game))
        if not positions and refused:
            raise SourceError(f"no openings for {game}: {refused[0]}")
        yield from positions


def _from_record(record: Record, plies: int | None) -> Opening:
    moves = tuple(record.move_texts()[:plies])
    name = record.opening or f"{Path(record.source).name} {record.number}"
    return Opening(name, record.start, moves)


def _positions(path: str, game: str) -> Iterator[Opening]:
    for source in sources([path]):
        data = bytearray()
        for block in source.blocks():
            data += block
            if len(data) > _LARGEST_FILE:
                raise SourceError(f"{path}: too large for a file of openings")
        try:
            problems = read_problems(bytes(data), source=source.name)
        except NotationError:
            continue
        for number, problem in enumerate(problems.problems, 1):
            if problem.game == game:
                yield _from_problem(problem, number)


def _from_problem(problem: Problem, number: int) -> Opening:
    name = problem.id or f"{Path(problem.source).name} {number}"
    return Opening(name, problem.position, tuple(problem.moves))


def python_openings(
    openings: str | Sequence[Opening] | None, start: AnyLine, *, seed: int
) -> Sequence[Opening]:
    """Return openings of a game written in Python: values, its start, or random lines."""
    if openings is not None and not isinstance(openings, str):
        return openings_of(openings, "", seed=seed)
    if openings == "start":
        return [Opening("start")]
    name, _, number = (openings or "random").partition(":")
    if name != "random":
        raise NotationError("openings of a game in Python are start, random:PLIES, or values")
    plies = _plies(number, openings or "") if number else facts_of(start).search.random_plies
    lines = list(random_lines(start, plies, seed))
    if not lines:
        raise NotationError("every random opening ends the game; use openings='start'")
    return lines


def openings_of(
    openings: str | Sequence[Opening] | None, game: str, *, seed: int | None
) -> Sequence[Opening]:
    """Return openings from values or from their text."""
    if openings is None or isinstance(openings, str):
        return read_openings(openings, game, seed=seed)
    if not openings:
        raise NotationError(
            "a match needs at least one opening; use 'start' for the standard start"
        )
    return openings
