# SPDX-License-Identifier: Apache-2.0
"""Who plays: a contestant with a name and perhaps a clock."""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hyoka.arena.time_control import TimeControl
from hyoka.contestants import Contestant, Spec, contestant_of, spec_of
from hyoka.errors import NotationError

# A name stands before the first colon; within a spec, `=` only comes after one. In a name, a
# colon, `=`, `@` or backslash is written after a backslash.
_NAMED: Final = re.compile(r"((?:[^\\:=@]|\\.)+)=(.+)", re.DOTALL)
_CLOCK: Final = re.compile(r"(.+)@([\d./+b]*)", re.DOTALL)


@dataclass(frozen=True)
class PlayerSpec:
    """A player: `[NAME=]SPEC[@CLOCK]`; a bare `@` at the end is no clock.

    >>> player = PlayerSpec.from_text("new=uct:playouts=500")
    >>> player.name, player.spec.title, player.clock
    ('new', 'uct playouts 500', None)
    >>> PlayerSpec.from_text("uci:nodes=1:stockfish@60+0.6").clock.increment_s
    0.6
    """

    name: str
    """Empty for the usual one."""
    spec: Spec
    clock: TimeControl | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip() or self.contestant.label)

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

    def for_game(self, game: str) -> "PlayerSpec":
        """The same player, who knows what is played."""
        return dataclasses.replace(self, spec=self.contestant.spec_for(game))

    @property
    def contestant(self) -> Contestant[Any]:
        """Whoever the spec names."""
        return contestant_of(self.spec)

    @property
    def text(self) -> str:
        """The text that `from_text` reads as this player."""
        name = re.sub(r"([\\:=@])", r"\\\1", self.name)
        named = "" if self.name == self.contestant.label else f"{name}="
        # A command may end like a clock.
        none = "@" if _CLOCK.fullmatch(self.spec.text) else ""
        return f"{named}{self.spec.text}{f'@{self.clock.text}' if self.clock else none}"


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
