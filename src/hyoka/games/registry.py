# SPDX-License-Identifier: Apache-2.0
"""Facts of each game beside its rules, the list of games, and the registry of Python games."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, cast

from hyoka import _core
from hyoka.foundation.errors import NotationError, nearest
from hyoka.games.protocols import (
    AnyGame,
    EndingSolver,
    Game,
    GoPosition,
    Line,
    MateSolver,
    Move,
    Position,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """How much of a game `hyoka bench` does; its counts are fingerprints, so this stays."""

    perft_depth: int
    playouts: int
    nodes: int = 500_000
    counts_playout_moves: bool = False
    """Whether the moves of playouts are measured, too."""


def _never(_position: Any, _move: Any) -> bool:
    return False


def _as_it_prints(_position: Any, move: Any) -> str:
    return str(move)


def _unknown_moves_left(_: AnyGame) -> int:
    return 20


@dataclass(frozen=True, kw_only=True)
class GameFacts:
    """What is known of a game beside its rules. Everything but its names and type has a default.

    >>> import hyoka as hk
    >>> hk.game_facts("chess").players, hk.game_facts("othello").unit
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
    colors: tuple[str, str] = ("First player", "Second player")
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
    written: Callable[[Any, Any], str] = _as_it_prints
    """How people write a legal move of a position; its text unless they do it another way."""
    trial_moves: tuple[str, ...] = ()
    """A few usual first moves, to try an engine out with."""
    centipawn_scale: float = 400 / math.log(10)
    """A value v is told as scale × ln(v / (1 − v)) where a protocol wants centipawns."""

    # What is known of playing it well
    is_senseless: Callable[[Any, Any], bool] = _never
    """Whether nobody who can pass would play a move in a position."""
    mate_solver: Callable[[int], MateSolver] | None = None
    """Made with so many MiB for what it learns."""
    ending_solver: Callable[[int], EndingSolver] | None = None
    light_playouts: bool = False
    """Playouts with some knowledge, `policy=light`."""
    quiescence: bool = False
    """Its alpha-beta goes on with captures at the leaves."""
    presets: Mapping[str, Mapping[str, bool | float | str]] = field(default_factory=dict)
    """By kind of search: settings with which it plays better than with the papers' constants."""
    default_search: str = "uct"
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
    move_model: str = ""
    """The file of the move model that was learned for it; empty without any."""
    prior_model: str = ""
    """The file of another one for the priors of tree searches, too slow for playouts; likewise."""
    evaluation: str = ""
    """The file of the evaluation that was learned for it; likewise."""
    network: str = ""
    """The file of the network that tree searches go by; likewise."""
    spare_network: str = ""
    """The file of one that no search goes by unless told; likewise."""
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

        >>> import hyoka as hk
        >>> [hk.game_facts("chess").counted_mate(plies) for plies in (1, 3, -2, -4)]
        [1, 2, -1, -2]
        """
        if self.mates_in != "moves":
            return plies
        moves = (abs(plies) + 1) // 2
        return moves if plies > 0 else -moves

    def is_called(self, word: str) -> bool:
        """Whether a word names it: its name, another one, or its family's."""
        return word in (self.name, self.family, *self.other_names)


_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_STARTS: Final[dict[str, AnyGame]] = {}
_FACTS: Final[dict[str, GameFacts]] = {}


def register(  # noqa: PLR0913 - a keyword for each choice
    name: str,
    start: AnyGame,
    taken: set[str],
    *,
    title: str = "",
    players: tuple[str, str] | None = None,
    colors: tuple[str, str] | None = None,
) -> GameFacts:
    """Keep a game by its name; `taken` are names that it can't have."""
    if not _NAME.fullmatch(name):
        raise NotationError(f"a game's name is of small letters, digits and _, not '{name}'")
    if name in taken:
        raise NotationError(f"'{name}' is a game that Hyoka knows; choose another name")
    if isinstance(start, type):
        raise NotationError(f"a game is its first position, {start.__name__}(), not the class")
    for ability in ("to_play", "outcome", "legal_moves", "play"):
        if not hasattr(start, ability):
            raise NotationError(f"{type(start).__name__} is no game: it has no '{ability}'")
    words: dict[str, Any] = {"title": title or name.replace("_", " ")}
    words |= {} if players is None else {"players": players}
    words |= {} if colors is None else {"colors": colors}
    kind: type[Any] = type(start)
    _STARTS[name] = start
    _FACTS[name] = GameFacts(name=name, position_type=kind, **words)
    return _FACTS[name]


def registered_start(name: str) -> AnyGame | None:
    """Where a game begins that was given this name, or whose type is called so; None if none."""
    if name in _STARTS:
        return _STARTS[name]
    return next((start for start in _STARTS.values() if type(start).__name__ == name), None)


def registered_facts(game: type[Any] | str) -> GameFacts | None:
    """What is known of a game by its name, or by its positions' type; None of one without a name.

    Games that share a type share what is known of it: those of the first one.
    """
    if isinstance(game, str):
        return _FACTS.get(game)
    return next((facts for facts in _FACTS.values() if facts.position_type is game), None)


def registered_names() -> list[str]:
    """The names that were given, in their order."""
    return list(_STARTS)


GO: Final = "go"
"""The family of Go, for whom its rules are a matter of their own."""
_BLACK_FIRST: Final = ("Black", "White")
_WHITE_FIRST: Final = ("White", "Black")


def _empty_cells(game: AnyGame) -> int:
    return int((cast("Game", game).cells == 0).sum())


