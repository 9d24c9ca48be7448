# SPDX-License-Identifier: Apache-2.0
"""Problems: positions with their solutions, and the exercises that players answer.

A `Problem` is a position with moves to find or to avoid, solutions and scores. A `GtpTest` is a
position, a command for a Go program and the answers that pass. An `Assertion` is a position and a
claim about it that is true or false. `exercise_of` turns each into an `Exercise` if it can be
answered by a move.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hyoka._core import Player
from hyoka.foundation.errors import Error
from hyoka.games import Line, Position, game_facts
from hyoka.games.registry import position

OpenBeside = Callable[[str], bytes]
"""Reads a file that a problem set names, such as `games/owl1.sgf`."""

LONGEST_REASON = 200


def _mapping() -> Any:
    return field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Problem:
    """A position with its solution. Moves are in the game's notation.

    All numbers are from the first player's view (White in chess, Black in the others).
    """

    game: str
    """A name in `hyoka.games.GAMES`."""
    position: str
    """Text for `hyoka.position(game, ...)`."""
    moves: tuple[str, ...] = ()
    """Moves from `position` to the position to solve; `to_solve` plays them."""
    best: tuple[str, ...] = ()
    """Correct moves, any of which is accepted; empty if unstated."""
    avoid: tuple[str, ...] = ()
    """Wrong moves."""
    lines: tuple[tuple[str, ...], ...] = ()
    """Complete solutions, any of which is accepted."""
    points: Mapping[str, int] = _mapping()
    """Points for moves, 100 for the best, as in the Strategic Test Suite."""
    score: float | None = None
    """Centipawns in chess, the final disc difference in Othello."""
    scores: Mapping[str, float] = _mapping()
    """Scores of moves in the same unit."""
    mate: bool | None = None
    """Whether a side can force mate; None if unstated."""
    mate_plies: int | None = None
    """The number of plies to mate, including the last."""
    perft: Mapping[int, int] = _mapping()
    """Exact numbers of lines by depth."""
    kind: str = "position"
    """`move`, `perft`, `mate`, `next move`, `opening`, `endgame`, `position`, or the set's word."""
    id: str = ""
    """The set's name for the problem."""
    notes: Mapping[str, str] = _mapping()
    """All other data of the set, by the set's names."""
    source: str = ""
    line_number: int = 0

    def to_solve(self) -> Position:
        """Build the position to solve: `position` after `moves`."""
        return played(position(self.game, self.position), self.moves)


@dataclass(frozen=True)
class GtpScript:
    """A file of tests as commands for a program."""

    commands: tuple[str, ...] = ()
    """Verbatim commands, without numbers and comments."""
    asked: frozenset[int] = frozenset()
    """Indices of commands with an expected answer."""
    records: Mapping[str, bytes] = _mapping()
    """Contents of the files that could be loaded, by name."""


@dataclass(frozen=True)
class GtpTest:
    """A command to a Go program in a position, and the answers that pass."""

    game: str
    position: str
    """The command, with the color to play if it requests a move."""
    start: str
    """A position from which `moves` lead to the tested one: its known history."""
    moves: tuple[str, ...]
    command: str
    """For example `attack C3`, without its number."""
    expected: str
    """A regular expression; see `accepts`."""
    negated: bool = False
    """Whether only answers that do not match pass."""
    expected_to_fail: bool = False
    """Whether the set's authors know that their program fails (`*`)."""
    best: tuple[str, ...] = ()
    """The legal moves that pass, if a move is requested and `expected` lists points."""
    avoid: tuple[str, ...] = ()
    """The legal moves that fail, if a move is requested and `expected` lists points."""
    setup: tuple[str, ...] = ()
    """All commands from the last one that loaded or cleared the board up to this one."""
    script: "GtpScript" = field(default_factory=GtpScript, compare=False, repr=False)
    """The whole file, shared by all its tests."""
    place: int = 0
    """The index of the command in the script."""
    id: str = ""
    """The number of the command."""
    source: str = ""
    line_number: int = 0

    def accepts(self, answer: str) -> bool:
        """Whether an answer passes: all of it must match, ignoring case."""
        matches = re.fullmatch(self.expected, answer.strip(), re.IGNORECASE) is not None
        return matches != self.negated


