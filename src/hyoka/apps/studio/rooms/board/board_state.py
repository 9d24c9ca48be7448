# SPDX-License-Identifier: Apache-2.0
"""State of the board room, stored in its address: game, moves, variations, players."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, Protocol

import hyoka as hk
from hyoka.apps.studio.forms import decimal_number, whole_number
from hyoka.apps.studio.pages import address
from hyoka.games import DEFAULT_GAME, FACTS, GameFacts, Line, Move, game_facts
from hyoka.search import SearchSpec

_MOST_MOVES: Final = 1500
_MOST_LINES: Final = 24
BOTH: Final = "both"
SIDES: Final = ("first", "second", BOTH)
OWN: Final = "own"
TABS: Final = {
    "play": "Play",
    "analyze": "Analyze",
    "explorer": "Explorer",
    "solve": "Solve",
    "export": "Export",
    "new": "New game",
    "keys": "Keys",
}
"""The panels of the room, one of which is open."""

Words = tuple[str, ...]
"""Moves as addresses have them, without blanks."""


class Query(Protocol):
    """Parameters of a request."""

    def getlist(self, key: Any) -> list[Any]:
        """All values of a name."""


def word_of(move: Any) -> str:
    """A move as an address has it: short, and read by `parse`."""
    short = getattr(move, "short_code", None)
    return str(move) if short is None else str(short())


def move_text(position: Any, move: Any, facts: GameFacts) -> str:
    """A move as people write it; those of Blokus Duo, long otherwise, by their codes."""
    return (
        word_of(move) if hasattr(move, "short_code") else facts.naming.format_move(position, move)
    )


def shared_moves(one: Sequence[str], other: Sequence[str]) -> int:
    """Number of common first moves of two lines."""
    same = (a == b for a, b in zip(one, other, strict=False))
    return sum(itertools.takewhile(bool, same))


@dataclass(frozen=True)
class BoardState:
    """A game on the board, and what was chosen about it."""

    game: str = DEFAULT_GAME
    start: str = ""
    """The text of the first position; empty where games usually begin."""
    moves: Words = ()
    """The line on the board, to its end."""
    ply: int = 0
    """Current ply."""
    others: tuple[Words, ...] = ()
    """Other lines from the same start: variations."""
    against: str = ""
    """The opponent's text; empty: none."""
    level: str = "casual"
    you: str = "first"
    evaluators: tuple[str, ...] = ()
    """Evaluators of the analysis."""
    seconds: float = 20.0
    """The analysis of a position ends after this time."""
    live: bool = False
    """Whether the position on the board is analyzed."""
    model: str = ""
    """A move model whose ranking is drawn."""
    area: str = ""
    """A move of which is drawn what a tree of METS asks about it."""
    kanji: bool = True
    """Whether pieces of shogi have characters, not letters."""
    path: str = ""
    """The file or study that the game is from."""
    number: int = 0
    left_out: int = 0
    """Moves of the record after what our rules call its end."""
    flip: bool = False
    """Whether the board lies the other way round than it would."""
    study: str = field(default="", kw_only=True)
    """The study in which moves are explored."""
    tab: str = "play"
    """The open panel."""

    @classmethod
    def of(cls, query: Query) -> "BoardState":
        """The table that an address describes; raises Error if it makes no sense."""

        def last(name: str, otherwise: str = "") -> str:
            values = query.getlist(name)
            return str(values[-1]).strip() if values else otherwise

        facts = game_facts(last("game", cls.game))
        moves = tuple(last("moves").split())
        others = []
        for text in query.getlist("line")[:_MOST_LINES]:
            count, *rest = str(text).split() or ["0"]
            others.append((*moves[: whole_number(count, "line", 0, len(moves))], *rest))
        if max(map(len, (moves, *others))) > _MOST_MOVES:
            raise hk.errors.ParameterError("moves", f"are {_MOST_MOVES} at most")
        you = last("you", cls.you)
        return cls(
            facts.name,
            start_text(facts, last("start")),
            moves,
            whole_number(last("ply") or len(moves), "ply", 0, len(moves)),
            tuple(others),
            last("against"),
            last("level", cls.level),
            you if you in SIDES else cls.you,
            _evaluators(query.getlist("with"), facts),
            decimal_number(last("seconds") or cls.seconds, "seconds", 0.05, 60),
            last("live") == "1",
            last("model"),
            last("area"),
            last("pieces") != "letters",
            last("path"),
            whole_number(last("number") or 0, "number", 0, 10**9),
            whole_number(last("left_out") or 0, "left_out", 0, 10**9),
            last("flip") == "1",
            tab if (tab := last("tab")) in TABS else cls.tab,
            study=last("study"),
        ).checked()

    def checked(self) -> "BoardState":
        """The same, every move in our words; raises IllegalMoveError or NotationError."""
        moves = self.whole_words(self.moves)
        return replace(self, moves=moves, others=tuple(map(self.whole_words, self.others)))

    def whole_words(self, words: Iterable[str]) -> Words:
        """Moves in our words."""
        return tuple(map(word_of, played(self.first_position.line(), words).moves))

    @property
    def lettering(self) -> Literal["letters", "kanji"]:
        """Notation on pieces."""
        return "kanji" if self.kanji else "letters"

    @property
    def facts(self) -> GameFacts:
        """Facts of the game."""
        return FACTS[self.game]

    @cached_property
    def first_position(self) -> hk.games.Position:
        """Start position."""
        return hk.position(self.game, self.start or None)

    @cached_property
    def line(self) -> Line:
        """The line up to what is on the board."""
        return played(self.first_position.line(), self.moves[: self.ply])

    @cached_property
    def names(self) -> list[str]:
        """The moves to the end, as people write them."""
        return self.names_of(self.moves)

    def names_of(self, words: Sequence[str], begin: int = 0) -> list[str]:
        """A line's moves as people write them, from a ply on."""
        line, names = self.first_position.line(), []
        for word in words:
            move = line.parse(word)
            names.append(move_text(line.position, move, self.facts))
            line = line.play(move)
        return names[begin:]

    @property
    def has_sides(self) -> bool:
        """Whether players sit on different sides of the board: where kings are mated, they do."""
        return self.facts.mates_in is not None

    @property
    def is_turned(self) -> bool:
        """Whether the second player's side is below: who plays it sees it so."""
        is_second = bool(self.against) and self.you == "second"
        return self.has_sides and self.flip != is_second

    @property
    def place(self) -> str:
        """Identifies the position on the board together with its history."""
        return " ".join([self.game, self.start, *self.moves[: self.ply]])

    @property
    def at_end(self) -> bool:
        """Whether the last move of the line is on the board."""
        return self.ply == len(self.moves)

    @property
    def awaits_reply(self) -> bool:
        """Whether the other side, which somebody plays, is to move."""
        return (
            bool(self.against)
            and self.at_end
            and self.you != BOTH
            and self.line.outcome is None
            and self.line.to_play.name != self.you
        )

    def play(self, text: str) -> "BoardState":
        """The table after one or more moves; what was played otherwise becomes a variation."""
        line, words = self.line, list[str]()
        for word in text.split():
            move = line.parse(word)
            words.append(word_of(move))
            line = line.play(move)
        return self.follow((*self.moves[: self.ply], *words), self.ply + len(words))

    def follow(self, moves: Words, ply: int) -> "BoardState":
        """The table with a line on the board, which was a variation or is new."""
        if self.moves[: len(moves)] == moves:
            return replace(self, ply=ply)
        lines = [self.moves, *self.others]
        longest = next((each for each in lines if each[: len(moves)] == moves), moves)
        kept = [each for each in lines if each != longest and longest[: len(each)] != each]
        return replace(self, moves=longest, ply=ply, others=tuple(kept[:_MOST_LINES]))

    def undone(self) -> "BoardState":
        """Without the last move, or, against somebody, without their last and yours."""
        ply = max(0, self.ply - 1)
        if self.against and self.you != BOTH:
            while ply > 0 and replace(self, ply=ply).line.to_play.name != self.you:
                ply -= 1
        return replace(self, moves=self.moves[:ply], ply=ply)

    def at(self, ply: int) -> "BoardState":
        """At another move of the line."""
        return replace(self, ply=min(max(0, ply), len(self.moves)))

    def switched(self, index: int) -> "BoardState":
        """With a variation on the board, at its first own move."""
        if not 0 <= index < len(self.others):
            raise hk.errors.ParameterError("switch", "names no variation that is there")
        line = self.others[index]
        return self.follow(line, min(shared_moves(line, self.moves) + 1, len(line)))

    def dropped(self, index: int) -> "BoardState":
        """Without a variation."""
        return replace(self, others=(*self.others[:index], *self.others[index + 1 :]))

    @property
    def variations(self) -> list[tuple[int, list[str]]]:
        """Of each other line: after which ply it begins, and its moves from there."""
        return [
            (shared, self.names_of(line, shared))
            for line in self.others
            for shared in [shared_moves(line, self.moves)]
        ]

    def query(self) -> dict[str, object]:
        """All of it as an address has it; what is usual is left out."""
        usual = BoardState()

        def unless_default(name: str) -> object:
            value = getattr(self, name)
            return None if value == getattr(usual, name) else value

        lines = [(shared_moves(line, self.moves), line) for line in self.others]
        return {
            "game": self.game,
            "start": self.start,
            "moves": " ".join(self.moves),
            "ply": None if self.at_end else self.ply,
            "line": [" ".join([str(shared), *line[shared:]]) for shared, line in lines],
            "against": self.against,
            "level": unless_default("level"),
            "you": unless_default("you"),
            "with": list(self.evaluators),
            "seconds": None if self.seconds == usual.seconds else f"{self.seconds:g}",
            "live": "1" if self.live else None,
            "model": self.model,
            "area": self.area,
            "study": self.study,
            "pieces": None if self.kanji else "letters",
            "flip": "1" if self.flip else None,
            "tab": unless_default("tab"),
            # A path without moves asks for the record's own.
            "path": self.path if self.moves else None,
            "number": (self.number or None) if self.moves else None,
            "left_out": (self.left_out or None) if self.moves else None,
        }

    def pairs(self, *without: str) -> list[tuple[str, str]]:
        """The same for the hidden fields of a form."""
        return [
            (name, str(each))
            for name, value in self.query().items()
            if name not in without
            for each in (value if isinstance(value, list) else [value])
            if each not in (None, "")
        ]

    @property
    def address(self) -> str:
        """The address of this table."""
        return address("/board", **self.query())


