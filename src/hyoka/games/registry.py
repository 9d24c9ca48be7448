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
    """The workload of `hyoka bench`; changing it changes the counts."""

    perft_depth: int
    playouts: int
    nodes: int = 500_000
    counts_playout_moves: bool = False
    """Whether the moves of playouts count as well."""


def _never(_position: Any, _move: Any) -> bool:
    return False


def _move_text(_position: Any, move: Any) -> str:
    return str(move)


def _unknown_moves_left(_: AnyGame) -> int:
    return 20


@dataclass(frozen=True, kw_only=True)
class Naming:
    """Words for a game's players, scores and moves."""

    players: tuple[str, str] = ("the first player", "the second player")
    """Names of the players in sentences."""
    colors: tuple[str, str] = ("First player", "Second player")
    """Names of the players beside a board, by the color of their pieces."""
    columns: tuple[str, str] = ("black", "white")
    """Alternative prefixes of study columns about the two players, as in `black_rank`."""
    unit: str = "points"
    """Unit of scores: `points` or `centipawns`."""
    unit_of_programs: str = ""
    """Unit of programs' scores in records and matches; by default the same."""
    format_move: Callable[[Any, Any], str] = _move_text
    """Formats a legal move of a position for people; by default its text."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit_of_programs", self.unit_of_programs or self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormats:
    """How records and engines write a game."""

    notations: tuple[str, ...] = ("sgf",)
    """Formats of `hyoka.records` for writing."""
    suffix: str = ".sgf"
    """Suffix of record files in the most common notation."""
    sgf_game: str = ""
    """SGF's identifier of the game (`GM`); by default its name."""
    start_word: str = ""
    """Keyword of a custom initial position in a line of moves: `fen`, `sfen`."""
    line_style: Literal["moves", "transcript", "codes"] = "moves"
    """A line of moves is words after `startpos`, squares without blanks or passes, or codes."""
    protocol: Literal["gtp", "uci", "usi"] = "gtp"
    """Protocol of its engines."""
    own_engines: bool = False
    """Single-game engines are common: over GTP they may not support `set_game`."""
    trial_moves: tuple[str, ...] = ()
    """Opening moves for engine checks."""
    centipawn_scale: float = 400 / math.log(10)
    """A protocol in centipawns reports a value v as scale × ln(v / (1 − v))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDefaults:
    """What searches need to play a game well, and their default settings."""

    is_senseless: Callable[[Any, Any], bool] = _never
    """Whether a move is worse than a pass on sight, such as filling an own eye."""
    mate_solver: Callable[[int], MateSolver] | None = None
    """Constructor; its argument is the table size in MiB."""
    ending_solver: Callable[[int], EndingSolver] | None = None
    light_playouts: bool = False
    """Whether `policy=light` playouts exist."""
    quiescence: bool = False
    """Whether alpha-beta has a quiescence search."""
    presets: Mapping[str, Mapping[str, bool | float | str]] = field(default_factory=dict)
    """Default settings by kind of search, stronger than the papers' constants."""
    spec: str = "uct"
    """Default search of a position."""
    moves_left: Callable[[AnyGame], int] = _unknown_moves_left
    """Estimates how many more moves a side will make."""
    random_plies: int = 4
    """Default number of random moves at the start of a match game."""
    record_plies: int = 8
    """Default number of a record's moves that make an opening."""
    game_plies: int = 60
    """Mean length of a game between quick searches, for estimates of time."""
    draw_rate: float = 0.0
    """Mean share of draws between equal searches, for estimates of a test's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFiles:
    """Names of the sample records and models in the package; empty if there is none."""

    samples: str = ""
    move_model: str = ""
    prior_model: str = ""
    """Move model for the priors of tree searches, too slow for playouts."""
    evaluation: str = ""
    network: str = ""
    """Default network of tree searches."""
    spare_network: str = ""
    """Network that no search uses by default."""


@dataclass(frozen=True, kw_only=True)
class GameFacts:
    """Facts of a game beside its rules. All but name, type and title have defaults.

    >>> import hyoka as hk
    >>> hk.games.game_facts("chess").naming.players, hk.games.game_facts("othello").naming.unit
    (('White', 'Black'), 'points')
    """

    name: str
    """Name in commands, specs and studies, such as `go9`."""
    position_type: type[Position]
    """Type of its positions; called without arguments, the initial position."""
    title: str
    """Name in sentences, such as `Go 9×9`; `heading` starts a sentence."""
    family: str = ""
    """Shared by games that differ in board size only; by default the name."""
    other_names: tuple[str, ...] = ()
    by_points: bool = False
    """Decided by points, so that every position has a score."""
    forced_passes: bool = False
    """A side that can't move passes automatically."""
    disputed_ends: bool = False
    """Players end the game by passing; the status of groups may be in dispute."""
    mates_in: Literal["moves", "plies"] | None = None
    """Unit of mate distances; None in a game without mates."""
    komi: float | None = None
    """Default komi; None in a game without komi."""
    handicap_stones: bool = False
    """A game can begin with some stones of the first player on the board."""
    naming: Naming = Naming()
    formats: RecordFormats = RecordFormats()
    search: SearchDefaults = field(default_factory=SearchDefaults)
    bundled: BundledFiles = BundledFiles()
    bench: Workload | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)

    @property
    def heading(self) -> str:
        """The title, capitalized: `Chess`."""
        return self.title[:1].upper() + self.title[1:]

    @cached_property
    def size(self) -> int:
        """Number of rows of the board."""
        return len(self.start().cells)

    @property
    def symmetries(self) -> int:
        """Number of symmetries of the board, the identity included."""
        return self.position_type.symmetries

    @property
    def line_type(self) -> type[Line]:
        """Type of its lines."""
        return cast("type[Line]", self.position_type.Line)  # type: ignore[attr-defined]

    def start(self, *, komi: float | None = None, handicap: int = 0) -> Position:
        """Return the initial position; komi and handicap apply if the game has them."""
        rules: dict[str, float] = {}
        if self.komi is not None and komi is not None:
            rules["komi"] = komi
        if self.handicap_stones and handicap:
            rules["handicap"] = handicap
        return self.position_type(**rules)

    def move(self, code: int) -> Move:
        """Return the move of a code; raises NotationError for an unknown code."""
        move: Move = self.position_type.Move.from_code(code)  # type: ignore[attr-defined]
        return move

    def counted_mate(self, plies: int) -> int:
        """Convert a mate distance in plies to the game's unit; it is negative for the mated side.

        >>> import hyoka as hk
        >>> [hk.games.game_facts("chess").counted_mate(plies) for plies in (1, 3, -2, -4)]
        [1, 2, -1, -2]
        """
        if self.mates_in != "moves":
            return plies
        moves = (abs(plies) + 1) // 2
        return moves if plies > 0 else -moves

    def is_called(self, word: str) -> bool:
        """Whether a word is its name, an alias, or its family."""
        return word in (self.name, self.family, *self.other_names)


