# SPDX-License-Identifier: Apache-2.0
"""The list of games, with the facts of each; games written in Python register here."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

from hyoka import _core
from hyoka.foundation.errors import NotationError, nearest
from hyoka.games.facts import GameFacts, Workload
from hyoka.games.protocols import AnyGame, Game, GoPosition, Position

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
