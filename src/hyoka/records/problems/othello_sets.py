# SPDX-License-Identifier: Apache-2.0
"""Othello endgames in two notations, both with 64 squares by rows from a1 on each line.

- OBF: `SQUARES X; D1:+2; G3:+0;` gives the exact score of moves for the side to move.
- Plain: `SQUARES Black 32 -34` gives one best move as the number of its square from 0 (64 or -1 is
  a pass), and the score as Black's discs less White's, whichever side moves.
"""

import re

from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.games import position
from hyoka.records.problems.problem import Problem, ProblemSet, by_lines, legal_move

_OBF = re.compile(r"\s*([-.XOxo*]{64})\s+([XOxo*])\s*;([^%]*)(%.*)?")
_SCORED = re.compile(
    r"\s*([A-Ha-h][1-8]|[Pp](?:[Aa]|[Aa]?[Ss]{1,2})|--)\s*:\s*([+-]?[0-9]{1,2})\s*"
)
_PLAIN = re.compile(r"\s*([-.XO]{64})\s+(Black|White)\s+(-1|[0-9]{1,2})\s+([+-]?[0-9]{1,2})\s*")
LOOKS_LIKE_OBF = re.compile(r"^[ \t]*[-.XOxo*]{64}[ \t]+[XOxo*][ \t]*;", re.MULTILINE)
LOOKS_LIKE_PLAIN = re.compile(r"^[ \t]*[-.XO]{64}[ \t]+(?:Black|White)[ \t]", re.MULTILINE)
_PASSES = ("-1", "64")
_AS_OURS = str.maketrans("xo*.", "XOX-")


def read_obf(text: str, source: str) -> ProblemSet:
    """Read a suite in OBF, one problem a line."""
    return by_lines(text, source, "obf", _obf_problem, comment="%")


def read_plain(text: str, source: str) -> ProblemSet:
    """Read a suite of `squares side move score`, one problem a line."""
    return by_lines(text, source, "othello", _plain_problem)


def _obf_problem(line: str) -> Problem:
    matched = _OBF.fullmatch(line)
    if not matched:
        raise NotationError(
            "expected 64 squares, X or O, and moves such as D1:+2; after semicolons"
        )
    squares, side, moves, comment = matched.groups()
    game = position("othello", squares.translate(_AS_OURS) + " " + side.translate(_AS_OURS))
    view = 1 if game.to_play == Player.first else -1
    scores: dict[str, float] = {}
    for part in filter(str.strip, moves.split(";")):
        scored = _SCORED.fullmatch(part)
        if not scored:
            raise NotationError(
                f"expected a move and its score such as D1:+2, not '{part.strip()}'"
            )
        text = "pass" if scored[1][0] in "Pp-" else scored[1]
        move = legal_move(game, text)
        if move in scores:
            raise NotationError(f"{scored[1]} has two scores")
        scores[move] = view * int(scored[2])
    top = max((view * score for score in scores.values()), default=None)
    return Problem(
        "othello",
        game.text,
        best=tuple(move for move, score in scores.items() if view * score == top),
        score=None if top is None else view * top,
        scores=scores,
        kind="endgame",
        notes={"comment": comment[1:].strip()} if comment else {},
    )


def _plain_problem(line: str) -> Problem:
    matched = _PLAIN.fullmatch(line)
    if not matched:
        raise NotationError(
            "expected 64 squares, Black or White, a square from 0 to 63 and a score"
        )
    squares, side, square, score = matched.groups()
    game = position("othello", squares.translate(_AS_OURS) + (" X" if side == "Black" else " O"))
    rank, file = divmod(int(square), 8)
    if square in _PASSES:
        best = legal_move(game, "pass")
    elif rank > 7:
        raise NotationError(f"squares are numbered from 0 to 63, not {square}")
    else:
        best = legal_move(game, "abcdefgh"[file] + str(rank + 1))
    return Problem("othello", game.text, best=(best,), score=float(score), kind="endgame")
