# SPDX-License-Identifier: Apache-2.0
"""Shogi drills and lessons, a JSON object on each line.

`sfen` is the position; `answers` are solutions in USI, `answers_csa` in CSA, any of which is right;
`mate` says whether there is a mate. Everything else becomes notes.
"""

import json
import re

from hyoka.foundation.errors import NotationError
from hyoka.records.problems.problem import Problem, ProblemSet, by_lines, legal_line
from hyoka.records.problems.shogi_sfen import read_sfen

LOOKS_LIKE = re.compile(r'^[ \t]*\{.*"sfen"[ \t]*:', re.MULTILINE)


def read(text: str, source: str) -> ProblemSet:
    """Read a suite, one problem a line."""
    return by_lines(text, source, "jsonl", _problem)


def _problem(line: str) -> Problem:
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
