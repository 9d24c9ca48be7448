# SPDX-License-Identifier: Apache-2.0
"""Chess problems in EPD, and tables of perft written the same way.

A line is a position (the first four fields of a FEN, or all six) and operations: an opcode, its
operands and a semicolon. `bm` and `am` name the best moves and those to avoid, `pv` a solution,
`dm` the number of moves to mate, `ce` centipawns for the side to move, `D3` the perft of depth 3.
`c0 "Nf3=100, e4=60"` gives points. Other operations become notes.
"""

import re
from collections.abc import Mapping

from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.games import Position, position
from hyoka.records.problems.problem import Problem, ProblemSet, by_lines, legal_line, legal_move

LOOKS_LIKE = re.compile(
    r"^[ \t]*[pnbrqkPNBRQK1-8]{1,8}(?:/[pnbrqkPNBRQK1-8]{1,8}){7}[ \t]+[wb][ \t]", re.MULTILINE
)
_CLOCKS = re.compile(r"\s*([0-9]{1,5})\s+([0-9]{1,5})(?=\s|;|\Z)")
_OPERATION = re.compile(
    r"""\s*(?P<opcode>[A-Za-z][A-Za-z0-9_]{0,14})
        (?P<operands>(?:\s+(?:"(?:\\.|[^"\\])*+"|[^\s";]++))*+)\s*(?:;|\Z)""",
    re.VERBOSE,
)
_OPERAND = re.compile(r'"((?:\\.|[^"\\])*+)"|([^\s";]++)')
_POINTS = re.compile(r"\s*(\S+?)\s*=\s*([0-9]{1,6})\s*")


def read(text: str, source: str) -> ProblemSet:
    """Read a suite, one problem a line."""
    return by_lines(text, source, "epd", _problem)


def _problem(line: str) -> Problem:
    fields = line.split(None, 4)
    if len(fields) < 4:
        raise NotationError(f"an EPD line has at least four fields, not {len(fields)}")
    rest = fields[4] if len(fields) == 5 else ""
    clocks = _CLOCKS.match(rest)
    if clocks:
        rest = rest[clocks.end() :]
    given = _operations(rest)
    halfmoves, number = clocks.groups() if clocks else ("0", "1")
    if "hmvc" in given:
        halfmoves = str(_number(given, "hmvc"))
    if "fmvn" in given:
        number = str(_number(given, "fmvn"))
    game = position("chess", " ".join([*fields[:4], halfmoves, number]))
    return _of_operations(game, given)


def _of_operations(game: Position, given: Mapping[str, list[str]]) -> Problem:
    """Build a problem from operations; unknown operations become notes."""
    rest = dict(given)
    best = _moves(game, rest, "bm")
    avoid = _moves(game, rest, "am")
    if set(best) & set(avoid):
        raise NotationError("bm and am name the same move")
    variation, _ = legal_line(game, rest.pop("pv", []))
    score, mate_plies = None, None
    if "ce" in rest:
        view = 1 if game.to_play == Player.first else -1
        score = float(view * _number(rest, "ce", signed=True))
    if "dm" in rest:
        mate_plies = 2 * _number(rest, "dm") - 1
        if mate_plies < 1:
            raise NotationError("dm must be at least 1")
    perft = {
        int(code[1:]): _number(rest, code) for code in given if re.fullmatch(r"D[1-9][0-9]?", code)
    }
    points = _points(game, rest)
    name = " ".join(rest.pop("id", []))
    for known in ("ce", "dm", "hmvc", "fmvn", *(f"D{depth}" for depth in perft)):
        rest.pop(known, None)
    return Problem(
        "chess",
        game.text,
        best=best,
        avoid=avoid,
        lines=(variation,) if variation else (),
        points=points,
        score=score,
        mate=True if mate_plies else None,
        mate_plies=mate_plies,
        perft=perft,
        kind="perft" if perft else "move" if best or avoid else "position",
        id=name,
        notes={code: " ".join(operands) for code, operands in rest.items()},
    )


def _operations(text: str) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == ";":
            at += 1
            continue
        operation = _OPERATION.match(text, at)
        if not operation:
            raise NotationError(f"no EPD operation: '{text[at:]}'")
        code = operation["opcode"]
        if code in given:
            raise NotationError(f"{code} is given twice")
        given[code] = [
            bare or re.sub(r"\\(.)", r"\1", quoted)
            for quoted, bare in _OPERAND.findall(operation["operands"])
        ]
        at = operation.end()
    return given


def _moves(game: Position, given: dict[str, list[str]], code: str) -> tuple[str, ...]:
    if code not in given:
        return ()
    texts = given.pop(code)
    if not texts:
        raise NotationError(f"{code} names no move")
    return tuple(dict.fromkeys(legal_move(game, text) for text in texts))


def _number(given: Mapping[str, list[str]], code: str, *, signed: bool = False) -> int:
    text = " ".join(given[code])
    if not re.fullmatch(r"[+-]?[0-9]{1,18}" if signed else r"[0-9]{1,18}", text):
        raise NotationError(f"{code} needs a number, not '{text}'")
    return int(text)


def _points(game: Position, given: dict[str, list[str]]) -> dict[str, int]:
    """Parse points for moves in `c0`; any other comment stays."""
    shares = [_POINTS.fullmatch(part) for part in " ".join(given.get("c0", [])).split(",")]
    points = {}
    for share in shares:
        if not share:
            return {}
        move = legal_move(game, share[1])
        if move in points:
            raise NotationError(f"c0 gives {share[1]} points twice")
        points[move] = int(share[2])
    del given["c0"]
    return points
