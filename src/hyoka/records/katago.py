# SPDX-License-Identifier: Apache-2.0
"""JSON of KataGo's analysis engine: queries and responses as games, games as queries.

There is one object per line. A query holds a game, a response the evaluation of one of its turns:
https://github.com/lightvector/KataGo/blob/master/docs/Analysis_Engine.md
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.foundation.errors import SourceError
from hyoka.foundation.text import counted
from hyoka.records.sources import BLOCK
from hyoka.storage.files import open_regular

_SIGN: Final = re.compile(
    rb'\s{0,99}\{[^\n]*"(?:boardXSize|initialStones|analyzeTurns|moveInfos|rootInfo)"\s{0,9}:'
    rb'|\s{0,99}\{[^\n]*"moves"\s{0,9}:\s{0,9}\[\s{0,9}\[\s{0,9}"[BbWw]'
)
_COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_POINT: Final = re.compile(r"([A-HJ-Z])(\d{1,2})|\((\d{1,2}),(\d{1,2})\)", re.IGNORECASE)
_RULES: Final = frozenset(
    (
        *("tromp-taylor", "chinese", "chinese-ogs", "chinese-kgs", "japanese", "korean"),
        *("stone-scoring", "aga", "bga", "new-zealand", "aga-button"),
    )
)
"""KataGo's names of rules."""
_USUAL_RULES: Final = "tromp-taylor"
_VIEW: Final = "reportAnalysisWinratesAs"
View = Literal["BLACK", "WHITE", "SIDETOMOVE"]
_ID: Final = "game "
"""The start of the ids of queries that are written from a study; the game's id follows."""


def is_katago_json(head: bytes) -> bool:
    """Whether a file that starts with `head` has KataGo's queries or responses."""
    return _SIGN.match(head) is not None


@dataclass(frozen=True)
class Response:
    """An evaluation of one turn of a game, in the view that the engine's settings say."""

    id: str
    turn: int
    to_play: str
    """`B` or `W`."""
    value: float
    score: float | None
    visits: int
    best: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Response | None":
        """Read a response; None if it is a warning, an error or an interim report."""
        root, name, turn = row.get("rootInfo"), row.get("id"), row.get("turnNumber")
        if not isinstance(root, Mapping) or row.get("isDuringSearch") is True:
            return None
        value, visits = _number(root.get("winrate")), _number(root.get("visits"))
        if value is None or not 0 <= value <= 1 or not isinstance(turn, int) or turn < 0:
            return None
        ordered = [each for each in _list(row.get("moveInfos")) if isinstance(each, Mapping)]
        best = min(ordered, key=lambda each: _number(each.get("order")) or 0, default={})
        return cls(
            str(name),
            turn,
            str(root.get("currentPlayer", "")),
            value,
            _number(root.get("scoreLead", root.get("scoreMean"))),
            max(0, min(int(visits or 0), 10**15)),
            str(best.get("move", "")),
        )

    def as_black(self, view: str, to_play: str) -> tuple[float, float | None]:
        """Value and score in Black's view."""
        is_white = view == "WHITE" or (view == "SIDETOMOVE" and to_play == "W")
        if not is_white:
            return self.value, self.score
        return 1 - self.value, None if self.score is None else 0 - self.score


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None  # type: ignore[arg-type]