def usual(game: str) -> str:
    """The search that is usual in a game; alpha-beta with several moves to compare."""
    kind = SearchSpec.from_text(game_facts(game).search.spec).kind
    return f"{kind}:multipv=4" if kind == "ab" else kind


def _evaluators(texts: Iterable[object], facts: GameFacts) -> Words:
    """Evaluators of an analysis; none for the default alone."""
    names = tuple(dict.fromkeys(filter(None, (str(each).strip() for each in texts))))
    return () if names == (usual(facts.name),) else names


def played(line: Line, words: Iterable[str]) -> Line:
    """A line after some moves."""
    for word in words:
        line = line.play(word)
    return line


def start_text(facts: GameFacts, text: str) -> str:
    """The text of a start, empty for the standard one; raises NotationError."""
    if not text:
        return ""
    start: str = hk.position(facts.name, text).text
    return "" if start == facts.start().text else start


def table_of(record: hk.Record, ply: int | None = None, **more: Any) -> BoardState:
    """A record on the table, as far as our rules let it be played."""
    facts = game_facts(record.game)
    start = record.position(0)
    line: Line = start.line()
    words: list[str] = []
    moves: list[Move] = record.move_list
    for move in moves[:_MOST_MOVES]:
        if not line.is_legal(move):
            break
        words.append(word_of(move))
        line = line.play(move)
    return BoardState(
        facts.name,
        start_text(facts, start.text),
        tuple(words),
        min(len(words), len(words) if ply is None else max(0, ply)),
        left_out=len(moves) - len(words),
        **more,
    )