@dataclass(frozen=True)
class Assertion:
    """A claim about a Go position, such as: the ladder against the chain at C3 works."""

    game: str
    position: str
    """Black is to play, or the opponent of the player who made the marked last move."""
    name: str
    """For example `ladder`."""
    arguments: tuple[str, ...] = ()
    """Verbatim, for example `("b", "c3")`."""
    expected: tuple[str, ...] = ()
    """Verbatim, for example `("1",)`; a status test has one value for each point."""
    optional: bool = False
    """Whether the claim is optional (`!`)."""
    player: Player | None = None
    """The player in the arguments: the owner of the chain, or the one to move."""
    point: str | None = None
    """The first point among the arguments, as moves print."""
    last_move: str | None = None
    """The move marked as the last one. It captured nothing, so it left no ko."""
    settings: Mapping[str, str] = _mapping()
    """Rules, handicap and passes, verbatim."""
    title: str = ""
    source: str = ""
    line_number: int = 0

    @property
    def holds(self) -> bool | None:
        """Whether the claim is stated as true; None if the answer is not yes or no."""
        return self.expected == ("1",) if self.expected in {("0",), ("1",)} else None


@dataclass(frozen=True)
class Refusal:
    """An unusable line, and the reason."""

    source: str
    line_number: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line_number}: {self.reason}"


