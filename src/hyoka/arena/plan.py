# SPDX-License-Identifier: Apache-2.0
"""What a match is: who plays whom, from where, under which rules; and every game of it by number.

Nothing here depends on how many games have been played, so that a match can be continued.
"""

import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from hyoka.arena.adjudication import Adjudicator, adjudicator_of
from hyoka.arena.openings import (
    Opening,
    digest,
    is_playable,
    openings_of,
    python_openings,
    usual_start,
)
from hyoka.arena.played import Pairing
from hyoka.arena.players import PlayerSpec, named_apart
from hyoka.arena.time_control import TimeControl
from hyoka.contestants import PYTHON_GAMES, Spec, is_spec
from hyoka.errors import NotationError, nearest
from hyoka.fingerprint import fingerprint
from hyoka.games import (
    DEFAULT_GAME,
    AnyGame,
    AnyLine,
    GameFacts,
    facts_of,
    game_facts,
    registered_start,
)
from hyoka.search import as_line

FORMATS: Final = ("round-robin", "gauntlet")
"""Everyone against everyone, or the first player against each other one."""


@dataclass(frozen=True)
class MatchRules:
    """What decides a game beside the game's own rules."""

    game: str
    komi: float = 7.5
    """For Go."""
    handicap: int = 0
    """Black's stones at the start, in Go from the usual start."""
    max_plies: int = 1000
    """Then a game is scored as it stands, where games are decided by points, or else drawn."""
    margin_s: float = 0.25
    """How much a move may exceed its time: our clock stands on the other side of a pipe."""
    adjudicators: tuple[Adjudicator, ...] = ()
    start: AnyGame | None = None
    """The first position of a game written in Python; None for one that has a name."""

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
            for adjudicator in self.adjudicators:  # one for other games says so
                adjudicator.judge(start, [])
        except ValueError as error:
            raise NotationError(str(error)) from None

    @property
    def facts(self) -> GameFacts:
        """What is known of the game; little of one written in Python."""
        return game_facts(self.game) if self.start is None else facts_of(self.start)

    def line(self) -> AnyLine:
        """The line of play that begins at the usual start."""
        if self.start is not None:
            return as_line(self.start, None)
        return usual_start(self.game, self.komi, self.handicap).line()