_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_STARTS: Final[dict[str, AnyGame]] = {}
_FACTS: Final[dict[str, GameFacts]] = {}


def registered_start(name: str) -> AnyGame | None:
    """Return the start of a registered game by its name or type; None if there is none."""
    if name in _STARTS:
        return _STARTS[name]
    return next((start for start in _STARTS.values() if type(start).__name__ == name), None)


PYTHON_GAMES: Final = "python:"
"""The prefix of names of games written in Python, in matches."""


def is_in_python(game: str) -> bool:
    """Whether a match's or study's game is written in Python."""
    return game.startswith(PYTHON_GAMES) or registered_start(game) is not None


def registered_names() -> list[str]:
    """Return the registered names in order of registration."""
    return list(_STARTS)


GO: Final = "go"
"""The family name of Go."""
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
        by_points=True,
        disputed_ends=True,
        komi=7.5,
        handicap_stones=True,
        naming=Naming(players=_BLACK_FIRST, colors=_BLACK_FIRST),
        formats=RecordFormats(sgf_game="1"),
        search=SearchDefaults(
            is_senseless=lambda position, move: position.fills_own_eye(move),
            light_playouts=True,
            presets={"uct": {"formula": "puct", "policy": "light", "value": "root"}},
            moves_left=lambda game: max(10, round(0.37 * _empty_cells(game))),
            game_plies=round(1.35 * size * size),
        ),
        bundled=BundledFiles(move_model="go19.json" if size > 9 else "go9.json"),
    )


