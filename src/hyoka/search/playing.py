# SPDX-License-Identifier: Apache-2.0
"""Play games between searches, and search all positions of a game."""

from collections.abc import Iterator
from typing import Any

from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.games import AnyGame, AnyLine, name_of
from hyoka.games.lines import as_line
from hyoka.search.search_result import SearchResult
from hyoka.search.searcher import Searcher
from hyoka.search.spec import SearchSpec


def name_or_none(game: AnyGame) -> str | None:
    """The name of a game, or None of one written in Python."""
    try:
        return name_of(game)
    except NotationError:
        return None


def search_once(game: AnyGame, spec: SearchSpec | str, **options: Any) -> SearchResult:
    """Search a position or a line of play once.

    >>> import hyoka as hk
    >>> result = search_once(hk.Chess.from_text("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"), "ab:depth=3")
    >>> str(result.best), result.mate
    ('a1a8', 1)
    """
    return Searcher(spec, name_or_none(game)).search(game, **options)


def play_game(
    start: AnyGame,
    first: Searcher | SearchSpec | str,
    second: Searcher | SearchSpec | str,
    *,
    max_plies: int = 1000,
) -> AnyLine:
    """Play a game between two searches from a position or a line; returns the line.

    The game also ends if a search finds no move, and after `max_plies`.

    >>> import hyoka as hk
    >>> line = play_game(hk.Othello(), "random:seed=1", "random:seed=2")
    >>> line.outcome is not None
    True
    """
    name = name_or_none(start)
    players = {
        player: search if isinstance(search, Searcher) else Searcher(search, name)
        for player, search in ((Player.first, first), (Player.second, second))
    }
    line = as_line(start, name)
    for _ in range(max_plies):
        if line.outcome is not None:
            break
        move = players[line.to_play].search(line).best
        if move is None:
            break
        line = line.play(move)
    return line


def search_line(line: AnyLine, spec: SearchSpec | str) -> Iterator[SearchResult]:
    """Search every position of a line from scratch, from start to end.

    >>> import hyoka as hk
    >>> line = hk.Othello().line().play("d3").play("c3")
    >>> [result.playouts for result in search_line(line, "uct:playouts=50")]
    [50, 50, 50]
    """
    name = name_or_none(line)
    searcher = Searcher(spec, name)
    here = as_line(line.start, name)
    for move in [*line.moves, None]:
        searcher.clear()
        yield searcher.search(here)
        if move is not None:
            here = here.play(move)