@dataclass
class _Query:
    """A query: a game."""

    line: int
    row: Mapping[str, Any]
    responses: dict[int, Response] = field(default_factory=dict)

    def sgf(self) -> str:
        """The game in SGF on one line; raises ValueError if it is none."""
        width, height = (self.row.get(name) for name in ("boardXSize", "boardYSize"))
        if width != height or not isinstance(width, int) or not 2 <= width <= 25:
            raise ValueError(f"a board of {_short(width)} by {_short(height)}")
        stones = self._moves("initialStones", width)
        moves = self._moves("moves", width)
        first = self.row.get("initialPlayer") or (moves[0][0] if moves else "")
        to_play = _player(first) if first else "W" if stones and not moves else "B"
        komi = _number(self.row.get("komi"))
        rules = self.row.get("rules")
        head = {
            "GM": ["1"],
            "FF": ["4"],
            "SZ": [str(width)],
            "KM": [] if komi is None else [f"{komi:g}"],
            "RU": [_sgf_text(rules if isinstance(rules, str) else json.dumps(rules))],
            "EV": [_sgf_text(str(self.row.get("id", "")))],
            "AB": [point for color, point in stones if color == "B"],
            "AW": [point for color, point in stones if color == "W"],
            "PL": [to_play],
        }
        parts = [name + "".join(f"[{each}]" for each in values) for name, values in head.items()
                 if values]  # fmt: skip
        parts.append(self._comment(0, to_play))
        for turn, (color, point) in enumerate(moves, 1):
            to_play = moves[turn][0] if turn < len(moves) else "BW"[color == "B"]
            parts += [f";{color}[{point}]", self._comment(turn, to_play)]
        return f"(;{''.join(parts)})"

    def _moves(self, name: str, size: int) -> list[tuple[str, str]]:
        rows = self.row.get(name) or []
        if not isinstance(rows, list):
            raise ValueError(f"{name} is no list")
        moves = []
        for each in rows:
            if not isinstance(each, list) or len(each) != 2:
                raise ValueError(f"{name} has {_short(each)}, no pair of player and point")
            moves.append((_player(each[0]), sgf_point(each[1], size)))
        return moves

    def _comment(self, turn: int, to_play: str) -> str:
        response = self.responses.get(turn)
        if response is None:
            return ""
        settings = self.row.get("overrideSettings")
        view = settings.get(_VIEW) if isinstance(settings, Mapping) else None
        value, score = response.as_black(str(view), to_play)
        words = [f"[%value {value:.7g}\\]"]
        if score is not None:
            words.append(f"[%score {np.format_float_positional(score, precision=4, trim='-')}\\]")
        if response.visits:
            words.append(f"[%nodes {response.visits}\\]")
        return f"C[{' '.join(words)}]"


def _short(value: object) -> str:
    return f"{value!r:.40}"


def _player(name: object) -> str:
    if not isinstance(name, str) or name[:1].upper() not in ("B", "W"):
        raise ValueError(f"{_short(name)} is no player, B or W")
    return name[0].upper()


def sgf_point(text: object, size: int) -> str:
    """Convert a point of GTP, `Q16` or `(15,3)`, to SGF's letters; a pass has none."""
    if isinstance(text, str) and text.lower() == "pass":
        return ""
    match = _POINT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{_short(text)} is no point")
    if match[1]:
        column, row = _COLUMNS.index(match[1].upper()), size - int(match[2])
    else:
        column, row = int(match[3]), int(match[4])
    if not (0 <= column < size and 0 <= row < size):
        raise ValueError(f"{text} is no point of the board")
    return chr(97 + column) + chr(97 + row)


_CONTROLS: Final = dict.fromkeys((*range(32), 127), " ")


def _sgf_text(text: str) -> str:
    plain = text.encode(errors="replace").decode().translate(_CONTROLS)
    return plain.replace("\\", "\\\\").replace("]", "\\]")


