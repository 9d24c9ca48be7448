# SPDX-License-Identifier: Apache-2.0
"""A search that plays from an opening book while the position is in it."""

import dataclasses
import random
from collections.abc import Mapping
from typing import Any, cast

from hyoka.games import Position
from hyoka.models.book import Book
from hyoka.search.players import SearchPlayer, TreePlayer
from hyoka.search.search_result import MoveStats, SearchLimits, SearchRequest, SearchResult
from hyoka.search.spec import SearchSpec


class _Draw(SearchPlayer):
    """Draw moves of a book in proportion to their counts (Sato 2010, equation 2)."""

    def __init__(self, book: Book, seed: int) -> None:
        self._book = book
        self._seed = seed
        self._random = random.Random(seed)

    def search(self, request: SearchRequest) -> SearchResult:
        """Draw one of the request's moves; it is reported first, the others by count."""
        counts: Mapping[Any, int] = self._book.moves(cast(Position, request.line.position))
        moves = sorted(request.only or (), key=lambda move: -counts[move])
        [drawn] = self._random.choices(moves, weights=[counts[move] for move in moves])
        moves.sort(key=lambda move: move != drawn)
        reports = tuple(MoveStats(move, counts[move], pv=(move,)) for move in moves)
        return SearchResult(
            drawn, None, pv=(drawn,), moves=reports, order="visits", stopped_by="book"
        )

    def clear(self) -> None:
        """Reset the random generator."""
        self._random = random.Random(self._seed)


class _BookTree(TreePlayer):
    """A tree search that expands only book moves inside the book.

    It gets the time limit of the main search, but none of the other limits.
    """

    def __init__(self, book: Book, spec: SearchSpec) -> None:
        limits = {"time": spec["time"] or None, "seed": spec["seed"]}
        tree = SearchSpec.of("uct", parts={"book": book}, **limits)
        super().__init__(tree.for_game(book.game), book.game)

    def search(self, request: SearchRequest) -> SearchResult:
        """Search within the time limit only."""
        limits = SearchLimits(time_s=request.limits.time_s, infinite=request.limits.infinite)
        return super().search(dataclasses.replace(request, limits=limits))


class BookPlayer(SearchPlayer):
    """A search that plays book moves, which another search picks, inside the book."""

    def __init__(self, player: SearchPlayer, book: Book, picker: SearchPlayer) -> None:
        self._player = player
        self._book = book
        self._picker = picker

    def search(self, request: SearchRequest) -> SearchResult:
        """A book move, or the search's result outside the book."""
        moves = [
            move
            for move in self._book.moves(cast(Position, request.line.position))
            if request.line.is_legal(move) and (request.only is None or move in request.only)
        ]
        if not moves:
            return self._player.search(request)
        return self._picker.search(dataclasses.replace(request, only=moves))

    def stop(self) -> None:
        """Stop the running search."""
        self._picker.stop()
        self._player.stop()

    def clear(self) -> None:
        """Clear the state."""
        self._picker.clear()
        self._player.clear()


def with_book(player: SearchPlayer, spec: SearchSpec, book: Book) -> SearchPlayer:
    """The player, with a book that it tries first."""
    how = spec["book_pick"]
    if how == "search":
        return BookPlayer(player, book, player)
    picker = _Draw(book, spec["seed"]) if how == "frequency" else _BookTree(book, spec)
    return BookPlayer(player, book, picker)
