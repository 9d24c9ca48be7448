# SPDX-License-Identifier: Apache-2.0
"""What a problem set holds, whatever file it came from.

Three kinds of question need three values. A `Problem` is a position and what is known of it: moves
to find or to avoid, solutions, scores. A `GtpTest` is a position, a command for a Go program and
the answers that pass. An `Assertion` is a position and a claim about it that is true or false.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hyoka._core import Player
from hyoka.foundation.errors import Error
from hyoka.games import Position, position

OpenBeside = Callable[[str], bytes]
"""Gives the content of a file that a problem set names, such as `games/owl1.sgf`."""

LONGEST_REASON = 200


def _mapping() -> Any:
    return field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Problem:
    """A position and what is known of it. Moves are written as the game's moves print.

    All numbers are seen by the first player (White in chess, Black in the others).
    """

    game: str
    """A name in `hyoka.GAMES`."""
    position: str
    """What `hyoka.position(game, ...)` reads."""
    moves: tuple[str, ...] = ()
    """Played from `position` before there is anything to solve; `to_solve` plays them."""
    best: tuple[str, ...] = ()
    """Any of these moves is right; empty where the set does not say."""
    avoid: tuple[str, ...] = ()
    """Each of these moves is wrong."""
    lines: tuple[tuple[str, ...], ...] = ()
    """Whole solutions, any of which is right."""
    points: Mapping[str, int] = _mapping()
    """Points for moves, 100 for the best, as the Strategic Test Suite gives them."""
    score: float | None = None
    """Centipawns in chess, the final difference of discs in Othello."""
    scores: Mapping[str, float] = _mapping()
    """The same for moves."""
    mate: bool | None = None
    """Whether a side can force mate from here; None where the set does not say."""
    mate_plies: int | None = None
    """In how many plies, the mating one included."""
    perft: Mapping[int, int] = _mapping()
    """Exact numbers of lines by depth."""
    kind: str = "position"
    """`move`, `perft`, `mate`, `next move`, `opening`, `endgame`, `position`, or the set's word."""
    id: str = ""
    """The set's name for the problem."""
    notes: Mapping[str, str] = _mapping()
    """Whatever else the set says, by the set's name for it."""
    source: str = ""
    line_number: int = 0

    def to_solve(self) -> Position:
        """Build the position to solve: `position` after `moves`."""
        return played(position(self.game, self.position), self.moves)


@dataclass(frozen=True)
class GtpScript:
    """A file of tests as a program is told it."""

    commands: tuple[str, ...] = ()
    """As written, without numbers and comments."""
    asked: frozenset[int] = frozenset()
    """Which of them have an expected answer."""
    records: Mapping[str, bytes] = _mapping()
    """What the files hold that could be loaded, by name."""


@dataclass(frozen=True)
class GtpTest:
    """A command to a Go program in a position, and the answers that pass."""

    game: str
    position: str
    """With the colour to play that the command asks for, if it asks for a move."""
    start: str
    """A position before it from which `moves` lead to it: its past, as far as it is known."""
    moves: tuple[str, ...]
    command: str
    """Such as `attack C3`, without its number."""
    expected: str
    """A regular expression; see `accepts`."""
    negated: bool = False
    """Every answer passes but those that match."""
    expected_to_fail: bool = False
    """The set's authors know that their own program fails (`*`)."""
    best: tuple[str, ...] = ()
    """The legal moves that pass, where a move is asked for and `expected` lists points."""
    avoid: tuple[str, ...] = ()
    """The legal moves that fail, where a move is asked for and `expected` lists points."""
    setup: tuple[str, ...] = ()
    """All commands from the last one that loaded or cleared the board up to this one."""
    script: "GtpScript" = field(default_factory=GtpScript, compare=False, repr=False)
    """The whole file, shared by all its tests."""
    place: int = 0
    """Which command of the script it is."""
    id: str = ""
    """The number of the command."""
    source: str = ""
    line_number: int = 0

    def accepts(self, answer: str) -> bool:
        """Say whether an answer passes: all of it must match, in capitals or not."""
        matches = re.fullmatch(self.expected, answer.strip(), re.IGNORECASE) is not None
        return matches != self.negated


@dataclass(frozen=True)
class Assertion:
    """A claim about a Go position, such as: the ladder against the chain at C3 works."""

    game: str
    position: str
    """The player who did not make the last move is to play; Black if none is marked."""
    name: str
    """Such as `ladder`."""
    arguments: tuple[str, ...] = ()
    """As written, such as `("b", "c3")`."""
    expected: tuple[str, ...] = ()
    """As written, such as `("1",)`; one for each point where a status is asked for."""
    optional: bool = False
    """The set's authors do not insist (`!`)."""
    player: Player | None = None
    """The player among the arguments: the owner of the chain, or who would move."""
    point: str | None = None
    """The first point among the arguments, as moves print."""
    last_move: str | None = None
    """The move marked as the last one. It captured nothing, so it left no ko."""
    settings: Mapping[str, str] = _mapping()
    """Rules, handicap and passes, as written."""
    title: str = ""
    source: str = ""
    line_number: int = 0

    @property
    def holds(self) -> bool | None:
        """Whether the claim is said to be true; None where the answer is not yes or no."""
        return self.expected == ("1",) if self.expected in {("0",), ("1",)} else None


@dataclass(frozen=True)
class Refusal:
    """A line that could not be used, and why."""

    source: str
    line_number: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line_number}: {self.reason}"


@dataclass(frozen=True)
class ProblemSet:
    """What was read from one text, and which lines were refused."""

    format: str
    """A name in `hyoka.problems.FORMATS`."""
    source: str
    problems: tuple[Problem, ...] = ()
    tests: tuple[GtpTest, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    refused: tuple[Refusal, ...] = ()

    def __len__(self) -> int:
        return len(self.problems) + len(self.tests) + len(self.assertions)


def played(game: Position, moves: tuple[str, ...]) -> Position:
    """Play moves one after another."""
    for move in moves:
        game = game.play(move)
    return game


def legal_move(game: Position, text: str) -> str:
    """Read a move as the game prints it; raise our errors if it cannot be read or played."""
    move = game.parse(text)
    game.play(move)
    return str(move)


def legal_line(game: Position, texts: list[str]) -> tuple[tuple[str, ...], Position]:
    """Read moves played one after another; give them and the position they lead to."""
    moves = []
    for text in texts:
        move = game.parse(text)
        game = game.play(move)
        moves.append(str(move))
    return tuple(moves), game


def refusal(source: str, line_number: int, error: Error) -> Refusal:
    """Refuse a line for an error, told in one line of moderate length."""
    reason = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())
    if len(reason) > LONGEST_REASON:
        reason = reason[: LONGEST_REASON - 1] + "…"
    return Refusal(source, line_number, reason)


def by_lines(
    text: str, source: str, format: str, read: Callable[[str], Problem], *, comment: str = "#"
) -> ProblemSet:
    """Read one problem from each line that is neither empty nor a comment."""
    problems: list[Problem] = []
    refused: list[Refusal] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith(comment):
            continue
        try:
            problem = read(line)
        except Error as error:
            refused.append(refusal(source, number, error))
        else:
            problems.append(replace(problem, source=source, line_number=number))
    return ProblemSet(format, source, problems=tuple(problems), refused=tuple(refused))
