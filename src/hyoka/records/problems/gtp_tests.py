# SPDX-License-Identifier: Apache-2.0
"""Regression tests of Go programs (`.tst`): GTP commands, and after some the expected answer.

```text
loadsgf games/owl1.sgf 42
1 reg_genmove white
#? [(D4|E5)]*
```

`#? [pattern]` is the expectation for the command before it; `[!pattern]` wants any other answer,
and `*` marks a test that its authors' program fails. The commands before a test are followed as far
as they concern the board (`loadsgf`, `boardsize`, `clear_board`, `komi`, `play` and its older
names, `undo`, GNU Go's `trymove` and `popgo`), so that each test knows its position.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace

from hyoka._core import Player
from hyoka.foundation.errors import Error, NotationError
from hyoka.games import GTP_GAME, GoPosition, as_go, go_of_size, name_of
from hyoka.games.registry import position
from hyoka.records.problems.go_position import Past, load_sgf_past, read_komi
from hyoka.records.problems.problem import (
    GtpScript,
    GtpTest,
    OpenBeside,
    ProblemSet,
    Refusal,
    refusal,
)

LOOKS_LIKE = re.compile(r"^[ \t]*(?:[0-9]+[ \t]+)?loadsgf[ \t]|^#\?[ \t]*\[", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]+(?=\s|\Z)")
_POINT = r"(?:[A-Ta-t][0-9]{1,2}|[Pp][Aa][Ss][Ss])"
_POINTS = re.compile(rf"\(?{_POINT}(?:\|{_POINT})*\)?")
_PREFIXED = re.compile(r"([^|()]*\s)([^|()\s]+(?:\|[^|()\s]+)+)")
_MOST_REPEATS = 4
_LONGEST_PATTERN = 2000
_MOST_COMMANDS = 500
_ASKS_FOR_A_MOVE = frozenset({"reg_genmove", "gg_genmove", "restricted_genmove"})
# These change the board in program-specific or unsupported ways.
_LOSES_THE_BOARD = frozenset(
    {
        "genmove",
        "genmove_black",
        "genmove_white",
        "kgs-genmove_cleanup",
        "fixed_handicap",
        "place_free_handicap",
        "set_free_handicap",
        "gg-undo",
        "gogui-setup",
        "gogui-play_sequence",
    }
)
_COLORS = {"b": Player.first, "black": Player.first, "w": Player.second, "white": Player.second}


def read(text: str, source: str, open_beside: OpenBeside | None = None) -> ProblemSet:
    """Read the tests; tests with an unknown position are refused one by one."""
    board = _Board(open_beside)
    number, command, at = "", "", 0
    commands: list[str] = []
    questions: set[int] = set()
    tests: list[GtpTest] = []
    refused: list[Refusal] = []
    for line_number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("#?"):
            questions.add(len(commands) - 1)
            try:
                test = _test(board, command, line)
                place = len(commands) - 1
                test = replace(test, id=number, source=source, line_number=at, place=place)
                tests.append(test)
            except Error as error:
                refused.append(refusal(source, line_number, error))
        elif stripped := line.partition("#")[0].strip():
            number = (_NUMBER.match(stripped) or [""])[0]
            command, at = stripped[len(number) :].strip(), line_number
            if command:
                commands.append(command)
                board.follow(command)
    script = GtpScript(tuple(commands), frozenset(questions), board.records)
    scripted = tuple(replace(test, script=script) for test in tests)
    return ProblemSet("tst", source, tests=scripted, refused=tuple(refused))


class _Board:
    """A program's board after the commands, or why it is unknown."""

    def __init__(self, open_beside: OpenBeside | None) -> None:
        self._open_beside = open_beside
        self.records: dict[str, bytes] = {}
        self._past: list[Past] = [Past.of(as_go(position(GTP_GAME)))]
        self._lost: str | None = None
        self.setup: list[str] = []

    @property
    def past(self) -> Past:
        """Return the position and its past; raises NotationError if it is unknown."""
        if self._lost is not None:
            raise NotationError(self._lost)
        return self._past[-1]

    def follow(self, command: str) -> None:
        """Apply a command to the board; others are only recorded."""
        name, *arguments = command.split() or [""]
        act: Callable[[list[str]], None] | None = {
            "loadsgf": self._load,
            "boardsize": self._resize,
            "clear_board": self._clear,
            "komi": self._set_komi,
            "play": self._play,
            "trymove": self._play,
            "black": lambda rest: self._play(["black", *rest]),
            "white": lambda rest: self._play(["white", *rest]),
            "undo": self._undo,
            "popgo": self._undo,
        }.get(name)
        if name in {"loadsgf", "boardsize", "clear_board"}:
            self._begin_anew(keeps_size=name == "clear_board")
        if name in {"loadsgf", "boardsize"}:
            self._past = []
        if len(self.setup) == _MOST_COMMANDS:
            self._lost = f"there are more than {_MOST_COMMANDS} commands since the board was loaded"
            return
        self.setup.append(command)
        if name in _LOSES_THE_BOARD:
            self._lost = f"nobody knows the board after '{command}'"
        if act is None or self._lost is not None:
            return
        try:
            act(arguments)
        except Error as error:
            self._lost = f"'{command}': {error}"

    def _begin_anew(self, *, keeps_size: bool) -> None:
        """Forget the changes of the board."""
        size = [command for command in self.setup if command.split()[0] in ("boardsize", "komi")]
        self.setup, self._lost = size if keeps_size else [], None

    def _load(self, arguments: list[str]) -> None:
        if not 1 <= len(arguments) <= 2:
            raise NotationError("expected a file and perhaps a move number")
        number = None
        if len(arguments) == 2:
            if not re.fullmatch(r"[0-9]{1,6}", arguments[1]):
                raise NotationError(f"no move number '{arguments[1]}'")
            number = int(arguments[1]) or None
        self._past = [load_sgf_past(self._record(arguments[0]), number)]

    def _record(self, name: str) -> bytes:
        if self._open_beside is None:
            raise NotationError("the record cannot be opened: no open_beside was given")
        if name.startswith("/") or "\\" in name or ":" in name or ".." in name.split("/"):
            raise NotationError("records must lie beside or below the tests")
        if name not in self.records:
            try:
                self.records[name] = self._open_beside(name)
            except (OSError, LookupError, ValueError, Error) as error:
                raise NotationError(f"the record cannot be opened: {error}") from None
        return self.records[name]

    def _resize(self, arguments: list[str]) -> None:
        self._past = [Past.of(go_of_size(" ".join(arguments))())]

    def _clear(self, arguments: list[str]) -> None:
        if not self._past:
            raise NotationError("the board is of no size that is ours")
        game = self._past[-1].game
        self._past = [Past.of(type(game)(komi=game.komi))]

    def _set_komi(self, arguments: list[str]) -> None:
        self._past[-1] = self._past[-1].with_komi(read_komi(" ".join(arguments)))

    def _play(self, arguments: list[str]) -> None:
        if len(arguments) != 2 or arguments[0].lower() not in _COLORS:
            raise NotationError("expected a color and a point")
        past = self._past[-1].to_play(_COLORS[arguments[0].lower()])
        self._past.append(past.play(arguments[1]))

    def _undo(self, arguments: list[str]) -> None:
        if len(self._past) == 1:
            raise NotationError("there is no move to take back")
        self._past.pop()