def _go(kind: type[GoPosition]) -> GameFacts:
    size = kind.size
    return GameFacts(
        name=f"go{size}",
        position_type=kind,
        title=f"Go {size}×{size}",
        family=GO,
        players=_BLACK_FIRST,
        colors=_BLACK_FIRST,
        by_points=True,
        disputed_ends=True,
        komi=7.5,
        handicap_stones=True,
        sgf_game="1",
        is_senseless=lambda position, move: position.fills_own_eye(move),
        light_playouts=True,
        presets={"uct": {"formula": "puct", "policy": "light", "value": "root"}},
        moves_left=lambda game: max(10, round(0.37 * _empty_cells(game))),
        move_model="go19.json" if size > 9 else "go9.json",
    )


_LIST: Final = (
    replace(
        _go(_core.Go9),
        prior_model="go9.nn",
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
        colors=_BLACK_FIRST,
        by_points=True,
        forced_passes=True,
        notations=("sgf", "lines"),
        sgf_game="2",
        line_style="transcript",
        own_engines=True,
        trial_moves=("d3", "c3", "c4"),
        ending_solver=_core.OthelloEnding,
        presets={"uct": {"formula": "puct", "cut": 0, "value": "root"}},
        moves_left=lambda game: max(1, (_empty_cells(game) + 1) // 2),
        random_plies=6,
        record_plies=10,
        samples="othello.sgf.xz",
        move_model="othello.json",
        evaluation="othello.eval",
        spare_network="othello.nn",
        bench=Workload(perft_depth=9, playouts=20_000),
    ),
    GameFacts(
        name="chess",
        position_type=_core.Chess,
        title="chess",
        players=_WHITE_FIRST,
        colors=_WHITE_FIRST,
        columns=("white", "black"),
        unit="centipawns",
        mates_in="moves",
        notations=("pgn", "lines"),
        record_suffix=".pgn",
        start_word="fen",
        protocol="uci",
        written=lambda position, move: str(position.san(move)),
        trial_moves=("e2e4", "e7e5", "g1f3"),
        mate_solver=_core.ChessMate,
        presets={"uct": {"formula": "puct", "cut": 0, "quiescence": True, "value": "root"}},
        quiescence=True,
        default_search="ab:time=2",
        moves_left=lambda game: 30,
        random_plies=6,
        record_plies=16,
        samples="chess.pgn.xz",
        move_model="chess.json",
        bench=Workload(perft_depth=5, playouts=3_000),
    ),
    GameFacts(
        name="shogi",
        position_type=_core.Shogi,
        title="shogi",
        players=_BLACK_FIRST,
        colors=_BLACK_FIRST,
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
        presets={"uct": {"formula": "puct", "cut": 0, "quiescence": True, "value": "root"}},
        quiescence=True,
        default_search="ab:time=2",
        moves_left=lambda game: 40,
        random_plies=6,
        record_plies=24,
        move_model="shogi.json",
        evaluation="shogi.eval",
        bench=Workload(perft_depth=4, playouts=2_000, counts_playout_moves=True),
    ),
    GameFacts(
        name="blokus_duo",
        position_type=_core.BlokusDuo,
        title="Blokus Duo",
        other_names=("blokus",),
        colors=("Purple", "Orange"),
        by_points=True,
        forced_passes=True,
        notations=("sgf", "lines"),
        record_suffix=".blksgf",
        sgf_game="Blokus Duo",
        line_style="codes",
        trial_moves=("e8,d9,e9,f9,e10",),
        presets={"uct": {"formula": "puct", "mix": 0.4}},
        network="blokus_duo.nn",
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
    if wanted in registered_names():
        raise NotationError(f"{wanted} is written in Python: this is for games that Hyoka knows")
    hint = nearest(wanted, [*FACTS, *others]) or f"known are {', '.join(FACTS)}"
    raise NotationError(f"no game '{name}'; {hint}")


def facts_named(name: str) -> GameFacts:
    """The same, also of a game written in Python that was given the name (`register_game`)."""
    return registered_facts(name) or game_facts(name)


def facts_of(game: AnyGame) -> GameFacts:
    """The facts of a position's or a line's game; little of one written in Python."""
    for facts in FACTS.values():
        if isinstance(game, (facts.position_type, facts.line_type)):
            return facts
    kind: type[Any] = type(getattr(game, "position", game))
    if (registered := registered_facts(kind)) is not None:
        return registered
    return GameFacts(name=kind.__name__, position_type=kind, title=kind.__name__)


def register_game(
    name: str,
    start: AnyGame,
    *,
    title: str = "",
    players: tuple[str, str] | None = None,
    colors: tuple[str, str] | None = None,
) -> GameFacts:
    """Give a game written in Python a name, by its first position, for as long as we run.

    Matches, searches and pages then know it as they know ours: by the name, and with the words for
    its players. A name that was given before is given anew. Raises NotationError if it is one of
    our games', or `start` can't be played.
    """
    taken = {word for facts in FACTS.values() for word in (facts.name, *facts.other_names)}
    return register(name, start, taken, title=title, players=players, colors=colors)


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

    A game in Python that was given a name (`register_game`) has its first position.
    """
    start = registered_start(name)
    if start is not None:
        if text is not None:
            raise NotationError(f"positions of {name} are made in Python, not read from a text")
        return cast("Position", start)
    facts = game_facts(name)
    return facts.start() if text is None else facts.position_type.from_text(text)
