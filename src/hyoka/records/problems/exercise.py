# SPDX-License-Identifier: Apache-2.0
"""What a problem asks of a player who answers with a move, and whether the answer is right."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from hyoka._core import Player
from hyoka.foundation.errors import Error
from hyoka.games import Line, Position, game_facts, position
from hyoka.records.problems.problem import Assertion, GtpTest, Problem, played

_GENMOVES: Final = ("reg_genmove", "gg_genmove", "restricted_genmove")


class NotAsked(Exception):  # noqa: N818 - nothing went wrong
    """A problem that a player cannot be asked, and why."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A position and the answers that are right."""

    game: str
    start: str
    """The text of the position from which `moves` are played."""
    moves: tuple[str, ...] = ()
    best: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    points: Mapping[str, int] = field(default_factory=dict)
    mate: bool | None = None
    """Whether there is a mate to prove; None if that is not the question."""
    mated: bool = False
    """Whether the side to move is the one that is mated."""
    score: float | None = None
    """The exact score, seen by the first player, where a set of endings gives it."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """The same for moves."""
    only: tuple[str, ...] = ()
    """The moves to choose from; empty for all."""
    test: GtpTest | Assertion | None = None
    """The test in GTP's words, for an engine that speaks them."""
    asks_for_move: bool = True
    id: str = ""
    source: str = ""
    line_number: int = 0

    def to_solve(self) -> Position:
        """The position with the moves played."""
        return played(position(self.game, self.start), self.moves)

    def line(self) -> Line:
        """The position with its past, as far as the rules allow it."""
        line = position(self.game, self.start).line()
        for text in self.moves:
            move = line.parse(text)
            if line.outcome is not None or not line.is_legal(move):
                return self.to_solve().line()
            line = line.play(move)
        return line

    def expectation(self) -> str:
        """What is right, in a few words."""
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
        # Where only a score is given, it takes a solver to say which moves reach it.
        return move in self.best if self.best else self.score is None

    def points_of(self, move: str | None) -> int:
        """The points that a suite gives for a move."""
        return self.points.get(move or "", 0)


def exercise_of(
    problem: Problem | GtpTest | Assertion, *, over_gtp: bool = False
) -> Exercise | str:
    """What a problem asks for, or why it asks for no move.

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
    # Without a solver a score is somebody's opinion.
    score = problem.score if game_facts(problem.game).ending_solver else None
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
        # Some solutions begin with the defence.
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