class KatagoGames:
    """The games of a file of queries and responses, as SGF: each on the line of its query.

    Responses may come in any order, so that the games follow at the end.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[int, int, str]] = []
        """Lines that can't be read: line, number of the game, reason."""
        self.unmatched = 0
        """Responses without a query."""

    def as_sgf(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Convert the lines of the blocks."""
        queries: list[_Query] = []
        by_id: dict[str, _Query] = {}
        early: list[Response] = []
        for line, row in self._rows(blocks, queries):
            if "moves" in row:
                query = _Query(line, row)
                queries.append(query)
                by_id[str(row.get("id"))] = query
            elif (response := Response.of(row)) is not None:
                if response.id in by_id:
                    by_id[response.id].responses[response.turn] = response
                else:
                    early.append(response)
        for response in early:
            if response.id in by_id:
                by_id[response.id].responses.setdefault(response.turn, response)
            else:
                self.unmatched += 1
        if self.unmatched:
            reason = (
                f"{counted(self.unmatched, 'response')} without a query; in a study, "
                "`table:FILE` reads responses to its exported queries"
            )
            self.faults.append((0, len(queries) + 1, reason))
        at = 1
        held, size = [], 0
        for number, query in enumerate(queries, 1):
            try:
                text = query.sgf()
            except ValueError as error:
                self.faults.append((query.line, number, str(error)))
                continue
            held.append("\n" * (query.line - at) + text)
            size += len(held[-1])
            at = query.line
            if size > BLOCK:
                yield "".join(held).encode()
                held, size = [], 0
        yield "".join(held).encode()

    def _rows(
        self, blocks: Iterable[bytes], queries: Sequence[_Query]
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The objects with the numbers of their lines."""
        for number, line in enumerate(_lines(blocks), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                reason = f"no JSON: {type(error).__name__}: {error}"
                self.faults.append((number, len(queries) + 1, reason))
                continue
            if isinstance(row, Mapping):
                yield number, row


_LONGEST_LINE: Final = 1 << 26


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut the bytes at line ends; a line that is too long is cut, so that it is no JSON."""
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
        if len(rest) > _LONGEST_LINE:
            yield rest
            rest = b""
    yield rest


def read_responses(file: str | Path) -> pa.Table | None:
    """Read the responses to a study's exported queries as a table; None if the file has none.

    The table has `game_id`, `ply`, `value`, `score`, `nodes` and `best`, in Black's view.
    """
    try:
        with open_regular(file) as stream:
            head = stream.read(1 << 16)
    except OSError:  # who reads it as another table says so
        return None
    if not is_katago_json(head):
        return None
    rows: dict[tuple[int, int], tuple[float, float | None, int, str]] = {}
    with open_regular(file) as stream:
        for line in _lines(iter(lambda: stream.read(1 << 20), b"")):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue  # an engine that was stopped leaves half a line
            response = Response.of(row) if isinstance(row, Mapping) else None
            number = response.id.removeprefix(_ID) if response is not None else ""
            if response is None or not number.isdecimal() or len(number) > 15:
                continue
            value, score = response.as_black("BLACK", response.to_play)
            rows[int(number), response.turn] = value, score, response.visits, response.best
    if not rows:
        raise SourceError(
            f"{file}: no response of KataGo to a query of `hyoka study export QUERIES.jsonl`"
        )
    games, plies = zip(*rows, strict=True)
    values, scores, visits, best = zip(*rows.values(), strict=True)
    return pa.table(
        {
            "game_id": pa.array(games, pa.int64()),
            "ply": pa.array(plies, pa.int32()),
            "value": pa.array(values, pa.float32()),
            "score": pa.array(scores, pa.float32()),
            "nodes": pa.array(visits, pa.int64()),
            "best": pa.array(best, pa.string()),
        }
    )


def query(
    game_id: int, start: Any, moves: Sequence[str], turns: Sequence[int], rules: str = ""
) -> str:
    """One game of Go from its first position as a query, on one line.

    The engine is to report in Black's view.
    """
    size = start.size
    stones = [
        ("B" if start.cells[row, column] > 0 else "W", f"{_COLUMNS[column]}{size - row}")
        for row, column in np.argwhere(start.cells != 0).tolist()
    ]
    first = start.to_play == _core.Player.first
    row = {
        "id": f"{_ID}{game_id}",
        "boardXSize": size,
        "boardYSize": size,
        "komi": start.komi,
        "rules": rules.lower() if rules.lower() in _RULES else _USUAL_RULES,
        "initialStones": stones,
        "initialPlayer": "B" if first else "W",
        "moves": [("BW"[(i % 2 == 0) != first], move) for i, move in enumerate(moves)],
        "analyzeTurns": list(turns),
        "overrideSettings": {_VIEW: "BLACK"},
    }
    return json.dumps(row, separators=(",", ":")) + "\n"