_GO9: Final = _go(_core.Go9)
_LIST: Final = (
    replace(
        _GO9,
        formats=replace(_GO9.formats, trial_moves=("E5", "C3", "G7")),
        bundled=replace(_GO9.bundled, prior_model="go9.nn", samples="go9.sgf.xz"),
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
        by_points=True,
        forced_passes=True,
        naming=Naming(players=_BLACK_FIRST, colors=_BLACK_FIRST),
        formats=RecordFormats(
            notations=("sgf", "lines"),
            sgf_game="2",
            line_style="transcript",
            own_engines=True,
            trial_moves=("d3", "c3", "c4"),
        ),
        search=SearchDefaults(
            ending_solver=_core.OthelloEnding,
            presets={"uct": {"formula": "puct", "cutoff": 0, "value": "root"}},
            moves_left=lambda game: max(1, (_empty_cells(game) + 1) // 2),
            random_plies=6,
            record_plies=10,
            game_plies=58,
        ),
        bundled=BundledFiles(
            samples="othello.sgf.xz",
            move_model="othello.json",
            evaluation="othello.eval",
            spare_network="othello.nn",
        ),
        bench=Workload(perft_depth=9, playouts=20_000),
    ),
    GameFacts(
        name="chess",
        position_type=_core.Chess,
        title="chess",
        mates_in="moves",
        naming=Naming(
            players=_WHITE_FIRST,
            colors=_WHITE_FIRST,
            columns=("white", "black"),
            unit="centipawns",
            format_move=lambda position, move: str(position.san(move)),
        ),
        formats=RecordFormats(
            notations=("pgn", "lines"),
            suffix=".pgn",
            start_word="fen",
            protocol="uci",
            trial_moves=("e2e4", "e7e5", "g1f3"),
        ),
        search=SearchDefaults(
            mate_solver=_core.ChessMate,
            presets={"uct": {"formula": "puct", "cutoff": 0, "quiescence": True, "value": "root"}},
            quiescence=True,
            spec="ab:time=2",
            moves_left=lambda game: 30,
            random_plies=6,
            record_plies=16,
            game_plies=125,
            draw_rate=0.35,
        ),
        bundled=BundledFiles(samples="chess.pgn.xz", move_model="chess.json"),
        bench=Workload(perft_depth=5, playouts=3_000),
    ),
    GameFacts(
        name="shogi",
        position_type=_core.Shogi,
        title="shogi",
        mates_in="plies",
        naming=Naming(
            players=_BLACK_FIRST,
            colors=_BLACK_FIRST,
            unit="centipawns",
            unit_of_programs="the program's own units",
        ),
        formats=RecordFormats(
            notations=("csa", "kif", "lines"),
            suffix=".csa",
            start_word="sfen",
            protocol="usi",
            trial_moves=("7g7f", "3c3d", "2g2f"),
            centipawn_scale=600.0,
        ),
        search=SearchDefaults(
            mate_solver=_core.ShogiMate,
            presets={"uct": {"formula": "puct", "cutoff": 0, "quiescence": True, "value": "root"}},
            quiescence=True,
            spec="ab:time=2",
            moves_left=lambda game: 40,
            random_plies=6,
            record_plies=24,
            game_plies=130,
        ),
        bundled=BundledFiles(move_model="shogi.json", evaluation="shogi.eval"),
        bench=Workload(perft_depth=4, playouts=2_000, counts_playout_moves=True),
    ),
    GameFacts(
        name="blokus_duo",
        position_type=_core.BlokusDuo,
        title="Blokus Duo",
        other_names=("blokus",),
        by_points=True,
        forced_passes=True,
        naming=Naming(colors=("Purple", "Orange")),
        formats=RecordFormats(
            notations=("sgf", "lines"),
            suffix=".blksgf",
            sgf_game="Blokus Duo",
            line_style="codes",
            trial_moves=("e8,d9,e9,f9,e10",),
        ),
        search=SearchDefaults(
            presets={"uct": {"formula": "puct", "eval_weight": 0.4}},
            moves_left=lambda game: max(3, round(_empty_cells(game) / 14)),
            random_plies=2,
            record_plies=4,
            game_plies=30,
        ),
        bundled=BundledFiles(network="blokus_duo.nn"),
        bench=Workload(perft_depth=2, playouts=10_000, nodes=20_000),
    ),
    _go(_core.Go3),
    _go(_core.Go4),
    _go(_core.Go5),
    _go(_core.Go6),
    _go(_core.Go7),
)
FACTS: Final[dict[str, GameFacts]] = {facts.name: facts for facts in _LIST}
"""The facts of every game by its name."""
GAMES: Final[dict[str, type[Position]]] = {
    name: facts.position_type for name, facts in FACTS.items()
}
"""Position types by game name."""
DEFAULT_GAME: Final = next(iter(FACTS))
"""The default game."""
GTP_GAME: Final = "go19"
"""The default game of GTP."""


def game_facts(name: str) -> GameFacts:
    """Return the facts of a game by name or alias; an error suggests the nearest name.

    >>> game_facts("Reversi").title
    'Othello'
    """
    key = name.lower().replace("-", "_").replace(" ", "_")
    if key in FACTS:
        return FACTS[key]
    others = {other: facts for facts in FACTS.values() for other in facts.other_names}
    if key in others:
        return others[key]
    if key in registered_names():
        raise NotationError(f"{key} is written in Python: this is for games that Hyoka knows")
    hint = nearest(key, [*FACTS, *others]) or f"known: {', '.join(FACTS)}"
    raise NotationError(f"no game '{name}'; {hint}")


def facts_named(name: str) -> GameFacts:
    """Return the facts of a game by name, registered Python games included."""
    return _FACTS[name] if name in _FACTS else game_facts(name)


def facts_of(game: AnyGame) -> GameFacts:
    """Return the facts of the game of a position or line; defaults for an unregistered one."""
    for facts in FACTS.values():
        if isinstance(game, (facts.position_type, facts.line_type)):
            return facts
    kind: type[Any] = type(getattr(game, "position", game))
    for facts in _FACTS.values():  # games that share a type share the facts of the first one
        if facts.position_type is kind:
            return facts
    return GameFacts(name=kind.__name__, position_type=kind, title=kind.__name__)


def register_game(
    name: str,
    start: AnyGame,
    *,
    title: str = "",
    players: tuple[str, str] = Naming.players,
    colors: tuple[str, str] = Naming.colors,
) -> GameFacts:
    """Register a game written in Python by its initial position, for this process.

    Matches, searches and pages then accept the name and use the names of its players.
    Registering a name again replaces its game. Raises NotationError if the name belongs to a
    compiled game or `start` is not a game.
    """
    names = {word for facts in FACTS.values() for word in (facts.name, *facts.other_names)}
    if not _NAME.fullmatch(name):
        raise NotationError(f"a game's name is of small letters, digits and _, not '{name}'")
    if name in names:
        raise NotationError(f"'{name}' is a game that Hyoka knows; choose another name")
    if isinstance(start, type):
        raise NotationError(f"a game is its first position, {start.__name__}(), not the class")
    for ability in ("to_play", "outcome", "legal_moves", "play"):
        if not hasattr(start, ability):
            raise NotationError(f"{type(start).__name__} is no game: it has no '{ability}'")
    _STARTS[name] = start
    _FACTS[name] = GameFacts(
        name=name,
        position_type=cast("type[Any]", type(start)),
        title=title or name.replace("_", " "),
        naming=Naming(players=players, colors=colors),
    )
    return _FACTS[name]


def games_with(ability: Callable[[GameFacts], object]) -> list[str]:
    """Return the names of the games whose facts satisfy a predicate.

    >>> games_with(lambda facts: facts.search.mate_solver)
    ['chess', 'shogi']
    """
    return [name for name, facts in FACTS.items() if ability(facts)]


def game_of_protocol(protocol: str) -> str:
    """Return the default game of an engine protocol.

    >>> [game_of_protocol(protocol) for protocol in ("uci", "usi", "gtp")]
    ['chess', 'shogi', 'go9']
    """
    return games_with(lambda facts: facts.formats.protocol == protocol)[0]


def facts_of_size(family: str, size: str) -> GameFacts | None:
    """Return the game of a family by board size (as text); None if there is none.

    >>> [facts and facts.name for facts in (facts_of_size(GO, "13"), facts_of_size(GO, "14"))]
    ['go13', None]
    """
    fitting = (each for each in FACTS.values() if each.family == family and str(each.size) == size)
    return next(fitting, None)


def game_type(name: str) -> type[Position]:
    """Return the position type of a game by name, such as `go9`; errors suggest names.

    >>> game_type("shogi")()
    <Shogi lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1>
    >>> game_type("shougi")
    Traceback (most recent call last):
        ...
    hyoka.foundation.errors.NotationError: no game 'shougi'; did you mean shogi?
    """
    return game_facts(name).position_type


def name_of(game: AnyGame) -> str:
    """Return the name of the game of a position or line.

    >>> import hyoka as hk
    >>> name_of(hk.Go9())
    'go9'
    """
    facts = facts_of(game)
    if FACTS.get(facts.name) is not facts:
        raise NotationError(f"{type(game).__name__} is none of the games known by name")
    return facts.name


def position(name: str, text: str | None = None) -> Position:
    """Return the initial position of a game, or the one that `text` describes (FEN, SFEN, …).

    >>> position("othello", "-" * 64 + " X").outcome
    <Outcome draw by score>

    A registered Python game has its initial position only.
    """
    start = registered_start(name)
    if start is not None:
        if text is not None:
            raise NotationError(f"positions of {name} are made in Python, not read from a text")
        return cast("Position", start)
    facts = game_facts(name)
    return facts.start() if text is None else facts.position_type.from_text(text)
