# SPDX-License-Identifier: Apache-2.0
"""Who plays: a search of ours or an engine, with a name and perhaps a clock."""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from hyoka.arena.time_control import TimeControl
from hyoka.clock import Clock, expected_moves
from hyoka.engines import (
    AnySpec,
    Engine,
    EnginePosition,
    EngineSpec,
    spec_of,
    start_engine,
)
from hyoka.errors import EngineError, NotationError
from hyoka.evaluation import Evaluation
from hyoka.games import AnyLine
from hyoka.search import Searcher, SearchLimits, SearchSpec

# A name stands before the first colon; within a spec, `=` only comes after one. In a name, a
# colon, `=`, `@` or backslash is written after a backslash.
_NAMED: Final = re.compile(r"((?:[^\\:=@]|\\.)+)=(.+)", re.DOTALL)
_CLOCK: Final = re.compile(r"(.+)@([\d./+b]*)", re.DOTALL)
_STARTS_IN_A_ROW: Final = 3
_OVERHEAD_S: Final = 0.01
"""What our own searches leave on the clock for what stands between it and them."""


@dataclass(frozen=True)
class PlayerSpec:
    """A player: `[NAME=]SPEC[@CLOCK]`; a bare `@` at the end is no clock.

    >>> player = PlayerSpec.from_text("new=uct:playouts=500")
    >>> player.name, player.spec.kind, player.clock
    ('new', 'uct', None)
    >>> PlayerSpec.from_text("uci:nodes=1:stockfish@60+0.6").clock.increment_s
    0.6
    """

    name: str
    """Empty for the usual one."""
    spec: AnySpec
    clock: TimeControl | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip() or _usual_name(self.spec))

    @classmethod
    def from_text(cls, text: str, clock: TimeControl | None = None) -> "PlayerSpec":
        """Read a player; `clock` is for one whose text has none."""
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

    @property
    def text(self) -> str:
        """The text that `from_text` reads as this player."""
        name = re.sub(r"([\\:=@])", r"\\\1", self.name)
        named = "" if self.name == _usual_name(self.spec) else f"{name}="
        # A command may end like a clock.
        none = "@" if _CLOCK.fullmatch(self.spec.text) else ""
        return f"{named}{self.spec.text}{f'@{self.clock.text}' if self.clock else none}"

    def seeded(self, seed: int) -> "PlayerSpec":
        """The same player with other chance, if it has any."""
        if not isinstance(self.spec, SearchSpec):
            return self
        if not self.spec.has("seed"):
            return self
        return dataclasses.replace(self, spec=self.spec.with_settings(seed=seed % 2**63))


PYTHON: Final = "python:"
"""What the names of games written in Python begin with."""


def searched_game(name: str) -> str | None:
    """A game by the name that searches know it by: None if it is written in Python."""
    return None if name.startswith(PYTHON) else name


def _usual_name(spec: AnySpec) -> str:
    """What tells a player from another: for a search its text, for an engine also its limits."""
    if isinstance(spec, SearchSpec):
        return spec.name
    if spec.name and spec.name.strip():
        return spec.name.strip()
    options = [f"{key}={value}" for key, value in spec.options]
    command = spec.command.split(" ", 1)
    arguments = [command[1]] if len(command) > 1 and spec.protocol != "gtp" else []
    words = [spec.title, spec.limits.text, *options, *arguments]
    return " ".join(filter(None, words))


def named_apart(players: Sequence[PlayerSpec]) -> list[PlayerSpec]:
    """The players with names that differ: the second of a name gets a number.

    >>> [p.name for p in named_apart([PlayerSpec.from_text("random")] * 2)]
    ['random', 'random 2']
    """
    seen: dict[str, int] = {}
    apart = []
    for player in players:
        seen[player.name] = count = seen.get(player.name, 0) + 1
        name = player.name if count == 1 else f"{player.name} {count}"
        if count > 1 and name in seen:
            raise NotationError(f"two players are called '{name}'; name them: NAME=SPEC")
        seen.setdefault(name, 1)
        apart.append(dataclasses.replace(player, name=name))
    return apart


@dataclass(frozen=True, slots=True)
class Turn:
    """What a player sees when it is to move."""

    line: AnyLine
    position: EnginePosition | None
    """The same, as engines are told it; None of a game written in Python."""
    clocks: tuple[Clock, Clock] | None
    """The first player's and the second's, if the player has one."""