@dataclass(frozen=True)
class MatchPlan:
    """Everything that decides what is played; see `Pairing` for one game of it."""

    rules: MatchRules
    players: tuple[PlayerSpec, ...]
    openings: Sequence[Opening] = field(repr=False)
    format: str = "round-robin"
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise NotationError("a match needs two players at least")
        if self.format not in FORMATS:
            hint = nearest(self.format, FORMATS) or f"there are {', '.join(FORMATS)}"
            raise NotationError(f"no format '{self.format}'; {hint}")
        players = [player.for_game(self.rules.game) for player in self.players]
        object.__setattr__(self, "players", tuple(named_apart(players)))
        for player in self.players:  # one that can't play says so
            player.contestant.seat(self.rules.game, player.name)
        if self.rules.handicap:
            # Handicap stones may stand where an opening plays.
            game, stones = self.rules.game, self.rules.handicap
            playable = [each for each in self.openings if is_playable(each, game, stones)]
            if not playable:
                raise NotationError("no opening can be played with the handicap stones")
            object.__setattr__(self, "openings", playable)

    @cached_property
    def duels(self) -> list[tuple[int, int]]:
        """Who plays whom."""
        count = len(self.players)
        if self.format == "gauntlet":
            return [(0, other) for other in range(1, count)]
        return list(itertools.combinations(range(count), 2))

    def total(self, games: int) -> int:
        """How many games there are with so many for each duel, rounded up to pairs."""
        return len(self.duels) * 2 * ((games + 1) // 2)

    def pairing(self, number: int) -> Pairing:
        """A game by its number: two in a row are a pair, and duels take turns.

        All duels play the same openings, each in both orders.
        """
        pair_id, second_game = divmod(number, 2)
        turn, duel = divmod(pair_id, len(self.duels))
        one, other = self.duels[duel]
        first, second = (other, one) if second_game else (one, other)
        return Pairing(number, pair_id, turn % len(self.openings), first, second)

    def seed_of(self, pairing: Pairing, player: int) -> int:
        """The chance of a player in one game."""
        own = self.players[player].contestant.seed
        text = f"{self.seed} {pairing.number} {player} {own}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")

    @cached_property
    def game_content(self) -> str | None:
        """What tells a game written in Python from others; None for one that has a name."""
        start = self.rules.start
        return None if start is None else f"the game: {fingerprint(start)}"

    def description(self) -> dict[str, object]:
        """What must be the same for games to belong to one match, as plain values."""
        rules = self.rules
        # What texts don't tell: files by their hashes, functions by their fingerprints.
        contents = [] if self.game_content is None else [self.game_content]
        contents += [
            f"{player.name}: {name} {content}"
            for player in self.players
            for name, content in player.spec.contents.items()
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
    def slug(self) -> str:
        """A readable name for a folder, the same for the same match."""
        names = [re.sub(r"[^a-z0-9]+", "-", each.name.lower()).strip("-") for each in self.players]
        words = "-v-".join(name[:24].strip("-") for name in names[:2])
        more = f"-and-{len(names) - 2}" if len(names) > 2 else ""
        key = hashlib.sha256(repr(self.description()).encode()).hexdigest()[:8]
        return f"{self.rules.game.replace(':', '-')}-{words}{more}-{key}"


def plan_match(  # noqa: PLR0913 - a keyword for each choice
    *players: str | PlayerSpec | Spec,
    game: str | AnyGame | None = None,
    openings: str | Sequence[Opening] | None = None,
    clock: str | None = None,
    format: str = "round-robin",
    adjudicate: Sequence[str] = (),
    komi: float | None = None,
    handicap: int = 0,
    max_plies: int = 1000,
    margin_s: float = 0.25,
    seed: int = 0,
) -> MatchPlan:
    """A match of players given by their texts or as values; `play_match` plays it.

    Without a game: chess for UCI engines, shogi for USI, else Go on 9×9. A game written in Python
    is given by its first position, or by the name it was given (`register_game`); searches play
    it, and openings are `start`, `random:PLIES` or values. `clock` is for players whose text has
    none. Komi, for Go, is 7.5 if not given.

    >>> plan = plan_match("uct:playouts=100", "mc:playouts=100", game="othello", openings="start")
    >>> plan.pairing(1).first, plan.total(9)
    (1, 10)
    """
    common = None if clock is None else TimeControl.from_text(clock)
    specs = tuple(_player(player, common) for player in players)
    adjudicators = tuple(map(adjudicator_of, adjudicate))
    if isinstance(game, type):
        raise NotationError(f"a game is its name or a position, {game.__name__}(), not a class")
    if isinstance(game, str) and (start := registered_start(game)) is not None:
        game = start
    if game is not None and not isinstance(game, str):
        if komi is not None:
            raise NotationError("komi is for Go, not for a game in Python")
        rules = MatchRules("", 0.0, handicap, max_plies, margin_s, adjudicators, game)
        starts = python_openings(openings, rules.line(), seed=seed)
        return MatchPlan(rules, specs, starts, format, seed)
    facts = game_facts(game or _usual_game(specs))
    if komi is not None and facts.komi is None:
        raise NotationError(f"komi is for Go, not for {facts.name}")
    komi = (facts.komi or 0.0) if komi is None else komi
    rules = MatchRules(facts.name, komi, handicap, max_plies, margin_s, adjudicators)
    return MatchPlan(rules, specs, openings_of(openings, facts.name, seed=seed), format, seed)


def _player(given: str | PlayerSpec | Spec, clock: TimeControl | None) -> PlayerSpec:
    if isinstance(given, str):
        return PlayerSpec.from_text(given, clock)
    if is_spec(given):
        return PlayerSpec("", given, clock)
    if isinstance(given, PlayerSpec):
        return given
    raise NotationError(f"no player: {given!r}; give a text, a search or an engine")


def _usual_game(players: Sequence[PlayerSpec]) -> str:
    games = {player.contestant.usual_game: player.name for player in players}
    games.pop(None, None)
    if len(games) > 1:
        plays = " and ".join(f"{name} plays {game}" for game, name in games.items())
        raise NotationError(f"{plays}: they can't meet")
    return next(iter(games), None) or DEFAULT_GAME
