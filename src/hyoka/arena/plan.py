# SPDX-License-Identifier: Apache-2.0
"""The plan of a match: players, time controls, openings, rules, and the pairing of each game."""

import dataclasses
import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from hyoka.agents import Agent, Spec, agent_of, spec_of
from hyoka.arena.adjudication import Adjudicator, adjudicator_of
from hyoka.arena.journal import Pairing
from hyoka.arena.openings import (
    Opening,
    digest,
    is_playable,
    openings_of,
    python_openings,
    standard_start,
)
from hyoka.foundation.errors import NotationError, nearest
from hyoka.foundation.fingerprint import fingerprint
from hyoka.foundation.options import option
from hyoka.foundation.text import distinct_titles, positional
from hyoka.games import (
    DEFAULT_GAME,
    PYTHON_GAMES,
    AnyGame,
    AnyLine,
    GameFacts,
    facts_of,
    game_facts,
    registered_start,
)
from hyoka.games.clock import Clock
from hyoka.search import as_line

_TEXT: Final = re.compile(
    r"(?:(?P<moves>\d{1,4})/)?(?P<main>\d{1,7}(?:\.\d+)?)"
    r"(?:\+(?P<increment>\d{1,7}(?:\.\d+)?))?(?:b(?P<period>\d{1,7}(?:\.\d+)?))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl:
    """`[MOVES/]SECONDS[+INCREMENT][bBYOYOMI]`.

    >>> TimeControl.from_text("60+0.6")
    TimeControl(main_s=60.0, increment_s=0.6, period_s=0.0, moves=None)
    >>> TimeControl.from_text("600b10").text, TimeControl.from_text("40/60").moves
    ('600b10', 40)
    """

    main_s: float
    increment_s: float = 0.0
    """The increment after each move (Fischer)."""
    period_s: float = 0.0
    """Byo-yomi: the time per move after the main time."""
    moves: int | None = None
    """The number of moves after which the main time is added again."""

    def __post_init__(self) -> None:
        times = (self.main_s, self.increment_s, self.period_s)
        if not all(0 <= seconds < 1e7 for seconds in times) or self.main_s + self.period_s == 0:
            raise NotationError("a time control needs a positive, finite time")
        if self.moves == 0:
            raise NotationError("a session of a clock has at least one move")

    @classmethod
    def from_text(cls, text: str) -> "TimeControl":
        """Read a time control; raises NotationError."""
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise NotationError(
                f"no time control '{text}'; write SECONDS, SECONDS+INCREMENT, SECONDSbBYOYOMI or "
                "MOVES/SECONDS, as 60+0.6"
            )
        return cls(
            main_s=float(match["main"]),
            increment_s=float(match["increment"] or 0),
            period_s=float(match["period"] or 0),
            moves=int(match["moves"]) if match["moves"] else None,
        )

    @property
    def text(self) -> str:
        """The text that `from_text` reads."""
        moves = f"{self.moves}/" if self.moves else ""
        increment = f"+{positional(self.increment_s)}" if self.increment_s else ""
        period = f"b{positional(self.period_s)}" if self.period_s else ""
        return f"{moves}{positional(self.main_s)}{increment}{period}"

    def start(self) -> Clock:
        """Return the clock at the start of a game."""
        return Clock(
            main_s=self.main_s,
            increment_s=self.increment_s,
            period_s=self.period_s,
            moves_to_go=self.moves,
        )

    def after(self, clock: Clock, spent_s: float, margin_s: float) -> Clock | None:
        """Return the clock after a move; None if the time, plus `margin_s`, was exceeded.

        >>> control = TimeControl.from_text("2/10+1")
        >>> clock = control.after(control.start(), 4, 0)
        >>> clock.main_s, clock.moves_to_go
        (7.0, 1)
        >>> control.after(clock, 7.5, 0) is None, control.after(clock, 1, 0).main_s
        (True, 17.0)
        """
        if spent_s > clock.main_s + clock.period_s + margin_s:
            return None
        left_s = max(0.0, clock.main_s - spent_s) + self.increment_s
        to_go = None if clock.moves_to_go is None else clock.moves_to_go - 1
        if to_go == 0:
            left_s, to_go = left_s + self.main_s, self.moves
        return dataclasses.replace(clock, main_s=left_s, moves_to_go=to_go)


# A name precedes the first colon; within a spec, `=` only follows one. A backslash escapes a colon,
# `=`, `@` or backslash in a name.
_NAMED: Final = re.compile(r"((?:[^\\:=@]|\\.)+)=(.+)", re.DOTALL)
_CLOCK: Final = re.compile(r"(.+)@([\d./+b]*)", re.DOTALL)


@dataclass(frozen=True)
class PlayerSpec:
    """A player: `[NAME=]SPEC[@CLOCK]`; a trailing `@` alone means no clock.

    >>> player = PlayerSpec.from_text("new=uct:playouts=500")
    >>> player.title, player.spec.title, player.clock
    ('new', 'UCT, 500 playouts', None)
    >>> PlayerSpec.from_text("uci:nodes=1:stockfish@60+0.6").clock.increment_s
    0.6
    """

    name: str
    """The chosen name; empty for the spec's title."""
    spec: Spec
    clock: TimeControl | None = None
    title: str = ""
    """The name for people, in records too; plans make it unique."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip())
        object.__setattr__(self, "title", self.title or self.name or self.spec.title)

    @classmethod
    def from_text(cls, text: str, clock: TimeControl | None = None) -> "PlayerSpec":
        """Read a player; `clock` is the default time control."""
        rest = text.strip()
        name = ""
        if (named := _NAMED.fullmatch(rest)) is not None:
            name, rest = re.sub(r"\\(.)", r"\1", named[1], flags=re.DOTALL), named[2].strip()
        if (timed := _CLOCK.fullmatch(rest)) is not None:
            rest = timed[1].strip()
            clock = TimeControl.from_text(timed[2]) if timed[2] else None
        try:
            return cls(name, spec_of(rest), clock)
        except NotationError as error:
            if "@" not in rest:
                raise
            raise NotationError(f"{error} (a clock after @ is written as 60+0.6)") from None

    def for_game(self, game: str) -> "PlayerSpec":
        """Return the player with its spec resolved for a game."""
        return dataclasses.replace(self, spec=self.agent.spec_for(game))

    @property
    def agent(self) -> Agent[Any]:
        """The agent of the spec."""
        return agent_of(self.spec)

    @property
    def stored_name(self) -> str:
        """The name that identifies the player in stored matches, whatever its title."""
        return self.name or str(self.spec)

    @property
    def text(self) -> str:
        """The text that `from_text` reads."""
        name = re.sub(r"([\\:=@])", r"\\\1", self.name)
        named = f"{name}=" if name else ""
        # A command may end like a clock.
        none = "@" if _CLOCK.fullmatch(self.spec.text) else ""
        return f"{named}{self.spec.text}{f'@{self.clock.text}' if self.clock else none}"


def unnamed(text: str) -> str:
    """Return a player's text without its name.

    >>> unnamed("new=uct:c=2@60"), unnamed("uct:c=2@60")
    ('uct:c=2@60', 'uct:c=2@60')
    """
    named = _NAMED.fullmatch(text)
    return named[2] if named else text


def named_apart(players: Sequence[PlayerSpec]) -> list[PlayerSpec]:
    """Return the players with unique names and titles.

    >>> [p.title for p in named_apart([PlayerSpec.from_text("random")] * 2)]
    ['Random', 'Random 2']
    >>> [p.title for p in named_apart([PlayerSpec.from_text(f"uct:c={c}") for c in (1.5, 2)])]
    ['UCT (c=1.5)', 'UCT (c=2)']
    """
    seen: dict[str, int] = {}
    apart = []
    for player in players:
        stored = player.stored_name
        seen[stored] = count = seen.get(stored, 0) + 1
        if count > 1:
            stored = f"{stored} {count}"
            if stored in seen:
                raise NotationError(f"two players are called '{stored}'; name them: NAME=SPEC")
            player = dataclasses.replace(player, name=stored)  # noqa: PLW2901
        seen.setdefault(stored, 1)
        apart.append(player)
    titles = distinct_titles([p.title for p in apart], [p.spec.text for p in apart])
    return [dataclasses.replace(p, title=t) for p, t in zip(apart, titles, strict=True)]


FORMATS: Final = ("round-robin", "gauntlet")
"""All against all, or the first player against each other."""
OPENING_ORDERS: Final = ("random", "file")


@dataclass(frozen=True)
class MatchRules:
    """The rules of a match beside those of the game."""

    game: str
    komi: float = 7.5
    """For Go."""
    handicap: int = 0
    """Black's handicap stones, in Go from the standard start."""
    max_plies: int = 1000
    """The ply limit: the game is then scored where it is decided by points, else drawn."""
    margin_s: float = 0.25
    """The tolerance for exceeded time, since our clock includes the pipe's latency."""
    adjudicators: tuple[Adjudicator, ...] = ()
    start: AnyGame | None = None
    """The first position of a game written in Python; None for a named game."""

    def __post_init__(self) -> None:
        if self.start is not None:
            object.__setattr__(self, "game", f"{PYTHON_GAMES}{type(self.start).__name__}")
        else:
            object.__setattr__(self, "game", game_facts(self.game).name)
        if self.handicap and not self.facts.handicap_stones:
            raise NotationError("handicap stones are for Go; elsewhere give openings")
        if self.max_plies < 1 or not 0 <= self.margin_s < 1e6:
            raise NotationError("a match needs a ply at least, and a margin of some seconds")
        try:
            start = self.line()
            for adjudicator in self.adjudicators:  # raises for an adjudicator of another game
                adjudicator.judge(start, [])
        except ValueError as error:
            raise NotationError(str(error)) from None

    @property
    def facts(self) -> GameFacts:
        """The game's facts; few for a game written in Python."""
        return game_facts(self.game) if self.start is None else facts_of(self.start)

    def line(self) -> AnyLine:
        """Return the line at the standard start."""
        if self.start is not None:
            return as_line(self.start, None)
        return standard_start(self.game, self.komi, self.handicap).line()


@dataclass(frozen=True)
class MatchPlan:
    """The complete definition of a match; a `Pairing` is one of its games."""

    rules: MatchRules
    players: tuple[PlayerSpec, ...]
    openings: Sequence[Opening] = field(repr=False)
    format: str = "round-robin"
    seed: int = 0
    engine_comments: bool = True
    """The form of evaluations in PGN, see `hk.records.record_text`; it identifies no match."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise NotationError("a match needs two players at least")
        if self.format not in FORMATS:
            hint = nearest(self.format, FORMATS) or f"known: {', '.join(FORMATS)}"
            raise NotationError(f"no format '{self.format}'; {hint}")
        players = [player.for_game(self.rules.game) for player in self.players]
        object.__setattr__(self, "players", tuple(named_apart(players)))
        for player in self.players:  # raises for an agent that cannot play
            player.agent.player(self.rules.game, player.title)
        if self.rules.handicap:
            # Handicap stones may collide with an opening's moves.
            game, stones = self.rules.game, self.rules.handicap
            playable = [each for each in self.openings if is_playable(each, game, stones)]
            if not playable:
                raise NotationError("no opening can be played with the handicap stones")
            object.__setattr__(self, "openings", playable)

    @cached_property
    def duels(self) -> list[tuple[int, int]]:
        """The pairs of players."""
        count = len(self.players)
        if self.format == "gauntlet":
            return [(0, other) for other in range(1, count)]
        return list(itertools.combinations(range(count), 2))

    def total(self, games: int) -> int:
        """Return the total number of games, with each duel's rounded up to pairs."""
        return len(self.duels) * 2 * ((games + 1) // 2)

    def pairing(self, number: int) -> Pairing:
        """Return a game by its number: consecutive games form a pair, and duels alternate.

        All duels have the same openings, each in both orders.
        """
        pair_id, second_game = divmod(number, 2)
        turn, duel = divmod(pair_id, len(self.duels))
        one, other = self.duels[duel]
        first, second = (other, one) if second_game else (one, other)
        return Pairing(number, pair_id, turn % len(self.openings), first, second)

    def seed_of(self, pairing: Pairing, player: int) -> int:
        """Return a player's random seed in a game."""
        own = self.players[player].agent.seed
        text = f"{self.seed} {pairing.number} {player} {own}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")

    @cached_property
    def game_content(self) -> str | None:
        """The fingerprint of a game written in Python; None for a named game."""
        start = self.rules.start
        return None if start is None else f"the game: {fingerprint(start)}"

    def description(self) -> dict[str, object]:
        """Return the values that identify the match; games of equal ones belong together."""
        rules = self.rules
        # Not determined by texts: files by hash, functions by fingerprint.
        contents = [] if self.game_content is None else [self.game_content]
        contents += [
            f"{player.stored_name}: {name} {content}"
            for player in self.players
            for name, content in player.spec.dependencies.items()
        ]
        return {
            "game": rules.game,
            "players": [player.text for player in self.players],
            "format": self.format,
            "seed": self.seed,
            "openings": len(self.openings),
            "openings_digest": digest(self.openings),
            "komi": rules.komi if rules.facts.komi is not None else None,
            "handicap": rules.handicap or None,
            "max_plies": rules.max_plies,
            "margin_s": rules.margin_s,
            "adjudicate": [adjudicator.text for adjudicator in rules.adjudicators],
            **({"contents": contents} if contents else {}),
        }

    @property
    def id(self) -> str:
        """A readable name for a folder, equal for equal matches."""
        names = [
            re.sub(r"[^a-z0-9]+", "-", each.stored_name.lower()).strip("-") for each in self.players
        ]
        words = "-v-".join(name[:24].strip("-") for name in names[:2])
        more = f"-and-{len(names) - 2}" if len(names) > 2 else ""
        key = hashlib.sha256(repr(self.description()).encode()).hexdigest()[:8]
        return f"{self.rules.game.replace(':', '-')}-{words}{more}-{key}"

    def sentences(self) -> list[str]:
        """Describe how the match is played."""
        rules = self.rules
        sentences = []
        for player in self.players:
            clock = f" with {player.clock.text} on the clock" if player.clock else ""
            sentences.append(f"{player.title} is {player.spec.text}{clock}.")
        count = len(self.openings)
        sentences.append(
            f"Games begin with one of {count:,} openings, each played from both sides."
            if count > 1
            else f"All games begin alike: {self.openings[0].name}."
        )
        if rules.facts.disputed_ends:
            sentences.append(
                f"Komi is {rules.komi:g}; stones that stand at the end count as alive."
            )
        sentences += [f"Games may end early by {each.text}." for each in rules.adjudicators]
        return sentences


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """The options of a match; `None` stands for the game's default."""

    game: str | AnyGame | None = option(
        None,
        "Game; by default that of the engines, else go9.",
        metavar="GAME",
        parse=lambda name: name,
    )
    openings: str | Sequence[Opening] | None = option(
        None,
        "Openings: a file, random moves, or the first position.",
        metavar="FILE[:PLIES]|random[:PLIES]|start",
        parse=lambda text: text,
    )
    opening_order: str = option(
        OPENING_ORDERS[0],
        "Order of the openings: at random, or as in the file.",
        choices=OPENING_ORDERS,
    )
    clock: str | None = option(
        None, "Time control of players without one.", metavar="[MOVES/]MAIN[+INCREMENT|bPERIOD]"
    )
    format: str = option(
        FORMATS[0],
        "All players meet each other, or the first meets each of the others.",
        choices=FORMATS,
    )
    adjudicate: Sequence[str] = option(
        (), "Rule that ends decided games early; see `hyoka help matches`.", metavar="RULE"
    )
    komi: float | None = option(None, "Komi, for Go.")
    handicap: int = option(0, "Handicap stones of Black, for Go.", min=0, max=9)
    max_plies: int = option(1000, "Ply limit; a longer game is scored or drawn.", min=1)
    margin_s: float = option(
        0.25, "Tolerance in seconds before a player loses on time.", name="margin", min=0
    )
    seed: int = option(0, "Seed of openings and searches.")
    engine_comments: bool = option(
        True,
        "In PGN, write evaluations as match runners do, {+0.35/12 1.2s}; otherwise as commands.",
    )


def plan_match(
    *players: str | PlayerSpec | Spec, options: MatchOptions | None = None, **fields: Any
) -> MatchPlan:
    """Plan a match; `play_match` plays it.

    Players are texts or values. `fields` are those of `MatchOptions`, which they override. The
    default game is chess for UCI engines, shogi for USI engines, else Go on 9×9. A game written in
    Python is its first position or its registered name (`register_game`); only searches play it,
    and openings are `start`, `random:PLIES` or values. Komi is 7.5 by default.

    >>> plan = plan_match("uct:playouts=100", "mc:playouts=100", game="othello", openings="start")
    >>> plan.pairing(1).first, plan.total(9)
    (1, 10)
    """
    options = dataclasses.replace(options or MatchOptions(), **fields)
    game, komi, openings, seed = options.game, options.komi, options.openings, options.seed
    clock = None if options.clock is None else TimeControl.from_text(options.clock)
    specs = tuple(_player(player, clock) for player in players)
    if isinstance(game, type):
        raise NotationError(f"a game is its name or a position, {game.__name__}(), not a class")
    if isinstance(game, str) and (start := registered_start(game)) is not None:
        game = start
    if isinstance(game, str | None):
        start, facts = None, game_facts(game or _default_game(specs))
        name, default_komi = facts.name, facts.komi
    else:
        start, name, default_komi = game, "", None
    if komi is not None and default_komi is None:
        raise NotationError(f"komi is for Go, not for {name or 'a game in Python'}")
    rules = MatchRules(
        name,
        (default_komi or 0.0) if komi is None else komi,
        options.handicap,
        options.max_plies,
        options.margin_s,
        tuple(map(adjudicator_of, options.adjudicate)),
        start,
    )
    if start is None:
        ordered = options.opening_order == "file"
        starts = openings_of(openings, name, seed=None if ordered else seed)
    else:
        starts = python_openings(openings, rules.line(), seed=seed)
    return MatchPlan(rules, specs, starts, options.format, seed, options.engine_comments)


def _player(player: str | PlayerSpec | Spec, clock: TimeControl | None) -> PlayerSpec:
    if isinstance(player, PlayerSpec):
        return player
    if isinstance(player, str):
        return PlayerSpec.from_text(player, clock)
    return PlayerSpec("", spec_of(player), clock)


def _default_game(players: Sequence[PlayerSpec]) -> str:
    games = {player.agent.default_game: player.title for player in players}
    games.pop(None, None)
    if len(games) > 1:
        plays = " and ".join(f"{name} plays {game}" for game, name in games.items())
        raise NotationError(f"{plays}: choose agents of one game")
    return next(iter(games), None) or DEFAULT_GAME
