# SPDX-License-Identifier: Apache-2.0
"""Lines of play: what searches start from, also of games written in Python."""

from hyoka.errors import NotationError
from hyoka.games import AnyGame, AnyLine, PythonLine, game_facts, name_of


def as_line(game: AnyGame, name: str | None) -> AnyLine:
    """A line of play from a position or a line; `name` is the game it must be of."""
    if name is None:
        return game if isinstance(game, PythonLine) else PythonLine(game)
    facts = game_facts(name)
    if isinstance(game, facts.line_type):
        return game
    if isinstance(game, facts.position_type):
        return game.line()
    try:
        other = name_of(game)
    except NotationError:
        other = type(game).__name__
    raise NotationError(f"this search plays {name}, not {other}")
