# SPDX-License-Identifier: Apache-2.0
"""Shogi problems and openings, a position and moves on each line.

What the moves are depends on how the line is written:

- `startpos moves ...` or `sfen SFEN moves ...`, as USI writes positions: the moves lead to the
  position. Openings for matches look like this.
- `SFEN moves ...`: the moves are the whole solution. Where the last one mates, it is a mate.
- `SFEN moves MOVE<TAB>NUMBER`: the move leads to the position to solve, the number is how often,
  in percent, a policy network chooses the best move there, and the best move is not given. So it is
  in the "next move" puzzles of tayayan/cshogi_util, whose maker prints exactly this.
"""

import re
from dataclasses import replace

from hyoka._core import Reason
from hyoka.foundation.errors import NotationError
from hyoka.games import Position, position
from hyoka.records.problems.problem import Problem, ProblemSet, by_lines, legal_line

LOOKS_LIKE = re.compile(
    r"^[ \t]*(?:position[ \t]+)?(?:startpos\b|(?:sfen[ \t]+)?[+plnsgbrkPLNSGBRK1-9]+"
    r"(?:/[+plnsgbrkPLNSGBRK1-9]+){8}[ \t]+[bw][ \t])",
    re.MULTILINE,
)
_PERCENTAGE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,6})?")


def read(text: str, source: str) -> ProblemSet:
    """Read a suite, one problem a line."""
    return by_lines(text, source, "sfen", _problem)


def read_sfen(text: str) -> Position:
    """Read a position; a king in hand, as some mating problems have it, is a king not there."""
    fields = text.split(" ")
    if len(fields) > 2:
        fields[2] = re.sub("[0-9]*[Kk]", "", fields[2]) or "-"
    return position("shogi", " ".join(fields))


def _problem(line: str) -> Problem:
    usi, tab, percentage = line.rstrip().partition("\t")
    before, *after = re.split(r"\bmoves\b", usi)
    if len(after) > 1:
        raise NotationError("'moves' is written twice")
    words = before.split()
    if words[:1] == ["position"]:
        del words[0]
    leading = bool(words) and words[0] in {"startpos", "sfen"}
    if words == ["startpos"]:
        start = position("shogi")
    else:
        start = read_sfen(" ".join(words[1:] if leading else words))
    moves, end = legal_line(start, " ".join(after).split())
    problem = Problem("shogi", start.text)
    if tab:
        if not _PERCENTAGE.fullmatch(percentage) or float(percentage) > 100:
            raise NotationError(f"a percentage should follow the tab, not '{percentage}'")
        return replace(problem, moves=moves, kind="next move", notes={"choice_rate": percentage})
    if leading:
        return replace(problem, moves=moves, kind="opening")
    if not moves:
        return problem
    mate = end.outcome is not None and end.outcome.reason == Reason.checkmate
    return replace(
        problem,
        best=moves[:1],
        lines=(moves,),
        mate=mate or None,
        mate_plies=len(moves) if mate else None,
        kind="mate" if mate else "move",
    )