def _test(board: _Board, command: str, line: str) -> GtpTest:
    if not command:
        raise NotationError("there is no command before the expectation")
    expectation = line[2:].strip()
    bracketed = expectation.rstrip("*&")
    marks = expectation[len(bracketed) :]
    if not bracketed.startswith("["):
        raise NotationError(f"no expectation: '{line}'")
    if "&" in marks:
        raise NotationError("the set says to ignore this test (&)")
    pattern = bracketed[1:].removesuffix("]")
    negated = pattern.startswith("!")
    pattern = _checked(pattern.removeprefix("!").strip())
    past = board.past.not_over()
    name, *arguments = command.split()
    moves: tuple[str, ...] = ()
    if name in _ASKS_FOR_A_MOVE:
        color = arguments[0].lower() if arguments else ""
        if color not in _COLORS:
            raise NotationError(f"'{command}' does not say whose move is wanted")
        past = past.to_play(_COLORS[color])
        moves = _listed_moves(past.game, pattern)
    return GtpTest(
        name_of(past.game),
        past.game.text,
        past.start.text,
        past.moves,
        command,
        pattern,
        negated=negated,
        expected_to_fail="*" in marks,
        best=() if negated else moves,
        avoid=moves if negated else (),
        setup=tuple(board.setup[:-1]),
    )


def _checked(pattern: str) -> str:
    """Check a regular expression; write `1 D4|E5` as `1 (D4|E5)`, as is always meant.

    Expressions that could take very long to match are refused.
    """
    bare = re.sub(r"\\.", "", pattern)
    if re.search(r"\)[*+{]", bare) or len(re.findall(r"[*+{]", bare)) > _MOST_REPEATS:
        raise NotationError(f"the pattern '{pattern}' repeats too much")
    if len(pattern) > _LONGEST_PATTERN:
        raise NotationError("the pattern is too long")
    if prefixed := _PREFIXED.fullmatch(pattern):
        pattern = f"{prefixed[1]}({prefixed[2]})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise NotationError(f"no pattern '{pattern}': {error}") from None
    return pattern


def _listed_moves(game: GoPosition, pattern: str) -> tuple[str, ...]:
    """Return the legal moves that a pattern lists; none if it is not a list of points."""
    if not _POINTS.fullmatch(pattern):
        return ()
    moves = []
    for text in pattern.strip("()").split("|"):
        try:
            move = game.parse(text)
        except Error:
            continue
        if game.is_legal(move):
            moves.append(str(move))
    return tuple(dict.fromkeys(moves))
