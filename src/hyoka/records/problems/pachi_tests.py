# SPDX-License-Identifier: Apache-2.0
"""Unit tests of Pachi (`.t`): Go diagrams, and claims about them.

```text
% Basic ladder
boardsize 5
. . . . .
. . O . .
. O X . .
. . O O .
. . . . .

ladder b c3 1
```

X is Black, O is White, `)` marks the last move, `%` begins a title and `#` a comment; `!` before a
claim makes it optional. `komi`, `rules`, `handicap`, `passes` and `ko` set what the diagram leaves
open. In Pachi the last move is only ever added to the board, so it takes nothing and leaves no ko.
"""

import re
from collections.abc import Iterator

from hyoka._core import Player
from hyoka.foundation.errors import Error, NotationError
from hyoka.games import GoPosition, go_of_size, name_of
from hyoka.games.go import COLUMNS, with_ko
from hyoka.records.problems.go_position import read_komi
from hyoka.records.problems.problem import Assertion, ProblemSet, Refusal, refusal

LOOKS_LIKE = re.compile(r"^boardsize[ \t]+[0-9]+[ \t]*(?:#.*)?$", re.MULTILINE)
_ROW = re.compile(r"(?:[.XO][ )]){0,24}[.XO][ )]?")
_PLAYERS = {"b": Player.first, "w": Player.second}
_NOTED = frozenset({"rules", "handicap", "passes"})


def read(text: str, source: str) -> ProblemSet:
    """Read all claims; claims about an invalid board are refused one by one."""
    return _Reader(source).read(text)


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._title = ""
        self._kind: type[GoPosition] | None = None
        self._rows: list[str] = []
        self._commands: list[tuple[str, list[str]]] = []
        self._assertions: list[Assertion] = []
        self._refused: list[Refusal] = []

    def read(self, text: str) -> ProblemSet:
        for number, commented in enumerate(text.split("\n"), start=1):
            line = commented.partition("#")[0].strip()
            try:
                if line:
                    self._line(line, number)
            except Error as error:
                self._refused.append(refusal(self._source, number, error))
        return ProblemSet(
            "pachi",
            self._source,
            assertions=tuple(self._assertions),
            refused=tuple(self._refused),
        )

    def _line(self, line: str, number: int) -> None:
        name, *arguments = line.split()
        if line.startswith("%"):
            self._title = line[1:].strip()
        elif name == "boardsize":
            self._rows, self._commands = [], []
            self._kind = None
            self._kind = go_of_size(" ".join(arguments))
        elif _ROW.fullmatch(line):
            self._rows.append(line)
        elif name in _NOTED | {"komi", "ko"}:
            self._commands.append((name, arguments))
        else:
            self._assertions.append(self._claim(line, number))

    def _claim(self, line: str, number: int) -> Assertion:
        game, last_move, settings = self._board()
        optional = line.startswith("!")
        words = line.lstrip("! ").split()
        if not words:
            raise NotationError("there is no claim after the !")
        if words[0] == "moggy" and len(words) > 1:
            words[:2] = [" ".join(words[:2])]
        arguments, expected = _split(words)
        point = next((_point(game, word) for word in arguments if _point(game, word)), None)
        return Assertion(
            name_of(game),
            game.text,
            words[0],
            arguments,
            expected,
            optional=optional,
            player=next((_PLAYERS[word] for word in arguments if word in _PLAYERS), None),
            point=point,
            last_move=last_move,
            settings=settings,
            title=self._title,
            source=self._source,
            line_number=number,
        )

    def _board(self) -> tuple[GoPosition, str | None, dict[str, str]]:
        if self._kind is None:
            raise NotationError("there is no board of a size that is ours")
        size = self._kind.size
        if len(self._rows) != size:
            raise NotationError(f"the board has {len(self._rows)} rows, not {size}")
        stones: dict[str, list[str]] = {"X": [], "O": [], ".": []}
        last: list[tuple[str, str]] = []
        for row, line in zip(range(size, 0, -1), self._rows, strict=True):
            marks = list(_marks(line))
            if len(marks) != size:
                raise NotationError(f"row {row} has {len(marks)} points, not {size}")
            for column, (mark, is_last) in zip(COLUMNS, marks, strict=False):
                stones[mark].append(f"{column}{row}")
                if is_last:
                    last.append((mark, f"{column}{row}"))
        if len(last) > 1 or any(mark == "." for mark, _ in last):
            raise NotationError("the last move must be one stone")
        to_play = Player.second if last and last[0][0] == "X" else Player.first
        game = self._kind.from_stones(stones["X"], stones["O"], to_play=to_play)
        settings = {}
        for name, arguments in self._commands:
            if name in _NOTED:
                settings[name] = " ".join(arguments)
            else:
                game = _with_setting(game, name, arguments)
        return game, last[0][1] if last else None, settings


def _marks(line: str) -> Iterator[tuple[str, bool]]:
    return ((line[at], line[at + 1 : at + 2] == ")") for at in range(0, len(line), 2))


def _with_setting(game: GoPosition, name: str, arguments: list[str]) -> GoPosition:
    text = " ".join(arguments)
    return game.with_komi(read_komi(text)) if name == "komi" else _with_ko(game, text)


def _with_ko(game: GoPosition, stone: str) -> GoPosition:
    """Mark a point as just captured in a ko: it may not be retaken at once."""
    point = game.parse(stone)
    if str(point) == "pass" or game.chain_size(point) != 1 or game.liberties(point) != 1:
        raise NotationError(f"'{stone}' is no stone that can have taken a ko")
    column, row = COLUMNS.index(str(point)[0]), int(str(point)[1:])
    mover = Player.second if game.cells[game.size - row, column] > 0 else Player.first
    game = game.with_to_play(mover)
    for name in (
        f"{COLUMNS[x]}{y}"
        for x, y in ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1))
        if 0 <= x < game.size and 1 <= y <= game.size
    ):
        if game.is_legal(name) and game.play(name).ko is not None:
            return with_ko(game, name)
    raise NotationError(f"'{stone}' is no stone that can have taken a ko")


def _split(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the words of a claim into arguments and expected values."""
    name, *rest = words
    if name == "moggy status":
        return tuple(rest[::2]), tuple(rest[1::2])
    if name == "moggy moves":
        return (), tuple(rest)
    if name == "genmove":
        return tuple(rest[:1]), tuple(rest[1:])
    if not rest:
        raise NotationError(f"'{name}' claims nothing")
    return tuple(rest[:-1]), (rest[-1],)


def _point(game: GoPosition, word: str) -> str | None:
    if not re.fullmatch(r"[A-Ta-t][0-9]{1,2}", word):
        return None
    return str(game.parse(word))
