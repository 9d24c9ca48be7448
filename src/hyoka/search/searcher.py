# SPDX-License-Identifier: Apache-2.0
"""Searchers, which keep their state between moves, and games played by them."""

import atexit
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyoka._core import Player
from hyoka.foundation.errors import NotationError
from hyoka.games import AnyGame, AnyLine, AnyMove, game_facts, name_of, registered_start
from hyoka.games.lines import as_line
from hyoka.search.assembly import book_of, searches_book
from hyoka.search.players import (
    AlphaBetaPlayer,
    ExactPlayer,
    MatePlayer,
    MonteCarloPlayer,
    RandomPlayer,
    RankingPlayer,
    SearchPlayer,
    TreePlayer,
    with_book,
)
from hyoka.search.search_result import OnResult, SearchLimits, SearchRequest, SearchResult
from hyoka.search.solvers import memory_for
from hyoka.search.spec import SearchSpec

_PLAYERS: Final[dict[str, Callable[[SearchSpec, str | None], SearchPlayer]]] = {
    "uct": TreePlayer,
    "mc": MonteCarloPlayer,
    "mc-score": MonteCarloPlayer,
    "ab": AlphaBetaPlayer,
    "mate": MatePlayer,
    "exact": ExactPlayer,
    "random": RandomPlayer,
    "ranking": RankingPlayer,
}


_running: Final["set[Searcher]"] = set()


@atexit.register
def _stop_all() -> None:
    """Stop searches in daemon threads before the interpreter exits."""
    until = time.monotonic() + 5
    while _running and time.monotonic() < until:
        for searcher in list(_running):
            searcher.stop()
        time.sleep(0.01)


class Searcher:
    """A search that plays one game; it keeps its tree or table between calls.

    >>> import hyoka as hk
    >>> searcher = Searcher("uct:playouts=200", "othello")
    >>> result = searcher.search(hk.Othello())
    >>> result.playouts, result.best in hk.Othello().legal_moves
    (200, True)

    `game` is a name of `hyoka.games.GAMES`; for a game written in Python, a registered name or
    None.
    """

    def __init__(self, spec: SearchSpec | str, game: str | None) -> None:
        in_python = game is None or registered_start(game) is not None
        self.game = None if in_python or game is None else game_facts(game).name
        if isinstance(spec, str):
            self.spec = SearchSpec.from_text(spec).validated_for(self.game)
        else:
            self.spec = spec.for_game(self.game)
        with memory_for(self.spec.text):
            player = _PLAYERS[self.spec.kind](self.spec, self.game)
            # With `book_pick=search`, a tree search restricts the tree itself.
            tries_book = self.spec.has("book") and not searches_book(self.spec)
            book = book_of(self.spec, self.game) if tries_book else None
            self._player = player if book is None else with_book(player, self.spec, book)

    def search(
        self,
        game: AnyGame,
        limits: SearchLimits | None = None,
        *,
        only: Sequence[AnyMove] | None = None,
        on_result: OnResult | None = None,
        every_s: float = 0.5,
        on_step: OnResult | None = None,
    ) -> SearchResult:
        """Search a position or a line; with a line, rules about repetition apply.

        `only` restricts the moves. `on_result` is called with intermediate results every `every_s`
        seconds. `on_step` is called with the results after fixed numbers of playouts (a tree search
        without other limits) or at each depth (alpha-beta), maybe only when the search is over.
        The GIL is released, and Ctrl-C works.
        """
        line = as_line(game, self.game)
        outcome = line.outcome
        if outcome is not None:
            return SearchResult(None, float(outcome.value), stopped_by="over")
        started = time.monotonic()

        def timed(result: SearchResult) -> SearchResult:
            return dataclasses.replace(result, time_s=time.monotonic() - started)

        tell = None if on_result is None else lambda result: on_result(timed(result))

        def step(result: SearchResult) -> None:
            assert on_step is not None
            on_step(result if result.time_s else timed(result))

        _running.add(self)
        try:
            request = SearchRequest(
                line, limits or SearchLimits(), only, tell, every_s, on_step and step
            )
            with memory_for(self.spec.text):
                return timed(self._player.search(request))
        finally:
            _running.discard(self)

    def stop(self) -> None:
        """Stop the running search from another thread; the next one runs normally."""
        self._player.stop()

    def clear(self) -> None:
        """Clear the state, as before a new game."""
        self._player.clear()

    @property
    def has_tree(self) -> bool:
        """Whether `tree` is available."""
        return isinstance(self._player, TreePlayer)

    def tree(self, *, with_unvisited: bool = False) -> dict[str, NDArray[np.generic]]:
        """The tree of the last search as arrays, parents before children, the root first.

        `parent`, `move` (code), `mover` (0 the first player), `visits`, `value` (the first
        player's), `prior`, `proof` (0 none, 1 lost, 2 drawn, 3 won, 4 forbidden, for the mover).
        Unvisited moves are left out by default.
        """
        if not isinstance(self._player, TreePlayer):
            raise NotationError(f"{self.spec.kind} has no tree to show")
        return self._player.tree(with_unvisited=with_unvisited)


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
