# SPDX-License-Identifier: Apache-2.0
"""The games: what every game can do, and the one list of them with the facts of each."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hyoka import _core
from hyoka.errors import NotationError, nearest


class Move(Protocol):
    """A move: a small value that prints as people write it."""

    @property
    def code(self) -> int:
        """The number that stands for the move in arrays."""

    def __hash__(self) -> int: ...


AnyMove: TypeAlias = Move | int
"""A move of any game: of one written in Python it may be a plain number."""


class AnyGame(Protocol):
    """What every game can do, also one written in Python; enough to be searched.

    A game takes its own moves alone, which a type for all of them can't say: so `play` has `Any`.
    """

    @property
    def to_play(self) -> _core.Player:
        """Who moves next."""

    @property
    def outcome(self) -> _core.Outcome | None:
        """How the game ended, or None while it goes on."""

    @property
    def legal_moves(self) -> Sequence[AnyMove]:
        """All legal moves; empty exactly when the game is over."""

    def play(self, move: Any, /) -> "AnyGame":
        """The game after a move."""


class AnyLine(AnyGame, Protocol):
    """A game with its past, of ours or written in Python."""

    @property
    def start(self) -> AnyGame:
        """Where it began."""

    @property
    def position(self) -> AnyGame:
        """Where it stands."""

    @property
    def moves(self) -> Sequence[AnyMove]:
        """What was played."""

    @property
    def score(self) -> float:
        """The score as the board stands, for the first player."""

    @property
    def text(self) -> str:
        """The line as one line of text."""

    def play(self, move: Any, /) -> Self:
        """The line with one move more."""

    def is_legal(self, move: Any, /) -> bool:
        """Whether a move may be played."""

    def parse(self, text: str, /) -> AnyMove:
        """The move a text names."""

    def random_move(self, seed: int, /) -> AnyMove | None:
        """What a random playout would play here; None if the game is over."""

    def __len__(self) -> int: ...


class Game(AnyGame, Protocol):
    """A position, or a line of play: an immutable value that knows its own rules.

    >>> import hyoka as hk
    >>> for name in ("othello", "chess"):
    ...     game: hk.Game = hk.position(name)
    ...     print(name, len(game.legal_moves), game.outcome)
    othello 4 None
    chess 20 None
    """

    @property
    def score(self) -> float:
        """The score as the board stands, for the first player."""

    @property
    def legal_moves(self) -> Sequence[Move]:
        """All legal moves; empty exactly when the game is over."""

    @property
    def hash(self) -> int:
        """64 bits; equal games have equal hashes."""

    @property
    def text(self) -> str:
        """The game as one line of text."""

    @property
    def cells(self) -> NDArray[np.int8]:
        """The board as drawn: 0 empty, > 0 the first player's pieces, < 0 the second's."""

    def count_moves(self) -> int:
        """How many legal moves there are."""

    def play(self, move: Any, /) -> Self:
        """The game after a move, or after the move a text names."""

    def is_legal(self, move: Any, /) -> bool:
        """Whether a move, or the move a text names, may be played."""

    def parse(self, text: str, /) -> Move:
        """The move a text names, legal or not."""

    def random_move(self, seed: int, /) -> Move | None:
        """What a random playout would play here; None if the game is over."""

    def movement_only(self) -> Self:
        """The game under the rules of movement alone: what tables of perft count."""

    def perft(self, depth: int, /) -> int:
        """How many lines of exactly `depth` moves start here."""

    def playout_arrays(
        self, count: int, seed: int, threads: int, limit: int | None, /
    ) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.float32]]:
        """Results, lengths and scores of random playouts; see `hyoka.playouts`."""


class Position(Game, Protocol):
    """A game without its past: what `hyoka.GAMES` holds the types of."""

    symmetries: int
    """In how many ways its board can be seen; 1 is as it is."""

    @staticmethod
    def from_text(text: str, /) -> "Position":
        """The position that `text` describes."""

    def line(self) -> "Line":
        """The line of play that starts here, with the rules that look back."""


class Line(Game, AnyLine, Protocol):
    """A game with its past, and so with the rules that look back."""

    @property
    def start(self) -> Position:
        """Where it began."""

    @property
    def position(self) -> Position:
        """Where it stands."""

    @property
    def moves(self) -> Sequence[Move]:
        """What was played."""

    def undo(self) -> Self:
        """The line without its last move."""


class GoPosition(Position, Protocol):
    """What positions of Go can do beside the rest."""

    size: int

    def __init__(self, *, komi: float = ..., handicap: int = ...) -> None: ...

    @staticmethod
    def from_text(text: str, /) -> "GoPosition":
        """The position that `text` describes."""

    @staticmethod
    def from_stones(
        black: Sequence[str],
        white: Sequence[str],
        /,
        *,
        to_play: _core.Player = ...,
        komi: float = ...,
    ) -> "GoPosition":
        """The position with these stones."""

    def line(self) -> "GoLine":
        """The line of play that starts here, with superko."""

    @property
    def komi(self) -> float:
        """What White gets for moving second."""

    @property
    def ko(self) -> Move | None:
        """The point that may not be retaken at once."""

    def with_komi(self, komi: float, /) -> Self:
        """The same with another komi."""

    def with_to_play(self, player: _core.Player, /) -> Self:
        """The same with somebody to move."""

    def liberties(self, point: Any, /) -> int:
        """How many liberties the chain on a point has."""

    def chain_size(self, point: Any, /) -> int:
        """How many stones the chain on a point has."""


class GoLine(Line, Protocol):
    """A line of play of Go."""

    @property
    def start(self) -> GoPosition:
        """Where it began."""

    @property
    def position(self) -> GoPosition:
        """Where it stands."""


class ShogiPosition(Position, Protocol):
    """What positions of shogi can do beside the rest."""

    def __init__(self, *, handicap: str = ...) -> None: ...

    def hand(self, player: _core.Player, /) -> dict[str, int]:
        """How many pieces a player holds, by letter."""

    @property
    def may_declare(self) -> bool:
        """Whether the side to move may declare its entered king."""


class Solver(Protocol):
    """What every solver of positions can do."""

    def stop(self) -> None:
        """End the running search soon."""

    def allow(self) -> None:
        """Let searches run again."""

    def clear(self) -> None:
        """Forget everything."""


class MateSolver(Solver, Protocol):
    """Looks for mates by checks."""

    def solve(
        self, position: Any, nodes: int, time_s: float, /
    ) -> tuple[str, Sequence[Move], int, float]:
        """Verdict, mating line, nodes and time; limits of 0 are none."""


class EndingSolver(Solver, Protocol):
    """Solves positions near the end of a game decided by points."""

    def solve(
        self, position: Any, nodes: int, time_s: float, result_only: bool, /
    ) -> tuple[bool, int, Sequence[Move], int, float]:
        """Whether it was solved, the first player's score, best play, nodes and time."""

    def solve_moves(
        self, position: Any, nodes: int, time_s: float, /
    ) -> tuple[bool, Sequence[tuple[Move, int]], int, float]:
        """Whether it was solved, the score of every move, nodes and time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """How much of a game `hyoka bench` does; its counts are fingerprints, so this stays."""

    perft_depth: int
    playouts: int
    nodes: int = 500_000
    counts_playout_moves: bool = False
    """Whether the moves of playouts are measured, too."""


def _unknown_moves_left(_: AnyGame) -> int:
    return 20


def _empty_cells(game: AnyGame) -> int:
    return int((cast("Game", game).cells == 0).sum())


@dataclass(frozen=True, kw_only=True)
class GameFacts:
    """What is known of a game beside its rules. Everything but its names and type has a default.

    >>> game_facts("chess").players, game_facts("othello").unit
    (('White', 'Black'), 'points')
    """

    name: str
    """In commands, specs and studies, as `go9`."""
    position_type: type[Position]
    """A position of it; called without arguments, where games begin."""
    title: str
    """In sentences, as `Go 9×9`; at the start of one, `heading`."""
    family: str = ""
    """Games that differ in the size of their board are one family; by default the name."""
    other_names: tuple[str, ...] = ()

    # Words
    players: tuple[str, str] = ("the first player", "the second player")
    """Who plays, in sentences."""
    colours: tuple[str, str] = ("First player", "Second player")
    """Who plays, beside a board: by the colour of the pieces where they have one."""
    columns: tuple[str, str] = ("black", "white")
    """How columns of studies about the two players also begin: `black_rank`."""
    unit: str = "points"
    """Of scores: `points` or `centipawns`."""
    unit_of_programs: str = ""
    """Of the scores that programs tell in records and matches; by default the same."""

    # How games end
    by_points: bool = False
    """Decided by points, so that any position has a score that counts."""
    forced_passes: bool = False
    """A side that can't move passes, and nobody need be asked."""
    disputed_ends: bool = False
    """Players end the game, but what is dead on the board may still be in dispute."""
    mates_in: Literal["moves", "plies"] | None = None
    """What mates are counted in; None in a game without mates."""
    komi: float | None = None
    """The usual komi; None in a game without komi."""
    handicap_stones: bool = False
    """A game can begin with some stones of the first player on the board."""

    # Records and engines
    notations: tuple[str, ...] = ("sgf",)
    """The formats of `hyoka.records` that records are written in."""
    record_suffix: str = ".sgf"
    """Of a file with records, in the notation that people of the game use."""
    sgf_game: str = ""
    """What SGF calls the game (`GM`); by default its name, by which we read it again."""
    start_word: str = ""
    """What a line of moves calls a start that is not the usual one: `fen`, `sfen`."""
    line_style: Literal["moves", "transcript", "codes"] = "moves"
    """A line of moves is words after `startpos`, squares without blanks or passes, or codes."""
    protocol: Literal["gtp", "uci", "usi"] = "gtp"
    """What its engines speak."""
    own_engines: bool = False
    """Engines that play nothing else are common: over GTP they may know no `set_game`."""
    trial_moves: tuple[str, ...] = ()
    """A few usual first moves, to try an engine out with."""
    centipawn_scale: float = 400 / math.log(10)
    """A value v is told as scale × ln(v / (1 − v)) where a protocol wants centipawns."""

    # What is known of playing it well
    mate_solver: Callable[[int], MateSolver] | None = None
    """Made with so many MiB for what it learns."""
    ending_solver: Callable[[int], EndingSolver] | None = None
    light_playouts: bool = False
    """Playouts with some knowledge, `policy=light`."""
    quiescence: bool = False
    """Its alpha-beta goes on with captures at the leaves."""
    usual_search: str = "uct"
    """What searches a position if nobody says."""
    moves_left: Callable[[AnyGame], int] = _unknown_moves_left
    """How many more moves a side will make, roughly."""
    random_plies: int = 4
    """How many random moves begin a game of a match if nobody says."""
    record_plies: int = 8
    """How many moves of a record are an opening if nobody says."""

    # What comes with the package
    samples: str = ""
    """The file of its sample records; empty without any."""
    bench: Workload | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)
        object.__setattr__(self, "sgf_game", self.sgf_game or self.name)
        object.__setattr__(self, "unit_of_programs", self.unit_of_programs or self.unit)

    @property
    def heading(self) -> str:
        """The title as a sentence begins: `Chess`."""
        return self.title[:1].upper() + self.title[1:]

    @cached_property
    def size(self) -> int:
        """How many rows its board has."""
        return len(self.start().cells)

    @property
    def symmetries(self) -> int:
        """In how many ways its board can be seen; 1 is as it is."""
        return self.position_type.symmetries

    @property
    def line_type(self) -> type[Line]:
        """A position with its past."""
        return cast("type[Line]", self.position_type.Line)  # type: ignore[attr-defined]

    def start(self, *, komi: float | None = None, handicap: int = 0) -> Position:
        """Where games begin; komi and handicap stones count where the game has them."""
        rules: dict[str, float] = {}
        if self.komi is not None and komi is not None:
            rules["komi"] = komi
        if self.handicap_stones and handicap:
            rules["handicap"] = handicap
        return self.position_type(**rules)

    def move(self, code: int) -> Move:
        """The move that a number stands for; raises NotationError if there is none."""
        move: Move = self.position_type.Move.from_code(code)  # type: ignore[attr-defined]
        return move

    def counted_mate(self, plies: int) -> int:
        """A mate in so many plies as people of the game count it; whoever is mated has a minus.

        >>> [game_facts("chess").counted_mate(plies) for plies in (1, 3, -2, -4)]
        [1, 2, -1, -2]
        """
        if self.mates_in != "moves":
            return plies
        moves = (abs(plies) + 1) // 2
        return moves if plies > 0 else -moves

    def is_called(self, word: str) -> bool:
        """Whether a word names it: its name, another one, or its family's."""
        return word in (self.name, self.family, *self.other_names)


