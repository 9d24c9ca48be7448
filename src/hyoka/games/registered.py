# SPDX-License-Identifier: Apache-2.0
"""Games written in Python under names of their own, for this process."""

import re
from typing import Any, Final

from hyoka.errors import NotationError
from hyoka.games.facts import GameFacts
from hyoka.games.protocols import AnyGame

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
    colours: tuple[str, str] | None = None,
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
    words |= {} if colours is None else {"colours": colours}
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
