# SPDX-License-Identifier: Apache-2.0
"""Problem sets with one problem a line: chess in EPD, Othello in two notations, shogi in two.

**EPD**, also for tables of perft: a line is a position (the first four fields of a FEN, or all
six) and operations: an opcode, its operands and a semicolon. `bm` and `am` name the best moves and
those to avoid, `pv` a solution, `dm` the number of moves to mate, `ce` centipawns for the side to
move, `D3` the perft of depth 3.
`c0 "Nf3=100, e4=60"` gives points. Other operations become notes.

**Othello endgames**, with all 64 squares by rows from a1:

- OBF: `SQUARES X; D1:+2; G3:+0;` gives the exact score of moves for the side to move.
- Plain: `SQUARES Black 32 -34` gives one best move as the number of its square from 0 (64 or -1 is
  a pass), and the score as Black's discs less White's, whichever side moves.

**Shogi problems and openings**: a position and moves, whose way of writing tells their role:

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
from collections.abc import Mapping
from dataclasses import replace

from hyoka._core import Player, Reason
from hyoka.foundation.errors import NotationError
from hyoka.games import Position
from hyoka.games.registry import position
from hyoka.records.problems.problem import Problem, ProblemSet, by_lines, legal_line, legal_move

LOOKS_LIKE_EPD = re.compile(
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


def read_epd(text: str, source: str) -> ProblemSet:
    """Read a suite, one problem a line."""
    return by_lines(text, source, "epd", _epd_problem)


def _epd_problem(line: str) -> Problem:
    fields = line.split(None, 4)
    if len(fields) < 4:
        raise NotationError(f"an EPD line has at least four fields, not {len(fields)}")
    rest = fields[4] if len(fields) == 5 else ""
    clocks = _CLOCKS.match(rest)
    if clocks:
        rest = rest[clocks.end() :]
    values = _operations(rest)
    halfmoves, number = clocks.groups() if clocks else ("0", "1")
    if "hmvc" in values:
        halfmoves = str(_epd_number(values, "hmvc"))
    if "fmvn" in values:
        number = str(_epd_number(values, "fmvn"))
    game = position("chess", " ".join([*fields[:4], halfmoves, number]))
    return _of_operations(game, values)


def _of_operations(game: Position, values: Mapping[str, list[str]]) -> Problem:
    """Build a problem from operations; unknown operations become notes."""
    rest = dict(values)
    best = _moves(game, rest, "bm")
    avoid = _moves(game, rest, "am")
    if set(best) & set(avoid):
        raise NotationError("bm and am name the same move")
    variation, _ = legal_line(game, rest.pop("pv", []))
    score, mate_plies = None, None
    if "ce" in rest:
        view = 1 if game.to_play == Player.first else -1
        score = float(view * _epd_number(rest, "ce", signed=True))
    if "dm" in rest:
        mate_plies = 2 * _epd_number(rest, "dm") - 1
        if mate_plies < 1:
            raise NotationError("dm must be at least 1")
    perft = {
        int(code[1:]): _epd_number(rest, code)
        for code in values
        if re.fullmatch(r"D[1-9][0-9]?", code)
    }
    points = _points(game, rest)
    name = " ".join(rest.pop("id", []))
    for code in ("ce", "dm", "hmvc", "fmvn", *(f"D{depth}" for depth in perft)):
        rest.pop(code, None)
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
    values: dict[str, list[str]] = {}
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == ";":
            at += 1
            continue
        operation = _OPERATION.match(text, at)
        if not operation:
            raise NotationError(f"no EPD operation: '{text[at:]}'")
        code = operation["opcode"]
        if code in values:
            raise NotationError(f"{code} is given twice")
        values[code] = [
            bare or re.sub(r"\\(.)", r"\1", quoted)
            for quoted, bare in _OPERAND.findall(operation["operands"])
        ]
        at = operation.end()
    return values


def _moves(game: Position, values: dict[str, list[str]], code: str) -> tuple[str, ...]:
    if code not in values:
        return ()
    texts = values.pop(code)
    if not texts:
        raise NotationError(f"{code} names no move")
    return tuple(dict.fromkeys(legal_move(game, text) for text in texts))


def _epd_number(values: Mapping[str, list[str]], code: str, *, signed: bool = False) -> int:
    text = " ".join(values[code])
    if not re.fullmatch(r"[+-]?[0-9]{1,18}" if signed else r"[0-9]{1,18}", text):
        raise NotationError(f"{code} needs a number, not '{text}'")
    return int(text)


def _points(game: Position, values: dict[str, list[str]]) -> dict[str, int]:
    """Parse points for moves in `c0`; any other comment stays."""
    shares = [_POINTS.fullmatch(part) for part in " ".join(values.get("c0", [])).split(",")]
    points = {}
    for share in shares:
        if not share:
            return {}
        move = legal_move(game, share[1])
        if move in points:
            raise NotationError(f"c0 gives {share[1]} points twice")
        points[move] = int(share[2])
    del values["c0"]
    return points


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
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotationError(f"no JSON: {error}") from None
    if not isinstance(values, dict):
        raise NotationError("a line must be a JSON object")
    game = read_sfen(_text(values, "sfen"))
    answers = [answer.split() for answer in _texts(values, "answers")]
    answers += [re.findall(r".{1,7}", answer) for answer in _texts(values, "answers_csa")]
    if [] in answers:
        raise NotationError("an answer has no move")
    lines = tuple(dict.fromkeys(legal_line(game, answer)[0] for answer in answers))
    mate = values.pop("mate", None)
    if mate not in (None, True, False):
        raise NotationError(f"mate must be true or false, not {mate!r}")
    kind = _text(values, "kind", "mate" if mate is not None else "move")
    name = _text(values, "id", "") or _text(values, "name", "") or _text(values, "title", "")
    return Problem(
        "shogi",
        game.text,
        best=tuple(dict.fromkeys(line[0] for line in lines)),
        lines=lines,
        mate=None if mate is None else bool(mate),
        kind=kind,
        id=name,
        notes={str(key): _written(value) for key, value in values.items()},
    )


def _text(values: dict[str, object], key: str, default: str | None = None) -> str:
    value = values.pop(key, default)
    if not isinstance(value, str):
        raise NotationError(f"'{key}' must be a text, not {value!r}")
    return _encodable(value)


def _texts(values: dict[str, object], key: str) -> list[str]:
    texts = values.pop(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise NotationError(f"'{key}' must be a list of texts")
    return [_encodable(text) for text in texts]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _encodable(text: str) -> str:
    r"""Refuse half characters, which JSON may write (`"\ud800"`) but nobody can encode."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise NotationError("a text holds half a character")
    return text