GO: Final = "go"
"""The family of Go, for whom its rules are a matter of their own."""
_BLACK_FIRST: Final = ("Black", "White")
_WHITE_FIRST: Final = ("White", "Black")


def _go(kind: type[GoPosition]) -> GameFacts:
    size = kind.size
    return GameFacts(
        name=f"go{size}",
        position_type=kind,
        title=f"Go {size}×{size}",
        family=GO,
        players=_BLACK_FIRST,
        colours=_BLACK_FIRST,
        by_points=True,
        disputed_ends=True,
        komi=7.5,
        handicap_stones=True,
        sgf_game="1",
        light_playouts=True,
        moves_left=lambda game: max(10, round(0.37 * _empty_cells(game))),
    )


_LIST: Final = (
    replace(
        _go(_core.Go9),
        trial_moves=("E5", "C3", "G7"),
        samples="go9.sgf.xz",
        bench=Workload(perft_depth=3, playouts=20_000, nodes=20_000),
    ),
    replace(_go(_core.Go13), bench=Workload(perft_depth=2, playouts=8_000, nodes=10_000)),
    replace(
        _go(_core.Go19),
        other_names=(GO,),
        bench=Workload(perft_depth=2, playouts=4_000, nodes=5_000),
    ),
    GameFacts(
        name="othello",
        position_type=_core.Othello,
        title="Othello",
        other_names=("reversi",),
        players=_BLACK_FIRST,
        colours=_BLACK_FIRST,
        by_points=True,
        forced_passes=True,
        notations=("sgf", "lines"),
        sgf_game="2",
        line_style="transcript",
        own_engines=True,
        trial_moves=("d3", "c3", "c4"),
        ending_solver=_core.OthelloEnding,
        moves_left=lambda game: max(1, (_empty_cells(game) + 1) // 2),
        random_plies=6,
        record_plies=10,
        samples="othello.sgf.xz",
        bench=Workload(perft_depth=9, playouts=20_000),
    ),
    GameFacts(
        name="chess",
        position_type=_core.Chess,
        title="chess",
        players=_WHITE_FIRST,
        colours=_WHITE_FIRST,
        columns=("white", "black"),
        unit="centipawns",
        mates_in="moves",
        notations=("pgn", "lines"),
        record_suffix=".pgn",
        start_word="fen",
        protocol="uci",
        trial_moves=("e2e4", "e7e5", "g1f3"),
        mate_solver=_core.ChessMate,
        quiescence=True,
        usual_search="ab:time=2",
        moves_left=lambda game: 30,
        random_plies=6,
        record_plies=16,
        samples="chess.pgn.xz",
        bench=Workload(perft_depth=5, playouts=3_000),
    ),
    GameFacts(
        name="shogi",
        position_type=_core.Shogi,
        title="shogi",
        players=_BLACK_FIRST,
        colours=_BLACK_FIRST,
        unit="centipawns",
        unit_of_programs="the program's own units",
        mates_in="plies",
        notations=("csa", "kif", "lines"),
        record_suffix=".csa",
        start_word="sfen",
        protocol="usi",
        trial_moves=("7g7f", "3c3d", "2g2f"),
        centipawn_scale=600.0,
        mate_solver=_core.ShogiMate,
        quiescence=True,
        usual_search="ab:time=2",
        moves_left=lambda game: 40,
        random_plies=6,
        record_plies=24,
        bench=Workload(perft_depth=4, playouts=2_000, counts_playout_moves=True),
    ),
    GameFacts(
        name="blokus_duo",
        position_type=_core.BlokusDuo,
        title="Blokus Duo",
        other_names=("blokus",),
        colours=("Purple", "Orange"),
        by_points=True,
        forced_passes=True,
        notations=("sgf", "lines"),
        record_suffix=".blksgf",
        sgf_game="Blokus Duo",
        line_style="codes",
        trial_moves=("e8,d9,e9,f9,e10",),
        moves_left=lambda game: max(3, round(_empty_cells(game) / 14)),
        random_plies=2,
        record_plies=4,
        bench=Workload(perft_depth=2, playouts=10_000, nodes=20_000),
    ),
    _go(_core.Go3),
    _go(_core.Go4),
    _go(_core.Go5),
    _go(_core.Go6),
    _go(_core.Go7),
)
FACTS: Final[dict[str, GameFacts]] = {facts.name: facts for facts in _LIST}
"""The facts of every game by its name: the one list of games."""
GAMES: Final[dict[str, type[Position]]] = {
    name: facts.position_type for name, facts in FACTS.items()
}
"""The types of their positions."""
DEFAULT_GAME: Final = next(iter(FACTS))
"""What is played where nothing tells the game."""
GTP_GAME: Final = "go19"
"""What GTP is about until a controller says something else."""


def game_facts(name: str) -> GameFacts:
    """The facts of a game by one of its names; a wrong name gets the nearest right one.

    >>> game_facts("Reversi").title
    'Othello'
    """
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    if wanted in FACTS:
        return FACTS[wanted]
    others = {other: facts for facts in FACTS.values() for other in facts.other_names}
    if wanted in others:
        return others[wanted]
    hint = nearest(wanted, [*FACTS, *others]) or f"known are {', '.join(FACTS)}"
    raise NotationError(f"no game '{name}'; {hint}")


def facts_of(game: AnyGame) -> GameFacts:
    """The facts of a position's or a line's game; the defaults for a game written in Python."""
    for facts in FACTS.values():
        if isinstance(game, (facts.position_type, facts.line_type)):
            return facts
    kind: type[Any] = type(getattr(game, "position", game))
    return GameFacts(name=kind.__name__, position_type=kind, title=kind.__name__)


def games_with(ability: Callable[[GameFacts], object]) -> list[str]:
    """The names of the games of which something is true.

    >>> games_with(lambda facts: facts.mate_solver)
    ['chess', 'shogi']
    """
    return [name for name, facts in FACTS.items() if ability(facts)]


def game_of_protocol(protocol: str) -> str:
    """The game that is meant where only the protocol of its engines is known.

    >>> [game_of_protocol(protocol) for protocol in ("uci", "usi", "gtp")]
    ['chess', 'shogi', 'go9']
    """
    return games_with(lambda facts: facts.protocol == protocol)[0]


def facts_of_size(family: str, size: str) -> GameFacts | None:
    """The game of a family on a board of this size, as a text says it; None if there is none.

    >>> [facts and facts.name for facts in (facts_of_size(GO, "13"), facts_of_size(GO, "14"))]
    ['go13', None]
    """
    fitting = (each for each in FACTS.values() if each.family == family and str(each.size) == size)
    return next(fitting, None)


def as_go(position: AnyGame) -> GoPosition:
    """A position of Go as one, for what no other game can do; raises NotationError for others."""
    facts = facts_of(position)
    if facts.family != GO:
        raise NotationError(f"this is for Go, not for {facts.title}")
    return cast("GoPosition", position)


def go_of_size(size: str) -> type[GoPosition] | None:
    """Go on a board of this size, as a text says it; None if there is none."""
    facts = facts_of_size(GO, size)
    return None if facts is None else cast("type[GoPosition]", facts.position_type)


def game_type(name: str) -> type[Position]:
    """The type of a game by its name, such as `go9`; a wrong name gets the nearest right one.

    >>> game_type("shogi")()
    <Shogi lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1>
    >>> game_type("shougi")
    Traceback (most recent call last):
        ...
    hyoka.errors.NotationError: no game 'shougi'; did you mean shogi?
    """
    return game_facts(name).position_type


def name_of(game: AnyGame) -> str:
    """The name under which the game of a position or line is known.

    >>> import hyoka as hk
    >>> name_of(hk.Go9())
    'go9'
    """
    facts = facts_of(game)
    if FACTS.get(facts.name) is not facts:
        raise NotationError(f"{type(game).__name__} is none of the games known by name")
    return facts.name


def position(name: str, text: str | None = None) -> Position:
    """The start of a game, or the position that `text` describes (FEN, SFEN, …).

    >>> position("othello", "-" * 64 + " X").outcome
    <Outcome draw by score>
    """
    facts = game_facts(name)
    return facts.start() if text is None else facts.position_type.from_text(text)