class Seat(Protocol):
    """A player at the board."""

    async def new_game(self, seed: int) -> None:
        """Forget what was before; the same seed, the same chance."""

    async def play(self, turn: Turn) -> Evaluation:
        """Choose a move (or `resign`, `win`), with what is thought of it; raises EngineError."""

    async def close(self) -> None:
        """Leave the board."""

    def stop(self) -> None:
        """Make `play` end soon; called from another thread."""


class SearchSeat:
    """A search of ours, in this process."""

    def __init__(self, player: PlayerSpec, game: str) -> None:
        self._player = player
        self._game = game
        self._searcher: Searcher | None = None

    async def new_game(self, seed: int) -> None:
        """Begin with an empty tree or table."""
        spec = self._player.seeded(seed).spec
        assert isinstance(spec, SearchSpec)
        self._searcher = Searcher(spec, searched_game(self._game))

    async def play(self, turn: Turn) -> Evaluation:
        """Search within the spec's limits, or for a share of the clock."""
        assert self._searcher is not None, "no game has begun"
        limits = None
        if turn.clocks is not None:
            clock = turn.clocks[turn.line.to_play.value]
            moves = expected_moves(turn.line)
            seconds = clock.thinking_s(expected_moves=moves, overhead_s=_OVERHEAD_S)
            limits = self._limits(seconds)
        result = self._searcher.search(turn.line, limits)
        if result.best is None:
            raise EngineError(self._player.name, "finds no move here", reason="refused")
        return result.evaluation(self._searcher.game)

    def _limits(self, time_s: float) -> SearchLimits:
        """The spec's limits, but for the time: that is the clock's."""
        spec = self._player.spec
        assert isinstance(spec, SearchSpec)
        playouts, nodes, depth = (
            spec[name] or None if spec.has(name) else None
            for name in ("playouts", "nodes", "depth")
        )
        return SearchLimits(playouts=playouts, nodes=nodes, depth=depth, time_s=time_s)

    async def close(self) -> None:
        """Nothing outlives a search."""

    def stop(self) -> None:
        """End the running search."""
        if self._searcher is not None:
            self._searcher.stop()


class EngineSeat:
    """An engine in a process of its own, started anew for the next game when it has died."""

    def __init__(self, player: PlayerSpec) -> None:
        assert isinstance(player.spec, EngineSpec)
        self._spec = player.spec
        self._engine: Engine | None = None
        """None before the first start."""

    async def new_game(self, seed: int) -> None:
        """Start the engine if none runs, else make it forget; raises EngineError."""
        if self._engine is not None and self._engine.alive:
            try:
                await self._engine.new_game()
                return
            except EngineError:
                self._engine.kill()
        self._engine = await self._started()

    async def _started(self) -> Engine:
        for tries in range(1, _STARTS_IN_A_ROW + 1):
            try:
                return await start_engine(self._spec)
            except EngineError as error:
                if error.reason == "died" and tries < _STARTS_IN_A_ROW:
                    continue
                if self._engine is None and error.reason in ("died", "timeout", "nonsense"):
                    # It has never worked: that is no way to lose a game.
                    message = f"does not start: {error.message}"
                    raise EngineError(
                        error.engine, message, error.transcript, "missing", error.last_words
                    ) from None
                raise
        raise AssertionError("a start succeeds or raises")

    async def play(self, turn: Turn) -> Evaluation:
        """Ask the engine; one that fails is ended."""
        assert self._engine is not None, "no game has begun"
        assert turn.position is not None, "engines don't play games in Python"
        try:
            return await self._engine.play(turn.position, turn.clocks)
        except EngineError as error:
            if error.reason not in ("refused", "game", "limit", "unplayable"):
                self._engine.kill()
            raise

    async def close(self) -> None:
        """Let the engine go."""
        if self._engine is not None:
            await self._engine.close()
            self._engine.kill()

    def stop(self) -> None:
        """Nothing to do: an engine whose answer nobody waits for any more is ended."""


def threads_of(player: PlayerSpec) -> int:
    """How many threads a player thinks with, as far as its text says."""
    if isinstance(player.spec, SearchSpec):
        return int(player.spec["threads"]) if player.spec.has("threads") else 1
    options = {name.lower(): value for name, value in player.spec.options}
    said = options.get("threads", "1")
    return max(1, int(said)) if said.isdecimal() else 1


def seat_of(player: PlayerSpec, game: str) -> Seat:
    """A player at the board of a game."""
    if isinstance(player.spec, SearchSpec):
        return SearchSeat(player, game)
    return EngineSeat(player)