@dataclass(frozen=True)
class ProblemSet:
    """The problems of one text, and its refused lines."""

    format: str
    """A name in `hyoka.records.problems.FORMATS`."""
    source: str
    problems: tuple[Problem, ...] = ()
    tests: tuple[GtpTest, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    refused: tuple[Refusal, ...] = ()

    def __len__(self) -> int:
        return len(self.problems) + len(self.tests) + len(self.assertions)


def played(game: Position, moves: tuple[str, ...]) -> Position:
    """Play moves in sequence."""
    for move in moves:
        game = game.play(move)
    return game


def line_between(start: Position, moves: Sequence[str], end: Position) -> Line:
    """Return the line from start to end, or from the end if the rules forbid some move.

    For example a record's rules may allow a repetition that ours forbid.
    """
    line = start.line()
    for text in moves:
        move = line.parse(text)
        if line.outcome is not None or not line.is_legal(move):
            return end.line()
        line = line.play(move)
    return line


def legal_move(game: Position, text: str) -> str:
    """Read a move as the game prints it; raise our errors if it cannot be read or played."""
    move = game.parse(text)
    game.play(move)
    return str(move)


def legal_line(game: Position, texts: list[str]) -> tuple[tuple[str, ...], Position]:
    """Read a sequence of moves; return them and the final position."""
    moves = []
    for text in texts:
        move = game.parse(text)
        game = game.play(move)
        moves.append(str(move))
    return tuple(moves), game


def refusal(source: str, line_number: int, error: Error) -> Refusal:
    """Refuse a line for an error, shortened to one line."""
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


_GENMOVES: Final = ("reg_genmove", "gg_genmove", "restricted_genmove")


class NotAsked(Exception):  # noqa: N818 - nothing went wrong
    """Raised, with the reason, for a problem that no move answers."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A position and its correct answers."""

    game: str
    start: str
    """The text of the position from which `moves` are played."""
    moves: tuple[str, ...] = ()
    best: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    points: Mapping[str, int] = field(default_factory=dict)
    mate: bool | None = None
    """Whether there is a mate to prove; None if that is not asked."""
    mated: bool = False
    """Whether the side to move is mated."""
    score: float | None = None
    """The exact score for the first player, if an endgame set has it."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Exact scores of moves."""
    only: tuple[str, ...] = ()
    """The allowed moves; empty for all."""
    test: GtpTest | Assertion | None = None
    """The test in GTP, for GTP engines."""
    asks_for_move: bool = True
    id: str = ""
    source: str = ""
    line_number: int = 0

    def to_solve(self) -> Position:
        """The position with the moves played."""
        return played(position(self.game, self.start), self.moves)

    def line(self) -> Line:
        """The position with its history, as far as the rules allow it."""
        return line_between(position(self.game, self.start), self.moves, self.to_solve())

    def expectation(self) -> str:
        """Describe the correct answers briefly."""
        if isinstance(self.test, Assertion):
            return " ".join([self.test.name, *self.test.arguments, *self.test.expected])
        if self.test is not None:
            return f"{'not ' if self.test.negated else ''}{self.test.expected}"
        words = [
            " or ".join(self.best),
            f"not {' nor '.join(self.avoid)}" if self.avoid else "",
            {True: "a mate", False: "no mate", None: ""}[self.mate],
            "" if self.score is None else f"score {self.score:+g}",
        ]
        return " or ".join(filter(None, words)) if self.mate else ", ".join(filter(None, words))

    def is_solved_by(
        self, move: str | None, mate: int | None = None, score: float | None = None
    ) -> bool:
        """Whether a move, and perhaps a claimed mate (> 0 for the first player), is right.

        A mate is solved by a proof of it, or by the first move of a solution; a position without
        one by no claim. An ending is solved by a proof of its exact `score`, whatever the move;
        one that has nothing but a score by that alone.
        Else any best move is right, and any that is not to be avoided.

        >>> Exercise("chess", "8/8/8/8/8/8/8/8 w - - 0 1", best=("a1a8",)).is_solved_by("a1a8")
        True
        """
        if self.mate is not None:
            first_mates = (self.to_solve().to_play is Player.first) != self.mated
            proved = mate is not None and (mate > 0) == first_mates
            return not proved if self.mate is False else proved or move in self.best
        if score is not None and score == self.score:
            return True
        if move is None or move in self.avoid:
            return False
        # With a score only, a solver must say which moves reach it.
        return move in self.best if self.best else self.score is None

    def points_of(self, move: str | None) -> int:
        """Return the points for a move."""
        return self.points.get(move or "", 0)


def exercise_of(
    problem: Problem | GtpTest | Assertion, *, over_gtp: bool = False
) -> Exercise | str:
    """Return the exercise of a problem; raises NotAsked if no move answers it.

    Over GTP a test may ask for anything that the engine understands; whether it does is seen later.
    """
    if isinstance(problem, Problem):
        return _of_problem(problem)
    if isinstance(problem, Assertion):
        exercise: Exercise | str = "a claim about a board, not a question for a move"
        number = ""
    else:
        exercise, number = _of_test(problem), problem.id
    if not over_gtp:
        return exercise
    if isinstance(exercise, Exercise):
        return replace(exercise, test=problem)
    return Exercise(
        problem.game,
        problem.position,
        test=problem,
        asks_for_move=False,
        id=number,
        source=problem.source,
        line_number=problem.line_number,
    )


def _of_problem(problem: Problem) -> Exercise | str:
    asks_for_mate = problem.mate is False or (problem.mate is True and not problem.avoid)
    if problem.points:
        top = max(problem.points.values())
        best = tuple(move for move, points in problem.points.items() if points == top)
    else:
        best = problem.best
    # Without a solver a score cannot be verified.
    score = problem.score if game_facts(problem.game).search.ending_solver else None
    if not (best or problem.avoid or asks_for_mate or score is not None):
        return _why_not(problem)
    return Exercise(
        problem.game,
        problem.position,
        problem.moves,
        best=best,
        avoid=problem.avoid,
        points=problem.points,
        mate=problem.mate if asks_for_mate else None,
        score=score,
        scores=problem.scores,
        # Some solutions begin with the defense.
        mated=bool(problem.lines) and all(len(line) % 2 == 0 for line in problem.lines),
        id=problem.id,
        source=problem.source,
        line_number=problem.line_number,
    )


def _why_not(problem: Problem) -> str:
    if problem.perft:
        return "a table of perft"
    if problem.kind == "next move":
        return "the set does not give the best move"
    if problem.kind == "opening":
        return "an opening, with nothing to solve"
    return "the set says no right move"


def _of_test(test: GtpTest) -> Exercise | str:
    name, *arguments = test.command.split() or [""]
    if name not in _GENMOVES:
        return "a question for another answer than a move"
    if not test.best and not test.avoid:
        return "no legal move that passes is listed"
    only: tuple[str, ...] = ()
    if name == "restricted_genmove":
        game = position(test.game, test.position)
        try:
            only = tuple(str(game.parse(point)) for point in arguments[1:])
        except Error:
            return "no legal moves to choose from"
    return Exercise(
        test.game,
        test.start,
        test.moves,
        best=test.best,
        avoid=test.avoid,
        only=only,
        id=test.id,
        source=test.source,
        line_number=test.line_number,
    )
