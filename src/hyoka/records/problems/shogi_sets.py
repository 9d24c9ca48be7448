# SPDX-License-Identifier: Apache-2.0
"""Shogi problems and openings: a position and moves, or a JSON object, on each line.

How a position and moves are written tells their role:

- `startpos moves ...` or `sfen SFEN moves ...`, as in USI: the moves lead to the position.
  Openings for matches look like this.
- `SFEN moves ...`: the moves are the whole solution. If the last one mates, it is a mate.
- `SFEN moves MOVE<TAB>NUMBER`: the move leads to the position to solve; the number is the
  percentage with which a policy network chooses the best move, which is not stated ("next move"
  puzzles of tayayan/cshogi_util).

In a JSON object `sfen` is the position, `answers` are solutions in USI and `answers_csa` in CSA,
any of which is right; `mate` tells whether there is a mate. Other keys become notes.
"""

import json
import re
from dataclasses import replace

from hyoka._core import Reason
from hyoka.foundation.errors import NotationError
from hyoka.games import Position, position
from hyoka.records.problems.problem import Problem, ProblemSet, by_lines, legal_line

LOOKS_LIKE_SFEN = re.compile(
    r"^[ \t]*(?:position[ \t]+)?(?:startpos\b|(?:sfen[ \t]+)?[+plnsgbrkPLNSGBRK1-9]+"
    r"(?:/[+plnsgbrkPLNSGBRK1-9]+){8}[ \t]+[bw][ \t])",
    re.MULTILINE,
)
_PERCENTAGE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,6})?")


def read_sfen_lines(text: str, source: str) -> ProblemSet:
    """Read a suite, one problem a line."""
    return by_lines(text, source, "sfen", _sfen_problem)


def read_sfen(text: str) -> Position:
    """Read a position; a king in hand, as some mating problems have it, is a king not there."""
    fields = text.split(" ")
    if len(fields) > 2:
        fields[2] = re.sub("[0-9]*[Kk]", "", fields[2]) or "-"
    return position("shogi", " ".join(fields))


def _sfen_problem(line: str) -> Problem:
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


LOOKS_LIKE_JSON = re.compile(r'^[ \t]*\{.*"sfen"[ \t]*:', re.MULTILINE)


def read_json_lines(text: str, source: str) -> ProblemSet:
    """Read a suite, one problem a line."""
    return by_lines(text, source, "jsonl", _json_problem)


def _json_problem(line: str) -> Problem:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotationError(f"no JSON: {error}") from None
    if not isinstance(given, dict):
        raise NotationError("a line must be a JSON object")
    game = read_sfen(_text(given, "sfen"))
    answers = [answer.split() for answer in _texts(given, "answers")]
    answers += [re.findall(r".{1,7}", answer) for answer in _texts(given, "answers_csa")]
    if [] in answers:
        raise NotationError("an answer has no move")
    lines = tuple(dict.fromkeys(legal_line(game, answer)[0] for answer in answers))
    mate = given.pop("mate", None)
    if mate not in (None, True, False):
        raise NotationError(f"mate must be true or false, not {mate!r}")
    kind = _text(given, "kind", "mate" if mate is not None else "move")
    name = _text(given, "id", "") or _text(given, "name", "") or _text(given, "title", "")
    return Problem(
        "shogi",
        game.text,
        best=tuple(dict.fromkeys(line[0] for line in lines)),
        lines=lines,
        mate=None if mate is None else bool(mate),
        kind=kind,
        id=name,
        notes={str(key): _written(value) for key, value in given.items()},
    )


def _text(given: dict[str, object], key: str, default: str | None = None) -> str:
    value = given.pop(key, default)
    if not isinstance(value, str):
        raise NotationError(f"'{key}' must be a text, not {value!r}")
    return _whole(value)


def _texts(given: dict[str, object], key: str) -> list[str]:
    values = given.pop(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise NotationError(f"'{key}' must be a list of texts")
    return [_whole(value) for value in values]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _whole(text: str) -> str:
    r"""Refuse half characters, which JSON may write (`"\ud800"`) but nobody can encode."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise NotationError("a text holds half a character")
    return text
