# SPDX-License-Identifier: Apache-2.0
"""What is known of a game beside its rules."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

from hyoka.games.protocols import AnyGame, EndingSolver, Line, MateSolver, Move, Position


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
