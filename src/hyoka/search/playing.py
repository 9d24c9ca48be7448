# SPDX-License-Identifier: Apache-2.0
"""Whole games by searches, and all positions of a game searched: for every game, Python's too."""

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
    """Let two searches play a game from a position or a line, and give the line they made.

    A player that finds no move (a solver asked too much) ends it, as does `max_plies`.

    >>> import hyoka as hk
    >>> line = play_game(hk.Othello(), "random:seed=1", "random:seed=2")
    >>> line.outcome is not None
    True
    """
    name = name_or_none(start)
    players = {
        player: given if isinstance(given, Searcher) else Searcher(given, name)
        for player, given in ((Player.first, first), (Player.second, second))
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
    """Search every position of a line of play, from its start to its end, each from scratch.

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
